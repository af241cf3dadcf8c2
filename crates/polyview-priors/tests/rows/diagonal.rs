//! Factorised rows: against a naive coordinate ascent, full rows, and
//! themselves.

use crate::common::LearnAlone as _;
use crate::common::{KINDS, Kind, Problem, close, groups, problem, start};
use polyview_core::{
    GammaPrior, NumericError, RotationSide, RowBlock, RowCov, RowMoments, Rule, ScalePrior, State,
    Stateful,
};
use polyview_linalg::{Mat, Threads};
use polyview_priors::{Ard, DiagonalRows, DoubleArd, Fixed, FullRows, GroupArd};
use polyview_random::StreamKey;
use proptest::prelude::*;

const GAMMA: GammaPrior = GammaPrior::new(1.4, 0.9);

fn ard(k: usize) -> Ard {
    let mut out = Ard::new(GAMMA, k);
    for i in 0..k {
        out.gammas_mut().set(i, 2.0 + i as f64, 1.5);
    }
    out
}
fn double(rows: usize, k: usize) -> DoubleArd {
    let mut out = DoubleArd::new(GAMMA, GAMMA, rows, k);
    for r in 0..rows {
        out.rows_mut().set(r, 1.0 + (r % 5) as f64, 2.0);
    }
    out
}
fn group_ard(rows: usize, k: usize) -> GroupArd {
    let mut out = GroupArd::new(GAMMA, groups(rows, 3), k);
    for i in 0..3 * k {
        out.gammas_mut().set(i, 1.0 + i as f64, 2.0);
    }
    out
}

/// spec/mofa A.3, entry by entry, from the definition.
fn naive<P: ScalePrior>(p: &Problem, prior: &P, mean: &mut Mat<f64>) -> Mat<f64> {
    Mat::from_fn(p.rows, p.k, |r, j| {
        let precision = p.precision(r);
        let others: f64 = (0..p.k)
            .filter(|&l| l != j)
            .map(|l| precision[(j, l)] * mean[(r, l)])
            .sum();
        let v = 1.0 / (precision[(j, j)] + prior.precision().at(r, j));
        mean[(r, j)] = v * (p.rhs(r)[j] - others);
        v
    })
}

fn follows<P: ScalePrior + Clone>(kind: Kind, prior: &P, rows: usize, k: usize) {
    let p = problem(kind, rows, k, 3);
    for ends in [vec![rows], vec![100, 130, rows]] {
        let mut b = DiagonalRows::new("w", prior.clone(), start(rows, k, 5));
        let mut mean = b.moments().mean().to_owned();
        for _ in 0..2 {
            // columns first, then rows: each row is on its own
            let v = naive(&p, prior, &mut mean);
            p.update(&mut b, &ends);
            let mut logs = 0.0;
            for r in 0..rows {
                for j in 0..k {
                    close(b.moments().mean()[(r, j)], mean[(r, j)], 1e-11, "mean");
                    close(b.moments().variance(r, j), v[(r, j)], 1e-12, "variance");
                    logs += v[(r, j)].ln();
                }
            }
            close(b.moments().log_det(), logs, 1e-12, "log det");
        }
    }
}

#[test]
fn an_update_is_a_naive_coordinate_ascent() {
    let (rows, k) = (170, 4);
    for kind in KINDS {
        follows(kind, &ard(k), rows, k);
        follows(kind, &double(rows, k), rows, k);
        follows(kind, &group_ard(rows, k), rows, k);
    }
}

#[test]
fn rows_alike_share_their_variances_and_may_be_implicit() {
    let (rows, k, implicit) = (20, 3, 7);
    let p = problem(Kind::Shared, rows, k, 1);
    let with = |implicit: usize| {
        let moments = RowMoments::isotropic(start(rows, k, 2).mean().to_owned(), 1.0, implicit);
        let mut b = DiagonalRows::new("z", Fixed::standard_normal(k), moments);
        p.update(&mut b, &[rows]);
        b
    };
    let (some, none) = (with(implicit), with(0));
    assert!(matches!(some.moments().cov(), RowCov::Shared(_)));
    // each implicit row has no mean, and adds the log of the variances
    let one = none.moments().log_det() / rows as f64;
    close(
        some.moments().log_det(),
        one * (rows + implicit) as f64,
        1e-13,
        "log det",
    );
    let mut other = DiagonalRows::new(
        "z",
        double(rows, k),
        RowMoments::isotropic(Mat::zeros(rows, k), 1.0, implicit),
    );
    let mut journal = polyview_core::Journal::default();
    let mut cx = polyview_core::Context {
        key: StreamKey::new(1),
        sweep: 1,
        journal: &mut journal,
    };
    let found = other.prepare(&p.equations(0..rows), &mut cx);
    assert!(matches!(found, Err(NumericError::Mismatch { .. })));
}

