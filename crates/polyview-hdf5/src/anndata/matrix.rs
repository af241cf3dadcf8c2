//! Matrices, dense and sparse.

use polyview_linalg::Mat;

use crate::error::Result;
use crate::file::{Needed, Reader};

/// Most bytes of a sparse matrix once it is dense.
const DENSE: u64 = 1 << 34;

/// Which lines of a sparse matrix are stored one after the other.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Major {
    Rows,
    Columns,
}

/// The matrix at a place, if there is one.
pub(super) fn read(file: &Reader, place: &str, shape: [usize; 2]) -> Result<Option<Mat<f64>>> {
    if file.group(place)?.is_none() {
        return file.matrix(place, Some(shape));
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

fn sparse(file: &Reader, place: &str, shape: [usize; 2], major: Major) -> Result<Mat<f64>> {
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
    let bytes = (shape[0] as u64)
        .checked_mul(shape[1] as u64)
        .and_then(|n| n.checked_mul(8));
    if bytes.is_none_or(|b| b > DENSE) {
        return Err(file.too_large(
            place,
            &claimed,
            "sparse matrices become dense here, and this one would take more than 16 GiB; \
             keep the variable features, or fewer samples",
        ));
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
    let mut out: Mat<f64> = Mat::zeros(shape[0], shape[1]);
    for line in 0..lines {
        for at in starts[line] as usize..starts[line + 1] as usize {
            let other = indices[at];
            if !(other >= 0.0 && other < across as f64) {
                return Err(file.values(
                    &part("indices"),
                    format!("points at place {other} of {across}; write the file again"),
                ));
            }
            let (row, column) = match major {
                Major::Rows => (line, other as usize),
                Major::Columns => (other as usize, line),
            };
            // entries that occur twice add up, as scipy has it
            out[(row, column)] += values[at];
        }
    }
    Ok(out)
}
