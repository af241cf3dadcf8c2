//! Parts of the reports, simulated.

use polyview::{
    CheckedStatistic, ComparedMoments, ComparedView, Comparison, Domain, Metadata, MetadataValues,
    PredictiveCheck, Spreads,
};
use polyview_report::{
    Against, BoundTrace, Coverage, Event, EventKind, Factors, Grid, HeldOut, HeldOutCells,
    Intervals, OptionValue, Origin, Summary, VarianceExplained, ViewInclusion, ViewRelevance,
    ViewSummary, ViewWeights,
};

/// A linear congruential generator: enough for pictures, the same on every machine.
pub(crate) struct Lcg(pub(crate) u64);

impl Lcg {
    pub(crate) fn uniform(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Roughly standard normal: twelve uniforms.
    pub(crate) fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }

    pub(crate) fn pick<'a>(&mut self, names: &[&'a str]) -> &'a str {
        names[((self.uniform() * names.len() as f64) as usize).min(names.len() - 1)]
    }
}

pub(crate) const FACTORS: usize = 8;
pub(crate) const VIEWS: [(&str, usize, &str); 4] = [
    ("rna", 1200, "gaussian"),
    ("protein", 180, "gaussian"),
    ("methylation", 640, "gaussian"),
    ("mutations", 46, "bernoulli"),
];
/// Strength of each factor (rows) in each view (columns).
pub(crate) const STRENGTH: [[f64; 4]; FACTORS] = [
    [0.24, 0.17, 0.12, 0.05],
    [0.11, 0.09, 0.0, 0.0],
    [0.02, 0.0, 0.14, 0.0],
    [0.06, 0.05, 0.04, 0.0],
    [0.045, 0.0, 0.0, 0.0],
    [0.0, 0.061, 0.0, 0.0],
    [0.0, 0.0, 0.038, 0.02],
    [0.018, 0.0, 0.0, -0.001],
];

pub(crate) fn names(prefix: &str, n: usize) -> Vec<String> {
    (1..=n).map(|i| format!("{prefix}{i}")).collect()
}

pub(crate) fn coverage(n: usize, rng: &mut Lcg) -> Coverage {
    let mut rows = Vec::new();
    for _ in 0..n {
        for m in 0..VIEWS.len() {
            let has = rng.uniform() < [0.95, 0.74, 0.82, 0.9][m];
            let share = if m == 1 {
                1.0 - 0.4 * rng.uniform() * rng.uniform()
            } else {
                1.0
            };
            rows.push(if has { share } else { 0.0 });
        }
    }
    let observed = Grid::new(n, VIEWS.len(), rows).unwrap_or_default();
    Coverage {
        views: VIEWS.iter().map(|v| v.0.to_owned()).collect(),
        observed,
    }
}

pub(crate) fn bound(sweeps: usize, rng: &mut Lcg) -> BoundTrace {
    let mut values = Vec::new();
    for s in 0..sweeps {
        let t = s as f64;
        values.push(
            -412_345.6 - 61_000.0 * (-t / 4.0).exp() - 900.0 * (-t / 22.0).exp()
                + if s > 31 { 140.0 } else { 0.0 }
                + if s > 58 { 36.0 } else { 0.0 },
        );
    }
    let mut events: Vec<Event> = [32, 59]
        .iter()
        .map(|&sweep| Event {
            sweep,
            kind: EventKind::Pruned,
        })
        .collect();
    events.extend([10, 20, 40, 80].iter().map(|&sweep| Event {
        sweep,
        kind: EventKind::Rotated,
    }));
    let terms = [
        ("likelihood/rna", -311_200.25),
        ("weights/rna", -9310.5),
        ("factors", -1821.75),
    ]
    .iter()
    .map(|(n, v)| ((*n).to_owned(), v + rng.uniform()))
    .collect();
    BoundTrace {
        first_sweep: 1,
        values,
        events,
        terms,
    }
}

