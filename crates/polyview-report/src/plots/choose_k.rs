//! Scores against the number of factors.

use crate::svg::axis::{Axis, PlaneSpec, nothing, plane};
use crate::svg::canvas::{Anchor, Canvas, Path};
use crate::svg::marker::{Marker, points};
use crate::svg::number::{counted, drawable, significant};
use crate::svg::picture::{PANEL, Picture};
use crate::svg::scale::{Extent, TickKind};
use polyview::{ChooseK, ChooseKRow};

/// Which curve of a search for the number of factors is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Curve {
    /// The log density of hidden cells that decides, with ± one standard error.
    Score,
    /// Bound.
    Bound,
    /// Stability between repeats.
    Stability,
}

impl Curve {
    /// Its values, one for each number of factors.
    fn values(self, found: &ChooseK) -> Vec<f64> {
        let value: fn(&ChooseKRow) -> f64 = match self {
            Self::Score => |r| r.robust_density,
            Self::Bound => |r| r.bound,
            Self::Stability => |r| r.stability,
        };
        found.rows.iter().map(value).collect()
    }

    /// Whether there is a value for any number of factors.
    pub(crate) fn is_known(self, found: &ChooseK) -> bool {
        self.values(found).iter().any(|v| !v.is_nan())
    }

    fn titles(self) -> (&'static str, &'static str) {
        match self {
            Self::Score => ("Held-out score", SCORE),
            Self::Bound => ("Bound", "bound (nats)"),
            Self::Stability => ("Stability", "mean |cosine| of matched weights"),
        }
    }
}

/// What decides, with its unit.
pub(crate) const SCORE: &str = "log density per hidden cell (nats)";

/// Draws one curve against the number of factors, with the recommended number marked. Values that are
/// not known are left out.
pub fn draw_choose_k(found: &ChooseK, curve: Curve) -> Picture {
    const HEIGHT: f64 = 240.0;
    let values = curve.values(found);
    let (title, y_title) = curve.titles();
    let error = |i: usize| {
        let se = found.rows[i].robust_density_se;
        let known = curve == Curve::Score && drawable(se);
        if known { se } else { 0.0 }
    };
    let factors = |i: usize| found.rows[i].factors;
    let known: Vec<usize> = (0..values.len()).filter(|&i| drawable(values[i])).collect();
    let ends = known
        .iter()
        .flat_map(|&i| [values[i] - error(i), values[i] + error(i)]);
    let y_data = Extent::of(ends);
    let tried = found.rows.iter().map(|r| r.factors as f64);
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
    let recommended = found.recommended;
    let x = axes.x.at(recommended as f64);
    canvas.line("z", x, frame.top, x, frame.bottom);
    let (anchor, at) = if x > f64::midpoint(frame.left, frame.right) {
        (Anchor::End, x - 5.0)
    } else {
        (Anchor::Start, x + 5.0)
    };
    let label = format!("recommended: {recommended}");
    canvas.text("m", at, frame.top - 4.0, anchor, &label);
    let mut line = Path::new();
    let mut whiskers = Path::new();
    for &i in &known {
        let x = axes.x.at(factors(i) as f64);
        line.line_to(x, axes.y.at(values[i]));
        if error(i) > 0.0 {
            whiskers.move_to(x, axes.y.at(values[i] - error(i)));
            whiskers.line_to(x, axes.y.at(values[i] + error(i)));
        }
    }
    canvas.path("l c0", &line);
    canvas.path("l c0", &whiskers);
    let (chosen, others): (Vec<usize>, Vec<usize>) =
        known.iter().partition(|&&i| factors(i) == recommended);
    let at = |i: &usize| (axes.x.at(factors(*i) as f64), axes.y.at(values[*i]));
    points(&mut canvas, Marker::Dot, "c0", others.iter().map(at));
    points(&mut canvas, Marker::Diamond, "c1", chosen.iter().map(at));

    let parts: Vec<String> = known
        .iter()
        .map(|&i| format!("{}: {}", factors(i), significant(values[i], 4)))
        .collect();
    let description = format!(
        "{title} against the number of factors, {} tried. {}. Recommended: {recommended}.",
        counted(found.rows.len(), "number"),
        parts.join("; ")
    );
    Picture::new(
        format!("{title} by number of factors"),
        description,
        PANEL,
        HEIGHT,
        canvas.into_body(),
    )
}
