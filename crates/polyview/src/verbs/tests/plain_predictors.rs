//! Plain predictors of cross-validation beside calculations of their own.

use polyview_baselines::{PENALTIES, parts, stratified};
use polyview_core::Dataset;
use polyview_linalg::{Mat, solve_spd};

use super::cross_validate::{bibfa, labelled, options, sshiba_of, validated, values};
use super::{cells, simulated};
use crate::{CrossValidateScore, metrics, models};

/// Training and test rows of a view, standardised by the training ones, holes at zero, a column of ones in front.
fn plain_design(data: &Dataset, views: &[&str], fold: &[usize], f: usize) -> [Mat<f64>; 2] {
    let (inside, outside) = parts(fold, f);
    let mut columns: Vec<Vec<f64>> = vec![vec![1.0; data.n_samples()]];
    for name in views {
        let view = data.view(name).unwrap();
        for d in 0..view.n_features() {
            let seen: Vec<f64> = outside.iter().filter_map(|&n| view.value(n, d)).collect();
            let mean = seen.iter().sum::<f64>() / seen.len() as f64;
            let variance = seen.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / seen.len() as f64;
            let of = |n: usize| {
                view.value(n, d)
                    .map_or(0.0, |x| (x - mean) / variance.sqrt())
            };
            columns.push((0..data.n_samples()).map(of).collect());
        }
    }
    let rows = |of: &[usize]| Mat::from_fn(of.len(), columns.len(), |i, d| columns[d][of[i]]);
    [rows(&outside), rows(&inside)]
}

fn chosen_rows(x: &Mat<f64>, of: &[usize]) -> Mat<f64> {
    Mat::from_fn(of.len(), x.ncols(), |n, d| x[(of[n], d)])
}

fn predictor(x: &Mat<f64>, beta: &Mat<f64>) -> Vec<f64> {
    (0..x.nrows())
        .map(|n| (0..x.ncols()).map(|d| x[(n, d)] * beta[(d, 0)]).sum())
        .collect()
}

fn probability(s: f64) -> f64 {
    1.0 / (1.0 + (-s).exp())
}

/// Ridge (one step) or logistic regression by Newton's method.
fn newton(x: &Mat<f64>, y: &[f64], penalty: f64, labels: bool) -> Mat<f64> {
    let p = x.ncols();
    let weight = |i: usize| match (i, labels) {
        (0, true) => 1e-3,
        (0, false) => 0.0,
        _ => penalty,
    };
    let mut beta: Mat<f64> = Mat::zeros(p, 1);
    for _ in 0..if labels { 60 } else { 1 } {
        let s = predictor(x, &beta);
        let (mut hessian, mut slope): (Mat<f64>, Mat<f64>) = (Mat::zeros(p, p), Mat::zeros(p, 1));
        for i in 0..p {
            hessian[(i, i)] = weight(i);
            slope[(i, 0)] = -weight(i) * beta[(i, 0)];
            for n in 0..x.nrows() {
                let q = if labels { probability(s[n]) } else { s[n] };
                let bend = if labels { q * (1.0 - q) } else { 1.0 };
                slope[(i, 0)] += (y[n] - q) * x[(n, i)];
                for j in 0..p {
                    hessian[(i, j)] += bend * x[(n, i)] * x[(n, j)];
                }
            }
        }
        let step = solve_spd(hessian.as_ref(), slope.as_ref()).unwrap();
        beta += &step;
        if step.norm_max() < 1e-13 * (1.0 + beta.norm_max()) {
            break;
        }
    }
    beta
}

/// The predictor of new rows under the penalty of the least loss of inner folds.
fn tuned(x: &Mat<f64>, y: &[f64], new: &Mat<f64>, fold: &[usize], labels: bool) -> Vec<f64> {
    let loss = |penalty: f64| -> f64 {
        let of_fold = |f: usize| -> f64 {
            let (inside, outside) = parts(fold, f);
            let known: Vec<f64> = outside.iter().map(|&n| y[n]).collect();
            let beta = newton(&chosen_rows(x, &outside), &known, penalty, labels);
            let s = predictor(&chosen_rows(x, &inside), &beta);
            let pairs = inside.iter().zip(s);
            pairs
                .map(|(&n, s)| match labels {
                    true if y[n] == 1.0 => -probability(s).ln(),
                    true => -probability(-s).ln(),
                    false => (y[n] - s).powi(2),
                })
                .sum()
        };
        (0..5).map(of_fold).sum()
    };
    let losses = PENALTIES.map(|penalty| (penalty, loss(penalty)));
    let best = losses.iter().min_by(|a, b| a.1.total_cmp(&b.1));
    predictor(new, &newton(x, y, best.unwrap().0, labels))
}

