//! Real, binary and categorical views together.

use polyview_core::{DataError, Dataset, Domain, Table, UnknownClass};
use polyview_linalg::{Mat, times_small};
use polyview_random::{ChaCha8Rng, StreamKey, standard_normal, uniform_open01};

use super::{gap, rows, table};
use crate::spec::{EngineKind, GibbsOptions, Intercepts};
use crate::{ErrorKind, Fit, ModelSpec, ProjectOptions, hold_out, models};

const CLASSES: [&str; 3] = ["low", "middle", "high"];

fn normal(rows: usize, columns: usize, rng: &mut ChaCha8Rng) -> Mat<f64> {
    Mat::from_fn(rows, columns, |_, _| standard_normal(rng))
}

/// Two factors; twelve real features, four labels, one class of three.
pub(super) fn mixed(samples: usize, seed: u64) -> Dataset {
    let key = StreamKey::new(seed);
    let mut rng = key.rng();
    let z = normal(samples, 2, &mut rng);
    // loadings are the same for every seed
    let mut of_model = StreamKey::new(99).rng();
    let eta = |d: usize, scale: f64, rng: &mut ChaCha8Rng| {
        let w = normal(2, d, rng);
        times_small(z.as_ref(), w.as_ref()) * scale
    };
    let real = eta(12, 1.0, &mut of_model);
    let labels = eta(4, 2.0, &mut of_model);
    let scores = eta(3, 2.0, &mut of_model);
    let real = Mat::from_fn(samples, 12, |n, d| {
        5.0 + real[(n, d)] + 0.5 * standard_normal(&mut rng)
    });
    let labels = Mat::from_fn(samples, 4, |n, d| {
        let p = 1.0 / (1.0 + (-labels[(n, d)]).exp());
        f64::from(u8::from(uniform_open01(&mut rng) < p))
    });
    let classes = Mat::from_fn(samples, 1, |n, _| {
        let noisy: Vec<f64> = (0..3)
            .map(|c| scores[(n, c)] + standard_normal(&mut rng))
            .collect();
        (1..3).fold(0, |b, c| if noisy[c] > noisy[b] { c } else { b }) as f64
    });
    let table = |name: &str, values: Mat<f64>, levels: Vec<String>| Table {
        name: name.into(),
        samples: (0..samples).map(|n| format!("{seed}-{n}")).collect(),
        features: (0..values.ncols()).map(|d| format!("{name}{d}")).collect(),
        values,
        levels,
    };
    Dataset::builder()
        .view(table("real", real, Vec::new()))
        .view(table("labels", labels, Vec::new()))
        .view(table("class", classes, CLASSES.map(str::to_owned).to_vec()))
        .build()
        .unwrap()
}

pub(super) fn spec() -> ModelSpec {
    models::sshiba(3)
        .with_likelihood("labels", "bernoulli")
        .with_likelihood("class", "categorical")
}

fn sampled() -> ModelSpec {
    ModelSpec {
        engine: EngineKind::Gibbs,
        gibbs: GibbsOptions {
            chains: 2,
            warm_up: 100,
            sweeps: 200,
            thin: 10,
            ..GibbsOptions::default()
        },
        ..spec()
    }
}

pub(super) fn without(data: &Dataset, keep: &[&str]) -> Dataset {
    let mut builder = Dataset::builder();
    for name in keep {
        let v = data.view(name).unwrap();
        builder = builder.view(Table {
            name: (*name).to_owned(),
            samples: data.samples().to_vec(),
            features: v.features().to_vec(),
            levels: v.levels().to_vec(),
            values: v.to_values_with_nan(),
        });
    }
    builder.build().unwrap()
}

fn auc_of_labels(fit: &Fit, data: &Dataset) -> f64 {
    let p = fit.predict(&without(data, &["real"]), "labels").unwrap();
    assert_eq!(p.mean.ncols(), 4);
    let truth = data.view("labels").unwrap();
    let mut sum = 0.0;
    for d in 0..4 {
        let labels: Vec<bool> = (0..data.n_samples())
            .map(|n| truth.value(n, d) == Some(1.0))
            .collect();
        let scores: Vec<f64> = (0..data.n_samples()).map(|n| p.mean[(n, d)]).collect();
        sum += crate::metrics::auc(&labels, &scores).unwrap().unwrap() / 4.0;
    }
    sum
}

