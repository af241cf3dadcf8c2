//! Global-local shrinkage: the three-parameter beta prior and its horseshoe.

mod idle;
mod nodes;
mod options;
mod species;

pub use options::{GlobalScale, ThreeParameterBetaOptions};
pub use species::ThreeParameterBetaSpecies;

use polyview_core::{
    NumericError, PrecisionView, RotationSide, RotationTerm, RowMoments, ScalePrior, State,
    StateReader, Stateful,
};
use polyview_linalg::MatRef;
use polyview_random::StreamKey;
use polyview_special::ln_gamma;
use rayon::prelude::*;

use nodes::{AT_REST, Nodes, Variances, draw_ln, draw_variance_ln};

/// First random stream of the global scales; those of the columns come before
/// it.
const GLOBAL_STREAMS: u32 = 1 << 31;
/// First random stream of the scales of the global scales.
const HYPER_STREAMS: u32 = 3 << 30;
/// $\ln\Gamma(\tfrac12)$.
const LN_GAMMA_HALF: f64 = 0.572_364_942_924_700_1;

/// The three-parameter beta normal prior (Armagan, Dunson and Clyde 2011),
/// **the horseshoe at $r = s = \tfrac12$**: a variance for each entry, and a
/// global scale $\Phi$ for the entries of a column, of a row, or for all
/// ([`GlobalScale`]),
///
/// $$w\_{dk} \sim N(0, \xi\_{dk}),\quad \xi\_{dk} \sim \mathrm{Ga}(r, \eta\_{dk}),\quad
/// \eta\_{dk} \sim \mathrm{Ga}(s, \Phi\_g),\quad \Phi\_g \sim \mathrm{Ga}(\tfrac12,
/// \tilde\Phi),\quad \tilde\Phi \sim \mathrm{Ga}(\tfrac12, 1)$$
///
/// (shape, rate; spec/maxmargin-rank 2.4). With $r = s = \tfrac12$ it is
/// $\sqrt{\xi\_{dk}} \sim C^+(0, \sqrt{\Phi\_g})$ and $\sqrt{\Phi\_g} \sim C^+(0,
/// 1)$. Small entries are shrunk to nothing and large ones are left alone;
/// with a scale a column, factors that nobody needs vanish.
///
/// Variational Bayes (spec/maxmargin-rank 5.4 and errata E6 to E9), in this
/// order:
///
/// $$q(\xi\_{dk}) = \mathrm{GIG}\big(2\langle\eta\_{dk}\rangle, \langle
/// w\_{dk}^2\rangle, r - \tfrac12\big),\quad q(\eta\_{dk}) = \mathrm{Ga}\big(r + s,
/// \langle\xi\_{dk}\rangle + \langle\Phi\_g\rangle\big),$$
/// $$q(\Phi\_g) = \mathrm{Ga}\Big(\tfrac12 + s\\,n\_g, \langle\tilde\Phi\rangle +
/// \sum\_{g}\langle\eta\_{dk}\rangle\Big),\quad q(\tilde\Phi) = \mathrm{Ga}\Big(
/// \tfrac{G + 1}2, 1 + \sum\_g\langle\Phi\_g\rangle\Big)$$
///
/// for the $n\_g$ entries of scale g and the G scales that share a
/// $\tilde\Phi$: all columns do, rows have one each. Draws replace moments by
/// values (spec/maxmargin-rank 4.4), on the log scale; logs stay within 230 of
/// zero.
///
/// **Idle rows** ([`ThreeParameterBeta::without`]) are those that no data speak of.
/// Their posterior is their prior, which the factorised q cannot be: each entry would
/// cost the bound its gap. They are left out instead, exactly as in a
/// model that does not have them: no variance of theirs is learnt, no global scale
/// counts them, and they add nothing to the bound. As rows of the block
/// they have a known precision so large that they are zero in every predictor. (Where each
/// row has a global scale of its own none is left out.)
///
/// Every entry has a precision of its own, so there are no implicit rows and no
/// rotation term. The bound is exact; $-\tfrac12\langle\ln\xi\rangle$ of the
/// rows' density cancels against the scales' and is in neither part.
///
/// ```
/// use polyview_core::{Context, Journal, RowBlock, RowMoments};
/// use polyview_linalg::Mat;
/// use polyview_priors::{FullRows, ThreeParameterBeta, ThreeParameterBetaOptions};
/// use polyview_random::StreamKey;
///
/// // one large entry among small ones
/// let mean = Mat::from_fn(50, 2, |d, k| if (d, k) == (7, 0) { 2.0 } else { 0.01 });
/// let prior = ThreeParameterBeta::new(ThreeParameterBetaOptions::default(), 50, 2);
/// let mut weights = FullRows::new("weights/genes", prior, RowMoments::isotropic(mean, 1e-4, 0));
/// let mut cx = Context { key: StreamKey::new(1), sweep: 1, journal: &mut Journal::default() };
/// for _ in 0..50 {
///     weights.learn(&mut cx)?;
/// }
/// let precision = weights.prior().precisions();
/// assert!(precision[(7, 0)] < 1.0 && precision[(8, 0)] > 100.0);
/// # Ok::<(), polyview_core::NumericError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ThreeParameterBeta {
    options: ThreeParameterBetaOptions,
    rows: usize,
    k: usize,
    /// Rows that the data do not speak of, ascending.
    idle: Vec<usize>,
    /// Entry (d, k) at d + D k.
    xi: Variances,
    eta: Nodes,
    phi: Nodes,
    hyper: Nodes,
}

