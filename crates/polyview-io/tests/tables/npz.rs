//! NPZ archives: made by an independent library, read by one, and damaged.

use std::io::Cursor;

use crate::common::numpy::{C, array_error, forged, npy, read, stored, zip};
use crate::common::{cells, message, read_as};
use polyview_io::{
    ArrayError, IoError, NamedMatrix, Orientation, Overwrite, ReadOptions, WriteOptions,
    read_table, write_matrix,
};
use polyview_linalg::Mat;

#[test]
fn archives_find_their_matrix() {
    let a = npy(&[1.0, 2.0], &[1, 2], C);
    let b = npy(&[3.0, 4.0], &[2, 1], C);
    let line = npy(&[3.0, 4.0], &[2], C);
    let one = read("a.npz", &stored(&[("any.npy", &a), ("line.npy", &line)])).unwrap();
    assert_eq!(cells(&one), [[Some(1.0), Some(2.0)]]);
    let by_name = read("a.npz", &stored(&[("any.npy", &a), ("x.npy", &b)])).unwrap();
    assert_eq!(cells(&by_name), [[Some(3.0)], [Some(4.0)]]);
    let found = array_error(read("a.npz", &stored(&[("a.npy", &a), ("b.npy", &b)])));
    assert_eq!(
        found,
        ArrayError::Ambiguous {
            candidates: vec!["a".into(), "b".into()]
        }
    );
    let found = array_error(read("a.npz", &stored(&[("x.npy", &a), ("values.npy", &b)])));
    assert!(matches!(found, ArrayError::Ambiguous { .. }));
    let found = array_error(read("a.npz", &stored(&[("line.npy", &line)])));
    assert_eq!(
        found,
        ArrayError::NoArray {
            found: vec!["line".into()]
        }
    );
    let asked = ReadOptions {
        array: Some("a".into()),
        ..ReadOptions::default()
    };
    let t = read_as("a.npz", stored(&[("a.npy", &a), ("b.npy", &b)]), &asked).unwrap();
    assert_eq!(cells(&t), [[Some(1.0), Some(2.0)]]);
    let found = array_error(read_as("a.npz", stored(&[("b.npy", &b)]), &asked));
    assert_eq!(
        found,
        ArrayError::NoSuchArray {
            asked: "a".into(),
            found: vec!["b".into()]
        }
    );
    let e = read("a.xlsx", &stored(&[("xl/workbook.xml", b"<x/>")])).unwrap_err();
    assert!(matches!(e, IoError::Foreign { .. }));
    let e = read("a.npz", &stored(&[("x.npy", &line)])).unwrap_err();
    assert!(
        message(&e).starts_with("a.npz (array 'x'): shape [2] is not"),
        "{e}"
    );
}

/// NumPy's `<U` and `|S` arrays by hand.
fn text_array(descr: &str, names: &[&str]) -> Vec<u8> {
    let unicode = descr.contains('U');
    let width: usize = descr[2..].parse().unwrap();
    let mut rest = Vec::new();
    for name in names {
        let mut raw: Vec<u8> = if unicode {
            name.chars()
                .flat_map(|c| {
                    let c = u32::from(c);
                    if descr.starts_with('>') {
                        c.to_be_bytes()
                    } else {
                        c.to_le_bytes()
                    }
                })
                .collect()
        } else {
            name.bytes().collect()
        };
        raw.resize(width * if unicode { 4 } else { 1 }, 0);
        rest.extend(raw);
    }
    forged(
        &format!(
            "{{'descr': '{descr}', 'fortran_order': False, 'shape': ({},)}}",
            names.len()
        ),
        &rest,
    )
}