#[test]
fn many_passes_find_the_means_of_full_rows_and_a_lower_bound() {
    let (rows, k) = (30, 4);
    for kind in KINDS {
        let p = problem(kind, rows, k, 6);
        let mut full = FullRows::new("w", ard(k), start(rows, k, 1));
        let mut b = DiagonalRows::new("w", ard(k), start(rows, k, 1)).with_passes(2000);
        p.update(&mut full, &[rows]);
        p.update(&mut b, &[rows]);
        for r in 0..rows {
            for j in 0..k {
                let (x, y) = (b.moments(), full.moments());
                close(x.mean()[(r, j)], y.mean()[(r, j)], 1e-8, "mean");
                assert!(x.variance(r, j) <= y.variance(r, j) * (1.0 + 1e-12));
            }
        }
        assert!(p.objective(&b) < p.objective(&full));
    }
}

#[test]
fn one_column_is_a_full_row() {
    let rows = 25;
    for kind in KINDS {
        let p = problem(kind, rows, 1, 6);
        let mut full = FullRows::new("w", ard(1), start(rows, 1, 1));
        let mut b = DiagonalRows::new("w", ard(1), start(rows, 1, 1));
        for _ in 0..3 {
            p.update(&mut full, &[rows]);
            p.update(&mut b, &[rows]);
            full.learn_alone();
            b.learn_alone();
        }
        close(p.objective(&b), p.objective(&full), 1e-12, "objective");
    }
}

fn rises<P: ScalePrior>(p: &Problem, mut b: DiagonalRows<P>) -> Result<(), TestCaseError> {
    let mut last = p.objective(&b);
    for sweep in 0..20 {
        p.update(&mut b, &[p.rows]);
        let now = p.objective(&b);
        prop_assert!(
            now >= last - 1e-10 * last.abs().max(1.0),
            "rows {sweep}: {now} after {last}"
        );
        b.learn_alone();
        last = p.objective(&b);
        prop_assert!(
            last >= now - 1e-10 * now.abs().max(1.0),
            "scales {sweep}: {last} after {now}"
        );
        prop_assert!(last.is_finite());
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]
    #[test]
    fn no_step_lowers_the_objective(
        seed in any::<u64>(), rows in 1usize..40, k in 1usize..7, passes in 1usize..3,
        kind in prop::sample::select(KINDS.to_vec()), rate in 0.1..1.95f64,
    ) {
        let mut p = problem(kind, rows, k, seed);
        p.rule = Rule::Relaxed(rate);
        let at = || start(rows, k, seed);
        rises(&p, DiagonalRows::new("w", ard(k), at()).with_passes(passes))?;
        rises(&p, DiagonalRows::new("w", double(rows, k), at()).with_passes(passes))?;
        rises(&p, DiagonalRows::new("w", group_ard(rows, k), at()).with_passes(passes))?;
        rises(&p, DiagonalRows::new("w", Fixed::standard_normal(k), at()).with_passes(passes))?;
    }
}

/// Beyond the optimum on the way, and at the same end.
#[test]
fn relaxed_steps_end_where_others_do() {
    let (rows, k) = (30, 4);
    let mut p = problem(Kind::Own, rows, k, 8);
    let mut run = |rate: f64, steps: usize| {
        p.rule = Rule::Relaxed(rate);
        let mut b = DiagonalRows::new("w", ard(k), start(rows, k, 1));
        for _ in 0..steps {
            p.update(&mut b, &[rows]);
        }
        b.moments().mean().to_owned()
    };
    let apart = |a: &Mat<f64>, b: &Mat<f64>| (a - b).norm_max();
    assert!(apart(&run(1.0, 1), &run(1.4, 1)) > 1e-3);
    assert!(apart(&run(1.0, 400), &run(1.4, 400)) < 1e-9);
}

