//! Ordered levels through every verb.

use polyview_core::{Dataset, Domain};
use polyview_linalg::Mat;
use polyview_random::{ChaCha8Rng, StreamKey, standard_normal};

use super::counts::table;
use crate::CrossValidateScore as Score;
use crate::verbs::cross_validate::{CrossValidateModel, CrossValidateOptions};
use crate::{CheckOptions, EngineKind, Fit, Fitting, ModelSpec, hold_out, metrics, models};

const N: usize = 160;
const D: usize = 12;
/// Cut points of the simulated levels, which add up to zero, and levels of features.
const CUTS: [f64; 4] = [-1.6, -0.4, 0.5, 1.5];

fn intercept(d: usize) -> f64 {
    0.4 * (d % 3) as f64 - 0.4
}

/// A view of numbers, one of levels of the same two factors, and the predictors of the latter.
fn simulated(seed: u64) -> (Dataset, Mat<f64>) {
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
    let real = Mat::from_fn(N, 6, |n, d| real[(n, d)] + 0.5 * standard_normal(&mut rng));
    let eta = &z * w.transpose();
    let eta = Mat::from_fn(N, D, |n, d| eta[(n, d)] + intercept(d));
    let levels = Mat::from_fn(N, D, |n, d| {
        let noisy = eta[(n, d)] + standard_normal(&mut rng);
        1.0 + CUTS.iter().filter(|c| **c < noisy).count() as f64
    });
    let data = Dataset::builder()
        .view(table("real", real))
        .view(table("y", levels));
    (data.build().unwrap(), eta)
}

fn spec(likelihood: &str) -> ModelSpec {
    let mut spec =
        models::sshiba(4).with_likelihood("y", likelihood.parse::<crate::Likelihood>().unwrap());
    spec.vb.max_sweeps = 60;
    spec
}

/// Cut points of a fit: of a Gibbs fit of its first draw.
fn gaps(fit: &Fit) -> Vec<f64> {
    let component = fit.component(0).unwrap();
    let mut saved = polyview_core::State::new();
    component.views[1].term.save("y", &mut saved);
    saved.reader().vec("y/gaps").unwrap()
}

fn correlation(a: &Mat<f64>, b: &Mat<f64>) -> f64 {
    let cells = || (0..a.ncols()).flat_map(|d| (0..a.nrows()).map(move |n| (n, d)));
    let count = cells().count() as f64;
    let mean = |m: &Mat<f64>| cells().map(|at| m[at]).sum::<f64>() / count;
    let (ma, mb) = (mean(a), mean(b));
    let product = |x: &Mat<f64>, mx: f64, y: &Mat<f64>, my: f64| -> f64 {
        cells().map(|at| (x[at] - mx) * (y[at] - my)).sum()
    };
    product(a, ma, b, mb) / (product(a, ma, a, ma) * product(b, mb, b, mb)).sqrt()
}

/// Predictors and cut points are found, by the expectation of the density, by the bound, and by
/// draws.
#[test]
fn predictors_and_cut_points_are_recovered() {
    let (data, eta) = simulated(5);
    for (likelihood, engine) in [
        ("ordinal", EngineKind::Vb),
        ("ordinal{form=bound}", EngineKind::Vb),
        ("ordinal", EngineKind::Gibbs),
    ] {
        let mut spec = spec(likelihood);
        spec.engine = engine;
        (spec.gibbs.chains, spec.gibbs.warm_up, spec.gibbs.sweeps) = (1, 60, 60);
        let fit = crate::fit(data.clone(), spec).unwrap();
        // expected levels rise with the predictor
        let found = fit.fitted("y").unwrap();
        let r = correlation(&found.mean, &eta);
        assert!(r > 0.93, "{likelihood} {engine:?}: {r}");
        let gaps = gaps(&fit);
        for (gap, pair) in gaps.iter().zip(CUTS.windows(2)) {
            let truth = pair[1] - pair[0];
            assert!(
                (gap / truth - 1.0).abs() < 0.25,
                "{likelihood} {engine:?}: {gaps:?}"
            );
        }
    }
}

