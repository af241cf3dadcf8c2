//! What will hold at the next visit (spec/thesis 9.2): people are seen every six months, half of all cells are missing, and diagnosis, a test
//! score and the volume of the ventricles at month 36 are to be said from visits up to month 24. Fourteen views: five visits of tests and
//! measurements, five of diagnoses, what does not change, three targets. Beside the fit stand the last known value of a person, and the line
//! through all of them. The people are simulated (`polyview datasets cohort`).
#![allow(clippy::print_stdout)]

use std::collections::HashMap;

use polyview::{Fit, models};
use polyview_core::{Dataset, Table};
use polyview_datasets::{StudyCells, studies};
use polyview_io::{DecimalMark, RowTable};
use polyview_layouts::{Content, Laid, Layout, Part, Plan, Role, Rows, Windows, lay_out};
use polyview_linalg::Mat;
use polyview_mva::balanced_accuracy;

type Error = Box<dyn std::error::Error>;

const LAST: f64 = 24.0;
const AT: f64 = 36.0;

/// The visits of the simulated cohort.
fn visits() -> Result<RowTable, Error> {
    let study = studies().into_iter().find(|s| s.name == "cohort");
    let mut tables = study.ok_or("the cohort comes with the program")?.tables();
    let StudyCells::Text { samples, columns } = tables.swap_remove(0).cells else {
        return Err("visits are text".into());
    };
    let (columns, values) = columns.into_iter().unzip();
    Ok(RowTable {
        name: "visits".into(),
        columns,
        lines: (2..samples.len() as u64 + 2).collect(),
        values,
    })
}

fn part(name: &str, patterns: &[&str], content: Content) -> Part {
    Part {
        name: name.into(),
        patterns: patterns.iter().map(|p| (*p).into()).collect(),
        content,
    }
}

fn plan() -> Plan {
    let tests = [
        "MMSE",
        "RAVLT_*",
        "FAQ",
        "MRI_*",
        "AV45_*",
        "CSF_*",
        "Ventricles",
        "ADAS13",
    ];
    let fixed = ["AGE", "EDUCATION", "APOE4", "GENDER", "FDG_*"];
    Plan {
        subject: "RID".into(),
        time: "month".into(),
        decimal: DecimalMark::default(),
        step: 6.0,
        window: 5,
        ahead: 1,
        tolerance: None,
        until: Some(LAST),
        predict_at: Some(AT),
        views: vec![
            part("td", &tests, Content::Measured),
            part("past", &["DX"], Content::Indicators),
        ],
        fixed: vec![part("ti", &fixed, Content::Numbers)],
        targets: vec![
            part("dx", &["DX"], Content::Indicators),
            part("ventricles", &["Ventricles"], Content::Numbers),
            part("adas", &["ADAS13"], Content::Numbers),
        ],
        // "<200" is 200, as the thesis has it
        set_to_limits: true,
        windows: Windows::WithTargets,
    }
}

/// Cells of numbers.
fn numbers(laid: &Laid) -> Mat<f64> {
    let rows = laid.cells.first().map_or(0, Vec::len);
    let number = |cell: &Option<String>| cell.as_ref().and_then(|c| c.parse().ok());
    Mat::from_fn(rows, laid.columns.len(), |n, d| {
        number(&laid.cells[d][n]).unwrap_or(f64::NAN)
    })
}

fn dataset<'a>(rows: &Rows, tables: impl Iterator<Item = &'a Laid>) -> Result<Dataset, Error> {
    let mut builder = Dataset::builder();
    for laid in tables {
        builder = builder.view(Table {
            name: laid.name.clone(),
            samples: rows.samples.clone(),
            features: laid.columns.clone(),
            levels: Vec::new(),
            values: numbers(laid),
        });
    }
    Ok(builder.build()?)
}

fn fit(layout: &Layout) -> Result<Fit, Error> {
    let mut spec = models::sshiba(10);
    for laid in &layout.training.tables {
        if laid.content == Content::Indicators {
            spec = spec.with_likelihood(&laid.name, "bernoulli");
        }
    }
    spec.vb.max_sweeps = 200;
    let data = dataset(&layout.training, layout.training.tables.iter())?;
    Ok(polyview::fit(data, spec)?)
}

/// What is known of each person up to the last time of training: times and values of a column.
fn known<'a>(
    visits: &'a RowTable,
    column: &str,
) -> Result<HashMap<&'a str, Vec<(f64, &'a str)>>, Error> {
    let of = |name: &str| visits.column(name).ok_or("a column of the cohort");
    let (who, when, what) = (of("RID")?, of("month")?, of(column)?);
    let mut out: HashMap<&str, Vec<(f64, &str)>> = HashMap::new();
    for ((who, when), what) in who.iter().zip(when).zip(what) {
        if let (Some(who), Some(when), Some(what)) = (who, when, what) {
            let when: f64 = when.parse()?;
            if when <= LAST {
                out.entry(who.as_str()).or_default().push((when, what));
            }
        }
    }
    Ok(out)
}

