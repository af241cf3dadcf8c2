//! Ridge: precisions that do not know factors apart.

mod species;

pub use species::{RelativeRidgeSpecies, RidgeByFeatureSpecies, RidgeSpecies};

use polyview_core::{
    GammaPrior, Gammas, NumericError, PrecisionView, RotationSide, RotationTerm, RowMoments,
    ScalePrior, State, StateReader, Stateful,
};
use polyview_random::StreamKey;
use polyview_special::ln_gamma;

use crate::rotation::{ColumnPenalty, ColumnRotation};

/// Weights whose precisions do not know factors apart: $w\_{dk} \sim N(0, \alpha^{-1})$ with one
/// $\alpha \sim \mathrm{Ga}(a\_0, b\_0)$ (shape, rate) for all of a view, or one for each
/// feature, $w\_{dk} \sim N(0, \alpha\_d^{-1})$ (spec/sites 6). A factor that only a view's other
/// features need is never switched off in the view as a whole.
///
/// Factors may be known to differ ([`Ridge::with_relative`]): $w\_{dk} \sim N(0,
/// (\alpha\_\bullet r\_k)^{-1})$ with fixed $r\_k$, by which squares count. They may follow the
/// sizes of factors in other views ([`Ridge::following`]): $r\_k = 1/s\_k^2$, as a ridge regression
/// on the features of those views would have it.
///
/// $$q(\alpha) = \mathrm{Ga}\Big(a\_0 + \tfrac{DK}2,\ b\_0 + \tfrac12\sum\_{dk}\langle
/// w\_{dk}^2\rangle\Big), \qquad q(\alpha\_d) = \mathrm{Ga}\Big(a\_0 + \tfrac K2,\ b\_0 +
/// \tfrac12\sum\_k\langle w\_{dk}^2\rangle\Big)$$
#[derive(Clone, Debug, PartialEq)]
pub struct Ridge {
    /// One, or one a feature.
    alpha: Gammas,
    by_feature: bool,
    /// Whether these follow the sizes of factors in other views.
    follows: bool,
    /// Fixed precisions of the factors beside one another.
    relative: Vec<f64>,
    /// Expected precisions as rows see them: that of the view in every column, or none, times those of the factors.
    columns: Vec<f64>,
}

impl Ridge {
    /// One precision for all weights on K factors, started at 1.
    pub fn new(prior: GammaPrior, k: usize) -> Self {
        Self {
            alpha: Gammas::new(prior, 1, 1.0),
            by_feature: false,
            follows: false,
            relative: vec![1.0; k],
            columns: vec![1.0; k],
        }
    }
    /// One precision for each of D `features`, started at 1.
    pub fn by_feature(prior: GammaPrior, features: usize, k: usize) -> Self {
        Self {
            alpha: Gammas::new(prior, features, 1.0),
            by_feature: true,
            follows: false,
            relative: vec![1.0; k],
            columns: vec![1.0; k],
        }
    }
    /// The same with fixed precisions $r\_k > 0$ of the factors beside one another, no unit.
    ///
    /// # Panics
    /// If there is not one for each factor.
    pub fn with_relative(mut self, relative: Vec<f64>) -> Self {
        assert_eq!(relative.len(), self.columns.len(), "one a factor");
        self.relative = relative;
        self.show();
        self
    }
    /// The same with precisions of the factors beside one another that follow their sizes in
    /// other views ([`ScalePrior::follow`]); equal until the first are told.
    pub fn following(mut self) -> Self {
        self.follows = true;
        let equal = self.relative.len() as f64;
        self.relative.fill(equal);
        self.show();
        self
    }
    /// Expected precisions: one, or one a feature, per squared working unit.
    pub fn precisions(&self) -> &[f64] {
        self.alpha.mean()
    }
    fn posterior(&self, rows: &RowMoments) -> Vec<(f64, f64)> {
        let k = self.columns.len();
        if self.by_feature {
            let squares = rows.row_squares(&self.relative);
            let half = 0.5 * k as f64;
            let of_row = |e: &f64| self.alpha.posterior(half, 0.5 * e);
            return squares.iter().map(of_row).collect();
        }
        let half = 0.5 * (rows.rows() * k) as f64;
        let squares = rows.column_squares(None);
        let all: f64 = squares.iter().zip(&self.relative).map(|(e, r)| r * e).sum();
        vec![self.alpha.posterior(half, 0.5 * all)]
    }
    /// What rows see follows the precision of the view.
    fn show(&mut self) {
        let alpha = if self.by_feature {
            1.0
        } else {
            self.alpha.mean()[0]
        };
        for (column, r) in self.columns.iter_mut().zip(&self.relative) {
            *column = alpha * r;
        }
    }
    /// Precisions by row, where there are such.
    fn of_rows(&self) -> Option<&[f64]> {
        self.by_feature.then(|| self.alpha.mean())
    }
}

