//! Progress: a bar on a terminal, a line every few seconds elsewhere.

use std::cell::Cell;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use polyview::{ChooseKProgress, CrossValidateProgress, Progress, SettleProgress};

use crate::output::aside;

/// Time between two lines where there is no terminal; what takes less has none.
const EVERY: Duration = Duration::from_secs(8);

/// Where progress goes.
enum Shown {
    Nothing,
    Terminal(ProgressBar),
    Lines(Pace),
}

/// Says when the next line is due.
#[derive(Default)]
struct Pace(Cell<Duration>);

impl Pace {
    fn is_due(&self, elapsed: Duration) -> bool {
        let due = elapsed.saturating_sub(self.0.get()) >= EVERY;
        if due {
            self.0.set(elapsed);
        }
        due
    }
}

/// Progress of one command with the time left, or nothing.
pub struct Bar {
    shown: Shown,
    started: Instant,
    sweeps: Cell<usize>,
    /// When the last sweep was shown.
    last: Cell<Duration>,
}

impl Bar {
    /// On standard error, unless somebody asked for quiet.
    pub fn new(quiet: bool) -> Self {
        let shown = if quiet {
            Shown::Nothing
        } else if std::io::stderr().is_terminal() {
            let bar = ProgressBar::new(1);
            if let Ok(style) = ProgressStyle::with_template("{bar:24} {msg}") {
                bar.set_style(style);
            }
            bar.enable_steady_tick(Duration::from_millis(250));
            Shown::Terminal(bar)
        } else {
            Shown::Lines(Pace::default())
        };
        Self {
            shown,
            started: Instant::now(),
            sweeps: Cell::new(0),
            last: Cell::default(),
        }
    }

    /// Shows where a fit is, after a sweep.
    pub fn show(&self, p: &Progress) {
        self.sweeps.set(self.sweeps.get() + 1);
        let (elapsed, sweeps) = (self.started.elapsed(), self.sweeps.get());
        self.last.set(elapsed);
        let place = (p.sweep, p.sweeps);
        self.put(elapsed, place, || of_fit(p, sweeps, elapsed));
    }

    /// Shows that a sweep is under way, where it takes long.
    pub fn under_way(&self, sweep: usize) {
        let elapsed = self.started.elapsed();
        if elapsed.saturating_sub(self.last.get()) < EVERY {
            return;
        }
        let first = self.sweeps.get() == 0;
        match &self.shown {
            Shown::Terminal(bar) if first => bar.set_message(of_sweep(sweep, elapsed)),
            Shown::Lines(pace) if pace.is_due(elapsed) => aside(of_sweep(sweep, elapsed)),
            _ => {}
        }
    }

    /// Shows where the settling of a view is.
    pub fn settle(&self, p: &SettleProgress) {
        let elapsed = self.started.elapsed();
        self.last.set(elapsed);
        self.put(elapsed, (0, 0), || {
            let time = duration(elapsed.as_secs_f64());
            let (view, sweep) = (&p.view, p.sweep + 1);
            match p.fold {
                Some((fold, folds)) => format!(
                    "choosing how to predict view '{view}', fold {fold} of {folds}, sweep {sweep}, {time} elapsed"
                ),
                None => format!("settling view '{view}', sweep {sweep}, {time} elapsed"),
            }
        });
    }

    /// Shows where a comparison is.
    pub fn compare(&self, p: &ChooseKProgress) {
        let elapsed = self.started.elapsed();
        self.put(elapsed, (p.work_done, p.work), || of_comparison(p, elapsed));
    }

    /// Shows where a cross-validation is.
    pub fn cross_validate(&self, p: &CrossValidateProgress) {
        let elapsed = self.started.elapsed();
        self.put(elapsed, (p.done, p.fits), || {
            with_time_left(p, (p.done, p.fits), elapsed)
        });
    }

