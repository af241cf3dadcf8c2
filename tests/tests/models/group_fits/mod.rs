//! Whole fits of data in groups of samples.

mod files;
mod number_of_factors;

use polyview::{
    EngineKind, ErrorKind, Fit, Fitting, GroupChoices, ModelSpec, ProjectOptions, models,
};
use polyview_core::{DataError, Dataset, RowGroups, Table, Values, View, ViewTerm};
use polyview_likelihoods::{Gaussian, GaussianOptions, GroupNoise, Grouped};
use polyview_linalg::{Mat, Threads};
use polyview_random::{StreamKey, standard_normal, uniform_open01};
use polyview_special::sigmoid;
use polyview_tests::normal;

const N: usize = 90;
const NAMES: [&str; 3] = ["liver", "kidney", "brain"];

/// Group of a sample: they take turns.
fn group(n: usize) -> usize {
    (n * n) % 3 % 2 + usize::from(n.is_multiple_of(5))
}

fn table(name: &str, values: Mat<f64>) -> Table {
    Table {
        name: name.into(),
        samples: (0..values.nrows()).map(|n| format!("s{n}")).collect(),
        features: (0..values.ncols()).map(|d| format!("{name}{d}")).collect(),
        values,
        levels: Vec::new(),
    }
}

fn named(names: &[&str], samples: usize) -> Vec<(String, String)> {
    (0..samples)
        .map(|n| (format!("s{n}"), names[group(n) % names.len()].to_owned()))
        .collect()
}

/// Two factors, the second in the first group alone; groups differ in level and
/// noise; a view of numbers and one of labels.
fn data(names: &[&str]) -> Dataset {
    let mut rng = StreamKey::new(11).rng();
    let mut z = normal(N, 2, &mut rng);
    for n in 0..N {
        if group(n) != 0 {
            z[(n, 1)] = 0.0;
        }
    }
    let (a, b) = (normal(12, 2, &mut rng), normal(8, 2, &mut rng));
    let (x, y) = (&z * a.transpose(), &z * b.transpose());
    let x = Mat::from_fn(N, 12, |n, d| {
        let (g, noise) = (group(n) as f64, standard_normal(&mut rng));
        x[(n, d)] + 2.0 * g + (0.3 + 0.3 * g) * noise
    });
    let y = Mat::from_fn(N, 8, |n, d| {
        f64::from(u8::from(
            uniform_open01(&mut rng) < sigmoid(2.0 * y[(n, d)]),
        ))
    });
    let mut builder = Dataset::builder().view(table("x", x)).view(table("y", y));
    if !names.is_empty() {
        builder = builder.groups(named(names, N));
    }
    builder.build().expect("data")
}

fn spec(noise: bool, intercepts: bool, factor_prior: &str) -> ModelSpec {
    let mut spec = models::sshiba(4).with_likelihood("y", "bernoulli");
    spec.groups = GroupChoices { noise, intercepts };
    spec.factor_prior = factor_prior.into();
    spec.vb.max_sweeps = 150;
    spec
}

fn fit(names: &[&str], spec: ModelSpec) -> Fit {
    polyview::fit(data(names), spec).expect("a fit")
}

/// Everything of its own, and a factor prior.
fn full() -> ModelSpec {
    spec(true, true, "ard")
}

#[test]
fn one_group_is_no_groups() {
    for prior in ["ard", "spike-and-slab"] {
        let none = fit(&[], spec(true, true, prior));
        let one = fit(&["all"], spec(true, true, prior));
        assert_eq!(none.record().bound, one.record().bound);
        let (a, b) = (none.factors().expect("z"), one.factors().expect("z"));
        assert_eq!(a.mean, b.mean);
    }
}

#[test]
fn noise_of_a_group_is_its_own_only_where_asked_for() {
    let ratio = |noise| {
        let fit = fit(&NAMES, spec(noise, true, "standard-normal"));
        let sd = fit.fitted("x").expect("predictions").sd;
        let of = |g: usize| {
            let rows: Vec<usize> = (0..N).filter(|&n| group(n) == g).collect();
            let sum: f64 = rows.iter().map(|&n| sd[(n, 0)] + sd[(n, 5)]).sum();
            sum / rows.len() as f64
        };
        of(1) / of(0)
    };
    // 0.6 against 0.3
    let (own, shared) = (ratio(true), ratio(false));
    assert!(own > 1.4 && shared < 1.2, "{own} {shared}");
}

