//! Hidden cells of real data: the time until they are predicted as well as at the end of a fit,
//! beside mofapy2 to its own end.

use std::error::Error;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use polyview_core::{Overwrite, Table, write_atomic};
use polyview_linalg::Mat;
use polyview_random::{StreamKey, uniform_open01};
use serde_json::json;

use super::page::Page;
use super::peers::{self, Peer};
use super::quality::shortest;
use super::runs::{Run, ours};
use super::sets::{CASES, Case};
use super::setting::Setting;
use super::speed::{Done, absent};
use super::spread::figure;
use crate::cases::{Kind, npy};
use crate::sheet::{NOTHING, Sheet};

/// Share of the observed cells that is hidden.
const HIDDEN: f64 = 0.2;
/// How near the mean of the views' errors is to that at the end of the fit, as a share of it.
const NEAR: f64 = 1e-3;
/// Most sweeps and iterations.
const MOST: usize = 3000;
/// Most seconds of the peer.
const PATIENCE: usize = 1500;

/// What mofapy2 calls this likelihood, where it has one for such data.
fn kind(likelihood: &str) -> Option<Kind> {
    match likelihood {
        "gaussian" => Some(Kind::Gaussian),
        "bernoulli" => Some(Kind::Bernoulli),
        "poisson-log-normal" | "negative-binomial" => Some(Kind::Poisson),
        _ => None,
    }
}

/// Which cells of a table are hidden, `true` for each.
fn hidden(values: &Mat<f64>, view: usize) -> Mat<bool> {
    let mut rng = StreamKey::new(18).block(92).chunk(view as u32).rng();
    let mut mask = Mat::full(values.nrows(), values.ncols(), false);
    for d in 0..values.ncols() {
        for n in 0..values.nrows() {
            let drawn = uniform_open01(&mut rng) < HIDDEN;
            mask[(n, d)] = drawn && values[(n, d)].is_finite();
        }
    }
    mask
}

/// Features of mean 0 and variance 1 in the cells that are not hidden; constant ones of mean 0.
fn standardise(values: &mut Mat<f64>, hidden: &Mat<bool>) {
    for d in 0..values.ncols() {
        let seen = |n: &usize| !hidden[(*n, d)] && values[(*n, d)].is_finite();
        let rows: Vec<usize> = (0..values.nrows()).filter(seen).collect();
        let over = 1.0 / rows.len().max(1) as f64;
        let mean = over * rows.iter().map(|&n| values[(n, d)]).sum::<f64>();
        let off = |n: &usize| (values[(*n, d)] - mean).powi(2);
        let sd = (over * rows.iter().map(off).sum::<f64>()).sqrt();
        let scale = if sd > 0.0 { sd } else { 1.0 };
        for x in values.col_as_slice_mut(d) {
            *x = (*x - mean) / scale;
        }
    }
}

/// Writes a set in the form of the synthetic cases.
fn write(case: &Case, tables: &[Table], kinds: &[Kind], folder: &Path) -> Done {
    std::fs::create_dir_all(folder)?;
    for (m, (table, kind)) in tables.iter().zip(kinds).enumerate() {
        let mut values = table.values.clone();
        let mask = hidden(&values, m);
        if *kind == Kind::Gaussian {
            standardise(&mut values, &mask);
        }
        let shape = (values.nrows(), values.ncols());
        npy(&folder.join(format!("x{m}.npy")), shape, |n, d| {
            values[(n, d)]
        })?;
        npy(&folder.join(format!("mask{m}.npy")), shape, |n, d| {
            u8::from(!mask[(n, d)])
        })?;
    }
    let kinds: Vec<&str> = kinds.iter().map(|k| k.name()).collect();
    let dims: Vec<usize> = tables.iter().map(|t| t.values.ncols()).collect();
    let samples = tables.first().map_or(0, |t| t.values.nrows());
    let meta = json!({
        "case": case.name, "n": samples, "dims": dims, "likelihoods": kinds,
        "k_fit": (case.model)().factors, "k_true": null,
    });
    Ok(write_atomic(
        folder.join("meta.json"),
        Overwrite::Replace,
        |file| writeln!(file, "{meta}"),
    )?)
}

/// The folder of a set in the form of the synthetic cases, made anew; none where mofapy2 cannot fit it.
fn prepare(setting: &Setting, case: &Case) -> Result<Option<PathBuf>, Box<dyn Error>> {
    let kinds: Option<Vec<Kind>> = case.views.iter().map(|(_, l)| kind(l)).collect();
    let Some(kinds) = kinds else { return Ok(None) };
    let tables = case.tables(&setting.set(case.folder)?)?;
    let same = |t: &Table| t.samples == tables[0].samples;
    if !tables.iter().all(same) {
        return Err(format!("{}: views of other samples", case.name).into());
    }
    let folder = setting
        .work
        .join("data")
        .join(case.name.replace([' ', ','], "-"));
    write(case, &tables, &kinds, &folder)?;
    Ok(Some(folder))
}

