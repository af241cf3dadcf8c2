//! What a user has to hear is said on standard error, with what to do about it.

use std::fmt::Write;
use std::path::Path;

use crate::common::{fails, get, put, run};

const SAMPLES: usize = 30;
const FEATURES: usize = 6;

/// A value of two factors about a mean of its own for each feature.
fn value(n: usize, d: usize) -> f64 {
    let (a, b) = ((n as f64 * 0.9).sin(), (n as f64 * 2.3 + 1.0).cos());
    let noise = ((n * 37 + d * 101) % 17) as f64 / 17.0 - 0.5;
    4.0 + d as f64 + a * (d as f64 - 2.0) + b * (1.5 - 0.4 * d as f64) + 0.5 * noise
}

/// A table of some samples whose cells are what `cell` writes.
fn table(samples: usize, cell: impl Fn(usize, usize) -> String) -> String {
    let names: Vec<String> = (0..FEATURES).map(|d| format!("g{d}")).collect();
    let mut text = format!("sample,{}\n", names.join(","));
    for n in 0..samples {
        let cells: Vec<String> = (0..FEATURES).map(|d| cell(n, d)).collect();
        let _ = writeln!(text, "s{n},{}", cells.join(","));
    }
    text
}

fn times(by: f64) -> String {
    table(SAMPLES, |n, d| format!("{:e}", by * value(n, d)))
}

/// Runs a command that succeeds; returns standard error.
fn said(folder: &Path, words: &str) -> String {
    let o = run(folder, words);
    let err = String::from_utf8_lossy(&o.stderr).into_owned();
    assert!(o.status.success(), "polyview {words}: {err}");
    err
}

/// The lines that begin so.
fn lines(err: &str, kind: &str) -> Vec<String> {
    err.lines()
        .filter(|l| l.starts_with(kind))
        .map(str::to_owned)
        .collect()
}

fn has(text: &str, words: &[&str]) {
    for w in words {
        assert!(text.contains(w), "'{w}' is not in: {text}");
    }
}

/// Fits the view `x` of x.csv, which succeeds; returns standard error.
fn fitted(at: &Path, more: &str) -> String {
    said(
        at,
        &format!("fit --model mofa --view x=x.csv:gaussian -k 2 --out m.pv --force {more}"),
    )
}

#[test]
fn constant_tiny_and_empty_features_are_said_at_the_fit() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    put(at, "x.csv", times(1.0));
    assert_eq!(lines(&fitted(at, ""), "warning:"), [""; 0]);
    assert_eq!(lines(&fitted(at, ""), "note:"), [""; 0]);

    put(at, "x.csv", table(SAMPLES, |_, _| "3.5".into()));
    has(
        &fitted(at, ""),
        &[
            "warning: data/x: none of its features varies",
            "leave it out",
        ],
    );
    put(at, "x.csv", times(1e-300));
    has(
        &fitted(at, ""),
        &[
            "warning: data/x: 6 of 6 feature(s) vary by so little",
            "power of ten",
        ],
    );
    let one = |cell: &str| {
        let cell = cell.to_owned();
        let of = move |n, d| match d {
            2 => cell.clone(),
            _ => value(n, d).to_string(),
        };
        table(SAMPLES, of)
    };
    put(at, "x.csv", one("3.5"));
    has(
        &fitted(at, ""),
        &["note: data/x: 1 feature(s) do not vary, first 'g2'"],
    );
    put(at, "x.csv", one(""));
    has(
        &fitted(at, ""),
        &[
            "note: data/x: 1 feature(s) have no observed value",
            "first 'g2'",
        ],
    );
    // views on disk likewise
    put(at, "x.csv", table(SAMPLES, |_, _| "3.5".into()));
    has(
        &fitted(at, "--engine stochastic --batch 10"),
        &["warning: data/x: none of its features varies"],
    );
    put(at, "x.csv", times(1e-300));
    has(
        &fitted(at, "--engine stochastic --batch 10"),
        &["warning: data/x: 6 of 6 feature(s) vary by so little"],
    );
    assert!(!fitted(at, "--quiet").contains("warning"));
}

#[test]
fn many_lines_about_one_block_are_summed_up() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    // ten of eleven labels are the same for all
    let mut text = format!(
        "id,{}\n",
        (0..11)
            .map(|d| format!("l{d}"))
            .collect::<Vec<_>>()
            .join(",")
    );
    for n in 0..SAMPLES {
        let label = |d: usize| {
            if d == 0 {
                (n % 2).to_string()
            } else {
                "1".into()
            }
        };
        let labels: Vec<String> = (0..11).map(label).collect();
        let _ = writeln!(text, "s{n},{}", labels.join(","));
    }
    put(at, "y.csv", text);
    let err = said(
        at,
        "fit --model sshiba --view y=y.csv:bernoulli -k 1 --max-sweeps 5 --out m.pv",
    );
    let about = lines(&err, "note: likelihood/y");
    assert_eq!(about.len(), 6, "{err}");
    has(&about[5], &["5 more like these", "inspect --journal"]);
}

