//! `polyview models`: what may be fitted, and what goes with what, from the lists of
//! species themselves.

use clap::CommandFactory;
use polyview::Registry;
use polyview_core::{LikelihoodSpecies, RowRole, Setting, Way};
use serde_json::json;

use crate::args::{Cli, ModelsArgs};
use crate::choice;
use crate::failure::Outcome;
use crate::output;

/// Options of `fit` whose values are listed: heading and name.
const CHOICES: [(&str, &str); 4] = [
    ("Models", "model"),
    ("Priors of the weights", "weights"),
    ("Priors of the factors", "factor_prior"),
    ("Engines", "engine"),
];

/// What values of options mean that have no text of their own.
const MEANINGS: [(&str, &str, &str); 3] = [
    (
        "engine",
        "vb",
        "variational Bayes: fast, with a bound that never falls",
    ),
    (
        "engine",
        "gibbs",
        "Gibbs sampling: exact in the limit, with chains and their mixing",
    ),
    (
        "engine",
        "stochastic",
        "variational Bayes on a batch of the samples at a time, for very many",
    ),
];

/// Lists models, likelihoods, priors and engines.
pub fn run(cli: &Cli, args: &ModelsArgs) -> Outcome<()> {
    let registry = Registry::standard();
    if cli.json {
        let all: Vec<_> = (registry.likelihoods())
            .map(|s| as_json(registry, s))
            .collect();
        let choices: serde_json::Map<_, _> = CHOICES
            .iter()
            .map(|(_, id)| {
                let values = values(id).into_iter();
                let values: Vec<_> = values
                    .map(|(name, about)| json!({ "name": name, "about": about }))
                    .collect();
                ((*id).to_owned(), json!(values))
            })
            .collect();
        return output::json(&json!({ "likelihoods": all, "choices": choices }));
    }
    if args.markdown {
        return markdown(registry);
    }
    for (heading, id) in CHOICES {
        let rows = values(id);
        output::line(format!("{heading} (--{}):", id.replace('_', "-")))?;
        let width = rows.iter().map(|r| r.0.len()).max().unwrap_or(0);
        for (name, about) in rows {
            output::line(format!("  {name:<width$}  {about}"))?;
        }
        output::line("")?;
    }
    output::line("Likelihoods (--view NAME=FILE:LIKELIHOOD, or LIKELIHOOD{option=value, ...}):")?;
    for s in registry.likelihoods() {
        let ways: Vec<&str> = ways(s)
            .filter(|w| w.1.is_none())
            .map(|w| w.0.name())
            .collect();
        output::line(format!("  {}", called(s)))?;
        output::line(format!("      {}", s.about().line))?;
        output::line(format!("      goes with: vb, {}", ways.join(", ")))?;
        let beside: Vec<String> = (not_drawn_beside(registry, s).into_iter())
            .map(|(prior, _)| prior)
            .collect();
        if !beside.is_empty() {
            let beside = beside.join(", nor with ");
            output::line(format!("      Gibbs goes not with {beside}"))?;
        }
        let defaults = s.defaults();
        for (option, meaning) in s.about().options {
            let default = defaults.text(option).unwrap_or_default();
            output::line(format!("      {option} = {default}: {meaning}"))?;
        }
    }
    output::line("")?;
    output::line("What does not go with what is refused with the reason:  polyview models --json")
}

/// Name and other names.
fn called(s: &dyn LikelihoodSpecies) -> String {
    match s.aliases() {
        [] => s.name().to_owned(),
        more => format!("{} ({})", s.name(), more.join(", ")),
    }
}

/// Every way with why a likelihood cannot go it.
fn ways(s: &dyn LikelihoodSpecies) -> impl Iterator<Item = (Way, Option<String>)> {
    let defaults = s.defaults();
    Way::ALL
        .into_iter()
        .map(move |way| (way, s.refuses(way, &defaults)))
}

/// What priors are called beside which Gibbs sampling cannot draw a likelihood, and why.
fn not_drawn_beside(registry: &Registry, s: &dyn LikelihoodSpecies) -> Vec<(String, String)> {
    let beside = registry.not_drawn_beside(s).into_iter();
    beside
        .map(|(role, prior, why)| (prior.called(role), why))
        .collect()
}

fn as_json(registry: &Registry, s: &dyn LikelihoodSpecies) -> serde_json::Value {
    let about = s.about();
    let options: Vec<_> = (about.options.iter())
        .map(|(name, meaning)| {
            json!({ "name": name, "default": s.defaults().text(name), "about": meaning })
        })
        .collect();
    let refused: serde_json::Map<_, _> = ways(s)
        .filter_map(|(way, why)| Some((way.name().to_owned(), json!(why?))))
        .collect();
    let not_drawn: serde_json::Map<_, _> = not_drawn_beside(registry, s)
        .into_iter()
        .map(|(prior, why)| (prior, json!(why)))
        .collect();
    json!({
        "name": s.name(),
        "aliases": s.aliases(),
        "about": about.line,
        "needs": about.needs,
        "source": about.label,
        "options": options,
        "refuses": refused,
        "not_drawn_beside": not_drawn,
    })
}

/// What the option names the prior of.
fn role(id: &str) -> Option<RowRole> {
    match id {
        "weights" => Some(RowRole::Weights),
        "factor_prior" => Some(RowRole::Factors),
        _ => None,
    }
}

/// The priors of rows of this role, with what they do.
fn priors(role: RowRole) -> Vec<(String, String)> {
    choice::priors(role)
        .map(|(name, s)| (name.to_owned(), s.about(role).line.to_owned()))
        .collect()
}

