//! Which groups new samples belong to.

use polyview_core::{Dataset, Groups, RowGroups};

use crate::assemble::several;
use crate::error::{ErrorKind, Result};
use crate::fit::{Component, Fit};

/// Which groups new samples belong to, where the model looks at groups.
pub(super) enum Placing {
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
    /// That of the samples of `data` under the model of `fit`.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownGroup`].
    pub(super) fn new(fit: &Fit, data: &Dataset, notes: &mut Vec<String>) -> Result<Self> {
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
    /// How many ways there are to place the samples.
    pub(super) fn count(&self) -> usize {
        match self {
            Self::AsFitted | Self::Known(_) => 1,
            Self::Any { groups, .. } => *groups,
        }
    }
    /// Places the samples of a component in the way of that number.
    pub(super) fn place(&self, way: usize, component: &mut Component) -> Result<()> {
        match self {
            Self::AsFitted => {}
            Self::Known(groups) => component.place(groups),
            Self::Any { samples, groups } => {
                let all = RowGroups::new(vec![way as u32; *samples], *groups)?;
                component.place(&all);
            }
        }
        Ok(())
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
