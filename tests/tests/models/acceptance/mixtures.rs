//! Monotone bounds and what must not matter, with real values, labels and
//! classes together.

use polyview_core::{Journal, View};
use polyview_infer::{Audit, PruneRule, VbOptions, VbRun};
use polyview_likelihoods::{MissingData, NoiseBy};
use polyview_linalg::Mat;
use polyview_random::StreamKey;
use polyview_tests::categorical::view_of_codes;
use polyview_tests::mixed::{MixedView, Species};
use polyview_tests::{Holes, assemble, normal};
use proptest::prelude::*;

fn holes() -> impl Strategy<Value = Holes> {
    prop_oneof![
        Just(Holes::None),
        (0.1f64..0.6).prop_map(Holes::Rows),
        (0.05f64..0.6).prop_map(Holes::Cells),
    ]
}

/// A view of this species with everything else at random.
fn any_view(species: Species) -> impl Strategy<Value = MixedView> {
    (
        2usize..7,
        holes(),
        prop_oneof![Just(MissingData::Marginal), Just(MissingData::Impute)],
        prop_oneof![Just(None), Just(Some(1.0)), Just(Some(0.01))],
        any::<bool>(),
    )
        .prop_map(
            move |(columns, holes, missing, bias, relevance)| MixedView {
                columns,
                holes,
                missing,
                bias,
                relevance,
                ..MixedView::new(species, columns)
            },
        )
}

fn run(views: &[(MixedView, View)], start: Mat<f64>, max_sweeps: usize) -> VbRun {
    let k = start.ncols();
    let parts = views.iter().map(|(v, data)| v.part(data, 2, k)).collect();
    let options = VbOptions {
        max_sweeps,
        tolerance: 1e-300,
        audit: Audit::Blocks,
        prune: PruneRule::never(),
        ..VbOptions::default()
    };
    VbRun::new(
        assemble(parts, start),
        options,
        StreamKey::new(1),
        Journal::default(),
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
    /// spec/sshiba 9.6.1, spec/thesis 15.1.1: every species, with and without
    /// relevances and missing cells in every view, both treatments.
    #[test]
    fn no_block_lowers_the_bound(
        real in any_view(Species::Real(NoiseBy::View)),
        labels in prop_oneof![
            any_view(Species::Labels),
            any_view(Species::Svm),
            any_view(Species::Probit),
        ],
        latent in any_view(Species::Latent(NoiseBy::View)),
        classes in any_view(Species::Classes),
        ranks in any_view(Species::Ranks),
        samples in 3usize..25,
        k in 1usize..4,
        seed in any::<u64>(),
    ) {
        let key = StreamKey::new(seed);
        let z = normal(samples, 2, &mut key.rng());
        let views: Vec<(MixedView, View)> = [real, labels, latent, classes, ranks]
            .into_iter()
            .enumerate()
            .map(|(m, v)| (v, v.data(&format!("v{m}"), &z, seed.wrapping_add(m as u64))))
            .collect();
        let mut run = run(&views, normal(samples, k, &mut key.block(1).rng()), 10);
        let mut last = f64::NEG_INFINITY;
        for _ in 0..10 {
            let bound = run.sweep().map_err(|e| TestCaseError::fail(e.to_string()))?.bound;
            prop_assert!(bound >= last - 1e-9 * last.abs().max(1.0), "{bound} after {last}");
            last = bound;
        }
    }
}

fn reordered(view: &View, order: &[usize]) -> View {
    if view.levels().is_empty() {
        let x = view.to_values_with_nan();
        let y = Mat::from_fn(x.nrows(), x.ncols(), |n, d| x[(order[n], d)]);
        return View::from_values(view.name(), view.features().to_vec(), y).expect("finite");
    }
    let codes: Vec<f64> = order
        .iter()
        .map(|&n| view.value(n, 0).unwrap_or(f64::NAN))
        .collect();
    view_of_codes(view.name(), &codes, view.levels().len())
}

/// spec/sshiba 9.6.7.
#[test]
fn order_of_samples_views_and_signs_do_not_matter() {
    for missing in [MissingData::Marginal, MissingData::Impute] {
        let z = normal(20, 2, &mut StreamKey::new(4).rng());
        let views: Vec<(MixedView, View)> = [
            Species::Real(NoiseBy::Feature),
            Species::Labels,
            Species::Latent(NoiseBy::View),
            Species::Classes,
        ]
        .into_iter()
        .enumerate()
        .map(|(m, species)| {
            let view = MixedView {
                holes: Holes::Cells(0.2),
                missing,
                relevance: m != 1,
                ..MixedView::new(species, 4)
            };
            (view, view.data(&format!("v{m}"), &z, m as u64))
        })
        .collect();
        let start = normal(20, 3, &mut StreamKey::new(5).rng());
        let bound = |views: &[(MixedView, View)], start: &Mat<f64>| {
            let mut run = run(views, start.clone(), 15);
            (0..15)
                .map(|_| run.sweep().expect("a sweep").bound)
                .fold(0.0, |_, b| b)
        };
        let plain = bound(&views, &start);
        let order: Vec<usize> = (0..20).map(|n| (n * 7 + 3) % 20).collect();
        let rows: Vec<_> = views
            .iter()
            .map(|(v, d)| (*v, reordered(d, &order)))
            .collect();
        let turned = Mat::from_fn(20, 3, |n, k| start[(order[n], k)]);
        let swapped: Vec<_> = [2, 0, 3, 1].into_iter().map(|m| views[m].clone()).collect();
        let flipped = Mat::from_fn(20, 3, |n, k| {
            if k == 1 {
                -start[(n, k)]
            } else {
                start[(n, k)]
            }
        });
        for other in [
            bound(&rows, &turned),
            bound(&swapped, &start),
            bound(&views, &flipped),
        ] {
            assert!(
                (plain - other).abs() < 1e-7 * plain.abs(),
                "{missing:?}: {plain} {other}"
            );
        }
        // what does matter is seen
        assert!((bound(&rows, &start) - plain).abs() > 1e-5 * plain.abs());
    }
}

/// The same with a view of ranks, whose samples are updated one after the
/// other, so that their order counts on the way.
#[test]
fn order_of_views_and_signs_do_not_matter_to_ranks() {
    let z = normal(20, 2, &mut StreamKey::new(4).rng());
    let views: Vec<(MixedView, View)> = [
        Species::Real(NoiseBy::Feature),
        Species::Ranks,
        Species::Svm,
    ]
    .into_iter()
    .enumerate()
    .map(|(m, species)| {
        let view = MixedView {
            holes: Holes::Cells(0.2),
            relevance: m == 1,
            ..MixedView::new(species, 4)
        };
        (view, view.data(&format!("v{m}"), &z, m as u64))
    })
    .collect();
    let start = normal(20, 3, &mut StreamKey::new(5).rng());
    let bound = |views: &[(MixedView, View)], start: &Mat<f64>| {
        let mut run = run(views, start.clone(), 15);
        (0..15)
            .map(|_| run.sweep().expect("a sweep").bound)
            .fold(0.0, |_, b| b)
    };
    let plain = bound(&views, &start);
    let swapped: Vec<_> = [2, 0, 1].into_iter().map(|m| views[m].clone()).collect();
    let flipped = Mat::from_fn(
        20,
        3,
        |n, k| if k == 1 { -1.0 } else { 1.0 } * start[(n, k)],
    );
    for other in [bound(&swapped, &start), bound(&views, &flipped)] {
        assert!(
            (plain - other).abs() < 1e-7 * plain.abs(),
            "{plain} {other}"
        );
    }
}
