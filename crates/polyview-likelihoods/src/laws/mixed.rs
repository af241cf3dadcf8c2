//! Counts whose predictor is normal: the likelihood itself, mixed over it (spec/sites 4).

use polyview_core::{
    AS_IT_IS, Ask, CellCounts, Counted, CountedLaw, Counting, Law, ParameterUncertainty,
};
use polyview_linalg::Mat;
use polyview_special::{ln_beta, ln_gamma, sigmoid, softplus};

use super::blend::CountBlend;
use super::{check, each};

/// The law of a count whose predictor is $N(m, v)$.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MixedCount {
    counting: Counting,
    mean: f64,
    variance: f64,
}

/// Terms below this share of the largest do not count, in logarithms.
const NEGLIGIBLE: f64 = -36.0;
/// Most steps to one side.
const MOST: usize = 4000;
/// Sizes above which a negative binomial count is Poisson, to rounding.
const SHARP: f64 = 1e8;

impl MixedCount {
    /// The law; a negative variance counts as none.
    pub(crate) fn new(counting: Counting, mean: f64, variance: f64) -> Self {
        let (counting, mean) = match counting {
            Counting::Size(size) if size > SHARP => (Counting::Poisson, mean),
            // nothing is known of how many there may be
            Counting::Trials(n) if n.is_nan() => (counting, f64::NAN),
            other => (other, mean),
        };
        Self {
            counting,
            mean,
            variance: variance.max(0.0),
        }
    }
    /// Largest count that is possible.
    fn most(&self) -> f64 {
        match self.counting {
            Counting::Trials(n) => n,
            _ => f64::INFINITY,
        }
    }
    /// What the law is made of.
    pub(crate) fn counted(&self) -> Counted {
        Counted {
            counting: self.counting,
            mean: self.mean,
            variance: self.variance,
        }
    }
    /// The probability of a count that is not larger.
    pub(crate) fn cdf(&self, x: f64) -> f64 {
        CountBlend::new(&[(1.0, self.counted())]).cdf(x)
    }
    /// The smallest count at which the distribution function reaches `p`, between 0 and 1.
    pub(crate) fn quantile(&self, p: f64) -> f64 {
        CountBlend::new(&[(1.0, self.counted())]).quantile(p)
    }
    /// $\ln p(x\mid\eta)$ and its first two derivatives.
    fn ln_at(&self, x: f64, eta: f64) -> (f64, f64, f64) {
        match self.counting {
            Counting::Poisson => {
                let rate = eta.exp();
                (x * eta - rate, x - rate, -rate)
            }
            Counting::Size(r) => {
                let psi = eta - r.ln();
                let p = sigmoid(psi);
                let n = x + r;
                (x * psi - n * softplus(psi), x - n * p, -n * p * (1.0 - p))
            }
            Counting::Trials(n) => {
                let p = sigmoid(eta);
                (x * eta - n * softplus(eta), x - n * p, -n * p * (1.0 - p))
            }
        }
    }
    /// The part of $\ln p(x\mid\eta)$ that is the same for all predictors.
    fn constant(&self, x: f64) -> f64 {
        match self.counting {
            Counting::Poisson => -ln_gamma(x + 1.0),
            Counting::Size(r) => -ln_beta(r, x + 1.0) - (x + r).ln(),
            Counting::Trials(n) => -(n + 1.0).ln() - ln_beta(x + 1.0, n - x + 1.0),
        }
    }
    /// The log probability of a count, nats: by equal steps about the peak of what is
    /// integrated (spec/sites 4.3).
    pub(crate) fn ln_density(&self, x: f64) -> f64 {
        if x.is_nan() || self.mean.is_nan() || self.variance.is_nan() {
            return f64::NAN;
        }
        if x < 0.0 || x > self.most() || x.fract() != 0.0 {
            return f64::NEG_INFINITY;
        }
        let (m, v) = (self.mean, self.variance);
        if !(m.is_finite() && v.is_finite()) {
            let certain = m == f64::NEG_INFINITY && x == 0.0;
            return if certain { 0.0 } else { f64::NEG_INFINITY };
        }
        let constant = self.constant(x);
        if v < 1e-12 {
            return self.ln_at(x, m).0 + constant;
        }
        let part = |eta: f64| self.ln_at(x, eta).0 - 0.5 * (eta - m).powi(2) / v;
        let mut peak = m;
        let mut here = part(peak);
        let mut curvature = v.recip();
        for _ in 0..100 {
            let (_, slope, bend) = self.ln_at(x, peak);
            curvature = v.recip() - bend;
            let mut step = (slope - (peak - m) / v) / curvature;
            while part(peak + step) < here && step.abs() > 1e-12 * (1.0 + peak.abs()) {
                step *= 0.5;
            }
            if !step.is_finite() || step.abs() <= 1e-10 * (1.0 + peak.abs()) {
                break;
            }
            peak += step;
            here = part(peak);
        }
        let step = 0.35 * curvature.sqrt().recip().min(3.0);
        let mut sum = 1.0;
        for direction in [-step, step] {
            for i in 1..MOST {
                let off = part(peak + i as f64 * direction) - here;
                if off.is_nan() || off <= NEGLIGIBLE {
                    break;
                }
                sum += off.exp();
            }
        }
        let normal = -0.5 * (2.0 * std::f64::consts::PI * v).ln();
        (here + constant + normal + (sum * step).ln()).min(0.0)
    }
}

