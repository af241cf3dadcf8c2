//! A model of MOFA2 as a model of this program.

use std::path::Path;

use polyview::{
    ErrorKind, Fit, FitParts, GroupChoices, ModelSpec, Noise, ProjectOptions, ViewChoices,
    ViewParts, models,
};
use polyview_core::{Dataset, Event, FeatureScaling, Groups, Scaling, Table, View};
use polyview_linalg::Mat;

use super::OWN;
use super::factors::{factor_precisions, factors, known};
use super::intercepts::{intercept, predictor};
use super::names::{IS_IT, Names};
use super::noise::{Fitted, noise};
use super::record::{metadata, record};
use crate::error::{Hdf5Error, Result};
use crate::file::{Needed, Reader};

/// How many times as far from those of the file as these vary factors may be projected before it is said.
const FAR: f64 = 1.0;

/// Choices of [`read_mofa2`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImportOptions {
    /// Of a model with groups, read this one alone: with its own intercepts and
    /// noise, as a model without groups. Without a choice all groups are read,
    /// and new samples have the intercepts and the noise of theirs.
    pub group: Option<String>,
    /// What MOFA2 divided the values of a view by (its option `scale_views`): the standard deviation of all of them about the
    /// mean of their feature, in each group. Its file does not say it; 1 for a view that is not named. Files that [`write_mofa2`](crate::write_mofa2)
    /// made say it themselves, and another one is refused.
    pub scales: Vec<(String, f64)>,
}

/// Reads a model that mofapy2 or MOFA2 wrote: factors, weights, intercepts,
/// noise, data, groups, metadata and the bound, so that it can be projected
/// onto, predict and be reported.
///
/// The file keeps means alone, and not all of those. What is taken for granted
/// instead stands in the journal, and every projection and prediction says it:
///
/// * weights are known: the uncertainty of projections and predictions leaves
///   theirs out;
/// * noise precisions are the file's `Tau` if it was saved, else those of the
///   data about factors times weights;
/// * intercepts of binary and count views, which MOFA2 does not save, are those
///   of the largest posterior density given factors and weights;
/// * factors have a standard normal prior, but in files that
///   [`write_mofa2`](crate::write_mofa2) made of a fit whose factors have precisions of their own.
///
/// Groups keep their intercepts and noise. New samples are matched to them by
/// name; those without a group may be of any ([`Fit::project`]).
///
/// Inclusion probabilities of single weights are not in such files: the weights
/// are read as ARD weights. Covariances of the factors are those that the data
/// give.
///
/// # Errors
/// [`Hdf5Error`]: the file is damaged or no MOFA2 model, has neither noise nor
/// data, or an option names what it lacks.
pub fn read_mofa2(path: impl AsRef<Path>, options: &ImportOptions) -> Result<Fit> {
    let file = Reader::open(path.as_ref())?;
    let names = Names::read(&file, options.group.as_deref())?;
    for (view, scale) in &options.scales {
        if !names.views.contains(view) {
            return Err(Hdf5Error::Option(format!(
                "{}: there is no view '{view}'; there are {}",
                file.path().display(),
                names.views.join(", ")
            )));
        }
        if !(*scale > 0.0 && scale.is_finite()) {
            return Err(Hdf5Error::Option(format!(
                "the scale {scale} of view '{view}' must be positive and finite"
            )));
        }
    }
    let mut notes = vec![
        "weights are known: the file does not say how sure they are, so standard deviations leave \
         their uncertainty out"
            .to_owned(),
    ];
    let factors = factors(&file, &names)?;
    let mut views = Vec::with_capacity(names.views.len());
    for m in 0..names.views.len() {
        views.push(view(&file, &names, m, &factors, options, &mut notes)?);
    }
    let mut spec = spec(&names);
    let factor_precisions = factor_precisions(&file, &names)?;
    if factor_precisions.is_some() {
        spec.factor_prior = "ard".into();
    }
    let views = collected(views, &mut spec.groups);
    general_notes(&file, factor_precisions.is_some(), &mut notes)?;
    let mut record = record(&file)?;
    for note in notes {
        record.journal.note(0, "", Event::Assumed { note });
    }
    let parts = FitParts {
        spec,
        samples: names.samples.concat(),
        views,
        factors,
        factor_cov: None,
        factor_precisions,
        groups: groups(&names),
        metadata: metadata(&file, &names)?,
        record,
    };
    let path = file.path().to_owned();
    drop(file);
    taken_over(parts).map_err(|e| match e {
        Hdf5Error::Model(e) if matches!(e.kind(), ErrorKind::File { .. }) => Hdf5Error::Values {
            path,
            place: "/".to_owned(),
            what: match e.kind() {
                ErrorKind::File { why, .. } => format!(
                    "holds no model that can be taken over: {why}; fit it again, or copy the file again"
                ),
                other => other.to_string(),
            },
        },
        other => other,
    })
}

