//! Views settled on factors and on what these leave of the features of others
//! (docs/decisions/0080-settling-on-features.md).

use std::ops::Range;

use polyview_core::Table;
use polyview_infer::Audit;
use polyview_linalg::{Mat, solve_spd};
use polyview_random::{StreamKey, standard_normal};

use super::counts::table;
use super::discriminative::{data, some};
use crate::{EngineKind, ErrorKind, Fit, ModelSpec, Settle, models};

pub(super) const N: usize = 260;
pub(super) const TRAIN: usize = 160;

/// Two views of two strong factors each, and a number that hangs on the factors or on what is
/// private to one feature, with a label that says whether it is above 0.
pub(super) fn tables(on_factors: bool) -> [Table; 4] {
    let mut rng = StreamKey::new(31).rng();
    let mut normal =
        |rows: usize, columns: usize| Mat::from_fn(rows, columns, |_, _| standard_normal(&mut rng));
    let (z, w, v) = (normal(N, 2), normal(12, 2), normal(8, 2));
    let (e, f, noise) = (normal(N, 12), normal(N, 8), normal(N, 1));
    let x = 2.0 * &z * w.transpose() + &e;
    let u = 2.0 * &z * v.transpose() + &f;
    let y = Mat::from_fn(N, 1, |n, _| {
        let told = if on_factors {
            z[(n, 0)] - z[(n, 1)]
        } else {
            e[(n, 3)] - e[(n, 7)]
        };
        told + 0.3 * noise[(n, 0)]
    });
    let t = Mat::from_fn(N, 1, |n, _| f64::from(u8::from(y[(n, 0)] > 0.0)));
    [table("x", x), table("u", u), table("y", y), table("t", t)]
}

pub(super) fn spec(settle: Settle, target: &str) -> ModelSpec {
    let mut spec = models::sshiba(2).with_settled(target, settle);
    spec = spec.with_likelihood("t", "bernoulli");
    spec.views.retain(|v| v.name == target);
    spec.vb.audit = Audit::Blocks;
    spec
}

pub(super) fn part(tables: &[Table; 4], target: usize, rows: Range<usize>) -> crate::Dataset {
    data([0, 1, target].map(|i| some(&tables[i], rows.clone())))
}

pub(super) fn fitted(tables: &[Table; 4], target: usize, settle: Settle) -> Fit {
    let name = &tables[target].name;
    crate::fit(part(tables, target, 0..TRAIN), spec(settle, name)).unwrap()
}

pub(super) fn sources(tables: &[Table; 4], rows: Range<usize>) -> crate::Dataset {
    data([0, 1].map(|i| some(&tables[i], rows.clone())))
}

/// R² of a number, or one less the log loss over that of a coin.
pub(super) fn score(fit: &Fit, tables: &[Table; 4], target: usize) -> f64 {
    let found = fit.predict(&sources(tables, TRAIN..N), &tables[target].name);
    let mean = found.unwrap().mean;
    let truth = |n: usize| tables[target].values[(TRAIN + n, 0)];
    let of = |loss: &dyn Fn(f64, f64) -> f64, told: &dyn Fn(usize) -> f64| -> f64 {
        (0..N - TRAIN).map(|n| loss(truth(n), told(n))).sum()
    };
    let own = |n: usize| mean[(n, 0)];
    if target == 3 {
        let loss = |t: f64, p: f64| -(if t > 0.5 { p } else { 1.0 - p }).ln();
        return 1.0 - of(&loss, &own) / of(&loss, &|_| 0.5);
    }
    let loss = |t: f64, p: f64| (t - p).powi(2);
    1.0 - of(&loss, &own) / of(&loss, &|_| 0.0)
}

/// The share of the variance of what is predicted that the journal gives to directions, per cent.
fn share(fit: &Fit) -> f64 {
    let entries = &fit.record().journal.entries;
    let said = entries.iter().map(|e| e.event.to_string());
    let said: Vec<String> = said.filter(|s| s.contains("direction(s)")).collect();
    assert_eq!(said.len(), 1, "{said:?}");
    let before = said[0].split(" % of").next().unwrap();
    before.rsplit(' ').next().unwrap().parse().unwrap()
}

