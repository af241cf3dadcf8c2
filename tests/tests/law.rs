//! The one law of every data term (DESIGN 3): central differences of its bound
//! in the mean of a row equal `rhs − P·mean`, in a diagonal entry of the row's
//! covariance `−P_ii / 2`.

use polyview_core::{
    Bias, Context, GammaPrior, Journal, NormalEquations, PatternGrams, PatternTable, Predictor,
    RowCov, RowMoments, ViewTerm,
};
use polyview_likelihoods::{
    Categorical, CategoricalOptions, Gaussian, GaussianOptions, MissingData, NoiseBy,
};
use polyview_linalg::{Mat, PackedRows, packed_index, packed_len};
use polyview_random::StreamKey;
use polyview_tests::categorical::random_view;
use polyview_tests::{Case, Holes, ViewCase, normal, views};
use std::sync::Arc;

const K: usize = 3;

/// Random rows with a covariance each.
fn rows(n: usize, seed: u64) -> RowMoments {
    let mut rng = StreamKey::new(seed).rng();
    let mean = normal(n, K, &mut rng);
    let mut cov = PackedRows::zeros(n, K);
    for r in 0..n {
        let a = normal(K, K, &mut rng);
        for i in 0..K {
            for j in 0..=i {
                let dot: f64 = (0..K).map(|l| a[(i, l)] * a[(j, l)]).sum();
                cov.row_mut(r)[packed_index(i, j)] = 0.2 * dot + if i == j { 0.1 } else { 0.0 };
            }
        }
    }
    RowMoments::new(mean, RowCov::PerRow(cov), 0.0, 0)
}

fn nudged(m: &RowMoments, row: usize, k: usize, mean: f64, variance: f64) -> RowMoments {
    let mut out = m.clone();
    let (means, cov, _) = out.parts_mut();
    means[(row, k)] += mean;
    if let RowCov::PerRow(c) = cov {
        c.row_mut(row)[packed_index(k, k)] += variance;
    }
    out
}

fn total(term: &mut dyn ViewTerm, z: &RowMoments, w: &RowMoments, b: &Bias) -> f64 {
    term.bound(&Predictor {
        factors: z,
        weights: w,
        bias: b,
    })
    .sum()
}

/// Checks both sides of one term; returns the largest gap.
fn gap(term: &mut dyn ViewTerm, present: Option<Vec<bool>>) -> f64 {
    let shape = term.shape();
    let (n, d) = (shape.samples, shape.predictor_columns);
    let (z, w) = (rows(n, 1), rows(d, 2));
    let mut b = Bias::gaussian(d, 0, 1.0);
    b.set(
        (0..d).map(|i| 0.3 * i as f64 - 0.5).collect(),
        vec![0.05; d],
    );
    let h = 1e-4;
    let mut worst: f64 = 0.0;

    let p = Predictor {
        factors: &z,
        weights: &w,
        bias: &b,
    };
    let mut eq = NormalEquations::new(K, 0..n);
    eq.patterns = present.map(|rows| {
        let table = Arc::new(PatternTable::new(n, 1, |r, _| rows[r]));
        PatternGrams {
            grams: PackedRows::zeros(table.present.len(), K),
            table,
        }
    });
    term.factor_gram(0, &p, &mut eq).expect("equations");
    term.factor_equations(&p, &mut eq).expect("equations");
    for r in 0..n {
        let precision = eq.row_precision(r);
        for k in 0..K {
            let up = total(term, &nudged(&z, r, k, h, 0.0), &w, &b);
            let down = total(term, &nudged(&z, r, k, -h, 0.0), &w, &b);
            let pm: f64 = (0..K).map(|j| precision.get(k, j) * z.mean()[(r, j)]).sum();
            worst = worst.max(((up - down) / (2.0 * h) - (eq.rhs[(r, k)] - pm)).abs());
            let up = total(term, &nudged(&z, r, k, 0.0, h), &w, &b);
            let down = total(term, &nudged(&z, r, k, 0.0, -h), &w, &b);
            worst = worst.max(((up - down) / (2.0 * h) + 0.5 * precision.get(k, k)).abs());
        }
    }

    let mut eq = NormalEquations::new(K, 0..0);
    term.weight_gram(&p, &mut eq).expect("equations");
    eq.set_rows(0..d);
    term.weight_equations(&p, &mut eq).expect("equations");
    for r in 0..d {
        let precision = eq.row_precision(r);
        for k in 0..K {
            let up = total(term, &z, &nudged(&w, r, k, h, 0.0), &b);
            let down = total(term, &z, &nudged(&w, r, k, -h, 0.0), &b);
            let pm: f64 = (0..K).map(|j| precision.get(k, j) * w.mean()[(r, j)]).sum();
            worst = worst.max(((up - down) / (2.0 * h) - (eq.rhs[(r, k)] - pm)).abs());
            let up = total(term, &z, &nudged(&w, r, k, 0.0, h), &b);
            let down = total(term, &z, &nudged(&w, r, k, 0.0, -h), &b);
            worst = worst.max(((up - down) / (2.0 * h) + 0.5 * precision.get(k, k)).abs());
        }
    }

    // intercepts obey the same law
    let (mut precision, mut rhs) = (vec![0.0; d], vec![0.0; d]);
    term.bias_equations(0..d, &p, &mut precision, &mut rhs);
    for r in 0..d {
        let moved = |by: f64| {
            let mut c = b.clone();
            let mut mean = b.mean().to_vec();
            mean[r] += by;
            c.set(mean, b.variance().to_vec());
            c
        };
        let up = total(term, &z, &w, &moved(h));
        let down = total(term, &z, &w, &moved(-h));
        let expected = rhs[r] - precision[r] * b.mean()[r];
        worst = worst.max(((up - down) / (2.0 * h) - expected).abs());
    }
    worst
}

