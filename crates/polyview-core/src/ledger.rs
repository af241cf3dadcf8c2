//! The objective by named term.

use serde::{Deserialize, Serialize};

/// What a term of the objective adds up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// Parts of the samples: a batch of them has its share.
    Samples,
    /// Parameters, which are there once however many samples there are.
    Parameters,
}

/// A named part of the objective, in nats.
#[derive(Clone, Debug, PartialEq)]
pub struct Term<N = &'static str> {
    /// Name.
    pub name: N,
    /// What it adds up.
    pub of: Of,
    /// Value, nats.
    pub value: f64,
}

/// Named contributions of one block.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Terms(pub Vec<Term>);

impl Terms {
    /// One term that adds up parts of the samples (or rows).
    pub fn of_samples(name: &'static str, value: f64) -> Self {
        Self::default().with(name, Of::Samples, value)
    }
    /// One term more.
    #[must_use]
    pub fn with(mut self, name: &'static str, of: Of, value: f64) -> Self {
        self.0.push(Term { name, of, value });
        self
    }
    /// Sum of all terms.
    pub fn sum(&self) -> f64 {
        compensated(self.0.iter().map(|t| t.value))
    }
}

/// The objective of one sweep: terms in a fixed order, named
/// `kind/view`, such as `likelihood/genes`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LedgerRow {
    /// The sweep, from 1; 0 is the start.
    pub sweep: usize,
    /// Number of factors then.
    pub factors: usize,
    /// One value a name of the [`Ledger`].
    pub values: Vec<f64>,
    /// Compensated sum of the values: the bound (variational Bayes) or the log
    /// joint density (Gibbs), in nats.
    pub total: f64,
}

/// What an objective still gains, in nats.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct GainLeft {
    /// Gain of a sweep, by the last ones.
    pub per_sweep: f64,
    /// Gain of all sweeps to come, if gains go on shrinking as they do; none where they do not
    /// shrink.
    pub left: Option<f64>,
}

/// Fewest and most sweeps of a stretch whose gain is looked at.
const SHORTEST_STRETCH: usize = 2;
const LONGEST_STRETCH: usize = 50;

/// Sweeps whose gain is all that counts as left.
const FAR: f64 = 1000.0;

/// Relative gain that is rounding.
const ROUNDING: f64 = 1e-12;

/// The objective by named term, one row a sweep.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ledger {
    /// Names of the terms.
    pub names: Vec<String>,
    /// One row a sweep.
    pub rows: Vec<LedgerRow>,
}

impl Ledger {
    /// Adds a row. The names are taken from the first one.
    pub fn push(&mut self, sweep: usize, factors: usize, terms: Vec<Term<String>>) -> f64 {
        let values: Vec<f64> = terms.iter().map(|t| t.value).collect();
        if self.names.is_empty() {
            self.names = terms.into_iter().map(|t| t.name).collect();
        }
        let total = compensated(values.iter().copied());
        self.rows.push(LedgerRow {
            sweep,
            factors,
            values,
            total,
        });
        total
    }
    /// The last total, in nats.
    pub fn last(&self) -> Option<f64> {
        self.rows.last().map(|r| r.total)
    }
    /// How fast the objective still rises, and how far it has to go, from its last sweeps with
    /// as many factors as now; none where these are fewer than five.
    ///
    /// Gains of two stretches of $w$ sweeps each, $g_1$ and then $g_2$, shrink by $q = g_2 / g_1$;
    /// as they go on so, $g_2 q / (1 - q)$ is left. An estimate: gains that shrink ever more slowly
    /// leave more.
    pub fn gain_left(&self) -> Option<GainLeft> {
        let totals = self.alike(usize::MAX)?;
        gain_of(&totals, longest(&totals))
    }
    /// The most that is left by estimates as of [`Ledger::gain_left`] from stretches of that length,
    /// of half and of a quarter of it, as gains may come in waves; by each no more than a thousand
    /// sweeps at its pace would gain. Nats; none where there are fewer than five sweeps with as many
    /// factors as now.
    pub fn most_left(&self) -> Option<f64> {
        self.most_left_of(usize::MAX)
    }
    /// As [`Ledger::most_left`], by no more than so many last `sweeps`: those before may have had another objective.
    /// Nats; none where there are fewer than five of them with as many factors as now.
    pub fn most_left_of(&self, sweeps: usize) -> Option<f64> {
        let totals = self.alike(sweeps)?;
        let longest = longest(&totals);
        let stretches = [longest, longest / 2, longest / 4].map(|w| w.max(SHORTEST_STRETCH));
        let left = stretches.map(|w| {
            let GainLeft { per_sweep, left } = gain_of(&totals, w)?;
            let pace = FAR * per_sweep;
            Some(left.map_or(pace, |left| left.min(pace)))
        });
        left.into_iter()
            .try_fold(0.0, |most: f64, left| Some(most.max(left?)))
    }
    /// What is left if gains fall with the square of the sweeps so far, as those of fits that creep do: their pace
    /// times the sweeps. Nats; none where there are fewer than five sweeps with as many factors as now.
    ///
    /// Stretches that shrink by a constant factor ([`Ledger::gain_left`]) see the end of what moves now, and not what
    /// moves ever more slowly.
    pub fn left_by_age(&self) -> Option<f64> {
        let pace = self.gain_left()?.per_sweep;
        Some(pace * self.rows.last()?.sweep as f64)
    }
    /// Totals of the last sweeps with as many factors as now, the last one first, at most so many and
    /// as far as any stretch reaches.
    fn alike(&self, sweeps: usize) -> Option<Vec<f64>> {
        let factors = self.rows.last()?.factors;
        let alike = (self.rows.iter().rev()).take_while(|r| r.factors == factors);
        Some(
            alike
                .take(sweeps.min(4 * LONGEST_STRETCH))
                .map(|r| r.total)
                .collect(),
        )
    }
    /// All totals in order.
    pub fn totals(&self) -> impl Iterator<Item = f64> + '_ {
        self.rows.iter().map(|r| r.total)
    }
}

