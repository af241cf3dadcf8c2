//! What is said of choices that have no effect or do not fit, and whether the
//! advice can be followed.

use std::fmt::Write;
use std::path::Path;

use crate::common::{fails, get, ok, put, run};

/// Probabilities scored as classes would each be a class of its own.
#[test]
fn numbers_are_no_classes() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    put(at, "truth.csv", "id,ill\ns1,0\ns2,1\ns3,1\n");
    put(at, "p.csv", "id,ill\ns1,0.25\ns2,0.75\ns3,0.875\n");
    let text = fails(
        at,
        "score --truth truth.csv --predicted p.csv --kind categorical",
        1,
    );
    assert!(
        text.contains("truth.csv and p.csv")
            && text.contains("0.25")
            && text.contains("--kind binary"),
        "{text}"
    );
    // whole numbers may be classes
    put(at, "c.csv", "id,ill\ns1,1\ns2,1\ns3,1\n");
    let text = ok(
        at,
        "score --truth truth.csv --predicted c.csv --kind categorical",
    );
    assert!(text.contains("0.6667"), "{text}");
}

const X: &str = "id,a,b,c\ns1,1.5,2,3\ns2,2,1,0\ns3,0,1,1\ns4,2,2,5\ns5,1,0,1\n";

fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    put(dir.path(), "x.csv", X);
    put(
        dir.path(),
        "about.csv",
        "id,site\ns1,A\ns2,B\ns3,A\ns4,B\ns5,A\n",
    );
    put(dir.path(), "others.csv", "id,site\np1,A\np2,B\n");
    dir
}

/// Runs it, expects success, and returns standard error.
fn said(folder: &Path, words: &str) -> String {
    let o = run(folder, words);
    let err = String::from_utf8_lossy(&o.stderr).into_owned();
    assert!(o.status.success(), "polyview {words}: {err}");
    err
}

#[test]
fn tables_about_other_samples() {
    let dir = folder();
    let at = dir.path();
    let fit = "fit --view x=x.csv -k 1 --force --out m.pv";
    let warning =
        "warning: others.csv: none of its samples is one of the data (first ones: 'p1' and 's1')";
    for engine in ["vb", "stochastic"] {
        let words = format!("{fit} --engine {engine} --metadata");
        let err = said(at, &format!("{words} others.csv"));
        assert!(err.contains(warning), "{err}");
        let err = said(at, &format!("{words} about.csv"));
        assert!(!err.contains("about.csv"), "{err}");
    }
    let err = said(
        at,
        "project m.pv --view x=x.csv --metadata others.csv --out z.csv",
    );
    assert!(err.contains(warning), "{err}");
    // the same in a report as in a fit
    let err = said(at, "report m.pv --metadata others.csv --out r.html");
    assert!(err.contains(warning), "{err}");
    ok(at, "report m.pv --metadata about.csv --force --out r.html");
}

#[test]
fn the_default_number_of_factors_is_what_data_carry() {
    let dir = folder();
    let at = dir.path();
    for engine in ["vb", "stochastic --batch 1"] {
        let fit = format!("fit --view x=x.csv --engine {engine} --force --out m.pv");
        let err = said(at, &fit);
        assert!(
            err.contains("note: 3 factors, the most that these data carry"),
            "{err}"
        );
        assert!(ok(at, "inspect m.pv").contains("of 3 at the start"));
        let err = said(at, &format!("{fit} -k 10"));
        assert!(
            err.contains("note: 3 factors, the most that these data carry (10 were asked for)"),
            "{err}"
        );
        assert!(ok(at, "inspect m.pv").contains("of 3 at the start"));
    }
    let data = "[[data]]\nname = \"x\"\npath = \"x.csv\"\n[model]\n";
    put(at, "s.toml", data);
    let study = ok(at, "fit --spec s.toml --dry-run");
    assert!(study.contains("factors = 3\n"), "{study}");
    put(at, "s.toml", format!("{data}factors = 10\n"));
    let err = said(at, "fit --spec s.toml --out n.pv");
    assert!(err.contains("(10 were asked for)"), "{err}");
}

