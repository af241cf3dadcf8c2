//! Which weights of a view are not zero.

use super::heat::{Cell, Heat, heat};
use super::weights::leading_features;
use crate::ReportError;
use crate::input::{ViewInclusion, ViewWeights};
use crate::svg::axis::panel_title;
use crate::svg::canvas::Canvas;
use crate::svg::legend::{Bar, colour_bar};
use crate::svg::number::{count, counted, drawable, fixed};
use crate::svg::palette::viridis;
use crate::svg::picture::{PANEL, Picture};
use crate::svg::scale::Extent;

/// Probability above which a weight is counted.
pub(crate) const INCLUDED: f64 = 0.5;

/// Number of weights of a factor that are probably not zero.
pub(crate) fn included(inclusion: &ViewInclusion, factor: usize) -> usize {
    let column = inclusion.probability.column(factor);
    column.into_iter().filter(|p| *p > INCLUDED).count()
}

/// The features to show, at most `most`: of each factor in turn those with the largest weights, or where
/// weights are not given with the largest probabilities. They come factor by factor, each once.
pub(crate) fn shown_features(
    inclusion: &ViewInclusion,
    weights: Option<&ViewWeights>,
    most: usize,
) -> Vec<usize> {
    let factors = inclusion.probability.columns();
    // weights of another report say nothing on these features
    let weights = weights
        .filter(|w| w.features.len() == inclusion.features.len() && w.means.columns() == factors);
    let of_factor = |k: usize| -> Vec<usize> {
        if let Some(w) = weights {
            return leading_features(w, k, inclusion.features.len());
        }
        let p = inclusion.probability.column(k);
        let mut order: Vec<usize> = (0..p.len()).filter(|&d| drawable(p[d])).collect();
        order.sort_by(|&a, &b| p[b].total_cmp(&p[a]).then(a.cmp(&b)));
        order
    };
    let orders: Vec<Vec<usize>> = (0..factors).map(of_factor).collect();
    let mut first = vec![None; inclusion.features.len()];
    let mut taken = 0;
    'all: for place in 0..inclusion.features.len() {
        for (k, order) in orders.iter().enumerate() {
            let known = order.get(place).filter(|&&d| d < first.len());
            let Some(&d) = known else { continue };
            if taken == most {
                break 'all;
            }
            if first[d].is_none() {
                first[d] = Some((k, place));
                taken += 1;
            }
        }
    }
    let mut shown: Vec<usize> = (0..first.len()).filter(|&d| first[d].is_some()).collect();
    shown.sort_by_key(|&d| first[d]);
    shown
}

/// Draws the posterior inclusion probabilities of the weights of one view: the leading features of all
/// factors, at most `most` ([`ViewWeights`] says which lead), by factor, on a scale from 0 to 1. The
/// description says how many weights of each factor are probably not zero.
///
/// # Errors
/// When names and tables differ in length.
pub fn draw_inclusion(
    inclusion: &ViewInclusion,
    weights: Option<&ViewWeights>,
    names: &[String],
    most: usize,
) -> Result<Picture, ReportError> {
    inclusion.validate(names.len())?;
    let weights = weights.filter(|w| {
        w.features.len() == inclusion.features.len() && w.means.columns() == names.len()
    });
    let shown = shown_features(inclusion, weights, most);
    let rows: Vec<String> = shown
        .iter()
        .map(|&d| inclusion.features[d].clone())
        .collect();
    let cell = |i: usize, k: usize| {
        let p = inclusion.probability.at(shown[i], k);
        Some(Cell {
            colour: drawable(p).then(|| viridis(p)),
            text: String::new(),
            tip: format!("{}, {}: {}", rows[i], names[k], fixed(p, 3)),
        })
    };
    let mut canvas = Canvas::new();
    let top = panel_title(&mut canvas, &inclusion.view, PANEL) - 8.0;
    let table = Heat {
        rows: &rows,
        columns: names,
        row_title: "feature",
        column_title: "factor",
        cell: &cell,
        narrowest: 6.0,
        height: 14.0,
        gap_before: None,
    };
    let drawn = heat(&mut canvas, top, &table);
    let bar = Bar::Smooth(&viridis);
    let taken = colour_bar(
        &mut canvas,
        drawn.left,
        drawn.bottom + 10.0,
        150.0,
        Extent { lo: 0.0, hi: 1.0 },
        "probability of not being zero",
        &bar,
    );
    let totals: Vec<String> = (names.iter().enumerate())
        .map(|(k, name)| format!("{name} {}", count(included(inclusion, k))))
        .collect();
    let description = format!(
        "Table of inclusion probabilities of {} of {}, by factor. Weights above one half: {}.",
        count(shown.len()),
        counted(inclusion.features.len(), "feature"),
        if totals.is_empty() {
            "none".to_owned()
        } else {
            totals.join(", ")
        }
    );
    Ok(Picture::new(
        format!("Inclusion probabilities in {}", inclusion.view),
        description,
        drawn.width,
        drawn.bottom + 10.0 + taken + 2.0,
        canvas.into_body(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::Grid;

    fn blocks() -> ViewInclusion {
        ViewInclusion {
            view: "genes".into(),
            features: (0..6).map(|d| format!("g{d}")).collect(),
            probability: Grid::from_fn(6, 2, |d, k| if d / 3 == k { 0.9 } else { 0.01 }),
        }
    }

    #[test]
    fn each_factor_has_its_features_in_turn() {
        let p = blocks();
        assert_eq!(shown_features(&p, None, 4), [0, 1, 3, 4]);
        assert_eq!(shown_features(&p, None, 3), [0, 1, 3]);
        assert_eq!(shown_features(&p, None, 99).len(), 6);
        let weights = ViewWeights {
            view: p.view.clone(),
            features: p.features.clone(),
            means: Grid::from_fn(6, 2, |d, k| if d / 3 == k { d as f64 + 1.0 } else { 0.0 }),
            sds: None,
        };
        assert_eq!(shown_features(&p, Some(&weights), 2), [2, 5]);
        assert_eq!((included(&p, 0), included(&p, 1)), (3, 3));
    }

    #[test]
    fn it_is_drawn_or_refused() {
        let names = ["Factor 1".to_owned(), "Factor 2".to_owned()];
        let picture = draw_inclusion(&blocks(), None, &names, 4).expect("it draws");
        assert!(picture.to_svg().contains("g4") && !picture.to_svg().contains("g5"));
        assert!(draw_inclusion(&blocks(), None, &names[..1], 4).is_err());
        let mut wrong = blocks();
        wrong.probability = Grid::from_fn(5, 2, |_, _| 0.5);
        assert!(draw_inclusion(&wrong, None, &names, 4).is_err());
        wrong.probability = Grid::from_fn(6, 2, |_, _| f64::NAN);
        assert!(draw_inclusion(&wrong, None, &names, 4).is_ok());
    }
}
