//! Models in the layout of MOFA2: what is in the file, and the way back.

use std::path::Path;

use hdf5_pure::File;
use polyview::{Fit, GroupChoices, ModelSpec, PredictOptions, ProjectOptions, ViewChoices, models};
use polyview_core::{Dataset, DatasetBuilder, Table};
use polyview_datasets::nutrimouse;
use polyview_hdf5::{ExportOptions, Hdf5Error, ImportOptions, read_mofa2, write_mofa2};
use polyview_linalg::Mat;

/// Three views of 30 samples, one of them of ones and zeros, with holes; two
/// groups, of which the first stands between the samples of the second.
fn data() -> Dataset {
    let value = |n: usize, d: usize| {
        let (a, b) = ((n as f64 * 0.7).sin(), (n as f64 * 1.3).cos());
        a * (d as f64 + 1.0) - b * (d % 3) as f64 + ((n * 7 + d * 5) % 11) as f64 * 0.05
    };
    let table = |name: &str, features: usize, of: &dyn Fn(f64) -> f64| Table {
        name: name.into(),
        samples: (0..30).map(|n| format!("s{n}")).collect(),
        features: (0..features).map(|d| format!("{name} {d}é")).collect(),
        values: Mat::from_fn(30, features, |n, d| {
            if (n * 3 + d * 5) % 13 == 0 {
                f64::NAN
            } else {
                of(value(n, d))
            }
        }),
        levels: Vec::new(),
    };
    let groups = (0..30).map(|n| {
        let group = if n % 3 == 1 { "left" } else { "right" };
        (format!("s{n}"), group.to_owned())
    });
    Dataset::builder()
        .view(table("zeta", 6, &|x| 5.0 + 3.0 * x))
        .view(table("alpha", 4, &|x| f64::from(x > 0.3)))
        .view(table("mid", 5, &|x| x - 100.0))
        .groups(groups.collect())
        .build()
        .unwrap()
}

fn spec() -> ModelSpec {
    let mut spec = models::mofa(2).with_likelihood("alpha", "bernoulli");
    // as they are estimated when the file is read
    spec.intercept_prior = polyview::InterceptPrior::Fixed;
    spec.vb.max_sweeps = 40;
    // what an import knows of groups
    spec.groups = GroupChoices::default();
    spec
}

#[test]
fn groups_take_their_intercepts_along() {
    let mut spec = spec();
    spec.groups.intercepts = true;
    let fit = polyview::fit(data(), spec).unwrap();
    let (_folder, path) = exported(&fit, &ExportOptions::default());
    let file = File::open(&path).unwrap();
    let bias = &fit.component(0).unwrap().views[0].bias;
    let names = &fit.groups().unwrap().names;
    let mut all = Vec::new();
    for (g, name) in names.iter().enumerate() {
        let found = file.dataset(&format!("intercepts/zeta/{name}")).unwrap();
        let found = found.read_f64().unwrap();
        for (d, x) in found.iter().enumerate() {
            let own = fit.views()[0]
                .scaling
                .backward(d, bias.mean()[bias.place(g, d)]);
            assert_eq!(*x, own, "{name} {d}");
        }
        all.push(found);
    }
    assert_ne!(all[0], all[1]);
}

/// The data without the view of ones and zeros.
/// A data set with the views of another one.
fn with_views_of(data: &Dataset, mut builder: DatasetBuilder) -> Dataset {
    for v in data.views() {
        builder = builder.view(Table {
            name: v.name().into(),
            samples: data.samples().to_vec(),
            features: v.features().to_vec(),
            values: v.to_values_with_nan(),
            levels: Vec::new(),
        });
    }
    builder.build().unwrap()
}

fn real_data() -> Dataset {
    let data = data();
    let groups = data.groups().unwrap();
    let names = groups
        .of_sample
        .iter()
        .map(|&g| groups.names[g as usize].clone());
    let mut builder =
        Dataset::builder().groups(data.samples().iter().cloned().zip(names).collect());
    for v in data.views().iter().filter(|v| v.name() != "alpha") {
        builder = builder.view(Table {
            name: v.name().into(),
            samples: data.samples().to_vec(),
            features: v.features().to_vec(),
            values: v.to_values_with_nan(),
            levels: Vec::new(),
        });
    }
    builder.build().unwrap()
}

