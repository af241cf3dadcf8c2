//! Elements of an array as 64-bit floats.

use std::io::Read;

use polyview_linalg::Mat;

use super::header::{ElementType, Endian, Header, Kind, Order};
use super::read_exact;
use crate::error::ArrayError;

/// Bytes read at a time, about.
const CHUNK: usize = 1 << 17;

/// Reads a matrix of which `available` bytes are said to follow. Nothing is
/// allocated that these bytes could not fill.
pub(crate) fn read_matrix(
    input: &mut dyn Read,
    header: &Header,
    available: u64,
) -> Result<Mat<f64>, ArrayError> {
    let element = header.element()?;
    if matches!(element.kind, Kind::Unicode | Kind::Bytes) {
        return Err(ArrayError::ElementType {
            descr: header.descr.clone(),
        });
    }
    let (rows, columns) = header.matrix_shape()?;
    check_length(header, element, available)?;
    let (rows, columns) = (rows as usize, columns as usize);
    let mut values = Mat::zeros(rows, columns);
    let (lines, length) = match header.order {
        Order::C => (rows, columns),
        Order::Fortran => (columns, rows),
    };
    let lines_at_once = (CHUNK / (length * element.size)).clamp(1, lines);
    let mut bytes = vec![0; lines_at_once * length * element.size];
    let mut first = 0;
    while first < lines {
        let count = lines_at_once.min(lines - first);
        let bytes = &mut bytes[..count * length * element.size];
        read_exact(input, bytes)?;
        match header.order {
            Order::Fortran => {
                for (i, line) in bytes.chunks_exact(length * element.size).enumerate() {
                    let column = values.col_as_slice_mut(first + i);
                    for (row, (out, raw)) in column
                        .iter_mut()
                        .zip(line.chunks_exact(element.size))
                        .enumerate()
                    {
                        *out = convert(raw, element, row, first + i)?;
                    }
                }
            }
            Order::C => {
                for column in 0..length {
                    let out = &mut values.col_as_slice_mut(column)[first..first + count];
                    for (i, out) in out.iter_mut().enumerate() {
                        let at = (i * length + column) * element.size;
                        *out = convert(&bytes[at..at + element.size], element, first + i, column)?;
                    }
                }
            }
        }
        first += count;
    }
    at_end(input)?;
    Ok(values)
}

/// Refuses an array that is longer or shorter than what is there.
pub(crate) fn check_length(
    header: &Header,
    element: ElementType,
    available: u64,
) -> Result<u64, ArrayError> {
    let expected = header
        .elements()
        .and_then(|n| n.checked_mul(element.size as u64));
    match expected {
        Some(expected) if expected == available => Ok(expected),
        Some(expected) if expected < available => Err(ArrayError::Trailing),
        _ => Err(ArrayError::Truncated {
            expected: expected.unwrap_or(u64::MAX),
            found: available,
        }),
    }
}

/// Refuses bytes after the last element; in an archive this also checks the
/// checksum.
pub(crate) fn at_end(input: &mut dyn Read) -> Result<(), ArrayError> {
    let mut rest = [0; 1];
    match input.read(&mut rest) {
        Ok(0) => Ok(()),
        Ok(_) => Err(ArrayError::Trailing),
        Err(e) => Err(ArrayError::Archive {
            what: e.to_string(),
        }),
    }
}

#[inline]
pub(crate) fn convert(
    raw: &[u8],
    element: ElementType,
    row: usize,
    column: usize,
) -> Result<f64, ArrayError> {
    let (row, column) = (row as u64, column as u64);
    match element.kind {
        Kind::Float => {
            let bits = bits(raw, element.endian);
            let x = if element.size == 4 {
                f64::from(f32::from_bits(bits as u32))
            } else {
                f64::from_bits(bits)
            };
            if x.is_infinite() {
                Err(ArrayError::Infinite { row, column })
            } else {
                Ok(x)
            }
        }
        Kind::Bool => Ok(f64::from(u8::from(raw[0] != 0))),
        _ => {
            let value = integer(raw, element);
            let x = value as f64;
            if x as i128 == value {
                Ok(x)
            } else {
                Err(ArrayError::Inexact { row, column, value })
            }
        }
    }
}

/// The bits of an element of up to eight bytes.
#[inline]
fn bits(raw: &[u8], endian: Endian) -> u64 {
    let mut bytes = [0; 8];
    match endian {
        Endian::Little => {
            bytes[..raw.len()].copy_from_slice(raw);
            u64::from_le_bytes(bytes)
        }
        Endian::Big => {
            bytes[8 - raw.len()..].copy_from_slice(raw);
            u64::from_be_bytes(bytes)
        }
    }
}

/// The value of an integer element.
pub(crate) fn integer(raw: &[u8], element: ElementType) -> i128 {
    let bits = bits(raw, element.endian);
    if element.kind == Kind::Signed {
        let unused = 64 - 8 * raw.len() as u32;
        i128::from(((bits << unused) as i64) >> unused)
    } else {
        i128::from(bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn element(kind: Kind, endian: Endian, size: usize) -> ElementType {
        ElementType { kind, endian, size }
    }

    #[test]
    fn integers_of_every_width_and_order() {
        let signed = |raw: &[u8], endian| integer(raw, element(Kind::Signed, endian, raw.len()));
        assert_eq!(signed(&[0xFE], Endian::Little), -2);
        assert_eq!(signed(&[0xFE, 0xFF], Endian::Little), -2);
        assert_eq!(signed(&[0xFF, 0xFE], Endian::Big), -2);
        assert_eq!(signed(&(-7_i32).to_be_bytes(), Endian::Big), -7);
        assert_eq!(
            signed(&i64::MIN.to_le_bytes(), Endian::Little),
            i128::from(i64::MIN)
        );
        let unsigned = integer(
            &u64::MAX.to_be_bytes(),
            element(Kind::Unsigned, Endian::Big, 8),
        );
        assert_eq!(unsigned, i128::from(u64::MAX));
        assert_eq!(
            integer(&[0xFE], element(Kind::Unsigned, Endian::Big, 1)),
            254
        );
    }

    #[test]
    fn integers_that_would_be_rounded_are_refused() {
        let i8 = element(Kind::Signed, Endian::Little, 8);
        let exact = (1_i64 << 53) + 2;
        assert_eq!(convert(&exact.to_le_bytes(), i8, 0, 0), Ok(exact as f64));
        let odd = (1_i64 << 53) + 1;
        assert_eq!(
            convert(&odd.to_le_bytes(), i8, 2, 3),
            Err(ArrayError::Inexact {
                row: 2,
                column: 3,
                value: i128::from(odd)
            })
        );
    }
}
