//! Similarities to reference points as a view.

use std::fmt::Write;

use crate::common::{fails, get, ok, put, run, said};

/// Points of a square, by halves; the label says whether a point lies within a
/// circle.
fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    for (half, first) in [("old", 0_usize), ("new", 180)] {
        let (mut x, mut y) = ("id,across,up\n".to_owned(), "id,inside\n".to_owned());
        for n in first..first + 180 {
            // low-discrepancy points
            let at = |step: f64| 2.0 * (n as f64 * step).fract() - 1.0;
            let (u, v) = (at(0.754_877_666), at(0.569_840_291));
            let _ = writeln!(x, "s{n},{:.4},{:.2}", u, 1000.0 * v);
            let _ = writeln!(y, "s{n},{}", u8::from(u * u + v * v < 0.64));
        }
        put(dir.path(), &format!("{half}-x.csv"), x);
        put(dir.path(), &format!("{half}-y.csv"), y);
    }
    dir
}

/// Share of labels that a fit on the tables `old` and `new` gets right, and what the fit says.
fn right(at: &std::path::Path, (old, new): (&str, &str), more: &str) -> (f64, String) {
    let fit = run(
        at,
        &format!(
            "fit --model sshiba --view x={old} --view y=old-y.csv:bernoulli --out m.pv --force {more}"
        ),
    );
    assert!(fit.status.success(), "{fit:?}");
    ok(
        at,
        &format!("predict m.pv --view x={new} --target y --out p.csv --force"),
    );
    let (p, y) = (get(at, "p.csv"), get(at, "new-y.csv"));
    let cells = |t: &str| -> Vec<f64> {
        let lines = t.lines().skip(1);
        lines
            .map(|l| {
                l.split(',')
                    .nth(1)
                    .expect("a cell")
                    .parse()
                    .expect("a number")
            })
            .collect()
    };
    let (p, y) = (cells(&p), cells(&y));
    let hits = p.iter().zip(&y).filter(|(p, y)| (**p > 0.5) == (**y > 0.5));
    let words = String::from_utf8(fit.stderr).expect("words");
    (hits.count() as f64 / y.len() as f64, words)
}

#[test]
fn a_circle_is_seen_by_similarities() {
    let dir = folder();
    let at = dir.path();
    ok(
        at,
        "kernel old-x.csv --references 40 --save x.kernel --out old-k.csv",
    );
    ok(at, "kernel new-x.csv --map x.kernel --out new-k.csv");
    let plain = ("old-x.csv", "new-x.csv");
    let kept = "goes by similarities to 180 training samples";
    let flat = |words: &str| words.split_whitespace().collect::<Vec<_>>().join(" ");
    // without the data nothing is kept of single samples
    let (linear, words) = right(at, plain, "-k 3 --no-data");
    assert!(!flat(&words).contains(kept), "{words}");
    let kernels = ("old-k.csv", "new-k.csv");
    let (kernel, _) = right(at, kernels, "-k 12 --settle y=linear-mixture");
    assert!(linear < 0.7 && kernel > 0.9, "{linear} {kernel}");
    let (bent, words) = right(at, plain, "-k 3");
    assert!(bent > 0.9 && flat(&words).contains(kept), "{bent} {words}");
    // the same training table by the file
    ok(at, "kernel old-x.csv --map x.kernel --out again.csv");
    assert_eq!(get(at, "again.csv"), get(at, "old-k.csv"));
    let said = String::from_utf8(run(at, "kernel new-x.csv --kind linear --out l.csv").stderr);
    assert_eq!(
        said.expect("words"),
        "similarities of 180 samples to 180 reference points (2 features) written to l.csv\n"
    );
}

