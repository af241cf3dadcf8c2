use super::*;
use proptest::prelude::*;

fn arbitrary() -> impl Strategy<Value = (usize, usize, Vec<bool>)> {
    (0_usize..30, 0_usize..12).prop_flat_map(|(rows, cols)| {
        let bits = proptest::collection::vec(any::<bool>(), rows * cols);
        bits.prop_map(move |bits| (rows, cols, bits))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(80))]

    #[test]
    fn a_mask_is_a_table_of_bits((rows, cols, bits) in arbitrary()) {
        let bit = |r: usize, c: usize| bits[c * rows + r];
        let mask = BitMask::from_fn(rows, cols, bit);
        let mut written = BitMask::full(rows, cols);
        for c in 0..cols {
            for r in 0..rows {
                prop_assert_eq!(mask.get(r, c), bit(r, c));
                written.set(r, c, bit(r, c));
            }
            let ones: Vec<usize> = (0..rows).filter(|&r| bit(r, c)).collect();
            let zeros: Vec<usize> = (0..rows).filter(|&r| !bit(r, c)).collect();
            prop_assert_eq!(mask.count_col(c), ones.len());
            prop_assert_eq!(mask.is_full_col(c), zeros.is_empty());
            prop_assert!(mask.ones_in_col(c).eq(ones));
            prop_assert!(mask.zeros_in_col(c).eq(zeros));
        }
        prop_assert_eq!(&written, &mask);
        prop_assert_eq!(mask.count(), bits.iter().filter(|b| **b).count());
        prop_assert_eq!(mask.is_full(), bits.iter().all(|b| *b));

        let turned = mask.transposed();
        prop_assert_eq!(&turned, &BitMask::from_fn(cols, rows, |c, r| bit(r, c)));
        prop_assert_eq!(&turned.transposed(), &mask);

        let back = BitMask::from_bytes(rows, cols, mask.as_bytes().to_vec()).unwrap();
        prop_assert_eq!(back, mask);
    }
}

#[test]
fn full_masks_are_full() {
    for (rows, cols) in [(0, 0), (0, 3), (3, 0), (8, 2), (9, 2), (64, 1), (65, 4)] {
        let mask = BitMask::full(rows, cols);
        assert!(mask.is_full());
        assert_eq!(mask.count(), rows * cols);
        assert_eq!(mask, BitMask::from_fn(rows, cols, |_, _| true));
        assert_eq!(BitMask::empty(rows, cols).count(), 0);
    }
}

#[test]
fn bytes_that_are_no_mask_are_refused() {
    let short = BitMask::from_bytes(9, 2, vec![0; 3]).unwrap_err();
    assert!(matches!(
        short,
        LinalgError::ShapeMismatch {
            expected: 4,
            found: 3,
            ..
        }
    ));
    let stray = BitMask::from_bytes(9, 2, vec![0, 1, 0, 2]).unwrap_err();
    assert_eq!(stray, LinalgError::MaskPadding { column: 1 });
    let huge = BitMask::from_bytes(usize::MAX, usize::MAX, vec![]);
    assert!(matches!(huge, Err(LinalgError::ShapeMismatch { .. })));
    assert!(BitMask::from_bytes(0, 5, vec![]).is_ok());
}

#[test]
fn what_is_not_observed_is_cleared_whatever_the_number_of_rows() {
    for rows in [0, 1, 7, 8, 9, 60, 63, 64, 65, 100, 125, 128, 200] {
        let mask = BitMask::from_fn(rows, 2, |r, c| (r * r + 3 * c) % 5 < 3);
        for column in 0..2 {
            // numbers beyond the last row stay
            let mut x: Vec<f64> = (0..rows + 3).map(|r| r as f64 + 1.0).collect();
            for r in mask.zeros_in_col(column) {
                x[r] = f64::NAN;
            }
            mask.clear_zeros_in_col(column, &mut x);
            for (r, x) in x.iter().enumerate() {
                let seen = r >= rows || mask.get(r, column);
                let expected = if seen { r as f64 + 1.0 } else { 0.0 };
                assert_eq!(*x, expected, "{rows} rows, row {r}");
            }
        }
    }
}
