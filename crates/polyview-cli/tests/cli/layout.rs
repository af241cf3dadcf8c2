//! Repeated visits as a study.

use std::fmt::Write;
use std::path::Path;

use crate::common::{fails, get, ok, put, said};

/// Thirty people at five visits: a volume that shrinks, an assay with limits, a score, a diagnosis.
fn visits(at: &Path) {
    let mut text = "RID,month,age,vol_a,vol_b,tau,score,dx\n".to_owned();
    for rid in 0..30 {
        let at = |step: f64| (f64::from(rid) * step).fract();
        let (start, rate) = (at(0.618_034), at(0.754_878));
        for visit in 0..5 {
            let noise = |k: i32| {
                f64::from((rid * 7 + visit * 13 + rid * rid * 3 + k * 5) % 17) / 17.0 - 0.47
            };
            let s = start + rate * f64::from(visit) / 4.0;
            let month = 6 * visit;
            if (rid + 2 * visit) % 7 == 0 {
                continue;
            }
            let tau = 60.0 + 200.0 * s + 60.0 * noise(1);
            let tau = if tau < 100.0 {
                "<100".to_owned()
            } else {
                format!("{tau:.1}")
            };
            let dx = if s + 0.3 * noise(5) < 0.7 {
                "well"
            } else {
                "ill"
            };
            let _ = writeln!(
                text,
                "{rid},{month},{},{:.2},{:.3},{tau},{:.1},{dx}",
                60 + rid % 20,
                50.0 - 20.0 * s + 6.0 * noise(2),
                5.0 - s + 0.5 * noise(3),
                10.0 + 30.0 * s + 8.0 * noise(4)
            );
        }
    }
    put(at, "visits.csv", text);
}

const LAYOUT: &str = "layout --table visits.csv --sample RID --time month --step 6 --window 2 --views vol=vol_*,tau=tau --static person=age --targets dx:categorical,score";

#[test]
fn a_study_of_visits_is_fitted_and_predicts() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    visits(at);
    let note = said(
        at,
        &format!("{LAYOUT} --until 18 --predict-at 24 --out-dir study --outputs both"),
    );
    assert!(note.contains("'tau' has limits"), "{note}");
    assert!(note.contains("7 views written to study"), "{note}");
    let study = get(at, "study/study.toml");
    for view in [
        "vol-12", "vol-6", "tau-12", "tau-6", "person", "dx", "score",
    ] {
        assert!(study.contains(&format!("name = \"{view}\"")), "{study}");
        assert!(at.join(format!("study/{view}.csv")).exists(), "{view}");
    }
    assert!(get(at, "study/tau-6.csv").contains("<100"));
    // what is predicted is said in the study, and how
    assert!(study.contains("targets = [\"dx\", \"score\"]"), "{study}");
    assert!(
        note.contains("dx, score are its targets, together")
            && note.contains("polyview cross-validate --spec study/study.toml tells how well")
            && study.contains("keep-together = \"RID\""),
        "{note}"
    );
    let one = get(at, "study/study-score.toml");
    assert!(one.contains("targets = [\"score\"]"), "{one}");
    assert!(!one.contains("name = \"dx\"") && one.contains("name = \"score\""));
    let about = get(at, "study/samples.csv");
    assert!(about.starts_with("sample,RID,month\n"), "{about}");
    assert!(about.contains("\n1@6,1,6\n"), "{about}");
    assert!(get(at, "study/new-samples.csv").contains("\n1@24,1,24\n"));

    ok(
        at,
        "fit --spec study/study.toml -k 6 --out m.pv --max-sweeps 400 --quiet",
    );
    let inputs = "--view vol-12=study/new-vol-12.csv --view vol-6=study/new-vol-6.csv --view tau-12=study/new-tau-12.csv --view tau-6=study/new-tau-6.csv --view person=study/new-person.csv";
    ok(
        at,
        &format!("predict m.pv {inputs} --target score --out p.csv"),
    );
    for target in ["score", "dx"] {
        let note = said(
            at,
            &format!("predict m.pv {inputs} --target {target} --out all.csv --force"),
        );
        // no regression of a target goes by another
        let lacks = note.split(" lack ").nth(1).unwrap_or_default();
        let lacks = lacks.split("which").next().unwrap_or_default();
        assert!(lacks.contains("vol-12"), "{note}");
        assert!(
            !lacks.contains("'dx'") && !lacks.contains("'score'"),
            "{note}"
        );
    }
    let score = ok(
        at,
        "score --truth study/new-score.csv --predicted p.csv --kind real --training study/score.csv --json",
    );
    let score: serde_json::Value = serde_json::from_str(&score).expect("JSON");
    assert!(score["r2"].as_f64().expect("a number") > 0.5, "{score}");
    ok(
        at,
        &format!("predict m.pv {inputs} --target dx --out d.csv"),
    );
    ok(
        at,
        "score --truth study/new-dx.csv --predicted d.csv --kind categorical",
    );
    // folds keep the visits of a person together
    let folds = ok(
        at,
        "cross-validate --spec study/study.toml -k 4 --target score --folds 3 --max-sweeps 60 --quiet",
    );
    assert!(folds.contains("score"), "{folds}");
    // all targets of the study, none from another; one alone is warned of
    let cross = "cross-validate --spec study/study.toml -k 4 --folds 3 --max-sweeps 60 --no-baselines --no-two-steps";
    let folds = ok(at, &format!("{cross} --json --quiet"));
    let folds: serde_json::Value = serde_json::from_str(&folds).expect("JSON");
    let mut targets: Vec<&str> = folds["summary"]
        .as_array()
        .expect("rows")
        .iter()
        .filter_map(|row| row["target"].as_str())
        .collect();
    targets.dedup();
    assert_eq!(targets, ["dx", "score"]);
    let note = said(at, &format!("{cross} --target dx"));
    assert!(
        note.contains("score as target(s) too, and here 'dx' is predicted from them")
            && note.contains("--target dx --target score"),
        "{note}"
    );
    assert!(!said(at, cross).contains("target(s) too"));
    // targets that cannot be
    for (targets, what) in [
        (
            "\"dx\", \"nothing\"",
            "targets: there is no view 'nothing'; there is",
        ),
        (
            "\"dx\", \"score\", \"person\", \"vol-12\", \"vol-6\", \"tau-12\", \"tau-6\"",
            "every view is one",
        ),
    ] {
        let text = study.replace("\"dx\", \"score\"", targets);
        put(at, "study/wrong.toml", text);
        let why = fails(at, "fit --spec study/wrong.toml --out w.pv", 2);
        let why = why.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(why.contains(what), "{why}");
    }
}