/// The likelihood of the counts of a set.
fn counts(case: &Case) -> Option<&'static str> {
    let of_counts = |l: &&str| kind(l) == Some(Kind::Poisson);
    case.views.iter().map(|(_, l)| *l).find(of_counts)
}

fn mean(x: &[f64]) -> f64 {
    x.iter().sum::<f64>() / x.len() as f64
}

fn errors(run: &Run) -> String {
    let errors: Vec<String> = run.errors.iter().map(|x| format!("{x:.3}")).collect();
    errors.join(" ")
}

/// Seconds until hidden cells are predicted as well as at the end of the fit.
pub fn held(setting: &Setting, page: &mut Page) -> Done {
    let mut sheet = Sheet::new(
        "",
        &[
            "set, model",
            "mofapy2 medium: errors by view at its end",
            "iterations",
            "seconds",
            "polyview: errors by view at its end",
            "sweeps",
            "seconds",
            "sweeps to .1 % above their mean",
            "seconds to there",
            "times as fast",
        ],
    );
    let cases = setting.choose(&CASES[..1], &CASES[..]);
    for case in cases {
        let Some(folder) = prepare(setting, case)? else {
            page.note(&format!("{}: mofapy2 has no likelihood for it.", case.name));
            continue;
        };
        eprintln!("  {}", case.name);
        let model = (case.model)().model;
        let mut args = vec!["--model", &model, "--noise", "feature"];
        args.extend(counts(case).into_iter().flat_map(|l| ["--counts", l]));
        let ended = ours(setting, &folder, true, MOST, &args)?;
        let near = (1.0 + NEAR) * mean(&ended.errors);
        let enough = |r: &Run| mean(&r.errors) <= near;
        let soon = shortest(1, enough, |n| ours(setting, &folder, true, n, &args))?;
        let soon = soon.unwrap_or_else(|| ended.clone());
        let theirs = peers::run(setting, Peer::Mofapy2Medium, &folder, true, MOST, PATIENCE);
        let mut row = vec![case.name.to_owned()];
        let times = match theirs {
            Ok(theirs) => {
                row.extend([
                    errors(&theirs),
                    format!("{} ({})", theirs.sweeps, theirs.stop),
                    figure(theirs.seconds),
                ]);
                figure(theirs.seconds / soon.seconds)
            }
            Err(why) => {
                row.push(absent(page, Peer::Mofapy2Medium, &why));
                row.extend([NOTHING, NOTHING].map(str::to_owned));
                NOTHING.to_owned()
            }
        };
        row.extend([
            errors(&ended),
            format!("{} ({})", ended.sweeps, ended.stop),
            figure(ended.seconds),
            soon.sweeps.to_string(),
            figure(soon.seconds),
            times,
        ]);
        sheet.rows.push(row);
    }
    page.sheet(&sheet);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn observed_cells_alone_are_hidden_and_seen_ones_are_standardised() {
        let mut values = Mat::from_fn(400, 3, |n, d| match d {
            0 if n % 4 == 0 => f64::NAN,
            0 | 1 => 10.0 + (n % 7) as f64,
            _ => 5.0,
        });
        let mask = hidden(&values, 0);
        let count = |d: usize| (0..400).filter(|&n| mask[(n, d)]).count();
        assert!((0..400).all(|n| !(mask[(n, 0)] && values[(n, 0)].is_nan())));
        assert!((40..80).contains(&count(0)), "{}", count(0));
        assert!((55..105).contains(&count(1)), "{}", count(1));
        standardise(&mut values, &mask);
        for d in 0..2 {
            let seen = |n: &usize| !mask[(*n, d)] && values[(*n, d)].is_finite();
            let seen: Vec<f64> = (0..400).filter(seen).map(|n| values[(n, d)]).collect();
            let over = 1.0 / seen.len() as f64;
            let mean = over * seen.iter().sum::<f64>();
            let squares = over * seen.iter().map(|x| x * x).sum::<f64>();
            assert!(mean.abs() < 1e-12 && (squares - 1.0).abs() < 1e-12);
        }
        assert!((0..400).all(|n| values[(n, 2)] == 0.0));
    }

    #[test]
    fn sets_of_levels_are_not_mofapy2s() {
        let fits = |case: &&Case| case.views.iter().all(|(_, l)| kind(l).is_some());
        let names: Vec<&str> = CASES.iter().filter(fits).map(|c| c.name).collect();
        assert_eq!(names.len(), CASES.len() - 1);
        assert!(!names.contains(&"spi, mlfs"));
        let of_counts: Vec<_> = CASES.iter().filter_map(counts).collect();
        assert_eq!(of_counts, ["poisson-log-normal", "negative-binomial"]);
    }
}
