//! Figures of factors, weights and their correlations.

use super::{Figure, NamedPicture, figure, named};
use crate::ReportError;
use crate::input::{Factors, Report};
use crate::plots::{
    associations, correlations_of, draw_correlations, draw_factor_against, draw_factor_histogram,
    draw_factor_pair, draw_inclusion, draw_relevance, draw_top_weights, has_values,
};
use crate::svg::number::count;
use crate::svg::palette::CATEGORIES;
use polyview::{Metadata, MetadataValues};
use std::fmt::Write as _;

/// Pairs among the leading factors.
fn leading_pairs(report: &Report, factors: &Factors) -> Vec<(usize, usize)> {
    let leading = factors.names.len().min(report.options.scatter_factors);
    (0..leading)
        .flat_map(|i| (i + 1..leading).map(move |j| (i, j)))
        .collect()
}

pub(crate) fn factors(report: &Report) -> Result<Vec<Figure>, ReportError> {
    let Some(factors) = &report.factors else {
        return Ok(Vec::new());
    };
    let pairs = leading_pairs(report, factors);
    let columns: Vec<(usize, &Metadata)> = report
        .metadata
        .iter()
        .enumerate()
        .filter(|(_, c)| has_values(c))
        .take(report.options.metadata_pictures)
        .collect();
    let mut out = Vec::new();
    if factors.names.len() == 1
        || (columns.is_empty() && pairs.is_empty() && !factors.names.is_empty())
    {
        let caption =
            "How the samples spread along the leading factor. Two humps hint at two groups."
                .to_owned();
        out.push(figure(
            caption,
            vec![named(
                "factor1-histogram",
                draw_factor_histogram(factors, 0)?,
            )],
        ));
    }
    if columns.is_empty() && !pairs.is_empty() {
        let panels = pairs
            .iter()
            .map(|&pair| pair_picture(report, factors, pair, None))
            .collect::<Result<Vec<_>, _>>()?;
        out.push(figure(pair_caption(report, factors, None), panels));
    }
    for (place, (index, column)) in columns.into_iter().enumerate() {
        let mut panels = Vec::new();
        for &pair in &pairs {
            panels.push(pair_picture(report, factors, pair, Some((index, column)))?);
        }
        let mut heading = format!("By {}", column.name);
        if !panels.is_empty() {
            let caption = if place == 0 {
                pair_caption(report, factors, Some(column))
            } else {
                format!("The same samples. {}", colour_sentence(column))
            };
            out.push(Figure {
                heading: std::mem::take(&mut heading),
                caption,
                panels,
            });
        }
        let closest = closest_factors(report, factors, column);
        if closest.is_empty() {
            continue;
        }
        let panels = closest
            .into_iter()
            .map(|k| {
                let stem = format!("factor{}-by-column{}", k + 1, index + 1);
                Ok(named(
                    stem,
                    draw_factor_against(factors, k, column, &report.options)?,
                ))
            })
            .collect::<Result<Vec<_>, ReportError>>()?;
        let caption = closest_caption(report, column);
        out.push(Figure {
            heading,
            caption,
            panels,
        });
    }
    Ok(out)
}

fn closest_caption(report: &Report, column: &Metadata) -> String {
    let how = match &column.values {
        MetadataValues::Categories(_) => {
            "Each mark is a sample; the box spans the middle half of the samples, the thick line is the median \
             and the whiskers reach the last sample within one and a half box lengths. Boxes that do not \
             overlap separate the categories well."
        }
        MetadataValues::Numbers(_) => {
            "Each mark is a sample; r is the correlation. A cloud along a slope says that the factor carries \
             this quantity."
        }
    };
    let mut caption = format!(
        "The factors that go most closely with {}. {how}",
        column.name
    );
    let values = match &column.values {
        MetadataValues::Categories(v) => v.len(),
        MetadataValues::Numbers(v) => v.len(),
    };
    if values > report.options.max_points / CATEGORIES {
        caption.push_str(
            " In a crowd evenly spaced samples are drawn; boxes and correlations use all.",
        );
    }
    caption
}

fn colour_sentence(column: &Metadata) -> String {
    match &column.values {
        MetadataValues::Categories(_) => format!("Colour and shape give {}.", column.name),
        MetadataValues::Numbers(_) => format!("Colour gives {}.", column.name),
    }
}

fn pair_picture(
    report: &Report,
    factors: &Factors,
    pair: (usize, usize),
    colour: Option<(usize, &Metadata)>,
) -> Result<NamedPicture, ReportError> {
    let picture = draw_factor_pair(factors, pair, colour.map(|c| c.1), &report.options)?;
    let suffix = colour.map_or_else(String::new, |(i, _)| format!("-column{}", i + 1));
    Ok(named(
        format!("factors{}-{}{suffix}", pair.0 + 1, pair.1 + 1),
        picture,
    ))
}

