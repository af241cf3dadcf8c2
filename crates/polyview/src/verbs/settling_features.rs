//! What factors leave of the features of other views, beside these factors: columns that a
//! view is settled on.

use std::ops::AddAssign;

use polyview_core::{
    Bias, Block, Domain, NumericError, ParameterUncertainty, Predictor, RowGroups, RowMoments,
    State, StateReader, View,
};
use polyview_linalg::{Mat, MatRef, TruncatedSvdOptions, times_small, truncated_svd};
use polyview_random::{StreamKey, fill_standard_normal};

use super::kernel_turn::kernel_turn;
use crate::assemble::not_on_features;
use crate::error::{Error, Result};
use crate::fit::{Component, ComponentView, Fit};

/// Most directions of what factors leave, and most numbers that all of them together have.
const DIRECTIONS: usize = 128;
const NUMBERS: usize = 1 << 22;
/// Most cells of the views that they come from: what factors leave of them is held at once.
const CELLS: usize = 1 << 27;
/// A direction of which there is less than this share of the largest is none.
const LEAST: f64 = 1e-9;
/// Streams of the start of the decomposition.
const CHAIN: u32 = 0x6469_7265;

/// Whether what factors leave of the data of such a view is a number for each cell: the
/// deviation from its mean.
pub(crate) fn leaves_numbers(domain: Domain) -> bool {
    !(domain.has_classes()
        || domain.is_ranked()
        || domain.is_similarity()
        || domain.is_censored()
        || domain.has_trials())
}

/// Directions of what the factors leave of the features of other views (docs/maths: spec/sites 5.1).
///
/// What they leave of a cell is its deviation from the mean of its law under the factors, for all
/// but real numbers in standard deviations of that law; zero where nothing was observed.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Directions {
    /// Features × directions of each view of the fit that has any.
    of_view: Vec<Option<Mat<f64>>>,
    /// Number of directions.
    count: usize,
}

/// What factors leave of a view, N × D, at these factors, and zero where nothing was observed.
fn left_of(part: &ComponentView, view: &View, factors: &RowMoments) -> Mat<f64> {
    let (rows, columns) = (view.n_samples(), view.n_features());
    let p = Predictor {
        factors,
        weights: part.seen(),
        bias: &part.bias,
    };
    let law = part.term.law(&p, &Block::new(0..rows, 0..columns));
    let real = part.term.domain().is_real();
    let (mut mean, mut deviation) = (vec![0.0; rows], vec![1.0; rows]);
    let mut out = Mat::zeros(rows, columns);
    for d in 0..columns {
        law.moments(d, &mut mean, &mut deviation);
        let column = out.col_as_slice_mut(d);
        for n in 0..rows {
            if let Some(x) = view.value(n, d) {
                let unit = if real { 1.0 } else { deviation[n] };
                let left = (x - mean[n]) / unit;
                column[n] = if left.is_finite() { left } else { 0.0 };
            }
        }
    }
    out
}

/// What is known of a view that directions come from.
struct Source {
    at: usize,
    /// What factors leave of it, turned and scaled so that this and what factors explain of
    /// it add up to 1.
    left: Mat<f64>,
    /// Features × columns of `left`; nothing else is to be turned where it is a diagonal.
    turn: Turn,
}

enum Turn {
    Scale(Vec<f64>),
    Full(Mat<f64>),
}

