//! Similarities of samples at the command line.

use std::fmt::Write;

use crate::common::{fails, get, ok, put, run, said};

const N: usize = 40;

fn factor(n: usize) -> f64 {
    ((n * 7) % N) as f64 / 13.0 - 1.5
}

fn alike(n: usize, m: usize) -> f64 {
    let noise = ((n + m) * 13 + n * m * 5) % 17;
    1.2 + factor(n) * factor(m) + noise as f64 / 60.0
}

/// A table of some samples to others.
fn table(
    rows: std::ops::Range<usize>,
    columns: usize,
    cell: impl Fn(usize, usize) -> String,
) -> String {
    let mut text = "id".to_owned();
    for m in 0..columns {
        let _ = write!(text, ",s{m}");
    }
    text.push('\n');
    for n in rows {
        let _ = write!(text, "s{n}");
        for m in 0..columns {
            let _ = write!(text, ",{}", cell(n, m));
        }
        text.push('\n');
    }
    text
}

/// Similarities of thirty samples with holes, of ten new ones to them, and numbers of all.
fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    let cell = |n: usize, m: usize| {
        let hole = (n.min(m) * 3 + n.max(m) * 5) % 11 == 4;
        if hole || n == m {
            String::new()
        } else {
            alike(n, m).to_string()
        }
    };
    put(dir.path(), "k.csv", table(0..30, 30, cell));
    put(
        dir.path(),
        "new.csv",
        table(30..N, 30, |n, m| alike(n, m).to_string()),
    );
    let numbers = |rows: std::ops::Range<usize>| {
        let mut text = "id,a,b,c\n".to_owned();
        for n in rows {
            let x = |d: usize| factor(n) * (d as f64 - 0.7) + ((n * 5 + d * 3) % 7) as f64 / 30.0;
            let _ = writeln!(text, "s{n},{},{},{}", x(0), x(1), x(2));
        }
        text
    };
    put(dir.path(), "x.csv", numbers(0..30));
    put(dir.path(), "new-x.csv", numbers(30..N));
    dir
}

#[test]
fn similarities_go_in_and_come_out() {
    let dir = folder();
    let dir = dir.path();
    ok(
        dir,
        "fit --model mlfs --view x=x.csv --view k=k.csv:similarity{dimensions=2} -k 3 --seed 1 --out m.pv",
    );
    ok(dir, "inspect m.pv");
    ok(dir, "report m.pv --out r.html");
    ok(dir, "export m.pv --weights k=w.csv");
    assert!(get(dir, "w.csv").contains("dimension 2"));
    ok(dir, "impute m.pv --view k --out filled.csv");
    let filled = get(dir, "filled.csv");
    assert!(
        !filled.contains(",,") && filled.lines().count() == 31,
        "{filled}"
    );
    // what samples were given to be to themselves comes back, and both cells of a pair are one
    let cells = |text: &str| -> Vec<Vec<String>> {
        let cells = |line: &str| line.split(',').map(str::to_owned).collect();
        text.lines().map(cells).collect()
    };
    let (given, filled) = (cells(&get(dir, "k.csv")), cells(&filled));
    let number = |x: &String| x.parse::<f64>().ok();
    for n in 1..filled.len() {
        for m in 1..filled.len() {
            assert_eq!(filled[n][m], filled[m][n], "{n} {m}");
            let at = given[0].iter().position(|f| *f == filled[0][m]);
            let row = given.iter().position(|r| r[0] == filled[n][0]);
            let was = row.zip(at).and_then(|(r, c)| number(&given[r][c]));
            if was.is_some() {
                assert_eq!(was, number(&filled[n][m]), "{n} {m}");
            }
        }
    }
    let said = ok(dir, "inspect m.pv");
    assert!(!said.contains("no deviance can be told"), "{said}");
    // another scale is said
    let far: String = get(dir, "new.csv")
        .lines()
        .map(|line| {
            let far = |x: &str| {
                x.parse::<f64>()
                    .map_or(x.to_owned(), |x| (100.0 * x).to_string())
            };
            let cells: Vec<String> = line.split(',').map(far).collect();
            cells.join(",") + "\n"
        })
        .collect();
    put(dir, "far.csv", far);
    let found = run(dir, "project m.pv --view k=far.csv --out zf.csv");
    let said = String::from_utf8_lossy(&found.stderr).replace('\n', " ");
    assert!(
        said.contains("view 'k': the new values are far off"),
        "{said}"
    );
    let found = run(dir, "project m.pv --view k=new.csv --out zn.csv");
    let said = String::from_utf8_lossy(&found.stderr).replace('\n', " ");
    assert!(!said.contains("far off"), "{said}");
    ok(dir, "project m.pv --view k=new.csv --out z.csv");
    assert_eq!(get(dir, "z.csv").lines().count(), 11);
    ok(dir, "predict m.pv --view k=new.csv --target x --out px.csv");
    let scored = ok(
        dir,
        "score --truth new-x.csv --predicted px.csv --kind real --json",
    );
    let scored: serde_json::Value = serde_json::from_str(&scored).expect("JSON");
    assert!(scored["r2"].as_f64().expect("a number") > 0.8, "{scored}");
    ok(
        dir,
        "predict m.pv --view x=new-x.csv --target k --out pk.csv --sd sd.csv",
    );
    let scored = ok(
        dir,
        "score --truth new.csv --predicted pk.csv --kind real --json",
    );
    let scored: serde_json::Value = serde_json::from_str(&scored).expect("JSON");
    assert!(scored["r2"].as_f64().expect("a number") > 0.7, "{scored}");
    ok(
        dir,
        "cross-validate --model mlfs --view x=x.csv --view k=k.csv:similarity{dimensions=2} -k 2 --hide 0.1 --folds 2",
    );
}

