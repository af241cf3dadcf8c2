//! The lists of spec/thesis 15: item 9 of 15.1, the guided vector of 15.2, the toy of 15.3.

use approx::assert_relative_eq;
use polyview_linalg::{Mat, MatRef, frobenius_dot, thin_qr};
use polyview_mva::{
    Bagging, BaggingOptions, Balance, Guided, GuidedOptions, Metric, RbCca, RbCcaOptions,
    Representer, Selection, cca, class_indicators, dual, guided, opls, pca,
};
use polyview_random::{StreamKey, standard_normal, uniform_open01};

fn normal(seed: u64, rows: usize, columns: usize) -> Mat<f64> {
    let mut rng = StreamKey::new(seed).rng();
    Mat::from_fn(rows, columns, |_, _| standard_normal(&mut rng))
}

fn centred(x: MatRef<'_, f64>) -> Mat<f64> {
    let n = x.nrows() as f64;
    Mat::from_fn(x.nrows(), x.ncols(), |i, j| {
        x[(i, j)] - x.col(j).iter().sum::<f64>() / n
    })
}

fn vector() -> (Mat<f64>, [usize; 5], [f64; 3]) {
    let rows = [
        [2.0, 0.0, 1.0],
        [1.0, 1.0, 0.0],
        [-1.0, 0.0, -2.0],
        [0.0, -1.0, 1.0],
        [-2.0, 0.0, 0.0],
    ];
    (
        Mat::from_fn(5, 3, |i, j| rows[i][j]),
        [0, 0, 1, 1, 1],
        [1.0, 2.0, 0.5],
    )
}

fn options(balance: Balance, representer: Representer) -> GuidedOptions {
    GuidedOptions {
        components: 1,
        penalty: 0.7,
        balance,
        representer,
    }
}

fn close(found: MatRef<'_, f64>, wanted: &[f64]) {
    for (i, w) in wanted.iter().enumerate() {
        assert_relative_eq!(found[(i, 0)], *w, epsilon = 1e-8);
    }
}

#[test]
fn guided_vector_of_15_2() {
    let (x, labels, omega) = vector();
    let o = options(Balance::Classes, Representer::Rows);
    let fit = guided(x.as_ref(), &labels, &omega, &o).unwrap();
    assert_relative_eq!(fit.eigenvalues[0], 2.03565666, epsilon = 1e-8);
    close(fit.targets.as_ref(), &[0.87831007, -0.47809144]);
    close(
        fit.projection.directions(),
        &[0.22938769, 0.27345171, 0.04979553],
    );
    close(
        fit.projection.project(x.as_ref()).unwrap().as_ref(),
        &[0.50857091, 0.5028394, -0.32897874, -0.22365619, -0.45877539],
    );
    let o = options(Balance::Samples, Representer::Rows);
    let fit = guided(x.as_ref(), &labels, &omega, &o).unwrap();
    assert_relative_eq!(fit.eigenvalues[0], 0.83757799, epsilon = 1e-8);
    close(fit.targets.as_ref(), &[0.77459667, -0.63245553]);
    close(
        fit.projection.directions(),
        &[0.22176856, 0.21439032, 0.03782473],
    );
    // the weighted covariance of the target keeps squared correlations below 1
    let o = options(Balance::ClassesWeighted, Representer::Rows);
    let fit = guided(x.as_ref(), &labels, &omega, &o).unwrap();
    assert!(fit.eigenvalues[0] < 1.0 && fit.eigenvalues[0] > 0.5);
}

/// The objective of 4.3 and 4.4 at directions `u` and targets `v`.
fn objective(
    x: &Mat<f64>,
    labels: &[usize],
    omega: &[f64],
    u: MatRef<'_, f64>,
    v: MatRef<'_, f64>,
    balanced: bool,
) -> f64 {
    let n = labels.len();
    let classes = v.nrows();
    let sizes: Vec<f64> = (0..classes)
        .map(|c| labels.iter().filter(|l| **l == c).count() as f64)
        .collect();
    let z = x * u;
    let mut sum = 0.0;
    for i in 0..n {
        let theta = if balanced {
            n as f64 / sizes[labels[i]]
        } else {
            1.0
        };
        for c in 0..classes {
            let y = f64::from(u8::from(labels[i] == c)) / sizes[c].sqrt();
            let fit: f64 = (0..u.ncols()).map(|k| z[(i, k)] * v[(c, k)]).sum();
            sum += theta * (y - fit).powi(2);
        }
    }
    for d in 0..u.nrows() {
        sum += 0.7 * omega[d] * u.row(d).iter().map(|a| a * a).sum::<f64>();
    }
    sum
}

