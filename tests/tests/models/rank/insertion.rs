//! New samples among training values (spec/maxmargin-rank 6; list (h)).

use polyview_core::{
    Bias, Block, Context, DataError, Journal, Predictor, RowCov, RowMoments, Schedule, State,
    Stateful, View, ViewTerm,
};
use polyview_infer::{Model, ProjectionRounds, VbOptions, VbRun, ViewPart, project_factors};
use polyview_likelihoods::{Margin, Rank, RankOptions};
use polyview_linalg::{Mat, PackedRows};
use polyview_priors::{Fixed, FullRows};
use polyview_random::StreamKey;
use polyview_tests::assemble;
use polyview_tests::distorted::{distorted, explained, start};
use polyview_tests::law::{K, nudged, rows, total};

use super::common::{part, term, view};

/// A trained model's term, anchored, with its moments.
struct Trained {
    term: Rank,
    factors: RowMoments,
    weights: RowMoments,
}

fn trained(data: &View, options: RankOptions, k: usize) -> Trained {
    let model = assemble(vec![part(data, options, k)], start(data, k));
    let vb = VbOptions {
        max_sweeps: 80,
        // as the models of ranks have it
        momentum: false,
        ..VbOptions::default()
    };
    let mut run = VbRun::new(model, vb, StreamKey::new(2), Journal::default());
    while run.sweep().expect("a sweep").outcome.is_none() {}
    let (factors, weights) = (
        run.model().factors.moments().clone(),
        run.model().views[0].weights.moments().clone(),
    );
    let mut term = term(data, options);
    anchor(&mut term, &factors, &weights);
    Trained {
        term,
        factors,
        weights,
    }
}

fn anchor(term: &mut dyn ViewTerm, factors: &RowMoments, weights: &RowMoments) {
    let bias = Bias::absent(weights.explicit_rows());
    let conditioned = term.as_conditioned().expect("ranks");
    conditioned.condition(&Predictor {
        factors,
        weights,
        bias: &bias,
    });
}

fn project(t: &Trained, data: &View) -> RowMoments {
    project_in(t, data, ProjectionRounds::default()).0
}

/// The factors, and the number of rounds.
fn project_in(t: &Trained, data: &View, rounds: ProjectionRounds) -> (RowMoments, usize) {
    let k = t.weights.k();
    let part = ViewPart {
        name: "ranks".into(),
        term: t.term.rebind(data).expect("the same features"),
        weights: Box::new(FullRows::new(
            "weights/ranks",
            Fixed::standard_normal(k),
            t.weights.clone(),
        )),
        bias: Bias::absent(data.n_features()),
    };
    let factors = FullRows::new(
        "factors",
        Fixed::standard_normal(k),
        RowMoments::isotropic(Mat::zeros(data.n_samples(), k), 1e-2, 0),
    );
    let mut model = Model::new(Box::new(factors), vec![part], Schedule::standard(1));
    let mut journal = Journal::default();
    let mut cx = Context {
        key: StreamKey::new(1),
        sweep: 0,
        journal: &mut journal,
    };
    let ended = project_factors(&mut model, rounds, &mut cx).expect("finite");
    assert!(journal.entries.is_empty(), "{:?}", journal.entries);
    assert!(ended.moving.is_empty(), "{ended:?}");
    (model.factors.moments().clone(), ended.rounds)
}

fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
    let (x, y) = (mean(a), mean(b));
    let dot = |f: &dyn Fn(f64, f64) -> f64| a.iter().zip(b).map(|(a, b)| f(*a, *b)).sum::<f64>();
    dot(&|a, b| (a - x) * (b - y))
        / (dot(&|a, _| (a - x).powi(2)) * dot(&|_, b| (b - y).powi(2))).sqrt()
}

