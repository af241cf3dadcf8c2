//! Receiver operating characteristics of held-out labels.

use super::held_out_labels::Rest;
use crate::ReportError;
use crate::input::{HeldOut, HeldOutCells};
use crate::stats;
use crate::svg::axis::{Axis, PlaneSpec, square};
use crate::svg::canvas::{Canvas, Path};
use crate::svg::legend::{Entry, Sample, key};
use crate::svg::number::{counted, fixed};
use crate::svg::palette::CATEGORIES;
use crate::svg::picture::{PANEL, Picture};

/// What the curves of a kind of view are called.
struct Kind {
    name: &'static str,
    /// Why a curve is not defined.
    undefined: &'static str,
    wrong: &'static str,
    right: &'static str,
}

const LABELS: Kind = Kind {
    name: "label",
    undefined: "of one kind of value",
    wrong: "zeros taken for ones",
    right: "ones taken for ones",
};
const CLASSES: Kind = Kind {
    name: "class",
    undefined: "of no cell or of all",
    wrong: "rest taken for the class",
    right: "class taken for the class",
};

/// One label that has both ones and zeros.
struct Curve<'a> {
    name: &'a str,
    ones: usize,
    area: f64,
    /// Share of the zeros and of the ones that score above each threshold.
    points: Vec<(f64, f64)>,
}

/// Draws the share of ones against the share of zeros that are taken for ones as the threshold falls, a line
/// for each label of a binary view, or for each class against the rest: the eight with the most ones. `None`
/// for other data, for classes without probabilities, and where no label has both ones and zeros.
///
/// # Errors
/// When lengths differ, or a cell is of a label or class without a name.
pub fn draw_roc(held_out: &HeldOut) -> Result<Option<Picture>, ReportError> {
    const HEIGHT: f64 = 344.0;
    held_out.validate()?;
    let whole = [held_out.view.clone()];
    let rest;
    let (names, mut curves, kind) = match &held_out.cells {
        HeldOutCells::Binary {
            truth,
            probability,
            labels,
            label,
        } => {
            let names = if labels.is_empty() {
                &whole[..]
            } else {
                labels
            };
            (names, curves(names, label, truth, probability), LABELS)
        }
        HeldOutCells::Classes {
            names,
            truth,
            probability: Some(probability),
            ..
        } => {
            rest = Rest::of(truth, probability);
            let curves = curves(names, &rest.label, &rest.truth, &rest.probability);
            (&names[..], curves, CLASSES)
        }
        _ => return Ok(None),
    };
    if curves.is_empty() {
        return Ok(None);
    }
    let defined = curves.len();
    // stable: labels of the same size stay in their order
    curves.sort_by_key(|c| std::cmp::Reverse(c.ones));
    curves.truncate(CATEGORIES);
    let mut notes = Vec::new();
    if names.len() > curves.len() {
        notes.push(format!(
            "{} of {}; {} {}",
            curves.len(),
            counted(names.len(), kind.name),
            counted(names.len() - defined, kind.name),
            kind.undefined,
        ));
    }
    let mut canvas = Canvas::new();
    let spec = PlaneSpec {
        width: PANEL,
        height: HEIGHT,
        title: &format!("{}: ROC", held_out.view),
        notes: &notes,
        x: Axis::share(kind.wrong),
        y: Axis::share(kind.right),
    };
    let axes = square(&mut canvas, &spec);
    let frame = axes.frame;
    let mut entries = Vec::new();
    for (i, curve) in curves.iter().enumerate() {
        let mut path = Path::new();
        for (x, y) in &curve.points {
            path.line_to(axes.x.at(*x), axes.y.at(*y));
        }
        let colour = format!("c{i}");
        canvas.path(&format!("l u {colour}"), &path);
        entries.push(Entry {
            sample: Sample::Stroke,
            colour,
            label: format!("{} {}", curve.name, fixed(curve.area, 3)),
        });
    }
    let below = HEIGHT + 4.0;
    let room = PANEL - frame.left - 6.0;
    let legend = key(&mut canvas, frame.left, below, room, &entries);
    let parts: Vec<String> = entries.iter().map(|e| e.label.clone()).collect();
    let description = format!(
        "{} against {} above a falling threshold, by {} of {}. Areas: {}.",
        kind.right,
        kind.wrong,
        kind.name,
        held_out.view,
        parts.join("; ")
    );
    Ok(Some(Picture::new(
        format!("Receiver operating characteristic of {}", held_out.view),
        description,
        PANEL,
        below + legend,
        canvas.into_body(),
    )))
}

