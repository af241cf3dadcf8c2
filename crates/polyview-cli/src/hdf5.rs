//! HDF5 files: of this build, or the reason why not.

use std::path::Path;

use polyview::Fit;
use polyview_core::{Metadata, Overwrite, ViewTable};
use polyview_io::ReadOptions;

use crate::failure::Outcome;

#[cfg(feature = "hdf5")]
mod with {
    use polyview_hdf5::{
        ExportOptions, ImportOptions, Location, read_classes, read_mofa2, read_obs, read_view,
        unnamed_modalities, write_mofa2,
    };

    use super::{Fit, Metadata, Outcome, Overwrite, Path, ReadOptions, ViewTable};

    /// Whether a path names a table of an HDF5 file.
    pub fn is_inside(path: &Path) -> bool {
        Location::parse(path).is_some()
    }

    pub fn table(
        path: &Path,
        name: &str,
        options: &ReadOptions,
        classes: bool,
    ) -> Outcome<Option<ViewTable>> {
        let Some(at) = Location::parse(path) else {
            return Ok(None);
        };
        if classes {
            return Ok(Some(read_classes(&at, name)?.into()));
        }
        let mut table = read_view(&at, name)?;
        if let ViewTable::Dense(table) = &mut table {
            options.hide_missing(&mut table.values);
        }
        Ok(Some(table))
    }

    pub fn metadata(path: &Path) -> Outcome<Option<Columns>> {
        match Location::parse(path) {
            Some(at) => Ok(Some(read_obs(&at)?)),
            None => Ok(None),
        }
    }

    /// The modalities of a file whose own columns about the samples were meant to be read.
    pub fn modalities(path: &Path) -> Vec<String> {
        let at = Location::parse(path);
        // what cannot be read has been refused before
        at.and_then(|at| unnamed_modalities(&at).ok())
            .unwrap_or_default()
    }

    pub fn import(path: &Path, group: Option<String>, scales: Vec<(String, f64)>) -> Outcome<Fit> {
        Ok(read_mofa2(path, &ImportOptions { group, scales })?)
    }

    pub fn export(
        fit: &Fit,
        path: &Path,
        without: &[String],
        overwrite: Overwrite,
    ) -> Outcome<Vec<String>> {
        let options = ExportOptions {
            without: without.to_vec(),
            overwrite,
        };
        Ok(write_mofa2(fit, path, &options)?)
    }

    /// Columns with the samples they belong to, and what was left out.
    pub type Columns = (Vec<(Vec<String>, Metadata)>, Vec<String>);
}

#[cfg(not(feature = "hdf5"))]
mod with {
    use super::{Fit, Metadata, Outcome, Overwrite, Path, ReadOptions, ViewTable};
    use crate::failure::Failure;

    fn lacking(path: &Path) -> Failure {
        Failure::Usage(format!(
            "{}: this program was built without HDF5; build it with --features hdf5",
            path.display()
        ))
    }

    fn refused(path: &Path) -> Outcome<()> {
        let text = path.to_string_lossy();
        let file = text.split('#').next().unwrap_or_default();
        let known = |ending: &str| file.to_ascii_lowercase().ends_with(ending);
        if known(".h5ad") || known(".h5mu") {
            return Err(lacking(path));
        }
        Ok(())
    }

    /// Whether a path names a table of an HDF5 file that this build reads.
    pub fn is_inside(_: &Path) -> bool {
        false
    }

    pub fn table(
        path: &Path,
        _name: &str,
        _options: &ReadOptions,
        _classes: bool,
    ) -> Outcome<Option<ViewTable>> {
        refused(path).map(|()| None)
    }

    pub fn metadata(path: &Path) -> Outcome<Option<Columns>> {
        refused(path).map(|()| None)
    }

    pub fn modalities(_: &Path) -> Vec<String> {
        Vec::new()
    }

    pub fn import(path: &Path, _: Option<String>, _: Vec<(String, f64)>) -> Outcome<Fit> {
        Err(lacking(path))
    }

    pub fn export(_: &Fit, path: &Path, _: &[String], _: Overwrite) -> Outcome<Vec<String>> {
        Err(lacking(path))
    }

    /// Columns with the samples they belong to, and what was left out.
    pub type Columns = (Vec<(Vec<String>, Metadata)>, Vec<String>);
}

pub use with::{export, import, is_inside, metadata, modalities, table};
