//! One definition everywhere: what commands say of the same numbers agrees.

use crate::common::{fails, get, ok, put};
use std::collections::HashMap;
use std::fmt::Write;

/// Genes and lipids of forty mice, from the demonstration's own data.
fn mice() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    for t in polyview_datasets::nutrimouse_tables() {
        let mut text = format!("id,{}\n", t.features.join(","));
        for (n, s) in t.samples.iter().enumerate() {
            text.push_str(s);
            for d in 0..t.features.len() {
                let _ = write!(text, ",{}", t.values[(n, d)]);
            }
            text.push('\n');
        }
        put(dir.path(), &format!("{}.csv", t.name), text);
    }
    dir
}

const FIT: &str = "fit --view gene=gene.csv --view lipid=lipid.csv --seed 1 --quiet";

fn cells(line: &str) -> Vec<String> {
    line.split("  ")
        .map(str::trim)
        .filter(|c| !c.is_empty())
        .map(str::to_owned)
        .collect()
}

#[test]
fn factors_act_where_the_table_says_that_they_explain_something() {
    let dir = mice();
    ok(dir.path(), &format!("{FIT} -k 10 --out m.pv"));
    let text = ok(dir.path(), "inspect m.pv");
    // the rows of the table with this header, under this title
    let block = |title: &str, header: &str| -> Vec<Vec<String>> {
        text.lines()
            .skip_while(|l| !l.starts_with(title))
            .skip_while(|l| !l.trim_start().starts_with(header))
            .skip(1)
            .take_while(|l| !l.trim().is_empty())
            .map(cells)
            .collect()
    };
    let shares: HashMap<String, Vec<f64>> = block("variance explained", "view")
        .into_iter()
        .map(|r| {
            let numbers = r[1..].iter().flat_map(|c| c.split_whitespace());
            let numbers = numbers.map(|c| c.parse().expect("a share"));
            // the first is that of all factors
            (r[0].clone(), numbers.skip(1).collect())
        })
        .collect();
    let acting = block("factors by the views", "factor ");
    let together = block("Factors that explain a view only together", "view");
    // factors that do not pay for themselves are gone
    assert!((3..=10).contains(&acting.len()), "{text}");
    for (k, row) in acting.iter().enumerate() {
        let factor = (k + 1).to_string();
        let by_loss = |v: &str| {
            let mut rows = together.iter();
            rows.any(|r| {
                r[0] == v && r[1] == factor && r[3].parse::<f64>().expect("a share") >= 1.0
            })
        };
        let wanted: Vec<&str> = ["gene", "lipid"]
            .into_iter()
            .filter(|v| shares[*v][k] >= 1.0 || by_loss(v))
            .collect();
        let kind = match wanted.len() {
            0 => "in none",
            1 => "private",
            _ => "shared by all",
        };
        assert_eq!(row[1], kind, "factor {}: {text}", k + 1);
        let said = row.get(2).map_or("", String::as_str);
        assert_eq!(said, wanted.join(", "), "factor {}: {text}", k + 1);
    }
    let json: serde_json::Value =
        serde_json::from_str(&ok(dir.path(), "inspect m.pv --json")).expect("JSON");
    assert_eq!(json["activity"]["of"], "data");
    for k in 0..acting.len() {
        for (m, view) in ["gene", "lipid"].iter().enumerate() {
            assert_eq!(json["views"][m]["name"], *view);
            let share = &json["views"][m]["explained"]["marginal"][k];
            assert_eq!(&json["activity"]["factors"][k]["shares"][m], share);
        }
    }
}

