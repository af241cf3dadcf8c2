//! Classical projections.

use std::fmt::Write;
use std::path::Path;

use crate::common::{fails, get, ok, put, run, said, same_table};

fn mice() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    ok(dir.path(), "datasets nutrimouse --out-dir .");
    dir
}

/// Columns of a table by the names of its header, without the first.
fn column(text: &str, name: &str) -> Vec<String> {
    let mut lines = text.lines();
    let header = lines.next().expect("a header").split(',');
    let at = header.into_iter().position(|h| h == name);
    let at = at.unwrap_or_else(|| panic!("no column {name} in {text}"));
    lines
        .map(|l| l.split(',').nth(at).expect("a cell").to_owned())
        .collect()
}

#[test]
fn diets_are_told_apart_by_few_genes() {
    let dir = mice();
    let at = dir.path();
    let out = ok(
        at,
        "mva --method rb-cca --view lipids=lipids.csv --labels diet.csv --folds 4 --bags 300 --relevance r.csv --tuning t.csv --scores z.csv --predicted own.csv --weights lipids=w.csv --picture z.svg --save diet.mva",
    );
    assert!(
        out.contains("features kept") && out.contains("on folds"),
        "{out}"
    );
    // 17 penalties, one of them chosen
    let tuning = get(at, "t.csv");
    assert_eq!(tuning.lines().count(), 18);
    assert_eq!(
        column(&tuning, "chosen")
            .iter()
            .filter(|c| *c == "1")
            .count(),
        1
    );
    // features that are kept are those that pass for any diet; others have no direction
    let relevance = get(at, "r.csv");
    let weights = column(&get(at, "w.csv"), "Component 1");
    let passes: Vec<Vec<String>> = ["coc", "fish", "lin", "ref", "sun"]
        .map(|c| column(&relevance, &format!("passes {c}")))
        .to_vec();
    for (d, kept) in column(&relevance, "kept").iter().enumerate() {
        let any = passes.iter().any(|p| p[d] == "1");
        assert_eq!(kept == "1", any, "{d}");
        assert_eq!(weights[d] != "0", any, "{d}");
    }
    assert!(get(at, "z.svg").starts_with("<svg"));
    // the same samples through the file give the same numbers
    ok(
        at,
        "mva --map diet.mva --view lipids=lipids.csv --scores again.csv --predicted said.csv",
    );
    assert_eq!(get(at, "z.csv"), get(at, "again.csv"));
    assert_eq!(get(at, "own.csv"), get(at, "said.csv"));
    // what it is where a model is meant
    for command in [
        "inspect diet.mva",
        "predict diet.mva --view lipids=lipids.csv --target diet --out p.csv",
    ] {
        let err = fails(at, command, 1);
        let err = err.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            err.contains("'diet.mva' holds a projection") && err.contains("'polyview mva --map'"),
            "{err}"
        );
    }
    // new mice, scored as predictions of any model are
    ok(
        at,
        "mva --map diet.mva --view lipids=new-lipids.csv --predicted new.csv",
    );
    let score = ok(
        at,
        "score --truth new-diet.csv --predicted new.csv --kind categorical --json",
    );
    assert!(score.contains("balanced_accuracy"), "{score}");
    let right = column(&get(at, "new.csv"), "diet")
        .iter()
        .zip(column(&get(at, "new-diet.csv"), "diet"))
        .filter(|(p, t)| *p == t)
        .count();
    assert!(right >= 5, "{right} of 8");
}

#[test]
fn as_many_features_as_are_needed() {
    let dir = mice();
    let at = dir.path();
    let json = ok(
        at,
        "--json mva --method rb-cca --view genes=genes.csv --labels knockout.csv --select cv --folds 4 --bags 200 --tuning t.csv",
    );
    assert!(json.contains("\"balanced_accuracy_of_folds\""), "{json}");
    let tuning = get(at, "t.csv");
    // 1, 2, 5, 10, 20, 50, 100 and all of 120 features, 17 penalties each
    assert_eq!(tuning.lines().count(), 1 + 8 * 17);
    let chosen = tuning
        .lines()
        .find(|l| l.ends_with(",1"))
        .expect("a choice");
    let features: usize = chosen
        .split(',')
        .nth(1)
        .expect("a cell")
        .parse()
        .expect("a number");
    assert!(
        json.contains(&format!("\"selected\": {features}")),
        "{json}"
    );
    assert!(features < 50, "{features}");
}

