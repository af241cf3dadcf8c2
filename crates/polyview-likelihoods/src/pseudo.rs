//! MOFA's pseudo-data, as its published programs have them.

use std::ops::Range;
use std::sync::Arc;

use polyview_core::{
    Block, Context, DataError, Domain, Equations, Gammas, Law, Link, Mask, Noise, NoiseScope,
    NormalEquations, NumericError, Objective, Predictor, Rounds, State, StateReader, Stateful,
    Terms, View, ViewShape, ViewTerm,
};
use polyview_linalg::{Mat, cross, packed_len, times_small};
use polyview_random::StreamKey;
use polyview_special::{jaakkola_lambda, log_sigmoid, sigmoid, softplus};
use serde::{Deserialize, Serialize};

use crate::bernoulli::LOGISTIC_VARIANCE;
use crate::cells::{blocks, check_domain, check_features, predict_cells};
use crate::counts::LARGEST;
use crate::laws::Matched;

/// What the pseudo-data stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PseudoKind {
    /// Zeros and ones, $p(y = 1) = \sigma(\eta)$.
    Bernoulli,
    /// Counts with the rate $\ln(1 + e^\eta)$.
    Poisson,
}

/// What mofapy2 adds to the rate of counts (spec/mofa B.2).
const RATE_OFFSET: f64 = 1e-4;

/// Labels or counts by pseudo-data that lag behind, with all the departures
/// from exact variational Bayes that mofapy2 has (spec/mofa C.2, items 1 to 4):
/// precisions of labels are those of the sweep before, pseudo-data lose their
/// mean over all samples in place of an intercept, and missing labels count as
/// zeros in that mean. The bound may fall, there is no intercept, and
/// predictions are those of $\langle\eta\rangle$ alone.
///
/// New samples are another matter, of which that program knows nothing: the means
/// that their pseudo-data lose and the curvature of counts are those of training,
/// and precisions of labels do not lag, so that what is found of a sample does not
/// depend on those beside it.
///
/// It is for comparison with that program; [`Cells`](crate::Cells) is the
/// right form.
#[derive(Clone, Debug)]
pub struct PseudoData {
    kind: PseudoKind,
    values: Arc<Mat<f64>>,
    mask: Mask,
    /// $\zeta$ of the last refresh.
    zeta: Mat<f64>,
    /// Pseudo-data of the last refresh, zero where missing.
    pseudo: Mat<f64>,
    /// Precisions, zero where missing.
    precision: Mat<f64>,
    /// Largest precision of each column at the start: the curvature of counts.
    curvature: Vec<f64>,
    /// Means that the pseudo-data of each column lost at the last refresh; empty
    /// before the first.
    centres: Vec<f64>,
    /// Whether curvature and centres are those of other samples, and stay.
    trained: bool,
}

/// $\varrho - y\ln\varrho$ and its derivative.
fn loss(count: f64, zeta: f64) -> (f64, f64) {
    let rate = softplus(zeta) + RATE_OFFSET;
    (
        rate - count * rate.ln(),
        sigmoid(zeta) * (1.0 - count / rate),
    )
}

