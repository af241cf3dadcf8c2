//! Columns of matrices as slices, where they are contiguous.

use faer::prelude::ReborrowMut;
use faer::{Accum, ColMut, ColRef};

/// The entries of a column, where they lie side by side.
#[inline(always)]
pub(crate) fn as_slice(column: ColRef<'_, f64>) -> Option<&[f64]> {
    column.try_as_col_major().map(ColRef::as_slice)
}

/// Copies a slice to a column of its length, or adds it.
#[inline(always)]
pub(crate) fn put_column(mut column: ColMut<'_, f64>, values: &[f64], accum: Accum) {
    if matches!(accum, Accum::Replace) {
        write_column(column, values);
    } else if let Some(entries) = column.rb_mut().try_as_col_major_mut() {
        for (x, y) in entries.as_slice_mut().iter_mut().zip(values) {
            *x += y;
        }
    } else {
        for (x, y) in column.iter_mut().zip(values) {
            *x += y;
        }
    }
}

/// Copies a slice to a column of its length, fast where the column is contiguous.
///
/// # Panics
/// If the lengths differ and the column is contiguous.
#[inline(always)]
pub fn write_column(mut column: ColMut<'_, f64>, values: &[f64]) {
    if let Some(entries) = column.rb_mut().try_as_col_major_mut() {
        // eight at a time: most columns here are too short for a call of memcpy to pay
        let (to, to_rest) = entries.as_slice_mut().as_chunks_mut::<8>();
        let (from, from_rest) = values.as_chunks();
        for (to, from) in to.iter_mut().zip(from) {
            *to = *from;
        }
        to_rest.copy_from_slice(from_rest);
    } else {
        for (x, y) in column.iter_mut().zip(values) {
            *x = *y;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Mat;

    #[test]
    fn columns_are_written_and_added_to_whatever_their_stride() {
        let values: Vec<f64> = (0..11).map(f64::from).collect();
        for rows in [0, 1, 8, 11] {
            let values = &values[..rows];
            for (accum, before) in [(Accum::Replace, 0.0), (Accum::Add, 2.0)] {
                let mut columns = Mat::full(rows, 3, 2.0);
                put_column(columns.as_mut().col_mut(1), values, accum);
                let mut across = Mat::full(3, rows, 2.0);
                put_column(across.as_mut().transpose_mut().col_mut(1), values, accum);
                let mut back = Mat::full(rows, 3, 2.0);
                put_column(back.as_mut().reverse_rows_mut().col_mut(1), values, accum);
                for (n, x) in values.iter().enumerate() {
                    let all = [columns[(n, 1)], across[(1, n)], back[(rows - 1 - n, 1)]];
                    assert_eq!(all, [before + x; 3], "{rows} {accum:?}");
                    assert_eq!((columns[(n, 0)], across[(2, n)]), (2.0, 2.0));
                }
            }
        }
    }
}
