//! How labels are predicted where nothing is said of it (docs/decisions/0084-mixtures-of-ways.md).

use std::fmt::Write;
use std::path::Path;

use crate::common::{fails, get, ok, put, said};

const N: usize = 60;

/// Evenly spread between -1 and 1, by place.
fn number(n: usize, d: usize) -> f64 {
    let x = (n as f64 + 1.0) * [0.618_034, 0.414_214, 0.732_051, 0.236_068, 0.645_751][d];
    2.0 * x.fract() - 1.0
}

/// Numbers of one factor and their own, classes of the factor and one number, and a wide table of zeros and ones.
fn tables(at: &Path) {
    let (mut x, mut y, mut wide) = (
        "id,a,b,c,d\n".to_owned(),
        "id,kind\n".to_owned(),
        "id".to_owned(),
    );
    for d in 0..24 {
        let _ = write!(wide, ",m{d}");
    }
    wide.push('\n');
    for n in 0..N {
        let of = |d: usize| number(n, 0) + 0.6 * number(n, d);
        let _ = writeln!(
            x,
            "s{n},{:.4},{:.4},{:.4},{:.4}",
            of(1),
            of(2),
            of(3),
            of(4)
        );
        let kind = if of(1) + 0.4 * number(n, 4) > 0.0 {
            "ill"
        } else {
            "well"
        };
        let _ = writeln!(y, "s{n},{kind}");
        let _ = write!(wide, "s{n}");
        for d in 0..24 {
            let _ = write!(wide, ",{}", u8::from(number(n, d % 5) > 0.3));
        }
        wide.push('\n');
    }
    put(at, "x.csv", x);
    put(at, "y.csv", y);
    put(at, "wide.csv", wide);
}

/// A view of one number, or of one column of levels, is an outcome; one of two numbers may be features.
#[test]
fn single_columns_are_mixed_and_several_are_not() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    tables(at);
    let (mut one, mut two, mut level) = (
        "id,v\n".to_owned(),
        "id,v,w\n".to_owned(),
        "id,l\n".to_owned(),
    );
    for n in 0..N {
        let v = number(n, 0) + 0.3 * number(n, 2);
        let _ = writeln!(one, "s{n},{v:.4}");
        let _ = writeln!(two, "s{n},{v:.4},{:.4}", number(n, 3));
        let _ = writeln!(level, "s{n},{}", 1 + u8::from(v > -0.3) + u8::from(v > 0.4));
    }
    put(at, "one.csv", one);
    put(at, "two.csv", two);
    put(at, "level.csv", level);
    for (view, is_mixed) in [
        ("v=one.csv:gaussian", true),
        ("v=two.csv:gaussian", false),
        ("v=level.csv:ordinal", true),
    ] {
        let told = said(
            at,
            &format!(
                "fit --model sshiba --view x=x.csv:gaussian --view {view} -k 2 --out m.pv --force"
            ),
        );
        let mixed = told.contains("v: predicted from other views by a mixture");
        assert_eq!(mixed, is_mixed, "{view}: {told}");
        said(
            at,
            "predict m.pv --view x=x.csv --target v --out v.csv --force",
        );
    }
    // of two single columns neither is taken for the one to predict; where all other views have a kernel the numbers that are left are
    let told = said(
        at,
        "fit --view v=one.csv:gaussian --view l=level.csv:ordinal -k 2 --out m.pv --force --model sshiba",
    );
    for part in [
        "v, l: predicted from each other by the joint fit alone",
        "with --settle v=mixture the regression of 'v' goes by l, with --settle l=mixture the regression of 'l' goes by v",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    for views in [
        "v=one.csv:gaussian --view l=level.csv:ordinal --settle v=mixture",
        "v=one.csv:gaussian --view l=level.csv:ordinal --view x=x.csv:gaussian",
        "v=two.csv:gaussian --view x=x.csv:gaussian --kernel x=rbf",
    ] {
        let told = said(
            at,
            &format!("fit --view {views} -k 2 --out m.pv --force --model sshiba"),
        );
        assert!(
            told.contains("weights/v: predicted by a mixture"),
            "{views}: {told}"
        );
    }
}

