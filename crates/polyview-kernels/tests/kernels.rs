//! Kernels against their definitions, and what is wrong with data and files.

use polyview_core::Table;
use polyview_kernels::{Kernel, KernelError, KernelKind, KernelMap, KernelOptions};
use polyview_linalg::{Mat, Threads};
use polyview_random::{StreamKey, standard_normal};
use proptest::prelude::*;

fn table(rows: usize, columns: usize, seed: u64) -> Table {
    let mut rng = StreamKey::new(seed).rng();
    Table {
        name: "x".into(),
        samples: (0..rows).map(|n| format!("s{n}")).collect(),
        features: (0..columns).map(|d| format!("f{d}")).collect(),
        levels: Vec::new(),
        values: Mat::from_fn(rows, columns, |_, d| {
            3.0 * d as f64 + (1.0 + d as f64) * standard_normal(&mut rng)
        }),
    }
}

fn options(kernel: KernelKind) -> KernelOptions {
    KernelOptions {
        kernel,
        ..KernelOptions::default()
    }
}

const KINDS: [KernelKind; 4] = [
    KernelKind::Linear,
    KernelKind::Polynomial {
        degree: 3,
        offset: 0.7,
    },
    KernelKind::Rbf { gamma: None },
    KernelKind::Rbf { gamma: Some(2.5) },
];

/// One similarity by its definition.
fn naive(kernel: Kernel, x: &[f64], y: &[f64]) -> f64 {
    let product: f64 = x.iter().zip(y).map(|(a, b)| a * b).sum();
    let far: f64 = x.iter().zip(y).map(|(a, b)| (a - b).powi(2)).sum();
    match kernel {
        Kernel::Linear => product,
        Kernel::Polynomial { degree, offset } => {
            (product / x.len() as f64 + offset).powi(degree as i32)
        }
        Kernel::Rbf { gamma } => (-gamma * far).exp(),
        _ => f64::NAN,
    }
}

proptest! {
    #[test]
    fn similarities_are_their_definitions(
        rows in 1usize..20,
        columns in 1usize..6,
        kind in 0usize..4,
        standardise in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let (train, new) = (table(rows, columns, seed), table(7, columns, seed ^ 1));
        let choices = KernelOptions { standardise, ..options(KINDS[kind]) };
        let map = KernelMap::learn(&train, &choices).expect("a kernel");
        let found = map.apply(&new).expect("similarities");
        prop_assert_eq!(&found.features, &train.samples);
        prop_assert_eq!(&found.samples, &new.samples);
        let moments: Vec<(f64, f64)> = (0..columns).map(|d| {
            let x = train.values.col_as_slice(d);
            let mean = x.iter().sum::<f64>() / rows as f64;
            let sd = (x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / rows as f64).sqrt();
            match (standardise, sd > 1e-12 * mean.abs()) {
                (false, _) => (0.0, 1.0),
                (true, true) => (mean, sd),
                (true, false) => (mean, 1.0),
            }
        }).collect();
        let row = |t: &Table, n: usize| -> Vec<f64> {
            (0..columns).map(|d| (t.values[(n, d)] - moments[d].0) / moments[d].1).collect()
        };
        for n in 0..7 {
            for r in 0..rows {
                let (x, y) = (row(&new, n), row(&train, r));
                let expected = naive(map.kernel(), &x, &y);
                let size: f64 = x.iter().chain(&y).map(|x| x * x).sum::<f64>() + 1.0;
                let close = 1e-12 * size.powi(3);
                prop_assert!((found.values[(n, r)] - expected).abs() < close, "{n} {r}");
            }
        }
    }
}

#[test]
fn features_are_matched_by_name_and_empty_samples_stay_empty() {
    let train = table(12, 4, 3);
    let map = KernelMap::learn(&train, &KernelOptions::default()).expect("a kernel");
    let straight = map.apply(&train).expect("similarities");
    // turned round, with one more column and an empty sample
    let order = [3, 4, 1, 0, 2];
    let turned = Table {
        features: order
            .iter()
            .map(|&d| format!("f{d}"))
            .collect::<Vec<String>>(),
        values: Mat::from_fn(12, 5, |n, j| match order[j] {
            4 => 1e9,
            _ if n == 5 => f64::NAN,
            d => train.values[(n, d)],
        }),
        ..train.clone()
    };
    // the column that is not the kernel's does not count
    let found = map.apply(&turned).expect("similarities");
    for n in 0..12 {
        for r in 0..12 {
            let (a, b) = (found.values[(n, r)], straight.values[(n, r)]);
            assert!(if n == 5 { a.is_nan() } else { a == b }, "{n} {r}");
        }
    }
    // nor do empty samples count for the scales, nor are they references
    let holes = Table {
        values: Mat::from_fn(12, 4, |n, d| {
            if n < 2 {
                f64::NAN
            } else {
                train.values[(n, d)]
            }
        }),
        ..train.clone()
    };
    let map = KernelMap::learn(&holes, &KernelOptions::default()).expect("a kernel");
    assert_eq!(map.references(), &train.samples[2..]);
}

