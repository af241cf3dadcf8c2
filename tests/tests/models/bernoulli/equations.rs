//! Equations, bound and missing cells.

use polyview_core::{Bias, Mask, NormalEquations, Predictor, RowMoments, ViewTerm};
use polyview_likelihoods::{Bernoulli, Cells, MissingData, NoiseBy};
use polyview_linalg::{Mat, Threads};
use polyview_random::StreamKey;
use polyview_tests::law::{K, gap, rows};
use polyview_tests::{Holes, normal};

use super::{
    Kind, Simulated, finish, latent, marginal, model, part, run, simulate, term, with_context,
};

const HOLES: [Holes; 3] = [Holes::None, Holes::Rows(0.4), Holes::Cells(0.3)];

fn data(holes: Holes, samples: usize, features: usize) -> Simulated {
    let z = normal(samples, 2, &mut StreamKey::new(5).rng());
    simulate(Kind::Direct, "v", &z, features, (0.3, 1.0), holes, 9)
}

fn bias(columns: usize) -> Bias {
    let mut b = Bias::gaussian(columns, 0, 1.0);
    b.set(
        (0..columns).map(|d| 0.2 * d as f64 - 0.4).collect(),
        vec![0.07; columns],
    );
    b
}

#[test]
fn terms_obey_the_law() {
    let mut kinds = vec![Kind::Direct];
    for noise in [NoiseBy::View, NoiseBy::Feature] {
        for missing in [MissingData::Marginal, MissingData::Impute] {
            kinds.extend([latent(noise, missing, false), latent(noise, missing, true)]);
        }
    }
    for kind in kinds {
        for holes in HOLES {
            let view = data(holes, 9, 4).view;
            let mut term = term(kind, view);
            let present = match term.mask() {
                Some(Mask::Rows(r)) => Some(r.clone()),
                _ => None,
            };
            // local variables of another state: the law holds at any
            let (z, w, b) = (rows(9, 11), rows(4, 12), bias(4));
            let p = Predictor {
                factors: &z,
                weights: &w,
                bias: &b,
            };
            with_context(1, 2, |cx| term.refresh(&p, cx)).expect("finite");
            let gap = gap(term.as_mut(), present);
            assert!(gap < 1e-6, "{kind:?} {holes:?}: {gap:e}");
        }
    }
}

/// Equations of weights, factors and intercepts against sums over the cells.
fn assert_cell_sums(term: &mut Cells<Bernoulli>, p: &Predictor<'_>) {
    let shape = term.shape();
    let (n, d) = (shape.samples, shape.predictor_columns);
    let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-10 * (1.0 + b.abs()), "{a} {b}");
    let (zz, ww) = (
        p.factors.second_moment_rows(0..n),
        p.weights.second_moment_rows(0..d),
    );
    let mut eq = NormalEquations::new(K, 0..0);
    term.equations().weight_gram(p, &mut eq).expect("equations");
    assert!(eq.own);
    eq.set_rows(0..d);
    term.equations()
        .weight_equations(p, &mut eq)
        .expect("equations");
    let (mut precision, mut rhs) = (vec![0.0; d], vec![0.0; d]);
    term.equations()
        .bias_equations(0..d, p, &mut precision, &mut rhs);
    for j in 0..d {
        let row = eq.row_precision(j);
        let sites: Vec<_> = (0..n).map(|i| term.site(i, j)).collect();
        for (q, found) in row.as_slice().iter().enumerate() {
            close(
                *found,
                (0..n).map(|i| sites[i].precision * zz.row(i)[q]).sum(),
            );
        }
        let residual = |i: usize| sites[i].linear - sites[i].precision * p.bias.mean()[j];
        for k in 0..K {
            let sum = (0..n).map(|i| residual(i) * p.factors.mean()[(i, k)]).sum();
            close(eq.rhs[(j, k)], sum);
        }
        close(precision[j], sites.iter().map(|s| s.precision).sum());
        let fit = |i: usize| p.mean_cell(i, j) - p.bias.mean()[j];
        let sum = (0..n)
            .map(|i| sites[i].linear - sites[i].precision * fit(i))
            .sum();
        close(rhs[j], sum);
    }
    let mut eq = NormalEquations::new(K, 0..n);
    term.equations()
        .factor_gram(0, p, &mut eq)
        .expect("equations");
    term.equations()
        .factor_equations(p, &mut eq)
        .expect("equations");
    for i in 0..n {
        let row = eq.row_precision(i);
        for (q, found) in row.as_slice().iter().enumerate() {
            let sum = (0..d).map(|j| term.site(i, j).precision * ww.row(j)[q]);
            close(*found, sum.sum());
        }
        for k in 0..K {
            let sum = (0..d)
                .map(|j| {
                    let s = term.site(i, j);
                    (s.linear - s.precision * p.bias.mean()[j]) * p.weights.mean()[(j, k)]
                })
                .sum();
            close(eq.rhs[(i, k)], sum);
        }
    }
}

