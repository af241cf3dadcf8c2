//! The compressed paths give the iterates of the streaming path
//! (docs/decisions/0007-compression.md).

use polyview::{Fit, Fitting, Intercepts, ModelSpec, Path, models};
use polyview_core::{Centring, Dataset, Event, FeatureScaling, Table};
use polyview_infer::PruneRule;
use polyview_likelihoods::NoiseBy;
use polyview_linalg::Mat;
use polyview_random::StreamKey;
use polyview_tests::normal;

fn data(samples: usize, features: &[usize], seed: u64) -> Dataset {
    let mut rng = StreamKey::new(seed).rng();
    let z = normal(samples, 3, &mut rng);
    let mut builder = Dataset::builder();
    for (m, &d) in features.iter().enumerate() {
        let w = normal(d, 3, &mut rng);
        let mut x = &z * w.transpose() + 0.8 * normal(samples, d, &mut rng);
        for j in 0..d {
            for n in 0..samples {
                x[(n, j)] += 0.5 * (j as f64 - 2.0);
            }
        }
        builder = builder.view(Table {
            name: format!("v{m}"),
            samples: (0..samples).map(|n| format!("s{n}")).collect(),
            features: (0..d).map(|j| format!("f{j}")).collect(),
            values: x,
            levels: Vec::new(),
        });
    }
    builder.build().expect("a data set")
}

fn spec(path: Path, centring: Centring, intercepts: Intercepts, sweeps: usize) -> ModelSpec {
    let mut spec = models::bibfa(4);
    spec.path = path;
    spec.intercepts = intercepts;
    spec.defaults.centring = centring;
    spec.defaults.scaling = FeatureScaling::View;
    spec.defaults.noise = NoiseBy::View;
    spec.vb.max_sweeps = sweeps;
    spec.vb.tolerance = 1e-300;
    spec.vb.prune = PruneRule::never();
    spec
}

fn fit(data: &Dataset, spec: ModelSpec) -> Fit {
    let mut fitting = Fitting::new(data.clone(), spec).expect("a model");
    while !fitting.step().expect("a sweep").done {}
    fitting.finish().expect("a fit")
}

/// Largest difference of two fits: bounds, factors, weights, relative to the
/// largest entry.
fn difference(a: &Fit, b: &Fit) -> f64 {
    let mut worst: f64 = 0.0;
    let totals = |f: &Fit| f.record().ledgers[0].totals().collect::<Vec<_>>();
    for (x, y) in totals(a).iter().zip(totals(b)) {
        worst = worst.max((x - y).abs() / x.abs());
    }
    let mut compare = |x: &Mat<f64>, y: &Mat<f64>| {
        let mut largest: f64 = 1e-300;
        let mut gap: f64 = 0.0;
        for j in 0..x.ncols() {
            for i in 0..x.nrows() {
                largest = largest.max(x[(i, j)].abs());
                gap = gap.max((x[(i, j)] - y[(i, j)]).abs());
            }
        }
        worst = worst.max(gap / largest);
    };
    let (za, zb) = (a.factors().expect("factors"), b.factors().expect("factors"));
    compare(&za.mean, &zb.mean);
    compare(&za.sd, &zb.sd);
    for v in a.views() {
        let (wa, wb) = (
            a.weights(&v.name).expect("weights"),
            b.weights(&v.name).expect("weights"),
        );
        compare(&wa.mean, &wb.mean);
        compare(&wa.sd, &wb.sd);
    }
    worst
}

#[test]
fn compressed_samples_equal_streaming() {
    let data = data(120, &[9, 6], 1);
    for centring in [Centring::Feature, Centring::None] {
        for intercepts in [Intercepts::Learned, Intercepts::None] {
            let a = fit(&data, spec(Path::Streaming, centring, intercepts, 40));
            let b = fit(&data, spec(Path::CompressSamples, centring, intercepts, 40));
            let gap = difference(&a, &b);
            assert!(gap < 1e-10, "{centring:?} {intercepts:?}: {gap:e}");
        }
    }
}

