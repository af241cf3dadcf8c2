//! The largest weights of a factor in a view.

use crate::ReportError;
use crate::input::ViewWeights;
use crate::input::check_factor;
use crate::svg::axis::{Axis, Frame, nothing, panel_title, x_axis};
use crate::svg::canvas::{Anchor, Canvas, Path, TEXT};
use crate::svg::marker::{Marker, points};
use crate::svg::number::{count, drawable, significant};
use crate::svg::picture::{PANEL, Picture};
use crate::svg::scale::{Extent, Linear, TickKind};
use crate::svg::text::Labels;

/// Indexes of the features with the largest absolute weights on `factor`, at most `top`; ties in the
/// order of the features. Weights that are not numbers never lead.
pub(crate) fn leading_features(weights: &ViewWeights, factor: usize, top: usize) -> Vec<usize> {
    let column = weights.means.column(factor);
    let mut order: Vec<usize> = (0..column.len()).filter(|&d| drawable(column[d])).collect();
    order.sort_by(|&a, &b| column[b].abs().total_cmp(&column[a].abs()).then(a.cmp(&b)));
    order.truncate(top);
    order
}

/// Draws the `top` largest weights of a factor in one view, largest first, with intervals of ±2
/// posterior standard deviations where given. Blue dots are positive, orange triangles negative.
///
/// # Errors
/// When names and tables differ in length; [`ReportError::NoSuchFactor`].
pub fn draw_top_weights(
    weights: &ViewWeights,
    factor: usize,
    factor_name: &str,
    top: usize,
) -> Result<Picture, ReportError> {
    const ROW: f64 = 17.0;
    weights.validate()?;
    check_factor(factor, weights.means.columns())?;
    let leaders = leading_features(weights, factor, top);
    let column = weights.means.column(factor);
    let sds = weights.sds.as_ref().map(|s| s.column(factor));
    let sd = |d: usize| {
        sds.as_ref()
            .map_or(0.0, |s| if drawable(s[d]) { s[d] } else { 0.0 })
    };

    let mut canvas = Canvas::new();
    let from = panel_title(&mut canvas, &weights.view, PANEL);
    let features: Vec<String> = leaders
        .iter()
        .map(|&d| weights.features[d].clone())
        .collect();
    let labels = Labels::fit(&features, TEXT, 138.0);
    let left = labels.widest().max(40.0) + 12.0;
    let frame = Frame {
        left,
        top: from,
        right: PANEL - 10.0,
        bottom: from + ROW * leaders.len().max(2) as f64,
    };
    let ends = leaders
        .iter()
        .flat_map(|&d| [column[d] - 2.0 * sd(d), column[d], column[d] + 2.0 * sd(d)]);
    let extent = Extent::of(ends)
        .unwrap_or_else(Extent::unit)
        .including(0.0)
        .padded(0.04);
    let x = Linear::new(extent, frame.left, frame.right);
    if leaders.is_empty() {
        nothing(&mut canvas, &frame, "no weights");
    }
    let mut guides = Path::new();
    let mut intervals = [Path::new(), Path::new()];
    let mut dots: [Vec<(f64, f64)>; 2] = [Vec::new(), Vec::new()];
    for (row, &d) in leaders.iter().enumerate() {
        let y = frame.top + ROW * (row as f64 + 0.5);
        canvas.name("", left - 7.0, y + 3.8, Anchor::End, &labels, row);
        guides.move_to(frame.left, y);
        guides.line_to(frame.right, y);
        let side = usize::from(column[d] < 0.0);
        if sd(d) > 0.0 {
            intervals[side].move_to(x.at(column[d] - 2.0 * sd(d)), y);
            intervals[side].line_to(x.at(column[d] + 2.0 * sd(d)), y);
        }
        dots[side].push((x.at(column[d]), y));
    }
    canvas.path("g", &guides);
    canvas.line("z", x.at(0.0), frame.top, x.at(0.0), frame.bottom);
    for (side, (marker, colour)) in [(Marker::Dot, "c0"), (Marker::Triangle, "c1")]
        .into_iter()
        .enumerate()
    {
        canvas.path(&format!("l {colour}"), &intervals[side]);
        points(&mut canvas, marker, colour, dots[side].iter().copied());
    }
    let axis_title = if sds.is_some() {
        "weight ±2 sd"
    } else {
        "weight"
    };
    let axis = Axis {
        title: axis_title,
        extent,
        kind: TickKind::Any,
    };
    x_axis(&mut canvas, &frame, &x, &axis);

    let first: Vec<String> = leaders
        .iter()
        .take(5)
        .map(|&d| format!("{} {}", weights.features[d], significant(column[d], 2)))
        .collect();
    let description = format!(
        "Dot plot of the {} largest of {} weights of {factor_name} in {}: {}.",
        count(leaders.len()),
        count(column.len()),
        weights.view,
        if first.is_empty() {
            "none".to_owned()
        } else {
            first.join(", ")
        }
    );
    let title = format!("{factor_name}: largest weights in {}", weights.view);
    Ok(Picture::new(
        title,
        description,
        PANEL,
        frame.bottom + 38.0,
        canvas.into_body(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Grid;

    #[test]
    fn leaders_are_sorted_by_size_and_skip_what_is_no_number() {
        let weights = ViewWeights {
            view: "a".into(),
            features: (0..5).map(|d| format!("f{d}")).collect(),
            means: Grid::new(5, 1, vec![0.1, -2.0, f64::NAN, 1.0, -1.0]).expect("shape"),
            sds: None,
        };
        assert_eq!(leading_features(&weights, 0, 3), [1, 3, 4]);
        assert_eq!(leading_features(&weights, 0, 99).len(), 4);
    }
}
