//! The model against its own replicates, and against another fit.

use super::{Figure, figure, named};
use crate::ReportError;
use crate::input::Report;
use crate::plots::{Moment, draw_check, draw_compared};

pub(crate) fn checks(report: &Report) -> Result<Vec<Figure>, ReportError> {
    let mut panels = Vec::new();
    for (m, check) in report.checks.iter().enumerate() {
        for (s, statistic) in check.statistics.iter().enumerate() {
            let stem = format!("check{}-{}", m + 1, s + 1);
            panels.push(named(stem, draw_check(check, statistic, &report.options)?));
        }
    }
    if panels.is_empty() {
        return Ok(Vec::new());
    }
    let caption = "Statistics of the features, of data that the model makes for the same samples against those \
        of the data. On the dashed line the two are equal; a bar goes from the 5% to the 95% quantile of the \
        replicates. Features whose bars miss the line are not like what the model makes.";
    let parts = report.checks.iter().filter_map(|check| {
        let part = check.part.as_ref()?;
        Some(format!(" Of {}: looked at {part}.", check.view))
    });
    let caption = caption.to_owned() + &parts.collect::<String>();
    Ok(vec![figure(caption, panels)])
}

pub(crate) fn comparison(report: &Report) -> Result<Vec<Figure>, ReportError> {
    let Some(against) = &report.comparison else {
        return Ok(Vec::new());
    };
    let mut panels = Vec::new();
    for (m, view) in against.found.views.iter().enumerate() {
        for (stem, moment) in [("mean", Moment::Mean), ("sd", Moment::Spread)] {
            let picture = draw_compared(against, view, moment, &report.options)?;
            panels.push(named(format!("against{}-{stem}", m + 1), picture));
        }
    }
    let caption = format!(
        "The linear predictor of cells (the score, where the data are labels) in {} against {}: posterior \
         means, then standard deviations. Points below the dashed line of the second kind are cells of which \
         the first is surer.",
        against.name, against.other
    );
    Ok(vec![figure(caption, panels)])
}
