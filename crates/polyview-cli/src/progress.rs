//! Progress on a terminal, quiet otherwise.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use polyview::Progress;

/// A progress bar with the time left, or nothing.
pub struct Bar(Option<ProgressBar>);

impl Bar {
    /// A bar on standard error, if it is a terminal and nobody asked for
    /// quiet.
    pub fn new(quiet: bool) -> Self {
        if quiet || !std::io::stderr().is_terminal() {
            return Self(None);
        }
        let bar = ProgressBar::new(1);
        if let Ok(style) =
            ProgressStyle::with_template("{prefix} {bar:24} {pos}/{len} {msg} at most {eta} left")
        {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(250));
        Self(Some(bar))
    }
    /// Shows where the fit is.
    pub fn show(&self, p: &Progress) {
        if let Some(bar) = &self.0 {
            bar.set_length(p.sweeps as u64);
            bar.set_position(p.sweep as u64);
            if p.restarts > 1 {
                bar.set_prefix(format!("restart {}/{}", p.restart, p.restarts));
            }
            bar.set_message(format!(
                "sweeps, {} factors, bound {:.1},",
                p.factors, p.objective
            ));
        }
    }
    /// Shows a message.
    pub fn say(&self, text: String) {
        if let Some(bar) = &self.0 {
            bar.set_message(text);
        }
    }
    /// Removes the bar.
    pub fn clear(&self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
