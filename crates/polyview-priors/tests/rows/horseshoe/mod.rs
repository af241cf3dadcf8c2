//! The three-parameter beta prior: its hierarchy, its conditionals, its bound,
//! and the rows under it.

mod states;

use crate::common::LearnAlone as _;
use std::f64::consts::{FRAC_PI_2, FRAC_PI_8};

use crate::common::{KINDS, close, problem, start};
use polyview_core::{
    NumericError, PrecisionView, RotationSide, RowBlock, RowCov, RowMoments, ScalePrior, State,
    Stateful,
};
use polyview_linalg::{Mat, Threads};
use polyview_priors::{
    DiagonalRows, FullRows, GlobalScale, ThreeParameterBeta, ThreeParameterBetaOptions,
};
use polyview_random::StreamKey;
use polyview_special::{gamma, ln_gamma};
use proptest::prelude::*;

const SCOPES: [GlobalScale; 3] = [GlobalScale::Column, GlobalScale::Row, GlobalScale::All];

fn options(r: f64, s: f64, global: GlobalScale) -> ThreeParameterBetaOptions {
    ThreeParameterBetaOptions { r, s, global }
}

fn saved(p: &ThreeParameterBeta) -> State {
    let mut state = State::new();
    p.save("p", &mut state);
    state
}

fn array(state: &State, name: &str) -> Vec<f64> {
    state.reader().vec(&format!("p/{name}")).unwrap()
}

/// The same prior with one array of its state changed.
fn with(p: &ThreeParameterBeta, name: &str, values: &[f64]) -> ThreeParameterBeta {
    let mut state = saved(p);
    state.put_vec(&format!("p/{name}"), values);
    let mut out = p.clone();
    out.load("p", &state.reader()).unwrap();
    out
}

/// What of the bound depends on the scales.
fn bound(p: &ThreeParameterBeta, rows: &RowMoments) -> f64 {
    p.expected_log_density(rows) + p.bound()
}

/// spec/maxmargin-rank V2; the printed inverse moment is 1/⟨ξ⟩ at r = ½ (E9).
#[test]
fn moments_are_those_of_the_specification() {
    for (r, eta, square, mean, inverse, printed) in [
        (0.5, 1.3, 0.4, 0.557_802, 3.625_715, 1.792_750),
        (2.0, 3.0, 0.1, 0.556_351, 3.381_050, 17.745_967),
    ] {
        let p = ThreeParameterBeta::new(options(r, 0.5, GlobalScale::Column), 1, 1);
        let mut p = with(&p, "eta/shape", &[r + 0.5]);
        p = with(&p, "eta/rate", &[(r + 0.5) / eta]);
        p.update_variances(&RowMoments::point(Mat::full(1, 1, f64::sqrt(square))));
        close(p.variances()[(0, 0)], mean, 1e-6, "mean");
        close(p.precisions()[(0, 0)], inverse, 1e-6, "inverse");
        assert!((p.precisions()[(0, 0)] - printed).abs() > 1.0);
    }
}

/// spec/maxmargin-rank V4, and the law of the global scale.
#[test]
fn scales_are_half_cauchy() {
    let n = 20_000;
    let prior = ThreeParameterBetaOptions::horseshoe(GlobalScale::Row);
    let mut p = ThreeParameterBeta::new(prior, n, 1);
    p.draw_prior(StreamKey::new(3));
    let ratio = |i: usize| (p.variances()[(i, 0)] / p.global_scales()[i]).sqrt();
    let global = |i: usize| p.global_scales()[i].sqrt();
    let below =
        |f: &dyn Fn(usize) -> f64, x: f64| (0..n).filter(|&i| f(i) < x).count() as f64 / n as f64;
    for share in [0.1, 0.25, 0.5, 0.75, 0.9_f64] {
        let quantile = (FRAC_PI_2 * share).tan();
        for f in [&ratio as &dyn Fn(usize) -> f64, &global] {
            let found = below(f, quantile);
            assert!((found - share).abs() < 0.014, "{share}: {found}");
        }
    }
    // not any law with that median
    assert!((below(&ratio, FRAC_PI_8.tan()) - 0.5).abs() > 0.2);
}

