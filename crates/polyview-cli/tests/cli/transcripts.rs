//! Golden transcripts: what the command says, word for word.
//!
//! Times and every number with a fraction are `#`, so that they hold on any
//! processor. After a wanted change:
//! `INSTA_UPDATE=always cargo test -p polyview-cli transcripts`, then look at
//! the difference.

use std::fmt::Write;
use std::path::Path;

use crate::common::{ok, put, run};

const GOOD: &str = "id,a,b,c\ns1,1,2,3\ns2,2,1,0\ns3,0,1,1\ns4,2,2,5\ns5,1,0,1\n";

/// The command, both of its streams and its exit code.
pub fn transcript(folder: &Path, words: &str) -> String {
    let o = run(folder, words);
    let mut text = format!("$ polyview {words}\n");
    for (name, stream) in [("", o.stdout), ("stderr: ", o.stderr)] {
        let stream = String::from_utf8_lossy(&stream);
        let mut lines: Vec<String> = stream.lines().map(redacted).collect();
        // a sweep more or less is none of a transcript's business
        lines.dedup_by(|a, b| a == b && a.contains("sweep  #"));
        for line in lines {
            let _ = writeln!(text, "{name}{line}");
        }
    }
    let _ = writeln!(text, "exit code: {:?}", o.status.code());
    text.replace(&folder.display().to_string(), "FOLDER")
}

/// Each number with a fraction becomes `#`, and spaces, whose number depends
/// on it, become two. So does the number of sweeps.
fn redacted(line: &str) -> String {
    let mut out = String::new();
    let mut word = String::new();
    for c in line.chars().chain([' ']) {
        if c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_') {
            word.push(c);
            continue;
        }
        let number = word.trim_end_matches('.');
        if number.contains('.') && number.parse::<f64>().is_ok() {
            out.push('#');
            out.push_str(&word[number.len()..]);
        } else {
            out.push_str(&word);
        }
        word.clear();
        out.push(c);
    }
    out.pop();
    let out = sweeps(&out);
    if !out.contains('#') {
        return out;
    }
    let words: Vec<&str> = out.split("  ").filter(|w| !w.is_empty()).collect();
    words
        .iter()
        .map(|w| w.trim())
        .collect::<Vec<_>>()
        .join("  ")
}

