//! Entries about time and memory: pairs of whole runs, one right after the other, so that what
//! else the machine does meets both; ratios are taken within a pair.

use std::error::Error;

use super::page::Page;
use super::peers::{self, NotRun, Peer};
use super::runs::{Run, ours};
use super::setting::Setting;
use super::spread::Spread;
use crate::cases::Case;
use crate::sheet::{NOTHING, Sheet};

/// Sweeps of a run that measures time: so few that no program has dropped factors yet.
const SWEEPS: usize = 12;
/// Seconds of peers after which a pair is not repeated.
const LONG: f64 = 60.0;
/// Noise as mofapy2 has it.
pub const BY_FEATURE: &[&str] = &["--noise", "feature"];
/// The model of mofapy2.
pub const MOFA: &[&str] = &["--model", "mofa", "--noise", "feature"];

/// What an entry ends with.
pub type Done = Result<(), Box<dyn Error>>;

/// A line of a table of time: data, peer, and the options of polyview.
struct Line<'a> {
    case: &'a str,
    missing: bool,
    peer: Peer,
    args: &'a [&'a str],
}

fn share(missing: bool) -> String {
    if missing { "20 %" } else { "none" }.to_owned()
}

/// Says what the cases are.
///
/// # Errors
/// A name that does not exist.
pub fn legend(page: &mut Page, names: &[&str]) -> Done {
    let cases: Result<Vec<String>, String> = names
        .iter()
        .map(|name| Ok(format!("{name} {}", Case::named(name)?.extents())))
        .collect();
    page.note(&format!(
        "Cases, samples × features: {}.",
        cases?.join("; ")
    ));
    Ok(())
}

/// What a cell says of a peer that was not run.
pub fn absent(page: &mut Page, peer: Peer, why: &NotRun) -> String {
    match why {
        NotRun::NotAsked => "not run".to_owned(),
        NotRun::Failed(why) => {
            page.missing(format!("{} {why}", peer.name()));
            why.clone()
        }
    }
}

/// Runs of the peer and of polyview by turns. Where the peer cannot be run, those of polyview.
fn pairs(
    setting: &Setting,
    line: &Line<'_>,
) -> Result<(Result<Vec<Run>, NotRun>, Vec<Run>), Box<dyn Error>> {
    let case = setting.case(line.case)?;
    let args = [line.args, &["--no-scores"]].concat();
    let (mut theirs, mut mine) = (Ok(Vec::new()), Vec::new());
    for _ in 0..setting.repeats() {
        if let Ok(runs) = &mut theirs {
            match peers::run(setting, line.peer, &case, line.missing, SWEEPS, 600) {
                Ok(run) => runs.push(run),
                Err(why) => theirs = Err(why),
            }
        }
        mine.push(ours(setting, &case, line.missing, SWEEPS, &args)?);
        let spent = theirs
            .as_ref()
            .map_or(0.0, |runs| runs.iter().map(|r| r.seconds).sum());
        if spent > LONG {
            break;
        }
    }
    Ok((theirs, mine))
}