#[test]
fn limits_may_be_numbers_and_the_next_visit_is_what_is_new() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    visits(at);
    let note = said(
        at,
        &format!("{LAYOUT} --set-to-limits --out-dir s --model mofa"),
    );
    assert!(!note.contains("limits, such as"), "{note}");
    let tau = get(at, "s/tau-6.csv");
    assert!(tau.contains(",100\n") && !tau.contains('<'), "{tau}");
    assert!(get(at, "s/study.toml").contains("model = \"mofa\""));
    // one step after each last visit, of which nobody knows the truth
    assert!(get(at, "s/new-samples.csv").contains("\n1@30,1,30\n"));
    assert!(!at.join("s/new-score.csv").exists());
    // a past diagnosis as columns of 0 and 1
    ok(
        at,
        "layout --table visits.csv --sample RID --time month --step 6 --window 1 --views past=dx:multilabel --targets score --out-dir t",
    );
    assert!(get(at, "t/past-6.csv").starts_with("sample,dx=ill,dx=well\n"));
    // written once, and never over what is there
    let err = fails(at, &format!("{LAYOUT} --out-dir s"), 1);
    assert!(err.contains("--force"), "{err}");
}

#[test]
fn the_cohort_becomes_the_views_of_the_thesis() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    let note = said(at, "datasets cohort --out-dir .");
    assert!(note.contains("1 tables of 1390 samples"), "{note}");
    let json = ok(
        at,
        "--json --quiet layout --table visits.csv --sample RID --time month --step 6 --window 5 --views td=MMSE+RAVLT_*+FAQ+MRI_*+AV45_*+CSF_*+Ventricles+ADAS13,past=DX:multilabel --static ti=AGE+EDUCATION+APOE4+GENDER+FDG_* --targets DX:multilabel,Ventricles,ADAS13 --until 30 --predict-at 36 --out-dir study",
    );
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    // five of tests and measurements, five of diagnoses, one of what does not change, three targets
    assert_eq!(json["views"], 14, "{json}");
    // month 30 is seen by training, and by what is said of month 36
    assert!(at.join("study/new-td-6.csv").exists());
    let first = get(at, "study/td-6.csv");
    let header = first.lines().next().expect("a header");
    assert_eq!(header.split(',').count(), 1 + 23);
    assert_eq!(
        get(at, "study/DX.csv").lines().next(),
        Some("sample,DX=AD,DX=MCI,DX=NC")
    );
}