impl ThreeParameterBeta {
    /// D `rows` of K entries; all scales start near 1.
    pub fn new(options: ThreeParameterBetaOptions, rows: usize, k: usize) -> Self {
        let (globals, hypers) = match options.global {
            GlobalScale::Column => (k, 1),
            GlobalScale::Row => (rows, rows),
            GlobalScale::All => (1, 1),
        };
        Self {
            rows,
            k,
            idle: Vec::new(),
            xi: Variances::new(options.r - 0.5, rows * k),
            eta: Nodes::new(options.r + options.s, rows * k),
            phi: Nodes::new(0.5, globals),
            hyper: Nodes::new(0.5, hypers),
            options,
        }
    }
    /// Leaves these rows out; places from 0, those beyond the last row are ignored.
    #[must_use]
    pub fn without(mut self, rows: &[usize]) -> Self {
        if self.options.global == GlobalScale::Row {
            return self;
        }
        self.idle = rows.iter().copied().filter(|d| *d < self.rows).collect();
        self.idle.sort_unstable();
        self.idle.dedup();
        self.rest();
        self
    }
    /// Rows that are left out, ascending.
    pub fn idle(&self) -> &[usize] {
        &self.idle
    }
    fn is_idle(&self, row: usize) -> bool {
        !self.idle.is_empty() && self.idle.binary_search(&row).is_ok()
    }
    /// The known precision of idle rows.
    fn rest(&mut self) {
        if self.idle.is_empty() {
            return;
        }
        let (rows, drawn) = (self.rows, self.xi.is_draw());
        for mut column in self.xi.columns_mut(rows, drawn) {
            for &d in &self.idle {
                column.rest(d);
            }
        }
    }
    /// Shapes and scopes.
    pub fn options(&self) -> ThreeParameterBetaOptions {
        self.options
    }
    /// Expected precisions $\langle\xi\_{dk}^{-1}\rangle$, D × K, per squared
    /// working unit.
    pub fn precisions(&self) -> MatRef<'_, f64> {
        MatRef::from_column_major_slice(self.xi.inverse(), self.rows, self.k)
    }
    /// Expected variances $\langle\xi\_{dk}\rangle$, D × K, in squared working
    /// units.
    pub fn variances(&self) -> MatRef<'_, f64> {
        MatRef::from_column_major_slice(self.xi.mean(), self.rows, self.k)
    }
    /// Expected rates $\langle\eta\_{dk}\rangle$, D × K, one over squared
    /// working units.
    pub fn rates(&self) -> MatRef<'_, f64> {
        MatRef::from_column_major_slice(self.eta.mean(), self.rows, self.k)
    }
    /// Expected global scales $\langle\Phi\_g\rangle$ in squared working units:
    /// one a column, one a row, or one.
    pub fn global_scales(&self) -> &[f64] {
        self.phi.mean()
    }
    /// $\langle\tilde\Phi\rangle$: one a row where rows have hierarchies of
    /// their own, else one.
    pub fn hyper_rates(&self) -> &[f64] {
        self.hyper.mean()
    }
    /// Global scale of an entry.
    fn global(&self, row: usize, column: usize) -> usize {
        match self.options.global {
            GlobalScale::Column => column,
            GlobalScale::Row => row,
            GlobalScale::All => 0,
        }
    }
    /// Number of entries of a global scale.
    fn entries(&self) -> f64 {
        let rows = self.rows - self.idle.len();
        let n = match self.options.global {
            GlobalScale::Column => rows,
            GlobalScale::Row => self.k,
            GlobalScale::All => rows * self.k,
        };
        n as f64
    }
    /// Number of global scales of one $\tilde\Phi$.
    fn globals(&self) -> f64 {
        match self.options.global {
            GlobalScale::Column => self.k as f64,
            GlobalScale::Row | GlobalScale::All => 1.0,
        }
    }
    /// The first of the four steps of an update: $q(\xi)$.
    pub fn update_variances(&mut self, rows: &RowMoments) {
        let (count, eta) = (self.rows, self.eta.mean());
        self.xi
            .columns_mut(count, false)
            .into_par_iter()
            .enumerate()
            .for_each(|(k, mut column)| {
                for d in 0..count {
                    let m = rows.mean()[(d, k)];
                    let square = m * m + rows.variance(d, k);
                    column.set(d, 2.0 * eta[d + k * count], square);
                }
            });
        self.rest();
    }
    /// The second step: $q(\eta)$.
    pub fn update_rates(&mut self) {
        let (xi, phi) = (self.xi.mean(), self.phi.mean());
        let mut rate = Vec::with_capacity(xi.len());
        for k in 0..self.k {
            for d in 0..self.rows {
                rate.push(xi[d + k * self.rows] + phi[self.global(d, k)]);
            }
        }
        self.eta.set(self.options.r + self.options.s, rate);
    }
    /// The third step: $q(\Phi)$ (errata E6 and E8).
    pub fn update_globals(&mut self) {
        self.phi.set(self.global_shape(), self.global_rates());
    }
    /// The last step: $q(\tilde\Phi)$ (erratum E7).
    pub fn update_hyper(&mut self) {
        self.hyper.set(self.hyper_shape(), self.hyper_posterior());
    }
    fn global_shape(&self) -> f64 {
        0.5 + self.options.s * self.entries()
    }
    fn global_rates(&self) -> Vec<f64> {
        let mut rate: Vec<f64> = (0..self.phi.len()).map(|g| self.hyper_of(g)).collect();
        for k in 0..self.k {
            for d in (0..self.rows).filter(|d| !self.is_idle(*d)) {
                rate[self.global(d, k)] += self.eta.mean()[d + k * self.rows];
            }
        }
        rate
    }
    fn hyper_shape(&self) -> f64 {
        0.5 * (self.globals() + 1.0)
    }
    fn hyper_posterior(&self) -> Vec<f64> {
        let phi = self.phi.mean();
        match self.options.global {
            GlobalScale::Row => phi.iter().map(|x| 1.0 + x).collect(),
            _ => vec![1.0 + phi.iter().sum::<f64>()],
        }
    }
    /// Number of the $\tilde\Phi$ of a global scale.
    fn hyper_index(&self, global: usize) -> usize {
        match self.options.global {
            GlobalScale::Row => global,
            _ => 0,
        }
    }
    fn hyper_of(&self, global: usize) -> f64 {
        self.hyper.mean()[self.hyper_index(global)]
    }
    /// Draws the Gamma variables above the rates, given what is below them.
    fn draw_globals(&mut self, key: StreamKey) {
        let shape = self.global_shape();
        let draws = stream_draws(key, GLOBAL_STREAMS, shape, &self.global_rates());
        self.phi.set_ln(draws);
        let shape = self.hyper_shape();
        let draws = stream_draws(key, HYPER_STREAMS, shape, &self.hyper_posterior());
        self.hyper.set_ln(draws);
    }
    /// Draws variances and rates column by column: `draw` gives their logs from
    /// rate and global scale of an entry.
    fn draw_columns(
        &mut self,
        key: StreamKey,
        draw: impl Fn(usize, usize, f64, f64, &mut polyview_random::ChaCha8Rng) -> (f64, f64) + Sync,
    ) {
        let rows = self.rows;
        let (eta, phi) = (self.eta.mean(), self.phi.mean());
        let scope = self.options.global;
        let rates: Vec<Vec<f64>> = self
            .xi
            .columns_mut(rows, true)
            .into_par_iter()
            .enumerate()
            .map(|(k, mut column)| {
                let mut rng = key.chunk(k as u32).rng();
                (0..rows)
                    .map(|d| {
                        let global = match scope {
                            GlobalScale::Column => phi[k],
                            GlobalScale::Row => phi[d],
                            GlobalScale::All => phi[0],
                        };
                        let (xi, rate) = draw(d, k, eta[d + k * rows], global, &mut rng);
                        column.set_ln(d, xi);
                        rate
                    })
                    .collect()
            })
            .collect();
        self.eta.set_ln(rates.concat());
        self.rest();
    }
}

