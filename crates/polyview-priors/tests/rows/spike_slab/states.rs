//! States, threads, and columns that are kept, reordered and flipped.

use super::*;

#[test]
fn bits_depend_neither_on_threads_nor_on_ranges() {
    let (rows, k, count) = (700, 6, 2);
    for kind in KINDS {
        let p = problem(kind, rows, k, 4);
        let sweep = |threads: usize, ends: &[usize]| {
            Threads::new(threads).unwrap().install(|| {
                let mut b = block(rows, k, count, 7);
                let mut drawn = block(rows, k, count, 7);
                for i in 0..3 {
                    p.update(&mut b, ends);
                    b.learn_alone();
                    p.draw(&mut drawn, ends, StreamKey::new(3).sweep(i));
                }
                (state(&b), state(&drawn))
            })
        };
        let one = sweep(1, &[rows]);
        assert_eq!(one, sweep(3, &[rows]), "{kind:?}");
        // sums are made range by range: only the last bits of the bound differ
        let parts = sweep(2, &[64, 320, rows]);
        for name in ["w/mean", "w/inclusion", "w/slab_variance"] {
            assert_eq!(
                one.0.arrays()[name],
                parts.0.arrays()[name],
                "{kind:?} {name}"
            );
            assert_eq!(
                one.1.arrays()[name],
                parts.1.arrays()[name],
                "{kind:?} {name}"
            );
        }
    }
}

#[test]
fn states_come_back_and_others_are_refused() {
    let (rows, k) = (20, 3);
    let p = problem(Kind::Own, rows, k, 1);
    for draws in [false, true] {
        let mut b = block(rows, k, 2, 1);
        p.update(&mut b, &[rows]);
        b.learn_alone();
        if draws {
            p.draw(&mut b, &[rows], StreamKey::new(8));
        }
        let saved = state(&b);
        let other = SpikeSlab::new(SpikeSlabOptions::default(), rows, k);
        let mut again = SpikeSlabRows::new("w", other, start(rows, k, 9));
        again.load("w", &saved.reader()).unwrap();
        assert_eq!(state(&again), saved);
        assert_eq!(again.bound(), b.bound());
        // and both go on alike
        for x in [&mut b, &mut again] {
            x.learn_alone();
            p.update(x, &[rows]);
        }
        assert_eq!(state(&again), state(&b));
        for (name, wrong) in [
            ("w/inclusion", vec![1.0; 2]),
            ("w/spike_variance", vec![1.0; 2]),
            ("w/prior/groups/of_row", vec![0.0; rows + 1]),
            ("w/prior/groups/of_row", vec![7.0; rows]),
            ("w/prior/groups/count", vec![4.0]),
            ("w/prior/groups/count", vec![0.0]),
            ("w/prior/groups/count", vec![f64::NAN]),
            ("w/prior/theta/a", vec![1.0; 5]),
        ] {
            let mut bad = saved.clone();
            bad.put_vec(name, &wrong);
            assert!(again.load("w", &bad.reader()).is_err(), "{name}");
        }
    }
}

#[test]
fn columns_are_kept_reordered_and_flipped() {
    let (rows, k) = (30, 4);
    let p = problem(Kind::Shared, rows, k, 1);
    let mut b = block(rows, k, 2, 1);
    p.update(&mut b, &[rows]);
    b.learn_alone();
    let before = b.clone();
    b.select(&[3, 1], &[-1.0, 1.0]).unwrap();
    for (j, (from, sign)) in [(3, -1.0), (1, 1.0)].into_iter().enumerate() {
        for r in 0..rows {
            assert_eq!(
                b.moments().mean()[(r, j)],
                sign * before.moments().mean()[(r, from)]
            );
            assert_eq!(
                b.moments().variance(r, j),
                before.moments().variance(r, from)
            );
            assert_eq!(b.inclusion()[(r, j)], before.inclusion()[(r, from)]);
        }
        for g in 0..2 {
            let at = (g, from);
            assert_eq!(
                b.prior().precisions()[(g, j)],
                before.prior().precisions()[at]
            );
            assert_eq!(b.spike_variance()[(g, j)], before.spike_variance()[at]);
        }
    }
    // a map that mixes columns leaves the family
    b.transform(
        Mat::from_fn(2, 2, |i, j| {
            if i == j {
                0.8
            } else {
                0.6 * (j as f64 - i as f64)
            }
        })
        .as_ref(),
        0.0,
    );
    assert!((0..rows).all(|r| b.inclusion()[(r, 0)] == 1.0));
    assert!(b.bound().sum().is_finite());
    assert!(b.rotation_term(RotationSide::Weights).is_none());
}

#[test]
fn rows_that_do_not_belong_to_the_scales_are_refused() {
    let (rows, k) = (10, 2);
    let p = problem(Kind::Shared, rows, k, 1);
    for moments in [
        RowMoments::isotropic(Mat::zeros(rows, k), 1.0, 4),
        RowMoments::isotropic(Mat::zeros(rows + 1, k), 1.0, 0),
        RowMoments::isotropic(Mat::zeros(rows, k + 1), 1.0, 0),
    ] {
        let mut b = SpikeSlabRows::new("w", SpikeSlab::new(options(), rows, k), moments);
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

#[test]
fn new_rows_find_the_scales_of_their_group() {
    let prior = scales(12, 3, 2);
    assert!(prior.for_rows(groups(5, 3)).is_none());
    let new = prior.for_rows(groups(5, 2)).unwrap();
    assert_eq!(new.precisions(), prior.precisions());
    assert_eq!(new.groups().rows(), 5);
    let precision = prior.precision_of_new_group();
    let theta = prior.inclusion_probabilities();
    for k in 0..3 {
        let variance: f64 = (0..2)
            .map(|g| theta[(g, k)] / prior.precisions()[(g, k)])
            .sum();
        close(1.0 / precision[k], 0.5 * variance, 1e-14, "variance");
    }
}
