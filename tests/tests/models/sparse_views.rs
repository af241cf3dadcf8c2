//! Views that are stored sparse give what dense views give.

use polyview::{
    EngineKind, Fit, Fitting, Likelihood, ModelSpec, Path, ViewChoices, hold_out, models,
};
use polyview_core::{DataError, Dataset, Groups, Mask, SparseTable, Table, View};
use polyview_likelihoods::{MissingData, NoiseBy};
use polyview_linalg::{Mat, MatRef, SparseColumns, Threads};
use polyview_random::{StreamKey, poisson};
use polyview_tests::normal;

const N: usize = 90;
const D: usize = 30;

fn names(prefix: &str, count: usize) -> Vec<String> {
    (0..count).map(|i| format!("{prefix}{i}")).collect()
}

/// Counts of two factors, three in four of them zero; labels where `binary`.
fn counts(binary: bool) -> Mat<f64> {
    let mut rng = StreamKey::new(7).rng();
    let (z, w) = (normal(N, 2, &mut rng), normal(D, 2, &mut rng));
    let eta = &z * w.transpose();
    Mat::from_fn(N, D, |n, d| {
        let rate = (0.8 * eta[(n, d)] - 1.8).exp();
        let y = poisson(&mut rng, rate).expect("a rate");
        if binary { y.min(1.0) } else { y }
    })
}

/// A dense companion of fewer samples, in another order.
fn companion() -> Table {
    let mut rng = StreamKey::new(8).rng();
    Table {
        name: "x".into(),
        samples: names("s", N).into_iter().rev().collect(),
        features: names("x", 6),
        values: normal(N, 6, &mut rng),
        levels: Vec::new(),
    }
}

/// The same data, the view `y` stored dense and sparse; `gone` samples lack it.
fn both(values: &Mat<f64>, gone: usize) -> [Dataset; 2] {
    let kept = values.as_ref().subrows(0, N - gone).to_owned();
    let table = SparseTable {
        name: "y".into(),
        samples: names("s", N - gone),
        features: names("f", D),
        values: SparseColumns::from_dense(kept.as_ref()).expect("finite"),
    };
    let dense = Dataset::builder().view(companion()).view(table.to_dense());
    let sparse = Dataset::builder().view(companion()).view(table);
    [dense, sparse].map(|b| b.build().expect("a data set"))
}

fn spec(likelihood: &'static str) -> ModelSpec {
    let likelihood: Likelihood = likelihood.parse().expect("a likelihood");
    let mut spec = models::mofa(3).with_likelihood("y", likelihood);
    spec.path = Path::Streaming;
    spec.vb.max_sweeps = 40;
    spec.vb.tolerance = 1e-300;
    // steps beyond the end of sweeps would enlarge rounding
    spec.vb.momentum = false;
    spec
}

fn fitted(data: &Dataset, spec: &ModelSpec) -> Fit {
    let mut fitting = Fitting::new(data.clone(), spec.clone()).expect("a fit");
    while !fitting.step().expect("a sweep").done {}
    fitting.finish().expect("an end")
}

#[track_caller]
fn within(share: f64, a: MatRef<'_, f64>, b: MatRef<'_, f64>, what: &str) {
    let gap = (a - b).norm_max();
    let size = a.norm_max().max(1.0);
    assert!(gap <= share * size, "{what}: {gap:e} of {size:e}");
}

/// Posterior, bound and verbs of two fits.
fn agree(dense: &Fit, sparse: &Fit, data: &[Dataset; 2], what: &str) {
    // sizes that are learnt under tangents follow the last digits of all sites
    let share = match what.split([' ', ',']).next() {
        Some("negative-binomial") => 1e-8,
        _ => 1e-10,
    };
    let near = |a: MatRef<'_, f64>, b: MatRef<'_, f64>, what: &str| within(share, a, b, what);
    assert!(sparse.data().expect("data")[1].sparse().is_some(), "{what}");
    assert_eq!(dense.record().sweeps, sparse.record().sweeps, "{what}");
    let bounds = [dense, sparse].map(|f| f.record().bound.unwrap_or(0.0));
    let gap = (bounds[0] - bounds[1]).abs();
    assert!(gap <= share * bounds[0].abs(), "{what}: bounds {bounds:?}");
    let [a, b] = [dense, sparse].map(|f| f.factors().expect("factors"));
    near(a.mean.as_ref(), b.mean.as_ref(), what);
    near(a.sd.as_ref(), b.sd.as_ref(), what);
    for view in ["x", "y"] {
        let [a, b] = [dense, sparse].map(|f| f.weights(view).expect("weights"));
        near(a.mean.as_ref(), b.mean.as_ref(), what);
        near(a.sd.as_ref(), b.sd.as_ref(), what);
    }
    let [a, b] = [dense, sparse].map(|f| f.explain().expect("shares"));
    near(a.marginal.as_ref(), b.marginal.as_ref(), what);
    near(a.unique.as_ref(), b.unique.as_ref(), what);
    let gap = (a.deviance[1] - b.deviance[1]).abs();
    assert!(a.deviance[1].is_nan() || gap < share, "{what}");
    let [a, b] = [dense, sparse].map(|f| f.impute("y", 0.9).expect("an imputation"));
    near(a.values.as_ref(), b.values.as_ref(), what);
    assert_eq!(a.was_missing, b.was_missing, "{what}");
    let pairs = [(dense, &data[0]), (sparse, &data[1])];
    // projected: extrapolated rounds rest within 1e-6, where rounding may end them sooner or later
    let [a, b] = pairs.map(|(f, d)| f.predict(d, "x").expect("a prediction"));
    within(share.max(1e-7), a.mean.as_ref(), b.mean.as_ref(), what);
    let [a, b] = pairs.map(|(f, d)| f.explain_on(d).expect("shares"));
    within(share.max(1e-7), a.unique.as_ref(), b.unique.as_ref(), what);
}

