//! The scales of spike-and-slab rows: slab precisions and inclusion
//! probabilities.

use polyview_core::{
    GammaPrior, Gammas, NumericError, PrecisionView, RowGroups, State, StateReader, Stateful,
};
use polyview_linalg::{Mat, MatRef};
use polyview_random::StreamKey;
use serde::{Deserialize, Serialize};

use crate::beta::{BetaPrior, Betas, times_log};
use crate::group_ard::{by_group, places};

/// Hyperpriors of spike-and-slab rows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct SpikeSlabOptions {
    /// Prior of the slab precisions $\alpha$; with `None` they are 1 and are
    /// not learnt (no relevance determination).
    pub precision: Option<GammaPrior>,
    /// Prior of the inclusion probabilities $\theta$.
    pub inclusion: BetaPrior,
}

impl Default for SpikeSlabOptions {
    /// MOFA's: $\mathrm{Ga}(10^{-14}, 10^{-14})$ and Beta(1, 1) (spec/mofa B.3).
    fn default() -> Self {
        Self {
            precision: Some(GammaPrior::new(1e-14, 1e-14)),
            inclusion: BetaPrior::uniform(),
        }
    }
}

/// Slab precisions and inclusion probabilities of spike-and-slab rows: one of
/// each for a group of rows and a column.
///
/// The variable of group g and column k is number g + G k.
#[derive(Clone, Debug, PartialEq)]
pub struct SpikeSlab {
    groups: RowGroups,
    alpha: Gammas,
    learnt: bool,
    theta: Betas,
    /// Updates (or draws) for which the probabilities stay.
    held: usize,
}

/// What the rows say about the scales, groups × K.
#[derive(Clone, Debug)]
pub(super) struct Sums {
    /// $\sum\langle\hat w^2\rangle$.
    pub(super) squares: Mat<f64>,
    /// $\sum\gamma$.
    pub(super) included: Mat<f64>,
}

