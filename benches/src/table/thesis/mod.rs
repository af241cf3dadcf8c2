//! Tables 4.9, 4.11 and 4.12 of the thesis of kernel SSHIBA (spec/thesis 10) from data that are at hand: folds, real targets and
//! R² by target, beside the thesis' own figures.

mod coordinates;
mod numbers;
mod relevance;
mod several;

pub use self::numbers::numbers;
pub use self::relevance::relevance_vectors;
pub use self::several::several_kernels;

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use polyview::{ModelSpec, Settle, models};
use polyview_baselines::{Design, parts, stratified};
use polyview_core::Table;
use polyview_io::{ReadOptions, read_table};
use polyview_linalg::Mat;

use super::data::Half;
use super::options::Options;
use crate::sheet::NOTHING;

/// The view that has no kernel.
const PLAIN: &str = "plain";
/// Sets of real targets.
const SETS: [&str; 3] = ["atp1d", "edm", "jura"];

/// The sets that are wanted.
fn wanted(o: &Options) -> Result<Vec<&'static str>, Box<dyn Error>> {
    if let Some(other) = o.sets.iter().find(|s| !SETS.contains(&s.as_str())) {
        return Err(format!(
            "no set '{other}' in this table; there are {}",
            SETS.join(", ")
        )
        .into());
    }
    let is_wanted = |name: &&str| o.sets.is_empty() || o.sets.iter().any(|s| s == name);
    Ok(SETS.into_iter().filter(is_wanted).collect())
}

/// Features and real targets of one of these sets.
fn read(sets: &Path, name: &str) -> Result<Half, Box<dyn Error>> {
    let table = |what: &str, view: &str| {
        let path = sets.join("mtr").join(format!("{name}_{what}.csv"));
        read_table(path, &ReadOptions::named(view))
    };
    let half = Half {
        inputs: vec![table("features", "x")?],
        target: table("labels", "labels")?,
    };
    if half.inputs[0].samples != half.target.samples {
        return Err(format!("features and targets of {name} are in two orders").into());
    }
    Ok(half)
}

/// Training and test samples of each fold, targets in standard deviations of the training samples.
fn folds(all: &Half, o: &Options) -> Result<Vec<(Half, Half)>, Box<dyn Error>> {
    let labels = Mat::zeros(all.len(), 0);
    let fold = stratified(labels.as_ref(), o.folds, o.seed)?;
    let pairs = (0..o.folds).map(|f| {
        let (inside, outside) = parts(&fold, f);
        let (mut train, mut test) = (all.rows(&outside), all.rows(&inside));
        let units = Design::learn(train.target.values.as_ref())?;
        for half in [&mut train, &mut test] {
            for (d, sd) in units.sds().iter().enumerate() {
                for y in half.target.values.col_as_slice_mut(d) {
                    *y /= sd;
                }
            }
        }
        Ok((train, test))
    });
    pairs.collect()
}

/// What a way said of a test half.
struct Said {
    /// Samples × targets.
    values: Mat<f64>,
    /// Factors or components; `NaN` where there are none.
    factors: f64,
    /// Share of the training samples that new ones are compared with; `NaN` where it is all.
    share: f64,
}

/// Of each target the squared errors of a test half (truth and what was said, samples × targets), and its squared distances from the
/// mean of what was seen in training.
fn squares(seen: &Mat<f64>, truth: &Mat<f64>, said: &Mat<f64>) -> Vec<[f64; 2]> {
    let of = |d: usize| {
        let seen = seen.col_as_slice(d);
        let mean = seen.iter().sum::<f64>() / seen.len() as f64;
        let truth = truth.col_as_slice(d);
        let pairs = truth.iter().zip(said.col_as_slice(d));
        let errors: f64 = pairs.map(|(y, p)| (y - p).powi(2)).sum();
        [errors, truth.iter().map(|y| (y - mean).powi(2)).sum()]
    };
    (0..said.ncols()).map(of).collect()
}

