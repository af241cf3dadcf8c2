//! Automatic relevance determination by groups of rows.

mod species;

pub use species::GroupArdSpecies;

use polyview_core::{
    GammaPrior, Gammas, NumericError, PrecisionView, RotationSide, RotationTerm, RowContext,
    RowGroups, RowMoments, ScalePrior, State, StateReader, Stateful,
};
use polyview_linalg::MatRef;
use polyview_random::StreamKey;

use crate::rotation::{ColumnPenalty, ColumnRotation, RotationSum};

/// Automatic relevance determination by groups: $z\_{nk} \sim N\big(0,
/// 1/\alpha^{g(n)}\_k\big)$ with $\alpha^g\_k \sim \mathrm{Ga}(a\_0, b\_0)$
/// (shape, rate), one a group of rows and a factor (spec/mofa B.3).
///
/// $$q(\alpha^g\_k) = \mathrm{Ga}\Big(a\_0 + \tfrac12 N\_g,\ b\_0 + \tfrac12
/// \sum\_{n \in g}\langle z\_{nk}^2\rangle\Big)$$
///
/// (spec/mofa B.5, `AlphaZ`). A factor that does not act in a group gets a
/// large $\alpha^g\_k$ there. With ARD on the weights as well, the common scale
/// of a factor and its weights is fixed by the hyperpriors alone: ratios
/// between groups mean something, absolute values do not.
///
/// One group is [`Ard`](crate::Ard). Rows of one group share a covariance in
/// [`FullRows`](crate::FullRows) wherever their data precision is shared. With
/// several groups there are no implicit rows.
///
/// ```
/// use polyview_core::{Context, GammaPrior, Journal, RowBlock, RowGroups, RowMoments};
/// use polyview_linalg::Mat;
/// use polyview_priors::{FullRows, GroupArd};
/// use polyview_random::StreamKey;
///
/// // the second factor acts in the first ten samples only
/// let mean = Mat::from_fn(20, 2, |n, k| if k == 1 && n > 9 { 0.0 } else { (n % 3) as f64 - 1.0 });
/// let groups = RowGroups::new((0..20).map(|n| u32::from(n > 9)).collect(), 2)?;
/// let mut factors = FullRows::new("factors", GroupArd::new(GammaPrior::new(1e-3, 1e-3), groups, 2),
///     RowMoments::isotropic(mean, 1e-4, 0));
/// let mut cx = Context { key: StreamKey::new(1), sweep: 1, journal: &mut Journal::default() };
/// factors.learn(&mut cx)?;
/// let alpha = factors.prior().precisions(); // groups x factors
/// assert!(alpha[(1, 1)] > 1000.0 * alpha[(0, 1)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct GroupArd {
    groups: RowGroups,
    /// Variable of group g and column k at g + G k.
    alpha: Gammas,
}

impl GroupArd {
    /// K columns, started at precision 1.
    pub fn new(prior: GammaPrior, groups: RowGroups, k: usize) -> Self {
        Self {
            alpha: Gammas::new(prior, groups.count() * k, 1.0),
            groups,
        }
    }
    /// Expected precisions, groups × K, per squared working unit.
    pub fn precisions(&self) -> MatRef<'_, f64> {
        by_group(self.alpha.mean(), self.groups.count())
    }
    /// Which row belongs to which group.
    pub fn groups(&self) -> &RowGroups {
        &self.groups
    }
    /// The Gamma variables; that of group g and column k is number g + G k.
    pub fn gammas(&self) -> &Gammas {
        &self.alpha
    }
    /// Write access to the Gamma variables, for starts.
    pub fn gammas_mut(&mut self) -> &mut Gammas {
        &mut self.alpha
    }
    /// Prior precisions, one a column, for a row of a group that was not
    /// there: those of a row whose group is one of the known ones, each as
    /// likely, so that its variance is the mean of the groups' variances
    /// $1/\langle\alpha^g\_k\rangle$.
    pub fn precision_of_new_group(&self) -> Vec<f64> {
        let alpha = self.precisions();
        (0..alpha.ncols())
            .map(|k| {
                let variances: f64 = alpha.col(k).iter().map(|a| 1.0 / a).sum();
                alpha.nrows() as f64 / variances
            })
            .collect()
    }
    /// Number of rows that count for each group.
    fn sizes(&self, rows: &RowMoments) -> Vec<f64> {
        match self.groups.sizes() {
            [_] => vec![rows.rows() as f64],
            sizes => sizes.to_vec(),
        }
    }
    fn posterior(&self, rows: &RowMoments) -> Vec<(f64, f64)> {
        let (sizes, squares) = (self.sizes(rows), rows.group_squares(&self.groups));
        let mut out = Vec::with_capacity(self.alpha.len());
        for k in 0..squares.ncols() {
            for (g, n) in sizes.iter().enumerate() {
                out.push(self.alpha.posterior(0.5 * n, 0.5 * squares[(g, k)]));
            }
        }
        out
    }
}

