//! What is remarkable about data before a fit.

use polyview_core::{
    Event, FeatureScaling, Finding, Groups, Journal, LikelihoodSpecies, NoiseBy, Observed,
    RowGroups, View,
};

use super::group_remarks::features_by_group;
use super::{TrainingScale, ViewInfo, cells};
use crate::assemble::{has_prior_of_draws, several, vague};
use crate::compose::Composed;
use crate::spec::ModelSpec;

/// Notes the features of a view that do not vary, and those that were never observed: each feature
/// once. `once` are those of which [`seen_once`] tells.
pub(super) fn note_features(info: &ViewInfo, once: &[usize], journal: &mut Journal) {
    let block = format!("data/{}", info.name);
    let mut say = |event: Event| journal.note(0, block.clone(), event);
    let constant = info.scaling.constant.iter().filter(|d| info.knows(**d));
    let (varying, constant): (Vec<usize>, Vec<usize>) =
        constant.partition(|d| spread_of(info, **d) > 0.0);
    let (rounded, tiny): (Vec<usize>, Vec<usize>) = varying.into_iter().partition(|d| {
        let training = info.training.as_ref();
        training.is_some_and(|t| t.is_rounding(*d))
    });
    let known = info.features.len() - info.unobserved.len();
    // of a single sample there is nothing to be said
    let whole = info.observed > known;
    if let Some(&first) = tiny.first() {
        let spread = tiny.iter().map(|&d| spread_of(info, d));
        let largest = spread.fold(0.0, f64::max);
        let note = format!(
            "{} of {known} feature(s) vary by so little that the square is 0 in 64-bit numbers, first '{}' \
             (standard deviations of {largest:.0e} at most), and cannot be scaled: nothing that is said of \
             them is to be trusted; multiply the view by a power of ten",
            tiny.len(),
            info.features[first]
        );
        say(Event::Warning { note });
    }
    if let Some(&first) = rounded.first() {
        let note = format!(
            "{} of {known} feature(s) vary by so little next to their mean that rounding decides, first \
             '{}' (mean {:.0e}, standard deviation {:.0e}), and are not scaled: what is found in them may be \
             rounding alone; subtract the mean where the values come from, or leave them out",
            rounded.len(),
            info.features[first],
            info.training.as_ref().map_or(0.0, |t| t.mean[first]),
            spread_of(info, first)
        );
        say(Event::Warning { note });
    }
    // rank views have a note of their own
    let ranks = info.choices.likelihood.is_rank();
    let whole = whole && constant.len() == known;
    let told = |d: &usize| ranks || once.contains(d);
    let constant: Vec<usize> = constant.into_iter().filter(|d| !told(d)).collect();
    if let Some(&first) = constant.first() {
        say(if whole {
            let note = "none of its features varies: the view carries no information about the \
                        samples; leave it out, or make sure that it is the right file";
            Event::Warning { note: note.into() }
        } else {
            let zeros = constant
                .iter()
                .filter(|d| is_without_counts(info, **d))
                .count();
            let zeros = if zeros > 0 {
                format!(" ({zeros} without a count above zero)")
            } else {
                String::new()
            };
            Event::Data {
                note: format!(
                    "{} feature(s) do not vary{zeros}, first '{}': kept, but they carry no information, and what fills \
                     their holes is a guess",
                    constant.len(),
                    info.features[first]
                ),
            }
        });
    }
    if let Some(note) = info.unobserved_note() {
        say(Event::Data { note });
    }
    if let Some(note) = mixed_units(info) {
        say(Event::Warning { note });
    }
}

/// Standard deviation of the training values of a feature; 0 where nothing is
/// known of it.
fn spread_of(info: &ViewInfo, feature: usize) -> f64 {
    info.training.as_ref().map_or(0.0, |t| t.sd[feature])
}

/// Whether all counts of a feature were zero.
fn is_without_counts(info: &ViewInfo, feature: usize) -> bool {
    let zero = |t: &TrainingScale| t.mean[feature] == 0.0 && t.sd[feature] == 0.0;
    info.choices.likelihood.is_count() && info.training.as_ref().is_some_and(zero)
}

/// Whether a feature was observed in one sample alone.
pub(crate) fn is_seen_once(view: &View, feature: usize) -> bool {
    let mut seen = (0..view.n_samples()).filter(|n| view.is_observed(*n, feature));
    seen.next().is_some() && seen.next().is_none()
}

/// Features of counts that were observed in one sample alone.
pub(super) fn seen_once(info: &ViewInfo, view: &View) -> Vec<usize> {
    let likelihood = &info.choices.likelihood;
    if !likelihood.is_count() || likelihood.has_trials() || view.n_samples() < 2 {
        return Vec::new();
    }
    (0..view.n_features())
        .filter(|d| is_seen_once(view, *d))
        .collect()
}

