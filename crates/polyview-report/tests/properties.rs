//! Whatever numbers and names come, a report is well-formed or refused, never a panic.

mod support;

use polyview::{Metadata, MetadataValues};
use polyview_report::{
    BoundTrace, Chain, ChainTraces, Coverage, Event, EventKind, Factors, Grid, HeldOut,
    HeldOutCells, Options, Progress, Report, VarianceExplained, ViewInclusion, ViewRelevance,
    ViewWeights, pictures, render,
};
use proptest::prelude::*;
use proptest::sample::select;
use support::{check, chosen, tried};

/// Numbers of all sizes, and what is no number.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        6 => -3.0..3.0f64,
        1 => any::<f64>(),
        1 => select(vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, 1e300, -1e300, 5e-324, 1e17]),
    ]
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-c]{0,3}",
        "\\PC{0,40}",
        any::<String>(),
        Just("<b>&\"'".repeat(9))
    ]
}

fn grid(
    of: impl Strategy<Value = f64>,
    rows: usize,
    columns: usize,
) -> impl Strategy<Value = Grid> {
    prop::collection::vec(of, rows * columns)
        .prop_map(move |v| Grid::new(rows, columns, v).expect("the right number of values"))
}

fn spread() -> impl Strategy<Value = f64> {
    number().prop_map(f64::abs)
}

fn options() -> impl Strategy<Value = Options> {
    (
        0..20usize,
        0..5usize,
        0..5usize,
        0..4usize,
        0..30usize,
        0..9usize,
        number(),
    )
        .prop_map(
            |(
                top_weights,
                weight_factors,
                scatter_factors,
                metadata_pictures,
                max_points,
                table_rows,
                active_share,
            )| Options {
                top_weights,
                inclusion_features: 2 * top_weights,
                weight_factors,
                scatter_factors,
                metadata_pictures,
                max_points,
                table_rows,
                active_share,
            },
        )
}

prop_compose! {
    fn report()(n in 0..14usize, d in 0..6usize, k in 0..5usize, m in 0..4usize)(
        title in name(),
        names in prop::collection::vec(name(), n + d + k + m + 4),
        means in grid(number(), n, k),
        sds in grid(spread(), n, k),
        weights in grid(number(), d, k),
        weight_sds in grid(spread(), d, k),
        inclusion in grid(prop_oneof![9 => 0.0..=1.0f64, 1 => Just(f64::NAN)], d, k),
        relevance in prop::collection::vec(spread(), d),
        image in any::<bool>(),
        marginal in grid(number(), m, k),
        joint in prop::collection::vec(number(), m),
        shares in prop::collection::vec(0.0..=1.0f64, n * m),
        numbers in prop::collection::vec(number(), n),
        labels in prop::collection::vec(prop::option::of(name()), n),
        trace in prop::collection::vec(number(), 0..30),
        pairs in prop::collection::vec((number(), number()), 0..30),
        numbers_tried in prop::collection::vec((0..99usize, number(), spread()), 0..5),
        sampler in any::<bool>(),
        options in options(),
        sizes in Just((n, d, k, m)),
    ) -> Report {
        let (n, d, k, m) = sizes;
        let mut rest = names.into_iter();
        let mut take = |count: usize| -> Vec<String> { rest.by_ref().take(count).collect() };
        let (samples, features, factors, views, other) = (take(n), take(d), take(k), take(m), take(4));
        let progress = if sampler {
            Progress::Chains(ChainTraces {
                quantity: other[0].clone(),
                chains: vec![Chain { name: other[1].clone(), first_sweep: 3, values: trace }],
                warm_up: 5,
                diagnostics: vec![],
            })
        } else {
            Progress::Bound(BoundTrace {
                first_sweep: 0,
                values: trace,
                events: vec![Event { sweep: 7, kind: EventKind::Pruned }],
                terms: vec![(other[0].clone(), f64::NAN)],
            })
        };
        let observed = Grid::from_fn(n, m, |i, j| shares[i * m + j]);
        Report {
            title,
            coverage: Some(Coverage { views: views.clone(), observed }),
            progress: Some(progress),
            variance: Some(VarianceExplained { views, factors: factors.clone(), marginal: marginal.clone(), joint, unique: Some(marginal) }),
            factors: Some(Factors { samples, names: factors, means, sds: Some(sds) }),
            metadata: vec![
                Metadata { name: other[1].clone(), values: MetadataValues::Numbers(numbers) },
                Metadata { name: other[2].clone(), values: MetadataValues::Categories(labels) },
            ],
            inclusion: vec![ViewInclusion { view: other[3].clone(), features: features.clone(),
                probability: inclusion }],
            relevance: vec![ViewRelevance { view: other[3].clone(), features: features.clone(),
                relevance, shape: image.then_some([d, 1]) }],
            weights: vec![ViewWeights { view: other[3].clone(), features, means: weights,
                sds: Some(weight_sds) }],
            held_out: vec![HeldOut {
                view: other[3].clone(),
                r2: None,
                deviance_explained: None,
                cells: HeldOutCells::Numeric {
                    truth: pairs.iter().map(|p| p.0).collect(),
                    predicted: pairs.iter().map(|p| p.1).collect(),
                    intervals: None,
                    unit: other[0].clone(),
                },
            }],
            choose_k: Some(chosen(
                numbers_tried.iter().map(|&(k, score, error)| tried(k, [score, error, score, error])).collect(),
                &other[0],
            )),
            options,
            ..Report::default()
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn any_report_is_well_formed(report in report()) {
        let page = render(&report).expect("the parts fit together");
        if let Err(wrong) = check(&page) {
            return Err(TestCaseError::fail(wrong));
        }
        for named in pictures(&report).expect("the parts fit together") {
            if let Err(wrong) = check(&named.picture.to_svg()) {
                return Err(TestCaseError::fail(format!("{}: {wrong}", named.stem)));
            }
        }
    }

    #[test]
    fn a_part_taken_from_another_report_never_panics(mut a in report(), b in report(), which in 0..5usize) {
        match which {
            0 => a.factors = b.factors,
            1 => a.variance = b.variance,
            2 => a.weights = b.weights,
            3 => a.metadata = b.metadata,
            _ => a.coverage = b.coverage,
        }
        if let Ok(page) = render(&a) {
            prop_assert!(check(&page).is_ok());
        }
    }
}
