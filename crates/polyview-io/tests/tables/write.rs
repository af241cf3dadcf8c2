//! Writing: round trips, and files that appear whole or not at all.

use std::io;

use crate::common::{Fixture, cells, listing, message, read};
use polyview_core::Table;
use polyview_io::{
    IoError, MissingText, NamedMatrix, Overwrite, ReadOptions, StringTable, WriteOptions,
    ensure_writable, read_string_table, read_table, write_atomic, write_matrix, write_string_table,
};
use polyview_linalg::Mat;
use proptest::prelude::*;

const ENDINGS: [&str; 6] = ["csv", "tsv", "tab", "csv.gz", "tsv.gz", "npz"];

fn replace() -> WriteOptions {
    WriteOptions {
        overwrite: Overwrite::Replace,
        ..WriteOptions::default()
    }
}

fn finite() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => any::<f64>().prop_map(|x| if x.is_finite() { x } else { f64::NAN }),
        1 => Just(f64::NAN),
        1 => (-1000..1000_i32).prop_map(f64::from),
    ]
}

/// A name that blanks around it do not belong to.
fn name() -> impl Strategy<Value = String> {
    "[a-zäλ日\",;'\t .:#-]{0,6}".prop_map(|s| s.trim().to_owned())
}

fn table() -> impl Strategy<Value = Table> {
    (1..6_usize, 1..5_usize).prop_flat_map(|(n, d)| {
        (
            prop::collection::vec(name(), n),
            prop::collection::vec(name(), d),
            prop::collection::vec(finite(), n * d),
        )
            .prop_map(move |(samples, features, values)| Table {
                name: "t".into(),
                samples: samples
                    .into_iter()
                    .enumerate()
                    .map(|(i, s)| format!("s{i}{s}"))
                    .collect(),
                features: features
                    .into_iter()
                    .enumerate()
                    .map(|(i, s)| format!("{i}f{s}"))
                    .collect(),
                values: Mat::from_fn(n, d, |i, j| values[i * d + j]),
                levels: Vec::new(),
            })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn every_format_round_trips_to_the_bit(table in table(), na: bool) {
        let folder = tempfile::tempdir().unwrap();
        let missing = if na { MissingText::Na } else { MissingText::Empty };
        for ending in ENDINGS {
            let path = folder.path().join(format!("t.{ending}"));
            write_matrix(&path, &(&table).into(), &WriteOptions { missing, ..replace() }).unwrap();
            let back = read_table(&path, &ReadOptions::default()).unwrap();
            prop_assert_eq!(&back.samples, &table.samples);
            prop_assert_eq!(&back.features, &table.features);
            for n in 0..table.samples.len() {
                for d in 0..table.features.len() {
                    let (a, b) = (table.values[(n, d)], back.values[(n, d)]);
                    prop_assert!(a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan(), "{} {} {}", ending, a, b);
                }
            }
        }
    }
}

fn small() -> Table {
    read("sample,a,\"b,c\"\ns1,1,\n\"s,2\",-0.5,1e300\n").unwrap()
}

#[test]
fn the_text_is_what_one_expects() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.csv");
    write_matrix(&path, &(&small()).into(), &WriteOptions::default()).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text, "sample,a,\"b,c\"\ns1,1,\n\"s,2\",-0.5,1e300\n");
    let options = WriteOptions {
        missing: MissingText::Na,
        corner: "id".into(),
        ..replace()
    };
    let path = folder.path().join("out.tsv");
    write_matrix(&path, &(&small()).into(), &options).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text, "id\ta\tb,c\ns1\t1\tNA\ns,2\t-0.5\t1e300\n");
}

#[test]
fn gzip_has_no_time_stamp() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.csv.gz");
    write_matrix(&path, &(&small()).into(), &WriteOptions::default()).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    assert_eq!(bytes[..2], [0x1f, 0x8b]);
    assert_eq!(bytes[4..8], [0; 4]);
}

