//! Random numbers of rows.

use std::ops::Range;

use polyview_linalg::Mat;
use polyview_random::{ChaCha8Rng, StreamKey, fill_standard_normal, uniform_open01};

const CHUNK: usize = 256;

/// Numbers for the rows `rows`, made row by row; the stream of a row does not
/// depend on how rows are grouped into ranges.
fn by_row(
    rows: Range<usize>,
    width: usize,
    key: StreamKey,
    fill: impl Fn(&mut ChaCha8Rng, &mut [f64]),
) -> Mat<f64> {
    let mut out = Mat::zeros(rows.len(), width);
    let mut line = vec![0.0; width];
    let mut current = usize::MAX;
    let mut rng = key.rng();
    for (i, r) in rows.enumerate() {
        if r / CHUNK != current {
            current = r / CHUNK;
            rng = key.chunk(current as u32).rng();
            for _ in 0..(r % CHUNK) {
                fill(&mut rng, &mut line);
            }
        }
        fill(&mut rng, &mut line);
        for (j, x) in line.iter().enumerate() {
            out[(i, j)] = *x;
        }
    }
    out
}

/// Standard normal noise, rows × K.
pub(crate) fn normals(rows: Range<usize>, k: usize, key: StreamKey) -> Mat<f64> {
    by_row(rows, k, key, fill_standard_normal)
}

/// Standard normal noise in the first K columns and uniform numbers in (0, 1)
/// in the other K.
pub(super) fn normals_and_uniforms(rows: Range<usize>, k: usize, key: StreamKey) -> Mat<f64> {
    by_row(rows, 2 * k, key, |rng, line| {
        let (normal, uniform) = line.split_at_mut(k);
        fill_standard_normal(rng, normal);
        for u in uniform {
            *u = uniform_open01(rng);
        }
    })
}
