//! Bounds of MOFA's models, sweep by sweep, against the reference values of
//! spec/mofa C.1: those of mofapy2 as version 0.7.5 prints them, with all
//! digits, and those of an independent program for the corrected algorithm.

use polyview::{Fit, Fitting, ModelSpec, models};
use polyview_core::{
    Bias, Context, Dataset, GammaPrior, Journal, Predictor, RowBlock, RowMoments, Schedule, Step,
    Table, View, ViewTerm,
};
use polyview_infer::{Model, Vb, ViewPart, run_steps, step_groups};
use polyview_likelihoods::{
    Bernoulli as Labels, Cells, Curvature, Gaussian, GaussianOptions, MissingData, NoiseBy,
    Poisson as Counts, PseudoData, PseudoKind,
};
use polyview_linalg::{Mat, thin_svd};
use polyview_priors::{Ard, DiagonalRows, Fixed, SpikeSlab, SpikeSlabOptions, SpikeSlabRows};
use polyview_random::StreamKey;

const K: usize = 5;

/// The kinds of data of the reference.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Gaussian,
    Bernoulli,
    Poisson,
}
use Kind::{Bernoulli, Gaussian as Real, Poisson};

fn table(kind: Kind) -> Mat<f64> {
    let text = match kind {
        Real => include_str!("../../data/mofa/gaussian.csv"),
        Bernoulli => include_str!("../../data/mofa/bernoulli.csv"),
        Poisson => include_str!("../../data/mofa/poisson.csv"),
    };
    let lines: Vec<Vec<f64>> = text
        .lines()
        .map(|l| {
            l.split(',')
                .map(|x| x.parse().unwrap_or(f64::NAN))
                .collect()
        })
        .collect();
    Mat::from_fn(lines.len(), lines[0].len(), |n, d| lines[n][d])
}

/// Each feature less its mean over the observed cells.
fn centred(mut y: Mat<f64>) -> Mat<f64> {
    for d in 0..y.ncols() {
        let x = y.col_as_slice_mut(d);
        let seen: Vec<f64> = x.iter().copied().filter(|x| !x.is_nan()).collect();
        let mean = seen.iter().sum::<f64>() / seen.len() as f64;
        for x in x {
            *x -= mean;
        }
    }
    y
}

/// spec/mofa B.4: principal components of all views side by side, missing
/// cells at their mean, each stretched to \[-1, 1\].
fn start(all: &[Mat<f64>]) -> Mat<f64> {
    let rows = all[0].nrows();
    let columns: Vec<Vec<f64>> = all
        .iter()
        .flat_map(|y| {
            (0..y.ncols()).map(|d| {
                let x = y.col_as_slice(d);
                let seen: Vec<f64> = x.iter().copied().filter(|x| !x.is_nan()).collect();
                let mean = seen.iter().sum::<f64>() / seen.len() as f64;
                let filled = x.iter().map(|x| if x.is_nan() { 0.0 } else { x - mean });
                filled.collect()
            })
        })
        .collect();
    let wide = Mat::from_fn(rows, columns.len(), |n, d| columns[d][n]);
    let u = thin_svd(wide.as_ref()).expect("finite").u;
    let ends = |j: usize| {
        u.col(j)
            .iter()
            .fold((f64::MAX, f64::MIN), |(a, b), x| (x.min(a), x.max(b)))
    };
    Mat::from_fn(rows, K, |n, j| {
        let (low, high) = ends(j);
        2.0 * (u[(n, j)] - low) / (high - low) - 1.0
    })
}

/// Sparse weights as mofapy2 has them, or as they should be.
fn sparse(name: &str, features: usize, faithful: bool) -> Box<dyn RowBlock> {
    let mut scales = SpikeSlab::new(SpikeSlabOptions::default(), features, K);
    scales.hold_probabilities(49);
    let rows = SpikeSlabRows::new(format!("weights/{name}"), scales, zero(features));
    // the reference goes from entry to entry
    let rows = rows.one_by_one();
    Box::new(if faithful {
        rows.with_spike_of_prior()
    } else {
        rows
    })
}

fn dense(name: &str, features: usize) -> Box<dyn RowBlock> {
    let ard = Ard::new(GammaPrior::new(1e-14, 1e-14), K);
    Box::new(DiagonalRows::new(
        format!("weights/{name}"),
        ard,
        zero(features),
    ))
}

