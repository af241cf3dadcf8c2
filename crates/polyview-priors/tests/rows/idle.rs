//! What a column adds to the bound of which no data speak.

use crate::common::LearnAlone as _;
use polyview_core::{GammaPrior, Gammas, RowBlock, ScalePrior};
use polyview_linalg::SymPacked;
use polyview_priors::{
    Ard, DiagonalRows, DoubleArd, Fixed, FullRows, GlobalScale, GroupArd, SpikeSlab,
    SpikeSlabOptions, SpikeSlabRows, ThreeParameterBeta, ThreeParameterBetaOptions,
};

use crate::common::{Kind, Problem, close, groups, problem, start};

const ROWS: usize = 14;
const K: usize = 3;

/// The bound of a block at rest, data included.
fn at_rest(problem: &Problem, block: &mut dyn RowBlock) -> f64 {
    let mut last = f64::NEG_INFINITY;
    for _ in 0..20_000 {
        problem.update(block, &[ROWS]);
        block.learn_alone();
        let now = problem.objective(block);
        if (now - last).abs() < 1e-12 * now.abs() {
            return now;
        }
        last = now;
    }
    panic!("the block does not come to rest");
}

/// What it adds at rest is what the smaller block says that it would.
fn adds_what_it_says<P: ScalePrior>(what: &str, prior: impl Fn(usize) -> P) {
    let mut small = problem(Kind::Shared, ROWS, K, 3);
    let gram = small.shared.gram.clone();
    let one = |i: usize, j: usize| f64::from(u8::from(i == j));
    small.shared.gram = SymPacked::from_lower(K, |i, j| gram.get(i, j) + one(i, j));
    let large = small.with_idle_column();
    let mut full = FullRows::new("rows", prior(K), start(ROWS, K, 5));
    let without = at_rest(&small, &mut full);
    let mut more = FullRows::new("rows", prior(K + 1), start(ROWS, K + 1, 5));
    let with = at_rest(&large, &mut more);
    close(with - without, full.idle_column(), 1e-6, what);
    assert!(full.idle_column() <= 0.0);
    let own = DiagonalRows::new("rows", prior(K), start(ROWS, K, 5));
    assert_eq!(own.idle_column(), full.idle_column());
}

#[test]
fn idle_columns_cost_what_their_scales_say() {
    for (shape, rate) in [(0.6, 0.3), (2.0, 5.0)] {
        let gamma = GammaPrior::new(shape, rate);
        adds_what_it_says("one precision", |k| Ard::new(gamma, k));
        adds_what_it_says("precisions by group", |k| {
            GroupArd::new(gamma, groups(ROWS, 3), k)
        });
        let of_rows = GammaPrior::new(1.4, 0.7);
        adds_what_it_says("precisions of rows too", |k| {
            DoubleArd::new(gamma, of_rows, ROWS, k)
        });
    }
    for global in [GlobalScale::Column, GlobalScale::Row, GlobalScale::All] {
        for (r, s) in [(0.5, 0.5), (0.8, 1.5)] {
            let options = ThreeParameterBetaOptions { r, s, global };
            adds_what_it_says(&format!("{options:?}"), |k| {
                ThreeParameterBeta::new(options, ROWS, k)
            });
        }
    }
    adds_what_it_says("known precisions", Fixed::standard_normal);
}

/// About the logarithm of the shape where the prior is vague, whatever the rate.
#[test]
fn vague_scales_cost_the_logarithm_of_their_shape() {
    let idle = |shape: f64, rate: f64| Gammas::new(GammaPrior::new(shape, rate), 1, 1.0).idle(40.0);
    for shape in [1e-3, 1e-6, 1e-12] {
        assert!((idle(shape, shape) - shape.ln()).abs() < 0.8, "{shape}");
        assert_eq!(idle(shape, shape), idle(shape, 1.0));
    }
    assert!(idle(1e4, 1.0).abs() < 0.01);
}

/// The precision, and a switch a row at even odds: for uniform probabilities the
/// best that a factorised q can do.
#[test]
fn idle_switches_cost_the_bound_at_even_odds() {
    let at = |options: SpikeSlabOptions| {
        SpikeSlabRows::new("rows", SpikeSlab::new(options, ROWS, K), start(ROWS, K, 1))
            .idle_column()
    };
    let both = SpikeSlabOptions {
        precision: Some(GammaPrior::new(1e-3, 1e-3)),
        ..SpikeSlabOptions::default()
    };
    let switches = at(SpikeSlabOptions {
        precision: None,
        ..both
    });
    let ard = Gammas::new(GammaPrior::new(1e-3, 1e-3), 1, 1.0).idle(ROWS as f64);
    close(at(both), ard + switches, 1e-12, "both");
    // integral of (θ (1 - θ))^7, times 2^14
    let exact = (5040.0_f64.powi(2) / 1_307_674_368_000.0 * 16384.0).ln();
    close(switches, exact, 1e-12, "even odds");
    let other = |on: f64| {
        let slab = SpikeSlab::new(both, ROWS, 1);
        let mut theta = slab.betas().clone();
        let n = ROWS as f64;
        theta.set(0, 1.0 + n * on, 1.0 + n * (1.0 - on));
        let entropy = |p: f64| if p > 0.0 { -p * p.ln() } else { 0.0 };
        theta.bound()
            + n * (on * theta.mean_ln()[0] + (1.0 - on) * theta.mean_ln_not()[0])
            + n * (entropy(on) + entropy(1.0 - on))
    };
    close(other(0.5), switches, 1e-12, "at even odds");
    for on in [0.0, 0.1, 0.3, 0.45, 0.6, 1.0] {
        assert!(other(on) < switches, "{on}");
    }
}
