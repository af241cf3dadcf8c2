//! What features that a sample lacks may be, as its factors have it by those that it has.

use polyview_core::{Ask, Block, Domain, Journal, Predictor, RowMoments, View, ViewTerm};
use polyview_linalg::{Mat, SpdFactor, thin_qr};
use polyview_random::{StreamKey, standard_normal};
use rayon::prelude::*;

use super::latent;
use super::laws::blocks;
use super::project::WeightUncertainty;
use crate::error::{Error, Result};
use crate::fit::{Component, Fit};

/// Least number of pairs of points that stand for the factors of a sample.
const PAIRS: usize = 8;
/// Streams of the directions of the points, and of how far cells are off their means at each.
const TURNED: u32 = 0x686f_6c71;
const OFF: u32 = 0x686f_6c65;

/// The samples that lack some features of some views, each with points that stand for its factors given all that it has.
///
/// A sample's factors are $\mathcal N(m, LL^\top)$ by the joint fit; the points are $m \pm \sqrt K\,Lq$ for the columns $q$ of
/// random rotations, the same for all samples: mean and covariance of whatever is linear in the factors are exact, and no point
/// is further off than factors usually are. Given a point the cells that are missing are independent, each with a mean and a
/// variance by the law of its view.
pub(super) struct Holes<'a> {
    fit: &'a Fit,
    /// The samples, by their places.
    pub(super) rows: Vec<usize>,
    of_view: Vec<Own>,
    component: Component,
    means: Mat<f64>,
    /// $L$ of each sample.
    roots: Vec<Mat<f64>>,
    /// $\sqrt K q$, K × pairs.
    directions: Mat<f64>,
}

/// A view with holes.
struct Own {
    /// Its place.
    at: usize,
    /// Its columns for a linear model, samples with holes × columns; `NaN` where they are missing.
    known: Mat<f64>,
    /// Its term where laws depend on what is known of the view itself.
    bound: Option<Box<dyn ViewTerm>>,
}

/// Columns of a view at one of the points, samples with holes × columns.
pub(super) struct Cells {
    /// `NaN` where nothing is said.
    pub(super) mean: Mat<f64>,
    /// Zero of what is known; `None` where all is.
    pub(super) variance: Option<Mat<f64>>,
}

impl Cells {
    /// So many standard deviations off the mean.
    pub(super) fn drawn(&self, off: &[f64]) -> Mat<f64> {
        let (rows, columns) = self.mean.shape();
        let Some(variance) = &self.variance else {
            return self.mean.clone();
        };
        Mat::from_fn(rows, columns, |n, d| {
            self.mean[(n, d)] + off[d] * variance[(n, d)].sqrt()
        })
    }
}