/// R² of new samples' number by least squares on all features of training.
pub(super) fn least_squares(tables: &[Table; 4]) -> f64 {
    let column = |n: usize, i: usize| match i {
        20 => 1.0,
        i if i < 12 => tables[0].values[(n, i)],
        i => tables[1].values[(n, i - 12)],
    };
    let all = Mat::from_fn(N, 21, column);
    let (x, y) = (all.subrows(0, TRAIN), tables[2].values.subrows(0, TRAIN));
    let gram = x.transpose() * x;
    let w = solve_spd(gram.as_ref(), (x.transpose() * y).as_ref()).unwrap();
    let told = &all * &w;
    let square = |of: &dyn Fn(usize) -> f64| (TRAIN..N).map(|n| of(n).powi(2)).sum::<f64>();
    let truth = |n: usize| tables[2].values[(n, 0)];
    1.0 - square(&|n| truth(n) - told[(n, 0)]) / square(&truth)
}

#[test]
fn what_factors_leave_predicts_a_target_that_hangs_on_it() {
    let tables = tables(false);
    let of_features = least_squares(&tables);
    assert!(of_features > 0.5, "{of_features}");
    for (target, least) in [(2, of_features - 0.02), (3, 0.2)] {
        let [on_factors, on_features] =
            [Settle::Factors, Settle::Features].map(|s| fitted(&tables, target, s));
        let [low, high] = [&on_factors, &on_features].map(|f| score(f, &tables, target));
        assert!(
            low < 0.1 && high > least,
            "{target}: {low} {high} {of_features}"
        );
        assert!(share(&on_features) > 80.0, "{}", share(&on_features));
        // the intervals are those of a number that is known as well as that
        if target == 2 {
            let p = on_features
                .predict(&sources(&tables, TRAIN..N), "y")
                .unwrap();
            let (lower, upper) = p.interval(0.9).unwrap();
            let held = (0..N - TRAIN).filter(|&n| {
                let t = tables[2].values[(TRAIN + n, 0)];
                lower[(n, 0)] < t && t < upper[(n, 0)]
            });
            let held = held.count() as f64 / (N - TRAIN) as f64;
            assert!((0.82..=0.97).contains(&held), "{held}");
        }
    }
}

#[test]
fn where_factors_tell_all_they_do_the_telling() {
    let tables = tables(true);
    // a label says less, and eighteen more columns make it less sure
    for (target, cost) in [(2, 0.02), (3, 0.06)] {
        let [on_factors, on_features] =
            [Settle::Factors, Settle::Features].map(|s| fitted(&tables, target, s));
        let [a, b] = [&on_factors, &on_features].map(|f| score(f, &tables, target));
        assert!((a - b).abs() < cost, "{target}: {a} {b}");
        if target == 2 {
            assert!(share(&on_features) < 5.0, "{}", share(&on_features));
        }
    }
}

