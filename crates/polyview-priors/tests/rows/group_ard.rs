//! Group-wise ARD: one group is plain ARD, rows are those of dense inverses,
//! and the rotation says what it gains.

use crate::common::LearnAlone as _;
use crate::common::{KINDS, Kind, close, groups, problem, start};
use polyview_core::{
    DataError, GammaPrior, Groups, NumericError, RotationSide, RowBlock, RowContext, RowCov,
    RowGroups, RowMoments, ScalePrior, State, Stateful,
};
use polyview_linalg::{Mat, inverse, log_abs_det};
use polyview_priors::{Ard, FullRows, GroupArd};
use polyview_random::StreamKey;

const GAMMA: GammaPrior = GammaPrior::new(1.4, 0.9);

fn prior(rows: usize, count: usize, k: usize) -> GroupArd {
    let mut out = GroupArd::new(GAMMA, groups(rows, count), k);
    for i in 0..count * k {
        out.gammas_mut().set(i, 1.0 + i as f64, 2.0);
    }
    out
}

#[test]
fn rows_are_those_of_dense_inverses_and_share_what_they_can() {
    let (rows, k, count) = (60, 4, 3);
    for kind in KINDS {
        for ends in [vec![rows], vec![20, 33, rows]] {
            let p = problem(kind, rows, k, 5);
            let prior = prior(rows, count, k);
            let mut b = FullRows::new("z", prior.clone(), start(rows, k, 2));
            p.update(&mut b, &ends);
            match b.moments().cov() {
                RowCov::Patterns { cov, .. } => {
                    let kinds = if kind == Kind::Shared {
                        count
                    } else {
                        2 * count
                    };
                    assert_eq!(cov.rows(), kinds, "{kind:?}");
                }
                RowCov::PerRow(_) => assert!(matches!(kind, Kind::Scaled | Kind::Own | Kind::All)),
                other => panic!("{other:?}"),
            }
            let mut logs = 0.0;
            for r in 0..rows {
                let g = prior.groups().of_row()[r] as usize;
                let mut precision = p.precision(r);
                for j in 0..k {
                    precision[(j, j)] += prior.precisions()[(g, j)];
                }
                logs -= log_abs_det(precision.as_ref()).unwrap();
                let s = inverse(precision.as_ref()).unwrap();
                for i in 0..k {
                    let mean: f64 = (0..k).map(|j| s[(i, j)] * p.rhs(r)[j]).sum();
                    close(b.moments().mean()[(r, i)], mean, 1e-11, "mean");
                    for j in 0..=i {
                        close(b.moments().row_cov(r).get(i, j), s[(i, j)], 1e-12, "cov");
                    }
                }
            }
            close(b.moments().log_det(), logs, 1e-12, "log det");
        }
    }
}

#[test]
fn draws_have_the_moments_of_each_row() {
    let (rows, k, count) = (8, 2, 2);
    let p = problem(Kind::Patterns, rows, k, 5);
    let mut b = FullRows::new("z", prior(rows, count, k), start(rows, k, 2));
    p.update(&mut b, &[rows]);
    let expected = b.moments().clone();
    let draws = 4000;
    let mut sums = vec![[0.0; 3]; rows];
    for i in 0..draws {
        p.draw(&mut b, &[5, rows], StreamKey::new(1).sweep(i));
        for (r, s) in sums.iter_mut().enumerate() {
            let m = b.moments().mean();
            let x = [0, 1].map(|j| m[(r, j)] - expected.mean()[(r, j)]);
            *s = [s[0] + x[0], s[1] + x[0] * x[0], s[2] + x[0] * x[1]];
        }
    }
    for (r, s) in sums.iter().enumerate() {
        let n = draws as f64;
        let c = expected.row_cov(r);
        let error = (c.get(0, 0) / n).sqrt();
        assert!((s[0] / n).abs() < 4.5 * error, "{r}");
        assert!((s[1] / n - c.get(0, 0)).abs() < 4.5 * c.get(0, 0) * (2.0 / n).sqrt());
        let spread = ((c.get(0, 0) * c.get(1, 1) + c.get(1, 0).powi(2)) / n).sqrt();
        assert!((s[2] / n - c.get(1, 0)).abs() < 4.5 * spread, "{r}");
    }
}

