//! Blocks of a file that the suite writes: what lies between `<!-- suite:NAME -->` and
//! `<!-- /suite -->`, each on a line of its own. Everything else stays as it is.

use thiserror::Error;

/// The line that ends a block.
const END: &str = "<!-- /suite -->";

/// Markers that do not belong together; lines count from 1.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum BlockError {
    /// Two blocks of one name.
    #[error("lines {first} and {second} both begin the block '{name}'; leave one of them")]
    Twice {
        /// The block.
        name: String,
        /// Where it begins.
        first: usize,
        /// Where it begins again.
        second: usize,
    },
    /// A block without an end.
    #[error(
        "the block '{name}' of line {line} has no end; write {END} on a line of its own after it"
    )]
    Open {
        /// The block.
        name: String,
        /// Where it begins.
        line: usize,
    },
}

fn begin(name: &str) -> String {
    format!("<!-- suite:{name} -->")
}

/// The text with `body` in the block `name`. Where there is no such block it is added at the end
/// of the text, below a heading.
///
/// # Errors
/// [`BlockError`] where the block is there twice or does not end.
pub fn rewrite(text: &str, name: &str, title: &str, body: &str) -> Result<String, BlockError> {
    let block = format!("{}\n\n{}\n\n{END}\n", begin(name), body.trim());
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let begins: Vec<usize> = (0..lines.len())
        .filter(|&i| lines[i].trim() == begin(name))
        .collect();
    let first = match begins[..] {
        [] if text.trim().is_empty() => return Ok(format!("## {title}\n\n{block}")),
        [] => return Ok(format!("{}\n\n## {title}\n\n{block}", text.trim_end())),
        [first] => first,
        [first, second, ..] => {
            return Err(BlockError::Twice {
                name: name.to_owned(),
                first: first + 1,
                second: second + 1,
            });
        }
    };
    let inside = lines[first + 1..].iter();
    let marker = inside
        .enumerate()
        .find(|(_, l)| l.trim() == END || l.trim().starts_with("<!-- suite:"));
    match marker {
        Some((after, line)) if line.trim() == END => Ok([
            lines[..first].concat(),
            block,
            lines[first + after + 2..].concat(),
        ]
        .concat()),
        _ => Err(BlockError::Open {
            name: name.to_owned(),
            line: first + 1,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# Title\n\nBefore, `<!-- suite:speed -->` in a sentence.\n\n<!-- suite:speed -->\nold\n<!-- /suite -->\nBetween\n<!-- suite:axes -->\n<!-- /suite -->\n\nAfter\n";

    #[test]
    fn only_the_block_changes_and_a_second_time_nothing_does() {
        let new = rewrite(TEXT, "speed", "Speed", "| a |\n").unwrap();
        let wanted = TEXT.replace("\nold\n", "\n\n| a |\n\n");
        assert_eq!(new, wanted);
        assert_eq!(rewrite(&new, "speed", "Speed", "| a |").unwrap(), new);
    }

    #[test]
    fn an_empty_block_is_filled() {
        let new = rewrite(TEXT, "axes", "Axes", "x").unwrap();
        let at = "<!-- suite:axes -->\n\nx\n\n<!-- /suite -->\n\nAfter\n";
        assert!(new.ends_with(at) && new.starts_with("# Title"));
    }

    #[test]
    fn a_new_block_comes_last_below_its_heading() {
        let new = rewrite(TEXT, "threads", "Threads", "x").unwrap();
        let block = "## Threads\n\n<!-- suite:threads -->\n\nx\n\n<!-- /suite -->\n";
        assert_eq!(new, format!("{TEXT}\n{block}"));
        assert_eq!(rewrite("", "threads", "Threads", "x").unwrap(), block);
    }

    #[test]
    fn a_file_without_a_last_line_break_keeps_its_words() {
        let new = rewrite("words", "a", "A", "x").unwrap();
        assert!(new.starts_with("words\n\n## A\n"));
        let text = "<!-- suite:a -->\n<!-- /suite -->";
        assert_eq!(
            rewrite(text, "a", "A", "x").unwrap(),
            "<!-- suite:a -->\n\nx\n\n<!-- /suite -->\n"
        );
    }

    #[test]
    fn markers_that_do_not_belong_together_are_named() {
        let open = "<!-- suite:a -->\nold\n<!-- suite:b -->\n<!-- /suite -->\n";
        let error = rewrite(open, "a", "A", "x").unwrap_err();
        assert!(
            error.to_string().contains("'a' of line 1 has no end"),
            "{error}"
        );
        let twice = TEXT.replace("suite:axes", "suite:speed");
        let error = rewrite(&twice, "speed", "Speed", "x").unwrap_err();
        assert!(error.to_string().contains("lines 5 and 9"), "{error}");
    }
}
