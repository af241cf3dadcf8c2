//! What is to be said of how a fit ended.

use polyview_core::{Event, FeatureScaling, GainLeft, NoiseBy};
use polyview_infer::{Moving, Outcome, StochasticOptions};
use polyview_likelihoods::normal_scores;

use super::draws::LOG_JOINT;
use super::{Component, Fit, Optimum, ViewInfo};
use crate::adjust::uses_up;
use crate::error::Result;
use crate::spec::EngineKind;
use crate::verbs::{ACTIVE_SHARE, UPDATE};

/// Ratio of the squared means of a factor's weights in a view to their variances, each
/// summed, below which the factor has no effect there: a hundredth of what chance alone
/// would give.
const NO_EFFECT: f64 = 0.01;

/// What is left of the bound below which no number is told, nats.
const LEAST_TOLD: f64 = 0.01;

/// Estimates of what is left that differ by more than this factor are both told.
const FAR_APART: f64 = 3.0;

/// A number to two digits, whatever its size.
fn two_digits(x: f64) -> String {
    if x == 0.0 || !x.is_finite() {
        return x.to_string();
    }
    let digits = (1 - x.abs().log10().floor() as i64).clamp(0, 12) as usize;
    format!("{x:.digits$}")
}

/// Least samples and features of which the law of large matrices is taken to hold.
const LARGE: (usize, f64) = (20, 5.0);

