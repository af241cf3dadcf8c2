//! No block lowers the bound, over random compositions.

use polyview_core::Journal;
use polyview_infer::{Audit, PruneRule, VbOptions, VbRun};
use polyview_likelihoods::{MissingData, NoiseBy};
use polyview_random::StreamKey;
use polyview_tests::{Holes, normal};
use proptest::prelude::*;

use super::{Kind, latent, model, part, simulate, term};

#[derive(Clone, Copy, Debug)]
struct ViewCase {
    kind: Kind,
    features: usize,
    holes: Holes,
    bias: Option<f64>,
    level: f64,
}

fn kind() -> impl Strategy<Value = Kind> {
    prop_oneof![
        1 => Just(Kind::Gaussian),
        2 => Just(Kind::Direct),
        3 => (
            prop_oneof![Just(NoiseBy::View), Just(NoiseBy::Feature)],
            prop_oneof![Just(MissingData::Marginal), Just(MissingData::Impute)],
            any::<bool>(),
        )
            .prop_map(|(noise, missing, fixed)| latent(noise, missing, fixed)),
    ]
}

fn view_case() -> impl Strategy<Value = ViewCase> {
    (
        kind(),
        1usize..9,
        prop_oneof![
            Just(Holes::None),
            (0.1f64..0.7).prop_map(Holes::Rows),
            (0.05f64..0.7).prop_map(Holes::Cells),
        ],
        prop_oneof![Just(None), Just(Some(1.0)), Just(Some(0.01))],
        -4.0f64..4.0,
    )
        .prop_map(|(kind, features, holes, bias, level)| ViewCase {
            kind,
            features,
            holes,
            bias,
            level,
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
    #[test]
    fn no_block_lowers_the_bound(
        seed in any::<u64>(),
        samples in 1usize..30,
        k in 1usize..5,
        views in prop::collection::vec(view_case(), 1..4),
    ) {
        let mut rng = StreamKey::new(seed).rng();
        let z = normal(samples, 2, &mut rng);
        let parts = views
            .iter()
            .enumerate()
            .map(|(m, v)| {
                let name = format!("v{m}");
                let seed = seed.wrapping_add(m as u64);
                let s = simulate(v.kind, &name, &z, v.features, (v.level, 1.0), v.holes, seed);
                part(term(v.kind, s.view), &name, k, v.bias)
            })
            .collect();
        let options = VbOptions {
            max_sweeps: 12,
            audit: Audit::Blocks,
            prune: PruneRule::never(),
            ..VbOptions::default()
        };
        let m = model(parts, normal(samples, k, &mut rng));
        let mut run = VbRun::new(m, options, StreamKey::new(seed), Journal::default());
        let mut last = f64::NEG_INFINITY;
        loop {
            let report = run.sweep().map_err(|e| TestCaseError::fail(e.to_string()))?;
            prop_assert!(report.bound.is_finite());
            prop_assert!(report.bound >= last - 1e-9 * last.abs().max(1.0), "{} after {last}", report.bound);
            last = report.bound;
            if report.outcome.is_some() { break; }
        }
    }
}
