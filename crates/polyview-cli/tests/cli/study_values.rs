//! Values of study files that are of the wrong kind: line, key, what stands there and what
//! it may be.

use crate::common::{fails, ok, put};

#[test]
fn values_of_the_wrong_kind_are_named_by_line_and_key() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    put(at, "x.csv", "id,a,b\ns1,1.5,2\ns2,2,1\ns3,0,1\ns4,2,5\n");
    let data = "[[data]]\nname = \"x\"\npath = \"x.csv\"\n";
    for (study, said) in [
        (
            "[model]\nfactors = \"three\"\n",
            "line 2, key 'model.factors': the text \"three\" stands where a whole number from 0 on belongs",
        ),
        (
            "[model]\nfactors = -3\n",
            "line 2, key 'model.factors': -3 stands where a whole number from 0 on belongs",
        ),
        (
            "[model]\nfactors = 2.5\n",
            "key 'model.factors': 2.5 stands where a whole number",
        ),
        (
            "[model.vb]\n\ntolerance = \"1e-6\"\n",
            "line 3, key 'model.vb.tolerance': the text \"1e-6\" stands where a number belongs",
        ),
        (
            "[model.groups]\nnoise = 1\n",
            "line 2, key 'model.groups.noise': 1 stands where true or false belongs",
        ),
        (
            "[model]\nstart = \"varimx\"\n",
            "line 2, key 'model.start': there is no 'varimx'; did you mean 'varimax'? there are varimax, svd, random",
        ),
        (
            "[model]\nstart = 3\n",
            "line 2, key 'model.start': 3 stands where one of \"varimax\", \"svd\", \"random\" belongs",
        ),
        (
            "[model]\nvb = 3\n",
            "line 2, key 'model.vb': 3 stands where a table belongs",
        ),
        (
            "[model.vb]\nmax-sweep = 3\n",
            "line 2, key 'model.vb.max-sweep': there is no such key; did you mean 'max-sweeps'? there are",
        ),
        (
            "[model.defaults]\nlikelihoods = \"nb\"\n",
            "line 2, key 'model.defaults.likelihoods': there is no such key; did you mean 'likelihood'?",
        ),
        (
            "[[model.views]]\nname = \"x\"\nlikelihood = \"gauss\"\n",
            "line 3, key 'model.views.likelihood': there is no 'gauss'; did you mean 'gaussian'?",
        ),
        (
            "[[model.views]]\nname = \"x\"\n\n[[model.views]]\nname = \"x\"\n",
            "line 5, key 'model.views.name': view 'x' has an entry above; put all its choices into one",
        ),
        (
            "[[model.views]]\nname = \"x\"\nranks = { partners = 3 }\n",
            "line 3, key 'model.views.ranks': view 'x' is gaussian, and these are options of rank",
        ),
        (
            "[[model.views]]\nname = \"x\"\nsettle = \"nope\"\n",
            "line 3, key 'model.views.settle': the text \"nope\" stands where \"factors\", \"features\", \"best\", \"mixture\", true or false belongs",
        ),
        (
            "[[model.views]]\nname = \"x\"\nsettle = 3\n",
            "line 3, key 'model.views.settle': 3 stands where \"factors\", \"features\", \"best\", \"mixture\", true or false belongs",
        ),
        (
            "[[model.views]]\nname = \"x\"\nshape = [3]\n",
            "line 3, key 'model.views.shape': a list of 1 stands where a list of 2 belongs",
        ),
        (
            "[[model.views]]\nname = \"x\"\n[model.views.ranks]\npartners = \"many\"\n",
            "line 4, key 'model.views.ranks.partners': the text \"many\" stands where a whole number",
        ),
        (
            "[[model.views]]\nname = 4\n",
            "line 2, key 'model.views.name': 4 stands where a text in quotes belongs",
        ),
        (
            "[[data]]\nname = \"z\"\nlikelihood = \"gaussian\"\n",
            "line 1, key 'data': 'path' is missing; add path = ...",
        ),
        (
            "[[data]]\nname = \"z\"\npath = 3\n",
            "line 3, key 'data.path': 3 stands where a text in quotes belongs",
        ),
    ] {
        put(at, "s.toml", format!("{study}{data}"));
        let err = fails(at, "fit --spec s.toml --out m.pv", 2);
        let err = err.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(err.contains("'s.toml': "), "{study}: {err}");
        assert!(err.contains(said), "{study}: {err}");
        for word in ["usize", "expected", "invalid", "variant", "TOML", "struct"] {
            assert!(!err.contains(word), "{study}: {err}");
        }
    }
    // tables with one choice are choices
    put(
        at,
        "s.toml",
        format!(
            "[model]\nmodel = \"rank\"\n[model.defaults.ranks]\nmargin = {{ fixed = 0.05 }}\n{data}"
        ),
    );
    let study = ok(at, "fit --spec s.toml -k 1 --dry-run");
    assert!(study.contains("fixed = 0.05"), "{study}");
}
