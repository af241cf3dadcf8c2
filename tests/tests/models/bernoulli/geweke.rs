//! The samplers leave the joint distribution alone.

use polyview_core::{Bias, GammaPrior, RowMoments, Schedule, View};
use polyview_infer::{Model, ViewPart};
use polyview_likelihoods::{MissingData, NoiseBy};
use polyview_linalg::Mat;
use polyview_priors::{Ard, Fixed, FullRows};
use polyview_tests::geweke::largest_score;

use super::{Kind, latent, term};

fn build(kinds: [Kind; 2]) -> Model {
    let (samples, k) = (6, 2);
    let parts = kinds
        .into_iter()
        .zip([4usize, 3])
        .enumerate()
        .map(|(m, (kind, d))| {
            let values = Mat::from_fn(samples, d, |n, j| {
                let hole = (n * 3 + j * 5 + m).is_multiple_of(4);
                if hole { f64::NAN } else { 1.0 }
            });
            let names = (0..d).map(|j| j.to_string()).collect();
            let name = format!("v{m}");
            let view = View::from_values(name.clone(), names, values).expect("finite");
            ViewPart {
                term: term(kind, view),
                weights: Box::new(FullRows::new(
                    format!("weights/{name}"),
                    Ard::new(GammaPrior::new(4.0, 4.0), k),
                    RowMoments::point(Mat::zeros(d, k)),
                )),
                bias: Bias::gaussian(d, 0, 2.0),
                name,
            }
        })
        .collect::<Vec<_>>();
    let factors = FullRows::new(
        "factors",
        Fixed::standard_normal(k),
        RowMoments::point(Mat::zeros(samples, k)),
    );
    let schedule = Schedule::standard(parts.len());
    Model::new(Box::new(factors), parts, schedule)
}

#[test]
fn gibbs_leaves_the_joint_distribution_alone() {
    let of = |missing, fixed| latent(NoiseBy::View, missing, fixed);
    for kinds in [
        [Kind::Direct, of(MissingData::Marginal, false)],
        [
            of(MissingData::Impute, false),
            of(MissingData::Marginal, true),
        ],
    ] {
        let score = largest_score(build(kinds), 4000, 3);
        assert!(score < 4.5, "{kinds:?}: {score}");
    }
}
