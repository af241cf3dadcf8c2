//! Maps of views: centred in feature space, complete in files, refused where they cannot be.

use polyview_core::Table;
use polyview_kernels::{
    Comparison, KernelChoice, KernelError, KernelMap, KernelOptions, learn_view,
};
use polyview_linalg::{Mat, Threads};
use polyview_random::{StreamKey, standard_normal};

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

fn kernel(text: &str) -> KernelChoice {
    text.parse().expect("a kernel")
}

fn learnt(table: &Table, text: &str) -> KernelMap {
    learn_view(table, &kernel(text), 1).expect("a map").map
}

/// Names that are not those of the rows and columns are refused, wherever a table comes in.
#[test]
fn tables_have_a_name_for_each_row_and_column() {
    let fine = table(20, 5, 1);
    let map = learnt(&fine, "rbf");
    let mut samples = fine.clone();
    samples.samples.truncate(7);
    let mut few = fine.clone();
    few.features.truncate(3);
    let mut many = fine.clone();
    many.features.push("more".into());
    for bad in [samples, few, many] {
        let refused = |found: Option<KernelError>| matches!(found, Some(KernelError::Shape { .. }));
        for text in ["rbf", "linear", "precomputed"] {
            assert!(refused(learn_view(&bad, &kernel(text), 1).err()), "{text}");
        }
        let options = KernelOptions::default();
        assert!(refused(KernelMap::learn(&bad, &options).err()));
        assert!(refused(map.apply(&bad).err()));
    }
    let choice = kernel("rbf");
    for (rows, targets) in [(20, 19), (6, 6)] {
        let y = Mat::from_fn(targets, 1, |n, _| n as f64);
        let found = Comparison::new(table(rows, 5, 1), &choice, y.as_ref(), 1);
        assert!(matches!(found.err(), Some(KernelError::Shape { .. })));
    }
}

/// Standardised values.
fn standard(table: &Table) -> Mat<f64> {
    let (n, d) = table.values.shape();
    let mut out = table.values.clone();
    for j in 0..d {
        let x = out.col_as_slice_mut(j);
        let mean = x.iter().sum::<f64>() / n as f64;
        let sd = (x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n as f64).sqrt();
        for x in x.iter_mut() {
            *x = (*x - mean) / sd;
        }
    }
    out
}

/// A kernel and its definition.
type Definition<'a> = (&'a str, Box<dyn Fn(usize, usize) -> f64 + 'a>);

/// Double centring of all similarities, by its definition: $HKH$.
#[test]
fn similarities_are_centred_in_feature_space() {
    let data = table(12, 3, 5);
    let x = standard(&data);
    let far = |i: usize, j: usize| -> f64 {
        (0..3)
            .map(|d| (x[(i, d)] - x[(j, d)]).powi(2))
            .sum::<f64>()
            .sqrt()
    };
    let product = |i: usize, j: usize| -> f64 { (0..3).map(|d| x[(i, d)] * x[(j, d)]).sum() };
    let all: [Definition<'_>; 6] = [
        ("linear", Box::new(product)),
        (
            "polynomial{degree=3,offset=0.5}",
            Box::new(|i, j| (product(i, j) / 3.0 + 0.5).powi(3)),
        ),
        (
            "rbf{width=1.5}",
            Box::new(|i, j| (-far(i, j).powi(2) / 4.5).exp()),
        ),
        (
            "matern{nu=1/2,width=2}",
            Box::new(|i, j| (-far(i, j) / 2.0).exp()),
        ),
        (
            "matern{nu=3/2,width=2}",
            Box::new(|i, j| {
                let s = 3f64.sqrt() * far(i, j) / 2.0;
                (1.0 + s) * (-s).exp()
            }),
        ),
        (
            "matern{nu=5/2,width=2}",
            Box::new(|i, j| {
                let s = 5f64.sqrt() * far(i, j) / 2.0;
                (1.0 + s + s * s / 3.0) * (-s).exp()
            }),
        ),
    ];
    for (text, k) in all {
        let found = learnt(&data, text)
            .apply(&data)
            .expect("similarities")
            .values;
        let mean = |f: &dyn Fn(usize) -> f64| (0..12).map(f).sum::<f64>() / 12.0;
        let total = mean(&|i| mean(&|j| k(i, j)));
        for i in 0..12 {
            for j in 0..12 {
                let expected = k(i, j) - mean(&|s| k(i, s)) - mean(&|s| k(s, j)) + total;
                assert!((found[(i, j)] - expected).abs() < 1e-12, "{text} {i} {j}");
            }
        }
    }
}

