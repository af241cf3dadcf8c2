//! The law of every data term, see [`polyview_tests::law`].

use polyview_core::{Bias, Context, GammaPrior, Journal, NormalEquations, Predictor, ViewTerm};
use polyview_likelihoods::{
    CategoricalProbit, CategoricalProbitOptions, Gaussian, GaussianOptions, MissingData, NoiseBy,
};
use polyview_linalg::{Mat, packed_len};
use polyview_random::StreamKey;
use polyview_tests::categorical::random_view;
use polyview_tests::law::{K, gap, nudged, rows, total};
use polyview_tests::{Case, Holes, ViewCase, views};

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
        // features that differ in noise
        let mut noise = term.noise().clone();
        for i in 0..noise.len() {
            noise.set_value(i, 1.7 + 0.4 * i as f64);
        }
        term.set_noise(noise);
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
            let options = CategoricalProbitOptions {
                missing,
                ..CategoricalProbitOptions::default()
            };
            let mut term = CategoricalProbit::new(&view, options).expect("two classes");
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
    term.equations()
        .factor_gram(0, &p, &mut eq)
        .expect("equations");
    term.equations()
        .factor_equations(&p, &mut eq)
        .expect("equations");
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
