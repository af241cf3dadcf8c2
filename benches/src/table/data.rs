//! Halves of a data set: inputs of several views and the labels to predict.

use std::error::Error;
use std::path::Path;

use polyview_core::{Dataset, Table};
use polyview_io::{ReadOptions, read_string_table, read_table};
use polyview_linalg::Mat;
use polyview_random::{StreamKey, uniform_open01};

/// Samples with their inputs and their labels, rows in one order.
#[derive(Clone)]
pub struct Half {
    /// Input views.
    pub inputs: Vec<Table>,
    /// Labels 0 and 1, or one column of class codes with class names.
    pub target: Table,
}

impl Half {
    /// Number of samples.
    pub fn len(&self) -> usize {
        self.target.samples.len()
    }
    /// The samples `keep`.
    pub fn rows(&self, keep: &[usize]) -> Self {
        Self {
            inputs: self.inputs.iter().map(|t| rows(t, keep)).collect(),
            target: rows(&self.target, keep),
        }
    }
    /// The same samples under IDs that no other half has.
    pub fn renamed(mut self, prefix: &str) -> Self {
        for t in self
            .inputs
            .iter_mut()
            .chain(std::iter::once(&mut self.target))
        {
            for s in &mut t.samples {
                *s = format!("{prefix}{s}");
            }
        }
        self
    }
    /// Whether the target is one of several classes.
    pub fn is_classes(&self) -> bool {
        !self.target.levels.is_empty()
    }
    /// Zeros and ones, one column a label or class.
    pub fn indicators(&self) -> Mat<f64> {
        if !self.is_classes() {
            return self.target.values.clone();
        }
        Mat::from_fn(self.len(), self.target.levels.len(), |n, c| {
            f64::from(u8::from(self.target.values[(n, 0)] as usize == c))
        })
    }
    /// The class of each sample.
    pub fn classes(&self) -> Vec<Option<usize>> {
        (0..self.len())
            .map(|n| Some(self.target.values[(n, 0)] as usize))
            .collect()
    }
    /// Inputs and labels as a data set.
    ///
    /// # Errors
    /// What the data set refuses.
    pub fn dataset(&self) -> Result<Dataset, Box<dyn Error>> {
        let all = self.inputs.iter().chain(std::iter::once(&self.target));
        Ok(build(all.cloned())?)
    }
    /// The inputs alone.
    ///
    /// # Errors
    /// What the data set refuses.
    pub fn input_dataset(&self) -> Result<Dataset, Box<dyn Error>> {
        Ok(build(self.inputs.iter().cloned())?)
    }
    /// Missing input cells at the mean of their feature.
    pub fn mean_filled(mut self) -> Self {
        for t in &mut self.inputs {
            for d in 0..t.values.ncols() {
                let x = t.values.col_as_slice_mut(d);
                let seen: Vec<f64> = x.iter().copied().filter(|v| !v.is_nan()).collect();
                let mean = seen.iter().sum::<f64>() / seen.len().max(1) as f64;
                for v in x.iter_mut().filter(|v| v.is_nan()) {
                    *v = mean;
                }
            }
        }
        self
    }
    /// Hides each input cell with this probability.
    pub fn hiding(mut self, share: f64, seed: u64) -> Self {
        for (m, t) in self.inputs.iter_mut().enumerate() {
            for d in 0..t.values.ncols() {
                let key = StreamKey::new(seed).block(m as u32).chunk(d as u32);
                let mut rng = key.rng();
                for x in t.values.col_as_slice_mut(d) {
                    if uniform_open01(&mut rng) < share {
                        *x = f64::NAN;
                    }
                }
            }
        }
        self
    }
}

/// A data set of these tables.
pub fn build(tables: impl IntoIterator<Item = Table>) -> Result<Dataset, polyview_core::DataError> {
    tables
        .into_iter()
        .fold(Dataset::builder(), polyview_core::DatasetBuilder::view)
        .build()
}

/// The rows `keep` of a table.
pub fn rows(t: &Table, keep: &[usize]) -> Table {
    Table {
        name: t.name.clone(),
        samples: keep.iter().map(|&n| t.samples[n].clone()).collect(),
        features: t.features.clone(),
        levels: t.levels.clone(),
        values: Mat::from_fn(keep.len(), t.values.ncols(), |n, d| t.values[(keep[n], d)]),
    }
}

/// Two tables of the same features, one below the other.
pub fn stacked(top: &Table, bottom: &Table) -> Table {
    let above = top.values.nrows();
    Table {
        samples: [top.samples.as_slice(), &bottom.samples].concat(),
        values: Mat::from_fn(above + bottom.values.nrows(), top.values.ncols(), |n, d| {
            if n < above {
                top.values[(n, d)]
            } else {
                bottom.values[(n - above, d)]
            }
        }),
        ..top.clone()
    }
}

/// `train_features.csv`, `train_labels.csv`, `test_features.csv` and
/// `test_labels.csv` of a folder.
///
/// # Errors
/// What cannot be read.
pub fn labelled(folder: &Path) -> Result<(Half, Half), Box<dyn Error>> {
    let half = |name: &str| -> Result<Half, Box<dyn Error>> {
        let table = |what: &str| {
            let path = folder.join(format!("{name}_{what}.csv"));
            read_table(path, &ReadOptions::named(what))
        };
        let half = Half {
            inputs: vec![table("features")?],
            target: table("labels")?,
        };
        if half.inputs[0].samples != half.target.samples {
            return Err(format!("samples of the {name} half are in two orders").into());
        }
        Ok(half.renamed(&format!("{name}-")))
    };
    Ok((half("train")?, half("test")?))
}

/// Views `inputs` and the column of classes in `target` of a folder; file names
/// without `.csv`. Levels are given or else collected, sorted.
///
/// # Errors
/// What cannot be read, a class that is missing or not among the levels.
pub fn classed(
    folder: &Path,
    prefix: &str,
    inputs: &[&str],
    target: &str,
    levels: Option<&[String]>,
) -> Result<Half, Box<dyn Error>> {
    let file = |name: &str| folder.join(format!("{prefix}{name}.csv"));
    let words = read_string_table(file(target), &ReadOptions::named("labels"))?;
    let column = words.values.first().ok_or("no column of classes")?;
    let of_sample: Vec<String> = column
        .iter()
        .map(|w| w.clone().ok_or("a sample without class"))
        .collect::<Result<_, _>>()?;
    let levels = if let Some(l) = levels {
        l.to_vec()
    } else {
        let mut l = of_sample.clone();
        l.sort_unstable();
        l.dedup();
        l
    };
    let codes: Vec<usize> = of_sample
        .iter()
        .map(|w| levels.iter().position(|l| l == w).ok_or("unknown class"))
        .collect::<Result<_, _>>()?;
    let mut tables = Vec::new();
    for name in inputs {
        let t = read_table(file(name), &ReadOptions::named(*name))?;
        if t.samples != words.samples {
            return Err(format!("samples of '{name}' and '{target}' are in two orders").into());
        }
        tables.push(t);
    }
    Ok(Half {
        inputs: tables,
        target: Table {
            name: "labels".to_owned(),
            values: Mat::from_fn(codes.len(), 1, |n, _| codes[n] as f64),
            samples: words.samples,
            features: vec![target.to_owned()],
            levels,
        },
    })
}
