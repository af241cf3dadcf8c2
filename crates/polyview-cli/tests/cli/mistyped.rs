//! Cells, names and lines that are not what they seem: each is named with its place and the mend.

use std::fmt::Write;

use crate::common::{fails, ok, put, said};

/// So many rows of a table.
fn table(header: &str, rows: usize, row: impl Fn(usize) -> String) -> String {
    let mut text = format!("{header}\n");
    for n in 0..rows {
        let _ = writeln!(text, "s{n},{}", row(n));
    }
    text
}

/// Numbers that nothing orders.
fn number(n: usize, k: usize) -> f64 {
    ((n * 37 + k * 11 + n * n * 5) % 101) as f64 / 101.0
}

fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

const SHORT: &str = "-k 2 --max-sweeps 5 --quiet --force --out m.pv";

#[test]
fn cells_of_times_that_are_not_read_are_named() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    let times = table("sample,time,event,age,sex", 30, |n| {
        let time = if n == 4 || n == 6 {
            String::new()
        } else {
            format!("{:.2}", 0.1 + number(n, 1))
        };
        let event = if n == 9 { "" } else { ["0", "1"][n % 2] };
        let event = if n == 6 { "" } else { event };
        format!("{time},{event},{n},m")
    });
    put(at, "t.csv", times);
    put(
        at,
        "x.csv",
        table("sample,a,b", 30, |n| {
            format!("{},{}", number(n, 2), number(n, 3))
        }),
    );
    let told = said(
        at,
        "fit --view t=t.csv:survival --view x=x.csv:gaussian -k 2 --max-sweeps 5 --out m.pv",
    );
    for says in [
        "t.csv: 1 sample(s) have a value in column 'event' and none in column 'time', first 's4'",
        "t.csv: 1 sample(s) have a value in column 'time' and none in column 'event', first 's9'",
        "fill the time in, or leave both cells empty",
        "t.csv: column 'age' and 1 more is not read",
        "as a view of their own",
    ] {
        assert!(told.contains(says), "{says}: {told}");
    }
    // of new samples as well, and of a table that is as it should be nothing
    let told = said(at, "project m.pv --view t=t.csv --out z.csv");
    assert!(told.contains("first 's4'"), "{told}");
    put(
        at,
        "u.csv",
        table("sample,time,event", 30, |n| {
            format!("{:.2},1", 0.1 + number(n, 1))
        }),
    );
    let told = said(at, "project m.pv --view t=u.csv --out - --quiet");
    assert!(!told.contains("warning"), "{told}");
}

#[test]
fn a_level_that_is_mistyped_is_named() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    let levels = |odd: &'static str| {
        table("sample,q1,q2", 40, move |n| {
            let q1 = if n == 7 {
                odd.to_owned()
            } else {
                (1 + n % 6).to_string()
            };
            format!("{q1},{}", 1 + (n / 2) % 6)
        })
    };
    put(at, "o.csv", levels("99"));
    let fit = |of: &str| {
        said(
            at,
            &format!("fit --model sshiba --view {of} -k 2 --max-sweeps 2 --force --out m.pv"),
        )
    };
    let told = fit("o=o.csv:ordinal");
    for says in [
        "warning: o.csv: sample 's7', column 'q1': level 99 makes 99 levels, of which 92 are in no cell",
        "--na 99",
        "ordinal{levels=99}",
    ] {
        assert!(told.contains(says), "{says}: {told}");
    }
    assert!(!fit("o=o.csv:ordinal{levels=99}").contains("makes 99 levels"));
    // a gap of one before the last, and none
    put(at, "o.csv", levels("8"));
    assert!(fit("o=o.csv:ordinal").contains("level 8 makes 8 levels, of which 1 are in no cell"));
    put(at, "o.csv", levels("7"));
    assert!(!fit("o=o.csv:ordinal").contains("makes 7 levels"));
}

