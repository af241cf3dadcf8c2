//! Data terms in a Gibbs chain.

use std::ops::Range;

use polyview_linalg::Mat;
use polyview_random::StreamKey;

use super::Context;
use crate::error::NumericError;
use crate::model::predictor::Predictor;

/// Draws of a term's local variables and noise given everything else.
pub trait Augmented {
    /// Draws local variables (latent scores, Polya-Gamma weights, missing
    /// cells).
    ///
    /// # Errors
    /// [`NumericError`] on numbers that are not finite.
    fn draw_locals(&mut self, p: &Predictor<'_>, cx: &mut Context<'_>) -> Result<(), NumericError>;
    /// Draws noise precisions of some columns; nothing where there are none.
    ///
    /// # Errors
    /// [`NumericError`] on numbers that are not finite.
    fn draw_noise(
        &mut self,
        columns: Range<usize>,
        p: &Predictor<'_>,
        cx: &mut Context<'_>,
    ) -> Result<(), NumericError> {
        let _ = (columns, p, cx);
        Ok(())
    }
    /// Adds to `evidence`, samples × components, the log likelihood of each
    /// sample's data under each component's predictor columns, local variables
    /// summed out (spec/maxmargin-rank 4.5).
    ///
    /// # Errors
    /// [`NumericError`] on numbers that are not finite.
    fn component_likelihood(
        &mut self,
        p: &Predictor<'_>,
        evidence: &mut Mat<f64>,
    ) -> Result<(), NumericError> {
        let _ = (p, evidence);
        Ok(())
    }
    /// Draws noise precisions from their prior (Geweke tests, simulation).
    fn draw_noise_prior(&mut self, key: StreamKey) {
        let _ = key;
    }
    /// Draws **data** given everything else, in place of the observed cells
    /// (Geweke tests, posterior predictive checks).
    fn draw_data(&mut self, p: &Predictor<'_>, key: StreamKey);
}