#[test]
fn other_methods() {
    let dir = mice();
    let at = dir.path();
    // principal components: shares fall, scores of the file and of the fit agree
    let out = ok(
        at,
        "mva --method pca --view lipids=lipids.csv -k 3 --scores z.csv --save p.mva --picture p.svg",
    );
    assert!(out.contains("share of the variance"), "{out}");
    ok(
        at,
        "mva --map p.mva --view lipids=lipids.csv --scores a.csv",
    );
    assert_eq!(get(at, "z.csv"), get(at, "a.csv"));
    // canonical pairs of two views; scores of both side by side, and of one alone
    let out = ok(
        at,
        "--json mva --method cca --view genes=genes.csv --view lipids=lipids.csv --ridge 5 -k 2 --scores c.csv --weights genes=g.csv --save c.mva",
    );
    assert!(out.contains("\"strength\": \"correlation\""), "{out}");
    let scores = get(at, "c.csv");
    let first = column(&scores, "genes Component 1");
    ok(
        at,
        "mva --map c.mva --view genes=genes.csv --scores one.csv",
    );
    assert_eq!(column(&get(at, "one.csv"), "Component 1"), first);
    // one view predicted from another
    ok(
        at,
        "mva --method opls --view genes=genes.csv --view lipids=lipids.csv --ridge 100 -k 5 --save o.mva",
    );
    ok(
        at,
        "mva --map o.mva --view genes=new-genes.csv --predicted p.csv",
    );
    let score = ok(
        at,
        "score --truth new-lipids.csv --predicted p.csv --kind real --training lipids.csv --json",
    );
    let r2 = score
        .lines()
        .rev()
        .find(|l| l.contains("\"r2\":"))
        .expect("an R2");
    let r2: f64 = r2
        .trim()
        .trim_end_matches(',')
        .rsplit(' ')
        .next()
        .and_then(|x| x.parse().ok())
        .expect("a number");
    assert!(r2 > 0.2, "{r2}");
    // either form on classes
    for form in ["primal", "dual"] {
        let out = ok(
            at,
            &format!(
                "mva --method cca --view lipids=lipids.csv --labels diet.csv --form {form} --ridge 1"
            ),
        );
        assert!(out.contains("squared correlation"), "{out}");
    }
}

/// Twelve samples of two classes, with what is changed in the table of values.
fn small(at: &Path, change: impl Fn(usize, &str) -> String) {
    let (mut x, mut y) = ("id,a,b,c\n".to_owned(), "id,kind\n".to_owned());
    for n in 0..12 {
        let kind = if n % 2 == 0 { "low" } else { "high" };
        let row = format!("{},{},{}", n % 2 * 3 + n % 5, (n * 7) % 11, n % 3);
        let _ = writeln!(x, "s{n},{}", change(n, &row));
        let _ = writeln!(y, "s{n},{kind}");
    }
    put(at, "x.csv", x);
    put(at, "y.csv", y);
}

#[test]
fn what_cannot_be_is_said_with_the_mend() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    small(at, |_, row| row.to_owned());
    put(at, "one.csv", "id,kind\ns0,low\ns1,low\ns2,low\n");
    put(
        at,
        "few.csv",
        "id,kind\ns0,low\ns1,low\ns2,low\ns3,high\ns4,high\n",
    );
    put(at, "two.csv", "id,kind,other\ns0,low,1\ns1,high,2\n");
    put(at, "far.csv", "id,kind\nq0,low\nq1,high\n");
    put(at, "text.mva", "{\"a\": 1}");
    let rb = "mva --method rb-cca --view x=x.csv --labels";
    let cases = [
        ("mva --view x=x.csv".to_owned(), 2, "--method"),
        ("mva --method pca".to_owned(), 2, "--view NAME=FILE"),
        (format!("{rb} one.csv"), 1, "all samples are 'low'"),
        (format!("{rb} few.csv"), 1, "class 'high'"),
        (
            format!("{rb} far.csv"),
            1,
            "a class for none of the samples",
        ),
        (format!("{rb} two.csv"), 2, "--label COLUMN"),
        (format!("{rb} two.csv --label no"), 2, "no column 'no'"),
        (format!("{rb} y.csv -k 2"), 2, "give 1 to 1"),
        (format!("{rb} y.csv --test-level 2"), 2, "between 0 and 1"),
        (format!("{rb} y.csv --ridge -1"), 2, "0 or larger"),
        (format!("{rb} y.csv --ridge 0"), 2, "must be positive"),
        (format!("{rb} y.csv --folds 1"), 2, "2 or more"),
        (format!("{rb} y.csv --raw"), 2, "leave it out"),
        (
            "mva --method pca --view x=x.csv -k 9".to_owned(),
            2,
            "have 3 components at most",
        ),
        (
            "mva --method pca --view x=x.csv --ridge 1".to_owned(),
            2,
            "pca has none",
        ),
        (
            "mva --method pca --view x=x.csv --predicted p.csv".to_owned(),
            2,
            "predicts nothing",
        ),
        (
            "mva --method pca --view x=x.csv --view y=x.csv".to_owned(),
            2,
            "one --view and no --labels",
        ),
        (
            "mva --method pca --view x=x.csv --weights z=w.csv".to_owned(),
            2,
            "no directions of a view 'z'",
        ),
        (
            "mva --map text.mva --view x=x.csv".to_owned(),
            1,
            "'polyview mva --save' wrote",
        ),
        (
            "mva --map x.csv --view x=x.csv".to_owned(),
            1,
            "no projection that was saved",
        ),
    ];
    for (words, code, says) in cases {
        let err = fails(at, &words, code);
        let err = err.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(err.contains(says), "{words}: {err}");
    }
    // holes are refused by sample and column
    small(at, |n, row| match n {
        4 => "1,,0".to_owned(),
        _ => row.to_owned(),
    });
    let err = fails(at, "mva --method pca --view x=x.csv", 1);
    let err = err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        err.contains("sample 's4', column 'b'") && err.contains("polyview impute"),
        "{err}"
    );
    // a column without variance takes no part, a table without any is refused
    small(at, |n, _| format!("5,{},{}", n * n % 7, n % 4));
    let note = said(at, &format!("{rb} y.csv --test-level 0.9 --ridge 1"));
    assert!(
        note.contains("1 of 3 features do not vary, first 'a'"),
        "{note}"
    );
    small(at, |_, _| "5,1,2".to_owned());
    let err = fails(at, &format!("{rb} y.csv --ridge 1"), 1);
    assert!(err.contains("no feature varies"), "{err}");
}

