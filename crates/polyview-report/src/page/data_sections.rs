//! Sections on the model, the data and the run.

use super::html::{Break, Page};
use super::table::{Cell, Kind, Table};
use crate::ReportError;
use crate::figures;
use crate::input::{OptionValue, Origin, Progress, Report, Summary};
use crate::plots::combinations;
use crate::svg::number::{NOT_AVAILABLE, count, counted, fixed, percent, significant};
use polyview::{Event, Mixing};
use polyview_core::Entry;

pub(super) fn fitted(page: &mut Page, summary: &Summary) {
    page.open("fitted", "What was fitted", Break::Flow);
    let mut facts = Table::facts("The fit");
    let mut text = |name: &str, value: &str| {
        if !value.is_empty() {
            facts.fact(name, value);
        }
    };
    text("Model", &summary.model);
    text("Engine", &summary.engine);
    if summary.samples > 0 {
        facts.fact("Samples", count(summary.samples));
    }
    if !summary.views.is_empty() {
        facts.fact("Views", count(summary.views.len()));
    }
    let factors = format!(
        "{} kept of {} at the start",
        count(summary.factors_kept),
        count(summary.factors_started)
    );
    if summary.factors_started > 0 {
        facts.fact("Factors", factors);
    }
    if let Some(sweeps) = summary.sweeps {
        facts.fact("Sweeps", count(sweeps));
    }
    if !summary.outcome.is_empty() {
        facts.fact("Outcome", summary.outcome.as_str());
    }
    if let Some(bound) = summary.bound {
        facts.fact("Bound", format!("{} nats", fixed(bound, 2)));
    }
    if let Some(seconds) = summary.seconds {
        facts.fact("Time", duration(seconds));
    }
    if let Some(seed) = summary.seed {
        facts.fact("Seed", seed.to_string());
    }
    if !summary.version.is_empty() {
        facts.fact("Version", summary.version.as_str());
    }
    for (name, value) in &summary.extra {
        facts.fact(name, value.as_str());
    }
    page.side_by_side();
    if !facts.is_empty() {
        page.table(&facts);
    }

    let mut views = Table::new("The views")
        .column("View", Kind::Text)
        .column("Samples", Kind::Number)
        .column("Features", Kind::Number)
        .column("Missing", Kind::Number)
        .column("Likelihood", Kind::Text);
    for view in &summary.views {
        views.row(vec![
            view.name.as_str().into(),
            count(view.samples).into(),
            count(view.features).into(),
            percent(view.missing).into(),
            view.likelihood.as_str().into(),
        ]);
    }
    if !summary.views.is_empty() {
        page.table(&views);
    }
    page.end_side_by_side();
    if !summary.views.is_empty() {
        page.note("Missing: share of cells not observed among the samples that have the view.");
    }
    if !summary.options.is_empty() {
        page.fold("Every option of the model");
        page.table(&options(&summary.options));
        page.unfold();
    }
    page.close();
}

fn options(options: &[OptionValue]) -> Table {
    let mut table = Table::new("Options as they were used")
        .column("Option", Kind::Text)
        .column("Part", Kind::Text)
        .column("Value", Kind::Text)
        .column("Chosen by", Kind::Text);
    for option in options {
        let origin = match option.origin {
            Origin::Chosen => Cell::Plain("user".to_owned()),
            Origin::Default => Cell::Classed("def", "default".to_owned()),
            Origin::Guessed => Cell::Plain("guessed".to_owned()),
        };
        table.row(vec![
            option.name.as_str().into(),
            option.section.as_str().into(),
            option.value.as_str().into(),
            origin,
        ]);
    }
    table
}

fn duration(seconds: f64) -> String {
    if !seconds.is_finite() || seconds < 0.0 {
        return NOT_AVAILABLE.to_owned();
    }
    if seconds < 120.0 {
        return format!("{} s", significant(seconds, 3));
    }
    let whole = seconds.round();
    let (hours, minutes) = ((whole / 3600.0).floor(), (whole % 3600.0 / 60.0).floor());
    if hours > 0.0 {
        format!("{} h {minutes:.0} min", fixed(hours, 0))
    } else {
        format!("{minutes:.0} min {:.0} s", whole % 60.0)
    }
}

pub(super) fn samples(page: &mut Page, report: &Report) -> Result<(), ReportError> {
    let Some(coverage) = &report.coverage else {
        return Ok(());
    };
    page.open("samples", "Samples and views", Break::Flow);
    let all = combinations(coverage);
    let samples = coverage.observed.rows();
    let complete: usize = all
        .iter()
        .filter(|c| c.has.iter().all(|h| *h))
        .map(|c| c.samples)
        .sum();
    page.paragraph(&format!(
        "{} in {}. Samples that have every view: {}. Different combinations of views: {}.",
        counted(samples, "sample"),
        counted(coverage.views.len(), "view"),
        count(complete),
        count(all.len()),
    ));
    for figure in figures::coverage(report)? {
        page.figure(&figure);
    }
    page.close();
    Ok(())
}

