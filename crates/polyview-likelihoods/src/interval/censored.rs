//! Numbers of which limits may be all that is known.

use polyview_core::{DataError, Domain, GammaPrior, Law, View, ViewTerm};
use polyview_linalg::{Mat, MatRef};
use polyview_random::{ChaCha8Rng, standard_normal};
use polyview_special::{Expectation, Real, TruncatedMoments, ln_interval_probability};

use super::ends::Ends;
use crate::cells::{Cell, CellAugmentation, CellLikelihood, ColumnData, ColumnParameters, Site};
use crate::scalar::ScalarParameter;
use crate::{Expected, ParameterUncertainty, Rise, ScalarLikelihood};

/// Real numbers $\xi\sim N(\eta, 1/\tau\_d)$, one noise precision for each feature. A cell is exact, or
/// says two ends that its number lies between, either of which may be infinite
/// ([`View::ends`]; spec/sites 2):
///
/// $$ p(x\mid\eta) = N(x; \eta, 1/\tau),\qquad p(l, u\mid\eta) =
/// \Phi\bigl(\sqrt\tau(u - \eta)\bigr) - \Phi\bigl(\sqrt\tau(l - \eta)\bigr) $$
///
/// By its bound the local number of a cell is $\zeta = \langle\eta\rangle$, $\omega = \tau$ and
/// $h = \tau\,\mathrm E[\xi\mid\zeta]$: the mean of the number between its ends. The Gibbs sampler draws
/// it, and is exact. The noise precision has a gamma prior: variational Bayes takes its most probable value
/// on the log scale, by steps that never lower the bound, and the sampler draws it with what
/// ends leave open summed out.
///
/// ```
/// use polyview_core::View;
/// use polyview_likelihoods::{Cells, Censored};
/// use polyview_linalg::Mat;
///
/// # fn main() -> Result<(), polyview_core::DataError> {
/// // every third number is known to be above its limit
/// let readings = Mat::from_fn(6, 1, |n, _| n as f64 - 2.5);
/// let limits = Mat::from_fn(6, 1, |n, _| if n % 3 == 2 { f64::INFINITY } else { f64::NAN });
/// let view = View::from_values("readings", vec!["a".into()], readings)?.with_ends(limits)?;
/// let term = Cells::new(view, Censored::default())?;
/// assert_eq!(term.likelihood().noise().len(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Censored {
    /// Prior of the noise precisions, per squared working unit.
    pub prior: GammaPrior,
    /// How predictions take the predictor.
    pub prediction: ParameterUncertainty,
    /// What the numbers are.
    pub(super) domain: Domain,
    /// Noise precisions.
    pub(super) noise: Vec<f64>,
}

impl Default for Censored {
    fn default() -> Self {
        Self::new(Self::PRIOR)
    }
}

/// What data of it are.
pub(super) const NEEDS: &str = "numbers, or two ends that a number lies between";

/// $\tfrac12\ln 2\pi$.
const HALF_LN_TWO_PI: f64 = 0.918_938_533_204_672_8;

/// What a cell says.
#[derive(Clone, Copy, Debug)]
pub(super) enum Known {
    /// Its number.
    Number(f64),
    /// Its ends, in standard deviations of the noise.
    Between(Ends),
}

impl Known {
    pub(super) fn of(cell: Cell, noise: f64) -> Self {
        if cell.end.is_nan() {
            return Self::Number(cell.value);
        }
        let root = noise.sqrt();
        Self::Between(Ends {
            lower: root * cell.value.min(cell.end),
            upper: root * cell.value.max(cell.end),
        })
    }
    /// The log density or log probability, given the predictor.
    pub(super) fn ln_density(self, eta: f64, noise: f64) -> f64 {
        match self {
            Self::Number(x) => ln_normal(noise, (x - eta).powi(2)),
            Self::Between(ends) => {
                let eta = noise.sqrt() * eta;
                ln_interval_probability(ends.lower - eta, ends.upper - eta)
            }
        }
    }
}

/// $\langle\ln N\rangle$ at an expected squared error.
pub(super) fn ln_normal(noise: f64, square: f64) -> f64 {
    0.5 * noise.ln() - HALF_LN_TWO_PI - 0.5 * noise * square
}

