//! The paper's updates, with its errata repaired (spec/maxmargin-rank 4.2, 5.3,
//! E2, E3): neighbours are held where they are while a sample moves.

use polyview_core::{
    Augmented, Block, Conditioned, Context, DataError, Domain, Equations, Identified, Law, Link,
    NormalEquations, NumericError, Objective, Predictor, Rounds, State, StateReader, Stateful,
    Terms, View, ViewShape, ViewTerm,
};
use polyview_linalg::{Accum, Mat, cross, times_small, weighted_gram_into};
use polyview_random::StreamKey;
use rayon::prelude::*;

use super::levels::MISSING;
use super::{PairPolicy, Rank, RankOptions};

/// Features that are worked on together.
const FEATURES: usize = 512;

/// A rank view whose neighbours are frozen: each cell has a site of its own,
///
/// $$ \omega\_{in} = \kappa^l\_{in} + \kappa^u\_{in},\qquad h\_{in} =
/// \kappa^l\_{in}(w^l\_{in} + \epsilon) + \kappa^u\_{in}(w^u\_{in} - \epsilon) +
/// 1^l\_{in} - 1^u\_{in}, $$
///
/// so that samples are updated side by side. It ignores that a neighbour's
/// predictor depends on the same loadings and that each sample is itself a
/// neighbour of others: there is no objective that its steps raise, and its
/// draws are those of no joint distribution (E4). It is there to compare with
/// the paper; [`Rank`] is the model itself.
///
/// What it reports as the bound is that of [`Rank`] for the same pairs. New
/// samples and predictions are those of [`Rank`], too.
#[derive(Clone, Debug)]
pub struct FrozenRank {
    pairs: Rank,
    /// $\omega$, samples × features.
    omega: Mat<f64>,
    /// $h$, samples × features.
    linear: Mat<f64>,
    /// Whether there are sites for the present pairs.
    made: bool,
}

impl FrozenRank {
    /// The term of a view; choices and errors as for [`Rank::new`]. The paper's
    /// pairs are [`PairPolicy::Extreme`]; of all others each end takes the other
    /// for its neighbour.
    ///
    /// # Errors
    /// As [`Rank::new`].
    pub fn new(view: &View, options: RankOptions, key: StreamKey) -> Result<Self, DataError> {
        let pairs = Rank::new(view, options, key)?;
        let shape = (view.n_samples(), view.n_features());
        Ok(Self {
            pairs,
            omega: Mat::zeros(shape.0, shape.1),
            linear: Mat::zeros(shape.0, shape.1),
            made: false,
        })
    }
    /// ω and h of a cell; zero where it has no neighbour.
    ///
    /// # Panics
    /// If there is no such cell.
    pub fn site(&self, sample: usize, feature: usize) -> (f64, f64) {
        (
            self.omega[(sample, feature)],
            self.linear[(sample, feature)],
        )
    }
    /// Sites of a sweep.
    fn sites(&mut self, p: &Predictor<'_>, sweep: usize) {
        if sweep == 1 && p.has_no_weights() {
            self.start_sites();
        } else {
            self.make_sites(p);
        }
    }
    /// Sites before there are weights: neighbours of equal predictors pull a
    /// sample nowhere, so that predictors are taken to be normal scores, in
    /// units of the margin.
    fn start_sites(&mut self) {
        self.made = true;
        let levels = &self.pairs.levels;
        for i in 0..levels.features() {
            let scores = super::scores::of_levels(levels, i);
            for (n, &level) in levels.of(i).iter().enumerate() {
                if level != MISSING && levels.count(i) > 1 {
                    self.omega[(n, i)] = self.pairs.epsilon.recip();
                    self.linear[(n, i)] = scores[level as usize];
                }
            }
        }
    }
    /// Sites at the present precisions and predictors.
    fn make_sites(&mut self, p: &Predictor<'_>) {
        self.made = true;
        let pairs = &self.pairs;
        let w = p.weights.mean();
        let features = pairs.features.len();
        let (epsilon, c) = (pairs.epsilon, pairs.options.weight);
        for start in (0..features).step_by(FEATURES) {
            let range = start..(start + FEATURES).min(features);
            let rows = w.subrows(start, range.len()).transpose().to_owned();
            let eta = times_small(p.factors.mean(), rows.as_ref());
            self.omega
                .as_mut()
                .subcols_mut(start, range.len())
                .par_col_chunks_mut(1)
                .zip(
                    self.linear
                        .as_mut()
                        .subcols_mut(start, range.len())
                        .par_col_chunks_mut(1),
                )
                .enumerate()
                .for_each(|(j, (mut omega, mut linear))| {
                    omega.fill(0.0);
                    linear.fill(0.0);
                    let eta = eta.col_as_slice(j);
                    let mut add = |term: usize, own_high: bool| {
                        let (l, h) = (
                            pairs.pairs.low[term] as usize,
                            pairs.pairs.high[term] as usize,
                        );
                        let kappa = pairs.kappa[term];
                        let (own, other, sign) = if own_high { (h, l, 1.0) } else { (l, h, -1.0) };
                        omega[(own, 0)] += c * kappa;
                        linear[(own, 0)] += c * (kappa * (eta[other] + sign * epsilon) + sign);
                    };
                    pairs.owned(start + j, &mut add);
                });
        }
    }
}

