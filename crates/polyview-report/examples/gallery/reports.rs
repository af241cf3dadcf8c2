//! The reports: a variational fit, a sampler, and one of a single sample.

use super::parts::{
    FACTORS, Lcg, bound, check, comparison, coverage, factors, held_out, inclusion, relevance,
    summary, variance, weights,
};
use polyview_report::{
    BoundTrace, Chain, ChainTraces, ChooseK, Coverage, Diagnostic, Factors, Grid, JournalEntry,
    MetadataColumn, MetadataValues, Options, Progress, Report, Severity, Summary,
    VarianceExplained, ViewWeights,
};

pub(crate) fn variational() -> Report {
    let mut rng = Lcg(7);
    let n = 1000;
    let (factors, metadata) = factors(n, &mut rng);
    let entry = |sweep, block: &str, message: &str, severity| JournalEntry {
        sweep,
        block: block.into(),
        message: message.into(),
        severity,
    };
    let coverage = coverage(n, &mut rng);
    let bound = bound(118, &mut rng);
    let weights = weights(&mut rng);
    Report {
        groups: None,
        title: "Four molecular views of 1000 tumours".into(),
        introduction: "A simulated fit, to show what a report looks like: numbers come from a small generator, \
            not from patients."
            .into(),
        summary: summary(n),
        coverage: Some(coverage),
        progress: Some(Progress::Bound(bound)),
        variance: Some(variance()),
        factors: Some(factors),
        metadata,
        inclusion: inclusion(&weights),
        weights,
        relevance: relevance(),
        correlations: None,
        held_out: held_out(&mut rng),
        checks: vec![check(&mut rng)],
        comparison: Some(comparison(&mut rng)),
        choose_k: Some(ChooseK {
            factors: vec![2, 4, 6, 8, 10, 12, 16],
            score: vec![-1.42, -1.31, -1.24, -1.212, -1.209, -1.213, -1.222],
            score_error: Some(vec![0.012, 0.011, 0.009, 0.009, 0.009, 0.011, 0.012]),
            score_name: "held-out log density per cell (nats)".into(),
            bound: Some(vec![-431_020.0, -421_311.0, -414_004.0, -412_170.0, -412_201.0, -412_236.0, -412_390.0]),
            stability: Some(vec![0.99, 0.98, 0.98, 0.97, 0.88, 0.79, 0.61]),
            recommended: Some(8),
            rule: "fewest factors within one standard error of the best score".into(),
        }),
        journal: vec![
            entry(None, "data", "4 tables joined on sample names: 1000 samples in the union", Severity::Info),
            entry(Some(32), "factors", "factor 9 removed: largest |weight| 3.1e-4, variance explained 0.002%", Severity::Notice),
            entry(Some(59), "factors", "factor 10 removed: largest |weight| 8.7e-5, variance explained 0.001%", Severity::Notice),
            entry(Some(74), "weights/protein", "jitter 1e-10 added to one precision (row 31, pivot 4)", Severity::Warning),
            entry(Some(118), "fit", "converged", Severity::Info),
        ],
        citations: vec![
            "Argelaguet R. et al. (2018). Multi-Omics Factor Analysis. Molecular Systems Biology 14:e8124.".into(),
            "The polyview developers (2025). polyview: modular Bayesian factor models for multi-view data.".into(),
        ],
        versions: vec![("polyview".into(), "0.1.0".into()), ("faer".into(), "0.24.0".into())],
        options: Options::default(),
    }
}

