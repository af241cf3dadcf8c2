//! Stochastic variational Bayes against variational Bayes.

use polyview_core::{
    Bias, GammaPrior, Journal, RowBlock, RowMoments, Schedule, Step, View, ViewTerm,
};
use polyview_infer::{
    Model, Outcome, PruneRule, Rotate, StochasticOptions, StochasticRun, VbOptions, VbRun, ViewPart,
};
use polyview_likelihoods::{Bernoulli, Cells, Gaussian, GaussianOptions, NoiseBy, Poisson};
use polyview_linalg::{Mat, Threads};
use polyview_priors::{Ard, Fixed, FullRows, SpikeSlab, SpikeSlabOptions, SpikeSlabRows};
use polyview_random::{StreamKey, fill_standard_normal, standard_normal, uniform_open01};
use proptest::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Complete,
    ByView,
    Holes,
    HolesByView,
    /// Some samples are missing as a whole.
    Absent,
    Binary,
    Counts,
    Sparse,
}

fn normal(rows: usize, cols: usize, key: StreamKey) -> Mat<f64> {
    let mut out = Mat::zeros(rows, cols);
    for j in 0..cols {
        fill_standard_normal(&mut key.chunk(j as u32).rng(), out.col_as_slice_mut(j));
    }
    out
}

/// Data of three factors, the noise of each feature its own.
fn data(kind: Kind, n: usize, d: usize, z: &Mat<f64>, key: StreamKey) -> Mat<f64> {
    let w = normal(d, z.ncols(), key.block(1));
    let mut rng = key.block(2).rng();
    let absent: Vec<bool> = (0..n).map(|_| uniform_open01(&mut rng) < 0.2).collect();
    Mat::from_fn(n, d, |i, j| {
        let eta =
            (0..z.ncols()).map(|k| z[(i, k)] * w[(j, k)]).sum::<f64>() + 0.3 * j as f64 / d as f64;
        let hole = uniform_open01(&mut rng) < 0.2;
        let x = eta + (0.3 + 0.5 * (j % 3) as f64) * standard_normal(&mut rng);
        match kind {
            Kind::Holes | Kind::HolesByView if hole => f64::NAN,
            Kind::Absent if absent[i] => f64::NAN,
            Kind::Binary => f64::from(u8::from(x > 0.0)),
            Kind::Counts => (1.0 + eta.max(0.0) + x.abs()).floor(),
            _ => x,
        }
    })
}

fn view(name: &str, values: Mat<f64>) -> View {
    let names = (0..values.ncols()).map(|d| format!("f{d}")).collect();
    View::from_values(name, names, values).expect("finite")
}

fn term(kind: Kind, view: View) -> Box<dyn ViewTerm> {
    let options = |noise| GaussianOptions {
        noise,
        ..GaussianOptions::default()
    };
    match kind {
        Kind::Binary => Box::new(Cells::new(view, Bernoulli::default()).expect("binary")),
        Kind::Counts => Box::new(Cells::new(view, Poisson::default()).expect("counts")),
        Kind::ByView | Kind::HolesByView => Box::new(Gaussian::new(view, options(NoiseBy::View))),
        _ => Box::new(Gaussian::new(view, options(NoiseBy::Feature))),
    }
}

fn part(kind: Kind, view: View, k: usize) -> ViewPart {
    let (name, columns) = (view.name().to_owned(), view.n_features());
    let start = RowMoments::isotropic(Mat::zeros(columns, k), 1.0, 0);
    let block = format!("weights/{name}");
    let weights: Box<dyn RowBlock> = if kind == Kind::Sparse {
        let prior = SpikeSlab::new(SpikeSlabOptions::default(), columns, k);
        Box::new(SpikeSlabRows::new(block, prior, start))
    } else {
        Box::new(FullRows::new(
            block,
            Ard::new(GammaPrior::new(1e-3, 1e-3), k),
            start,
        ))
    };
    ViewPart {
        name,
        term: term(kind, view),
        weights,
        bias: Bias::gaussian(columns, 0, 1.0),
    }
}

