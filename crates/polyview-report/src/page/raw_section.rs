//! The numbers behind the pictures, as folded tables.

use super::html::{Break, Page};
use super::table::{Cell, Kind, Table};
use crate::input::{
    Factors, Progress, Report, VarianceExplained, ViewInclusion, ViewRelevance, ViewWeights,
};
use crate::plots::{
    Combination, SCORE, combinations, leading_features, most_relevant, shown_features,
};
use crate::svg::number::{NOT_AVAILABLE, count, fixed, significant};
use polyview::ChooseK;

pub(super) fn raw_numbers(page: &mut Page, report: &Report) {
    let mut tables: Vec<(String, Vec<Table>)> = Vec::new();
    let most = report.options.table_rows;
    if let Some(coverage) = &report.coverage {
        tables.push((
            "Combinations of views".into(),
            vec![overlap_table(
                &coverage.views,
                &combinations(coverage),
                most,
            )],
        ));
    }
    if let Some(Progress::Bound(trace)) = &report.progress
        && !trace.terms.is_empty()
    {
        let mut table = Table::new("Terms of the last bound")
            .column("Term", Kind::Text)
            .column("Value (nats)", Kind::Number);
        for (name, value) in &trace.terms {
            table.row(vec![name.as_str().into(), fixed(*value, 3).into()]);
        }
        tables.push(("Terms of the bound".into(), vec![table]));
    }
    if let Some(variance) = &report.variance {
        tables.push(("Variance explained".into(), variance_tables(variance)));
    }
    if let Some(factors) = &report.factors {
        tables.push(("Factor values".into(), vec![factor_table(factors, most)]));
    }
    let names = report.factor_names();
    let leading = names.len().min(report.options.weight_factors);
    if !report.weights.is_empty() && leading > 0 {
        let of_view = report
            .weights
            .iter()
            .map(|w| weight_table(w, &names[..leading], report.options.top_weights));
        tables.push(("Largest weights".into(), of_view.collect()));
    }
    if !report.inclusion.is_empty() {
        let of_view = report
            .inclusion
            .iter()
            .map(|i| inclusion_table(i, report, &names));
        tables.push(("Inclusion of the weights".into(), of_view.collect()));
    }
    if !report.relevance.is_empty() {
        let of_view = report.relevance.iter().map(|r| relevance_table(r, most));
        tables.push(("Relevance of the features".into(), of_view.collect()));
    }
    if let Some(found) = &report.choose_k {
        tables.push(("Number of factors".into(), vec![choose_table(found)]));
    }
    if tables.is_empty() {
        return;
    }
    page.open("raw", "Raw numbers", Break::Flow);
    page.paragraph("The numbers behind the pictures, folded. Select and copy a table to paste it into a spreadsheet.");
    for (summary, tables) in &tables {
        page.fold(summary);
        for table in tables {
            page.table(table);
        }
        page.unfold();
    }
    page.close();
}

fn overlap_table(views: &[String], all: &[Combination], most: usize) -> Table {
    let mut table = Table::new("Samples by the views they have")
        .column("Samples", Kind::Number)
        .columns(views, Kind::Text);
    for combination in all.iter().take(most) {
        let mut row: Vec<Cell> = vec![count(combination.samples).into()];
        row.extend(
            combination
                .has
                .iter()
                .map(|&h| Cell::from(if h { "yes" } else { NOT_AVAILABLE })),
        );
        table.row(row);
    }
    table.leaving_out(all.len().saturating_sub(most));
    table
}

