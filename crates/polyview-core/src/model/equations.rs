//! Normal equations of a block of rows.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use polyview_linalg::{LinalgError, Mat, MatRef, PackedRows, SpdFactor, SymPacked, packed_index};

/// Which rows (samples) have which views, when views are missing as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternTable {
    /// Pattern of each row.
    pub of_row: Vec<u32>,
    /// For each pattern, for each view, whether it is present.
    pub present: Vec<Vec<bool>>,
    /// Group of rows that each pattern belongs to; 0 where rows have no groups.
    pub group: Vec<u32>,
}

impl PatternTable {
    /// The table of `rows` rows where `present(row, view)` says whether the
    /// view was observed. Patterns are numbered by first appearance.
    pub fn new(rows: usize, views: usize, present: impl Fn(usize, usize) -> bool) -> Self {
        Self::by_group(rows, views, present, |_| 0)
    }
    /// As [`PatternTable::new`] for rows whose data precision also depends on
    /// their `group(row)`: rows of different groups have different patterns.
    pub fn by_group(
        rows: usize,
        views: usize,
        present: impl Fn(usize, usize) -> bool,
        group: impl Fn(usize) -> u32,
    ) -> Self {
        let mut table = Self {
            of_row: Vec::with_capacity(rows),
            present: Vec::new(),
            group: Vec::new(),
        };
        let mut known = HashMap::new();
        for r in 0..rows {
            let pattern: Vec<bool> = (0..views).map(|m| present(r, m)).collect();
            let at = *known
                .entry((group(r), pattern))
                .or_insert_with_key(|(group, pattern)| {
                    table.present.push(pattern.clone());
                    table.group.push(*group);
                    table.present.len() - 1
                });
            table.of_row.push(at as u32);
        }
        table
    }
}

/// Data precision of the factors by pattern of present views.
#[derive(Clone, Debug)]
pub struct PatternGrams {
    /// The patterns.
    pub table: Arc<PatternTable>,
    /// One packed matrix a pattern.
    pub grams: PackedRows,
}

/// What the data say about a block of rows: row $r$ has data precision
/// `scale[r]·gram + patterns[of r] + packed[r]` and right-hand side `rhs[r]`.
///
/// The prior is not in it. `packed` is there only where someone writes to it.
#[derive(Clone, Debug)]
pub struct NormalEquations {
    k: usize,
    rows: Range<usize>,
    /// Shared part, K × K.
    pub gram: SymPacked,
    /// Factor of the shared part by row (index = row of the whole block), 1
    /// where absent.
    pub scale: Option<Vec<f64>>,
    /// Part shared by the rows of one pattern.
    pub patterns: Option<PatternGrams>,
    /// Whether rows will have own parts (`packed`); said before the first
    /// range, so that nothing is factored that nobody needs.
    pub own: bool,
    /// Own part of each row of the current range.
    pub packed: Option<PackedRows>,
    /// Right-hand sides, rows of the current range × K.
    pub rhs: Mat<f64>,
    /// Own parts of an earlier range, whose memory serves again.
    spare: Option<PackedRows>,
}

/// How a variational update of rows goes: a choice of the engine, not of the data.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Rule {
    /// To the optimum given everything else.
    #[default]
    Optimum,
    /// Means of rows with own parts ([`NormalEquations::packed`]) go to the optimum (1),
    /// short of it or beyond. The bound is quadratic in them, so that between 0 and 2 it
    /// does not fall.
    Relaxed(f64),
    /// To the optimum given everything else and that no entry is zero, of rows whose prior chooses which are
    /// ([`RowBlock::inclusion`](crate::RowBlock::inclusion)); of others to the optimum. A start, while nothing is known of noise: it
    /// raises the bound as long as no update by another rule has been.
    Dense,
}

impl Rule {
    /// How far means of rows with own parts go: 1 is the optimum.
    pub fn rate(self) -> f64 {
        match self {
            Self::Optimum | Self::Dense => 1.0,
            Self::Relaxed(rate) => rate,
        }
    }
}

