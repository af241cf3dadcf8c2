//! Keys to colours: categories with markers, and colour bars.

use super::canvas::{Anchor, Canvas, TEXT};
use super::marker::{Marker, points};
use super::palette::{Rgb, STEPS};
use super::scale::{Extent, Linear, TickKind, Ticks};
use super::text::width;

/// How an entry of a key is drawn.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Sample {
    /// A marker of a colour class.
    Point(Marker),
    /// A short line of a colour class.
    Stroke,
    /// A filled patch of a colour class.
    Patch,
    /// A shaded stretch of the ground.
    Ground,
}

/// One entry of a key.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub sample: Sample,
    pub colour: String,
    pub label: String,
}

/// Draws the entries in rows from (`x`, `y`) on; returns the height they took.
pub(crate) fn key(canvas: &mut Canvas, x: f64, y: f64, room: f64, entries: &[Entry]) -> f64 {
    const LEAD: f64 = 15.0;
    const ROW: f64 = 16.0;
    let (mut at, mut row) = (x, y);
    for entry in entries {
        let wanted = LEAD + width(&entry.label, TEXT) + 12.0;
        if at > x && at + wanted > x + room + 12.0 {
            at = x;
            row += ROW;
        }
        match entry.sample {
            Sample::Point(marker) => points(canvas, marker, &entry.colour, [(at + 5.0, row + 7.0)]),
            Sample::Stroke => canvas.line(
                &format!("l {}", entry.colour),
                at,
                row + 7.0,
                at + 11.0,
                row + 7.0,
            ),
            Sample::Patch => canvas.rect(&format!("f {}", entry.colour), at, row + 2.0, 10.0, 10.0),
            Sample::Ground => canvas.rect("q", at, row + 2.5, 10.0, 9.0),
        }
        canvas.label(
            "",
            at + LEAD,
            row + 11.0,
            Anchor::Start,
            &entry.label,
            room - LEAD,
        );
        at += wanted;
    }
    if entries.is_empty() {
        0.0
    } else {
        row - y + ROW
    }
}

/// Colours of a bar from left to right.
pub(crate) enum Bar<'a> {
    /// The stepped scale used for points.
    Steps,
    /// A continuous scale over 0 to 1.
    Smooth(&'a dyn Fn(f64) -> Rgb),
}

/// A horizontal colour bar with a title above and ticks below; returns the height it took.
pub(crate) fn colour_bar(
    canvas: &mut Canvas,
    x: f64,
    y: f64,
    length: f64,
    extent: Extent,
    title: &str,
    bar: &Bar<'_>,
) -> f64 {
    const THICK: f64 = 9.0;
    canvas.label("", x, y + 10.0, Anchor::Start, title, length.max(180.0));
    let top = y + 16.0;
    match bar {
        Bar::Steps => {
            let step = length / STEPS as f64;
            for i in 0..STEPS {
                // each step reaches to the right end, under the following ones: no seams
                let from = step * i as f64;
                canvas.rect(&format!("f q{i}"), x + from, top, length - from, THICK);
            }
        }
        Bar::Smooth(colour) => {
            let pieces = 50;
            for i in 0..pieces {
                let t = (f64::from(i) + 0.5) / f64::from(pieces);
                let from = length * f64::from(i) / f64::from(pieces);
                canvas.cell(colour(t), x + from, top, length - from, THICK, None);
            }
        }
    }
    let scale = Linear::new(extent, x, x + length);
    let mut target = 5;
    let ticks = loop {
        let ticks = Ticks::new(extent, target, TickKind::Any);
        let widest = ticks
            .labels
            .iter()
            .map(|l| width(l, TEXT))
            .fold(0.0, f64::max);
        if target == 1 || widest * ticks.labels.len() as f64 <= length * 0.8 {
            break ticks;
        }
        target -= 1;
    };
    for (v, label) in ticks.values.iter().zip(&ticks.labels) {
        let at = scale.at(*v);
        canvas.line("ax", at, top + THICK, at, top + THICK + 3.0);
        canvas.text("m t", at, top + THICK + 14.0, Anchor::Middle, label);
    }
    if ticks.exponent != 0 {
        let power = ticks.title("");
        canvas.text(
            "m",
            x + length + 16.0,
            top + THICK,
            Anchor::Start,
            power.trim(),
        );
    }
    THICK + 34.0
}
