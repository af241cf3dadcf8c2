//! Classes by softmax pass what every likelihood has to.

use polyview_likelihoods::species::SoftmaxSpecies;
use polyview_testing::LikelihoodCheck;

#[test]
fn classes_pass() {
    if let Err(failure) = LikelihoodCheck::new(&SoftmaxSpecies).draws(1000).run() {
        panic!("{failure}");
    }
}
