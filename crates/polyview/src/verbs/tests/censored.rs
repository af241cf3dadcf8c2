//! Numbers between limits and times to an event through every verb.

use polyview_core::{Dataset, Domain, View};
use polyview_linalg::Mat;
use polyview_random::{ChaCha8Rng, StreamKey, standard_normal};

use super::counts::table;
use crate::CrossValidateScore as Score;
use crate::verbs::cross_validate::{CrossValidateModel, CrossValidateOptions};
use crate::{CheckOptions, EngineKind, Fit, Limit, Limits, ModelSpec, hold_out, metrics, models};

const N: usize = 150;
const D: usize = 8;
/// Standard deviation of the noise of the readings, units of the data.
const NOISE: f64 = 2.5;

/// Unit and level of a reading: features are measured in units of their own.
fn reading(d: usize, x: f64) -> f64 {
    100.0 * (d + 1) as f64 + 5.0 * x
}

fn normal(rows: usize, columns: usize, rng: &mut ChaCha8Rng) -> Mat<f64> {
    Mat::from_fn(rows, columns, |_, _| standard_normal(rng))
}

/// Six numbers, eight readings of the same two factors that are known to be above a limit (in their own
/// unit) where they are, rounded to intervals where they are low, and times to an event; and the
/// true readings.
fn simulated(seed: u64) -> (Dataset, Mat<f64>) {
    let mut rng = StreamKey::new(seed).rng();
    let (z, w, v) = (
        normal(N, 2, &mut rng),
        normal(D, 2, &mut rng),
        normal(6, 2, &mut rng),
    );
    let (noise, of_y) = (normal(N, 6, &mut rng), normal(N, D, &mut rng));
    let (real, eta) = (&z * v.transpose(), &z * w.transpose());
    let real = Mat::from_fn(N, 6, |n, d| real[(n, d)] + 0.5 * noise[(n, d)]);
    let eta = Mat::from_fn(N, D, |n, d| eta[(n, d)] + NOISE / 5.0 * of_y[(n, d)]);
    let truth = Mat::from_fn(N, D, |n, d| reading(d, eta[(n, d)]));
    let (limit, low) = (|d: usize| reading(d, 1.2), |d: usize| reading(d, -1.6));
    let floor = |d: usize, x: f64| low(d) - ((low(d) - x) / 2.0).ceil() * 2.0;
    let seen = Mat::from_fn(N, D, |n, d| match truth[(n, d)] {
        x if x > limit(d) => limit(d),
        x if x < low(d) => floor(d, x),
        x => x,
    });
    let ends = Mat::from_fn(N, D, |n, d| match truth[(n, d)] {
        x if x > limit(d) => f64::INFINITY,
        x if x < low(d) => floor(d, x) + 2.0,
        _ => f64::NAN,
    });
    let time = |n: usize| 6.0 + 0.8 * z[(n, 0)] - 0.5 * z[(n, 1)];
    let times = Mat::from_fn(N, 1, |n, _| time(n) + 0.5 * standard_normal(&mut rng));
    let watched = |n: usize| 5.8 + 0.01 * (n % 100) as f64;
    let known = Mat::from_fn(N, 1, |n, _| times[(n, 0)].min(watched(n)));
    let after = Mat::from_fn(N, 1, |n, _| {
        if times[(n, 0)] > watched(n) {
            f64::INFINITY
        } else {
            f64::NAN
        }
    });
    let data = Dataset::builder()
        .view(table("real", real))
        .view(table("y", seen))
        .view(table("os", known))
        .ends(table("y", ends))
        .ends(table("os", after));
    (data.build().unwrap(), truth)
}

fn spec(y: &str) -> ModelSpec {
    let likelihood = |text: &str| text.parse::<crate::Likelihood>().unwrap();
    let mut spec = models::sshiba(4)
        .with_likelihood("y", likelihood(y))
        .with_likelihood("os", likelihood("survival"));
    spec.vb.max_sweeps = 80;
    spec
}

