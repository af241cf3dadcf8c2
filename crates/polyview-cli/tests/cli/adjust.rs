//! Covariates and offsets at the command line.

use std::fmt::Write;
use std::path::Path;

use crate::common::{get, ok, put, run, said};

/// A view of numbers with a batch effect, counts of unlike totals, and tables that say so.
pub fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    let (mut x, mut y) = ("id".to_owned(), "id".to_owned());
    let (mut who, mut size) = ("id,age,batch\n".to_owned(), "id,size\n".to_owned());
    for d in 0..6 {
        let _ = write!(x, ",x{d}");
        let _ = write!(y, ",y{d}");
    }
    (x, y) = (x + "\n", y + "\n");
    for n in 0_usize..36 {
        let batch = ["b1", "b2", "b2"][n % 3];
        let depth = [1.0, 3.0, 9.0, 2.0][n % 4];
        let z = ((n * 5) % 12) as f64 / 6.0 - 1.0;
        let _ = write!(x, "s{n}");
        let _ = write!(y, "s{n}");
        for d in 0_usize..6 {
            let wobble = ((n * 7 + d * 11) % 13) as f64 / 13.0 - 0.5;
            let level = if batch == "b1" { 0.0 } else { 3.0 + d as f64 };
            let sign = if d.is_multiple_of(2) { 1.0 } else { -1.0 };
            let _ = write!(x, ",{:.4}", sign * z + level + 0.4 * wobble);
            let rate = 20.0 * depth * (0.6 * sign * z).exp();
            let _ = write!(y, ",{}", (rate * (1.0 + 0.4 * wobble)).round());
        }
        (x, y) = (x + "\n", y + "\n");
        let _ = writeln!(who, "s{n},{},{batch}", 30 + (n * 7) % 31);
        let _ = writeln!(size, "s{n},{depth}");
    }
    put(dir.path(), "x.csv", x);
    put(dir.path(), "y.csv", y);
    put(dir.path(), "who.csv", who);
    put(dir.path(), "size.csv", size);
    dir
}

/// What a run that fails says, as one line.
fn fails(folder: &Path, words: &str) -> String {
    let o = run(folder, words);
    let err = String::from_utf8_lossy(&o.stderr).into_owned();
    assert!(
        !o.status.success() && !err.contains("panicked"),
        "{words}: {err}"
    );
    err.split_whitespace().collect::<Vec<_>>().join(" ")
}

const FIT: &str =
    "fit --model mofa --view x=x.csv --view y=y.csv:pln -k 3 --seed 1 --max-sweeps 60";

#[test]
fn what_a_fit_is_adjusted_for_goes_through_files_and_verbs() {
    let dir = folder();
    let at = dir.path();
    let adjusted = "--covariates who.csv --adjust age,batch --offset y=size.csv";
    ok(at, &format!("{FIT} {adjusted} --out m.pv"));
    let shown = ok(at, "inspect m.pv");
    assert!(
        shown.contains("covariates") && shown.contains("offset"),
        "{shown}"
    );
    // what was asked for in no view has no column
    ok(
        at,
        &format!("{FIT} --covariates who.csv --adjust age --out age.pv"),
    );
    let shown = ok(at, "inspect age.pv");
    let header = shown.lines().find(|l| l.contains(" covariates "));
    assert!(header.is_some_and(|l| !l.contains("offset")), "{shown}");
    ok(at, "export m.pv --variance v.csv");
    let header = get(at, "v.csv").lines().next().map(str::to_owned);
    assert!(
        header.is_some_and(|h| h.ends_with(",deviance,covariates,offset,together")),
        "{}",
        get(at, "v.csv")
    );
    ok(at, "export age.pv --variance va.csv");
    let header = get(at, "va.csv").lines().next().map(str::to_owned);
    assert!(header.is_some_and(|h| h.ends_with(",deviance,covariates,together")));
    ok(at, "export m.pv --coefficients x=b.csv");
    let table = get(at, "b.csv");
    assert!(table.starts_with("feature,age,batch=b2\n"), "{table}");
    assert_eq!(table.lines().count(), 7);
    let new = "--view x=x.csv --view y=y.csv";
    ok(
        at,
        &format!("project m.pv {new} --covariates who.csv --offset y=size.csv --out z.csv"),
    );
    let predicted = "predict m.pv --view x=x.csv --target y --covariates who.csv";
    let without = said(at, &format!("{predicted} --out p.csv"));
    assert!(without.contains("no offset is known"), "{without}");
    ok(at, &format!("{predicted} --offset y=size.csv --out q.csv"));
    assert_ne!(get(at, "p.csv"), get(at, "q.csv"));
    ok(at, "impute m.pv --view y --out i.csv");
    let e = fails(at, &format!("project m.pv {new} --out w.csv"));
    assert!(e.contains("'age'") && e.contains("--covariates"), "{e}");
}

