//! Text tables: what is read, and what is refused with which words.

use std::fmt::Write;

use crate::common::{Fixture, cells, gzip, message, read, read_as};
use polyview_core::MetadataValues;
use polyview_io::{
    DecimalMark, Delimiter, IoError, MISSING_NUMBER, Orientation, ReadOptions, read_metadata,
    read_string_table, read_table,
};

#[test]
fn a_plain_table() {
    let t = read("sample,a,b\ns1,1,2.5\ns2,-3e2,NA\n").unwrap();
    assert_eq!((t.name.as_str(), t.samples.len()), ("t", 2));
    assert_eq!(t.samples, ["s1", "s2"]);
    assert_eq!(t.features, ["a", "b"]);
    assert_eq!(cells(&t), [[Some(1.0), Some(2.5)], [Some(-300.0), None]]);
}

#[test]
fn the_same_table_in_many_guises() {
    let plain = read("sample,a,b\ns1,1,2.5\ns2,,-4\n").unwrap();
    for (name, content) in [
        ("t.csv", "sample,a,b\r\ns1,1,2.5\r\ns2,,-4\r\n"),
        ("t.csv", "\u{feff}sample,a,b\ns1,1,2.5\ns2,,-4"),
        (
            "t.csv",
            " sample , a ,b \n s1 , 1 , 2.5 \ns2,   ,-4\n\n  \n\n",
        ),
        (
            "t.csv",
            "\"sample\",\"a\",\"b\"\n\"s1\",\"1\",\"2.5\"\n\"s2\",\"\",\"-4\"\n",
        ),
        ("t.csv", "\n\nsample,a,b\n\ns1,1,2.5\n\n\ns2,?,-4\n"),
        ("t.csv", ",a,b\ns1,1,2.5\ns2,,-4\n"),
        ("t.csv", "sample;a;b\ns1;1;2.5\ns2;;-4\n"),
        ("t.csv", "sample\ta\tb\ns1\t1\t2.5\ns2\t\t-4\n"),
        ("t.tsv", "sample\ta\tb\ns1\t1\t2.5\ns2\t\t-4\n"),
        ("t.txt", "sample\ta\tb\ns1\t1\t2.5\ns2\t\t-4\n"),
        ("t", "sample,a,b\ns1,1,2.5\ns2,,-4\n"),
    ] {
        let t = read_as(name, content, &ReadOptions::default()).unwrap();
        assert_eq!(cells(&t), cells(&plain), "{content:?}");
        assert_eq!(
            (t.samples, t.features),
            (plain.samples.clone(), plain.features.clone())
        );
        let packed = gzip(content.as_bytes());
        let t = read_as(&format!("{name}.gz"), &packed, &ReadOptions::default()).unwrap();
        assert_eq!(t.features, plain.features, "gzip {content:?}");
    }
}

#[test]
fn gzip_is_known_by_its_bytes_and_may_come_in_pieces() {
    let mut bytes = gzip(b"sample,a\ns1,1\n");
    bytes.extend(gzip(b"s2,2\n"));
    let t = read_as("no-ending", &bytes, &ReadOptions::named("view")).unwrap();
    assert_eq!(
        (t.name.as_str(), cells(&t)),
        ("view", vec![vec![Some(1.0)], vec![Some(2.0)]])
    );
}

#[test]
fn every_spelling_of_missing() {
    for word in MISSING_NUMBER {
        for word in [(*word).to_owned(), word.to_lowercase(), word.to_uppercase()] {
            let t = read(format!("sample,a,b\ns1,{word},1\n")).unwrap();
            assert_eq!(cells(&t), [[None, Some(1.0)]], "{word}");
        }
    }
}

#[test]
fn features_in_rows() {
    let options = ReadOptions {
        orientation: Orientation::FeaturesInRows,
        ..ReadOptions::default()
    };
    let t = read_as("t.csv", "gene,s1,s2\ng1,1,2\ng2,3,\ng3,5,6\n", &options).unwrap();
    assert_eq!(t.samples, ["s1", "s2"]);
    assert_eq!(t.features, ["g1", "g2", "g3"]);
    assert_eq!(
        cells(&t),
        [
            [Some(1.0), Some(3.0), Some(5.0)],
            [Some(2.0), None, Some(6.0)]
        ]
    );
    let e = read_as("t.csv", "gene,s1,s1\ng1,1,2\n", &options).unwrap_err();
    assert!(
        message(&e).contains("the sample ID 's1' stands twice, columns 2 and 3"),
        "{e}"
    );
    let e = read_as("t.csv", "gene,s1,s2\ng1,1,2\ng1,1,2\n", &options).unwrap_err();
    assert!(
        message(&e).contains("the feature name 'g1' stands twice, lines 2 and 3"),
        "{e}"
    );
}