/// What is to be said of features of counts that were observed in one sample alone, if there are any.
pub(super) fn seen_once_note(info: &ViewInfo, found: &[usize]) -> Option<String> {
    let first = &info.features[*found.first()?];
    Some(format!(
        "{} feature(s) of counts were observed in one sample alone, first '{first}': nothing says how much they vary, and \
         what is predicted of them elsewhere is a guess of any size (holes are filled with medians); leave them out",
        found.len()
    ))
}

/// Counts above this are more often something else: sums, areas, or numbers
/// that were scaled.
const LARGE_COUNT: f64 = 1e6;

/// What is to be said of counts above a million, if there are any.
pub(super) fn large_counts(info: &ViewInfo, view: &View, samples: &[String]) -> Option<String> {
    if !info.choices.likelihood.is_count() {
        return None;
    }
    let (mut cells, mut largest) = (0usize, (0.0, 0, 0));
    let mut column = vec![0.0; view.n_samples()];
    for d in 0..view.n_features() {
        view.write_column(d, &mut column);
        for (n, &x) in column.iter().enumerate() {
            cells += usize::from(x > LARGE_COUNT);
            if x > largest.0 {
                largest = (x, n, d);
            }
        }
    }
    let (x, n, d) = largest;
    let species = info.choices.likelihood.species();
    let better = if species.is_some_and(LikelihoodSpecies::takes_large_counts) {
        ""
    } else {
        "; poisson-log-normal may suit them better"
    };
    (cells > 0).then(|| {
        format!(
            "{cells} count(s) above 1000000, the largest {x} (sample '{}', feature '{}'): make sure that \
             they are counts{better}; if they are not, fit the view (or its logarithm) as gaussian",
            samples[n], info.features[d]
        )
    })
}

/// Robust standard deviations beyond which a single training value is more often a
/// slip of the pen than a measurement: no sample of a normal distribution has one
/// beyond ten.
const SLIP: f64 = 1e3;

/// Width of the middle half of a normal distribution, standard deviations.
const MIDDLE_HALF: f64 = 1.349;

/// What is to be said of single values of a real view that lie far from the middle of
/// their feature, by its quartiles, if there are any. Working units serve as well as
/// data units: distances are relative.
pub(super) fn slips(info: &ViewInfo, view: &View, samples: &[String]) -> Option<String> {
    if !info.choices.likelihood.is_real() {
        return None;
    }
    let (mut count, mut worst) = (0, (0.0, 0, 0));
    for d in 0..view.n_features() {
        let mut values = cells(view, d);
        values.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (Some(lower), Some(middle), Some(upper)) = (
            quantile(&values, 0.25),
            quantile(&values, 0.5),
            quantile(&values, 0.75),
        ) else {
            continue;
        };
        let limit = SLIP * (upper - lower) / MIDDLE_HALF;
        let far = |x: f64| (x - middle).abs() > limit;
        // sorted: the ends are the farthest
        let ends = [values.first(), values.last()];
        if upper <= lower || !ends.into_iter().flatten().any(|v| far(v.0)) {
            continue;
        }
        for n in 0..view.n_samples() {
            if let Some(x) = view.value(n, d).filter(|x| far(*x)) {
                count += 1;
                let off = SLIP * (x - middle).abs() / limit;
                if off > worst.0 {
                    worst = (off, n, d);
                }
            }
        }
    }
    let (off, n, d) = worst;
    (count > 0).then(|| {
        format!(
            "{count} value(s) more than {SLIP} standard deviations from the middle of their feature (both by \
             quartiles), the farthest {off:.0e} (sample '{}', feature '{}'): make sure that they are no \
             mistakes; for heavy tails take logarithms, or scaling = \"normal-scores\" (--scaling)",
            samples[n], info.features[d]
        )
    })
}

/// Quantile of sorted values with their numbers: the least that so large a share does
/// not exceed; `None` of none.
fn quantile(sorted: &[(f64, f64)], share: f64) -> Option<f64> {
    let all: f64 = sorted.iter().map(|v| v.1).sum();
    let mut below = 0.0;
    let reached = |(_, cells): &&(f64, f64)| {
        below += cells;
        below >= share * all
    };
    sorted.iter().find(reached).map(|v| v.0)
}

/// Share of the variance of a view that a tenth of its features holds at most where they
/// are on one scale. Of views that are (gene expression, methylation, proteins, drug
/// responses, lipids, pixels) the largest tenth holds 0.12 to 0.63; of views of mixed
/// units (areas beside ticks, spectral beside rhythmic features, coordinates beside
/// concentrations, raw counts) 0.91 to 1.00.
const MOST_OF_A_TENTH: f64 = 0.9;