/// Of a model whose groups have noise and intercepts of their own, projections
/// and predictions of new samples of each group survive the way out and back:
/// exactly where views are real, and but for the uncertainty of intercepts,
/// which the file does not hold, where labels look at it.
#[test]
fn groups_out_and_back() {
    for (data, tolerance) in [(real_data(), 1e-9), (data(), 5e-3)] {
        let mut spec = spec();
        spec.views.retain(|v| data.view(&v.name).is_some());
        spec.groups = GroupChoices {
            noise: true,
            intercepts: true,
        };
        // the uncertainty of the intercepts of ten and twenty labels is not the matter here
        spec.intercept_precision = 100.0;
        let fit = polyview::fit(data.clone(), spec).unwrap();
        let (_folder, path) = exported(&fit, &ExportOptions::default());
        let again = read_mofa2(&path, &ImportOptions::default()).unwrap();
        assert!(
            again
                .spec()
                .is_some_and(|s| s.groups.noise && s.groups.intercepts)
        );
        let close = |what: &str, [x, y]: [Mat<f64>; 2]| {
            for d in 0..x.ncols() {
                for n in 0..30 {
                    let (x, y) = (x[(n, d)], y[(n, d)]);
                    let near = (x - y).abs() < tolerance * (1.0 + x.abs());
                    assert!(near, "{what} {n} {d}: {x} {y}");
                }
            }
        };
        let plug_in = ProjectOptions {
            weights: polyview::WeightUncertainty::PlugIn,
            ..ProjectOptions::default()
        };
        let found = [&fit, &again].map(|f| f.project(&data, &plug_in).unwrap());
        close("factors", found.map(|p| p.mean));
        let plug_in = PredictOptions {
            parameters: polyview::ParameterUncertainty::PlugIn,
            ..PredictOptions::default()
        };
        for v in data.views() {
            let predicted = |f: &Fit| f.predict_with(&data, v.name(), &plug_in).unwrap();
            close(v.name(), [&fit, &again].map(predicted).map(|p| p.mean));
        }
    }
}

#[test]
fn draws_of_groups_are_averaged() {
    let mut spec = spec();
    spec.groups.intercepts = true;
    spec.groups.noise = true;
    spec.engine = polyview::EngineKind::Gibbs;
    (spec.gibbs.warm_up, spec.gibbs.sweeps, spec.gibbs.thin) = (5, 20, 10);
    let fit = polyview::fit(data(), spec).unwrap();
    let (_folder, path) = exported(&fit, &ExportOptions::default());
    let again = read_mofa2(&path, &ImportOptions::default()).unwrap();
    let bias = |f: &Fit, component: usize| {
        let bias = &f.component(component).unwrap().views[1].bias;
        let of_group = |name: &str| {
            let g = f
                .groups()
                .unwrap()
                .names
                .iter()
                .position(|n| n == name)
                .unwrap();
            bias.mean()[bias.place(g, 2)]
        };
        ["left", "right"].map(of_group)
    };
    let found = bias(&again, 0);
    for (g, b) in found.into_iter().enumerate() {
        let draws = (0..fit.n_components()).map(|i| bias(&fit, i)[g]);
        let mean = draws.sum::<f64>() / fit.n_components() as f64;
        assert!((b - mean).abs() < 1e-12, "{b} {mean}");
    }
    again.predict(&data(), "zeta").unwrap();
}

fn exported(fit: &Fit, options: &ExportOptions) -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.hdf5");
    write_mofa2(fit, &path, options).unwrap();
    (folder, path)
}

fn matrix(path: &Path, place: &str) -> Mat<f64> {
    let file = File::open(path).unwrap();
    let array = file.dataset(place).unwrap();
    let shape = array.shape().unwrap();
    let values = array.read_f64().unwrap();
    Mat::from_fn(shape[0] as usize, shape[1] as usize, |i, j| {
        values[i * shape[1] as usize + j]
    })
}

