//! Ordered levels are a likelihood, by either form, with cut points of the view and of each
//! feature: among the rest no step lowers the bound, and the sampler leaves the joint
//! distribution of factors, weights, levels and cut points alone.

use polyview_core::{Options, View};
use polyview_likelihoods::species::OrdinalSpecies;
use polyview_linalg::Mat;
use polyview_testing::LikelihoodCheck;

fn passes(options: &str, draws: u64) {
    let options = Options::parse(options).expect("options");
    let check = LikelihoodCheck::new(&OrdinalSpecies).options(options);
    let found = check.draws(draws).run();
    found.unwrap_or_else(|failure| panic!("{failure}"));
}

#[test]
fn by_its_bound() {
    passes("levels=4", 600);
}

#[test]
fn by_the_expectation_of_its_density() {
    passes("levels=4, form=expectation", 100);
}

#[test]
fn with_cut_points_of_each_feature() {
    passes("cut-points=feature, prior={shape=4,rate=3}", 600);
}

#[test]
fn of_two_levels() {
    let options = Options::parse("levels=2").expect("options");
    let values = Mat::from_fn(16, 3, |n, d| ((n + d) % 2) as f64 + 1.0);
    let names = (0..3).map(|d| format!("f{d}")).collect();
    let view = View::from_values("view", names, values).expect("a view");
    let check = LikelihoodCheck::new(&OrdinalSpecies).options(options);
    let found = check.data(view).draws(400).run();
    found.unwrap_or_else(|failure| panic!("{failure}"));
}
