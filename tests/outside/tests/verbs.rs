//! Every verb of a fit, with likelihoods that polyview does not know: one with a bound made by
//! hand, one from its log density alone.

use polyview::{
    ChooseKOptions, EngineKind, ErrorKind, Fit, Fitting, GibbsOptions, Likelihood, ModelSpec,
    Overwrite, ProjectOptions, Registry, choose_k, hold_out, models,
};
use polyview_core::{
    About, DataError, Dataset, Domain, LikelihoodSpecies, OptionError, Options, Table, TermContext,
    View, ViewTerm,
};
use polyview_linalg::Mat;
use polyview_random::{ChaCha8Rng, StreamKey, standard_normal, uniform_open01};
use polyview_report::Report;
use student_t::{HeavyTailsSpecies, LaplaceSpecies, StudentTSpecies};

const SAMPLES: usize = 60;
const FEATURES: usize = 12;

fn registry() -> Registry {
    let own = Registry::standard().clone().with(StudentTSpecies);
    own.with(HeavyTailsSpecies).with_prior(LaplaceSpecies)
}

/// The likelihoods that come from here.
const OWN: [&str; 2] = ["student-t", "heavy-tails"];

fn normal(rows: usize, columns: usize, rng: &mut ChaCha8Rng) -> Mat<f64> {
    Mat::from_fn(rows, columns, |_, _| standard_normal(rng))
}

/// Two views of the same two factors; one number in twelve is far off. `missing` of the first
/// view's cells.
fn data(samples: std::ops::Range<usize>, missing: f64) -> Dataset {
    let mut rng = StreamKey::new(3).rng();
    let z = normal(2 * SAMPLES, 2, &mut rng);
    let table = |name: &str, missing: f64, rng: &mut ChaCha8Rng| {
        let w = normal(FEATURES, 2, rng);
        let mut x = &z * w.transpose();
        for d in 0..FEATURES {
            for n in 0..2 * SAMPLES {
                let off = uniform_open01(rng) < 1.0 / 12.0;
                x[(n, d)] += standard_normal(rng) * if off { 8.0 } else { 0.3 };
                if uniform_open01(rng) < missing {
                    x[(n, d)] = f64::NAN;
                }
            }
        }
        Table {
            name: name.to_owned(),
            samples: samples.clone().map(|n| format!("s{n}")).collect(),
            features: (0..FEATURES).map(|d| format!("{name}{d}")).collect(),
            values: x.subrows(samples.start, samples.len()).to_owned(),
            levels: Vec::new(),
        }
    };
    let (a, b) = (table("a", missing, &mut rng), table("b", 0.0, &mut rng));
    Dataset::builder()
        .view(a)
        .view(b)
        .build()
        .expect("two views")
}

fn spec(likelihood: &str) -> ModelSpec {
    let mut spec = models::bibfa(3);
    spec.defaults.likelihood = likelihood.into();
    spec.vb.max_sweeps = 60;
    spec
}

fn fit(data: Dataset, spec: ModelSpec) -> Fit {
    let mut fitting = Fitting::with_registry(data, spec, &registry()).expect("a fit");
    while !fitting.step().expect("a sweep").done {}
    fitting.finish().expect("a posterior")
}

#[test]
fn a_name_that_nobody_knows_is_refused() {
    let refused = Fitting::new(data(0..SAMPLES, 0.0), spec("student-t"));
    let error = refused.err().expect("an unknown name");
    assert!(matches!(error.kind(), ErrorKind::UnknownSpecies { name, .. } if name == "student-t"));
    let tails = |text: &str| {
        let mut spec = spec("student-t");
        let options = Options::parse(text).expect("options");
        spec.defaults.likelihood = Likelihood::from("student-t").with(options);
        Fitting::with_registry(data(0..SAMPLES, 0.0), spec, &registry()).map(|_| ())
    };
    assert!(tails("nu=3").is_ok());
    for bad in ["nu=1", "mu=3", "nu=wide"] {
        let error = tails(bad).expect_err(bad);
        assert!(matches!(error.kind(), ErrorKind::SpeciesOption { .. }));
    }
}