#[test]
fn what_cannot_be_adjusted_for_is_said_with_its_place() {
    let dir = folder();
    let at = dir.path();
    put(
        at,
        "hole.csv",
        get(at, "who.csv").replacen("s7,48", "s7,", 1),
    );
    put(
        at,
        "zero.csv",
        get(at, "size.csv").replacen("s5,3", "s5,0", 1),
    );
    for (options, words) in [
        ("--covariates who.csv", vec!["--adjust"]),
        ("--adjust age", vec!["--covariates"]),
        (
            "--covariates who.csv --adjust sex",
            vec!["who.csv", "'sex'", "age, batch"],
        ),
        (
            "--covariates hole.csv --adjust age",
            vec!["hole.csv", "'s7'", "'age'", "leave"],
        ),
        ("--offset y=zero.csv", vec!["view 'y'", "'s5'", "positive"]),
        ("--offset z=log-total", vec!["'z'"]),
        ("--offset x=log-total", vec!["view 'x'", "counts"]),
        ("--offset y=who.csv", vec!["who.csv", "one"]),
    ] {
        let e = fails(at, &format!("{FIT} {options} --out m.pv"));
        for word in words {
            assert!(e.contains(word), "{options}: {e}");
        }
    }
}

#[test]
fn a_study_says_the_same() {
    let dir = folder();
    let at = dir.path();
    let adjusted = "--covariates who.csv --adjust batch --offset y=log-total";
    let study = ok(at, &format!("{FIT} {adjusted} --dry-run"));
    assert!(study.contains("covariates = \"who.csv\""), "{study}");
    put(at, "study.toml", &study);
    assert_eq!(ok(at, "fit --spec study.toml --dry-run"), study);
    ok(at, "fit --spec study.toml --out b.pv");
    ok(at, &format!("{FIT} {adjusted} --out a.pv"));
    for m in ["a", "b"] {
        ok(at, &format!("export {m}.pv --factors {m}.csv"));
    }
    assert_eq!(get(at, "a.csv"), get(at, "b.csv"));
}

/// The start finds as many directions as the data have, and the rest are filled.
#[test]
fn as_many_factors_as_the_data_carry_stand_beside_covariates_and_offsets() {
    let dir = folder();
    let at = dir.path();
    let first = |text: String, lines: usize, columns: usize| -> String {
        let cut = |l: &str| l.split(',').take(columns).collect::<Vec<_>>().join(",") + "\n";
        text.lines().take(lines).map(cut).collect()
    };
    put(at, "few.csv", first(get(at, "x.csv"), 37, 6));
    for start in ["varimax", "svd", "random"] {
        let fit =
            format!("fit --view x=few.csv --start {start} --max-sweeps 30 --force --out m.pv");
        for k in ["", "-k 4", "-k 5", "-k 5 --restarts 2"] {
            ok(at, &format!("{fit} --covariates who.csv --adjust age {k}"));
            ok(
                at,
                &format!("{fit} --covariates who.csv --adjust age,batch {k}"),
            );
        }
    }
    let adjusted = "--covariates who.csv --adjust age --max-sweeps 30 --candidates 4,5";
    ok(at, &format!("choose-k --view x=few.csv {adjusted}"));
    for samples in 1..4 {
        put(at, "y1.csv", first(get(at, "y.csv"), samples + 1, 5));
        for likelihood in ["nb", "pln", "poisson"] {
            let view = format!("--view y=y1.csv:{likelihood} --offset y=log-total");
            let fit = format!("fit --model mofa {view} --max-sweeps 20 --force --out m.pv");
            ok(at, &fit);
            ok(at, &format!("{fit} --start svd"));
        }
    }
}

