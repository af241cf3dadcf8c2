//! Every kind of bad label, and bad predictions of labels.

use std::fmt::Write;

use crate::common::{fails, get, ok, put};
use crate::labels::number;
use crate::transcripts::transcript;

/// A small table of numbers, for labels that are wrong.
const X: &str = "id,a,b,c\ns1,1,2,3\ns2,2,1,0\ns3,0,1,1\ns4,2,2,5\ns5,1,0,1\ns6,3,1,2\n";

#[test]
fn bad_labels() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    put(at, "x.csv", X);
    let column = |name: &str, cells: [&str; 6]| {
        let mut text = format!("id,{name}\n");
        for (n, c) in cells.iter().enumerate() {
            let _ = writeln!(text, "s{},{c}", n + 1);
        }
        text
    };
    put(
        at,
        "bits.csv",
        column("ill", ["0", "1", "1", "0", "1", "0"]),
    );
    put(at, "two.csv", column("ill", ["0", "1", "2", "0", "1", "0"]));
    put(
        at,
        "constant.csv",
        column("ill", ["1", "1", "1", "", "1", "1"]),
    );
    put(
        at,
        "diet.csv",
        column("diet", ["fish", "sun", "sun", "fish", "", "sun"]),
    );
    put(
        at,
        "one.csv",
        column("diet", ["sun", "sun", "sun", "", "", "sun"]),
    );
    put(at, "none.csv", column("diet", ["", "NA", "", "", "", ""]));
    put(
        at,
        "grade.csv",
        column("grade", ["1", "2", "3", "1", "2", "10"]),
    );
    put(
        at,
        "strange.csv",
        column("diet", ["fish", "olive", "olive", "fish", "sun", "sun"]),
    );
    put(at, "columns.csv", "id,a,b\ns1,x,y\ns2,y,x\ns3,x,x\n");
    let fit = "fit --model sshiba -k 1 --view x=x.csv --quiet --view";
    let mut text = String::new();
    for words in [
        "fit -k 1 --view x=x.csv --view y=diet.csv --out m.pv".to_owned(),
        "fit -k 1 --view x=x.csv --view y=bits.csv:bernoulli --out m.pv".to_owned(),
        "fit --model pca -k 1 --view x=x.csv --out m.pv".to_owned(),
        "fit --model sshiba -k 1 --view x=x.csv:logit --out m.pv".to_owned(),
        format!("{fit} y=two.csv:bernoulli --out m.pv"),
        format!("{fit} y=bits.csv:categorical --select-features y --out m.pv"),
        format!("{fit} y=diet.csv:bernoulli --out m.pv"),
        format!("{fit} y=one.csv --out m.pv"),
        format!("{fit} y=none.csv:categorical --out m.pv"),
        format!("{fit} y=none.csv --out m.pv"),
        format!("{fit} y=columns.csv --out m.pv"),
        format!("{fit} y=columns.csv:categorical --out m.pv"),
        format!("{fit} y=constant.csv --out constant.pv"),
        "inspect constant.pv --journal".to_owned(),
        format!("{fit} y=grade.csv:categorical --out grade.pv"),
        "inspect grade.pv".to_owned(),
        format!("{fit} y=diet.csv --out diet.pv"),
        format!("{fit} y=bits.csv --out bits.pv"),
        "project diet.pv --view y=strange.csv --out z.csv".to_owned(),
        "project diet.pv --view y=strange.csv --unknown-class missing --out z.csv".to_owned(),
        "predict diet.pv --view y=strange.csv --target x --out px.csv".to_owned(),
        "predict diet.pv --view y=strange.csv --target x --unknown-class missing --out px.csv"
            .to_owned(),
        "project diet.pv --view y=diet.csv --unknown-class ignore --out z.csv".to_owned(),
        "project diet.pv --view y=diet.csv:bernoulli --out z.csv --force".to_owned(),
        "project diet.pv --view y=none.csv --out z.csv --force".to_owned(),
        "project bits.pv --view y=two.csv --out z.csv --force".to_owned(),
        "project bits.pv --view y=diet.csv --out z.csv --force".to_owned(),
        "predict diet.pv --view x=x.csv --target z --out p.csv".to_owned(),
        "predict diet.pv --view x=x.csv --target y --out p.csv --sd sd.csv".to_owned(),
        "predict diet.pv --view x=x.csv --target y --out p.npy".to_owned(),
        "impute bits.pv --view y --out f.csv --lower l.csv".to_owned(),
        "impute bits.pv --view y --out f.csv --probabilities p.csv".to_owned(),
        "simulate --model sshiba --out-dir s".to_owned(),
    ] {
        let _ = writeln!(text, "{}", transcript(at, &words));
    }
    insta::assert_snapshot!("bad-labels", text);
}

