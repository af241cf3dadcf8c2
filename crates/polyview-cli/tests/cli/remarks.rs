//! What is said of data that will not do: mixed units, shifts, features that were left
//! out, numbers for classes.

use std::fmt::Write;
use std::path::Path;

use crate::common::{fails, get, ok, put, said};

const N: usize = 40;

/// Uniform between -1 and 1, by place.
fn number(n: usize, d: usize) -> f64 {
    let mut x = (n as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)
        ^ (d as u64 + 1).wrapping_mul(0xD1B5_4A32_D192_ED03);
    x = (x ^ (x >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x ^= x >> 32;
    (x >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

/// A table of one factor and noise, each feature on its scale.
fn table(at: &Path, name: &str, scales: &[f64], from: usize, shift: f64) {
    let mut text = "id".to_owned();
    for d in 0..scales.len() {
        let _ = write!(text, ",f{d}");
    }
    text.push('\n');
    for n in from..from + N {
        let _ = write!(text, "p{n}");
        for (d, scale) in scales.iter().enumerate() {
            let x = number(n, 0) + 0.5 * number(n, d + 7) + 0.3 * number(d, 900);
            let _ = write!(text, ",{:.5}", scale * x + shift);
        }
        text.push('\n');
    }
    put(at, name, text);
}

#[test]
fn few_features_that_make_nearly_all_the_variance() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    let mut scales = vec![1.0; 12];
    scales[3] = 20_000.0;
    scales[5] = 300.0;
    table(at, "mixed.csv", &scales, 0, 0.0);
    // as genes are: standard deviations over a factor of twenty
    let even: Vec<f64> = (0..12).map(|d| 20f64.powf(f64::from(d) / 11.0)).collect();
    table(at, "even.csv", &even, 0, 0.0);
    table(at, "y.csv", &[1.0; 4], 0, 0.0);
    let fit = |x: &str, more: &str| {
        let words =
            format!("fit --view x={x} --view y=y.csv:gaussian -k 2 --out m.pv --force {more}");
        said(at, &words)
    };
    let err = fit("mixed.csv:gaussian", "--model mofa");
    for part in [
        "warning: data/x: 2 of 12 features make 99 % of the variance of the view, above all 'f3'",
        "--scaling feature",
        "10 of 12 feature(s) vary by less, in the units of the fit, than the prior of their noise",
    ] {
        assert!(err.contains(part), "{part}: {err}");
    }
    for (x, more) in [
        ("mixed.csv:gaussian", "--model mofa --scaling feature"),
        ("mixed.csv", ""),
        ("even.csv:gaussian", "--model mofa"),
    ] {
        let err = fit(x, more);
        assert!(!err.contains("of the variance"), "{x} {more}: {err}");
        assert!(
            !err.contains("the prior of their noise"),
            "{x} {more}: {err}"
        );
    }
    let err = fit("mixed.csv", "--scaling none");
    assert!(err.contains("of the variance of the view"), "{err}");
}

#[test]
fn a_shift_is_no_logarithm() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    table(at, "y.csv", &[1.0; 4], 0, 0.0);
    // negative means; means above zero, where the logarithms would vary too little; and far
    // above it, where another unit would change what they vary by, too
    for (scale, shift, new) in [(3.0, 0.0, 50.0), (1.0, 0.4, 10.0), (0.5, 3.0, 20.0)] {
        table(at, "x.csv", &[scale; 8], 0, shift);
        table(at, "new.csv", &[scale; 8], N, new);
        ok(
            at,
            "fit --view x=x.csv --view y=y.csv -k 1 --force --out m.pv",
        );
        let err = said(at, "project m.pv --view x=new.csv --force --out z.csv");
        assert!(err.contains("far off those of the training data"), "{err}");
        assert!(!err.contains("take logarithms"), "{err}");
        assert!(!err.contains("in the units"), "{err}");
    }
}

#[test]
fn features_that_were_left_out_are_known() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    table(at, "x.csv", &[1.0, 1.0, 0.0, 1.0, 0.0, 1.0], 0, 0.0);
    table(at, "y.csv", &[1.0; 3], 0, 0.0);
    table(at, "new.csv", &[1.0; 7], N, 0.0);
    ok(
        at,
        "fit --view x=x.csv --view y=y.csv -k 1 --out m.pv --no-data",
    );
    let err = said(at, "predict m.pv --view x=new.csv --target y --out p.csv");
    for part in [
        "2 feature(s) did not vary in the training data, were left out of the model and were ignored, first 'f2'",
        "1 feature(s) are unknown to the model and were ignored, first 'f6'",
    ] {
        assert!(err.contains(part), "{part}: {err}");
    }
}

#[test]
fn probabilities_of_trials_are_of_a_success() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    table(at, "x.csv", &[1.0; 4], 0, 0.0);
    let mut wins = "id,w,v\n".to_owned();
    let mut trials = wins.clone();
    for n in 0..N {
        let w = (5.0 + 4.0 * number(n, 0)) as u32;
        let _ = writeln!(wins, "p{n},{w},{}", 10 - w);
        let _ = writeln!(trials, "p{n},10,10");
    }
    put(at, "wins.csv", wins);
    put(at, "trials.csv", trials);
    ok(
        at,
        "fit --model sshiba --view x=x.csv:gaussian --view wins=wins.csv --trials wins=trials.csv -k 1 --out m.pv",
    );
    let err = said(at, "predict m.pv --view x=x.csv --target wins --out p.csv");
    assert!(err.contains("(probabilities are of a success)"), "{err}");
    let first = |file: &str| -> f64 {
        let text = get(at, file);
        let cell = text
            .lines()
            .nth(1)
            .and_then(|l| l.split(',').nth(1).map(str::to_owned));
        cell.and_then(|c| c.parse().ok()).expect("a number")
    };
    // of a probability alone its own uncertainty, not that of a single trial
    let target = "--target wins --force --out p.csv --sd sd.csv";
    ok(at, &format!("predict m.pv --view x=x.csv {target}"));
    let p = first("p.csv");
    assert!(
        first("sd.csv") < 0.6 * (p * (1.0 - p)).sqrt(),
        "{} {p}",
        first("sd.csv")
    );
    let err = fails(
        at,
        "predict m.pv --view x=x.csv --target wins --out p.csv --force --lower l.csv",
        2,
    );
    assert!(err.contains("--trials wins=FILE"), "{err}");
    // out of trials counts, with their intervals
    let err = said(
        at,
        &format!(
            "predict m.pv --view x=x.csv --trials wins=trials.csv {target} --lower l.csv --upper u.csv"
        ),
    );
    assert!(err.contains("(expected successes)"), "{err}");
    assert!((first("p.csv") - 10.0 * p).abs() < 1e-9);
    let (low, high) = (first("l.csv"), first("u.csv"));
    assert!(low <= first("p.csv") && first("p.csv") <= high && high <= 10.0);
    assert!(low.fract() == 0.0 && high.fract() == 0.0 && first("sd.csv") > 0.3);
    put(
        at,
        "bad.csv",
        get(at, "trials.csv").replace("p0,10", "p0,2.5"),
    );
    let err = fails(
        at,
        &format!("predict m.pv --view x=x.csv --trials wins=bad.csv {target}"),
        1,
    );
    assert!(err.contains("2.5 is no number of trials"), "{err}");
}

