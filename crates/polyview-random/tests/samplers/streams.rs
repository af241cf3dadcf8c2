use std::collections::HashSet;

use polyview_random::{Rng, StreamKey, standard_normal};
use proptest::prelude::*;

use crate::support::{assert_ks, draws};

fn key() -> impl Strategy<Value = StreamKey> {
    // small numbers collide where large ones would not
    let field = || prop_oneof![0..4u32, any::<u32>()];
    let wide = || prop_oneof![0..4u64, any::<u64>()];
    (wide(), field(), wide(), field(), field()).prop_map(|(seed, chain, sweep, block, chunk)| {
        StreamKey::new(seed)
            .chain(chain)
            .sweep(sweep)
            .block(block)
            .chunk(chunk)
    })
}

proptest! {
    #[test]
    fn equal_keys_and_only_they_share_a_stream(a in key(), b in key()) {
        let first = |k: StreamKey| { let mut r = k.rng(); [r.next_u64(), r.next_u64()] };
        prop_assert_eq!(first(a), first(a));
        prop_assert_eq!(a == b, first(a) == first(b));
        let state = |k: StreamKey| (k.rng().get_seed(), k.rng().get_stream());
        prop_assert_eq!(a == b, state(a) == state(b));
    }
}

#[test]
fn a_grid_of_keys_has_no_collision() {
    let mut seen = HashSet::new();
    for seed in [0, 1, u64::MAX] {
        for chain in 0..4 {
            for sweep in 0..25 {
                for block in 0..6 {
                    for chunk in 0..10 {
                        let key = StreamKey::new(seed).chain(chain).sweep(sweep);
                        assert!(seen.insert(key.block(block).chunk(chunk).rng().next_u64()));
                    }
                }
            }
        }
    }
}

#[test]
fn every_field_matters_and_none_is_confused_with_another() {
    let base = StreamKey::new(0);
    let keys = [
        base,
        StreamKey::new(1),
        base.chain(1),
        base.sweep(1),
        base.block(1),
        base.chunk(1),
        base.sweep(1 << 32),
    ];
    let first: HashSet<u64> = keys.iter().map(|k| k.rng().next_u64()).collect();
    assert_eq!(first.len(), keys.len());
}

/// First draws of neighbouring keys form a normal sample, and neighbours are uncorrelated.
#[test]
fn neighbouring_streams_are_independent() {
    type Step = fn(u32) -> StreamKey;
    let walks: [(&str, Step); 5] = [
        ("seed", |i| StreamKey::new(u64::from(i))),
        ("chain", |i| StreamKey::new(9).chain(i)),
        ("sweep", |i| StreamKey::new(9).sweep(u64::from(i))),
        ("block", |i| StreamKey::new(9).block(i)),
        ("chunk", |i| StreamKey::new(9).chunk(i)),
    ];
    for (name, step) in walks {
        let mut index = 0;
        let sample = draws(20_000, || {
            index += 1;
            standard_normal(&mut step(index).rng())
        });
        let n = sample.len() as f64;
        let correlation: f64 = sample.windows(2).map(|w| w[0] * w[1]).sum::<f64>() / n;
        assert!(correlation.abs() < 5.0 / n.sqrt(), "{name}: {correlation}");
        let normal = |x: f64| 0.5 * libm::erfc(-x / std::f64::consts::SQRT_2);
        assert_ks(name, sample, normal);
    }
}

#[test]
fn builder_sets_the_fields() {
    let key = StreamKey::new(1).chain(2).sweep(3).block(4).chunk(5);
    let StreamKey {
        seed,
        chain,
        sweep,
        block,
        chunk,
    } = key;
    assert_eq!((seed, chain, sweep, block, chunk), (1, 2, 3, 4, 5));
}
