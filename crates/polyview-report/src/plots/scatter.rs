//! Samples in the plane of two factors.

use super::common::{Colouring, coloured_by, spaced};
use crate::ReportError;
use crate::input::{Factors, Options, known_of};
use crate::stats;
use crate::svg::axis::{Axis, Plane, PlaneSpec, nothing, plane};
use crate::svg::canvas::{Anchor, BOLD_TITLE, Canvas, Path};
use crate::svg::legend::{Bar, Entry, Sample, colour_bar, key};
use crate::svg::marker::{Marker, Size, sized_points};
use crate::svg::number::{count, counted, drawable, significant};
use crate::svg::palette::STEPS;
use crate::svg::picture::{PANEL, Picture};
use crate::svg::scale::{Extent, Linear, TickKind};
use crate::svg::text::joined;
use polyview::Metadata;
use std::fmt::Write as _;

/// Samples up to which every one has its own error bars.
const BARS_UP_TO: usize = 120;
/// Layers in which overlapping groups take turns.
const LAYERS: usize = 6;

/// Draws the samples by two factors, coloured by a metadata column. Where standard deviations are
/// given, up to 120 samples carry bars of ±1 sd; beyond that a cross in the corner shows the typical ±1 sd.
///
/// # Errors
/// When names, tables and the column differ in length; [`ReportError::NoSuchFactor`].
pub fn draw_factor_pair(
    factors: &Factors,
    pair: (usize, usize),
    colour: Option<&Metadata>,
    options: &Options,
) -> Result<Picture, ReportError> {
    const HEIGHT: f64 = 300.0;
    factors.validate()?;
    factors.check_factor(pair.0)?;
    factors.check_factor(pair.1)?;
    if let Some(column) = colour {
        known_of(column, factors.samples.len())?;
    }
    let (x, y) = (factors.means.column(pair.0), factors.means.column(pair.1));
    let whole: Vec<usize> = (0..x.len())
        .filter(|&i| drawable(x[i]) && drawable(y[i]))
        .collect();
    let shown: Vec<usize> = spaced(whole.len(), options.max_points)
        .map(|i| whole[i])
        .collect();
    let (x_name, y_name) = (&factors.names[pair.0], &factors.names[pair.1]);
    let title = format!("{x_name} and {y_name}");
    let heading = joined(x_name, " and ", y_name, BOLD_TITLE, PANEL - 90.0);
    let extent = |v: &[f64]| {
        Extent::of(shown.iter().map(|&i| v[i]))
            .unwrap_or_else(Extent::unit)
            .padded(0.06)
    };

    let mut canvas = Canvas::new();
    let spec = PlaneSpec {
        width: PANEL,
        height: HEIGHT,
        title: &heading,
        notes: &[],
        x: Axis {
            title: x_name,
            extent: extent(&x),
            kind: TickKind::Any,
        },
        y: Axis {
            title: y_name,
            extent: extent(&y),
            kind: TickKind::Any,
        },
    };
    let axes = plane(&mut canvas, &spec);
    if shown.is_empty() {
        nothing(&mut canvas, &axes.frame, "no sample has both values");
    }
    if let Some(sds) = &factors.sds {
        let (sx, sy) = (sds.column(pair.0), sds.column(pair.1));
        uncertainty(&mut canvas, &axes, &shown, (&x, &y), (&sx, &sy));
    }
    let at = |i: usize| (axes.x.at(x[i]), axes.y.at(y[i]));
    let below = HEIGHT + 4.0;
    let taken = scatter(&mut canvas, &coloured_by(colour), &shown, at, below);

    let mut description = format!(
        "Scatter of {} by {x_name} and {y_name}",
        counted(shown.len(), "sample")
    );
    if let Some(column) = colour {
        let _ = write!(description, ", coloured by {}", column.name);
    }
    if let Some((r, _)) = stats::correlation(&x, &y) {
        let _ = write!(description, "; correlation {}", significant(r, 2));
    }
    if shown.len() < x.len() {
        let missing = x.len() - whole.len();
        let _ = write!(
            description,
            "; {} of {} samples drawn, {} without a value",
            count(shown.len()),
            count(x.len()),
            count(missing)
        );
    }
    description.push('.');
    Ok(Picture::new(
        title,
        description,
        PANEL,
        below + taken,
        canvas.into_body(),
    ))
}