#[test]
fn what_cannot_be_is_said() {
    let dir = folder();
    let at = dir.path();
    ok(at, "kernel old-x.csv --save x.kernel --out k.csv");
    put(at, "hole.csv", "id,across,up\ns1,1,2\ns2,,3\ns3,3,1\n");
    put(at, "damaged.kernel", "{\"kernel\": \"linear\"}");
    for (words, code, expected) in [
        (
            "kernel hole.csv --raw --kind linear --out o.csv",
            1,
            "hole.csv: sample 's2' lacks feature 'across'",
        ),
        (
            "kernel old-y.csv --map x.kernel --out o.csv",
            1,
            "old-y.csv: the table has no feature 'across'",
        ),
        (
            "kernel old-x.csv --map old-x.csv --out o.csv",
            1,
            "old-x.csv: it is no kernel that was saved; give a file",
        ),
        (
            "kernel old-x.csv --map damaged.kernel --out o.csv",
            1,
            "damaged.kernel: missing field",
        ),
        ("kernel old-x.csv --map none --out o.csv", 1, "none: "),
        (
            "kernel none.csv --out o.csv",
            1,
            "none.csv: there is no such file",
        ),
        (
            "kernel old-x.csv --gamma -1 --out o.csv",
            1,
            "gamma is -1, must be above 0",
        ),
        (
            "kernel old-x.csv --references 0 --out o.csv",
            1,
            "reference points is 0",
        ),
        (
            "kernel old-x.csv --kind polynomial --degree 99 --out o.csv",
            1,
            "degree is 99",
        ),
        ("kernel old-x.csv --out k.csv", 1, "k.csv: the file exists"),
        (
            "kernel old-x.csv --save x.kernel --out o.csv",
            1,
            "x.kernel: the file exists",
        ),
        (
            "kernel old-x.csv --map x.kernel --gamma 1 --out o.csv",
            2,
            "cannot be used with",
        ),
    ] {
        let said = fails(at, words, code);
        assert!(said.contains(expected), "{words}: {said}");
        assert!(!at.join("o.csv").exists(), "{words}");
    }
}

/// Samples far from every reference point are said: all their similarities are 0.
#[test]
fn similarities_of_data_far_off_are_said() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    put(at, "a.csv", "id,x,y\ns1,0.1,2\ns2,0.5,1\ns3,0.9,3\n");
    put(at, "b.csv", "id,x,y\nt1,100,2000\nt2,500,1000\nt3,0.4,2\n");
    let words = |o: std::process::Output| String::from_utf8_lossy(&o.stderr).replace('\n', " ");
    let near = words(run(at, "kernel a.csv --out k.csv --save map.json"));
    assert!(!near.contains("warning"), "{near}");
    let far = words(run(at, "kernel b.csv --map map.json --out far.csv"));
    assert!(
        far.contains("warning: b.csv: 2 of 3 samples have similarity 0") && far.contains("'t1'"),
        "{far}"
    );
}

/// Where no two samples are alike the kernel is told, not the fit of it later.
#[test]
fn a_kernel_that_is_too_narrow_is_told() {
    let dir = folder();
    let at = dir.path();
    let words = |gamma: &str| format!("kernel old-x.csv --gamma {gamma} --out {gamma}.csv");
    let told = said(at, &words("1e9"));
    assert!(
        told.contains("every sample is similar to itself alone") && told.contains("--gamma"),
        "{told}"
    );
    let told = said(at, &words("1"));
    assert!(!told.contains("itself alone"), "{told}");
}

/// A kernel given where a model is meant is called a kernel.
#[test]
fn a_kernel_is_no_model() {
    let dir = folder();
    let at = dir.path();
    put(at, "a.csv", "id,x,y\ns1,0.1,2\ns2,0.5,1\ns3,0.9,3\n");
    ok(at, "kernel a.csv --out k.csv --save map.json");
    let err = fails(at, "inspect map.json", 1);
    let err = err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        err.contains("holds a kernel") && err.contains("kernel --map"),
        "{err}"
    );
}

