//! Cells of visits: numbers, limits, words.

use polyview_io::{DecimalMark, RowTable, class_names};

use crate::{Content, LayoutError, Part, Plan};

/// A number with a point, whatever parts its fraction in the file; none of words.
fn number(text: &str, decimal: DecimalMark) -> Option<String> {
    let text = text.trim();
    let with_point = match decimal {
        DecimalMark::Point => text.to_owned(),
        DecimalMark::Comma if text.contains('.') => return None,
        DecimalMark::Comma => text.replace(',', "."),
    };
    let x: f64 = with_point.parse().ok()?;
    x.is_finite().then_some(with_point)
}

/// What a cell of measurements is.
enum Measured {
    Number(String),
    /// A limit: its sign, and its number.
    Limit(String, String),
    Interval(String),
    Word,
}

fn measured(text: &str, decimal: DecimalMark) -> Measured {
    if let Some(x) = number(text, decimal) {
        return Measured::Number(x);
    }
    let text = text.trim();
    for sign in ["<=", ">=", "<", ">"] {
        if let Some(rest) = text.strip_prefix(sign) {
            return number(rest, decimal)
                .map_or(Measured::Word, |x| Measured::Limit(sign.to_owned(), x));
        }
    }
    let inside = text.strip_prefix('[').and_then(|t| t.strip_suffix(']'));
    let parts = inside.and_then(|t| t.split_once(';').or_else(|| t.split_once(',')));
    let ends = parts.and_then(|(a, b)| Some((number(a, decimal)?, number(b, decimal)?)));
    ends.map_or(Measured::Word, |(a, b)| {
        Measured::Interval(format!("[{a};{b}]"))
    })
}

/// The columns of a part: cells as they are written, and what they hold.
pub(crate) struct Columns {
    pub(crate) name: String,
    pub(crate) content: Content,
    pub(crate) names: Vec<String>,
    /// A vector a column, an entry a row of the table.
    pub(crate) cells: Vec<Vec<Option<String>>>,
}

impl Columns {
    /// The columns of a table that a part asks for.
    pub(crate) fn of(
        table: &RowTable,
        plan: &Plan,
        part: &Part,
        what: &str,
    ) -> Result<Self, LayoutError> {
        let of = format!("{what} '{}'", part.name);
        let places = places(table, plan, part, &of)?;
        let mut out = Self {
            name: part.name.clone(),
            content: part.content,
            names: places.iter().map(|at| table.columns[*at].clone()).collect(),
            cells: Vec::new(),
        };
        match part.content {
            Content::Classes if places.len() > 1 => {
                return Err(LayoutError::SeveralColumns {
                    of,
                    columns: places.len(),
                });
            }
            Content::Classes | Content::Words => {
                let cells = places.iter().map(|at| table.values[*at].clone());
                out.cells = cells.collect();
            }
            Content::Indicators => out.indicators(table, plan, &places),
            Content::Measured | Content::Numbers | Content::Limits => {
                let mut limits = false;
                for at in places {
                    let (cells, has) = column(table, plan, part, at)?;
                    limits |= has;
                    out.cells.push(cells);
                }
                out.content = match part.content {
                    Content::Measured if limits => Content::Limits,
                    Content::Limits => Content::Limits,
                    _ => Content::Numbers,
                };
            }
        }
        Ok(out)
    }

    /// Words as zeros and ones.
    fn indicators(&mut self, table: &RowTable, plan: &Plan, places: &[usize]) {
        self.names.clear();
        for at in places {
            let (name, cells) = (&table.columns[*at], &table.values[*at]);
            let levels = class_names(cells, plan.decimal);
            if levels.iter().all(|l| l == "0" || l == "1") {
                self.names.push(name.clone());
                self.cells.push(cells.clone());
                continue;
            }
            for level in levels {
                let is = |word: &String| u8::from(*word == level).to_string();
                self.names.push(format!("{name}={level}"));
                self.cells
                    .push(cells.iter().map(|c| c.as_ref().map(is)).collect());
            }
        }
    }
}

/// Where the columns of a part are: of all patterns, in the order of the table.
pub(crate) fn places(
    table: &RowTable,
    plan: &Plan,
    part: &Part,
    of: &str,
) -> Result<Vec<usize>, LayoutError> {
    let open = |name: &String| *name != plan.subject && *name != plan.time;
    let mut chosen = vec![false; table.columns.len()];
    for pattern in &part.patterns {
        let mut any = false;
        for (at, name) in table.columns.iter().enumerate() {
            if open(name) && crate::plan::matches(pattern, name) {
                chosen[at] = true;
                any = true;
            }
        }
        if !any {
            let (of, pattern) = (of.to_owned(), pattern.clone());
            let have = table.columns.iter().filter(|n| open(n)).cloned().collect();
            let places = [(&plan.subject, "samples"), (&plan.time, "times")];
            let is_place = places.iter().find(|(name, _)| **name == pattern);
            return Err(match is_place {
                Some((_, role)) => LayoutError::IsPlace {
                    of,
                    pattern,
                    role,
                    have,
                },
                None => LayoutError::NoMatch { of, pattern, have },
            });
        }
    }
    Ok((0..chosen.len()).filter(|at| chosen[*at]).collect())
}

/// A column of measurements, and whether limits are among them.
fn column(
    table: &RowTable,
    plan: &Plan,
    part: &Part,
    at: usize,
) -> Result<(Vec<Option<String>>, bool), LayoutError> {
    let (mut out, mut limits) = (Vec::with_capacity(table.lines.len()), false);
    for (row, cell) in table.values[at].iter().enumerate() {
        let Some(text) = cell else {
            out.push(None);
            continue;
        };
        let wrong = |mend| LayoutError::NoNumber {
            line: table.lines[row],
            column: table.columns[at].clone(),
            found: text.clone(),
            mend,
        };
        let may = part.content != Content::Numbers;
        out.push(match measured(text, plan.decimal) {
            Measured::Number(x) => Some(x),
            Measured::Limit(_, x) if plan.set_to_limits => Some(x),
            Measured::Interval(_) if plan.set_to_limits => {
                return Err(wrong("an interval has two limits: name one of them, or keep limits"));
            }
            Measured::Limit(sign, x) if may => {
                limits = true;
                Some(format!("{sign}{x}"))
            }
            Measured::Interval(text) if may => {
                limits = true;
                Some(text)
            }
            Measured::Limit(..) | Measured::Interval(_) => {
                return Err(wrong(
                    "limits are read with the likelihood censored, or set to their numbers (--set-to-limits)",
                ));
            }
            // words of missing values that only numbers have
            Measured::Word if is_missing(text) => None,
            Measured::Word => {
                return Err(wrong(
                    "correct it, leave the cell empty, or give words a likelihood of their own (categorical, multilabel, ordinal)",
                ));
            }
        });
    }
    Ok((out, limits))
}

fn is_missing(text: &str) -> bool {
    let words = polyview_io::MISSING_NUMBER.iter();
    words
        .into_iter()
        .any(|w| w.eq_ignore_ascii_case(text.trim()))
}