#[test]
fn a_linear_kernel_of_centred_features_is_left_as_it_is() {
    let data = table(10, 4, 6);
    let x = standard(&data);
    let found = learnt(&data, "linear")
        .apply(&data)
        .expect("similarities")
        .values;
    for i in 0..10 {
        for j in 0..10 {
            let expected: f64 = (0..4).map(|d| x[(i, d)] * x[(j, d)]).sum();
            assert!((found[(i, j)] - expected).abs() < 1e-12);
        }
    }
}

/// A table of similarities says the same as the kernel that it was made by.
#[test]
fn a_precomputed_kernel_is_centred_alike() {
    let (data, new) = (table(11, 3, 8), table(4, 3, 9));
    let x = standard(&data);
    let similar = |a: &Mat<f64>, i: usize, j: usize| -> f64 {
        let far: f64 = (0..3).map(|d| (a[(i, d)] - x[(j, d)]).powi(2)).sum();
        (-far / 8.0).exp()
    };
    // new samples in units of the first
    let mut in_units = new.values.clone();
    for d in 0..3 {
        let of = data.values.col_as_slice(d);
        let mean = of.iter().sum::<f64>() / 11.0;
        let sd = (of.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 11.0).sqrt();
        in_units
            .col_as_slice_mut(d)
            .iter_mut()
            .for_each(|x| *x = (*x - mean) / sd);
    }
    let square = |samples: &[String], a: &Mat<f64>| Table {
        name: "k".into(),
        samples: samples.to_vec(),
        features: data.samples.clone(),
        levels: Vec::new(),
        values: Mat::from_fn(samples.len(), 11, |i, j| similar(a, i, j)),
    };
    let by_features = learnt(&data, "rbf{width=2}");
    let by_table = learnt(&square(&data.samples, &x), "precomputed");
    let a = by_features.apply(&new).expect("similarities").values;
    let b = by_table
        .apply(&square(&new.samples, &in_units))
        .expect("similarities")
        .values;
    for i in 0..4 {
        for j in 0..11 {
            assert!((a[(i, j)] - b[(i, j)]).abs() < 1e-12);
        }
    }
}

/// What is at no distance from itself in a fit is so when its table is given again, from a file as well; in maps of
/// before it was two samples, and they say what they said.
#[test]
fn references_with_holes_are_alike_to_themselves() {
    let mut data = table(14, 3, 2);
    for at in [(3, 1), (8, 0), (8, 2)] {
        data.values[at] = f64::NAN;
    }
    for text in ["rbf", "matern", "matern{nu=1/2}", "rbf{references=14}"] {
        let map = learnt(&data, text);
        let written = serde_json::to_value(&map).expect("a map");
        let read: KernelMap = serde_json::from_value(written.clone()).expect("a map");
        let found = map.apply(&data).expect("similarities").values;
        assert_eq!(read.apply(&data).expect("similarities").values, found);
        // the squared distance in feature space is 0 from itself, and from no other
        for n in 0..14 {
            for m in 0..14 {
                let far = found[(n, n)] + found[(m, m)] - found[(n, m)] - found[(m, n)];
                assert!(
                    if n == m {
                        far.abs() < 1e-12
                    } else {
                        far > 1e-3
                    },
                    "{text} {n} {m} {far}"
                );
                // about the mean of all of them
                assert!(
                    (found[(n, m)] - found[(m, n)]).abs() < 1e-12,
                    "{text} {n} {m}"
                );
            }
            let sum: f64 = (0..14).map(|m| found[(m, n)]).sum();
            assert!(sum.abs() < 1e-12, "{text} {n} {sum}");
        }
        let mut before = written;
        let parts = before.as_object_mut().expect("parts");
        assert_eq!(parts.remove("itself"), Some(serde_json::Value::Bool(true)));
        let before: KernelMap = serde_json::from_value(before).expect("a map");
        assert!(before.apply(&data).expect("similarities").values[(8, 8)] < found[(8, 8)] - 0.1);
    }
}

