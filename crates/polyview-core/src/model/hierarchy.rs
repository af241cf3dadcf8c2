//! Level and spread of the intercepts of a view, learnt from all its columns: $b\_{gd} \sim
//! N(\mu\_g, 1/\lambda)$, $\mu\_g \sim N(0, 1/\kappa\_0)$, $\lambda \sim \mathrm{Ga}(a\_0, b\_0)$, spec/sites 7.

use std::f64::consts::PI;

use polyview_random::{StreamKey, standard_normal};

use super::gammas::{GammaPrior, Gammas};
use super::state::{State, StateReader, Stateful};
use crate::error::NumericError;

/// What is known of level and spread of the intercepts of a view before there are data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LevelPrior {
    /// $\kappa\_0$: precision of a level about zero, per squared unit of the predictor.
    pub precision: f64,
    /// Prior of $\lambda$, the precision of the intercepts about their level.
    pub spread: GammaPrior,
}

impl Default for LevelPrior {
    /// Vague for log-odds and logarithms of counts: $\kappa\_0 = 0.01$, $\mathrm{Ga}(1, 1)$.
    fn default() -> Self {
        Self {
            precision: 0.01,
            spread: GammaPrior::new(1.0, 1.0),
        }
    }
}

/// Posterior of level and spread; draws have no variance.
#[derive(Clone, Debug)]
pub(super) struct Hierarchy {
    /// $\kappa\_0$.
    prior: f64,
    /// $\langle\mu\_g\rangle$.
    level: Vec<f64>,
    /// Variances of the levels.
    variance: Vec<f64>,
    /// $\lambda$, one variable.
    spread: Gammas,
}

