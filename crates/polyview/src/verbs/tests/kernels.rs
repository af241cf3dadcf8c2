//! Views with a kernel, which take tables of their features everywhere.

use polyview_core::{Dataset, Table};
use polyview_infer::PruneRule;
use polyview_kernels::{KernelChoice, learn_view};
use polyview_linalg::Mat;
use polyview_random::{StreamKey, standard_normal, uniform_open01};

use super::counts::table;
use crate::error::ErrorKind;
use crate::fit::{Fit, Fitting};
use crate::models;
use crate::spec::ModelSpec;
use crate::verbs::{
    CheckOptions, ChooseKOptions, CrossValidateModel, CrossValidateOptions, PredictOptions,
    ProjectOptions, choose_k, cross_validate,
};

/// Points of a square, and what depends on how far they are from its middle.
pub(super) fn square(samples: usize, seed: u64) -> (Table, Table) {
    let mut rng = StreamKey::new(seed).rng();
    let names: Vec<String> = (0..samples).map(|n| format!("s{seed}.{n}")).collect();
    let x = Mat::from_fn(samples, 2, |_, d| {
        let u = 2.0 * uniform_open01(&mut rng) - 1.0;
        if d == 0 { u } else { 40.0 + 10.0 * u }
    });
    let y = Mat::from_fn(samples, 3, |n, d| {
        let (u, v) = (x[(n, 0)], (x[(n, 1)] - 40.0) / 10.0);
        let curved = [u * u + v * v, u * u - v * v, u * v][d];
        curved + 0.05 * standard_normal(&mut rng)
    });
    let table = |name: &str, values: Mat<f64>| Table {
        name: name.into(),
        samples: names.clone(),
        features: (0..values.ncols()).map(|d| format!("{name}{d}")).collect(),
        levels: Vec::new(),
        values,
    };
    (table("x", x), table("y", y))
}

fn data(samples: usize, seed: u64) -> Dataset {
    let (x, y) = square(samples, seed);
    Dataset::builder().view(x).view(y).build().unwrap()
}

fn inputs(samples: usize, seed: u64) -> Dataset {
    let (x, _) = square(samples, seed);
    Dataset::builder().view(x).new_samples().build().unwrap()
}

fn kernel(text: &str) -> KernelChoice {
    text.parse().unwrap()
}

pub(super) fn spec(text: &str) -> ModelSpec {
    let mut spec = models::bibfa(12).with_kernel("x", kernel(text));
    spec.vb.max_sweeps = 300;
    spec
}

fn r2(fit: &Fit, seed: u64) -> f64 {
    let (x, y) = square(200, seed);
    r2_of(fit, x, &y)
}

/// Share of the squared distances from the means of `y` that is predicted of it from new samples `x`.
fn r2_of(fit: &Fit, x: Table, y: &Table) -> f64 {
    let new = Dataset::builder().view(x).new_samples().build().unwrap();
    let found = fit.predict(&new, "y").unwrap().mean;
    let (mut errors, mut all) = (0.0, 0.0);
    for d in 0..y.values.ncols() {
        let column = y.values.col_as_slice(d);
        let mean = column.iter().sum::<f64>() / column.len() as f64;
        for (n, y) in column.iter().enumerate() {
            errors += (y - found[(n, d)]).powi(2);
            all += (y - mean).powi(2);
        }
    }
    1.0 - errors / all
}

#[test]
fn what_is_curved_is_predicted_from_the_original_table() {
    for text in [
        "rbf",
        "matern{nu=5/2}",
        "polynomial{degree=2}",
        "rbf{references=40}",
    ] {
        let fit = crate::fit(data(120, 1), spec(text)).unwrap();
        assert!(r2(&fit, 2) > 0.9, "{text}: {}", r2(&fit, 2));
    }
    let straight = crate::fit(data(120, 1), models::bibfa(4)).unwrap();
    assert!(r2(&straight, 2) < 0.1);
    let linear = crate::fit(data(120, 1), spec("linear")).unwrap();
    assert!(r2(&linear, 2) < 0.1);
}

