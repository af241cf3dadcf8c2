//! New samples taken into a model (spec/mlfs 8).

use polyview_core::{Centring, Dataset, FeatureScaling, State, Stateful, Table};
use polyview_linalg::Mat;
use polyview_random::{StreamKey, standard_normal, uniform_open01};

use super::counts::table;
use crate::verbs::update::stream::{BLOCK, Stream, blocks};
use crate::{
    EngineKind, ErrorKind, Fit, Fitting, ModelSpec, ProjectOptions, UpdateOptions, models,
};

const N: usize = 240;

/// Numbers with holes, numbers, and labels of three factors.
fn all(seed: u64) -> Vec<Table> {
    let mut rng = StreamKey::new(seed).rng();
    let z = Mat::from_fn(N, 3, |_, _| standard_normal(&mut rng));
    let mut of = |name: &str, columns: usize, labels: bool| {
        // each factor with a strength of its own, so that none can stand for another
        let w = Mat::from_fn(columns, 3, |_, k| {
            standard_normal(&mut rng) * [1.6, 1.0, 0.6][k]
        });
        let values = Mat::from_fn(N, columns, |n, d| {
            let eta: f64 = (0..3).map(|k| z[(n, k)] * w[(d, k)]).sum();
            let x = eta + 0.5 * standard_normal(&mut rng);
            match labels {
                true => f64::from(u8::from(x > 0.0)),
                false if name == "a" && uniform_open01(&mut rng) < 0.1 => f64::NAN,
                false => 5.0 + 3.0 * x,
            }
        });
        table(name, values)
    };
    vec![of("a", 14, false), of("b", 10, false), of("y", 3, true)]
}

/// Some rows of some views.
fn some(tables: &[Table], views: &[&str], rows: std::ops::Range<usize>) -> Dataset {
    let mut builder = Dataset::builder().new_samples();
    for t in tables.iter().filter(|t| views.contains(&t.name.as_str())) {
        builder = builder.view(Table {
            samples: t.samples[rows.clone()].to_vec(),
            values: t.values.subrows(rows.start, rows.len()).to_owned(),
            ..t.clone()
        });
    }
    builder.build().unwrap()
}

/// Two views of numbers in the units of the data, so that fits of other samples have the same.
fn plain(sweeps: usize) -> ModelSpec {
    let mut spec = models::bibfa(3);
    spec.defaults.centring = Centring::None;
    spec.defaults.scaling = FeatureScaling::None;
    spec.vb.max_sweeps = sweeps;
    (spec.vb.tolerance, spec.vb.movement) = (1e-12, 1e-7);
    spec
}

const REAL: [&str; 2] = ["a", "b"];

fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let mean = |x: &[f64]| x.iter().sum::<f64>() / x.len() as f64;
    let (ma, mb) = (mean(a), mean(b));
    let dot = |x: &[f64], mx: f64, y: &[f64], my: f64| -> f64 {
        x.iter().zip(y).map(|(x, y)| (x - mx) * (y - my)).sum()
    };
    dot(a, ma, b, mb) / (dot(a, ma, a, ma) * dot(b, mb, b, mb)).sqrt()
}

/// Of each factor of `a` the largest correlation that one of `b` has with it; the least of them.
fn agreement(a: &Fit, b: &Fit) -> f64 {
    let (a, b) = (a.factors().unwrap().mean, b.factors().unwrap().mean);
    let best = |j: usize| {
        let of = |l: usize| correlation(a.col_as_slice(j), b.col_as_slice(l)).abs();
        (0..b.ncols()).map(of).fold(0.0, f64::max)
    };
    (0..a.ncols()).map(best).fold(1.0, f64::min)
}

fn fitted(fit: &Fit, view: &str) -> Mat<f64> {
    fit.fitted(view).unwrap().mean
}

/// Root mean square of the difference of two matrices.
fn off(a: &Mat<f64>, b: &Mat<f64>) -> f64 {
    (a - b).norm_l2() / ((a.nrows() * a.ncols()) as f64).sqrt()
}

fn update(fit: &Fit, data: &Dataset, options: &UpdateOptions) -> Fit {
    fit.update(data, options).unwrap().fit
}

fn batches(batch: usize) -> UpdateOptions {
    UpdateOptions {
        batch,
        ..UpdateOptions::default()
    }
}