#[test]
fn guided_solution_is_a_minimum() {
    let (x, labels, omega) = vector();
    for balance in [Balance::Samples, Balance::Classes] {
        let balanced = balance == Balance::Classes;
        let at = |a: &Mat<f64>, v: MatRef<'_, f64>| {
            let u = x.transpose() * a;
            objective(&x, &labels, &omega, u.as_ref(), v, balanced)
        };
        let fit = guided(
            x.as_ref(),
            &labels,
            &omega,
            &options(balance, Representer::Rows),
        )
        .unwrap();
        let best = at(&fit.weights, fit.targets.as_ref());
        let mut rng = StreamKey::new(3).rng();
        for step in [1e-3, 1e-1, 1.0] {
            for _ in 0..50 {
                let moved = Mat::from_fn(5, 1, |i, _| {
                    fit.weights[(i, 0)] + step * standard_normal(&mut rng)
                });
                assert!(at(&moved, fit.targets.as_ref()) >= best - 1e-9);
                // another feasible target, with its own best weights
                let angle = 6.3 * uniform_open01(&mut rng);
                let v = Mat::from_fn(2, 1, |i, _| if i == 0 { angle.cos() } else { angle.sin() });
                assert!(at(&fit.weights, v.as_ref()) >= best - 1e-9);
            }
        }
        // the exact representer is no worse
        let exact = guided(
            x.as_ref(),
            &labels,
            &omega,
            &options(balance, Representer::Exact),
        )
        .unwrap();
        let of_exact = objective(
            &x,
            &labels,
            &omega,
            exact.projection.directions(),
            exact.targets.as_ref(),
            balanced,
        );
        assert!(of_exact <= best + 1e-10, "{of_exact} {best}");
    }
}

#[test]
fn equal_penalties_make_both_representers_one() {
    let x = centred(normal(1, 20, 8).as_ref());
    let labels: Vec<usize> = (0..20).map(|n| n % 3).collect();
    let fit = |representer, scale: f64| {
        let o = GuidedOptions {
            components: 2,
            penalty: 0.7 / scale,
            balance: Balance::Samples,
            representer,
        };
        guided(x.as_ref(), &labels, &[scale; 8], &o).unwrap()
    };
    let (rows, exact) = (fit(Representer::Rows, 2.5), fit(Representer::Exact, 2.5));
    let one = fit(Representer::Rows, 1.0);
    for k in 0..2 {
        assert_relative_eq!(rows.eigenvalues[k], exact.eigenvalues[k], epsilon = 1e-9);
        assert_relative_eq!(rows.eigenvalues[k], one.eigenvalues[k], epsilon = 1e-9);
        for d in 0..8 {
            let at = |f: &Guided| f.projection.directions()[(d, k)];
            assert_relative_eq!(at(&rows), at(&exact), epsilon = 1e-8);
        }
    }
}

/// A view of more features than samples has the pairs of what it is made of, in orthonormal directions.
#[test]
fn cca_of_wide_views_is_that_of_the_directions_in_which_samples_vary() {
    let (t, y) = (normal(4, 20, 6), normal(5, 20, 3));
    let q = thin_qr(normal(6, 50, 6).as_ref()).unwrap().0;
    let wide = &t * q.transpose();
    for ridge in [0.0, 3.0] {
        let narrow = cca(t.as_ref(), y.as_ref(), 3, ridge).unwrap();
        let fit = cca(wide.as_ref(), y.as_ref(), 3, ridge).unwrap();
        let directions = &q * narrow.first.directions();
        for k in 0..3 {
            assert_relative_eq!(fit.correlations[k], narrow.correlations[k], epsilon = 1e-10);
            assert_relative_eq!(
                fit.singular_values[k],
                narrow.singular_values[k],
                epsilon = 1e-10
            );
            let (a, b) = (fit.first.directions(), &directions);
            let sign = (a[(0, k)] * b[(0, k)]).signum();
            for d in 0..50 {
                assert_relative_eq!(sign * a[(d, k)], b[(d, k)], epsilon = 1e-9);
            }
        }
    }
    // a wide view that does not vary has nothing to do with any other
    let constant = Mat::full(20, 30, 2.0);
    let none = cca(constant.as_ref(), y.as_ref(), 3, 1.0).unwrap();
    assert!(none.correlations.iter().all(|c| *c == 0.0));
}

