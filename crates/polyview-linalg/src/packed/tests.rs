use super::*;
use crate::test_support::{noise, spd_rows, with_threads};
use faer::Mat;
use proptest::prelude::*;

fn random(k: usize, seed: u64) -> SymPacked {
    SymPacked::from_mat(noise(k, k, seed).as_ref())
}

fn trace(a: &Mat<f64>) -> f64 {
    (0..a.nrows()).map(|i| a[(i, i)]).sum()
}

#[test]
fn entries_lie_row_by_row() {
    let mut at = 0;
    for i in 0..9 {
        assert_eq!(packed_len(i), at);
        for j in 0..=i {
            assert_eq!(packed_index(i, j), at);
            at += 1;
        }
    }
}

#[test]
fn a_matrix_survives_packing() {
    for k in [0, 1, 2, 5, 17] {
        let full = noise(k, k, 3);
        let packed = SymPacked::from_mat(full.as_ref());
        let back = packed.to_mat();
        for i in 0..k {
            for j in 0..k {
                let expected = full[(i.max(j), i.min(j))];
                assert_eq!((back[(i, j)], packed.get(i, j)), (expected, expected));
            }
        }
        assert_eq!(SymPacked::from_mat(back.as_ref()), packed);
        let copy = SymPacked::from_packed(k, packed.as_slice().to_vec());
        assert_eq!(copy, Some(packed));
        assert_eq!(
            SymPacked::from_packed(k + 1, vec![0.0; packed_len(k)]),
            None
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn operations_equal_their_dense_forms(k in 0_usize..24, seed in any::<u64>(), alpha in -2.0_f64..2.0) {
        let (a, b) = (random(k, seed), random(k, seed ^ 1));
        let x: Vec<f64> = noise(k, 1, seed ^ 2).col(0).iter().copied().collect();
        let column = Mat::from_fn(k, 1, |i, _| x[i]);
        let (full, other) = (a.to_mat(), b.to_mat());
        let near = |p: f64, q: f64| (p - q).abs() < 1e-12;

        prop_assert!(near(a.dot(&b), trace(&(&full * &other))));
        prop_assert!(near(packed_dot(a.as_slice(), b.as_slice(), k), a.dot(&b)));
        let product = &full * &column;
        let quad: f64 = (0..k).map(|i| x[i] * product[(i, 0)]).sum();
        prop_assert!(near(a.quad(&x), quad));
        prop_assert!(near(a.trace(), trace(&full)));
        for (i, y) in a.times_vec(&x).into_iter().enumerate() {
            prop_assert!(near(y, product[(i, 0)]));
        }
        for (i, d) in a.diag().into_iter().enumerate() {
            prop_assert_eq!(d, full[(i, i)]);
        }

        let mut c = a.clone();
        c.add_scaled(alpha, &b);
        c.add_outer(alpha, &x);
        c.add_diag(&x);
        c.scale(0.5);
        for i in 0..k {
            for j in 0..k {
                let diagonal = if i == j { x[i] } else { 0.0 };
                let expected =
                    0.5 * (full[(i, j)] + alpha * other[(i, j)] + alpha * x[i] * x[j] + diagonal);
                prop_assert!(near(c.get(i, j), expected));
            }
        }
    }
}

#[test]
fn rows_are_the_columns_of_the_matrix_view() {
    let mut rows = spd_rows(5, 3, 1);
    assert_eq!((rows.rows(), rows.k()), (5, 3));
    for r in 0..5 {
        assert!(rows.as_mat().col(r).iter().eq(rows.row(r)));
        assert_eq!(rows.sym(r).as_slice(), rows.row(r));
    }
    rows.as_mat_mut()[(4, 2)] = 7.5;
    assert_eq!(rows.row(2)[4], 7.5);
    rows.row_mut(3)[0] = -1.0;
    assert_eq!(rows.as_slice()[3 * 6], -1.0);
    let copies = PackedRows::repeat(2, &rows.sym(3));
    assert_eq!((copies.row(0), copies.row(1)), (rows.row(3), rows.row(3)));
}

#[test]
fn sums_of_rows_are_ordered() {
    for count in [0, 1, 255, 256, 257, 1030] {
        let rows = spd_rows(count, 3, 2);
        let mut expected = SymPacked::zeros(3);
        for r in 0..count {
            expected.add_scaled(1.0, &rows.sym(r));
        }
        let sums = with_threads(&|| rows.sum());
        assert!(sums.iter().all(|sum| *sum == sums[0]));
        for (a, b) in sums[0].as_slice().iter().zip(expected.as_slice()) {
            assert!((a - b).abs() <= 1e-12 * (1.0 + b.abs()));
        }
    }
}

#[test]
fn columns_are_selected_in_place() {
    let rows = crate::test_support::spd_rows(7, 4, 3);
    for (keep, signs) in [
        (vec![2, 0, 3], vec![1.0, -1.0, 1.0]),
        (vec![3, 2, 1, 0], vec![-1.0; 4]),
        (vec![1], vec![1.0]),
        (vec![], vec![]),
    ] {
        let mut some = rows.clone();
        some.select(&keep, &signs);
        assert_eq!((some.k(), some.rows()), (keep.len(), 7));
        for r in 0..7 {
            for i in 0..keep.len() {
                for j in 0..=i {
                    let expected = signs[i] * signs[j] * rows.sym(r).get(keep[i], keep[j]);
                    assert_eq!(some.sym(r).get(i, j), expected);
                }
            }
        }
    }
}
