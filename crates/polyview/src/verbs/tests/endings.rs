//! How many factors a fit starts with, keeps, and what is said of its end.

use polyview_core::{Dataset, Event, FeatureScaling, Journal, Table};
use polyview_datasets::{BibfaOptions, Missing, simulate_bibfa};
use polyview_likelihoods::NoiseBy;
use polyview_linalg::Mat;
use polyview_random::{StreamKey, standard_normal};

use super::counts::table;
use super::simulated;
use crate::{EngineKind, Fit, Fitting, ModelSpec, ParameterUncertainty, Path, models};

fn warnings(journal: &Journal, about: &str) -> Vec<String> {
    journal.warnings().filter(|w| w.contains(about)).collect()
}

/// With any engine, in memory or read in blocks, and whoever made the choices.
#[test]
fn more_factors_than_the_data_carry_become_as_many_as_they_do() {
    let data = simulated(9, 3, Missing::default());
    assert_eq!(crate::most_factors(&data), 9);
    for engine in [EngineKind::Vb, EngineKind::Gibbs, EngineKind::Stochastic] {
        let mut spec = models::bibfa(40);
        spec.engine = engine;
        spec.vb.max_sweeps = 3;
        spec.stochastic.epochs = 2;
        spec.stochastic.batch = 1.0;
        (spec.gibbs.warm_up, spec.gibbs.sweeps, spec.gibbs.thin) = (2, 3, 1);
        let fit = crate::fit(data.clone(), spec.clone()).unwrap();
        assert_eq!(fit.run_options().factors, 9);
        let found = warnings(&fit.record().journal, "40 factors are more than");
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("at most 9"), "{found:?}");
        if engine == EngineKind::Stochastic {
            let source = Box::new(data.views().to_vec());
            let fitting = Fitting::from_blocks(source, data.samples().to_vec(), spec.clone());
            let found = warnings(fitting.unwrap().journal(), "40 factors are more than");
            assert_eq!(found.len(), 1);
        }
        // a number that nobody asked for is nobody's mistake
        let mut offered = spec.clone();
        offered.from_data = vec!["factors".to_owned()];
        let fit = crate::fit(data.clone(), offered).unwrap();
        assert_eq!(fit.run_options().factors, 9);
        assert!(warnings(&fit.record().journal, "factors are more than").is_empty());
        spec.factors = 9;
        let fit = crate::fit(data.clone(), spec).unwrap();
        assert!(warnings(&fit.record().journal, "factors are more than").is_empty());
    }
}

#[test]
fn a_fit_that_stopped_at_its_limit_says_so() {
    let data = simulated(30, 3, Missing::default());
    let fit = |sweeps: usize| {
        let mut spec = models::bibfa(3);
        spec.vb.max_sweeps = sweeps;
        crate::fit(data.clone(), spec).unwrap()
    };
    let short = fit(3);
    let found = warnings(&short.record().journal, "limit of 3 sweeps");
    assert_eq!(found.len(), 1, "{:?}", short.record().journal);
    let last = short.record().journal.entries.last().unwrap();
    assert!(matches!(last.event, Event::Ended { .. }));
    assert!(warnings(&fit(5000).record().journal, "limit of").is_empty());
}

#[test]
fn a_fit_that_came_to_nothing_says_so() {
    let mut rng = StreamKey::new(4).rng();
    let mut normal = |scale: f64| scale * standard_normal(&mut rng);
    let z: Vec<f64> = (0..60).map(|_| normal(1.0)).collect();
    let noise = Mat::from_fn(60, 6, |_, _| normal(1.0));
    let about = |signal: f64| {
        let values = Mat::from_fn(60, 6, |n, d| signal * z[n] + noise[(n, d)]);
        let data = Dataset::builder().view(table("x", values)).build().unwrap();
        let fit = crate::fit(data, models::mofa(4)).unwrap();
        fit.record().journal.warnings().collect::<Vec<_>>()
    };
    let nothing = about(0.0);
    assert!(
        nothing
            .iter()
            .any(|w| w.contains("no factor explains anything")),
        "{nothing:?}"
    );
    let one = about(2.0);
    assert!(
        one.iter().any(|w| w.contains("one factor of 4 is left")),
        "{one:?}"
    );
}

/// What factors of which no data speak would add to the bound, if a fit with `k` were one with
/// `more`.
fn idle(fit: &Fit, k: usize, more: usize) -> f64 {
    let of = |k: usize| {
        let views = fit.empty_views().unwrap();
        (fit.composed)
            .parameters(None, views, k, ParameterUncertainty::Posterior)
            .unwrap()
            .idle_factor()
    };
    (k..more).map(of).sum()
}