/// Correlation of two lists.
fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let centred = |x: &[f64]| -> Vec<f64> {
        let mean = x.iter().sum::<f64>() / x.len() as f64;
        x.iter().map(|x| x - mean).collect()
    };
    let (a, b) = (centred(a), centred(b));
    let dot = |x: &[f64], y: &[f64]| -> f64 { x.iter().zip(y).map(|(x, y)| x * y).sum() };
    dot(&a, &b) / (dot(&a, &a) * dot(&b, &b)).sqrt()
}

fn of_cells(m: &Mat<f64>, view: &View, d: usize, censored: bool) -> Vec<f64> {
    let rows = (0..N).filter(|n| view.is_censored(*n, d) == censored);
    rows.map(|n| m[(n, d)]).collect()
}

#[test]
fn readings_beyond_their_limits_are_recovered() {
    let (data, truth) = simulated(1);
    let view = data.view("y").unwrap();
    let fit = crate::fit(data.clone(), spec("censored")).unwrap();
    let filled = fit.impute("y", 0.9).unwrap();
    let (mut inside, mut count) = (0usize, 0usize);
    for d in 0..D {
        // exact readings come back bit for bit
        assert_eq!(
            of_cells(&filled.values, view, d, false),
            of_cells(&truth, view, d, false)
        );
        let of = |m: &Mat<f64>| of_cells(m, view, d, true);
        assert!(correlation(&of(&filled.values), &of(&truth)) > 0.6, "{d}");
        for n in (0..N).filter(|&n| view.is_censored(n, d)) {
            let (lower, upper) = view.interval(n, d).unwrap();
            let ends = [&filled.lower, &filled.values, &filled.upper].map(|m| m[(n, d)]);
            assert!(lower - 1e-9 <= ends[0] && ends[0] <= ends[1] && ends[1] <= ends[2]);
            assert!(ends[2] <= upper + 1e-9);
            inside += usize::from(ends[0] <= truth[(n, d)] && truth[(n, d)] <= ends[2]);
            count += 1;
        }
    }
    let coverage = inside as f64 / count as f64;
    assert!((coverage - 0.9).abs() < 0.05, "{coverage}");
    // the noise is that of the readings, in their own units
    let component = fit.component(0).unwrap();
    let mut saved = polyview_core::State::new();
    component.views[1].term.save("y", &mut saved);
    let noise = saved.reader().vec("y/noise").unwrap();
    for (tau, scale) in noise.iter().zip(&fit.view("y").unwrap().1.scaling.scale) {
        let sd = scale / tau.sqrt();
        assert!((sd / NOISE - 1.0).abs() < 0.3, "{sd}");
    }
    // new data are filled alike
    let new = fit.impute_data(&data, "y", 0.9).unwrap();
    assert!(
        correlation(
            &of_cells(&new.values, view, 0, true),
            &of_cells(&truth, view, 0, true)
        ) > 0.6
    );
}

#[test]
fn both_forms_and_the_sampler_agree_and_files_hold_ends() {
    let (data, _) = simulated(2);
    let fits =
        ["censored", "censored{form=bound}"].map(|y| crate::fit(data.clone(), spec(y)).unwrap());
    let [a, b] = fits.each_ref().map(|f| f.fitted("y").unwrap());
    let mut gibbs = spec("censored");
    gibbs.engine = EngineKind::Gibbs;
    (gibbs.gibbs.chains, gibbs.gibbs.warm_up, gibbs.gibbs.sweeps) = (1, 120, 200);
    let sampled = crate::fit(data.clone(), gibbs.clone()).unwrap();
    let c = sampled.fitted("y").unwrap();
    let all = |m: &Mat<f64>, d: usize| m.col_as_slice(d).to_vec();
    for d in 0..D {
        assert!(correlation(&all(&a.mean, d), &all(&b.mean, d)) > 0.99);
        assert!(correlation(&all(&a.mean, d), &all(&c.mean, d)) > 0.97);
        assert!((c.sd[(0, d)] / a.sd[(0, d)] - 1.0).abs() < 0.25);
    }
    let folder = tempfile::tempdir().unwrap();
    for (fit, name) in [(&fits[0], "a.pv"), (&sampled, "b.pv")] {
        let path = folder.path().join(name);
        fit.save(&path, polyview_core::Overwrite::Refuse).unwrap();
        let read = Fit::load(&path).unwrap();
        let of = |f: &Fit| f.impute("y", 0.9).unwrap().values;
        assert_eq!(of(fit), of(&read));
        assert_eq!(
            fit.event_times("os").unwrap(),
            read.event_times("os").unwrap()
        );
    }
    // what is censored is not compared with replicates that are not
    for check in fits[0].predictive_checks(&CheckOptions::default()).unwrap() {
        let censored = data.view(&check.view).unwrap().ends().is_some();
        assert_eq!(check.statistics.is_empty(), censored, "{}", check.view);
        let told = check
            .part
            .is_some_and(|part| part.contains("censored cells"));
        assert_eq!(told, censored, "{}", check.view);
    }
    let explained = fits[0].explain().unwrap();
    assert!(explained.total[1] > 0.3, "{:?}", explained.total);
}

