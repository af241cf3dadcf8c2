//! Samples under known components.

use polyview_core::{Context, Journal, RowMoments, Schedule, State, Stateful, View};

use polyview_infer::{Model, ProjectionRounds, ViewPart, project_factors};
use polyview_linalg::Mat;
use polyview_priors::{Fixed, FullRows, Mixture, MixtureRows};
use polyview_random::StreamKey;

use super::fits::{K, T, converged, data};
use super::options;

/// The fit's parts for these views, factors unknown.
fn samples(fitted: &Model, views: &[View]) -> Model {
    let rows = views[0].n_samples();
    let parts = fitted
        .views
        .iter()
        .filter_map(|v| {
            let view = views.iter().find(|w| w.name() == v.name)?;
            Some(ViewPart {
                name: v.name.clone(),
                term: v.term.rebind(view).expect("the same features"),
                weights: Box::new(FullRows::new(
                    v.name.clone(),
                    Fixed::standard_normal(K),
                    v.weights.moments().clone(),
                )),
                bias: v.bias.clone(),
            })
        })
        .collect();
    let mut state = State::new();
    fitted.factors.save("f", &mut state);
    let mut mixture = Mixture::new(options(T), K);
    mixture
        .load("f/prior", &state.reader())
        .expect("components");
    let start = RowMoments::isotropic(Mat::zeros(rows, K), 1.0, 0);
    let factors = MixtureRows::under("factors", mixture, start);
    let mut out = Model::new(Box::new(factors), parts, Schedule { sweep: Vec::new() });
    // noise precisions are the term's own
    for v in &mut out.views {
        let from = fitted.views.iter().find(|w| w.name == v.name);
        if let Some(noise) = from.and_then(|w| w.term.as_noise()?.precisions()) {
            v.term.as_noise_mut().expect("noise").share(noise);
        }
    }
    out
}

fn project(model: &mut Model) -> usize {
    let mut journal = Journal::default();
    let mut cx = Context {
        key: StreamKey::new(0),
        sweep: 0,
        journal: &mut journal,
    };
    let rounds = ProjectionRounds {
        tolerance: 1e-9,
        most: 2000,
    };
    let ended = project_factors(model, rounds, &mut cx).expect("finite");
    assert!(ended.moving.is_empty(), "{ended:?}");
    ended.rounds
}

#[test]
fn training_samples_with_their_labels_get_their_posterior() {
    let run = converged(1e-13);
    let fitted = run.model();
    let mut new = samples(fitted, &data());
    assert!(project(&mut new) > 2);
    let (found, expected) = (new.factors.moments(), fitted.factors.moments());
    let (shares, own) = (new.factors.shares(), fitted.factors.shares());
    let (shares, own) = (shares.expect("shares"), own.expect("shares"));
    let mut worst: f64 = 0.0;
    for n in 0..found.rows() {
        for k in 0..K {
            worst = worst.max((found.mean()[(n, k)] - expected.mean()[(n, k)]).abs());
        }
        for t in 0..T {
            worst = worst.max((shares[(n, t)] - own[(n, t)]).abs());
        }
    }
    assert!(worst < 1e-3, "{worst:e}");
}

/// Without labels, from the same data, most samples are of the same component.
#[test]
fn samples_without_labels_belong_by_their_factors() {
    let run = converged(1e-9);
    let fitted = run.model();
    let only: Vec<View> = data().into_iter().filter(|v| v.name() == "x").collect();
    let mut new = samples(fitted, &only);
    project(&mut new);
    let top = |m: &Mat<f64>, n: usize| {
        (0..T).fold(0, |best, t| if m[(n, t)] > m[(n, best)] { t } else { best })
    };
    let (a, b) = (
        new.factors.shares().expect("shares").clone(),
        fitted.factors.shares().expect("shares").clone(),
    );
    let same = (0..a.nrows()).filter(|&n| top(&a, n) == top(&b, n)).count();
    assert!(same * 10 > a.nrows() * 9, "{same} of {}", a.nrows());
}
