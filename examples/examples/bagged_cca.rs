//! The toy of the thesis' chapter on regularised bagged CCA (spec/thesis 15.3): four classes, 600 features that know
//! them and 1400 that do not. Bags within each class find the features; bags over all classes at once hardly one,
//! as signs of different classes cancel. Components of the features that were kept tell the classes of new samples apart.
//!
//! File names ending in `.svg` on the command line save the components, and the relevance of the features, as pictures:
//! `cargo run --release -p polyview-examples --example bagged_cca components.svg relevance.svg`.
#![allow(clippy::print_stdout)]

use polyview::{Metadata, MetadataValues};
use polyview_linalg::{Mat, MatRef};
use polyview_mva::{
    Bagging, BaggingOptions, Metric, RbCca, RbCcaOptions, TuningOptions, balanced_accuracy,
    class_indicators, classifier, dual,
};
use polyview_random::{StreamKey, standard_normal, uniform_open01};
use polyview_report::{Factors, Grid, Options, ViewRelevance, draw_factor_pair, draw_relevance};

const CLASSES: usize = 4;
const SAMPLES: usize = 70;
const RELEVANT: usize = 600;
const NOISE: usize = 1400;

/// Training samples, and as many new ones behind them, with their classes.
fn toy(seed: u64) -> (Mat<f64>, Vec<usize>) {
    let mut rng = StreamKey::new(seed).rng();
    let each = CLASSES * SAMPLES;
    let labels: Vec<usize> = (0..2 * each).map(|n| n % each / SAMPLES).collect();
    // three markers at plus and minus 2: the bits of the class, and one that is the same for all
    let corner = |class: usize, j: usize| match j {
        1 if class >= 2 => 2.0,
        2 if class % 2 == 1 => 2.0,
        _ => -2.0,
    };
    let markers = Mat::from_fn(2 * each, 3, |n, j| {
        corner(labels[n], j) + 0.5 * standard_normal(&mut rng)
    });
    let map = Mat::from_fn(3, RELEVANT, |_, _| 2.0 * uniform_open01(&mut rng) - 1.0);
    let signal = &markers * &map;
    let x = Mat::from_fn(2 * each, RELEVANT + NOISE, |n, d| {
        if d < RELEVANT {
            signal[(n, d)]
        } else {
            2.0 * uniform_open01(&mut rng) - 1.0
        }
    });
    (x, labels)
}

/// How many of some features are relevant, and how many noise.
fn counted(selected: &[usize]) -> (usize, usize) {
    let relevant = selected.iter().filter(|d| **d < RELEVANT).count();
    (relevant, selected.len() - relevant)
}

/// Features that bags over all classes at once select.
fn pooled(fit: &RbCca, x: MatRef<'_, f64>, labels: &[usize]) -> Result<Vec<usize>, Error> {
    let x = fit.standard().apply(x)?;
    let y = class_indicators(labels, CLASSES)?;
    let first = dual(
        x.as_ref(),
        y.as_ref(),
        CLASSES - 1,
        Metric::Correlation,
        1.0,
    )?;
    // one class of all samples but two, which are there as a second one is needed
    let all: Vec<usize> = (0..labels.len()).map(|n| usize::from(n < 2)).collect();
    let options = BaggingOptions {
        balanced: false,
        ..BaggingOptions::default()
    };
    let bags = Bagging::run(x.as_ref(), first.weights.as_ref(), &all, &options)?;
    Ok(bags.select(0.01)?.swap_remove(0))
}

type Error = Box<dyn std::error::Error>;

fn main() -> Result<(), Error> {
    let (all, labels) = toy(7);
    let n = CLASSES * SAMPLES;
    let (x, new) = (all.subrows(0, n), all.subrows(n, n));
    let (known, truth) = (&labels[..n], &labels[n..]);

    let tuning = TuningOptions {
        folds: 5,
        ..TuningOptions::default()
    };
    let (fit, tuned) = RbCca::tuned(x, known, &RbCcaOptions::default(), &tuning)?;
    println!("penalty {:.3e} of 17, by folds", tuned.penalty());
    for class in 0..CLASSES {
        let (relevant, noise) = counted(fit.selected_for(class).unwrap_or_default());
        println!("class {class}: {relevant} relevant features and {noise} of noise pass the test");
    }
    let (relevant, noise) = counted(fit.selected());
    println!("of any class: {relevant} of {RELEVANT} and {noise} of {NOISE}");
    let (relevant, noise) = counted(&pooled(&fit, x, known)?);
    println!("bags over all classes at once: {relevant} and {noise}");
    let b = fit.bagging().relevance();
    let mean = |from: usize, to: usize| {
        let cells = (from..to).flat_map(|d| (0..CLASSES).map(move |c| (d, c)));
        cells.map(|at| b[at]).sum::<f64>() / (CLASSES * (to - from)) as f64
    };
    println!(
        "mean relevance {:.2}, of noise {:.2}",
        mean(0, RELEVANT),
        mean(RELEVANT, RELEVANT + NOISE)
    );

    let z = fit.project(x)?;
    let machine = classifier(z.as_ref(), known, tuning.cost, true)?;
    let new = fit.project(new)?;
    println!(
        "balanced accuracy on new samples {:.3}, on folds {:.3}",
        balanced_accuracy(truth, &machine.predict(new.as_ref())?)?,
        tuned.accuracy[tuned.chosen]
    );

    let mut names = std::env::args().skip(1);
    if let Some(path) = names.next() {
        std::fs::write(&path, components(&new, truth)?)?;
        println!("components of the new samples: {path}");
    }
    if let Some(path) = names.next() {
        std::fs::write(&path, relevance(&b)?)?;
        println!("relevance of the features: {path}");
    }
    Ok(())
}

/// New samples by their first two components, coloured by class.
fn components(z: &Mat<f64>, labels: &[usize]) -> Result<String, Error> {
    let cells = (0..z.nrows()).flat_map(|n| z.row(n).iter().copied().collect::<Vec<_>>());
    let factors = Factors {
        samples: (0..z.nrows()).map(|n| format!("new {n}")).collect(),
        names: (1..=z.ncols()).map(|k| format!("Component {k}")).collect(),
        means: Grid::new(z.nrows(), z.ncols(), cells.collect())?,
        sds: None,
    };
    let class = |c: &usize| Some(format!("class {c}"));
    let colour = Metadata {
        name: "class".into(),
        values: MetadataValues::Categories(labels.iter().map(class).collect()),
    };
    Ok(draw_factor_pair(&factors, (0, 1), Some(&colour), &Options::default())?.to_svg())
}

/// The largest relevance of each feature over the classes as an image of 40 rows: the first twelve are the relevant
/// features. In units of the median, as pictures of relevance are.
fn relevance(b: &Mat<f64>) -> Result<String, Error> {
    let largest = |d: usize| b.row(d).iter().fold(0.0_f64, |m, v| m.max(*v));
    let mut sorted: Vec<f64> = (0..b.nrows()).map(largest).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let median = sorted[sorted.len() / 2];
    let of = ViewRelevance {
        view: "toy".into(),
        features: (0..b.nrows()).map(|d| format!("feature {d}")).collect(),
        relevance: (0..b.nrows()).map(|d| largest(d) / median).collect(),
        shape: Some([40, 50]),
    };
    Ok(draw_relevance(&of, 20)?.to_svg())
}
