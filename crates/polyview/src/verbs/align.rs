//! Matching data to a model by the names of views and features.

use std::collections::{HashMap, HashSet};

use polyview_core::{
    DataError, Dataset, Journal, Level, NumericError, Relevelled, UnknownClass, View,
};

use super::far_off::{Training, all_of};
use super::placing::Placing;
use crate::error::{Error, ErrorKind, Result};
use crate::fit::{Fit, ViewInfo};

/// Data matched to a model: its views, its features in its order, working
/// units.
pub(super) struct Aligned {
    /// Sample IDs, in the order of the data.
    pub samples: Vec<String>,
    /// One a view of the model; `None` where the data lack it or where it was
    /// left out.
    pub views: Vec<Option<View>>,
    /// Which groups the samples belong to.
    pub placing: Placing,
    /// What was ignored or taken as missing.
    pub notes: Vec<String>,
    /// What is likely to make the answer wrong.
    pub warnings: Vec<String>,
}

impl Aligned {
    /// Warns of values of a view, in data units, that are far off those of training.
    fn warn_of(&mut self, info: &ViewInfo, view: &View) {
        let Some(training) = Training::of(info, self.placing.groups()) else {
            return;
        };
        self.warnings.extend(all_of(&training, view, &self.samples));
    }
    /// Matches `data` to the model of `fit`, without the view of that place.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownView`], [`ErrorKind::NoKnownFeature`],
    /// [`ErrorKind::UnknownGroup`];
    /// [`NumericError::NotFinite`] when a value has no working value.
    pub(super) fn new(
        fit: &Fit,
        data: &Dataset,
        left_out: Option<usize>,
        unknown: UnknownClass,
    ) -> Result<Self> {
        let mut notes = fit.record().assumptions();
        let mut out = Self {
            samples: data.samples().to_vec(),
            views: fit.views().iter().map(|_| None).collect(),
            placing: Placing::new(fit, data, left_out, &mut notes)?,
            notes,
            warnings: Vec::new(),
        };
        out.take(data.journal());
        for view in data.views() {
            let (at, info) = fit.view(view.name())?;
            if left_out == Some(at) {
                let name = view.name();
                out.notes.push(format!(
                    "view '{name}': its own values are not used: it is predicted from the other views"
                ));
                continue;
            }
            let matched = if let Some(before) = info.before_kernel() {
                let columns = match_features(&before, data, view, &mut out)
                    .and_then(|v| info.by_kernel(v, data.samples(), &mut out.notes));
                columns.and_then(|columns| {
                    // where features have no scale, similarities have
                    if before.training.is_none() {
                        out.warn_of(info, &columns);
                    }
                    finite(info, info.scaling.apply(columns))
                })
            } else if info.levels.is_empty() {
                match_features(info, data, view, &mut out)
            } else {
                match_classes(info, (view, &out.samples), unknown, &mut out.notes)
            };
            let matched = matched.map_err(|e| e.in_view(view.name()))?;
            // what a sample of training is to itself says nothing
            let is_own = |n: usize, d: usize| out.samples[n] == info.features[d];
            let matched = if info.choices.likelihood.is_similarity() {
                matched.hiding(is_own)
            } else {
                matched
            };
            out.views[at] = Some(matched);
        }
        let empty = out.unobserved();
        if let Some(first) = empty.first() {
            out.notes.push(format!(
                "{} sample(s) have no observed value that the model knows, first '{}': they \
                 get the average of the model",
                empty.len(),
                out.samples[*first]
            ));
        }
        Ok(out)
    }
    /// Takes over what a journal says of the data.
    fn take(&mut self, journal: &Journal) {
        for (level, text) in journal.remarks() {
            match level {
                Level::Note => self.notes.push(text),
                Level::Warning => self.warnings.push(text),
            }
        }
    }
    /// Samples without any observed cell.
    fn unobserved(&self) -> Vec<usize> {
        (0..self.samples.len())
            .filter(|&n| {
                self.views
                    .iter()
                    .flatten()
                    .all(|v| v.mask().count_sample(n, v.n_features()) == 0)
            })
            .collect()
    }
}

