//! One factor against something known about the samples.

use super::association::{Association, associations};
use super::common::{Colouring, Grouping, coloured_by, spaced};
use crate::ReportError;
use crate::input::{Factors, Options, known_of};
use crate::stats;
use crate::svg::axis::{Axis, Frame, PlaneSpec, nothing, panel_title, plane, x_axis};
use crate::svg::canvas::{Anchor, BOLD_TITLE, Canvas, TEXT};
use crate::svg::marker::{Size, sized_points};
use crate::svg::number::{count, counted, drawable, fixed, significant};
use crate::svg::picture::{PANEL, Picture};
use crate::svg::scale::{Extent, Linear, TickKind};
use crate::svg::text::{Labels, joined};
use polyview::{Metadata, MetadataValues};
use std::fmt::Write as _;

/// Draws one factor against a metadata column: a strip of points and a box (median, quartiles,
/// whiskers to the last point within 1.5 quartile ranges) per category, or a scatter against a
/// number.
///
/// # Errors
/// When names, tables and the column differ in length; [`ReportError::NoSuchFactor`].
pub fn draw_factor_against(
    factors: &Factors,
    factor: usize,
    column: &Metadata,
    options: &Options,
) -> Result<Picture, ReportError> {
    factors.validate()?;
    factors.check_factor(factor)?;
    known_of(column, factors.samples.len())?;
    let values = factors.means.column(factor);
    let name = &factors.names[factor];
    let association = associations(&values, column);
    Ok(match &column.values {
        MetadataValues::Categories(categories) => by_category(
            name,
            &values,
            column,
            &Grouping::new(categories),
            association,
            options,
        ),
        MetadataValues::Numbers(numbers) => {
            by_number(name, &values, column, numbers, association, options)
        }
    })
}

fn by_category(
    name: &str,
    values: &[f64],
    column: &Metadata,
    grouping: &Grouping,
    association: Option<Association>,
    options: &Options,
) -> Picture {
    const ROW: f64 = 34.0;
    let title = format!("{name} by {}", column.name);
    let mut canvas = Canvas::new();
    let heading = joined(name, " by ", &column.name, BOLD_TITLE, PANEL - 4.0);
    let top = panel_title(&mut canvas, &heading, PANEL);
    let labels = Labels::fit(&grouping.names, TEXT, 104.0);
    let left = labels.widest().max(30.0) + 14.0;
    let rows = labels.len().max(1) as f64;
    let frame = Frame {
        left,
        top,
        right: PANEL - 10.0,
        bottom: top + ROW * rows,
    };
    let extent = Extent::of(values.iter().copied())
        .unwrap_or_else(Extent::unit)
        .padded(0.05);
    let x = Linear::new(extent, frame.left, frame.right);
    if grouping.names.is_empty() {
        nothing(&mut canvas, &frame, "no sample has a category");
    }
    if extent.lo < 0.0 && extent.hi > 0.0 {
        canvas.line("z", x.at(0.0), frame.top, x.at(0.0), frame.bottom);
    }
    let mut medians = Vec::new();
    for (g, label) in grouping.names.iter().enumerate() {
        let middle = top + ROW * (g as f64 + 0.5);
        canvas.name("", left - 8.0, middle - 1.0, Anchor::End, &labels, g);
        canvas.text(
            "m s t",
            left - 8.0,
            middle + 10.5,
            Anchor::End,
            &format!("n = {}", count(grouping.counts[g])),
        );
        let members: Vec<usize> = (0..values.len())
            .filter(|&i| grouping.group[i] == Some(g) && drawable(values[i]))
            .collect();
        let drawn: Vec<usize> = spaced(members.len(), options.max_points / grouping.names.len())
            .map(|i| members[i])
            .collect();
        let style = grouping.style(g);
        let faint = if drawn.len() > 60 { "v" } else { "a" };
        let size = if drawn.len() > 150 {
            Size::Small
        } else {
            Size::Ordinary
        };
        let spread = drawn
            .iter()
            .enumerate()
            .map(|(j, &i)| (x.at(values[i]), middle + 12.0 * jitter(j)));
        sized_points(
            &mut canvas,
            style.marker,
            size,
            &format!("{faint} {}", style.colour),
            spread,
        );
        let sorted = stats::sorted(&members.iter().map(|&i| values[i]).collect::<Vec<f64>>());
        if let Some(median) = box_of(&mut canvas, &x, middle, &sorted) {
            medians.push(format!(
                "{label}: median {} of {}",
                significant(median, 2),
                counted(sorted.len(), "sample")
            ));
        }
    }
    let axis = Axis {
        title: name,
        extent,
        kind: TickKind::Any,
    };
    x_axis(&mut canvas, &frame, &x, &axis);
    let mut description = format!(
        "Strips and boxes of {name} by {}: {}.",
        column.name,
        medians.join("; ")
    );
    if let Some(Association::Ratio(ratio)) = association {
        let _ = write!(
            description,
            " Between the categories lies {} of the variance (η²).",
            fixed(ratio.eta2, 2)
        );
    }
    Picture::new(
        title,
        description,
        PANEL,
        frame.bottom + 38.0,
        canvas.into_body(),
    )
}

