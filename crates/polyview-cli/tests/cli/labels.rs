//! Views of labels: guesses, predictions and scores.

use std::fmt::Write;
use std::path::Path;

use crate::common::{fails, get, ok, put, run};
use crate::transcripts::transcript;

/// Numbers that look random and are the same everywhere.
fn noise(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / (1u64 << 31) as f64 - 0.5
    }
}

/// Two factors behind six numbers, two labels and one class of three.
fn tables(folder: &Path, prefix: &str, samples: usize, seed: u64) {
    let mut random = noise(seed);
    let mut x = "id,a,b,c,d,e,f\n".to_owned();
    let mut labels = "id,old,ill\n".to_owned();
    let mut class = "id,diet\n".to_owned();
    for n in 0..samples {
        let (u, v) = (4.0 * random(), 4.0 * random());
        let _ = write!(x, "{prefix}{n}");
        for w in [
            [1.0, 0.2],
            [0.8, -0.5],
            [-0.7, 0.9],
            [0.1, 1.0],
            [0.5, 0.5],
            [-1.0, 0.3],
        ] {
            let _ = write!(x, ",{:.4}", w[0] * u + w[1] * v + 0.4 * random());
        }
        x.push('\n');
        let bit = |s: f64| u8::from(s > 0.0);
        let _ = writeln!(
            labels,
            "{prefix}{n},{},{}",
            bit(u + random()),
            bit(v - u + random())
        );
        let scores = [u + random(), v + random(), -u - v + random()];
        let best = (1..3).fold(0, |b, c| if scores[c] > scores[b] { c } else { b });
        let _ = writeln!(class, "{prefix}{n},{}", ["fish", "sun", "corn"][best]);
    }
    put(folder, &format!("{prefix}x.csv"), x);
    put(folder, &format!("{prefix}labels.csv"), labels);
    put(folder, &format!("{prefix}diet.csv"), class);
}

pub fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    tables(dir.path(), "s", 120, 1);
    tables(dir.path(), "t", 60, 2);
    dir
}

pub const FIT: &str =
    "fit --model sshiba -k 3 --view x=sx.csv --view labels=slabels.csv --view diet=sdiet.csv";

pub fn number(text: &str, name: &str) -> f64 {
    let value: serde_json::Value = serde_json::from_str(text).expect("JSON");
    value
        .pointer(name)
        .and_then(serde_json::Value::as_f64)
        .unwrap_or_else(|| panic!("no {name} in {text}"))
}

#[test]
fn labels_are_guessed_predicted_filled_and_scored() {
    let dir = folder();
    let at = dir.path();
    let o = run(at, &format!("{FIT} --out m.pv"));
    let said = String::from_utf8_lossy(&o.stderr).into_owned();
    assert!(o.status.success(), "{said}");
    for words in [
        "view 'x' is gaussian (numbers)",
        "view 'labels' is bernoulli (all values are 0 or 1)",
        "view 'diet' is categorical (one column of words, 3 classes)",
    ] {
        assert!(said.contains(words), "'{words}' is not in {said}");
    }
    // what is told is not guessed, and gives the same fit
    let told = "fit --model sshiba -k 3 --view x=sx.csv:gaussian --view labels=slabels.csv:multilabel --view diet=sdiet.csv:categorical";
    let o = run(at, &format!("{told} --out told.pv"));
    assert!(!String::from_utf8_lossy(&o.stderr).contains("guess"));
    let bound = |m: &str| number(&ok(at, &format!("inspect {m} --json")), "/bound").to_bits();
    assert_eq!(bound("m.pv"), bound("told.pv"));

    for target in ["labels", "diet"] {
        ok(
            at,
            &format!("predict m.pv --view x=tx.csv --target {target} --out p{target}.csv"),
        );
    }
    assert!(get(at, "plabels.csv").starts_with("sample,old,ill\n"));
    assert!(get(at, "pdiet.csv").starts_with("sample,diet,corn,fish,sun\nt0,"));
    let scored = |truth: &str, p: &str, kind: &str| {
        let words = format!("score --truth {truth} --predicted {p} --kind {kind} --json");
        ok(at, &words)
    };
    let text = scored("tlabels.csv", "plabels.csv", "binary");
    assert!(number(&text, "/auc_weighted/value") > 0.9, "{text}");
    assert!(number(&text, "/all/balanced_accuracy") > 0.75, "{text}");
    let text = scored("tdiet.csv", "pdiet.csv", "categorical");
    assert!(number(&text, "/accuracy") > 0.7, "{text}");
    assert!(number(&text, "/auc_macro/value") > 0.85, "{text}");
    // predicting what was told is right by construction: scores must see it
    let text = scored("tdiet.csv", "tdiet.csv", "categorical");
    assert!((number(&text, "/accuracy") - 1.0).abs() < 1e-15);
}