/// The model of these parts, with the covariances of its factors.
fn taken_over(mut parts: FitParts) -> Result<Fit> {
    with_covariances(&mut parts)?;
    Ok(Fit::from_parts(parts)?)
}

/// The choices that come nearest to those of MOFA2.
fn spec(names: &Names) -> ModelSpec {
    let mut spec = models::mofa(names.factors);
    spec.defaults = ViewChoices {
        scaling: FeatureScaling::None,
        selection: "none".into(),
        ..spec.defaults
    };
    for (name, likelihood) in names.views.iter().zip(&names.likelihoods) {
        if *likelihood != "gaussian" {
            spec = spec.with_likelihood(name, likelihood.clone());
        }
    }
    spec
}

fn groups(names: &Names) -> Option<Groups> {
    let of = |(g, samples): (usize, &Vec<String>)| vec![g as u32; samples.len()];
    (names.groups.len() > 1).then(|| Groups {
        names: names.groups.clone(),
        of_sample: names.samples.iter().enumerate().flat_map(of).collect(),
    })
}

/// Estimates of a view with those of each group.
struct Estimates {
    /// What the groups share.
    parts: ViewParts,
    /// Intercepts, one list a group, working units.
    intercepts: Vec<Vec<f64>>,
    /// Noise precisions, one list a group; empty ones of a view that is not
    /// Gaussian.
    noise: Vec<Vec<Noise>>,
}

/// The views, and whether groups have something of their own: where any two of
/// them differ.
fn collected(views: Vec<Estimates>, groups: &mut GroupChoices) -> Vec<ViewParts> {
    *groups = GroupChoices {
        noise: views.iter().any(|v| differ(&v.noise)),
        intercepts: views.iter().any(|v| differ(&v.intercepts)),
    };
    let part = |v: Estimates| ViewParts {
        intercepts: all_or_first(v.intercepts, groups.intercepts),
        noise: all_or_first(v.noise, groups.noise),
        ..v.parts
    };
    views.into_iter().map(part).collect()
}

fn differ<T: PartialEq>(lists: &[T]) -> bool {
    lists.windows(2).any(|pair| pair[0] != pair[1])
}

fn all_or_first<T>(lists: Vec<Vec<T>>, all: bool) -> Vec<T> {
    let count = if all { lists.len() } else { 1 };
    lists.into_iter().take(count).flatten().collect()
}