fn state(b: &dyn RowBlock) -> State {
    let mut state = State::new();
    b.save("w", &mut state);
    state
}

#[test]
fn draws_are_those_of_full_rows() {
    let (rows, k) = (40, 3);
    for kind in KINDS {
        let p = problem(kind, rows, k, 6);
        let mut full = FullRows::new("w", ard(k), start(rows, k, 1));
        let mut b = DiagonalRows::new("w", ard(k), start(rows, k, 1));
        for i in 0..2 {
            let key = StreamKey::new(4).sweep(i);
            let ends = [rows / 2, rows];
            p.draw(&mut full, &ends, key);
            p.draw(&mut b, &ends, key);
            assert_eq!(b.moments().mean(), full.moments().mean());
        }
        assert_eq!(b.bound(), full.bound());
        b.draw_prior(StreamKey::new(8));
        full.draw_prior(StreamKey::new(8));
        assert_eq!(state(&b), state(&full));
    }
}

#[test]
fn bits_do_not_depend_on_threads() {
    let (rows, k) = (700, 5);
    for kind in KINDS {
        let p = problem(kind, rows, k, 4);
        let sweep = |threads: usize| {
            Threads::new(threads).unwrap().install(|| {
                let mut b = DiagonalRows::new("w", group_ard(rows, k), start(rows, k, 7));
                for _ in 0..3 {
                    p.update(&mut b, &[128, rows]);
                    b.learn_alone();
                }
                state(&b)
            })
        };
        assert_eq!(sweep(1), sweep(3), "{kind:?}");
    }
}

#[test]
fn states_come_back_and_others_are_refused() {
    let (rows, k) = (20, 3);
    for kind in [Kind::Shared, Kind::Own] {
        let p = problem(kind, rows, k, 1);
        let mut b = DiagonalRows::new("w", ard(k), start(rows, k, 1));
        p.update(&mut b, &[rows]);
        b.learn_alone();
        let saved = state(&b);
        let mut again = DiagonalRows::new("w", Ard::new(GAMMA, k), start(rows, k, 2));
        again.load("w", &saved.reader()).unwrap();
        assert_eq!(state(&again), saved);
        assert_eq!(again.bound(), b.bound());
    }
    // rows with covariances are another family
    let p = problem(Kind::Shared, rows, k, 1);
    let mut full = FullRows::new("w", ard(k), start(rows, k, 1));
    p.update(&mut full, &[rows]);
    let mut b = DiagonalRows::new("w", ard(k), start(rows, k, 1));
    assert!(b.load("w", &state(&full).reader()).is_err());
}

#[test]
fn columns_are_kept_and_maps_applied() {
    let (rows, k) = (20, 3);
    for kind in [Kind::Shared, Kind::Own] {
        let p = problem(kind, rows, k, 1);
        let mut b = DiagonalRows::new("w", ard(k), start(rows, k, 1));
        p.update(&mut b, &[rows]);
        assert!(b.rotation_term(RotationSide::Weights).is_none());
        let before = b.clone();
        b.select(&[2, 0], &[-1.0, 1.0]).unwrap();
        let mut logs = 0.0;
        for r in 0..rows {
            assert_eq!(b.moments().mean()[(r, 0)], -before.moments().mean()[(r, 2)]);
            assert_eq!(b.moments().variance(r, 1), before.moments().variance(r, 0));
            logs += (0..2).map(|j| b.moments().variance(r, j).ln()).sum::<f64>();
        }
        close(b.moments().log_det(), logs, 1e-12, "log det");
        assert_eq!(b.prior().precisions()[0], before.prior().precisions()[2]);
        // a turn leaves independent entries and their own log det
        let q = Mat::from_fn(2, 2, |i, j| {
            if i == j {
                0.8
            } else {
                0.6 * (j as f64 - i as f64)
            }
        });
        b.transform(q.as_ref(), 0.0);
        let logs: f64 = (0..rows)
            .map(|r| (0..2).map(|j| b.moments().variance(r, j).ln()).sum::<f64>())
            .sum();
        close(b.moments().log_det(), logs, 1e-12, "log det");
        assert_eq!(b.moments().row_cov(3).get(1, 0), 0.0);
    }
}