fn factors(rows: usize, k: usize) -> Box<dyn RowBlock> {
    let start = RowMoments::isotropic(Mat::zeros(rows, k), 1.0, 0);
    Box::new(FullRows::new("factors", Fixed::standard_normal(k), start))
}

fn still() -> VbOptions {
    VbOptions {
        rotate: Rotate::Off,
        prune: PruneRule::never(),
        tolerance: 1e-14,
        // steps of batches begin where the last one ended
        momentum: false,
        // the factors of a batch are always those of its weights
        noise_first: false,
        ..VbOptions::default()
    }
}

fn stochastic(
    kinds: &[Kind],
    views: &[View],
    k: usize,
    options: StochasticOptions,
    vb: VbOptions,
) -> StochasticRun {
    let parts = kinds
        .iter()
        .zip(views)
        .map(|(kind, v)| part(*kind, v.clone(), k))
        .collect();
    StochasticRun::new(
        parts,
        Box::new(|rows, k| Ok(factors(rows, k))),
        Box::new(views.to_vec()),
        options,
        vb,
        StreamKey::new(5),
    )
    .expect("factors")
}

/// All numbers that a view has learnt.
fn numbers(part: &ViewPart) -> Vec<f64> {
    let w = part.weights.moments();
    let mut out = Vec::new();
    for d in 0..w.explicit_rows() {
        for j in 0..w.k() {
            out.extend([w.mean()[(d, j)], w.variance(d, j)]);
        }
    }
    out.extend_from_slice(part.bias.mean());
    out.extend_from_slice(part.bias.variance());
    if let Some(noise) = part.term.as_noise().and_then(|n| n.precisions()) {
        out.extend_from_slice(noise.shape());
        out.extend_from_slice(noise.rate());
    }
    out
}

/// Largest difference relative to the larger of the numbers and 1.
fn gap(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter()
        .zip(b)
        .map(|(a, b)| (a - b).abs() / a.abs().max(b.abs()).max(1.0))
        .fold(0.0, f64::max)
}

/// Batch VB and stochastic VB from one start, six sweeps: after the first
/// weights both take factors and local variables to their optimum, then
/// weights, intercepts, noise and scales.
fn largest_gap(kinds: &[Kind], n: usize, k: usize, seed: u64) -> f64 {
    let key = StreamKey::new(seed);
    let truth = normal(n, 3, key.block(9));
    let views: Vec<View> = kinds
        .iter()
        .enumerate()
        .map(|(v, kind)| {
            let values = data(*kind, n, 5 + v, &truth, key.sweep(v as u64 + 1));
            view(&format!("v{v}"), values)
        })
        .collect();
    let start = normal(n, k, key.block(10));
    let locals = kinds
        .iter()
        .any(|kind| matches!(kind, Kind::Binary | Kind::Counts));
    let rounds = if locals { 400 } else { 1 };
    let options = StochasticOptions {
        batch: 1.0,
        learning_rate: 1.0,
        forgetting: 0.0,
        block: 7,
        rounds,
        local_tolerance: 1e-14,
        exact_sweeps: 2,
        epochs: 4,
        tolerance: 1e-14,
    };
    let mut run = stochastic(kinds, &views, k, options, still());
    let all = 0..n;
    run.start(start.clone(), std::slice::from_ref(&all))
        .expect("a start");
    let model = Model::new(
        {
            let mut z = factors(n, k);
            z.set_moments(RowMoments::isotropic(start, 1e-2, 0));
            z
        },
        kinds
            .iter()
            .zip(&views)
            .map(|(kind, v)| part(*kind, v.clone(), k))
            .collect(),
        Schedule { sweep: Vec::new() },
    );
    let each = |step: fn(usize) -> Step| (0..kinds.len()).map(step);
    let globals: Vec<Step> = (0..kinds.len())
        .flat_map(|v| {
            [
                Step::Weights(v),
                Step::Bias(v),
                Step::Noise(v),
                Step::Scales(v),
            ]
        })
        .collect();
    let mut batch = VbRun::new(model, still(), StreamKey::new(5), Journal::default());
    batch.model_mut().schedule.sweep = each(Step::Local).chain(globals.iter().copied()).collect();
    batch.sweep().expect("a sweep");
    let mut worst: f64 = 0.0;
    let compare = |run: &StochasticRun, batch: &VbRun| {
        let pairs = run.model().views.iter().zip(&batch.model().views);
        pairs
            .map(|(a, b)| gap(&numbers(a), &numbers(b)))
            .fold(0.0, f64::max)
    };
    worst = worst.max(compare(&run, &batch));
    let round: Vec<Step> = each(Step::Local).chain([Step::Factors]).collect();
    for _ in 0..6 {
        // the bound is that of factors at rest, before the weights
        batch.model_mut().schedule.sweep = (0..rounds).flat_map(|_| round.clone()).collect();
        let bound = batch.sweep().expect("a sweep").bound;
        batch.model_mut().schedule.sweep.clone_from(&globals);
        batch.sweep().expect("a sweep");
        let report = run.sweep().expect("an epoch");
        worst = worst.max(compare(&run, &batch));
        worst = worst.max((report.bound - bound).abs() / bound.abs());
    }
    worst
}