/// The largest bound of a model without one of the factors, started from the others, with
/// idle ones in the place of those that are out; `None` where there is but one.
fn smaller(fit: &Fit, data: &Dataset) -> Option<f64> {
    let z = fit.component(0).unwrap().factors().mean().to_owned();
    let k = z.ncols();
    let bound = |out: usize| {
        let mut spec = fit.spec().unwrap().clone();
        spec.factors = k - 1;
        let mut fitting = Fitting::new(data.clone(), spec).unwrap();
        let keep: Vec<usize> = (0..k).filter(|j| *j != out).collect();
        let start = Mat::from_fn(z.nrows(), k - 1, |n, j| z[(n, keep[j])]);
        fitting.start_from(start).unwrap();
        while !fitting.step().unwrap().done {}
        let without = fitting.finish().unwrap();
        without.record().bound.unwrap() + idle(&without, without.k(), k)
    };
    (0..k).filter(|_| k > 1).map(bound).reduce(f64::max)
}

/// In 54 fits of every family: no model without one of the factors, whichever, started from
/// the others, does better with an idle one in its place. By the rule of empty factors
/// alone some of them keep a factor too many, as they do where only small ones are
/// tried; by the bounds as they are, of which each factor's vague scales take their part
/// whatever the data say, true factors would go.
#[test]
fn factors_that_do_not_pay_are_removed() {
    let (mut gained, mut tried, mut true_ones) = (0, 0, 0);
    for model in [
        models::bibfa as fn(usize) -> ModelSpec,
        models::sshiba,
        models::mofa,
    ] {
        for samples in [15, 30, 60] {
            for dims in [&[7, 5][..], &[20, 12], &[40]] {
                for seed in 1..3 {
                    let data = simulate_bibfa(&BibfaOptions::new(samples, dims, 2, seed));
                    let data = data.unwrap().data.dataset;
                    let mut spec = model(5);
                    spec.vb.max_sweeps = 5000;
                    if spec.model == "sshiba" {
                        spec.defaults.selection = "relevance".into();
                    }
                    let what = format!("{} {samples} {dims:?} {seed}", spec.model);
                    let fit = crate::fit(data.clone(), spec.clone()).unwrap();
                    let bound = fit.record().bound.unwrap();
                    if let Some(best) = smaller(&fit, &data) {
                        tried += 1;
                        assert!(best < bound + 0.5, "{what}: {best} {bound}");
                    }
                    spec.vb.prune.by_bound = false;
                    let kept = crate::fit(data, spec).unwrap();
                    let of_kept = kept.record().bound.unwrap();
                    let of_fit = bound + idle(&fit, fit.k(), kept.k());
                    assert!(of_kept < of_fit + 0.5, "{what}: {of_kept} {of_fit}");
                    gained += usize::from(of_kept < of_fit - 2.0 && fit.k() < kept.k());
                    true_ones += usize::from(fit.k() == 2);
                }
            }
        }
    }
    assert!(gained >= 8 && tried >= 40, "{gained} {tried}");
    assert!(true_ones >= 44, "{true_ones}");
}

/// Trials take out next to nothing that predicts: hidden cells are predicted as well as without trials, and no worse than where
/// factors are judged before noise has come down. Of `bibfa`, which is offered more factors here than it starts with, a factor of
/// .8 % of the variance goes that costs one nat: .011 of R², mean of twelve masks.
#[test]
fn factors_that_predict_stay() {
    let scores = |fit: &Fit, full: &Dataset| {
        let of = fit.held_out_score(full).unwrap();
        let cells: usize = of.iter().map(|v| v.cells).sum();
        of.iter().map(|v| v.r2 * v.cells as f64).sum::<f64>() / cells as f64
    };
    for (model, less) in [
        (models::bibfa as fn(usize) -> ModelSpec, 0.012),
        (models::mofa, 0.005),
    ] {
        let full = polyview_datasets::nutrimouse();
        let (mut with, mut without, mut at_once) = (0.0, 0.0, 0.0);
        for seed in 11..23 {
            let hidden = crate::hold_out(&full, 0.1, seed).unwrap().data;
            let mut spec = model(15);
            with += scores(&crate::fit(hidden.clone(), spec.clone()).unwrap(), &full) / 12.0;
            spec.vb.noise_first = false;
            at_once += scores(&crate::fit(hidden.clone(), spec.clone()).unwrap(), &full) / 12.0;
            spec.vb.noise_first = true;
            spec.vb.prune.by_bound = false;
            without += scores(&crate::fit(hidden, spec).unwrap(), &full) / 12.0;
        }
        assert!(with > without - less, "{with} {without}");
        assert!(with > at_once - 0.005, "{with} {at_once}");
    }
}

