//! The intercepts of one view: $b\_d \sim N(0, 1/\beta)$, spec/sshiba G7, U3;
//! or one for each group of samples, $b\_{gd} \sim N(0, 1/\beta)$, spec/mofa C.3;
//! or about a level and with a spread that are learnt, $b\_d \sim N(\mu, 1/\lambda)$, spec/sites 7.

use std::ops::Range;
use std::sync::Arc;

use polyview_random::StreamKey;

use super::groups::RowGroups;
use super::hierarchy::{Hierarchy, LevelPrior};
use super::levels::{Level, borrowed};
use super::moments::Stamp;
use super::state::{State, StateReader, Stateful};
use crate::error::NumericError;

/// Posterior of the intercepts of one view, one a predictor column, or one for
/// each group of samples and column ([`Bias::by_group`]).
///
/// The intercept of group g and column d is number g D + d; the predictor of a
/// sample has that of its group.
///
/// Like [`RowMoments`](super::RowMoments) it may stand for implicit columns of
/// mean zero, which share one variance.
#[derive(Clone, Debug)]
pub struct Bias {
    columns: usize,
    /// Group of each sample, where groups have intercepts of their own.
    groups: Option<Arc<RowGroups>>,
    mean: Vec<f64>,
    variance: Vec<f64>,
    implicit: usize,
    implicit_variance: f64,
    /// Where it is learnt, its expectation.
    prior_precision: Option<f64>,
    /// Level and spread, where they are learnt.
    hierarchy: Option<Hierarchy>,
    drawn: bool,
    stamp: Stamp,
}

