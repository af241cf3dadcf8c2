//! What a stochastic fit needs besides its run: data in working units, block by
//! block, and checks.

use std::collections::HashMap;
use std::ops::Range;

use polyview_core::{
    BlockSource, DataError, Event, Groups, Journal, NumericError, Observed, Scaling, ScalingSums,
    SourceError, View, Way,
};
use polyview_infer::stochastic::in_all_samples;
use polyview_infer::{Model, StochasticRun, ViewPart};
use polyview_likelihoods::{MissingData, ParameterUncertainty};
use polyview_linalg::Mat;
use polyview_random::StreamKey;

use super::ViewInfo;
use super::order::order_factors;
use super::remarks::{note_features, note_remarks};
use super::start::start;
use super::states::given_up_parameters;
use super::training::ScaleSums;
use crate::build::{factor_block, part, several};
use crate::error::{Error, ErrorKind, Result};
use crate::spec::{Algorithm, EngineKind, ModelSpec, Path};

/// Cells of a view that are read at one time where nothing else says how many.
const CELLS: usize = 1 << 22;

/// Refuses what stochastic variational Bayes cannot do.
///
/// # Errors
/// [`ErrorKind::Incompatible`]; [`ErrorKind::Option`] for a batch of more
/// samples than there are.
pub(super) fn check(
    spec: &ModelSpec,
    views: &[View],
    samples: usize,
    groups: Option<&Groups>,
) -> Result<()> {
    let refuse = |view: &str, what: &str| {
        Err(ErrorKind::Incompatible {
            view: view.to_owned(),
            what: what.to_owned(),
            with: "the engine stochastic".to_owned(),
        }
        .into())
    };
    if spec.algorithm == Algorithm::Faithful {
        return refuse("", "the algorithm of mofapy2");
    }
    if factor_block(spec, None, Mat::zeros(0, 1), 0)?.learns() {
        return refuse(
            "",
            "a prior of the factors with scales of its own (factor-prior)",
        );
    }
    if several(groups).is_some() && spec.knows_groups() {
        return refuse("", "noise or intercepts by group");
    }
    if spec.missing == MissingData::Impute {
        return refuse("", "missing = \"impute\"");
    }
    if spec.restarts > 1 {
        return refuse("", "more than one restart");
    }
    if matches!(spec.path, Path::CompressSamples | Path::CompressFeatures) {
        return refuse("", "compression of the data");
    }
    for v in views {
        let likelihood = spec.view(v.name()).likelihood;
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
    if spec.vb.relaxation != 1.0 {
        let what = format!(
            "vb.relaxation = {}, a choice of the model {},",
            spec.vb.relaxation, spec.model
        );
        return refuse("", &what);
    }
    if spec.stochastic.batch > 1.0 && spec.stochastic.batch > samples as f64 {
        return Err(ErrorKind::Option {
            option: "batch",
            value: spec.stochastic.batch.to_string(),
        }
        .into());
    }
    Ok(())
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
    spec: &ModelSpec,
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
        .map(|v| ScaleSums::new(&spec.view(v.name()).likelihood, v.n_features()))
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
    for (((v, sums), observed), scale) in views.iter().zip(&sums).zip(observed).zip(scales) {
        if observed == 0 {
            return Err(DataError::NothingObserved {
                view: v.name().to_owned(),
            }
            .into());
        }
        let choices = spec.view(v.name());
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
            training: scale.map(ScaleSums::finish),
        };
        note_features(&info, journal);
        let observed = Observed {
            mean: sums.mean(),
            view: None,
        };
        note_remarks(&info, &observed, journal);
        infos.push(info);
    }
    Ok(infos)
}

fn unread(source: &SourceError) -> Error {
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

/// The run over data in working units, started from a decomposition of its first
/// batch.
///
/// # Errors
/// From reading, from the decomposition, and where data do not suit their
/// likelihood; [`ErrorKind::SmallBatch`].
pub(super) fn begin(spec: &ModelSpec, mut source: Box<dyn BlockSource>) -> Result<StochasticRun> {
    let key = StreamKey::new(spec.seed);
    let samples = source.samples();
    let first = StochasticRun::first_batch(samples, &spec.stochastic, key);
    let batch = first.iter().map(Range::len).sum();
    if batch < spec.factors {
        return Err(ErrorKind::SmallBatch {
            batch,
            factors: spec.factors,
            samples,
        }
        .into());
    }
    let views = source.read(&first).map_err(|e| unread(&e))?;
    let z = start(spec, None, &views, 0)?;
    let parts: Vec<ViewPart> = views
        .into_iter()
        .map(|v| {
            let sure = ParameterUncertainty::Posterior;
            part(spec, None, v, MissingData::Marginal, sure, spec.factors).map_err(|e| {
                match e.kind() {
                    ErrorKind::Data(d) => in_all_samples(d.clone(), &first).into(),
                    _ => e,
                }
            })
        })
        .collect::<Result<_>>()?;
    let choices = spec.clone();
    let factors = move |rows: usize, k: usize| factor_block(&choices, None, Mat::zeros(rows, k), 0);
    let mut run = StochasticRun::new(
        parts,
        Box::new(factors),
        source,
        spec.stochastic,
        spec.vb.clone(),
        key,
    )?;
    run.start(z)?;
    Ok(run)
}

/// Batches of fewer samples for each factor may lead the first steps astray.
const PER_FACTOR: usize = 10;

/// The error of an epoch, which is the batch's where that is small and numbers ran away.
pub(super) fn astray(spec: &ModelSpec, samples: usize, e: Error) -> Error {
    let batch = spec.stochastic.batch_size(samples);
    let ran_away = matches!(
        e.kind(),
        ErrorKind::Numeric(NumericError::NotFinite { .. } | NumericError::Linalg { .. })
    );
    if !ran_away || batch >= PER_FACTOR * spec.factors {
        return e;
    }
    ErrorKind::SmallBatch {
        batch,
        factors: spec.factors,
        samples,
    }
    .into()
}

/// The posterior: factors of all samples under the final weights, ordered and
/// signed.
///
/// # Errors
/// From reading and from the parts.
pub(super) fn end(
    spec: &ModelSpec,
    mut run: StochasticRun,
) -> Result<(polyview_core::State, polyview_infer::StochasticRecord)> {
    let moments = run.project_all()?;
    let k = moments.k();
    let (parts, record) = run.into_parts();
    let mut factors = factor_block(spec, None, Mat::zeros(0, k), 0)?;
    factors.set_moments(moments);
    let schedule = polyview_core::Schedule::standard(parts.len());
    let mut full = Model::new(factors, parts, schedule);
    order_factors(&mut full)?;
    Ok((given_up_parameters(full), record))
}

/// The engine that a fit from blocks needs.
///
/// # Errors
/// [`ErrorKind::Incompatible`] for any other.
pub(super) fn is_stochastic(spec: &ModelSpec) -> Result<()> {
    if spec.engine == EngineKind::Stochastic {
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
