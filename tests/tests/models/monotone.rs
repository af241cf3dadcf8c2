//! No block update ever lowers the bound (spec/sshiba 9.6.1;
//! docs/decisions/0004-the-bound-never-falls.md), over random shapes, masks and
//! compositions.

use polyview_core::{Context, Journal, RowGroups};
use polyview_infer::{
    Audit, Engine, Gibbs, PruneRule, Vb, VbOptions, VbRun, run_steps, step_groups,
};
use polyview_likelihoods::{CategoricalProbitOptions, MissingData, NoiseBy};
use polyview_random::StreamKey;
use polyview_tests::{
    Case, Holes, ViewCase, assemble, categorical, gaussian_parts, model, normal, run, sparse, views,
};
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
        any::<bool>(),
    )
        .prop_map(
            |(features, holes, noise, missing, bias, relevance)| ViewCase {
                features,
                holes,
                noise,
                missing,
                bias,
                relevance,
            },
        )
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

/// By default: the last sweeps begin beyond where the ones before ended.
fn audited() -> VbOptions {
    VbOptions {
        max_sweeps: 28,
        audit: Audit::Blocks,
        prune: PruneRule::never(),
        ..VbOptions::default()
    }
}

fn rises(mut run: VbRun) -> Result<(), TestCaseError> {
    let mut last = f64::NEG_INFINITY;
    loop {
        let report = run
            .sweep()
            .map_err(|e| TestCaseError::fail(e.to_string()))?;
        prop_assert!(report.bound.is_finite());
        prop_assert!(
            report.bound >= last - 1e-9 * last.abs().max(1.0),
            "{} after {last}",
            report.bound
        );
        last = report.bound;
        if report.outcome.is_some() {
            return Ok(());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]
    #[test]
    fn no_block_lowers_the_bound(case in case()) {
        rises(run(&case, audited()))?;
    }
    /// The steps of views that follow one another are carried out side by side.
    #[test]
    fn sweeps_are_their_steps(case in case()) {
        for engine in [&Vb::default() as &dyn Engine, &Gibbs] {
            let [mut whole, mut stepwise] = [(); 2].map(|()| model(&case, views(&case, 2)));
            let groups = step_groups(&whole.schedule);
            let [mut a, mut b] = [(); 2].map(|()| Journal::default());
            for sweep in 1..5 {
                let key = StreamKey::new(case.seed).sweep(sweep as u64);
                let mut cx = Context { key, sweep, journal: &mut a };
                run_steps(engine, &groups, &mut whole, &mut cx)
                    .map_err(|e| TestCaseError::fail(e.to_string()))?;
                for group in &groups {
                    let group = std::slice::from_ref(group);
                    let mut cx = Context { key, sweep, journal: &mut b };
                    run_steps(engine, group, &mut stepwise, &mut cx)
                        .map_err(|e| TestCaseError::fail(e.to_string()))?;
                }
                prop_assert_eq!(whole.objective(), stepwise.objective());
            }
            prop_assert_eq!(&a, &b);
        }
    }
    #[test]
    fn no_block_lowers_the_bound_with_classes(
        mut case in case(),
        classes in 2usize..9,
        share in prop_oneof![Just(0.0), 0.1f64..0.8],
        missing in prop_oneof![Just(MissingData::Marginal), Just(MissingData::Impute)],
        bias in prop_oneof![Just(None), Just(Some(1.0))],
        alone in any::<bool>(),
    ) {
        case.samples = case.samples.max(2);
        if alone { case.views.clear(); }
        let view = categorical::random_view(case.samples, classes, share, case.seed);
        let options = CategoricalProbitOptions { missing, ..CategoricalProbitOptions::default() };
        let mut parts = gaussian_parts(&case, views(&case, 2));
        parts.push(categorical::part(&view, options, case.k, bias));
        let key = StreamKey::new(case.seed);
        let start = normal(case.samples, case.k, &mut key.block(78).rng());
        rises(VbRun::new(assemble(parts, start), audited(), key, Journal::default()))?;
    }
    #[test]
    fn no_block_lowers_the_bound_with_sparse_or_grouped_rows(
        case in case(),
        weights in prop::sample::select(sparse::ROWS.to_vec()),
        factors in prop::sample::select(sparse::ROWS.to_vec()),
        groups in prop_oneof![Just(None), (1usize..4).prop_map(Some)],
        classes in prop_oneof![Just(None), (2usize..5).prop_map(Some)],
    ) {
        let mut case = case;
        case.samples = case.samples.max(2);
        let mut parts = gaussian_parts(&case, views(&case, 2));
        if let Some(classes) = classes {
            let view = categorical::random_view(case.samples, classes, 0.2, case.seed);
            parts.push(categorical::part(&view, CategoricalProbitOptions::default(), case.k, Some(1.0)));
        }
        let groups = groups.map(|g| {
            let of_row = (0..case.samples).map(|n| (n % g) as u32).collect();
            RowGroups::new(of_row, g).expect("groups within their number")
        });
        let key = StreamKey::new(case.seed);
        let start = normal(case.samples, case.k, &mut key.block(78).rng());
        let model = sparse::assemble(parts, weights, factors, groups, start);
        rises(VbRun::new(model, audited(), key, Journal::default()))?;
    }
}
