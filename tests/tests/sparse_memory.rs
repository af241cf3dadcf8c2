//! What a fit of sparse data takes, by an allocator that counts: memory goes
//! with the entries, not with the cells.

use peak_alloc::PeakAlloc;
use polyview::{Fitting, Path, models};
use polyview_core::{Dataset, SparseTable};
use polyview_linalg::{SparseColumns, Threads};

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

const SAMPLES: usize = 20_000;
const FEATURES: usize = 5_000;
/// Half a per cent of the cells.
const ENTRIES: usize = 500_000;
const K: usize = 3;

/// Entries spread evenly over the columns: counts, or ones.
fn data(features: usize, entries: usize, ones: bool) -> Dataset {
    let each = entries / features;
    let mut starts = vec![0];
    let (mut indices, mut values) = (Vec::new(), Vec::new());
    for d in 0..features {
        // two groups of samples that have the features of their own more often
        let half = SAMPLES / 2;
        let rows = |n: usize, first: usize| {
            let step = half / n.max(1);
            (0..n).map(move |i| (first + i * step + (d * 7919) % step) as u32)
        };
        let own = each * 3 / 4;
        let (a, b) = if d.is_multiple_of(2) {
            (own, each - own)
        } else {
            (each - own, own)
        };
        indices.extend(rows(a, 0).chain(rows(b, half)));
        while values.len() < indices.len() {
            let i = values.len();
            values.push(if ones { 1.0 } else { 1.0 + (i % 3) as f64 });
        }
        starts.push(indices.len());
    }
    let values = SparseColumns::from_csc(SAMPLES, features, starts, indices, values);
    let table = SparseTable {
        name: "y".into(),
        samples: (0..SAMPLES).map(|n| format!("s{n}")).collect(),
        features: (0..features).map(|d| format!("f{d}")).collect(),
        values: values.expect("sparse"),
    };
    Dataset::builder().view(table).build().expect("a data set")
}

/// What is measured.
#[derive(Clone, Copy)]
struct Run {
    likelihood: &'static str,
    features: usize,
    entries: usize,
    sweeps: usize,
    explain: bool,
}

impl Run {
    /// Peak of memory in MiB while the data were made, fitted and explained,
    /// beyond what there was before.
    fn peak(self) -> f64 {
        let before = ALLOCATOR.current_usage_as_mb();
        ALLOCATOR.reset_peak_usage();
        let data = data(
            self.features,
            self.entries,
            polyview::Likelihood::from(self.likelihood).is_label(),
        );
        let mut spec = models::mofa(K).with_likelihood("y", self.likelihood);
        spec.path = Path::Streaming;
        spec.vb.max_sweeps = self.sweeps;
        let mut fitting = Fitting::new(data, spec).expect("a fit");
        while !fitting.step().expect("a sweep").done {}
        let fit = fitting.finish().expect("an end");
        if self.explain {
            assert!(fit.explain().expect("shares").total[0] > 0.0);
        }
        f64::from(ALLOCATOR.peak_usage_as_mb() - before)
    }
}

/// MiB that the cells of so many features would take.
fn cells(features: usize) -> f64 {
    (SAMPLES * features * 8) as f64 / f64::from(1 << 20)
}

/// One test, on one thread: others would count as well.
#[test]
fn memory_goes_with_the_entries() {
    Threads::new(1).expect("a thread").install(|| {
        let real = Run {
            likelihood: "gaussian",
            features: FEATURES,
            entries: ENTRIES,
            sweeps: 2,
            explain: true,
        };
        // the kernels' own room, which they take once a thread and keep
        let small = Run {
            features: 200,
            entries: 20_000,
            ..real
        };
        small.peak();
        laws(real, 0.05);
        let counts = Run {
            likelihood: "poisson",
            features: FEATURES / 10,
            entries: ENTRIES / 10,
            sweeps: 1,
            ..real
        };
        // triangles of cell-wise views, whose memory a thread keeps as well
        let few = Run {
            features: FEATURES / 50,
            entries: ENTRIES / 50,
            ..counts
        };
        few.peak();
        laws(
            counts,
            // mostly what is made for a block of cells at a time, whatever the
            // number of features
            1.0,
        );
    });
}

/// A fit takes less than a share of the room of all cells; twice the entries
/// take some bytes more for each, half as many features more next to nothing.
fn laws(run: Run, share: f64) {
    let Run {
        likelihood,
        features,
        entries,
        ..
    } = run;
    let base = run.peak();
    assert!(base < share * cells(features), "{likelihood}: {base} MiB");
    let twice = Run {
        entries: 2 * entries,
        ..run
    };
    let more = (twice.peak() - base) * f64::from(1 << 20) / entries as f64;
    assert!(
        (4.0..40.0).contains(&more),
        "{likelihood}: {more} bytes an entry"
    );
    let wide = Run {
        features: features + features / 2,
        ..run
    };
    let more = wide.peak() - base;
    assert!(
        more < 0.02 * cells(features / 2),
        "{likelihood}: {more} MiB for half as many features"
    );
}
