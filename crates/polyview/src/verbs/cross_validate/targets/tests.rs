use polyview_core::Table;

use super::*;
use crate::models;
use crate::verbs::cross_validate::{CrossValidateModel, CrossValidateOptions};

/// Two views of numbers with two factors in common, one of labels, one of classes.
fn data() -> Dataset {
    let noise = |i: usize| ((i * 7919 + i * i * 31) % 1009) as f64 / 504.5 - 1.0;
    let factor = |n: usize, k: usize| noise(11 * n + 5 * k + 3);
    let table = |name: &str, columns: usize, cell: &dyn Fn(usize, usize) -> f64| Table {
        name: name.to_owned(),
        samples: (0..40).map(|n| format!("s{n}")).collect(),
        features: (0..columns).map(|d| format!("{name}{d}")).collect(),
        values: Mat::from_fn(40, columns, cell),
        levels: Vec::new(),
    };
    let numbers = |shift: usize| {
        move |n: usize, d: usize| {
            let w = |k: usize| noise(100 + shift + 13 * d + k);
            3.0 * (factor(n, 0) * w(0) + factor(n, 1) * w(1)) + 0.3 * noise(n * 17 + d + shift)
        }
    };
    let classes = Table {
        levels: ["a", "b", "c"].map(str::to_owned).to_vec(),
        ..table("z", 1, &|n, _| {
            if factor(n, 0) > 0.3 {
                2.0
            } else {
                f64::from(u8::from(factor(n, 1) > 0.0))
            }
        })
    };
    Dataset::builder()
        .view(table("x", 6, &numbers(0)))
        .view(table("w", 3, &numbers(1000)))
        .view(table("y", 2, &|n, d| {
            f64::from(u8::from(factor(n, d) > 0.0))
        }))
        .view(classes)
        .build()
        .expect("data")
}

/// What is said of samples is the same whatever they have of the targets.
#[test]
fn targets_of_new_samples_are_not_looked_at() {
    let spec = models::sshiba(3)
        .with_likelihood("y", "bernoulli")
        .with_likelihood("z", "categorical");
    let (data, models) = (data(), [CrossValidateModel::new("m", spec)]);
    let options = CrossValidateOptions {
        targets: ["w", "y", "z"].map(str::to_owned).to_vec(),
        folds: 4,
        ..CrossValidateOptions::default()
    };
    let plan = Plan::new(&data, &models, &options).expect("a plan");
    let inside: Vec<u32> = (0..40)
        .filter(|&n| plan.folds[0][n as usize] == 2)
        .collect();
    // other numbers, other labels and classes, and holes
    let mut other = data.clone();
    for name in ["w", "y", "z"] {
        let view = data.view(name).expect("a view");
        let values = Mat::from_fn(40, view.n_features(), |n, d| {
            let x = view.value(n, d).unwrap_or(0.0);
            match (inside.contains(&(n as u32)), name) {
                (false, _) => x,
                (true, "w") => 5.0 - x,
                (true, "y") => 1.0 - x,
                (true, _) => (x + 1.0) % 3.0,
            }
        });
        let changed = view.with_values(values).expect("a view");
        let changed = changed.hiding(|n, d| (n, d) == (inside[0] as usize, 0));
        other = other.with_view(changed).expect("data");
    }
    let mut changed = Plan::new(&other, &models, &options).expect("a plan");
    changed.folds.clone_from(&plan.folds);
    let silent = |_: &crate::CrossValidateProgress| {};
    let teller = Teller::new(&silent, 1);
    for what in [What::Model(0), What::TwoSteps(0), What::Baselines] {
        let said = |plan: &Plan<'_>| {
            let job = Job {
                repeat: 0,
                fold: 2,
                what,
            };
            let halves = Halves::new(plan, &job);
            let targets = halves.targets();
            let told = (&teller, &mut Done::default());
            predictions(&halves, &targets, &job, told).expect("predictions")
        };
        let (before, after) = (said(&plan), said(&changed));
        assert_eq!(before.len(), after.len());
        for ((_, method, a), (_, _, b)) in before.iter().zip(&after) {
            assert_eq!(a.mean, b.mean, "{method}");
            assert_eq!((&a.sd, &a.interval), (&b.sd, &b.interval), "{method}");
        }
        // and what the scores are of is not the same
        let job = Job {
            repeat: 0,
            fold: 2,
            what,
        };
        let [a, b] = [&plan, &changed].map(|p| run(p, &job, &teller).expect("scores").scores);
        assert_ne!(a, b);
    }
}