/// Two factors that go together in the samples of a view of their difference: each acts
/// there, though it explains less than nothing alone, and what that means is said.
#[test]
fn shares_below_zero_are_explained() {
    let dir = tempfile::tempdir().expect("a folder");
    let wave = |i: usize, by: f64| ((i as f64) * by).sin();
    let mut tables = [String::from("id"), String::from("id")];
    for (table, count) in tables.iter_mut().zip([24, 4]) {
        table.extend((0..count).map(|d| format!(",f{d}")));
        table.push('\n');
    }
    for n in 0..240 {
        let (common, own) = (1.4 * wave(n, 2.399), 0.4 * wave(n, 5.871));
        // in the samples without b they part, so that they are uncorrelated in all
        let second = if n < 120 { common - own } else { own - common };
        let z = [common + own, second];
        let noise = |d: usize| 0.1 * wave(n * 31 + d * 7, 12.9898 + d as f64);
        let rows: [Vec<f64>; 2] = [
            (0..24).map(|d| z[d % 2] + noise(d)).collect(),
            (0..4).map(|d| z[0] - z[1] + noise(30 + d)).collect(),
        ];
        let views = if n < 120 { 2 } else { 1 };
        for (table, row) in tables.iter_mut().zip(rows).take(views) {
            let _ = write!(table, "s{n}");
            table.extend(row.iter().map(|x| format!(",{x:.4}")));
            table.push('\n');
        }
    }
    put(dir.path(), "a.csv", &tables[0]);
    put(dir.path(), "b.csv", &tables[1]);
    ok(
        dir.path(),
        "fit --model mofa --view a=a.csv --view b=b.csv -k 2 --out m.pv",
    );
    let text = ok(dir.path(), "inspect m.pv");
    assert!(text.contains("only together with others"), "{text}");
    let row = |k: usize| {
        let words = text
            .lines()
            .map(|l| l.split_whitespace().collect::<Vec<_>>());
        let mut of = words.filter(|w| w.len() == 4 && w[0] == "b" && w[1] == k.to_string());
        let w = of.next().expect("a row");
        [w[2], w[3]].map(|x| x.parse::<f64>().expect("a share"))
    };
    for k in 1..=2 {
        let [alone, lost] = row(k);
        assert!(alone < -50.0 && lost > 50.0, "{text}");
    }
    let json: serde_json::Value =
        serde_json::from_str(&ok(dir.path(), "inspect m.pv --json")).expect("JSON");
    for factor in json["activity"]["factors"].as_array().expect("factors") {
        assert_eq!(factor["kind"], "shared by all");
        assert!(factor["lost"][1].as_f64().expect("a share") > 0.5);
    }
}

#[test]
fn imputed_tables_hold_the_numbers_that_were_read() {
    let dir = mice();
    ok(dir.path(), &format!("{FIT} -k 2 --max-sweeps 3 --out m.pv"));
    for view in ["gene", "lipid"] {
        ok(
            dir.path(),
            &format!("impute m.pv --view {view} --out f.csv --force"),
        );
        let (given, found) = (
            get(dir.path(), &format!("{view}.csv")),
            get(dir.path(), "f.csv"),
        );
        for (a, b) in given.lines().zip(found.lines()).skip(1) {
            for (a, b) in a.split(',').zip(b.split(',')).skip(1) {
                let bits = |x: &str| x.parse::<f64>().expect("a number").to_bits();
                assert_eq!(bits(a), bits(b), "{view}: {a} {b}");
            }
        }
        assert_eq!(given.lines().count(), found.lines().count());
    }
}

/// The number after some words.
fn number(text: &str, after: &str) -> f64 {
    let at = text
        .find(after)
        .unwrap_or_else(|| panic!("{after}: {text}"))
        + after.len();
    let own: String = (text[at..].chars())
        .skip_while(|c| c.is_whitespace())
        .take_while(|c| c.is_ascii_digit() || matches!(c, '.' | '-'))
        .collect();
    own.parse().unwrap_or_else(|_| panic!("{after}: '{own}'"))
}

#[test]
fn the_demonstration_and_its_report_have_one_r2() {
    let dir = tempfile::tempdir().expect("a folder");
    let text = ok(dir.path(), "demo --out-dir d --quiet");
    let page = get(dir.path(), "d/report.html");
    let shown: Vec<f64> = page
        .match_indices("R² = ")
        .map(|(at, _)| number(&page[at..], "R² = "))
        .collect();
    let table: Vec<&str> = text.lines().skip_while(|l| !l.contains("R2")).collect();
    let of = |view: &str| -> f64 {
        let row = table.iter().find(|l| l.starts_with(view)).expect("a row");
        cells(row)[2].parse().expect("an R2")
    };
    let own = [of("gene"), of("lipid")];
    let same = |a: f64, b: f64| (a - b).abs() <= 0.0051;
    for x in own {
        assert!(shown.iter().any(|s| same(*s, x)), "{own:?} {shown:?}");
    }
    for s in &shown {
        assert!(own.iter().any(|x| same(*s, *x)), "{own:?} {shown:?}");
    }
}

