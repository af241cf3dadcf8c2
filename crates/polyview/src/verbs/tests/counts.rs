use polyview_core::{Dataset, Domain, Table, View};
use polyview_linalg::Mat;
use polyview_random::{
    ChaCha8Rng, StreamKey, binomial, gamma, poisson, standard_normal, uniform_open01,
};
use polyview_special::{sigmoid, softplus};

use crate::metrics::{CountLaw, poisson_deviance};
use crate::{
    CheckOptions, EngineKind, ErrorKind, Fit, HoldOut, Likelihood, ModelSpec, PredictOptions,
    SimulateOptions, ViewChoices, hold_out, models,
};

const N: usize = 70;
const D: usize = 12;
const SIZE: f64 = 4.0;

pub(super) fn table(name: &str, values: Mat<f64>) -> Table {
    Table {
        name: name.into(),
        samples: (0..values.nrows()).map(|n| format!("s{n}")).collect(),
        features: (0..values.ncols()).map(|d| format!("{name}{d}")).collect(),
        levels: Vec::new(),
        values,
    }
}

/// A real view and one of counts with the same two factors; of successes
/// their trials.
pub(super) fn simulated(likelihood: &'static str) -> Dataset {
    simulated_by(11, likelihood)
}

fn simulated_by(seed: u64, likelihood: &'static str) -> Dataset {
    let mut rng = StreamKey::new(seed).rng();
    let normal = |rows, columns, rng: &mut ChaCha8Rng| {
        Mat::from_fn(rows, columns, |_, _| standard_normal(rng))
    };
    let (z, w, v) = (
        normal(N, 2, &mut rng),
        normal(D, 2, &mut rng),
        normal(6, 2, &mut rng),
    );
    let real = &z * v.transpose();
    let real = Mat::from_fn(N, 6, |n, d| real[(n, d)] + 0.3 * standard_normal(&mut rng));
    let eta = &z * w.transpose();
    let trials = Mat::from_fn(N, D, |n, d| (2 + (7 * n + 3 * d) % 30) as f64);
    let counts = Mat::from_fn(N, D, |n, d| {
        let eta = 0.7 * eta[(n, d)] + 1.5;
        match likelihood {
            "poisson" => poisson(&mut rng, softplus(eta)).unwrap(),
            "binomial" => {
                binomial(&mut rng, trials[(n, d)] as u64, sigmoid(eta - 1.0)).unwrap() as f64
            }
            _ => {
                let rate = eta.exp() * gamma(&mut rng, SIZE, SIZE).unwrap();
                poisson(&mut rng, rate).unwrap()
            }
        }
    });
    let mut builder = Dataset::builder()
        .view(table("real", real))
        .view(table("y", counts));
    if likelihood == "binomial" {
        builder = builder.trials(table("y", trials));
    }
    builder.build().unwrap()
}

fn spec(likelihood: &'static str) -> ModelSpec {
    let mut spec = models::mofa(4).with_likelihood("y", likelihood);
    spec.vb.max_sweeps = 150;
    spec
}

/// Data with a tenth hidden, their fit, and all of the data.
fn hidden(likelihood: &'static str) -> (HoldOut, Fit, Dataset) {
    let full = simulated(likelihood);
    let part = hold_out(&full, 0.1, 3).unwrap();
    let fit = crate::fit(part.data.clone(), spec(likelihood)).unwrap();
    (part, fit, full)
}

/// Cells that the training data lack: sample, feature, truth.
fn left_out(part: &Dataset, full: &Dataset) -> Vec<(usize, usize, f64)> {
    let (seen, all) = (part.view("y").unwrap(), full.view("y").unwrap());
    (0..D)
        .flat_map(|d| (0..N).map(move |n| (n, d)))
        .filter(|&(n, d)| !seen.is_observed(n, d))
        .map(|(n, d)| (n, d, all.value(n, d).unwrap()))
        .collect()
}

