//! The max-margin rank view: data enter only through their order, feature by
//! feature (spec/maxmargin-rank 2.2, 3, 4.1, 5).
//!
//! A term $t = (i, l, h)$ says that sample $l$ has a smaller value of feature
//! $i$ than sample $h$. With the predictors $w\_{in} = a\_i^\top z\_n$ and a margin
//! $\epsilon$,
//!
//! $$ u\_t = w\_{il} - w\_{ih} + \epsilon,\qquad L = \prod\_t e^{-2c\max(0,\\,u\_t)}. $$
//!
//! Equal values and missing cells give no term, and a strictly monotone
//! transform of a feature changes nothing, bit for bit. Each factor is a scale
//! mixture of normals, $e^{-2\max(0,u)} = \int\_0^\infty N(u; -\lambda,
//! \lambda)\\,d\lambda$, so that with $\kappa\_t = \langle\lambda\_t^{-1}\rangle =
//! \langle u\_t^2\rangle^{-1/2}$
//!
//! $$ P\_{a\_i} = c\sum\_{t\in i}\kappa\_t\langle\delta\_t\delta\_t^\top\rangle,\qquad
//! h\_{a\_i} = -c\sum\_{t\in i}(1+\epsilon\kappa\_t)\langle\delta\_t\rangle,\qquad
//! \delta\_t = z\_l - z\_h $$
//!
//! $$ P\_{z\_n} = c\sum\_{t\ni n}\kappa\_t\langle a\_ia\_i^\top\rangle,\qquad
//! h\_{z\_n} = c\sum\_{t\ni n}\big(\kappa\_t\langle a\_ia\_i^\top\rangle\langle z\_o\rangle -
//! \sigma\_{tn}(1+\epsilon\kappa\_t)\langle a\_i\rangle\big) $$
//!
//! ($o$ the other end, $\sigma = 1$ at the lower and −1 at the higher one), and
//! the bound is $-c\sum\_t[\langle u\_t\rangle + \tfrac12(\kappa\_t\langle
//! u\_t^2\rangle + 1/\kappa\_t)]$. Factors are updated one sample after the other:
//! the precisions of all are one weighted Gram, and only the right-hand side
//! needs the present means of the others.
//!
//! | symbol | field |
//! |---|---|
//! | $t$ | `pairs`, `by_sample` |
//! | $\kappa$ | `kappa`: moments, or draws |
//! | $\epsilon$ | `epsilon` |
//!
//! Predictors have no intercepts: only differences count. New samples are
//! compared with training values; see [`Rank`].

mod anchors;
mod bound;
mod frozen;
mod gibbs;
mod insertion;
mod kernels;
mod levels;
mod leverage;
mod map;
mod moments;
mod options;
mod ordinary;
mod pairs;
mod policies;
mod scores;
mod species;
mod term;
mod vb;

pub use species::{OrdinaryRankSpecies, RankSpecies};

pub use frozen::FrozenRank;
pub use options::{Margin, PairPolicy, RankOptions, RankUpdates};
pub use ordinary::OrdinaryRank;
pub use scores::normal_scores;

use std::sync::Arc;

use polyview_core::{DataError, NumericError, Predictor, Stamp, View, ViewTerm};
use polyview_linalg::PackedLanes;
use polyview_random::StreamKey;

use anchors::Anchors;
use levels::Levels;
use map::Training;
use moments::{RowMajor, Sides, Spread};
use pairs::{BySample, MOST_SAMPLES, Pairs};

/// Smallest $\langle u^2\rangle$: no term weighs more than $10^8$.
const LEAST_SQUARE: f64 = 1e-16;

/// Data term of a view whose features are compared, not measured.
///
/// **New samples** ([`ViewTerm::rebind`](polyview_core::ViewTerm::rebind)) are
/// inserted among the training values of each feature: a stratified grid of
/// them, [`RankOptions::anchors`] at most, each of which stands for its stratum.
/// All together weigh as much as the pairs of a training sample do. The factors
/// of the training samples stay as they are, so that new samples do not touch
/// one another (section 6 of the spec).
///
/// **Predictions** are in the units of the data: the normal scores of the
/// training values, regressed on their predictors, place a new predictor among
/// them, with the spread that is left; mean and variance are those of the
/// training values met there. Nothing outside their range is ever predicted.
/// [`Conditioned::condition`](polyview_core::Conditioned::condition) comes first.
#[derive(Clone, Debug)]
pub struct Rank {
    name: String,
    features: Vec<String>,
    options: RankOptions,
    epsilon: f64,
    levels: Arc<Levels>,
    pairs: Pairs,
    by_sample: BySample,
    /// $\langle 1/\lambda\rangle$, or the drawn $1/\lambda$, one a term.
    kappa: Vec<f64>,
    drawn: bool,
    /// Changes with pairs and `kappa`.
    stamp: Stamp,
    factor_rows: RowMajor,
    weight_rows: RowMajor,
    /// Second moments of the weights with their stamp.
    second: Option<(Stamp, PackedLanes)>,
    measured: Option<Measured>,
    anchors: Arc<Anchors>,
    training: Option<Arc<Training>>,
}