/// Sweeps of the longest stretch, of totals the last of which is first.
fn longest(totals: &[f64]) -> usize {
    (totals.len() / 4).clamp(SHORTEST_STRETCH, LONGEST_STRETCH)
}

/// What is left by two stretches of `w` sweeps each, of totals the last of which is first.
fn gain_of(totals: &[f64], w: usize) -> Option<GainLeft> {
    let (now, middle, first) = (totals.first()?, totals.get(w)?, totals.get(2 * w)?);
    let (earlier, later) = (middle - first, now - middle);
    let rounding = ROUNDING * now.abs().max(1.0);
    if later <= rounding {
        return Some(GainLeft {
            per_sweep: 0.0,
            left: Some(0.0),
        });
    }
    let shrinks = later < earlier;
    Some(GainLeft {
        per_sweep: later / w as f64,
        left: shrinks.then(|| later * later / (earlier - later)),
    })
}

/// Neumaier's compensated sum.
pub fn compensated(values: impl IntoIterator<Item = f64>) -> f64 {
    let (mut sum, mut rest) = (0.0_f64, 0.0_f64);
    for x in values {
        let t = sum + x;
        rest += if sum.abs() >= x.abs() {
            (sum - t) + x
        } else {
            (x - t) + sum
        };
        sum = t;
    }
    sum + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(totals: impl IntoIterator<Item = (usize, f64)>) -> Ledger {
        let mut ledger = Ledger::default();
        for (sweep, (factors, value)) in totals.into_iter().enumerate() {
            let name = "likelihood".to_owned();
            let of = Of::Samples;
            ledger.push(sweep + 1, factors, vec![Term { name, of, value }]);
        }
        ledger
    }

    /// A bound that nears its end by a tenth of what is left in each sweep, with a factor that
    /// goes on the way.
    #[test]
    fn what_is_left_is_estimated_from_gains_that_shrink() {
        let rises = |sweeps: i32| {
            let at = |s: i32| (if s < 10 { 4 } else { 3 }, -100.0 - 50.0 * 0.9_f64.powi(s));
            of((0..sweeps).map(at)).gain_left()
        };
        for sweeps in [20, 40, 90] {
            let found = rises(sweeps).expect("enough sweeps");
            let left = 50.0 * 0.9_f64.powi(sweeps - 1);
            assert!((found.left.expect("gains shrink") / left - 1.0).abs() < 1e-6);
            assert!(found.per_sweep > 0.1 * left && found.per_sweep < left);
        }
        // four sweeps with as many factors say nothing
        assert_eq!(rises(14), None);
        assert!(rises(15).is_some());
    }

    /// Gains of waves: the longest stretches see them shrink, the last sweeps do not.
    #[test]
    fn the_most_that_is_left_is_that_of_the_worst_stretch() {
        let smooth = of((0..80).map(|s| (4, -100.0 * 0.9_f64.powi(s))));
        let left = 100.0 * 0.9_f64.powi(79);
        assert!((smooth.most_left().expect("sweeps") / left - 1.0).abs() < 1e-6);
        // rests for a while, then speeds up
        let speeds = |s: i32| {
            if s < 70 {
                -100.0 * 0.8_f64.powi(s)
            } else {
                0.01 * f64::from(s - 69)
            }
        };
        let waves = of((0..80).map(|s| (4, speeds(s))));
        let told = waves.gain_left().and_then(|g| g.left);
        let most = waves.most_left().expect("sweeps");
        assert!(most > 1.0 && told.is_none_or(|told| most >= told), "{most}");
        // slower than a thousand sweeps are worth
        let steady = of((0..80).map(|s| (4, 1e-6 * f64::from(s))));
        assert!((steady.most_left().expect("sweeps") - 1e-3).abs() < 1e-9);
        assert_eq!(of((0..4).map(|_| (2, -3.0))).most_left(), None);
        assert_eq!(of((0..9).map(|_| (2, -3.0))).most_left(), Some(0.0));
    }

    /// Of a bound that is a hundred nats over the number of sweeps below its end the last stretches tell a part alone.
    #[test]
    fn a_bound_that_creeps_has_its_pace_times_its_sweeps_left() {
        for sweeps in [40, 200, 1000] {
            let creeps = of((1..=sweeps).map(|s| (4, -100.0 / f64::from(s))));
            let true_left = 100.0 / f64::from(sweeps);
            let by_age = creeps.left_by_age().expect("enough sweeps");
            let by_stretches = creeps.gain_left().and_then(|g| g.left).expect("shrinks");
            assert!(
                by_age > 0.9 * true_left && by_age < 1.5 * true_left,
                "{by_age}"
            );
            assert!(
                by_stretches < 0.7 * true_left,
                "{by_stretches} of {true_left}"
            );
        }
        assert_eq!(of((0..4).map(|_| (2, -3.0))).left_by_age(), None);
    }

    #[test]
    fn a_bound_at_rest_has_nothing_left_and_one_that_speeds_up_no_end() {
        let rests = of((0..9).map(|_| (2, -3.0))).gain_left();
        let nothing = GainLeft {
            per_sweep: 0.0,
            left: Some(0.0),
        };
        assert_eq!(rests, Some(nothing));
        let steady = of((0..9).map(|s| (2, f64::from(s)))).gain_left();
        let steady = steady.expect("enough sweeps");
        assert_eq!((steady.per_sweep, steady.left), (1.0, None));
    }
}
