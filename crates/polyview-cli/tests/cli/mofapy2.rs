//! Counts and labels as the published program has them: what is recorded, refused and said.

use crate::common::{fails, get, ok, put, said};
use crate::counts::table;

/// Counts about 6, and 0 or 1 by the same factor.
fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    let z = |n: usize| ((n * 5) % 12) as f64 / 6.0 - 1.0;
    let noise = |n: usize, d: usize| ((n * 7 + d * 3 + n * d) % 5) as f64 - 2.0;
    let count = move |n: usize, d: usize| (6.0 + (2.0 * z(n) + noise(n, d))).round().max(0.0);
    put(
        dir.path(),
        "c.csv",
        table(36, 6, move |n, d| Some(count(n, d))),
    );
    let label = move |n: usize, d: usize| f64::from(u8::from(z(n) + 0.2 * noise(n, d) > 0.6));
    put(
        dir.path(),
        "b.csv",
        table(36, 4, move |n, d| Some(label(n, d))),
    );
    let real = move |n: usize, d: usize| Some(z(n) * (d + 1) as f64 + 0.1 * noise(n, d));
    put(dir.path(), "x.csv", table(36, 5, real));
    dir
}

#[test]
fn counts_of_mofapy2_have_the_rate_that_they_are_computed_with() {
    let dir = folder();
    let at = dir.path();
    let fit = |options: &str, out: &str| {
        format!(
            "fit --model mofapy2 --view c=c.csv:poisson{options} -k 2 --max-sweeps 60 --out {out}"
        )
    };
    ok(at, &fit("", "m.pv"));
    let spec = ok(at, "inspect m.pv --spec");
    assert!(
        spec.contains("rate = \"softplus\"") && spec.contains("curvature = \"feature\""),
        "{spec}"
    );
    ok(at, &fit("{rate=softplus}", "n.pv"));
    assert_eq!(spec, ok(at, "inspect n.pv --spec"));
    // a study that was written out is fitted as it stands
    put(
        at,
        "study.toml",
        ok(at, &format!("{} --dry-run", fit("", "o.pv"))),
    );
    ok(at, "fit --spec study.toml --out o.pv");
    for asked in ["rate=exponential", "curvature=cell"] {
        let err = fails(at, &fit(&format!("{{{asked}}}"), "p.pv"), 1);
        let err = err.split_whitespace().collect::<Vec<_>>().join(" ");
        let has = if asked.starts_with("rate") {
            "poisson{rate=softplus}"
        } else {
            "poisson{curvature=feature}"
        };
        assert!(
            err.contains(asked) && err.contains("mofapy2") && err.contains(has),
            "{err}"
        );
    }
    // the other models are as they were
    ok(
        at,
        "fit --model mofa --view c=c.csv:poisson -k 2 --max-sweeps 9 --out q.pv",
    );
    assert!(ok(at, "inspect q.pv --spec").contains("rate = \"exponential\""));
    if cfg!(feature = "hdf5") {
        ok(at, "export m.pv --format mofa2 m.hdf5");
    }
}

#[test]
fn predictions_without_the_level_of_the_data_are_warned_of() {
    let dir = folder();
    let at = dir.path();
    let views = "--view x=x.csv:gaussian --view c=c.csv:poisson --view b=b.csv:bernoulli";
    let fit = format!("fit --model mofapy2 {views} -k 2 --max-sweeps 60 --force --out m.pv");
    let words = |view: &str| {
        [
            format!("{view}: the algorithm of mofapy2 has no intercepts"),
            format!("view '{view}': the algorithm of mofapy2 has no intercepts"),
        ]
    };
    let told = said(at, &fit);
    for view in ["c", "b"] {
        assert!(told.contains(&words(view)[0]), "{told}");
        for verb in [
            format!("predict m.pv --view x=x.csv --target {view} --force --out p.csv"),
            format!("impute m.pv --view {view} --force --out p.csv"),
        ] {
            let told = said(at, &verb);
            assert!(told.contains(&words(view)[1]), "{verb}: {told}");
        }
    }
    // the spread about means that are not theirs says nothing, and what mends it is no rate
    assert!(!told.contains("times as much as Poisson"), "{told}");
    assert!(!told.contains("rate=exponential"), "{told}");
    // so it is: means of 6, predictions of 0.69
    ok(
        at,
        "predict m.pv --view x=x.csv --target c --force --out p.csv",
    );
    let text = get(at, "p.csv");
    let cells = text.lines().skip(1).flat_map(|l| l.split(',').skip(1));
    let all: Vec<f64> = cells.map(|x| x.parse().expect("a number")).collect();
    let mean = all.iter().sum::<f64>() / all.len() as f64;
    assert!(mean < 2.0, "{mean}");
    // numbers have their level
    let told = said(
        at,
        "predict m.pv --view c=c.csv --target x --force --out p.csv",
    );
    assert!(!told.contains("no intercepts"), "{told}");
    let told = said(at, &fit.replace("mofapy2", "mofa"));
    assert!(!told.contains("no intercepts"), "{told}");
}
