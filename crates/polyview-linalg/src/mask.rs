//! Which cells of a matrix are observed, one bit each.

use crate::LinalgError;
use crate::error::same_len;
use crate::simd::{Kernel, dispatch};
use std::ops::Range;
use std::sync::Arc;

#[cfg(test)]
mod tests;

/// A rows × columns table of bits, packed along the rows: eight consecutive rows of one column share a byte.
///
/// Row $r$ of column $c$ is bit $r \bmod 8$ of byte $\lfloor r/8 \rfloor$ of that column. The unused bits of a
/// column's last byte are zero, always. Copies share their bits until one of them is written to.
///
/// ```
/// use polyview_linalg::BitMask;
///
/// let mask = BitMask::from_fn(10, 2, |r, c| r % 2 == c);
/// assert_eq!(mask.column_bytes(0), &[0b0101_0101, 0b01]);
/// assert_eq!((mask.count(), mask.count_col(1), mask.is_full()), (10, 5, false));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct BitMask {
    rows: usize,
    cols: usize,
    bytes: Arc<Vec<u8>>,
}

impl BitMask {
    /// A mask with every bit set.
    pub fn full(rows: usize, cols: usize) -> Self {
        let (stride, last) = (rows.div_ceil(8), last_byte(rows));
        let mut bytes = vec![0xff; stride * cols];
        if stride > 0 {
            for column in bytes.chunks_exact_mut(stride) {
                column[stride - 1] = last;
            }
        }
        Self::of(rows, cols, bytes)
    }

    /// A mask with no bit set.
    pub fn empty(rows: usize, cols: usize) -> Self {
        Self::of(rows, cols, vec![0; rows.div_ceil(8) * cols])
    }

    fn of(rows: usize, cols: usize, bytes: Vec<u8>) -> Self {
        Self {
            rows,
            cols,
            bytes: Arc::new(bytes),
        }
    }

    /// The mask whose bit at (row, column) is `observed(row, column)`.
    pub fn from_fn(
        rows: usize,
        cols: usize,
        mut observed: impl FnMut(usize, usize) -> bool,
    ) -> Self {
        let stride = rows.div_ceil(8);
        let mut bytes = vec![0; stride * cols];
        for c in 0..cols {
            for r in 0..rows {
                bytes[c * stride + r / 8] |= u8::from(observed(r, c)) << (r % 8);
            }
        }
        Self::of(rows, cols, bytes)
    }

    /// The mask that [`as_bytes`](Self::as_bytes) wrote.
    ///
    /// # Errors
    /// [`LinalgError::ShapeMismatch`] where the number of bytes is not that of the shape;
    /// [`LinalgError::MaskPadding`] where a bit beyond the last row is set.
    pub fn from_bytes(rows: usize, cols: usize, bytes: Vec<u8>) -> Result<Self, LinalgError> {
        let stride = rows.div_ceil(8);
        let expected = stride.saturating_mul(cols);
        same_len("bytes of a mask", expected, bytes.len())?;
        if stride > 0 {
            let beyond = !last_byte(rows);
            let stray = bytes
                .chunks_exact(stride)
                .position(|column| column[stride - 1] & beyond != 0);
            if let Some(column) = stray {
                return Err(LinalgError::MaskPadding { column });
            }
        }
        Ok(Self::of(rows, cols, bytes))
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Bytes of all columns, one column after the other.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Bytes of one column: $\lceil \mathrm{rows}/8 \rceil$ of them.
    ///
    /// # Panics
    /// If `col` is out of range.
    pub fn column_bytes(&self, col: usize) -> &[u8] {
        let stride = self.stride();
        &self.bytes[col * stride..(col + 1) * stride]
    }

    /// The bit at (row, column).
    ///
    /// # Panics
    /// If an index is out of range.
    pub fn get(&self, row: usize, col: usize) -> bool {
        assert!(row < self.rows, "row {row} of a mask of {} rows", self.rows);
        self.column_bytes(col)[row / 8] >> (row % 8) & 1 == 1
    }

    /// Writes the bit at (row, column).
    ///
    /// # Panics
    /// If an index is out of range.
    pub fn set(&mut self, row: usize, col: usize, observed: bool) {
        assert!(row < self.rows, "row {row} of a mask of {} rows", self.rows);
        let at = col * self.stride() + row / 8;
        let bit = 1 << (row % 8);
        let byte = &mut Arc::make_mut(&mut self.bytes)[at];
        if observed {
            *byte |= bit;
        } else {
            *byte &= !bit;
        }
    }

    /// Bits set in column `col`.
    ///
    /// # Panics
    /// If `col` is out of range.
    pub fn count_col(&self, col: usize) -> usize {
        ones(self.column_bytes(col))
    }

    /// Bits set in all.
    pub fn count(&self) -> usize {
        ones(&self.bytes)
    }

    /// Whether every bit is set.
    pub fn is_full(&self) -> bool {
        self.count() == self.rows * self.cols
    }

    /// Whether every bit of column `col` is set.
    ///
    /// # Panics
    /// If `col` is out of range.
    pub fn is_full_col(&self, col: usize) -> bool {
        self.count_col(col) == self.rows
    }

    /// The columns × rows mask with the same bits.
    pub fn transposed(&self) -> Self {
        let stride = self.cols.div_ceil(8);
        let mut bytes = vec![0; stride * self.rows];
        for c in 0..self.cols {
            for r in self.ones_in_col(c) {
                bytes[r * stride + c / 8] |= 1 << (c % 8);
            }
        }
        Self::of(self.cols, self.rows, bytes)
    }

    /// The bits of some rows and columns, as a mask of their own. The rows begin at a multiple of eight: whole bytes
    /// are copied.
    ///
    /// # Panics
    /// If rows or columns are out of range or the rows begin elsewhere.
    ///
    /// ```
    /// use polyview_linalg::BitMask;
    ///
    /// let mask = BitMask::from_fn(20, 3, |r, c| r % 3 == c);
    /// let part = mask.part(8..19, 1..3);
    /// assert_eq!(part, BitMask::from_fn(11, 2, |r, c| (8 + r) % 3 == 1 + c));
    /// ```
    pub fn part(&self, rows: Range<usize>, cols: Range<usize>) -> Self {
        assert!(
            rows.start.is_multiple_of(8) && rows.end <= self.rows,
            "rows {rows:?} of a mask of {} rows",
            self.rows
        );
        let (first, stride) = (rows.start / 8, rows.len().div_ceil(8));
        let mut bytes = Vec::with_capacity(stride * cols.len());
        for c in cols.clone() {
            bytes.extend_from_slice(&self.column_bytes(c)[first..first + stride]);
        }
        if stride > 0 {
            for column in bytes.chunks_exact_mut(stride) {
                column[stride - 1] &= last_byte(rows.len());
            }
        }
        Self::of(rows.len(), cols.len(), bytes)
    }

    /// Rows whose bit is set in column `col`, ascending.
    ///
    /// # Panics
    /// If `col` is out of range.
    pub fn ones_in_col(&self, col: usize) -> impl Iterator<Item = usize> + '_ {
        bits(self.column_bytes(col).iter().copied())
    }

