//! What the model cannot know is empty in files, and said.

use std::fmt::Write;
use std::path::Path;

use crate::common::{fails, get, ok, put, run};

/// Runs it, expects success, and returns what it says on standard error.
fn said(folder: &Path, words: &str) -> String {
    let o = run(folder, words);
    let err = String::from_utf8_lossy(&o.stderr).into_owned();
    assert!(o.status.success(), "polyview {words}: {err}");
    err
}

/// The cells of a row of a table, without its name.
fn row(table: &str, name: &str) -> Vec<String> {
    let start = format!("{name},");
    let line = table.lines().find_map(|l| l.strip_prefix(&start));
    let cells = line.unwrap_or_default().split(',');
    cells.map(str::to_owned).collect()
}

#[test]
fn a_feature_without_values_stays_empty() {
    let dir = tempfile::tempdir().expect("a folder");
    let rows = [[1, 2], [2, 4], [0, 1], [3, 5], [4, 9], [1, 1]];
    let mut text = "id,a,b,c\n".to_owned();
    for (n, [a, b]) in rows.iter().enumerate() {
        let _ = writeln!(text, "s{n},{a},{b},");
    }
    text = text.replace("s2,0,", "s2,,");
    put(dir.path(), "y.csv", &text);
    for likelihood in ["gaussian", "nb", "pln", "poisson", "rank"] {
        let preset = if likelihood == "rank" { "rank" } else { "mofa" };
        ok(
            dir.path(),
            &format!(
                "fit --model {preset} --view y=y.csv:{likelihood} -k 1 --seed 1 --max-sweeps 20 --out m.pv --force"
            ),
        );
        let note = said(
            dir.path(),
            "impute m.pv --view y --out f.csv --lower l.csv --upper u.csv --force",
        );
        assert!(
            note.contains("1 feature(s)") && note.contains("first 'c'"),
            "{note}"
        );
        ok(dir.path(), "inspect m.pv --checks");
        ok(dir.path(), "report m.pv --out r.html --force");
        for file in ["f.csv", "l.csv", "u.csv"] {
            let cells = row(&get(dir.path(), file), "s2");
            assert!(!cells[0].is_empty() && cells[2].is_empty(), "{cells:?}");
        }
    }
}

#[test]
fn holes_of_successes_have_intervals() {
    let dir = tempfile::tempdir().expect("a folder");
    let mut wins = "id,a,b,c\n".to_owned();
    let mut trials = wins.clone();
    for n in 0..12 {
        let _ = writeln!(wins, "s{n},{},{},{}", n % 5, (2 * n) % 7, (n + 3) % 6);
        let _ = writeln!(trials, "s{n},9,9,9");
    }
    put(
        dir.path(),
        "w.csv",
        wins.replace("s4,4,", "s4,,").replace("s7,2,", "s7,,"),
    );
    put(dir.path(), "t.csv", trials.replace("s7,9,", "s7,,"));
    ok(
        dir.path(),
        "fit --model mofa --view w=w.csv:binomial --trials w=t.csv -k 1 --seed 1 --max-sweeps 20 --out m.pv",
    );
    let note = said(
        dir.path(),
        "impute m.pv --view w --out f.csv --lower l.csv --upper u.csv",
    );
    assert!(
        note.contains("1 cell(s) have no number of trials"),
        "{note}"
    );
    let at = |file: &str, sample: &str| row(&get(dir.path(), file), sample)[0].clone();
    let number = |file: &str| at(file, "s4").parse::<f64>().expect("a number");
    let (low, mean, high) = (number("l.csv"), number("f.csv"), number("u.csv"));
    assert!(0.0 <= low && low < mean && mean < high && high <= 9.0);
    for file in ["f.csv", "l.csv", "u.csv"] {
        assert!(at(file, "s7").is_empty());
    }
}

