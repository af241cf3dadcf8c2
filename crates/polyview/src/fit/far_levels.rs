//! Features that lie far from zero where nothing centres them.

use polyview_core::{Centring, Event, Journal};

use super::ViewInfo;
use super::remarks::short;
use crate::spec::{Intercepts, ModelSpec};

/// Standard deviations of the prior of intercepts beyond which a mean is far out.
const FAR: f64 = 3.0;

/// Standard deviations of a feature's own about zero beyond which no factor can be relied on to take its mean.
const FAR_ALONE: f64 = 30.0;

/// Notes features of real numbers that are not centred and whose means lie far out under the prior of the intercepts, a normal
/// distribution about zero in working units: a fit gives such a feature rather large noise than the intercept that it has. Where there
/// are no intercepts it takes a factor that is the same for all samples, and of means that are large beside what features vary not even that.
pub(super) fn note_far_levels(spec: &ModelSpec, info: &ViewInfo, journal: &mut Journal) {
    let choices = &info.choices;
    let none = spec.intercepts == Intercepts::None;
    let by_itself =
        (none || spec.intercepts == Intercepts::Learned) && !spec.group_intercepts(&info.name);
    let as_they_are = choices.centring == Centring::None && info.scaling.scores.is_none();
    if !(by_itself && as_they_are && choices.likelihood.is_real()) {
        return;
    }
    let Some(training) = &info.training else {
        return;
    };
    let far = |d: &usize| {
        if none {
            return training.mean[*d].abs() / training.sd[*d] * FAR / FAR_ALONE;
        }
        let level = training.mean[*d] / info.scaling.scale[*d];
        level.abs() * spec.intercept_precision.sqrt()
    };
    let found: Vec<usize> = (0..training.mean.len()).filter(|d| far(d) > FAR).collect();
    let Some(&first) = found.iter().max_by(|a, b| far(a).total_cmp(&far(b))) else {
        return;
    };
    let which = format!(
        "above all '{}' (mean {}, standard deviation {})",
        info.features[first],
        short(training.mean[first]),
        short(training.sd[first])
    );
    let count = format!(
        "{} of {} feature(s) lie far from zero",
        found.len(),
        info.features.len()
    );
    let note = if none {
        format!(
            "{count}, {which}, and neither centring nor intercepts take that up: factors may fail to, and what is said of them is wrong \
             then; leave centring or intercepts as they are by default"
        )
    } else {
        format!(
            "{count} for an intercept that is held near it, {which}, and centring is off: they are explained by noise instead, and what is \
             said of them is wrong; leave the centring as it is by default, or give intercepts room: intercept-precision = {:.0e} under \
             [model] of a study file",
            spec.intercept_precision * (0.1 / far(&first)).powi(2)
        )
    };
    journal.note(0, format!("data/{}", info.name), Event::Warning { note });
}

#[cfg(test)]
mod tests {
    use polyview_core::{Dataset, Table};
    use polyview_linalg::Mat;
    use polyview_random::{StreamKey, standard_normal};

    use super::*;
    use crate::models;

    /// Of numbers about thirty that nothing centres it is said what a fit makes of them, and what
    /// helps: then they are filled as they should be.
    #[test]
    fn what_lies_far_from_zero_is_told_of_where_nothing_centres_it() {
        let mut rng = StreamKey::new(5).rng();
        let values = Mat::from_fn(60, 6, |n, d| {
            let shared = ((n * 7) % 11) as f64 / 5.0 - 1.0;
            let level = if d == 5 { 30.0 } else { 0.0 };
            if n == 3 && d == 5 {
                f64::NAN
            } else {
                level + shared + 0.3 * standard_normal(&mut rng)
            }
        });
        let table = Table {
            name: "x".into(),
            samples: (0..60).map(|n| n.to_string()).collect(),
            features: (0..6).map(|d| format!("f{d}")).collect(),
            levels: Vec::new(),
            values,
        };
        let data = Dataset::builder().view(table).build().unwrap();
        let told_of = |fit: &crate::Fit, words: &str| {
            let mut remarks = fit.record().journal.remarks();
            remarks.any(|r| r.1.contains(words))
        };
        let fit = |centring: Centring, precision: f64| {
            let mut spec = models::bibfa(2);
            spec.defaults.centring = centring;
            spec.intercept_precision = precision;
            let fit = crate::fit(data.clone(), spec).unwrap();
            let told = told_of(&fit, "held near it");
            let filled = fit.impute("x", 0.9).unwrap();
            (told, filled.values[(3, 5)])
        };
        let (told, filled) = fit(Centring::None, 1.0);
        assert!(told && filled < 20.0, "{told} {filled}");
        let (told, filled) = fit(Centring::None, 1e-5);
        assert!(!told && (filled - 30.0).abs() < 2.0, "{told} {filled}");
        let (told, filled) = fit(Centring::Feature, 1.0);
        assert!(!told && (filled - 30.0).abs() < 2.0, "{told} {filled}");
        // without intercepts of the mean beside what the feature varies
        for (centring, far) in [(Centring::None, true), (Centring::Feature, false)] {
            let mut spec = models::bibfa(2);
            spec.defaults.centring = centring;
            spec.intercepts = Intercepts::None;
            let fit = crate::fit(data.clone(), spec).unwrap();
            assert_eq!(told_of(&fit, "neither centring nor intercepts"), far);
        }
    }
}
