//! HDF5 files: models of MOFA2 written and read, views out of `.h5ad` and
//! `.h5mu`.
//!
//! No C library: the format is read and written by
//! hdf5-pure.
//!
//! ```
//! use polyview_hdf5::{ExportOptions, ImportOptions, read_mofa2, write_mofa2};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let data = polyview_datasets::nutrimouse();
//! let fit = polyview::fit(data.clone(), polyview::models::mofa(3))?;
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("model.hdf5");
//! write_mofa2(&fit, &path, &ExportOptions::default())?; // opens in mofax and MOFA2
//! let again = read_mofa2(&path, &ImportOptions::default())?; // so does what mofapy2 wrote
//! let factors = again.project(&data, &Default::default())?;
//! assert!(factors.notes[0].contains("weights are known"));
//! # Ok(())
//! # }
//! ```
//!
//! | item | what |
//! |---|---|
//! | [`write_mofa2`] | a model as a file that MOFA2, mofax and muon open |
//! | [`read_mofa2`] | a model of mofapy2, ready to project new samples |
//! | [`read_view`], [`read_classes`], [`read_obs`], [`Location`] | matrices and annotations of `.h5ad` and `.h5mu` |
//! | [`Hdf5Error`] | what went wrong, where, and how to mend it |
//!
//! **Out.** Weights (working units), factors and shares of variance explained (percent, by group) are those of the fit, to the last bit, tested with
//! mofax. Views that MOFA2 has no likelihood for (categorical, negative binomial, binomial) are refused unless they are left out. Standard deviations
//! and inclusion probabilities have no place in the layout; scales, intercepts and noise go into a group `polyview` that other programs ignore.
//!
//! **In.** A file of mofapy2 keeps means. What is taken for granted instead is in the model's journal, and every projection and prediction says it:
//!
//! | not in the file | what is done |
//! |---|---|
//! | variances of weights | weights are known; standard deviations of projections and predictions leave their uncertainty out |
//! | covariances of factors | those that the data give each sample |
//! | noise, unless saved (`expectations="all"`) | that of the training data about factors times weights |
//! | intercepts of binary and count views | largest posterior density, given factors and weights |
//! | what a view was divided by (`scale_views`) | 1, noticed and said; [`ImportOptions::scales`] takes it, the standard deviation about each feature's mean in its group |
//! | group of a new sample | that of its name, where new data have groups; else any, as likely as its data make it (mixtures); [`ImportOptions::group`] reads one alone |
//! | inclusion probabilities of weights | none: weights are read as ARD weights |
//!
//! **Single cells.** `X`, layers and `raw/X` of `.h5ad`, and of each modality of `.h5mu`: dense, CSR or CSC. Sparse matrices stay
//! sparse, unless cells of them are missing (`NaN` among the entries): these become dense, of at most 16 GiB. Names and columns of `obs` in every encoding
//! since anndata 0.7: words of fixed and variable length, categories (new, and those of 0.7 in `__categories`), values with a mask. A file of anndata
//! before 0.7 is an error that says how to mend it, and so is one that is cut off, damaged or of another layout.

mod anndata;
mod error;
mod file;
mod mofa2;

pub use anndata::{Location, read_classes, read_obs, read_view, unnamed_modalities};
pub use error::{Hdf5Error, Result};
pub use mofa2::{ExportOptions, ImportOptions, read_mofa2, write_mofa2};
