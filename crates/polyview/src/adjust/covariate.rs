//! Covariates and how they are coded.

use polyview_core::{Dataset, Event, Journal, MetadataValues, View};
use serde::{Deserialize, Serialize};

use super::codes::codes;
use super::{absent, column, complete, moments, refused};
use crate::error::{ErrorKind, Result};
use crate::verbs::{is_far, middle};

/// A standard deviation below this share of the mean is rounding.
const ROUNDING: f64 = 1e-13;
/// Columns whose correlation is nearer to 1 say the same.
const SAME: f64 = 1e-10;
/// So few different whole numbers may be names of categories.
const FEW: usize = 6;

/// How the values of a covariate become columns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Coding {
    /// Less their mean, over their standard deviation.
    Numbers { mean: f64, sd: f64 },
    /// For each category but the first an indicator of it, with the share of the training samples
    /// that have it; less the share, over its standard deviation.
    Categories {
        names: Vec<String>,
        shares: Vec<f64>,
    },
}

/// A covariate as the model knows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Covariate {
    name: String,
    coding: Coding,
}

impl Covariate {
    /// Learns how to code a column.
    pub(super) fn learn(data: &Dataset, name: &str, journal: &mut Journal) -> Result<Self> {
        let found = column(data, name).ok_or_else(|| absent(data, name))?;
        let coding = match &found.values {
            MetadataValues::Numbers(x) => {
                complete(data, name, x.iter().map(|x| !x.is_nan()))?;
                if let Some(n) = x.iter().position(|x| !x.is_finite()) {
                    let why = format!("it is not finite in sample '{}'", data.samples()[n]);
                    return Err(refused(name, why).into());
                }
                if let Some(n) = x.iter().position(|x| x.abs() > View::LARGEST) {
                    let why = format!(
                        "it is {} in sample '{}', which is no measurement",
                        x[n],
                        data.samples()[n]
                    );
                    return Err(refused(name, why).into());
                }
                let (mean, sd) = moments(x);
                if sd.is_nan() || sd <= ROUNDING * mean.abs() {
                    return Err(refused(name, "it is the same in all samples").into());
                }
                let mut different: Vec<u64> = x.iter().map(|x| x.to_bits()).collect();
                different.sort_unstable();
                different.dedup();
                if (3..=FEW).contains(&different.len()) && x.iter().all(|x| x.fract() == 0.0) {
                    let note = format!(
                        "the covariate '{name}' has {} different whole numbers and was taken as a \
                         number; if they are names of categories, write them as words, such as b1",
                        different.len()
                    );
                    journal.note(0, "covariates", Event::Assumed { note });
                }
                for code in codes(x) {
                    let note = code.told(name, x, data.samples());
                    journal.note(0, "covariates", Event::Warning { note });
                }
                Coding::Numbers { mean, sd }
            }
            values @ MetadataValues::Categories(_) => {
                let words = categories(values);
                complete(data, name, words.iter().map(Option::is_some))?;
                let mut names: Vec<String> = words.iter().flatten().cloned().collect();
                names.sort_unstable();
                names.dedup();
                if names.len() < 2 {
                    return Err(refused(name, "it is the same in all samples").into());
                }
                if names.len() == words.len() {
                    let why = "each sample has a value of its own, as IDs have";
                    return Err(refused(name, why).into());
                }
                if let Some(note) = doubtful(name, &words, names.len(), data.samples()) {
                    journal.note(0, "covariates", Event::Warning { note });
                }
                let share = |name: &String| {
                    words.iter().flatten().filter(|w| *w == name).count() as f64
                        / words.len() as f64
                };
                let shares = names.iter().map(share).collect();
                Coding::Categories { names, shares }
            }
        };
        Ok(Self {
            name: name.to_owned(),
            coding,
        })
    }
    /// Names of its columns.
    pub(super) fn columns(&self) -> Vec<String> {
        match &self.coding {
            Coding::Numbers { .. } => vec![self.name.clone()],
            Coding::Categories { names, .. } => (names.iter().skip(1))
                .map(|level| format!("{}={level}", self.name))
                .collect(),
        }
    }
    /// What is to be said of the columns of new `samples`, where these are far off those of training: all of them, or single ones.
    pub(super) fn far_off(&self, columns: &[Vec<f64>], samples: &[String]) -> Option<String> {
        let (Coding::Numbers { mean, sd }, [column]) = (&self.coding, columns) else {
            return None;
        };
        let distance = middle_distance(column)?;
        let of_training = format!("its mean in training ({mean:.4}, standard deviation {sd:.4})");
        if is_far(distance, column.len() as f64) {
            return Some(format!(
                "the covariate '{}' of these samples lies about {distance:.0} standard deviations from {of_training}: see \
                 whether it is in the same unit",
                self.name
            ));
        }
        let single = single(
            column,
            samples,
            |x| is_far(x, 1.0),
            |x| format!("{x:.0} standard deviations"),
        )?;
        Some(format!(
            "the covariate '{}' of {single} lies far from {of_training}: see that it is no mistake, or leave the sample out",
            self.name
        ))
    }
    /// Its columns of some samples.
    pub(super) fn coded(&self, data: &Dataset) -> Result<Vec<Vec<f64>>> {
        let name = &self.name;
        let found = column(data, name).ok_or_else(|| absent(data, name))?;
        match &self.coding {
            Coding::Numbers { mean, sd } => {
                let MetadataValues::Numbers(x) = &found.values else {
                    let why = "it holds words, where the model knows numbers";
                    return Err(refused(name, why).into());
                };
                complete(data, name, x.iter().map(|x| x.is_finite()))?;
                Ok(vec![x.iter().map(|x| (x - mean) / sd).collect()])
            }
            Coding::Categories { names, shares } => {
                let words = categories(&found.values);
                complete(data, name, words.iter().map(Option::is_some))?;
                for (word, sample) in words.iter().flatten().zip(data.samples()) {
                    if !names.contains(word) {
                        return Err(ErrorKind::UnknownCategory {
                            column: name.clone(),
                            category: word.clone(),
                            sample: sample.clone(),
                            known: names.clone(),
                        }
                        .into());
                    }
                }
                let indicator = |(level, share): (&String, &f64)| {
                    let sd = (share * (1.0 - share)).sqrt();
                    let one = |w: &String| (f64::from(u8::from(w == level)) - share) / sd;
                    words.iter().flatten().map(one).collect()
                };
                Ok(names.iter().zip(shares).skip(1).map(indicator).collect())
            }
        }
    }
}