/// The least size of a factor: weights on one of which other views know nothing are so small,
/// and no smaller.
const LEAST_SIZE: f64 = 1e-5;

impl ScalePrior for Ridge {
    fn precision(&self) -> PrecisionView<'_> {
        match self.of_rows() {
            Some(rows) => PrecisionView::Outer {
                rows,
                columns: &self.columns,
            },
            None => PrecisionView::Columns(&self.columns),
        }
    }
    fn update(&mut self, rows: &RowMoments) {
        for (i, (a, b)) in self.posterior(rows).into_iter().enumerate() {
            self.alpha.set(i, a, b);
        }
        self.show();
    }
    fn draw(&mut self, rows: &RowMoments, key: StreamKey) {
        for (i, (a, b)) in self.posterior(rows).into_iter().enumerate() {
            self.alpha.draw(i, a, b, key.chunk(i as u32));
        }
        self.show();
    }
    fn draw_prior(&mut self, key: StreamKey) {
        let p = self.alpha.prior();
        for i in 0..self.alpha.len() {
            self.alpha.draw(i, p.shape, p.rate, key.chunk(i as u32));
        }
        self.show();
    }
    /// Each precision counts for all of its weights.
    fn expected_log_density(&self, rows: &RowMoments) -> f64 {
        let k = self.columns.len() as f64;
        let each = if self.by_feature {
            k
        } else {
            k * rows.rows() as f64
        };
        let relative: f64 = self.relative.iter().map(|r| r.ln()).sum();
        let logs = each * self.alpha.mean_ln().iter().sum::<f64>() + rows.rows() as f64 * relative;
        let squares = rows.column_squares(self.of_rows());
        let energy: f64 = squares.iter().zip(&self.columns).map(|(e, a)| a * e).sum();
        0.5 * (logs - energy)
    }
    fn bound(&self) -> f64 {
        self.alpha.bound()
    }
    /// Of a precision of the shape $a$ with the columns that are there, which $m$ more weights
    /// at their prior leave where it is: $\ln\Gamma(a + \tfrac m2) - \ln\Gamma(a) -
    /// (a + \tfrac m2)\ln(1 + \tfrac m{2a}) - \tfrac m2\ln a + \tfrac m2$.
    fn idle_column(&self, rows: &RowMoments) -> f64 {
        let k = self.columns.len() as f64;
        let (entries, each) = if self.by_feature {
            (k, 1.0)
        } else {
            let rows = rows.rows() as f64;
            (k * rows, rows)
        };
        let (a, half) = (self.alpha.prior().shape + 0.5 * entries, 0.5 * each);
        let one =
            ln_gamma(a + half) - ln_gamma(a) - (a + half) * (half / a).ln_1p() - half * a.ln()
                + half;
        self.alpha.len() as f64 * one
    }
    fn free(&self) -> Vec<f64> {
        self.alpha.free()
    }
    fn set_free(&mut self, values: &[f64]) {
        self.alpha.set_free(values);
        self.show();
    }
    fn follows(&self) -> bool {
        self.follows
    }
    fn follow(&mut self, sizes: &[f64]) -> f64 {
        if !self.follows || sizes.len() != self.relative.len() {
            return 0.0;
        }
        let mut largest = 0.0_f64;
        for (r, size) in self.relative.iter_mut().zip(sizes) {
            let next = size.max(LEAST_SIZE).recip();
            largest = largest.max((next / *r).ln().abs());
            *r = next;
        }
        self.show();
        largest
    }
    /// With the precisions held fixed.
    fn rotation_term(
        &self,
        rows: &RowMoments,
        side: RotationSide,
    ) -> Option<Box<dyn RotationTerm>> {
        Some(Box::new(ColumnRotation::new(
            rows.rows(),
            &rows.second_moment(self.of_rows()),
            side,
            ColumnPenalty::Fixed(self.columns.clone()),
        )))
    }
    /// Shapes follow the number of columns and means stay, which is what the update gives when
    /// the weights that leave are at their prior.
    fn select(&mut self, keep: &[usize]) {
        let before = self.columns.len();
        self.relative = keep.iter().map(|&k| self.relative[k]).collect();
        self.columns.truncate(keep.len());
        self.show();
        if self.alpha.is_draw() || keep.len() == before {
            return;
        }
        let prior = self.alpha.prior().shape;
        for i in 0..self.alpha.len() {
            let (mean, shape) = (self.alpha.mean()[i], self.alpha.shape()[i]);
            // a start has not counted the columns yet
            if shape > prior {
                let shape = prior + (shape - prior) * keep.len() as f64 / before as f64;
                self.alpha.set(i, shape, shape / mean);
            }
        }
    }
}