#[test]
fn names_come_from_beside_the_matrix() {
    let x = npy(&[1.0, 2.0, 3.0, 4.0], &[2, 2], C);
    for (samples, features) in [
        (
            text_array("<U5", &["m1", "mä2"]),
            text_array("<U3", &["a", "b"]),
        ),
        (
            text_array(">U5", &["m1", "mä2"]),
            text_array("|S4", &["a", "b"]),
        ),
        (
            text_array("|S9", &["m1", "mä2"]),
            text_array("|S1", &["a", "b"]),
        ),
    ] {
        for method in [
            ::zip::CompressionMethod::Stored,
            ::zip::CompressionMethod::Deflated,
        ] {
            let entries = [
                ("x.npy", &x[..]),
                ("samples.npy", &samples),
                ("features.npy", &features),
            ];
            let t = read("a.npz", &zip(&entries, method)).unwrap();
            assert_eq!(t.samples, ["m1", "mä2"]);
            assert_eq!(t.features, ["a", "b"]);
        }
    }
    let numbers = npy(&[7_i64, -12], &[2], C);
    let t = read(
        "a.npz",
        &stored(&[("x.npy", &x), ("samples.npy", &numbers)]),
    )
    .unwrap();
    assert_eq!(
        (t.samples, t.features),
        (
            vec!["7".into(), "-12".into()],
            vec!["f1".to_owned(), "f2".into()]
        )
    );
    let options = ReadOptions {
        orientation: Orientation::FeaturesInRows,
        ..Default::default()
    };
    let wide = npy(&[1.0, 2.0, 3.0], &[1, 3], C);
    let three = text_array("<U1", &["p", "q", "r"]);
    let t = read_as(
        "a.npz",
        stored(&[("x.npy", &wide), ("samples.npy", &three)]),
        &options,
    )
    .unwrap();
    assert_eq!(
        (t.samples.join(""), t.features.join("")),
        ("pqr".into(), "f1".into())
    );
}

#[test]
fn bad_names_are_refused() {
    let x = npy(&[1.0, 2.0, 3.0, 4.0], &[2, 2], C);
    let with = |samples: &[u8]| read("a.npz", &stored(&[("x.npy", &x), ("samples.npy", samples)]));
    let found = array_error(with(&text_array("<U2", &["a", "b", "c"])));
    assert_eq!(
        found,
        ArrayError::NameCount {
            expected: 2,
            found: 3
        }
    );
    assert_eq!(
        array_error(with(&text_array("<U2", &["a", ""]))),
        ArrayError::BlankName { index: 1 }
    );
    let mut bad = text_array("<U2", &["a", "b"]);
    let last = bad.len() - 5;
    bad[last] = 0xFF;
    assert_eq!(array_error(with(&bad)), ArrayError::Name { index: 1 });
    let mut bad = text_array("|S2", &["a", "b"]);
    let last = bad.len() - 2;
    bad[last] = 0xFF;
    assert_eq!(array_error(with(&bad)), ArrayError::Name { index: 1 });
    let e = with(&text_array("<U2", &["a", "a"])).unwrap_err();
    assert_eq!(
        message(&e),
        "a.npz: the sample ID 'a' stands twice, entries 1 and 2; make each unique"
    );
    let object = forged(
        "{'descr': '|O', 'fortran_order': False, 'shape': (2,)}",
        b"\x80\x04",
    );
    let e = with(&object).unwrap_err();
    assert_eq!(
        message(&e),
        "a.npz (array 'samples'): elements of type |O cannot be used; convert with .astype(float), or names with .astype(str)"
    );
    assert!(matches!(
        array_error(with(&x)),
        ArrayError::ElementType { .. }
    ));
    let square = forged(
        "{'descr': '<U1', 'fortran_order': False, 'shape': (2, 1)}",
        &[65; 8],
    );
    assert_eq!(
        array_error(with(&square)),
        ArrayError::NameShape { shape: vec![2, 1] }
    );
    let huge = forged(
        "{'descr': '<U1000000000', 'fortran_order': False, 'shape': (2,)}",
        &[65; 8],
    );
    assert!(matches!(
        array_error(with(&huge)),
        ArrayError::Truncated { .. }
    ));
    let empty = forged(
        "{'descr': '<U0', 'fortran_order': False, 'shape': (2,)}",
        &[],
    );
    assert!(matches!(
        array_error(with(&empty)),
        ArrayError::ElementType { .. }
    ));
}