impl SpikeSlab {
    /// The scales of rows in one group: weights of a view. Precisions start at
    /// 1, inclusion probabilities at their prior.
    pub fn new(options: SpikeSlabOptions, rows: usize, k: usize) -> Self {
        Self::by_group(options, RowGroups::one(rows), k)
    }
    /// The scales of rows in several groups: factors of groups of samples.
    pub fn by_group(options: SpikeSlabOptions, groups: RowGroups, k: usize) -> Self {
        let count = groups.count() * k;
        let prior = options.precision.unwrap_or(GammaPrior::new(1.0, 1.0));
        let mut alpha = Gammas::new(prior, count, 1.0);
        if options.precision.is_none() {
            for i in 0..count {
                alpha.set_value(i, 1.0);
            }
        }
        Self {
            groups,
            alpha,
            learnt: options.precision.is_some(),
            theta: Betas::new(options.inclusion, count),
            held: 0,
        }
    }
    /// Which row belongs to which group.
    pub fn groups(&self) -> &RowGroups {
        &self.groups
    }
    /// Expected slab precisions $\langle\alpha\rangle$, groups × K, per squared
    /// working unit.
    pub fn precisions(&self) -> MatRef<'_, f64> {
        by_group(self.alpha.mean(), self.groups.count())
    }
    /// Expected inclusion probabilities $\langle\theta\rangle$, groups × K.
    pub fn inclusion_probabilities(&self) -> Mat<f64> {
        let (g, n) = (self.groups.count(), self.theta.len());
        Mat::from_fn(g, n / g, |i, k| self.theta.mean(i + g * k))
    }
    /// The Gamma variables of the slab precisions; number g + G k belongs to
    /// group g and column k.
    pub fn gammas(&self) -> &Gammas {
        &self.alpha
    }
    /// Write access to the slab precisions, for starts. Where precisions are
    /// not learnt they stay what they are set to.
    pub fn gammas_mut(&mut self) -> &mut Gammas {
        &mut self.alpha
    }
    /// The Beta variables of the inclusion probabilities; number g + G k
    /// belongs to group g and column k.
    pub fn betas(&self) -> &Betas {
        &self.theta
    }
    /// Write access to the inclusion probabilities, for starts.
    pub fn betas_mut(&mut self) -> &mut Betas {
        &mut self.theta
    }
    /// Keeps the inclusion probabilities as they are for the next `updates`
    /// updates or draws of the scales; `usize::MAX` for good, 0 learns them at
    /// once (the default). MOFA holds them at Beta(1, 1), whose log-odds are 0,
    /// and learns them from sweep 50: 49 updates (spec/mofa B.5). For draws
    /// hold values ([`Betas::set_values`]), not distributions.
    pub fn hold_probabilities(&mut self, updates: usize) {
        self.held = updates;
    }
    /// Whether the probabilities stay in this update, which counts.
    fn hold(&mut self) -> bool {
        let hold = self.held > 0;
        if hold && self.held < usize::MAX {
            self.held -= 1;
        }
        hold
    }
    /// The same scales for other rows of the same groups: new samples. `None`
    /// where `groups` has another number of groups.
    pub fn for_rows(&self, groups: RowGroups) -> Option<Self> {
        (groups.count() == self.groups.count()).then(|| Self {
            groups,
            ..self.clone()
        })
    }
    /// Prior variance of an entry, $\langle\theta\rangle/\langle\alpha\rangle$, of the
    /// group and column of that number.
    pub(super) fn variance(&self, at: usize) -> f64 {
        self.theta.mean(at) / self.alpha.mean()[at]
    }
    /// Precision of a Gaussian prior, one a column, for a row of a group that
    /// was not there: its group is one of the known ones, each as likely, and
    /// its variance the mean of theirs, $\langle\theta\rangle /
    /// \langle\alpha\rangle$.
    pub fn precision_of_new_group(&self) -> Vec<f64> {
        let (alpha, theta) = (self.precisions(), self.inclusion_probabilities());
        (0..alpha.ncols())
            .map(|k| {
                let variances: f64 = (0..alpha.nrows())
                    .map(|g| theta[(g, k)] / alpha[(g, k)])
                    .sum();
                alpha.nrows() as f64 / variances.max(f64::MIN_POSITIVE)
            })
            .collect()
    }
    /// $\langle\alpha\rangle$ as a prior of rows.
    pub fn precision(&self) -> PrecisionView<'_> {
        if self.groups.count() == 1 {
            PrecisionView::Columns(self.alpha.mean())
        } else {
            PrecisionView::Groups {
                of_row: self.groups.of_row(),
                groups: self.precisions(),
            }
        }
    }
    /// Number of columns.
    pub(super) fn k(&self) -> usize {
        self.alpha.len() / self.groups.count()
    }
    fn entries<'a>(&'a self, sums: &'a Sums) -> impl Iterator<Item = Entry> + 'a {
        let count = self.groups.count();
        (0..self.alpha.len()).map(move |i| {
            let (g, k) = (i % count, i / count);
            let rows = self.groups.sizes()[g];
            Entry {
                i,
                rows,
                squares: sums.squares[(g, k)],
                included: sums.included[(g, k)].clamp(0.0, rows),
            }
        })
    }
    /// spec/mofa B.5, `AlphaW` and `ThetaW`: shape and rate, then both shapes.
    fn posterior(&self, e: &Entry) -> ((f64, f64), (f64, f64)) {
        (
            self.alpha.posterior(0.5 * e.rows, 0.5 * e.squares),
            self.theta.posterior(e.included, e.rows - e.included),
        )
    }
    pub(super) fn update(&mut self, sums: &Sums) {
        let entries: Vec<Entry> = self.entries(sums).collect();
        let hold = self.hold();
        for e in &entries {
            let ((shape, rate), (a, b)) = self.posterior(e);
            if self.learnt {
                self.alpha.set(e.i, shape, rate);
            }
            if !hold {
                self.theta.set(e.i, a, b);
            }
        }
    }
    /// spec/mofa A.6b.
    pub(super) fn draw(&mut self, sums: &Sums, key: StreamKey) {
        let entries: Vec<Entry> = self.entries(sums).collect();
        let hold = self.hold();
        for e in &entries {
            let ((shape, rate), (a, b)) = self.posterior(e);
            if self.learnt {
                self.alpha.draw(e.i, shape, rate, key.chunk(e.i as u32));
            }
            if !hold {
                let stream = key.chunk(PROBABILITY_STREAMS | e.i as u32);
                self.theta.draw(e.i, a, b, stream);
            }
        }
    }
    pub(super) fn draw_prior(&mut self, key: StreamKey) {
        let (p, q) = (self.alpha.prior(), self.theta.prior());
        for i in 0..self.alpha.len() {
            if self.learnt {
                self.alpha.draw(i, p.shape, p.rate, key.chunk(i as u32));
            }
            if self.held == 0 {
                let stream = key.chunk(PROBABILITY_STREAMS | i as u32);
                self.theta.draw(i, q.a, q.b, stream);
            }
        }
    }
    /// $\langle\ln p(\hat w\mid\alpha)\rangle + \langle\ln p(s\mid\theta)
    /// \rangle$ without $-\tfrac12\ln 2\pi$ an entry.
    pub(super) fn expected_log_density(&self, sums: &Sums) -> f64 {
        self.entries(sums)
            .map(|e| {
                0.5 * e.rows * self.alpha.mean_ln()[e.i] - 0.5 * self.alpha.mean()[e.i] * e.squares
                    + times_log(e.included, self.theta.mean_ln()[e.i])
                    + times_log(e.rows - e.included, self.theta.mean_ln_not()[e.i])
            })
            .sum()
    }
    /// spec/mofa B.6.5.
    pub(super) fn bound(&self) -> f64 {
        let precisions = if self.learnt { self.alpha.bound() } else { 0.0 };
        precisions + self.theta.bound()
    }
    /// Logarithms of the rates of the precisions, then log odds of the probabilities, of
    /// those that are learnt.
    pub(super) fn free(&self) -> Vec<f64> {
        let mut out = Vec::new();
        if self.learnt {
            out.extend(self.alpha.free());
        }
        if self.held == 0 {
            out.extend(self.theta.free());
        }
        out
    }
    /// Moves them to where numbers as of [`SpikeSlab::free`] say.
    pub(super) fn set_free(&mut self, values: &[f64]) {
        let of_precisions = if self.learnt { self.alpha.len() } else { 0 };
        if let Some((precisions, odds)) = values.split_at_checked(of_precisions) {
            if self.learnt {
                self.alpha.set_free(precisions);
            }
            if self.held == 0 {
                self.theta.set_free(odds);
            }
        }
    }
    /// What a column adds to the bound of which no data speak: its precision
    /// ([`Gammas::idle`]) and its probability.
    pub(super) fn idle_column(&self) -> f64 {
        let precision = |n: f64| if self.learnt { self.alpha.idle(n) } else { 0.0 };
        let probability = |n: f64| {
            if self.held > 0 {
                0.0
            } else {
                self.theta.idle(n)
            }
        };
        let sizes = self.groups.sizes().iter();
        sizes.map(|&n| precision(n) + probability(n)).sum()
    }
    pub(super) fn select(&mut self, keep: &[usize]) {
        let places = places(keep, self.groups.count());
        self.alpha.select(&places);
        self.theta.select(&places);
    }
}

