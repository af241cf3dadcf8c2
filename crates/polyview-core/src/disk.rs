//! Files that appear whole or not at all.

use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;
use thiserror::Error;

/// What to do where the file exists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Overwrite {
    /// Leave it and report [`WriteFault::Exists`].
    #[default]
    Refuse,
    /// Put the new file in its place, with its permissions, when it is
    /// complete.
    Replace,
}

/// A file that could not be written. What was at its path is as it was.
#[derive(Debug, Error)]
#[error("{}: {fault}", path.display())]
pub struct WriteError {
    /// The file.
    pub path: PathBuf,
    /// Why, and how to mend it.
    pub fault: WriteFault,
}

/// Why a file could not be written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WriteFault {
    /// Something is at the path already.
    #[error("the file exists; choose another path, or allow it to be replaced")]
    Exists,
    /// The folder to write into does not exist.
    #[error("the folder {} does not exist; create it first", folder.display())]
    NoFolder {
        /// The folder.
        folder: PathBuf,
    },
    /// A folder where a file belongs.
    #[error("this is a folder; name a file in it")]
    IsDirectory,
    /// A device, pipe or socket where a plain file is needed.
    #[error("this is not a plain file; name one")]
    NotRegular,
    /// The file system does not allow it.
    #[error("no permission to write it; change the permissions or choose another path")]
    PermissionDenied,
    /// No room left, or a quota or the largest size of a file reached.
    #[error("the disk is full or a quota is reached; make room (nothing was changed at this path)")]
    DiskFull,
    /// Any other refusal of the system.
    #[error("cannot write it: {0}")]
    System(io::Error),
}

/// Writes a file so that it appears whole or not at all.
///
/// `write` fills a temporary file in the same folder; that is flushed to the
/// disk and then renamed. Where `write` fails, the process dies or the disk
/// fills up, what was at `path` stays as it was. A symbolic link is followed.
/// A file of an unfinished write begins with a dot and ends in `.partial`;
/// only the death of the process leaves one behind.
///
/// ```
/// use std::io::Write;
/// use polyview_core::{Overwrite, WriteFault, write_atomic};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("note.txt");
/// write_atomic(&path, Overwrite::Refuse, |file| file.write_all(b"first"))?;
/// let again = write_atomic(&path, Overwrite::Refuse, |file| file.write_all(b"second"));
/// assert!(again.is_err_and(|e| matches!(e.fault, WriteFault::Exists)));
/// assert_eq!(std::fs::read(&path)?, b"first");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`WriteError`] with the path and the [`WriteFault`]; an error of `write`
/// becomes the fault that it stands for.
pub fn write_atomic(
    path: impl AsRef<Path>,
    overwrite: Overwrite,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<(), WriteError> {
    let path = path.as_ref();
    place(path, overwrite, write).map_err(|fault| at(path, fault))
}

/// Checks, before long work, that [`write_atomic`] could write there now.
///
/// # Errors
/// Those of [`write_atomic`] that can be known beforehand.
pub fn ensure_writable(path: impl AsRef<Path>, overwrite: Overwrite) -> Result<(), WriteError> {
    let path = path.as_ref();
    Target::of(path, overwrite)
        .and_then(|target| target.temporary().map(drop))
        .map_err(|fault| at(path, fault))
}

fn at(path: &Path, fault: WriteFault) -> WriteError {
    WriteError {
        path: path.to_owned(),
        fault,
    }
}

fn place(
    path: &Path,
    overwrite: Overwrite,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<(), WriteFault> {
    let target = Target::of(path, overwrite)?;
    let refuse = |e| target.fault(e);
    let mut partial = target.temporary()?;
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
    placed.map_err(|e| target.fault(e.error))?;
    // The new name lasts from here on. The file itself is safe already, and
    // some systems cannot do this for folders: no failure of the caller's.
    if let Ok(folder) = File::open(&target.folder) {
        drop(folder.sync_all());
    }
    Ok(())
}

/// Where a file will lie, links followed.
struct Target {
    path: PathBuf,
    folder: PathBuf,
    existing: Option<Metadata>,
}

impl Target {
    fn of(path: &Path, overwrite: Overwrite) -> Result<Self, WriteFault> {
        let text = path.as_os_str().as_encoded_bytes();
        let separator = |&b: &u8| std::path::is_separator(char::from(b));
        if path.file_name().is_none() || text.last().is_some_and(separator) {
            return Err(WriteFault::IsDirectory);
        }
        let mut target = Self {
            path: path.to_owned(),
            folder: folder_of(path),
            existing: None,
        };
        match fs::metadata(path) {
            Ok(meta) if meta.is_dir() => return Err(WriteFault::IsDirectory),
            Ok(meta) if !meta.is_file() => return Err(WriteFault::NotRegular),
            Ok(_) if overwrite == Overwrite::Refuse => return Err(WriteFault::Exists),
            Ok(meta) => {
                target.path = fs::canonicalize(path).map_err(|e| target.fault(e))?;
                target.folder = folder_of(&target.path);
                target.existing = Some(meta);
            }
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                // a link that leads nowhere is there all the same
                if overwrite == Overwrite::Refuse && path.symlink_metadata().is_ok() {
                    return Err(WriteFault::Exists);
                }
            }
            Err(e) if e.kind() == io::ErrorKind::NotADirectory => {
                return Err(WriteFault::NoFolder {
                    folder: target.folder,
                });
            }
            Err(e) => return Err(target.fault(e)),
        }
        if !target.folder.is_dir() {
            return Err(WriteFault::NoFolder {
                folder: target.folder,
            });
        }
        Ok(target)
    }

    /// A new temporary file beside the target, readable as any new file
    /// would be: the mask of the process takes away what it forbids.
    fn temporary(&self) -> Result<NamedTempFile, WriteFault> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(".polyview-").suffix(".partial");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        builder
            .tempfile_in(&self.folder)
            .map_err(|e| self.fault(without_path(&e)))
    }

    /// What the system said, as a fault.
    fn fault(&self, source: io::Error) -> WriteFault {
        match source.kind() {
            io::ErrorKind::AlreadyExists => WriteFault::Exists,
            io::ErrorKind::NotFound => WriteFault::NoFolder {
                folder: self.folder.clone(),
            },
            io::ErrorKind::IsADirectory => WriteFault::IsDirectory,
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                WriteFault::PermissionDenied
            }
            io::ErrorKind::StorageFull
            | io::ErrorKind::QuotaExceeded
            | io::ErrorKind::FileTooLarge => WriteFault::DiskFull,
            _ => WriteFault::System(source),
        }
    }
}

fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// The system's error without the path that `tempfile` adds.
fn without_path(error: &io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code),
        None => io::Error::from(error.kind()),
    }
}