/// Most features that a warning names.
const NAMED: usize = 3;

/// What is to be said of a real view of which few features make nearly all the variance,
/// where one number scales them all: weights of all features have one prior for each
/// factor, in these units, so that factors describe those few alone.
fn mixed_units(info: &ViewInfo) -> Option<String> {
    let one_scale = matches!(
        info.choices.scaling,
        FeatureScaling::None | FeatureScaling::View
    );
    if !info.choices.likelihood.is_real() || !one_scale {
        return None;
    }
    let sd = &info.training.as_ref()?.sd;
    let mut order: Vec<usize> = (0..sd.len()).filter(|d| sd[*d] > 0.0).collect();
    order.sort_by(|a, b| sd[*b].total_cmp(&sd[*a]));
    let (&widest, &middle) = (order.first()?, order.get(order.len() / 2)?);
    // relative to the largest, so that nothing overflows
    let variance = |d: &usize| (sd[*d] / sd[widest]).powi(2);
    let all: f64 = order.iter().map(variance).sum();
    let few = order.len().div_ceil(10);
    if few == order.len() {
        return None;
    }
    let share = order[..few].iter().map(variance).sum::<f64>() / all;
    if share < MOST_OF_A_TENTH {
        return None;
    }
    // no more names than it takes
    let mut held = 0.0;
    let enough = order.iter().take_while(|d| {
        let more = held < MOST_OF_A_TENTH * all;
        held += variance(d);
        more
    });
    let names: Vec<String> = enough
        .take(NAMED)
        .map(|&d| format!("'{}'", info.features[d]))
        .collect();
    Some(format!(
        "{few} of {} features make {:.0} % of the variance of the view, above all {} (standard deviation of \
         '{}' {}, of the middle feature '{}' {}): with one scale for the view factors describe little \
         else; if the features have different units, give each its own scale: scaling = \"feature\" \
         (--scaling feature)",
        order.len(),
        (100.0 * share).floor(),
        names.join(", "),
        info.features[widest],
        short(sd[widest]),
        info.features[middle],
        short(sd[middle])
    ))
}

/// Share of the variance of a feature that the prior of its noise may add to that noise without a
/// word.
const MOST_OF_THE_PRIOR: f64 = 0.1;

/// Notes features that vary by so little in working units that the prior of the noise says more of
/// their noise than their residuals do: with rate $b$ it adds $2b/N$ to the variance found in N
/// cells.
pub(super) fn note_small_features(spec: &ModelSpec, info: &ViewInfo, journal: &mut Journal) {
    let choices = &info.choices;
    let shared = choices.noise == NoiseBy::View || info.scaling.scores.is_some();
    // the default prior of draws is in the unit of the smallest of them
    let smallest = has_prior_of_draws(spec, &info.name);
    if !choices.likelihood.is_real() || shared || smallest {
        return;
    }
    let Some(training) = &info.training else {
        return;
    };
    let cells = info.observed as f64 / info.features.len().max(1) as f64;
    let added = 2.0 * vague(spec).rate / cells.max(1.0);
    let sd = |d: &usize| training.sd[*d] / info.scaling.scale[*d];
    // those that vary by rounding alone have a warning of their own
    let is_small = |d: &usize| {
        sd(d) > 0.0 && !training.is_rounding(*d) && added > MOST_OF_THE_PRIOR * sd(d).powi(2)
    };
    let small: Vec<usize> = (0..training.sd.len()).filter(is_small).collect();
    let Some(first) = small.iter().min_by(|a, b| sd(a).total_cmp(&sd(b))) else {
        return;
    };
    let note = format!(
        "{} of {} feature(s) vary by less, in the units of the fit, than the prior of their noise takes for \
         granted, above all '{}' (standard deviation {}): what is said of their noise, intervals and holes is \
         wrong; {}",
        small.len(),
        info.features.len(),
        info.features[*first],
        short(training.sd[*first]),
        if choices.scaling == FeatureScaling::Feature {
            "leave them out, or multiply them by a number that makes them vary about as much as the others"
        } else {
            "give each feature its own scale: scaling = \"feature\" (--scaling feature)"
        }
    );
    journal.note(0, format!("data/{}", info.name), Event::Warning { note });
}

/// A number in two digits.
pub(super) fn short(x: f64) -> String {
    if (1e-3..1e6).contains(&x) {
        let decimals = (1.0 - x.log10().floor()).max(0.0);
        format!("{x:.*}", decimals as usize)
    } else if x == 0.0 {
        "0".to_owned()
    } else {
        format!("{x:.1e}")
    }
}

