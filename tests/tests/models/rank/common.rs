//! Rank views of random models.

use polyview_core::{Bias, Context, GammaPrior, Journal, Predictor, RowMoments, View, ViewTerm};
use polyview_infer::ViewPart;
use polyview_likelihoods::{PairPolicy, Rank, RankOptions};
use polyview_linalg::Mat;
use polyview_random::{StreamKey, standard_normal, uniform_open01};
use polyview_tests::normal;
use polyview_tests::weights;

/// All policies.
pub const POLICIES: [PairPolicy; 4] = [
    PairPolicy::Random,
    PairPolicy::Adjacent,
    PairPolicy::Extreme,
    PairPolicy::All,
];

/// Data of two factors; a share of the cells missing, values rounded to
/// `step` where it is above zero, the last feature constant.
pub fn view(samples: usize, features: usize, missing: f64, step: f64, seed: u64) -> View {
    let mut rng = StreamKey::new(seed).block(50).rng();
    let (z, w) = (normal(samples, 2, &mut rng), normal(features, 2, &mut rng));
    let x = Mat::from_fn(samples, features, |n, d| {
        let x = z[(n, 0)] * w[(d, 0)] + z[(n, 1)] * w[(d, 1)] + 0.3 * standard_normal(&mut rng);
        let hidden = uniform_open01(&mut rng) < missing && (n, d) != (0, 0);
        match (hidden, step > 0.0) {
            (true, _) => f64::NAN,
            _ if features > 1 && d + 1 == features => 4.0,
            (_, true) => step * (x / step).round(),
            _ => x,
        }
    });
    let names = (0..features).map(|d| format!("f{d}")).collect();
    View::from_values("ranks", names, x).expect("finite values")
}

/// The term of a view.
pub fn term(view: &View, options: RankOptions) -> Rank {
    Rank::new(view, options, StreamKey::new(17)).expect("a rank view")
}

/// The part of a model of K factors.
pub fn part(view: &View, options: RankOptions, k: usize) -> ViewPart {
    let d = view.n_features();
    ViewPart {
        name: view.name().to_owned(),
        term: Box::new(term(view, options)),
        weights: weights(
            format!("weights/{}", view.name()),
            GammaPrior::new(1.2, 0.9),
            None,
            RowMoments::isotropic(Mat::zeros(d, k), 1.0, 0),
        ),
        bias: Bias::absent(d),
    }
}

/// Brings the term's precisions to those of these moments.
pub fn refresh(term: &mut dyn ViewTerm, z: &RowMoments, w: &RowMoments) {
    let bias = Bias::absent(w.explicit_rows());
    let p = Predictor {
        factors: z,
        weights: w,
        bias: &bias,
    };
    let mut journal = Journal::default();
    let mut cx = Context {
        key: StreamKey::new(1),
        sweep: 1,
        journal: &mut journal,
    };
    term.refresh(&p, &mut cx).expect("finite");
}
