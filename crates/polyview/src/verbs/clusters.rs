//! The components of a mixture prior, and which samples belong to them.

use polyview_core::NumericError;
use polyview_linalg::Mat;

use crate::error::{ErrorKind, Result};
use crate::fit::Fit;

/// Components of the factors' prior and the samples that belong to them.
///
/// Draws of a sampler may number the components differently; they are put in
/// the order of those of the first draw by the samples that they share before
/// anything is averaged.
#[derive(Clone, Debug)]
pub struct Clusters {
    /// Sample IDs, in the order of the rows of [`Clusters::shares`].
    pub samples: Vec<String>,
    /// Probability that a sample belongs to a component, samples × components.
    pub shares: Mat<f64>,
    /// Expected number of samples of each component.
    pub sizes: Vec<f64>,
    /// Means of the components, components × factors.
    pub means: Mat<f64>,
    /// Precisions of the components, per squared unit of a factor.
    pub precisions: Vec<f64>,
    /// Expected weights of the components for a new sample.
    pub weights: Vec<f64>,
    /// Concentration of the Dirichlet process.
    pub concentration: f64,
}

impl Clusters {
    /// The most probable component of each sample, from 0; of equal ones the
    /// first.
    pub fn labels(&self) -> Vec<usize> {
        let best = |n: usize| {
            (1..self.shares.ncols()).fold(0, |best, t| {
                if self.shares[(n, t)] > self.shares[(n, best)] {
                    t
                } else {
                    best
                }
            })
        };
        (0..self.shares.nrows()).map(best).collect()
    }
}

impl Fit {
    /// The components of a mixture prior of the factors
    /// (`mixture`, [`FactorPrior`](crate::FactorPrior)).
    ///
    /// # Errors
    /// [`ErrorKind::NoClusters`] when the factors have another prior; when a
    /// component's state is damaged.
    pub fn clusters(&self) -> Result<Clusters> {
        let mut out: Option<Clusters> = None;
        let parts = self.n_components();
        for i in 0..parts {
            let component = self.component(i)?;
            let factors = &component.factors;
            let (Some(mixture), Some(shares)) = (factors.mixture(), factors.shares()) else {
                return Err(ErrorKind::NoClusters.into());
            };
            let (t, k) = mixture.means.shape();
            let sum = out.get_or_insert_with(|| Clusters {
                samples: self.samples.clone(),
                shares: Mat::zeros(shares.nrows(), t),
                sizes: vec![0.0; t],
                means: Mat::zeros(t, k),
                precisions: vec![0.0; t],
                weights: vec![0.0; t],
                concentration: 0.0,
            });
            let place = matched(&sum.shares, shares);
            let step = 1.0 / parts as f64;
            for (from, &to) in place.iter().enumerate() {
                for (x, s) in
                    (sum.shares.col_as_slice_mut(to).iter_mut()).zip(shares.col_as_slice(from))
                {
                    *x += step * s;
                    sum.sizes[to] += step * s;
                }
                for j in 0..k {
                    sum.means[(to, j)] += step * mixture.means[(from, j)];
                }
                sum.precisions[to] += step * mixture.precisions[from];
                sum.weights[to] += step * mixture.weights[from];
            }
            sum.concentration += step * mixture.concentration;
        }
        out.ok_or_else(|| {
            NumericError::BadState {
                name: "component 0".to_owned(),
            }
            .into()
        })
    }
}

/// Which of the components so far each of the new ones is: pairs by the most
/// samples in common, greedily; without any the same.
fn matched(so_far: &Mat<f64>, new: &Mat<f64>) -> Vec<usize> {
    let t = new.ncols();
    let mut pairs = Vec::with_capacity(t * t);
    for from in 0..t {
        for to in 0..t {
            let common: f64 = (so_far.col_as_slice(to).iter())
                .zip(new.col_as_slice(from))
                .map(|(a, b)| a * b)
                .sum();
            pairs.push((common, from, to));
        }
    }
    // equal ones: the same place first
    pairs.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1 != a.2).cmp(&(b.1 != b.2))));
    let (mut place, mut taken) = (vec![usize::MAX; t], vec![false; t]);
    for (_, from, to) in pairs {
        if place[from] == usize::MAX && !taken[to] {
            place[from] = to;
            taken[to] = true;
        }
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_are_matched_by_their_samples() {
        let of =
            |labels: [usize; 5]| Mat::from_fn(5, 3, |n, t| f64::from(u8::from(labels[n] == t)));
        let none = Mat::zeros(5, 3);
        assert_eq!(matched(&none, &of([0, 0, 1, 1, 2])), [0, 1, 2]);
        assert_eq!(
            matched(&of([0, 0, 1, 1, 2]), &of([2, 2, 0, 0, 1])),
            [1, 2, 0]
        );
    }
}