fn cases() -> Vec<(ViewCase, Option<Vec<bool>>)> {
    let mut out = Vec::new();
    for noise in [NoiseBy::View, NoiseBy::Feature] {
        for (holes, missing) in [
            (Holes::None, MissingData::Marginal),
            (Holes::Rows(0.4), MissingData::Marginal),
            (Holes::Cells(0.3), MissingData::Marginal),
            (Holes::Cells(0.3), MissingData::Impute),
            (Holes::Rows(0.4), MissingData::Impute),
        ] {
            let v = ViewCase {
                features: 4,
                holes,
                noise,
                missing,
                bias: Some(1.0),
                relevance: false,
            };
            out.push((v, None));
        }
    }
    out
}

#[test]
fn gaussian_terms_obey_the_law() {
    for (v, _) in cases() {
        let case = Case {
            seed: 3,
            samples: 9,
            k: K,
            views: vec![v],
        };
        let view = views(&case, 2).remove(0);
        let present = match (view.mask(), v.missing) {
            (polyview_core::Mask::Rows(r), MissingData::Marginal) => Some(r.clone()),
            _ => None,
        };
        let options = GaussianOptions {
            noise: v.noise,
            prior: GammaPrior::new(1.0, 1.0),
            missing: v.missing,
            start: 1.7,
        };
        let mut term = Gaussian::new(view, options);
        let gap = gap(&mut term, present);
        assert!(gap < 1e-6, "{v:?}: {gap:e}");
    }
}

/// At fresh locals and at ones whose predictor has moved on.
#[test]
fn categorical_terms_obey_the_law() {
    for missing in [MissingData::Marginal, MissingData::Impute] {
        for (classes, share) in [(2, 0.0), (3, 0.4), (7, 0.4)] {
            let view = random_view(9, classes, share, 5);
            let present = match (view.mask(), missing) {
                (polyview_core::Mask::Rows(r), MissingData::Marginal) => Some(r.clone()),
                _ => None,
            };
            let options = CategoricalOptions {
                missing,
                ..CategoricalOptions::default()
            };
            let mut term = Categorical::new(&view, options).expect("two classes");
            for (seed, refreshed) in [(0, false), (1, true), (7, true)] {
                if refreshed {
                    let (z, w) = (rows(9, seed), rows(classes, seed + 1));
                    let mut bias = Bias::gaussian(classes, 0, 1.0);
                    let means = (0..classes).map(|i| 0.3 * i as f64 - 0.5).collect();
                    bias.set(means, vec![0.05; classes]);
                    let p = Predictor {
                        factors: &z,
                        weights: &w,
                        bias: &bias,
                    };
                    let mut journal = Journal::default();
                    let mut cx = Context {
                        key: StreamKey::new(1),
                        sweep: 1,
                        journal: &mut journal,
                    };
                    term.refresh(&p, &mut cx).expect("finite");
                }
                let gap = gap(&mut term, present.clone());
                assert!(gap < 1e-6, "{missing:?} {classes} {seed}: {gap:e}");
            }
        }
    }
}

#[test]
fn the_law_notices_a_wrong_precision() {
    // a term whose bound belongs to another noise precision than its equations
    let case = Case {
        seed: 3,
        samples: 6,
        k: K,
        views: vec![ViewCase {
            features: 3,
            holes: Holes::None,
            noise: NoiseBy::View,
            missing: MissingData::Marginal,
            bias: None,
            relevance: false,
        }],
    };
    let view = views(&case, 2).remove(0);
    let mut term = Gaussian::new(view, GaussianOptions::default());
    let (z, w, b) = (rows(6, 1), rows(3, 2), Bias::absent(3));
    let p = Predictor {
        factors: &z,
        weights: &w,
        bias: &b,
    };
    let mut eq = NormalEquations::new(K, 0..6);
    term.factor_gram(0, &p, &mut eq).expect("equations");
    term.factor_equations(&p, &mut eq).expect("equations");
    let slope = |term: &mut Gaussian| {
        (total(term, &nudged(&z, 0, 0, 1e-4, 0.0), &w, &b)
            - total(term, &nudged(&z, 0, 0, -1e-4, 0.0), &w, &b))
            / 2e-4
    };
    let right = slope(&mut term);
    let mut noise = term.noise().clone();
    noise.set_value(0, 1.1);
    term.set_noise(noise);
    assert!((slope(&mut term) - right).abs() > 1e-3);
    assert_eq!(packed_len(K), 6);
    let _ = Mat::<f64>::zeros(0, 0);
}
