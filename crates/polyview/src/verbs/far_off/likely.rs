//! What may be the matter with values that are far off.

use super::{Feature, middle};
use crate::fit::Compared;

/// How far off the middle value of a feature may be, in standard deviations, for
/// a scale to explain it.
const NEAR: f64 = 1.5;

/// How far the logarithms of the ratios of features may typically be apart to be one
/// ratio: twice what chance makes of the spread of eight samples.
const SAME_RATIO: f64 = 0.4;

/// Features whose spreads have to agree before a power of ten is taken for their unit, whatever
/// logarithms would do.
const AGREE: usize = 3;

/// What may be the matter: a unit, a logarithm, or the wrong file. Where the values
/// are not `off`, they vary too little, which no logarithm mends.
pub(super) fn likely(features: &[&Feature], compared: Compared, off: bool) -> String {
    let fit = |of: &dyn Fn(f64) -> f64| {
        let off = |f: &&Feature| (compared.forward(of(f.middle)) - f.mean).abs() / f.sd;
        let mut off: Vec<f64> = features.iter().map(off).collect();
        let all = off.iter().all(|x| x.is_finite());
        middle(&mut off).filter(|x| all && *x < NEAR)
    };
    // the best unit, logarithm and power
    let mut best: [Option<(f64, String, &str)>; 3] = [None, None, None];
    let mut consider = |kind: usize, fit: Option<f64>, (what, mend): (String, &'static str)| {
        if let Some(fit) = fit
            && best[kind].as_ref().is_none_or(|(b, ..)| fit < *b)
        {
            best[kind] = Some((fit, what, mend));
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
        let what = format!("they look about {} times as {size}", rounded(factor));
        let mend = "give them in the units of the training data";
        let found = fit(&|x| x / times);
        // features of one spread ratio that is a power of ten: no logarithm does that
        let agree = features.iter().filter(|f| f.spread.is_some()).count() >= AGREE;
        if found.is_some() && agree && spread == Some(times) && is_power_of_ten(times) {
            return format!("{what}: {mend}");
        }
        consider(0, found, (what, mend));
    }
    if off && compared == Compared::Plain {
        for (name, of) in LOGARITHMS
            .into_iter()
            .filter(|(_, of)| could_be(features, *of))
        {
            let what = format!("{name} of them would lie where the training data do");
            let mend = "take logarithms as was done for those";
            consider(1, fit(&of), (what, mend));
        }
    }
    // logarithms of 1 + x are not negative, and near zero they are x itself
    let mut middles: Vec<f64> = features.iter().map(|f| f.middle).collect();
    let amounts = |f: &&Feature| f.smallest >= 0.0 && f.least.unwrap_or(f.mean) >= 0.0;
    let powers = middle(&mut middles).is_some_and(|m| m > 1.0) && features.iter().all(amounts);
    for (name, of) in POWERS.into_iter().filter(|_| powers) {
        let what = format!(
            "they look like logarithms, as {name} of them would lie where the training data do"
        );
        consider(2, fit(&of), (what, "give them as those were"));
    }
    let mut found: Vec<(f64, String, &str)> = best.into_iter().flatten().collect();
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    // the spread of few samples does not tell a unit from a logarithm
    let told = features.iter().any(|f| f.spread.is_some());
    match found.as_slice() {
        [(_, what, mend), (_, other, instead), ..] if !told => {
            format!("{what}, or {other}: {mend}, or {instead}")
        }
        [(_, what, mend), ..] => format!("{what}: {mend}"),
        [] => "make sure of their units, of transforms such as logarithms, and that this is the \
               right file"
            .to_owned(),
    }
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

/// Whether the training values may be a logarithm of values like the new ones: all of these have
/// one; where logarithms of 1 + x are below zero, their x were not counts or amounts; and the
/// new values vary as much on their scale as the training data do, if not so much less
/// or more that it is another scale.
fn could_be(features: &[&Feature], of: fn(f64) -> f64) -> bool {
    if features.iter().any(|f| of(f.smallest).is_nan()) {
        return false;
    }
    // ln(1 + 0) = 0, unlike ln(0)
    let below = |f: &&Feature| f.least.unwrap_or(f.mean) < 0.0;
    if of(0.0) == 0.0 && features.iter().any(below) {
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
    if compared != Compared::Plain {
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
pub(super) fn rounded(x: f64) -> String {
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