#[test]
fn the_way_out_and_back() {
    let data = data();
    let fit = polyview::fit(data.clone(), spec()).unwrap();
    let (_folder, path) = exported(&fit, &ExportOptions::default());
    let again = read_mofa2(&path, &ImportOptions::default()).unwrap();
    assert_eq!(again.k(), fit.k());
    // the file has its samples by group
    let order: Vec<usize> = again
        .samples()
        .iter()
        .map(|s| fit.samples().iter().position(|t| t == s).unwrap())
        .collect();
    let (z, y) = (fit.factors().unwrap(), again.factors().unwrap());
    for (i, &n) in order.iter().enumerate() {
        for k in 0..fit.k() {
            assert_eq!(y.mean[(i, k)], z.mean[(n, k)]);
        }
    }
    for (a, b) in fit.views().iter().zip(again.views()) {
        assert_eq!((&a.name, &a.features), (&b.name, &b.features));
        assert_eq!(a.choices.likelihood, b.choices.likelihood);
        assert_eq!(a.scaling.scale, b.scaling.scale);
        assert_eq!(a.observed, b.observed);
        assert_eq!(b.choices.selection, "none");
        let (w, v) = (
            fit.weights(&a.name).unwrap(),
            again.weights(&a.name).unwrap(),
        );
        assert_eq!(w.mean, v.mean);
        // predictions agree where weights are taken as known
        let (p, q) = (fit.fitted(&a.name).unwrap(), again.fitted(&a.name).unwrap());
        for (i, &n) in order.iter().enumerate() {
            for d in 0..a.features.len() {
                let (x, y) = (p.mean[(n, d)], q.mean[(i, d)]);
                let tolerance = if a.name == "alpha" { 0.1 } else { 1e-9 };
                assert!(
                    (x - y).abs() < tolerance * (1.0 + x.abs()),
                    "{} {x} {y}",
                    a.name
                );
            }
        }
    }
    assert_eq!(again.record().bound, fit.record().bound);
    // so do projections with known weights: noise and intercepts went along
    let plug_in = ProjectOptions {
        weights: polyview::WeightUncertainty::PlugIn,
        ..ProjectOptions::default()
    };
    let p = fit.project(&data, &plug_in).unwrap();
    let q = again.project(&data, &plug_in).unwrap();
    for k in 0..fit.k() {
        for n in 0..30 {
            assert!((p.mean[(n, k)] - q.mean[(n, k)]).abs() < 0.05);
        }
    }
}

#[test]
fn gaussian_projections_agree_to_the_last_digits() {
    let data = nutrimouse();
    let spec = ModelSpec {
        intercepts: polyview::Intercepts::None,
        ..models::mofa(3)
    };
    let fit = polyview::fit(data.clone(), spec).unwrap();
    let (_folder, path) = exported(&fit, &ExportOptions::default());
    let again = read_mofa2(&path, &ImportOptions::default()).unwrap();
    let plug_in = ProjectOptions {
        weights: polyview::WeightUncertainty::PlugIn,
        ..ProjectOptions::default()
    };
    let p = fit.project(&data, &plug_in).unwrap().mean;
    let q = again.project(&data, &plug_in).unwrap().mean;
    for k in 0..fit.k() {
        for n in 0..40 {
            assert!(
                (p[(n, k)] - q[(n, k)]).abs() < 1e-10,
                "{} {}",
                p[(n, k)],
                q[(n, k)]
            );
        }
    }
    // so does what the samples are known by
    let names: Vec<&str> = again.metadata().iter().map(|c| c.name.as_str()).collect();
    let mut own: Vec<&str> = fit.metadata().iter().map(|c| c.name.as_str()).collect();
    own.sort_unstable();
    assert_eq!(names, own);
}

