//! Which way a view is predicted, by what each says of labels that it has not seen.

use std::fmt::Write;

use polyview_baselines::stratified;
use polyview_core::{Domain, Event, ParameterUncertainty, View};
use polyview_infer::Outcome;
use polyview_linalg::Mat;

use super::align::Aligned;
use super::cross_validate::{columns, side_by_side};
use super::placing::Placing;
use super::settle::{SettleProgress, Watch};
use crate::error::{ErrorKind, Result};
use crate::fit::Fit;
use crate::spec::Settle;

/// Folds of the samples whose targets are hidden in turn.
const FOLDS: usize = 5;
/// With fewer samples that have the view there is nothing to tell ways apart by.
const FEWEST: usize = 15;

/// Log densities of the hidden cells of a target, samples × features, nats in working units; `NaN` where
/// nothing was hidden. Nothing of a way that a fold cannot go.
type Held = [Option<Mat<f64>>; 3];

/// The ways, in the order of [`Held`].
const WAYS: [Settle; 3] = [Settle::Not, Settle::Factors, Settle::Features];

/// Whether targets of a fold could be settled.
enum Going {
    Goes,
    Cannot,
    Interrupted,
}

/// How much better a way is than the joint fit: the mean over the cells, nats, and its standard error
/// over the samples, whose cells go together.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Gain {
    mean: f64,
    error: f64,
}

impl Gain {
    /// `NaN` without two samples.
    fn of(joint: &Mat<f64>, way: &Mat<f64>) -> Self {
        let (mut by_sample, mut cells) = (Vec::new(), 0.0);
        for n in 0..joint.nrows() {
            let differences = (0..joint.ncols()).map(|d| way[(n, d)] - joint[(n, d)]);
            let own: Vec<f64> = differences.filter(|x| !x.is_nan()).collect();
            if !own.is_empty() {
                by_sample.push(own.iter().sum::<f64>());
                cells += own.len() as f64;
            }
        }
        let samples = by_sample.len() as f64;
        let mean = by_sample.iter().sum::<f64>() / samples;
        let squares: f64 = by_sample.iter().map(|x| (x - mean).powi(2)).sum();
        Self {
            mean: mean * samples / cells,
            error: (squares / (samples - 1.0) * samples).sqrt() / cells,
        }
    }
    /// Whether it is better by more than its standard error.
    fn is_clear(self) -> bool {
        self.mean > self.error
    }
}

/// The way to go, and what was measured, in words: the joint fit's unless another is better by more than the
/// standard error of the paired difference; of several such the best.
fn best_of(held: &Held) -> (Settle, String) {
    let Some(joint) = &held[0] else {
        return (Settle::Not, "nothing was measured".to_owned());
    };
    let known = || {
        (0..joint.ncols())
            .flat_map(|d| joint.col_as_slice(d))
            .filter(|x| !x.is_nan())
    };
    let cells = known().count();
    let own = known().sum::<f64>() / cells as f64;
    let (mut best, mut most) = (Settle::Not, 0.0);
    let mut said = format!("joint fit {own:.4}");
    for (way, found) in WAYS.into_iter().zip(held).skip(1) {
        let Some(found) = found else {
            let _ = write!(said, ", on {way} it cannot be settled");
            continue;
        };
        let gain = Gain::of(joint, found);
        let _ = write!(
            said,
            ", on {way} {:.4} ({:+.4} \u{b1} {:.4})",
            own + gain.mean,
            gain.mean,
            gain.error
        );
        if gain.is_clear() && gain.mean > most {
            (best, most) = (way, gain.mean);
        }
    }
    let chosen = match best {
        Settle::Not => "by the joint fit".to_owned(),
        way => format!("as settled on {way}"),
    };
    let note = format!(
        "predicted {chosen}, which was chosen by the mean log density of {cells} cells held out in {FOLDS} folds, nats \
         (difference \u{b1} standard error): {said}"
    );
    (best, note)
}

