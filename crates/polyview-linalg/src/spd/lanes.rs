//! Eight systems at a time, interleaved: entry $(i, j)$ of eight matrices fills one [`Lane`].
//!
//! Every step (factor, inverse of the factor, its square) is written as inner products of stored vectors, four at a
//! time, so that eight loads serve eight multiply-adds. Orders are padded to even ones with a unit diagonal. All
//! eight systems take the same steps, so what else shares a batch has no influence on a result.

use super::Keep;
use crate::packed::{packed_index, packed_len};
use crate::simd::{Kernel, Lane, mul_add};

/// Number of systems in a batch.
pub(super) const LANES: usize = 8;

/// Pivots between two normalisations of the running determinant: mantissas are below 2, so it stays below $2^{512}$.
const FOLD: usize = 512;

/// Scratch for one batch.
pub(super) struct Batch {
    k: usize,
    /// Order, padded to an even number.
    even: usize,
    /// In: lower triangles, packed by rows. Out: factor or covariance, likewise.
    pub(super) triangle: Vec<Lane>,
    /// In: right-hand sides. Out: means.
    pub(super) vector: Vec<Lane>,
    /// Out: log determinants of the precisions.
    pub(super) log_det: Lane,
    /// Out: index of the first failed pivot, infinite where none failed.
    pub(super) failed: Lane,
    /// Inverse of the factor, packed by pairs of columns; see [`Batch::column`].
    inverse: Vec<Lane>,
    /// Reciprocals of the factor's diagonal.
    reciprocal: Vec<Lane>,
    determinant: Determinant,
}

/// Running product of pivots as mantissa and exponent.
struct Determinant {
    mantissa: Lane,
    exponent: [i64; LANES],
}

impl Batch {
    pub(super) fn new(k: usize, keep: Keep) -> Self {
        let even = k + k % 2;
        let inverse = match keep {
            Keep::Covariance => even * even / 2 + even,
            Keep::Factor => 0,
        };
        Self {
            k,
            even,
            triangle: vec![Lane::ZERO; packed_len(even)],
            vector: vec![Lane::ZERO; even],
            log_det: Lane::ZERO,
            failed: Lane::ZERO,
            inverse: vec![Lane::ZERO; inverse],
            reciprocal: vec![Lane::ZERO; even],
            determinant: Determinant::ONE,
        }
    }

    /// Takes in the packed triangles of up to eight rows; missing rows become identities.
    ///
    /// Compiled for the baseline instruction set on purpose: the compiler interleaves pairs better than quads.
    #[inline(never)]
    pub(super) fn load(&mut self, rows: &[f64]) {
        let length = packed_len(self.k);
        if rows.len() == LANES * length {
            let mut rest: [&[f64]; LANES] =
                std::array::from_fn(|r| &rows[r * length..(r + 1) * length]);
            let (fours, tail) = self.triangle[..length].as_chunks_mut::<4>();
            for four in fours {
                let block: [[f64; 4]; LANES] = std::array::from_fn(|r| {
                    let (head, tail) = rest[r]
                        .split_first_chunk()
                        .expect("every row is as long as the triangle");
                    rest[r] = tail;
                    *head
                });
                for (c, lane) in four.iter_mut().enumerate() {
                    for r in 0..LANES {
                        lane.0[r] = block[r][c];
                    }
                }
            }
            for (t, lane) in tail.iter_mut().enumerate() {
                lane.0 = std::array::from_fn(|r| rest[r][t]);
            }
        } else {
            self.triangle.fill(Lane::ZERO);
            for i in 0..self.k {
                self.triangle[packed_index(i, i)] = Lane::ONE;
            }
            for (r, row) in rows.chunks_exact(length).enumerate() {
                for (lane, x) in self.triangle.iter_mut().zip(row) {
                    lane.0[r] = *x;
                }
            }
        }
        if self.even > self.k {
            self.pad();
        }
    }

    /// Takes in triangles and right-hand sides that are interleaved already.
    pub(super) fn take(&mut self, precision: &[[f64; LANES]], rhs: &[[f64; LANES]]) {
        for (lane, x) in self.triangle.iter_mut().zip(precision) {
            lane.0 = *x;
        }
        for (lane, x) in self.vector.iter_mut().zip(rhs) {
            lane.0 = *x;
        }
        if self.even > self.k {
            self.pad();
            self.vector[self.k] = Lane::ZERO;
        }
    }

