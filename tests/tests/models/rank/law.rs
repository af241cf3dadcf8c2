//! The law of data terms, and what a term's parts are by the formula.

use polyview_core::{
    Bias, Context, CoupledRows, DataError, Journal, NormalEquations, Predictor, RowCov, RowMoments,
    State, Stateful, View, ViewTerm,
};
use polyview_likelihoods::{Margin, PairPolicy, Rank, RankOptions, normal_scores};
use polyview_linalg::{Mat, SymPacked};
use polyview_random::StreamKey;
use polyview_tests::law::{K, gap, rows, total};
use polyview_tests::normal;

use super::common::{POLICIES, refresh, term, view};

fn options(pairs: PairPolicy) -> RankOptions {
    RankOptions {
        pairs,
        partners: 2,
        margin: Margin::Fixed(0.7),
        weight: 1.4,
        ..RankOptions::default()
    }
}

/// At fresh precisions and at ones whose predictor has moved on.
#[test]
fn rank_terms_obey_the_law() {
    for policy in POLICIES {
        for (missing, step) in [(0.0, 0.0), (0.3, 0.0), (0.2, 0.8)] {
            let view = view(7, 4, missing, step, 5);
            let mut term = term(&view, options(policy));
            for (seed, refreshed) in [(0, false), (1, true), (7, true)] {
                if refreshed {
                    refresh(&mut term, &rows(7, seed), &rows(4, seed + 1));
                }
                let gap = gap(&mut term, None);
                assert!(gap < 2e-6, "{policy:?} {missing} {seed}: {gap:e}");
            }
        }
    }
}

/// $\langle u\rangle$ and $\langle u^2\rangle$ of one pair from dense covariances
/// (spec 5.1), by the formula.
fn moments(z: &RowMoments, w: &RowMoments, i: usize, pair: (usize, usize), eps: f64) -> (f64, f64) {
    let k = z.k();
    let a: Vec<f64> = (0..k).map(|j| w.mean()[(i, j)]).collect();
    let delta: Vec<f64> = (0..k)
        .map(|j| z.mean()[(pair.0, j)] - z.mean()[(pair.1, j)])
        .collect();
    let mut c = SymPacked::zeros(k);
    c.add_outer(1.0, &delta);
    c.add_scaled(1.0, &z.row_cov(pair.0));
    c.add_scaled(1.0, &z.row_cov(pair.1));
    let mut aa = w.row_cov(i);
    aa.add_outer(1.0, &a);
    let linear: f64 = a.iter().zip(&delta).map(|(x, y)| x * y).sum();
    (linear + eps, aa.dot(&c) + 2.0 * eps * linear + eps * eps)
}

fn kinds(n: usize, seed: u64) -> Vec<RowMoments> {
    let dense = rows(n, seed);
    let mean = dense.mean().to_owned();
    let mut rng = StreamKey::new(seed).block(3).rng();
    let variances = Mat::from_fn(n, K, |r, j| 0.1 + dense.variance(r, j));
    let scales = Mat::from_fn(n, K, |r, j| 0.2 + dense.variance(r, j));
    let two = [dense.row_cov(0), dense.row_cov(1)];
    let mut patterns = polyview_linalg::PackedRows::zeros(2, K);
    for (r, s) in two.iter().enumerate() {
        patterns.row_mut(r).copy_from_slice(s.as_slice());
    }
    [
        dense.cov().clone(),
        RowCov::Zero,
        RowCov::Shared(dense.row_cov(0)),
        RowCov::Diagonal(variances),
        RowCov::Basis {
            vectors: normal(K, K, &mut rng),
            scales,
        },
        RowCov::Patterns {
            cov: patterns,
            of_row: (0..n).map(|r| (r % 2) as u32).collect(),
        },
    ]
    .into_iter()
    .map(|cov| RowMoments::new(mean.clone(), cov, 0.0, 0))
    .collect()
}

/// The bound at its best precisions is $-c\sum\langle u\rangle + \sqrt{\langle
/// u^2\rangle}$, whatever the covariances are kept as.
#[test]
fn the_bound_is_that_of_the_formula_for_all_kinds_of_covariances() {
    let view = view(8, 5, 0.2, 0.0, 9);
    for z in &kinds(8, 2) {
        for w in &kinds(5, 3) {
            let mut term = term(&view, options(PairPolicy::Random));
            refresh(&mut term, z, w);
            let found = total(&mut term, z, w, &Bias::absent(5));
            let mut expected = 0.0;
            for i in 0..5 {
                for pair in term.pairs(i) {
                    let (u, square) = moments(z, w, i, pair, 0.7);
                    expected -= 1.4 * (u + square.sqrt());
                }
            }
            assert!(
                (found - expected).abs() < 1e-9 * expected.abs(),
                "{found} {expected}"
            );
        }
    }
}