/// Time and memory beside peers.
fn beside(setting: &Setting, page: &mut Page, lines: &[Line<'_>]) -> Done {
    let mut sheet = Sheet::new(
        "",
        &[
            "case",
            "missing",
            "peer",
            "peer, ms",
            "polyview, ms",
            "times as fast",
            "pairs",
            "peer, MB",
            "polyview, MB (after reading)",
        ],
    );
    for line in lines {
        eprintln!(
            "  {} {} {}",
            line.case,
            share(line.missing),
            line.peer.name()
        );
        let (theirs, mine) = pairs(setting, line)?;
        let memory = format!(
            "{} ({})",
            Spread::middle(mine.iter().map(|r| r.peak)),
            Spread::middle(mine.iter().map(|r| r.read)),
        );
        let [ms, ratio, peak] = match &theirs {
            Ok(theirs) => [
                Spread::text(theirs.iter().map(|r| r.ms)),
                Spread::text(theirs.iter().zip(&mine).map(|(a, b)| a.ms / b.ms)),
                Spread::middle(theirs.iter().map(|r| r.peak)),
            ],
            Err(why) => [absent(page, line.peer, why), NOTHING.into(), NOTHING.into()],
        };
        sheet.rows.push(vec![
            line.case.to_owned(),
            share(line.missing),
            line.peer.name().to_owned(),
            ms,
            Spread::text(mine.iter().map(|r| r.ms)),
            ratio,
            mine.len().to_string(),
            peak,
            memory,
        ]);
    }
    page.sheet(&sheet);
    Ok(())
}

/// A sweep and its memory beside the peers with the same model.
pub fn speed(setting: &Setting, page: &mut Page) -> Done {
    let mut lines = Vec::new();
    let cases = setting.choose(&["S", "M"][..], &["S", "M", "W", "L", "T"]);
    legend(page, cases)?;
    for case in cases {
        // GFA has one noise precision a view, mofapy2 one for each feature
        for (missing, peer, args) in [
            (false, Peer::Gfa, &["--noise", "view"][..]),
            (false, Peer::Mofapy2, BY_FEATURE),
            (true, Peer::Mofapy2, BY_FEATURE),
        ] {
            lines.push(Line {
                case,
                missing,
                peer,
                args,
            });
        }
    }
    beside(setting, page, &lines)
}

/// The same with sparse weights.
pub fn mofa(setting: &Setting, page: &mut Page) -> Done {
    let cases = setting.choose(&["M", "H"][..], &["M", "W", "L", "T", "H"]);
    legend(page, cases)?;
    page.note("Case H has 500 real numbers, 200 labels and 200 counts.");
    let lines: Vec<Line<'_>> = cases
        .iter()
        .flat_map(|case| [(case, false), (case, true)])
        .map(|(case, missing)| Line {
            case,
            missing,
            peer: Peer::Mofapy2,
            args: MOFA,
        })
        .collect();
    beside(setting, page, &lines)
}

/// Two ways of polyview to do the same, by turns: what a sweep costs by each, and their ratio.
fn two_ways(
    setting: &Setting,
    (case, missing): (&str, bool),
    ways: [&[&str]; 2],
    cost: fn(&Run) -> f64,
) -> Result<(Vec<String>, [Vec<Run>; 2]), Box<dyn Error>> {
    eprintln!("  {case} {}", share(missing));
    let folder = setting.case(case)?;
    let mut runs = [Vec::new(), Vec::new()];
    for _ in 0..setting.repeats() {
        for (way, runs) in ways.iter().zip(&mut runs) {
            let args = [way, &["--no-scores"][..]].concat();
            runs.push(ours(setting, &folder, missing, SWEEPS, &args)?);
        }
    }
    let [a, b] = &runs;
    let row = vec![
        case.to_owned(),
        share(missing),
        Spread::text(a.iter().map(cost)),
        Spread::text(b.iter().map(cost)),
        Spread::text(a.iter().zip(b).map(|(a, b)| cost(a) / cost(b))),
        a.len().to_string(),
    ];
    Ok((row, runs))
}

/// Two threads against one.
pub fn threads(setting: &Setting, page: &mut Page) -> Done {
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        page.missing("threads: this machine has one core".to_owned());
        page.note("This machine has one core.");
        return Ok(());
    }
    let mut sheet = Sheet::new(
        "",
        &[
            "case",
            "missing",
            "one thread, ms",
            "two threads, ms",
            "times as fast",
            "pairs",
            "same bound",
        ],
    );
    let ways = ["1", "2"].map(|n| ["--noise", "feature", "--threads", n]);
    let cases = setting.choose(&["M"][..], &["M", "W", "L", "T"]);
    legend(page, cases)?;
    for case in cases {
        for missing in [false, true] {
            let ways = [&ways[0][..], &ways[1][..]];
            let (mut row, [a, b]) = two_ways(setting, (case, missing), ways, |r| r.wall_ms)?;
            let same = a.iter().chain(&b).all(|r| r.bound == a[0].bound);
            row.push(if same { "to the last bit" } else { "no" }.to_owned());
            sheet.rows.push(row);
        }
    }
    page.sheet(&sheet);
    Ok(())
}

/// Sweeps of compressed samples against sweeps of the data.
pub fn compression(setting: &Setting, page: &mut Page) -> Done {
    let mut sheet = Sheet::new(
        "",
        &[
            "case",
            "missing",
            "streaming, ms",
            "compressed samples, ms",
            "times as fast",
            "pairs",
        ],
    );
    let ways = ["streaming", "compress-samples"].map(|path| ["--path", path]);
    let cases = setting.choose(&["S"][..], &["S", "T"]);
    legend(page, cases)?;
    for case in cases {
        let ways = [&ways[0][..], &ways[1][..]];
        sheet
            .rows
            .push(two_ways(setting, (case, false), ways, |r| r.ms)?.0);
    }
    page.sheet(&sheet);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_nobody_asked_for_is_no_failure() {
        let mut page = Page::default();
        assert_eq!(absent(&mut page, Peer::Gfa, &NotRun::NotAsked), "not run");
        assert!(page.missing.is_empty());
        let why = NotRun::Failed("not installed: pip".into());
        assert_eq!(absent(&mut page, Peer::Gfa, &why), "not installed: pip");
        assert_eq!(page.missing, ["cca_zoo GFA not installed: pip"]);
    }
}