#[test]
fn cca_solves_its_generalised_eigenproblem() {
    let x = normal(2, 60, 5);
    let mut y = normal(3, 60, 4);
    for n in 0..60 {
        y[(n, 0)] += 2.0 * x[(n, 1)];
    }
    let fit = cca(x.as_ref(), y.as_ref(), 4, 0.0).unwrap();
    let (x, y) = (centred(x.as_ref()), centred(y.as_ref()));
    let (a, b) = (fit.first.directions(), fit.second.directions());
    let (z1, z2) = (&x * a, &y * b);
    for k in 0..4 {
        for l in 0..4 {
            let at =
                |p: &Mat<f64>, q: &Mat<f64>| (0..60).map(|n| p[(n, k)] * q[(n, l)]).sum::<f64>();
            let same = f64::from(u8::from(k == l));
            assert_relative_eq!(at(&z1, &z1), same, epsilon = 1e-10);
            assert_relative_eq!(at(&z2, &z2), same, epsilon = 1e-10);
            assert_relative_eq!(at(&z1, &z2), same * fit.correlations[k], epsilon = 1e-10);
        }
    }
    // squared correlations are the eigenvalues of the framework with Γ = C22^-1
    let other = opls(x.as_ref(), y.as_ref(), 4, Metric::Correlation, 0.0).unwrap();
    for k in 0..4 {
        let squared = fit.correlations[k].powi(2);
        assert_relative_eq!(other.eigenvalues[k], squared, epsilon = 1e-10);
    }
    // and its directions those of CCA times the correlations
    for k in 0..4 {
        let ratio = other.projection.directions()[(0, k)] / a[(0, k)];
        assert_relative_eq!(ratio.abs(), fit.correlations[k], epsilon = 1e-8);
    }
}

#[test]
fn one_hot_target_has_one_eigenvalue_less() {
    let x = normal(4, 50, 6);
    let labels: Vec<usize> = (0..50).map(|n| (n * n) % 3 + n % 2).collect();
    let classes = labels.iter().max().unwrap() + 1;
    let y = class_indicators(&labels, classes).unwrap();
    let fit = opls(x.as_ref(), y.as_ref(), classes, Metric::Correlation, 0.0).unwrap();
    assert!(fit.eigenvalues[classes - 1].abs() < 1e-10);
    assert!(fit.eigenvalues[classes - 2] > 1e-6);
}

#[test]
fn principal_components_leave_the_least() {
    let x = normal(5, 40, 7);
    let fit = pca(x.as_ref(), 3).unwrap();
    let c = centred(x.as_ref());
    let z = fit.projection.project(x.as_ref()).unwrap();
    let back = &z * fit.projection.directions().transpose();
    let rest = &c - &back;
    let total = frobenius_dot(c.as_ref(), c.as_ref());
    let left = frobenius_dot(rest.as_ref(), rest.as_ref());
    assert_relative_eq!(
        1.0 - left / total,
        fit.shares.iter().sum::<f64>(),
        epsilon = 1e-12
    );
    // the framework with the data as their own target says the same
    let same = opls(x.as_ref(), c.as_ref(), 3, Metric::Identity, 0.0).unwrap();
    for k in 0..3 {
        assert_relative_eq!(same.eigenvalues[k] / 40.0, fit.variances[k], epsilon = 1e-9);
    }
}

