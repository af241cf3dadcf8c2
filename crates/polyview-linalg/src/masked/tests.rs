use super::*;
use crate::test_support::{Numbers, noise, with_threads};
use faer::Mat;
use proptest::prelude::*;

fn random_mask(rows: usize, cols: usize, observed: f64, seed: u64) -> BitMask {
    let mut numbers = Numbers::new(seed);
    BitMask::from_fn(rows, cols, |_, _| numbers.next() < 2.0 * observed - 1.0)
}

/// Sums by their definition.
fn slow(mask: &BitMask, table: MatRef<'_, f64>) -> Mat<f64> {
    Mat::from_fn(table.nrows(), mask.cols(), |i, d| {
        (0..mask.rows())
            .filter(|&n| mask.get(n, d))
            .map(|n| table[(i, n)])
            .sum()
    })
}

fn close(a: &Mat<f64>, b: &Mat<f64>, tolerance: f64) {
    assert_eq!(a.shape(), b.shape());
    for j in 0..a.ncols() {
        for i in 0..a.nrows() {
            let gap = (a[(i, j)] - b[(i, j)]).abs();
            assert!(gap <= tolerance, "{gap:e} at ({i}, {j})");
        }
    }
}

fn fast(mask: &BitMask, table: MatRef<'_, f64>) -> Mat<f64> {
    let mut out = noise(table.nrows(), mask.cols(), 99);
    masked_sums(mask, table, out.as_mut());
    out
}

#[test]
fn sums_equal_plain_loops_for_awkward_shapes_and_any_density() {
    for p in [0, 1, 7, 8, 9, 15, 16, 17, 33] {
        for (n, d) in [(0, 3), (1, 1), (7, 5), (8, 3), (39, 40), (41, 9), (300, 70)] {
            for observed in [0.0, 0.02, 0.5, 0.98, 1.0] {
                let mask = random_mask(n, d, observed, (n + d + p) as u64);
                let table = noise(p, n, 3);
                let tolerance = 1e-15 * (n + 1) as f64;
                close(
                    &fast(&mask, table.as_ref()),
                    &slow(&mask, table.as_ref()),
                    tolerance,
                );
            }
        }
    }
}

#[test]
fn long_vectors_and_many_columns_are_covered() {
    let mask = random_mask(203, 30, 0.6, 1);
    let table = noise(1275, 203, 2);
    close(
        &fast(&mask, table.as_ref()),
        &slow(&mask, table.as_ref()),
        1e-12,
    );
    // more columns than one block of tables serves
    let mask = random_mask(60, 2 * COLUMN_BLOCK + 3, 0.6, 1);
    let table = noise(3, 60, 2);
    close(
        &fast(&mask, table.as_ref()),
        &slow(&mask, table.as_ref()),
        1e-12,
    );
}

#[test]
fn rows_of_any_stride_are_accepted() {
    let mask = random_mask(90, 12, 0.6, 1);
    let table = noise(90, 20, 2);
    let mut out = Mat::zeros(12, 20);
    masked_sums(&mask, table.transpose(), out.as_mut().transpose_mut());
    close(
        &out.transpose().to_owned(),
        &slow(&mask, table.transpose()),
        1e-12,
    );
}

#[test]
fn a_few_missing_giants_leave_no_residue() {
    // two rows of size 1e17 are missing: what is left must be exact, not the difference of two giants
    let n = 640;
    let mask = BitMask::from_fn(n, 2, |r, d| d == 1 || (r != 13 && r != 400));
    let table = Mat::from_fn(65, n, |i, r| match r {
        13 => 1e17,
        400 => -3e17 + i as f64 * 1e3,
        _ => 0.1 * (i + r) as f64,
    });
    let sums = fast(&mask, table.as_ref());
    let expected = slow(&mask, table.as_ref());
    for i in 0..65 {
        let relative = (sums[(i, 0)] / expected[(i, 0)] - 1.0).abs();
        assert!(relative < 1e-13, "{relative:e}");
    }
}

#[test]
fn equal_columns_have_equal_bits_and_neighbours_no_influence() {
    let n = 200;
    let base = random_mask(n, 4, 0.5, 9);
    let repeated = BitMask::from_fn(n, 40, |r, d| base.get(r, d % 4));
    let table = noise(20, n, 1);
    let (few, many) = (fast(&base, table.as_ref()), fast(&repeated, table.as_ref()));
    for d in 0..40 {
        assert!(many.col(d).iter().eq(few.col(d % 4).iter()));
    }
}