/// What predictions take the variances of predictors to be, samples × columns, and what
/// `noise` each column has of its own beside them.
pub(crate) fn predicted(
    prediction: ParameterUncertainty,
    mut variance: Mat<f64>,
    noise: impl Fn(usize) -> f64,
) -> Mat<f64> {
    for d in 0..variance.ncols() {
        let own = noise(d);
        for v in variance.col_as_slice_mut(d) {
            *v = own + prediction.of_predictor(*v);
        }
    }
    variance
}

/// The laws of a block of counts whose moments are closed forms, samples × columns.
#[derive(Clone, Debug)]
pub(crate) struct MixedCounts {
    /// What the counts of each column are.
    counting: Vec<Counting>,
    /// Mean and variance of the predictors.
    predictor: (Mat<f64>, Mat<f64>),
    /// Factors of the means and relative variances, one for each column; none where all are as they are.
    levels: Vec<(f64, f64)>,
}

impl MixedCounts {
    /// The laws; `counting` has one entry for each column, and successes are not among them.
    ///
    /// # Panics
    /// If the numbers of columns differ.
    pub(crate) fn new(counting: Vec<Counting>, predictor: (Mat<f64>, Mat<f64>)) -> Self {
        assert_eq!(counting.len(), predictor.0.ncols());
        Self {
            counting,
            predictor,
            levels: Vec::new(),
        }
    }
    /// The same with expected counts that are so many times as large, column by column (docs/decisions/0110-levels-of-counts.md).
    pub(crate) fn with_levels(self, levels: Vec<(f64, f64)>) -> Self {
        Self { levels, ..self }
    }
    fn cell(&self, n: usize, column: usize) -> MixedCount {
        let at = (n, column);
        MixedCount::new(
            self.counting[column],
            self.predictor.0[at],
            self.predictor.1[at],
        )
    }
    /// $E = e^{m + v/2}$ and $E + E^2(e^v(1 + 1/r) - 1)$ (spec/sites 4.1).
    fn moments(&self, n: usize, column: usize) -> (f64, f64) {
        let (m, v) = (self.predictor.0[(n, column)], self.predictor.1[(n, column)]);
        let own = match self.counting[column] {
            Counting::Size(r) => v.exp() / r,
            _ => 0.0,
        };
        let level = self.levels.get(column).copied().unwrap_or(AS_IT_IS);
        levelled(level, (m, v), own)
    }
}

