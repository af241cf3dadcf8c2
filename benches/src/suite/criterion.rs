//! Criterion's benchmarks against a saved baseline.

use std::error::Error;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::page::Page;
use super::setting::{Setting, checked};
use super::spread::figure;
use crate::sheet::{NOTHING, Sheet};

/// How much slower is worth a name.
const WORTH: f64 = 0.05;

/// What a quick run measures: Criterion's names match this.
const QUICK: &str = "^(product|solve_rows)/";

/// Median nanoseconds of a benchmark and its confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Estimate {
    low: f64,
    point: f64,
    high: f64,
}

/// What Criterion writes into `estimates.json`, as far as it is needed.
#[derive(Deserialize)]
struct Written {
    median: Point,
}

#[derive(Deserialize)]
struct Point {
    point_estimate: f64,
    confidence_interval: Interval,
}

#[derive(Deserialize)]
struct Interval {
    lower_bound: f64,
    upper_bound: f64,
}

/// What Criterion writes into `benchmark.json`, as far as it is needed.
#[derive(Deserialize)]
struct Named {
    full_id: String,
}

impl Estimate {
    fn parse(text: &str) -> Result<Self, serde_json::Error> {
        let Written { median } = serde_json::from_str(text)?;
        Ok(Self {
            low: median.confidence_interval.lower_bound,
            point: median.point_estimate,
            high: median.confidence_interval.upper_bound,
        })
    }

    /// Nanoseconds in the unit that suits them.
    fn time(ns: f64) -> String {
        let units = [(1e9, "s"), (1e6, "ms"), (1e3, "µs")];
        let (unit, name) = units.into_iter().find(|u| ns >= u.0).unwrap_or((1.0, "ns"));
        format!("{} {name}", figure(ns / unit))
    }
}

/// What a benchmark has done since the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// The interval of the ratio lies above 1.05.
    Slower,
    /// It lies below 0.95.
    Faster,
    /// Neither.
    AsBefore,
}

/// The ratio of new to old time, its lowest and highest value by both confidence intervals, and
/// what follows.
fn compare(new: &Estimate, old: &Estimate) -> ([f64; 3], Verdict) {
    let ratio = [
        new.low / old.high,
        new.point / old.point,
        new.high / old.low,
    ];
    let verdict = if ratio[0] > 1.0 + WORTH {
        Verdict::Slower
    } else if ratio[2] < 1.0 - WORTH {
        Verdict::Faster
    } else {
        Verdict::AsBefore
    };
    (ratio, verdict)
}

/// A benchmark as it was measured now, and as it was when the baseline was saved.
struct Bench {
    name: String,
    new: Estimate,
    old: Option<Estimate>,
}

/// The folders of Criterion's benchmarks below `home`: those that hold a folder `kind`, which is
/// `new` or a baseline.
fn folders(home: &Path, kind: &str) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    let mut left: Vec<PathBuf> = home.exists().then(|| home.to_owned()).into_iter().collect();
    while let Some(at) = left.pop() {
        if at.join(kind).join("estimates.json").exists() {
            found.push(at.clone());
        }
        let inside = std::fs::read_dir(&at).map_err(|e| format!("{}: {e}", at.display()))?;
        left.extend(inside.flatten().map(|e| e.path()).filter(|p| p.is_dir()));
    }
    found.sort();
    Ok(found)
}