/// The two steps of a cross-validation do not see the target, nor its offset.
#[test]
fn a_target_with_an_offset_is_cross_validated() {
    let dir = folder();
    for offset in ["log-total", "size.csv"] {
        let words = format!(
            "cross-validate --model mofa --view x=x.csv --view y=y.csv:pln --offset y={offset} \
             --target y --folds 2 -k 2 --max-sweeps 10"
        );
        let table = ok(dir.path(), &words);
        assert!(table.contains("two steps"), "{table}");
    }
}

/// Samples of which nobody knows an offset get that of training, in its own unit; totals of a
/// view that is predicted may be given.
#[test]
fn offsets_of_new_samples_are_said_and_given() {
    let dir = folder();
    let at = dir.path();
    let mean = |text: &str, of: &dyn Fn(Vec<f64>) -> f64| {
        let row = |l: &str| -> f64 {
            of(l.split(',').skip(1).map(|x| x.parse().unwrap()).collect()).ln()
        };
        let all: Vec<f64> = text.lines().skip(1).map(row).collect();
        (all.iter().sum::<f64>() / all.len() as f64).exp()
    };
    let counts = get(at, "y.csv");
    let total: &dyn Fn(Vec<f64>) -> f64 = &|x| x.iter().sum();
    let mut totals = "id,total\n".to_owned();
    for line in counts.lines().skip(1) {
        let (id, x) = line.split_once(',').unwrap();
        let sum: f64 = x.split(',').map(|x| x.parse::<f64>().unwrap()).sum();
        let _ = writeln!(totals, "{id},{sum}");
    }
    put(at, "totals.csv", totals);
    for (offset, size) in [
        ("size.csv", mean(&get(at, "size.csv"), total)),
        ("log-total", mean(&counts, total)),
    ] {
        ok(at, &format!("{FIT} --offset y={offset} --force --out m.pv"));
        let predict = "predict m.pv --view x=x.csv --target y --force";
        let text = said(at, &format!("{predict} --out p.csv"));
        let word = text
            .split("they get size ")
            .nth(1)
            .and_then(|t| t.split(',').next());
        let found: f64 = word.expect(&text).parse().expect(&text);
        assert!((found / size - 1.0).abs() < 1e-4, "{found} {size}");
        assert!(
            text.contains("the geometric mean of those of training"),
            "{text}"
        );
        assert!(text.contains("leave out how far samples differ"), "{text}");
        let given = if offset == "size.csv" {
            offset
        } else {
            "totals.csv"
        };
        let text = said(at, &format!("{predict} --offset y={given} --out q.csv"));
        assert!(!text.contains("no offset"), "{text}");
        assert_ne!(get(at, "p.csv"), get(at, "q.csv"));
    }
    // of counts that say what factors are, sizes are needed
    ok(at, &format!("{FIT} --offset y=size.csv --force --out s.pv"));
    let without = fails(at, "project s.pv --view y=y.csv --out s.csv");
    assert!(
        without.contains("view 'y' was fitted with sizes of its samples")
            && without.contains("--offset y=FILE"),
        "{without}"
    );
    ok(
        at,
        "project s.pv --view y=y.csv --offset y=size.csv --out s.csv",
    );
    let without = fails(at, "predict s.pv --view y=y.csv --target x --out t.csv");
    assert!(without.contains("would pass for factors"), "{without}");
    // what the data say and what is given are the same totals
    let project = "project m.pv --view x=x.csv --view y=y.csv";
    ok(at, &format!("{project} --out a.csv"));
    ok(at, &format!("{project} --offset y=totals.csv --out b.csv"));
    crate::common::same_table(&get(at, "a.csv"), &get(at, "b.csv"));
    // a row without an offset, and one that is not there
    let totals = get(at, "totals.csv");
    let row = totals.lines().find(|l| l.starts_with("s7,")).expect("s7");
    for lacks in ["s7,\n", ""] {
        put(at, "hole.csv", totals.replace(&format!("{row}\n"), lacks));
        let e = fails(
            at,
            "predict m.pv --view x=x.csv --target y --offset y=hole.csv --out r.csv",
        );
        assert!(
            e.contains("hole.csv: sample 's7' has no offset of view 'y'"),
            "{e}"
        );
        assert!(
            e.contains("leave the sample out") && !e.contains("fit without"),
            "{e}"
        );
    }
}