#[test]
fn limits_that_are_taken_for_values_predict_worse() {
    let (data, truth) = simulated(3);
    let exact = data.with_view(
        data.view("y")
            .unwrap()
            .clone()
            .with_ends(Mat::full(N, D, f64::NAN))
            .unwrap(),
    );
    let exact = exact.unwrap();
    let held = hold_out(&data, 0.2, 5).unwrap().data;
    let hidden = held.view("y").unwrap();
    let taken = exact
        .view("y")
        .unwrap()
        .hiding(|n, d| !hidden.is_observed(n, d));
    let taken = exact.with_view(taken).unwrap();
    let [own, plain] = [(held.clone(), "censored"), (taken, "gaussian")].map(|(data, y)| {
        let fit = crate::fit(data.clone(), spec(y)).unwrap();
        let said = fit.fitted("y").unwrap().mean;
        let mut errors = 0.0;
        for d in 0..D {
            for n in (0..N).filter(|&n| !hidden.is_observed(n, d)) {
                errors += (said[(n, d)] - truth[(n, d)]).powi(2);
            }
        }
        errors
    });
    assert!(own < 0.9 * plain, "{own} {plain}");
    let score = crate::fit(held.clone(), spec("censored")).unwrap();
    let score = score.held_out_score(&data).unwrap();
    assert_eq!(score[1].kind, Domain::CENSORED);
    assert!(score[1].r2 > 0.2, "{}", score[1].r2);
    let refused = crate::fit(data.clone(), spec("gaussian"))
        .unwrap_err()
        .to_string();
    assert!(
        refused.contains("they need the likelihood censored"),
        "{refused}"
    );
}

#[test]
fn groups_have_noise_of_their_own() {
    let (data, _) = simulated(4);
    let groups = (data.samples().iter().enumerate())
        .map(|(n, s)| (s.clone(), ["a", "b"][n % 2].to_owned()))
        .collect();
    let mut builder = Dataset::builder().groups(groups);
    for view in data.views() {
        let own = |m: Mat<f64>| polyview_core::Table {
            samples: data.samples().to_vec(),
            features: view.features().to_vec(),
            ..table(view.name(), m)
        };
        builder = builder.view(own(view.to_values_with_nan()));
        if let Some(ends) = view.ends() {
            builder = builder.ends(own(ends.as_ref().clone()));
        }
    }
    let data = builder.build().unwrap();
    let mut spec = spec("censored");
    (spec.groups.noise, spec.groups.intercepts) = (true, true);
    let fit = crate::fit(data.clone(), spec.clone()).unwrap();
    assert!(fit.impute("y", 0.9).is_ok());
}

