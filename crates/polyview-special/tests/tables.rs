//! Every function against tables computed with mpmath (`tests/tables/make_tables.py`).
//!
//! Each check prints the worst error and where it occurs
//! (`cargo test -p polyview-special --test tables -- --nocapture`). The error is relative to the
//! larger of the exact value and a floor: the floor is the size of the terms that make up the
//! function where it crosses zero, and 1e-300 (nothing but the subnormal range) elsewhere.

#![allow(clippy::unwrap_used)]

use std::path::Path;

use polyview_special::*;

const NO_FLOOR: f64 = 1e-300;

fn table<const N: usize>(name: &str) -> Vec<[f64; N]> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/tables")
        .join(name);
    let mut reader = csv::Reader::from_path(path).unwrap();
    let rows: Vec<[f64; N]> = reader
        .records()
        .map(|record| {
            let record = record.unwrap();
            assert_eq!(record.len(), N, "{name}");
            std::array::from_fn(|i| record[i].parse().unwrap())
        })
        .collect();
    assert!(rows.len() > 100, "{name}");
    rows
}

/// Worst error of `function` over the rows, which give the arguments and the exact value.
fn check<const N: usize>(
    name: &str,
    rows: &[[f64; N]],
    value: usize,
    floor: f64,
    tolerance: f64,
    function: impl Fn(&[f64; N]) -> f64,
) {
    let (mut worst, mut at) = (0.0, None);
    for row in rows {
        let (got, want) = (function(row), row[value]);
        let error = if got == want {
            0.0
        } else if got.is_finite() && want.is_finite() {
            (got - want).abs() / want.abs().max(floor)
        } else {
            f64::INFINITY
        };
        if error > worst {
            (worst, at) = (error, Some((row, got)));
        }
    }
    eprintln!(
        "{name:<28} {worst:9.2e} over {:>4} rows, worst at {at:?}",
        rows.len()
    );
    assert!(
        worst <= tolerance,
        "{name}: {worst:e} > {tolerance:e} at {at:?}"
    );
}

#[test]
fn gamma_function_family() {
    let rows = table::<4>("gamma_functions.csv");
    check("digamma", &rows, 1, 0.3, 1e-14, |r| digamma(r[0]));
    check("trigamma", &rows, 2, NO_FLOOR, 1e-14, |r| trigamma(r[0]));
    check("ln_gamma", &rows, 3, NO_FLOOR, 1e-15, |r| ln_gamma(r[0]));
    let rows = table::<3>("ln_beta.csv");
    check("ln_beta", &rows, 2, 1.0, 1e-14, |r| ln_beta(r[0], r[1]));
    check("ln_beta, swapped", &rows, 2, 1.0, 1e-14, |r| {
        ln_beta(r[1], r[0])
    });
}

#[test]
fn error_function_family() {
    let rows = table::<4>("error_functions.csv");
    check("erf", &rows, 1, NO_FLOOR, 1e-15, |r| erf(r[0]));
    check("erfc", &rows, 2, NO_FLOOR, 1e-15, |r| erfc(r[0]));
    check("erfcx", &rows, 3, NO_FLOOR, 1e-15, |r| erfcx(r[0]));
}

#[test]
fn logistic_family() {
    let rows = table::<6>("logistic.csv");
    check("sigmoid", &rows, 1, NO_FLOOR, 1e-15, |r| sigmoid(r[0]));
    check("log_sigmoid", &rows, 2, NO_FLOOR, 1e-15, |r| {
        log_sigmoid(r[0])
    });
    check("softplus", &rows, 3, NO_FLOOR, 1e-15, |r| softplus(r[0]));
    check("log1mexp", &rows, 4, NO_FLOOR, 1e-15, |r| {
        log1mexp(-r[0].abs())
    });
    check("jaakkola_lambda", &rows, 5, NO_FLOOR, 1e-15, |r| {
        jaakkola_lambda(r[0])
    });
    check("log_sum_exp of two", &rows, 3, NO_FLOOR, 1e-15, |r| {
        log_sum_exp(&[r[0], 0.0])
    });
}

#[test]
fn normal_family() {
    let rows = table::<6>("normal.csv");
    check("normal_pdf", &rows, 1, NO_FLOOR, 2e-15, |r| {
        normal_pdf(r[0])
    });
    check("normal_cdf", &rows, 2, NO_FLOOR, 2e-15, |r| {
        normal_cdf(r[0])
    });
    check("ln_normal_cdf", &rows, 3, NO_FLOOR, 2e-15, |r| {
        ln_normal_cdf(r[0])
    });
    check("mills_ratio", &rows, 4, NO_FLOOR, 2e-15, |r| {
        mills_ratio(r[0])
    });
    check("inverse_mills", &rows, 5, NO_FLOOR, 2e-15, |r| {
        inverse_mills(r[0])
    });
    let rows = table::<2>("quantile.csv");
    check("normal_quantile", &rows, 1, NO_FLOOR, 2e-15, |r| {
        normal_quantile(r[0])
    });
}