#[test]
fn text_as_other_programs_write_it() {
    let dir = folder();
    let at = dir.path();
    let points = "id;a;b\ns1;1.5;2.25\ns2;2;1\ns3;0.5;1\ns4;2;2.5\n";
    put(at, "points.csv", points);
    put(at, "commas.csv", points.replace('.', ","));
    put(at, "ages.csv", "id;age\ns1;40,5\ns2;50\ns3;60\ns4;33\n");
    let fit = "fit -k 1 --quiet --force --out m.pv --view x=";
    let err = fails(at, &format!("{fit}commas.csv"), 1);
    assert!(err.contains("--decimal-comma"), "{err}");
    let err = fails(at, &format!("{fit}points.csv --decimal-comma"), 1);
    assert!(err.contains("leave --decimal-comma out"), "{err}");
    let bound = |words: &str| {
        ok(at, words);
        let json: serde_json::Value =
            serde_json::from_str(&ok(at, "inspect m.pv --json")).expect("JSON");
        json["bound"].as_f64().map(f64::to_bits)
    };
    let expected = bound(&format!("{fit}points.csv"));
    let commas = format!("{fit}commas.csv --metadata ages.csv --decimal-comma");
    assert_eq!(bound(&commas), expected);
    assert_eq!(
        bound(
            "fit -k 1 --engine stochastic --batch 1 --view x=commas.csv --decimal-comma --quiet --force --out m.pv"
        ),
        bound(
            "fit -k 1 --engine stochastic --batch 1 --view x=points.csv --quiet --force --out m.pv"
        ),
    );
    put(at, "s.toml", ok(at, &format!("{commas} --dry-run")));
    assert!(get(at, "s.toml").contains("decimal = \"comma\""));
    assert_eq!(
        bound("fit --spec s.toml --quiet --force --out m.pv"),
        expected
    );
    ok(
        at,
        "report m.pv --out r.html --metadata ages.csv --decimal-comma",
    );
    ok(
        at,
        "project m.pv --view x=commas.csv --decimal-comma --out z.csv",
    );
    ok(
        at,
        "kernel commas.csv --decimal-comma --references 2 --out k.csv",
    );
    ok(at, "impute m.pv --view x --out f.csv");
    ok(
        at,
        "score --truth commas.csv --decimal-comma --predicted f.csv --kind real",
    );

    // a delimiter that the name of the file denies
    put(at, "x.tsv", X);
    let err = fails(at, &format!("{fit}x.tsv"), 1);
    assert!(err.contains("(--delimiter comma)"), "{err}");
    assert_eq!(
        bound(&format!("{fit}x.tsv --delimiter comma")),
        bound(&format!("{fit}x.csv"))
    );
}

#[test]
fn an_array_of_several_is_asked_for_by_name() {
    let dir = folder();
    let at = dir.path();
    ok(at, "fit -k 1 --view x=x.csv --out m.pv");
    ok(at, "export m.pv --factors z.npz");
    let fit = "fit -k 1 --view x=z.npz";
    ok(at, &format!("{fit}#x --out n.pv"));
    let err = fails(at, &format!("{fit}#y --out o.pv"), 1);
    assert!(err.contains("there is no array 'y' among"), "{err}");
    let err = fails(at, &format!("{fit}#x --out z.npz --force"), 2);
    assert!(err.contains("is read by this command"), "{err}");
}

