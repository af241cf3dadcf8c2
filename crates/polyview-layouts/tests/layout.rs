//! Windows of visits (spec/thesis 9.2), and what users get wrong.
#![allow(clippy::unwrap_used)]

use std::fmt::Write;

use polyview_io::{DecimalMark, ReadOptions, RowTable, read_rows};
use polyview_layouts::{Content, Laid, LayoutError, Part, Plan, Role, Rows, Windows, lay_out};

fn table(text: &str) -> RowTable {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("visits.csv");
    std::fs::write(&path, text).unwrap();
    read_rows(&path, &ReadOptions::default()).unwrap()
}

fn part(name: &str, patterns: &[&str], content: Content) -> Part {
    Part {
        name: name.into(),
        patterns: patterns.iter().map(|p| (*p).into()).collect(),
        content,
    }
}

fn plan() -> Plan {
    Plan {
        subject: "RID".into(),
        time: "month".into(),
        decimal: DecimalMark::Point,
        step: 6.0,
        window: 5,
        ahead: 1,
        tolerance: None,
        until: None,
        predict_at: None,
        views: vec![part("td", &["td_*"], Content::Measured)],
        fixed: vec![part("ti", &["age"], Content::Numbers)],
        targets: vec![part("v", &["v"], Content::Numbers)],
        set_to_limits: false,
        windows: Windows::WithTargets,
    }
}

/// A subject with all visits from 0 to 36; each cell says what it is of and when.
fn cohort() -> String {
    let mut text = "RID,month,age,td_a,td_b,v\n".to_owned();
    for rid in [11, 12] {
        for month in (0..=36).step_by(6) {
            let _ = writeln!(text, "{rid},{month},70,{rid}{month:02},1,{month}");
        }
    }
    text
}

fn named<'a>(rows: &'a Rows, name: &str) -> &'a Laid {
    rows.tables.iter().find(|t| t.name == name).unwrap()
}

fn cell<'a>(rows: &'a Rows, name: &str, column: usize, sample: &str) -> Option<&'a str> {
    let at = rows.samples.iter().position(|s| s == sample).unwrap();
    named(rows, name).cells[column][at].as_deref()
}

#[test]
fn windows_are_those_of_the_thesis() {
    // training up to month 24, test at 36: the table of spec/thesis 9.2
    let plan = Plan {
        until: Some(24.0),
        predict_at: Some(36.0),
        ..plan()
    };
    let found = lay_out(&table(&cohort()), &plan).unwrap();
    let rows = &found.training;
    let own: Vec<&String> = rows
        .samples
        .iter()
        .filter(|s| s.starts_with("11"))
        .collect();
    assert_eq!(own, ["11@6", "11@12", "11@18", "11@24"]);
    let names: Vec<&str> = rows.tables.iter().map(|t| t.name.as_str()).collect();
    // nothing of month 30 before is ever known in training
    assert_eq!(names, ["td-24", "td-18", "td-12", "td-6", "ti", "v"]);
    assert_eq!(cell(rows, "td-6", 0, "11@6"), Some("1100"));
    assert_eq!(cell(rows, "td-12", 0, "11@6"), None);
    assert_eq!(cell(rows, "td-24", 0, "12@24"), Some("1200"));
    assert_eq!(cell(rows, "v", 0, "11@18"), Some("18"));
    assert_eq!(cell(rows, "ti", 0, "11@18"), Some("70"));
    // of new samples nothing after month 24 is seen, and the truth is there
    let new = &found.new;
    assert_eq!(new.samples, ["11@36", "12@36"]);
    assert_eq!(cell(new, "td-6", 0, "11@36"), None);
    assert_eq!(cell(new, "td-12", 0, "11@36"), Some("1124"));
    assert_eq!(cell(new, "td-24", 0, "11@36"), Some("1112"));
    assert_eq!(cell(new, "v", 0, "12@36"), Some("36"));
    assert_eq!(named(new, "td-12").role, Role::Past(12.0));
    assert_eq!(new.subjects, ["11", "12"]);
    assert_eq!(new.times, [36.0, 36.0]);
}

#[test]
fn windows_without_targets_and_new_samples_may_be_rows() {
    // train5 and the test rows of the table of spec/thesis 9.2: month 30 has inputs up to month 24 and no
    // targets, and month 36 is there without its own
    let of = |windows| {
        let plan = Plan {
            until: Some(24.0),
            predict_at: Some(36.0),
            windows,
            ..plan()
        };
        lay_out(&table(&cohort()), &plan).unwrap()
    };
    let own = |found: &polyview_layouts::Layout| -> Vec<String> {
        let mut own = found.training.samples.clone();
        own.retain(|s| s.starts_with("11"));
        own
    };
    let all = of(Windows::All);
    assert_eq!(own(&all), ["11@6", "11@12", "11@18", "11@24", "11@30"]);
    let rows = &all.training;
    assert_eq!(cell(rows, "td-6", 0, "11@30"), Some("1124"));
    assert_eq!(cell(rows, "td-30", 0, "11@30"), Some("1100"));
    assert_eq!(cell(rows, "v", 0, "11@30"), None);
    assert_eq!(cell(rows, "v", 0, "11@24"), Some("24"));
    let too = of(Windows::AllAndNew);
    assert_eq!(own(&too)[5..], ["11@36"]);
    assert_eq!(cell(&too.training, "td-12", 0, "11@36"), Some("1124"));
    assert_eq!(cell(&too.training, "v", 0, "11@36"), None);
    // the truth is beside it still
    assert_eq!(cell(&too.new, "v", 0, "11@36"), Some("36"));
    assert_eq!(too.new, all.new);
}

