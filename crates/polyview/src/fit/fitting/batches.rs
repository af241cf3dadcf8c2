//! A fit by batches of the samples: where many samples are to say how many factors there are, dense weights of
//! some of them first, as in a fit of all at once.

use std::ops::Range;

use polyview_core::{
    BlockSource, DataError, Journal, NumericError, Schedule, State, Stateful, View,
};
use polyview_infer::stochastic::in_all_samples;
use polyview_infer::{Model, StochasticOptions, StochasticRun, many_samples};
use polyview_linalg::Mat;
use polyview_random::StreamKey;

use super::dense_first::{DenseFirst, Handed, Next};
use super::{Campaign, Ended, Given, Progress, swept};
use crate::compose::Composed;
use crate::error::{Error, ErrorKind, Result};
use crate::fit::order::by_variance;
use crate::fit::start::start;
use crate::fit::states::given_up_parameters;
use crate::fit::stochastic::{factors_alone, unread};
use crate::fit::{FitRecord, ViewInfo};
use crate::spec::RunOptions;

/// Cells that a start looks at, about, where the samples are many for their features.
const CELLS: usize = 1 << 22;

/// The run, or what it waits for.
pub(super) struct Batches {
    stage: Stage,
}

enum Stage {
    Before(Box<Before>),
    Running(Box<StochasticRun>),
    /// An error on the way from one to the other.
    Lost,
}

/// Dense weights of some samples.
struct Before {
    ranges: Vec<Range<usize>>,
    part: Given,
    dense: DenseFirst,
    source: Box<dyn BlockSource>,
}

impl Batches {
    /// Over data in working units, started from a decomposition of the first samples that an epoch visits.
    ///
    /// # Errors
    /// From reading, from the decomposition, and where data do not suit their
    /// likelihood; [`ErrorKind::SmallBatch`].
    pub(super) fn new(
        composed: &Composed,
        (samples, infos): (&[String], &[ViewInfo]),
        mut source: Box<dyn BlockSource>,
    ) -> Result<Self> {
        let options = &composed.options;
        let key = StreamKey::new(options.seed);
        let first = StochasticRun::first_batch(samples.len(), &options.stochastic, key);
        let batch = first.iter().map(Range::len).sum();
        if batch < options.factors {
            return Err(ErrorKind::SmallBatch {
                batch,
                factors: options.factors,
                samples: samples.len(),
            }
            .into());
        }
        let features: usize = infos.iter().map(|i| i.features.len()).sum();
        let many = many_samples(samples.len(), features);
        let ranges = if many {
            let least = StochasticOptions::PER_FACTOR * options.factors;
            let count = (CELLS / features.max(1)).max(least);
            StochasticRun::first_samples(samples.len(), &options.stochastic, key, count)
        } else {
            first
        };
        let views = source.read(&ranges).map_err(|e| unread(&e))?;
        let z = start(composed, None, (infos, &views), 0)?;
        let looked_at = many.then(|| views.clone());
        let mut model = parts(composed, views, &z, &ranges)?;
        if let Some(views) = looked_at {
            let names = ranges.iter().flat_map(|r| samples[r.clone()].to_vec());
            let part = Given {
                composed: composed.by_variational_bayes(),
                samples: names.collect(),
                infos: infos.to_vec(),
                views,
                groups: None,
                journal: Journal::default(),
            };
            if let Some(dense) = DenseFirst::new(&part, samples.len(), &mut model, &z)? {
                let stage = Stage::Before(Box::new(Before {
                    ranges,
                    part,
                    dense,
                    source,
                }));
                return Ok(Self { stage });
            }
        }
        let run = begun(composed, model, z, (&ranges, source))?;
        Ok(Self {
            stage: Stage::Running(Box::new(run)),
        })
    }
    /// The run.
    fn run(&mut self) -> Result<&mut StochasticRun> {
        match &mut self.stage {
            Stage::Running(run) => Ok(run),
            _ => Err(lost()),
        }
    }
    /// A sweep of dense weights, where the run waits for them; the run, begun where they are, if they are to be `over`.
    fn before(&mut self, given: &mut Given, over: bool) -> Result<Option<Progress>> {
        let before = match std::mem::replace(&mut self.stage, Stage::Lost) {
            Stage::Before(before) => *before,
            other => {
                self.stage = other;
                return Ok(None);
            }
        };
        let Before {
            ranges,
            mut part,
            dense,
            source,
        } = before;
        let (progress, next) = if over {
            (None, Next::Start(dense.into_start(&mut part)?))
        } else {
            let (progress, next) = dense.step(&mut part)?;
            (Some(progress), next)
        };
        self.stage = match next {
            Next::Sweep(dense) => Stage::Before(Box::new(Before {
                ranges,
                part,
                dense: *dense,
                source,
            })),
            Next::Start(Handed { factors, .. }) => {
                given.journal.entries.append(&mut part.journal.entries);
                let model = parts(&given.composed, part.views, &factors, &ranges)?;
                let run = begun(&given.composed, model, factors, (&ranges, source))?;
                Stage::Running(Box::new(run))
            }
        };
        Ok(progress)
    }
}

