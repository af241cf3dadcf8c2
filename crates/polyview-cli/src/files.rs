//! The files of a command: none of those that it writes is another one, or one
//! that it reads.

use std::path::{Path, PathBuf};

use polyview::Checkpoint;
use polyview_core::Overwrite;
use polyview_io::{Action, IoError, ensure_writable, market_names};
use serde_json::{Map, Value, json};

use crate::args::Cli;
use crate::failure::{Failure, Outcome};
use crate::output;
use crate::remarks::say;
use crate::written::{called, is_stdout};

/// What a command reads and writes.
#[derive(Default)]
pub struct Files {
    read: Vec<PathBuf>,
    written: Vec<(&'static str, PathBuf)>,
    /// Options among them that write text tables, which standard output takes.
    tables: Vec<&'static str>,
    /// Whether standard output is to have a summary.
    json: bool,
}

impl Files {
    /// Adds files that the command reads, and those of names beside them.
    #[must_use]
    pub fn reading<P: AsRef<Path>>(mut self, paths: impl IntoIterator<Item = P>) -> Self {
        for path in paths {
            self.read.extend(market_names(path.as_ref()));
            self.read.push(path.as_ref().to_owned());
        }
        self
    }
    /// Adds text tables that an option has the command write, to standard output
    /// where the path is `-`.
    #[must_use]
    pub fn printing<P: AsRef<Path>>(
        mut self,
        option: &'static str,
        paths: impl IntoIterator<Item = P>,
    ) -> Self {
        self.tables.push(option);
        self.writing(option, paths)
    }
    /// Adds files that an option has the command write.
    #[must_use]
    pub fn writing<P: AsRef<Path>>(
        mut self,
        option: &'static str,
        paths: impl IntoIterator<Item = P>,
    ) -> Self {
        let paths = paths.into_iter();
        self.written
            .extend(paths.map(|p| (option, p.as_ref().to_owned())));
        self
    }
    /// Has standard output for a summary where `--json` asks for one ([`Files::done`]), and no
    /// table then.
    #[must_use]
    pub fn for_json(mut self, cli: &Cli) -> Self {
        self.json = cli.json;
        self
    }
    /// Says that all is written, and prints what and where as JSON where that is asked for:
    /// the entries of `more`, and the files by the options that name them.
    pub fn done(&self, cli: &Cli, text: &str, more: Value) -> Outcome<()> {
        say(cli, text);
        if !self.json {
            return Ok(());
        }
        let mut written = Map::new();
        for (option, path) in &self.written {
            let name = option.trim_start_matches('-').replace('-', "_");
            let all = written.entry(name).or_insert_with(|| json!([]));
            if let Value::Array(all) = all {
                all.push(json!(path));
            }
        }
        let mut out = Map::new();
        if let Value::Object(more) = more {
            out.extend(more);
        }
        out.insert("written".to_owned(), Value::Object(written));
        output::json(&Value::Object(out))
    }
    /// Refuses one file for two outputs, an output that is read, and standard
    /// output for what is no text table.
    pub fn distinct(&self) -> Outcome<()> {
        let no_table = |(o, p): &&(&'static str, PathBuf)| is_stdout(p) && !self.tables.contains(o);
        if let Some((option, _)) = self.written.iter().find(no_table) {
            return Err(Failure::Usage(format!(
                "{option}: '-' stands for standard output, which takes text tables alone; name a file (./- is one of that name)"
            )));
        }
        let printed = |(_, p): &&(&'static str, PathBuf)| is_stdout(p);
        if let Some((option, _)) = self.written.iter().find(printed).filter(|_| self.json) {
            return Err(Failure::Usage(format!(
                "{option}: standard output cannot take the table and the summary of --json both; name a file, or leave --json out"
            )));
        }
        let places: Vec<PathBuf> = self.written.iter().map(|(_, p)| place(p)).collect();
        for (i, (option, path)) in self.written.iter().enumerate() {
            if let Some(j) = places[..i].iter().position(|p| *p == places[i]) {
                let (other, _) = self.written[j];
                let both = if *option == other {
                    format!("{option}: {} is written twice", quoted(path))
                } else {
                    format!("{other} and {option} both write {}", quoted(path))
                };
                return Err(Failure::Usage(format!("{both}; give each its own file")));
            }
            if self.read.iter().any(|p| place(p) == places[i]) {
                return Err(Failure::Usage(format!(
                    "{option}: '{}' is read by this command, too; choose another path",
                    path.display()
                )));
            }
        }
        Ok(())
    }
    /// As [`Files::distinct`]; refuses what cannot be written, too.
    pub fn check(&self, overwrite: Overwrite) -> Outcome<()> {
        self.distinct()?;
        let files = self.written.iter().map(|(_, path)| path);
        for path in files.filter(|p| !is_stdout(p)) {
            ensure_writable(path, overwrite)?;
        }
        Ok(())
    }
}

/// Refuses a file that a checkpoint would replace, unless that is the one which
/// the fit goes on from: another one holds work that may still be wanted.
pub fn check_checkpoint(path: &Path, overwrite: Overwrite, resumed: bool) -> Outcome<()> {
    let overwrite = if resumed {
        Overwrite::Replace
    } else {
        overwrite
    };
    match ensure_writable(path, overwrite) {
        Err(IoError::Exists { .. }) if Checkpoint::load(path).is_ok() => {
            Err(Failure::CheckpointThere {
                path: path.to_owned(),
            })
        }
        other => Ok(other?),
    }
}

fn quoted(path: &Path) -> String {
    if is_stdout(path) {
        called(path)
    } else {
        format!("'{}'", path.display())
    }
}

/// Makes a folder for results, and those above it, where there is none.
pub fn make_folder(path: &Path) -> Outcome<()> {
    std::fs::create_dir_all(path).map_err(|source| {
        let (path, action) = (path.to_owned(), Action::Write);
        IoError::System {
            path,
            action,
            source,
        }
        .into()
    })
}

/// Whether two paths lead to one file.
pub fn same(a: &Path, b: &Path) -> bool {
    place(a) == place(b)
}

/// One name for each file, whichever way a path leads there; of a path into a
/// file (`cells.h5ad#layers/counts`) that of the file.
fn place(path: &Path) -> PathBuf {
    if is_stdout(path) {
        return path.to_owned();
    }
    if let Ok(real) = path.canonicalize() {
        return real;
    }
    if let Some((file, _)) = path.to_str().and_then(|p| p.split_once('#'))
        && let Ok(real) = Path::new(file).canonicalize()
    {
        return real;
    }
    let folder = match path.parent() {
        Some(p) if !p.as_os_str().is_empty() => p,
        _ => Path::new("."),
    };
    match (folder.canonicalize(), path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => path.to_owned(),
    }
}
