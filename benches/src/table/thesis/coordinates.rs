//! Coordinates in the feature space of an RBF kernel, by points of the training samples (Nyström), and what is predicted from
//! them: principal or canonical components, and a ridge on these.

use std::error::Error;

use polyview_linalg::{Mat, MatRef, column_sums, cross, sym_eigen, times_small};
use polyview_mva::{Metric, opls};
use polyview_random::{StreamKey, uniform_open01};

use super::{Said, r2};
use crate::table::linear::{self, Inputs, Linear};

/// Least eigenvalue, relative to the largest, that says anything.
const LEAST: f64 = 1e-9;
/// Widths that are tried, as multiples of the median distance between samples.
pub const WIDTHS: [f64; 5] = [0.25, 0.5, 1.0, 2.0, 4.0];
/// Ridges of canonical correlation that are tried, as shares of the mean square of a coordinate.
const RIDGES: [f64; 4] = [1e-3, 1e-2, 0.1, 1.0];
/// Every so-manieth training sample chooses among these.
const HELD_OUT: usize = 5;

/// What is made of the coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Principal components with 95 % of the variance, and ridge regression on them.
    Principal,
    /// Canonical components of coordinates and targets with a ridge, and the least squares approximation by them.
    Canonical,
    /// Ridge regression on these components.
    OnCanonical,
}

/// What is chosen by samples that are held out.
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    /// Width, in multiples of the median distance.
    pub width: f64,
    /// Share of the training samples that are points.
    pub share: f64,
    /// Ridge of canonical correlation.
    pub ridge: f64,
}

/// Squared distances of rows.
pub fn distances(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    let size = |m: MatRef<'_, f64>| -> Vec<f64> {
        let of = |n: usize| (0..m.ncols()).map(|d| m[(n, d)] * m[(n, d)]).sum();
        (0..m.nrows()).map(of).collect()
    };
    let (left, right) = (size(a), size(b));
    let products = times_small(a, b.transpose());
    Mat::from_fn(a.nrows(), b.nrows(), |i, j| {
        (left[i] + right[j] - 2.0 * products[(i, j)]).max(0.0)
    })
}

/// The median distance between rows.
pub fn median(distances: &Mat<f64>) -> f64 {
    let n = distances.nrows();
    let mut all: Vec<f64> = (0..n)
        .flat_map(|i| (0..i).map(move |j| distances[(i, j)].sqrt()))
        .collect();
    all.sort_unstable_by(f64::total_cmp);
    all.get(all.len() / 2)
        .copied()
        .filter(|m| *m > 0.0)
        .unwrap_or(1.0)
}

/// Places of so large a share of the rows, by chance, in their order; one at least.
fn points(rows: usize, share: f64, seed: u64) -> Vec<usize> {
    let mut rng = StreamKey::new(seed).block(9).rng();
    let mut order: Vec<(f64, usize)> = (0..rows).map(|n| (uniform_open01(&mut rng), n)).collect();
    order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let count = ((share * rows as f64).round() as usize).clamp(1, rows);
    let mut out: Vec<usize> = order[..count].iter().map(|(_, n)| *n).collect();
    out.sort_unstable();
    out
}

/// Coordinates of training and new rows, products of which are the kernel about the mean of the training rows, as far as the
/// points tell it.
fn coordinates(
    [x, new]: [&Mat<f64>; 2],
    choice: Choice,
    seed: u64,
) -> Result<[Mat<f64>; 2], Box<dyn Error>> {
    let width = choice.width * median(&distances(x.as_ref(), x.as_ref()));
    let chosen = points(x.nrows(), choice.share, seed);
    let at = Mat::from_fn(chosen.len(), x.ncols(), |i, d| x[(chosen[i], d)]);
    let kernel = |of: &Mat<f64>| {
        let far = distances(of.as_ref(), at.as_ref());
        Mat::from_fn(of.nrows(), at.nrows(), |i, j| {
            (-0.5 * far[(i, j)] / (width * width)).exp()
        })
    };
    let (values, vectors) = sym_eigen(kernel(&at).as_ref())?;
    let most = values.last().copied().unwrap_or(0.0);
    let kept: Vec<usize> = (0..values.len())
        .filter(|&j| values[j] > LEAST * most)
        .collect();
    let turn = Mat::from_fn(at.nrows(), kept.len(), |i, j| {
        vectors[(i, kept[j])] / values[kept[j]].sqrt()
    });
    let mut out = [x, new].map(|of| times_small(kernel(of).as_ref(), turn.as_ref()));
    let sums = column_sums(out[0].as_ref());
    for half in &mut out {
        for (d, sum) in sums.iter().enumerate() {
            for v in half.col_as_slice_mut(d) {
                *v -= sum / x.nrows() as f64;
            }
        }
    }
    Ok(out)
}

