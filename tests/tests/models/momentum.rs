//! Sweeps that begin beyond where the one before ended (docs/decisions/0077-momentum.md).

use polyview_core::{Event, Journal, State};
use polyview_infer::{Audit, PruneRule, VbOptions, VbRun};
use polyview_linalg::{Mat, Threads};
use polyview_random::{StreamKey, uniform_open01};
use polyview_tests::sparse::{self, Rows};
use polyview_tests::{Case, Holes, gaussian_parts, normal, views};

const ROWS: [Rows; 2] = [Rows::SpikeSlab, Rows::Full];

fn case(holes: Holes) -> Case {
    sparse::two_views(3, (40, 6), [30, 20], holes)
}

fn run(holes: Holes, rows: Rows, options: VbOptions) -> VbRun {
    let case = case(holes);
    let start = normal(case.samples, case.k, &mut StreamKey::new(5).rng());
    let parts = gaussian_parts(&case, views(&case, 4));
    let model = sparse::assemble(parts, rows, Rows::Full, None, start);
    VbRun::new(model, options, StreamKey::new(1), Journal::default())
}

fn options() -> VbOptions {
    VbOptions {
        max_sweeps: 400,
        tolerance: 1e-300,
        prune: PruneRule::never(),
        momentum: true,
        ..VbOptions::default()
    }
}

/// Blocks are audited within each sweep, and sweeps among each other; some are taken back on
/// the way, which the test has to see.
#[test]
fn the_bound_never_falls_however_far_sweeps_begin() {
    let mut back = 0;
    for holes in [Holes::None, Holes::Rows(0.3), Holes::Cells(0.3)] {
        for rows in ROWS {
            let audited = VbOptions {
                audit: Audit::Blocks,
                ..options()
            };
            let mut run = run(holes, rows, audited);
            let mut last = f64::NEG_INFINITY;
            let mut momentum = 0.0;
            for _ in 0..120 {
                let report = run.sweep().expect("a sweep");
                assert!(
                    report.bound >= last - 1e-9 * last.abs(),
                    "{holes:?} {rows:?}"
                );
                last = report.bound;
                let now = run.record().momentum;
                back += usize::from(now < momentum);
                momentum = now;
            }
            let fell = |e: &polyview_core::Event| matches!(e, Event::BoundFell { .. });
            let journal = &run.record().journal;
            assert!(!journal.entries.iter().any(|e| fell(&e.event)));
        }
    }
    assert!(back > 0, "no sweep was taken back");
}

/// Any number of threads, stopped anywhere or not, before and after sweeps that are taken back:
/// the same bits.
#[test]
fn bits_depend_neither_on_threads_nor_on_where_it_stopped() {
    for holes in [Holes::None, Holes::Cells(0.3)] {
        for rows in ROWS {
            let saved = |run: &VbRun| {
                let mut state = State::new();
                let record = run.save("", &mut state);
                (state, record)
            };
            let whole = |threads: usize| {
                Threads::new(threads).expect("threads").install(|| {
                    let mut run = run(holes, rows, options());
                    for _ in 0..60 {
                        run.sweep().expect("a sweep");
                    }
                    saved(&run)
                })
            };
            let one = whole(1);
            assert_eq!(one, whole(2), "{holes:?} {rows:?}");
            let mut stopped = run(holes, rows, options());
            for sweep in 0..60 {
                if [4, 5, 7, 20, 33, 34, 35, 36, 50].contains(&sweep) {
                    let (state, record) = saved(&stopped);
                    stopped = run(holes, rows, options());
                    stopped
                        .resume("", record, &state.reader())
                        .expect("its state");
                }
                stopped.sweep().expect("a sweep");
            }
            assert_eq!(one, saved(&stopped), "{holes:?} {rows:?}");
        }
    }
}

/// Factors that act in overlapping halves of the features: sparse weights part them slowly.
fn entangled(momentum: bool) -> Vec<f64> {
    let (samples, features, k) = (60, 80, 5);
    let mut rng = StreamKey::new(7).block(1).rng();
    let z = normal(samples, k, &mut rng);
    let mut w = normal(features, k, &mut rng);
    for j in 0..k {
        for d in 0..features {
            if uniform_open01(&mut rng) > 0.5 {
                w[(d, j)] = 0.0;
            }
        }
    }
    let x = &z * w.transpose() + normal(samples, features, &mut rng);
    let names = (0..features).map(|d| format!("f{d}")).collect();
    let view = polyview_core::View::from_values("v", names, x).expect("finite");
    let mut case = case(Holes::None);
    (case.samples, case.k) = (samples, 8);
    case.views.truncate(1);
    case.views[0].features = features;
    let start: Mat<f64> = normal(samples, 8, &mut StreamKey::new(9).rng());
    let parts = gaussian_parts(&case, vec![view]);
    let model = sparse::assemble(parts, Rows::SpikeSlab, Rows::Full, None, start);
    let options = VbOptions {
        momentum,
        ..options()
    };
    let mut run = VbRun::new(model, options, StreamKey::new(1), Journal::default());
    (0..400)
        .map(|_| run.sweep().expect("a sweep").bound)
        .collect()
}

/// Counted, not timed: with momentum the end that plain sweeps come to is reached in half of
/// their sweeps at most.
#[test]
fn momentum_saves_sweeps() {
    let (plain, pushed) = (entangled(false), entangled(true));
    let end = plain[plain.len() - 1] - 0.1;
    let until = |bounds: &[f64]| bounds.iter().position(|b| *b >= end).unwrap_or(usize::MAX);
    let (slow, fast) = (until(&plain), until(&pushed));
    assert!(
        2 * fast <= slow,
        "{fast} sweeps with momentum, {slow} without"
    );
}
