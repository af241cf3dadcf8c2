//! After each block's update the bound does not change to first order in
//! anything that the block holds, and falls to second (spec/sshiba 9.6.2, 9.1).

use polyview_core::{
    Context, Journal, PrecisionView, RowCov, RowMoments, State, Stateful, Step, View,
};
use polyview_infer::{Model, Vb, ViewPart, run_steps};
use polyview_likelihoods::{MissingData, NoiseBy};
use polyview_linalg::{Mat, PackedRows, SymPacked, log_abs_det, packed_index};
use polyview_random::{Rng, StreamKey, standard_normal};
use polyview_special::digamma;
use polyview_tests::mixed::{MixedView, Species};
use polyview_tests::{Holes, assemble, normal};

use super::locals;

const SAMPLES: usize = 11;
const K: usize = 2;

/// Checks that a function of a step is stationary and concave at zero.
pub fn at_maximum(what: &str, mut f: impl FnMut(f64) -> f64) {
    let h = 1e-4;
    let (up, middle, down) = (f(h), f(0.0), f(-h));
    let slope = (up - down) / (2.0 * h);
    let curvature = (up - 2.0 * middle + down) / (h * h);
    assert!(
        curvature < 0.0 && slope.abs() < 2e-6 * (1.0 - curvature),
        "{what}: slope {slope:e}, curvature {curvature:e}"
    );
}

/// Rows with a covariance each, moved by `s` in a fixed direction of means, or
/// of covariances.
fn moved(m: &RowMoments, s: f64, means: bool) -> RowMoments {
    let mut rng = StreamKey::new(17).rng();
    let (rows, k) = (m.explicit_rows(), m.k());
    let mut mean = m.mean().to_owned();
    let mut cov = PackedRows::zeros(rows, k);
    let mut log_det = 0.0;
    for r in 0..rows {
        let mut own = m.row_cov(r).to_mat();
        let smallest = (0..k).map(|i| own[(i, i)]).fold(f64::INFINITY, f64::min);
        for i in 0..k {
            let by = s * standard_normal(&mut rng);
            if means {
                mean[(r, i)] += by;
            }
            for j in 0..=i {
                let by = s * smallest * standard_normal(&mut rng);
                if !means {
                    own[(i, j)] += by;
                    if i != j {
                        own[(j, i)] += by;
                    }
                }
                cov.row_mut(r)[packed_index(i, j)] = own[(i, j)];
            }
        }
        let packed = SymPacked::from_mat(own.as_ref());
        log_det += log_abs_det(packed.to_mat().as_ref()).expect("finite");
    }
    RowMoments::new(mean, RowCov::PerRow(cov), log_det, 0)
}

/// The state of a model.
pub fn saved(model: &Model) -> State {
    let mut state = State::new();
    model.save("", &mut state);
    state
}

/// The bound of a state.
pub fn bound_of(model: &mut Model, state: &State) -> f64 {
    model.load("", &state.reader()).expect("a state");
    model.bound()
}

/// Gamma variables in shape and rate, each relative.
fn gammas(model: &mut Model, prefix: &str) {
    let state = saved(model);
    for which in ["shape", "rate"] {
        at_maximum(&format!("{prefix}/{which}"), |s| {
            let mut rng = StreamKey::new(19).rng();
            let vec = |part: &str| {
                state
                    .reader()
                    .vec(&format!("{prefix}/{part}"))
                    .expect("gammas")
            };
            let (mut shape, mut rate) = (vec("shape"), vec("rate"));
            for x in if which == "shape" {
                &mut shape
            } else {
                &mut rate
            } {
                *x *= 1.0 + s * standard_normal(&mut rng);
            }
            let mut other = state.clone();
            let of = |f: &dyn Fn(f64, f64) -> f64| -> Vec<f64> {
                shape.iter().zip(&rate).map(|(a, b)| f(*a, *b)).collect()
            };
            other.put_vec(&format!("{prefix}/mean"), &of(&|a, b| a / b));
            other.put_vec(
                &format!("{prefix}/mean_ln"),
                &of(&|a, b| digamma(a) - b.ln()),
            );
            other.put_vec(&format!("{prefix}/shape"), &shape);
            other.put_vec(&format!("{prefix}/rate"), &rate);
            bound_of(model, &other)
        });
    }
    bound_of(model, &state);
}

/// Means (`of` true) and covariances of the rows that `block` holds.
fn rows(
    model: &mut Model,
    what: &str,
    of: &[bool],
    block: impl Fn(&mut Model) -> &mut dyn polyview_core::RowBlock,
) {
    let before = block(model).moments().clone();
    for &means in of {
        at_maximum(&format!("{what}, means {means}"), |s| {
            block(model).set_moments(moved(&before, s, means));
            model.bound()
        });
    }
    block(model).set_moments(before);
}

fn intercepts(model: &mut Model, v: usize) {
    let (mean, variance) = (
        model.views[v].bias.mean().to_vec(),
        model.views[v].bias.variance().to_vec(),
    );
    for means in [true, false] {
        at_maximum(&format!("intercepts {v}, means {means}"), |s| {
            let mut rng = StreamKey::new(23).rng();
            let (mut m, mut u) = (mean.clone(), variance.clone());
            for (m, u) in m.iter_mut().zip(&mut u) {
                let by = s * standard_normal(&mut rng);
                if means { *m += by } else { *u *= 1.0 + by }
            }
            model.views[v].bias.set(m, u);
            model.bound()
        });
    }
    model.views[v].bias.set(mean, variance);
}

