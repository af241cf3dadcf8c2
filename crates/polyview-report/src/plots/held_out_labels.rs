//! Held-out predictions of binary cells and of classes.

use super::heat::{Cell, Heat, heat};
use crate::ReportError;
use crate::input::{Grid, HeldOut, HeldOutCells};
use crate::stats;
use crate::svg::axis::{Axis, PlaneSpec, nothing, panel_title, square};
use crate::svg::canvas::{Anchor, Canvas, Path};
use crate::svg::marker::{Marker, points};
use crate::svg::number::{count, counted, fixed, percent};
use crate::svg::palette::cividis;
use crate::svg::picture::{PANEL, Picture};
use std::fmt::Write as _;

/// Bins of predicted probability.
const BINS: usize = 10;

/// Cells of classes as cells of zeros and ones, each class against the rest.
pub(super) struct Rest {
    /// Whether the cell is of the class.
    pub(super) truth: Vec<f64>,
    /// Predicted probability of the class.
    pub(super) probability: Vec<f64>,
    /// The class.
    pub(super) label: Vec<usize>,
}

impl Rest {
    pub(super) fn of(truth: &[usize], probability: &Grid) -> Self {
        let mut out = Self {
            truth: Vec::new(),
            probability: probability.values().to_vec(),
            label: Vec::new(),
        };
        for &t in truth {
            for c in 0..probability.columns() {
                out.truth.push(f64::from(u8::from(t == c)));
                out.label.push(c);
            }
        }
        out
    }
}

pub(super) fn binary(view: &str, truth: &[f64], probability: &[f64]) -> Picture {
    let known = known(truth, probability);
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
    let description = format!(
        "Observed share of ones against the predicted probability in ten bins, {} held out of {view}. {}.",
        counted(truth.len(), "cell"),
        notes.join("; ")
    );
    calibration(&Calibration {
        name: format!("Held-out cells of {view}"),
        description,
        title: view,
        notes: &notes,
        x: "predicted probability of a 1",
        y: "observed share of ones",
        cells: &known,
    })
}

/// Draws how often the classes of held-out cells are right against how probable they were said to be, each
/// class against the rest in ten bins of probability. `None` for other data and without probabilities: those
/// of binary cells are what [`draw_held_out`](crate::draw_held_out) draws.
///
/// # Errors
/// When lengths differ or a class has no name.
pub fn draw_calibration(held_out: &HeldOut) -> Result<Option<Picture>, ReportError> {
    held_out.validate()?;
    let HeldOutCells::Classes {
        names,
        truth,
        probability: Some(probability),
        ..
    } = &held_out.cells
    else {
        return Ok(None);
    };
    let rest = Rest::of(truth, probability);
    let known = known(&rest.truth, &rest.probability);
    let mut line = counted(truth.len(), "cell");
    let _ = write!(
        line,
        ", each of {} against the rest",
        counted(names.len(), "class")
    );
    let mut notes = vec![line];
    if !known.is_empty() {
        let squares: f64 = known.iter().map(|(t, p)| (t - p).powi(2)).sum();
        let brier = squares * names.len() as f64 / known.len() as f64;
        notes.insert(0, format!("Brier score = {}", fixed(brier, 3)));
    }
    let view = &held_out.view;
    let description = format!(
        "Observed share of a class against its predicted probability in ten bins, cells held out of {view}. {}.",
        notes.join("; ")
    );
    Ok(Some(calibration(&Calibration {
        name: format!("Probabilities of the classes of {view}"),
        description,
        title: &format!("{view}: probabilities"),
        notes: &notes,
        x: "predicted probability of a class",
        y: "observed share of that class",
        cells: &known,
    })))
}

/// Truth and probability where that is known.
fn known(truth: &[f64], probability: &[f64]) -> Vec<(f64, f64)> {
    truth
        .iter()
        .copied()
        .zip(probability.iter().copied())
        .filter(|(_, p)| p.is_finite())
        .collect()
}

/// What a picture of calibration shows.
struct Calibration<'a> {
    name: String,
    description: String,
    title: &'a str,
    notes: &'a [String],
    x: &'a str,
    y: &'a str,
    /// Truth, 0 or 1, and probability.
    cells: &'a [(f64, f64)],
}

fn calibration(of: &Calibration<'_>) -> Picture {
    const HEIGHT: f64 = 344.0;
    let mut canvas = Canvas::new();
    let spec = PlaneSpec {
        width: PANEL,
        height: HEIGHT,
        title: of.title,
        notes: of.notes,
        x: Axis::share(of.x),
        y: Axis::share(of.y),
    };
    let axes = square(&mut canvas, &spec);
    let frame = axes.frame;

    if of.cells.is_empty() {
        nothing(&mut canvas, &frame, "no cell was held out");
    }
    let mut bins: Vec<Vec<(f64, f64)>> = vec![Vec::new(); BINS];
    for cell in of.cells {
        bins[((cell.1 * BINS as f64) as usize).min(BINS - 1)].push(*cell);
    }
    let mut intervals = Path::new();
    let mut dots = Vec::new();
    for bin in bins.iter().filter(|b| !b.is_empty()) {
        let n = bin.len() as f64;
        let (ones, mean) = (
            bin.iter().map(|c| c.0).sum::<f64>(),
            bin.iter().map(|c| c.1).sum::<f64>() / n,
        );
        let (low, high) = wilson(ones, n);
        intervals.move_to(axes.x.at(mean), axes.y.at(low));
        intervals.line_to(axes.x.at(mean), axes.y.at(high));
        dots.push((axes.x.at(mean), axes.y.at(ones / n)));
    }
    canvas.path("l c0", &intervals);
    points(&mut canvas, Marker::Dot, "c0", dots);
    Picture::new(
        of.name.clone(),
        of.description.clone(),
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

    fn classes_of(probability: Vec<f64>) -> HeldOut {
        HeldOut {
            view: "diet".into(),
            r2: None,
            deviance_explained: None,
            cells: HeldOutCells::Classes {
                names: vec!["corn".into(), "fish".into(), "sun".into()],
                truth: vec![0, 1, 1, 2],
                predicted: vec![0, 1, 2, 2],
                probability: Some(Grid::new(4, 3, probability).expect("shape")),
            },
        }
    }

    const P: [f64; 12] = [0.8, 0.1, 0.1, 0.2, 0.7, 0.1, 0.1, 0.3, 0.6, 0.05, 0.05, 0.9];

    #[test]
    fn each_class_is_held_against_the_rest() {
        let rest = Rest::of(&[0, 1, 1, 2], &Grid::new(4, 3, P.to_vec()).expect("shape"));
        assert_eq!(rest.truth, [1., 0., 0., 0., 1., 0., 0., 1., 0., 0., 0., 1.]);
        assert_eq!(rest.label[3..7], [0, 1, 2, 0]);
        assert_eq!(rest.probability, P);
    }

    #[test]
    fn probabilities_of_classes_are_drawn() {
        let picture = draw_calibration(&classes_of(P.to_vec())).expect("draws");
        let svg = picture.expect("a picture").to_svg();
        // (0.06 + 0.14 + 0.86 + 0.015) / 4
        assert!(svg.contains("Brier score = 0.269"), "{svg}");
        assert!(
            svg.contains("4 cells, each of 3 classes against the rest"),
            "{svg}"
        );
        let mut without = classes_of(P.to_vec());
        if let HeldOutCells::Classes { probability, .. } = &mut without.cells {
            *probability = Some(Grid::from_fn(4, 2, |_, _| 0.5));
            assert!(draw_calibration(&without).is_err(), "a class lacks");
        }
    }

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
