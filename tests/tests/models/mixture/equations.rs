//! Equations, evidence and predictions of local experts.

use std::sync::Arc;

use polyview_core::{Bias, Block, ByComponent, Context, Journal, Predictor, View, ViewTerm};
use polyview_likelihoods::{Bernoulli, Cells, Experts, NegativeBinomial, Poisson};
use polyview_linalg::Mat;
use polyview_random::{StreamKey, uniform_open01};
use polyview_tests::law::{gap, rows, total};

use super::{CLASSIFIERS, experts_of, labels};

const N: usize = 9;
const C: usize = 2;
const T: usize = 3;

/// Random shares, some of them zero.
fn shares() -> Arc<Mat<f64>> {
    let mut rng = StreamKey::new(8).rng();
    let mut out = Mat::from_fn(N, T, |n, t| {
        if (n + t).is_multiple_of(4) {
            0.0
        } else {
            uniform_open01(&mut rng)
        }
    });
    for n in 0..N {
        let total: f64 = (0..T).map(|t| out[(n, t)]).sum();
        for t in 0..T {
            out[(n, t)] /= total;
        }
    }
    Arc::new(out)
}

fn with_context<R>(f: impl FnOnce(&mut Context<'_>) -> R) -> R {
    let mut journal = Journal::default();
    f(&mut Context {
        key: StreamKey::new(3),
        sweep: 2,
        journal: &mut journal,
    })
}

fn bias() -> Bias {
    let mut b = Bias::gaussian(C * T, 0, 1.0);
    let mean = (0..C * T).map(|i| 0.4 * i as f64 - 1.0).collect();
    b.set(mean, vec![0.1; C * T]);
    b
}

#[test]
fn equations_are_gradients_of_the_bound() {
    for missing in [0.0, 0.4] {
        let view = labels("y", N, C, missing, 4);
        for (shared, kind) in [false, true]
            .into_iter()
            .flat_map(|s| CLASSIFIERS.map(|k| (s, k)))
        {
            let mut term = experts_of(kind, &view, T);
            if shared {
                let components = term.as_by_component().expect("experts");
                components.take_shares(&shares());
            }
            let (z, w, b) = (rows(N, 11), rows(C * T, 12), bias());
            let p = Predictor {
                factors: &z,
                weights: &w,
                bias: &b,
            };
            with_context(|cx| term.refresh(&p, cx)).expect("finite");
            let worst = gap(term.as_mut(), None);
            assert!(worst < 1e-6, "{missing} {shared} {kind:?}: {worst:e}");
        }
    }
    let counts = View::from_values(
        "x",
        vec!["a".into(), "b".into()],
        Mat::from_fn(N, C, |n, c| ((n * 5 + c * 3) % 7) as f64),
    )
    .expect("finite");
    let mut term = Experts::new(counts.clone(), Poisson::default(), T).expect("counts");
    ByComponent::take_shares(&mut term, &shares());
    assert!(gap(&mut term, None) < 1e-6);
    let e = Experts::new(counts, NegativeBinomial::default(), T).expect_err("sizes are learnt");
    assert!(e.to_string().contains("'x'"), "{e}");
}

/// With zeros and ones for shares, each sample sees one expert: the bound is
/// that of plain terms for the samples of each component.
#[test]
fn known_components_make_separate_terms() {
    let view = labels("y", N, C, 0.3, 5);
    let of = |n: usize| (n * 2) % T;
    let hard = Mat::from_fn(N, T, |n, t| f64::from(u8::from(of(n) == t)));
    let (z, w, b) = (rows(N, 11), rows(C * T, 12), bias());
    let p = Predictor {
        factors: &z,
        weights: &w,
        bias: &b,
    };
    let mut term = Experts::new(view.clone(), Bernoulli::default(), T).expect("labels");
    ByComponent::take_shares(&mut term, &Arc::new(hard));
    with_context(|cx| term.refresh(&p, cx)).expect("finite");
    let mut evidence = Mat::zeros(N, T);
    ByComponent::evidence(&mut term, &p, &mut evidence).expect("finite");
    let found = total(&mut term, &z, &w, &b);
    let (mut sum, mut said) = (0.0, 0.0);
    for t in 0..T {
        let values = Mat::from_fn(N, C, |n, c| match view.value(n, c) {
            Some(x) if of(n) == t => x,
            _ => f64::NAN,
        });
        let own = View::from_values("y", view.features().to_vec(), values).expect("finite");
        let mut plain = Cells::new(own, Bernoulli::default()).expect("labels");
        let mut bias = Bias::gaussian(C, 0, 1.0);
        let at = t * C..(t + 1) * C;
        bias.set(
            b.mean()[at.clone()].to_vec(),
            b.variance()[at.clone()].to_vec(),
        );
        let own = w.subset(&at.map(|d| d as u32).collect::<Vec<_>>());
        let p = Predictor {
            factors: &z,
            weights: &own,
            bias: &bias,
        };
        with_context(|cx| plain.refresh(&p, cx)).expect("finite");
        sum += total(&mut plain, &z, &own, &bias);
        said += (0..N)
            .filter(|&n| of(n) == t)
            .map(|n| evidence[(n, t)])
            .sum::<f64>();
    }
    assert!((found - sum).abs() < 1e-10, "{found} {sum}");
    assert!((found - said).abs() < 1e-10, "{found} {said}");
}

#[test]
fn predictions_are_mixtures_and_evidence_of_draws_is_exact() {
    let view = labels("y", N, C, 0.0, 6);
    let shares = shares();
    let mut term = Experts::new(view.clone(), Bernoulli::default(), T).expect("labels");
    let (z, w, b) = (rows(N, 11), rows(C * T, 12), bias());
    let p = Predictor {
        factors: &z,
        weights: &w,
        bias: &b,
    };
    let plain = Cells::new(labels("y", N, C * T, 0.0, 6), Bernoulli::default()).expect("labels");
    let each = plain.law(&p, &Block::new(0..N, 0..C * T)).means();
    for told in [false, true] {
        if told {
            ByComponent::take_shares(&mut term, &shares);
        }
        let law = term.law(&p, &Block::new(2..N, 1..C));
        let (means, variances) = (law.means(), law.variances());
        assert_eq!(means.shape(), (N - 2, 1));
        for n in 2..N {
            let expected: f64 = (0..T)
                .map(|t| {
                    let share = if told { shares[(n, t)] } else { 1.0 / T as f64 };
                    share * each[(n, t * C + 1)]
                })
                .sum();
            let (mean, variance) = (means[(n - 2, 0)], variances[(n - 2, 0)]);
            assert!((mean - expected).abs() < 1e-14);
            assert!((variance - mean * (1.0 - mean)).abs() < 1e-14);
        }
    }
    // the local variable is summed out
    let mut evidence = Mat::zeros(N, T);
    let draws = term.as_augmented().expect("draws");
    draws
        .component_likelihood(&p, &mut evidence)
        .expect("finite");
    for n in 0..N {
        for t in 0..T {
            let expected: f64 = (0..C)
                .map(|c| {
                    let eta = p.mean_cell(n, t * C + c);
                    let sign = if view.value(n, c) == Some(1.0) {
                        1.0
                    } else {
                        -1.0
                    };
                    polyview_special::log_sigmoid(sign * eta)
                })
                .sum();
            assert!((evidence[(n, t)] - expected).abs() < 1e-12);
        }
    }
    // shares of other samples are refused, not guessed
    ByComponent::take_shares(&mut term, &Arc::new(Mat::zeros(N + 1, T)));
    let e = with_context(|cx| term.refresh(&p, cx)).expect_err("other samples");
    assert!(e.to_string().contains("likelihood/y"), "{e}");
    let wrong = ByComponent::evidence(&mut term, &p, &mut Mat::zeros(N, T + 1));
    assert!(wrong.is_err());
}