#[test]
fn what_is_in_the_file() {
    let fit = polyview::fit(data(), spec()).unwrap();
    let (_folder, path) = exported(&fit, &ExportOptions::default());
    let file = File::open(&path).unwrap();
    let words = |place: &str| file.dataset(place).unwrap().read_string().unwrap();
    assert_eq!(words("views/views"), ["zeta", "alpha", "mid"]);
    assert_eq!(words("groups/groups"), ["right", "left"]);
    assert_eq!(words("features/alpha")[1], "alpha 1é");
    assert_eq!(words("samples/left")[1], "s4");
    assert_eq!(
        words("model_options/likelihoods"),
        ["gaussian", "bernoulli", "gaussian"]
    );
    assert_eq!(words("model_options/spikeslab_weights"), ["True"]);
    assert_eq!(words("model_options/ard_factors"), ["False"]);
    let z = fit.factors().unwrap().mean;
    let of_left = matrix(&path, "expectations/Z/left");
    assert_eq!((of_left.nrows(), of_left.ncols()), (fit.k(), 10));
    assert_eq!(of_left[(1, 2)], z[(7, 1)]);
    // data and intercepts make the original again
    let y = matrix(&path, "data/mid/left");
    let b = file
        .dataset("intercepts/mid/left")
        .unwrap()
        .read_f64()
        .unwrap();
    let original = data();
    let view = original.view("mid").unwrap();
    let scale = fit.views()[2].scaling.scale[0];
    for i in 0..10 {
        for d in 0..5 {
            match view.value(3 * i + 1, d) {
                Some(x) => assert!((y[(i, d)] * scale + b[d] - x).abs() < 1e-9),
                None => assert!(y[(i, d)].is_nan()),
            }
        }
    }
    // labels are there as they are
    let y = matrix(&path, "data/alpha/right");
    assert!((0..4).all(|d| {
        y.col(d)
            .iter()
            .all(|x| x.is_nan() || *x == 0.0 || *x == 1.0)
    }));
    for g in ["left", "right"] {
        let e = fit.explain_group(g).unwrap();
        let r2 = matrix(&path, &format!("variance_explained/r2_per_factor/{g}"));
        let total = file
            .dataset(&format!("variance_explained/r2_total/{g}"))
            .unwrap()
            .read_f64()
            .unwrap();
        for m in 0..3 {
            assert_eq!(total[m], 100.0 * e.total[m]);
            assert!((0..fit.k()).all(|k| r2[(m, k)] == 100.0 * e.marginal[(m, k)]));
        }
    }
    let elbo = file
        .dataset("training_stats/elbo")
        .unwrap()
        .read_f64()
        .unwrap();
    assert_eq!(elbo.last().copied(), fit.record().bound);
}

#[test]
fn draws_are_averaged() {
    let mut spec = spec();
    spec.views.clear();
    spec.engine = polyview::EngineKind::Gibbs;
    spec.gibbs.warm_up = 10;
    spec.gibbs.sweeps = 20;
    let data = nutrimouse();
    let fit = polyview::fit(data, spec).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.hdf5");
    let notes = write_mofa2(&fit, &path, &ExportOptions::default()).unwrap();
    assert!(notes[0].contains("means of draws"), "{notes:?}");
    let again = read_mofa2(&path, &ImportOptions::default()).unwrap();
    assert_eq!(
        again.weights("gene").unwrap().mean,
        fit.weights("gene").unwrap().mean
    );
}

#[test]
fn what_cannot_be_written() {
    let mut spec = models::mofa(2);
    spec.vb.max_sweeps = 3;
    let counts = spec.clone().with_view(
        "alpha",
        ViewChoices {
            likelihood: "negative-binomial".into(),
            ..ViewChoices::default()
        },
    );
    let fit = polyview::fit(data(), counts).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.hdf5");
    let e = write_mofa2(&fit, &path, &ExportOptions::default()).unwrap_err();
    assert!(
        matches!(&e, Hdf5Error::Likelihood { view, .. } if view == "alpha"),
        "{e}"
    );
    assert!(e.to_string().contains("--without alpha"), "{e}");
    assert!(!path.exists());
    let without = ExportOptions {
        without: vec!["alpha".into()],
        ..ExportOptions::default()
    };
    write_mofa2(&fit, &path, &without).unwrap();
    let again = read_mofa2(&path, &ImportOptions::default()).unwrap();
    assert_eq!(again.views().len(), 2);
    // twice is once too often
    let e = write_mofa2(&fit, &path, &without).unwrap_err();
    assert!(matches!(e, Hdf5Error::Write(_)), "{e}");
    let unknown = ExportOptions {
        without: vec!["x".into()],
        ..ExportOptions::default()
    };
    assert!(write_mofa2(&fit, &path, &unknown).is_err());
    let all = ExportOptions {
        without: ["alpha", "zeta", "mid"].map(String::from).to_vec(),
        ..ExportOptions::default()
    };
    let e = write_mofa2(&fit, &path, &all).unwrap_err().to_string();
    assert!(e.contains("leave one in"), "{e}");
    let mut bare = fit.clone();
    bare.forget_data();
    let e = write_mofa2(&bare, folder.path().join("b.hdf5"), &without).unwrap_err();
    assert!(matches!(e, Hdf5Error::Model(_)), "{e}");
}

