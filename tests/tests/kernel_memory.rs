//! What a kernel against few reference points, or of random features, takes, by an allocator that
//! counts: memory goes with the samples, not with their pairs.

use peak_alloc::PeakAlloc;
use polyview::{Fitting, models};
use polyview_core::{Dataset, Table};
use polyview_linalg::{Mat, Threads};

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

const SAMPLES: usize = 3_000;

fn table(name: &str, samples: usize, of: impl Fn(usize, usize) -> f64) -> Table {
    let columns = if name == "x" { 4 } else { 1 };
    Table {
        name: name.into(),
        samples: (0..samples).map(|n| format!("s{n}")).collect(),
        features: (0..columns).map(|d| format!("{name}{d}")).collect(),
        levels: Vec::new(),
        values: Mat::from_fn(samples, columns, of),
    }
}

/// Peak of memory in MiB while a kernel whose width is found is fitted for two sweeps.
fn peak(samples: usize, kernel: &str) -> f64 {
    let before = ALLOCATOR.current_usage_as_mb();
    ALLOCATOR.reset_peak_usage();
    // points that never come twice
    let at = |n: usize, d: usize| ((n * (d + 2) + 1) as f64 * 0.618_034).fract();
    let x = table("x", samples, at);
    let y = table("y", samples, |n, _| (6.0 * at(n, 0)).sin() + at(n, 1));
    let data = Dataset::builder().view(x).view(y).build().expect("data");
    let mut spec = models::bibfa(3).with_kernel("x", kernel.parse().expect("a kernel"));
    spec.vb.max_sweeps = 2;
    let mut fitting = Fitting::new(data, spec).expect("a fit");
    while !fitting.step().expect("a sweep").done {}
    fitting.finish().expect("an end");
    f64::from(ALLOCATOR.peak_usage_as_mb() - before)
}

/// One test, on one thread: others would count as well.
#[test]
fn memory_goes_with_the_samples() {
    Threads::new(1).expect("a thread").install(|| {
        for kernel in ["rbf{references=20}", "rbf{features=20}"] {
            // what is there however many samples there are, and what each kernel keeps
            peak(SAMPLES, kernel);
            let [one, four] = [SAMPLES, 4 * SAMPLES].map(|n| peak(n, kernel));
            let pairs = (4 * SAMPLES * 4 * SAMPLES * 8) as f64 / f64::from(1 << 20);
            assert!(four < 5.0 * one, "{kernel}: {one} MiB, {four} MiB");
            assert!(four < 0.1 * pairs, "{kernel}: {four} of {pairs} MiB");
        }
    });
}
