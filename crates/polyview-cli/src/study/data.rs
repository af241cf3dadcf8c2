//! Data files given on the command line.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use polyview::Settle;
use polyview_core::DataError;
use polyview_io::ReadOptions;

use super::Source;
use crate::args::DataArgs;
use crate::choice;
use crate::failure::{Failure, Outcome};
use crate::labels::{self, labels_option};

/// The views of `--view` and `--labels`.
pub fn sources(args: &DataArgs, options: &ReadOptions) -> Outcome<Vec<Source>> {
    let mut out = Vec::new();
    for text in &args.views {
        let (name, path, likelihood) = view_option(text)?;
        let likelihood = likelihood
            .map(|l| choice::species(&of_view(&name), &l))
            .transpose()?;
        out.push(Source {
            name,
            path,
            likelihood,
            ..Source::default()
        });
    }
    for text in &args.labels {
        let (path, likelihood) = labels_option(text);
        let Some(word) = likelihood else {
            return Err(Failure::Usage(format!(
                "--labels: '{text}' does not say how labels arise; add :bernoulli, as in --labels {text}:bernoulli"
            )));
        };
        let likelihood: polyview::Likelihood = choice::species("--labels, likelihood", word)?;
        if !likelihood.is_label() || likelihood.has_classes() {
            return Err(no_labels(&path, &likelihood, options)?);
        }
        for name in labels::read(&path, options)?.columns {
            out.push(Source {
                column: Some(name.clone()),
                name,
                path: path.clone(),
                likelihood: Some(likelihood.clone()),
                ..Source::default()
            });
        }
    }
    Ok(out)
}

/// Why a likelihood is none of labels of two values, and what else to do with such a table.
fn no_labels(
    path: &Path,
    likelihood: &polyview::Likelihood,
    options: &ReadOptions,
) -> Outcome<Failure> {
    let table = labels::read(path, options)?;
    let several = table.columns.iter().find_map(|column| {
        let mut values: Vec<&String> = table.column(column)?.iter().flatten().collect();
        values.sort_unstable();
        values.dedup();
        (values.len() > 2).then_some((column, values.len()))
    });
    let file = path.display();
    Ok(Failure::Usage(match several {
        Some((column, values)) => format!(
            "--labels: '{file}', column '{column}' has {values} values, and --labels takes labels of two; give the \
             column as --view {column}=FILE:{likelihood}, in a file of its own, to a model that takes {likelihood} views, \
             such as sshiba"
        ),
        None => format!(
            "--labels: {likelihood} is not for labels of two values, as '{file}' has; choose bernoulli"
        ),
    }))
}

/// What a likelihood after the file of a view is called.
pub fn of_view(view: &str) -> String {
    format!("--view {view}, likelihood")
}

/// Refuses two views of one name.
pub fn distinct(data: &[Source]) -> Outcome<()> {
    let mut names = HashSet::new();
    match data.iter().find(|s| !names.insert(&s.name)) {
        None => Ok(()),
        Some(s) => Err(DataError::DuplicateView {
            view: s.name.clone(),
        }
        .into()),
    }
}

/// What an option has been given for, which it may be once: the last would stand without a word.
pub struct Once {
    option: &'static str,
    seen: HashSet<String>,
}

impl Once {
    /// For nothing yet.
    pub fn of(option: &'static str) -> Self {
        Self {
            option,
            seen: HashSet::new(),
        }
    }
    /// One more view.
    ///
    /// # Errors
    /// Where it has been given before.
    pub fn view(&mut self, view: &str) -> Outcome<()> {
        if self.seen.insert(view.to_owned()) {
            return Ok(());
        }
        Err(Failure::Usage(format!(
            "{}: view '{view}' is given twice; leave one of them out",
            self.option
        )))
    }
}

/// Parses `NAME=FILE[:LIKELIHOOD]`. A colon belongs to the file if what
/// follows is no likelihood (`C:\data.csv`).
pub fn view_option(text: &str) -> Outcome<(String, PathBuf, Option<String>)> {
    let bad = || {
        Failure::Usage(format!(
            "'{text}' is not NAME=FILE or NAME=FILE:LIKELIHOOD, such as genes=genes.csv:gaussian"
        ))
    };
    let (name, rest) = text.split_once('=').ok_or_else(bad)?;
    if name.is_empty() || rest.is_empty() {
        return Err(bad());
    }
    // options stand in braces behind the likelihood
    let at = rest.find('{').filter(|_| rest.ends_with('}'));
    let (head, options) = rest.split_at(at.unwrap_or(rest.len()));
    if let Some((path, likelihood)) = head.rsplit_once(':')
        && !path.is_empty()
        && !likelihood.contains(['/', '\\', '.'])
    {
        return Ok((
            name.to_owned(),
            path.into(),
            Some(format!("{likelihood}{options}")),
        ));
    }
    Ok((name.to_owned(), rest.into(), None))
}

/// Parses `VIEW=X`.
pub fn weight_option(text: &str) -> Outcome<(String, f64)> {
    let parts = text.rsplit_once('=').filter(|(view, _)| !view.is_empty());
    let number = |x: &str| x.parse().ok().filter(|x: &f64| *x > 0.0 && x.is_finite());
    parts
        .and_then(|(view, x)| Some((view.to_owned(), number(x)?)))
        .ok_or_else(|| {
            Failure::Usage(format!(
                "--weight: '{text}' is not VIEW=X with a number above 0, such as diet=5"
            ))
        })
}

/// Parses `VIEW`, or `VIEW=` and `factors`, `features`, `best`, `mixture` or `no`.
/// `is_view` says which names there are, which may have that sign in them.
pub fn settle_option(text: &str, is_view: impl Fn(&str) -> bool) -> Outcome<(&str, Settle)> {
    let view_and_word = text.rsplit_once('=').filter(|(view, _)| !view.is_empty());
    let Some((view, word)) = view_and_word.filter(|_| !is_view(text)) else {
        return Ok((text, Settle::Factors));
    };
    let settle = Settle::of_word(word).ok_or_else(|| {
        Failure::Usage(format!(
            "--settle: '{word}' is no way to settle view '{view}'; the ways are {}",
            Settle::WORDS.join(", ")
        ))
    })?;
    Ok((view, settle))
}

/// Parses `VIEW=FILE`.
pub fn named_file(option: &str, text: &str) -> Outcome<(String, PathBuf)> {
    text.split_once('=')
        .filter(|(n, p)| !n.is_empty() && !p.is_empty())
        .map(|(n, p)| (n.to_owned(), p.into()))
        .ok_or_else(|| {
            Failure::Usage(format!(
                "{option}: '{text}' is not VIEW=FILE, such as genes=table.csv"
            ))
        })
}

/// Parses `VIEW=FILE` or `VIEW=log-total`; without a file it is the latter.
pub fn offset_option(text: &str) -> Outcome<(String, Option<PathBuf>)> {
    let (view, path) = named_file("--offset", text)?;
    let total = path.as_os_str() == "log-total";
    Ok((view, (!total).then_some(path)))
}
