//! How much of a normal score's own noise is in its predictor (spec/maxmargin-rank 6).

use polyview_core::{Predictor, RowCov, RowMoments};
use polyview_linalg::{LinalgError, SpdFactor, SymPacked, gram, packed_dot, sym_eigen};

use super::anchors::Anchors;

/// Pairs, of a margin and a weight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Told {
    pub(super) epsilon: f64,
    pub(super) weight: f64,
}

/// What a posterior knows of training samples, seen by a view of ranks.
pub(super) struct Known<'a> {
    pub(super) anchors: &'a Anchors,
    pub(super) p: &'a Predictor<'a>,
    /// Mean covariance of the factors.
    pub(super) spread: &'a SymPacked,
    /// What the view tells the factors of a sample, where that is known.
    pub(super) told: Option<Told>,
}

impl Known<'_> {
    /// The share of the noise of a datum of each feature that its own predictor has: its leverage
    /// through the factors of its sample, and through the weights of its feature, in the normal
    /// scores' regression, $x = c + b(zw^\top) + \varepsilon$. `precision` says $b^2/v$ for each
    /// feature, the precision of a predictor by its datum, and `predictors` those of a feature's
    /// anchors. Draws have their share of the noise as scatter about the mean, and none
    /// besides: zeros. Weights have unit prior precision.
    pub(super) fn leverages<'p>(
        &self,
        precision: &dyn Fn(usize) -> f64,
        predictors: &dyn Fn(usize) -> &'p [f64],
    ) -> Result<Vec<f64>, LinalgError> {
        let features = self.anchors.features();
        let factors = self.p.factors;
        if matches!(factors.cov(), RowCov::Zero) || factors.explicit_rows() == 0 {
            return Ok(vec![0.0; features]);
        }
        let w = self.p.weights.mean();
        let row = |i: usize| -> Vec<f64> { w.row(i).iter().copied().collect() };
        let mut of_sample = self.beside(predictors)?;
        for i in 0..features {
            of_sample.add_outer(precision(i) * self.share(i), &row(i));
        }
        let cov = SpdFactor::factor(&of_sample)?.0.inverse();
        let samples = self.samples();
        let (energies, _) = sym_eigen(gram(factors.mean()).to_mat().as_ref())?;
        let of = |i: usize| {
            let (t, share) = (precision(i), self.share(i));
            let through_weights: f64 = (energies.iter())
                .map(|e| t * e / samples / (1.0 + t * share * e))
                .sum();
            t * cov.quad(&row(i)) + through_weights
        };
        Ok((0..features).map(of).collect())
    }
    /// What prior and other views tell the factors of a sample, a precision: that of
    /// the posterior without what this view has told. At least the unit prior in each direction,
    /// and no more than that where nobody knows what it has told: variational Bayes of scores
    /// holds each between the means of its neighbours, and its covariances are too small.
    fn beside<'p>(
        &self,
        predictors: &dyn Fn(usize) -> &'p [f64],
    ) -> Result<SymPacked, LinalgError> {
        let k = self.spread.k();
        let Some(pairs) = self.told else {
            return Ok(SymPacked::identity(k));
        };
        let mut own = SymPacked::zeros(k);
        for i in 0..self.anchors.features() {
            let second = self.p.weights.second_moment_rows(i..i + 1);
            let told = self.told_by(pairs, i, second.row(0), predictors(i));
            for (own, s) in own.as_mut_slice().iter_mut().zip(second.row(0)) {
                *own += told * s;
            }
        }
        let mut rest = SpdFactor::factor(self.spread)?.0.inverse();
        rest.add_scaled(-1.0, &own);
        if matches!(self.p.factors.cov(), RowCov::Diagonal(_)) {
            // factors that do not know one another keep no more
            let diagonal = rest.diag();
            rest = SymPacked::zeros(k);
            rest.add_diag(&diagonal);
        }
        let (values, vectors) = sym_eigen(rest.to_mat().as_ref())?;
        let mut out = SymPacked::zeros(k);
        for (j, value) in values.iter().enumerate() {
            out.add_outer(value.max(1.0), vectors.col_as_slice(j));
        }
        Ok(out)
    }
    fn samples(&self) -> f64 {
        self.p.factors.explicit_rows().max(1) as f64
    }
    /// Share of the samples that have a feature.
    fn share(&self, feature: usize) -> f64 {
        self.anchors.observed(feature) / self.samples()
    }
    /// The precision that a feature gives its predictor, mean over all samples: pairs by
    /// $\langle u^2\rangle^{-1/2}$ between the anchors, for the samples that these stand for.
    fn told_by(&self, pairs: Told, feature: usize, second: &[f64], predictors: &[f64]) -> f64 {
        let Told { epsilon, weight } = pairs;
        let apart = 2.0 * (packed_dot(self.spread.as_slice(), second, self.spread.k()));
        let counts = &self.anchors.counts[self.anchors.of(feature)];
        let runs = self.anchors.runs(feature);
        let first = self.anchors.of(feature).start;
        let mut sum = 0.0;
        for run in &runs {
            for low in run.start - first..run.end - first {
                for high in run.end - first..counts.len() {
                    let u = epsilon + predictors[low] - predictors[high];
                    sum +=
                        counts[low] * counts[high] / (u * u + apart).max(f64::MIN_POSITIVE).sqrt();
                }
            }
        }
        // each pair tells two samples
        2.0 * weight * self.anchors.rates[feature] * sum / self.samples()
    }
}

/// Mean covariance of all rows.
pub(super) fn mean_covariance(factors: &RowMoments) -> SymPacked {
    let n = factors.explicit_rows();
    let mut out = factors.cov_sum(Some(&vec![1.0; n]));
    out.scale(1.0 / n.max(1) as f64);
    out
}
