//! Ctrl-C, and the signal to end, while a fit is under way.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::failure::Failure;
use crate::output::{aside, failed};
use crate::progress::Bar;

/// Time that a sweep has to end by itself where nothing of it is kept.
const GRACE: Duration = Duration::from_secs(2);

/// Time between two looks at whether a sweep takes long.
const LOOK: Duration = Duration::from_millis(500);

/// What a fit and whoever stops it know of each other.
#[derive(Clone)]
pub struct Watch {
    bar: Arc<Mutex<Bar>>,
    stop: Arc<AtomicBool>,
    over: Arc<AtomicBool>,
    sweep: Arc<AtomicUsize>,
    /// Whether that is one of the sweeps before the start.
    before_start: Arc<AtomicBool>,
    checkpoint: Option<String>,
    /// Whether the engine has checkpoints.
    keeps: bool,
}

impl Watch {
    /// Listens from now on. With a checkpoint the first signal lets the sweep end, which is then
    /// kept, and the second ends the command at once; without one nothing is lost by doing so
    /// at the first, where the sweep does not end soon.
    pub fn begin(bar: Bar, checkpoint: Option<String>, keeps: bool) -> Self {
        let watch = Self {
            bar: Arc::new(Mutex::new(bar)),
            stop: Arc::default(),
            over: Arc::default(),
            sweep: Arc::default(),
            before_start: Arc::default(),
            checkpoint,
            keeps,
        };
        let own = watch.clone();
        // a second handler in one process is refused; then Ctrl-C just ends it
        let _ = ctrlc::set_handler(move || own.signalled());
        let own = watch.clone();
        std::thread::spawn(move || {
            while !own.over.load(Ordering::SeqCst) {
                std::thread::sleep(LOOK);
                own.bar().under_way(own.sweep.load(Ordering::SeqCst) + 1);
            }
        });
        watch
    }
    fn signalled(&self) {
        let again = self.stop.swap(true, Ordering::SeqCst);
        if !again && self.checkpoint.is_some() {
            aside("it ends after this sweep, which is kept; Ctrl-C again ends it at once");
            return;
        }
        if !again {
            std::thread::sleep(GRACE);
        }
        if !self.over.load(Ordering::SeqCst) {
            failed(&self.interrupted());
            std::process::exit(130);
        }
    }
    /// The bar.
    pub fn bar(&self) -> MutexGuard<'_, Bar> {
        self.bar.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// A sweep is done, maybe one of those before the start.
    pub fn done(&self, sweep: usize, before_start: bool) {
        self.sweep.store(sweep, Ordering::SeqCst);
        self.before_start.store(before_start, Ordering::SeqCst);
    }
    /// Whether somebody asked to stop.
    pub fn stopping(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }
    /// What an interrupted fit ends with.
    pub fn interrupted(&self) -> Failure {
        self.bar().clear();
        Failure::Interrupted {
            sweep: self.sweep.load(Ordering::SeqCst),
            before_start: self.before_start.load(Ordering::SeqCst),
            checkpoint: self.checkpoint.clone(),
            keeps: self.keeps,
        }
    }
    /// Nothing is left to be stopped.
    pub fn end(&self) {
        self.over.store(true, Ordering::SeqCst);
        self.bar().clear();
    }
}