#[test]
fn labels_are_mixed_and_tables_of_features_are_not() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    tables(at);
    let fit = |more: &str| {
        let words = "fit --view x=x.csv:gaussian --view y=y.csv:categorical --view wide=wide.csv:bernoulli -k 2 --seed 1 \
                     --out m.pv --force";
        said(at, &format!("{words} {more}"))
    };
    let by_default = fit("--model sshiba");
    for part in [
        "y: predicted from other views by a mixture of the joint fit and a regression",
        "--no-settle leaves that out",
        "weights/y: predicted by a mixture",
        "60 cells held out in 3 folds",
    ] {
        assert!(by_default.contains(part), "{part}: {by_default}");
    }
    // a wide table is one of features, which is said, and what to do where it is one of labels
    let wide = "wide: predicted from other views by the joint fit alone, as more than 20 columns of zeros and ones are taken for \
                a table of features; --settle wide=mixture mixes";
    assert!(by_default.contains(wide), "{by_default}");
    assert_eq!(
        by_default.matches("wide: predicted").count(),
        1,
        "{by_default}"
    );
    let journal = ok(at, "inspect m.pv --journal");
    assert!(journal.contains("predicted by a mixture"), "{journal}");
    ok(
        at,
        "predict m.pv --view x=x.csv --view wide=wide.csv --target y --out p.csv",
    );
    let mixed = get(at, "p.csv");
    // what is said is done, and other models are as they were
    for more in [
        "--model sshiba --no-settle",
        "--model sshiba --settle y=no",
        "--model sshiba --engine gibbs --sweeps 4 --warm-up 2 --thin 1",
    ] {
        let err = fit(more);
        assert!(!err.contains("by a mixture"), "{more}: {err}");
    }
    assert!(fit("--model mlfs --max-sweeps 10").contains("by a mixture"));
    assert!(!fit("--model sshiba --settle y").contains("by a mixture"));
    let journal = ok(at, "inspect m.pv --journal");
    assert!(journal.contains("settled on factors"), "{journal}");
    fit("--model sshiba --no-settle");
    ok(
        at,
        "predict m.pv --view x=x.csv --view wide=wide.csv --target y --out q.csv",
    );
    assert_ne!(mixed, get(at, "q.csv"));
    for told in ["--settle wide=mixture", "--no-settle"] {
        let text = fit(&format!("--model sshiba --max-sweeps 10 {told}"));
        assert!(!text.contains("joint fit alone, as more"), "{text}");
    }
}

#[test]
fn targets_of_cross_validation_are_predicted_as_fits_do() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    tables(at);
    let words = "cross-validate --view x=x.csv:gaussian --view wide=wide.csv:bernoulli -k 2 --seed 1 --folds 3 --model sshiba \
                 --no-baselines --no-two-steps";
    let of = |more: &str| said(at, &format!("{words} {more}"));
    let err = of("--target x --out a.csv");
    assert!(
        err.contains("x: predicted from other views by a mixture"),
        "{err}"
    );
    let err = of("--target x --no-settle --out b.csv");
    assert!(!err.contains("mixture"), "{err}");
    assert_ne!(get(at, "a.csv"), get(at, "b.csv"));
}

/// Once for all models that are compared, and not where nothing is fitted.
#[test]
fn mixtures_of_compared_models_are_said_once_and_only_when_they_are_made() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    tables(at);
    let words = "cross-validate --model sshiba --against mofa --view x=x.csv:gaussian --view y=y.csv:categorical --target y \
                 -k 2 --seed 1 --max-sweeps 20 --no-two-steps";
    let note = "predicted from other views by a mixture";
    let text = said(at, &format!("{words} --folds 2"));
    assert_eq!(text.matches(note).count(), 1, "{text}");
    // refused when folds are made
    let text = fails(at, &format!("{words} --folds 400"), 1);
    assert!(!text.contains(note), "{text}");
}

