//! What the data say about a view's parameters, as running sums.

use polyview_core::{
    Bias, Context, Gammas, Noise, NoiseScope, NormalEquations, NumericError, Predictor, RowBlock,
    RowMoments, Rule, State, StateReader, ViewTerm, own_column_block,
};
use polyview_linalg::{Mat, MatRef, PackedRows, SymPacked, packed_len, times_small};

use crate::model::ViewPart;

/// What becomes of the old sums and how much the new ones count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Weighting {
    /// Factor of the sums so far.
    pub(super) keep: f64,
    /// Factor of those of the batch.
    pub(super) add: f64,
}

/// Noise precision that a column's equations are multiplied by.
enum Unit {
    One,
    View(f64),
    Column(Vec<f64>),
}

impl Unit {
    fn of(scope: Option<NoiseScope>, noise: Option<&Gammas>) -> Self {
        match (scope, noise) {
            (Some(NoiseScope::View), Some(noise)) => Self::View(noise.mean()[0]),
            (Some(NoiseScope::Column), Some(noise)) => Self::Column(noise.mean().to_vec()),
            _ => Self::One,
        }
    }
    fn at(&self, column: usize) -> f64 {
        match self {
            Self::One => 1.0,
            Self::View(t) => *t,
            Self::Column(t) => t[column],
        }
    }
}

/// Sums over samples of one view, **per unit of noise precision**, from which
/// weights, intercepts and noise follow in turn without the data. With
/// sites $\omega\_{nd}, h\_{nd}$ (for real data 1 and $x\_{nd}$) these are, by
/// column d,
///
/// $$\sum\_n\omega\langle z^\top z\rangle,\quad \sum\_n\omega\langle z\rangle,
/// \quad \sum\_n\omega,\quad \sum\_n h\langle z\rangle,\quad \sum\_n h, \quad
/// \sum\_n\langle x^2\rangle .$$
#[derive(Clone, Debug)]
pub(super) struct ViewSums {
    /// Second moments that all columns share.
    gram: SymPacked,
    /// Those of each column besides, where a batch had any.
    own: Option<PackedRows>,
    /// $\sum h\langle z\rangle$, columns × K.
    linear: Mat<f64>,
    /// $\sum\omega\langle z\rangle$, columns × K.
    factors: Mat<f64>,
    /// $\sum\omega$ by column.
    count: Vec<f64>,
    /// $\sum h$ by column.
    total: Vec<f64>,
    /// Half the number of cells and half the sum of squares for each noise
    /// precision.
    noise: Vec<(f64, f64)>,
}

impl ViewSums {
    pub(super) fn new(columns: usize, k: usize, noise: usize) -> Self {
        Self {
            gram: SymPacked::zeros(k),
            own: None,
            linear: Mat::zeros(columns, k),
            factors: Mat::zeros(columns, k),
            count: vec![0.0; columns],
            total: vec![0.0; columns],
            noise: vec![(0.0, 0.0); noise],
        }
    }

