//! What an entry of the suite says: its block, and what of it could not be run.

use crate::sheet::Sheet;

/// The text of a block while it is made.
#[derive(Debug, Default)]
pub struct Page {
    parts: Vec<String>,
    /// What was asked for and did not run.
    pub missing: Vec<String>,
}

impl Page {
    /// A paragraph.
    pub fn note(&mut self, text: &str) {
        self.parts.push(text.to_owned());
    }

    /// A table; one without rows says nothing.
    pub fn sheet(&mut self, sheet: &Sheet) {
        if !sheet.rows.is_empty() {
            self.parts.push(sheet.markdown().trim_end().to_owned());
        }
    }

    /// What a program printed.
    pub fn verbatim(&mut self, text: &str) {
        let text = text.trim_matches('\n');
        self.parts.push(format!("```text\n{text}\n```"));
    }

    /// Something that was asked for and did not run; each reason counts once.
    pub fn missing(&mut self, what: String) {
        if !self.missing.contains(&what) {
            self.missing.push(what);
        }
    }

    /// The block: all parts, with a line between them.
    pub fn text(&self) -> String {
        self.parts.join("\n\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_stand_apart_and_empty_tables_are_left_out() {
        let mut page = Page::default();
        page.note("When.");
        page.sheet(&Sheet::new("", &["a"]));
        page.sheet(&Sheet {
            rows: vec![vec!["1".into()]],
            ..Sheet::new("", &["a"])
        });
        page.verbatim("\n x  y\n");
        assert_eq!(
            page.text(),
            "When.\n\n| a |\n|---|\n| 1 |\n\n```text\n x  y\n```"
        );
    }

    #[test]
    fn a_reason_counts_once() {
        let mut page = Page::default();
        page.missing("no python3".into());
        page.missing("no python3".into());
        assert_eq!(page.missing, ["no python3"]);
    }
}
