//! Entries about what is found and predicted. What they say does not depend on the machine but
//! for the seconds of some examples.

use std::error::Error;
use std::path::{Path, PathBuf};

use polyview_core::Overwrite;
use polyview_datasets::{digits_labels, digits_tables};
use polyview_io::{WriteOptions, write_matrix};

use super::page::Page;
use super::peers::NotRun;
use super::setting::{Setting, checked};
use super::spread::Spread;
use crate::sheet::Sheet;
use crate::{axes, table};

type Done = Result<(), Box<dyn Error>>;

fn words(args: &[&str]) -> Vec<String> {
    args.iter().map(|&a| a.to_owned()).collect()
}

/// A published table, without its seconds and columns without figures.
fn published(page: &mut Page, name: &str, data: &Path, args: &[&str]) -> Done {
    let mut all = words(&[name, "--data", &data.to_string_lossy()]);
    all.extend(words(args));
    for sheet in table::run(all)? {
        page.sheet(&sheet.without("seconds"));
    }
    Ok(())
}

/// What an example prints.
fn example(setting: &Setting, page: &mut Page, name: &str, args: &[&str]) -> Done {
    let mut command = setting.cargo();
    command.args(["run", "--release", "--quiet", "-p", "polyview-examples"]);
    command.args(["--example", name, "--"]).args(args);
    let run = checked(&mut command, name)?;
    page.verbatim(&String::from_utf8(run.stdout)?);
    Ok(())
}

/// Whether sparse factors come out unmixed.
pub fn unmixed(setting: &Setting, page: &mut Page) -> Done {
    let seeds = setting.choose("3", "20");
    let all = axes::run(words(&["--seeds", seeds]))?;
    let mut sheet = Sheet::new(
        "",
        &[
            "data sets",
            "factors kept",
            "worst factor's correlation",
            "sweeps",
        ],
    );
    let spread = |of: fn(&axes::Found) -> f64, digits: usize| {
        let spread = Spread::of(all.iter().map(of)).ok_or("no data sets")?;
        Ok::<_, Box<dyn Error>>(spread.written(|x| format!("{x:.digits$}")))
    };
    let mut kept: Vec<String> = all.iter().map(|f| f.kept.to_string()).collect();
    kept.sort_unstable();
    kept.dedup();
    sheet.rows.push(vec![
        all.len().to_string(),
        kept.join(", "),
        spread(axes::Found::worst, 3)?,
        spread(|f| f.sweeps as f64, 0)?,
    ]);
    page.sheet(&sheet);
    Ok(())
}

/// The embedded digits as files: `pix.csv` and `digit.csv`.
fn digits_folder(work: &Path) -> Result<PathBuf, Box<dyn Error>> {
    let folder = work.join("data").join("digits");
    std::fs::create_dir_all(&folder)?;
    let options = WriteOptions {
        overwrite: Overwrite::Replace,
        ..WriteOptions::default()
    };
    let pixels = digits_tables().into_iter().find(|t| t.name == "pix");
    let pixels = pixels.ok_or("the embedded digits have pixels")?;
    write_matrix(folder.join("pix.csv"), &(&pixels).into(), &options)?;
    for labels in digits_labels() {
        write_matrix(
            folder.join("digit.csv"),
            &(&labels.to_codes()).into(),
            &options,
        )?;
    }
    Ok(folder)
}

/// Handwritten digits, 3 against 5.
pub fn digits(setting: &Setting, page: &mut Page) -> Done {
    let folder = digits_folder(&setting.work)?;
    let args = setting.choose(
        &[
            "--factors",
            "20",
            "--repeats",
            "2",
            "--tolerance",
            "1e-3",
            "--only",
            "G-L",
        ][..],
        &["--factors", "20,40,80", "--tolerance", "3e-4"],
    );
    published(page, "digits", &folder, args)
}