/// Variational regression by hand on the columns that the view is settled on: means and variances
/// of the weights, and the noise.
#[test]
fn weights_are_those_of_a_regression_on_known_columns() {
    let tables = tables(false);
    let mut choices = spec(Settle::Features, "y");
    choices.vb.tolerance = 1e-13;
    choices.vb.movement = 1e-9;
    choices.vb.max_sweeps = 20_000;
    let fit = crate::fit(part(&tables, 2, 0..TRAIN), choices).unwrap();
    let features = fit.on_features(2).unwrap().unwrap();
    let settled = fit.settled_view("y").unwrap().unwrap();
    let component = fit.component(0).unwrap();
    let train = fit.data().unwrap();
    let others: Vec<_> = (0..3).map(|v| (v != 2).then(|| train[v].clone())).collect();
    let z = fit
        .project(
            &sources(&tables, 0..TRAIN),
            &crate::ProjectOptions::default(),
        )
        .unwrap();
    let factors = polyview_core::RowMoments::point(z.mean.clone());
    let known = features.directions.of(&component, &others, &factors);
    let (k, count) = (fit.k(), known.ncols());
    // directions are orthogonal, and none is counted twice
    for i in 0..count {
        for j in 0..i {
            let dot: f64 = (0..TRAIN).map(|n| known[(n, i)] * known[(n, j)]).sum();
            assert!(dot.abs() < 1e-4, "{i} {j} {dot}");
        }
    }
    // shares of factors and directions add up to all of two views
    let explained: Vec<f64> = (0..k)
        .map(|j| {
            (0..2)
                .map(|v| {
                    let (w, view) = (component.views[v].weights.mean(), &component.views[v]);
                    let rows = w.nrows();
                    let of = |d: usize| {
                        let whole: f64 = (0..k).map(|i| w[(d, i)].powi(2)).sum();
                        w[(d, j)].powi(2) / (whole + view.link_variance(d))
                    };
                    (0..rows).map(of).sum::<f64>() / rows as f64 / 2.0
                })
                .sum()
        })
        .collect();
    let left: f64 = (0..count)
        .map(|j| (0..TRAIN).map(|n| known[(n, j)].powi(2)).sum::<f64>() / TRAIN as f64)
        .sum();
    let whole = explained.iter().sum::<f64>() + left;
    assert!((whole - 1.0).abs() < 1e-3, "{whole}");

    let all = k + count;
    let column = |n: usize, i: usize| {
        if i < k {
            z.mean[(n, i)]
        } else {
            known[(n, i - k)]
        }
    };
    let columns = Mat::from_fn(TRAIN, all, column);
    let gram = columns.transpose() * &columns;
    let y = train[2].values();
    let n = TRAIN as f64;
    let relative = |i: usize| if i < k { 1.0 / explained[i] } else { 1.0 };
    let (mut w, mut cov) = (Mat::<f64>::zeros(all, 1), Mat::<f64>::zeros(all, all));
    let (mut alpha, mut tau, mut b) = (1.0, 1.0, 0.0);
    for _ in 0..5_000 {
        let p = Mat::from_fn(all, all, |i, j| {
            tau * gram[(i, j)] + if i == j { alpha * relative(i) } else { 0.0 }
        });
        let h = Mat::from_fn(all, 1, |i, _| {
            let of = |r: usize| tau * columns[(r, i)] * (y[(r, 0)] - b);
            (0..TRAIN).map(of).sum::<f64>()
        });
        w = solve_spd(p.as_ref(), h.as_ref()).unwrap();
        cov = solve_spd(p.as_ref(), Mat::<f64>::identity(all, all).as_ref()).unwrap();
        let eta = &columns * &w;
        let b_var = 1.0 / (n * tau + 1.0);
        b = b_var * tau * (0..TRAIN).map(|r| y[(r, 0)] - eta[(r, 0)]).sum::<f64>();
        let mut square = n * b_var;
        for r in 0..TRAIN {
            square += (y[(r, 0)] - b - eta[(r, 0)]).powi(2);
        }
        square += (0..all)
            .flat_map(|i| (0..all).map(move |j| (i, j)))
            .map(|(i, j)| gram[(i, j)] * cov[(i, j)])
            .sum::<f64>();
        tau = (1e-6 + 0.5 * n) / (1e-6 + 0.5 * square);
        let squares = (0..all).map(|i| relative(i) * (w[(i, 0)].powi(2) + cov[(i, i)]));
        alpha = (1.0 + 0.5 * all as f64) / (1.0 + 0.5 * squares.sum::<f64>());
    }
    for i in 0..all {
        let (mean, variance) = if i < k {
            (
                settled.weights.mean()[(0, i)],
                settled.weights.variance(0, i),
            )
        } else {
            (features.mean[(0, i - k)], features.variance[(0, i - k)])
        };
        assert!((mean - w[(i, 0)]).abs() < 1e-5, "{i}: {mean} {}", w[(i, 0)]);
        assert!((variance.sqrt() - cov[(i, i)].sqrt()).abs() < 1e-5, "{i}");
    }
}

#[test]
fn samples_are_predicted_the_same_in_a_file_alone_and_without_a_view() {
    let mut tables = tables(false);
    for n in (0..N).step_by(9) {
        tables[0].values[(n, n % 12)] = f64::NAN;
    }
    for target in [2, 3] {
        let name = tables[target].name.clone();
        let fit = fitted(&tables, target, Settle::Features);
        let again = Fit::from_bytes(&fit.to_bytes().unwrap()).unwrap();
        assert_eq!(again.views()[2].choices.settle, Some(Settle::Features));
        let all = sources(&tables, 0..N);
        let [a, b] = [&fit, &again].map(|f| f.predict(&all, &name).unwrap());
        assert_eq!((&a.mean, &a.sd), (&b.mean, &b.sd));
        // one by one, and under names that training did not have
        for n in [5, 18, TRAIN + 3] {
            let mut one = [0, 1].map(|i| some(&tables[i], n..n + 1));
            for table in &mut one {
                table.samples = vec!["new".into()];
            }
            let p = fit.predict(&data(one), &name).unwrap();
            assert!((p.mean[(0, 0)] - a.mean[(n, 0)]).abs() < 1e-9);
            assert!((p.sd[(0, 0)] - a.sd[(n, 0)]).abs() < 1e-9);
        }
        // a view that is not there says nothing, as one without values does
        let alone = fit
            .predict(&data([some(&tables[0], TRAIN..N)]), &name)
            .unwrap();
        let mut empty = some(&tables[1], TRAIN..N);
        let last = N - TRAIN - 1;
        // a view without any value is none
        empty.values = Mat::from_fn(N - TRAIN, 8, |n, d| {
            if n == last {
                empty.values[(n, d)]
            } else {
                f64::NAN
            }
        });
        let holes = data([some(&tables[0], TRAIN..N), empty]);
        let holes = fit.predict(&holes, &name).unwrap();
        for n in 0..last {
            assert!((alone.mean[(n, 0)] - holes.mean[(n, 0)]).abs() < 1e-9);
        }
        // turned factors leave what they left
        if target == 2 {
            let turned = fit.varimax().unwrap().predict(&all, &name).unwrap();
            assert!(super::gap(&turned.mean, &a.mean) < 1e-8);
        }
        // and the joint fit does all else
        let joint = fitted(&tables, target, Settle::Not);
        let of = |f: &Fit| f.impute(&name, 0.9).map(|i| i.values).ok();
        assert_eq!(of(&fit), of(&joint));
        assert_eq!(
            fit.fitted(&name).unwrap().mean,
            joint.fitted(&name).unwrap().mean
        );
    }
}

