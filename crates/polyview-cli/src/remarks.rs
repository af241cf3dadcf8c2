//! Notes and warnings on standard error: one way for all of them.

use std::collections::HashSet;

use polyview_core::{Journal, Level};

use crate::args::Cli;
use crate::output::aside;

/// Most lines about one block of a model; the journal has them all.
const MOST: usize = 5;

/// Says a note.
pub fn note(cli: &Cli, text: impl AsRef<str>) {
    say(cli, format!("note: {}", text.as_ref()));
}

/// Says a warning.
pub fn warning(cli: &Cli, text: impl AsRef<str>) {
    say(cli, format!("warning: {}", text.as_ref()));
}

/// Says what an answer comes with.
pub fn answer(cli: &Cli, notes: &[String], warnings: &[String]) {
    for n in notes {
        note(cli, n);
    }
    for w in warnings {
        warning(cli, w);
    }
}

/// What was said of a fit already.
#[derive(Default)]
pub struct Said(HashSet<String>);

impl Said {
    /// Says what an answer comes with, less what was said before.
    pub fn answer(&mut self, cli: &Cli, notes: &[String], warnings: &[String]) {
        let mut fresh = |texts: &[String]| -> Vec<String> {
            let new = texts.iter().filter(|t| self.0.insert((*t).clone()));
            new.cloned().collect()
        };
        answer(cli, &fresh(notes), &fresh(warnings));
    }

    /// Says the notes and warnings of a journal that were not said before, no more
    /// than five about one block.
    pub fn journal(&mut self, cli: &Cli, journal: &Journal) {
        let mut runs: Vec<(Level, &str, Vec<String>)> = Vec::new();
        for entry in &journal.entries {
            let Some(level) = entry.event.level() else {
                continue;
            };
            let text = entry.remark();
            if !self.0.insert(text.clone()) {
                continue;
            }
            let block = entry.block.as_str();
            match runs.iter_mut().find(|r| r.0 == level && r.1 == block) {
                Some(run) => run.2.push(text),
                None => runs.push((level, block, vec![text])),
            }
        }
        for (level, block, texts) in runs {
            let tell = match level {
                Level::Note => note,
                Level::Warning => warning,
            };
            for text in texts.iter().take(MOST) {
                tell(cli, text.clone());
            }
            if texts.len() > MOST {
                let more = texts.len() - MOST;
                tell(
                    cli,
                    format!(
                        "{block}: {more} more like these; 'polyview inspect --journal' shows them"
                    ),
                );
            }
        }
    }
}

/// Says something on standard error unless quiet.
pub fn say(cli: &Cli, text: impl AsRef<str>) {
    if !cli.quiet {
        aside(text);
    }
}
