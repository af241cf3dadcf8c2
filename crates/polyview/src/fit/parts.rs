//! A fit from estimates that were made elsewhere.

use polyview_core::{
    GammaPrior, Groups, Metadata, ParameterUncertainty, RowCov, RowGroups, RowMoments, Scaling,
    State, View,
};
use polyview_linalg::{Mat, SymPacked};
use polyview_special::digamma;

use super::{Fit, FitRecord, Reading, TrainingScale, ViewInfo, saved_parameters};
use crate::assemble;
use crate::compose::Composed;
use crate::error::{ErrorKind, Result};
use crate::spec::{EngineKind, ModelSpec, WeightPrior};

/// Estimates of a factor model, made by another program. Weights and intercepts
/// are known numbers; [`Fit::from_parts`] makes a model of them.
#[derive(Clone, Debug)]
pub struct FitParts {
    /// The choices: variational Bayes, no selection of features.
    pub spec: ModelSpec,
    /// Sample IDs.
    pub samples: Vec<String>,
    /// The views.
    pub views: Vec<ViewParts>,
    /// Means of the factors, samples × K.
    pub factors: Mat<f64>,
    /// Covariances of the factors, one a sample; nothing: they are known.
    pub factor_cov: Option<RowCov>,
    /// Prior precisions of the factors where the choices give them some of their own
    /// ([`FactorPrior`](crate::FactorPrior) `ard`), groups × K; one row where there are not several
    /// groups. Nothing under any other prior.
    pub factor_precisions: Option<Mat<f64>>,
    /// Groups of the samples.
    pub groups: Option<Groups>,
    /// What else is known about the samples.
    pub metadata: Vec<Metadata>,
    /// What happened in the fit.
    pub record: FitRecord,
}

/// Estimates of one view of [`FitParts`].
#[derive(Clone, Debug)]
pub struct ViewParts {
    /// Name.
    pub name: String,
    /// Feature names.
    pub features: Vec<String>,
    /// How working units come from data units.
    pub scaling: Scaling,
    /// Training data, working units; nothing where they are not at hand (all
    /// views or none).
    pub data: Option<View>,
    /// Weights, features × K, working units.
    pub weights: Mat<f64>,
    /// Intercepts, one a feature, working units. Where the data have several
    /// groups and the choices give them intercepts of their own
    /// ([`GroupChoices`](crate::GroupChoices)), one a group and feature: number
    /// g D + d that of group g and feature d.
    pub intercepts: Vec<f64>,
    /// Noise precisions of a Gaussian view, one a feature, or one a group and
    /// feature as with the intercepts; empty for any other.
    pub noise: Vec<Noise>,
}

/// A Gamma posterior of a noise precision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    /// Shape; above 1, as predictions need $\mathrm{E}[1/\tau]$.
    pub shape: f64,
    /// Mean, per squared working unit.
    pub mean: f64,
}

