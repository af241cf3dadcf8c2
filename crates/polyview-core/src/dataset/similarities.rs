//! Tables of similarities: their features are the samples themselves.

use std::collections::HashMap;

use polyview_linalg::Mat;

use super::View;
use crate::error::DataError;

/// Largest difference of two cells of one pair, as a share of the largest value of the
/// table, that is rounding.
const ROUNDING: f64 = 1e-8;

impl View {
    /// The view as a symmetric table of these samples, which are its rows: its features are
    /// they, in this order. A pair of samples has one similarity, so that a cell that is
    /// missing has the value of the other one; cells of a sample with itself say nothing and
    /// are missing. Features are found by the samples' IDs; a sample that is no feature has
    /// what the others say of it.
    ///
    /// ```
    /// use polyview_core::View;
    /// use polyview_linalg::Mat;
    ///
    /// # fn main() -> Result<(), polyview_core::DataError> {
    /// let names = |ids: [&str; 2]| ids.map(str::to_owned).to_vec();
    /// let values = Mat::from_fn(2, 2, |n, d| if n == 0 && d == 0 { 0.7 } else { f64::NAN });
    /// let view = View::from_values("alike", names(["b", "a"]), values)?;
    /// let square = view.among(&names(["a", "b"]))?;
    /// assert_eq!(square.features(), ["a", "b"]);
    /// assert_eq!((square.value(0, 1), square.value(1, 0)), (Some(0.7), Some(0.7)));
    /// assert_eq!(square.value(0, 0), None);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`DataError::ForeignFeature`], [`DataError::DuplicateFeature`],
    /// [`DataError::Asymmetric`]; [`DataError::LengthMismatch`] when there are not as many IDs
    /// as rows.
    pub fn among(&self, samples: &[String]) -> Result<Self, DataError> {
        if samples.len() != self.n_samples() {
            return Err(DataError::LengthMismatch {
                view: self.name.clone(),
                what: "sample IDs",
                expected: self.n_samples(),
                found: samples.len(),
            });
        }
        let place: HashMap<&str, usize> = (samples.iter().enumerate())
            .map(|(n, s)| (s.as_str(), n))
            .collect();
        let mut column: Vec<Option<usize>> = vec![None; samples.len()];
        for (d, feature) in self.features.iter().enumerate() {
            let Some(&n) = place.get(feature.as_str()) else {
                return Err(DataError::ForeignFeature {
                    view: self.name.clone(),
                    feature: feature.clone(),
                });
            };
            if let Some(first) = column[n].replace(d) {
                return Err(DataError::DuplicateFeature {
                    view: self.name.clone(),
                    feature: feature.clone(),
                    first,
                    second: d,
                });
            }
        }
        let mut values = Mat::from_fn(samples.len(), samples.len(), |n, m| {
            let own = column[m].and_then(|d| self.value(n, d));
            own.filter(|_| n != m).unwrap_or(f64::NAN)
        });
        symmetrise(&self.name, samples, &mut values)?;
        Self::from_values(self.name.clone(), samples.to_vec(), values)
    }
    /// As [`View::among`], of a view whose features are its rows already, in this order.
    ///
    /// # Errors
    /// [`DataError::NotSquare`], [`DataError::Asymmetric`].
    pub fn symmetric(&self) -> Result<Self, DataError> {
        if self.n_samples() != self.n_features() {
            return Err(DataError::NotSquare {
                view: self.name.clone(),
                samples: self.n_samples(),
                features: self.n_features(),
            });
        }
        self.among(&self.features)
    }
    /// Number of cells of samples with themselves that were observed, and whether all of
    /// these are zero: rows are `samples`.
    pub fn diagonal(&self, samples: &[String]) -> (usize, bool) {
        let place: HashMap<&str, usize> = (samples.iter().enumerate())
            .map(|(n, s)| (s.as_str(), n))
            .collect();
        let own = self.features.iter().enumerate().filter_map(|(d, f)| {
            let n = *place.get(f.as_str())?;
            self.value(n, d)
        });
        own.fold((0, true), |(count, zero), x| (count + 1, zero && x == 0.0))
    }
    /// Whether the view is a symmetric table of its samples: each feature is one of them, and
    /// cells of one pair agree. Two features at least.
    pub fn is_among(&self, samples: &[String]) -> bool {
        self.n_features() > 1 && self.levels.is_empty() && self.among(samples).is_ok()
    }
}

