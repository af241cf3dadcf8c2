//! Whole fits: components found, threads, states.

use polyview_core::{Journal, State, Stateful, View};
use polyview_infer::{GibbsChain, Model, PruneRule, VbOptions, VbRun};
use polyview_likelihoods::{Gaussian, GaussianOptions};
use polyview_linalg::{Mat, Threads};
use polyview_random::{StreamKey, standard_normal};
use polyview_tests::normal;

use super::{experts, model, options, part};

pub const K: usize = 2;
pub const T: usize = 4;
const N: usize = 200;

/// Four clusters at the corners of a square, seen through ten noisy features;
/// the label says on which diagonal a sample is (exclusive or).
pub fn data() -> Vec<View> {
    let mut rng = StreamKey::new(21).rng();
    let z = Mat::from_fn(N, K, |n, k| {
        let side = if (n >> k).is_multiple_of(2) {
            1.5
        } else {
            -1.5
        };
        side + 0.4 * standard_normal(&mut rng)
    });
    let w = normal(10, K, &mut rng);
    let x = &z * w.transpose() + 0.5 * normal(N, 10, &mut rng);
    let y = Mat::from_fn(N, 1, |n, _| {
        f64::from(u8::from(z[(n, 0)] * z[(n, 1)] > 0.0))
    });
    let names = (0..10).map(|d| format!("f{d}")).collect();
    vec![
        View::from_values("x", names, x).expect("finite"),
        View::from_values("y", vec!["same".into()], y).expect("finite"),
    ]
}

pub fn build() -> Model {
    let [x, y] = <[View; 2]>::try_from(data()).expect("two views");
    let parts = vec![
        part(
            "x",
            Box::new(Gaussian::new(x, GaussianOptions::default())),
            K,
            Some(1.0),
        ),
        part("y", experts(&y, T), K, Some(0.01)),
    ];
    model(
        parts,
        options(T),
        normal(N, K, &mut StreamKey::new(4).rng()),
    )
}

pub fn converged(tolerance: f64) -> VbRun {
    let vb = VbOptions {
        max_sweeps: 3000,
        tolerance,
        movement: tolerance.max(1e-7),
        prune: PruneRule::never(),
        ..VbOptions::default()
    };
    let mut run = VbRun::new(build(), vb, StreamKey::new(2), Journal::default());
    while run.sweep().expect("a sweep").outcome.is_none() {}
    run
}

#[test]
fn the_clusters_are_found() {
    let run = converged(1e-8);
    let shares = run.model().factors.shares().expect("a mixture").clone();
    for t in 0..T {
        let size: f64 = shares.col_as_slice(t).iter().sum();
        assert!((size - 50.0).abs() < 2.0, "{size}");
    }
    for n in 0..N {
        // samples four apart are of one cluster
        let same: f64 = (0..T).map(|t| shares[(n, t)] * shares[(n % 4, t)]).sum();
        assert!(same > 0.95, "{n}: {same}");
    }
}

fn bits(state: &State) -> Vec<u64> {
    state
        .arrays()
        .values()
        .flat_map(|a| a.values.iter().map(|x| x.to_bits()))
        .collect()
}

/// Any number of threads, stopped in the middle or not: the same bits.
#[test]
fn bits_depend_neither_on_threads_nor_on_interruptions() {
    let vb = || VbOptions {
        max_sweeps: 9,
        ..VbOptions::default()
    };
    let fitted = |threads: usize, stop: bool| {
        Threads::new(threads).expect("threads").install(|| {
            let mut run = VbRun::new(build(), vb(), StreamKey::new(2), Journal::default());
            for i in 0..6 {
                run.sweep().expect("a sweep");
                if stop && i == 2 {
                    let mut state = State::new();
                    let record = run.save("", &mut state);
                    run = VbRun::new(build(), vb(), StreamKey::new(2), Journal::default());
                    run.resume("", record, &state.reader())
                        .expect("a checkpoint");
                }
            }
            let mut state = State::new();
            run.model().save("", &mut state);
            bits(&state)
        })
    };
    let sampled = |threads: usize, stop: bool| {
        Threads::new(threads).expect("threads").install(|| {
            let key = StreamKey::new(7);
            let mut chain = GibbsChain::new(build(), key);
            for i in 0..6 {
                chain.sweep().expect("a sweep");
                if stop && i == 2 {
                    let mut state = State::new();
                    let record = chain.save("", &mut state);
                    chain = GibbsChain::new(build(), key);
                    chain
                        .resume("", record, &state.reader())
                        .expect("a checkpoint");
                }
            }
            let mut state = State::new();
            chain.model().save("", &mut state);
            bits(&state)
        })
    };
    let (one, draws) = (fitted(1, false), sampled(1, false));
    for (threads, stop) in [(3, false), (2, true)] {
        assert_eq!(one, fitted(threads, stop));
        assert_eq!(draws, sampled(threads, stop));
    }
}

/// The sampler finds the same clusters as variational Bayes.
#[test]
fn draws_and_expectations_agree() {
    let run = converged(1e-8);
    let mut chain = GibbsChain::new(build(), StreamKey::new(3));
    let mut together = Mat::<f64>::zeros(N, 4);
    let (warm, kept) = (150, 150);
    for i in 0..warm + kept {
        chain.advance().expect("a sweep");
        if i >= warm {
            let shares = chain.model().factors.shares().expect("a mixture");
            for n in 0..N {
                for c in 0..4 {
                    let same: f64 = (0..T).map(|t| shares[(n, t)] * shares[(c, t)]).sum();
                    together[(n, c)] += same / f64::from(kept);
                }
            }
        }
    }
    let shares = run.model().factors.shares().expect("a mixture");
    let mut gap = 0.0;
    for n in 0..N {
        for c in 0..4 {
            let same: f64 = (0..T).map(|t| shares[(n, t)] * shares[(c, t)]).sum();
            gap += (same - together[(n, c)]).abs() / (4 * N) as f64;
        }
    }
    assert!(gap < 0.05, "{gap}");
}
