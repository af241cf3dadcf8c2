//! Published tables of SSHIBA, of the thesis of its kernels and of the rank-likelihood paper beside ours, from data that are at hand.
//!
//! ```text
//! cargo run --release -p polyview-benches -- table sshiba-7 --data YEAST
//! cargo run --release -p polyview-benches -- table sshiba-9 --data YEAST
//! cargo run --release -p polyview-benches -- table labels --data SETS
//! cargo run --release -p polyview-benches -- table classes --data SETS
//! cargo run --release -p polyview-benches -- table thesis-9 --data SETS
//! cargo run --release -p polyview-benches -- table thesis-11 --data SETS
//! cargo run --release -p polyview-benches -- table thesis-12 --data SETS
//! cargo run --release -p polyview-benches -- table rank-2 --data DIGITS
//! cargo run --release -p polyview-benches -- table rank-4 --data EXPRESSION
//! ```
//!
//! `YEAST` holds `train_features.csv`, `train_labels.csv`, `test_features.csv`
//! and `test_labels.csv`; `SETS` holds folders `yeast`, `emotions` and `flags` of
//! that form and `cll`, or `breast-tcga`, `mfeat`, `landsat`, `tb-hiv` and
//! `nutrimouse` (`judged/sets.rs`), and of the thesis `mtr` (`atp1d_features.csv`,
//! `atp1d_labels.csv` and so on) and `landsat`. `DIGITS` holds
//! `pixels.csv` and `digit.csv` (USPS for `rank-2`, MNIST for `rank-3`, any for
//! `digits`), or both by halves as `train_pixels.csv` and so on; `EXPRESSION`
//! holds `expression.csv` and `labels.csv`, a task a column. Nothing is downloaded.
//! What is tuned is tuned on training halves: `--validate 5` prints the same
//! table by cross-validation inside them.

mod data;
mod judged;
mod linear;
mod options;
mod protocol;
mod python;
mod rank;
mod score;
mod thesis;

pub use data::{build, rows};

use std::error::Error;

use polyview_baselines::{parts, stratified};
use polyview_linalg::Threads;

use crate::sheet::{Printed, Sheet};

use self::data::{Half, labelled};
use self::linear::{Inputs, Linear};
use self::options::Options;
use self::protocol::{Way, score_of};

/// Training and test halves of one line, one pair a repeat.
type Pairs = Vec<(Half, Half)>;

