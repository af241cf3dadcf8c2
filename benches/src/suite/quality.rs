//! Entries about how well and how soon hidden values are explained, and about convergence.

use std::error::Error;

use super::page::Page;
use super::peers::{self, Peer};
use super::runs::{Run, ours};
use super::setting::Setting;
use super::speed::{BY_FEATURE, Done, MOFA, absent, legend};
use super::spread::figure;
use crate::sheet::{NOTHING, Sheet};

/// Numbers of sweeps after which held-out values are looked at.
const STEPS: [usize; 20] = [
    1, 2, 3, 4, 5, 7, 10, 14, 20, 28, 40, 56, 80, 112, 160, 224, 320, 640, 1280, 3000,
];

/// Hidden values explained when a fit has ended, and how soon.
pub fn quality(setting: &Setting, page: &mut Page) -> Done {
    let mut sheet = Sheet::new(
        "",
        &[
            "case",
            "program",
            "R² of hidden cells by view",
            "sweeps",
            "seconds",
            "seconds to 99.9 % of the best",
        ],
    );
    let cases = setting.choose(&["S"][..], &["S", "M", "W", "L", "T"]);
    legend(page, cases)?;
    for &name in cases {
        eprintln!("  {name}");
        let case = setting.case(name)?;
        let most = *STEPS.last().unwrap_or(&1);
        let ways = [
            ("polyview", &["--noise", "view"][..]),
            ("polyview, noise by feature", BY_FEATURE),
        ];
        let mut ended = Vec::new();
        for (_, args) in ways {
            ended.push(ours(setting, &case, true, most, args)?);
        }
        // hours to the end of these
        let slow = ["L", "T"].contains(&name);
        let sweeps = if slow { 30 } else { most };
        let theirs = peers::run(setting, Peer::Mofapy2, &case, true, sweeps, 600);
        let all = ended.iter().chain(theirs.as_ref().ok());
        let target = 0.999 * all.map(Run::mean_held).fold(f64::NEG_INFINITY, f64::max);
        let enough = |r: &Run| r.mean_held() >= target;
        for ((program, args), run) in ways.iter().zip(&ended) {
            let soon = shortest(1, enough, |n| ours(setting, &case, true, n, args))?;
            sheet
                .rows
                .push(quality_row(name, program, run, found(soon)));
        }
        match theirs {
            Err(why) => sheet.rows.push(vec![
                name.to_owned(),
                Peer::Mofapy2.name().to_owned(),
                absent(page, Peer::Mofapy2, &why),
                NOTHING.into(),
                NOTHING.into(),
                NOTHING.into(),
            ]),
            Ok(run) => {
                let soon = if slow || setting.quick {
                    "not searched".to_owned()
                } else {
                    // it looks at its bound every five iterations
                    found(shortest(5, enough, |n| {
                        peers::run(setting, Peer::Mofapy2, &case, true, n, 600)
                            .map_err(|why| format!("{why:?}").into())
                    })?)
                };
                sheet
                    .rows
                    .push(quality_row(name, Peer::Mofapy2.name(), &run, soon));
            }
        }
    }
    page.sheet(&sheet);
    Ok(())
}

fn quality_row(case: &str, program: &str, run: &Run, soon: String) -> Vec<String> {
    let held: Vec<String> = run.held.iter().map(|x| format!("{x:.4}")).collect();
    vec![
        case.to_owned(),
        program.to_owned(),
        held.join(" "),
        format!("{} ({})", run.sweeps, run.stop),
        figure(run.seconds),
        soon,
    ]
}

/// The shortest of runs of more and more sweeps, at least so many, that is good enough. The
/// search ends where a run has converged: more sweeps change nothing.
///
/// # Errors
/// What a run ends with.
pub fn shortest(
    least: usize,
    enough: impl Fn(&Run) -> bool,
    run: impl Fn(usize) -> Result<Run, Box<dyn Error>>,
) -> Result<Option<Run>, Box<dyn Error>> {
    for n in STEPS.into_iter().filter(|n| *n >= least) {
        let r = run(n)?;
        if enough(&r) {
            return Ok(Some(r));
        }
        if r.sweeps < n as u64 {
            break;
        }
    }
    Ok(None)
}