/// Student's t under the name of a likelihood that polyview has.
struct InPlace;

impl LikelihoodSpecies for InPlace {
    fn name(&self) -> &'static str {
        "gamma"
    }
    fn about(&self) -> About {
        StudentTSpecies.about()
    }
    fn domain(&self) -> Domain {
        StudentTSpecies.domain()
    }
    fn defaults(&self) -> Options {
        StudentTSpecies.defaults()
    }
    fn check(&self, options: &Options) -> Result<(), OptionError> {
        StudentTSpecies.check(options)
    }
    fn term(
        &self,
        view: View,
        options: &Options,
        cx: &TermContext,
    ) -> Result<Box<dyn ViewTerm>, DataError> {
        StudentTSpecies.term(view, options, cx)
    }
}

/// A registry with another species of a known name means that one, in fits and in files; without it the name means what it
/// always did.
#[test]
fn one_of_the_same_name_comes_in_its_place() {
    let registry = Registry::standard().clone().with(InPlace);
    let mut spec = spec("gamma");
    let options = Options::parse("nu=5").expect("options");
    spec.defaults.likelihood = Likelihood::from("gamma").with(options);
    let data = data(0..SAMPLES, 0.0);
    assert!(Fitting::new(data.clone(), spec.clone()).is_err());
    let mut fitting = Fitting::with_registry(data, spec, &registry).expect("a fit");
    while !fitting.step().expect("a sweep").done {}
    let fitted = fitting.finish().expect("a posterior");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("model.pv");
    fitted.save(&path, Overwrite::Refuse).expect("a file");
    assert!(Fit::load(&path).is_err());
    let read = Fit::load_with(&path, &registry).expect("a model");
    assert_eq!(read.to_bytes().ok(), fitted.to_bytes().ok());
}

#[test]
fn it_is_saved_and_read_by_who_knows_it() {
    OWN.into_iter().for_each(saved_and_read);
}

fn saved_and_read(likelihood: &str) {
    let fitted = fit(data(0..SAMPLES, 0.1), spec(likelihood));
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("model.pv");
    fitted.save(&path, Overwrite::Refuse).expect("a file");
    let error = Fit::load(&path).err().expect("an unknown name");
    assert!(error.to_string().contains(likelihood), "{error}");
    let read = Fit::load_with(&path, &registry()).expect("a model");
    let new = data(SAMPLES..SAMPLES + 20, 0.1);
    let project = |fit: &Fit| {
        let factors = fit.project(&new, &ProjectOptions::default());
        factors.expect("factors").mean
    };
    assert_eq!(project(&fitted), project(&read));
}

#[test]
fn it_predicts_imputes_explains_and_is_reported() {
    OWN.into_iter().for_each(every_verb);
}

fn every_verb(likelihood: &str) {
    let fitted = fit(data(0..SAMPLES, 0.1), spec(likelihood));
    let truth = data(SAMPLES..SAMPLES + 20, 0.0);
    let known = truth.views()[1].clone();
    let table = Table {
        name: "b".to_owned(),
        samples: truth.samples().to_vec(),
        features: known.features().to_vec(),
        values: known.to_values_with_nan(),
        levels: Vec::new(),
    };
    let known = Dataset::builder().view(table).build().expect("a view");
    let predicted = fitted.predict(&known, "a").expect("predictions");
    let (lower, upper) = predicted.interval(0.9).expect("intervals");
    let cells = 20 * FEATURES;
    let inside = (0..FEATURES)
        .flat_map(|d| (0..20).map(move |n| (n, d)))
        .filter(|&(n, d)| {
            let x = truth.views()[0].value(n, d).expect("complete");
            lower[(n, d)] < x && x < upper[(n, d)]
        })
        .count();
    assert!(inside * 10 > cells * 8, "{inside} of {cells}");

    let imputed = fitted.impute("a", 0.9).expect("imputed");
    assert!((0..FEATURES).all(|d| imputed.values.col(d).iter().all(|x| x.is_finite())));
    let explained = fitted.explain().expect("shares");
    assert!(explained.total.iter().all(|r2| (0.2..1.0).contains(r2)));
    assert_eq!(fitted.simulate(7, 1).expect("samples").n_samples(), 7);

    let report = Report::from_fit(&fitted).expect("a report");
    let page = polyview_report::render(&report).expect("a page");
    assert!(page.contains(likelihood));
}

