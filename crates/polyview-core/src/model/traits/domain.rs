//! What the data of a view are.

use serde::{Deserialize, Serialize};

/// What a count is out of, or counted at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Exposure {
    /// Nothing: the count stands for itself.
    #[default]
    None,
    /// A known number of trials for each cell, of which the count is that of the
    /// successes ([`View::trials`](crate::View::trials)).
    Trials,
    /// A size factor for each sample, which the rate is multiplied by.
    Size,
}

/// What the data of a view are: what a reader may admit, whether they may be centred
/// and scaled, and what is predicted of them.
///
/// | domain | one datum | what is predicted of it |
/// |---|---|---|
/// | [`Domain::Reals`] | a real number | mean and variance, in the units of the data |
/// | [`Domain::CENSORED`] | a real number, or two ends that it lies between | mean and variance of the number itself |
/// | [`Domain::SURVIVAL`] | the logarithm of a time, or ends that it lies between | mean and variance of the logarithm |
/// | [`Domain::Positive`] | a number above 0 | mean and variance, in the units of the data |
/// | [`Domain::Counts`] | a whole number from 0 | its expectation; of successes the probability of one |
/// | [`Domain::Binary`] | 0 or 1, one for each feature | the probability of a 1 |
/// | [`Domain::CLASSES`] | one of several classes: one column of codes | the probability of each class; they sum to one |
/// | [`Domain::LEVELS`] | one of some ordered levels, 1 for the lowest | the probability of each level, and mean and variance of their numbers |
/// | [`Domain::Order`] | anything that has an order | where it stands among the training values |
/// | [`Domain::Similarities`] | how alike two samples are: the features are the samples | its mean and variance |
///
/// In files it is one word: `real`, `count`, `successes` (counts out of trials), `exposed-count`
/// (counts at a size factor), `probability`, `classes`, `levels`, `ranked`, `censored`, `survival`,
/// `similarities`, `positive`.
///
/// ```
/// use polyview_core::{Domain, Exposure};
///
/// let successes = Domain::Counts { exposure: Exposure::Trials };
/// assert!(successes.is_count() && successes.has_trials() && !successes.is_label());
/// assert!(Domain::CLASSES.has_classes() && Domain::LEVELS.is_ordered());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "Word", into = "Word")]
#[non_exhaustive]
pub enum Domain {
    /// Real numbers, which may be centred and scaled.
    #[default]
    Reals,
    /// Real numbers of some of which two ends are known alone
    /// ([`View::ends`](crate::View::ends)).
    Censored {
        /// Whether they are logarithms of times to an event.
        times: bool,
    },
    /// Numbers above 0, which are neither centred nor scaled: what moves them multiplies them.
    Positive,
    /// Whole numbers, not negative.
    Counts {
        /// What they are out of.
        exposure: Exposure,
    },
    /// Zeros and ones, any number of labels for each sample.
    Binary,
    /// One of several classes.
    Levels {
        /// With an order they are whole numbers from 1 on, any number of features of them;
        /// without one there is one column, and their names are
        /// [`View::levels`](crate::View::levels).
        ordered: bool,
    },
    /// Anything that has an order: only the order of the values of a feature counts.
    Order,
    /// How alike two samples are, in a symmetric table of them: the two cells of a pair are one
    /// datum ([`View::among`](crate::View::among)).
    Similarities,
}

impl Domain {
    /// Counts that stand for themselves.
    pub const COUNTS: Self = Self::Counts {
        exposure: Exposure::None,
    };
    /// Successes out of known numbers of trials.
    pub const SUCCESSES: Self = Self::Counts {
        exposure: Exposure::Trials,
    };
    /// Real numbers, or ends that they lie between.
    pub const CENSORED: Self = Self::Censored { times: false };
    /// Logarithms of times to an event, or ends that they lie between.
    pub const SURVIVAL: Self = Self::Censored { times: true };
    /// Classes without an order.
    pub const CLASSES: Self = Self::Levels { ordered: false };
    /// Ordered levels: whole numbers from 1 on.
    pub const LEVELS: Self = Self::Levels { ordered: true };

