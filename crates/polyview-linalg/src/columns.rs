//! Columns of matrices as slices, where they are contiguous.

use faer::{Accum, ColMut, ColRef};

/// The entries of a column, where they lie side by side.
#[inline(always)]
pub(crate) fn as_slice(column: ColRef<'_, f64>) -> Option<&[f64]> {
    column.try_as_col_major().map(ColRef::as_slice)
}

/// Copies a slice to a column of its length, or adds it.
#[inline(always)]
pub(crate) fn put_column(column: ColMut<'_, f64>, values: &[f64], accum: Accum) {
    match accum {
        Accum::Replace => write_column(column, values),
        Accum::Add if column.row_stride() == 1 => {
            if let Some(entries) = column.try_as_col_major_mut() {
                for (x, y) in entries.as_slice_mut().iter_mut().zip(values) {
                    *x += y;
                }
            }
        }
        Accum::Add => {
            for (x, y) in column.iter_mut().zip(values) {
                *x += y;
            }
        }
    }
}

/// Copies a slice to a column of its length, fast where the column is contiguous.
///
/// # Panics
/// If the lengths differ and the column is contiguous.
#[inline(always)]
pub fn write_column(column: ColMut<'_, f64>, values: &[f64]) {
    if column.row_stride() == 1 {
        if let Some(entries) = column.try_as_col_major_mut() {
            // eight at a time: most columns here are too short for a call of memcpy to pay
            let (to, to_rest) = entries.as_slice_mut().as_chunks_mut::<8>();
            let (from, from_rest) = values.as_chunks();
            for (to, from) in to.iter_mut().zip(from) {
                *to = *from;
            }
            to_rest.copy_from_slice(from_rest);
        }
    } else {
        for (x, y) in column.iter_mut().zip(values) {
            *x = *y;
        }
    }
}