/// Mean and variance of a count whose predictor has this mean and variance, with what it has of its `own` beside the squared mean; of a column that was brought to a level
/// the variance that it was brought to.
pub(crate) fn levelled((level, spread): (f64, f64), (m, v): (f64, f64), own: f64) -> (f64, f64) {
    let first = level * (m + 0.5 * v).exp();
    let relative = if spread < 0.0 {
        v.exp_m1() + own
    } else {
        spread
    };
    (first, first + first * first * relative)
}

impl Law for MixedCounts {
    fn shape(&self) -> (usize, usize) {
        self.predictor.0.shape()
    }
    fn fill(&self, ask: Ask, column: usize, x: &[f64], out: &mut [f64]) {
        check(self, out);
        for (n, o) in out.iter_mut().enumerate() {
            *o = match ask {
                Ask::Mean => self.moments(n, column).0,
                Ask::Variance => self.moments(n, column).1,
                // few cells of a column may be asked about
                Ask::Cdf | Ask::LnDensity if x[n].is_nan() => f64::NAN,
                Ask::Cdf => self.cell(n, column).cdf(x[n]),
                Ask::LnDensity => self.cell(n, column).ln_density(x[n]),
                Ask::Level(_) => f64::NAN,
            };
        }
    }
    fn is_whole(&self) -> bool {
        true
    }
    fn quantile(&self, column: usize, p: &[f64], out: &mut [f64]) {
        each(p, out, |n, p| self.cell(n, column).quantile(p));
    }
    fn as_counted(&self) -> Option<&dyn CountedLaw> {
        Some(self)
    }
}

impl CountedLaw for MixedCounts {
    fn counted(&self, sample: usize, column: usize) -> Option<Counted> {
        Some(self.cell(sample, column).counted())
    }
    fn mix(&self, parts: &[(f64, Counted)]) -> Option<Box<dyn CellCounts>> {
        mix(parts)
    }
}

