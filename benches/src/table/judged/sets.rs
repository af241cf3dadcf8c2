//! The data sets of labels and of classes, with the samples that are trained on and those that are judged.

use std::error::Error;
use std::path::Path;

use polyview_baselines::{parts, stratified};
use polyview_core::Table;
use polyview_io::{ReadOptions, read_table};
use polyview_linalg::Mat;

use crate::table::data::{Half, classed, labelled, rows};

/// What a set is judged by.
pub struct Judged {
    /// Its name, with what is predicted.
    pub name: &'static str,
    /// How it is parted, in words.
    pub parted: String,
    /// Training and test samples, a pair a fold.
    pub pairs: Vec<(Half, Half)>,
    /// Likelihoods of inputs that are no real numbers, by the names of their views.
    pub likelihoods: &'static [(&'static str, &'static str)],
}

/// Sets whose targets are labels.
pub const LABELS: [&str; 4] = ["yeast", "emotions", "flags", "cll"];
/// Sets whose targets are classes.
pub const CLASSES: [&str; 5] = ["breast-tcga", "mfeat", "landsat", "tb-hiv", "nutrimouse"];

/// The six views of the digits.
const DIGITS: [&str; 6] = ["fac", "fou", "kar", "mor", "pix", "zer"];
/// Bands of the satellite, and the place of the pixel in the middle of nine.
const BANDS: usize = 4;
const MIDDLE: usize = 4;
const PIXELS: usize = 9;

/// A set of these by its name, which is that of its folder.
///
/// # Errors
/// A name that does not exist; what cannot be read.
pub fn judged(sets: &Path, name: &str, seed: u64) -> Result<Judged, Box<dyn Error>> {
    let folder = sets.join(name);
    let set = match name {
        "yeast" => halves("yeast", labelled(&folder)?),
        "emotions" => halves("emotions", labelled(&folder)?),
        "flags" => halves("flags", labelled(&folder)?),
        "cll" => Judged {
            likelihoods: &[("mutations", "bernoulli")],
            ..in_folds("cll, ighv", &leukaemia(&folder)?, 5, seed)?
        },
        "breast-tcga" => {
            let views = ["mrna", "mirna", "protein"];
            let train = classed(&folder, "train_", &views, "subtype", None)?;
            let levels = train.target.levels.clone();
            // no proteins in the test half
            let test = classed(&folder, "test_", &views[..2], "subtype", Some(&levels))?;
            halves("breast-tcga, subtype", (train, test))
        }
        "mfeat" => {
            let all = classed(&folder, "", &DIGITS, "digit", None)?;
            let fold = stratified(all.indicators().as_ref(), 2, seed)?;
            let (train, test) = parts(&fold, 0);
            halves("mfeat, digit", (all.rows(&train), all.rows(&test)))
        }
        "landsat" => {
            let mut all = classed(&folder, "", &["pixels"], "class", None)?;
            all.inputs = spectral_and_contextual(&all.inputs[0])?;
            in_folds("landsat, class", &all, 5, seed)?
        }
        "tb-hiv" => Judged {
            likelihoods: &[("counts", "poisson-log-normal")],
            ..in_folds(
                "tb-hiv, group",
                &classed(&folder, "", &["counts"], "group", None)?,
                5,
                seed,
            )?
        },
        "nutrimouse" => {
            let all = classed(&folder, "", &["gene", "lipid"], "diet", None)?;
            in_folds("nutrimouse, diet", &all, 4, seed)?
        }
        other => {
            let known = [&LABELS[..], &CLASSES[..]].concat().join(", ");
            return Err(format!("no set '{other}'; there are {known}").into());
        }
    };
    Ok(set)
}

fn halves(name: &'static str, (train, test): (Half, Half)) -> Judged {
    Judged {
        name,
        parted: format!("{} to train, {} to test", train.len(), test.len()),
        pairs: vec![(train, test)],
        likelihoods: &[],
    }
}

fn in_folds(
    name: &'static str,
    all: &Half,
    folds: usize,
    seed: u64,
) -> Result<Judged, Box<dyn Error>> {
    let fold = stratified(all.indicators().as_ref(), folds, seed)?;
    let pairs = (0..folds).map(|f| {
        let (inside, outside) = parts(&fold, f);
        (all.rows(&outside), all.rows(&inside))
    });
    Ok(Judged {
        name,
        parted: format!("{} in {folds} folds", all.len()),
        pairs: pairs.collect(),
        likelihoods: &[],
    })
}

