//! A report with every part.

use crate::support::{chosen, tried};
use polyview::{
    CheckedStatistic, ComparedMoments, ComparedView, Comparison, Domain, Event as FitEvent,
    Journal, Metadata, MetadataValues, PredictiveCheck, Spreads,
};
use polyview_report::{
    Against, BoundTrace, Coverage, Event, EventKind, Factors, Grid, GroupFactors, HeldOut,
    HeldOutCells, Intervals, OptionValue, Options, Origin, Progress, Report, Summary,
    VarianceExplained, ViewInclusion, ViewRelevance, ViewSummary, ViewWeights,
};

/// `stem 1`, `stem 2`, ...
pub fn names(stem: &str, n: usize) -> Vec<String> {
    (1..=n).map(|i| format!("{stem} {i}")).collect()
}

/// Some number between -2 and 2.
pub fn wave(i: usize, j: usize) -> f64 {
    ((i * 37 + j * 101 + 11) % 199) as f64 / 50.0 - 2.0
}

/// A report with every part. Names carry `tag`.
pub fn full(samples: usize, features: usize, factors: usize, tag: &str) -> Report {
    let views: Vec<String> = names(&format!("view{tag}"), 3);
    let factor_names = names(&format!("factor{tag}"), factors);
    let truth: Vec<f64> = (0..80).map(|i| wave(i, 1)).collect();
    let predicted: Vec<f64> = (0..80).map(|i| wave(i, 1) + 0.1 * wave(i, 5)).collect();
    Report {
        metadata_in_the_fit: Vec::new(),
        title: format!("A report{tag}"),
        introduction: format!("An introduction{tag}"),
        summary: Summary {
            model: format!("model{tag}"),
            engine: "vb".into(),
            views: views
                .iter()
                .map(|v| ViewSummary {
                    name: v.clone(),
                    samples,
                    features,
                    likelihood: format!("gaussian{tag}"),
                    missing: 0.25,
                })
                .collect(),
            samples,
            factors_kept: factors,
            factors_started: factors + 2,
            sweeps: Some(31),
            outcome: format!("converged{tag}"),
            bound: Some(-1234.5),
            seconds: Some(3725.0),
            seed: Some(u64::MAX),
            version: "0.1.0".into(),
            extra: vec![(format!("extra{tag}"), format!("value{tag}"))],
            options: vec![OptionValue {
                section: format!("s{tag}"),
                name: format!("n{tag}"),
                value: format!("v{tag}"),
                origin: Origin::Default,
            }],
        },
        coverage: Some(Coverage {
            views: views.clone(),
            observed: Grid::from_fn(samples, 3, |i, m| {
                if (i + m) % 4 == 0 {
                    0.0
                } else {
                    0.5 + 0.1 * ((i * m) % 6) as f64
                }
            }),
        }),
        progress: Some(Progress::Bound(BoundTrace {
            first_sweep: 1,
            values: (0..30).map(|s| -1000.0 / f64::from(s + 1)).collect(),
            events: vec![
                Event {
                    sweep: 4,
                    kind: EventKind::Pruned,
                },
                Event {
                    sweep: 9,
                    kind: EventKind::Rotated,
                },
                Event {
                    sweep: 9,
                    kind: EventKind::Other,
                },
            ],
            terms: vec![(format!("likelihood{tag}"), -33.0)],
        })),
        groups: Some(GroupFactors {
            groups: names(&format!("group{tag}"), 2),
            factors: factor_names.clone(),
            activity: Grid::from_fn(2, factors, |g, k| wave(g, k).abs().min(1.0)),
            variance: (0..2)
                .map(|g| VarianceExplained {
                    views: views.clone(),
                    factors: factor_names.clone(),
                    marginal: Grid::from_fn(3, factors, |m, k| 0.1 * wave(m + g, k)),
                    joint: vec![0.4, -0.1, 0.2],
                    ..VarianceExplained::default()
                })
                .collect(),
        }),
        variance: Some(VarianceExplained {
            views: views.clone(),
            factors: factor_names.clone(),
            marginal: Grid::from_fn(3, factors, |m, k| 0.1 * wave(m, k)),
            joint: vec![0.4, -0.1, 0.2],
            unique: Some(Grid::from_fn(3, factors, |m, k| 0.05 * wave(m, k))),
        }),
        factors: Some(Factors {
            samples: names(&format!("sample{tag}"), samples),
            names: factor_names,
            means: Grid::from_fn(samples, factors, wave),
            sds: Some(Grid::from_fn(samples, factors, |i, k| {
                0.1 + 0.01 * ((i + k) % 3) as f64
            })),
        }),
        metadata: vec![
            Metadata {
                name: format!("group{tag}"),
                values: MetadataValues::Categories(
                    (0..samples)
                        .map(|i| (i % 7 != 3).then(|| format!("category {}{tag}", i % 13)))
                        .collect(),
                ),
            },
            Metadata {
                name: format!("age{tag}"),
                values: MetadataValues::Numbers(
                    (0..samples)
                        .map(|i| if i % 5 == 2 { f64::NAN } else { wave(i, 3) })
                        .collect(),
                ),
            },
        ],
        weights: views
            .iter()
            .map(|v| ViewWeights {
                view: v.clone(),
                features: names(&format!("feature{tag}"), features),
                means: Grid::from_fn(features, factors, wave),
                sds: Some(Grid::from_fn(features, factors, |_, _| 0.2)),
            })
            .collect(),
        inclusion: views
            .iter()
            .map(|v| ViewInclusion {
                view: v.clone(),
                features: names(&format!("feature{tag}"), features),
                probability: Grid::from_fn(features, factors, |d, k| wave(d, k).abs().min(1.0)),
            })
            .collect(),
        relevance: views
            .iter()
            .enumerate()
            .map(|(m, v)| ViewRelevance {
                view: v.clone(),
                features: names(&format!("feature{tag}"), features),
                relevance: (0..features).map(|d| (2.0 * wave(d, 2)).exp()).collect(),
                shape: (m == 1).then_some([1, features]),
            })
            .collect(),
        held_out: vec![
            HeldOut {
                view: format!("numbers{tag}"),
                r2: Some(0.994),
                deviance_explained: Some(0.375),
                cells: HeldOutCells::Numeric {
                    intervals: Some(Intervals {
                        level: 0.95,
                        lower: predicted.iter().map(|p| p - 0.3).collect(),
                        upper: predicted.iter().map(|p| p + 0.3).collect(),
                    }),
                    truth: truth.clone(),
                    predicted: predicted.clone(),
                    unit: format!("mm{tag}"),
                },
            },
            HeldOut {
                view: format!("binary{tag}"),
                r2: None,
                deviance_explained: None,
                cells: HeldOutCells::Binary {
                    truth: (0..40).map(|i| f64::from(i % 2)).collect(),
                    probability: (0..40).map(|i| f64::from(i) / 40.0).collect(),
                    labels: names(&format!("label{tag}"), 2),
                    label: (0..40).map(|i| i / 20).collect(),
                },
            },
            HeldOut {
                view: format!("classes{tag}"),
                r2: None,
                deviance_explained: None,
                cells: HeldOutCells::Classes {
                    names: names(&format!("class{tag}"), 3),
                    truth: vec![0, 1, 2, 2],
                    predicted: vec![0, 2, 2, 1],
                    probability: Some(Grid::from_fn(4, 3, |i, c| [0.2, 0.5, 0.3][(i + c) % 3])),
                },
            },
        ],
        checks: vec![
            PredictiveCheck {
                view: format!("numbers{tag}"),
                kind: Domain::Reals,
                samples,
                replicates: 100,
                part: Some(format!("a part{tag}")),
                statistics: vec![statistic(features), statistic(1)],
            },
            PredictiveCheck {
                view: format!("trials{tag}"),
                kind: Domain::Reals,
                samples: 0,
                replicates: 0,
                part: None,
                statistics: Vec::new(),
            },
        ],
        comparison: Some(Against {
            name: format!("this{tag}"),
            other: format!("that{tag}"),
            found: Comparison {
                samples,
                views: vec![compared(features * samples, &format!("numbers{tag}"))],
                notes: vec![format!("some differ{tag}")],
            },
        }),
        choose_k: Some(chosen(
            vec![
                tried(2, [-2.0, 0.1, -9.0, 1.0]),
                tried(4, [-1.0, 0.1, -8.0, 0.9]),
                tried(8, [-1.1, 0.2, -8.5, 0.4]),
            ],
            &format!("one standard error{tag}"),
        )),
        journal: journal(tag),
        versions: vec![(format!("polyview{tag}"), "0.1.0".into())],
        options: Options::default(),
    }
}

