//! Variance explained by view and factor.

mod deviance;
mod pairs;
mod posterior;
mod ranks;
mod sums;
mod zero;

use std::ops::Range;

use polyview_core::{Dataset, Groups, Journal, UnknownClass, View};
use polyview_linalg::Mat;

use super::align::Aligned;
use super::latent;
use super::project::WeightUncertainty;
use crate::adjust::Adjustment;
use crate::assemble::several;
use crate::error::{ErrorKind, Result};
use crate::fit::Fit;
use crate::metrics::explained;
use deviance::column_blocks;
use posterior::{Draw, Posterior};
use ranks::MeanLink;
use sums::Sums;

/// Shares of variance explained, by view and factor. 0.25 is a quarter.
///
/// With $F\_k$ the posterior mean of what factor k adds to a view, samples ×
/// features, $X$ the data, and $\\|\cdot\\|$ the sum of squares over the
/// observed cells **about each feature's mean over them**, in working units
/// (so that every feature weighs as it does in the fit),
///
/// $$ R^2(S) = 1 - \\|X - \textstyle\sum\_{k\in S} F\_k\\|^2 / \\|X\\|^2 . $$
///
/// * marginal: $R^2(\\{k\\})$, what factor k explains alone;
/// * unique: $R^2(\text{all}) - R^2(\text{all but } k)$, what is lost without
///   it;
/// * total: $R^2(\text{all})$.
///
/// **They add up**, exactly, whatever the missing cells: with $s = \sum\_{k\ne
/// l} \langle F\_k, F\_l\rangle / \\|X\\|^2$, the overlap of the factors,
///
/// $$ \sum\_k \text{unique}\_k + s = \text{total} = \sum\_k
/// \text{marginal}\_k - s . $$
///
/// So the total lies midway between the two sums. Factors that do not overlap
/// ($s = 0$: uncorrelated, or acting on different features) have equal
/// marginal and unique shares; where they overlap in the same direction ($s >
/// 0$) the unique shares add up to less than the total and the marginal ones
/// to more.
///
/// **Labels** have no variance of their own that a factor could explain: for
/// binary and categorical views $X$ is the latent score, the linear predictor
/// and the variance of its link ($\pi^2/3$ an observed cell for the logistic
/// function, 1 for the probit, and that of a noisy score). Total is then the
/// $R^2$ of McKelvey and Zavoina (1975), and all of the above holds. **Counts**
/// are treated alike, with the variance that they have around their mean as
/// the predictor sees it. A predictor has no unit of the data, and that of a gene which
/// is hardly ever read has a link of enormous variance: **features count alike** here, ordered levels
/// too, by their observed cells, so that a feature which says nothing hides no other. The classes of
/// a categorical view are one feature.
///
/// Where the components of a mixture have **weights of their own**, each sample has those of
/// its components, by their probabilities: what a factor adds in one of them and takes
/// away in another is explained in both.
///
/// **Ranks** are seen through their normal scores, whose regression on the linear
/// predictor says how much of each feature is explained: $X$ is the predictor in
/// units of normal scores of unit variance and the variance that these have about
/// it. Each feature's share is then the squared correlation of normal scores and
/// predictor, and **features count alike**, whatever the unit of their predictors.
/// Those that do not vary in training, or were never observed, count for nothing.
///
/// On the scale of the data there is the **deviance** $D = 2\sum(\ln p(x\mid x) -
/// \ln p(x\mid\hat x))$ of labels and counts from what they are expected to be
/// at the means of factors, weights and intercepts: of its value when
/// intercepts alone are fitted (each feature's mean) the share that goes.
///
/// **In views whose intercepts are by group** of samples, so are the means that
/// all of this is about: what intercepts explain is not for the factors to
/// explain. Ranks have no intercepts, so their means are over all samples.
/// Samples that nobody knows the group of are taken together.
///
/// **Similarities** are seen through the latent rows of the samples: $X$ is the linear predictor
/// of these and the variance that they have about it. Of the similarities $s$ themselves, of each known
/// pair of samples once, there is the share $1 - \sum (s - \hat s)^2 / \sum (s - \bar s)^2$,
/// where $\hat s$ is the product of the rows that factors and intercepts alone expect of the two samples, and $\bar
/// s$ the mean of all pairs: what latent rows leave the factors by is not explained here either. It is
/// no number between the shares of the rows and 1: a fit whose rows are explained well and whose similarities
/// vary by noise explains little of these.
///
/// **Of numbers that a fit has no means of**, as neither centring nor intercepts take them, factors explain the
/// squares about zero. Shares about means stay what they are, as in every other view and every $R^2$ of unseen cells, and that
/// of the squares about zero stands beside them: far apart they say that factors hold the means.
///
/// **Covariates and offsets** have shares of their own, apart from those of the factors: $R^2$ of
/// all columns of a kind together. What is lost without a factor is then what factors,
/// covariates and offsets together lose, since a factor may well take away what an offset adds
/// too much; the unique shares add up to less than in the equation above, by twice the overlap
/// of the factors with what stands beside them.
///
/// Nothing is clipped: a negative share says that the factor does worse than
/// the feature means. `NaN` says that a view does not vary, or that its labels are repeated by the
/// clusters of a mixture, which explains nothing of them (a note says so).
#[derive(Clone, Debug)]
pub struct Explained {
    /// Names of the views, one a row of the matrices.
    pub views: Vec<String>,
    /// Number of factors K.
    pub factors: usize,
    /// Share that each factor explains alone, views × K.
    pub marginal: Mat<f64>,
    /// Share that is lost without each factor, of what factors, covariates and offsets explain
    /// together, views × K.
    pub unique: Mat<f64>,
    /// Share that all factors explain together, one a view.
    pub total: Vec<f64>,
    /// Share of the deviance that all factors explain together, one a view;
    /// `NaN` for real numbers, whose share of variance it is, for ranks, and where something that
    /// is expected is no finite number.
    pub deviance: Vec<f64>,
    /// The first feature of which counts are expected that are no finite number, so that the view
    /// has no deviance; one a view.
    pub infinite: Vec<Option<String>>,
    /// Share of the similarities themselves that the factors explain together, with covariates where
    /// there are such; one a view, `NaN` in views that are not of similarities.
    pub similarities: Vec<f64>,
    /// Share of the squares about zero that all factors explain together, one a view: of numbers that the
    /// fit has no means of, and else `NaN`.
    pub about_zero: Vec<f64>,
    /// Overlap of the factors $s$, one a view.
    pub shared: Vec<f64>,
    /// Share that the covariates explain alone, one a view; none in a fit without covariates and
    /// offsets.
    pub covariates: Vec<f64>,
    /// Share that the offset explains alone, one a view, 0 in one without; none in a fit without covariates
    /// and offsets.
    pub offset: Vec<f64>,
    /// Share that factors, covariates and offset explain together, one a view; none in a fit
    /// without covariates and offsets.
    pub together: Vec<f64>,
    /// Observed cells, one a view.
    pub observed: Vec<usize>,
    /// What was ignored, taken as missing or numerically delicate.
    pub notes: Vec<String>,
}

