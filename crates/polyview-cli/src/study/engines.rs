//! Options that belong to one engine, or to groups of samples.

use polyview::{ChainStart, EngineKind};

use super::data::settle_option;
use super::{Source, Study};
use crate::args::ModelArgs;
use crate::failure::{Failure, Outcome};
use crate::preset::preset;

/// An option, whether it was given, and the engines that look at it.
type Given = (&'static str, bool, &'static [EngineKind]);

const GIBBS: &[EngineKind] = &[EngineKind::Gibbs];
const STOCHASTIC: &[EngineKind] = &[EngineKind::Stochastic];
const VB: &[EngineKind] = &[EngineKind::Vb];
const BOUND: &[EngineKind] = &[EngineKind::Vb, EngineKind::Stochastic];

impl Study {
    /// Refuses options of another engine, or of groups that there are not.
    /// Those about the bound, which every fit without an --engine has, are
    /// said, after what is to be said of the study file.
    pub fn idle_options(&self, args: &ModelArgs) -> Outcome<Vec<String>> {
        let engine = self.model.engine;
        let options: [Given; 9] = [
            ("--chains", args.gibbs.chains.is_some(), GIBBS),
            ("--warm-up", args.gibbs.warm_up.is_some(), GIBBS),
            ("--sweeps", args.gibbs.sweeps.is_some(), GIBBS),
            ("--thin", args.gibbs.thin.is_some(), GIBBS),
            ("--batch", args.stochastic.batch.is_some(), STOCHASTIC),
            ("--epochs", args.stochastic.epochs.is_some(), STOCHASTIC),
            (
                "--learning-rate",
                args.stochastic.learning_rate.is_some(),
                STOCHASTIC,
            ),
            (
                "--forgetting",
                args.stochastic.forgetting.is_some(),
                STOCHASTIC,
            ),
            (
                "--exact-sweeps",
                args.stochastic.exact_sweeps.is_some(),
                STOCHASTIC,
            ),
        ];
        let of_bound: [Given; 7] = [
            ("--max-sweeps", args.convergence.max_sweeps.is_some(), VB),
            ("--tolerance", args.convergence.tolerance.is_some(), BOUND),
            ("--restarts", args.engine.restarts.is_some(), BOUND),
            ("--path", args.engine.path.is_some(), BOUND),
            ("--no-rotation", args.convergence.no_rotation, BOUND),
            ("--no-pruning", args.convergence.no_pruning, BOUND),
            ("--audit", args.engine.audit, VB),
        ];
        // chains that start at the optimum of variational Bayes heed its options as well
        let climbs = engine == EngineKind::Gibbs && self.model.gibbs.start == ChainStart::Optimum;
        let heeded = |e: &EngineKind| *e == engine || climbs && *e == EngineKind::Vb;
        let idle = |(_, given, engines): &Given| *given && !engines.iter().any(heeded);
        let belongs = |(_, _, engines): &Given| {
            let names: Vec<&str> = engines.iter().map(|e| name(*e)).collect();
            let here = name(engine);
            format!(
                "belongs to --engine {}, and this is {here}",
                names.join(" or ")
            )
        };
        if let Some(o) = options.into_iter().find(idle) {
            return Err(Failure::Usage(format!(
                "{} {}; leave it out, or choose that engine",
                o.0,
                belongs(&o)
            )));
        }
        // some models have them by themselves, where there are groups
        let (chosen, usual) = (self.model.groups, preset(&self.model.model).groups);
        let of_groups = [
            ("--group-noise", args.choices.group_noise),
            ("--group-intercepts", args.choices.group_intercepts),
            ("[model.groups] noise = true", chosen.noise && !usual.noise),
            (
                "[model.groups] intercepts = true",
                chosen.intercepts && !usual.intercepts,
            ),
        ];
        if let Some((option, _)) = of_groups.into_iter().find(|(_, given)| *given)
            && self.groups.is_none()
        {
            return Err(Failure::Usage(format!(
                "{option}: the samples have no groups; give them with --metadata FILE --groups COLUMN, or leave it out"
            )));
        }
        if args.choices.keep_together.is_some() && self.metadata.is_none() {
            return Err(Failure::Usage(
                "--keep-together: its column is of a table about the samples; give it with --metadata FILE".into(),
            ));
        }
        if let ([only], Some(view)) = (self.data.as_slice(), args.choices.settle.first())
            && let (view, _) = settle_option(view, |name| *name == only.name)?
            && *view == only.name
        {
            return Err(Failure::Usage(format!(
                "--settle: '{view}' is settled on factors of the other views, and there is no other; leave it out, or add --view NAME=FILE"
            )));
        }
        if self.data.iter().all(|s| self.likelihood(&s.name).is_some()) {
            // what touches some views alone is said once they are read
            self.idle_on_views(args)?;
        }
        let settled = |s: &Source| self.model.view(&s.name).settles();
        if !args.choices.settle.is_empty() && self.data.iter().all(settled) {
            let names: Vec<&str> = self.data.iter().map(|s| s.name.as_str()).collect();
            let all = names.join(", ");
            return Err(Failure::Usage(format!(
                "--settle: views that are settled or mixed are targets, which are predicted from what is no target, and \
                 here all views are ({all}); leave one of them out, or fit a model for each"
            )));
        }
        let said = of_bound.into_iter().filter(idle);
        let said = said.map(|o| format!("warning: {} has no effect: it {}", o.0, belongs(&o)));
        Ok(self.remarks.iter().cloned().chain(said).collect())
    }

    /// Refuses options about numbers where no view is of numbers, and says which views
    /// they do not touch. The likelihoods of all views are known.
    pub fn idle_on_views(&self, args: &ModelArgs) -> Outcome<Vec<String>> {
        let choices = &args.choices;
        let options = [
            ("--noise", choices.noise.is_some()),
            ("--scaling", choices.scaling.is_some()),
            ("--centring", choices.centring.is_some()),
        ];
        let given = options.into_iter().filter(|(_, given)| *given);
        let given: Vec<&str> = given.map(|(option, _)| option).collect();
        let (Some(first), Some(one)) = (given.first(), self.data.first()) else {
            return Ok(Vec::new());
        };
        let likelihood = |s: &Source| self.model.view(&s.name).likelihood;
        let others: Vec<String> = (self.data.iter())
            .filter(|s| !likelihood(s).is_real())
            .map(|s| format!("'{}' ({})", s.name, likelihood(s)))
            .collect();
        if others.len() == self.data.len() {
            return Err(Failure::Usage(format!(
                "{first}: it is about gaussian views, and '{}' is {}; leave it out",
                one.name,
                likelihood(one)
            )));
        }
        Ok(Vec::from_iter((!others.is_empty()).then(|| {
            format!(
                "note: {}: about gaussian views, without effect on {}",
                given.join(", "),
                others.join(", ")
            )
        })))
    }
}

fn name(engine: EngineKind) -> &'static str {
    match engine {
        EngineKind::Vb => "vb",
        EngineKind::Gibbs => "gibbs",
        EngineKind::Stochastic => "stochastic",
    }
}
