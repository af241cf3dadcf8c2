use super::*;
use crate::test_support::{Numbers, noise, with_threads};
use crate::{BitMask, SparseColumns, masked_sums};

/// $\sum_k s_k u_k v_k'$ with orthonormal vectors: a matrix of known singular values.
fn with_spectrum(m: usize, n: usize, values: &[f64], seed: u64) -> Mat<f64> {
    let (u, _) = thin_qr(noise(m, values.len(), seed).as_ref()).unwrap();
    let (v, _) = thin_qr(noise(n, values.len(), seed + 1).as_ref()).unwrap();
    let scaled = Mat::from_fn(m, values.len(), |i, j| u[(i, j)] * values[j]);
    scaled * v.transpose()
}

fn start(n: usize, options: &TruncatedSvdOptions) -> Mat<f64> {
    noise(n, options.width(), 77)
}

/// Checks that the triplets are orthonormal and that the residuals meet the promise.
fn check_triplets(a: &Mat<f64>, result: &TruncatedSvd, tolerance: f64) {
    let rank = result.singular_values.len();
    assert_eq!(
        (result.u.shape(), result.v.shape()),
        ((a.nrows(), rank), (a.ncols(), rank))
    );
    for q in [&result.u, &result.v] {
        let product = q.transpose() * q;
        for i in 0..rank {
            for j in 0..rank {
                assert!((product[(i, j)] - f64::from(u8::from(i == j))).abs() < 1e-12);
            }
        }
    }
    let (forth, back) = (a * &result.v, a.transpose() * &result.u);
    let scale = result.singular_values.first().copied().unwrap_or(0.0);
    for (j, s) in result.singular_values.iter().enumerate() {
        let gap = |image: &Mat<f64>, q: &Mat<f64>| {
            let square: f64 = (0..q.nrows())
                .map(|i| (image[(i, j)] - s * q[(i, j)]).powi(2))
                .sum();
            square.sqrt()
        };
        assert!(gap(&forth, &result.u) <= tolerance * scale);
        assert!(gap(&back, &result.v) <= 1e-12 * scale.max(1.0));
    }
}

#[test]
fn leading_triplets_are_those_of_the_dense_decomposition() {
    let values = [
        50.0, 30.0, 20.0, 10.0, 5.0, 2.0, 1.0, 0.5, 0.2, 0.1, 0.05, 0.01,
    ];
    for (m, n) in [(80, 40), (40, 80)] {
        let a = with_spectrum(m, n, &values, 5);
        let options = TruncatedSvdOptions {
            oversampling: 3,
            ..TruncatedSvdOptions::new(4)
        };
        let result = truncated_svd(&a.as_ref(), &options, start(n, &options).as_ref()).unwrap();
        assert!(result.converged && (1..20).contains(&result.iterations));
        check_triplets(&a, &result, 1e-6);
        for (found, expected) in result.singular_values.iter().zip(&values) {
            assert!((found - expected).abs() < 1e-8);
        }
    }
}

#[test]
fn small_problems_are_exact() {
    for (m, n) in [(12, 9), (9, 12), (1, 1), (5, 1), (1, 5)] {
        let a = noise(m, n, 3);
        for rank in 0..=m.min(n) {
            let options = TruncatedSvdOptions::new(rank);
            let result = truncated_svd(&a.as_ref(), &options, Mat::zeros(0, 0).as_ref()).unwrap();
            assert_eq!((result.iterations, result.converged), (0, true));
            check_triplets(&a, &result, 1e-12);
        }
    }
}

#[test]
fn matrices_of_low_rank_and_zero_are_legal() {
    let a = with_spectrum(60, 50, &[3.0, 2.0], 1);
    let options = TruncatedSvdOptions::new(5);
    let result = truncated_svd(&a.as_ref(), &options, start(50, &options).as_ref()).unwrap();
    assert!(result.converged);
    check_triplets(&a, &result, 1e-6);
    assert!(result.singular_values[2] < 1e-12);
    let zero = Mat::<f64>::zeros(60, 50);
    let result = truncated_svd(&zero.as_ref(), &options, start(50, &options).as_ref()).unwrap();
    assert!(result.converged && result.singular_values.iter().all(|s| *s == 0.0));
}