#[test]
fn a_factor_of_one_group_is_found_there() {
    for prior in ["ard", "spike-and-slab"] {
        let mut spec = spec(true, true, prior);
        // sparse factors are not rotated: a start can be that of a lower bound
        spec.restarts = 4;
        let fit = fit(&NAMES, spec);
        let activity = fit.group_activity().expect("activity");
        let first = activity
            .groups
            .iter()
            .position(|g| g == "liver")
            .expect("it");
        let relative = activity.relative();
        let only_there = (0..fit.k()).any(|k| {
            (0..activity.groups.len()).all(|g| {
                if g == first {
                    relative[(g, k)] == 1.0
                } else {
                    relative[(g, k)] < 0.1
                }
            })
        });
        assert!(only_there, "{prior:?}: {relative:?}");
        let learnt = activity.prior_variance.expect("learnt scales");
        assert_eq!((learnt.nrows(), learnt.ncols()), (3, fit.k()));
    }
}

/// A training sample, projected in its group, gets its own posterior.
#[test]
fn projecting_training_samples_gives_their_posterior() {
    for prior in ["standard-normal", "ard"] {
        let fit = fit(&NAMES, spec(true, true, prior));
        let data = data(&NAMES);
        let found = fit
            .project(&data, &ProjectOptions::default())
            .expect("factors");
        let own = fit.factors().expect("factors");
        let gap = (&found.mean - &own.mean).norm_max();
        assert!(gap < 2e-2, "{prior:?}: {gap}");
        assert!(found.notes.is_empty(), "{:?}", found.notes);
    }
}

#[test]
fn new_samples_are_matched_by_the_names_of_groups() {
    let fit = fit(&NAMES, full());
    let whole = fit.predict(&data(&NAMES), "x").expect("a prediction");
    // the same labels, said to be of another group
    let moved = data(&["kidney", "brain", "liver"]);
    let other = fit.predict(&moved, "x").expect("a prediction");
    let mean = |p: &polyview::Prediction| p.mean.col(0).iter().sum::<f64>() / N as f64;
    assert!((mean(&whole) - mean(&other)).abs() > 0.1);
    // no groups: between the groups' answers, less sure, and said
    let none = fit.predict(&data(&[]), "x").expect("a prediction");
    assert!(
        none.notes.iter().any(|n| n.contains("no groups")),
        "{:?}",
        none.notes
    );
    assert!(none.sd[(0, 0)] > whole.sd[(0, 0)]);
    let strange = data(&["liver", "spleen", "brain"]);
    let error = fit.predict(&strange, "x").expect_err("an unknown group");
    let ErrorKind::UnknownGroup { group, known } = error.kind() else {
        panic!("{error}");
    };
    assert_eq!((group.as_str(), known.len()), ("spleen", 3));
    assert!(fit.project(&strange, &ProjectOptions::default()).is_err());
}

#[test]
fn gibbs_works_in_groups() {
    for prior in ["ard", "spike-and-slab"] {
        let mut spec = spec(true, true, prior);
        spec.engine = EngineKind::Gibbs;
        (spec.gibbs.warm_up, spec.gibbs.sweeps, spec.gibbs.thin) = (20, 20, 10);
        let fit = fit(&NAMES, spec);
        assert_eq!(fit.n_components(), 4);
        let found = fit
            .project(&data(&NAMES), &ProjectOptions::default())
            .expect("factors");
        assert!(found.mean.is_all_finite());
        assert!(
            fit.group_activity()
                .expect("activity")
                .mean_square
                .is_all_finite()
        );
    }
}

#[test]
fn groups_of_one_sample_are_refused_where_they_have_something_of_their_own() {
    let mut pairs = named(&NAMES, N);
    pairs[7].1 = "lone".to_owned();
    let base = data(&[]);
    let tables = base
        .views()
        .iter()
        .map(|v| table(v.name(), v.to_values_with_nan()));
    let lone = tables
        .fold(Dataset::builder(), polyview_core::DatasetBuilder::view)
        .groups(pairs)
        .build()
        .expect("data");
    let error = polyview::fit(lone.clone(), full()).expect_err("one sample");
    assert!(matches!(error.kind(), ErrorKind::SmallGroup { group } if group == "lone"));
    let mut shared = spec(false, false, "ard");
    shared.vb.max_sweeps = 5;
    assert!(polyview::fit(lone, shared).is_ok());
}

