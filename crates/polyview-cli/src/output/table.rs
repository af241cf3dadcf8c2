//! Tables that fit the width of the terminal.

/// Spaces between two columns.
const GAP: usize = 2;

/// One column: its cells, the header first, as lines of text.
struct Column {
    cells: Vec<Vec<String>>,
    width: usize,
}

fn length(text: &str) -> usize {
    text.chars().count()
}

/// Where the fraction of a number begins, in characters; none where it is none.
fn point(cell: &str) -> Option<usize> {
    let is_number = cell.parse::<f64>().is_ok();
    is_number.then(|| cell.find(['.', 'e']).unwrap_or(cell.len()))
}

/// Cells of a column of numbers, each with its decimal point under those of the
/// others; what is no number ends where they do.
fn aligned(mut cells: Vec<String>) -> Vec<String> {
    let after = |cell: &str| point(cell).map(|at| cell.len() - at);
    let most = cells.iter().filter_map(|c| after(c)).max().unwrap_or(0);
    for cell in &mut cells {
        if let Some(own) = after(cell) {
            cell.push_str(&" ".repeat(most - own));
        }
    }
    cells
}

impl Column {
    fn new(header: &str, cells: Vec<String>, most: usize) -> Self {
        let all = std::iter::once(header.to_owned()).chain(aligned(cells));
        let cells: Vec<Vec<String>> = all
            .map(|cell| {
                if length(&cell) > most {
                    wrapped(&cell, most)
                } else {
                    vec![cell]
                }
            })
            .collect();
        let width = cells.iter().flatten().map(|l| length(l)).max().unwrap_or(0);
        Self { cells, width }
    }
}

/// The lines of a table: the first column to the left, the others to the right,
/// and columns that the width has no room for in further blocks, which begin
/// with the first column again. No line is longer than `width`.
pub fn lines(header: &[String], rows: &[Vec<String>], width: usize) -> Vec<String> {
    let cells = |j: usize| -> Vec<String> {
        rows.iter()
            .map(|r| r.get(j).cloned().unwrap_or_default())
            .collect()
    };
    let Some(title) = header.first() else {
        return Vec::new();
    };
    let names = Column::new(title, cells(0), width / 2);
    let room = width.saturating_sub(names.width + GAP).max(1);
    let others: Vec<Column> = (1..header.len())
        .map(|j| Column::new(&header[j], cells(j), room))
        .collect();
    let mut out = Vec::new();
    let mut rest = others.as_slice();
    loop {
        let mut used = names.width;
        let fits = |c: &&Column| {
            used += GAP + c.width;
            used <= width
        };
        let many = rest.iter().take_while(fits).count();
        // a column is never wider than its room
        let (block, later) = rest.split_at(many.max(usize::from(!rest.is_empty())));
        for row in 0..=rows.len() {
            out.extend(row_lines(&names, block, row));
        }
        if later.is_empty() {
            return out;
        }
        out.push(String::new());
        rest = later;
    }
}

/// One row of a block, in as many lines as its tallest cell.
fn row_lines(names: &Column, block: &[Column], row: usize) -> Vec<String> {
    let all = || std::iter::once(names).chain(block);
    let tall = all().map(|c| c.cells[row].len()).max().unwrap_or(0);
    (0..tall)
        .map(|i| {
            let mut text = String::new();
            for (j, column) in all().enumerate() {
                let cell = column.cells[row].get(i).map_or("", String::as_str);
                let pad = " ".repeat(column.width - length(cell));
                if j == 0 {
                    text.push_str(cell);
                    text.push_str(&pad);
                } else {
                    text.push_str(&" ".repeat(GAP));
                    text.push_str(&pad);
                    text.push_str(cell);
                }
            }
            text.trim_end().to_owned()
        })
        .collect()
}

/// A text in lines of at most `width` characters, broken at spaces, and inside
/// a word only where that is longer than a line.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut out = Vec::new();
    let mut line: Option<String> = None;
    for word in text.split(' ') {
        let mut word = word.to_owned();
        if let Some(full) = line.take_if(|l| length(l) + 1 + length(&word) > width) {
            out.push(full);
        }
        while length(&word) > width {
            let cut = word
                .char_indices()
                .nth(width)
                .map_or(word.len(), |(at, _)| at);
            out.push(word.drain(..cut).collect());
        }
        line = Some(match line {
            Some(line) => line + " " + &word,
            None => word,
        });
    }
    out.extend(line);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(cells: &[&str]) -> Vec<String> {
        cells.iter().map(|c| (*c).to_owned()).collect()
    }

    #[test]
    fn numbers_stand_under_their_points() {
        let rows = [
            words(&["a", "0.6312", "12", "x"]),
            words(&["bb", "-0.0003123", "3", "-"]),
            words(&["c", "-", "-", "1.5"]),
        ];
        let found = lines(&words(&["view", "R2", "n", "what"]), &rows, 80);
        assert_eq!(
            found,
            [
                "view          R2   n  what",
                "a      0.6312     12     x",
                "bb    -0.0003123   3     -",
                "c              -   -   1.5",
            ]
        );
    }

    #[test]
    fn wide_tables_fold() {
        let mut header = words(&["view"]);
        header.extend((1..=60).map(|k| k.to_string()));
        let row = |name: &str| {
            let mut row = words(&[name]);
            row.extend((1..=60).map(|k| format!("{k}.5")));
            row
        };
        let rows = [row("genes"), row("lipids")];
        for width in [40, 80, 100] {
            let found = lines(&header, &rows, width);
            assert!(found.iter().all(|l| length(l) <= width), "{found:?}");
            let blocks = found.split(String::is_empty);
            let mut numbers = Vec::new();
            for block in blocks {
                assert_eq!(block.len(), 3);
                assert!(block[0].starts_with("view") && block[1].starts_with("genes"));
                let of = |l: &String| -> Vec<String> {
                    l.split_whitespace().skip(1).map(str::to_owned).collect()
                };
                assert_eq!(of(&block[0]).len(), of(&block[2]).len());
                numbers.extend(of(&block[1]));
            }
            assert_eq!(numbers, rows[0][1..]);
        }
        assert_eq!(lines(&header, &rows, 1000).len(), 3);
    }

    #[test]
    fn long_cells_wrap() {
        let many: Vec<String> = (1..=40).map(|i| format!("view{i}")).collect();
        let rows = [
            words(&["1", "shared", &many.join(", ")]),
            words(&[&"q".repeat(99), "x", "y"]),
        ];
        for width in [40, 60, 100] {
            let found = lines(&words(&["factor", "kind", "views"]), &rows, width);
            assert!(found.iter().all(|l| length(l) <= width), "{found:#?}");
            let all = found.join(" ");
            assert!(many.iter().all(|v| all.contains(v.as_str())), "{all}");
            // once in each block
            let blocks = 1 + found.iter().filter(|l| l.is_empty()).count();
            assert_eq!(all.matches('q').count(), 99 * blocks);
        }
    }

    #[test]
    fn sentences_wrap() {
        let text = "one two three fourfivesix";
        assert_eq!(wrapped(text, 9), ["one two", "three", "fourfives", "ix"]);
        assert_eq!(wrapped("  two spaces", 40), ["  two spaces"]);
        assert_eq!(wrapped("", 40), [""]);
    }
}