impl PseudoData {
    /// The term of a view.
    ///
    /// # Errors
    /// [`DataError::OutOfDomain`] for a datum that is no label or no count,
    /// [`DataError::NothingObserved`] when every cell of a view with samples
    /// is missing.
    pub fn new(view: View, kind: PseudoKind) -> Result<Self, DataError> {
        if view.n_samples() > 0 && view.n_observed() == 0 {
            return Err(DataError::NothingObserved {
                view: view.name().to_owned(),
            });
        }
        let (needs, most) = match kind {
            PseudoKind::Bernoulli => ("0 or 1", 1.0),
            PseudoKind::Poisson => ("counts: whole numbers from 0 to 1e9", LARGEST),
        };
        check_domain(&view, needs, |_, _, x| {
            (0.0..=most).contains(&x) && x.fract() == 0.0
        })?;
        let (_, _, values, mask) = view.into_parts();
        let (rows, columns) = values.shape();
        let largest = |d: usize| values.col(d).iter().fold(0.0_f64, |m, x| m.max(*x));
        let curvature = (0..columns)
            .map(|d| match kind {
                PseudoKind::Bernoulli => 1.0,
                PseudoKind::Poisson => 0.25 + 0.17 * largest(d),
            })
            .collect();
        let mut term = Self {
            kind,
            mask,
            zeta: Mat::zeros(rows, columns),
            pseudo: Mat::zeros(rows, columns),
            precision: Mat::zeros(rows, columns),
            curvature,
            centres: Vec::new(),
            trained: false,
            values,
        };
        term.start_precisions();
        Ok(term)
    }
    /// Predictive means and variances of a block.
    fn moments(&self, p: &Predictor<'_>, block: &Block<'_>) -> (Mat<f64>, Mat<f64>) {
        let mean = p.mean(block.samples.clone(), block.columns.clone());
        let variance = Mat::zeros(mean.nrows(), mean.ncols());
        predict_cells(mean, variance, |_, eta, _| match self.kind {
            PseudoKind::Bernoulli => (sigmoid(eta), sigmoid(eta) * sigmoid(-eta)),
            PseudoKind::Poisson => (softplus(eta), softplus(eta)),
        })
    }
    fn start_precisions(&mut self) {
        for d in 0..self.values.ncols() {
            for n in 0..self.values.nrows() {
                if self.mask.is_observed(n, d) {
                    self.precision[(n, d)] = self.curvature[d];
                }
            }
        }
    }
    /// Precisions of labels from the $\zeta$ of the last refresh.
    fn update_precisions(&mut self, columns: Range<usize>) {
        if self.kind == PseudoKind::Bernoulli {
            for d in columns {
                for n in 0..self.values.nrows() {
                    if self.mask.is_observed(n, d) {
                        self.precision[(n, d)] = 2.0 * jaakkola_lambda(self.zeta[(n, d)]);
                    }
                }
            }
        }
    }
}

