//! Views that stay on disk: `--engine stochastic`.

use std::path::Path;

use crate::common::{fails, get, ok, put, run};

const N: usize = 500;

/// A number between -1 and 1 that looks random.
fn number(i: usize) -> f64 {
    let mut x = (i as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5851_F42D_4C95_7F2D;
    x ^= x >> 31;
    x = x.wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x ^= x >> 29;
    (x >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

pub fn cell(n: usize, d: usize) -> f64 {
    let eta: f64 = (0..2)
        .map(|k| number(3 * n + k) * number(90_000 + 7 * d + k))
        .sum();
    10.0 + 4.0 * eta + 0.3 * number(200_000 + 11 * n + d)
}

/// An NPY file of f32, row by row, and the same numbers as text.
pub fn npy(folder: &Path, name: &str, rows: usize, columns: usize) {
    let mut header =
        format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {columns}), }}");
    while !(10 + header.len() + 1).is_multiple_of(64) {
        header.push(' ');
    }
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    for n in 0..rows {
        for d in 0..columns {
            bytes.extend((cell(n, d) as f32).to_le_bytes());
        }
    }
    put(folder, name, bytes);
}

fn csv(folder: &Path, name: &str, rows: usize, columns: usize) {
    let line = |first: String, cell: &dyn Fn(usize) -> String| {
        let cells = (0..columns).map(cell);
        let all: Vec<String> = std::iter::once(first).chain(cells).collect();
        all.join(",") + "\n"
    };
    let header = line("id".to_owned(), &|d| format!("f{}", d + 1));
    let number = |n: usize, d: usize| (cell(n, d) as f32).to_string();
    let body: String = (0..rows)
        .map(|n| line(format!("s{}", n + 1), &|d| number(n, d)))
        .collect();
    put(folder, name, header + &body);
}

const CHOICES: &str = "--engine stochastic --batch 0.1 --epochs 4 -k 4 --seed 3";

/// A twentieth of so few samples would be too small a batch for the factors that are offered.
#[test]
fn few_samples_are_fitted_by_default() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    csv(at, "b.csv", 300, 12);
    let text = ok(
        at,
        "fit --view b=b.csv --engine stochastic --epochs 4 --out m.pv",
    );
    assert!(text.contains("of 12 factors after"), "{text}");
    // classes are not read from disk, and not every likelihood of them takes batches
    put(at, "y.csv", "id,y\ns1,a\ns2,b\n");
    let with = |likelihood: &str| {
        let views = format!("--view b=b.csv:gaussian --view y=y.csv:{likelihood}");
        fails(
            at,
            &format!("fit --model mofa {views} --engine stochastic --out m.pv --force"),
            2,
        )
    };
    assert!(with("categorical").contains("take categorical-probit there"));
    assert!(!with("categorical-probit").contains("there"));
}

#[test]
fn npy_and_text_on_disk_make_the_fit_of_data_in_memory() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    npy(at, "a.npy", N, 9);
    csv(at, "b.csv", N, 6);
    let views = "--view a=a.npy --view b=b.csv";
    let text = ok(
        at,
        &format!("fit {views} {CHOICES} --scratch . --out disk.pv"),
    );
    assert!(text.contains("factors after"), "{text}");
    ok(
        at,
        &format!("fit {views} {CHOICES} --in-memory --out memory.pv"),
    );
    for model in ["disk", "memory"] {
        ok(at, &format!("export {model}.pv --factors {model}.csv"));
    }
    let table = |name: &str| -> Vec<Vec<f64>> {
        let number = |line: &str| {
            line.split(',')
                .skip(1)
                .map(|x| x.parse().expect("a number"))
                .collect()
        };
        get(at, name).lines().skip(1).map(number).collect()
    };
    let (disk, memory) = (table("disk.csv"), table("memory.csv"));
    assert_eq!(disk.len(), N);
    for (a, b) in disk.iter().flatten().zip(memory.iter().flatten()) {
        assert!((a - b).abs() < 1e-6, "{a} {b}");
    }
    // the model file works on new data, and nothing is left behind
    ok(at, &format!("project disk.pv {views} --out z.csv"));
    ok(at, "predict disk.pv --view a=a.npy --target b --out p.csv");
    let journal = ok(at, "inspect disk.pv --journal");
    assert!(journal.contains("exact sweeps from here"), "{journal}");
    let left = std::fs::read_dir(at).expect("a folder").count();
    assert_eq!(left, 8);
}

