//! New samples from the posterior predictive distribution.

use std::collections::BTreeMap;

use polyview_core::{
    Dataset, Metadata, MetadataValues, Predictor, RowContext, RowCov, RowGroups, RowMoments, Table,
    View,
};
use polyview_linalg::{Mat, MatRef, SpdFactor};
use polyview_random::{StreamKey, fill_standard_normal, standard_normal, uniform_open01};
use serde::{Deserialize, Serialize};

use super::latent;
use crate::assemble::several;
use crate::error::{ErrorKind, Result};
use crate::fit::{ComponentView, Fit, ViewInfo};

/// Choices of [`Fit::simulate_with`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct SimulateOptions {
    /// Numbers of trials of binomial views, the same for all cells of one. Those
    /// of a view that is not named are those of training samples.
    pub trials: BTreeMap<String, u64>,
}

/// Most trials of a cell.
const MOST_TRIALS: u64 = 1_000_000_000;

/// Blocks of random numbers of one simulation; each view has eight.
const PARAMETERS: u32 = 0;
const FACTORS: u32 = 1;
const GROUPS: u32 = 2;
const COVARIATES: u32 = 3;
const VIEW: u32 = 8;

impl Fit {
    /// Draws a data set of new samples: parameters once from the posterior
    /// (for Gibbs one of the draws, at random), then factors from their prior,
    /// then data of every view in data units, complete but for features that were
    /// never observed in training ([`crate::ViewInfo::unobserved`]): these stay
    /// missing. Over many seeds it is the posterior predictive distribution. Samples are called `sim1`,
    /// `sim2`, …; where the model looks at groups, each belongs to the group of a
    /// training sample drawn at random. Successes of a binomial view are out of
    /// the trials of a training sample drawn at random, of the same group; covariates, offsets and
    /// metadata of each sample are those of a training sample drawn at random, where there are any;
    /// [`Fit::simulate_with`] takes other numbers.
    ///
    /// The same seed gives the same bits.
    ///
    /// # Errors
    /// [`ErrorKind::Option`] when `samples` is 0; [`ErrorKind::Incompatible`] when
    /// a binomial view's trials went with the training data; when a component's
    /// state is damaged.
    pub fn simulate(&self, samples: usize, seed: u64) -> Result<Dataset> {
        self.simulate_with(samples, seed, &SimulateOptions::default())
    }

    /// As [`Fit::simulate`], with choices.
    ///
    /// # Errors
    /// As [`Fit::simulate`]; [`ErrorKind::UnknownView`],
    /// [`ErrorKind::Incompatible`] and [`ErrorKind::Option`] for trials of no
    /// view, of one that is not binomial, and of a number that is not 1 to 1e9.
    pub fn simulate_with(
        &self,
        samples: usize,
        seed: u64,
        options: &SimulateOptions,
    ) -> Result<Dataset> {
        for info in self.views() {
            info.tells_features("simulated data")?;
        }
        self.check_trials(options)?;
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
        let names: Vec<String> = (1..=samples).map(|n| format!("sim{n}")).collect();
        let mut builder = Dataset::builder();
        let mut rows = RowGroups::one(samples);
        let several = several(self.groups()).filter(|_| self.composed.knows_groups());
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
        if let Some(known) = component.known() {
            let (own, about) = self.drawn_covariates(known, samples, key.block(COVARIATES));
            component.known = Some(own);
            for column in about {
                builder = builder.metadata(names.clone(), column);
            }
        }
        let start = latent::start(&component, samples);
        let cx = RowContext::new(&rows).with_known(component.known());
        let mut z = (component.factors).for_rows(&cx, start)?;
        z.draw_rows(key.block(FACTORS));
        if let Some(shares) = z.shares() {
            component.share(shares);
        }
        for (at, (part, info)) in component.views.iter().zip(&self.views).enumerate() {
            let key = |block: u32| key.block(VIEW * (at as u32 + 1) + block);
            let weights = part.drawn(|w| draw_rows(w, key(0)))?;
            let bias = draw_bias(part, key(1));
            let p = Predictor {
                factors: z.seen(),
                weights: &weights,
                bias: &bias,
            };
            let trials = self.drawn_trials(at, &rows, options, key(4))?;
            let mut values = match &trials {
                None => part.term.simulate(&p, key(2), key(3)),
                Some(trials) => {
                    let (rows, columns) = trials.shape();
                    let none = Mat::zeros(rows, columns);
                    let view = View::from_values(&info.name, info.features.clone(), none)?
                        .with_trials(trials.clone())?;
                    let term = part.term.rebind(&view)?;
                    term.simulate(&p, key(2), key(3))
                }
            };
            if part.term.domain().is_real() {
                info.scaling.restore(&mut values);
            }
            for &d in &info.unobserved {
                values.col_as_slice_mut(d).fill(f64::NAN);
            }
            let table = |values: Mat<f64>, levels: Vec<String>| Table {
                name: info.name.clone(),
                samples: names.clone(),
                features: info.features.clone(),
                values,
                levels,
            };
            builder = builder.view(table(values, info.levels.clone()));
            if let Some(trials) = trials {
                builder = builder.trials(table(trials, Vec::new()));
            }
        }
        Ok(builder.build()?)
    }