#[test]
fn values_too_large_to_square_are_refused_where_they_stand() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    let large = |n, d| match (n, d) {
        (3, 2) => "-1e300".to_owned(),
        _ => value(n, d).to_string(),
    };
    put(at, "good.csv", times(1.0));
    put(at, "x.csv", table(SAMPLES, large));
    let words = [
        "x.csv",
        "'s3'",
        "'g2'",
        "-1e300",
        "too large",
        "power of ten",
    ];
    let fit = "fit --model mofa --view x=x.csv:gaussian -k 2 --out m.pv";
    has(&fails(at, fit, 1), &words);
    let on_disk = format!("{fit} --engine stochastic --batch 10");
    // the engine knows the view, not its file
    has(
        &fails(at, &on_disk, 1),
        &["view 'x'", "'s3'", "'g2'", "-1e300", "power of ten"],
    );
    said(
        at,
        "fit --model mofa --view x=good.csv:gaussian -k 2 --out good.pv",
    );
    has(
        &fails(at, "project good.pv --view x=x.csv --out z.csv", 1),
        &words,
    );
    // the largest that is taken goes through every step
    for scaling in ["none", "view", "feature"] {
        put(at, "x.csv", times(5e68));
        said(at, &format!("{fit} --force --scaling {scaling}"));
        said(at, "impute m.pv --view x --out f.csv --force");
        said(at, "project m.pv --view x=x.csv --out z.csv --force");
        let z = get(at, "z.csv");
        assert!(!z.contains("inf") && !z.contains("NaN"), "{z}");
    }
}

#[test]
fn samples_without_a_value_take_no_part() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    let blank = [3, 7, 20];
    let holes = |n: usize, d| {
        if blank.contains(&n) {
            String::new()
        } else {
            value(n, d).to_string()
        }
    };
    put(at, "x.csv", table(SAMPLES, holes));
    let note = "note: data: 3 sample(s) have no observed value in any view and take no part: \
                's3', 's7', 's20'";
    has(&fitted(at, ""), &[note, "27 samples, 1 view(s)"]);
    let journal = String::from_utf8(run(at, "inspect m.pv --journal").stdout).expect("text");
    has(&journal, &["'s3', 's7', 's20'"]);
    // the fit is that of the table without these lines
    let whole = get(at, "x.csv");
    let rest = whole.lines().filter(|l| !l.ends_with(",,,,,"));
    put(at, "rest.csv", rest.collect::<Vec<_>>().join("\n") + "\n");
    said(at, "export m.pv --factors a.csv");
    said(
        at,
        "fit --model mofa --view x=rest.csv:gaussian -k 2 --out m.pv --force",
    );
    said(at, "export m.pv --factors b.csv");
    assert_eq!(get(at, "a.csv"), get(at, "b.csv"));
    // groups, and a second view that has one of them
    put(at, "y.csv", "sample,h\ns3,1\ns1,2\ns0,4\ns5,3.5\n");
    put(
        at,
        "about.csv",
        (0..SAMPLES).fold("sample,batch\n".to_owned(), |t, n| {
            // one group has no sample left
            let group = if n == 7 || n == 20 {
                "c"
            } else {
                ["a", "b"][n % 2]
            };
            t + &format!("s{n},{group}\n")
        }),
    );
    let err = fitted(
        at,
        "--view y=y.csv:gaussian --metadata about.csv --groups batch --group-noise",
    );
    has(
        &err,
        &["2 sample(s) have no observed value in any view and take no part: 's7', 's20'"],
    );
}

