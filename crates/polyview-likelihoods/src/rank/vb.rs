//! Locals and normal equations (spec/maxmargin-rank 5.1, 5.2).

use std::ops::Range;

use polyview_core::{NormalEquations, NumericError, Predictor, RowCov, RowMoments};
use polyview_linalg::simd::dispatch;
use polyview_linalg::{
    Accum, Gather, Mat, MatRef, PackedLanes, PackedRows, cross, packed_index, times_small,
    weighted_gram_into,
};
use rayon::prelude::*;

use super::kernels::Gathering;
use super::moments::{RowMajor, Spread};
use super::pairs::{BySample, Ends, Pairs};
use super::{LEAST_SQUARE, PairPolicy, Rank, policies};

/// Features whose sums over samples are made together.
const FEATURES: usize = 512;
/// Features whose predictors are made together.
const CHUNK: usize = 32;
/// Numbers of one stack of difference vectors.
const STACK_SIZE: usize = 1 << 19;

impl Rank {
    /// Chooses the partners anew where they depend on the predictors.
    pub(super) fn choose_extremes(&mut self, p: &Predictor<'_>) {
        if self.options.pairs != PairPolicy::Extreme {
            return;
        }
        self.weight_rows.sync(p.weights);
        let (levels, weights) = (&self.levels, &self.weight_rows);
        let chunks: Vec<Range<usize>> = (0..levels.features())
            .step_by(CHUNK)
            .map(|start| start..(start + CHUNK).min(levels.features()))
            .collect();
        let lists: Vec<Vec<Vec<(u32, u32)>>> = chunks
            .into_par_iter()
            .map(|features| {
                let eta = times_small(p.factors.mean(), weights.columns(features.clone()));
                features
                    .clone()
                    .map(|i| policies::extreme(levels, i, eta.col_as_slice(i - features.start)))
                    .collect()
            })
            .collect();
        self.set_pairs(Pairs::new(lists.into_iter().flatten().collect()));
    }
    /// Takes other pairs, as many a feature as before.
    pub(super) fn set_pairs(&mut self, pairs: Pairs) {
        self.pairs = pairs;
        self.by_sample = BySample::new(&self.pairs, self.levels.samples());
        self.measured = None;
        self.changed();
    }

    /// $\kappa\_t = \langle u\_t^2\rangle^{-1/2}$.
    pub(super) fn refresh_kappa(&mut self, p: &Predictor<'_>) -> Result<(), NumericError> {
        self.choose_extremes(p);
        self.measure(p);
        let Some(m) = &self.measured else {
            return Ok(());
        };
        let known = m.known;
        let fine = self
            .kappa
            .par_chunks_mut(1 << 14)
            .zip(m.values.par_chunks(1 << 14))
            .map(|(kappa, values)| {
                let mut fine = true;
                for (k, v) in kappa.iter_mut().zip(values) {
                    let square = if known { v * v } else { *v };
                    fine &= square.is_finite();
                    *k = square.max(LEAST_SQUARE).sqrt().recip();
                }
                fine
            })
            .reduce(|| true, |a, b| a && b);
        self.drawn = false;
        self.changed();
        if !fine {
            return Err(self.not_finite("a linear predictor"));
        }
        Ok(())
    }

    /// Adds $P\_{a\_i}$ and $h\_{a\_i}$ of the features `eq.rows()`.
    ///
    /// With $\omega\_{in} = \sum\_{t\ni n}\kappa\_t$ and $d\_n = \omega\_{in}m\_n -
    /// 2\sum\_{t: l = n}\kappa\_tm\_h$ the means' part of
    /// $\sum\_t\kappa\_t\delta\_t\delta\_t^\top$ is the symmetric part of
    /// $\sum\_n d\_n m\_n^\top$: K a term and one product
    /// a feature. The covariances' part is $\sum\_n\omega\_{in}S\_n$.
    pub(super) fn add_weight_equations(&mut self, p: &Predictor<'_>, eq: &mut NormalEquations) {
        self.factor_rows.sync(p.factors);
        let (columns, k, n) = (eq.rows(), eq.k(), self.levels.samples());
        if n == 0 || k == 0 || columns.is_empty() {
            return;
        }
        let sums = Differences {
            pairs: &self.pairs,
            kappa: &self.kappa,
            rows: &self.factor_rows,
            weight: self.options.weight,
            epsilon: self.epsilon,
            samples: n,
            k,
        };
        let stack = (STACK_SIZE / (k * n)).clamp(1, 8);
        // samples × features, feature after feature
        let mut omega = vec![0.0; n * columns.len()];
        let parts: Vec<(Mat<f64>, Vec<f64>)> = omega
            .par_chunks_mut(n * stack)
            .enumerate()
            .map(|(chunk, omega)| {
                let first = columns.start + chunk * stack;
                let mut rhs = vec![0.0; omega.len() / n * k];
                let d = sums.stacked(first, omega, &mut rhs);
                (times_small(d.as_ref(), p.factors.mean()), rhs)
            })
            .collect();
        let packed = eq.packed_mut();
        for (chunk, (grams, _)) in parts.iter().enumerate() {
            for f in 0..grams.nrows() / k {
                let cell = packed.row_mut(chunk * stack + f);
                for i in 0..k {
                    for j in 0..=i {
                        cell[packed_index(i, j)] +=
                            0.5 * (grams[(f * k + i, j)] + grams[(f * k + j, i)]);
                    }
                }
            }
        }
        let omega = MatRef::from_column_major_slice(&omega, n, columns.len());
        add_spread(&Spread::of(p.factors), omega, packed);
        for (chunk, (_, rhs)) in parts.iter().enumerate() {
            for (f, row) in rhs.chunks_exact(k).enumerate() {
                for (j, x) in row.iter().enumerate() {
                    eq.rhs[(chunk * stack + f, j)] += x;
                }
            }
        }
    }

