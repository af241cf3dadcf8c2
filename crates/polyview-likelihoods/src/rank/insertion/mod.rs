//! New samples among the training values (spec/maxmargin-rank 6).
//!
//! A new value meets every anchor $q$ of its feature whose value differs:
//! $u = \epsilon + \sigma a\_i^\top(z\_* - z\_q)$ with $\sigma = 1$ below the
//! anchor and −1 above, weighted by the samples that it stands for and by the
//! terms a pair of different values had in training. Training factors stay at
//! their posterior, of whose covariances the mean is used: it only enters
//! $\kappa$, and any $\kappa$ gives a bound.

mod grid;

use std::ops::Range;
use std::sync::Arc;

use polyview_core::{
    Block, Context, DataError, Domain, Equations, Identified, Law, Link, NormalEquations,
    NumericError, Objective, Predictor, Rounds, RowMoments, State, StateReader, Stateful, Terms,
    View, ViewShape, ViewTerm,
};
use polyview_linalg::{Accum, Mat, PackedRows, cross, packed_dot, times, weighted_gram_into};
use polyview_random::StreamKey;
use rayon::prelude::*;

use super::anchors::Anchors;
use super::map::{self, RankLaw, Training};
use super::moments::doubled;
use grid::Grids;

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
    /// Samples whose factors rest.
    settled: Vec<bool>,
    grids: Option<Arc<Grids>>,
    sums: Option<Sums>,
}

/// What the anchors say at the present precisions.
#[derive(Clone, Debug)]
struct Sums {
    /// $\sum\_q\kappa\_q$, features × samples.
    omega: Mat<f64>,
    /// $\sum\_q\kappa\_q\langle u\_q\rangle^2/\langle u\_q^2\rangle$, likewise.
    slack: Mat<f64>,
    /// Right-hand sides, K × samples.
    rhs: Mat<f64>,
    /// What does not depend on the new factors, one a sample.
    constant: Vec<f64>,
}

/// The part of some features.
struct Part {
    omega: Mat<f64>,
    slack: Mat<f64>,
    rhs: Mat<f64>,
    constant: Vec<f64>,
}

/// New factors, those of one sample side by side.
struct Newcomers {
    /// Which samples.
    samples: Vec<u32>,
    /// Means, K × samples.
    means: Mat<f64>,
    /// Second moments.
    second: PackedRows,
}