/// R², mean over the targets, of one test half.
fn r2(seen: &Mat<f64>, truth: &Mat<f64>, said: &Mat<f64>) -> f64 {
    let all = squares(seen, truth, said);
    let sum: f64 = all.iter().map(|[errors, all]| 1.0 - errors / all).sum();
    sum / all.len() as f64
}

/// What folds came to.
struct Scores {
    /// R² of each fold, mean over the targets.
    folds: Vec<f64>,
    /// R² of each target.
    targets: Vec<f64>,
}

/// A way in all folds.
struct InFolds {
    scores: Scores,
    /// Of each fold, as in [`Said`].
    factors: Vec<f64>,
    shares: Vec<f64>,
    /// Of a fold, on average.
    seconds: f64,
}

/// Runs a way in all folds; nothing where it says nothing.
fn in_folds(
    pairs: &[(Half, Half)],
    way: impl Fn((&Half, &Half)) -> Result<Option<Said>, Box<dyn Error>>,
) -> Result<Option<InFolds>, Box<dyn Error>> {
    let clock = Instant::now();
    let (mut all, mut sizes) = (Vec::new(), Vec::new());
    let (mut factors, mut shares) = (Vec::new(), Vec::new());
    for (train, test) in pairs {
        let Some(said) = way((train, test))? else {
            return Ok(None);
        };
        all.push(squares(
            &train.target.values,
            &test.target.values,
            &said.values,
        ));
        sizes.push(test.len());
        factors.push(said.factors);
        shares.push(said.share);
    }
    Ok(Some(InFolds {
        scores: scores(&all, &sizes),
        factors,
        shares,
        seconds: clock.elapsed().as_secs_f64() / pairs.len() as f64,
    }))
}

/// R² from the squares of all folds: the errors of a fold are held against the distances of all samples, as a target may hardly vary
/// in a small fold.
fn scores(all: &[Vec<[f64; 2]>], sizes: &[usize]) -> Scores {
    let targets = all[0].len();
    let total = |d: usize, which: usize| all.iter().map(|own| own[d][which]).sum::<f64>();
    let samples = sizes.iter().sum::<usize>() as f64;
    let of_fold = |(own, size): (&Vec<[f64; 2]>, &usize)| {
        let of = |d: usize| 1.0 - (own[d][0] / *size as f64) / (total(d, 1) / samples);
        (0..targets).map(of).sum::<f64>() / targets as f64
    };
    Scores {
        folds: all.iter().zip(sizes).map(of_fold).collect(),
        targets: (0..targets)
            .map(|d| 1.0 - total(d, 0) / total(d, 1))
            .collect(),
    }
}

/// The preset `sshiba` for these halves, the features but those of the view [`PLAIN`] by this kernel, with the number of factors that the command offers.
fn spec(
    train: &Half,
    (kernel, factors): (&str, Option<usize>),
    settle: Settle,
    o: &Options,
) -> Result<ModelSpec, Box<dyn Error>> {
    let mut spec = models::preset("sshiba").unwrap_or_default();
    spec.seed = o.seed;
    if let Some(sweeps) = o.sweeps_given {
        spec.vb.max_sweeps = sweeps;
    }
    let target = if train.is_classes() {
        "categorical"
    } else {
        "gaussian"
    };
    for t in &train.inputs {
        spec = spec.with_likelihood(&t.name, "gaussian");
        if t.name != PLAIN {
            spec = spec.with_kernel(&t.name, kernel.parse()?);
        }
    }
    spec = spec.with_likelihood("labels", target);
    spec.factors = if let Some(factors) = factors.or(o.factors_given) {
        factors
    } else {
        let offered = spec.offered_factors(train.len());
        offered.min(spec.most_factors(&train.dataset()?))
    };
    Ok(spec.with_settled("labels", settle))
}