#[test]
fn holes_in_labels_are_filled() {
    let dir = folder();
    let at = dir.path();
    let holes = |name: &str, every: usize| {
        let text = get(at, name);
        let lines = text
            .lines()
            .enumerate()
            .map(|(n, line)| match line.split_once(',') {
                Some((id, rest)) if n > 0 && n % every == 0 => {
                    format!("{id}{}", ",".repeat(rest.matches(',').count() + 1))
                }
                _ => line.to_owned(),
            });
        lines.collect::<Vec<_>>().join("\n") + "\n"
    };
    put(at, "holes.csv", holes("sdiet.csv", 4));
    put(at, "gaps.csv", holes("slabels.csv", 4));
    let fit =
        "fit --model sshiba -k 3 --view x=sx.csv --view labels=gaps.csv --view diet=holes.csv";
    ok(at, &format!("{fit} --out m.pv"));
    ok(
        at,
        "impute m.pv --view diet --out d.csv --probabilities dp.csv",
    );
    ok(at, "impute m.pv --view labels --out l.csv");
    let filled = get(at, "d.csv");
    let truth = get(at, "sdiet.csv");
    assert_eq!(filled.lines().next(), Some("sample,diet"));
    let (mut right, mut holes) = (0, 0);
    for (n, (f, t)) in filled.lines().zip(truth.lines()).enumerate().skip(1) {
        if n % 4 == 0 {
            holes += 1;
            right += usize::from(f == t);
        } else {
            assert_eq!(f, t, "an observed class stays");
        }
    }
    assert!(right * 3 > holes * 2, "{right} of {holes}");
    assert!(get(at, "dp.csv").starts_with("sample,corn,fish,sun\n"));
    let labels = get(at, "l.csv");
    for (n, (line, truth)) in labels
        .lines()
        .zip(get(at, "slabels.csv").lines())
        .enumerate()
        .skip(1)
    {
        let values = |l: &str| -> Vec<f64> {
            l.split(',')
                .skip(1)
                .map(|x| x.parse().expect("a number"))
                .collect()
        };
        let (p, t) = (values(line), values(truth));
        if n % 4 == 0 {
            assert!(p.iter().all(|p| *p > 0.0 && *p < 1.0), "{line}");
        } else {
            assert_eq!(p, t);
        }
    }
    ok(at, "report m.pv --out r.html");
    ok(
        at,
        "export m.pv --weights diet=w.csv --weights labels=v.csv",
    );
    assert!(get(at, "w.csv").contains("\ncorn,"));
    ok(at, "simulate --from m.pv --samples 20 --out-dir more");
    assert!(
        get(at, "more/diet.csv")
            .lines()
            .nth(1)
            .is_some_and(|l| l.ends_with("sun") || l.ends_with("fish") || l.ends_with("corn"))
    );
}