    /// Makes the last line of an order that is padded that of an identity.
    fn pad(&mut self) {
        let last = packed_index(self.k, 0);
        self.triangle[last..].fill(Lane::ZERO);
        self.triangle[packed_index(self.k, self.k)] = Lane::ONE;
    }

    /// Writes the packed triangles back to up to eight rows.
    #[inline(never)]
    pub(super) fn store(&self, rows: &mut [f64]) {
        let length = packed_len(self.k);
        if rows.len() == LANES * length {
            let (fours, tail) = self.triangle[..length].as_chunks::<4>();
            let mut each = rows.chunks_exact_mut(length);
            let mut rows: [&mut [f64]; LANES] = std::array::from_fn(|_| {
                each.next()
                    .expect("eight rows of the length of the triangle")
            });
            for (b, four) in fours.iter().enumerate() {
                for (r, row) in rows.iter_mut().enumerate() {
                    let block: [f64; 4] = std::array::from_fn(|c| four[c].0[r]);
                    row[4 * b..4 * b + 4].copy_from_slice(&block);
                }
            }
            let done = 4 * fours.len();
            for (t, lane) in tail.iter().enumerate() {
                for (r, row) in rows.iter_mut().enumerate() {
                    row[done + t] = lane.0[r];
                }
            }
        } else {
            for (r, row) in rows.chunks_exact_mut(length).enumerate() {
                for (x, lane) in row.iter_mut().zip(&self.triangle) {
                    *x = lane.0[r];
                }
            }
        }
    }

    /// Start of column `j` of the inverse factor. The columns $j_0, j_0 + 1$ of a pair both begin at row $j_0$: the
    /// second with a stored zero, so that both are vectors of one length.
    #[inline(always)]
    fn column(&self, j: usize) -> usize {
        let pair = j / 2;
        let before = 2 * (pair * self.even - pair * pair.saturating_sub(1));
        before + (j % 2) * (self.even - 2 * pair)
    }

    /// $A = LL'$, reciprocals of the diagonal, determinant.
    #[inline(always)]
    fn factor<const FUSED: bool>(&mut self) {
        let tolerance = self.k as f64 * f64::EPSILON;
        self.failed = Lane([f64::INFINITY; LANES]);
        self.determinant = Determinant::ONE;
        for j in (0..self.even).step_by(2) {
            let [upper, lower] = [packed_index(j, 0), packed_index(j + 1, 0)];
            let columns = [upper, lower].map(|start| &self.triangle[start..start + j]);
            let done = products::<FUSED>(columns, columns);
            let diagonal = [self.triangle[upper + j], self.triangle[lower + j + 1]];
            let first = minus(&diagonal[0], &done[0][0]);
            let (root0, recip0) = self.pivot(j, &first, &diagonal[0], tolerance);
            let below = times(&minus(&self.triangle[lower + j], &done[1][0]), &recip0);
            let second = minus_product::<FUSED>(&minus(&diagonal[1], &done[1][1]), &below, &below);
            let (root1, recip1) = self.pivot(j + 1, &second, &diagonal[1], tolerance);
            self.triangle[upper + j] = root0;
            self.triangle[lower + j] = below;
            self.triangle[lower + j + 1] = root1;
            self.reciprocal[j] = recip0;
            self.reciprocal[j + 1] = recip1;

            let (head, tail) = self.triangle.split_at_mut(packed_index(j + 2, 0));
            let columns = [upper, lower].map(|start| &head[start..start + j]);
            let mut rest = tail;
            for i in (j + 2..self.even).step_by(2) {
                let (row0, after) = rest.split_at_mut(i + 1);
                let (row1, after) = after.split_at_mut(i + 2);
                rest = after;
                let done = products::<FUSED>([&row0[..j], &row1[..j]], columns);
                for (row, done) in [row0, row1].into_iter().zip(&done) {
                    let x = times(&minus(&row[j], &done[0]), &recip0);
                    let y = minus_product::<FUSED>(&minus(&row[j + 1], &done[1]), &x, &below);
                    row[j] = x;
                    row[j + 1] = times(&y, &recip1);
                }
            }
        }
        self.log_det = self.determinant.ln();
    }

