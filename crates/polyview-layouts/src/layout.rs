//! Visits of subjects as rows of a multi-view study.

use std::collections::{BTreeMap, HashMap};

use polyview_core::counted;
use polyview_io::{DecimalMark, RowTable};

use crate::cells::{Columns, places};
use crate::plan::said;
use crate::{Content, LayoutError, Part, Plan, Windows};

/// What a table of a layout is for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Role {
    /// What was known so long before the time of the row.
    Past(f64),
    /// What does not change.
    Fixed,
    /// What holds at the time.
    Target,
}

/// A table: of a view, of one lag of it, or of a target.
#[derive(Clone, Debug, PartialEq)]
pub struct Laid {
    /// Its name: that of its part, of what is repeated with the lag: `brain-6`.
    pub name: String,
    /// The part that it is of.
    pub part: String,
    /// What it is for.
    pub role: Role,
    /// What its cells hold; never [`Content::Measured`].
    pub content: Content,
    /// Names of its columns.
    pub columns: Vec<String>,
    /// A vector a column, an entry a row.
    pub cells: Vec<Vec<Option<String>>>,
}

/// Rows of a study: subjects at times.
#[derive(Clone, Debug, PartialEq)]
pub struct Rows {
    /// Their names: `SUBJECT@TIME`.
    pub samples: Vec<String>,
    /// Their subjects.
    pub subjects: Vec<String>,
    /// Their times.
    pub times: Vec<f64>,
    /// Their tables: what is repeated from the longest lag on, what is fixed, targets.
    pub tables: Vec<Laid>,
}

/// A study of repeated visits.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    /// Rows of training: those whose targets are known, some of them at least, unless the plan says otherwise.
    pub training: Rows,
    /// Rows of which targets are to be said; these are known where there was such a visit, to judge by.
    pub new: Rows,
    /// What was left out, in words.
    pub remarks: Vec<String>,
    /// What is likely to make predictions of new samples worse, and what to do about it.
    pub warnings: Vec<String>,
}

/// A subject and its visits by their places on the grid of steps.
struct Subject {
    name: String,
    visits: BTreeMap<i64, usize>,
}

/// Lays visits out (spec/thesis 9): a row is a subject at a time of a multiple of the step at which a target is known; its views are what was known at
/// one to `window` steps before, a view for each (from `ahead` steps before, where that is more than 1), missing where there was no visit. Visits belong to the nearest multiple of the step.
///
/// # Errors
/// [`LayoutError`], which names line, column and the mend.
pub fn lay_out(table: &RowTable, plan: &Plan) -> Result<Layout, LayoutError> {
    plan.check()?;
    all_there(table, plan)?;
    let (mut remarks, mut warnings) = (Vec::new(), Vec::new());
    let (subjects, times) = subjects(table, plan, &mut remarks)?;
    let parts = |all: &[Part], what: &str| -> Result<Vec<Columns>, LayoutError> {
        all.iter()
            .map(|p| Columns::of(table, plan, p, what))
            .collect()
    };
    let all = Parts {
        views: parts(&plan.views, "view")?,
        fixed: parts(&plan.fixed, "fixed view")?,
        targets: parts(&plan.targets, "target")?,
    };
    let last = plan.last_place();
    let seen = |at: i64| at <= last;
    if let Some(time) = plan.predict_at {
        let taken = plan.taken(time);
        if (time - taken).abs() > 1e-9 * plan.step {
            remarks.push(format!(
                "the time of new samples is {}, the multiple of the step that is nearest to {}",
                said(taken),
                said(time)
            ));
        }
        warnings.extend(too_far(plan));
    }

    let (mut training, alone) = training_rows(&subjects, plan, last, &all);
    if alone > 0 {
        let (have, are) = match alone {
            1 => ("has", "it is no row"),
            _ => ("have", "they are no rows"),
        };
        remarks.push(format!(
            "{} with a target {have} nothing known at the {} before: {are}",
            counted(alone, "visit"),
            counted(plan.window, "visit")
        ));
    }
    if training.is_empty() {
        return Err(LayoutError::Nothing {
            what: "the training data",
            mend: "no visit with a target has a visit before it within the window; give another --step, --window or --until",
        });
    }
    let mut new = Vec::new();
    for (s, subject) in subjects.iter().enumerate() {
        let own_last = subject.visits.keys().rev().find(|at| seen(**at));
        let Some(own_last) = own_last else { continue };
        let ahead = plan.ahead as i64;
        let at = (plan.predict_at).map_or(own_last + ahead, |t| plan.place(t));
        if past(subject, plan, at, last, &all.views) {
            new.push((s, at));
        }
    }
    if new.is_empty()
        && let Some(time) = plan.predict_at
    {
        remarks.push(format!(
            "there are no new samples: nobody has a visit known at the {} of the window before {} that training may see, up to {}; \
             give an earlier time of new samples, a larger window, or a later end of training",
            counted(plan.window, "visit"),
            said(time),
            said(plan.last())
        ));
    }
    let fixed = Fixed::of(&subjects, &times, &all.fixed, plan.last());
    if fixed.varying > 0 {
        remarks.push(format!(
            "{} values of fixed views change over the visits of a subject; the first was taken",
            fixed.varying
        ));
    }
    let build = |rows: &[(usize, i64)], targets: i64| {
        all.rows(&subjects, plan, rows, [last, targets], &fixed)
    };
    if plan.windows == Windows::AllAndNew {
        training.extend(&new);
    }
    let (mut training, mut new) = (build(&training, last), build(&new, i64::MAX));
    let empty = drop_unknown(&mut training, &mut new);
    if empty > 0 {
        remarks.push(format!(
            "{empty} columns have no value in any row of training and were left out"
        ));
    }
    Ok(Layout {
        training,
        new,
        remarks,
        warnings,
    })
}

