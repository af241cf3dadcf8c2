//! Every label of docs/maths that a source file cites is on the page that it
//! names: after the word `spec/NAME` come labels of docs/maths/NAME.md.
//!
//! A label is a section number or a letter with a number: what a heading of the
//! page begins with, or what stands there in bold.
//!
//! Every page of docs/decisions that a file names is there, and in the index.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Folders whose files cite.
const FOLDERS: [&str; 6] = [
    "benches",
    "crates",
    "docs/decisions",
    "docs/maths",
    "examples",
    "tests",
];

/// Labels of a page.
type Labels = BTreeSet<String>;

/// What a source file cites.
#[derive(Clone, Debug, PartialEq)]
struct Citation {
    line: usize,
    page: String,
    /// `None` where the page as a whole is cited.
    label: Option<String>,
}

/// Whether this is a label: 2.6, U7, U1m, A.6b, B.
fn is_label(word: &str) -> bool {
    let number = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    // the last number may have a letter: A.6b
    let last = |s: &str| {
        number(
            s.strip_suffix(|c: char| c.is_ascii_lowercase())
                .unwrap_or(s),
        )
    };
    let numbers = |s: &str| {
        let (before, end) = s.rsplit_once('.').unwrap_or(("0", s));
        before.split('.').all(number) && last(end)
    };
    match word.strip_prefix(|c: char| c.is_ascii_uppercase()) {
        Some("") => true,
        Some(rest) => numbers(rest.strip_prefix('.').unwrap_or(rest)),
        None => word.split('.').all(number),
    }
}

/// Whether this is the letter of an item: a of (a).
fn is_letter(word: &str) -> bool {
    word.len() == 1 && word.bytes().all(|b| b.is_ascii_lowercase())
}

/// Labels that a page has: what headings begin with, and what is bold.
fn labels_of(page: &str) -> Labels {
    let mut out = Labels::new();
    for line in page.lines() {
        if let Some(heading) = line.strip_prefix('#') {
            let first = heading.trim_start_matches('#').split_whitespace().next();
            out.extend(first.map(|w| w.trim_end_matches(['.', ':']).to_owned()));
        }
        out.extend(line.split("**").skip(1).step_by(2).map(str::to_owned));
    }
    out.retain(|l| {
        let item = l.strip_prefix('(').and_then(|l| l.strip_suffix(')'));
        is_label(l) || item.is_some_and(is_letter)
    });
    out
}

/// Words and marks of a text with their lines, comments' signs taken away.
fn words(text: &str) -> Vec<(usize, String)> {
    let mut out = Vec::new();
    for (i, line) in text.lines().enumerate() {
        let line = line.trim_start();
        let line = ["//!", "///", "//"]
            .iter()
            .find_map(|sign| line.strip_prefix(sign))
            .unwrap_or(line);
        let mut add = |word: &str| {
            // a sentence may end with a label
            let bare = word.trim_end_matches('.');
            let (first, second) = match bare.split_once('-') {
                // a range of labels
                Some((a, b)) if is_label(a) && is_label(b) => (a, Some(b)),
                _ => (bare, None),
            };
            let end = (bare.len() < word.len()).then_some(".");
            let parts = [Some(first), second.map(|_| "to"), second, end];
            let parts = parts.into_iter().flatten().filter(|p| !p.is_empty());
            out.extend(parts.map(|p| (i + 1, p.to_owned())));
        };
        for word in line.replace('`', "").split_whitespace() {
            let mut rest = word;
            while let Some(at) = rest.find(['(', ')', ',', ';', ':']) {
                add(&rest[..at]);
                add(&rest[at..=at]);
                rest = &rest[at + 1..];
            }
            add(rest);
        }
    }
    out
}

/// The page that a word names: `spec/NAME`.
fn page_of(word: &str) -> Option<&str> {
    let is_name =
        |name: &&str| !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'-');
    word.strip_prefix("spec/").filter(is_name)
}

