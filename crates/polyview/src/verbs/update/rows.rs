//! What a model holds of its samples, with new ones behind the old.

use std::collections::HashMap;

use polyview_core::{
    Dataset, Groups, Journal, Metadata, MetadataValues, ParameterUncertainty, Rounding, RowCov,
    RowMoments, State, Stateful, View,
};
use polyview_infer::Model;
use polyview_linalg::{Mat, MatRef, PackedRows};

use crate::assemble;
use crate::error::Result;
use crate::fit::{Fit, ViewInfo};
use crate::verbs::latent;
use crate::verbs::project::WeightUncertainty;

impl Fit {
    /// The views in working units with the new samples behind the old ones, where these are at hand,
    /// and what that takes from the last digits.
    pub(super) fn with_rows(
        &self,
        data: &Dataset,
        new: Vec<Option<View>>,
        rows: usize,
    ) -> Result<(Vec<View>, Vec<Rounding>)> {
        let (mut views, mut rounding) = (Vec::new(), Vec::new());
        for (at, (info, new)) in self.views.iter().zip(new).enumerate() {
            let columns = info.features.len();
            let given = Given::new(info, data.view(&info.name), new.as_ref());
            let old = self.data.as_ref().map(|all| &all[at]);
            let before = old.map_or(0, View::n_samples);
            let raw = Mat::from_fn(before + rows, columns, |n, d| {
                let x = match n.checked_sub(before) {
                    Some(n) => given.value(n, d),
                    None => self.observed_at(at, n, d),
                };
                x.unwrap_or(f64::NAN)
            });
            let mut view = View::from_values(info.name.clone(), info.features.clone(), raw)?;
            if !info.levels.is_empty() {
                view = view.with_levels(info.levels.clone())?;
            }
            let has = |v: Option<&View>| v.is_some_and(|v| v.trials().is_some());
            if has(old) || has(new.as_ref()) {
                view = view.with_trials(Mat::from_fn(before + rows, columns, |n, d| {
                    let (v, n) = match n.checked_sub(before) {
                        Some(n) => (new.as_ref(), n),
                        None => (old, n),
                    };
                    v.map_or(f64::NAN, |v| v.trials_of(n, d))
                }))?;
            }
            rounding.push(Rounding::of(&info.scaling, &view));
            views.push(if info.levels.is_empty() {
                info.scaling.apply(view)
            } else {
                view
            });
        }
        Ok((views, rounding))
    }

    /// The model of the fit, its factors as they were, with other parameters.
    pub(super) fn parameters_of(&self, parameters: &State) -> Result<Model> {
        let groups = assemble::several(self.groups());
        let posterior = ParameterUncertainty::Posterior;
        let views = self.empty_views()?;
        let mut model = (self.composed).parameters(groups, views, self.k(), posterior)?;
        model.load("", &self.reader_of(&self.components[0]))?;
        model.load_views("", &parameters.reader())?;
        Ok(model)
    }

    /// Factors of all samples of `fit`, whose parameters are new and of whose samples these are
    /// the views: all of them, or the new ones where the others are not at hand.
    pub(super) fn factors_of(
        &self,
        fit: &Self,
        views: &[View],
        notes: &mut Vec<String>,
    ) -> Result<RowMoments> {
        let rows = views.first().map_or(0, View::n_samples);
        let component = {
            let of_old = Self {
                samples: self.samples.clone(),
                groups: None,
                ..fit.clone()
            };
            of_old.component(0)?
        };
        let samples = &fit.samples[fit.samples.len() - rows..];
        let views: Vec<Option<View>> = views.iter().cloned().map(Some).collect();
        let mut journal = Journal::default();
        let how = latent::usual(WeightUncertainty::Variational);
        let found = latent::factors(fit, &component, &views, samples, how, &mut journal)?.moments;
        latent::notes_of(&journal, notes);
        let before = component.factors();
        if rows == fit.samples.len() {
            return Ok(of_kind(before, &[&found]));
        }
        notes.push(format!(
            "the factors of the {} samples before stay as they were, under the weights before: their data are not in \
             the model",
            before.rows()
        ));
        Ok(of_kind(before, &[before, &found]))
    }

