//! Rows without one of the views (spec/thesis 6.6, 8.4, 15.1.8; spec/sshiba
//! 2.4).

use polyview_core::{Context, Journal, View};
use polyview_infer::{Model, Vb, run_steps, update_factors};
use polyview_likelihoods::{MissingData, NoiseBy};
use polyview_linalg::{Mat, SpdFactor, SymPacked};
use polyview_random::StreamKey;
use polyview_tests::mixed::{MixedView, Species};
use polyview_tests::{Holes, assemble, normal};

const SAMPLES: usize = 14;
const K: usize = 3;

/// Two views, the second of which is missing in some rows, and a model of them
/// after some sweeps.
fn model(missing: MissingData, second: Species) -> (Model, [View; 2]) {
    let z = normal(SAMPLES, 2, &mut StreamKey::new(6).rng());
    let of = |species, holes| MixedView {
        holes,
        missing,
        ..MixedView::new(species, 4)
    };
    let cases = [
        of(Species::Real(NoiseBy::View), Holes::None),
        of(second, Holes::Rows(0.4)),
    ];
    let data = [cases[0].data("v0", &z, 1), cases[1].data("v1", &z, 2)];
    let parts = cases
        .iter()
        .zip(&data)
        .map(|(v, d)| v.part(d, 2, K))
        .collect();
    let mut model = assemble(parts, normal(SAMPLES, K, &mut StreamKey::new(7).rng()));
    let mut journal = Journal::default();
    let steps = model.schedule.sweep.clone();
    for sweep in 1..=6 {
        for step in &steps {
            let mut cx = context(sweep, &mut journal);
            run_steps(&Vb::default(), &[vec![*step]], &mut model, &mut cx).expect("a step");
        }
    }
    (model, data)
}

fn context(sweep: usize, journal: &mut Journal) -> Context<'_> {
    Context {
        key: StreamKey::new(1),
        sweep,
        journal,
    }
}

/// Noise precision of a view: 1 for classes.
fn tau(model: &Model, v: usize) -> f64 {
    let mut state = polyview_core::State::new();
    model.views[v].term.save("t", &mut state);
    state.reader().vec("t/noise/mean").map_or(1.0, |t| t[0])
}

/// The closed form: $\tau_1 (x - b_1) W_1 (I + \tau_1\langle W_1^\top
/// W_1\rangle + \tau_2\sum_d S_d^{(2)})^{-1}$, the last term only if asked for.
fn closed_form(model: &Model, data: &View, row: usize, shrunk: bool) -> Vec<f64> {
    let first = &model.views[0];
    let w = first.weights.moments();
    let mut precision = SymPacked::identity(K);
    precision.add_scaled(tau(model, 0), &w.second_moment(None));
    if shrunk {
        precision.add_scaled(
            tau(model, 1),
            &model.views[1].weights.moments().cov_sum(None),
        );
    }
    let rhs: Vec<f64> = (0..K)
        .map(|k| {
            (0..data.n_features())
                .map(|d| {
                    let x = data.value(row, d).expect("complete") - first.bias.mean()[d];
                    tau(model, 0) * x * w.mean()[(d, k)]
                })
                .sum()
        })
        .collect();
    let cov = SpdFactor::factor(&precision).expect("definite").0.inverse();
    cov.times_vec(&rhs)
}

/// Largest distance of the factors of rows without the second view from the
/// closed form, at fixed parameters.
fn gap(missing: MissingData, second: Species, shrunk: bool) -> f64 {
    let (mut model, data) = model(missing, second);
    let mut journal = Journal::default();
    for _ in 0..3000 {
        let mut cx = context(7, &mut journal);
        run_steps(
            &Vb::default(),
            &[vec![polyview_core::Step::Local(1)]],
            &mut model,
            &mut cx,
        )
        .expect("locals");
        update_factors(&Vb::default(), &mut model, &mut cx).expect("factors");
    }
    let mut worst: f64 = 0.0;
    let mut rows = 0;
    for n in (0..SAMPLES).filter(|&n| !data[1].is_observed(n, 0)) {
        rows += 1;
        let expected = closed_form(&model, &data[0], n, shrunk);
        let z: Mat<f64> = model.factors.moments().mean().to_owned();
        for (k, e) in expected.iter().enumerate() {
            worst = worst.max((z[(n, k)] - e).abs());
        }
    }
    assert!(rows > 2);
    worst
}

#[test]
fn a_row_without_a_view_has_the_closed_form() {
    for second in [Species::Real(NoiseBy::View), Species::Classes] {
        let imputed = gap(MissingData::Impute, second, true);
        assert!(imputed < 1e-9, "{second:?}: {imputed:e}");
        // left out, the view says nothing: the predictive mean (8.4)
        let marginal = gap(MissingData::Marginal, second, false);
        assert!(marginal < 1e-9, "{second:?}: {marginal:e}");
        // and the two are different things
        assert!(gap(MissingData::Impute, second, false) > 1e-3);
    }
}