/// Logs of draws of Ga(shape, rate), one stream each.
fn stream_draws(key: StreamKey, first: u32, shape: f64, rates: &[f64]) -> Vec<f64> {
    rates
        .iter()
        .enumerate()
        .map(|(i, &rate)| draw_ln(shape, rate, &mut key.chunk(first + i as u32).rng()))
        .collect()
}

impl ScalePrior for ThreeParameterBeta {
    fn precision(&self) -> PrecisionView<'_> {
        PrecisionView::Cells(self.precisions())
    }
    fn update(&mut self, rows: &RowMoments) {
        self.update_variances(rows);
        self.update_rates();
        self.update_globals();
        self.update_hyper();
    }
    fn draw(&mut self, rows: &RowMoments, key: StreamKey) {
        let (p, shape) = (self.xi.p(), self.options.r + self.options.s);
        self.draw_columns(key, |d, k, rate, global, rng| {
            let m = rows.mean()[(d, k)];
            let square = m * m + rows.variance(d, k);
            let xi = draw_variance_ln(2.0 * rate, square, p, rng);
            (xi, draw_ln(shape, xi.exp() + global, rng))
        });
        self.draw_globals(key);
    }
    fn draw_prior(&mut self, key: StreamKey) {
        let ones = vec![1.0; self.hyper.len()];
        self.hyper
            .set_ln(stream_draws(key, HYPER_STREAMS, 0.5, &ones));
        let rates: Vec<f64> = (0..self.phi.len()).map(|g| self.hyper_of(g)).collect();
        self.phi
            .set_ln(stream_draws(key, GLOBAL_STREAMS, 0.5, &rates));
        let ThreeParameterBetaOptions { r, s, .. } = self.options;
        self.draw_columns(key, |_, _, _, global, rng| {
            let rate = draw_ln(s, global, rng);
            (draw_ln(r, rate.exp(), rng), rate)
        });
    }
    /// Without $-\tfrac12\langle\ln\xi\rangle$ unless scales are draws, see the
    /// type.
    fn expected_log_density(&self, rows: &RowMoments) -> f64 {
        let inverse = self.precisions();
        let mut total = 0.0;
        for k in 0..self.k {
            let column: f64 = (0..self.rows)
                .map(|d| {
                    let m = rows.mean()[(d, k)];
                    (m * m + rows.variance(d, k)) * inverse[(d, k)]
                })
                .sum();
            total -= 0.5 * column;
        }
        if self.xi.is_draw() {
            total -= 0.5 * self.xi.ln().iter().sum::<f64>();
        } else {
            total += 0.5 * (self.idle.len() * self.k) as f64 * AT_REST.ln();
        }
        total
    }
    /// spec/maxmargin-rank 5.6.
    fn bound(&self) -> f64 {
        let ThreeParameterBetaOptions { r, s, .. } = self.options;
        let (xi, eta) = (&self.xi, &self.eta);
        let n = ((self.rows - self.idle.len()) * self.k) as f64;
        let mut total = -n * (ln_gamma(r) + ln_gamma(s));
        for k in 0..self.k {
            let mut column = 0.0;
            for d in (0..self.rows).filter(|d| !self.is_idle(*d)) {
                let (i, g) = (d + k * self.rows, self.global(d, k));
                let (rate, ln_rate) = (eta.mean()[i], eta.mean_ln()[i]);
                let own = if xi.is_draw() {
                    (r - 1.0) * xi.ln()[i]
                } else {
                    xi.ln()[i] + xi.exponent(i)
                };
                column += own + r * ln_rate - rate * xi.mean()[i]
                    + s * self.phi.mean_ln()[g]
                    + (s - 1.0) * ln_rate
                    - self.phi.mean()[g] * rate;
            }
            total += column;
        }
        for g in 0..self.phi.len() {
            let h = self.hyper_index(g);
            total += 0.5 * (self.hyper.mean_ln()[h] - self.phi.mean_ln()[g])
                - LN_GAMMA_HALF
                - self.hyper.mean()[h] * self.phi.mean()[g];
        }
        for h in 0..self.hyper.len() {
            total -= LN_GAMMA_HALF + 0.5 * self.hyper.mean_ln()[h] + self.hyper.mean()[h];
        }
        let idle: Vec<usize> = (0..self.k)
            .flat_map(|k| self.idle.iter().map(move |d| d + k * self.rows))
            .collect();
        let rates = eta.entropy() - eta.entropy_of(&idle);
        total + rates + self.phi.entropy() + self.hyper.entropy()
    }
    fn idle_column(&self, _rows: &RowMoments) -> f64 {
        self.idle_entries()
    }
    /// None: a rotation mixes entries with different variances.
    fn rotation_term(
        &self,
        _rows: &RowMoments,
        _side: RotationSide,
    ) -> Option<Box<dyn RotationTerm>> {
        None
    }
    fn select(&mut self, keep: &[usize]) {
        let entries: Vec<usize> = keep
            .iter()
            .flat_map(|&k| k * self.rows..(k + 1) * self.rows)
            .collect();
        self.xi.select(&entries);
        self.eta.select(&entries);
        if self.options.global == GlobalScale::Column {
            self.phi.select(keep);
        }
        self.k = keep.len();
    }
}

