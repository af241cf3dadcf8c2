//! Options with numbers, and the target of a prediction.

use std::fmt::Write;

use crate::common::{fails, ok, put, run};

fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    ok(
        at,
        "simulate --samples 30 --features 6,5,4 --factors 2 --seed 4 --out-dir s",
    );
    ok(
        at,
        "fit --quiet --view a=s/view1.csv --view b=s/view2.csv --view c=s/view3.csv -k 2 --max-sweeps 30 --out m.pv",
    );
    dir
}

/// A number below the range of its option is read as its value, and refused
/// with what it may be.
#[test]
fn negative_numbers_are_refused_by_their_range() {
    let dir = folder();
    let at = dir.path();
    let fit = "fit --view a=s/view1.csv --out n.pv";
    let gibbs = format!("{fit} --engine gibbs");
    let batches = format!("{fit} --engine stochastic");
    let choose = "choose-k --view a=s/view1.csv";
    let simulate = "simulate --out-dir t";
    let kernel = "kernel s/view1.csv --out k.csv";
    let impute = "impute m.pv --view a --out f.csv";
    let predict = "predict m.pv --view a=s/view1.csv --target b --out f.csv";
    for (command, option, value) in [
        (fit, "-k", "-3"),
        (fit, "--factors", "-3"),
        (fit, "--seed", "-1"),
        (fit, "--restarts", "-1"),
        (fit, "--max-sweeps", "-10"),
        (fit, "--tolerance", "-1"),
        (fit, "--tolerance", "-1e-6"),
        (fit, "--mixture", "-2"),
        (fit, "--checkpoint-every", "-5"),
        (fit, "--threads", "-1"),
        (fit, "--digits", "-1"),
        (&gibbs, "--chains", "-2"),
        (&gibbs, "--warm-up", "-2"),
        (&gibbs, "--sweeps", "-2"),
        (&gibbs, "--thin", "-2"),
        (&batches, "--batch", "-0.1"),
        (&batches, "--epochs", "-3"),
        (&batches, "--learning-rate", "-0.5"),
        (&batches, "--forgetting", "-0.5"),
        (&batches, "--exact-sweeps", "-1"),
        (choose, "--candidates", "2,-3"),
        (choose, "--candidates", "-3"),
        (choose, "--held-out", "-0.1"),
        (choose, "--repeats", "-1"),
        (simulate, "--samples", "-5"),
        (simulate, "--features", "-5"),
        (simulate, "--factors", "-5"),
        (simulate, "-k", "-5"),
        (simulate, "--missing", "-0.5"),
        (simulate, "--seed", "-5"),
        (kernel, "--gamma", "-1"),
        (kernel, "--degree", "-1"),
        (
            "kernel s/view1.csv --out k.csv --kind polynomial",
            "--offset",
            "-1",
        ),
        (kernel, "--references", "-1"),
        (kernel, "--seed", "-1"),
        (impute, "--level", "-0.5"),
        (predict, "--level", "-0.5"),
        ("inspect m.pv", "--checks", "-3"),
        ("report m.pv --out r.html", "--checks", "-3"),
    ] {
        let o = run(at, &format!("{command} {option} {value}"));
        let said = String::from_utf8_lossy(&o.stderr);
        assert!(
            matches!(o.status.code(), Some(1 | 2)),
            "{command} {option} {value}: {said}"
        );
        assert!(!said.contains("unexpected argument"), "{option}: {said}");
        let name = match option {
            "-k" => "factors",
            "--offset" => "constant of the polynomial",
            name => name.trim_start_matches('-'),
        };
        assert!(said.contains(name), "{option} {value}: {said}");
        let least = value.rsplit(',').next().expect("a number");
        let read = least.parse::<f64>().expect("a number").to_string();
        assert!(
            said.contains(least) || said.contains(&read),
            "{option} {value}: {said}"
        );
        let mends = [
            "give a", "choose", "ask for", "must", "needs", "larger", "take",
        ];
        assert!(mends.iter().any(|m| said.contains(m)), "{option}: {said}");
    }
}

#[test]
fn a_view_is_not_predicted_from_itself() {
    let dir = folder();
    let at = dir.path();
    let said = fails(
        at,
        "predict m.pv --view b=s/view2.csv --target b --out p.csv",
        2,
    );
    for words in [
        "'b' is predicted from other views, never from its own values",
        "(a, c)",
        "polyview impute m.pv --view b",
    ] {
        assert!(said.contains(words), "{said}");
    }
    let o = run(
        at,
        "predict m.pv --view b=s/view2.csv --view a=s/view1.csv --target b --out p.csv",
    );
    assert!(o.status.success());
    let said = String::from_utf8_lossy(&o.stderr);
    assert!(
        said.contains(
            "note: view 'b': its own values are not used: it is predicted from the other views"
        ),
        "{said}"
    );
    assert_eq!(said.matches("its own values").count(), 1, "{said}");
    assert!(
        said.contains("note: view 'b': predicted by the joint fit alone")
            && said.contains("--settle b=mixture"),
        "{said}"
    );
    ok(
        at,
        "fit --quiet --view a=s/view1.csv -k 1 --max-sweeps 5 --out one.pv",
    );
    let said = fails(
        at,
        "predict one.pv --view a=s/view1.csv --target a --out q.csv",
        2,
    );
    assert!(said.contains("the model has no other"), "{said}");
}

/// Rows of numbers of a file.
fn numbers(folder: &std::path::Path, name: &str) -> Vec<f64> {
    let text = crate::common::get(folder, name);
    let rows = text.lines().skip(1);
    let cells = rows.flat_map(|l| l.split(',').skip(1));
    cells.map(|c| c.parse().expect("a number")).collect()
}

