//! Categorical views of random models.

use polyview_core::{Bias, GammaPrior, RowMoments, View, ViewTerm};
use polyview_infer::ViewPart;
use polyview_likelihoods::{
    CategoricalProbit, CategoricalProbitOptions, ParameterUncertainty, Softmax,
};
use polyview_linalg::Mat;
use polyview_priors::{Ard, FullRows};
use polyview_random::{StreamKey, standard_normal, uniform_open01};

use crate::normal;

/// A view of these class codes, `NaN` = missing.
pub fn view_of_codes(name: &str, codes: &[f64], classes: usize) -> View {
    View::from_values(
        name,
        vec![name.to_owned()],
        Mat::from_fn(codes.len(), 1, |n, _| codes[n]),
    )
    .expect("finite codes")
    .with_levels((0..classes).map(|c| format!("class{c}")).collect())
    .expect("codes within the classes")
}

/// Codes drawn from the model at these factors, a share of them missing. The
/// first two samples are of the classes 0 and 1, so that there are two.
pub fn draw_codes(
    factors: &Mat<f64>,
    weights: &Mat<f64>,
    bias: &[f64],
    missing: f64,
    seed: u64,
) -> Vec<f64> {
    let mut rng = StreamKey::new(seed).block(91).rng();
    let eta = factors * weights.transpose();
    (0..eta.nrows())
        .map(|n| {
            let (mut best, mut top) = (0, f64::NEG_INFINITY);
            for c in 0..eta.ncols() {
                let x = eta[(n, c)] + bias[c] + standard_normal(&mut rng);
                if x > top {
                    (best, top) = (c, x);
                }
            }
            let hidden = uniform_open01(&mut rng) < missing;
            match n {
                0 | 1 => n as f64,
                _ if hidden => f64::NAN,
                _ => best as f64,
            }
        })
        .collect()
}

/// A random view of `classes` classes.
pub fn random_view(samples: usize, classes: usize, missing: f64, seed: u64) -> View {
    let mut rng = StreamKey::new(seed).block(90).rng();
    let (z, w) = (normal(samples, 2, &mut rng), normal(classes, 2, &mut rng));
    let b: Vec<f64> = (0..classes)
        .map(|_| 0.5 * standard_normal(&mut rng))
        .collect();
    view_of_codes("classes", &draw_codes(&z, &w, &b, missing, seed), classes)
}

/// The part of a view of classes by the multinomial probit, weights at zero.
pub fn part(
    view: &View,
    options: CategoricalProbitOptions,
    k: usize,
    bias: Option<f64>,
) -> ViewPart {
    let term = CategoricalProbit::new(view, options).expect("two classes");
    part_of(view, Box::new(term), k, bias)
}

/// The part of a view of classes by softmax, weights at zero.
pub fn softmax_part(view: &View, k: usize, bias: Option<f64>) -> ViewPart {
    let term = Softmax::new(view, ParameterUncertainty::Posterior).expect("two classes");
    part_of(view, Box::new(term), k, bias)
}

fn part_of(view: &View, term: Box<dyn ViewTerm>, k: usize, bias: Option<f64>) -> ViewPart {
    let (name, classes) = (view.name().to_owned(), view.levels().len());
    ViewPart {
        term,
        weights: Box::new(FullRows::new(
            format!("weights/{name}"),
            Ard::new(GammaPrior::new(1.2, 0.9), k),
            RowMoments::isotropic(Mat::zeros(classes, k), 1.0, 0),
        )),
        bias: bias.map_or_else(|| Bias::absent(classes), |p| Bias::gaussian(classes, 0, p)),
        name,
    }
}
