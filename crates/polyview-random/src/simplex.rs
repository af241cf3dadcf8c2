//! Beta, Dirichlet and categorical draws, stable for tiny parameters and tiny weights.

use rand::Rng;
use rand_distr::Distribution;

use crate::error::{RandomError, same_length};
use crate::gamma::Gamma;
use crate::standard::uniform_open01;

/// Beta distribution: density $\propto x^{a-1}(1-x)^{b-1}$ on $(0, 1)$.
///
/// A draw is $X/(X+Y)$ with independent Gamma variables, formed on the log scale where a parameter
/// is below one: it is exact for any parameters, also those whose mass sits within $10^{-300}$ of
/// an end. [`sample`](Self::sample) then rounds to 0 or 1; [`sample_ln`](Self::sample_ln) does not.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Beta {
    first: Gamma,
    second: Gamma,
}

impl Beta {
    /// Beta distribution with the given parameters.
    ///
    /// # Errors
    /// [`RandomError::OutOfRange`] as for the shape in [`Gamma::new`].
    pub fn new(a: f64, b: f64) -> Result<Self, RandomError> {
        Ok(Self {
            first: Gamma::new(a, 1.0)?,
            second: Gamma::new(b, 1.0)?,
        })
    }

    /// A draw.
    pub fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
        if self.on_natural_scale() {
            let (x, y) = (self.first.sample(rng), self.second.sample(rng));
            1.0 / (1.0 + y / x)
        } else {
            1.0 / (1.0 + libm::exp(self.ln_odds_against(rng)))
        }
    }

    /// $(\ln X, \ln(1 - X))$ of one draw, both finite or zero and both accurate however close
    /// $X$ is to an end.
    pub fn sample_ln<R: Rng + ?Sized>(&self, rng: &mut R) -> (f64, f64) {
        if self.on_natural_scale() {
            let (x, y) = (self.first.sample(rng), self.second.sample(rng));
            (ln_share(x, y), ln_share(y, x))
        } else {
            let against = self.ln_odds_against(rng);
            (-softplus(against), -softplus(-against))
        }
    }

    fn on_natural_scale(&self) -> bool {
        self.first.shape() >= 1.0 && self.second.shape() >= 1.0
    }

    /// $\ln((1-X)/X)$ of one draw.
    fn ln_odds_against<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
        let first = self.first.sample_ln(rng);
        self.second.sample_ln(rng) - first
    }
}

impl Distribution<f64> for Beta {
    fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
        Beta::sample(self, rng)
    }
}

/// $\ln(x / (x + y))$, also where the sum or the quotient overflows.
fn ln_share(x: f64, y: f64) -> f64 {
    let odds_against = y / x;
    if odds_against < f64::INFINITY {
        -libm::log1p(odds_against)
    } else {
        libm::log(x) - libm::log(y)
    }
}

/// $\ln(1 + e^x)$ without overflow.
fn softplus(x: f64) -> f64 {
    x.max(0.0) + libm::log1p(libm::exp(-x.abs()))
}

/// Dirichlet distribution: density $\propto \prod_k x\_k^{\alpha\_k - 1}$ on the simplex.
///
/// Normalised Gamma variables, normalised on the log scale: with all $\alpha\_k$ near zero, where
/// every Gamma variable underflows, the draw is still exact (a vertex of the simplex, nearly).
#[derive(Debug, Clone, PartialEq)]
pub struct Dirichlet {
    components: Vec<Gamma>,
}

impl Dirichlet {
    /// Dirichlet distribution with concentrations `alpha`.
    ///
    /// # Errors
    /// [`RandomError::NoMass`] if `alpha` is empty, [`RandomError::OutOfRange`] as for the shape
    /// in [`Gamma::new`].
    pub fn new(alpha: &[f64]) -> Result<Self, RandomError> {
        if alpha.is_empty() {
            return Err(RandomError::NoMass { len: 0 });
        }
        let components: Result<_, _> = alpha.iter().map(|&a| Gamma::new(a, 1.0)).collect();
        Ok(Self {
            components: components?,
        })
    }

    /// Number of components.
    pub fn dim(&self) -> usize {
        self.components.len()
    }

