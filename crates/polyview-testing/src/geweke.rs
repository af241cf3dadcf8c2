//! Geweke (2004): a sampler of parameters given data, alternated with a draw
//! of data given parameters, must leave the joint distribution alone, so that
//! its moments equal those of draws from the prior.

use polyview_core::{Context, NumericError, PrecisionView, Predictor, State};
use polyview_infer::{GibbsChain, Model};
use polyview_linalg::Threads;
use polyview_random::{StreamKey, uniform_open01};

/// Draws parameters from the prior.
fn draw_prior(model: &mut Model, key: StreamKey) -> Result<(), NumericError> {
    model.factors.draw_prior(key.block(1000));
    for (m, v) in model.views.iter_mut().enumerate() {
        let at = key.block(2000 + 100 * m as u32);
        v.weights.draw_prior(key.chain(7 + m as u32));
        v.bias.draw_prior(at.block(2001 + 100 * m as u32));
        v.term
            .as_augmented()
            .ok_or(NumericError::NoDraws)?
            .draw_noise_prior(at.block(2002 + 100 * m as u32));
    }
    model.share();
    Ok(())
}

/// Draws data given parameters.
fn draw_data(model: &mut Model, key: StreamKey) -> Result<(), NumericError> {
    for (m, v) in model.views.iter_mut().enumerate() {
        let p = Predictor {
            factors: model.factors.seen(),
            weights: v.weights.seen(),
            bias: &v.bias,
        };
        v.term
            .as_augmented()
            .ok_or(NumericError::NoDraws)?
            .draw_data(&p, key.block(3000 + m as u32));
    }
    Ok(())
}

/// Draws missing cells, where they are latent variables, given parameters.
fn draw_missing(model: &mut Model, key: StreamKey) -> Result<(), NumericError> {
    let mut journal = polyview_core::Journal::default();
    for (m, v) in model.views.iter_mut().enumerate() {
        let p = Predictor {
            factors: model.factors.seen(),
            weights: v.weights.seen(),
            bias: &v.bias,
        };
        let mut cx = Context {
            key: key.block(4000 + m as u32),
            sweep: 0,
            journal: &mut journal,
        };
        v.term
            .as_augmented()
            .ok_or(NumericError::NoDraws)?
            .draw_locals(&p, &mut cx)?;
    }
    Ok(())
}

/// Test functions that do not change with signs or the order of factors.
fn statistics(model: &mut Model) -> Vec<f64> {
    let objective = model.objective();
    let of = |name: &str| {
        objective
            .iter()
            .find(|t| t.name == name)
            .map_or(f64::NAN, |t| t.value)
    };
    let mut out = vec![of("factors")];
    let zz = model.factors.moments().second_moment(None);
    out.push(zz.trace());
    // components of a mixture prior, where there are such
    if let Some(shares) = model.factors.shares() {
        let at = |n: usize, t: usize| shares[(n, t)];
        let together: f64 = (0..shares.ncols()).map(|t| at(0, t) * at(1, t)).sum();
        let last = shares.nrows().min(4) - 1;
        out.extend([at(0, 0), at(last, shares.ncols() - 1), together]);
        out.extend([of("factor-assignments"), of("factor-scales")]);
    }
    if let PrecisionView::Outer { rows, .. } = model.factors.precision() {
        out.extend([rows[0].ln(), rows[0]]);
        out.push(model.factors.moments().mean()[(0, 0)].powi(2).ln_1p());
    }
    for v in &model.views {
        let ww = v.weights.moments().second_moment(None);
        // noise precisions, or the sizes of counts
        let noise = ["noise", "size"]
            .map(|what| format!("{what}/{}", v.name))
            .into_iter()
            .find(|name| objective.iter().any(|t| t.name == *name));
        let has_noise = noise.is_some();
        out.extend([
            ww.trace().ln_1p(),
            ww.dot(&zz).ln_1p(),
            of(&format!("scales/{}", v.name)),
            of(&format!("weights/{}", v.name)),
            noise.as_deref().map_or(0.0, of),
        ]);
        // coefficients of covariates, where there are any
        if let Some(b) = v.weights.coefficients() {
            out.extend([
                b.second_moment(None).trace().ln_1p(),
                b.mean()[(0, 0)],
                b.mean()[(0, 0)] * v.weights.moments().mean()[(0, 0)],
                of(&format!("coefficients/{}", v.name)),
                of(&format!("coefficient-scales/{}", v.name)),
            ]);
        }
        // exact zeros, where there are such
        let zeros = (0..v.weights.moments().k())
            .flat_map(|k| v.weights.moments().mean().col(k).iter())
            .filter(|w| **w == 0.0)
            .count();
        out.push(zeros as f64);
        // a feature's and a factor's precision, where there are such
        if let PrecisionView::Outer { rows, columns } = v.weights.precision() {
            out.extend([rows[0].ln(), columns.iter().sum::<f64>().ln()]);
            out.push(rows.iter().sum::<f64>() * columns.iter().sum::<f64>());
        }
        if let PrecisionView::Cells(precision) = v.weights.precision() {
            let logs = |j: usize| precision.col(j).iter().map(|x| x.ln()).sum::<f64>();
            out.extend([precision[(0, 0)].ln(), logs(0), logs(0) * logs(1)]);
        }
        // latent scores of classes
        let mut state = State::new();
        v.term.save("t", &mut state);
        if let Ok(scores) = state.reader().mat("t/local/scores")
            && !has_noise
        {
            let first = |n: usize| scores[(n, 0)];
            let top = |n: usize| (0..scores.ncols()).fold(f64::MIN, |t, c| scores[(n, c)].max(t));
            out.extend([
                first(0),
                first(0).powi(2),
                top(0),
                first(3) * top(0),
                f64::from(u8::from(first(2) == top(2))),
            ]);
        }
        out.push(v.bias.mean()[0]);
        out.push(v.bias.mean()[0].powi(2));
        if let (true, Some(precision)) = (v.bias.learns_prior(), v.bias.prior_precision()) {
            let level = v.bias.prior_mean(0);
            out.extend([
                level,
                level * level,
                precision.ln(),
                level * v.bias.mean()[0],
            ]);
        }
        out.push(of(&format!("likelihood/{}", v.name)));
        let mean: f64 = (0..v.weights.moments().explicit_rows())
            .map(|d| v.weights.moments().mean()[(d, 0)] * model.factors.moments().mean()[(0, 0)])
            .sum();
        out.push(mean);
        out.push(mean * v.bias.mean()[1]);
    }
    out
}

