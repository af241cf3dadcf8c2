//! New data that are far off the scale of the training data.
//!
//! Every bound on shares of cells below is five times what Chebyshev's inequality
//! allows the training data themselves, whatever their distribution: at most
//! $1/k^2$ of the values of a feature lie more than k standard deviations from its
//! mean.

use polyview_core::View;

use crate::fit::{Compared, Moments, TrainingScale, ViewInfo, cells};

/// Standard deviations of counts on the scale of $\ln(1 + x)$ are taken to be at
/// least this, about that of a Poisson count of 1 to 4: features that were all but
/// constant are no measure.
const LEAST_LOG_SD: f64 = 0.5;

/// Numbers of cells from which this share of them must not lie beyond so many
/// standard deviations.
const SHARES: [(f64, f64, f64); 3] = [(20.0, 0.2, 5.0), (100.0, 0.05, 10.0), (500.0, 0.01, 22.4)];

/// Standard deviations by which half the values of a single feature may be off:
/// with several samples, and with fewer than [`SEVERAL`].
const FAR: (f64, f64) = (10.0, 100.0);

/// Samples from which the middle value says something of a feature.
const SEVERAL: f64 = 5.0;

/// Samples from which the spread of a feature's new values says something.
const SPREAD: f64 = 8.0;

/// The new values vary so much less than the training data that this is their
/// scale, not chance.
const NARROW: f64 = 1.0 / 30.0;

/// How far off the middle value of a feature may be, in standard deviations, for
/// a scale to explain it.
const NEAR: f64 = 1.5;

/// How far the logarithms of the ratios of features may typically be apart to be one
/// ratio: twice what chance makes of the spread of eight samples.
const SAME_RATIO: f64 = 0.4;

/// Share of the values far off that few samples have, if they alone are the matter.
const MOST: f64 = 0.8;

/// Features whose spreads have to agree before a power of ten is taken for their unit, whatever
/// logarithms would do.
const AGREE: usize = 3;

/// The new values of one feature against those of training.
struct Feature {
    at: usize,
    /// Number of new values.
    count: f64,
    /// Middle distance from the training mean, training standard deviations.
    distance: f64,
    /// Largest distance from the training mean, training standard deviations.
    farthest: f64,
    /// Middle of the new values, data units.
    middle: f64,
    /// Training mean and standard deviation, as values are compared.
    mean: f64,
    sd: f64,
    /// Spread of the new values in training standard deviations, where there
    /// are enough of them that differ.
    spread: Option<f64>,
    /// The one value of all samples, in data units, where there are several.
    constant: Option<f64>,
}

