//! New samples among the training values (spec/maxmargin-rank 6).
//!
//! A new value meets every anchor $q$ of its feature whose value differs:
//! $u = \epsilon + \sigma a\_i^\top(z\_* - z\_q)$ with $\sigma = 1$ below the
//! anchor and −1 above, weighted by the samples that it stands for and by the
//! terms a pair of different values had in training. Training factors stay at
//! their posterior, of whose covariances the mean is used: it only enters
//! $\kappa$, and any $\kappa$ gives a bound.

use std::ops::Range;
use std::sync::Arc;

use polyview_core::{
    Context, DataError, NormalEquations, NumericError, Objective, OrderStatistics, PredictedBlock,
    PredictedKind, Predictor, State, StateReader, Stateful, Terms, View, ViewShape, ViewTerm,
};
use polyview_linalg::{Accum, Mat, PackedRows, packed_dot, times_small, weighted_gram_into};
use polyview_random::StreamKey;
use rayon::prelude::*;

use super::LEAST_SQUARE;
use super::anchors::Anchors;
use super::map::{self, Training};
use super::moments::Spread;

/// Features that are summed together, and samples that are. Fixed, so that
/// the order of sums is.
const FEATURES: usize = 64;
const SAMPLES: usize = 512;

/// Anchors below and not above a value; `None` where it is missing.
type Place = Option<(u32, u32)>;

/// The data term of new samples.
#[derive(Clone, Debug)]
pub(super) struct Inserted {
    pub(super) name: String,
    pub(super) epsilon: f64,
    /// Weight of a pair.
    pub(super) weight: f64,
    pub(super) anchors: Arc<Anchors>,
    pub(super) training: Arc<Training>,
    samples: usize,
    /// Feature after feature.
    places: Vec<Place>,
    sums: Option<Sums>,
}

/// What the anchors say at the present precisions.
#[derive(Clone, Debug)]
struct Sums {
    /// $\sum\_q\kappa\_q$, samples × features.
    omega: Mat<f64>,
    /// Right-hand sides, samples × K.
    rhs: Mat<f64>,
    /// What does not depend on the new factors.
    constant: f64,
}

/// The part of some features.
struct Part {
    omega: Mat<f64>,
    rhs: Mat<f64>,
    constant: f64,
}

/// What anchors do not change from sample to sample.
struct Grid {
    /// Weights and mean factors, those of one anchor side by side.
    weight: Vec<f64>,
    means: Mat<f64>,
    /// $a^\top m\_q$ and $m\_q^\top S\_i m\_q$.
    eta: Vec<f64>,
    quad: Vec<f64>,
    /// $S\_i m\_q$, K × anchors.
    turned: Option<Mat<f64>>,
}

