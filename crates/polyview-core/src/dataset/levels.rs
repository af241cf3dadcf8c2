//! Class names of categorical views: one column of codes 0, 1, …, C − 1 whose
//! names travel with the data.

use std::collections::HashMap;

use polyview_linalg::Mat;
use serde::{Deserialize, Serialize};

use super::{Mask, Values, View};
use crate::error::DataError;

/// What becomes of a sample whose class the trained model has not seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UnknownClass {
    /// An error that names the class.
    #[default]
    Error,
    /// The sample's class counts as missing, and is reported.
    Missing,
}

/// The places of classes by their names. A word that is none of these is that class whose number it is,
/// where all classes are different whole numbers: `4.0` is the class `4`, as programs write whole numbers once
/// a cell of their column is empty.
///
/// ```
/// use polyview_core::ClassPlaces;
///
/// let numbers = ClassPlaces::of(["1", "2", "4"]);
/// assert_eq!((numbers.at("4.0"), numbers.at("3.0"), numbers.at("four")), (Some(2), None, None));
/// // here they are words
/// assert_eq!(ClassPlaces::of(["1", "2", "other"]).at("1.0"), None);
/// ```
#[derive(Clone, Debug)]
pub struct ClassPlaces<'a> {
    names: HashMap<&'a str, usize>,
    /// Nothing where classes are not different whole numbers.
    numbers: HashMap<i64, usize>,
}

impl<'a> ClassPlaces<'a> {
    /// Of classes in this order.
    pub fn of(classes: impl IntoIterator<Item = &'a str>) -> Self {
        let (mut names, mut numbers, mut count) = (HashMap::new(), HashMap::new(), 0);
        for class in classes {
            if let Some(number) = whole_number(class) {
                numbers.insert(number, count);
            }
            names.entry(class).or_insert(count);
            count += 1;
        }
        if numbers.len() < count {
            numbers.clear();
        }
        Self { names, numbers }
    }
    /// The place of a class.
    pub fn at(&self, word: &str) -> Option<usize> {
        let by_number = || self.numbers.get(&whole_number(word)?).copied();
        self.names.get(word).copied().or_else(by_number)
    }
}

/// The whole number that a word is, `2.0` like `2`; none of other words.
///
/// ```
/// use polyview_core::whole_number;
///
/// assert_eq!(["2", "2.0", " 2e0", "2.5", "two"].map(whole_number), [Some(2), Some(2), Some(2), None, None]);
/// ```
pub fn whole_number(word: &str) -> Option<i64> {
    /// Larger ones are not told from their neighbours.
    const MOST: f64 = 9_007_199_254_740_992.0;
    let x: f64 = word.trim().parse().ok()?;
    (x.fract() == 0.0 && x.abs() < MOST).then_some(x as i64)
}

/// A categorical view with other codes for the same classes.
#[derive(Clone, Debug, PartialEq)]
pub struct Relevelled {
    /// The view, its codes indices into the new class names.
    pub view: View,
    /// Classes without a place among the new names, with the number of samples
    /// that lost their class.
    pub unknown: Vec<(String, usize)>,
}

/// Checks class names and codes; views without class names pass.
pub(super) fn check(
    view: &str,
    levels: &[String],
    values: &Mat<f64>,
    mask: &Mask,
) -> Result<(), DataError> {
    if levels.is_empty() {
        return Ok(());
    }
    if values.ncols() != 1 {
        return Err(DataError::LengthMismatch {
            view: view.to_owned(),
            what: "column of class codes",
            expected: 1,
            found: values.ncols(),
        });
    }
    let mut seen = HashMap::new();
    for (code, level) in levels.iter().enumerate() {
        if let Some(first) = seen.insert(level.as_str(), code) {
            return Err(DataError::DuplicateClass {
                view: view.to_owned(),
                class: level.clone(),
                first,
                second: code,
            });
        }
    }
    for n in 0..values.nrows() {
        let code = values[(n, 0)];
        if !mask.is_observed(n, 0) {
            continue;
        }
        if code.fract() != 0.0 {
            return Err(DataError::NotACode {
                view: view.to_owned(),
                sample: n,
                value: code,
            });
        }
        if code < 0.0 || code >= levels.len() as f64 {
            return Err(DataError::CodeOutOfRange {
                view: view.to_owned(),
                sample: n,
                code,
                classes: levels.len(),
            });
        }
    }
    Ok(())
}

impl View {
    /// The view as a categorical one: a single column of codes, the index of
    /// each sample's class in `levels`.
    ///
    /// # Errors
    /// [`DataError::LengthMismatch`] when there is not exactly one column,
    /// [`DataError::DuplicateClass`], [`DataError::NotACode`] for a value that
    /// is no whole number, [`DataError::CodeOutOfRange`].
    pub fn with_levels(mut self, levels: Vec<String>) -> Result<Self, DataError> {
        // names of classes belong to one column of codes: it is as well dense
        let values = self.values.to_dense(&self.mask);
        check(&self.name, &levels, &values, &self.mask)?;
        self.values = Values::Dense(values.into());
        self.levels = levels;
        Ok(self)
    }
    /// Names of the classes by code; empty unless the view is categorical.
    pub fn levels(&self) -> &[String] {
        &self.levels
    }
    /// The class of each sample, `None` where missing; empty unless the view
    /// is categorical.
    pub fn classes(&self) -> Vec<Option<usize>> {
        if self.levels.is_empty() {
            return Vec::new();
        }
        (0..self.n_samples())
            .map(|n| self.value(n, 0).map(|code| code as usize))
            .collect()
    }
    /// The view with the codes of `levels`, matched **by name** ([`ClassPlaces`]): how new
    /// samples are brought to the classes of a trained model. Classes of the
    /// view that no sample has need no match; a view without an observed value
    /// needs no class names.
    ///
    /// # Errors
    /// [`DataError::NotCategorical`] when the view has no class names,
    /// [`DataError::UnknownClass`] when a sample's class is not among
    /// `levels` and `unknown` says so.
    pub fn relevel(
        &self,
        levels: &[String],
        unknown: UnknownClass,
    ) -> Result<Relevelled, DataError> {
        if self.levels.is_empty() && self.n_observed() > 0 {
            return Err(DataError::NotCategorical {
                view: self.name.clone(),
            });
        }
        let place = ClassPlaces::of(levels.iter().map(String::as_str));
        let mut lost = vec![0; self.levels.len()];
        let mut values = Mat::from_fn(self.n_samples(), 1, |_, _| f64::NAN);
        for (n, class) in self.classes().into_iter().enumerate() {
            let Some(class) = class else { continue };
            match place.at(&self.levels[class]) {
                Some(code) => values[(n, 0)] = code as f64,
                None => lost[class] += 1,
            }
        }
        let lost: Vec<(String, usize)> = self
            .levels
            .iter()
            .zip(lost)
            .filter(|(_, count)| *count > 0)
            .map(|(level, count)| (level.clone(), count))
            .collect();
        if let (UnknownClass::Error, Some((class, samples))) = (unknown, lost.first()) {
            return Err(DataError::UnknownClass {
                view: self.name.clone(),
                class: class.clone(),
                samples: *samples,
            });
        }
        let view = Self::from_values(self.name.clone(), self.features.clone(), values)?
            .with_levels(levels.to_vec())?;
        Ok(Relevelled {
            view,
            unknown: lost,
        })
    }
}