/// The values of an option of `fit`, with what they mean.
fn values(id: &str) -> Vec<(String, String)> {
    let command = Cli::command();
    let fit = command.find_subcommand("fit");
    let arg = fit.and_then(|c| c.get_arguments().find(|a| a.get_id() == id));
    let values = arg.map(clap::Arg::get_possible_values).unwrap_or_default();
    let priors = role(id).map(priors).unwrap_or_default();
    if values.is_empty() {
        // the option takes the name of a view as well
        return priors;
    }
    (values.iter())
        .map(|v| {
            let name = v.get_name();
            let known = MEANINGS.iter().find(|m| (m.0, m.1) == (id, name));
            let help = v.get_help().map(ToString::to_string);
            let prior = priors.iter().find(|p| p.0 == name).map(|p| p.1.clone());
            let about = help.or(prior).or_else(|| known.map(|m| m.2.to_owned()));
            (name.to_owned(), about.unwrap_or_default())
        })
        .collect()
}

/// The tables of the documentation.
fn markdown(registry: &Registry) -> Outcome<()> {
    output::line("# Models, likelihoods, priors, engines\n")?;
    output::line("Written by `polyview models --markdown`; a test holds this page to it.\n")?;
    for (heading, id) in CHOICES {
        output::line(format!("## {heading} (`--{}`)\n", id.replace('_', "-")))?;
        output::line("| name | what |\n|---|---|")?;
        for (name, about) in values(id) {
            output::line(format!("| `{name}` | {about} |"))?;
        }
        output::line("")?;
    }
    output::line("## Likelihoods (`--view NAME=FILE:LIKELIHOOD`)\n")?;
    let own: Vec<String> = (registry.priors(RowRole::Weights))
        .filter(|s| s.refuses(Setting::Components).is_none())
        .map(|s| format!("`{}`", s.aliases().first().unwrap_or(&s.name())))
        .collect();
    output::line(format!(
        "Every likelihood goes with variational Bayes, with cells missing, and with every prior, but: weights that each component of a mixture has for itself (`--mixture` gives them to labels with *yes* under components) are {}; Gibbs sampling draws some likelihoods (*in part*) beside dense weights and factors alone; the engine stochastic takes standard normal factors, and nothing by group (so that with `mofa`, whose noise and intercepts are by group where there are groups, `[model.groups]` of a study file has to turn these off). What goes with the engine stochastic can also take in new samples after the fit (`polyview update`).\n",
        own.join(" or ")
    ))?;
    let names: Vec<&str> = Way::ALL.iter().map(|w| w.name()).collect();
    output::line(format!("| name | data | maths | {} |", names.join(" | ")))?;
    output::line(format!("|{}", "---|".repeat(3 + names.len())))?;
    let mut reasons = Vec::new();
    for s in registry.likelihoods() {
        let names = match s.aliases() {
            [] => format!("`{}`", s.name()),
            more => format!("`{}` (`{}`)", s.name(), more.join("`, `")),
        };
        let mut row = vec![
            names,
            s.about().line.to_owned(),
            format!("`{}`", s.about().label),
        ];
        let not_drawn = not_drawn_beside(registry, s);
        for (way, why) in ways(s) {
            let in_part = way == Way::Gibbs && !not_drawn.is_empty();
            row.push(
                match &why {
                    Some(_) => "no",
                    None if in_part => "in part",
                    None => "yes",
                }
                .to_owned(),
            );
            if let Some(why) = why {
                reasons.push(format!("* `{}`, {}: {why}", s.name(), way.name()));
            } else if in_part {
                let each = not_drawn.iter().map(|(_, why)| {
                    format!("* `{}`, Gibbs: cannot be combined with {why}", s.name())
                });
                reasons.extend(each);
            }
        }
        output::line(format!("| {} |", row.join(" | ")))?;
    }
    output::line("\nWhat is refused, and why:\n")?;
    for reason in reasons {
        output::line(reason)?;
    }
    output::line("\n## Options of likelihoods\n")?;
    output::line(
        "On the command line `--view rna=counts.csv:negative-binomial{size=2}`; in a study file `likelihood = { species = \"negative-binomial\", size = 2 }`, or `options.negative-binomial.size = 2` for all views.\n",
    )?;
    output::line("| likelihood | option | default | what |\n|---|---|---|---|")?;
    for s in registry.likelihoods() {
        let defaults = s.defaults();
        for (option, meaning) in s.about().options {
            let default = defaults.text(option).unwrap_or_default();
            output::line(format!(
                "| `{}` | `{option}` | `{default}` | {meaning} |",
                s.name()
            ))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_choice_is_explained() {
        for (_, id) in CHOICES {
            let values = values(id);
            assert!(values.len() > 2, "{id}");
            for (name, about) in values {
                assert!(!about.is_empty(), "{id} {name}");
            }
        }
        for (id, name, _) in MEANINGS {
            assert!(values(id).iter().any(|v| v.0 == name), "{id} {name}");
        }
        for (name, _) in values("weights") {
            let known = crate::choice::species::<polyview::WeightPriors>("--weights", &name);
            assert!(known.is_ok(), "{name}");
        }
        for role in [RowRole::Weights, RowRole::Factors] {
            for s in Registry::standard().priors(role) {
                let mut told: Vec<&str> = s.about(role).options.iter().map(|o| o.0).collect();
                told.sort_unstable();
                let defaults = s.defaults();
                let mut names: Vec<&str> = defaults.names().collect();
                names.sort_unstable();
                assert_eq!(told, names, "{}", s.name());
                assert!(s.check(&defaults).is_ok(), "{}", s.name());
            }
        }
        for s in Registry::standard().likelihoods() {
            let defaults = s.defaults();
            let told: Vec<&str> = s.about().options.iter().map(|o| o.0).collect();
            let mut names: Vec<&str> = defaults.names().collect();
            names.sort_unstable();
            let mut sorted = told.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, names, "{}", s.name());
        }
    }
}
