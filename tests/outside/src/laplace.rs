//! The Bayesian lasso: weights with a double exponential prior.
//!
//! $w \sim N(0, v)$ with $v \sim \mathrm{Exp}(\ell/2)$ for each weight, so that $w$ has the
//! density $\tfrac12\sqrt\ell\,e^{-\sqrt\ell|w|}$, and $\ell_k \sim \mathrm{Ga}(a, b)$ for each
//! factor. Given $\langle w^2\rangle$ the posterior of $v$ is generalised inverse Gaussian with
//! $p = \tfrac12$, whose moments are elementary.

use polyview_core::{
    About, DataError, GammaPrior, Gammas, NumericError, PrecisionView, PriorContext, PriorSpecies,
    RotationSide, RotationTerm, RowBlock, RowMoments, RowRole, ScalePrior, State, StateReader,
    Stateful,
};
use polyview_linalg::Mat;
use polyview_priors::FullRows;
use polyview_random::{InverseGaussian, StreamKey, standard_exponential};

/// Smallest expected square of a weight: at zero its precision would have no end.
const LEAST: f64 = 1e-12;

/// The scales of the weights of one view.
#[derive(Clone, Debug)]
pub struct Laplace {
    /// $\ell$, one for each factor.
    rates: Gammas,
    /// $\langle 1/v\rangle$, or a draw, rows × K.
    precision: Mat<f64>,
    /// $\langle w^2\rangle$ that the posterior of $v$ was made with; `None` for draws.
    squares: Option<Mat<f64>>,
}

impl Laplace {
    /// For that many rows and columns.
    pub fn new(prior: GammaPrior, rows: usize, k: usize) -> Self {
        Self {
            rates: Gammas::new(prior, k, 1.0),
            precision: Mat::from_fn(rows, k, |_, _| 1.0),
            squares: Some(Mat::from_fn(rows, k, |_, _| 1.0)),
        }
    }
    fn squares_of(rows: &RowMoments) -> Mat<f64> {
        Mat::from_fn(rows.explicit_rows(), rows.k(), |r, k| {
            (rows.mean()[(r, k)].powi(2) + rows.variance(r, k)).max(LEAST)
        })
    }
    /// $\langle v\rangle$ of an entry under the rate that it was made with.
    fn variance(rate: f64, square: f64) -> f64 {
        (square / rate).sqrt() + 1.0 / rate
    }
}