#[test]
fn equations_are_sums_over_the_observed_cells() {
    for holes in HOLES {
        let view = data(holes, 11, 5).view;
        let mut term = Cells::new(view.clone(), Bernoulli::default()).expect("labels");
        let (z, w, b) = (rows(11, 3), rows(5, 4), bias(5));
        let p = Predictor {
            factors: &z,
            weights: &w,
            bias: &b,
        };
        with_context(1, 2, |cx| term.refresh(&p, cx)).expect("finite");
        assert_cell_sums(&mut term, &p);
        for d in 0..5 {
            for n in 0..11 {
                let site = term.site(n, d);
                match view.value(n, d) {
                    None => assert_eq!((site.precision, site.linear), (0.0, 0.0)),
                    Some(x) => {
                        assert_eq!(site.linear, x - 0.5);
                        let xi = term.local(n, d).expect("observed");
                        let eta2 =
                            p.variance(n..n + 1, d..d + 1)[(0, 0)] + p.mean_cell(n, d).powi(2);
                        assert!((xi * xi - eta2).abs() < 1e-12 * (1.0 + eta2));
                    }
                }
            }
        }
        // the same equations serve the sampler, with drawn precisions, at a
        // state known exactly
        let (z, w) = (
            RowMoments::point(z.mean().to_owned()),
            RowMoments::point(w.mean().to_owned()),
        );
        let p = Predictor {
            factors: &z,
            weights: &w,
            bias: &b,
        };
        with_context(7, 2, |cx| {
            term.as_augmented()
                .map(|a| a.draw_locals(&p, cx))
                .transpose()
                .expect("finite")
        });
        assert_cell_sums(&mut term, &p);
    }
}

#[test]
fn drawn_precisions_have_the_mean_of_the_bound() {
    // E[PG(1, eta)] = 2 lambda(eta): spec/mofa A.6b
    let view = data(Holes::None, 4, 3).view;
    let mut term = Cells::new(view, Bernoulli::default()).expect("labels");
    let (z, w) = (
        RowMoments::point(rows(4, 3).mean().to_owned()),
        RowMoments::point(rows(3, 4).mean().to_owned()),
    );
    let b = Bias::absent(3);
    let p = Predictor {
        factors: &z,
        weights: &w,
        bias: &b,
    };
    let draws = 4000;
    let mut sums: Mat<f64> = Mat::zeros(4, 3);
    for i in 0..draws {
        with_context(i, 1, |cx| {
            term.as_augmented()
                .map(|a| a.draw_locals(&p, cx))
                .transpose()
                .expect("finite")
        });
        for d in 0..3 {
            for n in 0..4 {
                sums[(n, d)] += term.site(n, d).precision / draws as f64;
            }
        }
    }
    with_context(0, 2, |cx| term.refresh(&p, cx)).expect("finite");
    for d in 0..3 {
        for n in 0..4 {
            // the standard deviation of PG(1, c) is at most 0.21
            assert!((sums[(n, d)] - term.site(n, d).precision).abs() < 5.0 * 0.21 / 63.0);
        }
    }
}

#[test]
fn a_sample_without_labels_changes_nothing() {
    for kind in [Kind::Direct, marginal()] {
        let of = |extra: usize| {
            let s = data(Holes::Cells(0.2), 20, 5);
            let values = Mat::from_fn(20 + extra, 5, |n, d| {
                s.view
                    .value(n.min(19), d)
                    .filter(|_| n < 20)
                    .unwrap_or(f64::NAN)
            });
            let names = s.view.features().to_vec();
            let view = polyview_core::View::from_values("v", names, values).expect("finite");
            let start = normal(20, 2, &mut StreamKey::new(3).rng());
            let start = Mat::from_fn(20 + extra, 2, |n, k| start[(n.min(19), k)]);
            let mut r = run(
                model(vec![part(term(kind, view), "v", 2, Some(0.1))], start),
                6,
                false,
            );
            let bound = finish(&mut r);
            let w = r.model().views[0].weights.moments().mean().to_owned();
            (bound, w)
        };
        let ((a, v), (b, w)) = (of(0), of(2));
        assert!((a - b).abs() < 1e-9, "{kind:?}: {a} {b}");
        for d in 0..5 {
            assert!((v[(d, 0)] - w[(d, 0)]).abs() < 1e-10);
        }
    }
}

#[test]
fn both_treatments_of_missing_labels_agree_where_none_is_missing() {
    let of = |holes: Holes, missing: MissingData| {
        let view = data(holes, 25, 6).view;
        let start = normal(25, 2, &mut StreamKey::new(3).rng());
        let kind = latent(NoiseBy::View, missing, false);
        let parts = vec![part(term(kind, view), "v", 2, Some(0.1))];
        finish(&mut run(model(parts, start), 8, true))
    };
    let (m, i) = (
        of(Holes::None, MissingData::Marginal),
        of(Holes::None, MissingData::Impute),
    );
    assert!((m - i).abs() < 1e-9 * m.abs(), "{m} {i}");
    // leaving out is the tighter bound (E5)
    let (m, i) = (
        of(Holes::Cells(0.3), MissingData::Marginal),
        of(Holes::Cells(0.3), MissingData::Impute),
    );
    assert!(m > i + 0.1, "{m} {i}");
}

#[test]
fn bits_do_not_depend_on_threads() {
    let s = data(Holes::Cells(0.2), 3000, 500);
    let (z, w, b) = (rows(3000, 3), rows(500, 4), bias(500));
    let of = |threads: usize, kind: Kind| {
        Threads::new(threads).expect("threads").install(|| {
            let p = Predictor {
                factors: &z,
                weights: &w,
                bias: &b,
            };
            let mut term = term(kind, s.view.clone());
            with_context(1, 2, |cx| term.refresh(&p, cx)).expect("finite");
            let mut eq = NormalEquations::new(K, 0..3000);
            term.equations()
                .factor_gram(0, &p, &mut eq)
                .expect("equations");
            term.equations()
                .factor_equations(&p, &mut eq)
                .expect("equations");
            let row = eq.row_precision(1234).as_slice().to_vec();
            (term.bound(&p).sum().to_bits(), row, eq.rhs[(77, 1)])
        })
    };
    for kind in [Kind::Direct, marginal()] {
        assert_eq!(of(1, kind), of(3, kind));
    }
}
