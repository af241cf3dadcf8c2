//! What expectation sites say of weights, intercepts and factors (spec/sites 1.1).

use std::ops::Range;

use polyview_core::{Equations, NormalEquations, NumericError, Predictor, Side, Tangents};
use polyview_linalg::{Accum, Mat, cross_into, packed_len, times};

use super::sites::{Key, Sites};
use super::{Expected, ScalarLikelihood};

/// Sums over the columns for each sample.
#[derive(Clone, Debug)]
pub(super) struct FactorSums {
    /// States that the sites were made at; `None` while columns are being added.
    key: Option<Key>,
    /// Columns added so far, from the first.
    filled: usize,
    samples: Range<usize>,
    /// $\sum\_d H\_{nd}\langle w\_d^\top w\_d\rangle$, packed K × K for each sample.
    sums: Mat<f64>,
    /// $\sum\_d(h\_{nd} - H\_{nd}b\_d)\langle w\_d\rangle$, samples × K.
    linear: Mat<f64>,
    /// $\sum\_dF\_{nd}$.
    values: Vec<f64>,
}

impl FactorSums {
    fn new(samples: Range<usize>, k: usize) -> Self {
        Self {
            key: None,
            filled: 0,
            sums: Mat::zeros(packed_len(k), samples.len()),
            linear: Mat::zeros(samples.len(), k),
            values: vec![0.0; samples.len()],
            samples,
        }
    }
    /// Adds some columns; the first start the sums.
    fn add(&mut self, sites: &Sites, p: &Predictor<'_>) {
        let columns = sites.columns.clone();
        let first = columns.start == 0;
        if first {
            self.values.fill(0.0);
        }
        let accum = if first { Accum::Replace } else { Accum::Add };
        let second = p.weights.second_moment_rows(columns.clone());
        let table = second.as_mat();
        cross_into(
            self.sums.as_mut(),
            table.transpose(),
            sites.precision().transpose(),
            accum,
        );
        let w = p.weights.mean().subrows(columns.start, columns.len());
        times(sites.linear(), w, self.linear.as_mut(), accum);
        sites.add_by_sample(&mut self.values);
        self.filled = columns.end;
    }
    /// Adds what they say of these samples to the equations.
    fn write(&self, eq: &mut NormalEquations) {
        let rows = eq.rows();
        let packed = eq.packed_mut();
        for (i, n) in rows.clone().enumerate() {
            let own = self.sums.col_as_slice(n - self.samples.start);
            for (g, s) in packed.row_mut(i).iter_mut().zip(own) {
                *g += s;
            }
        }
        for (i, n) in rows.enumerate() {
            for j in 0..self.linear.ncols() {
                eq.rhs[(i, j)] += self.linear[(n - self.samples.start, j)];
            }
        }
    }
}

impl<L: ScalarLikelihood> Expected<L> {
    /// The sums of some samples over all columns.
    fn sums_of(&mut self, samples: Range<usize>, p: &Predictor<'_>) -> FactorSums {
        let mut sums = FactorSums::new(samples.clone(), p.weights.k());
        for columns in self.blocks().collect::<Vec<_>>() {
            let sites = self.sites(samples.clone(), columns, p);
            sums.add(&sites, p);
        }
        sums.key = Some(self.key(p));
        sums
    }
    fn check(&self, fine: bool) -> Result<(), NumericError> {
        if fine {
            return Ok(());
        }
        Err(NumericError::NotFinite {
            block: format!("likelihood/{}", self.name),
            what: "a site of a cell",
        })
    }
}

