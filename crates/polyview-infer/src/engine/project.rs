//! Factors of given samples under fixed weights, intercepts and noise.

use polyview_core::{Context, Event, NumericError, Predictor};

use super::extrapolate::Extrapolation;
use super::{Engine, Vb, assign, update_factors};
use crate::model::{Model, ViewPart};

/// When the rounds of a projection end (spec/sshiba 4.1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProjectionRounds {
    /// Largest change of a factor's mean that counts as none, relative to the
    /// largest mean of that sample or to 1 where that is smaller.
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
/// variables and factors, each round at a point extrapolated from the last few,
/// until the factors of every sample rest; factors with a mixture prior and the
/// components that they belong to do so too. If they do not within `rounds.most`,
/// the journal says how far they still moved.
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
    let samples = model.factors.moments().explicit_rows();
    // components follow the factors one round later
    let mut way = Extrapolation::new(samples, rounds.tolerance, if mixture { 2 } else { 1 });
    let mut at = model.factors.moments().clone();
    for round in 1..=rounds.most {
        for ViewPart {
            term,
            weights,
            bias,
            ..
        } in &mut model.views
        {
            if term.has_locals() {
                let p = Predictor {
                    factors: &at,
                    weights: weights.moments(),
                    bias,
                };
                Vb.locals(term.as_mut(), &p, cx)?;
            }
        }
        update_factors(&Vb, model, cx)?;
        assign(&Vb, model, cx)?;
        let now = model.factors.moments();
        let mut means = at.mean().to_owned();
        way.next(&mut means, now.mean());
        if way.settled().iter().all(|s| *s) {
            return Ok(round);
        }
        at = now.clone();
        *at.parts_mut().0 = means;
        for view in &mut model.views {
            view.term.rest(way.settled());
        }
    }
    let moved = way.moved();
    let note = format!(
        "the factors still moved by {moved:.1e} after {} rounds",
        rounds.most
    );
    cx.journal
        .note(cx.sweep, "projection", Event::Note { note });
    Ok(rounds.most)
}