/// An offset with a share below this is undone by what stands beside it.
const UNDONE: f64 = -0.01;

impl Explained {
    /// Says nothing of a view: its clusters repeat its labels.
    fn forget(&mut self, row: usize) {
        for shares in [&mut self.marginal, &mut self.unique] {
            for k in 0..self.factors {
                shares[(row, k)] = f64::NAN;
            }
        }
        let of_view = [&mut self.total, &mut self.deviance, &mut self.shared];
        let beside = [&mut self.covariates, &mut self.offset, &mut self.together];
        for share in of_view.into_iter().chain(beside) {
            if let Some(x) = share.get_mut(row) {
                *x = f64::NAN;
            }
        }
        self.notes.push(format!(
            "view '{}': nothing is explained of these labels: the clusters of the samples repeat them",
            self.views[row]
        ));
    }
}

impl Fit {
    /// Variance of the training data explained by view and factor.
    ///
    /// # Errors
    /// [`crate::ErrorKind::NoData`] when the model was saved without data:
    /// give them to [`Fit::explain_on`]; when a component's state is damaged.
    pub fn explain(&self) -> Result<Explained> {
        let views: Vec<Option<&View>> = self.data()?.iter().map(Some).collect();
        let strata = Strata::of(self.groups());
        self.explained_in_training(&views, &strata)
    }

