use polyview_core::{Centring, Dataset};
use polyview_datasets::Missing;
use polyview_linalg::Mat;

use super::{cells, gap, gibbs, rebuilt, simulated, table, vb};
use crate::spec::{EngineKind, GibbsOptions, Intercepts, ModelSpec};
use crate::{ErrorKind, Explained, Fit, models};

fn rectangles() -> Vec<Missing> {
    vec![
        Missing::default(),
        Missing {
            rows: 0.3,
            ..Missing::default()
        },
        cells(0.25),
    ]
}

/// The definition, with every contribution spelt out.
fn by_hand(fit: &Fit, m: usize, without: impl Fn(usize) -> bool) -> f64 {
    by_hand_among(fit, m, |_| true, without)
}

/// The definition among some of the samples.
fn by_hand_among(
    fit: &Fit,
    m: usize,
    among: impl Fn(usize) -> bool,
    without: impl Fn(usize) -> bool,
) -> f64 {
    let view = &fit.data().unwrap()[m];
    let (n, features) = (view.n_samples(), view.n_features());
    let mut left = view.values().to_owned();
    for i in 0..fit.n_components() {
        let c = fit.component(i).unwrap();
        let w = c.views[m].weights.mean();
        for k in (0..fit.k()).filter(|&k| !without(k)) {
            left -= Mat::from_fn(n, features, |r, d| {
                c.factors().mean()[(r, k)] * w[(d, k)] / fit.n_components() as f64
            });
        }
    }
    let about_mean = |x: &Mat<f64>| -> f64 {
        (0..features)
            .map(|d| {
                let seen: Vec<f64> = (0..n)
                    .filter(|&r| among(r) && view.is_observed(r, d))
                    .map(|r| x[(r, d)])
                    .collect();
                let mean = seen.iter().sum::<f64>() / seen.len() as f64;
                seen.iter().map(|x| (x - mean).powi(2)).sum::<f64>()
            })
            .sum()
    };
    1.0 - about_mean(&left) / about_mean(&view.values().to_owned())
}

fn assert_identity(e: &Explained) {
    for m in 0..e.views.len() {
        let sum = |x: &Mat<f64>| (0..e.factors).map(|k| x[(m, k)]).sum::<f64>();
        assert!((sum(&e.unique) + e.shared[m] - e.total[m]).abs() < 1e-12);
        assert!((sum(&e.marginal) - e.shared[m] - e.total[m]).abs() < 1e-12);
    }
}

#[test]
fn shares_are_the_definition_and_add_up() {
    for (i, missing) in rectangles().into_iter().enumerate() {
        let data = simulated(30, 20 + i as u64, missing);
        for fit in [vb(data.clone(), 3), gibbs(data.clone(), 2)] {
            let e = fit.explain().unwrap();
            assert_identity(&e);
            assert_eq!(e.views, ["view1", "view2"]);
            for m in 0..2 {
                assert_eq!(e.observed[m], data.views()[m].n_observed());
                let total = by_hand(&fit, m, |_| false);
                assert!((e.total[m] - total).abs() < 1e-10);
                assert!(total > 0.2 && total < 1.0, "{total}");
                for k in 0..fit.k() {
                    let alone = by_hand(&fit, m, |j| j != k);
                    let rest = by_hand(&fit, m, |j| j == k);
                    assert!((e.marginal[(m, k)] - alone).abs() < 1e-10);
                    assert!((e.unique[(m, k)] - (total - rest)).abs() < 1e-10);
                }
            }
        }
    }
}

#[test]
fn one_component_the_long_way() {
    // the K x K sums and the spelt-out contributions are the same
    for (i, missing) in rectangles().into_iter().enumerate() {
        let fit = vb(simulated(30, 30 + i as u64, missing), 3);
        let mut twice = fit.clone();
        twice.components.push(fit.components[0].clone());
        let (a, b) = (fit.explain().unwrap(), twice.explain().unwrap());
        assert!(gap(&a.marginal, &b.marginal) < 1e-12 && gap(&a.unique, &b.unique) < 1e-12);
    }
}