#[test]
fn new_samples_need_the_features_of_the_map() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    small(at, |_, row| row.to_owned());
    ok(
        at,
        "mva --method opls --view x=x.csv --labels y.csv --ridge 1 --save m.mva --scores z.csv",
    );
    // in another order, with a column more
    let turned: Vec<String> = get(at, "x.csv")
        .lines()
        .enumerate()
        .map(|(i, l)| {
            let c: Vec<&str> = l.split(',').collect();
            let more = if i == 0 {
                "q".to_owned()
            } else {
                i.to_string()
            };
            format!("{},{},{more},{},{}\n", c[0], c[3], c[1], c[2])
        })
        .collect();
    put(at, "turned.csv", turned.concat());
    let note = said(at, "mva --map m.mva --view x=turned.csv --scores t.csv");
    assert!(
        note.contains("1 columns are not of the projection"),
        "{note}"
    );
    same_table(&get(at, "z.csv"), &get(at, "t.csv"));
    put(at, "less.csv", "id,a,b\ns0,1,2\n");
    let err = fails(at, "mva --map m.mva --view x=less.csv --scores s.csv", 1);
    assert!(err.contains("no column 'c'"), "{err}");
    let err = fails(at, "mva --map m.mva --view z=x.csv", 2);
    assert!(err.contains("the projection knows x"), "{err}");
    // tables on standard output stand alone
    let o = run(at, "mva --map m.mva --view x=x.csv --scores -");
    let text = String::from_utf8_lossy(&o.stdout).into_owned();
    assert!(text.starts_with("sample,Component 1"), "{text}");
    assert_eq!(text.lines().count(), 13);
}

/// The Pearson correlation of two columns.
fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let mean = |x: &[f64]| x.iter().sum::<f64>() / x.len() as f64;
    let (p, q) = (mean(a), mean(b));
    let sum = |of: &dyn Fn(f64, f64) -> f64| -> f64 {
        a.iter().zip(b).map(|(a, b)| of(a - p, b - q)).sum()
    };
    sum(&|a, b| a * b) / (sum(&|a, _| a * a) * sum(&|_, b| b * b)).sqrt()
}