impl ViewTerm for PseudoData {
    fn shape(&self) -> ViewShape {
        let (samples, columns) = self.values.shape();
        ViewShape::plain(samples, columns)
    }
    fn objective(&self) -> Objective {
        Objective::NoGuarantee
    }
    fn by_cells(&self) -> bool {
        true
    }
    fn domain(&self) -> Domain {
        match self.kind {
            PseudoKind::Bernoulli => Domain::Binary,
            PseudoKind::Poisson => Domain::COUNTS,
        }
    }
    fn link(&self, _group: Option<usize>, _column: usize, level: f64) -> Link {
        Link::of(match self.kind {
            PseudoKind::Bernoulli => LOGISTIC_VARIANCE,
            PseudoKind::Poisson => softplus(level) / sigmoid(level).powi(2),
        })
    }
    /// spec/mofa B.2 and B.5, node `Y`.
    fn refresh(&mut self, p: &Predictor<'_>, _cx: &mut Context<'_>) -> Result<(), NumericError> {
        let (rows, columns) = self.values.shape();
        self.centres.resize(columns, 0.0);
        for block in blocks(rows, columns) {
            let mean = p.mean(0..rows, block.clone());
            let square = p.square(0..rows, block.clone());
            for (j, d) in block.enumerate() {
                let kappa = self.curvature[d];
                let mut sum = 0.0;
                for n in 0..rows {
                    let (y, seen) = (self.values[(n, d)], self.mask.is_observed(n, d));
                    let (zeta, pseudo) = match self.kind {
                        PseudoKind::Bernoulli => {
                            let zeta = square[(n, j)].max(0.0).sqrt();
                            (zeta, (2.0 * y - 1.0) / (4.0 * jaakkola_lambda(zeta)))
                        }
                        PseudoKind::Poisson if seen => {
                            let zeta = mean[(n, j)];
                            (zeta, zeta - loss(y, zeta).1 / kappa)
                        }
                        PseudoKind::Poisson => (mean[(n, j)], 0.0),
                    };
                    self.zeta[(n, d)] = zeta;
                    self.pseudo[(n, d)] = pseudo;
                    sum += pseudo;
                }
                if !self.trained {
                    self.centres[d] = sum / rows as f64;
                }
                for n in 0..rows {
                    self.pseudo[(n, d)] = if self.mask.is_observed(n, d) {
                        self.pseudo[(n, d)] - self.centres[d]
                    } else {
                        0.0
                    };
                }
            }
        }
        if self.trained {
            self.update_precisions(0..columns);
        }
        Ok(())
    }
    fn equations(&mut self) -> &mut dyn Equations {
        self
    }
    /// spec/mofa B.6, items 2 and 3, at the $\zeta$ of the last refresh and
    /// without $\ln y!$.
    fn bound(&mut self, p: &Predictor<'_>) -> Terms {
        let (rows, columns) = self.values.shape();
        let mut total = 0.0;
        for block in blocks(rows, columns) {
            let mean = p.mean(0..rows, block.clone());
            let square = p.square(0..rows, block.clone());
            for (j, d) in block.enumerate() {
                let kappa = self.curvature[d];
                for n in (0..rows).filter(|&n| self.mask.is_observed(n, d)) {
                    let (y, zeta) = (self.values[(n, d)], self.zeta[(n, d)]);
                    let (x, x2) = (mean[(n, j)], square[(n, j)]);
                    total += match self.kind {
                        PseudoKind::Bernoulli => {
                            log_sigmoid(zeta) + 0.5 * ((2.0 * y - 1.0) * x - zeta)
                                - jaakkola_lambda(zeta) * (x2 - zeta * zeta)
                        }
                        PseudoKind::Poisson => {
                            let (value, slope) = loss(y, zeta);
                            -0.5 * kappa * (x2 - 2.0 * x * zeta + zeta * zeta)
                                - (x - zeta) * slope
                                - value
                        }
                    };
                }
            }
        }
        Terms::of_samples("likelihood", total)
    }
    fn law(&self, p: &Predictor<'_>, block: &Block<'_>) -> Box<dyn Law + '_> {
        let (mean, variance) = self.moments(p, block);
        Box::new(Matched::new(self.domain(), mean, variance))
    }
    /// Labels and counts are not drawn: the model without intercepts is none
    /// of data. What comes is the predicted mean.
    fn simulate(&self, p: &Predictor<'_>, _parameters: StreamKey, _data: StreamKey) -> Mat<f64> {
        let (rows, columns) = (p.factors.explicit_rows(), self.values.ncols());
        self.moments(p, &Block::new(0..rows, 0..columns)).0
    }
    fn rebind(&self, view: &View) -> Result<Box<dyn ViewTerm>, DataError> {
        check_features(view, self.values.ncols())?;
        let mut term = Self::new(view.clone(), self.kind)?;
        if !self.centres.is_empty() {
            term.curvature.clone_from(&self.curvature);
            term.centres.clone_from(&self.centres);
            term.trained = true;
            term.start_precisions();
        }
        Ok(Box::new(term))
    }
    fn as_noise(&self) -> Option<&dyn Noise> {
        Some(self)
    }
    fn as_noise_mut(&mut self) -> Option<&mut dyn Noise> {
        Some(self)
    }
    fn as_rounds(&mut self) -> Option<&mut dyn Rounds> {
        Some(self)
    }
}

/// Precisions that follow from the local variables and have no prior.
impl Noise for PseudoData {
    fn scope(&self) -> NoiseScope {
        NoiseScope::Column
    }
    fn precisions(&self) -> Option<&Gammas> {
        None
    }
    fn share(&mut self, _noise: &Gammas) {}
    fn sums(
        &mut self,
        _columns: Range<usize>,
        _p: &Predictor<'_>,
    ) -> Result<Vec<(f64, f64)>, NumericError> {
        Ok(Vec::new())
    }
    /// spec/mofa B.5, node `Tau`: precisions of labels from the $\zeta$ of the
    /// sweep's start.
    fn update(&mut self, columns: Range<usize>, _p: &Predictor<'_>) -> Result<(), NumericError> {
        self.update_precisions(columns);
        Ok(())
    }
}

impl Rounds for PseudoData {
    fn refresh_locals(
        &mut self,
        p: &Predictor<'_>,
        cx: &mut Context<'_>,
    ) -> Result<(), NumericError> {
        self.refresh(p, cx)
    }
    /// The loss of counts is no convex function far to the left, where what is
    /// added to the rate counts, and the lost means pull there.
    fn extrapolates(&mut self) -> bool {
        self.kind == PseudoKind::Bernoulli
    }
}