/// The ways by name, each with the figure of the paper.
type Ways = [(&'static str, Way, Option<f64>)];

/// The tables that the arguments ask for, printed as they grow.
///
/// # Errors
/// Arguments that do not exist; what files, data and fits refuse.
pub fn run(args: impl IntoIterator<Item = String>) -> Result<Vec<Sheet>, Box<dyn Error>> {
    let o = Options::parse(args)?;
    let mut out = Printed::default();
    Threads::new(o.threads)?.install(|| tables(&o, &mut out).map_err(|e| e.to_string()))?;
    Ok(out.sheets)
}

fn tables(o: &Options, out: &mut Printed) -> Result<(), Box<dyn Error>> {
    match o.table.as_str() {
        "sshiba-7" => sshiba_7(o, out),
        "sshiba-9" => sshiba_9(o, out),
        "labels" => judged::labels(o, out),
        "classes" => judged::classes(o, out),
        "thesis-9" => thesis::numbers(o, out),
        "thesis-11" => thesis::relevance_vectors(o, out),
        "thesis-12" => thesis::several_kernels(o, out),
        "rank-2" | "rank-3" | "digits" => rank::digits(o, out),
        "rank-4" | "rank-5" => rank::expression(o, out),
        other => Err(format!(
            "no table '{other}': sshiba-7, sshiba-9, labels, classes, thesis-9, thesis-11, thesis-12, rank-2, rank-3, digits, rank-4, rank-5"
        )
        .into()),
    }
}

/// One line for each way that is wanted.
fn block(
    o: &Options,
    out: &mut Printed,
    prefix: &str,
    pairs: &Pairs,
    ways: &Ways,
) -> Result<(), Box<dyn Error>> {
    for (name, way, paper) in ways {
        let name = format!("{prefix}{name}");
        let ours = !matches!(way, Way::Linear(..) | Way::Cca | Way::Prevalence);
        if o.wants(&name, ours) {
            let scores: Vec<_> = pairs
                .iter()
                .map(|(train, test)| score_of(*way, train, test, o))
                .collect::<Result<_, _>>()?;
            score::line(out, &name, *paper, &scores)?;
        }
    }
    Ok(())
}

/// The two halves, or folds of the first.
fn halves(o: &Options, train: Half, test: Half) -> Result<Pairs, Box<dyn Error>> {
    Ok(match o.validate {
        None => vec![(train, test)],
        Some(folds) => return cross_validation(&train, folds, o.seed),
    })
}

fn cross_validation(half: &Half, folds: usize, seed: u64) -> Result<Pairs, Box<dyn Error>> {
    let fold = stratified(half.indicators().as_ref(), folds, seed)?;
    Ok((0..folds)
        .map(|f| {
            let (inside, outside) = parts(&fold, f);
            (half.rows(&outside), half.rows(&inside))
        })
        .collect())
}

/// Table 7 (spec/sshiba 6.4), and the semi-supervised figure of table 9.
fn sshiba_7(o: &Options, out: &mut Printed) -> Result<(), Box<dyn Error>> {
    let (train, test) = labelled(&o.data)?;
    score::head(out, "SSHIBA table 7, yeast (semi-supervised: table 9)")?;
    let whole = halves(o, train, test)?;
    let ways = [
        ("predictive", Way::Predictive, Some(0.66)),
        ("semi-supervised", Way::SemiSupervised, Some(0.68)),
        (
            "ridge regression",
            Way::Linear(Linear::Ridge, Inputs::All),
            Some(0.68),
        ),
        (
            "logistic regression",
            Way::Linear(Linear::Logistic, Inputs::All),
            Some(0.67),
        ),
        (
            "PCA, logistic regression",
            Way::Linear(Linear::Logistic, Inputs::Principal),
            Some(0.68),
        ),
        ("CCA", Way::Cca, Some(0.61)),
        (
            "CCA, logistic regression",
            Way::Linear(Linear::Logistic, Inputs::Canonical),
            Some(0.66),
        ),
        ("prevalence alone", Way::Prevalence, None),
    ];
    block(o, out, "", &whole, &ways)?;
    // each fifth of the training samples once the training set
    let mut fifths = Vec::new();
    for (train, test) in &whole {
        let fold = stratified(train.indicators().as_ref(), 5, o.seed)?;
        for f in 0..o.repeats.min(5) {
            let (inside, _) = parts(&fold, f);
            fifths.push((train.rows(&inside), test.clone()));
        }
    }
    let ways = [
        ("predictive", Way::Predictive, Some(0.65)),
        ("semi-supervised", Way::SemiSupervised, None),
        (
            "ridge regression",
            Way::Linear(Linear::Ridge, Inputs::All),
            Some(0.65),
        ),
        (
            "logistic regression",
            Way::Linear(Linear::Logistic, Inputs::All),
            Some(0.65),
        ),
        (
            "PCA, logistic regression",
            Way::Linear(Linear::Logistic, Inputs::Principal),
            Some(0.65),
        ),
        ("CCA", Way::Cca, Some(0.56)),
        (
            "CCA, logistic regression",
            Way::Linear(Linear::Logistic, Inputs::Canonical),
            Some(0.60),
        ),
    ];
    block(o, out, "20 % of training: ", &fifths, &ways)
}

/// The yeast column of table 9 (spec/sshiba 6.6).
fn sshiba_9(o: &Options, out: &mut Printed) -> Result<(), Box<dyn Error>> {
    let (train, test) = labelled(&o.data)?;
    score::head(
        out,
        "SSHIBA table 9, yeast, 50 % of training inputs missing",
    )?;
    let mut pairs = Vec::new();
    for (train, test) in halves(o, train, test)? {
        for r in 0..o.repeats {
            let hidden = train.clone().hiding(0.5, o.seed.wrapping_add(r as u64));
            pairs.push((hidden, test.clone()));
        }
    }
    let ways = [
        ("semi-supervised", Way::SemiSupervised, Some(0.64)),
        ("predictive", Way::Predictive, None),
        ("mean first, predictive", Way::MeanImputed, Some(0.61)),
        ("mean, ridge", Way::Linear(Linear::Ridge, Inputs::All), None),
        (
            "mean, logistic",
            Way::Linear(Linear::Logistic, Inputs::All),
            None,
        ),
        (
            "mean, PCA, logistic",
            Way::Linear(Linear::Logistic, Inputs::Principal),
            None,
        ),
    ];
    block(o, out, "", &pairs, &ways)
}
