use super::*;
use crate::test_support::noise;
use proptest::prelude::*;

fn rotated(loadings: &Mat<f64>, result: &Varimax) -> Mat<f64> {
    loadings * &result.rotation
}

/// The criterion by its definition.
fn slow_criterion(loadings: &Mat<f64>, normalisation: KaiserNormalisation) -> f64 {
    let (d, k) = loadings.shape();
    let norms: Vec<f64> = (0..d)
        .map(|i| match normalisation {
            KaiserNormalisation::None => 1.0,
            KaiserNormalisation::Rows => {
                let norm: f64 = (0..k).map(|j| loadings[(i, j)].powi(2)).sum::<f64>().sqrt();
                if norm > 0.0 { norm } else { 1.0 }
            }
        })
        .collect();
    (0..k)
        .map(|j| {
            let squares: Vec<f64> = (0..d)
                .map(|i| (loadings[(i, j)] / norms[i]).powi(2))
                .collect();
            let mean = squares.iter().sum::<f64>() / d as f64;
            squares.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / d as f64
        })
        .sum()
}

fn orthogonality_gap(rotation: &Mat<f64>) -> f64 {
    let product = rotation.transpose() * rotation;
    let mut gap = 0.0_f64;
    for i in 0..rotation.nrows() {
        for j in 0..rotation.ncols() {
            gap = gap.max((product[(i, j)] - f64::from(u8::from(i == j))).abs());
        }
    }
    gap
}

/// One block of features per factor.
fn simple_structure(d: usize, k: usize) -> Mat<f64> {
    let sizes = noise(d, 1, 8);
    Mat::from_fn(d, k, |i, j| {
        if i % k == j {
            1.0 + 0.5 * sizes[(i, 0)]
        } else {
            0.0
        }
    })
}

#[test]
fn a_rotated_simple_structure_is_found_again() {
    for k in [2, 3, 5, 8] {
        let truth = simple_structure(20 * k, k);
        let (mixing, _) = crate::thin_qr(noise(k, k, 3).as_ref()).unwrap();
        let loadings = &truth * &mixing;
        let result = varimax(loadings.as_ref(), &VarimaxOptions::default()).unwrap();
        assert!(result.converged);
        let found = rotated(&loadings, &result);
        // every column has the entries of one true column, up to sign, and zeros elsewhere
        for j in 0..k {
            let large: Vec<usize> = (0..20 * k)
                .filter(|&i| found[(i, j)].abs() > 1e-7)
                .collect();
            assert_eq!(large.len(), 20);
            assert!(large.iter().all(|i| i % k == large[0] % k));
        }
    }
}

