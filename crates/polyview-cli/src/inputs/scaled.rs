//! Features of a view that are another in other units.

use polyview_core::View;

use super::copies::{are_telling, listed};

/// Most by which standardised cells of two features that are one differ: files keep some digits.
const APART: f64 = 5e-5;
/// Most features that one is held against.
const MOST: usize = 64;

/// A feature: the number of its view, and its own.
type Feature = (usize, usize);

/// A feature, and what those that equal it but for scale and shift have alike.
struct Sketch {
    feature: Feature,
    /// Of the places of its missing cells.
    holes: u64,
    /// Sizes of two weighted sums of the standardised cells.
    sums: [f64; 2],
}

/// What is to be said of features of a view that are another but for scale and shift, with the same cells missing; nothing of
/// exact copies, constants and those of few values.
pub fn scaled_features(view: &View) -> Option<String> {
    let mut pairs = Vec::new();
    for of in alike(&[view]) {
        let first = of[0].1;
        let same = |d: usize| {
            let mut samples = 0..view.n_samples();
            samples.all(|n| view.value(n, first) == view.value(n, d))
        };
        let scaled = of[1..].iter().map(|(_, d)| *d);
        pairs.extend(
            scaled
                .filter(|d| is_telling(view, first) && is_telling(view, *d) && !same(*d))
                .map(|d| (first, d)),
        );
    }
    let listed = listed(pairs, |d| format!("'{}'", view.features()[*d]))?;
    Some(format!(
        "view '{}': features that are each other in other units (all their cells are alike but for scale and shift): \
         {listed}; keep one of each: copies count as further evidence, and make a factor of their own",
        view.name()
    ))
}

/// Whether a feature has so many different values that another one with the same is no chance.
pub(super) fn is_telling(view: &View, d: usize) -> bool {
    let cells = (0..view.n_samples()).filter_map(|n| view.value(n, d));
    are_telling(cells.map(|x| (x + 0.0).to_bits()))
}

/// Features of views of the same samples that are one but for scale and shift, with the same cells missing, in their order; those
/// that are like no other are left out.
///
/// Standardised features, up to their sign, are sorted by a weighted sum, and held cell by cell against the nearest ones alone.
pub(super) fn alike(views: &[&View]) -> Vec<Vec<Feature>> {
    let samples = views.first().map_or(0, |v| v.n_samples());
    let weights = weights(samples);
    let mut column = vec![0.0; samples];
    let mut sketches: Vec<Sketch> = (views.iter().enumerate())
        .flat_map(|(m, view)| (0..view.n_features()).map(move |d| (m, d)))
        .filter_map(|feature| sketch(views, feature, &weights, &mut column))
        .collect();
    sketches.sort_by(|a, b| {
        let sums = a.sums[0].total_cmp(&b.sums[0]);
        a.holes
            .cmp(&b.holes)
            .then(sums)
            .then(a.feature.cmp(&b.feature))
    });
    // by the rounding of all cells together
    let slack = APART * (samples as f64).sqrt();
    // of those that are one the first that was met
    let mut firsts: Vec<(usize, Vec<Feature>)> = Vec::new();
    for (i, own) in sketches.iter().enumerate() {
        let is_near = |at: usize| {
            let other = &sketches[at];
            other.holes == own.holes && own.sums[0] - other.sums[0] <= slack
        };
        let near = (firsts.iter_mut().rev())
            .take(MOST)
            .take_while(|(at, _)| is_near(*at))
            .find(|(at, _)| {
                let other = &sketches[*at];
                (own.sums[1] - other.sums[1]).abs() <= slack
                    && are_one(views, own.feature, other.feature)
            });
        match near {
            Some((_, of)) => of.push(own.feature),
            None => firsts.push((i, vec![own.feature])),
        }
    }
    let several = firsts.into_iter().map(|(_, of)| of);
    let mut several: Vec<Vec<Feature>> = several.filter(|of| of.len() > 1).collect();
    for of in &mut several {
        of.sort_unstable();
    }
    several
}

/// Numbers between -1 and 1 for each sample that no data know of.
fn weights(samples: usize) -> [Vec<f64>; 2] {
    let of = |step: f64| {
        let number = |n: usize| 2.0 * ((n as f64 + 1.0) * step).fract() - 1.0;
        (0..samples).map(number).collect()
    };
    [of(0.618_033_988_749_894_9), of(0.414_213_562_373_095_1)]
}

/// Standardises the cells that are known and makes the others zero; nothing of a constant.
fn standardise(view: &View, d: usize, column: &mut [f64]) -> Option<()> {
    view.write_column(d, column);
    let known = |n: &usize| view.is_observed(*n, d);
    let places = || (0..view.n_samples()).filter(known);
    let count = places().count() as f64;
    let mean = places().map(|n| column[n]).sum::<f64>() / count;
    let squares = places().map(|n| (column[n] - mean).powi(2)).sum::<f64>();
    let sd = (squares / count).sqrt();
    // rounding of a mean is no spread
    if !(sd > 1e-12 * mean.abs() && sd.is_finite()) {
        return None;
    }
    for (n, x) in column.iter_mut().enumerate() {
        *x = if known(&n) { (*x - mean) / sd } else { 0.0 };
    }
    Some(())
}

