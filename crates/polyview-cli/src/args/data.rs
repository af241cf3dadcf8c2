//! Where data come from, and how they are written.

use std::path::PathBuf;

use clap::Args;
use polyview::Likelihoods;
use polyview_io::{DecimalMark, Delimiter, ReadOptions};

use crate::choice::known;

/// How text files are written.
#[derive(Debug, Args)]
#[command(next_help_heading = "Data")]
pub struct FormatArgs {
    /// What parts the columns of text files [default: guessed from the header].
    #[arg(long, value_name = "WHAT", value_parser = ["comma", "semicolon", "tab"])]
    pub delimiter: Option<String>,
    /// Numbers in text files have a decimal comma.
    #[arg(long)]
    pub decimal_comma: bool,
    /// A number or word that stands for a missing value, such as 999, besides
    /// empty cells and the usual NA, N/A, NaN, null, none, '.', '-' and '?', in
    /// capitals or not (among words, such as classes, 'none', '.' and '-' are words);
    /// may be given several times. Of new samples of a model
    /// those of its fit hold unless others are given.
    #[arg(long, value_name = "CODE", allow_hyphen_values = true)]
    pub na: Vec<String>,
}

impl FormatArgs {
    /// Changes how text is read where options say so.
    pub fn set(&self, options: &mut ReadOptions) {
        options.delimiter = match self.delimiter.as_deref() {
            Some("comma") => Delimiter::Comma,
            Some("semicolon") => Delimiter::Semicolon,
            Some("tab") => Delimiter::Tab,
            _ => options.delimiter,
        };
        if self.decimal_comma {
            options.decimal = DecimalMark::Comma;
        }
        options.missing.extend(self.na.iter().cloned());
    }
    /// How text is read.
    pub fn options(&self) -> ReadOptions {
        let mut options = ReadOptions::default();
        self.set(&mut options);
        options
    }
}

/// What `--view` takes, with the likelihoods that there are.
fn view_help() -> String {
    format!(
        "A view: NAME=FILE or NAME=FILE:LIKELIHOOD; may be given several times. CSV, TSV (also .gz), NPY, \
         NPZ (FILE.npz#ARRAY for one of several arrays, else x, values, or the only one); first column the \
         sample IDs, header row the feature names. Arrays have no IDs (NPZ: in an array samples) and are \
         joined by place. Sparse: Matrix Market, FILE.mtx with FILE.rows.txt and FILE.cols.txt, or \
         matrix.mtx of 10x with its features.tsv and barcodes.tsv. Also FILE.h5ad or \
         FILE.h5ad#layers/counts, FILE.h5mu#MODALITY or FILE.h5mu#MODALITY/layers/counts; of classes \
         FILE.h5ad#obs/COLUMN. Likelihoods: {}; 'polyview models' says what each is for. With --model \
         sshiba or mofa a likelihood that is not given is guessed, and the guess is said",
        known::<Likelihoods>().join(", ")
    )
}

/// Where data come from.
#[derive(Debug, Args)]
#[command(next_help_heading = "Data")]
pub struct DataArgs {
    /// Tables, each NAME=FILE or NAME=FILE:LIKELIHOOD.
    #[arg(long = "view", value_name = "NAME=FILE[:LIKELIHOOD]", help = view_help())]
    pub views: Vec<String>,
    /// Labels of two values, words or numbers: FILE:LIKELIHOOD. Each column is a
    /// view of its own, named by its header; may be given several times.
    #[arg(long, value_name = "FILE:LIKELIHOOD")]
    pub labels: Vec<String>,
    /// Numbers of trials of a binomial view, in a table like the view's; may
    /// be given several times [default: 1 for each cell].
    #[arg(long, value_name = "VIEW=FILE")]
    pub trials: Vec<String>,
    /// A table about the samples (first column the IDs), kept for reports,
    /// never modelled. Of an .h5ad or .h5mu file its obs.
    #[arg(long, value_name = "FILE")]
    pub metadata: Option<PathBuf>,
    /// Column of the metadata that gives each sample its group. Of new samples it
    /// is that of the fit unless another is named, and one without a group is
    /// taken to be of any.
    #[arg(long, value_name = "COLUMN", requires = "metadata")]
    pub groups: Option<String>,
    /// A table about the samples with the covariates that the fit is adjusted
    /// for (--adjust): first column the IDs; numbers, or words for categories.
    /// A model that was adjusted needs it of new samples as well.
    #[arg(long, value_name = "FILE")]
    pub covariates: Option<PathBuf>,
    /// What is added to the predictors of a view, known of each sample: a table
    /// of IDs and one column of numbers. Of counts (poisson, nb, pln) sizes such as
    /// library sizes, whose logarithms are added; or log-total, each sample's
    /// total count (of one that lacks features that of the others, over their
    /// share of all counts, which is said); totals of new samples, such as those of a view that is
    /// predicted, may be a table. May be given several times.
    #[arg(long = "offset", value_name = "VIEW=FILE|log-total")]
    pub offsets: Vec<String>,
    /// Samples to keep: those that any view has, or those that all have
    /// [default: union].
    #[arg(long, value_name = "HOW", value_parser = ["union", "intersection"])]
    pub join: Option<String>,
    /// The tables of --view and --trials have features in rows and samples in
    /// columns. Tables about samples (--labels, --metadata, --covariates,
    /// --offset) have samples in rows all the same, and .h5ad and .h5mu say
    /// themselves where these are.
    #[arg(long)]
    pub transposed: bool,
    #[command(flatten)]
    pub format: FormatArgs,
}