impl Fit {
    /// Whether the fit stopped at its limit of sweeps, epochs or exact sweeps before it converged;
    /// never so of draws, which have no end of their own.
    pub fn stopped_at_limit(&self) -> bool {
        !self.is_sampled() && self.record.outcome == Outcome::MaxSweeps
    }
    /// How the fit ended, in words: of draws how many sweeps are kept and how well the
    /// chains have mixed, as a chain has no end of its own.
    pub fn ending(&self) -> String {
        let record = &self.record;
        if self.run_options().engine == EngineKind::Stochastic && self.stopped_at_limit() {
            return "stopped at the limit of epochs or exact sweeps before it converged".to_owned();
        }
        if !self.is_sampled() {
            return record.outcome.to_string();
        }
        let kept = record
            .sweeps
            .saturating_sub(self.run_options().gibbs.warm_up);
        let chains = record.ledgers.len();
        let mut text = format!("{kept} kept of each of {chains} chain(s)");
        if record.outcome == Outcome::Interrupted {
            text.push_str(", interrupted");
        }
        let Some(mixing) = record.mixing() else {
            return text;
        };
        let told = |x: &Option<(f64, String)>, digits: usize| match x {
            Some((x, _)) => format!("{x:.digits$}"),
            None => "unknown".to_owned(),
        };
        text + &format!(
            "; worst R-hat {}, smallest effective size {}",
            told(&mixing.rhat, 2),
            told(&mixing.size, 0)
        )
    }
    /// What the bound of a fit by variational Bayes would still gain, by its last sweeps
    /// ([`Ledger::gain_left`](polyview_core::Ledger::gain_left)); none of draws and of fits of a few sweeps.
    pub fn gain_left(&self) -> Option<GainLeft> {
        let exact = !self.is_sampled() && self.run_options().engine == EngineKind::Vb;
        self.record.ledgers.first().filter(|_| exact)?.gain_left()
    }
    /// The same in words, such as "0.03 nats are left at the pace of the last sweeps", from the least
    /// to the most ([`Ledger::most_left`](polyview_core::Ledger::most_left), and of a fit that has not converged
    /// [`Ledger::left_by_age`](polyview_core::Ledger::left_by_age)) where these are far apart.
    pub fn gain_left_told(&self) -> Option<String> {
        let GainLeft { per_sweep, left } = self.gain_left()?;
        let ledger = self.record.ledgers.first()?;
        let ended = self.record.outcome == Outcome::Converged;
        let by_age = ledger.left_by_age().filter(|_| !ended);
        let Some(left) = left else {
            let told = format!("rising by {} nats per sweep", two_digits(per_sweep));
            return Some(match by_age {
                Some(left) => format!("{told}, so that {} nats may be left", two_digits(left)),
                None => told,
            });
        };
        let most = ledger.most_left().unwrap_or(left);
        let most = most.max(left).max(by_age.unwrap_or(0.0));
        let told = if most < LEAST_TOLD {
            format!("less than {LEAST_TOLD}")
        } else if most > FAR_APART * left {
            let least = if left < LEAST_TOLD {
                "0".to_owned()
            } else {
                two_digits(left)
            };
            format!("{least} to {}", two_digits(most))
        } else {
            format!("about {}", two_digits(left))
        };
        Some(format!(
            "{told} nats are left at the pace of the last sweeps"
        ))
    }
    /// How the bound and factors moved in the last sweeps, in words that follow others.
    fn still_moving(&self) -> String {
        let Some(GainLeft { per_sweep, .. }) = self.gain_left() else {
            return String::new();
        };
        // where weights are nothing so is what moves, however much of it does
        let matters = |moving: &&Moving| {
            let at = moving.factor.saturating_sub(1);
            at >= self.k() || self.component(0).is_ok_and(|c| effect(&c, at))
        };
        let factor = self.record.moving.as_ref().filter(matters).map(|moving| {
            let Moving {
                view,
                factor,
                share,
            } = moving;
            let of = match view {
                Some(view) => format!("weights of factor {factor} in '{view}'"),
                None => format!("values of factor {factor}"),
            };
            format!(", {of} by {} % of their size", two_digits(100.0 * share))
        });
        format!(
            " (the bound by {} nats per sweep{})",
            two_digits(per_sweep),
            factor.unwrap_or_default()
        )
    }
    /// Of a fit whose chains started at the optimum of variational Bayes what came before them,
    /// and what either took, in words.
    pub fn polished(&self) -> Option<String> {
        let optimum = self.record.optimum.as_ref()?;
        let Optimum {
            outcome,
            sweeps,
            bound,
            seconds,
        } = optimum;
        let after = (self.record.seconds - seconds).max(0.0);
        Some(format!(
            "variational Bayes first ({outcome}: {sweeps} sweeps, bound {bound:.2}, {seconds:.2} s), then draws from its \
             optimum on ({after:.2} s); {} of them are the posterior",
            self.n_components()
        ))
    }
    /// What was taken into the fit after its sweeps ([`Fit::update`]), in words, once for each time.
    pub fn updates(&self) -> Vec<String> {
        let entries = self.record.journal.entries.iter();
        let told = entries.filter_map(|e| match &e.event {
            Event::Note { note } if e.block == UPDATE => Some(note.clone()),
            _ => None,
        });
        told.collect()
    }
    /// Of a fit with views that count more or less than once, which and how often, in words.
    pub fn counted(&self) -> Option<String> {
        let own = |v: &ViewInfo| {
            let weight = v.choices.own_weight()?;
            Some(format!("{} {weight} times", v.name))
        };
        let told: Vec<String> = self.views.iter().filter_map(own).collect();
        (!told.is_empty()).then(|| {
            format!(
                "{}: the bound is no evidence, and does not compare with others",
                told.join(", ")
            )
        })
    }
    /// Of each view that is predicted by more than the joint fit, or by something else, its name and by what, in words.
    pub fn predicted_beside(&self) -> Vec<(&str, String)> {
        let told = |(at, view): (usize, &ViewInfo)| {
            let name = &view.name;
            match self.shares_of(at) {
                Ok(Some([_, 0.0])) => None,
                Ok(Some([joint, regression])) => {
                    let own = self.regressed(at).ok().flatten();
                    let similar = own.and_then(|own| own.says_of_similar());
                    Some(format!(
                        "view '{name}' is predicted by a mixture of the joint fit ({joint:.2}) and a regression on the features of \
                         the other views ({regression:.2}){}",
                        similar.unwrap_or_default()
                    ))
                }
                _ if self.holds_settled(at) => Some(format!(
                    "view '{name}' is predicted by weights that were settled on what the other views say"
                )),
                _ => None,
            }
        };
        let views = self.views.iter().enumerate();
        views
            .filter_map(|(at, view)| Some((view.name.as_str(), told((at, view))?)))
            .collect()
    }
    /// What is wrong with the draws of a fit ([`Mixing::trouble`](crate::Mixing::trouble)) and the mend; none
    /// where they are sound, and of fits that are not made of draws.
    pub fn unmixed(&self) -> Option<String> {
        let mixing = self.record.mixing()?;
        let mut said = format!(
            "{}; take more sweeps, or more chains, before the results are trusted",
            mixing.trouble()?
        );
        // of all numbers alone this one tells how well single features are fitted
        let of_density = |(_, of): &(f64, String)| of == LOG_JOINT;
        if mixing.rhat.as_ref().is_some_and(of_density) && self.has_noise_by_feature() {
            said.push_str(
                "; where that does not mend it, a factor may take a single feature whole in one chain and not in \
                 another: compare the noise of features, leave out one that has next to none, or give noise a firmer \
                 prior (noise-prior of a study file)",
            );
        }
        Some(said)
    }
    /// Whether a view of real numbers has a noise of its own for each feature.
    fn has_noise_by_feature(&self) -> bool {
        let by_feature =
            |v: &ViewInfo| v.choices.likelihood.is_real() && v.choices.noise == NoiseBy::Feature;
        self.views.iter().any(by_feature)
    }
}

