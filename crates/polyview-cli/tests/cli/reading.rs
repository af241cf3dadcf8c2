//! Tables of new samples are read as those of the fit were: groups from the same column, the
//! same codes for missing values.

use std::fmt::Write;
use std::path::Path;

use crate::common::{fails, get, ok, put, said};

/// Two views whose levels differ between two clinics, and who was where; `code` stands in a cell
/// of the first view.
fn folder(code: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    let noise = |n: usize, d: usize| ((n * 7919 + d * 104_729 + n * d * 31) % 1009) as f64 / 504.0;
    for (name, shift) in [("x", 0), ("y", 9)] {
        let mut text = "id,a,b,c,d,e\n".to_owned();
        for n in 0..30 {
            let (z, level) = (noise(n, 100) - 1.0, 4.0 * f64::from(u8::from(n >= 18)));
            let _ = write!(text, "p{n}");
            for d in 0..5 {
                if (name, n, d) == ("x", 3, 1) {
                    let _ = write!(text, ",{code}");
                    continue;
                }
                let cell = level + z * (d as f64 + 1.0) + noise(n, d + shift);
                let _ = write!(text, ",{cell:.4}");
            }
            text.push('\n');
        }
        put(dir.path(), &format!("{name}.csv"), text);
    }
    let mut who = "id,clinic,sex\n".to_owned();
    for n in 0..30 {
        let _ = writeln!(who, "p{n},{},f", if n < 18 { "north" } else { "south" });
    }
    put(dir.path(), "who.csv", who);
    dir
}

const FIT: &str = "fit --view x=x.csv --view y=y.csv -k 2 --max-sweeps 60 --out m.pv --force";
const PREDICT: &str = "predict m.pv --view x=x.csv --target y --out -";

/// The row of a sample.
fn row(table: &str, sample: &str) -> String {
    let wanted = format!("{sample},");
    let row = table.lines().find(|l| l.starts_with(&wanted));
    row.expect("a row").to_owned()
}

fn fit_with_groups(at: &Path) {
    ok(
        at,
        &format!("{FIT} --metadata who.csv --groups clinic --group-intercepts"),
    );
}

#[test]
fn the_column_of_groups_is_that_of_the_fit() {
    let dir = folder("1");
    let at = dir.path();
    fit_with_groups(at);
    assert!(ok(at, "inspect m.pv").contains("groups    column 'clinic' of the metadata"));
    let own = format!("{PREDICT} --metadata who.csv");
    let err = said(at, &own);
    assert!(err.contains("those of the column 'clinic'"), "{err}");
    assert_eq!(ok(at, &own), ok(at, &format!("{own} --groups clinic")));
    assert_ne!(ok(at, &own), ok(at, PREDICT));
    // a table without it
    let who = get(at, "who.csv").replace("clinic", "ward");
    put(at, "ward.csv", who);
    let words = format!("{PREDICT} --metadata ward.csv");
    let err = said(at, &words);
    assert!(
        err.contains("ward.csv lacks the column 'clinic'")
            && err.contains("--groups COLUMN, one of ward, sex"),
        "{err}"
    );
    assert_eq!(ok(at, &words), ok(at, PREDICT));
}

#[test]
fn metadata_without_effect_are_told() {
    let dir = folder("1");
    let at = dir.path();
    ok(at, FIT);
    for verb in [PREDICT, "project m.pv --view x=x.csv --out -"] {
        let err = said(at, &format!("{verb} --metadata who.csv"));
        assert!(err.contains("--metadata who.csv changes nothing"), "{err}");
        let err = said(at, &format!("{verb} --metadata who.csv --groups clinic"));
        assert!(err.contains("--groups clinic changes nothing"), "{err}");
    }
}

#[test]
fn samples_without_a_group_are_of_any() {
    let dir = folder("1");
    let at = dir.path();
    fit_with_groups(at);
    let (all, none) = (format!("{PREDICT} --metadata who.csv"), ok(at, PREDICT));
    let known = ok(at, &all);
    let who = get(at, "who.csv");
    // an empty cell, and a sample that the table lacks
    for without in [who.replace("p2,north", "p2,"), who.replace("p2,", "q,")] {
        put(at, "some.csv", without);
        let words = format!("{PREDICT} --metadata some.csv");
        let err = said(at, &words);
        assert!(
            err.contains("1 sample(s) have no group, first 'p2'"),
            "{err}"
        );
        let some = ok(at, &words);
        let cells = |table: &str, sample: &str| -> Vec<f64> {
            let row = row(table, sample);
            row.split(',')
                .skip(1)
                .map(|x| x.parse().expect("a number"))
                .collect()
        };
        let close = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9);
        assert!(close(&cells(&some, "p2"), &cells(&none, "p2")));
        assert!(close(&cells(&some, "p1"), &cells(&known, "p1")));
        assert!(!close(&cells(&known, "p2"), &cells(&none, "p2")));
    }
    put(at, "new.csv", who.replace("p2,north", "p2,west"));
    let err = fails(at, &format!("{PREDICT} --metadata new.csv"), 1);
    let err = err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        err.contains("no group 'west'") && err.contains("leave the group of a new sample empty"),
        "{err}"
    );
    // IDs of other samples are a mistake still
    put(at, "other.csv", who.replace("\np", "\nmouse"));
    let err = fails(at, &format!("{PREDICT} --metadata other.csv"), 1);
    assert!(err.contains("none of its samples"), "{err}");
}

#[test]
fn codes_of_missing_values_are_those_of_the_fit() {
    let dir = folder("-999");
    let at = dir.path();
    let fit = format!("{FIT} --na -999");
    ok(at, &fit);
    assert!(ok(at, "inspect m.pv").contains("missing   -999 in the tables"));
    assert!(ok(at, "inspect m.pv --spec").contains("na = [\"-999\"]"));
    let predicted = ok(at, PREDICT);
    assert!(said(at, PREDICT).contains("missing values are -999, as in the fit"));
    assert_eq!(predicted, ok(at, &format!("{PREDICT} --na -999")));
    put(at, "x.csv", get(at, "x.csv").replace("-999", ""));
    assert_eq!(predicted, ok(at, PREDICT));
    // another code is given in place of it
    put(at, "x.csv", get(at, "x.csv").replace(",,", ",777,"));
    assert_eq!(predicted, ok(at, &format!("{PREDICT} --na 777")));
    // nothing to remember, nothing said
    ok(at, FIT);
    assert!(!said(at, PREDICT).contains("missing values are"));
    assert!(!ok(at, "inspect m.pv").contains("missing   "));
}
