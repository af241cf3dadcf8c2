//! A fit of data that are read block by block.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use polyview_core::{BlockSource, FeatureScaling, Journal, excerpt};
use polyview_linalg::{Mat, on_pool};

use super::batches::Batches;
use super::{Fitting, Given};
use crate::assemble::fit_factors;
use crate::compose::{Composed, Composer};
use crate::error::{ErrorKind, Result};
use crate::fit::remarks::note_twins;
use crate::fit::stochastic;
use crate::spec::{ModelSpec, RunOptions};

/// Cells in which views that are one table are looked for.
const LOOKED_AT: usize = 1 << 22;

impl Fitting {
    /// A fit of data that are read block by block, the rows of every view in the
    /// order of `samples`: stochastic variational Bayes.
    ///
    /// The data are read once to learn means and scales, once an epoch, and once
    /// at the end for the factors of all samples. They are not in the fit: verbs
    /// that look at the training data want them again.
    ///
    /// ```
    /// use polyview::{EngineKind, Fitting, models};
    /// use polyview_core::View;
    /// use polyview_linalg::Mat;
    ///
    /// let values = Mat::from_fn(400, 6, |n, d| {
    ///     ((n * 37 % 101) as f64 / 50.0 - 1.0) * (d + 1) as f64 + ((n * 7 + d * 3) % 5) as f64 / 5.0
    /// });
    /// let view = View::from_values("genes", (0..6).map(|d| format!("g{d}")).collect(), values)?;
    /// let mut spec = models::bibfa(2);
    /// spec.engine = EngineKind::Stochastic;
    /// (spec.stochastic.batch, spec.stochastic.epochs) = (0.25, 5);
    /// let samples = (0..400).map(|n| format!("s{n}")).collect();
    /// let mut fitting = Fitting::from_blocks(Box::new(vec![view]), samples, spec)?;
    /// while !fitting.step()?.done {}
    /// let fit = fitting.finish()?;
    /// assert_eq!(fit.factors()?.mean.nrows(), 400);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Data`] for names that are not unique or not as many as there
    /// are samples, [`ErrorKind::Source`] where reading fails,
    /// [`ErrorKind::Incompatible`] for choices that the engine does not know
    /// (other engines, groups with parameters of their own, scales of factors, imputation,
    /// restarts, negative binomial views), and what [`crate::validate`] finds.
    pub fn from_blocks(
        source: Box<dyn BlockSource>,
        samples: Vec<String>,
        spec: ModelSpec,
    ) -> Result<Self> {
        on_pool(|| Self::started_from_blocks(source, samples, spec.into()))
    }
    /// As [`Fitting::from_blocks`], of a model that somebody else than a [`ModelSpec`] puts
    /// together.
    ///
    /// # Errors
    /// As [`Fitting::from_blocks`] and [`Fitting::composed`].
    pub fn composed_from_blocks(
        source: Box<dyn BlockSource>,
        samples: Vec<String>,
        composer: Arc<dyn Composer>,
        options: RunOptions,
    ) -> Result<Self> {
        let composed = Composed::new(composer, options);
        on_pool(|| Self::started_from_blocks(source, samples, composed))
    }

    fn started_from_blocks(
        mut source: Box<dyn BlockSource>,
        samples: Vec<String>,
        composed: Composed,
    ) -> Result<Self> {
        let started = Instant::now();
        stochastic::is_stochastic(composed.options.engine)?;
        let views = source
            .read(&[])
            .map_err(|e| ErrorKind::Source { why: e.to_string() })?;
        stochastic::check_names(&samples, source.samples(), &views)?;
        let choices = composed.views(&views, samples.len(), None)?;
        let mut journal = Journal::default();
        let factors = fit_factors(&composed, &views, samples.len(), &mut journal);
        let composed = composed.written_out(&views, factors);
        for (v, choices) in views.iter().zip(&choices) {
            if let Some(kernel) = &choices.kernel {
                return Err(ErrorKind::Incompatible {
                    view: v.name().to_owned(),
                    what: format!("the kernel {kernel}"),
                    with: "data that are read block by block: samples are compared with each other; take \
                           the data into memory (--in-memory)"
                        .to_owned(),
                }
                .into());
            }
            if choices.scaling == FeatureScaling::NormalScores {
                return Err(ErrorKind::Incompatible {
                    view: v.name().to_owned(),
                    what: "scaling = \"normal-scores\"".to_owned(),
                    with: "data that are read block by block: ranks need all values at hand; take \
                           the data into memory, or choose another scaling"
                        .to_owned(),
                }
                .into());
            }
        }
        let infos = stochastic::learn(choices, source.as_mut(), &samples, &views, &mut journal)?;
        let mut working = stochastic::Working {
            source,
            scalings: infos.iter().map(|i| i.scaling.clone()).collect(),
        };
        let (_, part) = excerpt(&mut working, LOOKED_AT)
            .map_err(|e| ErrorKind::Source { why: e.to_string() })?;
        note_twins(&part, &mut journal);
        let run = Batches::new(&composed, (&samples, &infos), Box::new(working))?;
        Ok(Self {
            given: Given {
                composed,
                samples,
                infos,
                views: Vec::new(),
                groups: None,
                journal,
            },
            campaign: Box::new(run),
            starts: Mat::zeros(0, 0),
            rounding: Vec::new(),
            metadata: Vec::new(),
            started,
            origin: OnceLock::new(),
        })
    }
}
