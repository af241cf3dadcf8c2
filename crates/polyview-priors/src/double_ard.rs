//! Double automatic relevance determination: factors and features.

mod species;

pub use species::DoubleArdSpecies;

use polyview_core::{
    GammaPrior, Gammas, NumericError, PrecisionView, RotationSide, RotationTerm, RowMoments,
    ScalePrior, State, StateReader, Stateful,
};
use polyview_random::StreamKey;
use polyview_special::ln_gamma;

use crate::rotation::{ColumnPenalty, ColumnRotation};

/// First random stream of the rows' precisions; those of the columns come
/// before it.
const ROW_STREAMS: u32 = 1 << 31;

/// Double automatic relevance determination: $w\_{dk} \sim N\big(0,
/// (\gamma\_d\alpha\_k)^{-1}\big)$ with $\alpha\_k \sim
/// \mathrm{Ga}(a^\alpha, b^\alpha)$, one a factor, and $\gamma\_d \sim
/// \mathrm{Ga}(a^\gamma, b^\gamma)$, one a feature (shape, rate; spec/sshiba
/// G8, G9, errata E15, E23).
///
/// A feature that the factors do not need gets a large $\gamma\_d$ and weights
/// near zero; its relevance is $1/\langle\gamma\_d\rangle$ (spec/thesis 6.2).
/// Only the products $\gamma\_d\alpha\_k$ enter the likelihood, so $(c\alpha,
/// \gamma/c)$ is a direction that the hyperpriors alone fix: ratios within a
/// view mean something, absolute values do not.
///
/// $$q(\gamma\_d) = \mathrm{Ga}\Big(a^\gamma + \tfrac K2,\ b^\gamma + \tfrac12
/// \sum\_k\langle\alpha\_k\rangle\langle w\_{dk}^2\rangle\Big), \qquad
/// q(\alpha\_k) = \mathrm{Ga}\Big(a^\alpha + \tfrac D2,\ b^\alpha + \tfrac12
/// \sum\_d\langle\gamma\_d\rangle\langle w\_{dk}^2\rangle\Big)$$
///
/// (spec/sshiba U5, U4). The features come first, as in spec/thesis 15.2: the
/// factors' precisions are then at their optimum for the present weights and
/// feature precisions, which is what the rotation assumes.
///
/// There are no implicit rows: every feature has a precision of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct DoubleArd {
    alpha: Gammas,
    gamma: Gammas,
}

impl DoubleArd {
    /// K columns with the prior `columns` and D `rows` with the prior
    /// `of_rows`, all started at precision 1.
    pub fn new(columns: GammaPrior, of_rows: GammaPrior, rows: usize, k: usize) -> Self {
        Self {
            alpha: Gammas::new(columns, k, 1.0),
            gamma: Gammas::new(of_rows, rows, 1.0),
        }
    }
    /// Expected column precisions $\langle\alpha\_k\rangle$, one a factor; see
    /// the type for what their size means.
    pub fn column_precisions(&self) -> &[f64] {
        self.alpha.mean()
    }
    /// Expected row precisions $\langle\gamma\_d\rangle$, one a feature; see
    /// the type for what their size means.
    pub fn row_precisions(&self) -> &[f64] {
        self.gamma.mean()
    }
    /// The Gamma variables of the columns.
    pub fn columns(&self) -> &Gammas {
        &self.alpha
    }
    /// Write access to the Gamma variables of the columns, for starts.
    pub fn columns_mut(&mut self) -> &mut Gammas {
        &mut self.alpha
    }
    /// The Gamma variables of the rows.
    pub fn rows(&self) -> &Gammas {
        &self.gamma
    }
    /// Write access to the Gamma variables of the rows, for starts.
    pub fn rows_mut(&mut self) -> &mut Gammas {
        &mut self.gamma
    }
    /// spec/sshiba U4 (erratum E27: row by row, weighted by the rows' own
    /// precisions).
    fn column_posterior(&self, rows: &RowMoments) -> Vec<(f64, f64)> {
        let half = 0.5 * self.gamma.len() as f64;
        rows.column_squares(Some(self.gamma.mean()))
            .iter()
            .map(|e| self.alpha.posterior(half, 0.5 * e))
            .collect()
    }
    fn update_columns(&mut self, rows: &RowMoments) {
        for (k, (a, b)) in self.column_posterior(rows).into_iter().enumerate() {
            self.alpha.set(k, a, b);
        }
    }
    /// spec/sshiba U5 (erratum E7: one a feature).
    fn row_posterior(&self, rows: &RowMoments) -> Vec<(f64, f64)> {
        let half = 0.5 * self.alpha.len() as f64;
        rows.row_squares(self.alpha.mean())
            .iter()
            .map(|e| self.gamma.posterior(half, 0.5 * e))
            .collect()
    }
}