/// Notes what a view's likelihood says of data like these.
pub(super) fn note_remarks(
    info: &ViewInfo,
    (mean, view): (f64, Option<&View>),
    journal: &mut Journal,
) {
    let likelihood = &info.choices.likelihood;
    let data = Observed {
        mean,
        view,
        options: likelihood.options(),
    };
    let species = likelihood.species();
    for note in species.map_or_else(Vec::new, |s| s.remarks(&data)) {
        journal.note(0, format!("data/{}", info.name), Event::Warning { note });
    }
}

/// Mean of the observed cells of a view.
pub(super) fn observed_mean(view: &View) -> f64 {
    let mut column = vec![0.0; view.n_samples()];
    let mut sum = 0.0;
    for d in 0..view.n_features() {
        // zeros where cells are missing
        view.write_column(d, &mut column);
        sum += column.iter().sum::<f64>();
    }
    sum / view.n_observed() as f64
}

/// Warns of two views that are one table: factors that they share say nothing.
pub(super) fn note_twins(views: &[View], journal: &mut Journal) {
    for (m, a) in views.iter().enumerate() {
        let twin = views[..m].iter().find(|b| are_twins(a, b));
        if let Some(b) = twin {
            let note = format!(
                "it holds the very values of view '{}', but for their unit: what the two share is no \
                 finding, and counts twice; leave one of them out",
                b.name()
            );
            journal.note(0, format!("data/{}", a.name()), Event::Warning { note });
        }
    }
}

/// Whether two views have the same values in the same places, and more than a few columns
/// that could be alike by chance.
fn are_twins(a: &View, b: &View) -> bool {
    let alike = |d: usize| {
        (0..a.n_samples())
            .all(|n| a.value(n, d).map(f64::to_bits) == b.value(n, d).map(f64::to_bits))
    };
    let (samples, features) = (a.n_samples(), a.n_features());
    (samples, features) == (b.n_samples(), b.n_features())
        && samples > 1
        && features > 1
        && a.n_observed() == b.n_observed()
        && (0..features).all(alike)
}

/// Notes groups of samples that no part of the model has anything of its own for.
pub(super) fn note_idle_groups(
    composed: &Composed,
    groups: Option<&Groups>,
    views: &[View],
    journal: &mut Journal,
) {
    if several(groups).is_none() {
        return;
    }
    let Some(spec) = composed.spec() else {
        if !composed.knows_groups() {
            let note = "the groups change nothing in this fit: nothing in the model is by group";
            journal.note(0, "data", Event::Data { note: note.into() });
        }
        return;
    };
    let ranks = |v: &View| spec.view(v.name()).likelihood.is_rank();
    let of_factors = spec.factor_prior.knows_groups();
    let why = if !spec.knows_groups() {
        "nothing in the model is by group"
    } else if !of_factors && views.iter().all(ranks) {
        "ranks have no intercepts and no noise of their own"
    } else {
        return;
    };
    // of ranks nothing else can be by group
    let mend = if views.iter().all(ranks) {
        "take factors by group (--factor-prior ard)"
    } else if spec.factor_prior.finding() == Some(Finding::Components) {
        // a mixture stands in the place of factors by group
        "take intercepts by group (--group-intercepts) or noise by group (--group-noise)"
    } else {
        "take intercepts by group (--group-intercepts), noise by group (--group-noise) or factors by group \
         (--factor-prior ard)"
    };
    let note = format!("the groups change nothing in this fit: {why}; where they differ, {mend}");
    journal.note(0, "data", Event::Data { note });
}

/// Notes features that do not vary within a group whose noise is its own: the
/// model is all too sure of them there.
pub(super) fn note_constant_in_groups(
    spec: &ModelSpec,
    groups: Option<&Groups>,
    views: &[View],
    journal: &mut Journal,
) {
    let Some(groups) = several(groups).filter(|_| spec.groups.noise) else {
        return;
    };
    let rows = RowGroups::from(groups).rows_of_groups();
    for v in views
        .iter()
        .filter(|v| spec.view(v.name()).likelihood.is_real())
    {
        let mut all = Vec::new();
        for (name, rows) in groups.names.iter().zip(&rows) {
            let constant = |d: &usize| {
                let mut seen = rows.iter().filter_map(|&n| v.value(n as usize, *d));
                let first = seen.next();
                first.is_some() && seen.all(|x| Some(x) == first)
            };
            let found: Vec<usize> = (0..v.n_features()).filter(constant).collect();
            if !found.is_empty() {
                all.push((name.as_str(), found));
            }
        }
        if let Some(found) = features_by_group(v, &all, "do not vary within") {
            let note = format!("{found}: their noise there is next to none");
            journal.note(0, format!("data/{}", v.name()), Event::Data { note });
        }
    }
}
