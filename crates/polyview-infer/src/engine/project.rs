//! Factors of given samples under fixed weights, intercepts and noise.

use polyview_core::{Context, Event, NumericError, Predictor};
use polyview_linalg::{Mat, MatRef};

use super::{Engine, Vb, assign, update_factors};
use crate::model::{Model, ViewPart};

/// When the rounds of a projection end (spec/sshiba 4.1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProjectionRounds {
    /// Largest change of a factor's mean that counts as none, relative to the
    /// largest mean or to 1 where that is smaller.
    pub tolerance: f64,
    /// Most rounds.
    pub most: usize,
}

impl Default for ProjectionRounds {
    fn default() -> Self {
        Self {
            tolerance: 1e-6,
            most: 200,
        }
    }
}

/// Sets the factors to $q(z\_*)$ given the data of the model's terms, with
/// weights, intercepts and noise held fixed (spec/sshiba P2). Returns the
/// number of rounds.
///
/// Terms without local variables reach it in one round. Others alternate local
/// variables and factors until the factors rest, and so do factors with a
/// mixture prior and the components that they belong to; if they do not within
/// `rounds.most`, the journal says how far they still moved.
///
/// # Errors
/// [`NumericError`] from the parts.
pub fn project_factors(
    model: &mut Model,
    rounds: ProjectionRounds,
    cx: &mut Context<'_>,
) -> Result<usize, NumericError> {
    let mixture = model.factors.shares().is_some();
    if !mixture && !model.views.iter().any(|v| v.term.has_locals()) {
        update_factors(&Vb, model, cx)?;
        return Ok(1);
    }
    let mut moved = f64::INFINITY;
    for round in 1..=rounds.most {
        let before = model.factors.moments().mean().to_owned();
        let Model { factors, views, .. } = &mut *model;
        for ViewPart {
            term,
            weights,
            bias,
            ..
        } in views.iter_mut()
        {
            if term.has_locals() {
                let p = Predictor {
                    factors: factors.moments(),
                    weights: weights.moments(),
                    bias,
                };
                Vb.locals(term.as_mut(), &p, cx)?;
            }
        }
        update_factors(&Vb, model, cx)?;
        assign(&Vb, model, cx)?;
        moved = movement(&before, model.factors.moments().mean());
        if moved <= rounds.tolerance {
            return Ok(round);
        }
    }
    let note = format!(
        "the factors still moved by {moved:.1e} after {} rounds",
        rounds.most
    );
    cx.journal
        .note(cx.sweep, "projection", Event::Note { note });
    Ok(rounds.most)
}

/// Largest change of an entry, relative to the largest entry or to 1. A NaN
/// counts as movement.
fn movement(before: &Mat<f64>, after: MatRef<'_, f64>) -> f64 {
    let (mut moved, mut size): (f64, f64) = (0.0, 1.0);
    for j in 0..after.ncols() {
        for (a, b) in before.col(j).iter().zip(after.col(j).iter()) {
            if !b.is_finite() {
                return f64::INFINITY;
            }
            moved = moved.max((a - b).abs());
            size = size.max(b.abs());
        }
    }
    moved / size
}
