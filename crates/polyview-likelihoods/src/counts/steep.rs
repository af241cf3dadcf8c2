//! Counts that are too large for the sites of the negative binomial.

use polyview_core::View;

/// Ratio of a site's precision to the curvature of the likelihood above which fits lose
/// factors, or move too slowly to be done in hundreds of sweeps.
///
/// Measured with 100 samples x 40 features of four factors, eight asked for, 500 sweeps
/// at most, two seeds (`cargo run --release -p polyview-examples --example steep_sites`); true
/// factors found, by negative-binomial against poisson-log-normal:
///
/// | size | mean 3 | 30 | 300 | 2000 | 20 000 |
/// |---|---|---|---|---|---|
/// | 1 | 1, 4 / 2, 2 | 1, 1 / 3, 4 | 0, 0 / 4, 3 | 0, 0 / 4, 4 | 0, 0 / 4, 4 |
/// | 5 | 4, 4 / 4, 4 | 4, 4 / 4, 4 | 3, 3 / 4, 4 | 4, 3 / 4, 4 | 3, 0 / 4, 4 |
/// | 30 | 4, 4 / 4, 4 | 4, 4 / 4, 4 | 4, 4 / 4, 4 | 4, 4 / 4, 4 | 4, 0 / 4, 4 |
///
/// The ratio, by moments as here, is below 4 in the first column and in the second but for
/// size 1, where it is 7; in the third it is 17 to 48 and four of six fits have not
/// converged; then it is hundreds, and none has. One of the fits of size 1 and mean 300
/// converged without a factor.
const STEEP: f64 = 4.0;

/// Sizes by moments are kept in this range, as those that a fit starts from.
const SIZES: (f64, f64) = (0.1, 100.0);

/// What is to be said of negative binomial counts whose sites are too steep in half of the
/// features or more.
pub(super) fn remark(view: &View) -> Option<String> {
    let mut of: Vec<(f64, f64)> = (0..view.n_features())
        .filter_map(|d| steepness(view, d))
        .collect();
    of.sort_by(|a, b| a.0.total_cmp(&b.0));
    let &(ratio, mean) = of.get(of.len() / 2)?;
    (ratio > STEEP).then(|| {
        format!(
            "the counts are so large (about {mean:.0} in a typical feature) that the bound of the \
             likelihood negative-binomial is {ratio:.0} times as steep as it should be, above {STEEP}: factors \
             may be lost, and the fit may seem to have converged when it has not; take \
             poisson-log-normal, or form=expectation"
        )
    })
}

/// Precision of the site of a typical count of a feature over the curvature of its
/// likelihood, and the mean count; `None` where no count is above zero.
///
/// At the mean μ of counts of size r the log-odds are $u = \\ln(\\mu/r)$, the bound of
/// Jaakkola and Jordan has the precision $(\\mu - r)/2u$ and the likelihood the expected
/// curvature $\\mu r/(\\mu + r)$ (spec/mofa A.2); their ratio is
/// $(\\mu^2 - r^2)/(2u\\mu r) = \\sinh(u)/u$.
fn steepness(view: &View, feature: usize) -> Option<(f64, f64)> {
    let seen = || (0..view.n_samples()).filter_map(|n| view.value(n, feature));
    let count = seen().count() as f64;
    let mean = seen().sum::<f64>() / count;
    if mean.is_nan() || mean <= 0.0 {
        return None;
    }
    let variance = seen().map(|x| (x - mean).powi(2)).sum::<f64>() / count;
    let size = (mean * mean / (variance - mean).max(0.0)).clamp(SIZES.0, SIZES.1);
    let u = (mean / size).ln();
    // below the size sites are steep as well, but those of other likelihoods are no less so
    let ratio = if u < 1e-3 { 1.0 } else { u.sinh() / u };
    Some((ratio, mean))
}
