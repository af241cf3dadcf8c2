//! Every choice of a fit, and who made it.

use polyview::{Fit, ModelSpec, RunOptions, ViewSpec, models};
use serde_json::Value;

use crate::{OptionValue, Origin};

/// Every choice, by section: what a specification says, or what another composer says of
/// itself and how its fit went about its work.
pub(super) fn options(fit: &Fit) -> Vec<OptionValue> {
    if let Some(spec) = fit.spec() {
        return of_spec(spec);
    }
    let (name, options) = fit.composer().describe();
    let run = serde_json::to_value(fit.run_options());
    let default = serde_json::to_value(RunOptions::default());
    let (Ok(own), Ok(run), Ok(default)) = (serde_json::to_value(&options), run, default) else {
        return Vec::new();
    };
    let mut out = Vec::new();
    collect(name, &own, None, &[], &mut out);
    collect("", &run, Some(&default), &[], &mut out);
    out
}

/// Those of the model's preset are defaults, those of single views, too, where nobody made
/// them.
fn of_spec(spec: &ModelSpec) -> Vec<OptionValue> {
    let default = untouched(spec);
    let (Ok(chosen), Ok(default)) = (serde_json::to_value(spec), serde_json::to_value(default))
    else {
        return Vec::new();
    };
    let mut out = Vec::new();
    collect("", &chosen, Some(&default), &spec.from_data, &mut out);
    out
}

/// The choices when all that anybody says are the model, its views and their
/// labels.
fn untouched(spec: &ModelSpec) -> ModelSpec {
    let preset = models::preset(&spec.model).unwrap_or_default();
    let view = |v: &ViewSpec| {
        // its options are choices, too
        let of_kind = preset
            .clone()
            .with_likelihood(&v.name, v.choices.clone().spelled().likelihood);
        let mut choices = of_kind.view(&v.name).spelled();
        choices.likelihood = preset.defaults.likelihood.clone();
        ViewSpec {
            name: v.name.clone(),
            choices,
            labels: v.labels.clone(),
        }
    };
    ModelSpec {
        model: ModelSpec::default().model,
        views: spec.views.iter().map(view).collect(),
        ..preset
    }
}

fn collect(
    section: &str,
    value: &Value,
    default: Option<&Value>,
    guessed: &[String],
    out: &mut Vec<OptionValue>,
) {
    let Value::Object(map) = value else { return };
    for (name, v) in map.iter().filter(|(name, _)| *name != "from-data") {
        let d = default.and_then(|d| d.get(name));
        let place = join(section, name);
        match v {
            Value::Object(_) => collect(&place, v, d, guessed, out),
            Value::Array(items) if items.iter().any(Value::is_object) => {
                for (i, item) in items.iter().enumerate() {
                    let of = item
                        .get("name")
                        .and_then(Value::as_str)
                        .map_or_else(|| i.to_string(), str::to_owned);
                    let d = d.and_then(|d| d.get(i));
                    collect(&join(&place, &of), item, d, guessed, out);
                }
            }
            _ => out.push(OptionValue {
                section: section.to_owned(),
                name: name.clone(),
                value: v.as_str().map_or_else(|| v.to_string(), str::to_owned),
                origin: match d {
                    _ if guessed.contains(&place) => Origin::Guessed,
                    Some(d) if d == v => Origin::Default,
                    _ => Origin::Chosen,
                },
            }),
        }
    }
}

fn join(section: &str, name: &str) -> String {
    if section.is_empty() {
        name.to_owned()
    } else {
        format!("{section}/{name}")
    }
}

#[cfg(test)]
mod tests {
    use polyview_core::{Dataset, Table};
    use polyview_linalg::Mat;

    use super::*;

    #[test]
    fn choices_that_nobody_made_are_no_users() {
        let filled = |spec: ModelSpec, name: &str| {
            let choices = spec.view(name);
            spec.with_view(name, choices)
        };
        let mut spec = models::mofa(7).with_likelihood("y", "bernoulli");
        spec = filled(filled(spec, "x"), "y");
        spec = spec.with_likelihood("z", "poisson");
        spec = filled(spec, "z").with_settled("z", true);
        spec.from_data = vec!["views/y/likelihood".to_owned()];
        let all = of_spec(&spec);
        let by = |origin: Origin| -> Vec<String> {
            let those = all.iter().filter(|o| o.origin == origin);
            those.map(|o| join(&o.section, &o.name)).collect()
        };
        assert_eq!(by(Origin::Guessed), ["views/y/likelihood"]);
        assert_eq!(
            by(Origin::Chosen),
            ["factors", "model", "views/z/likelihood", "views/z/settle"]
        );
        assert!(by(Origin::Default).contains(&"views/y/scaling".to_owned()));
    }

    #[test]
    fn levels_that_were_found_in_the_data_are_no_users() {
        let table = Table {
            name: "y".into(),
            samples: (0..24).map(|n| format!("s{n}")).collect(),
            features: (0..5).map(|d| format!("f{d}")).collect(),
            values: Mat::from_fn(24, 5, |n, d| 1.0 + ((n * 7 + d * 3) % 4) as f64),
            levels: Vec::new(),
        };
        let data = Dataset::builder().view(table).build().unwrap();
        let origin = |fit: &Fit, name: &str| {
            let found = options(fit).into_iter().find(|o| o.name == name).unwrap();
            assert_eq!(found.section, "views/y/options/ordinal");
            (found.value, found.origin)
        };
        for (said, levels) in [
            ("ordinal", ("4".to_owned(), Origin::Guessed)),
            ("ordinal{levels=4}", ("4".to_owned(), Origin::Chosen)),
            ("ordinal{levels=5}", ("5".to_owned(), Origin::Chosen)),
        ] {
            let likelihood = said.parse::<polyview::Likelihood>().unwrap();
            let mut spec = models::sshiba(2).with_likelihood("y", likelihood);
            spec.vb.max_sweeps = 3;
            let fit = polyview::fit(data.clone(), spec).unwrap();
            let path = std::env::temp_dir().join(format!("levels-{}.pvf", std::process::id()));
            fit.save(&path, polyview::Overwrite::Replace).unwrap();
            let read = Fit::load(&path).unwrap();
            std::fs::remove_file(&path).unwrap();
            for fit in [&fit, &read] {
                assert_eq!(origin(fit, "levels"), levels, "{said}");
                assert_eq!(origin(fit, "form").1, Origin::Default, "{said}");
            }
        }
    }
}