#[test]
fn an_archive_cannot_claim_more_than_it_could_hold() {
    // the archive and the array agree on four gigabytes that are not there
    let claimed = 0xFFFF_FF80_u32;
    let values = u64::from(claimed) / 8 - 16;
    let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({values}, 1)}}");
    let mut array = forged(&header, &[]);
    let padding = 128 - array.len();
    array = forged(&format!("{header}{}", " ".repeat(padding)), &[]);
    let real = (array.len() as u32).to_le_bytes();
    let mut bytes = stored(&[("x.npy", &array)]);
    // the uncompressed size in the local and in the central header
    for signature in [(&b"PK\x03\x04"[..], 22), (b"PK\x01\x02", 24)] {
        let start = bytes.windows(4).position(|w| w == signature.0).unwrap() + signature.1;
        assert_eq!(bytes[start..start + 4], real);
        bytes[start..start + 4].copy_from_slice(&claimed.to_le_bytes());
    }
    let found = array_error(read("a.npz", &bytes));
    assert_eq!(
        found,
        ArrayError::Truncated {
            expected: u64::from(claimed),
            found: 128 * 1040
        }
    );
}

#[test]
fn damaged_archives_are_refused() {
    let values: Vec<f64> = (0..400).map(|i| f64::from(i * i).sin()).collect();
    let x = npy(&values, &[20, 20], C);
    for method in [
        ::zip::CompressionMethod::Stored,
        ::zip::CompressionMethod::Deflated,
    ] {
        let whole = zip(&[("x.npy", &x)], method);
        assert!(read("a.npz", &whole).is_ok());
        for cut in (1..whole.len())
            .step_by(41)
            .chain(whole.len() - 30..whole.len())
        {
            assert!(read("a.npz", &whole[..cut]).is_err(), "cut at {cut}");
        }
        // one flipped bit in the values is caught by the checksum
        let mut wrong = whole.clone();
        wrong[60 + x.len() / 8] ^= 4;
        assert!(read("a.npz", &wrong).is_err());
    }
}

#[test]
fn written_files_are_read_by_another_library_and_by_us() {
    let folder = tempfile::tempdir().unwrap();
    let rows: Vec<String> = ["m1", "größe", "日本"].map(str::to_owned).to_vec();
    let columns: Vec<String> = ["a", "b,c"].map(str::to_owned).to_vec();
    let values = Mat::from_fn(3, 2, |n, d| {
        if n == 1 && d == 1 {
            f64::NAN
        } else {
            n as f64 + 0.1 * d as f64
        }
    });
    let matrix = NamedMatrix {
        rows: &rows,
        columns: &columns,
        values: values.as_ref(),
    };
    let options = WriteOptions::default();
    let path = folder.path().join("a.npy");
    write_matrix(&path, &matrix, &options).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let there = npyz::NpyFile::new(&bytes[..]).unwrap();
    assert_eq!(
        (there.shape(), there.order()),
        (&[3, 2][..], npyz::Order::Fortran)
    );
    let there = there.into_vec::<f64>().unwrap();
    assert_eq!(there[..4], [0.0, 1.0, 2.0, 0.1]);
    assert!(there[4].is_nan());
    let here = read_table(&path, &ReadOptions::default()).unwrap();
    assert_eq!(here.values[(2, 1)], 2.1);

    let path = folder.path().join("a.npz");
    write_matrix(&path, &matrix, &options).unwrap();
    let here = read_table(&path, &ReadOptions::default()).unwrap();
    assert_eq!(
        (here.samples, here.features),
        (rows.clone(), columns.clone())
    );
    let first = std::fs::read(&path).unwrap();
    let again = WriteOptions {
        overwrite: Overwrite::Replace,
        ..options
    };
    write_matrix(&path, &matrix, &again).unwrap();
    assert_eq!(
        std::fs::read(&path).unwrap(),
        first,
        "the same matrix gives the same bytes"
    );
    let mut archive = ::zip::ZipArchive::new(Cursor::new(first)).unwrap();
    let entry = archive.by_name("samples.npy").unwrap();
    let names = npyz::NpyFile::new(entry)
        .unwrap()
        .into_vec::<String>()
        .unwrap();
    assert_eq!(names, rows);
}