#[test]
fn normal_on_an_interval() {
    let rows = table::<5>("truncated.csv");
    let moments = |r: &[f64; 5]| truncated_normal_moments(0.0, 1.0, r[0], r[1]).unwrap();
    check("ln_interval_probability", &rows, 4, NO_FLOOR, 1e-14, |r| {
        ln_interval_probability(r[0], r[1])
    });
    check("truncated: ln_mass", &rows, 4, NO_FLOOR, 1e-14, |r| {
        moments(r).ln_mass
    });
    check("truncated: mean", &rows, 2, NO_FLOOR, 1e-14, |r| {
        moments(r).mean
    });
    check("truncated: variance", &rows, 3, NO_FLOOR, 2e-14, |r| {
        moments(r).variance
    });
    // The same intervals, mirrored.
    let mirror = |r: &[f64; 5]| truncated_normal_moments(0.0, 1.0, -r[1], -r[0]).unwrap();
    check(
        "truncated: mean, mirrored",
        &rows,
        2,
        NO_FLOOR,
        1e-14,
        |r| -mirror(r).mean,
    );
    check(
        "truncated: variance, mirr.",
        &rows,
        3,
        NO_FLOOR,
        1e-13,
        |r| mirror(r).variance,
    );
}

#[test]
fn bessel_family() {
    let rows = table::<4>("bessel.csv");
    check("ln_bessel_k_scaled", &rows, 2, 1.0, 2e-14, |r| {
        ln_bessel_k_scaled(r[0], r[1])
    });
    check("bessel_k_ratio", &rows, 3, NO_FLOOR, 2e-14, |r| {
        bessel_k_ratio(r[0], r[1])
    });
    let near: Vec<_> = rows
        .iter()
        .copied()
        .filter(|r| r[2].abs() < 100.0)
        .collect();
    check("bessel_k_scaled", &near, 2, 1.0, 2e-14, |r| {
        bessel_k_scaled(r[0], r[1]).ln()
    });
}

#[test]
fn generalised_inverse_gaussian() {
    let rows = table::<6>("gig.csv");
    let moments = |r: &[f64; 6]| gig_moments(r[0], r[1], r[2]).unwrap();
    check("gig: mean", &rows, 3, NO_FLOOR, 1e-14, |r| moments(r).mean);
    check("gig: mean_inverse", &rows, 4, NO_FLOOR, 1e-14, |r| {
        moments(r).mean_inverse
    });
    check("gig: ln_normaliser", &rows, 5, 1.0, 1e-13, |r| {
        moments(r).ln_normaliser
    });
}

#[test]
fn gamma_distribution() {
    let rows = table::<4>("gamma_moments.csv");
    check("gamma::mean_log", &rows, 2, 0.3, 1e-14, |r| {
        gamma::mean_log(r[0], r[1])
    });
    let large: Vec<_> = rows.iter().copied().filter(|r| r[0] > 10.0).collect();
    check(
        "gamma::mean_log, large shape",
        &large,
        2,
        1e-4,
        1e-14,
        |r| gamma::mean_log(r[0], r[1]),
    );
    check("gamma::entropy", &rows, 3, 1.0, 1e-14, |r| {
        gamma::entropy(r[0], r[1])
    });
    let rows = table::<5>("gamma_kl.csv");
    check("gamma::kl", &rows, 4, NO_FLOOR, 3e-14, |r| {
        gamma::kl(r[0], r[1], r[2], r[3])
    });
}

#[test]
fn gauss_hermite_rules() {
    let rows = table::<3>("gauss_hermite.csv");
    let root_two = std::f64::consts::SQRT_2;
    let root_pi = std::f64::consts::PI.sqrt();
    let mut start = 0;
    let (mut physicists, mut normal) = (Vec::new(), Vec::new());
    while start < rows.len() {
        let n = rows[start][0] as usize;
        let (p, q) = (
            GaussHermite::physicists(n).unwrap(),
            GaussHermite::normal(n).unwrap(),
        );
        for (i, row) in rows[start..start + n.div_ceil(2)].iter().enumerate() {
            assert_eq!(row[0] as usize, n);
            let last = n - 1 - i; // the table begins at the largest node
            let [_, x, w] = *row;
            physicists.push([p.nodes()[last], p.weights()[last], x, w]);
            physicists.push([-p.nodes()[i], p.weights()[i], x, w]);
            normal.push([
                q.nodes()[last] / root_two,
                q.weights()[last] * root_pi,
                x,
                w,
            ]);
        }
        start += n.div_ceil(2);
    }
    check(
        "hermite nodes, physicists'",
        &physicists,
        2,
        NO_FLOOR,
        1e-15,
        |r| r[0],
    );
    check(
        "hermite weights, physicists'",
        &physicists,
        3,
        NO_FLOOR,
        1e-15,
        |r| r[1],
    );
    check("hermite nodes, normal", &normal, 2, NO_FLOOR, 1e-15, |r| {
        r[0]
    });
    check(
        "hermite weights, normal",
        &normal,
        3,
        NO_FLOOR,
        1e-15,
        |r| r[1],
    );
}
