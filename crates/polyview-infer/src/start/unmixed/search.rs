//! The search for factors of which loadings are sparse (docs/decisions/0105-starts-are-completed-and-unmixed.md).

use polyview_linalg::{LinalgError, Mat, MatRef, cross, inverse, thin_svd, times_small};

use super::entries::{Entries, Kind};

/// Steps at each width of the spike, at most, and the gain of one below which they end, nats for each loading.
const STEPS: usize = 15;
const LEAST_GAIN: f64 = 1e-4;
/// The spike narrows by factors of so much.
const NARROWER: f64 = 4.0;
/// Rounds in which shares and slabs are learnt before each step.
const ROUNDS: usize = 3;
/// Least curvature of a pair, as a multiple of the one at which it would be flat.
const CURVED: f64 = 1.05;
/// A step leaves each direction at least so much of its length, and is no less than this share of itself.
const LEAST_LENGTH: f64 = 0.1;
const LEAST_STEP: f64 = 1e-3;
/// Share of loadings that are not zero that nothing is known of.
const HALF: f64 = 0.5;

/// Loadings W (features × K) of factors Z, and the search for the $A$ of which $W' = WA^\top$, $Z' = ZA^{-1}$, which leaves the data as they are,
/// are at a local maximum of what the model has of them:
///
/// $$\sum\_{dk}\ln\bigl((1-\pi\_k)\mathcal N(w'\_{dk};0,\epsilon\_d^2)+\pi\_k\mathcal N(w'\_{dk};0,s\_k^2+\epsilon\_d^2)\bigr)-\tfrac12\lVert Z'\rVert^2+(D-N)\ln|\det A|,$$
///
/// of factors of the prior $\mathcal N(0,1)$ and weights that are zero or not, with the error $\epsilon\_d$ of a loading; entropies of both are in
/// the determinant.
pub(super) struct Search {
    at: Point,
    kinds: Vec<Kind>,
    /// Variance of the error of each feature's loadings.
    spike: Vec<f64>,
    /// Number of samples, by as much less as features are looked at.
    samples: f64,
    scratch: Entries,
}

/// Where the search is.
struct Point {
    /// Loadings, features × K.
    weights: Mat<f64>,
    /// $A$.
    moved: Mat<f64>,
    /// Second moments of the factors, K × K.
    moments: Mat<f64>,
    log_det: f64,
}

impl Point {
    /// Where `length` times a `step` E leads: to $(I+E)A$; none where that all but loses a direction, or is no
    /// number.
    fn after(&self, step: &Mat<f64>, length: f64) -> Result<Option<Self>, LinalgError> {
        let k = step.nrows();
        if !step.col_iter().all(|c| c.iter().all(|x| x.is_finite())) {
            return Ok(None);
        }
        let e = Mat::from_fn(k, k, |i, j| {
            f64::from(u8::from(i == j)) + length * step[(i, j)]
        });
        let sizes = thin_svd(e.as_ref())?.singular_values;
        if sizes.iter().any(|s| s.is_nan() || *s < LEAST_LENGTH) {
            return Ok(None);
        }
        let back = inverse(e.as_ref())?;
        let half = times_small(back.transpose(), self.moments.as_ref());
        Ok(Some(Self {
            weights: times_small(self.weights.as_ref(), e.transpose()),
            moved: times_small(e.as_ref(), self.moved.as_ref()),
            moments: times_small(half.as_ref(), back.as_ref()),
            log_det: self.log_det + sizes.iter().map(|s| s.ln()).sum::<f64>(),
        }))
    }
}

