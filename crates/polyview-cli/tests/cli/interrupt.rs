//! Ctrl-C in the middle of a fit, and going on.

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use polyview::{Checkpoint, Fit};
use serde_json::Value;

use crate::common::{fails, ok};

/// Longest that a test waits for a child.
const PATIENCE: Duration = Duration::from_secs(120);

/// Starts the command and leaves it to itself.
fn start(folder: &Path, words: &str) -> Child {
    Command::new(env!("CARGO_BIN_EXE_polyview"))
        .current_dir(folder)
        .args(words.split_whitespace())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts")
}

/// Presses Ctrl-C when the file exists, and waits for the end.
fn interrupt_when(mut child: Child, file: &Path) -> Output {
    let started = Instant::now();
    while !file.exists() && started.elapsed() < PATIENCE {
        assert!(child.try_wait().expect("a status").is_none(), "it ended");
        std::thread::sleep(Duration::from_millis(2));
    }
    interrupt(child)
}

/// Presses Ctrl-C and waits for the end.
fn interrupt(child: Child) -> Output {
    let sent = Command::new("sh")
        .args(["-c", "kill -INT \"$0\"", &child.id().to_string()])
        .status()
        .expect("a shell");
    assert!(sent.success(), "the fit was over before Ctrl-C");
    child.wait_with_output().expect("an end")
}

/// A model file in two parts: its header without what a clock put there (and
/// the checksum, which depends on it), and the bytes of its arrays.
fn parts(path: &Path) -> (Value, Vec<u8>) {
    let mut bytes = std::fs::read(path).expect("a file");
    let (len, _) = bytes.split_first_chunk::<8>().expect("a length");
    let arrays = bytes.split_off(8 + u64::from_le_bytes(*len) as usize);
    let mut table: Value = serde_json::from_slice(&bytes[8..]).expect("JSON");
    let metadata = table["__metadata__"].take();
    let header = metadata["polyview"].as_str().expect("a header");
    let mut header: Value = serde_json::from_str(header).expect("JSON");
    let seconds = header["record"]["seconds"].take();
    assert!(seconds.is_number());
    (serde_json::json!([table, header]), arrays)
}

fn interrupted_and_resumed(fit: &str) {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    ok(
        at,
        "simulate --samples 60 --features 12,8 --factors 3 --missing 0.1 --seed 2 --out-dir sim",
    );
    let fit = format!("fit --view a=sim/view1.csv --view b=sim/view2.csv {fit}");
    // a checkpoint after each sweep tells when the fit is under way
    let child = start(
        at,
        &format!("{fit} --out m.pv --checkpoint run.ckpt --checkpoint-every 0"),
    );
    let o = interrupt_when(child, &at.join("run.ckpt"));
    let err = String::from_utf8_lossy(&o.stderr);
    assert_eq!(o.status.code(), Some(130), "{err}");
    assert!(o.stdout.is_empty(), "no result was claimed");
    let said = err.lines().last().unwrap_or("");
    assert!(
        said.starts_with("error: interrupted at sweep ")
            && said.ends_with("; go on with --resume run.ckpt"),
        "{err}"
    );
    let mut files: Vec<String> = std::fs::read_dir(at)
        .expect("a folder")
        .map(|e| e.expect("an entry").file_name().to_string_lossy().into())
        .collect();
    files.sort();
    assert_eq!(files, ["run.ckpt", "sim"], "no model, nothing unfinished");
    Checkpoint::load(at.join("run.ckpt")).expect("a checkpoint that can be read");

    ok(
        at,
        &format!("{fit} --resume run.ckpt --out resumed.pv --quiet"),
    );
    ok(at, &format!("{fit} --out whole.pv --quiet"));
    let (resumed, whole) = (parts(&at.join("resumed.pv")), parts(&at.join("whole.pv")));
    assert_eq!(resumed.0, whole.0, "the headers differ");
    assert!(resumed.1 == whole.1, "the numbers differ");
    // the checkpoint was in the middle, not at the end
    let sweep: usize = said
        .trim_start_matches("error: interrupted at sweep ")
        .split(';')
        .next()
        .and_then(|n| n.parse().ok())
        .expect("a sweep");
    let whole = Fit::load(at.join("whole.pv")).expect("a model");
    assert!(sweep >= 1 && sweep < whole.record().sweeps, "{sweep}");
}

