//! Coloured tables.

use crate::svg::canvas::{Anchor, Canvas, SMALL, TEXT};
use crate::svg::palette::Rgb;
use crate::svg::picture::PANEL;
use crate::svg::text::{Labels, width};

/// What one cell of a coloured table looks like.
pub(crate) struct Cell {
    /// Colour; `None` leaves a pale cell for what is not available.
    pub colour: Option<Rgb>,
    /// Text inside; may be empty.
    pub text: String,
    /// Whole statement for the tooltip.
    pub tip: String,
}

/// A coloured table with labelled rows and columns.
pub(crate) struct Heat<'a> {
    pub rows: &'a [String],
    pub columns: &'a [String],
    /// What the rows and the columns are.
    pub row_title: &'a str,
    pub column_title: &'a str,
    /// The cell; `None` draws nothing there.
    pub cell: &'a dyn Fn(usize, usize) -> Option<Cell>,
    /// Narrowest cell in pixels: a picture with many columns grows wider than a panel.
    pub narrowest: f64,
    /// Height of a cell in pixels.
    pub height: f64,
    /// A gap before this row.
    pub gap_before: Option<usize>,
}

/// Where a coloured table ended.
pub(crate) struct Drawn {
    pub width: f64,
    pub bottom: f64,
    /// Left end of the cells.
    pub left: f64,
}

/// Draws the table from `top` down.
pub(crate) fn heat(canvas: &mut Canvas, top: f64, heat: &Heat<'_>) -> Drawn {
    const GAP: f64 = 5.0;
    const LONGEST: f64 = 104.0;
    let rows = Labels::fit(heat.rows, TEXT, LONGEST);
    let heads = Labels::fit(heat.columns, TEXT, LONGEST);
    let left = rows.widest().max(24.0) + 8.0 + 16.0;
    let columns = heat.columns.len().max(1) as f64;
    let cell = ((PANEL - left - 4.0) / columns).clamp(heat.narrowest, 76.0);

    let longest = heads.widest();
    let upright = longest <= cell - 4.0;
    let header = if upright { 18.0 } else { longest * 0.72 + 14.0 };
    let overhang = if upright {
        0.0
    } else {
        (longest * 0.72 - cell / 2.0 + 8.0).max(0.0)
    };
    let grid_top = top + 14.0 + header;
    let full = (left + columns * cell + 4.0)
        .max(left + columns * cell + overhang)
        .max(PANEL);

    canvas.label(
        "m",
        left,
        top + 10.0,
        Anchor::Start,
        heat.column_title,
        full - left,
    );
    let every_column = (9.0 / cell).ceil().max(1.0) as usize;
    for j in (0..heads.len()).step_by(every_column) {
        let middle = left + (j as f64 + 0.5) * cell;
        if upright {
            canvas.name("", middle, grid_top - 6.0, Anchor::Middle, &heads, j);
        } else {
            canvas.slanted_name(middle + 3.0, grid_top - 6.0, &heads, j);
        }
    }

    let cells: Vec<Vec<Option<Cell>>> = (0..rows.len())
        .map(|i| (0..heads.len()).map(|j| (heat.cell)(i, j)).collect())
        .collect();
    let (text_class, text_size) = text_that_fits(&cells, cell - 2.0);

    let gap = |i: usize| {
        if heat.gap_before.is_some_and(|g| i >= g) {
            GAP
        } else {
            0.0
        }
    };
    let every_row = (11.0 / heat.height).ceil().max(1.0) as usize;
    for i in 0..rows.len() {
        let y = grid_top + i as f64 * heat.height + gap(i);
        if i.is_multiple_of(every_row) {
            canvas.name(
                "",
                left - 6.0,
                y + heat.height / 2.0 + 3.8,
                Anchor::End,
                &rows,
                i,
            );
        }
        for (j, look) in cells[i].iter().enumerate() {
            let Some(look) = look else { continue };
            let x = left + j as f64 * cell;
            let inset = if cell > 12.0 { 1.0 } else { 0.0 };
            match look.colour {
                Some(colour) => {
                    canvas.cell(
                        colour,
                        x,
                        y,
                        cell - inset,
                        heat.height - inset,
                        (cell > 14.0).then_some(look.tip.as_str()),
                    );
                }
                None => canvas.rect("o", x, y, cell - inset, heat.height - inset),
            }
            if width(&look.text, text_size) <= cell - 2.0 {
                let ink = look.colour.map_or("", Rgb::text_class);
                let middle = x + (cell - inset) / 2.0;
                let baseline = y + heat.height / 2.0 + 3.6;
                let class = format!("{text_class}{ink}");
                canvas.text(
                    class.trim_end(),
                    middle,
                    baseline,
                    Anchor::Middle,
                    &look.text,
                );
            }
        }
    }
    let bottom =
        grid_top + heat.rows.len() as f64 * heat.height + gap(heat.rows.len().saturating_sub(1));
    if !heat.rows.is_empty() {
        let middle = f64::midpoint(grid_top, bottom);
        canvas.turned(
            "m",
            11.0,
            middle,
            Anchor::Middle,
            -90.0,
            heat.row_title,
            (bottom - grid_top).max(60.0),
        );
    }
    Drawn {
        width: full,
        bottom,
        left,
    }
}

/// Class and size of the numbers in the cells: the ordinary size, the small one when some would not
/// fit, and a size at which none fits when some would not fit even then: all or none are shown, but for
/// freaks far wider than the others.
fn text_that_fits(cells: &[Vec<Option<Cell>>], room: f64) -> (&'static str, f64) {
    let mut widths: Vec<f64> = cells
        .iter()
        .flatten()
        .flatten()
        .map(|c| width(&c.text, 1.0))
        .collect();
    widths.sort_by(f64::total_cmp);
    let typical = widths.get(widths.len() / 2).copied().unwrap_or(0.0);
    let widest = widths
        .into_iter()
        .filter(|w| *w <= 2.5 * typical)
        .fold(0.0, f64::max);
    if widest * TEXT <= room {
        ("t ", TEXT)
    } else if widest * SMALL <= room {
        ("s t ", SMALL)
    } else {
        ("t ", f64::INFINITY)
    }
}