    /// Variance of the training data explained within one group of samples
    /// ([`Fit::groups`]): the definition of [`Explained`] with the samples of
    /// that group alone, about each feature's mean **over them**, so that
    /// differences between groups do not count.
    ///
    /// A view that does not vary in the group, or was not observed there, has
    /// shares of `NaN`.
    ///
    /// ```
    /// # use polyview_core::{Dataset, Table};
    /// # use polyview_linalg::Mat;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let samples: Vec<String> = (0..12).map(|n| format!("s{n}")).collect();
    /// # let table = Table {
    /// #     name: "genes".into(),
    /// #     samples: samples.clone(),
    /// #     features: (0..4).map(|d| format!("g{d}")).collect(),
    /// #     levels: Vec::new(),
    /// #     values: Mat::from_fn(12, 4, |n, d| (n * (d + 1)) as f64 + ((n * 7 + d * 3) % 5) as f64),
    /// # };
    /// let groups = samples.iter().enumerate().map(|(n, s)| {
    ///     (s.clone(), if n < 6 { "liver" } else { "kidney" }.to_owned())
    /// });
    /// let data = Dataset::builder().view(table).groups(groups.collect()).build()?;
    /// let fit = polyview::fit(data, polyview::models::bibfa(2))?;
    /// let liver = fit.explain_group("liver")?;
    /// assert_eq!(liver.observed, [24]);
    /// assert!(liver.total[0] < fit.explain()?.total[0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::UnknownGroup`] when there is no such group,
    /// [`ErrorKind::NoData`] when the model was saved without data; when a
    /// component's state is damaged.
    pub fn explain_group(&self, group: &str) -> Result<Explained> {
        let members = self.group_members(group)?;
        let views: Vec<Option<&View>> = self.data()?.iter().map(Some).collect();
        let strata = Strata::Everywhere([members]);
        self.explained_in_training(&views, &strata)
    }

    /// Rows of the samples of a group.
    fn group_members(&self, group: &str) -> Result<Vec<usize>> {
        let names = self.groups().map_or(&[][..], |g| &g.names);
        let (Some(groups), Some(at)) = (self.groups(), names.iter().position(|n| n == group))
        else {
            return Err(ErrorKind::UnknownGroup {
                group: group.to_owned(),
                known: names.to_vec(),
            }
            .into());
        };
        let of_sample = groups.of_sample.iter().enumerate();
        Ok(of_sample
            .filter(|(_, g)| **g as usize == at)
            .map(|(n, _)| n)
            .collect())
    }

    /// The shares of training data.
    fn explained_in_training(&self, views: &[Option<&View>], strata: &Strata) -> Result<Explained> {
        let posterior = self.posterior()?;
        let links = self.mean_links(&posterior)?;
        self.explained(views, (&posterior, &links), strata, Vec::new())
    }

    /// Every component of the posterior.
    fn posterior(&self) -> Result<Posterior> {
        let mut out = Posterior::default();
        for i in 0..self.n_components() {
            let mut component = self.component(i)?;
            let factors = component.apart(component.factors());
            component.take_apart();
            let shares = component.factors.shares().cloned();
            out.push((factors, None), component, shares.as_deref());
        }
        Ok(out)
    }

    /// Variance of other data explained, from the factors that these data
    /// themselves give their samples ([`Fit::project`]). Views that the data
    /// lack are left out. A sample whose group nobody knows is of the one that its data make most likely.
    ///
    /// This says how much of new data the factors can hold. For how well
    /// unseen cells are predicted see [`Fit::held_out_score`].
    ///
    /// # Errors
    /// As [`Fit::project`].
    pub fn explain_on(&self, data: &Dataset) -> Result<Explained> {
        let Aligned {
            samples,
            views,
            placing,
            mut notes,
            warnings,
        } = Aligned::new(self, data, None, UnknownClass::Error)?;
        let mut journal = Journal::default();
        let mut posterior = Posterior::default();
        let weights = WeightUncertainty::Variational;
        let placing = placing.most_likely(self, (&views, &samples), weights, &mut journal)?;
        for i in 0..self.n_components() {
            let mut c = self.component(i)?;
            placing.place(0, &mut c)?;
            let certain = latent::usual(weights);
            let z = latent::factors(self, &c, &views, &samples, certain, &mut journal)?;
            if let Some(shares) = &z.shares {
                c.share(shares);
            }
            let factors = (c.apart(&z.moments), Some(c.apart(c.factors())));
            c.take_apart();
            posterior.push(factors, c, z.shares.as_deref());
        }
        notes.extend(warnings);
        latent::notes_of(&journal, &mut notes);
        let views: Vec<Option<&View>> = views.iter().map(Option::as_ref).collect();
        let links = if posterior.draws.len() > 1 {
            self.mean_links(&self.posterior()?)?
        } else {
            vec![Vec::new(); views.len()]
        };
        let strata = Strata::of(data.groups());
        self.explained(&views, (&posterior, &links), &strata, notes)
    }