#[test]
fn counts_are_scored_by_deviance_and_by_their_own_law() {
    for likelihood in ["poisson", "negative-binomial", "poisson-log-normal"] {
        let (part, fit, full) = hidden(likelihood);
        let scores = fit.held_out_score(&full).unwrap();
        let score = scores.iter().find(|s| s.view == "y").unwrap();
        let predicted = fit.fitted("y").unwrap();
        assert_eq!(
            (score.kind, predicted.kind),
            (Domain::COUNTS, Domain::COUNTS)
        );
        let cells = left_out(&part.data, &full);
        assert_eq!(score.cells, cells.len());
        let (truth, mean): (Vec<f64>, Vec<f64>) = cells
            .iter()
            .map(|&(n, d, y)| (y, predicted.mean[(n, d)]))
            .unzip();
        let deviance = poisson_deviance(&truth, &mean).unwrap().unwrap();
        assert!((score.deviance - deviance).abs() < 1e-10);
        let seen = part.data.view("y").unwrap();
        let level: Vec<f64> = cells
            .iter()
            .map(|&(_, d, _)| {
                let of: Vec<f64> = (0..N).filter_map(|n| seen.value(n, d)).collect();
                of.iter().sum::<f64>() / of.len() as f64
            })
            .collect();
        let null = poisson_deviance(&truth, &level).unwrap().unwrap();
        assert!((score.deviance_explained - (1.0 - deviance / null)).abs() < 1e-10);
        assert!(score.deviance_explained > 0.2, "{likelihood}: {score:?}");
        let density = cells.iter().map(|&(n, d, y)| {
            let variance = predicted.sd[(n, d)].powi(2);
            CountLaw::new(predicted.mean[(n, d)], variance).ln_density(y)
        });
        // the law itself is close to that of the same mean and variance
        let density = density.sum::<f64>() / cells.len() as f64;
        assert!((score.log_density - density).abs() < 0.05);
        let (low, high) = predicted.interval(score.level).unwrap();
        let inside = cells
            .iter()
            .filter(|&&(n, d, y)| low[(n, d)] <= y && y <= high[(n, d)]);
        assert_eq!(score.coverage, inside.count() as f64 / cells.len() as f64);
        assert!(score.coverage > 0.85, "{likelihood}: {}", score.coverage);
        for &(n, d, _) in &cells {
            for end in [low[(n, d)], high[(n, d)]] {
                assert!(end >= 0.0 && end.fract() == 0.0, "{end}");
            }
        }
        let real = scores.iter().find(|s| s.view == "real").unwrap();
        assert!(real.deviance.is_nan() && real.deviance_explained.is_nan());
        let filled = fit.impute("y", 0.95).unwrap();
        for (n, d, _) in cells {
            assert_eq!(filled.upper[(n, d)], high[(n, d)]);
        }
    }
}

