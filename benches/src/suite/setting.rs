//! What a run of the suite was asked for and where it works.

use std::error::Error;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::peers::Peers;
use crate::cases::Case;

/// Folders, choices and peers of a run.
pub struct Setting {
    /// The folder of the sources.
    pub root: PathBuf,
    /// Cargo's folder of what is built.
    pub target: PathBuf,
    /// Where data, environment and results of the suite lie.
    pub work: PathBuf,
    /// This program.
    pub program: PathBuf,
    /// Small cases and few repeats.
    pub quick: bool,
    /// Whether Criterion's baseline is made anew.
    pub new_baseline: bool,
    /// The folder of real data sets, where it was given.
    pub sets: Option<PathBuf>,
    /// The other programs.
    pub peers: Peers,
}

impl Setting {
    /// Cargo, in the folder of the sources and with the same folder of what is built.
    pub fn cargo(&self) -> Command {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
        command.current_dir(&self.root);
        command.env("CARGO_TARGET_DIR", &self.target);
        command
    }

    /// How often a pair of runs is repeated.
    pub fn repeats(&self) -> usize {
        if self.quick { 3 } else { 5 }
    }

    /// The quick or the full one.
    pub fn choose<T>(&self, quick: T, full: T) -> T {
        if self.quick { quick } else { full }
    }

    /// The folder of a synthetic case, which is made where it is not there yet.
    ///
    /// # Errors
    /// A name that does not exist; what cannot be written.
    pub fn case(&self, name: &str) -> Result<PathBuf, Box<dyn Error>> {
        let folder = self.work.join("data").join(name);
        if !folder.join("meta.json").exists() {
            eprintln!("  making the data of case {name}");
            Case::named(name)?.write(&folder)?;
        }
        Ok(folder)
    }

    /// The folder of a real data set.
    ///
    /// # Errors
    /// Where `--data` was not given or has no such set.
    pub fn set(&self, name: &str) -> Result<PathBuf, String> {
        let folder = self
            .sets
            .as_ref()
            .ok_or("needs --data FOLDER_OF_SETS")?
            .join(name);
        if folder.is_dir() {
            Ok(folder)
        } else {
            Err(format!("no folder {}", folder.display()))
        }
    }
}

/// Runs a command to its end.
///
/// # Errors
/// Where it cannot be started or fails: `what` it was, and the last line of what it said.
pub fn checked(command: &mut Command, what: &str) -> Result<Output, String> {
    let run = command.output().map_err(|e| match e.kind() {
        ErrorKind::NotFound => {
            format!("{what}: there is no {}", command.get_program().display())
        }
        _ => format!("{what}: {e}"),
    })?;
    if run.status.success() {
        return Ok(run);
    }
    Err(format!("{what}: {}", last_words(&run)))
}

/// The last line of what a program said before it failed, or how it ended.
fn last_words(run: &Output) -> String {
    let last = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let line = text.lines().rev().map(str::trim).find(|l| !l.is_empty());
        line.map(str::to_owned)
    };
    last(&run.stderr)
        .or_else(|| last(&run.stdout))
        .unwrap_or_else(|| run.status.to_string())
}

/// The folder of what is built, from the place of this program in it: `TARGET/release/NAME`.
///
/// # Errors
/// Where the program lies elsewhere.
pub fn target_of(program: &Path) -> Result<PathBuf, String> {
    let folder = program.parent().and_then(Path::parent);
    folder.map(Path::to_owned).ok_or_else(|| {
        format!(
            "{} is not in Cargo's folder; start the suite by `cargo run -p polyview-benches --release -- suite`",
            program.display()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_built_lies_two_folders_up() {
        let target = target_of(Path::new("/a/target/release/polyview-benches"));
        assert_eq!(target.unwrap(), Path::new("/a/target"));
        assert!(target_of(Path::new("/")).unwrap_err().contains("cargo run"));
    }

    #[test]
    fn a_command_that_cannot_be_started_is_named() {
        let error = checked(&mut Command::new("no-such-program-at-all"), "the peer").unwrap_err();
        assert_eq!(error, "the peer: there is no no-such-program-at-all");
    }

    #[test]
    #[cfg(unix)]
    fn a_command_that_fails_is_quoted() {
        let error =
            |script: &str| checked(Command::new("sh").args(["-c", script]), "x").unwrap_err();
        assert_eq!(error("echo out; echo a >&2; echo b >&2; exit 3"), "x: b");
        assert_eq!(error("echo out; exit 3"), "x: out");
        assert!(error("exit 3").contains('3'));
    }
}