#[test]
fn a_study_file_gives_likelihoods() {
    let dir = folder();
    let at = dir.path();
    let data = "[[data]]\nname = \"x\"\npath = \"sx.csv\"\n[[data]]\nname = \"labels\"\npath = \"slabels.csv\"\nlikelihood = \"bernoulli-latent\"\n[[data]]\nname = \"diet\"\npath = \"sdiet.csv\"\n";
    put(
        at,
        "s.toml",
        format!("{data}[model]\nmodel = \"sshiba\"\nfactors = 2\n"),
    );
    let complete = ok(at, "fit --spec s.toml --dry-run");
    for words in ["\"bernoulli-latent\"", "\"categorical\"", "\"gaussian\""] {
        assert!(complete.contains(words), "{complete}");
    }
    // the complete study tells everything
    put(at, "complete.toml", &complete);
    let o = run(at, "fit --spec complete.toml --out m.pv");
    let said = String::from_utf8_lossy(&o.stderr).into_owned();
    assert!(o.status.success() && !said.contains("guess"), "{said}");
    assert!(ok(at, "inspect m.pv").contains("bernoulli-latent"));
    // a view with choices but no likelihood is guessed all the same
    let views = "[[model.views]]\nname = \"diet\"\nscaling = \"none\"\n";
    put(
        at,
        "v.toml",
        format!("{data}[model]\nmodel = \"sshiba\"\nfactors = 2\n{views}"),
    );
    assert!(ok(at, "fit --spec v.toml --dry-run").contains("\"categorical\""));
    let err = fails(at, "fit --spec s.toml --model bibfa --dry-run", 2);
    assert!(err.contains("not for bibfa"), "{err}");
}

#[test]
fn inspection() {
    let dir = folder();
    let at = dir.path();
    ok(at, &format!("{FIT} --out m.pv"));
    let mut text = transcript(at, "inspect m.pv");
    ok(
        at,
        "predict m.pv --view x=tx.csv --target labels --out pl.csv",
    );
    ok(
        at,
        "predict m.pv --view x=tx.csv --target diet --out pd.csv",
    );
    ok(
        at,
        "predict m.pv --view labels=tlabels.csv --target x --out px.csv --sd sd.csv",
    );
    for words in [
        "score --truth tlabels.csv --predicted pl.csv --kind binary",
        "score --truth tdiet.csv --predicted pd.csv --kind categorical",
        "score --truth tx.csv --predicted px.csv --kind real",
    ] {
        let _ = write!(text, "\n{}", counts_hidden(&transcript(at, words)));
    }
    let value: serde_json::Value =
        serde_json::from_str(&ok(at, "inspect m.pv --json")).expect("JSON");
    assert_eq!(
        value["views"][2]["classes"],
        serde_json::json!(["corn", "fish", "sun"])
    );
    let factors = value["activity"]["factors"].as_array().expect("factors");
    assert_eq!(Some(factors.len() as u64), value["factors"].as_u64());
    insta::assert_snapshot!("labels", text);
}

/// Counts of right and wrong samples may differ by one between processors.
fn counts_hidden(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let words = line.split("  ").map(|w| {
            let count = !w.trim().is_empty() && w.trim().bytes().all(|b| b.is_ascii_digit());
            if count { "n" } else { w.trim() }
        });
        let words: Vec<&str> = words.filter(|w| !w.is_empty()).collect();
        let _ = writeln!(out, "{}", words.join("  "));
    }
    out
}

/// Features are matched by name, in any order; names that changed are said.
#[test]
fn features_in_another_order() {
    let dir = folder();
    let at = dir.path();
    ok(at, &format!("{FIT} --out m.pv"));
    let reordered = |text: &str| {
        let lines = text.lines().map(|line| {
            let mut cells: Vec<&str> = line.split(',').collect();
            cells[1..].reverse();
            cells.join(",")
        });
        lines.collect::<Vec<_>>().join("\n") + "\n"
    };
    put(at, "rx.csv", reordered(&get(at, "tx.csv")));
    put(at, "rlabels.csv", reordered(&get(at, "tlabels.csv")));
    let predict = |x: &str, labels: &str, out: &str| {
        let words =
            format!("predict m.pv --view x={x} --view labels={labels} --target diet --out {out}");
        transcript(at, &words)
    };
    predict("tx.csv", "tlabels.csv", "p.csv");
    predict("rx.csv", "rlabels.csv", "r.csv");
    assert_eq!(get(at, "p.csv"), get(at, "r.csv"));
    put(
        at,
        "renamed.csv",
        get(at, "tlabels.csv").replacen("old", "aged", 1),
    );
    let said = predict("tx.csv", "renamed.csv", "q.csv");
    assert!(
        said.contains("first 'old'") && said.contains("first 'aged'"),
        "{said}"
    );
}