    /// Adds $P\_{z\_n}$ of the samples `eq.rows()`.
    pub(super) fn add_factor_precisions(&mut self, p: &Predictor<'_>, eq: &mut NormalEquations) {
        self.by_sample.fill(&self.pairs, &self.kappa);
        let (rows, features) = (eq.rows(), self.levels.features());
        let (by_sample, c) = (&self.by_sample, self.options.weight);
        for start in (0..features).step_by(FEATURES) {
            let range = start..(start + FEATURES).min(features);
            let mut omega = Mat::zeros(range.len(), rows.len());
            omega
                .as_mut()
                .par_col_chunks_mut(1)
                .enumerate()
                .for_each(|(i, mut column)| {
                    let ends = by_sample.of(rows.start + i);
                    for f in range.clone() {
                        let sum: f64 = ends.kappa[ends.of(f)].iter().sum();
                        column[(f - start, 0)] = c * sum;
                    }
                });
            let moments = p.weights.second_moment_rows(range);
            weighted_gram_into(eq.packed_mut(), omega.as_ref(), &moments, Accum::Add);
        }
    }

    /// Adds $h\_{z\_n}$ of one sample, given the present means of the others.
    /// Parts of fixed sizes are summed in order, whatever the threads.
    pub(super) fn add_coupling(&mut self, sample: usize, p: &Predictor<'_>, rhs: &mut [f64]) {
        self.by_sample.fill(&self.pairs, &self.kappa);
        self.factor_rows.sync(p.factors);
        self.weight_rows.sync(p.weights);
        let features = self.levels.features();
        self.second_moments(p.weights);
        let partners = Partners {
            ends: self.by_sample.of(sample),
            factors: &self.factor_rows,
            weights: &self.weight_rows,
            second: self.second.as_ref().map(|s| &s.1),
            epsilon: self.epsilon,
        };
        let part = |i: usize| {
            let range = i * FEATURES..((i + 1) * FEATURES).min(features);
            partners.sum(&range, rhs.len())
        };
        let parts: Vec<Vec<f64>> = if features <= FEATURES {
            vec![part(0)]
        } else {
            (0..features.div_ceil(FEATURES))
                .into_par_iter()
                .map(part)
                .collect()
        };
        for sum in parts {
            for (x, y) in rhs.iter_mut().zip(&sum) {
                *x += self.options.weight * y;
            }
        }
    }
    /// $\langle a\_ia\_i^\top\rangle$ of all features; nothing where weights are
    /// known.
    fn second_moments(&mut self, weights: &RowMoments) {
        if matches!(weights.cov(), RowCov::Zero) {
            self.second = None;
        } else if self.second.as_ref().is_none_or(|s| s.0 != weights.stamp()) {
            let rows = weights.second_moment_rows(0..weights.explicit_rows());
            self.second = Some((weights.stamp(), PackedLanes::new(&rows)));
        }
    }
    /// Takes note of one sample's new mean.
    pub(super) fn settled(&mut self, sample: usize, factors: &RowMoments) {
        self.factor_rows.sync_row(sample, factors);
    }
}

/// Sums over the terms of features, by sample.
struct Differences<'a> {
    pairs: &'a Pairs,
    kappa: &'a [f64],
    rows: &'a RowMajor,
    weight: f64,
    epsilon: f64,
    samples: usize,
    k: usize,
}

