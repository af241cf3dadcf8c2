//! Numbers between limits and times to an event, as species.

use polyview_core::{
    About, DataError, Domain, GammaPrior, LikelihoodSpecies, Observed, OptionError, Options,
    TermContext, View, ViewTerm, Way,
};
use serde::{Deserialize, Serialize};

use super::Censored;
use super::censored::NEEDS;
use crate::scalar::{FORM, Form};

/// [`Censored`] as a species.
#[derive(Clone, Copy, Debug, Default)]
pub struct CensoredSpecies;

/// [`Censored`] of the logarithms of times to an event as a species: log-normal accelerated failure
/// times (spec/sites 2).
#[derive(Clone, Copy, Debug, Default)]
pub struct SurvivalSpecies;

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Choices {
    prior: GammaPrior,
    form: Form,
}

impl Default for Choices {
    fn default() -> Self {
        Self {
            prior: Censored::PRIOR,
            form: Form::default(),
        }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct OfTimes {
    time: String,
    event: String,
    prior: GammaPrior,
    form: Form,
}

impl Default for OfTimes {
    fn default() -> Self {
        let Choices { prior, form } = Choices::default();
        Self {
            time: "time".to_owned(),
            event: "event".to_owned(),
            prior,
            form,
        }
    }
}

const PRIOR: (&str, &str) = (
    "prior",
    "gamma prior of the noise precision of each feature, in units of the scaled feature: {shape = 2.0, rate = 0.2}",
);

impl Choices {
    fn check(self) -> Result<(), OptionError> {
        let GammaPrior { shape, rate } = self.prior;
        if self.prior.is_proper() {
            return Ok(());
        }
        Err(OptionError::Value {
            option: "prior".to_owned(),
            value: format!("(shape {shape}, rate {rate})"),
            needs: "both are positive numbers".to_owned(),
        })
    }
    fn refuses(self, way: Way) -> Option<String> {
        match way {
            Way::Stochastic => Some(
                "its noise is learnt from all cells of a feature at once: take the engine vb"
                    .to_owned(),
            ),
            Way::Sparse => Some("keeps two ends for every cell".to_owned()),
            Way::Components => Some("numbers between ends have one set of weights".to_owned()),
            _ => self.form.refuses(way),
        }
    }
    fn term(
        self,
        view: View,
        likelihood: Censored,
        cx: &TermContext,
    ) -> Result<Box<dyn ViewTerm>, DataError> {
        let likelihood = Censored {
            prior: self.prior,
            prediction: cx.prediction,
            ..likelihood
        };
        self.form.term(view, likelihood, cx)
    }
}

impl OfTimes {
    fn choices(&self) -> Choices {
        Choices {
            prior: self.prior,
            form: self.form,
        }
    }
}

impl LikelihoodSpecies for CensoredSpecies {
    fn name(&self) -> &'static str {
        "censored"
    }
    fn has_plain_regression(&self) -> bool {
        true
    }
    fn about(&self) -> About {
        About {
            line: "numbers of which limits may be all that is known, such as <0.05, >1300 or [2,5]",
            needs: NEEDS,
            label: "sites 2",
            options: &[PRIOR, FORM],
        }
    }
    fn domain(&self) -> Domain {
        Domain::CENSORED
    }
    fn defaults(&self) -> Options {
        Options::of(&Choices::default()).unwrap_or_default()
    }
    fn check(&self, options: &Options) -> Result<(), OptionError> {
        options.read::<Choices>()?.check()
    }
    fn refuses(&self, way: Way, options: &Options) -> Option<String> {
        options.read::<Choices>().unwrap_or_default().refuses(way)
    }
    fn term(
        &self,
        view: View,
        options: &Options,
        cx: &TermContext,
    ) -> Result<Box<dyn ViewTerm>, DataError> {
        let choices: Choices = options.read()?;
        choices.term(view, Censored::default(), cx)
    }
}

impl LikelihoodSpecies for SurvivalSpecies {
    fn name(&self) -> &'static str {
        "survival"
    }
    fn has_plain_regression(&self) -> bool {
        true
    }
    fn about(&self) -> About {
        About {
            line: "times to an event, some of which had not come when it was last looked: normal in their logarithms",
            needs: NEEDS,
            label: "sites 2",
            options: &[
                ("time", "the column of the times, positive numbers"),
                (
                    "event",
                    "the column that says what came at the time: 1 the event, 0 the end of watching",
                ),
                PRIOR,
                FORM,
            ],
        }
    }
    fn domain(&self) -> Domain {
        Domain::SURVIVAL
    }
    fn defaults(&self) -> Options {
        Options::of(&OfTimes::default()).unwrap_or_default()
    }
    fn check(&self, options: &Options) -> Result<(), OptionError> {
        let choices: OfTimes = options.read()?;
        if choices.time == choices.event {
            return Err(OptionError::Value {
                option: "event".to_owned(),
                value: choices.event,
                needs: "it is another column than that of the times".to_owned(),
            });
        }
        choices.choices().check()
    }
    fn refuses(&self, way: Way, options: &Options) -> Option<String> {
        let choices = options.read::<OfTimes>().unwrap_or_default();
        choices.choices().refuses(way)
    }
    fn remarks(&self, data: &Observed<'_>) -> Vec<String> {
        data.view.and_then(few_events).into_iter().collect()
    }
    fn term(
        &self,
        view: View,
        options: &Options,
        cx: &TermContext,
    ) -> Result<Box<dyn ViewTerm>, DataError> {
        let choices: OfTimes = options.read()?;
        let times = Censored::default().of_times();
        choices.choices().term(view, times, cx)
    }
}