/// A kernel view is the fit of the columns that the map makes, by hand.
#[test]
fn the_view_is_that_of_the_columns_of_its_map() {
    let choice = kernel("rbf{width=1.5}");
    let (x, y) = square(60, 3);
    let fit = crate::fit(data(60, 3), spec("rbf{width=1.5}")).unwrap();
    let map = learn_view(&x, &choice, fit.run_options().seed).unwrap().map;
    let by_hand = Dataset::builder()
        .view(map.apply(&x).unwrap())
        .view(y)
        .build()
        .unwrap();
    let mut plain = models::bibfa(12);
    plain.vb.max_sweeps = 300;
    plain.vb.prune = fit.run_options().vb.prune;
    let choices = crate::ViewChoices {
        kernel: None,
        ..spec("rbf{width=1.5}").view("x")
    };
    let other = crate::fit(by_hand, plain.with_view("x", choices)).unwrap();
    assert_eq!(fit.record().bound, other.record().bound);
    assert_eq!(fit.factors().unwrap().mean, other.factors().unwrap().mean);
    let (new, _) = square(20, 4);
    let mapped = map.apply(&new).unwrap();
    let mapped = Dataset::builder()
        .view(mapped)
        .new_samples()
        .build()
        .unwrap();
    let (a, b) = (
        fit.predict(&inputs(20, 4), "y").unwrap(),
        other.predict(&mapped, "y").unwrap(),
    );
    assert_eq!((a.mean, a.sd), (b.mean, b.sd));
}

#[test]
fn training_samples_project_to_their_posterior() {
    let data = data(60, 5);
    let fit = crate::fit(data.clone(), spec("rbf")).unwrap();
    let found = fit.project(&data, &ProjectOptions::default()).unwrap();
    let own = fit.factors().unwrap().mean;
    for k in 0..fit.k() {
        for n in 0..60 {
            assert!((found.mean[(n, k)] - own[(n, k)]).abs() < 1e-4, "{n} {k}");
        }
    }
    // in any order, with features that nobody knows
    let (x, _) = square(60, 5);
    let turned = Table {
        features: vec!["x1".into(), "more".into(), "x0".into()],
        values: Mat::from_fn(60, 3, |n, d| match d {
            0 => x.values[(n, 1)],
            1 => 3.0,
            _ => x.values[(n, 0)],
        }),
        ..x
    };
    let turned = Dataset::builder()
        .view(turned)
        .new_samples()
        .build()
        .unwrap();
    let [a, b] =
        [&turned, &inputs(60, 5)].map(|d| fit.project(d, &ProjectOptions::default()).unwrap());
    assert_eq!(a.mean, b.mean);
    assert!(
        a.notes.iter().any(|n| n.contains("first 'more'")),
        "{:?}",
        a.notes
    );
}

#[test]
fn files_and_checkpoints_hold_the_map() {
    for text in ["rbf", "matern{references=15}"] {
        let mut fit = crate::fit(data(50, 6), spec(text)).unwrap();
        for _ in 0..2 {
            let read = Fit::from_bytes(&fit.to_bytes().unwrap()).unwrap();
            assert_eq!(read.views(), fit.views());
            let new = inputs(20, 7);
            let [a, b] = [&fit, &read].map(|f| f.predict(&new, "y").unwrap());
            assert_eq!((a.mean, a.sd), (b.mean, b.sd), "{text}");
            fit.forget_data();
        }
    }
    let of = |seed: u64| Fitting::new(data(50, seed), spec("rbf")).unwrap();
    let (mut whole, mut half) = (of(6), of(6));
    for _ in 0..7 {
        half.step().unwrap();
    }
    let at = half.checkpoint().unwrap();
    let mut resumed = of(6);
    resumed.resume(&at).unwrap();
    for fitting in [&mut whole, &mut resumed] {
        while !fitting.step().unwrap().done {}
    }
    let [a, b] = [whole, resumed].map(|f| f.finish().unwrap());
    assert_eq!(a.factors().unwrap().mean, b.factors().unwrap().mean);
    let error = of(8).resume(&at).unwrap_err().to_string();
    assert!(
        error.contains("view 'x'") || error.contains("samples"),
        "{error}"
    );
}

