//! A view that the test samples do not have.
//!
//! Tumours of three subtypes, measured by messenger RNA, micro-RNA and
//! proteins; no proteins in the test half. With a folder of
//! `train_{mrna,mirna,protein,subtype}.csv` and
//! `test_{mrna,mirna,subtype}.csv` on the command line: those data; else
//! simulated ones of that layout. One sees that any subset of the views
//! predicts the subtype, that the model is less sure with fewer of them, and
//! that the absent proteins are predicted with honest intervals.
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::path::Path;

use polyview::{metrics, models};
use polyview_core::Table;
use polyview_examples::{World, dataset, means, r2, rows};
use polyview_io::{ReadOptions, read_string_table, read_table};
use polyview_linalg::Mat;

struct Study {
    /// mRNA, micro-RNA, proteins of the training half.
    train: Vec<Table>,
    /// mRNA, micro-RNA of the test half.
    test: Vec<Table>,
    train_subtype: Table,
    test_subtype: Table,
    /// Proteins of the test half, where they are known after all.
    hidden: Option<Table>,
}

fn read(folder: &Path) -> Result<Study, Box<dyn Error>> {
    let views = |half: &str, names: &[&str]| {
        names
            .iter()
            .map(|v| {
                read_table(
                    folder.join(format!("{half}_{v}.csv")),
                    &ReadOptions::named(*v),
                )
            })
            .collect::<Result<Vec<Table>, _>>()
    };
    let subtype = |half: &str| -> Result<Table, Box<dyn Error>> {
        let path = folder.join(format!("{half}_subtype.csv"));
        let words = read_string_table(path, &ReadOptions::named("subtype"))?;
        let column: Vec<Option<String>> = words.values.into_iter().next().unwrap_or_default();
        let mut levels: Vec<String> = column.iter().flatten().cloned().collect();
        levels.sort_unstable();
        levels.dedup();
        let code = |w: &Option<String>| {
            let at = w.as_ref().and_then(|w| levels.iter().position(|l| l == w));
            at.map_or(f64::NAN, |c| c as f64)
        };
        Ok(Table {
            name: "subtype".to_owned(),
            samples: words.samples,
            features: vec!["subtype".to_owned()],
            values: Mat::from_fn(column.len(), 1, |n, _| code(&column[n])),
            levels,
        })
    };
    Ok(Study {
        train: views("train", &["mrna", "mirna", "protein"])?,
        test: views("test", &["mrna", "mirna"])?,
        train_subtype: subtype("train")?,
        test_subtype: subtype("test")?,
        hidden: None,
    })
}

fn simulated() -> Study {
    let world = World::new(220, 5, 3);
    let all = [
        world.real(0, "mrna", 80, 2.2),
        world.real(1, "mirna", 60, 2.5),
        world.real(2, "protein", 40, 1.0),
    ];
    let subtype = world.classes(3, "subtype", &["Basal", "Her2", "LumA"]);
    let (early, late): (Vec<usize>, Vec<usize>) = (0..220).partition(|&n| n < 150);
    Study {
        train: all.iter().map(|t| rows(t, &early)).collect(),
        test: all[..2].iter().map(|t| rows(t, &late)).collect(),
        train_subtype: rows(&subtype, &early),
        test_subtype: rows(&subtype, &late),
        hidden: Some(rows(&all[2], &late)),
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let study = match std::env::args().nth(1) {
        Some(folder) => read(Path::new(&folder))?,
        None => simulated(),
    };
    let mut spec = models::sshiba(15).with_likelihood("subtype", "categorical");
    spec.vb.max_sweeps = 300;
    let protein_means = means(study.train[2].values.as_ref());
    let train = dataset(study.train.into_iter().chain([study.train_subtype]))?;
    let fit = polyview::fit(train, spec)?;
    println!("{} factors", fit.k());

    // codes of the test half follow its own list of classes: match by name
    let test_levels = &study.test_subtype.levels;
    let truth: Vec<Option<&String>> = study
        .test_subtype
        .values
        .col_as_slice(0)
        .iter()
        .map(|c| (!c.is_nan()).then(|| &test_levels[*c as usize]))
        .collect();
    for chosen in [&study.test[1..], &study.test[..1], &study.test[..]] {
        let names: Vec<&str> = chosen.iter().map(|t| t.name.as_str()).collect();
        let p = fit.predict(&dataset(chosen.iter().cloned())?, "subtype")?;
        let codes: Vec<Option<usize>> = truth
            .iter()
            .map(|t| p.features.iter().position(|f| Some(f) == *t))
            .collect();
        let right = p
            .classes()
            .iter()
            .zip(&codes)
            .filter(|(a, b)| Some(**a) == **b)
            .count();
        let loss = metrics::class_log_loss(&codes, p.mean.as_ref())?;
        println!(
            "subtype from {}: {right} of {} right, log loss {:.3}",
            names.join(" and "),
            codes.len(),
            loss.mean.unwrap_or(f64::NAN)
        );
    }
    let proteins = fit.predict(&dataset(study.test)?, "protein")?;
    println!(
        "first test sample, {}: {:.2} ± {:.2}",
        proteins.features[0],
        proteins.mean[(0, 0)],
        proteins.sd[(0, 0)]
    );
    if let Some(hidden) = study.hidden {
        let (lower, upper) = proteins.interval(0.9)?;
        let (mut inside, mut cells) = (0.0, 0.0);
        for d in 0..hidden.values.ncols() {
            for n in 0..hidden.values.nrows() {
                let x = hidden.values[(n, d)];
                cells += 1.0;
                if lower[(n, d)] <= x && x <= upper[(n, d)] {
                    inside += 1.0;
                }
            }
        }
        println!(
            "absent proteins: R² {:.2}, {:.0} % inside the 90 % interval",
            r2(
                hidden.values.as_ref(),
                proteins.mean.as_ref(),
                &protein_means
            )?,
            100.0 * inside / cells
        );
    }
    Ok(())
}