/// Refuses columns that the table does not have, before any cell is looked at.
fn all_there(table: &RowTable, plan: &Plan) -> Result<(), LayoutError> {
    for name in [&plan.subject, &plan.time] {
        column(table, name)?;
    }
    let parts = [
        ("view", &plan.views),
        ("fixed view", &plan.fixed),
        ("target", &plan.targets),
    ];
    for (what, parts) in parts {
        for part in parts {
            places(table, plan, part, &format!("{what} '{}'", part.name))?;
        }
    }
    Ok(())
}

fn column<'a>(table: &'a RowTable, name: &str) -> Result<&'a [Option<String>], LayoutError> {
    table.column(name).ok_or_else(|| LayoutError::NoColumn {
        name: name.to_owned(),
        have: table.columns.clone(),
    })
}

/// What is to be said where new samples are further from the last visit that training may see than the rows of
/// training are: views that these have and new samples lack.
fn too_far(plan: &Plan) -> Option<String> {
    let at = plan.place(plan.predict_at?);
    let last = plan.last_place();
    let steps = at - last;
    let lacking: Vec<String> = (plan.lags())
        .filter(|lag| at - lag > last)
        .flat_map(|lag| plan.views.iter().map(move |part| (part, lag)))
        .map(|(part, lag)| format!("{}-{}", part.name, said(lag as f64 * plan.step)))
        .collect();
    if lacking.is_empty() {
        return None;
    }
    Some(format!(
        "new samples lack {}: they are {steps} steps after {}, the last time that training sees, and rows of training look {} \
         ahead; their factors follow from the other views alone, and what they lack is taken to be what these factors \
         say; lay out with --ahead {steps}, for rows that look as far ahead as new samples do, or a later --until",
        lacking.join(", "),
        said(plan.last()),
        if plan.ahead == 1 {
            "one step".to_owned()
        } else {
            format!("{} steps", plan.ahead)
        }
    ))
}

/// The rows of training, and how many visits with a target are none since nothing was known before.
fn training_rows(
    subjects: &[Subject],
    plan: &Plan,
    last: i64,
    all: &Parts,
) -> (Vec<(usize, i64)>, usize) {
    let (mut out, mut alone) = (Vec::new(), 0);
    let before_new = plan.predict_at.map(|time| plan.place(time) - 1);
    for (s, subject) in subjects.iter().enumerate() {
        let mut visits = subject.visits.range(..=last);
        let with_target = visits.clone().filter(|(_, row)| known(&all.targets, **row));
        let with_target: Vec<i64> = with_target.map(|(at, _)| *at).collect();
        alone += (with_target.iter())
            .filter(|at| !past(subject, plan, **at, last, &all.views))
            .count();
        let places = match (plan.windows, visits.next(), visits.next_back()) {
            (Windows::WithTargets, ..) => with_target,
            (_, Some((first, _)), end) => {
                let end = end.map_or(*first, |(at, _)| *at);
                (*first..=before_new.unwrap_or(end)).collect()
            }
            (_, None, _) => Vec::new(),
        };
        let rows = places.into_iter();
        let rows = rows.filter(|at| past(subject, plan, *at, last, &all.views));
        out.extend(rows.map(|at| (s, at)));
    }
    (out, alone)
}