/// The last known value, and the value at `AT` of the line through all of them; the mean over people where there is none.
fn plain(visits: &RowTable, column: &str, who: &[String]) -> Result<[Vec<f64>; 2], Error> {
    let mut series: HashMap<&str, Vec<(f64, f64)>> = HashMap::new();
    for (who, cells) in known(visits, column)? {
        let cells: Result<Vec<_>, std::num::ParseFloatError> =
            cells.iter().map(|(t, x)| Ok((*t, x.parse()?))).collect();
        series.insert(who, cells?);
    }
    let lasts: Vec<f64> = series.values().filter_map(|s| Some(s.last()?.1)).collect();
    let mean = lasts.iter().sum::<f64>() / lasts.len() as f64;
    let last = |who: &String| series.get(who.as_str()).and_then(|s| Some(s.last()?.1));
    let line = |who: &String| {
        let s = series.get(who.as_str()).filter(|s| s.len() > 1)?;
        let n = s.len() as f64;
        let (t, x) = s
            .iter()
            .fold((0.0, 0.0), |a, b| (a.0 + b.0 / n, a.1 + b.1 / n));
        let slope = s.iter().map(|p| (p.0 - t) * (p.1 - x)).sum::<f64>()
            / s.iter().map(|p| (p.0 - t).powi(2)).sum::<f64>();
        Some(x + slope * (AT - t))
    };
    Ok([
        who.iter().map(|w| last(w).unwrap_or(mean)).collect(),
        who.iter()
            .map(|w| line(w).or_else(|| last(w)).unwrap_or(mean))
            .collect(),
    ])
}

/// R2 about the mean of the truth, and mean absolute error.
fn scores(truth: &[f64], predicted: &[f64]) -> (f64, f64) {
    let pairs: Vec<(f64, f64)> = truth
        .iter()
        .copied()
        .zip(predicted.iter().copied())
        .filter(|p| !p.0.is_nan())
        .collect();
    let n = pairs.len() as f64;
    let mean = pairs.iter().map(|p| p.0).sum::<f64>() / n;
    let about = |of: &dyn Fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>();
    let lost = about(&|p| (p.0 - p.1).powi(2)) / about(&|p| (p.0 - mean).powi(2));
    (1.0 - lost, about(&|p| (p.0 - p.1).abs()) / n)
}

fn column(m: &Mat<f64>, d: usize) -> Vec<f64> {
    m.col(d).iter().copied().collect()
}

/// The largest of the columns of each row; none where a row is missing.
fn largest(m: &Mat<f64>) -> Vec<Option<usize>> {
    let best = |n: usize| {
        let all = (0..m.ncols()).filter(|d| !m[(n, *d)].is_nan());
        all.max_by(|a, b| m[(n, *a)].total_cmp(&m[(n, *b)]))
    };
    (0..m.nrows()).map(best).collect()
}

fn main() -> Result<(), Error> {
    let visits = visits()?;
    let layout = lay_out(&visits, &plan())?;
    for remark in &layout.remarks {
        println!("{remark}");
    }
    let new = &layout.new;
    println!(
        "{} rows of {} views; {} new ones",
        layout.training.samples.len(),
        layout.training.tables.len(),
        new.samples.len()
    );
    let fit = fit(&layout)?;
    println!("{} factors", fit.k());
    // nothing is known of month 30
    let has = |t: &&Laid| t.cells.iter().flatten().any(Option::is_some);
    let inputs = new.tables.iter().filter(|t| t.role != Role::Target);
    let inputs = dataset(new, inputs.filter(has))?;
    let truth = |name: &str| {
        let laid = new.tables.iter().find(|t| t.name == name);
        laid.map(numbers).ok_or("a target")
    };
    println!("{:<24} {:>8} {:>12}", "", "R2", "mean error");
    for (target, name) in [("ventricles", "Ventricles"), ("adas", "ADAS13")] {
        let own = column(&truth(target)?, 0);
        let predicted = column(&fit.predict(&inputs, target)?.mean, 0);
        let [last, line] = plain(&visits, name, &new.subjects)?;
        for (what, values) in [("fit", predicted), ("last value", last), ("line", line)] {
            let (r2, error) = scores(&own, &values);
            println!("{:<24} {r2:>8.3} {error:>12.2}", format!("{name}, {what}"));
        }
    }
    // diagnoses: the most probable, and the last known one
    let of = truth("dx")?;
    let columns = &new
        .tables
        .iter()
        .find(|t| t.name == "dx")
        .ok_or("a target")?
        .columns;
    let said = largest(&fit.predict(&inputs, "dx")?.mean);
    let past = known(&visits, "DX")?;
    let carried = new.subjects.iter().map(|who| {
        let last = past.get(who.as_str()).and_then(|s| Some(s.last()?.1));
        last.and_then(|word| columns.iter().position(|c| *c == format!("DX={word}")))
    });
    let carried: Vec<Option<usize>> = carried.collect();
    println!("{:<24} {:>8}", "", "balanced accuracy");
    for (what, found) in [("fit", said), ("last value", carried)] {
        let pairs = largest(&of).into_iter().zip(found);
        let pairs = pairs.filter_map(|(t, p)| Some((t?, p.unwrap_or(0))));
        let (truth, found): (Vec<usize>, Vec<usize>) = pairs.unzip();
        println!(
            "{:<24} {:>8.3}",
            format!("DX, {what}"),
            balanced_accuracy(&truth, &found)?
        );
    }
    Ok(())
}
