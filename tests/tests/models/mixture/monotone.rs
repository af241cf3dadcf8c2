//! No block lowers the bound, over random compositions with local experts.

use polyview_core::Journal;
use polyview_infer::{Audit, PruneRule, VbOptions, VbRun};
use polyview_likelihoods::{MissingData, NoiseBy};
use polyview_random::StreamKey;
use polyview_tests::mixed::{MixedView, Species};
use polyview_tests::{Holes, normal};
use proptest::prelude::*;

use super::{CLASSIFIERS, experts_of, labels, model, options, part};

fn mixed() -> impl Strategy<Value = MixedView> {
    (
        prop_oneof![
            Just(Species::Real(NoiseBy::View)),
            Just(Species::Real(NoiseBy::Feature)),
            Just(Species::Labels),
            Just(Species::Counts),
            Just(Species::Classes),
            Just(Species::Ranks),
        ],
        2usize..7,
        prop_oneof![
            Just(Holes::None),
            (0.1f64..0.6).prop_map(Holes::Rows),
            (0.05f64..0.6).prop_map(Holes::Cells),
        ],
        prop_oneof![Just(MissingData::Marginal), Just(MissingData::Impute)],
        prop_oneof![Just(None), Just(Some(0.5))],
        any::<bool>(),
    )
        .prop_map(
            |(species, columns, holes, missing, bias, relevance)| MixedView {
                // one class a sample
                holes: match (species, holes) {
                    (Species::Classes, Holes::Cells(share)) => Holes::Rows(share),
                    (_, holes) => holes,
                },
                species,
                columns,
                missing,
                bias,
                relevance,
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]
    #[test]
    fn no_block_lowers_the_bound(
        seed in any::<u64>(),
        samples in 3usize..30,
        k in 1usize..5,
        components in 1usize..6,
        views in prop::collection::vec(mixed(), 0..3),
        local in prop::collection::vec((1usize..4, 0.0f64..0.5, any::<bool>(), 0usize..3), 1..3),
    ) {
        let mut rng = StreamKey::new(seed).rng();
        let z = normal(samples, 2, &mut rng);
        let mut parts: Vec<_> = views
            .iter()
            .enumerate()
            .map(|(m, v)| v.part(&v.data(&format!("v{m}"), &z, seed.wrapping_add(m as u64)), 2, k))
            .collect();
        for (m, (columns, missing, bias, kind)) in local.iter().enumerate() {
            let name = format!("y{m}");
            let view = labels(&name, samples, *columns, *missing, seed.wrapping_add(50 + m as u64));
            parts.push(part(&name, experts_of(CLASSIFIERS[*kind], &view, components), k, bias.then_some(0.1)));
        }
        let m = model(parts, options(components), normal(samples, k, &mut rng));
        let vb = VbOptions {
            max_sweeps: 12,
            audit: Audit::Blocks,
            prune: PruneRule::never(),
            ..VbOptions::default()
        };
        let mut run = VbRun::new(m, vb, StreamKey::new(seed), Journal::default());
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
