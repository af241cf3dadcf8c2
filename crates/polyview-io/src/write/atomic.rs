//! Files that appear whole or not at all, with the errors of this crate.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use polyview_core::Overwrite;

use crate::error::IoError;

/// Writes a file so that it appears whole or not at all:
/// [`polyview_core::write_atomic`] with a buffer and the errors of this
/// crate.
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
    polyview_core::write_atomic(path, overwrite, |file| {
        let mut out = BufWriter::with_capacity(1 << 17, file);
        write(&mut out)?;
        finish(out)
    })
    .map_err(IoError::from)
}

/// Checks, before long work, that [`write_atomic`] could write there now.
///
/// # Errors
/// Those of [`write_atomic`] that can be known beforehand.
pub fn ensure_writable(path: impl AsRef<Path>, overwrite: Overwrite) -> Result<(), IoError> {
    polyview_core::ensure_writable(path, overwrite).map_err(IoError::from)
}

/// Flushes a buffer; an error of the last write is not lost.
pub(super) fn finish(out: BufWriter<&mut File>) -> io::Result<()> {
    out.into_inner()
        .map_err(io::IntoInnerError::into_error)
        .map(drop)
}