#[test]
fn two_columns_reach_the_best_of_all_angles() {
    for normalisation in [KaiserNormalisation::Rows, KaiserNormalisation::None] {
        for seed in 1..6 {
            let loadings = noise(17, 2, seed);
            let options = VarimaxOptions {
                normalisation,
                ..VarimaxOptions::default()
            };
            let result = varimax(loadings.as_ref(), &options).unwrap();
            let at = |angle: f64| {
                let (s, c) = angle.sin_cos();
                let turn = Mat::from_fn(2, 2, |i, j| [[c, -s], [s, c]][i][j]);
                slow_criterion(&(&loadings * turn), normalisation)
            };
            let best = (0..20_000)
                .map(|i| at(f64::from(i) / 20_000.0 * std::f64::consts::FRAC_PI_2))
                .fold(0.0, f64::max);
            assert!(result.criterion >= best - 1e-12);
            assert!(result.criterion <= best + 1e-6 * best);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn the_rotation_is_orthogonal_and_the_criterion_rises(d in 1_usize..40, k in 1_usize..7, seed in any::<u64>()) {
        for normalisation in [KaiserNormalisation::Rows, KaiserNormalisation::None] {
            let mut loadings = noise(d, k, seed);
            if d > 3 {
                // zero rows have no direction
                for j in 0..k {
                    loadings[(2, j)] = 0.0;
                }
            }
            let options = VarimaxOptions { normalisation, ..VarimaxOptions::default() };
            let result = varimax(loadings.as_ref(), &options).unwrap();
            prop_assert!(orthogonality_gap(&result.rotation) < 1e-12);
            let det = crate::log_abs_det(result.rotation.as_ref()).unwrap();
            prop_assert!(det.abs() < 1e-12);
            let after = slow_criterion(&rotated(&loadings, &result), normalisation);
            prop_assert!((after - result.criterion).abs() < 1e-10);
            prop_assert!(after >= slow_criterion(&loadings, normalisation) - 1e-12);
        }
    }
}

#[test]
fn it_is_stationary_where_it_ends() {
    let loadings = noise(60, 5, 4);
    let first = varimax(loadings.as_ref(), &VarimaxOptions::default()).unwrap();
    assert!(first.converged && first.sweeps > 1);
    let second = varimax(
        rotated(&loadings, &first).as_ref(),
        &VarimaxOptions::default(),
    )
    .unwrap();
    assert_eq!(second.sweeps, 1);
    assert!((second.criterion - first.criterion).abs() < 1e-12);
}

#[test]
fn a_saddle_is_left() {
    // every planar derivative vanishes at the start, but it is the minimum
    let loadings = Mat::from_fn(2, 2, |i, j| [[1.0, 1.0], [1.0, -1.0]][i][j]);
    let result = varimax(loadings.as_ref(), &VarimaxOptions::default()).unwrap();
    let found = rotated(&loadings, &result);
    assert!(found[(0, 0)].abs() < 1e-15 || found[(0, 1)].abs() < 1e-15);
    assert!((result.criterion - 0.5).abs() < 1e-15);
}

#[test]
fn degenerate_loadings_are_legal() {
    for (d, k) in [(0, 3), (3, 0), (4, 1), (1, 4)] {
        let result = varimax(noise(d, k, 1).as_ref(), &VarimaxOptions::default()).unwrap();
        assert!(result.converged && result.criterion.is_finite());
        assert!(orthogonality_gap(&result.rotation) < 1e-14);
    }
    let zeros = Mat::<f64>::zeros(6, 3);
    let result = varimax(zeros.as_ref(), &VarimaxOptions::default()).unwrap();
    assert_eq!(result.rotation, Mat::<f64>::identity(3, 3));
    // collinear columns
    let column = noise(9, 1, 2);
    let twins = Mat::from_fn(9, 3, |i, _| column[(i, 0)]);
    assert!(
        varimax(twins.as_ref(), &VarimaxOptions::default())
            .unwrap()
            .converged
    );
}

#[test]
fn the_scale_of_the_loadings_has_no_influence() {
    for normalisation in [KaiserNormalisation::Rows, KaiserNormalisation::None] {
        let options = VarimaxOptions {
            normalisation,
            ..VarimaxOptions::default()
        };
        let loadings = noise(12, 3, 5);
        let plain = varimax(loadings.as_ref(), &options).unwrap();
        for exponent in [-600, 500] {
            let scale = 2.0_f64.powi(exponent);
            let scaled = Mat::from_fn(12, 3, |i, j| loadings[(i, j)] * scale);
            assert_eq!(
                varimax(scaled.as_ref(), &options).unwrap().rotation,
                plain.rotation
            );
        }
    }
}

#[test]
fn what_is_not_finite_is_refused_and_what_is_unfinished_is_said() {
    let mut loadings = noise(5, 3, 1);
    let few = VarimaxOptions {
        max_sweeps: 1,
        ..VarimaxOptions::default()
    };
    assert!(!varimax(loadings.as_ref(), &few).unwrap().converged);
    loadings[(3, 1)] = f64::NAN;
    let error = varimax(loadings.as_ref(), &few).unwrap_err();
    assert!(matches!(error, LinalgError::NotFinite { .. }));
}