impl Fit {
    /// The model of these estimates. It is checked as a model file is.
    ///
    /// The precisions of the weights are those that the ARD update gives known
    /// weights (spec/sshiba G3).
    ///
    /// # Errors
    /// [`ErrorKind::Incompatible`] for choices that the parts do not suit,
    /// [`ErrorKind::File`] when names, shapes and numbers do not fit together.
    pub fn from_parts(parts: FitParts) -> Result<Self> {
        parts.check()?;
        let k = parts.factors.ncols();
        let empty = parts
            .views
            .iter()
            .map(|v| assemble::empty_view(&v.name, &v.features, &[]))
            .collect::<Result<Vec<View>>>()?;
        let groups = parts.groups.as_ref();
        let composed = Composed::from(parts.spec.clone());
        let prediction = ParameterUncertainty::Posterior;
        let mut state = saved_parameters(&composed.parameters(groups, empty, k, prediction)?);
        let groups = assemble::several(groups).filter(|_| composed.knows_groups());
        let places = parts.noise_places();
        let known = RowCov::Shared(SymPacked::zeros(k));
        let cov = parts.factor_cov.unwrap_or_else(|| known.clone());
        if let Some(precisions) = &parts.factor_precisions {
            let samples = (parts.samples.len() / precisions.nrows().max(1)) as f64;
            let own = groups.map_or_else(|| RowGroups::one(parts.samples.len()), RowGroups::from);
            own.save("factors/prior/groups", &mut state);
            put_factor_precisions(&mut state, precisions, parts.spec.weight_prior, samples);
        }
        put_rows(&mut state, "factors", parts.factors, cov)?;
        let mut views = Vec::with_capacity(parts.views.len());
        let mut data = Vec::with_capacity(parts.views.len());
        for v in parts.views {
            let at = format!("views/{}", v.name);
            put_precisions(&mut state, &at, &v.weights, parts.spec.weight_prior);
            put_rows(
                &mut state,
                &format!("{at}/weights"),
                v.weights,
                known.clone(),
            )?;
            state.put_vec(&format!("{at}/bias/mean"), &v.intercepts);
            let zeros = vec![0.0; v.intercepts.len()];
            state.put_vec(&format!("{at}/bias/variance"), &zeros);
            for (g, place) in places.iter().enumerate() {
                // those that groups share are each of them's
                let each = v.features.len();
                let own = v.noise.chunks(each.max(1)).nth(g);
                let noise = own.unwrap_or(&v.noise);
                put_noise(&mut state, &format!("{at}/term/{place}noise"), noise);
            }
            views.push(ViewInfo {
                training: v.data.as_ref().and_then(|data| {
                    let likelihood = parts.spec.view(&v.name).likelihood;
                    TrainingScale::of_working(&likelihood, data, &v.scaling, groups)
                }),
                choices: parts.spec.view(&v.name),
                name: v.name,
                features: v.features,
                levels: Vec::new(),
                scaling: v.scaling,
                observed: v.data.as_ref().map_or(0, View::n_observed),
                unobserved: (v.data.as_ref()).map_or_else(Vec::new, View::unobserved_features),
                left_out: Vec::new(),
                selves: Vec::new(),
                kernel: None,
            });
            data.extend(v.data);
        }
        let fit = Self {
            composed,
            samples: parts.samples,
            views,
            data: (!data.is_empty()).then_some(data),
            rounding: Vec::new(),
            components: vec![state],
            settled: State::new(),
            sums: None,
            record: parts.record,
            groups: parts.groups,
            metadata: parts.metadata,
            reading: Reading::default(),
        };
        Self::from_bytes(&fit.to_bytes()?)
    }
}

impl FitParts {
    /// Number of groups, where they make a difference.
    fn several(&self) -> Option<usize> {
        assemble::several(self.groups.as_ref()).map(|g| g.names.len())
    }
    /// Where the noise of a view stands in the state of its term: once, or once
    /// a group.
    fn noise_places(&self) -> Vec<String> {
        let own = self.spec.groups.noise || self.spec.groups.intercepts;
        match self.several().filter(|_| own) {
            Some(count) => (0..count).map(|g| format!("group{g}/")).collect(),
            None => vec![String::new()],
        }
    }
    fn check(&self) -> Result<()> {
        let refuse = |view: &str, what: &str, with: &str| {
            Err(ErrorKind::Incompatible {
                view: view.to_owned(),
                what: what.to_owned(),
                with: with.to_owned(),
            }
            .into())
        };
        let own = self.spec.factor_prior == "ard";
        let proper = |m: &Mat<f64>| {
            (0..m.ncols()).all(|k| m.col(k).iter().all(|x| *x > 0.0 && x.is_finite()))
        };
        let fits = |m: &Mat<f64>| {
            m.shape() == (self.several().unwrap_or(1), self.factors.ncols()) && proper(m)
        };
        if own != self.factor_precisions.is_some()
            || !self.factor_precisions.as_ref().is_none_or(fits)
        {
            return refuse(
                "",
                "precisions of the factors that are not one a group and factor, positive and finite",
                &format!("the prior {} of the factors", self.spec.factor_prior),
            );
        }
        for v in &self.views {
            let choices = self.spec.view(&v.name);
            if self.spec.engine != EngineKind::Vb {
                return refuse(&v.name, "known weights", "Gibbs sampling");
            }
            if choices.selection != WeightPrior::default() {
                return refuse(&v.name, "known weights", "selection of features");
            }
            // a view that keeps a number for every cell has more than weights
            if !choices.likelihood.stays_sparse() {
                return refuse(&v.name, "known weights", "such labels or ranks");
            }
            let groups = self.several().unwrap_or(1);
            let wanted = match (choices.likelihood.is_real(), self.spec.groups.noise) {
                (true, true) => v.features.len() * groups,
                (true, false) => v.features.len(),
                (false, _) => 0,
            };
            if v.noise.len() != wanted {
                return refuse(
                    &v.name,
                    &format!("{} noise precisions", v.noise.len()),
                    &format!("{wanted} as the likelihood asks for"),
                );
            }
            let proper = |n: &Noise| n.shape > 1.0 && n.mean > 0.0 && n.mean.is_finite();
            if !v.noise.iter().all(proper) {
                return refuse(
                    &v.name,
                    "a noise precision that is not positive and finite, or has a shape of 1 or less",
                    "predictions",
                );
            }
        }
        Ok(())
    }
}