#[test]
fn files_hold_all_of_a_map() {
    let mut data = table(14, 3, 2);
    data.values[(3, 1)] = f64::NAN;
    for text in [
        "rbf",
        "matern{references=5}",
        "linear{scale=none}",
        "polynomial",
    ] {
        let map = learnt(&data, text);
        let written = serde_json::to_string(&map).expect("a text");
        let read: KernelMap = serde_json::from_str(&written).expect("a map");
        assert_eq!(read, map, "{text}");
        let again = map
            .parts()
            .with_points(map.points().to_owned())
            .expect("a map");
        assert_eq!(again, map, "{text}");
    }
    let damaged = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut value = serde_json::to_value(learnt(&data, "rbf")).expect("a value");
        change(&mut value);
        serde_json::from_value::<KernelMap>(value)
            .expect_err("damage")
            .to_string()
    };
    for (change, word) in [
        (
            (|v| v["centre"][2] = serde_json::json!(null)) as fn(&mut serde_json::Value),
            "null",
        ),
        (|v| v["variance"] = serde_json::json!([1.0]), "variances"),
        (|v| v["variance"][0] = serde_json::json!(-1.0), "below zero"),
        (
            |v| v["centre"] = serde_json::json!([0.5]),
            "mean similarities",
        ),
        (|v| v["points"] = serde_json::json!([]), "reference points"),
        (
            |v| v["points"][0] = serde_json::json!([1.0]),
            "reference points",
        ),
        (|v| v["scale"][0] = serde_json::json!(0.0), "above zero"),
        (
            |v| v["kernel"] = serde_json::json!("precomputed"),
            "reference points",
        ),
    ] {
        let error = damaged(&change);
        assert!(error.contains(word), "{error}");
    }
}

#[test]
fn the_same_seed_chooses_the_same_references_on_any_number_of_threads() {
    let data = table(150, 4, 12);
    let of = |threads: usize, seed: u64| {
        let pool = Threads::new(threads).expect("a pool");
        pool.install(|| {
            learn_view(&data, &kernel("rbf{references=20}"), seed)
                .expect("a map")
                .map
        })
    };
    assert_eq!(of(1, 3), of(3, 3));
    assert_ne!(of(1, 3).references(), of(1, 4).references());
    assert_eq!(of(1, 3).references().len(), 20);
}