/// Functions of yeast genes.
pub fn yeast(setting: &Setting, page: &mut Page) -> Done {
    let folder = setting.set("yeast")?;
    if setting.quick {
        let few = ["--max-sweeps", "30", "--repeats", "1", "--no-baselines"];
        return published(page, "sshiba-7", &folder, &few);
    }
    published(page, "sshiba-7", &folder, &[])?;
    page.note("On an RBF kernel of 300 reference points, γ = .02:");
    let kernel = ["--gamma", "0.02", "--references", "300", "--no-baselines"];
    published(page, "sshiba-7", &folder, &kernel)?;
    published(page, "sshiba-9", &folder, &[])
}

/// Labels of four sets; quickly of two small ones.
pub fn labels(setting: &Setting, page: &mut Page) -> Done {
    judged(setting, page, "labels", "emotions,flags")
}

/// Classes of five sets; quickly of two small ones.
pub fn classes(setting: &Setting, page: &mut Page) -> Done {
    judged(setting, page, "classes", "breast-tcga,nutrimouse")
}

/// Real targets and classes by kernels; quickly of one small set.
pub fn kernels(setting: &Setting, page: &mut Page) -> Done {
    let few = |args: &[&'static str]| setting.choose(args.to_vec(), Vec::new());
    beside_peers(setting, page, "thesis-9", &few(&["--sets", "edm"]))?;
    let folder = setting.set("")?;
    published(page, "thesis-11", &folder, &few(&["--sets", "edm"]))?;
    if setting.quick {
        return Ok(());
    }
    beside_peers(setting, page, "thesis-12", &[])
}

/// The default beside plain predictors, and beside a random forest where peers were asked for.
fn judged(setting: &Setting, page: &mut Page, table: &str, few: &str) -> Done {
    let args = setting.choose(vec!["--sets", few], Vec::new());
    beside_peers(setting, page, table, &args)
}

/// A table on real data, with what scikit-learn says where peers were asked for.
fn beside_peers(setting: &Setting, page: &mut Page, table: &str, few: &[&str]) -> Done {
    let folder = setting.set("")?;
    let python = match setting.peers.forests() {
        Ok(python) => Some(python.to_string_lossy().into_owned()),
        Err(NotRun::NotAsked) => None,
        Err(NotRun::Failed(why)) => {
            page.missing(format!("scikit-learn: {why}"));
            None
        }
    };
    let mut args = few.to_vec();
    if let Some(python) = &python {
        args.extend(["--python", python]);
    }
    published(page, table, &folder, &args)
}

/// What ranks are worth where scales are strange.
pub fn rank_scales(setting: &Setting, page: &mut Page) -> Done {
    example(setting, page, "rank_scales", &[setting.choose("1", "8")])
}

/// What a cell of ranks is to weigh.
pub fn rank_margin(setting: &Setting, page: &mut Page) -> Done {
    example(setting, page, "rank_margin", &[setting.choose("1", "3")])
}

/// Counts by four likelihoods, of simulated data and, where they are given, of genes.
pub fn counts(setting: &Setting, page: &mut Page) -> Done {
    example(setting, page, "counts", &[])?;
    if setting.sets.is_some() && !setting.quick {
        page.note("Sequencing reads of blood:");
        example(
            setting,
            page,
            "counts",
            &[&setting.set("tb-hiv")?.to_string_lossy()],
        )?;
    }
    Ok(())
}

/// What it is worth, and costs, to take factors out on trial.
pub fn trials(setting: &Setting, page: &mut Page) -> Done {
    example(setting, page, "trials", &[])
}

#[cfg(test)]
mod tests {
    use super::*;
    use polyview_io::{ReadOptions, read_table};

    #[test]
    fn the_embedded_digits_become_files_with_numbers() {
        let work = tempfile::tempdir().unwrap();
        let folder = digits_folder(work.path()).unwrap();
        let digit = read_table(folder.join("digit.csv"), &ReadOptions::default()).unwrap();
        assert_eq!(digit.samples.len(), 2000);
        let fives = digit.values.col_as_slice(0).iter().filter(|d| **d == 5.0);
        assert_eq!(fives.count(), 200);
        let pixels = read_table(folder.join("pix.csv"), &ReadOptions::default()).unwrap();
        assert_eq!(
            (pixels.samples, pixels.features.len()),
            (digit.samples, 240)
        );
    }
}
