//! How many factors a fit starts with, keeps, and what is said of its end.

use polyview_core::{Dataset, Event, Journal};
use polyview_datasets::{BibfaOptions, Missing, simulate_bibfa};
use polyview_linalg::{Mat, MatRef};
use polyview_random::{StreamKey, standard_normal};

use super::counts::table;
use super::simulated;
use crate::{EngineKind, FeatureSelection, Fit, Fitting, ModelSpec, models};

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
        assert_eq!(fit.spec().factors, 9);
        let found = warnings(&fit.record().journal, "40 factors were asked for");
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("carry at most 9"), "{found:?}");
        if engine == EngineKind::Stochastic {
            let source = Box::new(data.views().to_vec());
            let fitting = Fitting::from_blocks(source, data.samples().to_vec(), spec.clone());
            let found = warnings(fitting.unwrap().journal(), "40 factors were asked for");
            assert_eq!(found.len(), 1);
        }
        spec.factors = 9;
        let fit = crate::fit(data.clone(), spec).unwrap();
        assert!(warnings(&fit.record().journal, "asked for").is_empty());
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

/// Shares of the factors in the variance of all predictors.
fn shares(fit: &Fit) -> Vec<f64> {
    let c = fit.component(0).unwrap();
    let energy = |m: MatRef<'_, f64>, k: usize| m.col(k).iter().map(|x| x * x).sum::<f64>();
    let own: Vec<f64> = (0..fit.k())
        .map(|k| {
            let weights: f64 = c.views.iter().map(|v| energy(v.weights.mean(), k)).sum();
            weights * energy(c.factors.mean(), k)
        })
        .collect();
    let all: f64 = own.iter().sum();
    own.iter().map(|x| x / all).collect()
}

/// The largest bound of a model without one of the factors of less than a twentieth of the
/// variance, started from the others; `None` where there are none.
fn smaller(fit: &Fit, data: &Dataset) -> Option<f64> {
    let z = fit.component(0).unwrap().factors.mean().to_owned();
    let k = z.ncols();
    let small = shares(fit).into_iter().enumerate().filter(|s| s.1 < 0.05);
    let bound = |out: usize| {
        let mut spec = fit.spec().clone();
        spec.factors = k - 1;
        let mut fitting = Fitting::new(data.clone(), spec).unwrap();
        let keep: Vec<usize> = (0..k).filter(|j| *j != out).collect();
        let start = Mat::from_fn(z.nrows(), k - 1, |n, j| z[(n, keep[j])]);
        fitting.start_from(start).unwrap();
        while !fitting.step().unwrap().done {}
        fitting.finish().unwrap().record().bound.unwrap()
    };
    small.filter(|_| k > 1).map(|s| bound(s.0)).reduce(f64::max)
}

/// The exact bound has the last word in 36 fits: no model without one of the small factors,
/// started from the others, does better. By the rule of empty factors alone six of
/// these fits keep a factor too many, one of them until the others have settled into
/// its absence.
#[test]
fn factors_that_do_not_pay_are_removed() {
    let (mut gained, mut tried) = (0, 0);
    for model in [models::bibfa as fn(usize) -> ModelSpec, models::sshiba] {
        for samples in [15, 30, 60] {
            for dims in [&[7, 5][..], &[20, 12], &[40]] {
                for seed in 1..3 {
                    let data = simulate_bibfa(&BibfaOptions::new(samples, dims, 2, seed));
                    let data = data.unwrap().data.dataset;
                    let mut spec = model(5);
                    spec.vb.max_sweeps = 5000;
                    if spec.model == "sshiba" {
                        spec.defaults.selection = FeatureSelection::Relevance;
                    }
                    let fit = crate::fit(data.clone(), spec.clone()).unwrap();
                    let bound = fit.record().bound.unwrap();
                    if let Some(best) = smaller(&fit, &data) {
                        tried += 1;
                        assert!(
                            best < bound + 0.5,
                            "{samples} {dims:?} {seed}: {best} {bound}"
                        );
                    }
                    spec.vb.prune.by_bound = false;
                    let kept = crate::fit(data, spec).unwrap();
                    let of_kept = kept.record().bound.unwrap();
                    assert!(
                        of_kept < bound + 0.5,
                        "{samples} {dims:?} {seed}: {of_kept} {bound}"
                    );
                    gained += usize::from(of_kept < bound - 20.0 && fit.k() < kept.k());
                }
            }
        }
    }
    assert!(gained >= 5, "{gained} {tried}");
}
