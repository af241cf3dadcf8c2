//! V6: true factors behind monotone distortions.

use polyview_core::Journal;
use polyview_infer::{VbOptions, VbRun};
use polyview_likelihoods::{Margin, PairPolicy, RankOptions};
use polyview_random::StreamKey;
use polyview_tests::assemble;
use polyview_tests::distorted::{distorted, explained, start};

use super::common::part;

fn fitted(features: usize, ranks: RankOptions, sweeps: usize) -> Vec<f64> {
    let (view, truth) = distorted(150, features, 1);
    let model = assemble(vec![part(&view, ranks, 5)], start(&view, 5));
    let options = VbOptions {
        max_sweeps: sweeps,
        // as the models of ranks have it
        momentum: false,
        ..VbOptions::default()
    };
    let mut run = VbRun::new(model, options, StreamKey::new(2), Journal::default());
    while run.sweep().expect("a sweep").outcome.is_none() {}
    let z = run.model().factors.moments().mean().to_owned();
    explained(&truth, &z)
}

#[test]
fn random_pairs_recover_distorted_factors() {
    for (partners, least) in [(2, 0.93), (3, 0.94), (5, 0.95)] {
        let ranks = RankOptions {
            partners,
            ..RankOptions::default()
        };
        let found = fitted(60, ranks, 60);
        assert!(found.iter().all(|r| *r > least), "{partners}: {found:?}");
    }
}

#[test]
fn a_weak_margin_loses_factors() {
    let ranks = RankOptions {
        pairs: PairPolicy::Adjacent,
        margin: Margin::Fixed(0.01),
        ..RankOptions::default()
    };
    // whole fits warn of it
    let found = fitted(60, ranks, 120);
    assert!(found.iter().any(|r| *r < 0.5), "{found:?}");
}
