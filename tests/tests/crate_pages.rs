//! The page of a crate in a registry is the page of its documentation: README.md is made of the
//! text at the head of `src/lib.rs`. After a change of that text:
//! `POLYVIEW_NEW_PAGES=1 cargo test -p polyview-tests --test crate_pages`.

use std::fs;
use std::path::{Path, PathBuf};

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates")
}

/// Crates that are libraries, and what their documentation says first.
fn libraries() -> Vec<(String, String)> {
    let mut out = Vec::new();
    for entry in fs::read_dir(crates()).expect("there are crates") {
        let folder = entry.expect("a folder").path();
        let Ok(source) = fs::read_to_string(folder.join("src/lib.rs")) else {
            continue;
        };
        let name = folder.file_name().expect("a name").to_string_lossy();
        let head: Vec<&str> = source
            .lines()
            .map_while(|line| line.strip_prefix("//!"))
            .map(|line| line.strip_prefix(' ').unwrap_or(line))
            .collect();
        out.push((name.into_owned(), head.join("\n")));
    }
    out.sort();
    out
}

/// A link into the documentation becomes its words: nobody else can follow it.
fn without_links(line: &str) -> String {
    let (mut out, mut rest) = (String::new(), line);
    while let Some(open) = rest.find('[') {
        let (before, after) = rest.split_at(open);
        out.push_str(before);
        let link = after
            .find(']')
            .map(|end| (&after[1..end], &after[end + 1..]));
        let Some((words, tail)) = link else {
            return out + after;
        };
        let target = tail
            .strip_prefix('(')
            .and_then(|t| t.find(')').map(|end| (&t[..end], &t[end + 1..])));
        rest = match target {
            // an item whose path ends in `()` has the parenthesis after its own
            Some((target, past)) if !target.contains(['/', '.']) => {
                out.push_str(words);
                let own = past.strip_prefix(')').filter(|_| target.ends_with('('));
                own.unwrap_or(past)
            }
            None if words.starts_with('`') => {
                out.push_str(words);
                tail
            }
            _ => {
                out.push_str(&after[..=words.len() + 1]);
                tail
            }
        };
    }
    out + rest
}

/// The page: code without what documentation hides, formulas without the escapes of its comments.
fn page(name: &str, head: &str) -> String {
    let mut out = format!("# {name}\n\n");
    let mut code = None;
    for line in head.lines() {
        if let Some(language) = line.strip_prefix("```") {
            code = if code.is_some() { None } else { Some(language) };
            let rust = code.is_some_and(str::is_empty);
            out.push_str(if rust { "```rust" } else { line });
        } else if code.is_some() {
            if line == "#" || line.starts_with("# ") {
                continue;
            }
            out.push_str(line);
        } else {
            if line.starts_with('#') {
                out.push('#');
            }
            out.push_str(
                &without_links(line)
                    .replace("\\_", "_")
                    .replace("\\\\,", "\\,"),
            );
        }
        out.push('\n');
    }
    out + "\nPart of polyview, modular Bayesian factor models for multi-view data. Licence: MIT.\n"
}

#[test]
fn the_page_of_a_crate_is_its_documentation() {
    let renew = std::env::var_os("POLYVIEW_NEW_PAGES").is_some();
    let libraries = libraries();
    assert!(libraries.len() > 10, "{libraries:?}");
    for (name, head) in libraries {
        let file = crates().join(&name).join("README.md");
        let made = page(&name, &head);
        if renew {
            fs::write(&file, made).expect("a file");
        } else {
            let found = fs::read_to_string(&file).unwrap_or_default();
            assert!(
                found == made,
                "{name}/README.md is not that of its src/lib.rs"
            );
        }
    }
}

#[test]
fn links_become_words() {
    let of = |line| without_links(line);
    assert_eq!(
        of("a [`Fit`] and [`fit`](fit()), done"),
        "a `Fit` and `fit`, done"
    );
    assert_eq!(of("([`dual`](fn@dual)), and"), "(`dual`), and");
    assert_eq!(
        of("[here](https://example.org) x[1] [a"),
        "[here](https://example.org) x[1] [a"
    );
}
