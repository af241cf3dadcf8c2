//! Regularised bagged CCA: bag, test, project (spec/thesis 4).

use crate::centre::{Standard, class_indicators, class_sizes, same};
use crate::guided::GuidedPath;
use crate::{Bagging, BaggingOptions, Balance, Guided, Metric, MvaError, Representer, dual};
use polyview_linalg::{Mat, MatRef};

/// Which features the second stage sees (spec/thesis 4.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Selection {
    /// Those that pass the test for any class.
    #[default]
    Test,
    /// So many of the most relevant ones ([`Bagging::ranking`]); all where there are fewer.
    Most(usize),
    /// All.
    All,
}

/// Choices of [`RbCca::fit`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RbCcaOptions {
    /// Number of bags of each class.
    pub bags: usize,
    /// Share of samples in a bag.
    pub share: f64,
    /// Two-sided level of the test that selects features.
    pub level: f64,
    /// Ridge $\lambda\_1$ of the dual CCA that is bagged; none for the square of the mean eigenvalue of the kernel
    /// of the standardised features, $(\mathrm{tr}K/N)^2$: an eigenvalue k counts by $k/(k^2 + \lambda\_1)$, and those far below the mean,
    /// of which there are many where features are about as many as samples, are chance.
    pub ridge: Option<f64>,
    /// Penalty $\lambda$ of the relevance-regularised CCA; [`RbCca::tuned`] chooses it.
    pub penalty: f64,
    /// Which features are kept.
    pub selection: Selection,
    /// Components, 1 to classes - 1; none for all of them.
    pub components: Option<usize>,
    /// How classes count, in the bags too.
    pub balance: Balance,
    /// Directions of the second stage.
    pub representer: Representer,
    /// Seed of the bags.
    pub seed: u64,
}