/// Warns of a fit that stopped at its limit of sweeps, of chains that have not mixed,
/// and of a fit whose factors came to nothing.
pub(super) fn note_ending(fit: &mut Fit) -> Result<()> {
    let options = fit.run_options();
    let limit = match options.engine {
        EngineKind::Vb => Some(format!("{} sweeps (max-sweeps)", options.vb.max_sweeps)),
        EngineKind::Stochastic => Some(limits_of_epochs(&options.stochastic)),
        EngineKind::Gibbs => None,
    };
    if let Some(limit) = limit
        && fit.stopped_at_limit()
    {
        let note = format!(
            "the fit stopped at its limit of {limit} before it converged: factors may still change{}; allow more",
            fit.still_moving()
        );
        fit.note_before_the_end("fit", Event::Warning { note });
    }
    if let Some(note) = fit.unmixed() {
        fit.note_before_the_end("chains", Event::Warning { note });
    }
    if let Some(note) = collapse(fit)? {
        fit.note_before_the_end("factors", Event::Warning { note });
    }
    Ok(())
}

/// The limits of a stochastic run, in words.
fn limits_of_epochs(options: &StochasticOptions) -> String {
    let StochasticOptions {
        epochs,
        exact_sweeps,
        ..
    } = options;
    if *exact_sweeps == 0 {
        format!("{epochs} epochs (epochs)")
    } else {
        format!(
            "{exact_sweeps} exact sweeps (exact-sweeps), which come after {epochs} epochs at most (epochs),"
        )
    }
}

/// What is to be said of a fit by variational Bayes whose factors came to nothing, or
/// of which one alone is left.
fn collapse(fit: &Fit) -> Result<Option<String>> {
    let (asked, left) = (fit.run_options().factors, fit.k());
    if fit.is_sampled() || fit.record.sweeps == 0 {
        return Ok(None);
    }
    let with = with_effect(fit)?;
    let small = unscaled(fit);
    let scale = small.map_or_else(String::new, |(view, sd)| {
        format!(
            "; view '{view}' is not scaled and has standard deviations of {sd:.0e} about, where priors and start are \
             made for about 1: take --scaling view"
        )
    });
    let covariates = fit.covariates().len();
    let taken = uses_up(covariates, fit.samples.len()).then(|| {
        format!("the {covariates} columns of covariates take up what {} samples can tell; adjust for fewer", fit.samples.len())
    });
    Ok(if let (true, Some(taken)) = (with == 0, &taken) {
        Some(format!(
            "no factor explains anything: {left} of {asked} is left, its weights zero in every view; {taken}{scale}"
        ))
    } else if with == 0 {
        Some(format!(
            "no factor explains anything: {left} of {asked} is left, its weights zero in every view; there \
             is nothing in the views that the model sees, or their likelihoods do not suit them{scale}"
        ))
    } else if let Some((found, of_noise)) = like_noise(fit)? {
        let percent = |x: f64| 100.0 * x;
        Some(format!(
            "one factor is left, and {:.1} % of the variance lies along it, no more than along a first factor of noise \
             alone ({:.1} % with so many samples and features): it may be noise, and is no finding",
            percent(found),
            percent(of_noise)
        ))
    } else if let (true, Some(taken)) = (left == 1 && asked > 1, &taken) {
        Some(format!("one factor of {asked} is left: {taken}{scale}"))
    } else if left == 1 && asked > 1 {
        Some(format!(
            "one factor of {asked} is left: if the data should carry more, see that likelihoods and \
             scaling suit the views, and try other seeds{scale}"
        ))
    } else {
        None
    })
}

/// Whether weights of a factor are more than their own uncertainty in some view.
fn effect(component: &Component, factor: usize) -> bool {
    component.views.iter().any(|v| {
        let spread = v.weights.cov_sum(None).get(factor, factor);
        let means = v.weights.mean();
        let energy: f64 = means.col(factor).iter().map(|w| w * w).sum();
        energy > NO_EFFECT * spread
    })
}

/// Factors whose weights are more than their own uncertainty in some view.
fn with_effect(fit: &Fit) -> Result<usize> {
    let component = fit.component(0)?;
    Ok((0..fit.k()).filter(|&j| effect(&component, j)).count())
}

