//! Every verb of the command, on simulated data.

use crate::common::{fails, get, ok, put, run};

#[test]
fn from_data_to_report() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    ok(
        at,
        "simulate --samples 40 --features 8,6 --factors 2 --missing 0.1 --seed 3 --out-dir sim",
    );
    let files: Vec<String> = std::fs::read_dir(at.join("sim"))
        .expect("a folder")
        .map(|e| {
            e.expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .filter(|n| !n.starts_with("true-"))
        .collect();
    assert_eq!(files.len(), 2, "{files:?}");
    let mut files = files;
    files.sort();
    let (a, b) = (&files[0], &files[1]);
    let fit = format!(
        "fit --view a=sim/{a} --view b=sim/{b}:gaussian --factors 4 --seed 1 --out m.pv --audit"
    );
    let text = ok(at, &fit);
    assert!(text.contains("variance explained"), "{text}");

    // a file in the way is refused, and replaced when allowed
    let err = fails(at, &fit, 1);
    assert!(err.contains("m.pv") && err.contains("exist"), "{err}");
    ok(at, &format!("{fit} --force"));

    // the same bits on any number of threads
    ok(
        at,
        &fit.replace("m.pv", "one.pv")
            .replace("--audit", "--threads 1"),
    );
    ok(
        at,
        &fit.replace("m.pv", "three.pv")
            .replace("--audit", "--threads 3"),
    );
    ok(at, "export one.pv --factors z1.csv");
    ok(at, "export three.pv --factors z3.csv");
    assert_eq!(get(at, "z1.csv"), get(at, "z3.csv"));

    ok(
        at,
        &format!("project m.pv --view a=sim/{a} --out z.csv --sd z-sd.csv"),
    );
    let z = get(at, "z.csv");
    assert!(z.starts_with("sample,Factor 1"), "{z}");
    assert_eq!(z.lines().count(), 41);

    ok(
        at,
        &format!("predict m.pv --view a=sim/{a} --target b --out p.csv --sd p-sd.tsv"),
    );
    let p = get(at, "p.csv");
    assert_eq!(
        p.lines().next(),
        get(at, &format!("sim/{b}")).lines().next()
    );

    ok(
        at,
        "impute m.pv --view a --out f.csv --lower l.csv --upper u.npy --level 0.9",
    );
    assert!(!get(at, "f.csv").contains(",,"));

    let text = ok(at, "inspect m.pv");
    assert!(
        text.contains("bibfa") && text.contains("samples   40"),
        "{text}"
    );
    let journal = ok(at, "inspect m.pv --journal");
    assert!(
        journal.contains("converged") || journal.contains("limit"),
        "{journal}"
    );
    let json: serde_json::Value =
        serde_json::from_str(&ok(at, "inspect m.pv --json")).expect("JSON");
    assert_eq!(json["samples"].as_array().map(Vec::len), Some(40));

    let mut meta = "sample,site,age\n".to_owned();
    for (i, line) in z.lines().skip(1).enumerate() {
        let id = line.split(',').next().unwrap_or("");
        meta.push_str(&[id, ["x", "y"][i % 2], &(20 + i).to_string()].join(","));
        meta.push('\n');
    }
    put(at, "meta.csv", meta);
    ok(
        at,
        "report m.pv --out r.html --metadata meta.csv --pictures pics --title Mice",
    );
    let page = get(at, "r.html");
    assert!(page.contains("<svg") && page.contains("Mice") && page.contains("site"));
    assert!(
        std::fs::read_dir(at.join("pics"))
            .expect("a folder")
            .count()
            > 3
    );

    ok(
        at,
        "export m.pv --weights a=w.csv --weights-sd a=w-sd.csv --variance r2.csv --varimax",
    );
    assert!(get(at, "r2.csv").starts_with("view,all,Factor 1"));
    ok(at, "simulate --from m.pv --samples 7 --out-dir more");
    assert_eq!(get(at, "more/a.csv").lines().count(), 8);
}

#[test]
fn gibbs_from_the_command_line() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    ok(at, "demo --out-dir d --quiet");
    ok(
        at,
        "simulate --samples 20 --features 5 --factors 1 --out-dir s",
    );
    let file = std::fs::read_dir(at.join("s"))
        .expect("a folder")
        .map(|e| {
            e.expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .find(|n| !n.starts_with("true-"))
        .expect("a view");
    ok(
        at,
        &format!(
            "fit --view x=s/{file} -k 1 --engine gibbs --chains 2 --warm-up 20 --sweeps 40 --thin 4 --out g.pv"
        ),
    );
    let text = ok(at, "inspect g.pv");
    assert!(text.contains("R-hat") && text.contains("Gibbs"), "{text}");
    ok(at, "report g.pv --out g.html");

    // a chain has no end of its own: what is kept and how well it mixed is said
    let fit = |more: &str| format!("fit --view x=s/{file} -k 1 --engine gibbs --force {more}");
    let err = |words: &str| {
        let o = run(at, words);
        assert!(o.status.success(), "{words}");
        String::from_utf8_lossy(&o.stderr).into_owned()
    };
    let poor = fit("--chains 2 --warm-up 20 --sweeps 40 --thin 4 --out g.pv");
    let said = err(&poor);
    assert!(said.contains("warning: chains: "), "{said}");
    assert!(said.contains("take more sweeps, or more chains"), "{said}");
    assert!(
        said.contains("note: fit again with larger --sweeps"),
        "{said}"
    );
    ok(
        at,
        "simulate --samples 200 --features 20 --factors 2 --out-dir t",
    );
    let good = "fit --view x=t/view1.csv -k 2 --engine gibbs --warm-up 500 --sweeps 4000 \
                --thin 100 --out good.pv --force";
    let said = err(good);
    assert!(!said.contains("warning"), "{said}");
    for text in [ok(at, "inspect g.pv"), ok(at, &poor), get(at, "g.html")] {
        assert!(!text.contains("stopped at the limit"), "{text}");
        assert!(
            text.contains("40 kept of each of 2 chain(s); worst R-hat "),
            "{text}"
        );
        assert!(text.contains("smallest effective size "), "{text}");
    }
    // in a comparison likewise, of either fit
    ok(
        at,
        &fit("--chains 2 --warm-up 20 --sweeps 40 --thin 4 --seed 2 --out h.pv"),
    );
    let said = err("inspect h.pv --against g.pv");
    assert!(
        said.contains("warning: g.pv: ") && said.contains("warning: h.pv: "),
        "{said}"
    );
    for words in ["inspect g.pv", "inspect good.pv"] {
        let said = err(words);
        assert_eq!(
            said.contains("warning: "),
            words == "inspect g.pv",
            "{said}"
        );
    }
}

#[test]
fn a_study_file_says_all() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    put(
        at,
        "x.csv",
        "id,a,b,c\ns1,1,2,3\ns2,2,1,0\ns3,0,1,1\ns4,2,2,5\ns5,1,0,1\n",
    );
    put(
        at,
        "study.toml",
        "[[data]]\nname = \"x\"\npath = \"x.csv\"\n[model]\nfactors = 2\nseed = 9\n",
    );
    let full = ok(at, "fit --spec study.toml --dry-run --noise feature");
    assert!(
        full.contains("seed = 9")
            && full.contains("noise = \"feature\"")
            && full.contains("max-sweeps"),
        "{full}"
    );
    put(at, "full.toml", full.replace("./x.csv", "x.csv"));
    ok(at, "fit --spec study.toml --noise feature --out a.pv");
    ok(at, "fit --spec full.toml --out b.pv");
    ok(at, "export a.pv --factors a.csv");
    ok(at, "export b.pv --factors b.csv");
    assert_eq!(get(at, "a.csv"), get(at, "b.csv"));
    put(at, "bad.toml", "[model]\nfactors = 2\nsede = 1\n");
    assert!(fails(at, "fit --spec bad.toml --out c.pv", 2).contains("sede"));
    put(at, "bad.toml", "[model]\nmodel = \"deep\"\n");
    assert!(fails(at, "fit --spec bad.toml --view x=x.csv --out c.pv", 2).contains("bibfa"));
}

#[test]
fn checkpoints_resume() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    put(
        at,
        "x.csv",
        "id,a,b,c\ns1,1,2,3\ns2,2,1,0\ns3,0,1,1\ns4,2,2,5\ns5,1,0,1\n",
    );
    ok(
        at,
        "fit --view x=x.csv -k 2 --checkpoint c.ckpt --checkpoint-every 0 --out a.pv",
    );
    ok(at, "fit --view x=x.csv -k 2 --resume c.ckpt --out b.pv");
    ok(at, "export a.pv --factors a.csv");
    ok(at, "export b.pv --factors b.csv");
    assert_eq!(get(at, "a.csv"), get(at, "b.csv"));
    let err = fails(at, "fit --view x=x.csv -k 3 --resume c.ckpt --out d.pv", 1);
    assert!(err.contains("c.ckpt"), "{err}");
}

