//! What a fit of sparse data takes, by an allocator that counts: memory goes
//! with the entries, not with the cells.

use peak_alloc::PeakAlloc;
use polyview::{Fitting, Likelihood, Path, models};
use polyview_core::{Dataset, SparseTable};
use polyview_linalg::SparseColumns;

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
        let (a, b) = if d % 2 == 0 {
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

/// Peak of memory in MiB while the data were made, fitted for two sweeps and
/// explained, beyond what there was before.
fn peak(likelihood: Likelihood, features: usize, entries: usize) -> f64 {
    let before = ALLOCATOR.current_usage_as_mb();
    ALLOCATOR.reset_peak_usage();
    let data = data(features, entries, likelihood.is_label());
    let mut spec = models::mofa(K).with_likelihood("y", likelihood);
    spec.path = Path::Streaming;
    spec.vb.max_sweeps = 2;
    let mut fitting = Fitting::new(data, spec).expect("a fit");
    while !fitting.step().expect("a sweep").done {}
    let fit = fitting.finish().expect("an end");
    let shares = fit.explain().expect("shares");
    assert!(shares.total[0] > 0.0);
    let peak = f64::from(ALLOCATOR.peak_usage_as_mb() - before);
    println!("{likelihood}: {features} features, {entries} entries: {peak:.1} MiB");
    peak
}

/// One test: others would count as well.
#[test]
fn memory_goes_with_the_entries() {
    let cells = |features: usize| (SAMPLES * features * 8) as f64 / f64::from(1 << 20);
    let bytes = |mib: f64, entries: usize| mib * f64::from(1 << 20) / entries as f64;
    // what is made block by block, whatever the number of entries: columns by
    // the sixty-four, with all that belongs to their cells
    let block = cells(64);
    for likelihood in [Likelihood::Gaussian, Likelihood::Poisson] {
        let base = peak(likelihood, FEATURES, ENTRIES);
        // of all cells a few per cent
        assert!(base < 12.0 * block, "{likelihood}: {base} MiB");
        assert!(base < 0.2 * cells(FEATURES), "{likelihood}: {base} MiB");
        // twice the entries: so many bytes each
        let twice = peak(likelihood, FEATURES, 2 * ENTRIES);
        let each = bytes(twice - base, ENTRIES);
        assert!(
            (8.0..80.0).contains(&each),
            "{likelihood}: {each} bytes an entry"
        );
    }
    // twice the features, the same entries: next to none of their cells
    let likelihood = Likelihood::Gaussian;
    let (base, wide) = (
        peak(likelihood, FEATURES, ENTRIES),
        peak(likelihood, 2 * FEATURES, ENTRIES),
    );
    let more = wide - base;
    assert!(
        more < 0.02 * cells(FEATURES),
        "{more} MiB for as many features"
    );
}