/// The curves of the labels that have both ones and zeros.
fn curves<'a>(
    names: &'a [String],
    label: &[usize],
    truth: &[f64],
    probability: &[f64],
) -> Vec<Curve<'a>> {
    let of = |i: usize| label.get(i).copied().unwrap_or(0);
    let mut cells: Vec<(Vec<f64>, Vec<f64>)> = vec![(Vec::new(), Vec::new()); names.len()];
    for (i, (&t, &p)) in truth.iter().zip(probability).enumerate() {
        if p.is_finite() {
            cells[of(i)].0.push(t);
            cells[of(i)].1.push(p);
        }
    }
    let curve = |(name, (t, p)): (&'a String, &(Vec<f64>, Vec<f64>))| {
        Some(Curve {
            name,
            ones: t.iter().filter(|t| **t > 0.5).count(),
            area: stats::auc(t, p)?,
            points: corners(t, p),
        })
    };
    names.iter().zip(&cells).filter_map(curve).collect()
}

/// The corners of a curve; equal probabilities make one slanted step.
fn corners(truth: &[f64], probability: &[f64]) -> Vec<(f64, f64)> {
    let mut order: Vec<(f64, bool)> = probability
        .iter()
        .zip(truth)
        .map(|(&p, &t)| (p, t > 0.5))
        .collect();
    order.sort_by(|a, b| b.0.total_cmp(&a.0));
    let ones = order.iter().filter(|c| c.1).count() as f64;
    let zeros = order.len() as f64 - ones;
    let (mut right, mut wrong) = (0.0, 0.0);
    let mut points = vec![(0.0, 0.0)];
    for ties in order.chunk_by(|a, b| a.0 == b.0) {
        let hits = ties.iter().filter(|c| c.1).count() as f64;
        right += hits;
        wrong += ties.len() as f64 - hits;
        points.push((wrong / zeros, right / ones));
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Grid;

    fn held_out(label: Vec<usize>, labels: &[&str]) -> HeldOut {
        HeldOut {
            view: "v".into(),
            r2: None,
            deviance_explained: None,
            cells: HeldOutCells::Binary {
                truth: vec![1.0, 0.0, 1.0, 0.0, 0.0, 0.0],
                probability: vec![0.9, 0.4, 0.4, 0.1, 0.5, 0.6],
                labels: labels.iter().map(|l| (*l).to_owned()).collect(),
                label,
            },
        }
    }

    #[test]
    fn each_class_has_its_curve() {
        let mut classes = held_out(Vec::new(), &[]);
        let p = [0.8, 0.1, 0.1, 0.2, 0.7, 0.1, 0.1, 0.3, 0.6, 0.05, 0.15, 0.8];
        classes.cells = HeldOutCells::Classes {
            names: ["corn", "fish", "olive"].map(str::to_owned).to_vec(),
            truth: vec![0, 1, 1, 0],
            predicted: vec![0, 1, 2, 2],
            probability: Grid::new(4, 3, p.to_vec()).ok(),
        };
        let svg = draw_roc(&classes)
            .expect("draws")
            .expect("a picture")
            .to_svg();
        // corn: 0.8 and 0.05 against 0.2 and 0.1
        for words in [
            "corn 0.500",
            "fish 1.000",
            "2 of 3 classes; 1 class of no cell or of all",
        ] {
            assert!(svg.contains(words), "{words}: {svg}");
        }
        if let HeldOutCells::Classes { probability, .. } = &mut classes.cells {
            *probability = None;
        }
        assert!(draw_roc(&classes).expect("draws").is_none());
    }

    #[test]
    fn corners_of_known_scores() {
        let points = corners(&[1.0, 0.0, 1.0, 0.0], &[0.9, 0.4, 0.4, 0.1]);
        assert_eq!(points, [(0.0, 0.0), (0.0, 0.5), (0.5, 1.0), (1.0, 1.0)]);
        let area: f64 = points
            .windows(2)
            .map(|w| 0.5 * (w[1].0 - w[0].0) * (w[1].1 + w[0].1))
            .sum();
        assert!((area - 0.875).abs() < 1e-15);
    }

    #[test]
    fn each_label_has_its_curve_and_those_without_are_counted() {
        let two = held_out(vec![0, 0, 0, 0, 1, 1], &["ill", "old"]);
        let picture = draw_roc(&two).expect("draws").expect("a picture");
        let svg = picture.to_svg();
        assert!(svg.contains("ill 0.875") && !svg.contains("old 0"), "{svg}");
        assert!(
            svg.contains("1 of 2 labels; 1 label of one kind of value"),
            "{svg}"
        );
        let one = draw_roc(&held_out(Vec::new(), &[])).expect("draws");
        assert!(one.is_some_and(|p| p.to_svg().contains("v 0.688")));
        let apart = draw_roc(&held_out(vec![0, 1, 0, 1, 1, 1], &["ill", "old"]));
        assert!(apart.expect("draws").is_none());
    }
}