/// Logs of what a draw holds: a variance, a rate, a global scale, its rate.
fn logs(p: &ThreeParameterBeta) -> [f64; 4] {
    [
        p.variances()[(0, 0)].ln(),
        p.rates()[(0, 0)].ln(),
        p.global_scales()[0].ln(),
        p.hyper_rates()[0].ln(),
    ]
}

/// Rows drawn given scales.
fn rows_of(p: &ThreeParameterBeta, key: StreamKey) -> RowMoments {
    let mut rng = key.rng();
    let v = p.variances();
    RowMoments::point(Mat::from_fn(v.nrows(), v.ncols(), |d, k| {
        v[(d, k)].sqrt() * polyview_random::standard_normal(&mut rng)
    }))
}

/// spec/maxmargin-rank V3: one draw of the conditionals keeps the prior, and
/// with the printed ones it does not (errata E6, E7).
#[test]
fn conditionals_keep_the_prior() {
    let (d, k, n) = (4, 3, 40_000_u64);
    for (shapes, scope) in [
        ((0.5, 0.5), GlobalScale::Column),
        ((0.5, 0.5), GlobalScale::Row),
        ((1.5, 0.8), GlobalScale::Column),
        ((0.7, 2.0), GlobalScale::All),
    ] {
        let mut p = ThreeParameterBeta::new(options(shapes.0, shapes.1, scope), d, k);
        let (mut before, mut after) = ([0.0; 4], [0.0; 4]);
        let (mut squares, mut printed) = ([0.0; 4], [0.0; 2]);
        for i in 0..n {
            let key = StreamKey::new(11).sweep(i);
            p.draw_prior(key.block(0));
            let rows = rows_of(&p, key.block(1));
            let old = logs(&p);
            if scope == GlobalScale::Column {
                let mut rng = key.block(3).rng();
                let mut ln = |shape: f64, rate: f64| {
                    polyview_random::ln_gamma_draw(&mut rng, shape, rate).unwrap()
                };
                let sum: f64 = (0..d).map(|r| p.rates()[(r, 0)]).sum();
                let shape = 0.5 + shapes.1 * d as f64;
                printed[0] += ln(shape, p.hyper_rates()[0] + 0.5 * sum);
                printed[1] += ln(1.0, 1.0 + p.global_scales().iter().sum::<f64>());
            }
            p.draw(&rows, key.block(2));
            for (j, (a, b)) in old.into_iter().zip(logs(&p)).enumerate() {
                before[j] += a;
                after[j] += b;
                squares[j] += (a - b).powi(2);
            }
        }
        let n = n as f64;
        for j in 0..4 {
            let gap = (after[j] - before[j]) / n;
            let error = (squares[j] / n - gap * gap).max(0.0).sqrt() / n.sqrt();
            assert!(gap.abs() < 4.5 * error, "{scope:?} {j}: {gap} of {error}");
        }
        if (shapes, scope) == ((0.5, 0.5), GlobalScale::Column) {
            // V3: 0.525 instead of 0.000, -2.963 instead of -1.963
            assert!((before[2] / n).abs() < 0.07, "{}", before[2] / n);
            assert!((printed[0] / n - 0.525).abs() < 0.07, "{}", printed[0] / n);
            assert!((before[3] / n + 1.963).abs() < 0.05);
            assert!((printed[1] / n + 2.963).abs() < 0.05, "{}", printed[1] / n);
        }
    }
}

fn step(p: &mut ThreeParameterBeta, which: usize, rows: &RowMoments) {
    match which {
        0 => p.update_variances(rows),
        1 => p.update_rates(),
        2 => p.update_globals(),
        _ => p.update_hyper(),
    }
}

/// A state some updates away from the start, with odd rates.
fn prior(o: ThreeParameterBetaOptions, d: usize, k: usize, seed: u64) -> ThreeParameterBeta {
    let mut p = ThreeParameterBeta::new(o, d, k);
    p.update(&start(d, k, seed));
    for (i, name) in ["eta/rate", "phi/rate", "hyper/rate", "xi/a", "xi/b"]
        .iter()
        .enumerate()
    {
        let moved: Vec<f64> = array(&saved(&p), name)
            .iter()
            .enumerate()
            .map(|(j, x)| x * (0.4 + ((j * 7 + i * 3) % 9) as f64 / 5.0))
            .collect();
        p = with(&p, name, &moved);
    }
    p
}