#[test]
fn training_data_given_again_say_the_same() {
    for missing in rectangles() {
        let data = simulated(30, 40, missing);
        let mut fit = vb(data.clone(), 2);
        let a = fit.explain().unwrap();
        fit.forget_data();
        assert_eq!(*fit.explain().unwrap_err().kind(), ErrorKind::NoData);
        let b = fit.explain_on(&data).unwrap();
        assert!(gap(&a.marginal, &b.marginal) < 1e-9 && gap(&a.unique, &b.unique) < 1e-9);
    }
    let fit = vb(simulated(30, 41, cells(0.1)), 2);
    let new = simulated(10, 42, Missing::default());
    let one: Dataset = rebuilt(&new, &["view2"], |v| table(&new, v));
    let c = fit.explain_on(&one).unwrap();
    assert_eq!((c.views.len(), c.views[0].as_str()), (1, "view2"));
    assert_identity(&c);
}

#[test]
fn a_group_is_explained_by_the_definition_within_it() {
    for (i, missing) in rectangles().into_iter().enumerate() {
        let data = simulated(30, 70 + i as u64, missing);
        let of = |n: usize| ["a", "b"][usize::from(n.is_multiple_of(3))];
        let pairs = data.samples().iter().enumerate();
        let pairs = pairs.map(|(n, s)| (s.clone(), of(n).to_owned())).collect();
        let mut builder = Dataset::builder().groups(pairs);
        for view in data.views() {
            builder = builder.view(table(&data, view));
        }
        let data = builder.build().unwrap();
        // joining may have moved the samples
        let names = &data.groups().unwrap().names;
        let of = data.groups().unwrap().of_sample.iter();
        let of: Vec<&str> = of.map(|&g| names[g as usize].as_str()).collect();
        for fit in [vb(data.clone(), 3), gibbs(data.clone(), 2)] {
            let mut observed = [0, 0];
            for group in ["a", "b"] {
                let e = fit.explain_group(group).unwrap();
                assert_identity(&e);
                let among = |r: usize| of[r] == group;
                for m in 0..2 {
                    observed[m] += e.observed[m];
                    let total = by_hand_among(&fit, m, among, |_| false);
                    assert!((e.total[m] - total).abs() < 1e-10);
                    assert!((e.total[m] - fit.explain().unwrap().total[m]).abs() > 1e-4);
                    for k in 0..fit.k() {
                        let alone = by_hand_among(&fit, m, among, |j| j != k);
                        let rest = by_hand_among(&fit, m, among, |j| j == k);
                        assert!((e.marginal[(m, k)] - alone).abs() < 1e-10);
                        assert!((e.unique[(m, k)] - (total - rest)).abs() < 1e-10);
                    }
                }
            }
            assert_eq!(observed.to_vec(), fit.explain().unwrap().observed);
            let error = fit.explain_group("c").unwrap_err();
            assert_eq!(
                *error.kind(),
                ErrorKind::UnknownGroup {
                    group: "c".to_owned(),
                    known: names.clone()
                }
            );
        }
    }
    let fit = vb(simulated(20, 75, Missing::default()), 2);
    let error = fit.explain_group("a").unwrap_err();
    assert_eq!(
        error.to_string(),
        "the model has no group 'a'; it has none; give the samples groups when fitting"
    );
}

#[test]
fn a_view_that_does_not_vary_has_no_shares() {
    let data = simulated(20, 50, Missing::default());
    let flat = rebuilt(&data, &["view1", "view2"], |v| {
        let mut t = table(&data, v);
        if v.name() == "view2" {
            t.values.fill(4.0);
        }
        t
    });
    let e = vb(flat, 2).explain().unwrap();
    assert!(e.total[1].is_nan() && e.marginal[(1, 0)].is_nan());
    assert!(e.total[0] > 0.0, "{e:?}");
}

