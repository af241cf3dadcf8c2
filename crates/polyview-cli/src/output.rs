//! Tables and JSON on standard output.

use std::io::Write;

use crate::failure::Outcome;

/// Writes a line to standard output.
pub fn line(text: impl AsRef<str>) -> Outcome<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", text.as_ref())?;
    Ok(())
}

/// Writes a value as JSON to standard output.
pub fn json(value: &serde_json::Value) -> Outcome<()> {
    line(serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string()))
}

/// A table with aligned columns: the first column to the left, the others to
/// the right.
pub fn table(header: &[String], rows: &[Vec<String>]) -> Outcome<()> {
    let count = header.len();
    let mut widths: Vec<usize> = header.iter().map(|h| h.chars().count()).collect();
    for row in rows {
        for (w, cell) in widths.iter_mut().zip(row) {
            *w = (*w).max(cell.chars().count());
        }
    }
    let format = |cells: &[String]| {
        let mut text = String::new();
        for (i, cell) in cells.iter().take(count).enumerate() {
            let pad = widths[i].saturating_sub(cell.chars().count());
            if i == 0 {
                text.push_str(cell);
                text.push_str(&" ".repeat(pad));
            } else {
                text.push_str(&" ".repeat(pad + 2));
                text.push_str(cell);
            }
        }
        text.trim_end().to_owned()
    };
    line(format(header))?;
    for row in rows {
        line(format(row))?;
    }
    Ok(())
}

/// A share as percent.
pub fn percent(x: f64) -> String {
    if x.is_finite() {
        let text = format!("{:.1}", 100.0 * x);
        if text == "-0.0" {
            "0.0".to_owned()
        } else {
            text
        }
    } else {
        "-".to_owned()
    }
}

/// A score, or a dash where there is none.
pub fn number(x: Option<f64>) -> String {
    x.map_or_else(|| "-".to_owned(), |x| format!("{x:.4}"))
}
