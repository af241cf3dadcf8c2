//! Gaussian views.
//!
//! $x\_{nd} \sim N(z\_n w\_d^\top + b\_d, \tau\_d^{-1})$ with one precision τ
//! for the view or one a feature, $\tau \sim \mathrm{Ga}(a\_0, b\_0)$
//! (spec/sshiba G6, G5; thesis 6.1).
//!
//! | symbol | field |
//! |---|---|
//! | $x$ | `values`, zero (or imputed) where missing |
//! | $\tau$ | `noise` |
//! | $n\_d, \sum x, \sum x^2$ | `counts`, `sums`, `squares` over the observed cells |
//!
//! Values stored sparse stay so. With $x\_{nd} = s\_{nd} + c\_d$, $s$ the entries
//! and $c$ the base of a column (less its mean, once centred), every product of
//! data and model is one with the entries alone, the base joining the intercept:
//! $x - zw^\top - b = s - zw^\top - (b - c)$.
//!
//! Missing cells are integrated out (`[M]`, spec/sshiba 2.5) or have a
//! mean-field factor of their own (`[I]`, U10).
//!
//! What is kept between calls: $Z^\top X$ ($Z^\top S$ of sparse values) after the
//! weights, $XW$ after the pass (`products`). Both are guarded by stamps; whatever
//! is stale is made anew by reading the data again.

mod cells;
mod dense;
mod gibbs;
mod impute;
mod latent;
mod products;
mod scores;
mod species;
mod term;

pub use species::GaussianSpecies;

use std::ops::Range;

use polyview_core::{GammaPrior, Gammas, Mask, NumericError, Predictor, Stamp, Values, View};
use polyview_linalg::{Mat, ObservedCells, ScratchMat, SymPacked};

use crate::{MissingData, NoiseBy, ParameterUncertainty};

/// Choices of a Gaussian view.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GaussianOptions {
    /// What a noise precision is shared by.
    pub noise: NoiseBy,
    /// Prior of the noise precisions, per squared working unit.
    pub prior: GammaPrior,
    /// Treatment of missing cells.
    pub missing: MissingData,
    /// Noise precision to start from.
    pub start: f64,
}

impl Default for GaussianOptions {
    fn default() -> Self {
        Self {
            noise: NoiseBy::default(),
            prior: GammaPrior::new(1e-6, 1e-6),
            missing: MissingData::Marginal,
            start: 1.0,
        }
    }
}

/// Complete data after an orthogonal change of samples or features that the
/// model does not notice (the sufficient-statistic paths).
#[derive(Clone, Debug)]
pub struct Compressed {
    /// The data that are left, samples × features of the compressed problem.
    pub values: Mat<f64>,
    /// Image of the constant vector 1, one entry a row of `values`.
    pub ones: Vec<f64>,
    /// Number of samples it stands for.
    pub samples: usize,
    /// Number of features it stands for.
    pub features: usize,
}

/// Data term of a Gaussian view.
#[derive(Clone, Debug)]
pub struct Gaussian {
    name: String,
    /// Shared with whoever else holds the view; copied when it changes.
    values: Values,
    mask: Mask,
    /// Whether so few cells are observed that products go over these alone.
    few: bool,
    missing: MissingData,
    /// Row weights and image of the constant vector; `None` = all ones.
    ones: Option<Vec<f64>>,
    /// Samples and features that the data stand for.
    samples: f64,
    implicit_columns: usize,
    scope: NoiseBy,
    noise: Gammas,
    /// Changes with the noise.
    noise_stamp: Stamp,
    /// Changes with the values.
    data_stamp: Stamp,
    counts: Vec<f64>,
    sums: Vec<f64>,
    squares: Vec<f64>,
    imputed: impute::Imputed,
    /// Where the data are means of latent scores: the sum of the scores'
    /// variances by feature (E1); else empty.
    score_variance: Vec<f64>,
    /// Which noise predictions have.
    prediction: ParameterUncertainty,
    cache: Cache,
}

