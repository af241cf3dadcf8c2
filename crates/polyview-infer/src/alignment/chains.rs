//! Aligning one draw, and all draws of all chains.

use super::assignment::best_assignment;
use super::compare::{absolute, all_finite, cross, unit_columns};
use super::{AlignmentError, SignedPermutation, same};
use polyview_linalg::{Mat, MatRef};
use rayon::prelude::*;

/// The order and the signs that bring the factors of `draw` closest to those of `reference` (both loadings
/// $D \times K$, the views stacked): the signed permutation with the largest total absolute cosine.
///
/// A factor without any resemblance, such as a column of zeros, keeps its sign, and its place as far as that is free.
///
/// ```
/// use polyview_infer::alignment::align_to_reference;
/// use polyview_linalg::faer::mat;
///
/// let reference = mat![[1.0, 0.0], [2.0, 0.1], [0.0, 3.0]];
/// let draw = mat![[0.1, -1.1], [0.0, -1.9], [2.9, 0.1]];
/// let alignment = align_to_reference(reference.as_ref(), draw.as_ref())?;
/// assert_eq!(alignment.order(), [1, 0]);
/// assert_eq!(alignment.signs(), [-1.0, 1.0]);
/// assert_eq!(alignment.apply(draw.as_ref())?[(1, 0)], 1.9);
/// # Ok::<(), polyview_infer::alignment::AlignmentError>(())
/// ```
///
/// # Errors
/// [`AlignmentError::Shape`], [`AlignmentError::NotFinite`].
pub fn align_to_reference(
    reference: MatRef<'_, f64>,
    draw: MatRef<'_, f64>,
) -> Result<SignedPermutation, AlignmentError> {
    same("rows of the draw", reference.nrows(), draw.nrows())?;
    same("columns of the draw", reference.ncols(), draw.ncols())?;
    all_finite("reference", reference)?;
    all_finite("draw", draw)?;
    Ok(align_units(
        unit_columns(reference).as_ref(),
        unit_columns(draw).as_ref(),
    )?
    .0)
}

/// As [`align_to_reference`], for columns of length one; also the total absolute cosine.
fn align_units(
    reference: MatRef<'_, f64>,
    draw: MatRef<'_, f64>,
) -> Result<(SignedPermutation, f64), AlignmentError> {
    let cosines = cross(reference, draw);
    let k = cosines.nrows();
    let mut of: Vec<usize> = best_assignment(absolute(&cosines).as_ref())?
        .into_iter()
        .map(|c| c.expect("as many columns as rows: every row has one"))
        .collect();
    // Factors matched without resemblance: any order among them is as good, so the one that moves least.
    let loose: Vec<usize> = (0..k).filter(|&r| cosines[(r, of[r])] == 0.0).collect();
    let mut free = vec![false; k];
    for &r in &loose {
        free[of[r]] = true;
    }
    let stay: Vec<bool> = (0..k).map(|r| free[r] && loose.contains(&r)).collect();
    let mut rest = (0..k).filter(|&c| free[c] && !stay[c]);
    for &r in &loose {
        of[r] = if stay[r] {
            r
        } else {
            rest.next()
                .expect("as many free columns as rows without resemblance")
        };
    }
    let mut total = 0.0;
    let sign = of
        .iter()
        .enumerate()
        .map(|(r, &c)| {
            total += cosines[(r, c)].abs();
            if cosines[(r, c)] < 0.0 { -1.0 } else { 1.0 }
        })
        .collect();
    Ok((SignedPermutation::new(of, sign)?, total))
}

/// The draw whose order and signs the others take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pivot {
    /// Of up to 16 draws, evenly spaced over all chains, the one that resembles the others most.
    #[default]
    Typical,
    /// A given draw.
    Draw {
        /// Its chain.
        chain: usize,
        /// Its place in the chain.
        draw: usize,
    },
}

/// How [`align_chains`] works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AlignmentOptions {
    /// Where to start.
    pub pivot: Pivot,
    /// Most passes over the draws; 0 leaves every draw aligned to the pivot alone.
    pub max_iterations: usize,
}

impl Default for AlignmentOptions {
    /// The typical draw, 20 passes.
    fn default() -> Self {
        Self {
            pivot: Pivot::Typical,
            max_iterations: 20,
        }
    }
}

/// Why [`align_chains`] stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AlignmentOutcome {
    /// The last pass changed no draw.
    Converged,
    /// The passes ran out.
    IterationLimit,
}

/// All draws of all chains in one order.
#[derive(Clone, Debug, PartialEq)]
pub struct AlignedChains {
    /// What to apply to each draw, by chain and draw.
    pub transforms: Vec<Vec<SignedPermutation>>,
    /// Mean direction of every factor, $D \times K$, columns of length one (or zero, where a factor never is anything).
    pub reference: Mat<f64>,
    /// Length of the mean of each factor's unit loadings, from 0 to 1: 1 where all draws agree, small where a factor is
    /// not identified across draws.
    pub concentration: Vec<f64>,
    /// Chain and draw that the alignment started from.
    pub pivot: (usize, usize),
    /// Passes over the draws after the first alignment to the pivot.
    pub iterations: usize,
    /// Why it stopped.
    pub outcome: AlignmentOutcome,
}