#[test]
fn completions_and_help() {
    let dir = tempfile::tempdir().expect("a folder");
    assert!(ok(dir.path(), "completions bash").contains("polyview"));
    for verb in [
        "fit",
        "project",
        "predict",
        "impute",
        "inspect",
        "report",
        "export",
        "choose-k",
        "cross-validate",
        "simulate",
        "demo",
    ] {
        assert!(
            ok(dir.path(), &format!("{verb} --help")).contains("xample"),
            "{verb}"
        );
    }
    fails(dir.path(), "fly", 2);
}

#[test]
fn choose_k_recommends() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    ok(
        at,
        "simulate --samples 60 --features 10,8 --factors 2 --seed 5 --out-dir s",
    );
    let mut words = String::new();
    for e in std::fs::read_dir(at.join("s")).expect("a folder") {
        let name = e
            .expect("an entry")
            .file_name()
            .to_string_lossy()
            .into_owned();
        if !name.starts_with("true-") {
            words.push_str(&[" --view ", name.trim_end_matches(".csv"), "=s/", &name].concat());
        }
    }
    let text = ok(
        at,
        &format!("choose-k{words} --candidates 1,2,4 --repeats 2"),
    );
    assert!(text.contains("recommended:"), "{text}");
}

#[test]
fn relevant_features() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    // two of the four features follow one factor
    let mut x = vec!["sample,p,q,r,s".to_owned()];
    let mut y = vec!["sample,u,v".to_owned()];
    for n in 0..40 {
        let z = f64::from(n % 8) - 3.5;
        let noise = |a: i32| f64::from((n * a + a) % 11) / 5.0 - 1.0;
        let (p, r) = (2.0 * z + noise(3), noise(7) - 2.0 * z);
        x.push(format!("s{n},{p},{},{r},{}", noise(5), noise(13)));
        y.push(format!("s{n},{},{}", z + noise(17), noise(19) - z));
    }
    put(at, "x.csv", x.join("\n"));
    put(at, "y.csv", y.join("\n"));
    let words = "fit --view x=x.csv --view y=y.csv --factors 2 --scaling view --noise view --select-features x";
    let toml = ok(at, &format!("{words} --dry-run"));
    assert_eq!(
        toml.matches("selection = \"relevance\"").count(),
        1,
        "{toml}"
    );
    assert!(toml.contains("relevance-prior"), "{toml}");
    put(at, "study.toml", toml);
    ok(at, "fit --spec study.toml --out m.pv --audit");
    let text = ok(at, "inspect m.pv");
    let list = text.split("most relevant").nth(1).expect("a list");
    let names: Vec<&str> = list
        .lines()
        .skip(2)
        .take(4)
        .filter_map(|l| l.split_whitespace().next())
        .collect();
    assert!(
        names[..2].contains(&"p") && names[..2].contains(&"r"),
        "{text}"
    );
    assert_eq!(text.matches("most relevant").count(), 1, "{text}");
    let json = ok(at, "inspect m.pv --json");
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(
        json["views"][0]["relevance"].as_array().map(Vec::len),
        Some(4)
    );
    assert!(json["views"][1]["relevance"].is_null());
    ok(at, "report m.pv --out r.html");
    assert!(get(at, "r.html").contains("Relevance of the features"));
    let err = fails(
        at,
        "fit --view x=x.csv --factors 1 --select-features z --out n.pv",
        1,
    );
    assert!(err.contains("'z'"), "{err}");
    let err = fails(
        at,
        "fit --view x=x.csv --factors 1 --select-features x --path compress-features --out n.pv",
        1,
    );
    assert!(err.contains("no selection of features"), "{err}");
}