/// The moments of a block of rows; its prior stays.
fn put_rows(state: &mut State, block: &str, mean: Mat<f64>, cov: RowCov) -> Result<()> {
    let prior = format!("{block}/prior/");
    let inside = format!("{block}/");
    state.retain(|name, _| !name.starts_with(&inside) || name.starts_with(&prior));
    let is_known = matches!(&cov, RowCov::Shared(s) if s.as_slice().iter().all(|x| *x == 0.0));
    let mut moments = RowMoments::new(mean, cov, 0.0, 0);
    if !is_known {
        moments.refresh_log_det(block)?;
    }
    moments.save(block, state);
    Ok(())
}

/// ARD precisions of known weights: shape $a + D/2$, rate $b + \sum\_d
/// w\_{dk}^2 / 2$.
fn put_precisions(state: &mut State, view: &str, weights: &Mat<f64>, prior: GammaPrior) {
    let shape = prior.shape + 0.5 * weights.nrows() as f64;
    let columns = weights.ncols();
    let rate: Vec<f64> = (0..columns)
        .map(|j| prior.rate + 0.5 * weights.col_as_slice(j).iter().map(|w| w * w).sum::<f64>())
        .collect();
    put_gammas(
        state,
        &format!("{view}/weights/prior/alpha"),
        &vec![shape; columns],
        &rate,
    );
}

/// Precisions of the factors, one a group and factor, as known as samples in so many make them.
fn put_factor_precisions(state: &mut State, mean: &Mat<f64>, prior: GammaPrior, samples: f64) {
    let all: Vec<f64> = (0..mean.ncols())
        .flat_map(|k| mean.col_as_slice(k).iter().copied())
        .collect();
    let shape = vec![prior.shape + 0.5 * samples; all.len()];
    let rate: Vec<f64> = shape.iter().zip(&all).map(|(a, m)| a / m).collect();
    put_gammas(state, "factors/prior/alpha", &shape, &rate);
}

fn put_noise(state: &mut State, at: &str, noise: &[Noise]) {
    if !noise.is_empty() {
        let shape: Vec<f64> = noise.iter().map(|n| n.shape).collect();
        let rate: Vec<f64> = noise.iter().map(|n| n.shape / n.mean).collect();
        put_gammas(state, at, &shape, &rate);
    }
}

fn put_gammas(state: &mut State, at: &str, shape: &[f64], rate: &[f64]) {
    let each = |f: fn(f64, f64) -> f64| -> Vec<f64> {
        shape.iter().zip(rate).map(|(a, b)| f(*a, *b)).collect()
    };
    state.put_vec(&format!("{at}/shape"), shape);
    state.put_vec(&format!("{at}/rate"), rate);
    state.put_vec(&format!("{at}/mean"), &each(|a, b| a / b));
    state.put_vec(&format!("{at}/mean_ln"), &each(|a, b| digamma(a) - b.ln()));
}
