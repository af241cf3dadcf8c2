//! `polyview demo`: the main job on real data.

use polyview::{Fitting, HoldOut, hold_out, models};
use polyview_datasets::nutrimouse;
use polyview_report::Report;

use super::explained::variance_table;
use super::fit::overlap;
use super::{overwrite, report, say};
use crate::args::{Cli, DemoArgs};
use crate::failure::Outcome;
use crate::output::{line, percent, table};
use crate::progress::Bar;

/// Share of the cells that the demonstration hides.
const HIDDEN: f64 = 0.1;

/// Fits the mice with some cells hidden, and reports.
pub fn run(cli: &Cli, args: &DemoArgs) -> Outcome<()> {
    std::fs::create_dir_all(&args.out_dir)?;
    let full = nutrimouse();
    line("nutrimouse: 40 mice, the activity of 120 liver genes and the share of 21 fatty acids.")?;
    line("Five diets, two genotypes; the model sees neither of the two.")?;
    say(cli, overlap(&full));
    let HoldOut { data, .. } = hold_out(&full, HIDDEN, 1)?;
    let mut fitting = Fitting::new(data, models::bibfa(15))?;
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
    line("both rows is shared by genes and lipids, one with a single large number is private):")?;
    variance_table(&fit, &fit.explain()?)?;
    line("")?;
    line(format!(
        "{} % of all values were hidden from the model. How well it fills them in:",
        percent(HIDDEN)
    ))?;
    let scores = fit.held_out_score(&full)?;
    let header = ["view", "hidden values", "R2", "inside the 95 % interval, %"].map(str::to_owned);
    let rows: Vec<Vec<String>> = scores
        .iter()
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
    let model = args.out_dir.join("nutrimouse.pv");
    let page = args.out_dir.join("report.html");
    fit.save(&model, overwrite(true))?;
    let mut contents = Report::from_fit(&fit)?.with_held_out(&scores);
    contents.title = "Forty mice, two views".into();
    contents.introduction = "Liver gene activity and fatty acids of forty mice (Martin et al. 2007), fitted together by Bayesian inter-battery factor analysis. Diet and genotype were not shown to the model; they colour the pictures.".into();
    report::write(&contents, &page, true)?;
    line("")?;
    line(format!("The report: {}", page.display()))?;
    line(format!("The model:  {}", model.display()))?;
    line(format!("Next:       polyview inspect {}", model.display()))
}
