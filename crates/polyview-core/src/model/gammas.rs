//! Gamma-distributed precisions.

use polyview_random::StreamKey;
use polyview_special::gamma::Shape;
use serde::{Deserialize, Serialize};

use super::state::{State, StateReader, Stateful};
use crate::error::NumericError;

/// A Gamma distribution by shape and **rate**.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GammaPrior {
    /// Shape, positive.
    pub shape: f64,
    /// Rate, positive, in inverse units of the variable.
    pub rate: f64,
}

impl GammaPrior {
    /// Shape and rate.
    pub const fn new(shape: f64, rate: f64) -> Self {
        Self { shape, rate }
    }
    /// Whether both are positive and finite.
    pub fn is_proper(&self) -> bool {
        self.shape > 0.0 && self.rate > 0.0 && self.shape.is_finite() && self.rate.is_finite()
    }
}

/// Several independent Gamma variables with one prior: noise precisions, or
/// the precisions of an ARD prior. Each is either a distribution q (shape,
/// rate; variational Bayes) or a draw (Gibbs).
#[derive(Clone, Debug, PartialEq)]
pub struct Gammas {
    prior: GammaPrior,
    shape: Vec<f64>,
    rate: Vec<f64>,
    mean: Vec<f64>,
    mean_ln: Vec<f64>,
    drawn: bool,
    /// What belongs to shapes alone.
    of_shapes: OfShapes,
}

/// What functions of the distributions take of their shapes, which seldom change; it follows from these.
#[derive(Clone, Debug, Default)]
struct OfShapes(Vec<Shape>);