#[test]
fn a_flat_spectrum_is_reported_as_unfinished() {
    let a = noise(200, 150, 3);
    let options = TruncatedSvdOptions {
        power_iterations: 2,
        ..TruncatedSvdOptions::new(10)
    };
    let result = truncated_svd(&a.as_ref(), &options, start(150, &options).as_ref()).unwrap();
    assert_eq!((result.iterations, result.converged), (2, false));
    check_triplets(&a, &result, 1.0);
}

#[test]
fn bad_arguments_are_errors() {
    let a = noise(60, 50, 1);
    let options = TruncatedSvdOptions::new(5);
    let run = |rows, cols| truncated_svd(&a.as_ref(), &options, noise(rows, cols, 1).as_ref());
    assert!(matches!(
        run(50, 14),
        Err(LinalgError::ShapeMismatch { .. })
    ));
    assert!(matches!(
        run(60, 15),
        Err(LinalgError::ShapeMismatch { .. })
    ));
    let too_many = TruncatedSvdOptions::new(51);
    let error = truncated_svd(&a.as_ref(), &too_many, noise(50, 61, 1).as_ref());
    assert!(matches!(
        error,
        Err(LinalgError::ShapeMismatch {
            expected: 50,
            found: 51,
            ..
        })
    ));
    let mut bad = noise(50, 15, 1);
    bad[(3, 3)] = f64::NAN;
    let error = truncated_svd(&a.as_ref(), &options, bad.as_ref());
    assert!(matches!(error, Err(LinalgError::NotFinite { .. })));
    let mut a = a.clone();
    a[(0, 0)] = f64::INFINITY;
    let error = truncated_svd(&a.as_ref(), &options, noise(50, 15, 1).as_ref());
    assert!(matches!(error, Err(LinalgError::NotFinite { .. })));
}

/// Two blocks, one with holes, with their dense form.
struct Blocks {
    values: [Mat<f64>; 2],
    masks: [Option<BitMask>; 2],
    mean: [Vec<f64>; 2],
    scale: [Vec<f64>; 2],
    dense: Mat<f64>,
}

impl Blocks {
    fn new(n: usize, sizes: [usize; 2]) -> Self {
        let mut numbers = Numbers::new(31);
        let holes = BitMask::from_fn(n, sizes[0], |_, d| d == 2 || numbers.next() < 0.4);
        let masks = [Some(holes), None];
        let mut values = [noise(n, sizes[0], 1), noise(n, sizes[1], 2)];
        let (mut mean, mut scale) = ([vec![], vec![]], [vec![], vec![]]);
        let mut dense = Mat::zeros(n, sizes[0] + sizes[1]);
        for b in 0..2 {
            for d in 0..sizes[b] {
                mean[b].push(3.0 + d as f64);
                scale[b].push(0.5 + 0.1 * d as f64);
                for r in 0..n {
                    let seen = masks[b].as_ref().is_none_or(|mask| mask.get(r, d));
                    let value = values[b][(r, d)] + mean[b][d];
                    values[b][(r, d)] = if seen { value } else { 0.0 };
                    if seen {
                        dense[(r, b * sizes[0] + d)] = (value - mean[b][d]) * scale[b][d];
                    }
                }
            }
        }
        Self {
            values,
            masks,
            mean,
            scale,
            dense,
        }
    }

    fn views(&self) -> Vec<FilledBlock<'_>> {
        (0..2)
            .map(|b| FilledBlock {
                values: self.values[b].as_ref().into(),
                mask: self.masks[b].as_ref(),
                transposed: None,
                mean: &self.mean[b],
                scale: &self.scale[b],
            })
            .collect()
    }
}

#[test]
fn filled_columns_multiply_as_the_dense_matrix_would() {
    for (n, sizes) in [(50, [13, 7]), (9, [30, 1]), (200, [3, 40])] {
        let blocks = Blocks::new(n, sizes);
        let operator = FilledColumns::new(&blocks.views()).unwrap();
        assert_eq!((operator.nrows(), operator.ncols()), blocks.dense.shape());
        let (b, c) = (noise(sizes[0] + sizes[1], 4, 5), noise(n, 4, 6));
        let pairs = [
            (operator.apply(b.as_ref()), &blocks.dense * &b),
            (
                operator.apply_transpose(c.as_ref()),
                blocks.dense.transpose() * &c,
            ),
        ];
        for (found, expected) in pairs {
            assert_eq!(found.shape(), expected.shape());
            for j in 0..4 {
                for i in 0..found.nrows() {
                    assert!((found[(i, j)] - expected[(i, j)]).abs() < 1e-11);
                }
            }
        }
    }
}

