//! Which groups new samples belong to.

use polyview_core::{Dataset, Groups, RowGroups};
use polyview_linalg::Mat;

use crate::assemble::several;
use crate::error::{ErrorKind, Result};
use crate::fit::{Component, Fit};

/// What is known of samples beside their data: their groups, covariates and offsets.
pub(super) struct Placing {
    groups: Grouping,
    /// Covariates and offsets of new samples, samples × columns.
    known: Option<Mat<f64>>,
}

/// Which groups new samples belong to, where the model looks at groups.
enum Grouping {
    /// The samples are those of the fit, or the model does not look at groups.
    AsFitted,
    /// These.
    Known(RowGroups),
    /// Nobody knows: any of the model's, each as likely, all samples together.
    Any {
        /// Number of samples.
        samples: usize,
        /// Number of groups.
        groups: usize,
    },
}

impl Placing {
    /// The samples are those of the fit.
    pub(super) fn as_fitted() -> Self {
        Self {
            groups: Grouping::AsFitted,
            known: None,
        }
    }
    /// That of the samples of `data` under the model of `fit`; the data of the view `hidden` are
    /// not to be looked at.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownGroup`]; of covariates and offsets what
    /// [`Adjustment::of`](crate::adjust::Adjustment::of) says.
    pub(super) fn new(
        fit: &Fit,
        data: &Dataset,
        hidden: Option<usize>,
        notes: &mut Vec<String>,
    ) -> Result<Self> {
        let hidden = hidden.map(|at| fit.views()[at].name.as_str());
        let adjustment = fit.composed.adjustment.as_ref();
        let known = adjustment.map(|a| a.of(data, fit.views(), hidden, notes));
        Ok(Self {
            known: known.transpose()?,
            groups: Grouping::new(fit, data, notes)?,
        })
    }
    /// How many ways there are to place the samples.
    pub(super) fn count(&self) -> usize {
        match &self.groups {
            Grouping::AsFitted | Grouping::Known(_) => 1,
            Grouping::Any { groups, .. } => *groups,
        }
    }
    /// Places the samples of a component in the way of that number.
    pub(super) fn place(&self, way: usize, component: &mut Component) -> Result<()> {
        component.known.clone_from(&self.known);
        match &self.groups {
            Grouping::AsFitted => {}
            Grouping::Known(groups) => component.place(groups),
            Grouping::Any { samples, groups } => {
                let all = RowGroups::new(vec![way as u32; *samples], *groups)?;
                component.place(&all);
            }
        }
        Ok(())
    }
}

impl Grouping {
    fn new(fit: &Fit, data: &Dataset, notes: &mut Vec<String>) -> Result<Self> {
        let Some(known) = several(fit.groups()).filter(|_| fit.composed.knows_groups()) else {
            return Ok(Self::AsFitted);
        };
        let Some(given) = data.groups() else {
            notes.push(format!(
                "the samples have no groups: each is taken to be of any of the model's {} \
                 groups, all as likely",
                known.names.len()
            ));
            return Ok(Self::Any {
                samples: data.n_samples(),
                groups: known.names.len(),
            });
        };
        Ok(Self::Known(matched(known, given)?))
    }
}

/// Groups in the model's numbers.
fn matched(known: &Groups, given: &Groups) -> Result<RowGroups> {
    let mut numbers = Vec::with_capacity(given.names.len());
    for name in &given.names {
        match known.names.iter().position(|n| n == name) {
            Some(g) => numbers.push(g as u32),
            None => {
                return Err(ErrorKind::UnknownGroup {
                    group: name.clone(),
                    known: known.names.clone(),
                }
                .into());
            }
        }
    }
    let of_sample = given.of_sample.iter().map(|&g| numbers[g as usize]);
    Ok(RowGroups::new(of_sample.collect(), known.names.len())?)
}