/// [`View::relevel`], with an error that names a sample.
pub(super) fn relevelled(
    view: &View,
    samples: &[String],
    levels: &[String],
    unknown: UnknownClass,
) -> Result<Relevelled> {
    view.relevel(levels, unknown).map_err(|e| match e {
        DataError::UnknownClass {
            view: name,
            class,
            samples: count,
        } => {
            let code = view.levels().iter().position(|l| *l == class);
            let of_class = view
                .classes()
                .iter()
                .position(|c| c.is_some() && *c == code);
            let first = of_class.and_then(|n| samples.get(n)).cloned();
            let (first, known) = (first.unwrap_or_default(), levels.to_vec());
            let kind = ErrorKind::UnknownClass {
                view: name,
                class,
                samples: count,
                first,
                known,
            };
            kind.into()
        }
        other => other.into(),
    })
}

/// The view with the codes of the model's classes.
fn match_classes(
    info: &ViewInfo,
    (view, samples): (&View, &[String]),
    unknown: UnknownClass,
    notes: &mut Vec<String>,
) -> Result<View> {
    let Relevelled { view, unknown } = relevelled(view, samples, &info.levels, unknown)?;
    for (class, samples) in unknown {
        notes.push(format!(
            "view '{}': the class '{class}' is unknown to the model; it was taken as missing in \
             {samples} sample(s)",
            info.name
        ));
    }
    Ok(view)
}

/// The view with the model's features in the model's order, in working units.
fn match_features(info: &ViewInfo, data: &Dataset, view: &View, out: &mut Aligned) -> Result<View> {
    if !view.levels().is_empty() {
        return Err(ErrorKind::Incompatible {
            view: info.name.clone(),
            what: format!("likelihood {}", info.choices.likelihood),
            with: "class names".to_owned(),
        }
        .into());
    }
    let limited = info.choices.limited(view.clone())?;
    let view = &limited;
    // what was never observed in training is as unknown as what was not there
    let silent = |d: &usize| view.mask().count_feature(*d, view.n_samples()) == 0;
    if view.features() == info.features && info.unobserved.iter().all(silent) {
        out.warn_of(info, view);
        return finite(info, info.scaling.apply(view.clone()));
    }
    let place: HashMap<&str, usize> = view
        .features()
        .iter()
        .enumerate()
        .map(|(d, f)| (f.as_str(), d))
        .collect();
    let source: Vec<Option<usize>> = info
        .features
        .iter()
        .enumerate()
        .map(|(d, f)| place.get(f.as_str()).copied().filter(|_| info.knows(d)))
        .collect();
    let used = source.iter().flatten().count();
    if used == 0 {
        return Err(ErrorKind::NoKnownFeature {
            view: info.name.clone(),
            found: view.features().first().cloned().unwrap_or_default(),
            transposed: data.samples().iter().any(|s| info.features.contains(s)),
        }
        .into());
    }
    let absent = |d: &usize| source[*d].is_none() && info.knows(*d);
    if let Some(first) = (0..source.len()).find(absent) {
        let known = source.len() - info.unobserved.len();
        out.notes.push(format!(
            "view '{}': {} of the model's {known} features are absent from the data and were taken \
             as missing, first '{}'",
            info.name,
            known - used,
            info.features[first]
        ));
    }
    let mut ignored = vec![true; view.n_features()];
    for s in source.iter().flatten() {
        ignored[*s] = false;
    }
    let left_out: HashSet<&String> = info.left_out.iter().collect();
    let ignored = view.features().iter().zip(ignored).filter(|(_, i)| *i);
    let (known, unknown): (Vec<&String>, Vec<&String>) =
        ignored.map(|(f, _)| f).partition(|f| left_out.contains(f));
    for (which, why) in [
        (
            known,
            "did not vary in the training data, were left out of the model",
        ),
        (unknown, "are unknown to the model"),
    ] {
        if let Some(first) = which.first() {
            out.notes.push(format!(
                "view '{}': {} feature(s) {why} and were ignored, first '{first}'",
                info.name,
                which.len()
            ));
        }
    }
    let matched = view.matched(info.name.clone(), info.features.clone(), &source)?;
    out.warn_of(info, &matched);
    finite(info, info.scaling.apply(matched))
}

/// Refuses values that overflow on the way to working units.
fn finite(info: &ViewInfo, view: View) -> Result<View> {
    let bad = if let Some(x) = view.sparse() {
        // the entries are, by construction
        !x.base().iter().all(|x| x.is_finite())
    } else {
        let values = view.values();
        (0..values.ncols()).any(|d| values.col(d).iter().any(|x| !x.is_finite()))
    };
    if bad {
        return Err(Error::from(NumericError::NotFinite {
            block: format!("data/{}", info.name),
            what: "a standardised value",
        }));
    }
    Ok(view)
}