impl ScalePrior for DoubleArd {
    fn precision(&self) -> PrecisionView<'_> {
        PrecisionView::Outer {
            rows: self.gamma.mean(),
            columns: self.alpha.mean(),
        }
    }
    fn update(&mut self, rows: &RowMoments) {
        for (d, (a, b)) in self.row_posterior(rows).into_iter().enumerate() {
            self.gamma.set(d, a, b);
        }
        self.update_columns(rows);
    }
    /// The columns first, by the rows' precisions that the rotation took as known.
    fn update_turned(&mut self, rows: &RowMoments) {
        self.update_columns(rows);
        self.update(rows);
    }
    fn draw(&mut self, rows: &RowMoments, key: StreamKey) {
        for (d, (a, b)) in self.row_posterior(rows).into_iter().enumerate() {
            self.gamma.draw(d, a, b, key.chunk(ROW_STREAMS | d as u32));
        }
        for (k, (a, b)) in self.column_posterior(rows).into_iter().enumerate() {
            self.alpha.draw(k, a, b, key.chunk(k as u32));
        }
    }
    fn draw_prior(&mut self, key: StreamKey) {
        let p = self.gamma.prior();
        for d in 0..self.gamma.len() {
            self.gamma
                .draw(d, p.shape, p.rate, key.chunk(ROW_STREAMS | d as u32));
        }
        let p = self.alpha.prior();
        for k in 0..self.alpha.len() {
            self.alpha.draw(k, p.shape, p.rate, key.chunk(k as u32));
        }
    }
    /// The part of spec/sshiba L2 that is no entropy.
    fn expected_log_density(&self, rows: &RowMoments) -> f64 {
        let (n, k) = (self.gamma.len() as f64, self.alpha.len() as f64);
        let logs = k * self.gamma.mean_ln().iter().sum::<f64>()
            + n * self.alpha.mean_ln().iter().sum::<f64>();
        let energy: f64 = rows
            .column_squares(Some(self.gamma.mean()))
            .iter()
            .zip(self.alpha.mean())
            .map(|(e, a)| a * e)
            .sum();
        0.5 * (logs - energy)
    }
    fn free(&self) -> Vec<f64> {
        [self.alpha.free(), self.gamma.free()].concat()
    }
    fn set_free(&mut self, values: &[f64]) {
        if let Some((columns, rows)) = values.split_at_checked(self.alpha.len()) {
            self.alpha.set_free(columns);
            self.gamma.set_free(rows);
        }
    }
    /// spec/sshiba L4 and L5.
    fn bound(&self) -> f64 {
        self.alpha.bound() + self.gamma.bound()
    }
    /// That of [`Gammas::idle`] for the column's precision, and for that of each row,
    /// of the shape $a$ with the columns that are there, $\ln\Gamma(a + \tfrac12) -
    /// \ln\Gamma(a) - (a + \tfrac12)\ln(1 + \tfrac1{2a}) - \tfrac12\ln a +
    /// \tfrac12$: an entry at its prior leaves $\langle\gamma\_d\rangle$ where it is.
    fn idle_column(&self, _rows: &RowMoments) -> f64 {
        let n = self.gamma.len() as f64;
        let a = self.gamma.prior().shape + 0.5 * self.alpha.len() as f64;
        let row =
            ln_gamma(a + 0.5) - ln_gamma(a) - (a + 0.5) * (0.5 / a).ln_1p() - 0.5 * a.ln() + 0.5;
        self.alpha.idle(n) + n * row
    }
    /// With the rows' precisions held fixed and the columns' at their optimum
    /// for every rotation: $D\ln|\det Q| - (a^\alpha + \tfrac D2)\sum\_k
    /// \ln\big(b^\alpha + \tfrac12 q\_k\Lambda q\_k^\top\big)$ with $\Lambda =
    /// \sum\_d\langle\gamma\_d\rangle\langle w\_d w\_d^\top\rangle$.
    ///
    /// It is the gain of the bound when [`ScalePrior::update`] was the last to
    /// touch the scales and [`ScalePrior::update_turned`] follows: after the columns' precisions that
    /// also moves the rows', to at least as good a bound.
    fn rotation_term(
        &self,
        rows: &RowMoments,
        side: RotationSide,
    ) -> Option<Box<dyn RotationTerm>> {
        let prior = self.alpha.prior();
        Some(Box::new(ColumnRotation::new(
            rows.rows(),
            &rows.second_moment(Some(self.gamma.mean())),
            side,
            ColumnPenalty::Gamma {
                shape: prior.shape + 0.5 * rows.rows() as f64,
                rate: prior.rate,
            },
        )))
    }
    /// Where columns are dropped, the shapes of $q(\gamma\_d)$ follow their new
    /// number and the means stay, which is what U5 gives when the weights that
    /// leave are at their prior.
    fn relevance(&self) -> Option<&[f64]> {
        Some(self.row_precisions())
    }
    fn select(&mut self, keep: &[usize]) {
        let before = self.alpha.len();
        self.alpha.select(keep);
        if self.gamma.is_draw() || keep.len() == before {
            return;
        }
        let change = 0.5 * (before as f64 - keep.len() as f64);
        for d in 0..self.gamma.len() {
            let (mean, shape) = (self.gamma.mean()[d], self.gamma.shape()[d] - change);
            // a start has not counted the columns yet
            if shape > 0.0 {
                self.gamma.set(d, shape, shape / mean);
            }
        }
    }
}