impl Newcomers {
    fn new(factors: &RowMoments, rows: &[u32]) -> Self {
        let part = factors.subset(rows);
        Self {
            samples: rows.to_vec(),
            means: part.mean().transpose().to_owned(),
            second: part.second_moment_rows(0..rows.len()),
        }
    }
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
            settled: Vec::new(),
            grids: None,
            sums: None,
        })
    }
    /// The part of some features for some samples.
    fn part(
        &self,
        features: &Range<usize>,
        new: &Newcomers,
        weights: &RowMoments,
        grids: &Grids,
    ) -> Part {
        let (k, count) = (weights.k(), new.samples.len());
        let moments = weights.second_moment_rows(features.clone());
        let twice = doubled(moments.clone());
        // features × samples
        let bases = cross(twice.as_mat(), new.second.as_mat());
        let a = Mat::from_fn(k, features.len(), |j, f| {
            weights.mean()[(features.start + f, j)]
        });
        let etas = cross(a.as_ref(), new.means.as_ref());
        let mut out = Part {
            omega: Mat::zeros(features.len(), count),
            slack: Mat::zeros(features.len(), count),
            rhs: Mat::zeros(k, count),
            constant: vec![0.0; count],
        };
        let (with, epsilon) = ((&*self.anchors, &*self.training), self.epsilon);
        for (f, i) in features.clone().enumerate() {
            let law = (i, epsilon, self.weight);
            let made = match grids.kept(i) {
                Some(_) => None,
                None => grid::one(with, law, weights, moments.row(f)),
            };
            let Some(grid) = grids.kept(i).or(made.as_ref()) else {
                continue;
            };
            let places = &self.places[i * self.samples..][..self.samples];
            let mut kappas = cross(grid.pull.as_ref(), new.means.as_ref());
            for (n, &sample) in new.samples.iter().enumerate() {
                let column = kappas.col_as_slice_mut(n);
                let Some((below, above)) = places[sample as usize] else {
                    column.fill(0.0);
                    continue;
                };
                let (below, above) = (below as usize, above as usize);
                let own = (etas[(f, n)], bases[(f, n)]);
                let sides = [
                    grid.meet((0, 0, below), epsilon, own, column),
                    grid.meet((1, above, grid.len()), epsilon, own, column),
                ];
                column[below..above].fill(0.0);
                out.omega[(f, n)] = sides[0].omega + sides[1].omega;
                out.slack[(f, n)] = sides[0].slack + sides[1].slack;
                out.constant[n] += sides[0].constant + sides[1].constant;
                let push = sides[0].push + sides[1].push;
                for (x, a) in out
                    .rhs
                    .col_as_slice_mut(n)
                    .iter_mut()
                    .zip(a.col_as_slice(f))
                {
                    *x -= push * a;
                }
            }
            let rhs = out.rhs.as_mut();
            times(grid.pull.as_ref(), kappas.as_ref(), rhs, Accum::Add);
        }
        out
    }
    fn update(&mut self, p: &Predictor<'_>) {
        let (k, features) = (p.weights.k(), self.anchors.features());
        let grids = match self.grids.take() {
            Some(g) if g.is_of(p.weights) => g,
            _ => Arc::new(Grids::new(
                (&self.anchors, &self.training),
                (self.epsilon, self.weight),
                p.weights,
            )),
        };
        let known = self.sums.take();
        let all = known.is_none();
        let mut sums = known.unwrap_or_else(|| Sums {
            omega: Mat::zeros(features, self.samples),
            slack: Mat::zeros(features, self.samples),
            rhs: Mat::zeros(k, self.samples),
            constant: vec![0.0; self.samples],
        });
        let moving: Vec<u32> = (0..self.samples as u32)
            .filter(|&n| all || !self.settled.get(n as usize).copied().unwrap_or(false))
            .collect();
        for block in moving.chunks(SAMPLES) {
            let new = Newcomers::new(p.factors, block);
            let this = &*self;
            let parts: Vec<Part> = (0..features.div_ceil(FEATURES))
                .into_par_iter()
                .map(|c| {
                    let range = c * FEATURES..((c + 1) * FEATURES).min(features);
                    this.part(&range, &new, p.weights, &grids)
                })
                .collect();
            for (n, &sample) in block.iter().enumerate() {
                let sample = sample as usize;
                let rhs = sums.rhs.col_as_slice_mut(sample);
                rhs.fill(0.0);
                sums.constant[sample] = 0.0;
                for (c, part) in parts.iter().enumerate() {
                    sums.constant[sample] += part.constant[n];
                    for (x, y) in rhs.iter_mut().zip(part.rhs.col_as_slice(n)) {
                        *x += y;
                    }
                    let at = c * FEATURES..c * FEATURES + part.omega.nrows();
                    sums.omega.col_as_slice_mut(sample)[at.clone()]
                        .copy_from_slice(part.omega.col_as_slice(n));
                    sums.slack.col_as_slice_mut(sample)[at]
                        .copy_from_slice(part.slack.col_as_slice(n));
                }
            }
        }
        self.grids = Some(grids);
        self.sums = Some(sums);
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
        ViewShape::plain(self.samples, self.anchors.features())
    }
    fn objective(&self) -> Objective {
        Objective::PseudoLikelihood
    }
    fn by_cells(&self) -> bool {
        true
    }
    fn identified(&self, _column: usize) -> Identified {
        Identified::BetweenSamples
    }
    fn link(&self, _group: Option<usize>, column: usize, _level: f64) -> Link {
        Training::link_of(Some(&self.training), column)
    }
    fn domain(&self) -> Domain {
        Domain::Order
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
    fn equations(&mut self) -> &mut dyn Equations {
        self
    }
    fn bound(&mut self, p: &Predictor<'_>) -> Terms {
        if self.sums.is_none() {
            self.update(p);
        }
        let Some(sums) = &self.sums else {
            return Terms::default();
        };
        let k = p.factors.k();
        let moments = p.factors.second_moment_rows(0..self.samples);
        let weights = p.weights.second_moment_rows(0..self.anchors.features());
        let mut value: f64 = sums.constant.iter().sum();
        let mut precision = PackedRows::zeros(self.samples, k);
        weighted_gram_into(&mut precision, sums.omega.as_ref(), &weights, Accum::Add);
        for n in 0..self.samples {
            value -= 0.5 * packed_dot(precision.row(n), moments.row(n), k);
            value += (0..k)
                .map(|j| sums.rhs[(j, n)] * p.factors.mean()[(n, j)])
                .sum::<f64>();
        }
        Terms::of_samples("likelihood", value)
    }
    fn law(&self, p: &Predictor<'_>, block: &Block<'_>) -> Box<dyn Law + '_> {
        Box::new(RankLaw::new(&self.anchors, Some(&self.training), p, block))
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
    fn as_rounds(&mut self) -> Option<&mut dyn Rounds> {
        Some(self)
    }
}

impl Rounds for Inserted {
    fn refresh_locals(
        &mut self,
        p: &Predictor<'_>,
        cx: &mut Context<'_>,
    ) -> Result<(), NumericError> {
        self.refresh(p, cx)
    }
    fn rest(&mut self, resting: &[bool]) {
        self.settled = resting.to_vec();
    }
    /// $\sum\_i a\_ia\_i^\top\sum\_q\kappa\_q\langle u\_q\rangle^2/\langle u\_q^2\rangle$, of the
    /// means of the weights: $\sqrt{\langle u^2\rangle}$ has the curvature
    /// $\kappa[\langle aa^\top\rangle - gg^\top/\langle u^2\rangle]$, where $g$ is
    /// $\sigma\langle u\rangle a$ but for the weights' covariance.
    fn slack(&mut self, p: &Predictor<'_>, slack: &mut PackedRows) {
        let Some(sums) = &self.sums else { return };
        let known = RowMoments::point(p.weights.mean().to_owned());
        for start in (0..self.anchors.features()).step_by(SAMPLES) {
            let range = start..(start + SAMPLES).min(self.anchors.features());
            let of = sums.slack.as_ref().subrows(start, range.len());
            let outer = known.second_moment_rows(range);
            weighted_gram_into(slack, of, &outer, Accum::Add);
        }
    }
}

impl Equations for Inserted {
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
                .submatrix(start, rows.start, range.len(), rows.len());
            let moments = p.weights.second_moment_rows(range);
            weighted_gram_into(eq.packed_mut(), omega, &moments, Accum::Add);
        }
        let mut to = eq.rhs.as_mut();
        to += sums
            .rhs
            .as_ref()
            .subcols(rows.start, rows.len())
            .transpose();
        Ok(())
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
