//! Rows whose means follow what is known of them
//! (docs/decisions/0063-factors-about-covariates.md).

use polyview_core::{Context, NormalEquations, NumericError, RowBlock, RowMoments, Rule};
use polyview_linalg::{Mat, MatRef, PackedRows, SymPacked};

use crate::fixed::Fixed;
use crate::rows::FullRows;

/// Slopes of factors in covariates, covariates × K: $z\_n = A^\top c\_n + r\_n$ with
/// $a\_{qk} \sim N(0, 1)$ and the block's own prior of $r\_n$.
///
/// What covariates do to many features alike is one direction of weights, and a factor that
/// follows them costs less than a coefficient for each covariate and feature. With slopes such a
/// factor is one of the covariates: what is left of it, $r$, has nothing to do with them.
#[derive(Clone, Debug)]
pub(super) struct Along {
    /// Covariates × K.
    slopes: Mat<f64>,
}

impl Along {
    /// Slopes of zero.
    pub(super) fn new(covariates: usize, k: usize) -> Self {
        Self {
            slopes: Mat::zeros(covariates, k),
        }
    }
    pub(super) fn slopes(&self) -> MatRef<'_, f64> {
        self.slopes.as_ref()
    }
    /// Takes slopes over; `None` where they are of other covariates or not of `k` factors.
    pub(super) fn with_slopes(&self, slopes: Mat<f64>, k: usize) -> Option<Self> {
        ((slopes.nrows(), slopes.ncols()) == (self.slopes.nrows(), k)).then_some(Self { slopes })
    }
    /// $CA$ of all rows: what is known of them, rows × columns, the covariates first.
    pub(super) fn means(&self, known: MatRef<'_, f64>) -> Mat<f64> {
        known.subcols(0, self.slopes.nrows()) * &self.slopes
    }
    /// Sets the slopes to their optimum given $z = r + CA$, or draws them; `own` are r, whose
    /// prior variances are `variance(row, column)`. Returns by how much the means of r change.
    ///
    /// # Errors
    /// [`NumericError`] on numbers that are not finite.
    pub(super) fn learn(
        &mut self,
        (own, known): (&RowMoments, MatRef<'_, f64>),
        variance: impl Fn(usize, usize) -> f64,
        draws: bool,
        cx: &mut Context<'_>,
    ) -> Result<Mat<f64>, NumericError> {
        let (covariates, k) = self.slopes.shape();
        let rows = own.explicit_rows();
        let before = self.means(known);
        // rows of the transposed slopes: one for each factor
        let mut eq = NormalEquations::new(covariates, 0..k);
        eq.own = true;
        let mut packed = PackedRows::zeros(k, covariates);
        for j in 0..k {
            let mut precision = SymPacked::zeros(covariates);
            for n in 0..rows {
                let weight = variance(n, j).recip();
                let about: Vec<f64> = (0..covariates).map(|q| known[(n, q)]).collect();
                precision.add_outer(weight, &about);
                let z = weight * (own.mean()[(n, j)] + before[(n, j)]);
                for (q, c) in about.iter().enumerate() {
                    eq.rhs[(j, q)] += z * c;
                }
            }
            packed.row_mut(j).copy_from_slice(precision.as_slice());
        }
        eq.packed = Some(packed);
        let start = RowMoments::point(Mat::zeros(k, covariates));
        let mut slopes = FullRows::new("slopes", Fixed::standard_normal(covariates), start);
        slopes.prepare(&eq, cx)?;
        if draws {
            slopes.draw(&mut eq, cx)?;
        } else {
            slopes.update(&mut eq, Rule::Optimum, cx)?;
        }
        self.slopes = slopes.moments().mean().transpose().to_owned();
        Ok(before - self.means(known))
    }
    /// The log density of the slopes, without $-\tfrac12\ln 2\pi$ an entry.
    pub(super) fn bound(&self) -> f64 {
        -0.5 * self.slopes.squared_norm_l2()
    }
    /// $A^\top A$, which a rotation turns with the rows.
    pub(super) fn second_moment(&self) -> SymPacked {
        polyview_linalg::gram(self.slopes.as_ref())
    }
    /// The factors were multiplied by `a` from the right.
    pub(super) fn transform(&mut self, a: MatRef<'_, f64>) {
        self.slopes = &self.slopes * a;
    }
    /// Keeps some factors, each times its sign.
    pub(super) fn select(&mut self, keep: &[usize], signs: &[f64]) {
        let old = &self.slopes;
        self.slopes = Mat::from_fn(old.nrows(), keep.len(), |q, j| signs[j] * old[(q, keep[j])]);
    }
    /// Draws the slopes from their prior.
    pub(super) fn draw_prior(&mut self, key: polyview_random::StreamKey) {
        let rng = &mut key.rng();
        let (covariates, k) = self.slopes.shape();
        let mut drawn = vec![0.0; covariates * k];
        polyview_random::fill_standard_normal(rng, &mut drawn);
        self.slopes = Mat::from_fn(covariates, k, |q, j| drawn[q * k + j]);
    }
}