/// The demonstration tells hidden labels better than chance, and its report
/// shows how.
#[test]
fn the_demonstration_predicts_hidden_labels() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    let text = ok(at, "demo --out-dir d");
    for view in ["diet", "genotype"] {
        let row: Vec<f64> = text
            .lines()
            .rfind(|l| l.starts_with(view))
            .expect("its row")
            .split_whitespace()
            .skip(1)
            .map(|x| x.parse().expect("a number"))
            .collect();
        let [hidden, right, chance] = row[..] else {
            panic!("{row:?}")
        };
        assert!(hidden > 4.0 && right > chance + 20.0, "{view}: {row:?}");
    }
    let page = get(at, "d/report.html");
    for words in [
        "genotype: ROC",
        "diet: ROC",
        "diet: probabilities",
        "Table of true against predicted class",
        // the rule of `inspect`, not another one
        "s variance, or that much is lost without it, by the tables above",
    ] {
        assert!(page.contains(words), "{words}");
    }
    let kinds = ok(at, "inspect d/nutrimouse.pv");
    assert!(
        kinds.contains("classes of diet: coc, fish, lin, ref, sun"),
        "{kinds}"
    );
}

/// Margins pay for factors that repeat labels: these are named, and not called explained.
#[test]
fn factors_that_repeat_labels_are_said() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    let wave =
        |n: usize, d: usize| ((n as f64 * 12.9898 + d as f64 * 78.233).sin() * 43_758.545).fract();
    let (mut x, mut y) = ("id".to_owned(), "id".to_owned());
    for d in 0..12 {
        write!(x, ",x{d}").expect("a string");
    }
    for d in 0..4 {
        write!(y, ",y{d}").expect("a string");
    }
    for n in 0..150 {
        let z = [3.0 * wave(n, 50), 3.0 * wave(n, 51)];
        write!(x, "\ns{n}").expect("a string");
        write!(y, "\ns{n}").expect("a string");
        for d in 0..12 {
            write!(x, ",{:.4}", z[d % 2] + wave(n, d)).expect("a string");
        }
        for d in 0..4 {
            write!(
                y,
                ",{}",
                usize::from(z[d % 2] + 2.5 * wave(n, d + 20) > 0.0)
            )
            .expect("a string");
        }
    }
    put(at, "x.csv", x);
    put(at, "y.csv", y);
    let fit = |l: &str| {
        let o = run(
            at,
            &format!(
                "fit --model sshiba --view x=x.csv:gaussian --view y=y.csv:{l} -k 8 --out m.pv --force"
            ),
        );
        assert!(o.status.success());
        let text = [o.stderr, o.stdout].map(|t| String::from_utf8_lossy(&t).into_owned());
        text.join(" ")
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    };
    let repeat = "act in no view but those of support vector machines";
    let text = fit("svm");
    assert!(
        text.contains("warning: likelihood/y: factor(s)") && text.contains(repeat),
        "{text}"
    );
    assert!(
        text.contains("they repeat its training labels") && text.contains("are not explained"),
        "{text}"
    );
    assert!(
        text.contains("what they take is not explained, which leaves"),
        "{text}"
    );
    for calm in ["bernoulli", "probit"] {
        assert!(!fit(calm).contains(repeat));
    }
}