#[test]
fn bad_input_is_refused_with_the_place_and_the_mend() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    npy(at, "a.npy", N, 9);
    npy(at, "short.npy", N - 1, 5);
    csv(at, "b.csv", N, 6);
    put(at, "other.csv", get(at, "b.csv").replace("\ns7,", "\nt7,"));
    put(at, "twice.csv", get(at, "b.csv").replace("\ns7,", "\ns6,"));
    put(at, "word.csv", get(at, "b.csv").replace("\ns7,", "\ns7,x"));
    let bytes = std::fs::read(at.join("a.npy")).expect("a file");
    put(at, "cut.npy", &bytes[..bytes.len() - 40]);
    let no = |words: &str, code: i32, found: &[&str]| {
        let err = fails(
            at,
            &format!("fit {words} --engine stochastic -k 3 --out m.pv"),
            code,
        );
        for f in found {
            assert!(err.contains(f), "'{f}' is not in: {err}");
        }
        assert!(!at.join("m.pv").exists());
    };
    for batch in ["0", "1.5", "-1", "501"] {
        no(&format!("--view a=a.npy --batch={batch}"), 2, &["batch"]);
    }
    no("--view a=a.npy --epochs 0", 2, &["epochs"]);
    no("--view a=cut.npy", 1, &["cut.npy", "cut off"]);
    no(
        "--view a=a.npy --view b=short.npy",
        1,
        &["short.npy", "sample 500"],
    );
    no(
        "--view a=a.npy --view b=other.csv",
        1,
        &["other.csv", "'t7'", "'s7'"],
    );
    no("--view b=twice.csv", 1, &["twice.csv", "s6"]);
    no("--view b=word.csv", 1, &["word.csv", "line 8"]);
    no("--view a=a.npy --checkpoint c", 2, &["--checkpoint"]);
    no("--view a=a.npy --missing impute", 1, &["impute"]);
    no(
        "--view a=a.npy --factor-prior ard",
        1,
        &["prior of the factors"],
    );
    no("--view a=a.npy --join union", 2, &["--join", "--in-memory"]);
    no("--model sshiba --view a=a.npy", 2, &["likelihood"]);
    no(
        "--model sshiba --view a=a.npy:categorical",
        2,
        &["classes", "--in-memory"],
    );
    no("--model sshiba --view a=a.npy:bernoulli", 1, &["0 or 1"]);
    let err = fails(at, "fit --view a=a.npy --in-memory -k 2 --out m.pv", 2);
    assert!(err.contains("--in-memory"), "{err}");
    // a number of samples is a batch, too
    let o = run(
        at,
        "fit --view a=a.npy --engine stochastic --batch 50 --epochs 2 -k 2 --out m.pv",
    );
    assert!(o.status.success());
}

/// Without --epochs a fit of few samples goes on until it has settled, and removes what
/// is superfluous on the way.
#[test]
fn epochs_go_on_until_the_bound_rests() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    npy(at, "a.npy", N, 9);
    let fit = "fit --view a=a.npy --engine stochastic --batch 0.1 -k 4 --seed 3 --force --out m.pv";
    let o = run(at, fit);
    let [out, err] = [o.stdout, o.stderr].map(|t| String::from_utf8_lossy(&t).into_owned());
    assert!(!err.contains("limit of"), "{err}");
    assert!(
        out.contains("2 of 4 factors") && out.contains("(converged"),
        "{out}"
    );
    let o = run(at, &format!("{fit} --epochs 20 --exact-sweeps 0"));
    let err = String::from_utf8_lossy(&o.stderr);
    assert!(
        err.contains("limit of 20 epochs") && err.contains("larger --epochs and --exact-sweeps"),
        "{err}"
    );
    // epochs that came to rest are not what more are wanted of
    let o = run(at, &format!("{fit} --exact-sweeps 1"));
    let err = String::from_utf8_lossy(&o.stderr);
    assert!(
        err.contains("fit again with larger --exact-sweeps"),
        "{err}"
    );
}

/// Large batches come to rest after few steps, before faint factors have handed over what they
/// hold; they go all the same.
#[test]
fn large_batches_keep_no_more_factors_than_the_whole() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    npy(at, "x.npy", 600, 20);
    let factors = |more: &str| -> usize {
        let text = ok(
            at,
            &format!("fit --view x=x.npy:gaussian -k 8 --json --out m.pv --force {more}"),
        );
        let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        json["factors"].as_u64().expect("a number") as usize
    };
    let whole = factors("");
    for batch in ["0.5", "1"] {
        let found = factors(&format!("--engine stochastic --batch {batch} --seed 2"));
        assert_eq!(found, whole, "batch {batch}");
    }
}

#[test]
fn rows_in_another_order_may_be_joined_in_memory() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    csv(at, "x.csv", 40, 5);
    csv(at, "y.csv", 40, 4);
    let text = get(at, "y.csv");
    let mut lines: Vec<&str> = text.lines().collect();
    lines.swap(3, 9);
    put(at, "y.csv", lines.join("\n") + "\n");
    let words = format!("fit --view x=x.csv:gaussian --view y=y.csv:gaussian {CHOICES} --out m.pv");
    let err = fails(at, &words, 1);
    let err = err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        err.contains("y.csv: sample 3 is 's9' here and 's3' in the views before")
            && err.contains("or add --in-memory, which joins samples by their IDs"),
        "{err}"
    );
    ok(at, &format!("{words} --in-memory"));
}
