//! Presets of models, and study files that begin from one.

use polyview::{ModelSpec, models};
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

/// `over` where it says something, else `base`.
fn merged(mut base: Table, over: Table) -> Table {
    for (key, value) in over {
        let value = match (base.remove(&key), value) {
            (Some(Value::Table(b)), Value::Table(o)) => Value::Table(merged(b, o)),
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
