//! Sweeps that begin beyond where the one before ended (docs/decisions/0077-momentum.md).

use polyview::{Settle, models};
use polyview_core::{Dataset, Event, Journal, State, Table};
use polyview_infer::{Audit, PruneRule, VbOptions, VbRun};
use polyview_linalg::{Mat, Threads};
use polyview_random::{StreamKey, standard_normal};
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

/// Numbers, labels with holes and counts of two groups of samples, two factors.
fn labels_and_counts() -> Dataset {
    let mut rng = StreamKey::new(9).rng();
    let z = normal(80, 2, &mut rng);
    let mut table = |name: &str, columns: usize| {
        let w = normal(columns, 2, &mut rng);
        let values = Mat::from_fn(80, columns, |n, d| {
            let eta = z[(n, 0)] * w[(d, 0)] + z[(n, 1)] * w[(d, 1)];
            match name {
                "labels" if (n + 3 * d).is_multiple_of(7) => f64::NAN,
                "labels" => f64::from(u8::from(eta + standard_normal(&mut rng) > 0.0)),
                "counts" => (1.0 + 0.6 * eta + 0.5 * standard_normal(&mut rng))
                    .exp()
                    .round(),
                _ => eta + standard_normal(&mut rng),
            }
        });
        Table {
            name: name.to_owned(),
            samples: (0..80).map(|n| n.to_string()).collect(),
            features: (0..columns).map(|d| format!("{name}{d}")).collect(),
            levels: Vec::new(),
            values,
        }
    };
    let site = |n: usize| {
        let site = if n.is_multiple_of(3) {
            "north"
        } else {
            "south"
        };
        (n.to_string(), site.to_owned())
    };
    Dataset::builder()
        .view(table("numbers", 5))
        .view(table("labels", 12))
        .view(table("counts", 10))
        .groups((0..80).map(site).collect())
        .build()
        .expect("data")
}

/// Sweeps that keep their tangents (decision 0109) begin after the twentieth, never lower the bound, and end where watched ones do: of
/// labels, of labels that count thrice, of counts with intercepts by group, and of them all.
#[test]
fn sweeps_that_keep_their_tangents_end_where_watched_ones_do() {
    let spec = |which: usize| {
        let mut spec = models::sshiba(2)
            .with_likelihood("labels", "bernoulli")
            .with_likelihood("counts", "negative-binomial")
            .with_settled("labels", Settle::Not);
        if which == 1 {
            spec = spec.with_weight("labels", 3.0);
        }
        if which == 2 {
            spec.groups.intercepts = true;
        }
        spec
    };
    for which in 0..3 {
        let totals = |audit: Audit| -> Vec<f64> {
            let mut spec = spec(which);
            (spec.vb.max_sweeps, spec.vb.audit) = (150, audit);
            (spec.vb.tolerance, spec.vb.prune) = (1e-300, PruneRule::never());
            let fit = polyview::fit(labels_and_counts(), spec).expect("a fit");
            fit.record().ledgers[0].totals().collect()
        };
        let (kept, watched) = (totals(Audit::Sweeps), totals(Audit::Blocks));
        let off = |n: usize| ((kept[n] - watched[n]) / watched[n]).abs();
        let (before, after) = ((0..20).map(off), (20..60).map(off));
        let most = |x: &mut dyn Iterator<Item = f64>| x.fold(0.0, f64::max);
        let (before, after) = (most(&mut { before }), most(&mut { after }));
        assert!(before < 1e-12, "{which}: {before}");
        assert!(after > 1e-11, "{which}: none was kept, {after}");
        assert!(off(149) < 1e-8, "{which}: {}", off(149));
        for pair in kept.windows(2) {
            assert!(
                pair[1] >= pair[0] - 1e-11 * pair[0].abs(),
                "{which}: {pair:?}"
            );
        }
    }
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
