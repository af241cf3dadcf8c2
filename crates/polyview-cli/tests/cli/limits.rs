//! Numbers between limits and times to an event at the command line.

use std::fmt::Write;

use crate::common::{fails, get, ok, put, run, said};

/// Numbers that follow one factor, readings of it with limits, and times to an event; a hole here and there.
fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    let factor = |n: usize| ((n * 5) % 24) as f64 / 12.0 - 1.0;
    let noise = |n: usize, d: usize| ((n * 7 + d * 13 + n * n * 3) % 11) as f64 / 11.0 - 0.45;
    let table = |cell: &dyn Fn(usize, usize) -> String| {
        let mut text = "id,a,b,c,d\n".to_owned();
        for n in 0..48 {
            let _ = write!(text, "s{n}");
            for d in 0..4 {
                let _ = write!(text, ",{}", cell(n, d));
            }
            text.push('\n');
        }
        text
    };
    put(
        dir.path(),
        "x.csv",
        table(&|n, d| (factor(n) + 0.3 * noise(n, d + 9)).to_string()),
    );
    let reading = |n: usize, d: usize| 10.0 + 3.0 * factor(n) + noise(n, d);
    put(
        dir.path(),
        "y.csv",
        table(&|n, d| match reading(n, d) {
            _ if (n * 3 + d * 5) % 13 == 4 => String::new(),
            x if x > 12.0 => ">12".to_owned(),
            x if x < 8.0 => "<8".to_owned(),
            x if x < 8.5 => "\"[8,8.5]\"".to_owned(),
            x => x.to_string(),
        }),
    );
    let mut text = "id,site,days,died\n".to_owned();
    for n in 0..48 {
        let days = (6.0 + factor(n) + 0.3 * noise(n, 3)).exp().round();
        let (days, died) = if days > 600.0 { (600.0, 0) } else { (days, 1) };
        let _ = writeln!(text, "s{n},north,{days},{died}");
    }
    put(dir.path(), "os.csv", text);
    dir
}

const VIEWS: &str = "--model sshiba --view x=x.csv --view y=y.csv:censored --view os=os.csv:survival{time=days,event=died} -k 2 --seed 1 --max-sweeps 30";

/// Times that the model fills in can be told from those that were seen, and the table can be read again.
#[test]
fn imputed_times_come_with_events() {
    let dir = folder();
    let dir = dir.path();
    ok(dir, &format!("fit {VIEWS} --out m.pv"));
    ok(dir, "impute m.pv --view os --out times.csv");
    let (before, after) = (get(dir, "os.csv"), get(dir, "times.csv"));
    assert!(after.starts_with("sample,days,died\n"), "{after}");
    let mut censored = 0;
    for (before, after) in before.lines().zip(after.lines()).skip(1) {
        let cells = |line: &str| -> Vec<String> { line.split(',').map(str::to_owned).collect() };
        let (before, after) = (cells(before), cells(after));
        let [days, filled] = [&before[2], &after[1]].map(|x| x.parse::<f64>().expect("a time"));
        assert_eq!((&after[0], &after[2]), (&before[0], &before[3]));
        if before[3] == "1" {
            assert_eq!(days, filled);
        } else {
            assert!(filled > days, "{filled}");
            censored += 1;
        }
    }
    assert!(censored > 3);
    ok(
        dir,
        &format!(
            "fit {} --out again.pv",
            VIEWS.replace("os.csv", "times.csv")
        ),
    );
}

