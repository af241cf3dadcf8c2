//! A model in the layout of MOFA2.

use std::path::Path;

use hdf5_pure::{AttrValue, FileBuilder, FormatError};
use polyview::{Explained, FactorPrior, Finding, Fit, ViewInfo};
use polyview_core::{MetadataValues, Overwrite, View, WriteError, WriteFault, write_atomic};
use polyview_linalg::{Mat, MatRef};

use super::ONE_GROUP;
use super::names::can_be_a_name;
use super::own::{Own, has_own_precisions};
use super::source::Source;
use crate::error::{Hdf5Error, Result};

/// Values of a chunk.
const CHUNK: usize = 1 << 18;
/// How hard to compress, of 9.
const LEVEL: u32 = 6;

/// Choices of [`write_mofa2`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExportOptions {
    /// Views to leave out, such as those that MOFA2 has no likelihood for.
    pub without: Vec<String>,
    /// What to do where the file exists.
    pub overwrite: Overwrite,
}

/// The samples of one group.
struct Members {
    name: String,
    rows: Vec<usize>,
    explained: Explained,
}

/// Writes a model in the layout of MOFA2: whole, or not at all. Returns what
/// could not be put into it.
///
/// Weights, factors and shares of variance explained are those of the fit
/// ([`Fit::weights`], in working units, [`Fit::factors`], [`Fit::explain`]),
/// the shares in percent. The data are in working units with the model's
/// intercepts taken away, so that they are near $Z W^\top$.
///
/// # Errors
/// [`Hdf5Error::Likelihood`] for a view that MOFA2 cannot hold,
/// [`Hdf5Error::Option`] where every view is left out or one is scaled by normal
/// scores, [`Hdf5Error::Name`] for a name with a slash, [`Hdf5Error::Model`] for a
/// model without its data, [`Hdf5Error::Write`] when the disk refuses.
pub fn write_mofa2(
    fit: &Fit,
    path: impl AsRef<Path>,
    options: &ExportOptions,
) -> Result<Vec<String>> {
    let path = path.as_ref();
    let mut notes = Vec::new();
    for name in &options.without {
        fit.view(name)?;
    }
    let chosen: Vec<usize> = (0..fit.views().len())
        .filter(|&m| !options.without.contains(&fit.views()[m].name))
        .collect();
    if chosen.is_empty() {
        return Err(Hdf5Error::Option(
            "every view is left out; leave one in".into(),
        ));
    }
    if fit
        .spec()
        .is_some_and(|s| !(s.covariates.is_empty() && s.offsets.is_empty()))
    {
        return Err(Hdf5Error::Option(
            "the fit was adjusted for covariates or offsets, which MOFA2 has no place for; export tables"
                .into(),
        ));
    }
    let views: Vec<&ViewInfo> = chosen.iter().map(|&m| &fit.views()[m]).collect();
    if let Some(bent) = views.iter().find(|v| v.scaling.scores.is_some()) {
        return Err(Hdf5Error::Option(format!(
            "view '{}' is scaled by normal scores, which MOFA2 has no map for; leave the view out, \
             or fit it with another scaling",
            bent.name
        )));
    }
    let likelihoods = views
        .iter()
        .map(|v| likelihood(v))
        .collect::<Result<Vec<_>>>()?;
    let data = fit.data()?;
    let members = members(fit)?;
    for (kind, name) in views
        .iter()
        .map(|v| ("view", &v.name))
        .chain(members.iter().map(|g| ("group", &g.name)))
    {
        if !can_be_a_name(name) {
            return Err(Hdf5Error::Name {
                kind,
                name: name.clone(),
            });
        }
    }
    let own = Own::of(fit)?;
    let mut file = FileBuilder::new();
    write_names(&mut file, fit, &views, &members);
    let (mut all_data, mut intercepts) =
        (file.create_group("data"), file.create_group("intercepts"));
    for (info, &m) in views.iter().zip(&chosen) {
        let mut of_data = all_data.create_group(&info.name);
        let mut of_intercepts = intercepts.create_group(&info.name);
        let gaussian = info.choices.likelihood == "gaussian";
        for g in &members {
            let intercepts = own.of_group(fit, m, &g.name);
            let values = centred(&data[m], &g.rows, gaussian.then_some(intercepts));
            let means: Vec<f64> = if gaussian {
                (0..info.features.len())
                    .map(|d| info.scaling.backward(d, intercepts[d]))
                    .collect()
            } else {
                column_means(values.as_ref())
            };
            put(&mut of_data, &g.name, values.as_ref());
            of_intercepts.create_dataset(&g.name).with_f64_data(&means);
        }
        all_data.add_group(of_data.finish());
        intercepts.add_group(of_intercepts.finish());
    }
    file.add_group(all_data.finish());
    file.add_group(intercepts.finish());
    write_expectations(&mut file, fit, &views, &members)?;
    write_options(&mut file, fit, &views, &likelihoods)
        .map_err(|e| cannot(path, &e.to_string()))?;
    let source = Source::of(fit, &views);
    write_course(&mut file, fit, source.has_bound);
    write_explained(&mut file, &chosen, &members);
    write_metadata(&mut file, fit, &members, &mut notes);
    let groups: Vec<String> = members.iter().map(|g| g.name.clone()).collect();
    own.write(&mut file, &views, &chosen, &groups, &source);
    notes.extend(source.told);
    let prior = fit.spec().map(|s| &s.factor_prior);
    if let Some(prior) = prior.filter(|p| **p != FactorPrior::default())
        && !has_own_precisions(fit)
    {
        notes.push(format!(
            "the prior of the factors ({}) has no place in the file: whoever reads it takes factors as \
             standard normal, and predicts otherwise",
            prior.called()
        ));
    }
    notes.push("standard deviations of factors and weights have no place in the file".into());
    let bytes = file.finish().map_err(|e| cannot(path, &e.to_string()))?;
    write_atomic(path, options.overwrite, |out| {
        use std::io::Write;
        out.write_all(&bytes)
    })?;
    Ok(notes)
}

