//! Recovery of what was simulated, and the two engines against each other.

use polyview::{EngineKind, Fit, hold_out, models};
use polyview_core::FeatureScaling;
use polyview_datasets::{Missing, SimulationOptions, simulate_factor_data};
use polyview_linalg::Mat;

fn fit(data: &polyview_core::Dataset, k: usize, engine: EngineKind) -> Fit {
    let mut spec = models::bibfa(k);
    spec.engine = engine;
    // the simulated noise is the same for all features of a view, and so it
    // must stay: dividing each feature by its own spread would undo that
    spec.defaults.scaling = FeatureScaling::View;
    polyview::fit(data.clone(), spec).expect("a fit")
}

fn mean(m: &Mat<f64>) -> f64 {
    let mut sum = 0.0;
    for j in 0..m.ncols() {
        for i in 0..m.nrows() {
            sum += m[(i, j)];
        }
    }
    sum / (m.nrows() * m.ncols()) as f64
}

/// spec/sshiba 9.6.9: three factors of twelve, one more at most.
#[test]
fn the_number_of_factors_is_recovered() {
    for seed in 0..10 {
        let truth =
            simulate_factor_data(&SimulationOptions::new(400, &[15, 20], 3, seed)).expect("data");
        let k = fit(&truth.dataset, 12, EngineKind::Vb).k();
        assert!((3..=4).contains(&k), "seed {seed}: {k} factors");
    }
}

/// Share of the variance of each column of `truth` that the columns of `found`
/// explain; the least of them.
fn least_explained(truth: &Mat<f64>, found: &Mat<f64>) -> f64 {
    let gram = found.transpose() * found;
    let cross = found.transpose() * truth;
    let slopes =
        polyview_linalg::solve_spd(gram.as_ref(), cross.as_ref()).expect("independent factors");
    let rest = truth - found * &slopes;
    (0..truth.ncols())
        .map(|j| {
            let energy = |m: &Mat<f64>| (0..m.nrows()).map(|i| m[(i, j)].powi(2)).sum::<f64>();
            1.0 - energy(&rest) / energy(truth)
        })
        .fold(1.0, f64::min)
}

/// The space of the factors is found; their axes are not identified by
/// automatic relevance determination alone.
#[test]
fn factors_are_recovered() {
    for (seed, missing) in [(1, 0.0), (2, 0.2)] {
        let mut options = SimulationOptions::new(500, &[60, 40, 30], 4, seed);
        options.missing = Missing {
            cells: missing,
            ..Missing::default()
        };
        options.density = 0.4;
        let truth = simulate_factor_data(&options).expect("data");
        let fit = fit(&truth.dataset, 10, EngineKind::Vb);
        let found = least_explained(&truth.factors, &fit.factors().expect("factors").mean);
        assert!(found > 0.9, "seed {seed}: {found}");
    }
}

/// Intervals of held-out cells hold what they promise.
#[test]
fn intervals_are_calibrated() {
    let (mut inside, mut cells) = (0.0, 0.0);
    for seed in 0..8 {
        let truth =
            simulate_factor_data(&SimulationOptions::new(150, &[25, 20], 3, seed)).expect("data");
        let hidden = hold_out(&truth.dataset, 0.15, seed).expect("cells");
        let fit = fit(&hidden.data, 8, EngineKind::Vb);
        for h in fit.held_out_score(&truth.dataset).expect("scores") {
            inside += h.coverage * h.cells as f64;
            cells += h.cells as f64;
        }
    }
    let coverage = inside / cells;
    assert!(
        (coverage - 0.95).abs() < 0.015,
        "{coverage} over {cells} cells"
    );
}

/// Variational Bayes and Gibbs agree on what they predict; Gibbs is less sure.
#[test]
fn engines_agree_where_they_should() {
    let truth = simulate_factor_data(&SimulationOptions::new(80, &[20, 15], 2, 4)).expect("data");
    let hidden = hold_out(&truth.dataset, 0.1, 4).expect("cells");
    let vb = fit(&hidden.data, 2, EngineKind::Vb);
    let gibbs = fit(&hidden.data, 2, EngineKind::Gibbs);
    for d in &gibbs.record().diagnostics {
        assert!(d.summary.rhat < 1.1, "{}: {}", d.quantity, d.summary.rhat);
    }
    for v in ["view1", "view2"]
        .into_iter()
        .filter(|v| vb.view(v).is_ok())
    {
        let (a, b) = (vb.fitted(v).expect("fit"), gibbs.fitted(v).expect("fit"));
        let (mut aa, mut bb, mut ab) = (0.0, 0.0, 0.0);
        for j in 0..a.mean.ncols() {
            for i in 0..a.mean.nrows() {
                let (x, y) = (a.mean[(i, j)], b.mean[(i, j)]);
                aa += x * x;
                bb += y * y;
                ab += x * y;
            }
        }
        assert!(
            ab / (aa * bb).sqrt() > 0.998,
            "{v}: {}",
            ab / (aa * bb).sqrt()
        );
    }
    let (sa, sb) = (
        mean(&vb.factors().expect("factors").sd),
        mean(&gibbs.factors().expect("factors").sd),
    );
    assert!(sb > sa, "Gibbs is not less sure: {sb} {sa}");
    let score = |f: &Fit| {
        let s = f.held_out_score(&truth.dataset).expect("scores");
        s.iter().map(|h| h.r2).sum::<f64>() / s.len() as f64
    };
    assert!(
        (score(&vb) - score(&gibbs)).abs() < 0.02,
        "{} {}",
        score(&vb),
        score(&gibbs)
    );
}
