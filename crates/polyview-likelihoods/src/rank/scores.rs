//! Normal scores: what a start sees of a rank view.

use polyview_core::View;
use polyview_linalg::Mat;
use polyview_special::normal_quantile;
use rayon::prelude::*;

use super::levels::{Levels, MISSING};

/// $\Phi^{-1}(r / (N + 1))$ of each observed cell, with the average rank $r$ of
/// equal values among the $N$ observed ones of the feature; `NaN` where
/// missing (spec/maxmargin-rank 7). A constant feature has zeros.
pub fn normal_scores(view: &View) -> Mat<f64> {
    let levels = Levels::new(view);
    let mut out = Mat::zeros(levels.samples(), levels.features());
    if levels.samples() > 0 {
        out.as_mut()
            .par_col_chunks_mut(1)
            .enumerate()
            .for_each(|(i, mut column)| {
                let scores = of_levels(&levels, i);
                for (n, &level) in levels.of(i).iter().enumerate() {
                    column[(n, 0)] = if level == MISSING {
                        f64::NAN
                    } else {
                        scores[level as usize]
                    };
                }
            });
    }
    out
}

/// The normal score of each level of a feature.
pub(super) fn of_levels(levels: &Levels, feature: usize) -> Vec<f64> {
    let mut sizes = vec![0.0; levels.count(feature)];
    for &level in levels.of(feature).iter().filter(|l| **l != MISSING) {
        sizes[level as usize] += 1.0;
    }
    let all: f64 = sizes.iter().sum();
    let mut below = 0.0;
    sizes
        .into_iter()
        .map(|size| {
            let rank = below + 0.5 * (size + 1.0);
            below += size;
            normal_quantile(rank / (all + 1.0))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_those_of_average_ranks() {
        let x = [[5.0, 1.0], [1.0, 1.0], [f64::NAN, 1.0], [5.0, 1.0]];
        let view = View::from_values(
            "v",
            vec!["a".into(), "b".into()],
            Mat::from_fn(4, 2, |n, d| x[n][d]),
        )
        .expect("a view");
        let scores = normal_scores(&view);
        // ranks 1, 2.5, 2.5 of three
        assert!((scores[(1, 0)] - normal_quantile(0.25)).abs() < 1e-12);
        assert!((scores[(0, 0)] - normal_quantile(0.625)).abs() < 1e-12);
        assert!(scores[(2, 0)].is_nan());
        assert!((0..4).all(|n| scores[(n, 1)].abs() < 1e-12));
    }
}
