//! What the layout of MOFA2 has no place for.

use hdf5_pure::{FileBuilder, GroupBuilder};
use polyview::{ComponentView, Fit, ViewInfo};
use polyview_core::{Groups, RowGroups, noise_precisions};

use super::OWN;
use super::source::Source;
use crate::error::Result;

/// Where the precisions of the factors are, one list a group of samples.
pub(super) const FACTORS: &str = "factor_precisions";

/// Shapes and means of noise precisions, one a feature.
type Noise = [Vec<f64>; 2];

/// One a view: intercepts in working units (of groups with intercepts of their
/// own the mean, as MOFA2 holds those of Gaussian views), and shape and mean of
/// the noise precisions.
pub(super) struct Own {
    intercepts: Vec<Vec<f64>>,
    /// By view and group, where groups have intercepts of their own.
    by_group: Vec<Vec<Vec<f64>>>,
    /// By view and group, or one for all groups of a view.
    noise: Vec<Vec<Noise>>,
    /// Precisions of the factors by group of samples, where they have some of their own.
    factors: Option<Vec<Vec<f64>>>,
    /// The sweep of each entry of the course of the fit: MOFA2 counts them from the bound
    /// before the first.
    sweeps: Vec<f64>,
}

impl Own {
    pub(super) fn of(fit: &Fit) -> Result<Self> {
        let count = fit.n_components().max(1) as f64;
        let mut out = Self {
            intercepts: Vec::with_capacity(fit.views().len()),
            by_group: vec![Vec::new(); fit.views().len()],
            noise: vec![Vec::new(); fit.views().len()],
            factors: factors(fit)?,
            sweeps: (fit.record().ledgers.first().iter())
                .flat_map(|ledger| ledger.rows.iter().map(|row| row.sweep as f64))
                .collect(),
        };
        for (m, info) in fit.views().iter().enumerate() {
            let found = fit.intercepts(&info.name)?.mean;
            let of_groups: Vec<Vec<f64>> = (0..found.ncols())
                .map(|g| found.col_as_slice(g).to_vec())
                .collect();
            match (&of_groups[..], fit.groups().map(RowGroups::from)) {
                ([_, _, ..], Some(groups)) => {
                    let all: f64 = groups.sizes().iter().sum();
                    let mut mean = vec![0.0; found.nrows()];
                    for (own, size) in of_groups.iter().zip(groups.sizes()) {
                        for (sum, b) in mean.iter_mut().zip(own) {
                            *sum += b * size / all.max(1.0);
                        }
                    }
                    out.intercepts.push(mean);
                    out.by_group[m] = of_groups;
                }
                _ => out.intercepts.extend(of_groups),
            }
        }
        for i in 0..fit.n_components() {
            for (m, view) in fit.component(i)?.views.iter().enumerate() {
                let columns = out.intercepts[m].len();
                let zeros = || [vec![0.0; columns], vec![0.0; columns]];
                // draws: the harmonic mean, whose noise is the draws' mean
                for (g, [shape, mean]) in noise_of(view).into_iter().enumerate() {
                    if out.noise[m].len() <= g {
                        out.noise[m].push(zeros());
                    }
                    let [shapes, variance] = &mut out.noise[m][g];
                    for d in 0..columns {
                        let at = if mean.len() == 1 { 0 } else { d };
                        shapes[d] = shape[at];
                        variance[d] += 1.0 / (mean[at] * count);
                    }
                }
            }
        }
        for noise in &mut out.noise {
            if noise.windows(2).all(|pair| pair[0] == pair[1]) {
                // shared by all groups
                noise.truncate(1);
            }
        }
        Ok(out)
    }
    /// Intercepts of a view in a group of samples.
    pub(super) fn of_group(&self, fit: &Fit, view: usize, group: &str) -> &[f64] {
        let place = |g: &Groups| g.names.iter().position(|n| n == group);
        fit.groups()
            .and_then(place)
            .and_then(|g| self.by_group[view].get(g))
            .unwrap_or(&self.intercepts[view])
    }
    /// Adds all of it; `groups` are the names of the groups of the fit.
    pub(super) fn write(
        &self,
        file: &mut FileBuilder,
        views: &[&ViewInfo],
        chosen: &[usize],
        groups: &[String],
        source: &Source,
    ) {
        let mut all = file.create_group(OWN);
        source.write(&mut all);
        all.create_dataset("sweeps").with_f64_data(&self.sweeps);
        let mut group = all.create_group("scale");
        for v in views {
            group
                .create_dataset(&v.name)
                .with_f64_data(&v.scaling.scale);
        }
        all.add_group(group.finish());
        let mut group = all.create_group("intercepts");
        for (v, &m) in views.iter().zip(chosen) {
            group
                .create_dataset(&v.name)
                .with_f64_data(&self.intercepts[m]);
        }
        all.add_group(group.finish());
        let mut group = all.create_group("intercepts_by_group");
        let gaussian = |v: &ViewInfo| v.choices.likelihood == "gaussian";
        for (v, &m) in views.iter().zip(chosen) {
            // those of Gaussian views have a place
            if gaussian(v) || self.by_group[m].is_empty() {
                continue;
            }
            let mut of_view = group.create_group(&v.name);
            for (name, b) in groups.iter().zip(&self.by_group[m]) {
                of_view.create_dataset(name).with_f64_data(b);
            }
            group.add_group(of_view.finish());
        }
        all.add_group(group.finish());
        let mut group = all.create_group("noise");
        let mut by_group = all.create_group("noise_by_group");
        for (v, &m) in views.iter().zip(chosen).filter(|(v, _)| gaussian(v)) {
            if let [noise] = &self.noise[m][..] {
                let mut of_view = group.create_group(&v.name);
                put_noise(&mut of_view, noise);
                group.add_group(of_view.finish());
            } else if !self.noise[m].is_empty() {
                let mut of_view = by_group.create_group(&v.name);
                for (name, noise) in groups.iter().zip(&self.noise[m]) {
                    let mut own = of_view.create_group(name);
                    put_noise(&mut own, noise);
                    of_view.add_group(own.finish());
                }
                by_group.add_group(of_view.finish());
            }
        }
        all.add_group(group.finish());
        all.add_group(by_group.finish());
        if let Some(factors) = &self.factors {
            let mut group = all.create_group(FACTORS);
            for (name, precisions) in groups.iter().zip(factors) {
                group.create_dataset(name).with_f64_data(precisions);
            }
            all.add_group(group.finish());
        }
        file.add_group(all.finish());
    }
}