/// The subjects in the order of the table, and the time of each row.
fn subjects(
    table: &RowTable,
    plan: &Plan,
    remarks: &mut Vec<String>,
) -> Result<(Vec<Subject>, Vec<f64>), LayoutError> {
    let (names, times) = (column(table, &plan.subject)?, column(table, &plan.time)?);
    let mut out: Vec<Subject> = Vec::new();
    let mut index: HashMap<&str, usize> = HashMap::new();
    let mut exact: HashMap<(usize, u64), usize> = HashMap::new();
    let mut all = Vec::with_capacity(names.len());
    let (mut off, mut nearer) = (0, 0);
    for (row, (name, time)) in names.iter().zip(times).enumerate() {
        let line = table.lines[row];
        let Some(name) = name else {
            return Err(LayoutError::NoSubject {
                line,
                column: plan.subject.clone(),
            });
        };
        let text = time.as_deref().unwrap_or("");
        let with_point = match plan.decimal {
            DecimalMark::Point => text.to_owned(),
            DecimalMark::Comma => text.replace(',', "."),
        };
        let number: Option<f64> = with_point.trim().parse().ok();
        let number = number.filter(|x| x.is_finite() && (x / plan.step).abs() < 1e12);
        let Some(time) = number else {
            return Err(LayoutError::NoTime {
                line,
                column: plan.time.clone(),
                found: text.to_owned(),
            });
        };
        all.push(time);
        let s = *index.entry(name).or_insert_with(|| {
            out.push(Subject {
                name: name.clone(),
                visits: BTreeMap::new(),
            });
            out.len() - 1
        });
        if let Some(first) = exact.insert((s, (time + 0.0).to_bits()), row) {
            return Err(LayoutError::DuplicateVisit {
                subject: name.clone(),
                time,
                first: table.lines[first],
                second: line,
            });
        }
        let at = plan.place(time);
        let distance = |time: f64| (time - at as f64 * plan.step).abs();
        // what rounding of multiples leaves is no distance
        if plan
            .tolerance
            .is_some_and(|t| distance(time) > t + 1e-9 * plan.step)
        {
            off += 1;
            continue;
        }
        let visits = &mut out[s].visits;
        match visits.get(&at) {
            Some(&other) => {
                nearer += 1;
                if distance(time) < distance(all[other]) {
                    visits.insert(at, row);
                }
            }
            None => {
                visits.insert(at, row);
            }
        }
    }
    if off > 0 {
        remarks.push(format!(
            "{off} visits are further than the tolerance from a multiple of the step and were left out"
        ));
    }
    if nearer > 0 {
        remarks.push(format!(
            "{nearer} visits share a multiple of the step with another one of the subject; the nearer was taken"
        ));
    }
    Ok((out, all))
}

/// Whether anything of some columns is known in a row of the table.
fn known(columns: &[Columns], row: usize) -> bool {
    let mut all = columns.iter().flat_map(|c| &c.cells);
    all.any(|cells| cells[row].is_some())
}

/// Whether anything is known at a visit of the window before a place, none later than `last`.
fn past(subject: &Subject, plan: &Plan, at: i64, last: i64, views: &[Columns]) -> bool {
    let mut rows = plan.lags().filter_map(|lag| visit(subject, at - lag, last));
    rows.any(|row| known(views, row))
}

fn visit(subject: &Subject, at: i64, last: i64) -> Option<usize> {
    (at <= last).then(|| subject.visits.get(&at).copied())?
}

/// The first known value of each fixed column of each subject.
struct Fixed {
    /// Subjects × fixed columns, those of all parts one after another.
    values: Vec<Vec<Option<String>>>,
    varying: usize,
}

