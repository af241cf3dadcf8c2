//! New data that are far off the scale of the training data.
//!
//! Every bound on shares of cells below is five times what Chebyshev's inequality
//! allows the training data themselves, whatever their distribution: at most
//! $1/k^2$ of the values of a feature lie more than k standard deviations from its
//! mean.

mod against;
mod likely;

use polyview_core::View;

use crate::fit::{Compared, Moments, TrainingScale};
pub(super) use against::Training;
use likely::{likely, rounded};

/// Numbers of cells from which this share of them must not lie beyond so many
/// standard deviations.
const SHARES: [(f64, f64, f64); 3] = [(20.0, 0.2, 5.0), (100.0, 0.05, 10.0), (500.0, 0.01, 22.4)];

/// Standard deviations by which half the values of a single feature may be off:
/// with several samples, and with fewer than [`SEVERAL`].
const FAR: (f64, f64) = (10.0, 100.0);

/// How many of the worst are told.
const TOLD: usize = 3;

/// Samples from which the middle value says something of a feature.
const SEVERAL: f64 = 5.0;

/// Samples from which the spread of a feature's new values says something.
const SPREAD: f64 = 8.0;

/// The new values vary so much less than the training data that this is their
/// scale, not chance.
const NARROW: f64 = 1.0 / 30.0;

/// Share of the values far off that few samples have, if they alone are the matter.
const MOST: f64 = 0.8;

/// The new values of one feature against those of training.
struct Feature {
    at: usize,
    /// Number of new values.
    count: f64,
    /// Middle distance from the training mean, training standard deviations.
    distance: f64,
    /// Largest distance from the training mean, training standard deviations.
    farthest: f64,
    /// Middle and smallest of the new values, data units.
    middle: f64,
    smallest: f64,
    /// Training mean and standard deviation, as values are compared.
    mean: f64,
    sd: f64,
    /// Smallest training value, data units, where it is known.
    least: Option<f64>,
    /// Spread of the new values in training standard deviations, where there
    /// are enough of them that differ.
    spread: Option<f64>,
    /// The one value of all samples, in data units, where there are several.
    constant: Option<f64>,
}

impl Feature {
    fn is_far(&self) -> bool {
        is_far(self.distance, self.count)
    }
}

/// Cells by their distance from the training mean.
#[derive(Default)]
struct Tally {
    cells: f64,
    beyond: [f64; SHARES.len()],
}

impl Tally {
    fn add(&mut self, distance: f64, cells: f64) {
        self.cells += cells;
        for (count, (_, _, limit)) in self.beyond.iter_mut().zip(SHARES) {
            *count += if distance > limit { cells } else { 0.0 };
        }
    }
    /// Adds the cells of other features.
    fn merge(&mut self, other: &Self) {
        self.cells += other.cells;
        for (count, more) in self.beyond.iter_mut().zip(other.beyond) {
            *count += more;
        }
    }
    /// The first bound that is broken: the share of cells, the distance beyond which
    /// they are, and the largest share of training values that can be.
    fn far(&self) -> Option<(f64, f64, f64)> {
        let mut shares = self.beyond.iter().zip(SHARES);
        let broken = |(n, (from, share, _)): &(&f64, (f64, f64, f64))| {
            self.cells >= *from && **n > share * self.cells
        };
        let (n, (_, _, limit)) = shares.find(broken)?;
        Some((n / self.cells, limit, 1.0 / (limit * limit)))
    }
}

/// What is to be said of new values of a view, complete or not, that are not like the training
/// values: far off these, one and the same, or far off in single cells. `view` has the features that
/// `scale` tells of, in that order and in data units; nothing is said of features whose standard
/// deviation is 0.
pub fn unlike_training(scale: &TrainingScale, view: &View, samples: &[String]) -> Vec<String> {
    all_of(&Training::of_numbers(scale, view), view, samples)
}

/// As [`unlike_training`], of a view of a model.
pub(super) fn all_of(training: &Training<'_>, view: &View, samples: &[String]) -> Vec<String> {
    let warnings = [
        far_off(training, view, samples),
        constant(training, view),
        far_cells(training, view, samples),
    ];
    warnings.into_iter().flatten().collect()
}

