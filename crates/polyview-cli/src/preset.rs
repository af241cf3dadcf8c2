//! Presets of models, and study files that begin from one.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use polyview::{Likelihood, ModelSpec, models};
use toml::{Table, Value};

pub use polyview::models::PRESETS as KNOWN;

/// The choices of the model of that name; an unknown one is kept for
/// the complaint.
pub fn preset(name: &str) -> ModelSpec {
    models::preset(name).unwrap_or_else(|| ModelSpec {
        model: name.to_owned(),
        ..ModelSpec::default()
    })
}

/// Fills the choices that a study file leaves out from the preset of that
/// name: those of the model, and of each view those that hold for all.
///
/// # Errors
/// When the preset has no TOML form.
pub fn filled(mut study: Table, name: &str) -> Result<Table, toml::ser::Error> {
    let base = Table::try_from(preset(name))?;
    let mut model = match study.remove("model") {
        Some(Value::Table(t)) => t,
        _ => Table::new(),
    };
    model.insert("model".to_owned(), name.into());
    let mut model = merged(base, model);
    let defaults = match model.get("defaults") {
        Some(Value::Table(t)) => t.clone(),
        _ => Table::new(),
    };
    if let Some(Value::Array(views)) = model.get_mut("views") {
        for v in views {
            if let Value::Table(own) = v {
                *own = merged(defaults.clone(), std::mem::take(own));
            }
        }
    }
    study.insert("model".to_owned(), Value::Table(model));
    Ok(study)
}

/// Takes the choices that a study file spells out and that are merely those of
/// the preset it names away, where the preset `to` has others: the study then
/// begins from `to`. A view that repeats such a choice of all views loses it, too.
/// Gives what is to be said of it.
///
/// # Errors
/// When a preset has no TOML form.
pub fn rebased(study: &mut Table, to: &str) -> Result<Option<String>, toml::ser::Error> {
    let Some(Value::Table(model)) = study.get_mut("model") else {
        return Ok(None);
    };
    let from = model.get("model").and_then(Value::as_str);
    let from = from.unwrap_or(KNOWN[0]).to_owned();
    if from == to || !KNOWN.contains(&from.as_str()) || !KNOWN.contains(&to) {
        return Ok(None);
    }
    let (old, new) = (leaves_of(&from)?, leaves_of(to)?);
    let own = leaves(model);
    let of_preset = |(place, value): &(&String, &Value)| {
        old.get(*place) == Some(value) && new.get(*place) != Some(value)
    };
    let gone: Vec<String> = (own.iter().filter(of_preset))
        .map(|(place, _)| place.clone())
        .collect();
    for place in &gone {
        let words: Vec<&str> = place.split('.').collect();
        remove(model, &words);
        let Some(Value::Array(views)) = model.get_mut("views") else {
            continue;
        };
        for view in views {
            if let (Value::Table(view), Some(("defaults", rest))) =
                (view, words.split_first().map(|(f, r)| (*f, r)))
                && leaves(view).get(&rest.join(".")) == own.get(place)
            {
                remove(view, rest);
            }
        }
    }
    forget_settling(model, &from);
    if gone.iter().any(|g| g == "defaults.likelihood") {
        forget_guesses(model);
    }
    if gone.is_empty() {
        return Ok(None);
    }
    let mut text = format!(
        "begins from {to}: what it spelled out of {from} is left out ({})",
        few(&gone)
    );
    let left = others(&leaves(model), to)?;
    if !left.is_empty() {
        let _ = write!(text, "; it still overrides {}", few(&left));
    }
    Ok(Some(text))
}

/// Takes settling away from the tables of views, where it is what the preset has for
/// a view of that likelihood.
fn forget_settling(model: &mut Table, from: &str) {
    let Some(Value::Array(views)) = model.get_mut("views") else {
        return;
    };
    for view in views.iter_mut().filter_map(Value::as_table_mut) {
        let likelihood = view.get("likelihood").cloned();
        let Some(Ok(likelihood)) = likelihood.map(Value::try_into::<Likelihood>) else {
            continue;
        };
        let resolved = preset(from).with_likelihood("", likelihood).view("");
        if view.get("settle").cloned().and_then(|v| v.try_into().ok()) == resolved.settle {
            view.remove("settle");
        }
    }
}