impl Directions {
    /// The directions of what factors at `factors` leave of the views `others`, and the share
    /// $s\_k^2$ of these that each factor explains: with the mean square of what is left they add up
    /// to 1, each view counting alike, and in a view each feature.
    ///
    /// # Errors
    /// [`ErrorKind::Incompatible`] where no view has any, or they have too many cells; numerical errors.
    pub(super) fn learn(
        fit: &Fit,
        component: &Component,
        others: &[Option<View>],
        factors: &RowMoments,
        target: &str,
    ) -> Result<(Self, Vec<f64>)> {
        let refuse = |with: &str| not_on_features(target, with);
        let known: Vec<(usize, &View)> = (others.iter().enumerate())
            .filter_map(|(v, view)| Some((v, view.as_ref()?)))
            .collect();
        let whole = |part: &ComponentView| {
            leaves_numbers(part.term.domain()) && part.term.shape().components.is_none()
        };
        let usable = known
            .iter()
            .filter(|(v, _)| whole(&component.views[*v]))
            .map(|(_, view)| view.n_samples() * view.n_features());
        if usable.sum::<usize>() > CELLS {
            return Err(refuse(&format!("more than {CELLS} cells of other views")));
        }
        let mut explained = vec![0.0; factors.k()];
        let mut sources = Vec::new();
        let share = 1.0 / known.len().max(1) as f64;
        for (v, view) in known {
            let part = &component.views[v];
            let (own, left) = shares(part);
            let source = if !whole(part) {
                None
            } else if (fit.views()[v].kernel.as_ref()).is_some_and(|map| !map.is_random()) {
                Source::by_kernel(v, view, part, factors)?
            } else {
                Source::of_features(v, view, part, factors, &left)
            };
            let (mut source, own) = match source {
                Some((source, Some(own))) => (Some(source), own),
                Some((source, None)) => (Some(source), own),
                None => (None, own),
            };
            for (sum, own) in explained.iter_mut().zip(own) {
                *sum += share * own;
            }
            if let Some(source) = &mut source {
                source.scale(share.sqrt());
            }
            sources.extend(source);
        }
        let columns: usize = sources.iter().map(|s| s.left.ncols()).sum();
        let features: usize = sources.iter().map(Source::features).sum();
        if columns == 0 {
            return Err(refuse("other views of which factors leave no numbers"));
        }
        let rows = factors.explicit_rows();
        let mut all = Mat::zeros(rows, columns);
        let mut first = 0;
        for s in &sources {
            let width = s.left.ncols();
            all.as_mut().subcols_mut(first, width).copy_from(&s.left);
            first += width;
        }
        let most = DIRECTIONS.min((NUMBERS / features.max(1)).max(1));
        let rank = most.min(rows.saturating_sub(1)).min(columns);
        let options = TruncatedSvdOptions::new(rank);
        let mut start = Mat::zeros(columns, options.width());
        for j in 0..start.ncols() {
            let key = StreamKey::new(fit.run_options().seed).chain(CHAIN);
            fill_standard_normal(&mut key.chunk(j as u32).rng(), start.col_as_slice_mut(j));
        }
        let found = truncated_svd(&all.as_ref(), &options, start.as_ref()).map_err(|source| {
            NumericError::Linalg {
                block: "what factors leave".to_owned(),
                source,
            }
        })?;
        let largest = found.singular_values.first().copied().unwrap_or(0.0);
        let enough = |s: &&f64| **s > 0.0 && s.powi(2) >= LEAST * largest.powi(2);
        let count = found.singular_values.iter().take_while(enough).count();
        let mut of_view: Vec<Option<Mat<f64>>> = others.iter().map(|_| None).collect();
        let mut first = 0;
        for s in &sources {
            let width = s.left.ncols();
            let own = found.v.as_ref().submatrix(first, 0, width, count);
            of_view[s.at] = Some(s.turn.back(own));
            first += width;
        }
        Ok((Self { of_view, count }, explained))
    }
    /// Number of directions.
    pub(super) fn count(&self) -> usize {
        self.count
    }
    /// The columns of samples, samples × directions: zero for views that they lack.
    pub(super) fn of(
        &self,
        component: &Component,
        views: &[Option<View>],
        factors: &RowMoments,
    ) -> Mat<f64> {
        let mut out = Mat::zeros(factors.explicit_rows(), self.count);
        for ((own, view), part) in self.of_view.iter().zip(views).zip(&component.views) {
            if let (Some(own), Some(view)) = (own, view) {
                let left = left_of(part, view, factors);
                out.as_mut()
                    .add_assign(&times_small(left.as_ref(), own.as_ref()));
            }
        }
        out
    }
}

