//! Cells on a sheet, gathered on points of their patches.

use super::patch::{ORDER, basis, weights};
use super::{POINTS, Sheet};

/// Cells on a sheet, in place of which a few points of their patches stand: sums over these of
/// expectations that are as smooth as those of the sheet are those over the cells.
#[derive(Debug, Default)]
pub(crate) struct Cast {
    /// $\sum q\_n$ over the cells of each patch, strip after strip; empty where there are none.
    strips: Vec<Vec<[f64; ORDER]>>,
}

impl Cast {
    /// Adds a cell; false where it lies beyond the sheet.
    pub(crate) fn add(&mut self, sheet: &Sheet, mean: f64, variance: f64) -> bool {
        let Some(place) = sheet.place(mean, variance) else {
            return false;
        };
        let (strip, column) = (place.strip as usize, place.column as usize);
        if self.strips.len() <= strip {
            self.strips.resize_with(strip + 1, Vec::new);
        }
        let strip = &mut self.strips[strip];
        if strip.is_empty() {
            strip.resize(sheet.across(), [0.0; ORDER]);
        }
        for (sum, q) in strip[column].iter_mut().zip(basis(place.t, place.s)) {
            *sum += q;
        }
        true
    }
    /// Adds the cells of another.
    pub(crate) fn merge(&mut self, other: &Self) {
        let strips = other.strips.len().max(self.strips.len());
        self.strips.resize_with(strips, Vec::new);
        for (own, other) in self.strips.iter_mut().zip(&other.strips) {
            own.resize(own.len().max(other.len()), [0.0; ORDER]);
            for (a, b) in own.iter_mut().zip(other) {
                for (a, b) in a.iter_mut().zip(b) {
                    *a += b;
                }
            }
        }
    }
    /// Visits the points that stand for the cells: weight, mean and variance.
    pub(crate) fn each(&self, sheet: &Sheet, mut visit: impl FnMut(f64, f64, f64)) {
        for (strip, patches) in self.strips.iter().enumerate() {
            // the first of the basis counts cells
            for (column, sums) in patches.iter().enumerate().filter(|(_, s)| s[0] > 0.0) {
                let (mean, variance) = sheet.points(strip, column);
                let weights = weights(strip, sums);
                for i in 0..POINTS {
                    visit(weights[i], mean[i], variance[i]);
                }
            }
        }
    }
}