    /// Covariates and offsets of new samples, each those of a training sample drawn at random, and its
    /// metadata.
    fn drawn_covariates(
        &self,
        known: MatRef<'_, f64>,
        samples: usize,
        key: StreamKey,
    ) -> (Mat<f64>, Vec<Metadata>) {
        let mut rng = key.rng();
        let drawn: Vec<usize> = (0..samples)
            .map(|_| (uniform_open01(&mut rng) * known.nrows() as f64) as usize)
            .map(|n| n.min(known.nrows().saturating_sub(1)))
            .collect();
        let column = |m: &Metadata| Metadata {
            name: m.name.clone(),
            values: match &m.values {
                MetadataValues::Numbers(x) => {
                    MetadataValues::Numbers(drawn.iter().map(|&n| x[n]).collect())
                }
                MetadataValues::Categories(x) => {
                    MetadataValues::Categories(drawn.iter().map(|&n| x[n].clone()).collect())
                }
            },
        };
        let own = Mat::from_fn(samples, known.ncols(), |i, j| known[(drawn[i], j)]);
        (own, self.metadata.iter().map(column).collect())
    }

    /// Refuses numbers of trials that do not suit the model.
    fn check_trials(&self, options: &SimulateOptions) -> Result<()> {
        for (name, &trials) in &options.trials {
            let (_, info) = self.view(name)?;
            if !info.choices.likelihood.has_trials() {
                return Err(ErrorKind::Incompatible {
                    view: name.clone(),
                    what: "numbers of trials".to_owned(),
                    with: format!("likelihood {}", info.choices.likelihood),
                }
                .into());
            }
            if !(1..=MOST_TRIALS).contains(&trials) {
                return Err(ErrorKind::Option {
                    option: "trials",
                    value: trials.to_string(),
                }
                .into());
            }
        }
        Ok(())
    }
    /// Trials of the cells of new samples of these groups in a binomial view:
    /// one number, or those of a training sample of the same group. Where that
    /// one's is not known, those of the next that has one count; in a feature
    /// without any each cell is one trial.
    fn drawn_trials(
        &self,
        view: usize,
        groups: &RowGroups,
        options: &SimulateOptions,
        key: StreamKey,
    ) -> Result<Option<Mat<f64>>> {
        let info: &ViewInfo = &self.views[view];
        if !info.choices.likelihood.has_trials() {
            return Ok(None);
        }
        let columns = info.features.len();
        if let Some(&trials) = options.trials.get(&info.name) {
            return Ok(Some(Mat::full(groups.rows(), columns, trials as f64)));
        }
        let Some(data) = &self.data else {
            return Err(ErrorKind::Incompatible {
                view: info.name.clone(),
                what: "drawing successes without a number of trials".to_owned(),
                with: "a model that was saved without its data".to_owned(),
            }
            .into());
        };
        let data = &data[view];
        let all = data.n_samples();
        let of_sample = match &self.groups {
            Some(own) if groups.count() > 1 => own.of_sample.clone(),
            _ => vec![0; all],
        };
        let mut members = vec![Vec::new(); groups.count()];
        for (n, &g) in of_sample.iter().enumerate() {
            members[g as usize].push(n);
        }
        let mut rng = key.rng();
        let mut out = Mat::full(groups.rows(), columns, 1.0);
        for (i, &g) in groups.of_row().iter().enumerate() {
            let members = &members[g as usize];
            let u = uniform_open01(&mut rng) * members.len() as f64;
            let (before, from) = members.split_at((u as usize).min(members.len()));
            for d in 0..columns {
                let mut known = (from.iter().chain(before))
                    .map(|&n| data.trials_of(n, d))
                    .filter(|t| *t > 0.0);
                out[(i, d)] = known.next().unwrap_or(1.0);
            }
        }
        Ok(Some(out))
    }
}

/// A draw of every row.
pub(super) fn draw_rows(weights: &RowMoments, key: StreamKey) -> Result<RowMoments> {
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
pub(super) fn draw_bias(part: &ComponentView, key: StreamKey) -> polyview_core::Bias {
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
