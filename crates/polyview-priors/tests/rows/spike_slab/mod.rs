//! Spike-and-slab rows: against a naive coordinate ascent, the evidence, plain
//! ARD, and themselves.

mod gibbs;
mod jointly;
mod states;

use crate::common::LearnAlone as _;
use crate::common::{KINDS, Kind, close, groups, problem, start};
use polyview_core::{
    GammaPrior, NumericError, RotationSide, RowBlock, RowCov, RowMoments, Rule, State, Stateful,
};
use polyview_linalg::{Mat, Threads};
use polyview_priors::{Ard, BetaPrior, DiagonalRows, SpikeSlab, SpikeSlabOptions, SpikeSlabRows};
use polyview_random::StreamKey;
use proptest::prelude::*;

fn options() -> SpikeSlabOptions {
    SpikeSlabOptions {
        precision: Some(GammaPrior::new(1.4, 0.9)),
        inclusion: BetaPrior::new(1.3, 0.8),
    }
}

/// Scales that differ by group and column.
fn scales(rows: usize, k: usize, count: usize) -> SpikeSlab {
    let mut out = SpikeSlab::by_group(options(), groups(rows, count), k);
    for i in 0..count * k {
        out.gammas_mut().set(i, 2.0 + i as f64, 1.5);
        out.betas_mut().set(i, 1.0 + i as f64 / 2.0, 2.0);
    }
    out
}

fn block(rows: usize, k: usize, count: usize, seed: u64) -> SpikeSlabRows {
    SpikeSlabRows::new("w", scales(rows, k, count), start(rows, k, seed))
}

/// spec/mofa A.3, entry by entry, from the definition.
fn state(b: &dyn RowBlock) -> State {
    let mut state = State::new();
    b.save("w", &mut state);
    state
}

#[test]
fn an_update_is_a_naive_coordinate_ascent() {
    let (rows, k, count) = (300, 5, 3);
    for kind in KINDS {
        for (passes, ends) in [(1, vec![rows]), (3, vec![64, 200, 201, rows])] {
            let p = problem(kind, rows, k, 11);
            let b = block(rows, k, count, 2).with_passes(passes);
            let mut b = b.one_by_one();
            let prior = b.prior().clone();
            let mut w = b.moments().mean().to_owned();
            let mut expected = vec![[0.0; 4]; rows * k];
            for r in 0..rows {
                let (precision, rhs) = (p.precision(r), p.rhs(r));
                let g = prior.groups().of_row()[r] as usize;
                for _ in 0..passes {
                    for j in 0..k {
                        let others: f64 = (0..k)
                            .filter(|&l| l != j)
                            .map(|l| precision[(j, l)] * w[(r, l)])
                            .sum();
                        let alpha = prior.precisions()[(g, j)];
                        let v = 1.0 / (precision[(j, j)] + alpha);
                        let mu = v * (rhs[j] - others);
                        let logit = prior.betas().log_odds(g + count * j)
                            + 0.5 * alpha.ln()
                            + 0.5 * v.ln()
                            + mu * mu / (2.0 * v);
                        let gamma = 1.0 / (1.0 + (-logit).exp());
                        w[(r, j)] = gamma * mu;
                        let second = gamma * (mu * mu + v);
                        expected[r * k + j] = [gamma, mu, v, second - w[(r, j)].powi(2)];
                    }
                }
            }
            p.update(&mut b, &ends);
            assert!(matches!(b.moments().cov(), RowCov::Diagonal(_)));
            for r in 0..rows {
                for j in 0..k {
                    let [gamma, mu, v, variance] = expected[r * k + j];
                    let what = format!("{kind:?} {passes} {r} {j}");
                    close(b.moments().mean()[(r, j)], w[(r, j)], 1e-11, &what);
                    close(b.moments().variance(r, j), variance, 1e-11, &what);
                    close(b.inclusion()[(r, j)], gamma, 1e-11, &what);
                    close(b.slab_mean()[(r, j)], mu, 1e-11, &what);
                    close(b.slab_variance()[(r, j)], v, 1e-11, &what);
                }
            }
            for g in 0..count {
                for j in 0..k {
                    close(
                        b.spike_variance()[(g, j)],
                        1.0 / prior.precisions()[(g, j)],
                        1e-15,
                        "v0",
                    );
                }
            }
        }
    }
}

