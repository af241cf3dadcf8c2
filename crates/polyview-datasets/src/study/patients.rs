//! A study of counts and labels. No real data of that kind are embedded, so
//! these are drawn from the simulator of factor data, and say so.

use polyview_core::Table;
use polyview_linalg::Mat;
use polyview_random::{StreamKey, poisson, standard_normal};

use super::{Contents, Role, Study, StudyTable, numbers, view, words};
use crate::{Activity, Labels, Missing, Noise, SimulationOptions, simulate_factor_data};

const SAMPLES: usize = 200;
const GENES: usize = 80;
const DRUGS: usize = 20;
const SEED: u64 = 20;
/// Log of the reads that a gene has on average, and how it differs by gene.
const LEVEL: (f64, f64) = (6.0, 1.2);
/// Standard deviation that a weight of one gives a log count.
const SIZE: f64 = 0.35;

pub(super) static PATIENTS: Study = Study {
    name: "patients",
    summary: "200 simulated patients: sequencing reads, answers to drugs, two labels",
    samples: SAMPLES,
    contents: &[
        view(
            "counts",
            GENES,
            "poisson-log-normal",
            "sequencing reads of genes, hundreds on average",
        ),
        view(
            "drugs",
            DRUGS,
            "gaussian",
            "answers to drugs, a tenth missing",
        ),
        Contents {
            name: "patients",
            columns: 2,
            what: "relapse and response, yes or no",
            role: Role::Labels("svm"),
        },
    ],
    source: None,
    whole: false,
    load,
};

/// Four factors: two that all tables share, one that drives reads alone, one
/// that drives drugs and labels.
///
/// Reads are Poisson counts of log-normal rates: $y\_{nd} \sim \mathrm{Poisson}(e^{b\_d +
/// x\_{nd}})$ with $x$ a Gaussian view. A label is the sign of another one.
fn load() -> Vec<StudyTable> {
    let simulated = simulate_factor_data(&SimulationOptions {
        activity: Activity::Given(vec![
            vec![true, true, true, false],
            vec![true, true, false, true],
            vec![true, true, false, true],
        ]),
        noise: Noise::Share(0.25),
        missing: Missing {
            cells: 0.1,
            ..Missing::default()
        },
        ..SimulationOptions::new(SAMPLES, &[GENES, DRUGS, 2], 4, SEED)
    })
    .expect("the options of this simulation are constants, and tested");
    let samples: Vec<String> = (1..=SAMPLES).map(|n| format!("patient{n:03}")).collect();
    let table = |prefix: &str, values: Mat<f64>| Table {
        name: String::new(),
        samples: samples.clone(),
        features: (1..=values.ncols())
            .map(|d| format!("{prefix}{d:02}"))
            .collect(),
        levels: Vec::new(),
        values,
    };
    let drugs = simulated.dataset.views()[1].to_values_with_nan();
    // with the digits of a measurement; holes stay holes
    let drugs = Mat::from_fn(drugs.nrows(), drugs.ncols(), |n, d| {
        (drugs[(n, d)] * 1000.0).round() / 1000.0
    });
    let scores = &simulated.complete[2];
    let labels = ["relapse", "response"].into_iter().enumerate();
    let labels = labels.map(|(d, name)| {
        let word = |n| if scores[(n, d)] > 0.0 { "yes" } else { "no" }.to_owned();
        let words: Vec<String> = (0..SAMPLES).map(word).collect();
        Labels::new(name, samples.clone(), &words)
    });
    vec![
        numbers("counts", table("gene", reads(&simulated.complete[0]))),
        numbers("drugs", table("drug", drugs)),
        words("patients", labels.collect()),
    ]
}

/// Poisson counts about these log rates, each gene at a level of its own.
fn reads(log_rates: &Mat<f64>) -> Mat<f64> {
    let mut out = Mat::zeros(log_rates.nrows(), log_rates.ncols());
    for d in 0..log_rates.ncols() {
        // beyond the blocks that the simulator itself draws from
        let key = StreamKey::new(SEED).block(u32::MAX).chunk(d as u32);
        let mut rng = key.rng();
        let level = LEVEL.0 + LEVEL.1 * standard_normal(&mut rng);
        let rates = log_rates.col_as_slice(d).iter();
        for (y, x) in out.col_as_slice_mut(d).iter_mut().zip(rates) {
            *y = poisson(&mut rng, (level + SIZE * x).exp())
                .expect("a rate is positive and far below the largest");
        }
    }
    out
}