impl Censored {
    /// Prior of noise precisions (spec/sites 10): noise has its mean at a fifth of the variance of a
    /// scaled feature, and hardly ever less than a hundredth.
    pub const PRIOR: GammaPrior = GammaPrior {
        shape: 2.0,
        rate: 0.2,
    };
    /// Numbers with that prior of noise precisions.
    pub fn new(prior: GammaPrior) -> Self {
        Self {
            prior,
            prediction: ParameterUncertainty::default(),
            domain: Domain::CENSORED,
            noise: Vec::new(),
        }
    }
    /// The same of logarithms of times.
    #[must_use]
    pub fn of_times(self) -> Self {
        Self {
            domain: Domain::SURVIVAL,
            ..self
        }
    }
    /// Noise precisions, one for each feature, per squared working unit; empty before the first data.
    pub fn noise(&self) -> &[f64] {
        &self.noise
    }
    fn with_noise(&self, noise: Vec<f64>) -> Self {
        Self {
            noise,
            ..self.clone()
        }
    }
    pub(super) fn noise_of(&self, column: usize) -> f64 {
        self.noise.get(column).copied().unwrap_or(1.0)
    }
    fn known(&self, cell: Cell) -> (Known, f64) {
        let noise = self.noise_of(cell.column);
        (Known::of(cell, noise), noise)
    }
    /// A draw of the number itself.
    fn number(&self, column: usize, eta: f64, rng: &mut ChaCha8Rng) -> f64 {
        eta + standard_normal(rng) / self.noise_of(column).sqrt()
    }
}

impl CellLikelihood for Censored {
    fn needs(&self) -> &'static str {
        NEEDS
    }
    fn admits(&self, cell: Cell) -> bool {
        cell.value.is_finite()
    }
    fn start(&self, _cell: Cell) -> f64 {
        0.0
    }
    fn optimise(&self, _cell: Cell, mean: f64, _square: f64) -> f64 {
        mean
    }
    fn site(&self, cell: Cell, zeta: f64) -> Site {
        self.evaluate(cell, zeta).0
    }
    fn offset(&self, cell: Cell, zeta: f64) -> f64 {
        self.evaluate(cell, zeta).1
    }
    fn evaluate(&self, cell: Cell, zeta: f64) -> (Site, f64) {
        let site = |linear: f64, noise: f64| Site {
            precision: noise,
            linear,
        };
        match self.known(cell) {
            (Known::Number(x), noise) => (site(noise * x, noise), ln_normal(noise, x * x)),
            (Known::Between(ends), noise) => {
                let TruncatedMoments { mean, ln_mass, .. } = ends.at(noise.sqrt() * zeta);
                let site = site(noise * zeta + noise.sqrt() * mean, noise);
                (site, ln_mass + zeta * (0.5 * noise * zeta - site.linear))
            }
        }
    }
    /// What ends leave open: $\tau V$.
    fn slack(&self, cell: Cell, _zeta: f64, mean: f64) -> f64 {
        match self.known(cell) {
            (Known::Number(_), _) => 0.0,
            (Known::Between(ends), noise) => noise * ends.at(noise.sqrt() * mean).variance,
        }
    }
    /// The mean of the values, limits among them.
    fn start_intercept(&self, cells: &[Cell]) -> f64 {
        cells.iter().map(|c| c.value).sum::<f64>() / cells.len().max(1) as f64
    }
    fn remark(&self, cells: &[Cell]) -> Option<&'static str> {
        let says = |c: &&Cell| c.end.is_nan() || c.end.is_finite();
        match cells.iter().filter(says).count() {
            0 if !cells.is_empty() => Some(
                "has limits alone, no exact value and no value between two: how large its noise is the prior alone says",
            ),
            1 if cells.len() > 1 => Some(
                "has limits alone but for one value or event: how large its noise is the prior all but says",
            ),
            _ => None,
        }
    }
    fn domain(&self) -> Domain {
        self.domain
    }
    fn link_variance(&self, column: usize, _level: f64) -> f64 {
        self.noise_of(column).recip()
    }
    fn draw_datum(&self, cell: Cell, eta: f64, rng: &mut ChaCha8Rng) -> f64 {
        self.number(cell.column, eta, rng)
    }
    /// A number stays one; of a limit is said on which side of it the number lies, and of two ends in which
    /// of all intervals of their width, side by side.
    fn draw_cell(&self, cell: Cell, eta: f64, rng: &mut ChaCha8Rng) -> (f64, f64) {
        let number = self.number(cell.column, eta, rng);
        let Cell { value, end, .. } = cell;
        if end.is_nan() {
            (number, f64::NAN)
        } else if end.is_infinite() {
            (value, f64::INFINITY.copysign(number - value))
        } else {
            let width = (end - value).abs();
            let lower = value + ((number - value) / width).floor() * width;
            (lower, lower + width)
        }
    }
    fn predict(&self, column: usize, mean: f64, variance: f64) -> (f64, f64) {
        let of_predictor = self.prediction.of_predictor(variance.max(0.0));
        (mean, of_predictor + self.noise_of(column).recip())
    }
    fn parameters(&self) -> Option<&dyn ColumnParameters> {
        Some(self)
    }
    fn parameters_mut(&mut self) -> Option<&mut dyn ColumnParameters> {
        Some(self)
    }
    fn widened(
        &self,
        view: &View,
        spread: Mat<f64>,
    ) -> Option<Result<Box<dyn ViewTerm>, DataError>> {
        let noise = self.noise.clone();
        Some(Expected::behind(view, self.clone(), noise, spread))
    }
    fn augmentation(&self) -> Option<&dyn CellAugmentation> {
        Some(self)
    }
}

