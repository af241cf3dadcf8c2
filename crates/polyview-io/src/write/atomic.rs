//! Files that appear whole or not at all.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

use crate::error::{Action, IoError};

/// What to do where the file exists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Overwrite {
    /// Leave it and report [`IoError::Exists`].
    #[default]
    Refuse,
    /// Put the new file in its place, with its permissions.
    Replace,
}

/// Writes a file so that it appears whole or not at all.
///
/// `write` fills a temporary file in the same folder; that is flushed to the
/// disk and then renamed. Where `write` fails, the process dies or the disk
/// fills up, what was at `path` stays as it was. A symbolic link is followed.
/// A file of an unfinished write begins with a dot and ends in `.partial`.
///
/// ```
/// use polyview_io::{IoError, Overwrite, write_atomic};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("note.txt");
/// write_atomic(&path, Overwrite::Refuse, |out| out.write_all(b"first"))?;
/// let again = write_atomic(&path, Overwrite::Refuse, |out| out.write_all(b"second"));
/// assert!(matches!(again, Err(IoError::Exists { .. })));
/// assert_eq!(std::fs::read(&path)?, b"first");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`IoError::Exists`] where there is a file and [`Overwrite::Refuse`] was
/// asked for, [`IoError::NoFolder`], [`IoError::IsDirectory`],
/// [`IoError::NotRegular`], [`IoError::PermissionDenied`],
/// [`IoError::DiskFull`], or [`IoError::System`] with what `write` or the
/// system reported.
pub fn write_atomic(
    path: impl AsRef<Path>,
    overwrite: Overwrite,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), IoError> {
    write_atomic_file(path.as_ref(), overwrite, |file| {
        let mut out = BufWriter::with_capacity(1 << 17, file);
        write(&mut out)?;
        finish(out)
    })
}

/// Checks, before long work, that [`write_atomic`] could write there now.
///
/// # Errors
/// Those of [`write_atomic`] that can be known beforehand.
pub fn ensure_writable(path: impl AsRef<Path>, overwrite: Overwrite) -> Result<(), IoError> {
    let path = path.as_ref();
    let target = resolve(path, overwrite)?;
    temporary(path, &target).map(drop)
}

/// Flushes a buffer; an error of the last write is not lost.
pub(super) fn finish(out: BufWriter<&mut File>) -> io::Result<()> {
    out.into_inner()
        .map_err(io::IntoInnerError::into_error)
        .map(drop)
}

/// As [`write_atomic`], with the file itself, which can be sought in.
pub(super) fn write_atomic_file(
    path: &Path,
    overwrite: Overwrite,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<(), IoError> {
    let refuse = |e| IoError::system(path, Action::Write, e);
    let target = resolve(path, overwrite)?;
    let mut partial = temporary(path, &target)?;
    write(partial.as_file_mut()).map_err(refuse)?;
    if let Some(existing) = &target.existing {
        partial
            .as_file()
            .set_permissions(existing.permissions())
            .map_err(refuse)?;
    }
    partial.as_file().sync_all().map_err(refuse)?;
    let placed = match overwrite {
        Overwrite::Replace => partial.persist(&target.path),
        Overwrite::Refuse => partial.persist_noclobber(&target.path),
    };
    placed.map_err(|e| match e.error.kind() {
        io::ErrorKind::AlreadyExists => IoError::Exists {
            path: path.to_owned(),
        },
        _ => refuse(e.error),
    })?;
    sync_folder(&target.folder).map_err(refuse)
}

/// Where a file will lie, links followed.
struct Target {
    path: PathBuf,
    folder: PathBuf,
    existing: Option<std::fs::Metadata>,
}

fn resolve(path: &Path, overwrite: Overwrite) -> Result<Target, IoError> {
    let refuse = |e| IoError::system(path, Action::Write, e);
    if path.file_name().is_none() {
        return Err(IoError::IsDirectory {
            path: path.to_owned(),
        });
    }
    let existing = match std::fs::metadata(path) {
        Ok(meta) => Some(meta),
        Err(e) if e.kind() == io::ErrorKind::NotFound => None,
        Err(e) if e.kind() == io::ErrorKind::NotADirectory => {
            return Err(IoError::NoFolder {
                path: path.to_owned(),
                folder: folder_of(path),
            });
        }
        Err(e) => return Err(refuse(e)),
    };
    let mut target = path.to_owned();
    if let Some(meta) = &existing {
        if meta.is_dir() {
            return Err(IoError::IsDirectory { path: target });
        }
        if !meta.is_file() {
            return Err(IoError::NotRegular { path: target });
        }
        if overwrite == Overwrite::Refuse {
            return Err(IoError::Exists { path: target });
        }
        target = std::fs::canonicalize(path).map_err(refuse)?;
    }
    let folder = folder_of(&target);
    if !folder.is_dir() {
        return Err(IoError::NoFolder {
            path: path.to_owned(),
            folder,
        });
    }
    Ok(Target {
        path: target,
        folder,
        existing,
    })
}

fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// A new temporary file beside the target, readable as any new file would be.
fn temporary(path: &Path, target: &Target) -> Result<NamedTempFile, IoError> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".polyview-").suffix(".partial");
    #[cfg(unix)]
    let builder = {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666))
    };
    builder
        .tempfile_in(&target.folder)
        .map_err(|e| IoError::system(path, Action::Write, strip(&e)))
}

/// The system's error without the path that `tempfile` adds.
fn strip(error: &io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code),
        None => io::Error::from(error.kind()),
    }
}

/// Makes the renaming itself durable.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) {
        File::open(folder)?.sync_all()
    } else {
        Ok(())
    }
}
