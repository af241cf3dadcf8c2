//! The assignment problem, by the Hungarian algorithm with potentials (shortest augmenting paths).

use super::AlignmentError;
use super::compare::all_finite;
use polyview_linalg::MatRef;

/// The one-to-one assignment of rows to columns with the largest total score.
///
/// `score` is $R \times C$, finite. Entry $r$ of the result is the column of row $r$; where $R > C$, $R - C$ rows get
/// none. Cost $O(\min(R, C)^2 \max(R, C))$.
///
/// # Errors
/// [`AlignmentError::NotFinite`].
pub(super) fn best_assignment(
    score: MatRef<'_, f64>,
) -> Result<Vec<Option<usize>>, AlignmentError> {
    all_finite("score", score)?;
    let (rows, columns) = score.shape();
    if rows <= columns {
        return Ok(assign(score).into_iter().map(Some).collect());
    }
    let mut out = vec![None; rows];
    for (column, row) in assign(score.transpose()).into_iter().enumerate() {
        out[row] = Some(column);
    }
    Ok(out)
}

/// Column of every row, for no more rows than columns.
///
/// Rows enter one at a time. For each, the cheapest alternating path to a free column is grown, column by column, in
/// reduced costs $-s\_{rc} - u\_r - v\_c \ge 0$; the potentials keep them non-negative.
fn assign(score: MatRef<'_, f64>) -> Vec<usize> {
    let (rows, columns) = score.shape();
    // place `columns` stands for the row that is about to enter
    let mut row_of = vec![None; columns + 1];
    let mut row_potential = vec![0.0; rows];
    let mut column_potential = vec![0.0; columns + 1];
    for entering in 0..rows {
        let mut distance = vec![f64::INFINITY; columns];
        let mut previous = vec![columns; columns];
        let mut reached = vec![false; columns + 1];
        let mut at = columns;
        row_of[columns] = Some(entering);
        while let Some(row) = row_of[at] {
            reached[at] = true;
            let mut nearest = columns;
            let mut step = f64::INFINITY;
            for c in (0..columns).filter(|&c| !reached[c]) {
                let cost = -score[(row, c)] - row_potential[row] - column_potential[c];
                if cost < distance[c] {
                    distance[c] = cost;
                    previous[c] = at;
                }
                // the first of equals, and one at least
                if distance[c] < step || nearest == columns {
                    step = distance[c];
                    nearest = c;
                }
            }
            for c in 0..=columns {
                if reached[c] {
                    if let Some(row) = row_of[c] {
                        row_potential[row] += step;
                    }
                    column_potential[c] -= step;
                } else if c < columns {
                    distance[c] -= step;
                }
            }
            at = nearest;
        }
        while at != columns {
            row_of[at] = row_of[previous[at]];
            at = previous[at];
        }
        row_of[columns] = None;
    }
    let mut out = vec![0; rows];
    for (column, row) in row_of.iter().enumerate() {
        if let Some(row) = row {
            out[*row] = column;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use polyview_linalg::faer::mat;

    use super::*;

    /// Row 0 would like column 0 best, but giving it up costs less than what row 1 would lose.
    #[test]
    fn a_row_gives_way_where_another_loses_more() {
        let score = mat![[0.9, 0.8], [0.7, 0.1]];
        let found = best_assignment(score.as_ref());
        assert_eq!(found.ok(), Some(vec![Some(1), Some(0)]));
    }
}