#[test]
fn endings_that_name_no_format() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["out", "out.xlsx", "out.npy.gz", "csv", "out.csv.zip"] {
        let path = folder.path().join(name);
        let e = write_matrix(&path, &(&small()).into(), &WriteOptions::default()).unwrap_err();
        assert!(matches!(e, IoError::UnknownEnding { .. }), "{name}");
    }
    assert!(listing(folder.path()).is_empty());
}

#[test]
fn names_must_fit() {
    let folder = tempfile::tempdir().unwrap();
    let values = Mat::<f64>::zeros(2, 1);
    let rows = ["a".to_owned()];
    let matrix = NamedMatrix {
        rows: &rows,
        columns: &rows,
        values: values.as_ref(),
    };
    let e = write_matrix(
        folder.path().join("a.csv"),
        &matrix,
        &WriteOptions::default(),
    )
    .unwrap_err();
    assert!(matches!(
        e,
        IoError::NameCount {
            expected: 2,
            found: 1,
            ..
        }
    ));
    assert_eq!(message(&e), "a.csv: 1 sample IDs for 2 of them");
}

#[test]
fn an_existing_file_is_refused_or_replaced() {
    let file = Fixture::new("out.csv", b"precious");
    let e = write_matrix(&file.path, &(&small()).into(), &WriteOptions::default()).unwrap_err();
    assert_eq!(
        message(&e),
        "out.csv: the file exists; choose another path, or overwrite it with --force"
    );
    assert_eq!(std::fs::read(&file.path).unwrap(), b"precious");
    assert!(matches!(
        ensure_writable(&file.path, Overwrite::Refuse),
        Err(IoError::Exists { .. })
    ));
    ensure_writable(&file.path, Overwrite::Replace).unwrap();
    write_matrix(&file.path, &(&small()).into(), &replace()).unwrap();
    assert_eq!(
        cells(&read_table(&file.path, &ReadOptions::default()).unwrap()),
        cells(&small())
    );
    assert_eq!(listing(file.folder.path()), ["out.csv"]);
}

#[test]
fn a_failed_write_leaves_everything_as_it_was() {
    let file = Fixture::new("model", b"precious");
    for (kind, check) in [
        (
            io::ErrorKind::StorageFull,
            (|e| matches!(e, IoError::DiskFull { .. })) as fn(&IoError) -> bool,
        ),
        (io::ErrorKind::QuotaExceeded, |e| {
            matches!(e, IoError::DiskFull { .. })
        }),
        (io::ErrorKind::PermissionDenied, |e| {
            matches!(e, IoError::PermissionDenied { .. })
        }),
        (io::ErrorKind::Other, |e| {
            matches!(e, IoError::System { .. })
        }),
    ] {
        let e = write_atomic(&file.path, Overwrite::Replace, |out| {
            out.write_all(&vec![7; 300_000])?;
            Err(kind.into())
        })
        .unwrap_err();
        assert!(check(&e), "{e:?}");
        assert_eq!(e.path(), file.path);
        assert_eq!(std::fs::read(&file.path).unwrap(), b"precious");
        assert_eq!(listing(file.folder.path()), ["model"]);
    }
    let e = write_atomic(&file.path, Overwrite::Replace, |_| {
        Err(io::ErrorKind::StorageFull.into())
    });
    assert!(message(&e.unwrap_err()).starts_with("model: the disk is full"));
}

#[test]
fn a_file_that_appears_meanwhile_is_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    let e = write_atomic(&path, Overwrite::Refuse, |out| {
        std::fs::write(&path, b"someone else's")?;
        out.write_all(b"mine")
    })
    .unwrap_err();
    assert!(matches!(e, IoError::Exists { .. }), "{e:?}");
    assert_eq!(std::fs::read(&path).unwrap(), b"someone else's");
    assert_eq!(listing(folder.path()), ["out"]);
}

