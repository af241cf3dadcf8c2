//! One regression of a view on the features of others.

use polyview_baselines::{
    Design, Tuning, lasso_held_out, limited_ridge, logistic_held_out, multinomial_held_out,
    ordered_probit, ridge_held_out, sparse_logistic_held_out, sparse_multinomial_held_out,
};
use polyview_core::{Domain, NoiseScope};
use polyview_linalg::{Mat, times_small};

use crate::error::Result;
use crate::fit::Fit;
use crate::verbs::cross_validate::{columns, limits, side_by_side};
use crate::verbs::curved::{Curved, Similar};
use crate::verbs::filled::Filled;
use crate::verbs::kernel_turn::kernel_turn;
use crate::verbs::regressed::{Parameters, Regressed, Scores, Source};

/// Penalties beside the usual ones where a kernel is among the views: of kernels that see near samples alone a
/// column varies little.
const WEAK: [f64; 4] = [0.001, 0.003, 0.01, 0.03];

/// Least variance of numbers about their predictors, squared working units, and most steps to it.
const LEAST_NOISE: f64 = 1e-12;
const NOISE_STEPS: usize = 500;

/// Most cells of the columns that a view is regressed on where few of them may count, once for each of its predictors, of classes once for each
/// pair of them: each is gone through some hundred times.
const CELLS_OF_FEW: usize = 1 << 22;

/// Which features may count.
#[derive(Clone, Copy)]
enum Features {
    /// All, each the less the stronger the penalty.
    All,
    /// Few, the fewer the stronger the penalty.
    Few,
}

/// A regression, and what it says of each sample without its fold.
pub(super) struct One {
    pub(super) found: Regressed,
    pub(super) held: Scores,
    /// Of numbers whose predictors bend the variances of these for each sample by the others, in variances of the noise.
    pub(super) doubt: Option<Mat<f64>>,
}

/// Columns that a regression is made on, samples × columns.
struct Block<'a> {
    columns: &'a Mat<f64>,
    units: Units,
}

/// In which units columns count.
enum Units {
    /// Each by itself, all alike.
    Alike,
    /// In their own, by which they vary by one on average: features behind a kernel, which may have weights.
    Own,
    /// As much as they vary, multiplied by this first: columns of a kernel.
    Turned(Mat<f64>),
}

/// A regression on blocks of columns.
struct OnBlocks {
    /// Of each block the coefficients, columns × predictors, and the means of the columns.
    of_block: Vec<(Mat<f64>, Vec<f64>)>,
    intercept: Vec<f64>,
    parameters: Parameters,
    held: Mat<f64>,
    /// Of each predictor of numbers; else empty.
    penalties: Vec<f64>,
}