#[test]
fn decimal_commas_and_delimiters_on_request() {
    let options = ReadOptions {
        decimal: DecimalMark::Comma,
        ..ReadOptions::default()
    };
    let t = read_as("t.csv", "sample;a;b\ns1;1,5;-0,25\n", &options).unwrap();
    assert_eq!(cells(&t), [[Some(1.5), Some(-0.25)]]);
    let t = read_as("t.csv", "sample,a,b\ns1,\"1,5\",\"2\"\n", &options).unwrap();
    assert_eq!(cells(&t), [[Some(1.5), Some(2.0)]]);
    let options = ReadOptions {
        delimiter: Delimiter::Semicolon,
        ..ReadOptions::default()
    };
    let t = read_as("t.tsv", "sample, first;a\ns1;1\n", &options).unwrap();
    assert_eq!(t.features, ["a"]);
}

#[test]
fn other_delimiters_inside_names_do_not_mislead() {
    let t =
        read("sample,k__Bacteria;p__Firmicutes,k__Bacteria;p__Bacteroidetes\ns1,1,2\n").unwrap();
    assert_eq!(t.features[0], "k__Bacteria;p__Firmicutes");
    let t = read("\"a;b\",\"x;y\",z\ns1,1,2\n").unwrap();
    assert_eq!(t.features, ["x;y", "z"]);
}

/// Content, and the whole message about it.
const REFUSED: &[(&str, &str)] = &[
    (
        "",
        "t.csv: the file is empty; it needs a header line and at least one more",
    ),
    (
        "\n \n\n",
        "t.csv: the file is empty; it needs a header line and at least one more",
    ),
    (
        "\u{feff}",
        "t.csv: the file is empty; it needs a header line and at least one more",
    ),
    (
        "sample,a\n",
        "t.csv: there is a header but no line of data below it",
    ),
    (
        "sample,a\n\n\n",
        "t.csv: there is a header but no line of data below it",
    ),
    (
        "sample\ns1\n",
        "t.csv: the header has one column when split at ','; it needs sample IDs and at least one feature, parted by commas, semicolons or tabs",
    ),
    (
        "sample,a,b\ns1,1,2\ns2,1\n",
        "t.csv: line 3 has 2 columns, the header has 3; look for a missing value without its delimiter, or for a delimiter inside a name that needs quotation marks",
    ),
    (
        "sample,a,b\ns1,1,2\n\ns2,1,2,3\n",
        "t.csv: line 4 has 4 columns, the header has 3; look for a missing value without its delimiter, or for a delimiter inside a name that needs quotation marks",
    ),
    (
        "a,b\ns1,1,2\ns2,1,2\n",
        "t.csv: line 2 has 3 columns, the header has 2; the header seems to lack the name of the first column (put 'sample' before it), or this line has one value too many",
    ),
    (
        "sample,a,b\ns1,1,2,,\ns2,1,2,,\n",
        "t.csv: line 2 has 5 columns, the header has 3; what it has more is empty: remove the delimiter at its end (or, if its last value is missing and the header lacks the name of the first column, put 'sample' before the header)",
    ),
    (
        "sample,a,,b\ns1,1,2,3\n",
        "t.csv: column 3 has no name in the header; name it, or remove a trailing delimiter",
    ),
    (
        "sample,a,b,a\ns1,1,2,3\n",
        "t.csv: the feature name 'a' stands twice, columns 2 and 4; make each unique",
    ),
    (
        "sample,a\ns1,1\n\ns2,2\n s1 ,3\n",
        "t.csv: the sample ID 's1' stands twice, lines 2 and 5; make each unique",
    ),
    (
        "sample,a\ns1,1\n ,3\n",
        "t.csv: line 3 has no sample ID in its first column; give it one or remove the line",
    ),
    (
        "sample,a,b\r\ns1,1,2\r\ns2,3,high\r\n",
        "t.csv: line 3 ('s2'), column 3 ('b'): 'high' is not a number; correct it, leave the cell empty where nothing was observed, or keep columns of words in a metadata file",
    ),
    (
        "sample;a;b\ns1;1;2,5\n",
        "t.csv: line 2 ('s1'), column 3 ('b'): '2,5' is not a number; it looks like a decimal comma: write a point, or read the file with decimal commas (--decimal-comma)",
    ),
    (
        "sample,a,b\ns1,\"1,5\",2\n",
        "t.csv: line 2 ('s1'), column 2 ('a'): '1,5' is not a number; it looks like a decimal comma: write a point, or read the file with decimal commas (--decimal-comma)",
    ),
    (
        "sample,a,b\ns1,\"1\n2\",2\n",
        "t.csv: line 2 ('s1'), column 2 ('a'): '1\\n2' is not a number; it spans several lines: look for a quotation mark out of place",
    ),
    (
        "sample,a,b\ns1,1,-Inf\n",
        "t.csv: line 2 ('s1'), column 3 ('b'): '-Inf' is infinite or beyond the range of 64-bit floats; correct it, or leave the cell empty",
    ),
    (
        "sample,a,b\ns1,1e999,2\n",
        "t.csv: line 2 ('s1'), column 2 ('a'): '1e999' is infinite or beyond the range of 64-bit floats; correct it, or leave the cell empty",
    ),
    (
        "sample,a\ns1,1\n\"s2,2\ns3,3\n",
        "t.csv: the quotation mark opened on line 3 is never closed; close or remove it",
    ),
    (
        "sample,a\rs1,1\rs2,2\r",
        "t.csv: lines end in carriage returns only; save the file with LF or CRLF line ends",
    ),
];

