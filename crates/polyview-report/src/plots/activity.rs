//! Which factors are shared between views and which belong to one.

use polyview::Activity;

use super::common::listed;
use crate::ReportError;
use crate::input::VarianceExplained;
use crate::svg::axis::panel_title;
use crate::svg::canvas::{Anchor, Canvas, TEXT};
use crate::svg::marker::{Marker, points};
use crate::svg::number::percent;
use crate::svg::picture::{PANEL, Picture};
use crate::svg::text::Labels;

/// How far a factor reaches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Active in no view.
    None,
    /// Active in one view (its index) of several.
    Private(usize),
    /// Active in several views, but not all.
    Shared(Vec<usize>),
    /// Active in every view.
    All,
}

/// The reach of factor `k`: by the share that it explains alone or that is lost without it, as shown (at
/// least `active_share`).
pub(crate) fn reach_of(variance: &VarianceExplained, k: usize, active_share: f64) -> Reach {
    let active: Vec<usize> = (0..variance.views.len())
        .filter(|&m| {
            let lost = variance.unique.as_ref().map(|unique| unique.at(m, k));
            Activity::acts(variance.marginal.at(m, k), lost, active_share)
        })
        .collect();
    match active.as_slice() {
        [] => Reach::None,
        all if all.len() == variance.views.len() => Reach::All,
        [one] => Reach::Private(*one),
        _ => Reach::Shared(active),
    }
}

/// What makes a factor active in a view, after "where".
pub(crate) fn rule_of(variance: &VarianceExplained, active_share: f64) -> String {
    let share = percent(active_share);
    let lost = if variance.unique.is_some() {
        ", or that much is lost without it"
    } else {
        ""
    };
    format!("it alone explains at least {share} of the view's variance{lost}")
}

/// Draws a dot for every view in which a factor is active: shared factors have several dots joined by
/// a line, private ones a single dot. A factor acts from `active_share` of a view's variance on.
///
/// # Errors
/// When names and tables differ in length.
pub fn draw_activity(
    variance: &VarianceExplained,
    active_share: f64,
) -> Result<Picture, ReportError> {
    const ROW: f64 = 21.0;
    const LONGEST: f64 = 96.0;
    variance.validate()?;
    let factors = Labels::fit(&variance.factors, TEXT, LONGEST);
    let heads = Labels::fit(&variance.views, TEXT, LONGEST);
    let mut canvas = Canvas::new();
    let title = "Shared and private factors";
    let top = panel_title(&mut canvas, title, PANEL);
    let left = factors.widest() + 30.0;
    let views = variance.views.len().max(1) as f64;
    let words = 92.0;
    let step = ((PANEL - left - words) / views).clamp(20.0, 44.0);
    let longest = heads.widest();
    let upright = longest <= step - 4.0;
    let header = if upright { 20.0 } else { longest * 0.72 + 16.0 };
    let rows_top = top + header;
    for m in 0..heads.len() {
        let x = left + step * (m as f64 + 0.5);
        if upright {
            canvas.name("", x, rows_top - 8.0, Anchor::Middle, &heads, m);
        } else {
            canvas.slanted_name(x + 3.0, rows_top - 8.0, &heads, m);
        }
    }
    let right = left + step * views;
    let mut counts = [0usize; 4];
    for k in 0..factors.len() {
        let y = rows_top + ROW * (k as f64 + 0.5);
        if k % 2 == 0 {
            canvas.rect("r v", 20.0, y - ROW / 2.0, right - 20.0 + words, ROW);
        }
        canvas.name("", left - 8.0, y + 3.8, Anchor::End, &factors, k);
        let reach = reach_of(variance, k, active_share);
        let (active, words, colour, marker, slot) = match &reach {
            Reach::None => (Vec::new(), "in no view".to_owned(), "n", Marker::Dot, 0),
            Reach::Private(m) => (
                vec![*m],
                format!("only {}", variance.views[*m]),
                "c1",
                Marker::Triangle,
                1,
            ),
            Reach::Shared(some) => (
                some.clone(),
                format!("{} of {} views", some.len(), variance.views.len()),
                "c2",
                Marker::Square,
                2,
            ),
            Reach::All => (
                (0..variance.views.len()).collect(),
                "all views".to_owned(),
                "c0",
                Marker::Dot,
                3,
            ),
        };
        counts[slot] += 1;
        let at = |m: usize| left + step * (m as f64 + 0.5);
        let absent = (0..variance.views.len())
            .filter(|m| !active.contains(m))
            .map(|m| (at(m), y));
        points(&mut canvas, Marker::Dot, "y0", absent);
        if let (Some(&first), Some(&last)) = (active.first(), active.last()) {
            canvas.line(&format!("l {colour}"), at(first), y, at(last), y);
        }
        points(
            &mut canvas,
            marker,
            colour,
            active.iter().map(|&m| (at(m), y)),
        );
        canvas.label("m", right + 6.0, y + 3.8, Anchor::Start, &words, 86.0);
    }
    let height = rows_top + ROW * variance.factors.len() as f64 + 6.0;
    let overhang = if upright { 0.0 } else { right + longest * 0.72 };
    let rule = rule_of(variance, active_share);
    let sentence: Vec<String> = [
        (counts[3], "active in all views"),
        (counts[2], "in several"),
        (counts[1], "in one only"),
        (counts[0], "in none"),
    ]
    .iter()
    .map(|(n, what)| format!("{n} {what}"))
    .collect();
    let description = format!(
        "Dots mark the views in which a factor is active (where {rule}): {}.",
        listed(&sentence)
    );
    let full = PANEL.max(right + words).max(overhang);
    Ok(Picture::new(
        title.to_owned(),
        description,
        full,
        height,
        canvas.into_body(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Grid;

    #[test]
    fn reach_follows_the_threshold() {
        let mut v = VarianceExplained {
            views: vec!["a".into(), "b".into(), "c".into()],
            factors: (1..=4).map(|k| k.to_string()).collect(),
            marginal: Grid::new(
                3,
                4,
                vec![
                    0.2,
                    0.1,
                    0.005,
                    0.0,
                    0.3,
                    0.02,
                    0.2,
                    -0.1,
                    0.1,
                    0.0,
                    0.0,
                    f64::NAN,
                ],
            )
            .expect("shape"),
            joint: vec![0.3; 3],
            unique: None,
        };
        let reach: Vec<Reach> = (0..4).map(|k| reach_of(&v, k, 0.01)).collect();
        assert_eq!(
            reach,
            [
                Reach::All,
                Reach::Shared(vec![0, 1]),
                Reach::Private(1),
                Reach::None
            ]
        );
        // rounded as they are shown: 1.0 % acts, 0.9 % does not
        v.marginal = Grid::from_fn(3, 4, |m, k| match (m, k) {
            (0, 0) => 0.009_51,
            (1, 0) => 0.009_49,
            _ => 0.0,
        });
        assert_eq!(reach_of(&v, 0, 0.01), Reach::Private(0));
        // worse than nothing alone, and what the view's prediction rests on
        v.marginal = Grid::from_fn(3, 4, |m, _| if m == 2 { -0.4 } else { 0.3 });
        assert_eq!(reach_of(&v, 1, 0.01), Reach::Shared(vec![0, 1]));
        v.unique = Some(Grid::from_fn(3, 4, |m, k| {
            if m == 2 && k == 1 { 0.5 } else { -0.1 }
        }));
        assert_eq!(reach_of(&v, 1, 0.01), Reach::All);
        assert_eq!(reach_of(&v, 0, 0.01), Reach::Shared(vec![0, 1]));
    }
}