/// What a way says of new rows by one choice.
pub fn said(
    way: Way,
    [x, new]: [&Mat<f64>; 2],
    y: &Mat<f64>,
    (choice, seed): (Choice, u64),
) -> Result<Said, Box<dyn Error>> {
    let [a, b] = coordinates([x, new], choice, seed)?;
    let (values, factors) = if way == Way::Principal {
        let (a, b) = linear::reduced(Inputs::Principal, a, y.as_ref(), b)?;
        let values = linear::fit_and_score(Linear::Ridge, a.as_ref(), y.as_ref(), b.as_ref())?;
        (values, a.ncols())
    } else {
        canonical(way, [&a, &b], y, choice)?
    };
    Ok(Said {
        values,
        factors: factors as f64,
        share: choice.share,
    })
}

/// By canonical components: what is said of new rows, and the number of components.
fn canonical(
    way: Way,
    [a, b]: [&Mat<f64>; 2],
    y: &Mat<f64>,
    choice: Choice,
) -> Result<(Mat<f64>, usize), Box<dyn Error>> {
    let (n, targets) = y.shape();
    let mean: Vec<f64> = (column_sums(y.as_ref()).iter())
        .map(|s| s / n as f64)
        .collect();
    let centred = Mat::from_fn(n, targets, |i, j| y[(i, j)] - mean[j]);
    let squares: f64 = (0..a.ncols())
        .map(|d| a.col_as_slice(d).iter().map(|v| v * v).sum::<f64>())
        .sum();
    let ridge = choice.ridge * squares / a.ncols() as f64;
    let fit = opls(
        a.as_ref(),
        centred.as_ref(),
        targets.min(a.ncols()),
        Metric::Correlation,
        ridge,
    )?;
    let [seen, new] = [a, b].map(|of| fit.projection.project(of.as_ref()));
    let (seen, new) = (seen?, new?);
    let values = if way == Way::OnCanonical {
        linear::fit_and_score(Linear::Ridge, seen.as_ref(), y.as_ref(), new.as_ref())?
    } else {
        // least squares on components that the ridge has shrunk
        let scale: Vec<f64> = (0..seen.ncols())
            .map(|c| {
                let own: f64 = seen.col_as_slice(c).iter().map(|s| s * s).sum();
                if own > 0.0 { own } else { 1.0 }
            })
            .collect();
        let products = cross(seen.as_ref(), centred.as_ref());
        let slopes = Mat::from_fn(seen.ncols(), targets, |c, d| products[(c, d)] / scale[c]);
        let part = times_small(new.as_ref(), slopes.as_ref());
        Mat::from_fn(part.nrows(), targets, |i, j| mean[j] + part[(i, j)])
    };
    Ok((values, seen.ncols()))
}

/// The choice that predicts every fifth training row best by the others: the width, of canonical components then the ridge, and last the
/// least of these shares whose R² is at most .01 below that of the best.
pub fn chosen(
    way: Way,
    x: &Mat<f64>,
    y: &Mat<f64>,
    (shares, seed): (&[f64], u64),
) -> Result<Choice, Box<dyn Error>> {
    let part = |of: &Mat<f64>, inside: bool| {
        let rows: Vec<usize> = (0..of.nrows())
            .filter(|n| (n % HELD_OUT == 0) == inside)
            .collect();
        Mat::from_fn(rows.len(), of.ncols(), |i, d| of[(rows[i], d)])
    };
    let [seen, known, held, truth] = [part(x, false), part(y, false), part(x, true), part(y, true)];
    let score = |choice: Choice| -> Result<f64, Box<dyn Error>> {
        let said = said(way, [&seen, &held], &known, (choice, seed))?.values;
        Ok(r2(&known, &truth, &said))
    };
    let mut best = Choice {
        width: 1.0,
        share: 1.0,
        ridge: 0.1,
    };
    let ridges = if way == Way::Principal {
        &RIDGES[..1]
    } else {
        &RIDGES[..]
    };
    let mut most = f64::NEG_INFINITY;
    for &width in &WIDTHS {
        for &ridge in ridges {
            let choice = Choice {
                width,
                ridge,
                ..best
            };
            let own = score(choice)?;
            if own > most {
                most = own;
                (best.width, best.ridge) = (width, ridge);
            }
        }
    }
    best.share = least_share(shares, |share| score(Choice { share, ..best }))?;
    Ok(best)
}

