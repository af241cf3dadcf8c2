//! The container: a safetensors file whose metadata hold one JSON header and
//! one checksum.
//!
//! The checksum is the SHA-256 of the header's text followed, for each array
//! in the order of the names, by `\n`, the name, `\n`, the type, `\n`, the
//! shape with commas, `\n` and the array's bytes.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};

use polyview_core::{Role, StateArray};
use polyview_linalg::{Mat, MatRef};
use safetensors::Dtype;
use safetensors::tensor::Metadata;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::fault::Fault;
use super::header::Kind;

/// Longest header, in bytes: the limit of the safetensors packages.
pub(super) const HEADER_LIMIT: usize = 100_000_000;
/// Longest other extent of an array without elements.
const EMPTY_LIMIT: usize = 1 << 16;
/// Numbers that are turned from columns to rows at a time.
const BLOCK: usize = 1 << 16;
/// Metadata entries.
const HEADER: &str = "polyview";
const CHECKSUM: &str = "sha256";

/// One array on its way into a file.
pub(super) struct Tensor<'a> {
    pub(super) name: String,
    pub(super) values: Values<'a>,
}

/// The values of a [`Tensor`].
pub(super) enum Values<'a> {
    /// A vector of numbers.
    Vector(Cow<'a, [f64]>),
    /// A matrix.
    Matrix(MatRef<'a, f64>),
    /// A matrix of that shape, row by row.
    Rows([usize; 2], Vec<f64>),
    /// Bytes of any shape, the last extent running fastest.
    Bytes(Vec<usize>, Cow<'a, [u8]>),
}

impl<'a> Tensor<'a> {
    pub(super) fn new(name: impl Into<String>, values: Values<'a>) -> Self {
        Self {
            name: name.into(),
            values,
        }
    }
    /// An array of a state. `None` when its shape does not fit its values.
    pub(super) fn of_state(name: String, array: &'a StateArray) -> Option<Self> {
        let values = match array.shape[..] {
            [len] if len == array.values.len() => Values::Vector((&array.values[..]).into()),
            [rows, columns] if rows.checked_mul(columns) == Some(array.values.len()) => {
                Values::Matrix(MatRef::from_column_major_slice(
                    &array.values,
                    rows,
                    columns,
                ))
            }
            _ => return None,
        };
        Some(Self { name, values })
    }
    fn dtype(&self) -> &'static str {
        match self.values {
            Values::Bytes(..) => "U8",
            _ => "F64",
        }
    }
    fn shape(&self) -> Vec<usize> {
        match &self.values {
            Values::Vector(v) => vec![v.len()],
            Values::Matrix(m) => vec![m.nrows(), m.ncols()],
            Values::Rows(shape, _) => shape.to_vec(),
            Values::Bytes(shape, _) => shape.clone(),
        }
    }
    fn len(&self) -> usize {
        match &self.values {
            Values::Vector(v) => 8 * v.len(),
            Values::Matrix(m) => 8 * m.nrows() * m.ncols(),
            Values::Rows(_, v) => 8 * v.len(),
            Values::Bytes(_, b) => b.len(),
        }
    }
    /// Hands the bytes over in pieces: little-endian, rows of a matrix one
    /// after the other.
    fn pieces(&self, sink: &mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        let mut buffer = Vec::new();
        match &self.values {
            Values::Bytes(_, bytes) => sink(bytes)?,
            Values::Vector(v) => numbers(v, &mut buffer, sink)?,
            Values::Rows(_, v) => numbers(v, &mut buffer, sink)?,
            Values::Matrix(m) => {
                let width = m.ncols();
                let step = (BLOCK / width.max(1)).max(1);
                for start in (0..m.nrows()).step_by(step) {
                    let rows = step.min(m.nrows() - start);
                    buffer.resize(8 * rows * width, 0);
                    for j in 0..width {
                        for i in 0..rows {
                            let at = 8 * (i * width + j);
                            buffer[at..at + 8].copy_from_slice(&m[(start + i, j)].to_le_bytes());
                        }
                    }
                    sink(&buffer)?;
                }
            }
        }
        Ok(())
    }
}

/// Hands numbers over in pieces.
fn numbers(
    values: &[f64],
    buffer: &mut Vec<u8>,
    sink: &mut dyn FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    for block in values.chunks(BLOCK) {
        buffer.clear();
        buffer.extend(block.iter().flat_map(|x| x.to_le_bytes()));
        sink(buffer)?;
    }
    Ok(())
}

/// A file ready to be written.
pub(super) struct Sealed<'a> {
    head: Vec<u8>,
    tensors: Vec<Tensor<'a>>,
}

