//! Views that count more or less than once.

use polyview_core::{
    About, Bias, DataError, Domain, LikelihoodSpecies, NormalEquations, Options, Predictor,
    TermContext, View, ViewTerm, Way,
};
use polyview_likelihoods::species::{
    BayesianSvmSpecies, BernoulliSpecies, BinomialSpecies, CategoricalProbitSpecies,
    CensoredSpecies, GaussianSpecies, LatentBernoulliSpecies, NegativeBinomialSpecies,
    OrdinalSpecies, PoissonLogNormalSpecies, PoissonSpecies, ProbitSpecies, RankSpecies,
    SoftmaxSpecies,
};
use polyview_likelihoods::{Bernoulli, Binomial, Expected, Weighted};
use polyview_linalg::Mat;
use polyview_random::{StreamKey, uniform_open01};
use polyview_testing::LikelihoodCheck;
use polyview_testing::law::{K, rows};

/// Any species, whose views count that often.
struct Counted<'a>(&'a dyn LikelihoodSpecies, f64);

impl LikelihoodSpecies for Counted<'_> {
    fn name(&self) -> &'static str {
        self.0.name()
    }
    fn about(&self) -> About {
        self.0.about()
    }
    fn domain(&self) -> Domain {
        self.0.domain()
    }
    fn defaults(&self) -> Options {
        self.0.defaults()
    }
    fn refuses(&self, way: Way, options: &Options) -> Option<String> {
        match way {
            Way::Gibbs => Some("counts more than once".to_owned()),
            way => self.0.refuses(way, options),
        }
    }
    fn with_data(&self, options: &Options, view: &View) -> Options {
        self.0.with_data(options, view)
    }
    fn term(
        &self,
        view: View,
        options: &Options,
        cx: &TermContext,
    ) -> Result<Box<dyn ViewTerm>, DataError> {
        let name = view.name().to_owned();
        let inner = self.0.term(view, options, cx)?;
        Ok(Box::new(Weighted::new(&name, inner, self.1)?))
    }
}

/// The law, bounds that never fall, holes, groups, components and the rest hold of every
/// likelihood that counts more than once, or less.
#[test]
fn every_likelihood_may_count() {
    let all: [&dyn LikelihoodSpecies; 14] = [
        &GaussianSpecies,
        &BernoulliSpecies,
        &LatentBernoulliSpecies,
        &ProbitSpecies,
        &BayesianSvmSpecies,
        &SoftmaxSpecies,
        &CategoricalProbitSpecies,
        &OrdinalSpecies,
        &CensoredSpecies,
        &BinomialSpecies,
        &PoissonSpecies,
        &NegativeBinomialSpecies,
        &PoissonLogNormalSpecies,
        &RankSpecies,
    ];
    let failures = all.into_iter().enumerate().filter_map(|(i, species)| {
        // differences of an exponential rate lose digits, which a weight above one would magnify
        let exponential = species.name() == "poisson";
        let weight = if exponential { 0.3 } else { [5.0, 0.3][i % 2] };
        let counted = Counted(species, weight);
        let check = LikelihoodCheck::new(&counted).draws(200);
        check.run().err().map(|failure| failure.to_string())
    });
    let failures: Vec<String> = failures.collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// What a term says of factors at random rows: right-hand sides, and precisions of samples.
fn said(term: &mut dyn ViewTerm) -> Vec<f64> {
    let shape = term.shape();
    let (z, w) = (rows(shape.samples, 1), rows(shape.predictor_columns, 2));
    let mut bias = Bias::gaussian(shape.predictor_columns, 0, 1.0);
    let count = shape.predictor_columns;
    bias.set(vec![0.3; count], vec![0.05; count]);
    let p = Predictor {
        factors: &z,
        weights: &w,
        bias: &bias,
    };
    let mut eq = NormalEquations::new(K, 0..shape.samples);
    term.equations().factor_gram(0, &p, &mut eq).expect("sums");
    (term.equations().factor_equations(&p, &mut eq)).expect("sums");
    let mut out: Vec<f64> = Vec::new();
    for n in 0..shape.samples {
        out.extend((0..K).map(|k| eq.rhs[(n, k)]));
        out.extend(eq.row_precision(n).as_slice());
    }
    let mut eq = NormalEquations::new(K, 0..0);
    term.equations().weight_gram(&p, &mut eq).expect("sums");
    eq.set_rows(0..count);
    (term.equations().weight_equations(&p, &mut eq)).expect("sums");
    for d in 0..count {
        out.extend((0..K).map(|k| eq.rhs[(d, k)]));
        out.extend(eq.row_precision(d).as_slice());
    }
    out
}

/// A label that counts three times is three labels of three.
#[test]
fn labels_that_count_thrice_are_three_of_three() {
    let mut rng = StreamKey::new(3).rng();
    let labels = Mat::from_fn(12, 4, |n, d| {
        if (n * 4 + d) % 11 == 5 {
            f64::NAN
        } else {
            f64::from(u8::from(uniform_open01(&mut rng) < 0.4))
        }
    });
    let names: Vec<String> = (0..4).map(|d| format!("l{d}")).collect();
    let view = |x: &Mat<f64>| View::from_values("y", names.clone(), x.clone()).expect("a view");
    let once = Expected::new(view(&labels), Bernoulli::default()).expect("labels");
    let mut thrice = Weighted::new("y", Box::new(once), 3.0).expect("it passes all on");
    let successes = view(&Mat::from_fn(12, 4, |n, d| 3.0 * labels[(n, d)]))
        .with_trials(Mat::from_fn(12, 4, |_, _| 3.0))
        .expect("trials");
    let mut of_three = Expected::new(successes, Binomial::default()).expect("successes");
    for (a, b) in said(&mut thrice).iter().zip(said(&mut of_three)) {
        assert!((a - b).abs() <= 1e-10 * (1.0 + b.abs()), "{a} {b}");
    }
}
