//! How strongly factors act in groups of samples.

use super::heat::{Cell, Heat, heat};
use crate::ReportError;
use crate::input::GroupFactors;
use crate::svg::canvas::Canvas;
use crate::svg::number::{drawable, fixed};
use crate::svg::palette::diverging;
use crate::svg::picture::{PANEL, Picture};
use std::fmt::Write as _;

/// Draws a table of factors (rows) and groups of samples (columns), coloured by the mean square of the
/// factor in the group relative to its largest over the groups.
///
/// # Errors
/// When names and tables differ in length.
pub fn draw_group_activity(groups: &GroupFactors) -> Result<Picture, ReportError> {
    groups.validate()?;
    let cell = |k: usize, g: usize| {
        let value = groups.activity.at(g, k);
        let (factor, group) = (&groups.factors[k], &groups.groups[g]);
        let known = drawable(value);
        Some(Cell {
            colour: known.then(|| diverging(value.clamp(0.0, 1.0))),
            text: if known {
                fixed(value, 2)
            } else {
                "–".to_owned()
            },
            tip: format!(
                "{factor}, {group}: {} of its largest mean square",
                fixed(value, 3)
            ),
        })
    };
    let mut canvas = Canvas::new();
    let title = "Activity by group";
    let top = crate::svg::axis::panel_title(&mut canvas, title, PANEL) - 8.0;
    let table = Heat {
        rows: &groups.factors,
        columns: &groups.groups,
        row_title: "factor",
        column_title: "group",
        cell: &cell,
        narrowest: 38.0,
        height: 21.0,
        gap_before: None,
    };
    let drawn = heat(&mut canvas, top, &table);
    let mut description = String::from("Mean square of each factor, relative to its largest:");
    for (k, factor) in groups.factors.iter().enumerate() {
        for (g, group) in groups.groups.iter().enumerate() {
            let value = fixed(groups.activity.at(g, k), 2);
            let _ = write!(description, " {factor} in {group} {value};");
        }
    }
    Ok(Picture::new(
        title.to_owned(),
        description,
        drawn.width,
        drawn.bottom + 4.0,
        canvas.into_body(),
    ))
}
