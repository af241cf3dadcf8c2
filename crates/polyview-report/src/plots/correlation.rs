//! Correlations between factors.

use super::heat::{Cell, Heat, heat};
use crate::ReportError;
use crate::input::{Grid, shape};
use crate::stats;
use crate::svg::axis::panel_title;
use crate::svg::canvas::Canvas;
use crate::svg::legend::{Bar, colour_bar};
use crate::svg::number::{drawable, fixed};
use crate::svg::palette::diverging;
use crate::svg::picture::{PANEL, Picture};
use crate::svg::scale::Extent;

/// Pearson correlations between the columns of a table; `NaN` where not defined.
pub(crate) fn correlations_of(table: &Grid) -> Grid {
    let columns: Vec<Vec<f64>> = (0..table.columns()).map(|k| table.column(k)).collect();
    let k = columns.len();
    let mut values = vec![f64::NAN; k * k];
    for i in 0..k {
        values[i * k + i] = 1.0;
        for j in 0..i {
            let r = stats::correlation(&columns[i], &columns[j]).map_or(f64::NAN, |(r, _)| r);
            values[i * k + j] = r;
            values[j * k + i] = r;
        }
    }
    Grid::from_fn(k, k, |i, j| values[i * k + j])
}

/// Draws correlations between factors as a triangle: blue positive, orange negative, white none. The
/// scale always runs from −1 to 1.
///
/// # Errors
/// When the table is not square with a row per name.
pub fn draw_correlations(names: &[String], correlations: &Grid) -> Result<Picture, ReportError> {
    shape(
        "factor correlations",
        "",
        correlations,
        names.len(),
        names.len(),
    )?;
    let cell = |i: usize, j: usize| {
        (j < i).then(|| {
            let r = correlations.at(i, j);
            Cell {
                colour: drawable(r).then(|| diverging(r)),
                // no room for the zero that every correlation begins with
                text: fixed(r, 2).replacen("0.", ".", 1),
                tip: format!("{}, {}: {}", names[i], names[j], fixed(r, 3)),
            }
        })
    };
    // the triangle below the diagonal has no first row and no last column
    let rows: Vec<String> = names.to_vec();
    let mut canvas = Canvas::new();
    let title = "Correlations between factors";
    let top = panel_title(&mut canvas, title, PANEL) - 8.0;
    let shown_columns = &names[..names.len().saturating_sub(1)];
    let side = if names.len() > 1 {
        (262.0 / (names.len() - 1) as f64).clamp(6.0, 30.0)
    } else {
        30.0
    };
    let below_first = |i: usize, j: usize| cell(i + 1, j);
    let table = Heat {
        rows: rows.get(1..).unwrap_or(&[]),
        columns: shown_columns,
        row_title: "factor",
        column_title: "factor",
        cell: &below_first,
        narrowest: 6.0,
        height: side.max(6.0),
        gap_before: None,
    };
    let drawn = heat(&mut canvas, top, &table);
    let extent = Extent { lo: -1.0, hi: 1.0 };
    let bar = Bar::Smooth(&|t| diverging(2.0 * t - 1.0));
    let taken = colour_bar(
        &mut canvas,
        drawn.left,
        drawn.bottom + 10.0,
        150.0,
        extent,
        "correlation",
        &bar,
    );
    let mut pairs: Vec<(f64, usize, usize)> = (0..names.len())
        .flat_map(|i| (0..i).map(move |j| (i, j)))
        .map(|(i, j)| (correlations.at(i, j), j, i))
        .filter(|p| drawable(p.0))
        .collect();
    pairs.sort_by(|a, b| b.0.abs().total_cmp(&a.0.abs()));
    let largest: Vec<String> = pairs
        .iter()
        .take(3)
        .map(|(r, i, j)| format!("{} and {} {}", names[*i], names[*j], fixed(*r, 2)))
        .collect();
    let description = if largest.is_empty() {
        "There is no pair of factors to compare.".to_owned()
    } else {
        format!(
            "Triangle of correlations between factors. Largest: {}.",
            largest.join(", ")
        )
    };
    Ok(Picture::new(
        title.to_owned(),
        description,
        drawn.width,
        drawn.bottom + 10.0 + taken + 2.0,
        canvas.into_body(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn correlations_are_symmetric_with_a_unit_diagonal() {
        let table = Grid::from_fn(6, 3, |i, j| ((i * (j + 2)) % 5) as f64);
        let r = correlations_of(&table);
        for i in 0..3 {
            assert_eq!(r.at(i, i), 1.0);
            for j in 0..3 {
                assert_eq!(r.at(i, j), r.at(j, i));
            }
        }
    }
}