#[test]
fn constant_features_of_a_group_are_noted() {
    let base = data(&NAMES);
    let view = base.view("x").expect("x");
    let flat = Mat::from_fn(N, 12, |n, d| {
        if d == 3 && group(n) == 1 {
            4.0
        } else {
            view.value(n, d).unwrap_or(f64::NAN)
        }
    });
    let changed = base.with_view(view.with_values(flat).expect("values"));
    let mut spec = full();
    spec.vb.max_sweeps = 30;
    let fit = polyview::fit(changed.expect("data"), spec).expect("a fit");
    let journal = fit.record().journal.entries.iter().map(ToString::to_string);
    let noted = journal
        .filter(|e| e.contains("within group 'kidney'"))
        .count();
    assert_eq!(noted, 1);
    assert!(fit.factors().expect("factors").mean.is_all_finite());
}

/// Levels far apart are nothing to start from where groups have intercepts of
/// their own: the fit need not unlearn them.
#[test]
fn factors_start_from_what_groups_do_not_explain() {
    let base = data(&NAMES);
    let view = base.view("x").expect("x");
    let far = Mat::from_fn(N, 12, |n, d| {
        let level = [0.0, 15.0, -10.0][group(n)] * f64::from(d as u32 % 4);
        view.value(n, d).unwrap_or(f64::NAN) + level
    });
    let data = base.with_view(view.with_values(far).expect("values"));
    let data = data.expect("data");
    let bounds = |start: Option<Mat<f64>>, noise_first: bool| {
        let mut spec = full();
        (spec.factors, spec.vb.noise_first) = (2, noise_first);
        let mut fitting = Fitting::new(data.clone(), spec).expect("a fit");
        if let Some(z) = start {
            fitting.start_from(z).expect("a start");
        }
        (0..100)
            .map(|_| fitting.step().expect("a sweep").objective)
            .collect::<Vec<f64>>()
    };
    // without intercepts by group a start sees the levels
    let mut shared = spec(true, false, "ard");
    shared.factors = 2;
    let levels = Fitting::new(data.clone(), shared).expect("a fit");
    // levels are unlearnt sooner where noise comes down first
    for (noise_first, behind) in [(false, &[5, 20, 100][..]), (true, &[5])] {
        let own = bounds(None, noise_first);
        let all = bounds(Some(levels.starting_factors().to_owned()), noise_first);
        for &sweeps in behind {
            let (own, all) = (own[sweeps - 1], all[sweeps - 1]);
            assert!(own > all + 50.0, "{noise_first}, {sweeps}: {own} {all}");
        }
        // after few sweeps most of the way is behind
        assert!(own[19] > own[99] - 5.0, "{} {}", own[19], own[99]);
    }
}

/// Many samples in turns of two groups: numbers with holes, labels and counts.
fn large() -> Dataset {
    let (samples, mut rng) = (1300, StreamKey::new(3).rng());
    let z = normal(samples, 3, &mut rng);
    let mut eta = |columns: usize| &z * normal(columns, 3, &mut rng).transpose();
    let (x, y, c) = (eta(40), eta(15), eta(15));
    let holes = |n: usize, d: usize| (7 * n + 3 * d).is_multiple_of(11);
    let x = Mat::from_fn(samples, 40, |n, d| {
        if holes(n, d) {
            f64::NAN
        } else {
            x[(n, d)] + 2.0 * group(n) as f64 + 0.5 * ((n * 31 + d * 17) % 13) as f64
        }
    });
    let y = Mat::from_fn(samples, 15, |n, d| f64::from(u8::from(y[(n, d)] > 0.3)));
    let c = Mat::from_fn(samples, 15, |n, d| c[(n, d)].min(3.0).exp().floor());
    Dataset::builder()
        .view(table("x", x))
        .view(table("y", y))
        .view(table("c", c))
        .groups(named(&["a", "b"], samples))
        .build()
        .expect("data")
}