    /// Writes one draw into `out`; the entries sum to one.
    ///
    /// # Errors
    /// [`RandomError::LengthMismatch`] unless `out` has [`dim`](Self::dim) entries.
    pub fn sample_into<R: Rng + ?Sized>(
        &self,
        rng: &mut R,
        out: &mut [f64],
    ) -> Result<(), RandomError> {
        self.sample_ln_into(rng, out)?;
        for value in out {
            *value = libm::exp(*value);
        }
        Ok(())
    }

    /// Writes the logarithms of one draw into `out`, all finite.
    ///
    /// # Errors
    /// [`RandomError::LengthMismatch`] unless `out` has [`dim`](Self::dim) entries.
    pub fn sample_ln_into<R: Rng + ?Sized>(
        &self,
        rng: &mut R,
        out: &mut [f64],
    ) -> Result<(), RandomError> {
        same_length("Dirichlet draw", self.dim(), out.len())?;
        for (value, component) in out.iter_mut().zip(&self.components) {
            *value = component.sample_ln(rng);
        }
        let top = out.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let ln_total = libm::log(out.iter().map(|&v| libm::exp(v - top)).sum());
        for value in out {
            *value = (*value - top) - ln_total;
        }
        Ok(())
    }
}

/// Categorical distribution from unnormalised log weights, prepared for repeated draws.
///
/// Weights may span any range; $-\infty$ is a weight of zero and is never drawn. A category whose
/// share is below $2^{-53}$ is, for want of random bits, hardly ever drawn. For a single draw per
/// weight vector use [`categorical_ln`], which allocates nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct Categorical {
    cumulative: Vec<f64>,
    last: usize,
}

impl Categorical {
    /// Categorical distribution with probabilities proportional to $e^{w\_k}$.
    ///
    /// # Errors
    /// [`RandomError::IllegalWeight`] for a NaN or $+\infty$, [`RandomError::NoMass`] if no weight
    /// is above $-\infty$.
    pub fn from_ln_weights(ln_weights: &[f64]) -> Result<Self, RandomError> {
        let top = largest_weight(ln_weights)?;
        let mut total = 0.0;
        let mut last = 0;
        let cumulative = ln_weights
            .iter()
            .enumerate()
            .map(|(k, &w)| {
                let next = total + libm::exp(w - top);
                if next > total {
                    last = k;
                }
                total = next;
                total
            })
            .collect();
        Ok(Self { cumulative, last })
    }

    /// Number of categories.
    pub fn categories(&self) -> usize {
        self.cumulative.len()
    }

    /// A draw: an index below [`categories`](Self::categories).
    pub fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> usize {
        let target = uniform_open01(rng) * self.cumulative[self.last];
        self.cumulative
            .partition_point(|&c| c <= target)
            .min(self.last)
    }
}

impl Distribution<usize> for Categorical {
    fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> usize {
        Categorical::sample(self, rng)
    }
}

/// One draw from the categorical distribution with probabilities proportional to $e^{w\_k}$.
///
/// Draws the same index as [`Categorical`] does from the same generator.
///
/// # Errors
/// As [`Categorical::from_ln_weights`].
pub fn categorical_ln<R: Rng + ?Sized>(
    rng: &mut R,
    ln_weights: &[f64],
) -> Result<usize, RandomError> {
    let top = largest_weight(ln_weights)?;
    let total: f64 = ln_weights
        .iter()
        .fold(0.0, |sum, &w| sum + libm::exp(w - top));
    let target = uniform_open01(rng) * total;
    let mut sum = 0.0;
    let mut last = 0;
    for (k, &w) in ln_weights.iter().enumerate() {
        let next = sum + libm::exp(w - top);
        if next > target {
            return Ok(k);
        }
        if next > sum {
            last = k;
        }
        sum = next;
    }
    Ok(last)
}

/// The largest log weight, which is finite.
fn largest_weight(ln_weights: &[f64]) -> Result<f64, RandomError> {
    let mut top = f64::NEG_INFINITY;
    for (index, &value) in ln_weights.iter().enumerate() {
        if value.is_nan() || value == f64::INFINITY {
            return Err(RandomError::IllegalWeight { index, value });
        }
        top = top.max(value);
    }
    if top == f64::NEG_INFINITY {
        return Err(RandomError::NoMass {
            len: ln_weights.len(),
        });
    }
    Ok(top)
}