/// Forgets that the data decided the likelihoods of views that do not spell out any:
/// they have that of all views.
fn forget_guesses(model: &mut Table) {
    let views = model.get("views").and_then(Value::as_array);
    let spelled: Vec<String> = (views.into_iter().flatten())
        .filter(|v| v.get("likelihood").is_some())
        .filter_map(|v| Some(format!("views/{}/likelihood", v.get("name")?.as_str()?)))
        .collect();
    if let Some(Value::Array(places)) = model.get_mut("from-data") {
        let of_view = |p: &str| p.starts_with("views/") && p.ends_with("/likelihood");
        places.retain(|p| {
            p.as_str()
                .is_none_or(|p| !of_view(p) || spelled.iter().any(|s| s == p))
        });
    }
}

/// What is to be said of a study file that spells out every choice in which
/// presets differ, and whose choices are nearer to another preset than to the one
/// it names: its model was renamed by hand.
///
/// # Errors
/// When a preset has no TOML form.
pub fn renamed(study: &Table) -> Result<Option<String>, toml::ser::Error> {
    let Some(Value::Table(model)) = study.get("model") else {
        return Ok(None);
    };
    let name = model.get("model").and_then(Value::as_str);
    let name = name.unwrap_or(KNOWN[0]);
    if !KNOWN.contains(&name) {
        return Ok(None);
    }
    let own = leaves(model);
    let preset = leaves_of(name)?;
    let differ = others(&own, name)?;
    for other in KNOWN.into_iter().filter(|k| *k != name) {
        let theirs = leaves_of(other)?;
        let mut shared = preset.keys().filter(|p| theirs.contains_key(*p));
        if shared.all(|p| own.contains_key(p)) && others(&own, other)?.len() < differ.len() {
            return Ok(Some(format!(
                "its model is {name}, but it spells out other choices: {}; remove them from the \
                 file to have those of {name}",
                few(&differ)
            )));
        }
    }
    Ok(None)
}

/// What is to be said of a study file whose tables of single views each spell out
/// choices of all views, as earlier versions of the program wrote them, where one that
/// holds for all views is another: it reaches none of them.
pub fn outweighed(study: &Table) -> Option<String> {
    let model = study.get("model")?.as_table()?;
    let defaults = model.get("defaults")?.as_table()?;
    let views = model.get("views").and_then(Value::as_array)?;
    let views: Vec<&Table> = views.iter().filter_map(Value::as_table).collect();
    let complete = |v: &&Table| defaults.keys().all(|key| v.contains_key(key));
    if views.is_empty() || !views.iter().all(complete) {
        return None;
    }
    let name = |v: &&Table| v.get("name").and_then(Value::as_str).map(str::to_owned);
    let from = model
        .get("model")
        .and_then(Value::as_str)
        .unwrap_or(KNOWN[0]);
    let natural: Vec<Option<Table>> = views.iter().map(|v| of_kind(from, v)).collect();
    let said = defaults.iter().filter_map(|(key, value)| {
        // what a view holds, and what only views of its kind have, is its own affair
        let mut own = views.iter().zip(&natural).filter(|(_, kind)| {
            key != "likelihood" && kind.as_ref().is_some_and(|kind| !kind.contains_key(key))
        });
        let mut any = false;
        let all = own.all(|(v, _)| {
            any = true;
            v.get(key) != Some(value)
        });
        (any && all).then(|| format!("{key} = {value}"))
    });
    let said: Vec<String> = said.collect();
    let views: Vec<String> = views.iter().filter_map(name).collect();
    (!said.is_empty()).then(|| {
        format!(
            "{} in [model.defaults] reaches no view: the tables [[model.views]] of {} spell out their own, \
             which are stronger; remove these lines there",
            few(&said),
            few(&views)
        )
    })
}

/// The choices in which views of this one's likelihood differ from what a preset has for
/// all views: those of ranks are not scaled, for example. None where it has no likelihood.
fn of_kind(preset_name: &str, view: &Table) -> Option<Table> {
    let likelihood: Likelihood = view.get("likelihood")?.clone().try_into().ok()?;
    let all = Table::try_from(preset(preset_name).defaults).ok()?;
    let spec = preset(preset_name).with_likelihood("", likelihood);
    let own = Table::try_from(spec.view("")).ok()?;
    Some(
        own.into_iter()
            .filter(|(k, v)| all.get(k) != Some(v))
            .collect(),
    )
}

/// Choices that differ from those of a preset, among those in which presets differ
/// at all, with the preset's.
fn others(own: &Leaves, name: &str) -> Result<Vec<String>, toml::ser::Error> {
    let all = KNOWN.into_iter().map(leaves_of);
    let all: Vec<Leaves> = all.collect::<Result<_, _>>()?;
    let preset = leaves_of(name)?;
    let telling = |place: &String| all.iter().any(|p| p.get(place) != all[0].get(place));
    Ok(own
        .iter()
        .filter(|(place, value)| telling(place) && preset.get(*place) != Some(*value))
        .map(|(place, value)| match preset.get(place) {
            Some(p) => format!("{place} = {value} ({name}: {p})"),
            None => format!("{place} = {value}"),
        })
        .collect())
}

