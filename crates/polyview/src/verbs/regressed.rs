//! A view that is predicted by a regression on the features of others: what is kept of it, and what it says.

use std::sync::Arc;

use polyview_core::{Bias, Domain, RowGroups, RowMoments, State, StateReader, View};
use polyview_linalg::{Mat, times_small};

use super::cross_validate::columns;
use super::curved::Curved;
use super::laws::Part;
use crate::error::{Error, Result};
use crate::fit::{ComponentView, Fit};

/// What predicts a view from the features of others alone: linear predictors
/// $s\_{nc} = a\_c + \sum\_d (x\_{nd} - m\_d)b\_{dc}$, known numbers, with missing cells at their means.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Regressed {
    /// Of each view of the fit that it is predicted from the coefficients, columns × predictors of the target, per working unit.
    pub(super) of_view: Vec<Option<Source>>,
    /// What bends, if anything does.
    pub(super) curved: Option<Curved>,
    /// Of each predictor.
    pub(super) intercept: Vec<f64>,
    /// Of numbers the variance about the predictors of each, of samples that were held out; else empty.
    pub(super) noise: Vec<f64>,
    /// The share of the cells of its views that a training sample knows, on average; 0 in models of before that was asked.
    pub(super) known: f64,
}

/// What one view is multiplied by.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Source {
    /// Columns of the view for a linear model × predictors of the target.
    pub(super) coefficients: Mat<f64>,
    /// Means of the columns over the training samples.
    pub(super) means: Vec<f64>,
    pub(super) domain: Domain,
}

/// So much less of the cells than training samples, and a sample is not predicted by a regression on them, which takes what
/// it lacks to be at the mean.
const LESS: f64 = 0.1;

/// Where the state has it.
pub(crate) fn place(target: &str) -> String {
    format!("regression/{target}/")
}

impl Regressed {
    pub(super) fn save(&self, fit: &Fit, target: &str, state: &mut State) {
        let at = place(target);
        state.put_vec(&format!("{at}intercept"), &self.intercept);
        state.put_vec(&format!("{at}known"), &[self.known]);
        if !self.noise.is_empty() {
            state.put_vec(&format!("{at}noise"), &self.noise);
        }
        if let Some(curved) = &self.curved {
            curved.save(fit, &format!("{at}curved/"), state);
        }
        for (own, info) in self.of_view.iter().zip(fit.views()) {
            if let Some(own) = own {
                let name = &info.name;
                state.put_mat(&format!("{at}of/{name}"), own.coefficients.as_ref());
                state.put_vec(&format!("{at}means/{name}"), &own.means);
            }
        }
    }
    fn load(fit: &Fit, target: &str, state: &StateReader<'_>) -> Result<Self> {
        let at = place(target);
        let mut of_view = Vec::new();
        for (v, info) in fit.views().iter().enumerate() {
            let name = format!("{at}of/{}", info.name);
            of_view.push(if state.has(&name) {
                Some(Source {
                    coefficients: state.mat(&name)?,
                    means: state.vec(&format!("{at}means/{}", info.name))?,
                    domain: fit.domain(v),
                })
            } else {
                None
            });
        }
        let known = format!("{at}known");
        let known = state.has(&known).then(|| state.scalar(&known)).transpose();
        let noise = format!("{at}noise");
        let noise = state.has(&noise).then(|| state.vec(&noise)).transpose();
        Ok(Self {
            of_view,
            curved: Curved::load(&format!("{at}curved/"), state)?,
            intercept: state.vec(&format!("{at}intercept"))?,
            noise: noise.map_err(Error::from)?.unwrap_or_default(),
            known: known.map_err(Error::from)?.unwrap_or_default(),
        })
    }
    /// Linear predictors of so many samples, samples × predictors.
    ///
    /// # Errors
    /// [`ErrorKind::Kernel`](crate::ErrorKind::Kernel) where similarities are out of range.
    pub(super) fn scores(
        &self,
        fit: &Fit,
        views: &[Option<View>],
        samples: usize,
    ) -> Result<Mat<f64>> {
        let mut out = Mat::from_fn(samples, self.intercept.len(), |_, c| self.intercept[c]);
        for (own, view) in self.of_view.iter().zip(views) {
            let (Some(own), Some(view)) = (own, view) else {
                continue;
            };
            let mut x = columns(view, own.domain);
            for (d, mean) in own.means.iter().enumerate() {
                for x in x.col_as_slice_mut(d) {
                    *x = if x.is_nan() { 0.0 } else { *x - mean };
                }
            }
            out += times_small(x.as_ref(), own.coefficients.as_ref());
        }
        if let Some(curved) = &self.curved {
            curved.add_to(fit, views, &mut out)?;
        }
        Ok(out)
    }
    /// What is to be said of predictors that go by similarities to training samples.
    pub(crate) fn says_of_similar(&self) -> Option<String> {
        let curved = self.curved.as_ref()?;
        let (own, all) = (curved.predictors(), self.intercept.len());
        let which = if own == all {
            "the regression goes".to_owned()
        } else {
            format!("{own} of {all} regressions go")
        };
        Some(format!(
            "; {which} by similarities to {} training samples, whose features the model keeps (linear-mixture keeps none)",
            curved.points()
        ))
    }
    /// Whether it is made on a view.
    fn is_of(&self, view: usize) -> bool {
        self.of_view[view].is_some() || self.curved.as_ref().is_some_and(|own| own.is_of(view))
    }
    /// Views that it is made on and that some of so many samples have nothing of.
    pub(super) fn lacking(&self, views: &[Option<View>], samples: usize) -> Vec<usize> {
        let some_lack = |v: &usize| {
            let has = |view: &View, n| view.mask().count_sample(n, view.n_features()) > 0;
            let all = views[*v]
                .as_ref()
                .is_some_and(|view| (0..samples).all(|n| has(view, n)));
            self.is_of(*v) && !all
        };
        (0..self.of_view.len()).filter(some_lack).collect()
    }
    /// Whether a sample that knows this share of the cells ([`Regressed::known_parts`]) has something of every view that it is
    /// predicted from, and hardly less of their cells than training samples had: a view that is not there is no view of mean
    /// features, and factors know what the others say of it.
    pub(super) fn serves(&self, part: f64) -> bool {
        part > 0.0 && part >= self.known - LESS
    }
    /// The share of the cells of its views that each sample knows; 0 where it lacks one of them.
    pub(super) fn known_parts(&self, views: &[Option<View>], samples: usize) -> Vec<f64> {
        let sources: Vec<_> = (views.iter().enumerate())
            .filter(|(v, _)| self.is_of(*v))
            .map(|(_, view)| view.as_ref())
            .collect();
        let all: usize = sources.iter().flatten().map(|v| v.n_features()).sum();
        let of = |n: usize| {
            let cells = |v: &View| v.mask().count_sample(n, v.n_features());
            let counts: Option<Vec<usize>> = sources.iter().map(|v| Some(cells((*v)?))).collect();
            match counts {
                Some(counts) if counts.iter().all(|c| *c > 0) => {
                    counts.iter().sum::<usize>() as f64 / all.max(1) as f64
                }
                _ => 0.0,
            }
        };
        (0..samples).map(of).collect()
    }
}