impl Default for RbCcaOptions {
    /// A thousand bags of half the samples, level .01, a ridge by the kernel, the penalty 1, classes alike.
    fn default() -> Self {
        Self {
            bags: 1000,
            share: 0.5,
            level: 0.01,
            ridge: None,
            penalty: 1.0,
            selection: Selection::default(),
            components: None,
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
    standard: Standard,
    bagging: Bagging,
    by_class: Vec<Vec<usize>>,
    selected: Vec<usize>,
    guided: Guided,
}

impl RbCca {
    /// Fits all stages: features are standardised (constant ones stay 0), one dual CCA gives weights of samples, bags
    /// within classes say which features keep their sign, features are selected, and a dual CCA on the selected features
    /// penalises those of little relevance. Classes are numbered from 0 without gaps.
    ///
    /// # Errors
    /// [`MvaError`] of the data and options, [`MvaError::NoVariance`] where no feature varies,
    /// [`MvaError::NothingSelected`] where no feature passes the test.
    pub fn fit(
        x: MatRef<'_, f64>,
        labels: &[usize],
        options: &RbCcaOptions,
    ) -> Result<Self, MvaError> {
        let stage = Relevance::of(x, labels, options)?;
        let selected = stage.selected(options.selection)?;
        let guided = stage
            .path(labels, &selected, options)?
            .at(stage.components(options)?, options.penalty)?;
        Ok(Self {
            standard: stage.standard,
            bagging: stage.bagging,
            by_class: stage.by_class,
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

    /// Means and standard deviations of all features.
    pub fn standard(&self) -> &Standard {
        &self.standard
    }

    /// Directions in all standardised features, features $\times$ components; 0 of those that are not selected.
    pub fn directions(&self) -> Mat<f64> {
        let some = self.guided.projection.directions();
        let mut all = Mat::zeros(self.standard.mean().len(), some.ncols());
        for (i, &d) in self.selected.iter().enumerate() {
            for k in 0..some.ncols() {
                all[(d, k)] = some[(i, k)];
            }
        }
        all
    }

    /// Summary components of samples in all features, $N \times (C - 1)$; also of new samples.
    ///
    /// # Errors
    /// [`MvaError::Shape`], [`MvaError::NotFinite`].
    pub fn project(&self, x: MatRef<'_, f64>) -> Result<Mat<f64>, MvaError> {
        let x = self.standard.apply(x)?;
        let some = columns(x.as_ref(), &self.selected);
        self.guided.projection.project(some.as_ref())
    }
}

/// The first stage: standardised features, and what bags say of them. It knows no penalty of the second.
pub(crate) struct Relevance {
    pub(crate) standard: Standard,
    x: Mat<f64>,
    bagging: Bagging,
    by_class: Vec<Vec<usize>>,
    level: f64,
}

impl Relevance {
    pub(crate) fn of(
        x: MatRef<'_, f64>,
        labels: &[usize],
        options: &RbCcaOptions,
    ) -> Result<Self, MvaError> {
        same("labels", x.nrows(), labels.len())?;
        let classes = class_sizes(labels, 2)?.len();
        let standard = Standard::learn(x)?;
        let x = standard.apply(x)?;
        let y = class_indicators(labels, classes)?;
        let first = dual(
            x.as_ref(),
            y.as_ref(),
            classes - 1,
            Metric::Correlation,
            options
                .ridge
                .unwrap_or_else(|| mean_eigenvalue(x.as_ref()).powi(2)),
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
        Ok(Self {
            standard,
            x,
            bagging,
            by_class,
            level: options.level,
        })
    }

    /// Components of the second stage.
    pub(crate) fn components(&self, options: &RbCcaOptions) -> Result<usize, MvaError> {
        let most = self.bagging.classes() - 1;
        let asked = options.components.unwrap_or(most);
        if (1..=most).contains(&asked) {
            return Ok(asked);
        }
        Err(MvaError::Components { asked, most })
    }

    /// The features of a selection, ascending.
    pub(crate) fn selected(&self, selection: Selection) -> Result<Vec<usize>, MvaError> {
        let all = self.bagging.features();
        let selected: Vec<usize> = match selection {
            Selection::All => (0..all).collect(),
            Selection::Most(count) => {
                let mut first = self.bagging.ranking();
                first.truncate(count);
                first.sort_unstable();
                first
            }
            Selection::Test => {
                let mut chosen = vec![false; all];
                let passed = self.by_class.iter().flatten();
                passed.for_each(|d| chosen[*d] = true);
                (0..all).filter(|d| chosen[*d]).collect()
            }
        };
        if selected.is_empty() {
            return Err(match selection {
                Selection::Test => MvaError::NothingSelected { level: self.level },
                _ => MvaError::Empty {
                    what: "the selection of features",
                },
            });
        }
        Ok(selected)
    }

    /// The second stage on selected features, for any penalty.
    pub(crate) fn path(
        &self,
        labels: &[usize],
        selected: &[usize],
        options: &RbCcaOptions,
    ) -> Result<GuidedPath, MvaError> {
        let all = self.bagging.penalties();
        let penalties: Vec<f64> = selected.iter().map(|d| all[*d]).collect();
        GuidedPath::new(
            self.columns(selected).as_ref(),
            labels,
            &penalties,
            options.balance,
            options.representer,
        )
    }

    /// The training samples in selected standardised features.
    pub(crate) fn columns(&self, selected: &[usize]) -> Mat<f64> {
        columns(self.x.as_ref(), selected)
    }
}

/// That of the kernel of these samples, $\mathrm{tr}(XX^\top)/N$.
fn mean_eigenvalue(x: MatRef<'_, f64>) -> f64 {
    x.squared_norm_l2() / x.nrows() as f64
}

/// Some columns of a table.
pub(crate) fn columns(x: MatRef<'_, f64>, of: &[usize]) -> Mat<f64> {
    Mat::from_fn(x.nrows(), of.len(), |i, j| x[(i, of[j])])
}
