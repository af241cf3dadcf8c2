//! Spike-and-slab rows.

mod block;
mod jointly;
mod kept;
mod others;
mod prior;
mod site;
mod species;

use std::ops::Range;

use polyview_core::{NumericError, RowBlock, RowCov, RowMoments, Stamp};
use polyview_linalg::{Mat, MatRef};

use prior::Sums;
pub use prior::{SpikeSlab, SpikeSlabOptions};
pub use species::SpikeSlabSpecies;

/// A block of rows whose entries are exactly zero or Gaussian (spec/mofa A.1,
/// B.3): $w\_{rk} = s\_{rk}\hat w\_{rk}$ with
///
/// $$\hat w\_{rk} \sim N(0, 1/\alpha\_{gk}),\quad s\_{rk} \sim
/// \mathrm{Ber}(\theta\_{gk}),\quad \alpha\_{gk} \sim \mathrm{Ga}(a\_0, b\_0),
/// \quad \theta\_{gk} \sim \mathrm{Beta}(a, b),$$
///
/// $g$ the group of row $r$: one for the weights of a view, the groups of
/// samples for factors.
///
/// **Variational Bayes** (spec/mofa A.3). $q = \prod q(\hat w\_{rk},
/// s\_{rk})$ with $q(\hat w\mid s{=}1) = N(\mu, \sigma^2)$,
/// $q(\hat w\mid s{=}0) = N(0, v\_0)$, $q(s{=}1) = \gamma$. Column after column
/// from the present means, with the data precision $P\_r$ and right-hand side
/// $b\_r$ of the row:
///
/// $$\sigma^2 = (P\_{r,kk} + \langle\alpha\rangle)^{-1},\quad \mu = \sigma^2
/// \Big(b\_{rk} - \sum\_{j \ne k}P\_{r,kj}\langle w\_{rj}\rangle\Big),\quad
/// \ln\tfrac{\gamma}{1-\gamma} = \Big\langle\ln\tfrac{\theta}{1-\theta}
/// \Big\rangle + \tfrac12\ln(\langle\alpha\rangle\sigma^2) +
/// \tfrac{\mu^2}{2\sigma^2},\quad v\_0 = 1/\langle\alpha\rangle .$$
///
/// The data are not read again. Every step is the optimum of its factor of q,
/// and the bound counts the spike variance $v\_0$ **as q holds it**, not that of
/// a newer $\alpha$ (spec/mofa C.2, item 5): it never falls. $\gamma$ is the
/// posterior probability of inclusion ([`SpikeSlabRows::inclusion`]).
///
/// **Gibbs** (spec/mofa A.6b). $s$ is drawn with $\hat w$ integrated out, by
/// the same logit at the present draws, then $\hat w$ from the slab's posterior
/// or from its prior; then $\alpha$ and $\theta$.
///
/// The moments that others see are those of $w$: mean $\gamma\mu$, variance
/// $\gamma\sigma^2 + \gamma(1-\gamma)\mu^2$, entries independent. With
/// $\theta \to 1$ the block is [`DiagonalRows`](super::DiagonalRows) under
/// [`Ard`](crate::Ard).
///
/// There are no implicit rows. The family is not closed under rotations:
/// [`RowBlock::rotation_term`] is `None`, and [`RowBlock::transform`] is exact
/// for signs, scales and orders of columns; any other map makes a start of
/// the rows ([`RowBlock::set_moments`]). The scales stay, as in every block.
///
/// ```
/// use polyview_core::{Context, Journal, NormalEquations, RowBlock, RowMoments, Rule};
/// use polyview_linalg::Mat;
/// use polyview_priors::{SpikeSlab, SpikeSlabOptions, SpikeSlabRows};
/// use polyview_random::StreamKey;
///
/// // 40 features, two factors; the second acts on the first ten features only
/// let truth = Mat::from_fn(40, 2, |d, k| if k == 0 || d < 10 { 1.0 + (d % 3) as f64 } else { 0.0 });
/// let mut weights = SpikeSlabRows::new("weights/genes",
///     SpikeSlab::new(SpikeSlabOptions::default(), 40, 2),
///     RowMoments::isotropic(Mat::zeros(40, 2), 1.0, 0));
/// // what a hundred samples with independent factors say
/// let mut eq = NormalEquations::new(2, 0..40);
/// eq.gram.add_diag(&[100.0, 100.0]);
/// let mut journal = Journal::default();
/// for sweep in 1..20 {
///     eq.rhs = Mat::from_fn(40, 2, |d, k| 100.0 * truth[(d, k)]);
///     let mut cx = Context { key: StreamKey::new(1), sweep, journal: &mut journal };
///     weights.prepare(&eq, &mut cx)?;
///     weights.update(&mut eq, Rule::Optimum, &mut cx)?;
///     weights.learn(&mut cx)?;
/// }
/// assert!(weights.inclusion()[(3, 1)] > 0.99 && weights.inclusion()[(30, 1)] < 0.2);
/// # Ok::<(), polyview_core::NumericError>(())
/// ```
#[derive(Clone, Debug)]
pub struct SpikeSlabRows {
    name: String,
    prior: SpikeSlab,
    /// Of $w$.
    moments: RowMoments,
    /// $\gamma$, or the draw of $s$.
    inclusion: Mat<f64>,
    /// $\mu$, or the draw of $\hat w$.
    slab_mean: Mat<f64>,
    /// $\sigma^2$; zero for draws.
    slab_variance: Mat<f64>,
    /// $v\_0$ by group and column, as q holds it.
    spike_variance: Vec<f64>,
    /// Entropy of all entries without $\tfrac12\ln 2\pi e$ each.
    entropy: f64,
    passes: usize,
    spike_of_prior: bool,
    /// Whether means go to their optima entry by entry alone.
    one_by_one: bool,
    /// $\langle\alpha\rangle/\gamma$, rows × K, where entries are taken together.
    together: Option<Mat<f64>>,
    /// What the scales were learnt from last, and the state of the rows that it belongs to.
    known: Option<(Stamp, Sums)>,
}

