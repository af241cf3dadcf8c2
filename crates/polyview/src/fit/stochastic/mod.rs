//! What a stochastic fit needs besides its run: data in working units, block by
//! block, and checks.

use std::collections::HashMap;
use std::ops::Range;

use polyview_core::{
    BlockSource, DataError, Event, Finding, Groups, Journal, MissingData, RowBlock, Scaling,
    ScalingSums, SourceError, View, Way,
};
use polyview_linalg::Mat;

use super::ViewInfo;
use super::remarks::{note_features, note_remarks};
use super::training::ScaleSums;
use crate::assemble::several;
use crate::compose::Composed;
use crate::error::{Error, ErrorKind, Result};
use crate::spec::{EngineKind, ModelSpec, Path, ViewChoices};

/// Cells of a view that are read at one time where nothing else says how many.
const CELLS: usize = 1 << 22;

/// Refuses what stochastic variational Bayes cannot do, where it is the engine.
///
/// # Errors
/// [`ErrorKind::Incompatible`]; [`ErrorKind::Option`] for a batch of more
/// samples than there are.
pub(crate) fn check(
    composed: &Composed,
    views: &[View],
    choices: &[ViewChoices],
    samples: usize,
    groups: Option<&Groups>,
) -> Result<()> {
    let options = &composed.options;
    if options.engine != EngineKind::Stochastic {
        return Ok(());
    }
    let refuse = |view: &str, what: &str| {
        Err(ErrorKind::Incompatible {
            view: view.to_owned(),
            what: what.to_owned(),
            with: "the engine stochastic".to_owned(),
        }
        .into())
    };
    if composed.is_faithful() {
        return refuse("", "the algorithm of mofapy2");
    }
    if factors_alone(composed, 0, options.factors)?.learns() {
        let what = composed.spec().map(|spec| {
            let prior = &spec.factor_prior;
            match prior.finding() {
                Some(Finding::Components) => "a mixture of the factors (--mixture)".to_owned(),
                _ => format!("{} (--factor-prior {})", prior.called(), prior.name()),
            }
        });
        let what =
            what.unwrap_or_else(|| "a prior of the factors with scales of its own".to_owned());
        let with = "the engine stochastic, whose batches do not bring the scales of all samples; take \
                    the engine vb, or leave the prior of the factors at its default";
        return Err(ErrorKind::Incompatible {
            view: String::new(),
            what,
            with: with.to_owned(),
        }
        .into());
    }
    if several(groups).is_some() && composed.knows_groups() {
        return Err(by_group(composed).into());
    }
    let spec = composed.spec();
    if spec.is_some_and(|s| s.missing == MissingData::Impute) {
        return refuse("", "missing = \"impute\"");
    }
    if options.restarts > 1 {
        return refuse("", "more than one restart");
    }
    let compresses =
        |s: &ModelSpec| matches!(s.path, Path::CompressSamples | Path::CompressFeatures);
    if spec.is_some_and(compresses) {
        return refuse("", "compression of the data");
    }
    for (v, choices) in views.iter().zip(choices) {
        let likelihood = &choices.likelihood;
        if let Some(why) = likelihood.refuses(Way::Stochastic) {
            return Err(ErrorKind::Incompatible {
                view: v.name().to_owned(),
                what: format!("likelihood {likelihood}"),
                with: format!(
                    "the engine stochastic, which sees a batch of the samples at a time: {why}"
                ),
            }
            .into());
        }
        if v.sparse().is_some() {
            return refuse(v.name(), "a sparse view");
        }
    }
    if options.vb.relaxation != 1.0 {
        let what = format!(
            "vb.relaxation = {}, a choice of the model {},",
            options.vb.relaxation,
            composed.name()
        );
        return refuse("", &what);
    }
    let batch = options.stochastic.batch;
    if batch > 1.0 && batch > samples as f64 {
        return Err(ErrorKind::Option {
            option: "batch",
            value: batch.to_string(),
        }
        .into());
    }
    Ok(())
}

