//! Where the local numbers of the cells are kept.
//!
//! Of dense data they are stored, one a cell. Of sparse data they would be all
//! that is large: they are functions of the moments of factors, weights and
//! intercepts at which they were last brought up to date (and, where they are
//! draws, of the stream of random numbers), so it is these that are kept, and
//! the local numbers are made block of columns by block of columns where they
//! are wanted. Both ways give the same numbers as long as parameters that are learnt have not moved
//! since.

use std::borrow::Cow;
use std::ops::Range;

use polyview_core::{
    Bias, NumericError, Predictor, RowMoments, Stamp, State, StateReader, Stateful, Values,
};
use polyview_linalg::{Mat, MatMut, column_chunks, each_of, sum, write_column};
use polyview_random::StreamKey;

use super::data::Data;
use super::{CellLikelihood, LocalMoments};

/// Samples whose predictors are made at one time.
const ROW_TILE: usize = 16_384;

/// The bound's parameters, or the drawn augmentation.
#[derive(Clone, Debug)]
pub(super) enum Locals {
    /// Samples × features.
    Stored(Mat<f64>),
    /// Made where they are wanted.
    Made(Made),
}

/// What local numbers that are not stored are made from.
#[derive(Clone, Debug)]
pub(super) enum Made {
    /// The data: those to start from.
    Start,
    /// The best for these moments.
    Best(Box<Seen>),
    /// Draws given these moments.
    Drawn(Box<Seen>, StreamKey),
}

/// Factors, weights and intercepts as they were.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    factors: RowMoments,
    weights: RowMoments,
    bias: Bias,
    /// Stamps of what was seen.
    stamps: [Stamp; 3],
}

impl Seen {
    pub(super) fn of(p: &Predictor<'_>) -> Box<Self> {
        // without the tables that a clone would take along
        let copy = |m: &RowMoments| {
            RowMoments::new(
                m.mean().to_owned(),
                m.cov().clone(),
                m.log_det(),
                m.implicit_rows(),
            )
        };
        Box::new(Self {
            factors: copy(p.factors),
            weights: copy(p.weights),
            bias: p.bias.clone(),
            stamps: [p.factors.stamp(), p.weights.stamp(), p.bias.stamp()],
        })
    }
    /// What was seen; blocks that are still the same are taken from `now`,
    /// which has made tables of them already.
    fn predictor<'a>(&'a self, now: Option<&Predictor<'a>>) -> Predictor<'a> {
        let mut out = Predictor {
            factors: &self.factors,
            weights: &self.weights,
            bias: &self.bias,
        };
        if let Some(now) = now {
            if now.factors.stamp() == self.stamps[0] {
                out.factors = now.factors;
            }
            if now.weights.stamp() == self.stamps[1] {
                out.weights = now.weights;
            }
        }
        out
    }
    fn save(&self, prefix: &str, state: &mut State) {
        self.factors.save(&format!("{prefix}/factors"), state);
        self.weights.save(&format!("{prefix}/weights"), state);
        self.bias.save(&format!("{prefix}/bias"), state);
    }
    fn load(
        prefix: &str,
        (rows, columns): (usize, usize),
        state: &StateReader<'_>,
    ) -> Result<Box<Self>, NumericError> {
        let moments = |part: &str, rows: usize| {
            let name = format!("{prefix}/{part}");
            match RowMoments::load(&name, state) {
                Ok(m) if m.explicit_rows() == rows => Ok(m),
                Ok(_) => Err(NumericError::BadState { name }),
                Err(e) => Err(e),
            }
        };
        let (factors, weights) = (moments("factors", rows)?, moments("weights", columns)?);
        let mut bias = Bias::absent(columns);
        bias.load(&format!("{prefix}/bias"), state)?;
        if factors.k() != weights.k() || bias.columns() != columns {
            return Err(NumericError::BadState {
                name: format!("{prefix}/weights"),
            });
        }
        Ok(Box::new(Self {
            factors,
            weights,
            bias,
            stamps: [(); 3].map(|()| Stamp::fresh()),
        }))
    }
}

