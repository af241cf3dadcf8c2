//! Values that are too large to be computed with.

use super::View;
use crate::error::DataError;

impl View {
    /// Largest magnitude of a value: sums of squares of so many values, and
    /// products of two such sums, still are 64-bit numbers.
    pub const LARGEST: f64 = 1e70;

    /// Refuses an observed value beyond [`View::LARGEST`]; `sample` gives the ID
    /// of a row.
    ///
    /// # Errors
    /// [`DataError::TooLarge`], of the first such cell.
    pub fn check_magnitude(&self, sample: impl Fn(usize) -> String) -> Result<(), DataError> {
        let large = |x: &f64| x.abs() > Self::LARGEST;
        let refuse = |n: usize, feature: &str, value: f64| {
            Err(DataError::TooLarge {
                view: self.name().to_owned(),
                sample: sample(n),
                feature: feature.to_owned(),
                value,
            })
        };
        for (d, feature) in self.features().iter().enumerate() {
            if let Some(x) = self.sparse() {
                let (rows, values) = x.entries().column(d);
                let base = x.base()[d];
                if let Some(i) = values.iter().position(|x| large(&(x + base))) {
                    return refuse(rows[i] as usize, feature, values[i] + base);
                }
                continue;
            }
            // zeros where cells are missing
            let column = self.values().col(d);
            if let Some((n, x)) = column.iter().enumerate().find(|(_, x)| large(x)) {
                return refuse(n, feature, *x);
            }
        }
        Ok(())
    }
}
