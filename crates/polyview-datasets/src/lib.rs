//! Data to try factor models on: two small real multi-view data sets, embedded
//! with their source and licence, and simulators that return the truth with
//! the data.
//!
//! ```
//! use polyview_datasets::{SimulationOptions, nutrimouse, simulate_factor_data};
//!
//! let mice = nutrimouse();
//! assert_eq!(mice.n_samples(), 40);
//! for view in mice.views() {
//!     println!("{}: {} features", view.name(), view.n_features());
//! }
//!
//! let truth = simulate_factor_data(&SimulationOptions::new(200, &[50, 30], 4, 7))?;
//! assert_eq!(truth.dataset.views().len(), 2);
//! assert_eq!((truth.factors.nrows(), truth.factors.ncols()), (200, 4));
//! # Ok::<(), polyview_datasets::SimulationError>(())
//! ```
//!
//! | item | what it is |
//! |---|---|
//! | [`nutrimouse`] | 40 mice: 120 genes, 21 fatty acids, diet, genotype |
//! | [`digits`] | 2000 handwritten digits in six views |
//! | [`Labels`] | classes as words, codes, indicators or metadata |
//! | [`catalogue`], [`Source`] | citation, licence, origin, checksums |
//! | [`studies`], [`Study`] | tables of the same samples as files have them, with samples set apart |
//! | [`simulate_factor_data`] | shared and private factors, sparse weights, missing cells |
//! | [`simulate_bibfa`] | BIBFA's generative model, from its priors |
//!
//! The command line writes them as tables, with some samples set apart as new ones: `polyview datasets nutrimouse --out-dir mice`. Beside them it has
//! `patients`, a simulated study of sequencing reads, answers to drugs and two labels, and `cohort`, simulated people who are seen every six months, half
//! of all cells missing. Sources and licences of the data are in `data/LICENSES.md`.

mod catalogue;
mod embedded;
mod labels;
mod simulate;
mod study;

pub use catalogue::{DataFile, Source, catalogue};
pub use embedded::{
    digits, digits_labels, digits_tables, nutrimouse, nutrimouse_labels, nutrimouse_tables,
};
pub use labels::Labels;
pub use simulate::{
    Activity, BibfaOptions, Latent, Missing, Noise, Simulated, SimulatedBibfa, SimulationError,
    SimulationOptions, simulate_bibfa, simulate_factor_data,
};
pub use study::{Contents, Role, Study, StudyCells, StudyTable, studies};