impl Stateful for DoubleArd {
    fn save(&self, prefix: &str, state: &mut State) {
        self.alpha.save(&format!("{prefix}/alpha"), state);
        self.gamma.save(&format!("{prefix}/gamma"), state);
    }
    fn load(&mut self, prefix: &str, state: &StateReader<'_>) -> Result<(), NumericError> {
        self.alpha.load(&format!("{prefix}/alpha"), state)?;
        self.gamma.load(&format!("{prefix}/gamma"), state)
    }
}

#[cfg(test)]
mod tests {
    use polyview_core::{Context, Journal, RowBlock};
    use polyview_linalg::{Mat, inverse};

    use super::*;
    use crate::FullRows;

    /// Columns of very unequal size that trade places: their old precisions would tell the rows' precisions wrong.
    #[test]
    fn a_rotation_gains_what_its_term_says() {
        for seed in 0..20 {
            let mut rng = StreamKey::new(seed).rng();
            let mean = Mat::from_fn(6, 2, |_, k| {
                [3.0, 0.05][k] * polyview_random::standard_normal(&mut rng)
            });
            let vague = GammaPrior::new(1e-3, 1e-3);
            let prior = DoubleArd::new(vague, vague, 6, 2);
            let moments = RowMoments::isotropic(mean, 1e-2, 0);
            let mut block = FullRows::new("weights", prior, moments);
            let mut journal = Journal::default();
            let mut cx = Context {
                key: StreamKey::new(seed),
                sweep: 1,
                journal: &mut journal,
            };
            block.learn(&mut cx).unwrap();
            let before = block.bound().sum();
            let (sin, cos) = (0.1 + 0.07 * seed as f64).sin_cos();
            let q = Mat::from_fn(2, 2, |i, j| [[cos, sin], [-sin, cos]][i][j]);
            let (eye, back): (Mat<f64>, _) = (Mat::identity(2, 2), inverse(q.as_ref()).unwrap());
            let term = block.rotation_term(RotationSide::Weights).unwrap();
            let mut slope = Mat::zeros(2, 2);
            let said = term.evaluate(q.as_ref(), back.as_ref(), 0.0, slope.as_mut())
                - term.evaluate(eye.as_ref(), eye.as_ref(), 0.0, slope.as_mut());
            drop(term);
            block.transform(q.transpose(), 0.0);
            block.learn_turned(&mut cx).unwrap();
            let gained = block.bound().sum() - before;
            assert!(gained >= said - 1e-9, "{seed}: {gained} of {said}");
        }
    }
}
