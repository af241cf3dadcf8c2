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

mod anndata;
mod error;
mod file;
mod mofa2;

pub use anndata::{Location, read_classes, read_obs, read_view};
pub use error::{Hdf5Error, Result};
pub use mofa2::{ExportOptions, ImportOptions, read_mofa2, write_mofa2};

/// Runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
