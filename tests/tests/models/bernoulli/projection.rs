//! Binary views seen in new samples (spec/sshiba 4.1).

use polyview_core::{Context, Journal, RowMoments, View};
use polyview_infer::{Model, ProjectionRounds, VbOptions, ViewPart, project_factors};
use polyview_likelihoods::{MissingData, NoiseBy};
use polyview_linalg::Mat;
use polyview_priors::{Fixed, FullRows};
use polyview_random::StreamKey;
use polyview_tests::{Holes, normal};

use super::{Kind, finish, latent, marginal, model, part, run, simulate, term};

/// The fit's terms on these views, factors unknown.
fn new_samples(fitted: &Model, views: &[View]) -> Model {
    let parts = fitted
        .views
        .iter()
        .zip(views)
        .map(|(v, view)| ViewPart {
            name: v.name.clone(),
            term: v.term.rebind(view).expect("the same features"),
            weights: Box::new(FullRows::new(
                v.name.clone(),
                Fixed::standard_normal(fitted.k()),
                v.weights.moments().clone(),
            )),
            bias: v.bias.clone(),
        })
        .collect();
    let rows = views[0].n_samples();
    let mut out = model(parts, Mat::zeros(rows, fitted.k()));
    out.factors
        .set_moments(RowMoments::isotropic(Mat::zeros(rows, fitted.k()), 1.0, 0));
    out
}

/// Rounds, largest gap to `expected`, number of journal lines.
fn projected(
    m: &mut Model,
    rounds: ProjectionRounds,
    expected: &RowMoments,
) -> (usize, f64, usize) {
    let mut journal = Journal::default();
    let mut cx = Context {
        key: StreamKey::new(0),
        sweep: 0,
        journal: &mut journal,
    };
    let used = project_factors(m, rounds, &mut cx).expect("finite");
    let found = m.factors.moments();
    let mut gap: f64 = 0.0;
    for n in 0..found.explicit_rows() {
        for k in 0..found.k() {
            gap = gap.max((found.mean()[(n, k)] - expected.mean()[(n, k)]).abs());
            let (a, b) = (found.variance(n, k), expected.variance(n, k));
            gap = gap.max((a - b).abs());
        }
    }
    (used.rounds, gap, used.moving.len())
}

#[test]
fn a_training_sample_projects_to_its_posterior() {
    let by_feature = latent(NoiseBy::Feature, MissingData::Marginal, false);
    for kinds in [
        [Kind::Gaussian, Kind::Direct],
        [marginal(), Kind::Direct],
        [Kind::Gaussian, by_feature],
    ] {
        let z = normal(50, 2, &mut StreamKey::new(2).rng());
        let views: Vec<View> = kinds
            .iter()
            .zip([("a", 6), ("b", 14)])
            .map(|(kind, (name, d))| {
                let seed = d as u64;
                simulate(*kind, name, &z, d, (0.0, 1.5), Holes::Cells(0.1), seed).view
            })
            .collect();
        let parts = views
            .iter()
            .zip(kinds)
            .map(|(v, kind)| part(term(kind, v.clone()), v.name(), 2, Some(0.1)))
            .collect();
        let start = normal(50, 2, &mut StreamKey::new(4).rng());
        let mut r = run(model(parts, start), 1, true);
        // nothing may move any more
        let options = VbOptions {
            max_sweeps: 4000,
            tolerance: 1e-13,
            movement: 1e-8,
            ..VbOptions::default()
        };
        finish(&mut r);
        let (fitted, _) = r.into_parts();
        let mut r =
            polyview_infer::VbRun::new(fitted, options, StreamKey::new(1), Journal::default());
        finish(&mut r);
        let fitted = r.model();
        let expected = fitted.factors.moments();
        let tight = ProjectionRounds {
            tolerance: 1e-10,
            most: 1000,
        };
        let (used, gap, moving) = projected(&mut new_samples(fitted, &views), tight, expected);
        assert!(used > 2 && moving == 0, "{kinds:?}: {used} rounds");
        assert!(gap < 1e-5, "{kinds:?}: {gap:e}");
        let default = ProjectionRounds::default();
        let (_, gap, moving) = projected(&mut new_samples(fitted, &views), default, expected);
        assert!(gap < 1e-4 && moving == 0, "{kinds:?}: {gap:e}");
        // one round is not enough, and the end of the projection says so
        let one = ProjectionRounds {
            most: 1,
            ..ProjectionRounds::default()
        };
        let (_, gap, moving) = projected(&mut new_samples(fitted, &views), one, expected);
        assert!(gap > 1e-3 && moving > 0, "{kinds:?}: {gap:e}");
    }
}

#[test]
fn samples_without_labels_are_the_prior() {
    let z = normal(30, 2, &mut StreamKey::new(2).rng());
    for kind in [Kind::Direct, marginal()] {
        let s = simulate(kind, "a", &z, 8, (0.0, 1.5), Holes::None, 3);
        let parts = vec![part(term(kind, s.view.clone()), "a", 2, Some(0.1))];
        let mut r = run(model(parts, z.clone()), 20, true);
        finish(&mut r);
        let none = s.view.hiding(|_, _| true);
        let prior = RowMoments::isotropic(Mat::zeros(30, 2), 1.0, 0);
        let mut m = new_samples(r.model(), &[none]);
        let (_, gap, _) = projected(&mut m, ProjectionRounds::default(), &prior);
        assert!(gap < 1e-12, "{gap:e}");
    }
}