#[test]
fn what_a_table_may_be_is_said() {
    let dir = folder();
    let at = dir.path();
    let mut codes = "id,stage\n".to_owned();
    let mut bare = String::new();
    for n in 0..20 {
        let _ = writeln!(codes, "s{n},{}", 1 + n % 3);
        let _ = writeln!(bare, "s{n},{}.5,{}", n * n, 3 * n % 7);
    }
    put(at, "codes.csv", codes);
    put(at, "bare.csv", bare);
    let fit = "fit --model mofa -k 1 --force --out m.pv --view v=";
    let err = said(at, &format!("{fit}codes.csv"));
    for words in [
        "if they are counts, say --view v=codes.csv:negative-binomial",
        "if they are classes, --view v=codes.csv:categorical",
        "--view v=codes.csv:rank",
    ] {
        assert!(err.contains(words), "{err}");
    }
    assert!(!err.contains("taken as the names"), "{err}");
    // what was proposed can be done
    ok(at, &format!("{fit}codes.csv:rank"));
    ok(
        at,
        &format!("{fit}codes.csv:categorical --model sshiba").replacen("--model mofa", "", 1),
    );
    let note = "note: bare.csv: the first row holds numbers alone (first '0.5')";
    let err = said(at, "fit -k 1 --view v=bare.csv --force --out m.pv");
    assert!(err.contains(note), "{err}");
    let err = said(at, "project m.pv --view v=bare.csv --out z.csv");
    assert!(err.contains(note), "{err}");
    let err = said(
        at,
        "fit -k 1 --engine stochastic --view v=bare.csv --force --out m.pv",
    );
    assert!(err.contains(note), "{err}");
}

#[test]
fn options_without_effect_are_refused() {
    let dir = folder();
    let at = dir.path();
    for (words, option, engine) in [
        ("--chains 3", "--chains", "gibbs"),
        ("--thin 2 --engine stochastic", "--thin", "gibbs"),
        ("--batch 0.5", "--batch", "stochastic"),
        ("--epochs 2 --engine gibbs", "--epochs", "stochastic"),
        ("--learning-rate 0.5", "--learning-rate", "stochastic"),
    ] {
        let err = fails(
            at,
            &format!("fit --view x=x.csv -k 1 {words} --out m.pv"),
            2,
        );
        assert!(
            err.contains(&format!("{option} belongs to --engine {engine}")),
            "{err}"
        );
    }
    // one study for several engines is nothing wrong
    let gibbs =
        "fit --view x=x.csv -k 1 --engine gibbs --warm-up 5 --sweeps 20 --max-sweeps 9 --audit";
    let err = said(at, &format!("{gibbs} --out g.pv"));
    for option in ["--max-sweeps", "--audit"] {
        let warning = format!(
            "warning: {option} has no effect: it belongs to --engine vb, and this is gibbs"
        );
        assert!(err.contains(&warning), "{err}");
    }
    let batches = "fit --view x=x.csv:gaussian -k 1 --engine stochastic --batch 0.5 --max-sweeps 9";
    let err = said(at, &format!("{batches} --out s.pv"));
    assert!(
        err.contains("belongs to --engine vb, and this is stochastic"),
        "{err}"
    );
    let fit = "fit --view x=x.csv -k 1 --group-noise --out m.pv --metadata about.csv";
    let err = fails(at, fit, 2);
    assert!(
        err.contains("--group-noise: the samples have no groups"),
        "{err}"
    );
    ok(at, &format!("{fit} --groups site"));
    let err = fails(at, "choose-k --view x=x.csv -k 2", 2);
    assert!(err.contains("--candidates"), "{err}");
}

#[test]
fn ranges_are_stated() {
    let dir = folder();
    let at = dir.path();
    for (words, range) in [
        (
            "--max-sweeps 0",
            "max-sweeps = 0 is not allowed; give a whole number from 1 on",
        ),
        ("--restarts 0", "give a whole number from 1 on"),
        ("--engine gibbs --chains 0", "give a whole number from 1 on"),
        (
            "--engine gibbs --sweeps 5 --thin 6",
            "thin = 6 is not allowed; give a whole number from 1 to the number of sweeps",
        ),
        ("--mixture 0", "give a whole number from 1 on"),
    ] {
        let err = fails(
            at,
            &format!("fit --view x=x.csv -k 1 {words} --out m.pv"),
            2,
        );
        assert!(err.contains(range), "{err}");
    }
    let err = fails(at, "choose-k --view x=x.csv --held-out 2", 2);
    assert!(
        err.contains("--held-out: 2 is not allowed; give a share above 0 and below 1"),
        "{err}"
    );
    let err = fails(at, "choose-k --view x=x.csv --repeats 0", 2);
    assert!(err.contains("give a whole number from 1 on"), "{err}");
    let err = fails(at, "simulate --missing 2 --out-dir s", 2);
    assert!(err.contains("must lie in [0, 1)"), "{err}");
}