impl<'a> Sealed<'a> {
    /// Puts header and arrays together and takes their checksum.
    pub(super) fn new(header: &Value, mut tensors: Vec<Tensor<'a>>) -> Result<Self, Fault> {
        let header = header.to_string();
        tensors.sort_by(|a, b| a.name.cmp(&b.name));
        if let Some(pair) = tensors.windows(2).find(|p| p[0].name == p[1].name) {
            return Err(Fault::Duplicate {
                what: "arrays",
                name: pair[0].name.clone(),
            });
        }
        let mut sum = Sum::new(&header);
        for t in &tensors {
            sum.begin(&t.name, t.dtype(), &t.shape());
            t.pieces(&mut |bytes| {
                sum.0.update(bytes);
                Ok(())
            })?;
        }
        // numbers first, so that they lie on multiples of eight bytes
        tensors.sort_by(|a, b| (a.dtype(), &a.name).cmp(&(b.dtype(), &b.name)));
        let text = |s: &str| Value::from(s).to_string();
        let mut head = format!(
            "{{\"__metadata__\":{{\"{HEADER}\":{},\"{CHECKSUM}\":\"{}\"}}",
            text(&header),
            sum.finish()
        );
        let mut at = 0;
        for t in &tensors {
            let end = at + t.len();
            let _ = write!(
                head,
                ",{}:{{\"dtype\":\"{}\",\"shape\":{:?},\"data_offsets\":[{at},{end}]}}",
                text(&t.name),
                t.dtype(),
                t.shape()
            );
            at = end;
        }
        head.push('}');
        let mut head = head.into_bytes();
        head.resize(head.len().next_multiple_of(8), b' ');
        if head.len() > HEADER_LIMIT {
            return Err(Fault::HeaderTooLarge {
                found: head.len(),
                most: HEADER_LIMIT,
            });
        }
        let mut all = (head.len() as u64).to_le_bytes().to_vec();
        all.append(&mut head);
        Ok(Self { head: all, tensors })
    }
    /// Writes the file.
    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(&self.head)?;
        for t in &self.tensors {
            t.pieces(&mut |bytes| out.write_all(bytes))?;
        }
        Ok(())
    }
    /// The file in memory.
    pub(super) fn to_bytes(&self) -> io::Result<Vec<u8>> {
        let len = self.tensors.iter().map(Tensor::len).sum::<usize>();
        let mut out = Vec::with_capacity(self.head.len() + len);
        self.write(&mut out)?;
        Ok(out)
    }
}

/// The checksum as it grows.
struct Sum(Sha256);

impl Sum {
    fn new(header: &str) -> Self {
        Self(Sha256::new_with_prefix(header))
    }
    fn begin(&mut self, name: &str, dtype: &str, shape: &[usize]) {
        let shape: Vec<String> = shape.iter().map(usize::to_string).collect();
        self.0
            .update(format!("\n{name}\n{dtype}\n{}\n", shape.join(",")));
    }
    fn finish(self) -> String {
        hex(&self.0.finalize())
    }
}

/// Bytes in hexadecimal.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .fold(String::with_capacity(2 * bytes.len()), |mut out, b| {
            let _ = write!(out, "{b:02x}");
            out
        })
}