/// A mixture that is asked for and cannot be is said to be none.
#[test]
fn likelihoods_without_a_regression_are_not_mixed_and_it_is_said() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    tables(at);
    let of = |likelihood: &str, more: &str| {
        let words = "cross-validate --model sshiba --view x=x.csv:gaussian -k 2 --seed 1 --folds 2 --max-sweeps 20 \
                     --no-baselines --no-two-steps";
        let text = said(
            at,
            &format!("{words} --view w=wide.csv:{likelihood} --target w {more}"),
        );
        text.contains("w: predicted by the joint fit alone")
    };
    assert!(of("svm", "--settle w=mixture"));
    assert!(!of("svm", ""));
    assert!(!of("bernoulli", "--settle w=mixture"));
}

/// One table beside another: of two label views neither is a source of the other's regression, and alone they have none.
#[test]
fn labels_are_no_sources_of_each_other_and_it_is_said() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    tables(at);
    let mut z = "id,late\n".to_owned();
    for n in 0..N {
        let _ = writeln!(
            z,
            "s{n},{}",
            u8::from(number(n, 0) + 0.3 * number(n, 3) > 0.1)
        );
    }
    put(at, "z.csv", z);
    let labels = "--view y=y.csv:categorical --view z=z.csv:bernoulli";
    let of = |more: &str| {
        said(
            at,
            &format!("fit --model sshiba -k 2 --seed 1 --out m.pv --force {more}"),
        )
    };
    let both = of(&format!("{labels} --view x=x.csv:gaussian"));
    for part in [
        "y, z are hidden together while shares are found, and a new sample that has some of them is predicted by a regression",
        "'z', a target as well, is no source of the regression",
        "'y', a target as well, is no source of the regression",
    ] {
        assert!(both.contains(part), "{part}: {both}");
    }
    let one = of("--view y=y.csv:categorical --view x=x.csv:gaussian");
    assert!(!one.contains("source"), "{one}");
    // nothing is left that a regression could go by
    let alone = of(labels);
    for part in [
        "y, z: predicted from each other by the joint fit alone",
        "with --settle y=mixture the regression of 'y' goes by z",
    ] {
        assert!(alone.contains(part), "{part}: {alone}");
    }
    // which is true
    let asked = of(&format!("{labels} --settle y=mixture"));
    assert!(
        asked.contains("weights/y: predicted by a mixture"),
        "{asked}"
    );
    assert!(
        asked.contains("z: predicted by the joint fit alone")
            && asked.contains("with --settle y=mixture no other view"),
        "{asked}"
    );
    let words = of("--view y=y.csv:categorical");
    assert!(!words.contains("joint fit"), "{words}");
}

/// One view that is asked for leaves the others as they were by default, as far as anything is left to predict them from, and
/// where nothing is that is said.
#[test]
fn a_mixture_that_is_asked_for_takes_no_default_away_in_silence() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    tables(at);
    let views = "--view x=x.csv:gaussian --view y=y.csv:categorical";
    let words = "fit --model sshiba -k 2 --seed 1 --max-sweeps 20 --out m.pv --force";
    let of = |more: &str| said(at, &format!("{words} {views} {more}"));
    let err = of("--settle x=mixture");
    for part in [
        "y: predicted by the joint fit alone, not by a mixture of it and a regression as by default",
        "with --settle x=mixture no other view is left; fit a second model without, which predicts y",
        "weights/x: predicted by a mixture",
    ] {
        assert!(err.contains(part), "{part}: {err}");
    }
    let err = of("--settle x=mixture --view wide=wide.csv:bernoulli");
    for part in [
        "y: predicted from other views by a mixture",
        "x, y are hidden together while shares are found",
        "weights/x: predicted by a mixture",
        "weights/y: predicted by a mixture",
    ] {
        assert!(err.contains(part), "{part}: {err}");
    }
    let err = fails(
        at,
        &format!("{words} {views} --settle x=mixture --settle y=mixture"),
        2,
    );
    let err = err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        err.contains("predicted from what is no target, and here all views are (x, y); leave one of them out, or fit a model for each"),
        "{err}"
    );
}

