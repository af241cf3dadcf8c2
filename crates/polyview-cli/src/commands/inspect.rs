//! `polyview inspect`.

use polyview::{FeatureSelection, Fit, Selection, ViewInfo};

use super::explained::{GroupShares, explained_by_group, shares, variance_table};
use crate::args::{Cli, InspectArgs};
use crate::failure::{Failure, Outcome};
use crate::output::{json, line, table};

/// What a model file holds.
pub fn run(cli: &Cli, args: &InspectArgs) -> Outcome<()> {
    let fit = Fit::load(&args.model)?;
    if cli.json {
        return json(&as_json(&fit)?);
    }
    if args.spec {
        return line(toml::to_string(fit.spec()).map_err(|e| Failure::Usage(e.to_string()))?);
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
        fit.spec().model,
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
        fit.spec().factors
    ))?;
    line(format!("sweeps    {}, {}", r.sweeps, r.outcome))?;
    if let Some(b) = r.bound {
        line(format!("bound     {b:.4} nats"))?;
    }
    line(format!("seed      {}", fit.spec().seed))?;
    line(format!(
        "data      {}",
        if fit.data().is_ok() {
            "kept"
        } else {
            "not kept"
        }
    ))?;
    if r.restart_bounds.len() > 1 {
        let all: Vec<String> = r.restart_bounds.iter().map(|b| format!("{b:.2}")).collect();
        line(format!("restarts  {}", all.join(", ")))?;
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
            let of = |x: Result<serde_json::Value, serde_json::Error>| word(x.unwrap_or_default());
            vec![
                v.name.clone(),
                v.features.len().to_string(),
                of(serde_json::to_value(v.choices.likelihood)),
                of(serde_json::to_value(v.choices.noise)),
                of(serde_json::to_value(v.choices.scaling)),
                v.observed.to_string(),
            ]
        })
        .collect();
    table(&header, &rows)?;
    relevances(&fit)?;
    if fit.data().is_ok() {
        line("")?;
        line("variance explained, % (marginal by factor)")?;
        variance_table(&fit, &fit.explain()?)?;
        for g in explained_by_group(&fit)? {
            line("")?;
            line(format!(
                "variance explained within group '{}' ({} samples), %",
                g.name, g.samples
            ))?;
            variance_table(&fit, &g.explained)?;
        }
    }
    if !r.diagnostics.is_empty() {
        line("")?;
        let header = ["quantity", "mean", "sd", "R-hat", "ESS bulk", "ESS tail"].map(str::to_owned);
        let rows: Vec<Vec<String>> = r
            .diagnostics
            .iter()
            .map(|d| {
                let s = &d.summary;
                vec![
                    d.quantity.clone(),
                    format!("{:.4}", s.mean),
                    format!("{:.4}", s.sd),
                    format!("{:.3}", s.rhat),
                    format!("{:.0}", s.ess_bulk),
                    format!("{:.0}", s.ess_tail),
                ]
            })
            .collect();
        table(&header, &rows)?;
    }
    Ok(())
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
        line(format!(
            "most relevant of the {} features of {} (median 1)",
            relevance.len(),
            v.name
        ))?;
        let header = ["feature", "relevance"].map(str::to_owned);
        let rows: Vec<Vec<String>> = top
            .into_iter()
            .map(|d| vec![v.features[d].clone(), format!("{:.4}", relevance[d])])
            .collect();
        table(&header, &rows)?;
    }
    Ok(())
}

fn relevance(fit: &Fit, view: &ViewInfo) -> Outcome<Option<Vec<f64>>> {
    Ok(match view.choices.selection {
        FeatureSelection::None => None,
        FeatureSelection::Relevance => Some(fit.relevance(&view.name)?),
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
    Ok(serde_json::json!({
        "spec": fit.spec(),
        "samples": fit.samples(),
        "factors": fit.k(),
        "components": fit.n_components(),
        "outcome": r.outcome,
        "sweeps": r.sweeps,
        "bound": r.bound,
        "restart_bounds": r.restart_bounds,
        "seconds": r.seconds,
        "journal": r.journal.entries.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "diagnostics": r.diagnostics,
        "views": fit.views().iter().enumerate().map(|(i, v)| serde_json::json!({
            "name": v.name,
            "features": v.features,
            "choices": v.choices,
            "observed": v.observed,
            "relevance": relevances[i],
            "explained": explained.as_ref().map(|e| shares(e, i)),
        })).collect::<Vec<_>>(),
        "groups": groups.iter().map(GroupShares::to_json).collect::<Vec<_>>(),
    }))
}