/// An array found in a file.
#[derive(Clone, Debug)]
pub(super) struct Stored<'a> {
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: &'a [u8],
}

impl<'a> Stored<'a> {
    /// The numbers: one or two extents, column-major.
    pub(super) fn to_array(&self, name: &str) -> Result<StateArray, Fault> {
        if self.dtype != Dtype::F64 {
            return Err(Fault::values(name, "does not hold 64-bit numbers"));
        }
        let (numbers, _) = self.bytes.as_chunks::<8>();
        let values: Vec<f64> = numbers.iter().map(|x| f64::from_le_bytes(*x)).collect();
        let values = match self.shape[..] {
            [_] => values,
            [rows, columns] => {
                if values.is_empty() && rows.max(columns) > EMPTY_LIMIT {
                    return Err(Fault::values(name, "is empty and too long"));
                }
                let mut turned = Vec::with_capacity(values.len());
                for j in 0..columns {
                    turned.extend((0..rows).map(|i| values[i * columns + j]));
                }
                turned
            }
            _ => return Err(Fault::values(name, "is neither vector nor matrix")),
        };
        Ok(StateArray {
            shape: self.shape.clone(),
            values,
            // files do not say
            role: Role::default(),
        })
    }
    /// The numbers of an array of known shape.
    pub(super) fn numbers(&self, name: &str, shape: &[usize]) -> Result<Vec<f64>, Fault> {
        self.expect_shape(name, shape)?;
        Ok(self.to_array(name)?.values)
    }
    /// The numbers of a matrix of known shape.
    pub(super) fn matrix(
        &self,
        name: &str,
        rows: usize,
        columns: usize,
    ) -> Result<Mat<f64>, Fault> {
        let values = self.numbers(name, &[rows, columns])?;
        Ok(Mat::from_fn(rows, columns, |i, j| values[j * rows + i]))
    }
    /// The bytes of an array of known shape, the last extent running fastest.
    pub(super) fn bytes(&self, name: &str, shape: &[usize]) -> Result<&'a [u8], Fault> {
        if self.dtype != Dtype::U8 {
            return Err(Fault::values(name, "does not hold bytes"));
        }
        self.expect_shape(name, shape)?;
        Ok(self.bytes)
    }
    /// The bytes of a vector of any length.
    pub(super) fn byte_string(&self, name: &str) -> Result<&'a [u8], Fault> {
        self.bytes(name, &[self.bytes.len()])
    }
    fn expect_shape(&self, name: &str, expected: &[usize]) -> Result<(), Fault> {
        if self.shape == expected {
            Ok(())
        } else {
            Err(Fault::Shape {
                name: name.to_owned(),
                expected: expected.to_vec(),
                found: self.shape.clone(),
            })
        }
    }
}

/// A file read back: its header and its arrays, checksum verified.
#[derive(Debug)]
pub(super) struct Container<'a> {
    pub(super) header: Value,
    arrays: BTreeMap<String, Stored<'a>>,
}

