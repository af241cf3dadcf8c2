//! Numbers on record: what every species, prior, preset, engine and path gives after a few
//! sweeps, so that a change of the structure beneath is seen to change nothing.
//!
//! `POLYVIEW_NEW_RECORD=1 cargo test -p polyview-tests --test record` writes the record anew,
//! where numbers are meant to change; the commit says why.

mod cases;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use cases::Case;
use polyview::{ErrorKind, Fit, ProjectOptions};
use polyview_linalg::Mat;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Largest difference, relative to the size of a number or to 1, that rounding explains.
const GAP: f64 = 1e-10;
/// The same of numbers that rounding moves further, as other instructions of other machines do.
const LOOSE: f64 = 1e-6;
/// How far the data are moved to find these, relative to their size: some dozens of times
/// their last digit.
const NUDGE: f64 = 1e-14;
/// Those that move further are loose: Gibbs chains and numbers of rank fits drift apart from
/// sweep to sweep, and what cancels has few digits.
const RESTS: f64 = 1e-11;

/// What a fit gives, or why there is none.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Entry {
    /// What cannot be combined is refused, in whatever words.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    refused: bool,
    /// By name; an array is kept as two sums over its cells, of sizes and of cells turned.
    #[serde(default)]
    numbers: BTreeMap<String, Vec<f64>>,
    /// Numbers that rounding moves, found when the record is written.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    loose: BTreeSet<String>,
}

impl Entry {
    /// Those that differ from others by more than a number that rests.
    fn moved(&self, other: &Self) -> BTreeSet<String> {
        let rests = |name: &&String| {
            let other = other.numbers.get(*name);
            other.is_some_and(|b| alike(&self.numbers[*name], b, RESTS))
        };
        let moved = self.numbers.keys().filter(|name| !rests(name));
        moved.cloned().collect()
    }
    fn put(&mut self, name: &str, values: impl IntoIterator<Item = f64>) {
        let (mut sum, mut turned) = (0.0, 0.0);
        for (i, x) in values.into_iter().enumerate() {
            if x.is_finite() {
                sum += x.abs();
                turned += x * (0.7 * i as f64).cos();
            } else {
                turned += 1000.0 + i as f64;
            }
        }
        self.numbers
            .insert(name.to_owned(), vec![rounded(sum), rounded(turned)]);
    }
    fn put_mat(&mut self, name: &str, m: &Mat<f64>) {
        let cells = (0..m.ncols()).flat_map(|j| (0..m.nrows()).map(move |i| (i, j)));
        self.put(name, cells.map(|at| m[at]));
    }
}

/// To the digits that are kept.
fn rounded(x: f64) -> f64 {
    format!("{x:.13e}").parse().unwrap_or(x)
}

/// Everything that the verbs say of a fit.
fn entry(case: Case) -> Entry {
    let mut out = Entry::default();
    let fit = match polyview::fit(case.training, case.spec) {
        Ok(fit) => fit,
        Err(e) => {
            assert!(
                matches!(e.kind(), ErrorKind::Incompatible { .. }),
                "{}: {e}",
                case.name
            );
            out.refused = true;
            return out;
        }
    };
    let said = said(&fit, &case.new, &mut out);
    assert!(said.is_ok(), "{}: {said:?}", case.name);
    out
}

fn said(fit: &Fit, new: &polyview_core::Dataset, out: &mut Entry) -> polyview::Result<()> {
    for ledger in &fit.record().ledgers {
        out.put("bound by sweep", ledger.rows.iter().map(|r| r.total));
        if let Some(last) = ledger.rows.last() {
            for (name, value) in ledger.names.iter().zip(&last.values) {
                out.numbers
                    .insert(format!("bound, {name}"), vec![rounded(*value)]);
            }
        }
    }
    out.put("factors kept", [fit.k() as f64]);
    let factors = fit.factors()?;
    out.put_mat("factors", &factors.mean);
    out.put_mat("factors, sd", &factors.sd);
    let explained = fit.explain()?;
    out.put("explained", explained.total.clone());
    out.put_mat("explained by factor", &explained.marginal);
    for view in ["x", "y"] {
        let weights = fit.weights(view)?;
        out.put_mat(&format!("weights of {view}"), &weights.mean);
        out.put_mat(&format!("weights of {view}, sd"), &weights.sd);
        let fitted = fit.fitted(view)?;
        out.put_mat(&format!("fitted {view}"), &fitted.mean);
        if let Ok((lower, upper)) = fitted.interval(0.9) {
            out.put_mat(&format!("fitted {view}, lower"), &lower);
            out.put_mat(&format!("fitted {view}, upper"), &upper);
        }
    }
    let projected = fit.project(new, &ProjectOptions::default())?;
    out.put_mat("projected", &projected.mean);
    out.put_mat("projected, sd", &projected.sd);
    let predicted = fit.predict(new, "y")?;
    out.put_mat("predicted", &predicted.mean);
    Ok(())
}

fn place() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/record/record.json")
}

fn alike(a: &[f64], b: &[f64], gap: f64) -> bool {
    let alike = |(a, b): (&f64, &f64)| (a - b).abs() <= gap * a.abs().max(1.0);
    a.len() == b.len() && a.iter().zip(b).all(alike)
}

/// What differs, in words.
fn differences(name: &str, old: &Entry, new: &Entry) -> Vec<String> {
    let mut out = Vec::new();
    if old.refused != new.refused {
        out.push(format!(
            "{name}: refused: {}, now {}",
            old.refused, new.refused
        ));
    }
    let gap = |number| {
        if old.loose.contains(number) {
            LOOSE
        } else {
            GAP
        }
    };
    let names: BTreeSet<&String> = old.numbers.keys().chain(new.numbers.keys()).collect();
    for number in names {
        match (old.numbers.get(number), new.numbers.get(number)) {
            (Some(a), Some(b)) if alike(a, b, gap(number)) => {}
            (a, b) => out.push(format!("{name}: {number}: {a:?}, now {b:?}")),
        }
    }
    out
}

#[test]
fn numbers_are_those_on_record() {
    let fits = |nudge: f64| -> BTreeMap<String, Entry> {
        cases::all(nudge)
            .into_par_iter()
            .map(|case| (case.name.clone(), entry(case)))
            .collect()
    };
    let mut now = fits(0.0);
    if std::env::var_os("POLYVIEW_NEW_RECORD").is_some() {
        for (name, moved) in fits(NUDGE) {
            if let Some(entry) = now.get_mut(&name) {
                entry.loose = entry.moved(&moved);
            }
        }
        let lines: Vec<String> = (now.iter())
            .map(|(name, entry)| {
                let entry = serde_json::to_string(entry).expect("numbers");
                format!("{}: {entry}", serde_json::json!(name))
            })
            .collect();
        let text = format!("{{\n{}\n}}\n", lines.join(",\n"));
        std::fs::write(place(), text).expect("the record");
        return;
    }
    let text = std::fs::read_to_string(place()).expect("the record");
    let old: BTreeMap<String, Entry> = serde_json::from_str(&text).expect("the record");
    assert!(
        old.keys().eq(now.keys()),
        "the fits on record are others: write the record anew"
    );
    let differing: Vec<String> = (old.iter().zip(now.values()))
        .flat_map(|((name, old), new)| differences(name, old, new))
        .collect();
    assert!(
        differing.is_empty(),
        "{} numbers differ:\n{}",
        differing.len(),
        differing[..differing.len().min(40)].join("\n")
    );
}
