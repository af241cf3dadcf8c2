//! Groups of samples at the command line.

use std::fmt::Write;

use crate::common::{fails, get, ok, put, run, said};
use crate::transcripts::transcript;

/// A real view and a view of counts whose levels and sizes differ between two
/// clinics, and a table that says who was in which.
fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    let (mut x, mut y) = ("id".to_owned(), "id".to_owned());
    let mut who = "id,clinic,sex\n".to_owned();
    for d in 0..5 {
        let _ = write!(x, ",x{d}");
        let _ = write!(y, ",y{d}");
    }
    (x, y) = (x + "\n", y + "\n");
    for n in 0_usize..30 {
        let clinic = if n < 18 { "north" } else { "south" };
        let z = ((n * 5) % 12) as f64 / 6.0 - 1.0;
        let _ = write!(x, "s{n}");
        let _ = write!(y, "s{n}");
        for d in 0_usize..5 {
            let wobble = ((n * 7 + d * 11) % 13) as f64 / 13.0 - 0.5;
            let level = if clinic == "north" { 0.0 } else { 4.0 };
            let sign = if d.is_multiple_of(2) { 1.0 } else { -1.0 };
            let _ = write!(x, ",{:.4}", sign * z + level + 0.4 * wobble);
            let rate = 8.0 * (0.8 * sign * z + 0.4 * level * 0.5).exp();
            let _ = write!(y, ",{}", (rate * (1.0 + wobble)).round());
        }
        (x, y) = (x + "\n", y + "\n");
        let sex = if n.is_multiple_of(2) { "f" } else { "m" };
        let _ = writeln!(who, "s{n},{clinic},{sex}");
    }
    put(dir.path(), "x.csv", x);
    put(dir.path(), "y.csv", y);
    put(dir.path(), "who.csv", who);
    dir
}

const FIT: &str = "fit --model mofa --view x=x.csv --view y=y.csv:nb --metadata who.csv --groups clinic -k 2 --seed 1 --max-sweeps 40";

#[test]
fn transcripts_of_groups() {
    let dir = folder();
    let lines = [
        format!("{FIT} --out m.pv"),
        "inspect m.pv".to_owned(),
        "project m.pv --view x=x.csv --out z.csv".to_owned(),
        "project m.pv --view x=x.csv --metadata who.csv --groups clinic --out z2.csv".to_owned(),
        "project m.pv --view x=x.csv --metadata who.csv --groups sex --out z3.csv".to_owned(),
        format!("{FIT} --factor-prior ard --out ard.pv"),
        "inspect ard.pv".to_owned(),
    ];
    let text: Vec<String> = lines.iter().map(|l| transcript(dir.path(), l)).collect();
    insta::assert_snapshot!("groups", text.join("\n"));
    ok(dir.path(), "report m.pv --out r.html --metadata who.csv");
    let report = get(dir.path(), "r.html");
    assert!(report.contains("north") && report.contains("south"));
    let json = ok(dir.path(), "--json inspect m.pv");
    let v: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    // one size a clinic and feature
    let sizes = v["views"][1]["sizes"].as_array().expect("sizes");
    assert_eq!(
        (sizes.len(), sizes[0].as_array().map(Vec::len)),
        (2, Some(5))
    );
}

/// What groups have of their own is in the study that is printed.
#[test]
fn choices_of_groups() {
    let dir = folder();
    let own = |flags: &str| {
        let words = format!(
            "fit --model bibfa --view x=x.csv --metadata who.csv --groups clinic -k 1 {flags} --dry-run"
        );
        let text = ok(dir.path(), &words);
        let on = |what: &str| text.contains(&format!("{what} = true"));
        (on("noise"), on("intercepts"))
    };
    assert_eq!(own(""), (false, false));
    assert_eq!(own("--group-noise"), (true, false));
    assert_eq!(own("--group-intercepts"), (false, true));
    let text = fails(
        dir.path(),
        &format!("{FIT} --factor-prior normal --out n.pv"),
        2,
    );
    assert!(text.contains("standard-normal"), "{text}");
    // a column that is not there, and a group of one
    let text = fails(
        dir.path(),
        &FIT.replace("clinic", "ward")
            .replace("fit ", "fit --out w.pv "),
        2,
    );
    assert!(text.contains("ward") && text.contains("clinic"), "{text}");
    let alone = get(dir.path(), "who.csv").replace("s0,north", "s0,west");
    put(dir.path(), "who.csv", alone);
    let text = fails(dir.path(), &format!("{FIT} --out w.pv"), 1);
    assert!(text.contains("group 'west' has one sample"), "{text}");
}