#[test]
fn what_cannot_be_is_said_with_the_mend() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    visits(at);
    put(at, "twice.csv", "RID,month,x,y\n1,0,1,2\n1,0,2,3\n");
    put(at, "words.csv", "RID,month,x,y\n1,bl,1,2\n1,m06,2,3\n");
    let of = |table: &str| {
        format!(
            "layout --table {table} --sample RID --time month --step 6 --window 2 --views x=x --targets y --out-dir o"
        )
    };
    let cases = [
        (of("twice.csv"), 1, "two visits at 0, in lines 2 and 3"),
        (of("words.csv"), 1, "'bl' is no time"),
        (of("no.csv"), 1, "no.csv"),
        (
            LAYOUT.replace("vol_*", "vil_*") + " --out-dir o",
            1,
            "no column matches 'vil_*'",
        ),
        (
            LAYOUT.replace("RID", "rid") + " --out-dir o",
            1,
            "no column 'rid'",
        ),
        (
            LAYOUT.replace("--step 6", "--step 0") + " --out-dir o",
            1,
            "above 0",
        ),
        (
            LAYOUT.replace("vol=vol_*", "=vol_*") + " --out-dir o",
            2,
            "NAME=COLUMNS",
        ),
        (
            LAYOUT.replace("dx:categorical", "dx:categoricle") + " --out-dir o",
            2,
            "categorical",
        ),
        (
            LAYOUT.replace("dx:categorical", "dx") + " --out-dir o",
            1,
            "'well' is no number",
        ),
        (
            LAYOUT.replace("tau=tau", "tau=tau:gaussian") + " --out-dir o",
            1,
            "--set-to-limits",
        ),
        (
            LAYOUT.replace("score", "score:survival") + " --out-dir o",
            2,
            "by hand",
        ),
    ];
    for (words, code, says) in cases {
        let err = fails(at, &words, code);
        let err = err.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(err.contains(says), "{words}: {err}");
        assert!(!at.join("o/study.toml").exists());
    }
}

/// What is predicted is not what was seen, and nobody takes tables of one layout for those of another.
#[test]
fn new_samples_are_new_and_tables_of_one_layout() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    visits(at);
    for until in [12, 24] {
        let words = format!("{LAYOUT} --until {until} --predict-at 12 --out-dir o");
        let err = fails(at, &words, 1);
        let err = err.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            err.contains("visits.csv") && err.contains("--until 6 with --predict-at 12"),
            "{err}"
        );
        assert!(!at.join("o/study.toml").exists());
    }
    let note = said(
        at,
        &format!("{LAYOUT} --until 6 --predict-at 24 --out-dir none"),
    );
    assert!(note.contains("there are no new samples"), "{note}");
    let note = said(at, &format!("{LAYOUT} --predict-at 17 --out-dir s"));
    assert!(!note.contains("there are no new samples"), "{note}");
    assert!(note.contains("new samples is 18, the multiple"), "{note}");
    assert!(!note.contains("earlier layout"), "{note}");
    // the tables of another layout stay where they are, and are named; a table of one's own is not
    put(at, "s/mine.csv", "a,b\n1,2\n");
    let other = LAYOUT.replace("vol=vol_*,", "");
    let note = said(at, &format!("{other} --outputs each --out-dir s --force"));
    let note = note.split_whitespace().collect::<Vec<_>>().join(" ");
    let stale = "not of this one: new-dx.csv, new-score.csv, new-vol-12.csv, new-vol-6.csv, study.toml, vol-12.csv, vol-6.csv; remove";
    assert!(note.contains(stale), "{note}");
    assert!(at.join("s/vol-6.csv").exists());
}

#[test]
fn windows_without_targets_may_be_rows() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    visits(at);
    let of = |rows: &str, folder: &str| {
        ok(
            at,
            &format!("{LAYOUT} --until 18 --predict-at 30 {rows} --out-dir {folder}"),
        );
        get(at, &format!("{folder}/samples.csv"))
    };
    let (some, all, new) = (
        of("", "some"),
        of("--rows all", "all"),
        of("--rows all-and-new", "new"),
    );
    // month 24 has a past up to month 18, and nobody looks at its targets
    assert!(!some.contains("\n2@24,") && all.contains("\n2@24,") && !all.contains("\n2@30,"));
    assert!(new.contains("\n2@30,"));
    let row = |folder: &str, sample: &str| {
        let table = get(at, &format!("{folder}/score.csv"));
        let found = table.lines().find(|l| l.starts_with(sample));
        found.unwrap_or_default().to_owned()
    };
    assert_eq!(row("all", "2@24,"), "2@24,");
    assert_eq!(row("new", "2@30,"), "2@30,");
}