#[test]
fn rows_that_are_not_the_groups_are_refused() {
    let (rows, k) = (10, 2);
    let p = problem(Kind::Shared, rows, k, 1);
    for (implicit, of) in [(3, rows), (0, rows - 1), (0, rows + 1)] {
        let moments = RowMoments::isotropic(Mat::zeros(rows, k), 1.0, implicit);
        let mut b = FullRows::new("z", GroupArd::new(GAMMA, groups(of, 2), k), moments);
        let mut journal = polyview_core::Journal::default();
        let mut cx = polyview_core::Context {
            key: StreamKey::new(1),
            sweep: 1,
            journal: &mut journal,
        };
        let found = b.prepare(&p.equations(0..rows), &mut cx);
        assert!(matches!(found, Err(NumericError::Mismatch { .. })));
    }
}

/// The same bits, for every kind of equations, in updates, draws and bounds.
#[test]
fn one_group_is_plain_ard() {
    let (rows, k) = (50, 3);
    for kind in KINDS {
        let p = problem(kind, rows, k, 8);
        let mut plain = FullRows::new("z", Ard::new(GAMMA, k), start(rows, k, 1));
        let one = GroupArd::new(GAMMA, RowGroups::one(rows), k);
        let mut grouped = FullRows::new("z", one, start(rows, k, 1));
        let same = |a: &FullRows<Ard>, b: &FullRows<GroupArd>| {
            assert_eq!(a.moments().mean(), b.moments().mean(), "{kind:?}");
            assert_eq!(a.moments().log_det(), b.moments().log_det());
            assert_eq!(a.prior().gammas(), b.prior().gammas());
            assert_eq!(a.bound(), b.bound());
        };
        for _ in 0..3 {
            p.update(&mut plain, &[rows]);
            p.update(&mut grouped, &[rows]);
            plain.learn_alone();
            grouped.learn_alone();
            same(&plain, &grouped);
        }
        p.draw(&mut plain, &[rows], StreamKey::new(2));
        p.draw(&mut grouped, &[rows], StreamKey::new(2));
        same(&plain, &grouped);
        plain.draw_prior(StreamKey::new(3));
        grouped.draw_prior(StreamKey::new(3));
        same(&plain, &grouped);
        let precisions = grouped.prior().precision_of_new_group();
        for (a, b) in precisions.iter().zip(plain.prior().precisions()) {
            close(*a, *b, 1e-15, "new group");
        }
    }
    // implicit rows count
    let moments = RowMoments::isotropic(Mat::zeros(4, 2), 0.5, 9);
    let (mut a, mut b) = (
        Ard::new(GAMMA, 2),
        GroupArd::new(GAMMA, RowGroups::one(4), 2),
    );
    a.update(&moments);
    b.update(&moments);
    assert_eq!(a.gammas(), b.gammas());
}

#[test]
fn an_update_is_the_maximum_and_groups_stand_alone() {
    let (rows, k, count) = (40, 3, 3);
    let m = start(rows, k, 4);
    let mut p = prior(rows, count, k);
    let value = |p: &GroupArd| p.expected_log_density(&m) + p.bound();
    let before = value(&p);
    p.update(&m);
    let top = value(&p);
    assert!(top > before);
    for i in 0..count * k {
        let (s, r) = (p.gammas().shape()[i], p.gammas().rate()[i]);
        for (ds, dr) in [(1e-2, 1.0), (-1e-2, 1.0), (0.0, 1.01), (0.0, 0.99)] {
            p.gammas_mut().set(i, s + ds, r * dr);
            assert!(value(&p) < top);
        }
        p.gammas_mut().set(i, s, r);
    }
    for g in 0..count {
        let members: Vec<usize> = (0..rows)
            .filter(|&r| p.groups().of_row()[r] as usize == g)
            .collect();
        let mean = Mat::from_fn(members.len(), k, |i, j| m.mean()[(members[i], j)]);
        let mut alone = Ard::new(GAMMA, k);
        alone.update(&RowMoments::isotropic(mean, 0.4, 0));
        for j in 0..k {
            close(
                p.precisions()[(g, j)],
                alone.precisions()[j],
                1e-13,
                "alone",
            );
        }
    }
    // a group without rows keeps its prior
    let empty = RowGroups::new(vec![0; rows], 2).unwrap();
    let mut p = GroupArd::new(GAMMA, empty, k);
    p.update(&m);
    assert_eq!(p.gammas().shape()[1], 1.4);
    assert_eq!(p.gammas().rate()[1], 0.9);
}

