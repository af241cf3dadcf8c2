//! The kernel refuses to write: a limit on the size of files stands for a full
//! disk, for which no privilege is needed.

use std::path::Path;
use std::process::{Command, Output};

use crate::common::{ok, put};

/// Runs the command where files can take at most two blocks (of 512 or 1024
/// bytes, as the shell has it), and no signal is sent when they are full.
fn limited(folder: &Path, words: &str) -> Output {
    Command::new("sh")
        .current_dir(folder)
        .args(["-c", "trap '' XFSZ; ulimit -f 2; exec \"$@\"", "sh"])
        .arg(env!("CARGO_BIN_EXE_polyview"))
        .args(words.split_whitespace())
        .output()
        .expect("it runs")
}

/// Every file of the folder with what is in it.
fn content(folder: &Path) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    let mut all: Vec<_> = std::fs::read_dir(folder)
        .expect("a folder")
        .map(|e| e.expect("an entry").path())
        .filter(|p| p.is_file())
        .map(|p| (p.clone(), std::fs::read(&p).expect("a file")))
        .collect();
    all.sort();
    all
}

/// The kernel refuses `file`: the message names it and the mend, and nothing
/// in the folder changes.
fn refused(folder: &Path, words: &str, file: &str) {
    put(folder, file, "precious");
    let before = content(folder);
    let o = limited(folder, words);
    let err = String::from_utf8_lossy(&o.stderr);
    assert_eq!(o.status.code(), Some(1), "polyview {words}: {err}");
    for word in [file, "the disk is full", "make room"] {
        assert!(err.contains(word), "'{word}' is not in: {err}");
    }
    assert_eq!(err.matches(file).count(), 1, "{err}");
    assert_eq!(before, content(folder), "polyview {words}");
}

#[test]
fn nothing_is_lost_when_the_disk_is_full() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    ok(
        at,
        "simulate --samples 60 --features 12,8 --factors 2 --missing 0.1 --out-dir sim",
    );
    let fit = "fit --quiet --view a=sim/view1.csv --view b=sim/view2.csv -k 2 --max-sweeps 40";
    ok(at, &format!("{fit} --out m.pv"));
    refused(at, &format!("{fit} --out full.pv --force"), "full.pv");
    refused(
        at,
        &format!("{fit} --out n.pv --force --checkpoint full.ckpt --checkpoint-every 0"),
        "full.ckpt",
    );
    for ending in ["csv", "tsv.gz", "npy", "npz"] {
        let file = format!("full.{ending}");
        let words = format!("impute m.pv --view a --out {file} --force");
        refused(at, &words, &file);
    }
    refused(at, "report m.pv --out full.html --force", "full.html");
    // the limit is what refuses: the same commands succeed without it
    ok(at, &format!("{fit} --out full.pv --force"));
    ok(at, "impute m.pv --view a --out full.csv --force");
    ok(at, "report m.pv --out full.html --force");
}

/// Tables of a simulation: the first that does not fit stops it.
#[test]
fn a_simulation_that_does_not_fit() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    let o = limited(
        at,
        "simulate --samples 200 --features 20 --factors 2 --out-dir sim",
    );
    let err = String::from_utf8_lossy(&o.stderr);
    assert_eq!(o.status.code(), Some(1), "{err}");
    assert!(
        err.contains("the disk is full") && err.contains("sim/"),
        "{err}"
    );
    let left = content(&at.join("sim"));
    assert!(left.iter().all(|(_, bytes)| bytes.len() <= 2048));
    assert!(
        !left
            .iter()
            .any(|(p, _)| p.to_string_lossy().ends_with(".partial"))
    );
}
