//! Which pictures a report has, with the sentences that say how to read them.

mod checks;
mod factors;

pub(crate) use checks::{checks, comparison};
pub(crate) use factors::{correlations, factors, inclusion, relevance, weights};

use crate::ReportError;
use crate::input::{Grid, GroupFactors, HeldOutCells, Progress, Report, VarianceExplained};
use crate::plots::{
    Curve, Share, Window, draw_activity, draw_bound, draw_calibration, draw_chains, draw_choose_k,
    draw_group_activity, draw_held_out, draw_missingness, draw_overlap, draw_roc, draw_variance,
    draw_variance_by_view, rule_of,
};
use crate::svg::picture::Picture;
use std::fmt::Write as _;

/// A picture of a report with a name that can be part of a file name.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct NamedPicture {
    /// Lower-case ASCII letters, digits and hyphens, unique in the report; made of positions, never
    /// of names that users gave.
    pub stem: String,
    /// The picture.
    pub picture: Picture,
}

/// Panels that share a caption.
#[derive(Clone, Debug)]
pub(crate) struct Figure {
    /// Heading above the figure; may be empty.
    pub heading: String,
    /// What is shown and how to read it.
    pub caption: String,
    pub panels: Vec<NamedPicture>,
}

/// All pictures of a report, in their order on the page, to be saved one by one.
///
/// # Errors
/// When parts of the report do not fit together.
pub fn pictures(report: &Report) -> Result<Vec<NamedPicture>, ReportError> {
    report.validate()?;
    let all = [
        coverage(report)?,
        progress(report),
        variance(report)?,
        groups(report)?,
        factors(report)?,
        weights(report)?,
        inclusion(report)?,
        relevance(report)?,
        correlations(report)?,
        held_out(report)?,
        checks(report)?,
        comparison(report)?,
        choose_k(report),
    ];
    Ok(all.into_iter().flatten().flat_map(|f| f.panels).collect())
}

fn figure(caption: String, panels: Vec<NamedPicture>) -> Figure {
    Figure {
        heading: String::new(),
        caption,
        panels,
    }
}

fn named(stem: impl Into<String>, picture: Picture) -> NamedPicture {
    NamedPicture {
        stem: stem.into(),
        picture,
    }
}

pub(crate) fn coverage(report: &Report) -> Result<Vec<Figure>, ReportError> {
    let Some(coverage) = &report.coverage else {
        return Ok(Vec::new());
    };
    let caption = "First: how many samples have which combination of views. Every bar counts the samples \
        whose views are marked by the dark dots below it; the small numbers beside the view names count all \
        samples that have the view. Samples shared by two views are what links them. Second: the share of \
        each view's features that was observed, samples side by side; blank means that the sample lacks \
        the view."
        .to_owned();
    let panels = vec![
        named("samples-overlap", draw_overlap(coverage)?),
        named("samples-missing", draw_missingness(coverage)?),
    ];
    Ok(vec![figure(caption, panels)])
}

pub(crate) fn progress(report: &Report) -> Vec<Figure> {
    match &report.progress {
        None => Vec::new(),
        Some(Progress::Bound(trace)) => {
            let caption = "The bound on the log evidence after each sweep. It should rise and level off; \
                marks at the top say when factors were removed or rotated (a bar: again and again), after which it \
                may jump. The \
                second panel enlarges the last part as the distance from the last value: a curve that is \
                still climbing there says that the fit was stopped early."
                .to_owned();
            let panels = vec![
                named("bound-whole", draw_bound(trace, Window::Whole)),
                named("bound-tail", draw_bound(trace, Window::Tail)),
            ];
            vec![figure(caption, panels)]
        }
        Some(Progress::Chains(traces)) => {
            let caption =
                "One line per chain of the sampler. Chains that have forgotten where they began \
                lie on top of each other and show no trend after the shaded warm-up."
                    .to_owned();
            let mut panels = vec![named("chains-whole", draw_chains(traces, Window::Whole))];
            if traces.warm_up > 0 {
                panels.push(named("chains-tail", draw_chains(traces, Window::Tail)));
            }
            vec![figure(caption, panels)]
        }
    }
}

pub(crate) fn variance(report: &Report) -> Result<Vec<Figure>, ReportError> {
    let Some(variance) = &report.variance else {
        return Ok(Vec::new());
    };
    let mut panels = vec![
        named("variance-alone", draw_variance(variance, Share::Marginal)?),
        named("variance-by-view", draw_variance_by_view(variance)?),
    ];
    let mut caption = "How much of each view's variance the factors explain. In the coloured tables a row is \
        a factor and a column a view; a dark blue cell says that the factor matters there. A factor that is \
        blue in several columns is variation that those views share. Orange cells are below zero: with this \
        factor alone the view is predicted worse than by its mean, though together with others it may be what the \
        prediction rests on. The bars compare all factors together \
        with the sum of each alone; where they differ, factors overlap."
        .to_owned();
    if variance.unique.is_some() {
        panels.push(named(
            "variance-unique",
            draw_variance(variance, Share::Unique)?,
        ));
        caption.push_str(
            " The last table gives what would be lost if only that factor were left out: small numbers \
             beside large ones in the first table mark factors that others can replace.",
        );
    }
    let rule = rule_of(variance, report.options.active_share);
    let reach = format!(
        "Which factors act in which views. A factor counts as active in a view where {rule}, by the tables above. Joined dots are \
         shared between views; a single triangle is private to one view."
    );
    let activity = named(
        "factors-activity",
        draw_activity(variance, report.options.active_share)?,
    );
    Ok(vec![figure(caption, panels), figure(reach, vec![activity])])
}

