//! What new users ran into: one rule whatever else a batch holds, and messages that name the mend.

use std::fmt::Write;
use std::path::Path;

use crate::common::{fails, get, ok, put, run, said};

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A view of `columns` features that follow one factor, the last cell of each row from `last`.
fn table(columns: usize, samples: usize, last: impl Fn(usize) -> Option<f64>) -> String {
    let mut text = "id".to_owned();
    (0..columns).for_each(|d| _ = write!(text, ",f{d}"));
    for n in 0..samples {
        let z = ((n * 5) % 12) as f64 / 6.0 - 1.0;
        let _ = write!(text, "\ns{n}");
        for d in 0..columns {
            let wobble = ((n * 7 + d * 11) % 13) as f64 / 13.0;
            let own = z * (1.0 + (d % 3) as f64) + wobble;
            let x = last(n).filter(|_| d + 1 == columns).unwrap_or(own);
            let _ = write!(text, ",{x}");
        }
    }
    text + "\n"
}

/// Numbers of 24 samples that follow nothing.
fn noise(columns: usize, seed: u64) -> String {
    let mut state = seed;
    let mut number = || {
        state =
            (state.wrapping_mul(6_364_136_223_846_793_005)).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / f64::from(1 << 24)
    };
    let mut text = "id".to_owned();
    (0..columns).for_each(|d| _ = write!(text, ",g{d}"));
    for n in 0..24 {
        let _ = write!(text, "\ns{n}");
        (0..columns).for_each(|_| _ = write!(text, ",{}", number()));
    }
    text + "\n"
}

fn labels(at: &Path, name: &str, values: &[&str]) {
    let mut text = "id,y\n".to_owned();
    for n in 0..24 {
        let _ = writeln!(text, "s{n},{}", values[n % values.len()]);
    }
    put(at, name, text);
}

fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    put(dir.path(), "x.csv", table(5, 24, |_| None));
    dir
}

/// An empty cell of the group says the same of a sample alone as of one among others.
#[test]
fn a_sample_without_a_group_is_of_any_alone_and_among_others() {
    let dir = folder();
    let at = dir.path();
    let mut who = "id,clinic\n".to_owned();
    for n in 0..24 {
        let _ = writeln!(who, "s{n},{}", if n % 2 == 0 { "north" } else { "south" });
    }
    put(at, "who.csv", &who);
    ok(
        at,
        "fit --model mofa --view x=x.csv:gaussian --metadata who.csv --groups clinic -k 1 --max-sweeps 30 --out m.pv",
    );
    put(at, "gaps.csv", who.replace("s3,south", "s3,"));
    let x = get(at, "x.csv");
    let alone: Vec<&str> = x
        .lines()
        .filter(|l| l.starts_with("id") || l.starts_with("s3,"))
        .collect();
    put(at, "alone.csv", alone.join("\n") + "\n");
    let factor = |view: &str| {
        let project = format!(
            "project m.pv --view x={view} --metadata gaps.csv --groups clinic --out z.csv --force"
        );
        ok(at, &project);
        let z = get(at, "z.csv");
        let line = z.lines().find(|l| l.starts_with("s3,")).expect("a row");
        line.to_owned()
    };
    assert_eq!(factor("alone.csv"), factor("x.csv"));
    // IDs of which none is in the table are a mistake still
    put(at, "other.csv", who.replace("\ns", "\nmouse"));
    let err = fails(
        at,
        "project m.pv --view x=alone.csv --metadata other.csv --groups clinic --out z.csv --force",
        1,
    );
    assert!(
        one_line(&err).contains("none of its samples is one of the data"),
        "{err}"
    );
}

/// Labels are held against the model as views are.
#[test]
fn labels_of_another_likelihood_are_refused() {
    let dir = folder();
    let at = dir.path();
    labels(at, "y.csv", &["no", "yes", "yes"]);
    ok(
        at,
        "fit --model sshiba --view x=x.csv:gaussian --labels y.csv:svm -k 1 --max-sweeps 20 --out m.pv",
    );
    ok(
        at,
        "project m.pv --view x=x.csv --labels y.csv:svm --out z.csv",
    );
    let err = fails(
        at,
        "project m.pv --view x=x.csv --labels y.csv:bernoulli --out z.csv --force",
        2,
    );
    let err = one_line(&err);
    assert!(
        err.contains("view 'y' is svm in this model, not bernoulli; leave ':bernoulli' out"),
        "{err}"
    );
}

#[test]
fn labels_of_five_classes_are_sent_to_a_view() {
    let dir = folder();
    let at = dir.path();
    let fit = "fit --model sshiba --view x=x.csv:gaussian -k 1 --out m.pv";
    labels(at, "five.csv", &["a", "b", "c", "d", "e"]);
    let err = one_line(&fails(
        at,
        &format!("{fit} --labels five.csv:categorical"),
        2,
    ));
    assert!(
        err.contains("'five.csv', column 'y' has 5 values")
            && err.contains("--view y=FILE:categorical"),
        "{err}"
    );
    labels(at, "two.csv", &["a", "b"]);
    let err = one_line(&fails(
        at,
        &format!("{fit} --labels two.csv:categorical"),
        2,
    ));
    assert!(err.contains("choose bernoulli"), "{err}");
}

