//! Sweeps that begin beyond where the one before ended (docs/decisions/0077-momentum.md).

use polyview::models;
use polyview_core::{Event, Journal, State};
use polyview_infer::{Audit, PruneRule, VbOptions, VbRun};
use polyview_linalg::Threads;
use polyview_random::StreamKey;
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
            let fell = |e: &Event| matches!(e, Event::BoundFell { .. });
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

/// Bounds of the first three hundred sweeps of genes and lipids of mice, whose sparse weights part
/// slowly.
fn of_mice(momentum: bool) -> Vec<f64> {
    let mut spec = models::mofa(20);
    (spec.vb.max_sweeps, spec.vb.momentum) = (300, momentum);
    let fit = polyview::fit(polyview_datasets::nutrimouse(), spec).expect("a fit");
    fit.record().ledgers[0].totals().collect()
}

/// Counted, not timed: with momentum the bound that plain sweeps come to is reached in half of
/// their sweeps at most, the twenty that begin where the last one ended included.
#[test]
fn momentum_saves_sweeps() {
    let (plain, pushed) = (of_mice(false), of_mice(true));
    let end = plain[plain.len() - 1] - 0.1;
    let until = |bounds: &[f64]| bounds.iter().position(|b| *b >= end).unwrap_or(usize::MAX);
    let (slow, fast) = (until(&plain), until(&pushed));
    assert!(
        fast <= slow / 2,
        "{fast} sweeps with momentum, {slow} without"
    );
}

/// Short steps are no end: what all further sweeps would gain is little, by the worst stretch of
/// the last ones. By short steps alone this fit ended where an estimate says 1.6 nats.
#[test]
fn a_crawl_has_not_converged() {
    let spec = models::bibfa(20);
    let vb = spec.vb.clone();
    let fit = polyview::fit(polyview_datasets::nutrimouse(), spec).expect("a fit");
    assert!(!fit.stopped_at_limit(), "{}", fit.ending());
    let ledger = &fit.record().ledgers[0];
    let left = ledger.most_left().expect("sweeps");
    let bound = ledger.last().expect("sweeps");
    assert!(left <= vb.enough_left(bound), "{left} nats are left");
    assert!(
        vb.enough_left(bound) == 0.1,
        "a bound of some thousand nats"
    );
}