fn view(
    file: &Reader,
    names: &Names,
    m: usize,
    factors: &Mat<f64>,
    options: &ImportOptions,
    notes: &mut Vec<String>,
) -> Result<Estimates> {
    let (name, features) = (&names.views[m], &names.features[m]);
    let columns = features.len();
    let place = format!("expectations/W/{name}");
    let weights = file
        .matrix(&place, Some([names.factors, columns]))?
        .needed(file, &place, IS_IT)?;
    known(file, &place, &weights, ("feature", features))?;
    let weights = weights.transpose().to_owned();
    let likelihood = &names.likelihoods[m];
    let gaussian = likelihood == "gaussian";
    let mut scaling = Scaling::identity(columns);
    let mut means = Vec::new();
    if gaussian {
        scaling.scale = scale(file, name, columns, options)?;
        means = intercepts(file, names, name, columns, notes)?;
        let sizes: Vec<f64> = names.samples.iter().map(|s| s.len() as f64).collect();
        scaling.offset = (0..columns).map(|d| mean(&means, &sizes, d)).collect();
    }
    // of a feature that a group lacks the mean of the others, which is the offset
    let shift = |b: f64, d: usize| {
        if b.is_nan() {
            0.0
        } else {
            (b - scaling.offset[d]) / scaling.scale[d]
        }
    };
    let shifts: Vec<Vec<f64>> = (means.iter())
        .map(|b| b.iter().enumerate().map(|(d, b)| shift(*b, d)).collect())
        .collect();
    let data = data(file, names, m, &shifts)?;
    if gaussian {
        note_scale(file, names, (name, data.as_ref(), &shifts), options, notes)?;
    }
    let (intercepts, noise) = if gaussian {
        let fitted = Fitted {
            data: data.as_ref(),
            factors,
            weights: &weights,
            intercepts: &shifts,
        };
        let noise = noise(file, names, m, &fitted, notes)?;
        (shifts, noise)
    } else {
        let own = link_intercepts(file, names, m, data.as_ref(), factors, &weights, notes)?;
        (own, vec![Vec::new(); names.groups.len()])
    };
    Ok(Estimates {
        parts: ViewParts {
            name: name.clone(),
            features: features.clone(),
            scaling,
            data,
            weights,
            intercepts: Vec::new(),
            noise: Vec::new(),
        },
        intercepts,
        noise,
    })
}

/// Intercepts of a binary or count view, one list a group: those of an exported
/// model, or estimates, which groups share as those of MOFA2 do.
fn link_intercepts(
    file: &Reader,
    names: &Names,
    m: usize,
    data: Option<&View>,
    factors: &Mat<f64>,
    weights: &Mat<f64>,
    notes: &mut Vec<String>,
) -> Result<Vec<Vec<f64>>> {
    let (name, columns) = (&names.views[m], weights.nrows());
    let by_group = format!("{OWN}/intercepts_by_group/{name}");
    if file.group(&by_group)?.is_some() {
        let of = |group: &String| {
            let place = format!("{by_group}/{group}");
            file.vector(&place, Some(columns))?
                .needed(file, &place, IS_IT)
        };
        return names.groups.iter().map(of).collect();
    }
    let likelihood = &names.likelihoods[m];
    let own = format!("{OWN}/intercepts/{name}");
    let shared = if let Some(b) = file.vector(&own, Some(columns))? {
        b
    } else if let Some(data) = data {
        notes.push(format!(
            "view '{name}': intercepts of {likelihood} views are not in the file; they are \
             estimated from its data"
        ));
        (0..columns)
            .map(|d| {
                let eta = predictor(factors, weights, d);
                let cells: Vec<(f64, f64)> = eta
                    .into_iter()
                    .enumerate()
                    .filter_map(|(n, eta)| Some((data.value(n, d)?, eta)))
                    .collect();
                intercept(likelihood.name(), &cells)
            })
            .collect()
    } else {
        notes.push(format!(
            "view '{name}': neither intercepts nor data are in the file; intercepts are zero"
        ));
        vec![0.0; columns]
    };
    Ok(vec![shared; names.groups.len()])
}

/// What the values of a view were divided by: what the file says, and where it does not, what
/// the options say.
fn scale(file: &Reader, view: &str, columns: usize, options: &ImportOptions) -> Result<Vec<f64>> {
    let given = options.scales.iter().find(|(v, _)| v == view);
    let own = file.vector(&format!("{OWN}/scale/{view}"), Some(columns))?;
    match (own, given) {
        (Some(own), Some((_, s))) if own.iter().any(|x| x != s) => Err(Hdf5Error::Option(format!(
            "{}: the file itself says what view '{view}' was divided by ({}): with the scale {s} new data \
                 and predictions would be in another unit; leave the scale of '{view}' out",
            file.path().display(),
            range(&own)
        ))),
        (Some(own), _) => Ok(own),
        (None, Some((_, s))) => Ok(vec![*s; columns]),
        (None, None) => Ok(vec![1.0; columns]),
    }
}