/// The law of a view whose linear predictors are known numbers, samples × predictors, with these variances of numbers
/// about them.
pub(super) fn known(mut view: ComponentView, scores: &Mat<f64>, noise: &[f64]) -> Part {
    let (rows, columns) = scores.shape();
    let k = view.weights.k();
    // a group for each sample, and one that nobody is in where there is none
    let mean = (0..rows.max(1)).flat_map(|n| (0..columns).map(move |c| (n, c)));
    let mean = mean.map(|(n, c)| if n < rows { scores[(n, c)] } else { 0.0 });
    let of_sample = (0..rows as u32).collect();
    if let Ok(own) = RowGroups::new(of_sample, rows.max(1)) {
        view.bias = Bias::known_by_group(columns, own, mean.collect());
    }
    view.weights = RowMoments::point(Mat::zeros(columns, k));
    if !view.term.take_noise(noise)
        && let Some(own) = view.term.as_noise_mut()
        && let Some(mut gammas) = own.precisions().cloned()
    {
        for i in 0..gammas.len() {
            let variance = if gammas.len() == noise.len() {
                noise[i]
            } else {
                noise.iter().sum::<f64>() / noise.len().max(1) as f64
            };
            // of which the mean of the inverse is that variance
            let shape = gammas.shape()[i].max(2.0);
            gammas.set(i, shape, variance * (shape - 1.0));
        }
        own.share(&gammas);
    }
    let factors = RowMoments::point(Mat::zeros(rows, k));
    Part::new(Arc::new(factors), view)
}

impl Fit {
    /// What predicts a view from the features of others, if its mixture has that.
    pub(crate) fn regressed(&self, at: usize) -> Result<Option<Regressed>> {
        let name = &self.views[at].name;
        let reader = self.settled.reader();
        if !reader.has(&format!("{}intercept", place(name))) {
            return Ok(None);
        }
        Regressed::load(self, name, &reader).map(Some)
    }
}