#[test]
fn what_is_no_table_of_similarities_is_told() {
    let dir = folder();
    let dir = dir.path();
    let fit = |file: &str| {
        format!("fit --model mlfs --view x=x.csv --view k={file}:similarity -k 2 --out m.pv")
    };
    let line = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let skewed = |n: usize, m: usize| (alike(n, m) + if n > m { 0.2 } else { 0.0 }).to_string();
    put(dir, "skewed.csv", table(0..30, 30, skewed));
    let told = line(fails(dir, &fit("skewed.csv"), 1));
    assert!(told.contains("leave one of the two cells empty"), "{told}");
    put(
        dir,
        "wide.csv",
        table(0..30, 32, |n, m| alike(n, m).to_string()),
    );
    let told = line(fails(dir, &fit("wide.csv"), 1));
    assert!(told.contains("'s30' is none of the samples"), "{told}");
    let distance = |n: usize, m: usize| (factor(n) - factor(m)).abs().to_string();
    put(dir, "far.csv", table(0..30, 30, distance));
    let told = line(fails(dir, &fit("far.csv"), 1));
    assert!(told.contains("as distances are"), "{told}");
    put(
        dir,
        "own.csv",
        table(0..30, 30, |n, m| alike(n, m).to_string()),
    );
    let told = said(dir, &fit("own.csv"));
    assert!(
        told.contains("30 similarities of samples to themselves are not used"),
        "{told}"
    );
    let refused =
        fit("own.csv").replace("x.csv", "x.csv:gaussian") + " --engine stochastic --force";
    let told = line(fails(dir, &refused, 1));
    assert!(
        told.contains("compares all samples with one another"),
        "{told}"
    );
}

/// What cannot go with draws after variational Bayes is refused by the option that asks for them.
#[test]
fn what_cannot_be_polished_names_the_option() {
    let dir = folder();
    let dir = dir.path();
    let fit = "fit --model sshiba --view x=x.csv --view y=new-x.csv -k 2 --polish 20 --out m.pv";
    put(
        dir,
        "new-x.csv",
        get(dir, "x.csv").replace("a,b,c", "d,e,f"),
    );
    for option in ["--weight y=2", "--settle y"] {
        let err = fails(dir, &format!("{fit} {option}"), 1);
        let err = err.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            err.contains("leave --polish out") && !err.contains("engine vb"),
            "{err}"
        );
    }
    let asked = fit.replace("--polish 20", "--engine gibbs --weight y=2");
    let err = fails(dir, &asked, 1);
    assert!(err.contains("(engine vb)"), "{err}");
}

/// Both cells of a pair are one number after draws, too.
#[test]
fn pairs_are_symmetric_after_polishing() {
    let dir = folder();
    let dir = dir.path();
    ok(
        dir,
        "fit --model mlfs --view k=k.csv:similarity{dimensions=2} -k 2 --polish 20 --max-sweeps 60 --out m.pv",
    );
    ok(
        dir,
        "impute m.pv --view k --out f.csv --lower l.csv --upper u.csv",
    );
    for file in ["f.csv", "l.csv", "u.csv"] {
        let text = get(dir, file);
        let rows: Vec<Vec<&str>> = text.lines().map(|l| l.split(',').collect()).collect();
        for n in 1..rows.len() {
            assert_eq!(rows[n][0], rows[0][n]);
            for m in 1..n {
                assert_eq!(rows[n][m], rows[m][n], "{file} {n} {m}");
            }
        }
    }
}

/// What says nothing is refused, and what is drawn is said to be no table of its own samples.
#[test]
fn similarities_that_do_not_vary_or_are_of_others() {
    let dir = folder();
    let dir = dir.path();
    put(dir, "one.csv", table(0..30, 30, |_, _| "1".to_owned()));
    let fit = "fit --model mlfs --view x=x.csv -k 2 --max-sweeps 40";
    let err = fails(
        dir,
        &format!("{fit} --view k=one.csv:similarity --out o.pv"),
        1,
    );
    let err = err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        err.contains("view 'k'") && err.contains("do not vary (1 for all pairs)"),
        "{err}"
    );
    ok(dir, &format!("{fit} --view k=k.csv:similarity --out m.pv"));
    let note = said(dir, "simulate --from m.pv --samples 20 --out-dir sims");
    assert!(
        note.contains("view 'k': these are similarities of the drawn samples to those of training"),
        "{note}"
    );
    ok(dir, "project m.pv --view k=sims/k.csv --out z.csv");
}