/// What is to be said of new data of a view whose features are the model's, in
/// data units, if they are far off the training data: where, and what may be the
/// matter.
pub(super) fn far_off(training: &Training<'_>, view: &View, samples: &[String]) -> Option<String> {
    let mut tally = Tally::default();
    let features: Vec<Feature> = (0..view.n_features())
        .filter_map(|d| feature(training, view, d, &mut tally))
        .collect();
    let mut far: Vec<&Feature> = features.iter().filter(|f| f.is_far()).collect();
    let mut narrow: Vec<f64> = features.iter().filter_map(|f| f.spread).collect();
    let narrow = middle(&mut narrow).is_some_and(|s| s < NARROW);
    let off = tally.far().is_some();
    if far.is_empty() && !off && !narrow {
        return None;
    }
    let about = format!("view '{}': the new values", training.name);
    if far.is_empty() && !off {
        let all: Vec<&Feature> = features.iter().collect();
        let likely = likely(&all, training.compared, false);
        return Some(format!(
            "{about} vary more than {:.0} times less than those of the training data; {likely}",
            1.0 / NARROW
        ));
    }
    // where few features are far off it may be samples that are
    if let Some((_, limit, _)) = tally.far()
        && 2 * far.len() < features.len()
    {
        let others = SHARES.map(|s| s.2);
        let few = std::iter::once(limit)
            .chain(others)
            .find_map(|limit| far_samples(training, view, limit));
        let told = few.and_then(|few| of_samples(training, view, (samples, &few)));
        if let Some(told) = told {
            return Some(told);
        }
    }
    let (how_far, which) = match tally.far() {
        Some((share, limit, most)) if far.is_empty() => {
            far = features.iter().collect();
            (
                format!(
                    "{:.0} % of them lie more than {limit} standard deviations from {} \
                     (of the training values at most {:.1} %)",
                    100.0 * share,
                    training.what_of(),
                    100.0 * most
                ),
                format!("worst first: {}", worst_cells(training, view, samples)),
            )
        }
        _ => (
            format!("in {} of {} feature(s)", far.len(), features.len()),
            format!(
                "typical distance from {}, worst first: {}",
                training.what_of(),
                worst(training, far.clone())
            ),
        ),
    };
    let likely = likely(&far, training.compared, true);
    Some(format!(
        "{about} are far off those of the training data: {how_far}; {which}; {likely}"
    ))
}

/// The cells that are farthest off, and by how much.
fn worst_cells(training: &Training<'_>, view: &View, samples: &[String]) -> String {
    let mut found: Vec<(f64, usize, usize)> = Vec::new();
    for d in (0..view.n_features()).filter(|&d| training.moments(d).is_some()) {
        let of = |n: usize| view.value(n, d).map(|x| (training.off(n, d, x), n, d));
        found.extend((0..view.n_samples()).filter_map(of));
        found.sort_by(|a, b| b.0.total_cmp(&a.0));
        found.truncate(TOLD);
    }
    named_cells(training, &found, samples)
}

/// Cells by their sample and feature, and how far off they are.
fn named_cells(
    training: &Training<'_>,
    cells: &[(f64, usize, usize)],
    samples: &[String],
) -> String {
    let told = cells.iter().take(TOLD).map(|&(off, n, d)| {
        let (sample, feature) = (&samples[n], &training.features[d]);
        let off = rounded(off);
        format!("sample '{sample}', feature '{feature}' ({off} standard deviations)")
    });
    told.collect::<Vec<_>>().join(", ")
}

/// Names of the features that are farthest off, and by how much.
fn worst(training: &Training<'_>, mut far: Vec<&Feature>) -> String {
    far.sort_by(|a, b| b.distance.total_cmp(&a.distance).then(a.at.cmp(&b.at)));
    let worst = far.iter().take(TOLD).map(|f| {
        let name = &training.features[f.at];
        format!("'{name}' ({} standard deviations)", rounded(f.distance))
    });
    worst.collect::<Vec<_>>().join(", ")
}

/// The samples that have most of their values farther than `limit` standard deviations from the
/// training means, where they are the fewer ones and have most such values.
fn far_samples(training: &Training<'_>, view: &View, limit: f64) -> Option<Vec<u32>> {
    let mut counts = vec![(0usize, 0usize); view.n_samples()];
    for d in 0..view.n_features() {
        if training.moments(d).is_none() {
            continue;
        }
        for (n, (seen, far)) in counts.iter_mut().enumerate() {
            if let Some(x) = view.value(n, d) {
                *seen += 1;
                *far += usize::from(training.off(n, d, x) > limit);
            }
        }
    }
    let mostly = |c: &(usize, usize)| 2 * c.1 > c.0;
    let rows: Vec<u32> = (counts.iter().enumerate())
        .filter(|(_, c)| mostly(c))
        .map(|(n, _)| n as u32)
        .collect();
    let all: usize = counts.iter().map(|c| c.1).sum();
    let own: usize = counts.iter().filter(|c| mostly(c)).map(|c| c.1).sum();
    let few = !rows.is_empty() && 2 * rows.len() < counts.len();
    (few && own as f64 >= MOST * all as f64).then_some(rows)
}

/// What is to be said of the few samples whose values are far off.
fn of_samples(
    training: &Training<'_>,
    view: &View,
    (samples, few): (&[String], &[u32]),
) -> Option<String> {
    let training = &training.subset(few);
    let own = view.subset(view.name().to_owned(), few);
    let features: Vec<Feature> = (0..own.n_features())
        .filter_map(|d| feature(training, &own, d, &mut Tally::default()))
        .collect();
    let far: Vec<&Feature> = features.iter().collect();
    let likely = likely(&far, training.compared, true);
    Some(format!(
        "view '{}': the new values of {} of {} samples, first '{}', are far off those of the training data, those of \
         the others are not; typical distance from {}, worst first: {}; {likely}",
        training.name,
        few.len(),
        samples.len(),
        samples.get(*few.first()? as usize)?,
        training.what_of(),
        worst(training, far)
    ))
}