/// The share of each factor in the variance of the predictors of a view, noise and link counted, mean over
/// its features, and what all factors leave of each column.
fn shares(part: &ComponentView) -> (Vec<f64>, Vec<f64>) {
    let (w, columns) = (part.weights.mean(), part.term.shape().predicted_columns());
    let (rows, k) = w.shape();
    let (mut explained, mut left) = (vec![0.0; k], vec![0.0; rows]);
    for (d, left) in left.iter_mut().enumerate() {
        let square = |j: usize| w[(d, j)].powi(2);
        let noise = part.link_variance(d % columns.max(1));
        let whole = (0..k).map(square).sum::<f64>() + noise;
        let whole = whole.max(f64::MIN_POSITIVE);
        for (j, sum) in explained.iter_mut().enumerate() {
            *sum += square(j) / whole / rows as f64;
        }
        *left = (noise / whole).clamp(0.0, 1.0);
    }
    (explained, left)
}

impl Source {
    /// Each feature counts alike: what is left of it has, in training, the mean square that factors
    /// do not explain.
    fn of_features(
        at: usize,
        view: &View,
        part: &ComponentView,
        factors: &RowMoments,
        unexplained: &[f64],
    ) -> Option<(Self, Option<Vec<f64>>)> {
        let mut left = left_of(part, view, factors);
        let features = left.ncols();
        if unexplained.len() != features || features == 0 {
            return None;
        }
        let mut scales = vec![0.0; features];
        for d in 0..features {
            let column = left.col_as_slice_mut(d);
            let seen = view.mask().count_feature(d, view.n_samples()).max(1);
            let square = column.iter().map(|x| x * x).sum::<f64>() / seen as f64;
            if square > 0.0 {
                scales[d] = (unexplained[d] / square / features as f64).sqrt();
            }
            for x in column {
                *x *= scales[d];
            }
        }
        let turn = Turn::Scale(scales);
        Some((Self { at, left, turn }, None))
    }
    /// Columns of a kernel are turned ([`kernel_turn`]), in units of their mean square.
    fn by_kernel(
        at: usize,
        view: &View,
        part: &ComponentView,
        factors: &RowMoments,
    ) -> Result<Option<(Self, Option<Vec<f64>>)>> {
        let Some(turn) = kernel_turn(view.values(), f64::recip)? else {
            return Ok(None);
        };
        let left = times_small(left_of(part, view, factors).as_ref(), turn.as_ref());
        let weights = times_small(turn.transpose().to_owned().as_ref(), part.weights.mean());
        let square = |j: usize| weights.col(j).iter().map(|x| x * x).sum::<f64>();
        let explained = (0..weights.ncols()).map(square).collect();
        let turn = Turn::Full(turn);
        Ok(Some((Self { at, left, turn }, Some(explained))))
    }
    fn features(&self) -> usize {
        match &self.turn {
            Turn::Scale(scales) => scales.len(),
            Turn::Full(turn) => turn.nrows(),
        }
    }
    fn scale(&mut self, by: f64) {
        for j in 0..self.left.ncols() {
            self.left
                .col_as_slice_mut(j)
                .iter_mut()
                .for_each(|x| *x *= by);
        }
        match &mut self.turn {
            Turn::Scale(scales) => scales.iter_mut().for_each(|x| *x *= by),
            Turn::Full(turn) => {
                for j in 0..turn.ncols() {
                    turn.col_as_slice_mut(j).iter_mut().for_each(|x| *x *= by);
                }
            }
        }
    }
}

impl Turn {
    /// Directions of the features themselves.
    fn back(&self, directions: MatRef<'_, f64>) -> Mat<f64> {
        match self {
            Self::Scale(scales) => Mat::from_fn(scales.len(), directions.ncols(), |d, j| {
                scales[d] * directions[(d, j)]
            }),
            Self::Full(turn) => times_small(turn.as_ref(), directions),
        }
    }
}

/// What predicts a view beside factors: weights on directions of what these leave of others.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct OnFeatures {
    pub(super) directions: Directions,
    /// Means of the weights, predictor columns × directions.
    pub(super) mean: Mat<f64>,
    /// Their variances.
    pub(super) variance: Mat<f64>,
}

/// Where the state has it.
pub(crate) fn place(target: &str) -> String {
    format!("features/{target}/")
}

