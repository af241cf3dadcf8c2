//! A block of rows under the prior, and what data say of it.

use polyview_core::Domain;
use polyview_core::{
    Context, Journal, NormalEquations, NumericError, Options, Posterior, PriorContext,
    PriorSpecies, RowBlock, RowGroups, RowMoments, RowRole, RowsOf, Rule,
};
use polyview_linalg::{Mat, SymPacked, packed_dot};
use polyview_random::StreamKey;

use super::{PriorCheck, PriorFinding};
use crate::normal;

/// Rows and columns of the block.
pub(super) const ROWS: usize = 9;
pub(super) const K: usize = 3;

/// A species with its options.
pub(super) struct Subject<'a> {
    species: &'a dyn PriorSpecies,
    pub(super) role: RowRole,
    options: Options,
    pub(super) draws: u64,
    pub(super) key: StreamKey,
}

impl<'a> Subject<'a> {
    pub(super) fn new(check: &PriorCheck<'a>) -> Result<Self, PriorFinding> {
        let options = check.options.over(&check.species.defaults());
        Ok(Self {
            species: check.species,
            role: check.role,
            options: options.map_err(PriorFinding::Options)?,
            draws: check.draws,
            key: StreamKey::new(check.seed),
        })
    }
    /// A block of so many rows that starts from noise.
    pub(super) fn block(&self, rows: usize, k: usize) -> Result<Box<dyn RowBlock>, PriorFinding> {
        let start = normal(rows, k, &mut self.key.block(1).rng());
        let groups = RowGroups::one(rows);
        let cx = PriorContext {
            block: match self.role {
                RowRole::Weights => "weights/view",
                RowRole::Factors => "factors",
            },
            rows: match self.role {
                RowRole::Weights => RowsOf::Weights {
                    domain: Domain::Reals,
                    components: None,
                    idle: &[],
                },
                RowRole::Factors => RowsOf::Factors { groups: &groups },
            },
            posterior: Posterior::Full,
            key: self.key.block(2),
            mofapy2: None,
        };
        let start = RowMoments::isotropic(start, 0.3, 0);
        (self.species.rows(&self.options, start, &cx)).map_err(PriorFinding::Block)
    }
    /// What data say of the rows: one precision for all of them, or one for each.
    pub(super) fn equations(&self, seed: u32, own: bool) -> NormalEquations {
        let mut rng = self.key.block(10 + seed).rng();
        let mut eq = NormalEquations::new(K, 0..0);
        let precision = |scale: f64, rng: &mut _| {
            let a = normal(8, K, rng);
            let mut p = SymPacked::zeros(K);
            for r in 0..8 {
                let row: Vec<f64> = (0..K).map(|j| a[(r, j)]).collect();
                p.add_outer(scale, &row);
            }
            p
        };
        eq.own = own;
        eq.gram = precision(2.0, &mut rng);
        eq.set_rows(0..ROWS);
        if own {
            for r in 0..ROWS {
                let p = precision(0.5, &mut rng);
                eq.packed_mut().row_mut(r).copy_from_slice(p.as_slice());
            }
        }
        // rows of which some are nearly zero
        let truth = normal(ROWS, K, &mut rng);
        for r in 0..ROWS {
            let p = eq.row_precision(r);
            for k in 0..K {
                let scale = if (r + k) % 3 == 0 { 0.01 } else { 1.0 };
                let dot: f64 = (0..K).map(|j| p.get(k, j) * truth[(r, j)]).sum();
                eq.rhs[(r, k)] = scale * dot;
            }
        }
        eq
    }
}

/// The rows' part of the bound: what the equations say, the prior, and entropies.
pub(super) fn bound(block: &dyn RowBlock, eq: &NormalEquations) -> f64 {
    let moments = block.moments();
    let said = |r: usize| {
        let mut second = moments.row_cov(r);
        let mean: Vec<f64> = (0..K).map(|j| moments.mean()[(r, j)]).collect();
        second.add_outer(1.0, &mean);
        let linear: f64 = (0..K).map(|j| mean[j] * eq.rhs[(r, j)]).sum();
        linear - 0.5 * packed_dot(eq.row_precision(r).as_slice(), second.as_slice(), K)
    };
    (0..ROWS).map(said).sum::<f64>() + block.bound().sum()
}

/// One update of all rows by variational Bayes.
pub(super) fn update(block: &mut dyn RowBlock, eq: &NormalEquations) -> Result<(), NumericError> {
    let mut journal = Journal::default();
    let mut cx = context(&mut journal, 1);
    let mut eq = eq.clone();
    block.prepare(&eq, &mut cx)?;
    block.update(&mut eq, Rule::Optimum, &mut cx)
}

/// Scales, and components where there are any.
pub(super) fn learn(block: &mut dyn RowBlock, sweep: usize) -> Result<(), NumericError> {
    let mut journal = Journal::default();
    let mut cx = context(&mut journal, sweep);
    if let Some(shares) = block.shares() {
        let nothing = Mat::zeros(shares.nrows(), shares.ncols());
        block.assign(nothing.as_ref(), &mut cx)?;
    }
    block.learn(&mut cx)
}

fn context(journal: &mut Journal, sweep: usize) -> Context<'_> {
    Context {
        key: StreamKey::new(5),
        sweep,
        journal,
    }
}
