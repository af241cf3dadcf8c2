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

use polyview_core::NormalEquations;
use polyview_linalg::{Mat, MatRef, SymPacked, combine_columns, packed_index, packed_len};
use rayon::prelude::*;

/// Rows of a tile that share a precision: K columns of a thousand bytes each.
const TILE: usize = 128;
/// Rows of a tile with own precisions, K(K + 1)/2 numbers each.
const OWN_TILE: usize = 64;
/// Rows with own precisions that are worked on side by side.
const LANES: usize = 8;

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
fn all_own(eq: &NormalEquations) -> bool {
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

/// The present means of some rows, column after column.
fn start<const OUT: usize>(mean: MatRef<'_, f64>, rows: &[usize]) -> [Vec<f64>; OUT] {
    let k = mean.ncols();
    let mut out: [Vec<f64>; OUT] = std::array::from_fn(|_| vec![0.0; rows.len() * k]);
    for j in 0..k {
        for (x, &r) in out[0][j * rows.len()..].iter_mut().zip(rows) {
            *x = mean[(r, j)];
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

/// $\sum\_{j \ne k} P\_{r,kj}m\_{rj}$ of the rows of one group; `means(j)` are
/// theirs.
#[inline]
fn others<'a>(
    matrices: &[[f64; LANES]],
    k: usize,
    columns: usize,
    means: impl Fn(usize) -> &'a [f64; LANES],
) -> [f64; LANES] {
    let mut sum = [0.0; LANES];
    let mut add = |p: &[f64; LANES], m: &[f64; LANES]| {
        for i in 0..LANES {
            sum[i] += p[i] * m[i];
        }
    };
    let row = packed_index(k, 0);
    for (j, p) in matrices[row..row + k].iter().enumerate() {
        add(p, means(j));
    }
    for j in k + 1..columns {
        add(&matrices[packed_index(j, k)], means(j));
    }
    sum
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
    let (length, matrices) = (packed_len(k), interleaved(eq, &rows));
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
    let mut sum = 0.0;
    for _ in 0..passes {
        sum = 0.0;
        for j in 0..k {
            let rhs = eq.rhs.col_as_slice(j);
            for (group, rows) in rows.chunks(LANES).enumerate() {
                let matrices = &matrices[group * length..(group + 1) * length];
                let means = &means[group * k..(group + 1) * k];
                let rest = others(matrices, j, k, |l| &means[l]);
                let diagonal = &matrices[packed_index(j, j)];
                for (i, &r) in rows.iter().enumerate() {
                    linear[group * LANES + i] = rhs[r - first] - rest[i];
                    precision[group * LANES + i] = diagonal[i];
                }
            }
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
    Tile { rows, out, sum }
}

/// Puts one output of all tiles into its place.
pub(super) fn scatter<const OUT: usize>(tiles: &[Tile<OUT>], which: usize, into: &mut Mat<f64>) {
    for tile in tiles {
        let count = tile.rows.len();
        for j in 0..into.ncols() {
            let column = into.col_as_slice_mut(j);
            for (x, &r) in tile.out[which][j * count..].iter().zip(&tile.rows) {
                column[r] = *x;
            }
        }
    }
}

/// The sum that the sites returned, in the order of the tiles.
pub(super) fn total<const OUT: usize>(tiles: &[Tile<OUT>]) -> f64 {
    tiles.iter().map(|t| t.sum).sum()
}
