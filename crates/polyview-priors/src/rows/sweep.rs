//! Coordinate sweeps over the entries of rows (spec/mofa A.3): the one engine
//! of factorised rows and of spike-and-slab rows, for variational Bayes and
//! for Gibbs.
//!
//! Row r has data precision $P\_r$ and right-hand side $b\_r$. Column by column,
//! entry k of every row sees
//!
//! $$P\_{r,kk} \quad\text{and}\quad \ell\_{rk} = b\_{rk} - \sum\_{j \ne k}
//! P\_{r,kj}m\_{rj}$$
//!
//! with the present means $m$ of the other entries, and a [`Site`] makes of
//! them what the family wants. The data are not read again. Rows are taken
//! tile by tile, so that a tile's columns stay in cache; where rows share a
//! precision the sums over j are products of short columns.

// kernels are compiled for several instruction sets only where they are inlined
#![allow(clippy::inline_always)]

use std::ops::Range;

use polyview_core::NormalEquations;
use polyview_linalg::simd::{Kernel, dispatch, mul_add};
use polyview_linalg::{Mat, MatRef, SymPacked, combine_columns, packed_index, packed_len};
use rayon::prelude::*;

/// Rows of a tile that share a precision: K columns of a thousand bytes each.
const TILE: usize = 128;
/// Rows of a tile with own precisions, K(K + 1)/2 numbers each.
const OWN_TILE: usize = 64;
/// Rows with own precisions that are worked on side by side.
pub(super) const LANES: usize = 8;

/// One column of some rows, as the data and the other columns leave it.
pub(super) struct Column<'a> {
    /// Place of the column.
    pub(super) k: usize,
    /// The rows' numbers within the block.
    pub(super) rows: &'a [usize],
    /// $P\_{r,kk}$.
    pub(super) precision: &'a [f64],
    /// $\ell\_{rk}$.
    pub(super) linear: &'a [f64],
}

/// What becomes of an entry.
pub(super) trait Site<const OUT: usize>: Sync {
    /// Sets one column. `out[0]` has the present means and takes the new ones,
    /// which the columns that follow see; the others are the family's own. Returns the column's
    /// part of a sum that the family keeps.
    fn visit(&self, column: &Column<'_>, out: [&mut [f64]; OUT]) -> f64;
    /// Sets what the columns of rows with precisions of their own have in common, after the sweep.
    fn settle(&self, _rows: &mut Swept<'_, OUT>) {}
}

/// Rows with precisions of their own after a sweep over their columns.
pub(super) struct Swept<'a, const OUT: usize> {
    /// The rows' numbers.
    pub(super) rows: &'a [usize],
    /// Data precisions: entry p of the packed triangle of row 8 g + i at `[(P g + p)][i]`; of rows that are not there zero.
    pub(super) precisions: &'a [[f64; LANES]],
    /// $b\_{rk}$, a slice for each column.
    pub(super) rhs: &'a [&'a [f64]],
    /// As [`Site::visit`] left them, column after column.
    pub(super) out: &'a mut [Vec<f64>; OUT],
}

/// Some rows after a sweep.
pub(super) struct Tile<const OUT: usize> {
    rows: Vec<usize>,
    out: [Vec<f64>; OUT],
    sum: f64,
}

/// Rows that are swept together.
struct Job<'a> {
    rows: Vec<usize>,
    /// Their common data precision at scale 1; rows without one have their
    /// own.
    gram: Option<&'a Mat<f64>>,
}

/// Sweeps the rows `eq.rows()` `passes` times from the means `mean` (all rows
/// × K). The bits of a row depend neither on its tile nor on the number of
/// threads.
pub(super) fn sweep<const OUT: usize>(
    eq: &NormalEquations,
    mean: MatRef<'_, f64>,
    passes: usize,
    site: &impl Site<OUT>,
) -> Vec<Tile<OUT>> {
    let grams = grams(eq);
    jobs(eq, &grams)
        .into_par_iter()
        .map(|job| match job.gram {
            Some(gram) => shared(eq, gram, job.rows, mean, passes, site),
            None => own(eq, job.rows, mean, passes, site),
        })
        .collect()
}

/// Whether each row has a data precision that no scale makes another's.
pub(super) fn all_own(eq: &NormalEquations) -> bool {
    eq.packed.is_some() || (eq.patterns.is_some() && eq.scale.is_some())
}

/// The precisions that rows share, at scale 1: one, or one a pattern.
fn grams(eq: &NormalEquations) -> Vec<Mat<f64>> {
    match &eq.patterns {
        _ if all_own(eq) => Vec::new(),
        None => vec![eq.gram.to_mat()],
        Some(patterns) => (0..patterns.grams.rows())
            .map(|p| {
                let mut gram: SymPacked = patterns.grams.sym(p);
                gram.add_scaled(1.0, &eq.gram);
                gram.to_mat()
            })
            .collect(),
    }
}

