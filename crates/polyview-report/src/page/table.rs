//! Tables with captions and headers.

use crate::svg::escape::push_escaped;
use crate::svg::number::count;

/// How a column is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Number,
}

/// A cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Cell {
    Plain(String),
    Strong(String),
    /// With a class of the stylesheet.
    Classed(&'static str, String),
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Plain(text)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Plain(text.to_owned())
    }
}

/// A table. The first column heads its rows.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    caption: String,
    columns: Vec<(String, Kind)>,
    rows: Vec<Vec<Cell>>,
    left_out: usize,
    headless: bool,
}

impl Table {
    pub fn new(caption: impl Into<String>) -> Self {
        Self {
            caption: caption.into(),
            ..Self::default()
        }
    }

    /// A table of names and values, without a header row.
    pub fn facts(caption: impl Into<String>) -> Self {
        let table = Self {
            headless: true,
            ..Self::new(caption)
        };
        table.column("", Kind::Text).column("", Kind::Text)
    }

    pub fn column(mut self, head: impl Into<String>, kind: Kind) -> Self {
        self.columns.push((head.into(), kind));
        self
    }

    pub fn columns<'a>(mut self, heads: impl IntoIterator<Item = &'a String>, kind: Kind) -> Self {
        self.columns
            .extend(heads.into_iter().map(|h| (h.clone(), kind)));
        self
    }

    pub fn row(&mut self, cells: Vec<Cell>) {
        self.rows.push(cells);
    }

    pub fn fact(&mut self, name: &str, value: impl Into<Cell>) {
        self.rows.push(vec![name.into(), value.into()]);
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Says under the table that this many rows were left out.
    pub fn leaving_out(&mut self, rows: usize) {
        self.left_out = rows;
    }

    /// Writes the table in a box that scrolls by itself when the screen is too narrow.
    pub fn push(&self, out: &mut String, id: &str) {
        out.push_str("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-labelledby=\"");
        out.push_str(id);
        out.push_str("\"><table");
        out.push_str(if self.headless {
            " class=\"plain\">"
        } else {
            ">"
        });
        out.push_str("<caption id=\"");
        out.push_str(id);
        out.push_str("\"><span>");
        push_escaped(out, &self.caption);
        out.push_str("</span></caption>");
        if !self.headless {
            out.push_str("<thead><tr>");
            for (head, kind) in &self.columns {
                out.push_str("<th scope=\"col\"");
                out.push_str(if *kind == Kind::Number {
                    " class=\"n\">"
                } else {
                    ">"
                });
                push_escaped(out, head);
                out.push_str("</th>");
            }
            out.push_str("</tr></thead>");
        }
        out.push_str("<tbody>");
        for row in &self.rows {
            out.push_str("<tr>");
            for (i, (cell, (_, kind))) in row.iter().zip(&self.columns).enumerate() {
                push_cell(out, cell, *kind, i == 0);
            }
            out.push_str("</tr>");
        }
        out.push_str("</tbody></table></div>");
        if self.left_out > 0 {
            out.push_str("<p class=\"note\">");
            push_escaped(
                out,
                &format!(
                    "{} of {} rows are shown.",
                    count(self.rows.len()),
                    count(self.rows.len() + self.left_out)
                ),
            );
            out.push_str("</p>");
        }
    }
}

fn push_cell(out: &mut String, cell: &Cell, kind: Kind, heads_row: bool) {
    let name = if heads_row { "th" } else { "td" };
    out.push('<');
    out.push_str(name);
    if heads_row {
        out.push_str(" scope=\"row\"");
    }
    let class = match (cell, kind) {
        (Cell::Classed(class, _), _) => class,
        (_, Kind::Number) => "n",
        _ => "",
    };
    if !class.is_empty() {
        out.push_str(" class=\"");
        out.push_str(class);
        out.push('"');
    }
    out.push('>');
    match cell {
        Cell::Plain(text) | Cell::Classed(_, text) => push_escaped(out, text),
        Cell::Strong(text) => {
            out.push_str("<strong>");
            push_escaped(out, text);
            out.push_str("</strong>");
        }
    }
    out.push_str("</");
    out.push_str(name);
    out.push('>');
}