/// Equations from sums over the pairs (spec 5.2), for all kinds of covariances.
#[test]
fn equations_are_sums_over_pairs() {
    let view = view(8, 5, 0.2, 0.5, 4);
    let (eps, c) = (0.7, 1.4);
    for z in &kinds(8, 2) {
        for w in &kinds(5, 3) {
            let mut term = term(&view, options(PairPolicy::Random));
            refresh(&mut term, z, w);
            let bias = Bias::absent(5);
            let p = Predictor {
                factors: z,
                weights: w,
                bias: &bias,
            };
            let second = |i: usize| {
                let a: Vec<f64> = (0..K).map(|j| w.mean()[(i, j)]).collect();
                let mut m = w.row_cov(i);
                m.add_outer(1.0, &a);
                (m, a)
            };
            let mut eq = NormalEquations::new(K, 0..8);
            term.equations()
                .factor_gram(0, &p, &mut eq)
                .expect("equations");
            term.equations()
                .factor_equations(&p, &mut eq)
                .expect("equations");
            for n in 0..8 {
                let (mut precision, mut rhs) = (SymPacked::zeros(K), vec![0.0; K]);
                for i in 0..5 {
                    let (m, a) = second(i);
                    for (l, h) in term.pairs(i).filter(|p| p.0 == n || p.1 == n) {
                        let kappa = moments(z, w, i, (l, h), eps).1.sqrt().recip();
                        let (o, sign) = if l == n { (h, 1.0) } else { (l, -1.0) };
                        let other: Vec<f64> = (0..K).map(|j| z.mean()[(o, j)]).collect();
                        precision.add_scaled(c * kappa, &m);
                        for (j, y) in m.times_vec(&other).into_iter().enumerate() {
                            rhs[j] += c * (kappa * y - sign * (1.0 + eps * kappa) * a[j]);
                        }
                    }
                }
                let mut found: Vec<f64> = (0..K).map(|j| eq.rhs[(n, j)]).collect();
                CoupledRows::couple(&mut term, n, &p, &mut found).expect("finite");
                for j in 0..K {
                    assert!((found[j] - rhs[j]).abs() < 1e-9 * (1.0 + rhs[j].abs()));
                    for l in 0..=j {
                        let (a, b) = (eq.row_precision(n).get(j, l), precision.get(j, l));
                        assert!((a - b).abs() < 1e-9 * (1.0 + b.abs()), "{a} {b}");
                    }
                }
            }
            let mut eq = NormalEquations::new(K, 0..0);
            term.equations()
                .weight_gram(&p, &mut eq)
                .expect("equations");
            eq.set_rows(1..5);
            term.equations()
                .weight_equations(&p, &mut eq)
                .expect("equations");
            for i in 1..5 {
                let mut precision = SymPacked::zeros(K);
                for pair in term.pairs(i) {
                    let kappa = moments(z, w, i, pair, eps).1.sqrt().recip();
                    let delta: Vec<f64> = (0..K)
                        .map(|j| z.mean()[(pair.0, j)] - z.mean()[(pair.1, j)])
                        .collect();
                    precision.add_outer(c * kappa, &delta);
                    precision.add_scaled(c * kappa, &z.row_cov(pair.0));
                    precision.add_scaled(c * kappa, &z.row_cov(pair.1));
                }
                for j in 0..K {
                    for l in 0..=j {
                        let (a, b) = (eq.row_precision(i).get(j, l), precision.get(j, l));
                        assert!((a - b).abs() < 1e-9 * (1.0 + b.abs()), "{a} {b}");
                    }
                }
            }
        }
    }
}

fn column(values: &[f64]) -> View {
    let x = Mat::from_fn(values.len(), 1, |n, _| values[n]);
    View::from_values("v", vec!["a".into()], x).expect("a view")
}

#[test]
fn choices_that_cannot_be_are_refused() {
    let view = column(&[1.0, 2.0, 3.0]);
    let plain = RankOptions::default();
    for (bad, option) in [
        (
            RankOptions {
                margin: Margin::Fixed(0.0),
                ..plain
            },
            "margin",
        ),
        (
            RankOptions {
                margin: Margin::PerCell(-1.0),
                ..plain
            },
            "margin",
        ),
        (
            RankOptions {
                margin: Margin::Fixed(f64::NAN),
                ..plain
            },
            "margin",
        ),
        (
            RankOptions {
                weight: f64::INFINITY,
                ..plain
            },
            "weight",
        ),
        (
            RankOptions {
                partners: 0,
                ..plain
            },
            "partners",
        ),
        (
            RankOptions {
                anchors: 1,
                ..plain
            },
            "anchors",
        ),
    ] {
        match Rank::new(&view, bad, StreamKey::new(1)) {
            Err(DataError::Option { option: found, .. }) => assert_eq!(found, option),
            other => panic!("{other:?}"),
        }
    }
}

/// One sample, one value, nothing but ties: no pairs, zero equations, a bound
/// of zero.
#[test]
fn views_without_order_say_nothing() {
    for values in [vec![3.0], vec![2.0; 6], vec![f64::NAN, 1.0, f64::NAN]] {
        for policy in POLICIES {
            let view = column(&values);
            let n = values.len();
            let mut term = term(&view, options(policy));
            assert_eq!(term.n_pairs(), 0);
            let (z, w) = (rows(n, 1), rows(1, 2));
            refresh(&mut term, &z, &w);
            assert!(total(&mut term, &z, &w, &Bias::absent(1)).abs() < 1e-300);
            assert!(gap(&mut term, None) < 1e-12);
        }
    }
    assert!(
        Rank::new(
            &column(&[f64::NAN]),
            options(PairPolicy::All),
            StreamKey::new(1)
        )
        .is_err()
    );
}

