//! Tables of labels, a view for each column.

use std::fmt::Write;

use crate::common::{fails, get, ok, put};

/// Real numbers of two factors, and two labels that follow one each; a few
/// labels are unknown.
fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    let mut x = "id,a,b,c,d\n".to_owned();
    let mut y = "id,ill,side\n".to_owned();
    for n in 0_usize..40 {
        let (u, v) = (
            ((n * 5) % 13) as f64 / 6.0 - 1.0,
            ((n * 7) % 11) as f64 / 5.0 - 1.0,
        );
        let wobble = |d: usize| 0.2 * (((n * 3 + d * 5) % 7) as f64 / 7.0 - 0.5);
        let _ = writeln!(
            x,
            "s{n},{:.3},{:.3},{:.3},{:.3}",
            u + wobble(0),
            -u + wobble(1),
            v + wobble(2),
            v - u + wobble(3)
        );
        let ill = match (n % 9, u > 0.0) {
            (0, _) => "",
            (_, true) => "yes",
            _ => "no",
        };
        let side = if v > 0.0 { "2" } else { "-1" };
        let _ = writeln!(y, "s{n},{ill},{side}");
    }
    put(dir.path(), "x.csv", x);
    put(dir.path(), "y.csv", y);
    dir
}

#[test]
fn each_column_is_a_task_with_its_own_words() {
    let dir = folder();
    let at = dir.path();
    ok(
        at,
        "fit --model sshiba -k 3 --view x=x.csv --labels y.csv:bernoulli --out m.pv",
    );
    ok(at, "predict m.pv --view x=x.csv --target ill --out ill.csv");
    ok(
        at,
        "predict m.pv --view x=x.csv --labels y.csv --target side --out side.csv",
    );
    for (file, words) in [("ill.csv", ["no", "yes"]), ("side.csv", ["-1", "2"])] {
        let text = get(at, file);
        let mut lines = text.lines();
        let name = file.trim_end_matches(".csv");
        assert_eq!(
            lines.next(),
            Some(&*format!("sample,{name},score,probability_of_{}", words[1]))
        );
        let truth = get(at, "y.csv");
        let column = 1 + usize::from(name == "side");
        let mut right = 0;
        for (line, true_line) in lines.zip(truth.lines().skip(1)) {
            let cells: Vec<&str> = line.split(',').collect();
            let (score, p): (f64, f64) = (
                cells[2].parse().expect("a score"),
                cells[3].parse().expect("a probability"),
            );
            assert!(words.contains(&cells[1]), "{line}");
            assert_eq!(cells[1] == words[1], p > 0.5, "{line}");
            assert_eq!(score > 0.0, p > 0.5, "{line}");
            right += usize::from(true_line.split(',').nth(column) == Some(cells[1]));
        }
        // four of the labels of `ill` are unknown
        assert!(right >= 30, "{file}: {right}");
    }
    // the study keeps the file, the column and the words
    let spec = ok(at, "inspect m.pv --spec");
    assert!(spec.contains("labels = [\"no\", \"yes\"]"), "{spec}");
    let study = ok(
        at,
        "fit --model sshiba --view x=x.csv --labels y.csv:bernoulli --dry-run",
    );
    assert!(study.contains("column = \"side\""), "{study}");
    put(at, "study.toml", study);
    ok(at, "fit --spec study.toml -k 3 --out again.pv");
}

#[test]
fn labels_that_are_none_are_refused() {
    let dir = folder();
    let at = dir.path();
    let fit = "fit --model sshiba -k 2 --view x=x.csv --out m.pv";
    let text = fails(at, &format!("{fit} --labels y.csv"), 2);
    assert!(text.contains(":bernoulli"), "{text}");
    let text = fails(at, &format!("{fit} --labels y.csv:gaussian"), 2);
    assert!(text.contains("not for labels"), "{text}");
    let text = fails(at, &format!("{fit} --labels none.csv:bernoulli"), 1);
    assert!(text.contains("none.csv"), "{text}");
    put(at, "three.csv", "id,stage\ns1,a\ns2,b\ns3,c\n");
    let text = fails(at, &format!("{fit} --labels three.csv:bernoulli"), 2);
    assert!(
        text.contains("categorical") && text.contains("stage"),
        "{text}"
    );
    put(at, "one.csv", "id,stage\ns1,a\ns2,a\n");
    let text = fails(at, &format!("{fit} --labels one.csv:bernoulli"), 2);
    assert!(text.contains("all known labels are 'a'"), "{text}");
    ok(at, &format!("{fit} --labels y.csv:bernoulli"));
    put(at, "new.csv", "id,ill\ns1,perhaps\n");
    let text = fails(
        at,
        "project m.pv --view x=x.csv --labels new.csv --out z.csv",
        1,
    );
    assert!(
        text.contains("'perhaps' is neither 'no' nor 'yes'"),
        "{text}"
    );
    let text = fails(at, "project m.pv --labels three.csv --out z.csv", 1);
    assert!(text.contains("stage"), "{text}");
}