/// Seconds and sweeps of a run that was looked for.
fn found(run: Option<Run>) -> String {
    run.map_or_else(
        || "not reached".to_owned(),
        |r| format!("{} ({} sweeps)", figure(r.seconds), r.sweeps),
    )
}

/// Seconds until every view's error is at most that of mofapy2 at the end of its mode `slow`.
pub fn mofa_time(setting: &Setting, page: &mut Page) -> Done {
    let mut sheet = Sheet::new(
        "",
        &[
            "case",
            "mofapy2 slow: errors by view",
            "iterations",
            "seconds",
            "polyview: errors by view",
            "sweeps",
            "seconds",
            "times as fast",
        ],
    );
    let errors = |r: &Run| -> String {
        let e: Vec<String> = r.errors.iter().map(|x| format!("{x:.4}")).collect();
        e.join(" ")
    };
    let cases = setting.choose(&["S"][..], &["S", "M", "W", "H"]);
    legend(page, cases)?;
    for &name in cases {
        eprintln!("  {name}");
        let case = setting.case(name)?;
        let theirs = match peers::run(setting, Peer::Mofapy2Slow, &case, true, 5000, 1500) {
            Ok(run) => run,
            Err(why) => {
                let mut row = vec![NOTHING.to_owned(); sheet.columns.len()];
                name.clone_into(&mut row[0]);
                row[1] = absent(page, Peer::Mofapy2Slow, &why);
                sheet.rows.push(row);
                continue;
            }
        };
        let enough = |r: &Run| r.at_most(&theirs.errors);
        let mine = shortest(1, enough, |n| ours(setting, &case, true, n, MOFA))?;
        let mut row = vec![
            name.to_owned(),
            errors(&theirs),
            format!("{} ({})", theirs.sweeps, theirs.stop),
            figure(theirs.seconds),
        ];
        row.extend(match mine {
            Some(mine) => [
                errors(&mine),
                mine.sweeps.to_string(),
                figure(mine.seconds),
                figure(theirs.seconds / mine.seconds),
            ],
            None => ["not reached", NOTHING, NOTHING, NOTHING].map(str::to_owned),
        });
        sheet.rows.push(row);
    }
    page.sheet(&sheet);
    Ok(())
}

/// Sweeps to convergence with and without rotations.
pub fn rotation(setting: &Setting, page: &mut Page) -> Done {
    let mut sheet = Sheet::new("", &["case", "sweeps with rotations", "without"]);
    let cases = setting.choose(&["S"][..], &["S", "M", "W", "L", "T"]);
    legend(page, cases)?;
    for &name in cases {
        eprintln!("  {name}");
        let case = setting.case(name)?;
        let sweeps = |args: &[&str]| -> Result<String, Box<dyn Error>> {
            let run = ours(setting, &case, false, 5000, args)?;
            Ok(run.sweeps.to_string())
        };
        sheet.rows.push(vec![
            name.to_owned(),
            sweeps(&["--no-scores"])?,
            sweeps(&["--no-scores", "--no-rotation"])?,
        ]);
    }
    page.sheet(&sheet);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// A run that explains half of the hidden values after four sweeps and ends after eight.
    fn run(n: usize) -> Run {
        let held = if n < 4 { 0.4 } else { 0.5 };
        Run::of_case(&json!({"cpu_s": 2.0, "n_iter": n.min(8), "views": [{"r2_held": held}]}))
    }

    #[test]
    fn the_shortest_run_that_is_good_enough_counts() {
        let asked = std::cell::RefCell::new(Vec::new());
        let search = |least: usize, target: f64| {
            asked.borrow_mut().clear();
            let run = shortest(
                least,
                |r| r.mean_held() >= target,
                |n| {
                    asked.borrow_mut().push(n);
                    Ok(run(n))
                },
            );
            found(run.unwrap())
        };
        assert_eq!(search(1, 0.5), "2.00 (4 sweeps)");
        assert_eq!(*asked.borrow(), [1, 2, 3, 4]);
        // ten sweeps were allowed and eight were made: no use to go on
        assert_eq!(search(5, 0.6), "not reached");
        assert_eq!(*asked.borrow(), [5, 7, 10]);
    }
}