pub(super) fn progress(page: &mut Page, report: &Report) {
    let Some(progress) = &report.progress else {
        return;
    };
    let title = match progress {
        Progress::Bound(_) => "The bound from sweep to sweep",
        Progress::Chains(_) => "The chains of the sampler",
    };
    page.open("progress", title, Break::Flow);
    for figure in figures::progress(report) {
        page.figure(&figure);
    }
    if let Progress::Chains(chains) = progress
        && !chains.diagnostics.is_empty()
    {
        let mut table = Table::new("Have the chains converged?")
            .column("Quantity", Kind::Text)
            .column("Number", Kind::Number)
            .column("R-hat, worst", Kind::Number)
            .column("median", Kind::Number)
            .column("ESS, bulk, least", Kind::Number)
            .column("median", Kind::Number)
            .column("ESS, tails, least", Kind::Number)
            .column("Worst one", Kind::Text);
        for d in &chains.diagnostics {
            let r_hat = fixed(d.rhat, 3);
            table.row(vec![
                d.kind.as_str().into(),
                count(d.quantities).into(),
                if d.rhat > Mixing::LARGEST_RHAT {
                    Cell::Classed("n Warning", r_hat)
                } else {
                    r_hat.into()
                },
                fixed(d.rhat_median, 3).into(),
                fixed(d.ess_bulk, 0).into(),
                fixed(d.ess_bulk_median, 0).into(),
                fixed(d.ess_tail, 0).into(),
                // of one alone its kind says it
                (if d.quantities > 1 {
                    d.worst.as_str()
                } else {
                    ""
                })
                .into(),
            ]);
        }
        page.table(&table);
        page.note(&format!(
            "R-hat compares the spread between chains with that within them: at most {} where the chains have met; \
             above that (marked) they have not. All quantities stay the same under rotations and signs of the factors; predictors and scores are \
             those of some cells, length of the weights is over a whole view. ESS is the number of independent draws that would be as precise; a few hundred is enough \
             for means, more for intervals.",
            Mixing::LARGEST_RHAT
        ));
    }
    page.close();
}

/// How much an entry of the journal matters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Severity {
    /// For the record.
    Info,
    /// Changes how results should be read.
    Notice,
    /// May make results wrong.
    Warning,
}

impl Severity {
    fn of(event: &Event) -> Self {
        match event {
            Event::BoundFell { .. } | Event::Warning { .. } => Self::Warning,
            Event::Jitter { .. } | Event::Data { .. } => Self::Notice,
            _ => Self::Info,
        }
    }
}

pub(super) fn journal(page: &mut Page, report: &Report) {
    let entries = &report.journal.entries;
    if entries.is_empty() {
        return;
    }
    page.open("journal", "Journal", Break::Flow);
    let of = |severity| {
        let those = entries
            .iter()
            .filter(|e| Severity::of(&e.event) == severity);
        those.count()
    };
    page.paragraph(&format!(
        "What happened during the fit and was not an error: {}, {} and {}. Warnings may make results \
         wrong; notices change how results should be read.",
        counted(of(Severity::Warning), "warning"),
        counted(of(Severity::Notice), "notice"),
        counted(of(Severity::Info), "remark"),
    ));
    let whole = "Journal of the fit";
    let most = report.options.table_rows;
    if entries.len() <= most {
        page.table(&journal_table(whole, entries.iter(), most));
    } else {
        let serious = |e: &&Entry| Severity::of(&e.event) > Severity::Info;
        if entries.iter().any(|e| serious(&e)) {
            let entries = entries.iter().filter(serious);
            page.table(&journal_table(
                "Warnings and notices",
                entries,
                MOST_ENTRIES,
            ));
        }
        page.fold(&format!("All {} entries", count(entries.len())));
        page.table(&journal_table(whole, entries.iter(), MOST_ENTRIES));
        page.unfold();
    }
    page.close();
}

/// Entries of the journal in one table: a fit of many thousand sweeps must not drown the page.
const MOST_ENTRIES: usize = 1000;

fn journal_table<'a>(
    caption: &str,
    entries: impl Iterator<Item = &'a Entry>,
    most: usize,
) -> Table {
    let mut table = Table::new(caption)
        .column("Sweep", Kind::Number)
        .column("Severity", Kind::Text)
        .column("Block", Kind::Text)
        .column("What happened", Kind::Text);
    let mut left_out = 0;
    for (i, entry) in entries.enumerate() {
        if i >= most {
            left_out += 1;
            continue;
        }
        let severity = match Severity::of(&entry.event) {
            Severity::Info => Cell::Classed("Info", "remark".to_owned()),
            Severity::Notice => Cell::Classed("Notice", "notice".to_owned()),
            Severity::Warning => Cell::Classed("Warning", "warning".to_owned()),
        };
        table.row(vec![
            match entry.sweep {
                0 => "start".into(),
                sweep => count(sweep).into(),
            },
            severity,
            entry.block.as_str().into(),
            entry.event.to_string().into(),
        ]);
    }
    table.leaving_out(left_out);
    table
}
