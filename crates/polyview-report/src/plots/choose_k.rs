//! Scores against the number of factors.

use crate::ReportError;
use crate::input::ChooseK;
use crate::svg::axis::{Axis, PlaneSpec, nothing, plane};
use crate::svg::canvas::{Anchor, Canvas, Path};
use crate::svg::marker::{Marker, points};
use crate::svg::number::{counted, drawable, significant};
use crate::svg::picture::{PANEL, Picture};
use crate::svg::scale::{Extent, TickKind};
use std::fmt::Write as _;

/// Which curve of a search for the number of factors is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Curve {
    /// Held-out score with ± one standard error.
    Score,
    /// Bound.
    Bound,
    /// Stability between repeats.
    Stability,
}

/// Draws one curve against the number of factors, with the recommended number marked.
///
/// # Errors
/// When lengths differ; [`ReportError::NotTried`]; [`ReportError::Absent`] when the curve was not given.
pub fn draw_choose_k(choose: &ChooseK, curve: Curve) -> Result<Picture, ReportError> {
    const HEIGHT: f64 = 240.0;
    choose.validate()?;
    let absent = |what| ReportError::Absent { what };
    let (values, title, y_title): (&[f64], &str, &str) = match curve {
        Curve::Score => (&choose.score, "Held-out score", &choose.score_name),
        Curve::Bound => (
            choose.bound.as_deref().ok_or_else(|| absent("bounds"))?,
            "Bound",
            "bound (nats)",
        ),
        Curve::Stability => (
            choose
                .stability
                .as_deref()
                .ok_or_else(|| absent("stabilities"))?,
            "Stability",
            "mean |correlation| of matched factors",
        ),
    };
    let errors = choose
        .score_error
        .as_deref()
        .filter(|_| curve == Curve::Score);
    let error = |i: usize| errors.map_or(0.0, |e| if drawable(e[i]) { e[i] } else { 0.0 });
    let mut order: Vec<usize> = (0..choose.factors.len()).collect();
    order.sort_by_key(|&i| (choose.factors[i], i));
    let known: Vec<usize> = order
        .iter()
        .copied()
        .filter(|&i| drawable(values[i]))
        .collect();

    let ends = known
        .iter()
        .flat_map(|&i| [values[i] - error(i), values[i] + error(i)]);
    let y_data = Extent::of(ends);
    let tried = choose.factors.iter().map(|&k| k as f64);
    let mut canvas = Canvas::new();
    let spec = PlaneSpec {
        width: PANEL,
        height: HEIGHT,
        title,
        notes: &[],
        x: Axis {
            title: "number of factors",
            extent: Extent::of(tried).unwrap_or_else(Extent::unit).padded(0.05),
            kind: TickKind::Whole,
        },
        y: Axis {
            title: y_title,
            extent: y_data.unwrap_or_else(Extent::unit).padded(0.08),
            kind: TickKind::Any,
        },
    };
    let axes = plane(&mut canvas, &spec);
    let frame = axes.frame;
    if known.is_empty() {
        nothing(&mut canvas, &frame, "no value is known");
    }
    if let Some(k) = choose.recommended {
        let x = axes.x.at(k as f64);
        canvas.line("z", x, frame.top, x, frame.bottom);
        let (anchor, at) = if x > f64::midpoint(frame.left, frame.right) {
            (Anchor::End, x - 5.0)
        } else {
            (Anchor::Start, x + 5.0)
        };
        canvas.text(
            "m",
            at,
            frame.top - 4.0,
            anchor,
            &format!("recommended: {k}"),
        );
    }
    let mut line = Path::new();
    let mut whiskers = Path::new();
    for &i in &known {
        let x = axes.x.at(choose.factors[i] as f64);
        line.line_to(x, axes.y.at(values[i]));
        if error(i) > 0.0 {
            whiskers.move_to(x, axes.y.at(values[i] - error(i)));
            whiskers.line_to(x, axes.y.at(values[i] + error(i)));
        }
    }
    canvas.path("l c0", &line);
    canvas.path("l c0", &whiskers);
    let (chosen, others): (Vec<usize>, Vec<usize>) = known
        .iter()
        .partition(|&&i| Some(choose.factors[i]) == choose.recommended);
    let at = |i: &usize| (axes.x.at(choose.factors[*i] as f64), axes.y.at(values[*i]));
    points(&mut canvas, Marker::Dot, "c0", others.iter().map(at));
    points(&mut canvas, Marker::Diamond, "c1", chosen.iter().map(at));

    let parts: Vec<String> = known
        .iter()
        .map(|&i| format!("{}: {}", choose.factors[i], significant(values[i], 4)))
        .collect();
    let mut description = format!(
        "{title} against the number of factors, {} tried. {}.",
        counted(choose.factors.len(), "number"),
        parts.join("; ")
    );
    if let Some(k) = choose.recommended {
        let _ = write!(description, " Recommended: {k}.");
    }
    Ok(Picture::new(
        format!("{title} by number of factors"),
        description,
        PANEL,
        HEIGHT,
        canvas.into_body(),
    ))
}