fn any_options() -> impl Strategy<Value = ThreeParameterBetaOptions> {
    (
        prop_oneof![Just(0.5), 0.05f64..4.0],
        prop_oneof![Just(0.5), 0.05f64..4.0],
        prop::sample::select(SCOPES.to_vec()),
    )
        .prop_map(|(r, s, global)| options(r, s, global))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
    /// spec/maxmargin-rank V5, and each step is the maximum of its block.
    #[test]
    fn no_step_lowers_the_bound_and_each_ends_at_a_maximum(
        o in any_options(), d in 1usize..8, k in 1usize..5, seed in any::<u64>()
    ) {
        let rows = start(d, k, seed);
        let mut p = prior(o, d, k, seed ^ 1);
        let mut last = bound(&p, &rows);
        for round in 0..4 {
            for which in 0..4 {
                step(&mut p, which, &rows);
                let next = bound(&p, &rows);
                prop_assert!(next >= last - 1e-9 * (1.0 + last.abs()), "{round} {which}: {next} after {last}");
                last = next;
                let names: &[&str] = match which {
                    0 => &["xi/a", "xi/b"],
                    1 => &["eta/rate", "eta/shape"],
                    2 => &["phi/rate", "phi/shape"],
                    _ => &["hyper/rate", "hyper/shape"],
                };
                for name in names {
                    let values = array(&saved(&p), name);
                    for by in [-1e-3, 1e-3] {
                        let moved: Vec<f64> = values.iter().map(|x| x * (1.0 + by)).collect();
                        let other = bound(&with(&p, name, &moved), &rows);
                        prop_assert!(other < next + 1e-10 * (1.0 + next.abs()), "{name} {by}: {other} {next}");
                    }
                }
            }
        }
    }
}

/// Integral of f against $\mathrm{GIG}(a, b, p)$, in the logarithm.
fn over_gig(a: f64, b: f64, p: f64, f: impl Fn(f64) -> f64) -> (f64, f64) {
    let step = 1e-3;
    let density = |t: f64| (p * t - 0.5 * (a * t.exp() + b * (-t).exp())).exp();
    let at = |i: i32| f64::from(i) * step;
    let mass: f64 = (-40_000..15_000).map(|i| density(at(i)) * step).sum();
    let sum: f64 = (-40_000..15_000)
        .map(|i| density(at(i)) * f(at(i).exp()) * step)
        .sum();
    (sum / mass, mass.ln())
}

