//! Features of which a few samples make most of the variance.

use polyview_core::{Event, Journal, View};

use super::ViewInfo;

/// Samples that stand for a tail: two in a hundred.
const TAIL: f64 = 0.02;
/// With fewer cells two in a hundred are not even one.
const FEWEST: usize = 50;
/// So many samples, spread over all, tell what tails are like.
const ENOUGH: usize = 500;
/// The share of the squares about the mean that these hold: of normal numbers .14, of exponential ones .27, of log-normal ones whose
/// logarithm has the variance 1 .44, of Student's with one and a half degrees of freedom .60 (medians of a hundred numbers). Of gene
/// expression, proteins, drug responses, spectra, pixels and audio features medians are .03 to .25, of concentrations in soil .27.
const MOST: f64 = 0.4;

/// Warns of a view of real numbers of which at least half of the features have such tails: factors describe the samples in these.
pub(super) fn note_heavy_tails(info: &ViewInfo, view: &View, journal: &mut Journal) {
    let mostly_zero = view.sparse().is_some();
    if !info.choices.likelihood.is_real() || info.scaling.scores.is_some() || mostly_zero {
        return;
    }
    let shares: Vec<(usize, f64)> = (0..view.n_features())
        .filter_map(|d| Some((d, share_of_tail(view, d)?)))
        .collect();
    let heavy: Vec<&(usize, f64)> = shares.iter().filter(|(_, s)| *s > MOST).collect();
    let Some((first, share)) = heavy.iter().max_by(|a, b| a.1.total_cmp(&b.1)) else {
        return;
    };
    if 2 * heavy.len() < shares.len() {
        return;
    }
    let note = format!(
        "two samples in a hundred make more than {:.0} % of the variance of {} of {} feature(s), above all of '{}' ({:.0} %): factors \
         and regressions describe these few; if they are no group of their own take logarithms, or the normal scores of ranks: \
         scaling = \"normal-scores\" (--scaling normal-scores)",
        100.0 * MOST,
        heavy.len(),
        shares.len(),
        info.features[*first],
        100.0 * share
    );
    journal.note(0, format!("data/{}", info.name), Event::Warning { note });
}

/// The share of the squares of a feature about its mean that the tail holds; none where it has few cells, or one value more often
/// than not.
fn share_of_tail(view: &View, feature: usize) -> Option<f64> {
    let step = view.n_samples().div_ceil(ENOUGH).max(1);
    let mut cells: Vec<f64> = (0..view.n_samples())
        .step_by(step)
        .filter_map(|n| view.value(n, feature))
        .collect();
    let count = cells.len();
    if count < FEWEST {
        return None;
    }
    // a value that more than half of the cells have is the middle one
    let (_, &mut middle, _) = cells.select_nth_unstable_by(count / 2, f64::total_cmp);
    if 2 * cells.iter().filter(|x| **x == middle).count() > count {
        return None;
    }
    let mean = cells.iter().sum::<f64>() / count as f64;
    let mut squares: Vec<f64> = cells.iter().map(|x| (x - mean).powi(2)).collect();
    let all = squares.iter().sum::<f64>();
    // a part of the last of them where two in a hundred are no whole number
    let tail = TAIL * count as f64;
    let whole = tail.floor() as usize;
    let (_, next, _) = squares.select_nth_unstable_by(whole, |a, b| b.total_cmp(a));
    let part = *next * (tail - tail.floor());
    Some((squares[..whole].iter().sum::<f64>() + part) / all).filter(|s| s.is_finite())
}

#[cfg(test)]
mod tests {
    use polyview_core::{Dataset, FeatureScaling, Table};
    use polyview_linalg::Mat;
    use polyview_random::{StreamKey, standard_normal};

    use crate::models;

    /// What is said of a view of two factors whose features are bent so.
    fn said(samples: usize, scaling: FeatureScaling, bend: impl Fn(f64) -> f64) -> Vec<String> {
        let mut rng = StreamKey::new(4).rng();
        let mut normal =
            |columns: usize| Mat::from_fn(samples, columns, |_, _| standard_normal(&mut rng));
        let (z, noise) = (normal(2), normal(8));
        let values = Mat::from_fn(samples, 8, |n, d| {
            bend(0.8 * z[(n, d % 2)] + 0.6 * noise[(n, d)])
        });
        let table = Table {
            name: "x".into(),
            samples: (0..samples).map(|n| format!("s{n}")).collect(),
            features: (0..8).map(|d| format!("f{d}")).collect(),
            levels: Vec::new(),
            values,
        };
        let data = Dataset::builder().view(table).build().expect("data");
        let mut spec = models::mofa(2);
        spec.vb.max_sweeps = 3;
        spec.defaults.scaling = scaling;
        let fit = crate::fit(data, spec).expect("a fit");
        let warnings = fit.record().journal.warnings();
        warnings.filter(|w| w.contains("in a hundred")).collect()
    }

    #[test]
    fn tails_are_told_of_where_a_few_samples_make_the_variance() {
        let heavy = said(120, FeatureScaling::Feature, |x| (1.5 * x).exp());
        assert_eq!(heavy.len(), 1);
        assert!(
            heavy[0].starts_with("data/x: two samples in a hundred make more than 40 %")
                && heavy[0].contains("--scaling normal-scores"),
            "{heavy:?}"
        );
        for (samples, scaling, bend) in [
            (120, FeatureScaling::Feature, (|x| x) as fn(f64) -> f64),
            // exponential numbers
            (120, FeatureScaling::Feature, |x| x.abs().powf(1.6)),
            (120, FeatureScaling::NormalScores, |x| (1.5 * x).exp()),
            // too few to say
            (40, FeatureScaling::Feature, |x| (1.5 * x).exp()),
            // mostly zeros
            (120, FeatureScaling::Feature, |x| (x - 1.0).max(0.0)),
        ] {
            assert_eq!(said(samples, scaling, bend), Vec::<String>::new());
        }
    }
}