/// `after 17 sweeps` and `sweep   17` without their numbers.
fn sweeps(line: &str) -> String {
    let words: Vec<&str> = line.split(' ').collect();
    let count = |w: &str| {
        let w = w.trim_end_matches([':', ',', ';']);
        !w.is_empty() && w.bytes().all(|b| b.is_ascii_digit())
    };
    let after = |i: usize| words.get(i + 1).is_some_and(|w| w.starts_with("sweep"));
    let before = |i: usize| {
        let last = words[..i].iter().rfind(|w| !w.is_empty());
        last.is_some_and(|w| w.starts_with("sweep"))
    };
    let words = words.iter().enumerate().map(|(i, w)| {
        if count(w) && (after(i) || before(i)) {
            let digits = w.trim_start_matches(|c: char| c.is_ascii_digit());
            format!("#{digits}")
        } else {
            (*w).to_owned()
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    put(dir.path(), "x.csv", GOOD);
    dir
}

#[test]
fn redaction_hides_fractions_alone() {
    assert_eq!(redacted("  genes   12  -3.25    0.5"), "genes  12  #  #");
    assert_eq!(
        redacted("after 17 sweeps (bound -1.5e3) in 0.02 s."),
        "after # sweeps (bound #) in # s."
    );
    assert_eq!(
        redacted("m.pv: line 2   v0.1.x 7."),
        "m.pv: line 2   v0.1.x 7."
    );
}

#[test]
fn help() {
    let dir = folder();
    for verb in [
        "fit",
        "project",
        "update",
        "predict",
        "impute",
        "score",
        "inspect",
        "report",
        "export",
        "import",
        "kernel",
        "layout",
        "mva",
        "choose-k",
        "cross-validate",
        "simulate",
        "demo",
        "datasets",
        "completions",
    ] {
        insta::assert_snapshot!(
            format!("help-{verb}"),
            ok(dir.path(), &format!("{verb} --help"))
        );
    }
    insta::assert_snapshot!("help", ok(dir.path(), "--help"));
}

#[test]
fn dry_run() {
    let dir = folder();
    let text = ok(dir.path(), "fit --view x=x.csv -k 2 --seed 7 --dry-run");
    insta::assert_snapshot!("dry-run", text);
}

#[test]
fn from_fit_to_inspection() {
    let dir = folder();
    let at = dir.path();
    put(
        at,
        "y.csv",
        "id,p,q\ns5,1.5,0\ns2,NA,2\ns1,2,1\ns4,0.5,1\ns6,1,3\n",
    );
    put(
        at,
        "m.csv",
        "id,site,age\ns1,A,4\ns2,A,5\ns3,A,6\ns4,B,7\ns5,B,8\ns6,B,\n",
    );
    let fit = "fit --view x=x.csv --view y=y.csv --metadata m.csv --groups site -k 2 --seed 1";
    let text = [
        format!("{fit} --audit --quiet --out m.pv"),
        format!("{fit} --out again.pv --no-data"),
        "inspect m.pv".into(),
        "inspect again.pv".into(),
    ]
    .map(|words| transcript(at, &words))
    .join("\n");
    insta::assert_snapshot!("fit-and-inspect", text);
    insta::assert_snapshot!("journal", transcript(at, "inspect m.pv --journal"));
    insta::assert_snapshot!("inspect-json", shape(at, "inspect m.pv --json"));
    insta::assert_snapshot!(
        "fit-json",
        shape(at, &format!("{fit} --json --quiet --out json.pv"))
    );
}

/// JSON with every number as `#`, and nothing of long lists but their first
/// entry.
fn shape(folder: &Path, words: &str) -> String {
    fn hide(v: &mut serde_json::Value) {
        match v {
            serde_json::Value::Number(_) => *v = "#".into(),
            serde_json::Value::Array(a) if a.iter().all(serde_json::Value::is_number) => {
                *v = format!("{} numbers", a.len()).into();
            }
            serde_json::Value::Array(a) => a.iter_mut().for_each(hide),
            serde_json::Value::Object(o) => {
                // the choices and the journal have transcripts of their own
                o.retain(|k, _| !matches!(k.as_str(), "spec" | "choices" | "journal"));
                o.values_mut().for_each(hide);
            }
            _ => {}
        }
    }
    let mut value = serde_json::from_str(&ok(folder, words)).expect("JSON");
    hide(&mut value);
    serde_json::to_string_pretty(&value).expect("JSON")
}

#[test]
fn choose_k() {
    let dir = folder();
    ok(
        dir.path(),
        "simulate --samples 60 --features 10 --factors 2 --seed 5 --out-dir s",
    );
    let words = "choose-k --view a=s/view1.csv --candidates 1,2,4 --repeats 2 --seed 3";
    insta::assert_snapshot!("choose-k", transcript(dir.path(), words));
}

#[test]
fn hostile_tables() {
    let dir = folder();
    let at = dir.path();
    let files: [(&str, &[u8]); 9] = [
        ("empty.csv", b""),
        ("header.csv", b"id,a,b\n"),
        ("ragged.csv", b"id,a,b\ns1,1,2\ns2,1\n"),
        ("text.csv", b"id,a,b\ns1,1,two\n"),
        ("infinite.csv", b"id,a,b\ns1,1,inf\n"),
        ("twice.csv", b"id,a,b\ns1,1,2\ns1,2,1\n"),
        ("features.csv", b"id,a,a\ns1,1,2\ns2,2,1\n"),
        ("latin1.csv", b"id,a\ns1,1\ns\xe9,2\n"),
        ("nothing.csv", b"id,a,b\ns1,,\ns2,NA,\n"),
    ];
    let mut text = transcript(at, "fit --view x=none.csv -k 1 --out m.pv");
    for (name, bytes) in files {
        put(at, name, bytes);
        let words = format!("fit --view x={name} -k 1 --out m.pv");
        let _ = write!(text, "\n{}", transcript(at, &words));
    }
    put(at, "other.csv", GOOD.replace('s', "t"));
    put(at, "taken.pv", "precious");
    for words in [
        "fit --view x=x.csv --view y=other.csv -k 1 --out m.pv",
        "fit --view x=x.csv -k 0 --out m.pv",
        "fit --view x=x.csv -k 1 --out taken.pv",
        "fit --view x=x.csv -k 1 --out no/such/m.pv",
        "fit --view x=x.csv -k 1 --out s/",
        "fit --view x.csv -k 1 --out m.pv",
        "fit --out m.pv",
        "fit --view x=x.csv -k 1 --tolerance 2 --out m.pv",
        "fit --spec none.toml --out m.pv",
    ] {
        let _ = write!(text, "\n{}", transcript(at, words));
    }
    assert_eq!(crate::common::get(at, "taken.pv"), "precious");
    insta::assert_snapshot!("hostile-tables", text);
}

/// Constant features and samples without a value are legal, and said.
#[test]
fn unusual_tables() {
    let dir = folder();
    let at = dir.path();
    put(at, "constant.csv", "id,a,b,c\ns1,5,2,\ns2,5,1,\ns3,5,4,\n");
    put(at, "sample.csv", "id,a,b\ns1,,\ns2,1,2\ns3,2,2\n");
    let text = [
        "fit --view x=constant.csv -k 1 --seed 1 --out m.pv",
        "inspect m.pv --journal",
        "fit --view x=sample.csv -k 1 --seed 1 --out s.pv",
    ]
    .map(|words| transcript(at, words))
    .join("\n");
    insta::assert_snapshot!("unusual-tables", text);
}

#[test]
fn hostile_models() {
    let dir = folder();
    let at = dir.path();
    ok(
        at,
        "fit --view x=x.csv -k 1 --checkpoint c.ckpt --checkpoint-every 0 --out m.pv",
    );
    ok(at, "fit --view x=x.csv -k 1 --no-data --out nodata.pv");
    let bytes = std::fs::read(at.join("m.pv")).expect("a file");
    // a length of its own would change the numbers in the messages
    put(at, "short.pv", &bytes[..4]);
    let mut corrupt = bytes.clone();
    let last = corrupt.len() - 3;
    corrupt[last] ^= 1;
    put(at, "corrupt.pv", &corrupt);
    put(at, "newer.pv", newer(&bytes));
    put(
        at,
        "text.pv",
        "this is no model, and long enough to have a length",
    );
    put(at, "other.csv", "id,p,q\ns1,1,2\n");
    put(at, "taken.csv", "precious");
    let text = [
        "inspect none.pv",
        "inspect short.pv",
        "inspect corrupt.pv",
        "inspect newer.pv",
        "inspect text.pv",
        "inspect c.ckpt",
        "inspect s",
        "fit --view x=x.csv -k 1 --resume m.pv --out n.pv",
        "fit --view x=x.csv -k 2 --resume c.ckpt --out n.pv",
        "fit --view x=other.csv -k 1 --resume c.ckpt --out n.pv",
        "fit --view x=x.csv -k 1 --resume none.ckpt --out n.pv",
        "project m.pv --view y=x.csv --out z.csv",
        "project m.pv --view x=other.csv --out z.csv",
        "project m.pv --view x=x.csv --out taken.csv",
        "project m.pv --view x=x.csv --out z.xlsx",
        "predict m.pv --view x=x.csv --target w --out z.csv",
        "impute m.pv --view x --out z.csv --level 2",
        "impute nodata.pv --view x --out z.csv",
        "report m.pv --out taken.csv",
        "export m.pv",
    ]
    .map(|words| transcript(at, words))
    .join("\n");
    assert_eq!(crate::common::get(at, "taken.csv"), "precious");
    insta::assert_snapshot!("hostile-models", text);
}

/// The same file as a later release would mark it.
fn newer(model: &[u8]) -> Vec<u8> {
    let mark = br#"format\":2"#;
    let at = model.windows(mark.len()).position(|w| w == mark);
    let mut bytes = model.to_vec();
    bytes[at.expect("its format") + mark.len() - 1] = b'7';
    bytes
}
