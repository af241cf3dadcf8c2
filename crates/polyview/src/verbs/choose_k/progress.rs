//! How far a comparison of numbers of factors is.

use std::fmt;

use polyview_core::counted;

use crate::error::Result;
use crate::fit::{Fit, Fitting};
use crate::spec::EngineKind;

/// What a comparison is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChooseKStage {
    /// Fits with hidden cells; repeat from 1.
    HeldOut(usize),
    /// Fits the full data; restart from 1.
    Full(usize),
}

/// Where a comparison is, told before each fit and after each of its sweeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChooseKProgress {
    /// Number of factors.
    pub factors: usize,
    /// What is being fitted.
    pub stage: ChooseKStage,
    /// Fits done.
    pub done: usize,
    /// Fits in all.
    pub fits: usize,
    /// Factors of the fits done, added up: a fit takes about as long as it has
    /// factors.
    pub work_done: usize,
    /// Factors of all fits, added up.
    pub work: usize,
    /// Sweeps of this fit that are done; 0 before it begins.
    pub sweep: usize,
}

impl fmt::Display for ChooseKProgress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "fit {} of {}: {} factors, ",
            self.done + 1,
            self.fits,
            self.factors
        )?;
        match self.stage {
            ChooseKStage::HeldOut(r) => write!(f, "hidden cells {r}"),
            ChooseKStage::Full(r) => write!(f, "all data, start {r}"),
        }?;
        match self.sweep {
            0 => Ok(()),
            sweep => write!(f, ", sweep {sweep}"),
        }
    }
}

/// Tells how far a comparison is.
pub(super) struct Teller<'a> {
    pub(super) progress: &'a mut dyn FnMut(&ChooseKProgress),
    pub(super) at: ChooseKProgress,
    /// Fits that stopped at their limit.
    pub(super) limited: usize,
}

impl Teller<'_> {
    /// A fit is about to begin.
    pub(super) fn begin(&mut self, factors: usize, stage: ChooseKStage) {
        self.at = ChooseKProgress {
            factors,
            stage,
            sweep: 0,
            ..self.at
        };
        (self.progress)(&self.at);
    }
    /// Runs it to its end; remembers whether it is one.
    pub(super) fn run(&mut self, mut fitting: Fitting) -> Result<Fit> {
        loop {
            let step = fitting.step()?;
            self.at.sweep += 1;
            (self.progress)(&self.at);
            if step.done {
                break;
            }
        }
        self.at.done += 1;
        self.at.work_done += self.at.factors;
        let fit = fitting.finish()?;
        self.limited += usize::from(fit.stopped_at_limit());
        Ok(fit)
    }
    /// What is to be said of fits that stopped at their limit.
    pub(super) fn limits(&self, engine: EngineKind) -> Option<String> {
        let (limited, fits) = (self.limited, self.at.fits);
        let (what, option) = match engine {
            EngineKind::Stochastic => ("epochs", "epochs"),
            _ => ("sweeps", "max-sweeps"),
        };
        stopped(limited, fits, &format!("{what} ({option})"))
    }
}

/// What is to be said of so many fits that stopped at their limit of something.
pub(in crate::verbs) fn stopped(limited: usize, fits: usize, of: &str) -> Option<String> {
    let fits = counted(fits, "fit");
    match limited {
        0 => None,
        1 => Some(format!(
            "1 of {fits} stopped at its limit of {of} before it converged: the numbers may change where it is allowed more"
        )),
        _ => Some(format!(
            "{limited} of {fits} stopped at their limit of {of} before they converged: the numbers may change where they \
             are allowed more"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_fit_stops_at_its_own_limit() {
        let of = |limited| stopped(limited, 6, "sweeps (max-sweeps)").unwrap_or_default();
        assert_eq!(of(0), "");
        assert!(of(1).starts_with(
            "1 of 6 fits stopped at its limit of sweeps (max-sweeps) before it converged"
        ));
        assert!(of(2).starts_with("2 of 6 fits stopped at their limit of sweeps"));
    }
}