/// Probabilities wait for their turn, also in a block that was saved.
#[test]
fn probabilities_are_held_for_a_number_of_updates() {
    let (rows, k) = (20, 2);
    let p = problem(Kind::Shared, rows, k, 3);
    for (held, saved) in [(0, false), (3, false), (3, true), (usize::MAX, true)] {
        let mut b = SpikeSlabRows::new("w", SpikeSlab::new(options(), rows, k), start(rows, k, 1));
        b.prior_mut().hold_probabilities(held);
        for update in 1..=6 {
            p.update(&mut b, &[rows]);
            b.learn_alone();
            if saved {
                let own = state(&b);
                let fresh = SpikeSlab::new(options(), rows, k);
                b = SpikeSlabRows::new("w", fresh, start(rows, k, 1));
                b.load("w", &own.reader()).unwrap();
            }
            let stayed = b.prior().betas().shapes(0) == (1.3, 0.8);
            assert_eq!(stayed, update <= held, "{held} {update}");
            assert_ne!(b.prior().gammas().shape()[0], 1.0);
        }
    }
}

/// With one column and known scales q is the posterior, and the objective
/// the log evidence: every constant counts.
#[test]
fn the_objective_of_one_column_is_the_log_evidence() {
    let (rows, count) = (37, 2);
    let p = problem(Kind::All, rows, 1, 3);
    let mut prior = SpikeSlab::by_group(
        SpikeSlabOptions {
            precision: None,
            inclusion: BetaPrior::uniform(),
        },
        groups(rows, count),
        1,
    );
    let (alpha, theta) = ([0.7, 2.3], [0.2, 0.85]);
    for (g, a) in alpha.into_iter().enumerate() {
        prior.gammas_mut().set_value(g, a);
    }
    prior.betas_mut().set_values(&theta);
    prior.hold_probabilities(usize::MAX);
    let mut b = SpikeSlabRows::new("w", prior.clone(), start(rows, 1, 1));
    p.update(&mut b, &[rows]);
    let evidence: f64 = (0..rows)
        .map(|r| {
            let g = prior.groups().of_row()[r] as usize;
            let (d, h) = (p.precision(r)[(0, 0)], p.rhs(r)[0]);
            let slab = (alpha[g] / (alpha[g] + d)).sqrt() * (h * h / (2.0 * (alpha[g] + d))).exp();
            ((1.0 - theta[g]) + theta[g] * slab).ln()
        })
        .sum();
    close(p.objective(&b), evidence, 1e-12, "evidence");
    // nothing of the scales is learnt
    b.learn_alone();
    assert_eq!(b.prior(), &prior);
}

/// The bound by its definition: $\sum_s q(s)$ of everything (spec/mofa B.6.4).
fn bound_by_definition(b: &SpikeSlabRows) -> f64 {
    let prior = b.prior();
    let count = prior.groups().count();
    let (rows, k) = (b.inclusion().nrows(), b.inclusion().ncols());
    let normal_entropy = |v: f64| 0.5 * (2.0 * std::f64::consts::PI * std::f64::consts::E * v).ln();
    let mut sum = 0.0;
    for r in 0..rows {
        for j in 0..k {
            let at = prior.groups().of_row()[r] as usize + count * j;
            let alpha = prior.gammas();
            let density = |second: f64| {
                0.5 * alpha.mean_ln()[at]
                    - 0.5 * (2.0 * std::f64::consts::PI).ln()
                    - 0.5 * alpha.mean()[at] * second
            };
            let gamma = b.inclusion()[(r, j)];
            let (mu, v) = (b.slab_mean()[(r, j)], b.slab_variance()[(r, j)]);
            let v0 = b.spike_variance()[(at % count, j)];
            sum += gamma
                * (density(mu * mu + v) + prior.betas().mean_ln()[at] - gamma.ln()
                    + normal_entropy(v));
            if gamma < 1.0 {
                let not = 1.0 - gamma;
                sum += not
                    * (density(v0) + prior.betas().mean_ln_not()[at] - not.ln()
                        + normal_entropy(v0));
            }
        }
    }
    sum
}