/// Largest z score of the difference of means, `draws` draws from the prior
/// against a chain four times as long.
///
/// # Panics
/// If a term of `m` has no draws, or a sweep fails.
pub fn largest_score(m: Model, draws: u64, seed: u64) -> f64 {
    largest_weighted_score(m, draws, seed, |_| 0.0)
}

/// As [`largest_score`], draws from the prior weighted by the exponential of
/// `ln_weight`: pseudo-likelihoods do not sum to one over the data, so the
/// chain's parameters have not the prior but the prior times that sum.
///
/// # Panics
/// As [`largest_score`].
pub fn largest_weighted_score(
    m: Model,
    draws: u64,
    seed: u64,
    ln_weight: impl Fn(&Model) -> f64 + Send,
) -> f64 {
    // a sweep of so few cells is shorter than handing it to other threads
    let alone = Threads::new(1).expect("a thread");
    alone.install(|| weighted_score(m, draws, seed, ln_weight))
}

fn weighted_score(mut m: Model, draws: u64, seed: u64, ln_weight: impl Fn(&Model) -> f64) -> f64 {
    let mut weights = Vec::new();
    let mut prior: Vec<Vec<f64>> = Vec::new();
    for i in 0..draws {
        let key = StreamKey::new(seed).chain(1).sweep(i);
        draw_prior(&mut m, key).expect("a draw");
        draw_data(&mut m, key).expect("a draw");
        draw_missing(&mut m, key).expect("a draw");
        prior.push(statistics(&mut m));
        weights.push(ln_weight(&m).exp());
    }
    let mut joint: Vec<Vec<f64>> = Vec::new();
    draw_prior(&mut m, StreamKey::new(seed).chain(2)).expect("a draw");
    draw_data(&mut m, StreamKey::new(seed).chain(2)).expect("a draw");
    let mut chain = GibbsChain::new(m, StreamKey::new(seed).chain(3));
    for i in 0..4 * draws {
        chain.advance().expect("a sweep");
        // before the data change, so that scores are those of the sweep
        joint.push(statistics(chain.model_mut()));
        draw_data(chain.model_mut(), StreamKey::new(seed).chain(4).sweep(i)).expect("a draw");
    }
    let mut worst: f64 = 0.0;
    for s in 0..prior[0].len() {
        let a: Vec<f64> = prior.iter().map(|r| r[s]).collect();
        let b: Vec<f64> = joint.iter().map(|r| r[s]).collect();
        let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
        let variance = |v: &[f64]| {
            let m = mean(v);
            v.iter().map(|x| (x - m).powi(2)).sum::<f64>() / (v.len() - 1) as f64
        };
        // batch means: the chain's draws depend on one another
        let batches: Vec<f64> = b.chunks(b.len() / 60).map(mean).collect();
        let total: f64 = weights.iter().sum();
        let prior: f64 = a.iter().zip(&weights).map(|(x, w)| w * x).sum::<f64>() / total;
        let spread: f64 = a
            .iter()
            .zip(&weights)
            .map(|(x, w)| (w * (x - prior)).powi(2))
            .sum();
        let error = spread / total.powi(2) + variance(&batches) / batches.len() as f64;
        worst = worst.max((prior - mean(&b)).abs() / error.sqrt());
    }
    worst
}

