//! Some of the samples of a view.

use std::sync::Arc;

use polyview_linalg::{Mat, MatRef};

use super::{Dataset, Groups, Mask, Metadata, MetadataValues, SparseValues, Values, View};
use crate::error::DataError;

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
            ends: self.ends.as_ref().map(|e| gather(e.as_ref().as_ref())),
            behind: self.behind.as_ref().map(|x| gather(x.as_ref().as_ref())),
        }
    }
}

impl Dataset {
    /// The data of some samples, in that order: of their groups those that they belong to, in
    /// order of first appearance, and their metadata. A sample or a view may have nothing
    /// observed in it ([`Dataset::check_observed`] refuses such).
    ///
    /// # Panics
    /// If there is no such sample.
    #[must_use]
    pub fn subset(&self, samples: &[u32]) -> Self {
        let of = |n: &u32| *n as usize;
        let groups = self.groups.as_ref().map(|groups| {
            let mut names: Vec<String> = Vec::new();
            let of_sample = samples.iter().map(|n| {
                let name = &groups.names[groups.of_sample[of(n)] as usize];
                let known = names.iter().position(|g| g == name);
                let at = known.unwrap_or_else(|| {
                    names.push(name.clone());
                    names.len() - 1
                });
                at as u32
            });
            let of_sample = of_sample.collect();
            Groups { names, of_sample }
        });
        let column = |m: &Metadata| Metadata {
            name: m.name.clone(),
            values: match &m.values {
                MetadataValues::Categories(v) => {
                    MetadataValues::Categories(samples.iter().map(|n| v[of(n)].clone()).collect())
                }
                MetadataValues::Numbers(v) => {
                    MetadataValues::Numbers(samples.iter().map(|n| v[of(n)]).collect())
                }
            },
        };
        Self {
            samples: samples
                .iter()
                .map(|n| self.samples[of(n)].clone())
                .collect(),
            views: (self.views.iter())
                .map(|v| v.subset(v.name().to_owned(), samples))
                .collect(),
            groups,
            metadata: self.metadata.iter().map(column).collect(),
            journal: self.journal.clone(),
        }
    }
    /// The same samples with some of the views, those of these names in the order of the data
    /// set. A sample may have nothing observed in them.
    ///
    /// # Errors
    /// [`DataError::UnknownView`]; [`DataError::NoViews`] where no name is given.
    pub fn with_views(&self, names: &[&str]) -> Result<Self, DataError> {
        if let Some(name) = names.iter().find(|name| self.view(name).is_none()) {
            let view = (*name).to_owned();
            return Err(DataError::UnknownView { view });
        }
        if names.is_empty() {
            return Err(DataError::NoViews);
        }
        let mut next = self.clone();
        next.views.retain(|v| names.contains(&v.name()));
        Ok(next)
    }
}

#[cfg(test)]
mod tests {
    use polyview_linalg::Mat;

    use super::*;
    use crate::Table;

    #[test]
    fn samples_keep_their_groups_and_metadata_and_views_their_order() {
        let table = |name: &str| Table {
            name: name.to_owned(),
            samples: ["a", "b", "c", "d"].map(str::to_owned).to_vec(),
            features: vec!["x".to_owned()],
            values: Mat::from_fn(4, 1, |n, _| if n == 3 { f64::NAN } else { n as f64 }),
            levels: Vec::new(),
        };
        let groups = [("a", "g"), ("b", "h"), ("c", "i"), ("d", "h")];
        let groups = groups.map(|(s, g)| (s.to_owned(), g.to_owned())).to_vec();
        let column = Metadata {
            name: "age".to_owned(),
            values: MetadataValues::Numbers(vec![1.0, 2.0, 3.0, 4.0]),
        };
        let data = Dataset::builder()
            .view(table("p"))
            .view(table("q"))
            .view(table("r"))
            .groups(groups)
            .metadata(table("p").samples, column)
            .new_samples()
            .build()
            .expect("data");
        let part = data.subset(&[3, 2, 1]);
        assert_eq!(part.samples(), ["d", "c", "b"]);
        let groups = part.groups().expect("groups");
        assert_eq!(groups.names, ["h", "i"]);
        assert_eq!(groups.of_sample, [0, 1, 0]);
        assert_eq!(part.views()[1].value(2, 0), Some(1.0));
        assert_eq!(part.views()[1].value(0, 0), None);
        assert_eq!(
            part.metadata()[0].values,
            MetadataValues::Numbers(vec![4.0, 3.0, 2.0])
        );
        let few = part.with_views(&["r", "p"]).expect("views");
        let names: Vec<&str> = few.views().iter().map(View::name).collect();
        assert_eq!(names, ["p", "r"]);
        assert_eq!(few.n_samples(), 3);
        assert!(matches!(
            data.with_views(&["s"]),
            Err(DataError::UnknownView { .. })
        ));
        assert!(matches!(data.with_views(&[]), Err(DataError::NoViews)));
    }

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
