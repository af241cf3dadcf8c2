//! Every command that a README shows runs as it is written, in order, in one
//! folder, on data that come with the program.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A command of a document, and the line that it stands in, from 1.
#[derive(Debug, PartialEq)]
struct Shown {
    line: usize,
    text: String,
}

/// The commands of a document, in order: the lines of its `sh` blocks, and code
/// within text and tables that begins with `polyview `. Only what begins with
/// `cargo` is left out: that builds, tests or installs the program itself.
fn commands(document: &str) -> Vec<Shown> {
    let mut found = Vec::new();
    let mut fence: Option<&str> = None;
    let mut lines = document.lines().enumerate();
    while let Some((at, text)) = lines.next() {
        let line = at + 1;
        if let Some(kind) = text.trim_start().strip_prefix("```") {
            fence = match fence {
                None => Some(kind),
                Some(_) => None,
            };
            continue;
        }
        match fence {
            Some("sh") => {
                let mut text = text.to_owned();
                while text.ends_with('\\') {
                    let Some((_, next)) = lines.next() else { break };
                    text.push('\n');
                    text.push_str(next);
                }
                found.push(Shown { line, text });
            }
            Some(_) => {}
            None => {
                // every second part of the line stands between backticks
                let spans = text.split('`').skip(1).step_by(2);
                let shown = spans.filter(|s| s.starts_with("polyview "));
                found.extend(shown.map(|s| Shown {
                    line,
                    text: s.to_owned(),
                }));
            }
        }
    }
    found.retain(|c| {
        let text = c.text.trim_start();
        !(text.is_empty() || text.starts_with('#') || text.starts_with("cargo "))
    });
    found
}

/// Runs commands as one script in a folder of its own; the error names the first
/// that fails, and what it said.
fn run(name: &str, commands: &[Shown]) -> Result<(), String> {
    let dir = tempfile::tempdir().expect("a folder");
    let work = dir.path().join("work");
    std::fs::create_dir(&work).expect("a folder");
    let place = dir.path().join("place");
    let mut script = "set -eu\n".to_owned();
    for (i, c) in commands.iter().enumerate() {
        let _ = writeln!(script, "echo {i} > '{}'\n{}", place.display(), c.text);
    }
    let file = dir.path().join("script.sh");
    std::fs::write(&file, script).expect("a file");
    let folder = program().parent().expect("its folder").to_owned();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(folder).chain(std::env::split_paths(&path)));
    let output = Command::new("sh")
        .arg(&file)
        .current_dir(&work)
        .env("PATH", path.expect("a search path"))
        .output()
        .expect("a shell");
    if output.status.success() {
        return Ok(());
    }
    let at: usize = std::fs::read_to_string(&place)
        .ok()
        .and_then(|i| i.trim().parse().ok())
        .unwrap_or(0);
    let Shown { line, text } = &commands[at];
    Err(format!(
        "{name}, line {line}: {text}\n{}",
        String::from_utf8_lossy(&output.stderr)
            .lines()
            .rev()
            .take(4)
            .collect::<Vec<_>>()
            .into_iter()
            .rev()
            .collect::<Vec<_>>()
            .join("\n")
    ))
}

fn program() -> PathBuf {
    assert_cmd::cargo::cargo_bin("polyview")
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Runs what a README shows; returns how many commands that were.
fn readme(folder: &str) -> usize {
    let name = format!("{folder}README.md");
    let text = std::fs::read_to_string(root().join(&name)).expect("a README");
    let commands = commands(&text);
    run(&name, &commands).unwrap_or_else(|why| panic!("{why}"));
    commands.len()
}

#[test]
fn the_commands_of_the_readme_run_as_written() {
    let count = readme("");
    assert!(count >= 25, "{count} commands alone were found");
}

#[test]
#[cfg(feature = "hdf5")]
fn the_commands_of_the_crates_pages_run_as_written() {
    let mut count = 0;
    let crates = std::fs::read_dir(root().join("crates")).expect("a folder");
    for folder in crates {
        let folder = folder.expect("a folder").file_name();
        count += readme(&format!("crates/{}/", folder.to_string_lossy()));
    }
    assert!(count >= 10, "{count} commands alone were found");
}

const DOCUMENT: &str = "Try `polyview datasets`, of the crate `polyview`.

```sh
# a comment
cargo install polyview-cli
polyview datasets nutrimouse \\
    --out-dir .    # two lines
cat genes.csv > /dev/null
```

```text
polyview not a command
```

| a | `polyview inspect none.pv` |
";

#[test]
fn commands_are_found_in_blocks_text_and_tables() {
    let shown = |line: usize, text: &str| Shown {
        line,
        text: text.into(),
    };
    assert_eq!(
        commands(DOCUMENT),
        [
            shown(1, "polyview datasets"),
            shown(
                6,
                "polyview datasets nutrimouse \\\n    --out-dir .    # two lines"
            ),
            shown(8, "cat genes.csv > /dev/null"),
            shown(15, "polyview inspect none.pv"),
        ]
    );
}

#[test]
fn a_command_that_fails_is_named_with_its_line() {
    let why = run("PAGE.md", &commands(DOCUMENT)).expect_err("there is no such model");
    assert!(
        why.starts_with("PAGE.md, line 15: polyview inspect none.pv\n"),
        "{why}"
    );
    assert!(why.contains("there is no such file"), "{why}");
}