/// What a text cites; `pages` are the names of all pages, which also stand
/// without `spec/` after the first: `spec/sshiba M5, mofa A.2`.
fn citations(text: &str, pages: &BTreeSet<String>) -> Vec<Citation> {
    if !text.contains("spec/") {
        return Vec::new();
    }
    let words = words(text);
    let word = |i: usize| words.get(i).map_or("", |w| w.1.as_str());
    let mut out = Vec::new();
    for (start, (line, first)) in words.iter().enumerate() {
        let Some(page) = page_of(first) else { continue };
        let mut page = page.to_owned();
        let mut add = |page: &str, line: usize, label: Option<String>| {
            let page = page.to_owned();
            out.push(Citation { line, page, label });
        };
        add(&page, *line, None);
        // L8 and L9 of spec/NAME
        if start > 0 && word(start - 1) == "of" {
            let before = words[..start - 1].iter().rev();
            for (line, w) in before.take_while(|w| is_label(&w.1) || is_connector(&w.1)) {
                if w.starts_with(|c: char| c.is_ascii_uppercase()) {
                    add(&page, *line, Some(w.clone()));
                }
            }
        }
        // whether a label may come, and the section that items are of
        let (mut open, mut items, mut section) = (true, false, String::new());
        let mut i = start + 1;
        while let Some((line, w)) = words.get(i) {
            i += 1;
            let (line, w) = (*line, w.as_str());
            if is_connector(w) {
                open = true;
            } else if open && items && is_label(w) && !w.contains('.') && !starts_upper(w) {
                add(&page, line, Some(format!("{section}.{w}")));
                open = false;
            } else if open && is_label(w) {
                add(&page, line, Some(w.to_owned()));
                (open, items) = (false, false);
                w.clone_into(&mut section);
            } else if w == "(" && is_letter(word(i)) && word(i + 1) == ")" {
                add(&page, line, Some(format!("({})", word(i))));
                i += 2;
                open = false;
            } else if w == "(" && i == start + 2 {
                // spec/NAME (LABEL)
            } else if matches!(w, "item" | "items") {
                (open, items) = (true, true);
            } else if is_filler(w) {
                open = true;
            } else if open && pages.contains(w) {
                (page, items) = (w.to_owned(), false);
            } else {
                break;
            }
        }
    }
    out
}

fn starts_upper(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_uppercase())
}

/// What stands between two labels.
fn is_connector(word: &str) -> bool {
    matches!(word, "," | ";" | "and" | "or" | "to")
}

/// What says of which kind the next label is.
fn is_filler(word: &str) -> bool {
    let kinds = [
        "section", "sections", "part", "erratum", "errata", "list", "test",
    ];
    kinds.contains(&word)
}

/// Source files and texts below a folder, in order.
fn sources(folder: &Path, out: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).expect("a folder that can be read");
    let mut paths: Vec<PathBuf> = entries.map(|e| e.expect("an entry").path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            if path.file_name().is_some_and(|n| n != "target") {
                sources(&path, out);
            }
        } else if path.extension().is_some_and(|e| e == "rs" || e == "md") {
            out.push(path);
        }
    }
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

