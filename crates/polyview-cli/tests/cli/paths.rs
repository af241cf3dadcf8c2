//! Names and paths that stand for two things.

use crate::common::{fails, get, ok, put};

const X: &str = "id,a,b,c\ns1,1,2,3\ns2,2,1,0\ns3,0,1,1\ns4,2,2,5\ns5,1,0,1\n";
const TWO_VIEWS: &str = "two views are called 'x'; give each its own name";

fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    put(dir.path(), "x.csv", X);
    put(dir.path(), "y.csv", X.replace("s1,1", "s1,7"));
    put(
        dir.path(),
        "l.csv",
        "id,x,z\ns1,a,u\ns2,b,v\ns3,a,v\ns4,b,u\ns5,a,v\n",
    );
    dir
}

#[test]
fn two_inputs_for_one_view_are_refused() {
    let dir = folder();
    let at = dir.path();
    let labels = "--labels l.csv:bernoulli";
    for words in [
        "--view x=x.csv --view x=y.csv".to_owned(),
        format!("--model sshiba --view x=x.csv {labels}"),
        format!("--model sshiba --view y=x.csv {labels} {labels}"),
        "--engine stochastic --view x=x.csv --view x=y.csv".to_owned(),
    ] {
        let err = fails(at, &format!("fit {words} -k 1 --out m.pv"), 1);
        assert!(err.contains(TWO_VIEWS), "{err}");
        let err = fails(at, &format!("fit {words} -k 1 --dry-run"), 1);
        assert!(err.contains(TWO_VIEWS), "{err}");
    }
    let err = fails(
        at,
        "fit --model sshiba --engine stochastic --view y=y.csv:gaussian --labels l.csv:bernoulli -k 1 --out m.pv",
        2,
    );
    assert!(
        err.contains("--labels") && err.contains("--in-memory"),
        "{err}"
    );
    let err = fails(at, "choose-k --view x=x.csv --view x=y.csv", 1);
    assert!(err.contains(TWO_VIEWS), "{err}");
    put(at, "w.csv", "id,a,b\ns1,1,0\ns2,1,1\ns3,0,0\n");
    let trials = "--view w=w.csv:binomial --trials w=x.csv --trials w=y.csv";
    let err = fails(at, &format!("fit --model mofa {trials} --out m.pv"), 2);
    assert!(err.contains("--trials: view 'w' is given twice"), "{err}");
    // of a study file, too
    let entry = "[[data]]\nname = \"x\"\npath = \"x.csv\"\n";
    put(at, "twice.toml", entry.repeat(2));
    let err = fails(at, "fit --spec twice.toml --dry-run", 1);
    assert!(err.contains(TWO_VIEWS), "{err}");
    // that there is no such file is said before anything is fitted
    for (words, file) in [
        ("fit --view x=none.csv:gaussian -k 1 --dry-run", "none.csv"),
        ("fit --spec gone.toml --dry-run", "gone.csv"),
    ] {
        put(
            at,
            "gone.toml",
            "[[data]]\nname = \"x\"\npath = \"gone.csv\"\n[model]\nfactors = 1\n",
        );
        let err = fails(at, words, 1);
        assert!(
            err.contains(file) && err.contains("there is no such file"),
            "{err}"
        );
    }
    // what is given beside a study file is stronger
    put(at, "s.toml", format!("{entry}[model]\nfactors = 1\n"));
    let study = ok(at, "fit --spec s.toml --view x=y.csv --dry-run");
    assert!(
        study.contains("y.csv") && !study.contains("x.csv"),
        "{study}"
    );
}

