//! Rank normalisation (Vehtari et al. 2021, equation 14).

use super::chains::Halves;
use polyview_special::normal_quantile;

/// Replaces every value by the normal quantile of its rank among all,
/// $z = \Phi^{-1}\big((r - \tfrac38)/(S + \tfrac14)\big)$, ties sharing their mean rank.
pub(super) fn rank_normalise(mut halves: Halves) -> Halves {
    let count = halves.values.len();
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_unstable_by(|&a, &b| halves.values[a].total_cmp(&halves.values[b]));
    let mut scores = vec![0.0; count];
    let mut start = 0;
    while start < count {
        let value = halves.values[order[start]];
        let ties = order[start..]
            .iter()
            .take_while(|&&i| halves.values[i] == value)
            .count();
        // ranks start + 1 to start + ties
        let rank = start as f64 + 0.5 * (ties as f64 + 1.0);
        let score = normal_quantile((rank - 0.375) / (count as f64 + 0.25));
        for &i in &order[start..start + ties] {
            scores[i] = score;
        }
        start += ties;
    }
    halves.values = scores;
    halves
}
