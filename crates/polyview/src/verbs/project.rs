//! Factors of new samples.

use polyview_core::{Dataset, Journal, RowCov, UnknownClass};
use polyview_infer::ProjectionRounds;
use polyview_linalg::{Mat, PackedRows, SymPacked, packed_index, packed_len};
use serde::{Deserialize, Serialize};

use super::align::Aligned;
use super::{latent, placing};
use crate::error::Result;
use crate::fit::Fit;

/// What a projection knows of the weights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WeightUncertainty {
    /// Their uncertainty counts: $\langle W^\top W\rangle$, the optimum of
    /// $q(z\_*)$ under the fitted posterior and what the fit itself does for
    /// its samples (spec/sshiba P2).
    #[default]
    Variational,
    /// They are taken as known: $\langle W\rangle^\top\langle W\rangle$, as
    /// printed in the papers (spec/sshiba P1, thesis 8.4). Factors are then less certain, never
    /// more: $\langle W^\top W\rangle$ has the variances of the weights on top.
    PlugIn,
}

/// Choices of [`Fit::project`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct ProjectOptions {
    /// What is known of the weights. Gibbs draws have known weights: the
    /// choice makes no difference to them.
    pub weights: WeightUncertainty,
    /// What becomes of a class that the model has not seen.
    pub unknown_classes: UnknownClass,
    /// Most rounds of local variables and factors, where a view's likelihood has local
    /// variables; 1000 by default. Factors that still move after them are an error.
    pub rounds: usize,
}

impl Default for ProjectOptions {
    fn default() -> Self {
        Self {
            weights: WeightUncertainty::default(),
            unknown_classes: UnknownClass::default(),
            rounds: ProjectionRounds::default().most,
        }
    }
}

/// Factors of new samples.
#[derive(Clone, Debug)]
pub struct Projection {
    /// Sample IDs, in the order of the data.
    pub samples: Vec<String>,
    /// Posterior means, samples × K.
    pub mean: Mat<f64>,
    /// Posterior covariances of the rows, K × K each.
    pub covariance: RowCov,
    /// Posterior standard deviations, samples × K.
    pub sd: Mat<f64>,
    /// What was ignored, taken as missing or numerically delicate.
    pub notes: Vec<String>,
    /// What is likely to make the factors wrong, such as data that are far off
    /// those of training.
    pub warnings: Vec<String>,
}

impl Projection {
    /// Posterior covariance of one sample, packed.
    pub fn covariance_of(&self, sample: usize) -> SymPacked {
        row_cov(&self.covariance, sample, self.mean.ncols())
    }
}