#[test]
fn places_that_cannot_be_written() {
    let file = Fixture::new("plain", b"");
    let folder = file.folder.path();
    let at = |path: std::path::PathBuf| ensure_writable(path, Overwrite::Replace).unwrap_err();
    assert!(matches!(at(folder.to_owned()), IoError::IsDirectory { .. }));
    assert!(matches!(at(folder.join("..")), IoError::IsDirectory { .. }));
    // a folder that does not exist yet, by the look of it
    assert!(matches!(at(folder.join("s/")), IoError::IsDirectory { .. }));
    let e = at(folder.join("no/such/out.csv"));
    assert!(matches!(e, IoError::NoFolder { .. }));
    assert!(
        e.to_string()
            .ends_with("no/such does not exist; create it first"),
        "{e}"
    );
    assert!(matches!(
        at(file.path.join("out.csv")),
        IoError::NoFolder { .. }
    ));
    assert!(!folder.join("no").exists());
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};

    #[test]
    fn what_is_no_plain_file_is_left_alone() {
        // a socket of our own stands for devices and pipes
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let _socket = std::os::unix::net::UnixListener::bind(&path).unwrap();
        let e = write_atomic(&path, Overwrite::Replace, |o| o.write_all(b"x")).unwrap_err();
        assert!(matches!(e, IoError::NotRegular { .. }), "{e:?}");
        assert!(std::fs::metadata(&path).unwrap().file_type().is_socket());
    }

    #[test]
    fn permissions_are_those_of_a_new_file_or_of_the_old_one() {
        let folder = tempfile::tempdir().unwrap();
        let (ordinary, ours) = (folder.path().join("ordinary"), folder.path().join("ours"));
        std::fs::write(&ordinary, b"").unwrap();
        write_atomic(&ours, Overwrite::Refuse, |o| o.write_all(b"x")).unwrap();
        let mode = |p: &std::path::Path| std::fs::metadata(p).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&ours), mode(&ordinary));
        std::fs::set_permissions(&ours, std::fs::Permissions::from_mode(0o640)).unwrap();
        write_atomic(&ours, Overwrite::Replace, |o| o.write_all(b"y")).unwrap();
        assert_eq!(mode(&ours), 0o640);
    }

    #[test]
    fn links_are_followed() {
        let file = Fixture::new("target", b"old");
        let link = file.folder.path().join("link");
        symlink(&file.path, &link).unwrap();
        write_atomic(&link, Overwrite::Replace, |o| o.write_all(b"new")).unwrap();
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(std::fs::read(&file.path).unwrap(), b"new");
    }

    #[test]
    fn a_folder_without_permission() {
        let folder = tempfile::tempdir().unwrap();
        let closed = folder.path().join("closed");
        std::fs::create_dir(&closed).unwrap();
        std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o555)).unwrap();
        if std::fs::write(closed.join("probe"), b"").is_ok() {
            eprintln!("skipped: this user may write everywhere");
            return;
        }
        let e = ensure_writable(closed.join("out"), Overwrite::Refuse).unwrap_err();
        assert!(matches!(e, IoError::PermissionDenied { .. }), "{e:?}");
    }
}

#[test]
fn string_tables_round_trip() {
    let folder = tempfile::tempdir().unwrap();
    let table = StringTable {
        name: "t".into(),
        samples: vec!["s1".into(), "s2".into()],
        columns: vec!["diet".into(), "site".into()],
        values: vec![
            vec![Some("fish, raw".into()), None],
            vec![Some("1".into()), Some("none".into())],
        ],
    };
    for (ending, missing) in [("csv", MissingText::Empty), ("tsv.gz", MissingText::Na)] {
        let path = folder.path().join(format!("t.{ending}"));
        write_string_table(
            &path,
            &table,
            &WriteOptions {
                missing,
                ..replace()
            },
        )
        .unwrap();
        assert_eq!(
            read_string_table(&path, &ReadOptions::default()).unwrap(),
            table
        );
    }
    let path = folder.path().join("t.npy");
    let e = write_string_table(&path, &table, &WriteOptions::default()).unwrap_err();
    assert!(matches!(e, IoError::UnknownEnding { .. }));
    let short = StringTable {
        values: vec![vec![None], vec![None, None]],
        ..table
    };
    let path = folder.path().join("t.csv");
    let e = write_string_table(&path, &short, &WriteOptions::default()).unwrap_err();
    assert!(matches!(
        e,
        IoError::NameCount {
            expected: 1,
            found: 2,
            ..
        }
    ));
}