impl Fit {
    /// Chooses how views are predicted that leave it to the data ([`Settle::Best`]); false where `watch` ended it.
    /// Where it cannot be told they are predicted by the joint fit, and the journal says so.
    pub(super) fn choose_ways(&mut self, watch: Watch<'_>) -> Result<bool> {
        let is_open = |v: &usize| self.views[*v].choices.settle == Some(Settle::Best);
        let open: Vec<usize> = (0..self.views.len()).filter(is_open).collect();
        if open.is_empty() {
            return Ok(true);
        }
        let all: Vec<usize> = (0..self.views.len())
            .filter(|&v| self.views[v].choices.settles())
            .collect();
        let has = |v: usize| -> Result<usize> {
            let view = &self.data()?[v];
            let cells = |n: &usize| view.mask().count_sample(*n, view.n_features()) > 0;
            Ok((0..view.n_samples()).filter(cells).count())
        };
        let least = open.iter().map(|&v| has(v)).collect::<Result<Vec<_>>>()?;
        let found = if let Some(few) = least.iter().find(|n| **n < FEWEST) {
            Err(format!("{few} samples have it, too few to hold some out"))
        } else {
            // the fit itself is none the worse for it
            self.ways_held_out(&all, watch).map_err(|e| e.to_string())
        };
        match found {
            Ok(None) => return Ok(false),
            Ok(Some(held)) => {
                for (v, held) in all.iter().zip(&held).filter(|(v, _)| open.contains(v)) {
                    let (way, note) = best_of(held);
                    self.chosen(*v, way, Event::Data { note });
                }
            }
            Err(why) => {
                for &v in &open {
                    let note = format!(
                        "predicted by the joint fit, since ways could not be compared: {why}"
                    );
                    self.chosen(v, Settle::Not, Event::Warning { note });
                }
            }
        }
        Ok(true)
    }

    fn chosen(&mut self, v: usize, way: Settle, event: Event) {
        self.say_way(v, way);
        let block = format!("weights/{}", self.views[v].name);
        self.note_before_the_end(&block, event);
    }

    /// What each way says of the targets of samples from which these were hidden (spec/sites 5): the joint fit
    /// over again from its own start for each fold, so that nothing of the hidden cells is left in it, and
    /// settled on each.
    fn ways_held_out(&self, targets: &[usize], watch: Watch<'_>) -> Result<Option<Vec<Held>>> {
        let data = self.data()?;
        let rows = self.samples.len();
        let of_label = |v: &&usize| self.domain(**v).is_label();
        let labels: Vec<Mat<f64>> = (targets.iter().filter(of_label))
            .map(|&v| columns(&data[v], self.domain(v)))
            .collect();
        let labels = side_by_side(&labels, rows);
        let fold_of = stratified(labels.as_ref(), FOLDS, self.run_options().seed)?;
        let none = |v: &usize| Some(Mat::full(rows, data[*v].n_features(), f64::NAN));
        let mut out: Vec<Held> = (targets.iter())
            .map(|v| std::array::from_fn(|_| none(v)))
            .collect();
        for fold in 0..FOLDS {
            let hidden = |n: usize| fold_of[n] == fold;
            let mut views = data.to_vec();
            for &v in targets {
                views[v] = data[v].hiding(|n, _| hidden(n));
            }
            let name = &self.views[targets[0]].name;
            let go_on = |sweep: usize| {
                watch(&SettleProgress {
                    view: name.clone(),
                    sweep,
                    fold: Some((fold + 1, FOLDS)),
                })
            };
            let of_fold = |p: &SettleProgress| {
                watch(&SettleProgress {
                    fold: Some((fold + 1, FOLDS)),
                    ..p.clone()
                })
            };
            let Some(mut fit) = self.again(views, &go_on)? else {
                return Ok(None);
            };
            for (w, way) in WAYS.into_iter().enumerate() {
                match fit.goes(targets, way, &of_fold)? {
                    Going::Goes => {}
                    Going::Interrupted => return Ok(None),
                    Going::Cannot => {
                        for held in &mut out {
                            held[w] = None;
                        }
                        continue;
                    }
                }
                for (held, &v) in out.iter_mut().zip(targets) {
                    let Some(held) = &mut held[w] else {
                        continue;
                    };
                    let truth = data[v].hiding(|n, _| !hidden(n));
                    let found = fit.ln_densities(v, targets, &truth)?;
                    for d in 0..held.ncols() {
                        for n in (0..rows).filter(|n| truth.is_observed(*n, d)) {
                            held[(n, d)] = found[(n, d)];
                        }
                    }
                }
            }
        }
        Ok(Some(out))
    }