#[test]
fn levels_go_through_every_verb() {
    let (full, _) = simulated(6);
    let part = hold_out(&full, 0.1, 3).unwrap();
    let fit = crate::fit(part.data.clone(), spec("ordinal")).unwrap();
    // the number of levels is written down
    let options = fit
        .view("y")
        .unwrap()
        .1
        .choices
        .likelihood
        .options()
        .clone();
    assert_eq!(options.text("levels").as_deref(), Some("5"));
    let score = &fit.held_out_score(&full).unwrap()[1];
    assert_eq!(score.kind, Domain::LEVELS);
    let levels = score.levels.unwrap();
    assert!((levels.log_loss + score.log_density).abs() < 1e-12);
    assert!(
        levels.log_loss < 1.3 && levels.absolute_error < 0.9,
        "{levels:?}"
    );
    assert!((0.9..1.0).contains(&score.coverage), "{}", score.coverage);
    // probabilities add up to one, and the mean is theirs
    let p = fit.predict(&part.data, "y").unwrap();
    let of = p.levels.as_ref().unwrap();
    let all = of.of_cell(3, 2);
    assert_eq!(all.len(), 5);
    assert!((all.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    let mean: f64 = all
        .iter()
        .enumerate()
        .map(|(k, p)| (k + 1) as f64 * p)
        .sum();
    assert!((mean - p.mean[(3, 2)]).abs() < 1e-10);
    let (lower, upper) = p.interval(0.9).unwrap();
    assert!(lower[(3, 2)] <= of.median()[(3, 2)] && of.median()[(3, 2)] <= upper[(3, 2)]);
    assert!(metrics::median_level(&all) as f64 == of.median()[(3, 2)]);
    // holes are filled by levels
    let filled = fit.impute("y", 0.9).unwrap();
    for d in 0..D {
        for x in filled.values.col_as_slice(d) {
            assert!(x.fract() == 0.0 && (1.0..=5.0).contains(x));
        }
    }
    let explained = fit.explain().unwrap();
    assert!(explained.total[1] > 0.4, "{:?}", explained.total);
    assert!(
        (0.1..0.9).contains(&explained.deviance[1]),
        "{:?}",
        explained.deviance
    );
    fit.predictive_checks(&CheckOptions::default()).unwrap();
    // settled on factors that did not see them, levels of the same samples are predicted as well
    let mut settled = fit.clone();
    settled.settle(&["y"]).unwrap();
    let again = settled.predict(&part.data, "y").unwrap().levels.unwrap();
    let loss = |of: &crate::PredictedLevels| {
        let (mut sum, mut count) = (0.0, 0.0);
        let view = full.view("y").unwrap();
        for d in 0..D {
            for n in 0..N {
                let level = view.value(n, d).unwrap() as usize;
                sum -= of.of_cell(n, d)[level - 1].ln();
                count += 1.0;
            }
        }
        sum / count
    };
    assert!(
        loss(&again) < loss(of) + 0.02,
        "{} {}",
        loss(&again),
        loss(of)
    );
    // a file says the same
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.pv");
    fit.save(&path, polyview_core::Overwrite::Refuse).unwrap();
    let again = Fit::load(&path).unwrap().predict(&part.data, "y").unwrap();
    assert_eq!(again.levels.unwrap().probability, of.probability);
}

#[test]
fn levels_of_new_samples_and_hidden_ones_are_cross_validated() {
    let (data, _) = simulated(7);
    let models = [CrossValidateModel::new("m", spec("ordinal"))];
    for targets in [vec!["y".to_owned()], Vec::new()] {
        let options = CrossValidateOptions {
            targets: targets.clone(),
            folds: 2,
            ..CrossValidateOptions::default()
        };
        let found = crate::cross_validate(&data, &models, &options, &|_| {}).unwrap();
        let of = |method: &str, score: Score| {
            let own = found
                .summary
                .iter()
                .filter(|s| s.target == "y" && s.method == method);
            own.filter(|s| s.score == score).map(|s| s.mean).next()
        };
        for score in [
            Score::LogLoss,
            Score::RankedProbability,
            Score::AbsoluteError,
        ] {
            let (own, plain) = (of("m", score).unwrap(), of("mean", score).unwrap());
            assert!(own < plain, "{targets:?} {score:?}: {own} {plain}");
        }
        let plain = if targets.is_empty() {
            "softly thresholded SVD"
        } else {
            // which says probabilities of levels too
            let own = of("ordered regression", Score::LogLoss).unwrap();
            assert!(own < of("mean", Score::LogLoss).unwrap());
            "ordered regression"
        };
        assert!(of(plain, Score::AbsoluteError).is_some());
    }
}

/// Squared errors of hidden levels are of what the decomposition says, not of the level next to that, which costs it what
/// rounding costs: the same numbers taken as real have the same score, but for what lies beyond the levels.
#[test]
fn hidden_levels_are_not_rounded_for_their_squares() {
    let (data, _) = simulated(7);
    let svd = |likelihood: &str| {
        let mut short = spec(likelihood);
        short.vb.max_sweeps = 2;
        let models = [CrossValidateModel::new("m", short)];
        let options = CrossValidateOptions {
            folds: 2,
            ..CrossValidateOptions::default()
        };
        let found = crate::cross_validate(&data, &models, &options, &|_| {}).unwrap();
        let mut own = (found.summary.iter())
            .filter(|s| (s.target.as_str(), s.method.as_str()) == ("y", "softly thresholded SVD"));
        own.find(|s| s.score == Score::R2).unwrap().mean
    };
    let (levels, numbers) = (svd("ordinal"), svd("gaussian"));
    assert!(
        levels >= numbers && levels < numbers + 0.02,
        "{levels} {numbers}"
    );
}

/// The highest level is that of one sample: whoever is trained without it knows that there is
/// one.
#[test]
fn a_level_that_training_lacks_is_possible() {
    let (data, _) = simulated(9);
    let view = data.view("y").unwrap();
    let values = Mat::from_fn(N, D, |n, d| {
        let highest = if n == 7 { 5.0 } else { 4.0 };
        view.value(n, d).unwrap().min(highest)
    });
    let values = Mat::from_fn(N, D, |n, d| {
        if (n, d) == (7, 0) {
            5.0
        } else {
            values[(n, d)]
        }
    });
    let data = data
        .clone()
        .with_view(view.with_values(values).unwrap())
        .unwrap();
    let mut short = spec("ordinal");
    short.vb.max_sweeps = 10;
    let models = [CrossValidateModel::new("m", short)];
    let options = CrossValidateOptions {
        targets: vec!["y".to_owned()],
        folds: 2,
        ..CrossValidateOptions::default()
    };
    let found = crate::cross_validate(&data, &models, &options, &|_| {}).unwrap();
    let losses = (found.rows.iter()).filter(|r| r.score == Score::LogLoss);
    assert!(losses.clone().count() > 2);
    for row in losses {
        assert!(row.value.is_finite(), "{row:?}");
    }
}

/// Levels 1 and 2 are what zeros and ones are to `probit`.
#[test]
fn two_levels_are_fitted_as_by_probit() {
    let (data, _) = simulated(8);
    let view = data.view("y").unwrap();
    let with = |shift: f64| {
        let values = Mat::from_fn(N, D, |n, d| {
            f64::from(u8::from(view.value(n, d).unwrap() > 3.0)) + shift
        });
        data.clone()
            .with_view(view.with_values(values).unwrap())
            .unwrap()
    };
    let (two, ones) = (
        crate::fit(with(1.0), spec("ordinal{form=bound}")).unwrap(),
        crate::fit(with(0.0), spec("probit{form=bound}")).unwrap(),
    );
    let (a, b) = (
        two.fitted("y").unwrap().mean,
        ones.fitted("y").unwrap().mean,
    );
    for d in 0..D {
        for n in 0..N {
            assert!((a[(n, d)] - 1.0 - b[(n, d)]).abs() < 1e-6);
        }
    }
    // one posterior, one share
    let [two, ones] = [two, ones].map(|fit| fit.explain().unwrap());
    let y = two.views.iter().position(|name| name == "y").unwrap();
    assert!(two.total[y] > 0.2);
    assert!(
        (two.total[y] - ones.total[y]).abs() < 1e-6,
        "{} {}",
        two.total[y],
        ones.total[y]
    );
}

#[test]
fn levels_that_no_cell_has_are_warned_of() {
    let warned = |used: &[f64]| {
        let waves = Mat::from_fn(40, 3, |n, d| ((n * (d + 1)) as f64).sin());
        let levels = Mat::from_fn(40, 3, |n, d| used[(n + d) % used.len()]);
        let data = Dataset::builder()
            .view(table("real", waves))
            .view(table("y", levels));
        let mut spec = spec("ordinal");
        spec.vb.max_sweeps = 5;
        let fitting = crate::Fitting::new(data.build().unwrap(), spec).unwrap();
        let mut said = fitting.journal().warnings();
        said.any(|w| w.contains("no cell has the level 3"))
    };
    assert!(warned(&[1.0, 2.0, 4.0]));
    assert!(!warned(&[1.0, 2.0, 3.0, 4.0]));
}

/// The number of levels that was found in the data is no choice of the user, neither when the fit
/// goes on from a checkpoint nor when another one starts from its choices.
#[test]
fn levels_that_were_found_are_said_to_be_of_the_data() {
    let (data, _) = simulated(5);
    let place = ["views/y/options/ordinal/levels".to_owned()];
    let file = std::env::temp_dir().join(format!("found-levels-{}.pvc", std::process::id()));
    let mut fitting = Fitting::new(data.clone(), spec("ordinal")).unwrap();
    fitting.step().unwrap();
    fitting.save_checkpoint(&file).unwrap();
    let spoken = |spec: Option<&ModelSpec>| spec.unwrap().from_data.clone();
    assert_eq!(spoken(fitting.spec()), place);
    let again = fitting.spec().unwrap().clone();
    for given in [spec("ordinal"), again] {
        let mut resumed = Fitting::new(data.clone(), given).unwrap();
        resumed.resume_from(&file).unwrap();
        let fit = resumed.finish().unwrap();
        assert_eq!(spoken(fit.spec()), place);
    }
    std::fs::remove_file(&file).unwrap();
    // of five levels that somebody said nothing is remarked
    let said = Fitting::new(data, spec("ordinal{levels=5}")).unwrap();
    assert!(spoken(said.spec()).is_empty());
}

/// Where a model has forgotten its data, what factors act in is told from the model, with the same weight of features: levels count
/// alike there, too, so that noise in one of them hides none of the others.
#[test]
fn levels_count_alike_with_data_and_without() {
    let (data, _) = simulated(5);
    let mut fit = crate::fit(data, spec("ordinal")).unwrap();
    let of_data = fit.active(0.01).unwrap();
    fit.forget_data();
    let of_model = fit.active(0.01).unwrap();
    for m in 0..of_data.share.nrows() {
        for k in 0..of_data.share.ncols() {
            let (a, b) = (of_data.share[(m, k)], of_model.share[(m, k)]);
            assert!((a - b).abs() < 0.05, "{m} {k}: {a} {b}");
        }
    }
}