    /// The groups of old and new samples; none where a new sample has none, as nothing in the model
    /// depends on them.
    pub(super) fn with_groups(&self, data: &Dataset, notes: &mut Vec<String>) -> Option<Groups> {
        let mut groups = self.groups.clone()?;
        let new = data.groups();
        let known = new.is_some_and(|g| g.names.iter().all(|name| name != Groups::ANY));
        let Some(new) = new.filter(|_| known) else {
            notes.push("new samples have no groups: the model has none any more".to_owned());
            return None;
        };
        for &g in &new.of_sample {
            let name = &new.names[g as usize];
            let at = groups.names.iter().position(|n| n == name);
            let at = at.unwrap_or_else(|| {
                groups.names.push(name.clone());
                groups.names.len() - 1
            });
            groups.of_sample.push(at as u32);
        }
        Some(groups)
    }
}

/// Values of a view's new samples, data units, by the features of the model.
struct Given<'a> {
    info: &'a ViewInfo,
    /// Working units.
    working: Option<&'a View>,
    /// Data units, where tables have the features of the model.
    view: Option<&'a View>,
    /// Where these have each feature.
    place: Vec<Option<usize>>,
}

impl<'a> Given<'a> {
    fn new(info: &'a ViewInfo, view: Option<&'a View>, working: Option<&'a View>) -> Self {
        let view = view.filter(|_| info.levels.is_empty() && info.kernel.is_none());
        let names = view.map_or(&[][..], View::features).iter().enumerate();
        let known: HashMap<&String, usize> = names.map(|(d, f)| (f, d)).collect();
        Self {
            info,
            working,
            view,
            place: info
                .features
                .iter()
                .map(|f| known.get(f).copied())
                .collect(),
        }
    }
    fn value(&self, n: usize, d: usize) -> Option<f64> {
        let working = self.working?.value(n, d)?;
        match (self.view, self.place[d]) {
            (Some(view), Some(at)) => view.value(n, at),
            _ if self.info.levels.is_empty() => Some(self.info.scaling.backward(d, working)),
            _ => Some(working),
        }
    }
}

/// Rows of several moments, one after the other, of the kind that `like` is of.
fn of_kind(like: &RowMoments, parts: &[&RowMoments]) -> RowMoments {
    let diagonal = matches!(like.cov(), RowCov::Diagonal(_));
    if let ([one], false) = (parts, diagonal) {
        return (*one).clone();
    }
    let k = like.k();
    let all: Vec<(usize, usize)> = (parts.iter().enumerate())
        .flat_map(|(p, m)| (0..m.rows()).map(move |n| (p, n)))
        .collect();
    let table = |of: &dyn Fn(&RowMoments, usize, usize) -> f64| {
        Mat::from_fn(all.len(), k, |i, j| of(parts[all[i].0], all[i].1, j))
    };
    let mean = table(&|m, n, j| m.mean()[(n, j)]);
    if diagonal {
        let variances = table(&RowMoments::variance);
        let log_det = log_sum(variances.as_ref());
        return RowMoments::new(mean, RowCov::Diagonal(variances), log_det, 0);
    }
    let log_det = parts.iter().map(|m| m.log_det()).sum();
    let mut covariances = PackedRows::zeros(all.len(), k);
    for (i, (p, n)) in all.iter().enumerate() {
        let own = parts[*p].row_cov(*n);
        covariances.row_mut(i).copy_from_slice(own.as_slice());
    }
    RowMoments::new(mean, RowCov::PerRow(covariances), log_det, 0)
}

fn log_sum(m: MatRef<'_, f64>) -> f64 {
    let columns = (0..m.ncols()).map(|j| m.col(j).iter().map(|x| x.ln()).sum::<f64>());
    columns.sum()
}

/// A column about the old samples with the values of the new ones, absent where the data do not have
/// them, or have them as another kind.
pub(super) fn longer(column: &Metadata, old: usize, data: &Dataset, new: usize) -> Metadata {
    let found = data.metadata().iter().find(|c| c.name == column.name);
    let values = match (&column.values, found.map(|c| &c.values)) {
        (MetadataValues::Numbers(own), Some(MetadataValues::Numbers(more))) => {
            MetadataValues::Numbers([&own[..], more].concat())
        }
        (MetadataValues::Numbers(own), _) => {
            let mut own = own.clone();
            own.resize(old + new, f64::NAN);
            MetadataValues::Numbers(own)
        }
        (MetadataValues::Categories(own), Some(MetadataValues::Categories(more))) => {
            MetadataValues::Categories([&own[..], more].concat())
        }
        (MetadataValues::Categories(own), _) => {
            let mut own = own.clone();
            own.resize(old + new, None);
            MetadataValues::Categories(own)
        }
    };
    Metadata {
        name: column.name.clone(),
        values,
    }
}
