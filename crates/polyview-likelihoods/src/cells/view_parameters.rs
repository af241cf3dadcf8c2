//! Parameters that the features of a view share, or of which a feature has several.

use polyview_core::{NumericError, Predictor, State, StateReader, own_column_block};
use polyview_linalg::each;
use polyview_random::StreamKey;

use super::data::Data;
use super::{Cell, blocks_of};

/// The observed cells of a feature with the moments of their predictors.
#[derive(Clone, Debug, Default)]
pub struct SeenColumn {
    /// The cells.
    pub cells: Vec<Cell>,
    /// $\langle\eta\rangle$, one for each cell.
    pub mean: Vec<f64>,
    /// $\mathrm{Var}(\eta)$ as far as the objective takes the parameters to depend on it, one
    /// for each cell: 0 where the bound is taken at the mean, and where predictors are draws.
    pub variance: Vec<f64>,
}

/// Parameters of a view that are no matter of one number for each feature
/// ([`ColumnParameters`](crate::ColumnParameters)), such as the cut points of levels: fitted with
/// the rest of the model.
pub trait ViewParameters: Send + Sync {
    /// What they are called, in ledger and file.
    fn name(&self) -> &'static str;
    /// Their values, whatever their order; empty before the first data.
    fn values(&self) -> &[f64];
    /// Replaces them, of a view of so many features; false where that many cannot be.
    fn set(&mut self, values: Vec<f64>, columns: usize) -> bool;
    /// Where to start, given the observed cells of each feature.
    fn start(&mut self, cells: &[Vec<Cell>]);
    /// Moves them so that the objective and the prior together do not fall.
    fn update(&mut self, seen: &[SeenColumn]);
    /// A draw given predictors, local numbers summed out.
    fn draw(&mut self, seen: &[SeenColumn], key: StreamKey);
    /// A draw from the prior.
    fn draw_prior(&mut self, key: StreamKey);
    /// Log of the prior density of the values.
    fn log_prior(&self) -> f64;
    /// The cut points of a column, where that is what they say.
    fn cut_points(&self, column: usize) -> Option<&[f64]> {
        let _ = column;
        None
    }
    /// Takes these cut points, of each column, where cut points are what they are; whether they are.
    fn take_cut_points(&mut self, points: &[Vec<f64>]) -> bool {
        let _ = points;
        false
    }
}

/// The observed cells of a feature and where they stand.
pub(crate) fn observed(data: &Data, column: usize) -> (Vec<usize>, Vec<Cell>) {
    let column = data.column(column);
    (0..data.rows())
        .filter_map(|n| Some((n, column.cell(n)?)))
        .unzip()
}

/// Starts parameters that have no values yet.
pub(crate) fn start(parameters: Option<&mut dyn ViewParameters>, data: &Data) {
    if let Some(p) = parameters.filter(|p| p.values().is_empty() && data.rows() > 0) {
        let cells: Vec<_> = (0..data.columns()).map(|d| observed(data, d).1).collect();
        p.start(&cells);
    }
}

/// All observed cells with their predictors; variances are 0 unless they are wanted.
pub(crate) fn seen(data: &Data, p: &Predictor<'_>, variances: bool) -> Vec<SeenColumn> {
    let rows = data.rows();
    let mut out = Vec::with_capacity(data.columns());
    for block in blocks_of(own_column_block(rows), data.columns()) {
        let (mean, variance) = if variances {
            let (mean, variance) = p.moments(0..rows, block.clone());
            (mean, Some(variance))
        } else {
            (p.mean(0..rows, block.clone()), None)
        };
        let of = |j: usize| {
            let (at, cells) = observed(data, block.start + j);
            let variance = |n: usize| variance.as_ref().map_or(0.0, |v| v[(n, j)]);
            SeenColumn {
                cells,
                mean: at.iter().map(|&n| mean[(n, j)]).collect(),
                variance: at.iter().map(|&n| variance(n)).collect(),
            }
        };
        out.extend(each(block.len(), of));
    }
    out
}

pub(crate) fn save(parameters: Option<&dyn ViewParameters>, prefix: &str, state: &mut State) {
    if let Some(p) = parameters {
        state.put_vec(&format!("{prefix}/{}", p.name()), p.values());
    }
}

pub(crate) fn load(
    parameters: Option<&mut dyn ViewParameters>,
    columns: usize,
    prefix: &str,
    state: &StateReader<'_>,
) -> Result<(), NumericError> {
    let Some(p) = parameters else {
        return Ok(());
    };
    let name = format!("{prefix}/{}", p.name());
    let values = state.vec(&name)?;
    if p.set(values, columns) {
        Ok(())
    } else {
        Err(NumericError::BadState { name })
    }
}