impl Hierarchy {
    /// Of so many groups, which start at level 0 and spread 1.
    pub(super) fn new(groups: usize, prior: LevelPrior) -> Self {
        Self {
            prior: prior.precision,
            level: vec![0.0; groups],
            variance: vec![0.0; groups],
            spread: Gammas::new(prior.spread, 1, 1.0),
        }
    }
    /// That of one group alone.
    pub(super) fn of_group(&self, group: usize) -> Self {
        Self {
            prior: self.prior,
            level: vec![self.level(group)],
            variance: vec![self.variance[group]],
            spread: self.spread.clone(),
        }
    }
    /// $\langle\mu\_g\rangle$.
    pub(super) fn level(&self, group: usize) -> f64 {
        self.level[group]
    }
    /// $\langle\lambda\rangle$.
    pub(super) fn precision(&self) -> f64 {
        self.spread.mean()[0]
    }
    fn columns(&self, places: usize) -> usize {
        places / self.level.len().max(1)
    }
    /// Sets levels, then spread, to their optimum given the moments of the intercepts, those of
    /// all columns group after group.
    pub(super) fn update(&mut self, mean: &[f64], variance: &[f64]) {
        let columns = self.columns(mean.len());
        let precision = self.precision();
        for (g, own) in mean.chunks(columns.max(1)).enumerate() {
            let total: f64 = own.iter().sum();
            self.variance[g] = (self.prior + own.len() as f64 * precision).recip();
            self.level[g] = self.variance[g] * precision * total;
        }
        let squares = self.squares(mean, variance, |_| true);
        let (shape, rate) = self.spread.posterior(0.5 * squares.0, 0.5 * squares.1);
        self.spread.set(0, shape, rate);
    }
    /// Draws levels, then spread, given intercepts that are drawn; those with a variance are
    /// summed out.
    pub(super) fn draw(&mut self, mean: &[f64], variance: &[f64], key: StreamKey) {
        let columns = self.columns(mean.len());
        let precision = self.precision();
        let drawn = |i: usize| variance[i] == 0.0;
        let mut rng = stream(key, 0).rng();
        for g in 0..self.level.len() {
            let own = (g * columns..(g + 1) * columns).filter(|i| drawn(*i));
            let (count, total) = own.fold((0.0, 0.0), |(n, s), i| (n + 1.0, s + mean[i]));
            let v = (self.prior + count * precision).recip();
            self.level[g] = v * precision * total + v.sqrt() * standard_normal(&mut rng);
            self.variance[g] = 0.0;
        }
        let (count, squares) = self.squares(mean, variance, drawn);
        let (shape, rate) = self.spread.posterior(0.5 * count, 0.5 * squares);
        self.spread.draw(0, shape, rate, stream(key, 1));
    }
    /// Draws levels and spread from their priors.
    pub(super) fn draw_prior(&mut self, key: StreamKey) {
        let mut rng = stream(key, 0).rng();
        for level in &mut self.level {
            *level = self.prior.sqrt().recip() * standard_normal(&mut rng);
        }
        self.variance.fill(0.0);
        let prior = self.spread.prior();
        (self.spread).draw(0, prior.shape, prior.rate, stream(key, 1));
    }
    /// Number of the intercepts that count, and $\sum\langle(b\_{gd} - \mu\_g)^2\rangle$ of them.
    fn squares(
        &self,
        mean: &[f64],
        variance: &[f64],
        counts: impl Fn(usize) -> bool,
    ) -> (f64, f64) {
        let columns = self.columns(mean.len()).max(1);
        let mut out = (0.0, 0.0);
        for i in (0..mean.len()).filter(|i| counts(*i)) {
            let g = i / columns;
            let off = mean[i] - self.level[g];
            out.0 += 1.0;
            out.1 += off * off + variance[i] + self.variance[g];
        }
        out
    }
    /// What intercepts, levels and spread say of the bound (spec/sites 7); for draws the log
    /// prior density.
    pub(super) fn bound(&self, mean: &[f64], variance: &[f64], drawn: bool) -> f64 {
        let (count, squares) = self.squares(mean, variance, |_| true);
        let of_level = |(m, v): (&f64, &f64)| {
            let quadratic = 0.5 * (self.prior.ln() - self.prior * (m * m + v));
            if *v > 0.0 {
                quadratic + 0.5 * v.ln() + 0.5
            } else {
                quadratic - 0.5 * (2.0 * PI).ln()
            }
        };
        let levels: f64 = self.level.iter().zip(&self.variance).map(of_level).sum();
        let own = if drawn {
            -0.5 * count * (2.0 * PI).ln()
        } else {
            0.5 * variance.iter().map(|v| v.ln()).sum::<f64>() + 0.5 * count
        };
        let logs = 0.5 * count * self.spread.mean_ln()[0];
        logs - 0.5 * self.precision() * squares + own + levels + self.spread.bound()
    }
    /// What [`Stateful::save`] wrote; `None` where it wrote nothing.
    pub(super) fn read(
        prefix: &str,
        state: &StateReader<'_>,
        groups: usize,
    ) -> Result<Option<Self>, NumericError> {
        if !state.has(&format!("{prefix}/level")) {
            return Ok(None);
        }
        let mut out = Self::new(groups, LevelPrior::default());
        out.load(prefix, state)?;
        Ok(Some(out))
    }
}

/// Streams beyond those of intercepts ([`Bias`](super::Bias)).
fn stream(key: StreamKey, which: u32) -> StreamKey {
    key.chunk(u32::MAX - which)
}