impl<L: ScalarLikelihood> Equations for Expected<L> {
    fn weight_equations(
        &mut self,
        p: &Predictor<'_>,
        eq: &mut NormalEquations,
    ) -> Result<(), NumericError> {
        let (k, columns) = (eq.k(), eq.rows());
        let sites = self.sites_of_weights(columns.clone(), p);
        let len = packed_len(k);
        let mut sums: Mat<f64> = Mat::zeros(len, columns.len());
        let table = p.factors.moment_table().as_ref().subrows(0, len);
        cross_into(
            sums.as_mut(),
            table.transpose(),
            sites.precision(),
            Accum::Replace,
        );
        let mut linear: Mat<f64> = Mat::zeros(k, columns.len());
        cross_into(
            linear.as_mut(),
            p.factors.mean(),
            sites.linear(),
            Accum::Replace,
        );
        let mut fine = true;
        let packed = eq.packed_mut();
        for i in 0..columns.len() {
            for (g, s) in packed.row_mut(i).iter_mut().zip(sums.col_as_slice(i)) {
                *g += s;
                fine &= s.is_finite();
            }
        }
        for i in 0..columns.len() {
            for j in 0..k {
                eq.rhs[(i, j)] += linear[(j, i)];
                fine &= linear[(j, i)].is_finite();
            }
        }
        self.check(fine)
    }
    fn bias_equations(
        &mut self,
        columns: Range<usize>,
        p: &Predictor<'_>,
        precision: &mut [f64],
        rhs: &mut [f64],
    ) -> f64 {
        if let Some(held) = self.held_sites(&columns) {
            rhs[..columns.len()].copy_from_slice(&held.rest_of_intercepts(p));
            for (to, sum) in precision.iter_mut().zip(&held.sums) {
                *to = sum.precision;
            }
            return 0.0;
        }
        let sites = self.sites(0..self.data.rows(), columns.clone(), p);
        for (i, (d, sum)) in columns.zip(&sites.sums).enumerate() {
            precision[i] = sum.precision;
            rhs[i] = sum.slope + sum.precision * p.bias.mean()[d];
        }
        0.0
    }
    fn absorb(&mut self, columns: Range<usize>, p: &Predictor<'_>) {
        let rows = 0..self.data.rows();
        let mut sums = match self.sums.take() {
            Some(s) if columns.start > 0 && s.key.is_none() && s.filled == columns.start => s,
            // columns are missing before these: they are made when they are asked for
            _ if columns.start > 0 => return,
            _ => FactorSums::new(rows.clone(), p.weights.k()),
        };
        sums.key = None;
        if let Some(held) = self.held_sites(&columns) {
            held.move_intercepts(p.bias.mean());
            sums.add(held, p);
        } else {
            let sites = self.sites(rows, columns, p);
            sums.add(&sites, p);
        }
        self.sums = Some(sums);
    }
    fn seal(&mut self, p: &Predictor<'_>) {
        let (key, columns) = (self.key(p), self.data.columns());
        if let Some(s) = &mut self.sums
            && s.filled == columns
        {
            s.key = Some(key);
        }
    }
    fn factor_gram(
        &mut self,
        _view: usize,
        p: &Predictor<'_>,
        _eq: &mut NormalEquations,
    ) -> Result<(), NumericError> {
        let key = self.key(p);
        if !self.sums.as_ref().is_some_and(|s| s.key == Some(key)) {
            // whole passes make them column by column, which is faster
            self.sums = None;
            self.sums = Some(self.sums_of(0..self.data.rows(), p));
        }
        self.handed = 0;
        self.moved = 0;
        Ok(())
    }
    /// Samples that come for the first time in a pass have the sums of the pass; those that
    /// come again have moved.
    fn factor_equations(
        &mut self,
        p: &Predictor<'_>,
        eq: &mut NormalEquations,
    ) -> Result<(), NumericError> {
        let rows = eq.rows();
        if rows.start >= self.handed && !self.positive {
            self.handed = rows.end;
            if let Some(sums) = &self.sums {
                sums.write(eq);
            }
        } else {
            self.moved = self.moved.max(rows.end);
            self.sums_of(rows, p).write(eq);
        }
        self.check(eq.rhs.is_all_finite())
    }
    fn seal_samples(&mut self, p: &Predictor<'_>) {
        // samples were valued where they are now, unless the engine did not ask
        let values = self.by_sample.take().unwrap_or_default();
        let total: f64 = values.iter().sum();
        self.value = None;
        if values.len() == self.data.rows() && total.is_finite() {
            self.value = Some((self.key(p), total));
        }
        self.sums = None;
    }
}

impl<L: ScalarLikelihood> Tangents for Expected<L> {
    fn values(&mut self, side: Side, rows: Range<usize>, p: &Predictor<'_>, out: &mut [f64]) {
        if side == Side::Factors {
            // samples that nobody has moved since the pass began are where its sums have them
            let values = match &self.sums {
                Some(s) if rows.start >= self.moved => s.values[rows.clone()].to_vec(),
                _ => self.values_by_sample(&rows, p),
            };
            self.moved = self.moved.max(rows.end);
            let all = self.data.rows();
            let kept = self.by_sample.get_or_insert_with(|| vec![f64::NAN; all]);
            kept[rows].copy_from_slice(&values);
            for (o, f) in out.iter_mut().zip(values) {
                *o += f;
            }
            return;
        }
        let sites = self.sites(0..self.data.rows(), rows, p);
        for (o, sum) in out.iter_mut().zip(&sites.sums) {
            *o += sum.value;
        }
    }
    fn be_positive(&mut self, positive: bool) {
        self.positive = positive;
    }
    fn hold(&mut self, held: bool) {
        self.held = held;
        // of another sweep
        self.last = None;
        self.sums = None;
    }
    fn is_held(&self) -> bool {
        self.held
    }
    fn starts_at_data(&mut self) -> bool {
        (0..self.data.columns()).any(|d| self.says_start(d))
    }
}