/// mofapy2 centres each group by itself: the levels of clinics are no factor.
#[test]
fn the_faithful_model_knows_groups() {
    let dir = folder();
    let gap = |flags: &str| {
        let groups = format!("--metadata who.csv {flags}");
        let fit = format!("fit --model mofapy2 --view x=x.csv {groups} -k 1 --max-sweeps 40");
        ok(dir.path(), &format!("{fit} --out m.pv --force"));
        let project = format!("project m.pv --view x=x.csv {groups} --out z.csv --force");
        ok(dir.path(), &project);
        let text = get(dir.path(), "z.csv");
        let cell = |line: &str| line.split(',').nth(1).and_then(|x| x.parse().ok());
        let z: Vec<f64> = text.lines().skip(1).filter_map(cell).collect();
        let mean = |z: &[f64]| z.iter().sum::<f64>() / z.len() as f64;
        (mean(&z[..18]) - mean(&z[18..])).abs()
    };
    let (own, none) = (gap("--groups clinic"), gap(""));
    assert!(own < 0.3 && none > 1.0, "{own} {none}");
}

/// A sample without a group: the cause is said, not the first sample alone.
#[test]
fn why_samples_have_no_group() {
    let dir = folder();
    let at = dir.path();
    let who = get(at, "who.csv");
    let with = |text: String| {
        put(at, "other.csv", text);
        let fit = FIT.replace("who.csv", "other.csv");
        let err = fails(at, &format!("{fit} --out w.pv"), 1);
        assert!(err.contains("other.csv: "), "{err}");
        err.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let err = with(who.replace("\ns", "\nmouse"));
    assert!(
        err.contains("none of its samples is one of the data (first ones: 'mouse0' and 's0')"),
        "{err}"
    );
    let err = with(who.replace("\ns", "\nS"));
    assert!(
        err.contains("'S0' and 's0' differ in upper and lower case alone"),
        "{err}"
    );
    let err = with(who.replace("s0,north", "s0,").replace("s1,north", "s1,"));
    assert!(
        err.contains("column 'clinic' is empty for 2 of the 30 samples, first 's0'"),
        "{err}"
    );
    let err = with(who.replace("s0,north", "q,north"));
    assert!(
        err.contains("1 of the 30 samples of the data are not in it, first 's0'"),
        "{err}"
    );
}

/// Of a model that has nothing by group, and of one of ranks alone.
#[test]
fn groups_without_effect_are_told() {
    let dir = folder();
    let said = |words: &str| {
        let words = format!(
            "fit {words} --metadata who.csv --groups clinic -k 2 --max-sweeps 5 --out g.pv --force"
        );
        String::from_utf8_lossy(&run(dir.path(), &words).stderr).replace('\n', " ")
    };
    for words in [
        "--view x=x.csv",
        "--model rank --view x=x.csv --group-intercepts",
    ] {
        let err = said(words);
        assert!(
            err.contains("the groups change nothing in this fit"),
            "{words}: {err}"
        );
    }
    for words in [
        "--view x=x.csv --group-intercepts",
        "--view x=x.csv --factor-prior ard",
        "--model rank --view x=x.csv --view y=y.csv:gaussian --group-intercepts",
    ] {
        let err = said(words);
        assert!(!err.contains("change nothing"), "{words}: {err}");
    }
}

/// Factors that count only together are those of a group, where they stand under its table.
#[test]
fn factors_together_are_of_a_group() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    let wave = |i: usize, by: f64| ((i as f64) * by).sin();
    let (mut a, mut b) = ("id".to_owned(), "id".to_owned());
    let mut who = "id,half".to_owned();
    for d in 0..24 {
        let _ = write!(a, ",f{d}");
    }
    for d in 0..4 {
        let _ = write!(b, ",f{d}");
    }
    for n in 0..240 {
        let (common, own) = (1.4 * wave(n, 2.399), 0.4 * wave(n, 5.871));
        // what b measures is their difference, where they go together
        let second = if n < 120 { common - own } else { own - common };
        let z = [common + own, second];
        let noise = |d: usize| 0.1 * wave(n * 31 + d * 7, 12.9898 + d as f64);
        let _ = write!(a, "\ns{n}");
        for d in 0..24 {
            let _ = write!(a, ",{:.4}", z[d % 2] + noise(d));
        }
        let _ = write!(who, "\ns{n},{}", if n < 120 { "first" } else { "second" });
        if n < 120 {
            let _ = write!(b, "\ns{n}");
            for d in 0..4 {
                let _ = write!(b, ",{:.4}", z[0] - z[1] + noise(30 + d));
            }
        }
    }
    for (name, text) in [("a.csv", a), ("b.csv", b), ("who.csv", who)] {
        put(at, name, text);
    }
    ok(
        at,
        "fit --model mofa --view a=a.csv --view b=b.csv --metadata who.csv --groups half -k 2 --out m.pv",
    );
    let text = ok(at, "inspect m.pv").replace('\n', " ");
    let title = "Factors that explain a view";
    let of = |text: &str| text.matches(title).count();
    assert_eq!(of(&text), 2, "{text}");
    let (_, of_groups) = text
        .split_once("variance explained within group 'first'")
        .expect("groups");
    let named = format!("{title} within group 'first' only together with others");
    assert!(of(of_groups) == 1 && of_groups.contains(&named), "{text}");
}

