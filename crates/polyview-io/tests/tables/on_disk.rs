//! Views that stay on disk: any ranges of samples are those of the whole table.

use std::ops::Range;
use std::path::PathBuf;

use polyview_core::BlockSource;
use polyview_io::{ArrayError, IoError, OnDisk, Orientation, ReadOptions, read_table};
use proptest::prelude::*;

use crate::common::numpy::{C, FORTRAN, npy, stored, typed};

const N: usize = 700;
const D: usize = 5;

fn cell(n: usize, d: usize) -> f64 {
    if (3 * n + d).is_multiple_of(11) {
        f64::NAN
    } else {
        ((17 * n + 5 * d) % 97) as f64 - 40.5
    }
}

fn by_row(rows: usize, columns: usize, cell: impl Fn(usize, usize) -> f64) -> Vec<f64> {
    (0..rows * columns)
        .map(|i| cell(i / columns, i % columns))
        .collect()
}

fn text() -> String {
    let line = |n: usize| -> String {
        let cells = (0..D).map(|d| match cell(n, d) {
            x if x.is_nan() => String::new(),
            x => x.to_string(),
        });
        let line: Vec<String> = std::iter::once(format!("m{n}")).chain(cells).collect();
        line.join(",") + "\n"
    };
    let lines: String = (0..N).map(line).collect();
    "id,a,b,c,d,e\n".to_owned() + &lines
}

/// One range of samples.
fn one(range: Range<usize>) -> Vec<Range<usize>> {
    std::iter::once(range).collect()
}

/// Every kind of file of the same numbers.
fn files(folder: &std::path::Path) -> Vec<(PathBuf, ReadOptions)> {
    let rows = by_row(N, D, cell);
    let columns = by_row(D, N, |d, n| cell(n, d));
    let short: Vec<f32> = rows.iter().map(|x| *x as f32).collect();
    let turned = || ReadOptions {
        orientation: Orientation::FeaturesInRows,
        ..ReadOptions::named("x")
    };
    let shape = [N as u64, D as u64];
    let wide = [D as u64, N as u64];
    let plain = || ReadOptions::named("x");
    [
        ("c.npy", npy(&rows, &shape, C), plain()),
        ("f.npy", npy(&columns, &shape, FORTRAN), plain()),
        ("short.npy", npy(&short, &shape, C), plain()),
        ("big.npy", typed(&rows, &shape, ">f8"), plain()),
        ("turned.npy", npy(&columns, &wide, C), turned()),
        ("turned-f.npy", npy(&rows, &wide, FORTRAN), turned()),
        ("text.csv", text().into_bytes(), plain()),
    ]
    .into_iter()
    .map(|(name, bytes, options)| {
        let path = folder.join(name);
        std::fs::write(&path, bytes).unwrap();
        (path, options)
    })
    .collect()
}

fn check(ranges: &[Range<usize>]) {
    let folder = tempfile::tempdir().unwrap();
    for file in files(folder.path()) {
        let path = file.0.clone();
        let mut source = OnDisk::open(&[file], folder.path()).unwrap();
        assert_eq!(source.samples(), N);
        let views = source.read(ranges).unwrap();
        let rows: Vec<usize> = ranges.iter().cloned().flatten().collect();
        assert_eq!(
            (views[0].n_samples(), views[0].n_features()),
            (rows.len(), D)
        );
        for (i, &n) in rows.iter().enumerate() {
            for d in 0..D {
                let expected = Some(cell(n, d)).filter(|x| !x.is_nan());
                assert_eq!(views[0].value(i, d), expected, "{} {n} {d}", path.display());
            }
        }
    }
}

#[test]
fn every_format_gives_the_same_rows() {
    check(&[]);
    check(&one(0..N));
    check(&one(3..4));
    check(&[650..N, 0..2, 10..11]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn any_ranges_are_those_rows(ranges in prop::collection::vec((0_usize..N, 0_usize..200), 0..5)) {
        let ranges: Vec<Range<usize>> = ranges.into_iter().map(|(a, l)| a..(a + l).min(N)).collect();
        check(&ranges);
    }
}

#[test]
fn names_are_those_of_the_whole_table() {
    let folder = tempfile::tempdir().unwrap();
    for file in files(folder.path()) {
        let whole = read_table(&file.0, &file.1).unwrap();
        let mut source = OnDisk::open(&[file], folder.path()).unwrap();
        assert_eq!(source.sample_names(), whole.samples);
        let views = source.read(&one(0..1)).unwrap();
        assert_eq!(
            (views[0].name(), views[0].features()),
            ("x", &whole.features[..])
        );
    }
    // the numbers of text are in a file without a name
    let left = std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(left, 7);
}

#[test]
fn what_cannot_be_read_by_blocks_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let write = |name: &str, bytes: &[u8]| std::fs::write(at(name), bytes).unwrap();
    let whole = npy(&by_row(N, D, cell), &[N as u64, D as u64], C);
    write("whole.npy", &whole);
    write("cut.npy", &whole[..whole.len() - 3]);
    write("more.npy", &[&whole[..], &[0][..]].concat());
    write("few.npy", &npy(&[1.0, 2.0], &[2, 1], C));
    write("a.npz", &stored(&[("x.npy", &whole)]));
    write("inf.npy", &npy(&[1.0, f64::INFINITY, 2.0], &[3, 1], C));
    write("names.csv", "id,a\ns1,1\nz,2\n".as_bytes());
    write("two.csv", "id,a\ns1,1\ns2,2\n".as_bytes());
    let open = |names: &[&str]| {
        let files: Vec<_> = names
            .iter()
            .map(|n| (at(n), ReadOptions::named(*n)))
            .collect();
        OnDisk::open(&files, folder.path())
    };
    let error = |names: &[&str]| open(names).err().unwrap();
    let array = |names: &[&str]| match error(names) {
        IoError::Array { source, .. } => source,
        other => panic!("{other:?}"),
    };
    assert!(matches!(array(&["cut.npy"]), ArrayError::Truncated { .. }));
    assert!(matches!(array(&["more.npy"]), ArrayError::Trailing));
    assert!(matches!(error(&["a.npz"]), IoError::NotByBlocks { .. }));
    assert!(matches!(error(&[]), IoError::NotByBlocks { .. }));
    assert!(matches!(error(&["none.npy"]), IoError::NotFound { .. }));
    let message = error(&["two.csv", "names.csv"]).to_string();
    assert!(
        message.contains("names.csv: sample 2 is 'z' here and 's2'"),
        "{message}"
    );
    let message = error(&["whole.npy", "few.npy"]).to_string();
    assert!(
        message.contains("sample 3 is no sample here and 's3'"),
        "{message}"
    );
    // NPY rows are numbered, as everywhere
    assert!(open(&["two.csv", "few.npy"]).is_ok());
    let missing = OnDisk::open(&[(at("two.csv"), ReadOptions::named("x"))], &at("nowhere"));
    assert!(missing.err().unwrap().to_string().contains("nowhere"));
    // the row of an infinite value is that of the file
    let message = open(&["inf.npy"])
        .unwrap()
        .read(&one(1..3))
        .unwrap_err()
        .to_string();
    assert!(message.contains("row 2"), "{message}");
    // a file that is cut off while it is read
    let mut source = open(&["whole.npy"]).unwrap();
    write("whole.npy", &whole[..whole.len() / 2]);
    let message = source.read(&one(N - 5..N)).unwrap_err().to_string();
    assert!(message.contains("cut off"), "{message}");
}
