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
    Of {
        /// The group of each sample; of those that have none nobody knows: any of the model's,
        /// each as likely.
        samples: Vec<Option<u32>>,
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
    /// The group of each sample, `None` where nobody knows it; nothing where the model does not
    /// look at groups.
    pub(super) fn groups(&self) -> Option<&[Option<u32>]> {
        match &self.groups {
            Grouping::Of { samples, .. } => Some(samples),
            Grouping::AsFitted => None,
        }
    }
    /// How many ways there are to place the samples.
    pub(super) fn count(&self) -> usize {
        match &self.groups {
            Grouping::Of { samples, groups } if samples.contains(&None) => *groups,
            Grouping::AsFitted | Grouping::Of { .. } => 1,
        }
    }
    /// Places the samples of a component in the way of that number.
    pub(super) fn place(&self, way: usize, component: &mut Component) -> Result<()> {
        component.known.clone_from(&self.known);
        if let Grouping::Of { samples, groups } = &self.groups {
            let of_sample = samples.iter().map(|g| g.unwrap_or(way as u32));
            component.place(&RowGroups::new(of_sample.collect(), *groups)?);
        }
        Ok(())
    }
}

impl Grouping {
    fn new(fit: &Fit, data: &Dataset, notes: &mut Vec<String>) -> Result<Self> {
        let Some(known) = several(fit.groups()).filter(|_| fit.looks_at_groups()) else {
            return Ok(Self::AsFitted);
        };
        let groups = known.names.len();
        let samples = match data.groups() {
            Some(given) => matched(known, given)?,
            None => vec![None; data.n_samples()],
        };
        let mut without = (samples.iter().zip(data.samples())).filter(|(g, _)| g.is_none());
        if let Some((_, first)) = without.next() {
            let who = match 1 + without.count() {
                n if n == samples.len() => "the samples have no groups".to_owned(),
                n => format!("{n} sample(s) have no group, first '{first}'"),
            };
            notes.push(format!(
                "{who}: each is taken to be of any of the model's {groups} groups, all as likely"
            ));
        }
        Ok(Self::Of { samples, groups })
    }
}

/// Groups in the model's numbers.
fn matched(known: &Groups, given: &Groups) -> Result<Vec<Option<u32>>> {
    let number = |name: &String| match known.names.iter().position(|n| n == name) {
        Some(g) => Ok(Some(g as u32)),
        None if name == Groups::ANY => Ok(None),
        None => Err(ErrorKind::UnknownGroup {
            group: name.clone(),
            known: known.names.clone(),
        }),
    };
    let numbers = given.names.iter().map(number);
    let numbers = numbers.collect::<std::result::Result<Vec<_>, _>>()?;
    let of_sample = given.of_sample.iter();
    Ok(of_sample.map(|&g| numbers[g as usize]).collect())
}
