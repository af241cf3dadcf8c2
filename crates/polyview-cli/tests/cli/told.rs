//! Slips that are told of by name: copied features, views that are not there, marks in numbers, outputs that nobody
//! asked for.

use std::fmt::Write;
use std::path::Path;

use crate::common::{fails, get, ok, put, said};

const N: usize = 30;

/// Six features, the last of which is the first once more where `copied`.
fn table(at: &Path, name: &str, copied: bool) {
    let mut text = "id,a,b,c,d,e,f\n".to_owned();
    for n in 0..N {
        let of = |d: usize| {
            let x = (n as f64 + 1.0)
                * [
                    0.618_034, 0.414_214, 0.732_051, 0.236_068, 0.645_751, 0.316_625,
                ][d];
            (100.0 * (x.fract() + (0.618_034 * (n as f64 + 1.0)).fract())).round() / 100.0
        };
        let last = if copied { of(0) } else { of(5) };
        let _ = writeln!(
            text,
            "s{n},{},{},{},{},{},{last}",
            of(0),
            of(1),
            of(2),
            of(3),
            of(4)
        );
    }
    put(at, name, text);
}

#[test]
fn copied_features_are_named() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    table(at, "x.csv", true);
    table(at, "y.csv", false);
    let fit = |x: &str| {
        said(
            at,
            &format!("fit --view x={x}:gaussian -k 1 --out m.pv --force"),
        )
    };
    let err = fit("x.csv");
    let part = "warning: view 'x': features that are exact copies of each other: 'a' and 'f'; keep one of each";
    assert!(err.contains(part), "{err}");
    assert!(!fit("y.csv").contains("copies"));
    // in other units, which are nothing to ranks
    let text = get(at, "y.csv");
    let scaled: Vec<String> = (text.lines().enumerate())
        .map(|(n, line)| match line.split(',').nth(1) {
            Some(a) if n > 0 => format!(
                "{line},{}",
                32.0 + 1.8 * a.parse::<f64>().expect("a number")
            ),
            _ => format!("{line},warm"),
        })
        .collect();
    put(at, "warm.csv", scaled.join("\n") + "\n");
    let err = fit("warm.csv");
    let part = "warning: view 'x': features that are each other in other units (all their cells are alike but for scale and \
                shift): 'a' and 'warm'; keep one of each";
    assert!(err.contains(part), "{err}");
    let err = said(
        at,
        "fit --model rank --view x=warm.csv -k 1 --max-sweeps 3 --out m.pv --force",
    );
    assert!(!err.contains("units ("), "{err}");
    // zeros and ones agree by chance
    let mut bits = "id,a,b,c\n".to_owned();
    for n in 0..N {
        let _ = writeln!(bits, "s{n},{0},{0},{1}", n % 2, (n / 2) % 2);
    }
    put(at, "bits.csv", bits);
    let err = said(
        at,
        "fit --view x=bits.csv:bernoulli --model sshiba -k 1 --out m.pv --force --no-settle",
    );
    assert!(!err.contains("copies"), "{err}");
}

#[test]
fn study_files_are_named_where_their_values_cannot_be() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    table(at, "x.csv", false);
    let study = |more: &str| {
        put(
            at,
            "s.toml",
            format!("[[data]]\nname = \"x\"\npath = \"x.csv\"\n{more}"),
        );
    };
    let refused = |words: &str, parts: &[&str]| {
        let err = fails(at, words, 2);
        for part in parts {
            assert!(err.contains(part), "{words}: {part}: {err}");
        }
    };
    study("[model]\nfactors = 1\n[[model.views]]\nname = \"h\"\n");
    let absent = [
        "s.toml",
        "it has choices of a view 'h', which is not there; there is x",
    ];
    refused("fit --spec s.toml --dry-run", &absent);
    refused("fit --spec s.toml --out m.pv", &absent);
    study("[model]\nfactors = 1\n[model.vb]\ntolerance = 0\n");
    refused(
        "fit --spec s.toml --dry-run",
        &["s.toml", "tolerance = 0 is not allowed"],
    );
    // an option is no affair of the file
    study("[model]\nfactors = 1\n");
    let err = fails(at, "fit --spec s.toml --tolerance 0 --dry-run", 2);
    assert!(
        err.contains("tolerance = 0") && !err.contains("s.toml"),
        "{err}"
    );
    put(at, "s.toml", "[data]\nname = \"x\"\npath = \"x.csv\"\n");
    refused(
        "fit --spec s.toml --dry-run",
        &["double brackets, as [[data]]"],
    );
}

#[test]
fn marks_in_numbers_are_named() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    for (cell, more, part) in [
        ("12%", "", "'12%' is not a number; it has a per cent sign"),
        (
            "\u{2212}3",
            "",
            "a dash in place of the sign - of a negative number",
        ),
        ("1 000", "", "a mark between thousands"),
        (
            "\"1.234,5\"",
            "--decimal-comma --delimiter comma",
            "a mark between thousands",
        ),
        ("high", "", "keep columns of words in a metadata file"),
    ] {
        put(
            at,
            "x.csv",
            format!("id,a,b\ns1,1,2\ns2,{cell},3\ns3,2,5\n"),
        );
        let err = fails(
            at,
            &format!("fit --view x=x.csv:gaussian -k 1 --out m.pv {more}"),
            1,
        );
        assert!(err.contains(part), "{cell}: {err}");
    }
}

#[test]
fn nothing_is_done_in_vain() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    table(at, "x.csv", false);
    ok(
        at,
        "mva --method pca --view x=x.csv --factors 2 --save p.mva",
    );
    let err = fails(at, "mva --map p.mva --view x=x.csv", 2);
    assert!(
        err.contains("--map: nothing to write; add --scores FILE"),
        "{err}"
    );
    ok(at, "fit --view x=x.csv:gaussian -k 1 --out m.pv");
    let err = fails(at, "update m.pv --view x=x.csv --batch 0 --out n.pv", 2);
    assert!(err.contains("give a whole number, 1 or larger"), "{err}");
    let err = fails(
        at,
        "fit --view o=x.csv:ordinal{levels=none;mild;none} -k 1 --out m.pv --force",
        2,
    );
    assert!(err.contains("'none' stands twice"), "{err}");
    let said = ok(
        at,
        "choose-k --view x=x.csv:gaussian --candidates 1,2 --repeats 1",
    );
    assert!(
        !said.contains("standard error of the difference;"),
        "{said}"
    );
}
