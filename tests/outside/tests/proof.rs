//! The one line that proves a likelihood.

use polyview_core::{Options, RowRole};
use polyview_testing::{LikelihoodCheck, PriorCheck, assert_likelihood};
use student_t::{HeavyTailsSpecies, LaplaceSpecies, StudentTSpecies};

#[test]
fn it_is_a_likelihood() {
    assert_likelihood(&StudentTSpecies);
}

#[test]
fn a_density_is_a_likelihood() {
    let check = LikelihoodCheck::new(&HeavyTailsSpecies).draws(200);
    check.run().unwrap_or_else(|failure| panic!("{failure}"));
}

#[test]
fn it_is_a_prior_of_weights() {
    let check = PriorCheck::new(&LaplaceSpecies, RowRole::Weights).draws(600);
    check.run().unwrap_or_else(|failure| panic!("{failure}"));
}

#[test]
fn it_is_one_with_other_tails() {
    let options = Options::parse("nu=9").expect("options");
    let check = LikelihoodCheck::new(&StudentTSpecies).options(options);
    check.run().unwrap_or_else(|failure| panic!("{failure}"));
}