impl<'a> Holes<'a> {
    /// Those of the samples at these places, of which `views` are known; `columns` has those of all samples, where a view is to be
    /// told of. `None` of no samples.
    ///
    /// # Errors
    /// What [`Fit::project`] says; numerical errors.
    pub(super) fn new(
        fit: &'a Fit,
        columns: &[Option<&Mat<f64>>],
        views: &[Option<View>],
        rows: Vec<usize>,
    ) -> Result<Option<Self>> {
        if rows.is_empty() {
            return Ok(None);
        }
        let places: Vec<u32> = rows.iter().map(|n| *n as u32).collect();
        let mine = |view: &View| view.subset(view.name(), &places);
        let known: Vec<Option<View>> = views.iter().map(|v| v.as_ref().map(mine)).collect();
        let mut component = fit.component(0)?;
        let names: Vec<String> = rows.iter().map(|n| (n + 1).to_string()).collect();
        let how = latent::usual(WeightUncertainty::Variational);
        let found = latent::factors(
            fit,
            &component,
            &known,
            &names,
            how,
            &mut Journal::default(),
        )?;
        let root = |n: usize| {
            if found.moments.k() == 0 {
                return Ok(Mat::zeros(0, 0));
            }
            let found = SpdFactor::factor(&found.moments.row_cov(n)).map_err(Error::from)?;
            Ok(found.0.lower())
        };
        if let Some(of_components) = &found.shares {
            for view in &mut component.views {
                if let Some(own) = view.term.as_by_component() {
                    own.take_shares(of_components);
                }
            }
        }
        let mut of_view = Vec::new();
        for (at, columns) in columns.iter().enumerate() {
            if let Some(columns) = columns {
                let term = &component.views[at].term;
                let own = known[at].as_ref().filter(|_| term.laws_need_data());
                let bound = own.map(|own| term.rebind(own));
                of_view.push(Own {
                    at,
                    known: rows_of(columns, &rows),
                    bound: bound.transpose()?,
                });
            }
        }
        let key = StreamKey::new(fit.run_options().seed).block(TURNED);
        Ok(Some(Self {
            fit,
            of_view,
            component,
            roots: (0..rows.len()).map(root).collect::<Result<_>>()?,
            directions: rotations(found.moments.k(), key)?,
            means: found.moments.mean().to_owned(),
            rows,
        }))
    }
    /// How many points stand for the factors of a sample, each as likely as the others.
    pub(super) fn points(&self) -> usize {
        2 * self.directions.ncols()
    }
    /// The cells at one of the points, and the views that they are of.
    pub(super) fn at(&self, point: usize) -> Vec<(usize, Cells)> {
        let (pair, sign) = (point / 2, sign(point));
        let z = Mat::from_fn(self.rows.len(), self.directions.nrows(), |n, i| {
            let off = (0..=i).map(|j| self.roots[n][(i, j)] * self.directions[(j, pair)]);
            self.means[(n, i)] + sign * off.sum::<f64>()
        });
        let z = RowMoments::point(z);
        let seen = self.component.seen(&z);
        (self.of_view.iter())
            .map(|own| (own.at, self.cells(own, &seen)))
            .collect()
    }
    /// The columns of each view at a point, each cell as far off its mean as a draw of its column says, the same for all samples,
    /// and as its reflection at the other point of the pair.
    pub(super) fn drawn(&self, point: usize, at: &[Option<Cells>]) -> Vec<Option<Mat<f64>>> {
        let key = StreamKey::new(self.fit.run_options().seed).block(OFF);
        let drawn = |(v, cells): (usize, &Option<Cells>)| {
            let cells = cells.as_ref()?;
            let mut rng = key.chunk((point / 2 * at.len() + v) as u32).rng();
            let columns = 0..cells.mean.ncols();
            let off: Vec<f64> = columns
                .map(|_| sign(point) * standard_normal(&mut rng))
                .collect();
            Some(cells.drawn(&off))
        };
        at.iter().enumerate().map(drawn).collect()
    }
    /// The samples with holes among all.
    pub(super) fn mine(&self, all: &Mat<f64>) -> Mat<f64> {
        rows_of(all, &self.rows)
    }
    fn cells(&self, own: &Own, seen: &RowMoments) -> Cells {
        let view = &self.component.views[own.at];
        let term = own.bound.as_ref().unwrap_or(&view.term).as_ref();
        let p = Predictor {
            factors: seen,
            weights: view.seen(),
            bias: &view.bias,
        };
        let (samples, domain) = (self.rows.len(), self.fit.domain(own.at));
        let columns = term.shape().observed_columns;
        let classes = self.fit.views()[own.at].levels.len();
        let blocks: Vec<_> = blocks(samples, columns).collect();
        let told = blocks.into_par_iter().flat_map_iter(|(rows, columns)| {
            let law = term.law(&p, &Block::new(rows.clone(), columns.clone()));
            let mut out = Vec::new();
            if domain.has_classes() {
                for class in 0..classes {
                    let mut p = vec![0.0; rows.len()];
                    law.fill(Ask::Level(class), 0, &[], &mut p);
                    let variance = p.iter().map(|p| (p * (1.0 - p)).max(0.0)).collect();
                    out.push((rows.clone(), class, p, variance));
                }
            } else {
                for (j, d) in columns.enumerate() {
                    let [mut mean, mut spread] = [(); 2].map(|()| vec![0.0; rows.len()]);
                    law.moments(j, &mut mean, &mut spread);
                    for (mean, spread) in mean.iter_mut().zip(&mut spread) {
                        (*mean, *spread) = as_column(domain, *mean, *spread * *spread);
                    }
                    out.push((rows.clone(), d, mean, spread));
                }
            }
            out
        });
        let told: Vec<_> = told.collect();
        let width = if domain.has_classes() {
            classes
        } else {
            columns
        };
        let [mut mean, mut variance] = [(); 2].map(|()| Mat::zeros(samples, width));
        for (rows, d, m, v) in told {
            mean.col_as_slice_mut(d)[rows.clone()].copy_from_slice(&m);
            variance.col_as_slice_mut(d)[rows].copy_from_slice(&v);
        }
        for d in 0..width {
            let cells = (mean.col_as_slice_mut(d).iter_mut()).zip(variance.col_as_slice_mut(d));
            for ((mean, variance), known) in cells.zip(own.known.col_as_slice(d)) {
                if !known.is_nan() {
                    (*mean, *variance) = (*known, 0.0);
                } else if !(mean.is_finite() && variance.is_finite()) {
                    // a law without moments says nothing
                    (*mean, *variance) = (f64::NAN, 0.0);
                }
            }
        }
        Cells {
            mean,
            variance: Some(variance),
        }
    }
}

