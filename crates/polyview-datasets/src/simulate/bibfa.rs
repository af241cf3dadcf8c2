//! BIBFA's generative model.

use polyview_core::GammaPrior;
use polyview_linalg::Mat;
use polyview_random::{gamma, standard_normal};

use super::error::{SimulationError, populated, shaped, within};
use super::{Missing, Quantity, Simulated, assemble, finite, normal_matrix, observe, stream};

/// A latent quantity: drawn from its prior, or given.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Latent<T> {
    /// Drawn from its prior.
    #[default]
    Prior,
    /// As given.
    Given(T),
}

/// What [`simulate_bibfa`] makes. [`BibfaOptions::new`] fills in: everything
/// from its prior, $\alpha \sim \mathrm{Ga}(2, 2)$, $\tau \sim \mathrm{Ga}(2, 2)$, nothing
/// missing. (The models' own vague priors are no use here: their draws spread
/// over hundreds of orders of magnitude.)
#[derive(Clone, Debug, PartialEq)]
pub struct BibfaOptions {
    /// Number of samples N.
    pub samples: usize,
    /// Number of features D_m of each view.
    pub features: Vec<usize>,
    /// Number of factors K.
    pub factors: usize,
    /// The same seed gives the same bits.
    pub seed: u64,
    /// Prior of the weight precisions, shape and rate.
    pub alpha_prior: GammaPrior,
    /// Prior of the noise precisions, shape and rate.
    pub tau_prior: GammaPrior,
    /// Weight precisions $\alpha$, `[view][factor]`; infinite for a factor that
    /// does not act in a view.
    pub alpha: Latent<Vec<Vec<f64>>>,
    /// Noise precisions $\tau$, one a view.
    pub tau: Latent<Vec<f64>>,
    /// Factors Z, N × K.
    pub z: Latent<Mat<f64>>,
    /// Weights W, D_m × K each.
    pub weights: Latent<Vec<Mat<f64>>>,
    /// Intercepts b, one a feature. The original model has none: give zeros.
    pub intercepts: Latent<Vec<Vec<f64>>>,
    /// What is hidden.
    pub missing: Missing,
}

impl BibfaOptions {
    /// Everything from its prior.
    pub fn new(samples: usize, features: &[usize], factors: usize, seed: u64) -> Self {
        Self {
            samples,
            features: features.to_vec(),
            factors,
            seed,
            alpha_prior: GammaPrior::new(2.0, 2.0),
            tau_prior: GammaPrior::new(2.0, 2.0),
            alpha: Latent::Prior,
            tau: Latent::Prior,
            z: Latent::Prior,
            weights: Latent::Prior,
            intercepts: Latent::Prior,
            missing: Missing::default(),
        }
    }
}

/// Data from BIBFA's generative model, and everything they were made from.
#[derive(Clone, Debug, PartialEq)]
pub struct SimulatedBibfa {
    /// Data, factors, weights, intercepts, noise precisions; a factor counts
    /// as active where its precision is finite.
    pub data: Simulated,
    /// Weight precisions $\alpha$, `[view][factor]`.
    pub alpha: Vec<Vec<f64>>,
}