impl Equations for PseudoData {
    fn weight_equations(
        &mut self,
        p: &Predictor<'_>,
        eq: &mut NormalEquations,
    ) -> Result<(), NumericError> {
        let (k, columns) = (eq.k(), eq.rows());
        let len = packed_len(k);
        let precision = self
            .precision
            .as_ref()
            .subcols(columns.start, columns.len());
        let sums = cross(p.factors.moment_table().as_ref().transpose(), precision);
        let linear = Mat::from_fn(precision.nrows(), columns.len(), |n, j| {
            precision[(n, j)] * self.pseudo[(n, columns.start + j)]
        });
        let rhs = cross(linear.as_ref(), p.factors.mean());
        let packed = eq.packed_mut();
        for i in 0..columns.len() {
            let column = &sums.col_as_slice(i)[..len];
            for (g, s) in packed.row_mut(i).iter_mut().zip(column) {
                *g += s;
            }
        }
        eq.rhs += rhs;
        Ok(())
    }
    fn bias_equations(
        &mut self,
        _columns: Range<usize>,
        _p: &Predictor<'_>,
        precision: &mut [f64],
        rhs: &mut [f64],
    ) -> f64 {
        precision.fill(0.0);
        rhs.fill(0.0);
        0.0
    }
    fn factor_equations(
        &mut self,
        p: &Predictor<'_>,
        eq: &mut NormalEquations,
    ) -> Result<(), NumericError> {
        let (k, rows) = (eq.k(), eq.rows());
        let columns = self.values.ncols();
        let len = packed_len(k);
        let second = p.weights.second_moment_rows(0..columns);
        let table = Mat::from_fn(columns, len, |d, i| second.row(d)[i]);
        let precision = self.precision.as_ref().subrows(rows.start, rows.len());
        let sums = times_small(precision, table.as_ref());
        let linear = Mat::from_fn(rows.len(), columns, |n, d| {
            precision[(n, d)] * self.pseudo[(rows.start + n, d)]
        });
        let rhs = times_small(linear.as_ref(), p.weights.mean());
        let packed = eq.packed_mut();
        for i in 0..rows.len() {
            for (j, g) in packed.row_mut(i).iter_mut().enumerate() {
                *g += sums[(i, j)];
            }
        }
        eq.rhs += rhs;
        Ok(())
    }
}

impl Stateful for PseudoData {
    fn save(&self, prefix: &str, state: &mut State) {
        state.local(|state| {
            for (name, m) in [
                ("zeta", &self.zeta),
                ("pseudo", &self.pseudo),
                ("precision", &self.precision),
            ] {
                state.put_mat(&format!("{prefix}/local/{name}"), m.as_ref());
            }
        });
        state.put_vec(&format!("{prefix}/curvature"), &self.curvature);
        if !self.centres.is_empty() {
            state.put_vec(&format!("{prefix}/centres"), &self.centres);
        }
    }
    /// A term without samples takes parameters only; the first files lacked them.
    fn load(&mut self, prefix: &str, state: &StateReader<'_>) -> Result<(), NumericError> {
        for (name, own) in [
            ("curvature", &mut self.curvature),
            ("centres", &mut self.centres),
        ] {
            let name = format!("{prefix}/{name}");
            if !state.has(&name) {
                continue;
            }
            let saved = state.vec(&name)?;
            if saved.len() != self.values.ncols() {
                return Err(NumericError::BadState { name });
            }
            *own = saved;
        }
        if self.values.nrows() == 0 {
            return Ok(());
        }
        let shape = self.values.shape();
        for (name, m) in [
            ("zeta", &mut self.zeta),
            ("pseudo", &mut self.pseudo),
            ("precision", &mut self.precision),
        ] {
            let name = format!("{prefix}/local/{name}");
            let saved = state.mat(&name)?;
            if saved.shape() != shape {
                return Err(NumericError::BadState { name });
            }
            *m = saved;
        }
        Ok(())
    }
}
