//! `polyview inspect`.

mod clusters;
mod reach;

use polyview::{Finding, Fit, Offset, Selection, ViewInfo};
use polyview_linalg::Mat;

use super::explained::{
    GroupShares, about_counts, about_deviance, about_groups, about_scores, about_zero,
    explained_by_group, shares, variance_table,
};
use super::kernel::load_model;
use super::sparsity::{effective, included, inclusions, shapes, shrinkage, sizes};
use super::trust;
use crate::args::{Cli, InspectArgs};
use crate::failure::Outcome;
use crate::output::{json, line, nats, number, prose, table};
use crate::remarks::warning;
use crate::study::Study;
use clusters::{clusters, clusters_json};
use reach::{activity_by_group, group_activity_json, reach, reach_json};

/// Every choice as a study file, which says where the data have to be given; of a model that
/// no study file can say what its composer says of itself.
fn spec(fit: &Fit) -> Outcome<()> {
    let Some(spec) = fit.spec() else {
        let (name, options) = fit.composer().describe();
        return line(format!("# put together by the composer {name}\n{options}"));
    };
    let names: Vec<&str> = fit.views().iter().map(|v| v.name.as_str()).collect();
    line(format!(
        "# The choices of a fit. A model file does not know where its data were: give them with\n\
         # --view NAME=FILE, or as [[data]] entries with name and path (views: {}).",
        names.join(", ")
    ))?;
    let column = |view: &String| Offset::Column(Offset::column_of(view));
    let offsets = spec.offsets.iter().filter(|(view, o)| **o == column(view));
    let tables = [
        (fit.reading().groups.iter())
            .map(|_| "groups with --metadata FILE".to_owned())
            .collect(),
        ((!spec.covariates.is_empty()).then(|| "covariates with --covariates FILE".to_owned()))
            .into_iter()
            .collect(),
        offsets
            .map(|(view, _)| format!("offsets with --offset {view}=FILE"))
            .collect::<Vec<_>>(),
    ];
    for what in tables.concat() {
        line(format!("# The same goes for {what}."))?;
    }
    line(Study::of_model(spec.clone(), fit.reading()).to_toml()?)
}