#[test]
fn a_visit_without_a_target_is_a_window_of_all() {
    let text = "RID,month,age,td_a,v\n1,0,50,1,5\n1,6,50,2,\n1,18,50,3,7\n";
    let of = |windows| {
        let plan = Plan {
            window: 2,
            ahead: 1,
            windows,
            ..plan()
        };
        let found = lay_out(&table(text), &plan).unwrap();
        (found.training.samples, found.new.samples)
    };
    assert_eq!(of(Windows::WithTargets).0, ["1@18"]);
    assert_eq!(of(Windows::All).0, ["1@6", "1@12", "1@18"]);
    let (training, new) = of(Windows::AllAndNew);
    assert_eq!(training, ["1@6", "1@12", "1@18", "1@24"]);
    assert_eq!(new, ["1@24"]);
}

#[test]
fn nothing_of_a_row_is_later_than_its_window() {
    // a cell says its month: none of a training row's past is at or after its time
    let found = lay_out(&table(&cohort()), &plan()).unwrap();
    for rows in [&found.training, &found.new] {
        for t in rows
            .tables
            .iter()
            .filter(|t| matches!(t.role, Role::Past(_)))
        {
            let Role::Past(lag) = t.role else { continue };
            for (n, cell) in t.cells[0].iter().enumerate() {
                let Some(text) = cell else { continue };
                let month: f64 = text[2..].parse().unwrap();
                assert_eq!(month, rows.times[n] - lag, "{}", t.name);
            }
        }
    }
    assert_eq!(found.new.samples, ["11@42", "12@42"]);
}

#[test]
fn visits_between_steps_and_targets_without_a_past() {
    let text = "RID,month,age,td_a,v\n\
                a,0.4,70,1,1\na,5,71,2,2\na,7,70,3,3\na,12,70,,4\n\
                b,30,60,9,9\nc,0,50,1,\nc,6,50,,7\n";
    let found = lay_out(&table(text), &plan()).unwrap();
    // 5 and 7 are both next to 6: the first of equals; b has no past; c's past is known
    assert_eq!(found.training.samples, ["a@6", "a@12", "c@6"]);
    assert_eq!(cell(&found.training, "td-6", 0, "a@12"), Some("2"));
    // b's only visit is a past of new samples
    assert_eq!(found.new.samples, ["a@18", "b@36", "c@12"]);
    let remarks = found.remarks.join("\n");
    assert!(remarks.contains("1 visits share"), "{remarks}");
    assert!(
        remarks.contains("2 visits with a target have nothing known"),
        "{remarks}"
    );
    assert!(
        remarks.contains("1 values of fixed views change"),
        "{remarks}"
    );
    let strict = Plan {
        tolerance: Some(0.5),
        ..plan()
    };
    let found = lay_out(&table(text), &strict).unwrap();
    assert_eq!(found.training.samples, ["a@12", "c@6"]);
    assert!(found.remarks[0].contains("2 visits are further"));
}

#[test]
fn limits_classes_and_indicators() {
    let text = "RID,month,td_x,td_y,dx,v\n1,0,<200,5,NC,1\n1,6,>1300,[2;4],AD,2\n1,12,250,6,,3\n2,0,300,7,MCI,1\n2,6,310,8,NC,2\n";
    let base = Plan {
        fixed: vec![],
        views: vec![
            part("td", &["td_x"], Content::Measured),
            part("dx", &["dx"], Content::Indicators),
        ],
        targets: vec![part("now", &["dx"], Content::Classes)],
        ..plan()
    };
    let found = lay_out(&table(text), &base).unwrap();
    let rows = &found.training;
    assert_eq!(named(rows, "td-6").content, Content::Limits);
    assert_eq!(cell(rows, "td-6", 0, "1@6"), Some("<200"));
    let dx = named(rows, "dx-6");
    assert_eq!(dx.columns, ["dx=AD", "dx=MCI", "dx=NC"]);
    let of = |sample: &str| [0, 1, 2].map(|d| cell(rows, "dx-6", d, sample));
    assert_eq!(of("1@6"), [Some("0"), Some("0"), Some("1")]);
    assert_eq!(
        named(rows, "now").cells,
        [[Some("AD".into()), Some("NC".into())]]
    );
    // set to their numbers
    let set = Plan {
        set_to_limits: true,
        windows: Windows::WithTargets,
        ..base.clone()
    };
    let found = lay_out(&table(text), &set).unwrap();
    assert_eq!(named(&found.training, "td-6").content, Content::Numbers);
    assert_eq!(cell(&found.training, "td-6", 0, "1@6"), Some("200"));
    // refused where numbers are asked for, and an interval in any case
    let numbers = Plan {
        views: vec![part("td", &["td_x"], Content::Numbers)],
        ..base.clone()
    };
    let e = lay_out(&table(text), &numbers).unwrap_err();
    assert!(
        e.to_string().starts_with("line 2, column 'td_x': '<200'"),
        "{e}"
    );
    let interval = Plan {
        views: vec![part("td", &["td_y"], Content::Measured)],
        set_to_limits: true,
        windows: Windows::WithTargets,
        ..base
    };
    assert!(matches!(
        lay_out(&table(text), &interval),
        Err(LayoutError::NoNumber { line: 3, .. })
    ));
}