impl Stateful for ThreeParameterBeta {
    fn save(&self, prefix: &str, state: &mut State) {
        let ThreeParameterBetaOptions { r, s, .. } = self.options;
        state.put_vec(&format!("{prefix}/shapes"), &[r, s]);
        state.put_vec(
            &format!("{prefix}/size"),
            &[self.rows as f64, self.k as f64],
        );
        self.xi.save(&format!("{prefix}/xi"), state);
        self.eta.save(&format!("{prefix}/eta"), state);
        self.phi.save(&format!("{prefix}/phi"), state);
        self.hyper.save(&format!("{prefix}/hyper"), state);
    }
    fn load(&mut self, prefix: &str, state: &StateReader<'_>) -> Result<(), NumericError> {
        let bad = |name: &str| NumericError::BadState {
            name: format!("{prefix}/{name}"),
        };
        let shapes = state.vec_of(&format!("{prefix}/shapes"), 2)?;
        let options = ThreeParameterBetaOptions {
            r: shapes[0],
            s: shapes[1],
            global: self.options.global,
        };
        if !options.is_proper() {
            return Err(bad("shapes"));
        }
        let size = state.vec_of(&format!("{prefix}/size"), 2)?;
        let whole = |x: f64| (0.0..1e9).contains(&x) && x.fract() == 0.0;
        if !(whole(size[0]) && whole(size[1])) {
            return Err(bad("size"));
        }
        let (rows, k) = (size[0] as usize, size[1] as usize);
        // nothing is made from sizes that the arrays do not have
        let mut next = Self::new(options, 0, 0);
        next.xi.load(&format!("{prefix}/xi"), rows * k, state)?;
        next.eta.load(&format!("{prefix}/eta"), rows * k, state)?;
        let (globals, hypers) = match options.global {
            GlobalScale::Column => (k, 1),
            GlobalScale::Row => (rows, rows),
            GlobalScale::All => (1, 1),
        };
        next.phi.load(&format!("{prefix}/phi"), globals, state)?;
        next.hyper.load(&format!("{prefix}/hyper"), hypers, state)?;
        (next.rows, next.k) = (rows, k);
        if rows == self.rows {
            next.idle = std::mem::take(&mut self.idle);
        }
        *self = next;
        self.rest();
        Ok(())
    }
}