/// The answer to whoever would fit a model that looks at groups by batches: what of it does, and
/// how that is turned off.
fn by_group(composed: &Composed) -> ErrorKind {
    let of = composed.spec().map_or_else(Vec::new, |spec| {
        let all = [
            (spec.groups.noise, "noise"),
            (spec.groups.intercepts, "intercepts"),
        ];
        all.into_iter()
            .filter(|(on, _)| *on)
            .map(|(_, what)| what)
            .collect()
    });
    let (what, mend) = if of.is_empty() {
        (
            "groups, which the model looks at,".to_owned(),
            String::new(),
        )
    } else {
        let off: Vec<String> = of.iter().map(|what| format!("{what} = false")).collect();
        let by_default =
            " (the default of some models, of mofa among them, where there are groups)";
        (
            format!("{} by group{by_default}", of.join(" and ")),
            format!(
                ", or turn that off in a study file ([model.groups] {})",
                off.join(", ")
            ),
        )
    };
    ErrorKind::Incompatible {
        view: String::new(),
        what,
        with: format!("the engine stochastic; take the engine vb, or leave the groups out{mend}"),
    }
}

/// The factors' block of so many samples, of which nothing is known yet.
pub(crate) fn factors_alone(
    composed: &Composed,
    samples: usize,
    k: usize,
) -> Result<Box<dyn RowBlock>> {
    let none = composed.model(None, Vec::new(), Mat::zeros(samples, k))?;
    Ok(none.factors)
}

/// Checks that names are unique and are as many as there are samples.
///
/// # Errors
/// [`ErrorKind::Data`].
pub(super) fn check_names(samples: &[String], count: usize, views: &[View]) -> Result<()> {
    if views.is_empty() {
        return Err(DataError::NoViews.into());
    }
    if samples.len() != count {
        return Err(DataError::LengthMismatch {
            view: String::new(),
            what: "sample IDs",
            expected: count,
            found: samples.len(),
        }
        .into());
    }
    if let Some((first, second)) = twice(samples) {
        return Err(DataError::DuplicateSample {
            view: views[0].name().to_owned(),
            sample: samples[first].clone(),
            first,
            second,
        }
        .into());
    }
    let names: Vec<String> = views.iter().map(|v| v.name().to_owned()).collect();
    if let Some((first, _)) = twice(&names) {
        return Err(DataError::DuplicateView {
            view: names[first].clone(),
        }
        .into());
    }
    for v in views {
        if v.n_features() == 0 || count == 0 {
            return Err(DataError::EmptyView {
                view: v.name().to_owned(),
            }
            .into());
        }
        if let Some((first, second)) = twice(v.features()) {
            return Err(DataError::DuplicateFeature {
                view: v.name().to_owned(),
                feature: v.features()[first].clone(),
                first,
                second,
            }
            .into());
        }
    }
    Ok(())
}

/// The first name that stands twice, and where.
fn twice(names: &[String]) -> Option<(usize, usize)> {
    let mut seen = HashMap::with_capacity(names.len());
    names
        .iter()
        .enumerate()
        .find_map(|(i, name)| Some((seen.insert(name.as_str(), i)?, i)))
}