fn variance_tables(variance: &VarianceExplained) -> Vec<Table> {
    let grids = [
        ("each factor alone", Some(&variance.marginal)),
        ("lost without the factor", variance.unique.as_ref()),
    ];
    let mut out = Vec::new();
    for (what, grid) in grids {
        let Some(grid) = grid else { continue };
        let mut table = Table::new(format!("Share of variance, {what}"))
            .column("Factor", Kind::Text)
            .columns(&variance.views, Kind::Number);
        for (k, factor) in variance.factors.iter().enumerate() {
            let mut row: Vec<Cell> = vec![factor.as_str().into()];
            row.extend((0..variance.views.len()).map(|m| Cell::from(fixed(grid.at(m, k), 5))));
            table.row(row);
        }
        if out.is_empty() {
            let mut row: Vec<Cell> = vec![Cell::Strong("all together".to_owned())];
            row.extend(variance.joint.iter().map(|&v| Cell::Strong(fixed(v, 5))));
            table.row(row);
        }
        out.push(table);
    }
    out
}

fn factor_table(factors: &Factors, most: usize) -> Table {
    let mut table = Table::new("Posterior means of the factors")
        .column("Sample", Kind::Text)
        .columns(&factors.names, Kind::Number);
    for (i, sample) in factors.samples.iter().enumerate().take(most) {
        let mut row: Vec<Cell> = vec![sample.as_str().into()];
        row.extend(
            factors
                .means
                .row(i)
                .iter()
                .map(|&v| Cell::from(significant(v, 4))),
        );
        table.row(row);
    }
    table.leaving_out(factors.samples.len().saturating_sub(most));
    table
}

fn weight_table(weights: &ViewWeights, names: &[String], top: usize) -> Table {
    let mut table = Table::new(format!("Largest weights in {}", weights.view))
        .column("Factor", Kind::Text)
        .column("Feature", Kind::Text)
        .column("Weight", Kind::Number)
        .column("Sd", Kind::Number);
    for (k, name) in names.iter().enumerate() {
        for d in leading_features(weights, k, top) {
            let sd = weights.sds.as_ref().map_or(f64::NAN, |s| s.at(d, k));
            table.row(vec![
                name.as_str().into(),
                weights.features[d].as_str().into(),
                significant(weights.means.at(d, k), 4).into(),
                significant(sd, 3).into(),
            ]);
        }
    }
    table
}

fn inclusion_table(inclusion: &ViewInclusion, report: &Report, names: &[String]) -> Table {
    let weights = report.weights.iter().find(|w| w.view == inclusion.view);
    let shown = shown_features(inclusion, weights, report.options.table_rows);
    let mut table = Table::new(format!("Inclusion probabilities in {}", inclusion.view))
        .column("Feature", Kind::Text)
        .columns(names, Kind::Number);
    for &d in &shown {
        let mut row: Vec<Cell> = vec![inclusion.features[d].as_str().into()];
        let p = inclusion.probability.row(d);
        row.extend(p.iter().map(|p| Cell::from(fixed(*p, 3))));
        table.row(row);
    }
    table.leaving_out(inclusion.features.len().saturating_sub(shown.len()));
    table
}

fn relevance_table(relevance: &ViewRelevance, most: usize) -> Table {
    let mut table = Table::new(format!("Most relevant features of {}", relevance.view))
        .column("Feature", Kind::Text)
        .column("Relevance", Kind::Number);
    for d in most_relevant(relevance, most) {
        table.row(vec![
            relevance.features[d].as_str().into(),
            significant(relevance.relevance[d], 4).into(),
        ]);
    }
    table.leaving_out(relevance.features.len().saturating_sub(most));
    table
}

fn choose_table(found: &ChooseK) -> Table {
    let mut table = Table::new("Fits with different numbers of factors")
        .column("Factors", Kind::Number)
        .column(SCORE, Kind::Number)
        .column("Standard error", Kind::Number)
        .column("Bound (nats)", Kind::Number)
        .column("Stability", Kind::Number);
    for row in &found.rows {
        table.row(vec![
            count(row.factors).into(),
            significant(row.robust_density, 5).into(),
            significant(row.robust_density_se, 3).into(),
            fixed(row.bound, 2).into(),
            fixed(row.stability, 3).into(),
        ]);
    }
    table
}
