//! Options without effect, options of impossible values, and words that are none.

use std::fmt::Write;

use crate::common::{fails, ok, put, run};
use crate::labels::folder;

/// Counts of 30 samples, and numbers that follow them.
fn counts() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    let (mut c, mut x) = ("id,a,b,c\n".to_owned(), "id,d,e,f\n".to_owned());
    for n in 0_usize..30 {
        let u = ((n * 7) % 11) as f64 / 5.0 - 1.0;
        let count = |d: usize| ((2.0 + u * (d as f64 - 1.0)).exp()).round() + ((n + d) % 3) as f64;
        let _ = writeln!(c, "s{n},{},{},{}", count(0), count(1), count(2));
        let _ = writeln!(x, "s{n},{u},{},{}", u * u, 1.0 - u + (n % 4) as f64 / 9.0);
    }
    put(dir.path(), "c.csv", c);
    put(dir.path(), "x.csv", x);
    dir
}

#[test]
fn choices_about_numbers_need_numbers() {
    let dir = counts();
    let at = dir.path();
    let fit = "fit --model mofa --view c=c.csv:poisson -k 1";
    for (option, command) in [
        ("--scaling", format!("{fit} --out m.pv --scaling none")),
        ("--noise", format!("{fit} --out m.pv --noise view")),
        ("--centring", format!("{fit} --dry-run --centring none")),
        (
            "--scaling",
            "choose-k --model mofa --view c=c.csv:poisson --candidates 1 --scaling none".to_owned(),
        ),
        // a likelihood that was guessed
        (
            "--noise",
            "fit --model sshiba --view y=y.csv -k 1 --out m.pv --noise view".to_owned(),
        ),
    ] {
        put(
            at,
            "y.csv",
            "id,a,b\ns0,1,0\ns1,0,1\ns2,1,1\ns3,0,0\ns4,1,0\n",
        );
        let err = fails(at, &command, 2);
        assert!(
            err.contains(&format!("{option}: it is about gaussian views"))
                && err.contains("leave it out"),
            "{err}"
        );
        assert!(!at.join("m.pv").exists());
    }
    // beside others it is said what it does not touch
    let both = format!(
        "{fit} --view x=x.csv:gaussian --max-sweeps 5 --scaling none --noise view --out m.pv"
    );
    let err = String::from_utf8(run(at, &both).stderr).expect("text");
    assert!(
        err.contains(
            "note: --noise, --scaling: about gaussian views, without effect on 'c' (poisson)"
        ),
        "{err}"
    );
    assert_eq!(err.matches("without effect").count(), 1, "{err}");
}

#[test]
fn settling_needs_another_view_and_levels_need_intervals() {
    let dir = counts();
    let at = dir.path();
    for command in [
        "fit --view x=x.csv -k 1 --settle x --out n.pv",
        "choose-k --view x=x.csv --candidates 1 --settle x",
    ] {
        let err = fails(at, command, 2);
        assert!(
            err.contains("--settle: 'x' is settled on factors of the other views"),
            "{err}"
        );
    }
    let views = "--view x=x.csv --view c=c.csv:gaussian";
    let err = fails(
        at,
        &format!("fit {views} -k 1 --settle x=bst --out n.pv"),
        2,
    );
    let err = err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        err.contains(
            "'bst' is no way to settle view 'x'; the ways are factors, features, best, mixture, linear-mixture, no"
        ),
        "{err}"
    );
    ok(
        at,
        &format!("fit {views} -k 1 --settle x --out m.pv --model sshiba"),
    );
    for command in [
        "predict m.pv --view c=c.csv --target x --out p.csv --level 0.9",
        "impute m.pv --view x --out p.csv --level 0.9",
    ] {
        let err = fails(at, command, 2);
        assert!(
            err.contains("--level: it is the probability of intervals"),
            "{err}"
        );
        assert!(!at.join("p.csv").exists());
    }
    ok(
        at,
        "predict m.pv --view c=c.csv --target x --out p.csv --level 0.9 --upper u.csv",
    );
    let err = fails(
        at,
        "fit --view x=x.csv -k 1 --checkpoint-every 5 --out n.pv",
        2,
    );
    assert!(err.contains("--checkpoint <FILE>"), "{err}");
}