#[test]
fn names_with_slashes() {
    let table = Table {
        name: "a/b".into(),
        samples: (0..6).map(|n| n.to_string()).collect(),
        features: vec!["x".into(), "y".into()],
        values: Mat::from_fn(6, 2, |n, d| ((n * 5 + d) % 4) as f64),
        levels: Vec::new(),
    };
    let data = Dataset::builder().view(table).build().unwrap();
    let fit = polyview::fit(data, models::bibfa(1)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let e = write_mofa2(
        &fit,
        folder.path().join("m.hdf5"),
        &ExportOptions::default(),
    );
    let e = e.unwrap_err();
    assert!(matches!(&e, Hdf5Error::Name { kind: "view", .. }), "{e}");
}

/// What a file says itself is neither changed by an option nor counted anew.
#[test]
fn scales_and_sweeps_come_back_as_they_were() {
    let fit = polyview::fit(data(), spec()).unwrap();
    let (_folder, path) = exported(&fit, &ExportOptions::default());
    let with = |scale: f64| ImportOptions {
        scales: vec![("zeta".to_owned(), scale)],
        ..ImportOptions::default()
    };
    let own = fit.views()[0].scaling.scale[0];
    assert_ne!(own, 1.0);
    let error = read_mofa2(&path, &with(3.0 * own)).unwrap_err().to_string();
    assert!(
        error.contains("itself says what view 'zeta' was divided by")
            && error.contains(&own.to_string()),
        "{error}"
    );
    for options in [ImportOptions::default(), with(own)] {
        let again = read_mofa2(&path, &options).unwrap();
        assert_eq!(again.views()[0].scaling.scale, fit.views()[0].scaling.scale);
        let (a, b) = (again.record(), fit.record());
        assert_eq!((a.sweeps, a.bound), (b.sweeps, b.bound));
        let sweeps = |f: &Fit| -> Vec<usize> {
            let rows = f.record().ledgers[0].rows.iter();
            rows.map(|row| row.sweep).collect()
        };
        assert_eq!(sweeps(&again), sweeps(&fit));
    }
}

/// Precisions of the factors, of all samples or by group, go out and come back: new samples are
/// projected as by the fit. Another prior has no place, which is said.
#[test]
fn precisions_of_factors_out_and_back() {
    let ungrouped = {
        let data = real_data();
        with_views_of(&data, Dataset::builder())
    };
    let plug_in = ProjectOptions {
        weights: polyview::WeightUncertainty::PlugIn,
        ..ProjectOptions::default()
    };
    for data in [ungrouped, real_data()] {
        let mut spec = spec();
        spec.views.retain(|v| data.view(&v.name).is_some());
        spec.factor_prior = "ard".into();
        if data.groups().is_some() {
            spec.groups.intercepts = true;
        }
        let fit = polyview::fit(data.clone(), spec).unwrap();
        let (_folder, path) = exported(&fit, &ExportOptions::default());
        let again = read_mofa2(&path, &ImportOptions::default()).unwrap();
        assert!(again.spec().is_some_and(|s| s.factor_prior == "ard"));
        let notes = again.record().assumptions().join("\n");
        assert!(!notes.contains("standard normal prior"), "{notes}");
        let [p, q] = [&fit, &again].map(|f| f.project(&data, &plug_in).unwrap().mean);
        for k in 0..fit.k() {
            for n in 0..30 {
                let (x, y) = (p[(n, k)], q[(n, k)]);
                assert!((x - y).abs() < 1e-9 * (1.0 + x.abs()), "{n} {k}: {x} {y}");
            }
        }
        let file = File::open(&path).unwrap();
        let option = file.dataset("model_options/ard_factors").unwrap();
        assert_eq!(option.read_string().unwrap(), ["True"]);
    }
}

/// A copy has no bound that is not one of the model, and says how the fit ended that it is of.
#[test]
fn copies_say_what_they_are_copies_of() {
    let told = |fit: &Fit| {
        let (_folder, path) = exported(fit, &ExportOptions::default());
        let again = read_mofa2(&path, &ImportOptions::default()).unwrap();
        let record = again.record();
        (
            record.bound,
            record.outcome,
            record.assumptions().join("; "),
        )
    };
    let plain = polyview::fit(data(), spec()).unwrap();
    let (bound, outcome, said) = told(&plain);
    assert_eq!(
        (bound, outcome),
        (plain.record().bound, plain.record().outcome)
    );
    assert!(!said.contains("copy of"), "{said}");

    let mut sampled = spec();
    sampled.engine = polyview::EngineKind::Gibbs;
    (
        sampled.gibbs.warm_up,
        sampled.gibbs.sweeps,
        sampled.gibbs.thin,
    ) = (5, 20, 10);
    let (bound, outcome, said) = told(&polyview::fit(data(), sampled).unwrap());
    assert_eq!(bound, None);
    assert_eq!(
        outcome,
        polyview::Outcome::MaxSweeps,
        "the chains have not met"
    );
    assert!(said.contains("means of draws by Gibbs sampling"), "{said}");

    let weighted = spec().with_weight("zeta", 5.0);
    let (_, _, said) = told(&polyview::fit(data(), weighted).unwrap());
    assert!(said.contains("zeta 5 times"), "{said}");

    let mixed = models::sshiba(2)
        .with_likelihood("alpha", "bernoulli")
        .with_settled("alpha", polyview::Settle::Mixture);
    let mixed = polyview::fit(data(), mixed).unwrap();
    assert_eq!(
        mixed.predicted_beside().len(),
        1,
        "a regression stands beside"
    );
    let (_, _, said) = told(&mixed);
    assert!(
        said.contains("view 'alpha' is predicted by a mixture"),
        "{said}"
    );
    // of a view that stays behind nothing is said
    let without = ExportOptions {
        without: vec!["alpha".into()],
        ..ExportOptions::default()
    };
    let folder = tempfile::tempdir().unwrap();
    let notes = write_mofa2(&mixed, folder.path().join("model.hdf5"), &without).unwrap();
    assert!(!notes.join("; ").contains("'alpha'"), "{notes:?}");
}

/// A group may have fewer samples than the model has factors: these are estimates of all samples.
#[test]
fn a_group_of_fewer_samples_than_factors_is_a_model() {
    let data = real_data();
    let group = |n: usize| if n < 2 { "few" } else { "many" };
    let groups = (0..30).map(|n| (format!("s{n}"), group(n).to_owned()));
    let data = with_views_of(&data, Dataset::builder().groups(groups.collect()));
    let mut spec = models::mofa(3);
    spec.groups = GroupChoices::default();
    spec.vb.max_sweeps = 20;
    spec.vb.prune = polyview_infer::PruneRule::never();
    let fit = polyview::fit(data.clone(), spec).unwrap();
    let (_folder, path) = exported(&fit, &ExportOptions::default());
    let options = ImportOptions {
        group: Some("few".into()),
        ..ImportOptions::default()
    };
    let few = read_mofa2(&path, &options).unwrap();
    assert_eq!((few.samples().len(), few.k()), (2, 3));
    // such a model is kept and read as any other, and knows new samples
    let again = Fit::from_bytes(&few.to_bytes().unwrap()).unwrap();
    let found = again.project(&data, &ProjectOptions::default()).unwrap();
    assert_eq!(found.mean.shape(), (30, 3));
    assert!(found.mean[(0, 0)].is_finite());
}