pub(crate) fn variance() -> VarianceExplained {
    let marginal = Grid::from_fn(VIEWS.len(), FACTORS, |m, k| {
        STRENGTH[k][m] + 0.0004 * ((m * 5 + k) % 4) as f64
    });
    let unique = Grid::from_fn(VIEWS.len(), FACTORS, |m, k| {
        0.86 * STRENGTH[k][m] - if k == 1 { 0.008 } else { 0.0 }
    });
    let joint = (0..VIEWS.len())
        .map(|m| (0..FACTORS).map(|k| 0.93 * STRENGTH[k][m]).sum())
        .collect();
    VarianceExplained {
        views: VIEWS.iter().map(|v| v.0.to_owned()).collect(),
        factors: names("Factor ", FACTORS),
        marginal,
        joint,
        unique: Some(unique),
    }
}

pub(crate) fn factors(n: usize, rng: &mut Lcg) -> (Factors, Vec<Metadata>) {
    let subtypes = ["luminal A", "luminal B", "basal-like", "HER2-enriched"];
    let (mut subtype, mut age, mut batch, mut means) = (vec![], vec![], vec![], vec![]);
    for _ in 0..n {
        let s = (rng.uniform() * 3.999) as usize;
        let years = 34.0 + 48.0 * rng.uniform();
        for k in 0..FACTORS {
            let shift = match k {
                0 => [-0.9, 0.1, 1.9, 0.6][s],
                1 => [0.2, -0.4, -0.1, 1.9][s],
                2 => (years - 58.0) / 16.0,
                _ => 0.0,
            };
            means.push(shift + 0.75 * rng.normal());
        }
        subtype.push((rng.uniform() > 0.06).then(|| subtypes[s].to_owned()));
        age.push(if rng.uniform() < 0.08 {
            f64::NAN
        } else {
            years.round()
        });
        batch.push(Some(
            rng.pick(&[
                "b01", "b02", "b03", "b04", "b05", "b06", "b07", "b08", "b09", "b10", "b11",
            ])
            .to_owned(),
        ));
    }
    let sds = Grid::from_fn(n, FACTORS, |i, k| 0.16 + 0.02 * ((i + k) % 5) as f64);
    let factors = Factors {
        samples: (1..=n)
            .map(|i| format!("TCGA-{:04}-01A", 4000 + 7 * i))
            .collect(),
        names: names("Factor ", FACTORS),
        means: Grid::new(n, FACTORS, means).unwrap_or_default(),
        sds: Some(sds),
    };
    let columns = vec![
        Metadata {
            name: "subtype".into(),
            values: MetadataValues::Categories(subtype),
        },
        Metadata {
            name: "age at diagnosis (years)".into(),
            values: MetadataValues::Numbers(age),
        },
        Metadata {
            name: "batch".into(),
            values: MetadataValues::Categories(batch),
        },
    ];
    (factors, columns)
}

/// Some proteins that matter, and an image with a bright spot.
pub(crate) fn relevance() -> Vec<ViewRelevance> {
    let (height, width) = (40, 56);
    let spot = |d: usize| {
        let (y, x) = ((d / width) as f64 - 14.0, (d % width) as f64 - 30.0);
        0.3 + 40.0 * (-(x * x / 90.0 + y * y / 50.0)).exp()
    };
    let names = |stem: &str, n: usize| (0..n).map(|d| format!("{stem}{d}")).collect();
    vec![
        ViewRelevance {
            view: "protein".into(),
            features: names("P", 60),
            relevance: (0..60)
                .map(|d| 18.0 / (1.0 + f64::from((d * 23) % 60)))
                .collect(),
            shape: None,
        },
        ViewRelevance {
            view: "scans".into(),
            features: names("pixel ", height * width),
            relevance: (0..height * width).map(spot).collect(),
            shape: Some([height, width]),
        },
    ]
}

/// Large weights are surely there, small ones hardly.
pub(crate) fn inclusion(weights: &[ViewWeights]) -> Vec<ViewInclusion> {
    let of_view = |w: &ViewWeights| ViewInclusion {
        view: w.view.clone(),
        features: w.features.clone(),
        probability: Grid::from_fn(w.means.rows(), w.means.columns(), |d, k| {
            let w: f64 = 3.0 * w.means.row(d)[k];
            w.powi(4) / (1.0 + w.powi(4))
        }),
    };
    weights.iter().take(2).map(of_view).collect()
}