/// Numbers by group and column as a matrix, groups × K.
pub(crate) fn by_group(values: &[f64], groups: usize) -> MatRef<'_, f64> {
    MatRef::from_column_major_slice(values, groups, values.len() / groups)
}

/// Places, in a list by group and column, of the columns `keep`.
pub(crate) fn places(keep: &[usize], groups: usize) -> Vec<usize> {
    keep.iter()
        .flat_map(|&k| k * groups..(k + 1) * groups)
        .collect()
}

impl ScalePrior for GroupArd {
    fn precision(&self) -> PrecisionView<'_> {
        PrecisionView::Groups {
            of_row: self.groups.of_row(),
            groups: self.precisions(),
        }
    }
    fn update(&mut self, rows: &RowMoments) {
        for (i, (a, b)) in self.posterior(rows).into_iter().enumerate() {
            self.alpha.set(i, a, b);
        }
    }
    fn draw(&mut self, rows: &RowMoments, key: StreamKey) {
        for (i, (a, b)) in self.posterior(rows).into_iter().enumerate() {
            self.alpha.draw(i, a, b, key.chunk(i as u32));
        }
    }
    fn draw_prior(&mut self, key: StreamKey) {
        let p = self.alpha.prior();
        for i in 0..self.alpha.len() {
            self.alpha.draw(i, p.shape, p.rate, key.chunk(i as u32));
        }
    }
    fn expected_log_density(&self, rows: &RowMoments) -> f64 {
        let (sizes, squares) = (self.sizes(rows), rows.group_squares(&self.groups));
        let count = sizes.len();
        (0..self.alpha.len())
            .map(|i| {
                let (g, k) = (i % count, i / count);
                0.5 * sizes[g] * self.alpha.mean_ln()[i]
                    - 0.5 * self.alpha.mean()[i] * squares[(g, k)]
            })
            .sum()
    }
    fn bound(&self) -> f64 {
        self.alpha.bound()
    }
    fn idle_column(&self, rows: &RowMoments) -> f64 {
        self.sizes(rows).iter().map(|n| self.alpha.idle(*n)).sum()
    }
    fn for_rows(&self, cx: &RowContext<'_>) -> Option<Self> {
        (cx.groups.count() == self.groups.count()).then(|| Self {
            groups: cx.groups.clone(),
            alpha: self.alpha.clone(),
        })
    }
    fn free(&self) -> Vec<f64> {
        self.alpha.free()
    }
    fn set_free(&mut self, values: &[f64]) {
        self.alpha.set_free(values);
    }
    /// The sum of the groups' terms, each with its own second moment.
    fn rotation_term(
        &self,
        rows: &RowMoments,
        side: RotationSide,
    ) -> Option<Box<dyn RotationTerm>> {
        let prior = self.alpha.prior();
        let sizes = self.sizes(rows);
        let terms = sizes
            .iter()
            .enumerate()
            .map(|(g, n)| {
                let members = (sizes.len() > 1).then(|| self.groups.members(g));
                let term = ColumnRotation::new(
                    *n as usize,
                    &rows.second_moment(members.as_deref()),
                    side,
                    ColumnPenalty::Gamma {
                        shape: prior.shape + 0.5 * n,
                        rate: prior.rate,
                    },
                );
                Box::new(term) as Box<dyn RotationTerm>
            })
            .collect();
        Some(Box::new(RotationSum(terms)))
    }
    fn select(&mut self, keep: &[usize]) {
        self.alpha.select(&places(keep, self.groups.count()));
    }
}

impl Stateful for GroupArd {
    fn save(&self, prefix: &str, state: &mut State) {
        self.groups.save(&format!("{prefix}/groups"), state);
        self.alpha.save(&format!("{prefix}/alpha"), state);
    }
    fn load(&mut self, prefix: &str, state: &StateReader<'_>) -> Result<(), NumericError> {
        self.groups = RowGroups::load(&format!("{prefix}/groups"), state)?;
        self.alpha.load(&format!("{prefix}/alpha"), state)?;
        if self.alpha.len().is_multiple_of(self.groups.count()) {
            Ok(())
        } else {
            Err(NumericError::BadState {
                name: format!("{prefix}/alpha"),
            })
        }
    }
}
