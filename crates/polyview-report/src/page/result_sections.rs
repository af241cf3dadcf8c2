//! Sections on what the model found.

use super::html::{Break, Page};
use super::table::{Cell, Kind, Table};
use crate::ReportError;
use crate::figures;
use crate::input::{Factors, HeldOutCells, Report, VarianceExplained};
use crate::plots::{Association, Reach, associations, included, reach_of};
use crate::stats;
use crate::svg::number::{NOT_AVAILABLE, count, counted, fixed, percent, significant};
use polyview::MetadataValues;

pub(super) fn variance(page: &mut Page, report: &Report) -> Result<(), ReportError> {
    let Some(variance) = &report.variance else {
        return Ok(());
    };
    page.open("variance", "Variance explained", Break::NewPage);
    page.paragraph(&reach_sentence(variance, report.options.active_share));
    for figure in figures::variance(report)? {
        page.figure(&figure);
    }
    page.close();
    Ok(())
}

pub(super) fn groups(page: &mut Page, report: &Report) -> Result<(), ReportError> {
    let Some(groups) = &report.groups else {
        return Ok(());
    };
    page.open("groups", "Groups of samples", Break::NewPage);
    page.paragraph(&format!(
        "The samples are in {}: {}.",
        counted(groups.groups.len(), "group"),
        groups.groups.join(", ")
    ));
    for figure in figures::groups(report)? {
        page.figure(&figure);
    }
    page.close();
    Ok(())
}

fn reach_sentence(variance: &VarianceExplained, active_share: f64) -> String {
    let mut tally = [0usize; 4];
    for k in 0..variance.factors.len() {
        let slot = match reach_of(variance, k, active_share) {
            Reach::All => 0,
            Reach::Shared(_) => 1,
            Reach::Private(_) => 2,
            Reach::None => 3,
        };
        tally[slot] += 1;
    }
    format!(
        "Of {}, {} active in all views, {} in several, {} in one only and {} in none.",
        counted(variance.factors.len(), "factor"),
        if tally[0] == 1 {
            "1 is".to_owned()
        } else {
            format!("{} are", tally[0])
        },
        tally[1],
        tally[2],
        tally[3]
    )
}

pub(super) fn factors(page: &mut Page, report: &Report) -> Result<(), ReportError> {
    let Some(factors) = &report.factors else {
        return Ok(());
    };
    if factors.names.is_empty() {
        return Ok(());
    }
    page.open("factors", "Factors", Break::Flow);
    page.paragraph(&format!(
        "Each sample has one value per factor: {} for {}.",
        counted(factors.names.len(), "factor"),
        counted(factors.samples.len(), "sample")
    ));
    if !report.metadata.is_empty() {
        page.table(&association_table(report, factors));
        page.note(
            "Categories: η², the share of the factor's variance that lies between the categories. Numbers: the \
             correlation r. \"By chance\" is what η² or r² would be on average if there were no relation. Bold: a \
             share of at least 0.1 and five times chance.",
        );
        page.note(&match &report.metadata_in_the_fit[..] {
            [] => "Metadata do not enter the fit.".to_owned(),
            seen => format!(
                "The model has seen {} (as groups, covariates or offsets); other metadata do not enter the fit.",
                seen.join(", ")
            ),
        });
        let shown = report.options.metadata_pictures;
        if report.metadata.len() > shown {
            page.note(&format!(
                "Pictures follow for the first {} columns that have values.",
                count(shown)
            ));
        }
    }
    for figure in figures::factors(report)? {
        page.figure(&figure);
    }
    page.close();
    Ok(())
}

fn association_table(report: &Report, factors: &Factors) -> Table {
    let mut table = Table::new("How closely the factors go with what is known about the samples")
        .column("Column", Kind::Text)
        .column("Measure", Kind::Text)
        .column("Samples", Kind::Number)
        .column("By chance", Kind::Number)
        .columns(&factors.names, Kind::Number);
    let values: Vec<Vec<f64>> = (0..factors.names.len())
        .map(|k| factors.means.column(k))
        .collect();
    for column in &report.metadata {
        let found: Vec<Option<Association>> =
            values.iter().map(|v| associations(v, column)).collect();
        let any = found.iter().flatten().next();
        let measure = match &column.values {
            MetadataValues::Categories(_) => "η²",
            MetadataValues::Numbers(_) => "r",
        };
        let mut row: Vec<Cell> = vec![
            column.name.as_str().into(),
            measure.into(),
            any.map_or_else(|| NOT_AVAILABLE.to_owned(), |a| count(a.samples()))
                .into(),
            any.map_or_else(|| NOT_AVAILABLE.to_owned(), |a| fixed(a.by_chance(), 3))
                .into(),
        ];
        row.extend(found.iter().map(|a| match a {
            None => Cell::Plain(NOT_AVAILABLE.to_owned()),
            Some(a) => {
                let text = match a {
                    Association::Correlation { r, .. } => fixed(*r, 2),
                    Association::Ratio(ratio) => fixed(ratio.eta2, 2),
                };
                let strong = a.strength() >= 0.1 && a.strength() >= 5.0 * a.by_chance();
                if strong {
                    Cell::Strong(text)
                } else {
                    Cell::Plain(text)
                }
            }
        }));
        table.row(row);
    }
    table
}

