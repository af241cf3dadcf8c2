//! Runnable examples of polyview, and the simulated data that they share.
#![allow(clippy::print_stdout)]

use polyview::metrics::{MetricError, real_by_column};
use polyview_core::{DataError, Dataset, DatasetBuilder, Table};
use polyview_linalg::{Mat, MatRef, times_small};
use polyview_random::{
    ChaCha8Rng, RandomError, StreamKey, gamma, poisson, standard_normal, uniform_open01,
};
use polyview_report::{ViewRelevance, draw_relevance};

/// Samples of some common factors, seen in as many ways as one likes.
pub struct World {
    /// Factors, samples × factors.
    pub factors: Mat<f64>,
    /// Sample IDs.
    pub samples: Vec<String>,
    seed: u64,
}

impl World {
    /// So many samples of so many factors.
    pub fn new(samples: usize, factors: usize, seed: u64) -> Self {
        let mut rng = StreamKey::new(seed).rng();
        Self {
            factors: normal(samples, factors, &mut rng),
            samples: (1..=samples).map(|n| format!("s{n}")).collect(),
            seed,
        }
    }

    /// Predictor of a view, each column of variance about `size`².
    fn predictor(&self, features: usize, size: f64, rng: &mut ChaCha8Rng) -> Mat<f64> {
        let k = self.factors.ncols();
        let w = normal(k, features, rng);
        times_small(self.factors.as_ref(), w.as_ref()) * (size / (k as f64).sqrt())
    }

    fn table(&self, name: &str, levels: &[&str], values: Mat<f64>) -> Table {
        Table {
            name: name.to_owned(),
            samples: self.samples.clone(),
            features: (1..=values.ncols())
                .map(|d| format!("{name} {d}"))
                .collect(),
            levels: levels.iter().map(|&l| l.to_owned()).collect(),
            values,
        }
    }

    fn stream(&self, view: u32) -> ChaCha8Rng {
        StreamKey::new(self.seed).block(view + 1).rng()
    }

    /// Real numbers with noise of standard deviation `noise`; `view` numbers
    /// the views, which differ.
    pub fn real(&self, view: u32, name: &str, features: usize, noise: f64) -> Table {
        let mut rng = self.stream(view);
        let mut x = self.predictor(features, 1.0, &mut rng);
        for d in 0..features {
            for v in x.col_as_slice_mut(d) {
                *v += noise * standard_normal(&mut rng);
            }
        }
        self.table(name, &[], x)
    }

    /// Labels 0 and 1, each with probability $\sigma(\eta)$.
    pub fn labels(&self, view: u32, name: &str, labels: usize) -> Table {
        let mut rng = self.stream(view);
        let mut x = self.predictor(labels, 2.5, &mut rng);
        for d in 0..labels {
            for v in x.col_as_slice_mut(d) {
                let p = 1.0 / (1.0 + (-*v).exp());
                *v = f64::from(u8::from(uniform_open01(&mut rng) < p));
            }
        }
        self.table(name, &[], x)
    }

    /// Negative binomial counts of mean $e^\eta$ and that size: the smaller, the
    /// more they vary beyond Poisson counts. Features differ in their level.
    ///
    /// # Errors
    /// For a size that is not positive.
    pub fn counts(
        &self,
        view: u32,
        name: &str,
        features: usize,
        size: f64,
    ) -> Result<Table, RandomError> {
        let mut rng = self.stream(view);
        let mut x = self.predictor(features, 0.8, &mut rng);
        for d in 0..features {
            let level = 2.5 + 1.5 * standard_normal(&mut rng);
            for v in x.col_as_slice_mut(d) {
                let rate = (level + *v).exp() * gamma(&mut rng, size, size)?;
                *v = poisson(&mut rng, rate)?;
            }
        }
        Ok(self.table(name, &[], x))
    }

    /// One class of these a sample: that of the largest noisy score.
    pub fn classes(&self, view: u32, name: &str, levels: &[&str]) -> Table {
        let mut rng = self.stream(view);
        let scores = self.predictor(levels.len(), 3.0, &mut rng);
        let noise = normal(scores.nrows(), scores.ncols(), &mut rng);
        let score = |n: usize, c: usize| scores[(n, c)] + noise[(n, c)];
        let codes = Mat::from_fn(scores.nrows(), 1, |n, _| {
            (1..levels.len()).fold(0, |b, c| if score(n, c) > score(n, b) { c } else { b }) as f64
        });
        self.table(name, levels, codes)
    }
}

fn normal(rows: usize, columns: usize, rng: &mut ChaCha8Rng) -> Mat<f64> {
    Mat::from_fn(rows, columns, |_, _| standard_normal(rng))
}

/// Some rows of a table.
pub fn rows(table: &Table, keep: &[usize]) -> Table {
    Table {
        samples: keep.iter().map(|&n| table.samples[n].clone()).collect(),
        values: Mat::from_fn(keep.len(), table.values.ncols(), |n, d| {
            table.values[(keep[n], d)]
        }),
        ..table.clone()
    }
}

/// A data set of these tables, joined by sample IDs.
///
/// # Errors
/// What a data set refuses.
pub fn dataset(tables: impl IntoIterator<Item = Table>) -> Result<Dataset, DataError> {
    tables
        .into_iter()
        .fold(Dataset::builder(), DatasetBuilder::view)
        .build()
}

/// $R^2$ of predictions against the truth, over all cells: squared error against
/// each column's mean over the training values.
///
/// # Errors
/// When the shapes differ or a prediction is not finite.
pub fn r2(
    truth: MatRef<'_, f64>,
    predicted: MatRef<'_, f64>,
    training_means: &[f64],
) -> Result<f64, MetricError> {
    let found = real_by_column(truth, predicted, Some(training_means))?;
    Ok(found.all.r2.unwrap_or(f64::NAN))
}

/// Mean of each column over its known values.
pub fn means(table: MatRef<'_, f64>) -> Vec<f64> {
    let known = |d: usize| table.col(d).iter().filter(|x| !x.is_nan());
    let mean = |d: usize| known(d).sum::<f64>() / known(d).count() as f64;
    (0..table.ncols()).map(mean).collect()
}
/// Saves what each pixel of an image counts as a picture, where the command line names a file for it (its first argument).
///
/// # Errors
/// A shape that is not that of the pixels; a file that cannot be written.
pub fn save_mask(
    features: Vec<String>,
    relevance: Vec<f64>,
    shape: [usize; 2],
) -> Result<(), Box<dyn std::error::Error>> {
    let Some(path) = std::env::args().nth(1) else {
        return Ok(());
    };
    let mask = ViewRelevance {
        view: "pix".to_owned(),
        features,
        relevance,
        shape: Some(shape),
    };
    std::fs::write(&path, draw_relevance(&mask, 20)?.to_svg())?;
    println!("mask saved in {path}");
    Ok(())
}

/// A matrix as lines of signs, two for each entry: blank for the quarter of the entries that are least, then ever darker.
pub fn shades(image: &Mat<f64>) -> Vec<String> {
    let entries = |i: usize| (0..image.ncols()).map(move |j| image[(i, j)]);
    let mut sorted: Vec<f64> = (0..image.nrows()).flat_map(entries).collect();
    sorted.sort_by(f64::total_cmp);
    let sign = |x: f64| {
        let below = sorted.partition_point(|s| *s < x);
        [' ', '.', '+', '#'][4 * below / sorted.len()]
    };
    let line = |i: usize| entries(i).flat_map(|x| [sign(x); 2]).collect();
    (0..image.nrows()).map(line).collect()
}
