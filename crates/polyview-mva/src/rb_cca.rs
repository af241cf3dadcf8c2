//! Regularised bagged CCA: bag, test, project (spec/thesis 4).

use crate::centre::{centred, class_indicators, class_sizes, same};
use crate::{
    Bagging, BaggingOptions, Balance, Guided, GuidedOptions, Metric, MvaError, Representer, dual,
    guided,
};
use polyview_linalg::{Mat, MatRef};

/// Choices of [`RbCca::fit`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RbCcaOptions {
    /// Number of bags of each class.
    pub bags: usize,
    /// Share of samples in a bag.
    pub share: f64,
    /// Two-sided level of the test that selects features.
    pub level: f64,
    /// Ridge $\lambda\_1$ of the dual CCA that is bagged.
    pub ridge: f64,
    /// Penalty $\lambda$ of the relevance-regularised CCA; to be cross-validated.
    pub penalty: f64,
    /// How classes count, in the bags too.
    pub balance: Balance,
    /// Directions of the second stage.
    pub representer: Representer,
    /// Seed of the bags.
    pub seed: u64,
}

impl Default for RbCcaOptions {
    /// A thousand bags of half the samples, level .01, both penalties 1, classes alike.
    fn default() -> Self {
        Self {
            bags: 1000,
            share: 0.5,
            level: 0.01,
            ridge: 1.0,
            penalty: 1.0,
            balance: Balance::default(),
            representer: Representer::default(),
            seed: 0,
        }
    }
}

/// Regularised bagged CCA of features and classes: the features whose sign is stable within classes, and the summary
/// components of them that tell classes apart.
#[derive(Debug, Clone, PartialEq)]
pub struct RbCca {
    mean: Vec<f64>,
    scale: Vec<f64>,
    bagging: Bagging,
    by_class: Vec<Vec<usize>>,
    selected: Vec<usize>,
    guided: Guided,
}

impl RbCca {
    /// Fits all stages: features are standardised (constant ones stay 0), one dual CCA gives weights of samples, bags
    /// within classes say which features keep their sign, a test selects, and a dual CCA on the selected features
    /// penalises those of little relevance. Classes are numbered from 0 without gaps.
    ///
    /// # Errors
    /// [`MvaError`] of the data and options, [`MvaError::NothingSelected`] where no feature passes the test.
    pub fn fit(
        x: MatRef<'_, f64>,
        labels: &[usize],
        options: &RbCcaOptions,
    ) -> Result<Self, MvaError> {
        same("labels", x.nrows(), labels.len())?;
        let classes = class_sizes(labels, 2)?.len();
        let (x, mean, scale) = standardised(x)?;
        let y = class_indicators(labels, classes)?;
        let components = classes - 1;
        let first = dual(
            x.as_ref(),
            y.as_ref(),
            components,
            Metric::Correlation,
            options.ridge,
        )?;
        let bagging = Bagging::run(
            x.as_ref(),
            first.weights.as_ref(),
            labels,
            &BaggingOptions {
                bags: options.bags,
                share: options.share,
                balanced: options.balance != Balance::Samples,
                seed: options.seed,
            },
        )?;
        let by_class = bagging.select(options.level)?;
        let mut chosen = vec![false; x.ncols()];
        by_class.iter().flatten().for_each(|d| chosen[*d] = true);
        let selected: Vec<usize> = (0..x.ncols()).filter(|d| chosen[*d]).collect();
        if selected.is_empty() {
            return Err(MvaError::NothingSelected {
                level: options.level,
            });
        }
        let all = bagging.penalties();
        let penalties: Vec<f64> = selected.iter().map(|d| all[*d]).collect();
        let guided = guided(
            columns(x.as_ref(), &selected).as_ref(),
            labels,
            &penalties,
            &GuidedOptions {
                components,
                penalty: options.penalty,
                balance: options.balance,
                representer: options.representer,
            },
        )?;
        Ok(Self {
            mean,
            scale,
            bagging,
            by_class,
            selected,
            guided,
        })
    }

    /// What the bags say of every feature.
    pub fn bagging(&self) -> &Bagging {
        &self.bagging
    }

    /// Features selected for a class.
    pub fn selected_for(&self, class: usize) -> Option<&[usize]> {
        self.by_class.get(class).map(Vec::as_slice)
    }

    /// Features selected for any class, ascending.
    pub fn selected(&self) -> &[usize] {
        &self.selected
    }

    /// The second stage, on the selected standardised features.
    pub fn guided(&self) -> &Guided {
        &self.guided
    }

    /// Summary components of samples in all features, $N \times (C - 1)$; also of new samples.
    ///
    /// # Errors
    /// [`MvaError::Shape`], [`MvaError::NotFinite`].
    pub fn project(&self, x: MatRef<'_, f64>) -> Result<Mat<f64>, MvaError> {
        same("features of the new samples", self.scale.len(), x.ncols())?;
        let some = Mat::from_fn(x.nrows(), self.selected.len(), |n, j| {
            let d = self.selected[j];
            (x[(n, d)] - self.mean[d]) / self.scale[d]
        });
        self.guided.projection.project(some.as_ref())
    }
}

/// Features about their means over their standard deviations, 1 for constant ones; and both.
fn standardised(x: MatRef<'_, f64>) -> Result<(Mat<f64>, Vec<f64>, Vec<f64>), MvaError> {
    let (mut x, mean) = centred("the data", x)?;
    let n = x.nrows() as f64;
    let mut scale = Vec::with_capacity(mean.len());
    for (d, mean) in mean.iter().enumerate() {
        let column = x.col_as_slice_mut(d);
        let sd = (column.iter().map(|v| v * v).sum::<f64>() / n).sqrt();
        // what rounding leaves of a constant
        let sd = if sd <= 1e-12 * mean.abs() { 1.0 } else { sd };
        for v in column {
            *v /= sd;
        }
        scale.push(sd);
    }
    Ok((x, mean, scale))
}

fn columns(x: MatRef<'_, f64>, of: &[usize]) -> Mat<f64> {
    Mat::from_fn(x.nrows(), of.len(), |i, j| x[(i, of[j])])
}