/// The term that the choices ask for: [`Rank`] or [`FrozenRank`].
///
/// # Errors
/// As [`Rank::new`].
pub fn rank_term(
    view: &View,
    options: RankOptions,
    key: StreamKey,
) -> Result<Box<dyn ViewTerm>, DataError> {
    Ok(match options.updates {
        RankUpdates::Coherent => Box::new(Rank::new(view, options, key)?),
        RankUpdates::Frozen => Box::new(FrozenRank::new(view, options, key)?),
    })
}

/// Moments of the terms under some state of factors and weights.
#[derive(Clone, Debug)]
struct Measured {
    key: (Stamp, Stamp),
    /// $\langle u\_t^2\rangle$, or $u\_t$ itself where everything is known.
    values: Vec<f64>,
    known: bool,
    /// $\sum\langle u\_t\rangle$.
    sum: f64,
}

impl Rank {
    /// The term of a view; `key` draws the pairs of samples, by the place of
    /// the feature and not by its values.
    ///
    /// # Errors
    /// [`DataError::Option`] for choices that cannot be,
    /// [`DataError::NothingObserved`] when every cell of a view with samples is
    /// missing, [`DataError::TooManySamples`].
    pub fn new(view: &View, options: RankOptions, key: StreamKey) -> Result<Self, DataError> {
        options.check(view.name())?;
        if view.n_samples() > 0 && view.n_observed() == 0 {
            return Err(DataError::NothingObserved {
                view: view.name().to_owned(),
            });
        }
        if view.n_samples() >= MOST_SAMPLES {
            return Err(DataError::TooManySamples {
                view: view.name().to_owned(),
                found: view.n_samples(),
                most: MOST_SAMPLES - 1,
            });
        }
        let levels = Levels::new(view);
        let pairs = policies::make(options.pairs, options.partners, &levels, key);
        let epsilon = match options.margin {
            Margin::Fixed(epsilon) => epsilon,
            Margin::PerCell(nats) => {
                let compared: usize = (0..levels.features())
                    .filter(|&i| !pairs.of(i).is_empty())
                    .map(|i| view.mask().count_feature(i, view.n_samples()))
                    .sum();
                // a pair has two cells
                let of_cell = 2.0 * pairs.len() as f64 / compared.max(1) as f64;
                nats / (2.0 * options.weight * of_cell.max(f64::MIN_POSITIVE))
            }
        };
        let epsilon = if pairs.len() == 0 { 1.0 } else { epsilon };
        let anchors = Anchors::new(view, &levels, options.anchors).with_rates(&levels, &pairs);
        Ok(Self {
            name: view.name().to_owned(),
            features: view.features().to_vec(),
            options,
            epsilon,
            by_sample: BySample::new(&pairs, levels.samples()),
            kappa: vec![epsilon.recip(); pairs.len()],
            pairs,
            levels: Arc::new(levels),
            drawn: false,
            stamp: Stamp::fresh(),
            factor_rows: RowMajor::default(),
            weight_rows: RowMajor::default(),
            second: None,
            measured: None,
            anchors: Arc::new(anchors),
            training: None,
        })
    }
    /// The choices.
    pub fn options(&self) -> &RankOptions {
        &self.options
    }
    /// The margin $\epsilon$ in effect.
    pub fn epsilon(&self) -> f64 {
        self.epsilon
    }
    /// Number of pairs that are compared.
    pub fn n_pairs(&self) -> usize {
        self.pairs.len()
    }
    /// The pairs of a feature as (sample of the smaller value, sample of the
    /// larger).
    ///
    /// # Panics
    /// If there is no such feature.
    pub fn pairs(&self, feature: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.pairs
            .of(feature)
            .map(|t| (self.pairs.low[t] as usize, self.pairs.high[t] as usize))
    }

    /// Brings the moments of the terms up to date.
    fn measure(&mut self, p: &Predictor<'_>) {
        let key = (p.factors.stamp(), p.weights.stamp());
        let mut values = match self.measured.take() {
            Some(m) if m.key == key => {
                self.measured = Some(m);
                return;
            }
            Some(m) => m.values,
            None => Vec::new(),
        };
        values.resize(self.pairs.len(), 0.0);
        self.factor_rows.sync(p.factors);
        self.weight_rows.sync(p.weights);
        let sides = Sides {
            pairs: &self.pairs,
            epsilon: self.epsilon,
            factors: &self.factor_rows,
            weights: &self.weight_rows,
            factor_cov: Spread::of(p.factors),
            weight_cov: Spread::of(p.weights),
            p,
        };
        let known = matches!(
            (&sides.factor_cov, &sides.weight_cov),
            (Spread::None, Spread::None)
        );
        let sums = sides.measure(
            &mut values,
            |_, _, mean, square| {
                if known { mean } else { square }
            },
        );
        self.measured = Some(Measured {
            key,
            values,
            known,
            sum: sums.iter().sum(),
        });
    }
    /// Says that the precisions of the terms are others.
    fn changed(&mut self) {
        self.stamp = Stamp::fresh();
        self.by_sample.forget();
    }
    fn not_finite(&self, what: &'static str) -> NumericError {
        NumericError::NotFinite {
            block: format!("likelihood/{}", self.name),
            what,
        }
    }
}