impl Rank {
    /// Visits the terms of a feature with the ends whose neighbours they name:
    /// of extreme partners the sample that chose, else both.
    fn owned(&self, feature: usize, visit: &mut impl FnMut(usize, bool)) {
        let terms = self.pairs.of(feature);
        if self.options.pairs != PairPolicy::Extreme {
            for t in terms {
                visit(t, true);
                visit(t, false);
            }
            return;
        }
        // in the order in which they were chosen
        let (levels, last) = (
            self.levels.of(feature),
            self.levels.count(feature).saturating_sub(1) as u32,
        );
        let mut at = terms.start;
        for n in self.levels.order(feature) {
            let level = levels[n as usize];
            debug_assert_ne!(level, MISSING);
            if level > 0 && at < terms.end {
                visit(at, true);
                at += 1;
            }
            if level < last && at < terms.end {
                visit(at, false);
                at += 1;
            }
        }
    }
}

impl ViewTerm for FrozenRank {
    fn shape(&self) -> ViewShape {
        self.pairs.shape()
    }
    fn objective(&self) -> Objective {
        Objective::NoGuarantee
    }
    fn by_cells(&self) -> bool {
        true
    }
    fn identified(&self, column: usize) -> Identified {
        self.pairs.identified(column)
    }
    fn link(&self, group: Option<usize>, column: usize, level: f64) -> Link {
        self.pairs.link(group, column, level)
    }
    fn domain(&self) -> Domain {
        Domain::Order
    }
    fn refresh(&mut self, p: &Predictor<'_>, cx: &mut Context<'_>) -> Result<(), NumericError> {
        self.pairs.refresh(p, cx)?;
        self.sites(p, cx.sweep);
        Ok(())
    }
    fn equations(&mut self) -> &mut dyn Equations {
        self
    }
    fn bound(&mut self, p: &Predictor<'_>) -> Terms {
        self.pairs.bound(p)
    }
    fn law(&self, p: &Predictor<'_>, block: &Block<'_>) -> Box<dyn Law + '_> {
        self.pairs.law(p, block)
    }
    fn simulate(&self, p: &Predictor<'_>, parameters: StreamKey, data: StreamKey) -> Mat<f64> {
        self.pairs.simulate(p, parameters, data)
    }
    fn rebind(&self, view: &View) -> Result<Box<dyn ViewTerm>, DataError> {
        self.pairs.rebind(view)
    }
    fn as_augmented(&mut self) -> Option<&mut dyn Augmented> {
        Some(self)
    }
    fn as_rounds(&mut self) -> Option<&mut dyn Rounds> {
        Some(self)
    }
    fn as_conditioned(&mut self) -> Option<&mut dyn Conditioned> {
        Some(&mut self.pairs)
    }
}

impl Rounds for FrozenRank {
    fn refresh_locals(
        &mut self,
        p: &Predictor<'_>,
        cx: &mut Context<'_>,
    ) -> Result<(), NumericError> {
        self.refresh(p, cx)
    }
}

impl Equations for FrozenRank {
    fn weight_gram(
        &mut self,
        p: &Predictor<'_>,
        eq: &mut NormalEquations,
    ) -> Result<(), NumericError> {
        if !self.made {
            self.make_sites(p);
        }
        eq.own = true;
        Ok(())
    }
    fn weight_equations(
        &mut self,
        p: &Predictor<'_>,
        eq: &mut NormalEquations,
    ) -> Result<(), NumericError> {
        let columns = eq.rows();
        let moments = p.factors.second_moment_rows(0..self.omega.nrows());
        let of = |m: &Mat<f64>| m.as_ref().subcols(columns.start, columns.len()).to_owned();
        weighted_gram_into(
            eq.packed_mut(),
            of(&self.omega).as_ref(),
            &moments,
            Accum::Add,
        );
        eq.rhs += cross(of(&self.linear).as_ref(), p.factors.mean());
        Ok(())
    }
    /// Neighbours' predictors are those of the new weights.
    fn factor_gram(
        &mut self,
        _view: usize,
        p: &Predictor<'_>,
        _eq: &mut NormalEquations,
    ) -> Result<(), NumericError> {
        self.make_sites(p);
        Ok(())
    }
    fn factor_equations(
        &mut self,
        p: &Predictor<'_>,
        eq: &mut NormalEquations,
    ) -> Result<(), NumericError> {
        let (rows, features) = (eq.rows(), self.omega.ncols());
        for start in (0..features).step_by(FEATURES) {
            let range = start..(start + FEATURES).min(features);
            let of = |m: &Mat<f64>| {
                m.as_ref()
                    .submatrix(rows.start, start, rows.len(), range.len())
                    .to_owned()
            };
            let w = p.weights.mean().subrows(start, range.len());
            eq.rhs += times_small(of(&self.linear).as_ref(), w);
            let moments = p.weights.second_moment_rows(range.clone());
            let omega = of(&self.omega).transpose().to_owned();
            weighted_gram_into(eq.packed_mut(), omega.as_ref(), &moments, Accum::Add);
        }
        Ok(())
    }
}

impl Augmented for FrozenRank {
    fn draw_locals(&mut self, p: &Predictor<'_>, cx: &mut Context<'_>) -> Result<(), NumericError> {
        self.pairs.draw_locals(p, cx)?;
        self.sites(p, cx.sweep);
        Ok(())
    }
    /// Nothing, as for [`Rank`].
    fn draw_data(&mut self, _p: &Predictor<'_>, _key: StreamKey) {}
}

impl Stateful for FrozenRank {
    /// Sites are made anew before they are used.
    fn save(&self, prefix: &str, state: &mut State) {
        self.pairs.save(prefix, state);
    }
    fn load(&mut self, prefix: &str, state: &StateReader<'_>) -> Result<(), NumericError> {
        self.made = false;
        self.pairs.load(prefix, state)
    }
}
