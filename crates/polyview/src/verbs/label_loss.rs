//! Log loss of labels of which nothing is known but how frequent each is.

use polyview_core::{Domain, View};

/// Log loss of the labels of a view where each is predicted by its share among them, nats over all
/// cells: what anything that says something of them stays below. `None` for what is no label.
pub(super) fn of_shares(view: &View, domain: Domain) -> Option<f64> {
    if !domain.is_label() {
        return None;
    }
    let classes = view.levels().len().max(2);
    let mut sum = 0.0;
    for d in 0..view.n_features() {
        let mut counts = vec![0.0; classes];
        for n in 0..view.n_samples() {
            if let Some(x) = view.value(n, d) {
                counts[x as usize] += 1.0;
            }
        }
        let all: f64 = counts.iter().sum();
        let seen = counts.iter().filter(|c| **c > 0.0);
        sum -= seen.map(|c| c * (c / all).ln()).sum::<f64>();
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use polyview_linalg::Mat;

    use super::*;

    #[test]
    fn shares_are_those_of_each_column() {
        let x = [[0.0, 1.0], [1.0, 1.0], [0.0, f64::NAN], [1.0, 1.0]];
        let names = vec!["a".to_owned(), "b".to_owned()];
        let view = View::from_values("y", names, Mat::from_fn(4, 2, |n, d| x[n][d])).unwrap();
        // of the second column nothing is left open
        let loss = of_shares(&view, Domain::Binary).unwrap();
        assert!((loss - 4.0 * 2f64.ln()).abs() < 1e-12, "{loss}");
        assert_eq!(of_shares(&view, Domain::Reals), None);
    }
}