#[test]
fn new_data_far_off_the_training_data_are_warned_of() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    put(at, "x.csv", times(1.0));
    fitted(at, "--no-data");
    let project = |view: &str| format!("project m.pv --view {view} --out z.csv --force");
    // the training samples, and others like them
    assert_eq!(lines(&said(at, &project("x=x.csv")), "warning:"), [""; 0]);
    put(at, "x3.csv", table(3, |n, d| value(n + 77, d).to_string()));
    assert_eq!(lines(&said(at, &project("x=x3.csv")), "warning:"), [""; 0]);
    for (factor, words) in [
        (
            1e3,
            &[
                "far off those of the training data: in 6 of 6 feature(s)",
                "about 1000 times as large",
                "units",
            ][..],
        ),
        (60.0, &["about 60 times as large"]),
        (1e-3, &["1000 times as small"]),
    ] {
        put(at, "new.csv", times(factor));
        let err = said(at, &project("x=new.csv"));
        let found = lines(&err, "warning: view 'x': ");
        assert_eq!(found.len(), 1, "{err}");
        has(&found[0], words);
    }
    // one sample alone
    put(
        at,
        "new.csv",
        table(1, |n, d| (1e3 * value(n, d)).to_string()),
    );
    let err = said(at, &project("x=new.csv"));
    has(&err, &["warning: view 'x'", "about 1000 times as large"]);
    // one feature alone, and the worst first
    put(
        at,
        "new.csv",
        table(SAMPLES, |n, d| {
            let by = [1.0, 1.0, 1e4, 1.0, 1e2, 1.0][d];
            (by * value(n, d)).to_string()
        }),
    );
    let err = said(at, &project("x=new.csv"));
    let found = lines(&err, "warning: view 'x': ");
    has(&found[0], &["2 of 6 feature(s)", "worst first: 'g2' ("]);
    assert!(found[0].find("'g2'") < found[0].find("'g4'"), "{err}");
    // no feature as a whole, but many cells
    put(
        at,
        "odd.csv",
        table(SAMPLES, |n, d| {
            (value(n, d) * if n % 3 == 0 { 50.0 } else { 1.0 }).to_string()
        }),
    );
    let err = said(at, &project("x=odd.csv"));
    has(
        &err,
        &[
            "warning: view 'x'",
            "33 % of them lie more than 5 standard deviations",
        ],
    );
    // powers of two where logarithms were, and the other way round
    put(
        at,
        "new.csv",
        table(SAMPLES, |n, d| (value(n, d).exp2() - 1.0).to_string()),
    );
    has(
        &said(at, &project("x=new.csv")),
        &["log2(1 + x) of them", "take logarithms"],
    );
    put(
        at,
        "x.csv",
        table(SAMPLES, |n, d| (value(n, d).exp2() - 1.0).to_string()),
    );
    put(at, "new.csv", times(1.0));
    fitted(at, "");
    has(
        &said(at, &project("x=new.csv")),
        &["look like logarithms", "2^x - 1 of them"],
    );
    // other numbers altogether
    put(at, "junk.csv", times(-1e5));
    has(
        &said(at, &project("x=junk.csv")),
        &["warning: view 'x'", "right file"],
    );
}

#[test]
fn predictions_and_counts_far_off_are_warned_of() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    let count = |by: f64| {
        table(SAMPLES, move |n, d| {
            (by * (value(n, d) * 0.4).exp().round()).to_string()
        })
    };
    put(at, "c.csv", count(1.0));
    put(at, "x.csv", times(1.0));
    let data = "--view x=x.csv:gaussian --view c=c.csv:pln";
    said(
        at,
        &format!("fit --model mofa {data} -k 2 --out m.pv --no-data"),
    );
    put(at, "c1000.csv", count(1000.0));
    put(at, "x1000.csv", times(1000.0));
    let predict = "predict m.pv --out z.csv --force";
    let err = said(at, &format!("{predict} --target x --view c=c.csv"));
    assert_eq!(lines(&err, "warning:"), [""; 0]);
    let err = said(at, &format!("{predict} --target x --view c=c1000.csv"));
    has(
        &err,
        &[
            "warning: view 'c': the new values are far off",
            "1000 times as large",
        ],
    );
    let err = said(at, &format!("{predict} --target c --view x=x1000.csv"));
    has(
        &err,
        &[
            "warning: view 'x': the new values are far off",
            "1000 times as large",
        ],
    );
}

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
        &["header of view 'y'", "'s0'", "--transposed"],
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
fn who_chose_the_algorithm_is_named() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    put(at, "x.csv", times(1.0));
    for more in [
        "--view x=x.csv:rank",
        "--view x=x.csv:gaussian --engine gibbs",
    ] {
        let err = fails(
            at,
            &format!("fit --model mofapy2 {more} -k 2 --out m.pv"),
            1,
        );
        has(&err, &["the model mofapy2"]);
        assert!(!err.contains("faithful"), "{err}");
    }
    let settled = "fit --model mofapy2 --view x=x.csv:gaussian --settle x -k 2 --out m.pv";
    let err = fails(at, settled, 1);
    assert!(
        err.contains("the model mofapy2") && !err.contains("faithful"),
        "{err}"
    );
    // whoever wrote it is told so
    put(
        at,
        "study.toml",
        "[[data]]\nname = \"x\"\npath = \"x.csv\"\nlikelihood = \"rank\"\n\
         [model]\nmodel = \"mofa\"\nfactors = 2\nalgorithm = \"faithful\"\n",
    );
    let err = fails(at, "fit --spec study.toml --out m.pv", 1);
    has(&err, &["algorithm = \"faithful\""]);
}