/// The mixture of laws of one cell.
pub(super) fn mix(parts: &[(f64, Counted)]) -> Option<Box<dyn CellCounts>> {
    (!parts.is_empty()).then(|| Box::new(CountBlend::new(parts)) as Box<dyn CellCounts>)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// spec/sites 11: family, datum, m, v, ln p(x), P(X <= x).
    #[test]
    fn vectors() {
        let (pois, nb, bin) = (Counting::Poisson, Counting::Size, Counting::Trials);
        let vectors = [
            (pois, 0.0, 0.3, 0.5, -1.250176064961, 0.2864543578447),
            (pois, 3.0, 0.3, 0.5, -2.223355822299, 0.8603671696775),
            (pois, 30.0, 3.0, 1.0, -4.408466339099, 0.6595488269547),
            (pois, 100.0, 3.0, 4.0, -6.537777136782, 0.7893252453315),
            (pois, 2000.0, 7.5, 0.01, -6.72415325853, 0.838216369585),
            (nb(2.0), 0.0, 0.3, 0.5, -0.9964256840667, 0.3691967112869),
            (nb(2.0), 5.0, 0.3, 0.5, -3.45174130672, 0.9346676578608),
            (nb(0.3), 0.0, 3.0, 1.0, -1.225702535165, 0.2935513976851),
            (nb(0.3), 200.0, 3.0, 4.0, -8.099770350217, 0.911298397379),
            (
                nb(50.0),
                3000.0,
                8.0,
                0.04,
                -7.523916168778,
                0.5250518040888,
            ),
            (bin(20.0), 7.0, 0.3, 0.5, -2.89136790144, 0.168469635045),
            (bin(20.0), 0.0, -2.0, 1.0, -1.800720659955, 0.1651798068459),
            (bin(20.0), 19.0, 4.0, 4.0, -1.761847432948, 0.4140301569597),
        ];
        for (counting, x, m, v, ln, cdf) in vectors {
            let law = MixedCount::new(counting, m, v);
            assert!(
                (law.ln_density(x) - ln).abs() < 3e-8,
                "{counting:?} {x}: {}",
                law.ln_density(x)
            );
            assert!(
                (law.cdf(x) - cdf).abs() < 3e-8,
                "{counting:?} {x}: {} {cdf}",
                law.cdf(x)
            );
        }
    }

    /// spec/sites 11.
    #[test]
    fn quantiles() {
        let (pois, nb) = (Counting::Poisson, Counting::Size);
        let vectors = [
            (pois, 0.3, 0.5, [0.0, 0.0, 1.0, 2.0, 7.0]),
            (pois, 3.0, 1.5, [1.0, 9.0, 20.0, 46.0, 222.0]),
            (pois, 8.0, 4.0, [59.0, 773.0, 2981.0, 11487.0, 150_231.0]),
            (nb(2.0), 0.3, 0.5, [0.0, 0.0, 1.0, 2.0, 8.0]),
            (nb(0.3), 3.0, 4.0, [0.0, 0.0, 4.0, 31.0, 964.0]),
            (
                nb(50.0),
                8.0,
                0.04,
                [1815.0, 2501.0, 2955.0, 3486.0, 4763.0],
            ),
            (
                Counting::Trials(20.0),
                0.3,
                0.5,
                [4.0, 9.0, 11.0, 14.0, 18.0],
            ),
        ];
        for (counting, m, v, wanted) in vectors {
            let law = MixedCount::new(counting, m, v);
            let found = [0.025, 0.25, 0.5, 0.75, 0.975].map(|p| law.quantile(p));
            assert_eq!(found, wanted, "{counting:?} {m} {v}");
        }
    }

    /// Distribution functions are sums of probabilities, and quantiles where they reach p.
    #[test]
    fn the_answers_agree() {
        for counting in [
            Counting::Poisson,
            Counting::Size(0.7),
            Counting::Trials(30.0),
        ] {
            for (m, v) in [
                (0.5, 0.0),
                (-1.0, 1e-4),
                (1.0, 0.3),
                (2.0, 2.0),
                (-3.0, 9.0),
            ] {
                let law = MixedCount::new(counting, m, v);
                let mut sum = 0.0;
                for x in 0..=30 {
                    let x = f64::from(x);
                    sum += law.ln_density(x).exp();
                    assert!(
                        (law.cdf(x) - sum).abs() < 1e-5,
                        "{counting:?} {m} {v} {x}: {} {sum}",
                        law.cdf(x)
                    );
                    assert_eq!(law.cdf(x), law.cdf(x + 0.5));
                }
                for p in [0.01, 0.3, 0.5, 0.9] {
                    let x = law.quantile(p);
                    assert!(law.cdf(x) >= p && (x == 0.0 || law.cdf(x - 1.0) < p));
                }
            }
        }
    }

    #[test]
    fn what_is_extreme_has_an_answer() {
        let at = |m: f64, v: f64| MixedCount::new(Counting::Poisson, m, v);
        assert_eq!(at(f64::NEG_INFINITY, 0.0).quantile(0.9), 0.0);
        assert_eq!(at(f64::NEG_INFINITY, 0.0).ln_density(0.0), 0.0);
        assert!(at(f64::NAN, 1.0).quantile(0.5).is_nan());
        assert_eq!(at(800.0, 1.0).cdf(5.0), 0.0);
        assert!(at(20.0, 1e-8).quantile(0.975) > 4.85e8);
        assert!(at(-400.0, 3.0).quantile(0.999) == 0.0);
        let wide = at(0.0, 400.0);
        assert!(wide.quantile(0.05) == 0.0 && wide.quantile(0.95) > 1e13);
        assert!(MixedCount::new(Counting::Trials(9.0), 60.0, 0.1).quantile(0.05) == 9.0);
    }
}