/// A kernel in the model: no command between the tables and the fit, and the file has it all.
#[test]
fn a_kernel_is_a_choice_of_a_view() {
    let dir = folder();
    let at = dir.path();
    let views = "--view x=old-x.csv --view y=old-y.csv:bernoulli";
    let told = said(
        at,
        &format!("fit --model sshiba -k 12 {views} --kernel x=rbf --out m.pv"),
    );
    assert!(
        told.contains("a kernel (rbf of width") && told.contains("all 180 samples are reference"),
        "{told}"
    );
    let right = |kernel: &str| {
        let (p, y) = (get(at, kernel), get(at, "new-y.csv"));
        let cells = |t: &str| -> Vec<f64> {
            let cells = t.lines().skip(1).filter_map(|l| l.split(',').nth(1));
            cells.map(|c| c.parse().expect("a number")).collect()
        };
        let (p, y) = (cells(&p), cells(&y));
        let hits = p.iter().zip(&y).filter(|(p, y)| (**p > 0.5) == (**y > 0.5));
        hits.count() as f64 / y.len() as f64
    };
    ok(at, "predict m.pv --view x=new-x.csv --target y --out p.csv");
    assert!(right("p.csv") > 0.9, "{}", right("p.csv"));
    ok(at, "project m.pv --view x=new-x.csv --out z.csv");
    assert_eq!(get(at, "z.csv").lines().count(), 181);
    let told = said(at, "export m.pv --format mofa2 m.hdf5");
    assert!(
        told.contains("'x' is of similarities by a kernel"),
        "{told}"
    );
    // a study file says the same
    let study = ok(
        at,
        &format!("fit --model sshiba -k 12 {views} --kernel x=rbf --dry-run"),
    );
    assert!(study.contains("kernel = \"rbf\""), "{study}");
    // what a few targets need of a kernel are not its first components
    let usual = ok(
        at,
        &format!("fit --model sshiba {views} --kernel x=rbf --dry-run"),
    );
    assert!(usual.contains("factors = 40"), "{usual}");
    put(at, "study.toml", &study);
    ok(at, "fit --spec study.toml --out again.pv");
    ok(
        at,
        "predict again.pv --view x=new-x.csv --target y --out q.csv",
    );
    assert_eq!(get(at, "p.csv"), get(at, "q.csv"));
    let shown = ok(at, "inspect m.pv");
    assert!(
        shown.contains("kernel rbf") && shown.contains("180 reference points"),
        "{shown}"
    );
    ok(at, "report m.pv --out r.html");
    assert!(get(at, "r.html").contains("reference points"));
    // options of kernels
    for kernel in [
        "rbf{width=1.5,references=60}",
        "matern{nu=5/2,width=median}",
        "polynomial{degree=2}",
        "rbf{width=1.5,keep=0.4}",
    ] {
        ok(
            at,
            &format!("fit --model sshiba -k 12 {views} --kernel x={kernel} --out o.pv --force"),
        );
        ok(
            at,
            "predict o.pv --view x=new-x.csv --target y --out o.csv --force",
        );
        assert!(right("o.csv") > 0.85, "{kernel}: {}", right("o.csv"));
    }
}

/// Reference points that matter, from the command line.
#[test]
fn a_share_of_the_reference_points_is_kept() {
    let dir = folder();
    let at = dir.path();
    let told = said(
        at,
        "fit -k 8 --max-sweeps 60 --view x=old-x.csv --view y=old-y.csv --kernel x=rbf{width=1,keep=0.25} --out m.pv",
    );
    assert!(
        told.contains("45 of 180 reference points are kept") && told.contains("by all"),
        "{told}"
    );
    assert!(ok(at, "inspect m.pv").contains("45 reference points"));
}

#[test]
fn a_table_of_similarities_is_a_kernel() {
    let dir = folder();
    let at = dir.path();
    ok(at, "kernel old-x.csv --save x.kernel --out k.csv");
    ok(at, "kernel new-x.csv --map x.kernel --out new-k.csv");
    let fit = "fit --model sshiba -k 8 --view y=old-y.csv:bernoulli";
    ok(
        at,
        &format!("{fit} --view x=k.csv --kernel x=precomputed --out m.pv"),
    );
    ok(at, "predict m.pv --view x=new-k.csv --target y --out p.csv");
    let err = fails(
        at,
        &format!("{fit} --view x=old-x.csv --kernel x=precomputed --out n.pv"),
        1,
    );
    assert!(err.contains("view 'x': sample 's0' has no column"), "{err}");
}