pub(crate) fn sampler() -> Report {
    let mut rng = Lcg(99);
    let n = 90;
    let (mut factors, mut metadata) = factors(n, &mut rng);
    metadata.truncate(2);
    metadata[0].name = "<script>alert(\"subtype\")</script> & 'friends'".into();
    factors.names[0] = "Luftröhrenschwingungsfaktor 🧬 сверхдлинное имя фактора".into();
    let views: Vec<String> = (1..=14)
        .map(|m| format!("tissue section no. {m} (拡張)"))
        .collect();
    let observed = Grid::from_fn(n, 14, |i, m| {
        if (i * 7 + m * 3) % 5 == 0 {
            0.0
        } else {
            1.0 - 0.05 * ((i + m) % 4) as f64
        }
    });
    let chains = (1..=4)
        .map(|c| {
            let mut level = -9000.0 - 400.0 * f64::from(c);
            let values = (0..4000)
                .map(|_| {
                    level += 0.02 * (-8200.0 - level) + 6.0 * rng.normal();
                    level
                })
                .collect();
            Chain {
                name: format!("chain {c}"),
                first_sweep: 1,
                values,
            }
        })
        .collect();
    let diagnostic = |quantity: &str, r_hat, ess_bulk, ess_tail| Diagnostic {
        quantity: quantity.into(),
        quantities: 1,
        worst: String::new(),
        r_hat,
        r_hat_median: r_hat,
        ess_bulk,
        ess_bulk_median: ess_bulk,
        ess_tail,
    };
    Report {
        title: "A sampler with <b>hostile</b> names & many views".into(),
        summary: Summary {
            model: "sshiba".into(),
            engine: "Gibbs, 4 chains".into(),
            samples: n,
            factors_kept: FACTORS,
            factors_started: FACTORS,
            outcome: "all sweeps done".into(),
            ..Summary::default()
        },
        coverage: Some(Coverage {
            views: views.clone(),
            observed,
        }),
        progress: Some(Progress::Chains(ChainTraces {
            quantity: "log joint density (nats)".into(),
            chains,
            warm_up: 800,
            diagnostics: vec![
                diagnostic("log joint density", 1.004, 812.0, 1204.0),
                diagnostic("noise precision of rna", 1.031, 141.0, 210.0),
                diagnostic("sparsity", f64::NAN, f64::NAN, f64::NAN),
            ],
        })),
        variance: Some(VarianceExplained {
            views: views.clone(),
            factors: factors.names.clone(),
            marginal: Grid::from_fn(14, FACTORS, |m, k| {
                if (m + k) % 4 == 0 {
                    0.2 / (k + 1) as f64
                } else {
                    -0.011 * ((m * k) % 3) as f64
                }
            }),
            joint: (0..14)
                .map(|m| {
                    if m == 3 {
                        -0.02
                    } else {
                        0.1 + 0.01 * f64::from(m)
                    }
                })
                .collect(),
            unique: None,
            activity: Some(Grid::from_fn(14, FACTORS, |m, k| {
                f64::from(u8::from((m + k) % 4 == 0 || k == 0))
            })),
        }),
        factors: Some(factors),
        metadata,
        ..Report::default()
    }
}

pub(crate) fn tiny() -> Report {
    Report {
        title: "One sample, one factor".into(),
        variance: Some(VarianceExplained {
            views: vec!["only".into()],
            factors: vec!["Factor 1".into()],
            marginal: Grid::from_fn(1, 1, |_, _| f64::NAN),
            joint: vec![f64::NAN],
            ..VarianceExplained::default()
        }),
        coverage: Some(Coverage {
            views: vec!["only".into()],
            observed: Grid::from_fn(1, 1, |_, _| 1.0),
        }),
        progress: Some(Progress::Bound(BoundTrace::default())),
        factors: Some(Factors {
            samples: vec!["s1".into()],
            names: vec!["Factor 1".into()],
            means: Grid::from_fn(1, 1, |_, _| 0.3),
            sds: None,
        }),
        metadata: vec![MetadataColumn {
            name: "group".into(),
            unit: String::new(),
            values: MetadataValues::Categories(vec![Some("a".into())]),
        }],
        weights: vec![ViewWeights {
            view: "only".into(),
            features: vec![],
            means: Grid::from_fn(0, 1, |_, _| 0.0),
            sds: None,
        }],
        ..Report::default()
    }
}