/// Whether each factor of a fit has precisions of its own, one a group of samples.
pub(super) fn has_own_precisions(fit: &Fit) -> bool {
    fit.spec().is_some_and(|s| s.factor_prior == "ard")
}

/// These precisions by group; those of all samples where there are no groups. Of draws the mean.
fn factors(fit: &Fit) -> Result<Option<Vec<Vec<f64>>>> {
    if !has_own_precisions(fit) {
        return Ok(None);
    }
    let first: Vec<usize> = match fit.groups() {
        Some(groups) => (0..groups.names.len())
            .filter_map(|g| groups.of_sample.iter().position(|own| *own as usize == g))
            .collect(),
        None => vec![0],
    };
    let share = 1.0 / fit.n_components().max(1) as f64;
    let mut out = vec![vec![0.0; fit.k()]; first.len()];
    for i in 0..fit.n_components() {
        let component = fit.component(i)?;
        let precision = component.factor_precision();
        for (own, row) in out.iter_mut().zip(&first) {
            for (k, x) in own.iter_mut().enumerate() {
                *x += share * precision.at(*row, k);
            }
        }
    }
    Ok(Some(out))
}

/// Noise precisions of a view: none, those of all samples, or those of each
/// group.
fn noise_of(view: &ComponentView) -> Vec<Noise> {
    let all = noise_precisions(view.term.as_ref()).into_iter();
    all.map(|noise| [noise.shape().to_vec(), noise.mean().to_vec()])
        .collect()
}

fn put_noise(group: &mut GroupBuilder, [shape, variance]: &Noise) {
    group.create_dataset("shape").with_f64_data(shape);
    let mean: Vec<f64> = variance.iter().map(|s| 1.0 / s).collect();
    group.create_dataset("mean").with_f64_data(&mean);
}