/// What MOFA2 calls the likelihood of a view.
fn likelihood(view: &ViewInfo) -> Result<&'static str> {
    if view.choices.local {
        return Err(Hdf5Error::Likelihood {
            view: view.name.clone(),
            likelihood: format!("{} by cluster", view.choices.likelihood),
        });
    }
    match view.choices.likelihood.name() {
        "gaussian" => Ok("gaussian"),
        "bernoulli" | "bernoulli-latent" => Ok("bernoulli"),
        "poisson"
            if view.choices.likelihood.options().text("rate").as_deref() == Some("softplus") =>
        {
            Ok("poisson")
        }
        "poisson" => Err(Hdf5Error::Likelihood {
            view: view.name.clone(),
            likelihood: "poisson with an exponential rate (MOFA2 has rate=softplus)".to_owned(),
        }),
        other => Err(Hdf5Error::Likelihood {
            view: view.name.clone(),
            likelihood: other.to_string(),
        }),
    }
}

fn cannot(path: &Path, why: &str) -> Hdf5Error {
    Hdf5Error::Write(WriteError {
        path: path.to_owned(),
        fault: WriteFault::System(std::io::Error::other(why.to_owned())),
    })
}

/// The groups with their samples; all samples are one where there are none.
fn members(fit: &Fit) -> Result<Vec<Members>> {
    let Some(groups) = fit.groups() else {
        return Ok(vec![Members {
            name: ONE_GROUP.to_owned(),
            rows: (0..fit.samples().len()).collect(),
            explained: fit.explain()?,
        }]);
    };
    let of_sample = || groups.of_sample.iter().enumerate();
    groups
        .names
        .iter()
        .enumerate()
        .map(|(at, name)| {
            Ok(Members {
                name: name.clone(),
                rows: of_sample()
                    .filter(|(_, g)| **g as usize == at)
                    .map(|(n, _)| n)
                    .collect(),
                explained: fit.explain_group(name)?,
            })
        })
        .collect()
}

