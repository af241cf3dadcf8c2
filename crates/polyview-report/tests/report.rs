//! Whole reports: rich, empty, degenerate, hostile.

#[path = "support/full.rs"]
mod fixture;
mod support;

use fixture::{full, wave};
use polyview::{Convergence, Event, MetadataValues};
use polyview_report::{
    BoundTrace, Chain, ChainTraces, Coverage, Factors, Grid, HeldOut, HeldOutCells, Intervals,
    Progress, Report, ReportError, VarianceExplained, ViewWeights, pictures, render, write_report,
};
use support::{check, chosen, tried};

const HOSTILE: &str = "</title><script>alert('x')</script>\"&<svg onload=\"y\">\u{202E}\u{0}]]>";

/// Something wrong done to a report.
type Spoil = fn(&mut Report);

fn passes(report: &Report) -> (String, String) {
    let page = render(report).expect("renders");
    let (_, text) = check(&page).unwrap_or_else(|e| panic!("{e}"));
    for named in pictures(report).expect("draws") {
        let svg = named.picture.to_svg();
        check(&svg).unwrap_or_else(|e| panic!("{}: {e}", named.stem));
        assert!(!named.picture.title().is_empty() && !named.picture.description().is_empty());
        assert!(named.picture.width() > 0.0 && named.picture.height() > 0.0);
    }
    (page, text)
}

/// Of the shares of classes that of one stands for their mean, which is the same whatever the data.
#[test]
fn a_class_that_stands_for_all_is_named() {
    let mut report = full(60, 20, 4, "");
    report.checks[0].statistics[0].instead_of_mean = Some("common".into());
    let all: String = pictures(&report)
        .expect("draws")
        .iter()
        .map(|named| named.picture.description().to_owned())
        .collect();
    assert!(all.contains("p of 'common' = 0.012") && all.contains("p of the mean = 0.012"));
}

#[test]
fn a_full_report_has_every_section() {
    let report = full(60, 20, 4, "");
    let (page, text) = passes(&report);
    for section in [
        "fitted",
        "samples",
        "progress",
        "variance",
        "factors",
        "weights",
        "inclusion",
        "relevance",
        "correlations",
        "held-out",
        "checks",
        "against",
        "choose-k",
        "journal",
        "raw",
    ] {
        assert!(
            page.contains(&format!("<section id=\"{section}\"")),
            "{section}"
        );
        assert!(page.contains(&format!("href=\"#{section}\"")), "{section}");
    }
    for said in [
        "1 h 2 min",
        "18446744073709551615",
        "recommended: 4",
        "one standard error",
        "R² = 0.99",
        "0.012",
        "predictor of cells in numbers (0.61)",
        "some differ",
    ] {
        assert!(text.contains(said), "{said}");
    }
    assert!(text.contains("4 kept of 6 at the start"));
    assert!(text.contains("view 1") && text.contains("feature 7"));
    // negative shares are shown, not clipped: the joint share of the second view is -10 per cent
    assert!(text.contains("−10.0"));
}

#[test]
fn pictures_have_unique_harmless_names() {
    let all = pictures(&full(30, 10, 4, HOSTILE)).expect("draws");
    let mut stems: Vec<&str> = all.iter().map(|p| p.stem.as_str()).collect();
    assert!(stems.iter().all(|s| {
        s.bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
    }));
    let n = stems.len();
    stems.sort_unstable();
    stems.dedup();
    assert_eq!(stems.len(), n);
    assert!(n > 25);
}

#[test]
fn hostile_names_stay_text() {
    let (page, text) = passes(&full(40, 12, 3, HOSTILE));
    assert!(!page.contains("<script"));
    assert!(!page.contains("onload=\"y\""));
    // the name arrives whole, the forbidden character replaced
    assert!(text.contains(&HOSTILE.replace('\u{0}', "\u{FFFD}")));
}

