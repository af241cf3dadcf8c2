//! Tables of a model: fitted values can be made from them.

use crate::common::{get, ok, put};

/// Rows of numbers of a written table by the name in front, without its header.
fn table(text: &str) -> (Vec<String>, Vec<(String, Vec<f64>)>) {
    let mut lines = text.lines().map(|l| l.split(','));
    let header = lines.next().expect("a header").skip(1);
    let header = header.map(str::to_owned).collect();
    let rows = lines.map(|mut cells| {
        let name = cells.next().expect("a name").to_owned();
        (name, cells.map(|c| c.parse().expect("a number")).collect())
    });
    (header, rows.collect())
}

#[test]
fn factors_weights_and_intercepts_are_the_fitted_values() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    ok(at, "datasets nutrimouse --out-dir .");
    // every seventh cell of the lipids is hidden, and every column far from zero
    let whole = get(at, "lipids.csv");
    let mut holes = String::new();
    for (i, line) in whole.lines().enumerate() {
        let cells = line.split(',').enumerate().map(|(j, cell)| {
            if i > 0 && j > 0 && (3 * i + j) % 7 == 0 {
                String::new()
            } else {
                cell.to_owned()
            }
        });
        holes.push_str(&cells.collect::<Vec<_>>().join(","));
        holes.push('\n');
    }
    put(at, "holes.csv", &holes);
    for grouped in ["", " --metadata samples.csv --groups diet"] {
        ok(
            at,
            &format!(
                "fit --model mofa --view lipids=holes.csv --view genes=genes.csv --factors 3 \
                 --max-sweeps 60{grouped} --out m.pv --force --seed 1"
            ),
        );
        ok(
            at,
            "export m.pv --factors z.csv --weights lipids=w.csv --intercepts lipids=b.csv --force",
        );
        ok(at, "impute m.pv --view lipids --out filled.csv --force");
        let (factors, z) = table(&get(at, "z.csv"));
        let (_, w) = table(&get(at, "w.csv"));
        let (columns, b) = table(&get(at, "b.csv"));
        let at_column = |name: &str| columns.iter().position(|c| c == name);
        let place = |name: &str| at_column(name).unwrap_or_else(|| panic!("{columns:?}"));
        let groups: Vec<String> = if grouped.is_empty() {
            Vec::new()
        } else {
            let lines = get(at, "diet.csv");
            let of = |l: &str| l.rsplit(',').next().unwrap_or("").to_owned();
            lines.lines().skip(1).map(of).collect()
        };
        let (features, filled) = table(&get(at, "filled.csv"));
        let mut seen = 0;
        for (i, (sample, values)) in filled.iter().enumerate() {
            assert_eq!(*sample, z[i].0);
            for (d, value) in values.iter().enumerate() {
                assert_eq!(features[d], b[d].0);
                if (3 * (i + 1) + d + 1) % 7 != 0 {
                    continue;
                }
                let own = match groups.get(i) {
                    Some(g) => place(&format!("intercept ({g})")),
                    None => place("intercept"),
                };
                let score: f64 = (0..factors.len()).map(|k| z[i].1[k] * w[d].1[k]).sum();
                let (centre, scale) = (b[d].1[place("centre")], b[d].1[place("scale")]);
                let ours = centre + scale * (b[d].1[own] + score);
                assert!((ours - value).abs() < 1e-9, "{sample} {d}: {ours}, {value}");
                seen += 1;
            }
        }
        assert!(seen > 80, "{seen}");
    }
}

#[test]
fn intercepts_of_labels_and_classes_have_no_scale() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    ok(at, "datasets nutrimouse --out-dir .");
    ok(
        at,
        "fit --model sshiba --view lipids=lipids.csv --view diet=diet.csv:categorical \
         --factors 3 --max-sweeps 40 --no-settle --out m.pv --seed 1",
    );
    ok(
        at,
        "export m.pv --intercepts diet=b.csv --intercepts lipids=l.csv",
    );
    let (columns, rows) = table(&get(at, "b.csv"));
    assert_eq!(columns, ["intercept"]);
    assert_eq!(rows.len(), 5, "one for each class");
    let (columns, rows) = table(&get(at, "l.csv"));
    assert_eq!(columns, ["intercept", "centre", "scale", "noise"]);
    assert!(rows.iter().all(|(_, r)| r[3] > 0.0 && r[3] < 2.0));
}