    /// Root of a pivot and its reciprocal. A pivot that is not positive beyond rounding is marked and replaced by 1.
    #[inline(always)]
    fn pivot(
        &mut self,
        index: usize,
        pivot: &Lane,
        diagonal: &Lane,
        tolerance: f64,
    ) -> (Lane, Lane) {
        let mut root = Lane::ZERO;
        let mut reciprocal = Lane::ZERO;
        let mut bits = [0; LANES];
        for r in 0..LANES {
            let good = super::pivot_is_good(pivot.0[r], diagonal.0[r], tolerance);
            let value = if good { pivot.0[r] } else { 1.0 };
            let failed = if good { f64::INFINITY } else { index as f64 };
            self.failed.0[r] = if failed < self.failed.0[r] {
                failed
            } else {
                self.failed.0[r]
            };
            bits[r] = value.to_bits();
            root.0[r] = value.sqrt();
            reciprocal.0[r] = 1.0 / root.0[r];
        }
        self.determinant.multiply(index, &bits);
        (root, reciprocal)
    }

    /// $x = L^{-T} L^{-1} b$.
    #[inline(always)]
    fn solve<const FUSED: bool>(&mut self) {
        for i in (0..self.even).step_by(2) {
            let [upper, lower] = [packed_index(i, 0), packed_index(i + 1, 0)];
            let mut sums = [Lane::ZERO; 2];
            let rows = [upper, lower].map(|start| &self.triangle[start..start + i]);
            for ((a, b), x) in rows[0].iter().zip(rows[1]).zip(&self.vector[..i]) {
                plus_product::<FUSED>(&mut sums[0], a, x);
                plus_product::<FUSED>(&mut sums[1], b, x);
            }
            let first = times(&minus(&self.vector[i], &sums[0]), &self.reciprocal[i]);
            let second = minus_product::<FUSED>(
                &minus(&self.vector[i + 1], &sums[1]),
                &self.triangle[lower + i],
                &first,
            );
            self.vector[i] = first;
            self.vector[i + 1] = times(&second, &self.reciprocal[i + 1]);
        }
        for i in (0..self.even).rev() {
            let x = times(&self.vector[i], &self.reciprocal[i]);
            self.vector[i] = x;
            let row = &self.triangle[packed_index(i, 0)..packed_index(i, i)];
            for (y, a) in self.vector.iter_mut().zip(row) {
                *y = minus_product::<FUSED>(y, a, &x);
            }
        }
    }

    /// $M = L^{-1}$, column by column.
    #[inline(always)]
    fn invert_factor<const FUSED: bool>(&mut self) {
        for j in (0..self.even).step_by(2) {
            let [left, right] = [self.column(j), self.column(j + 1)];
            let [recip0, recip1] = [self.reciprocal[j], self.reciprocal[j + 1]];
            let corner = self.triangle[packed_index(j + 1, j)];
            self.inverse[left] = recip0;
            self.inverse[left + 1] = minus(&Lane::ZERO, &times(&times(&corner, &recip0), &recip1));
            self.inverse[right] = Lane::ZERO;
            self.inverse[right + 1] = recip1;
            for i in (j + 2..self.even).step_by(2) {
                let [upper, lower] = [packed_index(i, 0), packed_index(i + 1, 0)];
                let rows = [upper, lower].map(|start| &self.triangle[start + j..start + i]);
                let columns = [left, right].map(|start| &self.inverse[start..start + i - j]);
                let done = products::<FUSED>(rows, columns);
                let corner = self.triangle[lower + i];
                for (c, start) in [left, right].into_iter().enumerate() {
                    let x = times(&minus(&Lane::ZERO, &done[0][c]), &self.reciprocal[i]);
                    let y = minus_product::<FUSED>(&minus(&Lane::ZERO, &done[1][c]), &corner, &x);
                    self.inverse[start + i - j] = x;
                    self.inverse[start + i - j + 1] = times(&y, &self.reciprocal[i + 1]);
                }
            }
        }
    }

    /// $A^{-1} = M'M$, in place of the factor.
    #[inline(always)]
    fn square<const FUSED: bool>(&mut self) {
        for i in (0..self.even).step_by(2) {
            let length = self.even - i;
            let rows = [self.column(i), self.column(i + 1)]
                .map(|start| &self.inverse[start..start + length]);
            let [upper, lower] = [packed_index(i, 0), packed_index(i + 1, 0)];
            for j in (0..=i).step_by(2) {
                let columns = [self.column(j) + i - j, self.column(j + 1) + i - j]
                    .map(|start| &self.inverse[start..start + length]);
                let done = products::<FUSED>(rows, columns);
                self.triangle[upper + j] = done[0][0];
                self.triangle[lower + j] = done[1][0];
                self.triangle[lower + j + 1] = done[1][1];
                if j < i {
                    self.triangle[upper + j + 1] = done[0][1];
                }
            }
        }
    }
}

