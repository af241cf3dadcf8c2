//! The reports: a variational fit, a sampler, and one of a single sample.

use super::parts::{
    FACTORS, Lcg, bound, check, comparison, coverage, factors, held_out, inclusion, relevance,
    summary, variance, weights,
};
use polyview::{ChooseK, ChooseKRow, Convergence, Event, Journal, Metadata, MetadataValues};
use polyview_report::{
    BoundTrace, Chain, ChainTraces, Coverage, Factors, Grid, Options, Progress, Report, Summary,
    VarianceExplained, ViewWeights,
};

pub(crate) fn variational() -> Report {
    let mut rng = Lcg(7);
    let n = 1000;
    let (factors, metadata) = factors(n, &mut rng);
    let coverage = coverage(n, &mut rng);
    let bound = bound(118, &mut rng);
    let weights = weights(&mut rng);
    Report {
        metadata_in_the_fit: Vec::new(),
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
        held_out: held_out(&mut rng),
        checks: vec![check(&mut rng)],
        comparison: Some(comparison(&mut rng)),
        choose_k: Some(choose_k()),
        journal: journal(),
        versions: vec![("polyview".into(), "0.1.0".into()), ("faer".into(), "0.24.0".into())],
        options: Options::default(),
    }
}

fn choose_k() -> ChooseK {
    let tried = [
        (2, -1.42, 0.012, -431_020.0, 0.99),
        (4, -1.31, 0.011, -421_311.0, 0.98),
        (6, -1.24, 0.009, -414_004.0, 0.98),
        (8, -1.212, 0.009, -412_170.0, 0.97),
        (10, -1.209, 0.009, -412_201.0, 0.88),
        (12, -1.213, 0.011, -412_236.0, 0.79),
        (16, -1.222, 0.012, -412_390.0, 0.61),
    ];
    let row = |(factors, density, error, bound, stability)| ChooseKRow {
        factors,
        kept: factors as f64,
        log_density: density,
        log_density_se: error,
        robust_density: density,
        robust_density_se: error,
        r2: f64::NAN,
        r2_se: f64::NAN,
        bound,
        stability,
    };
    ChooseK {
        rows: tried.map(row).to_vec(),
        cells: vec![20_000; 5],
        dense_cells: 20_000.0,
        ranked: Vec::new(),
        recommended: 8,
        reason: "fewest factors within one standard error of the best score".into(),
        notes: Vec::new(),
        warnings: Vec::new(),
    }
}

fn journal() -> Journal {
    let mut journal = Journal::default();
    let note = "4 tables joined on sample names: 1000 samples in the union".to_owned();
    journal.note(0, "data", Event::Data { note });
    for (sweep, factor, largest_weight, explained) in
        [(32, 9, 3.1e-4, 2e-5), (59, 10, 8.7e-5, 1e-5)]
    {
        let pruned = Event::Pruned {
            factor,
            largest_weight,
            explained,
            left: FACTORS,
        };
        journal.note(sweep, "factors", pruned);
    }
    let jitter = Event::Jitter {
        row: 30,
        pivot: 3,
        amount: 1e-10,
    };
    journal.note(74, "weights/protein", jitter);
    let outcome = "converged".to_owned();
    journal.note(118, "", Event::Ended { outcome });
    journal
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
    let diagnostic = |kind: &str, rhat, ess_bulk, ess_tail| Convergence {
        kind: kind.into(),
        quantities: 1,
        worst: kind.into(),
        rhat,
        rhat_median: rhat,
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
        metadata: vec![Metadata {
            name: "group".into(),
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
