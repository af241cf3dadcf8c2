//! Cells of new data that a view of an existing model does not take: the likelihood stands,
//! and nobody is sent off to fit another one.

use crate::common::{fails, ok, put};

#[test]
fn what_the_view_of_the_model_takes_is_said() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    put(
        at,
        "x.csv",
        "id,a,b\ns1,1.5,2\ns2,2,1\ns3,0,1\ns4,2,5\ns5,1,4\ns6,0,3\n",
    );
    put(
        at,
        "y.csv",
        "id,d,e\ns1,0,1\ns2,1,1\ns3,0,0\ns4,1,0\ns5,1,1\ns6,0,0\n",
    );
    put(
        at,
        "c.csv",
        "id,f,g\ns1,0,3\ns2,1,12\ns3,5,0\ns4,1,6\ns5,8,1\ns6,0,2\n",
    );
    ok(
        at,
        "fit --model sshiba --view x=x.csv:gaussian --view y=y.csv:bernoulli --view c=c.csv:nb -k 1 --max-sweeps 5 --out m.pv",
    );
    for (view, row, cell, takes) in [
        (
            "y",
            "n1,0,2",
            "column 'e': 2 is neither 0 nor 1",
            "bernoulli in this model and takes 0 and 1",
        ),
        (
            "y",
            "n1,0,yes",
            "'yes' is not a number",
            "bernoulli in this model and takes 0 and 1",
        ),
        (
            "c",
            "n1,0,-2",
            "column 'e': -2 is negative",
            "negative-binomial in this model and takes whole numbers from 0 on",
        ),
        (
            "c",
            "n1,0,2.5",
            "2.5 is not a whole number",
            "negative-binomial in this model and takes whole numbers from 0 on",
        ),
        (
            "x",
            "n1,0,high",
            "'high' is not a number",
            "gaussian in this model and takes numbers",
        ),
    ] {
        let header = if view == "x" { "id,a,b" } else { "id,d,e" };
        put(at, "n.csv", format!("{header}\n{row}\n"));
        let other = if view == "x" { "y" } else { "x" };
        for words in [
            format!("project m.pv --view {view}=n.csv --out o.csv"),
            format!("predict m.pv --view {view}=n.csv --target {other} --out o.csv"),
        ] {
            let err = fails(at, &words, 1);
            let err = err.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(
                err.contains("n.csv") && err.contains(cell),
                "{words}: {err}"
            );
            assert!(
                err.contains(&format!("view '{view}' is {takes}")),
                "{words}: {err}"
            );
            assert!(!err.contains("fit the view"), "{words}: {err}");
        }
    }
    // a fit may have another likelihood
    let err = fails(
        at,
        "fit --view y=c.csv:bernoulli --model sshiba -k 1 --out n.pv",
        1,
    );
    assert!(
        err.replace('\n', " ").contains("fit the view as gaussian"),
        "{err}"
    );
}