#[test]
fn threads_leave_every_bit_alone() {
    let mut mask = random_mask(700, 300, 0.6, 3);
    for d in 0..50 {
        for r in 0..700 {
            mask.set(r, d, r % 97 != d);
        }
    }
    let table = noise(90, 700, 4);
    let results = with_threads(&|| fast(&mask, table.as_ref()));
    assert!(results.iter().all(|r| *r == results[0]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn sums_are_linear_in_the_table(n in 1_usize..120, d in 1_usize..20, p in 1_usize..40, seed in any::<u64>()) {
        let mask = random_mask(n, d, 0.5, seed);
        let (a, b) = (noise(p, n, seed ^ 1), noise(p, n, seed ^ 2));
        let together = fast(&mask, (&a + &b).as_ref());
        let apart = fast(&mask, a.as_ref()) + fast(&mask, b.as_ref());
        close(&together, &apart, 1e-12);
    }
}

#[test]
fn some_columns_have_the_bits_that_they_have_among_all() {
    for observed in [0.004, 0.5, 0.996] {
        let mask = random_mask(410, 90, observed, 3);
        let table = noise(35, 410, 2);
        let all = fast(&mask, table.as_ref());
        for columns in [0..1, 13..77, 89..90, 40..40] {
            let mut some = noise(35, columns.len(), 9);
            masked_sums_of(&mask, columns.clone(), table.as_ref(), some.as_mut());
            assert_eq!(
                some.as_ref(),
                all.as_ref().subcols(columns.start, columns.len())
            );
        }
    }
}

#[test]
fn sums_over_parts_of_the_rows_add_up() {
    for (n, d, at) in [(41, 9, 8), (300, 70, 128), (300, 70, 296), (16, 3, 16)] {
        for observed in [0.02, 0.5, 0.98] {
            let mask = random_mask(n, d, observed, (n + d) as u64);
            let table = noise(11, n, 3);
            let mut out = Mat::zeros(11, d);
            for rows in [0..at, at..n] {
                let part = table.as_ref().subcols(rows.start, rows.len());
                add_masked_sums(&mask.part(rows, 0..d), part, out.as_mut());
            }
            close(&out, &slow(&mask, table.as_ref()), 1e-14 * n as f64);
        }
    }
}

#[test]
fn products_over_observed_cells_are_those_with_zeros_elsewhere() {
    for k in [1, 7, 8, 10, 16, 33, 40] {
        for (n, d) in [(1, 1), (63, 5), (64, 70), (87, 600), (200, 9)] {
            for observed in [0.0, 0.2, 1.0] {
                let mask = random_mask(n, d, observed, (n + d + k) as u64);
                let hidden = noise(n, d, 5);
                let zeros = Mat::from_fn(
                    n,
                    d,
                    |i, j| {
                        if mask.get(i, j) { hidden[(i, j)] } else { 0.0 }
                    },
                );
                // what lies under the mask is never read
                let x = Mat::from_fn(n, d, |i, j| {
                    if mask.get(i, j) {
                        hidden[(i, j)]
                    } else {
                        f64::NAN
                    }
                });
                let cells = ObservedCells::new(&mask, x.as_ref());
                let columns = d / 3..d;
                let of = |m: &Mat<f64>| m.as_ref().subcols(columns.start, columns.len()).to_owned();
                let z = noise(n, k, 6);
                let mut out = noise(k, columns.len(), 7);
                cells.cross_into(columns.clone(), z.as_ref(), out.as_mut());
                close(&out, &(z.transpose() * of(&zeros)), 1e-13 * (n + 1) as f64);
                let w = noise(columns.len(), k, 8);
                let t: Vec<f64> = (0..columns.len()).map(|j| 1.0 + j as f64).collect();
                let scaled = Mat::from_fn(columns.len(), k, |j, c| t[j] * w[(j, c)]);
                for (t, w_t) in [(None, &w), (Some(&t[..]), &scaled)] {
                    let start = noise(n, k, 9);
                    let mut out = start.clone();
                    cells.times_into(columns.clone(), w.as_ref(), t, out.as_mut());
                    let size = t.map_or(1.0, |t| t.iter().fold(0.0, |a: f64, b| a.max(*b)));
                    let tolerance = 1e-14 * size * (d + 1) as f64;
                    close(&out, &(start + of(&zeros) * w_t), tolerance);
                }
            }
        }
    }
}

#[test]
fn threads_leave_products_over_observed_cells_alone() {
    let mask = random_mask(87, 900, 0.2, 3);
    let cells = ObservedCells::new(&mask, noise(87, 900, 1).as_ref());
    let both = || {
        let (mut zx, mut xw) = (Mat::zeros(10, 900), Mat::zeros(87, 10));
        cells.cross_into(0..900, noise(87, 10, 2).as_ref(), zx.as_mut());
        cells.times_into(0..900, noise(900, 10, 4).as_ref(), None, xw.as_mut());
        (zx, xw)
    };
    let found = with_threads(&both);
    assert!(found.iter().all(|f| *f == found[0]));
}