/// Variance explained within groups of samples, side by side, and where factors act.
pub(crate) fn groups(report: &Report) -> Result<Vec<Figure>, ReportError> {
    let Some(groups) = &report.groups else {
        return Ok(Vec::new());
    };
    let mut figures = Vec::new();
    if let Some(together) = side_by_side(groups) {
        let panel = named(
            "groups-variance",
            draw_variance(&together, Share::Marginal)?,
        );
        let caption = "Variance explained within each group of samples, about the group's own means, so that \
            differences between groups do not count. A column is a view in a group. A factor that is blue in \
            the columns of one group alone is variation that the other groups do not have.";
        figures.push(figure(caption.to_owned(), vec![panel]));
    }
    let caption = "How large each factor is in each group: the mean square of its values there, relative \
        to the group where it is largest. Numbers can be compared along a row, not down a column; they are \
        no shares of variance.";
    let panel = named("groups-activity", draw_group_activity(groups)?);
    figures.push(figure(caption.to_owned(), vec![panel]));
    Ok(figures)
}

/// The tables of all groups as one, a column a group and view.
fn side_by_side(groups: &GroupFactors) -> Option<VarianceExplained> {
    let first = groups.variance.first()?;
    let (views, factors) = (first.views.len(), first.factors.len());
    let at = |i: usize| {
        (
            &groups.variance[i % groups.groups.len()],
            i / groups.groups.len(),
        )
    };
    let count = views * groups.groups.len();
    let name = |i: usize| {
        format!(
            "{}, {}",
            first.views[at(i).1],
            groups.groups[i % groups.groups.len()]
        )
    };
    Some(VarianceExplained {
        views: (0..count).map(name).collect(),
        factors: first.factors.clone(),
        marginal: Grid::from_fn(count, factors, |i, k| at(i).0.marginal.at(at(i).1, k)),
        joint: (0..count).map(|i| at(i).0.joint[at(i).1]).collect(),
        ..VarianceExplained::default()
    })
}

pub(crate) fn held_out(report: &Report) -> Result<Vec<Figure>, ReportError> {
    if report.held_out.is_empty() {
        return Ok(Vec::new());
    }
    let mut panels = Vec::new();
    for (m, h) in report.held_out.iter().enumerate() {
        let stem = format!("held-out{}", m + 1);
        panels.push(named(stem.clone(), draw_held_out(h, &report.options)?));
        if let Some(roc) = draw_roc(h)? {
            panels.push(named(format!("{stem}-roc"), roc));
        }
        if let Some(calibration) = draw_calibration(h)? {
            panels.push(named(format!("{stem}-calibration"), calibration));
        }
    }
    let is = |wanted: fn(&HeldOutCells) -> bool| report.held_out.iter().any(|h| wanted(&h.cells));
    let mut caption =
        "Cells that were kept from the model, against what it predicted for them.".to_owned();
    if is(|c| matches!(c, HeldOutCells::Numeric { .. })) {
        caption.push_str(
            " Numbers: a perfect prediction lies on the dashed line; R² is one minus the squared error over \
             that of each feature's mean in the training data (below zero is worse than those means), RMSE is \
             in the unit of the data. An honest 95% interval holds about 95% of the cells.",
        );
    }
    if is(|c| matches!(c, HeldOutCells::Binary { .. })) {
        caption.push_str(
            " Binary cells: dots on the dashed line mean that predicted probabilities can be taken at their \
             word; bars are 95% intervals of the observed share. ROC: the further a line is above the dashed one, \
             the better the label is told; its area is beside its name.",
        );
    }
    if is(|c| matches!(c, HeldOutCells::Classes { .. })) {
        caption.push_str(
            " Classes: rows are true, columns predicted; right answers lie on the diagonal.",
        );
        if is(|c| {
            matches!(
                c,
                HeldOutCells::Classes {
                    probability: Some(_),
                    ..
                }
            )
        }) {
            caption.push_str(
                " Their ROC and probabilities are of each class against the rest; dots on the dashed line \
                 mean that the probabilities can be taken at their word.",
            );
        }
    }
    Ok(vec![figure(caption, panels)])
}

pub(crate) fn choose_k(report: &Report) -> Vec<Figure> {
    let Some(found) = &report.choose_k else {
        return Vec::new();
    };
    let mut panels = vec![named("choose-score", draw_choose_k(found, Curve::Score))];
    let mut caption =
        "Fits with different numbers of factors. Bars are ± one standard error. Where the curve \
        is flat, fewer factors do as well."
            .to_owned();
    if Curve::Bound.is_known(found) {
        panels.push(named("choose-bound", draw_choose_k(found, Curve::Bound)));
    }
    if Curve::Stability.is_known(found) {
        let picture = draw_choose_k(found, Curve::Stability);
        panels.push(named("choose-stability", picture));
        caption.push_str(" A stability near one says that repeated fits find the same factors.");
    }
    let _ = write!(
        caption,
        " The dashed line and the diamond mark the recommended number, {} ({}).",
        found.recommended, found.reason
    );
    vec![figure(caption, panels)]
}