/// Sums that stay valid as long as their stamps do.
#[derive(Clone, Debug, Default)]
struct Cache {
    /// $Z^\top X$, K × D, with the stamps of the factors and the data.
    zx: Option<(Stamp, Stamp, ScratchMat)>,
    /// Incomplete views: for each of some features the sums of the factors'
    /// moment table over its observed samples.
    observed: Option<cells::Observed>,
    /// Incomplete views: expected squared residuals by feature.
    residuals: cells::Residuals,
    /// $X\\,\mathrm{diag}(t)\\,W$, N × K, `t` = τ by feature or 1 by view.
    xw: Option<(XwKey, Mat<f64>)>,
    /// Second moment and sum of the factors over the samples with data.
    factor_sums: Option<(Stamp, SymPacked, Vec<f64>)>,
    /// Columns of `zx` made by the current pass.
    filled: Option<Range<usize>>,
    /// Being summed in the current pass.
    partial: Option<Mat<f64>>,
    /// Incomplete views: the current pass over the samples.
    pass: Option<cells::SamplePass>,
    /// Views of few cells: these, with the stamp of the data.
    cells: Option<(Stamp, ObservedCells)>,
    /// Incomplete views: the samples' part of the energy.
    energy: Option<(cells::EnergyKey, f64)>,
}

/// State that a product of data and weights belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct XwKey {
    weights: Stamp,
    data: Stamp,
    noise: Option<Stamp>,
}

impl Gaussian {
    /// The term of a view in working units.
    pub fn new(view: View, options: GaussianOptions) -> Self {
        let samples = view.n_samples();
        let (name, _, values, mask) = view.into_stored();
        let columns = values.ncols();
        let ones = match (&mask, options.missing) {
            (Mask::Rows(rows), MissingData::Marginal) => {
                Some(rows.iter().map(|&r| f64::from(u8::from(r))).collect())
            }
            _ => None,
        };
        let mut term = Self {
            name,
            values,
            mask,
            few: false,
            missing: options.missing,
            ones,
            samples: samples as f64,
            implicit_columns: 0,
            scope: options.noise,
            noise: Gammas::new(
                options.prior,
                if options.noise == NoiseBy::View {
                    1
                } else {
                    columns
                },
                options.start,
            ),
            noise_stamp: Stamp::fresh(),
            data_stamp: Stamp::fresh(),
            counts: vec![0.0; columns],
            sums: vec![0.0; columns],
            squares: vec![0.0; columns],
            imputed: impute::Imputed::default(),
            score_variance: Vec::new(),
            prediction: ParameterUncertainty::Posterior,
            cache: Cache::default(),
        };
        term.count_cells();
        let observed = term.counts.iter().sum::<f64>();
        term.few = term.by_cells() && ObservedCells::serve(observed, (samples, columns));
        term.imputed = impute::Imputed::start(&term);
        term.sum_columns(0..columns);
        term
    }

    /// The term of compressed complete data. Noise must be by view when
    /// features are compressed.
    pub fn compressed(name: impl Into<String>, data: Compressed, options: GaussianOptions) -> Self {
        let columns = data.values.ncols();
        let mut term = Self {
            name: name.into(),
            mask: Mask::Complete,
            few: false,
            missing: MissingData::Marginal,
            ones: Some(data.ones),
            samples: data.samples as f64,
            implicit_columns: data.features - columns,
            scope: options.noise,
            noise: Gammas::new(
                options.prior,
                if options.noise == NoiseBy::View {
                    1
                } else {
                    columns
                },
                options.start,
            ),
            noise_stamp: Stamp::fresh(),
            data_stamp: Stamp::fresh(),
            counts: vec![data.samples as f64; columns],
            sums: vec![0.0; columns],
            squares: vec![0.0; columns],
            imputed: impute::Imputed::default(),
            score_variance: Vec::new(),
            prediction: ParameterUncertainty::Posterior,
            cache: Cache::default(),
            values: data.values.into(),
        };
        term.sum_columns(0..columns);
        term
    }

    /// The term with predictions that take the noise precisions to be as sure
    /// as that.
    #[must_use]
    pub fn with_prediction(mut self, parameters: ParameterUncertainty) -> Self {
        self.prediction = parameters;
        self
    }
    /// Noise precisions: one, or one a feature.
    pub fn noise(&self) -> &Gammas {
        &self.noise
    }
    /// Takes over the noise precisions of another term of the same features.
    pub fn set_noise(&mut self, noise: Gammas) {
        self.noise = noise;
        self.noise_stamp = Stamp::fresh();
    }
    /// Values in working units, as they are stored; zero or imputed where
    /// missing.
    pub fn values(&self) -> &Values {
        &self.values
    }
    /// Which cells were observed.
    pub fn mask(&self) -> &Mask {
        &self.mask
    }

