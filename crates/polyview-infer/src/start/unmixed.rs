//! Factors turned, and made oblique, to where their loadings are sparse (docs/decisions/0105-starts-are-completed-and-unmixed.md).

use polyview_linalg::{LinalgError, Mat, MatRef, cross, thin_svd, times_small};

use super::by_varimax;

/// Loadings have to say so much more of oblique factors than of those of varimax, as a multiple of what their K(K - 1) numbers cost by the criterion of
/// Schwarz (1978).
const CLEAR: f64 = 2.0;
/// Steps at each width of the spike, at most, and the gain of one below which they end, nats for each loading.
const STEPS: usize = 15;
const LEAST_GAIN: f64 = 1e-4;
/// The spike is at first as wide as so much of the mean square of a loading, and then, by factors of so much, as noise is.
const WIDEST: f64 = 0.1;
const NARROWER: f64 = 4.0;
/// Features that are looked at, at most: those that stand out most from noise.
const FEATURES: usize = 3000;
/// Noise of a loading is at least this share of the mean square of a loading.
const LEAST_NOISE: f64 = 1e-10;
/// Rounds in which shares and slabs are learnt before each step.
const ROUNDS: usize = 3;
/// Least curvature of a pair, as a multiple of the one at which it would be flat.
const CURVED: f64 = 1.05;
/// A step leaves each direction at least so much of its length, and is no less than this share of itself.
const LEAST_LENGTH: f64 = 0.1;
const LEAST_STEP: f64 = 1e-3;

/// Factors (samples × K) with mean square 1 a column, by what their `loadings` (features × K) say: those of $ZA^{-1}$, of which the
/// loadings are $WA^\top$, so that the data are what they were, with the $A$ at a local maximum of
///
/// $$\sum\_{dk}\ln\bigl((1-\pi\_k)\mathcal N(w'\_{dk};0,\epsilon\_d^2)+\pi\_k\mathcal N(w'\_{dk};0,s\_k^2+\epsilon\_d^2)\bigr)-\tfrac12\lVert Z'\rVert^2+(D-N)\ln|\det A|,$$
///
/// what the model has of it for factors of the prior $\mathcal N(0,1)$ and weights that are zero or not, with the error $\epsilon\_d$ of a
/// loading by the squares that are `left` of each feature; entropies of both are in the determinant. It begins at the
/// rotation of varimax with a wide spike, which narrows. Where loadings do not clearly say that they are sparse the factors stay as varimax has
/// them.
///
/// # Errors
/// [`LinalgError`] when loadings are not finite.
pub(super) fn unmixed(
    factors: MatRef<'_, f64>,
    loadings: MatRef<'_, f64>,
    left: &[f64],
) -> Result<Mat<f64>, LinalgError> {
    let (rows, k) = factors.shape();
    let rotation = by_varimax(factors, loadings)?;
    let turned = times_small(factors, rotation.as_ref());
    let weights = times_small(loadings, rotation.as_ref());
    let squares = |d: usize| weights.row(d).iter().map(|w| w * w).sum::<f64>();
    let size = (0..weights.nrows()).map(squares).sum::<f64>() / (weights.nrows() * k) as f64;
    if size <= 0.0 || !size.is_finite() {
        return Ok(turned);
    }
    let n = rows as f64;
    let freedom = n * rows.saturating_sub(k).max(1) as f64;
    let noise = |d: usize| (left[d].max(0.0) / freedom).max(LEAST_NOISE * size);
    let stands_out = |d: usize| squares(d) / noise(d);
    let mut features: Vec<usize> = (0..weights.nrows()).collect();
    if features.len() > FEATURES {
        features.sort_by(|a, b| stands_out(*b).total_cmp(&stands_out(*a)).then(a.cmp(b)));
        features.truncate(FEATURES);
        features.sort_unstable();
    }
    let of = |d: usize, j: usize| weights[(features[d], j)];
    let mut search = Search {
        at: Point::new(Mat::from_fn(features.len(), k, of)),
        kinds: vec![
            Kind {
                share: 0.5,
                slab: size
            };
            k
        ],
        spike: Vec::new(),
        samples: n * features.len() as f64 / weights.nrows() as f64,
    };
    let noise: Vec<f64> = features.iter().map(|d| noise(*d)).collect();
    search.spike.clone_from(&noise);
    let turned_alone = search.settled();
    let mean = noise.iter().sum::<f64>() / noise.len() as f64;
    let mut width = (WIDEST * size / mean).max(1.0);
    loop {
        search.spike = noise.iter().map(|x| x * width).collect();
        search.climb()?;
        if width <= 1.0 {
            break;
        }
        width = (width / NARROWER).max(1.0);
    }
    let pairs = (k * (k - 1)) as f64;
    if search.settled() - turned_alone < CLEAR * 0.5 * pairs * (features.len() as f64).ln() {
        return Ok(turned);
    }
    let back = inverse(search.at.moved.as_ref())?;
    let mut out = times_small(turned.as_ref(), back.as_ref());
    for j in 0..k {
        let own = out.col_as_slice_mut(j);
        let size = (own.iter().map(|x| x * x).sum::<f64>() / n).sqrt();
        for x in own {
            *x /= size;
        }
    }
    Ok(out)
}