/// What one pass over the data says of the views: how working units come from
/// data units, and remarks for the journal.
///
/// # Errors
/// [`ErrorKind::Source`]; [`DataError::NothingObserved`], [`DataError::TooLarge`].
pub(super) fn learn(
    choices: Vec<ViewChoices>,
    source: &mut dyn BlockSource,
    names: &[String],
    views: &[View],
    journal: &mut Journal,
) -> Result<Vec<ViewInfo>> {
    let samples = source.samples();
    let widest = views.iter().map(View::n_features).max().unwrap_or(1);
    let rows = (CELLS / widest.max(1)).clamp(64, 1 << 16);
    let mut sums: Vec<ScalingSums> = views
        .iter()
        .map(|v| ScalingSums::new(v.n_features()))
        .collect();
    let mut scales: Vec<Option<ScaleSums>> = views
        .iter()
        .zip(&choices)
        .map(|(v, c)| ScaleSums::new(&c.likelihood, v.n_features()))
        .collect();
    let mut observed = vec![0; views.len()];
    let mut unseen = Vec::new();
    for from in (0..samples).step_by(rows) {
        let range = from..(from + rows).min(samples);
        let block = source
            .read(std::slice::from_ref(&range))
            .map_err(|e| unread(&e))?;
        for (i, v) in block.iter().enumerate() {
            v.check_magnitude(|n| names[from + n].clone())?;
            sums[i].add(v)?;
            if let Some(scale) = &mut scales[i] {
                scale.add(v, |_, x| x);
            }
            observed[i] += v.n_observed();
        }
        let empty = |n: &usize| {
            let mut views = block.iter();
            views.all(|v| v.mask().count_sample(*n, v.n_features()) == 0)
        };
        let empty = (0..range.len()).filter(empty);
        unseen.extend(empty.map(|n| format!("'{}'", names[from + n])));
    }
    if !unseen.is_empty() {
        let note = format!(
            "{} sample(s) have no observed value, and their factors are the prior's: {}",
            unseen.len(),
            unseen.join(", ")
        );
        journal.note(0, "data", Event::Data { note });
    }
    let mut infos = Vec::with_capacity(views.len());
    let sums = sums.iter().zip(observed).zip(scales);
    for ((v, choices), ((sums, observed), scale)) in views.iter().zip(choices).zip(sums) {
        if observed == 0 {
            return Err(DataError::NothingObserved {
                view: v.name().to_owned(),
            }
            .into());
        }
        let scaling = if v.levels().is_empty() {
            sums.finish(choices.centring, choices.scaling)
        } else {
            Scaling::identity(v.n_features())
        };
        let counts = sums.counts();
        let info = ViewInfo {
            name: v.name().to_owned(),
            features: v.features().to_vec(),
            levels: v.levels().to_vec(),
            choices,
            scaling,
            observed,
            unobserved: (0..counts.len()).filter(|&d| counts[d] == 0.0).collect(),
            left_out: Vec::new(),
            selves: Vec::new(),
            kernel: None,
            training: scale.map(ScaleSums::finish),
        };
        note_features(&info, &[], journal);
        note_kept(&info, &counts, journal);
        note_remarks(&info, (sums.mean(), None), journal);
        infos.push(info);
    }
    Ok(infos)
}

/// Says why features of real numbers that do not vary are in the model, which other engines
/// leave out: features are settled before the values are read.
fn note_kept(info: &ViewInfo, counts: &[f64], journal: &mut Journal) {
    let Some(training) = info
        .training
        .as_ref()
        .filter(|_| info.choices.likelihood.is_real())
    else {
        return;
    };
    let same = |d: &usize| training.sd[*d] == 0.0 && counts[*d] > 1.0;
    let same: Vec<usize> = (0..counts.len()).filter(same).collect();
    if let Some(first) = same.first().filter(|_| same.len() < counts.len()) {
        let note = format!(
            "{} feature(s) do not vary, first '{}', and stay in the model: the engine stochastic settles features \
             before it reads the values; the engine vb leaves such features out, and so may you",
            same.len(),
            info.features[*first]
        );
        journal.note(0, format!("data/{}", info.name), Event::Data { note });
    }
}

pub(super) fn unread(source: &SourceError) -> Error {
    ErrorKind::Source {
        why: source.to_string(),
    }
    .into()
}

/// Data in working units.
pub(super) struct Working {
    pub(super) source: Box<dyn BlockSource>,
    /// One a view.
    pub(super) scalings: Vec<Scaling>,
}

impl BlockSource for Working {
    fn samples(&self) -> usize {
        self.source.samples()
    }
    fn read(&mut self, ranges: &[Range<usize>]) -> std::result::Result<Vec<View>, SourceError> {
        let views = self.source.read(ranges)?;
        Ok(views
            .into_iter()
            .zip(&self.scalings)
            .map(|(v, s)| if v.levels().is_empty() { s.apply(v) } else { v })
            .collect())
    }
}

/// The engine that a fit from blocks needs.
///
/// # Errors
/// [`ErrorKind::Incompatible`] for any other.
pub(super) fn is_stochastic(engine: EngineKind) -> Result<()> {
    if engine == EngineKind::Stochastic {
        return Ok(());
    }
    Err(ErrorKind::Incompatible {
        view: String::new(),
        what: "data that are read block by block".to_owned(),
        with: "engines that need them in memory; take the engine stochastic".to_owned(),
    }
    .into())
}

#[cfg(test)]
mod tests;