#[test]
fn a_study_of_random_bytes_is_no_text() {
    let dir = folder();
    put(dir.path(), "random.toml", [0xff_u8, 0xfe, 0x00, 0x9f, 0x8b]);
    let o = run(dir.path(), "fit --spec random.toml --out m.pv");
    let err = one_line(&String::from_utf8_lossy(&o.stderr));
    assert!(!o.status.success(), "{err}");
    assert!(
        err.contains("it is no text, so it is no study file (TOML)")
            && err.contains("--view NAME=FILE"),
        "{err}"
    );
}

/// A feature that varies by rounding alone is told of once, and not to be given the scale that it has.
#[test]
fn near_constant_features_have_one_warning() {
    let dir = folder();
    let at = dir.path();
    let last = |n: usize| Some(1e6 + if n.is_multiple_of(2) { 0.0 } else { 1e-9 });
    put(at, "near.csv", table(5, 24, last));
    for scaling in ["feature", "view"] {
        let err = said(
            at,
            &format!(
                "fit --model mofa --view x=near.csv:gaussian --scaling {scaling} -k 1 --max-sweeps 20 --out m.pv --force"
            ),
        );
        assert!(err.contains("'f4'"), "{err}");
        assert!(!err.contains("give each feature its own scale"), "{err}");
    }
}

/// In batches, features are settled before their values are read: one that does not vary stays, and that
/// is said.
#[test]
fn a_constant_feature_in_batches_stays_and_is_told() {
    let dir = folder();
    let at = dir.path();
    put(at, "same.csv", table(5, 24, |_| Some(3.0)));
    let err = said(
        at,
        "fit --model mofa --engine stochastic --batch 8 --epochs 3 --view x=same.csv:gaussian -k 1 --out m.pv",
    );
    assert!(
        err.contains("1 feature(s) do not vary, first 'f4', and stay in the model"),
        "{err}"
    );
}

#[test]
fn one_is_no_plural() {
    let dir = folder();
    let err = said(
        dir.path(),
        "fit --model mofa --view x=x.csv:gaussian -k 1 --max-sweeps 20 --out m.pv",
    );
    assert!(
        err.contains("24 samples, 1 view(s) x: 24 samples x 5 features"),
        "{err}"
    );
    put(dir.path(), "one.csv", "id,f0,f1,f2,f3,f4\nn1,1,2,3,1,2\n");
    let err = said(dir.path(), "project m.pv --view x=one.csv --out z.csv");
    assert!(err.contains("1 sample projected to z.csv"), "{err}");
}

/// Numbers of normal noise are for bibfa, whatever limits they have; all else is not, and the reason names which are.
#[test]
fn bibfa_takes_numbers_of_normal_noise() {
    let dir = folder();
    let at = dir.path();
    put(
        at,
        "c.csv",
        table(5, 24, |_| None).replace("\ns1,", "\ns1,<"),
    );
    let fit = "fit --model bibfa --view x=x.csv -k 1 --max-sweeps 20 --force --out m.pv";
    ok(at, &format!("{fit} --view c=c.csv:censored"));
    put(at, "o.csv", table(5, 24, |n| Some((n % 3) as f64)));
    let err = one_line(&fails(at, &format!("{fit} --view o=o.csv:ordinal"), 2));
    assert!(
        err.contains("ordinal views are not for bibfa, which knows numbers with normal noise alone (gaussian, censored, survival)"),
        "{err}"
    );
}

/// Classical projections say where their numbers say nothing.
#[test]
fn what_says_nothing_is_told() {
    let dir = folder();
    let at = dir.path();
    labels(at, "y.csv", &["a", "b", "c"]);
    let few = "1: so few signs agree by chance";
    let bagged = "mva --method rb-cca --view x=x.csv --labels y.csv --ridge 1 --bags";
    assert!(said(at, &format!("{bagged} 1")).contains(few));
    assert!(!said(at, &format!("{bagged} 20")).contains("by chance"));
    put(at, "wide.csv", noise(30, 1));
    let perfect = "view 'x' and the classes of 'y' vary in 23 and 2 directions, and 24 samples in 23 at most: without a penalty the \
                   first 2 correlations are 1 whatever the data are";
    let cca = "mva --method cca --form primal --labels y.csv";
    let of = |words: &str| said(at, &format!("{cca} {words}"));
    let certain = "whatever the data are";
    let told = one_line(&of("--view x=wide.csv --ridge 0"));
    assert!(told.contains(perfect), "{told}");
    assert!(!of("--view x=wide.csv --ridge 1").contains(certain));
    assert!(!of("--view x=x.csv --ridge 0").contains(certain));
    // two views that do not span the samples alone, together do
    put(at, "half.csv", noise(12, 2));
    put(at, "other.csv", noise(14, 3));
    let of = |words: &str| one_line(&said(at, &format!("mva --method cca -k 1 {words}")));
    let pair = "--view x=half.csv --view y=other.csv";
    let told = of(pair);
    let perfect = "views 'x' and 'y' vary in 12 and 14 directions, and 24 samples in 23 at most: without a penalty the first 3";
    assert!(told.contains(perfect), "{told}");
    assert!(!of(&format!("{pair} --ridge 1")).contains(certain));
    assert!(!of("--view x=x.csv --view y=other.csv").contains(certain));
}