#[test]
fn references_are_drawn_by_seed() {
    let train = table(40, 3, 3);
    let draw = |count, seed| {
        let choices = KernelOptions {
            references: Some(count),
            seed,
            ..KernelOptions::default()
        };
        KernelMap::learn(&train, &choices).expect("a kernel")
    };
    let (a, b) = (draw(10, 1), draw(10, 2));
    assert_eq!(a, draw(10, 1));
    assert_ne!(a.references(), b.references());
    assert_eq!(a.references().len(), 10);
    let mut sorted = a.references().to_vec();
    sorted.sort_by_key(|s| s[1..].parse::<usize>().expect("a number"));
    sorted.dedup();
    assert_eq!(sorted, a.references());
    assert_eq!(draw(99, 1).references(), &train.samples[..]);
    // columns are those of the kernel against all samples
    let all = draw(40, 1).apply(&train).expect("similarities");
    let some = a.apply(&train).expect("similarities");
    for (r, name) in a.references().iter().enumerate() {
        let at = train
            .samples
            .iter()
            .position(|s| s == name)
            .expect("a sample");
        assert!((0..40).all(|n| (some.values[(n, r)] - all.values[(n, at)]).abs() < 1e-12));
    }
}

#[test]
fn threads_do_not_change_a_bit() {
    let train = table(600, 30, 3);
    let of = |threads: usize| {
        let pool = Threads::new(threads).expect("threads");
        pool.install(|| {
            let map = KernelMap::learn(&train, &KernelOptions::default()).expect("a kernel");
            map.apply(&train).expect("similarities").values
        })
    };
    let (a, b) = (of(1), of(3));
    assert!((0..600).all(|r| (0..600).all(|n| a[(n, r)].to_bits() == b[(n, r)].to_bits())));
}

/// What a sample lacks is where the mean is, with the variance of training; who has all of it is compared as before.
#[test]
fn samples_may_lack_features() {
    let whole = table(8, 3, 5);
    let mut holes = whole.clone();
    holes.values[(2, 1)] = f64::NAN;
    let known = |j: usize| (0..8).map(move |n| (n, j)).filter(|at| *at != (2, 1));
    for standardise in [true, false] {
        let options = KernelOptions {
            standardise,
            ..KernelOptions::default()
        };
        let map = KernelMap::learn(&holes, &options).expect("a map");
        let found = map.map(&holes).expect("similarities");
        assert_eq!(found.with_holes, 1);
        let moments = |j: usize| {
            let x: Vec<f64> = known(j).map(|at| holes.values[at]).collect();
            let mean = x.iter().sum::<f64>() / x.len() as f64;
            let variance = x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / x.len() as f64;
            (mean, variance)
        };
        let distance = |a: usize, b: usize| -> f64 {
            (0..3)
                .map(|j| {
                    let (mean, variance) = moments(j);
                    let unit = if standardise { variance } else { 1.0 };
                    let cell = |n: usize| match holes.values[(n, j)] {
                        x if x.is_nan() => (mean, variance),
                        x => (x, 0.0),
                    };
                    let ((x, v), (y, w)) = (cell(a), cell(b));
                    ((x - y).powi(2) + v + w) / unit
                })
                .sum()
        };
        for (a, b) in [(0, 1), (2, 5), (5, 2), (2, 2)] {
            // what a sample lacks is one value: it is at no distance from itself
            let far = if a == b { 0.0 } else { distance(a, b) };
            let expected = (-far / 3.0).exp();
            assert!(
                (found.table.values[(a, b)] - expected).abs() < 1e-12,
                "{a} {b}"
            );
        }
        // a sample that is called so and is another is none of the references, nor is one that is called otherwise
        for (name, value) in [("s2", 9.0), ("t2", holes.values[(2, 0)])] {
            let mut new = holes.clone();
            new.samples[2] = name.into();
            new.values[(2, 0)] = value;
            let found = map.apply(&new).expect("similarities").values[(2, 2)];
            assert!(found < 0.9, "{name}: {found}");
        }
        // a map that saw no hole takes samples that have one
        let map = KernelMap::learn(&whole, &options).expect("a map");
        assert_eq!(map.map(&holes).expect("similarities").with_holes, 1);
    }
}

