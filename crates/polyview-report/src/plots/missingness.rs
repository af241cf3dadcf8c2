//! Which share of each view was observed in which sample.

use crate::ReportError;
use crate::input::Coverage;
use crate::svg::axis::{Axis, Frame, panel_title, x_axis};
use crate::svg::canvas::{Anchor, Canvas, Path, TEXT};
use crate::svg::legend::{Bar, colour_bar};
use crate::svg::number::{count, percent};
use crate::svg::palette::cividis;
use crate::svg::picture::{PANEL, Picture};
use crate::svg::scale::{Extent, Linear, TickKind};
use crate::svg::text::Labels;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Samples beyond which neighbours are averaged.
const FINEST: usize = 400;
/// Columns after averaging.
const BINS: usize = 200;

/// Draws the share of observed features, samples along the horizontal axis and a row per view.
/// Samples are sorted so that those with the same views stand together; above 400 samples
/// neighbours are averaged.
///
/// # Errors
/// When names and table differ in length or a share lies outside 0 to 1.
pub fn draw_missingness(coverage: &Coverage) -> Result<Picture, ReportError> {
    const ROW: f64 = 24.0;
    coverage.validate()?;
    let samples = coverage.observed.rows();
    let columns = averaged(coverage);
    let mut canvas = Canvas::new();
    let title = "Share of each view observed";
    let top = panel_title(&mut canvas, title, PANEL);
    let labels = Labels::fit(&coverage.views, TEXT, 104.0);
    let left = labels.widest() + 10.0;
    let frame = Frame {
        left,
        top,
        right: PANEL - 10.0,
        bottom: top + ROW * coverage.views.len() as f64,
    };
    let x = Linear::new(
        Extent {
            lo: 0.0,
            hi: samples.max(1) as f64,
        },
        frame.left,
        frame.right,
    );

    let mut cells = vec![Path::new(); LEVELS + 1];
    for m in 0..labels.len() {
        let y = top + ROW * m as f64;
        canvas.name("", left - 6.0, y + ROW / 2.0 + 3.8, Anchor::End, &labels, m);
        canvas.rect(
            "o",
            frame.left,
            y + 1.0,
            frame.right - frame.left,
            ROW - 3.0,
        );
        let mut start = 0;
        while start < columns.len() {
            let level = shade(columns[start].share[m]);
            let run = columns[start..]
                .iter()
                .take_while(|c| shade(c.share[m]) == level)
                .count();
            if let Some(level) = level {
                let from = x.at(columns[start].from as f64);
                let to = x.at(columns[start + run - 1].to as f64);
                cells[level].block(from, y + 1.0, to - from, ROW - 3.0);
            }
            start += run;
        }
    }
    for (level, path) in cells.iter().enumerate() {
        canvas.shape(cividis(1.0 - level as f64 / LEVELS as f64), path);
    }
    let axis = Axis {
        title: "samples, those with the same views together",
        extent: x.domain(),
        kind: TickKind::Whole,
    };
    x_axis(&mut canvas, &frame, &x, &axis);
    let below = frame.bottom + 44.0;
    let extent = Extent { lo: 0.0, hi: 100.0 };
    let bar = colour_bar(
        &mut canvas,
        left,
        below,
        150.0,
        extent,
        "features observed (%), blank: none",
        &Bar::Smooth(&|t| cividis(1.0 - t)),
    );
    let description = describe(coverage);
    Ok(Picture::new(
        title.to_owned(),
        description,
        PANEL,
        below + bar + 2.0,
        canvas.into_body(),
    ))
}

/// Shades that a share is rounded to, so that equal neighbours become one rectangle.
const LEVELS: usize = 40;

fn shade(share: f64) -> Option<usize> {
    // a trace of data must not look like none
    (share > 0.0).then(|| ((share * LEVELS as f64).round() as usize).clamp(1, LEVELS))
}

/// Samples with the same views (most views first), each by how much was observed.
fn patterns(coverage: &Coverage) -> Vec<Vec<usize>> {
    let observed = &coverage.observed;
    let mut groups: BTreeMap<Reverse<Vec<bool>>, Vec<usize>> = BTreeMap::new();
    for i in 0..observed.rows() {
        let has = observed.row(i).iter().map(|&v| v > 0.0).collect();
        groups.entry(Reverse(has)).or_default().push(i);
    }
    let total = |i: usize| observed.row(i).iter().sum::<f64>();
    let mut out: Vec<Vec<usize>> = groups.into_values().collect();
    for group in &mut out {
        group.sort_by(|&a, &b| total(b).total_cmp(&total(a)).then(a.cmp(&b)));
    }
    out
}

struct Column {
    from: usize,
    to: usize,
    share: Vec<f64>,
}

/// Columns of the picture: single samples, or averages over neighbours that have the same views.
fn averaged(coverage: &Coverage) -> Vec<Column> {
    let n = coverage.observed.rows();
    let size = if n > FINEST { n.div_ceil(BINS) } else { 1 };
    let mut groups = patterns(coverage);
    if groups.len() > FINEST {
        // nearly every sample has a pattern of its own: averages have to mix them
        groups = vec![groups.concat()];
    }
    let mut from = 0;
    let mut out = Vec::new();
    for group in groups {
        for members in group.chunks(size) {
            let mean = |m: usize| {
                members
                    .iter()
                    .map(|&i| coverage.observed.at(i, m))
                    .sum::<f64>()
                    / members.len() as f64
            };
            let share = (0..coverage.views.len()).map(mean).collect();
            out.push(Column {
                from,
                to: from + members.len(),
                share,
            });
            from += members.len();
        }
    }
    out
}

fn describe(coverage: &Coverage) -> String {
    let n = coverage.observed.rows();
    if n == 0 {
        return "There are no samples.".to_owned();
    }
    let parts: Vec<String> = coverage
        .views
        .iter()
        .enumerate()
        .map(|(m, view)| {
            let column = coverage.observed.column(m);
            let have = column.iter().filter(|&&v| v > 0.0).count();
            let share = column.iter().sum::<f64>() / n as f64;
            format!(
                "{view}: {} of {} samples have it, {} of all its cells observed",
                count(have),
                count(n),
                percent(share)
            )
        })
        .collect();
    format!(
        "One row per view, samples from left to right. {}.",
        parts.join("; ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Grid;

    #[test]
    fn averages_never_mix_samples_with_different_views() {
        let n = 1003;
        let observed = Grid::from_fn(n, 2, |i, m| {
            if (i + m) % 3 == 0 {
                0.0
            } else {
                1.0 - 0.1 * (i % 4) as f64
            }
        });
        let coverage = Coverage {
            views: vec!["a".into(), "b".into()],
            observed,
        };
        let columns = averaged(&coverage);
        assert!(columns.len() <= BINS + 4);
        assert_eq!(columns.last().map(|c| c.to), Some(n));
        assert!(
            columns
                .iter()
                .all(|c| c.share.iter().all(|&s| s == 0.0 || s >= 0.69))
        );
        let sum: f64 = columns
            .iter()
            .map(|c| c.share[0] * (c.to - c.from) as f64)
            .sum();
        assert!((sum - coverage.observed.column(0).iter().sum::<f64>()).abs() < 1e-9);
    }
}