/// The local number is the number itself.
impl CellAugmentation for Censored {
    fn draw_local(&self, cell: Cell, eta: f64, rng: &mut ChaCha8Rng) -> f64 {
        match self.known(cell) {
            (Known::Number(x), _) => x,
            (Known::Between(ends), noise) => {
                let root = noise.sqrt();
                ends.draw(root * eta, rng) / root
            }
        }
    }
    fn site(&self, cell: Cell, number: f64) -> Site {
        let precision = self.noise_of(cell.column);
        Site {
            precision,
            linear: precision * number,
        }
    }
    fn log_density(&self, cell: Cell, eta: f64) -> f64 {
        let (known, noise) = self.known(cell);
        known.ln_density(eta, noise)
    }
}

impl ScalarLikelihood for Censored {
    fn needs(&self) -> &'static str {
        NEEDS
    }
    fn admits(&self, cell: Cell) -> bool {
        CellLikelihood::admits(self, cell)
    }
    fn domain(&self) -> Domain {
        self.domain
    }
    fn ln_density<R: Real>(&self, cell: Cell, eta: R, noise: R) -> R {
        match Known::of(cell, noise.value()) {
            Known::Number(x) => {
                noise.ln() * 0.5 - noise * (eta - x).square() * 0.5 - HALF_LN_TWO_PI
            }
            Known::Between(ends) => {
                let at = noise.value();
                let eta = eta * at.sqrt();
                // no more than the slope: spec/sites 2 has it in closed form
                let more = (noise - at) * super::noise::slope(ends, eta.value()) / at;
                eta.ln_normal_between(ends.lower, ends.upper) + more
            }
        }
    }
    fn sharpness(&self, noise: f64) -> f64 {
        noise.sqrt()
    }
    fn parameter(&self) -> Option<ScalarParameter> {
        let scale = self.scale();
        Some(ScalarParameter {
            name: "noise",
            prior: scale.prior,
            range: scale.range,
        })
    }
    fn of_noise(&self, variance: f64) -> Option<f64> {
        ColumnParameters::of_noise(self, variance)
    }
    fn start_parameter(&self, cells: &[Cell]) -> f64 {
        ColumnParameters::start(self, cells)
    }
    /// Exact cells in closed form; others in standard deviations of the noise.
    fn expectation(&self, cell: Cell, noise: f64, mean: f64, variance: f64) -> Expectation {
        match Known::of(cell, noise) {
            Known::Number(x) => Expectation {
                value: ln_normal(noise, (x - mean).powi(2) + variance),
                slope: noise * (x - mean),
                curvature: noise,
            },
            Known::Between(ends) => {
                let root = noise.sqrt();
                let e = Expectation::of(root * mean, noise * variance, 1.0, |eta| {
                    eta.ln_normal_between(ends.lower, ends.upper)
                });
                Expectation {
                    value: e.value,
                    slope: root * e.slope,
                    curvature: noise * e.curvature,
                }
            }
        }
    }
    /// $\mathrm E\,p$ is that of a noise with a variance of $1/\tau + \kappa$.
    fn widened_expectations(
        &self,
        data: ColumnData<'_>,
        noise: f64,
        (mean, variance): (&[f64], &[f64]),
        spread: &[f64],
        out: &mut [Expectation],
    ) {
        for (n, out) in out.iter_mut().enumerate() {
            let wider = (noise.recip() + spread[n]).recip();
            *out = self.expectation(data.cell(n), wider, mean[n], variance[n]);
        }
    }
    fn profile(&self, cells: &[Cell], noise: f64, moments: (&[f64], &[f64])) -> Rise {
        super::noise::expected(cells, noise, moments).into()
    }
    fn has_closed_forms(&self) -> bool {
        true
    }
    fn start_intercept(&self, cells: &[Cell], _noise: f64) -> f64 {
        CellLikelihood::start_intercept(self, cells)
    }
    fn remark(&self, cells: &[Cell]) -> Option<&'static str> {
        CellLikelihood::remark(self, cells)
    }
    fn link_variance(&self, _column: usize, _level: f64, noise: f64) -> f64 {
        noise.recip()
    }
    fn draw_datum(&self, _cell: Cell, eta: f64, noise: f64, rng: &mut ChaCha8Rng) -> f64 {
        eta + standard_normal(rng) / noise.sqrt()
    }
    fn draw_cell(&self, cell: Cell, eta: f64, noise: f64, rng: &mut ChaCha8Rng) -> (f64, f64) {
        let of_column = Cell { column: 0, ..cell };
        CellLikelihood::draw_cell(&self.with_noise(vec![noise]), of_column, eta, rng)
    }
    fn law(
        &self,
        _first: usize,
        noise: Vec<f64>,
        (mean, variance): (Mat<f64>, Mat<f64>),
        exposure: Option<MatRef<'_, f64>>,
    ) -> Box<dyn Law> {
        CellLikelihood::law(&self.with_noise(noise), 0, mean, variance, exposure)
    }
}
