//! What is remarkable about data before a fit.

use polyview_core::View;

use super::ViewInfo;

/// Counts above this are more often something else: sums, areas, or numbers
/// that were scaled.
const LARGE_COUNT: f64 = 1e6;

/// What is to be said of counts above a million, if there are any.
pub(super) fn large_counts(info: &ViewInfo, view: &View, samples: &[String]) -> Option<String> {
    if !info.choices.likelihood.is_count() {
        return None;
    }
    let (mut cells, mut largest) = (0usize, (0.0, 0, 0));
    for d in 0..view.n_features() {
        for n in 0..view.n_samples() {
            let x = view.value(n, d).unwrap_or(0.0);
            cells += usize::from(x > LARGE_COUNT);
            if x > largest.0 {
                largest = (x, n, d);
            }
        }
    }
    let (x, n, d) = largest;
    (cells > 0).then(|| {
        format!(
            "{cells} count(s) above 1000000, the largest {x} (sample '{}', feature '{}'): make sure that \
             they are counts; logarithms fitted as gaussian may suit them better",
            samples[n], info.features[d]
        )
    })
}