/// Predictions further than one step ahead have rows of training that look as far; without, what new samples lack is said.
#[test]
fn windows_may_look_further_ahead() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    visits(at);
    let told = said(
        at,
        &format!("{LAYOUT} --until 12 --predict-at 24 --out-dir short"),
    );
    assert!(
        told.contains("warning: new samples lack vol-6, tau-6: they are 2 steps after 12")
            && told.contains("what they lack is taken to be what these factors")
            && told.contains("lay out with --ahead 2"),
        "{told}"
    );
    // which is what predictions say as well
    ok(
        at,
        "fit --spec short/study.toml -k 3 --max-sweeps 60 --quiet --out short.pv",
    );
    let predicted = said(
        at,
        "predict short.pv --view vol-12=short/new-vol-12.csv --view tau-12=short/new-tau-12.csv --view person=short/new-person.csv \
         --target score --out short.csv",
    );
    assert!(
        predicted.contains("a regression on what they have is made from the training samples"),
        "{predicted}"
    );
    assert!(!at.join("short/new-vol-6.csv").exists());
    let told = said(
        at,
        &format!("{LAYOUT} --ahead 2 --predict-at 30 --out-dir far"),
    );
    assert!(!told.contains("warning"), "{told}");
    for view in ["vol-18", "vol-12", "tau-18", "tau-12"] {
        assert!(at.join(format!("far/{view}.csv")).exists(), "{view}");
        assert!(at.join(format!("far/new-{view}.csv")).exists(), "{view}");
    }
    assert!(!at.join("far/vol-6.csv").exists());
    // what holds at month 12 is said by month 0, and training sees nothing after month 18
    let about = get(at, "far/samples.csv");
    assert!(
        about.contains("@12,") && !about.contains("@6,") && !about.contains("@24,"),
        "{about}"
    );
    // a mixture with a regression on the features of all views can be had
    ok(
        at,
        "fit --spec far/study.toml -k 3 --max-sweeps 60 --quiet --out m.pv",
    );
    ok(
        at,
        "predict m.pv --view vol-12=far/new-vol-12.csv --view vol-18=far/new-vol-18.csv --view tau-12=far/new-tau-12.csv --view tau-18=far/new-tau-18.csv --view person=far/new-person.csv --target score --out p.csv",
    );
    // without --predict-at two steps after each last visit
    ok(at, &format!("{LAYOUT} --ahead 2 --out-dir next"));
    assert!(get(at, "next/new-samples.csv").contains("\n1@36,1,36\n"));
    let err = fails(at, &format!("{LAYOUT} --ahead 0 --out-dir no"), 1);
    assert!(err.contains("number of steps ahead is 0"), "{err}");
}

/// What options say wrongly is seen before the table is, and columns that are not there before its cells.
#[test]
fn options_are_looked_at_first() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    put(
        at,
        "twice.csv",
        "RID,month,vol_a,tau,age,score,dx\n1,0,1,2,3,4,a\n1,0,2,3,3,4,a\n",
    );
    for (words, code, says) in [
        (
            LAYOUT.replace("dx:categorical", "dx:catgorical"),
            2,
            "did you mean 'categorical'",
        ),
        (format!("{LAYOUT} --until x"), 2, "give a number"),
        (
            format!("{LAYOUT} --until 24 --predict-at 12"),
            1,
            "--until 6 with --predict-at 12",
        ),
        (
            LAYOUT.replace("--window 2", "--window 0"),
            1,
            "the window is 0",
        ),
    ] {
        let words = words.replace("visits.csv", "no-such-table.csv") + " --out-dir o";
        let err = fails(at, &words, code);
        let err = err.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(err.contains(says), "{words}: {err}");
        assert!(!at.join("o").exists());
    }
    for (from, to) in [
        ("tau=tau", "tau=tao"),
        ("person=age", "person=agee"),
        (",score", ",scorr"),
        ("time month", "time mth"),
    ] {
        let words = LAYOUT.replace(from, to).replace("visits.csv", "twice.csv") + " --out-dir o";
        let err = fails(at, &words, 1);
        assert!(err.contains("no column"), "{words}: {err}");
        assert!(!at.join("o").exists());
    }
}
