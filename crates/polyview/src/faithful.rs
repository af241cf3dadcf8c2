//! What mofapy2 does otherwise, where a choice of [`ModelSpec`] does not say
//! it: which data it knows, and where it starts (spec/mofa B.2, B.4, B.5).

use polyview_core::{Dataset, View};
use polyview_likelihoods::{MissingData, PseudoKind};
use polyview_linalg::{Mat, thin_svd};

use crate::error::{ErrorKind, Result};
use crate::spec::{Algorithm, EngineKind, FeatureSelection, Likelihood, ModelSpec};

/// Updates during which inclusion probabilities stay at their start
/// (`start_sparsity` = 50).
pub(crate) const SWEEPS_BEFORE_SPARSITY: usize = 49;

/// Pseudo-data of that likelihood, if it has them.
pub(crate) fn pseudo_kind(likelihood: Likelihood) -> Option<PseudoKind> {
    match likelihood {
        Likelihood::Bernoulli => Some(PseudoKind::Bernoulli),
        Likelihood::Poisson => Some(PseudoKind::Poisson),
        _ => None,
    }
}

/// Refuses what mofapy2 does not know.
pub(crate) fn validate(spec: &ModelSpec, data: &Dataset) -> Result<()> {
    if spec.algorithm != Algorithm::Faithful {
        return Ok(());
    }
    let refuse = |view: &str, what: &str| {
        Err(ErrorKind::Incompatible {
            view: view.to_owned(),
            what: what.to_owned(),
            with: "algorithm = \"faithful\", which is mofapy2's".to_owned(),
        }
        .into())
    };
    for v in data.views() {
        if spec.view(v.name()).selection == FeatureSelection::Horseshoe {
            return refuse(v.name(), "horseshoe weights");
        }
        let likelihood = spec.view(v.name()).likelihood;
        if likelihood != Likelihood::Gaussian && pseudo_kind(likelihood).is_none() {
            return refuse(v.name(), &format!("likelihood {likelihood}"));
        }
    }
    if spec.engine == EngineKind::Gibbs {
        return refuse("", "engine gibbs");
    }
    if spec.missing == MissingData::Impute {
        return refuse("", "missing = \"impute\"");
    }
    Ok(())
}

/// spec/mofa B.4: principal components of all views side by side, missing
/// cells at their mean, each stretched to \[-1, 1\]. Labels and counts go in as
/// they are.
///
/// # Errors
/// [`ErrorKind::Linalg`] from the decomposition.
pub(crate) fn start(spec: &ModelSpec, views: &[View]) -> Result<Mat<f64>> {
    let rows = views.first().map_or(0, View::n_samples);
    let columns: usize = views.iter().map(View::n_features).sum();
    let mut wide: Mat<f64> = Mat::zeros(rows, columns);
    let mut at = 0;
    for v in views {
        for d in 0..v.n_features() {
            let count = v.mask().count_feature(d, rows).max(1) as f64;
            let mean = v.values().col(d).iter().sum::<f64>() / count;
            for n in 0..rows {
                if let Some(x) = v.value(n, d) {
                    wide[(n, at)] = x - mean;
                }
            }
            at += 1;
        }
    }
    let u = thin_svd(wide.as_ref())?.u;
    let ends = |k: usize| {
        u.col(k)
            .iter()
            .fold((f64::MAX, f64::MIN), |(a, b), x| (x.min(a), x.max(b)))
    };
    let ends: Vec<(f64, f64)> = (0..spec.factors.min(u.ncols())).map(ends).collect();
    Ok(Mat::from_fn(rows, spec.factors, |n, k| match ends.get(k) {
        Some((low, high)) if high > low => 2.0 * (u[(n, k)] - low) / (high - low) - 1.0,
        _ => 0.0,
    }))
}
