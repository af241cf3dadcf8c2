//! What a layout is to be.

use polyview_io::DecimalMark;

use crate::LayoutError;

/// What the cells of a part hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Numbers, or numbers and limits (`<0.05`, `>1300`, `[2;5]`) where there are any.
    Measured,
    /// Numbers alone.
    Numbers,
    /// Numbers, limits and intervals.
    Limits,
    /// One column of classes.
    Classes,
    /// Words or numbers as they stand, such as ordered levels.
    Words,
    /// Zeros and ones; words become a column of zeros and ones for each of them.
    Indicators,
}

/// Columns of the visits that become a view, or one at each of several visits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its name.
    pub name: String,
    /// Names of columns, in which `*` stands for any characters and `?` for one.
    pub patterns: Vec<String>,
    /// What the columns hold.
    pub content: Content,
}

/// Which windows are rows of training.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Windows {
    /// Those at whose time a target is known.
    #[default]
    WithTargets,
    /// Those in which anything is known, up to the step before the time of new samples: what is repeated tells of factors without targets too.
    All,
    /// These, and the new samples themselves, whose targets are empty: the transductive form (spec/thesis 9.2).
    AllAndNew,
}

/// A multi-view study of repeated visits (spec/thesis 9): what is known at some visits before a time, to say what holds at that time.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The column of subjects.
    pub subject: String,
    /// The column of times.
    pub time: String,
    /// Which character parts the whole from the fraction.
    pub decimal: DecimalMark,
    /// Time between two visits of a window, above 0.
    pub step: f64,
    /// Visits of a window: `ahead`, `ahead` + 1, ... steps before its time.
    pub window: usize,
    /// Steps from the last visit of a window to its time, 1 at least: how far ahead is predicted.
    pub ahead: usize,
    /// How far a visit may be from a multiple of the step; none for half a step, so that each visit counts.
    pub tolerance: Option<f64>,
    /// The last time that training sees; none for `ahead` steps before `predict_at`, or for all.
    pub until: Option<f64>,
    /// The time of which new samples are; none for `ahead` steps after each subject's last visit.
    pub predict_at: Option<f64>,
    /// What is repeated.
    pub views: Vec<Part>,
    /// What does not change with time.
    pub fixed: Vec<Part>,
    /// What is to be said of a time.
    pub targets: Vec<Part>,
    /// Limits become numbers: the limits themselves.
    pub set_to_limits: bool,
    /// Which windows are rows of training.
    pub windows: Windows,
}

impl Plan {
    /// Checks what can be checked before any visit is read.
    ///
    /// # Errors
    /// [`LayoutError`]: numbers out of their range, nothing to lay out, names that cannot be, new samples at a time that
    /// training sees.
    pub fn check(&self) -> Result<(), LayoutError> {
        let range = |what, value: f64, fits: bool, range| {
            if fits {
                Ok(())
            } else {
                Err(LayoutError::OutOfRange { what, value, range })
            }
        };
        let positive = self.step.is_finite() && self.step > 0.0;
        range("the step", self.step, positive, "a number above 0")?;
        let window = (1..=1000).contains(&self.window);
        range("the window", self.window as f64, window, "1 to 1000 visits")?;
        let ahead = (1..=1000).contains(&self.ahead);
        range(
            "the number of steps ahead",
            self.ahead as f64,
            ahead,
            "1 to 1000 steps",
        )?;
        if let Some(t) = self.tolerance {
            let fits = (0.0..=self.step / 2.0).contains(&t);
            range("the tolerance", t, fits, "0 to half the step")?;
        }
        for (what, at) in [
            ("the last time of training", self.until),
            ("the time of new samples", self.predict_at),
        ] {
            let at = at.unwrap_or(0.0);
            range(what, at, at.is_finite(), "a number")?;
        }
        if self.views.is_empty() {
            return Err(LayoutError::Nothing {
                what: "the list of views",
                mend: "name what is known at visits",
            });
        }
        if self.targets.is_empty() {
            return Err(LayoutError::Nothing {
                what: "the list of targets",
                mend: "name what is to be predicted",
            });
        }
        let parts = || self.views.iter().chain(&self.fixed).chain(&self.targets);
        for (i, part) in parts().enumerate() {
            let name = &part.name;
            let fits = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
            if name.is_empty() || name.starts_with(['.', '-']) || !name.chars().all(fits) {
                return Err(LayoutError::BadName { name: name.clone() });
            }
            if parts().take(i).any(|other| other.name == *name) {
                return Err(LayoutError::SameName { name: name.clone() });
            }
        }
        if let Some(time) = self.predict_at {
            let taken = self.taken(time);
            if self.place(time) <= self.last_place() {
                return Err(LayoutError::SeenBefore {
                    predict_at: said(taken),
                    until: said(self.last()),
                    before: said(taken - self.gap()),
                });
            }
        }
        Ok(())
    }

    /// Time from the last visit of a window to its own.
    fn gap(&self) -> f64 {
        self.ahead as f64 * self.step
    }
    /// How many steps before its time the visits of a window are.
    pub(crate) fn lags(&self) -> std::ops::Range<i64> {
        self.ahead as i64..(self.ahead + self.window) as i64
    }
    /// The multiple of the step that is nearest to a time.
    pub(crate) fn place(&self, time: f64) -> i64 {
        (time / self.step).round() as i64
    }
    /// That multiple as a time.
    pub(crate) fn taken(&self, time: f64) -> f64 {
        self.place(time) as f64 * self.step
    }
    /// The multiple that is the last time of training.
    pub(crate) fn last_place(&self) -> i64 {
        self.place(self.last().min(1e15))
    }

    /// The last time that training sees.
    pub(crate) fn last(&self) -> f64 {
        let before = self.predict_at.map(|at| at - self.gap());
        self.until.or(before).unwrap_or(f64::INFINITY)
    }
}

/// A number as names have it.
pub(crate) fn said(x: f64) -> String {
    // -0 and what rounding of the step leaves
    let x = (x * 1e9).round() / 1e9 + 0.0;
    format!("{x}")
}

/// Whether a name matches a pattern of characters, `*` and `?`.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), name.chars().collect());
    let (mut p, mut n) = (0, 0);
    // where the last star stands, and up to where it has taken the name
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(c) if *c == '?' || *c == name[n] => {
                p += 1;
                n += 1;
            }
            _ => match star {
                Some((at, taken)) => {
                    star = Some((at, taken + 1));
                    p = at + 1;
                    n = taken + 1;
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        for (pattern, name, fits) in [
            ("abc", "abc", true),
            ("abc", "abcd", false),
            ("csf_*", "csf_tau", true),
            ("csf_*", "csf", false),
            ("*", "", true),
            ("*_bl", "x_y_bl", true),
            ("*a*b", "xxayyb", true),
            ("*a*b", "xxayy", false),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("é*", "éa", true),
            ("[a]", "a", false),
        ] {
            assert_eq!(matches(pattern, name), fits, "{pattern} {name}");
        }
    }
}
