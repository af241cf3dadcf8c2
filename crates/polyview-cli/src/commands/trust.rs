//! How far a fit is to be trusted: whether chains have met, whether the model
//! makes data like those given, and what another fit says.

use polyview::{CheckOptions, Comparison, Convergence, Fit, PredictiveCheck, Spreads};
use serde_json::{Value, json};

use crate::failure::Outcome;
use crate::output::{count, line, number, prose, share, table};

/// Identified quantities of a Gibbs fit, kind by kind.
pub fn convergence(fit: &Fit) -> Outcome<()> {
    let kinds = fit.record().convergence();
    if kinds.is_empty() {
        return Ok(());
    }
    line("")?;
    prose("convergence of the chains, by kind of quantity")?;
    let header = [
        "quantity",
        "number",
        "R-hat worst",
        "median",
        "ESS bulk least",
        "median",
        "ESS tail least",
    ]
    .map(str::to_owned);
    let row = |c: &Convergence| {
        vec![
            c.kind.clone(),
            c.quantities.to_string(),
            share(c.rhat),
            share(c.rhat_median),
            count(c.ess_bulk),
            count(c.ess_bulk_median),
            count(c.ess_tail),
        ]
    };
    table(&header, &kinds.iter().map(row).collect::<Vec<_>>())?;
    let by_rhat = |a: &&Convergence, b: &&Convergence| a.rhat.total_cmp(&b.rhat);
    let worst = kinds.iter().filter(|c| !c.rhat.is_nan()).max_by(by_rhat);
    if let Some(c) = worst.filter(|c| c.quantities > 1) {
        prose(format!("worst: {} (R-hat {})", c.worst, share(c.rhat)))?;
    }
    Ok(())
}

/// Checks against replicated data.
pub fn checks(fit: &Fit, replicates: usize) -> Outcome<Vec<PredictiveCheck>> {
    let options = CheckOptions {
        replicates,
        seed: fit.run_options().seed,
        ..CheckOptions::default()
    };
    Ok(fit.predictive_checks(&options)?)
}

/// Prints posterior predictive p-values.
pub fn print_checks(all: &[PredictiveCheck]) -> Outcome<()> {
    let Some(first) = all.first() else {
        return Ok(());
    };
    prose(format!(
        "posterior predictive checks ({} replicates of {} samples; p: share of replicates above the data, ties counting half)",
        first.replicates, first.samples
    ))?;
    let header = [
        "view",
        "statistic",
        "data",
        "replicates",
        "p",
        "features",
        "extreme",
    ]
    .map(str::to_owned);
    let mut rows = Vec::new();
    for check in all {
        for s in &check.statistics {
            let (defined, extreme) = s.columns_and_extremes();
            rows.push(vec![
                check.view.clone(),
                s.name.clone(),
                number(s.mean_observed),
                number(s.replicated_mean()),
                share(s.mean_p),
                defined.to_string(),
                extreme.to_string(),
            ]);
        }
    }
    table(&header, &rows)?;
    if all.iter().any(|check| check.kind.has_classes()) {
        prose("note: share of the class: of the most frequent one; the classes are its features")?;
    }
    (all.iter()).try_for_each(|check| match &check.part {
        Some(part) => prose(format!("note: {}: looked at {part}", check.view)),
        None => Ok(()),
    })
}

/// The checks as JSON.
pub fn checks_json(all: &[PredictiveCheck]) -> Value {
    all.iter()
        .map(|check| {
            let statistics: Vec<Value> = check
                .statistics
                .iter()
                .map(|s| {
                    json!({
                        "name": s.name, "columns": s.columns, "observed": s.observed,
                        "replicated": s.replicated, "lower": s.lower, "upper": s.upper, "p": s.p,
                        "mean_observed": s.mean_observed, "mean_replicated": s.mean_replicated,
                        "mean_p": s.mean_p,
                    })
                })
                .collect();
            json!({
                "view": check.view, "samples": check.samples, "replicates": check.replicates,
                "part": check.part, "statistics": statistics,
            })
        })
        .collect()
}

/// Prints how a fit compares with another one, which was found.
pub fn print_comparison(found: &Comparison, [fit, other]: [&Fit; 2]) -> Outcome<()> {
    prose(format!(
        "against the other fit, on {} samples (ratios of posterior standard deviations, this by that)",
        found.samples
    ))?;
    let header = [
        "view",
        "quantity",
        "number",
        "correlation",
        "5 %",
        "median",
        "95 %",
    ]
    .map(str::to_owned);
    let (mut rows, mut small) = (Vec::new(), Vec::new());
    for v in &found.views {
        for (what, s, correlation) in [
            ("predictor", v.predictor_spread, number(v.correlation)),
            ("weights", v.weight_spread, "-".to_owned()),
        ] {
            if s.quantities == 0 {
                continue;
            }
            rows.push(vec![
                v.view.clone(),
                what.to_owned(),
                s.quantities.to_string(),
                correlation,
                number(s.lower),
                number(s.median),
                number(s.upper),
            ]);
            if s.is_small() {
                small.push(format!("{what} of {}", v.view));
            }
        }
    }
    table(&header, &rows)?;
    prose(
        "predictor: of each cell that was looked at, in its unit; weights: of the squared length of the weights of each \
         feature that was looked at, which does not hang on how factors are numbered and turned, in squares of the unit",
    )?;
    if !small.is_empty() {
        let why = match (fit.is_sampled(), other.is_sampled()) {
            (false, true) => {
                " (usual, as this fit is by variational Bayes and the other by Gibbs sampling: the first is surer of \
                 weights than their posterior is)"
            }
            _ => "",
        };
        prose(format!(
            "less than {:.0} % of the other's spread: {}{why}",
            100.0 * Spreads::SMALL,
            small.join(", ")
        ))?;
    }
    found
        .notes
        .iter()
        .try_for_each(|n| prose(format!("note: {n}")))
}

/// The comparison as JSON.
pub fn comparison_json(found: &Comparison) -> Value {
    let spreads = |s: Spreads| {
        json!({
            "quantities": s.quantities, "lower": s.lower, "median": s.median, "upper": s.upper,
        })
    };
    let views: Vec<Value> = found
        .views
        .iter()
        .map(|v| {
            json!({
                "view": v.view, "correlation": v.correlation,
                "predictor": spreads(v.predictor_spread), "weights": spreads(v.weight_spread),
            })
        })
        .collect();
    json!({ "samples": found.samples, "views": views, "notes": found.notes })
}
