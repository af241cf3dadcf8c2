//! Beta-distributed probabilities.

use polyview_core::{NumericError, State, StateReader, Stateful};
use polyview_random::StreamKey;
use polyview_special::{digamma, ln_beta};
use serde::{Deserialize, Serialize};

/// A Beta distribution, density $\propto x^{a-1}(1-x)^{b-1}$.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BetaPrior {
    /// First shape, positive: large where the probability is near 1.
    pub a: f64,
    /// Second shape, positive: large where the probability is near 0.
    pub b: f64,
}

impl BetaPrior {
    /// The two shapes.
    pub const fn new(a: f64, b: f64) -> Self {
        Self { a, b }
    }
    /// The uniform distribution, Beta(1, 1): MOFA's.
    pub const fn uniform() -> Self {
        Self::new(1.0, 1.0)
    }
    /// Whether both shapes are positive and finite.
    pub fn is_proper(&self) -> bool {
        self.a > 0.0 && self.b > 0.0 && self.a.is_finite() && self.b.is_finite()
    }
}

/// Several independent Beta variables with one prior: inclusion
/// probabilities. Each is a distribution q (two shapes; variational Bayes) or
/// a known value (a draw of Gibbs, or set by hand).
#[derive(Clone, Debug, PartialEq)]
pub struct Betas {
    prior: BetaPrior,
    a: Vec<f64>,
    b: Vec<f64>,
    mean_ln: Vec<f64>,
    mean_ln_not: Vec<f64>,
    drawn: bool,
}

/// $x \ln y$ with $0 \ln 0 = 0$, the logarithm given.
pub(crate) fn times_log(x: f64, ln: f64) -> f64 {
    if x == 0.0 { 0.0 } else { x * ln }
}

