//! Variance explained, as tables and as JSON.

use polyview::{ACTIVE_SHARE, Activity, Explained, Fit, Repeated, ViewInfo};
use serde_json::{Value, json};

use crate::failure::Outcome;
use crate::output::{line, percent, prose, table};

/// Variance explained within one group of samples.
pub struct GroupShares {
    /// Name of the group.
    pub name: String,
    /// Number of its samples.
    pub samples: usize,
    /// The shares.
    pub explained: Explained,
}

impl GroupShares {
    /// Name, size and the shares of each view.
    pub fn to_json(&self) -> Value {
        json!({
            "name": self.name,
            "samples": self.samples,
            "views": self.explained.views.iter().enumerate().map(|(i, v)| json!({
                "name": v,
                "observed": self.explained.observed[i],
                "explained": shares(&self.explained, i),
            })).collect::<Vec<_>>(),
        })
    }
}

/// The shares within each group; none without groups or without data.
pub fn explained_by_group(fit: &Fit) -> Outcome<Vec<GroupShares>> {
    let (Some(groups), Ok(_)) = (fit.groups(), fit.data()) else {
        return Ok(Vec::new());
    };
    let mut all = Vec::with_capacity(groups.names.len());
    for (g, name) in groups.names.iter().enumerate() {
        all.push(GroupShares {
            name: name.clone(),
            samples: groups
                .of_sample
                .iter()
                .filter(|&&s| s as usize == g)
                .count(),
            explained: fit.explain_group(name)?,
        });
    }
    Ok(all)
}

/// The shares of one view; `null` where it does not vary.
pub fn shares(e: &Explained, view: usize) -> Value {
    let mut out = json!({
        "total": e.total[view],
        "deviance": finite(e.deviance[view]),
        "infinite": e.infinite[view],
        "marginal": (0..e.factors).map(|k| e.marginal[(view, k)]).collect::<Vec<_>>(),
        "unique": (0..e.factors).map(|k| e.unique[(view, k)]).collect::<Vec<_>>(),
    });
    for (name, of) in beside(e) {
        out[name] = json!(of[view]);
    }
    if let Some(share) = finite(e.similarities[view]) {
        out["similarities"] = json!(share);
    }
    if let Some(share) = finite(e.about_zero[view]) {
        out["about-zero"] = json!(share);
    }
    out
}

/// The shares of what stands beside the factors: none in a fit that was not adjusted.
fn beside(e: &Explained) -> impl Iterator<Item = (&'static str, &Vec<f64>)> {
    let all = [
        ("covariates", &e.covariates),
        ("offset", &e.offset),
        ("together", &e.together),
    ];
    all.into_iter().filter(|(_, of)| !of.is_empty())
}

/// Those of them that a table has: of what was asked for in no view nothing is explained in any.
fn asked(e: &Explained) -> impl Iterator<Item = (&'static str, &Vec<f64>)> {
    beside(e).filter(|(_, of)| of.iter().any(|x| *x != 0.0))
}

/// Shares of all factors' data beside those of their predictor: of the deviance, where some views have one, of
/// similarities themselves, where some are such, of squares about zero, where a fit has no means, and of what a fit was
/// adjusted for.
pub fn more_columns<'a>(fit: &Fit, e: &'a Explained) -> Vec<(&'static str, &'a [f64])> {
    let deviance = has_deviance(fit).then_some(("deviance", &e.deviance));
    let similarities = has_similarities(fit).then_some(("similarities", &e.similarities));
    let about_zero = has_about_zero(e).then_some(("about zero", &e.about_zero));
    let all = (deviance.into_iter().chain(similarities).chain(about_zero)).chain(asked(e));
    all.map(|(name, of)| (name, of.as_slice())).collect()
}

/// A share, where there is one.
pub fn finite(share: f64) -> Option<f64> {
    Some(share).filter(|d| d.is_finite())
}

/// Whether a view has a deviance, known or not: it holds labels, counts or levels.
fn can_deviate(view: &ViewInfo) -> bool {
    let likelihood = &view.choices.likelihood;
    !(likelihood.is_real() || likelihood.is_rank() || likelihood.is_similarity())
}

/// Whether some views are not numbers, and so have a deviance.
fn has_deviance(fit: &Fit) -> bool {
    fit.views().iter().any(can_deviate)
}

