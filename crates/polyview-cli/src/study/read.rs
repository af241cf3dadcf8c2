//! Study files.

use std::path::Path;

use super::values::{beside, known_model, typed};
use super::{Study, Told};
use crate::failure::{Failure, Outcome};
use crate::preset::{KNOWN, filled, outweighed, rebased, renamed};

/// A study file; `model` is stronger than the model that it names.
pub(super) fn read(path: &Path, model: Option<&str>) -> Outcome<Study> {
    let failed = |why: String| Failure::Study {
        path: path.display().to_string(),
        why,
    };
    let text = std::fs::read_to_string(path).map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound => failed("there is no such file; check the path".to_owned()),
        std::io::ErrorKind::InvalidData => failed(
            "it is no text, so it is no study file (TOML); name one, or give data with --view NAME=FILE"
                .to_owned(),
        ),
        _ => failed(e.to_string()),
    })?;
    let mut keys: toml::Table = toml::from_str(&text).map_err(|e| failed(e.to_string()))?;
    let mut study = typed(&keys, &text).map_err(failed)?;
    if model.is_none() {
        known_model(&study.model.model, &KNOWN, &text).map_err(failed)?;
    }
    let name = model.unwrap_or(&study.model.model).to_owned();
    let file = path.display();
    let said = if name == study.model.model {
        renamed(&keys).map(|t| t.map(|t| format!("warning: {file}: {t}")))
    } else {
        rebased(&mut keys, &name).map(|t| t.map(|t| format!("note: {file}: {t}")))
    };
    let mut remarks = Vec::from_iter(said.map_err(|e| failed(e.to_string()))?);
    remarks.extend(outweighed(&keys).map(|t| format!("warning: {file}: {t}")));
    let told = told(&keys);
    let beside = beside(&keys, &text);
    if KNOWN.contains(&name.as_str()) {
        // once more, with the model's own defaults
        let all = filled(keys, &name).map_err(|e| failed(e.to_string()))?;
        study = typed(&all, &text).map_err(failed)?;
    }
    (study.told, study.remarks) = (told, remarks);
    (study.beside, study.file) = (beside, path.display().to_string());
    if let Some(folder) = path.parent() {
        for s in &mut study.data {
            s.path = folder.join(&s.path);
            s.trials = s.trials.take().map(|t| folder.join(t));
        }
        study.metadata = study.metadata.map(|m| folder.join(m));
        study.covariates = study.covariates.map(|c| folder.join(c));
        for path in study.offsets.values_mut() {
            *path = folder.join(&path);
        }
    }
    Ok(study)
}

/// Which likelihoods a study file gives, by its keys: once read, one that was
/// left out looks like the default.
fn told(study: &toml::Table) -> Told {
    let Some(model) = study.get("model") else {
        return Told::default();
    };
    let gives = |choices: &toml::Value| choices.get("likelihood").is_some();
    let name = |view: &toml::Value| {
        view.get("name")
            .and_then(toml::Value::as_str)
            .map(str::to_owned)
    };
    Told {
        factors: model.get("factors").is_some(),
        batch: (model.get("stochastic")).is_some_and(|choices| choices.get("batch").is_some()),
        all: model.get("defaults").is_some_and(gives),
        views: model
            .get("views")
            .and_then(toml::Value::as_array)
            .into_iter()
            .flatten()
            .filter(|v| gives(v))
            .filter_map(name)
            .collect(),
    }
}