#[test]
fn compressed_features_equal_streaming() {
    let data = data(15, &[60, 40], 2);
    for centring in [Centring::Feature, Centring::None] {
        for intercepts in [Intercepts::Learned, Intercepts::None] {
            let a = fit(&data, spec(Path::Streaming, centring, intercepts, 40));
            let b = fit(
                &data,
                spec(Path::CompressFeatures, centring, intercepts, 40),
            );
            let gap = difference(&a, &b);
            assert!(gap < 1e-10, "{centring:?} {intercepts:?}: {gap:e}");
        }
    }
}

#[test]
fn noise_by_feature_compresses_samples_too() {
    let data = data(90, &[7, 5], 3);
    let with = |path| {
        let mut s = spec(path, Centring::Feature, Intercepts::Learned, 30);
        s.defaults.noise = NoiseBy::Feature;
        fit(&data, s)
    };
    let gap = difference(&with(Path::Streaming), &with(Path::CompressSamples));
    assert!(gap < 1e-10, "{gap:e}");
}

#[test]
fn relevances_compress_samples_and_not_features() {
    let tall = data(90, &[7, 5], 5);
    let with = |path, data: &Dataset| {
        let mut s = spec(path, Centring::Feature, Intercepts::Learned, 30);
        s.defaults.selection = "relevance".into();
        Fitting::new(data.clone(), s)
    };
    let done = |path| {
        let mut fitting = with(path, &tall).expect("a model");
        while !fitting.step().expect("a sweep").done {}
        fitting.finish().expect("a fit")
    };
    let (a, b) = (done(Path::Streaming), done(Path::CompressSamples));
    let gap = difference(&a, &b);
    assert!(gap < 1e-10, "{gap:e}");
    for v in ["v0", "v1"] {
        let (ra, rb) = (
            a.relevance(v).expect("learnt"),
            b.relevance(v).expect("learnt"),
        );
        for (x, y) in ra.iter().zip(rb) {
            assert!((x - y).abs() < 1e-9 * x, "{v}: {x} {y}");
        }
    }
    let wide = data(15, &[60, 40], 2);
    assert!(with(Path::CompressFeatures, &wide).is_err());
    let mut fitting = with(Path::Auto, &wide).expect("a model");
    while !fitting.step().expect("a sweep").done {}
    let journal = fitting.finish().expect("a fit").record().journal.clone();
    assert!(
        journal
            .entries
            .iter()
            .any(|e| e.to_string().contains("streaming"))
    );
}

#[test]
fn a_path_that_cannot_be_taken_is_refused() {
    let data = data(15, &[60, 40], 2);
    let s = spec(
        Path::CompressSamples,
        Centring::Feature,
        Intercepts::Learned,
        5,
    );
    assert!(Fitting::new(data, s).is_err());
}

#[test]
fn the_choice_is_in_the_journal() {
    for (n, d, path) in [
        (4000, [8, 8], "compressed samples"),
        (20, [900, 800], "compressed features"),
    ] {
        let data = data(n, &d, 4);
        let mut s = spec(Path::Auto, Centring::Feature, Intercepts::Learned, 3);
        s.factors = 4;
        let f = fit(&data, s);
        assert!(
            f.record()
                .journal
                .entries
                .iter()
                .any(|e| e.to_string().contains(path)),
            "{path} for {n} x {d:?}"
        );
    }
}

/// The way of mofapy2 ends elsewhere than a compressed sweep.
#[test]
fn mofapy2_reads_the_data_as_they_are() {
    let tall = data(300, &[8], 6);
    let mut spec = models::mofapy2(3);
    spec.vb.max_sweeps = 3;
    let journal = fit(&tall, spec.clone()).record().journal.clone();
    let streaming = |e: &polyview_core::Entry| matches!(&e.event, Event::Path { path, .. } if path == "streaming");
    assert!(journal.entries.iter().any(streaming), "{journal:?}");
    spec.path = Path::CompressSamples;
    assert!(Fitting::new(tall, spec).is_err());
}

/// What a factor explains is a share of all columns' variance, spelled out or not.
#[test]
fn the_same_factors_explain_little_on_both_paths() {
    let wide = data(15, &[900, 40], 7);
    let kept = |path| {
        let mut s = spec(path, Centring::Feature, Intercepts::Learned, 40);
        s.factors = 8;
        s.vb.prune.least_explained = 0.04;
        fit(&wide, s).k()
    };
    let (all, compressed) = (kept(Path::Streaming), kept(Path::CompressFeatures));
    assert!(all == compressed && all < 8, "{all} {compressed}");
}