/// Local numbers of some columns.
pub(super) struct LocalBlock<'a> {
    local: Cow<'a, Mat<f64>>,
    /// Where the columns start.
    first: usize,
    /// Whether all that they are made from is finite.
    pub(super) finite: bool,
}

impl LocalBlock<'_> {
    /// Those of a column, counted from the first of the block.
    pub(super) fn column(&self, column: usize) -> &[f64] {
        self.local.col_as_slice(self.first + column)
    }
}

/// The halves of a number, each exact as a float.
fn halves(x: u64) -> [f64; 2] {
    [f64::from((x >> 32) as u32), f64::from(x as u32)]
}

fn whole(halves: &[f64]) -> u64 {
    ((halves[0] as u64) << 32) | halves[1] as u64
}

impl Locals {
    /// Those to start from; not stored where the data are sparse.
    pub(super) fn start<L: CellLikelihood>(likelihood: &L, data: &Data) -> Self {
        if matches!(data.values, Values::Sparse(_)) {
            return Self::Made(Made::Start);
        }
        let mut local = Mat::zeros(data.rows(), data.columns());
        write_start(likelihood, data, 0..data.columns(), local.as_mut());
        Self::Stored(local)
    }
    pub(super) fn save(&self, prefix: &str, state: &mut State) {
        let (kind, key) = match self {
            Self::Stored(local) => {
                state.put_mat(&format!("{prefix}/values"), local.as_ref());
                return;
            }
            Self::Made(Made::Start) => (0.0, None),
            Self::Made(Made::Best(seen)) => {
                seen.save(prefix, state);
                (1.0, None)
            }
            Self::Made(Made::Drawn(seen, key)) => {
                seen.save(prefix, state);
                (2.0, Some(key))
            }
        };
        state.put_vec(&format!("{prefix}/made"), &[kind]);
        if let Some(key) = key {
            let ([a, b], [c, d]) = (halves(key.seed), halves(key.sweep));
            let small = [key.chain, key.block, key.chunk].map(f64::from);
            let all = [a, b, c, d, small[0], small[1], small[2]];
            state.put_vec(&format!("{prefix}/key"), &all);
        }
    }
    /// Local numbers as [`Locals::save`] wrote them, kept as `self` keeps them.
    pub(super) fn loaded(
        &self,
        prefix: &str,
        shape: (usize, usize),
        state: &StateReader<'_>,
    ) -> Result<Self, NumericError> {
        if let Self::Stored(_) = self {
            let name = format!("{prefix}/values");
            let local = state.mat(&name)?;
            if local.shape() != shape {
                return Err(NumericError::BadState { name });
            }
            return Ok(Self::Stored(local));
        }
        let name = format!("{prefix}/made");
        let kind = state.scalar(&name)?;
        Ok(Self::Made(if kind == 0.0 {
            Made::Start
        } else if kind == 1.0 {
            Made::Best(Seen::load(prefix, shape, state)?)
        } else if kind == 2.0 {
            let k = state.vec_of(&format!("{prefix}/key"), 7)?;
            let key = StreamKey {
                seed: whole(&k[..2]),
                sweep: whole(&k[2..4]),
                chain: k[4] as u32,
                block: k[5] as u32,
                chunk: k[6] as u32,
            };
            Made::Drawn(Seen::load(prefix, shape, state)?, key)
        } else {
            return Err(NumericError::BadState { name });
        }))
    }
    /// The local numbers of some columns, samples × columns, and whether what
    /// they are made from is finite. `now` saves work where it is what was seen.
    pub(super) fn of_columns<'a, L: CellLikelihood>(
        &'a self,
        likelihood: &L,
        data: &Data,
        columns: &Range<usize>,
        now: Option<&Predictor<'a>>,
    ) -> LocalBlock<'a> {
        let made = match self {
            Self::Stored(local) => {
                return LocalBlock {
                    local: Cow::Borrowed(local),
                    first: columns.start,
                    finite: true,
                };
            }
            Self::Made(made) => made,
        };
        let mut local: Mat<f64> = Mat::zeros(data.rows(), columns.len());
        let out = local.as_mut();
        let finite = match made {
            Made::Start => {
                write_start(likelihood, data, columns.clone(), out);
                true
            }
            Made::Best(seen) => write_best(likelihood, data, &seen.predictor(now), columns, out),
            Made::Drawn(seen, key) => {
                write_drawn(likelihood, data, &seen.predictor(now), *key, columns, out)
            }
        };
        LocalBlock {
            local: Cow::Owned(local),
            first: 0,
            finite,
        }
    }
}

