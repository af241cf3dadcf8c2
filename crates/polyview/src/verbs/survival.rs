//! Predicted times to an event.

use polyview_linalg::Mat;

use super::prediction::Prediction;
use crate::error::{ErrorKind, Result};
use crate::fit::Fit;
use crate::metrics::EventTime;

impl Prediction {
    /// The probabilities that the event comes later than each of these times, one matrix samples ×
    /// features for each, of a view of times to an event (spec/sites 2). They are 1/2 at the median times, the exponentials of
    /// [`Prediction::median`].
    ///
    /// # Errors
    /// [`ErrorKind::Incompatible`] where the predictions are of anything else;
    /// [`ErrorKind::Option`] for times that are no positive numbers.
    pub fn survival(&self, times: &[f64]) -> Result<Vec<Mat<f64>>> {
        if !self.kind.is_survival() {
            return Err(ErrorKind::Incompatible {
                view: self.view.clone(),
                what: "probabilities of later events".to_owned(),
                with: "predictions that are of no times; they need the likelihood survival"
                    .to_owned(),
            }
            .into());
        }
        let later = |time: &f64| {
            if !(*time > 0.0 && time.is_finite()) {
                return Err(ErrorKind::Option {
                    option: "times",
                    value: time.to_string(),
                }
                .into());
            }
            let (rows, columns) = self.mean.shape();
            let mut later = self.laws.cdf(Mat::full(rows, columns, time.ln()).as_ref());
            for d in 0..columns {
                for p in later.col_as_slice_mut(d) {
                    *p = 1.0 - *p;
                }
            }
            Ok(later)
        };
        times.iter().map(later).collect()
    }
}

impl Fit {
    /// The times to an event that a view was fitted to, feature by feature, in the unit of the data;
    /// those of which it is not known what they lie after are left out.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownView`]; [`ErrorKind::NoData`] when the model was saved
    /// without data; [`ErrorKind::Incompatible`] for a view of anything else.
    pub fn event_times(&self, view: &str) -> Result<Vec<EventTime>> {
        let (at, info) = self.view(view)?;
        if !info.choices.likelihood.is_survival() {
            return Err(ErrorKind::Incompatible {
                view: view.to_owned(),
                what: format!("likelihood {}", info.choices.likelihood),
                with: "times to an event: they need the likelihood survival".to_owned(),
            }
            .into());
        }
        let data = &self.data()?[at];
        let mut out = Vec::new();
        for d in 0..data.n_features() {
            for n in 0..data.n_samples() {
                let Some((time, end)) = data.interval(n, d) else {
                    continue;
                };
                let event = !data.is_censored(n, d);
                if event || end == f64::INFINITY {
                    let time = info.scaling.backward(d, time).exp();
                    out.push(EventTime { time, event });
                }
            }
        }
        Ok(out)
    }
}