impl Differences<'_> {
    /// $c\\,d\_n$ of the features from `first`, one below the other, for all
    /// samples; adds $c\kappa$ to `omega` (samples × features, feature after
    /// feature) and the right-hand sides, K a feature, to `rhs`, which are
    /// $-\sum\_ns\_nm\_n$ with $s\_n =
    /// \sum\_{t\ni n}\sigma\_{tn}c(1+\epsilon\kappa\_t)$.
    fn stacked(&self, first: usize, omega: &mut [f64], rhs: &mut [f64]) -> Mat<f64> {
        let (k, samples) = (self.k, self.samples);
        let mut d = Mat::zeros(rhs.len(), samples);
        let (mut kappas, mut slopes) = (Vec::new(), vec![0.0; samples]);
        let features = omega.chunks_exact_mut(samples).zip(rhs.chunks_exact_mut(k));
        for (f, (omega, h)) in features.enumerate() {
            let terms = self.pairs.of(first + f);
            let (low, high) = (
                &self.pairs.low[terms.clone()],
                &self.pairs.high[terms.clone()],
            );
            kappas.clear();
            slopes.fill(0.0);
            for ((l, h), kappa) in low.iter().zip(high).zip(&self.kappa[terms]) {
                let (l, h) = (*l as usize, *h as usize);
                let kappa = self.weight * kappa;
                let slope = self.weight + self.epsilon * kappa;
                omega[l] += kappa;
                omega[h] += kappa;
                slopes[l] += slope;
                slopes[h] -= slope;
                kappas.push(kappa);
            }
            dispatch(Gathering {
                means: self.rows.all(),
                k,
                low,
                high,
                kappa: &kappas,
                omega,
                slope: &slopes,
                to: &mut d,
                shift: f * k,
                rhs: h,
            });
        }
        d
    }
}

/// Adds $\sum\_n\omega\_{nj}S\_n$ to each matrix, `omega` rows × matrices.
fn add_spread(spread: &Spread<'_>, omega: MatRef<'_, f64>, to: &mut PackedRows) {
    match spread {
        Spread::None => {}
        Spread::Shared(s) => {
            for j in 0..omega.ncols() {
                let sum: f64 = omega.col(j).iter().sum();
                for (x, y) in to.row_mut(j).iter_mut().zip(s.as_slice()) {
                    *x += sum * y;
                }
            }
        }
        Spread::Diagonal(v) => {
            let sums = cross(v.as_ref(), omega);
            for j in 0..omega.ncols() {
                let cell = to.row_mut(j);
                for i in 0..sums.nrows() {
                    cell[packed_index(i, i)] += sums[(i, j)];
                }
            }
        }
        Spread::Rows(s) => weighted_gram_into(to, omega, s, Accum::Add),
    }
}

/// What a sample's partners say about it.
struct Partners<'a> {
    ends: Ends<'a>,
    factors: &'a RowMajor,
    weights: &'a RowMajor,
    /// $\langle a\_ia\_i^\top\rangle$, unless weights are known.
    second: Option<&'a PackedLanes>,
    epsilon: f64,
}

impl Partners<'_> {
    /// $\sum\_i\langle a\_ia\_i^\top\rangle v\_i - s\_i\langle a\_i\rangle$ over some
    /// features, with $v\_i = \sum\_t\kappa\_t\langle z\_o\rangle$ and $s\_i =
    /// \sum\_t\sigma\_t(1 + \epsilon\kappa\_t)$: K a term, K² a feature, or K where
    /// weights are known.
    fn sum(&self, features: &Range<usize>, k: usize) -> Vec<f64> {
        let mut out = vec![0.0; k];
        for i in features.clone() {
            let a = self.weights.row(i as u32);
            let mut pull = 0.0;
            for at in self.ends.of(i) {
                let kappa = self.ends.kappa[at];
                let slope = 1.0 + self.epsilon * kappa;
                pull += if self.ends.high[at] { slope } else { -slope };
                if self.second.is_none() {
                    let z = self.factors.row(self.ends.other[at]);
                    pull += kappa * a.iter().zip(z).map(|(a, z)| a * z).sum::<f64>();
                }
            }
            for (x, a) in out.iter_mut().zip(a) {
                *x += pull * a;
            }
        }
        if let Some(second) = self.second {
            let gather = Gather {
                ends: self.ends.until,
                index: self.ends.other,
                weight: self.ends.kappa,
                rows: self.factors.all(),
            };
            let first = self.ends.begin(features.start);
            second.add_gathered(features.clone(), first, gather, &mut out);
        }
        out
    }
}
