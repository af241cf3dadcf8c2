//! What every block of rows has to do.

use polyview_core::{
    Bias, DataError, GammaPrior, LikelihoodSpecies, MissingData, NoiseBy, NumericError,
    ParameterUncertainty, RowBlock, RowMoments, RowRole, Schedule, State, Stateful, TermContext,
    View,
};
use polyview_infer::{Model, ViewPart};
use polyview_likelihoods::species::GaussianSpecies;
use polyview_linalg::Mat;
use polyview_priors::{Ard, Fixed, FullRows};

use super::PriorFinding;
use super::block::{K, ROWS, Subject, bound, learn, update};
use crate::geweke::try_largest_change;

/// Updates in which the bound is watched.
const SWEEPS: usize = 25;
/// Largest relative difference of sums.
const GAP: f64 = 1e-8;
/// Largest score of some dozens of means.
const SCORE: f64 = 4.5;

fn numeric(what: &'static str) -> impl Fn(NumericError) -> PriorFinding + Copy {
    move |source| PriorFinding::Numeric { what, source }
}

fn same(what: &'static str, found: f64, expected: f64) -> Result<(), PriorFinding> {
    let near = (found - expected).abs() <= GAP * (1.0 + expected.abs());
    if near {
        return Ok(());
    }
    Err(PriorFinding::Number {
        what,
        found,
        expected,
    })
}

/// No update of rows or scales lowers the bound.
pub(super) fn rises(s: &Subject<'_>) -> Result<(), PriorFinding> {
    for own in [false, true] {
        let (mut block, eq) = (s.block(ROWS, K)?, s.equations(1, own));
        let mut before = f64::NEG_INFINITY;
        for sweep in 1..=SWEEPS {
            for step in ["an update of the rows", "an update of the scales"] {
                if step.ends_with("rows") {
                    update(block.as_mut(), &eq).map_err(numeric(step))?;
                } else {
                    learn(block.as_mut(), sweep).map_err(numeric(step))?;
                }
                let after = bound(block.as_ref(), &eq);
                // what is no number is a fall, too
                let rose = after >= before - 1e-9 * (1.0 + before.abs());
                if !rose {
                    return Err(PriorFinding::BoundFell {
                        step,
                        before,
                        after,
                    });
                }
                before = after;
            }
        }
    }
    Ok(())
}

/// Rows that were kept come back, and what rows add to the bound is what changes with them.
pub(super) fn goes_back(s: &Subject<'_>) -> Result<(), PriorFinding> {
    let error = numeric("rows that go back");
    let mut block = s.block(ROWS, K)?;
    update(block.as_mut(), &s.equations(1, true)).map_err(error)?;
    learn(block.as_mut(), 1).map_err(error)?;
    update(block.as_mut(), &s.equations(1, true)).map_err(error)?;
    let (kept, there) = (block.keep(0..ROWS), block.bound().sum());
    let mean = block.moments().mean().to_owned();
    update(block.as_mut(), &s.equations(2, true)).map_err(error)?;
    for row in 0..ROWS {
        let own = block.row_bounds(row..row + 1)[0];
        let all = block.bound().sum();
        block.retreat(&kept, row, 0.0).map_err(error)?;
        let by_row = block.row_bounds(row..row + 1)[0] - own;
        same(
            "the change of a row's bound",
            by_row,
            block.bound().sum() - all,
        )?;
    }
    same(
        "the bound of rows that came back",
        block.bound().sum(),
        there,
    )?;
    for row in 0..ROWS {
        for k in 0..K {
            let found = block.moments().mean()[(row, k)];
            same("a mean that came back", found, mean[(row, k)])?;
        }
    }
    Ok(())
}

fn saved(part: &(impl Stateful + ?Sized)) -> State {
    let mut state = State::new();
    part.save("", &mut state);
    state
}