pub(crate) fn weights(rng: &mut Lcg) -> Vec<ViewWeights> {
    let genes = [
        "ESR1", "GATA3", "FOXA1", "KRT5", "KRT17", "ERBB2", "MKI67", "TP53", "CDH1", "PGR",
        "AURKA", "EGFR",
    ];
    VIEWS
        .iter()
        .enumerate()
        .map(|(m, (view, features, _))| {
            let feature_names = (0..*features)
                .map(|d| match m {
                    0 => format!("{}_{:05}", genes[d % genes.len()], 140 + d),
                    1 => format!("{}-R-V{}", genes[(d * 5) % genes.len()], d % 3),
                    2 => format!(
                        "cg{:08}|{}|promoter|TSS1500",
                        1234 + 77 * d,
                        genes[(d * 7) % genes.len()]
                    ),
                    _ => genes[d % genes.len()].to_lowercase() + &format!(":p.R{}H", 100 + d),
                })
                .collect();
            let mut values = Vec::new();
            for _ in 0..*features {
                for k in 0..FACTORS {
                    let tail = if rng.uniform() < 0.04 { 3.0 } else { 0.5 };
                    values.push(
                        tail * STRENGTH[k][m].abs().sqrt() * rng.normal() + 0.01 * rng.normal(),
                    );
                }
            }
            ViewWeights {
                view: (*view).to_owned(),
                features: feature_names,
                sds: Some(Grid::from_fn(*features, FACTORS, |d, k| {
                    0.02 + 0.014 * ((d + 2 * k) % 7) as f64
                })),
                means: Grid::new(*features, FACTORS, values).unwrap_or_default(),
            }
        })
        .collect()
}

/// Skewness of features that the model takes for normal, standard deviations that it learns.
pub(crate) fn check(rng: &mut Lcg) -> PredictiveCheck {
    let mut statistic = |name: &str, level: f64, spread: f64, off: f64| {
        let replicated: Vec<f64> = (0..60).map(|_| level + spread * rng.normal()).collect();
        let observed: Vec<f64> = replicated
            .iter()
            .map(|r| r + off + 0.04 * rng.normal())
            .collect();
        let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
        CheckedStatistic {
            name: name.to_owned(),
            columns: (1..=60).map(|d| format!("P{d}")).collect(),
            lower: replicated.iter().map(|r| r - 0.08).collect(),
            upper: replicated.iter().map(|r| r + 0.08).collect(),
            p: vec![if off > 0.0 { 0.0 } else { 0.4 }; 60],
            mean_observed: mean(&observed),
            mean_replicated: vec![mean(&replicated)],
            instead_of_mean: None,
            mean_p: if off > 0.0 { 0.0 } else { 0.42 },
            observed,
            replicated,
        }
    };
    PredictiveCheck {
        view: "protein".into(),
        kind: Domain::Reals,
        samples: 300,
        replicates: 100,
        part: None,
        statistics: vec![
            statistic("standard deviation", 1.0, 0.2, 0.0),
            statistic("skewness", 0.0, 0.05, 0.4),
        ],
    }
}

/// A fit that is too sure of itself, against a sampler.
pub(crate) fn comparison(rng: &mut Lcg) -> Against {
    let mean: Vec<f64> = (0..1500).map(|_| rng.normal()).collect();
    let other_sd: Vec<f64> = (0..1500).map(|_| 0.3 + 0.1 * rng.uniform()).collect();
    let spreads = |median| Spreads {
        quantities: 1500,
        median,
        lower: 0.5,
        upper: 0.9,
    };
    let predictor = ComparedMoments {
        other_mean: mean.iter().map(|m| m + 0.1 * rng.normal()).collect(),
        sd: other_sd.iter().map(|s| 0.7 * s).collect(),
        mean,
        other_sd,
    };
    Against {
        name: "variational Bayes".into(),
        other: "Gibbs sampling".into(),
        found: Comparison {
            samples: 300,
            views: vec![ComparedView {
                view: "rna".into(),
                kind: Domain::Reals,
                predictor,
                correlation: 0.994,
                predictor_spread: spreads(0.7),
                weights: ComparedMoments::default(),
                weight_spread: spreads(0.93),
            }],
            notes: Vec::new(),
        },
    }
}

