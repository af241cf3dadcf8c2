use polyview_core::{Dataset, View};
use polyview_datasets::Missing;

use super::{cells, gibbs, rebuilt, rows, simulated, table, vb};
use crate::{ErrorKind, HoldOut, hold_out};

#[test]
fn enough_is_left_everywhere() {
    for (share, missing) in [(0.1, 0.0), (0.5, 0.3), (0.9, 0.1)] {
        let data = simulated(40, 1, cells(missing));
        let HoldOut { data: left, cells } = hold_out(&data, share, 7).unwrap();
        for (m, (before, after)) in data.views().iter().zip(left.views()).enumerate() {
            assert_eq!(cells[m], before.n_observed() - after.n_observed());
            for d in 0..before.n_features() {
                let (b, a) = (
                    before.mask().count_feature(d, 40),
                    after.mask().count_feature(d, 40),
                );
                assert!(a >= b.min(2));
                assert!(b - a <= (share * b as f64) as usize + 1);
                for n in 0..40 {
                    assert!(before.is_observed(n, d) || !after.is_observed(n, d));
                    if after.is_observed(n, d) {
                        assert_eq!(after.value(n, d), before.value(n, d));
                    }
                }
            }
            for n in 0..40 {
                let b = before.mask().count_sample(n, before.n_features());
                assert!(after.mask().count_sample(n, after.n_features()) >= b.min(2));
            }
        }
        let again = hold_out(&data, share, 7).unwrap();
        assert_eq!(again.data, left);
        assert_ne!(hold_out(&data, share, 8).unwrap().data, left);
    }
    let data = simulated(200, 2, Missing::default());
    let hidden: usize = hold_out(&data, 0.1, 1).unwrap().cells.iter().sum();
    assert!(hidden.abs_diff(240) <= 12, "{hidden} of 2400");
}

/// The first features of each view.
fn narrow(data: &Dataset, widths: [usize; 2]) -> Dataset {
    rebuilt(data, &["view1", "view2"], |v| {
        let mut t = table(data, v);
        let width = widths[usize::from(v.name() == "view2")];
        t.features.truncate(width);
        t.values = t.values.subcols(0, width).to_owned();
        t
    })
}

#[test]
fn views_of_one_feature_lose_cells_but_no_sample_its_last() {
    let data = simulated(10, 3, Missing::default());
    for (widths, share) in [([2, 1], 0.6), ([1, 1], 0.6), ([1, 1], 0.95)] {
        let narrow = narrow(&data, widths);
        for seed in 0..20 {
            let h = hold_out(&narrow, share, seed).unwrap();
            assert!(h.cells.iter().sum::<usize>() >= 8, "{:?}", h.cells);
            let seen = |n: usize| -> usize {
                let of = |v: &View| v.mask().count_sample(n, v.n_features());
                h.data.views().iter().map(of).sum()
            };
            assert!((0..10).all(|n| seen(n) >= 1));
            for v in h.data.views() {
                assert!((0..v.n_features()).all(|d| v.mask().count_feature(d, 10) >= 2));
            }
        }
    }
    for share in [0.0, 1.0, -0.1, f64::NAN] {
        let e = hold_out(&data, share, 1).unwrap_err();
        assert!(matches!(
            e.kind(),
            ErrorKind::Option {
                option: "share",
                ..
            }
        ));
    }
    // two samples: nothing can be hidden
    let e = hold_out(&rows(&narrow(&data, [1, 1]), &[0, 1]), 0.5, 1).unwrap_err();
    assert!(matches!(
        e.kind(),
        ErrorKind::NothingToHide { samples: 2, .. }
    ));
}