impl Stateful for Hierarchy {
    fn save(&self, prefix: &str, state: &mut State) {
        state.put_vec(&format!("{prefix}/precision"), &[self.prior]);
        state.put_vec(&format!("{prefix}/level"), &self.level);
        state.put_vec(&format!("{prefix}/variance"), &self.variance);
        self.spread.save(&format!("{prefix}/spread"), state);
    }
    fn load(&mut self, prefix: &str, state: &StateReader<'_>) -> Result<(), NumericError> {
        let groups = self.level.len();
        self.prior = state.scalar(&format!("{prefix}/precision"))?;
        self.level = state.vec_of(&format!("{prefix}/level"), groups)?;
        self.variance = state.vec_of(&format!("{prefix}/variance"), groups)?;
        self.spread.load(&format!("{prefix}/spread"), state)?;
        if self.spread.len() == 1 && self.precision() > 0.0 && self.prior > 0.0 {
            return Ok(());
        }
        Err(NumericError::BadState {
            name: format!("{prefix}/spread/shape"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Bias;

    fn bias(groups: usize) -> Bias {
        let mut bias = if groups == 1 {
            Bias::gaussian(4, 0, 0.5)
        } else {
            let of = crate::RowGroups::new(vec![0, 1, 1], groups).unwrap();
            Bias::by_group(4, of, 0.5)
        };
        let mean = (0..4 * groups).map(|i| -2.0 + 0.4 * (i as f64).sin());
        let variance = (0..4 * groups).map(|i| 0.1 + 0.02 * i as f64);
        bias.set(mean.collect(), variance.collect());
        bias.with_learnt_prior(LevelPrior::default())
    }

    /// The terms of spec/sites 7, written out.
    #[test]
    fn the_bound_is_that_of_the_specification() {
        let bias = bias(1);
        let h = bias.hierarchy().unwrap();
        let (m, v) = (h.level[0], h.variance[0]);
        let (a, b) = (h.spread.shape()[0], h.spread.rate()[0]);
        let l = a / b;
        let ln = polyview_special::digamma(a) - b.ln();
        let mut bracket = 4.0 * v;
        let mut logs = 0.0;
        for (x, s) in bias.mean().iter().zip(bias.variance()) {
            bracket += (x - m).powi(2) + s;
            logs += 0.5 * s.ln();
        }
        // Ga(1, 1): ln p = -l
        let kl = (a - 1.0) * polyview_special::digamma(a) - polyview_special::ln_gamma(a)
            + b.ln()
            + a * (1.0 - b) / b;
        let wanted = 2.0 * ln - 0.5 * l * bracket + logs + 2.0 - kl - 0.005 * (m * m + v)
            + 0.5 * (0.01 * v).ln()
            + 0.5;
        assert!((bias.bound() - wanted).abs() < 1e-12, "{wanted}");
    }

    /// No small change of level or spread raises the bound; and no step lowers it.
    #[test]
    fn steps_end_at_the_optimum() {
        for groups in [1, 2] {
            let mut bias = bias(groups);
            let mut last = bias.bound();
            for _ in 0..200 {
                bias.update_prior();
                let now = bias.bound();
                assert!(now >= last - 1e-10, "{last} {now}");
                last = now;
            }
            let of = |change: &dyn Fn(&mut Hierarchy)| {
                let mut h = bias.hierarchy().unwrap().clone();
                change(&mut h);
                h.bound(bias.mean(), bias.variance(), false)
            };
            for e in [-1e-3, 1e-3] {
                assert!(of(&|h| h.level[groups - 1] += e) < last);
                assert!(of(&|h| h.variance[0] *= 1.0 + e) < last);
                assert!(
                    of(&|h| {
                        let (a, b) = (h.spread.shape()[0], h.spread.rate()[0]);
                        h.spread.set(0, a, b * (1.0 + e));
                    }) < last
                );
            }
        }
    }

    /// Intercepts of which no data speak are those of their prior, whatever it becomes.
    #[test]
    fn what_no_data_speak_of_follows_the_prior() {
        let mut bias = bias(1);
        for _ in 0..100 {
            bias.update(0..4, &[5.0, 5.0, 0.0, 5.0], &[-15.0, -14.0, 0.0, -14.0]);
            bias.update_prior();
        }
        let prior = bias.prior_precision().unwrap();
        assert!((bias.mean()[2] - bias.prior_mean(2)).abs() < 1e-12);
        assert!((bias.variance()[2] * prior - 1.0).abs() < 1e-12);
        assert!((-3.0..-2.5).contains(&bias.mean()[2]));
    }

    #[test]
    fn what_was_saved_comes_back() {
        let bias = bias(2);
        let mut state = State::new();
        bias.save("b", &mut state);
        let mut other = Bias::by_group(4, bias.groups().unwrap().clone(), 0.5);
        other.load("b", &state.reader()).unwrap();
        assert!(other.learns_prior());
        assert_eq!(bias.bound().to_bits(), other.bound().to_bits());
    }
}