#[test]
fn bits_of_groups_do_not_depend_on_threads() {
    let data = large();
    for (i, prior) in ["standard-normal", "ard", "spike-and-slab"]
        .into_iter()
        .enumerate()
    {
        for engine in [EngineKind::Vb, EngineKind::Gibbs] {
            let mut spec = spec(i != 1, true, prior).with_likelihood("c", "negative-binomial");
            spec.engine = engine;
            spec.vb.max_sweeps = 4;
            (spec.gibbs.chains, spec.gibbs.warm_up) = (1, 1);
            (spec.gibbs.sweeps, spec.gibbs.thin) = (2, 1);
            let fits = [1, 2, 3].map(|threads| {
                let pool = Threads::new(threads).expect("a pool");
                pool.install(|| polyview::fit(data.clone(), spec.clone()).expect("a fit"))
            });
            let bits = |fit: &Fit| -> Vec<u64> {
                let mut out = Vec::new();
                let mut add = |m: &Mat<f64>| {
                    out.extend(
                        (0..m.ncols())
                            .flat_map(|j| m.col_as_slice(j))
                            .map(|x| x.to_bits()),
                    );
                };
                let z = fit.factors().expect("factors");
                add(&z.mean);
                add(&z.sd);
                for v in ["x", "y", "c"] {
                    let w = fit.weights(v).expect("weights");
                    add(&w.mean);
                    add(&w.sd);
                    let p = fit.fitted(v).expect("predictions");
                    add(&p.mean);
                    add(&p.sd);
                }
                let bounds = fit
                    .record()
                    .ledgers
                    .iter()
                    .flat_map(|l| l.totals().collect::<Vec<_>>());
                out.extend(bounds.map(f64::to_bits));
                out
            };
            let first = bits(&fits[0]);
            for other in &fits[1..] {
                assert!(first == bits(other), "{prior:?} {engine:?}");
            }
        }
    }
}

/// The data with the samples of each group next to each other.
fn sorted(data: &Dataset) -> Dataset {
    let mut order: Vec<usize> = (0..N).collect();
    order.sort_by_key(|&n| group(n));
    let mut builder = Dataset::builder().groups(named(&NAMES, N));
    for v in data.views() {
        let x = v.to_values_with_nan();
        let mut table = table(
            v.name(),
            Mat::from_fn(N, x.ncols(), |n, d| x[(order[n], d)]),
        );
        table.samples = order.iter().map(|n| format!("s{n}")).collect();
        builder = builder.view(table);
    }
    builder.build().expect("data")
}

/// Groups whose samples follow one another look at ranges of the data, others at
/// copies; the fit is the same.
#[test]
fn the_order_of_samples_does_not_matter() {
    let data = data(&NAMES);
    let sorted = sorted(&data);
    let mut spec = full();
    spec.vb.max_sweeps = 25;
    let [a, b] = [&data, &sorted].map(|d| polyview::fit(d.clone(), spec.clone()).expect("a fit"));
    let bounds = |fit: &Fit| fit.record().ledgers[0].totals().collect::<Vec<f64>>();
    for (x, y) in bounds(&a).into_iter().zip(bounds(&b)) {
        assert!((x - y).abs() < 1e-7 * x.abs(), "{x} {y}");
    }
    // the fit's data and those of its terms are the same memory
    let values = |v: &View| match v.stored() {
        Values::Dense(x) => x.clone(),
        Values::Sparse(_) => panic!("dense data"),
    };
    for (data, shared) in [(&sorted, true), (&data, false)] {
        let view = &data.views()[0];
        let groups = RowGroups::from(data.groups().expect("groups"));
        let all = values(view);
        let term = Grouped::new(
            view,
            groups,
            GroupNoise::Own,
            |g| format!("group {g}"),
            |v| {
                assert_eq!(values(&v).shares_with(&all), shared);
                let term = Gaussian::new(v, GaussianOptions::default());
                let Values::Dense(own) = term.values() else {
                    panic!("dense data");
                };
                assert_eq!(own.shares_with(&all), shared);
                Ok::<_, DataError>(Box::new(term) as Box<dyn ViewTerm>)
            },
        );
        assert_eq!(term.expect("a term").shape().samples, N);
    }
}