/// A number, or the ends of several.
fn range(of: &[f64]) -> String {
    let ends = of
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| {
            (a.min(*x), b.max(*x))
        });
    match ends {
        (low, high) if low == high => low.to_string(),
        (low, high) => format!("{low} to {high}, by feature"),
    }
}

/// Says that a view was scaled where it looks so and nobody said by what.
fn note_scale(
    file: &Reader,
    names: &Names,
    (view, data, shifts): (&str, Option<&View>, &[Vec<f64>]),
    options: &ImportOptions,
    notes: &mut Vec<String>,
) -> Result<()> {
    let known = options.scales.iter().any(|(v, _)| v == view)
        || file.array(&format!("{OWN}/scale/{view}"))?.is_some();
    let Some(data) = data.filter(|_| !known) else {
        return Ok(());
    };
    // scale_views divides all cells by one spread about the means of features in groups, which are in the file as they were
    let groups = names.samples.iter().enumerate();
    let of_sample: Vec<usize> = groups.flat_map(|(g, own)| vec![g; own.len()]).collect();
    let shift = |n: usize, d: usize| shifts.get(of_sample[n]).map_or(0.0, |own| own[d]);
    let (mut squares, mut count) = (0.0, 0.0);
    for d in 0..data.n_features() {
        for n in 0..data.n_samples() {
            if let Some(x) = data.value(n, d) {
                squares += (x - shift(n, d)).powi(2);
                count += 1.0;
            }
        }
    }
    let spread = (squares / f64::max(count, 1.0)).sqrt();
    if (spread - 1.0).abs() < 1e-3 {
        notes.push(format!(
            "view '{view}': its data have a standard deviation of 1, so that MOFA2 scaled it (scale_views), and the file does not \
             say by what; for new data in the unit of the original ones import with --scale {view}=NUMBER, the standard deviation \
             of all original values of the view about the mean of their feature (of several groups: in their group)"
        ));
    }
    Ok(())
}

/// Intercepts of a Gaussian view, one list a group, data units.
fn intercepts(
    file: &Reader,
    names: &Names,
    view: &str,
    columns: usize,
    notes: &mut Vec<String>,
) -> Result<Vec<Vec<f64>>> {
    let mut out = Vec::with_capacity(names.groups.len());
    for group in &names.groups {
        let place = format!("intercepts/{view}/{group}");
        let Some(mut means) = file.vector(&place, Some(columns))? else {
            notes.push(format!(
                "view '{view}': the file has no intercepts; new data must be centred likewise"
            ));
            return Ok(vec![vec![0.0; columns]; names.groups.len()]);
        };
        if let Some(bad) = means.iter_mut().find(|x| x.is_infinite()) {
            return Err(file.values(&place, format!("holds {bad}")));
        }
        out.push(means);
    }
    Ok(out)
}

/// Mean over the groups that have one, by their sizes; 0 where none has.
fn mean(means: &[Vec<f64>], sizes: &[f64], feature: usize) -> f64 {
    let seen = || {
        means
            .iter()
            .zip(sizes)
            .map(|(m, s)| (m[feature], *s))
            .filter(|(m, _)| !m.is_nan())
    };
    let total: f64 = seen().map(|(_, s)| s).sum();
    let first = seen().next().map_or(0.0, |(m, _)| m);
    if seen().all(|(m, _)| m == first) {
        // exactly what all of them have
        first
    } else if total > 0.0 {
        seen().map(|(m, s)| m * (s / total)).sum()
    } else {
        0.0
    }
}