impl Feature {
    fn is_far(&self) -> bool {
        let (several, few) = FAR;
        self.distance > if self.count >= SEVERAL { several } else { few }
    }
    /// How far a value of the feature lies from the training mean.
    fn off(&self, compared: Compared, x: f64) -> f64 {
        (compared.forward(x) - self.mean).abs() / self.sd
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

/// What is to be said of new data of a view whose features are the model's, in
/// data units, if they are far off the training data: where, and what may be the
/// matter.
pub(super) fn far_off(info: &ViewInfo, view: &View, samples: &[String]) -> Option<String> {
    let training = info.training.as_ref()?;
    let compared = Compared::of(&info.choices.likelihood)?;
    let mut tally = Tally::default();
    let features: Vec<Feature> = (0..view.n_features())
        .filter_map(|d| feature(training, compared, view, d, &mut tally))
        .collect();
    let mut far: Vec<&Feature> = features.iter().filter(|f| f.is_far()).collect();
    let mut narrow: Vec<f64> = features.iter().filter_map(|f| f.spread).collect();
    let narrow = middle(&mut narrow).is_some_and(|s| s < NARROW);
    let off = tally.far().is_some();
    if far.is_empty() && !off && !narrow {
        return None;
    }
    let about = format!("view '{}': the new values", info.name);
    if far.is_empty() && !off {
        let all: Vec<&Feature> = features.iter().collect();
        let likely = likely(&all, compared, false);
        return Some(format!(
            "{about} vary more than {:.0} times less than those of the training data; {likely}",
            1.0 / NARROW
        ));
    }
    let how_far = match tally.far() {
        Some((share, limit, most)) if far.is_empty() => {
            let few = far_samples((training, compared), view, limit);
            if let Some(told) = few.and_then(|few| of_samples(info, view, (samples, &few))) {
                return Some(told);
            }
            far = features.iter().collect();
            format!(
                "{:.0} % of them lie more than {limit} standard deviations from the mean of training \
                 (of the training values at most {:.1} %)",
                100.0 * share,
                100.0 * most
            )
        }
        _ => format!("in {} of {} feature(s)", far.len(), features.len()),
    };
    let likely = likely(&far, compared, true);
    Some(format!(
        "{about} are far off those of the training data: {how_far}; typical distance from the training \
         mean, worst first: {}; {likely}",
        worst(info, far)
    ))
}

/// Names of the features that are farthest off, and by how much.
fn worst(info: &ViewInfo, mut far: Vec<&Feature>) -> String {
    far.sort_by(|a, b| b.distance.total_cmp(&a.distance).then(a.at.cmp(&b.at)));
    let worst = far.iter().take(3).map(|f| {
        let name = &info.features[f.at];
        format!("'{name}' ({} standard deviations)", rounded(f.distance))
    });
    worst.collect::<Vec<_>>().join(", ")
}

/// The samples that have most of their values farther than `limit` standard deviations from the
/// training means, where they are the fewer ones and have most such values.
fn far_samples(
    (training, compared): (&TrainingScale, Compared),
    view: &View,
    limit: f64,
) -> Option<Vec<u32>> {
    let mut counts = vec![(0usize, 0usize); view.n_samples()];
    for d in 0..view.n_features() {
        let Some(f) = feature(training, compared, view, d, &mut Tally::default()) else {
            continue;
        };
        for (n, (seen, far)) in counts.iter_mut().enumerate() {
            if let Some(x) = view.value(n, d) {
                *seen += 1;
                *far += usize::from(f.off(compared, x) > limit);
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
fn of_samples(info: &ViewInfo, view: &View, (samples, few): (&[String], &[u32])) -> Option<String> {
    let training = info.training.as_ref()?;
    let compared = Compared::of(&info.choices.likelihood)?;
    let own = view.subset(view.name().to_owned(), few);
    let features: Vec<Feature> = (0..own.n_features())
        .filter_map(|d| feature(training, compared, &own, d, &mut Tally::default()))
        .collect();
    let far: Vec<&Feature> = features.iter().collect();
    let likely = likely(&far, compared, true);
    Some(format!(
        "view '{}': the new values of {} of {} samples, first '{}', are far off those of the training data, those of \
         the others are not; typical distance from the training mean, worst first: {}; {likely}",
        info.name,
        few.len(),
        samples.len(),
        samples.get(*few.first()? as usize)?,
        worst(info, far)
    ))
}

/// What is to be said of new data of a view none of whose features varies, though
/// all of them did in training: labels aside, whole tables of one value are files that
/// were filled, not measured.
pub(super) fn constant(info: &ViewInfo, view: &View) -> Option<String> {
    let training = info.training.as_ref()?;
    let compared = Compared::of(&info.choices.likelihood)?;
    let mut tally = Tally::default();
    let features = (0..view.n_features())
        .filter_map(|d| feature(training, compared, view, d, &mut tally))
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
        info.name
    ))
}

/// What is to be said of single new values, in data units, that are hundreds of
/// standard deviations off the training data while their features as a whole are not.
pub(super) fn far_cells(info: &ViewInfo, view: &View, samples: &[String]) -> Option<String> {
    let training = info.training.as_ref()?;
    let compared = Compared::of(&info.choices.likelihood)?;
    let mut found: Vec<(f64, usize, usize)> = Vec::new();
    let mut all = Tally::default();
    for d in 0..view.n_features() {
        let mut tally = Tally::default();
        let Some(f) = feature(training, compared, view, d, &mut tally) else {
            continue;
        };
        if f.is_far() {
            continue;
        }
        all.merge(&tally);
        if f.farthest <= FAR.1 {
            continue;
        }
        for n in 0..view.n_samples() {
            let off = view.value(n, d).map(|x| f.off(compared, x));
            found.extend(off.filter(|x| *x > FAR.1).map(|x| (x, n, d)));
        }
    }
    // so many are no single ones, and are told as a share
    if all.far().is_some() {
        return None;
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    let worst = found.iter().take(3).map(|&(off, n, d)| {
        let (sample, feature) = (&samples[n], &info.features[d]);
        let off = rounded(off);
        format!("sample '{sample}', feature '{feature}' ({off} standard deviations)")
    });
    let worst: Vec<String> = worst.collect();
    (!found.is_empty()).then(|| {
        format!(
            "view '{}': {} new value(s) lie more than {} standard deviations from the training mean, worst \
             first: {}; make sure that they are no mistakes, or leave them empty",
            info.name,
            found.len(),
            FAR.1,
            worst.join(", ")
        )
    })
}

/// What the new values of a feature look like; `None` where it has none, or did
/// not vary in training.
fn feature(
    training: &TrainingScale,
    compared: Compared,
    view: &View,
    at: usize,
    tally: &mut Tally,
) -> Option<Feature> {
    let mean = *training.mean.get(at)?;
    let sd = *training.sd.get(at)?;
    if sd == 0.0 || training.is_rounding(at) {
        return None;
    }
    let sd = match compared {
        Compared::Plain => sd,
        Compared::Log => sd.max(LEAST_LOG_SD),
    };
    let mut values = cells(view, at);
    let middle_value = weighted_middle(&mut values)?;
    let mut f = Feature {
        at,
        count: 0.0,
        distance: 0.0,
        farthest: 0.0,
        middle: middle_value,
        mean,
        sd,
        spread: None,
        constant: None,
    };
    for (x, _) in &mut values {
        *x = compared.forward(*x);
    }
    let own = Moments::of(&values);
    f.count = own.count;
    f.spread = (own.count >= SPREAD && own.sd > 0.0).then_some(own.sd / sd);
    let only = values.iter().all(|v| v.0 == values[0].0);
    f.constant = (own.count >= SEVERAL && only).then_some(middle_value);
    for (x, cells) in &mut values {
        *x = (*x - mean).abs() / sd;
        tally.add(*x, *cells);
        f.farthest = f.farthest.max(*x);
    }
    f.distance = weighted_middle(&mut values)?;
    Some(f)
}

/// What may be the matter: a unit, a logarithm, or the wrong file. Where the values
/// are not `off`, they vary too little, which no logarithm mends.
fn likely(features: &[&Feature], compared: Compared, off: bool) -> String {
    let fit = |of: &dyn Fn(f64) -> f64| {
        let off = |f: &&Feature| f.off(compared, of(f.middle));
        let mut off: Vec<f64> = features.iter().map(off).collect();
        let all = off.iter().all(|x| x.is_finite());
        middle(&mut off).filter(|x| all && *x < NEAR)
    };
    let mut best: Option<(f64, String)> = None;
    let mut consider = |fit: Option<f64>, text: String| {
        if let Some(fit) = fit
            && best.as_ref().is_none_or(|(b, _)| fit < *b)
        {
            best = Some((fit, text));
        }
    };
    let spread = by_spread(features, compared);
    // in another unit they vary as many times as much as they are large
    let alike = |middle: &f64| {
        let of = |spread: f64| (middle / spread).ln().abs() < std::f64::consts::LN_2;
        spread.is_none_or(of)
    };
    let ratios = [spread, by_middle(features, compared).filter(alike)];
    let other_unit = |r: &f64| !(0.5..=2.0).contains(r);
    for times in ratios.into_iter().flatten().filter(other_unit) {
        let (size, factor) = if times > 1.0 {
            ("large", times)
        } else {
            ("small", 1.0 / times)
        };
        let text = format!(
            "they look about {} times as {size}: give them in the units of the training data",
            rounded(factor)
        );
        let found = fit(&|x| x / times);
        // features of one spread ratio that is a power of ten: no logarithm does that
        let agree = features.iter().filter(|f| f.spread.is_some()).count() >= AGREE;
        if found.is_some() && agree && spread == Some(times) && is_power_of_ten(times) {
            return text;
        }
        consider(found, text);
    }
    if off && compared == Compared::Plain {
        for (name, of) in LOGARITHMS
            .into_iter()
            .filter(|(_, of)| could_be(features, *of))
        {
            let text = format!(
                "{name} of them would lie where the training data do: take logarithms as was done for those"
            );
            consider(fit(&of), text);
        }
    }
    // logarithms of 1 + x are not negative, and near zero they are x itself
    let mut middles: Vec<f64> = features.iter().map(|f| f.middle).collect();
    let powers = middle(&mut middles).is_some_and(|m| m > 1.0) && middles[0] >= 0.0;
    for (name, of) in POWERS.into_iter().filter(|_| powers) {
        let text = format!(
            "they look like logarithms, as {name} of them would lie where the training data do: give them \
             as those were"
        );
        consider(fit(&of), text);
    }
    best.map_or_else(
        || {
            "make sure of their units, of transforms such as logarithms, and that this is the \
             right file"
                .to_owned()
        },
        |(_, text)| text,
    )
}

/// A transform by its name.
type Named = (&'static str, fn(f64) -> f64);

const LOGARITHMS: [Named; 4] = [
    ("ln(1 + x)", f64::ln_1p),
    ("log2(1 + x)", |x| x.ln_1p() / std::f64::consts::LN_2),
    ("log10(1 + x)", |x| x.ln_1p() / std::f64::consts::LN_10),
    ("ln(x)", f64::ln),
];

const POWERS: [Named; 3] = [
    ("exp(x) - 1", f64::exp_m1),
    ("2^x - 1", |x| x.exp2() - 1.0),
    ("10^x - 1", |x| 10f64.powf(x) - 1.0),
];

/// Whether the training values may be a logarithm of values like the new ones. Where
/// logarithms of 1 + x have a negative mean, their x were not counts or amounts; and the
/// new values vary as much on their scale as the training data do, if not so much less
/// or more that it is another scale.
fn could_be(features: &[&Feature], of: fn(f64) -> f64) -> bool {
    // ln(1 + 0) = 0, unlike ln(0)
    if of(0.0) == 0.0 && features.iter().any(|f| f.mean < 0.0) {
        return false;
    }
    let of_feature = |f: &&Feature| {
        let sd = f.sd * f.spread?;
        let ends = [f.middle - sd, f.middle + sd].map(of);
        // values below zero have no logarithm: their spread is not known
        let apart = (ends[1] - ends[0]) / 2.0;
        (apart.is_finite() && apart > 0.0).then_some(apart / f.sd)
    };
    let mut spreads: Vec<f64> = features.iter().filter_map(of_feature).collect();
    middle(&mut spreads).is_none_or(|s| (1.0 / WIDTH..WIDTH).contains(&s))
}

/// How many times as much or as little the logarithms of new values may vary as the
/// training data do.
const WIDTH: f64 = 5.0;

/// How many times as large as in training the new values are, by their spread.
fn by_spread(features: &[&Feature], compared: Compared) -> Option<f64> {
    if compared == Compared::Log {
        return None;
    }
    let mut spreads: Vec<f64> = features.iter().filter_map(|f| f.spread).collect();
    one_ratio(&mut spreads)
}

/// How many times as large as in training the new values are, by their middle;
/// for features whose values are mostly of one sign.
fn by_middle(features: &[&Feature], compared: Compared) -> Option<f64> {
    let of = |f: &&Feature| {
        let mean = compared.backward(f.mean);
        (f.mean.abs() > f.sd).then_some(f.middle / mean)
    };
    let mut ratios: Vec<f64> = features.iter().filter_map(of).collect();
    one_ratio(&mut ratios)
}

/// The middle of positive ratios, where it is about the ratio of all features.
fn one_ratio(ratios: &mut [f64]) -> Option<f64> {
    let ratio = middle(ratios).filter(|r| *r > 0.0)?;
    let mut apart: Vec<f64> = ratios.iter().map(|r| (r / ratio).ln().abs()).collect();
    let typical = middle(&mut apart)?;
    (typical < SAME_RATIO).then_some(ratio)
}

/// Whether a number is about a power of ten.
fn is_power_of_ten(x: f64) -> bool {
    (x.log10() - x.log10().round()).abs() < 0.1
}

/// A number in so few digits that it is no more precise than it is known: powers
/// of ten where it is near one.
fn rounded(x: f64) -> String {
    let power = x.log10().round();
    let near = is_power_of_ten(x);
    let digits = 10f64.powf(x.log10().floor() - 1.0);
    let x = if near && power >= 1.0 {
        10f64.powf(power)
    } else {
        (x / digits).round() * digits
    };
    if x < 1e7 {
        format!(
            "{}",
            if x >= 10.0 {
                x.round()
            } else {
                (x * 10.0).round() / 10.0
            }
        )
    } else {
        format!("{x:.0e}")
    }
}

/// The middle number, the lower one of two; `None` of none.
fn middle(values: &mut [f64]) -> Option<f64> {
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