#[test]
fn sparse_blocks_are_dense_blocks() {
    let blocks = Blocks::new(50, [13, 7]);
    let sparse = [0, 1].map(|b| SparseColumns::from_dense(blocks.values[b].as_ref()).unwrap());
    let mut views = blocks.views();
    for (view, x) in views.iter_mut().zip(&sparse) {
        view.values = x.into();
    }
    let dense = FilledColumns::new(&blocks.views()).unwrap();
    let operator = FilledColumns::new(&views).unwrap();
    let (b, c) = (noise(20, 4, 5), noise(50, 4, 6));
    let gap = operator.apply(b.as_ref()) - dense.apply(b.as_ref());
    assert!(gap.norm_max() < 1e-12);
    let gap = operator.apply_transpose(c.as_ref()) - dense.apply_transpose(c.as_ref());
    assert!(gap.norm_max() < 1e-12);
    // an entry in a missing cell
    let full = SparseColumns::from_dense(Mat::full(50, 13, 1.0).as_ref()).unwrap();
    views[0].values = (&full).into();
    let error = FilledColumns::new(&views).unwrap_err();
    assert!(matches!(error, LinalgError::MissingNotZero { .. }));
}

#[test]
fn the_decomposition_of_filled_columns_is_that_of_the_dense_matrix() {
    let blocks = Blocks::new(60, [25, 10]);
    let operator = FilledColumns::new(&blocks.views()).unwrap();
    let options = TruncatedSvdOptions {
        power_iterations: 400,
        ..TruncatedSvdOptions::new(4)
    };
    let results = with_threads(&|| {
        let result = truncated_svd(&operator, &options, start(35, &options).as_ref()).unwrap();
        (result.u, result.v, result.singular_values, result.converged)
    });
    assert!(results.iter().all(|r| *r == results[0]));
    let expected = thin_svd(blocks.dense.as_ref()).unwrap().singular_values;
    for (found, expected) in results[0].2.iter().zip(&expected) {
        assert!((found - expected).abs() < 1e-6 * expected);
    }
    assert!(results[0].3);
}

#[test]
fn blocks_that_disagree_are_errors() {
    let blocks = Blocks::new(20, [5, 4]);
    let views = blocks.views();
    let refused = |change: &dyn Fn(&mut FilledBlock<'_>)| {
        let mut views = views.clone();
        change(&mut views[0]);
        FilledColumns::new(&views).unwrap_err()
    };
    let short = [1.0; 3];
    let shape = |error| assert!(matches!(error, LinalgError::ShapeMismatch { .. }));
    let other = BitMask::full(20, 4);
    let mut views_short = views.clone();
    views_short[0].mean = &short;
    shape(FilledColumns::new(&views_short).unwrap_err());
    views_short[0] = views[0];
    views_short[0].scale = &short;
    shape(FilledColumns::new(&views_short).unwrap_err());
    views_short[0] = views[0];
    views_short[0].mask = Some(&other);
    shape(FilledColumns::new(&views_short).unwrap_err());
    shape(refused(&|view| {
        if let BlockValues::Dense(x) = view.values {
            view.values = x.subrows(0, 19).into();
        }
    }));

    let full = Blocks {
        masks: [None, None],
        ..Blocks::new(20, [5, 4])
    };
    let mut stray = blocks.masks[0].clone().unwrap();
    let (row, column) = (3, 2);
    stray.set(row, column, false);
    let mut views = full.views();
    views[0].mask = Some(&stray);
    let error = FilledColumns::new(&views).unwrap_err();
    assert_eq!(error, LinalgError::MissingNotZero { row, column });

    let mut bad = Blocks::new(20, [5, 4]);
    bad.values[1][(3, 3)] = f64::NAN;
    let error = FilledColumns::new(&bad.views()).unwrap_err();
    assert!(matches!(error, LinalgError::NotFinite { .. }));
    let mut bad = Blocks::new(20, [5, 4]);
    bad.scale[1][3] = f64::INFINITY;
    let error = FilledColumns::new(&bad.views()).unwrap_err();
    assert!(matches!(error, LinalgError::NotFinite { .. }));
    // nothing at all is legal
    let none = FilledColumns::new(&[]).unwrap();
    assert_eq!((none.nrows(), none.ncols()), (0, 0));
    let mut sums = Mat::zeros(0, 0);
    masked_sums(
        &BitMask::full(0, 0),
        Mat::zeros(0, 0).as_ref(),
        sums.as_mut(),
    );
}