    /// Whether the data are zeros and ones, or classes: probabilities say how uncertain
    /// a label is, so that it has no intervals.
    pub fn is_label(self) -> bool {
        self == Self::Binary || self == Self::CLASSES
    }
    /// Whether the data are counts: whole numbers, not negative. Successes are such
    /// too.
    pub fn is_count(self) -> bool {
        matches!(self, Self::Counts { .. })
    }
    /// Whether the data are real numbers, which may be centred and scaled; those of which two
    /// ends may be all that is known are such, too.
    pub fn is_real(self) -> bool {
        self == Self::Reals || self.is_censored()
    }
    /// Whether the data are numbers above 0.
    pub fn is_positive(self) -> bool {
        self == Self::Positive
    }
    /// Whether a datum of them may be any number between two others, so that laws have densities.
    pub fn is_continuous(self) -> bool {
        self.is_real() || self.is_positive()
    }
    /// Whether of some of the data two ends may be all that is known.
    pub fn is_censored(self) -> bool {
        matches!(self, Self::Censored { .. })
    }
    /// Whether the data are logarithms of times to an event.
    pub fn is_survival(self) -> bool {
        self == Self::SURVIVAL
    }
    /// Whether one probability is predicted for each feature: of a 1, or of a success.
    pub fn is_probability(self) -> bool {
        self == Self::Binary || self.has_trials()
    }
    /// Whether only the order of the data counts.
    pub fn is_ranked(self) -> bool {
        self == Self::Order
    }
    /// Whether the data say how alike samples are, pair by pair.
    pub fn is_similarity(self) -> bool {
        self == Self::Similarities
    }
    /// Whether the data are numbers of successes out of known numbers of trials.
    pub fn has_trials(self) -> bool {
        self == Self::SUCCESSES
    }
    /// Whether the data are classes: one column of codes with class names.
    pub fn has_classes(self) -> bool {
        self == Self::CLASSES
    }
    /// Whether the data are ordered levels: whole numbers from 1 on, whose differences have no
    /// size of their own.
    pub fn is_ordered(self) -> bool {
        self == Self::LEVELS
    }
    /// Whether the deviance says how far a mean is off a datum: of counts, successes among them, and of numbers above 0.
    pub fn has_deviance(self) -> bool {
        self.is_count() || self.is_positive()
    }
    /// Whether predictors have no unit of the data and features count alike in shares of variance, as a link adds to each
    /// predictor what the datum varies by: labels of a column each, counts, numbers above 0 and ordered levels. Classes are one feature.
    pub fn counts_features_alike(self) -> bool {
        self.has_deviance() || self.is_probability() || self.is_ordered()
    }
    /// Whether the data are whole numbers: counts or ordered levels, whose laws have steps.
    pub fn is_whole(self) -> bool {
        self.is_count() || self.is_ordered()
    }
}

/// A domain as files have it.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Word {
    Real,
    Count,
    Successes,
    ExposedCount,
    Probability,
    Classes,
    Levels,
    Ranked,
    Censored,
    Survival,
    Similarities,
    Positive,
}

impl From<Domain> for Word {
    fn from(domain: Domain) -> Self {
        match domain {
            Domain::Reals => Self::Real,
            Domain::Counts { exposure } => match exposure {
                Exposure::None => Self::Count,
                Exposure::Trials => Self::Successes,
                Exposure::Size => Self::ExposedCount,
            },
            Domain::Binary => Self::Probability,
            Domain::Levels { ordered: false } => Self::Classes,
            Domain::Levels { ordered: true } => Self::Levels,
            Domain::Order => Self::Ranked,
            Domain::Similarities => Self::Similarities,
            Domain::Positive => Self::Positive,
            Domain::Censored { times: false } => Self::Censored,
            Domain::Censored { times: true } => Self::Survival,
        }
    }
}

impl From<Word> for Domain {
    fn from(word: Word) -> Self {
        match word {
            Word::Real => Self::Reals,
            Word::Count => Self::COUNTS,
            Word::Successes => Self::SUCCESSES,
            Word::ExposedCount => Self::Counts {
                exposure: Exposure::Size,
            },
            Word::Probability => Self::Binary,
            Word::Classes => Self::CLASSES,
            Word::Levels => Self::LEVELS,
            Word::Ranked => Self::Order,
            Word::Censored => Self::CENSORED,
            Word::Survival => Self::SURVIVAL,
            Word::Similarities => Self::Similarities,
            Word::Positive => Self::Positive,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde::de::IntoDeserializer;
    use serde::de::value::{Error, StrDeserializer};

    use super::*;

    #[test]
    fn a_domain_is_one_word_and_is_asked_by_methods() {
        let exposed = Domain::Counts {
            exposure: Exposure::Size,
        };
        let all = [
            (Domain::Reals, "real"),
            (Domain::COUNTS, "count"),
            (Domain::SUCCESSES, "successes"),
            (exposed, "exposed-count"),
            (Domain::Binary, "probability"),
            (Domain::CLASSES, "classes"),
            (Domain::LEVELS, "levels"),
            (Domain::Order, "ranked"),
            (Domain::CENSORED, "censored"),
            (Domain::SURVIVAL, "survival"),
            (Domain::Similarities, "similarities"),
            (Domain::Positive, "positive"),
        ];
        for (domain, word) in all {
            let read: StrDeserializer<'_, Error> = word.into_deserializer();
            assert_eq!(Domain::deserialize(read).unwrap(), domain);
            assert_eq!(Domain::from(Word::from(domain)), domain);
            let kinds = [
                domain.is_real(),
                domain.is_count(),
                domain.is_label(),
                domain.is_ranked(),
                domain.is_ordered(),
                domain.is_similarity(),
                domain.is_positive(),
            ];
            assert_eq!(kinds.iter().filter(|k| **k).count(), 1, "{word}");
        }
        assert!(Domain::SUCCESSES.has_trials() && !exposed.has_trials());
        assert!(Domain::CLASSES.has_classes() && !Domain::LEVELS.has_classes());
        let of = |asked: fn(Domain) -> bool| -> Vec<&str> {
            let those = all.iter().filter(|(domain, _)| asked(*domain));
            those.map(|(_, word)| *word).collect()
        };
        let with_deviance = ["count", "successes", "exposed-count", "positive"];
        assert_eq!(of(Domain::has_deviance), with_deviance);
        let alike = [
            "count",
            "successes",
            "exposed-count",
            "probability",
            "levels",
            "positive",
        ];
        assert_eq!(of(Domain::counts_features_alike), alike);
    }
}