impl Betas {
    /// `n` variables whose q is the prior.
    pub fn new(prior: BetaPrior, n: usize) -> Self {
        let mut out = Self {
            prior,
            a: vec![1.0; n],
            b: vec![1.0; n],
            mean_ln: vec![0.0; n],
            mean_ln_not: vec![0.0; n],
            drawn: false,
        };
        for i in 0..n {
            out.set(i, prior.a, prior.b);
        }
        out
    }
    /// The prior.
    pub fn prior(&self) -> BetaPrior {
        self.prior
    }
    /// How many.
    pub fn len(&self) -> usize {
        self.a.len()
    }
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.a.is_empty()
    }
    /// Whether they are known values, not distributions.
    pub fn is_draw(&self) -> bool {
        self.drawn
    }
    /// $\langle x\rangle$ of variable `i`; the value itself where it is known.
    pub fn mean(&self, i: usize) -> f64 {
        if self.drawn {
            self.mean_ln[i].exp()
        } else {
            self.a[i] / (self.a[i] + self.b[i])
        }
    }
    /// $\langle\ln x\rangle$ of each.
    pub fn mean_ln(&self) -> &[f64] {
        &self.mean_ln
    }
    /// $\langle\ln(1 - x)\rangle$ of each.
    pub fn mean_ln_not(&self) -> &[f64] {
        &self.mean_ln_not
    }
    /// $\langle\ln\tfrac{x}{1-x}\rangle$ of variable `i`.
    pub fn log_odds(&self, i: usize) -> f64 {
        self.mean_ln[i] - self.mean_ln_not[i]
    }
    /// First and second shape of q of variable `i`.
    pub fn shapes(&self, i: usize) -> (f64, f64) {
        (self.a[i], self.b[i])
    }
    /// Sets q of variable `i` to Beta(a, b).
    pub fn set(&mut self, i: usize, a: f64, b: f64) {
        self.drawn = false;
        self.a[i] = a;
        self.b[i] = b;
        let total = digamma(a + b);
        self.mean_ln[i] = digamma(a) - total;
        self.mean_ln_not[i] = digamma(b) - total;
    }
    /// Log odds of the means of q; none of known values.
    pub(crate) fn free(&self) -> Vec<f64> {
        if self.drawn {
            return Vec::new();
        }
        self.a
            .iter()
            .zip(&self.b)
            .map(|(a, b)| (a / b).ln())
            .collect()
    }
    /// Moves the means of q to where their log odds are `values`; the sum of both shapes
    /// stays, and neither falls below that of the prior. Nothing happens to known values.
    pub(crate) fn set_free(&mut self, values: &[f64]) {
        if self.drawn || values.len() != self.len() {
            return;
        }
        for (i, x) in values.iter().enumerate() {
            let total = self.a[i] + self.b[i];
            let most = (total - self.prior.b).max(self.prior.a);
            let a = (total / (1.0 + (-x).exp())).clamp(self.prior.a, most);
            if a.is_finite() {
                self.set(i, a, (total - a).max(self.prior.b));
            }
        }
    }
    /// Sets all variables to known values in \[0, 1\], one each.
    pub fn set_values(&mut self, values: &[f64]) {
        self.drawn = true;
        self.mean_ln = values.iter().map(|x| x.ln()).collect();
        self.mean_ln_not = values.iter().map(|x| (-x).ln_1p()).collect();
        self.a.resize(values.len(), 1.0);
        self.b.resize(values.len(), 1.0);
    }
    /// Draws variable `i` from Beta(a, b) with the stream `key`.
    pub fn draw(&mut self, i: usize, a: f64, b: f64, key: StreamKey) {
        let (ln, ln_not) = polyview_random::Beta::new(a, b)
            .map_or((f64::NAN, f64::NAN), |d| d.sample_ln(&mut key.rng()));
        self.drawn = true;
        self.a[i] = a;
        self.b[i] = b;
        self.mean_ln[i] = ln;
        self.mean_ln_not[i] = ln_not;
    }
    /// Conjugate posterior shapes given how many trials succeeded and how many
    /// failed (spec/mofa B.5, `ThetaW`).
    pub fn posterior(&self, successes: f64, failures: f64) -> (f64, f64) {
        (
            self.prior.a + successes.max(0.0),
            self.prior.b + failures.max(0.0),
        )
    }
    /// $-\sum\mathrm{KL}(q\\,\\|\\,p)$ (spec/mofa B.6.5); for known values the
    /// log prior density.
    pub fn bound(&self) -> f64 {
        let p = self.prior;
        (0..self.len())
            .map(|i| {
                let (a, b) = if self.drawn {
                    (1.0, 1.0)
                } else {
                    (self.a[i], self.b[i])
                };
                let constant = if self.drawn { 0.0 } else { ln_beta(a, b) };
                constant - ln_beta(p.a, p.b)
                    + times_log(p.a - a, self.mean_ln[i])
                    + times_log(p.b - b, self.mean_ln_not[i])
            })
            .sum()
    }
    /// What one more variable, the probability of `count` switches that no data speak of,
    /// adds to the bound together with these when $q$ keeps the two apart, each switch
    /// at the prior mean $\gamma = \tfrac{a}{a + b}$:
    ///
    /// $$\ln\mathrm B(a + n\gamma, b + n(1 - \gamma)) - \ln\mathrm B(a, b) -
    /// n\gamma\ln\gamma - n(1 - \gamma)\ln(1 - \gamma). $$
    pub fn idle(&self, count: f64) -> f64 {
        let BetaPrior { a, b } = self.prior;
        let on = a / (a + b);
        let off = 1.0 - on;
        let entropy = -count * (times_log(on, on.ln()) + times_log(off, off.ln()));
        ln_beta(a + count * on, b + count * off) - ln_beta(a, b) + entropy
    }
    /// Keeps the variables `keep`, in that order.
    pub fn select(&mut self, keep: &[usize]) {
        for v in [
            &mut self.a,
            &mut self.b,
            &mut self.mean_ln,
            &mut self.mean_ln_not,
        ] {
            *v = keep.iter().map(|&i| v[i]).collect();
        }
    }
}