impl Stateful for Ridge {
    fn save(&self, prefix: &str, state: &mut State) {
        self.alpha.save(&format!("{prefix}/alpha"), state);
        state.put_vec(&format!("{prefix}/columns"), &self.columns);
    }
    fn load(&mut self, prefix: &str, state: &StateReader<'_>) -> Result<(), NumericError> {
        self.alpha.load(&format!("{prefix}/alpha"), state)?;
        self.columns = state.vec(&format!("{prefix}/columns"))?;
        let alpha = if self.by_feature {
            1.0
        } else {
            self.alpha.mean()[0]
        };
        self.relative = self.columns.iter().map(|c| c / alpha).collect();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use polyview_linalg::Mat;

    use super::*;

    fn rows() -> RowMoments {
        let mean = Mat::from_fn(4, 3, |d, k| (1 + d) as f64 * [0.5, -0.2, 1.0][k]);
        RowMoments::isotropic(mean, 0.1, 0)
    }

    /// The bound of weights and precisions as a sum over entries.
    fn objective(prior: &Ridge, rows: &RowMoments) -> f64 {
        prior.expected_log_density(rows) + prior.bound()
    }

    #[test]
    fn each_precision_is_that_of_its_weights() {
        let rows = rows();
        let p = GammaPrior::new(1.0, 2.0);
        let mut of_view = Ridge::new(p, 3);
        of_view.update(&rows);
        let squares: f64 = (1..=4).map(|d| f64::from(d * d) * 1.29).sum::<f64>() + 12.0 * 0.1;
        assert!((of_view.precisions()[0] - 7.0 / (2.0 + 0.5 * squares)).abs() < 1e-12);
        let mut by_feature = Ridge::by_feature(p, 4, 3);
        by_feature.update(&rows);
        for d in 0..4 {
            let squares = ((d + 1) * (d + 1)) as f64 * 1.29 + 0.3;
            let expected = 2.5 / (2.0 + 0.5 * squares);
            assert!((by_feature.precisions()[d] - expected).abs() < 1e-12);
            assert!((by_feature.precision().at(d, 1) - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn an_update_is_the_optimum() {
        let rows = rows();
        for mut prior in [
            Ridge::new(GammaPrior::new(1.0, 1.0), 3),
            Ridge::by_feature(GammaPrior::new(1.0, 1.0), 4, 3),
            Ridge::new(GammaPrior::new(1.0, 1.0), 3).with_relative(vec![0.5, 1.0, 4.0]),
            Ridge::by_feature(GammaPrior::new(1.0, 1.0), 4, 3).with_relative(vec![0.5, 1.0, 4.0]),
        ] {
            prior.update(&rows);
            let best = objective(&prior, &rows);
            for factor in [0.9, 1.1] {
                let mut other = prior.clone();
                for i in 0..other.alpha.len() {
                    let (a, b) = (other.alpha.shape()[i], other.alpha.rate()[i]);
                    other.alpha.set(i, a, factor * b);
                }
                other.show();
                assert!(objective(&other, &rows) < best);
            }
        }
    }

    /// Weights in other units: the bound differs by their Jacobian alone.
    #[test]
    fn relative_precisions_are_units_of_the_factors() {
        let (rows, relative) = (rows(), [0.25_f64, 1.0, 4.0]);
        let scaled = Mat::from_fn(4, 3, |d, k| rows.mean()[(d, k)] * relative[k].sqrt());
        let variances = Mat::from_fn(4, 3, |_, k| 0.1 * relative[k]);
        let scaled = RowMoments::new(scaled, polyview_core::RowCov::Diagonal(variances), 0.0, 0);
        let p = GammaPrior::new(1.0, 2.0);
        for (mut own, mut plain) in [
            (Ridge::new(p, 3), Ridge::new(p, 3)),
            (Ridge::by_feature(p, 4, 3), Ridge::by_feature(p, 4, 3)),
        ] {
            own = own.with_relative(relative.to_vec());
            own.update(&rows);
            plain.update(&scaled);
            for (a, b) in own.precisions().iter().zip(plain.precisions()) {
                assert!((a - b).abs() < 1e-12);
            }
            let jacobian = 4.0 * 0.5 * relative.iter().map(|r| r.ln()).sum::<f64>();
            let gap = objective(&own, &rows) - objective(&plain, &scaled) - jacobian;
            assert!(gap.abs() < 1e-10, "{gap}");
            for k in 0..3 {
                let expected = relative[k] * plain.precision().at(1, k);
                assert!((own.precision().at(1, k) - expected).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn columns_that_leave_take_their_counts_with_them() {
        let mut prior = Ridge::by_feature(GammaPrior::new(1.0, 1.0), 4, 3);
        prior.update(&rows());
        let mean = prior.precisions().to_vec();
        prior.select(&[0, 2]);
        assert_eq!(prior.alpha.shape()[0], 2.0);
        for (a, b) in prior.precisions().iter().zip(mean) {
            assert!((a - b).abs() < 1e-12);
        }
    }
}