/// First random stream of the probabilities; those of the precisions come
/// before it.
const PROBABILITY_STREAMS: u32 = 1 << 31;

/// One group and column.
struct Entry {
    i: usize,
    rows: f64,
    squares: f64,
    included: f64,
}

impl Stateful for SpikeSlab {
    fn save(&self, prefix: &str, state: &mut State) {
        self.groups.save(&format!("{prefix}/groups"), state);
        self.alpha.save(&format!("{prefix}/alpha"), state);
        self.theta.save(&format!("{prefix}/theta"), state);
        let rules = [f64::from(u8::from(self.learnt)), self.held as f64];
        state.put_vec(&format!("{prefix}/learnt_held"), &rules);
    }
    fn load(&mut self, prefix: &str, state: &StateReader<'_>) -> Result<(), NumericError> {
        self.groups = RowGroups::load(&format!("{prefix}/groups"), state)?;
        self.alpha.load(&format!("{prefix}/alpha"), state)?;
        self.theta.load(&format!("{prefix}/theta"), state)?;
        let rules = state.vec_of(&format!("{prefix}/learnt_held"), 2)?;
        // beyond the largest number: for good
        (self.learnt, self.held) = (rules[0] != 0.0, rules[1] as usize);
        let fits = self.alpha.len().is_multiple_of(self.groups.count())
            && self.alpha.len() == self.theta.len();
        if fits {
            Ok(())
        } else {
            Err(NumericError::BadState {
                name: format!("{prefix}/alpha"),
            })
        }
    }
}