#[test]
fn every_cited_label_is_on_its_page() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut pages: BTreeMap<String, Labels> = BTreeMap::new();
    let mut texts = Vec::new();
    sources(&root.join("docs/maths"), &mut texts);
    for path in texts {
        let name = path.file_stem().expect("a name").to_string_lossy();
        pages.insert(name.into_owned(), labels_of(&read(&path)));
    }
    let names: BTreeSet<String> = pages.keys().cloned().collect();
    let mut files = vec![root.join("ARCHITECTURE.md")];
    for folder in FOLDERS {
        sources(&root.join(folder), &mut files);
    }
    let (mut cited, mut wrong) = (0, Vec::new());
    for path in files {
        let shown = path.strip_prefix(&root).unwrap_or(&path).display();
        for Citation { line, page, label } in citations(&read(&path), &names) {
            match (pages.get(&page), label) {
                (None, None) => wrong.push(format!(
                    "{shown}:{line}: spec/{page}: there is no docs/maths/{page}.md"
                )),
                (Some(labels), Some(label)) if !labels.contains(&label) => wrong.push(format!(
                    "{shown}:{line}: spec/{page} {label}: docs/maths/{page}.md has no such label"
                )),
                (_, label) => cited += usize::from(label.is_some()),
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} labels are cited that are not there:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    // the files have been found
    assert!(cited > 100, "{cited}");
}

/// Pages of decisions that a text names, by its lines: `0007-compression.md`
/// wherever it stands.
fn decisions(text: &str) -> Vec<(usize, String)> {
    let mut out = Vec::new();
    for (i, line) in text.lines().enumerate() {
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.');
        for word in line.split(|c| !is_part(c)) {
            let number = word.split_once('-').map_or("", |(n, _)| n);
            let is_number = number.len() == 4 && number.bytes().all(|b| b.is_ascii_digit());
            let word = word.trim_end_matches('.');
            if is_number && Path::new(word).extension().is_some_and(|e| e == "md") {
                out.push((i + 1, word.to_owned()));
            }
        }
    }
    out
}

#[test]
fn every_decision_that_is_named_is_there_and_in_the_index() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut pages = Vec::new();
    sources(&root.join("docs/decisions"), &mut pages);
    let name = |p: &PathBuf| {
        p.file_name()
            .expect("a name")
            .to_string_lossy()
            .into_owned()
    };
    let pages: Vec<String> = pages.iter().map(name).collect();
    let index = decisions(&read(&root.join("docs/decisions/README.md")));
    let index: Vec<String> = index.into_iter().map(|d| d.1).collect();
    assert_eq!(pages[..pages.len() - 1], index, "the index and the pages");
    let mut files = ["ARCHITECTURE.md", "CONTRIBUTING.md", "README.md"]
        .map(|f| root.join(f))
        .to_vec();
    for folder in FOLDERS {
        sources(&root.join(folder), &mut files);
    }
    for path in files {
        let shown = path.strip_prefix(&root).unwrap_or(&path).display();
        for (line, page) in decisions(&read(&path)) {
            // this file makes one up
            let known = pages.contains(&page) || page == "0000-nothing.md";
            assert!(known, "{shown}:{line}: there is no docs/decisions/{page}");
        }
    }
}

#[test]
fn decisions_are_named_by_their_files() {
    assert_eq!(
        decisions("nothing\n(docs/decisions/0000-nothing.md). 1234-5 0000.md"),
        [(2, "0000-nothing.md".to_owned())]
    );
}

#[test]
fn labels_are_headings_and_bold_words() {
    let page = "# A page\n## 2 Updates\n### 2.6. Together\n## A Part\n### A.6b Gibbs\n\
                * **U1m** and **not this**, U9\n| **E15** | **(f)** | **9.6.7** |\n";
    let found: Vec<String> = labels_of(page).into_iter().collect();
    assert_eq!(
        found,
        ["(f)", "2", "2.6", "9.6.7", "A", "A.6b", "E15", "U1m"]
    );
    for no in ["DESIGN", "U", "2.", ".6", "u7", "A.b", "2.6b"] {
        assert_eq!(is_label(no), no == "U", "{no}");
    }
}

#[test]
fn citations_are_read_as_people_write_them() {
    let pages = ["mofa", "sshiba"].map(str::to_owned).into_iter().collect();
    let read = |text: &str| -> Vec<String> {
        let of = |c: Citation| c.label.map(|l| format!("{}:{} {l}", c.line, c.page));
        citations(text, &pages).into_iter().filter_map(of).collect()
    };
    assert_eq!(
        read("/// (shape, rate; spec/sshiba\n/// G8, G9, errata E15, E23). One of 4."),
        ["2:sshiba G8", "2:sshiba G9", "2:sshiba E15", "2:sshiba E23"]
    );
    assert_eq!(
        read("//! (spec/sshiba L4-L6; mofa A.2)."),
        ["1:sshiba L4", "1:sshiba L6", "1:mofa A.2"]
    );
    assert_eq!(
        read("// spec/sshiba 9.6 items 3, 7; spec/mofa C.2, items 1 to 4: all"),
        [
            "1:sshiba 9.6",
            "1:sshiba 9.6.3",
            "1:sshiba 9.6.7",
            "1:mofa C.2",
            "1:mofa C.2.1",
            "1:mofa C.2.4"
        ]
    );
    assert_eq!(
        read("`spec/mofa` C.3 (f), also; spec/mofa (A.5; erratum E9), part A"),
        ["1:mofa C.3", "1:mofa (f)", "1:mofa A.5", "1:mofa E9"]
    );
    assert_eq!(
        read("U7 against\n//! L8 and L9 of spec/sshiba. A sentence"),
        ["2:sshiba L9", "2:sshiba L8"]
    );
    assert_eq!(
        read("spec/sshiba P6 without 3; spec/choices.rs 4"),
        ["1:sshiba P6"]
    );
}
