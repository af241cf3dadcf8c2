//! Numbers of factors that nobody asked for.

use std::fmt::Write;

use crate::common::{ok, put, said};

/// Two tables of a few features, the first with a column that does not vary; more samples than the data have features
/// for the factors that are offered.
fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    let (mut x, mut y) = ("id,a,b,c,k\n".to_owned(), "id,d,e\n".to_owned());
    for n in 0..48_u32 {
        let u = f64::from((n * 37 + n * n * 5) % 101) / 50.0 - 1.0;
        let v = f64::from((n * 53 + 11) % 97) / 97.0;
        let w = f64::from((n * 29 + n * n * 3) % 89) / 89.0;
        let _ = writeln!(x, "s{n},{},{},{},1.5", u + 0.4 * v, v - u, w);
        let _ = writeln!(y, "s{n},{},{}", 2.0 * u + w, v + 0.5 * w);
    }
    put(dir.path(), "x.csv", x);
    put(dir.path(), "y.csv", y);
    dir
}

/// Fits with the defaults say nothing of factors that nobody asked for, and those that were asked for are said.
#[test]
fn more_factors_than_the_data_carry_are_told_to_those_who_asked() {
    let dir = folder();
    let at = dir.path();
    let views = "--view x=x.csv --view y=y.csv --max-sweeps 20";
    let words = "factors are more than";
    let text = said(at, &format!("fit {views} --out m.pv"));
    assert!(!text.contains(words), "{text}");
    assert!(
        text.contains("5 factors, the most that these data carry"),
        "{text}"
    );
    assert!(!ok(at, "inspect m.pv --journal").contains(words));
    let cross = format!("cross-validate {views} --target y --folds 2");
    let text = said(at, &cross);
    assert!(!text.contains(words), "{text}");
    let text = said(at, &format!("{cross} -k 9"));
    assert!(
        text.contains("9 factors are more than 24 samples"),
        "{text}"
    );
}