/// The middle one of the distances from 0; `None` of no values.
pub(super) fn middle_distance(values: &[f64]) -> Option<f64> {
    middle(&mut values.iter().map(|x| x.abs()).collect::<Vec<_>>())
}

/// The samples whose distances from 0 are `far`, by their number and the worst of them with its distance in `words`; `None`
/// where there are none.
pub(super) fn single(
    column: &[f64],
    samples: &[String],
    far: impl Fn(f64) -> bool,
    words: impl Fn(f64) -> String,
) -> Option<String> {
    let all = column.iter().map(|x| x.abs()).zip(samples);
    let found: Vec<(f64, &String)> = all.filter(|(x, _)| far(*x)).collect();
    let worst = found.iter().max_by(|a, b| a.0.total_cmp(&b.0))?;
    let (name, off) = (worst.1, words(worst.0));
    Some(match found.len() {
        1 => format!("sample '{name}' ({off})"),
        count => format!(
            "{count} of {} samples, most of all '{name}' ({off}),",
            samples.len()
        ),
    })
}

/// What is to be said of categories that look like numbers, or like names of samples.
fn doubtful(
    name: &str,
    words: &[Option<String>],
    categories: usize,
    samples: &[String],
) -> Option<String> {
    let is_number = |w: &&String| w.trim().parse::<f64>().is_ok();
    let numbers = words.iter().flatten().filter(is_number).count();
    let word = words
        .iter()
        .position(|w| w.as_ref().is_some_and(|w| !is_number(&w)));
    if let (Some(n), true) = (word, 2 * numbers > words.len()) {
        return Some(format!(
            "the covariate '{name}' was taken as {categories} categories, since it is '{}' in sample '{}' and no number \
             ({numbers} of {} values are numbers); write a number there, or leave the sample out",
            words[n].as_deref().unwrap_or_default(),
            samples.get(n).map_or("", String::as_str),
            words.len()
        ));
    }
    (2 * categories > words.len()).then(|| {
        format!(
            "the covariate '{name}' has {categories} categories in {} samples: what is adjusted for them is hardly more than \
             each sample's own value",
            words.len()
        )
    })
}

/// Categories of samples: of numbers their shortest digits.
fn categories(values: &MetadataValues) -> Vec<Option<String>> {
    match values {
        MetadataValues::Categories(words) => words.clone(),
        MetadataValues::Numbers(x) => (x.iter())
            .map(|x| (!x.is_nan()).then(|| x.to_string()))
            .collect(),
    }
}

/// Refuses columns that say the same as another one.
pub(super) fn same(names: &[String], columns: &[Vec<f64>]) -> Result<()> {
    for (i, a) in columns.iter().enumerate() {
        for (j, b) in columns.iter().enumerate().take(i) {
            let both: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
            if 1.0 - both.abs() / a.len().max(1) as f64 <= SAME {
                let why = format!("it says the same as '{}'", names[j]);
                return Err(refused(&names[i], why).into());
            }
        }
    }
    Ok(())
}