#[test]
fn samples_may_lack_features_and_whole_views() {
    let (mut x, y) = square(80, 9);
    for n in 0..10 {
        x.values[(n, n % 2)] = f64::NAN;
    }
    for d in 0..2 {
        x.values[(20, d)] = f64::NAN;
    }
    let data = Dataset::builder().view(x).view(y).build().unwrap();
    let fit = crate::fit(data, spec("rbf")).unwrap();
    assert_eq!(fit.view("x").unwrap().1.features.len(), 79);
    let notes = fit
        .record()
        .journal
        .remarks()
        .map(|r| r.1)
        .collect::<Vec<_>>();
    assert!(
        notes.iter().any(|n| n.contains("10 sample(s) lack some")),
        "{notes:?}"
    );
    // 0.79965 where the samples that lack a feature are at no distance from themselves: each has a share of its own in
    // the similarities, as two samples that are alike but for their noise have
    assert!(r2(&fit, 2) > 0.79, "{}", r2(&fit, 2));
    // a new sample of which half is known is less certain than a whole one
    let (mut new, _) = square(2, 10);
    for d in 0..2 {
        new.values[(1, d)] = new.values[(0, d)];
    }
    new.values[(1, 0)] = f64::NAN;
    let new = Dataset::builder().view(new).new_samples().build().unwrap();
    let found = fit.predict(&new, "y").unwrap();
    assert!(found.mean[(0, 0)].is_finite() && found.mean[(1, 0)].is_finite());
    assert!(
        found
            .notes
            .iter()
            .any(|n| n.contains("1 sample(s) lack some")),
        "{:?}",
        found.notes
    );
    // features far off those of training are told by their own names
    let (mut far, _) = square(12, 11);
    for n in 0..12 {
        far.values[(n, 1)] *= 1000.0;
    }
    let far = Dataset::builder().view(far).new_samples().build().unwrap();
    let found = fit.predict(&far, "y").unwrap();
    assert!(
        found.warnings.iter().any(|w| w.contains("'x1'")),
        "{:?}",
        found.warnings
    );
}

#[test]
fn features_behind_a_kernel_are_not_told() {
    let data = data(40, 12);
    let fit = crate::fit(data.clone(), spec("rbf")).unwrap();
    let refused = |e: crate::Error| {
        assert!(matches!(e.kind(), ErrorKind::KernelFeatures { .. }), "{e}");
        assert!(
            e.to_string().contains("further view without a kernel"),
            "{e}"
        );
    };
    refused(fit.predict(&data, "x").unwrap_err());
    refused(fit.fitted("x").unwrap_err());
    refused(fit.impute("x", 0.9).unwrap_err());
    let options = PredictOptions::default();
    refused(fit.impute_data_with(&data, "x", 0.9, &options).unwrap_err());
    refused(fit.simulate(5, 1).unwrap_err());
    // holes of other views are filled from it
    assert_eq!(
        fit.impute_data(&inputs(20, 13), "y", 0.9)
            .unwrap()
            .values
            .nrows(),
        20
    );
    let checks = fit.predictive_checks(&CheckOptions::default()).unwrap();
    assert_eq!(checks.iter().map(|c| &*c.view).collect::<Vec<_>>(), ["y"]);
    let model = |text: &str| [CrossValidateModel::new("m", spec(text))];
    let of = |target: &str| CrossValidateOptions {
        targets: vec![target.to_owned()],
        ..CrossValidateOptions::default()
    };
    refused(cross_validate(&data, &model("rbf"), &of("x"), &|_| {}).unwrap_err());
    let alone = data.with_views(&["x"]).unwrap();
    let hidden = CrossValidateOptions::default();
    refused(cross_validate(&alone, &model("rbf"), &hidden, &|_| {}).unwrap_err());
}