/// The first few of some words.
fn few(words: &[String]) -> String {
    const MOST: usize = 6;
    let first = words[..words.len().min(MOST)].join(", ");
    match words.len().saturating_sub(MOST) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

/// Choices by their places, such as `vb.prune.by-bound`.
type Leaves = BTreeMap<String, Value>;

/// The choices of a preset in which it may differ from another.
fn leaves_of(name: &str) -> Result<Leaves, toml::ser::Error> {
    Ok(leaves(&Table::try_from(preset(name))?))
}

/// The choices of a model, save its name, the number of factors, the seed and what
/// single views have.
fn leaves(model: &Table) -> Leaves {
    let mut out = Leaves::new();
    let mut ahead: Vec<(String, &Value)> = model
        .iter()
        .filter(|(k, _)| !["model", "factors", "seed", "views", "from-data"].contains(&k.as_str()))
        .map(|(k, v)| (k.clone(), v))
        .collect();
    while let Some((place, value)) = ahead.pop() {
        match value {
            Value::Table(t) => ahead.extend(t.iter().map(|(k, v)| (format!("{place}.{k}"), v))),
            value => {
                out.insert(place, value.clone());
            }
        }
    }
    out
}

/// Removes one entry of nested tables, and tables of which nothing is left.
fn remove(table: &mut Table, place: &[&str]) {
    match place {
        [] => {}
        [key] => {
            table.remove(*key);
        }
        [key, rest @ ..] => {
            if let Some(Value::Table(inner)) = table.get_mut(*key) {
                remove(inner, rest);
                if inner.is_empty() {
                    table.remove(*key);
                }
            }
        }
    }
}

/// Takes away what the tables of single views repeat of the choices of all views.
pub fn without_repeats(mut study: Table) -> Table {
    let Some(Value::Table(model)) = study.get_mut("model") else {
        return study;
    };
    let Some(Value::Table(defaults)) = model.get("defaults").cloned() else {
        return study;
    };
    if let Some(Value::Array(views)) = model.get_mut("views") {
        for view in views {
            if let Value::Table(own) = view {
                own.retain(|key, value| defaults.get(key) != Some(value));
            }
        }
    }
    study
}

/// Whether the two are one choice each, of which the later stands: the margin of ranks,
/// and the options of different species.
fn is_one(key: &str, base: &Table, over: &Table) -> bool {
    let other = || base.get("species") != over.get("species");
    key == "margin" || (over.contains_key("species") && other())
}

/// `over` where it says something, else `base`.
fn merged(mut base: Table, over: Table) -> Table {
    for (key, value) in over {
        let value = match (base.remove(&key), value) {
            (Some(Value::Table(b)), Value::Table(o)) if !is_one(&key, &b, &o) => {
                Value::Table(merged(b, o))
            }
            (_, value) => value,
        };
        base.insert(key, value);
    }
    base
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_margin_of_a_view_is_its_own() {
        let text = "[model.defaults.ranks.margin]\nfixed = 0.05\n\
            [[model.views]]\nname = \"a\"\nranks.margin = { per-cell = 2.0 }\n";
        let study: Table = toml::from_str(text).expect("a table");
        let all = filled(study, "rank").expect("it has a form");
        let margin = &all["model"]["views"][0]["ranks"]["margin"];
        assert_eq!(margin.to_string(), "{ per-cell = 2.0 }");
    }

    #[test]
    fn what_a_study_says_is_stronger_than_the_preset() {
        let text = "[model]\nfactors = 3\n[model.vb]\nmax-sweeps = 7\n\
            [[model.views]]\nname = \"y\"\nlikelihood = \"poisson\"\n";
        let study: Table = toml::from_str(text).expect("a table");
        let all = filled(study, "mofa").expect("it has a form");
        let spec: ModelSpec = all["model"].clone().try_into().expect("choices");
        let mofa = models::mofa(3);
        assert_eq!((spec.factors, spec.vb.max_sweeps), (3, 7));
        assert_eq!(spec.defaults, mofa.defaults);
        assert_eq!(spec.vb.prune, mofa.vb.prune);
        let y = spec.views.first().expect("one");
        assert_eq!(y.choices.selection, mofa.defaults.selection);
        assert_eq!(y.choices.likelihood.to_string(), "poisson");
        for name in KNOWN {
            assert_eq!(preset(name).model, name);
        }
    }
}
