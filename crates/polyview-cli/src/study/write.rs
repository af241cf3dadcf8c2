//! A study as a file, and what of it goes into a model.

use std::path::{Path, PathBuf};

use polyview::{Finding, ModelSpec, Reading};

use super::{Source, Study};
use crate::failure::{Failure, Outcome};
use crate::preset::without_repeats;

/// What study files begin with.
const PRECEDENCE: &str = "\
# What a view says for itself ([[model.views]]) is stronger than what is said for all views
# ([model.defaults]); options of the command are stronger than both.
";

/// What a study begins with whose files have no absolute paths.
const PLACE: &str = "\
# Files are named from the folder that this study was written in, and are looked for from the folder
# that it lies in: keep it there.
";

impl Study {
    /// The choices of a fit, without its data.
    pub fn of_model(model: ModelSpec, reading: &Reading) -> Self {
        Self {
            model,
            groups: reading.groups.clone(),
            na: reading.missing.clone(),
            ..Self::default()
        }
    }

    /// Of these tables beside the study file, and of what is known about the samples.
    pub fn of_tables(model: ModelSpec, data: Vec<Source>, metadata: PathBuf) -> Self {
        Self {
            model,
            data,
            metadata: Some(metadata),
            ..Self::default()
        }
    }

    /// How its tables are read, as far as those of new samples are to be read alike.
    pub fn reading(&self) -> Reading {
        Reading {
            groups: self.groups.clone(),
            missing: self.na.clone(),
        }
    }

    /// As a study file, every default filled in. A view has what differs from
    /// the choices for all, so that a change of these is one of every view.
    pub fn to_toml(&self) -> Outcome<String> {
        let failed = |e: toml::ser::Error| Failure::Usage(e.to_string());
        let mut written = toml::Table::try_from(self).map_err(failed)?;
        if let Some(toml::Value::Table(model)) = written.get_mut("model")
            && self.model.factor_prior.finding() == Some(Finding::Components)
        {
            // the clusters count, whoever chose how many
            let mixture = toml::Value::try_from(self.model.mixture).map_err(failed)?;
            model.insert("mixture".to_owned(), mixture);
        }
        let text = toml::to_string(&without_repeats(written)).map_err(failed)?;
        let here = self.files().any(Path::is_relative);
        let place = if here { PLACE } else { "" };
        Ok(format!("{place}{PRECEDENCE}{text}"))
    }
}