    fn domain(&self, v: usize) -> Domain {
        let domain = self.views[v].choices.likelihood.domain();
        domain.unwrap_or_default()
    }

    /// Settles the targets this way.
    fn goes(&mut self, targets: &[usize], way: Settle, watch: Watch<'_>) -> Result<Going> {
        if !way.settles() {
            return Ok(Going::Goes);
        }
        let names: Vec<String> = targets
            .iter()
            .map(|&v| self.views[v].name.clone())
            .collect();
        for &v in targets {
            self.views[v].choices.settle = Some(way);
        }
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        match self.settled(&names, watch) {
            Ok(settled) if settled.outcome == Outcome::Interrupted => Ok(Going::Interrupted),
            Ok(_) => Ok(Going::Goes),
            Err(e) => match e.kind() {
                ErrorKind::NotSettled { .. } | ErrorKind::Incompatible { .. } => Ok(Going::Cannot),
                _ => Err(e),
            },
        }
    }

    /// Log densities of the cells `truth` of view `at`, predicted from the views that are no targets.
    fn ln_densities(&self, at: usize, targets: &[usize], truth: &View) -> Result<Mat<f64>> {
        let data = self.data()?;
        let views = (data.iter().enumerate())
            .map(|(v, view)| (!targets.contains(&v)).then(|| view.clone()))
            .collect();
        let aligned = Aligned {
            samples: self.samples.clone(),
            views,
            placing: Placing::as_fitted(),
            notes: Vec::new(),
            warnings: Vec::new(),
        };
        let found = self.predict_aligned(at, aligned, ParameterUncertainty::Posterior)?;
        Ok(found.laws.ln_densities(truth))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: sums of the samples 4, 0, 0 over five cells.
    #[test]
    fn cells_of_a_sample_go_together_in_the_error() {
        let missing = |n: usize, d: usize| (n, d) == (1, 1);
        let of = |cells: [[f64; 2]; 3]| {
            Mat::from_fn(
                3,
                2,
                |n, d| if missing(n, d) { f64::NAN } else { cells[n][d] },
            )
        };
        let joint = of([[-1.0; 2]; 3]);
        let gain = Gain::of(&joint, &of([[0.0, 2.0], [-1.0, 0.0], [-2.0, 0.0]]));
        assert!((gain.mean - 0.8).abs() < 1e-12, "{gain:?}");
        assert!((gain.error - 0.8).abs() < 1e-12, "{gain:?}");

        // another way has to be better by more than that
        let way = of([[0.0, 2.0], [-1.0, 0.0], [-2.0, -0.5]]);
        let (way, said) = best_of(&[Some(joint.clone()), None, Some(way)]);
        assert_eq!(way, Settle::Not, "{said}");
        assert!(said.contains("on factors it cannot be settled"), "{said}");
        let clear = of([[0.0, 0.0], [0.0, 0.0], [0.0, 0.5]]);
        let (way, said) = best_of(&[Some(joint.clone()), Some(clear), None]);
        assert_eq!(way, Settle::Factors, "{said}");
        assert!(
            said.contains("as settled on factors") && said.contains("5 cells"),
            "{said}"
        );
    }
}