impl Search {
    /// A search from these loadings on, of mean square `size`, with errors of variances `spike` by feature, of factors whose mean products over `samples` are 0 and
    /// squares 1.
    pub(super) fn new(weights: Mat<f64>, (spike, size): (Vec<f64>, f64), samples: f64) -> Self {
        let k = weights.ncols();
        let unknown = Kind {
            share: HALF,
            slab: size,
        };
        Self {
            at: Point {
                weights,
                moved: Mat::identity(k, k),
                moments: Mat::identity(k, k),
                log_det: 0.0,
            },
            kinds: vec![unknown; k],
            spike,
            samples,
            scratch: Entries::default(),
        }
    }
    /// $A$.
    pub(super) fn found(&self) -> MatRef<'_, f64> {
        self.at.moved.as_ref()
    }
    /// Climbs with errors so many times as `wide` at first, which narrow down to what they are.
    ///
    /// # Errors
    /// [`LinalgError`] when loadings are not finite.
    pub(super) fn narrow(&mut self, wide: f64) -> Result<(), LinalgError> {
        let errors = self.spike.clone();
        let mut width = wide.max(1.0);
        loop {
            self.spike = errors.iter().map(|x| x * width).collect();
            self.climb()?;
            if width <= 1.0 {
                return Ok(());
            }
            width = (width / NARROWER).max(1.0);
        }
    }
    /// The value where it is, with the shares and slabs that belong there.
    pub(super) fn settled(&mut self) -> f64 {
        for _ in 0..STEPS {
            self.learn();
        }
        let scratch = std::mem::take(&mut self.scratch);
        let (value, scratch) = self.value(&self.at, scratch);
        self.scratch = scratch;
        value
    }
    /// Steps uphill until they gain next to nothing.
    fn climb(&mut self) -> Result<(), LinalgError> {
        let enough = LEAST_GAIN * (self.at.weights.nrows() * self.at.weights.ncols()) as f64;
        for _ in 0..STEPS {
            self.learn();
            let scratch = std::mem::take(&mut self.scratch);
            let (before, mut scratch) = self.value(&self.at, scratch);
            let step = self.step(&mut scratch);
            let (mut length, mut gain) = (1.0, 0.0);
            while length > LEAST_STEP {
                if let Some(next) = self.at.after(&step, length)? {
                    let (value, again) = self.value(&next, scratch);
                    scratch = again;
                    if value > before {
                        (gain, self.at) = (value - before, next);
                        break;
                    }
                }
                length *= 0.5;
            }
            self.scratch = scratch;
            if gain < enough {
                break;
            }
        }
        Ok(())
    }
    /// Shares and slabs of each factor by expectation and maximisation, with one loading of each kind seen beforehand.
    fn learn(&mut self) {
        let mut entries = std::mem::take(&mut self.scratch);
        for (j, kind) in self.kinds.iter_mut().enumerate() {
            let own = self.at.weights.col_as_slice(j);
            for _ in 0..ROUNDS {
                entries.look(own, &self.spike, *kind);
                let count = 1.0 + entries.included();
                kind.share = count / (own.len() as f64 + 2.0);
                kind.slab = (entries.squares() / count).max(f64::MIN_POSITIVE);
            }
        }
        self.scratch = entries;
    }
    /// What is to be maximised, but for what does not change with $A$.
    fn value(&self, at: &Point, mut entries: Entries) -> (f64, Entries) {
        let mut sum = (at.weights.nrows() as f64 - self.samples) * at.log_det;
        for (j, kind) in self.kinds.iter().enumerate() {
            entries.look(at.weights.col_as_slice(j), &self.spike, *kind);
            sum += entries.densities() - 0.5 * self.samples * at.moments[(j, j)];
        }
        (sum, entries)
    }
    /// Slopes of the value along the entries of E, and how it is bent along each that is not on the diagonal, with mixtures at their
    /// tangents; both K × K.
    fn slopes(&self, entries: &mut Entries) -> (Mat<f64>, Mat<f64>) {
        let w = &self.at.weights;
        let (features, k) = w.shape();
        let (n, all) = (self.samples, features as f64);
        let mut precision = Mat::zeros(features, k);
        for (j, kind) in self.kinds.iter().enumerate() {
            entries.look(w.col_as_slice(j), &self.spike, *kind);
            precision
                .col_as_slice_mut(j)
                .copy_from_slice(entries.precision());
        }
        let pulled = Mat::from_fn(features, k, |d, j| precision[(d, j)] * w[(d, j)]);
        let squares = Mat::from_fn(features, k, |d, j| w[(d, j)] * w[(d, j)]);
        let pulls = cross(pulled.as_ref(), w.as_ref());
        let slopes = Mat::from_fn(k, k, |i, j| {
            let volume = if i == j { all - n } else { 0.0 };
            n * self.at.moments[(i, j)] - pulls[(i, j)] + volume
        });
        let bent = cross(precision.as_ref(), squares.as_ref());
        (slopes, Mat::from_fn(k, k, |i, j| bent[(i, j)] + n))
    }
    /// Newton's step, each pair of factors by itself.
    fn step(&self, entries: &mut Entries) -> Mat<f64> {
        let (slopes, bent) = self.slopes(entries);
        let k = bent.nrows();
        let both = self.samples + self.at.weights.nrows() as f64;
        let mut out = Mat::zeros(k, k);
        for i in 0..k {
            out[(i, i)] = slopes[(i, i)] / (bent[(i, i)] + both);
            for j in 0..i {
                let [a, b] = [bent[(i, j)], bent[(j, i)]];
                // a rotation of loadings that are all alike is flat
                let up = (CURVED * both * both / (a * b)).max(1.0).sqrt();
                let (a, b) = (a * up, b * up);
                let det = a * b - both * both;
                let (x, y) = (slopes[(i, j)], slopes[(j, i)]);
                out[(i, j)] = (b * x - both * y) / det;
                out[(j, i)] = (a * y - both * x) / det;
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use polyview_linalg::thin_qr;

    use super::*;
    use crate::start::seeded as normal;

    /// What is climbed is what its slope says: steps along each entry of E by finite differences.
    #[test]
    fn slopes_are_those_of_the_value() {
        let (d, k) = (40, 3);
        let spike = (0..d).map(|d| 0.02 + 0.01 * (d % 3) as f64).collect();
        let mut search = Search::new(normal(d, k, 5), (spike, 0.8), 25.0);
        // away from the identity
        let (q, _) = thin_qr(normal(k, k, 6).as_ref()).expect("a basis");
        search.at = (search.at.after(&q, 0.2))
            .expect("numbers")
            .expect("a step");
        search.kinds[1] = Kind {
            share: 0.6,
            slab: 0.4,
        };
        let value = |search: &Search, at: &Point| search.value(at, Entries::default()).0;
        let step = 1e-6;
        for i in 0..k {
            for j in 0..k {
                let along = |by: f64| {
                    let e = Mat::from_fn(k, k, |a, b| if (a, b) == (i, j) { by } else { 0.0 });
                    let at = search.at.after(&e, 1.0).expect("numbers").expect("a step");
                    value(&search, &at)
                };
                let by_differences = (along(step) - along(-step)) / (2.0 * step);
                let slope = search.slopes(&mut Entries::default()).0[(i, j)];
                let near = (by_differences - slope).abs() < 1e-5 * (1.0 + slope.abs());
                assert!(near, "{i} {j}: {by_differences} {slope}");
            }
        }
        let before = value(&search, &search.at);
        search.climb().expect("numbers");
        assert!(value(&search, &search.at) > before);
    }
}
