//! Memory that serves again.
//!
//! What a sweep needs for a while, triangles of thousands of rows or sums over the observed cells, is as large as the data and larger. Given back to
//! the system and asked for again in each sweep every page of it is cleared and mapped anew, which was a quarter of the time of a fit of many factors (BENCHMARKS,
//! "Parts of a sweep"). A thread keeps the largest ones of what it gave back last.

use std::cell::RefCell;
use std::ops::{Deref, DerefMut};

use faer::{MatMut, MatRef};

/// Numbers from which on memory is worth keeping; smaller ones the allocator keeps by itself.
const SMALLEST: usize = 8 * 1024;
/// Numbers that a thread keeps at most, 16 MiB, in so many pieces.
const MOST: usize = 2 * 1024 * 1024;
const PIECES: usize = 6;
/// A piece serves those that need no less than this share of it.
const LEAST_USED: usize = 4;

thread_local! {
    static KEPT: RefCell<Vec<Vec<f64>>> = const { RefCell::new(Vec::new()) };
}

/// Numbers whose memory serves again, on the thread that lets them go, once they are no longer needed.
///
/// ```
/// use polyview_linalg::Scratch;
///
/// let mut cells = Scratch::zeros(3);
/// cells[1] = 2.0;
/// assert_eq!(*cells, [0.0, 2.0, 0.0]);
/// ```
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Scratch(Vec<f64>);

impl Scratch {
    /// So many zeros.
    pub fn zeros(count: usize) -> Self {
        if count < SMALLEST {
            return Self(vec![0.0; count]);
        }
        let fits = |own: &Vec<f64>| own.capacity() >= count && own.capacity() / LEAST_USED <= count;
        let found = KEPT.try_with(|kept| {
            let mut kept = kept.try_borrow_mut().ok()?;
            let best = (0..kept.len())
                .filter(|i| fits(&kept[*i]))
                .min_by_key(|i| kept[*i].capacity())?;
            Some(kept.swap_remove(best))
        });
        match found.ok().flatten() {
            Some(mut own) => {
                own.clear();
                own.resize(count, 0.0);
                Self(own)
            }
            None => Self(vec![0.0; count]),
        }
    }
    /// Keeps the first `count`, in memory that is no larger.
    pub(crate) fn shorten(&mut self, count: usize) {
        self.0.truncate(count);
        self.0.shrink_to_fit();
    }
    /// The numbers as they are, which no longer serve again.
    pub fn into_vec(mut self) -> Vec<f64> {
        std::mem::take(&mut self.0)
    }
}

impl From<Vec<f64>> for Scratch {
    fn from(cells: Vec<f64>) -> Self {
        Self(cells)
    }
}

impl Deref for Scratch {
    type Target = [f64];
    fn deref(&self) -> &[f64] {
        &self.0
    }
}

impl DerefMut for Scratch {
    fn deref_mut(&mut self) -> &mut [f64] {
        &mut self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let own = std::mem::take(&mut self.0);
        if own.capacity() < SMALLEST || own.capacity() > MOST {
            return;
        }
        // at the end of a thread there is nothing to keep it in
        let _ = KEPT.try_with(|kept| {
            let Ok(mut kept) = kept.try_borrow_mut() else {
                return;
            };
            kept.push(own);
            let size = |kept: &Vec<Vec<f64>>| kept.iter().map(Vec::capacity).sum::<usize>();
            while kept.len() > PIECES || size(&kept) > MOST {
                let smallest = (0..kept.len()).min_by_key(|i| kept[*i].capacity());
                kept.swap_remove(smallest.unwrap_or(0));
            }
        });
    }
}

/// A column-major matrix in such memory.
///
/// ```
/// use polyview_linalg::ScratchMat;
///
/// let mut table = ScratchMat::zeros(2, 3);
/// table.as_mut()[(1, 2)] = 5.0;
/// assert_eq!((table.col(2), table.shape()), (&[0.0, 5.0][..], (2, 3)));
/// ```
#[derive(Debug, Default, Clone, PartialEq)]
pub struct ScratchMat {
    rows: usize,
    columns: usize,
    cells: Scratch,
}

impl ScratchMat {
    /// Zeros, rows × columns.
    pub fn zeros(rows: usize, columns: usize) -> Self {
        Self {
            rows,
            columns,
            cells: Scratch::zeros(rows * columns),
        }
    }
    /// Rows and columns.
    pub fn shape(&self) -> (usize, usize) {
        (self.rows, self.columns)
    }
    /// Number of rows.
    pub fn nrows(&self) -> usize {
        self.rows
    }
    /// Makes every entry the same.
    pub fn fill(&mut self, x: f64) {
        self.cells.fill(x);
    }
    /// A column.
    ///
    /// # Panics
    /// If it is out of range.
    pub fn col(&self, j: usize) -> &[f64] {
        &self.cells[j * self.rows..(j + 1) * self.rows]
    }
    /// The matrix.
    pub fn as_ref(&self) -> MatRef<'_, f64> {
        MatRef::from_column_major_slice(&self.cells, self.rows, self.columns)
    }
    /// The matrix, to be written.
    pub fn as_mut(&mut self) -> MatMut<'_, f64> {
        MatMut::from_column_major_slice_mut(&mut self.cells, self.rows, self.columns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What was let go serves the next that is as large, as zeros; the little that is small, or far smaller, and what is too much does not stay.
    #[test]
    fn memory_serves_again() {
        std::thread::spawn(|| {
            let kept = || KEPT.with_borrow(|kept| kept.iter().map(Vec::len).collect::<Vec<_>>());
            let mut first = Scratch::zeros(2 * SMALLEST);
            first.fill(3.0);
            let place = first.as_ptr();
            drop(first);
            drop(Scratch::zeros(10));
            assert_eq!(kept(), [2 * SMALLEST]);
            let again = Scratch::zeros(2 * SMALLEST - 5);
            assert_eq!((again.as_ptr(), again.len()), (place, 2 * SMALLEST - 5));
            assert!(again.iter().all(|x| *x == 0.0) && kept().is_empty());
            drop(again);
            assert_ne!(Scratch::zeros(9 * SMALLEST).as_ptr(), place);
            drop(Scratch::zeros(MOST + 1));
            let all: Vec<Scratch> = (0..10).map(|_| Scratch::zeros(MOST / 4)).collect();
            drop(all);
            assert_eq!(kept(), [MOST / 4; 4]);
            assert_eq!(Scratch::zeros(4).into_vec(), [0.0; 4]);
        })
        .join()
        .expect("no panic");
    }
}