#[test]
fn long_names_in_many_scripts_are_shortened_in_pictures_only() {
    let long =
        " Überlänge 蛋白质组学样本名称很长 данные экспрессии генов 🧬🧬 e\u{301}e\u{301}".repeat(4);
    let (page, text) = passes(&full(25, 8, 3, &long));
    assert!(text.contains(&long));
    assert!(page.contains('…'));
}

#[test]
fn an_empty_report_says_what_it_can() {
    let (page, text) = passes(&Report::default());
    assert!(text.contains("Factor model report"));
    assert!(
        page.contains("id=\"fitted\"") && !page.contains("id=\"raw\"") && !page.contains("<svg")
    );
    assert!(
        pictures(&Report::default())
            .expect("nothing to draw")
            .is_empty()
    );
}

#[test]
fn small_numbers_of_everything_are_drawn() {
    for samples in [0, 1, 2, 3] {
        for features in [0, 1, 2] {
            for factors in [0, 1, 2] {
                passes(&full(samples, features, factors, ""));
            }
        }
    }
}

#[test]
fn parts_may_be_empty() {
    let report = Report {
        coverage: Some(Coverage::default()),
        progress: Some(Progress::Chains(ChainTraces::default())),
        variance: Some(VarianceExplained::default()),
        factors: Some(Factors::default()),
        weights: vec![ViewWeights::default()],
        held_out: vec![
            HeldOut {
                view: String::new(),
                r2: None,
                deviance_explained: None,
                cells: HeldOutCells::Numeric {
                    truth: vec![],
                    predicted: vec![],
                    intervals: None,
                    unit: String::new(),
                },
            },
            HeldOut {
                view: String::new(),
                r2: None,
                deviance_explained: None,
                cells: HeldOutCells::Binary {
                    truth: vec![],
                    probability: vec![],
                    labels: vec![],
                    label: vec![],
                },
            },
            HeldOut {
                view: String::new(),
                r2: None,
                deviance_explained: None,
                cells: HeldOutCells::Classes {
                    names: vec![],
                    truth: vec![],
                    predicted: vec![],
                    probability: Some(Grid::default()),
                },
            },
        ],
        choose_k: Some(chosen(Vec::new(), "")),
        ..Report::default()
    };
    passes(&report);
}

#[test]
fn numbers_that_are_none_are_left_out_and_counted() {
    let mut report = full(30, 10, 3, "");
    let odd = [
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        1e308,
        -1e308,
        5e-324,
        0.0,
        1e300,
    ];
    let pick = |i: usize, j: usize| odd[(i * 3 + j) % odd.len()];
    if let Some(f) = &mut report.factors {
        f.means = Grid::from_fn(30, 3, pick);
        f.sds = Some(Grid::from_fn(30, 3, |i, j| pick(i, j).abs()));
    }
    if let Some(v) = &mut report.variance {
        v.marginal = Grid::from_fn(3, 3, pick);
        v.unique = Some(Grid::from_fn(3, 3, pick));
        v.joint = vec![f64::NAN, f64::INFINITY, 1e308];
    }
    for w in &mut report.weights {
        w.means = Grid::from_fn(10, 3, pick);
        w.sds = Some(Grid::from_fn(10, 3, |i, j| pick(i, j).abs()));
    }
    report.progress = Some(Progress::Bound(BoundTrace {
        values: odd.to_vec(),
        ..BoundTrace::default()
    }));
    report.held_out = vec![HeldOut {
        view: "v".into(),
        r2: None,
        deviance_explained: None,
        cells: HeldOutCells::Numeric {
            truth: odd.to_vec(),
            predicted: odd.iter().rev().copied().collect(),
            intervals: Some(Intervals {
                level: 0.9,
                lower: odd.to_vec(),
                upper: odd.to_vec(),
            }),
            unit: String::new(),
        },
    }];
    report.metadata[1].values = MetadataValues::Numbers((0..30).map(|i| pick(i, 1)).collect());
    report.choose_k = Some(chosen(
        vec![
            tried(2, [f64::NAN; 4]),
            tried(4, [f64::INFINITY, f64::NAN, 1e308, 0.1]),
            tried(8, [1e308, f64::NAN, f64::NAN, f64::NEG_INFINITY]),
        ],
        "",
    ));
    report.summary.bound = Some(f64::NAN);
    report.summary.seconds = Some(f64::INFINITY);
    passes(&report);

    report.progress = Some(Progress::Bound(BoundTrace {
        values: vec![f64::NAN; 12],
        ..BoundTrace::default()
    }));
    let (_, text) = passes(&report);
    assert!(text.contains("no value of the bound was recorded"));
}

