//! Which way a view is predicted, by what each says of labels that it has not seen.

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
fn best_of(held: &[Option<Mat<f64>>]) -> (Settle, String) {
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
        "predicted {chosen}, which was chosen by the mean log density of {cells} cells held out in {} folds, nats \
         (difference \u{b1} standard error): {said}",
        folds_of(joint.nrows())
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
        let folds = Folds::whole(folds_of(self.samples.len()));
        let found = self.ways_held_out((&open, &all), (&WAYS, folds), watch)?;
        match found {
            Ok(None) => return Ok(false),
            Ok(Some(Held { densities, .. })) => {
                for (v, held) in all.iter().zip(&densities).filter(|(v, _)| open.contains(v)) {
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

    pub(super) fn chosen(&mut self, v: usize, way: Settle, event: Event) {
        self.say_way(v, way);
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
