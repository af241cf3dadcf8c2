//! Real data sets and the models that are fitted to them.

use std::error::Error;
use std::path::Path;

use polyview::{ModelSpec, models};
use polyview_core::Table;
use polyview_io::{ReadOptions, read_table};

use crate::table::rows;

/// One set and the model that is fitted to it.
pub struct Case {
    /// Its name and its model's.
    pub name: &'static str,
    /// Folder of the set.
    pub folder: &'static str,
    /// Views and their likelihoods: name of the file, without its ending.
    pub views: &'static [(&'static str, &'static str)],
    /// One sample of so many is taken.
    every: usize,
    /// What is fitted.
    pub model: fn() -> ModelSpec,
}

impl Case {
    /// Of all samples.
    const fn new(
        name: &'static str,
        folder: &'static str,
        views: &'static [(&'static str, &'static str)],
        model: fn() -> ModelSpec,
    ) -> Self {
        Self {
            name,
            folder,
            views,
            every: 1,
            model,
        }
    }

    /// Its tables, from the folder of the set.
    ///
    /// # Errors
    /// What cannot be read.
    pub fn tables(&self, folder: &Path) -> Result<Vec<Table>, Box<dyn Error>> {
        let table = |(name, _): &(&str, &str)| -> Result<Table, Box<dyn Error>> {
            let table = read_table(
                folder.join(format!("{name}.csv")),
                &ReadOptions::named(*name),
            )?;
            let keep: Vec<usize> = (0..table.samples.len()).step_by(self.every).collect();
            Ok(rows(&table, &keep))
        };
        self.views.iter().map(table).collect()
    }
}

const GAUSSIAN: &str = "gaussian";
const FEATURES_AND_LABELS: &[(&str, &str)] =
    &[("train_features", GAUSSIAN), ("train_labels", "bernoulli")];

fn mofa() -> ModelSpec {
    models::mofa(20)
}
fn sshiba() -> ModelSpec {
    models::sshiba(10)
}

/// In the order of their size.
pub const CASES: [Case; 9] = [
    Case::new(
        "nutrimouse, mofa",
        "nutrimouse",
        &[("gene", GAUSSIAN), ("lipid", GAUSSIAN)],
        mofa,
    ),
    Case::new(
        "breast-tcga, mofa",
        "breast-tcga",
        &[
            ("train_mrna", GAUSSIAN),
            ("train_mirna", GAUSSIAN),
            ("train_protein", GAUSSIAN),
        ],
        mofa,
    ),
    Case::new(
        "cll, mofa",
        "cll",
        &[
            ("drugs", GAUSSIAN),
            ("mutations", "bernoulli"),
            ("ighv", "bernoulli"),
        ],
        mofa,
    ),
    Case {
        every: 8,
        ..Case::new(
            "mfeat, every eighth, mofa",
            "mfeat",
            &[
                ("fac", GAUSSIAN),
                ("fou", GAUSSIAN),
                ("kar", GAUSSIAN),
                ("mor", GAUSSIAN),
                ("pix", GAUSSIAN),
                ("zer", GAUSSIAN),
            ],
            mofa,
        )
    },
    Case::new("emotions, sshiba", "emotions", FEATURES_AND_LABELS, sshiba),
    Case::new("yeast, sshiba", "yeast", FEATURES_AND_LABELS, sshiba),
    Case::new("spi, mlfs", "spi", &[("items", "ordinal")], || {
        models::mlfs(10)
    }),
    Case::new(
        "tb-hiv as pln, mofa",
        "tb-hiv",
        &[("counts", "poisson-log-normal")],
        mofa,
    ),
    Case::new(
        "tb-hiv as nb, mofa",
        "tb-hiv",
        &[("counts", "negative-binomial")],
        mofa,
    ),
];
