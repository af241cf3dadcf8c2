//! How many samples have which combination of views.

use super::common::listed;
use crate::ReportError;
use crate::input::Coverage;
use crate::svg::axis::panel_title;
use crate::svg::canvas::{Anchor, Canvas, SMALL, TEXT};
use crate::svg::marker::{Marker, points};
use crate::svg::number::{count, counted};
use crate::svg::picture::{PANEL, Picture};
use crate::svg::scale::{Extent, Linear, TickKind, Ticks};
use crate::svg::text::{Labels, width};
use std::collections::BTreeMap;

/// Samples that have the same views.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Combination {
    /// Whether each view is there.
    pub has: Vec<bool>,
    /// Number of samples.
    pub samples: usize,
}

/// The combinations that occur, most frequent first, ties with more views first.
pub(crate) fn combinations(coverage: &Coverage) -> Vec<Combination> {
    let mut tally: BTreeMap<Vec<bool>, usize> = BTreeMap::new();
    for i in 0..coverage.observed.rows() {
        let has = coverage.observed.row(i).iter().map(|&v| v > 0.0).collect();
        *tally.entry(has).or_default() += 1;
    }
    let mut out: Vec<Combination> = tally
        .into_iter()
        .map(|(has, samples)| Combination { has, samples })
        .collect();
    out.sort_by(|a, b| b.samples.cmp(&a.samples).then_with(|| b.has.cmp(&a.has)));
    out
}

/// Draws how many samples have which combination of views: a bar per combination over a matrix of
/// dots (an UpSet plot; Lex et al. 2014).
///
/// # Errors
/// When names and table differ in length or a share lies outside 0 to 1.
pub fn draw_overlap(coverage: &Coverage) -> Result<Picture, ReportError> {
    const ROW: f64 = 21.0;
    const BARS: f64 = 118.0;
    coverage.validate()?;
    let all = combinations(coverage);
    let sizes: Vec<usize> = (0..coverage.views.len())
        .map(|m| all.iter().filter(|c| c.has[m]).map(|c| c.samples).sum())
        .collect();
    let mut canvas = Canvas::new();
    let title = "Samples by the views they have";
    let top = panel_title(&mut canvas, title, PANEL) + 10.0;

    let labels = Labels::fit(&coverage.views, TEXT, 96.0);
    let names = labels.widest();
    let numbers = sizes
        .iter()
        .map(|&n| width(&count(n), SMALL))
        .fold(0.0, f64::max);
    let left = names + numbers + 24.0;
    let room = ((PANEL - left - 6.0) / 19.0).floor().max(3.0) as usize;
    let shown = &all[..all.len().min(room)];
    let step = ((PANEL - left - 6.0) / shown.len().max(1) as f64).min(34.0);

    let largest = all.first().map_or(1, |c| c.samples) as f64;
    let scale = Linear::new(
        Extent {
            lo: 0.0,
            hi: largest,
        },
        top + BARS,
        top,
    );
    let ticks = Ticks::new(
        Extent {
            lo: 0.0,
            hi: largest,
        },
        3,
        TickKind::Whole,
    );
    let right = left + step * shown.len().max(1) as f64;
    for (v, label) in ticks.values.iter().zip(&ticks.labels) {
        canvas.line("g", left, scale.at(*v), right, scale.at(*v));
        canvas.text("m t", left - 6.0, scale.at(*v) + 3.8, Anchor::End, label);
    }
    let widest = ticks
        .labels
        .iter()
        .map(|l| width(l, TEXT))
        .fold(0.0, f64::max);
    let middle = top + BARS / 2.0;
    canvas.turned(
        "",
        left - widest - 16.0,
        middle,
        Anchor::Middle,
        -90.0,
        &ticks.title("samples"),
        BARS,
    );

    let matrix = top + BARS + 14.0;
    for m in 0..labels.len() {
        let y = matrix + ROW * m as f64;
        if m % 2 == 0 {
            canvas.rect("r v", 0.0, y, right + 2.0, ROW);
        }
        canvas.name("", 4.0, y + 14.6, Anchor::Start, &labels, m);
        canvas.text("m s t", left - 8.0, y + 14.4, Anchor::End, &count(sizes[m]));
    }
    let mut absent = Vec::new();
    let mut present = Vec::new();
    for (c, combination) in shown.iter().enumerate() {
        let x = left + step * (c as f64 + 0.5);
        let y = scale.at(combination.samples as f64);
        let bar = (step * 0.62).min(18.0);
        canvas.rect("i", x - bar / 2.0, y, bar, top + BARS - y);
        let label = count(combination.samples);
        if width(&label, SMALL) <= step {
            canvas.text("s t", x, y - 4.0, Anchor::Middle, &label);
        } else {
            canvas.turned("s t", x + 3.0, y - 3.0, Anchor::Start, -60.0, &label, 60.0);
        }
        let rows = |wanted: bool| {
            combination
                .has
                .iter()
                .enumerate()
                .filter(move |(_, h)| **h == wanted)
                .map(|(m, _)| m)
        };
        let at = |m: usize| (x, matrix + ROW * (m as f64 + 0.5));
        absent.extend(rows(false).map(at));
        present.extend(rows(true).map(at));
        if let (Some(first), Some(last)) = (rows(true).min(), rows(true).max()) {
            canvas.line("j", x, at(first).1, x, at(last).1);
        }
    }
    points(&mut canvas, Marker::Dot, "y0", absent);
    points(&mut canvas, Marker::Dot, "y1", present);

    let mut height = matrix + ROW * coverage.views.len() as f64 + 6.0;
    let hidden = &all[shown.len()..];
    if !hidden.is_empty() {
        let samples = hidden.iter().map(|c| c.samples).sum();
        let rest = format!(
            "and {} with {}",
            counted(hidden.len(), "rarer combination"),
            counted(samples, "sample")
        );
        canvas.text("m", left, height + 10.0, Anchor::Start, &rest);
        height += 18.0;
    }
    let description = describe(coverage, &all);
    Ok(Picture::new(
        title.to_owned(),
        description,
        PANEL.max(right + 4.0),
        height,
        canvas.into_body(),
    ))
}

fn describe(coverage: &Coverage, all: &[Combination]) -> String {
    let mut parts = Vec::new();
    for combination in all.iter().take(6) {
        let views: Vec<String> = coverage
            .views
            .iter()
            .zip(&combination.has)
            .filter(|(_, has)| **has)
            .map(|(name, _)| name.clone())
            .collect();
        let which = if views.is_empty() {
            "no view".to_owned()
        } else {
            listed(&views)
        };
        parts.push(format!(
            "{} with {which}",
            counted(combination.samples, "sample")
        ));
    }
    if all.is_empty() {
        return "There are no samples.".to_owned();
    }
    let more = if all.len() > 6 {
        " and rarer combinations"
    } else {
        ""
    };
    format!("Bars above a matrix of dots: {}{more}.", parts.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Grid;

    #[test]
    fn combinations_are_counted_and_sorted() {
        let observed =
            Grid::new(4, 2, vec![1.0, 0.5, 1.0, 0.0, 0.2, 1.0, 0.0, 0.0]).expect("shape");
        let all = combinations(&Coverage {
            views: vec!["a".into(), "b".into()],
            observed,
        });
        assert_eq!(
            all[0],
            Combination {
                has: vec![true, true],
                samples: 2
            }
        );
        assert_eq!(
            all[1],
            Combination {
                has: vec![true, false],
                samples: 1
            }
        );
        assert_eq!(
            all[2],
            Combination {
                has: vec![false, false],
                samples: 1
            }
        );
    }
}
