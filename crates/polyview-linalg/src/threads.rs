//! How many threads the kernels may use.

use crate::LinalgError;

/// A thread policy: a rayon pool of its own, in which the kernels of this crate run.
///
/// Results have the same bits whatever the number of threads, because every kernel cuts its work into blocks
/// whose size depends on the shape of the problem only and adds partial results in block order.
///
/// ```
/// use polyview_linalg::{Mat, Threads, gram};
///
/// let z = Mat::from_fn(1000, 3, |i, j| ((i * 7 + j * 3) % 11) as f64);
/// let one = Threads::new(1)?.install(|| gram(z.as_ref()));
/// let two = Threads::new(2)?.install(|| gram(z.as_ref()));
/// assert_eq!(one, two);
/// # Ok::<(), polyview_linalg::LinalgError>(())
/// ```
#[derive(Debug)]
pub struct Threads {
    pool: rayon::ThreadPool,
}

impl Threads {
    /// A pool of `count` threads; `0` takes all that the machine offers.
    ///
    /// # Errors
    /// [`LinalgError::ThreadPool`] where the operating system refuses the threads.
    pub fn new(count: usize) -> Result<Self, LinalgError> {
        rayon::ThreadPoolBuilder::new()
            .num_threads(count)
            .thread_name(|index| format!("polyview-{index}"))
            .build()
            .map(|pool| Self { pool })
            .map_err(|_| LinalgError::ThreadPool { threads: count })
    }

    /// Number of threads in the pool.
    pub fn count(&self) -> usize {
        self.pool.current_num_threads()
    }

    /// Runs `work` inside the pool: every kernel called from it uses these threads.
    pub fn install<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        self.pool.install(work)
    }
}

/// Runs `work` on a thread of the current pool.
///
/// A kernel called from a thread outside hands its work over and waits, each time; inside `work` it does not. Worth it
/// around anything that calls many kernels.
///
/// ```
/// assert_eq!(polyview_linalg::on_pool(|| 6 * 7), 42);
/// ```
pub fn on_pool<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    rayon::join(work, || ()).0
}
