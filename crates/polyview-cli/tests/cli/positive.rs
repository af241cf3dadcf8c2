//! Numbers above 0 at the command line.

use crate::common::{fails, get, ok, put};
use crate::counts::table;

/// Concentrations that follow one factor.
fn level(n: usize, d: usize) -> f64 {
    let z = ((n * 5) % 12) as f64 / 6.0 - 1.0;
    let sign = if d.is_multiple_of(2) { 1.0 } else { -1.0 };
    let noise = ((n * 7 + d * 3) % 5) as f64;
    (1.2 * sign * z + 0.1 * noise + d as f64).exp()
}

fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    let seen = |n: usize, d: usize| ((n, d) != (3, 1)).then(|| level(n, d));
    put(dir.path(), "y.csv", table(24, 6, seen));
    let real = |n: usize, d: usize| Some(((n * 5) % 12) as f64 / 6.0 + 0.1 * ((n + d) % 3) as f64);
    put(dir.path(), "x.csv", table(24, 5, real));
    dir
}

#[test]
fn numbers_above_0_go_through_the_verbs() {
    let dir = folder();
    let f = dir.path();
    for engine in [
        "vb",
        "gibbs --weights ard --chains 1 --warm-up 20 --sweeps 40",
    ] {
        ok(
            f,
            &format!(
                "fit --model mofa --engine {engine} --view y=y.csv:gamma --view x=x.csv -k 2 --seed 1 --out m.pv --force"
            ),
        );
        let told = ok(f, "inspect m.pv");
        assert!(
            told.contains("gamma") && told.contains("variance = mean^2 / shape"),
            "{told}"
        );
        let json: serde_json::Value =
            serde_json::from_str(&ok(f, "inspect m.pv --json")).expect("JSON");
        let shapes = json["views"][0]["shapes"][0].as_array().expect("shapes");
        assert!(json["views"][1]["shapes"].is_null());
        ok(f, "export m.pv --intercepts y=i.csv --force");
        let table = get(f, "i.csv");
        let mut lines = table.lines();
        assert!(
            lines.next().is_some_and(|l| l.ends_with(",shape")),
            "{table}"
        );
        for (line, shape) in lines.zip(shapes) {
            let own = line
                .rsplit_once(',')
                .and_then(|(_, c)| c.parse::<f64>().ok());
            let (own, shape) = (own.expect("a shape"), shape.as_f64().expect("a shape"));
            // over draws a mean, and a geometric mean
            assert!(
                own > 1.0 && (own / shape - 1.0).abs() < 0.5,
                "{own} {shape}"
            );
        }
        ok(
            f,
            "impute m.pv --view y --out y.out.csv --lower low.csv --upper up.csv --force",
        );
        // the hole is filled with a number above 0, within its interval
        let at = |file: &str| -> f64 {
            let text = get(f, file);
            let row = text.lines().find(|l| l.starts_with("s3,")).expect("a row");
            row.split(',')
                .nth(2)
                .and_then(|c| c.parse().ok())
                .expect("a number")
        };
        let (low, middle, up) = (at("low.csv"), at("y.out.csv"), at("up.csv"));
        assert!(
            0.0 < low && low < middle && middle < up,
            "{low} {middle} {up}"
        );
        ok(f, "project m.pv --view y=y.csv --out z.csv --force");
        ok(
            f,
            "predict m.pv --view x=x.csv --target y --out p.csv --force",
        );
    }
    let told = ok(f, "inspect m.pv");
    let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        told.contains("numbers above 0: of their linear predictor"),
        "{told}"
    );
    let found = ok(
        f,
        "cross-validate --model mofa --view y=y.csv:gamma --view x=x.csv -k 2 --folds 2",
    );
    assert!(found.contains("deviance"), "{found}");
}

#[test]
fn what_is_not_above_0_is_named() {
    let dir = folder();
    let f = dir.path();
    for (bad, file) in [(0.0, "zero.csv"), (-2.5, "minus.csv")] {
        let cell = |n: usize, d: usize| Some(if (n, d) == (7, 2) { bad } else { level(n, d) });
        put(f, file, table(24, 6, cell));
        let err = fails(
            f,
            &format!("fit --model mofa --view y={file}:gamma -k 1 --out m.pv"),
            1,
        );
        let err = err.split_whitespace().collect::<Vec<_>>().join(" ");
        for word in [
            file,
            "s7",
            "f2",
            &format!("{bad} is not above 0"),
            "censored",
            "gaussian",
        ] {
            assert!(err.contains(word), "'{word}' is not in: {err}");
        }
    }
    let err = fails(
        f,
        "fit --model mofa --view y=y.csv:gamma{shape=none} -k 1 --out m.pv",
        2,
    );
    assert!(
        err.contains("shape: a number above 0, or the word learnt"),
        "{err}"
    );
    let err = fails(
        f,
        "fit --model mofa --view y=y.csv:gamma{shape=-1} -k 1 --out m.pv",
        2,
    );
    assert!(err.contains("positive number"), "{err}");
    let err = fails(
        f,
        "fit --model mofa --view y=y.csv:gamma{shape=1e9} -k 1 --out m.pv",
        2,
    );
    assert!(err.contains("from 0.01 to 1000000"), "{err}");
}