    /// Writes them under a prefix.
    pub(super) fn save(&self, prefix: &str, state: &mut State) {
        state.put_vec(&format!("{prefix}/gram"), self.gram.as_slice());
        if let Some(own) = &self.own {
            state.put_mat(&format!("{prefix}/own"), own.as_mat());
        }
        for (name, m) in [("linear", &self.linear), ("factors", &self.factors)] {
            state.put_mat(&format!("{prefix}/{name}"), m.as_ref());
        }
        let noise =
            |of: fn(&(f64, f64)) -> f64| -> Vec<f64> { self.noise.iter().map(of).collect() };
        for (name, v) in [
            ("count", &self.count),
            ("total", &self.total),
            ("noise-count", &noise(|n| n.0)),
            ("noise-squares", &noise(|n| n.1)),
        ] {
            state.put_vec(&format!("{prefix}/{name}"), v);
        }
    }
    /// Reads what [`ViewSums::save`] wrote of sums of these extents.
    pub(super) fn load(
        &mut self,
        prefix: &str,
        state: &StateReader<'_>,
    ) -> Result<(), NumericError> {
        let (columns, k) = (self.count.len(), self.linear.ncols());
        let named = |name: &str| format!("{prefix}/{name}");
        let bad = |name: &str| NumericError::BadState { name: named(name) };
        let matrix = |name: &str, rows: usize, columns: usize| {
            let m = state.mat(&named(name))?;
            let fits = m.shape() == (rows, columns);
            fits.then_some(m).ok_or_else(|| bad(name))
        };
        let gram = state.vec_of(&named("gram"), packed_len(k))?;
        self.gram = SymPacked::from_packed(k, gram).ok_or_else(|| bad("gram"))?;
        self.own = None;
        if state.has(&named("own")) {
            let mut own = PackedRows::zeros(columns, k);
            own.as_mat_mut()
                .copy_from(matrix("own", packed_len(k), columns)?);
            self.own = Some(own);
        }
        self.linear = matrix("linear", columns, k)?;
        self.factors = matrix("factors", columns, k)?;
        self.count = state.vec_of(&named("count"), columns)?;
        self.total = state.vec_of(&named("total"), columns)?;
        let counts = state.vec_of(&named("noise-count"), self.noise.len())?;
        let squares = state.vec_of(&named("noise-squares"), self.noise.len())?;
        self.noise = counts.into_iter().zip(squares).collect();
        Ok(())
    }

    /// Multiplies all sums by `keep`.
    fn fade(&mut self, keep: f64) {
        let fade = |x: &mut f64| *x = if keep == 0.0 { 0.0 } else { keep * *x };
        self.gram.as_mut_slice().iter_mut().for_each(fade);
        if let Some(own) = &mut self.own {
            own.as_mut_slice().iter_mut().for_each(fade);
        }
        for m in [&mut self.linear, &mut self.factors] {
            for j in 0..m.ncols() {
                m.col_as_slice_mut(j).iter_mut().for_each(fade);
            }
        }
        self.count.iter_mut().for_each(fade);
        self.total.iter_mut().for_each(fade);
        for (count, sum) in &mut self.noise {
            fade(count);
            fade(sum);
        }
    }