/// Simulates from BIBFA's own model (SSHIBA eqs. 1-5, 18, 19), every latent
/// value drawn from its prior or given:
///
/// $$ z\_n \sim N(0, I), \quad \alpha\_{mk} \sim \mathrm{Ga}(a^\alpha, b^\alpha), \quad
/// w\_{dk} \sim N(0, \alpha\_{mk}^{-1}), \quad b\_d \sim N(0, 1), \quad
/// \tau\_m \sim \mathrm{Ga}(a^\tau, b^\tau), \quad
/// x\_{nd} \sim N(z\_n w\_d^\top + b\_d, \tau\_m^{-1}) $$
///
/// Gamma distributions by shape and rate. Everything from its prior is what
/// tests of samplers and of coverage need.
///
/// ```
/// use polyview_datasets::{BibfaOptions, Latent, simulate_bibfa};
///
/// let options = BibfaOptions {
///     tau: Latent::Given(vec![100.0, 1.0]),
///     ..BibfaOptions::new(50, &[8, 5], 3, 1)
/// };
/// let truth = simulate_bibfa(&options)?;
/// assert_eq!(truth.data.noise_precision, [100.0, 1.0]);
/// assert_eq!(truth.alpha[1].len(), 3);
/// assert_eq!(simulate_bibfa(&options)?, truth);
/// # Ok::<(), polyview_datasets::SimulationError>(())
/// ```
///
/// # Errors
/// [`SimulationError`]: nothing to simulate, a prior or precision out of range,
/// given values of the wrong shape, or drawn precisions so extreme that the
/// data overflow.
pub fn simulate_bibfa(options: &BibfaOptions) -> Result<SimulatedBibfa, SimulationError> {
    let (samples, factors, seed) = (options.samples, options.factors, options.seed);
    let (features, views) = (&options.features, options.features.len());
    populated(samples, features, factors)?;
    options.missing.check(views)?;

    let alpha = match &options.alpha {
        Latent::Given(given) => {
            shaped("views of alpha", &[views], &[given.len()])?;
            for view in given {
                shaped("factors of alpha", &[factors], &[view.len()])?;
                for &a in view {
                    within("alpha", a, "in (0, ∞]", a > 0.0)?;
                }
            }
            given.clone()
        }
        Latent::Prior => (0..views)
            .map(|m| {
                draw(
                    options.alpha_prior,
                    factors,
                    seed,
                    Quantity::WeightPrecision,
                    m,
                )
            })
            .collect::<Result<_, _>>()?,
    };
    let tau = match &options.tau {
        Latent::Given(given) => {
            shaped("tau", &[views], &[given.len()])?;
            for &t in given {
                within("tau", t, "in (0, ∞)", t > 0.0 && t.is_finite())?;
            }
            given.clone()
        }
        Latent::Prior => {
            let mut tau = Vec::with_capacity(views);
            for m in 0..views {
                tau.extend(draw(
                    options.tau_prior,
                    1,
                    seed,
                    Quantity::NoisePrecision,
                    m,
                )?);
            }
            tau
        }
    };
    let z = match &options.z {
        Latent::Given(z) => {
            shaped("factors", &[samples, factors], &[z.nrows(), z.ncols()])?;
            z.clone()
        }
        Latent::Prior => normal_matrix(samples, factors, &mut stream(seed, Quantity::Factors, 0)),
    };
    let weights = match &options.weights {
        Latent::Given(given) => {
            shaped("views of the weights", &[views], &[given.len()])?;
            for (w, &d) in given.iter().zip(features) {
                shaped("weights", &[d, factors], &[w.nrows(), w.ncols()])?;
            }
            given.clone()
        }
        Latent::Prior => (0..views)
            .map(|m| {
                let mut w = normal_matrix(
                    features[m],
                    factors,
                    &mut stream(seed, Quantity::Weights, m),
                );
                for k in 0..factors {
                    let sd = alpha[m][k].sqrt().recip();
                    w.col_as_slice_mut(k).iter_mut().for_each(|x| *x *= sd);
                }
                w
            })
            .collect(),
    };
    let intercepts = match &options.intercepts {
        Latent::Given(given) => {
            let found: Vec<usize> = given.iter().map(Vec::len).collect();
            shaped("intercepts", features, &found)?;
            given.clone()
        }
        Latent::Prior => (0..views)
            .map(|m| {
                let mut rng = stream(seed, Quantity::Intercepts, m);
                (0..features[m])
                    .map(|_| standard_normal(&mut rng))
                    .collect()
            })
            .collect(),
    };
    let complete: Vec<Mat<f64>> = (0..views)
        .map(|m| {
            let mut rng = stream(seed, Quantity::Noise, m);
            observe(&z, &weights[m], &intercepts[m], tau[m], &mut rng)
        })
        .collect();
    finite(&complete)?;
    let mut observed = complete.clone();
    options.missing.hide(&mut observed, seed);
    let activity = alpha
        .iter()
        .map(|view| view.iter().map(|a| a.is_finite()).collect())
        .collect();
    Ok(SimulatedBibfa {
        data: Simulated {
            dataset: assemble(observed, samples)?,
            complete,
            factors: z,
            weights,
            intercepts,
            noise_precision: tau,
            activity,
        },
        alpha,
    })
}

fn draw(
    prior: GammaPrior,
    count: usize,
    seed: u64,
    quantity: Quantity,
    view: usize,
) -> Result<Vec<f64>, SimulationError> {
    let mut rng = stream(seed, quantity, view);
    let draws = (0..count).map(|_| Ok(gamma(&mut rng, prior.shape, prior.rate)?));
    draws.collect()
}