impl Fit {
    /// Factors of samples from any subset of the model's views.
    ///
    /// Views are matched by name, features by name and in any order. Features
    /// of the model that the data lack are missing, features that the model
    /// does not know are ignored; both are noted. Missing cells are integrated
    /// out, whatever the fit did about its own: a sample is seen through what
    /// was observed of it, and nothing else.
    ///
    /// Where the model looks at groups of samples, those of the data are matched
    /// by name. Samples without a group may be of any: the answer is the mixture over the model's groups,
    /// each as likely as the sample's data make it ($q(g)\propto e^{L\_g}$ with what the bound says of the sample in
    /// that group; before its data are seen each is as likely as it is often in training), and a note says so.
    ///
    /// Each sample is seen alone: views need not share samples, and one without an
    /// observed value gets the prior, with a note
    /// ([`DatasetBuilder::new_samples`](polyview_core::DatasetBuilder::new_samples)).
    /// Whichever samples are projected together, the factors of each are the same up to
    /// rounding (of products of matrices, whose order of summation may depend on their
    /// number of rows).
    ///
    /// With `[M]` as the fit's treatment of missing data, projecting a
    /// training sample with all its views gives its posterior.
    ///
    /// # Errors
    /// [`crate::ErrorKind::UnknownView`], [`crate::ErrorKind::NoKnownFeature`],
    /// [`crate::ErrorKind::UnknownGroup`]; [`crate::ErrorKind::NotSettled`] where
    /// factors of a sample did not come to rest; numerical errors.
    pub fn project(&self, data: &Dataset, options: &ProjectOptions) -> Result<Projection> {
        let Aligned {
            samples,
            views,
            placing,
            mut notes,
            warnings,
        } = Aligned::new(self, data, None, options.unknown_classes)?;
        let (n, k) = (samples.len(), self.k());
        let mut journal = Journal::default();
        let (draws, ways) = (self.n_components(), placing.count());
        let how = (options.weights, options.rounds);
        if draws * ways == 1 {
            let mut component = self.component(0)?;
            placing.place(0, &mut component)?;
            let z = latent::factors(self, &component, &views, &samples, how, &mut journal)?.moments;
            latent::notes_of(&journal, &mut notes);
            return Ok(Projection {
                samples,
                mean: z.mean().to_owned(),
                sd: Mat::from_fn(n, k, |r, j| z.variance(r, j).sqrt()),
                covariance: z.cov().clone(),
                notes,
                warnings,
            });
        }
        let mut mean: Mat<f64> = Mat::zeros(n, k);
        let mut spread = PackedRows::zeros(n, k);
        let mut step = vec![0.0; k];
        let mut total = vec![0.0; n];
        for i in 0..draws {
            let (mut found, mut bounds) = (Vec::new(), Vec::new());
            for way in 0..ways {
                let mut component = self.component(i)?;
                placing.place(way, &mut component)?;
                let z = latent::factors(self, &component, &views, &samples, how, &mut journal)?;
                let alone = || self.component(i);
                let of = (&views[..], &z);
                bounds.push(placing.bounds((self, way), alone, of, options.weights)?);
                found.push(z.moments);
            }
            for (z, shares) in found.iter().zip(placing::shares(&bounds, n)) {
                for (r, share) in shares.into_iter().enumerate().filter(|s| s.1 > 0.0) {
                    let before = total[r];
                    total[r] += share;
                    for j in 0..k {
                        step[j] = z.mean()[(r, j)] - mean[(r, j)];
                        mean[(r, j)] += step[j] * share / total[r];
                    }
                    let own = z.row_cov(r);
                    let cell = spread.row_mut(r);
                    let shrink = share * before / total[r];
                    for a in 0..k {
                        for b in 0..=a {
                            let p = packed_index(a, b);
                            cell[p] += share * own.as_slice()[p] + shrink * step[a] * step[b];
                        }
                    }
                }
            }
        }
        latent::notes_of(&journal, &mut notes);
        let share = 1.0 / draws.max(1) as f64;
        for x in spread.as_mut_slice() {
            *x *= share;
        }
        Ok(Projection {
            samples,
            mean,
            sd: Mat::from_fn(n, k, |r, j| spread.row(r)[packed_index(j, j)].sqrt()),
            covariance: RowCov::PerRow(spread),
            notes,
            warnings,
        })
    }
}

fn row_cov(cov: &RowCov, row: usize, k: usize) -> SymPacked {
    let packed = |values: &[f64]| {
        let mut out = SymPacked::zeros(k);
        out.as_mut_slice().copy_from_slice(&values[..packed_len(k)]);
        out
    };
    match cov {
        RowCov::Zero => SymPacked::zeros(k),
        RowCov::Shared(s) => s.clone(),
        RowCov::Patterns { cov, of_row } => packed(cov.row(of_row[row] as usize)),
        RowCov::PerRow(cov) => packed(cov.row(row)),
        RowCov::Basis { vectors, scales } => SymPacked::from_lower(k, |a, b| {
            (0..vectors.ncols())
                .map(|j| scales[(row, j)] * vectors[(a, j)] * vectors[(b, j)])
                .sum()
        }),
        RowCov::Diagonal(v) => {
            SymPacked::from_lower(k, |a, b| if a == b { v[(row, a)] } else { 0.0 })
        }
    }
}