/// Drugs and mutations of the samples that have some of both and a label.
fn leukaemia(folder: &Path) -> Result<Half, Box<dyn Error>> {
    let table = |file: &str, name: &str| {
        read_table(
            folder.join(format!("{file}.csv")),
            &ReadOptions::named(name),
        )
    };
    let (inputs, target) = (
        vec![table("drugs", "drugs")?, table("mutations", "mutations")?],
        table("ighv", "labels")?,
    );
    if inputs.iter().any(|t| t.samples != target.samples) {
        return Err("samples of 'drugs', 'mutations' and 'ighv' are in two orders".into());
    }
    let known = |t: &Table, n: usize| (0..t.values.ncols()).any(|d| !t.values[(n, d)].is_nan());
    let keep: Vec<usize> = (0..target.samples.len())
        .filter(|&n| inputs.iter().chain([&target]).all(|t| known(t, n)))
        .collect();
    Ok(Half {
        inputs: inputs.iter().map(|t| rows(t, &keep)).collect(),
        target: rows(&target, &keep),
    })
}

/// Nine pixels of four bands as two views (spec/thesis 10): the bands of the pixel in the middle, and their means over the eight
/// about it.
///
/// # Errors
/// Another number of columns.
pub fn spectral_and_contextual(pixels: &Table) -> Result<Vec<Table>, Box<dyn Error>> {
    if pixels.values.ncols() != PIXELS * BANDS {
        return Err(format!("landsat has {} columns, not 36", pixels.values.ncols()).into());
    }
    let view = |name: &str, value: &dyn Fn(usize, usize) -> f64| Table {
        name: name.to_owned(),
        samples: pixels.samples.clone(),
        features: (1..=BANDS).map(|b| format!("{name} {b}")).collect(),
        levels: Vec::new(),
        values: Mat::from_fn(pixels.samples.len(), BANDS, value),
    };
    let at = |n: usize, pixel: usize, band: usize| pixels.values[(n, pixel * BANDS + band)];
    Ok(vec![
        view("spectral", &|n, b| at(n, MIDDLE, b)),
        view("contextual", &|n, b| {
            let about = (0..PIXELS).filter(|&p| p != MIDDLE);
            about.map(|p| at(n, p, b)).sum::<f64>() / (PIXELS - 1) as f64
        }),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(folder: &Path, name: &str, text: &str) {
        std::fs::write(folder.join(name), text).unwrap();
    }

    #[test]
    fn the_pixel_in_the_middle_is_one_view_and_the_mean_of_the_others_the_other() {
        let pixels = Table {
            name: "pixels".into(),
            samples: vec!["a".into()],
            features: (0..36).map(|d| format!("x{d}")).collect(),
            levels: Vec::new(),
            values: Mat::from_fn(1, 36, |_, d| d as f64),
        };
        let views = spectral_and_contextual(&pixels).unwrap();
        let row = |t: &Table| (0..4).map(|b| t.values[(0, b)]).collect::<Vec<f64>>();
        assert_eq!(row(&views[0]), [16.0, 17.0, 18.0, 19.0]);
        // pixels lie about the middle, so that their mean is that of the middle
        assert_eq!(row(&views[1]), [16.0, 17.0, 18.0, 19.0]);
        let less = Table {
            features: vec!["x".into()],
            values: Mat::zeros(1, 1),
            ..pixels
        };
        assert!(spectral_and_contextual(&less).is_err());
    }

    #[test]
    fn samples_of_leukaemia_without_a_view_or_a_label_are_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        written(
            at,
            "drugs.csv",
            "sample,a,b\n1,.1,.2\n2,.3,\n3,,\n4,.5,.6\n",
        );
        written(at, "mutations.csv", "sample,m\n1,0\n2,1\n3,1\n4,\n");
        written(at, "ighv.csv", "sample,ighv\n1,\n2,1\n3,0\n4,1\n");
        let half = leukaemia(at).unwrap();
        assert_eq!(half.target.samples, ["2"]);
        assert_eq!(half.inputs[0].samples, ["2"]);
    }

    #[test]
    fn a_set_that_does_not_exist_is_named_with_those_that_do() {
        let error = judged(Path::new("."), "iris", 1).err().unwrap().to_string();
        assert!(
            error.contains("'iris'") && error.contains("mfeat"),
            "{error}"
        );
    }
}
