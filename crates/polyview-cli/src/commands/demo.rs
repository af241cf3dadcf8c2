//! `polyview demo`: the main job on real data.

use polyview::{Fit, Fitting, ModelSpec, hold_out, models};
use polyview_core::{Dataset, DatasetBuilder};
use polyview_datasets::{nutrimouse_labels, nutrimouse_tables};
use polyview_report::Report;

use super::explained::variance_table;
use super::fit::overlap;
use super::report;
use crate::args::{Cli, DemoArgs};
use crate::failure::Outcome;
use crate::files::{Files, make_folder};
use crate::output::{line, percent, table};
use crate::progress::Bar;
use crate::remarks::Said;
use crate::remarks::say;
use crate::written::overwrite;

/// Share of the numbers that the demonstration hides.
const HIDDEN: f64 = 0.1;
/// Share of the mice whose diet, and whose genotype, it hides.
const HIDDEN_LABELS: f64 = 0.2;

/// Genes, lipids, diet and genotype as views of the same mice.
fn mice() -> Outcome<Dataset> {
    let mut builder = nutrimouse_tables()
        .into_iter()
        .fold(Dataset::builder(), DatasetBuilder::view);
    for labels in nutrimouse_labels() {
        let mut view = labels.to_codes();
        if labels.levels.len() == 2 {
            // two classes are one label, 1 for the second
            view.features = vec![labels.levels[1].clone()];
            view.levels.clear();
        }
        builder = builder
            .metadata(labels.samples.clone(), labels.to_metadata())
            .view(view);
    }
    Ok(builder.build()?)
}

/// The model: real views, one of classes and one of zeros and ones.
fn model() -> ModelSpec {
    models::sshiba(15)
        .with_likelihood("diet", "categorical")
        .with_likelihood("genotype", "bernoulli")
}

/// The data with some cells hidden, more of the labels.
fn hidden(full: &Dataset, spec: &ModelSpec) -> Outcome<Dataset> {
    let mut data = hold_out(full, HIDDEN, 1)?.data;
    let labels = hold_out(full, HIDDEN_LABELS, 1)?.data;
    for view in labels.views() {
        if spec.view(view.name()).likelihood.is_label() {
            data = data.with_view(view.clone())?;
        }
    }
    Ok(data)
}

/// Share of the most frequent label among the training data: what a guess
/// without any model gets right.
fn chance(fit: &Fit, view: &str) -> Outcome<f64> {
    let (at, _) = fit.view(view)?;
    let data = &fit.data()?[at];
    let known: Vec<f64> = (0..data.n_samples())
        .filter_map(|n| data.value(n, 0))
        .collect();
    let like = |c: &f64| known.iter().filter(|k| *k == c).count();
    let most = known.iter().map(like).max().unwrap_or(0);
    Ok(most as f64 / known.len().max(1) as f64)
}

/// Fits the mice with some cells hidden, and reports.
pub fn run(cli: &Cli, args: &DemoArgs) -> Outcome<()> {
    let file = args.out_dir.join("nutrimouse.pv");
    let page = args.out_dir.join("report.html");
    make_folder(&args.out_dir)?;
    Files::default()
        .writing("--out-dir", [&file, &page])
        .check(overwrite(args.force))?;
    let full = mice()?;
    line("nutrimouse: 40 mice, the activity of 120 liver genes and the share of 21 fatty acids,")?;
    line("which of five diets, and whether wild type. Four views, one model (sshiba).")?;
    say(cli, overlap(&full));
    let spec = model();
    let data = hidden(&full, &spec)?;
    let mut fitting = Fitting::new(data, spec)?;
    let mut said = Said::default();
    said.journal(cli, fitting.journal());
    let bar = Bar::new(cli.quiet);
    loop {
        let p = fitting.step()?;
        bar.show(&p);
        if p.done {
            break;
        }
    }
    bar.clear();
    let fit = fitting.finish()?;
    let r = fit.record();
    said.journal(cli, &r.journal);
    line("")?;
    line(format!(
        "Fifteen factors were offered, {} are needed ({} after {} sweeps, {:.2} s).",
        fit.k(),
        r.outcome,
        r.sweeps,
        r.seconds
    ))?;
    line("")?;
    line("How much of each view the factors explain, in % (a factor with large numbers in")?;
    line("several rows is shared by those views, one with a single large number is private;")?;
    line("of diet and genotype that of the score behind them, and as deviance of themselves):")?;
    variance_table(&fit, &fit.explain()?, None)?;
    line("")?;
    line(format!(
        "{} % of the numbers were hidden from the model. How well it fills them in:",
        percent(HIDDEN)
    ))?;
    let scores = fit.held_out_score(&full)?;
    let header = ["view", "hidden values", "R2", "inside the 95 % interval, %"].map(str::to_owned);
    let rows: Vec<Vec<String>> = scores
        .iter()
        .filter(|h| !h.kind.is_label())
        .map(|h| {
            vec![
                h.view.clone(),
                h.cells.to_string(),
                format!("{:.2}", h.r2),
                percent(h.coverage),
            ]
        })
        .collect();
    table(&header, &rows)?;
    line("")?;
    line(format!(
        "Diet and genotype of {} % of the mice were hidden too. How many of them it predicts:",
        percent(HIDDEN_LABELS)
    ))?;
    let header = ["view", "hidden mice", "right, %", "by chance, %"].map(str::to_owned);
    let rows = scores
        .iter()
        .filter(|h| h.kind.is_label())
        .map(|h| {
            Ok(vec![
                h.view.clone(),
                h.cells.to_string(),
                percent(h.accuracy),
                percent(chance(&fit, &h.view)?),
            ])
        })
        .collect::<Outcome<Vec<_>>>()?;
    table(&header, &rows)?;
    fit.save(&file, overwrite(args.force))?;
    let mut contents = Report::from_fit(&fit)?.with_held_out(&fit, &scores)?;
    contents.title = "Forty mice, four views".into();
    contents.introduction = "Liver gene activity, fatty acids, diet and genotype of forty mice (Martin et al. 2007), fitted together by SSHIBA. Diet and genotype of a fifth of the mice were hidden from the model; the true ones colour the pictures.".into();
    report::write(&contents, &page, args.force)?;
    line("")?;
    line(format!("The report: {}", page.display()))?;
    line(format!("The model:  {}", file.display()))?;
    line(format!("Next:       polyview inspect {}", file.display()))
}