/// A remark, a notice and a warning.
fn journal(tag: &str) -> Journal {
    let mut journal = Journal::default();
    let note = format!("read{tag}");
    journal.note(0, format!("data{tag}"), FitEvent::Note { note });
    let note = "removed".to_owned();
    journal.note(4, "factors", FitEvent::Data { note });
    let note = "jitter".to_owned();
    journal.note(5, "weights", FitEvent::Warning { note });
    journal
}

/// A statistic of some features, the first one undefined.
fn statistic(features: usize) -> CheckedStatistic {
    let of = |by: f64| -> Vec<f64> {
        (0..features)
            .map(|d| if d == 0 { f64::NAN } else { wave(d, 1) + by })
            .collect()
    };
    CheckedStatistic {
        name: "skewness".into(),
        columns: names("feature", features),
        observed: of(0.3),
        replicated: of(0.0),
        lower: of(-0.2),
        upper: of(0.2),
        p: of(0.0)
            .iter()
            .map(|x| if x.is_nan() { *x } else { 0.01 })
            .collect(),
        instead_of_mean: None,
        mean_observed: 0.3,
        mean_replicated: vec![0.0],
        mean_p: 0.012,
    }
}

fn compared(cells: usize, view: &str) -> ComparedView {
    let of = |by: f64| -> Vec<f64> { (0..cells).map(|i| by + 0.1 * wave(i, 3)).collect() };
    let ratio = |median: f64| Spreads {
        quantities: cells,
        median,
        lower: 0.4,
        upper: 0.9,
    };
    ComparedView {
        view: view.into(),
        kind: Domain::Reals,
        predictor: ComparedMoments {
            mean: of(0.0),
            sd: of(0.5),
            other_mean: of(0.01),
            other_sd: of(0.8),
        },
        correlation: 0.987,
        predictor_spread: ratio(0.612),
        weights: ComparedMoments::default(),
        weight_spread: ratio(0.951),
    }
}
