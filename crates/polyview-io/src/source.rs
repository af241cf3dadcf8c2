//! Opening a file and finding out what it is.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;

use crate::error::{Action, Foreign, IoError};

/// What a file turned out to be.
pub(crate) enum Source {
    Text(Box<dyn BufRead>),
    /// The open file, at its start, and its length.
    Npy(File, u64),
    /// As [`Source::Npy`].
    Npz(File, u64),
}

const BUFFER: usize = 1 << 17;

/// Opens a file and looks at its first bytes. The ending of its name plays no
/// part.
pub(crate) fn open(path: &Path) -> Result<Source, IoError> {
    let refuse = |e| IoError::system(path, Action::Read, e);
    let meta = std::fs::metadata(path).map_err(refuse)?;
    if meta.is_dir() {
        return Err(IoError::IsDirectory {
            path: path.to_owned(),
        });
    }
    let mut file = File::open(path).map_err(refuse)?;
    let start = first_bytes(&mut file).map_err(refuse)?;
    let foreign = |found| {
        Err(IoError::Foreign {
            path: path.to_owned(),
            found,
        })
    };
    match Magic::of(&start) {
        Magic::Npy | Magic::Zip if !meta.is_file() => Err(IoError::NotRegular {
            path: path.to_owned(),
        }),
        kind @ (Magic::Npy | Magic::Zip) => {
            io::Seek::rewind(&mut file).map_err(refuse)?;
            Ok(if kind == Magic::Npy {
                Source::Npy(file, meta.len())
            } else {
                Source::Npz(file, meta.len())
            })
        }
        Magic::Gzip => {
            let mut inside = MultiGzDecoder::new(BufReader::new(Cursor::new(start).chain(file)));
            let start = first_bytes(&mut inside).map_err(|e| IoError::text(path, e))?;
            match Magic::of(&start) {
                Magic::None => text(path, start, inside),
                Magic::Foreign(Foreign::Utf16) => foreign(Foreign::Utf16),
                _ => foreign(Foreign::BinaryInGzip),
            }
        }
        Magic::Foreign(found) => foreign(found),
        Magic::None => text(path, start, file),
    }
}

fn text(path: &Path, mut start: Vec<u8>, rest: impl Read + 'static) -> Result<Source, IoError> {
    if start.starts_with(b"\xEF\xBB\xBF") {
        start.drain(..3);
    }
    let mut input = BufReader::with_capacity(BUFFER, Cursor::new(start).chain(rest));
    match input.fill_buf() {
        Err(e) => Err(IoError::text(path, e)),
        Ok(first) if is_binary(first) => Err(IoError::Foreign {
            path: path.to_owned(),
            found: Foreign::Bytes,
        }),
        Ok(_) => Ok(Source::Text(Box::new(input))),
    }
}

/// Whether the first bytes of a file are no text in any encoding: a zero byte, or
/// control characters among bytes that are not UTF-8.
fn is_binary(bytes: &[u8]) -> bool {
    let control = |b: &u8| *b < 0x20 && !matches!(b, b'\t' | b'\n' | b'\r' | 0x0B | 0x0C | 0x1A);
    let utf8 = match std::str::from_utf8(bytes) {
        Ok(_) => true,
        // a character that goes on after these bytes
        Err(e) => e.error_len().is_none(),
    };
    bytes.contains(&0) || !utf8 && bytes.iter().any(control)
}

/// Up to the first sixteen bytes.
fn first_bytes(from: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut start = Vec::with_capacity(16);
    from.take(16).read_to_end(&mut start)?;
    Ok(start)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Magic {
    Gzip,
    Npy,
    Zip,
    Foreign(Foreign),
    None,
}

impl Magic {
    fn of(start: &[u8]) -> Self {
        for (bytes, kind) in [
            (&b"\x1f\x8b"[..], Self::Gzip),
            (b"\x93NUMPY", Self::Npy),
            (b"PK\x03\x04", Self::Zip),
            (b"PK\x05\x06", Self::Zip),
            (b"\x89HDF\r\n\x1a\n", Self::Foreign(Foreign::Hdf5)),
            (b"\xD0\xCF\x11\xE0", Self::Foreign(Foreign::OldWorkbook)),
            (b"\xFD7zXZ\0", Self::Foreign(Foreign::OtherCompression)),
            (
                b"\x28\xB5\x2F\xFD",
                Self::Foreign(Foreign::OtherCompression),
            ),
            (b"ARROW1\0", Self::Foreign(Foreign::ColumnStore)),
            (b"\xFF\xFE", Self::Foreign(Foreign::Utf16)),
            (b"\xFE\xFF", Self::Foreign(Foreign::Utf16)),
        ] {
            if start.starts_with(bytes) {
                return kind;
            }
        }
        // these begin with letters, so look further than the letters
        match start {
            [b'B', b'Z', b'h', _, 0x31, 0x41, 0x59, ..] => Self::Foreign(Foreign::OtherCompression),
            [b'P', b'A', b'R', b'1', next, ..] | [b'F', b'E', b'A', b'1', next, ..]
                if *next < 0x20 && !next.is_ascii_whitespace() =>
            {
                Self::Foreign(Foreign::ColumnStore)
            }
            _ => Self::None,
        }
    }
}

impl IoError {
    /// An error while reading text: damage inside gzip has its own variant.
    pub(crate) fn text(path: &Path, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::UnexpectedEof
            | io::ErrorKind::InvalidInput
            | io::ErrorKind::InvalidData => Self::DamagedGzip {
                path: path.to_owned(),
            },
            _ => Self::system(path, Action::Read, source),
        }
    }
}