/// Whether some views are similarities, of which there is a share beside that of their latent rows.
fn has_similarities(fit: &Fit) -> bool {
    (fit.views().iter()).any(|v| v.choices.likelihood.is_similarity())
}

/// Whether some views have no means in the fit, so that its factors explain squares about zero.
fn has_about_zero(e: &Explained) -> bool {
    e.about_zero.iter().any(|x| x.is_finite())
}

/// What to say of views that the fit has no means of; nothing where there are none.
pub fn about_zero(e: &Explained) -> String {
    let all = e.views.iter().zip(&e.about_zero);
    let names: Vec<&str> = all
        .filter(|(_, share)| share.is_finite())
        .map(|(name, _)| name.as_str())
        .collect();
    if names.is_empty() {
        String::new()
    } else {
        format!(
            "; of {}: about each feature's mean as everywhere, although the fit has no means of it; 'about zero' is the share of \
             squares about zero, which is what its factors explain",
            names.join(", ")
        )
    }
}

/// Why views have no deviance that should have one.
fn without_deviance(fit: &Fit, e: &Explained) -> Outcome<()> {
    for (at, view) in fit.views().iter().enumerate() {
        if !can_deviate(view) || e.deviance[at].is_finite() {
            continue;
        }
        let why = match &e.infinite[at] {
            Some(feature) => format!("the expected counts of '{feature}' are beyond all numbers"),
            None => "its features do not vary, or one of them varies as no law of the model does (sizes near 0)"
                .to_owned(),
        };
        prose(format!(
            "{}: no deviance can be told, as {why}; what is told of it is of the linear predictor alone",
            view.name
        ))?;
    }
    Ok(())
}

/// What the deviance of counts is, by view; nothing where there are none.
pub fn about_counts(fit: &Fit) -> Outcome<()> {
    let counts = |v: &&ViewInfo| {
        let likelihood = &v.choices.likelihood;
        likelihood.is_count() && !likelihood.has_trials()
    };
    let mut names = fit.views().iter().filter(counts).map(|v| v.name.as_str());
    let Some(first) = names.next() else {
        return Ok(());
    };
    let names = names.fold(first.to_owned(), |all, name| format!("{all}, {name}"));
    prose(format!(
        "deviance of {names}: the share of 2 sum(ln p(counts | themselves) - ln p(counts | expected counts)) that is less than \
         with each feature's mean for its expected count; p is negative binomial, with the sizes above, where there are such \
         (nb, pln), and else Poisson; expected counts are at the means of factors, weights and intercepts, the noise of log \
         rates (pln) added; a few features of large counts may decide it"
    ))
}

/// What to say of the column of deviances, which covariates and offsets take part in; nothing where there is none.
pub fn about_deviance(fit: &Fit, e: &Explained) -> String {
    if !has_deviance(fit) {
        return String::new();
    }
    let positive = |v: &ViewInfo| v.choices.likelihood.is_positive();
    let which = if fit.views().iter().any(positive) {
        "of labels, counts and numbers above 0"
    } else {
        "of labels and counts"
    };
    let beside = if e.together.is_empty() {
        ""
    } else {
        ", by all that stands beside the factors as well"
    };
    format!("; {which}: of their linear predictor, deviance: of the data{beside}")
}

/// What to say of views whose variance is that of normal scores, by their scaling or
/// because they are ranks, and of censored ones, of which exact cells alone are looked at; nothing
/// where there is none.
pub fn about_scores(fit: &Fit) -> String {
    let of_scores = |v: &ViewInfo| v.scaling.scores.is_some() || v.choices.likelihood.is_rank();
    let censored = |v: &ViewInfo| v.choices.likelihood.is_censored();
    let of = |is: &dyn Fn(&ViewInfo) -> bool, what: &str| {
        let all = fit.views().iter().filter(|v| is(v));
        let names: Vec<&str> = all.map(|v| v.name.as_str()).collect();
        if names.is_empty() {
            String::new()
        } else {
            format!("; of {}: of its {what}", names.join(", "))
        }
    };
    let similarity = |v: &ViewInfo| v.choices.likelihood.is_similarity();
    of(&of_scores, "normal scores")
        + &of(
            &censored,
            "exact cells alone, which do not reach as far as all do",
        )
        + &of(
            &similarity,
            "samples' latent rows, similarities: of the similarities themselves, each pair once, about the mean of all, by \
             what factors and intercepts alone expect",
        )
}