#[test]
fn times_to_an_event_are_predicted_from_other_views() {
    let (data, _) = simulated(5);
    let options = CrossValidateOptions {
        targets: vec!["os".to_owned()],
        folds: 3,
        ..CrossValidateOptions::default()
    };
    let models = [CrossValidateModel::new("m", spec("censored"))];
    let found = crate::cross_validate(&data, &models, &options, &|_| {}).unwrap();
    let of = |method: &str, score: Score| {
        let row = (found.summary.iter()).find(|r| r.method == method && r.score == score);
        row.map(|r| r.mean)
    };
    let c = of("m", Score::Concordance).unwrap();
    assert!(c > 0.7, "{c}");
    assert_eq!(of("mean", Score::Concordance), Some(0.5));
    let brier = of("m", Score::IntegratedBrier).unwrap();
    assert!(brier > 0.0 && brier < 0.2, "{brier}");
    // the baselines say a law too, one that knows the features and one that does not
    let regressed = of("regression on limits", Score::IntegratedBrier).unwrap();
    let plain = of("mean", Score::IntegratedBrier).unwrap();
    assert!(
        brier < plain && regressed < plain,
        "{brier} {regressed} {plain}"
    );
    let fit = crate::fit(data.clone(), spec("censored")).unwrap();
    let said = fit
        .predict(&data.with_views(&["real", "y"]).unwrap(), "os")
        .unwrap();
    let curves = said.survival(&[100.0, 400.0, 1600.0]).unwrap();
    for n in 0..N {
        assert!(curves[0][(n, 0)] > curves[1][(n, 0)] && curves[1][(n, 0)] > curves[2][(n, 0)]);
        let median = said.mean[(n, 0)].exp();
        let half = said.survival(&[median]).unwrap();
        assert!((half[0][(n, 0)] - 0.5).abs() < 1e-12);
    }
    assert!(said.survival(&[0.0]).is_err());
    // of several laws at once the median is none of the mean of the logarithm
    let mixed = spec("censored").with_settled("os", crate::Settle::Mixture);
    let mixed = crate::fit(data.clone(), mixed).unwrap();
    assert!(mixed.shares_of(2).unwrap().expect("shares")[1] > 0.05);
    let said = mixed
        .predict(&data.with_views(&["real", "y"]).unwrap(), "os")
        .unwrap();
    let median = said.median().unwrap();
    let mut off: f64 = 0.0;
    for n in 0..N {
        let later = |x: f64| said.survival(&[x.exp()]).unwrap()[0][(n, 0)];
        assert!((later(median[(n, 0)]) - 0.5).abs() < 1e-9);
        off = off.max((later(said.mean[(n, 0)]) - 0.5).abs());
    }
    assert!(off > 1e-5, "{off}");
    let times = fit.event_times("os").unwrap();
    let risks: Vec<f64> = (0..N).map(|n| said.mean[(n, 0)]).collect();
    assert!(metrics::concordance(&times, &risks).unwrap().unwrap() > 0.7);
    assert!(fit.event_times("y").is_err());
}

