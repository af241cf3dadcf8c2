//! Two numbers for each thing, around the line where they are the same.

use crate::ReportError;
use crate::input::{Against, Options, checked, compared};
use crate::svg::axis::{Axis, PlaneSpec, nothing, plane};
use crate::svg::canvas::{Canvas, Path};
use crate::svg::marker::{Marker, points};
use crate::svg::number::{counted, drawable, fixed};
use crate::svg::picture::{PANEL, Picture};
use crate::svg::scale::{Extent, TickKind};
use polyview::{CheckedStatistic, ComparedView, PredictiveCheck};
use std::fmt::Write as _;

/// Points up to which each shows its bar.
const BARS_UP_TO: usize = 120;

/// Which moments of two fits are drawn against each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// Posterior means.
    Mean,
    /// Posterior standard deviations.
    Spread,
}

/// One picture.
struct Square<'a> {
    title: String,
    heading: &'a str,
    notes: Vec<String>,
    what: &'a str,
    axes: [String; 2],
    x: &'a [f64],
    y: &'a [f64],
    /// Ends of a bar through each point, along the second axis.
    bars: Option<(&'a [f64], &'a [f64])>,
}

/// Draws one statistic of a posterior predictive check: of the replicates, with a bar from their 5% to
/// their 95% quantile, against that of the data.
///
/// # Errors
/// When lengths differ.
pub fn draw_check(
    check: &PredictiveCheck,
    statistic: &CheckedStatistic,
    options: &Options,
) -> Result<Picture, ReportError> {
    checked(&check.view, statistic)?;
    // of classes one stands for all
    let (of_all, what) = match &statistic.instead_of_mean {
        Some(class) => (format!("'{class}'"), "class"),
        None => ("the mean".to_owned(), "feature"),
    };
    let notes = vec![
        format!("p of {of_all} = {}", fixed(statistic.mean_p, 3)),
        format!(
            "{} outside the replicates' 90% range",
            counted(outside(statistic), what)
        ),
    ];
    let square = Square {
        title: format!("Replicated {} of {}", statistic.name, check.view),
        heading: &check.view,
        notes,
        what,
        axes: [
            format!("{}, data", statistic.name),
            format!("{}, replicates", statistic.name),
        ],
        x: &statistic.observed,
        y: &statistic.replicated,
        bars: Some((&statistic.lower, &statistic.upper)),
    };
    Ok(draw(&square, options))
}

/// Features whose data lie outside the range of the replicates.
fn outside(s: &CheckedStatistic) -> usize {
    (0..s.observed.len())
        .filter(|&d| s.observed[d] < s.lower[d] || s.observed[d] > s.upper[d])
        .count()
}

/// Draws posterior means, or standard deviations, of the linear predictor of a view in one fit against
/// those in another.
///
/// # Errors
/// When lengths differ.
pub fn draw_compared(
    against: &Against,
    view: &ComparedView,
    moment: Moment,
    options: &Options,
) -> Result<Picture, ReportError> {
    let (cells, spread) = (&view.predictor, view.predictor_spread);
    compared(&view.view, cells)?;
    let (what, x, y, note) = match moment {
        Moment::Mean => (
            "mean",
            &cells.other_mean,
            &cells.mean,
            format!("correlation {}", fixed(view.correlation, 3)),
        ),
        Moment::Spread => (
            "sd",
            &cells.other_sd,
            &cells.sd,
            format!(
                "median ratio {}, from {} to {}",
                fixed(spread.median, 2),
                fixed(spread.lower, 2),
                fixed(spread.upper, 2)
            ),
        ),
    };
    let square = Square {
        title: format!("Predictor of {} in two fits: {what}", view.view),
        heading: &view.view,
        notes: vec![note, counted(cells.mean.len(), "cell")],
        what: "cell",
        axes: [
            format!("{what}, {}", against.other),
            format!("{what}, {}", against.name),
        ],
        x,
        y,
        bars: None,
    };
    Ok(draw(&square, options))
}

fn draw(square: &Square<'_>, options: &Options) -> Picture {
    const HEIGHT: f64 = 344.0;
    let (x, y) = (square.x, square.y);
    let known: Vec<usize> = (0..x.len())
        .filter(|&i| drawable(x[i]) && drawable(y[i]))
        .collect();
    let shown: Vec<usize> = if known.len() > options.max_points {
        let most = options.max_points;
        (0..most).map(|i| known[i * known.len() / most]).collect()
    } else {
        known.clone()
    };
    let bars = square.bars.filter(|_| shown.len() <= BARS_UP_TO);
    let ends = |i: usize| bars.map_or([y[i]; 2], |(l, u)| [l[i], u[i]]);
    let all = shown.iter().flat_map(|&i| {
        let [low, high] = ends(i);
        [x[i], y[i], low, high]
    });
    let extent = Extent::of(all.filter(|v| drawable(*v)));
    let extent = extent.unwrap_or_else(Extent::unit).padded(0.04);
    let axis = |title| Axis {
        title,
        extent,
        kind: TickKind::Any,
    };
    let mut canvas = Canvas::new();
    let spec = PlaneSpec {
        width: PANEL,
        height: HEIGHT,
        title: square.heading,
        notes: &square.notes,
        x: axis(&square.axes[0]),
        y: axis(&square.axes[1]),
    };
    let axes = plane(&mut canvas, &spec);
    if shown.is_empty() {
        nothing(&mut canvas, &axes.frame, "nothing to compare");
    }
    if bars.is_some() {
        let mut path = Path::new();
        for &i in &shown {
            let [low, high] = ends(i);
            if drawable(low) && drawable(high) {
                path.move_to(axes.x.at(x[i]), axes.y.at(low));
                path.line_to(axes.x.at(x[i]), axes.y.at(high));
            }
        }
        canvas.path("e c0", &path);
    }
    let small = if shown.len() > 400 { "h " } else { "" };
    let at = shown.iter().map(|&i| (axes.x.at(x[i]), axes.y.at(y[i])));
    points(&mut canvas, Marker::Dot, &format!("{small}c0"), at);
    let frame = axes.frame;
    canvas.line("z", frame.left, frame.bottom, frame.right, frame.top);
    let mut description = format!(
        "{} against {}, one point per {}. {}.",
        square.axes[1],
        square.axes[0],
        square.what,
        square.notes.join("; ")
    );
    if known.len() < x.len() {
        let missing = counted(x.len() - known.len(), square.what);
        let _ = write!(
            description,
            " {missing} without a finite value are not drawn."
        );
    }
    if shown.len() < known.len() {
        let _ = write!(
            description,
            " {} evenly spaced ones of {} are drawn.",
            shown.len(),
            known.len()
        );
    }
    Picture::new(
        square.title.clone(),
        description,
        PANEL,
        HEIGHT,
        canvas.into_body(),
    )
}
