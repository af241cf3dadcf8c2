//! The bound from sweep to sweep.

use super::common::{lower_first, thinned};
use crate::input::{BoundTrace, EventKind};
use crate::svg::axis::{Axis, PlaneSpec, nothing, plane};
use crate::svg::canvas::{Canvas, Path};
use crate::svg::legend::{Entry, Sample, key};
use crate::svg::marker::{Marker, points};
use crate::svg::number::{counted, drawable, fixed};
use crate::svg::picture::{PANEL, Picture};
use crate::svg::scale::{Extent, TickKind};

/// Which part of a run is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// All sweeps.
    Whole,
    /// The last part. Of a bound: the sweeps in which the last two per cent of the rise happen, as the
    /// distance from the last value. Of chains: what follows the warm-up.
    Tail,
}

/// Draws the bound after each sweep in nats, with marks where factors were removed or rotated.
pub fn draw_bound(trace: &BoundTrace, window: Window) -> Picture {
    const HEIGHT: f64 = 232.0;
    let all: Vec<(f64, f64)> = trace
        .values
        .iter()
        .enumerate()
        .map(|(i, &v)| ((trace.first_sweep + i) as f64, v))
        .collect();
    let last = all.iter().rev().find(|p| drawable(p.1)).copied();
    let line: Vec<(f64, f64)> = match (window, last) {
        (Window::Tail, Some((_, end))) => all[tail_start(&trace.values)..]
            .iter()
            .map(|&(s, v)| (s, v - end))
            .collect(),
        _ => all,
    };
    let (title, y_title) = match window {
        Window::Whole => ("All sweeps", "bound (nats)"),
        Window::Tail => ("The last part, enlarged", "bound − last value (nats)"),
    };

    let mut canvas = Canvas::new();
    let x_extent = Extent::of(line.iter().map(|p| p.0)).unwrap_or_else(Extent::unit);
    let y_data = Extent::of(line.iter().map(|p| p.1));
    let spec = PlaneSpec {
        width: PANEL,
        height: HEIGHT,
        title,
        notes: &[],
        x: Axis {
            title: "sweep",
            extent: x_extent.padded(0.02),
            kind: TickKind::Whole,
        },
        y: Axis {
            title: y_title,
            extent: y_data.unwrap_or_else(Extent::unit).padded(0.08),
            kind: TickKind::Any,
        },
    };
    let axes = plane(&mut canvas, &spec);
    if y_data.is_none() {
        nothing(
            &mut canvas,
            &axes.frame,
            "no value of the bound was recorded",
        );
    }

    let kinds = [
        (EventKind::Pruned, Marker::Down, "c1", "factor removed"),
        (EventKind::Rotated, Marker::Diamond, "c2", "rotation"),
        (EventKind::Other, Marker::Cross, "n", "other event"),
    ];
    let mut entries = vec![Entry {
        sample: Sample::Stroke,
        colour: "c0".into(),
        label: "bound".into(),
    }];
    for (kind, marker, colour, label) in kinds {
        let at: Vec<f64> = trace
            .events
            .iter()
            .filter(|e| e.kind == kind)
            .map(|e| e.sweep as f64)
            .filter(|&s| s >= x_extent.lo && s <= x_extent.hi)
            .collect();
        if at.is_empty() {
            continue;
        }
        // removals hang from the frame, rotations sit on it: neither hides the other, and both
        // stay clear of the title
        let y = axes.frame.top
            + if kind == EventKind::Rotated {
                -4.0
            } else {
                5.0
            };
        let mut rules = Path::new();
        let mut alone = Vec::new();
        for (first, last) in runs(&at, |s| axes.x.at(s)) {
            if first == last {
                rules.move_to(first, y);
                rules.line_to(first, axes.frame.bottom);
                alone.push((first, y));
            } else {
                canvas.rect(
                    &format!("f {colour}"),
                    first - 2.0,
                    y - 2.0,
                    last - first + 4.0,
                    4.0,
                );
            }
        }
        canvas.path(&format!("l v {colour}"), &rules);
        points(&mut canvas, marker, colour, alone);
        entries.push(Entry {
            sample: Sample::Point(marker),
            colour: colour.into(),
            label: label.into(),
        });
    }

    let mut path = Path::new();
    let pixels: Vec<(f64, f64)> = line
        .iter()
        .map(|&(s, v)| (s, if drawable(v) { v } else { f64::NAN }))
        .collect();
    for (s, v) in thinned(&pixels, 320) {
        path.line_to(axes.x.at(s), axes.y.at(v));
    }
    canvas.path("l c0", &path);
    if line.len() <= 40 {
        let at = line
            .iter()
            .filter(|p| drawable(p.1))
            .map(|&(s, v)| (axes.x.at(s), axes.y.at(v)));
        points(&mut canvas, Marker::Dot, "c0", at);
    }
    let below = HEIGHT + 4.0;
    let legend = key(
        &mut canvas,
        axes.frame.left,
        below,
        PANEL - axes.frame.left - 6.0,
        &entries,
    );
    let description = describe(trace, window);
    let title = format!("Bound per sweep: {}", lower_first(title));
    Picture::new(
        title,
        description,
        PANEL,
        below + legend,
        canvas.into_body(),
    )
}

