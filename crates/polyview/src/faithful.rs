//! What mofapy2 does otherwise, where a choice of [`ModelSpec`] does not say
//! it: which data it knows, and where it starts (spec/mofa B.2, B.4, B.5).

use polyview_core::{Finding, Groups, Options, RowGroups, Setting, View};
use polyview_likelihoods::{MissingData, PseudoKind};
use polyview_linalg::{Mat, thin_svd};

use crate::assemble::several;
use crate::error::{ErrorKind, Result};
use crate::fit::GroupMeans;
use crate::spec::{Algorithm, EngineKind, Likelihood, ModelSpec};

/// Updates during which inclusion probabilities stay at their start
/// (`start_sparsity` = 50).
pub(crate) const SWEEPS_BEFORE_SPARSITY: usize = 49;

/// Pseudo-data of that likelihood, if it has them.
pub(crate) fn pseudo_kind(likelihood: &Likelihood) -> Option<PseudoKind> {
    match likelihood.name() {
        "bernoulli" => Some(PseudoKind::Bernoulli),
        "poisson" => Some(PseudoKind::Poisson),
        _ => None,
    }
}

/// What mofapy2 has of that likelihood, whatever else this library could do: the options that a
/// fit by its steps takes and records. Its counts have a softplus rate, and one curvature for
/// all cells of a feature (spec/mofa B.2).
pub(crate) fn options(spec: &ModelSpec, likelihood: &Likelihood) -> Options {
    let counts = "rate = \"softplus\", curvature = \"feature\"";
    match pseudo_kind(likelihood) {
        Some(PseudoKind::Poisson) if spec.algorithm == Algorithm::Faithful => {
            Options::parse(counts).unwrap_or_default()
        }
        _ => Options::new(),
    }
}

/// An option of a view that asks for what mofapy2 does not have, and what that has instead.
fn contradiction(spec: &ModelSpec, view: &str) -> Option<(String, String)> {
    let likelihood = spec.view(view).likelihood;
    let own = options(spec, &likelihood);
    let text = |of: &Options, name: &str| of.text(name).unwrap_or_default();
    let other = own.names().find_map(|name| {
        let (asked, has) = (text(likelihood.options(), name), text(&own, name));
        (asked != has).then(|| [asked, has].map(|x| format!("{likelihood}{{{name}={x}}}")))
    });
    other.map(|[asked, has]| (format!("likelihood {asked}"), has))
}

/// What to know of predictions of a view whose pseudo-data lose their means in place of
/// intercepts (spec/mofa C.2, item 2): labels and counts of nowhere near the level of the data.
pub(crate) fn without_levels(spec: &ModelSpec, view: &str) -> Option<String> {
    let (what, level) = match pseudo_data(spec, view)? {
        PseudoKind::Bernoulli => ("probabilities", "0.5"),
        PseudoKind::Poisson => ("counts", "0.69, which is ln 2"),
    };
    Some(format!(
        "the algorithm of mofapy2 has no intercepts for labels and counts: predicted {what} lie about {level}, \
         whatever the mean of the data, and are not to be used; the model mofa has intercepts"
    ))
}

/// Pseudo-data that stand for those of a view, if they do.
pub(crate) fn pseudo_data(spec: &ModelSpec, view: &str) -> Option<PseudoKind> {
    let faithful = spec.algorithm == Algorithm::Faithful;
    pseudo_kind(&spec.view(view).likelihood).filter(|_| faithful)
}

/// Who chose to compute as mofapy2 does, in the user's own words: the model of that
/// name, or the option.
pub(crate) fn chosen(spec: &ModelSpec) -> &'static str {
    if spec.model == "mofapy2" {
        "the model mofapy2, which computes as that program does (the model mofa has no such limits)"
    } else {
        "algorithm = \"faithful\", which is mofapy2's"
    }
}

/// What cannot be combined with steps that are mofapy2's, where they are.
pub(crate) fn refuses(spec: &ModelSpec) -> Option<&'static str> {
    (spec.algorithm == Algorithm::Faithful).then(|| chosen(spec))
}

/// Refuses what mofapy2 does not know.
pub(crate) fn validate(spec: &ModelSpec, views: &[View]) -> Result<()> {
    if spec.algorithm != Algorithm::Faithful {
        return Ok(());
    }
    let refuse = |view: &str, what: &str| {
        Err(ErrorKind::Incompatible {
            view: view.to_owned(),
            what: what.to_owned(),
            with: chosen(spec).to_owned(),
        }
        .into())
    };
    for v in views {
        let prior = spec.view(v.name()).selection;
        if prior.refuses(Setting::Mofapy2).is_some() {
            return refuse(v.name(), &prior.called());
        }
        let likelihood = spec.view(v.name()).likelihood;
        if likelihood != "gaussian" && pseudo_kind(&likelihood).is_none() {
            return refuse(v.name(), &format!("likelihood {likelihood}"));
        }
        if let Some((asked, has)) = contradiction(spec, v.name()) {
            return Err(ErrorKind::Incompatible {
                view: v.name().to_owned(),
                what: asked,
                with: format!("{}: it has {has}", chosen(spec)),
            }
            .into());
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
/// cells at their mean, each stretched to \[-1, 1\] or, where factors are
/// sparse, of unit variance. Where real views are centred by group, the means
/// are those of the groups; labels and counts go in as they are.
///
/// # Errors
/// [`ErrorKind::Linalg`] from the decomposition.
pub(crate) fn start(spec: &ModelSpec, groups: Option<&Groups>, views: &[View]) -> Result<Mat<f64>> {
    let rows = views.first().map_or(0, View::n_samples);
    let columns: usize = views.iter().map(View::n_features).sum();
    let mut wide: Mat<f64> = Mat::zeros(rows, columns);
    let mut at = 0;
    for v in views {
        let own = several(groups).filter(|_| spec.group_intercepts(v.name()));
        let groups = own.map_or_else(|| RowGroups::one(rows), RowGroups::from);
        let means = GroupMeans::new(v, &groups).0.group_after_group();
        for d in 0..v.n_features() {
            for (n, &g) in groups.of_row().iter().enumerate() {
                if let Some(x) = v.value(n, d) {
                    wide[(n, at)] = x - means[g as usize * v.n_features() + d];
                }
            }
            at += 1;
        }
    }
    let u = thin_svd(wide.as_ref())?.u;
    let sparse = spec.factor_prior.finding() == Some(Finding::Inclusion);
    let mut out = Mat::zeros(rows, spec.factors);
    for k in 0..spec.factors.min(u.ncols()) {
        let to = out.col_as_slice_mut(k);
        to.copy_from_slice(u.col_as_slice(k));
        if sparse {
            standardise(to);
        } else {
            stretch(to);
        }
    }
    Ok(out)
}

/// Smallest value -1, largest 1; zeros where all are equal.
fn stretch(x: &mut [f64]) {
    let ends = (f64::MAX, f64::MIN);
    let (low, high) = (x.iter()).fold(ends, |(a, b), x| (x.min(a), x.max(b)));
    for x in x {
        *x = if high > low {
            2.0 * (*x - low) / (high - low) - 1.0
        } else {
            0.0
        };
    }
}

/// Mean 0, standard deviation 1; zeros where all are equal.
fn standardise(x: &mut [f64]) {
    let n = x.len() as f64;
    let mean = x.iter().sum::<f64>() / n;
    let squares: f64 = x.iter().map(|x| (x - mean).powi(2)).sum();
    let sd = (squares / (n - 1.0)).sqrt();
    for x in x {
        *x = if sd > 0.0 { (*x - mean) / sd } else { 0.0 };
    }
}
