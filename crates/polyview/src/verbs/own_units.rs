//! Squared errors of held-out cells in units that no scale and, of ranks, no bend of a
//! feature changes.

use polyview_core::View;
use polyview_special::normal_quantile;

use super::score_cells::Cell;
use crate::fit::ViewInfo;
use crate::metrics::explained;

/// Squared errors of cells, and the squares that they are measured against.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Squares {
    /// $(x - \\hat x)^2$, cell by cell.
    pub(super) errors: Vec<f64>,
    /// Sum of $(x - \\bar x)^2$ with the training mean of the feature.
    pub(super) scatter: f64,
}

impl Squares {
    /// Adds the cells of a feature of values, in standard deviations of its training
    /// values. A feature that does not vary in training has no unit: its cells are not
    /// counted.
    pub(super) fn of_values(&mut self, x: &[f64], predicted: &[f64], training: (f64, f64)) {
        let (mean, spread) = training;
        if spread > 0.0 {
            for (x, predicted) in x.iter().zip(predicted) {
                self.errors.push(((x - predicted) / spread).powi(2));
                self.scatter += ((x - mean) / spread).powi(2);
            }
        }
    }

    /// Adds the cells of a feature of ranks, in normal scores among its training values
    /// (spec/maxmargin-rank 7): the order of the values alone counts, so that no bent
    /// scale changes them.
    pub(super) fn of_ranks(&mut self, cells: &[Cell], training: &View) {
        let Some(feature) = cells.first().map(|c| c.feature) else {
            return;
        };
        let column = training.column(feature).into_iter().enumerate();
        let mut values: Vec<f64> = column
            .filter(|(n, _)| training.is_observed(*n, feature))
            .map(|(_, x)| x)
            .collect();
        values.sort_unstable_by(f64::total_cmp);
        for cell in cells {
            let score = score_among(&values, cell.value);
            self.errors.push((score - cell.said.score).powi(2));
            self.scatter += score * score;
        }
    }

    /// What each cell adds to $R^2$: their mean is that. None where it is not known.
    pub(super) fn shares(&self) -> Vec<f64> {
        if self.scatter <= 0.0 {
            return Vec::new();
        }
        let unit = self.errors.len() as f64 / self.scatter;
        self.errors.iter().map(|e| 1.0 - e * unit).collect()
    }

    /// $R^2$ over all cells; `NaN` where these do not differ from the means.
    pub(super) fn r2(&self) -> f64 {
        explained(self.errors.iter().sum(), self.scatter).unwrap_or(f64::NAN)
    }
}

/// The training values of a feature, data units: the exact ones, and limits as values where there is no other.
fn training_values(info: &ViewInfo, training: &View, feature: usize) -> Vec<f64> {
    let column = training.column(feature);
    let all = |limits: bool| -> Vec<f64> {
        let cells = column.iter().enumerate();
        cells
            .filter(|(n, _)| training.is_observed(*n, feature))
            .filter(|(n, _)| limits || !training.is_censored(*n, feature))
            .map(|(_, x)| info.scaling.backward(feature, *x))
            .collect()
    };
    let exact = all(false);
    if exact.is_empty() { all(true) } else { exact }
}

/// Mean of the training values of a feature, data units.
pub(super) fn training_mean(info: &ViewInfo, training: &View, feature: usize) -> f64 {
    let values = training_values(info, training, feature);
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Standard deviation of the training values of a feature about their mean, data units.
pub(super) fn training_spread(info: &ViewInfo, training: &View, feature: usize, mean: f64) -> f64 {
    let values = training_values(info, training, feature);
    let (count, mut largest) = (values.len(), 0.0_f64);
    let distances = || values.iter().map(|x| x - mean);
    for x in distances() {
        largest = largest.max(x.abs());
    }
    // by the largest, so that no square is beyond all numbers
    let squares: f64 = distances().map(|x| (x / largest).powi(2)).sum();
    if largest > 0.0 {
        largest * (squares / count as f64).sqrt()
    } else {
        0.0
    }
}

/// Normal score of a new value by its place among sorted ones: that of equal ones, or
/// half way between two of them.
fn score_among(sorted: &[f64], x: f64) -> f64 {
    let below = sorted.partition_point(|v| *v < x) as f64;
    let not_above = sorted.partition_point(|v| *v <= x) as f64;
    normal_quantile(0.5 * (below + not_above + 1.0) / (sorted.len() as f64 + 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_among_values_are_scores() {
        let sorted = [1.0, 2.0, 2.0, 5.0];
        let at = |x| score_among(&sorted, x);
        // ranks 2.5 of 4, and half a rank beyond the ends
        assert_eq!(at(2.0), normal_quantile(0.5));
        assert_eq!(at(3.0), normal_quantile(3.5 / 5.0));
        assert_eq!(at(0.0), normal_quantile(0.5 / 5.0));
        assert_eq!(at(9.0), normal_quantile(4.5 / 5.0));
        assert!(score_among(&[], 1.0).abs() < 1e-15);
    }

    #[test]
    fn features_count_alike_whatever_their_unit() {
        let mut found = Squares::default();
        found.of_values(&[1.0, -1.0], &[1.0, -1.0], (0.0, 1.0));
        found.of_values(&[1e6, -1e6], &[0.0, 0.0], (0.0, 1e6));
        assert!((found.r2() - 0.5).abs() < 1e-12);
        // without a unit nothing is counted
        found.of_values(&[3.0], &[0.0], (0.0, 0.0));
        assert_eq!(found.errors.len(), 4);
        assert!(Squares::default().r2().is_nan());
    }
}