#[test]
fn numbers_are_no_classes() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    let (mut truth, mut means, mut classes) = (
        "id,c\n".to_owned(),
        "id,c\n".to_owned(),
        "id,c\n".to_owned(),
    );
    for n in 0..N {
        let _ = writeln!(truth, "p{n},{}", n % 3);
        // some filled, some as they were
        let mean = if n % 4 == 0 {
            (n % 3) as f64
        } else {
            1.0 + number(n, 3)
        };
        let _ = writeln!(means, "p{n},{mean}");
        // 3 is a class of the predictions alone
        let _ = writeln!(classes, "p{n},{}", n % 4);
    }
    put(at, "truth.csv", truth);
    put(at, "means.csv", means);
    put(at, "classes.csv", classes);
    let err = fails(
        at,
        "score --truth truth.csv --predicted means.csv --kind categorical",
        1,
    );
    let err = err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        err.contains("means.csv")
            && err.contains("which is no class")
            && err.contains("--kind real"),
        "{err}"
    );
    ok(
        at,
        "score --truth truth.csv --predicted classes.csv --kind categorical",
    );
}

#[test]
fn one_table_as_two_views_is_told() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    table(at, "x.csv", &[1.0; 5], 0, 0.0);
    table(at, "y.csv", &[1.0; 5], 0, 2.0);
    let fit = "fit --model bibfa -k 2 --max-sweeps 5 --force --out m.pv --view x=x.csv";
    let err = said(at, &format!("{fit} --view y=x.csv"));
    assert!(err.contains("the very values of view 'x'"), "{err}");
    let err = said(
        at,
        &format!("{fit} --view y=y.csv --scaling none --centring none"),
    );
    assert!(!err.contains("the very values"), "{err}");
}

/// A table with these columns, number n of each in sample n.
fn columns(at: &Path, name: &str, cell: &dyn Fn(usize, usize) -> String) {
    let mut text = "id,a,b,c,d,e,f\n".to_owned();
    for n in 0..N {
        let _ = write!(text, "p{n}");
        for d in 0..6 {
            let _ = write!(text, ",{}", cell(n, d));
        }
        text.push('\n');
    }
    put(at, name, text);
}

#[test]
fn one_step_below_the_others_is_no_code() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    let of = |n: usize, d: usize, levels: usize| ((n * 7 + d * 3) % levels) as i64;
    columns(at, "signs.csv", &|n, d| (of(n, d, 3) - 1).to_string());
    columns(at, "ages.csv", &|n, d| match n % 9 {
        0 => "-1".to_owned(),
        _ => (20 + of(n, d, 40)).to_string(),
    });
    let fit = |x: &str| {
        said(
            at,
            &format!("fit --view x={x}:gaussian -k 1 --out m.pv --force"),
        )
    };
    assert!(!fit("signs.csv").contains("stands in"));
    assert!(fit("ages.csv").contains("-1 stands in"));
}

#[test]
fn classes_that_are_one_number_are_named() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    table(at, "x.csv", &[1.0; 5], 0, 0.0);
    let mut text = "id,k\n".to_owned();
    for n in 0..N {
        let _ = writeln!(text, "p{n},{}", ["1", "2", "1.0"][n % 3]);
    }
    put(at, "k.csv", text);
    let err = said(
        at,
        "fit --model sshiba --view x=x.csv:gaussian --view k=k.csv:categorical -k 2 --out m.pv",
    );
    assert!(
        err.contains("the classes '1' and '1.0' differ in how a number is written alone"),
        "{err}"
    );
}

#[test]
fn a_fit_that_came_to_nothing_for_its_scale_names_the_scale() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    table(at, "x.csv", &[0.003; 8], 0, 0.0);
    let err = said(
        at,
        "fit --model mofa --view x=x.csv:gaussian --scaling none --out m.pv",
    );
    for part in ["left", "view 'x' is not scaled", "take --scaling view"] {
        assert!(err.contains(part), "{part}: {err}");
    }
    let err = said(
        at,
        "fit --model mofa --view x=x.csv:gaussian --out m.pv --force",
    );
    assert!(!err.contains("is not scaled"), "{err}");
}
