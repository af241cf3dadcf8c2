//! Sparse rows in whole models.

use polyview_core::{Journal, RowGroups, RowMoments, State, View};
use polyview_infer::{PruneRule, Start, VbOptions, VbRun, start_factors};
use polyview_likelihoods::{MissingData, NoiseBy};
use polyview_linalg::{FilledBlock, FilledColumns, Mat, MatRef, Threads};
use polyview_priors::{SpikeSlab, SpikeSlabOptions, SpikeSlabRows};
use polyview_random::{StreamKey, uniform_open01};
use polyview_tests::sparse::{self, Rows};
use polyview_tests::{Case, Holes, ViewCase, gaussian_parts, normal, views};

/// Five factors, three in ten weights of which are not zero.
fn sparse_data(samples: usize, features: usize, seed: u64) -> (Mat<f64>, Vec<Mat<f64>>) {
    let mut rng = StreamKey::new(seed).block(5).rng();
    let z = normal(samples, 5, &mut rng);
    let views = (0..3)
        .map(|_| {
            let mut w = normal(features, 5, &mut rng);
            for j in 0..5 {
                for d in 0..features {
                    if uniform_open01(&mut rng) > 0.3 {
                        w[(d, j)] = 0.0;
                    }
                }
            }
            &z * w.transpose() + normal(samples, features, &mut rng)
        })
        .collect();
    (z, views)
}

/// For each true factor the largest correlation with a found one; the least.
fn worst_axis(truth: MatRef<'_, f64>, found: MatRef<'_, f64>) -> f64 {
    let correlation = |i: usize, j: usize| {
        let n = truth.nrows() as f64;
        let (a, b) = (truth.col(i), found.col(j));
        let (ma, mb) = (a.iter().sum::<f64>() / n, b.iter().sum::<f64>() / n);
        let (mut ab, mut aa, mut bb) = (0.0, 0.0, 0.0);
        for (x, y) in a.iter().zip(b.iter()) {
            ab += (x - ma) * (y - mb);
            aa += (x - ma).powi(2);
            bb += (y - mb).powi(2);
        }
        ab.abs() / (aa * bb).sqrt().max(1e-300)
    };
    (0..truth.ncols())
        .map(|i| {
            (0..found.ncols())
                .map(|j| correlation(i, j))
                .fold(0.0, f64::max)
        })
        .fold(1.0, f64::min)
}

/// A run with ten factors from the varimax start.
fn run(data: &[Mat<f64>], weights: Rows, seed: u64) -> VbRun {
    let (k, features) = (10, data[0].ncols());
    let view = ViewCase {
        features,
        holes: Holes::None,
        noise: NoiseBy::Feature,
        missing: MissingData::Marginal,
        bias: Some(0.01),
        relevance: false,
    };
    let case = Case {
        seed,
        samples: data[0].nrows(),
        k,
        views: vec![view; data.len()],
    };
    let (zero, one) = (vec![0.0; features], vec![1.0; features]);
    let blocks: Vec<FilledBlock<'_>> = data
        .iter()
        .map(|x| FilledBlock {
            values: x.as_ref().into(),
            transposed: None,
            mask: None,
            mean: &zero,
            scale: &one,
        })
        .collect();
    let key = StreamKey::new(seed);
    let columns = FilledColumns::new(&blocks).expect("finite data");
    let squares: Vec<f64> = (data.iter())
        .flat_map(|x| polyview_tests::column_squares(x.as_ref()))
        .collect();
    let start =
        start_factors(Start::Varimax, (&columns, &squares), None, k, key, 0).expect("finite data");
    let names: Vec<String> = (0..features).map(|d| format!("f{d}")).collect();
    let views = (0..)
        .zip(data)
        .map(|(m, x)| View::from_values(format!("v{m}"), names.clone(), x.clone()).expect("finite"))
        .collect();
    let mut model = sparse::assemble(
        gaussian_parts(&case, views),
        weights,
        Rows::Full,
        None,
        start,
    );
    if weights == Rows::SpikeSlab {
        // vague hyperpriors, as MOFA has them
        for v in &mut model.views {
            v.weights = Box::new(SpikeSlabRows::new(
                format!("weights/{}", v.name),
                SpikeSlab::new(SpikeSlabOptions::default(), features, k),
                RowMoments::isotropic(Mat::zeros(features, k), 1.0, 0),
            ));
        }
    }
    let mut run = VbRun::new(model, VbOptions::default(), key, Journal::default());
    while run.sweep().expect("a sweep").outcome.is_none() {}
    run
}

/// From a varimax start sparse weights find the factors themselves, weights
/// under ARD a mixture of them.
#[test]
fn sparse_weights_unmix_factors() {
    for seed in 0..3 {
        let (z, data) = sparse_data(500, 200, seed);
        let axis = |weights: Rows| {
            let run = run(&data, weights, seed);
            worst_axis(z.as_ref(), run.model().factors.moments().mean())
        };
        let (sparse, ard) = (axis(Rows::SpikeSlab), axis(Rows::Full));
        assert!(sparse > 0.99, "seed {seed}: {sparse}");
        assert!(ard < 0.95, "seed {seed}: {ard}");
    }
}