#[test]
fn any_number_of_threads_settles_alike() {
    let tables = tables(false);
    let of = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().unwrap().install(|| {
            let fit = fitted(&tables, 3, Settle::Features);
            fit.predict(&sources(&tables, TRAIN..N), "t").unwrap().mean
        })
    };
    assert_eq!(of(1), of(3));
}

#[test]
fn what_cannot_be_settled_on_features_is_refused() {
    let tables = tables(false);
    let refused = |spec: ModelSpec, data: crate::Dataset| {
        let error = crate::Fitting::new(data, spec).err().expect("a refusal");
        assert!(
            matches!(error.kind(), ErrorKind::Incompatible { .. }),
            "{error}"
        );
        error.to_string()
    };
    let mut gibbs = spec(Settle::Features, "y");
    gibbs.engine = EngineKind::Gibbs;
    refused(gibbs, part(&tables, 2, 0..TRAIN));
    // classes leave no numbers
    let class = Table {
        values: Mat::from_fn(TRAIN, 1, |n, _| (n % 3) as f64),
        levels: vec!["a".into(), "b".into(), "c".into()],
        features: vec!["c".into()],
        ..some(&tables[1], 0..TRAIN)
    };
    let classes = spec(Settle::Features, "y").with_likelihood("u", "categorical");
    let said = refused(classes, data([class, some(&tables[2], 0..TRAIN)]));
    assert!(
        said.contains("features") && said.contains("settle = true"),
        "{said}"
    );
}

/// Chosen in folds: on features where the target hangs on what factors leave, and the joint fit where the other
/// views say nothing of it. What is chosen predicts as if it had been asked for, and what was measured is in the file.
#[test]
fn the_best_way_is_found_by_what_was_held_out() {
    let private = tables(false);
    let on_features = fitted(&private, 2, Settle::Features);
    let best = fitted(&private, 2, Settle::Best);
    assert_eq!(best.views()[2].choices.settle, Some(Settle::Features));
    let new = sources(&private, TRAIN..N);
    let [own, asked] = [&best, &on_features].map(|f| f.predict(&new, "y").unwrap());
    assert_eq!(own.mean, asked.mean);
    let said = chosen(&best);
    assert!(
        said.contains("as settled on features") && said.contains("160 cells"),
        "{said}"
    );
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("best.pv");
    best.save(&path, crate::Overwrite::Refuse).unwrap();
    assert_eq!(chosen(&Fit::load(&path).unwrap()), said);

    // a label that is a coin: what is not clearly better is not taken
    let mut idle = tables(false);
    let mut rng = StreamKey::new(77).rng();
    idle[3].values = Mat::from_fn(N, 1, |_, _| {
        f64::from(u8::from(standard_normal(&mut rng) > 0.0))
    });
    let joint = fitted(&idle, 3, Settle::Best);
    let way = joint.views()[2].choices.settle;
    let plain = fitted(&idle, 3, Settle::Not).predict(&new, "t").unwrap();
    assert_eq!(way, Some(Settle::Not), "{}", chosen(&joint));
    assert_eq!(joint.predict(&new, "t").unwrap().mean, plain.mean);
}

/// What was said of the choice.
fn chosen(fit: &Fit) -> String {
    let entries = &fit.record().journal.entries;
    let said = entries.iter().map(|e| e.event.to_string());
    said.filter(|s| s.contains("chosen by the mean log density"))
        .collect()
}

#[test]
fn too_few_samples_are_predicted_by_the_joint_fit() {
    let tables = tables(false);
    let fit = crate::fit(part(&tables, 2, 0..12), spec(Settle::Best, "y")).unwrap();
    assert_eq!(fit.views()[2].choices.settle, Some(Settle::Not));
    let mut entries = fit.record().journal.entries.iter();
    assert!(entries.any(|e| e.event.to_string().contains("too few to hold some out")));
}