#[test]
fn variational_bayes() {
    interrupted_and_resumed("-k 5 --seed 4 --tolerance 1e-300 --max-sweeps 3000");
}

/// A fit that stopped at the limit of sweeps goes on with a larger one.
#[test]
fn more_sweeps() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    ok(
        at,
        "simulate --samples 60 --features 12,8 --factors 3 --missing 0.1 --seed 2 --out-dir sim",
    );
    let fit = "fit --quiet --view a=sim/view1.csv --view b=sim/view2.csv -k 5 --tolerance 1e-300";
    ok(
        at,
        &format!("{fit} --max-sweeps 6 --checkpoint run.ckpt --out short.pv"),
    );
    ok(
        at,
        &format!("{fit} --max-sweeps 15 --resume run.ckpt --out resumed.pv"),
    );
    ok(at, &format!("{fit} --max-sweeps 15 --out whole.pv"));
    // a smaller one than is done is the number's fault, not the file's
    let err = fails(
        at,
        &format!("{fit} --max-sweeps 4 --resume run.ckpt --out n.pv"),
        1,
    );
    assert!(
        err.contains("has 5 sweeps done, more than max-sweeps = 4 allows")
            && err.contains("above 5"),
        "{err}"
    );
    let (resumed, whole) = (parts(&at.join("resumed.pv")), parts(&at.join("whole.pv")));
    assert_eq!(resumed.0, whole.0, "the headers differ");
    assert!(resumed.1 == whole.1, "the numbers differ");
}

/// What was asked for in another way is named by itself, not by all choices of all views.
#[test]
fn the_choice_that_differs_is_named() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    ok(
        at,
        "simulate --samples 60 --features 12,8 --factors 3 --missing 0.1 --seed 2 --out-dir sim",
    );
    let fit = "fit --quiet --view a=sim/view1.csv --view b=sim/view2.csv -k 5 --max-sweeps 6";
    ok(at, &format!("{fit} --checkpoint run.ckpt --out short.pv"));
    let resume = format!("{fit} --resume run.ckpt --out n.pv");
    for (more, named) in [("--settle b", "settle"), ("--noise view", "noise")] {
        let err = fails(at, &format!("{resume} {more}"), 1);
        let err = err.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(err.contains(named) && !err.contains('{'), "{err}");
    }
}

#[test]
fn gibbs() {
    interrupted_and_resumed(
        "-k 3 --seed 4 --engine gibbs --chains 2 --warm-up 500 --sweeps 1500 --thin 50",
    );
}

/// Presses Ctrl-C as soon as the command listens for it, which the system
/// tells, and waits for the end.
#[cfg(target_os = "linux")]
fn interrupt_when_listening(mut child: Child) -> Output {
    let status = format!("/proc/{}/status", child.id());
    let listens = || {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let mask = text.lines().find_map(|l| l.strip_prefix("SigCgt:"));
        let mask = mask.and_then(|m| u64::from_str_radix(m.trim(), 16).ok());
        mask.is_some_and(|m| m & 2 != 0) // the bit of SIGINT
    };
    let started = Instant::now();
    while !listens() && started.elapsed() < PATIENCE {
        assert!(child.try_wait().expect("a status").is_none(), "it ended");
        std::thread::sleep(Duration::from_millis(2));
    }
    interrupt(child)
}