impl Fixed {
    fn of(subjects: &[Subject], times: &[f64], fixed: &[Columns], last: f64) -> Self {
        let mut varying = 0;
        let mut values = Vec::with_capacity(subjects.len());
        for subject in subjects {
            let mut rows: Vec<usize> = subject.visits.values().copied().collect();
            rows.retain(|r| times[*r] <= last);
            let mut own = Vec::new();
            for cells in fixed.iter().flat_map(|c| &c.cells) {
                let mut seen = rows.iter().filter_map(|r| cells[*r].as_ref());
                let first = seen.next();
                varying += usize::from(seen.any(|other| Some(other) != first));
                own.push(first.cloned());
            }
            values.push(own);
        }
        Self { values, varying }
    }
}

/// The columns of all parts.
struct Parts {
    views: Vec<Columns>,
    fixed: Vec<Columns>,
    targets: Vec<Columns>,
}

impl Parts {
    /// The tables of rows; no visit after `last` is seen, and none after `last_target` at their own times.
    fn rows(
        &self,
        subjects: &[Subject],
        plan: &Plan,
        rows: &[(usize, i64)],
        [last, last_target]: [i64; 2],
        fixed: &Fixed,
    ) -> Rows {
        let times: Vec<f64> = rows.iter().map(|(_, at)| *at as f64 * plan.step).collect();
        let names: Vec<String> = rows
            .iter()
            .map(|(s, _)| subjects[*s].name.clone())
            .collect();
        let at_lag = |lag: i64| -> Vec<Option<usize>> {
            let of = |(s, at): &(usize, i64)| {
                let last = if lag == 0 { last_target } else { last };
                visit(&subjects[*s], at - lag, last)
            };
            rows.iter().map(of).collect()
        };
        let table = |of: &Columns, role: Role, visits: &[Option<usize>]| {
            let cells = |cells: &Vec<Option<String>>| {
                let of = |row: &Option<usize>| row.and_then(|r| cells[r].clone());
                visits.iter().map(of).collect()
            };
            Laid {
                name: match role {
                    Role::Past(lag) => format!("{}-{}", of.name, said(lag)),
                    _ => of.name.clone(),
                },
                part: of.name.clone(),
                role,
                content: of.content,
                columns: of.names.clone(),
                cells: of.cells.iter().map(cells).collect(),
            }
        };
        let mut tables = Vec::new();
        for part in &self.views {
            for lag in plan.lags().rev() {
                let role = Role::Past(lag as f64 * plan.step);
                tables.push(table(part, role, &at_lag(lag)));
            }
        }
        let mut first = 0;
        for part in &self.fixed {
            let of = |d: usize| {
                let cell = |(s, _): &(usize, i64)| fixed.values[*s][first + d].clone();
                rows.iter().map(cell).collect()
            };
            tables.push(Laid {
                name: part.name.clone(),
                part: part.name.clone(),
                role: Role::Fixed,
                content: part.content,
                columns: part.names.clone(),
                cells: (0..part.names.len()).map(of).collect(),
            });
            first += part.names.len();
        }
        for part in &self.targets {
            tables.push(table(part, Role::Target, &at_lag(0)));
        }
        Rows {
            samples: (names.iter().zip(&times))
                .map(|(name, time)| format!("{name}@{}", said(*time)))
                .collect(),
            subjects: names,
            times,
            tables,
        }
    }
}

/// Takes out columns, and tables, of which no row of training knows anything; returns how many columns.
fn drop_unknown(training: &mut Rows, new: &mut Rows) -> usize {
    let mut empty = 0;
    for (t, n) in training.tables.iter_mut().zip(&mut new.tables) {
        let keep: Vec<bool> = t
            .cells
            .iter()
            .map(|c| c.iter().any(Option::is_some))
            .collect();
        empty += keep.iter().filter(|k| !**k).count();
        for laid in [t, n] {
            let mut kept = keep.iter();
            laid.columns
                .retain(|_| kept.next().copied().unwrap_or(false));
            let mut kept = keep.iter();
            laid.cells.retain(|_| kept.next().copied().unwrap_or(false));
        }
    }
    for rows in [training, new] {
        rows.tables.retain(|t| !t.columns.is_empty());
    }
    empty
}