/// Least probability of inclusion that a joint covariance knows.
const LEAST_INCLUSION: f64 = 1e-8;

impl SpikeSlabRows {
    /// A block called `name` (for the journal and the ledger) with scales for
    /// as many rows and columns as the starting moments have. The start has
    /// every entry in the slab, see [`RowBlock::set_moments`].
    pub fn new(name: impl Into<String>, prior: SpikeSlab, moments: RowMoments) -> Self {
        let mut out = Self {
            name: name.into(),
            prior,
            moments: RowMoments::point(Mat::zeros(0, 0)),
            inclusion: Mat::zeros(0, 0),
            slab_mean: Mat::zeros(0, 0),
            slab_variance: Mat::zeros(0, 0),
            spike_variance: Vec::new(),
            entropy: 0.0,
            passes: 1,
            spike_of_prior: false,
            one_by_one: false,
            together: None,
            known: None,
        };
        out.set_moments(moments);
        out
    }
    /// Goes over the columns `passes` times an update (at least once; MOFA:
    /// once). Draws go over them once. Factors of new samples under fixed
    /// weights should take some twenty: a projection updates them once.
    pub fn with_passes(mut self, passes: usize) -> Self {
        self.passes = passes.max(1);
        self
    }
    /// Ends each update with the covariances of the entries of a row: those of its Gaussian posterior with
    /// $\gamma/\langle\alpha\rangle$ for the prior variance of an entry, given the probabilities
    /// of inclusion $\gamma$, scaled to the entries' own variances. For factors of new samples
    /// under fixed weights: entry by entry, where weights are alike, variances are far too small.
    /// Means are those of the entries.
    /// The bound is that of the entries apart.
    pub(super) fn taken_together(mut self) -> Self {
        self.together = Some(Mat::zeros(0, 0));
        self
    }
    /// Takes the spike's entropy in the bound from the newest $\alpha$, which q
    /// does not hold yet, and its square from q: the bound that mofapy2 prints
    /// (spec/mofa C.2, item 5). It may fall, and it is no bound.
    pub fn with_spike_of_prior(mut self) -> Self {
        self.spike_of_prior = true;
        self
    }
    /// Leaves the means of rows with precisions of their own where going over the entries brings them, as mofapy2 does, and takes
    /// them to no joint optimum.
    pub fn one_by_one(mut self) -> Self {
        self.one_by_one = true;
        self
    }
    /// Slab precisions and inclusion probabilities.
    pub fn prior(&self) -> &SpikeSlab {
        &self.prior
    }
    /// Write access to slab precisions and inclusion probabilities, for
    /// starts.
    pub fn prior_mut(&mut self) -> &mut SpikeSlab {
        &mut self.prior
    }
    /// Posterior probabilities of inclusion $\gamma$, rows × K; 0 or 1 for
    /// draws.
    pub fn inclusion(&self) -> MatRef<'_, f64> {
        self.inclusion.as_ref()
    }
    /// Means of the slab $\mu$, rows × K, working units; the draws of
    /// $\hat w$.
    pub fn slab_mean(&self) -> MatRef<'_, f64> {
        self.slab_mean.as_ref()
    }
    /// Variances of the slab $\sigma^2$, rows × K; zero for draws.
    pub fn slab_variance(&self) -> MatRef<'_, f64> {
        self.slab_variance.as_ref()
    }
    /// Variances of the spike as q holds them, groups × K.
    pub fn spike_variance(&self) -> MatRef<'_, f64> {
        crate::group_ard::by_group(&self.spike_variance, self.prior.groups().count())
    }
    /// Brings the precisions of some rows up to date with their probabilities of inclusion.
    fn refresh_precisions(&self, cells: &mut Mat<f64>, rows: Range<usize>) {
        if cells.shape() != self.inclusion.shape() {
            *cells = Mat::zeros(self.inclusion.nrows(), self.inclusion.ncols());
        }
        let (groups, alpha) = (self.prior.groups(), self.prior.precisions());
        for k in 0..cells.ncols() {
            for r in rows.clone() {
                let group = groups.of_row()[r] as usize;
                cells[(r, k)] = alpha[(group, k)] / self.inclusion[(r, k)].max(LEAST_INCLUSION);
            }
        }
    }
    fn is_draw(&self) -> bool {
        matches!(self.moments.cov(), RowCov::Zero)
    }
    /// $v\_0 = 1/\langle\alpha\rangle$ at this moment.
    fn spikes(&self) -> Vec<f64> {
        let alpha = self.prior.gammas().mean();
        alpha.iter().map(|a| 1.0 / a).collect()
    }
    fn spike(&self, row: usize, k: usize) -> f64 {
        let groups = self.prior.groups();
        let g = groups.of_row().get(row).map_or(0, |&g| g as usize);
        self.spike_variance[g + groups.count() * k]
    }
    fn refresh_entropy(&mut self) {
        self.entropy = if self.is_draw() {
            0.0
        } else {
            site::entropy(&self.inclusion, &self.slab_variance, |r, k| {
                0.5 * self.spike(r, k).ln()
            })
        };
    }
    /// $\sum\langle\hat w^2\rangle$ and $\sum\gamma$ by group and column.
    fn sums(&self) -> Sums {
        let groups = self.prior.groups();
        let (rows, k) = (self.inclusion.nrows(), self.inclusion.ncols());
        let (mut squares, mut included) =
            (Mat::zeros(groups.count(), k), Mat::zeros(groups.count(), k));
        let draw = self.is_draw();
        let mut column = vec![0.0; rows];
        for j in 0..k {
            let gamma = self.inclusion.col_as_slice(j);
            let (mu, v) = (
                self.slab_mean.col_as_slice(j),
                self.slab_variance.col_as_slice(j),
            );
            let spikes = &self.spike_variance[groups.count() * j..][..groups.count()];
            let entries = column.iter_mut().zip(gamma.iter().zip(mu).zip(v));
            let square = |gamma: f64, mu: f64, v: f64, spike: f64| {
                gamma * (mu * mu + v) + (1.0 - gamma) * spike
            };
            match spikes {
                _ if draw => entries.for_each(|(x, ((_, mu), _))| *x = mu * mu),
                [spike] => {
                    entries.for_each(|(x, ((gamma, mu), v))| *x = square(*gamma, *mu, *v, *spike));
                }
                _ => entries
                    .zip(groups.of_row())
                    .for_each(|((x, ((gamma, mu), v)), g)| {
                        *x = square(*gamma, *mu, *v, spikes[*g as usize]);
                    }),
            }
            let (own, all) = (groups.sums(&column), groups.sums(gamma));
            for g in 0..groups.count() {
                (squares[(g, j)], included[(g, j)]) = (own[g], all[g]);
            }
        }
        Sums { squares, included }
    }
    fn mismatch(&self, what: &'static str) -> NumericError {
        NumericError::Mismatch {
            block: self.name.clone(),
            what,
        }
    }
    /// Column $j$ of the result is column `from[j].0` times `from[j].1`.
    fn rearrange(&mut self, from: &[(usize, f64)]) {
        let rows = self.inclusion.nrows();
        let take = |m: &Mat<f64>, power: i32| {
            Mat::from_fn(rows, from.len(), |r, j| {
                m[(r, from[j].0)] * from[j].1.powi(power)
            })
        };
        self.inclusion = take(&self.inclusion, 0);
        self.slab_mean = take(&self.slab_mean, 1);
        self.slab_variance = take(&self.slab_variance, 2);
        let cov = match self.moments.cov() {
            RowCov::Diagonal(v) => RowCov::Diagonal(take(v, 2)),
            _ => RowCov::Zero,
        };
        let mean = take(&self.moments.mean().to_owned(), 1);
        self.moments = RowMoments::new(mean, cov, 0.0, 0);
        let groups = self.prior.groups().count();
        self.spike_variance = from
            .iter()
            .flat_map(|&(k, c)| (0..groups).map(move |g| (g + groups * k, c * c)))
            .map(|(at, c)| c * self.spike_variance[at])
            .collect();
        self.refresh_entropy();
    }
    fn check(&self) -> Result<(), NumericError> {
        if self.prior.groups().rows() != self.moments.explicit_rows()
            || self.prior.k() != self.moments.k()
        {
            return Err(self.mismatch("rows and scales differ in number"));
        }
        if self.moments.implicit_rows() > 0 {
            return Err(self.mismatch("spike-and-slab rows cannot be implicit"));
        }
        Ok(())
    }
}
