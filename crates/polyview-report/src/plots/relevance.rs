//! Relevance of the features of a view.

use crate::ReportError;
use crate::input::ViewRelevance;
use crate::svg::axis::{Axis, Frame, nothing, panel_title, x_axis};
use crate::svg::canvas::{Anchor, Canvas, Path, TEXT};
use crate::svg::legend::{Bar, colour_bar};
use crate::svg::marker::{Marker, points};
use crate::svg::number::{count, counted, drawable, significant};
use crate::svg::palette::viridis;
use crate::svg::picture::{PANEL, Picture};
use crate::svg::scale::{Extent, Linear, TickKind};
use crate::svg::text::Labels;

/// Colours of an image; pixels of one colour are one path.
const LEVELS: usize = 64;
/// Most pixels along a side that are drawn; beyond it neighbours are averaged.
const FINEST: usize = 128;
/// Largest side of a drawn pixel.
const LARGEST: f64 = 24.0;

/// Indexes of the most relevant features, at most `top`; ties in the order of the features. What is no
/// number never leads.
pub(crate) fn most_relevant(relevance: &ViewRelevance, top: usize) -> Vec<usize> {
    let values = &relevance.relevance;
    let mut order: Vec<usize> = (0..values.len()).filter(|&d| drawable(values[d])).collect();
    order.sort_by(|&a, &b| values[b].total_cmp(&values[a]).then(a.cmp(&b)));
    order.truncate(top);
    order
}

/// Draws the relevance of the features of one view: the `top` features, most relevant first, or, where
/// the features are the pixels of an image ([`ViewRelevance::shape`]), all of them as that image, on a
/// logarithmic scale.
///
/// # Errors
/// When names, numbers and the shape do not agree.
pub fn draw_relevance(relevance: &ViewRelevance, top: usize) -> Result<Picture, ReportError> {
    relevance.validate()?;
    let leaders = most_relevant(relevance, top);
    let first: Vec<String> = leaders
        .iter()
        .take(5)
        .map(|&d| {
            let value = significant(relevance.relevance[d], 2);
            format!("{} {value}", relevance.features[d])
        })
        .collect();
    let leading = if first.is_empty() {
        "none".to_owned()
    } else {
        first.join(", ")
    };
    let mut canvas = Canvas::new();
    let from = panel_title(&mut canvas, &relevance.view, PANEL);
    let (height, kind) = match relevance.shape {
        None => (
            list(&mut canvas, from, relevance, &leaders),
            format!(
                "Dot plot of the relevance of {} of {}",
                count(leaders.len()),
                counted(relevance.features.len(), "feature")
            ),
        ),
        Some([rows, columns]) => (
            image(&mut canvas, from, relevance, [rows, columns]),
            format!(
                "Image of the relevance of {} x {} pixels",
                count(rows),
                count(columns)
            ),
        ),
    };
    let view = &relevance.view;
    Ok(Picture::new(
        format!("Relevance of the features of {view}"),
        format!("{kind} in {view}, relative to the median; most relevant: {leading}."),
        PANEL,
        height,
        canvas.into_body(),
    ))
}

/// The leading features as dots; returns the height of the picture.
fn list(canvas: &mut Canvas, from: f64, relevance: &ViewRelevance, leaders: &[usize]) -> f64 {
    const ROW: f64 = 17.0;
    let values = &relevance.relevance;
    let features: Vec<String> = leaders
        .iter()
        .map(|&d| relevance.features[d].clone())
        .collect();
    let labels = Labels::fit(&features, TEXT, 138.0);
    let left = labels.widest().max(40.0) + 12.0;
    let frame = Frame {
        left,
        top: from,
        right: PANEL - 10.0,
        bottom: from + ROW * leaders.len().max(2) as f64,
    };
    let extent = Extent::of(leaders.iter().map(|&d| values[d]))
        .unwrap_or_else(Extent::unit)
        .including(0.0)
        .including(1.0)
        .padded(0.04);
    let x = Linear::new(extent, frame.left, frame.right);
    if leaders.is_empty() {
        nothing(canvas, &frame, "no relevance is known");
    }
    let mut guides = Path::new();
    for row in 0..leaders.len() {
        let y = frame.top + ROW * (row as f64 + 0.5);
        canvas.name("", left - 7.0, y + 3.8, Anchor::End, &labels, row);
        guides.move_to(frame.left, y);
        guides.line_to(frame.right, y);
    }
    canvas.path("g", &guides);
    // an ordinary feature
    canvas.line("z", x.at(1.0), frame.top, x.at(1.0), frame.bottom);
    let dots = leaders
        .iter()
        .enumerate()
        .map(|(row, &d)| (x.at(values[d]), frame.top + ROW * (row as f64 + 0.5)));
    points(canvas, Marker::Dot, "c0", dots);
    let axis = Axis {
        title: "relevance, median 1",
        extent,
        kind: TickKind::Any,
    };
    x_axis(canvas, &frame, &x, &axis);
    frame.bottom + 38.0
}

/// All features as the pixels of an image; returns the height of the picture.
fn image(canvas: &mut Canvas, from: f64, relevance: &ViewRelevance, shape: [usize; 2]) -> f64 {
    let [rows, columns] = shape;
    let size = rows.max(columns).div_ceil(FINEST).max(1);
    let (down, across) = (rows.div_ceil(size), columns.div_ceil(size));
    let side = (PANEL / across.max(1) as f64)
        .min(PANEL / down.max(1) as f64)
        .min(LARGEST);
    // logarithms, averaged over neighbours where there are too many
    let pixel = |i: usize, j: usize| -> f64 {
        let (mut sum, mut n) = (0.0, 0.0);
        for r in i * size..((i + 1) * size).min(rows) {
            for c in j * size..((j + 1) * size).min(columns) {
                let v = relevance.relevance[r * columns + c];
                if drawable(v) && v > 0.0 {
                    sum += v.log10();
                    n += 1.0;
                }
            }
        }
        sum / n
    };
    let pixels: Vec<f64> = (0..down * across)
        .map(|p| pixel(p / across, p % across))
        .collect();
    let found = Extent::of(pixels.iter().copied());
    let extent = found.unwrap_or_else(Extent::unit).proper();
    let mut paths = vec![Path::new(); LEVELS];
    for (p, v) in pixels.iter().enumerate() {
        if drawable(*v) {
            let t = (v - extent.lo) / extent.length();
            let level = ((t * LEVELS as f64) as usize).min(LEVELS - 1);
            let (x, y) = ((p % across) as f64 * side, (p / across) as f64 * side);
            paths[level].block(x, from + y, side, side);
        }
    }
    for (level, path) in paths.iter().enumerate() {
        canvas.shape(viridis(level as f64 / (LEVELS - 1) as f64), path);
    }
    let mut bottom = from + side * down as f64;
    if found.is_none() {
        let frame = Frame {
            left: 0.0,
            top: from,
            right: PANEL,
            bottom: from + 34.0,
        };
        nothing(canvas, &frame, "no relevance is known");
        bottom = bottom.max(frame.bottom);
    }
    let title = "log10 of the relevance, median 0";
    let bar = Bar::Smooth(&viridis);
    bottom + 8.0 + colour_bar(canvas, 8.0, bottom + 8.0, 190.0, extent, title, &bar) + 2.0
}