#[test]
fn new_samples_need_no_view_in_common() {
    let dir = tempfile::tempdir().expect("a folder");
    let table = |from: usize, to: usize, scale: usize| {
        let mut text = format!("id,p{scale},q{scale}\n");
        for n in from..to {
            let _ = writeln!(text, "s{n},{},{}", (scale * n) % 7, n + (n * n) % 5);
        }
        text
    };
    put(dir.path(), "x.csv", table(0, 12, 1));
    put(dir.path(), "y.csv", table(0, 12, 3));
    ok(
        dir.path(),
        "fit --view x=x.csv --view y=y.csv -k 1 --seed 1 --out m.pv",
    );
    put(dir.path(), "new-x.csv", table(20, 23, 1) + "empty,,\n");
    put(dir.path(), "new-y.csv", table(30, 33, 3));
    let views = "--view x=new-x.csv --view y=new-y.csv";
    let note = said(
        dir.path(),
        &format!("project m.pv {views} --out z.csv --sd sd.csv"),
    );
    assert!(
        note.contains("1 sample(s)") && note.contains("'empty'"),
        "{note}"
    );
    let z = get(dir.path(), "z.csv");
    assert_eq!(z.lines().count(), 8);
    assert_eq!(row(&z, "empty"), ["0"]);
    assert_eq!(row(&get(dir.path(), "sd.csv"), "empty"), ["1"]);
    ok(
        dir.path(),
        &format!("predict m.pv {views} --target y --out p.csv"),
    );
    assert_eq!(get(dir.path(), "p.csv").lines().count(), 8);
    let err = fails(dir.path(), &format!("fit {views} -k 1 --out no.pv"), 1);
    assert!(err.contains("share no sample"), "{err}");
}

#[test]
fn poisson_counts_of_a_large_mean_are_warned_of() {
    let dir = tempfile::tempdir().expect("a folder");
    let mut text = "id,a,b\n".to_owned();
    for n in 0..9 {
        let _ = writeln!(text, "s{n},{},{}", 10 + n % 4, 12 + (3 * n) % 5);
    }
    put(dir.path(), "y.csv", text);
    let fit = |l: &str| {
        let words =
            format!("fit --model mofa --view y=y.csv:{l} -k 1 --max-sweeps 5 --out m.pv --force");
        said(dir.path(), &words)
    };
    let warned = fit("poisson{rate=softplus}");
    assert!(
        warned.contains("warning: ") && warned.contains("take rate=exponential"),
        "{warned}"
    );
    ok(dir.path(), "report m.pv --out m.html --force");
    assert!(get(dir.path(), "m.html").contains("take rate=exponential"));
    let fine = fit("nb");
    assert!(!fine.contains("warning: data/y"), "{fine}");
    assert!(warned.contains("warning: data/y"), "{warned}");
}

/// A prediction scores without the features of which the model knows nothing.
#[test]
fn predictions_of_features_without_values_are_scored() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    let rows = [[1, 2], [2, 4], [0, 1], [3, 5], [4, 9], [1, 1]];
    let (mut x, mut y, mut truth) = (
        "id,e,f\n".to_owned(),
        "id,a,b,c\n".to_owned(),
        String::new(),
    );
    truth.push_str("id,a,b,c\n");
    for (n, [a, b]) in rows.iter().enumerate() {
        let _ = writeln!(x, "s{n},{},{}", a + b, a - b);
        let _ = writeln!(y, "s{n},{a},{b},");
        let _ = writeln!(truth, "s{n},{a},{b},{n}");
    }
    put(at, "x.csv", x);
    put(at, "y.csv", y);
    put(at, "t.csv", &truth);
    ok(
        at,
        "fit --quiet --view x=x.csv --view y=y.csv -k 1 --out m.pv",
    );
    ok(
        at,
        "predict m.pv --view x=x.csv --target y --out p.csv --lower l.csv --upper u.csv",
    );
    for more in ["", " --lower l.csv --upper u.csv"] {
        let note = said(
            at,
            &format!("score --truth t.csv --predicted p.csv --kind real{more}"),
        );
        assert!(
            note.contains("1 column(s) have no prediction at all") && note.contains("first 'c'"),
            "{note}"
        );
        let table = ok(
            at,
            &format!("score --truth t.csv --predicted p.csv --kind real{more}"),
        );
        assert!(table.contains("6 samples, 2 columns"), "{table}");
    }
    // one cell that is lacking is a mistake still
    let p = get(at, "p.csv");
    let cell = row(&p, "s0")[0].clone();
    put(at, "p.csv", p.replace(&format!("s0,{cell},"), "s0,,"));
    let err = fails(at, "score --truth t.csv --predicted p.csv --kind real", 1);
    assert!(err.contains("column 'a'") && err.contains("empty"), "{err}");
}
