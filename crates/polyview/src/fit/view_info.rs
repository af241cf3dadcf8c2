//! What a fit knows about its views.

use polyview_core::Scaling;
use serde::{Deserialize, Serialize};

use super::TrainingScale;
use crate::spec::ViewChoices;

/// What a fit knows about one of its views.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ViewInfo {
    /// Name.
    pub name: String,
    /// Feature names, one a column of the data.
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
}

impl ViewInfo {
    /// What is predicted of the view and, unless components have weights of
    /// their own, what the weights have a row for: the features, or the classes
    /// of a categorical view.
    pub fn columns(&self) -> &[String] {
        if self.levels.is_empty() {
            &self.features
        } else {
            &self.levels
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