    /// Adds the sums of the samples that the term holds, at the current
    /// factors. Weights and intercepts do not matter.
    ///
    /// # Errors
    /// [`NumericError`] from the term.
    pub(super) fn take(
        &mut self,
        term: &mut dyn ViewTerm,
        z: &RowMoments,
        weighting: Weighting,
    ) -> Result<(), NumericError> {
        self.fade(weighting.keep);
        let add = weighting.add;
        let (columns, k) = (self.count.len(), z.k());
        let noise = term.as_noise();
        let scope = noise.map(Noise::scope);
        let unit = Unit::of(scope, noise.and_then(Noise::precisions));
        // where weights and intercepts are zero, equations are sums; unit
        // vectors in place of the weights read off what the intercepts multiply
        let none = Bias::absent(columns);
        let zero = RowMoments::point(Mat::zeros(columns, k));
        let axes: Vec<RowMoments> = (0..k)
            .map(|a| {
                RowMoments::point(Mat::from_fn(columns, k, |_, j| f64::from(u8::from(j == a))))
            })
            .collect();
        let at = |weights| Predictor {
            factors: z,
            weights,
            bias: &none,
        };
        let mut eq = NormalEquations::new(k, 0..0);
        term.equations().weight_gram(&at(&zero), &mut eq)?;
        let shared = match (&eq.scale, &unit) {
            _ if eq.own => false,
            (None, Unit::Column(_)) => false,
            (None, _) => true,
            (Some(scale), Unit::Column(t)) => scale == t,
            (Some(_), _) => false,
        };
        if shared {
            let by = match unit {
                Unit::View(t) => add / t,
                _ => add,
            };
            self.gram.add_scaled(by, &eq.gram);
        } else if self.own.is_none() {
            self.own = Some(PackedRows::zeros(columns, k));
        }
        let rows = term.shape().samples;
        let width = own_column_block(rows);
        let (mut precision, mut rhs) = (vec![0.0; width], vec![0.0; width]);
        for start in (0..columns).step_by(width) {
            let block = start..(start + width).min(columns);
            eq.set_rows(block.clone());
            term.equations().weight_equations(&at(&zero), &mut eq)?;
            let (precision, rhs) = (&mut precision[..block.len()], &mut rhs[..block.len()]);
            term.equations()
                .bias_equations(block.clone(), &at(&zero), precision, rhs);
            for (i, d) in block.clone().enumerate() {
                let by = add / unit.at(d);
                for j in 0..k {
                    self.linear[(d, j)] += by * eq.rhs[(i, j)];
                }
                self.count[d] += by * precision[i];
                self.total[d] += by * rhs[i];
                if let (false, Some(own)) = (shared, &mut self.own) {
                    let scale = eq.scale.as_ref().map_or(1.0, |s| s[d]);
                    for (o, g) in own.row_mut(d).iter_mut().zip(eq.gram.as_slice()) {
                        *o += by * scale * g;
                    }
                    if let Some(packed) = &eq.packed {
                        for (o, g) in own.row_mut(d).iter_mut().zip(packed.row(i)) {
                            *o += by * g;
                        }
                    }
                }
            }
            let totals = rhs.to_vec();
            for (j, axis) in axes.iter().enumerate() {
                term.equations()
                    .bias_equations(block.clone(), &at(axis), precision, rhs);
                for (i, d) in block.clone().enumerate() {
                    self.factors[(d, j)] += add / unit.at(d) * (totals[i] - rhs[i]);
                }
            }
            if let Some(noise) = term.as_noise_mut() {
                let scope = noise.scope();
                for (i, (count, sum)) in noise
                    .sums(block.clone(), &at(&zero))?
                    .into_iter()
                    .enumerate()
                {
                    let (slot, first) = match scope {
                        NoiseScope::Column => (block.start + i, true),
                        // the number of cells is that of the view every time
                        NoiseScope::View => (0, start == 0),
                    };
                    let to = &mut self.noise[slot];
                    to.0 += if first { add * count } else { 0.0 };
                    to.1 += add * sum;
                }
            }
        }
        Ok(())
    }

