//! What rows with columns beside them write, and read again.

use polyview_core::{NumericError, RowBlock, RowMoments, State, StateReader, Stateful};

use super::RowsBeside;
use super::along::Along;

impl RowsBeside {
    pub(super) fn save_rest(&self, prefix: &str, state: &mut State) {
        if let Some(along) = &self.along {
            state.put_mat(&format!("{prefix}/slopes"), along.slopes());
        }
        if let Some(coefficients) = &self.coefficients {
            coefficients.save(&format!("{prefix}/covariates"), state);
        }
        state.shared(|state| state.put_mat(&format!("{prefix}/known"), self.known.mean()));
    }
}

impl Stateful for RowsBeside {
    fn save(&self, prefix: &str, state: &mut State) {
        self.inner.save(prefix, state);
        self.save_rest(prefix, state);
    }
    fn load(&mut self, prefix: &str, state: &StateReader<'_>) -> Result<(), NumericError> {
        let name = format!("{prefix}/known");
        let known = state.mat(&name)?;
        self.inner.load(prefix, state)?;
        let rows = self.inner.moments().explicit_rows();
        let mut fits = known.nrows() == rows
            && known.ncols() == self.known.k()
            && self.inner.moments().implicit_rows() == 0;
        if let Some(coefficients) = &mut self.coefficients {
            let covariates = coefficients.moments().k();
            coefficients.load(&format!("{prefix}/covariates"), state)?;
            let now = coefficients.moments();
            fits &= (now.rows(), now.explicit_rows(), now.k()) == (rows, rows, covariates);
        }
        if !fits {
            return Err(NumericError::BadState { name });
        }
        self.known = RowMoments::point(known);
        let slopes = format!("{prefix}/slopes");
        if let Some(along) = &self.along {
            let k = self.inner.moments().k();
            // files of before there were slopes have none
            self.along = if state.has(&slopes) {
                let read = along.with_slopes(state.mat(&slopes)?, k);
                Some(read.ok_or(NumericError::BadState { name: slopes })?)
            } else {
                Some(Along::new(along.slopes().nrows(), k))
            };
        }
        self.look();
        Ok(())
    }
}