#[test]
fn scores_of_files_say_what_they_are_against() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    put(at, "train.csv", "id,b,a\ns1,10,1\ns2,20,2\ns3,,3\n");
    put(at, "t.csv", "id,a,b\nq1,4,30\nq2,6,10\nq3,5,\n");
    put(at, "p.csv", "id,a,b\nq1,4,20\nq2,5,10\nq3,5,15\n");
    let words = "score --kind real --truth t.csv --predicted p.csv";
    let text = ok(at, &format!("{words} --training train.csv"));
    // a: errors 0 1 0, about 2: 4 16 9; b: errors 100 0, about 15: 225 25
    let r2 = 1.0 - 101.0 / 279.0;
    assert!(
        (number(&text, "R2, all values") - r2).abs() < 1e-3,
        "{text}"
    );
    assert!(text.contains("each column's mean over train.csv"), "{text}");
    let json = ok(at, &format!("{words} --training train.csv --json"));
    let value: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(value["r2_against"], "training");
    assert!((value["r2"].as_f64().expect("a number") - r2).abs() < 1e-12);
    let text = ok(at, words);
    assert!(
        (number(&text, "R2, all values") - (1.0 - 101.0 / 202.0)).abs() < 1e-3,
        "{text}"
    );
    assert!(
        text.contains("the true values themselves") && text.contains("--training FILE"),
        "{text}"
    );
    put(at, "narrow.csv", "id,a\ns1,1\ns2,2\n");
    let e = fails(at, &format!("{words} --training narrow.csv"), 2);
    assert!(e.contains("narrow.csv: it has no column 'b'"), "{e}");
    let words = "score --kind binary --truth t.csv --predicted p.csv --training train.csv";
    let e = fails(at, words, 2);
    assert!(e.contains("--training belongs to --kind real"), "{e}");
}

/// Hidden cells scored by the library, and from the files that the command
/// writes: the same number, whatever the model scales by.
#[test]
fn scores_of_a_fit_and_of_its_files_are_one() {
    let dir = mice();
    let at = dir.path();
    let full = polyview_datasets::nutrimouse();
    let view = full.view("lipid").expect("a view");
    // every fifth cell is hidden, and the truth of the score holds no other
    let table = |hidden: bool| {
        let mut text = format!("id,{}\n", view.features().join(","));
        for (n, s) in full.samples().iter().enumerate() {
            text.push_str(s);
            for d in 0..view.n_features() {
                text.push(',');
                let own = (n + 2 * d).is_multiple_of(5);
                if let Some(x) = view.value(n, d).filter(|_| own == hidden) {
                    let _ = write!(text, "{x}");
                }
            }
            text.push('\n');
        }
        text
    };
    put(at, "left.csv", table(false));
    put(at, "hidden.csv", table(true));
    for scaling in ["feature", "view", "normal-scores"] {
        let fit = format!(
            "fit --view gene=gene.csv --view lipid=left.csv --seed 1 -k 4 --quiet --scaling \
             {scaling} --out m.pv --force"
        );
        ok(at, &fit);
        ok(at, "impute m.pv --view lipid --out p.csv --force");
        let words = "score --kind real --truth hidden.csv --predicted p.csv --training left.csv";
        let json = ok(at, &format!("{words} --json"));
        let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
        let fit = polyview::Fit::load(at.join("m.pv")).expect("a model");
        let own = fit.held_out_score(&full).expect("scores");
        assert_eq!((own.len(), own[0].view.as_str()), (1, "lipid"));
        let found = json["r2"].as_f64().expect("an R2");
        assert!(
            (found - own[0].r2).abs() < 1e-9,
            "{scaling}: {found} {}",
            own[0].r2
        );
        let rmse = json["rmse"].as_f64().expect("an error");
        assert!((rmse - own[0].rmse).abs() < 1e-9, "{scaling}");
        assert!(found > 0.5, "{scaling}: {found}");
        let inspected = ok(at, "inspect m.pv");
        let said = inspected.contains("of gene, lipid: of its normal scores");
        assert_eq!(said, scaling == "normal-scores", "{inspected}");
    }
}