#[test]
fn limits_and_times_go_in_and_come_out() {
    let dir = folder();
    let dir = dir.path();
    ok(dir, &format!("fit {VIEWS} --out m.pv"));
    ok(
        dir,
        "impute m.pv --view y --out y.out.csv --lower low.csv --upper high.csv",
    );
    let cells = |file: &str| -> Vec<Vec<String>> {
        let cells = |line: &str| line.split(',').skip(1).map(str::to_owned).collect();
        get(dir, file).lines().skip(1).map(cells).collect()
    };
    let given = get(dir, "y.csv").replace("\"[8,8.5]\"", "[8;8.5]");
    let given: Vec<Vec<&str>> = given
        .lines()
        .skip(1)
        .map(|l| l.split(',').skip(1).collect())
        .collect();
    for (given, filled) in given.iter().zip(cells("y.out.csv")) {
        for (given, filled) in given.iter().zip(filled) {
            let x: f64 = filled.parse().expect("a number");
            match *given {
                "" => assert!(x.is_finite()),
                ">12" => assert!(x > 12.0, "{x}"),
                "<8" => assert!(x < 8.0, "{x}"),
                "[8;8.5]" => assert!((8.0..8.5).contains(&x), "{x}"),
                exact => assert_eq!(exact, filled),
            }
        }
    }
    ok(
        dir,
        "predict m.pv --view x=x.csv --target os --out p.csv --lower pl.csv --upper pu.csv --times 200,600,200",
    );
    let p = get(dir, "p.csv");
    assert!(
        p.starts_with("sample,days,days_mean_log,days_survival_at_200,days_survival_at_600"),
        "{p}"
    );
    for row in cells("p.csv") {
        let row: Vec<f64> = row.iter().map(|x| x.parse().expect("a number")).collect();
        assert!((row[0].ln() - row[1]).abs() < 0.1 && row[2] > row[3]);
    }
    // the median time of a mixture of laws is that of the mixture: the event is as likely before as after
    ok(
        dir,
        "fit --model sshiba --view x=x.csv:gaussian --view os=os.csv:survival{time=days,event=died} -k 2 --seed 1 --max-sweeps 6 --out two.pv",
    );
    let predict = "predict two.pv --view x=x.csv --target os";
    ok(dir, &format!("{predict} --out two.csv"));
    let rows = cells("two.csv");
    let times: Vec<&str> = rows.iter().take(4).map(|row| row[0].as_str()).collect();
    let times = times.join(",");
    ok(dir, &format!("{predict} --out half.csv --times {times}"));
    for (n, row) in cells("half.csv").iter().enumerate().take(4) {
        let later: f64 = row[2 + n].parse().expect("a number");
        assert!((later - 0.5).abs() < 1e-9, "{later}");
    }
    // what is drawn are times, which a fit takes as the data were
    ok(
        dir,
        "simulate --from m.pv --samples 200 --seed 1 --out-dir sims",
    );
    assert!(get(dir, "sims/os.csv").starts_with("sample,days,died\n"));
    let mut drawn: Vec<f64> = (cells("sims/os.csv").iter())
        .map(|row| row[0].parse().expect("a time"))
        .collect();
    drawn.sort_by(f64::total_cmp);
    assert!((200.0..800.0).contains(&drawn[100]), "{}", drawn[100]);
    assert!(cells("sims/os.csv").iter().all(|row| row[1] == "1"));
    let again = VIEWS.replace("=x.csv", "=sims/x.csv");
    let again = again
        .replace("=y.csv", "=sims/y.csv")
        .replace("=os.csv", "=sims/os.csv");
    ok(dir, &format!("fit {again} --out again.pv"));
    let days: Vec<String> = (get(dir, "os.csv").lines())
        .map(|line| line.split(',').collect::<Vec<_>>())
        .map(|line| format!("{},{}", line[0], line[2]))
        .collect();
    put(dir, "days.csv", days.join("\n"));
    let err = fails(
        dir,
        "score --truth days.csv --predicted p.csv --kind real",
        1,
    );
    let err = err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        err.contains("'days' is a predicted time") && err.contains("cross-validate --target"),
        "{err}"
    );
    // the C-index and the Brier score of a file, as cross-validation has them of folds
    let score = "score --truth os.csv --predicted p.csv --kind survival --time days --event died";
    let found = ok(dir, &format!("{score} --training os.csv --json"));
    let found: serde_json::Value = serde_json::from_str(&found).expect("JSON");
    assert!(
        found["c_index"].as_f64().expect("an index") > 0.8,
        "{found}"
    );
    let brier = found["integrated_brier"].as_f64().expect("a score");
    assert!((0.0..0.2).contains(&brier), "{found}");
    assert_eq!(found["times"], serde_json::json!([200.0, 600.0]));
    let said = ok(dir, score);
    assert!(
        said.contains("C-index") && said.contains("48 samples"),
        "{said}"
    );
    // times in the order of their predictions, turned round: the other C-index
    let turned: String = p
        .lines()
        .enumerate()
        .map(|(i, line)| {
            let cells: Vec<&str> = line.split(',').collect();
            match i {
                0 => "sample,days\n".to_owned(),
                _ => format!(
                    "{},{}\n",
                    cells[0],
                    -cells[2].parse::<f64>().expect("a number")
                ),
            }
        })
        .collect();
    put(dir, "turned-p.csv", turned);
    let other = ok(
        dir,
        "score --truth os.csv --predicted turned-p.csv --kind survival --time days --event died",
    );
    assert!(other.contains("0 times, and two are needed"), "{other}");
    let other = ok(
        dir,
        "score --truth os.csv --predicted turned-p.csv --kind survival --time days --event died --json",
    );
    let other: serde_json::Value = serde_json::from_str(&other).expect("JSON");
    let sum =
        other["c_index"].as_f64().expect("an index") + found["c_index"].as_f64().expect("an index");
    assert!((sum - 1.0).abs() < 1e-9, "{sum}");
    for (words, code, says) in [
        (
            "score --truth os.csv --predicted p.csv --kind survival",
            2,
            "has no column 'time'",
        ),
        (
            "score --truth os.csv --predicted p.csv --kind survival --time died --event died",
            1,
            "no time above zero",
        ),
        (
            "score --truth os.csv --predicted p.csv --kind survival --time days --event site",
            1,
            "does not say whether the event came",
        ),
        (
            "score --truth os.csv --predicted os.csv --kind real --time days",
            2,
            "belongs to --kind survival",
        ),
        (
            "score --truth os.csv --predicted y.csv --kind survival --time days --event died",
            2,
            "the predicted times",
        ),
    ] {
        let err = fails(dir, words, code);
        let err = err.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(err.contains(says), "{words}: {err}");
    }
    let err = fails(
        dir,
        "score --truth y.csv --predicted y.out.csv --kind real",
        1,
    );
    let err = err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        err.contains("is censored: it says where the value lies")
            && err.contains("empty all such cells to score the exact ones"),
        "{err}"
    );
    let err = fails(
        dir,
        "score --truth y.out.csv --predicted y.out.csv --kind real --training y.csv",
        1,
    );
    let err = err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        err.contains("no place in the means of the training values") && !err.contains("scored"),
        "{err}"
    );
    let exact = get(dir, "y.csv").replace("\"[8,8.5]\"", "");
    put(dir, "exact.csv", exact.replace("<8", "").replace(">12", ""));
    ok(
        dir,
        "score --truth exact.csv --predicted y.out.csv --kind real",
    );
    // without times those of the training data
    ok(dir, "predict m.pv --view x=x.csv --target os --out q.csv");
    assert_eq!(
        get(dir, "q.csv")
            .lines()
            .next()
            .map(|l| l.split(',').count()),
        Some(6)
    );
    ok(dir, "impute m.pv --view os --out os.out.csv");
    let watched = get(dir, "os.csv");
    for (line, filled) in watched.lines().skip(1).zip(cells("os.out.csv")) {
        let line: Vec<&str> = line.split(',').collect();
        let x: f64 = filled[0].parse().expect("a number");
        if line[3] == "1" {
            assert_eq!(line[2], filled[0]);
        } else {
            assert!(x > 600.0, "{x}");
        }
    }
    // new data have limits, too
    ok(
        dir,
        "project m.pv --view y=y.csv --view os=os.csv --out z.csv",
    );
    let said = ok(
        dir,
        &format!("cross-validate {VIEWS} --target os --folds 2"),
    );
    assert!(
        said.contains("C-index") && said.contains("integrated Brier"),
        "{said}"
    );
    let said = ok(dir, &format!("cross-validate {VIEWS} --folds 2"));
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        said.contains("of y, os R2 are of exact cells alone")
            && said.contains("the softly thresholded SVD takes limits for values"),
        "{said}"
    );
    // as a target every cell of it is scored, of limits what lies beyond them
    let target = format!("cross-validate {VIEWS} --target y --folds 2 --out folds.csv");
    let said = ok(dir, &target);
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        said.contains("R2, squared errors and coverage are of exact cells alone")
            && said.contains("Log densities are of all cells"),
        "{said}"
    );
    let folds = get(dir, "folds.csv");
    let known = given.iter().flatten().filter(|cell| !cell.is_empty());
    let exact = known.clone().filter(|cell| cell.parse::<f64>().is_ok());
    for (score, cells) in [("log-density", known.count()), ("r2", exact.count())] {
        for method in [
            "sshiba",
            "mean",
            "regression on limits",
            "sshiba, two steps",
        ] {
            let rows = folds.lines().map(|line| {
                // names with commas stand in quotes
                line.replace("\"sshiba, two steps\"", "sshiba; two steps")
            });
            let own = rows.filter(|line| {
                let cells: Vec<&str> = line.split(',').collect();
                cells[3].replace(';', ",") == method && cells[4] == score
            });
            let of_fold = own.map(|line| line.rsplit(',').next().map(str::parse::<usize>));
            let all: usize = of_fold.map(|n| n.expect("a cell").expect("a number")).sum();
            assert_eq!(all, cells, "{method} {score}\n{folds}");
        }
    }
    let said = ok(dir, "inspect m.pv");
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        said.contains("of y, os: of its exact cells alone"),
        "{said}"
    );
    ok(dir, "report m.pv --out r.html");
}

