//! What the command line of the suite says.

use std::path::PathBuf;

use super::entries::{ENTRIES, Entry, Needs};

const USAGE: &str = "usage: suite [--quick] [--only NAME,...] [--no-peers] [--data FOLDER] [--out FILE] [--new-baseline]
  --quick         small cases and few repeats: minutes
  --only NAMES    these entries alone
  --no-peers      no Python, no other programs
  --data FOLDER   folder of real data sets: yeast, emotions, flags, cll, breast-tcga, mfeat, landsat, tb-hiv, nutrimouse
  --out FILE      where the tables are written (BENCHMARKS.md)
  --new-baseline  saves Criterion's figures as the baseline of later runs
  --list          names the entries";

/// What a run of the suite is to do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Small cases and few repeats.
    pub quick: bool,
    /// These entries alone; all that can be had where empty.
    pub only: Vec<String>,
    /// Whether peers are wanted.
    pub peers: bool,
    /// The folder of real data sets.
    pub sets: Option<PathBuf>,
    /// Where the tables are written.
    pub out: Option<PathBuf>,
    /// Whether Criterion's baseline is made anew.
    pub new_baseline: bool,
}

/// What was asked for.
#[derive(Debug, PartialEq, Eq)]
pub enum Asked {
    /// A text to print: help, or the list of entries.
    Text(String),
    /// A run.
    Run(Options),
}

impl Options {
    /// From the arguments of the subcommand.
    ///
    /// # Errors
    /// Unknown options and entries, values that are missing; peers forbidden to an entry that is
    /// nothing without them.
    pub fn parse(args: impl IntoIterator<Item = String>) -> Result<Asked, String> {
        let mut o = Self {
            peers: true,
            ..Self::default()
        };
        let mut args = args.into_iter();
        while let Some(a) = args.next() {
            let mut value = || args.next().ok_or(format!("{a} needs a value\n{USAGE}"));
            match a.as_str() {
                "--quick" => o.quick = true,
                "--no-peers" => o.peers = false,
                "--new-baseline" => o.new_baseline = true,
                "--only" => o.only.extend(value()?.split(',').map(str::to_owned)),
                "--data" => o.sets = Some(value()?.into()),
                "--out" => o.out = Some(value()?.into()),
                "--list" => return Ok(Asked::Text(list())),
                "--help" | "-h" => return Ok(Asked::Text(format!("{USAGE}\n\n{}", list()))),
                other => return Err(format!("unknown option {other}\n{USAGE}")),
            }
        }
        for name in &o.only {
            let entry = ENTRIES.iter().find(|e| e.name == name);
            let entry = entry.ok_or_else(|| format!("no entry '{name}'; there are\n{}", list()))?;
            if let Some(what) = o.lacks(entry) {
                return Err(format!("'{name}' {what}"));
            }
        }
        Ok(Asked::Run(o))
    }

    /// What keeps an entry from running under these options.
    fn lacks(&self, entry: &Entry) -> Option<&'static str> {
        match entry.needs {
            Needs::Peers if !self.peers => Some("says nothing without peers; leave out --no-peers"),
            needs if needs.sets() && self.sets.is_none() => Some("needs --data FOLDER"),
            _ => None,
        }
    }

    /// The entries that are wanted and can be had.
    pub fn entries(&self) -> Vec<&'static Entry> {
        let wanted = |e: &&Entry| self.only.is_empty() || self.only.iter().any(|n| n == e.name);
        let entries = ENTRIES.iter().filter(wanted);
        entries.filter(|e| self.lacks(e).is_none()).collect()
    }

    /// The entries that were not asked for because something that they need was not, and what.
    pub fn left_out(&self) -> Vec<String> {
        let all = self.only.is_empty();
        let entries = ENTRIES.iter().filter(|_| all);
        entries
            .filter_map(|e| Some(format!("{} {}", e.name, self.lacks(e)?)))
            .collect()
    }

    /// The command that measures this entry again as here.
    pub fn command(&self, entry: &Entry) -> String {
        let mut text = format!(
            "cargo run -p polyview-benches --release -- suite --only {}",
            entry.name
        );
        if self.quick {
            text += " --quick";
        }
        if !self.peers && entry.needs.peers_beside() {
            text += " --no-peers";
        }
        if self.sets.is_some() && (entry.needs.sets() || entry.name == "counts") {
            text += " --data FOLDER";
        }
        text
    }
}

/// The entries, a line each.
fn list() -> String {
    let lines = ENTRIES.iter().map(|e| {
        let needs = match e.needs {
            Needs::Nothing => "",
            Needs::PeersBeside => " (with peers)",
            Needs::Peers => " (peers alone)",
            Needs::Sets => " (needs --data)",
            Needs::SetsPeersBeside => " (needs --data; with peers)",
        };
        format!("  {:<12} {}{needs}", e.name, e.title)
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(args: &[&str]) -> Result<Asked, String> {
        Options::parse(args.iter().map(|&a| a.to_owned()))
    }

    fn options(args: &[&str]) -> Options {
        match parse(args).unwrap() {
            Asked::Run(o) => o,
            Asked::Text(text) => panic!("{text}"),
        }
    }

    fn names(o: &Options) -> Vec<&str> {
        o.entries().iter().map(|e| e.name).collect()
    }

    #[test]
    fn names_of_entries_differ() {
        let mut names: Vec<&str> = ENTRIES.iter().map(|e| e.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ENTRIES.len());
    }

    #[test]
    fn what_was_not_given_is_left_out_and_said() {
        let o = options(&[]);
        assert!(names(&o).contains(&"speed") && !names(&o).contains(&"yeast"));
        assert!(
            o.left_out()
                .iter()
                .any(|l| l == "yeast needs --data FOLDER")
        );
        let o = options(&["--no-peers", "--data", "sets"]);
        assert!(names(&o).contains(&"yeast") && !names(&o).contains(&"mofa-time"));
        assert_eq!(o.left_out().len(), 1);
        let o = options(&["--only", "digits,speed"]);
        assert_eq!(names(&o), ["speed", "digits"]);
        assert!(o.left_out().is_empty());
    }

    #[test]
    fn what_cannot_run_and_was_named_is_refused_at_once() {
        let error = |args: &[&str]| parse(args).unwrap_err();
        assert!(error(&["--only", "yeast"]).contains("needs --data"));
        assert!(error(&["--only", "mofa-time", "--no-peers"]).contains("without peers"));
        assert!(error(&["--only", "no-such"]).contains("digits"));
        assert!(error(&["--fast"]).contains("usage"));
        assert!(error(&["--out"]).contains("needs a value"));
    }

    #[test]
    fn a_block_says_the_command_that_makes_it() {
        let o = options(&["--quick", "--no-peers", "--data", "/home/me/sets"]);
        let of = |name: &str| o.command(ENTRIES.iter().find(|e| e.name == name).unwrap());
        let start = "cargo run -p polyview-benches --release -- suite --only";
        assert_eq!(of("speed"), format!("{start} speed --quick --no-peers"));
        assert_eq!(of("yeast"), format!("{start} yeast --quick --data FOLDER"));
        assert_eq!(of("unmixed"), format!("{start} unmixed --quick"));
    }

    #[test]
    fn the_list_has_every_entry() {
        let Asked::Text(text) = parse(&["--list"]).unwrap() else {
            panic!("a list is a text");
        };
        assert_eq!(text.lines().count(), ENTRIES.len());
    }
}
