//! NumPy files made by another library or by hand.

use std::io::{Cursor, Write};

use npyz::WriterBuilder;
use polyview_core::Table;
use polyview_io::{ArrayError, IoError, ReadOptions};

pub fn npy<T: npyz::AutoSerialize + npyz::Serialize + Copy>(
    values: &[T],
    shape: &[u64],
    order: npyz::Order,
) -> Vec<u8> {
    let mut out = Vec::new();
    let mut writer = npyz::WriteOptions::new()
        .default_dtype()
        .order(order)
        .shape(shape)
        .writer(&mut out)
        .begin_nd()
        .unwrap();
    writer.extend(values.iter().copied()).unwrap();
    writer.finish().unwrap();
    out
}

pub fn typed<T: npyz::Serialize + Copy>(values: &[T], shape: &[u64], descr: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut writer = npyz::WriteOptions::new()
        .dtype(npyz::DType::Plain(descr.parse().unwrap()))
        .shape(shape)
        .writer(&mut out)
        .begin_nd()
        .unwrap();
    writer.extend(values.iter().copied()).unwrap();
    writer.finish().unwrap();
    out
}

pub fn zip(entries: &[(&str, &[u8])], method: zip::CompressionMethod) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default().compression_method(method);
    for (name, bytes) in entries {
        archive.start_file(*name, options).unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

pub fn stored(entries: &[(&str, &[u8])]) -> Vec<u8> {
    zip(entries, zip::CompressionMethod::Stored)
}

pub fn read(name: &str, bytes: &[u8]) -> Result<Table, IoError> {
    super::read_as(name, bytes, &ReadOptions::default())
}

pub fn array_error(found: Result<Table, IoError>) -> ArrayError {
    match found {
        Err(IoError::Array { source, .. }) => source,
        other => panic!("{other:?}"),
    }
}

pub const C: npyz::Order = npyz::Order::C;
pub const FORTRAN: npyz::Order = npyz::Order::Fortran;

/// A header as given, followed by `rest`.
pub fn forged(header: &str, rest: &[u8]) -> Vec<u8> {
    let mut out = b"\x93NUMPY\x01\x00".to_vec();
    out.extend((header.len() as u16).to_le_bytes());
    out.extend(header.as_bytes());
    out.extend(rest);
    out
}