#[test]
fn dual_with_a_small_ridge_is_the_primal() {
    let x = normal(6, 30, 4);
    let labels: Vec<usize> = (0..30).map(|n| n % 3).collect();
    let y = class_indicators(&labels, 3).unwrap();
    for metric in [Metric::Identity, Metric::Correlation] {
        let a = dual(x.as_ref(), y.as_ref(), 2, metric, 1e-7).unwrap();
        let b = opls(x.as_ref(), y.as_ref(), 2, metric, 0.0).unwrap();
        for k in 0..2 {
            assert_relative_eq!(a.eigenvalues[k], b.eigenvalues[k], max_relative = 1e-5);
            for d in 0..4 {
                let (p, q) = (a.projection.directions(), b.projection.directions());
                assert_relative_eq!(p[(d, k)], q[(d, k)], epsilon = 1e-5);
            }
        }
    }
}

/// The toy of 15.3: three latent markers at the corners of four classes, 600 features of them, 1400 of noise; 280 samples
/// and as many new ones behind them.
fn toy(seed: u64) -> (Mat<f64>, Vec<usize>) {
    let mut rng = StreamKey::new(seed).rng();
    let labels: Vec<usize> = (0..560).map(|n| n % 280 / 70).collect();
    let corner = |class: usize, j: usize| match j {
        1 if class >= 2 => 2.0,
        2 if class % 2 == 1 => 2.0,
        _ => -2.0,
    };
    let z = Mat::from_fn(560, 3, |n, j| {
        corner(labels[n], j) + 0.5 * standard_normal(&mut rng)
    });
    let map = Mat::from_fn(3, 600, |_, _| 2.0 * uniform_open01(&mut rng) - 1.0);
    let signal = &z * &map;
    let x = Mat::from_fn(560, 2000, |n, d| {
        if d < 600 {
            signal[(n, d)]
        } else {
            2.0 * uniform_open01(&mut rng) - 1.0
        }
    });
    (x, labels)
}

#[test]
fn classwise_bags_find_the_features_of_the_toy() {
    let (all, labels) = toy(7);
    let x = all.subrows(0, 280).to_owned();
    let labels = &labels[..280];
    let of = |ridge: Option<f64>| {
        let options = RbCcaOptions {
            ridge,
            ..RbCcaOptions::default()
        };
        let fit = RbCca::fit(x.as_ref(), labels, &options).unwrap();
        let relevant = fit.selected().iter().filter(|d| **d < 600).count();
        let noise = fit.selected().len() - relevant;
        // the spec's run has 592 and 46
        assert!(relevant > 560, "{ridge:?}: {relevant} relevant features");
        assert!(noise < 100, "{ridge:?}: {noise} features of noise");
        fit
    };
    of(None);
    let fit = of(Some(1.0));
    let b = fit.bagging().relevance();
    let mean = |from: usize, to: usize| {
        (from..to)
            .flat_map(|d| (0..4).map(move |c| (d, c)))
            .map(|at| b[at])
            .sum::<f64>()
            / (4 * (to - from)) as f64
    };
    assert!((0.78..0.9).contains(&mean(0, 600)), "{}", mean(0, 600));
    assert!(
        (0.4..0.54).contains(&mean(600, 2000)),
        "{}",
        mean(600, 2000)
    );

    // bags over all classes at once see signs that cancel
    let y = class_indicators(labels, 4).unwrap();
    let standard = Mat::from_fn(280, 2000, |n, d| {
        let column = x.col(d);
        let m = column.iter().sum::<f64>() / 280.0;
        let s = (column.iter().map(|v| (v - m).powi(2)).sum::<f64>() / 280.0).sqrt();
        (x[(n, d)] - m) / s
    });
    let first = dual(standard.as_ref(), y.as_ref(), 3, Metric::Correlation, 1.0).unwrap();
    let pooled: Vec<usize> = (0..280).map(|n| usize::from(n == 0 || n == 1)).collect();
    let bags = Bagging::run(
        standard.as_ref(),
        first.weights.as_ref(),
        &pooled,
        &BaggingOptions {
            balanced: false,
            ..BaggingOptions::default()
        },
    )
    .unwrap();
    let pooled = &bags.select(0.01).unwrap()[0];
    assert!(
        pooled.iter().filter(|d| **d < 600).count() < 30,
        "{}",
        pooled.len()
    );

    // the components tell classes of new samples apart
    let z = fit.project(all.as_ref().subrows(280, 280)).unwrap();
    let train = fit.project(x.as_ref()).unwrap();
    let centre = |class: usize, k: usize| {
        (0..280)
            .filter(|n| labels[*n] == class)
            .map(|n| train[(n, k)])
            .sum::<f64>()
            / 70.0
    };
    let nearest = |n: usize| {
        let distance = |c: usize| {
            (0..3)
                .map(|k| (z[(n, k)] - centre(c, k)).powi(2))
                .sum::<f64>()
        };
        (0..4)
            .min_by(|a, b| distance(*a).total_cmp(&distance(*b)))
            .unwrap()
    };
    let wrong = (0..280).filter(|n| nearest(*n) != labels[*n]).count();
    assert!(wrong < 6, "{wrong} of 280");
}

