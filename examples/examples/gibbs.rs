//! Where variational Bayes is too sure of itself: the same model by both
//! engines.
#![allow(clippy::print_stdout)]

use polyview::{EngineKind, models};
use polyview_datasets::{SimulationOptions, simulate_factor_data};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let truth = simulate_factor_data(&SimulationOptions::new(60, &[15, 10], 2, 3))?;
    let vb = polyview::fit(truth.dataset.clone(), models::bibfa(2))?;
    let mut spec = models::bibfa(2);
    spec.engine = EngineKind::Gibbs;
    let gibbs = polyview::fit(truth.dataset, spec)?;
    for d in &gibbs.record().diagnostics {
        println!(
            "{}: R-hat {:.3}, effective size {:.0}",
            d.quantity, d.summary.rhat, d.summary.ess_bulk
        );
    }
    let mean_sd = |m: &polyview_linalg::Mat<f64>| {
        let mut sum = 0.0;
        for j in 0..m.ncols() {
            for i in 0..m.nrows() {
                sum += m[(i, j)];
            }
        }
        sum / (m.nrows() * m.ncols()) as f64
    };
    let (a, b) = (mean_sd(&vb.factors()?.sd), mean_sd(&gibbs.factors()?.sd));
    println!(
        "mean posterior sd of the factors: variational {a:.3}, Gibbs {b:.3} ({:.2} times)",
        b / a
    );
    Ok(())
}
