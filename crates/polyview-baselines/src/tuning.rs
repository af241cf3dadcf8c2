//! How a penalty is chosen.

use crate::BaselineError;
use crate::error::same;

/// Penalties that are tried unless others are given, for standardised features: from none to speak of to as good as no
/// features at all.
pub const PENALTIES: [f64; 8] = [0.1, 1.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 10_000.0];

/// Penalties to try, and the folds of the training samples by which one is chosen: the one of least squared error
/// ([`ridge`](crate::ridge)) or log loss ([`logistic`](crate::logistic), [`multinomial`](crate::multinomial)) of the
/// samples of each fold, predicted from those of all others.
#[derive(Clone, Debug, PartialEq)]
pub struct Tuning {
    /// Penalties, finite and above 0, in any order.
    pub penalties: Vec<f64>,
    /// The fold of each training sample, from 0. With one fold nothing is compared, and the strongest penalty is taken.
    pub fold: Vec<usize>,
}

impl Tuning {
    /// [`PENALTIES`], by these folds ([`stratified`](crate::stratified), [`grouped`](crate::grouped)).
    pub fn new(fold: Vec<usize>) -> Self {
        Self {
            penalties: PENALTIES.to_vec(),
            fold,
        }
    }
    /// The penalties, strongest first.
    pub(crate) fn path(&self) -> Vec<f64> {
        let mut out = self.penalties.clone();
        out.sort_unstable_by(|a, b| b.total_cmp(a));
        out
    }
    pub(crate) fn check(&self, samples: usize) -> Result<(), BaselineError> {
        same("folds of samples", samples, self.fold.len())?;
        let legal = |p: &f64| p.is_finite() && *p > 0.0;
        if self.penalties.is_empty() || !self.penalties.iter().all(legal) {
            return Err(BaselineError::Penalties);
        }
        Ok(())
    }
}