/// The bound from the definition, with $\langle\ln\xi\rangle$ and the entropy of
/// $q(\xi)$ by quadrature.
fn naive_bound(p: &ThreeParameterBeta, rows: &RowMoments) -> f64 {
    let o = p.options();
    let state = saved(p);
    let (d, k) = (rows.rows(), rows.k());
    let q = |name: &str, i: usize| {
        let (a, b) = (
            array(&state, &format!("{name}/shape"))[0],
            array(&state, &format!("{name}/rate"))[i],
        );
        (a / b, gamma::mean_log(a, b), gamma::entropy(a, b))
    };
    // E ln Ga(x; shape, rate)
    let ln_pdf = |shape: f64, (rate, ln_rate): (f64, f64), (x, ln_x): (f64, f64)| {
        shape * ln_rate - ln_gamma(shape) + (shape - 1.0) * ln_x - rate * x
    };
    let (a, b) = (array(&state, "xi/a"), array(&state, "xi/b"));
    let mut total = 0.0;
    for c in 0..k {
        for r in 0..d {
            let i = r + d * c;
            let g = match o.global {
                GlobalScale::Column => c,
                GlobalScale::Row => r,
                GlobalScale::All => 0,
            };
            let ((eta, ln_eta, h_eta), (phi, ln_phi, _)) = (q("eta", i), q("phi", g));
            let (p_gig, square) = (o.r - 0.5, rows.mean()[(r, c)].powi(2) + rows.variance(r, c));
            let mean = |f: &dyn Fn(f64) -> f64| over_gig(a[i], b[i], p_gig, f).0;
            let ln_z = over_gig(a[i], b[i], p_gig, |x| x).1;
            let (xi, inverse, ln_xi) = (mean(&|x| x), mean(&|x| 1.0 / x), mean(&f64::ln));
            total += -0.5 * ln_xi - 0.5 * square * inverse;
            total += ln_pdf(o.r, (eta, ln_eta), (xi, ln_xi));
            total += ln_z - (p_gig - 1.0) * ln_xi + 0.5 * (a[i] * xi + b[i] * inverse);
            total += ln_pdf(o.s, (phi, ln_phi), (eta, ln_eta)) + h_eta;
        }
    }
    for g in 0..p.global_scales().len() {
        let h = if o.global == GlobalScale::Row { g } else { 0 };
        let ((phi, ln_phi, entropy), (rate, ln_rate, _)) = (q("phi", g), q("hyper", h));
        total += ln_pdf(0.5, (rate, ln_rate), (phi, ln_phi)) + entropy;
    }
    for h in 0..p.hyper_rates().len() {
        let (x, ln_x, entropy) = q("hyper", h);
        total += ln_pdf(0.5, (1.0, 0.0), (x, ln_x)) + entropy;
    }
    total
}

#[test]
fn the_bound_is_its_definition() {
    for scope in SCOPES {
        for (r, s) in [(0.5, 0.5), (1.7, 0.6), (0.3, 2.2)] {
            let rows = start(3, 2, 4);
            let mut p = prior(options(r, s, scope), 3, 2, 8);
            for _ in 0..2 {
                close(bound(&p, &rows), naive_bound(&p, &rows), 1e-8, "bound");
                p.update(&rows);
            }
        }
    }
}

/// With draws the parts are log densities.
#[test]
fn draws_have_their_log_density() {
    for scope in SCOPES {
        let (r, s) = (0.8, 1.3);
        let mut p = ThreeParameterBeta::new(options(r, s, scope), 3, 2);
        p.draw_prior(StreamKey::new(2));
        let rows = rows_of(&p, StreamKey::new(3));
        p.draw(&rows, StreamKey::new(4));
        let ln_pdf = |shape: f64, rate: f64, x: f64| {
            shape * rate.ln() - ln_gamma(shape) + (shape - 1.0) * x.ln() - rate * x
        };
        let (mut density, mut scales) = (0.0, 0.0);
        for c in 0..2 {
            for d in 0..3 {
                let phi = p.global_scales()[match scope {
                    GlobalScale::Column => c,
                    GlobalScale::Row => d,
                    GlobalScale::All => 0,
                }];
                let (xi, eta) = (p.variances()[(d, c)], p.rates()[(d, c)]);
                density += -0.5 * xi.ln() - 0.5 * rows.mean()[(d, c)].powi(2) / xi;
                scales += ln_pdf(r, eta, xi) + ln_pdf(s, phi, eta);
            }
        }
        let hyper = p.hyper_rates();
        for (g, phi) in p.global_scales().iter().enumerate() {
            scales += ln_pdf(0.5, hyper[g.min(hyper.len() - 1)], *phi);
        }
        scales += hyper.iter().map(|x| ln_pdf(0.5, 1.0, *x)).sum::<f64>();
        close(p.expected_log_density(&rows), density, 1e-12, "rows");
        close(p.bound(), scales, 1e-12, "scales");
    }
}