/// What is called a correlation is that of the components that are written.
#[test]
fn correlations_are_those_of_the_components() {
    let dir = mice();
    let at = dir.path();
    let numbers = |text: &str, name: &str| -> Vec<f64> {
        column(text, name)
            .iter()
            .map(|c| c.parse().expect("a number"))
            .collect()
    };
    let read = |out: &str, key: &str| -> Vec<f64> {
        let json: serde_json::Value = serde_json::from_str(out).expect("JSON");
        let all = json[key].as_array().expect("a list");
        all.iter().map(|x| x.as_f64().expect("a number")).collect()
    };
    let cca = "mva --method cca --view genes=genes.csv --view lipids=lipids.csv --ridge 10 -k 3 --force --scores c.csv";
    let out = ok(at, &format!("--json {cca}"));
    let (found, penalised) = (read(&out, "components"), read(&out, "penalised"));
    let scores = get(at, "c.csv");
    for k in 0..3 {
        let of = |view: &str| numbers(&scores, &format!("{view} Component {}", k + 1));
        let own = correlation(&of("genes"), &of("lipids"));
        assert!((own - found[k]).abs() < 1e-6, "{own} {}", found[k]);
        assert!(penalised[k] < found[k] - 1e-3);
    }
    let out = ok(at, cca);
    assert!(
        out.contains("correlation") && out.contains("penalised"),
        "{out}"
    );
    // of classes: the share of the squares between them
    let out = ok(
        at,
        "--json mva --method cca --view lipids=lipids.csv --labels diet.csv --ridge 100 --force --scores c.csv",
    );
    let found = read(&out, "components");
    let classes = get(at, "diet.csv");
    let class: Vec<&str> = classes
        .lines()
        .skip(1)
        .map(|l| l.split(',').nth(1).expect("a class"))
        .collect();
    let z = numbers(&get(at, "c.csv"), "Component 1");
    let mean = z.iter().sum::<f64>() / z.len() as f64;
    let of_class = |c: &str| {
        let own: Vec<f64> = z
            .iter()
            .zip(&class)
            .filter(|x| *x.1 == c)
            .map(|x| *x.0)
            .collect();
        own.iter().sum::<f64>() / own.len() as f64
    };
    let between: f64 = class.iter().map(|c| (of_class(c) - mean).powi(2)).sum();
    let all: f64 = z.iter().map(|x| (x - mean).powi(2)).sum();
    assert!(
        (between / all - found[0]).abs() < 1e-6,
        "{} {}",
        between / all,
        found[0]
    );
}

/// A penalty that the form needs, and data of another scale, are said.
#[test]
fn what_the_form_needs_and_data_off_the_scale_are_said() {
    let dir = mice();
    let at = dir.path();
    for method in ["cca", "opls"] {
        let err = fails(
            at,
            &format!("mva --method {method} --view genes=genes.csv --labels diet.csv --ridge 0"),
            2,
        );
        assert!(
            err.contains("genes.csv") && err.contains("--form primal"),
            "{err}"
        );
    }
    // where it is solved, and what takes no part
    let told = |more: &str| {
        let told = said(
            at,
            &format!("mva --method opls --view genes=genes.csv --labels few.csv {more}"),
        );
        told.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let few: Vec<String> = (get(at, "diet.csv").lines().enumerate())
        .map(|(i, line)| match line.split_once(',') {
            Some((id, _)) if (1..=2).contains(&i) => format!("{id},"),
            _ => line.to_owned(),
        })
        .collect();
    put(at, "few.csv", few.join("\n") + "\n");
    let text = told("");
    assert!(
        text.contains("it is solved in samples") && text.contains("--form primal"),
        "{text}"
    );
    assert!(
        text.contains("2 of ") && text.contains("have no class in column"),
        "{text}"
    );
    assert!(!told("--form dual").contains("it is solved in samples"));
    let far: String = (get(at, "new-lipids.csv").lines())
        .map(|l| {
            let times = |c: &str| {
                c.parse()
                    .map_or(c.to_owned(), |x: f64| (1000.0 * x).to_string())
            };
            l.split(',').map(times).collect::<Vec<_>>().join(",") + "\n"
        })
        .collect();
    put(at, "far.csv", far);
    for raw in ["", "--raw"] {
        ok(
            at,
            &format!("mva --method pca --view lipids=lipids.csv {raw} -k 2 --force --save p.mva"),
        );
        // a single cell is told as models tell it
        let new = get(at, "new-lipids.csv");
        let one = new.lines().enumerate().map(|(n, l)| match n {
            3 => format!("{},99999\n", l.rsplit_once(',').map_or(l, |c| c.0)),
            _ => format!("{l}\n"),
        });
        put(at, "one.csv", one.collect::<String>());
        let note = said(
            at,
            "mva --map p.mva --view lipids=one.csv --scores s.csv --force",
        );
        let note = note.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            note.contains("one.csv: view 'lipids': 1 new value(s) lie more than"),
            "{note}"
        );
        let note = said(
            at,
            "mva --map p.mva --view lipids=far.csv --scores s.csv --force",
        );
        assert!(
            note.contains("far.csv") && note.contains("far off"),
            "{note}"
        );
        let note = said(
            at,
            "mva --map p.mva --view lipids=new-lipids.csv --scores s.csv --force",
        );
        assert!(!note.contains("far off"), "{note}");
    }
}
