//! Tests of sheets.

use polyview_special::{Expectation, Real};

use super::*;
use crate::scalar::Scratch;

/// The expectations of some cells, and which are not on the sheet.
fn found(sheet: &Sheet, mean: &[f64], variance: &[f64]) -> (Vec<Expectation>, Vec<usize>) {
    let (mut made, mut beyond) = (Scratch::new(mean.len()), Vec::new());
    let mut out = made.all();
    sheet.look_up(
        (mean, 0.0, variance),
        |_| 0,
        |_, m, v| filled(m, v),
        &mut out,
        |cell| beyond.push(cell),
    );
    ((0..mean.len()).map(|i| out.get(i)).collect(), beyond)
}

fn softplus(mean: f64, variance: f64) -> Expectation {
    Expectation::of(mean, variance, 1.0, Real::softplus)
}

fn filled(mean: &[f64; POINTS], variance: &[f64; POINTS]) -> [f64; POINTS] {
    std::array::from_fn(|i| softplus(mean[i], variance[i]).value)
}

#[test]
fn a_sheet_is_what_it_stands_for() {
    let sheet = Sheet::new(1, 16.0);
    let (mut mean, mut variance) = (Vec::new(), Vec::new());
    for i in 0..2000 {
        mean.push(f64::from(i * 7919 % 2000) * 0.0165 - 16.5);
        variance.push(10f64.powf(f64::from(i % 97) / 15.0 - 5.0));
    }
    let (out, beyond) = found(&sheet, &mean, &variance);
    for (i, found) in out.iter().enumerate() {
        if beyond.contains(&i) {
            assert!(mean[i].abs() >= 16.0 || variance[i] >= 15.0);
            continue;
        }
        let e = softplus(mean[i], variance[i]);
        let at = (mean[i], variance[i]);
        assert!(
            (found.value - e.value).abs() < 3e-10,
            "{at:?}: {found:?} {e:?}"
        );
        assert!(
            (found.slope - e.slope).abs() < 2e-8,
            "{at:?}: {found:?} {e:?}"
        );
        // differences of slopes, over the deviation
        let digits = 2e-15 / variance[i].sqrt();
        assert!(
            (found.curvature - e.curvature).abs() < 5e-7 + digits,
            "{at:?}: {found:?} {e:?}"
        );
    }
    assert!(!beyond.is_empty() && beyond.len() < 600);
}

/// The law of a term asks for derivatives that are exact, not for a function that is.
#[test]
fn slopes_and_curvatures_are_derivatives_of_the_sheet() {
    let sheet = Sheet::new(1, 4.0);
    let one = |m: f64, v: f64| found(&sheet, &[m], &[v]).0[0];
    let h = 1e-5;
    for (m, v) in [(0.3, 0.1), (-1.7, 0.6), (2.2, 3.3), (-3.9, 8.6)] {
        let slope = (one(m + h, v).value - one(m - h, v).value) / (2.0 * h);
        let by_variance = (one(m, v + h).value - one(m, v - h).value) / (2.0 * h);
        assert!((slope - one(m, v).slope).abs() < 1e-9, "{m} {v}");
        assert!(
            (-2.0 * by_variance - one(m, v).curvature).abs() < 1e-9,
            "{m} {v}"
        );
    }
}

#[test]
fn sums_over_a_cast_are_those_over_its_cells() {
    let sheet = Sheet::new(1, 6.0);
    let (mut cast, mut other) = (Cast::default(), Cast::default());
    let mut exact = [0.0; 3];
    for i in 0..400 {
        let (m, v) = (
            f64::from(i * 37 % 400) * 0.03 - 6.0,
            f64::from(i % 23) * 0.06,
        );
        let into = if i % 3 == 0 { &mut cast } else { &mut other };
        assert!(into.add(&sheet, m, v));
        let e = softplus(m, v);
        for (sum, x) in exact.iter_mut().zip([1.0, m, e.value]) {
            *sum += x;
        }
    }
    assert!(!cast.add(&sheet, 7.0, 0.1) && !cast.add(&sheet, 0.0, 16.0));
    cast.merge(&other);
    let mut found = [0.0; 3];
    cast.each(&sheet, |w, m, v| {
        for (sum, x) in found.iter_mut().zip([1.0, m, softplus(m, v).value]) {
            *sum += w * x;
        }
    });
    for (a, b) in found.iter().zip(exact) {
        assert!((a - b).abs() < 1e-9, "{found:?} {exact:?}");
    }
}

#[test]
fn what_is_no_number_is_beyond() {
    let sheet = Sheet::new(1, 4.0);
    let cells = [
        (f64::NAN, 0.1),
        (0.0, f64::NAN),
        (0.0, -0.5),
        (f64::INFINITY, 1.0),
    ];
    for (m, v) in cells {
        assert!(sheet.place(m, v).is_none(), "{m} {v}");
    }
    assert!(sheet.place(-4.0, 0.0).is_some() && sheet.place(4.0, 0.0).is_none());
}