#[test]
fn bad_scores() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    put(
        at,
        "t.csv",
        "id,a,b,c\ns1,1,0,1\ns2,0,0,\ns3,1,0,1\ns4,0,,1\n",
    );
    put(
        at,
        "p.csv",
        "id,b,a,d\ns2,0.2,0.4,0\ns3,0.1,0.9,0\ns1,0.1,0.3,0\ns9,1,1,1\n",
    );
    put(at, "big.csv", "id,a\ns1,1.5\ns2,0\n");
    put(at, "hole.csv", "id,a\ns1,\ns2,0\n");
    put(at, "other.csv", "id,a\nq1,1\nq2,0\n");
    put(at, "names.csv", "id,z\ns1,1\ns2,0\n");
    put(at, "low.csv", "id,a,b\ns1,0,0\ns2,0,-1\ns3,0,-1\n");
    put(at, "high.csv", "id,a,b\ns1,1,1\ns2,1,1\ns3,0.5,1\n");
    put(at, "ct.csv", "id,diet\ns1,sun\ns2,fish\ns3,sun\ns4,\n");
    put(
        at,
        "cp.csv",
        "id,diet,corn,fish,sun\ns1,sun,0.1,0.2,0.7\ns2,sun,0.2,0.3,0.5\ns3,sun,0,0.25,0.75\n",
    );
    put(at, "cq.csv", "id,diet,fish,corn\ns1,fish,0.5,0.5\n");
    put(at, "cr.csv", "id,diet,fish,sun\ns1,sun,0.3,0.69\n");
    put(at, "cs.csv", "id,food,fish,sun\ns1,sun,0.3,0.7\n");
    let mut text = String::new();
    for words in [
        "score --truth t.csv --predicted p.csv --kind binary",
        "score --truth t.csv --predicted p.csv --kind real",
        "score --truth t.csv --predicted p.csv --lower low.csv --upper high.csv --kind real",
        "score --truth t.csv --predicted p.csv --lower high.csv --upper low.csv --kind real",
        "score --truth t.csv --predicted big.csv --kind binary",
        "score --truth big.csv --predicted t.csv --kind binary",
        "score --truth t.csv --predicted hole.csv --kind binary",
        "score --truth t.csv --predicted other.csv --kind binary",
        "score --truth t.csv --predicted names.csv --kind real",
        "score --truth t.csv --predicted gone.csv --kind real",
        "score --truth t.csv --predicted p.csv --lower low.csv --kind real",
        "score --truth t.csv --predicted p.csv --lower low.csv --upper high.csv --kind binary",
        "score --truth ct.csv --predicted cp.csv --kind categorical",
        "score --truth ct.csv --predicted ct.csv --kind categorical",
        "score --truth ct.csv --predicted cq.csv --kind categorical",
        "score --truth ct.csv --predicted cr.csv --kind categorical",
        "score --truth ct.csv --predicted cs.csv --kind categorical",
        "score --truth t.csv --predicted p.csv --kind categorical",
    ] {
        let _ = writeln!(text, "{}", transcript(at, words));
    }
    insta::assert_snapshot!("bad-scores", text);
    let json = ok(
        at,
        "score --truth t.csv --predicted p.csv --kind binary --json --quiet",
    );
    let value: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(value["auc_macro"]["undefined"], serde_json::json!(["b"]));
    assert!(value["auc_macro"]["value"].is_null());
    assert!((number(&json, "/labels/0/auc") - 0.5).abs() < 1e-12);
    // -(ln 0.3 + ln 0.6 + ln 0.9) / 3
    assert!((number(&json, "/labels/0/log_loss") - 0.606_719_8).abs() < 1e-6);
}

/// Who the sample is, and where it says so.
#[test]
fn a_class_that_the_model_does_not_know_is_named_with_file_and_sample() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    ok(at, "datasets nutrimouse --out-dir .");
    ok(
        at,
        "fit --model sshiba --view genes=genes.csv --view diet=diet.csv -k 2 --max-sweeps 5 --out m.pv",
    );
    let table = get(at, "diet.csv");
    let rows = table.lines().enumerate().map(|(n, line)| match n {
        3 => format!("{},lard\n", line.split(',').next().unwrap_or_default()),
        _ => format!("{line}\n"),
    });
    put(at, "other.csv", rows.collect::<String>());
    let sample = table.lines().nth(3).and_then(|l| l.split(',').next());
    let err = fails(
        at,
        "project m.pv --view genes=genes.csv --view diet=other.csv --out z.csv",
        1,
    );
    let err = err.split_whitespace().collect::<Vec<_>>().join(" ");
    let says = format!(
        "other.csv: view 'diet': 1 sample(s), first '{}', are of class 'lard', which the model was not trained on",
        sample.unwrap_or_default()
    );
    assert!(err.contains(&says), "{err}");
}