    /// Weights, intercepts, noise and scales from the sums alone, in the order
    /// of a sweep of variational Bayes: each the optimum given the others.
    ///
    /// # Errors
    /// [`NumericError`] from the weights.
    pub(super) fn update(
        &self,
        part: &mut ViewPart,
        rule: Rule,
        cx: &mut Context<'_>,
    ) -> Result<(), NumericError> {
        let ViewPart {
            term,
            weights,
            bias,
            name,
        } = part;
        let (columns, k) = (self.count.len(), self.linear.ncols());
        let of_term = term.as_noise();
        let scope = of_term.map(Noise::scope);
        let mut noise = of_term.and_then(Noise::precisions).cloned();
        let unit = Unit::of(scope, noise.as_ref());
        let mut eq = NormalEquations::new(k, 0..0);
        if self.own.is_some() {
            eq.own = true;
        } else {
            eq.gram = self.gram.clone();
            match &unit {
                Unit::Column(t) => eq.scale = Some(t.clone()),
                Unit::View(t) => eq.gram.as_mut_slice().iter_mut().for_each(|g| *g *= t),
                Unit::One => {}
            }
        }
        weights.prepare(&eq, cx)?;
        let width = own_column_block(columns);
        let mut residual = 0.0;
        for start in (0..columns).step_by(width) {
            let block = start..(start + width).min(columns);
            eq.set_rows(block.clone());
            for (i, d) in block.clone().enumerate() {
                let (t, b) = (unit.at(d), bias.mean()[d]);
                for j in 0..k {
                    eq.rhs[(i, j)] = t * (self.linear[(d, j)] - b * self.factors[(d, j)]);
                }
            }
            if let Some(own) = &self.own {
                let packed = eq.packed_mut();
                for (i, d) in block.clone().enumerate() {
                    let sums = own.row(d).iter().zip(self.gram.as_slice());
                    for (p, (o, g)) in packed.row_mut(i).iter_mut().zip(sums) {
                        *p = unit.at(d) * (o + g);
                    }
                }
            }
            weights.update(&mut eq, rule, cx)?;
            let w = weights.moments().mean();
            if bias.is_present() {
                let (precision, rhs): (Vec<f64>, Vec<f64>) = block
                    .clone()
                    .map(|d| {
                        let fit: f64 = (0..k).map(|j| self.factors[(d, j)] * w[(d, j)]).sum();
                        (
                            unit.at(d) * self.count[d],
                            unit.at(d) * (self.total[d] - fit),
                        )
                    })
                    .unzip();
                bias.update(block.clone(), &precision, &rhs);
            }
            if let Some(noise) = &mut noise {
                let squares = self.squares(block.clone(), weights.as_ref(), bias);
                for (d, square) in block.zip(squares) {
                    if scope == Some(NoiseScope::Column) {
                        let (count, sum) = self.noise[d];
                        let (shape, rate) = noise.posterior(count, sum + 0.5 * square);
                        noise.set(d, shape, rate);
                    } else {
                        residual += square;
                    }
                }
            }
        }
        bias.update_prior();
        if let Some(noise) = &mut noise {
            if scope == Some(NoiseScope::View) {
                let (count, sum) = self.noise[0];
                let (shape, rate) = noise.posterior(count, sum + 0.5 * residual);
                noise.set(0, shape, rate);
            }
            if noise.rate().iter().any(|r| !r.is_finite()) {
                return Err(NumericError::NotFinite {
                    block: format!("likelihood/{name}"),
                    what: "a residual",
                });
            }
            if let Some(own) = term.as_noise_mut() {
                own.share(noise);
            }
        }
        weights.learn(cx)
    }

    /// Expected squared residuals of some columns less their sums of squares.
    fn squares(
        &self,
        columns: std::ops::Range<usize>,
        weights: &dyn RowBlock,
        bias: &Bias,
    ) -> Vec<f64> {
        let (k, moments) = (self.linear.ncols(), weights.moments());
        let w = moments.mean();
        let energies = moments.row_energies(columns.clone(), &self.gram);
        columns
            .zip(energies)
            .map(|(d, shared)| {
                let (b, variance) = (bias.mean()[d], bias.variance()[d]);
                let own = self
                    .own
                    .as_ref()
                    .map_or(0.0, |o| moments.row_energy(d, o.row(d)));
                let (mut with_x, mut with_b) = (0.0, 0.0);
                for j in 0..k {
                    with_x += w[(d, j)] * self.linear[(d, j)];
                    with_b += w[(d, j)] * self.factors[(d, j)];
                }
                shared + own - 2.0 * with_x - 2.0 * b * self.total[d]
                    + 2.0 * b * with_b
                    + self.count[d] * (b * b + variance)
            })
            .collect()
    }

    /// Keeps some factors, in that order.
    pub(super) fn select(&mut self, keep: &[usize]) {
        let old = self.gram.clone();
        self.gram = SymPacked::from_lower(keep.len(), |i, j| old.get(keep[i], keep[j]));
        if let Some(own) = &mut self.own {
            own.select(keep, &vec![1.0; keep.len()]);
        }
        for m in [&mut self.linear, &mut self.factors] {
            *m = Mat::from_fn(m.nrows(), keep.len(), |d, j| m[(d, keep[j])]);
        }
    }

    /// The sums of factors that were multiplied by `a` from the right.
    pub(super) fn transform(&mut self, a: MatRef<'_, f64>) {
        let mut gram = PackedRows::repeat(1, &self.gram);
        gram.congruence(a);
        self.gram = gram.sym(0);
        if let Some(own) = &mut self.own {
            own.congruence(a);
        }
        for m in [&mut self.linear, &mut self.factors] {
            *m = times_small(m.as_ref(), a);
        }
    }
}
