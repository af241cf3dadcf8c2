//! Many small symmetric matrices, each times a weighted sum of rows, all of it
//! summed: eight matrices side by side.

use std::ops::Range;

use super::{PackedRows, packed_len};
use crate::simd::{Kernel, Lane, dispatch, mul_add};

/// Matrices side by side.
const LANES: usize = 8;

/// Symmetric matrices in groups of eight, entry by entry.
#[derive(Debug, Clone)]
pub struct PackedLanes {
    k: usize,
    rows: usize,
    lanes: Vec<Lane>,
}

/// Which rows are summed for each matrix, and how much of each.
#[derive(Debug, Clone, Copy)]
pub struct Gather<'a> {
    /// One past the last place of each matrix.
    pub ends: &'a [u32],
    /// Row at each place.
    pub index: &'a [u32],
    /// Weight at each place.
    pub weight: &'a [f64],
    /// The rows, K numbers each.
    pub rows: &'a [f64],
}

impl PackedLanes {
    /// Matrices that lie side by side: ranges of [`PackedLanes::add_gathered`]
    /// begin at a multiple of it.
    pub const GROUP: usize = LANES;

    /// The same matrices, eight side by side; zeros fill the last group.
    pub fn new(matrices: &PackedRows) -> Self {
        let (k, rows) = (matrices.k(), matrices.rows());
        let length = packed_len(k);
        let mut lanes = vec![Lane::ZERO; rows.div_ceil(LANES) * length];
        for r in 0..rows {
            let group = &mut lanes[r / LANES * length..][..length];
            for (lane, x) in group.iter_mut().zip(matrices.row(r)) {
                lane.0[r % LANES] = *x;
            }
        }
        Self { k, rows, lanes }
    }

    /// `out += Σ A_i Σ_e weight_e rows[index_e]` over the matrices $i$ in `range`
    /// and the places $e$ of each, which begin at `first` for the first of
    /// them.
    ///
    /// # Panics
    /// If the range does not begin at a multiple of [`PackedLanes::GROUP`], or
    /// something that is named is not there.
    ///
    /// ```
    /// use polyview_linalg::{Gather, PackedLanes, PackedRows};
    ///
    /// let mut matrices = PackedRows::zeros(1, 2);
    /// matrices.row_mut(0).copy_from_slice(&[1.0, 2.0, 3.0]);
    /// let gather = Gather { ends: &[2], index: &[1, 0], weight: &[0.5, 1.0], rows: &[1.0, 0.0, 0.0, 4.0] };
    /// let mut out = [0.0; 2];
    /// PackedLanes::new(&matrices).add_gathered(0..1, 0, gather, &mut out);
    /// assert_eq!(out, [5.0, 8.0]); // the matrix times (1, 2)
    /// ```
    pub fn add_gathered(
        &self,
        range: Range<usize>,
        first: usize,
        gather: Gather<'_>,
        out: &mut [f64],
    ) {
        assert!(range.start.is_multiple_of(LANES) && range.end <= self.rows);
        assert_eq!(out.len(), self.k, "order of the matrices");
        let mut sums = vec![Lane::ZERO; self.k];
        let mut x = vec![Lane::ZERO; self.k];
        let mut line = vec![0.0; self.k];
        dispatch(AddGathered {
            matrices: self,
            range,
            first,
            gather,
            x: &mut x,
            line: &mut line,
            sums: &mut sums,
        });
        for (o, s) in out.iter_mut().zip(&sums) {
            let s = &s.0;
            *o += ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
        }
    }
}

struct AddGathered<'a> {
    matrices: &'a PackedLanes,
    range: Range<usize>,
    first: usize,
    gather: Gather<'a>,
    /// Vectors of a group, entry by entry.
    x: &'a mut [Lane],
    /// One vector.
    line: &'a mut [f64],
    sums: &'a mut [Lane],
}

impl Kernel for AddGathered<'_> {
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let k = self.matrices.k;
        let length = packed_len(k);
        let mut at = self.first;
        for start in self.range.clone().step_by(LANES) {
            for lane in 0..LANES {
                self.line.fill(0.0);
                let i = start + lane;
                if i < self.range.end {
                    let end = self.gather.ends[i] as usize;
                    for e in at..end {
                        let weight = self.gather.weight[e];
                        let from = self.gather.index[e] as usize * k;
                        let row = &self.gather.rows[from..from + k];
                        for (x, r) in self.line.iter_mut().zip(row) {
                            *x = mul_add::<FUSED>(weight, *r, *x);
                        }
                    }
                    at = at.max(end);
                }
                for (x, v) in self.x.iter_mut().zip(self.line.iter()) {
                    x.0[lane] = *v;
                }
            }
            let mut rest = &self.matrices.lanes[start / LANES * length..][..length];
            for i in 0..k {
                let (row, tail) = rest.split_at(i + 1);
                let (before, own) = row.split_at(i);
                let xi = self.x[i];
                let (sums, last) = self.sums.split_at_mut(i);
                let mut sum = last[0];
                for ((a, x), s) in before.iter().zip(&self.x[..i]).zip(sums) {
                    // a loop each, and all is read before anything is written: else
                    // they are not made vectors
                    for lane in 0..LANES {
                        sum.0[lane] = mul_add::<FUSED>(a.0[lane], x.0[lane], sum.0[lane]);
                    }
                    let mut next = s.0;
                    for lane in 0..LANES {
                        next[lane] = mul_add::<FUSED>(a.0[lane], xi.0[lane], next[lane]);
                    }
                    s.0 = next;
                }
                for lane in 0..LANES {
                    sum.0[lane] = mul_add::<FUSED>(own[0].0[lane], xi.0[lane], sum.0[lane]);
                }
                last[0] = sum;
                rest = tail;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::spd_rows;

    #[test]
    fn sums_are_those_of_single_products() {
        for k in [1, 2, 5, 8, 11, 20] {
            let (count, n) = (21, 7);
            let matrices = spd_rows(count, k, 3);
            let rows: Vec<f64> = (0..n * k).map(|i| (i as f64 * 0.37).sin()).collect();
            let (mut ends, mut index, mut weight) = (Vec::new(), Vec::new(), Vec::new());
            for i in 0..count {
                for e in 0..(i * 5) % 4 {
                    index.push(((i * 3 + e * 2) % n) as u32);
                    weight.push(0.2 + (i + e) as f64 * 0.1);
                }
                ends.push(index.len() as u32);
            }
            let gather = Gather {
                ends: &ends,
                index: &index,
                weight: &weight,
                rows: &rows,
            };
            let lanes = PackedLanes::new(&matrices);
            for range in [0..count, 8..count, 8..16, 16..19] {
                let begin = |i: usize| if i == 0 { 0 } else { ends[i - 1] as usize };
                let mut out = vec![0.5; k];
                lanes.add_gathered(range.clone(), begin(range.start), gather, &mut out);
                let mut slow = vec![0.5; k];
                for i in range {
                    let mut v = vec![0.0; k];
                    for e in begin(i)..ends[i] as usize {
                        for (j, v) in v.iter_mut().enumerate() {
                            *v += weight[e] * rows[index[e] as usize * k + j];
                        }
                    }
                    for (s, y) in slow.iter_mut().zip(matrices.sym(i).times_vec(&v)) {
                        *s += y;
                    }
                }
                for (a, b) in out.iter().zip(&slow) {
                    assert!((a - b).abs() < 1e-11 * (1.0 + b.abs()), "{k}: {a} {b}");
                }
            }
        }
    }
}