#[test]
fn what_is_wrong_is_said() {
    let learn = |change: fn(&mut Table), options: KernelOptions| {
        let mut t = table(6, 3, 3);
        change(&mut t);
        KernelMap::learn(&t, &options).map(|_| ())
    };
    let plain = KernelOptions::default();
    let products = KernelOptions {
        kernel: KernelKind::Linear,
        standardise: false,
        ..plain
    };
    let hole = learn(|t| t.values[(2, 1)] = f64::NAN, products);
    assert!(
        matches!(&hole, Err(KernelError::Missing { sample, feature }) if sample == "s2" && feature == "f1")
    );
    assert!(hole.unwrap_err().to_string().contains("impute"));
    let infinite = learn(|t| t.values[(3, 0)] = f64::NEG_INFINITY, plain);
    assert!(
        matches!(infinite, Err(KernelError::Infinite { sample, feature }) if sample == "s3" && feature == "f0")
    );
    let empty = learn(|t| t.values.fill(f64::NAN), plain);
    assert_eq!(empty, Err(KernelError::Empty));
    for kernel in [
        KernelKind::Polynomial {
            degree: 0,
            offset: 0.0,
        },
        KernelKind::Polynomial {
            degree: 21,
            offset: 0.0,
        },
        KernelKind::Polynomial {
            degree: 2,
            offset: -1.0,
        },
        KernelKind::Rbf { gamma: Some(0.0) },
        KernelKind::Rbf {
            gamma: Some(f64::NAN),
        },
    ] {
        let found = learn(|_| (), options(kernel));
        assert!(
            matches!(found, Err(KernelError::OutOfRange { .. })),
            "{kernel:?}"
        );
    }
    let none = KernelOptions {
        references: Some(0),
        ..plain
    };
    assert!(learn(|_| (), none).is_err());
    // new samples
    let train = table(6, 3, 3);
    let map = KernelMap::learn(&train, &plain).expect("a kernel");
    let mut other = train.clone();
    other.features[2] = "else".into();
    assert!(matches!(map.apply(&other), Err(KernelError::Absent { feature }) if feature == "f2"));
    let raw = KernelOptions {
        standardise: false,
        ..options(KernelKind::Polynomial {
            degree: 20,
            offset: 0.0,
        })
    };
    let mut far = train.clone();
    far.values.fill(1e9);
    let map = KernelMap::learn(&far, &raw).expect("a kernel");
    assert!(matches!(
        map.apply(&far),
        Err(KernelError::TooLarge { sample, .. }) if sample == "s0"
    ));
    // a constant feature, one sample
    let constant = learn(
        |t| {
            for n in 0..6 {
                t.values[(n, 1)] = 0.1;
            }
        },
        plain,
    );
    assert_eq!(constant, Ok(()));
    let one = KernelMap::learn(&table(1, 3, 3), &plain).expect("a kernel");
    assert_eq!(one.apply(&table(1, 3, 3)).expect("one").values[(0, 0)], 1.0);
}

#[test]
fn a_file_gives_the_same_kernel_and_a_damaged_one_is_refused() {
    let train = table(9, 3, 3);
    for kind in KINDS {
        let map = KernelMap::learn(&train, &options(kind)).expect("a kernel");
        let text = serde_json::to_string(&map).expect("text");
        let again: KernelMap = serde_json::from_str(&text).expect("a kernel");
        assert_eq!(again, map);
    }
    let choices = KernelOptions {
        references: Some(2),
        ..KernelOptions::default()
    };
    let map = KernelMap::learn(&train, &choices).expect("a kernel");
    let whole = serde_json::to_value(&map).expect("a value");
    let read = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut value = whole.clone();
        change(&mut value);
        serde_json::from_value::<KernelMap>(value)
    };
    assert!(read(&|_| ()).is_ok());
    let damages: [&dyn Fn(&mut serde_json::Value); 8] = [
        &|v| v["features"] = serde_json::json!([]),
        &|v| v["references"] = serde_json::json!(["s1"]),
        &|v| v["mean"] = serde_json::json!([0.0]),
        &|v| v["scale"] = serde_json::json!([1.0, 0.0, 1.0]),
        &|v| v["points"][1] = serde_json::json!([1.0]),
        &|v| v["points"] = serde_json::json!("none"),
        &|v| v["kernel"] = serde_json::json!({"rbf": {"gamma": -1.0}}),
        &|v| v["more"] = serde_json::json!(1),
    ];
    for (i, damage) in damages.iter().enumerate() {
        assert!(read(damage).is_err(), "{i}");
    }
}