/// All benchmarks below `home` that have a new measurement, by name.
fn benches(home: &Path, baseline: &str) -> Result<Vec<Bench>, String> {
    let read = |path: &Path| -> Result<String, String> {
        std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
    };
    let estimate = |folder: &Path| -> Result<Estimate, String> {
        let path = folder.join("estimates.json");
        Estimate::parse(&read(&path)?).map_err(|e| format!("{}: {e}", path.display()))
    };
    let mut found = Vec::new();
    for folder in folders(home, "new")? {
        let path = folder.join("new").join("benchmark.json");
        let named: Named =
            serde_json::from_str(&read(&path)?).map_err(|e| format!("{}: {e}", path.display()))?;
        let old = folder.join(baseline);
        found.push(Bench {
            name: named.full_id,
            new: estimate(&folder.join("new"))?,
            old: old.exists().then(|| estimate(&old)).transpose()?,
        });
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

/// The table of all benchmarks, and the names of those that are slower.
fn report(benches: &[Bench]) -> (Sheet, Vec<String>) {
    let columns = ["benchmark", "now", "baseline", "now / baseline", "verdict"];
    let mut sheet = Sheet::new("", &columns);
    let mut slower = Vec::new();
    for b in benches {
        let now = Estimate::time(b.new.point);
        let cells = match &b.old {
            None => [NOTHING.into(), NOTHING.into(), "new".into()],
            Some(old) => {
                let ([low, point, high], verdict) = compare(&b.new, old);
                if verdict == Verdict::Slower {
                    slower.push(b.name.clone());
                }
                let verdict = match verdict {
                    Verdict::Slower => "**slower**",
                    Verdict::Faster => "faster",
                    Verdict::AsBefore => "as before",
                };
                [
                    Estimate::time(old.point),
                    format!("{point:.2} ({low:.2} to {high:.2})"),
                    verdict.into(),
                ]
            }
        };
        let mut row = vec![b.name.clone(), now];
        row.extend(cells);
        sheet.rows.push(row);
    }
    (sheet, slower)
}

/// Runs the benchmarks and names those that are slower than the baseline, by more than 5 % with
/// the whole confidence interval. Without a baseline this run becomes it.
///
/// # Errors
/// Where Cargo or a benchmark fails, or what it wrote cannot be read.
pub fn run(setting: &Setting, page: &mut Page) -> Result<(), Box<dyn Error>> {
    let home = setting.target.join("criterion");
    // a quick run measures too shortly for the baseline of a full one
    let baseline = if setting.quick {
        "suite-quick"
    } else {
        "suite"
    };
    let save = setting.new_baseline || folders(&home, baseline)?.is_empty();
    // measurements of other days are not those of this run
    for folder in folders(&home, "new")? {
        std::fs::remove_dir_all(folder.join("new"))?;
    }
    let mut command = setting.cargo();
    command.args(["bench", "--quiet", "-p", "polyview-benches", "--"]);
    if setting.quick {
        command.args(["--warm-up-time", "0.5", "--measurement-time", "1", QUICK]);
    }
    command.arg(if save {
        "--save-baseline"
    } else {
        "--baseline-lenient"
    });
    command.arg(baseline).arg("--noplot");
    command
        .env("CRITERION_HOME", &home)
        .env("RAYON_NUM_THREADS", "1");
    checked(&mut command, "cargo bench")?;
    let mut benches = benches(&home, baseline)?;
    if save {
        for b in &mut benches {
            b.old = None;
        }
        page.note(&format!(
            "This run is the baseline that later ones are compared with (`{baseline}`, in `target/criterion`)."
        ));
    }
    let (sheet, slower) = report(&benches);
    if !save {
        page.note(&match &slower[..] {
            [] => "Nothing is slower than the baseline by more than 5 %.".to_owned(),
            names => format!(
                "Slower than the baseline by more than 5 %: {}.",
                names.join(", ")
            ),
        });
    }
    page.sheet(&sheet);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(low: f64, point: f64, high: f64) -> String {
        let part = |p: f64| {
            format!(
                r#"{{"confidence_interval":{{"confidence_level":0.95,"lower_bound":{low},
                "upper_bound":{high}}},"point_estimate":{p},"standard_error":1.0}}"#
            )
        };
        format!(
            r#"{{"mean":{},"median":{},"slope":null}}"#,
            part(0.0),
            part(point)
        )
    }

    fn at(low: f64, point: f64, high: f64) -> Estimate {
        Estimate { low, point, high }
    }

    #[test]
    fn medians_and_their_intervals_are_read() {
        let e = Estimate::parse(&written(9.0, 10.0, 12.0)).unwrap();
        assert_eq!(e, at(9.0, 10.0, 12.0));
        assert!(Estimate::parse("{}").is_err());
    }

    #[test]
    fn slower_needs_the_whole_interval_above_five_per_cent() {
        let old = at(99.0, 100.0, 101.0);
        assert_eq!(compare(&at(110.0, 112.0, 114.0), &old).1, Verdict::Slower);
        // 106 / 101 is 4.95 % more
        assert_eq!(compare(&at(106.0, 112.0, 114.0), &old).1, Verdict::AsBefore);
        assert_eq!(compare(&old, &old).1, Verdict::AsBefore);
        assert_eq!(compare(&at(80.0, 85.0, 90.0), &old).1, Verdict::Faster);
        assert_eq!(compare(&at(80.0, 85.0, 95.0), &old).1, Verdict::AsBefore);
    }

    #[test]
    fn the_table_has_every_benchmark_and_names_the_slower_ones() {
        let bench = |name: &str, new: f64, old: Option<f64>| Bench {
            name: name.into(),
            new: at(new, new, new),
            old: old.map(|o| at(o, o, o)),
        };
        let (sheet, slower) = report(&[
            bench("a", 2e6, Some(1e6)),
            bench("b", 990.0, Some(1000.0)),
            bench("c", 5.0, None),
        ]);
        assert_eq!(slower, ["a"]);
        assert_eq!(sheet.rows[0][1..3], ["2.00 ms", "1.00 ms"]);
        assert_eq!(sheet.rows[0][3], "2.00 (2.00 to 2.00)");
        assert_eq!(sheet.rows[1][4], "as before");
        assert_eq!(sheet.rows[2][2..], ["–", "–", "new"]);
    }

    #[test]
    fn benchmarks_are_found_with_their_baselines() {
        let home = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = home.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("g_5/f/new/estimates.json", &written(9.0, 10.0, 11.0));
        write(
            "g_5/f/new/benchmark.json",
            r#"{"full_id":"g/5/f","group_id":"g/5"}"#,
        );
        write("g_5/f/suite/estimates.json", &written(1.0, 2.0, 3.0));
        write("h/new/estimates.json", &written(1.0, 1.0, 1.0));
        write("h/new/benchmark.json", r#"{"full_id":"h"}"#);
        write("gone/suite/estimates.json", &written(1.0, 1.0, 1.0));
        let found = benches(home.path(), "suite").unwrap();
        let names: Vec<&str> = found.iter().map(|b| b.name.as_str()).collect();
        assert_eq!(names, ["g/5/f", "h"]);
        assert_eq!(found[0].old, Some(at(1.0, 2.0, 3.0)));
        assert_eq!(found[1].old, None);
        assert_eq!(folders(home.path(), "suite").unwrap().len(), 2);
        assert!(
            folders(&home.path().join("absent"), "new")
                .unwrap()
                .is_empty()
        );
        write("h/new/benchmark.json", "not JSON");
        let error = benches(home.path(), "suite").err().unwrap();
        assert!(error.contains("benchmark.json"), "{error}");
    }
}
