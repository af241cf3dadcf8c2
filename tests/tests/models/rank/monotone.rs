//! No block lowers the bound (V5); what must not matter does not.

use polyview_core::{
    Bias, CoupledRows, Journal, NormalEquations, Predictor, RowCov, RowMoments, View, ViewTerm,
};
use polyview_infer::{Audit, Model, PruneRule, VbOptions, VbRun};
use polyview_likelihoods::{Margin, NoiseBy, PairPolicy, RankOptions};
use polyview_linalg::{Mat, PackedRows, Threads};
use polyview_random::StreamKey;
use polyview_tests::law::{K, rows};
use polyview_tests::mixed::{MixedView, Species};
use polyview_tests::{assemble, normal, sparse};
use proptest::prelude::*;

use super::common::{part, refresh, term, view};

fn options() -> VbOptions {
    VbOptions {
        max_sweeps: 10,
        audit: Audit::Blocks,
        prune: PruneRule::never(),
        ..VbOptions::default()
    }
}

fn rises(model: Model, seed: u64) -> Result<(), TestCaseError> {
    let mut run = VbRun::new(model, options(), StreamKey::new(seed), Journal::default());
    let mut last = f64::NEG_INFINITY;
    loop {
        let report = run
            .sweep()
            .map_err(|e| TestCaseError::fail(e.to_string()))?;
        prop_assert!(report.bound.is_finite());
        prop_assert!(
            report.bound >= last - 1e-9 * last.abs().max(1.0),
            "{} after {last}",
            report.bound
        );
        last = report.bound;
        if report.outcome.is_some() {
            return Ok(());
        }
    }
}

fn ranks() -> impl Strategy<Value = RankOptions> {
    (
        prop_oneof![
            Just(PairPolicy::Random),
            Just(PairPolicy::Adjacent),
            Just(PairPolicy::All)
        ],
        1usize..5,
        prop_oneof![
            (0.01f64..3.0).prop_map(Margin::Fixed),
            (0.5f64..20.0).prop_map(Margin::PerCell)
        ],
        0.3f64..3.0,
    )
        .prop_map(|(pairs, partners, margin, weight)| RankOptions {
            pairs,
            partners,
            margin,
            weight,
            ..RankOptions::default()
        })
}