/// spec/mofa B.3, B.5: factorised standard normal factors, noise by feature,
/// pseudo-data.
fn faithful(kinds: &[Kind], weights: impl Fn(&str, usize) -> Box<dyn RowBlock>) -> Model {
    let data: Vec<Mat<f64>> = kinds
        .iter()
        .map(|kind| match kind {
            Real => centred(table(*kind)),
            _ => table(*kind),
        })
        .collect();
    let start = RowMoments::isotropic(start(&data), 1.0, 0);
    let parts: Vec<ViewPart> = kinds
        .iter()
        .zip(data)
        .enumerate()
        .map(|(m, (kind, y))| {
            let (names, columns) = ((0..y.ncols()).map(|d| d.to_string()).collect(), y.ncols());
            let name = format!("v{m}");
            let view = View::from_values(name.clone(), names, y).expect("finite");
            let term: Box<dyn ViewTerm> = match kind {
                Real => Box::new(Gaussian::new(
                    view,
                    GaussianOptions {
                        noise: NoiseBy::Feature,
                        prior: GammaPrior::new(1e-3, 1e-3),
                        missing: MissingData::Marginal,
                        start: 1.0,
                    },
                )),
                Bernoulli => {
                    Box::new(PseudoData::new(view, PseudoKind::Bernoulli).expect("labels"))
                }
                Poisson => Box::new(PseudoData::new(view, PseudoKind::Poisson).expect("counts")),
            };
            ViewPart {
                weights: weights(&name, columns),
                term,
                bias: Bias::absent(columns),
                name,
            }
        })
        .collect();
    let factors = DiagonalRows::new("factors", Fixed::standard_normal(K), start);
    let schedule = Schedule::by_node(parts.len());
    Model::new(Box::new(factors), parts, schedule)
}

/// One sweep; pseudo-data and local variables are made before the first too.
fn sweep(model: &mut Model, sweep: usize, corrected: bool, journal: &mut Journal) {
    for group in step_groups(&model.schedule.clone()) {
        let mut cx = Context {
            key: StreamKey::new(1),
            sweep,
            journal,
        };
        match group[..] {
            [Step::Local(v)] if corrected => refresh(model, v, &mut cx),
            [step, ..] if sweep == 0 && !matches!(step, Step::Local(_)) => {}
            _ => run_steps(&Vb::default(), &[group], model, &mut cx).expect("a step"),
        }
    }
}

fn follows(mut model: Model, expected: [f64; 7]) {
    let mut journal = Journal::default();
    for number in 0..=59 {
        sweep(&mut model, number, false, &mut journal);
        if let Some(at) = [0, 1, 2, 5, 10, 30, 59].iter().position(|s| *s == number) {
            let found = model.bound();
            assert!(
                (found - expected[at]).abs() < 1e-8 * found.abs(),
                "{number}: {found}, {}",
                expected[at]
            );
        }
    }
}

fn zero(features: usize) -> RowMoments {
    RowMoments::isotropic(Mat::zeros(features, K), 1.0, 0)
}

#[test]
fn faithful_gaussian() {
    let expected = [
        -17244.218596409846,
        -5291.293631594055,
        -4995.874586942822,
        -4846.573789603454,
        -4823.353706246731,
        -4775.153517620337,
        -4689.766963724567,
    ];
    follows(faithful(&[Real], |name, d| sparse(name, d, true)), expected);
    preset(&[Real], 1, |_| (), expected);
}

#[test]
fn faithful_gaussian_without_sparse_weights() {
    let expected = [
        -17044.218596409846,
        -5146.6697520545495,
        -4877.969556277348,
        -4746.816505627404,
        -4716.7555692805,
        -4703.732506807937,
        -4702.2381877305415,
    ];
    follows(faithful(&[Real], dense), expected);
    preset(
        &[Real],
        1,
        |spec| spec.defaults.selection = "none".into(),
        expected,
    );
}

#[test]
fn faithful_bernoulli() {
    let expected = [
        -4316.852328647057,
        -3023.9501144929964,
        -2342.2482369557356,
        -2256.8087302582794,
        -2229.530545340723,
        -2197.0750268913425,
        -2151.5439345083932,
    ];
    follows(
        faithful(&[Bernoulli], |name, d| sparse(name, d, true)),
        expected,
    );
    preset(&[Bernoulli], 1, |_| (), expected);
}

#[test]
fn faithful_poisson() {
    let expected = [
        -10968.80569476635,
        -3004.541973469301,
        -2997.8912047097065,
        -2992.31232378452,
        -2988.5349827273567,
        -2928.6241445540886,
        -2885.8113001946017,
    ];
    follows(
        faithful(&[Poisson], |name, d| sparse(name, d, true)),
        expected,
    );
    preset(&[Poisson], 1, |_| (), expected);
}