/// What is asked of a likelihood before there are data is what its term says.
#[test]
fn likelihoods_and_their_terms_agree() {
    let data = mixed(20, 14);
    for (view, likelihood, kind, variance) in [
        ("real", "gaussian", Domain::Reals, None),
        (
            "labels",
            "bernoulli",
            Domain::Binary,
            Some(3.289_868_133_696_453),
        ),
        ("labels", "bernoulli-latent", Domain::Binary, None),
        ("class", "categorical-probit", Domain::CLASSES, Some(1.0)),
        (
            "class",
            "categorical",
            Domain::CLASSES,
            Some(std::f64::consts::PI.powi(2) / 6.0),
        ),
    ] {
        let mut spec = spec().with_likelihood(view, likelihood);
        spec.vb.max_sweeps = 5;
        let fit = crate::fit(data.clone(), spec).unwrap();
        let (at, _) = fit.view(view).unwrap();
        let part = &fit.component(0).unwrap().views[at];
        assert_eq!(part.term.domain(), kind);
        let known: crate::Likelihood = likelihood.into();
        assert_eq!(known.domain(), Some(kind));
        assert_eq!(fit.fitted(view).unwrap().kind, kind);
        let binary = kind == Domain::Binary;
        let logistic = binary || likelihood == "categorical";
        let factor = if logistic { 0.01 } else { 1.0 };
        assert_eq!(part.term.intercepts().precision, factor);
        let found = part.term.link(None, 0, 0.0).variance;
        match variance {
            Some(v) => assert!((found - v).abs() < 1e-14),
            // noise that is learnt, beside the link's
            None => assert!(found > if binary { 3.29 } else { 0.0 }),
        }
    }
}

#[test]
fn labels_and_classes_are_predicted_from_real_views() {
    let (train, test) = (mixed(300, 1), mixed(200, 2));
    for spec in [spec(), sampled()] {
        let fit = crate::fit(train.clone(), spec).unwrap();
        let auc = auc_of_labels(&fit, &test);
        assert!(auc > 0.85, "{auc}");
        let p = fit.predict(&without(&test, &["real"]), "class").unwrap();
        assert_eq!(p.features, CLASSES);
        let classes = test.view("class").unwrap().classes();
        let right = p
            .classes()
            .iter()
            .zip(&classes)
            .filter(|(a, b)| Some(**a) == **b)
            .count();
        assert!(right > 140, "{right} of 200");
        for n in 0..200 {
            let sum: f64 = (0..3).map(|c| p.mean[(n, c)]).sum();
            assert!((sum - 1.0).abs() < 1e-12);
        }
        assert!(matches!(
            p.interval(0.9).unwrap_err().kind(),
            ErrorKind::Incompatible { .. }
        ));
    }
}

#[test]
fn a_training_sample_projects_to_its_posterior_with_labels_too() {
    let data = mixed(80, 3);
    let mut spec = spec();
    spec.vb.tolerance = 1e-12;
    spec.vb.movement = 1e-7;
    spec.vb.max_sweeps = 5000;
    let fit = crate::fit(data.clone(), spec).unwrap();
    let p = fit.project(&data, &ProjectOptions::default()).unwrap();
    let z = fit.component(0).unwrap().factors().mean().to_owned();
    assert!(gap(&p.mean, &z) < 1e-3, "{}", gap(&p.mean, &z));
}

#[test]
fn a_file_keeps_classes_and_labels() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mixed.pv");
    let (train, test) = (mixed(60, 4), mixed(20, 5));
    for spec in [spec(), sampled()] {
        let fit = crate::fit(train.clone(), spec).unwrap();
        fit.save(&path, crate::Overwrite::Replace).unwrap();
        let read = Fit::load(&path).unwrap();
        assert_eq!(read.views(), fit.views());
        assert_eq!(read.data().unwrap(), fit.data().unwrap());
        let input = without(&test, &["real", "labels"]);
        let (a, b) = (
            fit.predict(&input, "class").unwrap(),
            read.predict(&input, "class").unwrap(),
        );
        assert_eq!(a.mean, b.mean);
    }
}