/// A value that no data could make right is a mistake of usage: exit code 2.
#[test]
fn impossible_values_are_mistakes_of_usage() {
    let dir = counts();
    let at = dir.path();
    let fit = "fit --view x=x.csv --out n.pv";
    let [gibbs, batches] = ["gibbs", "stochastic"].map(|e| format!("{fit} --engine {e}"));
    let choose = "choose-k --view x=x.csv";
    ok(at, "fit --view x=x.csv -k 1 --out m.pv");
    for (command, values) in [
        (fit, "-k 0"),
        (fit, "--max-sweeps 0"),
        (fit, "--restarts 0"),
        (fit, "--tolerance -1"),
        (fit, "--tolerance 0"),
        (fit, "--tolerance 1"),
        (fit, "--mixture 0"),
        (fit, "--shape x=2"),
        (fit, "--weights horsehair"),
        (&gibbs, "--chains 0"),
        (&gibbs, "--sweeps 0"),
        (&gibbs, "--thin 0"),
        (&gibbs, "--thin 30 --sweeps 20"),
        (&batches, "--batch 0"),
        (&batches, "--batch -1"),
        (&batches, "--epochs 0"),
        (&batches, "--learning-rate 0"),
        (&batches, "--learning-rate 1.5"),
        (&batches, "--forgetting -1"),
        (choose, "--candidates 0"),
        (choose, "--candidates 1,0"),
        (choose, "--candidates 1 --repeats 0"),
        (choose, "--candidates 1 --restarts 0"),
        (choose, "--candidates 1 --held-out 0"),
        (choose, "--candidates 1 --held-out 1"),
        ("simulate --out-dir t", "--samples 0"),
        ("simulate --out-dir t", "--factors 0"),
        ("simulate --out-dir t", "--missing 1"),
        (
            "impute m.pv --view x --out f.csv",
            "--upper u.csv --level 1",
        ),
        ("inspect m.pv", "--checks 0"),
        ("inspect m.pv", "--digits 0"),
    ] {
        let err = fails(at, &format!("{command} {values}"), 2);
        assert!(err.starts_with("error: "), "{err}");
    }
    // the same mistake in a study file
    put(
        at,
        "s.toml",
        "[[data]]\nname = \"x\"\npath = \"x.csv\"\n[model]\nmodel = \"bibfa\"\nfactors = 0\n",
    );
    fails(at, "fit --spec s.toml --out n.pv", 2);
}

#[test]
fn a_misspelt_word_is_told_its_nearest() {
    let dir = counts();
    let at = dir.path();
    ok(at, "fit --view x=x.csv -k 1 --out m.pv");
    for (command, said) in [
        (
            "fit --view x=x.csv:guassian --out n.pv",
            "--view x, likelihood: there is no 'guassian'; did you mean 'gaussian'?",
        ),
        (
            "fit --labels x.csv:berno --out n.pv",
            "did you mean 'bernoulli'?",
        ),
        (
            "project m.pv --view x=x.csv:gauss --out z.csv",
            "did you mean 'gaussian'?",
        ),
        (
            "fit --view x=x.csv --weights horseshoes --out n.pv",
            "--weights: there is no 'horseshoes'; did you mean 'horseshoe'?",
        ),
    ] {
        let err = fails(at, command, 2);
        assert!(err.contains(said) && !err.contains("variant"), "{err}");
    }
    let err = fails(at, "fit --view x=x.csv:tweedie --out n.pv", 2);
    assert!(
        err.contains("there are gaussian, bernoulli, ") && !err.contains("mean"),
        "{err}"
    );
}

/// Words are told how this model takes them.
#[test]
fn advice_on_words_is_for_the_model_asked_for() {
    let dir = folder();
    let at = dir.path();
    put(at, "w.csv", "id,ill\ns1,yes\ns2,no\ns3,yes\n");
    let classes = "one column of class names is --view y=w.csv:categorical";
    let labels = "labels of two words, a view a column, are --labels w.csv:";
    for (model, view, said) in [
        ("rank", "y=w.csv", [classes, labels]),
        ("rank", "y=w.csv:svm", [classes, "--labels w.csv:svm"]),
        ("mofa", "y=w.csv:poisson", [classes, labels]),
        (
            "bibfa",
            "y=w.csv",
            [
                "one column of class names is with --model sshiba --view y=w.csv:categorical",
                labels,
            ],
        ),
    ] {
        let err = fails(
            at,
            &format!("fit --model {model} --view x=sx.csv --view {view} -k 2 --out n.pv"),
            1,
        );
        for part in said {
            assert!(err.contains(part), "{model} {view}: {err}");
        }
        assert_eq!(err.contains("sshiba"), model == "bibfa", "{err}");
    }
    // where the likelihood is to be guessed, too
    put(
        at,
        "two.csv",
        "id,ill,well\ns1,yes,no\ns2,no,no\ns3,yes,yes\n",
    );
    for model in ["sshiba", "mofa"] {
        let fit = format!("fit --model {model} --view x=sx.csv --view y=two.csv -k 2 --out n.pv");
        let err = fails(at, &fit, 1);
        assert!(
            err.contains("are --labels two.csv:bernoulli"),
            "{model}: {err}"
        );
    }
    // and it works
    let fit = "fit --model rank --view x=sx.csv -k 2 --max-sweeps 5";
    ok(
        at,
        &format!("{fit} --view y=sdiet.csv:categorical --out c.pv"),
    );
}
