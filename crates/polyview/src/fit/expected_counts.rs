//! Counts of which far more are expected than were counted.

use polyview_core::{AS_IT_IS, Block, Event, Predictor, State};
use polyview_likelihoods::ParameterUncertainty;

use super::Fit;
use super::remarks::short;
use crate::assemble;
use crate::error::{ErrorKind, Result};

/// Most cells times draws that are looked at: of more draws, those that are evenly spaced.
const CELLS: usize = 20_000_000;

/// Fewest observed cells of a feature whose mean count says anything.
const FEWEST: usize = 10;

/// How many times as much as was counted has to be expected.
const TIMES: f64 = 2.0;

/// What is added to the counts of a feature: of one that was never counted half a count is expected.
const HALF: f64 = 0.5;

/// The end of the names under which terms keep the factors.
const LEVELS: &str = "/levels";

/// A feature of which more is expected, on average over its observed cells, than was counted.
struct Beyond {
    feature: usize,
    expected: f64,
    counted: f64,
    /// By what the expected counts are multiplied.
    level: f64,
    /// Variance of the counts about what is expected then, over its square, without that of Poisson counts.
    spread: f64,
}

/// Sums over the observed cells of a feature: of what is expected, of its squares, and of its products with the counts.
#[derive(Clone, Copy, Default)]
struct Sums {
    expected: f64,
    squares: f64,
    products: f64,
}

impl Fit {
    /// Brings expected counts to the level of what was counted, feature by feature, where they are on average more than twice as large: the mean
    /// of a rate that is the exponential of a normal variable hangs on the far end of its law, and of counts most of which are
    /// zero and some large it is no count that anybody will see (docs/decisions/0110-levels-of-counts.md). Intervals and densities stay as they are. Says of which features
    /// that is so. Nothing happens where the data are not at hand.
    pub(super) fn level_expected_counts(&mut self) -> Result<()> {
        for at in 0..self.views.len() {
            let found = self.beyond_counts(at)?;
            let Some(worst) = (found.iter()).min_by(|a, b| a.level.total_cmp(&b.level)) else {
                continue;
            };
            let mut levels = vec![AS_IT_IS; self.views[at].features.len()];
            for beyond in &found {
                levels[beyond.feature] = (beyond.level, beyond.spread);
            }
            if !self.take_levels(at, &levels)? {
                continue;
            }
            let view = &self.views[at];
            let which = format!(
                "the expected counts of {} of {} feature(s) are on average more than twice what was counted, above all of '{}' ({}, where {} \
                 were counted)",
                found.len(),
                levels.len(),
                view.features[worst.feature],
                short(worst.expected),
                short(worst.counted),
            );
            let note = format!(
                "{which}, as the mean of a rate hangs on the far end of its law: expected counts of these and their standard deviations are \
                 brought to those of what was counted; intervals and densities stay as they are; compare with the likelihood negative-binomial"
            );
            let block = format!("likelihood/{}", view.name);
            self.note_before_the_end(&block, Event::Warning { note });
        }
        Ok(())
    }

    /// Has the terms of a view keep factors of its expected counts, under each component of the posterior and where it is settled; whether
    /// they do.
    fn take_levels(&mut self, at: usize, levels: &[(f64, f64)]) -> Result<bool> {
        let view = &self.views[at];
        let empty = assemble::empty_view(&view.name, &view.features, &view.levels)?;
        let groups = assemble::several(self.groups());
        let posterior = ParameterUncertainty::Posterior;
        let mut model = (self.composed).parameters(groups, vec![empty], self.k(), posterior)?;
        let term = &mut model.views[0].term;
        if !term.take_levels(levels) {
            return Ok(false);
        }
        let mut own = State::new();
        term.save(&format!("views/{}/term", view.name), &mut own);
        let settled = self.holds_settled(at).then_some(&mut self.settled);
        for state in self.components.iter_mut().chain(settled) {
            for (name, array) in own.arrays() {
                if name.ends_with(LEVELS) {
                    state.put(name, array.clone());
                }
            }
        }
        Ok(true)
    }

