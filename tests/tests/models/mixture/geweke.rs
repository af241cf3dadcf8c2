//! The sampler of components and experts leaves the joint distribution alone.

use polyview_core::{GammaPrior, RowMoments, View};
use polyview_infer::Model;
use polyview_likelihoods::{Gaussian, GaussianOptions};
use polyview_linalg::Mat;
use polyview_priors::{Ard, FullRows};
use polyview_tests::geweke::largest_score;

use super::{experts, model, options, part};

const N: usize = 6;
const K: usize = 2;
const T: usize = 3;

fn build() -> Model {
    let view = |name: &str, d: usize, hole: usize| {
        let values = Mat::from_fn(N, d, |n, j| {
            if (n * 3 + j * 5).is_multiple_of(hole) {
                f64::NAN
            } else {
                1.0
            }
        });
        let names = (0..d).map(|j| j.to_string()).collect();
        View::from_values(name, names, values).expect("finite")
    };
    let gaussian = GaussianOptions {
        prior: GammaPrior::new(4.0, 3.0),
        ..GaussianOptions::default()
    };
    let mut parts = vec![
        part(
            "x",
            Box::new(Gaussian::new(view("x", 3, 4), gaussian)),
            K,
            Some(2.0),
        ),
        part("y", experts(&view("y", 2, 5), T), K, Some(2.0)),
    ];
    for part in &mut parts {
        let d = part.weights.moments().explicit_rows();
        part.weights = Box::new(FullRows::new(
            format!("weights/{}", part.name),
            Ard::new(GammaPrior::new(4.0, 4.0), K),
            RowMoments::point(Mat::zeros(d, K)),
        ));
    }
    model(parts, options(T), Mat::from_fn(N, K, |n, k| (n + k) as f64))
}

#[test]
fn gibbs_leaves_the_joint_distribution_alone() {
    let score = largest_score(build(), 12000, 4);
    assert!(score < 4.5, "{score}");
}
