//! Study files that spell out every choice, and are changed.

use crate::common::{fails, get, ok, put, run};

const FIT: &str = "fit --view x=x.csv --view y=y.csv:bernoulli -k 1";

fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    let x = "id,a,b,c\ns1,1,2,3\ns2,2,1,0\ns3,0,1,1\ns4,2,2,5\ns5,1,0,1\n";
    put(dir.path(), "x.csv", x);
    put(
        dir.path(),
        "y.csv",
        "id,d,e\ns1,0,1\ns2,1,1\ns3,0,0\ns4,1,0\ns5,1,1\n",
    );
    dir
}

/// Standard output and error of a run that succeeds.
fn both(at: &std::path::Path, words: &str) -> [String; 2] {
    let o = run(at, words);
    let [out, err] = [o.stdout, o.stderr].map(|t| String::from_utf8_lossy(&t).into_owned());
    assert!(o.status.success(), "polyview {words}: {err}");
    [out, err]
}

/// Another --model is that model, whatever the file spelled out of its own.
#[test]
fn another_model_over_a_complete_file_is_that_model() {
    let dir = folder();
    let at = dir.path();
    let models = ["sshiba", "mofa", "mofapy2", "rank"];
    for from in models {
        let study = ok(at, &format!("{FIT} --model {from} --dry-run"));
        put(at, "s.toml", &study);
        for to in models {
            let words = format!("fit --spec s.toml --model {to} --dry-run");
            let [found, said] = both(at, &words);
            let fresh = ok(at, &format!("{FIT} --model {to} --dry-run"));
            // what is resolved for single views of ranks has no effect elsewhere
            let shown = |text: &str| -> Vec<String> {
                let model = text.split("[[model.views]]").next().unwrap_or_default();
                model.lines().map(|l| l.replace("./", "")).collect()
            };
            assert_eq!(shown(&found), shown(&fresh), "{from} to {to}");
            let same = [from, to].iter().all(|m| *m == from);
            assert!(
                same == said.is_empty() || said.contains("guess"),
                "{from} to {to}: {said}"
            );
        }
    }
}

