use polyview_random::{PrecisionFactor, fill_standard_normal};

use crate::support::{assert_mean, rng};

/// A well-conditioned packed factor of dimension `k`.
fn factor(k: usize) -> Vec<f64> {
    let mut packed = Vec::new();
    for i in 0..k {
        for j in 0..=i {
            let off = ((i * 7 + j * 3) % 5) as f64 * 0.2 - 0.4;
            packed.push(if i == j { 1.0 + 0.3 * i as f64 } else { off });
        }
    }
    packed
}

fn at(packed: &[f64], i: usize, j: usize) -> f64 {
    if j <= i {
        packed[i * (i + 1) / 2 + j]
    } else {
        0.0
    }
}

/// The defining identity: `L'(x - mean)` is the vector of normals that went in.
#[test]
fn a_draw_solves_the_transposed_system() {
    for k in [0, 1, 2, 3, 8, 17] {
        let packed = factor(k);
        let law = PrecisionFactor::new(&packed, k).unwrap();
        let mean: Vec<f64> = (0..k).map(|i| 10.0 - i as f64).collect();
        let (mut x, mut normals) = (vec![0.0; k], vec![0.0; k]);
        law.sample_into(&mut rng(900), &mean, &mut x).unwrap();
        fill_standard_normal(&mut rng(900), &mut normals);
        for j in 0..k {
            let found: f64 = (0..k).map(|i| at(&packed, i, j) * (x[i] - mean[i])).sum();
            assert!((found - normals[j]).abs() < 1e-12, "k = {k}, entry {j}");
        }
    }
}

/// `sample_canonical(P m)` is `sample_into(m)`.
#[test]
fn canonical_form_has_the_same_draws() {
    for k in [1, 4, 11] {
        let packed = factor(k);
        let law = PrecisionFactor::new(&packed, k).unwrap();
        let mean: Vec<f64> = (0..k).map(|i| (i as f64).sin()).collect();
        let upper: Vec<f64> = (0..k)
            .map(|j| (0..k).map(|i| at(&packed, i, j) * mean[i]).sum())
            .collect();
        let mut rhs: Vec<f64> = (0..k)
            .map(|i| (0..k).map(|j| at(&packed, i, j) * upper[j]).sum())
            .collect();
        let mut x = vec![0.0; k];
        law.sample_into(&mut rng(901), &mean, &mut x).unwrap();
        law.sample_canonical(&mut rng(901), &mut rhs).unwrap();
        for (a, b) in x.iter().zip(&rhs) {
            assert!((a - b).abs() < 1e-12);
        }
    }
}

/// Covariance of the draws is the inverse of `[[4, 2], [2, 10]]`.
#[test]
fn covariance_is_the_inverse_precision() {
    let law = PrecisionFactor::new(&[2.0, 1.0, 3.0], 2).unwrap();
    let mut rng = rng(902);
    let n = 100_000;
    let mut products = vec![Vec::new(); 3];
    for _ in 0..n {
        let mut x = [0.0; 2];
        law.sample_into(&mut rng, &[0.0, 0.0], &mut x).unwrap();
        products[0].push(x[0] * x[0]);
        products[1].push(x[0] * x[1]);
        products[2].push(x[1] * x[1]);
    }
    let (a, b, c) = (10.0 / 36.0, -2.0 / 36.0, 4.0 / 36.0);
    assert_mean("var 0", &products[0], a, 2f64.sqrt() * a);
    assert_mean("cov", &products[1], b, (a * c + b * b).sqrt());
    assert_mean("var 1", &products[2], c, 2f64.sqrt() * c);
}
