//! Binary views: the direct bound and its Polya-Gamma partner, and SSHIBA's
//! latent scores.

mod checkpoint;
mod equations;
mod fits;
mod geweke;
mod monotone;
mod projection;
mod values;

use polyview_core::{
    Bias, Context, GammaPrior, Journal, Predictor, RowMoments, Schedule, View, ViewTerm,
};
use polyview_infer::{Model, PruneRule, Rotate, VbOptions, VbRun, ViewPart};
use polyview_likelihoods::{
    Bernoulli, Cells, Gaussian, GaussianOptions, LatentBernoulli, LatentBernoulliOptions,
    MissingData, NoiseBy,
};
use polyview_linalg::Mat;
use polyview_priors::{Ard, Fixed, FullRows};
use polyview_random::{StreamKey, standard_normal, uniform_open01};
use polyview_special::sigmoid;
use polyview_tests::{Holes, normal};

/// A species of data term.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// Real values.
    Gaussian,
    /// Labels, the bound on the predictor itself.
    Direct,
    /// Labels on latent scores.
    Latent(LatentBernoulliOptions),
}

/// Latent scores with these choices and proper priors.
pub fn latent(noise: NoiseBy, missing: MissingData, fixed: bool) -> Kind {
    Kind::Latent(LatentBernoulliOptions {
        noise,
        prior: GammaPrior::new(4.0, 3.0),
        start: 1.3,
        fixed,
        missing,
        ..LatentBernoulliOptions::default()
    })
}

/// The default treatment: one learnt precision, missing labels left out.
pub fn marginal() -> Kind {
    latent(NoiseBy::View, MissingData::Marginal, false)
}

/// The term of a view.
pub fn term(kind: Kind, view: View) -> Box<dyn ViewTerm> {
    match kind {
        Kind::Gaussian => Box::new(Gaussian::new(view, GaussianOptions::default())),
        Kind::Direct => Box::new(Cells::new(view, Bernoulli::default()).expect("labels")),
        Kind::Latent(options) => Box::new(LatentBernoulli::new(view, options).expect("labels")),
    }
}

/// A view and the predictors that it was drawn from.
pub struct Simulated {
    /// With its holes.
    pub view: View,
    /// The data without holes.
    pub complete: Mat<f64>,
    /// Predictors, samples × features.
    pub eta: Mat<f64>,
}

/// Data of `kind` from these factors, weights of standard deviation `scale`,
/// intercepts around `level`.
pub fn simulate(
    kind: Kind,
    name: &str,
    z: &Mat<f64>,
    features: usize,
    (level, scale): (f64, f64),
    holes: Holes,
    seed: u64,
) -> Simulated {
    let mut rng = StreamKey::new(seed).block(5).rng();
    let w = normal(features, z.ncols(), &mut rng);
    let b: Vec<f64> = (0..features)
        .map(|_| level + 0.5 * standard_normal(&mut rng))
        .collect();
    let linear = z * w.transpose();
    let eta = Mat::from_fn(z.nrows(), features, |n, d| scale * linear[(n, d)] + b[d]);
    let complete = Mat::from_fn(z.nrows(), features, |n, d| {
        if kind == Kind::Gaussian {
            eta[(n, d)] + 0.7 * standard_normal(&mut rng)
        } else {
            f64::from(u8::from(uniform_open01(&mut rng) < sigmoid(eta[(n, d)])))
        }
    });
    let mut rows = vec![false; z.nrows()];
    if let Holes::Rows(share) = holes {
        for r in rows.iter_mut().skip(1) {
            *r = uniform_open01(&mut rng) < share;
        }
    }
    let values = Mat::from_fn(z.nrows(), features, |n, d| {
        let hidden = match holes {
            Holes::None => false,
            Holes::Rows(_) => rows[n],
            Holes::Cells(share) => (n, d) != (0, 0) && uniform_open01(&mut rng) < share,
        };
        if hidden { f64::NAN } else { complete[(n, d)] }
    });
    let names = (0..features).map(|d| format!("f{d}")).collect();
    Simulated {
        view: View::from_values(name, names, values).expect("finite"),
        complete,
        eta,
    }
}

/// One view of a model of K factors, intercepts started where the term says.
pub fn part(term: Box<dyn ViewTerm>, name: &str, k: usize, bias: Option<f64>) -> ViewPart {
    let d = term.shape().predictor_columns;
    let mut b = bias.map_or_else(|| Bias::absent(d), |p| Bias::gaussian(d, 0, p));
    if let (true, Some(start)) = (b.is_present(), term.intercepts().start) {
        b.set(start, vec![0.01; d]);
    }
    ViewPart {
        name: name.to_owned(),
        term,
        weights: Box::new(FullRows::new(
            format!("weights/{name}"),
            Ard::new(GammaPrior::new(1.2, 0.9), k),
            RowMoments::isotropic(Mat::zeros(d, k), 1.0, 0),
        )),
        bias: b,
    }
}

/// A model started from these factors.
pub fn model(parts: Vec<ViewPart>, start: Mat<f64>) -> Model {
    let factors = FullRows::new(
        "factors",
        Fixed::standard_normal(start.ncols()),
        RowMoments::isotropic(start, 0.1, 0),
    );
    let schedule = Schedule::standard(parts.len());
    Model::new(Box::new(factors), parts, schedule)
}

/// A run without pruning, rotated if asked for.
pub fn run(model: Model, max_sweeps: usize, rotate: bool) -> VbRun {
    let options = VbOptions {
        max_sweeps,
        rotate: if rotate { Rotate::InLoop } else { Rotate::Off },
        prune: PruneRule::never(),
        ..VbOptions::default()
    };
    VbRun::new(model, options, StreamKey::new(1), Journal::default())
}

/// Sweeps until the run ends; the last bound.
pub fn finish(run: &mut VbRun) -> f64 {
    loop {
        let report = run.sweep().expect("a sweep");
        if report.outcome.is_some() {
            return report.bound;
        }
    }
}

/// Calls `f` with a context.
pub fn with_context<R>(seed: u64, sweep: usize, f: impl FnOnce(&mut Context<'_>) -> R) -> R {
    let mut journal = Journal::default();
    f(&mut Context {
        key: StreamKey::new(seed),
        sweep,
        journal: &mut journal,
    })
}

/// The predictor of a view of a model.
pub fn predictor(model: &Model, view: usize) -> Predictor<'_> {
    Predictor {
        factors: model.factors.moments(),
        weights: model.views[view].weights.moments(),
        bias: &model.views[view].bias,
    }
}