#[test]
fn successes_are_expected_out_of_their_trials() {
    let (part, fit, full) = hidden("binomial");
    let trials = full.view("y").unwrap().trials().unwrap().clone();
    let (p, filled) = (fit.fitted("y").unwrap(), fit.impute("y", 0.9).unwrap());
    assert_eq!(p.kind, Domain::Binary);
    let cells = left_out(&part.data, &full);
    for &(n, d, _) in &cells {
        let expected = trials[(n, d)] * p.mean[(n, d)];
        assert!((filled.values[(n, d)] - expected).abs() < 1e-12);
    }
    let score = &fit.held_out_score(&full).unwrap()[1];
    assert_eq!((score.kind, score.cells), (Domain::SUCCESSES, cells.len()));
    // the intervals are those that are scored
    let at_level = fit.impute("y", score.level).unwrap();
    assert_eq!(at_level.kind, Domain::SUCCESSES);
    let (mut inside, mut width) = (0.0, 0.0);
    for &(n, d, y) in &cells {
        let (low, high) = (at_level.lower[(n, d)], at_level.upper[(n, d)]);
        assert!(low.fract() == 0.0 && low <= high && high <= trials[(n, d)]);
        assert!(at_level.sd[(n, d)] > 0.0);
        inside += f64::from(u8::from(low <= y && y <= high));
        width += high - low;
    }
    let count = cells.len() as f64;
    assert!((inside / count - score.coverage).abs() < 1e-12);
    assert!((width / count - score.width).abs() < 1e-12);
    assert!(score.deviance_explained > 0.2, "{score:?}");
    assert!(score.coverage > 0.85 && score.width < 20.0, "{score:?}");
    for (predicted, &upper) in score.pairs.predicted.iter().zip(&score.pairs.upper) {
        assert!(upper <= 31.0 && *predicted < 31.0);
    }
    // by name, in another order, of other samples; a file keeps them
    let path = tempfile::tempdir().unwrap();
    let path = path.path().join("m.pv");
    fit.save(&path, crate::Overwrite::Refuse).unwrap();
    let again = Fit::load(&path).unwrap();
    assert_eq!(again.data().unwrap(), fit.data().unwrap());
    assert_eq!(again.impute("y", 0.9).unwrap().values, filled.values);
    let y = full.view("y").unwrap();
    let order = |m: &Mat<f64>| Mat::from_fn(N, D, |n, d| m[(n, D - 1 - d)]);
    let turned = |values: &Mat<f64>| Table {
        features: y.features().iter().rev().cloned().collect(),
        samples: full.samples().to_vec(),
        ..table("y", order(values))
    };
    let turned = Dataset::builder()
        .view(turned(&y.to_values_with_nan()))
        .trials(turned(&trials))
        .build()
        .unwrap();
    let options = crate::ProjectOptions::default();
    let straight = super::rebuilt_with_trials(&full, "y");
    let (a, b) = (
        fit.project(&turned, &options).unwrap(),
        fit.project(&straight, &options).unwrap(),
    );
    assert!(super::gap(&a.mean, &b.mean) < 1e-12);
}

#[test]
fn deviance_explained_is_that_of_the_family() {
    for likelihood in [
        "poisson",
        "negative-binomial",
        "poisson-log-normal",
        "binomial",
    ] {
        let data = simulated(likelihood);
        let fit = crate::fit(data.clone(), spec(likelihood)).unwrap();
        let e = fit.explain().unwrap();
        assert!(e.deviance[0].is_nan());
        assert!(e.deviance[1] > 0.1 && e.deviance[1] < 1.0, "{e:?}");
        // by log likelihoods, written down anew
        let c = fit.component(0).unwrap();
        let (z, part) = (c.factors().mean(), &c.views[1]);
        let eta = z * part.weights.mean().transpose();
        let sizes = fit.sizes("y").unwrap();
        let sized = ["negative-binomial", "poisson-log-normal"].contains(&likelihood);
        assert_eq!(sizes.is_some(), sized);
        let y = data.view("y").unwrap();
        let (mut own, mut null) = (0.0, 0.0);
        for d in 0..D {
            let all: f64 = (0..N).map(|n| y.value(n, d).unwrap()).sum();
            let of: f64 = (0..N).map(|n| y.trials_of(n, d)).sum();
            for n in 0..N {
                let (x, t) = (y.value(n, d).unwrap(), y.trials_of(n, d));
                let eta = eta[(n, d)] + part.bias.mean()[d];
                let ln = |rate: f64| {
                    let xln = |a: f64, b: f64| if a > 0.0 { a * b.ln() } else { 0.0 };
                    match likelihood {
                        "poisson" => xln(x, rate) - rate,
                        "binomial" => xln(x, rate) + xln(t - x, 1.0 - rate),
                        _ => {
                            let r = sizes.as_ref().unwrap()[(d, 0)];
                            xln(x, rate) - (x + r) * (rate + r).ln()
                        }
                    }
                };
                let rate = match likelihood {
                    "binomial" => sigmoid(eta),
                    // the mean of a log-normal rate: r is 1/(e^v - 1)
                    "poisson-log-normal" => {
                        let r = sizes.as_ref().unwrap()[(d, 0)];
                        eta.exp() * (1.0 + 1.0 / r).sqrt()
                    }
                    _ => eta.exp(),
                };
                let perfect = ln(if likelihood == "binomial" { x / t } else { x });
                own += perfect - ln(rate);
                null += perfect - ln(all / of);
            }
        }
        let gap = e.deviance[1] - (1.0 - own / null);
        assert!(gap.abs() < 1e-9, "{likelihood}: {gap:e}");
    }
}

