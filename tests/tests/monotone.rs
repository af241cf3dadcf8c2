//! No block update ever lowers the bound (spec/sshiba 9.6.1; DESIGN 4.7), over
//! random shapes, masks and compositions.

use polyview_infer::{Audit, PruneRule, VbOptions};
use polyview_likelihoods::{MissingData, NoiseBy};
use polyview_tests::{Case, Holes, ViewCase, run};
use proptest::prelude::*;

fn view_case() -> impl Strategy<Value = ViewCase> {
    (
        1usize..9,
        prop_oneof![
            Just(Holes::None),
            (0.1f64..0.7).prop_map(Holes::Rows),
            (0.05f64..0.7).prop_map(Holes::Cells),
        ],
        prop_oneof![Just(NoiseBy::View), Just(NoiseBy::Feature)],
        prop_oneof![Just(MissingData::Marginal), Just(MissingData::Impute)],
        prop_oneof![Just(None), Just(Some(1.0)), Just(Some(0.01))],
    )
        .prop_map(|(features, holes, noise, missing, bias)| ViewCase {
            features,
            holes,
            noise,
            missing,
            bias,
        })
}

fn case() -> impl Strategy<Value = Case> {
    (
        any::<u64>(),
        1usize..30,
        1usize..6,
        prop::collection::vec(view_case(), 1..4),
    )
        .prop_map(|(seed, samples, k, views)| Case {
            seed,
            samples,
            k,
            views,
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]
    #[test]
    fn no_block_lowers_the_bound(case in case()) {
        let options = VbOptions {
            max_sweeps: 12,
            audit: Audit::Blocks,
            prune: PruneRule::never(),
            ..VbOptions::default()
        };
        let mut run = run(&case, options);
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
