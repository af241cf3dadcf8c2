//! Forty mice: genes and lipids together, one predicted from the other.
#![allow(clippy::print_stdout)]

use polyview::{ProjectOptions, models};
use polyview_core::Dataset;
use polyview_datasets::{nutrimouse, nutrimouse_tables};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let fit = polyview::fit(nutrimouse(), models::bibfa(10))?;
    let explained = fit.explain()?;
    for (view, total) in explained.views.iter().zip(&explained.total) {
        println!(
            "{view}: {:.1} % explained by {} factors",
            100.0 * total,
            fit.k()
        );
    }
    // the same mice seen through their genes alone
    let genes = nutrimouse_tables().remove(0);
    let new = Dataset::builder().view(genes).build()?;
    let factors = fit.project(&new, &ProjectOptions::default())?;
    println!(
        "first mouse: factor 1 = {:.2} ± {:.2}",
        factors.mean[(0, 0)],
        factors.sd[(0, 0)]
    );
    let lipids = fit.predict(&new, "lipid")?;
    println!(
        "its {}: {:.2} ± {:.2}",
        lipids.features[0],
        lipids.mean[(0, 0)],
        lipids.sd[(0, 0)]
    );
    Ok(())
}
