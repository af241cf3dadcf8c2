//! Each kind of bad input has an answer that names the place and the mend.

use crate::common::{fails, ok, put};

const GOOD: &str = "id,a,b,c\ns1,1,2,3\ns2,2,1,0\ns3,0,1,1\ns4,2,2,5\ns5,1,0,1\n";

/// Fits a table of that content and expects an error with these words.
fn refused(content: impl AsRef<[u8]>, words: &[&str]) {
    let dir = tempfile::tempdir().expect("a folder");
    put(dir.path(), "x.csv", content);
    let err = fails(dir.path(), "fit --view x=x.csv -k 1 --out m.pv", 1);
    for w in words {
        assert!(err.contains(w), "'{w}' is not in: {err}");
    }
    assert!(!dir.path().join("m.pv").exists(), "nothing is left behind");
}

/// Fits a table of that content and expects success.
fn accepted(content: impl AsRef<[u8]>, more: &str) -> String {
    let dir = tempfile::tempdir().expect("a folder");
    put(dir.path(), "x.csv", content);
    let text = ok(
        dir.path(),
        &format!("fit --view x=x.csv -k 1 --out m.pv {more}"),
    );
    ok(dir.path(), "impute m.pv --view x --out f.csv");
    ok(dir.path(), "report m.pv --out r.html");
    text + &ok(dir.path(), "inspect m.pv --journal")
}

#[test]
fn files() {
    let dir = tempfile::tempdir().expect("a folder");
    let err = fails(dir.path(), "fit --view x=none.csv -k 1 --out m.pv", 1);
    assert!(err.contains("none.csv"), "{err}");
    refused("", &["x.csv"]);
    refused("id,a,b\n", &["x.csv"]);
    refused("id,a,b\ns1,1\n", &["x.csv", "line 2"]);
    refused("id,a,b\ns1,1,two\n", &["x.csv", "line 2", "two"]);
    refused("id,a,b\ns1,1,inf\n", &["x.csv", "line 2"]);
    refused("id,a,b\ns1,1,2\ns1,2,1\n", &["s1"]);
    refused("id,a,a\ns1,1,2\ns2,2,1\n", &["a"]);
    refused(b"id,a\ns1,\xff\n", &["x.csv"]);
}

#[test]
fn data() {
    refused("id,a,b\ns1,,\ns2,,\n", &["x", "no observed value"]);
    let journal = accepted("id,a,b\ns1,,\ns2,1,2\ns3,2,2\n", "");
    assert!(journal.contains("take no part: 's1'"), "{journal}");
    let dir = tempfile::tempdir().expect("a folder");
    put(dir.path(), "x.csv", GOOD);
    put(dir.path(), "y.csv", GOOD.replace('s', "t"));
    let err = fails(
        dir.path(),
        "fit --view x=x.csv --view y=y.csv -k 1 --out m.pv",
        1,
    );
    assert!(err.contains("share no sample"), "{err}");
    let err = fails(dir.path(), "fit --view x=x.csv:poisson -k 1 --out m.pv", 2);
    assert!(err.contains("poisson"), "{err}");
    let err = fails(dir.path(), "fit --view x=x.csv -k 0 --out m.pv", 2);
    assert!(err.contains("factors"), "{err}");
    let err = fails(dir.path(), "fit --out m.pv", 2);
    assert!(err.contains("--view"), "{err}");
}

#[test]
fn unusual_but_legal() {
    accepted(GOOD, "");
    accepted("\u{feff}".to_owned() + &GOOD.replace('\n', "\r\n"), "");
    accepted("id,\"a,1\",b\n\"s,1\",1,2\ns2,2,1\ns3,0,1\n", "");
    accepted("id,a,b\ns1,NA,2\ns2,2,nan\ns3,0,1\ns4,1,\n", "");
    let journal = accepted("id,a,b\ns1,5,2\ns2,5,1\ns3,5,4\n", "");
    assert!(
        journal.contains("do not vary") && journal.contains("'a'"),
        "{journal}"
    );
    let journal = accepted("id,a,b,c\ns1,,2,1\ns2,,1,2\ns3,,4,2\n", "");
    assert!(journal.contains("no observed value"), "{journal}");
    accepted("id,a,b,c\ns1,1,2,3\n", "");
    accepted("id,a\ns1,1\ns2,2\ns3,5\n", "");
    accepted(GOOD.replace(",2", ",2e9").replace(",1", ",1e9"), "");
    accepted(GOOD.replace(",2", ",2e-9").replace(",1", ",1e-9"), "");
    accepted(
        GOOD,
        "--missing impute --noise feature --no-intercepts --audit",
    );
}

#[test]
fn model_files() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    put(at, "x.csv", GOOD);
    ok(at, "fit --view x=x.csv -k 1 --out m.pv");
    let bytes = std::fs::read(at.join("m.pv")).expect("a file");
    put(at, "short.pv", &bytes[..bytes.len() / 2]);
    let mut bad = bytes.clone();
    let last = bad.len() - 3;
    bad[last] ^= 1;
    put(at, "bad.pv", &bad);
    put(at, "text.pv", "this is no model");
    for name in ["short.pv", "bad.pv", "text.pv", "none.pv"] {
        let err = fails(at, &format!("inspect {name}"), 1);
        assert!(err.contains(name), "{err}");
    }
    let err = fails(at, "project m.pv --view y=x.csv --out z.csv", 1);
    assert!(err.contains("no view 'y'"), "{err}");
    put(at, "other.csv", "id,p,q\ns1,1,2\n");
    let err = fails(at, "project m.pv --view x=other.csv --out z.csv", 1);
    assert!(err.contains("none of its features"), "{err}");
    let err = fails(at, "predict m.pv --view x=x.csv --target w --out z.csv", 1);
    assert!(err.contains("no view 'w'"), "{err}");
    let err = fails(at, "impute m.pv --view x --out z.csv --level 2", 2);
    assert!(err.contains("level"), "{err}");
    ok(at, "fit --view x=x.csv -k 1 --out nodata.pv --no-data");
    let err = fails(at, "impute nodata.pv --view x --out z.csv", 1);
    assert!(err.contains("without its data"), "{err}");
    put(at, "taken.csv", "x");
    let err = fails(at, "project m.pv --view x=x.csv --out taken.csv", 1);
    assert!(err.contains("taken.csv"), "{err}");
}