/// What to say of the means that shares are about where groups of samples have intercepts of their own;
/// nothing where none have.
pub fn about_groups(fit: &Fit) -> &'static str {
    if fit.has_group_intercepts() {
        "; about each feature's mean in its group, as intercepts are by group"
    } else {
        ""
    }
}

/// Variance explained by view and factor, and the deviance where views are not
/// numbers; of all samples, or of those of one group.
pub fn variance_table(fit: &Fit, e: &Explained, group: Option<&str>) -> Outcome<()> {
    let with_deviance = has_deviance(fit);
    let with_similarities = has_similarities(fit);
    let mut header = vec!["view".to_owned()];
    header.extend(with_deviance.then(|| "deviance".to_owned()));
    header.extend(with_similarities.then(|| "similarities".to_owned()));
    header.extend(has_about_zero(e).then(|| "about zero".to_owned()));
    header.extend(asked(e).map(|(name, _)| name.to_owned()));
    header.push("all".to_owned());
    header.extend((1..=fit.k()).map(|k| k.to_string()));
    let rows: Vec<Vec<String>> = fit
        .views()
        .iter()
        .enumerate()
        .map(|(i, v)| {
            let mut row = vec![v.name.clone()];
            row.extend(with_deviance.then(|| percent(e.deviance[i])));
            row.extend(with_similarities.then(|| percent(e.similarities[i])));
            row.extend(has_about_zero(e).then(|| percent(e.about_zero[i])));
            row.extend(asked(e).map(|(_, of)| percent(of[i])));
            row.push(percent(e.total[i]));
            row.extend((0..fit.k()).map(|k| percent(e.marginal[(i, k)])));
            row
        })
        .collect();
    table(&header, &rows)?;
    without_deviance(fit, e)?;
    repeated(fit, e)?;
    together(e, group)
}

/// Factors that repeat training data: what the table has of them is not explained.
fn repeated(fit: &Fit, e: &Explained) -> Outcome<()> {
    for found in fit.repeating(e)? {
        let v = &fit.views()[found.view];
        let Some(m) = e.views.iter().position(|name| *name == v.name) else {
            continue;
        };
        let others: f64 = (0..e.factors)
            .filter(|k| !found.factors.contains(k))
            .map(|k| e.marginal[(m, k)])
            .sum();
        let names: Vec<String> = found.factors.iter().map(|k| (k + 1).to_string()).collect();
        let why = match found.what {
            Repeated::Labels => {
                "act in no view but those of support vector machines and repeat its training labels"
            }
            Repeated::Feature if names.len() == 1 => "act in no other view and repeat one feature",
            Repeated::Feature => "act in no other view and repeat single features",
            Repeated::WeightedLabels => "act in no other view and repeat the labels of one column",
        };
        prose(format!(
            "{}: factor(s) {} {why}; what they take is not explained, which leaves {} % of all{}",
            v.name,
            names.join(", "),
            percent(others),
            if e.deviance[m].is_nan() {
                ""
            } else {
                "; the deviance has what they take as well"
            },
        ))?;
    }
    Ok(())
}

/// Factors that count in a view only together with others, which their shares in the table
/// do not show: what is lost without them. Nothing where there are none.
fn together(e: &Explained, group: Option<&str>) -> Outcome<()> {
    let cells = (0..e.views.len()).flat_map(|m| (0..e.factors).map(move |k| (m, k)));
    let mut rows = Vec::new();
    for (m, k) in cells {
        let (alone, lost) = (e.marginal[(m, k)], e.unique[(m, k)]);
        let by_loss = Activity::acts(alone, Some(lost), ACTIVE_SHARE)
            && !Activity::acts(alone, None, ACTIVE_SHARE);
        if by_loss || Activity::shown(alone) < 0.0 {
            let factor = (k + 1).to_string();
            rows.push(vec![
                e.views[m].clone(),
                factor,
                percent(alone),
                percent(lost),
            ]);
        }
    }
    if rows.is_empty() {
        return Ok(());
    }
    let within = group.map_or_else(String::new, |name| format!(" within group '{name}'"));
    line("")?;
    prose(format!(
        "Factors that explain a view{within} only together with others, or nothing of it. Below zero, the view is predicted worse than by its means with that factor alone; what is lost without it says whether the prediction of all rests on it, and below zero that it would be better without (in %)",
    ))?;
    let header = ["view", "factor", "alone", "lost without it"].map(str::to_owned);
    table(&header, &rows)
}
