//! Sparse weights start where dense ones lead (docs/decisions/0077-momentum.md).

use polyview_core::{Event, Journal, RowMoments};
use polyview_infer::{Model, PruneRule, Start, VbOptions, VbRun};
use polyview_linalg::{KaiserNormalisation, Mat, VarimaxOptions, times_small, varimax};
use polyview_random::StreamKey;

use crate::assemble::weight_block;
use crate::compose::Composed;
use crate::error::Result;
use crate::fit::fitting::{Given, swept};
use crate::plan::Plan;
use crate::spec::{ModelSpec, WeightPrior};

/// Most sweeps with dense weights: they turn factors into place within a few dozen.
const SWEEPS: usize = 40;

/// Chain of the random numbers of these sweeps.
const CHAIN: u32 = 1 << 21;

impl Given {
    /// Factors that the run of variational Bayes of this number starts from, samples × K. Where
    /// weights are zero or not and sweeps go with momentum, a few sweeps of the same model with dense weights come
    /// first, whose factors are then turned by varimax. They leave out factors that are
    /// empty, so that K may be less than was asked for.
    ///
    /// # Errors
    /// From the decomposition and from the sweeps.
    pub(in crate::fit) fn start_of_run(&mut self, number: usize) -> Result<Mat<f64>> {
        let start = self.start(number)?;
        match dense(&self.composed)? {
            Some(dense) => self.led_by(&dense, start, number),
            None => Ok(start),
        }
    }
    fn led_by(&mut self, dense: &Composed, start: Mat<f64>, number: usize) -> Result<Mat<f64>> {
        let groups = self.groups.as_ref();
        let plan = Plan::choose(dense, groups, &self.views, &mut Journal::default())?;
        let model = plan.model(dense, groups, self.views.clone(), start)?;
        let vb = VbOptions {
            max_sweeps: SWEEPS.min(self.composed.options.vb.max_sweeps),
            prune: PruneRule {
                by_bound: false,
                ..self.composed.options.vb.prune
            },
            ..self.composed.options.vb.clone()
        };
        let key = StreamKey::new(dense.options.seed).chain(CHAIN | number as u32);
        let mut run = VbRun::new(model, vb, key, Journal::default());
        loop {
            if swept(&mut run)?.outcome.is_some() {
                break;
            }
        }
        let (swept, record) = run.into_parts();
        let model = plan.expand(dense, groups, &self.views, swept)?;
        let z = turned(&model)?;
        let note = format!(
            "factors start from {} sweeps with dense weights, turned by varimax: {} of {} are left, bound \
             {:.1}",
            record.sweep,
            z.ncols(),
            self.composed.options.factors,
            record.ledger.last().unwrap_or(f64::NAN)
        );
        self.journal.note(0, "start", Event::Note { note });
        Ok(z)
    }
}

/// The same model with dense weights in place of sparse ones; none where no weights are sparse,
/// or somebody chose where factors start.
fn dense(composed: &Composed) -> Result<Option<Composed>> {
    let Some(spec) = composed.spec() else {
        return Ok(None);
    };
    let asked = composed.options.vb.momentum && composed.options.start == Start::Varimax;
    if composed.is_faithful() || !asked {
        return Ok(None);
    }
    let mut dense: ModelSpec = spec.clone();
    let mut any = false;
    for view in &spec.views {
        let none = RowMoments::point(Mat::zeros(0, composed.options.factors));
        if weight_block(spec, &view.name, none, &[])?
            .inclusion()
            .is_some()
        {
            any = true;
            let mut choices = view.choices.clone();
            choices.selection = WeightPrior::default();
            dense = dense.with_view(&view.name, choices);
        }
    }
    Ok(any.then(|| composed.with_spec(dense)))
}

/// The means of the factors, turned to where the weights of all views together are simplest.
fn turned(model: &Model) -> Result<Mat<f64>> {
    let z = model.factors.moments().mean();
    let weights = || model.views.iter().map(|v| v.weights.moments().mean());
    let rows = weights().map(|w| w.nrows()).sum();
    if z.ncols() < 2 || rows < z.ncols() {
        return Ok(z.to_owned());
    }
    let mut all: Mat<f64> = Mat::zeros(rows, z.ncols());
    let mut at = 0;
    for w in weights() {
        all.as_mut().subrows_mut(at, w.nrows()).copy_from(w);
        at += w.nrows();
    }
    let options = VarimaxOptions {
        normalisation: KaiserNormalisation::Rows,
        ..VarimaxOptions::default()
    };
    let turn = varimax(all.as_ref(), &options)?;
    Ok(times_small(z, turn.rotation.as_ref()))
}