impl OnFeatures {
    pub(super) fn save(&self, fit: &Fit, target: &str, state: &mut State) {
        let at = place(target);
        state.put_mat(&format!("{at}mean"), self.mean.as_ref());
        state.put_mat(&format!("{at}variance"), self.variance.as_ref());
        for (own, info) in self.directions.of_view.iter().zip(fit.views()) {
            if let Some(own) = own {
                state.put_mat(&format!("{at}of/{}", info.name), own.as_ref());
            }
        }
    }
    fn load(names: &[&str], target: &str, state: &StateReader<'_>) -> Result<Self> {
        let at = place(target);
        let mean = state.mat(&format!("{at}mean"))?;
        let of_view = names.iter().map(|name| {
            let name = format!("{at}of/{name}");
            let own = state.has(&name).then(|| state.mat(&name));
            own.transpose().map_err(Error::from)
        });
        let of_view = of_view.collect::<Result<_>>()?;
        let count = mean.ncols();
        Ok(Self {
            directions: Directions { of_view, count },
            mean,
            variance: state.mat(&format!("{at}variance"))?,
        })
    }
    /// Intercepts of each sample with these columns `known`, samples × directions: what they add
    /// to its predictors.
    ///
    /// # Errors
    /// Where the intercepts are those of groups with other samples.
    pub(super) fn added(
        &self,
        bias: &Bias,
        known: MatRef<'_, f64>,
        parameters: ParameterUncertainty,
    ) -> Result<Bias> {
        let (rows, columns) = (known.nrows(), self.mean.nrows());
        let more = times_small(known, self.mean.transpose().to_owned().as_ref());
        let spread = match parameters {
            ParameterUncertainty::PlugIn => Mat::zeros(rows, columns),
            ParameterUncertainty::Posterior => {
                let squares = Mat::from_fn(rows, known.ncols(), |n, j| known[(n, j)].powi(2));
                let variance = self.variance.transpose().to_owned();
                times_small(squares.as_ref(), variance.as_ref())
            }
        };
        let own = RowGroups::new((0..rows as u32).collect(), rows.max(1))?;
        let (mut mean, mut variance) = (Vec::new(), Vec::new());
        for n in 0..rows.max(1) {
            for d in 0..columns {
                let (m, s) = if n < rows {
                    let at = bias.place_of(n, d);
                    (
                        bias.mean()[at] + more[(n, d)],
                        bias.variance()[at] + spread[(n, d)],
                    )
                } else {
                    (0.0, 0.0)
                };
                mean.push(m);
                variance.push(s);
            }
        }
        let mut out = Bias::known_by_group(columns, own, mean.clone());
        out.set(mean, variance);
        Ok(out)
    }
    /// The share of the variance of the predictors over samples that is theirs.
    pub(super) fn share(
        &self,
        part: &RowMoments,
        z: MatRef<'_, f64>,
        known: MatRef<'_, f64>,
    ) -> f64 {
        let of = |x: Mat<f64>| -> f64 {
            let rows = x.nrows().max(1) as f64;
            (0..x.ncols())
                .map(|d| {
                    let mean = x.col(d).iter().sum::<f64>() / rows;
                    x.col(d).iter().map(|x| (x - mean).powi(2)).sum::<f64>() / rows
                })
                .sum()
        };
        let own = times_small(known, self.mean.transpose().to_owned().as_ref());
        let others = times_small(z, part.mean().transpose().to_owned().as_ref());
        let (own, others) = (of(own), of(others));
        own / (own + others).max(f64::MIN_POSITIVE)
    }
}

impl Fit {
    /// What predicts a view beside factors, if it was settled on features.
    pub(super) fn on_features(&self, at: usize) -> Result<Option<OnFeatures>> {
        let name = &self.views[at].name;
        let reader = self.settled.reader();
        if !reader.has(&format!("{}mean", place(name))) {
            return Ok(None);
        }
        let names: Vec<&str> = self.views.iter().map(|v| v.name.as_str()).collect();
        Ok(Some(OnFeatures::load(&names, name, &reader)?))
    }
}