/// What such a model says of a test half.
fn modelled(
    (train, test): (&Half, &Half),
    model: (&str, Option<usize>),
    settle: Settle,
    o: &Options,
) -> Result<Said, Box<dyn Error>> {
    let fit = polyview::fit(train.dataset()?, spec(train, model, settle, o)?)?;
    Ok(Said {
        values: fit.predict(&test.input_dataset()?, "labels")?.mean,
        factors: fit.k() as f64,
        share: f64::NAN,
    })
}

/// Training and test features side by side, standardised by the training samples.
fn features(train: &Half, test: &Half) -> Result<[Mat<f64>; 2], Box<dyn Error>> {
    let tables = |half: &Half| -> Vec<Table> { half.inputs.clone() };
    let (a, b) = (tables(train), tables(test));
    let (a, b): (Vec<&Table>, Vec<&Table>) = (a.iter().collect(), b.iter().collect());
    let (x, new) = super::linear::design(&a, &b)?;
    Ok([x, new])
}

fn cell(x: f64, digits: usize) -> String {
    if x.is_finite() {
        format!("{x:.digits$}")
    } else {
        NOTHING.to_owned()
    }
}

/// Mean and standard deviation over the folds.
fn with_spread(of: &[f64], digits: usize) -> String {
    let n = of.len() as f64;
    let mean = of.iter().sum::<f64>() / n;
    let squares: f64 = of.iter().map(|x| (x - mean).powi(2)).sum();
    let sd = (squares / (n - 1.0)).sqrt();
    if mean.is_finite() {
        format!("{mean:.digits$} ± {sd:.digits$}")
    } else {
        NOTHING.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(name: &str, values: Mat<f64>) -> Table {
        Table {
            name: name.into(),
            samples: (0..values.nrows()).map(|n| n.to_string()).collect(),
            features: (0..values.ncols()).map(|d| d.to_string()).collect(),
            levels: Vec::new(),
            values,
        }
    }

    #[test]
    fn r2_is_about_the_means_of_the_training_samples() {
        let column = |y: [f64; 2]| Mat::from_fn(2, 1, |n, _| y[n]);
        let (seen, truth) = (column([0.0, 2.0]), column([1.0, 3.0]));
        assert_eq!(r2(&seen, &truth, &column([1.0, 1.0])), 0.0);
        assert_eq!(r2(&seen, &truth, &column([1.0, 2.0])), 0.75);
    }

    #[test]
    fn a_fold_that_hardly_varies_counts_by_its_errors() {
        // two samples with errors 1 of 100, and two that are as good and do not vary
        let all = [vec![[1.0, 100.0]], vec![[1.0, 0.0]]];
        let found = scores(&all, &[2, 2]);
        assert_eq!((found.folds, found.targets), (vec![0.98, 0.98], vec![0.98]));
    }

    #[test]
    fn folds_part_all_samples_in_units_of_the_training_ones() {
        let o = Options::parse(["thesis-9", "--data", "x", "--folds", "3"].map(String::from));
        let all = Half {
            inputs: vec![table("x", Mat::from_fn(30, 2, |n, d| (n * (d + 1)) as f64))],
            target: table("labels", Mat::from_fn(30, 1, |n, _| 100.0 * n as f64)),
        };
        let pairs = folds(&all, &o.unwrap()).unwrap();
        assert_eq!(pairs.len(), 3);
        for (train, test) in &pairs {
            assert_eq!((train.len(), test.len()), (20, 10));
            let sd = Design::learn(train.target.values.as_ref()).unwrap().sds()[0];
            assert!((sd - 1.0).abs() < 1e-12, "{sd}");
        }
        let o = Options::parse(["thesis-9", "--data", "x", "--sets", "iris"].map(String::from));
        let error = wanted(&o.unwrap()).unwrap_err().to_string();
        assert!(
            error.contains("'iris'") && error.contains("jura"),
            "{error}"
        );
    }
}
