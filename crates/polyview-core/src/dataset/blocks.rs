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

/// Stretches of an excerpt.
const STRETCHES: usize = 32;

/// An excerpt of a source: stretches of neighbouring samples, spread evenly over all, with about
/// `cells` cells but at least one sample a stretch; the whole where it has no more.
/// The samples it is of, and its views.
///
/// # Errors
/// Whatever reading fails with.
pub fn excerpt(
    source: &mut dyn BlockSource,
    cells: usize,
) -> Result<(Vec<Range<usize>>, Vec<View>), SourceError> {
    let features: usize = source.read(&[])?.iter().map(View::n_features).sum();
    let (all, most) = (source.samples(), cells / features.max(1));
    let ranges = if all <= most.max(STRETCHES) {
        std::iter::once(0..all).collect()
    } else {
        let start = |i: usize| i * all / STRETCHES;
        let length = (most / STRETCHES).max(1);
        (0..STRETCHES)
            .map(|i| start(i)..start(i) + length)
            .collect::<Vec<_>>()
    };
    let views = source.read(&ranges)?;
    Ok((ranges, views))
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

#[cfg(test)]
mod tests {
    use polyview_linalg::Mat;

    use super::*;

    #[test]
    fn an_excerpt_is_spread_over_all_samples() {
        let features = vec!["a".to_owned(), "b".to_owned()];
        let values = Mat::from_fn(1000, 2, |n, d| (n + d) as f64);
        let mut source = vec![View::from_values("x", features, values).expect("a view")];
        let (all, views) = excerpt(&mut source, 2000).expect("views");
        assert_eq!(
            (all.len(), all[0].clone(), views[0].n_samples()),
            (1, 0..1000, 1000)
        );
        let (some, views) = excerpt(&mut source, 200).expect("views");
        assert_eq!((some.len(), views[0].n_samples()), (32, 96));
        assert_eq!((some[0].clone(), some[31].clone()), (0..3, 968..971));
        assert_eq!(views[0].value(95, 1), Some(971.0));
        // never fewer than one a stretch
        assert_eq!(excerpt(&mut source, 1).expect("views").1[0].n_samples(), 32);
    }
}