impl ScalePrior for Laplace {
    fn precision(&self) -> PrecisionView<'_> {
        PrecisionView::Cells(self.precision.as_ref())
    }
    /// $v$ given the rates, then these given $v$: each the optimum of its factor of q. The
    /// variances that the rates have seen are those of the rates before.
    fn update(&mut self, rows: &RowMoments) {
        let squares = Self::squares_of(rows);
        for k in 0..squares.ncols() {
            let rate = self.rates.mean()[k];
            let mut sum = 0.0;
            for r in 0..squares.nrows() {
                sum += Self::variance(rate, squares[(r, k)]);
            }
            let (shape, new) = self.rates.posterior(squares.nrows() as f64, 0.5 * sum);
            self.rates.set(k, shape, new);
            // and once more, so that the variances are those of the rates that there are
            let rate = self.rates.mean()[k];
            for r in 0..squares.nrows() {
                self.precision[(r, k)] = (rate / squares[(r, k)]).sqrt();
            }
        }
        self.squares = Some(squares);
    }
    fn draw(&mut self, rows: &RowMoments, key: StreamKey) {
        let squares = Self::squares_of(rows);
        for k in 0..squares.ncols() {
            let mut rng = key.chunk(k as u32).rng();
            let rate = self.rates.mean()[k];
            let mut sum = 0.0;
            for r in 0..squares.nrows() {
                let mean = (rate / squares[(r, k)]).sqrt();
                let law = InverseGaussian::new(mean, rate);
                let drawn: f64 = law.map_or(f64::NAN, |law| law.sample(&mut rng));
                self.precision[(r, k)] = drawn;
                sum += 1.0 / drawn;
            }
            let (shape, new) = self.rates.posterior(squares.nrows() as f64, 0.5 * sum);
            // streams of the rates come after those of the entries
            let stream = key.chunk((squares.ncols() + k) as u32);
            self.rates.draw(k, shape, new, stream);
        }
        self.squares = None;
    }
    fn draw_prior(&mut self, key: StreamKey) {
        let prior = self.rates.prior();
        for k in 0..self.rates.len() {
            let stream = key.chunk((self.rates.len() + k) as u32);
            self.rates.draw(k, prior.shape, prior.rate, stream);
            let (rate, mut rng) = (self.rates.mean()[k], key.chunk(k as u32).rng());
            for r in 0..self.precision.nrows() {
                self.precision[(r, k)] = 0.5 * rate / standard_exponential(&mut rng);
            }
        }
        self.squares = None;
    }
    /// Of draws the density of the weights given $v$, with that of $v$ in
    /// [`ScalePrior::bound`]; else what the two have in common left out of both, which is
    /// $\tfrac12\langle\ln v\rangle$.
    fn expected_log_density(&self, rows: &RowMoments) -> f64 {
        let squares = Self::squares_of(rows);
        let mut sum = 0.0;
        for k in 0..squares.ncols() {
            for r in 0..squares.nrows() {
                let p = self.precision[(r, k)];
                sum -= 0.5 * p * squares[(r, k)];
                if self.squares.is_none() {
                    sum += 0.5 * p.ln();
                }
            }
        }
        sum
    }
    fn bound(&self) -> f64 {
        let mut sum = self.rates.bound();
        for k in 0..self.precision.ncols() {
            let (rate, ln_rate) = (self.rates.mean()[k], self.rates.mean_ln()[k]);
            for r in 0..self.precision.nrows() {
                let p = self.precision[(r, k)];
                sum += ln_rate - std::f64::consts::LN_2;
                match &self.squares {
                    None => sum -= 0.5 * rate / p,
                    // E ln p(v) and the entropy of q(v): what is left is its constant
                    Some(squares) => {
                        let square = squares[(r, k)];
                        let root = (rate * square).sqrt();
                        sum += 0.5 * p * square - root
                            + 0.5 * (2.0 * std::f64::consts::PI / rate).ln();
                    }
                }
            }
        }
        sum
    }
    fn rotation_term(
        &self,
        _rows: &RowMoments,
        _side: RotationSide,
    ) -> Option<Box<dyn RotationTerm>> {
        None
    }
    fn select(&mut self, keep: &[usize]) {
        let take = |m: &Mat<f64>| Mat::from_fn(m.nrows(), keep.len(), |r, j| m[(r, keep[j])]);
        self.rates.select(keep);
        self.precision = take(&self.precision);
        self.squares = self.squares.as_ref().map(take);
    }
}

impl Stateful for Laplace {
    fn save(&self, prefix: &str, state: &mut State) {
        self.rates.save(&format!("{prefix}/rates"), state);
        state.put_mat(&format!("{prefix}/precision"), self.precision.as_ref());
        let squares = self.squares.clone().unwrap_or_else(|| Mat::zeros(0, 0));
        state.put_mat(&format!("{prefix}/squares"), squares.as_ref());
    }
    fn load(&mut self, prefix: &str, state: &StateReader<'_>) -> Result<(), NumericError> {
        self.rates.load(&format!("{prefix}/rates"), state)?;
        self.precision = state.mat(&format!("{prefix}/precision"))?;
        let squares = state.mat(&format!("{prefix}/squares"))?;
        self.squares = (squares.nrows() > 0).then_some(squares);
        Ok(())
    }
}

/// [`Laplace`] as a species.
#[derive(Clone, Copy, Debug, Default)]
pub struct LaplaceSpecies;

impl PriorSpecies for LaplaceSpecies {
    fn name(&self) -> &'static str {
        "laplace"
    }
    fn roles(&self) -> &'static [RowRole] {
        &[RowRole::Weights]
    }
    fn about(&self, _role: RowRole) -> About {
        About {
            line: "double exponential weights: the Bayesian lasso",
            needs: "weights of any view",
            label: "",
            options: &[],
        }
    }
    fn rows(
        &self,
        _options: &polyview_core::Options,
        start: RowMoments,
        cx: &PriorContext<'_>,
    ) -> Result<Box<dyn RowBlock>, DataError> {
        let prior = GammaPrior {
            shape: 1.0,
            rate: 1.0,
        };
        let prior = Laplace::new(prior, start.explicit_rows(), start.k());
        Ok(Box::new(FullRows::new(cx.block, prior, start)))
    }
}
