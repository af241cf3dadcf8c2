//! What files are joined by: IDs, or places where there are none.

use std::fmt::Write;
use std::path::Path;

use crate::common::{fails, get, ok, put, said};
use crate::stochastic::{cell, npy};

const N: usize = 60;

/// A table of numbers; IDs as `id` makes them of the place from 0.
fn csv(at: &Path, name: &str, rows: usize, id: impl Fn(usize) -> String) {
    let mut text = "id,a,b,c\n".to_owned();
    for n in 0..rows {
        let x = (n * 37 % 11) as f64;
        let _ = writeln!(text, "{},{x},{},{}", id(n), 3.0 - x, n * 5 % 7);
    }
    put(at, name, text);
}

#[test]
fn rows_without_ids_are_never_joined_by_chance() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    npy(at, "x.npy", N, 4);
    npy(at, "short.npy", 50, 3);
    npy(at, "other.npy", N, 3);
    // s0 to s59: fifty and more IDs look like numbers of rows, one row off
    csv(at, "y.csv", N, |n| format!("s{n}"));
    let refused = |words: &str, parts: &[&str]| {
        let err = fails(at, words, 1);
        let err = err.split_whitespace().collect::<Vec<_>>().join(" ");
        for part in parts.iter().chain(&["has no sample IDs", "numpy.savez"]) {
            assert!(err.contains(part), "{words}, {part}: {err}");
        }
    };
    let fit = "fit -k 1 --out m.pv";
    refused(
        &format!("{fit} --view x=x.npy --view y=y.csv"),
        &["x.npy and y.csv", "view 'y' has IDs of its own"],
    );
    refused(
        &format!("{fit} --view y=y.csv --view x=x.npy"),
        &["x.npy and y.csv"],
    );
    refused(
        &format!("{fit} --view x=x.npy --view y=short.npy"),
        &["x.npy and short.npy", "60 rows", "view 'y' has 50 rows"],
    );
    csv(at, "about.csv", N, |n| format!("s{n}"));
    refused(
        &format!("{fit} --view x=x.npy --metadata about.csv"),
        &["x.npy and about.csv"],
    );
    // as many rows without IDs either, by place
    let err = said(at, &format!("{fit} --view x=x.npy --view y=other.npy"));
    assert!(
        err.contains("'x', 'y' have no sample IDs and are joined by place"),
        "{err}"
    );
    // new data, and truths
    csv(at, "z.csv", N, |n| format!("s{}", n + 2));
    refused(
        "project m.pv --view x=x.npy --view y=short.npy --out z",
        &["x.npy and short.npy"],
    );
    ok(at, "predict m.pv --view x=x.npy --target y --out p.csv");
    let err = said(at, "score --truth other.npy --predicted p.csv --kind real");
    assert!(!err.contains("error"), "{err}");
    refused(
        "score --truth short.npy --predicted p.csv --kind real",
        &["short.npy and p.csv"],
    );
}

#[test]
fn numbers_of_rows_are_ids_where_a_table_has_just_these() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    npy(at, "x.npy", N, 4);
    csv(at, "y.csv", N, |n| format!("s{}", n + 1));
    let err = said(at, "fit -k 1 --out m.pv --view x=x.npy --view y=y.csv");
    assert!(
        err.contains("row 1 is taken as sample 's1' of view 'y'"),
        "{err}"
    );
    ok(at, "export m.pv --factors z.csv");
    ok(at, "fit -k 1 --out two.pv --view x=x.npy --view z=z.csv");
}

#[test]
fn views_that_share_next_to_nothing_are_warned_of() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    csv(at, "x.csv", N, |n| format!("a{n}"));
    let half = |from: usize| move |n: usize| format!("a{}", n + from);
    csv(at, "one.csv", N, half(N - 1));
    csv(at, "half.csv", N, half(N / 2));
    let err = said(at, "fit -k 1 --out m.pv --view x=x.csv --view y=one.csv");
    assert!(
        err.contains("warning: data: view 'x' shares 1 of its 60 samples with any other view"),
        "{err}"
    );
    let err = said(at, "fit -k 1 --out n.pv --view x=x.csv --view y=half.csv");
    assert!(!err.contains("with any other view"), "{err}");
    // as few as there are, all shared, are no slip
    csv(at, "small.csv", 6, |n| format!("a{n}"));
    let err = said(
        at,
        "fit -k 1 --out o.pv --view x=small.csv --view y=small.csv",
    );
    assert!(!err.contains("shares"), "{err}");
}