#[test]
fn level_is_a_threshold_on_consistency() {
    // 4.2: at M = .5 a level of .05 is |2 phi - 1| > .8908, of .01 > .9322
    let (x, labels) = toy(8);
    let x = centred(x.as_ref().get(..280, ..700));
    let labels = &labels[..280];
    let y = class_indicators(labels, 4).unwrap();
    let a = dual(x.as_ref(), y.as_ref(), 1, Metric::Correlation, 1.0).unwrap();
    let bags = Bagging::run(
        x.as_ref(),
        a.weights.as_ref(),
        labels,
        &BaggingOptions::default(),
    )
    .unwrap();
    for (level, threshold) in [(0.05, 0.8908), (0.01, 0.9322)] {
        for (class, chosen) in bags.select(level).unwrap().iter().enumerate() {
            let phi = bags.positive(class).unwrap();
            for d in 0..700 {
                let stable = (2.0 * phi[(d, 0)] - 1.0).abs();
                if (stable - threshold).abs() > 1e-4 {
                    assert_eq!(chosen.contains(&d), stable > threshold);
                }
            }
        }
    }
}

#[test]
fn bags_that_share_more_samples_say_less() {
    // spec/thesis 4.2, E20: features that say nothing pass at about the level at M = .2 and more often at .8, where bags hardly differ; with
    // (1 - M) / M none would pass at .2, and 59 % at .8
    let x = normal(20, 120, 1000);
    let labels: Vec<usize> = (0..120).map(|n| n % 2).collect();
    let weights = Mat::full(120, 1, 1.0);
    let passing = |share: f64| {
        let options = BaggingOptions {
            share,
            ..BaggingOptions::default()
        };
        let bags = Bagging::run(x.as_ref(), weights.as_ref(), &labels, &options).unwrap();
        let chosen = bags.select(0.05).unwrap();
        chosen.iter().map(Vec::len).sum::<usize>() as f64 / 2000.0
    };
    for (share, wanted) in [(0.2, 0.04), (0.5, 0.11), (0.8, 0.28)] {
        let found = passing(share);
        assert!((found - wanted).abs() < 0.04, "{share}: {found}");
    }
}

/// As many features as samples, ten of them apart by 1.2 standard deviations between two classes: with a first ridge that is next to nothing to
/// the eigenvalues of the kernel the small ones of these, which are chance, decide, and hardly any of the ten is found.
#[test]
fn features_are_found_where_they_are_as_many_as_samples() {
    let mut found = [[0, 0]; 2];
    let options = [None, Some(1.0)];
    for seed in 0..4 {
        let mut x = normal(seed, 80, 100);
        let labels: Vec<usize> = (0..80).map(|n| n % 2).collect();
        for d in 0..10 {
            let shift = if d % 2 == 0 { 0.6 } else { -0.6 };
            for (x, label) in x.col_as_slice_mut(d).iter_mut().zip(&labels) {
                *x += if *label == 0 { shift } else { -shift };
            }
        }
        for (ridge, found) in options.into_iter().zip(&mut found) {
            let options = RbCcaOptions {
                bags: 300,
                ridge,
                selection: Selection::All,
                ..RbCcaOptions::default()
            };
            let fit = RbCca::fit(x.as_ref(), &labels, &options).unwrap();
            let kept = |d: usize| (0..2).any(|c| fit.selected_for(c).unwrap().contains(&d));
            found[0] += (0..10).filter(|d| kept(*d)).count();
            found[1] += (10..100).filter(|d| kept(*d)).count();
        }
    }
    let [own, small] = found;
    assert!(own[0] >= 34 && own[1] <= 12, "{own:?}");
    assert!(small[0] <= 6, "{small:?}");
}