#[test]
fn faithful_all_three_views() {
    let expected = [
        -32997.360453710164,
        -11035.3573835643,
        -10261.360976610904,
        -9799.129153388427,
        -9674.61945884187,
        -9543.792763598829,
        -9385.397954846501,
    ];
    follows(
        faithful(&[Real, Bernoulli, Poisson], |name, d| sparse(name, d, true)),
        expected,
    );
    preset(&[Real, Bernoulli, Poisson], 1, |_| (), expected);
}

/// A fit by that preset of these kinds of data, in halves of the samples if there
/// are two groups.
fn fitting(kinds: &[Kind], groups: usize, mut spec: ModelSpec) -> Fitting {
    let mut builder = Dataset::builder();
    let samples: Vec<String> = (0..100).map(|n| format!("s{n}")).collect();
    for (m, kind) in kinds.iter().enumerate() {
        let (name, values) = (format!("v{m}"), table(*kind));
        let likelihood = match kind {
            Real => "gaussian",
            Bernoulli => "bernoulli",
            Poisson => "poisson",
        };
        spec = spec.with_likelihood(&name, likelihood);
        builder = builder.view(Table {
            name,
            samples: samples.clone(),
            features: (0..values.ncols()).map(|d| format!("f{d}")).collect(),
            values,
            levels: Vec::new(),
        });
    }
    if groups > 1 {
        let of = |(n, s): (usize, &String)| (s.clone(), format!("g{}", n * groups / 100));
        builder = builder.groups(samples.iter().enumerate().map(of).collect());
    }
    Fitting::new(builder.build().expect("views"), spec).expect("a fit")
}

/// Its bounds, sweep by sweep, and the fit.
fn bounds(mut fitting: Fitting) -> (Vec<f64>, Fit) {
    while !fitting.step().expect("a sweep").done {}
    let fit = fitting.finish().expect("an end");
    (fit.record().ledgers[0].totals().collect(), fit)
}

/// Where mofapy2 ends, by the bound of the default model: after ten sweeps of the
/// default from its factors, which is more than it is due.
#[test]
fn the_default_ends_at_least_as_high_as_mofapy2() {
    for kinds in [
        &[Real][..],
        &[Bernoulli],
        &[Poisson],
        &[Real, Bernoulli, Poisson],
    ] {
        let mut theirs = faithful(kinds, |name, d| sparse(name, d, true));
        let mut journal = Journal::default();
        for number in 0..=300 {
            sweep(&mut theirs, number, false, &mut journal);
        }
        let (ours, _) = bounds(fitting(kinds, 1, models::mofa(K)));
        let mut moved = fitting(kinds, 1, models::mofa(K));
        let factors = theirs.factors.moments().mean().to_owned();
        moved.start_from(factors).expect("a start");
        let (theirs, _) = bounds(moved);
        let theirs = theirs[..theirs.len().min(10)].last();
        assert!(ours.last() >= theirs, "{:?} {theirs:?}", ours.last());
    }
}

/// A fit of the preset `models::mofapy2`, changed by `change`: its bounds after
/// the sweeps of the reference, of real data before the first of them too.
fn preset(kinds: &[Kind], groups: usize, change: impl Fn(&mut ModelSpec), expected: [f64; 7]) {
    let mut spec = models::mofapy2(K);
    (spec.vb.max_sweeps, spec.vb.tolerance) = (59, 1e-15);
    change(&mut spec);
    let mut fitting = fitting(kinds, groups, spec);
    // pseudo-data are not made before the first step
    let start = kinds.iter().all(|k| *k == Real).then(|| fitting.bound());
    let (sweeps, fit) = bounds(fitting);
    let mut found = vec![start.flatten().unwrap_or(expected[0])];
    found.extend(sweeps);
    for (sweep, expected) in [0, 1, 2, 5, 10, 30, 59].into_iter().zip(&expected) {
        let found = found[sweep];
        assert!(
            (found - expected).abs() < 1e-8 * expected.abs(),
            "{sweep}: {found}, {expected}"
        );
    }
    let path = fit.to_bytes().expect("a file");
    assert_eq!(Fit::from_bytes(&path).expect("a fit").k(), K);
}