fn real() -> impl Strategy<Value = Option<Species>> {
    prop_oneof![
        Just(None),
        Just(Some(Species::Real(NoiseBy::Feature))),
        Just(Some(Species::Labels)),
        Just(Some(Species::Classes)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
    #[test]
    fn no_block_lowers_the_bound(
        seed in any::<u64>(),
        (samples, features, k) in (2usize..24, 1usize..8, 1usize..5),
        (missing, step) in (prop_oneof![Just(0.0), 0.1f64..0.6], prop_oneof![Just(0.0), Just(0.7)]),
        ranks in ranks(),
        other in real(),
        weights in prop::sample::select(sparse::ROWS.to_vec()),
        factors in prop::sample::select(sparse::ROWS.to_vec()),
    ) {
        let start = normal(samples, k, &mut StreamKey::new(seed).block(78).rng());
        let mut parts = vec![part(&view(samples, features, missing, step, seed), ranks, k)];
        if let Some(species) = other {
            let other = MixedView::new(species, 3);
            let data = other.data("other", &normal(samples, 2, &mut StreamKey::new(seed).rng()), seed);
            parts.push(other.part(&data, 1, k));
        }
        rises(sparse::assemble(parts, weights, factors, None, start), seed)?;
    }
}

fn run(view: &View, ranks: RankOptions, sweeps: usize) -> (Mat<f64>, Mat<f64>, f64) {
    let k = 3;
    let start = normal(view.n_samples(), k, &mut StreamKey::new(5).rng());
    let model = assemble(vec![part(view, ranks, k)], start);
    let options = VbOptions {
        max_sweeps: sweeps,
        ..VbOptions::default()
    };
    let mut run = VbRun::new(model, options, StreamKey::new(2), Journal::default());
    let mut bound = 0.0;
    for _ in 0..sweeps {
        bound = run.sweep().expect("a sweep").bound;
    }
    let model = run.model();
    (
        model.factors.moments().mean().to_owned(),
        model.views[0].weights.moments().mean().to_owned(),
        bound,
    )
}

#[test]
fn monotone_transforms_change_no_bit() {
    let plain = view(25, 7, 0.2, 0.0, 3);
    let bent = Mat::from_fn(25, 7, |n, d| {
        plain.value(n, d).map_or(f64::NAN, |x| match d % 4 {
            0 => x.exp(),
            1 => x.powi(3) - 9.0,
            2 => 1e-6 * x,
            _ => x.atan(),
        })
    });
    let bent = View::from_values("ranks", plain.features().to_vec(), bent).expect("a view");
    for pairs in super::common::POLICIES {
        let ranks = RankOptions {
            pairs,
            ..RankOptions::default()
        };
        assert_eq!(run(&plain, ranks, 8), run(&bent, ranks, 8), "{pairs:?}");
    }
}

#[test]
fn bits_do_not_depend_on_threads() {
    // more features than one part of the sums
    let data = view(20, 1100, 0.1, 0.0, 8);
    let results: Vec<_> = (1..=3)
        .map(|t| {
            let pool = Threads::new(t).expect("threads");
            pool.install(|| run(&data, RankOptions::default(), 4))
        })
        .collect();
    assert!(results[0].2.is_finite());
    assert!(results[0] == results[1] && results[1] == results[2]);
}

/// A constant feature has no terms: its weights are those of the prior.
#[test]
fn a_constant_feature_stays_at_the_prior() {
    let options = RankOptions {
        margin: Margin::Fixed(1.0),
        ..RankOptions::default()
    };
    let (_, weights, _) = run(&view(20, 5, 0.0, 0.0, 4), options, 5);
    assert!((0..3).all(|k| weights[(4, k)].abs() < 1e-300));
    assert!((0..3).any(|k| weights[(0, k)].abs() > 1e-3));
}

/// Samples in another order, the same pairs: every sample's equations go along.
#[test]
fn permuting_the_samples_permutes_the_factors() {
    let (n, d) = (15, 6);
    let data = view(n, d, 0.2, 0.4, 6);
    let order: Vec<usize> = (0..n).map(|i| (7 * i + 3) % n).collect();
    let turned = Mat::from_fn(n, d, |i, j| data.value(order[i], j).unwrap_or(f64::NAN));
    let turned = View::from_values("ranks", data.features().to_vec(), turned).expect("a view");
    let ranks = RankOptions {
        pairs: PairPolicy::All,
        ..RankOptions::default()
    };
    let (z, w) = (rows(n, 1), rows(d, 2));
    let numbers: Vec<u32> = order.iter().map(|&i| i as u32).collect();
    let mut moved = Mat::zeros(n, K);
    let mut covs = PackedRows::zeros(n, K);
    for (i, &r) in numbers.iter().enumerate() {
        for j in 0..K {
            moved[(i, j)] = z.mean()[(r as usize, j)];
        }
        covs.row_mut(i)
            .copy_from_slice(z.row_cov(r as usize).as_slice());
    }
    let moved = RowMoments::new(moved, RowCov::PerRow(covs), 0.0, 0);
    let equations = |view: &View, z: &RowMoments| {
        let mut term = term(view, ranks);
        refresh(&mut term, z, &w);
        let bias = Bias::absent(d);
        let p = Predictor {
            factors: z,
            weights: &w,
            bias: &bias,
        };
        let mut eq = NormalEquations::new(K, 0..n);
        term.equations()
            .factor_gram(0, &p, &mut eq)
            .expect("equations");
        term.equations()
            .factor_equations(&p, &mut eq)
            .expect("equations");
        let rhs: Vec<Vec<f64>> = (0..n)
            .map(|i| {
                let mut rhs = vec![0.0; K];
                CoupledRows::couple(&mut term, i, &p, &mut rhs).expect("finite");
                rhs
            })
            .collect();
        (eq, rhs)
    };
    let ((a, a_rhs), (b, b_rhs)) = (equations(&data, &z), equations(&turned, &moved));
    for i in 0..n {
        let (p, q) = (a.row_precision(order[i]), b.row_precision(i));
        for (x, y) in p.as_slice().iter().zip(q.as_slice()) {
            assert!((x - y).abs() < 1e-10 * (1.0 + x.abs()));
        }
        for (x, y) in a_rhs[order[i]].iter().zip(&b_rhs[i]) {
            assert!((x - y).abs() < 1e-10 * (1.0 + x.abs()));
        }
    }
}
