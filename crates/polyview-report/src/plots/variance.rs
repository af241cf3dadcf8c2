//! Variance explained by view and factor.

use super::heat::{Cell, Heat, heat};
use crate::ReportError;
use crate::input::{Grid, VarianceExplained};
use crate::svg::axis::{Axis, Frame, panel_title, x_axis};
use crate::svg::canvas::{Anchor, Canvas, TEXT};
use crate::svg::legend::{Bar, Entry, Sample, colour_bar, key};
use crate::svg::number::{drawable, fixed, percent};
use crate::svg::palette::{Rgb, diverging};
use crate::svg::picture::{PANEL, Picture};
use crate::svg::scale::{Extent, Linear, TickKind};
use crate::svg::text::Labels;

/// Which share of the variance is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    /// What the factor explains alone.
    Marginal,
    /// What is lost when only this factor is left out.
    Unique,
}

/// Draws a table of factors (rows) and views (columns), coloured by the share of the view's variance
/// that the factor explains; numbers in per cent. Negative shares are orange, positive ones blue.
/// For [`Share::Marginal`] a last row gives what all factors explain together, without covariates and offsets.
///
/// # Errors
/// When names and tables differ in length; [`ReportError::Absent`] when unique shares are asked for
/// and were not given.
pub fn draw_variance(variance: &VarianceExplained, share: Share) -> Result<Picture, ReportError> {
    variance.validate()?;
    let (grid, title) = match share {
        Share::Marginal => (&variance.marginal, "Each factor alone"),
        Share::Unique => {
            let unique = variance.unique.as_ref().ok_or(ReportError::Absent {
                what: "unique shares",
            })?;
            (unique, "Lost without the factor")
        }
    };
    let extent = Extent::of(grid.values().iter().copied()).unwrap_or_else(Extent::unit);
    let largest = extent.lo.abs().max(extent.hi.abs()).max(1e-12);
    let colour = |v: f64| drawable(v).then(|| diverging(v / largest));

    let together = share == Share::Marginal && !variance.factors.is_empty();
    let mut rows = variance.factors.clone();
    if together {
        rows.push("all factors".to_owned());
    }
    let last = variance.factors.len();
    let cell = |i: usize, j: usize| {
        let (factor, view) = (&rows[i], &variance.views[j]);
        let value = if i == last {
            variance.joint[j]
        } else {
            grid.at(j, i)
        };
        Some(Cell {
            colour: if i == last { None } else { colour(value) },
            text: if value.is_nan() {
                "–".to_owned()
            } else {
                fixed(value * 100.0, 1)
            },
            tip: format!("{factor}, {view}: {}", percent(value)),
        })
    };
    let mut canvas = Canvas::new();
    let top = panel_title(&mut canvas, title, PANEL) - 8.0;
    let table = Heat {
        rows: &rows,
        columns: &variance.views,
        row_title: "factor",
        column_title: "view",
        cell: &cell,
        narrowest: 38.0,
        height: 21.0,
        gap_before: together.then_some(last),
    };
    let drawn = heat(&mut canvas, top, &table);
    let (lo, hi) = (
        extent.lo.min(0.0),
        extent.hi.max(0.0).max(extent.lo.min(0.0) + 1e-12),
    );
    let smooth = |t: f64| -> Rgb { diverging((lo + t * (hi - lo)) / largest) };
    let scale = Extent {
        lo: lo * 100.0,
        hi: hi * 100.0,
    };
    let bar = Bar::Smooth(&smooth);
    let taken = colour_bar(
        &mut canvas,
        drawn.left,
        drawn.bottom + 10.0,
        150.0,
        scale,
        "variance explained (%)",
        &bar,
    );
    let description = describe(variance, grid, share);
    let name = format!(
        "Variance explained: {}",
        if share == Share::Marginal {
            "each factor alone"
        } else {
            "lost without the factor"
        }
    );
    Ok(Picture::new(
        name,
        description,
        drawn.width,
        drawn.bottom + 10.0 + taken + 2.0,
        canvas.into_body(),
    ))
}