#[test]
fn totals_that_are_all_zero_are_no_offset() {
    let dir = folder();
    let at = dir.path();
    let empty: String = (get(at, "y.csv").lines().enumerate())
        .map(|(i, l)| match l.split_once(',') {
            Some((id, _)) if i > 0 => format!("{id},0,0,0,0,0,0\n"),
            _ => format!("{l}\n"),
        })
        .collect();
    put(at, "y.csv", empty);
    let e = fails(at, &format!("{FIT} --offset y=log-total --out m.pv"));
    assert!(e.contains("total count of sample 's0' is 0"), "{e}");
}

/// The choices of a fit name the tables that they need besides the views.
#[test]
fn choices_of_a_fit_name_the_tables_about_the_samples() {
    let dir = folder();
    let at = dir.path();
    let age = |l: &str| l.rsplit_once(',').map(|l| l.0.to_owned() + "\n");
    put(
        at,
        "age.csv",
        get(at, "who.csv")
            .replace("age", "years")
            .lines()
            .filter_map(age)
            .collect::<String>(),
    );
    let about = "--covariates age.csv --adjust years --offset y=size.csv";
    ok(
        at,
        &format!("{FIT} {about} --metadata who.csv --groups batch --out m.pv"),
    );
    let study = ok(at, "inspect m.pv --spec");
    for word in [
        "groups = \"batch\"",
        "--metadata FILE",
        "--covariates FILE",
        "--offset y=FILE",
    ] {
        assert!(study.contains(word), "{word}: {study}");
    }
    put(at, "study.toml", &study);
    let again = "fit --spec study.toml --view x=x.csv --view y=y.csv --out n.pv";
    let e = fails(
        at,
        &format!("{again} --covariates age.csv --offset y=size.csv"),
    );
    assert!(e.contains("'batch'") && e.contains("--metadata"), "{e}");
    let e = fails(
        at,
        &format!("{again} --covariates age.csv --metadata who.csv"),
    );
    assert!(e.contains("--offset y=FILE"), "{e}");
    ok(
        at,
        &format!("{again} --covariates age.csv --offset y=size.csv --metadata who.csv"),
    );
    for m in ["m", "n"] {
        ok(at, &format!("export {m}.pv --factors {m}.csv"));
    }
    assert_eq!(get(at, "m.csv"), get(at, "n.csv"));
}

/// Sizes of samples are no merit of the model: plain predictors know them too.
#[test]
fn plain_predictors_know_the_sizes_of_samples() {
    let dir = folder();
    let at = dir.path();
    let words = |more: &str| {
        format!(
            "cross-validate --model mofa --view x=x.csv --view y=y.csv:pln -k 2 --max-sweeps 60 \
             --target y --folds 3 --json {more}"
        )
    };
    let explained = |more: &str, method: &str| -> f64 {
        let found: serde_json::Value = serde_json::from_str(&ok(at, &words(more))).expect("JSON");
        let all = found["summary"].as_array().expect("a list");
        let own = all
            .iter()
            .find(|s| s["method"] == method && s["score"] == "deviance-explained");
        own.and_then(|s| s["mean"].as_f64()).expect("a score")
    };
    // sizes are most of what these counts are
    let sizes = "--offset y=size.csv";
    assert!(explained("", "mean").abs() < 0.1);
    assert!(explained(sizes, "mean") > 0.6);
    for method in ["ridge regression", "mofa, two steps"] {
        let (without, with) = (explained("", method), explained(sizes, method));
        assert!(
            with > 0.85 && with > without + 0.3,
            "{method}: {without} {with}"
        );
    }
    // covariates as well: batches are most of what the numbers are
    let batch = |more: &str| {
        let words = words(more).replace("--target y", "--target x");
        let found: serde_json::Value = serde_json::from_str(&ok(at, &words)).expect("JSON");
        let all = found["summary"].as_array().expect("a list");
        let own = (all.iter()).find(|s| s["method"] == "ridge regression" && s["score"] == "r2");
        own.and_then(|s| s["mean"].as_f64()).expect("a score")
    };
    let with = batch("--covariates who.csv --adjust batch");
    assert!(with > 0.8 && with > batch("") + 0.2, "{with}");
    // hidden cells have no such predictors, which is said
    let hidden = words(sizes).replace("--target y ", "");
    let err = said(at, &hidden);
    assert!(err.contains("know neither covariates nor offsets"), "{err}");
}

