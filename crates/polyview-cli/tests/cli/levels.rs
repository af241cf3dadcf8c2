//! Ordered levels at the command line, by words and by numbers.

use std::fmt::Write;
use std::path::Path;

use crate::common::{fails, get, ok, put, run};

const WORDS: [&str; 4] = ["never", "seldom", "often", "always"];

/// Answers that follow one factor, and numbers that do; a hole here and there.
fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    let factor = |n: usize| ((n * 5) % 24) as f64 / 12.0 - 1.0;
    let noise = |n: usize, d: usize| ((n * 7 + d * 13 + n * n * 3) % 11) as f64 / 11.0 - 0.45;
    let level = |n: usize, d: usize| {
        let sign = if d.is_multiple_of(3) { -1.0 } else { 1.0 };
        (2.0 + 2.0 * sign * factor(n) + noise(n, d)).clamp(0.0, 3.0) as usize
    };
    let table = |holes: bool, cell: &dyn Fn(usize, usize) -> String| {
        let mut text = "id,q1,q2,q3,q4,q5\n".to_owned();
        for n in 0..48 {
            let _ = write!(text, "s{n}");
            for d in 0..5 {
                let hole = holes && (n * 3 + d * 5) % 13 == 4;
                let _ = write!(text, ",{}", if hole { String::new() } else { cell(n, d) });
            }
            text.push('\n');
        }
        text
    };
    let words = |n: usize, d: usize| WORDS[level(n, d)].to_owned();
    put(dir.path(), "words.csv", table(true, &words));
    put(dir.path(), "truth.csv", table(false, &words));
    let numbers = |n: usize, d: usize| (level(n, d) + 1).to_string();
    put(dir.path(), "numbers.csv", table(true, &numbers));
    let x = |n: usize, d: usize| (factor(n) + 0.3 * noise(n, d + 9)).to_string();
    put(dir.path(), "x.csv", table(false, &x));
    dir
}

fn header(dir: &Path, file: &str) -> String {
    get(dir, file).lines().next().unwrap_or_default().to_owned()
}

#[test]
fn words_of_levels_go_in_and_come_out() {
    let dir = folder();
    let dir = dir.path();
    let view = "q=words.csv:ordinal{levels=never;seldom;often;always}";
    let fit = |extra: &str| {
        format!(
            "fit --model sshiba --view x=x.csv --view {view} -k 2 --seed 1 --max-sweeps 30 {extra}"
        )
    };
    ok(dir, &fit("--out m.pv"));
    ok(dir, "impute m.pv --view q --out filled.csv");
    let filled = get(dir, "filled.csv");
    let cells = || filled.lines().skip(1).flat_map(|l| l.split(',').skip(1));
    assert!(cells().all(|c| WORDS.contains(&c)), "{filled}");
    ok(
        dir,
        "predict m.pv --view x=x.csv --target q --out p.csv --lower low.csv --upper high.csv",
    );
    assert!(
        header(dir, "p.csv")
            .starts_with("sample,q1,q1_probability_of_never,q1_probability_of_seldom")
    );
    let ends = |command: &str| {
        ok(dir, &format!("{command} --force"));
        for path in ["low.csv", "high.csv"] {
            let table = get(dir, path);
            let mut cells = table.lines().skip(1).flat_map(|l| l.split(',').skip(1));
            assert!(cells.all(|c| c.is_empty() || WORDS.contains(&c)), "{table}");
        }
    };
    ends("predict m.pv --view x=x.csv --target q --out p.csv --lower low.csv --upper high.csv");
    ends("impute m.pv --view q --out filled.csv --lower low.csv --upper high.csv");
    let said = ok(
        dir,
        "score --truth truth.csv --predicted p.csv --kind ordinal",
    );
    assert!(said.contains("ranked probability score"), "{said}");
    let scored = ok(
        dir,
        "score --truth truth.csv --predicted p.csv --kind ordinal --json",
    );
    let scored: serde_json::Value = serde_json::from_str(&scored).expect("JSON");
    assert!(
        scored["absolute_error"].as_f64().expect("a number") < 0.6,
        "{scored}"
    );
    assert!(
        scored["log_loss"].as_f64().expect("a number") < 1.0,
        "{scored}"
    );
    let shown = ok(dir, "inspect m.pv");
    assert!(shown.contains("ordinal"), "{shown}");
    // new data speak the same words
    ok(dir, "project m.pv --view q=words.csv --out z.csv");
    let validated = ok(
        dir,
        &format!(
            "cross-validate --model sshiba --view x=x.csv --view {view} -k 2 --max-sweeps 10 --target q --folds 2"
        ),
    );
    assert!(
        validated.contains("levels off") && validated.contains("RPS"),
        "{validated}"
    );
    ok(dir, "simulate --from m.pv --samples 9 --out-dir sim");
    let drawn = get(dir, "sim/q.csv");
    let mut cells = drawn.lines().skip(1).flat_map(|l| l.split(',').skip(1));
    assert!(cells.all(|c| WORDS.contains(&c)), "{drawn}");
    ok(dir, "report m.pv --out r.html");
    assert!(get(dir, "r.html").contains("ordinal"));
}

