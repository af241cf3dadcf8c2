//! Tables of a model: fitted values can be made from them.

use std::fmt::Write;

use crate::common::{fails, get, ok, put};

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

#[test]
fn noise_of_times_and_cut_points_of_levels_are_exported() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    let (mut t, mut o, mut x, mut c) = (
        "id,time,event\n".to_owned(),
        "id,q1,q2\n".to_owned(),
        "id,a,b\n".to_owned(),
        "id,k,l\n".to_owned(),
    );
    for n in 0..60_u32 {
        let u = f64::from((n * 37 + n * n * 5) % 101) / 101.0;
        let v = f64::from((n * 53 + 11) % 97) / 97.0;
        let came = u8::from(n % 3 > 0);
        let _ = writeln!(t, "s{n},{:.3},{came}", (2.0 * u).exp() + 0.3 * v);
        let _ = writeln!(o, "s{n},{},{}", 1 + (4.0 * u) as u32, 1 + (4.0 * v) as u32);
        let _ = writeln!(x, "s{n},{u:.3},{:.3}", u + 0.4 * v);
        let _ = writeln!(c, "s{n},{},{}", (40.0 * u * v) as u32, n % 9);
    }
    for (name, text) in [("t.csv", t), ("o.csv", o), ("x.csv", x), ("c.csv", c)] {
        put(at, name, text);
    }
    ok(
        at,
        "fit --model sshiba --view t=t.csv:survival --view o=o.csv:ordinal --view x=x.csv:gaussian --view c=c.csv:pln -k 2 --max-sweeps 50 --no-settle --out m.pv",
    );
    ok(
        at,
        "export m.pv --intercepts t=t-b.csv --intercepts o=o-b.csv --intercepts x=x-b.csv --intercepts c=c-b.csv",
    );
    let (columns, rows) = table(&get(at, "t-b.csv"));
    assert_eq!(columns, ["intercept", "centre", "scale", "noise"]);
    let noise = rows[0].1[3];
    assert!(noise > 0.05 && noise < 1.5, "{rows:?}");
    let (columns, rows) = table(&get(at, "o-b.csv"));
    let points = ["cut point 1|2", "cut point 2|3", "cut point 3|4"];
    assert!(columns.ends_with(&points.map(str::to_owned)), "{columns:?}");
    for (_, row) in rows {
        let points = &row[row.len() - 3..];
        assert!(points[0] < points[1] && points[1] < points[2], "{points:?}");
        // where they lie is what intercepts say
        assert!(points.iter().sum::<f64>().abs() < 1e-9, "{points:?}");
    }
    // those of fixed ends, which groups share, and of groups that have their own
    let o = get(at, "o.csv");
    let of_group = |n: usize| match n {
        0 => "group",
        n if n % 2 == 0 => "north",
        _ => "south",
    };
    let id = |line: &str| line.split(',').next().unwrap_or("").to_owned();
    let samples: Vec<String> = (o.lines().enumerate())
        .map(|(n, line)| format!("{},{}\n", id(line), of_group(n)))
        .collect();
    put(at, "samples.csv", samples.concat());
    for (likelihood, options, by_group) in [
        ("ordinal-midpoint", "", false),
        (
            "ordinal",
            "--metadata samples.csv --groups group --group-noise",
            true,
        ),
        (
            "ordinal-midpoint",
            "--metadata samples.csv --groups group --group-noise",
            false,
        ),
    ] {
        ok(
            at,
            &format!(
                "fit --model sshiba --view o=o.csv:{likelihood} --view x=x.csv:gaussian {options} -k 2 --max-sweeps 20 --no-settle --out g.pv --force"
            ),
        );
        ok(at, "export g.pv --intercepts o=g.csv --force");
        let (columns, rows) = table(&get(at, "g.csv"));
        let names = |group: &str| points.map(|p| format!("{p}{group}"));
        let expected = if by_group {
            [names(" (south)"), names(" (north)")].concat()
        } else {
            names("").to_vec()
        };
        assert!(columns.ends_with(&expected), "{likelihood}: {columns:?}");
        for (_, row) in rows {
            for own in row[row.len() - expected.len()..].chunks(3) {
                assert!(own[0] < own[1] && own[1] < own[2], "{own:?}");
            }
        }
    }
    let (columns, rows) = table(&get(at, "c-b.csv"));
    assert_eq!(columns.last().map(String::as_str), Some("size"));
    assert!(
        rows.iter().all(|(_, r)| r.last().is_some_and(|r| *r > 0.0)),
        "{rows:?}"
    );
    assert_eq!(
        table(&get(at, "x-b.csv")).0,
        ["intercept", "centre", "scale", "noise"]
    );
}