/// Some rows of the working data, less the intercepts; `NaN` = missing.
fn centred(view: &View, rows: &[usize], intercepts: Option<&[f64]>) -> Mat<f64> {
    Mat::from_fn(rows.len(), view.n_features(), |i, d| {
        view.value(rows[i], d)
            .map_or(f64::NAN, |x| x - intercepts.map_or(0.0, |b| b[d]))
    })
}

/// Means over what was observed.
fn column_means(values: MatRef<'_, f64>) -> Vec<f64> {
    (0..values.ncols())
        .map(|d| {
            let seen = || values.col(d).iter().filter(|x| !x.is_nan());
            seen().sum::<f64>() / seen().count() as f64
        })
        .collect()
}

/// Adds a matrix, row by row and compressed.
fn put(group: &mut hdf5_pure::GroupBuilder, name: &str, m: MatRef<'_, f64>) {
    let (rows, columns) = (m.nrows(), m.ncols());
    let mut values = Vec::with_capacity(rows * columns);
    for i in 0..rows {
        values.extend((0..columns).map(|j| m[(i, j)]));
    }
    let array = group.create_dataset(name);
    array
        .with_f64_data(&values)
        .with_shape(&[rows as u64, columns as u64]);
    if !values.is_empty() {
        let chunk = (CHUNK / columns).clamp(1, rows) as u64;
        array
            .with_chunks(&[chunk, columns as u64])
            .with_shuffle()
            .with_deflate(LEVEL);
    }
}

fn words(group: &mut hdf5_pure::GroupBuilder, name: &str, words: &[String]) {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    group.create_dataset(name).with_vlen_strings(&words);
}

fn write_names(file: &mut FileBuilder, fit: &Fit, views: &[&ViewInfo], members: &[Members]) {
    let mut group = file.create_group("views");
    let names: Vec<String> = views.iter().map(|v| v.name.clone()).collect();
    words(&mut group, "views", &names);
    file.add_group(group.finish());
    let mut group = file.create_group("groups");
    let names: Vec<String> = members.iter().map(|g| g.name.clone()).collect();
    words(&mut group, "groups", &names);
    file.add_group(group.finish());
    let mut group = file.create_group("features");
    for v in views {
        words(&mut group, &v.name, &v.features);
    }
    file.add_group(group.finish());
    let mut group = file.create_group("samples");
    for g in members {
        let ids: Vec<String> = g.rows.iter().map(|&n| fit.samples()[n].clone()).collect();
        words(&mut group, &g.name, &ids);
    }
    file.add_group(group.finish());
}

fn write_expectations(
    file: &mut FileBuilder,
    fit: &Fit,
    views: &[&ViewInfo],
    members: &[Members],
) -> Result<()> {
    let mut all = file.create_group("expectations");
    let mut group = all.create_group("Z");
    let z = fit.factors()?.mean;
    for g in members {
        let own = Mat::from_fn(fit.k(), g.rows.len(), |k, i| z[(g.rows[i], k)]);
        put(&mut group, &g.name, own.as_ref());
    }
    all.add_group(group.finish());
    let mut group = all.create_group("W");
    for v in views {
        let w = fit.weights(&v.name)?.mean;
        put(&mut group, &v.name, w.transpose());
    }
    all.add_group(group.finish());
    file.add_group(all.finish());
    Ok(())
}