#[test]
fn one_pass_over_the_other_half_agrees_with_the_fit_of_all() {
    let data = all(1);
    let whole = crate::fit(some(&data, &REAL, 0..N), models::bibfa(3)).unwrap();
    let half = crate::fit(some(&data, &REAL, 0..N / 2), models::bibfa(3)).unwrap();
    for batch in [0, 10] {
        let found = half
            .update(&some(&data, &REAL, N / 2..N), &batches(batch))
            .unwrap();
        assert_eq!((found.taken, found.passes), (N / 2, 1));
        let updated = found.fit;
        assert_eq!(updated.samples(), whole.samples());
        let r = agreement(&whole, &updated);
        assert!(r > 0.99, "batches of {batch}: {r}");
        for view in REAL {
            let (mut a, mut b) = (fitted(&updated, view), fitted(&whole, view));
            // what both say of the numbers differs by less than a tenth of their noise of 1.5
            assert!(off(&a, &b) < 0.15, "{view}: {}", off(&a, &b));
            a.resize_with(N / 2, a.ncols(), |_, _| 0.0);
            b.resize_with(N / 2, b.ncols(), |_, _| 0.0);
            let before = off(&fitted(&half, view), &b);
            assert!(off(&a, &b) < before, "{view}: {} {before}", off(&a, &b));
        }
        let noise = |fit: &Fit| fit.component(0).unwrap().views[0].link_variance(0);
        let scale = |fit: &Fit| fit.views()[0].scaling.scale[0].powi(2);
        let ratio = noise(&updated) * scale(&updated) / (noise(&whole) * scale(&whole));
        assert!((ratio - 1.0).abs() < 0.1, "{ratio}");
        // the fit itself is as it was
        assert_eq!(half.samples().len(), N / 2);
    }
}

#[test]
fn passes_over_all_samples_end_where_the_fit_of_all_does() {
    let data = all(2);
    let whole = crate::fit(some(&data, &REAL, 0..N), plain(3000)).unwrap();
    let half = crate::fit(some(&data, &REAL, 0..N / 2), plain(3000)).unwrap();
    let options = UpdateOptions {
        passes: 8000,
        tolerance: 1e-7,
        refresh: true,
        ..UpdateOptions::default()
    };
    let found = half
        .update(&some(&data, &REAL, N / 2..N), &options)
        .unwrap();
    for view in REAL {
        let apart = off(&fitted(&found.fit, view), &fitted(&whole, view));
        // of numbers with a standard deviation of about 6
        assert!(
            apart < 2e-3,
            "{view}: {apart} after {} passes",
            found.passes
        );
    }
    // and one pass does not
    let once = update(
        &half,
        &some(&data, &REAL, N / 2..N),
        &UpdateOptions::default(),
    );
    assert!(off(&fitted(&once, "a"), &fitted(&whole, "a")) > 4e-3);
}

/// A stochastic fit's way: the data are not in the model, and sums stand for them.
fn without_data(fit: &Fit) -> Fit {
    let mut fit = fit.clone();
    fit.forget_data();
    fit
}

fn weights(fit: &Fit) -> Mat<f64> {
    fit.weights("a").unwrap().mean
}

#[test]
fn two_updates_are_one_where_sums_are_kept() {
    let data = all(3);
    let half = crate::fit(some(&data, &REAL, 0..120), models::bibfa(3)).unwrap();
    let half = without_data(&half);
    let at_once = update(&half, &some(&data, &REAL, 120..N), &batches(60));
    let first = update(&half, &some(&data, &REAL, 120..180), &batches(60));
    // from a file on
    let first = Fit::from_bytes(&first.to_bytes().unwrap()).unwrap();
    let twice = update(&first, &some(&data, &REAL, 180..N), &batches(60));
    assert_eq!(weights(&at_once), weights(&twice));
    let views = at_once.views().iter().zip(twice.views());
    assert!(views.into_iter().all(|(a, b)| a.observed == b.observed));
    // old factors stay, and a note says so
    let old = half.factors().unwrap().mean;
    let now = twice.factors().unwrap().mean;
    assert_eq!(now.subrows(0, 120).to_owned(), old);
    let found = half
        .update(&some(&data, &REAL, 120..N), &batches(60))
        .unwrap();
    assert!(
        found.notes.iter().any(|n| n.contains("stay as they were")),
        "{:?}",
        found.notes
    );
    // the order in which samples come hardly matters
    let other = update(&half, &some(&data, &REAL, 180..N), &batches(60));
    let other = update(&other, &some(&data, &REAL, 120..180), &batches(60));
    let apart = (weights(&other) - weights(&twice)).norm_l2() / weights(&twice).norm_l2();
    assert!(apart > 0.0 && apart < 0.02, "{apart}");
    // with the data the first sums are made again under better weights
    let with_data = crate::fit(some(&data, &REAL, 0..120), models::bibfa(3)).unwrap();
    let with_data = update(&with_data, &some(&data, &REAL, 120..180), &batches(60));
    let with_data = update(&with_data, &some(&data, &REAL, 180..N), &batches(60));
    let apart = (weights(&with_data) - weights(&twice)).norm_l2() / weights(&twice).norm_l2();
    assert!(apart > 0.0 && apart < 0.05, "{apart}");
    assert!(with_data.sums.is_none());
}

