//! Fits in groups in files: models and checkpoints.

use std::path::PathBuf;

use super::*;

fn path(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("polyview-groups-{}-{name}.pv", std::process::id()))
}

#[test]
fn models_in_groups_are_saved_and_read() {
    for (i, prior) in ["standard-normal", "ard", "spike-and-slab"]
        .into_iter()
        .enumerate()
    {
        for (noise, intercepts) in [(true, true), (false, true), (true, false)] {
            let mut spec = spec(noise, intercepts, prior);
            spec.vb.max_sweeps = 8;
            let fit = fit(&NAMES, spec);
            let path = path(&format!("{i}{noise}{intercepts}"));
            fit.save(&path, polyview::Overwrite::Replace)
                .expect("saved");
            let again = Fit::load(&path);
            std::fs::remove_file(&path).expect("removed");
            let again = again.expect("read");
            let (a, b) = (fit.fitted("x"), again.fitted("x"));
            assert_eq!(a.expect("x").mean, b.expect("x").mean);
            let (a, b) = (fit.simulate(5, 3), again.simulate(5, 3));
            let (a, b) = (a.expect("data"), b.expect("data"));
            assert_eq!(a, b);
            assert_eq!(a.groups().map(|g| g.of_sample.len()), Some(5));
        }
    }
}

#[test]
fn fits_in_groups_go_on_from_checkpoints_of_the_same_groups() {
    let mut spec = full();
    spec.vb.max_sweeps = 12;
    let mut first = Fitting::new(data(&NAMES), spec.clone()).expect("a fit");
    for _ in 0..5 {
        first.step().expect("a sweep");
    }
    let checkpoint = first.checkpoint().expect("a checkpoint");
    let mut second = Fitting::new(data(&NAMES), spec.clone()).expect("a fit");
    second.resume(&checkpoint).expect("the same fit");
    let ends = [&mut first, &mut second].map(|fitting| {
        (0..7)
            .map(|_| fitting.step().expect("a sweep").objective)
            .fold(0.0, |_, b| b)
    });
    assert_eq!(ends[0], ends[1]);
    let mut other = Fitting::new(data(&["brain", "liver", "kidney"]), spec).expect("a fit");
    let error = other.resume(&checkpoint).expect_err("other groups");
    assert!(error.to_string().contains("samples"), "{error}");
}

/// What a view has no intercepts by group for is not looked for in a file.
#[test]
fn views_without_intercepts_by_group_are_saved_and_read() {
    let data = data(&NAMES);
    let faithful = models::mofapy2(2).with_likelihood("y", "bernoulli");
    let ranks = full().with_likelihood("x", "rank");
    for mut spec in [faithful, ranks] {
        spec.vb.max_sweeps = 5;
        let fit = polyview::fit(data.clone(), spec).expect("a fit");
        let again = Fit::from_bytes(&fit.to_bytes().expect("bytes")).expect("read");
        for v in ["x", "y"] {
            let (a, b) = (fit.fitted(v).expect("it"), again.fitted(v).expect("it"));
            assert_eq!(a.mean, b.mean);
        }
        again
            .project(&data, &ProjectOptions::default())
            .expect("factors");
    }
}
