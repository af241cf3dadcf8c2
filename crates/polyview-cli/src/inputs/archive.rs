//! Tables inside archives of arrays.

use std::path::{Path, PathBuf};

use polyview_io::ReadOptions;

/// The archive of `FILE.npz#ARRAY`, and options that ask for that array; any
/// other path as it is.
pub fn archive(path: &Path, mut options: ReadOptions) -> (PathBuf, ReadOptions) {
    let parts = path.to_str().and_then(|p| p.rsplit_once('#'));
    match parts {
        Some((file, array)) if file.to_ascii_lowercase().ends_with(".npz") && !path.exists() => {
            options.array = Some(array.to_owned());
            (file.into(), options)
        }
        _ => (path.to_owned(), options),
    }
}