/// What a model file holds.
pub fn run(cli: &Cli, args: &InspectArgs) -> Outcome<()> {
    let fit = load_model(&args.model)?;
    let other = args.against.as_ref().map(|p| load_model(p)).transpose()?;
    let against = (other.as_ref())
        .map(|other| fit.compare(other))
        .transpose()?;
    let checks = args.checks.map(|n| trust::checks(&fit, n)).transpose()?;
    let compared = (args.against.iter().zip(&other)).chain([(&args.model, &fit)]);
    for (path, fit) in compared {
        if let Some(trouble) = fit.unmixed() {
            warning(cli, format!("{}: {trouble}", path.display()));
        }
    }
    if cli.json {
        let mut all = as_json(&fit)?;
        if let Some(found) = &against {
            all["against"] = trust::comparison_json(found);
        }
        if let Some(found) = &checks {
            all["checks"] = trust::checks_json(found);
        }
        return json(&all);
    }
    if against.is_some() || checks.is_some() {
        if let (Some(found), Some(other)) = (&against, &other) {
            trust::print_comparison(found, [&fit, other])?;
        }
        if against.is_some() && checks.is_some() {
            line("")?;
        }
        if let Some(found) = &checks {
            trust::print_checks(found)?;
        }
        return Ok(());
    }
    if args.spec {
        return spec(&fit);
    }
    let r = fit.record();
    if args.journal {
        for e in &r.journal.entries {
            line(e.to_string())?;
        }
        return Ok(());
    }
    line(format!(
        "model     {} ({})",
        fit.model_name(),
        if fit.is_sampled() {
            "Gibbs"
        } else {
            "variational Bayes"
        }
    ))?;
    line(format!("samples   {}", fit.samples().len()))?;
    line(format!(
        "factors   {} of {} at the start",
        fit.k(),
        fit.run_options().factors
    ))?;
    let updates = fit.updates();
    let of_first = if updates.is_empty() {
        ""
    } else {
        ", all of the first fit"
    };
    prose(format!(
        "sweeps    {}, {}{of_first}",
        r.sweeps,
        fit.ending()
    ))?;
    for update in &updates {
        prose(format!("updated   {update}"))?;
    }
    if let Some(counted) = fit.counted() {
        prose(format!("counts    {counted}"))?;
    }
    for (_, beside) in fit.predicted_beside() {
        prose(format!("predicts  {beside}"))?;
    }
    if let Some(polished) = fit.polished() {
        prose(format!("polished  {polished}"))?;
    }
    if let Some(b) = r.bound {
        let left = (fit.gain_left_told()).map_or_else(String::new, |left| format!("; {left}"));
        line(format!("bound     {} nats{left}", nats(b)))?;
    }
    line(format!("seed      {}", fit.run_options().seed))?;
    prose(match fit.data() {
        Ok(_) => "data      kept".to_owned(),
        Err(why) => format!("data      not kept: {why}"),
    })?;
    for assumed in r.assumptions() {
        prose(format!("assumed   {assumed}"))?;
    }
    let reading = fit.reading();
    let several = fit.groups().filter(|g| g.names.len() > 1);
    if let Some(column) = &reading.groups {
        prose(format!("groups    column '{column}' of the metadata"))?;
    } else if let Some(groups) = several {
        prose(format!("groups    {}", groups.names.join(", ")))?;
    }
    if let Some(adjusted) = fit.adjusted_for() {
        prose(format!("adjusted  for {adjusted}"))?;
    }
    if !reading.missing.is_empty() {
        let codes = reading.missing.join(", ");
        prose(format!(
            "missing   {codes} in the tables, besides empty cells"
        ))?;
    }
    if r.restart_bounds.len() > 1 {
        let told = |bounds: &[f64]| {
            let all: Vec<String> = bounds.iter().map(|b| nats(*b)).collect();
            all.join(", ")
        };
        let restarts = fit.run_options().restarts.min(r.restart_bounds.len());
        let (own, merged) = r.restart_bounds.split_at(restarts);
        if merged.is_empty() {
            prose(format!("restarts  {}", told(own)))?;
        } else {
            prose(format!(
                "starts    {}; then from factors of different views that were taken for one {}",
                told(own),
                told(merged)
            ))?;
        }
    }
    line("")?;
    let header = [
        "view",
        "features",
        "likelihood",
        "noise by",
        "scaling",
        "observed cells",
    ]
    .map(str::to_owned);
    let word = |v: serde_json::Value| v.as_str().unwrap_or("").to_owned();
    let rows: Vec<Vec<String>> = fit
        .views()
        .iter()
        .map(|v| {
            let of = |x: Result<serde_json::Value, serde_json::Error>| {
                if !v.choices.likelihood.is_real() {
                    return "-".to_owned();
                }
                word(x.unwrap_or_default())
            };
            vec![
                v.name.clone(),
                v.features.len().to_string(),
                v.choices.likelihood.to_string(),
                of(serde_json::to_value(v.choices.noise)),
                of(serde_json::to_value(v.choices.scaling)),
                v.observed.to_string(),
            ]
        })
        .collect();
    table(&header, &rows)?;
    kernels(&fit)?;
    classes(&fit)?;
    clusters(&fit)?;
    let explained = fit.data().ok().map(|_| fit.explain()).transpose()?;
    reach(&fit, explained.as_ref())?;
    relevances(&fit)?;
    inclusions(&fit)?;
    shrinkage(&fit)?;
    sizes(&fit)?;
    shapes(&fit)?;
    if let Some(explained) = explained {
        line("")?;
        prose(format!(
            "variance explained, % (marginal by factor{}{}{}{})",
            about_deviance(&fit, &explained),
            about_scores(&fit),
            about_groups(&fit),
            about_zero(&explained)
        ))?;
        variance_table(&fit, &explained, None)?;
        about_counts(&fit)?;
        for g in explained_by_group(&fit)? {
            line("")?;
            prose(format!(
                "variance explained within group '{}' ({} samples), %",
                g.name, g.samples
            ))?;
            variance_table(&fit, &g.explained, Some(&g.name))?;
        }
    }
    if fit.data().is_err() {
        line("")?;
        prose("no table of variance explained: it needs the training data, which are not kept")?;
    }
    activity_by_group(&fit)?;
    trust::convergence(&fit)
}

/// Most features whose relevance is told.
const RELEVANCES: usize = 20;

/// The most relevant of these features, in words.
fn most_relevant(all: &[(&str, f64)], most: usize) -> String {
    let top = all.iter().take(most);
    let mut out: Vec<String> = top.map(|(f, x)| format!("{f} {x:.3}")).collect();
    if let Some(more) = all.len().checked_sub(most).filter(|more| *more > 0) {
        out.push(format!("and {more} more"));
    }
    out.join(", ")
}

/// The kernels of the views that have one.
fn kernels(fit: &Fit) -> Outcome<()> {
    for v in fit.views() {
        if let Some(kernel) = v.kernel_in_words() {
            let random = v.kernel.as_ref().is_some_and(|map| map.is_random());
            let columns = if random {
                ""
            } else {
                "; its columns are similarities to these"
            };
            prose(format!("{}: kernel {kernel}{columns}", v.name))?;
        }
        if let Some(all) = v.kernel_relevances() {
            let told = most_relevant(&all, RELEVANCES);
            prose(format!(
                "{}: relevance of features, 1 on average: {told}",
                v.name
            ))?;
        }
    }
    Ok(())
}