#[test]
fn empty_cells_beyond_the_header_are_called_so() {
    let dir = folder();
    let at = dir.path();
    put(at, "commas.csv", "id,a,b\ns1,1,2,\ns2,2,1,\ns3,0,1,\n");
    let err = fails(at, "fit --view x=commas.csv -k 1 --out m.pv", 1);
    assert!(
        err.contains("line 2 has 4 columns, the header has 3; what it has more is empty: remove the delimiter at its end"),
        "{err}"
    );
    put(at, "r.csv", "a,b\ns1,1,2\ns2,2,1\n");
    let err = fails(at, "fit --view x=r.csv -k 1 --out m.pv", 1);
    assert!(
        err.contains("seems to lack the name of the first column"),
        "{err}"
    );
}

#[test]
fn no_view_is_called_nothing() {
    let dir = folder();
    let at = dir.path();
    let err = fails(
        at,
        "fit --model mofapy2 --engine gibbs --view x=x.csv:gaussian -k 1 --out m.pv",
        1,
    );
    assert!(
        err.contains("error: engine gibbs cannot be combined"),
        "{err}"
    );
}

#[test]
fn one_repeat_has_no_standard_error() {
    let dir = folder();
    let at = dir.path();
    let words = "simulate --samples 30 --features 6 --factors 2 --seed 5 --out-dir s";
    ok(at, words);
    let text = ok(
        at,
        "choose-k --view a=s/view1.csv --candidates 1,2 --repeats 1",
    );
    assert!(!text.contains("NaN"), "{text}");
    let o = run(
        at,
        "choose-k --view a=s/view1.csv --candidates 1,2 --repeats 1",
    );
    assert!(!String::from_utf8_lossy(&o.stderr).contains("carry"));
    // another seed hides other cells
    let choose = "choose-k --view a=s/view1.csv --candidates 1,2 --repeats 2 --seed";
    assert_ne!(
        ok(at, &format!("{choose} 1")),
        ok(at, &format!("{choose} 2"))
    );
}

/// Of labels the share of the latent score is one thing, that of the labels
/// another.
#[test]
fn the_summary_says_how_much_of_labels_is_explained() {
    let dir = folder();
    let at = dir.path();
    let mut random = 1_u64;
    let mut next = || {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (random >> 33) as f64 / (1_u64 << 31) as f64
    };
    let (mut x, mut y) = ("id,a,b,c,d\n".to_owned(), "id,coin\n".to_owned());
    for n in 0..60 {
        let u = next();
        let cells: Vec<String> = (0..4).map(|_| format!("{:.3}", u + 0.5 * next())).collect();
        let _ = writeln!(x, "s{n},{}", cells.join(","));
        let _ = writeln!(y, "s{n},{}", u8::from(next() > 0.5));
    }
    put(at, "a.csv", x);
    put(at, "coin.csv", y);
    let fit = "fit --model sshiba -k 3 --view a=a.csv:gaussian --view coin=coin.csv:svm";
    let text = ok(at, &format!("{fit} --out m.pv"));
    let column = |text: &str, name: &str| -> Option<f64> {
        let header: Vec<&str> = text
            .lines()
            .find(|l| l.starts_with("view"))?
            .split_whitespace()
            .collect();
        let row: Vec<&str> = text
            .lines()
            .find(|l| l.starts_with("coin "))?
            .split_whitespace()
            .collect();
        row[header.iter().position(|h| *h == name)?].parse().ok()
    };
    let all: serde_json::Value =
        serde_json::from_str(&ok(at, "inspect m.pv --json")).expect("JSON");
    let explained = all["views"][1]["explained"].clone();
    let inspected = ok(at, "inspect m.pv");
    let shares = inspected
        .split("variance explained")
        .nth(1)
        .expect("its table");
    for text in [text.as_str(), shares] {
        assert!(
            text.contains("labels and counts: of their linear predictor"),
            "{text}"
        );
        for (name, key) in [("deviance", "deviance"), ("all", "total")] {
            let percent = explained[key].as_f64().map(|x| 100.0 * x).expect("a share");
            let shown = column(text, name).expect("a column");
            assert!((shown - percent).abs() < 0.06, "{name}: {text}");
        }
    }
    let json: serde_json::Value =
        serde_json::from_str(&ok(at, &format!("{fit} --json --quiet --out n.pv"))).expect("JSON");
    assert!(json["views"][1]["deviance"].is_number() && json["views"][0]["deviance"].is_null());
}