#[test]
fn kernels_that_cannot_be_are_refused() {
    let dir = folder();
    let at = dir.path();
    let fit = "fit --view x=old-x.csv --view y=old-y.csv --out m.pv --max-sweeps 30";
    for (words, code, expected) in [
        ("--kernel x=rfb", 2, "there are rbf, matern"),
        ("--kernel rbf", 2, "is not VIEW=KERNEL"),
        ("--kernel x=rbf{width=0}", 2, "a number above 0"),
        ("--kernel x=rbf{degree=2}", 2, "there is no option 'degree'"),
        ("--kernel z=rbf", 1, "no view 'z'"),
        (
            "--kernel x=rbf{references=181}",
            1,
            "181 reference points were asked for",
        ),
        ("--kernel x=rbf --shape x=1x2", 1, "no pixels"),
        ("--kernel x=rbf --settle x", 1, "not predicted"),
        (
            "--kernel x=rbf --engine stochastic --epochs 3",
            1,
            "--in-memory",
        ),
    ] {
        let mut fit = fit.to_owned();
        if words.contains("stochastic") {
            fit = fit.replace(" --max-sweeps 30", "");
        }
        let err = fails(at, &format!("{fit} {words}"), code);
        let err = err.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(err.contains(expected), "{words}: {err}");
        assert!(!at.join("m.pv").exists(), "{words}");
    }
    ok(at, &format!("{fit} --kernel x=rbf"));
    for words in [
        "predict m.pv --view y=new-y.csv --target x --out o.csv",
        "impute m.pv --view x --out o.csv",
        "simulate --from m.pv --out-dir o",
    ] {
        let err = fails(at, words, 1);
        let err = err.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            err.contains("has a kernel") && err.contains("without a kernel"),
            "{words}: {err}"
        );
    }
    put(at, "far.csv", "id,other\nt1,3\n");
    let err = fails(
        at,
        "predict m.pv --view x=far.csv --target y --out o.csv",
        1,
    );
    assert!(err.contains("other"), "{err}");
}

/// Similarities of another scale are said where features have none.
#[test]
fn precomputed_similarities_off_the_scale_are_said() {
    let dir = folder();
    let at = dir.path();
    ok(at, "kernel old-x.csv --save x.kernel --out k.csv");
    ok(at, "kernel new-x.csv --map x.kernel --out new-k.csv");
    ok(
        at,
        "fit --model sshiba -k 4 --view y=old-y.csv:bernoulli --view x=k.csv --kernel x=precomputed --max-sweeps 60 --out m.pv",
    );
    let far: String = (get(at, "new-k.csv").lines())
        .map(|l| {
            let times = |c: &str| {
                c.parse()
                    .map_or(c.to_owned(), |x: f64| (100.0 * x).to_string())
            };
            l.split(',').map(times).collect::<Vec<_>>().join(",") + "\n"
        })
        .collect();
    put(at, "far.csv", far);
    let note = said(at, "predict m.pv --view x=far.csv --target y --out p.csv");
    assert!(
        note.contains("view 'x': the new values are far off"),
        "{note}"
    );
    let note = said(at, "predict m.pv --view x=new-k.csv --target y --out q.csv");
    assert!(!note.contains("far off"), "{note}");
}

/// A sample that lacks a feature is compared as a view with a kernel compares it.
#[test]
fn samples_may_lack_features() {
    let dir = folder();
    let at = dir.path();
    let holes = get(at, "old-x.csv").replacen("s3,", "s3,#", 1);
    let (before, rest) = holes.split_once('#').expect("a cell");
    let rest = rest.split_once(',').expect("another").1;
    put(at, "holes.csv", format!("{before},{rest}"));
    let told = said(at, "kernel holes.csv --save k.json --out k.csv");
    assert!(
        told.contains("1 sample(s) lack some of the features"),
        "{told}"
    );
    let similar = get(at, "k.csv");
    assert!(similar.lines().all(|l| !l.contains(",,")), "{similar}");
    let told = said(at, "kernel holes.csv --map k.json --out again.csv");
    assert!(told.contains("expected distances"), "{told}");
    assert_eq!(get(at, "again.csv"), similar);
    let err = fails(at, "kernel holes.csv --raw --kind linear --out no.csv", 1);
    let err = err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        err.contains("sample 's3' lacks feature 'across'")
            && err.contains("standardise the features"),
        "{err}"
    );
}