/// Rows of both families: no block lowers the objective, whatever the
/// equations and the ranges; the full rows are the exact solution.
#[test]
fn rows_have_the_precisions_of_their_entries() {
    let (rows, k) = (140, 3);
    for kind in KINDS {
        let p = problem(kind, rows, k, 3);
        for o in SCOPES.map(|scope| options(0.5, 0.5, scope)) {
            let new = || ThreeParameterBeta::new(o, rows, k);
            let mut full = FullRows::new("w", new(), start(rows, k, 5));
            let mut whole = FullRows::new("w", new(), start(rows, k, 5));
            let mut diagonal = DiagonalRows::new("w", new(), start(rows, k, 5));
            let mut last = [f64::NEG_INFINITY; 2];
            for _ in 0..6 {
                let blocks: [&mut dyn RowBlock; 2] = [&mut full, &mut diagonal];
                for (b, last) in blocks.into_iter().zip(&mut last) {
                    p.update(b, &[64, 70, rows]);
                    let rows = p.objective(b);
                    b.learn_alone();
                    let scales = p.objective(b);
                    assert!(rows >= *last - 1e-8 * last.abs(), "{kind:?} {o:?}");
                    assert!(scales >= rows - 1e-8 * rows.abs(), "{kind:?} {o:?}");
                    *last = scales;
                }
                p.update(&mut whole, &[rows]);
                whole.learn_alone();
            }
            // blocks of rows do not matter
            assert_eq!(full.moments().mean(), whole.moments().mean());
            p.update(&mut full, &[rows]);
            for r in [0, 77, rows - 1] {
                let mut precision = p.precision(r);
                for j in 0..k {
                    precision[(j, j)] += full.precision().at(r, j);
                }
                for i in 0..k {
                    let term = |j: usize| precision[(i, j)] * full.moments().mean()[(r, j)];
                    let found: f64 = (0..k).map(term).sum();
                    // precisions of shrunken entries are large
                    let size: f64 = (0..k).map(|j| term(j).abs()).sum();
                    let gap = (found - p.rhs(r)[i]).abs();
                    assert!(gap < 1e-7 * (1.0 + size), "{kind:?}: {gap} of {size}");
                }
            }
            assert!(matches!(full.precision(), PrecisionView::Cells(_)));
            assert!(full.rotation_term(RotationSide::Weights).is_none());
        }
    }
}

/// What the prior is for: of many entries few are large, in one factor of two.
#[test]
fn it_shrinks_noise_and_leaves_signals() {
    let (rows, k, noise) = (200, 2, 0.1);
    let mut rng = StreamKey::new(8).rng();
    let mut signal = Mat::zeros(rows, k);
    for d in 0..10 {
        signal[(d, 0)] = if d % 2 == 0 { 1.5 } else { -1.5 };
    }
    let seen =
        &signal + crate::common::normal(rows, k, &mut rng) * polyview_linalg::faer::Scale(noise);
    let mut prior = ThreeParameterBeta::new(ThreeParameterBetaOptions::default(), rows, k);
    let tau = 1.0 / (noise * noise);
    let fit = |prior: &mut dyn ScalePrior| {
        let mut last = Mat::zeros(rows, k);
        for _ in 0..100 {
            let mut v = Mat::zeros(rows, k);
            for j in 0..k {
                for d in 0..rows {
                    v[(d, j)] = 1.0 / (tau + prior.precision().at(d, j));
                    last[(d, j)] = v[(d, j)] * tau * seen[(d, j)];
                }
            }
            prior.update(&RowMoments::new(last.clone(), RowCov::Diagonal(v), 0.0, 0));
        }
        last
    };
    let found = fit(&mut prior);
    let error = |m: &Mat<f64>| -> f64 {
        (0..k)
            .flat_map(|j| (0..rows).map(move |d| (d, j)))
            .map(|i| (m[i] - signal[i]).powi(2))
            .sum()
    };
    // the data themselves err by the noise
    assert!(
        error(&found) < 0.25 * error(&seen),
        "{} {}",
        error(&found),
        error(&seen)
    );
    for d in 0..10 {
        assert!((found[(d, 0)] / seen[(d, 0)] - 1.0).abs() < 0.02);
    }
    // so does relevance determination by factor, which has one scale for all
    let mut ard = polyview_priors::Ard::new(polyview_core::GammaPrior::new(1e-3, 1e-3), k);
    assert!(error(&fit(&mut ard)) > 1.5 * error(&found));
    // the factor without signal has the smaller scale
    assert!(prior.global_scales()[1] < prior.global_scales()[0]);
}
