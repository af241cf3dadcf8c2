//! Sums of old and new samples, and what follows from them.

use std::ops::Range;

use polyview_core::{DataError, ParameterUncertainty, State, Stateful, View};
use polyview_infer::{StochasticOptions, StochasticRun, Sums};
use polyview_linalg::{Mat, MatRef};
use polyview_random::StreamKey;

use super::UpdateOptions;
use crate::compose::Composed;
use crate::error::{ErrorKind, Result};
use crate::fit::{Fit, factors_alone};

/// Samples of the fit whose sums are made together.
pub(in crate::verbs) const BLOCK: usize = 4096;

impl Fit {
    /// A run over these views that goes on from the parameters of the fit.
    pub(in crate::verbs) fn stream(
        &self,
        streaming: &Composed,
        source: Vec<View>,
    ) -> Result<StochasticRun> {
        let posterior = ParameterUncertainty::Posterior;
        let mut model = streaming.parameters(None, self.empty_views()?, self.k(), posterior)?;
        model.load_views("", &self.reader_of(&self.components[0]))?;
        let own = streaming.clone();
        let factors = move |rows: usize, k: usize| {
            factors_alone(&own, rows, k).map_err(|e| match e.kind() {
                ErrorKind::Data(d) => d.clone(),
                _ => DataError::Composed { why: e.to_string() },
            })
        };
        let options = &streaming.options;
        Ok(StochasticRun::new(
            model.views,
            Box::new(factors),
            Box::new(source),
            StochasticOptions {
                // to rest, as projections are
                rounds: 1000,
                local_tolerance: 1e-6,
                ..options.stochastic
            },
            options.vb.clone(),
            StreamKey::new(options.seed),
        )?)
    }

    /// The sums of all samples so far: those that are kept, or made of the data.
    pub(super) fn sums_so_far(&self, stream: &mut Stream) -> Result<Sums> {
        match &self.sums {
            Some(state) if !stream.options.refresh => {
                let mut sums = stream.run.sums();
                sums.load("", &state.reader())?;
                Ok(sums)
            }
            _ if self.data.is_some() => {
                stream.gather(&blocks(stream.old.clone(), BLOCK), Some(0.0))?;
                Ok(stream.run.sums())
            }
            Some(_) => Err(self
                .data()
                .map(|_| ())
                .err()
                .unwrap_or_else(|| ErrorKind::NoData.into())),
            None => {
                let why = "it holds neither its data nor their sums".to_owned();
                Err(ErrorKind::NoUpdate { why }.into())
            }
        }
    }

    /// The sums of the training samples, to be kept where their data are not; none for models that
    /// cannot be updated.
    ///
    /// # Errors
    /// Where numbers fail on the way.
    pub(crate) fn own_sums(&self) -> Result<Option<State>> {
        let (Some(data), Ok(streaming)) = (self.data.clone(), self.streaming(0)) else {
            return Ok(None);
        };
        let mut stream = Stream {
            run: self.stream(&streaming, data)?,
            old: 0..self.samples.len(),
            new: 0..0,
            options: UpdateOptions::default(),
        };
        let mut state = State::new();
        self.sums_so_far(&mut stream)?.save("", &mut state);
        Ok(Some(state))
    }

    /// The sums that are kept, for factors that are turned, reordered and signed so.
    pub(in crate::verbs) fn sums_turned(
        &self,
        rotation: MatRef<'_, f64>,
        order: &[usize],
        signs: &[f64],
    ) -> Result<Option<State>> {
        let Some(mut sums) = self.kept_sums()? else {
            return Ok(None);
        };
        sums.transform(rotation);
        sums.select(order, signs);
        let mut state = State::new();
        sums.save("", &mut state);
        Ok(Some(state))
    }

    /// The sums that a file has, checked against the views.
    pub(crate) fn check_sums(&self) -> Result<()> {
        self.kept_sums().map(drop)
    }
    fn kept_sums(&self) -> Result<Option<Sums>> {
        let Some(state) = &self.sums else {
            return Ok(None);
        };
        let streaming = self.streaming(0)?;
        let posterior = ParameterUncertainty::Posterior;
        let model = streaming.parameters(None, self.empty_views()?, self.k(), posterior)?;
        let mut sums = Sums::none(&model.views);
        sums.load("", &state.reader())?;
        Ok(Some(sums))
    }
}

/// A run, and which of the samples of its source are new.
pub(in crate::verbs) struct Stream {
    pub(in crate::verbs) run: StochasticRun,
    pub(in crate::verbs) old: Range<usize>,
    pub(in crate::verbs) new: Range<usize>,
    pub(in crate::verbs) options: UpdateOptions,
}

impl Stream {
    /// Adds the sums of blocks; old sums count `first` times before the first of them, or are
    /// forgotten at the rate of the options.
    pub(in crate::verbs) fn gather(
        &mut self,
        blocks: &[Range<usize>],
        first: Option<f64>,
    ) -> Result<()> {
        for (i, block) in blocks.iter().enumerate() {
            let keep = match first {
                Some(keep) if i == 0 => keep,
                Some(_) => 1.0,
                None => (1.0 - self.options.forget).powf(block.len() as f64),
            };
            self.run.gather(std::slice::from_ref(block), keep)?;
        }
        Ok(())
    }
    /// Takes the new samples in beside `known`; how many passes it took, and whether weights
    /// rested.
    pub(super) fn take_in(&mut self, known: &Sums) -> Result<(usize, bool)> {
        let batch = match self.options.batch {
            0 => self.new.len(),
            own => own,
        };
        let batches = blocks(self.new.clone(), batch);
        self.run.set_sums(known.clone());
        for block in &batches {
            self.gather(std::slice::from_ref(block), None)?;
            self.run.follow()?;
        }
        for pass in 2..=self.options.passes {
            let before = self.weights();
            if self.options.refresh {
                let all = [blocks(self.old.clone(), BLOCK), batches.clone()].concat();
                self.gather(&all, Some(0.0))?;
            } else {
                self.run.set_sums(known.clone());
                self.gather(&batches, None)?;
            }
            self.run.follow()?;
            if moved(&before, &self.weights()) <= self.options.tolerance {
                return Ok((pass, true));
            }
        }
        Ok((self.options.passes, false))
    }
    fn weights(&self) -> Vec<Mat<f64>> {
        let views = self.run.model().views.iter();
        views
            .map(|v| v.weights.moments().mean().to_owned())
            .collect()
    }
}

/// Largest change of the weights of a view, relative to their size.
fn moved(before: &[Mat<f64>], after: &[Mat<f64>]) -> f64 {
    let change = |(a, b): (&Mat<f64>, &Mat<f64>)| {
        let size = b.norm_l2();
        if size > 0.0 {
            (a - b).norm_l2() / size
        } else {
            0.0
        }
    };
    before.iter().zip(after).map(change).fold(0.0, f64::max)
}

/// A range in blocks of no more than that many.
pub(in crate::verbs) fn blocks(range: Range<usize>, most: usize) -> Vec<Range<usize>> {
    let starts = range.clone().step_by(most.max(1));
    starts
        .map(|from| from..(from + most).min(range.end))
        .collect()
}
