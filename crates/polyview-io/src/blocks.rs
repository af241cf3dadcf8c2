//! Values that arrive line by line, gathered into a column-major matrix.

use polyview_linalg::Mat;

/// Values of one block: 1 MiB.
const BLOCK: usize = 1 << 17;

/// Collects lines of a fixed length in blocks, so that the number of lines
/// need not be known and no buffer is ever copied to grow.
///
/// At the end the blocks are moved into the matrix one by one and freed: the
/// peak is twice the matrix.
pub(crate) struct LineBlocks {
    length: usize,
    lines_per_block: usize,
    full: Vec<Vec<f64>>,
    open: Vec<f64>,
}

impl LineBlocks {
    /// For lines of `length` values, at least one.
    pub(crate) fn new(length: usize) -> Self {
        let length = length.max(1);
        Self {
            length,
            lines_per_block: (BLOCK / length).max(1),
            full: Vec::new(),
            open: Vec::new(),
        }
    }

    /// Adds the next value of the current line.
    #[inline]
    pub(crate) fn push(&mut self, value: f64) {
        if self.open.len() == self.lines_per_block * self.length {
            // the first block grows as needed, later ones are known to fill
            let next = Vec::with_capacity(self.open.len());
            self.full.push(std::mem::replace(&mut self.open, next));
        }
        self.open.push(value);
    }

    fn n_lines(&self) -> usize {
        self.full.len() * self.lines_per_block + self.open.len() / self.length
    }

    /// The matrix whose rows are the lines.
    pub(crate) fn into_rows(self) -> Mat<f64> {
        let (length, mut values) = (self.length, Mat::zeros(self.n_lines(), self.length));
        let mut start = 0;
        for block in self.full.into_iter().chain([self.open]) {
            let lines = block.len() / length;
            for column in 0..length {
                let out = &mut values.col_as_slice_mut(column)[start..start + lines];
                for (line, cell) in out.iter_mut().enumerate() {
                    *cell = block[line * length + column];
                }
            }
            start += lines;
        }
        values
    }

    /// The matrix whose columns are the lines.
    pub(crate) fn into_columns(self) -> Mat<f64> {
        let (length, mut values) = (self.length, Mat::zeros(self.length, self.n_lines()));
        let mut column = 0;
        for block in self.full.into_iter().chain([self.open]) {
            for line in block.chunks_exact(length) {
                values.col_as_slice_mut(column).copy_from_slice(line);
                column += 1;
            }
        }
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_become_rows_or_columns() {
        for (lines, length) in [(1, 1), (7, 3), (3 * BLOCK / 5 + 2, 5), (3, BLOCK + 1)] {
            let mut blocks = LineBlocks::new(length);
            for i in 0..lines * length {
                blocks.push(i as f64);
            }
            let rows = blocks.into_rows();
            assert_eq!((rows.nrows(), rows.ncols()), (lines, length));
            let mut blocks = LineBlocks::new(length);
            for i in 0..lines * length {
                blocks.push(i as f64);
            }
            let columns = blocks.into_columns();
            assert_eq!((columns.nrows(), columns.ncols()), (length, lines));
            for i in 0..lines {
                for j in 0..length {
                    assert_eq!(rows[(i, j)], (i * length + j) as f64);
                    assert_eq!(columns[(j, i)], rows[(i, j)]);
                }
            }
        }
    }
}
