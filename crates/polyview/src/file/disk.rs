//! Files on a disk: written whole or not at all, read with care.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::container::{Sealed, head_len, metadata};
use super::fault::Fault;
use crate::error::{ErrorKind, Result};

/// What happens to a file of the same name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Overwrite {
    /// It stays, and saving is an error.
    #[default]
    Refuse,
    /// The new file takes its place when it is complete.
    Replace,
}

/// Writes a file beside its place, makes sure that the disk has it, and moves
/// it there: whoever looks finds the old file or the new one, never a part.
pub(super) fn write(path: &Path, overwrite: Overwrite, file: &Sealed<'_>) -> Result<()> {
    let shown = path.display().to_string();
    let exists = || ErrorKind::Exists {
        path: shown.clone(),
    };
    let place = place(path).map_err(|e| Fault::Io(e).at(&shown))?;
    if overwrite == Overwrite::Refuse && place.symlink_metadata().is_ok() {
        return Err(exists().into());
    }
    let partial = write_partial(&place, file).map_err(|e| Fault::Io(e).at(&shown))?;
    let moved = match overwrite {
        Overwrite::Refuse => partial.persist_noclobber(&place),
        Overwrite::Replace => partial.persist(&place),
    };
    match moved {
        Ok(_) => sync_folder(&place),
        Err(e) if e.error.kind() == io::ErrorKind::AlreadyExists => return Err(exists().into()),
        Err(e) => return Err(Fault::Io(e.error).at(&shown)),
    }
    Ok(())
}

/// The file that is meant: links are followed, and only a plain file or
/// nothing may stand there.
fn place(path: &Path) -> io::Result<PathBuf> {
    match fs::metadata(path) {
        Ok(m) if m.is_file() => fs::canonicalize(path),
        Ok(_) => Err(io::Error::other("it is not a plain file")),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(path.to_owned()),
        Err(e) => Err(e),
    }
}

fn write_partial(place: &Path, file: &Sealed<'_>) -> io::Result<NamedTempFile> {
    let name = place
        .file_name()
        .ok_or_else(|| io::Error::other("the name of the file is missing"))?;
    let mut prefix = std::ffi::OsString::from(".");
    prefix.push(name);
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(".partial");
    #[cfg(unix)]
    {
        // as any new file; the process's mask takes away what it forbids
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let mut partial = builder.tempfile_in(folder(place))?;
    let mut out = BufWriter::with_capacity(1 << 20, partial.as_file_mut());
    file.write(&mut out)?;
    out.flush()?;
    drop(out);
    partial.as_file().sync_all()?;
    Ok(partial)
}

fn folder(place: &Path) -> &Path {
    match place.parent() {
        Some(p) if !p.as_os_str().is_empty() => p,
        _ => Path::new("."),
    }
}

/// Makes the new name last. The file itself is safe already and some systems
/// cannot do this for folders, so that a failure is none of the caller's.
fn sync_folder(place: &Path) {
    if let Ok(folder) = File::open(folder(place)) {
        drop(folder.sync_all());
    }
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