/// Draws that compete for being the pivot.
const CANDIDATES: usize = 16;

/// Aligns all draws to each other: first to a pivot, then in turns to the mean of the aligned unit loadings until
/// nothing changes.
///
/// `chains[c][t]` are the loadings $D \times K$ of draw $t$ in chain $c$, the views stacked. Each pass raises the total
/// cosine between draws and mean, so the passes end. The order of the factors is the pivot's.
///
/// # Errors
/// [`AlignmentError::TooFew`] without any draw, [`AlignmentError::Shape`] where draws differ in shape,
/// [`AlignmentError::NotFinite`], [`AlignmentError::NoSuchPivot`].
pub fn align_chains(
    chains: &[Vec<MatRef<'_, f64>>],
    options: &AlignmentOptions,
) -> Result<AlignedChains, AlignmentError> {
    let places: Vec<(usize, usize)> = chains
        .iter()
        .enumerate()
        .flat_map(|(c, chain)| (0..chain.len()).map(move |t| (c, t)))
        .collect();
    let draws: Vec<MatRef<'_, f64>> = chains.iter().flatten().copied().collect();
    let Some(first) = draws.first() else {
        return Err(AlignmentError::TooFew {
            what: "draws",
            needed: 1,
            found: 0,
        });
    };
    for draw in &draws {
        same("rows of a draw", first.nrows(), draw.nrows())?;
        same("columns of a draw", first.ncols(), draw.ncols())?;
        all_finite("draw", *draw)?;
    }
    let pivot = match options.pivot {
        Pivot::Draw { chain, draw } => places
            .iter()
            .position(|&place| place == (chain, draw))
            .ok_or(AlignmentError::NoSuchPivot { chain, draw })?,
        Pivot::Typical => typical(&draws)?,
    };
    let mut flat = align_all(unit_columns(draws[pivot]).as_ref(), &draws)?;
    let mut outcome = AlignmentOutcome::IterationLimit;
    let mut iterations = 0;
    while iterations < options.max_iterations {
        iterations += 1;
        let (mean, _) = mean_direction(&draws, &flat);
        let next = align_all(mean.as_ref(), &draws)?;
        if next == flat {
            outcome = AlignmentOutcome::Converged;
            break;
        }
        flat = next;
    }
    let (reference, concentration) = mean_direction(&draws, &flat);
    let mut rest = flat.into_iter();
    let transforms = chains
        .iter()
        .map(|chain| rest.by_ref().take(chain.len()).collect())
        .collect();
    Ok(AlignedChains {
        transforms,
        reference,
        concentration,
        pivot: places[pivot],
        iterations,
        outcome,
    })
}

fn align_all(
    reference: MatRef<'_, f64>,
    draws: &[MatRef<'_, f64>],
) -> Result<Vec<SignedPermutation>, AlignmentError> {
    draws
        .par_iter()
        .map(|draw| Ok(align_units(reference, unit_columns(*draw).as_ref())?.0))
        .collect()
}

/// Index of the candidate with the largest total cosine to the other candidates; the first of equals.
fn typical(draws: &[MatRef<'_, f64>]) -> Result<usize, AlignmentError> {
    let count = draws.len().min(CANDIDATES);
    let candidates: Vec<usize> = (0..count).map(|i| i * draws.len() / count).collect();
    let units: Vec<Mat<f64>> = candidates.iter().map(|&i| unit_columns(draws[i])).collect();
    let mut score = vec![0.0; count];
    for b in 0..count {
        for a in 0..b {
            let total = align_units(units[a].as_ref(), units[b].as_ref())?.1;
            score[a] += total;
            score[b] += total;
        }
    }
    let best = (1..count).fold(0, |best, i| if score[i] > score[best] { i } else { best });
    Ok(candidates[best])
}

/// Mean of the aligned unit columns at length one, and its length before; draws are added in order.
fn mean_direction(
    draws: &[MatRef<'_, f64>],
    transforms: &[SignedPermutation],
) -> (Mat<f64>, Vec<f64>) {
    let (rows, k) = draws[0].shape();
    let columns: Vec<(Vec<f64>, f64)> = (0..k)
        .into_par_iter()
        .map(|new| {
            let mut sum = vec![0.0; rows];
            for (draw, transform) in draws.iter().zip(transforms) {
                let old = transform.order()[new];
                let unit = unit_columns(draw.subcols(old, 1));
                let sign = transform.signs()[new];
                for (total, x) in sum.iter_mut().zip(unit.col(0).iter()) {
                    *total += sign * x;
                }
            }
            let length = sum.iter().map(|x| x * x).sum::<f64>().sqrt();
            if length > 0.0 {
                for x in &mut sum {
                    *x /= length;
                }
            }
            (sum, length / draws.len() as f64)
        })
        .collect();
    let mean = Mat::from_fn(rows, k, |i, j| columns[j].0[i]);
    (
        mean,
        columns.into_iter().map(|(_, length)| length).collect(),
    )
}