#[test]
fn sums_of_old_and_new_samples_are_those_of_all() {
    let data = all(4);
    let mut spec = models::sshiba(3).with_likelihood("y", "bernoulli");
    spec.vb.max_sweeps = 60;
    let fit = crate::fit(some(&data, &["a", "b", "y"], 0..N), spec).unwrap();
    let streaming = fit.streaming(0).unwrap();
    let mut stream = Stream {
        run: fit
            .stream(&streaming, fit.data().unwrap().to_vec())
            .unwrap(),
        old: 0..100,
        new: 100..N,
        options: UpdateOptions::default(),
    };
    let sums = |stream: &Stream| {
        let mut state = State::new();
        stream.run.sums().save("", &mut state);
        state
    };
    stream.gather(&blocks(0..N, BLOCK), Some(0.0)).unwrap();
    let together = sums(&stream);
    stream.gather(&blocks(0..100, 30), Some(0.0)).unwrap();
    stream.gather(&blocks(100..N, 7), None).unwrap();
    let apart = sums(&stream);
    for (name, a) in together.arrays() {
        let b = &apart.arrays()[name];
        for (x, y) in a.values.iter().zip(&b.values) {
            assert!((x - y).abs() < 1e-5 * (1.0 + x.abs()), "{name}: {x} {y}");
        }
    }
    // labels are numbers of cells, holes and all
    let counts = &together.arrays()["b/count"].values;
    assert!(counts.iter().all(|c| (c - N as f64).abs() < 1e-9));
    assert!(
        together.arrays()["a/count"]
            .values
            .iter()
            .all(|c| *c < N as f64)
    );
    assert!(together.arrays().contains_key("y/own"));
}

#[test]
fn predictions_improve_and_labels_may_be_absent() {
    let data = all(5);
    let mut spec = models::sshiba(3).with_likelihood("y", "bernoulli");
    spec.vb.max_sweeps = 200;
    let few = crate::fit(some(&data, &["a", "b", "y"], 0..30), spec.clone()).unwrap();
    let best = crate::fit(some(&data, &["a", "b", "y"], 0..140), spec).unwrap();
    let (test, truth) = (140..N, &data[1].values);
    let error = |fit: &Fit| {
        let found = fit
            .predict(&some(&data, &["a"], test.clone()), "b")
            .unwrap()
            .mean;
        off(&found, &truth.subrows(140, N - 140).to_owned())
    };
    let wrong = |fit: &Fit| {
        let found = fit
            .predict(&some(&data, &["a", "b"], test.clone()), "y")
            .unwrap()
            .mean;
        let of =
            |(n, d)| usize::from((found[(n, d)] > 0.5) != (data[2].values[(140 + n, d)] > 0.5));
        (0..N - 140)
            .flat_map(|n| (0..3).map(move |d| (n, d)))
            .map(of)
            .sum::<usize>()
    };
    let unlabelled = update(&few, &some(&data, &["a", "b"], 30..80), &batches(5));
    // more than half of what more data can give is got
    let gap = |fit: &Fit| (error(fit) - error(&best)) / (error(&few) - error(&best));
    assert!(error(&unlabelled) < error(&few), "{}", gap(&unlabelled));
    let labelled = update(
        &unlabelled,
        &some(&data, &["a", "b", "y"], 80..140),
        &batches(5),
    );
    assert!(gap(&labelled) < 0.5, "{}", gap(&labelled));
    assert!(
        wrong(&labelled) < wrong(&few),
        "{} {}",
        wrong(&labelled),
        wrong(&few)
    );
    let y = labelled.view("y").unwrap().1;
    assert_eq!(y.observed, 3 * (30 + 60));
    // every verb goes on: projected samples are the model's, and cells come back as they were
    let seen = some(&data, &["a", "b", "y"], 80..140);
    let projected = labelled
        .project(&seen, &ProjectOptions::default())
        .unwrap()
        .mean;
    let own = labelled.factors().unwrap().mean.subrows(80, 60).to_owned();
    assert!(off(&projected, &own) < 1e-5, "{}", off(&projected, &own));
    for (n, d) in [(3, 2), (70, 5), (130, 9)] {
        let given = Some(truth[(n, d)]);
        assert_eq!(labelled.observed("b", n, d).unwrap(), given);
    }
    let again = Fit::from_bytes(&labelled.to_bytes().unwrap()).unwrap();
    assert_eq!(
        again.factors().unwrap().mean,
        labelled.factors().unwrap().mean
    );
    labelled.explain().unwrap();
    labelled.impute("a", 0.9).unwrap();
}

