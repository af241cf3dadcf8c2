//! Kernels of a sweep at the shapes of a factor model. For one thread run with
//! `RAYON_NUM_THREADS=1`.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use polyview_linalg::faer::Par;
use polyview_linalg::faer::linalg::matmul::matmul;
use polyview_linalg::{
    Accum, BitMask, Mat, PackedRows, RowCov, cross, khatri_rao, masked_sums, packed_index,
    packed_len, solve_rows, times, weighted_gram,
};
use std::hint::black_box;

fn noise(rows: usize, cols: usize) -> Mat<f64> {
    Mat::from_fn(rows, cols, |i, j| {
        (((i * 7919 + j * 104_729) % 1009) as f64 - 504.0) / 300.0
    })
}

fn products(c: &mut Criterion) {
    let (x, z, w) = (noise(5000, 2000), noise(5000, 20), noise(2000, 20));
    let mut g = c.benchmark_group("product/5000x2000x20");
    g.throughput(Throughput::Elements(2 * 5000 * 2000 * 20));
    g.bench_function("ZtX", |b| {
        b.iter(|| black_box(cross(z.as_ref(), x.as_ref())));
    });
    // the library's own product, in one piece
    let mut whole = Mat::zeros(20, 2000);
    g.bench_function("ZtX, faer", |b| {
        b.iter(|| {
            matmul(
                whole.as_mut(),
                Accum::Replace,
                z.transpose(),
                &x,
                1.0,
                Par::Seq,
            );
        });
    });
    let mut out = Mat::zeros(5000, 20);
    g.bench_function("XW", |b| {
        b.iter(|| times(x.as_ref(), w.as_ref(), out.as_mut(), Accum::Replace));
    });
    g.finish();
}

fn spd(c: &mut Criterion) {
    let mut g = c.benchmark_group("solve_rows/1024");
    for k in [10, 20, 30, 50] {
        let mut precision = PackedRows::zeros(1024, k);
        for r in 0..1024 {
            for i in 0..k {
                for j in 0..=i {
                    precision.row_mut(r)[packed_index(i, j)] = if i == j {
                        k as f64
                    } else {
                        ((r + i * j) % 7) as f64 / 10.0
                    };
                }
            }
        }
        let rhs = noise(1024, k);
        g.throughput(Throughput::Elements(1024));
        g.bench_function(BenchmarkId::from_parameter(k), |b| {
            b.iter_batched(
                || (precision.clone(), rhs.clone(), vec![0.0; 1024]),
                |(mut p, mut r, mut l)| solve_rows(&mut p, r.as_mut(), &mut l),
                criterion::BatchSize::LargeInput,
            );
        });
    }
    g.finish();
}

fn grams(c: &mut Criterion) {
    let (z, omega) = (noise(2000, 20), noise(2000, 500));
    let kr = khatri_rao(z.as_ref(), RowCov::Zero);
    c.bench_function("weighted_gram/2000x500x20", |b| {
        b.iter(|| black_box(weighted_gram(omega.as_ref(), &kr)));
    });
    let mask = BitMask::from_fn(5000, 5000, |i, j| {
        // columns must differ: equal ones are summed once
        (i * 5000 + j + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33 & 1023 > 204
    });
    let table = noise(packed_len(20) + 20, 5000);
    let mut out = Mat::zeros(packed_len(20) + 20, 5000);
    c.bench_function("masked_sums/5000x5000x20", |b| {
        b.iter(|| masked_sums(&mask, table.as_ref(), out.as_mut()));
    });
}

fn all(c: &mut Criterion) {
    products(c);
    spd(c);
    grams(c);
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20);
    targets = all
}
criterion_main!(benches);