#[test]
fn what_is_no_level_is_refused_with_its_place() {
    let dir = folder();
    let dir = dir.path();
    let fit = |view: &str| {
        let line = format!(
            "fit --model sshiba --view x=x.csv --view {view} -k 2 --max-sweeps 5 --out m.pv"
        );
        let found = run(dir, &line);
        assert!(!found.status.success());
        let said = String::from_utf8_lossy(&found.stderr).into_owned();
        said.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let said = fit("q=words.csv:ordinal{levels=never;seldom;often}");
    assert!(
        said.contains("'always' is none of the levels never, seldom, often"),
        "{said}"
    );
    let said = fit("q=words.csv:ordinal");
    assert!(
        said.contains("say the words of the levels in their order"),
        "{said}"
    );
    let said = fit("q=numbers.csv:ordinal{levels=3}");
    assert!(
        said.contains("numbers.csv: sample 's0', column 'q1': 4 is no level"),
        "{said}"
    );
    let said = fit("q=x.csv:ordinal");
    assert!(said.contains("is no level"), "{said}");
    let said = fit("q=numbers.csv:ordinal{levels=1}");
    assert!(said.contains("there are 2 to 100 levels, not 1"), "{said}");
}

#[test]
fn numbers_are_levels_too() {
    let dir = folder();
    let dir = dir.path();
    let line = "fit --model sshiba --view x=x.csv --view q=numbers.csv:ordinal -k 2 --max-sweeps 20 --out m.pv";
    ok(dir, line);
    ok(dir, "predict m.pv --view x=x.csv --target q --out p.csv");
    assert!(header(dir, "p.csv").contains("q2_probability_of_4"));
}

/// A number that is no level is the fault of its cell, and the mend is there.
#[test]
fn a_code_among_levels_is_named_by_its_cell() {
    let dir = folder();
    let dir = dir.path();
    let coded = get(dir, "numbers.csv").replacen("\ns7,", "\ns7,999,", 1);
    // one column more in one row: its own first cell goes
    let coded: String = (coded.lines())
        .map(|l| match l.strip_prefix("s7,999,") {
            Some(rest) => format!("s7,999,{}\n", rest.split_once(',').expect("cells").1),
            None => format!("{l}\n"),
        })
        .collect();
    put(dir, "coded.csv", coded);
    let fit = "fit --model sshiba --view x=x.csv -k 2 --max-sweeps 5";
    for word in ["ordinal", "ordinal{levels=4}", "ordinal-midpoint"] {
        let err = fails(
            dir,
            &format!("{fit} --view q=coded.csv:{word} --out c.pv"),
            1,
        );
        for part in ["coded.csv", "'s7'", "'q1'", "999", "--na 999"] {
            assert!(err.contains(part), "{word}, {part}: {err}");
        }
    }
    ok(
        dir,
        &format!("{fit} --view q=coded.csv:ordinal --na 999 --out n.pv"),
    );
    ok(
        dir,
        &format!("{fit} --view q=numbers.csv:ordinal --out m.pv"),
    );
    let err = fails(
        dir,
        "predict m.pv --view q=coded.csv --target x --out p.csv",
        1,
    );
    for part in ["coded.csv", "'s7'", "'q1'", "1 to 4", "--na 999"] {
        assert!(err.contains(part), "{part}: {err}");
    }
}
