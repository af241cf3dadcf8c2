//! What unlabelled samples are worth.
//!
//! Few samples have labels, many have features alone, and it is those whose
//! labels are wanted. *Predictive*: fit the labelled ones, predict the others.
//! *Transductive* (semi-supervised): fit all, labels missing where they are
//! not known. One sees that the second is better where labelled samples are
//! few: the others show which directions the features share, and a label needs
//! only say which of those matter to it. With enough of them the gain is gone.
#![allow(clippy::print_stdout)]

use std::error::Error;

use polyview::{metrics, models};
use polyview_examples::{World, dataset, rows};
use polyview_linalg::Mat;

fn main() -> Result<(), Box<dyn Error>> {
    let mut spec = models::sshiba(8).with_likelihood("labels", "bernoulli");
    spec.vb.max_sweeps = 200;
    println!(
        "{:>8} {:>11} {:>13}",
        "labelled", "predictive", "transductive"
    );
    for labelled in [20, 40, 80, 160] {
        let repeats = 5;
        let (mut alone, mut together) = (0.0, 0.0);
        for seed in 1..=repeats {
            let world = World::new(500, 4, seed);
            let features = world.real(0, "features", 60, 2.5);
            let labels = world.labels(1, "labels", 5);
            let (known, wanted): (Vec<usize>, Vec<usize>) = (0..500).partition(|&n| n < labelled);
            let given = rows(&labels, &known);
            let truth = rows(&labels, &wanted).values;
            let area = |p: &Mat<f64>| -> Result<f64, Box<dyn Error>> {
                let areas = metrics::auc_by_label(truth.as_ref(), p.as_ref())?;
                Ok(areas
                    .macro_average()
                    .value()
                    .ok_or("a label without samples")?)
            };
            let data = dataset([rows(&features, &known), given.clone()])?;
            let fit = polyview::fit(data, spec.clone())?;
            let new = dataset([rows(&features, &wanted)])?;
            alone += area(&fit.predict(&new, "labels")?.mean)?;

            let fit = polyview::fit(dataset([features, given])?, spec.clone())?;
            let all = fit.fitted("labels")?.mean;
            let tail = Mat::from_fn(wanted.len(), all.ncols(), |n, d| all[(labelled + n, d)]);
            together += area(&tail)?;
        }
        let n = repeats as f64;
        println!("{labelled:>8} {:>11.3} {:>13.3}", alone / n, together / n);
    }
    Ok(())
}
