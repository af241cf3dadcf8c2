//! Which way a view is predicted, by what each says of labels that it has not seen.

use std::collections::BTreeMap;
use std::fmt::Write;

use polyview_core::Event;
use polyview_linalg::Mat;

use super::held_out::{Folds, Held};
use super::settle::Watch;
use crate::error::Result;
use crate::fit::Fit;
use crate::spec::Settle;

/// The ways.
const WAYS: [Settle; 3] = [Settle::Not, Settle::Factors, Settle::Features];

/// Folds of so many samples: of many the fits of two thirds are those of four fifths.
fn folds_of(samples: usize) -> usize {
    /// What is many.
    const MANY: usize = 1000;
    if samples > MANY { 3 } else { 5 }
}

/// How much better a way is than the joint fit: the mean over the cells, nats, and its standard error
/// over the samples, whose cells go together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Gain {
    mean: f64,
    error: f64,
}

impl Gain {
    /// `NaN` without two samples.
    fn of(joint: &Mat<f64>, way: &Mat<f64>) -> Self {
        let columns = 0..joint.ncols();
        let cells = (0..joint.nrows()).flat_map(|n| columns.clone().map(move |d| (n, d)));
        Self::over(cells.map(|(n, d)| (n, way[(n, d)] - joint[(n, d)])))
    }
    /// By the sample of each cell and the difference there; none that is no number. `NaN` without two samples.
    pub(super) fn over(differences: impl Iterator<Item = (usize, f64)>) -> Self {
        let (mut of_sample, mut cells) = (BTreeMap::new(), 0.0);
        for (sample, difference) in differences.filter(|(_, x)| !x.is_nan()) {
            *of_sample.entry(sample).or_insert(0.0) += difference;
            cells += 1.0;
        }
        let by_sample: Vec<f64> = of_sample.into_values().collect();
        let samples = by_sample.len() as f64;
        let mean = by_sample.iter().sum::<f64>() / samples;
        let squares: f64 = by_sample.iter().map(|x| (x - mean).powi(2)).sum();
        Self {
            mean: mean * samples / cells,
            error: (squares / (samples - 1.0) * samples).sqrt() / cells,
        }
    }
    /// Whether it is better by more than its standard error.
    pub(super) fn is_clear(self) -> bool {
        self.mean > self.error
    }
}

/// What is to be said where none of these ways, of which there are a name, the mean log density and
/// how much better than means alone it is, is better than means, whose own is `base`, by more than a
/// standard error.
pub(super) fn no_better(ways: &[(&str, f64, Gain)], base: f64) -> Option<String> {
    if ways.iter().any(|(_, _, gain)| gain.is_clear()) || !base.is_finite() {
        return None;
    }
    let each: Vec<String> = ways
        .iter()
        .map(|(name, mean, _)| format!("{mean:.4} {name}"))
        .collect();
    let none = if ways.len() > 1 { "neither" } else { "not" };
    Some(format!(
        "predicted no better than by its means in folds of the training samples (mean log density {} against {base:.4}, \
         {none} above by more than its standard error): what factors explain of it may be chance",
        each.join(" and ")
    ))
}

/// What is chosen for a view.
struct Chosen {
    way: Settle,
    /// What was measured, in words.
    said: String,
    /// What [`no_better`] says.
    no_better: Option<String>,
}

/// The way to go, and what was measured, in words: the joint fit's unless another is better by more than the
/// standard error of the paired difference; of several such the best.
fn best_of(held: &[Option<Mat<f64>>], means: Option<&Mat<f64>>) -> Chosen {
    let Some(joint) = &held[0] else {
        return Chosen {
            way: Settle::Not,
            said: "nothing was measured".to_owned(),
            no_better: None,
        };
    };
    let known = || {
        (0..joint.ncols())
            .flat_map(|d| joint.col_as_slice(d))
            .filter(|x| !x.is_nan())
    };
    let cells = known().count();
    let own = known().sum::<f64>() / cells as f64;
    let (mut best, mut most, mut law) = (Settle::Not, 0.0, joint);
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
            (best, most, law) = (way, gain.mean, found);
        }
    }
    let chosen = match best {
        Settle::Not => "by the joint fit".to_owned(),
        way => format!("as settled on {way}"),
    };
    let mut none = None;
    if let Some(means) = means {
        let base = own + Gain::of(joint, means).mean;
        let _ = write!(said, "; by means alone, without a feature, {base:.4}");
        let mut ways = vec![("of the joint fit", own, Gain::of(means, joint))];
        if best != Settle::Not {
            ways.push((&chosen, own + most, Gain::of(means, law)));
        }
        none = no_better(&ways, base);
    }
    let said = format!(
        "predicted {chosen}, which was chosen by the mean log density of {cells} cells held out in {} folds, nats \
         (difference \u{b1} standard error): {said}",
        folds_of(joint.nrows())
    );
    Chosen {
        way: best,
        said,
        no_better: none,
    }
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
        let folds = Folds::whole(folds_of(self.samples.len()));
        let found = self.ways_held_out((&open, &all), (&WAYS, folds), watch)?;
        match found {
            Ok(None) => return Ok(false),
            Ok(Some(Held { densities, fold_of })) => {
                for (v, held) in all.iter().zip(&densities).filter(|(v, _)| open.contains(v)) {
                    // laws about means alone are those of a regression
                    let means = match self.never_regressed(*v, &all)? {
                        None => Some(self.ln_densities_by_means(*v, &fold_of)?),
                        Some(_) => None,
                    };
                    let found = best_of(held, means.as_ref());
                    self.chosen(*v, found.way, Event::Data { note: found.said });
                    if let Some(note) = found.no_better {
                        self.note_of_weights(*v, Event::Warning { note });
                    }
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

    pub(super) fn chosen(&mut self, v: usize, way: Settle, event: Event) {
        self.say_way(v, way);
        self.note_of_weights(v, event);
    }

    pub(super) fn note_of_weights(&mut self, v: usize, event: Event) {
        let block = format!("weights/{}", self.views[v].name);
        self.note_before_the_end(&block, event);
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
        let found = best_of(&[Some(joint.clone()), None, Some(way)], None);
        let said = found.said;
        assert_eq!(found.way, Settle::Not, "{said}");
        assert!(said.contains("on factors it cannot be settled"), "{said}");
        assert_eq!(found.no_better, None);
        let clear = of([[0.0, 0.0], [0.0, 0.0], [0.0, 0.5]]);
        let ways = [Some(joint.clone()), Some(clear.clone()), None];
        let found = best_of(&ways, Some(&joint));
        let said = found.said;
        assert_eq!(found.way, Settle::Factors, "{said}");
        assert_eq!(found.no_better, None);
        assert!(
            said.ends_with("by means alone, without a feature, -1.0000"),
            "{said}"
        );
        assert!(
            said.contains("as settled on factors") && said.contains("5 cells"),
            "{said}"
        );
        // means that say as much as the better way are said
        let none = best_of(&ways, Some(&clear)).no_better.expect("a warning");
        assert!(
            none.contains(
                "-1.0000 of the joint fit and 0.1000 as settled on factors against 0.1000, neither"
            ),
            "{none}"
        );
        let alone = best_of(&[Some(joint.clone()), None, None], Some(&clear));
        let none = alone.no_better.expect("a warning");
        assert!(
            none.contains("(mean log density -1.0000 of the joint fit against 0.1000, not above"),
            "{none}"
        );
    }
}
