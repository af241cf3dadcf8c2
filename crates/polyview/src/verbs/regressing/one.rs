//! One regression of a view on the features of others.

use polyview_baselines::{
    Design, Tuning, limited_ridge, logistic_held_out, multinomial_held_out, ridge_held_out,
};
use polyview_core::{NoiseScope, View};
use polyview_linalg::{Mat, times_small};

use crate::error::Result;
use crate::fit::Fit;
use crate::verbs::cross_validate::{columns, limits, side_by_side};
use crate::verbs::kernel_turn::kernel_turn;
use crate::verbs::regressed::{Regressed, Source};

/// Penalties beside the usual ones where a kernel is among the views: of kernels that see near samples alone a
/// column varies little.
const WEAK: [f64; 4] = [0.001, 0.003, 0.01, 0.03];

/// A regression, and what it says of each sample without its fold, samples × predictors.
pub(super) struct One {
    pub(super) found: Regressed,
    pub(super) held: Mat<f64>,
}

impl Fit {
    /// The regression of view `at` on the features of these views (ridge, logistic or multinomial; penalties of least loss on
    /// these folds).
    pub(super) fn regress_on(
        &self,
        sources: &[usize],
        at: usize,
        fold_of: &[usize],
    ) -> Result<One> {
        let data = self.data()?;
        let (view, rows) = (&data[at], self.samples.len());
        let parts: Vec<Mat<f64>> = (sources.iter())
            .map(|&v| columns(&data[v], self.domain(v)))
            .collect();
        let turns: Vec<Option<Mat<f64>>> = (sources.iter().zip(&parts))
            .map(|(&v, part)| self.turn(v, part))
            .collect::<Result<_>>()?;
        let turned: Vec<Mat<f64>> = (parts.iter().zip(&turns))
            .map(|(part, turn)| match turn {
                Some(turn) => times_small(part.as_ref(), turn.as_ref()),
                None => part.clone(),
            })
            .collect();
        let x = side_by_side(&turned, rows);
        let design = Design::learn(x.as_ref())?;
        let mut x = design.apply(x.as_ref())?;
        // columns that are turned count as much as they vary, all others alike
        let mut units = vec![1.0; x.ncols()];
        let mut first = 0;
        for (part, turn) in turned.iter().zip(&turns) {
            for d in first..first + part.ncols() {
                if turn.is_some() {
                    units[d] = design.sds()[d];
                    x.col_as_slice_mut(d)
                        .iter_mut()
                        .for_each(|x| *x *= units[d]);
                }
            }
            first += part.ncols();
        }
        let mut tuning = Tuning::new(fold_of.to_vec());
        if turns.iter().any(Option::is_some) {
            // there are as many columns as samples
            tuning.penalties.extend(WEAK);
        }
        let domain = self.domain(at);
        let mut noise = Vec::new();
        let (fit, held) = if domain.has_classes() {
            let count = view.levels().len();
            multinomial_held_out(x.as_ref(), &view.classes(), count, &tuning)?
        } else if domain.is_label() {
            let y = columns(view, domain);
            logistic_held_out(x.as_ref(), y.as_ref(), &tuning)?
        } else if domain.is_censored() {
            let [lower, upper] = limits(view);
            let own = limited_ridge(x.as_ref(), (lower.as_ref(), upper.as_ref()), &tuning)?;
            noise = own.noise;
            (own.regression, own.held_out)
        } else {
            let y = columns(view, domain);
            let (fit, held) = ridge_held_out(x.as_ref(), y.as_ref(), &tuning)?;
            noise = self.noise_about(at, view, &held)?;
            (fit, held)
        };
        // nothing is known of a target that nobody has
        let number = |x: f64| if x.is_finite() { x } else { 0.0 };
        let beta = fit.coefficients();
        let mut of_view: Vec<Option<Source>> = vec![None; data.len()];
        let mut first = 0;
        for ((&v, part), turn) in sources.iter().zip(&parts).zip(&turns) {
            let place = |d: usize| first + d;
            let count = turn.as_ref().map_or(part.ncols(), Mat::ncols);
            let own = Mat::from_fn(count, beta.ncols(), |d, c| {
                number(beta[(1 + place(d), c)] * units[place(d)] / design.sds()[place(d)])
            });
            let (coefficients, means) = match turn {
                Some(turn) => (times_small(turn.as_ref(), own.as_ref()), known_means(part)),
                None => (own, (0..count).map(|d| design.means()[place(d)]).collect()),
            };
            of_view[v] = Some(Source {
                coefficients,
                means,
                domain: self.domain(v),
            });
            first += count;
        }
        let found = Regressed {
            of_view,
            intercept: (0..beta.ncols()).map(|c| number(beta[(0, c)])).collect(),
            noise,
        };
        Ok(One { found, held })
    }

    /// What the columns of a kernel are multiplied by ([`kernel_turn`]), in the unit in which all together vary as
    /// much as the features behind it. `None` of other views.
    fn turn(&self, v: usize, part: &Mat<f64>) -> Result<Option<Mat<f64>>> {
        let Some(map) = self.views[v].kernel.as_ref().filter(|map| !map.is_random()) else {
            return Ok(None);
        };
        let seen: Vec<usize> = (0..part.nrows())
            .filter(|&n| part[(n, 0)].is_finite())
            .collect();
        let seen = Mat::from_fn(seen.len(), part.ncols(), |i, d| part[(seen[i], d)]);
        kernel_turn(seen.as_ref(), |total| map.features().len() as f64 / total)
    }

    /// Mean squares of a view's cells about these predictors, of each feature, or for all alike where they have
    /// one noise.
    pub(super) fn noise_about(&self, at: usize, view: &View, held: &Mat<f64>) -> Result<Vec<f64>> {
        let component = self.component(0)?;
        let noise = component.views[at].term.as_noise();
        let each = noise.is_some_and(|n| n.scope() == NoiseScope::Column);
        let (mut sums, mut counts) = (Vec::new(), Vec::new());
        for d in 0..held.ncols() {
            let squares = (0..held.nrows()).filter_map(|n| {
                let square = (view.value(n, d)? - held[(n, d)]).powi(2);
                square.is_finite().then_some(square)
            });
            let (sum, count) = squares.fold((0.0, 0.0), |(s, c), x| (s + x, c + 1.0));
            sums.push(sum);
            counts.push(count);
        }
        let mean = |sum: f64, count: f64| {
            let variance = if count > 0.0 { sum / count } else { 1.0 };
            variance.max(1e-12)
        };
        let all = mean(sums.iter().sum(), counts.iter().sum());
        let of = |(s, c): (&f64, &f64)| if each { mean(*s, *c) } else { all };
        Ok(sums.iter().zip(&counts).map(of).collect())
    }
}

/// Means of the cells of each column that are known.
fn known_means(of: &Mat<f64>) -> Vec<f64> {
    let mean = |d: usize| {
        let known = || of.col_as_slice(d).iter().filter(|x| x.is_finite());
        known().sum::<f64>() / known().count().max(1) as f64
    };
    (0..of.ncols()).map(mean).collect()
}