fn sketch(
    views: &[&View],
    feature: Feature,
    weights: &[Vec<f64>; 2],
    column: &mut [f64],
) -> Option<Sketch> {
    let (view, d) = (views[feature.0], feature.1);
    standardise(view, d, column)?;
    let holes = (0..column.len()).filter(|n| !view.is_observed(*n, d));
    let holes = holes.fold(0_u64, |hash, n| {
        (hash.rotate_left(5) ^ (n as u64 + 1)).wrapping_mul(super::copies::ODD)
    });
    let root = (column.len() as f64).sqrt();
    let sum = |weights: &Vec<f64>| {
        let sum: f64 = weights.iter().zip(&*column).map(|(w, x)| w * x).sum();
        (sum / root).abs()
    };
    Some(Sketch {
        feature,
        holes,
        sums: [sum(&weights[0]), sum(&weights[1])],
    })
}

/// Whether two features, with the same cells missing, are one in every cell once they are standardised, up to sign.
fn are_one(views: &[&View], a: Feature, b: Feature) -> bool {
    let of = |(m, d): Feature| {
        let view = views[m];
        let mut column = vec![0.0; view.n_samples()];
        standardise(view, d, &mut column).map(|()| column)
    };
    let (Some(a), Some(b)) = (of(a), of(b)) else {
        return false;
    };
    let product: f64 = a.iter().zip(&b).map(|(x, y)| x * y).sum();
    let sign = product.signum();
    a.iter().zip(&b).all(|(x, y)| (x - sign * y).abs() <= APART)
}

#[cfg(test)]
mod tests {
    use polyview_core::{Dataset, Table};
    use polyview_linalg::Mat;

    use super::*;

    const N: usize = 40;

    fn number(n: usize, d: usize) -> f64 {
        let x = (n as f64 + 1.0) * [0.618_034, 0.414_214, 0.732_051, 0.236_068][d];
        x.fract() + (0.302_776 * (n as f64 + 1.0)).fract()
    }

    fn said(features: usize, of: impl Fn(usize, usize) -> f64) -> Option<String> {
        let table = Table {
            name: "x".into(),
            samples: (0..N).map(|n| format!("s{n}")).collect(),
            features: (0..features).map(|d| format!("f{d}")).collect(),
            values: Mat::from_fn(N, features, of),
            levels: Vec::new(),
        };
        let data = Dataset::builder().view(table).build().expect("data");
        scaled_features(data.view("x").expect("the view"))
    }

    /// Centimetres and inches with six digits, one turned about, an exact copy, a constant.
    #[test]
    fn features_in_other_units_are_named() {
        let inches = |x: f64| (x / 2.54 * 1e6).round() / 1e6;
        let text = said(8, |n, d| match d {
            4 => inches(number(n, 0)),
            5 => 3.0 - 1e3 * number(n, 1),
            6 => number(n, 2),
            7 => 5.5,
            _ => number(n, d),
        })
        .expect("a warning");
        assert!(
            text.contains("'f0' and 'f4', 'f1' and 'f5'; keep"),
            "{text}"
        );
        // a copy of one that stands in other units as well is one of these
        let text = said(3, |n, d| [1.0, 2.0, 1.0][d] * number(n, 0)).expect("a warning");
        assert!(text.contains("'f0' and 'f1'; keep"), "{text}");
    }

    #[test]
    fn holes_are_in_the_same_places() {
        let with = |own: usize| {
            said(3, move |n, d| {
                let hole = match d {
                    0 => n == 5,
                    1 => n == own,
                    _ => false,
                };
                if hole {
                    f64::NAN
                } else {
                    [1.0, -40.0, 1.0][d] * number(n, d / 2) + d as f64
                }
            })
        };
        let text = with(5).expect("a warning");
        assert!(text.contains("'f0' and 'f1'; keep"), "{text}");
        assert_eq!(with(6), None);
    }

    #[test]
    fn nothing_is_said_of_what_is_natural() {
        // one cell that differs
        let one =
            |n: usize, d: usize| 2.0 * number(n, 0) + if (n, d) == (7, 1) { 0.01 } else { 0.0 };
        assert_eq!(said(2, one), None);
        // few values, constants, and other features
        assert_eq!(said(2, |n, d| [1.0, 3.5][d] * (n % 3) as f64), None);
        assert_eq!(said(3, |_, d| 0.1 + d as f64), None);
        assert_eq!(said(4, number), None);
    }

    /// A thousand features that are one are held against one of them.
    #[test]
    fn many_features_that_are_one_are_counted() {
        let text = said(1000, |n, d| (1.0 + d as f64) * number(n, 0)).expect("a warning");
        assert!(
            text.contains("'f0' and 'f1', 'f0' and 'f2', 'f0' and 'f3' and 996 more pairs"),
            "{text}"
        );
    }
}