#[test]
fn what_came_before_is_forgotten_at_the_rate() {
    let data = all(6);
    let fit = crate::fit(some(&data, &REAL, 0..100), models::bibfa(3)).unwrap();
    let options = UpdateOptions {
        forget: 0.02,
        batch: 10,
        ..UpdateOptions::default()
    };
    let updated = update(&fit, &some(&data, &REAL, 100..130), &options);
    let sums = updated.sums.as_ref().unwrap();
    let keep = 0.98_f64.powi(10);
    let expected = ((100.0 * keep + 10.0) * keep + 10.0) * keep + 10.0;
    for count in &sums.arrays()["b/count"].values {
        assert!((count - expected).abs() < 1e-9, "{count} {expected}");
    }
    // data that moved are followed sooner
    let mut moved = data.clone();
    for n in 130..N {
        for d in 0..10 {
            moved[1].values[(n, d)] += 20.0;
        }
    }
    let level = |fit: &Fit| {
        let bias = fit.component(0).unwrap().views[1].bias.mean()[0];
        fit.views()[1].scaling.backward(0, bias)
    };
    let new = some(&moved, &REAL, 130..N);
    let remembers = update(&fit, &new, &batches(10));
    let forgets = update(&fit, &new, &options);
    let levels = (level(&fit), level(&remembers), level(&forgets));
    assert!(levels.0 < levels.1 && levels.1 < levels.2, "{levels:?}");
}

#[test]
fn a_stochastic_fit_from_blocks_goes_on_from_its_sums() {
    let data = all(7);
    let mut spec = models::bibfa(3);
    spec.engine = EngineKind::Stochastic;
    (spec.stochastic.batch, spec.stochastic.exact_sweeps) = (40.0, 60);
    let start = some(&data, &REAL, 0..120);
    let names = start.samples().to_vec();
    let source = Box::new(start.views().to_vec());
    let fit = Fitting::from_blocks(source, names, spec)
        .unwrap()
        .to_the_end()
        .unwrap();
    assert!(fit.data().is_err() && fit.sums.is_some());
    let fit = Fit::from_bytes(&fit.to_bytes().unwrap()).unwrap();
    let whole = crate::fit(some(&data, &REAL, 0..N), models::bibfa(3)).unwrap();
    let updated = update(&fit, &some(&data, &REAL, 120..N), &batches(10));
    let r = agreement(&whole, &updated);
    assert!(r > 0.98, "{r}");
    // sums turn with their factors
    let turned = fit.varimax().unwrap();
    let turned = update(&turned, &some(&data, &REAL, 120..N), &batches(10));
    let apart = off(&fitted_rows(&turned), &fitted_rows(&updated));
    assert!(apart < 0.05, "{apart}");
}

/// Predictors of the second view, whatever the turn of the factors.
fn fitted_rows(fit: &Fit) -> Mat<f64> {
    fit.factors().unwrap().mean * fit.weights("b").unwrap().mean.transpose()
}