/// Gives both cells of a pair its value.
fn symmetrise(view: &str, names: &[String], values: &mut Mat<f64>) -> Result<(), DataError> {
    let mut largest = 0.0_f64;
    for m in 0..values.ncols() {
        let column = values.col_as_slice(m);
        largest = column.iter().fold(largest, |most, x| most.max(x.abs()));
    }
    for m in 0..values.ncols() {
        for n in 0..m {
            let (there, back) = (values[(n, m)], values[(m, n)]);
            if (there - back).abs() > ROUNDING * largest {
                return Err(DataError::Asymmetric {
                    view: view.to_owned(),
                    row: names[n].clone(),
                    column: names[m].clone(),
                    there,
                    back,
                });
            }
            let of_pair = match (there.is_nan(), back.is_nan()) {
                (true, _) => back,
                (_, true) => there,
                // the same bits where they are the same
                _ => there + 0.5 * (back - there),
            };
            values[(n, m)] = of_pair;
            values[(m, n)] = of_pair;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(ids: &[&str]) -> Vec<String> {
        ids.iter().map(|s| (*s).to_owned()).collect()
    }

    fn view(features: &[&str], cells: &[[f64; 3]; 3]) -> View {
        let values = Mat::from_fn(3, 3, |n, d| cells[n][d]);
        View::from_values("k", names(features), values).expect("a view")
    }

    const NO: f64 = f64::NAN;

    #[test]
    fn columns_are_found_by_their_ids_and_pairs_have_one_value() {
        // columns c, a, b
        let given = view(
            &["c", "a", "b"],
            &[[2.0, 1.0, 3.0], [NO, 3.0, 1.0], [1.0, NO, 4.0]],
        );
        let samples = names(&["a", "b", "c"]);
        let square = given.among(&samples).expect("a symmetric table");
        let cells: Vec<Option<f64>> = (0..9).map(|i| square.value(i / 3, i % 3)).collect();
        let known = [(1, 3.0), (2, 2.0), (3, 3.0), (5, 4.0), (6, 2.0), (7, 4.0)];
        for (at, x) in known {
            assert_eq!(cells[at], Some(x), "{at}");
        }
        assert_eq!((cells[0], cells[4], cells[8]), (None, None, None));
        assert_eq!(given.diagonal(&samples), (3, false));
        assert_eq!(square.symmetric().expect("as it is"), square);
        assert!(given.is_among(&samples) && !given.is_among(&names(&["a", "b", "x"])));
    }

    #[test]
    fn what_is_no_table_of_the_samples_is_refused() {
        let cells = [[0.0, 1.0, 2.0], [1.5, 0.0, 3.0], [2.0, 3.0, 0.0]];
        let samples = names(&["a", "b", "c"]);
        let told = |features: &[&str]| view(features, &cells).among(&samples).unwrap_err();
        let said = told(&["a", "b", "c"]).to_string();
        assert_eq!(
            said,
            "view 'k': the similarity of 'a' and 'b' is 1 in the row of 'a' and 1.5 in that of 'b'; \
             give one number for both, or leave one of the two cells empty"
        );
        assert!(matches!(
            told(&["a", "b", "x"]),
            DataError::ForeignFeature { .. }
        ));
        assert!(matches!(
            told(&["a", "b", "b"]),
            DataError::DuplicateFeature { .. }
        ));
        let few = View::from_values("k", names(&["a"]), Mat::zeros(3, 1)).expect("a view");
        assert!(matches!(few.symmetric(), Err(DataError::NotSquare { .. })));
    }
}
