//! New samples from the posterior predictive distribution.

use polyview_core::{
    Augmented, Dataset, Predictor, RowCov, RowMoments, Stateful, Table, View, ViewTerm,
};
use polyview_likelihoods::{Gaussian, MissingData};
use polyview_linalg::{Mat, SpdFactor};
use polyview_random::{StreamKey, fill_standard_normal, standard_normal, uniform_open01};

use crate::build::gaussian_options;
use crate::error::{ErrorKind, Result};
use crate::fit::{ComponentView, Fit};
use crate::spec::Likelihood;

/// Blocks of random numbers of one simulation; each view has eight.
const PARAMETERS: u32 = 0;
const FACTORS: u32 = 1;
const VIEW: u32 = 8;

impl Fit {
    /// Draws a data set of new samples: parameters once from the posterior
    /// (for Gibbs one of the draws, at random), then factors from their prior,
    /// then data of every view, complete, in data units. Over many seeds it is
    /// the posterior predictive distribution. Samples are called `sim1`,
    /// `sim2`, …
    ///
    /// The same seed gives the same bits.
    ///
    /// # Errors
    /// [`ErrorKind::Option`] when `samples` is 0; when a component's state is
    /// damaged.
    pub fn simulate(&self, samples: usize, seed: u64) -> Result<Dataset> {
        if samples == 0 {
            return Err(ErrorKind::Option {
                option: "samples",
                value: "0".to_owned(),
            }
            .into());
        }
        let key = StreamKey::new(seed);
        let count = self.n_components();
        let u = uniform_open01(&mut key.block(PARAMETERS).rng());
        let chosen = ((u * count as f64) as usize).min(count.saturating_sub(1));
        let component = self.component(chosen)?;
        let k = self.k();
        let mut z: Mat<f64> = Mat::zeros(samples, k);
        for j in 0..k {
            let mut rng = key.block(FACTORS).chunk(j as u32).rng();
            fill_standard_normal(&mut rng, z.col_as_slice_mut(j));
        }
        let z = RowMoments::point(z);
        let names: Vec<String> = (1..=samples).map(|n| format!("sim{n}")).collect();
        let mut builder = Dataset::builder();
        for (at, (part, info)) in component.views.iter().zip(&self.views).enumerate() {
            let key = |block: u32| key.block(VIEW * (at as u32 + 1) + block);
            let weights = draw_weights(&part.weights, key(0))?;
            let bias = draw_bias(part, key(1));
            let p = Predictor {
                factors: &z,
                weights: &weights,
                bias: &bias,
            };
            let values = match info.choices.likelihood {
                Likelihood::Gaussian => {
                    let mut term = self.gaussian(chosen, at, samples)?;
                    if !self.is_sampled() {
                        let mut noise = term.noise().clone();
                        for i in 0..noise.len() {
                            let (shape, rate) = (noise.shape()[i], noise.rate()[i]);
                            noise.draw(i, shape, rate, key(2).chunk(i as u32));
                        }
                        term.set_noise(noise);
                    }
                    term.draw_data(&p, key(3));
                    let mut values = term.values().to_owned();
                    info.scaling.restore(&mut values);
                    values
                }
                Likelihood::Bernoulli | Likelihood::BernoulliLatent => {
                    draw_labels(part.term.as_ref(), &p, samples, key(3))
                }
                Likelihood::Categorical => draw_classes(part.term.as_ref(), &p, samples, key(3)),
            };
            builder = builder.view(Table {
                name: info.name.clone(),
                samples: names.clone(),
                features: info.features.clone(),
                values,
                levels: info.levels.clone(),
            });
        }
        Ok(builder.build()?)
    }

    /// The Gaussian term of a view with the noise of one component, for
    /// `samples` samples whose data are zero.
    fn gaussian(&self, component: usize, at: usize, samples: usize) -> Result<Gaussian> {
        let info = &self.views[at];
        let zeros = Mat::zeros(samples, info.features.len());
        let view = View::from_values(info.name.clone(), info.features.clone(), zeros)?;
        let options = gaussian_options(&self.spec, &info.name, MissingData::Marginal);
        let mut term = Gaussian::new(view, options);
        let state = self.components[component].reader();
        term.load(&format!("views/{}/term", info.name), &state)?;
        Ok(term)
    }
}

/// Zeros and ones of their probabilities given the linear predictor.
fn draw_labels(term: &dyn ViewTerm, p: &Predictor<'_>, samples: usize, key: StreamKey) -> Mat<f64> {
    let columns = p.weights.explicit_rows();
    let probability = term.predict(p, 0..samples, 0..columns).mean;
    let mut out = Mat::zeros(samples, columns);
    for d in 0..columns {
        let mut rng = key.chunk(d as u32).rng();
        for n in 0..samples {
            out[(n, d)] = f64::from(u8::from(uniform_open01(&mut rng) < probability[(n, d)]));
        }
    }
    out
}

/// One code a sample, of the probabilities given the linear predictor.
fn draw_classes(
    term: &dyn ViewTerm,
    p: &Predictor<'_>,
    samples: usize,
    key: StreamKey,
) -> Mat<f64> {
    let classes = p.weights.explicit_rows();
    let probability = term.predict(p, 0..samples, 0..classes).mean;
    let mut rng = key.rng();
    Mat::from_fn(samples, 1, |n, _| {
        let mut left = uniform_open01(&mut rng);
        let mut class = 0;
        while class + 1 < classes && left >= probability[(n, class)] {
            left -= probability[(n, class)];
            class += 1;
        }
        class as f64
    })
}

/// A draw of every row.
fn draw_weights(weights: &RowMoments, key: StreamKey) -> Result<RowMoments> {
    let k = weights.k();
    let mut out = weights.mean().to_owned();
    let shared = match weights.cov() {
        RowCov::Zero => return Ok(RowMoments::point(out)),
        RowCov::Shared(s) => Some(SpdFactor::factor(s)?.0.lower()),
        _ => None,
    };
    let mut noise = vec![0.0; k];
    for d in 0..out.nrows() {
        fill_standard_normal(&mut key.chunk(d as u32).rng(), &mut noise);
        let own;
        let lower = if let Some(lower) = &shared {
            lower
        } else {
            own = SpdFactor::factor(&weights.row_cov(d))?.0.lower();
            &own
        };
        for i in 0..k {
            out[(d, i)] += (0..=i).map(|j| lower[(i, j)] * noise[j]).sum::<f64>();
        }
    }
    Ok(RowMoments::point(out))
}

/// A draw of every intercept.
fn draw_bias(part: &ComponentView, key: StreamKey) -> polyview_core::Bias {
    let mut out = part.bias.clone();
    let mut rng = key.rng();
    let mean: Vec<f64> = out
        .mean()
        .iter()
        .zip(out.variance())
        .map(|(m, v)| m + v.sqrt() * standard_normal(&mut rng))
        .collect();
    let zeros = vec![0.0; mean.len()];
    out.set(mean, zeros);
    out
}