impl<'a> Container<'a> {
    /// Reads the container. Nothing is allocated that is not in proportion to
    /// the bytes given.
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self, Fault> {
        let found = bytes.len() as u64;
        // head_len is at most the length it is given
        let (head, rest) = bytes.split_at(head_len(bytes, found)?);
        let metadata = metadata(&head[8..])?;
        let len = metadata.data_len();
        if rest.len() < len {
            return Err(Fault::Truncated {
                expected: head.len().saturating_add(len) as u64,
                found,
            });
        }
        if rest.len() > len {
            return Err(Fault::TooLong {
                extra: (rest.len() - len) as u64,
            });
        }
        let entries = metadata.metadata().as_ref();
        let entry = |key: &'static str| {
            entries
                .and_then(|e| e.get(key))
                .ok_or(Fault::Foreign(key))
                .map(String::as_str)
        };
        let text = entry(HEADER)?;
        let header: Value = serde_json::from_str(text)?;
        // a later format may sum otherwise: its number comes first
        let version = header.get("format").and_then(Value::as_u64);
        match version.and_then(|v| u32::try_from(v).ok()) {
            None | Some(0) => return Err(Fault::Foreign("format")),
            Some(found) => {
                let known = Kind::of(&header).map_or(super::FORMAT_VERSION, Kind::version);
                if found > known {
                    return Err(Fault::Newer { found, known });
                }
            }
        }
        let expected = entry(CHECKSUM)?;
        let unknown = entries.and_then(|e| e.keys().find(|k| *k != HEADER && *k != CHECKSUM));
        if let Some(key) = unknown {
            return Err(Fault::UnknownEntry(key.clone()));
        }
        let mut arrays = BTreeMap::new();
        for (name, info) in metadata.tensors() {
            let (start, end) = info.data_offsets;
            let bytes = rest
                .get(start..end)
                .ok_or_else(|| Fault::NotSafetensors(format!("place of '{name}'")))?;
            let stored = Stored {
                dtype: info.dtype,
                shape: info.shape.clone(),
                bytes,
            };
            arrays.insert(name, stored);
        }
        let mut sum = Sum::new(text);
        for (name, a) in &arrays {
            sum.begin(name, &a.dtype.to_string(), &a.shape);
            sum.0.update(a.bytes);
        }
        if sum.finish() != expected {
            return Err(Fault::Checksum);
        }
        Ok(Self { header, arrays })
    }
    /// Whether there is an array of that name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.arrays.contains_key(name)
    }
    /// Takes an array out.
    pub(super) fn take(&mut self, name: &str) -> Result<Stored<'a>, Fault> {
        self.arrays
            .remove(name)
            .ok_or_else(|| Fault::Missing(name.to_owned()))
    }
    /// Takes out all arrays whose names begin with `prefix`, without it.
    pub(super) fn take_all(&mut self, prefix: &str) -> Vec<(String, Stored<'a>)> {
        let names: Vec<String> = self
            .arrays
            .range(prefix.to_owned()..)
            .map(|(name, _)| name)
            .take_while(|name| name.starts_with(prefix))
            .cloned()
            .collect();
        names
            .into_iter()
            .filter_map(|name| {
                let stored = self.arrays.remove(&name)?;
                Some((name[prefix.len()..].to_owned(), stored))
            })
            .collect()
    }
    /// Arrays that nobody took.
    pub(super) fn finish(self) -> Result<(), Fault> {
        match self.arrays.into_keys().next() {
            Some(name) => Err(Fault::Unknown(name)),
            None => Ok(()),
        }
    }
}

/// Bytes of the length field and the header of a file of `len` bytes, by its
/// first bytes.
pub(super) fn head_len(first: &[u8], len: u64) -> Result<usize, Fault> {
    let Some((field, _)) = first.split_first_chunk::<8>() else {
        return Err(Fault::Truncated {
            expected: 8,
            found: len,
        });
    };
    match usize::try_from(u64::from_le_bytes(*field)) {
        Ok(n) if n <= HEADER_LIMIT && 8 + n as u64 <= len => Ok(8 + n),
        Ok(n) if n <= HEADER_LIMIT => Err(Fault::Truncated {
            expected: 8 + n as u64,
            found: len,
        }),
        _ => Err(Fault::NotSafetensors("length of the header".to_owned())),
    }
}

/// The table of arrays: names, types, shapes and places, which fit together.
pub(super) fn metadata(head: &[u8]) -> Result<Metadata, Fault> {
    let not = |e: &dyn std::fmt::Display| Fault::NotSafetensors(e.to_string());
    let text = std::str::from_utf8(head).map_err(|e| not(&e))?;
    serde_json::from_str(text).map_err(|e| not(&e))
}
