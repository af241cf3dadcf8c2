//! Tables of text, printed as their rows come and written as Markdown.

use std::io::{self, Write};

/// What stands where there is no figure.
pub const NOTHING: &str = "–";

/// A table of text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sheet {
    /// What stands above it; may be empty.
    pub title: String,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// One cell for each column.
    pub rows: Vec<Vec<String>>,
}

impl Sheet {
    /// A table without rows.
    pub fn new(title: &str, columns: &[&str]) -> Self {
        Self {
            title: title.to_owned(),
            columns: columns.iter().map(|&c| c.to_owned()).collect(),
            rows: Vec::new(),
        }
    }

    /// The table without one of its columns, and without those that say nothing.
    #[must_use]
    pub fn without(&self, column: &str) -> Self {
        let keep: Vec<bool> = (self.columns.iter().enumerate())
            .map(|(i, c)| c != column && self.rows.iter().any(|row| row[i] != NOTHING))
            .collect();
        let kept = |cells: &[String]| -> Vec<String> {
            let cells = cells.iter().zip(&keep);
            cells.filter(|(_, k)| **k).map(|(c, _)| c.clone()).collect()
        };
        Self {
            title: self.title.clone(),
            columns: kept(&self.columns),
            rows: self.rows.iter().map(|r| kept(r)).collect(),
        }
    }

    /// The table in Markdown, its title a line above it.
    pub fn markdown(&self) -> String {
        let line = |cells: &[String]| {
            let cells: Vec<String> = cells
                .iter()
                .map(|c| c.replace('\n', " ").replace('|', "\\|"))
                .collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let mut text = String::new();
        if !self.title.is_empty() {
            text = format!("{}:\n\n", self.title);
        }
        text += &line(&self.columns);
        text += "|";
        text += &"---|".repeat(self.columns.len());
        text += "\n";
        for row in &self.rows {
            text += &line(row);
        }
        text
    }
}

/// Tables that are printed while they grow.
#[derive(Debug, Default)]
pub struct Printed {
    /// The tables so far.
    pub sheets: Vec<Sheet>,
}

impl Printed {
    /// Width of the first column on the screen.
    const FIRST: usize = 44;
    /// Least width of the others.
    const OTHER: usize = 8;

    /// Begins a table.
    ///
    /// # Errors
    /// When the output is closed.
    pub fn head(&mut self, title: &str, columns: &[&str]) -> io::Result<()> {
        let sheet = Sheet::new(title, columns);
        let mut out = io::stdout().lock();
        writeln!(out, "\n{title}\n{}", Self::line(&sheet, &sheet.columns))?;
        self.sheets.push(sheet);
        out.flush()
    }

    /// A row of the last table.
    ///
    /// # Errors
    /// When the output is closed.
    pub fn row(&mut self, cells: Vec<String>) -> io::Result<()> {
        let Some(sheet) = self.sheets.last_mut() else {
            return Ok(());
        };
        let mut out = io::stdout().lock();
        writeln!(out, "{}", Self::line(sheet, &cells))?;
        sheet.rows.push(cells);
        out.flush()
    }

    fn line(sheet: &Sheet, cells: &[String]) -> String {
        let cells = cells.iter().zip(&sheet.columns).enumerate();
        let padded = cells.map(|(i, (cell, column))| {
            let width = column.chars().count().max(Self::OTHER);
            match i {
                0 => format!("{cell:<first$}", first = Self::FIRST),
                _ => format!(" {cell:>width$}"),
            }
        });
        padded.collect::<String>().trim_end().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sheet() -> Sheet {
        Sheet {
            rows: vec![vec!["a|b".into(), "1".into(), "2 s".into()]],
            ..Sheet::new("Areas", &["way", "AUC", "seconds"])
        }
    }

    #[test]
    fn markdown_has_title_head_rule_and_rows_and_escapes_bars() {
        assert_eq!(
            sheet().markdown(),
            "Areas:\n\n| way | AUC | seconds |\n|---|---|---|\n| a\\|b | 1 | 2 s |\n"
        );
        assert_eq!(Sheet::new("", &["x"]).markdown(), "| x |\n|---|\n");
    }

    #[test]
    fn a_column_can_be_left_out_and_those_without_figures_are() {
        let s = sheet().without("seconds");
        assert_eq!(s.columns, ["way", "AUC"]);
        assert_eq!(s.rows, [["a|b", "1"]]);
        assert_eq!(sheet().without("no such"), sheet());
        let mut s = sheet();
        NOTHING.clone_into(&mut s.rows[0][1]);
        assert_eq!(s.without("seconds").columns, ["way"]);
        s.rows.push(sheet().rows[0].clone());
        assert_eq!(s.without("seconds").columns, ["way", "AUC"]);
    }

    #[test]
    fn printed_lines_are_aligned() {
        let s = Sheet::new("", &["way", "AUC"]);
        let cells = ["ridge".to_owned(), ".7 ± .1".to_owned()];
        assert_eq!(
            Printed::line(&s, &cells),
            format!("{:<44}  .7 ± .1", "ridge")
        );
    }
}
