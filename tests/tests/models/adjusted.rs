//! Covariates and offsets beside factors (spec/sites 9;
//! docs/decisions/0057-covariates-beside-factors.md): the bound never falls, draws leave the joint
//! distribution alone, and equations are those of some columns given the others.

use polyview_core::{
    Context, GammaPrior, Journal, NormalEquations, RowBlock, RowMoments, Rule, State, Stateful,
};
use polyview_infer::{Audit, Model, PruneRule, VbOptions, VbRun};
use polyview_likelihoods::{MissingData, NoiseBy};
use polyview_linalg::{Mat, PackedRows, SpdFactor, SymPacked};
use polyview_priors::{Fixed, FullRows, RowsBeside};
use polyview_random::StreamKey;
use polyview_tests::geweke::largest_score;
use polyview_tests::mixed::{MixedView, Species};
use polyview_tests::{Holes, normal, sparse};
use proptest::prelude::*;

const RIDGE: GammaPrior = GammaPrior::new(4.0, 4.0);

/// The same model with covariates, and an offset of the first view.
fn adjusted(model: Model, covariates: usize, seed: u64) -> Model {
    let samples = model.factors.moments().rows();
    let rng = &mut StreamKey::new(seed).block(99).rng();
    let known = normal(samples, covariates + 1, rng);
    let Model {
        factors,
        views,
        schedule,
        ..
    } = model;
    let views = (views.into_iter().enumerate())
        .map(|(m, mut part)| {
            let columns = part.weights.moments().rows();
            let offset = Mat::full(columns, 1, if m == 0 { 0.7 } else { 0.0 });
            let what = (format!("coefficients/{}", part.name), covariates, RIDGE);
            part.weights = Box::new(RowsBeside::with_coefficients(part.weights, what, offset));
            part
        })
        .collect();
    let factors = Box::new(RowsBeside::about(factors, known, covariates));
    Model::new(factors, views, schedule)
}

fn species() -> Vec<Species> {
    vec![
        Species::Real(NoiseBy::View),
        Species::Real(NoiseBy::Feature),
        Species::Labels,
        Species::Probit,
        Species::Latent(NoiseBy::Feature),
        Species::Counts,
        Species::Classes,
        Species::Svm,
    ]
}

fn holes() -> impl Strategy<Value = Holes> {
    prop_oneof![
        Just(Holes::None),
        (0.1f64..0.5).prop_map(Holes::Rows),
        (0.1f64..0.5).prop_map(Holes::Cells),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]
    #[test]
    fn no_block_lowers_the_bound(
        seed in any::<u64>(),
        samples in 3usize..20,
        k in 1usize..4,
        covariates in 0usize..4,
        views in prop::collection::vec((prop::sample::select(species()), 2usize..6, holes()), 1..3),
        weights in prop::sample::select(sparse::ROWS.to_vec()),
        factors in prop::sample::select(sparse::ROWS.to_vec()),
    ) {
        let rng = &mut StreamKey::new(seed).block(78).rng();
        let start = normal(samples, k, rng);
        let parts = (views.iter().enumerate())
            .map(|(m, &(species, columns, holes))| {
                let view = MixedView { holes, ..MixedView::new(species, columns) };
                let data = view.data(&format!("v{m}"), &start, seed);
                view.part(&data, 1, k)
            })
            .collect();
        let model = sparse::assemble(parts, weights, factors, None, start);
        let options = VbOptions {
            max_sweeps: 8,
            audit: Audit::Blocks,
            prune: PruneRule::never(),
            ..VbOptions::default()
        };
        let model = adjusted(model, covariates, seed);
        let mut run = VbRun::new(model, options, StreamKey::new(seed), Journal::default());
        let mut last = f64::NEG_INFINITY;
        loop {
            let report = run.sweep().map_err(|e| TestCaseError::fail(e.to_string()))?;
            prop_assert!(report.bound >= last - 1e-9 * last.abs().max(1.0));
            last = report.bound;
            if report.outcome.is_some() {
                break;
            }
        }
    }
}

#[test]
fn gibbs_leaves_the_joint_distribution_alone() {
    for (noise, holes, rows) in [
        (NoiseBy::View, Holes::None, sparse::Rows::Full),
        (NoiseBy::Feature, Holes::None, sparse::Rows::Full),
        (NoiseBy::View, Holes::Cells(0.3), sparse::Rows::Full),
        (NoiseBy::Feature, Holes::None, sparse::Rows::SpikeSlab),
    ] {
        let start = normal(6, 2, &mut StreamKey::new(2).rng());
        let parts = (0..2)
            .map(|m| {
                let view = MixedView {
                    holes,
                    missing: MissingData::Marginal,
                    ..MixedView::new(Species::Real(noise), 3 + m)
                };
                let mut part = view.part(&view.data(&format!("v{m}"), &start, 3), 1, 2);
                part.term = geweke_term(&view, &part, &start);
                part
            })
            .collect();
        let model = sparse::assemble(parts, rows, sparse::Rows::Full, None, start);
        let score = largest_score(adjusted(model, 2, 5), 6000, 3);
        assert!(score < 4.5, "{noise:?} {holes:?} {rows:?}: {score}");
    }
}

