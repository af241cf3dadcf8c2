//! Predictions against what was held out.

use super::common::titled;
use super::held_out_labels::{binary, classes};
use crate::ReportError;
use crate::input::{HeldOut, HeldOutCells, Intervals, Options};
use crate::stats;
use crate::svg::axis::{Axis, Plane, PlaneSpec, nothing, plane};
use crate::svg::canvas::{Canvas, Path};
use crate::svg::legend::{Bar, colour_bar};
use crate::svg::marker::{Marker, points};
use crate::svg::number::{counted, drawable, fixed, percent, significant};
use crate::svg::palette::{STEPS, step_of};
use crate::svg::picture::{PANEL, Picture};
use crate::svg::scale::{Extent, TickKind};
use std::fmt::Write as _;

/// Cells up to which each shows its interval.
const INTERVALS_UP_TO: usize = 120;
/// Squares along each axis of a density.
const SQUARES: usize = 48;

/// Draws held-out predictions of one view. Numbers: predicted against true values around the line of
/// perfect prediction, as points or, beyond `max_points`, as a density. Binary cells: observed
/// frequency against predicted probability. Classes: a table of true against predicted class.
///
/// # Errors
/// When lengths differ, or a cell is of a label or class without a name.
pub fn draw_held_out(held_out: &HeldOut, options: &Options) -> Result<Picture, ReportError> {
    held_out.validate()?;
    Ok(match &held_out.cells {
        HeldOutCells::Numeric {
            truth,
            predicted,
            intervals,
            unit,
        } => numeric(
            held_out,
            (truth, predicted),
            intervals.as_ref(),
            unit,
            options,
        ),
        HeldOutCells::Binary {
            truth, probability, ..
        } => binary(&held_out.view, truth, probability),
        HeldOutCells::Classes {
            names,
            truth,
            predicted,
            ..
        } => classes(&held_out.view, names, truth, predicted),
    })
}

fn numeric(
    held_out: &HeldOut,
    (truth, predicted): (&[f64], &[f64]),
    intervals: Option<&Intervals>,
    unit: &str,
    options: &Options,
) -> Picture {
    const HEIGHT: f64 = 344.0;
    let view = &held_out.view;
    let cells: Vec<usize> = (0..truth.len())
        .filter(|&i| drawable(truth[i]) && drawable(predicted[i]))
        .collect();
    let both = cells.iter().flat_map(|&i| [truth[i], predicted[i]]);
    let extent = Extent::of(both).unwrap_or_else(Extent::unit).padded(0.04);
    let (x_title, y_title) = (titled("true value", unit), titled("predicted mean", unit));
    let mut figures = Vec::new();
    if let Some(r2) = held_out.r2 {
        figures.push(format!("R² = {}", fixed(r2, 3)));
    }
    if let Some(accuracy) = stats::accuracy(truth, predicted) {
        figures.push(titled(
            &format!("RMSE = {}", significant(accuracy.rmse, 3)),
            unit,
        ));
    }
    let mut notes = vec![figures.join(", ")];
    let inside =
        intervals.and_then(|i| Some((i.level, stats::coverage(truth, &i.lower, &i.upper)?)));
    let mut line = counted(cells.len(), "cell");
    if let Some((nominal, share)) = inside {
        let _ = write!(
            line,
            ", {} of them in the {} interval",
            percent(share),
            level(nominal)
        );
    }
    notes.push(line);
    let mut canvas = Canvas::new();
    let spec = PlaneSpec {
        width: PANEL,
        height: HEIGHT,
        title: view,
        notes: &notes,
        x: Axis {
            title: &x_title,
            extent,
            kind: TickKind::Any,
        },
        y: Axis {
            title: &y_title,
            extent,
            kind: TickKind::Any,
        },
    };
    let axes = plane(&mut canvas, &spec);
    let mut height = HEIGHT;
    if cells.is_empty() {
        nothing(&mut canvas, &axes.frame, "no cell was held out");
    } else if cells.len() > options.max_points {
        height += density(
            &mut canvas,
            &axes,
            extent,
            truth,
            predicted,
            &cells,
            HEIGHT + 4.0,
        ) + 4.0;
    } else {
        if let Some(intervals) = intervals.filter(|_| cells.len() <= INTERVALS_UP_TO) {
            bars(&mut canvas, &axes, truth, intervals, &cells);
        }
        let small = if cells.len() > 400 { "h " } else { "" };
        let at = cells
            .iter()
            .map(|&i| (axes.x.at(truth[i]), axes.y.at(predicted[i])));
        points(&mut canvas, Marker::Dot, &format!("{small}c0"), at);
    }
    let frame = axes.frame;
    canvas.line("z", frame.left, frame.bottom, frame.right, frame.top);

    let mut description = format!(
        "Predicted against true values of {} held out of {view}. {}.",
        counted(truth.len(), "cell"),
        notes.join("; ")
    );
    if cells.len() < truth.len() {
        let _ = write!(
            description,
            " {} without a finite value are not drawn.",
            counted(truth.len() - cells.len(), "cell")
        );
    }
    Picture::new(
        format!("Held-out cells of {view}"),
        description,
        PANEL,
        height,
        canvas.into_body(),
    )
}

/// A level as people say it: 0.95 is `95%`.
pub(super) fn level(level: f64) -> String {
    format!("{}%", significant(level * 100.0, 3).trim_end_matches(".0"))
}

fn bars(canvas: &mut Canvas, axes: &Plane, truth: &[f64], intervals: &Intervals, cells: &[usize]) {
    let mut path = Path::new();
    for &i in cells {
        let x = axes.x.at(truth[i]);
        let inside = |v: f64| axes.y.at(v).clamp(axes.frame.top, axes.frame.bottom);
        path.move_to(x, inside(intervals.lower[i]));
        path.line_to(x, inside(intervals.upper[i]));
    }
    canvas.path("e c0", &path);
}

/// Squares coloured by the logarithm of the number of cells in them; returns the height of the key.
fn density(
    canvas: &mut Canvas,
    axes: &Plane,
    extent: Extent,
    truth: &[f64],
    predicted: &[f64],
    cells: &[usize],
    below: f64,
) -> f64 {
    let bin =
        |v: f64| (((v - extent.lo) / extent.length() * SQUARES as f64) as usize).min(SQUARES - 1);
    let mut tally = vec![0usize; SQUARES * SQUARES];
    for &i in cells {
        tally[bin(predicted[i]) * SQUARES + bin(truth[i])] += 1;
    }
    let highest = tally.iter().copied().max().unwrap_or(1).max(2) as f64;
    let (w, h) = (
        (axes.frame.right - axes.frame.left) / SQUARES as f64,
        (axes.frame.bottom - axes.frame.top) / SQUARES as f64,
    );
    let mut squares: Vec<Path> = vec![Path::new(); STEPS];

    for (b, &n) in tally.iter().enumerate().filter(|(_, n)| **n > 0) {
        let step = step_of((n as f64).ln() / highest.ln());
        let (x, y) = ((b % SQUARES) as f64, (b / SQUARES) as f64);
        // a little larger than the squares: no seams
        let corner = (axes.frame.left + w * x, axes.frame.bottom - h * (y + 1.0));
        squares[step].block(corner.0, corner.1, w + 0.35, h + 0.35);
    }
    for (step, path) in squares.iter().enumerate() {
        canvas.path(&format!("f q{step}"), path);
    }
    let scale = Extent {
        lo: 0.0,
        hi: highest.log10(),
    };
    colour_bar(
        canvas,
        axes.frame.left,
        below,
        160.0,
        scale,
        "log₁₀ of the cells in a square",
        &Bar::Steps,
    )
}