    /// The shares over the rows of all strata of a view, about each feature's
    /// means over the rows of one; over all samples together where it has none.
    fn explained(
        &self,
        views: &[Option<&View>],
        (posterior, links): (&Posterior, &[Vec<MeanLink>]),
        strata: &Strata,
        notes: Vec<String>,
    ) -> Result<Explained> {
        let (k, draws) = (self.k(), &posterior.draws[..]);
        let adjustment = self.composed.adjustment.as_deref();
        let (covariates, offsets) = adjustment.map_or((0, 0), Adjustment::counts);
        let all_columns = k + covariates + offsets;
        let given: Vec<(usize, &View)> = views
            .iter()
            .enumerate()
            .filter_map(|(at, v)| Some((at, (*v)?)))
            .collect();
        let mut out = Explained {
            views: given.iter().map(|(_, v)| v.name().to_owned()).collect(),
            factors: k,
            marginal: Mat::zeros(given.len(), k),
            unique: Mat::zeros(given.len(), k),
            total: Vec::with_capacity(given.len()),
            deviance: Vec::with_capacity(given.len()),
            infinite: vec![None; given.len()],
            similarities: vec![f64::NAN; given.len()],
            about_zero: vec![f64::NAN; given.len()],
            shared: Vec::with_capacity(given.len()),
            covariates: Vec::new(),
            offset: Vec::new(),
            together: Vec::new(),
            observed: given
                .iter()
                .map(|(at, v)| observed(v, strata.of_view(posterior.by_group[*at])))
                .collect(),
            notes,
        };
        for (row, (at, view)) in given.into_iter().enumerate() {
            let kind = posterior.kinds[at];
            if kind.is_similarity() {
                out.notes.push(format!(
                    "view '{}': what each factor explains is of the variance of the latent rows of its samples, whose \
                     products the similarities are; of the similarities themselves there is the share of all factors together",
                    view.name()
                ));
            }
            let strata = strata.of_view(posterior.by_group[at]);
            if kind.is_similarity() {
                let training = posterior.components.iter().all(|c| c.training.is_none());
                let among = strata.first().map(Vec::as_slice);
                out.similarities[row] =
                    pairs::Expected::of(posterior, at).share(view, training, among);
            }
            let sums = if kind.is_real() {
                out.deviance.push(f64::NAN);
                // of limits nobody knows how far they are off
                let exact = view.exact();
                if zero::has_no_means(&self.views[at], posterior, at) {
                    out.about_zero[row] = zero::share(&exact, draws, (at, k), strata);
                }
                sums_of(&exact, draws, at, strata)?
            } else {
                let all = [(0..view.n_samples()).collect::<Vec<usize>>()];
                let (mut own, mut null) = (0.0, 0.0);
                let mut sums = Sums::zero(all_columns);
                for columns in column_blocks(view, kind, posterior.columns(at)) {
                    if !kind.is_ranked() && !kind.is_similarity() {
                        let expected = posterior.expected(at, &columns);
                        for rows in if strata.is_empty() { &all } else { strata } {
                            let of = expected.of_samples(view, kind, rows);
                            own += of.0;
                            null += of.1;
                            if kind.has_deviance() && out.infinite[row].is_none() {
                                let column = expected.infinite(rows);
                                let name = |d: usize| self.views[at].features[d].clone();
                                out.infinite[row] = column.map(name);
                            }
                        }
                    }
                    let names = self.views[at].weight_rows();
                    let (draws, place) = match &posterior.local[at][..] {
                        [] => (draws, at),
                        local => (local, 0),
                    };
                    let (latent, draws) =
                        sums::linear_predictor(view, draws, place, &names, &columns)?;
                    let means = links[at].get(columns.clone());
                    let link: Vec<f64> = columns
                        .enumerate()
                        .map(|(j, d)| {
                            let rows = observed_rows(&latent, j, strata);
                            match means {
                                Some(means) => rows.len() as f64 * means[j].variance,
                                None => posterior.link_variance(at, d, &rows),
                            }
                        })
                        .collect();
                    let (latent, draws) = match means {
                        Some(means) => ranks::rescaled(&latent, draws, means)?,
                        None => (latent, draws),
                    };
                    if kind.counts_features_alike() {
                        let (latent, draws, link) = sums::alike(&latent, draws, &link, strata)?;
                        sums.add(&sums_of(&latent, &draws, 0, strata)?.folded(all_columns));
                        sums.total += link;
                    } else {
                        sums.add(&sums_of(&latent, &draws, 0, strata)?.folded(all_columns));
                        sums.total += link.iter().sum::<f64>();
                    }
                }
                let share = explained(own, null).filter(|_| out.infinite[row].is_none());
                out.deviance.push(share.unwrap_or(f64::NAN));
                sums
            };
            // squares so small that they are rounded to a few digits say nothing
            let least = f64::MIN_POSITIVE * out.observed[row].max(1) as f64;
            let share = |x: f64| {
                if sums.total >= least {
                    x / sums.total
                } else {
                    f64::NAN
                }
            };
            let (mut explained, mut overlap) = (0.0, 0.0);
            for j in 0..k {
                let with =
                    |columns: Range<usize>| -> f64 { columns.map(|l| sums.gram[(j, l)]).sum() };
                let (own, all, beside) = (sums.gram[(j, j)], with(0..k), with(k..all_columns));
                let cross = 2.0 * sums.cross[j];
                out.marginal[(row, j)] = share(cross - own);
                out.unique[(row, j)] = share(cross - 2.0 * (all + beside) + own);
                explained += cross - all;
                overlap += all - own;
            }
            if adjustment.is_some() {
                let of = |columns| share(sums.explained(columns));
                out.covariates.push(of(k..k + covariates));
                let offset = of(k + covariates..all_columns);
                if offset < UNDONE {
                    out.notes.push(format!(
                        "view '{}': its offset alone explains less than nothing ({:.1} %): what it adds is taken \
                         away again by factors or intercepts; look whether it belongs to this view",
                        view.name(),
                        100.0 * offset
                    ));
                }
                out.offset.push(offset);
                out.together.push(of(0..all_columns));
            }
            out.total.push(share(explained));
            out.shared.push(share(overlap));
            if self.has_repeated_labels(view.name()) {
                out.forget(row);
            }
        }
        Ok(out)
    }
}

