//! What headers of earlier formats say, in the words of this one.

use polyview_core::Options;

use super::ModelHeader;
use crate::faithful;
use crate::spec::ViewChoices;

/// The first format whose `categorical` is a softmax, until then the multinomial probit, and
/// whose likelihoods with expectation sites have them by default, until then bounds.
const FORMAT_OF_EXPECTATIONS: u32 = 2;

impl ModelHeader {
    /// Brings what an earlier format says to what this one would.
    pub(in crate::file) fn bring_up_to_date(&mut self) {
        self.say_what_was_computed();
        if self.format >= FORMAT_OF_EXPECTATIONS {
            return;
        }
        let of_spec = (self.spec.iter_mut()).flat_map(|spec| {
            let views = spec.views.iter_mut().map(|v| &mut v.choices);
            views.chain([&mut spec.defaults])
        });
        let of_views = self.views.iter_mut().map(|v| &mut v.choices);
        for choices in of_spec.chain(of_views) {
            let likelihood = &mut choices.likelihood;
            if *likelihood == "categorical" {
                *likelihood = "categorical-probit".into();
            }
            let was = match likelihood.name() {
                "bernoulli" | "probit" | "binomial" | "negative-binomial" => "form=bound",
                "poisson" => "rate=softplus",
                _ => continue,
            };
            let written = likelihood.options().clone();
            let was = Options::parse(was).unwrap_or_default();
            *likelihood = likelihood.clone().with(written.or(&was));
        }
    }

    /// Counts by the steps of mofapy2 had the rate of mofapy2, whatever earlier releases wrote down.
    fn say_what_was_computed(&mut self) {
        let Some(spec) = &mut self.spec else {
            return;
        };
        let was = spec.clone();
        let as_computed = |choices: &mut ViewChoices| {
            let name = choices.likelihood.name().to_owned();
            let own = faithful::options(&was, &choices.likelihood);
            if !own.is_empty() {
                let beside = choices.options.remove(&name).unwrap_or_default();
                let all = own.or(&beside).or(choices.likelihood.options());
                choices.likelihood = choices.likelihood.clone().with(all);
            }
        };
        as_computed(&mut spec.defaults);
        let of_spec = spec.views.iter_mut().map(|v| &mut v.choices);
        let of_views = self.views.iter_mut().map(|v| &mut v.choices);
        of_spec.chain(of_views).for_each(as_computed);
    }
}
