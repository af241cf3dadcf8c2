//! The suite: makes the peers' environment and the data, measures, and writes the tables of
//! `BENCHMARKS.md`.

mod accuracy;
mod blocks;
mod calibration;
mod criterion;
mod ends;
mod entries;
mod held;
mod machine;
mod options;
mod page;
mod peers;
mod quality;
mod runs;
mod sets;
mod setting;
mod speed;
mod spread;

use std::error::Error;
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::ExitCode;

use polyview_core::{Overwrite, write_atomic};

use self::entries::{Entry, Needs};
use self::machine::Machine;
use self::options::{Asked, Options};
use self::page::Page;
use self::peers::Peers;
pub use self::setting::checked;
use self::setting::{Setting, target_of};

/// Runs the suite as the arguments say. Success only where everything that was asked for ran.
///
/// # Errors
/// Arguments that do not exist, and a file that cannot be read or written.
pub fn run(args: impl IntoIterator<Item = String>) -> Result<ExitCode, Box<dyn Error>> {
    let options = match Options::parse(args)? {
        Asked::Text(text) => {
            writeln!(std::io::stdout(), "{text}")?;
            return Ok(ExitCode::SUCCESS);
        }
        Asked::Run(options) => options,
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .canonicalize()?;
    let file = options
        .out
        .clone()
        .unwrap_or_else(|| root.join("BENCHMARKS.md"));
    let machine = Machine::here(&root);
    let program = std::env::current_exe()?;
    let target = target_of(&program)?;
    let work = target.join("suite");
    std::fs::create_dir_all(&work)?;
    let chosen = options.entries();
    let peers = chosen
        .iter()
        .any(|e| e.needs == Needs::Peers || e.needs.peers_beside());
    let setting = Setting {
        peers: if options.peers && peers {
            Peers::prepare(&root, &work)
        } else {
            Peers::NotAsked
        },
        root,
        target,
        work,
        program,
        quick: options.quick,
        new_baseline: options.new_baseline,
        sets: options.sets.as_ref().map(std::path::absolute).transpose()?,
    };
    let mut missing = Vec::new();
    for (i, entry) in chosen.iter().enumerate() {
        eprintln!("{}/{} {}", i + 1, chosen.len(), entry.name);
        let mut page = Page::default();
        page.note(&head(entry, &machine, &options, &setting));
        page.note(entry.measures);
        match (entry.run)(&setting, &mut page) {
            Ok(()) => put(&file, entry, &page.text())?,
            Err(why) => page.missing(format!("no table: {why}")),
        }
        missing.extend(
            page.missing
                .iter()
                .map(|why| format!("{}: {why}", entry.name)),
        );
    }
    let mut out = std::io::stdout().lock();
    writeln!(out, "\n{}", file.display())?;
    for name in options.left_out() {
        writeln!(out, "not asked for: {name}")?;
    }
    for why in &missing {
        writeln!(out, "did not run: {why}")?;
    }
    Ok(if missing.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// When, where and how a block was measured.
fn head(entry: &Entry, machine: &Machine, options: &Options, setting: &Setting) -> String {
    let mut text = format!("{}; `{}`.", machine.describe(), options.command(entry));
    if options.quick {
        text += " A quick run: small cases, few repeats.";
    }
    if cfg!(debug_assertions) {
        text += " A build without optimisation: times mean nothing.";
    }
    if entry.needs.peers_beside() && !setting.peers.asked() {
        text += " Without peers.";
    }
    text
}

/// Puts a block into the file, which need not exist.
fn put(file: &Path, entry: &Entry, text: &str) -> Result<(), Box<dyn Error>> {
    let old = match std::fs::read_to_string(file) {
        Err(e) if e.kind() == ErrorKind::NotFound => String::new(),
        read => read.map_err(|e| format!("{}: {e}", file.display()))?,
    };
    let new = blocks::rewrite(&old, entry.name, entry.title, text)
        .map_err(|e| format!("{}: {e}", file.display()))?;
    Ok(write_atomic(file, Overwrite::Replace, |out| {
        out.write_all(new.as_bytes())
    })?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_put_into_a_file_that_need_not_exist() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("B.md");
        let entry = &entries::ENTRIES[0];
        put(&file, entry, "first").unwrap();
        put(&file, entry, "second").unwrap();
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(text.contains("second") && !text.contains("first"), "{text}");
        std::fs::write(&file, "<!-- suite:speed -->\n").unwrap();
        let error = put(&file, entry, "third").unwrap_err().to_string();
        assert!(
            error.contains("B.md: the block 'speed' of line 1"),
            "{error}"
        );
        assert_eq!(
            std::fs::read_to_string(&file).unwrap(),
            "<!-- suite:speed -->\n"
        );
    }
}
