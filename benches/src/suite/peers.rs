//! The other programs: an environment of Python with them, and runs of them.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::runs::Run;
use super::setting::{Setting, checked};

/// Another program, in one of its modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// The group factor analysis of `cca_zoo`.
    Gfa,
    /// mofapy2 as it comes.
    Mofapy2,
    /// mofapy2 with a stricter rule of convergence.
    Mofapy2Medium,
    /// mofapy2 with its strictest rule of convergence.
    Mofapy2Slow,
}

impl Peer {
    /// What tables call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gfa => "cca_zoo GFA",
            Self::Mofapy2 => "mofapy2",
            Self::Mofapy2Medium => "mofapy2, medium",
            Self::Mofapy2Slow => "mofapy2, slow",
        }
    }

    /// What `run_peer.py` calls it.
    fn argument(self) -> &'static str {
        match self {
            Self::Gfa => "cca-gfa",
            Self::Mofapy2 => "mofapy2",
            Self::Mofapy2Medium => "mofapy2-medium",
            Self::Mofapy2Slow => "mofapy2-slow",
        }
    }

    /// Its package.
    fn package(self) -> &'static str {
        match self {
            Self::Gfa => "cca_zoo",
            Self::Mofapy2 | Self::Mofapy2Medium | Self::Mofapy2Slow => "mofapy2",
        }
    }
}

/// The package of random forests.
const FORESTS: &str = "sklearn";

/// Which of the other programs can be run.
pub enum Peers {
    /// None: they were not asked for.
    NotAsked,
    /// An interpreter, and why packages cannot be used, by their names.
    Asked {
        /// The interpreter of the environment.
        python: PathBuf,
        /// Packages that cannot be used, and why.
        absent: Vec<(&'static str, String)>,
    },
}

/// Why a peer was not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotRun {
    /// Nobody asked for it.
    NotAsked,
    /// It was asked for; this is why not.
    Failed(String),
}

impl Peers {
    /// Makes the environment where it is not there or its requirements have changed, and looks
    /// which packages can be used. What fails is kept and said in the tables.
    pub fn prepare(root: &Path, work: &Path) -> Self {
        let environment = work.join("venv");
        let python = environment.join("bin").join("python");
        let requirements = root.join("benches").join("peers").join("requirements.txt");
        let made = install(&environment, &python, &requirements);
        let packages = [Peer::Gfa.package(), Peer::Mofapy2.package(), FORESTS];
        let absent = packages
            .into_iter()
            .filter_map(|package| {
                let import = format!("import {package}");
                let probe = checked(Command::new(&python).args(["-c", &import]), package);
                let why = made.clone().and(probe.map(drop)).err()?;
                Some((package, format!("not installed: {why}")))
            })
            .collect();
        Self::Asked { python, absent }
    }

    /// Whether peers were asked for.
    pub fn asked(&self) -> bool {
        matches!(self, Self::Asked { .. })
    }

    /// The interpreter for random forests.
    ///
    /// # Errors
    /// [`NotRun`]: nobody asked for peers, or it cannot be installed.
    pub fn forests(&self) -> Result<&Path, NotRun> {
        self.with(FORESTS)
    }

    fn python(&self, peer: Peer) -> Result<&Path, NotRun> {
        self.with(peer.package())
    }

    fn with(&self, package: &str) -> Result<&Path, NotRun> {
        match self {
            Self::NotAsked => Err(NotRun::NotAsked),
            Self::Asked { python, absent } => match absent.iter().find(|(p, _)| *p == package) {
                Some((_, why)) => Err(NotRun::Failed(why.clone())),
                None => Ok(python),
            },
        }
    }
}

/// The environment with all that is required; where that fails, with what of it can be had.
fn install(environment: &Path, python: &Path, requirements: &Path) -> Result<(), String> {
    let wanted = std::fs::read_to_string(requirements)
        .map_err(|e| format!("{}: {e}", requirements.display()))?;
    let stamp = environment.join("requirements.txt");
    if std::fs::read_to_string(&stamp).is_ok_and(|there| there == wanted) {
        return Ok(());
    }
    eprintln!("making the environment of the peers");
    let make = ["-m", "venv", "--clear"];
    checked(
        Command::new("python3").args(make).arg(environment),
        "python3 -m venv",
    )?;
    let pip = ["-m", "pip", "install", "--quiet"];
    let all = checked(
        Command::new(python).args(pip).arg("-r").arg(requirements),
        "pip",
    );
    match all {
        Ok(_) => std::fs::write(&stamp, wanted).map_err(|e| format!("{}: {e}", stamp.display())),
        Err(why) => {
            eprintln!("  {why}; trying one after the other");
            for line in wanted.lines() {
                if let Err(why) = checked(Command::new(python).args(pip).arg(line), "pip") {
                    eprintln!("  {line}: {why}");
                }
            }
            Ok(())
        }
    }
}

/// One run of a peer on one thread: at most so many iterations and seconds of processor time.
///
/// # Errors
/// [`NotRun`]: it was not asked for, cannot be installed or failed.
pub fn run(
    setting: &Setting,
    peer: Peer,
    case: &Path,
    missing: bool,
    iterations: usize,
    seconds: usize,
) -> Result<Run, NotRun> {
    let python = setting.peers.python(peer)?;
    let out = setting.work.join("peer.jsonl");
    let mut command = Command::new(python);
    command
        .arg(setting.root.join("benches/peers/run_peer.py"))
        .arg(peer.argument())
        .arg(case)
        .args(["--missing", if missing { "20" } else { "0" }])
        .args(["--threads", "1"])
        .args(["--max-iter", &iterations.to_string()])
        .args(["--budget", &seconds.to_string()])
        .arg("--out")
        .arg(&out);
    let measured = || -> Result<Value, Box<dyn Error>> {
        std::fs::write(&out, "")?;
        checked(&mut command, peer.name())?;
        Ok(serde_json::from_str(&std::fs::read_to_string(&out)?)?)
    };
    let measured = { measured }();
    measured
        .map(|v| Run::of_peer(&v))
        .map_err(|e| NotRun::Failed(format!("failed: {e}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_that_is_absent_stops_its_peers_alone() {
        let peers = Peers::Asked {
            python: "python".into(),
            absent: vec![("mofapy2", "not installed: no network".into())],
        };
        assert!(peers.python(Peer::Gfa).is_ok());
        let why = NotRun::Failed("not installed: no network".into());
        assert_eq!(peers.python(Peer::Mofapy2Slow), Err(why));
        assert_eq!(Peers::NotAsked.python(Peer::Gfa), Err(NotRun::NotAsked));
        assert!(peers.forests().is_ok());
    }

    #[test]
    fn an_environment_that_cannot_be_made_is_no_end() {
        let folder = tempfile::tempdir().unwrap();
        // no requirements.txt here
        let Peers::Asked { absent, .. } = Peers::prepare(folder.path(), folder.path()) else {
            panic!("peers were asked for");
        };
        assert_eq!(absent.len(), 3);
        assert!(absent[0].1.contains("requirements.txt"), "{absent:?}");
    }
}