/// Data with fewer rows or columns than they had, which have the same bounds, lose the same
/// factors on trial.
#[test]
fn trials_on_compressed_data_are_those_on_the_data() {
    let removed = |fit: &Fit| -> Vec<(usize, f64)> {
        let events = fit.record().journal.entries.iter();
        events
            .filter_map(|e| match e.event {
                Event::Needless { left, gain, .. } => Some((left, gain)),
                _ => None,
            })
            .collect()
    };
    let cases: [(usize, &[usize], u64, NoiseBy, Path); 4] = [
        (60, &[7, 5], 5, NoiseBy::View, Path::CompressSamples),
        (60, &[20, 12], 6, NoiseBy::Feature, Path::CompressSamples),
        (20, &[60], 6, NoiseBy::View, Path::CompressFeatures),
        (20, &[40, 30], 5, NoiseBy::View, Path::CompressFeatures),
    ];
    for (samples, dims, seed, noise, path) in cases {
        let data = simulate_bibfa(&BibfaOptions::new(samples, dims, 2, seed));
        let data = data.unwrap().data.dataset;
        let mut spec = models::bibfa(5);
        spec.vb.max_sweeps = 5000;
        spec.defaults.noise = noise;
        spec.path = Path::Streaming;
        let streamed = crate::fit(data.clone(), spec.clone()).unwrap();
        spec.path = path;
        let compressed = crate::fit(data, spec).unwrap();
        let (a, b) = (removed(&streamed), removed(&compressed));
        assert!(!a.is_empty(), "nothing was removed");
        assert_eq!(a.len(), b.len());
        for (a, b) in a.iter().zip(&b) {
            assert_eq!(a.0, b.0);
            assert!((a.1 - b.1).abs() < 1e-3 * (1.0 + a.1.abs()), "{a:?} {b:?}");
        }
        assert_eq!(streamed.k(), compressed.k());
        let (a, b) = (streamed.record().bound, compressed.record().bound);
        let (a, b) = (a.unwrap(), b.unwrap());
        assert!((a - b).abs() < 1e-5 * a.abs(), "{a} {b}");
    }
}

/// A factor that barely stands out is held back by the prior of its weights, and a limit hides part of the variance: neither
/// makes it noise.
#[test]
fn one_weak_factor_is_not_said_to_be_noise() {
    let weak = |seed: u64, limited: bool| {
        let (n, d) = (120, 30);
        let mut rng = StreamKey::new(seed).rng();
        let z: Vec<f64> = (0..n).map(|_| standard_normal(&mut rng)).collect();
        let w: Vec<f64> = (0..d).map(|_| 0.3 * standard_normal(&mut rng)).collect();
        let y = Mat::from_fn(n, d, |n, d| z[n] * w[d] + standard_normal(&mut rng));
        let most = if limited { 0.0 } else { f64::INFINITY };
        let of = |values: Mat<f64>| Table {
            name: "x".into(),
            samples: (0..n).map(|n| format!("s{n}")).collect(),
            features: (0..d).map(|d| format!("f{d}")).collect(),
            levels: Vec::new(),
            values,
        };
        let mut data = Dataset::builder().view(of(Mat::from_fn(n, d, |n, d| y[(n, d)].min(most))));
        let mut spec = crate::models::sshiba(1);
        spec.defaults.scaling = FeatureScaling::Feature;
        if limited {
            data = data.ends(of(Mat::from_fn(n, d, |n, d| {
                if y[(n, d)] > most {
                    f64::INFINITY
                } else {
                    f64::NAN
                }
            })));
            spec = spec.with_likelihood("x", "censored");
        }
        crate::fit(data.build().unwrap(), spec).unwrap()
    };
    for limited in [false, true] {
        let fits: Vec<Fit> = (0..10).map(|seed| weak(seed, limited)).collect();
        let found = fits.iter().filter(|fit| fit.has_effects());
        assert!(found.clone().count() > 5);
        let noise = found.filter(|fit| fit.may_be_noise()).count();
        assert_eq!(noise, 0, "{limited}");
    }
}

#[test]
fn one_factor_of_noise_is_said_to_be_that() {
    let noise = |n: usize, d: usize, signal: f64| {
        let mut rng = StreamKey::new(3).rng();
        let z: Vec<f64> = (0..n).map(|_| standard_normal(&mut rng)).collect();
        Table {
            name: "x".into(),
            samples: (0..n).map(|n| format!("s{n}")).collect(),
            features: (0..d).map(|d| format!("f{d}")).collect(),
            levels: Vec::new(),
            values: Mat::from_fn(n, d, |n, _| signal * z[n] + standard_normal(&mut rng)),
        }
    };
    let fit = |signal: f64| {
        let data = Dataset::builder().view(noise(120, 12, signal)).build();
        crate::fit(data.unwrap(), crate::models::rank(1)).unwrap()
    };
    let (none, some) = (fit(0.0), fit(1.0));
    assert!(none.k() == 0 || !none.has_effects() || none.may_be_noise());
    assert!(!some.may_be_noise());
    let said = warnings(&none.record().journal, "noise");
    if none.has_effects() && none.k() == 1 {
        assert!(
            said.iter().any(|w| w.contains("it may be noise")),
            "{said:?}"
        );
    }
}