#[test]
fn what_cannot_be_is_refused_with_its_place_and_the_mend() {
    let dir = folder();
    let dir = dir.path();
    let fit = |view: &str| {
        let line = format!(
            "fit --model sshiba --view x=x.csv --view {view} -k 2 --max-sweeps 5 --out m.pv"
        );
        let found = run(dir, &line);
        assert!(!found.status.success());
        let said = String::from_utf8_lossy(&found.stderr).into_owned();
        said.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let readings = get(dir, "y.csv");
    put(
        dir,
        "turned.csv",
        readings.replacen("[8,8.5]", "[8.5,8]", 1),
    );
    let said = fit("y=turned.csv:censored");
    assert!(
        said.contains("turned.csv: sample 's")
            && said.contains("column '")
            && said.contains("write the lower end first: [8,8.5]"),
        "{said}"
    );
    put(dir, "word.csv", readings.replacen(">12", "high", 1));
    let said = fit("y=word.csv:censored");
    assert!(
        said.contains("'high' is neither a number nor a limit"),
        "{said}"
    );
    let said = fit("y=y.csv:gaussian");
    assert!(said.contains("--view 'y=y.csv:censored'"), "{said}");
    let said = fit("y=y.csv:censored --scaling normal-scores");
    assert!(said.contains("which have no ranks"), "{said}");
    let times = get(dir, "os.csv");
    let view = |file: &str| format!("os={file}:survival{{time=days,event=died}}");
    put(dir, "zero.csv", times.replacen(",600,", ",0,", 1));
    let said = fit(&view("zero.csv"));
    assert!(
        said.contains("column 'days': '0' is no time above zero"),
        "{said}"
    );
    put(dir, "maybe.csv", times.replacen(",600,0", ",600,maybe", 1));
    let said = fit(&view("maybe.csv"));
    assert!(
        said.contains("column 'died': 'maybe' does not say whether the event came"),
        "{said}"
    );
    let said = fit("os=os.csv:survival");
    assert!(
        said.contains("there is no column 'time'") && said.contains("site, days, died"),
        "{said}"
    );
}

#[test]
fn limits_of_detection_are_given_beside_the_numbers() {
    let dir = folder();
    let dir = dir.path();
    let number = |n: usize, d: usize| 10.0 + ((n * 5 + d * 3) % 24) as f64 / 4.0 - 3.0;
    let table = |cell: &dyn Fn(f64, usize) -> String| {
        let mut text = "id,a,b,c,d\n".to_owned();
        for n in 0..48 {
            let _ = write!(text, "s{n}");
            for d in 0..4 {
                let _ = write!(text, ",{}", cell(number(n, d), d));
            }
            text.push('\n');
        }
        text
    };
    put(dir, "raw.csv", table(&|x, _| x.to_string()));
    put(
        dir,
        "written.csv",
        table(&|x, d| match (x, d) {
            (x, 0) if x <= 8.0 => "<8".to_owned(),
            (x, 0 | 1) if x >= 12.0 => ">12".to_owned(),
            _ => x.to_string(),
        }),
    );
    put(
        dir,
        "limits.csv",
        "feature,unit,lower,upper\na,mg,8,12\nb,mg,,12\n",
    );
    let fit = "fit --model sshiba --view x=x.csv -k 2 --seed 1 --max-sweeps 10";
    let limited = format!("{fit} --view y=raw.csv:censored --limit y=limits.csv");
    ok(dir, &format!("{limited} --out l.pv"));
    put(dir, "l.toml", ok(dir, &format!("{limited} --dry-run")));
    ok(
        dir,
        &format!("{fit} --view y=written.csv:censored --out w.pv"),
    );
    let study = get(dir, "l.toml");
    assert!(study.contains("lower = 8.0"), "{study}");
    ok(dir, "fit --spec l.toml --out again.pv");
    for (model, y) in [("l", "raw"), ("w", "written"), ("again", "raw")] {
        let of = |verb: &str, rest: &str| {
            ok(
                dir,
                &format!("{verb} {model}.pv --view y={y}.csv {rest} --out {model}-{verb}.csv"),
            );
        };
        of("project", "");
        of("predict", "--target x");
        ok(
            dir,
            &format!("impute {model}.pv --view y --out {model}-impute.csv"),
        );
    }
    for verb in ["project", "predict", "impute"] {
        assert_eq!(
            get(dir, &format!("l-{verb}.csv")),
            get(dir, &format!("w-{verb}.csv")),
            "{verb}"
        );
        assert_eq!(
            get(dir, &format!("l-{verb}.csv")),
            get(dir, &format!("again-{verb}.csv")),
            "{verb}"
        );
    }
    let told = said(
        dir,
        "simulate --from l.pv --samples 5 --seed 1 --out-dir drawn",
    );
    assert!(
        told.contains("view 'y': the drawn numbers are exact"),
        "{told}"
    );
    // a number for all features, and two
    ok(
        dir,
        &format!("{fit} --view y=raw.csv:censored --limit y=8 --out n.pv"),
    );
    ok(
        dir,
        &format!("{fit} --view y=raw.csv:censored --limit y=8..12 --out n2.pv"),
    );
    // predictions of cells beyond a limit cannot be scored
    ok(dir, "predict l.pv --view x=x.csv --target y --out p.csv");
    let score = "score --truth raw.csv --predicted p.csv --kind real --limit limits.csv";
    let err = crate::common::said(dir, score);
    assert!(
        err.contains("value(s) of raw.csv are at their limits or beyond"),
        "{err}"
    );
    // what cannot be, with the place and the mend
    put(dir, "unknown.csv", "feature,lower\nz,8\n");
    put(dir, "crossed.csv", "feature,lower,upper\na,8,8\n");
    put(dir, "words.csv", "feature,lower\na,nan!\n");
    put(dir, "columns.csv", "feature,from\na,1\n");
    for (option, says) in [
        (
            "y=unknown.csv",
            "unknown.csv and raw.csv: the feature 'z' has limits and is not in the view",
        ),
        (
            "y=crossed.csv",
            "the lower limit 8 is not below the upper limit 8",
        ),
        ("y=words.csv", "'nan!' is no limit"),
        (
            "y=columns.csv",
            "a column 'lower', a column 'upper', or both; its columns are from",
        ),
        ("y=nan", "the lower limit is NaN; give a finite number"),
        ("y=absent.csv", "absent.csv"),
        (
            "x=3",
            "view 'x': limits of detection belong to censored views",
        ),
        ("z=3", "view 'z'"),
        ("3", "is not VIEW=FILE, VIEW=LOWER or VIEW=LOWER..UPPER"),
    ] {
        let o = run(
            dir,
            &format!("{fit} --view y=raw.csv:censored --limit {option} --out no.pv"),
        );
        let err = String::from_utf8_lossy(&o.stderr);
        let err = err.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(!o.status.success() && err.contains(says), "{option}: {err}");
    }
}

/// One event says next to nothing of how times vary.
#[test]
fn a_single_event_is_said() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path();
    let survival = |events: usize| {
        let row = |n: usize| format!("s{n},{},{}\n", 10 + (n * 7) % 23, usize::from(n < events));
        "id,time,event\n".to_owned() + &(0..30).map(row).collect::<String>()
    };
    let mut x = "id,a,b\n".to_owned();
    for n in 0..30 {
        let _ = writeln!(x, "s{n},{},{}", (n * 5) % 13, (n * 3) % 7);
    }
    put(at, "x.csv", x);
    let fit = "fit --model sshiba --view x=x.csv --view s=s.csv:survival{time=time,event=event} -k 1 --max-sweeps 20 --force --out m.pv";
    for (events, said_so) in [(1, true), (2, false)] {
        put(at, "s.csv", survival(events));
        let note = said(at, fit);
        assert_eq!(
            note.contains("but for one value or event"),
            said_so,
            "{note}"
        );
    }
}