pub(crate) fn held_out(rng: &mut Lcg) -> Vec<HeldOut> {
    let numeric = |n: usize, noise: f64, unit: &str, rng: &mut Lcg| {
        let predicted: Vec<f64> = (0..n).map(|_| 1.4 * rng.normal()).collect();
        let truth: Vec<f64> = predicted.iter().map(|p| p + noise * rng.normal()).collect();
        let ends = |sign: f64| predicted.iter().map(|p| p + sign * 1.96 * noise).collect();
        let intervals = Some(Intervals {
            level: 0.95,
            lower: ends(-1.0),
            upper: ends(1.0),
        });
        HeldOutCells::Numeric {
            truth,
            predicted,
            intervals,
            unit: unit.to_owned(),
        }
    };
    let probability: Vec<f64> = (0..900).map(|_| rng.uniform().powi(2)).collect();
    let truth = probability
        .iter()
        .map(|p| f64::from(u8::from(rng.uniform() < *p)))
        .collect();
    let class: Vec<usize> = (0..160).map(|_| (rng.uniform() * 3.0) as usize).collect();
    let guess: Vec<usize> = class
        .iter()
        .map(|&c| if rng.uniform() < 0.8 { c } else { (c + 1) % 3 })
        .collect();
    let sure: Vec<f64> = guess.iter().map(|_| 0.5 + 0.45 * rng.uniform()).collect();
    let of_class = Grid::from_fn(guess.len(), 3, |i, c| {
        if guess[i] == c {
            sure[i]
        } else {
            0.5 * (1.0 - sure[i])
        }
    });
    vec![
        HeldOut {
            r2: Some(0.64),
            deviance_explained: None,
            view: "rna".into(),
            cells: numeric(24_000, 0.8, "log₂ counts", rng),
        },
        HeldOut {
            r2: Some(0.81),
            deviance_explained: None,
            view: "protein".into(),
            cells: numeric(100, 0.9, "", rng),
        },
        HeldOut {
            r2: Some(0.25),
            deviance_explained: None,
            view: "methylation".into(),
            cells: numeric(1800, 0.5, "M value", rng),
        },
        HeldOut {
            view: "mutations".into(),
            r2: None,
            deviance_explained: None,
            cells: HeldOutCells::Binary {
                truth,
                probability,
                labels: Vec::new(),
                label: Vec::new(),
            },
        },
        HeldOut {
            view: "stage".into(),
            r2: None,
            deviance_explained: None,
            cells: HeldOutCells::Classes {
                names: vec!["I".into(), "II".into(), "III or IV".into()],
                truth: class,
                predicted: guess,
                probability: Some(of_class),
            },
        },
    ]
}

pub(crate) fn summary(n: usize) -> Summary {
    let option = |section: &str, name: &str, value: &str, origin| OptionValue {
        section: section.into(),
        name: name.into(),
        value: value.into(),
        origin,
    };
    Summary {
        model: "mofa".into(),
        engine: "variational, full covariances".into(),
        views: VIEWS
            .iter()
            .enumerate()
            .map(|(m, (name, features, likelihood))| ViewSummary {
                name: (*name).to_owned(),
                samples: (n as f64 * [0.95, 0.74, 0.82, 0.9][m]) as usize,
                features: *features,
                likelihood: (*likelihood).to_owned(),
                missing: [0.0, 0.093, 0.0, 0.0][m],
            })
            .collect(),
        samples: n,
        factors_kept: FACTORS,
        factors_started: 10,
        sweeps: Some(118),
        outcome: "converged: bound and parameters still, twice running".into(),
        bound: Some(-412_169.61),
        seconds: Some(8.42),
        seed: Some(20_240_611),
        version: "polyview 0.1.0".into(),
        extra: vec![("Input".into(), "4 tables, joined on sample names".into())],
        options: vec![
            option("factors", "count", "10", Origin::Chosen),
            option("factors", "prior", "standard normal", Origin::Default),
            option("rna", "likelihood", "gaussian", Origin::Default),
            option("rna", "weights", "spike and slab with ARD", Origin::Default),
            option("fit", "tolerance", "1e-6", Origin::Chosen),
        ],
    }
}