/// The joint fit is in a checkpoint before a view is settled.
#[test]
fn settling_is_interrupted_too() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    ok(at, "datasets patients --out-dir pt");
    let fit = "fit --model mofa --view rna=pt/counts.csv:pln --view drugs=pt/drugs.csv:gaussian -k 3 \
               --settle rna";
    let file = at.join("run.ckpt");
    let child = start(at, &format!("{fit} --out m.pv --checkpoint run.ckpt"));
    let o = interrupt_when(child, &file);
    let err = String::from_utf8_lossy(&o.stderr);
    assert_eq!(o.status.code(), Some(130), "{err}");
    assert!(err.ends_with("; go on with --resume run.ckpt\n"), "{err}");
    assert!(o.stdout.is_empty() && !at.join("m.pv").exists());
    Checkpoint::load(&file).expect("a checkpoint that can be read");
}

/// The checkpoint is that of Ctrl-C: the next one by the clock is far away.
#[cfg(target_os = "linux")]
#[test]
fn a_checkpoint_at_once_or_none_at_all() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    ok(
        at,
        "simulate --samples 60 --features 12 --factors 3 --seed 2 --out-dir sim",
    );
    let fit = "fit --view a=sim/view1.csv -k 3 --engine gibbs --sweeps 100000000 --thin 1000 \
               --out m.pv --quiet";
    let o = interrupt_when_listening(start(at, &format!("{fit} --checkpoint run.ckpt")));
    let err = String::from_utf8_lossy(&o.stderr);
    assert_eq!(o.status.code(), Some(130), "{err}");
    assert!(err.ends_with("; go on with --resume run.ckpt\n"), "{err}");
    Checkpoint::load(at.join("run.ckpt")).expect("a checkpoint that can be read");

    let o = interrupt_when_listening(start(at, fit));
    let err = String::from_utf8_lossy(&o.stderr);
    assert_eq!(o.status.code(), Some(130), "{err}");
    let said = err.trim_start_matches("error: interrupted at sweep ");
    let (sweep, mend) = said.split_once("; ").expect("what to do");
    assert!(sweep.parse::<usize>().is_ok(), "{err}");
    assert!(
        mend.starts_with("nothing was kept") && mend.contains("--checkpoint FILE"),
        "{err}"
    );
    assert!(!at.join("m.pv").exists());
}

/// A table of classes, each of so many samples in turn, and one of numbers beside it.
fn classes(at: &Path, samples: usize, classes: usize) {
    let labels: Vec<String> = (0..samples)
        .map(|n| format!("s{n},c{}\n", n % classes))
        .collect();
    std::fs::write(at.join("l.csv"), format!("id,l\n{}", labels.concat())).expect("a file");
    let number = |n: usize, d: usize| ((n * (31 + 17 * d) + 7 * d) % 101) as f64 / 25.0;
    let numbers: Vec<String> = (0..samples)
        .map(|n| format!("s{n},{},{},{}\n", number(n, 1), number(n, 2), number(n, 3)))
        .collect();
    std::fs::write(at.join("g.csv"), format!("id,a,b,c\n{}", numbers.concat())).expect("a file");
}

const CLASSES: &str =
    "fit --model sshiba --view g=g.csv:gaussian --view l=l.csv:categorical -k 3 --out m.pv";

/// A sweep that takes long is told of, and does not hold up the end where nothing is to be kept.
#[cfg(target_os = "linux")]
#[test]
fn a_long_sweep_is_interrupted_in_its_middle() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    classes(at, 6000, 190);
    let child = start(at, CLASSES);
    let err = {
        std::thread::sleep(Duration::from_secs(10));
        let pressed = Instant::now();
        let o = interrupt_when_listening(child);
        assert_eq!(o.status.code(), Some(130));
        assert!(pressed.elapsed() < Duration::from_secs(20));
        String::from_utf8_lossy(&o.stderr).into_owned()
    };
    assert!(err.contains("sweep 1 is under way, "), "{err}");
    let last = err.lines().last().unwrap_or_default();
    assert!(
        last.starts_with("error: interrupted at sweep 0; nothing was kept"),
        "{err}"
    );
    assert!(!at.join("m.pv").exists());
}