/// New samples of a model with groups come with these, as predictions read them.
#[test]
fn simulated_samples_have_groups() {
    let dir = folder();
    let at = dir.path();
    ok(at, &format!("{FIT} --out m.pv"));
    let said = said(at, "simulate --from m.pv --samples 20 --out-dir sim");
    let options = "--metadata sim/groups.csv --groups group";
    assert!(said.contains(options), "{said}");
    let groups = get(at, "sim/groups.csv");
    assert!(groups.starts_with("sample,group\nsim1,"), "{groups}");
    assert_eq!(groups.lines().count(), 21);
    assert!(
        groups.contains(",north") && groups.contains(",south"),
        "{groups}"
    );
    let predict = format!("predict m.pv --view x=sim/x.csv {options} --target y --out p.csv");
    ok(at, &predict);
    assert_eq!(get(at, "p.csv").lines().count(), 21);
    // without groups there is no such file
    ok(at, "fit --view x=x.csv -k 1 --max-sweeps 5 --out n.pv");
    ok(at, "simulate --from n.pv --samples 5 --out-dir none");
    assert!(!at.join("none/groups.csv").exists());
}

/// Counts of a feature that one group never has: its level there is the other group's, and no
/// number of twenty digits.
#[test]
fn a_feature_that_a_group_lacks() {
    let dir = folder();
    let at = dir.path();
    let counts = get(at, "y.csv");
    let lacking: Vec<String> = (counts.lines().enumerate())
        .map(|(i, line)| match line.split_once(',') {
            // the clinic in the south comes last
            Some((id, rest)) if i > 18 => {
                format!("{id},,{}", rest.split_once(',').map_or("", |r| r.1))
            }
            _ => line.to_owned(),
        })
        .collect();
    put(at, "y.csv", lacking.join("\n") + "\n");
    let largest = |table: &str| {
        let first = |line: &str| line.split(',').nth(1).and_then(|x| x.parse::<f64>().ok());
        table.lines().skip(1).filter_map(first).fold(0.0, f64::max)
    };
    for likelihood in ["nb", "poisson-log-normal"] {
        let fit = FIT.replace(":nb", &format!(":{likelihood}"));
        let err = said(at, &format!("{fit} --out m.pv --force"));
        assert!(
            err.contains("data/y: 1 feature(s) have no value in group 'south', first 'y0'"),
            "{err}"
        );
        let filled = ok(at, "impute m.pv --view y --out -");
        assert!(largest(&filled) < 500.0, "{likelihood}: {filled}");
        let new = ok(at, "predict m.pv --view x=x.csv --target y --out -");
        assert!(largest(&new) < 1e5, "{likelihood}: {new}");
    }
    let real = FIT
        .replace("x=x.csv", "x=y.csv")
        .replace(" --view y=y.csv:nb", ":gaussian");
    let err = said(at, &format!("{real} --out g.pv"));
    assert!(
        err.contains("data/x: 1 feature(s) have no value in group 'south'"),
        "{err}"
    );
}

#[test]
fn a_group_of_two_samples_is_named() {
    let dir = folder();
    let at = dir.path();
    let who = get(at, "who.csv").replace("south", "north");
    put(
        at,
        "who.csv",
        who.replace("s28,north", "s28,far")
            .replace("s29,north", "s29,far"),
    );
    let err = said(at, &format!("{FIT} --out m.pv"));
    assert!(err.contains("group 'far' has 2 samples"), "{err}");
    assert!(!err.contains("group 'north' has"), "{err}");
}

/// What a study file asks for groups is refused without groups, as the option is; what a model
/// has by itself is not.
#[test]
fn a_study_with_something_by_group_needs_groups() {
    let dir = folder();
    let at = dir.path();
    for what in ["intercepts", "noise"] {
        let of = |model: &str| {
            format!(
                "[[data]]\nname = \"x\"\npath = \"x.csv\"\n[model]\nmodel = \"{model}\"\nfactors = 1\n\
                 [model.groups]\n{what} = true\n"
            )
        };
        put(at, "study.toml", of("bibfa"));
        let err = fails(at, "fit --spec study.toml --out m.pv", 2);
        let place = format!("[model.groups] {what} = true");
        assert!(err.contains(&place) && err.contains("--groups"), "{err}");
        ok(
            at,
            "fit --spec study.toml --metadata who.csv --groups clinic --force --out m.pv",
        );
        put(at, "study.toml", of("mofa"));
        ok(at, "fit --spec study.toml --force --out m.pv");
    }
}