/// All blocks of a model, each right after its update.
fn check(model: &mut Model, views: &[(MixedView, View)]) {
    let mut journal = Journal::default();
    let steps = model.schedule.sweep.clone();
    for sweep in 1..=4 {
        for &step in &steps {
            let mut cx = Context {
                key: StreamKey::new(1),
                sweep,
                journal: &mut journal,
            };
            run_steps(&Vb::default(), &[vec![step]], model, &mut cx).expect("a step");
            if sweep < 4 {
                continue;
            }
            match step {
                Step::Factors => {
                    // where samples are coupled each mean is best given those of
                    // the others when it was updated
                    let coupled = |v: &mut ViewPart| v.term.as_coupled().is_some();
                    let all = [false, true];
                    let of = &all[..2 - usize::from(model.views.iter_mut().any(coupled))];
                    rows(model, "factors", of, |m| m.factors.as_mut());
                }
                Step::Weights(v) => {
                    let of = [true, false];
                    rows(model, "weights", &of, |m| m.views[v].weights.as_mut());
                }
                Step::Bias(v) if model.views[v].bias.is_present() => intercepts(model, v),
                Step::Bias(v) => assert_eq!(views[v].0.species, Species::Ranks),
                Step::Noise(v) => {
                    if model.views[v].term.as_noise().is_some() {
                        gammas(model, &format!("views/v{v}/term/noise"));
                    }
                }
                Step::Scales(v) => {
                    // the features' precisions were set before the factors'
                    gammas(model, &format!("views/v{v}/weights/prior/alpha"));
                    let precision = model.views[v].weights.precision();
                    let outer = matches!(precision, PrecisionView::Outer { .. });
                    assert_eq!(outer, views[v].0.relevance);
                }
                Step::Local(v) => locals::check(model, v, &views[v]),
                Step::Assign | Step::FactorScales | Step::Rotate | Step::Prune => {}
            }
        }
    }
}

fn model(views: &[(MixedView, View)], rng: &mut impl Rng) -> Model {
    // so many rounds that scores and their bounds have settled
    let parts = views.iter().map(|(v, data)| v.part(data, 400, K)).collect();
    assemble(parts, normal(SAMPLES, K, rng))
}

#[test]
fn every_block_ends_at_its_maximum() {
    for (holes, missing) in [
        (Holes::None, MissingData::Marginal),
        (Holes::Rows(0.3), MissingData::Marginal),
        (Holes::Cells(0.3), MissingData::Marginal),
        (Holes::Cells(0.3), MissingData::Impute),
    ] {
        for relevance in [false, true] {
            let mut rng = StreamKey::new(3).rng();
            let z = normal(SAMPLES, K, &mut rng);
            let views: Vec<(MixedView, View)> = [
                Species::Real(NoiseBy::View),
                Species::Real(NoiseBy::Feature),
                Species::Labels,
                Species::Svm,
                Species::Probit,
                Species::Latent(NoiseBy::View),
                Species::Classes,
            ]
            .into_iter()
            .enumerate()
            .map(|(m, species)| {
                let view = MixedView {
                    holes,
                    missing,
                    relevance,
                    ..MixedView::new(species, 3)
                };
                (view, view.data(&format!("v{m}"), &z, 7 + m as u64))
            })
            .collect();
            check(&mut model(&views, &mut rng), &views);
        }
    }
}

/// The same with samples that are coupled.
#[test]
fn every_block_beside_ranks_ends_at_its_maximum() {
    for holes in [Holes::None, Holes::Rows(0.3), Holes::Cells(0.3)] {
        let mut rng = StreamKey::new(3).rng();
        let z = normal(SAMPLES, K, &mut rng);
        let species = [
            Species::Real(NoiseBy::Feature),
            Species::Ranks,
            Species::Svm,
        ];
        let views: Vec<(MixedView, View)> = species
            .into_iter()
            .enumerate()
            .map(|(m, species)| {
                let view = MixedView {
                    holes,
                    relevance: m == 1,
                    ..MixedView::new(species, 3)
                };
                (view, view.data(&format!("v{m}"), &z, 7 + m as u64))
            })
            .collect();
        check(&mut model(&views, &mut rng), &views);
    }
}

/// The check sees what is no maximum.
#[test]
#[should_panic(expected = "slope")]
fn a_block_beside_its_maximum_is_seen() {
    let mut rng = StreamKey::new(3).rng();
    let z = normal(SAMPLES, K, &mut rng);
    let view = MixedView::new(Species::Real(NoiseBy::View), 3);
    let views = [(view, view.data("v0", &z, 7))];
    let mut model = model(&views, &mut rng);
    let m = Mat::from_fn(SAMPLES, K, |n, k| z[(n, k)] + 0.1);
    model.factors.set_moments(RowMoments::isotropic(m, 0.3, 0));
    rows(&mut model, "factors", &[true, false], |m| {
        m.factors.as_mut()
    });
}