#[test]
fn ten_thousand_features_and_a_thousand_samples_stay_small() {
    let report = full(1000, 10_000, 6, "");
    let (page, text) = passes(&report);
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
    assert!(text.contains("25 of 1000 rows are shown"));
}

#[test]
fn deviance_has_a_column_where_counts_were_held_out() {
    let mut report = full(20, 5, 2, "");
    let (_, text) = passes(&report);
    assert!(text.contains("Deviance explained") && text.contains("37.5%"));
    report.held_out[0].deviance_explained = None;
    let (_, text) = passes(&report);
    assert!(!text.contains("Deviance explained"));
}

#[test]
fn many_samples_are_thinned_and_said_so() {
    let mut report = full(20_000, 3, 2, "");
    report.held_out.truncate(1);
    if let HeldOutCells::Numeric {
        truth,
        predicted,
        intervals,
        ..
    } = &mut report.held_out[0].cells
    {
        *truth = (0..9000).map(|i| wave(i, 2)).collect();
        *predicted = (0..9000).map(|i| wave(i, 3)).collect();
        *intervals = None;
    }
    let (page, text) = passes(&report);
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
    assert!(text.contains("3000 evenly spaced samples of 20,000 are drawn"));
    assert!(text.contains("cells in a square"));
}

#[test]
fn chains_are_traced_with_their_diagnostics() {
    let chain = |c: usize| Chain {
        name: format!("chain {c}"),
        first_sweep: 1,
        values: (0..5000).map(|i| wave(i, c)).collect(),
    };
    let figures =
        |kind: &str, [rhat, rhat_median]: [f64; 2], [bulk, median, tail]: [f64; 3]| Convergence {
            kind: kind.into(),
            quantities: 16,
            worst: "density (s3, a)".into(),
            rhat,
            rhat_median,
            ess_bulk: bulk,
            ess_bulk_median: median,
            ess_tail: tail,
        };
    let diagnostics = vec![
        figures("density", [1.2, 1.004], [12.0, 321.0, 30.0]),
        figures("unknown", [f64::NAN; 2], [f64::NAN; 3]),
    ];
    let traces = ChainTraces {
        quantity: "log joint density (nats)".into(),
        chains: (0..10).map(chain).collect(),
        warm_up: 100,
        diagnostics,
    };
    let report = Report {
        progress: Some(Progress::Chains(traces)),
        ..Report::default()
    };
    let (page, text) = passes(&report);
    assert!(text.contains("R-hat") && page.contains("n Warning"));
    for told in ["density (s3, a)", "1.004", "321"] {
        assert!(text.contains(told), "{told}");
    }
    assert!(page.len() < 600_000, "{} bytes", page.len());
}

#[test]
fn a_long_journal_is_folded_but_for_what_matters() {
    let mut report = full(10, 3, 2, "");
    for sweep in 0..3000 {
        let note = format!("rotated in sweep no. {sweep}");
        report.journal.note(sweep, "rotation", Event::Note { note });
    }
    let (page, text) = passes(&report);
    assert!(text.contains("3001 remarks") && text.contains("1000 of 3003 rows are shown"));
    let fold = page.find("All 3003 entries").expect("folded");
    let (before, after) = page.split_at(fold);
    assert!(before.contains("jitter") && before.contains("removed"));
    assert!(!before.contains("rotated in sweep no. 7") && after.contains("rotated in sweep no. 7"));
}