/// Limits by the log probability of what lies between them, exact cells by their log density; against
/// an own calculation.
#[test]
fn targets_with_limits_are_scored_by_their_laws() {
    let (data, _) = simulated(6);
    let data = data.with_views(&["real", "y"]).unwrap();
    let y = data.view("y").unwrap();
    let options = CrossValidateOptions {
        targets: vec!["y".to_owned()],
        folds: 3,
        ..CrossValidateOptions::default()
    };
    let mut spec = spec("censored");
    spec.views.retain(|v| v.name != "os");
    let models = [CrossValidateModel::new("m", spec.clone())];
    let found = crate::cross_validate(&data, &models, &options, &|_| {}).unwrap();
    let folds = [0u32, 1, 2].map(|fold| {
        let inside = |n: &u32| found.folds[0][*n as usize] as u32 == fold + 1;
        let (test, training): (Vec<u32>, Vec<u32>) = (0..N as u32).partition(inside);
        let fit = crate::fit(data.subset(&training), spec.clone()).unwrap();
        let new = data.subset(&test).with_views(&["real"]).unwrap();
        let said = fit.predict(&new, "y").unwrap();
        let (mut sum, mut exact, mut all) = (0.0, 0, 0);
        for (at, n) in test.iter().enumerate() {
            for d in 0..D {
                let Some((least, most)) = y.interval(*n as usize, d) else {
                    continue;
                };
                let (mean, sd) = (said.mean[(at, d)], said.sd[(at, d)]);
                let z = |x: f64| (x - mean) / sd;
                all += 1;
                sum += if least < most {
                    (polyview_special::normal_cdf(z(most)) - polyview_special::normal_cdf(z(least)))
                        .ln()
                } else {
                    exact += 1;
                    polyview_special::ln_normal_pdf(z(least)) - sd.ln()
                };
            }
        }
        (sum / f64::from(all), all as usize, exact as usize)
    });
    let of = |method: &str, score: Score| -> Vec<(f64, usize)> {
        let rows = found.rows.iter();
        let own = rows.filter(|r| r.method == method && r.score == score);
        own.map(|r| (r.value, r.cells)).collect()
    };
    for ((value, cells), (own, all, _)) in of("m", Score::LogDensity).iter().zip(&folds) {
        assert!((value - own).abs() < 1e-9 && cells == all, "{value} {own}");
    }
    for method in ["m", "mean", "regression on limits", "m, two steps"] {
        assert_eq!(of(method, Score::LogDensity).len(), 3, "{method}");
        for ((_, cells), (_, all, exact)) in of(method, Score::R2).iter().zip(&folds) {
            assert!(cells == exact && exact < all, "{method}");
        }
    }
    // a law that knows limits beats one that knows nothing, and a model both
    let mean = |method| -> f64 {
        let folds = of(method, Score::LogDensity);
        folds.iter().map(|(x, _)| x / 3.0).sum()
    };
    assert!(mean("m") > mean("mean") + 0.1);
    assert!(mean("regression on limits") > mean("mean") + 0.1);
    // hidden cells alike: more have a density than have a value
    let options = CrossValidateOptions {
        share: 0.2,
        folds: 2,
        ..CrossValidateOptions::default()
    };
    let found = crate::cross_validate(&data, &models, &options, &|_| {}).unwrap();
    let of = |method: &str, score: Score| {
        let of_y = |r: &&crate::CrossValidateRow| r.target == "y" && r.method == method;
        let own = found.rows.iter().filter(of_y).find(|r| r.score == score);
        own.map(|r| (r.value, r.cells)).unwrap()
    };
    let held = hold_out(&data, 0.2, 1).unwrap().data;
    let hidden = held.view("y").unwrap();
    let all = (0..N * D).filter(|i| {
        let (n, d) = (i / D, i % D);
        y.is_observed(n, d) && !hidden.is_observed(n, d)
    });
    let all: Vec<usize> = all.collect();
    let exact = all
        .iter()
        .filter(|i| !y.is_censored(*i / D, *i % D))
        .count();
    for method in ["m", "mean"] {
        assert_eq!(of(method, Score::LogDensity).1, all.len());
        assert_eq!(of(method, Score::R2).1, exact);
    }
    assert!(of("m", Score::LogDensity).0 > of("mean", Score::LogDensity).0 + 0.1);
}

