//! Which weights are not zero, and how counts spread: parts of `inspect`.

use polyview::{Finding, Fit, ViewInfo};
use polyview_linalg::Mat;

use crate::failure::Outcome;
use crate::output::{line, number, prose, table};

/// Probability above which a weight counts as included.
const INCLUDED: f64 = 0.5;

/// Numbers of weights that are probably not zero, one a factor, none of a factor that does nothing in the view; nothing for a
/// view without spike and slab.
pub fn included(fit: &Fit, view: &ViewInfo) -> Outcome<Option<Vec<Option<usize>>>> {
    if view.choices.selection.finding() != Some(Finding::Inclusion) {
        return Ok(None);
    }
    let p = fit.inclusion(&view.name)?;
    let idle = fit.idle(&view.name)?;
    let of_factor = |k: usize| p.col(k).iter().filter(|p| **p > INCLUDED).count();
    let count = |k: usize| (!idle[k]).then(|| of_factor(k));
    Ok(Some((0..p.ncols()).map(count).collect()))
}

/// A table of [`included`].
pub fn inclusions(fit: &Fit) -> Outcome<()> {
    let mut rows = Vec::new();
    for v in fit.views() {
        if let Some(counts) = included(fit, v)? {
            let mut row = vec![v.name.clone(), v.weight_rows().len().to_string()];
            row.extend(
                counts
                    .iter()
                    .map(|c| c.map_or_else(|| "-".into(), |c| c.to_string())),
            );
            rows.push(row);
        }
    }
    if rows.is_empty() {
        return Ok(());
    }
    line("")?;
    prose(
        "weights that are not zero with a probability above 1/2, by factor (-: it does nothing in the view, all its weights there are as \
         good as zero)",
    )?;
    let mut header = vec!["view".to_owned(), "of".to_owned()];
    header.extend((1..=fit.k()).map(|k| k.to_string()));
    table(&header, &rows)
}

/// Effective numbers of features, one a factor; nothing for a view without
/// horseshoe weights.
pub fn effective(fit: &Fit, view: &ViewInfo) -> Outcome<Option<Vec<f64>>> {
    Ok(match view.choices.selection.finding() {
        Some(Finding::EffectiveRows) => Some(fit.effective_features(&view.name)?),
        _ => None,
    })
}

/// A table of [`effective`].
pub fn shrinkage(fit: &Fit) -> Outcome<()> {
    let mut rows = Vec::new();
    for v in fit.views() {
        if let Some(counts) = effective(fit, v)? {
            let mut row = vec![v.name.clone(), v.weight_rows().len().to_string()];
            row.extend(counts.iter().map(|c| number(*c)));
            rows.push(row);
        }
    }
    if rows.is_empty() {
        return Ok(());
    }
    line("")?;
    prose(
        "effective number of features, by factor (sum of squares squared, over sum of fourth powers)",
    )?;
    let mut header = vec!["view".to_owned(), "of".to_owned()];
    header.extend((1..=fit.k()).map(|k| k.to_string()));
    table(&header, &rows)
}

/// The sizes of negative binomial counts.
pub fn sizes(fit: &Fit) -> Outcome<()> {
    let what = "sizes of the counts of a feature (variance = mean + mean^2 / size)";
    spread(fit, what, Fit::sizes)
}

/// The shapes of gamma numbers.
pub fn shapes(fit: &Fit) -> Outcome<()> {
    let what = "shapes of the numbers of a feature (variance = mean^2 / shape)";
    spread(fit, what, Fit::shapes)
}

/// The smallest, the middle and the largest of a number that the features of a view have.
fn spread(
    fit: &Fit,
    what: &str,
    of: impl Fn(&Fit, &str) -> polyview::Result<Option<Mat<f64>>>,
) -> Outcome<()> {
    let mut rows = Vec::new();
    for v in fit.views() {
        let Some(all) = of(fit, &v.name)? else {
            continue;
        };
        for g in 0..all.ncols() {
            let mut sizes = all.col_as_slice(g).to_vec();
            sizes.sort_by(f64::total_cmp);
            let at = |share: f64| {
                let place = (share * sizes.len().saturating_sub(1) as f64).round() as usize;
                sizes.get(place).map_or_else(String::new, |r| number(*r))
            };
            let called = match fit.groups() {
                Some(groups) if all.ncols() > 1 => format!("{} ({})", v.name, groups.names[g]),
                _ => v.name.clone(),
            };
            rows.push(vec![called, at(0.0), at(0.5), at(1.0)]);
        }
    }
    if rows.is_empty() {
        return Ok(());
    }
    line("")?;
    prose(what)?;
    let header = ["view", "smallest", "middle", "largest"].map(str::to_owned);
    table(&header, &rows)
}