#[test]
fn the_bound_counts_what_q_holds() {
    let (rows, k) = (40, 4);
    for count in [1, 3] {
        let p = problem(Kind::Scaled, rows, k, 5);
        let mut b = block(rows, k, count, 1);
        let check = |b: &SpikeSlabRows| {
            close(b.bound().0[0].value, bound_by_definition(b), 1e-12, "rows");
        };
        check(&b);
        p.update(&mut b, &[rows]);
        check(&b);
        // now the spike of q is no longer 1/alpha
        b.learn_alone();
        check(&b);
        let gap = (b.spike_variance()[(0, 0)] * b.prior().precisions()[(0, 0)] - 1.0).abs();
        assert!(gap > 1e-3, "{gap}");
        b.select(&[2, 0], &[1.0, -1.0]).unwrap();
        check(&b);
        b.transform(
            Mat::from_fn(2, 2, |i, j| if i == j { 0.0 } else { -3.0 }).as_ref(),
            0.0,
        );
        check(&b);
    }
}

#[test]
fn each_update_of_the_scales_is_the_maximum_of_its_block() {
    let (rows, k, count) = (30, 3, 2);
    let p = problem(Kind::Shared, rows, k, 8);
    let mut b = block(rows, k, count, 1);
    p.update(&mut b, &[rows]);
    let before = b.bound().sum();
    b.learn_alone();
    assert!(b.bound().sum() > before);
    let top = b.bound().sum();
    for i in 0..count * k {
        let (a, c) = b.prior().betas().shapes(i);
        for (da, dc) in [(1e-2, 0.0), (-1e-2, 0.0), (0.0, 1e-2), (0.0, -1e-2)] {
            b.prior_mut().betas_mut().set(i, a + da, c + dc);
            assert!(b.bound().sum() < top, "theta {i}");
        }
        b.prior_mut().betas_mut().set(i, a, c);
        let (s, r) = (b.prior().gammas().shape()[i], b.prior().gammas().rate()[i]);
        for (ds, dr) in [(1e-2, 0.0), (-1e-2, 0.0), (0.0, 1e-2), (0.0, -1e-2)] {
            b.prior_mut().gammas_mut().set(i, s + ds, r * (1.0 + dr));
            assert!(b.bound().sum() < top, "alpha {i}");
        }
        b.prior_mut().gammas_mut().set(i, s, r);
    }
    // spec/mofa B.5: shapes
    let total: f64 = (0..rows)
        .filter(|&r| b.prior().groups().of_row()[r] == 1)
        .map(|r| b.inclusion()[(r, 2)])
        .sum();
    let n = b.prior().groups().sizes()[1];
    let (a, c) = b.prior().betas().shapes(1 + count * 2);
    close(a, 1.3 + total, 1e-13, "a");
    close(c, 0.8 + n - total, 1e-13, "b");
    close(
        b.prior().gammas().shape()[1 + count * 2],
        1.4 + 0.5 * n,
        1e-13,
        "shape",
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
    #[test]
    fn no_step_lowers_the_objective(
        seed in any::<u64>(), rows in 1usize..40, k in 1usize..7, count in 1usize..4,
        passes in 1usize..3, kind in prop::sample::select(KINDS.to_vec()),
        vague in any::<bool>(),
    ) {
        let p = problem(kind, rows, k, seed).of_data();
        let options = if vague { SpikeSlabOptions::default() } else { options() };
        let mut b = SpikeSlabRows::new("w",
            SpikeSlab::by_group(options, groups(rows, count), k), start(rows, k, seed))
            .with_passes(passes);
        let mut last = p.objective(&b);
        for sweep in 0..25 {
            p.update(&mut b, &[rows]);
            let now = p.objective(&b);
            prop_assert!(now >= last - 1e-10 * last.abs().max(1.0), "rows {sweep}: {now} after {last}");
            b.learn_alone();
            last = p.objective(&b);
            prop_assert!(last >= now - 1e-10 * now.abs().max(1.0), "scales {sweep}: {last} after {now}");
            prop_assert!(last.is_finite());
        }
    }
}

/// Means and variances of all entries are alike.
fn same_moments(found: &RowMoments, expected: &RowMoments, tolerance: f64) {
    for r in 0..expected.explicit_rows() {
        for j in 0..expected.k() {
            let means = (found.mean()[(r, j)], expected.mean()[(r, j)]);
            close(means.0, means.1, tolerance, "mean");
            let variances = (found.variance(r, j), expected.variance(r, j));
            close(variances.0, variances.1, tolerance, "variance");
        }
    }
}

/// spec/mofa C.3 (d).
#[test]
fn with_every_entry_included_it_is_plain_ard() {
    let (rows, k) = (50, 4);
    for kind in [Kind::Shared, Kind::Scaled, Kind::Own] {
        let p = problem(kind, rows, k, 21);
        let gamma = GammaPrior::new(1.4, 0.9);
        let mut plain = DiagonalRows::new("w", Ard::new(gamma, k), start(rows, k, 3));
        for strong in [false, true] {
            let prior = BetaPrior::new(if strong { 1e12 } else { 1.0 }, 1.0);
            let mut scales = SpikeSlab::new(
                SpikeSlabOptions {
                    precision: Some(gamma),
                    inclusion: prior,
                },
                rows,
                k,
            );
            if !strong {
                // theta = 1 exactly
                scales.betas_mut().set_values(&vec![1.0; k]);
                scales.hold_probabilities(usize::MAX);
            }
            let mut b = SpikeSlabRows::new("w", scales, start(rows, k, 3)).one_by_one();
            plain.set_moments(start(rows, k, 3));
            *plain.prior_mut() = Ard::new(gamma, k);
            let tolerance = if strong { 1e-9 } else { 1e-13 };
            for _ in 0..6 {
                p.update(&mut b, &[rows]);
                p.update(&mut plain, &[rows]);
                b.learn_alone();
                plain.learn_alone();
                same_moments(b.moments(), plain.moments(), tolerance);
                close(
                    b.bound().0[0].value,
                    plain.bound().0[0].value,
                    tolerance,
                    "rows",
                );
                if !strong {
                    close(b.bound().sum(), plain.bound().sum(), tolerance, "bound");
                }
            }
        }
    }
}

/// Every entry is in the slab, whatever the scales say, as in rows under plain ARD. The bound does not fall by such an update,
/// and rises by the first of the usual ones.
#[test]
fn a_dense_update_takes_every_entry() {
    let (rows, k) = (50, 4);
    for kind in [Kind::Shared, Kind::Scaled, Kind::Own] {
        let p = problem(kind, rows, k, 21);
        let mut dense = problem(kind, rows, k, 21);
        dense.rule = Rule::Dense;
        let mut scales = SpikeSlab::new(options(), rows, k);
        scales.betas_mut().set_values(&vec![0.01; k]);
        scales.hold_probabilities(usize::MAX);
        let mut b = SpikeSlabRows::new("w", scales, start(rows, k, 3)).one_by_one();
        let gamma = GammaPrior::new(1.4, 0.9);
        let mut plain = DiagonalRows::new("w", Ard::new(gamma, k), start(rows, k, 3));
        plain.set_moments(start(rows, k, 3));
        let mut before = f64::NEG_INFINITY;
        for _ in 0..6 {
            dense.update(&mut b, &[rows]);
            p.update(&mut plain, &[rows]);
            b.learn_alone();
            plain.learn_alone();
            let all = (0..k).all(|j| (0..rows).all(|r| b.inclusion()[(r, j)] == 1.0));
            assert!(all, "{kind:?}");
            same_moments(b.moments(), plain.moments(), 1e-12);
            let now = p.objective(&b);
            assert!(now >= before - 1e-9 * now.abs(), "{kind:?} {before} {now}");
            before = now;
        }
        p.update(&mut b, &[rows]);
        assert!(p.objective(&b) > before, "{kind:?}");
        assert!(b.inclusion()[(0, 0)] < 1.0);
    }
}

#[test]
fn one_group_is_no_group() {
    let (rows, k) = (45, 3);
    let p = problem(Kind::Patterns, rows, k, 2);
    let mut a = SpikeSlabRows::new("w", SpikeSlab::new(options(), rows, k), start(rows, k, 1));
    let by = SpikeSlab::by_group(options(), groups(rows, 1), k);
    let mut b = SpikeSlabRows::new("w", by, start(rows, k, 1));
    for _ in 0..3 {
        for x in [&mut a, &mut b] {
            p.update(x, &[rows]);
            x.learn_alone();
        }
    }
    assert_eq!(a.moments().mean(), b.moments().mean());
    assert_eq!(a.prior(), b.prior());
    assert_eq!(a.bound(), b.bound());
}

/// Groups apart are groups together.
#[test]
fn groups_do_not_see_one_another() {
    let (rows, k, count) = (40, 3, 2);
    let p = problem(Kind::Scaled, rows, k, 2);
    let mut both = SpikeSlabRows::new(
        "z",
        SpikeSlab::by_group(options(), groups(rows, count), k),
        start(rows, k, 1),
    );
    for _ in 0..4 {
        p.update(&mut both, &[rows]);
        both.learn_alone();
    }
    let of_row = groups(rows, count).of_row().to_vec();
    for g in 0..2_u32 {
        let members: Vec<usize> = (0..rows).filter(|&r| of_row[r] == g).collect();
        let all = start(rows, k, 1);
        let mean = Mat::from_fn(members.len(), k, |i, j| all.mean()[(members[i], j)]);
        let mut one = SpikeSlabRows::new(
            "z",
            SpikeSlab::new(options(), members.len(), k),
            RowMoments::isotropic(mean, 0.4, 0),
        );
        for _ in 0..4 {
            let mut eq = p.equations(0..0);
            eq.scale = eq.scale.map(|s| members.iter().map(|&r| s[r]).collect());
            eq.set_rows(0..members.len());
            for (i, &r) in members.iter().enumerate() {
                for (j, x) in p.rhs(r).into_iter().enumerate() {
                    eq.rhs[(i, j)] = x;
                }
            }
            let mut journal = polyview_core::Journal::default();
            let mut cx = polyview_core::Context {
                key: StreamKey::new(1),
                sweep: 1,
                journal: &mut journal,
            };
            one.prepare(&eq, &mut cx).unwrap();
            one.update(&mut eq, Rule::Optimum, &mut cx).unwrap();
            one.learn_alone();
        }
        for (i, &r) in members.iter().enumerate() {
            for j in 0..k {
                close(
                    both.inclusion()[(r, j)],
                    one.inclusion()[(i, j)],
                    1e-12,
                    "inclusion",
                );
            }
        }
        for j in 0..k {
            let (a, b) = (both.prior().precisions(), one.prior().precisions());
            close(a[(g as usize, j)], b[(0, j)], 1e-12, "precision");
        }
    }
}