/// Largest z score of the mean change of a statistic in `sweeps` sweeps that
/// start from draws of the joint distribution: for priors so heavy-tailed that
/// a long chain does not come back from where the data pin large values down.
///
/// # Panics
/// If a term of `m` has no draws, or a sweep fails.
pub fn largest_change(m: Model, draws: u64, sweeps: usize, seed: u64) -> f64 {
    try_largest_change(m, draws, sweeps, seed).expect("a sweep")
}

/// As [`largest_change`].
///
/// # Errors
/// [`NumericError`] from a draw; [`NumericError::NoDraws`] for a term without a sampler.
pub fn try_largest_change(
    m: Model,
    draws: u64,
    sweeps: usize,
    seed: u64,
) -> Result<f64, NumericError> {
    let mut chain = GibbsChain::new(m, StreamKey::new(seed).chain(3));
    let mut changes: Vec<Vec<f64>> = Vec::new();
    for i in 0..draws {
        let key = StreamKey::new(seed).chain(1).sweep(i);
        let m = chain.model_mut();
        draw_prior(m, key)?;
        draw_data(m, key)?;
        draw_missing(m, key)?;
        changes.push(change(&mut chain, sweeps)?);
    }
    Ok(largest(&changes))
}

/// As [`largest_change`] for data that stay as they are and may have no law: the
/// sweeps start from draws of the exact posterior, which are the draws from the
/// prior that survive with probability $e^l$, where `ln_accept` gives $l \le 0$,
/// the logarithm of the (pseudo-)likelihood. It takes sweeps until `draws` have
/// survived.
///
/// # Panics
/// If a term of `m` has no draws, a sweep fails, or fewer than one draw in a
/// thousand survives.
pub fn largest_change_given(
    m: Model,
    draws: usize,
    sweeps: usize,
    seed: u64,
    ln_accept: impl Fn(&Model) -> f64,
) -> f64 {
    let mut chain = GibbsChain::new(m, StreamKey::new(seed).chain(3));
    let mut changes: Vec<Vec<f64>> = Vec::new();
    for i in 0_u64.. {
        let key = StreamKey::new(seed).chain(1).sweep(i);
        assert!(i < 1000 * draws as u64, "{} of {i} survived", changes.len());
        draw_prior(chain.model_mut(), key).expect("a draw");
        let l = ln_accept(chain.model());
        assert!(l <= 0.0, "no probability: {l}");
        if uniform_open01(&mut key.block(5000).rng()).ln() > l {
            continue;
        }
        draw_missing(chain.model_mut(), key).expect("a draw");
        changes.push(change(&mut chain, sweeps).expect("a sweep"));
        if changes.len() == draws {
            break;
        }
    }
    largest(&changes)
}

/// By how much the statistics change in some sweeps.
fn change(chain: &mut GibbsChain, sweeps: usize) -> Result<Vec<f64>, NumericError> {
    let before = statistics(chain.model_mut());
    for _ in 0..sweeps {
        chain.advance()?;
    }
    let after = statistics(chain.model_mut());
    Ok(before.iter().zip(&after).map(|(a, b)| b - a).collect())
}

/// Largest z score of a mean change.
fn largest(changes: &[Vec<f64>]) -> f64 {
    let n = changes.len() as f64;
    (0..changes[0].len())
        .map(|s| {
            let mean = changes.iter().map(|c| c[s]).sum::<f64>() / n;
            let spread: f64 = changes.iter().map(|c| (c[s] - mean).powi(2)).sum();
            mean.abs() / (spread / n / n).sqrt().max(1e-300)
        })
        .filter(|z| !z.is_nan())
        .fold(0.0, f64::max)
}