    /// The features of a view of counts that are so.
    fn beyond_counts(&self, at: usize) -> Result<Vec<Beyond>> {
        let domain = self.views[at].choices.likelihood.domain();
        let of_counts = domain.is_some_and(|d| d.is_count() && !d.has_trials());
        let data = self.data.as_ref().filter(|_| of_counts);
        let Some(view) = data.map(|data| &data[at]) else {
            return Ok(Vec::new());
        };
        let of_one = match self.as_of_one(&mut Vec::new()) {
            // nothing is told of samples whose factors do not come to rest
            Err(e) if matches!(e.kind(), ErrorKind::NotSettled { .. }) => return Ok(Vec::new()),
            found => found?,
        };
        let (samples, features) = (view.n_samples(), view.n_features());
        let step = (samples * features * self.n_components()).div_ceil(CELLS);
        let draws: Vec<usize> = (0..self.n_components()).step_by(step.max(1)).collect();
        let mut sums = vec![Sums::default(); features];
        let mut counts = vec![0.0; samples];
        let (mut mean, mut sd) = (vec![0.0; samples], vec![0.0; samples]);
        for i in &draws {
            let mut component = self.component(*i)?;
            if let Some(shares) = of_one.as_ref().and_then(|z| z.shares.as_ref()) {
                component.share(shares);
            }
            let part = &component.views[at];
            let own = of_one.as_ref().map(|z| &z.moments);
            let factors = component.seen(own.unwrap_or_else(|| component.factors()));
            let p = Predictor {
                factors: &factors,
                weights: part.seen(),
                bias: &part.bias,
            };
            let share = 1.0 / draws.len() as f64;
            for (d, sums) in sums.iter_mut().enumerate() {
                let law = part.term.law(&p, &Block::new(0..samples, d..d + 1));
                law.moments(0, &mut mean, &mut sd);
                view.write_column(d, &mut counts);
                for n in (0..samples).filter(|n| view.is_observed(*n, d)) {
                    sums.expected += share * mean[n];
                    sums.squares += share * mean[n].powi(2);
                    sums.products += share * mean[n] * counts[n];
                }
            }
        }
        let mut found = Vec::new();
        for (d, sums) in sums.into_iter().enumerate() {
            view.write_column(d, &mut counts);
            let seen: Vec<f64> = ((0..samples).filter(|n| view.is_observed(*n, d)))
                .map(|n| counts[n])
                .collect();
            let all = seen.iter().sum::<f64>();
            let counted = HALF + all;
            // of what is beyond all numbers there is no ratio
            let finite = sums.expected.is_finite() && sums.squares.is_finite();
            if finite && seen.len() >= FEWEST && sums.expected > TIMES * counted {
                let level = counted / sums.expected;
                let squares: f64 = seen.iter().map(|x| x * x).sum();
                let about = squares - 2.0 * level * sums.products + level * level * sums.squares;
                let each = |x: f64| x / seen.len() as f64;
                found.push(Beyond {
                    feature: d,
                    expected: each(sums.expected),
                    counted: each(all),
                    level,
                    spread: ((about - all) / (level * level * sums.squares)).max(0.0),
                });
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use polyview_core::{Dataset, Overwrite, Table};
    use polyview_linalg::Mat;
    use polyview_random::{StreamKey, poisson, uniform_open01};

    use crate::{Fit, models};

    /// Counts between 5 and 495, some of which are zero.
    fn table(zeros: f64) -> Table {
        let mut rng = StreamKey::new(7).rng();
        let values = Mat::from_fn(40, 12, |n, d| {
            let count = (5.0 + 490.0 * uniform_open01(&mut rng)).round();
            let zero = uniform_open01(&mut rng) < zeros;
            // no feature is zero throughout
            if zero && n != d { 0.0 } else { count }
        });
        Table {
            name: "x".into(),
            samples: (0..40).map(|n| n.to_string()).collect(),
            features: (0..12).map(|d| format!("x{d}")).collect(),
            levels: Vec::new(),
            values,
        }
    }

    fn fit(zeros: f64, likelihood: &str, engine: crate::EngineKind) -> (Fit, Option<String>) {
        fit_of(table(zeros), likelihood, engine)
    }

    fn fit_of(table: Table, likelihood: &str, engine: crate::EngineKind) -> (Fit, Option<String>) {
        let data = Dataset::builder().view(table).build().unwrap();
        let mut spec = models::mofa(2).with_likelihood("x", likelihood);
        spec.engine = engine;
        (spec.gibbs.chains, spec.gibbs.warm_up, spec.gibbs.sweeps) = (1, 20, 30);
        let fit = crate::fit(data, spec).unwrap();
        let told = {
            let mut remarks = fit.record().journal.remarks();
            remarks.find_map(|(_, text)| text.contains("twice what was").then_some(text))
        };
        (fit, told)
    }

    fn average(x: &Mat<f64>) -> f64 {
        let all: f64 = x.col_iter().map(|c| c.iter().sum::<f64>()).sum();
        all / (x.nrows() * x.ncols()) as f64
    }

    /// Of counts most of which are zero and some in the hundreds a log-normal rate has means of millions; they are brought to what was
    /// counted, in the fit and in its file, by both engines. Ends of intervals stay. Nothing of the kind of plain counts.
    #[test]
    fn means_that_are_no_counts_are_brought_to_what_was_counted() {
        let counted = average(&table(0.85).values);
        for engine in [crate::EngineKind::Vb, crate::EngineKind::Gibbs] {
            let (fit, told) = fit(0.85, "poisson-log-normal", engine);
            let text = told.unwrap_or_else(|| {
                panic!("{engine:?} {}", average(&fit.fitted("x").unwrap().mean))
            });
            assert!(text.contains("of 12 feature(s)"), "{text}");
            assert!(text.contains("likelihood negative-binomial"), "{text}");
            let expected = average(&fit.fitted("x").unwrap().mean);
            let times = expected / counted;
            // so are standard deviations: of counts between 0 and 500 some hundred
            let sd = average(&fit.fitted("x").unwrap().sd);
            assert!((30.0..400.0).contains(&sd), "{engine:?}: {sd}");
            assert!(
                (0.4..2.2).contains(&times),
                "{engine:?}: {expected} {counted}"
            );
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("m.pv");
            fit.save(&path, Overwrite::Replace).unwrap();
            let again = Fit::load(&path).unwrap();
            let read = average(&again.fitted("x").unwrap().mean);
            assert_eq!(read.to_bits(), expected.to_bits());
        }
        let told = |zeros, likelihood| fit(zeros, likelihood, crate::EngineKind::Vb).1;
        assert_eq!(told(0.0, "poisson-log-normal"), None);
        assert_eq!(told(0.0, "negative-binomial"), None);
    }

    /// Where some features are brought to what was counted and others stay, one that was never counted among the first, the model is written and
    /// read as well, and what is told of it was counted.
    #[test]
    fn some_features_are_brought_to_what_was_counted_and_others_stay() {
        let mut rng = StreamKey::new(8).rng();
        let mut table = table(0.0);
        for d in 0..12 {
            for x in table.values.col_as_slice_mut(d) {
                *x = if d == 3 {
                    0.0
                } else {
                    poisson(&mut rng, 3.0).unwrap()
                };
            }
        }
        let (fit, told) = fit_of(table, "poisson-log-normal", crate::EngineKind::Vb);
        let told = told.unwrap();
        assert!(
            told.contains("1 of 12 feature(s)") && told.contains("where 0 were counted"),
            "{told}"
        );
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.pv");
        fit.save(&path, Overwrite::Replace).unwrap();
        let (before, after) = (
            fit.fitted("x").unwrap(),
            Fit::load(&path).unwrap().fitted("x").unwrap(),
        );
        for (a, b) in [(&before.mean, &after.mean), (&before.sd, &after.sd)] {
            assert_eq!(a, b);
            assert!(a.col_iter().all(|c| c.iter().all(|x| x.is_finite())));
        }
    }
}
