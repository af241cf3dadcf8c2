//! Fits side by side.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use polyview_core::Level;
use polyview_linalg::Threads;

use super::plan::{Job, Plan, What};
use super::{CrossValidateProgress, CrossValidateScore};
use crate::compose::Composed;
use crate::error::Result;
use crate::fit::{Fit, Fitting};

/// A score, its value, and the cells that it is of.
pub(super) type Scored = (CrossValidateScore, f64, usize);

/// What one job found.
#[derive(Default)]
pub(super) struct Done {
    /// By target and method.
    pub(super) scores: Vec<(String, String, Scored)>,
    /// What the data are like, said once.
    pub(super) remarks: Vec<(Level, String)>,
    /// Whether the fit stopped at its limit; none where there was no fit.
    pub(super) limited: Option<bool>,
    /// Whether the fit of a model ended with fewer factors than it was offered.
    pub(super) spare: bool,
}

impl Done {
    /// Adds the scores of one method on one target; those that are not defined have none.
    pub(super) fn add(&mut self, target: &str, method: &str, scores: Vec<Scored>) {
        let defined = scores.into_iter().filter(|(_, value, _)| !value.is_nan());
        self.scores
            .extend(defined.map(|s| (target.to_owned(), method.to_owned(), s)));
    }
}

/// Tells how far a cross-validation is.
pub(super) struct Teller<'a> {
    progress: &'a (dyn Fn(&CrossValidateProgress) + Sync),
    done: AtomicUsize,
    fits: usize,
}

impl<'a> Teller<'a> {
    pub(super) fn new(progress: &'a (dyn Fn(&CrossValidateProgress) + Sync), fits: usize) -> Self {
        Self {
            progress,
            done: AtomicUsize::new(0),
            fits,
        }
    }
    /// Tells where a job is.
    pub(super) fn tell(&self, plan: &Plan<'_>, job: &Job, sweep: usize) {
        (self.progress)(&CrossValidateProgress {
            repeat: job.repeat + 1,
            fold: job.fold + 1,
            method: plan.name(job),
            sweep,
            done: self.done.load(Ordering::Relaxed),
            fits: self.fits,
        });
    }
    /// A job is done.
    pub(super) fn finished(&self, plan: &Plan<'_>, job: &Job) {
        self.done.fetch_add(1, Ordering::Relaxed);
        self.tell(plan, job, 0);
    }
    /// Fits to the end; of the first fit of all the remarks about the data are kept, of the first of each model what it warns of
    /// likelihoods.
    pub(super) fn fit(
        &self,
        plan: &Plan<'_>,
        job: &Job,
        (data, composed): (polyview_core::Dataset, Composed),
        done: &mut Done,
    ) -> Result<Fit> {
        self.tell(plan, job, 0);
        let offered = composed.spec().map(|spec| spec.factors);
        let mut fitting = Fitting::of(data, composed)?;
        if job.is_first() {
            done.remarks = fitting.journal().remarks().collect();
        }
        let mut sweep = 0;
        while !fitting.step()?.done {
            sweep += 1;
            self.tell(plan, job, sweep);
        }
        let fit = fitting.finish()?;
        if (job.repeat, job.fold) == (0, 0) && matches!(job.what, What::Model(_)) {
            // what is known of a likelihood once the fit is done
            let entries = fit.record().journal.entries.iter();
            let own = entries.filter(|e| e.block.starts_with("likelihood/"));
            let warnings = own.filter(|e| e.event.level() == Some(Level::Warning));
            for text in warnings.map(|e| (Level::Warning, e.remark())) {
                if !done.remarks.contains(&text) {
                    done.remarks.push(text);
                }
            }
        }
        done.limited = Some(fit.stopped_at_limit() || fit.settling_stopped());
        done.spare = offered.is_some_and(|offered| fit.k() < offered);
        Ok(fit)
    }
}

/// Does jobs 0 to `jobs` − 1, several at a time on the threads of the current pool, which they share
/// evenly. Gives what they found in their order, or the error of the first of them that has one: jobs
/// begin in order, so that it is the same one however many run at a time.
pub(in crate::verbs) fn in_parallel<T: Send>(
    jobs: usize,
    work: &(dyn Fn(usize) -> Result<T> + Sync),
) -> Result<Vec<T>> {
    let threads = rayon::current_num_threads();
    let workers = threads.min(jobs);
    if workers <= 1 {
        return (0..jobs).map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let failed = AtomicBool::new(false);
    let found: Vec<Mutex<Option<Result<T>>>> = (0..jobs).map(|_| Mutex::new(None)).collect();
    let pools = (0..workers)
        .map(|w| Threads::new(threads / workers + usize::from(w < threads % workers)))
        .collect::<std::result::Result<Vec<Threads>, _>>()?;
    std::thread::scope(|scope| {
        for pool in &pools {
            scope.spawn(|| {
                pool.install(|| {
                    while !failed.load(Ordering::Relaxed) {
                        let at = next.fetch_add(1, Ordering::Relaxed);
                        if at >= jobs {
                            break;
                        }
                        let result = work(at);
                        failed.fetch_or(result.is_err(), Ordering::Relaxed);
                        *found[at].lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
                    }
                });
            });
        }
    });
    // behind a job that was not begun there is one that failed before it
    found
        .into_iter()
        .map_while(|slot| slot.into_inner().unwrap_or_else(PoisonError::into_inner))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn answers_come_in_order_and_the_first_error_counts() {
        for threads in [1, 2, 5] {
            let pool = Threads::new(threads).unwrap();
            let squares = pool.install(|| in_parallel(20, &|at| Ok(at * at))).unwrap();
            assert_eq!(squares, (0..20).map(|i| i * i).collect::<Vec<_>>());
            let failing = |at: usize| -> Result<usize> {
                if at % 3 == 2 {
                    // the first one takes longest
                    std::thread::sleep(std::time::Duration::from_millis(20 - at as u64));
                    let value = at.to_string();
                    return Err(ErrorKind::Option { option: "x", value }.into());
                }
                Ok(at)
            };
            let error = pool.install(|| in_parallel(20, &failing)).unwrap_err();
            let first = ErrorKind::Option {
                option: "x",
                value: "2".to_owned(),
            };
            assert_eq!(*error.kind(), first, "{threads} threads");
        }
    }
}