/// spec/mofa C.3 and A.5: exact steps, intercepts with a flat prior.
fn corrected(kinds: &[Kind]) -> Model {
    let mut model = faithful(kinds, |name, d| sparse(name, d, false));
    for (view, kind) in model.views.iter_mut().zip(kinds) {
        let y = table(*kind);
        let (names, columns) = ((0..y.ncols()).map(|d| d.to_string()).collect(), y.ncols());
        let data = View::from_values(view.name.clone(), names, y).expect("finite");
        if *kind != Real {
            view.term = match kind {
                Bernoulli => Box::new(Cells::new(data, Labels::default()).expect("labels")),
                _ => Box::new(Cells::new(data, Counts::new(Curvature::Feature)).expect("counts")),
            };
            view.bias = Bias::gaussian(columns, 0, 1.0);
            view.bias.set(vec![0.0; columns], vec![0.0; columns]);
        }
    }
    model
}

/// Local variables and intercepts three times in turn, then local variables.
fn refresh(model: &mut Model, v: usize, cx: &mut Context<'_>) {
    for pass in 0..4 {
        run_steps(&Vb::default(), &[vec![Step::Local(v)]], model, cx).expect("a step");
        let Model { factors, views, .. } = model;
        let view = &mut views[v];
        if pass == 3 || !view.bias.is_present() {
            return;
        }
        let columns = view.bias.mean().len();
        let (mut precision, mut rhs) = (vec![0.0; columns], vec![0.0; columns]);
        let p = Predictor {
            factors: factors.moments(),
            weights: view.weights.moments(),
            bias: &view.bias,
        };
        view.term
            .equations()
            .bias_equations(0..columns, &p, &mut precision, &mut rhs);
        let b = rhs.iter().zip(&precision).map(|(r, p)| r / p).collect();
        view.bias.set(b, vec![0.0; columns]);
    }
}

/// The bounds of the corrected algorithm at sweeps 1, 2, 5, 10, 30, 59. A flat
/// prior of intercepts has no bound of its own.
fn follows_corrected(kinds: &[Kind], expected: [f64; 6]) {
    let mut model = corrected(kinds);
    let mut journal = Journal::default();
    let mut last = f64::NEG_INFINITY;
    for number in 0..=59 {
        sweep(&mut model, number, true, &mut journal);
        let terms = model.objective().into_iter();
        let found: f64 = terms
            .filter(|t| !t.name.starts_with("bias"))
            .map(|t| t.value)
            .sum();
        assert!(found >= last - 1e-8, "{number}: {found} after {last}");
        last = found;
        if let Some(at) = [1, 2, 5, 10, 30, 59].iter().position(|s| *s == number) {
            assert!(
                (found - expected[at]).abs() < 6e-4,
                "{number}: {found}, {}",
                expected[at]
            );
        }
    }
}

#[test]
fn corrected_gaussian() {
    follows_corrected(
        &[Real],
        [
            -5277.644, -4983.058, -4839.092, -4818.140, -4765.414, -4688.709,
        ],
    );
}

#[test]
fn corrected_bernoulli() {
    follows_corrected(
        &[Bernoulli],
        [
            -2521.236, -2250.997, -2223.711, -2205.809, -2173.219, -2128.196,
        ],
    );
}

#[test]
fn corrected_poisson() {
    follows_corrected(
        &[Poisson],
        [
            -3785.305, -3777.823, -3775.065, -3769.883, -3713.323, -3673.694,
        ],
    );
}

#[test]
fn corrected_all_three_views() {
    follows_corrected(
        &[Real, Bernoulli, Poisson],
        [
            -11594.378, -10922.699, -10678.619, -10596.502, -10467.743, -10312.604,
        ],
    );
}

/// Two groups of fifty samples: centred by group, noise by group and feature,
/// relevances of factors by group (spec/mofa B.1 to B.3).
#[test]
fn faithful_groups() {
    preset(
        &[Real],
        2,
        |spec| spec.factor_prior = "ard".into(),
        [
            -18068.880624571688,
            -5820.564847479481,
            -5518.251474140168,
            -5409.531937809862,
            -5395.504000546623,
            -5330.521481829258,
            -5267.581425658035,
        ],
    );
}

#[test]
fn faithful_groups_with_sparse_factors() {
    preset(
        &[Real],
        2,
        |spec| spec.factor_prior = "spike-and-slab".into(),
        [
            -26094.328640658357,
            -5747.290819447976,
            -5615.427548997631,
            -5583.9187964859675,
            -5572.243487309588,
            -5508.38772759801,
            -5287.04034505339,
        ],
    );
}