/// Whether the law of data of this kind says what a column of a linear model may be.
pub(super) fn is_told(domain: Domain) -> bool {
    !domain.is_ranked() && !domain.is_similarity()
}

fn rows_of(all: &Mat<f64>, rows: &[usize]) -> Mat<f64> {
    Mat::from_fn(rows.len(), all.ncols(), |i, d| all[(rows[i], d)])
}

fn sign(point: usize) -> f64 {
    if point.is_multiple_of(2) { 1.0 } else { -1.0 }
}

/// Mean and variance of the column of a linear model that a datum with these stands for ([`super::cross_validate::columns`]).
/// Of a logarithm as if the datum (one more than a count) were log-normal: $s^2=\ln(1+v/m^2)$, $\ln m - s^2/2$.
fn as_column(domain: Domain, mean: f64, variance: f64) -> (f64, f64) {
    let more = if domain.is_positive() {
        0.0
    } else if domain.is_count() && !domain.has_trials() {
        1.0
    } else {
        return (mean, variance);
    };
    let spread = (variance / (more + mean).powi(2)).ln_1p();
    ((more + mean).ln() - 0.5 * spread, spread)
}

/// $\sqrt K$ times the columns of random rotations of K dimensions, as many as make [`PAIRS`] columns or more.
/// Without factors the one point is where it is.
fn rotations(k: usize, key: StreamKey) -> Result<Mat<f64>> {
    if k == 0 {
        return Ok(Mat::zeros(0, 1));
    }
    let count = PAIRS.div_ceil(k);
    let mut out = Mat::zeros(k, count * k);
    for i in 0..count {
        let mut rng = key.chunk(i as u32).rng();
        let drawn = Mat::from_fn(k, k, |_, _| standard_normal(&mut rng));
        let (q, _) = thin_qr(drawn.as_ref()).map_err(Error::from)?;
        for j in 0..k {
            for (to, from) in (out.col_as_slice_mut(i * k + j).iter_mut()).zip(q.col_as_slice(j)) {
                *to = from * (k as f64).sqrt();
            }
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_have_the_covariance_of_factors() {
        for k in [1, 2, 3, 8, 13] {
            let q = rotations(k, StreamKey::new(5)).unwrap();
            assert!(q.ncols() >= PAIRS && q.ncols() < PAIRS + k, "{k}");
            for i in 0..k {
                for j in 0..k {
                    let products = (0..q.ncols()).map(|c| q[(i, c)] * q[(j, c)]);
                    let mean = products.sum::<f64>() / q.ncols() as f64;
                    let want = f64::from(u8::from(i == j));
                    assert!((mean - want).abs() < 1e-12, "{k}: {i} {j} {mean}");
                }
            }
        }
        assert_eq!(rotations(0, StreamKey::new(5)).unwrap().ncols(), 1);
    }

    /// exp of a normal number with these moments has the mean and the variance that they were found from.
    #[test]
    fn logarithms_have_the_moments_of_a_log_normal_datum() {
        for (domain, more) in [(Domain::Positive, 0.0), (Domain::COUNTS, 1.0)] {
            let (mean, variance) = (3.0, 5.0);
            let (m, s) = as_column(domain, mean, variance);
            let back = (m + 0.5 * s).exp();
            assert!((back - more - mean).abs() < 1e-12, "{back}");
            assert!((back * back * s.exp_m1() - variance).abs() < 1e-10);
        }
        assert_eq!(as_column(Domain::Reals, -3.0, 5.0), (-3.0, 5.0));
        assert_eq!(as_column(Domain::SUCCESSES, 0.3, 0.21), (0.3, 0.21));
    }
}
