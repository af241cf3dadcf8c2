//! Levels of groups that nothing is known of, from those of other groups.

/// What is known of an intercept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Level {
    pub(super) mean: f64,
    pub(super) variance: f64,
}

/// Variances count as at least this much, so that numbers that are known for certain count
/// alike.
const LEAST: f64 = 1e-12;

/// The levels, by group and column, that `known` does not know and another group's tell.
pub(super) fn borrowed(
    groups: usize,
    columns: usize,
    known: impl Fn(usize, usize) -> Option<Level>,
    most: f64,
) -> Vec<(usize, usize, Level)> {
    let of_column = |d: usize| -> Vec<Level> { (0..groups).filter_map(|g| known(g, d)).collect() };
    let between_columns = || {
        let of_group = |g| (0..columns).filter_map(|d| known(g, d)).collect();
        variance_within((0..groups).map(of_group)).map_or(most, |v| v.min(most))
    };
    let spread = variance_within((0..columns).map(of_column)).unwrap_or_else(between_columns);
    let mut out = Vec::new();
    for d in 0..columns {
        let others = of_column(d);
        let weight = |level: &Level| (spread + level.variance).max(LEAST).recip();
        let whole: f64 = others.iter().map(weight).sum();
        let mean = others.iter().map(|l| weight(l) / whole * l.mean).sum();
        let level = Level {
            mean,
            variance: spread + whole.recip(),
        };
        let without = (0..groups).filter(|g| known(*g, d).is_none());
        if !others.is_empty() {
            out.extend(without.map(|g| (g, d, level)));
        }
    }
    out
}

/// The variance within sets of levels, put together by how well each set is known; `None` where
/// no set has two.
fn variance_within(sets: impl Iterator<Item = Vec<Level>>) -> Option<f64> {
    let (mut squares, mut freedom) = (0.0, 0.0);
    for set in sets.filter(|set| set.len() > 1) {
        let count = set.len() as f64;
        let own = set.iter().map(|l| l.variance).sum::<f64>() / count;
        let mean = set.iter().map(|l| l.mean).sum::<f64>() / count;
        let weight = own.max(LEAST).recip();
        squares += weight * set.iter().map(|l| (l.mean - mean).powi(2)).sum::<f64>();
        freedom += weight * (count - 1.0);
    }
    (freedom > 0.0).then(|| squares / freedom)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(mean: f64, variance: f64) -> Level {
        Level { mean, variance }
    }

    #[test]
    fn a_group_without_a_cell_is_as_unsure_as_groups_differ() {
        // groups × columns; the third column is unknown in the second group
        let known = [
            [Some(at(1.0, 0.1)), Some(at(-2.0, 0.1)), Some(at(4.0, 0.1))],
            [Some(at(2.0, 0.1)), Some(at(-1.0, 0.1)), None],
        ];
        let found = borrowed(2, 3, |g, d| known[g][d], 100.0);
        let [(1, 2, level)] = found[..] else {
            panic!("{found:?}");
        };
        // both columns say 0.5
        assert!((level.mean - 4.0).abs() < 1e-12);
        assert!((level.variance - (0.5 + 0.5 + 0.1)).abs() < 1e-12);
    }

    #[test]
    fn what_is_hardly_known_says_little() {
        let known = [
            [
                Some(at(1.0, 0.01)),
                Some(at(-30.0, 50.0)),
                Some(at(0.0, 0.01)),
            ],
            [Some(at(1.2, 0.01)), Some(at(2.0, 50.0)), None],
        ];
        let found = borrowed(2, 3, |g, d| known[g][d], 100.0);
        assert!(found[0].2.variance < 0.5, "{found:?}");
    }

    #[test]
    fn where_no_column_has_two_groups_columns_say_how_much_levels_differ() {
        let known = [[Some(at(1.0, 0.1)), Some(at(3.0, 0.1))], [None, None]];
        let found = borrowed(2, 2, |g, d| known[g][d], 100.0);
        assert_eq!(found.len(), 2);
        assert!((found[0].2.variance - (2.0 + 2.1)).abs() < 1e-12);
        let held = borrowed(2, 2, |g, d| known[g][d], 1.0);
        assert!((held[1].2.variance - (1.0 + 1.1)).abs() < 1e-12);
        assert!((held[1].2.mean - 3.0).abs() < 1e-12);
    }

    #[test]
    fn a_column_of_no_group_stays() {
        assert!(borrowed(2, 1, |_, _| None, 1.0).is_empty());
    }
}