/// The total of a sample that lacks features is an estimate, which is said.
#[test]
fn totals_of_samples_with_holes_are_said_to_be_estimates() {
    let dir = folder();
    let at = dir.path();
    let fit = format!("{FIT} --offset y=log-total --force --out m.pv");
    let warning = "10 of 36 samples lack features that make more than 10 % of all counts";
    let complete = get(at, "y.csv");
    let err = said(at, &fit);
    assert!(!err.contains("lack features"), "{err}");
    let emptied = |line: &str| {
        let mut cells: Vec<&str> = line.split(',').collect();
        cells[1..4].fill("");
        cells.join(",")
    };
    let holes: Vec<String> = (complete.lines().enumerate())
        .map(|(i, line)| {
            if (1..=10).contains(&i) {
                emptied(line)
            } else {
                line.to_owned()
            }
        })
        .collect();
    put(at, "y.csv", holes.join("\n"));
    // of new samples too, by a model of complete ones
    let err = said(
        at,
        "project m.pv --view x=x.csv --view y=y.csv --force --out z.csv",
    );
    assert!(err.contains(&format!("view 'y': {warning}")), "{err}");
    let err = said(at, &fit);
    assert!(
        err.contains(warning) && err.contains("give sizes that are known"),
        "{err}"
    );
    assert!(ok(at, "inspect m.pv --journal").contains("samples lack features"));
    let known = fit.replace("log-total", "size.csv");
    assert!(!said(at, &known).contains("lack features"));
}

#[test]
fn covariates_and_groups_may_come_from_one_file() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    let (mut x, mut about) = ("id,a,b,c\n".to_owned(), "id,age,site\n".to_owned());
    for n in 0..24 {
        let v = |k: i32| f64::from((n * (2 * k + 3)) % 11);
        let _ = writeln!(x, "s{n},{},{},{}", v(1), v(2), v(1) + 0.5 * v(3));
        let _ = writeln!(
            about,
            "s{n},{},{}",
            40 + (n * 7) % 23,
            ["u", "v"][n as usize % 2]
        );
    }
    put(at, "x.csv", x);
    put(at, "m.csv", about);
    ok(
        at,
        "fit --view x=x.csv --covariates m.csv --adjust age --metadata m.csv --groups site -k 1 --max-sweeps 20 --quiet --out m.pv",
    );
    let said = ok(at, "inspect m.pv");
    assert!(said.contains("within group 'v'"), "{said}");
    put(
        at,
        "bad.mtx",
        "%MatrixMarket matrix coordinate integer general\n2 3 1\n1 1 4\n",
    );
    let err = fails(at, "fit --model mofa --view c=bad.mtx:pln -k 1 --out c.pv");
    assert!(err.contains("%%MatrixMarket"), "{err}");
}

/// A code for what is not known is a number like others to a model.
#[test]
fn a_covariate_whose_value_stands_apart_gets_a_word() {
    let dir = folder();
    let at = dir.path();
    let table = get(at, "who.csv");
    let coded = table.lines().enumerate().map(|(n, line)| match n {
        4 | 9 => {
            let cells: Vec<&str> = line.split(',').collect();
            format!("{},999,{}\n", cells[0], cells[2])
        }
        _ => format!("{line}\n"),
    });
    put(at, "coded.csv", coded.collect::<String>());
    let fit = |file: &str| {
        let words = said(
            at,
            &format!("{FIT} --covariates {file} --adjust age --out {file}.pv"),
        );
        words.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let told = fit("coded.csv");
    assert!(
        told.contains(
            "the covariate 'age' is 999 in 2 samples, first 's3', far from all others (30 to 60)"
        ),
        "{told}"
    );
    assert!(!fit("who.csv").contains("far from all others"));
}