/// Draws for every view three bars: the share that all factors explain together, the sum of what each
/// explains alone, and (where given) the sum of what would be lost without each. Negative sums
/// extend to the left of zero.
///
/// # Errors
/// When names and tables differ in length.
pub fn draw_variance_by_view(variance: &VarianceExplained) -> Result<Picture, ReportError> {
    const BAR: f64 = 10.0;
    variance.validate()?;
    let sum = |grid: &Grid, m: usize| -> f64 {
        let finite: Vec<f64> = grid
            .row(m)
            .iter()
            .copied()
            .filter(|v| drawable(*v))
            .collect();
        if finite.is_empty() {
            f64::NAN
        } else {
            finite.iter().sum()
        }
    };
    let mut series: Vec<(&str, &str, Vec<f64>)> = vec![
        ("all factors together", "c0", variance.joint.clone()),
        (
            "sum of factors alone",
            "c5",
            (0..variance.views.len())
                .map(|m| sum(&variance.marginal, m))
                .collect(),
        ),
    ];
    if let Some(unique) = &variance.unique {
        series.push((
            "sum of unique parts",
            "c4",
            (0..variance.views.len()).map(|m| sum(unique, m)).collect(),
        ));
    }
    let group = BAR * series.len() as f64 + 12.0;
    let mut canvas = Canvas::new();
    let title = "By view";
    let top = panel_title(&mut canvas, title, PANEL);
    let labels = Labels::fit(&variance.views, TEXT, 104.0);
    let left = labels.widest() + 12.0;
    let frame = Frame {
        left,
        top,
        right: PANEL - 44.0,
        bottom: top + group * variance.views.len().max(1) as f64,
    };
    let values = series.iter().flat_map(|s| s.2.iter().map(|v| v * 100.0));
    let extent = Extent::of(values)
        .unwrap_or_else(Extent::unit)
        .including(0.0);
    let x = Linear::new(extent, frame.left, frame.right);
    let zero = x.at(0.0);
    for m in 0..labels.len() {
        let y = top + group * m as f64 + 6.0;
        let middle = y + BAR * series.len() as f64 / 2.0;
        canvas.name("", left - 7.0, middle + 3.8, Anchor::End, &labels, m);
        for (s, (_, colour, values)) in series.iter().enumerate() {
            let y = y + BAR * s as f64;
            let at = x.at(values[m] * 100.0);
            if drawable(values[m] * 100.0) {
                canvas.rect(
                    &format!("f {colour}"),
                    zero.min(at),
                    y,
                    (at - zero).abs(),
                    BAR - 1.5,
                );
            }
            let label = if values[m].is_nan() {
                "–".to_owned()
            } else {
                fixed(values[m] * 100.0, 1)
            };
            let right = if drawable(values[m] * 100.0) {
                at.max(zero)
            } else {
                zero
            };
            canvas.text("m s t", right + 4.0, y + 8.0, Anchor::Start, &label);
        }
    }
    canvas.line("ax", zero, frame.top, zero, frame.bottom);
    let axis = Axis {
        title: "variance explained (%)",
        extent: x.domain(),
        kind: TickKind::Any,
    };
    x_axis(&mut canvas, &frame, &x, &axis);
    let entries: Vec<Entry> = series
        .iter()
        .map(|(label, colour, _)| Entry {
            sample: Sample::Patch,
            colour: (*colour).to_owned(),
            label: (*label).to_owned(),
        })
        .collect();
    let below = frame.bottom + 44.0;
    let legend = key(&mut canvas, 4.0, below, PANEL - 8.0, &entries);
    let parts: Vec<String> = variance
        .views
        .iter()
        .zip(&variance.joint)
        .map(|(view, &joint)| format!("{view} {}", percent(joint)))
        .collect();
    let description = format!(
        "Bars per view. All factors together explain: {}.",
        parts.join(", ")
    );
    Ok(Picture::new(
        "Variance explained by view".to_owned(),
        description,
        PANEL,
        below + legend,
        canvas.into_body(),
    ))
}

fn describe(variance: &VarianceExplained, grid: &Grid, share: Share) -> String {
    let mut cells: Vec<(f64, &str, &str)> = Vec::new();
    for (m, view) in variance.views.iter().enumerate() {
        for (k, factor) in variance.factors.iter().enumerate() {
            let v = grid.at(m, k);
            if drawable(v) {
                cells.push((v, factor, view));
            }
        }
    }
    if cells.is_empty() {
        return "There is nothing to show.".to_owned();
    }
    cells.sort_by(|a, b| b.0.total_cmp(&a.0));
    let top: Vec<String> = cells
        .iter()
        .take(4)
        .map(|(v, f, w)| format!("{f} in {w} {}", percent(*v)))
        .collect();
    let negative = cells.iter().filter(|c| c.0 < 0.0).count();
    let what = match share {
        Share::Marginal => "explained by each factor alone",
        Share::Unique => "lost without each factor",
    };
    format!(
        "Coloured table of factors and views: variance {what}. Largest: {}. Cells below zero: {negative}.",
        top.join(", ")
    )
}
