//! How strongly each factor acts in each group of samples.

use polyview_core::{RowContext, RowGroups, RowMoments};
use polyview_linalg::Mat;

use crate::assemble::several;
use crate::error::Result;
use crate::fit::Fit;

/// How strongly each factor acts in each group of samples.
#[derive(Clone, Debug)]
pub struct GroupActivity {
    /// Names of the groups; one without a name where the fit has no groups.
    pub groups: Vec<String>,
    /// Mean of $\langle z\_{nk}^2\rangle$ over the samples of each group, groups
    /// × K. Only ratios within a factor mean something.
    pub mean_square: Mat<f64>,
    /// Expected prior variance $1/\langle\alpha^g\_k\rangle$ (times
    /// $\langle\theta^g\_k\rangle$ for sparse factors), groups × K; `None` for
    /// standard normal factors.
    pub prior_variance: Option<Mat<f64>>,
}

impl GroupActivity {
    /// The mean squares of each factor relative to its largest over the groups,
    /// groups × K.
    pub fn relative(&self) -> Mat<f64> {
        let (groups, k) = (self.mean_square.nrows(), self.mean_square.ncols());
        Mat::from_fn(groups, k, |g, j| {
            let largest = (0..groups).fold(0.0, |m: f64, h| m.max(self.mean_square[(h, j)]));
            if largest > 0.0 {
                self.mean_square[(g, j)] / largest
            } else {
                0.0
            }
        })
    }
}

impl Fit {
    /// How strongly each factor acts in each group of samples: its mean square
    /// there, and what its prior has learnt of it
    /// ([`FactorPrior`](crate::FactorPrior)). Over Gibbs draws both are means.
    ///
    /// # Errors
    /// When a component's state is damaged.
    pub fn group_activity(&self) -> Result<GroupActivity> {
        let n = self.samples().len();
        let several = several(self.groups());
        let rows = several.map_or_else(|| RowGroups::one(n), RowGroups::from);
        let names = match self.groups() {
            Some(groups) if !groups.names.is_empty() => groups.names.clone(),
            _ => vec![String::new()],
        };
        let (count, k) = (rows.count(), self.k());
        let share = 1.0 / self.n_components().max(1) as f64;
        let mut mean_square: Mat<f64> = Mat::zeros(count, k);
        let mut prior: Mat<f64> = Mat::zeros(count, k);
        let mut learnt = false;
        let each = RowGroups::new((0..count as u32).collect(), count)?;
        let start = RowMoments::point(Mat::zeros(count, k));
        for i in 0..self.n_components() {
            let component = self.component(i)?;
            let squares = component.factors().group_squares(&rows);
            // a row of each group, which need not have samples: its prior is what is asked for, about whatever
            // covariates and offsets say
            let known = component.factors.known();
            let known = known.map(|known| Mat::zeros(count, known.ncols()));
            let cx = RowContext::new(&each).with_known(known.as_ref().map(Mat::as_ref));
            let of_groups = component.factors.for_rows(&cx, start.clone())?;
            learnt |= of_groups.learns();
            for j in 0..k {
                for g in 0..count {
                    let size = rows.sizes()[g].max(1.0);
                    mean_square[(g, j)] += share * squares[(g, j)] / size;
                    prior[(g, j)] += share * of_groups.prior_variance(g, j);
                }
            }
        }
        Ok(GroupActivity {
            groups: names,
            mean_square,
            prior_variance: learnt.then_some(prior),
        })
    }
}
