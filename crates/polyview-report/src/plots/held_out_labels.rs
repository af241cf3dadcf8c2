//! Held-out predictions of binary cells and of classes.

use super::heat::{Cell, Heat, heat};
use crate::stats;
use crate::svg::axis::{Axis, PlaneSpec, nothing, panel_title, plane};
use crate::svg::canvas::{Anchor, Canvas, Path};
use crate::svg::marker::{Marker, points};
use crate::svg::number::{count, counted, fixed, percent};
use crate::svg::palette::cividis;
use crate::svg::picture::{PANEL, Picture};
use crate::svg::scale::{Extent, TickKind};
use std::fmt::Write as _;

/// Bins of predicted probability.
const BINS: usize = 10;

pub(super) fn binary(view: &str, truth: &[f64], probability: &[f64]) -> Picture {
    const HEIGHT: f64 = 344.0;
    let extent = Extent { lo: 0.0, hi: 1.0 };
    let known: Vec<(f64, f64)> = truth
        .iter()
        .copied()
        .zip(probability.iter().copied())
        .filter(|(_, p)| p.is_finite())
        .collect();
    let mut figures = Vec::new();
    let cells = known.len() as f64;
    if let Some(area) = stats::auc(truth, probability) {
        figures.push(format!("area under ROC = {}", fixed(area, 3)));
    }
    let mut line = counted(known.len(), "cell");
    if !known.is_empty() {
        let brier = known.iter().map(|(t, p)| (t - p).powi(2)).sum::<f64>() / cells;
        let right = known
            .iter()
            .filter(|(t, p)| (*p >= 0.5) == (*t > 0.5))
            .count() as f64
            / cells;
        figures.push(format!("Brier score = {}", fixed(brier, 3)));
        let _ = write!(line, ", {} right when cut at 1/2", percent(right));
    }
    let notes = [figures.join(", "), line];
    let mut canvas = Canvas::new();
    let spec = PlaneSpec {
        width: PANEL,
        height: HEIGHT,
        title: view,
        notes: &notes,
        x: Axis {
            title: "predicted probability of a 1",
            extent,
            kind: TickKind::Any,
        },
        y: Axis {
            title: "observed share of ones",
            extent,
            kind: TickKind::Any,
        },
    };
    let axes = plane(&mut canvas, &spec);
    let frame = axes.frame;
    canvas.line("z", frame.left, frame.bottom, frame.right, frame.top);

    if known.is_empty() {
        nothing(&mut canvas, &frame, "no cell was held out");
    }
    let mut intervals = Path::new();
    let mut dots = Vec::new();
    for b in 0..BINS {
        let of: Vec<(f64, f64)> = known
            .iter()
            .copied()
            .filter(|(_, p)| ((p * BINS as f64) as usize).min(BINS - 1) == b)
            .collect();
        if of.is_empty() {
            continue;
        }
        let n = of.len() as f64;
        let (ones, mean) = (
            of.iter().map(|c| c.0).sum::<f64>(),
            of.iter().map(|c| c.1).sum::<f64>() / n,
        );
        let (low, high) = wilson(ones, n);
        intervals.move_to(axes.x.at(mean), axes.y.at(low));
        intervals.line_to(axes.x.at(mean), axes.y.at(high));
        dots.push((axes.x.at(mean), axes.y.at(ones / n)));
    }
    canvas.path("l c0", &intervals);
    points(&mut canvas, Marker::Dot, "c0", dots);

    let description = format!(
        "Observed share of ones against the predicted probability in ten bins, {} held out of {view}. {}.",
        counted(truth.len(), "cell"),
        notes.join("; ")
    );
    Picture::new(
        format!("Held-out cells of {view}"),
        description,
        PANEL,
        HEIGHT,
        canvas.into_body(),
    )
}

/// Wilson's 95 % interval of a share.
fn wilson(ones: f64, n: f64) -> (f64, f64) {
    const Z: f64 = 1.959_963_984_540_054;
    let (share, z2) = (ones / n, Z * Z);
    let middle = (share + z2 / (2.0 * n)) / (1.0 + z2 / n);
    let half = Z * (share * (1.0 - share) / n + z2 / (4.0 * n * n)).sqrt() / (1.0 + z2 / n);
    ((middle - half).max(0.0), (middle + half).min(1.0))
}

pub(super) fn classes(
    view: &str,
    names: &[String],
    truth: &[usize],
    predicted: &[usize],
) -> Picture {
    let k = names.len();
    let mut tally = vec![0usize; k * k];
    for (&t, &p) in truth.iter().zip(predicted) {
        tally[t * k + p] += 1;
    }
    let totals: Vec<usize> = (0..k)
        .map(|t| tally[t * k..(t + 1) * k].iter().sum())
        .collect();
    let right: usize = (0..k).map(|c| tally[c * k + c]).sum();
    let cell = |t: usize, p: usize| {
        let n = tally[t * k + p];
        let share = if totals[t] > 0 {
            n as f64 / totals[t] as f64
        } else {
            0.0
        };
        Some(Cell {
            colour: (n > 0).then(|| cividis(1.0 - share)),
            text: count(n),
            tip: format!(
                "true {}, predicted {}: {} ({})",
                names[t],
                names[p],
                count(n),
                percent(share)
            ),
        })
    };
    let mut canvas = Canvas::new();
    let top = panel_title(&mut canvas, view, PANEL) - 8.0;
    let table = Heat {
        rows: names,
        columns: names,
        row_title: "true class",
        column_title: "cells by predicted class",
        cell: &cell,
        narrowest: 30.0,
        height: 26.0,
        gap_before: None,
    };
    let drawn = heat(&mut canvas, top, &table);
    let share = if truth.is_empty() {
        f64::NAN
    } else {
        right as f64 / truth.len() as f64
    };
    let line = format!("{} of {} cells right", percent(share), count(truth.len()));
    canvas.text("m t", drawn.left, drawn.bottom + 18.0, Anchor::Start, &line);
    let description =
        format!("Table of true against predicted class of cells held out of {view}. {line}.");
    Picture::new(
        format!("Held-out cells of {view}"),
        description,
        drawn.width,
        drawn.bottom + 26.0,
        canvas.into_body(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wilson_interval_of_known_numbers() {
        let (lo, hi) = wilson(8.0, 10.0);
        assert!(
            (lo - 0.490_162_4).abs() < 1e-6 && (hi - 0.943_317_8).abs() < 1e-6,
            "{lo} {hi}"
        );
        let (lo, hi) = wilson(0.0, 5.0);
        assert!(lo.abs() < 1e-12 && hi < 0.44);
    }
}