#[test]
fn rotations_gain_what_the_term_says() {
    let (rows, k, count) = (40, 3, 2);
    let problem = problem(Kind::Patterns, rows, k, 3);
    for side in [RotationSide::Factors, RotationSide::Weights] {
        let mut b = FullRows::new("z", prior(rows, count, k), start(rows, k, 4));
        problem.update(&mut b, &[rows]);
        b.learn_alone();
        let term = b.rotation_term(side).unwrap();
        let q = Mat::from_fn(k, k, |i, j| {
            f64::from(u8::from(i == j)) + 0.1 * ((i * 2 + j * 5) % 7) as f64
        });
        let value = |q: &Mat<f64>| {
            let (inv, log) = (
                inverse(q.as_ref()).unwrap(),
                log_abs_det(q.as_ref()).unwrap(),
            );
            let mut g = Mat::zeros(k, k);
            (term.evaluate(q.as_ref(), inv.as_ref(), log, g.as_mut()), g)
        };
        let actual = |q: &Mat<f64>| {
            let log = log_abs_det(q.as_ref()).unwrap();
            let mut turned = b.clone();
            match side {
                RotationSide::Weights => {
                    turned.transform(q.transpose().to_owned().as_ref(), log);
                }
                RotationSide::Factors => {
                    turned.transform(inverse(q.as_ref()).unwrap().as_ref(), -log);
                }
            }
            turned.learn_alone();
            turned.bound().sum()
        };
        let identity = Mat::from_fn(k, k, |i, j| f64::from(u8::from(i == j)));
        let gain = value(&q).0 - value(&identity).0;
        close(gain, actual(&q) - actual(&identity), 1e-10, "gain");
        let (h, gradient) = (1e-5, value(&q).1);
        for i in 0..k {
            for j in 0..k {
                let moved = |by: f64| {
                    let mut r = q.clone();
                    r[(i, j)] += by;
                    actual(&r)
                };
                let slope = (moved(h) - moved(-h)) / (2.0 * h);
                close(slope, gradient[(i, j)], 1e-6, "slope");
            }
        }
    }
}

#[test]
fn states_come_back_and_others_are_refused() {
    let (rows, k) = (12, 2);
    let p = problem(Kind::Shared, rows, k, 3);
    let mut b = FullRows::new("z", prior(rows, 3, k), start(rows, k, 4));
    p.update(&mut b, &[rows]);
    b.learn_alone();
    b.select(&[1], &[-1.0]).unwrap();
    let mut saved = State::new();
    b.save("z", &mut saved);
    let mut again = FullRows::new("z", prior(rows, 2, k), start(rows, k, 1));
    again.load("z", &saved.reader()).unwrap();
    assert_eq!(again.prior(), b.prior());
    assert_eq!(again.bound(), b.bound());
    for (name, wrong) in [
        ("z/prior/groups/of_row", vec![0.0; rows - 1]),
        ("z/prior/groups/of_row", vec![0.5; rows]),
        ("z/prior/groups/count", vec![2.0]),
        ("z/prior/groups/count", vec![-1.0]),
    ] {
        let mut bad = saved.clone();
        bad.put_vec(name, &wrong);
        assert!(again.load("z", &bad.reader()).is_err(), "{name}");
    }
}

#[test]
fn groups_come_from_a_data_set_or_are_refused() {
    let found = RowGroups::from(&Groups {
        names: vec!["a".into(), "b".into(), "unused".into()],
        of_sample: vec![1, 0, 1],
    });
    assert_eq!(found.sizes(), [1.0, 2.0, 0.0]);
    assert_eq!(found.of_row(), [1, 0, 1]);
    let refused = RowGroups::new(vec![0, 3], 3);
    assert!(matches!(
        refused,
        Err(DataError::GroupOutOfRange {
            row: 1,
            group: 3,
            groups: 3
        })
    ));
    assert!(RowGroups::new(Vec::new(), 0).is_err());
    let prior = prior(10, 2, 3);
    assert!(prior.for_rows(&RowContext::new(&groups(4, 3))).is_none());
    let new = prior.for_rows(&RowContext::new(&groups(4, 2))).unwrap();
    assert_eq!(new.precisions(), prior.precisions());
    let alpha = prior.precisions();
    for (k, p) in prior.precision_of_new_group().into_iter().enumerate() {
        let mean = 0.5 * (1.0 / alpha[(0, k)] + 1.0 / alpha[(1, k)]);
        close(1.0 / p, mean, 1e-14, "variance of a new group");
    }
}
