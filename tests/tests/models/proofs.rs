//! Everything of the registry passes what every likelihood and every prior has to: whoever adds
//! one is tested here by the line that adds it.

use polyview::Registry;
use polyview_core::{Options, RowRole};
use polyview_testing::{LikelihoodCheck, PriorCheck};
use rayon::prelude::*;

/// All that fails, told together.
fn none_of(failures: &[String]) {
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn every_likelihood_passes() {
    let all: Vec<_> = Registry::standard().likelihoods().collect();
    let failures = all.into_par_iter().filter_map(|species| {
        // of the few samples of the checks
        let few = match species.name() {
            "similarity" => "dimensions=5",
            _ => "",
        };
        let options = Options::parse(few).expect("options");
        let check = (LikelihoodCheck::new(species).options(options)).draws(1000);
        check.run().err().map(|failure| failure.to_string())
    });
    none_of(&failures.collect::<Vec<_>>());
}

/// Hyper-priors under which means of draws exist, for those that have vague ones; of the
/// horseshoe there are none, and its sampler has tests of its own.
fn narrow(prior: &str) -> (&'static str, u64) {
    match prior {
        "none" | "ard" => ("weight-prior={shape=4,rate=4}", 800),
        "relevance" => (
            "weight-prior={shape=4,rate=4},relevance-prior={shape=5,rate=3}",
            800,
        ),
        "spike-slab" | "spike-and-slab" => (
            "weight-prior={shape=4,rate=4},inclusion-prior={a=2,b=3}",
            800,
        ),
        "horseshoe" => ("", 0),
        "mixture" => ("components=2", 800),
        _ => ("", 800),
    }
}

#[test]
fn every_prior_passes() {
    let registry = Registry::standard();
    let of = |role| registry.priors(role).map(move |species| (species, role));
    let all: Vec<_> = (of(RowRole::Weights).chain(of(RowRole::Factors))).collect();
    let failures = all.into_par_iter().filter_map(|(species, role)| {
        let (options, draws) = narrow(species.name());
        let options = Options::parse(options).expect("options");
        let check = PriorCheck::new(species, role).options(options).draws(draws);
        check.run().err().map(|failure| failure.to_string())
    });
    none_of(&failures.collect::<Vec<_>>());
}
