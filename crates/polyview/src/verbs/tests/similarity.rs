//! Similarities of samples through every verb.

use polyview_core::{DataError, Dataset, Domain, Table};
use polyview_linalg::Mat;
use polyview_random::{StreamKey, standard_normal};

use super::gap;
use crate::verbs::cross_validate::{CrossValidateModel, CrossValidateOptions};
use crate::{
    CrossValidateScore as Score, EngineKind, ErrorKind, Fit, ModelSpec, ProjectOptions, hold_out,
    models,
};

/// Samples of training, new ones, and features of the view of numbers.
const N: usize = 70;
const NEW: usize = 20;
const D: usize = 8;

fn normal(rows: usize, columns: usize, seed: u64) -> Mat<f64> {
    let mut rng = StreamKey::new(seed).rng();
    Mat::from_fn(rows, columns, |_, _| standard_normal(&mut rng))
}

fn ids(range: std::ops::Range<usize>) -> Vec<String> {
    range.map(|n| format!("s{n}")).collect()
}

/// Numbers and similarities of three latent dimensions, both of the same two factors: of training, and of
/// new samples, which are compared with those of training alone; a share of the cells of the
/// former is missing.
fn simulated(seed: u64, missing: f64) -> (Dataset, Dataset) {
    let all = N + NEW;
    let (z, w, a) = (
        normal(all, 2, seed),
        normal(D, 2, seed + 1),
        normal(3, 2, seed + 2),
    );
    let x = &z * w.transpose() + normal(all, D, seed + 3) * polyview_linalg::faer::Scale(0.6);
    let u = &z * a.transpose() + normal(all, 3, seed + 4) * polyview_linalg::faer::Scale(0.4);
    let noise = normal(all, all, seed + 5);
    let hidden = normal(all, all, seed + 6);
    let alike = |n: usize, m: usize| {
        let (low, high) = (n.min(m), n.max(m));
        let dot: f64 = (0..3).map(|l| (u[(n, l)] + 0.5) * (u[(m, l)] + 0.5)).sum();
        let gone = polyview_special::normal_cdf(hidden[(n, m)]) < missing;
        if n == m || (gone && n < N) {
            f64::NAN
        } else {
            dot + 0.3 * noise[(low, high)]
        }
    };
    let part = |rows: std::ops::Range<usize>| {
        let table = |name: &str, features: Vec<String>, cell: &dyn Fn(usize, usize) -> f64| Table {
            name: name.to_owned(),
            samples: ids(rows.clone()),
            values: Mat::from_fn(rows.len(), features.len(), |n, d| cell(rows.start + n, d)),
            features,
            levels: Vec::new(),
        };
        let numbers = (0..D).map(|d| format!("x{d}")).collect();
        Dataset::builder()
            .view(table("x", numbers, &|n, d| x[(n, d)]))
            .view(table("alike", ids(0..N), &|n, m| alike(n, m)))
            .new_samples()
            .build()
            .unwrap()
    };
    (part(0..N), part(N..all))
}

fn spec(dimensions: usize) -> ModelSpec {
    let likelihood = format!("similarity{{dimensions={dimensions}}}");
    let mut spec = models::sshiba(4)
        .with_likelihood("alike", likelihood.parse::<crate::Likelihood>().unwrap());
    spec.vb.max_sweeps = 200;
    spec
}

fn fitted(data: &Dataset) -> Fit {
    crate::fit(data.clone(), spec(3)).unwrap()
}

/// R2 of predictions against truth, over cells that are known, by feature means of the truth.
fn r2(truth: &Dataset, view: &str, predicted: &Mat<f64>) -> f64 {
    let view = truth.view(view).unwrap();
    let (mut off, mut all) = (0.0, 0.0);
    for d in 0..view.n_features() {
        let cells: Vec<(usize, f64)> = (0..view.n_samples())
            .filter_map(|n| Some((n, view.value(n, d)?)))
            .collect();
        let mean = cells.iter().map(|c| c.1).sum::<f64>() / cells.len() as f64;
        for (n, x) in cells {
            off += (x - predicted[(n, d)]).powi(2);
            all += (x - mean).powi(2);
        }
    }
    1.0 - off / all
}