#[test]
fn limits_of_detection_are_as_if_cells_were_written_so() {
    let (data, truth) = simulated(4);
    let y = data.view("y").unwrap();
    let raw = y.with_values(truth.clone()).unwrap();
    let raw = raw.with_ends(truth.clone()).unwrap();
    assert!(raw.ends().is_none());
    let mut limits = Limits {
        lower: Some(reading(0, -1.6)),
        ..Limits::default()
    };
    for d in 0..D {
        let limit = Limit {
            lower: (d != 2).then(|| reading(d, -1.6)),
            upper: (d != 5).then(|| reading(d, 1.2)),
        };
        if d > 0 {
            limits.features.insert(y.features()[d].clone(), limit);
        }
    }
    let written = limits.applied(raw.clone()).unwrap();
    for (n, d) in (0..N).flat_map(|n| (0..D).map(move |d| (n, d))) {
        let x = truth[(n, d)];
        let (low, high) = (reading(d, -1.6), reading(d, 1.2));
        let expected = match d {
            0 | 5 if x > low => (x, x),
            _ if x <= low && d != 2 => (f64::NEG_INFINITY, low),
            _ if x >= high => (high, f64::INFINITY),
            _ => (x, x),
        };
        assert_eq!(written.interval(n, d), Some(expected), "{n} {d}");
    }
    let raw = data.with_view(raw).unwrap();
    let written = data.with_view(written).unwrap();
    let mut plain = spec("censored");
    plain.vb.max_sweeps = 8;
    let limited = plain.clone().with_limits("y", limits.clone());
    let by_limits = crate::fit(raw.clone(), limited.clone()).unwrap();
    let by_cells = crate::fit(written.clone(), plain.clone()).unwrap();
    assert_eq!(
        by_limits.factors().unwrap().mean,
        by_cells.factors().unwrap().mean
    );
    // the choices of the file know them, and new data are read alike
    let by_limits = Fit::from_bytes(&by_limits.to_bytes().unwrap()).unwrap();
    let choices = |fit: &Fit| fit.view("y").unwrap().1.choices.limits.clone();
    assert_eq!(choices(&by_limits), Some(limits.clone()));
    let project = |fit: &Fit, data: &Dataset| {
        let found = fit.project(data, &crate::ProjectOptions::default());
        found.unwrap().mean
    };
    assert_eq!(project(&by_limits, &raw), project(&by_cells, &written));
    assert_ne!(project(&by_limits, &raw), project(&by_cells, &raw));
    let filled = |fit: &Fit, data: &Dataset| fit.impute_data(data, "y", 0.9).unwrap().values;
    assert_eq!(filled(&by_limits, &raw), filled(&by_cells, &written));
    // only exact cells are scored
    let held = hold_out(&raw, 0.2, 7).unwrap().data;
    let cells = |spec: ModelSpec, truth: &Dataset| {
        let fit = crate::fit(held.clone(), spec).unwrap();
        fit.held_out_score(truth).unwrap()[1].cells
    };
    assert_eq!(
        cells(limited.clone(), &raw),
        cells(limited.clone(), &written)
    );
    assert!(cells(limited.clone(), &raw) < cells(plain.clone(), &raw));
    let options = CrossValidateOptions {
        share: 0.2,
        folds: 2,
        baselines: false,
        ..CrossValidateOptions::default()
    };
    let scores = |data: &Dataset, spec: &ModelSpec| {
        let models = [CrossValidateModel::new("m", spec.clone())];
        let found = crate::cross_validate(data, &models, &options, &|_| {}).unwrap();
        let rows = found.rows.into_iter();
        rows.map(|r| (r.cells, r.value.to_bits()))
            .collect::<Vec<_>>()
    };
    assert_eq!(scores(&raw, &limited), scores(&written, &plain));
    // what cannot be
    let refused = |change: &dyn Fn(&mut Limits), likelihood: &str, says: &str| {
        let mut own = limits.clone();
        change(&mut own);
        let spec = spec(likelihood).with_limits("y", own);
        let error = crate::fit(raw.clone(), spec).unwrap_err().to_string();
        assert!(
            error.contains("view 'y'") && error.contains(says),
            "{error}"
        );
    };
    let limit = |lower, upper| Limit {
        lower: Some(lower),
        upper: Some(upper),
    };
    let one = |l: &mut Limits, limit| {
        l.features.insert("nothing".into(), limit);
    };
    refused(
        &|l| one(l, limit(1.0, 2.0)),
        "censored",
        "the feature 'nothing', which it does not have",
    );
    refused(
        &|l| one(l, limit(2.0, 2.0)),
        "censored",
        "feature 'nothing': the lower limit 2 is not below the upper limit 2",
    );
    refused(
        &|l| l.upper = Some(f64::NAN),
        "censored",
        "the upper limit is NaN; give a finite number",
    );
    refused(&|_| {}, "gaussian", "those of censored views");
}