#[test]
fn deviance_of_labels_and_of_groups() {
    let data = simulated("poisson");
    let y = data.view("y").unwrap();
    let bits = Mat::from_fn(N, D, |n, d| {
        f64::from(u8::from(y.value(n, d).unwrap() > 1.0))
    });
    let groups = (0..N).map(|n| (format!("s{n}"), format!("g{}", n % 2)));
    let data = Dataset::builder()
        .view(table("y", bits))
        .groups(groups.collect())
        .build()
        .unwrap();
    let mut spec = models::sshiba(2).with_likelihood("y", "bernoulli");
    spec.vb.max_sweeps = 60;
    let fit = crate::fit(data, spec).unwrap();
    let all = fit.explain().unwrap().deviance[0];
    assert!(all > 0.03 && all < 1.0, "{all}");
    for group in ["g0", "g1"] {
        let one = fit.explain_group(group).unwrap().deviance[0];
        assert!((one - all).abs() < 0.15 && one != all, "{one} {all}");
    }
}

#[test]
fn sizes_are_found() {
    for likelihood in ["negative-binomial", "poisson-log-normal"] {
        let fit = crate::fit(simulated(likelihood), spec(likelihood)).unwrap();
        let sizes = fit.sizes("y").unwrap().unwrap();
        assert_eq!(sizes.ncols(), 1);
        let middle = sizes.col(0).iter().map(|r| r.ln()).sum::<f64>() / D as f64;
        assert!((middle - SIZE.ln()).abs() < 0.6, "{likelihood}: {sizes:?}");
        assert_eq!(fit.sizes("real").unwrap(), None);
    }
}

#[test]
fn choices_that_cannot_go_together() {
    let softplus = || "poisson{rate=softplus}".parse::<Likelihood>().unwrap();
    let mut gibbs = spec("poisson").with_likelihood("y", softplus());
    gibbs.engine = EngineKind::Gibbs;
    for e in [
        gibbs.validate().unwrap_err(),
        crate::fit(simulated("poisson"), gibbs).unwrap_err(),
    ] {
        assert!(matches!(e.kind(), ErrorKind::Incompatible { view, .. } if view == "y"));
        assert!(e.to_string().contains("negative-binomial"), "{e}");
    }
    let mut all = models::mofa(2);
    all.engine = EngineKind::Gibbs;
    all.defaults = ViewChoices {
        likelihood: softplus(),
        ..all.defaults
    };
    let counts = Dataset::builder()
        .view(table("y", Mat::from_fn(9, 3, |n, d| (n * d) as f64)))
        .build()
        .unwrap();
    assert!(crate::fit(counts, all).is_err());
    let trials = simulated("binomial");
    let e = crate::fit(trials, spec("poisson")).unwrap_err();
    assert!(e.to_string().contains("binomial"), "{e}");
}

#[test]
fn plug_in_counts_vary_less() {
    let (part, fit, _) = hidden("negative-binomial");
    let options = PredictOptions {
        parameters: crate::ParameterUncertainty::PlugIn,
        ..PredictOptions::default()
    };
    let mean = |m: &Mat<f64>| m.norm_l1();
    let sure = fit.predict_with(&part.data, "y", &options).unwrap();
    let unsure = fit.predict(&part.data, "y").unwrap();
    assert!(mean(&sure.sd) < mean(&unsure.sd));
    // whatever the parameters' uncertainty: at least that of the counts
    for d in 0..D {
        for n in 0..N {
            assert!(sure.sd[(n, d)].powi(2) >= sure.mean[(n, d)]);
        }
    }
}