#[test]
fn the_number_of_factors_is_chosen() {
    OWN.into_iter().for_each(chosen);
}

fn chosen(likelihood: &str) {
    let mut spec = spec(likelihood);
    // what a fit does by itself with the registry that it is given
    spec.resolve(&registry()).expect("a known name");
    let options = ChooseKOptions {
        candidates: vec![1, 2],
        repeats: 2,
        restarts: 1,
        ..ChooseKOptions::default()
    };
    let chosen = choose_k(data(0..SAMPLES, 0.0), &spec, &options, &mut |_| {});
    assert_eq!(chosen.expect("a number").recommended, 2);
}

/// It is there for numbers that are far off, and says more than normal noise does.
#[test]
fn far_numbers_cost_little() {
    let full = data(0..SAMPLES, 0.0);
    let hidden = hold_out(&full, 0.1, 5).expect("hidden cells");
    let r2 = |likelihood| {
        let fitted = fit(hidden.data.clone(), spec(likelihood));
        fitted.held_out_score(&full).expect("scores")[0].r2
    };
    let normal = r2("gaussian");
    for own in OWN {
        let student = r2(own);
        assert!(student > normal, "{own}: {student} {normal}");
    }
}

#[test]
fn it_is_sampled() {
    OWN.into_iter().for_each(sampled);
}

fn sampled(likelihood: &str) {
    let mut spec = spec(likelihood);
    spec.engine = EngineKind::Gibbs;
    spec.gibbs = GibbsOptions {
        chains: 2,
        warm_up: 30,
        sweeps: 30,
        thin: 3,
        ..GibbsOptions::default()
    };
    let fitted = fit(data(0..SAMPLES, 0.1), spec);
    let new = data(SAMPLES..SAMPLES + 5, 0.1);
    let factors = fitted.project(&new, &ProjectOptions::default());
    let factors = factors.expect("factors");
    assert_eq!(factors.mean.nrows(), 5);
    assert!(fitted.explain().expect("shares").total[0] > 0.2);
}

/// A prior of weights from here: features that a factor does not act on are nearer zero under
/// it than under a normal one.
#[test]
fn a_prior_of_weights_is_used_saved_and_sampled() {
    let with = |prior: &str| {
        let mut spec = spec("gaussian");
        spec.defaults.selection = prior.into();
        spec
    };
    let fitted = fit(data(0..SAMPLES, 0.1), with("laplace"));
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("model.pv");
    fitted.save(&path, Overwrite::Refuse).expect("a file");
    let read = Fit::load_with(&path, &registry()).expect("a model");
    assert_eq!(
        read.explain().expect("shares").total,
        fitted.explain().expect("shares").total
    );
    let normal = fit(data(0..SAMPLES, 0.1), with("none"));
    let [own, usual] = [&fitted, &normal].map(|f| f.explain().expect("shares").total[0]);
    assert!((own - usual).abs() < 0.05, "{own} {usual}");
    let mut sampled = with("laplace");
    sampled.engine = EngineKind::Gibbs;
    sampled.gibbs = GibbsOptions {
        chains: 2,
        warm_up: 30,
        sweeps: 30,
        thin: 3,
        ..GibbsOptions::default()
    };
    let sampled = fit(data(0..SAMPLES, 0.1), sampled)
        .explain()
        .expect("shares");
    assert!(
        (sampled.total[0] - own).abs() < 0.1,
        "{own} {:?}",
        sampled.total
    );
}