#[test]
fn classes_that_are_none() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    csv(at, "x.csv", N, |n| format!("a{n}"));
    let column = |name: &str, class: &dyn Fn(usize) -> String| {
        let mut text = "id,c\n".to_owned();
        for n in 0..N {
            let _ = writeln!(text, "a{n},{}", class(n));
        }
        put(at, name, text);
    };
    column("ids.csv", &|n| format!("patient{n}"));
    column("case.csv", &|n| ["no", "yes", "Yes"][n % 3].to_owned());
    column("good.csv", &|n| ["no", "yes"][n % 2].to_owned());
    let fit = |c: &str| {
        said(
            at,
            &format!(
                "fit --model sshiba -k 1 --view x=x.csv:gaussian --view c={c}:categorical --max-sweeps 3 --out {c}.pv"
            ),
        )
    };
    let err = fit("ids.csv");
    assert!(
        err.contains("60 of 60 samples are alone in their class, such as that of 'patient0'"),
        "{err}"
    );
    let err = fit("case.csv");
    assert!(
        err.contains("'Yes' and 'yes' differ in upper and lower case") && !err.contains("alone in"),
        "{err}"
    );
    let err = fit("good.csv");
    assert!(!err.contains("warning: data"), "{err}");
}

#[test]
fn metadata_that_lack_samples_are_one_note_in_fit_and_report() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    csv(at, "x.csv", N, |n| format!("a{n}"));
    csv(at, "most.csv", N - 10, |n| format!("a{n}"));
    csv(at, "none.csv", N, |n| format!("p{n}"));
    let fit = "fit -k 1 --view x=x.csv --force --out m.pv";
    for command in [fit, "report m.pv --force --out r.html"] {
        let err = said(at, &format!("{command} --metadata most.csv"));
        assert!(
            err.contains("note: most.csv: 10 of the 60 samples are not in it, first 'a50'"),
            "{command}: {err}"
        );
        let err = said(at, &format!("{command} --metadata none.csv"));
        assert!(
            err.contains("warning: none.csv: none of its samples is one of the data"),
            "{command}: {err}"
        );
        let err = said(at, &format!("{command} --metadata x.csv"));
        assert!(!err.contains("x.csv:"), "{command}: {err}");
    }
}

/// Columns of an array are those of the fit in their order, not those that happen to be called
/// as a reader calls them.
#[test]
fn features_without_names_match_none_by_chance() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    let named = |name: &str, first: usize| {
        let header: Vec<String> = (0..4).map(|d| format!("f{}", d + first)).collect();
        let mut text = format!("id,{}\n", header.join(","));
        for n in 0..N {
            let cells: Vec<String> = (0..4).map(|d| (cell(n, d) as f32).to_string()).collect();
            let _ = writeln!(text, "{},{}", n + 1, cells.join(","));
        }
        put(at, name, text);
    };
    named("x.csv", 0);
    npy(at, "x.npy", N, 4);
    npy(at, "five.npy", N, 5);
    ok(at, "fit --view x=x.csv -k 2 --max-sweeps 20 --out m.pv");
    ok(at, "project m.pv --view x=x.csv --out named.csv");
    let err = said(at, "project m.pv --view x=x.npy --out array.csv");
    let err = err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        err.contains("are taken to be those of the fit, in their order"),
        "{err}"
    );
    // the array has numbers of 32 bits
    let numbers = |name: &str| -> Vec<f64> {
        let text = get(at, name);
        let cells = text.lines().skip(1).flat_map(|l| l.split(',').skip(1));
        cells.map(|x| x.parse().expect("a number")).collect()
    };
    let (named_so, by_place) = (numbers("named.csv"), numbers("array.csv"));
    assert_eq!(named_so.len(), by_place.len());
    for (a, b) in named_so.iter().zip(by_place) {
        assert!((a - b).abs() < 1e-4, "{a} {b}");
    }
    let err = fails(at, "project m.pv --view x=five.npy --out no.csv", 2);
    assert!(err.contains("5 columns where view 'x' had 4"), "{err}");
    // and the other way round
    ok(at, "fit --view x=x.npy -k 2 --max-sweeps 20 --out a.pv");
    let err = said(at, "project a.pv --view x=x.csv --out no.csv");
    assert!(
        err.contains("what is called alike may be something else"),
        "{err}"
    );
    named("same.csv", 1);
    let err = said(at, "project a.pv --view x=same.csv --out yes.csv");
    assert!(!err.contains("called alike"), "{err}");
}
