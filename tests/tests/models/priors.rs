//! Priors by their names: one that nobody here knows, and options of one.
#![allow(clippy::unwrap_used)]

use polyview::{ErrorKind, Fit, Fitting, ModelSpec, Overwrite, Registry, Setting, models};
use polyview_core::{
    About, DataError, Dataset, GammaPrior, Options, PriorContext, PriorSpecies, RowBlock,
    RowMoments, RowRole, Table,
};
use polyview_priors::{Fixed, FullRows};
use polyview_random::StreamKey;
use polyview_tests::normal;

/// Weights of variance one, which no species here has.
struct Unit;

impl PriorSpecies for Unit {
    fn name(&self) -> &'static str {
        "unit"
    }
    fn roles(&self) -> &'static [RowRole] {
        &[RowRole::Weights]
    }
    fn about(&self, _role: RowRole) -> About {
        About {
            line: "weights of variance one",
            needs: "weights of any view",
            label: "",
            options: &[],
        }
    }
    fn rows(
        &self,
        _options: &Options,
        start: RowMoments,
        cx: &PriorContext<'_>,
    ) -> Result<Box<dyn RowBlock>, DataError> {
        let prior = Fixed::standard_normal(start.k());
        Ok(Box::new(FullRows::new(cx.block, prior, start)))
    }
}

fn data() -> Dataset {
    let mut rng = StreamKey::new(11).rng();
    let z = normal(40, 2, &mut rng);
    let mut builder = Dataset::builder();
    for (name, d) in [("x", 7), ("y", 5)] {
        let values = &z * normal(d, 2, &mut rng).transpose() + 0.5 * normal(40, d, &mut rng);
        builder = builder.view(Table {
            name: name.into(),
            samples: (0..40).map(|n| format!("s{n}")).collect(),
            features: (0..d).map(|j| format!("{name}{j}")).collect(),
            levels: Vec::new(),
            values,
        });
    }
    builder.build().unwrap()
}

fn spec() -> ModelSpec {
    let mut spec = models::sshiba(3);
    spec.vb.max_sweeps = 20;
    spec
}

fn bound(spec: ModelSpec) -> f64 {
    polyview::fit(data(), spec).unwrap().record().bound.unwrap()
}

#[test]
fn a_strangers_prior_is_fitted_saved_and_read() {
    let mut spec = spec();
    spec.defaults.selection = "unit".into();
    let unknown = |e: &ErrorKind| {
        matches!(e, ErrorKind::UnknownSpecies { what, name, known }
        if *what == "prior of weights" && name == "unit" && known.contains(&"horseshoe".into()))
    };
    let refused = polyview::fit(data(), spec.clone()).unwrap_err();
    assert!(unknown(refused.kind()), "{refused}");

    let registry = Registry::standard().clone().with_prior(Unit);
    assert!(registry.prior(RowRole::Factors, "unit").is_none());
    let mut fitting = Fitting::with_registry(data(), spec.clone(), &registry).unwrap();
    while !fitting.step().unwrap().done {}
    let fit = fitting.finish().unwrap();
    let path = std::env::temp_dir().join(format!("polyview-unit-{}.pv", std::process::id()));
    fit.save(&path, Overwrite::Replace).unwrap();
    let (refused, read) = (Fit::load(&path), Fit::load_with(&path, &registry));
    std::fs::remove_file(&path).unwrap();
    assert!(unknown(refused.unwrap_err().kind()));
    let read = read.unwrap();
    assert_eq!(
        read.weights("x").unwrap().mean,
        fit.weights("x").unwrap().mean
    );

    // it does not say that it has no covariances, or that mofapy2 has it
    let selection = &read.view("x").unwrap().1.choices.selection;
    for setting in [Setting::Factorised, Setting::Mofapy2, Setting::Components] {
        assert!(selection.refuses(setting).is_some(), "{setting:?}");
    }
    spec.posterior = polyview::Posterior::Factorised;
    let refused = Fitting::with_registry(data(), spec, &registry)
        .err()
        .unwrap();
    assert!(refused.to_string().contains("unit weights"), "{refused}");
}

#[test]
fn options_of_a_prior_are_stronger_than_those_of_all() {
    let mut shared = spec();
    shared.defaults.selection = "relevance".into();
    let before = bound(shared.clone());
    shared.relevance_prior = GammaPrior::new(2.0, 3.0);
    let mut own = spec();
    let text = "relevance{relevance-prior={shape = 2.0, rate = 3.0}}";
    own.defaults.selection = text.parse().unwrap();
    let wanted = bound(shared);
    assert_eq!(bound(own.clone()), wanted);
    assert_ne!(before, wanted);
    let kept: ModelSpec = serde_json::from_str(&serde_json::to_string(&own).unwrap()).unwrap();
    assert_eq!(kept, own);

    let mut shared = spec().with_mixture(2);
    let wanted = bound(shared.clone());
    shared.mixture.components = 60;
    shared.factor_prior = "mixture{components=2}".parse().unwrap();
    assert_eq!(bound(shared), wanted);
}

#[test]
fn names_of_priors_are_plain_words() {
    let mut spec = spec();
    for (written, kept) in [("ard", "none"), ("spike-slab", "spike-and-slab")] {
        spec.defaults.selection = written.into();
        let json = serde_json::to_value(&spec).unwrap();
        assert_eq!(json["defaults"]["selection"], kept);
    }
    spec.factor_prior = "ard".into();
    assert_eq!(serde_json::to_value(&spec).unwrap()["factor-prior"], "ard");
}

#[test]
fn options_that_cannot_be_are_refused() {
    for (text, why) in [
        ("relevance{relevance=1}", "there is no option 'relevance'"),
        (
            "horseshoe{shrinkage-prior={r = 0.0, s = 1.0}}",
            "prior of weights horseshoe: option 'shrinkage-prior' cannot be (0, 1)",
        ),
        (
            "spike-and-slab{weight-prior={shape = -1.0, rate = 1.0}}",
            "cannot be (-1, 1)",
        ),
    ] {
        let mut spec = spec();
        spec.defaults.selection = text.parse().unwrap();
        let error = polyview::fit(data(), spec).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::SpeciesOption { .. }));
        assert!(error.to_string().contains(why), "{error}");
    }
}