#[test]
fn the_bound_rises_and_hidden_pairs_are_found() {
    let (data, _) = simulated(1, 0.2);
    let hidden = hold_out(&data, 0.2, 3).unwrap();
    let view = hidden.data.view("alike").unwrap();
    for n in 0..N {
        for m in 0..n {
            let cells = [view.is_observed(n, m), view.is_observed(m, n)];
            let before = data.view("alike").unwrap();
            let before = [before.is_observed(n, m), before.is_observed(m, n)];
            // a pair is hidden whole
            assert!(cells == before || cells == [false, false]);
        }
    }
    let fit = fitted(&hidden.data);
    let bounds: Vec<f64> = fit.record().ledgers[0].totals().collect();
    let falls = |p: &[f64]| p[1] < p[0] - 1e-7 * p[0].abs();
    assert!(bounds.len() > 10 && !bounds.windows(2).any(falls));
    let scores = fit.held_out_score(&data).unwrap();
    let own = scores.iter().find(|s| s.view == "alike").unwrap();
    assert_eq!(own.kind, Domain::Similarities);
    assert!(own.cells > 300 && own.r2 > 0.9, "{} {}", own.cells, own.r2);
    assert!(
        own.coverage > 0.8 && own.coverage < 0.99,
        "{}",
        own.coverage
    );
    // holes are filled alike on both sides, what was seen stays
    let filled = fit.impute("alike", 0.9).unwrap().values;
    for n in 0..N {
        for m in 0..n {
            let (a, b) = (filled[(n, m)], filled[(m, n)]);
            assert!((a - b).abs() < 1e-3 * (1.0 + a.abs()), "{n} {m}: {a} {b}");
        }
    }
    let explained = fit.explain().unwrap();
    assert!(
        explained.total.iter().all(|t| *t > 0.5),
        "{:?}",
        explained.total
    );
    assert_eq!(fit.weight_rows("alike").unwrap()[2], "dimension 3");
    assert_eq!(fit.weights("alike").unwrap().mean.nrows(), 3);
}

/// Distances with a minus sign are similarities below zero: products of latent rows say a constant that is above, and what they count from is
/// the least of them. A constant more or less makes little difference.
#[test]
fn similarities_below_zero_are_found_too() {
    let (data, _) = simulated(1, 0.2);
    let moved = |by: f64| {
        let mut builder = Dataset::builder();
        for (view, by) in data.views().iter().zip([0.0, by]) {
            let value = |n: usize, d: usize| view.value(n, d).map_or(f64::NAN, |x| x + by);
            builder = builder.view(Table {
                name: view.name().to_owned(),
                samples: ids(0..N),
                features: view.features().to_vec(),
                levels: Vec::new(),
                values: Mat::from_fn(N, view.n_features(), value),
            });
        }
        let data = builder.build().unwrap();
        let fit = fitted(&hold_out(&data, 0.2, 3).unwrap().data);
        let scores = fit.held_out_score(&data).unwrap();
        let told = (fit.record().journal.entries.iter())
            .any(|e| e.to_string().contains("below zero on average"));
        let own = scores.iter().find(|s| s.view == "alike").unwrap();
        assert!(fit.explain().unwrap().total[1] > 0.5);
        (own.r2, told)
    };
    let ((plain, not_told), (below, told)) = (moved(0.0), moved(-20.0));
    assert!(told && !not_told);
    assert!(plain > 0.9 && below > plain - 0.05, "{plain} {below}");
}

/// New samples are placed by their similarities alone: their other view is predicted, and so are
/// their similarities from it.
#[test]
fn new_samples_are_known_by_similarities_alone() {
    let (data, new) = simulated(1, 0.2);
    let fit = fitted(&data);
    let alone = new.with_views(&["alike"]).unwrap();
    let x = fit.predict(&alone, "x").unwrap();
    assert!(r2(&new, "x", &x.mean) > 0.6, "{}", r2(&new, "x", &x.mean));
    let numbers = new.with_views(&["x"]).unwrap();
    let alike = fit.predict(&numbers, "alike").unwrap();
    assert_eq!(alike.features, data.samples());
    let from_numbers = r2(&new, "alike", &alike.mean);
    assert!(from_numbers > 0.4, "{from_numbers}");
    // a few similarities of a sample say more of the others than its numbers do
    let view = new.view("alike").unwrap();
    let few = new.with_view(view.hiding(|_, m| m % 2 == 1)).unwrap();
    let filled = fit.impute_data(&few, "alike", 0.9).unwrap();
    let rest = new.with_view(view.hiding(|_, m| m % 2 == 0)).unwrap();
    let left = |predicted: &Mat<f64>| 1.0 - r2(&rest, "alike", predicted);
    let (own, numbers) = (left(&filled.values), left(&alike.mean));
    assert!(own < numbers / 3.0, "{own} {numbers}");
    // both forms of new samples
    let mut two = spec(3);
    two = two.with_likelihood(
        "alike",
        "similarity{dimensions=3,new-samples=two-stage}"
            .parse::<crate::Likelihood>()
            .unwrap(),
    );
    let two = crate::fit(data.clone(), two).unwrap();
    let options = ProjectOptions::default();
    let [exact, printed] = [&fit, &two].map(|f| f.project(&alone, &options).unwrap());
    assert!(gap(&exact.mean, &printed.mean) < 0.05);
    assert!((0..NEW).all(|n| printed.sd[(n, 0)] < exact.sd[(n, 0)]));
}