#[test]
fn ridge_regression_is_that_of_plain_sums() {
    let data = simulated(60, 2, cells(0.1));
    let target = data.views()[1].name();
    let found = validated(&data, &bibfa(), &options(&[target], 4));
    let (r2, squares) = (
        values(&found, "ridge regression", CrossValidateScore::R2),
        values(
            &found,
            "ridge regression",
            CrossValidateScore::MeanSquaredError,
        ),
    );
    let fold: Vec<usize> = found.folds[0].iter().map(|f| f - 1).collect();
    let view = &data.views()[1];
    for f in 0..4 {
        let [x, new] = plain_design(&data, &[data.views()[0].name()], &fold, f);
        let (inside, outside) = parts(&fold, f);
        let inner = stratified(Mat::zeros(outside.len(), 0).as_ref(), 5, 1).unwrap();
        let (mut errors, mut scatter, mut count) = (0.0, 0.0, 0.0);
        for d in 0..view.n_features() {
            let known: Vec<usize> = (0..outside.len())
                .filter(|&i| view.is_observed(outside[i], d))
                .collect();
            let y: Vec<f64> = known
                .iter()
                .filter_map(|&i| view.value(outside[i], d))
                .collect();
            let mean = y.iter().sum::<f64>() / y.len() as f64;
            let own: Vec<usize> = known.iter().map(|&i| inner[i]).collect();
            let said = tuned(&chosen_rows(&x, &known), &y, &new, &own, false);
            for (&n, said) in inside.iter().zip(said) {
                if let Some(truth) = view.value(n, d) {
                    errors += (truth - said).powi(2);
                    scatter += (truth - mean).powi(2);
                    count += 1.0;
                }
            }
        }
        assert!((r2[f] - (1.0 - errors / scatter)).abs() < 1e-8, "fold {f}");
        assert!(
            (squares[f] - errors / count).abs() < 1e-8 * squares[f],
            "fold {f}"
        );
    }
    // the model has what the data were drawn from
    let model = values(&found, "bibfa", CrossValidateScore::R2);
    assert!(model.iter().all(|r2| *r2 > 0.4), "{model:?}");
    let mean = values(&found, "mean", CrossValidateScore::R2);
    assert!(mean.iter().all(|r2| r2.abs() < 1e-12), "{mean:?}");
}

#[test]
fn logistic_regression_is_that_of_newtons_method() {
    let data = labelled(90)
        .with_views(&["view1", "view2", "labels"])
        .unwrap();
    let spec = models::sshiba(3).with_likelihood("labels", "bernoulli");
    let found = validated(&data, &sshiba_of(spec), &options(&["labels"], 3));
    let fold: Vec<usize> = found.folds[0].iter().map(|f| f - 1).collect();
    let view = data.view("labels").unwrap();
    for f in 0..3 {
        let [x, new] = plain_design(&data, &["view1", "view2"], &fold, f);
        let (inside, outside) = parts(&fold, f);
        let labels = Mat::from_fn(outside.len(), 3, |n, d| view.value(outside[n], d).unwrap());
        let inner = stratified(labels.as_ref(), 5, 1).unwrap();
        let (mut areas, mut loss) = (Vec::new(), 0.0);
        for d in 0..3 {
            let said = tuned(&x, labels.col_as_slice(d), &new, &inner, true);
            let truth: Vec<bool> = inside
                .iter()
                .map(|&n| view.value(n, d) == Some(1.0))
                .collect();
            let p: Vec<f64> = said.iter().map(|s| probability(*s)).collect();
            areas.extend(metrics::auc(&truth, &p).unwrap());
            let of_truth = truth
                .iter()
                .zip(&p)
                .map(|(t, p)| if *t { *p } else { 1.0 - p });
            loss -= of_truth.map(f64::ln).sum::<f64>();
        }
        let area = areas.iter().sum::<f64>() / areas.len() as f64;
        let (a, l) = (
            values(&found, "logistic regression", CrossValidateScore::Auc)[f],
            values(&found, "logistic regression", CrossValidateScore::LogLoss)[f],
        );
        // one exchange of two scores that nearly tie is allowed
        assert!((a - area).abs() < 2e-3, "fold {f}: {a} {area}");
        let loss = loss / (3 * inside.len()) as f64;
        assert!((l - loss).abs() < 1e-4, "fold {f}: {l} {loss}");
    }
}