/// Draws the samples `shown` at their places and the key at height `below`; returns its height.
pub(super) fn scatter(
    canvas: &mut Canvas,
    colouring: &Colouring,
    shown: &[usize],
    at: impl Fn(usize) -> (f64, f64),
    below: f64,
) -> f64 {
    let size = if shown.len() > 400 {
        Size::Small
    } else {
        Size::Ordinary
    };
    let mut draw = |layer: &[usize], marker, colour: &str, of: &dyn Fn(usize) -> bool| -> usize {
        let chosen: Vec<usize> = layer.iter().copied().filter(|&i| of(i)).collect();
        sized_points(canvas, marker, size, colour, chosen.iter().map(|&i| at(i)));
        chosen.len()
    };
    // Layers take turns, so that no group hides the others wherever they overlap.
    let layers: Vec<Vec<usize>> = (0..LAYERS)
        .map(|l| shown.iter().copied().skip(l).step_by(LAYERS).collect())
        .collect();
    let unknown = |n: usize| Entry {
        sample: Sample::Point(Marker::Speck),
        colour: "n v".into(),
        label: format!("not recorded ({})", count(n)),
    };
    match colouring {
        Colouring::Plain => {
            draw(shown, Marker::Dot, "c0", &|_| true);
            0.0
        }
        Colouring::Groups(grouping) => {
            let lost = draw(shown, Marker::Speck, "n v", &|i| {
                grouping.group[i].is_none()
            });
            for layer in &layers {
                for g in 0..grouping.names.len() {
                    let style = grouping.style(g);
                    let member = |i: usize| grouping.group[i] == Some(g);
                    draw(layer, style.marker, &style.colour, &member);
                }
            }
            let mut entries = grouping.entries();
            if lost > 0 {
                entries.push(unknown(lost));
            }
            key(canvas, 6.0, below, PANEL - 12.0, &entries)
        }
        Colouring::Numbers {
            step,
            extent,
            title,
        } => {
            let lost = draw(shown, Marker::Speck, "n v", &|i| step[i].is_none());
            for layer in &layers {
                for s in 0..STEPS {
                    draw(layer, Marker::Dot, &format!("q{s}"), &|i| {
                        step[i] == Some(s)
                    });
                }
            }
            let mut taken = 0.0;
            if step.iter().any(Option::is_some) {
                taken = colour_bar(canvas, 56.0, below, 190.0, *extent, title, &Bar::Steps);
            }
            if lost > 0 {
                taken += key(canvas, 56.0, below + taken, PANEL - 60.0, &[unknown(lost)]);
            }
            taken
        }
    }
}

fn uncertainty(
    canvas: &mut Canvas,
    axes: &Plane,
    shown: &[usize],
    mean: (&[f64], &[f64]),
    sd: (&[f64], &[f64]),
) {
    let pixels = |scale: &Linear, v: f64, s: f64| (scale.at(v - s), scale.at(v + s));
    let frame = axes.frame;
    if shown.len() <= BARS_UP_TO {
        let mut path = Path::new();
        for &i in shown {
            let (a, b) = pixels(&axes.x, mean.0[i], sd.0[i]);
            let y = axes.y.at(mean.1[i]);
            path.move_to(a.max(frame.left), y);
            path.line_to(b.min(frame.right), y);
            let (a, b) = pixels(&axes.y, mean.1[i], sd.1[i]);
            let x = axes.x.at(mean.0[i]);
            path.move_to(x, a.min(frame.bottom));
            path.line_to(x, b.max(frame.top));
        }
        canvas.path("e n v", &path);
        return;
    }
    let typical = |sds: &[f64]| {
        let of: Vec<f64> = shown.iter().map(|&i| sds[i]).collect();
        stats::quantile(&stats::sorted(&of), 0.5)
    };
    let (Some(sx), Some(sy)) = (typical(sd.0), typical(sd.1)) else {
        return;
    };
    let half = |scale: &Linear, s: f64| (scale.at(s) - scale.at(0.0)).abs().min(40.0);
    let (hx, hy) = (half(&axes.x, sx), half(&axes.y, sy));
    let (x, y) = (frame.right - hx - 1.0, 11.0_f64.max(hy + 1.0));
    canvas.line("j", x - hx, y, x + hx, y);
    canvas.line("j", x, y - hy, x, y + hy);
    canvas.text("m s", x - hx - 5.0, y + 3.5, Anchor::End, "typical ±1 sd");
}