/// A sample of training is placed near its own factors, by its similarities to the others; what it is
/// to itself does not count.
#[test]
fn training_samples_come_out_near_their_own_factors() {
    let (data, _) = simulated(2, 0.1);
    let fit = fitted(&data);
    let found = fit.project(&data, &ProjectOptions::default()).unwrap();
    let own = fit.factors().unwrap().mean;
    let largest = (0..own.ncols())
        .flat_map(|j| own.col_as_slice(j).iter())
        .fold(0.0_f64, |m, x| m.max(x.abs()));
    assert!(
        gap(&found.mean, &own) < 0.05 * largest,
        "{}",
        gap(&found.mean, &own)
    );
    let view = data.view("alike").unwrap();
    let values = Mat::from_fn(N, N, |n, m| {
        if n == m {
            1e3
        } else {
            view.value(n, m).unwrap_or(f64::NAN)
        }
    });
    let with_own = polyview_core::View::from_values("alike", ids(0..N), values).unwrap();
    let with_own = data.with_view(with_own).unwrap();
    let again = fit.project(&with_own, &ProjectOptions::default()).unwrap();
    assert_eq!(gap(&found.mean, &again.mean), 0.0);
}

#[test]
fn fits_are_saved_and_drawn() {
    let (data, new) = simulated(3, 0.1);
    let fit = fitted(&data);
    let again = Fit::from_bytes(&fit.to_bytes().unwrap()).unwrap();
    for target in ["x", "alike"] {
        let other = if target == "x" { "alike" } else { "x" };
        let from = new.with_views(&[other]).unwrap();
        let [a, b] = [&fit, &again].map(|f| f.predict(&from, target).unwrap());
        assert_eq!(gap(&a.mean, &b.mean), 0.0);
        assert_eq!(gap(&a.sd, &b.sd), 0.0);
    }
    let mut spec = spec(3);
    spec.engine = EngineKind::Gibbs;
    (spec.gibbs.chains, spec.gibbs.warm_up, spec.gibbs.sweeps) = (2, 100, 200);
    spec.gibbs.thin = 10;
    let hidden = hold_out(&data, 0.2, 3).unwrap();
    let drawn = crate::fit(hidden.data, spec).unwrap();
    let scores = drawn.held_out_score(&data).unwrap();
    let own = scores.iter().find(|s| s.view == "alike").unwrap();
    assert!(
        own.r2 > 0.9 && own.coverage > 0.8,
        "{} {}",
        own.r2,
        own.coverage
    );
}

#[test]
fn folds_compare_with_samples_of_training_alone() {
    let (data, _) = simulated(4, 0.0);
    let mut spec = spec(3);
    spec.vb.max_sweeps = 30;
    let model = CrossValidateModel::new("m", spec);
    let options = CrossValidateOptions {
        targets: vec!["x".to_owned()],
        folds: 3,
        repeats: 1,
        ..CrossValidateOptions::default()
    };
    let found =
        crate::cross_validate(&data, std::slice::from_ref(&model), &options, &|_| {}).unwrap();
    let own = |s: &&crate::CrossValidateSummary| s.method == "m" && s.score == Score::R2;
    let r2 = found.summary.iter().find(own);
    assert!(r2.unwrap().mean > 0.5, "{r2:?}");
    let of_similarities = CrossValidateOptions {
        targets: vec!["alike".to_owned()],
        ..options
    };
    let refused = crate::cross_validate(&data, &[model], &of_similarities, &|_| {});
    let said = refused.err().unwrap().to_string();
    assert!(said.contains("leave --target out"), "{said}");
}

