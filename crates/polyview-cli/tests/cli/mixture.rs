//! Clusters of samples and classifiers by cluster.

use std::fmt::Write as _;
use std::path::Path;

use crate::common::{fails, get, ok, put, said};

/// Numbers in (−1, 1), one after the other.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        let add = 1_442_695_040_888_963_407;
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(add);
        (self.0 >> 33) as f64 / f64::from(1u32 << 30) - 1.0
    }
}

/// Four clusters at the corners of a square, seen through eight features; the
/// label is 1 on one diagonal.
fn tables(at: &Path, name: &str, samples: usize, seed: u64) {
    let mut numbers = Numbers(seed);
    let mut weights = Numbers(77);
    let w: Vec<[f64; 2]> = (0..8).map(|_| [weights.next(), weights.next()]).collect();
    let mut x = String::from("id,a,b,c,d,e,f,g,h\n");
    let mut y = String::from("id,same,other\n");
    for n in 0..samples {
        let side = |bit: usize| {
            if (n >> bit).is_multiple_of(2) {
                2.0
            } else {
                -2.0
            }
        };
        let z = [
            side(0) + 0.4 * numbers.next(),
            side(1) + 0.4 * numbers.next(),
        ];
        let _ = write!(x, "s{n}");
        for [u, v] in &w {
            let _ = write!(x, ",{:.4}", u * z[0] + v * z[1] + 0.2 * numbers.next());
        }
        x.push('\n');
        let same = u8::from(z[0] * z[1] > 0.0);
        let _ = writeln!(y, "s{n},{same},{}", 1 - same);
    }
    put(at, &format!("{name}x.csv"), x);
    put(at, &format!("{name}y.csv"), y);
}

#[test]
fn clusters_have_classifiers_of_their_own() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    tables(at, "s", 120, 1);
    tables(at, "t", 40, 2);
    let fit = "fit --model sshiba -k 2 --mixture 4 --view x=sx.csv --view y=sy.csv:bernoulli";
    // whether there are more than were offered is open where each is taken
    let all = "clusters that were offered (--mixture) have samples";
    let four = said(at, &format!("{fit} --out four.pv"));
    assert!(four.contains(all), "{four}");
    // a classifier for each cluster is mixed with a regression as any other
    for part in [
        "y: predicted from other views by a mixture",
        "weights/y: predicted by a mixture",
    ] {
        assert!(four.contains(part), "{part}: {four}");
    }
    let seven = fit.replace("--mixture 4", "--mixture 7");
    let seven = said(at, &format!("{seven} --out seven.pv"));
    assert!(!seven.contains(all), "{seven}");
    let toml = ok(at, &format!("{fit} --dry-run"));
    assert!(
        toml.contains("local = true") && toml.contains("factor-prior = \"mixture\""),
        "{toml}"
    );
    ok(at, &format!("{fit} --out m.pv"));
    let said = ok(at, "inspect m.pv");
    assert!(
        said.contains("clusters of samples (concentration"),
        "{said}"
    );
    let json: serde_json::Value =
        serde_json::from_str(&ok(at, "inspect m.pv --json")).expect("JSON");
    let sizes = json["clusters"]["sizes"].as_array().expect("sizes");
    assert!(
        sizes
            .iter()
            .all(|s| (s.as_f64().expect("a size") - 30.0).abs() < 3.0),
        "{sizes:?}"
    );
    ok(at, "predict m.pv --view x=tx.csv --target y --out p.csv");
    let (found, truth) = (get(at, "p.csv"), get(at, "ty.csv"));
    for (p, t) in found.lines().zip(truth.lines()).skip(1) {
        let cell = |l: &str| l.split(',').nth(1).and_then(|c| c.parse::<f64>().ok());
        let (p, t) = (cell(p).expect("a probability"), cell(t).expect("a label"));
        assert!((p - t).abs() < 0.5, "{p} {t}");
    }
    ok(at, "export m.pv --weights y=w.csv");
    assert!(get(at, "w.csv").contains("\nother (4),"));
    ok(at, "report m.pv --out r.html");
    assert!(get(at, "r.html").contains("Samples of the clusters"));
    // without classifiers by cluster, and what does not go together
    ok(
        at,
        "fit --model sshiba -k 2 --factor-prior mixture --view x=sx.csv --out n.pv",
    );
    let few = fails(at, "fit --mixture 41 -k 2 --view x=tx.csv --out f.pv", 1);
    assert!(few.contains("at most 40"), "{few}");
    fails(
        at,
        "fit --mixture 2 --factor-prior ard --view x=tx.csv --out f.pv",
        2,
    );
    fails(at, "fit --mixture 0 -k 2 --view x=tx.csv --out f.pv", 2);
}