/// A margin by what a cell is worth: half the pairs' loss each.
#[test]
fn a_margin_per_cell_is_worth_that_many_nats() {
    for policy in [PairPolicy::Random, PairPolicy::All] {
        let view = view(20, 6, 0.2, 0.0, 2);
        let options = RankOptions {
            margin: Margin::PerCell(5.0),
            ..options(policy)
        };
        let mut term = term(&view, options);
        // without any order each pair loses 2cε and each has two cells
        let (z, w) = (
            RowMoments::point(Mat::zeros(20, K)),
            RowMoments::point(Mat::zeros(6, K)),
        );
        refresh(&mut term, &z, &w);
        let loss = -total(&mut term, &z, &w, &Bias::absent(6));
        let compared: usize = (0..5)
            .map(|d| (0..20).filter(|&n| view.is_observed(n, d)).count())
            .sum();
        assert!((2.0 * loss / compared as f64 - 5.0).abs() < 1e-9);
    }
    assert_eq!(normal_scores(&view(4, 3, 0.0, 0.0, 1)).nrows(), 4);
}

/// Two samples, one feature, one factor: $u$ has mean `m` and standard deviation
/// `s`, all of it from the factors.
fn one_pair(m: f64, s: f64, weight: f64) -> (Rank, RowMoments, RowMoments) {
    let options = RankOptions {
        pairs: PairPolicy::All,
        margin: Margin::Fixed(0.7),
        weight,
        ..RankOptions::default()
    };
    let z = Mat::from_fn(2, 1, |n, _| if n == 0 { m - 0.7 } else { 0.0 });
    let variance = Mat::full(2, 1, 0.5 * s * s);
    let cov = if s > 0.0 {
        RowCov::Diagonal(variance)
    } else {
        RowCov::Zero
    };
    let term = term(&column(&[1.0, 2.0]), options);
    (
        term,
        RowMoments::new(z, cov, 0.0, 0),
        RowMoments::point(Mat::full(1, 1, 1.0)),
    )
}

/// V1: the bound of one pair is the printed number, and below the exact one.
#[test]
fn the_bound_of_one_pair_is_that_of_the_specification() {
    for (m, s, expected, exact) in [
        (0.5, 0.3, -1.0831, -1.0119),
        (-1.0, 0.7, -0.2207, -0.0482),
        (0.0, 1.0, -1.0, -0.7979),
    ] {
        for weight in [1.0, 2.5] {
            let (mut term, z, w) = one_pair(m, s, weight);
            assert_eq!(term.n_pairs(), 1);
            refresh(&mut term, &z, &w);
            let found = total(&mut term, &z, &w, &Bias::absent(1)) / weight;
            assert!((found - expected).abs() < 5e-5, "{m} {s}: {found}");
            assert!(found < exact);
        }
    }
}

/// V1: with drawn precisions the loss is the hinge itself, and the draws have
/// $\mathrm E\lambda^{-1} = 1/|u|$; a pair of weight $c$ is one of the loss of
/// $cu$, for which $\mathrm E\lambda = 1 + c|u|$.
#[test]
fn draws_of_one_pair_have_their_moments() {
    for (m, weight) in [(0.5, 1.0), (-2.0, 1.0), (0.5, 3.0), (-1.0, 0.4)] {
        let (mut term, z, w) = one_pair(m, 0.0, weight);
        let bias = Bias::absent(1);
        let p = Predictor {
            factors: &z,
            weights: &w,
            bias: &bias,
        };
        let draws = 40_000;
        let (mut kappa, mut lambda) = (0.0, 0.0);
        for sweep in 0..draws {
            let mut journal = Journal::default();
            let mut cx = Context {
                key: StreamKey::new(9).sweep(sweep),
                sweep: 1,
                journal: &mut journal,
            };
            let augmented = term.as_augmented().expect("draws");
            augmented.draw_locals(&p, &mut cx).expect("finite");
            let mut state = State::new();
            term.save("t", &mut state);
            let x = state.reader().vec("t/local/kappa").expect("one pair")[0];
            kappa += x / draws as f64;
            lambda += x.recip() / draws as f64;
        }
        // of X ~ IG(mu, 1): E X = mu, Var X = mu^3; E 1/X = 1 + 1/mu, Var 1/X = 2 + 1/mu
        let mu = (weight * f64::abs(m)).recip();
        let tolerance = |variance: f64| 4.5 * (variance / draws as f64).sqrt();
        assert!((kappa / weight - mu).abs() < tolerance(mu.powi(3)), "{m}");
        let expected = 1.0 + mu.recip();
        assert!((weight * lambda - expected).abs() < tolerance(2.0 + mu.recip()));
        let hinge = -2.0 * weight * m.max(0.0);
        let found = total(&mut term, &z, &w, &bias);
        assert!((found - hinge).abs() < 1e-12, "{found} {hinge}");
    }
}