#[test]
fn bad_tables_are_refused_with_the_place_and_the_mend() {
    for (content, expected) in REFUSED {
        let found = read(content).map(|t| t.values).unwrap_err();
        assert_eq!(message(&found), *expected, "{content:?}");
    }
}

#[test]
fn the_wrong_delimiter_is_named() {
    let e = read_as("t.tsv", "sample,a\ns1,1\n", &ReadOptions::default()).unwrap_err();
    assert_eq!(
        message(&e),
        "t.tsv: the header has one column when split at tabs, but ',' occur in it; read it with that delimiter (--delimiter comma)"
    );
}

#[test]
fn long_cells_are_shortened() {
    let e = read(format!("sample,a\ns1,{}\n", "x".repeat(5000))).unwrap_err();
    assert!(e.to_string().len() < 400, "{e}");
    assert_eq!(e.line(), Some(2));
}

#[test]
fn bytes_that_are_not_utf8_are_placed() {
    for (content, line, byte, value) in [
        (&b"sample,a\xE9\ns1,1\n"[..], 1, 9, 0xE9),
        (b"sample,a\ns\xFF1,1\n", 2, 2, 0xFF),
        (b"sample,a\ns1,1\n\ns2,\xC3\n", 4, 4, 0xC3),
    ] {
        match read(content) {
            Err(IoError::NotUtf8 {
                line: l,
                byte: b,
                value: v,
                ..
            }) => {
                assert_eq!((l, b, v), (line, byte, value));
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn other_files_are_named_for_what_they_are() {
    for (content, words) in [
        (&b"\xFF\xFEs\0a\0"[..], "UTF-16"),
        (b"\x89HDF\r\n\x1a\n........", "HDF5"),
        (b"\xD0\xCF\x11\xE0........", ".xls"),
        (b"\xFD7zXZ\0......", "gzip"),
        (b"BZh91AY&SY......", "gzip"),
        (b"PAR1\x15\x04......", "Parquet"),
        (
            b"PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
            "spreadsheet",
        ),
    ] {
        let e = read(content).unwrap_err();
        assert!(matches!(e, IoError::Foreign { .. }), "{e:?}");
        assert!(e.to_string().contains(words), "{e}");
    }
    let twice = gzip(&gzip(b"sample,a\ns1,1\n"));
    assert!(
        read(&twice)
            .unwrap_err()
            .to_string()
            .contains("unpack it first")
    );
    // words that begin like a magic number are words
    assert_eq!(read("PAR1,BZh\ns1,1\n").unwrap().features, ["BZh"]);
}

#[test]
fn damaged_gzip_is_refused_wherever_it_is_cut() {
    let content: String = (0..500).fold("sample,a\n".into(), |s, i| format!("{s}s{i},{}\n", i * i));
    let whole = gzip(content.as_bytes());
    assert!(read(&whole).is_ok());
    for cut in [3, 12, 20, whole.len() / 2, whole.len() - 9, whole.len() - 3] {
        let e = read(&whole[..cut]).unwrap_err();
        assert!(
            matches!(e, IoError::DamagedGzip { .. }),
            "cut at {cut}: {e:?}"
        );
    }
    let mut wrong = whole.clone();
    let at = wrong.len() - 6;
    wrong[at] ^= 1;
    assert!(
        matches!(read(&wrong), Err(IoError::DamagedGzip { .. })),
        "checksum"
    );
}

#[test]
fn paths_that_are_no_files() {
    let folder = tempfile::tempdir().unwrap();
    let options = ReadOptions::default();
    let missing = folder.path().join("none.csv");
    let e = read_table(&missing, &options).unwrap_err();
    assert!(matches!(e, IoError::NotFound { .. }));
    assert_eq!(e.path(), missing);
    assert!(
        e.to_string()
            .ends_with("none.csv: there is no such file; check the path")
    );
    assert!(matches!(
        read_table(folder.path(), &options),
        Err(IoError::IsDirectory { .. })
    ));
    assert!(matches!(
        read_metadata(&missing),
        Err(IoError::NotFound { .. })
    ));
}

#[cfg(unix)]
#[test]
fn pipes_are_read_once() {
    // a file that cannot be rewound
    let file = Fixture::new("t.csv", b"sample,a\ns1,1\n");
    let pipe = file.folder.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    if !made.is_ok_and(|s| s.success()) {
        eprintln!("skipped: no mkfifo");
        return;
    }
    let to = pipe.clone();
    let writer = std::thread::spawn(move || std::fs::write(to, "sample,a\ns1,7\n").unwrap());
    let t = read_table(&pipe, &ReadOptions::default()).unwrap();
    writer.join().unwrap();
    assert_eq!(cells(&t), [[Some(7.0)]]);
}

#[test]
fn metadata_guesses_numbers_and_categories() {
    let file = Fixture::new(
        "m.csv",
        b"sample,diet,age,batch,none,mixed,treated\nm1,fish,9.5,1,,1,none\nm2,NA,,2,NA,x,-\nm3,sun,11,1,,3,.\n",
    );
    let columns = read_metadata(&file.path).unwrap();
    let names: Vec<_> = columns.iter().map(|(_, m)| m.name.as_str()).collect();
    assert_eq!(names, ["diet", "age", "batch", "none", "mixed", "treated"]);
    assert!(columns.iter().all(|(ids, _)| ids == &["m1", "m2", "m3"]));
    let words = |i: usize| match &columns[i].1.values {
        MetadataValues::Categories(c) => c
            .iter()
            .map(|w| w.as_deref().unwrap_or("<missing>").to_owned())
            .collect::<Vec<_>>(),
        MetadataValues::Numbers(n) => panic!("{n:?}"),
    };
    let numbers = |i: usize| match &columns[i].1.values {
        MetadataValues::Numbers(n) => n.clone(),
        MetadataValues::Categories(c) => panic!("{c:?}"),
    };
    assert_eq!(words(0), ["fish", "<missing>", "sun"]);
    assert!(numbers(1)[1].is_nan());
    assert_eq!((numbers(1)[0], numbers(2)), (9.5, vec![1.0, 2.0, 1.0]));
    assert_eq!(words(3), ["<missing>"; 3]);
    assert_eq!(words(4), ["1", "x", "3"]);
    assert_eq!(words(5), ["none", "-", "."]);
}

#[test]
fn an_infinite_number_does_not_turn_a_column_into_words() {
    let file = Fixture::new("m.csv", b"sample,age\nm1,9.5\n\nm2,Inf\n");
    let e = read_metadata(&file.path).unwrap_err();
    assert!(
        message(&e).starts_with("m.csv: line 4 ('m2'), column 2 ('age'): 'Inf' is infinite"),
        "{e}"
    );
}

#[test]
fn string_tables_keep_words() {
    let file = Fixture::new("groups.tsv", b"sample\tgroup\tsite\nm1\t1\tA, B\nm2\t2\t\n");
    let t = read_string_table(&file.path, &ReadOptions::default()).unwrap();
    assert_eq!((t.name.as_str(), t.samples.len()), ("groups", 2));
    assert_eq!(
        t.column("group"),
        Some(&[Some("1".to_owned()), Some("2".to_owned())][..])
    );
    assert_eq!(t.column("site"), Some(&[Some("A, B".to_owned()), None][..]));
    assert_eq!(t.column("nothing"), None);
    let npy = Fixture::new("g.npy", b"\x93NUMPY\x01\x00");
    let e = read_string_table(&npy.path, &ReadOptions::default()).unwrap_err();
    assert!(e.to_string().contains("holds no words"), "{e}");
}

#[test]
fn an_intact_table_larger_than_one_block() {
    // 700 × 300 cells: more than one block of 2^17
    let (rows, columns) = (700, 300);
    let mut text = String::from("sample");
    for d in 0..columns {
        write!(text, ",f{d}").unwrap();
    }
    for n in 0..rows {
        write!(text, "\ns{n}").unwrap();
        for d in 0..columns {
            if (n * 7 + d) % 11 == 0 {
                text.push(',');
            } else {
                write!(text, ",{}", n * columns + d).unwrap();
            }
        }
    }
    let t = read(&text).unwrap();
    for n in 0..rows {
        for d in 0..columns {
            let x = t.values[(n, d)];
            if (n * 7 + d) % 11 == 0 {
                assert!(x.is_nan());
            } else {
                assert_eq!(x, (n * columns + d) as f64);
            }
        }
    }
}