impl Bias {
    /// No intercepts: fixed at zero.
    pub fn absent(columns: usize) -> Self {
        Self::with(columns, 0, None)
    }
    /// Intercepts with prior precision `prior_precision` (per squared working
    /// unit), started at mean 0 and variance 0.
    pub fn gaussian(columns: usize, implicit: usize, prior_precision: f64) -> Self {
        Self::with(columns, implicit, Some(prior_precision))
    }
    /// Intercepts for each group of samples, started as those of
    /// [`Bias::gaussian`].
    pub fn by_group(columns: usize, groups: RowGroups, prior_precision: f64) -> Self {
        let count = groups.count();
        Self {
            columns,
            groups: Some(Arc::new(groups)),
            ..Self::with(columns * count, 0, Some(prior_precision))
        }
    }
    /// Intercepts for each group of samples that are known numbers, and not
    /// learnt: those of group g and column d in place g D + d of `mean`.
    ///
    /// # Panics
    /// If there is not one number a group and column.
    pub fn known_by_group(columns: usize, groups: RowGroups, mean: Vec<f64>) -> Self {
        let count = columns * groups.count();
        assert_eq!(mean.len(), count);
        Self {
            columns,
            groups: Some(Arc::new(groups)),
            mean,
            ..Self::with(count, 0, None)
        }
    }
    fn with(columns: usize, implicit: usize, prior_precision: Option<f64>) -> Self {
        Self {
            columns,
            groups: None,
            mean: vec![0.0; columns],
            variance: vec![0.0; columns],
            implicit,
            implicit_variance: 0.0,
            prior_precision,
            hierarchy: None,
            drawn: prior_precision.is_none(),
            stamp: Stamp::fresh(),
        }
    }
    /// The same intercepts about a level and with a spread that are learnt from all columns of
    /// the view (spec/sites 7), which start at what the present means say. Nothing happens where
    /// there are no intercepts to learn.
    #[must_use]
    pub fn with_learnt_prior(mut self, prior: LevelPrior) -> Self {
        if self.is_present() {
            self.hierarchy = Some(Hierarchy::new(self.per_column(), prior));
            self.update_prior();
        }
        self
    }
    #[cfg(test)]
    pub(super) fn hierarchy(&self) -> Option<&Hierarchy> {
        self.hierarchy.as_ref()
    }
    /// Whether level and spread of the intercepts are learnt.
    pub fn learns_prior(&self) -> bool {
        self.hierarchy.is_some()
    }
    /// Prior mean of an intercept ([`Bias::place`]): the level of its group.
    #[inline]
    pub fn prior_mean(&self, place: usize) -> f64 {
        self.hierarchy
            .as_ref()
            .map_or(0.0, |h| h.level(place / self.columns.max(1)))
    }
    /// Prior means of the intercepts of some columns, group after group.
    pub fn prior_means(&self, columns: Range<usize>) -> Vec<f64> {
        self.places(columns).map(|d| self.prior_mean(d)).collect()
    }
    /// Whether no data speak of an intercept: its moments are those of its prior.
    fn is_idle(&self, place: usize) -> bool {
        let prior = self.prior_precision.unwrap_or(0.0);
        // a file may hold fewer digits
        let off = self.mean[place] - self.prior_mean(place);
        off * off * prior < 1e-12 && (self.variance[place] * prior - 1.0).abs() < 1e-6
    }
    /// Sets level and spread to their optimum, where they are learnt.
    pub fn update_prior(&mut self) {
        self.change_prior(Hierarchy::update);
    }
    /// Draws level and spread, where they are learnt, from their conditionals.
    pub fn draw_prior_parameters(&mut self, key: StreamKey) {
        self.change_prior(|hierarchy, mean, variance| hierarchy.draw(mean, variance, key));
    }
    /// Intercepts of which no data speak follow their prior.
    fn change_prior(&mut self, change: impl FnOnce(&mut Hierarchy, &[f64], &[f64])) {
        let Some(mut hierarchy) = self.hierarchy.clone() else {
            return;
        };
        let idle: Vec<usize> = (0..self.mean.len()).filter(|i| self.is_idle(*i)).collect();
        change(&mut hierarchy, &self.mean, &self.variance);
        let precision = hierarchy.precision();
        for i in idle {
            self.mean[i] = hierarchy.level(i / self.columns.max(1));
            self.variance[i] = precision.recip();
        }
        self.prior_precision = Some(precision);
        self.hierarchy = Some(hierarchy);
        self.stamp = Stamp::fresh();
    }
    /// Whether there are intercepts to learn.
    pub fn is_present(&self) -> bool {
        self.prior_precision.is_some()
    }
    /// Number of explicit columns.
    pub fn columns(&self) -> usize {
        self.columns
    }
    /// The groups of samples, where each has intercepts of its own.
    pub fn groups(&self) -> Option<&RowGroups> {
        self.groups.as_deref()
    }
    /// Number of intercepts of a column: that of the groups, or 1.
    pub fn per_column(&self) -> usize {
        self.groups.as_ref().map_or(1, |g| g.count())
    }
    /// Number of the intercept of a group and column; `group` counts only where
    /// groups have their own.
    #[inline]
    pub fn place(&self, group: usize, column: usize) -> usize {
        if self.groups.is_some() {
            group * self.columns + column
        } else {
            column
        }
    }
    /// Number of the intercept of a sample and column.
    ///
    /// # Panics
    /// If groups have intercepts of their own and there is no such sample.
    #[inline]
    pub fn place_of(&self, sample: usize, column: usize) -> usize {
        match &self.groups {
            Some(groups) => groups.of_row()[sample] as usize * self.columns + column,
            None => column,
        }
    }
    /// The intercepts of one group, as if there were no other; the block itself
    /// where groups have none of their own.
    #[must_use]
    pub fn of_group(&self, group: usize) -> Self {
        if self.groups.is_none() {
            return self.clone();
        }
        let of = |v: &[f64]| v[group * self.columns..(group + 1) * self.columns].to_vec();
        Self {
            columns: self.columns,
            groups: None,
            mean: of(&self.mean),
            variance: of(&self.variance),
            implicit: 0,
            implicit_variance: 0.0,
            prior_precision: self.prior_precision,
            hierarchy: self.hierarchy.as_ref().map(|h| h.of_group(group)),
            drawn: self.drawn,
            stamp: Stamp::fresh(),
        }
    }
    /// The same intercepts for other samples of the same groups. Nothing
    /// happens where groups have none of their own.
    ///
    /// # Panics
    /// If the number of groups is another one.
    pub fn set_groups(&mut self, groups: &RowGroups) {
        if let Some(own) = &mut self.groups {
            assert_eq!(own.count(), groups.count());
            *own = Arc::new(groups.clone());
            self.stamp = Stamp::fresh();
        }
    }
    /// Means, one a column.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }
    /// Variances, one a column.
    pub fn variance(&self) -> &[f64] {
        &self.variance
    }
    /// Number of implicit columns and their variance.
    pub fn implicit(&self) -> (usize, f64) {
        (self.implicit, self.implicit_variance)
    }
    /// The stamp of this state.
    pub fn stamp(&self) -> Stamp {
        self.stamp
    }
    /// Numbers of the intercepts of some columns, group after group.
    fn places(&self, columns: Range<usize>) -> impl Iterator<Item = usize> + use<> {
        let (all, groups) = (self.columns, self.per_column());
        (0..groups).flat_map(move |g| columns.clone().map(move |d| g * all + d))
    }
    /// Sets the posterior of the columns `columns` from the data's precision
    /// and right-hand side (without the prior), those of all columns group
    /// after group.
    pub fn update(&mut self, columns: Range<usize>, precision: &[f64], rhs: &[f64]) {
        let Some(prior) = self.prior_precision else {
            return;
        };
        for (i, d) in self.places(columns).enumerate() {
            self.variance[d] = 1.0 / (prior + precision[i]);
            self.mean[d] = self.variance[d] * (rhs[i] + prior * self.prior_mean(d));
        }
        self.drawn = false;
        self.stamp = Stamp::fresh();
    }
    /// Sets the variance of the implicit columns from their data precision.
    pub fn update_implicit(&mut self, precision: f64) {
        if let (Some(prior), true) = (self.prior_precision, self.implicit > 0) {
            self.implicit_variance = 1.0 / (prior + precision);
            self.stamp = Stamp::fresh();
        }
    }
    /// Draws the columns `columns` from their conditional; the numbers as for
    /// [`Bias::update`]. Where groups have intercepts of their own, one of which no data
    /// speak is not drawn: it keeps the moments of its prior, which
    /// [`Bias::borrow_levels`] knows.
    pub fn draw(&mut self, columns: Range<usize>, precision: &[f64], rhs: &[f64], key: StreamKey) {
        let Some(prior) = self.prior_precision else {
            return;
        };
        for (i, d) in self.places(columns).enumerate() {
            let variance = 1.0 / (prior + precision[i]);
            if self.groups.is_some() && precision[i] == 0.0 {
                (self.mean[d], self.variance[d]) = (self.prior_mean(d), variance);
                continue;
            }
            let mean = variance * (rhs[i] + prior * self.prior_mean(d));
            self.draw_one(d, mean, variance, key);
        }
        self.drawn = true;
        self.stamp = Stamp::fresh();
    }
    fn draw_one(&mut self, place: usize, mean: f64, variance: f64, key: StreamKey) {
        let noise = polyview_random::standard_normal(&mut key.chunk(place as u32).rng());
        self.mean[place] = mean + variance.sqrt() * noise;
        self.variance[place] = 0.0;
    }
    /// Draws all columns from the prior, whose level and spread come first where they are
    /// learnt.
    pub fn draw_prior(&mut self, key: StreamKey) {
        if let Some(hierarchy) = &mut self.hierarchy {
            hierarchy.draw_prior(key);
            self.prior_precision = Some(hierarchy.precision());
        }
        let Some(prior) = self.prior_precision else {
            return;
        };
        for d in 0..self.mean.len() {
            self.draw_one(d, self.prior_mean(d), 1.0 / prior, key);
        }
        self.drawn = true;
        self.stamp = Stamp::fresh();
    }
    /// Gives each intercept of which no data speak, as its group has no cell of the column, the
    /// level of the column's other groups in place of its vague prior, under which the
    /// expectation of a count would be without limits. Nothing happens where groups have no
    /// intercepts of their own, and to columns that no group has.
    ///
    /// Groups differ about a column's level by a variance $s$, which all columns of the view
    /// tell together; the intercept is normal about the mean of the others with weights
    /// $1/(s + v\_g)$, $v\_g$ their own variances, with variance
    /// $s + 1/\sum\_g 1/(s + v\_g)$. Where no column has two groups with cells, $s$ is the
    /// variance of the intercepts between columns, and at most `most` and that of the prior.
    ///
    /// This is for what is said after a fit. No data speak of these intercepts, so to a fit
    /// they do not matter: whatever they are given the others, the bound is the same.
    pub fn borrow_levels(&mut self, most: f64) {
        let (Some(prior), Some(groups)) = (self.prior_precision, &self.groups) else {
            return;
        };
        let (count, columns) = (groups.count(), self.columns);

        let known = |g: usize, d: usize| {
            let i = g * columns + d;
            (!self.is_idle(i)).then(|| Level {
                mean: self.mean[i],
                variance: self.variance[i],
            })
        };
        if !(0..self.mean.len()).any(|i| self.is_idle(i)) {
            return;
        }
        let found = borrowed(count, columns, known, most.min(prior.recip()));
        for (g, d, level) in found {
            self.mean[g * columns + d] = level.mean;
            self.variance[g * columns + d] = level.variance;
        }
        self.stamp = Stamp::fresh();
    }
    /// Sets means and variances.
    pub fn set(&mut self, mean: Vec<f64>, variance: Vec<f64>) {
        debug_assert_eq!(mean.len(), variance.len());
        self.mean = mean;
        self.variance = variance;
        self.drawn = false;
        self.stamp = Stamp::fresh();
    }
    /// Prior precision of an intercept, per squared unit of the predictor; `None` where there
    /// are none to learn.
    pub fn prior_precision(&self) -> Option<f64> {
        self.prior_precision
    }
    /// Means and variances of the intercepts of some columns, group after group.
    ///
    /// # Panics
    /// If there are no such columns.
    pub fn of_columns(&self, columns: Range<usize>) -> Vec<(f64, f64)> {
        (self.places(columns))
            .map(|d| (self.mean[d], self.variance[d]))
            .collect()
    }
    /// Replaces means and variances of the intercepts of some columns, group after group.
    ///
    /// # Panics
    /// If there are no such columns.
    pub fn put_columns(&mut self, columns: Range<usize>, moments: &[(f64, f64)]) {
        for (d, (mean, variance)) in self.places(columns).zip(moments) {
            (self.mean[d], self.variance[d]) = (*mean, *variance);
        }
        self.stamp = Stamp::fresh();
    }
    /// $\sum\_d t\_d\langle b\_d^2\rangle$ over the explicit columns, plus the
    /// implicit ones at weight `implicit_weight`.
    pub fn second_moment(&self, weights: Option<&[f64]>, implicit_weight: f64) -> f64 {
        let explicit: f64 = (0..self.mean.len())
            .map(|d| {
                weights.map_or(1.0, |t| t[d % self.columns])
                    * (self.mean[d].powi(2) + self.variance[d])
            })
            .sum();
        explicit + implicit_weight * self.implicit as f64 * self.implicit_variance
    }
    /// Contribution to the bound (spec/sshiba L3); for draws the log prior
    /// density.
    pub fn bound(&self) -> f64 {
        let Some(prior) = self.prior_precision else {
            return 0.0;
        };
        let n = self.mean.len() as f64;
        if let Some(hierarchy) = &self.hierarchy {
            return hierarchy.bound(&self.mean, &self.variance, self.drawn);
        }
        let quadratic = -0.5 * prior * self.second_moment(None, 1.0);
        if self.drawn {
            return quadratic + 0.5 * n * (prior.ln() - (2.0 * std::f64::consts::PI).ln());
        }
        let all = n + self.implicit as f64;
        let mut logs: f64 = self.variance.iter().map(|v| v.ln()).sum();
        if self.implicit > 0 {
            logs += self.implicit as f64 * self.implicit_variance.ln();
        }
        quadratic + 0.5 * all * prior.ln() + 0.5 * logs + 0.5 * all
    }
}