#[test]
fn what_cannot_be_taken_in_is_refused_with_the_reason() {
    let data = all(8);
    let fit = crate::fit(some(&data, &REAL, 0..60), plain(30)).unwrap();
    let new = some(&data, &REAL, 60..80);
    let refused =
        |fit: &Fit, data: &Dataset, options: &UpdateOptions| fit.update(data, options).unwrap_err();
    let usual = UpdateOptions::default();
    let twice = refused(&fit, &some(&data, &REAL, 50..80), &usual);
    assert!(
        matches!(twice.kind(), ErrorKind::KnownSamples { count: 10, .. }),
        "{twice}"
    );
    let mut strange = data.clone();
    strange[0].features[3] = "unheard".to_owned();
    let strange = refused(&fit, &some(&strange, &REAL, 60..80), &usual);
    assert!(strange.to_string().contains("'unheard'"), "{strange}");
    let mut empty = data.clone();
    for t in &mut empty {
        t.values.fill(f64::NAN);
    }
    let empty = Dataset::builder().new_samples().view(Table {
        samples: vec!["n".to_owned()],
        values: Mat::full(1, 14, f64::NAN),
        ..empty[0].clone()
    });
    if let Ok(empty) = empty.build() {
        let nothing = refused(&fit, &empty, &usual);
        assert!(matches!(nothing.kind(), ErrorKind::NothingNew), "{nothing}");
    }
    let unknown = refused(&fit, &some(&data, &["y"], 60..80), &usual);
    assert!(
        matches!(unknown.kind(), ErrorKind::UnknownView { .. }),
        "{unknown}"
    );
    for options in [
        UpdateOptions { passes: 0, ..usual },
        UpdateOptions {
            forget: 1.0,
            ..usual
        },
        UpdateOptions {
            forget: f64::NAN,
            ..usual
        },
        UpdateOptions {
            tolerance: 0.0,
            ..usual
        },
        UpdateOptions {
            refresh: true,
            ..usual
        },
        UpdateOptions {
            refresh: true,
            forget: 0.1,
            passes: 3,
            ..usual
        },
    ] {
        refused(&fit, &new, &options);
    }
    let again = UpdateOptions {
        refresh: true,
        passes: 3,
        ..usual
    };
    let no_data = refused(&without_data(&fit), &new, &again);
    assert!(matches!(no_data.kind(), ErrorKind::NoData), "{no_data}");
    // models without sums say why
    let says = |spec: ModelSpec, views: &[&str], says: &str| {
        let fit = crate::fit(some(&data, views, 0..60), spec).unwrap();
        let error = refused(&fit, &some(&data, views, 60..80), &usual);
        assert!(
            matches!(error.kind(), ErrorKind::NoUpdate { .. }),
            "{error}"
        );
        let text = error.to_string();
        assert!(
            text.contains(says) && text.contains("fit the old and the new samples together"),
            "{text}"
        );
    };
    let mut gibbs = plain(5);
    gibbs.engine = EngineKind::Gibbs;
    (gibbs.gibbs.warm_up, gibbs.gibbs.sweeps, gibbs.gibbs.thin) = (2, 4, 1);
    says(gibbs, &REAL, "draws");
    let mut censored = models::sshiba(2).with_likelihood("b", "censored");
    censored.vb.max_sweeps = 5;
    says(censored, &REAL, "view 'b' is censored");
    let mut mixed = models::bibfa(2).with_mixture(2);
    mixed.vb.max_sweeps = 5;
    says(mixed, &REAL, "mixture");
    // another engine is no mend of a model that was fitted by it
    let group = |n: usize| (format!("s{n}"), ["a", "b"][n % 2].to_owned());
    let mut builder = Dataset::builder().groups((0..60).map(group).collect());
    for t in &data[..2] {
        builder = builder.view(Table {
            samples: t.samples[..60].to_vec(),
            values: t.values.subrows(0, 60).to_owned(),
            ..t.clone()
        });
    }
    let mut grouped = models::mofa(2);
    grouped.vb.max_sweeps = 5;
    let fit = crate::fit(builder.build().unwrap(), grouped).unwrap();
    let text = refused(&fit, &some(&data, &REAL, 60..80), &usual).to_string();
    assert!(
        text.contains("noise and intercepts by group") && !text.contains("engine vb"),
        "{text}"
    );
}

/// Shares and regression stay, and a note says so; the joint fit goes on.
#[test]
fn a_mixture_stays_that_of_the_samples_before() {
    let tables = all(7);
    let mut spec = plain(40)
        .with_likelihood("y", "bernoulli")
        .with_settled("y", crate::Settle::Mixture);
    spec.vb.tolerance = 1e-7;
    let fit = crate::fit(some(&tables, &["a", "b", "y"], 0..160), spec).unwrap();
    let before = fit.shares_of(2).unwrap().expect("a mixture");
    let new = some(&tables, &["a", "b", "y"], 160..200);
    let updated = fit.update(&new, &UpdateOptions::default()).unwrap();
    let told = |n: &String| n.contains("view 'y' is predicted by a mixture");
    assert!(updated.notes.iter().any(told), "{:?}", updated.notes);
    assert_eq!(updated.fit.shares_of(2).unwrap(), Some(before));
    let rest = some(&tables, &["a", "b"], 200..N);
    let [old, new] = [&fit, &updated.fit].map(|f| f.predict(&rest, "y").unwrap().mean);
    assert!(super::gap(&old, &new) < 0.2 && old != new);
}