#[test]
fn a_checkpoint_replaces_the_one_gone_on_from_alone() {
    let dir = folder();
    let at = dir.path();
    put(at, "notes.txt", "precious");
    let fit = "fit --view x=x.csv -k 1 --checkpoint-every 0 --force --out";
    let gentle = fit.replace("--force ", "");
    let err = fails(at, &format!("{gentle} m.pv --checkpoint notes.txt"), 1);
    assert!(err.contains("notes.txt: the file exists"), "{err}");
    assert_eq!(get(at, "notes.txt"), "precious");
    ok(at, &format!("{gentle} m.pv --checkpoint run.ckpt"));
    // that of an earlier run holds work
    let before = std::fs::read(at.join("run.ckpt")).expect("a file");
    for k in ["-k 1", "-k 2"] {
        let other = gentle.replace("-k 1", k);
        let err = fails(at, &format!("{other} n.pv --checkpoint run.ckpt"), 1);
        for part in ["is a checkpoint already", "--resume run.ckpt", "--force"] {
            assert!(err.contains(part), "{part}: {err}");
        }
    }
    assert!(std::fs::read(at.join("run.ckpt")).expect("a file") == before);
    std::fs::copy(at.join("run.ckpt"), at.join("other.ckpt")).expect("a copy");
    let err = fails(
        at,
        &format!("{gentle} n.pv --resume run.ckpt --checkpoint other.ckpt"),
        1,
    );
    assert!(
        err.contains("'other.ckpt' is a checkpoint already"),
        "{err}"
    );
    ok(at, &format!("{fit} n.pv --checkpoint other.ckpt"));
    // the one gone on from
    ok(
        at,
        &format!("{gentle} o.pv --resume run.ckpt --checkpoint ./run.ckpt"),
    );
    // a model is none
    let err = fails(at, &format!("{gentle} p.pv --checkpoint m.pv"), 1);
    assert!(err.contains("m.pv: the file exists"), "{err}");
    ok(at, &format!("{fit} p.pv --checkpoint notes.txt"));
}

#[test]
fn outputs_are_neither_each_other_nor_inputs() {
    let dir = folder();
    let at = dir.path();
    ok(at, "fit --view g=x.csv -k 1 --out m.pv");
    put(at, "t.toml", "[[data]]\nname = \"g\"\npath = \"x.csv\"\n");
    let model = std::fs::read(at.join("m.pv")).expect("a file");
    for words in [
        "export m.pv --factors o.csv --weights g=o.csv",
        "export m.pv --weights g=o.csv --weights-sd g=./o.csv",
        "export m.pv --weights g=o.csv --weights g=o.csv",
        "project m.pv --view g=x.csv --out o.csv --sd o.csv",
        "predict m.pv --view g=x.csv --target g --out o.csv --sd o.csv",
        "impute m.pv --view g --out o.csv --lower o.csv --upper u.csv",
        "impute m.pv --view g --out f.csv --lower o.csv --upper o.csv",
        "kernel x.csv --out o.csv --save o.csv",
        "fit --view g=x.csv -k 1 --out o.csv --checkpoint o.csv",
    ] {
        for force in ["", " --force"] {
            let err = fails(at, &format!("{words}{force}"), 2);
            assert!(err.contains("o.csv"), "{err}");
            assert!(!at.join("o.csv").exists(), "{words}");
        }
    }
    for words in [
        "fit --view g=x.csv -k 1 --out x.csv",
        "fit --view g=y.csv -k 1 --metadata x.csv --out ./x.csv",
        "fit --view g=y.csv -k 1 --out n.pv --checkpoint y.csv",
        "fit --spec t.toml -k 1 --out t.toml",
        "fit --spec t.toml -k 1 --out x.csv",
        "project m.pv --view g=x.csv --out x.csv",
        "predict m.pv --view g=x.csv --target g --out p.csv --sd x.csv",
        "predict m.pv --view g=x.csv --target g --out m.pv",
        "impute m.pv --view g --out m.pv",
        "report m.pv --out m.pv",
        "report m.pv --metadata x.csv --out x.csv",
        "export m.pv --factors m.pv",
        "kernel x.csv --out x.csv",
    ] {
        let err = fails(at, &format!("{words} --force"), 2);
        assert!(err.contains("is read by this command"), "{err}");
    }
    assert_eq!(get(at, "x.csv"), X);
    assert_eq!(std::fs::read(at.join("m.pv")).expect("a file"), model);
    // names that stand beside a matrix are read as well
    put(
        at,
        "n.mtx",
        "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 3\n2 2 1\n",
    );
    put(at, "n.rows.txt", "s1\ns2\n");
    put(at, "n.cols.txt", "a\nb\n");
    let err = fails(
        at,
        "project m.pv --view g=n.mtx --out n.cols.txt --force",
        2,
    );
    assert!(err.contains("is read by this command"), "{err}");
}

#[test]
fn tables_of_drawn_samples_stay_in_their_folder() {
    let dir = folder();
    let at = dir.path();
    ok(
        at,
        "fit --view ../evil=x.csv --view a/b=y.csv -k 1 --max-sweeps 5 --quiet --out m.pv",
    );
    ok(at, "simulate --from m.pv --samples 3 --out-dir inner");
    assert!(at.join("inner/..-evil.csv").exists());
    assert!(at.join("inner/a-b.csv").exists());
    assert!(!at.join("evil.csv").exists());
}