/// Events of a feature below which its times are known from limits for the most part. Of a single one another note speaks.
const FEW: usize = 10;

/// What is to be said of times few of which, or none, are those of an event.
fn few_events(view: &View) -> Option<String> {
    let is_event = |n: &usize, d: usize| view.is_observed(*n, d) && !view.is_censored(*n, d);
    let events = |d: usize| (0..view.n_samples()).filter(|n| is_event(n, d)).count();
    let counts: Vec<usize> = (0..view.n_features()).map(events).collect();
    let most = counts.iter().copied().max().unwrap_or(0);
    if most == 0 {
        return Some(format!(
            "no event was seen in '{}': its times are known from limits alone, and medians beyond the last time are a guess of \
             the prior",
            view.name()
        ));
    }
    let (d, events) = (counts.iter().copied().enumerate())
        .filter(|(_, events)| (2..FEW).contains(events))
        .min_by_key(|(_, events)| *events)?;
    let which = if counts.len() > 1 {
        format!("'{}' of '{}'", view.features()[d], view.name())
    } else {
        format!("'{}'", view.name())
    };
    Some(format!(
        "{events} event(s) of {} sample(s) were seen in {which}: of so few the model learns next to nothing of how much times vary, and \
         intervals of new ones are too narrow as a rule",
        view.n_samples()
    ))
}

#[cfg(test)]
mod tests {
    use polyview_linalg::Mat;

    use super::*;

    #[test]
    fn times_with_few_events_are_warned_of() {
        let said = |events: usize| {
            let times = Mat::from_fn(30, 1, |n, _| 1.0 + n as f64);
            let view = View::from_values("os", vec!["time".to_owned()], times).expect("a view");
            let end = |n: usize| if n < events { f64::NAN } else { f64::INFINITY };
            let view = view.with_ends(Mat::from_fn(30, 1, |n, _| end(n)));
            let data = Observed {
                mean: 2.0,
                view: Some(&view.expect("ends")),
                options: &SurvivalSpecies.defaults(),
            };
            SurvivalSpecies.remarks(&data)
        };
        let none = said(0);
        assert!(
            none.len() == 1 && none[0].starts_with("no event was seen in 'os'"),
            "{none:?}"
        );
        let few = said(9);
        assert!(
            few.len() == 1 && few[0].starts_with("9 event(s) of 30 sample(s) were seen in 'os'"),
            "{few:?}"
        );
        assert!(said(10).is_empty());
    }
}