/// Box, whiskers and median; returns the median.
fn box_of(canvas: &mut Canvas, x: &Linear, middle: f64, sorted: &[f64]) -> Option<f64> {
    let (low, median, high) = (
        stats::quantile(sorted, 0.25)?,
        stats::quantile(sorted, 0.5)?,
        stats::quantile(sorted, 0.75)?,
    );
    if sorted.len() >= 4 {
        let reach = 1.5 * (high - low);
        let from = sorted
            .iter()
            .copied()
            .find(|v| *v >= low - reach)
            .unwrap_or(low);
        let to = sorted
            .iter()
            .rev()
            .copied()
            .find(|v| *v <= high + reach)
            .unwrap_or(high);
        canvas.line("j", x.at(from), middle, x.at(low), middle);
        canvas.line("j", x.at(high), middle, x.at(to), middle);
        canvas.rect("j", x.at(low), middle - 8.0, x.at(high) - x.at(low), 16.0);
    }
    canvas.line(
        "j y2",
        x.at(median),
        middle - 8.0,
        x.at(median),
        middle + 8.0,
    );
    Some(median)
}

/// Even spread in -1/2 to 1/2 without a random number: the fractional parts of multiples of the
/// golden ratio.
fn jitter(i: usize) -> f64 {
    (i as f64 * 0.618_033_988_749_894_9).fract() - 0.5
}

fn by_number(
    name: &str,
    values: &[f64],
    column: &Metadata,
    numbers: &[f64],
    association: Option<Association>,
    options: &Options,
) -> Picture {
    const HEIGHT: f64 = 262.0;
    let title = format!("{name} against {}", column.name);
    let whole: Vec<usize> = (0..values.len())
        .filter(|&i| drawable(values[i]) && drawable(numbers[i]))
        .collect();
    let shown: Vec<usize> = spaced(whole.len(), options.max_points)
        .map(|i| whole[i])
        .collect();
    let extent = |v: &[f64]| {
        Extent::of(whole.iter().map(|&i| v[i]))
            .unwrap_or_else(Extent::unit)
            .padded(0.05)
    };
    let mut canvas = Canvas::new();
    let heading = joined(name, " against ", &column.name, BOLD_TITLE, PANEL - 60.0);
    let spec = PlaneSpec {
        width: PANEL,
        height: HEIGHT,
        title: &heading,
        notes: &[],
        x: Axis {
            title: &column.name,
            extent: extent(numbers),
            kind: TickKind::Any,
        },
        y: Axis {
            title: name,
            extent: extent(values),
            kind: TickKind::Any,
        },
    };
    let axes = plane(&mut canvas, &spec);
    if shown.is_empty() {
        nothing(&mut canvas, &axes.frame, "no sample has both values");
    }
    let at = |i: usize| (axes.x.at(numbers[i]), axes.y.at(values[i]));
    super::scatter::scatter(&mut canvas, &Colouring::Plain, &shown, at, HEIGHT);
    let mut description = format!(
        "Scatter of {} against {}, {}",
        name,
        column.name,
        counted(whole.len(), "sample")
    );
    if let Some(Association::Correlation { r, .. }) = association {
        let _ = write!(description, "; correlation {}", significant(r, 2));
        let text = format!("r = {}", fixed(r, 2));
        canvas.text("m", axes.frame.right, 14.0, Anchor::End, &text);
    }
    description.push('.');
    Picture::new(title, description, PANEL, HEIGHT, canvas.into_body())
}

