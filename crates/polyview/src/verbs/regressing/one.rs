//! One regression of a view on the features of others.

use polyview_baselines::{
    Design, Tuning, limited_ridge, logistic_held_out, multinomial_held_out, ridge_held_out,
};
use polyview_core::{NoiseScope, View};
use polyview_linalg::{Mat, times_small};

use crate::error::Result;
use crate::fit::Fit;
use crate::verbs::cross_validate::{columns, limits, side_by_side};
use crate::verbs::curved::{Curved, Similar};
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

/// Columns that a regression is made on, samples × columns, and what those of a kernel are multiplied by first.
struct Block {
    columns: Mat<f64>,
    turn: Option<Mat<f64>>,
}

/// A regression on blocks of columns.
struct OnBlocks {
    /// Of each block the coefficients, columns × predictors, and the means of the columns.
    of_block: Vec<(Mat<f64>, Vec<f64>)>,
    intercept: Vec<f64>,
    noise: Vec<f64>,
    held: Mat<f64>,
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
        let blocks: Vec<Block> = (sources.iter())
            .map(|&v| {
                let columns = columns(&data[v], self.domain(v));
                let turn = self.turn(v, &columns)?;
                Ok(Block { columns, turn })
            })
            .collect::<Result<_>>()?;
        let mut found = self.regress_on_blocks(&blocks, at, fold_of)?;
        let mut of_view: Vec<Option<Source>> = vec![None; data.len()];
        for (&v, (coefficients, means)) in sources.iter().zip(found.of_block.drain(..)) {
            of_view[v] = Some(Source {
                coefficients,
                means,
                domain: self.domain(v),
            });
        }
        Ok(found.with(of_view, None))
    }

    /// The regression of view `at` on a kernel of the features of these views, if one bends and predicts it.
    pub(super) fn regress_on_similar(
        &self,
        sources: &[usize],
        at: usize,
        fold_of: &[usize],
    ) -> Result<Option<One>> {
        let Some(Similar {
            mut curved,
            columns,
        }) = self.similar(sources, at)?
        else {
            return Ok(None);
        };
        let features = curved.features();
        let turn = kernel_turn(columns.as_ref(), |total| features as f64 / total)?;
        let mut found = self.regress_on_blocks(&[Block { columns, turn }], at, fold_of)?;
        if let Some((coefficients, centres)) = found.of_block.pop() {
            (curved.coefficients, curved.centres) = (coefficients, centres);
        }
        let nothing = vec![None; self.views.len()];
        Ok(Some(found.with(nothing, Some(curved))))
    }

    fn regress_on_blocks(
        &self,
        blocks: &[Block],
        at: usize,
        fold_of: &[usize],
    ) -> Result<OnBlocks> {
        let (view, rows) = (&self.data()?[at], self.samples.len());
        let turned: Vec<Mat<f64>> = (blocks.iter())
            .map(|block| match &block.turn {
                Some(turn) => times_small(block.columns.as_ref(), turn.as_ref()),
                None => block.columns.clone(),
            })
            .collect();
        let x = side_by_side(&turned, rows);
        let design = Design::learn(x.as_ref())?;
        let mut x = design.apply(x.as_ref())?;
        // columns that are turned count as much as they vary, all others alike
        let mut units = vec![1.0; x.ncols()];
        let mut first = 0;
        for (part, block) in turned.iter().zip(blocks) {
            for d in first..first + part.ncols() {
                if block.turn.is_some() {
                    units[d] = design.sds()[d];
                    x.col_as_slice_mut(d)
                        .iter_mut()
                        .for_each(|x| *x *= units[d]);
                }
            }
            first += part.ncols();
        }
        let mut tuning = Tuning::new(fold_of.to_vec());
        if blocks.iter().any(|block| block.turn.is_some()) {
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
        let mut of_block = Vec::new();
        let mut first = 0;
        for (block, part) in blocks.iter().zip(&turned) {
            let (start, count) = (first, part.ncols());
            let own = Mat::from_fn(count, beta.ncols(), |d, c| {
                let d = start + d;
                number(beta[(1 + d, c)] * units[d] / design.sds()[d])
            });
            of_block.push(match &block.turn {
                Some(turn) => (
                    times_small(turn.as_ref(), own.as_ref()),
                    known_means(&block.columns),
                ),
                None => (own, design.means()[start..start + count].to_vec()),
            });
            first += count;
        }
        Ok(OnBlocks {
            of_block,
            intercept: (0..beta.ncols()).map(|c| number(beta[(0, c)])).collect(),
            noise,
            held,
        })
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

impl OnBlocks {
    /// As a regression on these.
    fn with(self, of_view: Vec<Option<Source>>, curved: Option<Curved>) -> One {
        let found = Regressed {
            of_view,
            curved,
            intercept: self.intercept,
            noise: self.noise,
            known: 0.0,
        };
        One {
            found,
            held: self.held,
        }
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