/// Of a fit of a single factor, in views whose features count alike, the share of the variance
/// that lies along it and the largest share that lies along a direction of independent features, $(1 +
/// \sqrt{D/N})^2/D$ of $N$ samples and $D$ features (the edge of the law of Marchenko and
/// Pastur), if it is no more than that. What the fit explains is less: weights are held back. Nothing where it acts in labels
/// or counts or beyond limits, of which that is no law.
fn like_noise(fit: &Fit) -> Result<Option<(f64, f64)>> {
    let samples = fit.samples.len();
    if fit.k() != 1 || fit.data.is_none() || samples < LARGE.0 {
        return Ok(None);
    }
    let explained = fit.explain()?;
    let component = fit.component(0)?;
    let z = component.factors().mean().col(0).iter().copied();
    let z: Vec<f64> = z.collect();
    let (mut features, mut sum) = (0.0, 0.0);
    for ((m, v), view) in fit.views.iter().enumerate().zip(fit.data()?) {
        let ranked = v.choices.likelihood.is_rank();
        let alike = match v.choices.scaling {
            FeatureScaling::Feature | FeatureScaling::NormalScores => {
                v.choices.likelihood.is_real()
            }
            _ => false,
        };
        if (alike || ranked) && view.ends().is_none() {
            let scores = ranked.then(|| normal_scores(view));
            // a column at a time: values may be sparse
            let mut column = vec![0.0; samples];
            for d in 0..view.n_features() {
                match &scores {
                    Some(scores) => column.copy_from_slice(scores.col_as_slice(d)),
                    None => view.write_column(d, &mut column),
                }
                for n in (0..samples).filter(|n| !view.is_observed(*n, d)) {
                    column[n] = f64::NAN;
                }
                if let Some(share) = along(&column, &z) {
                    features += 1.0;
                    sum += share;
                }
            }
        } else if explained.marginal[(m, 0)] >= ACTIVE_SHARE {
            return Ok(None);
        }
    }
    let edge = (1.0 + (features / samples as f64).sqrt()).powi(2) / features;
    let found = sum / features;
    Ok((features >= LARGE.1 && found <= edge).then_some((found, edge)))
}

/// Share of the variance of known values that lies along a direction; nothing where they do not vary.
fn along(values: &[f64], z: &[f64]) -> Option<f64> {
    let known = || (values.iter().zip(z)).filter(|(x, _)| x.is_finite());
    let count = known().count() as f64;
    let mean = |of: fn((&f64, &f64)) -> f64| known().map(of).sum::<f64>() / count;
    let (x, y) = (mean(|(x, _)| *x), mean(|(_, z)| *z));
    let (xx, zz) = (mean(|(x, _)| x * x) - x * x, mean(|(_, z)| z * z) - y * y);
    let xz = mean(|(x, z)| x * z) - x * y;
    (xx > 0.0 && zz > 0.0).then(|| xz * xz / (xx * zz))
}

impl Fit {
    /// Whether a factor explains anything: whether weights of one of them are more than
    /// their own uncertainty in some view.
    pub fn has_effects(&self) -> bool {
        with_effect(self).is_ok_and(|with| with > 0)
    }

    /// Whether a single factor is left along which the data vary no more than along the first principal
    /// component of as many features of pure noise.
    pub fn may_be_noise(&self) -> bool {
        like_noise(self).is_ok_and(|found| found.is_some())
    }
}

/// Standard deviations between these suit priors and start.
const SUITABLE: std::ops::RangeInclusive<f64> = 0.1..=10.0;

/// The view of numbers that is not scaled and is farthest from unit scale, beyond what suits, with
/// the median standard deviation of its features.
fn unscaled(fit: &Fit) -> Option<(&str, f64)> {
    let of = |info: &'_ ViewInfo| {
        let raw = info.choices.likelihood.is_real()
            && matches!(info.choices.scaling, FeatureScaling::None);
        let training = info.training.as_ref().filter(|_| raw)?;
        let mut sd: Vec<f64> = training.sd.iter().copied().filter(|s| *s > 0.0).collect();
        sd.sort_by(f64::total_cmp);
        let middle = *sd.get(sd.len() / 2)?;
        (!SUITABLE.contains(&middle)).then_some(middle)
    };
    let found = fit
        .views()
        .iter()
        .filter_map(|v| Some((v.name.as_str(), of(v)?)));
    found.max_by(|a, b| a.1.ln().abs().total_cmp(&b.1.ln().abs()))
}
