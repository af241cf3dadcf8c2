//! Sections on how far the model is to be trusted.

use polyview::{CheckedStatistic, Spreads};

use super::html::{Break, Page};
use super::table::{Cell, Kind, Table};
use crate::ReportError;
use crate::figures;
use crate::input::{Against, Report};
use crate::svg::number::{count, counted, fixed, percent, significant};

pub(super) fn checks(page: &mut Page, report: &Report) -> Result<(), ReportError> {
    let Some(first) = report.checks.first() else {
        return Ok(());
    };
    page.open("checks", "Posterior predictive checks", Break::Flow);
    page.paragraph(&format!(
        "{} under draws of the posterior, of {}, compared with the data.",
        counted(first.replicates, "replicated data set"),
        counted(first.samples, "sample")
    ));
    let mut table = Table::new("Does the model make such data?")
        .column("View", Kind::Text)
        .column("Statistic", Kind::Text)
        .column("Data", Kind::Number)
        .column("Replicates", Kind::Number)
        .column("p", Kind::Number)
        .column("Features", Kind::Number)
        .column("Extreme ones", Kind::Number);
    for check in &report.checks {
        for s in &check.statistics {
            let (defined, marked) = s.columns_and_extremes();
            let p = fixed(s.mean_p, 3);
            table.row(vec![
                check.view.as_str().into(),
                s.name.as_str().into(),
                significant(s.mean_observed, 3).into(),
                significant(s.replicated_mean(), 3).into(),
                if CheckedStatistic::is_extreme(s.mean_p) {
                    Cell::Classed("n Warning", p)
                } else {
                    p.into()
                },
                count(defined).into(),
                percent(marked as f64 / defined as f64).into(),
            ]);
        }
    }
    page.table(&table);
    page.note(
        "Data and replicates: means over the features, of shares of classes that of the most frequent one. p: the share of replicates in which that is larger than \
         in the data, ties counting half; near 0 or 1 (marked) the model does not make such data. Extreme ones: the share of features \
         whose own p is below 0.025 or above 0.975; 5% would be chance.",
    );
    for figure in figures::checks(report)? {
        page.figure(&figure);
    }
    page.close();
    Ok(())
}

pub(super) fn comparison(page: &mut Page, report: &Report) -> Result<(), ReportError> {
    let Some(Against { name, other, found }) = &report.comparison else {
        return Ok(());
    };
    page.open("against", "Against another fit", Break::Flow);
    page.paragraph(&format!(
        "{name} against {other}, on {} that both have.",
        counted(found.samples, "sample")
    ));
    let mut table = Table::new("Do the two agree, and which is surer?")
        .column("View", Kind::Text)
        .column("Quantity", Kind::Text)
        .column("Number", Kind::Number)
        .column("Correlation", Kind::Number)
        .column("Ratio of sd, 5%", Kind::Number)
        .column("median", Kind::Number)
        .column("95%", Kind::Number);
    let mut narrow = Vec::new();
    for view in &found.views {
        let rows = [
            (
                "predictor of cells",
                view.predictor_spread,
                fixed(view.correlation, 3),
            ),
            (
                "squared length of weights",
                view.weight_spread,
                String::new(),
            ),
        ];
        for (what, s, correlation) in rows {
            if s.quantities == 0 {
                continue;
            }
            table.row(spread_row(&view.view, what, s, correlation));
            if s.is_small() {
                narrow.push(format!("{what} in {} ({})", view.view, fixed(s.median, 2)));
            }
        }
    }
    page.table(&table);
    page.note(&format!(
        "Ratio of sd: posterior standard deviations of {name} by those of {other}. Both quantities stay the \
         same under rotations and signs of the factors."
    ));
    if !narrow.is_empty() {
        page.paragraph(&format!(
            "Of these {name} has less than {} of the spread of {other} (median ratio): {}.",
            percent(Spreads::SMALL),
            narrow.join(", ")
        ));
    }
    for note in &found.notes {
        page.note(note);
    }
    for figure in figures::comparison(report)? {
        page.figure(&figure);
    }
    page.close();
    Ok(())
}

fn spread_row(view: &str, what: &str, s: Spreads, correlation: String) -> Vec<Cell> {
    let median = fixed(s.median, 2);
    vec![
        view.into(),
        what.into(),
        count(s.quantities).into(),
        correlation.into(),
        fixed(s.lower, 2).into(),
        if s.is_small() {
            Cell::Classed("n Warning", median)
        } else {
            median.into()
        },
        fixed(s.upper, 2).into(),
    ]
}
