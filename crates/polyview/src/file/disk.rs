//! Files on a disk: written whole or not at all, read with care.

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;

use polyview_core::{Overwrite, write_atomic};

use super::container::{Sealed, head_len, metadata};
use super::fault::Fault;
use crate::error::{Error, Result};

/// Writes a file whole or not at all.
pub(super) fn write(path: &Path, overwrite: Overwrite, file: &Sealed<'_>) -> Result<()> {
    write_atomic(path, overwrite, |out| {
        let mut out = BufWriter::with_capacity(1 << 20, out);
        file.write(&mut out)?;
        out.flush()
    })
    .map_err(Error::from)
}

/// Reads a file whose first bytes promise the length that it has.
pub(super) fn read(path: &Path) -> Result<Vec<u8>> {
    read_checked(path).map_err(|fault| fault.at(&path.display().to_string()))
}

fn read_checked(path: &Path) -> std::result::Result<Vec<u8>, Fault> {
    let mut file = File::open(path)?;
    let about = file.metadata()?;
    if !about.is_file() {
        return Err(Fault::Io(io::Error::other("it is not a plain file")));
    }
    let len = about.len();
    let mut bytes = Vec::new();
    read_up_to(&mut file, &mut bytes, 8)?;
    let head = head_len(&bytes, len)?;
    read_up_to(&mut file, &mut bytes, head)?;
    let table = bytes.get(8..head).ok_or(Fault::Truncated {
        expected: head as u64,
        found: bytes.len() as u64,
    })?;
    let expected = metadata(table)?.data_len().saturating_add(head) as u64;
    if len < expected {
        return Err(Fault::Truncated {
            expected,
            found: len,
        });
    }
    if len > expected {
        return Err(Fault::TooLong {
            extra: len - expected,
        });
    }
    // the length is that of the file, which exists
    read_up_to(&mut file, &mut bytes, len as usize)?;
    Ok(bytes)
}

/// Reads until `bytes` is `len` long or the file ends.
fn read_up_to(file: &mut File, bytes: &mut Vec<u8>, len: usize) -> io::Result<()> {
    let more = len.saturating_sub(bytes.len());
    bytes
        .try_reserve_exact(more)
        .map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
    file.take(more as u64).read_to_end(bytes)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::container::{Tensor, Values};
    use super::*;
    use crate::error::ErrorKind;

    /// A disk with room for so many bytes.
    struct Small(usize);

    impl Write for Small {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.0 == 0 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            let n = bytes.len().min(self.0);
            self.0 -= n;
            Ok(n)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_full_disk_is_reported_wherever_it_fills() {
        let values = vec![1.0; 40];
        let tensor = Tensor::new("a", Values::Vector((&values[..]).into()));
        let header = serde_json::json!({"format": 1});
        let file = Sealed::new(&header, vec![tensor]).unwrap();
        let len = file.to_bytes().unwrap().len();
        for room in (0..len).step_by(7) {
            let error = file.write(&mut Small(room)).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::StorageFull);
            let error = Fault::Io(error).at("model.pv");
            assert!(
                matches!(error.kind(), ErrorKind::Io { path, .. } if path == "model.pv"),
                "{error:?}"
            );
        }
        file.write(&mut Small(len)).unwrap();
    }
}
