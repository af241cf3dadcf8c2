//! Data that are read some samples at a time.

use std::ops::Range;

use super::View;

/// What reading failed with.
pub type SourceError = Box<dyn std::error::Error + Send + Sync>;

/// Views of the same samples that are read some samples at a time, so that they
/// need not be in memory as a whole. Views in memory are a source too.
pub trait BlockSource: Send {
    /// Number of samples N.
    fn samples(&self) -> usize;
    /// The views of the samples `ranges`, one range after the other: the same
    /// views with the same features at every call. No range at all asks for
    /// views without samples.
    ///
    /// # Errors
    /// Whatever reading fails with.
    fn read(&mut self, ranges: &[Range<usize>]) -> Result<Vec<View>, SourceError>;
}

impl BlockSource for Vec<View> {
    fn samples(&self) -> usize {
        self.first().map_or(0, View::n_samples)
    }
    fn read(&mut self, ranges: &[Range<usize>]) -> Result<Vec<View>, SourceError> {
        let rows: Vec<u32> = ranges
            .iter()
            .flat_map(|r| r.start as u32..r.end as u32)
            .collect();
        Ok(self.iter().map(|v| v.subset(v.name(), &rows)).collect())
    }
}