impl Stateful for Bias {
    fn save(&self, prefix: &str, state: &mut State) {
        state.put_vec(&format!("{prefix}/mean"), &self.mean);
        state.put_vec(&format!("{prefix}/variance"), &self.variance);
        state.put_vec(
            &format!("{prefix}/rest"),
            &[
                self.implicit as f64,
                self.implicit_variance,
                self.prior_precision.unwrap_or(0.0),
                f64::from(u8::from(self.drawn)),
            ],
        );
        if let Some(hierarchy) = &self.hierarchy {
            hierarchy.save(&format!("{prefix}/prior"), state);
        }
    }
    fn load(&mut self, prefix: &str, state: &StateReader<'_>) -> Result<(), NumericError> {
        let mean = state.vec(&format!("{prefix}/mean"))?;
        if self.groups.is_some() && mean.len() != self.mean.len() {
            return Err(NumericError::BadState {
                name: format!("{prefix}/mean"),
            });
        }
        self.columns = mean.len() / self.per_column();
        self.mean = mean;
        self.variance = state.vec_of(&format!("{prefix}/variance"), self.mean.len())?;
        let rest = state.vec_of(&format!("{prefix}/rest"), 4)?;
        self.implicit = rest[0] as usize;
        self.implicit_variance = rest[1];
        self.prior_precision = (rest[2] > 0.0).then_some(rest[2]);
        self.drawn = rest[3] != 0.0;
        // what was saved says itself whether level and spread were learnt
        self.hierarchy = Hierarchy::read(&format!("{prefix}/prior"), state, self.per_column())?;
        self.stamp = Stamp::fresh();
        Ok(())
    }
}