#[test]
fn what_data_were_made_of_is_written_beside_them() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    ok(
        at,
        "simulate --samples 4000 --features 6,4 -k 2 --seed 3 --out-dir sim",
    );
    let (_, z) = table(&get(at, "sim/true-factors.csv"));
    for view in ["view1", "view2"] {
        let (_, w) = table(&get(at, &format!("sim/true-weights-{view}.csv")));
        let (columns, beside) = table(&get(at, &format!("sim/true-intercepts-{view}.csv")));
        let (_, x) = table(&get(at, &format!("sim/{view}.csv")));
        assert_eq!(columns, ["intercept", "noise"]);
        for (d, (feature, beside)) in beside.iter().enumerate() {
            assert_eq!(*feature, w[d].0);
            let off = |n: usize| {
                let mean: f64 = z[n].1.iter().zip(&w[d].1).map(|(z, w)| z * w).sum();
                x[n].1[d] - mean - beside[0]
            };
            let (count, noise) = (x.len() as f64, beside[1]);
            let mean = (0..x.len()).map(off).sum::<f64>() / count;
            let sd = ((0..x.len()).map(|n| off(n).powi(2)).sum::<f64>() / count).sqrt();
            // five standard errors
            assert!(
                mean.abs() < 5.0 * noise / count.sqrt(),
                "{feature}: {mean} {noise}"
            );
            assert!(
                (sd / noise - 1.0).abs() < 5.0 / (2.0 * count).sqrt(),
                "{feature}: {sd} {noise}"
            );
        }
    }
}

/// Where one of the tables is refused, none is written.
#[test]
fn a_refused_table_leaves_none_behind() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    ok(at, "datasets nutrimouse --out-dir .");
    ok(
        at,
        "fit --view lipids=lipids.csv -k 2 --max-sweeps 5 --seed 1 --out m.pv",
    );
    for refused in ["--inclusion lipids=i.csv", "--weights genes=w.csv"] {
        fails(at, &format!("export m.pv --factors z.csv {refused}"), 1);
        assert!(!at.join("z.csv").exists(), "{refused}");
    }
}

/// Intercepts go with sizes and offsets as they were given.
#[test]
fn intercepts_beside_offsets_make_the_fitted_values() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    let (mut x, mut c, mut sizes, mut doses) = (
        "id,a,b,c,d\n".to_owned(),
        "id,k,l,m\n".to_owned(),
        "id,size\n".to_owned(),
        "id,dose\n".to_owned(),
    );
    let (mut size, mut dose) = (Vec::new(), Vec::new());
    for n in 0..48_u32 {
        let u = f64::from((n * 37 + n * n * 5) % 101) / 50.0 - 1.0;
        let v = f64::from((n * 53 + 11) % 97) / 97.0;
        size.push(150.0 * f64::from(1 + n % 5));
        dose.push(f64::from(20 + (n * 7) % 13));
        let (size, dose) = (size[n as usize], dose[n as usize]);
        let _ = writeln!(sizes, "s{n},{size}");
        let _ = writeln!(doses, "s{n},{dose}");
        let hidden = n % 6 == 3;
        let shown = |value: f64| {
            if hidden {
                String::new()
            } else {
                value.to_string()
            }
        };
        let count = |w: f64, level: f64| (size * level * (w * u).exp()).round();
        let a = shown(dose + 2.0 * u + 0.3 * v);
        let _ = writeln!(
            x,
            "s{n},{a},{},{},{}",
            dose - u + 0.2 * v,
            dose + u,
            dose - 3.0 * v
        );
        let (k, l) = (shown(count(0.7, 0.2)), count(-0.5, 0.1));
        let _ = writeln!(c, "s{n},{k},{l},{}", count(0.4, 0.3));
    }
    for (name, text) in [
        ("x.csv", x),
        ("c.csv", c),
        ("size.csv", sizes),
        ("dose.csv", doses),
    ] {
        put(at, name, text);
    }
    ok(
        at,
        "fit --model mofa --view x=x.csv:gaussian --view c=c.csv:pln --offset c=size.csv --offset x=dose.csv -k 2 --max-sweeps 80 --out m.pv",
    );
    ok(
        at,
        "export m.pv --factors z.csv --weights x=xw.csv --weights c=cw.csv --intercepts x=xb.csv --intercepts c=cb.csv",
    );
    let (factors, z) = table(&get(at, "z.csv"));
    for (view, feature) in [("x", "a"), ("c", "k")] {
        ok(
            at,
            &format!("impute m.pv --view {view} --out filled.csv --force"),
        );
        let (names, filled) = table(&get(at, "filled.csv"));
        let (_, w) = table(&get(at, &format!("{view}w.csv")));
        let (columns, b) = table(&get(at, &format!("{view}b.csv")));
        let d = names
            .iter()
            .position(|f| f == feature)
            .expect("the feature");
        let of = |name: &str| {
            let place = columns.iter().position(|c| c == name);
            b[d].1[place.unwrap_or_else(|| panic!("{columns:?}"))]
        };
        for n in (0..48).filter(|n| n % 6 == 3) {
            let score: f64 = (0..factors.len()).map(|k| z[n].1[k] * w[d].1[k]).sum();
            let predictor = of("intercept") + score;
            let value = filled[n].1[d];
            if view == "x" {
                let ours = of("centre") + of("scale") * predictor + dose[n];
                assert!((ours - value).abs() < 1e-8, "{n}: {ours}, {value}");
            } else {
                // but for how sure predictors are
                let ours = size[n] * predictor.exp() * (1.0 + 1.0 / of("size")).sqrt();
                assert!((ours / value - 1.0).abs() < 0.05, "{n}: {ours}, {value}");
            }
        }
    }
}
