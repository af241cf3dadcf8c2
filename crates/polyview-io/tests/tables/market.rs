//! Matrix Market files, with the names beside them.

use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use polyview_core::ViewTable;
use polyview_io::{IoError, MarketError, Orientation, ReadOptions, read_market, read_view};

const HEAD: &str = "%%MatrixMarket matrix coordinate real general\n";

fn put(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    if path.extension().is_some_and(|e| e == "gz") {
        let file = std::fs::File::create(path).unwrap();
        let mut gz = GzEncoder::new(file, Compression::fast());
        gz.write_all(text.as_bytes()).unwrap();
        gz.finish().unwrap();
    } else {
        std::fs::write(path, text).unwrap();
    }
}

fn read(text: &str) -> Result<polyview_core::SparseTable, IoError> {
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "x.mtx", text);
    read_market(folder.path().join("x.mtx"), &ReadOptions::default())
}

fn fault(text: &str) -> (u64, MarketError) {
    match read(text) {
        Err(IoError::Market { line, source, .. }) => (line, source),
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn entries_of_every_kind() {
    let body = "% a comment\n\n3 2 3\n1 1 0.5\n\n3 2 -2e1\n2 1 7\n";
    let t = read(&format!("{HEAD}{body}")).unwrap();
    assert_eq!(
        (t.samples.len(), t.features.len(), t.values.count()),
        (3, 2, 3)
    );
    assert_eq!(
        (t.samples[2].as_str(), t.features[1].as_str()),
        ("s3", "f2")
    );
    assert_eq!((t.values.get(2, 1), t.values.get(1, 0)), (-20.0, 7.0));
    let pattern = "%%matrixmarket MATRIX coordinate Pattern general\r\n2 2 1\r\n2 1\r\n";
    assert_eq!(read(pattern).unwrap().values.get(1, 0), 1.0);
    let none = read(&format!("{HEAD}2 2 0\n")).unwrap();
    assert_eq!(none.values.count(), 0);
    // a stored zero is a zero
    let zero = read(&format!("{HEAD}2 2 1\n1 1 0\n")).unwrap();
    assert_eq!(zero.values.count(), 0);
}

#[test]
fn names_stand_beside_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let text = format!("{HEAD}2 3 2\n1 3 7\n2 1 4\n");
    for (file, rows) in [("a.mtx", "a.rows.txt"), ("b.mtx.gz", "b.rows.txt.gz")] {
        put(folder.path(), file, &text);
        put(folder.path(), rows, "r1\nr2\n");
        let columns = format!("{}.cols.txt", &file[..1]);
        put(folder.path(), &columns, "c1\nc2\nc3\n");
        let t = read_market(at(file), &ReadOptions::default()).unwrap();
        assert_eq!(
            (t.samples, t.features),
            (
                vec!["r1".to_owned(), "r2".to_owned()],
                vec!["c1".to_owned(), "c2".to_owned(), "c3".to_owned()],
            )
        );
        let turned = ReadOptions {
            orientation: Orientation::FeaturesInRows,
            ..ReadOptions::default()
        };
        let t = read_market(at(file), &turned).unwrap();
        assert_eq!(
            (t.samples[2].as_str(), t.features[0].as_str()),
            ("c3", "r1")
        );
        assert_eq!(t.values.get(2, 0), 7.0);
    }
    // as 10x has it: features in rows, whatever is asked for
    put(folder.path(), "p_matrix.mtx.gz", &text);
    put(
        folder.path(),
        "p_features.tsv.gz",
        "ENSG1\tACTB\tGene\nENSG2\tCD4\tGene\n",
    );
    put(folder.path(), "p_barcodes.tsv.gz", "AAA-1\nAAC-1\nAAG-1\n");
    let t = read_market(at("p_matrix.mtx.gz"), &ReadOptions::named("rna")).unwrap();
    assert_eq!((t.name.as_str(), t.features[1].as_str()), ("rna", "ENSG2"));
    assert_eq!((t.samples[2].as_str(), t.values.get(2, 0)), ("AAG-1", 7.0));
    // names that do not fit
    put(folder.path(), "a.cols.txt", "c1\nc2\n");
    let e = read_market(at("a.mtx"), &ReadOptions::default()).unwrap_err();
    assert!(
        matches!(
            e,
            IoError::NameCount {
                expected: 3,
                found: 2,
                ..
            }
        ),
        "{e}"
    );
    put(folder.path(), "a.cols.txt", "c1\nc2\nc1\n");
    let e = read_market(at("a.mtx"), &ReadOptions::default()).unwrap_err();
    assert!(
        matches!(
            e,
            IoError::DuplicateName {
                first: 1,
                second: 3,
                ..
            }
        ),
        "{e}"
    );
    put(folder.path(), "a.cols.txt", "c1\n\nc3\n");
    let e = read_market(at("a.mtx"), &ReadOptions::default()).unwrap_err();
    assert!(matches!(e, IoError::BlankLineName { line: 2, .. }), "{e}");
}

#[test]
fn what_is_wrong_is_named_with_its_line() {
    let with = |body: &str| fault(&format!("{HEAD}{body}"));
    assert_eq!(fault("a,b\n1,2\n"), (1, MarketError::Banner));
    let kind = |word: &str| MarketError::Kind { found: word.into() };
    for (line, word) in [
        ("array real general", "array"),
        ("coordinate complex general", "complex"),
        ("coordinate real symmetric", "symmetric"),
    ] {
        assert_eq!(
            fault(&format!("%%MatrixMarket matrix {line}\n")),
            (1, kind(word))
        );
    }
    for size in [
        "",
        "2 2\n",
        "2 2 5\n",
        "2 x 1\n",
        "9999999999 1 1\n",
        "-1 1 0\n",
    ] {
        assert_eq!(with(size), (2, MarketError::Size), "{size}");
    }
    let place = |found: &str, most| MarketError::Place {
        found: found.into(),
        most,
    };
    assert_eq!(with("2 3 1\n3 1 5\n"), (3, place("3", 2)));
    assert_eq!(with("2 3 1\n1 0 5\n"), (3, place("0", 3)));
    assert_eq!(with("2 3 1\n1\n"), (3, place("", 3)));
    for x in ["nan", "inf", "1e999", "x", ""] {
        let found = x.to_owned();
        assert_eq!(
            with(&format!("2 3 1\n1 1 {x}\n")),
            (3, MarketError::Value { found })
        );
    }
    let rest = MarketError::Rest { found: "6".into() };
    assert_eq!(with("2 3 1\n1 1 5 6\n"), (3, rest));
    let few = MarketError::TooFew {
        expected: 2,
        found: 1,
    };
    assert_eq!(with("2 3 2\n1 1 5\n").1, few);
    assert_eq!(
        with("2 3 1\n1 1 5\n2 2 5\n"),
        (4, MarketError::TooMany { expected: 1 })
    );
    let twice = MarketError::Repeated { row: 1, column: 2 };
    assert_eq!(with("2 3 2\n2 3 5\n2 3 5\n"), (0, twice));
    // a promise that nothing is kept of
    let huge = with("4294967295 4294967295 4000000000000\n");
    assert!(matches!(huge.1, MarketError::NoNames { .. }));
}

#[test]
fn any_view_is_read_as_what_it_is() {
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "x.txt", &format!("{HEAD}1 1 1\n1 1 2\n"));
    put(folder.path(), "y.csv", "id,a\ns1,2\n");
    let read = |name: &str| read_view(folder.path().join(name), &ReadOptions::default()).unwrap();
    assert!(matches!(read("x.txt"), ViewTable::Sparse(_)));
    assert!(matches!(read("y.csv"), ViewTable::Dense(_)));
}

#[cfg(unix)]
#[test]
fn a_pipe_is_no_view() {
    // it can be read once: sixteen bytes were lost where it was looked at first
    let (out, mut into) = std::io::pipe().unwrap();
    std::io::Write::write_all(&mut into, b"id,a\n1,2\n").unwrap();
    drop(into);
    let path = {
        use std::os::fd::AsRawFd;
        std::path::PathBuf::from(format!("/dev/fd/{}", out.as_raw_fd()))
    };
    let e = read_view(&path, &ReadOptions::default()).unwrap_err();
    assert!(matches!(e, IoError::Pipe { .. }), "{e}");
    assert!(e.to_string().contains("write it to a file"), "{e}");
    assert!(polyview_io::has_sample_ids(&path).unwrap());
    // and nothing of it was taken
    let table = polyview_io::read_table(&path, &ReadOptions::default()).unwrap();
    assert_eq!((table.features.len(), table.values[(0, 0)]), (1, 2.0));
}
