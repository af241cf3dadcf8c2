//! The one law of every data term: central differences of its bound
//! in the mean of a row equal `rhs − P·mean`, in a diagonal entry of the row's
//! covariance `−P_ii / 2`.

use std::sync::Arc;

use polyview_core::{
    Bias, Mask, NormalEquations, NumericError, PatternGrams, PatternTable, Predictor, RowCov,
    RowMoments, ViewShape, ViewTerm,
};
use polyview_linalg::{PackedRows, packed_index};
use polyview_random::StreamKey;

use crate::normal;

/// Number of factors of the random rows.
pub const K: usize = 3;

/// Random rows with a covariance each, n × [`K`].
pub fn rows(n: usize, seed: u64) -> RowMoments {
    let mut rng = StreamKey::new(seed).rng();
    let mean = normal(n, K, &mut rng);
    let mut cov = PackedRows::zeros(n, K);
    for r in 0..n {
        let a = normal(K, K, &mut rng);
        for i in 0..K {
            for j in 0..=i {
                let dot: f64 = (0..K).map(|l| a[(i, l)] * a[(j, l)]).sum();
                cov.row_mut(r)[packed_index(i, j)] = 0.2 * dot + if i == j { 0.1 } else { 0.0 };
            }
        }
    }
    RowMoments::new(mean, RowCov::PerRow(cov), 0.0, 0)
}

/// The rows with one mean and one variance moved.
pub fn nudged(m: &RowMoments, row: usize, k: usize, mean: f64, variance: f64) -> RowMoments {
    let mut out = m.clone();
    let (means, cov, _) = out.parts_mut();
    means[(row, k)] += mean;
    if let RowCov::PerRow(c) = cov {
        c.row_mut(row)[packed_index(k, k)] += variance;
    }
    out
}

/// The term's bound.
pub fn total(term: &mut dyn ViewTerm, z: &RowMoments, w: &RowMoments, b: &Bias) -> f64 {
    term.bound(&Predictor {
        factors: z,
        weights: w,
        bias: b,
    })
    .sum()
}

/// The slope of a function at 0, by central differences of two widths (Richardson).
fn slope(mut of: impl FnMut(f64) -> f64) -> f64 {
    let h = 1e-4;
    let mut central = |h: f64| (of(h) - of(-h)) / (2.0 * h);
    let (near, far) = (central(h), central(2.0 * h));
    (4.0 * near - far) / 3.0
}

/// How far a slope is from what it should be, in nats per unit; of slopes beyond a thousand in
/// thousandths, since bounds that large have no more digits.
fn gap_of(found: f64, expected: f64) -> f64 {
    (found - expected).abs() / (1e-3 * expected.abs()).max(1.0)
}

/// Patterns of samples as the engines make them for one view: which samples it has, and the
/// group of each; `None` where every sample has the same precision, or one of its own.
pub fn patterns(term: &dyn ViewTerm) -> Option<PatternTable> {
    let rows = match term.mask() {
        Some(Mask::Rows(rows)) => Some(rows),
        _ => None,
    };
    if rows.is_none() && term.groups().is_none() {
        return None;
    }
    let present = |n: usize, _| rows.is_none_or(|rows| rows[n]);
    let group = |n: usize| term.groups().map_or(0, |g| g.of_row()[n]);
    Some(PatternTable::by_group(
        term.shape().samples,
        1,
        present,
        group,
    ))
}

/// Checks both sides of one term; returns the largest gap.
///
/// # Panics
/// If the term has no equations at rows of ordinary size.
pub fn gap(term: &mut dyn ViewTerm, present: Option<Vec<bool>>) -> f64 {
    let ViewShape {
        samples,
        predictor_columns,
        ..
    } = term.shape();
    let table = present.map(|rows| PatternTable::new(samples, 1, |r, _| rows[r]));
    gap_with(term, table, Bias::gaussian(predictor_columns, 0, 1.0))
}

/// As [`gap`], with these patterns of samples and these intercepts, which are
/// moved away from where they are.
///
/// # Panics
/// As [`gap`].
pub fn gap_with(term: &mut dyn ViewTerm, table: Option<PatternTable>, b: Bias) -> f64 {
    try_gap_with(term, table, b).expect("equations")
}

/// As [`gap_with`].
///
/// # Errors
/// [`NumericError`] from the term's equations.
pub fn try_gap_with(
    term: &mut dyn ViewTerm,
    table: Option<PatternTable>,
    mut b: Bias,
) -> Result<f64, NumericError> {
    let shape = term.shape();
    let (n, d) = (shape.samples, shape.predictor_columns);
    let (z, w) = (rows(n, 1), rows(d, 2));
    let count = d * b.per_column();
    b.set(
        (0..count).map(|i| 0.3 * (i % 5) as f64 - 0.5).collect(),
        vec![0.05; count],
    );
    let mut worst: f64 = 0.0;

    let p = Predictor {
        factors: &z,
        weights: &w,
        bias: &b,
    };
    let mut eq = NormalEquations::new(K, 0..n);
    eq.patterns = table.map(|table| PatternGrams {
        grams: PackedRows::zeros(table.present.len(), K),
        table: Arc::new(table),
    });
    term.equations().factor_gram(0, &p, &mut eq)?;
    term.equations().factor_equations(&p, &mut eq)?;
    for r in 0..n {
        let precision = eq.row_precision(r);
        // what other samples say is asked for sample by sample
        let mut rhs: Vec<f64> = (0..K).map(|k| eq.rhs[(r, k)]).collect();
        if let Some(coupled) = term.as_coupled() {
            coupled.couple(r, &p, &mut rhs)?;
        }
        for k in 0..K {
            let by_mean = slope(|h| total(term, &nudged(&z, r, k, h, 0.0), &w, &b));
            let pm: f64 = (0..K).map(|j| precision.get(k, j) * z.mean()[(r, j)]).sum();
            worst = worst.max(gap_of(by_mean, rhs[k] - pm));
            let by_variance = slope(|h| total(term, &nudged(&z, r, k, 0.0, h), &w, &b));
            worst = worst.max(gap_of(by_variance, -0.5 * precision.get(k, k)));
        }
    }

    let mut eq = NormalEquations::new(K, 0..0);
    term.equations().weight_gram(&p, &mut eq)?;
    eq.set_rows(0..d);
    term.equations().weight_equations(&p, &mut eq)?;
    for r in 0..d {
        let precision = eq.row_precision(r);
        for k in 0..K {
            let by_mean = slope(|h| total(term, &z, &nudged(&w, r, k, h, 0.0), &b));
            let pm: f64 = (0..K).map(|j| precision.get(k, j) * w.mean()[(r, j)]).sum();
            worst = worst.max(gap_of(by_mean, eq.rhs[(r, k)] - pm));
            let by_variance = slope(|h| total(term, &z, &nudged(&w, r, k, 0.0, h), &b));
            worst = worst.max(gap_of(by_variance, -0.5 * precision.get(k, k)));
        }
    }

    // intercepts obey the same law
    let (mut precision, mut rhs) = (vec![0.0; count], vec![0.0; count]);
    term.equations()
        .bias_equations(0..d, &p, &mut precision, &mut rhs);
    for r in 0..count {
        let moved = |by: f64| {
            let mut c = b.clone();
            let mut mean = b.mean().to_vec();
            mean[r] += by;
            c.set(mean, b.variance().to_vec());
            c
        };
        let expected = rhs[r] - precision[r] * b.mean()[r];
        let found = slope(|h| total(term, &z, &w, &moved(h)));
        worst = worst.max(gap_of(found, expected));
    }
    Ok(worst)
}