/// The law of data terms, for the factors of new samples.
#[test]
fn inserted_terms_obey_the_law() {
    let training = view(12, 4, 0.2, 0.5, 3);
    for anchors in [64, 5] {
        let options = RankOptions {
            anchors,
            weight: 1.3,
            ..RankOptions::default()
        };
        let mut term = term(&training, options);
        let (z, w) = (rows(12, 1), rows(4, 2));
        anchor(&mut term, &z, &w);
        let mut new = term.rebind(&view(5, 4, 0.2, 0.5, 8)).expect("new samples");
        let (z, b) = (rows(5, 5), Bias::absent(4));
        let p = Predictor {
            factors: &z,
            weights: &w,
            bias: &b,
        };
        let mut eq = polyview_core::NormalEquations::new(K, 0..5);
        new.equations()
            .factor_gram(0, &p, &mut eq)
            .expect("equations");
        new.equations()
            .factor_equations(&p, &mut eq)
            .expect("equations");
        let h = 1e-4;
        for r in 0..5 {
            let precision = eq.row_precision(r);
            for k in 0..K {
                let mut slope = |mean: f64, variance: f64| {
                    let mut at = |s: f64| {
                        let z = nudged(&z, r, k, s * mean, s * variance);
                        total(new.as_mut(), &z, &w, &b)
                    };
                    (at(h) - at(-h)) / (2.0 * h)
                };
                let pm: f64 = (0..K).map(|j| precision.get(k, j) * z.mean()[(r, j)]).sum();
                assert!((slope(1.0, 0.0) - (eq.rhs[(r, k)] - pm)).abs() < 1e-6);
                assert!((slope(0.0, 1.0) + 0.5 * precision.get(k, k)).abs() < 1e-6);
            }
        }
        // at its best precisions no others give more
        let best = total(new.as_mut(), &z, &w, &b);
        let mut elsewhere = term.rebind(&view(5, 4, 0.2, 0.5, 8)).expect("new samples");
        super::common::refresh(elsewhere.as_mut(), &rows(5, 9), &w);
        assert!(total(elsewhere.as_mut(), &z, &w, &b) < best - 1e-6);
    }
}

/// Precision less slack is the curvature of the bound at its best precisions
/// for every mean; exactly so for known weights.
#[test]
fn slack_is_what_the_precision_has_beyond_the_curvature() {
    let training = view(12, 4, 0.2, 0.5, 3);
    let mut term = term(&training, RankOptions::default());
    let (z, w) = (rows(12, 1), RowMoments::point(rows(4, 2).mean().to_owned()));
    anchor(&mut term, &z, &w);
    let mut new = term.rebind(&view(5, 4, 0.2, 0.5, 8)).expect("new samples");
    let (z, b) = (rows(5, 5), Bias::absent(4));
    super::common::refresh(new.as_mut(), &z, &w);
    let p = Predictor {
        factors: &z,
        weights: &w,
        bias: &b,
    };
    let mut eq = polyview_core::NormalEquations::new(K, 0..5);
    new.equations()
        .factor_gram(0, &p, &mut eq)
        .expect("equations");
    new.equations()
        .factor_equations(&p, &mut eq)
        .expect("equations");
    let mut slack = PackedRows::zeros(5, K);
    new.as_rounds().expect("ranks").slack(&p, &mut slack);
    let h = 1e-3;
    let mut largest: f64 = 0.0;
    for r in 0..5 {
        let precision = eq.row_precision(r);
        for k in 0..K {
            let mut at = |step: f64| {
                let z = nudged(&z, r, k, step, 0.0);
                super::common::refresh(new.as_mut(), &z, &w);
                total(new.as_mut(), &z, &w, &b)
            };
            let curvature = -(at(h) - 2.0 * at(0.0) + at(-h)) / (h * h);
            let own = slack.sym(r).get(k, k);
            let expected = precision.get(k, k) - own;
            let gap = (curvature - expected).abs();
            assert!(gap < 1e-4 * (1.0 + curvature), "{curvature} {expected}");
            largest = largest.max(own / precision.get(k, k));
        }
    }
    assert!(largest > 0.3, "{largest}");
}

