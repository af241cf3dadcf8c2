//! States, threads and extreme rows.

use super::*;

#[test]
fn states_come_back_bit_by_bit_and_columns_can_be_left_out() {
    for scope in SCOPES {
        let rows = start(5, 3, 1);
        let mut p = prior(options(0.5, 0.9, scope), 5, 3, 2);
        for drawn in [false, true] {
            if drawn {
                p.draw(&rows, StreamKey::new(1));
            }
            let mut other = ThreeParameterBeta::new(options(1.0, 1.0, scope), 1, 1);
            other.load("p", &saved(&p).reader()).unwrap();
            assert_eq!(saved(&other), saved(&p));
            assert_eq!(other.precisions(), p.precisions());
            assert_eq!(other.bound().to_bits(), p.bound().to_bits());

            let (before, mut fewer) = (p.clone(), p.clone());
            fewer.select(&[2, 0]);
            for d in 0..5 {
                assert_eq!(fewer.precisions()[(d, 0)], before.precisions()[(d, 2)]);
                assert_eq!(fewer.rates()[(d, 1)], before.rates()[(d, 0)]);
            }
            if scope == GlobalScale::Column {
                assert_eq!(fewer.global_scales()[0], before.global_scales()[2]);
            }
            assert!(fewer.precision().fits(5, 2));
            let two = start(5, 2, 1);
            let value = bound(&fewer, &two);
            fewer.update(&two);
            assert!(drawn || bound(&fewer, &two) > value);
        }
    }
}

#[test]
fn states_that_do_not_fit_are_refused() {
    let p = prior(ThreeParameterBetaOptions::default(), 4, 2, 2);
    let refuse = |name: &str, values: &[f64]| {
        let mut state = saved(&p);
        state.put_vec(&format!("p/{name}"), values);
        let error = p.clone().load("p", &state.reader()).unwrap_err();
        assert!(matches!(error, NumericError::BadState { .. }), "{name}");
    };
    for shapes in [
        [0.0, 1.0],
        [1.0, -1.0],
        [f64::NAN, 1.0],
        [1.0, f64::INFINITY],
    ] {
        refuse("shapes", &shapes);
    }
    for size in [
        [9e8, 9e8],
        [4.5, 2.0],
        [-1.0, 2.0],
        [5.0, 2.0],
        [f64::NAN, 2.0],
    ] {
        refuse("size", &size);
    }
    refuse("eta/rate", &[1.0; 7]);
    refuse("eta/rate", &[-1.0; 8]);
    refuse("eta/shape", &[0.0]);
    refuse("phi/rate", &[1.0]);
    refuse("hyper/rate", &[0.0]);
    refuse("xi/a", &[f64::NAN; 8]);
    refuse("xi/b", &[1.0; 3]);
    refuse("xi/ln", &[1e9; 8]);
    for bad in [
        options(0.0, 1.0, GlobalScale::All),
        options(1.0, f64::NAN, GlobalScale::All),
    ] {
        assert!(!bad.is_proper());
    }
    // implicit rows have no entries of their own
    let moments = RowMoments::isotropic(Mat::zeros(4, 2), 1.0, 3);
    let mut block = FullRows::new("w", p.clone(), moments);
    let mut journal = polyview_core::Journal::default();
    let mut cx = polyview_core::Context {
        key: StreamKey::new(1),
        sweep: 1,
        journal: &mut journal,
    };
    let eq = polyview_core::NormalEquations::new(2, 0..4);
    assert!(matches!(
        block.prepare(&eq, &mut cx),
        Err(NumericError::Mismatch { .. })
    ));
}

#[test]
fn threads_do_not_change_bits() {
    let rows = start(300, 7, 5);
    let run = |threads: usize| {
        Threads::new(threads).unwrap().install(|| {
            let mut p = ThreeParameterBeta::new(ThreeParameterBetaOptions::default(), 300, 7);
            for _ in 0..3 {
                p.update(&rows);
            }
            let value = bound(&p, &rows).to_bits();
            p.draw(&rows, StreamKey::new(4));
            (saved(&p), value, bound(&p, &rows).to_bits())
        })
    };
    let one = run(1);
    assert_eq!(run(2), one);
    assert_eq!(run(3), one);
}

/// Entries that are exactly zero, or enormous, have finite scales.
#[test]
fn extreme_rows_stay_finite() {
    for scope in SCOPES {
        for value in [0.0, 1e-160, 1e-30, 1e30, 1e150] {
            let rows = RowMoments::point(Mat::full(3, 2, value));
            let mut p = ThreeParameterBeta::new(options(0.5, 0.5, scope), 3, 2);
            for i in 0..40 {
                p.update(&rows);
                assert!(p.precisions().is_all_finite(), "{value} {i}");
                assert!(bound(&p, &rows).is_finite(), "{value} {i}");
            }
            for i in 0..40 {
                p.draw(&rows, StreamKey::new(i));
                assert!(p.precisions().is_all_finite(), "{value} {i}");
                assert!(bound(&p, &rows).is_finite(), "{value} {i}");
            }
        }
    }
}