impl Stateful for Betas {
    fn save(&self, prefix: &str, state: &mut State) {
        for (name, v) in [
            ("a", &self.a),
            ("b", &self.b),
            ("mean_ln", &self.mean_ln),
            ("mean_ln_not", &self.mean_ln_not),
        ] {
            state.put_vec(&format!("{prefix}/{name}"), v);
        }
        let drawn = f64::from(u8::from(self.drawn));
        state.put_vec(&format!("{prefix}/drawn"), &[drawn]);
        let prior = [self.prior.a, self.prior.b];
        state.put_vec(&format!("{prefix}/prior"), &prior);
    }
    fn load(&mut self, prefix: &str, state: &StateReader<'_>) -> Result<(), NumericError> {
        self.a = state.vec(&format!("{prefix}/a"))?;
        let n = self.a.len();
        self.b = state.vec_of(&format!("{prefix}/b"), n)?;
        self.mean_ln = state.vec_of(&format!("{prefix}/mean_ln"), n)?;
        self.mean_ln_not = state.vec_of(&format!("{prefix}/mean_ln_not"), n)?;
        self.drawn = state.scalar(&format!("{prefix}/drawn"))? != 0.0;
        let prior = state.vec_of(&format!("{prefix}/prior"), 2)?;
        self.prior = BetaPrior::new(prior[0], prior[1]);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Integrals by the midpoint rule on ln x / (1 − x).
    fn integral(a: f64, b: f64, f: impl Fn(f64, f64) -> f64) -> f64 {
        let steps = 40_000;
        (0..steps)
            .map(|i| {
                let t = -60.0 + 120.0 * (f64::from(i) + 0.5) / f64::from(steps);
                let (ln, not) = (
                    polyview_special::log_sigmoid(t),
                    polyview_special::log_sigmoid(-t),
                );
                let density = (a * ln + b * not - ln_beta(a, b)).exp();
                density * f(ln, not) * 120.0 / f64::from(steps)
            })
            .sum()
    }

    #[test]
    fn moments_and_bound_are_integrals() {
        for (a, b) in [(1.0, 1.0), (3.5, 0.7), (41.0, 9.0)] {
            for prior in [BetaPrior::uniform(), BetaPrior::new(2.5, 0.8)] {
                let mut x = Betas::new(prior, 1);
                assert_eq!(x.bound(), 0.0);
                x.set(0, a, b);
                let close = |found: f64, expected: f64| {
                    assert!((found - expected).abs() < 1e-9 * (1.0 + expected.abs()));
                };
                close(x.mean(0), integral(a, b, |ln, _| ln.exp()));
                close(x.mean_ln()[0], integral(a, b, |ln, _| ln));
                close(x.mean_ln_not()[0], integral(a, b, |_, not| not));
                close(x.log_odds(0), integral(a, b, |ln, not| ln - not));
                close(
                    x.bound(),
                    integral(a, b, |ln, not| {
                        (prior.a - a) * ln + (prior.b - b) * not + ln_beta(a, b)
                            - ln_beta(prior.a, prior.b)
                    }),
                );
            }
        }
    }

    #[test]
    fn known_values_have_their_density_also_at_the_ends() {
        let mut x = Betas::new(BetaPrior::new(2.0, 3.0), 2);
        x.set_values(&[0.25, 0.5]);
        let density = |t: f64| (12.0 * t * (1.0 - t).powi(2)).ln();
        assert!((x.bound() - density(0.25) - density(0.5)).abs() < 1e-14);
        assert!((x.mean(0) - 0.25).abs() < 1e-15);
        let mut ends = Betas::new(BetaPrior::uniform(), 2);
        ends.set_values(&[1.0, 0.0]);
        assert_eq!(ends.bound(), 0.0);
        assert_eq!(ends.log_odds(0), f64::INFINITY);
        assert_eq!(ends.log_odds(1), f64::NEG_INFINITY);
    }
}
