//! Studies: tables of the same samples, as a user has them on disk.

mod cohort;
mod patients;

use polyview_core::Table;
use polyview_linalg::Mat;

use crate::catalogue::{DIGITS, NUTRIMOUSE, Source};
use crate::{Labels, digits_labels, digits_tables, nutrimouse_labels, nutrimouse_tables};

/// Every how many samples one is set apart by [`StudyTable::split`].
const APART: usize = 5;

/// Tables of the same samples to try the program on, real or simulated.
#[derive(Clone, Copy, Debug)]
pub struct Study {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub summary: &'static str,
    /// Number of samples.
    pub samples: usize,
    /// What its tables are, in the order of [`tables`](Self::tables).
    pub contents: &'static [Contents],
    /// Where real data come from; `None` of data that are simulated.
    pub source: Option<&'static Source>,
    /// Whether its rows belong together, such as visits of the same people, so that none are set apart as new ones.
    pub whole: bool,
    load: fn() -> Vec<StudyTable>,
}

/// What a table of a study is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contents {
    /// Name of the table.
    pub name: &'static str,
    /// Number of its columns.
    pub columns: usize,
    /// What the columns are.
    pub what: &'static str,
    /// What the table is for.
    pub role: Role,
}

/// What a table is for in a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A view of that likelihood.
    View(&'static str),
    /// Labels of two values, each column a view of its own of that likelihood.
    Labels(&'static str),
    /// About the samples, not to be modelled.
    About,
    /// A row for each visit of a subject, to be laid out as a study of windows.
    Visits,
}

/// A table of a study.
#[derive(Clone, Debug)]
pub struct StudyTable {
    /// Its name.
    pub name: &'static str,
    /// Its columns.
    pub cells: StudyCells,
}

/// The columns of a table.
#[derive(Clone, Debug)]
pub enum StudyCells {
    /// Numbers, `NaN` where missing.
    Numbers(Table),
    /// Words, one entry a column.
    Words(Vec<Labels>),
    /// Numbers, limits and words as a file has them.
    Text {
        /// Names of the rows.
        samples: Vec<String>,
        /// Columns with their names; `None` where missing.
        columns: Vec<(String, Vec<Option<String>>)>,
    },
}

impl Study {
    /// The tables, whole: N rows each, in the same order of samples.
    ///
    /// ```
    /// let mice = polyview_datasets::studies()[0];
    /// assert_eq!(mice.name, "nutrimouse");
    /// let names: Vec<&str> = mice.tables().iter().map(|t| t.name).collect();
    /// assert_eq!(names, ["genes", "lipids", "diet", "knockout", "samples"]);
    /// ```
    pub fn tables(&self) -> Vec<StudyTable> {
        (self.load)()
    }
}

impl StudyTable {
    /// Sample IDs.
    pub fn samples(&self) -> &[String] {
        match &self.cells {
            StudyCells::Numbers(table) => &table.samples,
            StudyCells::Words(columns) => columns.first().map_or(&[], |c| &c.samples),
            StudyCells::Text { samples, .. } => samples,
        }
    }
    /// Column names.
    pub fn columns(&self) -> Vec<&str> {
        match &self.cells {
            StudyCells::Numbers(table) => table.features.iter().map(String::as_str).collect(),
            StudyCells::Words(columns) => columns.iter().map(|c| c.name.as_str()).collect(),
            StudyCells::Text { columns, .. } => columns.iter().map(|c| c.0.as_str()).collect(),
        }
    }
    /// The rows to fit, and those set apart as new samples: every fifth. All
    /// tables of a study part at the same samples.
    pub fn split(&self) -> (Self, Self) {
        let (new, old): (Vec<usize>, Vec<usize>) =
            (0..self.samples().len()).partition(|n| (n + 1).is_multiple_of(APART));
        (self.rows(&old), self.rows(&new))
    }
    /// Some of its rows.
    fn rows(&self, keep: &[usize]) -> Self {
        let of = |ids: &[String]| keep.iter().map(|&n| ids[n].clone()).collect();
        let cells = match &self.cells {
            StudyCells::Numbers(t) => StudyCells::Numbers(Table {
                name: t.name.clone(),
                samples: of(&t.samples),
                features: t.features.clone(),
                levels: t.levels.clone(),
                values: Mat::from_fn(keep.len(), t.values.ncols(), |n, d| t.values[(keep[n], d)]),
            }),
            StudyCells::Words(columns) => StudyCells::Words(
                columns
                    .iter()
                    .map(|c| Labels {
                        name: c.name.clone(),
                        samples: of(&c.samples),
                        levels: c.levels.clone(),
                        codes: keep.iter().map(|&n| c.codes[n]).collect(),
                    })
                    .collect(),
            ),
            StudyCells::Text { samples, columns } => StudyCells::Text {
                samples: of(samples),
                columns: columns
                    .iter()
                    .map(|(name, cells)| {
                        let cells = keep.iter().map(|&n| cells[n].clone()).collect();
                        (name.clone(), cells)
                    })
                    .collect(),
            },
        };
        Self {
            name: self.name,
            cells,
        }
    }
}

/// Every study.
pub fn studies() -> [&'static Study; 4] {
    [&MICE, &patients::PATIENTS, &cohort::COHORT, &NUMERALS]
}

const fn view(
    name: &'static str,
    columns: usize,
    likelihood: &'static str,
    what: &'static str,
) -> Contents {
    Contents {
        name,
        columns,
        what,
        role: Role::View(likelihood),
    }
}

static MICE: Study = Study {
    name: "nutrimouse",
    summary: "40 mice of two genotypes on five diets: genes of the liver, fatty acids",
    samples: 40,
    contents: &[
        view("genes", 120, "gaussian", "activity of genes in the liver"),
        view(
            "lipids",
            21,
            "gaussian",
            "percentages of hepatic fatty acids",
        ),
        view("diet", 1, "categorical", "one of five diets"),
        view("knockout", 1, "bernoulli", "1 of mice without PPAR alpha"),
        Contents {
            name: "samples",
            columns: 2,
            what: "diet and genotype, for the colours of a report",
            role: Role::About,
        },
    ],
    source: Some(&NUTRIMOUSE),
    whole: false,
    load: mice,
};

fn mice() -> Vec<StudyTable> {
    let labels = nutrimouse_labels();
    let mut tables: Vec<StudyTable> = ["genes", "lipids"]
        .into_iter()
        .zip(nutrimouse_tables())
        .map(|(name, table)| numbers(name, table))
        .collect();
    let [diet, genotype] = &labels[..] else {
        return tables;
    };
    tables.push(words("diet", vec![diet.clone()]));
    // `ppar` comes before `wt`: the first of the two indicators
    let mut knockout = genotype.to_indicators();
    knockout.values = Mat::from_fn(knockout.values.nrows(), 1, |n, _| knockout.values[(n, 0)]);
    knockout.features = vec!["knockout".into()];
    tables.push(numbers("knockout", knockout));
    tables.push(words("samples", labels));
    tables
}

static NUMERALS: Study = Study {
    name: "digits",
    summary: "2000 handwritten digits, described by six sets of features",
    samples: 2000,
    contents: &[
        view("fac", 216, "gaussian", "profile correlations"),
        view("fou", 76, "gaussian", "Fourier coefficients of the shapes"),
        view("kar", 64, "gaussian", "Karhunen-Loeve coefficients"),
        view("mor", 6, "gaussian", "morphological features"),
        view("pix", 240, "gaussian", "pixels, 0 to 6, an image of 16x15"),
        view("zer", 47, "gaussian", "Zernike moments"),
        view("digit", 1, "categorical", "the digit"),
    ],
    source: Some(&DIGITS),
    whole: false,
    load: numerals,
};

fn numerals() -> Vec<StudyTable> {
    // the names are those of the files, in the same order
    let names = NUMERALS.contents.iter().map(|c| c.name);
    let mut tables: Vec<StudyTable> = names
        .zip(digits_tables())
        .map(|(name, table)| numbers(name, table))
        .collect();
    tables.push(words("digit", digits_labels()));
    tables
}

fn numbers(name: &'static str, mut table: Table) -> StudyTable {
    name.clone_into(&mut table.name);
    StudyTable {
        name,
        cells: StudyCells::Numbers(table),
    }
}

fn words(name: &'static str, columns: Vec<Labels>) -> StudyTable {
    StudyTable {
        name,
        cells: StudyCells::Words(columns),
    }
}