/// The classes of the categorical views, and the words of labels.
fn classes(fit: &Fit) -> Outcome<()> {
    for v in fit.views().iter().filter(|v| !v.levels.is_empty()) {
        prose(format!("classes of {}: {}", v.name, v.levels.join(", ")))?;
    }
    for v in fit.views() {
        if let Some([zero, one]) = fit.labels(&v.name) {
            prose(format!(
                "labels of {}: {zero}, {one}; scores and probabilities are of '{one}'",
                v.name
            ))?;
        }
    }
    Ok(())
}

/// Every choice, or what another composer says of itself, for a program to read.
fn choices(fit: &Fit) -> serde_json::Value {
    if let Some(spec) = fit.spec() {
        return serde_json::json!(spec);
    }
    let (name, options) = fit.composer().describe();
    serde_json::json!({ "composer": name, "options": options, "run": fit.run_options() })
}

/// How many of the most relevant features are listed.
const TOP: usize = 10;

/// The most relevant features of the views that learnt it.
fn relevances(fit: &Fit) -> Outcome<()> {
    for v in fit.views() {
        let Some(relevance) = relevance(fit, v)? else {
            continue;
        };
        let top = fit.select_features(&v.name, Selection::Top(TOP.min(relevance.len())))?;
        line("")?;
        prose(format!(
            "most relevant of the {} features of {} (median 1)",
            relevance.len(),
            v.name
        ))?;
        let header = ["feature", "relevance"].map(str::to_owned);
        let rows: Vec<Vec<String>> = top
            .into_iter()
            .map(|d| vec![v.features[d].clone(), number(relevance[d])])
            .collect();
        table(&header, &rows)?;
    }
    Ok(())
}

fn relevance(fit: &Fit, view: &ViewInfo) -> Outcome<Option<Vec<f64>>> {
    Ok(match view.choices.selection.finding() {
        Some(Finding::Relevance) => Some(fit.relevance(&view.name)?),
        _ => None,
    })
}

fn as_json(fit: &Fit) -> Outcome<serde_json::Value> {
    let r = fit.record();
    let explained = fit.data().ok().map(|_| fit.explain()).transpose()?;
    let groups = explained_by_group(fit)?;
    let relevances = fit
        .views()
        .iter()
        .map(|v| relevance(fit, v))
        .collect::<Outcome<Vec<_>>>()?;
    let included = (fit.views().iter())
        .map(|v| included(fit, v))
        .collect::<Outcome<Vec<_>>>()?;
    let effective = (fit.views().iter())
        .map(|v| effective(fit, v))
        .collect::<Outcome<Vec<_>>>()?;
    let sizes = (fit.views().iter())
        .map(|v| Ok(fit.sizes(&v.name)?.as_ref().map(columns)))
        .collect::<Outcome<Vec<Option<Vec<Vec<f64>>>>>>()?;
    let shapes = (fit.views().iter())
        .map(|v| Ok(fit.shapes(&v.name)?.as_ref().map(columns)))
        .collect::<Outcome<Vec<Option<Vec<Vec<f64>>>>>>()?;
    Ok(serde_json::json!({
        "spec": choices(fit),
        "samples": fit.samples(),
        "factors": fit.k(),
        "components": fit.n_components(),
        "outcome": r.outcome,
        "sweeps": r.sweeps,
        "updates": fit.updates(),
        "bound": r.bound,
        "gain_left": fit.gain_left(),
        "restart_bounds": r.restart_bounds,
        "seconds": r.seconds,
        "optimum": r.optimum,
        "reading": fit.reading(),
        "journal": r.journal.entries.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "diagnostics": r.diagnostics,
        "convergence": r.convergence(),
        "views": fit.views().iter().enumerate().map(|(i, v)| serde_json::json!({
            "name": v.name,
            "features": v.features,
            "classes": v.levels,
            "choices": v.choices,
            "observed": v.observed,
            "relevance": relevances[i],
            "included": included[i],
            "effective_features": effective[i],
            "sizes": sizes[i],
            "shapes": shapes[i],
            "explained": explained.as_ref().map(|e| shares(e, i)),
        })).collect::<Vec<_>>(),
        "activity": reach_json(fit, explained.as_ref())?,
        "groups": groups.iter().map(GroupShares::to_json).collect::<Vec<_>>(),
        "group_activity": group_activity_json(fit)?,
        "clusters": clusters_json(fit)?,
    }))
}

/// A matrix as its columns.
fn columns(m: &Mat<f64>) -> Vec<Vec<f64>> {
    (0..m.ncols()).map(|j| m.col_as_slice(j).to_vec()).collect()
}