impl Inserted {
    pub(super) fn new(
        view: &View,
        (name, epsilon, weight): (&str, f64, f64),
        anchors: &Arc<Anchors>,
        training: &Arc<Training>,
    ) -> Result<Self, DataError> {
        crate::cells::check_features(view, anchors.features())?;
        let samples = view.n_samples();
        let mut places = Vec::with_capacity(samples * anchors.features());
        for i in 0..anchors.features() {
            let values = &anchors.values[anchors.of(i)];
            places.extend((0..samples).map(|n| {
                view.value(n, i).map(|x| {
                    let below = values.partition_point(|v| *v < x);
                    let above = values.partition_point(|v| *v <= x);
                    (below as u32, above as u32)
                })
            }));
        }
        Ok(Self {
            name: name.to_owned(),
            epsilon,
            weight,
            anchors: Arc::clone(anchors),
            training: Arc::clone(training),
            samples,
            places,
            sums: None,
        })
    }
    fn grid(&self, feature: usize, a: &[f64], cov: Option<&Mat<f64>>) -> Grid {
        let of = self.anchors.of(feature);
        let k = a.len();
        let rate = self.weight * self.anchors.rates[feature];
        let mut means = Mat::zeros(k, of.len());
        let mut eta = Vec::with_capacity(of.len());
        for (q, at) in of.clone().enumerate() {
            let row = self.training.row(self.anchors.samples[at]);
            means.col_as_slice_mut(q).copy_from_slice(row);
            eta.push(row.iter().zip(a).map(|(z, a)| z * a).sum());
        }
        let turned = cov.map(|s| times_small(s.as_ref(), means.as_ref()));
        let quad = (0..of.len())
            .map(|q| {
                turned.as_ref().map_or(0.0, |t| {
                    let (m, s) = (means.col_as_slice(q), t.col_as_slice(q));
                    m.iter().zip(s).map(|(x, y)| x * y).sum()
                })
            })
            .collect();
        Grid {
            weight: self.anchors.counts[of].iter().map(|c| rate * c).collect(),
            means,
            eta,
            quad,
            turned,
        }
    }
    /// The part of some features for some samples.
    fn part(
        &self,
        features: &Range<usize>,
        samples: &Range<usize>,
        (p, weights, factors): (&Predictor<'_>, &Spread<'_>, &Spread<'_>),
    ) -> Part {
        let (k, rows) = (p.weights.k(), samples.len());
        let z = p.factors.mean().subrows(samples.start, rows);
        let moments = p.weights.second_moment_rows(features.clone());
        let own = factors.traces(samples.clone(), &moments);
        let mut out = Part {
            omega: Mat::zeros(rows, features.len()),
            rhs: Mat::zeros(rows, k),
            constant: 0.0,
        };
        let (epsilon, mut full) = (self.epsilon, vec![0.0; k * k]);
        for i in features.clone() {
            let at = i - features.start;
            if self.anchors.rates[i] <= 0.0 {
                continue;
            }
            let a: Vec<f64> = (0..k).map(|j| p.weights.mean()[(i, j)]).collect();
            let cov = (!matches!(weights, Spread::None)).then(|| {
                weights.put_full(i, &mut full, k, k);
                Mat::from_fn(k, k, |r, c| full[c * k + r])
            });
            let grid = self.grid(i, &a, cov.as_ref());
            let fixed = packed_dot(self.training.spread.as_slice(), moments.row(at), k);
            // m'Sm_q and m'Sm
            let across = grid.turned.as_ref().map(|t| times_small(z, t.as_ref()));
            let places = &self.places[i * self.samples..][samples.clone()];
            let mut kappas = Mat::zeros(rows, grid.eta.len());
            let mut pull = vec![0.0; rows];
            let mut line = vec![0.0; k];
            for (n, place) in places.iter().enumerate() {
                let Some((below, above)) = *place else {
                    continue;
                };
                for (j, x) in line.iter_mut().enumerate() {
                    *x = z[(n, j)];
                }
                let eta: f64 = line.iter().zip(&a).map(|(z, a)| z * a).sum();
                let quad = cov.as_ref().map_or(0.0, |s| {
                    (0..k)
                        .map(|c| {
                            let column = s.col_as_slice(c);
                            line[c] * column.iter().zip(&line).map(|(s, z)| s * z).sum::<f64>()
                        })
                        .sum()
                });
                let base = fixed + own.as_ref().map_or(0.0, |t| t[(n, at)]);
                let (mut omega, mut h) = (0.0, 0.0);
                let mut meet = |q: usize, sign: f64| {
                    let w = grid.weight[q];
                    let u = epsilon + sign * (eta - grid.eta[q]);
                    let cross = across.as_ref().map_or(0.0, |c| c[(n, q)]);
                    let rest = (quad - 2.0 * cross + grid.quad[q]).max(0.0);
                    let size = (u * u + rest + base).max(LEAST_SQUARE).sqrt();
                    let kappa = w / size;
                    kappas[(n, q)] = kappa;
                    omega += kappa;
                    h += kappa * grid.eta[q] - sign * (w + epsilon * kappa);
                    let shift = epsilon - sign * grid.eta[q];
                    out.constant -= w * (shift + 0.5 * size)
                        + 0.5 * kappa * (shift * shift + grid.quad[q] + fixed);
                };
                (0..below as usize).for_each(|q| meet(q, -1.0));
                (above as usize..grid.eta.len()).for_each(|q| meet(q, 1.0));
                out.omega[(n, at)] = omega;
                pull[n] = h;
            }
            for j in 0..k {
                for (x, h) in out.rhs.col_as_slice_mut(j).iter_mut().zip(&pull) {
                    *x += h * a[j];
                }
            }
            if let Some(s) = &cov {
                let v = times_small(kappas.as_ref(), grid.means.transpose().to_owned().as_ref());
                out.rhs += times_small(v.as_ref(), s.as_ref());
            }
        }
        out
    }
    fn update(&mut self, p: &Predictor<'_>) {
        let (k, features) = (p.weights.k(), self.anchors.features());
        let mut omega = Mat::zeros(self.samples, features);
        let mut rhs = Mat::zeros(self.samples, k);
        let mut constant = 0.0;
        let (weights, factors) = (Spread::of(p.weights), Spread::of(p.factors));
        for start in (0..self.samples).step_by(SAMPLES) {
            let samples = start..(start + SAMPLES).min(self.samples);
            let this = &*self;
            let parts: Vec<Part> = (0..features.div_ceil(FEATURES))
                .into_par_iter()
                .map(|c| {
                    let range = c * FEATURES..((c + 1) * FEATURES).min(features);
                    this.part(&range, &samples, (p, &weights, &factors))
                })
                .collect();
            for (c, part) in parts.into_iter().enumerate() {
                constant += part.constant;
                omega
                    .as_mut()
                    .submatrix_mut(start, c * FEATURES, samples.len(), part.omega.ncols())
                    .copy_from(&part.omega);
                let mut to = rhs.as_mut().subrows_mut(start, samples.len());
                to += &part.rhs;
            }
        }
        self.sums = Some(Sums {
            omega,
            rhs,
            constant,
        });
    }
    fn not_of_training(&self) -> NumericError {
        NumericError::Mismatch {
            block: format!("likelihood/{}", self.name),
            what: "new samples are compared with training values and say nothing of weights",
        }
    }
}

impl ViewTerm for Inserted {
    fn shape(&self) -> ViewShape {
        ViewShape {
            samples: self.samples,
            observed_columns: self.anchors.features(),
            predictor_columns: self.anchors.features(),
        }
    }
    fn objective(&self) -> Objective {
        Objective::PseudoLikelihood
    }
    fn by_cells(&self) -> bool {
        true
    }
    fn has_locals(&self) -> bool {
        true
    }
    fn has_intercepts(&self) -> bool {
        false
    }
    fn predicted_kind(&self) -> PredictedKind {
        PredictedKind::Ranked
    }
    fn link_variance(&self, column: usize, _level: f64) -> f64 {
        self.training.link_variance(column)
    }
    fn refresh(&mut self, p: &Predictor<'_>, _cx: &mut Context<'_>) -> Result<(), NumericError> {
        self.update(p);
        match &self.sums {
            Some(s) if s.rhs.as_ref().is_all_finite() => Ok(()),
            _ => Err(NumericError::NotFinite {
                block: format!("likelihood/{}", self.name),
                what: "a linear predictor",
            }),
        }
    }
    fn weight_gram(
        &mut self,
        _p: &Predictor<'_>,
        _eq: &mut NormalEquations,
    ) -> Result<(), NumericError> {
        Err(self.not_of_training())
    }
    fn weight_equations(
        &mut self,
        _p: &Predictor<'_>,
        _eq: &mut NormalEquations,
    ) -> Result<(), NumericError> {
        Err(self.not_of_training())
    }
    fn factor_gram(
        &mut self,
        _view: usize,
        p: &Predictor<'_>,
        _eq: &mut NormalEquations,
    ) -> Result<(), NumericError> {
        if self.sums.is_none() {
            self.update(p);
        }
        Ok(())
    }
    fn factor_equations(
        &mut self,
        p: &Predictor<'_>,
        eq: &mut NormalEquations,
    ) -> Result<(), NumericError> {
        let Some(sums) = &self.sums else {
            return Ok(());
        };
        let rows = eq.rows();
        for start in (0..self.anchors.features()).step_by(SAMPLES) {
            let range = start..(start + SAMPLES).min(self.anchors.features());
            let omega = sums
                .omega
                .as_ref()
                .submatrix(rows.start, start, rows.len(), range.len());
            let moments = p.weights.second_moment_rows(range);
            let omega = omega.transpose().to_owned();
            weighted_gram_into(eq.packed_mut(), omega.as_ref(), &moments, Accum::Add);
        }
        let mut to = eq.rhs.as_mut();
        to += sums.rhs.as_ref().subrows(rows.start, rows.len());
        Ok(())
    }
    fn bound(&mut self, p: &Predictor<'_>) -> Terms {
        if self.sums.is_none() {
            self.update(p);
        }
        let Some(sums) = &self.sums else {
            return Terms(Vec::new());
        };
        let k = p.factors.k();
        let moments = p.factors.second_moment_rows(0..self.samples);
        let weights = p.weights.second_moment_rows(0..self.anchors.features());
        let mut value = sums.constant;
        let mut precision = PackedRows::zeros(self.samples, k);
        let omega = sums.omega.transpose().to_owned();
        weighted_gram_into(&mut precision, omega.as_ref(), &weights, Accum::Add);
        for n in 0..self.samples {
            value -= 0.5 * packed_dot(precision.row(n), moments.row(n), k);
            value += (0..k)
                .map(|j| sums.rhs[(n, j)] * p.factors.mean()[(n, j)])
                .sum::<f64>();
        }
        Terms(vec![("likelihood", value)])
    }
    fn predict(
        &self,
        p: &Predictor<'_>,
        samples: Range<usize>,
        columns: Range<usize>,
    ) -> PredictedBlock {
        map::predict(&self.anchors, Some(&self.training), p, samples, columns)
    }
    fn predicted_scores(
        &self,
        p: &Predictor<'_>,
        samples: Range<usize>,
        columns: Range<usize>,
    ) -> Option<PredictedBlock> {
        Some(map::scores(Some(&self.training), p, samples, columns))
    }
    fn order_statistics(&self, column: usize) -> Option<OrderStatistics> {
        Some(map::order_statistics(column, &self.anchors))
    }
    fn simulate(&self, p: &Predictor<'_>, _parameters: StreamKey, data: StreamKey) -> Mat<f64> {
        map::simulate(&self.anchors, Some(&self.training), p, data)
    }
    fn rebind(&self, view: &View) -> Result<Box<dyn ViewTerm>, DataError> {
        let law = (self.name.as_str(), self.epsilon, self.weight);
        Ok(Box::new(Self::new(
            view,
            law,
            &self.anchors,
            &self.training,
        )?))
    }
}

impl Stateful for Inserted {
    fn save(&self, prefix: &str, state: &mut State) {
        self.anchors.save(prefix, state);
    }
    /// What it compares with came with it.
    fn load(&mut self, _prefix: &str, _state: &StateReader<'_>) -> Result<(), NumericError> {
        self.sums = None;
        Ok(())
    }
}