#[test]
fn what_are_no_similarities_is_refused_with_the_mend() {
    let (data, _) = simulated(5, 0.0);
    let view = data.view("alike").unwrap();
    let told = |features: Vec<String>, cell: &dyn Fn(usize, usize) -> f64, dimensions: usize| {
        let values = Mat::from_fn(N, features.len(), cell);
        let other = polyview_core::View::from_values("alike", features, values).unwrap();
        let data = data.with_view(other).unwrap();
        let error = crate::fit(data, spec(dimensions)).err().unwrap();
        let source = match error.kind() {
            ErrorKind::Data(e) => e.clone(),
            other => panic!("{other:?}"),
        };
        (source, error.to_string())
    };
    let value = |n: usize, m: usize| view.value(n, m).unwrap_or(f64::NAN);
    let (e, _) = told(
        ids(0..N),
        &|n, m| value(n, m) + if n > m { 0.1 } else { 0.0 },
        3,
    );
    assert!(matches!(e, DataError::Asymmetric { .. }), "{e}");
    let (e, said) = told(ids(1..N + 1), &|n, m| value(n, m % N), 3);
    assert!(matches!(e, DataError::ForeignFeature { .. }), "{e}");
    assert!(
        said.contains("'s70'") && said.contains("remove it"),
        "{said}"
    );
    let (e, _) = told(ids(0..N), &|n, m| -value(n, m), 3);
    assert!(matches!(e, DataError::NegativeDefinite { .. }), "{e}");
    let distance = |n: usize, m: usize| {
        if n == m {
            0.0
        } else {
            (n as f64 - m as f64).abs()
        }
    };
    let (e, said) = told(ids(0..N), &distance, 3);
    assert!(matches!(e, DataError::NegativeDefinite { .. }), "{e}");
    assert!(said.contains("exp(-d^2"), "{said}");
    let (e, said) = told(ids(0..N), &value, 100);
    assert!(matches!(e, DataError::TooManyDimensions { .. }), "{e}");
    assert!(said.contains("dimensions=69"), "{said}");
    let mut stochastic = spec(3);
    stochastic.engine = EngineKind::Stochastic;
    let said = crate::fit(data.clone(), stochastic)
        .err()
        .unwrap()
        .to_string();
    assert!(said.contains("compares all samples"), "{said}");
}

/// The share of the similarities that factors explain, by the definition: of pairs in training, in a
/// group of it and of new samples.
#[test]
fn shares_of_similarities_are_those_of_pairs() {
    let (data, new) = simulated(1, 0.2);
    let fit = fitted(&data);
    let at = 1;
    let component = fit.component(0).unwrap();
    let weights = fit.weights("alike").unwrap().mean;
    let bias = component.views[at].bias.mean().to_vec();
    let rows = |z: &Mat<f64>| {
        let product = z * weights.transpose();
        Mat::from_fn(z.nrows(), 3, |n, l| product[(n, l)] + bias[l])
    };
    let share = |table: &Dataset, own: &Mat<f64>, others: &Mat<f64>, once: bool| {
        let view = table.view("alike").unwrap();
        let mut pairs = Vec::new();
        for n in 0..own.nrows() {
            for m in 0..if once { n } else { N } {
                let alike: f64 = (0..3).map(|l| own[(n, l)] * others[(m, l)]).sum();
                let cell = view.value(n, m).or_else(|| once.then(|| view.value(m, n))?);
                pairs.extend(cell.map(|s| (s, alike)));
            }
        }
        let mean = pairs.iter().map(|p| p.0).sum::<f64>() / pairs.len() as f64;
        let of = |f: &dyn Fn(&(f64, f64)) -> f64| pairs.iter().map(|p| f(p).powi(2)).sum::<f64>();
        1.0 - of(&|p| p.0 - p.1) / of(&|p| p.0 - mean)
    };
    let training = rows(&component.factors().mean().to_owned());
    let found = fit.explain().unwrap();
    assert!(found.similarities[0].is_nan() && found.deviance[at].is_nan());
    let own = share(&data, &training, &training, true);
    assert!(own > 0.5 && own < 1.0, "{own}");
    assert!(
        (found.similarities[at] - own).abs() < 1e-10,
        "{own} {:?}",
        found.similarities
    );
    let z = fit.project(&new, &ProjectOptions::default()).unwrap();
    let arrived = share(&new, &rows(&z.mean), &training, false);
    let found = fit.explain_on(&new).unwrap();
    assert!(
        (found.similarities[at] - arrived).abs() < 1e-10,
        "{arrived} {:?}",
        found.similarities
    );
    assert!(arrived > 0.5, "{arrived}");
}

/// Rows that follow no factor explain nothing: the share is about zero, whatever the rows themselves say.
#[test]
fn noise_is_no_share_of_similarities() {
    let noise = normal(N, N, 4);
    let table = Table {
        name: "alike".into(),
        samples: ids(0..N),
        values: Mat::from_fn(N, N, |n, m| {
            if n == m {
                f64::NAN
            } else {
                3.0 + noise[(n.min(m), n.max(m))]
            }
        }),
        features: ids(0..N),
        levels: Vec::new(),
    };
    let data = Dataset::builder().view(table).build().unwrap();
    let mut spec = models::sshiba(1).with_likelihood(
        "alike",
        "similarity{dimensions=2}"
            .parse::<crate::Likelihood>()
            .unwrap(),
    );
    spec.vb.max_sweeps = 100;
    let found = crate::fit(data, spec).unwrap().explain().unwrap();
    assert!(
        found.similarities[0].abs() < 0.15,
        "{:?}",
        found.similarities
    );
}
