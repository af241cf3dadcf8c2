//! Which factors act in which views and groups.

use polyview::{ACTIVE_SHARE, Activity, ActivityBasis, Explained, FactorKind, Fit};

use crate::failure::Outcome;
use crate::output::{digits, line, prose, significant, table};

/// Where a factor acts: a word, and the places of the views.
fn kind(activity: &Activity, factor: usize) -> (&'static str, Vec<&str>) {
    let word = match activity.kind(factor) {
        FactorKind::Common => "shared by all",
        FactorKind::Partial(_) => "shared by some",
        FactorKind::Private(_) => "private",
        FactorKind::Inactive => "in none",
    };
    let names = activity.views.iter().enumerate();
    let acting = names.filter(|(m, _)| activity.is_active(*m, factor));
    (word, acting.map(|(_, name)| name.as_str()).collect())
}

/// Which factors act where: by the table of variance explained.
fn activity(fit: &Fit, explained: Option<&Explained>) -> Outcome<Activity> {
    Ok(match explained {
        Some(e) => e.activity(ACTIVE_SHARE)?,
        None => fit.active(ACTIVE_SHARE)?,
    })
}

/// Which factors are shared, and by which views.
pub(super) fn reach(fit: &Fit, explained: Option<&Explained>) -> Outcome<()> {
    if fit.views().len() < 2 || fit.k() == 0 {
        return Ok(());
    }
    let activity = activity(fit, explained)?;
    let basis = match activity.basis {
        ActivityBasis::Data => "explains alone, by the table below",
        ActivityBasis::Model => "explains alone in the model, as the data were not kept",
    };
    line("")?;
    prose(format!(
        "factors by the views they act in (at least {:.0} % of the view's variance, which the factor {basis}, or which is lost without it)",
        100.0 * ACTIVE_SHARE
    ))?;
    let header = ["factor", "kind", "views"].map(str::to_owned);
    let rows: Vec<Vec<String>> = (0..fit.k())
        .map(|k| {
            let (word, views) = kind(&activity, k);
            vec![(k + 1).to_string(), word.to_owned(), views.join(", ")]
        })
        .collect();
    table(&header, &rows)
}

pub(super) fn reach_json(fit: &Fit, explained: Option<&Explained>) -> Outcome<serde_json::Value> {
    let activity = activity(fit, explained)?;
    let factors: Vec<serde_json::Value> = (0..fit.k())
        .map(|k| {
            let (word, views) = kind(&activity, k);
            let of = |shares: &polyview_linalg::Mat<f64>| -> Vec<f64> {
                (0..activity.views.len()).map(|m| shares[(m, k)]).collect()
            };
            serde_json::json!({
                "kind": word,
                "views": views,
                "shares": of(&activity.share),
                "lost": of(&activity.lost),
            })
        })
        .collect();
    Ok(serde_json::json!({
        "threshold": ACTIVE_SHARE,
        "of": match activity.basis {
            ActivityBasis::Data => "data",
            ActivityBasis::Model => "model",
        },
        "factors": factors,
    }))
}

/// How strongly factors act in the groups of samples.
pub(super) fn activity_by_group(fit: &Fit) -> Outcome<()> {
    if fit.groups().is_none_or(|g| g.names.len() < 2) || fit.k() == 0 {
        return Ok(());
    }
    let activity = fit.group_activity()?;
    let relative = activity.relative();
    line("")?;
    prose(
        "size of the factors by group: mean square, relative to the largest (no share of variance)",
    )?;
    let mut header = vec!["group".to_owned()];
    header.extend((1..=fit.k()).map(|k| k.to_string()));
    let rows: Vec<Vec<String>> = activity
        .groups
        .iter()
        .enumerate()
        .map(|(g, name)| {
            let numbers =
                (0..fit.k()).map(|k| significant(relative[(g, k)], digits().unwrap_or(2)));
            std::iter::once(name.clone()).chain(numbers).collect()
        })
        .collect();
    table(&header, &rows)
}

pub(super) fn group_activity_json(fit: &Fit) -> Outcome<serde_json::Value> {
    if fit.groups().is_none_or(|g| g.names.len() < 2) {
        return Ok(serde_json::Value::Null);
    }
    let activity = fit.group_activity()?;
    let rows = |m: &polyview_linalg::Mat<f64>| -> Vec<Vec<f64>> {
        let row = |g: usize| (0..m.ncols()).map(|k| m[(g, k)]).collect();
        (0..m.nrows()).map(row).collect()
    };
    Ok(serde_json::json!({
        "groups": activity.groups,
        "mean_square": rows(&activity.mean_square),
        "prior_variance": activity.prior_variance.as_ref().map(rows),
    }))
}
