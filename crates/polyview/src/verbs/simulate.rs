//! New samples from the posterior predictive distribution.

use polyview_core::{Dataset, Predictor, RowCov, RowGroups, RowMoments, Table};
use polyview_linalg::SpdFactor;
use polyview_random::{StreamKey, fill_standard_normal, standard_normal, uniform_open01};

use crate::build::several;
use crate::error::{ErrorKind, Result};
use crate::fit::{ComponentView, Fit};

/// Blocks of random numbers of one simulation; each view has eight.
const PARAMETERS: u32 = 0;
const FACTORS: u32 = 1;
const GROUPS: u32 = 2;
const VIEW: u32 = 8;

impl Fit {
    /// Draws a data set of new samples: parameters once from the posterior
    /// (for Gibbs one of the draws, at random), then factors from their prior,
    /// then data of every view, complete, in data units. Over many seeds it is
    /// the posterior predictive distribution. Samples are called `sim1`,
    /// `sim2`, …; where the model looks at groups, each belongs to the group of a
    /// training sample drawn at random.
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
        let mut component = self.component(chosen)?;
        let k = self.k();
        let names: Vec<String> = (1..=samples).map(|n| format!("sim{n}")).collect();
        let mut builder = Dataset::builder();
        let mut rows = RowGroups::one(samples);
        let several = several(self.groups()).filter(|_| self.spec().knows_groups());
        if let Some(groups) = several {
            let mut rng = key.block(GROUPS).rng();
            let of_training = &groups.of_sample;
            let drawn: Vec<u32> = (0..samples)
                .map(|_| uniform_open01(&mut rng) * of_training.len() as f64)
                .map(|u| of_training[(u as usize).min(of_training.len() - 1)])
                .collect();
            let pair = |(s, &g): (&String, &u32)| (s.clone(), groups.names[g as usize].clone());
            builder = builder.groups(names.iter().zip(&drawn).map(pair).collect());
            rows = RowGroups::new(drawn, groups.names.len())?;
            component.place(&rows);
        }
        let (z, shares) = component.scales.draw(&rows, k, key.block(FACTORS));
        if let Some(shares) = &shares {
            component.share(shares);
        }
        for (at, (part, info)) in component.views.iter().zip(&self.views).enumerate() {
            let key = |block: u32| key.block(VIEW * (at as u32 + 1) + block);
            let weights = draw_weights(&part.weights, key(0))?;
            let bias = draw_bias(part, key(1));
            let p = Predictor {
                factors: &z,
                weights: &weights,
                bias: &bias,
            };
            let mut values = part.term.simulate(&p, key(2), key(3));
            if part.term.predicted_kind().is_real() {
                info.scaling.restore(&mut values);
            }
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
}

/// A draw of every row.
fn draw_weights(weights: &RowMoments, key: StreamKey) -> Result<RowMoments> {
    let k = weights.k();
    let mut out = weights.mean().to_owned();
    let shared = match weights.cov() {
        RowCov::Zero => return Ok(RowMoments::point(out)),
        // known weights of a model made elsewhere
        RowCov::Shared(s) if s.as_slice().iter().all(|x| *x == 0.0) => {
            return Ok(RowMoments::point(out));
        }
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