#[test]
fn cells_of_other_views_alone_are_hidden() {
    let data = data(60, 14);
    let models = [CrossValidateModel::new("m", spec("rbf"))];
    let options = CrossValidateOptions {
        folds: 2,
        ..CrossValidateOptions::default()
    };
    let found = cross_validate(&data, &models, &options, &|_| {}).unwrap();
    assert!(found.rows.iter().all(|r| r.target == "y"));
    let options = ChooseKOptions {
        candidates: vec![4, 12],
        repeats: 2,
        restarts: 1,
        ..ChooseKOptions::default()
    };
    let found = choose_k(data, &spec("rbf"), &options, &mut |_| {}).unwrap();
    assert!(found.rows[1].r2 > found.rows[0].r2);
}

#[test]
fn what_does_not_go_with_a_kernel_is_refused() {
    let fails = |spec: ModelSpec| crate::fit(data(30, 15), spec).unwrap_err().to_string();
    let shape = crate::ViewChoices {
        shape: Some([1, 2]),
        ..spec("rbf").view("x")
    };
    for (spec, word) in [
        (spec("rbf").with_view("x", shape), "no pixels"),
        (spec("rbf").with_likelihood("x", "poisson"), "real numbers"),
        (spec("rbf").with_settled("x", true), "not predicted"),
        (spec("rbf{references=31}"), "31 reference points"),
        (spec("precomputed"), "sample 's15.0' has no column"),
    ] {
        let error = fails(spec);
        assert!(
            error.contains("view 'x'") && error.contains(word),
            "{error}"
        );
    }
}

/// More columns than a feature space has dimensions are warned of, with the number that it has.
#[test]
fn columns_that_follow_from_others_are_warned_of() {
    let warned = |text: &str| -> String {
        let mut spec = spec(text);
        spec.vb.max_sweeps = 3;
        let fit = crate::fit(data(30, 51), spec).unwrap();
        let warnings = fit.record().journal.remarks();
        warnings
            .map(|r| r.1)
            .filter(|n| n.contains("dimensions"))
            .collect()
    };
    // two features: 1, x, y, x², xy, y²
    assert!(warned("linear").contains("more than the 2 dimensions"));
    assert!(warned("polynomial{degree=2}").contains("references=6"));
    assert!(warned("polynomial{degree=2,offset=0}").contains("references=3"));
    for fine in [
        "linear{references=2}",
        "polynomial{degree=2,references=6}",
        "rbf{width=1}",
    ] {
        assert_eq!(warned(fine), "", "{fine}");
    }
}

/// Kernels of one table are views of it; the model finds what each is good for.
#[test]
fn several_kernels_of_one_table_are_several_views() {
    let (x, y) = square(80, 31);
    let second = Table {
        name: "straight".into(),
        ..x.clone()
    };
    let data = Dataset::builder()
        .view(x)
        .view(second)
        .view(y)
        .build()
        .unwrap();
    let both = spec("rbf{width=1.5}").with_kernel("straight", kernel("matern{nu=1/2,width=4}"));
    let fit = crate::fit(data, both).unwrap();
    let (x, y) = square(100, 32);
    let straight = Table {
        name: "straight".into(),
        ..x.clone()
    };
    let new = Dataset::builder()
        .view(x)
        .view(straight)
        .new_samples()
        .build()
        .unwrap();
    let found = fit.predict(&new, "y").unwrap().mean;
    let errors: f64 = (0..100)
        .map(|n| (found[(n, 0)] - y.values[(n, 0)]).powi(2))
        .sum();
    let mean = y.values.col_as_slice(0).iter().sum::<f64>() / 100.0;
    let all: f64 = (0..100).map(|n| (y.values[(n, 0)] - mean).powi(2)).sum();
    assert!(errors < 0.1 * all, "{errors} {all}");
}

