//! Fixtures of the verbs' tests.

mod adjust;
mod alone;
mod anew;
mod censored;
mod centre;
mod checks;
mod choose;
mod compare;
mod count_notes;
mod counts;
mod cross_validate;
mod curved;
mod discriminative;
mod endings;
mod explain;
mod far_off;
mod far_steps;
mod few_features;
mod following;
mod groups;
mod hold_out;
mod holes;
mod impute;
mod kernel_features;
mod kernels;
mod kinds_of_sources;
mod labels;
mod levels;
mod log_counts;
mod many_samples;
mod mixture;
mod mofa;
mod new_samples;
mod noise_first;
mod normal_scores;
mod own_clusters;
mod plain_predictors;
mod plug_in;
mod polish;
mod predict;
mod project;
mod rank_intervals;
mod rank_levels;
mod rank_noise;
mod rank_notes;
mod rank_shares;
mod ranks;
mod rare_labels;
mod repeated_features;
mod rest;
mod settle;
mod settle_features;
mod shares;
mod shrinkage;
mod silent_features;
mod similarity;
mod small_folds;
mod stacking;
mod together;
mod told_groups;
mod uncertain;
mod undone_offsets;
mod unobserved;
mod update;
mod weights;
mod widths;

use polyview_core::{Dataset, Table, View};
use polyview_datasets::{Missing, Noise, SimulationOptions, simulate_factor_data};
use polyview_likelihoods::NoiseBy;
use polyview_linalg::Mat;

use crate::spec::{EngineKind, GibbsOptions, ModelSpec};
use crate::{Fit, models};

/// Views of 7 and 5 features, two factors, a fifth of the variance noise.
fn simulated(samples: usize, seed: u64, missing: Missing) -> Dataset {
    let options = SimulationOptions {
        missing,
        intercept_sd: 2.0,
        noise: Noise::Share(0.2),
        ..SimulationOptions::new(samples, &[7, 5], 2, seed)
    };
    simulate_factor_data(&options).unwrap().dataset
}

fn cells(share: f64) -> Missing {
    Missing {
        cells: share,
        ..Missing::default()
    }
}

/// One noise precision a view, as the formulas of most tests have it.
fn noise_by_view(factors: usize) -> ModelSpec {
    let mut spec = models::bibfa(factors);
    spec.defaults.noise = NoiseBy::View;
    spec
}

fn vb(data: Dataset, factors: usize) -> Fit {
    crate::fit(data, noise_by_view(factors)).unwrap()
}

/// A Gibbs fit of some forty draws.
fn gibbs(data: Dataset, factors: usize) -> Fit {
    let spec = ModelSpec {
        engine: EngineKind::Gibbs,
        gibbs: GibbsOptions {
            chains: 2,
            warm_up: 60,
            sweeps: 100,
            thin: 5,
            ..GibbsOptions::default()
        },
        ..noise_by_view(factors)
    };
    crate::fit(data, spec).unwrap()
}

/// The same data with the given views only, each through `f`.
fn rebuilt(data: &Dataset, keep: &[&str], f: impl Fn(&View) -> Table) -> Dataset {
    let mut builder = Dataset::builder();
    for name in keep {
        builder = builder.view(f(data.view(name).unwrap()));
    }
    builder.build().unwrap()
}

fn table(data: &Dataset, view: &View) -> Table {
    Table {
        name: view.name().to_owned(),
        samples: data.samples().to_vec(),
        features: view.features().to_vec(),
        values: view.to_values_with_nan(),
        levels: view.levels().to_vec(),
    }
}

/// One view with its numbers of trials, alone.
fn rebuilt_with_trials(data: &Dataset, name: &str) -> Dataset {
    let view = data.view(name).unwrap();
    let trials = view.trials().unwrap().as_ref().clone();
    Dataset::builder()
        .view(table(data, view))
        .trials(Table {
            values: trials,
            ..table(data, view)
        })
        .build()
        .unwrap()
}

/// Some samples of a data set, by place.
fn rows(data: &Dataset, keep: &[usize]) -> Dataset {
    let mut builder = Dataset::builder();
    for v in data.views() {
        let all = v.to_values_with_nan();
        builder = builder.view(Table {
            name: v.name().to_owned(),
            samples: keep.iter().map(|&n| data.samples()[n].clone()).collect(),
            features: v.features().to_vec(),
            values: Mat::from_fn(keep.len(), all.ncols(), |n, d| all[(keep[n], d)]),
            levels: v.levels().to_vec(),
        });
    }
    builder.build().unwrap()
}

/// Largest absolute difference of two matrices of one shape.
fn gap(a: &Mat<f64>, b: &Mat<f64>) -> f64 {
    assert_eq!((a.nrows(), a.ncols()), (b.nrows(), b.ncols()));
    let mut worst = 0.0;
    for j in 0..a.ncols() {
        for i in 0..a.nrows() {
            let d = (a[(i, j)] - b[(i, j)]).abs();
            assert!(!d.is_nan(), "({i}, {j}) is not a number");
            worst = f64::max(worst, d);
        }
    }
    worst
}