    fn put(&self, elapsed: Duration, (at, of): (usize, usize), text: impl Fn() -> String) {
        match &self.shown {
            Shown::Terminal(bar) => {
                bar.set_length(of as u64);
                bar.set_position(at as u64);
                bar.set_message(text());
            }
            Shown::Lines(pace) if pace.is_due(elapsed) => aside(text()),
            Shown::Nothing | Shown::Lines(_) => {}
        }
    }

    /// Removes the bar.
    pub fn clear(&self) {
        if let Shown::Terminal(bar) = &self.shown {
            bar.finish_and_clear();
        }
    }
}

/// Where a fit is; `sweeps` of all its restarts are done.
fn of_fit(p: &Progress, sweeps: usize, elapsed: Duration) -> String {
    let elapsed_told = duration(elapsed.as_secs_f64());
    if p.before_start {
        return format!(
            "dense weights first, sweep {} of at most {}, {} factors, {elapsed_told} elapsed",
            p.sweep, p.sweeps, p.factors
        );
    }
    let restart = if p.restarts > 1 {
        format!("restart {} of {}, ", p.restart, p.restarts)
    } else {
        String::new()
    };
    let per_sweep = elapsed.as_secs_f64() / sweeps.max(1) as f64;
    let later = p.restarts.saturating_sub(p.restart);
    let limit = p.sweeps.saturating_sub(p.sweep);
    // all sweeps of a chain are carried out
    let (most, what) = if p.of_draws {
        ("", "log joint density of a draw")
    } else {
        ("at most ", "bound")
    };
    let left = match p.sweeps_left {
        // other restarts take about as many sweeps
        Some(rest) if !p.of_draws => {
            let rest = rest.min(limit);
            let sweeps = rest + later * (p.sweep + rest);
            about("about ", per_sweep * sweeps as f64)
        }
        _ => {
            let sweeps = limit + later * p.sweeps;
            about(most, per_sweep * sweeps as f64)
        }
    };
    let gain = p
        .gain
        .and_then(|gain| gain.left)
        .map_or_else(String::new, |left| format!(", about {left:.1} nats left"));
    format!(
        "{restart}sweep {} of {most}{}, {} factors, {what} {:.1}{gain}, {elapsed_told} elapsed, {left} left",
        p.sweep, p.sweeps, p.factors, p.objective
    )
}

/// That a sweep takes long.
fn of_sweep(sweep: usize, elapsed: Duration) -> String {
    let elapsed = duration(elapsed.as_secs_f64());
    format!("sweep {sweep} is under way, {elapsed} elapsed")
}

/// Where a comparison is. Fits take about as long as they have factors.
fn of_comparison(p: &ChooseKProgress, elapsed: Duration) -> String {
    with_time_left(p, (p.work_done, p.work), elapsed)
}

/// Where something is that is so much of its whole work, and the time left by that; before the
/// first fit is done nothing is known.
fn with_time_left(
    what: &impl std::fmt::Display,
    (done, work): (usize, usize),
    elapsed: Duration,
) -> String {
    let elapsed = elapsed.as_secs_f64();
    let left = match done {
        0 => "time left known after the first fit".to_owned(),
        done => {
            let rest = work.saturating_sub(done) as f64;
            format!("{} left", about("about ", elapsed * rest / done as f64))
        }
    };
    format!("{what}, {} elapsed, {left}", duration(elapsed))
}

/// A time that is not known well, with a word for that before it where it is a number.
fn about(word: &str, seconds: f64) -> String {
    match duration(seconds) {
        under if seconds < 0.5 => under,
        other => format!("{word}{other}"),
    }
}

/// A time in words, with as many digits as such a time deserves.
fn duration(seconds: f64) -> String {
    let whole = seconds.max(0.0).round() as u64;
    match whole {
        0 => "under 1 s".to_owned(),
        1..120 => format!("{whole} s"),
        120..7200 => format!("{} min", (whole + 30) / 60),
        7200..172_800 => format!("{:.1} h", seconds / 3600.0),
        _ => format!("{:.1} days", seconds / 86400.0),
    }
}

#[cfg(test)]
mod tests {
    use polyview::{ChooseKStage, GainLeft};

    use super::*;

