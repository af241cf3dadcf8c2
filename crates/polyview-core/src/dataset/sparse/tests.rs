use polyview_linalg::Repeats;

use super::super::{Centring, Dataset, FeatureScaling, Scaling};
use super::*;

const N: usize = 7;
const D: usize = 4;

fn names(prefix: &str, count: usize) -> Vec<String> {
    (0..count).map(|i| format!("{prefix}{i}")).collect()
}

/// A third of the cells, one column empty.
fn values() -> SparseColumns {
    let x = Mat::from_fn(N, D, |n, d| {
        let cell = n * D + d;
        if d == 2 || !cell.is_multiple_of(3) {
            0.0
        } else {
            cell as f64 - 5.0
        }
    });
    SparseColumns::from_dense(x.as_ref()).expect("finite")
}

fn both() -> [View; 2] {
    let sparse = View::from_sparse("y", names("f", D), values()).expect("a view");
    [sparse.to_dense(), sparse]
}

/// That two views hold the same, and which of them is sparse.
fn same(dense: &View, sparse: &View) {
    assert!(dense.sparse().is_none() && sparse.sparse().is_some());
    assert_eq!(dense.mask(), sparse.mask());
    assert_eq!(dense.features(), sparse.features());
    let mut column = vec![f64::NAN; dense.n_samples()];
    for d in 0..dense.n_features() {
        sparse.write_column(d, &mut column);
        for (n, x) in column.iter().enumerate() {
            let exact = dense.values()[(n, d)];
            assert!((x - exact).abs() < 1e-14 * (1.0 + exact.abs()), "{n} {d}");
            let near = |y: f64| (y - exact).abs() < 1e-14 * (1.0 + exact.abs());
            assert!(sparse.value(n, d).is_none_or(near));
        }
    }
    let [a, b] = [dense, sparse].map(|v| v.clone().into_parts().2);
    assert!((a.as_ref() - b.as_ref()).norm_max() < 1e-14);
}

#[test]
fn parts_of_views_are_those_of_dense_views() {
    let [dense, sparse] = both();
    same(&dense, &sparse);
    let keep = [5, 0, 3];
    same(&dense.subset("part", &keep), &sparse.subset("part", &keep));
    let hide = |n: usize, d: usize| (n + d).is_multiple_of(4);
    let hidden = [&dense, &sparse].map(|v| v.hiding(hide));
    same(&hidden[0], &hidden[1]);
    same(
        &hidden[0].subset("part", &keep),
        &hidden[1].subset("part", &keep),
    );
    let source = [Some(3), None, Some(0)];
    for [a, b] in [[&dense, &sparse], [&hidden[0], &hidden[1]]] {
        let [a, b] = [a, b].map(|v| v.matched("m", names("g", 3), &source).expect("a view"));
        same(&a, &b);
    }
    // whole samples
    let gone = [&dense, &sparse].map(|v| v.hiding(|n, _| n == 2));
    assert!(matches!(gone[1].mask(), Mask::Rows(_)));
    same(&gone[0], &gone[1]);
}

#[test]
fn centring_and_scaling_fill_nothing() {
    let [dense, sparse] = both();
    for hide in [0, 3] {
        let [dense, sparse] =
            [&dense, &sparse].map(|v| v.hiding(|n, d| hide > 0 && (n + d).is_multiple_of(hide)));
        for centring in [Centring::None, Centring::Feature] {
            for scaling in [
                FeatureScaling::None,
                FeatureScaling::View,
                FeatureScaling::Feature,
            ] {
                let [a, b] = [&dense, &sparse].map(|v| Scaling::learn(v, centring, scaling));
                for d in 0..D {
                    assert!((a.offset[d] - b.offset[d]).abs() < 1e-14);
                    assert!((a.scale[d] - b.scale[d]).abs() < 1e-13);
                }
                assert_eq!(a.constant, b.constant);
                let (x, y) = (a.apply(dense.clone()), a.apply(sparse.clone()));
                same(&x, &y);
                let entries = y.sparse().map(|x| x.entries().count());
                assert_eq!(entries, sparse.sparse().map(|x| x.entries().count()));
                for d in 0..D {
                    let column = x.values().col(d).to_owned();
                    let sums = y.sparse().map(|v| v.sums(d, y.mask()));
                    let (sum, squares) = sums.expect("sparse");
                    assert!((sum - column.iter().sum::<f64>()).abs() < 1e-13);
                    assert!((squares - column.squared_norm_l2()).abs() < 1e-12);
                }
            }
        }
    }
}

#[test]
fn tables_join_by_names() {
    let table = |samples: Vec<String>| SparseTable {
        name: "y".into(),
        samples,
        features: names("f", D),
        values: values(),
    };
    let other = Table {
        name: "x".into(),
        samples: names("s", N + 2),
        features: names("x", 1),
        values: Mat::from_fn(N + 2, 1, |n, _| n as f64),
        levels: Vec::new(),
    };
    let turned: Vec<String> = names("s", N).into_iter().rev().collect();
    let join = |table: ViewTable| {
        let data = Dataset::builder().view(other.clone()).view(table).build();
        data.expect("a data set").views()[1].clone()
    };
    let sparse = table(turned.clone());
    same(&join(sparse.to_dense().into()), &join(sparse.into()));
    let mut twice = table(turned);
    twice.samples[1] = "s6".into();
    let error = Dataset::builder().view(twice).build();
    assert!(matches!(error, Err(DataError::DuplicateSample { .. })));
    let mut short = table(names("s", N));
    short.features.pop();
    let error = Dataset::builder().view(short).build();
    assert!(matches!(error, Err(DataError::LengthMismatch { .. })));
}

#[test]
fn what_does_not_fit_is_refused() {
    let short = View::from_sparse("y", names("f", 1), values());
    assert!(matches!(short, Err(DataError::LengthMismatch { .. })));
    let entries = SparseColumns::from_triplets(2, 1, &[(1, 0, 3.0)], Repeats::Refuse);
    let entries = entries.expect("sparse");
    let parts = |base: Vec<f64>, rows: Vec<bool>| {
        let mask = Mask::Rows(rows);
        View::from_sparse_parts("y", names("f", 1), entries.clone(), base, mask)
    };
    assert!(parts(vec![-1.0], vec![false, true]).is_ok());
    let stray = parts(vec![-1.0], vec![true, false]);
    assert!(matches!(
        stray,
        Err(DataError::MissingNotZero { sample: 1, .. })
    ));
    let base = parts(vec![f64::NAN], vec![false, true]);
    assert!(matches!(base, Err(DataError::Infinite { .. })));
    let many = parts(vec![0.0; 2], vec![false, true]);
    assert!(matches!(many, Err(DataError::LengthMismatch { .. })));
}
