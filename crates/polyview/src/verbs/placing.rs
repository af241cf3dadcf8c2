//! Which groups new samples belong to.

use polyview_core::{Dataset, Groups, Journal, RowGroups, View};
use polyview_linalg::Mat;

use super::components;
use super::latent::{self, Located};
use super::project::WeightUncertainty;

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
        /// The group of each sample; of those that have none nobody knows: any of the model's, as likely as
        /// their data make it.
        samples: Vec<Option<u32>>,
        /// Number of groups.
        groups: usize,
        /// Logarithms of the shares of the training samples that the groups have.
        ln_shares: Vec<f64>,
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
            Grouping::Of {
                samples, groups, ..
            } if samples.contains(&None) => *groups,
            Grouping::AsFitted | Grouping::Of { .. } => 1,
        }
    }
    /// Places the samples of a component in the way of that number.
    pub(super) fn place(&self, way: usize, component: &mut Component) -> Result<()> {
        component.known.clone_from(&self.known);
        if let Grouping::Of {
            samples, groups, ..
        } = &self.groups
        {
            let of_sample = samples.iter().map(|g| g.unwrap_or(way as u32));
            component.place(&RowGroups::new(of_sample.collect(), *groups)?);
        }
        Ok(())
    }
    /// The same with each sample of which nobody knows the group in the one that its data make most likely, on average over
    /// the components of the posterior.
    ///
    /// # Errors
    /// As [`latent::factors`].
    pub(super) fn most_likely(
        self,
        fit: &Fit,
        (views, ids): (&[Option<View>], &[String]),
        weights: WeightUncertainty,
        journal: &mut Journal,
    ) -> Result<Self> {
        let ways = self.count();
        if ways == 1 {
            return Ok(self);
        }
        let mut likely = vec![vec![0.0; ids.len()]; ways];
        for i in 0..fit.n_components() {
            let mut bounds = Vec::new();
            for way in 0..ways {
                let mut component = fit.component(i)?;
                self.place(way, &mut component)?;
                let how = latent::usual(weights);
                let found = latent::factors(fit, &component, views, ids, how, journal)?;
                let alone = || fit.component(i);
                bounds.push(self.bounds((fit, way), alone, (views, &found), weights)?);
            }
            for (all, own) in likely.iter_mut().zip(shares(&bounds, ids.len())) {
                for (all, own) in all.iter_mut().zip(own) {
                    *all += own;
                }
            }
        }
        let Self { groups, known } = self;
        let groups = match groups {
            Grouping::AsFitted => Grouping::AsFitted,
            Grouping::Of {
                samples,
                groups,
                ln_shares,
            } => {
                let most = |n: usize| {
                    (1..ways).fold(0, |best, g| {
                        if likely[g][n] > likely[best][n] {
                            g
                        } else {
                            best
                        }
                    })
                };
                let told = samples.iter().enumerate();
                Grouping::Of {
                    samples: told.map(|(n, g)| g.or(Some(most(n) as u32))).collect(),
                    groups,
                    ln_shares,
                }
            }
        };
        Ok(Self { groups, known })
    }
    /// What the bound says, under the way of that number, of each sample of which nobody knows the group
    /// ([`latent::bounds`]), and how many of the training samples are of that group, nats; 0 of the others, and nothing where there is one way. `alone` is the component anew.
    ///
    /// # Errors
    /// As [`latent::factors`].
    pub(super) fn bounds(
        &self,
        (fit, way): (&Fit, usize),
        alone: impl FnOnce() -> Result<Component>,
        (views, found): (&[Option<View>], &Located),
        weights: WeightUncertainty,
    ) -> Result<Vec<f64>> {
        let Grouping::Of {
            samples,
            groups,
            ln_shares,
        } = &self.groups
        else {
            return Ok(Vec::new());
        };
        let open: Vec<usize> = (0..samples.len())
            .filter(|n| samples[*n].is_none())
            .collect();
        if open.is_empty() {
            return Ok(Vec::new());
        }
        let mut alone = alone()?;
        alone.known.clone_from(&self.known);
        alone.place(&RowGroups::new(vec![way as u32], *groups)?);
        let known = latent::bounds(fit, &alone, views, found, weights, &open)?;
        let mut out = vec![0.0; samples.len()];
        for (n, bound) in open.into_iter().zip(known) {
            out[n] = bound + ln_shares[way];
        }
        Ok(out)
    }
}

/// The share of each way in each sample, from what the bound says of the sample under each
/// ([`Placing::bounds`]): $q(g)\propto e^{L\_g}$, each being as likely as its share of the training samples before its data are seen. One way has it all.
pub(super) fn shares(bounds: &[Vec<f64>], samples: usize) -> Vec<Vec<f64>> {
    if bounds.len() < 2 {
        return vec![vec![1.0; samples]; bounds.len()];
    }
    // what is no number says nothing
    let known = |x: f64| if x.is_finite() { x } else { f64::MIN };
    let mut logs = Mat::from_fn(samples, bounds.len(), |n, way| known(bounds[way][n]));
    components::normalise(&mut logs);
    let of_way = |way: usize| logs.col_as_slice(way).to_vec();
    (0..bounds.len()).map(of_way).collect()
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
                "{who}: each is of any of the model's {groups} groups, as likely as its data make it"
            ));
        }
        let shares = RowGroups::from(known).shares();
        Ok(Self::Of {
            samples,
            groups,
            ln_shares: shares.into_iter().map(f64::ln).collect(),
        })
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