    /// Rows whose bit is not set in column `col`, ascending.
    ///
    /// # Panics
    /// If `col` is out of range.
    pub fn zeros_in_col(&self, col: usize) -> impl Iterator<Item = usize> + '_ {
        let rows = self.rows;
        bits(self.column_bytes(col).iter().map(|byte| !byte)).take_while(move |&row| row < rows)
    }

    /// Puts zeros where the bit of column `col` is not set, whatever stood there; values beyond the last row stay.
    ///
    /// # Panics
    /// If `col` is out of range.
    ///
    /// ```
    /// use polyview_linalg::BitMask;
    ///
    /// let mask = BitMask::from_fn(3, 1, |r, _| r != 1);
    /// let mut x = [1.0, f64::NAN, 3.0];
    /// mask.clear_zeros_in_col(0, &mut x);
    /// assert_eq!(x, [1.0, 0.0, 3.0]);
    /// ```
    pub fn clear_zeros_in_col(&self, col: usize, values: &mut [f64]) {
        let rows = values.len().min(self.rows);
        dispatch(Clear {
            bytes: self.column_bytes(col),
            values: &mut values[..rows],
        });
    }

    fn stride(&self) -> usize {
        self.rows.div_ceil(8)
    }
}

struct Clear<'a> {
    bytes: &'a [u8],
    values: &'a mut [f64],
}

impl Kernel for Clear<'_> {
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let (groups, rest) = self.values.as_chunks_mut::<64>();
        let (words, last) = self.bytes.as_chunks::<8>();
        for (group, word) in groups.iter_mut().zip(words) {
            clear(group, u64::from_le_bytes(*word));
        }
        let mut word = [0; 8];
        // the last rows' bytes: fewer than eight, or eight that are a word already
        let bytes = words.get(groups.len()).map_or(last, |w| &w[..]);
        word[..bytes.len()].copy_from_slice(bytes);
        clear(rest, u64::from_le_bytes(word));
    }
}

/// Puts zeros where the bit is not set.
#[inline(always)]
fn clear(values: &mut [f64], word: u64) {
    for (bit, x) in values.iter_mut().enumerate() {
        *x = if word >> bit & 1 == 0 { 0.0 } else { *x };
    }
}

/// Bits that a column's last byte may use.
fn last_byte(rows: usize) -> u8 {
    match rows % 8 {
        0 => 0xff,
        used => (1 << used) - 1,
    }
}

fn ones(bytes: &[u8]) -> usize {
    let (words, rest) = bytes.as_chunks();
    let words = words
        .iter()
        .map(|word| u64::from_le_bytes(*word).count_ones());
    let rest = rest.iter().map(|byte| byte.count_ones());
    words.chain(rest).map(|count| count as usize).sum()
}

/// Positions of the bits that are set.
fn bits(bytes: impl Iterator<Item = u8>) -> impl Iterator<Item = usize> {
    bytes.enumerate().flat_map(|(group, byte)| {
        let next = |rest: &u8| Some(rest & (rest - 1)).filter(|&rest| rest != 0);
        std::iter::successors(Some(byte).filter(|&b| b != 0), next)
            .map(move |rest| group * 8 + rest.trailing_zeros() as usize)
    })
}