fn small(holes: Holes) -> Case {
    sparse::two_views(11, (24, 3), [7, 5], holes)
}

/// What a model is made of: data, groups and start may come in another order.
struct Build {
    case: Case,
    data: Vec<View>,
    groups: Option<RowGroups>,
    start: Mat<f64>,
    rows: (Rows, Rows),
}

impl Build {
    fn run(&self) -> VbRun {
        let parts = gaussian_parts(&self.case, self.data.clone());
        let (weights, factors) = self.rows;
        let start = self.start.clone();
        let model = sparse::assemble(parts, weights, factors, self.groups.clone(), start);
        let options = VbOptions {
            max_sweeps: 30,
            tolerance: 1e-300,
            prune: PruneRule::never(),
            ..VbOptions::default()
        };
        VbRun::new(model, options, StreamKey::new(1), Journal::default())
    }
    fn bound(&self) -> f64 {
        let mut run = self.run();
        (0..25).fold(0.0, |_, _| run.sweep().expect("a sweep").bound)
    }
}

fn builds(holes: Holes, groups: usize) -> Vec<Build> {
    let case = small(holes);
    let start = normal(case.samples, case.k, &mut StreamKey::new(5).rng());
    let of_row = |g: usize| (0..case.samples).map(|n| (n % g) as u32).collect();
    let pairs = sparse::ROWS.map(|w| sparse::ROWS.map(|f| (w, f)));
    pairs
        .as_flattened()
        .iter()
        .map(|&rows| Build {
            data: views(&case, 2),
            groups: (groups > 0).then(|| RowGroups::new(of_row(groups), groups).expect("groups")),
            start: start.clone(),
            case: case.clone(),
            rows,
        })
        .collect()
}

/// spec/mofa C.3 (f), also with groups.
#[test]
fn order_of_samples_views_and_signs_do_not_matter() {
    for (holes, groups) in [
        (Holes::None, 2),
        (Holes::Rows(0.3), 0),
        (Holes::Cells(0.3), 3),
    ] {
        for build in builds(holes, groups) {
            let n = build.case.samples;
            let order: Vec<usize> = (0..n).map(|r| (r * 7 + 3) % n).collect();
            let permuted = |m: &Mat<f64>| Mat::from_fn(n, m.ncols(), |r, k| m[(order[r], k)]);
            let samples = Build {
                data: build
                    .data
                    .iter()
                    .map(|v| {
                        let x = permuted(&v.to_values_with_nan());
                        View::from_values(v.name(), v.features().to_vec(), x).expect("finite")
                    })
                    .collect(),
                start: permuted(&build.start),
                groups: build.groups.as_ref().map(|g| {
                    let of_row = order.iter().map(|&r| g.of_row()[r]).collect();
                    RowGroups::new(of_row, g.count()).expect("groups")
                }),
                case: build.case.clone(),
                ..build
            };
            let mut by_view = Build {
                data: build.data.iter().rev().cloned().collect(),
                start: build.start.clone(),
                groups: build.groups.clone(),
                case: build.case.clone(),
                ..build
            };
            by_view.case.views.reverse();
            let sign = |k: usize| if k == 1 { -1.0 } else { 1.0 };
            let signs = Build {
                data: build.data.clone(),
                start: Mat::from_fn(n, build.case.k, |r, k| sign(k) * build.start[(r, k)]),
                groups: build.groups.clone(),
                case: build.case.clone(),
                ..build
            };
            let plain = build.bound();
            for other in [samples.bound(), by_view.bound(), signs.bound()] {
                let gap = (plain - other).abs();
                assert!(
                    gap < 1e-7 * plain.abs(),
                    "{holes:?} {:?}: {plain} {other}",
                    build.rows
                );
            }
        }
    }
}

/// Any number of threads, stopped in the middle or not: the same bits.
#[test]
fn bits_depend_neither_on_threads_nor_on_interruptions() {
    for holes in [Holes::None, Holes::Rows(0.3), Holes::Cells(0.3)] {
        for build in builds(holes, 2) {
            let saved = |run: &VbRun| {
                let mut state = State::new();
                let record = run.save("", &mut state);
                (state, record)
            };
            let whole = |threads: usize| {
                Threads::new(threads).expect("threads").install(|| {
                    let mut run = build.run();
                    for _ in 0..10 {
                        run.sweep().expect("a sweep");
                    }
                    saved(&run).0
                })
            };
            let one = whole(1);
            assert_eq!(one, whole(3), "{holes:?} {:?}", build.rows);
            let mut first = build.run();
            for _ in 0..4 {
                first.sweep().expect("a sweep");
            }
            let (state, record) = saved(&first);
            let mut second = build.run();
            second
                .resume("", record, &state.reader())
                .expect("its state");
            for _ in 0..6 {
                second.sweep().expect("a sweep");
            }
            assert_eq!(one, saved(&second).0, "{holes:?} {:?}", build.rows);
        }
    }
}