#[test]
fn holes_are_filled_with_probabilities() {
    let data = mixed(200, 6);
    let h = hold_out(&data, 0.2, 3).unwrap();
    let fit = crate::fit(h.data.clone(), spec()).unwrap();
    let scores = fit.held_out_score(&data).unwrap();
    assert_eq!(scores.len(), 3);
    assert!(scores[0].coverage > 0.85 && scores[0].accuracy.is_nan());
    assert!(scores[1].auc > 0.8 && scores[1].r2 > 0.1, "{:?}", scores[1]);
    assert!(scores[1].log_density > -0.65 && scores[1].coverage.is_nan());
    assert!(
        scores[2].accuracy > 0.6 && scores[2].r2 > 0.1,
        "{:?}",
        scores[2]
    );
    for (score, features) in scores.iter().zip([12, 4, 1]) {
        let of = &score.pairs.feature;
        assert_eq!(of.len(), score.pairs.truth.len());
        assert!((0..features).all(|d| of.contains(&d)) && of.iter().all(|d| *d < features));
        let classes = if features == 1 { of.len() } else { 0 };
        assert_eq!(score.pairs.probability.len(), classes);
    }
    let pairs = &scores[2].pairs;
    for (p, best) in pairs.probability.iter().zip(&pairs.predicted) {
        assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        assert!(p.iter().all(|x| *x <= p[*best as usize]));
    }
    let filled = fit.impute("class", 0.9).unwrap();
    let hidden = h.data.view("class").unwrap();
    for n in 0..200 {
        let sum: f64 = (0..3).map(|c| filled.values[(n, c)]).sum();
        assert!((sum - 1.0).abs() < 1e-9);
        for c in 0..3 {
            let observed = hidden.value(n, 0);
            assert_eq!(filled.was_missing.get(n, c), observed.is_none());
            if let Some(code) = observed {
                let one = f64::from(u8::from(code as usize == c));
                assert_eq!(filled.values[(n, c)], one);
            }
        }
    }
    let labels = fit.impute("labels", 0.9).unwrap();
    assert!((0..200).all(|n| (0.0..=1.0).contains(&labels.values[(n, 0)])));
}

#[test]
fn the_variance_of_latent_scores_is_explained() {
    let fit = crate::fit(mixed(300, 7), spec()).unwrap();
    let e = fit.explain().unwrap();
    for (m, total) in e.total.iter().enumerate() {
        assert!(*total > 0.3 && *total < 1.0, "{total}");
        let unique: f64 = (0..fit.k()).map(|k| e.unique[(m, k)]).sum();
        assert!((unique + e.shared[m] - total).abs() < 1e-10);
    }
    let a = fit.active(0.02).unwrap();
    assert!((0..3).all(|m| (0..fit.k()).any(|k| a.is_active(m, k))));
}

#[test]
fn simulated_labels_have_the_shares_of_the_fit() {
    let data = mixed(300, 8);
    let fit = crate::fit(data.clone(), spec()).unwrap();
    let s = fit.simulate(4000, 1).unwrap();
    let share = |d: &Dataset, code: f64| {
        let v = d.view("class").unwrap();
        let n = d.n_samples();
        (0..n).filter(|&r| v.value(r, 0) == Some(code)).count() as f64 / n as f64
    };
    for code in [0.0, 1.0, 2.0] {
        assert!((share(&s, code) - share(&data, code)).abs() < 0.08);
    }
    let ones = |d: &Dataset| {
        let v = d.view("labels").unwrap();
        let n = d.n_samples();
        (0..n).filter(|&r| v.value(r, 0) == Some(1.0)).count() as f64 / n as f64
    };
    assert!((ones(&s) - ones(&data)).abs() < 0.08);
}

#[test]
fn classes_are_matched_by_name_and_strangers_are_refused() {
    let data = mixed(60, 9);
    let fit = crate::fit(data.clone(), spec()).unwrap();
    let new = mixed(10, 10);
    let v = new.view("class").unwrap();
    let with = |levels: [&str; 3], codes: [usize; 3]| {
        let values = Mat::from_fn(10, 1, |n, _| codes[v.classes()[n].unwrap()] as f64);
        Dataset::builder()
            .view(Table {
                name: "class".into(),
                samples: new.samples().to_vec(),
                features: v.features().to_vec(),
                levels: levels.map(str::to_owned).to_vec(),
                values,
            })
            .build()
            .unwrap()
    };
    let options = ProjectOptions::default();
    let a = fit.project(&without(&new, &["class"]), &options).unwrap();
    let b = fit
        .project(&with(["high", "low", "middle"], [1, 2, 0]), &options)
        .unwrap();
    assert!(gap(&a.mean, &b.mean) < 1e-12);
    let strange = with(["low", "middle", "huge"], [0, 1, 2]);
    let e = fit.project(&strange, &options).unwrap_err();
    assert!(e.to_string().contains("huge"), "{e}");
    let lenient = ProjectOptions {
        unknown_classes: UnknownClass::Missing,
        ..options
    };
    let p = fit.project(&strange, &lenient).unwrap();
    assert!(
        p.notes.iter().any(|n| n.contains("'huge'")),
        "{:?}",
        p.notes
    );
}

