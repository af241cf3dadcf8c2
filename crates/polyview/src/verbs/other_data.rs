//! Whether two fits were made from the same data.

use crate::fit::{Fit, ViewInfo};

/// Relative difference of two numbers that are the same: they were scaled and brought back.
const ROUNDING: f64 = 1e-9;

impl Fit {
    /// What is to be said of a view whose training data are others than those of `other`, which
    /// has it at the second place: of the cells of these samples and features, each by its
    /// place in either fit. Where one of the fits has no data at hand means and standard
    /// deviations of the features are compared. Nothing where the data are the same, or
    /// nobody knows.
    pub(super) fn other_data(
        &self,
        other: &Self,
        (own, theirs): (usize, usize),
        samples: &[(usize, usize)],
        columns: &[(usize, usize)],
    ) -> Option<String> {
        let (a, b) = (&self.views[own], &other.views[theirs]);
        if a.levels != b.levels {
            return Some(format!("{}: the two fits know other classes of it", a.name));
        }
        if self.data.is_none() || other.data.is_none() {
            return other_moments(a, b, columns);
        }
        // classes are one feature
        let classes = [(0, 0)];
        let columns = if a.levels.is_empty() {
            columns
        } else {
            &classes
        };
        let (mut differ, mut first) = (0usize, None);
        for &(d, e) in columns {
            for &(n, m) in samples {
                let cells = (self.observed_at(own, n, d), other.observed_at(theirs, m, e));
                let same = match cells {
                    (Some(x), Some(y)) => alike(x, y, spread(a, d)),
                    (x, y) => x.is_none() == y.is_none(),
                };
                if !same {
                    differ += 1;
                    first.get_or_insert((n, d));
                }
            }
        }
        let (n, d) = first?;
        Some(format!(
            "{}: the two fits have other data of it: {differ} of the {} cells that were looked at differ, \
             first that of sample '{}', feature '{}'",
            a.name,
            columns.len() * samples.len(),
            self.samples[n],
            a.features[d]
        ))
    }
}

/// The same for features whose values are not at hand.
fn other_moments(a: &ViewInfo, b: &ViewInfo, columns: &[(usize, usize)]) -> Option<String> {
    let (own, theirs) = (a.training.as_ref()?, b.training.as_ref()?);
    let differs = |&&(d, e): &&(usize, usize)| {
        let unit = own.sd.get(d).copied().unwrap_or(0.0);
        let pairs = [(&own.mean, &theirs.mean), (&own.sd, &theirs.sd)];
        (pairs.iter()).any(|(x, y)| match (x.get(d), y.get(e)) {
            (Some(x), Some(y)) => !alike(*x, *y, unit),
            _ => false,
        })
    };
    let (d, _) = columns.iter().find(differs)?;
    Some(format!(
        "{}: the two fits have other data of it: mean or standard deviation of '{}' differ, to name one",
        a.name,
        a.features.get(*d).map_or("", String::as_str)
    ))
}

/// Standard deviation of a feature in training; 0 where nobody knows.
fn spread(info: &ViewInfo, feature: usize) -> f64 {
    let training = info.training.as_ref();
    training.map_or(0.0, |t| t.sd.get(feature).copied().unwrap_or(0.0))
}

/// Whether two numbers differ by no more than rounding, next to their size or to the spread of
/// their feature.
fn alike(x: f64, y: f64, spread: f64) -> bool {
    x == y || (x - y).abs() <= ROUNDING * x.abs().max(y.abs()).max(spread)
}