#[test]
fn successes_are_drawn_out_of_trials() {
    let data = simulated("binomial");
    let mut fit = crate::fit(data.clone(), spec("binomial")).unwrap();
    let view = data.view("y").unwrap();
    let share = |v: &View| {
        let cells = || (0..D).flat_map(|d| (0..v.n_samples()).map(move |n| (n, d)));
        let all: f64 = cells().map(|(n, d)| v.trials_of(n, d)).sum();
        cells().filter_map(|(n, d)| v.value(n, d)).sum::<f64>() / all
    };
    // those of training samples, row by row
    let drawn = fit.simulate(2000, 3).unwrap();
    assert_eq!(drawn, fit.simulate(2000, 3).unwrap());
    let y = drawn.view("y").unwrap();
    let row = |v: &View, n: usize| (0..D).map(|d| v.trials_of(n, d)).collect::<Vec<f64>>();
    let known: Vec<Vec<f64>> = (0..N).map(|n| row(view, n)).collect();
    assert!((0..2000).all(|n| known.contains(&row(y, n))));
    assert_ne!(row(y, 0), row(y, 1));
    assert!(
        (share(y) - share(view)).abs() < 0.05,
        "{} {}",
        share(y),
        share(view)
    );
    // one number
    let options = |view: &str, trials: u64| SimulateOptions {
        trials: [(view.to_owned(), trials)].into(),
    };
    let drawn = fit.simulate_with(2000, 3, &options("y", 7)).unwrap();
    let y = drawn.view("y").unwrap();
    assert!((0..D).all(|d| y.trials_of(5, d) == 7.0));
    let largest = y.values().col(0).iter().fold(0.0, |m: f64, x| m.max(*x));
    assert_eq!(largest, 7.0);
    assert!(
        (share(y) - share(view)).abs() < 0.05,
        "{} {}",
        share(y),
        share(view)
    );
    // what cannot be
    let kind = |o: &SimulateOptions| fit.simulate_with(5, 3, o).unwrap_err().kind().clone();
    assert!(matches!(
        kind(&options("x", 7)),
        ErrorKind::UnknownView { .. }
    ));
    assert!(matches!(
        kind(&options("real", 7)),
        ErrorKind::Incompatible { .. }
    ));
    assert!(matches!(
        kind(&options("y", 0)),
        ErrorKind::Option {
            option: "trials",
            ..
        }
    ));
    fit.forget_data();
    let e = fit.simulate(5, 3).unwrap_err();
    assert!(matches!(e.kind(), ErrorKind::Incompatible { .. }), "{e}");
    fit.simulate_with(5, 3, &options("y", 7)).unwrap();
}

#[test]
fn successes_are_replicated_out_of_their_own_trials() {
    let data = simulated_by(1, "binomial");
    let fit = |data: &Dataset| crate::fit(data.clone(), spec("binomial")).unwrap();
    let checked = |fit: &Fit, samples: usize| {
        let options = CheckOptions {
            samples,
            ..CheckOptions::default()
        };
        fit.predictive_checks(&options).unwrap().pop().unwrap()
    };
    let good = fit(&data);
    // of the samples looked at as well: their trials differ from row to row
    for samples in [N, 23] {
        let check = checked(&good, samples);
        assert_eq!((check.view.as_str(), check.samples), ("y", samples));
        let names: Vec<&str> = check.statistics.iter().map(|s| s.name.as_str()).collect();
        assert_eq!(
            names,
            ["share of zeros", "variance over mean", "largest count"]
        );
        for s in &check.statistics {
            assert!((0.02..0.98).contains(&s.mean_p), "{}: {}", s.name, s.mean_p);
        }
    }
    // all or nothing out of the trials, which no binomial law makes
    let view = data.view("y").unwrap();
    let mut rng = StreamKey::new(8).rng();
    let torn = Mat::from_fn(N, D, |n, d| {
        let (y, trials) = (view.value(n, d).unwrap(), view.trials_of(n, d));
        trials * f64::from(u8::from(uniform_open01(&mut rng) < y / trials))
    });
    let torn = Dataset::builder()
        .view(table("y", torn))
        .trials(table("y", Mat::clone(view.trials().unwrap())))
        .build()
        .unwrap();
    let check = checked(&fit(&torn), N);
    let spread = &check.statistics[1];
    assert!(spread.mean_p < 0.02, "{}", spread.mean_p);
    let (columns, extreme) = spread.columns_and_extremes();
    assert!(columns == D && extreme > D / 2, "{extreme}");
}