#[test]
fn scores_are_those_of_the_cells() {
    let data = simulated(60, 5, cells(0.05));
    let h = hold_out(&data, 0.15, 6).unwrap();
    for fit in [vb(h.data.clone(), 2), gibbs(h.data.clone(), 2)] {
        let scores = fit.held_out_score(&data).unwrap();
        assert_eq!(scores.len(), 2);
        for (m, s) in scores.iter().enumerate() {
            let (full, left) = (&data.views()[m], &h.data.views()[m]);
            let p = fit.fitted(full.name()).unwrap();
            let (lower, upper) = p.interval(0.95).unwrap();
            let scaling = &fit.views()[m].scaling;
            let (mut count, mut inside, mut width) = (0.0, 0.0, 0.0);
            let (mut squares, mut scatter) = (0.0, 0.0);
            let mut predicted = Vec::new();
            for d in 0..full.n_features() {
                for n in 0..60 {
                    let Some(x) = full.value(n, d).filter(|_| !left.is_observed(n, d)) else {
                        continue;
                    };
                    count += 1.0;
                    inside += f64::from(u8::from(x >= lower[(n, d)] && x <= upper[(n, d)]));
                    width += upper[(n, d)] - lower[(n, d)];
                    squares += (x - p.mean[(n, d)]).powi(2);
                    scatter += (x - scaling.offset[d]).powi(2); // training means are the offsets
                    predicted.push(p.mean[(n, d)]);
                }
            }
            assert_eq!((s.view.as_str(), s.cells), (full.name(), h.cells[m]));
            assert_eq!(s.cells as f64, count);
            assert!((s.r2 - (1.0 - squares / scatter)).abs() < 1e-9);
            assert!((s.rmse - (squares / count).sqrt()).abs() < 1e-9);
            assert!((s.coverage - inside / count).abs() < 1e-12);
            assert!((s.width - width / count).abs() < 1e-9);
            assert_eq!(s.pairs.predicted.len(), predicted.len());
            for (a, b) in s.pairs.predicted.iter().zip(&predicted) {
                assert!((a - b).abs() < 1e-9);
            }
            assert!(s.r2 > 0.2 && s.coverage > 0.85, "{} {}", s.r2, s.coverage);
            // log density: the normal one, or the mixture of the draws'
            let mut density = 0.0;
            let singles: Vec<_> = (0..fit.n_components())
                .map(|i| {
                    let mut one = fit.clone();
                    one.components = vec![fit.components[i].clone()];
                    one.fitted(full.name()).unwrap()
                })
                .collect();
            for d in 0..full.n_features() {
                for n in 0..60 {
                    let Some(x) = full.value(n, d).filter(|_| !left.is_observed(n, d)) else {
                        continue;
                    };
                    let one = |q: &crate::Prediction| {
                        let sd = q.sd[(n, d)];
                        polyview_special::normal_pdf((x - q.mean[(n, d)]) / sd) / sd
                    };
                    density += (singles.iter().map(one).sum::<f64>() / singles.len() as f64).ln();
                }
            }
            assert!((s.log_density - density / count).abs() < 1e-9);
        }
    }
}

#[test]
fn only_what_was_hidden_is_scored() {
    let data = simulated(40, 7, Missing::default());
    let fit = vb(data.clone(), 2);
    assert!(fit.held_out_score(&data).unwrap().is_empty());
    let h = hold_out(&data, 0.2, 1).unwrap();
    let mut fit = vb(h.data.clone(), 2);
    // order of samples and features does not matter, strangers are not scored
    let turned = rebuilt(&data, &["view2"], |v| {
        let mut t = table(&data, v);
        t.samples.reverse();
        t.samples[0] = "stranger".to_owned();
        t.features.reverse();
        let all = v.to_values_with_nan();
        for d in 0..5 {
            for n in 0..40 {
                t.values[(n, d)] = all[(39 - n, 4 - d)];
            }
        }
        t
    });
    let a = &fit.held_out_score(&turned).unwrap()[0];
    let b = &fit
        .held_out_score(&super::rows(&data, &(0..39).collect::<Vec<_>>()))
        .unwrap()[1];
    assert_eq!((a.view.as_str(), a.cells), ("view2", b.cells));
    assert!((a.log_density - b.log_density).abs() < 1e-10 && (a.r2 - b.r2).abs() < 1e-10);
    fit.forget_data();
    assert_eq!(
        *fit.held_out_score(&data).unwrap_err().kind(),
        ErrorKind::NoData
    );
}

#[test]
fn held_out_cells_are_covered() {
    let data = simulated(150, 8, Missing::default());
    let h = hold_out(&data, 0.2, 9).unwrap();
    for s in vb(h.data, 3).held_out_score(&data).unwrap() {
        assert!(
            (s.coverage - 0.95).abs() < 0.05,
            "{}: {}",
            s.view,
            s.coverage
        );
    }
}

/// Scores of numbers whose squares are 0 are those of the same numbers in another unit.
#[test]
fn tiny_numbers_are_scored_as_others() {
    let data = simulated(40, 5, Missing::default());
    let score = |unit: f64| {
        let data = rebuilt(&data, &["view1", "view2"], |v| {
            let mut t = table(&data, v);
            for d in 0..t.values.ncols() {
                t.values
                    .col_as_slice_mut(d)
                    .iter_mut()
                    .for_each(|x| *x *= unit);
            }
            t
        });
        let hidden = hold_out(&data, 0.1, 3).unwrap();
        vb(hidden.data, 2).held_out_score(&data).unwrap()
    };
    let unit = 1e-165;
    for (tiny, plain) in score(unit).into_iter().zip(score(1.0)) {
        assert!((tiny.r2 - plain.r2).abs() < 1e-6, "{}", tiny.r2);
        assert!((tiny.rmse / unit / plain.rmse - 1.0).abs() < 1e-6);
        assert!((tiny.log_density + unit.ln() - plain.log_density).abs() < 1e-6);
    }
}
