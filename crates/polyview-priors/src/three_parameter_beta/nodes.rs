//! Variables of the hierarchy, many of one kind: Gamma variables with a rate
//! each, and variances with generalised inverse Gaussian posteriors.

use polyview_core::{NumericError, State, StateReader};
use polyview_random::{ChaCha8Rng, Gig, ln_gamma_draw};
use polyview_special::{GigMoments, digamma, gamma, gig_moments};

/// Logs of draws stay within this of zero: e^230 is 1e100.
const FAR: f64 = 230.0;

/// Smallest second moment that a variance is learnt from, in squared working
/// units: the generalised inverse Gaussian needs one above zero.
const SMALLEST: f64 = 1e-100;

/// Precision of entries that are at rest, per squared working unit.
pub(super) const AT_REST: f64 = 1e8;

fn bad(prefix: &str, name: &str) -> NumericError {
    NumericError::BadState {
        name: format!("{prefix}/{name}"),
    }
}

/// The log of a draw of Ga(shape, rate), NaN where there is none.
pub(super) fn draw_ln(shape: f64, rate: f64, rng: &mut ChaCha8Rng) -> f64 {
    ln_gamma_draw(rng, shape, rate).map_or(f64::NAN, |ln| ln.clamp(-FAR, FAR))
}

/// The log of a draw of $\mathrm{GIG}(a, b, p)$, NaN where there is none.
pub(super) fn draw_variance_ln(a: f64, b: f64, p: f64, rng: &mut ChaCha8Rng) -> f64 {
    Gig::new(a, b.max(SMALLEST), p).map_or(f64::NAN, |g| g.sample_ln(rng).clamp(-FAR, FAR))
}

/// Independent Gamma variables of one shape, each with a rate: distributions
/// q, or draws.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Nodes {
    shape: f64,
    rate: Vec<f64>,
    mean: Vec<f64>,
    mean_ln: Vec<f64>,
    drawn: bool,
}

impl Nodes {
    /// `n` variables of mean 1.
    pub(super) fn new(shape: f64, n: usize) -> Self {
        let mut out = Self {
            shape,
            rate: Vec::new(),
            mean: Vec::new(),
            mean_ln: Vec::new(),
            drawn: false,
        };
        out.set(shape, vec![shape; n]);
        out
    }
    pub(super) fn len(&self) -> usize {
        self.mean.len()
    }
    pub(super) fn mean(&self) -> &[f64] {
        &self.mean
    }
    pub(super) fn mean_ln(&self) -> &[f64] {
        &self.mean_ln
    }
    /// Sets q of all of them.
    pub(super) fn set(&mut self, shape: f64, rate: Vec<f64>) {
        let psi = digamma(shape);
        self.shape = shape;
        self.mean = rate.iter().map(|b| shape / b).collect();
        self.mean_ln = rate.iter().map(|b| psi - b.ln()).collect();
        self.rate = rate;
        self.drawn = false;
    }
    /// Sets all of them to values, by their logs.
    pub(super) fn set_ln(&mut self, ln: Vec<f64>) {
        self.mean = ln.iter().map(|x| x.exp()).collect();
        self.mean_ln = ln;
        self.rate.clear();
        self.drawn = true;
    }
    /// Sum of the entropies of q; zero for draws.
    pub(super) fn entropy(&self) -> f64 {
        if self.drawn {
            return 0.0;
        }
        let logs: f64 = self.rate.iter().map(|b| b.ln()).sum();
        self.rate.len() as f64 * gamma::entropy(self.shape, 1.0) - logs
    }
    /// That of some of them.
    pub(super) fn entropy_of(&self, places: &[usize]) -> f64 {
        if self.drawn {
            return 0.0;
        }
        let logs: f64 = places.iter().map(|&i| self.rate[i].ln()).sum();
        places.len() as f64 * gamma::entropy(self.shape, 1.0) - logs
    }
    /// Keeps the variables `keep`.
    pub(super) fn select(&mut self, keep: &[usize]) {
        let take = |v: &[f64]| keep.iter().map(|&i| v[i]).collect();
        if self.drawn {
            self.set_ln(take(&self.mean_ln));
        } else {
            self.set(self.shape, take(&self.rate));
        }
    }
    pub(super) fn save(&self, prefix: &str, state: &mut State) {
        if self.drawn {
            state.put_vec(&format!("{prefix}/ln"), &self.mean_ln);
        } else {
            state.put_vec(&format!("{prefix}/shape"), &[self.shape]);
            state.put_vec(&format!("{prefix}/rate"), &self.rate);
        }
    }
    pub(super) fn load(
        &mut self,
        prefix: &str,
        n: usize,
        state: &StateReader<'_>,
    ) -> Result<(), NumericError> {
        if state.has(&format!("{prefix}/ln")) {
            self.set_ln(state.vec_of(&format!("{prefix}/ln"), n)?);
        } else {
            let shape = state.scalar(&format!("{prefix}/shape"))?;
            self.set(shape, state.vec_of(&format!("{prefix}/rate"), n)?);
        }
        if self.mean.iter().all(|x| *x > 0.0 && x.is_finite()) {
            Ok(())
        } else {
            Err(bad(prefix, "rate"))
        }
    }
}

/// Variances with $q = \mathrm{GIG}(a, b, p)$ of one $p$, or draws.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Variances {
    p: f64,
    a: Vec<f64>,
    b: Vec<f64>,
    mean: Vec<f64>,
    inverse: Vec<f64>,
    /// Log normaliser of q, or the log of the draw.
    ln: Vec<f64>,
    drawn: bool,
}

