//! Whatever the bytes, reading ends in a table or in an error.

use crate::common::gzip;
use polyview_io::{
    NamedMatrix, Orientation, Overwrite, ReadOptions, WriteOptions, read_metadata,
    read_string_table, read_table, write_matrix,
};
use polyview_linalg::Mat;
use proptest::prelude::*;

/// Reads the bytes in every way there is; what comes back must be sound.
fn read_every_way(bytes: &[u8]) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    std::fs::write(&path, bytes).unwrap();
    for orientation in [Orientation::SamplesInRows, Orientation::FeaturesInRows] {
        match read_table(
            &path,
            &ReadOptions {
                orientation,
                ..ReadOptions::default()
            },
        ) {
            Ok(t) => {
                assert_eq!(t.values.nrows(), t.samples.len());
                assert_eq!(t.values.ncols(), t.features.len());
                assert!(t.values.nrows() > 0 && t.values.ncols() > 0);
                for d in 0..t.values.ncols() {
                    assert!(t.values.col(d).iter().all(|x| !x.is_infinite()));
                }
            }
            Err(e) => {
                assert_eq!(e.path(), path);
                assert!(
                    e.to_string().starts_with(&path.display().to_string()),
                    "{e}"
                );
            }
        }
    }
    let _ = read_metadata(&path);
    let _ = read_string_table(&path, &ReadOptions::default());
}

/// A good file of some kind, to be damaged.
fn good(ending: &str) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(format!("t.{ending}"));
    let rows: Vec<String> = (0..7).map(|i| format!("sample {i}")).collect();
    let columns: Vec<String> = (0..5).map(|i| format!("feature,{i}")).collect();
    let values = Mat::from_fn(7, 5, |n, d| {
        if n == d {
            f64::NAN
        } else {
            ((n * 5 + d) as f64).sqrt()
        }
    });
    let matrix = NamedMatrix {
        rows: &rows,
        columns: &columns,
        values: values.as_ref(),
    };
    let options = WriteOptions {
        overwrite: Overwrite::Replace,
        ..WriteOptions::default()
    };
    write_matrix(&path, &matrix, &options).unwrap();
    std::fs::read(&path).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn random_bytes(bytes: Vec<u8>) {
        read_every_way(&bytes);
        read_every_way(&gzip(&bytes));
    }

    #[test]
    fn random_bytes_behind_a_magic_number(
        magic in prop::sample::select(vec![
            &b"\x1f\x8b\x08"[..], b"\x93NUMPY\x01\x00", b"\x93NUMPY\x02\x00v\0\0\0{'descr': '<f8'",
            b"PK\x03\x04", b"PK\x05\x06", b"sample,a\n", b"\"",
        ]),
        bytes: Vec<u8>,
    ) {
        read_every_way(&[magic, &bytes].concat());
    }

    #[test]
    fn text_of_awkward_characters(text in "[sa01.,;\t\"\r\n +eE-]{0,80}") {
        read_every_way(text.as_bytes());
    }

    #[test]
    fn damaged_files(
        ending in prop::sample::select(vec!["csv", "csv.gz", "npy", "npz"]),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let mut bytes = good(ending);
        for (at, value) in edits {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        read_every_way(&bytes);
    }

    #[test]
    fn numbers_in_headers_of_archives(at in 0..200_usize, value in prop::sample::select(vec![0_u32, 1, 0x7fff_ffff, 0xffff_ffff])) {
        // sizes, offsets and counts of the archive's own records
        let mut bytes = good("npz");
        let from = bytes.len() - 4 - at.min(bytes.len() - 4);
        bytes[from..from + 4].copy_from_slice(&value.to_le_bytes());
        read_every_way(&bytes);
    }
}
