//! What is said of tables whose names and bytes are not what they should be.

use std::fmt::Write;

use super::{SAMPLES, fitted, has, lines, said, times, value};
use crate::common::{fails, put};

#[test]
fn ids_in_two_spellings() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    put(at, "x.csv", times(1.0));
    let fit =
        "fit --model mofa --view x=x.csv:gaussian --view y=y.csv:gaussian -k 2 --out m.pv --force";
    // none in common: an error that says what to do
    let other = |name: &dyn Fn(usize) -> String| {
        (0..SAMPLES).fold("sample,h,i\n".to_owned(), |t, n| {
            t + &format!("{},{},{}\n", name(n), value(n, 8), value(n, 9))
        })
    };
    put(at, "y.csv", other(&|n| format!("S{n}")));
    let err = fails(at, fit, 1);
    has(
        &err,
        &[
            "30 sample ID(s) differ",
            "'s0' (view 'x') and 'S0' (view 'y')",
            "write them alike",
        ],
    );
    // some in common: a warning
    put(
        at,
        "y.csv",
        other(&|n| {
            if n < 9 {
                format!("S{n}")
            } else {
                format!("s{n}")
            }
        }),
    );
    let err = said(at, fit);
    has(
        &err,
        &[
            "warning: data: 9 sample ID(s) differ",
            "'s0' (view 'x') and 'S0' (view 'y')",
        ],
    );
    // numbers written otherwise
    put(at, "x.csv", times(1.0).replace("\ns", "\n"));
    put(at, "y.csv", other(&|n| format!("{n}.0")));
    has(&fails(at, fit, 1), &["'0' (view 'x') and '0.0' (view 'y')"]);
    put(at, "y.csv", other(&|n| n.to_string()));
    assert_eq!(lines(&said(at, fit), "warning:"), [""; 0]);
}

#[test]
fn samples_in_columns() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    put(at, "x.csv", times(1.0));
    let turned = |prefix: &str, rows: usize| {
        let samples: Vec<String> = (0..SAMPLES).map(|n| format!("s{n}")).collect();
        let mut text = format!("gene,{}\n", samples.join(","));
        for d in 0..rows {
            let cells: Vec<String> = (0..SAMPLES).map(|n| value(n, d).to_string()).collect();
            let _ = writeln!(text, "{prefix}{d},{}", cells.join(","));
        }
        text
    };
    put(at, "y.csv", turned("h", 5));
    put(at, "z.csv", turned("g", 6));
    let fit = "fit --model mofa -k 2 --out m.pv --force";
    let two = |a: &str, b: &str| format!("{fit} --view x={a}:gaussian --view y={b}:gaussian");
    has(
        &fails(at, &two("x.csv", "y.csv"), 1),
        &["features of view 'y'", "'s0'", "--transposed"],
    );
    has(
        &fails(at, &two("z.csv", "y.csv"), 1),
        &["the headers share names", "--transposed"],
    );
    said(at, &format!("{} --transposed", two("z.csv", "y.csv")));
    // a table about samples, and new data
    put(at, "about.csv", "sample,sex\ns0,f\ns1,m\n");
    let err = said(
        at,
        &format!("{fit} --view x=y.csv:gaussian --metadata about.csv"),
    );
    has(
        &err,
        &[
            "warning: about.csv: none of its samples",
            "'s0' is the name of a feature",
            "--transposed",
        ],
    );
    fitted(at, "");
    let err = fails(at, "project m.pv --view x=z.csv --out f.csv", 1);
    has(&err, &["none of its features is known", "--transposed"]);
}

#[test]
fn numbers_where_names_belong() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    // no column of IDs: the first feature is taken for one
    let bare = |cell: &dyn Fn(usize, usize) -> String| {
        let mut text = "g0,g1,g2,g3,g4\n".to_owned();
        for n in 0..12 {
            let cells: Vec<String> = (0..5).map(|d| cell(n, d)).collect();
            text += &(cells.join(",") + "\n");
        }
        text
    };
    put(at, "x.csv", bare(&|n, d| value(n, d).to_string()));
    let err = fitted(at, "");
    has(
        &err,
        &[
            "note: x.csv: the first column holds numbers alone, such as 4.",
            "sample IDs",
            "put a column of names",
        ],
    );
    // whole numbers are good IDs
    put(
        at,
        "x.csv",
        bare(&|n, d| {
            if d == 0 {
                n.to_string()
            } else {
                value(n, d).to_string()
            }
        }),
    );
    assert!(!fitted(at, "").contains("first column"));
    // unless they come twice
    put(at, "x.csv", bare(&|n, d| ((n * 5 + d) % 7).to_string()));
    let fit = "fit --model mofa --view x=x.csv:gaussian -k 2 --out m.pv --force";
    has(
        &fails(at, fit, 1),
        &["stands twice", "if the first column holds data"],
    );
}

#[test]
fn bytes_that_are_no_text() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    let mut x = 12345u32;
    let mut bytes: Vec<u8> = (0..4000)
        .map(|_| {
            x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (x >> 24) as u8
        })
        .collect();
    // inside the first line
    bytes[7] = b'\r';
    assert!(!bytes[..9].contains(&b'\n'));
    put(at, "x.csv", bytes);
    let fit = "fit --view x=x.csv -k 2 --out m.pv";
    has(&fails(at, fit, 1), &["x.csv", "no text table", "CSV"]);
    // lines that end the old way still are told
    put(at, "x.csv", "id,a,b\rs1,1,2\rs2,2,1\r");
    has(&fails(at, fit, 1), &["carriage returns"]);
    put(at, "x.csv", b"id,gr\xF6\xDFe\ns1,1\ns2,2\n");
    has(&fails(at, fit, 1), &["UTF-8"]);
}

#[test]
fn a_view_that_shares_no_sample_is_warned_of() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    put(at, "x.csv", times(1.0));
    put(
        at,
        "y.csv",
        super::table(SAMPLES, |n, d| (value(n, d) * value(n, d + 1)).to_string()),
    );
    let fit =
        "fit --model mofa --view x=x.csv:gaussian --view y=y.csv:gaussian -k 2 --out m.pv --force";
    assert_eq!(lines(&said(at, fit), "warning:"), [""; 0]);
    put(at, "z.csv", times(3.0).replace("\ns", "\npatient"));
    let err = said(at, &format!("{fit} --view z=z.csv:gaussian"));
    let found = lines(&err, "warning: data: view ");
    assert_eq!(found.len(), 1, "{err}");
    has(&found[0], &["view 'z' shares no sample ID", "'patient0'"]);
}