fn jobs<'a>(eq: &NormalEquations, grams: &'a [Mat<f64>]) -> Vec<Job<'a>> {
    let all: Vec<usize> = eq.rows().collect();
    let mut out = Vec::new();
    let mut add = |rows: &[usize], tile: usize, gram: Option<&'a Mat<f64>>| {
        out.extend(rows.chunks(tile).map(|rows| Job {
            rows: rows.to_vec(),
            gram,
        }));
    };
    match (&eq.patterns, grams) {
        (_, []) => add(&all, OWN_TILE, None),
        (Some(patterns), _) => {
            let mut members = vec![Vec::new(); grams.len()];
            for r in all {
                members[patterns.table.of_row[r] as usize].push(r);
            }
            for (rows, gram) in members.iter().zip(grams) {
                add(rows, TILE, Some(gram));
            }
        }
        (None, [gram, ..]) => add(&all, TILE, Some(gram)),
    }
    out
}

/// Rows that follow one another, as a range.
fn in_a_row(rows: &[usize]) -> Option<Range<usize>> {
    let (first, last) = (*rows.first()?, *rows.last()?);
    let all = first..last + 1;
    let follow = all.len() == rows.len() && rows.windows(2).all(|w| w[0] < w[1]);
    follow.then_some(all)
}

/// The present means of some rows, column after column.
fn start<const OUT: usize>(mean: MatRef<'_, f64>, rows: &[usize]) -> [Vec<f64>; OUT] {
    let k = mean.ncols();
    let mut out: [Vec<f64>; OUT] = std::array::from_fn(|_| vec![0.0; rows.len() * k]);
    let in_a_row = in_a_row(rows);
    for j in 0..k {
        let to = &mut out[0][j * rows.len()..(j + 1) * rows.len()];
        match (mean.col(j).try_as_col_major(), &in_a_row) {
            (Some(column), Some(rows)) => to.copy_from_slice(&column.as_slice()[rows.clone()]),
            _ => {
                for (x, &r) in to.iter_mut().zip(rows) {
                    *x = mean[(r, j)];
                }
            }
        }
    }
    out
}

/// Column `k` of each output.
fn at<const OUT: usize>(out: &mut [Vec<f64>; OUT], k: usize, rows: usize) -> [&mut [f64]; OUT] {
    out.each_mut().map(|v| &mut v[k * rows..(k + 1) * rows])
}

/// Rows whose precisions are multiples of one matrix.
fn shared<const OUT: usize>(
    eq: &NormalEquations,
    gram: &Mat<f64>,
    rows: Vec<usize>,
    mean: MatRef<'_, f64>,
    passes: usize,
    site: &impl Site<OUT>,
) -> Tile<OUT> {
    let (first, count, k) = (eq.rows().start, rows.len(), eq.k());
    let mut out = start(mean, &rows);
    let scale: Vec<f64> = rows
        .iter()
        .map(|&r| eq.scale.as_ref().map_or(1.0, |s| s[r]))
        .collect();
    let (mut linear, mut precision) = (vec![0.0; count], vec![0.0; count]);
    let mut others = vec![0.0; k];
    let mut sum = 0.0;
    for _ in 0..passes {
        sum = 0.0;
        for j in 0..k {
            others.copy_from_slice(gram.col_as_slice(j));
            others[j] = 0.0;
            combine_columns(&out[0], &others, &mut linear);
            let rhs = eq.rhs.col_as_slice(j);
            let own = gram[(j, j)];
            for (i, &r) in rows.iter().enumerate() {
                linear[i] = rhs[r - first] - scale[i] * linear[i];
                precision[i] = scale[i] * own;
            }
            let column = Column {
                k: j,
                rows: &rows,
                precision: &precision,
                linear: &linear,
            };
            sum += site.visit(&column, at(&mut out, j, count));
        }
    }
    Tile { rows, out, sum }
}

/// Data precisions of some rows: entry p of the packed triangle of row
/// 8 g + i at `[(P g + p)][i]`.
fn interleaved(eq: &NormalEquations, rows: &[usize]) -> Vec<[f64; LANES]> {
    let (first, length) = (eq.rows().start, packed_len(eq.k()));
    let mut out = vec![[0.0; LANES]; rows.len().div_ceil(LANES) * length];
    let shared = eq.gram.as_slice().iter().any(|g| *g != 0.0);
    for (group, rows) in rows.chunks(LANES).enumerate() {
        let cells = &mut out[group * length..(group + 1) * length];
        for (i, &r) in rows.iter().enumerate() {
            if let Some(own) = &eq.packed {
                for (cell, x) in cells.iter_mut().zip(own.row(r - first)) {
                    cell[i] = *x;
                }
            }
            if shared {
                let scale = eq.scale.as_ref().map_or(1.0, |s| s[r]);
                for (cell, x) in cells.iter_mut().zip(eq.gram.as_slice()) {
                    cell[i] += scale * x;
                }
            }
            if let Some(p) = &eq.patterns {
                let gram = p.grams.row(p.table.of_row[r] as usize);
                for (cell, x) in cells.iter_mut().zip(gram) {
                    cell[i] += x;
                }
            }
        }
    }
    out
}