/// What is to be said of new data of a view none of whose features varies, though
/// all of them did in training: labels aside, whole tables of one value are files that
/// were filled, not measured.
pub(super) fn constant(training: &Training<'_>, view: &View) -> Option<String> {
    let mut tally = Tally::default();
    let features = (0..view.n_features())
        .filter_map(|d| feature(training, view, d, &mut tally))
        .map(|f| f.constant);
    let values: Vec<f64> = features.collect::<Option<_>>()?;
    let first = values.first()?;
    let what = if values.iter().all(|x| x == first) {
        format!("all new values are {first}")
    } else {
        "each feature has one and the same new value in all samples".to_owned()
    };
    Some(format!(
        "view '{}': {what}, where the training data vary: nothing tells the samples apart; make sure that \
         this is the right file, and leave cells empty where nothing was observed",
        training.name
    ))
}

/// What is to be said of single new values, in data units, that are hundreds of
/// standard deviations off the training data, counts as [`Training::is_cell_far`] has it, while their
/// features as a whole are not.
pub(super) fn far_cells(
    training: &Training<'_>,
    view: &View,
    samples: &[String],
) -> Option<String> {
    let mut found: Vec<(f64, usize, usize)> = Vec::new();
    let mut all = Tally::default();
    for d in 0..view.n_features() {
        let mut tally = Tally::default();
        let Some(f) = feature(training, view, d, &mut tally) else {
            continue;
        };
        if f.is_far() {
            continue;
        }
        all.merge(&tally);
        if !training.is_cell_far(f.farthest, f.sd) {
            continue;
        }
        for n in 0..view.n_samples() {
            let off = view.value(n, d).map(|x| training.off(n, d, x));
            let far = |x: &f64| training.is_cell_far(*x, f.sd);
            found.extend(off.filter(far).map(|x| (x, n, d)));
        }
    }
    // so many are no single ones, and are told as a share
    if all.far().is_some() {
        return None;
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    (!found.is_empty()).then(|| {
        format!(
            "view '{}': {} new value(s) lie more than {} standard deviations from {}{}, worst \
             first: {}; make sure that they are no mistakes, or leave them empty",
            training.name,
            found.len(),
            training.cell_limit(),
            training.what_of(),
            match training.compared {
                Compared::Plain => "",
                Compared::Log => " of ln(1 + x)",
                Compared::Ratio => " of ln x",
            },
            named_cells(training, &found, samples)
        )
    })
}

/// What the new values of a feature look like; `None` where it has none, or did
/// not vary in training.
fn feature(training: &Training<'_>, view: &View, at: usize, tally: &mut Tally) -> Option<Feature> {
    let (mean, sd) = training.moments(at)?;
    let values = training.values(view, at);
    let mut raw: Vec<(f64, f64)> = values.iter().map(|v| (v.0, v.2)).collect();
    let mut values: Vec<(f64, f64)> = values.into_iter().map(|v| (v.1, v.2)).collect();
    let own = Moments::of(&values);
    let middle = weighted_middle(&mut raw)?;
    let only = raw.iter().all(|v| v.0 == raw[0].0);
    let mut farthest = 0.0_f64;
    for (x, cells) in &mut values {
        *x = (*x - mean).abs() / sd;
        tally.add(*x, *cells);
        farthest = farthest.max(*x);
    }
    Some(Feature {
        at,
        count: own.count,
        distance: weighted_middle(&mut values)?,
        farthest,
        middle,
        smallest: raw.first()?.0,
        mean,
        sd,
        least: training.least(at),
        spread: (own.count >= SPREAD && own.sd > 0.0).then_some(own.sd / sd),
        constant: (own.count >= SEVERAL && only).then_some(middle),
    })
}

/// Whether so many new values lie far off, whose middle distance from the training mean is this many standard
/// deviations of training.
pub(crate) fn is_far(distance: f64, count: f64) -> bool {
    let (several, few) = FAR;
    distance > if count >= SEVERAL { several } else { few }
}

/// The middle number, the lower one of two; `None` of none.
pub(crate) fn middle(values: &mut [f64]) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len().checked_sub(1)? / 2).copied()
}

/// The middle of values with their numbers; `None` of none.
fn weighted_middle(values: &mut [(f64, f64)]) -> Option<f64> {
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    let all: f64 = values.iter().map(|v| v.1).sum();
    let mut below = 0.0;
    for (x, cells) in values.iter() {
        below += cells;
        if below >= 0.5 * all {
            return Some(*x);
        }
    }
    None
}