/// Labels alone leave two of three clusters open: what is predicted from them is better than
/// the training means, not worse.
#[test]
fn labels_alone_leave_clusters_open() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    let mut weights = Numbers(5);
    let w: Vec<[f64; 2]> = (0..12)
        .map(|_| [2.0 * weights.next(), 2.0 * weights.next()])
        .collect();
    let write = |name: &str, samples: usize, seed: u64| {
        let mut numbers = Numbers(seed);
        let header: Vec<String> = (0..12).map(|d| format!("x{d}")).collect();
        let mut x = format!("id,{}\n", header.join(","));
        let mut y = "id,y\n".to_owned();
        for n in 0..samples {
            let centre = [[4.0, 0.0], [-3.0, 3.0], [-3.0, -3.0]][n % 3];
            // nearly normal, of variance 1
            let mut normal = || (0..3).map(|_| numbers.next()).sum::<f64>();
            let z = [centre[0] + normal(), centre[1] + normal()];
            let _ = write!(x, "s{n}");
            for [u, v] in &w {
                let _ = write!(x, ",{:.4}", u * z[0] + v * z[1] + normal());
            }
            x.push('\n');
            let one = numbers.next() < [0.9, -0.9, 0.8][n % 3];
            let _ = writeln!(y, "s{n},{}", u8::from(one));
        }
        put(at, &format!("{name}x.csv"), x);
        put(at, &format!("{name}y.csv"), y);
    };
    write("s", 150, 1);
    write("t", 90, 2);
    ok(
        at,
        "fit --model sshiba -k 4 --mixture 3 --view x=sx.csv:gaussian --view y=sy.csv:bernoulli --out m.pv",
    );
    ok(at, "predict m.pv --view y=ty.csv --target x --out p.csv");
    let text = ok(
        at,
        "score --truth tx.csv --predicted p.csv --kind real --training sx.csv --json",
    );
    let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let r2 = json["r2"].as_f64().expect("a number");
    assert!(r2 > 0.25, "{r2}");
}

/// Clusters go with groups of samples, and where they do not, each refusal names what to leave out.
#[test]
fn clusters_beside_groups() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    tables(at, "s", 120, 1);
    let row = |n: usize| format!("s{n},{}\n", ["old", "new"][usize::from(n < 60)]);
    put(
        at,
        "g.csv",
        "id,batch\n".to_owned() + &(0..120).map(row).collect::<String>(),
    );
    let fit = "fit --model sshiba --view x=sx.csv -k 2 --mixture 4 --metadata g.csv --groups batch --max-sweeps 60 --force --out m.pv";
    let note = said(at, fit);
    assert!(
        note.contains("--group-intercepts") && !note.contains("--factor-prior"),
        "{note}"
    );
    ok(at, &format!("{fit} --group-intercepts --group-noise"));
    ok(
        at,
        "project m.pv --view x=sx.csv --metadata g.csv --out z.csv",
    );
    let err = fails(
        at,
        &format!("{fit} --view y=sy.csv:bernoulli --group-intercepts"),
        1,
    );
    let err = err.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "view 'y'",
        "(--mixture)",
        "(--groups)",
        "intercepts = false",
        "local = false",
    ] {
        assert!(err.contains(part), "{part}: {err}");
    }
}
