//! The page under construction: sections, paragraphs, figures, tables.

use super::table::Table;
use crate::figures::Figure;
use crate::svg::escape::{escaped, push_escaped};
use std::fmt::Write as _;

/// A picture wider than this scrolls in a box of its own on a narrow screen.
const WIDE: f64 = 420.0;

/// Whether a section starts on a new page when printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Break {
    Flow,
    NewPage,
}

struct Section {
    id: &'static str,
    title: &'static str,
}

/// Sections written so far, with what is needed for the contents and for numbering.
#[derive(Default)]
pub(super) struct Page {
    body: String,
    sections: Vec<Section>,
    figures: usize,
    pictures: usize,
    tables: usize,
}

impl Page {
    pub fn open(&mut self, id: &'static str, title: &'static str, start: Break) {
        self.sections.push(Section { id, title });
        let class = if start == Break::NewPage {
            " class=\"new-page\""
        } else {
            ""
        };
        let number = self.sections.len();
        let _ = write!(
            self.body,
            "\n<section id=\"{id}\"{class} aria-labelledby=\"{id}-h\"><h2 id=\"{id}-h\">\
             <span class=\"no\">{number}</span>{}</h2>",
            escaped(title)
        );
    }

    pub fn close(&mut self) {
        self.body.push_str("</section>");
    }

    pub fn heading(&mut self, text: &str) {
        self.element("h3", "", text);
    }

    pub fn paragraph(&mut self, text: &str) {
        self.element("p", "", text);
    }

    pub fn note(&mut self, text: &str) {
        self.element("p", "note", text);
    }

    fn element(&mut self, name: &str, class: &str, text: &str) {
        self.body.push('<');
        self.body.push_str(name);
        if !class.is_empty() {
            let _ = write!(self.body, " class=\"{class}\"");
        }
        self.body.push('>');
        push_escaped(&mut self.body, text);
        let _ = write!(self.body, "</{name}>");
    }

    /// Starts a stretch in which tables stand beside each other where there is room.
    pub fn side_by_side(&mut self) {
        self.body.push_str("<div class=\"beside\">");
    }

    pub fn end_side_by_side(&mut self) {
        self.body.push_str("</div>");
    }

    /// Starts a folded part.
    pub fn fold(&mut self, summary: &str) {
        self.body.push_str("<details>");
        self.element("summary", "", summary);
    }

    pub fn unfold(&mut self) {
        self.body.push_str("</details>");
    }

    pub fn figure(&mut self, figure: &Figure) {
        if !figure.heading.is_empty() {
            self.heading(&figure.heading);
        }
        self.figures += 1;
        self.body.push_str("<figure><div class=\"panels\">");
        for panel in &figure.panels {
            self.pictures += 1;
            let id = format!("pic{}", self.pictures);
            let wide = panel.picture.width() > WIDE;
            if wide {
                self.body.push_str(
                    "<div class=\"scroll wide\" tabindex=\"0\" role=\"region\" aria-label=\"",
                );
                push_escaped(&mut self.body, panel.picture.title());
                self.body.push_str("\">");
            }
            panel.picture.push_inline(&mut self.body, &id);
            if wide {
                self.body.push_str("</div>");
            }
        }
        let _ = write!(
            self.body,
            "</div><figcaption><b>Figure {}.</b> ",
            self.figures
        );
        push_escaped(&mut self.body, &figure.caption);
        self.body.push_str("</figcaption></figure>");
    }

    /// A table; without rows a sentence stands in its place.
    pub fn table(&mut self, table: &Table) {
        self.tables += 1;
        table.push(&mut self.body, &format!("tab{}", self.tables));
    }

    /// The contents list and the sections.
    pub fn finish(self) -> (String, String) {
        let mut contents =
            String::from("<nav aria-labelledby=\"contents\"><h2 id=\"contents\">Contents</h2><ol>");
        for section in &self.sections {
            let _ = write!(
                contents,
                "<li><a href=\"#{}\">{}</a></li>",
                section.id,
                escaped(section.title)
            );
        }
        contents.push_str("</ol></nav>");
        (contents, self.body)
    }
}