#[test]
fn forty_sweeps_of_every_likelihood_agree() {
    for (likelihood, binary) in [
        ("gaussian", false),
        ("bernoulli", true),
        ("poisson", false),
        ("bernoulli{form=bound}", true),
        ("poisson{rate=softplus}", false),
        ("negative-binomial", false),
        ("negative-binomial{form=bound}", false),
        ("poisson-log-normal", false),
        ("binomial", true),
    ] {
        for gone in [0, 13] {
            let data = both(&counts(binary), gone);
            assert!(data[1].views()[1].sparse().is_some());
            let spec = spec(likelihood);
            let [dense, sparse] = [0, 1].map(|i| fitted(&data[i], &spec));
            agree(
                &dense,
                &sparse,
                &data,
                &format!("{likelihood}, {gone} gone"),
            );
        }
    }
}

#[test]
fn real_numbers_agree_whatever_is_centred_scaled_and_shared() {
    use polyview_core::{Centring, FeatureScaling};
    let data = both(&counts(false), 5);
    for noise in [NoiseBy::View, NoiseBy::Feature] {
        for centring in [Centring::None, Centring::Feature] {
            for scaling in [FeatureScaling::None, FeatureScaling::View] {
                let mut spec = spec("gaussian");
                let choices = ViewChoices {
                    noise,
                    centring,
                    scaling,
                    ..spec.view("y")
                };
                spec = spec.with_view("y", choices);
                let [dense, sparse] = [0, 1].map(|i| fitted(&data[i], &spec));
                let what = format!("{noise:?} {centring:?} {scaling:?}");
                agree(&dense, &sparse, &data, &what);
            }
        }
    }
}

#[test]
fn cells_held_out_and_groups_agree() {
    for likelihood in ["gaussian", "negative-binomial"] {
        let full = both(&counts(false), 0);
        let hidden = full.each_ref().map(|d| hold_out(d, 0.1, 3).expect("cells"));
        assert_eq!(hidden[0].cells, hidden[1].cells);
        let data = hidden.map(|h| h.data);
        let view = &data[1].views()[1];
        assert!(view.sparse().is_some() && matches!(view.mask(), Mask::Cells { .. }));
        // fewer sweeps, for rounding grows from one to the next
        let mut sparse_rows = spec(likelihood);
        sparse_rows.vb.max_sweeps = 20;
        sparse_rows.vb.momentum = false;
        let mut full_rows = models::bibfa(3).with_likelihood("y", likelihood);
        full_rows.path = Path::Streaming;
        full_rows.vb = sparse_rows.vb.clone();
        for spec in [sparse_rows, full_rows] {
            let [dense, sparse] = [0, 1].map(|i| fitted(&data[i], &spec));
            agree(&dense, &sparse, &data, &format!("{likelihood} held out"));
            let scores = [
                dense.held_out_score(&full[0]),
                sparse.held_out_score(&full[1]),
            ];
            let [a, b] = scores.map(|s| s.expect("scores"));
            assert!(
                (a[1].log_density - b[1].log_density).abs() < 1e-9,
                "{likelihood}"
            );
            assert_eq!(a[1].cells, b[1].cells);
        }
        // groups with noise and intercepts of their own
        let of_sample: Vec<u32> = (0..N).map(|n| u32::from(n.is_multiple_of(3))).collect();
        let grouped = full.map(|d| {
            let mut b = Dataset::builder();
            let samples = d.samples().to_vec();
            let pairs = samples.iter().cloned().zip(&of_sample);
            b = b.groups(pairs.map(|(s, g)| (s, format!("g{g}"))).collect());
            for v in d.views() {
                let (features, samples) = (v.features().to_vec(), samples.clone());
                let name = v.name().to_owned();
                b = match v.sparse() {
                    Some(x) => b.view(SparseTable {
                        name,
                        samples,
                        features,
                        values: x.entries().clone(),
                    }),
                    None => b.view(Table {
                        name,
                        samples,
                        features,
                        values: v.to_values_with_nan(),
                        levels: Vec::new(),
                    }),
                };
            }
            b.build().expect("groups")
        });
        let names: &Groups = grouped[1].groups().expect("groups");
        assert_eq!(names.names.len(), 2);
        let mut spec = spec(likelihood);
        (spec.groups.noise, spec.groups.intercepts) = (true, true);
        spec.vb.max_sweeps = 20;
        let [dense, sparse] = [0, 1].map(|i| fitted(&grouped[i], &spec));
        agree(&dense, &sparse, &grouped, &format!("{likelihood} by group"));
    }
}