    /// No line for what is over soon, then one each time that enough has passed.
    #[test]
    fn lines_come_at_a_pace() {
        let pace = Pace::default();
        let due: Vec<u64> = (0..40)
            .filter(|&s| pace.is_due(Duration::from_secs(s)))
            .collect();
        assert_eq!(due, [8, 16, 24, 32]);
        // one sweep that takes long is followed by one line
        assert!(pace.is_due(Duration::from_secs(100)));
        assert!(!pace.is_due(Duration::from_secs(101)));
    }

    #[test]
    fn a_line_says_where_a_fit_is() {
        let mut p = Progress {
            restart: 1,
            restarts: 1,
            before_start: false,
            sweep: 40,
            sweeps: 2000,
            objective: -1234.567,
            of_draws: false,
            change: 1e-3,
            factors: 8,
            gain: None,
            sweeps_left: None,
            done: false,
        };
        assert_eq!(
            of_fit(&p, 40, Duration::from_secs(16)),
            "sweep 40 of at most 2000, 8 factors, bound -1234.6, 16 s elapsed, at most 13 min left"
        );
        (p.restart, p.restarts, p.sweep) = (2, 3, 100);
        assert_eq!(
            of_fit(&p, 500, Duration::from_secs(50)),
            "restart 2 of 3, sweep 100 of at most 2000, 8 factors, bound -1234.6, 50 s elapsed, at most 7 min left"
        );
        (p.sweeps_left, p.gain) = (
            Some(60),
            Some(GainLeft {
                per_sweep: 0.2,
                left: Some(3.12),
            }),
        );
        assert_eq!(
            of_fit(&p, 500, Duration::from_secs(50)),
            "restart 2 of 3, sweep 100 of at most 2000, 8 factors, bound -1234.6, about 3.1 nats left, \
             50 s elapsed, about 22 s left"
        );
        // never more than the limit allows
        (p.restarts, p.sweeps_left) = (2, Some(10_000));
        assert!(of_fit(&p, 500, Duration::from_secs(50)).ends_with("about 3 min left"));
        // what comes before the start has no end of its own to tell the time by
        (p.before_start, p.sweep, p.sweeps) = (true, 12, 50);
        assert_eq!(
            of_fit(&p, 12, Duration::from_secs(50)),
            "dense weights first, sweep 12 of at most 50, 8 factors, 50 s elapsed"
        );
        (p.before_start, p.sweep, p.sweeps) = (false, 100, 2000);
        (p.restart, p.restarts, p.of_draws, p.gain) = (1, 1, true, None);
        assert_eq!(
            of_fit(&p, 100, Duration::from_secs(50)),
            "sweep 100 of 2000, 8 factors, log joint density of a draw -1234.6, 50 s elapsed, 16 min left"
        );
    }

    /// All fits count from the first on, and no time is promised before one is
    /// done.
    #[test]
    fn the_time_left_of_a_comparison_is_true() {
        let mut p = ChooseKProgress {
            factors: 1,
            stage: ChooseKStage::HeldOut(1),
            done: 0,
            fits: 18,
            work_done: 0,
            work: 42,
            sweep: 0,
        };
        assert_eq!(
            of_comparison(&p, Duration::ZERO),
            "fit 1 of 18: 1 factors, hidden cells 1, under 1 s elapsed, time left known after the first fit"
        );
        (p.factors, p.done, p.work_done, p.sweep) = (4, 2, 3, 17);
        assert_eq!(
            of_comparison(&p, Duration::from_secs(6)),
            "fit 3 of 18: 4 factors, hidden cells 1, sweep 17, 6 s elapsed, about 78 s left"
        );
    }

    #[test]
    fn durations() {
        for (seconds, text) in [
            (0.2, "under 1 s"),
            (119.0, "119 s"),
            (150.0, "3 min"),
            (9000.0, "2.5 h"),
            (432_000.0, "5.0 days"),
        ] {
            assert_eq!(duration(seconds), text);
        }
        assert_eq!(about("about ", 0.2), "under 1 s");
        assert_eq!(about("at most ", 0.6), "at most 1 s");
    }
}
