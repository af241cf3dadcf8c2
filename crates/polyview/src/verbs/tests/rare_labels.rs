//! Labels of which one is rare, beside ranks.

use polyview_core::Table;
use polyview_linalg::Mat;
use polyview_random::{StreamKey, standard_normal};

use super::counts::table;
use super::discriminative::{data, some};
use crate::models;

const N: usize = 450;
const TRAIN: usize = 150;
const D: usize = 14;

/// Skewed features of two factors, and a label that follows the second one; about a fifth
/// of them are ones.
fn tables(seed: u64) -> (Table, Table) {
    let mut rng = StreamKey::new(seed).rng();
    let z = Mat::from_fn(N, 2, |_, _| standard_normal(&mut rng));
    let w = Mat::from_fn(D, 2, |_, _| standard_normal(&mut rng));
    let eta = &z * w.transpose();
    let x = Mat::from_fn(N, D, |n, d| (eta[(n, d)] + standard_normal(&mut rng)).exp());
    let y = Mat::from_fn(N, 1, |n, _| {
        f64::from(u8::from(z[(n, 1)] + 0.4 * standard_normal(&mut rng) > 0.9))
    });
    (table("x", x), table("y", y))
}

#[test]
fn the_rarer_label_is_predicted_as_often_as_it_comes() {
    for likelihood in ["probit", "svm"] {
        let (mut predicted, mut expected, mut truth) = (0.0, 0.0, 0.0);
        for seed in [1, 2] {
            let (x, y) = tables(seed);
            let spec = models::rank(4).with_likelihood("y", likelihood);
            let fit = crate::fit(data([some(&x, 0..TRAIN), some(&y, 0..TRAIN)]), spec).unwrap();
            let p = fit.predict(&data([some(&x, TRAIN..N)]), "y").unwrap();
            for n in 0..N - TRAIN {
                let share = 0.5 / (N - TRAIN) as f64;
                predicted += share * f64::from(u8::from(p.mean[(n, 0)] > 0.5));
                expected += share * p.mean[(n, 0)];
                truth += share * y.values[(TRAIN + n, 0)];
            }
        }
        assert!(
            (0.6 * truth..1.3 * truth).contains(&predicted),
            "{likelihood}: {predicted} of {truth}"
        );
        assert!(
            (expected - truth).abs() < 0.04,
            "{likelihood}: {expected} {truth}"
        );
    }
}