#[test]
fn the_same_report_gives_the_same_bytes() {
    let report = full(50, 15, 4, "x");
    assert_eq!(
        render(&report).expect("renders"),
        render(&report.clone()).expect("renders")
    );
    let mut written = Vec::new();
    write_report(&report, &mut written).expect("writes");
    assert_eq!(written, render(&report).expect("renders").into_bytes());
}

#[test]
fn a_failing_writer_is_reported() {
    struct Full;
    impl std::io::Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::Error::from(std::io::ErrorKind::StorageFull))
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    assert!(matches!(
        write_report(&Report::default(), Full),
        Err(ReportError::Io(_))
    ));
}

#[test]
fn parts_that_do_not_fit_are_refused() {
    let good = || full(20, 5, 3, "");
    let cases: [(&str, Spoil); 18] = [
        ("activity by group", |r| {
            if let Some(g) = &mut r.groups {
                g.groups.pop();
            }
        }),
        ("p-values", |r| r.checks[0].statistics[0].p.truncate(1)),
        ("means of the other fit", |r| {
            let found = r.comparison.iter_mut().map(|c| &mut c.found.views[0]);
            found.for_each(|view| view.predictor.other_mean.truncate(1));
        }),
        ("inclusion probabilities", |r| {
            r.inclusion[0].probability = Grid::from_fn(2, 3, wave);
        }),
        ("relevances", |r| {
            r.relevance[0].relevance.push(1.0);
        }),
        ("pixels", |r| r.relevance[1].shape = Some([2, 5])),
        ("factor standard deviations", |r| {
            r.factors.as_mut().expect("given").sds = Some(Grid::from_fn(20, 2, wave));
        }),
        ("marginal", |r| {
            r.variance.as_mut().expect("given").marginal = Grid::from_fn(2, 3, wave);
        }),
        ("joint", |r| {
            r.variance.as_mut().expect("given").joint.push(0.0);
        }),
        ("factor means", |r| {
            r.factors.as_mut().expect("given").means = Grid::from_fn(20, 4, wave);
        }),
        ("metadata", |r| {
            r.metadata[0].values = MetadataValues::Numbers(vec![1.0]);
        }),
        ("features", |r| {
            r.weights[1].features.push("one more".into());
        }),
        ("weights", |r| {
            r.weights[0].means = Grid::from_fn(5, 9, wave);
        }),
        ("predictions", |r| {
            r.held_out[0].cells = HeldOutCells::Binary {
                truth: vec![1.0],
                probability: vec![],
                labels: vec![],
                label: vec![],
            };
        }),
        ("label index", |r| {
            r.held_out[0].cells = HeldOutCells::Binary {
                truth: vec![1.0],
                probability: vec![0.5],
                labels: vec!["a".into()],
                label: vec![1],
            };
        }),
        ("class index", |r| {
            r.held_out[0].cells = HeldOutCells::Classes {
                names: vec!["a".into()],
                truth: vec![0],
                predicted: vec![1],
                probability: None,
            };
        }),
        ("probabilities of the classes", |r| {
            r.held_out[0].cells = HeldOutCells::Classes {
                names: vec!["a".into()],
                truth: vec![0],
                predicted: vec![0],
                probability: Some(Grid::from_fn(1, 2, |_, _| 0.5)),
            };
        }),
        ("observed share", |r| {
            r.coverage.as_mut().expect("given").observed = Grid::from_fn(4, 3, |_, _| f64::NAN);
        }),
    ];
    for (what, spoil) in cases {
        let mut report = good();
        spoil(&mut report);
        let error = render(&report).expect_err(what).to_string();
        assert!(error.contains(what), "{what}: {error}");
        assert!(pictures(&report).is_err());
    }
}