fn lost() -> Error {
    NumericError::BadState {
        name: "fit".to_owned(),
    }
    .into()
}

/// The model of some samples, whose data are `views`, with these factors; errors of data name rows of all samples.
fn parts(
    composed: &Composed,
    views: Vec<View>,
    z: &Mat<f64>,
    ranges: &[Range<usize>],
) -> Result<Model> {
    composed
        .model(None, views, z.clone())
        .map_err(|e| match e.kind() {
            ErrorKind::Data(d) => in_all_samples(d.clone(), ranges).into(),
            _ => e,
        })
}

/// The run from these factors of some samples, of which there is the model.
fn begun(
    composed: &Composed,
    model: Model,
    z: Mat<f64>,
    (ranges, source): (&[Range<usize>], Box<dyn BlockSource>),
) -> Result<StochasticRun> {
    let options = &composed.options;
    let own = composed.clone();
    let factors = move |rows: usize, k: usize| {
        factors_alone(&own, rows, k).map_err(|e| match e.kind() {
            ErrorKind::Data(d) => d.clone(),
            _ => DataError::Composed { why: e.to_string() },
        })
    };
    let mut run = StochasticRun::new(
        model.views,
        Box::new(factors),
        source,
        options.stochastic,
        options.vb.clone(),
        StreamKey::new(options.seed),
    )?;
    run.start(z, ranges)?;
    Ok(run)
}

impl Campaign for Batches {
    fn step(&mut self, given: &mut Given) -> Result<Progress> {
        if let Some(progress) = self.before(given, false)? {
            return Ok(progress);
        }
        let run = self.run()?;
        let limits = &given.composed.options.stochastic;
        let limit = limits.epochs + limits.exact_sweeps;
        let report = swept(run);
        let report = report.map_err(|e| astray(&given.composed.options, given.samples.len(), e))?;
        Ok(Progress::of(&report, limit))
    }

    /// The factors are those of all samples under the final weights.
    fn finish(mut self: Box<Self>, given: &mut Given) -> Result<Ended> {
        // stopped on the way: one epoch says what weights and intercepts go with these factors
        if let Stage::Before(before) = &self.stage {
            let began = before.dense.sweeps() > 0;
            self.before(given, true)?;
            if began {
                swept(self.run()?)?;
            }
        }
        let Stage::Running(mut run) = self.stage else {
            return Err(lost());
        };
        let moments = run.project_all()?;
        let mut sums = run.sums();
        let (swept, record) = run.into_parts();
        let mut factors = factors_alone(&given.composed, 0, moments.k())?;
        factors.set_moments(moments);
        let schedule = Schedule::standard(swept.views.len());
        let mut full = Model::new(factors, swept.views, schedule);
        let (order, signs) = by_variance(&full);
        full.select(&order, &signs)?;
        // of data that are not at hand later
        let sums = given.views.is_empty().then(|| {
            sums.select(&order, &signs);
            let mut state = State::new();
            sums.save("", &mut state);
            state
        });
        let state = given_up_parameters(full);
        let bounds = record.ledger.last().into_iter().collect();
        let journal = std::mem::take(&mut given.journal);
        Ok(Ended {
            components: vec![state],
            record: FitRecord::of(record, journal, bounds),
            sums,
        })
    }
}

/// The error of an epoch, which is the batch's where that is small and numbers ran away.
fn astray(options: &RunOptions, samples: usize, e: Error) -> Error {
    let batch = options.stochastic.batch_size(samples);
    let ran_away = matches!(
        e.kind(),
        ErrorKind::Numeric(NumericError::NotFinite { .. } | NumericError::Linalg { .. })
    );
    if !ran_away || batch >= StochasticOptions::PER_FACTOR * options.factors {
        return e;
    }
    ErrorKind::SmallBatch {
        batch,
        factors: options.factors,
        samples,
    }
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models;

    /// Numbers that ran away in a small batch are the batch's, not those of the data.
    #[test]
    fn numbers_that_ran_away_in_a_small_batch_name_it() {
        let of = |batch: f64| {
            let mut spec = models::mofa(5);
            spec.stochastic.batch = batch;
            let lost = NumericError::NotFinite {
                block: "weights/a".into(),
                what: "a mean",
            };
            astray(&spec.run_options(), 600, lost.into())
        };
        let e = of(0.02);
        assert!(
            matches!(e.kind(), ErrorKind::SmallBatch { batch: 12, .. }),
            "{e}"
        );
        assert!(e.to_string().contains("a batch of 12 sample(s)"), "{e}");
        let e = of(0.5);
        assert!(matches!(e.kind(), ErrorKind::Numeric(_)), "{e}");
    }
}
