//! Matrices, dense and sparse.

use polyview_linalg::{Mat, Repeats, SparseColumns};

use crate::error::Result;
use crate::file::{Needed, Reader};

/// Most bytes of a sparse matrix that has to become dense.
const DENSE: u64 = 1 << 34;

/// Which lines of a sparse matrix are stored one after the other.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Major {
    Rows,
    Columns,
}

/// A matrix as its file has it.
pub(super) enum Matrix {
    /// Every cell.
    Dense(Mat<f64>),
    /// Those that are not zero.
    Sparse(SparseColumns),
}

/// The matrix at a place, if there is one.
pub(super) fn read(file: &Reader, place: &str, shape: [usize; 2]) -> Result<Option<Matrix>> {
    if file.group(place)?.is_none() {
        return Ok(file.matrix(place, Some(shape))?.map(Matrix::Dense));
    }
    let kind = match file.word(place, "encoding-type")? {
        Some(kind) => kind,
        None => file
            .word(place, "h5sparse_format")?
            .map_or_else(String::new, |k| format!("{k}_matrix")),
    };
    let major = match kind.as_str() {
        "csr_matrix" => Major::Rows,
        "csc_matrix" => Major::Columns,
        other => {
            return Err(file.layout(
                place,
                format!("a group of the encoding '{other}'"),
                "name a matrix: dense, or sparse as csr_matrix or csc_matrix",
            ));
        }
    };
    sparse(file, place, shape, major).map(Some)
}

fn sparse(file: &Reader, place: &str, shape: [usize; 2], major: Major) -> Result<Matrix> {
    let claimed = match file.attribute(place, "shape")? {
        Some(s) => Some(s),
        None => file.attribute(place, "h5sparse_shape")?,
    };
    let claimed: Vec<u64> = claimed
        .and_then(|s| {
            s.to_u64s()
                .or_else(|| Some(s.to_i64s()?.into_iter().map(|n| n.max(0) as u64).collect()))
        })
        .unwrap_or_default();
    if claimed != [shape[0] as u64, shape[1] as u64] {
        return Err(file.wrong_shape(place, &shape, &claimed));
    }
    let part = |name: &str| format!("{place}/{name}");
    let mend = "a sparse matrix has data, indices and indptr: write the file again";
    let (lines, across) = match major {
        Major::Rows => (shape[0], shape[1]),
        Major::Columns => (shape[1], shape[0]),
    };
    let starts =
        file.vector(&part("indptr"), Some(lines + 1))?
            .needed(file, &part("indptr"), mend)?;
    let indices = file
        .vector(&part("indices"), None)?
        .needed(file, &part("indices"), mend)?;
    let values =
        file.vector(&part("data"), Some(indices.len()))?
            .needed(file, &part("data"), mend)?;
    let sorted = starts.windows(2).all(|p| p[0] <= p[1]);
    if !sorted || starts[0] != 0.0 || starts[lines] != indices.len() as f64 {
        return Err(file.values(
            &part("indptr"),
            "does not run from 0 to the number of values; write the file again",
        ));
    }
    if let Some(other) = indices.iter().find(|&&i| !(i >= 0.0 && i < across as f64)) {
        return Err(file.values(
            &part("indices"),
            format!("points at place {other} of {across}; write the file again"),
        ));
    }
    let starts: Vec<usize> = starts.into_iter().map(|s| s as usize).collect();
    let indices: Vec<u32> = indices.into_iter().map(|i| i as u32).collect();
    if values.iter().any(|x| !x.is_finite()) {
        // cells that are missing have no place in a sparse matrix
        return dense(file, place, shape, major, (&starts, &indices, &values));
    }
    // by rows whichever way it lies, then turned; entries that occur twice add
    // up, as scipy has it
    let lines = SparseColumns::from_rows(lines, across, &starts, &indices, &values, Repeats::Add);
    let lines = lines.map_err(|e| file.values(place, format!("{e}; write the file again")))?;
    Ok(Matrix::Sparse(match major {
        Major::Rows => lines,
        Major::Columns => lines.transposed(),
    }))
}

/// A sparse matrix some of whose entries are missing.
fn dense(
    file: &Reader,
    place: &str,
    shape: [usize; 2],
    major: Major,
    (starts, indices, values): (&[usize], &[u32], &[f64]),
) -> Result<Matrix> {
    let bytes = (shape[0] as u64)
        .checked_mul(shape[1] as u64)
        .and_then(|n| n.checked_mul(8));
    if bytes.is_none_or(|b| b > DENSE) {
        return Err(file.too_large(
            place,
            &shape.map(|n| n as u64),
            "sparse matrices with missing values become dense here, and this one would take more \
             than 16 GiB; keep the variable features, or fewer samples",
        ));
    }
    let mut out: Mat<f64> = Mat::zeros(shape[0], shape[1]);
    for (line, at) in starts.windows(2).enumerate() {
        for i in at[0]..at[1] {
            let (row, column) = match major {
                Major::Rows => (line, indices[i] as usize),
                Major::Columns => (indices[i] as usize, line),
            };
            out[(row, column)] += values[i];
        }
    }
    Ok(Matrix::Dense(out))
}