/// What one update or draw writes to.
pub(super) struct Column<'a> {
    pub(super) a: &'a mut [f64],
    pub(super) b: &'a mut [f64],
    pub(super) mean: &'a mut [f64],
    pub(super) inverse: &'a mut [f64],
    pub(super) ln: &'a mut [f64],
    p: f64,
}

impl Column<'_> {
    /// q of variance i.
    pub(super) fn set(&mut self, i: usize, a: f64, b: f64) {
        let b = b.max(SMALLEST);
        let none = GigMoments {
            mean: f64::NAN,
            mean_inverse: f64::NAN,
            ln_normaliser: f64::NAN,
        };
        let moments = gig_moments(a, b, self.p).unwrap_or(none);
        self.a[i] = a;
        self.b[i] = b;
        self.mean[i] = moments.mean;
        self.inverse[i] = moments.mean_inverse;
        self.ln[i] = moments.ln_normaliser;
    }
    /// A known variance that nothing is learnt of.
    pub(super) fn rest(&mut self, i: usize) {
        (self.a[i], self.b[i]) = (2.0, 1.0);
        self.set_ln(i, -AT_REST.ln());
    }
    /// A draw, by its log.
    pub(super) fn set_ln(&mut self, i: usize, ln: f64) {
        self.mean[i] = ln.exp();
        self.inverse[i] = (-ln).exp();
        self.ln[i] = ln;
    }
}

impl Variances {
    /// `n` variables with $q = \mathrm{GIG}(2, 1, p)$.
    pub(super) fn new(p: f64, n: usize) -> Self {
        let mut out = Self {
            p,
            a: vec![2.0; n],
            b: vec![1.0; n],
            mean: vec![0.0; n],
            inverse: vec![0.0; n],
            ln: vec![0.0; n],
            drawn: false,
        };
        out.set_all();
        out
    }
    /// Moments from the parameters.
    fn set_all(&mut self) {
        let n = self.a.len();
        for mut column in self.columns_mut(n, false) {
            for i in 0..n {
                let (a, b) = (column.a[i], column.b[i]);
                column.set(i, a, b);
            }
        }
    }
    pub(super) fn p(&self) -> f64 {
        self.p
    }
    pub(super) fn is_draw(&self) -> bool {
        self.drawn
    }
    pub(super) fn mean(&self) -> &[f64] {
        &self.mean
    }
    pub(super) fn inverse(&self) -> &[f64] {
        &self.inverse
    }
    /// Log normaliser of q, or the log of the draw.
    pub(super) fn ln(&self) -> &[f64] {
        &self.ln
    }
    /// $\tfrac12(a\langle\xi\rangle + b\langle\xi^{-1}\rangle)$ of variance i.
    pub(super) fn exponent(&self, i: usize) -> f64 {
        0.5 * (self.a[i] * self.mean[i] + self.b[i] * self.inverse[i])
    }
    /// Write access, `rows` variables at a time; they are all to be set, to
    /// draws or to distributions.
    pub(super) fn columns_mut(&mut self, rows: usize, drawn: bool) -> Vec<Column<'_>> {
        self.drawn = drawn;
        let rows = rows.max(1);
        let parameters = self.a.chunks_mut(rows).zip(self.b.chunks_mut(rows));
        let moments = self
            .mean
            .chunks_mut(rows)
            .zip(self.inverse.chunks_mut(rows));
        parameters
            .zip(moments.zip(self.ln.chunks_mut(rows)))
            .map(|((a, b), ((mean, inverse), ln))| Column {
                a,
                b,
                mean,
                inverse,
                ln,
                p: self.p,
            })
            .collect()
    }
    /// Keeps the variables `keep`.
    pub(super) fn select(&mut self, keep: &[usize]) {
        for v in [
            &mut self.a,
            &mut self.b,
            &mut self.mean,
            &mut self.inverse,
            &mut self.ln,
        ] {
            *v = keep.iter().map(|&i| v[i]).collect();
        }
    }
    pub(super) fn save(&self, prefix: &str, state: &mut State) {
        if self.drawn {
            state.put_vec(&format!("{prefix}/ln"), &self.ln);
        } else {
            state.put_vec(&format!("{prefix}/a"), &self.a);
            state.put_vec(&format!("{prefix}/b"), &self.b);
        }
    }
    pub(super) fn load(
        &mut self,
        prefix: &str,
        n: usize,
        state: &StateReader<'_>,
    ) -> Result<(), NumericError> {
        let drawn = state.has(&format!("{prefix}/ln"));
        // lengths are those of arrays that are there
        let first = state.vec_of(&format!("{prefix}/{}", if drawn { "ln" } else { "a" }), n)?;
        for v in [&mut self.mean, &mut self.inverse, &mut self.ln] {
            *v = vec![1.0; n];
        }
        if drawn {
            (self.a, self.b) = (vec![1.0; n], vec![1.0; n]);
            for mut column in self.columns_mut(n, true) {
                for (i, ln) in first.iter().enumerate() {
                    column.set_ln(i, *ln);
                }
            }
        } else {
            self.a = first;
            self.b = state.vec_of(&format!("{prefix}/b"), n)?;
            self.set_all();
        }
        let fine = |v: &[f64]| v.iter().all(|x| *x > 0.0 && x.is_finite());
        if fine(&self.mean) && fine(&self.inverse) {
            Ok(())
        } else {
            Err(bad(prefix, "a"))
        }
    }
}
