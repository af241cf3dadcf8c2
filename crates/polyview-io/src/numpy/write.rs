//! Writing NumPy arrays.

use std::io::{self, Seek, Write};

use polyview_linalg::MatRef;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use super::header::{Header, Order};
use super::names::encode;
use crate::write::NamedMatrix;

/// Writes the values in Fortran order, as they lie in memory.
pub(crate) fn write_npy(out: &mut dyn Write, values: MatRef<'_, f64>) -> io::Result<()> {
    out.write_all(&Header::write(
        "<f8",
        Order::Fortran,
        &[values.nrows(), values.ncols()],
    ))?;
    let mut bytes = Vec::with_capacity(values.nrows() * 8);
    for column in values.col_iter() {
        bytes.clear();
        for x in column.iter() {
            bytes.extend_from_slice(&x.to_le_bytes());
        }
        out.write_all(&bytes)?;
    }
    Ok(())
}

/// Writes `x`, `samples` and `features`, uncompressed as `numpy.savez` does:
/// the same matrix gives the same bytes.
pub(crate) fn write_npz(out: &mut (impl Write + Seek), matrix: &NamedMatrix<'_>) -> io::Result<()> {
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .last_modified_time(DateTime::default())
        .large_file(true);
    let mut archive = ZipWriter::new(out);
    archive.start_file("x.npy", options)?;
    write_npy(&mut archive, matrix.values)?;
    for (name, names) in [
        ("samples.npy", matrix.rows),
        ("features.npy", matrix.columns),
    ] {
        archive.start_file(name, options)?;
        archive.write_all(&encode(names))?;
    }
    archive.finish()?;
    Ok(())
}
