//! Numbers between limits are a likelihood, and so are times to an event, by either form: among the
//! rest no step lowers the bound, and the sampler leaves the joint distribution of factors, weights,
//! noise and data alone.

use polyview_core::{LikelihoodSpecies, Options};
use polyview_likelihoods::species::{CensoredSpecies, SurvivalSpecies};
use polyview_testing::LikelihoodCheck;

fn passes(species: &dyn LikelihoodSpecies, options: &str, draws: u64) {
    let options = Options::parse(options).expect("options");
    let check = LikelihoodCheck::new(species).options(options);
    let found = check.draws(draws).run();
    found.unwrap_or_else(|failure| panic!("{failure}"));
}

#[test]
fn by_its_bound() {
    passes(&CensoredSpecies, "form=bound, prior={shape=4,rate=3}", 600);
}

#[test]
fn by_the_expectation_of_its_density() {
    passes(
        &CensoredSpecies,
        "form=expectation, prior={shape=4,rate=3}",
        100,
    );
}

#[test]
fn times_to_an_event() {
    passes(&SurvivalSpecies, "prior={shape=4,rate=3}", 300);
}