impl Determinant {
    const ONE: Self = Self {
        mantissa: Lane::ONE,
        exponent: [0; LANES],
    };

    /// Takes in the pivots number `index`, positive normal numbers given by their bits.
    #[inline(always)]
    fn multiply(&mut self, index: usize, bits: &[u64; LANES]) {
        for r in 0..LANES {
            let (mantissa, exponent) = split(bits[r]);
            self.mantissa.0[r] *= mantissa;
            self.exponent[r] += exponent;
        }
        if index % FOLD == FOLD - 1 {
            for r in 0..LANES {
                let (mantissa, exponent) = split(self.mantissa.0[r].to_bits());
                self.mantissa.0[r] = mantissa;
                self.exponent[r] += exponent;
            }
        }
    }

    #[inline(always)]
    fn ln(&self) -> Lane {
        let mut out = Lane::ZERO;
        for r in 0..LANES {
            out.0[r] = self.mantissa.0[r].ln() + self.exponent[r] as f64 * std::f64::consts::LN_2;
        }
        out
    }
}

/// Mantissa in $[1, 2)$ and exponent of a positive normal number, given by its bits.
#[inline(always)]
fn split(bits: u64) -> (f64, i64) {
    let mantissa = f64::from_bits((bits & 0x000f_ffff_ffff_ffff) | 0x3ff0_0000_0000_0000);
    (mantissa, (bits >> 52) as i64 - 1023)
}

/// Factor, solve and, where the covariance is kept, invert.
pub(super) struct Work<'a> {
    pub(super) batch: &'a mut Batch,
    pub(super) keep: Keep,
}

impl Kernel for Work<'_> {
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        self.batch.factor::<FUSED>();
        self.batch.solve::<FUSED>();
        if self.keep == Keep::Covariance {
            self.batch.invert_factor::<FUSED>();
            self.batch.square::<FUSED>();
        }
    }
}

/// Inner products of two vectors on the left with two on the right.
#[inline(always)]
fn products<const FUSED: bool>(left: [&[Lane]; 2], right: [&[Lane]; 2]) -> [[Lane; 2]; 2] {
    let mut out = [[Lane::ZERO; 2]; 2];
    let pairs = left[0].iter().zip(left[1]);
    for ((a, b), (c, d)) in pairs.zip(right[0].iter().zip(right[1])) {
        plus_product::<FUSED>(&mut out[0][0], a, c);
        plus_product::<FUSED>(&mut out[0][1], a, d);
        plus_product::<FUSED>(&mut out[1][0], b, c);
        plus_product::<FUSED>(&mut out[1][1], b, d);
    }
    out
}

#[inline(always)]
fn plus_product<const FUSED: bool>(sum: &mut Lane, a: &Lane, b: &Lane) {
    for r in 0..LANES {
        sum.0[r] = mul_add::<FUSED>(a.0[r], b.0[r], sum.0[r]);
    }
}

#[inline(always)]
fn minus_product<const FUSED: bool>(c: &Lane, a: &Lane, b: &Lane) -> Lane {
    let mut out = *c;
    for r in 0..LANES {
        out.0[r] = mul_add::<FUSED>(-a.0[r], b.0[r], out.0[r]);
    }
    out
}

#[inline(always)]
fn minus(a: &Lane, b: &Lane) -> Lane {
    let mut out = *a;
    for r in 0..LANES {
        out.0[r] -= b.0[r];
    }
    out
}

#[inline(always)]
fn times(a: &Lane, b: &Lane) -> Lane {
    let mut out = *a;
    for r in 0..LANES {
        out.0[r] *= b.0[r];
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_of_thousands_of_pivots_neither_overflow_nor_vanish() {
        for pivot in [1.9999_f64, 1e300, 1e-300, 0.7] {
            let mut determinant = Determinant::ONE;
            for index in 0..3000 {
                determinant.multiply(index, &[pivot.to_bits(); LANES]);
            }
            let expected = 3000.0 * pivot.ln();
            for value in determinant.ln().0 {
                assert!(
                    (value / expected - 1.0).abs() < 1e-13,
                    "{value} for {expected}"
                );
            }
        }
    }
}