#[test]
fn ids_of_another_normal_form_are_hinted_at() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    let of = |accent: &'static str| {
        let text = table("sample,a,b", 12, |n| {
            format!("{},{}", number(n, 1), number(n, 2))
        });
        text.replace("\ns", &format!("\nJ{accent}r"))
    };
    put(at, "one.csv", of("\u{e9}"));
    put(at, "other.csv", of("e\u{301}"));
    let told = plain(&fails(
        at,
        &format!(
            "fit --view a=one.csv --view b=other.csv {}",
            SHORT.replace("--quiet", "")
        ),
        1,
    ));
    assert!(
        told.contains("they look alike and have 4 and 5 characters") && told.contains("NFC"),
        "{told}"
    );
    put(at, "about.csv", of("e\u{301}").replace(",a,b", ",group,x"));
    let told = said(
        at,
        &format!(
            "fit --view a=one.csv --metadata about.csv {}",
            SHORT.replace("--quiet", "")
        ),
    );
    assert!(
        told.contains("none of its samples") && told.contains("NFC"),
        "{told}"
    );
}

#[test]
fn a_comment_above_the_header_is_called_one() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    let rows = table("sample,a,b", 12, |n| {
        format!("{},{}", number(n, 1), number(n, 2))
    });
    for comment in [
        "# measured in May",
        "# by A, B, C and D, 2020",
        "#",
        "# one\n# two",
    ] {
        put(at, "x.csv", format!("{comment}\n{rows}"));
        let err = plain(&fails(
            at,
            &format!("fit --view x=x.csv:gaussian {SHORT}"),
            1,
        ));
        let first = comment.lines().next().unwrap_or_default();
        assert!(
            err.contains(&format!("x.csv: line 1 ('{first}') begins with '#'"))
                && err.contains("remove such lines"),
            "{err}"
        );
    }
    // a header may begin so
    put(at, "x.csv", rows.replace("sample", "#sample"));
    ok(at, &format!("fit --view x=x.csv:gaussian {SHORT}"));
    put(at, "x.csv", rows.replace("sample", "# sample"));
    ok(at, &format!("fit --view x=x.csv:gaussian {SHORT}"));
}

#[test]
fn similarities_that_cannot_be_are_named() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    let ids: Vec<String> = (0..20).map(|n| format!("s{n}")).collect();
    let header = format!("sample,{}", ids.join(","));
    let similar = |far: &'static str, own: f64| {
        table(&header, 20, move |n| {
            let cell = |d: usize| match (n.min(d), n.max(d)) {
                (3, 5) => far.to_owned(),
                (4, 4) => own.to_string(),
                (a, b) if a == b => "1".to_owned(),
                _ => format!(
                    "{:.4}",
                    (-(number(n, 1) - number(d, 1)).powi(2) * 9.0).exp()
                ),
            };
            (0..20).map(cell).collect::<Vec<_>>().join(",")
        })
    };
    put(
        at,
        "x.csv",
        table("sample,a,b", 20, |n| {
            format!("{},{}", number(n, 1), number(n, 2))
        }),
    );
    let fit = |of: &str| {
        format!(
            "fit --model sshiba --view k=k.csv:{of} --view x=x.csv:gaussian -k 2 --max-sweeps 5 --force --out m.pv"
        )
    };
    put(at, "k.csv", similar("1e6", 1.0));
    let told = said(at, &fit("similarity"));
    assert!(
        told.contains(
            "the similarity of 's5' (row) to 's3' (column) is 1000000, far from all others"
        ) && told.contains("as are 1 more"),
        "{told}"
    );
    put(at, "k.csv", similar("0.5", 1.0));
    assert!(!said(at, &fit("similarity")).contains("far from all others, which"));
    let kernel = format!("{} --kernel k=precomputed", fit("gaussian"));
    ok(at, &kernel);
    put(at, "k.csv", similar("0.5", -1.0));
    let err = plain(&fails(at, &kernel, 1));
    assert!(
        err.contains("the similarity of sample 's4' to itself is -1, below zero")
            && err.contains("correct the table"),
        "{err}"
    );
}

#[test]
fn normal_scores_of_limits_name_the_mend() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    put(
        at,
        "x.csv",
        table("sample,a,b", 20, |n| {
            format!("{},{}", number(n, 1), number(n, 2))
        }),
    );
    let err = plain(&fails(
        at,
        &format!(
            "fit --view x=x.csv:gaussian --view y=x.csv:censored --scaling normal-scores {SHORT}"
        ),
        1,
    ));
    assert!(
        err.contains("view 'y'") && err.contains("[[model.views]]") && err.contains("as gaussian"),
        "{err}"
    );
}