fn pair_caption(report: &Report, factors: &Factors, column: Option<&Metadata>) -> String {
    let mut caption =
        "Each mark is a sample, placed by the posterior means of two factors.".to_owned();
    if let Some(column) = column {
        caption.push(' ');
        caption.push_str(&colour_sentence(column));
    }
    caption.push_str(" Samples that lie together are alike in the views these factors act on; the sign of a factor is arbitrary.");
    if factors.sds.is_some() {
        caption.push_str(" Crosses show one posterior standard deviation.");
    }
    let most = report.options.max_points;
    if factors.samples.len() > most {
        let _ = write!(
            caption,
            " {} evenly spaced samples of {} are drawn.",
            count(most),
            count(factors.samples.len())
        );
    }
    caption
}

/// The factors most strongly associated with a column, strongest first: the strongest in any case,
/// others from two per cent of shared variance on.
fn closest_factors(report: &Report, factors: &Factors, column: &Metadata) -> Vec<usize> {
    let mut strength: Vec<(f64, usize)> = (0..factors.names.len())
        .filter_map(|k| {
            Some((
                associations(&factors.means.column(k), column)?.strength(),
                k,
            ))
        })
        .collect();
    strength.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut shown = 0;
    strength.retain(|(found, _)| {
        shown += 1;
        shown == 1 || (*found >= 0.02 && shown <= report.options.scatter_factors)
    });
    strength.into_iter().map(|(_, k)| k).collect()
}

pub(crate) fn weights(report: &Report) -> Result<Vec<Figure>, ReportError> {
    let names = report.factor_names();
    let mut out = Vec::new();
    if report.weights.is_empty() {
        return Ok(out);
    }
    for (k, name) in names.iter().enumerate().take(report.options.weight_factors) {
        let panels = report
            .weights
            .iter()
            .enumerate()
            .map(|(m, w)| {
                let stem = format!("weights-factor{}-view{}", k + 1, m + 1);
                Ok(named(
                    stem,
                    draw_top_weights(w, k, name, report.options.top_weights)?,
                ))
            })
            .collect::<Result<Vec<_>, ReportError>>()?;
        let caption = if k == 0 {
            weights_caption(report, name)
        } else {
            format!("The same for {name}.")
        };
        out.push(Figure {
            heading: name.clone(),
            caption,
            panels,
        });
    }
    Ok(out)
}

fn weights_caption(report: &Report, name: &str) -> String {
    let mut caption = format!(
        "The features with the largest weights on {name} in each view, largest first. Blue dots rise with the \
         factor, orange triangles fall with it."
    );
    if report.weights.iter().any(|w| w.sds.is_some()) {
        caption.push_str(
            " Bars are ±2 posterior standard deviations: a bar that crosses the dashed line at zero leaves the \
             sign open.",
        );
    }
    caption
        .push_str(" Weights of different views are on different scales: compare within a panel.");
    caption
}

pub(crate) fn inclusion(report: &Report) -> Result<Vec<Figure>, ReportError> {
    if report.inclusion.is_empty() {
        return Ok(Vec::new());
    }
    let names = report.factor_names();
    let panels = report
        .inclusion
        .iter()
        .enumerate()
        .map(|(m, p)| {
            let weights = report.weights.iter().find(|w| w.view == p.view);
            let picture = draw_inclusion(p, weights, &names, report.options.inclusion_features)?;
            Ok(named(format!("inclusion{}", m + 1), picture))
        })
        .collect::<Result<Vec<_>, ReportError>>()?;
    let caption = "The probability that the weight of a feature on a factor is not zero (spike and slab): the leading \
        features of each factor in turn, as in the pictures of the weights. Yellow: surely there; dark: not needed. \
        Rows with several yellow cells are features that several factors share; empty columns are factors that do nothing in the view."
        .to_owned();
    Ok(vec![figure(caption, panels)])
}

pub(crate) fn relevance(report: &Report) -> Result<Vec<Figure>, ReportError> {
    if report.relevance.is_empty() {
        return Ok(Vec::new());
    }
    let panels = report
        .relevance
        .iter()
        .enumerate()
        .map(|(m, r)| {
            let picture = draw_relevance(r, report.options.top_weights)?;
            Ok(named(format!("relevance{}", m + 1), picture))
        })
        .collect::<Result<Vec<_>, ReportError>>()?;
    let caption = "How much the factors need each feature, relative to the median of its view (the dashed line): \
        the inverse of the precision that the model learnt for all weights of the feature together. Only \
        ratios within a view mean something; compare within a panel."
        .to_owned();
    Ok(vec![figure(caption, panels)])
}

pub(crate) fn correlations(report: &Report) -> Result<Vec<Figure>, ReportError> {
    let names = report.factor_names();
    if names.len() < 2 {
        return Ok(Vec::new());
    }
    let Some(factors) = &report.factors else {
        return Ok(Vec::new());
    };
    let table = correlations_of(&factors.means);
    let caption = "Correlations between factors, of the posterior means over the samples. White cells are what \
        one hopes for: the factors describe different things. A dark cell off zero says that two factors move \
        together, so read their weights as a pair."
        .to_owned();
    Ok(vec![figure(
        caption,
        vec![named(
            "factor-correlations",
            draw_correlations(&names, &table)?,
        )],
    )])
}