#[test]
fn draws_take_the_place_of_a_mixture_and_it_is_said() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    tables(at);
    let words = "fit --model sshiba -k 2 --seed 1 --max-sweeps 20 --polish 6 --view x=x.csv:gaussian --out m.pv --force";
    let of = |more: &str| said(at, &format!("{words} {more}"));
    let part = "y: predicted from other views by the draws alone, not by a mixture with a regression as without --polish";
    assert!(of("--view y=y.csv:categorical").contains(part));
    for more in [
        "--view y=y.csv:categorical --no-settle",
        "--view wide=wide.csv:bernoulli",
    ] {
        assert!(!of(more).contains("mixture"), "{more}");
    }
}

/// What fills holes is the joint fit, which is not what predicts the view from others.
#[test]
fn holes_are_filled_by_the_joint_fit_and_it_is_said() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    tables(at);
    let full = get(at, "y.csv");
    let fit = |more: &str| {
        let words = "fit --model sshiba -k 2 --seed 1 --view x=x.csv:gaussian --view y=y.csv:categorical --out m.pv --force";
        ok(at, &format!("{words} {more}"));
    };
    let fill = |view: &str| {
        said(
            at,
            &format!("impute m.pv --view {view} --out f.csv --force"),
        )
    };
    let note = "note: view 'y': holes are filled by the joint fit";
    fit("");
    assert!(!fill("y").contains(note));
    // a hole
    let holes: Vec<&str> = full.lines().filter(|l| !l.starts_with("s7,")).collect();
    put(at, "y.csv", holes.join("\n") + "\ns7,\n");
    fit("");
    let err = fill("y");
    assert_eq!(err.matches(note).count(), 1, "{err}");
    assert!(!fill("x").contains("joint fit"));
    fit("--no-settle");
    assert!(!fill("y").contains(note));
}

#[test]
fn what_no_regression_stands_beside_is_said() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    tables(at);
    let ids = get(at, "x.csv");
    let mut about = "sample,site\n".to_owned();
    for (n, line) in ids.lines().skip(1).enumerate() {
        let id = line.split(',').next().unwrap_or_default();
        let _ = writeln!(about, "{id},{}", ["one", "two"][n % 2]);
    }
    put(at, "about.csv", about);
    let views = "--view x=x.csv:gaussian --view y=y.csv:categorical";
    let words = "fit --model sshiba -k 2 --seed 1 --max-sweeps 10 --out m.pv --force";
    let part = "y: predicted from other views by the joint fit alone, not by a mixture of it and a regression as by default";
    for (more, why) in [
        (
            "--metadata about.csv --groups site --group-intercepts",
            "groups of samples have parameters of their own",
        ),
        (
            "--covariates about.csv --adjust site",
            "the fit is adjusted",
        ),
    ] {
        let err = said(at, &format!("{words} {views} {more}"));
        assert!(err.contains(&format!("{part}: {why}")), "{more}: {err}");
        let off = said(at, &format!("{words} {views} {more} --no-settle"));
        assert!(!off.contains(part), "{more}: {off}");
    }
}

/// What is kept together where no sample is held out is said to be kept for nothing.
#[test]
fn samples_kept_together_for_nothing_are_said() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    tables(at);
    let people: Vec<String> = (0..N).map(|n| format!("s{n},p{}", n / 3)).collect();
    put(at, "m.csv", format!("id,person\n{}\n", people.join("\n")));
    let fit = "fit --model sshiba -k 2 --max-sweeps 30 --view x=x.csv:gaussian --view y=y.csv:categorical \
               --keep-together person --force --out m.pv";
    let note = said(at, &format!("{fit} --metadata m.csv"));
    assert!(!note.contains("no effect"), "{note}");
    let note = said(at, &format!("{fit} --metadata m.csv --no-settle"));
    assert!(
        note.contains("--keep-together person has no effect"),
        "{note}"
    );
    let error = fails(at, fit, 2);
    assert!(error.contains("give it with --metadata FILE"), "{error}");
}
