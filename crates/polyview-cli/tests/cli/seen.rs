//! What is said of what a fit has seen: covariates, groups, offsets, words that may mean missing.

use crate::common::{fails, get, ok, put, said};

fn mice() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    ok(dir.path(), "datasets nutrimouse --out-dir .");
    dir
}

#[test]
fn reports_and_inspect_say_what_a_fit_was_adjusted_for() {
    let dir = mice();
    let at = dir.path();
    let fit = "fit --view genes=genes.csv --view lipids=lipids.csv -k 3 --max-sweeps 30 --seed 1";
    ok(
        at,
        &format!("{fit} --covariates samples.csv --adjust genotype,diet --out a.pv"),
    );
    let shown = ok(at, "inspect a.pv");
    assert!(
        shown.contains("adjusted  for 'genotype', 'diet'"),
        "{shown}"
    );
    ok(at, "report a.pv --out a.html");
    let page = get(at, "a.html");
    assert!(
        page.contains("Adjusted for") && page.contains("Factors, covariates and offset together")
    );
    assert!(page.contains("The model has seen genotype, diet"));
    assert!(!page.contains("Metadata do not enter the fit."));
    assert!(page.contains("all factors"));
    ok(at, &format!("{fit} --out b.pv --metadata samples.csv"));
    assert!(!ok(at, "inspect b.pv").contains("adjusted"));
    ok(at, "report b.pv --out b.html --metadata samples.csv");
    assert!(get(at, "b.html").contains("Metadata do not enter the fit."));
    // a row that is not there is not one without a value
    let some: Vec<String> = get(at, "samples.csv")
        .lines()
        .filter(|l| !l.starts_with("mouse01,"))
        .map(|l| format!("{l}\n"))
        .collect();
    let some = some.concat();
    put(at, "some.csv", some);
    let e = fails(
        at,
        "project a.pv --view genes=genes.csv --covariates some.csv --out z.csv",
        2,
    );
    assert!(
        e.contains("'mouse01'") && e.contains("give it a row with one"),
        "{e}"
    );
}

#[test]
fn a_way_that_the_program_chose_is_not_the_users() {
    let dir = mice();
    let at = dir.path();
    ok(
        at,
        "fit --model sshiba --view lipids=lipids.csv --view knockout=knockout.csv:bernoulli -k 2 \
         --max-sweeps 40 --seed 1 --out m.pv",
    );
    ok(at, "report m.pv --out m.html");
    let page = get(at, "m.html");
    let row = page
        .split("<tr")
        .find(|r| r.contains(">settle<") && r.contains("mixture"));
    let row = row.expect("how labels are settled");
    assert!(row.contains("guessed") && !row.contains(">user<"), "{row}");
    let journal = ok(at, "inspect m.pv --journal");
    let words: Vec<&str> = journal.split_whitespace().collect();
    assert!(
        words
            .join(" ")
            .contains("means of what these cells leave open"),
        "{journal}"
    );
}

#[test]
fn what_a_mixture_lacks_of_new_samples_is_said() {
    let dir = mice();
    let at = dir.path();
    ok(
        at,
        "fit --model sshiba --view genes=genes.csv --view lipids=lipids.csv --view diet=diet.csv:categorical \
         -k 2 --max-sweeps 40 --seed 1 --out m.pv",
    );
    let predict = "predict m.pv --target diet --view genes=new-genes.csv";
    let note = said(at, &format!("{predict} --out a.csv"));
    let lacks = "8 of 8 sample(s) lack the view 'lipids', which the regression";
    assert!(note.contains(lacks), "{note}");
    let both = format!("{predict} --view lipids=new-lipids.csv --out b.csv");
    assert!(!said(at, &both).contains(" lack "));
}

#[test]
fn classes_called_what_means_missing_are_named() {
    let dir = mice();
    let at = dir.path();
    let diet = get(at, "diet.csv").replace(",fish", ",-");
    put(at, "diet.csv", diet);
    let fit = "fit --model sshiba --view lipids=lipids.csv --view diet=diet.csv:categorical -k 2 \
               --max-sweeps 20 --no-settle --seed 1";
    let err = said(at, &format!("{fit} --out a.pv"));
    assert!(
        err.contains("'-' is taken for a class") && err.contains("--na '-'"),
        "{err}"
    );
    let err = said(at, &format!("{fit} --na - --out b.pv"));
    assert!(!err.contains("is taken for a class"), "{err}");
}

#[test]
fn scores_say_what_is_missing_beside_them() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    put(at, "train.csv", "id,x\na,1\nb,2\nc,3\n");
    put(at, "truth.csv", "id,x\nd,1\ne,2\n");
    put(at, "p.csv", "id,x\nd,1\ne,2\n");
    put(at, "about.csv", "id,g\nd,u\ne,v\na,u\n");
    let err = said(
        at,
        "score --truth truth.csv --predicted p.csv --kind real --training train.csv --metadata about.csv --groups g",
    );
    assert!(
        err.contains("2 of 3 training sample(s), first 'b'"),
        "{err}"
    );
    // two columns hold the words that probabilities are of
    put(at, "labels.csv", "id,one,two\nd,yes,no\ne,no,yes\n");
    put(at, "pr.csv", "id,no,yes\nd,.2,.8\ne,.6,.4\n");
    let e = fails(
        at,
        "score --truth labels.csv --predicted pr.csv --kind binary",
        1,
    );
    let e = e.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(e.contains("'one' and 'two'") && e.contains("alone"), "{e}");
}
