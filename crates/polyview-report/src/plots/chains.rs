//! Traces of a sampler.

use super::Window;
use super::common::{lower_first, thinned};
use crate::input::ChainTraces;
use crate::stats;
use crate::svg::axis::{Axis, PlaneSpec, nothing, plane};
use crate::svg::canvas::{Canvas, Path};
use crate::svg::legend::{Entry, Sample, key};
use crate::svg::number::{counted, drawable, significant};
use crate::svg::palette::CATEGORIES;
use crate::svg::picture::{PANEL, Picture};
use crate::svg::scale::{Extent, TickKind};

/// Draws the traced quantity of every chain against the sweep: the whole run with the warm-up shaded,
/// or ([`Window::Tail`]) only what follows the warm-up.
pub fn draw_chains(traces: &ChainTraces, window: Window) -> Picture {
    const HEIGHT: f64 = 252.0;
    let from = if window == Window::Tail {
        traces.warm_up
    } else {
        0
    };
    let lines: Vec<Vec<(f64, f64)>> = traces
        .chains
        .iter()
        .map(|chain| {
            let points = chain
                .values
                .iter()
                .enumerate()
                .map(|(i, &v)| (chain.first_sweep + i, v));
            points
                .filter(|(s, _)| *s > from || from == 0)
                .map(|(s, v)| (s as f64, if drawable(v) { v } else { f64::NAN }))
                .collect()
        })
        .collect();
    let all = || lines.iter().flatten();
    let x_extent = Extent::of(all().map(|p| p.0)).unwrap_or_else(Extent::unit);
    let y_data = Extent::of(all().map(|p| p.1));
    let title = match window {
        Window::Whole => "All sweeps",
        Window::Tail => "After the warm-up",
    };
    let mut canvas = Canvas::new();
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
            title: &traces.quantity,
            extent: y_data.unwrap_or_else(Extent::unit).padded(0.06),
            kind: TickKind::Any,
        },
    };
    let axes = plane(&mut canvas, &spec);
    let mut entries = Vec::new();
    let end = traces.warm_up as f64;
    let shaded = window == Window::Whole && traces.warm_up > 0 && end > x_extent.lo;
    if shaded {
        let to = axes.x.at(end.min(x_extent.hi));
        canvas.rect(
            "r v",
            axes.frame.left,
            axes.frame.top,
            to - axes.frame.left,
            axes.frame.bottom - axes.frame.top,
        );
        canvas.line("z", to, axes.frame.top, to, axes.frame.bottom);
    }
    if y_data.is_none() {
        nothing(&mut canvas, &axes.frame, "no value was recorded");
    }
    for (c, chain) in traces.chains.iter().enumerate() {
        let colour = format!("c{}", c % CATEGORIES);
        let mut path = Path::new();
        for (s, v) in thinned(&lines[c], 280) {
            path.line_to(axes.x.at(s), axes.y.at(v));
        }
        canvas.path(&format!("l u {colour}"), &path);
        entries.push(Entry {
            sample: Sample::Stroke,
            colour,
            label: chain.name.clone(),
        });
    }
    if shaded {
        entries.push(Entry {
            sample: Sample::Ground,
            colour: String::new(),
            label: "warm-up, not used".into(),
        });
    }
    let below = HEIGHT + 4.0;
    let legend = key(
        &mut canvas,
        axes.frame.left,
        below,
        PANEL - axes.frame.left - 6.0,
        &entries,
    );
    let parts: Vec<String> = traces
        .chains
        .iter()
        .map(|c| {
            let mean = stats::mean(&c.values).map_or_else(
                || "no value".to_owned(),
                |m| format!("mean {}", significant(m, 5)),
            );
            format!("{}: {}, {mean}", c.name, counted(c.values.len(), "sweep"))
        })
        .collect();
    let description = format!(
        "Lines of {} against the sweep. {}.",
        traces.quantity,
        parts.join("; ")
    );
    let title = format!("Chains of the sampler: {}", lower_first(title));
    Picture::new(
        title,
        description,
        PANEL,
        below + legend,
        canvas.into_body(),
    )
}
