//! Models whose rows are factorised, sparse or grouped.

use crate::{Case, Holes, ViewCase};
use polyview_core::{GammaPrior, RowBlock, RowGroups, RowMoments, Schedule};
use polyview_infer::{Model, ViewPart};
use polyview_likelihoods::{MissingData, NoiseBy};
use polyview_linalg::Mat;
use polyview_priors::{
    Ard, BetaPrior, DiagonalRows, Fixed, FullRows, GroupArd, SpikeSlab, SpikeSlabOptions,
    SpikeSlabRows, ThreeParameterBeta, ThreeParameterBetaOptions,
};

/// Two real views with intercepts and noise by feature, of so many features.
pub fn two_views(
    seed: u64,
    (samples, k): (usize, usize),
    features: [usize; 2],
    holes: Holes,
) -> Case {
    let view = |features| ViewCase {
        features,
        holes,
        noise: NoiseBy::Feature,
        missing: MissingData::Marginal,
        bias: Some(1.0),
        relevance: false,
    };
    Case {
        seed,
        samples,
        k,
        views: features.map(view).to_vec(),
    }
}

/// A family of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// Full covariances.
    Full,
    /// Independent entries.
    Diagonal,
    /// Spike and slab.
    SpikeSlab,
    /// Full covariances under the horseshoe.
    Horseshoe,
}

/// All families.
pub const ROWS: [Rows; 4] = [Rows::Full, Rows::Diagonal, Rows::SpikeSlab, Rows::Horseshoe];

const GAMMA: GammaPrior = GammaPrior::new(1.2, 0.9);

/// Hyperpriors of the sparse rows.
pub fn options() -> SpikeSlabOptions {
    SpikeSlabOptions {
        precision: Some(GAMMA),
        inclusion: BetaPrior::new(1.1, 0.8),
    }
}

fn horseshoe(name: String, start: RowMoments) -> Box<dyn RowBlock> {
    let prior = ThreeParameterBeta::new(
        ThreeParameterBetaOptions::default(),
        start.rows(),
        start.k(),
    );
    Box::new(FullRows::new(name, prior, start))
}

/// Weights of this family under ARD, from a start.
pub fn weights(rows: Rows, name: String, start: RowMoments) -> Box<dyn RowBlock> {
    let (d, k) = (start.rows(), start.k());
    match rows {
        Rows::Full => Box::new(FullRows::new(name, Ard::new(GAMMA, k), start)),
        Rows::Diagonal => Box::new(DiagonalRows::new(name, Ard::new(GAMMA, k), start)),
        Rows::SpikeSlab => {
            let prior = SpikeSlab::new(options(), d, k);
            Box::new(SpikeSlabRows::new(name, prior, start))
        }
        Rows::Horseshoe => horseshoe(name, start),
    }
}

/// Factors of this family: ARD by group where there are groups, else standard
/// normal.
pub fn factors(rows: Rows, groups: Option<RowGroups>, start: RowMoments) -> Box<dyn RowBlock> {
    let (n, k) = (start.rows(), start.k());
    let name = "factors";
    match (rows, groups) {
        (Rows::Full, None) => Box::new(FullRows::new(name, Fixed::standard_normal(k), start)),
        (Rows::Full, Some(g)) => Box::new(FullRows::new(name, GroupArd::new(GAMMA, g, k), start)),
        (Rows::Diagonal, None) => {
            let prior = Fixed::standard_normal(k);
            Box::new(DiagonalRows::new(name, prior, start))
        }
        (Rows::Diagonal, Some(g)) => {
            Box::new(DiagonalRows::new(name, GroupArd::new(GAMMA, g, k), start))
        }
        (Rows::SpikeSlab, groups) => {
            let groups = groups.unwrap_or_else(|| RowGroups::one(n));
            let prior = SpikeSlab::by_group(options(), groups, k);
            Box::new(SpikeSlabRows::new(name, prior, start))
        }
        (Rows::Horseshoe, _) => horseshoe(name.to_owned(), start),
    }
}

/// The model of these parts with other families of rows, weights at zero.
pub fn assemble(
    mut parts: Vec<ViewPart>,
    weights_of: Rows,
    factors_of: Rows,
    groups: Option<RowGroups>,
    start: Mat<f64>,
) -> Model {
    let k = start.ncols();
    for part in &mut parts {
        let d = part.weights.moments().explicit_rows();
        let zero = RowMoments::isotropic(Mat::zeros(d, k), 1.0, 0);
        part.weights = weights(weights_of, format!("weights/{}", part.name), zero);
    }
    let factors = factors(factors_of, groups, RowMoments::isotropic(start, 0.1, 0));
    let schedule = Schedule::standard(parts.len());
    Model::new(factors, parts, schedule)
}