/// Products with completed data are those of the dense matrix: whatever is missing, by few cells and by most, whatever the threads.
#[test]
fn completed_data_are_multiplied_as_the_dense_matrix() {
    let (rows, widths) = (30, [7, 5, 9]);
    let columns = 21;
    let (left, right) = (noise(2, rows, 1), noise(2, columns, 2));
    let of_block = |at: usize| (widths[..at].iter().sum::<usize>(), widths[at]);
    // the second block has no holes; of the third all cells of the last column are missing
    let seen = |n: usize, d: usize| match d {
        0..7 => !(n + 3 * d).is_multiple_of(4),
        7..12 => true,
        _ => d < 20 && (n * d) % 5 == 1,
    };
    let masks: Vec<Option<(BitMask, BitMask)>> = (0..3)
        .map(|at| {
            let (first, width) = of_block(at);
            (at != 1).then(|| {
                let own = BitMask::from_fn(rows, width, |n, d| seen(n, first + d));
                let turned = own.transposed();
                (own, turned)
            })
        })
        .collect();
    let holes: Vec<Holes<'_>> = (masks.iter().zip(widths))
        .map(|(m, columns)| Holes {
            columns,
            observed: m.as_ref().map(|(a, b)| (a, b)),
        })
        .collect();
    let all = noise(rows, columns, 3);
    let data = Mat::from_fn(
        rows,
        columns,
        |n, d| if seen(n, d) { all[(n, d)] } else { 0.0 },
    );
    let mut dense = Mat::from_fn(rows, columns, |n, d| {
        let filled = (0..2).map(|r| left[(r, n)] * right[(r, d)]).sum::<f64>();
        if seen(n, d) { all[(n, d)] } else { filled }
    });
    let mut added = vec![0.0; columns];
    for d in 0..columns {
        let column = dense.col_as_slice_mut(d);
        let mean = column.iter().sum::<f64>() / rows as f64;
        for x in column.iter_mut() {
            *x -= mean;
        }
        let squares = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>();
        added[d] = squares(column) - squares(data.col_as_slice(d));
    }
    let counts: Vec<usize> = holes.iter().map(|h| h.count(rows)).collect();
    let missing = (0..columns).map(|d| (0..rows).filter(|n| !seen(*n, d)).count());
    assert_eq!(counts.iter().sum::<usize>(), missing.sum::<usize>());
    let (b, c) = (noise(columns, 3, 4), noise(rows, 3, 5));
    let run = || {
        let factors = (&left, &right);
        let plain = data.as_ref();
        let own = Completed::new(&plain, &holes, factors).unwrap();
        (
            own.apply(b.as_ref()),
            own.apply_transpose(c.as_ref()),
            own.added_squares(),
        )
    };
    let mut runs = with_threads(&run);
    let (forth, back, squares) = runs.pop().unwrap();
    let near = |a: &Mat<f64>, b: &Mat<f64>| (a - b).norm_max() < 1e-12;
    assert!(near(&forth, &(&dense * &b)) && near(&back, &(dense.transpose() * &c)));
    for (found, known) in squares.iter().zip(&added) {
        assert!((found - known).abs() < 1e-11, "{found} {known}");
    }
    assert!(
        runs.iter()
            .all(|r| (&r.0, &r.1, &r.2) == (&forth, &back, &squares))
    );
    let plain = data.as_ref();
    let narrow = (noise(2, rows, 1), noise(2, columns - 1, 2));
    assert!(matches!(
        Completed::new(&plain, &holes, (&narrow.0, &narrow.1)),
        Err(LinalgError::ShapeMismatch { .. })
    ));
}
