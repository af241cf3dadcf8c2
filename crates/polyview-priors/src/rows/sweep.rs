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
const OWN_TILE: usize = 32;

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
    /// Sets one column. `out[0]` takes the new means, which the columns that
    /// follow see; the others are the family's own. Returns the column's
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

/// Data precisions of some rows, packed one after the other.
fn packed(eq: &NormalEquations, rows: &[usize]) -> Vec<f64> {
    let first = eq.rows().start;
    let mut out = vec![0.0; rows.len() * packed_len(eq.k())];
    for (&r, cell) in rows.iter().zip(out.chunks_exact_mut(packed_len(eq.k()))) {
        if let Some(own) = &eq.packed {
            cell.copy_from_slice(own.row(r - first));
        }
        let scale = eq.scale.as_ref().map_or(1.0, |s| s[r]);
        for (c, g) in cell.iter_mut().zip(eq.gram.as_slice()) {
            *c += scale * g;
        }
        if let Some(p) = &eq.patterns {
            for (c, g) in cell.iter_mut().zip(p.grams.row(p.table.of_row[r] as usize)) {
                *c += g;
            }
        }
    }
    out
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
    let (length, matrices) = (packed_len(k), packed(eq, &rows));
    let mut out = start(mean, &rows);
    // row by row, as the packed triangles are
    let mut means = vec![0.0; count * k];
    for (i, line) in means.chunks_exact_mut(k.max(1)).enumerate() {
        for (j, x) in line.iter_mut().enumerate() {
            *x = out[0][j * count + i];
        }
    }
    let mut later = vec![0.0; count * k];
    let (mut linear, mut precision) = (vec![0.0; count], vec![0.0; count]);
    let mut sum = 0.0;
    for _ in 0..passes {
        sum = 0.0;
        // what the columns after k say to k, before they move
        later.fill(0.0);
        for i in 0..count {
            let matrix = &matrices[i * length..(i + 1) * length];
            let (line, later) = (&means[i * k..(i + 1) * k], &mut later[i * k..(i + 1) * k]);
            for (j, m) in line.iter().enumerate() {
                let below = &matrix[packed_index(j, 0)..packed_index(j, 0) + j];
                for (l, p) in later.iter_mut().zip(below) {
                    *l += p * m;
                }
            }
        }
        for j in 0..k {
            let rhs = eq.rhs.col_as_slice(j);
            for (i, &r) in rows.iter().enumerate() {
                let row = i * length + packed_index(j, 0);
                let before: f64 = matrices[row..row + j]
                    .iter()
                    .zip(&means[i * k..i * k + j])
                    .map(|(p, m)| p * m)
                    .sum();
                linear[i] = rhs[r - first] - later[i * k + j] - before;
                precision[i] = matrices[row + j];
            }
            let column = Column {
                k: j,
                rows: &rows,
                precision: &precision,
                linear: &linear,
            };
            sum += site.visit(&column, at(&mut out, j, count));
            for i in 0..count {
                means[i * k + j] = out[0][j * count + i];
            }
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
