//! Some of the samples of a view.

use std::sync::Arc;

use polyview_linalg::{Mat, MatRef};

use super::{Mask, SparseValues, Values, View};

impl View {
    /// The same view of some samples, in that order, called `name`. Samples that
    /// follow one another in the view share its values, unless these are stored
    /// sparse; of others the values are copied.
    ///
    /// # Panics
    /// If there is no such sample.
    #[must_use]
    pub fn subset(&self, name: impl Into<String>, samples: &[u32]) -> Self {
        let whole = samples.len() == self.n_samples()
            && samples.iter().enumerate().all(|(i, &n)| i == n as usize);
        if whole {
            return Self {
                name: name.into(),
                ..self.clone()
            };
        }
        let gather = |m: MatRef<'_, f64>| {
            let mut out = Mat::zeros(samples.len(), m.ncols());
            for d in 0..m.ncols() {
                let from = m.col(d);
                for (x, &n) in out.col_as_slice_mut(d).iter_mut().zip(samples) {
                    *x = from[n as usize];
                }
            }
            Arc::new(out)
        };
        let (features, levels) = (self.features.clone(), self.levels.clone());
        if let Some(x) = self.sparse() {
            let keep: Vec<Option<u32>> = samples.iter().copied().map(Some).collect();
            let entries = x.entries().select_rows(&keep);
            let mask = match &self.mask {
                Mask::Complete => Mask::Complete,
                mask => Mask::from_fn(samples.len(), features.len(), |i, d| {
                    mask.is_observed(samples[i] as usize, d)
                }),
            };
            let values = SparseValues::new(entries, x.base().to_vec());
            return Self::sparse_unchecked(name.into(), features, values, mask);
        }
        let first = samples.first().map_or(0, |&n| n as usize);
        let follow = samples
            .iter()
            .enumerate()
            .all(|(i, &n)| first + i == n as usize);
        let values = match &self.values {
            Values::Dense(x) if follow => Values::Dense(x.range(first..first + samples.len())),
            _ => Values::Dense(gather(self.values()).into()),
        };
        let observed = |i: usize, d: usize| self.mask.is_observed(samples[i] as usize, d);
        Self {
            name: name.into(),
            values,
            mask: Mask::from_fn(samples.len(), self.n_features(), observed),
            features,
            levels,
            trials: self.trials.as_ref().map(|t| gather(t.as_ref().as_ref())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_keep_their_cells_and_trials() {
        let values = Mat::from_fn(4, 2, |n, d| {
            if (n, d) == (2, 1) {
                f64::NAN
            } else {
                (n + d) as f64
            }
        });
        let view = View::from_values("a", vec!["x".into(), "y".into()], values)
            .and_then(|v| v.with_trials(Mat::from_fn(4, 2, |n, _| 10.0 + n as f64)))
            .expect("a view");
        let part = view.subset("b", &[2, 3]);
        assert_eq!(part.name(), "b");
        assert_eq!(part.value(0, 0), Some(2.0));
        assert_eq!(part.value(0, 1), None);
        assert_eq!(part.trials_of(1, 0), 13.0);
        assert!(matches!(view.subset("b", &[0, 1]).mask(), Mask::Complete));
        assert!(matches!(view.subset("b", &[2]).mask(), Mask::Cells { .. }));
        // those that follow one another share the values, others have a copy
        let shares = |samples: &[u32]| match (view.subset("b", samples).stored(), view.stored()) {
            (Values::Dense(a), Values::Dense(b)) => a.shares_with(b),
            _ => false,
        };
        assert!(shares(&[2, 3]) && shares(&[1]) && !shares(&[0, 2]) && !shares(&[1, 0]));
        // all of them, in another order, are not the view itself
        assert_eq!(view.subset("b", &[3, 2, 1, 0]).value(0, 0), Some(3.0));
        assert_eq!(view.subset("a", &[0, 1, 2, 3]), view);
    }
}