impl Fit {
    /// The regression of view `at` on these features of these views (ridge, logistic, multinomial or of ordered levels; penalties of least loss on
    /// these folds).
    pub(super) fn regress_on(
        &self,
        (sources, x): (&[usize], &Filled<'_>),
        at: usize,
        fold_of: &[usize],
    ) -> Result<One> {
        let blocks = self.blocks(sources, x)?;
        let found = self.regress_on_blocks((&blocks, Features::All), at, fold_of)?;
        self.of_views(sources, found, x, at)
    }

    /// The columns of these views, and of those behind kernels by their places after all views.
    fn blocks<'a>(&self, sources: &[usize], x: &'a Filled<'_>) -> Result<Vec<Block<'a>>> {
        let of_view = |v: &usize| Some((*v, x.of(*v)?));
        (sources.iter().filter_map(of_view))
            .map(|(v, columns)| {
                let units = if v >= self.views.len() {
                    Units::Own
                } else {
                    (self.turn(v, columns)?).map_or(Units::Alike, Units::Turned)
                };
                Ok(Block { columns, units })
            })
            .collect()
    }

    /// As [`Fit::regress_on`] on few of the features of views that have no kernel, or are behind one, where one is known for the view: numbers with normal noise,
    /// zeros and ones, classes.
    pub(super) fn regress_on_few(
        &self,
        (sources, x): (&[usize], &Filled<'_>),
        at: usize,
        fold_of: &[usize],
    ) -> Result<Option<One>> {
        let domain = self.domain(at);
        if domain != Domain::Reals && !domain.is_label() {
            return Ok(None);
        }
        let blocks = self.blocks(sources, x)?;
        let columns: usize = blocks.iter().map(|block| block.columns.ncols()).sum();
        let view = &self.data()?[at];
        let classes = view.levels().len().max(1);
        // those of a class are gone through again as those of the others move
        let cells = columns
            .saturating_mul(self.samples.len())
            .saturating_mul(view.n_features())
            .saturating_mul(classes * classes);
        if columns < 2 || cells > CELLS_OF_FEW {
            return Ok(None);
        }
        let found = self.regress_on_blocks((&blocks, Features::Few), at, fold_of)?;
        self.of_views(sources, found, x, at).map(Some)
    }

    /// With the coefficients of blocks as those of these views.
    fn of_views(
        &self,
        sources: &[usize],
        mut found: OnBlocks,
        x: &Filled<'_>,
        at: usize,
    ) -> Result<One> {
        let mut of_view: Vec<Option<Source>> = vec![None; 2 * self.views.len()];
        for (&v, (coefficients, means)) in sources.iter().zip(found.of_block.drain(..)) {
            of_view[v] = Some(Source {
                coefficients,
                means,
            });
        }
        self.with_noise(at, found.with(of_view, None, x)?)
    }

    /// The regression of view `at` on a kernel of these features, if one bends and predicts it.
    pub(super) fn regress_on_similar(
        &self,
        x: &Filled<'_>,
        at: usize,
        fold_of: &[usize],
    ) -> Result<Option<One>> {
        let Some(Similar {
            mut curved,
            columns,
            chosen,
        }) = self.similar(x, at)?
        else {
            return Ok(None);
        };
        let features = curved.features();
        let turn = kernel_turn(columns.as_ref(), |total| features as f64 / total)?;
        let block = Block {
            columns: &columns,
            units: turn.map_or(Units::Alike, Units::Turned),
        };
        let mut found = self.regress_on_blocks((&[block], Features::All), at, fold_of)?;
        if let Some((coefficients, centres)) = found.of_block.pop() {
            (curved.coefficients, curved.centres) = (coefficients, centres);
        }
        let known = (0..found.held.nrows())
            .filter(|n| !found.held[(*n, 0)].is_nan())
            .count();
        let penalties = std::mem::take(&mut found.penalties);
        let nothing = vec![None; 2 * self.views.len()];
        let mut one = found.with(nothing, Some(curved), x)?;
        if let Some(curved) = &mut one.found.curved {
            one.doubt = curved.doubt(&penalties, (x, &columns, &chosen), known)?;
        }
        self.with_noise(at, one).map(Some)
    }

    fn regress_on_blocks(
        &self,
        (blocks, features): (&[Block<'_>], Features),
        at: usize,
        fold_of: &[usize],
    ) -> Result<OnBlocks> {
        let (view, rows) = (&self.data()?[at], self.samples.len());
        let turned: Vec<Mat<f64>> = (blocks.iter())
            .map(|block| match &block.units {
                Units::Turned(turn) => times_small(block.columns.as_ref(), turn.as_ref()),
                Units::Alike | Units::Own => block.columns.clone(),
            })
            .collect();
        let x = side_by_side(&turned, rows);
        let design = Design::learn(x.as_ref())?;
        let mut x = design.apply(x.as_ref())?;
        let mut units = vec![1.0; x.ncols()];
        let mut first = 0;
        for (part, block) in turned.iter().zip(blocks) {
            let sds = &design.sds()[first..first + part.ncols()];
            let unit = match block.units {
                Units::Alike => None,
                Units::Own => Some(root_mean_square(sds)),
                Units::Turned(_) => Some(1.0),
            };
            if let Some(unit) = unit {
                for (d, sd) in (first..).zip(sds) {
                    units[d] = sd / unit;
                    for x in x.col_as_slice_mut(d) {
                        *x *= units[d];
                    }
                }
            }
            first += part.ncols();
        }
        let mut tuning = Tuning::new(fold_of.to_vec());
        let is_turned = |block: &Block<'_>| matches!(block.units, Units::Turned(_));
        if blocks.iter().any(is_turned) {
            // there are as many columns as samples
            tuning.penalties.extend(WEAK);
        }
        let domain = self.domain(at);
        let mut parameters = Parameters::default();
        let mut penalties = Vec::new();
        let (beta, held) = if domain.has_classes() {
            let count = view.levels().len();
            let how = match features {
                Features::All => multinomial_held_out,
                Features::Few => sparse_multinomial_held_out,
            };
            let (fit, held) = how(x.as_ref(), &view.classes(), count, &tuning)?;
            (fit.coefficients().to_owned(), held)
        } else if domain.is_label() {
            let y = columns(view, domain);
            let how = match features {
                Features::All => logistic_held_out,
                Features::Few => sparse_logistic_held_out,
            };
            let (fit, held) = how(x.as_ref(), y.as_ref(), &tuning)?;
            (fit.coefficients().to_owned(), held)
        } else if domain.is_ordered() {
            let y = columns(view, domain);
            let own = ordered_probit(x.as_ref(), y.as_ref(), self.ordered_levels(at)?, &tuning)?;
            parameters.cuts = own.cuts;
            (own.coefficients, own.held_out)
        } else if domain.is_censored() {
            let [lower, upper] = limits(view);
            let own = limited_ridge(x.as_ref(), (lower.as_ref(), upper.as_ref()), &tuning)?;
            parameters.noise = own.noise;
            (own.regression.coefficients().to_owned(), own.held_out)
        } else {
            let y = columns(view, domain);
            let how = match features {
                Features::All => ridge_held_out,
                Features::Few => lasso_held_out,
            };
            let (fit, held) = how(x.as_ref(), y.as_ref(), &tuning)?;
            if domain == Domain::Reals {
                penalties = fit.penalties().to_vec();
            }
            (fit.coefficients().to_owned(), held)
        };
        // nothing is known of a target that nobody has
        let number = |x: f64| if x.is_finite() { x } else { 0.0 };
        let mut of_block = Vec::new();
        let mut first = 0;
        for (block, part) in blocks.iter().zip(&turned) {
            let (start, count) = (first, part.ncols());
            let own = Mat::from_fn(count, beta.ncols(), |d, c| {
                let d = start + d;
                number(beta[(1 + d, c)] * units[d] / design.sds()[d])
            });
            of_block.push(match &block.units {
                Units::Turned(turn) => (
                    times_small(turn.as_ref(), own.as_ref()),
                    known_means(block.columns),
                ),
                Units::Alike | Units::Own => (own, design.means()[start..start + count].to_vec()),
            });
            first += count;
        }
        Ok(OnBlocks {
            of_block,
            intercept: (0..beta.ncols()).map(|c| number(beta[(0, c)])).collect(),
            parameters,
            held,
            penalties,
        })
    }

    /// How many ordered levels a view has.
    pub(super) fn ordered_levels(&self, at: usize) -> Result<usize> {
        let points = self.component(0)?.views[at].term.cut_points(None, 0);
        Ok(points.map_or(0, |own| own.len() + 1))
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

    /// Variances of a view's cells about these predictors, of each feature, or for all alike where they have one noise; `doubt` says what predictors
    /// vary by in units of them.
    pub(super) fn noise_about(
        &self,
        at: usize,
        held: &Scores,
        doubt: Option<&Mat<f64>>,
    ) -> Result<Vec<f64>> {
        let component = self.component(0)?;
        let noise = component.views[at].term.as_noise();
        let each = noise.is_some_and(|n| n.scope() == NoiseScope::Column);
        let view = &self.data()?[at];
        let of_feature = |d: usize| -> Vec<(f64, f64)> {
            let cell = |n: usize| {
                let square = (view.value(n, d)? - held.mean[(n, d)]).powi(2);
                let spread = held.variance.as_ref().map_or(0.0, |v| v[(n, d)]);
                let whole = 1.0 + doubt.map_or(0.0, |own| own[(n, d)]);
                square
                    .is_finite()
                    .then_some((square / whole, spread / whole))
            };
            (0..held.mean.nrows()).filter_map(cell).collect()
        };
        let cells: Vec<Vec<(f64, f64)>> = (0..held.mean.ncols()).map(of_feature).collect();
        if each {
            return Ok(cells.iter().map(|own| common_variance(own)).collect());
        }
        Ok(vec![common_variance(&cells.concat()); cells.len()])
    }
    /// With the noise of numbers, where that was not found with the coefficients.
    fn with_noise(&self, at: usize, mut one: One) -> Result<One> {
        if self.domain(at) == Domain::Reals {
            one.found.parameters.noise = self.noise_about(at, &one.held, None)?;
        }
        Ok(one)
    }
}

impl One {
    /// Predictors are as sure as the noise and [`One::doubt`] say.
    pub(super) fn doubts(&mut self) {
        let Some(doubt) = &self.doubt else { return };
        let variance =
            (self.held.variance).get_or_insert_with(|| Mat::zeros(doubt.nrows(), doubt.ncols()));
        for (c, noise) in self.found.parameters.noise.iter().enumerate() {
            let both = variance
                .col_as_slice_mut(c)
                .iter_mut()
                .zip(doubt.col_as_slice(c));
            both.for_each(|(to, x)| *to += noise * x);
        }
    }
}

/// What squares of normal numbers vary by beyond the variance $v$ that each is known to have, $\mathrm E r^2 = \sigma^2 + v$: the
/// most likely $\sigma^2$, by expectation and maximisation; 1 of none.
fn common_variance(squares: &[(f64, f64)]) -> f64 {
    if squares.is_empty() {
        return 1.0;
    }
    let count = squares.len() as f64;
    let mut own = squares.iter().map(|(r, _)| r).sum::<f64>() / count;
    if squares.iter().all(|(_, v)| *v == 0.0) {
        return own.max(LEAST_NOISE);
    }
    for _ in 0..NOISE_STEPS {
        own = own.max(LEAST_NOISE);
        let of = |(r, v): &(f64, f64)| {
            let share = own / (own + v);
            share * (v + share * r)
        };
        let new = squares.iter().map(of).sum::<f64>() / count;
        let change = (new - own).abs();
        own = new;
        if change < 1e-6 * own {
            break;
        }
    }
    own.max(LEAST_NOISE)
}

impl OnBlocks {
    /// As a regression on these, which are `x` of the training samples.
    fn with(
        self,
        of_view: Vec<Option<Source>>,
        curved: Option<Curved>,
        x: &Filled<'_>,
    ) -> Result<One> {
        let found = Regressed {
            of_view,
            curved,
            intercept: self.intercept,
            parameters: self.parameters,
        };
        // of what samples lack those without a fold know as much
        let held = Scores {
            variance: found.scores_of(x)?.variance,
            mean: self.held,
        };
        Ok(One {
            found,
            held,
            doubt: None,
        })
    }
}

/// $\sqrt{\frac1n\sum_i x_i^2}$.
pub(in crate::verbs) fn root_mean_square(of: &[f64]) -> f64 {
    (of.iter().map(|x| x * x).sum::<f64>() / of.len() as f64).sqrt()
}

/// Means of the cells of each column that are known.
fn known_means(of: &Mat<f64>) -> Vec<f64> {
    let mean = |d: usize| {
        let known = || of.col_as_slice(d).iter().filter(|x| x.is_finite());
        known().sum::<f64>() / known().count().max(1) as f64
    };
    (0..of.ncols()).map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use polyview_random::{StreamKey, standard_normal};

    #[test]
    fn noise_is_what_known_variances_do_not_explain() {
        let mut rng = StreamKey::new(1).rng();
        let cells: Vec<(f64, f64)> = (0..4000)
            .map(|n| {
                let v = if n % 2 == 0 { 0.0 } else { 3.0 };
                let r = (0.5f64 + v).sqrt() * standard_normal(&mut rng);
                (r * r, v)
            })
            .collect();
        let found = common_variance(&cells);
        assert!((found - 0.5).abs() < 0.05, "{found}");
        // at the most likely value its slope is zero
        let slope: f64 = (cells.iter())
            .map(|(r, v)| (r / (found + v) - 1.0) / (found + v))
            .sum();
        assert!(slope.abs() < 1.0, "{slope}");
        // what is explained leaves next to nothing, and no cells leave one
        assert!(common_variance(&[(0.1, 3.0), (0.2, 2.0)]) < 1e-2);
        assert_eq!(common_variance(&[]), 1.0);
        assert_eq!(common_variance(&[(4.0, 0.0), (2.0, 0.0)]), 3.0);
    }
}