/// The bound at its best precisions is that of all pairs of a new value with a
/// training value, each as often as the pairs of training values are.
#[test]
fn the_bound_of_new_samples_is_that_of_the_formula() {
    let (n, d, m) = (12, 4, 5);
    let (training, new) = (view(n, d, 0.2, 0.5, 3), view(m, d, 0.2, 0.5, 8));
    let options = RankOptions {
        weight: 1.3,
        ..RankOptions::default()
    };
    let mut term = term(&training, options);
    // one covariance, so that the mean of all is that of each
    let own = rows(n, 1);
    let shared = RowCov::Shared(own.row_cov(0));
    let trained = RowMoments::new(own.mean().to_owned(), shared, 0.0, 0);
    let (z, w) = (rows(m, 5), rows(d, 2));
    anchor(&mut term, &trained, &w);
    let mut inserted = term.rebind(&new).expect("new samples");
    super::common::refresh(inserted.as_mut(), &z, &w);
    let found = total(inserted.as_mut(), &z, &w, &Bias::absent(d));
    let mut expected = 0.0;
    for i in 0..d {
        let value = |r: usize| training.value(r, i);
        let differ = (0..n)
            .flat_map(|a| (0..a).map(move |b| (a, b)))
            .filter(|&(a, b)| matches!((value(a), value(b)), (Some(x), Some(y)) if x != y))
            .count();
        let weight = 1.3 * term.pairs(i).count() as f64 / differ.max(1) as f64;
        let a: Vec<f64> = (0..K).map(|j| w.mean()[(i, j)]).collect();
        let mut second = w.row_cov(i);
        second.add_outer(1.0, &a);
        for r in 0..m {
            for q in 0..n {
                let (Some(x), Some(y)) = (new.value(r, i), value(q)) else {
                    continue;
                };
                if x == y {
                    continue;
                }
                let sign = if x < y { 1.0 } else { -1.0 };
                let delta: Vec<f64> = (0..K)
                    .map(|j| sign * (z.mean()[(r, j)] - trained.mean()[(q, j)]))
                    .collect();
                let mut c = z.row_cov(r);
                c.add_scaled(1.0, &trained.row_cov(q));
                c.add_outer(1.0, &delta);
                let linear: f64 = a.iter().zip(&delta).map(|(a, b)| a * b).sum();
                let eps = term.epsilon();
                let square = second.dot(&c) + 2.0 * eps * linear + eps * eps;
                expected -= weight * (linear + eps + square.sqrt());
            }
        }
    }
    let gap = (found - expected).abs();
    assert!(gap < 1e-9 * expected.abs(), "{found} {expected}");
}

/// Samples that were trained on, taken for new ones, land where they were; new
/// ones land on the true factors as well as those do.
#[test]
fn inserted_samples_land_where_training_samples_are() {
    let (all, truth) = distorted(260, 60, 3);
    let first = 160;
    let keep = |from: usize, to: usize| {
        let x = Mat::from_fn(to - from, 60, |n, d| all.values()[(from + n, d)]);
        View::from_values("ranks", all.features().to_vec(), x).expect("a view")
    };
    let (old, new) = (keep(0, first), keep(first, 260));
    let t = trained(&old, RankOptions::default(), 3);
    let again = project(&t, &old);
    for k in 0..3 {
        let a: Vec<f64> = t.factors.mean().col(k).iter().copied().collect();
        let b: Vec<f64> = again.mean().col(k).iter().copied().collect();
        let r = correlation(&a, &b);
        assert!(r > 0.985, "{k}: {r}");
    }
    let z = project(&t, &new);
    let truth = Mat::from_fn(100, 3, |n, j| truth[(first + n, j)]);
    let found = explained(&truth, &z.mean().to_owned());
    assert!(found.iter().all(|r| *r > 0.93), "{found:?}");
    // few anchors stand for all of them
    let coarse = trained(
        &old,
        RankOptions {
            anchors: 24,
            ..RankOptions::default()
        },
        3,
    );
    let fine = trained(
        &old,
        RankOptions {
            anchors: first,
            ..RankOptions::default()
        },
        3,
    );
    let (a, b) = (project(&coarse, &new), project(&fine, &new));
    let gap = (0..3)
        .flat_map(|k| {
            a.mean()
                .col(k)
                .iter()
                .zip(b.mean().col(k).iter())
                .collect::<Vec<_>>()
        })
        .map(|(x, y)| (x - y).powi(2))
        .sum::<f64>();
    let rms = (gap / 300.0).sqrt();
    assert!(rms < 0.1, "{rms}");
    assert!(rms > 0.0);
}

