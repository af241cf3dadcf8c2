//! Means of the entries of a row, all at once.

use super::block;
use crate::common::{KINDS, Kind, close, problem};
use polyview_core::{RowBlock, Rule};

/// Given inclusions and variances no other means have a higher bound: the slope of each entry is zero. Rows that share a precision go entry by entry.
#[test]
fn means_of_rows_with_precisions_of_their_own_are_the_best_together() {
    let (rows, k, count) = (90, 4, 3);
    for kind in KINDS {
        for rule in [Rule::Optimum, Rule::Dense] {
            let mut p = problem(kind, rows, k, 13);
            p.rule = rule;
            let mut b = block(rows, k, count, 2);
            let mut apart = block(rows, k, count, 2).one_by_one();
            p.update(&mut b, &[40, rows]);
            p.update(&mut apart, &[rows]);
            let rise = p.objective(&b) - p.objective(&apart);
            if matches!(kind, Kind::Shared | Kind::Scaled | Kind::Patterns) {
                assert!(rise.abs() < 1e-9, "{kind:?} {rise}");
                continue;
            }
            assert!(rise > 0.1, "{kind:?} {rise}");
            let (w, alpha) = (b.moments().mean(), b.prior().precisions());
            for r in 0..rows {
                let (precision, rhs) = (p.precision(r), p.rhs(r));
                let g = b.prior().groups().of_row()[r] as usize;
                for j in 0..k {
                    let gamma = b.inclusion()[(r, j)];
                    let others = (0..k).filter(|l| *l != j);
                    let others: f64 = others.map(|l| precision[(j, l)] * w[(r, l)]).sum();
                    let own = (precision[(j, j)] + alpha[(g, j)]) * b.slab_mean()[(r, j)];
                    let what = format!("{kind:?} {r} {j}");
                    close(own + others, rhs[j], 1e-8, &what);
                    close(w[(r, j)], gamma * b.slab_mean()[(r, j)], 1e-12, &what);
                    let (m, v) = (b.slab_mean()[(r, j)], b.slab_variance()[(r, j)]);
                    let variance = gamma * (m * m + v) - (gamma * m).powi(2);
                    close(b.moments().variance(r, j), variance, 1e-11, &what);
                }
            }
        }
    }
}

/// A row whose entries are all but surely zero has means all the same.
#[test]
fn entries_that_are_surely_zero_have_finite_means() {
    let (rows, k) = (12, 3);
    let p = problem(Kind::Own, rows, k, 13);
    let mut b = block(rows, k, 1, 2);
    b.prior_mut().betas_mut().set_values(&[1e-320; 3]);
    b.prior_mut().hold_probabilities(usize::MAX);
    for _ in 0..3 {
        p.update(&mut b, &[rows]);
        for r in 0..rows {
            for j in 0..k {
                assert!(b.inclusion()[(r, j)] < 1e-8, "{r} {j}");
                assert!(b.slab_mean()[(r, j)].is_finite(), "{r} {j}");
                let (w, v) = (b.moments().mean()[(r, j)], b.moments().variance(r, j));
                assert!(w.abs() < 1e-6 && v < 1e-6, "{r} {j}: {w} {v}");
            }
        }
    }
    assert!(p.objective(&b).is_finite());
}