/// Weights of one factor: how many are not zero, and their variance.
#[derive(Clone, Copy)]
struct Kind {
    share: f64,
    slab: f64,
}

impl Kind {
    /// Log densities of a loading that is zero and of one that is not, with their probabilities.
    fn logs(self, w: f64, spike: f64) -> [f64; 2] {
        let of = |share: f64, v: f64| share.ln() - 0.5 * (v.ln() + w * w / v);
        [
            of(1.0 - self.share, spike),
            of(self.share, self.slab + spike),
        ]
    }
    /// Probability that it is not zero.
    fn inclusion(self, w: f64, spike: f64) -> f64 {
        let [zero, not] = self.logs(w, spike);
        1.0 / (1.0 + (zero - not).exp())
    }
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
    fn new(weights: Mat<f64>) -> Self {
        let one: Mat<f64> = Mat::identity(weights.ncols(), weights.ncols());
        Self {
            weights,
            moved: one.clone(),
            moments: one,
            log_det: 0.0,
        }
    }
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

fn inverse(a: MatRef<'_, f64>) -> Result<Mat<f64>, LinalgError> {
    let svd = thin_svd(a)?;
    let k = a.nrows();
    let v = Mat::from_fn(k, k, |i, j| svd.v[(i, j)] / svd.singular_values[j]);
    Ok(times_small(v.as_ref(), svd.u.transpose()))
}

struct Search {
    at: Point,
    kinds: Vec<Kind>,
    /// Variance of the spike of each feature.
    spike: Vec<f64>,
    /// Number of samples, by as much less as features are looked at.
    samples: f64,
}

impl Search {
    /// Steps uphill until they gain next to nothing.
    fn climb(&mut self) -> Result<(), LinalgError> {
        let enough = LEAST_GAIN * (self.at.weights.nrows() * self.at.weights.ncols()) as f64;
        for _ in 0..STEPS {
            self.learn();
            let before = self.value(&self.at);
            let step = self.step();
            let (mut length, mut gain) = (1.0, 0.0);
            while length > LEAST_STEP {
                if let Some(next) = self.at.after(&step, length)? {
                    let own = self.value(&next) - before;
                    if own > 0.0 {
                        (gain, self.at) = (own, next);
                        break;
                    }
                }
                length *= 0.5;
            }
            if gain < enough {
                break;
            }
        }
        Ok(())
    }
    /// The value where it is, with the shares and slabs that belong there.
    fn settled(&mut self) -> f64 {
        for _ in 0..STEPS {
            self.learn();
        }
        self.value(&self.at)
    }
    /// Shares and slabs of each factor by expectation and maximisation, with one loading of each kind seen beforehand.
    fn learn(&mut self) {
        for (kind, own) in self.kinds.iter_mut().zip(self.at.weights.col_iter()) {
            for _ in 0..ROUNDS {
                let (mut count, mut squares) = (1.0, 0.0);
                for (w, spike) in own.iter().zip(&self.spike) {
                    let p = kind.inclusion(*w, *spike);
                    count += p;
                    squares += p * (w * w - spike).max(0.0);
                }
                kind.share = count / (self.spike.len() as f64 + 2.0);
                kind.slab = (squares / count).max(f64::MIN_POSITIVE);
            }
        }
    }
    /// What is to be maximised.
    fn value(&self, at: &Point) -> f64 {
        let mut sum = (at.weights.nrows() as f64 - self.samples) * at.log_det;
        for (j, kind) in self.kinds.iter().enumerate() {
            sum -= 0.5 * self.samples * at.moments[(j, j)];
            let own = at.weights.col_as_slice(j).iter().zip(&self.spike);
            let density = |(w, spike): (&f64, &f64)| {
                let [a, b] = kind.logs(*w, *spike);
                a.max(b) + (-(a - b).abs()).exp().ln_1p()
            };
            sum += own.map(density).sum::<f64>();
        }
        sum
    }
    /// Slopes of the value along the entries of E, and how it is bent along each that is not on the diagonal, with mixtures at their
    /// tangents; both K × K.
    fn slopes(&self) -> (Mat<f64>, Mat<f64>) {
        let w = &self.at.weights;
        let (features, k) = w.shape();
        let (n, all) = (self.samples, features as f64);
        let precision = Mat::from_fn(features, k, |d, j| {
            let (kind, spike) = (self.kinds[j], self.spike[d]);
            let p = kind.inclusion(w[(d, j)], spike);
            (1.0 - p) / spike + p / (kind.slab + spike)
        });
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
    fn step(&self) -> Mat<f64> {
        let (slopes, bent) = self.slopes();
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
    use polyview_linalg::{thin_qr, thin_svd};

    use super::super::seeded as normal;
    use super::*;

    fn correlation(a: &[f64], b: &[f64]) -> f64 {
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        (dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()).abs()
    }

    /// Least correlation of a true factor with one that was found.
    fn worst(truth: &Mat<f64>, found: &Mat<f64>) -> f64 {
        let best = |j: usize| {
            let own = truth.col_as_slice(j);
            let of = |i: usize| correlation(own, found.col_as_slice(i));
            (0..found.ncols()).map(of).fold(0.0, f64::max)
        };
        (0..truth.ncols()).map(best).fold(1.0, f64::min)
    }

    /// Factors of sparse loadings that are correlated in the sample, given as principal components: with little noise they are found as they are, where
    /// varimax, which leaves them uncorrelated, mixes them; more features than are looked at make no difference.
    #[test]
    fn factors_of_sparse_loadings_are_found_oblique() {
        let (n, k, sd) = (100, 4, 0.01);
        for (seed, d) in [(1, 60), (2, 60), (3, 5000)] {
            let (z, w, e) = (
                normal(n, k, seed),
                normal(d, k, seed + 50),
                normal(n, d, seed + 90),
            );
            let on = normal(d, k, seed + 70);
            let w = Mat::from_fn(d, k, |d, j| if on[(d, j)] > 0.5 { w[(d, j)] } else { 0.0 });
            let x = &z * w.transpose() + e * sd;
            let svd = thin_svd(x.as_ref()).expect("a decomposition");
            let root = (n as f64).sqrt();
            let start = Mat::from_fn(n, k, |n, j| root * svd.u[(n, j)]);
            let loadings = Mat::from_fn(d, k, |d, j| svd.v[(d, j)] * svd.singular_values[j] / root);
            let left = vec![n as f64 * sd * sd; d];
            let found = unmixed(start.as_ref(), loadings.as_ref(), &left).expect("factors");
            let turned = by_varimax(start.as_ref(), loadings.as_ref()).expect("a rotation");
            let turned = times_small(start.as_ref(), turned.as_ref());
            let (own, varimax) = (worst(&z, &found), worst(&z, &turned));
            assert!(
                own > 0.9995 && varimax < 0.998,
                "seed {seed}: {own} {varimax}"
            );
            for j in 0..k {
                let square = found.col(j).iter().map(|x| x * x).sum::<f64>() / n as f64;
                assert!((square - 1.0).abs() < 1e-12);
            }
        }
    }

    /// What is climbed is what its slope says: steps along each entry of E by finite differences.
    #[test]
    fn slopes_are_those_of_the_value() {
        let (d, k) = (40, 3);
        let mut search = Search {
            at: Point::new(normal(d, k, 5)),
            kinds: vec![
                Kind {
                    share: 0.3,
                    slab: 0.8
                };
                k
            ],
            spike: (0..d).map(|d| 0.02 + 0.01 * (d % 3) as f64).collect(),
            samples: 25.0,
        };
        // away from the identity
        let (q, _) = thin_qr(normal(k, k, 6).as_ref()).expect("a basis");
        search.at = (search.at.after(&q, 0.2))
            .expect("numbers")
            .expect("a step");
        search.kinds[1] = Kind {
            share: 0.6,
            slab: 0.4,
        };
        let step = 1e-6;
        for i in 0..k {
            for j in 0..k {
                let along = |by: f64| {
                    let e = Mat::from_fn(k, k, |a, b| if (a, b) == (i, j) { by } else { 0.0 });
                    let at = search.at.after(&e, 1.0).expect("numbers").expect("a step");
                    search.value(&at)
                };
                let by_differences = (along(step) - along(-step)) / (2.0 * step);
                let slope = search.slopes().0[(i, j)];
                let near = (by_differences - slope).abs() < 1e-5 * (1.0 + slope.abs());
                assert!(near, "{i} {j}: {by_differences} {slope}");
            }
        }
        let before = search.value(&search.at);
        search.climb().expect("numbers");
        assert!(search.value(&search.at) > before);
    }

    #[test]
    fn what_has_no_loadings_is_left_as_it_is() {
        let z = normal(10, 2, 1);
        let none = unmixed(z.as_ref(), Mat::zeros(5, 2).as_ref(), &[1.0; 5]).expect("factors");
        assert!(none.col_iter().all(|c| c.iter().all(|x| x.is_finite())));
        // no noise at all
        let (w, left) = (normal(5, 2, 2), [0.0; 5]);
        let out = unmixed(z.as_ref(), w.as_ref(), &left).expect("factors");
        assert!(out.col_iter().all(|c| c.iter().all(|x| x.is_finite())));
    }
}