/// Events on the axis: those closer than a marker is wide become one stretch from first to last, in
/// pixels.
fn runs(sweeps: &[f64], at: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
    const CLOSE: f64 = 7.0;
    let mut pixels: Vec<f64> = sweeps.iter().map(|&s| at(s)).collect();
    pixels.sort_by(f64::total_cmp);
    let mut out: Vec<(f64, f64)> = Vec::new();
    for x in pixels {
        match out.last_mut() {
            Some((_, last)) if x - *last < CLOSE => *last = x,
            _ => out.push((x, x)),
        }
    }
    out
}

/// First index from which the rise that is left is at most two per cent of the whole rise; at least
/// the last five values, and never more than the last three quarters.
fn tail_start(values: &[f64]) -> usize {
    let finite: Vec<(usize, f64)> = values
        .iter()
        .copied()
        .enumerate()
        .filter(|(_, v)| drawable(*v))
        .collect();
    let (Some(first), Some(last)) = (finite.first(), finite.last()) else {
        return 0;
    };
    let left = 0.02 * (last.1 - first.1).abs();
    let settled = finite
        .iter()
        .rev()
        .take_while(|(_, v)| (last.1 - v).abs() <= left)
        .last();
    let start = settled.map_or(0, |(i, _)| *i);
    start
        .min(values.len().saturating_sub(5))
        .max(values.len() / 4)
}

fn describe(trace: &BoundTrace, window: Window) -> String {
    let (shown, from) = match window {
        Window::Whole => (&trace.values[..], 0),
        Window::Tail => {
            let start = tail_start(&trace.values);
            (&trace.values[start..], trace.first_sweep + start)
        }
    };
    let finite: Vec<f64> = shown.iter().copied().filter(|v| drawable(*v)).collect();
    let (Some(first), Some(last)) = (finite.first(), finite.last()) else {
        return "No value of the bound was recorded.".to_owned();
    };
    let part = match window {
        Window::Whole => "Line of the bound against the sweep",
        Window::Tail => "Line of the bound's distance from its last value over the last sweeps",
    };
    let of = |kind| {
        let those = trace
            .events
            .iter()
            .filter(|e| e.kind == kind && e.sweep >= from);
        those.count()
    };
    format!(
        "{part}: from {} to {} nats over {}; {} and {}.",
        fixed(*first, 1),
        fixed(*last, 1),
        counted(shown.len(), "sweep"),
        counted(of(EventKind::Pruned), "removed factor"),
        counted(of(EventKind::Rotated), "rotation"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_that_touch_become_one_stretch() {
        let sweeps = [50.0, 1.0, 2.0, 3.0, 50.0, 90.0];
        assert_eq!(
            runs(&sweeps, |s| s * 2.0),
            [(2.0, 6.0), (100.0, 100.0), (180.0, 180.0)]
        );
        assert!(runs(&[], |s| s).is_empty());
    }

    #[test]
    fn the_tail_begins_where_the_rise_is_nearly_over() {
        let values: Vec<f64> = (0..100)
            .map(|i| -100.0 * (-0.1 * f64::from(i)).exp())
            .collect();
        let start = tail_start(&values);
        assert!(values[start] >= -2.1 && values[start - 1] < -1.9, "{start}");
        assert_eq!(tail_start(&[]), 0);
        assert_eq!(tail_start(&[f64::NAN; 7]), 0);
        assert_eq!(tail_start(&[1.0, 2.0]), 0);
    }
}