#[test]
fn predictions_have_intervals() {
    let dir = folder();
    let at = dir.path();
    let ids: Vec<String> = crate::common::get(at, "s/view1.csv")
        .lines()
        .skip(1)
        .map(|l| l.split(',').next().expect("an ID").to_owned())
        .collect();
    let mut table = "sample,n1,n2\n".to_owned();
    let mut labels = "sample,y\n".to_owned();
    let mut classes = "sample,c\n".to_owned();
    for (i, id) in ids.iter().enumerate() {
        let _ = writeln!(table, "{id},{},{}", (i * 7) % 5, 3 + (i * 5) % 11);
        let _ = writeln!(labels, "{id},{}", i % 2);
        let _ = writeln!(classes, "{id},{}", ["u", "v", "w"][i % 3]);
    }
    put(at, "n.csv", table);
    put(at, "y.csv", labels);
    put(at, "c.csv", classes);
    ok(
        at,
        "fit --quiet --model mofa --view a=s/view1.csv:gaussian --view n=n.csv:nb --view b=s/view2.csv:gaussian \
         --view y=y.csv:bernoulli --view c=c.csv:categorical -k 2 --max-sweeps 40 --out all.pv",
    );
    ok(
        at,
        "fit --quiet --model rank --view a=s/view1.csv --view b=s/view2.csv -k 2 --max-sweeps 20 --out rank.pv",
    );
    for (model, target) in [("all.pv", "b"), ("all.pv", "n"), ("rank.pv", "b")] {
        let predict = format!(
            "predict {model} --quiet --view a=s/view1.csv --target {target} --out p.csv --force"
        );
        ok(
            at,
            &format!("{predict} --lower l5.csv --upper u5.csv --level 0.5"),
        );
        ok(
            at,
            &format!("{predict} --lower l9.csv --upper u9.csv --level 0.9"),
        );
        let [l9, l5, p, u5, u9] =
            ["l9", "l5", "p", "u5", "u9"].map(|n| numbers(at, &format!("{n}.csv")));
        assert_eq!(p.len(), l9.len());
        let mut wider = 0;
        for i in 0..p.len() {
            assert!(
                l9[i] <= l5[i] && l5[i] <= u5[i] && u5[i] <= u9[i],
                "{model} {target}"
            );
            assert!(l9[i] <= p[i] && p[i] <= u9[i], "{model} {target}");
            wider += usize::from(u9[i] - l9[i] > u5[i] - l5[i]);
        }
        assert!(2 * wider > p.len(), "{model} {target}: {wider}");
        if target == "n" {
            assert!(l9.iter().chain(&u9).all(|x| x.fract() == 0.0 && *x >= 0.0));
        }
        // one end alone is as good
        ok(at, &format!("{predict} --upper only.csv --level 0.9"));
        assert_eq!(numbers(at, "only.csv"), u9);
    }
    // z of 90 % and of 50 %: the normal interval is as wide as the deviation says
    ok(
        at,
        "predict all.pv --quiet --view a=s/view1.csv --target b --out p.csv --sd sd.csv --lower l9.csv --level 0.9 --force",
    );
    let [p, sd, lower] = ["p", "sd", "l9"].map(|n| numbers(at, &format!("{n}.csv")));
    for i in 0..p.len() {
        let z = (p[i] - lower[i]) / sd[i];
        assert!((z - 1.644_853_6).abs() < 1e-6, "{z}");
    }
    for target in ["y", "c"] {
        let said = fails(
            at,
            &format!(
                "predict all.pv --view a=s/view1.csv --target {target} --out q.csv --lower l.csv"
            ),
            2,
        );
        assert!(
            said.contains("--lower") && said.contains("probability"),
            "{said}"
        );
    }
    for level in ["0", "1", "1.5", "nan"] {
        let words =
            format!("predict all.pv --view a=s/view1.csv --target b --out q.csv --level {level}");
        let said = fails(at, &words, 2);
        assert!(said.contains("--level"), "{said}");
    }
}

/// Data of which no cell can be hidden are too small; one number of factors is the
/// only one.
#[test]
fn choose_k_of_little() {
    let dir = folder();
    let at = dir.path();
    put(at, "one.csv", "id,a,b,c\ns1,1,2,3\n");
    put(at, "column.csv", "id,a\ns1,1\ns2,2\ns3,5\ns4,2\n");
    for file in ["one.csv", "column.csv"] {
        let err = fails(at, &format!("choose-k --view x={file}"), 1);
        assert!(err.contains("the data are too small"), "{err}");
        assert!(!err.contains("share ="), "{err}");
    }
    let text = ok(
        at,
        "choose-k --view a=s/view1.csv --candidates 2 --repeats 1 --restarts 1",
    );
    assert!(text.contains("it is the only number"), "{text}");
    assert!(!text.contains("every smaller number"), "{text}");
}

/// What is lacking is named as the command names it.
#[test]
fn advice_names_flags_and_files() {
    let dir = folder();
    let at = dir.path();
    let err = fails(at, "export m.pv --inclusion a=i.csv", 1);
    assert!(err.contains("--weights spike-slab"), "{err}");
    let err = fails(at, "inspect s/view1.csv", 1);
    assert!(
        err.contains("neither a model file nor a checkpoint of polyview"),
        "{err}"
    );
}

/// A prior for all views and relevance for one of them contradict each other; the choices are named, "none" as a name.
#[test]
fn priors_that_contradict_are_refused() {
    let dir = folder();
    let at = dir.path();
    let fit = "fit --view a=s/view1.csv --out p.pv --weights";
    let err = fails(at, &format!("{fit} spike-slab --select-features a"), 2);
    assert!(err.contains("'a' are given a prior twice"), "{err}");
    let err = fails(at, &format!("{fit} lasso"), 2);
    assert!(err.contains("there are 'none', ard"), "{err}");
}
