//! V6 of spec/maxmargin-rank at full size, and distortions that are harder: values
//! that saturate, are rounded or lie tens of powers of ten apart.

use polyview_core::{Journal, View};
use polyview_infer::{VbOptions, VbRun};
use polyview_likelihoods::RankOptions;
use polyview_linalg::Mat;
use polyview_random::StreamKey;
use polyview_tests::assemble;
use polyview_tests::distorted::{bent, distorted, explained, start};
use polyview_tests::mixed::{MixedView, Species};

const SAMPLES: usize = 150;
const K: usize = 5;

/// Factors of variational Bayes.
fn fitted(view: &View) -> Mat<f64> {
    let mut part = MixedView::new(Species::Ranks, view.n_features()).part(view, 1, K);
    part.term = Box::new(
        polyview_likelihoods::Rank::new(view, RankOptions::default(), StreamKey::new(17))
            .expect("a rank view"),
    );
    let options = VbOptions {
        max_sweeps: 100,
        ..VbOptions::default()
    };
    let model = assemble(vec![part], start(view, K));
    let mut run = VbRun::new(model, options, StreamKey::new(2), Journal::default());
    while run.sweep().expect("a sweep").outcome.is_none() {}
    run.model().factors.moments().mean().to_owned()
}

fn least(truth: &Mat<f64>, found: &Mat<f64>) -> f64 {
    explained(truth, found).into_iter().fold(1.0, f64::min)
}

#[test]
fn factors_behind_monotone_distortions_are_recovered() {
    for (features, target) in [(60, 0.93), (500, 0.95)] {
        for seed in 1..=3 {
            let (view, truth) = distorted(SAMPLES, features, seed);
            let found = least(&truth, &fitted(&view));
            assert!(found > target, "{features} {seed}: {found}");
        }
    }
}

/// Strictly monotone functions, however violent, change no bit.
#[test]
fn harder_strictly_monotone_functions_change_no_bit() {
    let plain = bent(SAMPLES, 60, 1, |_, y| y);
    let violent = bent(SAMPLES, 60, 1, |d, y| match d % 5 {
        0 => (20.0 * y).exp(),
        1 => y.signum() * y.abs().powf(0.05),
        2 => 1e12 + 1e6 * y,
        3 => 1e-30 * y.powi(9),
        _ => y.atan() + if y > 0.0 { 1e9 } else { 0.0 },
    });
    assert!(fitted(&plain.0) == fitted(&violent.0));
}

/// What ties samples together takes information away: half of all values at the
/// floor, five levels, two levels.
#[test]
fn saturated_and_rounded_values_keep_most_of_it() {
    for (features, target) in [(60, HARDER[0]), (500, HARDER[1])] {
        for seed in 1..=3 {
            let (view, truth) = bent(SAMPLES, features, seed, |d, y| match d % 4 {
                0 => y.max(0.0).exp(),
                1 => y.round().clamp(-2.0, 2.0),
                2 => f64::from(u8::from(y > 0.3)),
                _ => (5.0 * y).exp().min(1e3),
            });
            let found = least(&truth, &fitted(&view));
            assert!(found > target, "{features} {seed}: {found}");
        }
    }
}

/// Least R² of a true factor, at 60 and at 500 features.
const HARDER: [f64; 2] = [0.85, 0.95];