/// Varimax of a sparse model is refused with one mend, and the help says which models have it.
#[test]
fn varimax_says_of_which_models_it_is() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    ok(
        at,
        "simulate --samples 30 --features 6,5 --factors 2 --seed 2 --out-dir sim",
    );
    ok(
        at,
        "fit --model mofa --view a=sim/view1.csv:gaussian -k 2 --max-sweeps 5 --out m.pv",
    );
    let err = fails(at, "export m.pv --factors z.csv --varimax", 1);
    let err = err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        err.contains("or fit with weights of the prior ard")
            && !err.contains("change one of the two"),
        "{err}"
    );
    let help = ok(at, "export --help");
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(help.contains("as those of bibfa and sshiba"), "{help}");
}

/// Refusals name what the user gave, or what turns off what nobody asked for.
#[test]
fn refusals_name_the_option_and_its_mend() {
    let dir = folder();
    let at = dir.path();
    put(at, "b.csv", "id,ill\ns1,1\ns2,0\ns3,1\ns4,0\ns5,1\n");
    let views = "--view x=x.csv:gaussian --view b=b.csv:bernoulli -k 1 --out m.pv";
    let stochastic = "--engine stochastic --in-memory";
    for (words, said) in [
        (
            format!("fit --model sshiba --mixture 2 {views} {stochastic}"),
            vec!["--mixture", "engine stochastic"],
        ),
        (
            format!("fit --model sshiba --factor-prior ard {views} {stochastic}"),
            vec!["--factor-prior ard", "engine stochastic"],
        ),
        (
            format!("fit --model mofa {views} {stochastic} --metadata about.csv --groups site"),
            vec![
                "[model.groups] noise = false, intercepts = false",
                "leave the groups out",
            ],
        ),
        (
            format!("fit --model sshiba --mixture 2 --weights relevance {views}"),
            vec!["--mixture", "--weights b=ard"],
        ),
    ] {
        let err = fails(at, &words, 1);
        let err = err.split_whitespace().collect::<Vec<_>>().join(" ");
        for word in said {
            assert!(err.contains(word), "{words}: {word}: {err}");
        }
    }
    // and the mend mends
    put(
        at,
        "study.toml",
        "groups = \"site\"\nmetadata = \"about.csv\"\n[[data]]\nname = \"x\"\npath = \"x.csv\"\n\
         likelihood = \"gaussian\"\n[model]\nmodel = \"mofa\"\nfactors = 1\n[model.groups]\nnoise = false\n\
         intercepts = false\n",
    );
    ok(
        at,
        &format!("fit --spec study.toml {stochastic} --batch 1 --out m.pv"),
    );
    // tables that are drawn from a model are as many as its views
    let fit = views.replace(" --out m.pv", " --force --out m.pv");
    ok(at, &format!("fit --model sshiba {fit}"));
    let err = fails(at, "simulate --from m.pv --out-dir -", 2);
    assert!(!err.contains("--features"), "{err}");
    let err = fails(at, "simulate --out-dir -", 2);
    assert!(err.contains("--features"), "{err}");
}
