//! Local variables at their maxima, by formulas of their own: U7-U12 against
//! L8 and L9 of spec/sshiba.

use polyview_core::{State, View};
use polyview_infer::Model;
use polyview_likelihoods::MissingData;
use polyview_linalg::Mat;
use polyview_random::{StreamKey, standard_normal};
use polyview_special::{jaakkola_lambda, log_sigmoid, normal_cdf, normal_pdf, sigmoid};
use polyview_tests::mixed::{MixedView, Species};

use super::stationary::{at_maximum, bound_of, saved};

/// Checks the local variables of view `v` right after their update.
pub fn check(model: &mut Model, v: usize, (case, view): &(MixedView, View)) {
    let before = saved(model);
    let at = format!("views/v{v}/term");
    match case.species {
        Species::Real(_) => {
            if before.reader().has(&format!("{at}/imputed/cells")) {
                relative(model, &before, &format!("{at}/imputed/variance"), 1.0);
                relative(model, &before, &format!("{at}/imputed/cells"), 0.0);
            }
        }
        Species::Labels | Species::Svm | Species::Probit | Species::Counts => {
            local_bounds(model, &before, &at);
        }
        Species::Latent(_) => scores(model, &before, &at, case, view),
        Species::Classes => classes(model, &before, v, case, view),
        Species::Ranks => relative(model, &before, &format!("{at}/local/kappa"), 1.0),
    }
    bound_of(model, &before);
}

/// A vector moved by `s` times noise, relative to its entries where `scale`
/// is one.
fn relative(model: &mut Model, before: &State, name: &str, scale: f64) {
    at_maximum(name, |s| {
        let mut rng = StreamKey::new(29).rng();
        let mut values = before.reader().vec(name).expect("a vector");
        for x in &mut values {
            let by = s * standard_normal(&mut rng);
            *x += if scale > 0.0 { by * *x } else { by };
        }
        let mut state = before.clone();
        state.put_vec(name, &values);
        bound_of(model, &state)
    });
}

fn noisy(m: &Mat<f64>, s: f64, seed: u64) -> Mat<f64> {
    let mut rng = StreamKey::new(seed).rng();
    Mat::from_fn(m.nrows(), m.ncols(), |i, j| {
        m[(i, j)] + s * standard_normal(&mut rng)
    })
}

/// ξ of the bound on the predictor itself.
fn local_bounds(model: &mut Model, before: &State, at: &str) {
    let name = format!("{at}/local/values");
    let xi = before.reader().mat(&name).expect("xi");
    at_maximum(&name, |s| {
        let mut state = before.clone();
        state.put_mat(&name, noisy(&xi, s, 31).as_ref());
        bound_of(model, &state)
    });
}

/// Means, variances and ξ of latent scores, and probabilities of imputed
/// labels.
fn scores(model: &mut Model, before: &State, at: &str, case: &MixedView, view: &View) {
    let array = |part: &str| {
        before
            .reader()
            .mat(&format!("{at}/local/{part}"))
            .expect("scores")
    };
    let (mean, xi) = (array("scores"), array("xi"));
    let l2p = (2.0 * std::f64::consts::PI).ln();
    let imputes = case.missing == MissingData::Impute;
    // m, v, xi, r of every cell moved by these much
    let state = |by: [f64; 4]| {
        let mut rng = StreamKey::new(37).rng();
        let (mut m, mut x) = (mean.clone(), xi.clone());
        let columns = mean.ncols();
        let (mut variances, mut bounds) = (vec![0.0; columns], vec![0.0; columns]);
        for d in 0..columns {
            for n in 0..mean.nrows() {
                let noise: Vec<f64> = (0..4).map(|_| standard_normal(&mut rng)).collect();
                let label = view.value(n, d);
                if label.is_none() && !imputes {
                    continue;
                }
                // U8 has been the last update
                let v = (xi[(n, d)].powi(2) - mean[(n, d)].powi(2)) * (1.0 + by[1] * noise[1]);
                let r = (sigmoid(mean[(n, d)]) + by[3] * noise[3]).clamp(1e-9, 1.0 - 1e-9);
                m[(n, d)] += by[0] * noise[0];
                x[(n, d)] += by[2] * noise[2];
                let (m, xi) = (m[(n, d)], x[(n, d)]);
                let of_label = label.map_or_else(
                    || m * r - r * r.ln() - (1.0 - r) * (1.0 - r).ln(),
                    |t| m * t,
                );
                // L8
                bounds[d] += log_sigmoid(xi) + of_label
                    - 0.5 * (m + xi)
                    - jaakkola_lambda(xi) * (m * m + v - xi * xi)
                    + 0.5 * (1.0 + l2p + v.ln());
                variances[d] += v;
            }
        }
        let mut state = before.clone();
        state.put_mat(&format!("{at}/local/scores"), m.as_ref());
        state.put_mat(&format!("{at}/local/xi"), x.as_ref());
        state.put_vec(&format!("{at}/local/score-variance"), &variances);
        state.put_vec(&format!("{at}/local/label-bound"), &bounds);
        state
    };
    // the term's own sums are those of the formula
    let (own, formula) = (bound_of(model, before), bound_of(model, &state([0.0; 4])));
    assert!(
        (own - formula).abs() < 1e-9 * (1.0 + own.abs()),
        "{own} {formula}"
    );
    for (i, what) in ["means", "variances", "xi", "labels"]
        .into_iter()
        .enumerate()
    {
        let missing = view.n_observed() < mean.nrows() * mean.ncols();
        if what == "labels" && !(imputes && missing) {
            continue;
        }
        at_maximum(&format!("{at} {what}"), |s| {
            let mut by = [0.0; 4];
            by[i] = s;
            bound_of(model, &state(by))
        });
    }
}