/// Writes the local numbers to start from.
fn write_start<L: CellLikelihood>(
    likelihood: &L,
    data: &Data,
    columns: Range<usize>,
    mut out: MatMut<'_, f64>,
) {
    for (j, d) in columns.enumerate() {
        let column = data.column(d);
        for n in 0..data.rows() {
            out[(n, j)] = column.cell(n).map_or(0.0, |cell| likelihood.start(cell));
        }
    }
}

/// Writes the local numbers that raise the bound most (what stands for missing
/// cells does not count); whether all predictors are finite.
pub(super) fn write_best<L: CellLikelihood>(
    likelihood: &L,
    data: &Data,
    p: &Predictor<'_>,
    columns: &Range<usize>,
    mut out: MatMut<'_, f64>,
) -> bool {
    let (rows, from) = (data.rows(), likelihood.optimise_from());
    let mut finite = true;
    for start in (0..rows).step_by(ROW_TILE) {
        let tile = start..(start + ROW_TILE).min(rows);
        let (wants_mean, wants_square) = (from != LocalMoments::Square, from != LocalMoments::Mean);
        let mean = wants_mean.then(|| p.mean(tile.clone(), columns.clone()));
        let square = wants_square.then(|| p.square(tile.clone(), columns.clone()));
        let unwanted = vec![0.0; tile.len()];
        let part = out.as_mut().subrows_mut(start, tile.len());
        let fine = each_of(column_chunks(part, 1), |j, mut out| {
            let mut best = vec![0.0; tile.len()];
            let column = data.column(columns.start + j);
            let [mean, square] = [&mean, &square].map(|m| match m {
                Some(m) => m.col_as_slice(j),
                None => &unwanted,
            });
            likelihood.optimise_column(column.all().part(tile.clone()), mean, square, &mut best);
            write_column(out.as_mut().col_mut(0), &best);
            // one number that is not makes the sum not finite
            (!wants_mean || sum(mean).is_finite()) && (!wants_square || sum(square).is_finite())
        });
        finite &= fine.iter().all(|f| *f);
    }
    finite
}

/// Draws the augmentation given predictors, one stream of random numbers a
/// column; whether all draws are finite (they are not where there is no
/// augmentation).
pub(super) fn write_drawn<L: CellLikelihood>(
    likelihood: &L,
    data: &Data,
    p: &Predictor<'_>,
    key: StreamKey,
    columns: &Range<usize>,
    out: MatMut<'_, f64>,
) -> bool {
    let Some(augmentation) = likelihood.augmentation() else {
        return false;
    };
    let rows = data.rows();
    let eta = p.mean(0..rows, columns.clone());
    let fine = each_of(column_chunks(out, 1), |j, mut out| {
        let d = columns.start + j;
        let column = data.column(d);
        let mut rng = key.chunk(d as u32).rng();
        let mut fine = true;
        for n in 0..rows {
            if let Some(cell) = column.cell(n) {
                let draw = augmentation.draw_local(cell, eta[(n, j)], &mut rng);
                fine &= draw.is_finite();
                out[(n, 0)] = draw;
            }
        }
        fine
    });
    fine.iter().all(|f| *f)
}