#[test]
fn single_values_far_off_are_named() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    let slip = |samples: usize, from: usize| {
        table(samples, move |n, d| match (n, d) {
            (3, 2) => "1e6".to_owned(),
            _ => value(n + from, d).to_string(),
        })
    };
    put(at, "x.csv", times(1.0));
    fitted(at, "");
    for samples in [8, 30] {
        put(at, "new.csv", slip(samples, 50));
        let err = said(at, "project m.pv --view x=new.csv --out z.csv --force");
        let found = lines(&err, "warning: view 'x': ");
        assert_eq!(found.len(), 1, "{err}");
        has(
            &found[0],
            &[
                "1 new value(s) lie more than 100 standard deviations",
                "sample 's3', feature 'g2' (",
            ],
        );
    }
    // in the training data likewise
    put(at, "x.csv", slip(SAMPLES, 0));
    let err = fitted(at, "");
    has(
        &err,
        &[
            "note: data/x: 1 value(s) more than 1000 standard deviations from the middle",
            "(sample 's3', feature 'g2')",
        ],
    );
}

#[test]
fn what_rounding_decides_is_said() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    put(
        at,
        "x.csv",
        table(SAMPLES, |n, d| format!("{:e}", 1e15 + value(n, d))),
    );
    for more in ["", "--engine stochastic --batch 10"] {
        let err = fitted(at, more);
        has(
            &err,
            &[
                "warning: data/x: 6 of 6 feature(s) vary by so little next to their mean",
                "rounding",
            ],
        );
        assert!(!err.contains("none of its features varies"), "{err}");
    }
    // what cannot be squared is not said to be explained
    put(at, "x.csv", times(1e-155));
    let o = run(
        at,
        "fit --model mofa --view x=x.csv:gaussian -k 2 --out m.pv --force",
    );
    let err = String::from_utf8_lossy(&o.stderr);
    has(
        &err,
        &[
            "6 of 6 feature(s) vary by so little that",
            "cannot be scaled",
        ],
    );
    let out = String::from_utf8_lossy(&o.stdout);
    let shares = out.lines().last().expect("a table");
    assert!(
        shares.starts_with('x') && !shares.contains(|c: char| c.is_ascii_digit()),
        "{out}"
    );
}

#[test]
fn a_view_that_shares_no_sample_is_warned_of() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    put(at, "x.csv", times(1.0));
    put(at, "y.csv", times(2.0));
    let fit =
        "fit --model mofa --view x=x.csv:gaussian --view y=y.csv:gaussian -k 2 --out m.pv --force";
    assert_eq!(lines(&said(at, fit), "warning:"), [""; 0]);
    put(at, "z.csv", times(3.0).replace("\ns", "\npatient"));
    let err = said(at, &format!("{fit} --view z=z.csv:gaussian"));
    let found = lines(&err, "warning: data: view ");
    assert_eq!(found.len(), 1, "{err}");
    has(&found[0], &["view 'z' shares no sample ID", "'patient0'"]);
}

#[test]
fn the_mend_of_a_fit_that_stopped_is_that_of_the_command() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    put(at, "x.csv", times(1.0));
    let err = fitted(at, "--max-sweeps 2");
    has(
        &err,
        &[
            "limit of 2 sweeps",
            "note: fit again with a larger --max-sweeps",
            "--checkpoint FILE",
        ],
    );
    let err = fitted(at, "--max-sweeps 2 --checkpoint c.ckpt");
    has(
        &err,
        &["note: go on with --resume c.ckpt and a larger --max-sweeps"],
    );
    let err = fitted(at, "--engine stochastic --batch 10 --epochs 1");
    has(
        &err,
        &[
            "limit of 1 epochs",
            "note: fit again with a larger --epochs",
        ],
    );
    assert!(!err.contains("--resume"), "{err}");
}

#[test]
fn models_without_their_data_say_how_to_have_them() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    put(at, "x.csv", times(1.0));
    for (more, mend, other) in [
        ("--no-data", "without --no-data", "--in-memory"),
        (
            "--engine stochastic --batch 10",
            "--in-memory",
            "again, or save",
        ),
    ] {
        fitted(at, more);
        for words in [
            "inspect m.pv --checks",
            "impute m.pv --view x --out f.csv",
            "report m.pv --checks --out r.html",
        ] {
            let err = fails(at, words, 1);
            assert!(err.contains(mend) && !err.contains(other), "{words}: {err}");
        }
        let text = String::from_utf8(run(at, "inspect m.pv").stdout).expect("text");
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        has(
            &text,
            &["data not kept: ", mend, "no table of variance explained"],
        );
    }
    // batches that the factors cannot start from
    let err = fails(
        at,
        "fit --view x=x.csv:gaussian -k 6 --engine stochastic --batch 0.1 --out n.pv",
        1,
    );
    has(
        &err,
        &["too small for 6 factors", "--batch", "more than 6 samples"],
    );
    said(
        at,
        "fit --view x=x.csv:gaussian -k 6 --engine stochastic --batch 7 --out n.pv",
    );
}