#[test]
fn chains_agree_and_draws_are_made_again_bit_for_bit() {
    for (likelihood, binary) in [
        ("gaussian", false),
        ("bernoulli", true),
        ("negative-binomial", false),
    ] {
        let data = both(&counts(binary), 4);
        let mut spec = spec(likelihood);
        spec.engine = EngineKind::Gibbs;
        (spec.gibbs.chains, spec.gibbs.warm_up, spec.gibbs.sweeps) = (1, 0, 4);
        spec.gibbs.thin = 1;
        // short: chains that differ by rounding part in the end
        let [dense, sparse] = [0, 1].map(|i| fitted(&data[i], &spec));
        let [a, b] = [&dense, &sparse].map(|f| f.factors().expect("factors"));
        let gap = (a.mean.as_ref() - b.mean.as_ref()).norm_max();
        assert!(gap < 1e-8, "{likelihood}: {gap:e}");
    }
}

#[test]
fn checkpoints_files_and_threads_change_no_bit() {
    for (likelihood, engine) in [
        ("gaussian", EngineKind::Vb),
        ("poisson", EngineKind::Vb),
        ("negative-binomial", EngineKind::Gibbs),
    ] {
        let [_, data] = both(&counts(false), 4);
        let mut spec = spec(likelihood);
        spec.engine = engine;
        spec.vb.max_sweeps = 8;
        (spec.gibbs.chains, spec.gibbs.warm_up, spec.gibbs.sweeps) = (1, 2, 6);
        spec.gibbs.thin = 1;
        let whole = fitted(&data, &spec);
        let mut first = Fitting::new(data.clone(), spec.clone()).expect("a fit");
        for _ in 0..3 {
            first.step().expect("a sweep");
        }
        let bytes = first
            .checkpoint()
            .expect("a checkpoint")
            .to_bytes()
            .expect("bytes");
        let checkpoint = polyview::Checkpoint::from_bytes(&bytes).expect("a checkpoint");
        let mut second = Fitting::new(data.clone(), spec.clone()).expect("a fit");
        second.resume(&checkpoint).expect("the same data");
        while !second.step().expect("a sweep").done {}
        let resumed = second.finish().expect("an end");
        let same = |other: &Fit, what: &str| {
            let [a, b] = [&whole, other].map(|f| f.factors().expect("factors"));
            assert_eq!(a.mean, b.mean, "{likelihood}: {what}");
            let [a, b] = [&whole, other].map(|f| f.weights("y").expect("weights"));
            assert_eq!((a.mean, a.sd), (b.mean, b.sd), "{likelihood}: {what}");
        };
        same(&resumed, "resumed");
        let again = Fit::from_bytes(&whole.to_bytes().expect("bytes")).expect("a model");
        assert_eq!(again.data().expect("data"), whole.data().expect("data"));
        same(&again, "read again");
        let threaded = Threads::new(3)
            .expect("threads")
            .install(|| fitted(&data, &spec));
        same(&threaded, "three threads");
    }
}

#[test]
fn what_needs_every_cell_is_refused() {
    let [_, data] = both(&counts(true), 0);
    let refused = |data: &Dataset, spec: ModelSpec| {
        let error = Fitting::new(data.clone(), spec).err().expect("an error");
        error.to_string()
    };
    let text = refused(&data, spec("bernoulli-latent"));
    assert!(
        text.contains("bernoulli-latent") && text.contains("sparse"),
        "{text}"
    );
    let mut imputing = models::bibfa(2);
    imputing.missing = MissingData::Impute;
    let holes = hold_out(&data, 0.1, 1).expect("cells").data;
    let text = refused(&holes, imputing.clone());
    assert!(text.contains("impute") && text.contains("sparse"), "{text}");
    // where nothing is missing there is nothing to impute
    imputing.vb.max_sweeps = 2;
    fitted(&data, &imputing);
    let view = data.views()[1].clone();
    let trials = view.with_trials(Mat::full(N, D, 3.0));
    assert!(matches!(trials, Err(DataError::SparseTrials { .. })));
    let bad = SparseColumns::from_dense(Mat::full(N, D, 0.5).as_ref()).expect("finite");
    let bad = View::from_sparse("y", names("f", D), bad).expect("a view");
    let data = data.with_view(bad).expect("the same shape");
    let text = refused(&data, spec("poisson"));
    assert!(text.contains("0.5"), "{text}");
}
