use polyview_datasets::Missing;

use super::{cells, gap, gibbs, rebuilt, simulated, table, vb};
use crate::ErrorKind;

#[test]
fn observed_cells_stay_and_holes_are_predicted() {
    let data = simulated(30, 1, cells(0.2));
    for fit in [vb(data.clone(), 2), gibbs(data.clone(), 2)] {
        let view = data.view("view1").unwrap();
        let f = fit.impute("view1", 0.9).unwrap();
        let p = fit.fitted("view1").unwrap();
        let (lower, upper) = p.interval(0.9).unwrap();
        assert_eq!(f.was_missing.count(), 30 * 7 - view.n_observed());
        for n in 0..30 {
            for d in 0..7 {
                let at = (n, d);
                assert_eq!(f.was_missing.get(n, d), !view.is_observed(n, d));
                if let Some(x) = view.value(n, d) {
                    assert!((f.values[at] - x).abs() <= 1e-12 * x.abs().max(1.0));
                    assert!(f.lower[at] == f.values[at] && f.upper[at] == f.values[at]);
                    assert_eq!(f.sd[at], 0.0);
                } else {
                    assert_eq!(f.values[at], p.mean[at]);
                    assert_eq!((f.lower[at], f.upper[at]), (lower[at], upper[at]));
                    assert_eq!(f.sd[at], p.sd[at]);
                    assert!(f.lower[at] < f.values[at] && f.values[at] < f.upper[at]);
                }
            }
        }
    }
}

#[test]
fn other_data_are_filled_bit_for_bit() {
    let data = simulated(30, 2, cells(0.1));
    let fit = vb(data.clone(), 2);
    let new = simulated(5, 3, cells(0.3));
    let f = fit.impute_data(&new, "view2", 0.95).unwrap();
    let view = new.view("view2").unwrap();
    for n in 0..5 {
        for d in 0..5 {
            if let Some(x) = view.value(n, d) {
                assert_eq!(f.values[(n, d)].to_bits(), x.to_bits());
            }
        }
    }
    assert_eq!(f.was_missing.count(), 25 - view.n_observed());
    // the training data through the front door: the same answer
    let (a, b) = (
        fit.impute("view1", 0.95).unwrap(),
        fit.impute_data(&data, "view1", 0.95).unwrap(),
    );
    assert!(gap(&a.values, &b.values) < 1e-9 && gap(&a.upper, &b.upper) < 1e-9);
    // a view that is not there at all is its prediction
    let one = rebuilt(&new, &["view1"], |v| table(&new, v));
    let (a, b) = (
        fit.impute_data(&one, "view2", 0.95).unwrap(),
        fit.predict(&one, "view2").unwrap(),
    );
    assert!(a.was_missing.is_full() && gap(&a.values, &b.mean) == 0.0);
}

#[test]
fn imputing_needs_data_and_a_level() {
    let mut fit = vb(simulated(20, 4, Missing::default()), 2);
    let e = fit.impute("view1", 1.0).unwrap_err();
    assert!(matches!(
        e.kind(),
        ErrorKind::Option {
            option: "level",
            ..
        }
    ));
    let e = fit.impute("view9", 0.9).unwrap_err();
    assert!(matches!(e.kind(), ErrorKind::UnknownView { .. }));
    fit.forget_data();
    let e = fit.impute("view1", 0.9).unwrap_err();
    assert_eq!(*e.kind(), ErrorKind::NoData);
}
