//! Running the command in a folder of its own.

use std::path::Path;
use std::process::Output;

use assert_cmd::Command;

/// Runs `polyview` with words parted by spaces, in `folder`.
pub fn run(folder: &Path, words: &str) -> Output {
    Command::cargo_bin("polyview")
        .expect("the binary")
        .current_dir(folder)
        .env("COLUMNS", "100")
        .args(words.split_whitespace())
        .output()
        .expect("it runs")
}

/// Standard error of a run that succeeds, as one line: lines are as long as the terminal is
/// wide.
pub fn said(folder: &Path, words: &str) -> String {
    let o = run(folder, words);
    let err = String::from_utf8_lossy(&o.stderr).into_owned();
    assert!(o.status.success(), "polyview {words}: {err}");
    err.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Runs it and expects success; returns standard output.
pub fn ok(folder: &Path, words: &str) -> String {
    let o = run(folder, words);
    let err = String::from_utf8_lossy(&o.stderr).into_owned();
    assert!(o.status.success(), "polyview {words}: {err}");
    String::from_utf8_lossy(&o.stdout).into_owned()
}

/// Runs it and expects an exit code; returns standard error.
pub fn fails(folder: &Path, words: &str, code: i32) -> String {
    let o = run(folder, words);
    let err = String::from_utf8_lossy(&o.stderr).into_owned();
    assert_eq!(o.status.code(), Some(code), "polyview {words}: {err}");
    assert!(!err.contains("panicked"), "{err}");
    err
}

/// Writes a file.
pub fn put(folder: &Path, name: &str, text: impl AsRef<[u8]>) {
    std::fs::write(folder.join(name), text).expect("a file");
}

/// Reads a file.
pub fn get(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).expect("a file")
}

/// Expects two tables to hold the same words, and the same numbers to rounding.
pub fn same_table(a: &str, b: &str) {
    let cells = |t: &str| -> Vec<String> { t.split([',', '\n']).map(str::to_owned).collect() };
    let (a, b) = (cells(a), cells(b));
    assert_eq!(a.len(), b.len());
    for (x, y) in a.iter().zip(&b) {
        match (x.parse::<f64>(), y.parse::<f64>()) {
            (Ok(x), Ok(y)) => assert!((x - y).abs() < 1e-8 * (1.0 + x.abs()), "{x} {y}"),
            _ => assert_eq!(x, y),
        }
    }
}
