//! Whether intervals of hidden cells hold what they say.

use std::error::Error;

use polyview::EngineKind;
use polyview_tests::calibration::{Size, off, table};

use super::page::Page;
use super::setting::Setting;
use crate::sheet::Sheet;

/// A share without the zero in front.
fn share(x: f64) -> String {
    format!("{x:.3}").trim_start_matches('0').to_owned()
}

/// The table of all likelihoods and engines.
///
/// # Errors
/// A table without a line.
pub fn calibration(setting: &Setting, page: &mut Page) -> Result<(), Box<dyn Error>> {
    let mut sheet = Sheet::new(
        "",
        &[
            "likelihood",
            "engine",
            "cells",
            "50 %",
            "80 %",
            "90 %",
            "95 %",
            "standard error",
            "why off",
        ],
    );
    let size = *setting.choose(&Size::QUICK, &Size::USUAL);
    for (likelihood, engine, measured) in table(size) {
        let name = match engine {
            EngineKind::Vb => "VB",
            EngineKind::Gibbs => "Gibbs",
            EngineKind::Stochastic => "stochastic",
        };
        let mut row = vec![format!("`{likelihood}`"), name.to_owned()];
        match measured {
            Ok(line) => {
                row.push(line.cells.to_string());
                row.extend(line.shares.map(share));
                row.push(share(line.errors[0].max(line.errors[1])));
                row.push(off(likelihood, engine).unwrap_or_default().to_owned());
            }
            Err(why) => {
                row.extend(vec![String::new(); 6]);
                row.push(format!("not measured: it {why}"));
            }
        }
        sheet.rows.push(row);
    }
    if sheet.rows.is_empty() {
        return Err("there are no likelihoods".into());
    }
    page.sheet(&sheet);
    Ok(())
}
