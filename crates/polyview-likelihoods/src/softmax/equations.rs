//! What sites say of weights, intercepts and factors (spec/sites 3).

use std::ops::Range;

use polyview_core::{Equations, NormalEquations, NumericError, Predictor, Side, Tangents};
use polyview_linalg::{SymPacked, cross, packed_index, packed_len, times_small};

use super::Softmax;
use super::sites::products;

impl Equations for Softmax {
    /// Of one class given the others:
    /// $P = \sum\_nH\_{cc}\langle z^\top z\rangle$,
    /// $r = \sum\_n(g + H(m - b))\_c\bar z - \sum\_{j\ne c}\big(\sum\_nH\_{cj}\langle z^\top
    /// z\rangle\big)\bar w\_j$.
    fn weight_equations(
        &mut self,
        p: &Predictor<'_>,
        eq: &mut NormalEquations,
    ) -> Result<(), NumericError> {
        let (k, rows) = (eq.k(), eq.rows());
        let (sites, larger) = match self.held_sites(p) {
            Some(held) => held,
            None => (self.sites(0..self.classes.len(), p), Vec::new()),
        };
        let table = (p.factors.moment_table().as_ref()).subrows(0, packed_len(k));
        let mut fine = true;
        for (i, class) in rows.enumerate() {
            let coupling = sites.coupling(class);
            let sums = cross(table.transpose(), coupling.as_ref());
            let mut rhs: Vec<f64> = {
                let mut own = sites.linear().subrows(class, 1).transpose().to_owned();
                for (by, h) in larger.iter().zip(coupling.col_iter()) {
                    for (x, h) in own.col_as_slice_mut(0).iter_mut().zip(h.iter()) {
                        *x += by * h;
                    }
                }
                let linear = cross(p.factors.mean(), own.as_ref());
                (0..k).map(|j| linear[(j, 0)]).collect()
            };
            let others = (0..self.levels.len()).filter(|j| *j != class);
            for j in others {
                let packed = SymPacked::from_packed(k, sums.col_as_slice(j).to_vec());
                let weights: Vec<f64> = (0..k).map(|a| p.weights.mean()[(j, a)]).collect();
                if let Some(packed) = packed {
                    for (r, x) in rhs.iter_mut().zip(packed.times_vec(&weights)) {
                        *r -= x;
                    }
                }
            }
            let own = sums.col_as_slice(class);
            fine &= own.iter().chain(&rhs).all(|x| x.is_finite());
            for (to, x) in eq.packed_mut().row_mut(i).iter_mut().zip(own) {
                *to += x;
            }
            for (j, x) in rhs.into_iter().enumerate() {
                eq.rhs[(i, j)] += x;
            }
        }
        if fine { Ok(()) } else { Err(self.not_finite()) }
    }
    fn bias_equations(
        &mut self,
        columns: Range<usize>,
        p: &Predictor<'_>,
        precision: &mut [f64],
        rhs: &mut [f64],
    ) -> f64 {
        // with tangents that are kept $\sum_n\big(g + H(m - b')\big)_c + \sum_jH_{cj}(b'_j - b_j - \bar w_j^\top\bar z) + H_{cc}b_c$, of the intercepts b' that
        // there were
        if let Some((sites, larger)) = self.held_sites(p) {
            for (i, class) in columns.enumerate() {
                let coupling = sites.coupling(class);
                // of each class $\sum_nH\_{cj}\bar z$
                let with_factors = cross(p.factors.mean(), coupling.as_ref());
                let own = sites.linear().subrows(class, 1);
                let mut rest: f64 = own.row(0).iter().sum();
                for (j, by) in larger.iter().enumerate() {
                    let all: f64 = coupling.col(j).iter().sum();
                    let factors =
                        (0..p.factors.k()).map(|a| p.weights.mean()[(j, a)] * with_factors[(a, j)]);
                    rest += by * all - factors.sum::<f64>();
                    if j == class {
                        precision[i] = all;
                        rest += all * p.bias.mean()[j];
                    }
                }
                rhs[i] = rest;
            }
            return 0.0;
        }
        let sites = self.sites(0..self.classes.len(), p);
        for (i, class) in columns.enumerate() {
            let (slope, curvature) = sites.sums(class);
            precision[i] = curvature;
            rhs[i] = slope + curvature * p.bias.mean()[class];
        }
        0.0
    }
    /// $P = \bar W^\top H\bar W + \sum\_cH\_{cc}C\_c$, $r = \bar W^\top(g + H(m - b))$.
    fn factor_equations(
        &mut self,
        p: &Predictor<'_>,
        eq: &mut NormalEquations,
    ) -> Result<(), NumericError> {
        let (k, rows, classes) = (eq.k(), eq.rows(), self.levels.len());
        let (sites, larger, first) = match self.held_sites(p) {
            Some((sites, larger)) => (sites, larger, rows.start),
            None => (self.sites(rows.clone(), p), Vec::new(), 0),
        };
        let curvature = sites.curvature().subcols(first, rows.len());
        let mut own = sites.linear().subcols(first, rows.len()).to_owned();
        if larger.iter().any(|by| *by != 0.0) {
            for i in 0..rows.len() {
                for c in 0..classes {
                    let of = |j: usize| curvature[(packed_index(c.max(j), c.min(j)), i)];
                    let moved: f64 = larger.iter().enumerate().map(|(j, by)| by * of(j)).sum();
                    own[(c, i)] += moved;
                }
            }
        }
        let mut table = products(p.weights.mean());
        let second = p.weights.second_moment_rows(0..classes);
        for c in 0..classes {
            for j in 0..c {
                // both halves of a pair
                for x in table.row_mut(packed_index(c, j)) {
                    *x *= 2.0;
                }
            }
            let own = table.row_mut(packed_index(c, c));
            own.copy_from_slice(second.row(c));
        }
        let sums = cross(table.as_mat().transpose(), curvature);
        let linear = times_small(own.transpose(), p.weights.mean());
        let packed = eq.packed_mut();
        for i in 0..rows.len() {
            for (to, x) in packed.row_mut(i).iter_mut().zip(sums.col_as_slice(i)) {
                *to += x;
            }
        }
        for j in 0..k {
            for i in 0..rows.len() {
                eq.rhs[(i, j)] += linear[(i, j)];
            }
        }
        if eq.rhs.is_all_finite() {
            Ok(())
        } else {
            Err(self.not_finite())
        }
    }
}

impl Tangents for Softmax {
    fn values(&mut self, side: Side, rows: Range<usize>, p: &Predictor<'_>, out: &mut [f64]) {
        if side == Side::Factors {
            let sites = self.sites(rows, p);
            for (o, f) in out.iter_mut().zip(&sites.values) {
                *o += f;
            }
            return;
        }
        // every class is about every sample
        let sites = self.sites(0..self.classes.len(), p);
        let value: f64 = sites.values.iter().sum();
        for o in out {
            *o += value;
        }
    }
    fn couples_columns(&self) -> bool {
        true
    }
    fn hold(&mut self, held: bool) {
        self.held = held;
        // of another sweep
        self.kept = None;
    }
    fn is_held(&self) -> bool {
        self.held
    }
}