    /// Whether each sample has its own precision.
    fn by_cells(&self) -> bool {
        matches!(self.mask, Mask::Cells { .. }) && self.missing == MissingData::Marginal
    }
    fn tau(&self, column: usize) -> f64 {
        self.noise.mean()[if self.scope == NoiseBy::View {
            0
        } else {
            column
        }]
    }
    fn tau_ln(&self, column: usize) -> f64 {
        self.noise.mean_ln()[if self.scope == NoiseBy::View {
            0
        } else {
            column
        }]
    }
    /// Weights of the columns in `xw`: τ where it differs by feature.
    fn column_weights(&self) -> Option<&[f64]> {
        (self.scope == NoiseBy::Feature).then(|| self.noise.mean())
    }
    /// Factor still missing in `xw`: τ where it is common.
    fn common_tau(&self) -> f64 {
        if self.scope == NoiseBy::View {
            self.noise.mean()[0]
        } else {
            1.0
        }
    }

    fn count_cells(&mut self) {
        let rows = self.values.nrows();
        for d in 0..self.values.ncols() {
            self.counts[d] = match self.missing {
                MissingData::Marginal => self.mask.count_feature(d, rows) as f64,
                MissingData::Impute => rows as f64,
            };
        }
    }
    /// $\sum s x$ and $\sum x^2$ of some columns.
    fn sum_columns(&mut self, columns: Range<usize>) {
        for d in columns {
            let x = match &self.values {
                Values::Dense(x) => x.col_as_slice(d),
                Values::Sparse(x) => {
                    (self.sums[d], self.squares[d]) = x.sums(d, &self.mask);
                    continue;
                }
            };
            self.sums[d] = match &self.ones {
                None => x.iter().sum(),
                Some(s) => x.iter().zip(s).map(|(x, s)| x * s).sum(),
            };
            self.squares[d] = x.iter().map(|x| x * x).sum();
        }
    }
    /// Intercept of a column beside its entries: $b\_d - c\_d$, the base of
    /// sparse values taken away.
    fn level(&self, p: &Predictor<'_>, column: usize) -> f64 {
        let b = p.bias.mean()[column];
        match &self.values {
            Values::Dense(_) => b,
            Values::Sparse(x) => b - x.base()[column],
        }
    }
    fn check(&self, values: &[f64], what: &'static str) -> Result<(), NumericError> {
        if values.iter().all(|v| v.is_finite()) {
            Ok(())
        } else {
            Err(NumericError::NotFinite {
                block: format!("likelihood/{}", self.name),
                what,
            })
        }
    }
    /// Shape and rate of the noise precision of some columns.
    fn noise_posterior(
        &mut self,
        columns: Range<usize>,
        p: &Predictor<'_>,
    ) -> Result<Vec<(f64, f64)>, NumericError> {
        let sums = self.residual_sums(columns, p)?;
        let posterior = |(count, sum)| self.noise.posterior(count, sum);
        Ok(sums.into_iter().map(posterior).collect())
    }
    /// What U6 adds to shape and rate of the noise precision of some columns.
    fn residual_sums(
        &mut self,
        columns: Range<usize>,
        p: &Predictor<'_>,
    ) -> Result<Vec<(f64, f64)>, NumericError> {
        let residuals = if self.by_cells() {
            self.cells_residuals(columns.clone(), p)
        } else {
            self.dense_residuals(columns.clone(), p)
        };
        self.check(&residuals, "a residual")?;
        let counts = &self.counts;
        Ok(match self.scope {
            NoiseBy::Feature => columns
                .zip(&residuals)
                .map(|(d, r)| (0.5 * counts[d], 0.5 * r))
                .collect(),
            NoiseBy::View => {
                let (mut cells, mut sum) =
                    (counts.iter().sum::<f64>(), residuals.iter().sum::<f64>());
                if self.implicit_columns > 0 {
                    cells += self.samples * self.implicit_columns as f64;
                    sum += self.implicit_residual(p);
                }
                vec![(0.5 * cells, 0.5 * sum)]
            }
        })
    }
    /// Residual of the implicit columns, whose data and means are zero.
    fn implicit_residual(&mut self, p: &Predictor<'_>) -> f64 {
        let (count, variance) = p.bias.implicit();
        let explicit: Vec<f64> = vec![1.0; p.weights.explicit_rows()];
        let mut cov = p.weights.cov_sum(None);
        cov.add_scaled(-1.0, &p.weights.cov_sum(Some(&explicit)));
        cov.dot(&self.factor_sums(p).0) + self.samples * count as f64 * variance
    }
}

/// Column blocks of about eight megabytes: the unit in which data are read.
fn blocks(rows: usize, columns: usize) -> impl Iterator<Item = Range<usize>> {
    let width = polyview_core::column_block(rows);
    (0..columns)
        .step_by(width.max(1))
        .map(move |start| start..(start + width).min(columns))
}
