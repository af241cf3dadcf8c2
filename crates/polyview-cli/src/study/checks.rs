//! What a study asks for that cannot be.

use std::path::{Path, PathBuf};

use polyview::{ErrorKind, Likelihood, ModelSpec, Offset, ViewSpec};
use polyview_core::Options;

use super::Study;
use super::values::Beside;
use crate::failure::{Failure, Outcome};

impl Study {
    /// Leaves out the options that a study file has for other likelihoods of a view than the one that is given on the command
    /// line, and says so.
    pub(super) fn leave_out_beside(&mut self, view: &str, likelihood: &Likelihood) {
        let fits = |species: &str| {
            (species == "rank" && likelihood.is_rank()) || likelihood.name() == species
        };
        let file = self.file.clone();
        let (keep, out): (Vec<Beside>, Vec<Beside>) = std::mem::take(&mut self.beside)
            .into_iter()
            .partition(|own| own.view != view || fits(&own.species));
        self.beside = keep;
        self.remarks.extend(out.iter().map(|own| {
            format!(
                "note: {file}: {}options of {} are left out, as --view says that '{view}' is {likelihood}",
                own.place, own.species
            )
        }));
        let own = self.model.views.iter_mut().find(|v| v.name == view);
        if let Some(own) = own.map(|v| &mut v.choices) {
            own.options.retain(|species, _| fits(species));
            if !likelihood.is_rank() {
                own.ranks = Options::new();
            }
        }
    }

    /// Refuses options that stand with a view whose likelihood does not have them.
    pub(super) fn check_options(&self) -> Outcome<()> {
        for own in &self.beside {
            let Some(likelihood) = self.likelihood(&own.view) else {
                continue;
            };
            let ranks = own.species == "rank" && likelihood.is_rank();
            if ranks || likelihood.name() == own.species {
                continue;
            }
            return Err(Failure::Study {
                path: self.file.clone(),
                why: format!(
                    "{}view '{}' is {likelihood}, and these are options of {}; leave them out, or say \
                     likelihood = \"{}\" there",
                    own.place, own.view, own.species, own.species
                ),
            });
        }
        Ok(())
    }

    /// Refuses targets that are not there, and those without another view to be predicted from.
    pub(super) fn check_targets(&self) -> Outcome<()> {
        let names: Vec<&str> = self.data.iter().map(|s| s.name.as_str()).collect();
        let unknown = self.targets.iter().find(|t| !names.contains(&t.as_str()));
        let why = if let Some(target) = unknown {
            let known = names.join(", ");
            format!("targets: there is no view '{target}'; there is {known}")
        } else if names.iter().all(|n| self.targets.iter().any(|t| t == n)) {
            "targets: every view is one, and none is left to predict them from; leave one out"
                .to_owned()
        } else {
            return Ok(());
        };
        Err(Failure::Study {
            path: self.file.clone(),
            why,
        })
    }

    /// Refuses choices that cannot be, and those of views that are not there; says the file where they are its own.
    pub(super) fn check_model(&self, of_file: &ModelSpec) -> Outcome<()> {
        let in_file = |why: String| Failure::Study {
            path: self.file.clone(),
            why,
        };
        let names: Vec<&str> = self.data.iter().map(|s| s.name.as_str()).collect();
        let unknown = |v: &&ViewSpec| !names.contains(&v.name.as_str());
        if let Some(view) = of_file.views.iter().find(unknown) {
            let known = names.join(", ");
            return Err(in_file(format!(
                "it has choices of a view '{}', which is not there; there is {known}",
                view.name
            )));
        }
        if let Some(view) = self.model.views.iter().find(unknown) {
            return Err(Failure::Model(
                ErrorKind::UnknownView {
                    view: view.name.clone(),
                    known: names.into_iter().map(str::to_owned).collect(),
                }
                .into(),
            ));
        }
        let Err(found) = self.model.validate() else {
            return Ok(());
        };
        let its_own = of_file
            .validate()
            .is_err_and(|e| e.to_string() == found.to_string());
        Err(if its_own && !self.file.is_empty() {
            in_file(found.to_string())
        } else {
            found.into()
        })
    }

    /// Refuses what is known of samples without the table that says it, as in the choices of a
    /// fit that are read again.
    pub(super) fn check_tables(&self) -> Outcome<()> {
        if let (Some(column), None) = (&self.groups, &self.metadata) {
            return Err(Failure::Usage(format!(
                "the groups of the samples are the column '{column}' of a table that is not given; give \
                 it with --metadata FILE, or metadata = \"FILE\" in the study"
            )));
        }
        for (view, offset) in &self.model.offsets {
            let from_table = *offset == Offset::Column(Offset::column_of(view));
            if from_table && !self.offsets.contains_key(view) {
                return Err(Failure::Usage(format!(
                    "the offset of view '{view}' is a table that is not given; give it with --offset \
                     {view}=FILE"
                )));
            }
        }
        Ok(())
    }

    /// Refuses files that are not there.
    ///
    /// # Errors
    /// What the first of them would be refused with when it is read.
    pub fn check_files(&self) -> Outcome<()> {
        // a part of a file has a name after its own
        let file = |path: &Path| {
            let text = path.to_string_lossy().into_owned();
            let whole = text.split_once('#').map_or(text.as_str(), |(file, _)| file);
            PathBuf::from(whole)
        };
        for path in self.files() {
            if !path.exists() && !file(path).exists() {
                let path = path.to_owned();
                return Err(polyview_io::IoError::NotFound { path }.into());
            }
        }
        Ok(())
    }
}