impl NormalEquations {
    /// Empty equations for K columns and the rows `rows`.
    pub fn new(k: usize, rows: Range<usize>) -> Self {
        Self {
            k,
            gram: SymPacked::zeros(k),
            scale: None,
            patterns: None,
            own: false,
            packed: None,
            rhs: Mat::zeros(rows.len(), k),
            spare: None,
            rows,
        }
    }
    /// Number of columns K.
    pub fn k(&self) -> usize {
        self.k
    }
    /// The rows that `rhs` and `packed` speak of.
    pub fn rows(&self) -> Range<usize> {
        self.rows.clone()
    }
    /// Moves on to another range of rows: right-hand sides become zero, own
    /// parts go, the shared part stays.
    pub fn set_rows(&mut self, rows: Range<usize>) {
        if self.rhs.nrows() == rows.len() && self.rhs.ncols() == self.k {
            self.rhs.fill(0.0);
        } else {
            self.rhs = Mat::zeros(rows.len(), self.k);
        }
        self.spare = self.packed.take().or(self.spare.take());
        self.rows = rows;
    }
    /// The equations of one row of the current range, to be completed on their
    /// own. `into` keeps its buffers; it must come from
    /// [`NormalEquations::shared`].
    ///
    /// # Panics
    /// If the row is not of the current range.
    pub fn single_out(&self, row: usize, into: &mut Self) {
        into.set_rows(row..row + 1);
        let at = row - self.rows.start;
        for j in 0..self.k {
            into.rhs[(0, j)] = self.rhs[(at, j)];
        }
        if let Some(own) = &self.packed {
            into.packed_mut().row_mut(0).copy_from_slice(own.row(at));
        }
    }
    /// Equations with the same shared parts, of no row.
    #[must_use]
    pub fn shared(&self) -> Self {
        Self {
            k: self.k,
            rows: 0..0,
            gram: self.gram.clone(),
            scale: self.scale.clone(),
            patterns: self.patterns.clone(),
            own: self.own,
            packed: None,
            rhs: Mat::zeros(0, self.k),
            spare: None,
        }
    }
    /// Equations of the same rows that say nothing yet, for a part of what is said of them: rows
    /// have patterns and own parts as here.
    #[must_use]
    pub fn part(&self) -> Self {
        let mut out = Self::new(self.k, self.rows.clone());
        out.own = self.own;
        out.patterns = self.patterns.as_ref().map(|p| PatternGrams {
            table: Arc::clone(&p.table),
            grams: PackedRows::zeros(p.grams.rows(), self.k),
        });
        out
    }
    /// Adds `factor` times what such a part says, whose common precision is one for all rows
    /// ([`NormalEquations::scale`] is absent here and there).
    pub fn add_part(&mut self, factor: f64, part: &Self) {
        let add = |to: &mut [f64], from: &[f64]| {
            for (x, y) in to.iter_mut().zip(from) {
                *x += factor * y;
            }
        };
        self.gram.add_scaled(factor, &part.gram);
        self.own |= part.own;
        if let (Some(to), Some(from)) = (&mut self.patterns, &part.patterns) {
            for i in 0..from.grams.rows() {
                add(to.grams.row_mut(i), from.grams.row(i));
            }
        }
        if let Some(from) = &part.packed {
            let to = self.packed_mut();
            for i in 0..from.rows() {
                add(to.row_mut(i), from.row(i));
            }
        }
        for j in 0..self.k {
            add(self.rhs.col_as_slice_mut(j), part.rhs.col_as_slice(j));
        }
    }
    /// The own parts, zero at first.
    pub fn packed_mut(&mut self) -> &mut PackedRows {
        let (rows, k) = (self.rows.len(), self.k);
        let spare = &mut self.spare;
        self.packed.get_or_insert_with(|| match spare.take() {
            Some(mut own) if own.rows() == rows && own.k() == k => {
                own.as_mut_slice().fill(0.0);
                own
            }
            _ => PackedRows::zeros(rows, k),
        })
    }
    /// The equations of the columns `part`, all other columns being `values` (rows of the whole
    /// block × all columns): $P\_{pp}$ with the right-hand side $h\_p - P\_{po}v\_o$.
    ///
    /// # Panics
    /// If there are no such columns, or rows without values.
    #[must_use]
    pub fn given(&self, part: Range<usize>, values: MatRef<'_, f64>) -> Self {
        let keep: Vec<usize> = part.clone().collect();
        let others: Vec<usize> = (0..self.k).filter(|j| !part.contains(j)).collect();
        let signs = vec![1.0; keep.len()];
        let chosen = |rows: &PackedRows| {
            let mut out = rows.clone();
            out.select(&keep, &signs);
            out
        };
        let mut out = Self::new(keep.len(), self.rows.clone());
        out.gram = SymPacked::from_lower(keep.len(), |i, j| self.gram.get(keep[i], keep[j]));
        out.scale.clone_from(&self.scale);
        out.patterns = self.patterns.as_ref().map(|p| PatternGrams {
            table: Arc::clone(&p.table),
            grams: chosen(&p.grams),
        });
        out.own = self.own;
        out.packed = self.packed.as_ref().map(chosen);
        for (i, r) in self.rows.clone().enumerate() {
            let scale = self.scale.as_ref().map_or(1.0, |s| s[r]);
            let of_pattern =
                (self.patterns.as_ref()).map(|p| p.grams.row(p.table.of_row[r] as usize));
            let own = self.packed.as_ref().map(|p| p.row(i));
            for (a, &j) in keep.iter().enumerate() {
                let mut sum = self.rhs[(i, j)];
                for &o in &others {
                    let at = packed_index(j.max(o), j.min(o));
                    let precision = scale * self.gram.as_slice()[at]
                        + of_pattern.map_or(0.0, |p| p[at])
                        + own.map_or(0.0, |p| p[at]);
                    sum -= precision * values[(r, o)];
                }
                out.rhs[(i, a)] = sum;
            }
        }
        out
    }
    /// The equations of what rows have beyond given means, rows of the equations × columns:
    /// right-hand sides $h - Pm$.
    #[must_use]
    pub fn about(mut self, means: MatRef<'_, f64>) -> Self {
        let k = self.k;
        for (i, r) in self.rows.clone().enumerate() {
            let precision = self.row_precision(r);
            for a in 0..k {
                let known: f64 = (0..k).map(|b| precision.get(a, b) * means[(i, b)]).sum();
                self.rhs[(i, a)] -= known;
            }
        }
        self
    }
    /// The equations of the first `k` columns once the others are integrated out, whose prior
    /// precisions are `precision`: $P\_{pp} - P\_{po}A^{-1}P\_{op}$ with
    /// $A = P\_{oo} + \mathrm{diag}(\text{precision})$, and $h\_p - P\_{po}A^{-1}h\_o$.
    ///
    /// # Errors
    /// [`LinalgError`] where $A$ is not positive definite.
    pub fn marginal(&self, k: usize, precision: &[f64]) -> Result<Self, LinalgError> {
        let more = self.k - k;
        let mut out = Self::new(k, self.rows.clone());
        // those of the first columns, of which the part of the others is taken off
        let reduced = |p: &SymPacked| -> Result<(SymPacked, Mat<f64>), LinalgError> {
            let mut own = SymPacked::from_lower(more, |i, j| p.get(k + i, k + j));
            own.add_diag(precision);
            let across = Mat::from_fn(k, more, |i, j| p.get(k + j, i));
            // P_po A^-1
            let gain = SpdFactor::factor(&own)?.0.solve_mat_right(across.as_ref());
            let left = SymPacked::from_lower(k, |i, j| {
                let taken: f64 = (0..more).map(|o| gain[(i, o)] * across[(j, o)]).sum();
                p.get(i, j) - taken
            });
            Ok((left, gain))
        };
        let solve = |out: &mut Self, i: usize, gain: &Mat<f64>| {
            for j in 0..k {
                let taken: f64 = (0..more).map(|o| gain[(j, o)] * self.rhs[(i, k + o)]).sum();
                out.rhs[(i, j)] = self.rhs[(i, j)] - taken;
            }
        };
        let shared =
            !self.own && self.packed.is_none() && self.scale.is_none() && self.patterns.is_none();
        if shared {
            let (gram, gain) = reduced(&self.gram)?;
            out.gram = gram;
            for i in 0..self.rows.len() {
                solve(&mut out, i, &gain);
            }
            return Ok(out);
        }
        out.own = true;
        for (i, r) in self.rows.clone().enumerate() {
            let (left, gain) = reduced(&self.row_precision(r))?;
            out.packed_mut().row_mut(i).copy_from_slice(left.as_slice());
            solve(&mut out, i, &gain);
        }
        Ok(out)
    }
    /// Data precision of one row of the current range, dense; for tests and
    /// one-off rows.
    pub fn row_precision(&self, row: usize) -> SymPacked {
        let mut out = SymPacked::zeros(self.k);
        out.add_scaled(self.scale.as_ref().map_or(1.0, |s| s[row]), &self.gram);
        let mut add = |p: &[f64]| {
            for (o, x) in out.as_mut_slice().iter_mut().zip(p) {
                *o += x;
            }
        };
        if let Some(p) = &self.patterns {
            add(p.grams.row(p.table.of_row[row] as usize));
        }
        if let Some(p) = &self.packed {
            add(p.row(row - self.rows.start));
        }
        out
    }
}