/// What somebody chose stays, and is said.
#[test]
fn choices_of_ones_own_stay() {
    let dir = folder();
    let at = dir.path();
    let x = "fit --view x=x.csv -k 1";
    put(
        at,
        "s.toml",
        ok(at, &format!("{x} --weights relevance --dry-run")),
    );
    let [study, said] = both(at, "fit --spec s.toml --model mofa --dry-run");
    assert!(
        study.contains("scaling = \"view\"") && study.contains("selection = \"relevance\""),
        "{study}"
    );
    for part in [
        "s.toml: begins from mofa",
        "groups.noise",
        "defaults.scaling",
        "still overrides defaults.selection = \"relevance\" (mofa: \"spike-and-slab\")",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    // the file as it is has nothing to say
    let [_, said] = both(at, "fit --spec s.toml --dry-run");
    assert_eq!(said, "");
}

/// A model that is renamed in the file keeps the choices of the other one, and
/// the command says so.
#[test]
fn a_model_renamed_in_the_file_is_said() {
    let dir = folder();
    let at = dir.path();
    let study = ok(at, "fit --view x=x.csv -k 1 --dry-run");
    for (name, place) in [
        ("mofa", "defaults.scaling = \"feature\" (mofa: \"view\")"),
        (
            "rank",
            "defaults.likelihood = \"gaussian\" (rank: \"rank\")",
        ),
    ] {
        let renamed = study.replace("model = \"bibfa\"", &format!("model = \"{name}\""));
        put(at, "s.toml", renamed);
        let [_, said] = both(at, "fit --spec s.toml --dry-run");
        let start = format!("warning: s.toml: its model is {name}, but it spells out other");
        let said = said.replace('\n', " ");
        assert!(said.contains(&start) && said.contains(place), "{said}");
        let [_, said] = both(at, "fit --spec s.toml --out m.pv --force");
        assert!(said.contains("it spells out other choices"), "{said}");
    }
    // a short file that overrides its model is no such file
    put(
        at,
        "t.toml",
        "[model]\nmodel = \"mofa\"\n[model.defaults]\nselection = \"none\"\nscaling = \"feature\"\n\
         [model.groups]\nnoise = false\nintercepts = false\n[[data]]\nname = \"x\"\npath = \"x.csv\"\n",
    );
    let [_, said] = both(at, "fit --spec t.toml --dry-run");
    assert!(!said.contains("spells out"), "{said}");
}

/// The choices for all views are those of each, when they are changed in the file.
#[test]
fn choices_for_all_views_reach_each() {
    let dir = folder();
    let at = dir.path();
    let study = ok(at, &format!("{FIT} --model sshiba --dry-run"));
    assert!(
        study.contains("name = \"y\"\nlikelihood = \"bernoulli\""),
        "{study}"
    );
    let defaults = study.replace("selection = \"none\"", "selection = \"relevance\"");
    put(at, "s.toml", defaults);
    ok(at, "fit --spec s.toml --out m.pv");
    ok(at, "inspect m.pv");
    for view in ["x", "y"] {
        // there is a relevance of each feature
        let o = run(at, &format!("report m.pv --out {view}.html"));
        assert!(o.status.success());
        assert!(get(at, &format!("{view}.html")).contains("elevance"));
    }
    let again = ok(at, "fit --spec s.toml --dry-run");
    assert_eq!(
        again.matches("selection = \"relevance\"").count(),
        1,
        "{again}"
    );
}

/// Files of earlier versions repeat all choices in each view: a change of those for all
/// views reaches none, and the command says so. The file itself says which is stronger.
#[test]
fn repeated_choices_that_outweigh_others_are_said() {
    let dir = folder();
    let at = dir.path();
    let study = ok(at, "fit --view x=x.csv -k 1 --dry-run");
    assert!(
        study.contains("# What a view says for itself ([[model.views]]) is stronger"),
        "{study}"
    );
    let own = "[[model.views]]\nname = \"x\"\n";
    let repeated = "likelihood = \"gaussian\"\nnoise = \"feature\"\ncentring = \"feature\"\n\
                    scaling = \"feature\"\nselection = \"none\"\n";
    let start = study.rfind("[[model.views]]").expect("a view");
    let old = format!("{}{own}{repeated}", &study[..start]);
    put(at, "s.toml", &old);
    let [_, said] = both(at, "fit --spec s.toml --dry-run");
    assert_eq!(said, "");
    put(
        at,
        "s.toml",
        old.replacen("scaling = \"feature\"", "scaling = \"none\"", 1),
    );
    for more in ["--dry-run", "--out m.pv"] {
        let [_, said] = both(at, &format!("fit --spec s.toml {more}"));
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        for part in [
            "warning: s.toml: scaling = \"none\" in [model.defaults] reaches no view",
            "[[model.views]] of x",
            "remove these lines",
        ] {
            assert!(said.contains(part), "{part}: {said}");
        }
    }
    // what only views of a kind have is no such choice
    let rank = ok(at, "fit --model rank --view x=x.csv -k 1 --dry-run");
    let start = rank.rfind("[[model.views]]").expect("a view");
    let repeated = "likelihood = \"rank\"\nnoise = \"feature\"\ncentring = \"none\"\nscaling = \"none\"\n\
                    selection = \"horseshoe\"\n";
    put(at, "r.toml", format!("{}{own}{repeated}", &rank[..start]));
    let [_, said] = both(at, "fit --spec r.toml --dry-run");
    assert_eq!(said, "");
    // the mend
    let mended = study.replacen("scaling = \"feature\"", "scaling = \"none\"", 1);
    put(at, "s.toml", mended);
    let [again, said] = both(at, "fit --spec s.toml --dry-run");
    assert_eq!(said, "");
    assert_eq!(again.matches("scaling = \"none\"").count(), 1, "{again}");
}

#[test]
fn a_study_says_where_it_belongs_and_sizes_what_they_are() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    put(at, "x.csv", "id,a,b\ns1,1,0\ns2,3,2\ns3,0,5\ns4,2,2\n");
    let study = ok(at, "fit --view x=x.csv:gaussian -k 1 --dry-run");
    assert!(
        study.starts_with("# Files are named from the folder"),
        "{study}"
    );
    let absolute = at.join("x.csv");
    let words = format!(
        "fit --view x={}:gaussian -k 1 --dry-run",
        absolute.display()
    );
    assert!(!ok(at, &words).contains("# Files are named"));
    let err = fails(
        at,
        "fit --view x=x.csv:nb{size=abc} --model mofa -k 1 --out m.pv",
        2,
    );
    assert!(err.contains("learnt") && !err.contains("untagged"), "{err}");
    let study = ok(
        at,
        "fit --view x=x.csv:nb{size=3} --model mofa -k 1 --dry-run",
    );
    assert!(study.contains("size = 3"), "{study}");
}

#[test]
fn a_model_that_nobody_knows_is_named_with_its_line() {
    let dir = folder();
    let at = dir.path();
    let study = "# a study\n[model]\nfactors = 2\nmodel = \"mofaa\"\n[[data]]\nname = \"x\"\npath = \"x.csv\"\n";
    put(at, "s.toml", study);
    let err = fails(at, "fit --spec s.toml --out m.pv", 2);
    let err = err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        err.contains(
            "'s.toml': line 4, key 'model.model': there is no model 'mofaa'; did you mean 'mofa'?"
        ),
        "{err}"
    );
    // one of the command line is in its place
    ok(at, "fit --spec s.toml --model mofa --dry-run");
}
