//! Products with the data as a start sees them, against the matrix written out.

use polyview_core::{RowGroups, View};
use polyview_linalg::{LinearOperator, Mat, SparseColumns};
use polyview_random::{StreamKey, standard_normal};

use super::{StartBlock, StartData};

const N: usize = 23;
const D: usize = 5;

fn groups() -> RowGroups {
    // the last group has no samples
    RowGroups::new((0..N).map(|n| (n * n % 3) as u32).collect(), 4).unwrap()
}

fn values(seed: u64, missing: impl Fn(usize, usize) -> bool) -> Mat<f64> {
    let (groups, mut rng) = (groups(), StreamKey::new(seed).rng());
    Mat::from_fn(N, D, |n, d| {
        let x = standard_normal(&mut rng) + 7.0 * f64::from(groups.of_row()[n]) + d as f64;
        if missing(n, d) { f64::NAN } else { x }
    })
}

fn named(values: Mat<f64>) -> View {
    let features = (0..D).map(|d| format!("f{d}")).collect();
    View::from_values("v", features, values).unwrap()
}

/// Complete; samples missing as a whole; single cells missing, among them all
/// that a group has of a feature; zeros not stored.
fn views() -> Vec<View> {
    let of = groups();
    let sparse = Mat::from_fn(N, D, |n, d| ((n * 5 + d * 3) % 4) as f64);
    let features = (0..D).map(|d| format!("f{d}")).collect();
    vec![
        named(values(1, |_, _| false)),
        named(values(2, |n, _| n % 4 == 1)),
        named(values(3, |n, d| {
            (n + 2 * d) % 5 == 0 || (d == 2 && of.of_row()[n] == 1)
        })),
        View::from_sparse(
            "v",
            features,
            SparseColumns::from_dense(sparse.as_ref()).unwrap(),
        )
        .unwrap(),
    ]
}

/// The centred, scaled and filled matrix of a view.
fn written_out(view: &View, groups: &RowGroups) -> Mat<f64> {
    let mut out = Mat::zeros(N, D);
    let mut variance = 0.0;
    for d in 0..D {
        let (mut about, mut all) = (0.0, 0.0);
        for g in 0..groups.count() {
            let rows: Vec<usize> = (0..N)
                .filter(|&n| groups.of_row()[n] as usize == g && view.is_observed(n, d))
                .collect();
            let value = |n: usize| view.value(n, d).unwrap();
            let mean = rows.iter().map(|&n| value(n)).sum::<f64>() / rows.len() as f64;
            for &n in &rows {
                out[(n, d)] = value(n) - mean;
                about += out[(n, d)] * out[(n, d)];
            }
            all += rows.len() as f64;
        }
        variance += about / all / D as f64;
    }
    Mat::from_fn(N, D, |n, d| out[(n, d)] / variance.sqrt())
}

/// Missing cells are told of views with means by group as well.
#[test]
fn holes_are_those_of_the_view() {
    let of = groups();
    for view in &views() {
        let missing = |d: usize| (0..N).filter(move |n| !view.is_observed(*n, d)).count();
        let missing: usize = (0..D).map(missing).sum();
        for own in [None, Some(&of)] {
            assert_eq!(StartBlock::new(view, own).holes().count(N), missing);
        }
    }
}

#[test]
fn products_are_those_of_the_matrix_written_out() {
    let (views, of, one) = (views(), groups(), RowGroups::one(N));
    // the second and the last view of all have the same means in all groups
    let own = |i: usize| (i % 4 != 1 && i != 7).then_some(&of);
    let views: Vec<&View> = views.iter().chain(&views).collect();
    let blocks: Vec<StartBlock> = views
        .iter()
        .enumerate()
        .map(|(i, v)| StartBlock::new(v, own(i)))
        .chain([StartBlock::new(views[1], Some(&of))])
        .collect();
    let data = StartData::new(&blocks).unwrap();
    let parts: Vec<Mat<f64>> = views
        .iter()
        .enumerate()
        .map(|(i, v)| written_out(v, own(i).unwrap_or(&one)))
        .chain([written_out(views[1], &of)])
        .collect();
    let dense = Mat::from_fn(N, 9 * D, |n, d| parts[d / D][(n, d % D)]);
    assert_eq!((data.nrows(), data.ncols()), (N, 9 * D));
    let near = |a: Mat<f64>, b: Mat<f64>| assert!((a - &b).norm_max() < 1e-12 * b.norm_max());
    let mut rng = StreamKey::new(9).rng();
    let b = Mat::from_fn(9 * D, 3, |_, _| standard_normal(&mut rng));
    near(data.apply(b.as_ref()), &dense * &b);
    let b = Mat::from_fn(N, 3, |_, _| standard_normal(&mut rng));
    near(data.apply_transpose(b.as_ref()), dense.transpose() * &b);
}