/// Worse than the mean is shown as such.
#[test]
fn negative_shares_are_not_clipped() {
    let mut fit = vb(simulated(30, 60, Missing::default()), 2);
    let data = fit.data.take().unwrap();
    let wrong = data
        .iter()
        .map(|v| {
            let values = v.values().to_owned();
            v.with_values(Mat::from_fn(30, v.n_features(), |n, d| -values[(n, d)]))
                .unwrap()
        })
        .collect();
    fit.data = Some(wrong);
    let e = fit.explain().unwrap();
    assert!(e.total[0] < -0.5, "{}", e.total[0]);
    assert_identity(&e);
}

/// Draws are brought into one frame before they are averaged: what factors of a Gibbs fit explain
/// alone adds up to about what all of them explain (by order and signs alone, for lipids, to 1.12 to 1.17 where
/// that is .88), and does not depend on the number of threads.
#[test]
fn shares_of_turned_draws_add_up_to_the_whole() {
    let spec = ModelSpec {
        engine: EngineKind::Gibbs,
        gibbs: GibbsOptions {
            chains: 2,
            warm_up: 200,
            sweeps: 400,
            thin: 5,
            ..GibbsOptions::default()
        },
        ..models::bibfa(10)
    };
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let pool = pool.build().unwrap();
        pool.install(|| crate::fit(polyview_datasets::nutrimouse(), spec.clone()).unwrap())
    };
    let fit = on(1);
    let e = fit.explain().unwrap();
    for m in 0..e.views.len() {
        let sum: f64 = (0..e.factors).map(|k| e.marginal[(m, k)]).sum();
        assert!(
            (sum - e.total[m]).abs() < 0.1,
            "{}: {sum} {}",
            e.views[m],
            e.total[m]
        );
    }
    let bits = |f: &Fit| -> Vec<u64> {
        let z = f.factors().unwrap().mean;
        (0..z.ncols())
            .flat_map(|k| z.col(k).iter().map(|x| x.to_bits()).collect::<Vec<_>>())
            .collect()
    };
    assert_eq!(bits(&fit), bits(&on(3)));
}

/// Without centring and intercepts factors hold the means, which shares about means do not show: the share of
/// squares about zero stands beside them, and nowhere else.
#[test]
fn squares_about_zero_are_told_where_a_fit_has_no_means() {
    for holes in rectangles() {
        let data = simulated(40, 3, holes);
        let far = data.views().iter().fold(Dataset::builder(), |builder, v| {
            let mut far = table(&data, v);
            far.values = Mat::from_fn(40, v.n_features(), |n, d| far.values[(n, d)] + 8.0);
            builder.view(far)
        });
        let data = far.build().unwrap();
        let with = |centring, intercepts| {
            let mut spec = super::noise_by_view(3);
            spec.defaults.centring = centring;
            spec.intercepts = intercepts;
            crate::fit(data.clone(), spec).unwrap()
        };
        let fit = with(Centring::None, Intercepts::None);
        let e = fit.explain().unwrap();
        for m in 0..2 {
            let (view, c) = (&fit.data().unwrap()[m], fit.component(0).unwrap());
            let expected = c.factors().mean() * c.views[m].weights.mean().transpose();
            let (mut off, mut all) = (0.0, 0.0);
            for n in 0..view.n_samples() {
                for d in 0..view.n_features() {
                    if let Some(x) = view.value(n, d) {
                        off += (x - expected[(n, d)]).powi(2);
                        all += x * x;
                    }
                }
            }
            let own = 1.0 - off / all;
            assert!(own > 0.9, "{own}");
            assert!(
                (e.about_zero[m] - own).abs() < 1e-10,
                "{own} {:?}",
                e.about_zero
            );
            assert!(e.about_zero[m] > e.total[m] + 0.02, "{own} {:?}", e.total);
            let within = (e.total[m] - by_hand(&fit, m, |_| false)).abs();
            assert!(within < 1e-10, "{within}");
        }
        for (centring, intercepts) in [
            (Centring::Feature, Intercepts::None),
            (Centring::None, Intercepts::Learned),
        ] {
            let e = with(centring, intercepts).explain().unwrap();
            assert!(e.about_zero.iter().all(|x| x.is_nan()));
        }
    }
}
