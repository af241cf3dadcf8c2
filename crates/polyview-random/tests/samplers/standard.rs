use std::convert::Infallible;

use polyview_random::{
    Rng, fill_standard_normal, standard_exponential, standard_normal, uniform_open01,
};
use rand::TryRng;
use statrs::distribution::{ContinuousCDF, Normal};

use crate::support::{assert_ks, assert_mean, assert_variance, draws, rng};

/// A generator that returns one word for ever.
struct Constant(u64);

impl TryRng for Constant {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(self.0 as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.0)
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        bytes.fill(self.0 as u8);
        Ok(())
    }
}

#[test]
fn normals_follow_the_normal_law() {
    let mut rng = rng(1);
    let mut sample = vec![0.0; 100_000];
    fill_standard_normal(&mut rng, &mut sample);
    assert_mean("normal", &sample, 0.0, 1.0);
    assert_variance("normal", &sample, 0.0, 1.0);
    let law = Normal::new(0.0, 1.0).unwrap();
    assert_ks("normal", sample, |x| law.cdf(x));
}

#[test]
fn filling_equals_drawing_one_by_one() {
    let mut filled = [0.0; 37];
    fill_standard_normal(&mut rng(2), &mut filled);
    let mut other = rng(2);
    assert!(filled.iter().all(|&x| x == standard_normal(&mut other)));
}

#[test]
fn exponentials_follow_the_exponential_law() {
    let mut rng = rng(3);
    let sample = draws(100_000, || standard_exponential(&mut rng));
    assert_ks("exponential", sample, |x| -(-x).exp_m1());
}

#[test]
fn uniforms_are_open_and_symmetric() {
    let low = uniform_open01(&mut Constant(0));
    let high = uniform_open01(&mut Constant(u64::MAX));
    assert!(low > 0.0 && high < 1.0);
    assert_eq!(low, 1.0 - high);
    let mut rng = rng(4);
    let sample = draws(100_000, || uniform_open01(&mut rng));
    assert_ks("uniform", sample, |x| x);
}

#[test]
fn a_generator_behind_a_pointer_draws_the_same() {
    let mut concrete = rng(5);
    let mut hidden = rng(5);
    let hidden: &mut dyn Rng = &mut hidden;
    for _ in 0..100 {
        assert_eq!(standard_normal(&mut concrete), standard_normal(hidden));
        assert_eq!(uniform_open01(&mut concrete), uniform_open01(hidden));
    }
}
