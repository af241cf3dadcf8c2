use polyview_random::standard_normal;

use super::*;

fn normal(rows: usize, columns: usize, seed: u64) -> Mat<f64> {
    let mut rng = StreamKey::new(seed).rng();
    Mat::from_fn(rows, columns, |_, _| standard_normal(&mut rng))
}

fn table(values: Mat<f64>) -> Table {
    let (n, d) = values.shape();
    Table {
        name: "x".into(),
        samples: (0..n).map(|n| format!("s{n}")).collect(),
        features: (0..d).map(|d| format!("f{d}")).collect(),
        levels: Vec::new(),
        values,
    }
}

/// Central differences, of all kernels that have weights, with holes and without.
#[test]
fn gradients_are_those_of_finite_differences() {
    let mut x = normal(30, 4, 3);
    for (n, d) in [(2, 1), (7, 1), (7, 3), (20, 0)] {
        x[(n, d)] = f64::NAN;
    }
    let known = |x: f64| if x.is_nan() { 0.0 } else { x };
    let noise = normal(30, 2, 4);
    let y = Mat::from_fn(30, 2, |n, t| {
        let (a, b) = (known(x[(n, t)]), known(x[(n, 2)]));
        a.sin() + 0.5 * a * b + 0.3 * noise[(n, t)]
    });
    for text in [
        "rbf{width=1.7}",
        "matern{nu=1/2,width=2}",
        "matern{nu=3/2,width=2}",
        "matern{nu=5/2,width=2}",
        "linear",
    ] {
        let choice: KernelChoice = text.parse().unwrap();
        let of = Comparison::new(table(x.clone()), &choice, y.as_ref(), 1).unwrap();
        let kernel = match choice.family.width() {
            Some(Width::Is(width)) => of.kernel(width),
            _ => of.kernel(1.0),
        };
        let all: Vec<usize> = (0..30).filter(|n| n % 7 != 1).collect();
        let logs = [0.3, -0.2, 0.1, -0.6];
        let at = |logs: &[f64]| {
            let weights: Vec<f64> = logs.iter().map(|l| l.exp()).collect();
            of.points(&weights).unwrap()
        };
        let found = of.evidence(&all, kernel, &at(&logs)).unwrap().gradient;
        for d in 0..4 {
            let by = |h: f64| {
                let mut moved = logs;
                moved[d] += h;
                evidence(&of, &all, kernel, &at(&moved))
            };
            let slope = (by(1e-4) - by(-1e-4)) / 2e-4;
            let gap = (slope - found[d]).abs();
            assert!(
                gap < 1e-5 * (1.0 + slope.abs()),
                "{text}, feature {d}: {} {slope}",
                found[d]
            );
        }
    }
}

/// The evidence of all targets of some samples, at the best noise of each.
fn evidence(of: &Comparison, samples: &[usize], kernel: Kernel, points: &Points) -> f64 {
    let (_, centred) = own_similarities(kernel, &points.only(samples)).unwrap();
    let own = Decomposed::of(&centred).unwrap();
    let y = of.centred(samples, &of.means(samples));
    let column = |t: usize| {
        let along = own.along(y.col_as_slice(t));
        own.ln_evidence(&along, own.best_share(&along) * own.unit)
    };
    (0..y.ncols()).map(column).sum()
}

/// Five of fifty features matter, each in a curve of its own: they are on top.
#[test]
fn features_that_matter_are_on_top() {
    let x = normal(150, 50, 11);
    let noise = normal(150, 2, 12);
    let places = [4, 13, 22, 31, 45];
    let y = Mat::from_fn(150, 2, |n, t| {
        let at = |i: usize| x[(n, places[i])];
        let curve = match t {
            0 => at(0).sin() + 0.7 * at(1) + 0.5 * at(2).powi(2),
            _ => at(3).cos() * 1.5 + at(4) + 0.6 * at(0),
        };
        curve + 0.2 * noise[(n, t)]
    });
    for text in ["rbf{width=10}", "matern{width=10}"] {
        let choice: KernelChoice = text.parse().unwrap();
        let of = Comparison::new(table(x.clone()), &choice, y.as_ref(), 1).unwrap();
        let found = of.learn_weights(&choice).unwrap();
        let mut order: Vec<usize> = (0..50).collect();
        order.sort_by(|a, b| found.weights.weights[*b].total_cmp(&found.weights.weights[*a]));
        let mut top = order[..5].to_vec();
        top.sort_unstable();
        assert_eq!(top, places, "{text}");
        let [before, after] = found.held_out;
        assert!(after > before + 0.1, "{text}: {before} {after}");
        assert!(
            found.gains() && found.error < 0.1,
            "{text}: {}",
            found.error
        );
        // one number for one thing
        let width = match choice.family.width() {
            Some(Width::Is(width)) => width,
            _ => 1.0,
        };
        assert_eq!(before, of.score_of_width(width).unwrap().share, "{text}");
        let mean = found.weights.weights.iter().sum::<f64>() / 50.0;
        assert!((mean - 1.0).abs() < 1e-12);
    }
}

/// A width that is best where features count alike may be so wide that what one of them bends is not seen from there: a narrower one is tried.
#[test]
fn a_bend_that_a_wide_kernel_does_not_see_is_found() {
    let (x, noise) = (normal(120, 6, 41), normal(120, 1, 42));
    let y = Mat::from_fn(120, 1, |n, _| {
        (2.0 * x[(n, 0)]).sin() + x[(n, 1)] * x[(n, 2)] + 0.3 * noise[(n, 0)]
    });
    let choice: KernelChoice = "rbf{width=18}".parse().unwrap();
    let of = Comparison::new(table(x), &choice, y.as_ref(), 1).unwrap();
    let found = of.learn_weights(&choice).unwrap();
    let weights = &found.weights.weights;
    assert!(found.gains(), "{:?} {}", found.held_out, found.error);
    assert!(
        weights[0] > 1.0 && (0..6).all(|d| weights[d] <= weights[0]),
        "{weights:?}"
    );
    assert!(found.held_out[1] > 0.7, "{:?}", found.held_out);
    assert_eq!(found.held_out[0], of.score_of_width(18.0).unwrap().share);
}

/// Where nothing follows from the features there is nothing to climb for, and weights are not said to gain anything.
#[test]
fn what_is_noise_gains_nothing() {
    let (x, y) = (normal(60, 8, 21), normal(60, 1, 22));
    let choice: KernelChoice = "rbf{width=3}".parse().unwrap();
    let of = Comparison::new(table(x), &choice, y.as_ref(), 1).unwrap();
    let found = of.learn_weights(&choice).unwrap();
    let [before, after] = found.held_out;
    assert!(after < 0.2 && !found.gains(), "{before} {after}");
    assert!(found.steps == 0 || found.error > 0.0);
}

/// A wide kernel for what is straight, a narrow one for what bends.
#[test]
fn the_width_is_scored_by_what_is_held_out() {
    let x = normal(120, 2, 31);
    let of = |bends: f64| {
        let y = Mat::from_fn(120, 1, |n, _| (bends * x[(n, 0)]).sin());
        let choice: KernelChoice = "rbf".parse().unwrap();
        let of = Comparison::new(table(x.clone()), &choice, y.as_ref(), 1).unwrap();
        [0.5, 8.0].map(|width| of.score_of_width(width).unwrap().share)
    };
    let [narrow, wide] = of(4.0);
    assert!(narrow > 0.5 && narrow > wide + 0.3, "{narrow} {wide}");
    let [narrow, wide] = of(0.2);
    assert!(wide > narrow && wide > 0.99, "{narrow} {wide}");
}