/// What a column of rows with own precisions sees of these and of the other columns:
/// $P\_{r,kk}$ and $b\_{rk} - \sum\_{j \ne k} P\_{r,kj}m\_{rj}$.
struct Left<'a> {
    /// As [`interleaved`] has them.
    matrices: &'a [[f64; LANES]],
    /// As they lie beside the matrices: group after group, column after column.
    means: &'a [[f64; LANES]],
    k: usize,
    columns: usize,
    rhs: &'a [f64],
    linear: &'a mut [f64],
    precision: &'a mut [f64],
}

impl Kernel for Left<'_> {
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let (k, columns) = (self.k, self.columns);
        let matrices = self.matrices.chunks_exact(packed_len(columns));
        let means = self.means.chunks_exact(columns);
        let out = (self.linear.chunks_mut(LANES)).zip(self.precision.chunks_mut(LANES));
        let row = packed_index(k, 0);
        let groups = matrices.zip(means).zip(out).zip(self.rhs.chunks(LANES));
        for (((matrix, means), (linear, precision)), rhs) in groups {
            let mut sum = [0.0; LANES];
            for (p, m) in matrix[row..row + k].iter().zip(means) {
                for i in 0..LANES {
                    sum[i] = mul_add::<FUSED>(p[i], m[i], sum[i]);
                }
            }
            let mut at = row + k;
            for j in k + 1..columns {
                // from (j - 1, k) to (j, k)
                at += j;
                let (p, m) = (&matrix[at], &means[j]);
                for i in 0..LANES {
                    sum[i] = mul_add::<FUSED>(p[i], m[i], sum[i]);
                }
            }
            let diagonal = &matrix[row + k];
            for (i, (to, h)) in linear.iter_mut().zip(rhs).enumerate() {
                *to = h - sum[i];
            }
            precision.copy_from_slice(&diagonal[..precision.len()]);
        }
    }
}

/// Rows with a precision each.
fn own<const OUT: usize>(
    eq: &NormalEquations,
    rows: Vec<usize>,
    mean: MatRef<'_, f64>,
    passes: usize,
    site: &impl Site<OUT>,
) -> Tile<OUT> {
    let (first, count, k) = (eq.rows().start, rows.len(), eq.k());
    let matrices = interleaved(eq, &rows);
    let mut out = start(mean, &rows);
    // as the matrices lie: group after group, column after column
    let mut means = vec![[0.0; LANES]; count.div_ceil(LANES) * k];
    let store = |means: &mut [[f64; LANES]], j: usize, column: &[f64]| {
        for (group, from) in column.chunks(LANES).enumerate() {
            means[group * k + j][..from.len()].copy_from_slice(from);
        }
    };
    for j in 0..k {
        store(&mut means, j, &out[0][j * count..(j + 1) * count]);
    }
    let (mut linear, mut precision) = (vec![0.0; count], vec![0.0; count]);
    // the rows of a tile follow one another
    let rhs: Vec<&[f64]> = (0..k)
        .map(|j| &eq.rhs.col_as_slice(j)[rows[0] - first..][..count])
        .collect();
    let mut sum = 0.0;
    for _ in 0..passes {
        sum = 0.0;
        for j in 0..k {
            dispatch(Left {
                matrices: &matrices,
                means: &means,
                k: j,
                columns: k,
                rhs: rhs[j],
                linear: &mut linear,
                precision: &mut precision,
            });
            let column = Column {
                k: j,
                rows: &rows,
                precision: &precision,
                linear: &linear,
            };
            sum += site.visit(&column, at(&mut out, j, count));
            store(&mut means, j, &out[0][j * count..(j + 1) * count]);
        }
    }
    site.settle(&mut Swept {
        rows: &rows,
        precisions: &matrices,
        rhs: &rhs,
        out: &mut out,
    });
    Tile { rows, out, sum }
}

/// Puts one output of all tiles into its place.
pub(super) fn scatter<const OUT: usize>(tiles: &[Tile<OUT>], which: usize, into: &mut Mat<f64>) {
    for tile in tiles {
        let count = tile.rows.len();
        let in_a_row = in_a_row(&tile.rows);
        for j in 0..into.ncols() {
            let column = into.col_as_slice_mut(j);
            let from = &tile.out[which][j * count..(j + 1) * count];
            if let Some(rows) = &in_a_row {
                column[rows.clone()].copy_from_slice(from);
                continue;
            }
            for (x, &r) in from.iter().zip(&tile.rows) {
                column[r] = *x;
            }
        }
    }
}

/// The sum that the sites returned, in the order of the tiles.
pub(super) fn total<const OUT: usize>(tiles: &[Tile<OUT>]) -> f64 {
    tiles.iter().map(|t| t.sum).sum()
}