#[test]
fn features_that_do_not_vary_are_not_looked_at() {
    let mut data = table(8, 4, 3);
    for n in 0..8 {
        data.values[(n, 1)] = 7.0;
        data.values[(n, 3)] = f64::NAN;
    }
    let found = learn_view(&data, &kernel("rbf"), 1).expect("a map");
    assert_eq!(found.left_out, ["f1", "f3"]);
    assert_eq!(found.map.features(), ["f0", "f2"]);
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let of = |table: &Table, text: &str| learn_view(table, &kernel(text), 1).err();
    let mut constant = table(5, 2, 1);
    constant.values.fill(2.0);
    assert_eq!(
        of(&constant, "rbf"),
        Some(KernelError::Constant { features: 2 })
    );
    let mut one = table(3, 2, 1);
    for n in 1..3 {
        for d in 0..2 {
            one.values[(n, d)] = f64::NAN;
        }
    }
    assert_eq!(of(&one, "rbf"), Some(KernelError::OneSample));
    one.values.fill(f64::NAN);
    assert_eq!(of(&one, "rbf"), Some(KernelError::Empty));
    let many = of(&table(5, 2, 1), "rbf{references=6}");
    assert_eq!(
        many,
        Some(KernelError::TooManyReferences {
            references: 6,
            samples: 5
        })
    );
    let huge = {
        let mut t = table(5, 2, 1);
        t.values[(2, 1)] = 1e300;
        t
    };
    assert!(matches!(
        of(&huge, "polynomial{degree=20,scale=none}"),
        Some(KernelError::Overflow)
    ));
    assert_eq!(
        of(&table(5, 2, 1), "rbf{width=1e12}"),
        Some(KernelError::Alike)
    );
    let unlike = |text: &str| {
        learn_view(&table(5, 2, 1), &kernel(text), 1)
            .expect("a map")
            .unlike
    };
    assert!(unlike("rbf{width=1e-3}") && !unlike("rbf"));
    // tables of similarities
    let mut square = table(3, 3, 1);
    square.features.clone_from(&square.samples);
    square.values = Mat::from_fn(3, 3, |i, j| f64::from(u8::from(i == j)));
    assert_eq!(of(&square, "precomputed"), None);
    square.values[(0, 1)] = 0.5;
    assert!(matches!(
        of(&square, "precomputed"),
        Some(KernelError::NotSymmetric { .. })
    ));
    square.values[(0, 1)] = f64::NAN;
    assert!(matches!(
        of(&square, "precomputed"),
        Some(KernelError::Missing { .. })
    ));
    square.features[2] = "other".into();
    let error = of(&square, "precomputed").expect("an error").to_string();
    assert!(error.contains("sample 's2' has no column"), "{error}");
    // new data without any of the features
    let map = learnt(&table(5, 2, 1), "rbf");
    let mut other = table(2, 2, 2);
    other.features = vec!["a".into(), "b".into()];
    assert!(matches!(map.apply(&other), Err(KernelError::Absent { .. })));
}

/// Products of random Fourier features come to the kernel as there are more of them, holes and all, and files hold
/// the frequencies.
#[test]
fn random_features_come_to_the_kernel() {
    let mut data = table(40, 3, 5);
    data.values[(3, 1)] = f64::NAN;
    data.values[(9, 0)] = f64::NAN;
    let exact = |i: usize, j: usize, x: &Mat<f64>| {
        let far: f64 = (0..3).map(|d| (x[(i, d)] - x[(j, d)]).powi(2)).sum();
        (-far / (2.0 * 1.5_f64.powi(2))).exp()
    };
    // what is missing is at the mean, with the variance 1
    let mut filled = data.clone();
    for d in 0..3 {
        let known = || {
            data.values
                .col_as_slice(d)
                .iter()
                .copied()
                .filter(|x| !x.is_nan())
        };
        let count = known().count() as f64;
        let mean = known().sum::<f64>() / count;
        let sd = (known().map(|x| (x - mean).powi(2)).sum::<f64>() / count).sqrt();
        for x in filled.values.col_as_slice_mut(d) {
            *x = if x.is_nan() { 0.0 } else { (*x - mean) / sd };
        }
    }
    let holes = |n: usize| f64::from(u8::from(n == 3 || n == 9));
    let mut last = f64::INFINITY;
    for count in [100, 1000, 10_000] {
        let map = learnt(&data, &format!("rbf{{width=1.5, features={count}}}"));
        assert!(map.is_random());
        let columns = map.apply(&data).expect("columns").values;
        assert_eq!(columns.ncols(), count);
        let mut worst = 0.0_f64;
        for i in 0..40 {
            for j in 0..i {
                let product: f64 = (0..count).map(|c| columns[(i, c)] * columns[(j, c)]).sum();
                let spread = (holes(i) + holes(j)) / (2.0 * 1.5_f64.powi(2));
                let own = exact(i, j, &filled.values) * (-spread).exp();
                worst = worst.max((product - own).abs());
            }
        }
        assert!(
            worst < 5.0 * (count as f64 / 2.0).sqrt().recip(),
            "{count}: {worst}"
        );
        assert!(worst < last, "{count}: {worst}");
        last = worst;
        let text = serde_json::to_string(&map).expect("text");
        let again: KernelMap = serde_json::from_str(&text).expect("a map");
        assert_eq!(again, map);
    }
}