pub(super) fn weights(page: &mut Page, report: &Report) -> Result<(), ReportError> {
    let figures = figures::weights(report)?;
    if figures.is_empty() {
        return Ok(());
    }
    page.open("weights", "Weights", Break::NewPage);
    let factors = report.factor_names().len();
    if factors > figures.len() {
        page.paragraph(&format!(
            "The leading {} of {} are shown.",
            count(figures.len()),
            counted(factors, "factor")
        ));
    }
    for figure in &figures {
        page.figure(figure);
    }
    page.close();
    Ok(())
}

pub(super) fn inclusion(page: &mut Page, report: &Report) -> Result<(), ReportError> {
    let figures = figures::inclusion(report)?;
    if figures.is_empty() {
        return Ok(());
    }
    page.open("inclusion", "Inclusion of the weights", Break::Flow);
    let names = report.factor_names();
    let mut table = Table::new("Weights that are not zero with a probability above one half")
        .column("View", Kind::Text)
        .column("Features", Kind::Number)
        .columns(&names, Kind::Number);
    for view in &report.inclusion {
        let mut row: Vec<Cell> = vec![view.view.as_str().into(), count(view.features.len()).into()];
        row.extend((0..names.len()).map(|k| Cell::from(count(included(view, k)))));
        table.row(row);
    }
    page.table(&table);
    for figure in &figures {
        page.figure(figure);
    }
    page.close();
    Ok(())
}

pub(super) fn relevance(page: &mut Page, report: &Report) -> Result<(), ReportError> {
    let figures = figures::relevance(report)?;
    if figures.is_empty() {
        return Ok(());
    }
    page.open("relevance", "Relevance of the features", Break::Flow);
    for figure in &figures {
        page.figure(figure);
    }
    page.close();
    Ok(())
}

pub(super) fn correlations(page: &mut Page, report: &Report) -> Result<(), ReportError> {
    let figures = figures::correlations(report)?;
    if figures.is_empty() {
        return Ok(());
    }
    page.open("correlations", "Correlations between factors", Break::Flow);
    for figure in &figures {
        page.figure(figure);
    }
    page.close();
    Ok(())
}

pub(super) fn held_out(page: &mut Page, report: &Report) -> Result<(), ReportError> {
    if report.held_out.is_empty() {
        return Ok(());
    }
    page.open("held-out", "Held-out predictions", Break::Flow);
    for figure in figures::held_out(report)? {
        page.figure(&figure);
    }
    let mut table = Table::new("Accuracy on held-out numbers")
        .column("View", Kind::Text)
        .column("Cells", Kind::Number)
        .column("R²", Kind::Number)
        .column("RMSE", Kind::Number);
    let deviances = (report.held_out.iter()).any(|h| h.deviance_explained.is_some());
    if deviances {
        table = table.column("Deviance explained", Kind::Number);
    }
    let mut table = table
        .column("Nominal interval", Kind::Number)
        .column("Cells inside", Kind::Number);
    let mut numeric = false;
    for held_out in &report.held_out {
        if let HeldOutCells::Numeric {
            truth,
            predicted,
            intervals,
            unit,
        } = &held_out.cells
        {
            numeric = true;
            let accuracy = stats::accuracy(truth, predicted);
            let none = || NOT_AVAILABLE.to_owned();
            let covered = intervals
                .as_ref()
                .and_then(|i| stats::coverage(truth, &i.lower, &i.upper));
            let mut row = vec![
                held_out.view.as_str().into(),
                accuracy.map_or_else(none, |a| count(a.cells)).into(),
                held_out.r2.map_or_else(none, |r| fixed(r, 3)).into(),
                accuracy
                    .map_or_else(none, |a| {
                        format!("{} {unit}", significant(a.rmse, 3))
                            .trim_end()
                            .to_owned()
                    })
                    .into(),
            ];
            if deviances {
                row.push(
                    held_out
                        .deviance_explained
                        .map_or_else(none, percent)
                        .into(),
                );
            }
            row.extend([
                intervals
                    .as_ref()
                    .map_or_else(none, |i| percent(i.level))
                    .into(),
                covered.map_or_else(none, percent).into(),
            ]);
            table.row(row);
        }
    }
    if numeric {
        page.table(&table);
    }
    page.close();
    Ok(())
}

pub(super) fn choose_k(page: &mut Page, report: &Report) {
    if report.choose_k.is_none() {
        return;
    }
    page.open("choose-k", "Number of factors", Break::Flow);
    for figure in figures::choose_k(report) {
        page.figure(&figure);
    }
    page.close();
}