/// Near their optimum rounds are Newton's, as far as weights are known: six digits more cost
/// few of them, and were there in the first place.
#[test]
fn rounds_end_at_the_optimum() {
    let (data, _) = distorted(120, 40, 4);
    let options = RankOptions {
        margin: Margin::Fixed(1.0),
        ..RankOptions::default()
    };
    let t = trained(&data, options, 3);
    let rounds = |tolerance: f64| ProjectionRounds {
        tolerance,
        most: 200,
    };
    let (rough, few) = project_in(&t, &data, rounds(1e-6));
    let (fine, more) = project_in(&t, &data, rounds(1e-12));
    let gap = (0..3)
        .flat_map(|k| (0..120).map(move |n| (n, k)))
        .map(|at| (rough.mean()[at] - fine.mean()[at]).abs())
        .fold(0.0, f64::max);
    assert!(gap < 1e-5, "{gap:e}");
    assert!(more <= few + 8, "{few} {more}");
}

/// Predictions are in the units of the data and cover what they should.
#[test]
fn predictions_are_training_values_and_cover_new_ones() {
    let (all, _) = distorted(260, 40, 5);
    let keep = |from: usize, to: usize| {
        let x = Mat::from_fn(to - from, 40, |n, d| all.values()[(from + n, d)]);
        View::from_values("ranks", all.features().to_vec(), x).expect("a view")
    };
    let (old, new) = (keep(0, 160), keep(160, 260));
    let t = trained(&old, RankOptions::default(), 3);
    let z = project(&t, &new);
    let bias = Bias::absent(40);
    let p = Predictor {
        factors: &z,
        weights: &t.weights,
        bias: &bias,
    };
    let law = t.term.law(&p, &Block::new(0..100, 0..40));
    let (means, variances) = (law.means(), law.variances());
    let (mut error, mut marginal, mut inside) = (0.0, 0.0, 0);
    for d in 0..40 {
        let values: Vec<f64> = (0..160).map(|n| old.values()[(n, d)]).collect();
        let mean = values.iter().sum::<f64>() / 160.0;
        let spread = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 160.0;
        let (low, high) = values
            .iter()
            .fold((f64::MAX, f64::MIN), |(l, h), x| (l.min(*x), h.max(*x)));
        for n in 0..100 {
            let (m, v) = (means[(n, d)], variances[(n, d)]);
            assert!(low <= m && m <= high);
            assert!(v >= 0.0 && v.is_finite());
            let x = new.values()[(n, d)];
            // the exponential's tails would drown the others
            if d % 4 != 0 {
                error += (x - m).powi(2) / spread;
                marginal += (x - mean).powi(2) / spread;
            }
            inside += usize::from((x - m).abs() < 1.645 * v.sqrt());
        }
    }
    assert!(error < 0.45 * marginal, "{error} {marginal}");
    let coverage = inside as f64 / 4000.0;
    assert!((0.85..0.98).contains(&coverage), "{coverage}");
}

/// What is saved is enough for new samples.
#[test]
fn a_term_without_samples_inserts_as_the_trained_one_does() {
    let training = view(30, 5, 0.1, 0.0, 2);
    let t = trained(&training, RankOptions::default(), 2);
    let mut state = State::new();
    t.term.save("t", &mut state);
    let empty = View::from_values("ranks", training.features().to_vec(), Mat::zeros(0, 5));
    let mut bare = term(&empty.expect("an empty view"), RankOptions::default());
    bare.load("t", &state.reader()).expect("what was saved");
    let new = view(7, 5, 0.0, 0.0, 12);
    assert!(matches!(
        bare.rebind(&new).map(|_| ()),
        Err(DataError::NotAnchored { .. })
    ));
    anchor(&mut bare, &t.factors, &t.weights);
    let loaded = Trained {
        term: bare,
        factors: t.factors.clone(),
        weights: t.weights.clone(),
    };
    assert_eq!(project(&t, &new).mean(), project(&loaded, &new).mean());
    assert!(loaded.term.link(None, 0, 0.0) == t.term.link(None, 0, 0.0));
    // damaged states are refused
    for name in ["start", "values", "samples", "counts", "rates"] {
        let mut broken = state.clone();
        let at = format!("t/anchors/{name}");
        let mut values = broken.reader().vec(&at).expect("an array");
        values[1] = f64::NAN;
        broken.put_vec(&at, &values);
        assert!(bare_again().load("t", &broken.reader()).is_err(), "{name}");
    }
}

fn bare_again() -> Rank {
    let names = (0..5).map(|d| format!("f{d}")).collect();
    let empty = View::from_values("ranks", names, Mat::zeros(0, 5)).expect("an empty view");
    term(&empty, RankOptions::default())
}
