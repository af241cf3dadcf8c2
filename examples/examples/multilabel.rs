//! Several labels a sample from real features.
//!
//! With a folder of `train_features.csv`, `train_labels.csv`,
//! `test_features.csv` and `test_labels.csv` on the command line: those data;
//! else simulated ones. One sees how well each label of the test half is told
//! from its absence (area under the curve), what its probabilities are worth
//! (log loss, in nats, beside that of its mere frequency), and the labels of
//! the first test sample.
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::path::Path;

use polyview::{metrics, models};
use polyview_core::Table;
use polyview_examples::{World, dataset, rows};
use polyview_io::{ReadOptions, read_table};

struct Half {
    features: Table,
    labels: Table,
}

fn read(folder: &Path, half: &str) -> Result<Half, Box<dyn Error>> {
    let table = |what: &str| {
        read_table(
            folder.join(format!("{half}_{what}.csv")),
            &ReadOptions::named(what),
        )
    };
    Ok(Half {
        features: table("features")?,
        labels: table("labels")?,
    })
}

fn simulated() -> [Half; 2] {
    let world = World::new(400, 4, 1);
    let features = world.real(0, "features", 40, 1.0);
    let labels = world.labels(1, "labels", 6);
    let part = |range: std::ops::Range<usize>| {
        let keep: Vec<usize> = range.collect();
        Half {
            features: rows(&features, &keep),
            labels: rows(&labels, &keep),
        }
    };
    [part(0..250), part(250..400)]
}

fn main() -> Result<(), Box<dyn Error>> {
    let [train, test] = match std::env::args().nth(1) {
        Some(folder) => [
            read(Path::new(&folder), "train")?,
            read(Path::new(&folder), "test")?,
        ],
        None => simulated(),
    };
    let mut spec = models::sshiba(15).with_likelihood("labels", "bernoulli");
    spec.vb.max_sweeps = 300;
    let names = train.labels.features.clone();
    let shares: Vec<f64> = (0..names.len())
        .map(|d| {
            let labels = train.labels.values.col_as_slice(d);
            labels.iter().sum::<f64>() / labels.len() as f64
        })
        .collect();
    let fit = polyview::fit(dataset([train.features, train.labels])?, spec)?;
    println!("{} factors", fit.k());

    let p = fit.predict(&dataset([test.features])?, "labels")?;
    println!(
        "{:<20} {:>6} {:>9} {:>12}",
        "label", "AUC", "log loss", "of frequency"
    );
    for (d, name) in names.iter().enumerate() {
        let truth: Vec<bool> = test
            .labels
            .values
            .col_as_slice(d)
            .iter()
            .map(|&t| t == 1.0)
            .collect();
        let known = p.mean.col_as_slice(d);
        let auc = metrics::auc(&truth, known)?.unwrap_or(f64::NAN);
        let loss = metrics::log_loss(&truth, known)?.mean.unwrap_or(f64::NAN);
        let blind = metrics::log_loss(&truth, &vec![shares[d]; truth.len()])?;
        let blind = blind.mean.unwrap_or(f64::NAN);
        println!("{name:<20} {auc:>6.3} {loss:>9.3} {blind:>12.3}");
    }
    let areas = metrics::auc_by_label(test.labels.values.as_ref(), p.mean.as_ref())?;
    if let Some(a) = areas.weighted_average().over_defined {
        println!("weighted by prevalence: {a:.3}");
    }
    println!("sample {}:", p.samples[0]);
    for (d, name) in names.iter().enumerate() {
        let truth = test.labels.values[(0, d)];
        println!("  {name}: probability {:.2}, truth {truth}", p.mean[(0, d)]);
    }
    Ok(())
}