#[test]
fn decimal_commas_become_points() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("visits.csv");
    std::fs::write(&path, "RID;month;td_a;v\n1;0;<1,5;2,5\n1;0,5;3;1e-3\n").unwrap();
    let plan = Plan {
        decimal: DecimalMark::Comma,
        step: 0.5,
        fixed: vec![],
        ..plan()
    };
    let rows = read_rows(&path, &ReadOptions::default()).unwrap();
    let found = lay_out(&rows, &plan).unwrap();
    assert_eq!(found.training.samples, ["1@0.5"]);
    assert_eq!(cell(&found.training, "td-0.5", 0, "1@0.5"), Some("<1.5"));
    assert_eq!(cell(&found.training, "v", 0, "1@0.5"), Some("1e-3"));
}

#[test]
fn each_mistake_has_its_answer() {
    let text = cohort();
    let bad = |plan: Plan| lay_out(&table(&text), &plan).unwrap_err();
    let with = |change: &dyn Fn(&mut Plan)| {
        let mut plan = plan();
        change(&mut plan);
        bad(plan)
    };
    let e = with(&|p| p.subject = "rid".into());
    assert!(matches!(e, LayoutError::NoColumn { .. }));
    assert!(e.to_string().contains("the table has RID, month"), "{e}");
    let e = with(&|p| p.views[0].patterns.push("csf_*".into()));
    assert!(
        e.to_string()
            .contains("view 'td': no column matches 'csf_*'"),
        "{e}"
    );
    // subject and time are no columns of views
    let e = with(&|p| p.views[0].patterns = vec!["month".into()]);
    assert!(
        e.to_string().contains("'month' is the column of times"),
        "{e}"
    );
    assert!(matches!(
        with(&|p| p.step = 0.0),
        LayoutError::OutOfRange { .. }
    ));
    assert!(matches!(
        with(&|p| p.window = 0),
        LayoutError::OutOfRange { .. }
    ));
    assert!(matches!(
        with(&|p| p.tolerance = Some(4.0)),
        LayoutError::OutOfRange { .. }
    ));
    assert!(matches!(
        with(&|p| p.targets.clear()),
        LayoutError::Nothing { .. }
    ));
    assert!(matches!(
        with(&|p| p.until = Some(-1.0)),
        LayoutError::Nothing { .. }
    ));
    assert!(matches!(
        with(&|p| p.targets[0].name = "td".into()),
        LayoutError::SameName { .. }
    ));
    assert!(matches!(
        with(&|p| p.targets[0].name = "../x".into()),
        LayoutError::BadName { .. }
    ));
    assert!(matches!(
        with(&|p| p.targets[0] = part("v", &["td_*"], Content::Classes)),
        LayoutError::SeveralColumns { columns: 2, .. }
    ));
    let of = |text: &str| lay_out(&table(text), &plan()).unwrap_err();
    let head = "RID,month,age,td_a,v\n";
    assert_eq!(
        of(&format!("{head}1,0,70,1,1\n1,0.0,70,1,1\n")),
        LayoutError::DuplicateVisit {
            subject: "1".into(),
            time: 0.0,
            first: 2,
            second: 3
        }
    );
    let e = of(&format!("{head}1,bl,70,1,1\n"));
    assert!(
        e.to_string()
            .contains("line 2, column 'month': 'bl' is no time"),
        "{e}"
    );
    assert!(matches!(
        of(&format!("{head}1,,70,1,1\n")),
        LayoutError::NoTime { .. }
    ));
    assert!(matches!(
        of(&format!("{head},0,70,1,1\n")),
        LayoutError::NoSubject { line: 2, .. }
    ));
    assert!(matches!(
        of(&format!("{head}1,1e300,70,1,1\n")),
        LayoutError::NoTime { .. }
    ));
    let e = of(&format!("{head}1,0,70,high,1\n"));
    assert!(e.to_string().contains("'high' is no number"), "{e}");
}