/// Rows about whose means shares are taken.
enum Strata {
    /// Those of each group of samples, in views whose intercepts are by group.
    ByGroup(Vec<Vec<usize>>),
    /// The same ones in every view.
    Everywhere([Vec<usize>; 1]),
}

impl Strata {
    /// The samples of each of several groups.
    fn of(groups: Option<&Groups>) -> Self {
        Self::ByGroup(several(groups).map_or_else(Vec::new, |groups| {
            let mut out = vec![Vec::new(); groups.names.len()];
            for (n, &g) in groups.of_sample.iter().enumerate() {
                out[g as usize].push(n);
            }
            out
        }))
    }

    /// Those of a view; nothing where all its samples are taken together.
    fn of_view(&self, by_group: bool) -> &[Vec<usize>] {
        match self {
            Self::ByGroup(rows) if by_group => rows,
            Self::ByGroup(_) => &[],
            Self::Everywhere(rows) => rows,
        }
    }
}

/// The sums of a view over all samples, or over those of each stratum.
fn sums_of(view: &View, draws: &[Draw], at: usize, strata: &[Vec<usize>]) -> Result<Sums> {
    Ok(if strata.is_empty() {
        Sums::of(view, draws, at)
    } else {
        Sums::by_strata(view, draws, at, strata)?
    })
}

/// Observed cells of all rows, or of those of some strata.
fn observed(view: &View, strata: &[Vec<usize>]) -> usize {
    let of = |d: usize| {
        if strata.is_empty() {
            view.mask().count_feature(d, view.n_samples())
        } else {
            observed_rows(view, d, strata).len()
        }
    };
    (0..view.n_features()).map(of).sum()
}

/// Rows with an observed cell of a feature, among all or those of some strata.
fn observed_rows(view: &View, feature: usize, strata: &[Vec<usize>]) -> Vec<usize> {
    let seen = |n: &usize| view.is_observed(*n, feature);
    if strata.is_empty() {
        (0..view.n_samples()).filter(seen).collect()
    } else {
        strata.iter().flatten().copied().filter(seen).collect()
    }
}