/// ln ξ and its gradient, by the trapezoidal rule.
fn truncated(m: &[f64], class: usize) -> (f64, Vec<f64>) {
    let step = 0.05;
    let (mut total, mut shift) = (0.0, vec![0.0; m.len()]);
    for i in -240..=240 {
        let u = step * f64::from(i);
        let others = |skip: usize| -> f64 {
            (0..m.len())
                .filter(|&k| k != class && k != skip)
                .map(|k| normal_cdf(u + m[class] - m[k]))
                .product()
        };
        total += step * normal_pdf(u) * others(class);
        for j in (0..m.len()).filter(|&j| j != class) {
            let slope = step * normal_pdf(u) * normal_pdf(u + m[class] - m[j]) * others(j);
            shift[j] -= slope;
            shift[class] += slope;
        }
    }
    for s in &mut shift {
        *s /= total;
    }
    (total.ln(), shift)
}

/// The parameter m of the truncated normal distributions of class scores.
fn classes(model: &mut Model, before: &State, v: usize, case: &MixedView, view: &View) {
    let at = format!("views/v{v}/term");
    let classes = view.classes();
    let rows = classes.len();
    let weights = model.views[v].weights.moments().mean();
    let linear = model.factors.moments().mean() * weights.transpose();
    let eta = Mat::from_fn(rows, case.columns, |n, c| {
        linear[(n, c)] + model.views[v].bias.mean()[c]
    });
    let stored = before
        .reader()
        .mat(&format!("{at}/local/scores"))
        .expect("scores");
    let state = |m: &Mat<f64>| {
        let (mut scores, mut offsets) = (stored.clone(), vec![0.0; rows]);
        for n in 0..rows {
            let own: Vec<f64> = (0..case.columns).map(|c| m[(n, c)]).collect();
            let shift = match classes[n] {
                Some(class) => {
                    let (ln, shift) = truncated(&own, class);
                    offsets[n] = ln + 0.5 * shift.iter().map(|s| s * s).sum::<f64>();
                    shift
                }
                None if case.missing == MissingData::Impute => vec![0.0; case.columns],
                None => continue,
            };
            for c in 0..case.columns {
                scores[(n, c)] = own[c] + shift[c];
            }
        }
        let mut state = before.clone();
        state.put_mat(&format!("{at}/local/scores"), scores.as_ref());
        state.put_vec(&format!("{at}/local/offsets"), &offsets);
        state
    };
    let again = state(&eta)
        .reader()
        .mat(&format!("{at}/local/scores"))
        .expect("scores");
    for c in 0..case.columns {
        for n in 0..rows {
            assert!(
                (again[(n, c)] - stored[(n, c)]).abs() < 1e-9,
                "{at}: {n} {c}"
            );
        }
    }
    at_maximum(&format!("{at} scores"), |s| {
        bound_of(model, &state(&noisy(&eta, s, 41)))
    });
}