/// Data of all groups in working units, if the file has them: what it holds and
/// each group's `shifts`, which may be none.
fn data(file: &Reader, names: &Names, m: usize, shifts: &[Vec<f64>]) -> Result<Option<View>> {
    if file.group("data")?.is_none() {
        return Ok(None);
    }
    let columns = names.features[m].len();
    let mut out = Mat::zeros(names.n_samples(), columns);
    let mut first = 0;
    for (g, (group, samples)) in names.groups.iter().zip(&names.samples).enumerate() {
        let place = format!("data/{}/{group}", names.views[m]);
        let y = file
            .matrix(&place, Some([samples.len(), columns]))?
            .needed(file, &place, IS_IT)?;
        for d in 0..columns {
            let shift = shifts.get(g).map_or(0.0, |b| b[d]);
            for (i, x) in y.col_as_slice(d).iter().enumerate() {
                out[(first + i, d)] = x + shift;
            }
        }
        first += samples.len();
    }
    let view = View::from_values(names.views[m].clone(), names.features[m].clone(), out)?;
    Ok(Some(view))
}

/// What concerns the whole model.
fn general_notes(file: &Reader, has_precisions: bool, notes: &mut Vec<String>) -> Result<()> {
    let is_true = |name: &str| -> Result<bool> {
        let words = file.words(&format!("model_options/{name}"))?;
        Ok(words.is_some_and(|w| w.first().is_some_and(|w| w.eq_ignore_ascii_case("true"))))
    };
    let sparse = is_true("spikeslab_factors")?;
    if !has_precisions && (is_true("ard_factors")? || sparse) {
        let option = if sparse {
            "spikeslab_factors"
        } else {
            "ard_factors"
        };
        notes.push(format!(
            "the factors of new samples are taken to have a standard normal prior: in the file's model each \
             factor has a precision of its own ({option}), and the file does not say which"
        ));
    }
    if file.group("cov_samples")?.is_some() {
        notes.push(
            "the file ties the factors of samples by covariates (MEFISTO); new samples are taken \
             as independent"
                .to_owned(),
        );
    }
    Ok(())
}

/// Gives the factors the covariances that the data give them.
fn with_covariances(parts: &mut FitParts) -> Result<()> {
    let mut builder = Dataset::builder();
    for view in &parts.views {
        let Some(data) = &view.data else {
            let note = "the covariances of the factors are not known: the file has no data".into();
            parts.record.journal.note(0, "", Event::Assumed { note });
            return Ok(());
        };
        let mut values = data.to_values_with_nan();
        view.scaling.restore(&mut values);
        builder = builder.view(Table {
            name: view.name.clone(),
            samples: parts.samples.clone(),
            features: view.features.clone(),
            values,
            levels: Vec::new(),
        });
    }
    if let Some(groups) = &parts.groups {
        let names = groups
            .of_sample
            .iter()
            .map(|&g| groups.names[g as usize].clone());
        builder = builder.groups(parts.samples.iter().cloned().zip(names).collect());
    }
    let fit = Fit::from_parts(parts.clone())?;
    let again = fit.project(&builder.build()?, &ProjectOptions::default())?;
    let mut largest: f64 = 0.0;
    for k in 0..parts.factors.ncols() {
        for n in 0..parts.factors.nrows() {
            largest = largest.max((parts.factors[(n, k)] - again.mean[(n, k)]).abs());
        }
    }
    let note = format!(
        "projected again, the samples of the file have its factors to within {largest:.2e}"
    );
    let cells = (parts.factors.nrows() * parts.factors.ncols()).max(1) as f64;
    let size = (parts.factors.squared_norm_l2() / cells).sqrt();
    let event = if largest > FAR * size {
        let note = format!(
            "{note}, where they vary by {size:.2e}: the fit that is in the file had not come to rest, or its data are others; what is \
             predicted from this model is not what that fit says"
        );
        Event::Warning { note }
    } else {
        Event::Note { note }
    };
    parts.record.journal.note(0, "", event);
    parts.factor_cov = Some(again.covariance);
    Ok(())
}
