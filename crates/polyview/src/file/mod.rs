//! Model files and checkpoints.
#![doc = include_str!("FORMAT.md")]

mod check;
mod checkpoint;
mod container;
mod difference;
mod disk;
mod fault;
mod header;
mod json;
mod ledger;
mod model;
mod rounding;
mod scores;
mod settled;
mod sparse;
mod training;
mod values;

use std::path::Path;

pub(crate) use checkpoint::{Extents, Origin, read_record, record_fits, same_origin, write_record};
pub use polyview_core::Overwrite;

use crate::error::Result;
use crate::fit::Fit;
use crate::registry::Registry;

/// The newest format of model files that this program reads, and the one that it
/// writes.
#[doc = include_str!("FORMAT.md")]
pub const FORMAT_VERSION: u32 = 2;

/// The format of checkpoints, which go on with the version that wrote them alone. It is
/// 1 more for every change of what a fit in progress remembers.
const CHECKPOINT_VERSION: u32 = 4;

/// What errors call a file that is in memory.
const BYTES: &str = "model in memory";

impl Fit {
    /// Writes the model: posterior, choices, record and, unless
    /// [`Fit::forget_data`] was called, the training data. One file, complete
    /// or not there at all; see [`FORMAT_VERSION`] for what is in it.
    ///
    /// ```
    /// # use polyview::{ErrorKind, Fit, Overwrite, models};
    /// # use polyview_core::{Dataset, Table};
    /// # use polyview_linalg::Mat;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let table = Table {
    /// #     name: "genes".into(),
    /// #     samples: (0..12).map(|n| format!("s{n}")).collect(),
    /// #     features: (0..4).map(|d| format!("g{d}")).collect(),
    /// #     values: Mat::from_fn(12, 4, |n, d| (n * (d + 1)) as f64 + ((n * 7 + d * 3) % 5) as f64),
    /// #     levels: Vec::new(),
    /// # };
    /// # let data = Dataset::builder().view(table).build()?;
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("mice.pv");
    /// let fit = polyview::fit(data, models::bibfa(2))?;
    /// fit.save(&path, Overwrite::Refuse)?;
    /// let again = Fit::load(&path)?;
    /// assert_eq!(again.record().bound, fit.record().bound);
    /// // saving there again is refused
    /// let error = fit.save(&path, Overwrite::Refuse).unwrap_err();
    /// assert!(matches!(error.kind(), ErrorKind::Exists { .. }));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Exists`](crate::ErrorKind::Exists) when there is a file and it may not be replaced,
    /// [`ErrorKind::Io`](crate::ErrorKind::Io) when the disk refuses (full, no permission, no such
    /// folder), [`ErrorKind::File`](crate::ErrorKind::File) when the posterior holds numbers that are
    /// not finite or the names take more than 100 megabytes.
    pub fn save(&self, path: impl AsRef<Path>, overwrite: Overwrite) -> Result<()> {
        let path = path.as_ref();
        let file = model::pack(self).map_err(|f| f.at(&path.display().to_string()))?;
        disk::write(path, overwrite, &file)
    }

    /// Reads what [`Fit::save`] wrote: the same numbers, bit for bit.
    ///
    /// The checksum, every name, count and shape are checked before anything
    /// is built; a damaged or hostile file is an error.
    ///
    /// # Errors
    /// [`ErrorKind::Io`](crate::ErrorKind::Io) when the file cannot be read, [`ErrorKind::File`](crate::ErrorKind::File)
    /// when it is truncated, damaged or no model file,
    /// [`ErrorKind::NewerFile`](crate::ErrorKind::NewerFile) when a later release wrote it.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        Self::load_with(path, Registry::standard())
    }
    /// As [`Fit::load`], of a model with likelihoods, priors or a composer that `registry`
    /// knows.
    ///
    /// # Errors
    /// As [`Fit::load`]; [`crate::ErrorKind::UnknownSpecies`] and
    /// [`crate::ErrorKind::UnknownComposer`] for those that it does not know.
    pub fn load_with(path: impl AsRef<Path>, registry: &Registry) -> Result<Self> {
        let path = path.as_ref();
        let unpacked = model::unpack(&disk::read(path)?, registry);
        unpacked.map_err(|f| f.at(&path.display().to_string()))
    }

    /// The content of the file that [`Fit::save`] writes.
    ///
    /// # Errors
    /// [`ErrorKind::File`](crate::ErrorKind::File) as [`Fit::save`].
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        model::pack(self)
            .and_then(|f| Ok(f.to_bytes()?))
            .map_err(|f| f.at(BYTES))
    }

    /// The model in the content of a file.
    ///
    /// # Errors
    /// [`ErrorKind::File`](crate::ErrorKind::File) and [`ErrorKind::NewerFile`](crate::ErrorKind::NewerFile) as [`Fit::load`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        model::unpack(bytes, Registry::standard()).map_err(|f| f.at(BYTES))
    }
}