impl PartialEq for OfShapes {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl OfShapes {
    /// That of a variable.
    fn at(&mut self, i: usize, shape: f64, prior: f64) -> &Shape {
        while self.0.len() <= i {
            // variables that follow one another often have one shape
            let last = self.0.last().filter(|last| last.is(shape, prior));
            let last = last.copied().unwrap_or_else(|| Shape::new(shape, prior));
            self.0.push(last);
        }
        if !self.0[i].is(shape, prior) {
            self.0[i] = Shape::new(shape, prior);
        }
        &self.0[i]
    }
    /// The divergence of a variable from its prior.
    fn kl(&self, i: usize, (shape, rate): (f64, f64), prior: GammaPrior) -> f64 {
        match self.0.get(i) {
            Some(known) if known.is(shape, prior.shape) => known.kl(rate, prior.rate),
            _ => Shape::new(shape, prior.shape).kl(rate, prior.rate),
        }
    }
}

impl Gammas {
    /// `n` variables whose q has the given mean and the shape 1.
    pub fn new(prior: GammaPrior, n: usize, mean: f64) -> Self {
        let mut out = Self {
            prior,
            shape: vec![1.0; n],
            rate: vec![1.0; n],
            mean: vec![1.0; n],
            mean_ln: vec![0.0; n],
            drawn: false,
            of_shapes: OfShapes::default(),
        };
        for i in 0..n {
            out.set(i, 1.0, 1.0 / mean);
            out.mean[i] = mean;
        }
        out
    }
    /// The prior.
    pub fn prior(&self) -> GammaPrior {
        self.prior
    }
    /// How many.
    pub fn len(&self) -> usize {
        self.mean.len()
    }
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.mean.is_empty()
    }
    /// Whether they are draws, not distributions.
    pub fn is_draw(&self) -> bool {
        self.drawn
    }
    /// $\langle x\rangle$ of each; the value itself for a draw.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }
    /// $\langle\ln x\rangle$ of each; the log of the value for a draw.
    pub fn mean_ln(&self) -> &[f64] {
        &self.mean_ln
    }
    /// Shapes of q.
    pub fn shape(&self) -> &[f64] {
        &self.shape
    }
    /// Rates of q.
    pub fn rate(&self) -> &[f64] {
        &self.rate
    }
    /// $\langle 1/x\rangle$ = rate / (shape − 1) where that exists, else
    /// 1/⟨x⟩ (spec/sshiba P4).
    pub fn mean_inverse(&self, i: usize) -> f64 {
        if !self.drawn && self.shape[i] > 1.0 {
            self.rate[i] / (self.shape[i] - 1.0)
        } else {
            1.0 / self.mean[i]
        }
    }
    /// Sets q of variable `i` to Gamma(shape, rate).
    pub fn set(&mut self, i: usize, shape: f64, rate: f64) {
        self.drawn = false;
        self.shape[i] = shape;
        self.rate[i] = rate;
        self.mean[i] = shape / rate;
        self.mean_ln[i] = self.of_shapes.at(i, shape, self.prior.shape).mean_log(rate);
    }
    /// Draws variable `i` from Gamma(shape, rate) with the stream `key`.
    pub fn draw(&mut self, i: usize, shape: f64, rate: f64, key: StreamKey) {
        let ln = polyview_random::ln_gamma_draw(&mut key.rng(), shape, rate).unwrap_or(f64::NAN);
        self.drawn = true;
        self.shape[i] = shape;
        self.rate[i] = rate;
        self.mean_ln[i] = ln;
        self.mean[i] = ln.exp().clamp(f64::MIN_POSITIVE, f64::MAX);
    }
    /// Sets variable `i` to a known value.
    pub fn set_value(&mut self, i: usize, value: f64) {
        self.drawn = true;
        self.mean[i] = value;
        self.mean_ln[i] = value.ln();
    }
    /// Logarithms of the rates of q, in inverse units of the variables; none of draws.
    pub fn free(&self) -> Vec<f64> {
        if self.drawn {
            return Vec::new();
        }
        self.rate.iter().map(|r| r.ln()).collect()
    }
    /// Moves the rates of q to where their logarithms are `values`, but not below that of the
    /// prior, which no posterior has; shapes stay. Nothing happens to draws.
    pub fn set_free(&mut self, values: &[f64]) {
        if self.drawn || values.len() != self.len() {
            return;
        }
        for (i, x) in values.iter().enumerate() {
            let rate = x.exp().max(self.prior.rate);
            if rate.is_finite() {
                self.set(i, self.shape[i], rate);
            }
        }
    }
    /// Conjugate posterior of variable `i` given half the number of terms and
    /// half the sum of squares: (a0 + half count, b0 + half sum).
    pub fn posterior(&self, half_count: f64, half_sum: f64) -> (f64, f64) {
        (
            self.prior.shape + half_count,
            self.prior.rate + half_sum.max(0.0),
        )
    }
    /// $-\sum\mathrm{KL}(q\\,\\|\\,p)$ (spec/sshiba L4-L6); for draws the log prior
    /// density.
    pub fn bound(&self) -> f64 {
        let p = self.prior;
        (0..self.len())
            .map(|i| {
                if self.drawn {
                    p.shape * p.rate.ln() - polyview_special::ln_gamma(p.shape)
                        + (p.shape - 1.0) * self.mean_ln[i]
                        - p.rate * self.mean[i]
                } else {
                    -self.of_shapes.kl(i, (self.shape[i], self.rate[i]), p)
                }
            })
            .sum()
    }
    /// What one more variable, the precision of `count` normal entries that no data
    /// speak of, adds to the bound together with these entries when $q$ keeps the two
    /// apart: with $a = a\_0 + \tfrac12 n$ and at the best such $q$,
    ///
    /// $$\ln\Gamma(a) - \ln\Gamma(a\_0) + a\_0\ln a\_0 - a\ln a + \tfrac n2, $$
    ///
    /// which is about $\ln a\_0$ for a vague prior (spec/sites 6) and nears 0 for a
    /// certain one. Whatever the rate is: it is but the unit of the entries.
    pub fn idle(&self, count: f64) -> f64 {
        let (shape, half) = (self.prior.shape, 0.5 * count);
        let after = shape + half;
        polyview_special::ln_gamma(after) - polyview_special::ln_gamma(shape) + shape * shape.ln()
            - after * after.ln()
            + half
    }
    /// Keeps the variables `keep`, in that order.
    pub fn select(&mut self, keep: &[usize]) {
        for v in [
            &mut self.shape,
            &mut self.rate,
            &mut self.mean,
            &mut self.mean_ln,
        ] {
            *v = keep.iter().map(|&i| v[i]).collect();
        }
    }
}

impl Stateful for Gammas {
    fn save(&self, prefix: &str, state: &mut State) {
        for (name, v) in [
            ("shape", &self.shape),
            ("rate", &self.rate),
            ("mean", &self.mean),
            ("mean_ln", &self.mean_ln),
        ] {
            state.put_vec(&format!("{prefix}/{name}"), v);
        }
        state.put_vec(
            &format!("{prefix}/drawn"),
            &[f64::from(u8::from(self.drawn))],
        );
        state.put_vec(
            &format!("{prefix}/prior"),
            &[self.prior.shape, self.prior.rate],
        );
    }
    fn load(&mut self, prefix: &str, state: &StateReader<'_>) -> Result<(), NumericError> {
        self.shape = state.vec(&format!("{prefix}/shape"))?;
        let n = self.shape.len();
        self.rate = state.vec_of(&format!("{prefix}/rate"), n)?;
        self.mean = state.vec_of(&format!("{prefix}/mean"), n)?;
        self.mean_ln = state.vec_of(&format!("{prefix}/mean_ln"), n)?;
        self.drawn = state.scalar(&format!("{prefix}/drawn"))? != 0.0;
        let prior = state.vec_of(&format!("{prefix}/prior"), 2)?;
        self.prior = GammaPrior::new(prior[0], prior[1]);
        Ok(())
    }
}