#[test]
fn data_that_do_not_suit_the_likelihood_are_refused() {
    let data = mixed(30, 11);
    let refused = |spec: ModelSpec| crate::fit(data.clone(), spec).unwrap_err();
    let e = refused(models::sshiba(2).with_likelihood("labels", "bernoulli"));
    assert!(matches!(e.kind(), ErrorKind::Incompatible { .. }), "{e}");
    let e = refused(spec().with_likelihood("real", "bernoulli"));
    assert!(
        matches!(e.kind(), ErrorKind::Data(DataError::OutOfDomain { .. })),
        "{e:?}"
    );
    let e = refused(spec().with_likelihood("real", "categorical"));
    assert!(matches!(e.kind(), ErrorKind::Incompatible { .. }), "{e}");
    let one = rows(&without(&data, &["real"]), &[0, 1, 2]);
    let constant = Dataset::builder()
        .view(Table {
            name: "class".into(),
            samples: one.samples().to_vec(),
            features: vec!["class".into()],
            levels: vec!["a".into(), "b".into()],
            values: Mat::zeros(3, 1),
        })
        .build()
        .unwrap();
    let only = models::sshiba(1).with_likelihood("class", "categorical");
    let e = crate::fit(constant, only).unwrap_err();
    assert!(
        matches!(e.kind(), ErrorKind::Data(DataError::OneClass { class, .. }) if class == "a"),
        "{e:?}"
    );
    assert!(e.to_string().contains("leave the view out"), "{e}");
}

/// Classes without a sample keep their place, however many there are.
#[test]
fn ten_thousand_classes() {
    const CLASSES: usize = 10_000;
    let real = without(&mixed(30, 15), &["real"]);
    let codes = Table {
        name: "species".into(),
        samples: real.samples().to_vec(),
        features: vec!["species".into()],
        levels: (0..CLASSES).map(|c| format!("s{c}")).collect(),
        values: Mat::from_fn(30, 1, |n, _| (n % 10 * 1000) as f64),
    };
    let data = Dataset::builder()
        .view(table(&real, real.view("real").unwrap()))
        .view(codes)
        .build()
        .unwrap();
    // softmax would keep a number for every two of them
    let softmax = models::sshiba(2).with_likelihood("species", "categorical");
    let refused = crate::fit(data.clone(), softmax).unwrap_err().to_string();
    assert!(refused.contains("categorical-probit"), "{refused}");
    let mut spec = models::sshiba(2).with_likelihood("species", "categorical-probit");
    spec.vb.max_sweeps = 3;
    let fit = crate::fit(data, spec).unwrap();
    let p = fit.predict(&rows(&real, &[0, 1]), "species").unwrap();
    assert_eq!(p.mean.ncols(), CLASSES);
    for n in 0..2 {
        let sum: f64 = (0..CLASSES).map(|c| p.mean[(n, c)]).sum();
        assert!((sum - 1.0).abs() < 1e-9, "{sum}");
        let seen: f64 = (0..10).map(|c| p.mean[(n, 1000 * c)]).sum();
        // ten of ten thousand
        assert!(seen > 0.01 && p.classes()[n].is_multiple_of(1000), "{seen}");
    }
}

#[test]
fn latent_scores_and_no_intercepts_are_legal() {
    let data = mixed(150, 12);
    let mut spec = spec().with_likelihood("labels", "bernoulli-latent");
    let fit = crate::fit(data.clone(), spec.clone()).unwrap();
    assert!(auc_of_labels(&fit, &mixed(100, 13)) > 0.75);
    spec.intercepts = Intercepts::None;
    crate::fit(data, spec).unwrap();
}
