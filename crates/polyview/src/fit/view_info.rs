//! What a fit knows about its views.

use std::borrow::Cow;

use polyview_core::Scaling;
use polyview_kernels::{Kernel, KernelMap};
use serde::{Deserialize, Serialize};

use super::TrainingScale;
use crate::spec::ViewChoices;

/// What a fit knows about one of its views.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ViewInfo {
    /// Name.
    pub name: String,
    /// Feature names, one a column of the data. Of a view with a kernel the samples that are
    /// reference points: its columns are similarities to these.
    pub features: Vec<String>,
    /// Class names of a categorical view; empty for every other.
    pub levels: Vec<String>,
    /// Choices it was fitted with.
    pub choices: ViewChoices,
    /// How working units came from data units.
    pub scaling: Scaling,
    /// Observed cells.
    pub observed: usize,
    /// Where the training values of each feature lay, which new data are held
    /// against; none of labels and of successes, and where an earlier file, saved
    /// without its data, does not say.
    pub training: Option<TrainingScale>,
    /// Places of the features that were observed in no training sample, in order:
    /// the model knows nothing of them, and predicts nothing.
    pub unobserved: Vec<usize>,
    /// Names of the features of the training data that did not vary: they are not in the
    /// model. None of earlier files, which did not keep them.
    #[serde(default)]
    pub left_out: Vec<String>,
    /// Of a table of similarities what the training samples were given to be to themselves, in the
    /// order of the features: no part of the model, kept to be given back with the training
    /// data. Nothing without these, and of earlier files.
    #[serde(default)]
    pub selves: Vec<Option<f64>>,
    /// Of a view with a kernel how tables of its features become the columns that were fitted.
    #[serde(default)]
    pub kernel: Option<Box<KernelMap>>,
}

impl ViewInfo {
    /// What is predicted of the view: the features, or the classes of a categorical view.
    pub fn columns(&self) -> &[String] {
        if self.levels.is_empty() {
            &self.features
        } else {
            &self.levels
        }
    }
    /// The kernel of the view in words, where it has one: what it is, of how many features, against
    /// how many reference points.
    pub fn kernel_in_words(&self) -> Option<String> {
        let map = self.kernel.as_ref()?;
        let (features, references) = (map.features().len(), map.references().len());
        let kernel = match map.kernel() {
            Kernel::Rbf { gamma } => {
                format!("rbf of width {}", decimals((0.5 / gamma).sqrt(), 4))
            }
            Kernel::Matern { nu, width } => {
                format!("matern of order {nu} and width {}", decimals(width, 4))
            }
            Kernel::Polynomial { degree, offset } => {
                format!("polynomial of degree {degree}, offset {offset}")
            }
            Kernel::Precomputed => {
                return Some(format!("precomputed, {references} reference points"));
            }
            _ => "linear".to_owned(),
        };
        let columns = if map.is_random() {
            "random Fourier features"
        } else {
            "reference points"
        };
        Some(format!(
            "{kernel}, {features} features, {references} {columns}"
        ))
    }
    /// Of a view with a kernel whose features have weights of their own (spec/thesis 7.3) what each
    /// counts, relative to the mean of all: the largest first.
    pub fn kernel_relevances(&self) -> Option<Vec<(&str, f64)>> {
        let map = self.kernel.as_ref()?;
        self.choices.kernel.filter(|kernel| kernel.ard)?;
        let features = map.features().iter().map(String::as_str);
        let mut all: Vec<(&str, f64)> = features.zip(map.relevances()).collect();
        all.sort_by(|a, b| b.1.total_cmp(&a.1));
        Some(all)
    }
    /// The features that tables of the view have: those of the model, but for a view with a
    /// kernel.
    pub fn features_of_tables(&self) -> &[String] {
        self.kernel
            .as_ref()
            .map_or(&self.features, |map| map.features())
    }
    /// Of a view with a kernel what is known of the features that its tables have.
    pub(crate) fn before_kernel(&self) -> Option<Self> {
        let map = self.kernel.as_ref()?;
        let features = map.features().to_vec();
        let sd = map.deviations();
        Some(Self {
            name: self.name.clone(),
            levels: Vec::new(),
            choices: self.choices.clone(),
            scaling: Scaling::identity(features.len()),
            observed: 0,
            training: (!sd.is_empty()).then(|| TrainingScale {
                mean: map.means().to_vec(),
                sd,
                least: None,
                groups: None,
            }),
            unobserved: Vec::new(),
            left_out: self.left_out.clone(),
            selves: Vec::new(),
            kernel: None,
            features,
        })
    }
    /// What the weights have a row for, unless components have weights of their own: what is
    /// predicted ([`ViewInfo::columns`]), or the latent dimensions of a view that has such.
    pub fn weight_rows(&self) -> Cow<'_, [String]> {
        match self.choices.likelihood.latent_dimensions() {
            Some(k) => (1..=k).map(|l| format!("dimension {l}")).collect(),
            None => Cow::Borrowed(self.columns()),
        }
    }
    /// Whether a feature was observed in any training sample.
    pub fn knows(&self, feature: usize) -> bool {
        self.unobserved.binary_search(&feature).is_err()
    }
    /// What is to be said of the features that were never observed, if there are
    /// any.
    pub(crate) fn unobserved_note(&self) -> Option<String> {
        let first = &self.features[*self.unobserved.first()?];
        Some(format!(
            "{} feature(s) have no observed value in the training data, first '{first}': nothing is \
             known of them, and nothing is predicted",
            self.unobserved.len()
        ))
    }
}

/// A positive number with so many decimals, or as a power of ten where these would leave hardly a digit of it.
pub(super) fn decimals(x: f64, count: usize) -> String {
    let least = 10f64.powi(-(count as i32));
    if x > 0.0 && x < least {
        format!("{x:.*e}", count - 1)
    } else {
        format!("{x:.count$}")
    }
}

#[cfg(test)]
mod tests {
    use super::decimals;

    #[test]
    fn numbers_keep_their_digits() {
        assert_eq!(decimals(3.25, 4), "3.2500");
        assert_eq!(decimals(1.234_56e-7, 4), "1.235e-7");
        assert_eq!(decimals(0.0, 4), "0.0000");
    }
}