fn write_options(
    file: &mut FileBuilder,
    fit: &Fit,
    views: &[&ViewInfo],
    likelihoods: &[&str],
) -> std::result::Result<(), FormatError> {
    let sparse = views
        .iter()
        .any(|v| v.choices.selection.finding() == Some(Finding::Inclusion));
    let mut group = file.create_group("model_options");
    group
        .create_dataset("likelihoods")
        .with_ascii_strings(likelihoods)?;
    for (name, value) in [
        ("spikeslab_factors", false),
        ("spikeslab_weights", sparse),
        ("ard_factors", has_own_precisions(fit)),
        ("ard_weights", true),
    ] {
        let word = if value { "True" } else { "False" };
        group
            .create_dataset(name)
            .with_ascii_strings_sized(&[word], 5)?
            .with_shape(&[]);
    }
    file.add_group(group.finish());
    let options = [
        ("maxiter", fit.run_options().vb.max_sweeps as f64),
        ("freqELBO", 1.0),
        ("start_elbo", 1.0),
        ("gpu_mode", 0.0),
        ("stochastic", 0.0),
        ("seed", fit.run_options().seed as f64),
    ];
    let names = options.iter().map(|o| o.0.to_owned()).collect();
    file.create_dataset("training_opts")
        .with_f64_data(&options.map(|o| o.1))
        .set_attr("names", AttrValue::AsciiStringArray(names));
    Ok(())
}

/// Bound, factors and seconds by sweep; the seconds are spread evenly. What is no bound of the model is left out.
fn write_course(file: &mut FileBuilder, fit: &Fit, has_bound: bool) {
    let record = fit.record();
    let rows = record.ledgers.first().map_or(&[][..], |l| &l.rows[..]);
    let column =
        |f: fn(&polyview_core::LedgerRow) -> f64| -> Vec<f64> { rows.iter().map(f).collect() };
    let time = vec![record.seconds / rows.len().max(1) as f64; rows.len()];
    let mut group = file.create_group("training_stats");
    group.create_dataset("elbo").with_f64_data(&if has_bound {
        column(|r| r.total)
    } else {
        vec![f64::NAN; rows.len()]
    });
    group
        .create_dataset("number_factors")
        .with_f64_data(&column(|r| r.factors as f64));
    group.create_dataset("time").with_f64_data(&time);
    file.add_group(group.finish());
}

fn write_explained(file: &mut FileBuilder, chosen: &[usize], members: &[Members]) {
    let mut all = file.create_group("variance_explained");
    let mut group = all.create_group("r2_per_factor");
    for g in members {
        let e = &g.explained;
        let shares = Mat::from_fn(chosen.len(), e.factors, |i, k| {
            100.0 * e.marginal[(chosen[i], k)]
        });
        put(&mut group, &g.name, shares.as_ref());
    }
    all.add_group(group.finish());
    let mut group = all.create_group("r2_total");
    for g in members {
        let shares: Vec<f64> = chosen
            .iter()
            .map(|&m| 100.0 * g.explained.total[m])
            .collect();
        group.create_dataset(&g.name).with_f64_data(&shares);
    }
    all.add_group(group.finish());
    file.add_group(all.finish());
}

fn write_metadata(file: &mut FileBuilder, fit: &Fit, members: &[Members], notes: &mut Vec<String>) {
    let (columns, bad): (Vec<_>, Vec<_>) =
        fit.metadata().iter().partition(|c| can_be_a_name(&c.name));
    for column in bad {
        notes.push(format!(
            "the metadata column '{}' is left out: an HDF5 file has no such names",
            column.name
        ));
    }
    if columns.is_empty() {
        return;
    }
    let mut all = file.create_group("samples_metadata");
    for g in members {
        let mut group = all.create_group(&g.name);
        for column in &columns {
            match &column.values {
                MetadataValues::Numbers(v) => {
                    let own: Vec<f64> = g.rows.iter().map(|&n| v[n]).collect();
                    group.create_dataset(&column.name).with_f64_data(&own);
                }
                MetadataValues::Categories(v) => {
                    let own: Vec<String> = g
                        .rows
                        .iter()
                        .map(|&n| v[n].clone().unwrap_or_default())
                        .collect();
                    words(&mut group, &column.name, &own);
                }
            }
        }
        all.add_group(group.finish());
    }
    file.add_group(all.finish());
}