/// The term of a view with a noise prior that has the moments of the test.
fn geweke_term(
    view: &MixedView,
    part: &polyview_infer::ViewPart,
    start: &Mat<f64>,
) -> Box<dyn polyview_core::ViewTerm> {
    let Species::Real(noise) = view.species else {
        unreachable!("real numbers")
    };
    let options = polyview_likelihoods::GaussianOptions {
        noise,
        prior: GammaPrior::new(4.0, 3.0),
        missing: view.missing,
        start: 1.0,
    };
    let data = view.data(&part.name, start, 3);
    Box::new(polyview_likelihoods::Gaussian::new(data, options))
}

/// Equations of every kind, of five columns and four rows.
fn equations() -> NormalEquations {
    let (k, rows) = (5, 4);
    let rng = &mut StreamKey::new(9).rng();
    let mut eq = NormalEquations::new(k, 0..rows);
    let spd = |z: Mat<f64>| {
        let mut s = SymPacked::identity(k);
        for r in 0..z.nrows() {
            let row: Vec<f64> = (0..k).map(|j| z[(r, j)]).collect();
            s.add_outer(0.5, &row);
        }
        s
    };
    eq.gram = spd(normal(3, k, rng));
    eq.rhs = normal(rows, k, rng);
    eq.scale = Some(vec![0.5, 1.0, 1.5, 2.0]);
    eq.own = true;
    let mut packed = PackedRows::zeros(rows, k);
    for r in 0..rows {
        packed
            .row_mut(r)
            .copy_from_slice(spd(normal(2, k, rng)).as_slice());
    }
    eq.packed = Some(packed);
    eq
}

#[test]
fn equations_are_those_of_some_columns_given_the_others_or_without_them() {
    let eq = equations();
    let values = normal(4, 5, &mut StreamKey::new(4).rng());
    let given = eq.given(0..3, values.as_ref());
    let precision = [0.7, 1.3];
    let marginal = eq.marginal(3, &precision).expect("positive");
    for r in 0..4 {
        let all = eq.row_precision(r);
        let part = given.row_precision(r);
        for i in 0..3 {
            let known: f64 = (3..5).map(|o| all.get(o, i) * values[(r, o)]).sum();
            assert!((given.rhs[(r, i)] - (eq.rhs[(r, i)] - known)).abs() < 1e-12);
            for j in 0..=i {
                assert!((part.get(i, j) - all.get(i, j)).abs() < 1e-12);
            }
        }
        // the joint normal with unit precision of the first columns, and that of the others
        let mut joint = all.clone();
        joint.add_diag(&[1.0, 1.0, 1.0, precision[0], precision[1]]);
        let mut own = marginal.row_precision(r);
        own.add_diag(&[1.0; 3]);
        let (joint, own) = (
            SpdFactor::factor(&joint).expect("positive").0,
            SpdFactor::factor(&own).expect("positive").0,
        );
        let whole = joint.solve_mat_right(eq.rhs.as_ref().subrows(r, 1));
        let alone = own.solve_mat_right(marginal.rhs.as_ref().subrows(r, 1));
        for i in 0..3 {
            assert!((whole[(0, i)] - alone[(0, i)]).abs() < 1e-10);
            for j in 0..=i {
                assert!((joint.inverse().get(i, j) - own.inverse().get(i, j)).abs() < 1e-10);
            }
        }
    }
}

#[test]
fn rows_beside_go_back_and_are_read_again() {
    let start = RowMoments::isotropic(normal(4, 3, &mut StreamKey::new(1).rng()), 0.5, 0);
    let inner = Box::new(FullRows::new("w", Fixed::standard_normal(3), start));
    let offset = Mat::full(4, 1, 2.0);
    let make = |inner| RowsBeside::with_coefficients(inner, ("b", 1, RIDGE), offset.clone());
    let mut rows = make(inner);
    let mut eq = equations();
    let mut journal = Journal::default();
    let mut cx = Context {
        key: StreamKey::new(1),
        sweep: 1,
        journal: &mut journal,
    };
    rows.prepare(&eq, &mut cx).expect("positive");
    rows.update(&mut eq, Rule::Optimum, &mut cx)
        .expect("positive");
    assert_eq!((rows.moments().k(), rows.seen().k()), (3, 5));
    let before = rows.seen().clone();
    let kept = rows.keep(1..3);
    eq = equations();
    eq.rhs *= polyview_linalg::faer::Scale(3.0);
    rows.update(&mut eq, Rule::Optimum, &mut cx)
        .expect("positive");
    assert_ne!(rows.seen().mean()[(1, 3)], before.mean()[(1, 3)]);
    for r in 1..3 {
        rows.retreat(&kept, r, 0.0).expect("positive");
        for j in 0..5 {
            assert_eq!(rows.seen().mean()[(r, j)], before.mean()[(r, j)]);
        }
        assert_eq!(rows.seen().row_cov(r), before.row_cov(r));
    }
    let mut state = State::new();
    rows.save("w", &mut state);
    let blank = RowMoments::isotropic(Mat::zeros(4, 3), 1.0, 0);
    let mut again = make(Box::new(FullRows::new(
        "w",
        Fixed::standard_normal(3),
        blank,
    )));
    again.load("w", &state.reader()).expect("what was saved");
    assert_eq!(again.seen().mean(), rows.seen().mean());
    assert_eq!(again.bound(), rows.bound());
}
