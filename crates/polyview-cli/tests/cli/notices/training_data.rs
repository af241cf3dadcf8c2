//! What is said of the data of a fit.

use std::fmt::Write;

use super::{SAMPLES, fitted, has, lines, said, table, times, value};
use crate::common::{fails, get, put, run};

#[test]
fn constant_tiny_and_empty_features_are_said_at_the_fit() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    put(at, "x.csv", times(1.0));
    assert_eq!(lines(&fitted(at, ""), "warning:"), [""; 0]);
    let notes = lines(&fitted(at, ""), "note:");
    assert!(
        notes.len() == 1 && notes[0].contains("were kept"),
        "{notes:?}"
    );

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
    put(at, "x.csv", times(1e-300));
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

/// Numbers whose squares underflow are fitted as others are, where they are scaled, and
/// warned of where they are not.
#[test]
fn values_too_small_to_square_are_scaled_or_warned_of() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    put(at, "one.csv", times(1.0));
    let fit = |file: &str, more: &str| {
        said(
            at,
            &format!("fit --view x={file}:gaussian -k 3 --seed 2 --out m.pv --force {more}"),
        )
    };
    for engine in [
        "--start svd --no-intercepts",
        "--engine gibbs --sweeps 20 --warm-up 10",
        "--engine stochastic --batch 10",
    ] {
        for power in [150, 158, 161, 200] {
            put(at, "x.csv", times(10f64.powi(-power)));
            for scaling in ["feature", "view"] {
                let err = fit("x.csv", &format!("{engine} --scaling {scaling}"));
                assert!(!err.contains("so little"), "{err}");
                said(at, "project m.pv --view x=x.csv --out a.csv --force");
                fit("one.csv", &format!("{engine} --scaling {scaling}"));
                said(at, "project m.pv --view x=one.csv --out b.csv --force");
                if engine.contains("gibbs") {
                    // a chain goes its own way from the first rounding on
                    continue;
                }
                // the same factors, to the rounding of the values
                let numbers = |name: &str| -> Vec<f64> {
                    let text = get(at, name);
                    let cells = text.lines().skip(1).flat_map(|l| l.split(',').skip(1));
                    cells.map(|c| c.parse().expect("a number")).collect()
                };
                let (a, b) = (numbers("a.csv"), numbers("b.csv"));
                assert_eq!(a.len(), b.len(), "{engine} {power} {scaling}");
                for (a, b) in a.iter().zip(&b) {
                    assert!((a - b).abs() < 1e-6, "{engine} {power} {scaling}: {a} {b}");
                }
            }
            if power > 154 {
                let err = fit("x.csv", &format!("{engine} --scaling none"));
                has(
                    &err,
                    &[
                        "warning: data/x: 6 of 6 feature(s) vary by so little",
                        "power of ten",
                    ],
                );
            }
        }
    }
}