/// What is written, read into another block and written again is the same.
pub(super) fn is_saved(s: &Subject<'_>) -> Result<(), PriorFinding> {
    let error = numeric("a saved block");
    let mut block = s.block(ROWS, K)?;
    update(block.as_mut(), &s.equations(1, false)).map_err(error)?;
    learn(block.as_mut(), 1).map_err(error)?;
    let state = saved(block.as_ref());
    let mut other = s.block(ROWS, K)?;
    other.load("", &state.reader()).map_err(error)?;
    let again = saved(other.as_ref());
    let values = |s: &State, name: &String| {
        let array = s.arrays().get(name)?;
        Some(array.values.iter().map(|x| x.to_bits()).collect::<Vec<_>>())
    };
    let mut names = state.arrays().keys().chain(again.arrays().keys());
    if let Some(array) = names.find(|n| values(&state, n) != values(&again, n)) {
        return Err(PriorFinding::State {
            array: array.clone(),
        });
    }
    same(
        "the bound of a block that was read",
        other.bound().sum(),
        block.bound().sum(),
    )
}

/// Neither order nor signs of columns matter.
pub(super) fn is_reordered(s: &Subject<'_>) -> Result<(), PriorFinding> {
    let error = numeric("columns in another order");
    let mut block = s.block(ROWS, K)?;
    update(block.as_mut(), &s.equations(1, true)).map_err(error)?;
    learn(block.as_mut(), 1).map_err(error)?;
    let (before, first) = (block.bound().sum(), block.moments().mean()[(0, 0)]);
    let keep: Vec<usize> = (0..K).rev().collect();
    block.select(&keep, &[1.0, -1.0, -1.0]).map_err(error)?;
    same(
        "a mean in the last column",
        block.moments().mean()[(0, K - 1)],
        -first,
    )?;
    same("the bound in another order", block.bound().sum(), before)
}

/// The Gibbs sampler leaves the joint distribution alone, with normal data.
pub(super) fn is_sampled(s: &Subject<'_>) -> Result<(), PriorFinding> {
    const SAMPLES: usize = 6;
    const FEATURES: usize = 4;
    const K: usize = 2;
    if s.draws == 0 {
        return Ok(());
    }
    let term = || -> Result<_, DataError> {
        let values = Mat::from_fn(SAMPLES, FEATURES, |n, d| 0.1 * (n + d) as f64);
        let names = (0..FEATURES).map(|d| format!("f{d}")).collect();
        let view = View::from_values("view", names, values)?;
        let cx = TermContext {
            missing: MissingData::Marginal,
            prediction: ParameterUncertainty::Posterior,
            noise: NoiseBy::Feature,
            noise_prior: GammaPrior::new(4.0, 3.0),
            start_noise: 1.0,
            components: None,
            tangents: false,
            key: s.key.block(30),
        };
        GaussianSpecies.term(view, &GaussianSpecies.defaults(), &cx)
    };
    let term = term().map_err(PriorFinding::Block)?;
    let start = |rows| RowMoments::isotropic(Mat::zeros(rows, K), 0.1, 0);
    let (weights, factors): (Box<dyn RowBlock>, Box<dyn RowBlock>) = match s.role {
        RowRole::Weights => (
            s.block(FEATURES, K)?,
            Box::new(FullRows::new(
                "factors",
                Fixed::standard_normal(K),
                start(SAMPLES),
            )),
        ),
        RowRole::Factors => {
            let prior = Ard::new(GammaPrior::new(5.0, 4.0), K);
            let weights = FullRows::new("weights/view", prior, start(FEATURES));
            (Box::new(weights), s.block(SAMPLES, K)?)
        }
    };
    let part = ViewPart {
        name: "view".to_owned(),
        term,
        weights,
        bias: Bias::gaussian(FEATURES, 0, 0.5),
    };
    let schedule = if factors.shares().is_some() {
        Schedule::with_assignment(1)
    } else {
        Schedule::standard(1)
    };
    let model = Model::new(factors, vec![part], schedule);
    let score = try_largest_change(model, s.draws, 2, 5).map_err(numeric("a chain"))?;
    if score < SCORE {
        return Ok(());
    }
    Err(PriorFinding::Sampler { score })
}
