//! Simulated data with holes: what was hidden, and what comes back.
#![allow(clippy::print_stdout)]

use polyview::models;
use polyview_datasets::{Missing, SimulationOptions, simulate_factor_data};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut options = SimulationOptions::new(150, &[40, 25], 4, 1);
    options.missing = Missing {
        cells: 0.2,
        ..Missing::default()
    };
    let truth = simulate_factor_data(&options)?;
    let fit = polyview::fit(truth.dataset.clone(), models::bibfa(10))?;
    println!(
        "{} factors found, {} simulated",
        fit.k(),
        truth.factors.ncols()
    );
    for (m, view) in truth.dataset.views().iter().enumerate() {
        let filled = fit.impute(view.name(), 0.95)?;
        let (mut inside, mut hidden, mut squares) = (0.0, 0.0, 0.0);
        for d in 0..view.n_features() {
            for n in 0..view.n_samples() {
                if !view.is_observed(n, d) {
                    let x = truth.complete[m][(n, d)];
                    hidden += 1.0;
                    squares += (x - filled.values[(n, d)]).powi(2);
                    if filled.lower[(n, d)] <= x && x <= filled.upper[(n, d)] {
                        inside += 1.0;
                    }
                }
            }
        }
        println!(
            "{}: {hidden} hidden values, error {:.2}, {:.1} % inside the 95 % interval",
            view.name(),
            f64::sqrt(squares / hidden),
            100.0 * inside / hidden
        );
    }
    Ok(())
}
