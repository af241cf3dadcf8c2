//! Axes, and the plane spanned by two of them.

use super::canvas::{Anchor, Canvas, TEXT};
use super::scale::{Extent, Linear, TickKind, Ticks};
use super::text::{width, wrapped};

/// The rectangle in which data are drawn, in pixels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub bottom: f64,
}

/// What an axis shows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Axis<'a> {
    /// Quantity and unit.
    pub title: &'a str,
    pub extent: Extent,
    pub kind: TickKind,
}

/// A panel with two numeric axes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlaneSpec<'a> {
    pub width: f64,
    pub height: f64,
    pub title: &'a str,
    /// Lines of figures under the title.
    pub notes: &'a [String],
    pub x: Axis<'a>,
    pub y: Axis<'a>,
}

/// Axes that have been drawn, ready for data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plane {
    pub frame: Frame,
    pub x: Linear,
    pub y: Linear,
}

impl<'a> Axis<'a> {
    /// Shares, from 0 to 1.
    pub fn share(title: &'a str) -> Self {
        Self {
            title,
            extent: Extent { lo: 0.0, hi: 1.0 },
            kind: TickKind::Any,
        }
    }
}

/// As [`plane`] for two shares, with the line where they are equal.
pub(crate) fn square(canvas: &mut Canvas, spec: &PlaneSpec<'_>) -> Plane {
    let axes = plane(canvas, spec);
    let f = axes.frame;
    canvas.line("z", f.left, f.bottom, f.right, f.top);
    axes
}

/// Draws the panel title, grid and axes and returns the map from data to pixels.
pub(crate) fn plane(canvas: &mut Canvas, spec: &PlaneSpec<'_>) -> Plane {
    let mut top = panel_title(canvas, spec.title, spec.width);
    for note in spec.notes {
        canvas.label("m t", 2.0, top + 2.0, Anchor::Start, note, spec.width - 4.0);
        top += 14.0;
    }
    if !spec.notes.is_empty() {
        top += 4.0;
    }
    let bottom = spec.height - 36.0;
    let y_ticks = Ticks::new(
        spec.y.extent,
        (((bottom - top) / 38.0) as usize).max(2),
        spec.y.kind,
    );
    let widest = y_ticks
        .labels
        .iter()
        .map(|l| width(l, TEXT))
        .fold(0.0, f64::max);
    let left = (16.0 + widest + 8.0).min(spec.width * 0.5);
    let frame = Frame {
        left,
        top,
        right: spec.width - 10.0,
        bottom,
    };
    let x = Linear::new(spec.x.extent, frame.left, frame.right);
    let y = Linear::new(spec.y.extent, frame.bottom, frame.top);

    for &v in &y_ticks.values {
        canvas.line("g", frame.left, y.at(v), frame.right, y.at(v));
    }
    for (v, label) in y_ticks.values.iter().zip(&y_ticks.labels) {
        canvas.text("m t", frame.left - 6.0, y.at(*v) + 3.8, Anchor::End, label);
    }
    let title = y_ticks.title(spec.y.title);
    canvas.turned(
        "",
        11.0,
        f64::midpoint(top, bottom),
        Anchor::Middle,
        -90.0,
        &title,
        bottom - top + 24.0,
    );
    x_axis(canvas, &frame, &x, &spec.x);
    canvas.line("ax", frame.left, frame.top, frame.left, frame.bottom);
    Plane { frame, x, y }
}

/// The horizontal axis at the foot of a frame: line, ticks, labels, title. Takes 36 pixels below.
pub(crate) fn x_axis(canvas: &mut Canvas, frame: &Frame, scale: &Linear, axis: &Axis<'_>) {
    let ticks = fitting_ticks(scale, frame.right - frame.left, axis.kind);
    canvas.line("ax", frame.left, frame.bottom, frame.right, frame.bottom);
    for (v, label) in ticks.values.iter().zip(&ticks.labels) {
        let x = scale.at(*v);
        canvas.line("ax", x, frame.bottom, x, frame.bottom + 4.0);
        canvas.text("m t", x, frame.bottom + 15.0, Anchor::Middle, label);
    }
    let room = (frame.right - frame.left).max(120.0);
    let middle = f64::midpoint(frame.left, frame.right);
    canvas.label(
        "",
        middle,
        frame.bottom + 31.0,
        Anchor::Middle,
        &ticks.title(axis.title),
        room,
    );
}

/// As many ticks as their labels leave room for.
fn fitting_ticks(scale: &Linear, pixels: f64, kind: TickKind) -> Ticks {
    let mut target = 8;
    loop {
        let ticks = Ticks::new(scale.domain(), target, kind);
        let widest = ticks
            .labels
            .iter()
            .map(|l| width(l, TEXT))
            .fold(0.0, f64::max);
        let gap = match ticks.values.as_slice() {
            [a, b, ..] => scale.at(*b) - scale.at(*a),
            _ => pixels,
        };
        if widest + 10.0 <= gap || target <= 1 {
            return ticks;
        }
        target -= 1;
    }
}

/// Panel title in bold at the top left; returns where the space below it begins.
pub(crate) fn panel_title(canvas: &mut Canvas, title: &str, width: f64) -> f64 {
    if title.is_empty() {
        return 10.0;
    }
    canvas.label("b", 2.0, 14.0, Anchor::Start, title, width - 4.0);
    28.0
}

/// A centred sentence where a picture would be, when there is nothing to draw.
pub(crate) fn nothing(canvas: &mut Canvas, frame: &Frame, why: &str) {
    let lines = wrapped(why, TEXT, frame.right - frame.left - 12.0, 3);
    let middle = f64::midpoint(frame.left, frame.right);
    let first = f64::midpoint(frame.top, frame.bottom) - 7.0 * (lines.len() as f64 - 1.0);
    for (i, line) in lines.iter().enumerate() {
        canvas.text("m", middle, first + 14.0 * i as f64, Anchor::Middle, line);
    }
}