/// The least share whose score is at most .01 below the best one's.
///
/// # Errors
/// What a score refuses.
pub fn least_share(
    shares: &[f64],
    mut score: impl FnMut(f64) -> Result<f64, Box<dyn Error>>,
) -> Result<f64, Box<dyn Error>> {
    let mut scores = Vec::new();
    for &share in shares {
        scores.push((share, score(share)?));
    }
    let most = scores.iter().fold(f64::NEG_INFINITY, |m, s| m.max(s.1));
    let good = scores.iter().filter(|s| s.1 >= most - 0.01).map(|s| s.0);
    Ok(good.fold(1.0, f64::min))
}

#[cfg(test)]
mod tests {
    use polyview_random::standard_normal;

    use super::*;

    /// A wave of the first of two features, and its square.
    fn simulated(n: usize, seed: u64) -> [Mat<f64>; 2] {
        let mut rng = StreamKey::new(seed).rng();
        let x = Mat::from_fn(n, 2, |_, _| standard_normal(&mut rng));
        let y = Mat::from_fn(n, 2, |n, d| {
            let at = x[(n, 0)];
            [(2.0 * at).sin(), at * at][d] + 0.1 * standard_normal(&mut rng)
        });
        [x, y]
    }

    #[test]
    fn products_of_coordinates_are_the_centred_kernel() {
        let [x, _] = simulated(30, 1);
        let choice = Choice {
            width: 1.0,
            share: 1.0,
            ridge: 0.1,
        };
        let [a, b] = coordinates([&x, &x], choice, 1).unwrap();
        assert_eq!(a, b);
        let far = distances(x.as_ref(), x.as_ref());
        let width = median(&far);
        let k = Mat::from_fn(30, 30, |i, j| (-0.5 * far[(i, j)] / (width * width)).exp());
        let mean = |i: usize| (0..30).map(|j| k[(i, j)]).sum::<f64>() / 30.0;
        let all = (0..30).map(mean).sum::<f64>() / 30.0;
        for i in 0..30 {
            for j in 0..30 {
                let own: f64 = (0..a.ncols()).map(|d| a[(i, d)] * a[(j, d)]).sum();
                assert!((own - (k[(i, j)] - mean(i) - mean(j) + all)).abs() < 1e-6);
            }
        }
    }

    #[test]
    fn every_way_finds_what_is_no_line() {
        let [x, y] = simulated(150, 2);
        let [new, truth] = simulated(60, 3);
        for way in [Way::Principal, Way::Canonical, Way::OnCanonical] {
            let choice = chosen(way, &x, &y, (&[0.1, 0.4, 1.0], 1)).unwrap();
            let said = said(way, [&x, &new], &y, (choice, 1)).unwrap().values;
            let errors: f64 = (0..60)
                .map(|n| (said[(n, 1)] - truth[(n, 1)]).powi(2))
                .sum();
            let all: f64 = (0..60).map(|n| (truth[(n, 1)] - 1.0).powi(2)).sum();
            assert!(errors < 0.3 * all, "{way:?} {choice:?} {}", errors / all);
        }
    }

    #[test]
    fn the_least_share_that_is_nearly_as_good_is_taken() {
        let scores = [(0.1, 0.5), (0.4, 0.695), (1.0, 0.7)];
        let of = |share: f64| Ok(scores.iter().find(|s| s.0 == share).unwrap().1);
        assert_eq!(least_share(&[0.1, 0.4, 1.0], of).unwrap(), 0.4);
        assert_eq!(points(10, 0.3, 1).len(), 3);
        assert_eq!(points(10, 1e-9, 1).len(), 1);
    }
}