/// The reference points that matter most are kept, and what the others were worth is said.
#[test]
fn reference_points_that_matter_are_kept() {
    let data = data(80, 41);
    let fit = crate::fit(data.clone(), spec("rbf{width=median,keep=0.3}")).unwrap();
    let kept = &fit.view("x").unwrap().1.features;
    assert_eq!(kept.len(), 24);
    assert!(r2(&fit, 2) > 0.85, "{}", r2(&fit, 2));
    // they are those of the relevances of the whole fit
    let choices = crate::ViewChoices {
        selection: "relevance".into(),
        ..spec("rbf{width=median}").view("x")
    };
    let mut all = spec("rbf{width=median}").with_view("x", choices);
    all.vb.max_sweeps = 200;
    let all = crate::fit(data.clone(), all).unwrap();
    let mut places = all
        .select_features("x", crate::Selection::Share(0.3))
        .unwrap();
    places.sort_unstable();
    let names = &all.view("x").unwrap().1.features;
    let names: Vec<&String> = places.iter().map(|&r| &names[r]).collect();
    assert_eq!(kept.iter().collect::<Vec<_>>(), names);
    let notes: Vec<String> = fit.record().journal.remarks().map(|r| r.1).collect();
    let said = notes
        .iter()
        .find(|n| n.contains("24 of 80 reference points are kept"));
    assert!(
        said.is_some_and(|n| n.contains("by the kept ones")),
        "{notes:?}"
    );
    let read = Fit::from_bytes(&fit.to_bytes().unwrap()).unwrap();
    let [a, b] = [&fit, &read].map(|f| f.predict(&inputs(9, 42), "y").unwrap());
    assert_eq!(a.mean, b.mean);
    // features of tables are none of them
    let error = all
        .reduce(&data, &[("x", crate::Selection::Share(0.3))])
        .unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::KernelFeatures { .. }),
        "{error}"
    );
}

/// Ten features, and five targets that hang on squares and products of them.
fn bent(samples: usize, seed: u64) -> [Table; 2] {
    let normal = |rows: usize, cols: usize, block: u32| {
        let mut rng = StreamKey::new(seed).block(block).rng();
        Mat::from_fn(rows, cols, |_, _| standard_normal(&mut rng))
    };
    let (x, noise) = (normal(samples, 10, 1), normal(samples, 5, 2));
    let mut rng = StreamKey::new(1).rng();
    let w = Mat::from_fn(6, 5, |_, _| standard_normal(&mut rng));
    let bends = |n: usize| {
        let x = |d: usize| x[(n, d)];
        let products = [(0, 0), (1, 2), (3, 3), (4, 5), (0, 3)];
        let mut out = products.map(|(a, b)| x(a) * x(b)).to_vec();
        out.push(x(1));
        out
    };
    let y = Mat::from_fn(samples, 5, |n, d| {
        let parts = bends(n).into_iter().enumerate();
        parts.map(|(j, f)| f * w[(j, d)]).sum::<f64>() + 0.1 * noise[(n, d)]
    });
    [table("x", x), table("y", y)]
}

/// What bends is a small part of wide similarities, and is found all the same: factors of it are not taken out for their size,
/// also once the noise has come down (docs/decisions/0098-small-directions-of-kernels.md).
#[test]
fn small_directions_of_similarities_are_kept() {
    let wide = models::sshiba(20).with_kernel("x", kernel("rbf{width=40}"));
    let fit = crate::fit(data(120, 3), wide).unwrap();
    assert!(r2(&fit, 4) > 0.95, "{}", r2(&fit, 4));

    let ([x, y], [new, truth]) = (bent(200, 3), bent(200, 4));
    let data = Dataset::builder().view(x).view(y).build().unwrap();
    let of = |size: f64| {
        let mut spec = models::sshiba(40).with_kernel("x", kernel("rbf"));
        spec.vb.prune.energy_ratio = size;
        let fit = crate::fit(data.clone(), spec).unwrap();
        (fit.k(), r2_of(&fit, new.clone(), &truth))
    };
    let usual = of(PruneRule::default().energy_ratio);
    let by_size = of(2e-4);
    assert!(usual.0 > by_size.0, "{usual:?} {by_size:?}");
    assert!(usual.1 > 0.5 && by_size.1 < 0.3, "{usual:?} {by_size:?}");
}