/// Draws the distribution of one factor over the samples as a histogram, coloured by nothing: what
/// remains to be shown when there is only one factor.
///
/// # Errors
/// When names and tables differ in length; [`ReportError::NoSuchFactor`].
pub fn draw_factor_histogram(factors: &Factors, factor: usize) -> Result<Picture, ReportError> {
    const HEIGHT: f64 = 240.0;
    factors.validate()?;
    factors.check_factor(factor)?;
    let values = stats::sorted(&factors.means.column(factor));
    let values: Vec<f64> = values.into_iter().filter(|v| drawable(*v)).collect();
    let name = &factors.names[factor];
    let extent = Extent::of(values.iter().copied())
        .unwrap_or_else(Extent::unit)
        .proper();
    let bins = ((values.len() as f64).sqrt().ceil() as usize).clamp(7, 40);
    let mut tally = vec![0usize; bins];
    for v in &values {
        let share = (v - extent.lo) / extent.length();
        tally[((share * bins as f64) as usize).min(bins - 1)] += 1;
    }
    let highest = tally.iter().copied().max().unwrap_or(0).max(1) as f64;
    let title = format!("Distribution of {name}");
    let mut canvas = Canvas::new();
    let spec = PlaneSpec {
        width: PANEL,
        height: HEIGHT,
        title: &title,
        notes: &[],
        x: Axis {
            title: name,
            extent: extent.padded(0.03),
            kind: TickKind::Any,
        },
        y: Axis {
            title: "samples",
            extent: Extent {
                lo: 0.0,
                hi: highest * 1.05,
            },
            kind: TickKind::Whole,
        },
    };
    let axes = plane(&mut canvas, &spec);
    if values.is_empty() {
        nothing(&mut canvas, &axes.frame, "no sample has a value");
    }
    for (b, &n) in tally.iter().enumerate().filter(|(_, n)| **n > 0) {
        let from = axes
            .x
            .at(extent.lo + extent.length() * b as f64 / bins as f64);
        let to = axes
            .x
            .at(extent.lo + extent.length() * (b + 1) as f64 / bins as f64);
        let y = axes.y.at(n as f64);
        canvas.rect(
            "f c0",
            from + 0.5,
            y,
            (to - from - 1.0).max(0.5),
            axes.frame.bottom - y,
        );
    }
    let middle =
        stats::quantile(&values, 0.5).map_or_else(|| "–".to_owned(), |m| significant(m, 3));
    let description = format!(
        "Histogram of {name} over {}; median {middle}.",
        counted(values.len(), "sample")
    );
    Ok(Picture::new(
        title,
        description,
        PANEL,
        HEIGHT,
        canvas.into_body(),
    ))
}

/// Whether a column colours anything at all.
pub(crate) fn has_values(column: &Metadata) -> bool {
    match coloured_by(Some(column)) {
        Colouring::Plain => false,
        Colouring::Groups(g) => !g.names.is_empty(),
        Colouring::Numbers { step, .. } => step.iter().any(Option::is_some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jitter_is_even_and_bounded() {
        let all: Vec<f64> = (0..1000).map(jitter).collect();
        assert!(all.iter().all(|v| (-0.5..0.5).contains(v)));
        let mean = all.iter().sum::<f64>() / 1000.0;
        assert!(mean.abs() < 0.01);
    }
}
