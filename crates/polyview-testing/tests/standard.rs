//! Polyview's own likelihoods pass.

use polyview_core::LikelihoodSpecies;
use polyview_likelihoods::species;
use polyview_testing::LikelihoodCheck;

fn passes(species: &dyn LikelihoodSpecies) {
    if let Err(failure) = LikelihoodCheck::new(species).draws(1000).run() {
        panic!("{failure}");
    }
}

#[test]
fn numbers_and_ranks_pass() {
    passes(&species::GaussianSpecies);
    passes(&species::RankSpecies);
    passes(&species::OrdinaryRankSpecies);
}

#[test]
fn labels_pass() {
    passes(&species::BernoulliSpecies);
    passes(&species::LatentBernoulliSpecies);
    passes(&species::BayesianSvmSpecies);
    passes(&species::ProbitSpecies);
    passes(&species::CategoricalSpecies);
}

#[test]
fn counts_pass() {
    passes(&species::PoissonSpecies);
    passes(&species::NegativeBinomialSpecies);
    passes(&species::PoissonLogNormalSpecies);
    passes(&species::BinomialSpecies);
}