#[test]
fn all_samples_at_full_step_are_variational_bayes() {
    use Kind::{Absent, Binary, ByView, Complete, Counts, Holes, HolesByView, Sparse};
    for kinds in [
        vec![Complete],
        vec![ByView, Complete],
        vec![Holes],
        vec![HolesByView, Sparse],
        vec![Sparse],
        vec![Absent],
        vec![Absent, Complete, Absent],
    ] {
        let gap = largest_gap(&kinds, 40, 3, 1);
        assert!(gap < 1e-9, "{kinds:?}: {gap:e}");
    }
    // rounds of local variables end at a tolerance, not at the last bit
    for kinds in [vec![Binary], vec![Counts, Holes]] {
        let gap = largest_gap(&kinds, 40, 2, 2);
        assert!(gap < 1e-9, "{kinds:?}: {gap:e}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn any_composition_at_full_step_is_variational_bayes(
        seed in 0_u64..10_000,
        n in 8_usize..60,
        k in 1_usize..5,
        kinds in prop::collection::vec(0_usize..6, 1..4),
    ) {
        let all = [Kind::Complete, Kind::ByView, Kind::Holes, Kind::HolesByView, Kind::Sparse, Kind::Absent];
        let kinds: Vec<Kind> = kinds.into_iter().map(|i| all[i]).collect();
        let gap = largest_gap(&kinds, n, k, seed);
        prop_assert!(gap < 1e-9, "{kinds:?}: {gap:e}");
    }
}

/// Cells of `values` that are to be predicted, taken out of them.
fn hide(values: &mut Mat<f64>, key: StreamKey) -> Vec<(usize, usize, f64)> {
    let mut rng = key.rng();
    let mut hidden = Vec::new();
    for d in 0..values.ncols() {
        for n in 0..values.nrows() {
            if uniform_open01(&mut rng) < 0.1 {
                hidden.push((n, d, values[(n, d)]));
                values[(n, d)] = f64::NAN;
            }
        }
    }
    hidden
}

fn error(hidden: &[(usize, usize, f64)], z: &RowMoments, part: &ViewPart) -> f64 {
    let w = part.weights.moments();
    let sum: f64 = hidden
        .iter()
        .map(|(n, d, x)| {
            let fit: f64 = (0..w.k())
                .map(|j| z.mean()[(*n, j)] * w.mean()[(*d, j)])
                .sum();
            (x - fit - part.bias.mean()[*d]).powi(2)
        })
        .sum();
    (sum / hidden.len() as f64).sqrt()
}

/// Held-out error of batch VB, and that of a stochastic run.
fn errors(kind: Kind, k: usize, options: StochasticOptions) -> (f64, f64, StochasticRun) {
    let (n, key) = (3000, StreamKey::new(77));
    let truth = normal(n, 3, key.block(9));
    let mut values = data(Kind::Complete, n, 24, &truth, key);
    let hidden = hide(&mut values, key.block(30));
    let views = vec![view("v", values)];
    let vb = VbOptions {
        max_sweeps: 300,
        tolerance: 1e-8,
        prune: PruneRule {
            by_bound: kind == Kind::Sparse,
            ..PruneRule::default()
        },
        ..VbOptions::default()
    };
    let mut first = factors(n, k);
    // as a decomposition finds them: what is there, then noise
    let mut start = normal(n, k, key.block(40));
    for j in 0..3 {
        for i in 0..n {
            start[(i, j)] = truth[(i, j)] + 0.1 * start[(i, j)];
        }
    }
    first.set_moments(RowMoments::isotropic(start.clone(), 1e-2, 0));
    let model = Model::new(
        first,
        vec![part(kind, views[0].clone(), k)],
        Schedule::standard(1),
    );
    let mut batch = VbRun::new(model, vb.clone(), StreamKey::new(5), Journal::default());
    while batch.sweep().expect("a sweep").outcome.is_none() {}
    let bound = batch.record().ledger.last().expect("a bound");
    let by_batch = error(
        &hidden,
        batch.model().factors.moments(),
        &batch.model().views[0],
    );
    let mut run = stochastic(&[kind], &views, k, options, vb);
    let first = StochasticRun::first_batch(n, &options, StreamKey::new(5));
    let rows: Vec<usize> = first.iter().cloned().flatten().collect();
    let own = Mat::from_fn(rows.len(), k, |i, j| start[(rows[i], j)]);
    run.start(own, &first).expect("a start");
    while run.sweep().expect("an epoch").outcome.is_none() {}
    let z = run.project_all().expect("factors");
    let by_parts = error(&hidden, &z, &run.model().views[0]);
    // the last row is no estimate but the bound of what is left
    let own = run.record().ledger.last().expect("a bound");
    assert!(
        (own - bound).abs() < 5e-3 * bound.abs(),
        "{own} against {bound}"
    );
    (by_batch, by_parts, run)
}

#[test]
fn small_batches_reach_the_held_out_error_of_all_samples() {
    for kind in [Kind::Holes, Kind::Sparse] {
        for batch in [0.02, 0.05, 0.1, 0.25, 0.5] {
            let options = StochasticOptions {
                batch,
                exact_sweeps: 0,
                ..StochasticOptions::default()
            };
            let (all, parts, _) = errors(kind, 4, options);
            assert!(
                parts < 1.01 * all,
                "{kind:?} {batch}: {parts} against {all}"
            );
        }
    }
}

#[test]
fn factors_that_do_not_exist_are_removed_with_a_line_each() {
    for kind in [Kind::Holes, Kind::Sparse] {
        let options = StochasticOptions {
            batch: 0.1,
            ..StochasticOptions::default()
        };
        let (all, parts, run) = errors(kind, 8, options);
        let lines: Vec<String> = run
            .record()
            .journal
            .entries
            .iter()
            .map(|e| e.event.to_string())
            .filter(|e| e.contains("removed"))
            .collect();
        let left = run.model().k();
        assert_eq!(left, 3, "{kind:?}: {lines:?}");
        assert_eq!(lines.len(), 8 - left, "{lines:?}");
        assert!(parts < 1.01 * all, "{kind:?}: {parts} against {all}");
    }
}

#[test]
fn a_batch_stands_for_all_samples() {
    let (n, key) = (1000, StreamKey::new(12));
    let truth = normal(n, 3, key.block(9));
    let views = vec![view("v", data(Kind::Complete, n, 10, &truth, key))];
    let options = StochasticOptions {
        batch: 0.1,
        epochs: 1,
        exact_sweeps: 1,
        ..StochasticOptions::default()
    };
    let mut run = stochastic(&[Kind::Complete], &views, 3, options, still());
    let first = StochasticRun::first_batch(n, &options, StreamKey::new(5));
    let rows: usize = first.iter().map(ExactSizeIterator::len).sum();
    assert!(rows < n / 5);
    // a0 + N / 2, whatever the batch; after an exact sweep too
    let check = |run: &StochasticRun| {
        let noise = run.model().views[0]
            .term
            .as_noise()
            .and_then(|n| n.precisions())
            .expect("noise");
        for shape in noise.shape() {
            assert!((shape - 1e-6 - 0.5 * n as f64).abs() < 1e-6, "{shape}");
        }
    };
    run.start(normal(rows, 3, key.block(40)), &first)
        .expect("a start");
    check(&run);
    let estimate = run.sweep().expect("an epoch").bound;
    check(&run);
    let bound = run.sweep().expect("a sweep").bound;
    check(&run);
    // in the first epoch factors are still being found
    assert!(
        (estimate - bound).abs() < 0.2 * bound.abs(),
        "{estimate} {bound}"
    );
    // a start of other samples is refused
    let longer = normal(rows + 1, 3, key.block(40));
    assert!(run.start(longer, &first).is_err());
}

#[test]
fn bits_do_not_depend_on_the_number_of_threads() {
    let run = || {
        let key = StreamKey::new(3);
        let truth = normal(500, 3, key.block(9));
        let views = vec![
            view("a", data(Kind::Holes, 500, 30, &truth, key.sweep(1))),
            view("b", data(Kind::Binary, 500, 12, &truth, key.sweep(2))),
        ];
        let options = StochasticOptions {
            batch: 0.2,
            epochs: 2,
            exact_sweeps: 1,
            ..StochasticOptions::default()
        };
        let kinds = [Kind::Holes, Kind::Binary];
        let mut run = stochastic(&kinds, &views, 4, options, VbOptions::default());
        let first = StochasticRun::first_batch(500, &options, StreamKey::new(5));
        let rows = first.iter().cloned().flatten().count();
        run.start(normal(rows, 4, key.block(40)), &first)
            .expect("a start");
        let mut outcome = None;
        while outcome.is_none() {
            outcome = run.sweep().expect("an epoch").outcome;
        }
        assert_eq!(outcome, Some(Outcome::MaxSweeps));
        let z = run.project_all().expect("factors");
        let mut all: Vec<f64> = run.model().views.iter().flat_map(numbers).collect();
        all.extend((0..500).map(|n| z.mean()[(n, 1)]));
        all.extend((0..500).map(|n| z.variance(n, 1)));
        all.extend(run.record().ledger.totals());
        all
    };
    let on = |threads: usize| Threads::new(threads).expect("a pool").install(run);
    let one = on(1);
    for threads in [2, 3] {
        let other = on(threads);
        assert!(
            one.iter()
                .zip(&other)
                .all(|(a, b)| a.to_bits() == b.to_bits())
        );
    }
}

#[test]
fn first_samples_are_those_of_the_first_batches() {
    let options = StochasticOptions {
        batch: 0.1,
        ..StochasticOptions::default()
    };
    let key = StreamKey::new(3);
    let of = |count: usize| -> Vec<usize> {
        let ranges = StochasticRun::first_samples(1000, &options, key, count);
        ranges.into_iter().flatten().collect()
    };
    let batch: Vec<usize> = (StochasticRun::first_batch(1000, &options, key).into_iter())
        .flatten()
        .collect();
    assert_eq!(of(batch.len()), batch);
    let more = of(batch.len() + 37);
    assert_eq!(more.len(), batch.len() + 37);
    assert_eq!(more[..batch.len()], batch);
    assert_eq!(of(7), batch[..7]);
    let mut all = of(usize::MAX);
    all.sort_unstable();
    assert_eq!(all, (0..1000).collect::<Vec<_>>());
    assert!(of(0).is_empty());
}
