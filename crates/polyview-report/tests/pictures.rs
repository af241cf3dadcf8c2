//! Single pictures: what is drawn is what was given.

mod support;

use polyview::{Metadata, MetadataValues};
use polyview_report::{
    BoundTrace, Coverage, Curve, Event, EventKind, Factors, Grid, HeldOut, HeldOutCells, Intervals,
    Options, Picture, ReportError, Share, VarianceExplained, ViewRelevance, ViewWeights, Window,
    draw_bound, draw_choose_k, draw_correlations, draw_factor_against, draw_factor_pair,
    draw_held_out, draw_missingness, draw_overlap, draw_relevance, draw_top_weights, draw_variance,
    draw_variance_by_view,
};
use support::{Element, check, chosen, tried};

fn read(picture: &Picture) -> (Vec<Element>, String) {
    check(&picture.to_svg()).unwrap_or_else(|e| panic!("{}: {e}", picture.title()))
}

fn attribute<'a>(e: &'a Element, name: &str) -> &'a str {
    e.attributes.get(name).map_or("", String::as_str)
}

fn number(e: &Element, name: &str) -> f64 {
    attribute(e, name).parse().unwrap_or(f64::NAN)
}

fn strings(names: &[&str]) -> Vec<String> {
    names.iter().map(|n| (*n).to_owned()).collect()
}

fn variance() -> VarianceExplained {
    VarianceExplained {
        views: strings(&["rna", "protein"]),
        factors: strings(&["F1", "F2"]),
        marginal: Grid::new(2, 2, vec![0.4, -0.123, f64::NAN, 0.05]).expect("shape"),
        joint: vec![0.38, -0.071],
        unique: None,
    }
}

#[test]
fn negative_shares_are_neither_hidden_nor_clipped() {
    let (elements, text) = read(&draw_variance(&variance(), Share::Marginal).expect("draws"));
    for said in ["40.0", "−12.3", "5.0", "38.0", "−7.1", "F2, rna: −12.3%"] {
        assert!(text.contains(said), "{said}");
    }
    let colours: Vec<(u8, u8)> = elements
        .iter()
        .filter(|e| e.name == "rect" && number(e, "height") > 15.0)
        .filter_map(|e| {
            let hex = attribute(e, "fill").strip_prefix('#')?;
            let channel = |i: usize| u8::from_str_radix(&hex[i..i + 2], 16).ok();
            Some((channel(0)?, channel(4)?))
        })
        .collect();
    // three known cells: two blue, one orange; the unknown one has no colour of the scale
    assert_eq!(colours.len(), 3);
    assert_eq!(colours.iter().filter(|(red, blue)| red > blue).count(), 1);

    let (elements, text) = read(&draw_variance_by_view(&variance()).expect("draws"));
    assert!(text.contains("−7.1"));
    let axis = elements
        .iter()
        .filter(|e| e.name == "rect" && attribute(e, "class") == "f c0")
        .map(|e| (number(e, "x"), number(e, "width")))
        .collect::<Vec<_>>();
    // the positive bar begins where the negative one ends: at zero
    assert!(
        (axis[0].0 - (axis[1].0 + axis[1].1)).abs() < 0.11,
        "{axis:?}"
    );
    assert!(
        (axis[1].1 / axis[0].1 - 0.071 / 0.38).abs() < 0.01,
        "{axis:?}"
    );
}

#[test]
fn every_finite_sample_is_one_mark() {
    let n = 50;
    let mut values: Vec<f64> = (0..2 * n).map(|i| f64::from((i * 31 % 47) as u8)).collect();
    values[6] = f64::NAN;
    values[9] = f64::INFINITY;
    let factors = Factors {
        samples: (0..n).map(|i| i.to_string()).collect(),
        names: strings(&["A", "B"]),
        means: Grid::new(n, 2, values).expect("shape"),
        sds: None,
    };
    let picture = draw_factor_pair(&factors, (0, 1), None, &Options::default()).expect("draws");
    let (elements, _) = read(&picture);
    let marks: usize = elements
        .iter()
        .map(|e| attribute(e, "d").matches("h0").count())
        .sum();
    assert_eq!(marks, n - 2);
    assert!(picture.description().contains("2 without a value"));

    let few = Options {
        max_points: 12,
        ..Options::default()
    };
    let (elements, _) = read(&draw_factor_pair(&factors, (0, 1), None, &few).expect("draws"));
    assert_eq!(
        elements
            .iter()
            .map(|e| attribute(e, "d").matches("h0").count())
            .sum::<usize>(),
        12
    );

    let column = Metadata {
        name: "kind".into(),
        values: MetadataValues::Categories(
            (0..n)
                .map(|i| (i % 5 > 0).then(|| format!("k{}", i % 2)))
                .collect(),
        ),
    };
    let (_, text) = read(
        &draw_factor_pair(&factors, (0, 1), Some(&column), &Options::default()).expect("draws"),
    );
    assert!(
        text.contains("k0 (20)") && text.contains("k1 (20)") && text.contains("not recorded (10)")
    );
    assert!(matches!(
        draw_factor_pair(&factors, (0, 2), None, &Options::default()),
        Err(ReportError::NoSuchFactor {
            index: 2,
            factors: 2
        })
    ));
}

#[test]
fn a_factor_that_separates_groups_says_so() {
    let n = 40;
    let factors = Factors {
        samples: (0..n).map(|i| i.to_string()).collect(),
        names: strings(&["A"]),
        means: Grid::from_fn(n, 1, |i, _| if i % 2 == 0 { 1.0 } else { -1.0 }),
        sds: None,
    };
    let column = |values| Metadata {
        name: "group".into(),
        values,
    };
    let sides = (0..n)
        .map(|i| Some(if i % 2 == 0 { "left" } else { "right" }.to_owned()))
        .collect();
    let picture = draw_factor_against(
        &factors,
        0,
        &column(MetadataValues::Categories(sides)),
        &Options::default(),
    )
    .expect("draws");
    assert!(
        picture.description().contains("lies 1.00 of the variance"),
        "{}",
        picture.description()
    );
    let numbers = MetadataValues::Numbers(
        (0..n)
            .map(|i| if i % 2 == 0 { -3.0 } else { 3.0 })
            .collect(),
    );
    let (_, text) = read(
        &draw_factor_against(&factors, 0, &column(numbers), &Options::default()).expect("draws"),
    );
    assert!(text.contains("r = −1.00") && text.contains("group"));
}

#[test]
fn top_weights_come_in_order_with_their_intervals() {
    let weights = ViewWeights {
        view: "rna".into(),
        features: strings(&["small", "largest", "middle", "none"]),
        means: Grid::new(4, 1, vec![0.1, -2.0, 1.0, f64::NAN]).expect("shape"),
        sds: Some(Grid::new(4, 1, vec![0.1, 0.25, 0.5, 1.0]).expect("shape")),
    };
    let picture = draw_top_weights(&weights, 0, "F1", 3).expect("draws");
    let (elements, text) = read(&picture);
    let place = |name: &str| text.rfind(name).expect("named");
    assert!(place("largest") < place("middle") && place("middle") < place("small"));
    assert!(!picture.to_svg().contains(">none<"));
    // the interval of the negative weight is half as long as that of the middle one
    let ends = |class: &str| {
        let e = elements
            .iter()
            .find(|e| attribute(e, "class") == class)
            .expect("an interval");
        let d: Vec<f64> = attribute(e, "d")
            .split(['M', 'L', ' '])
            .filter_map(|v| v.parse().ok())
            .collect();
        d[2] - d[0]
    };
    assert!((ends("l c1") * 2.0 - ends("l c0")).abs() < 0.5);
    assert!(matches!(
        draw_top_weights(&weights, 1, "F2", 3),
        Err(ReportError::NoSuchFactor { .. })
    ));
}

#[test]
fn relevant_features_come_in_order() {
    let relevance = ViewRelevance {
        view: "rna".into(),
        features: strings(&["small", "largest", "middle", "none"]),
        relevance: vec![0.2, 9.0, 1.0, f64::NAN],
        shape: None,
    };
    let picture = draw_relevance(&relevance, 2).expect("draws");
    let (_, text) = read(&picture);
    let place = |name: &str| text.rfind(name).expect("named");
    assert!(place("largest") < place("middle"));
    assert!(!picture.to_svg().contains(">small<"));
    assert!(picture.description().contains("largest 9.0, middle 1.0"));
    let mut wrong = relevance;
    wrong.relevance.pop();
    assert!(matches!(
        draw_relevance(&wrong, 2),
        Err(ReportError::LengthMismatch { .. })
    ));
}

#[test]
fn relevances_of_pixels_are_an_image() {
    // one pixel in the second row and third column stands out
    let image = |rows: usize, columns: usize, bright: usize| ViewRelevance {
        view: "faces".into(),
        features: (0..rows * columns).map(|d| format!("p{d}")).collect(),
        relevance: (0..rows * columns)
            .map(|d| match d {
                0 => f64::NAN,
                d if d == bright => 1000.0,
                _ => 1.0,
            })
            .collect(),
        shape: Some([rows, columns]),
    };
    let blocks = |picture: &Picture| -> Vec<(usize, f64, f64)> {
        let (elements, _) = read(picture);
        elements
            .iter()
            .filter(|e| e.name == "path" && attribute(e, "fill").starts_with('#'))
            .map(|e| {
                let d = attribute(e, "d");
                let at = d[1..].split(['H', ' ']).collect::<Vec<_>>();
                let number = |i: usize| at[i].parse().unwrap_or(f64::NAN);
                (d.matches('z').count(), number(0), number(1))
            })
            .collect()
    };
    let small = blocks(&draw_relevance(&image(4, 5, 7), 3).expect("draws"));
    assert_eq!(small.iter().map(|b| b.0).collect::<Vec<_>>(), [18, 1]);
    // pixels are at most 24 wide; the title takes 28
    assert_eq!((small[1].1, small[1].2), (48.0, 28.0 + 24.0));
    // a large image has its neighbours averaged, never more than 128 a side
    let large = blocks(&draw_relevance(&image(200, 300, 40_000), 3).expect("draws"));
    assert!(large.iter().map(|b| b.0).sum::<usize>() <= 128 * 128);
    // nothing to draw is no failure
    for shape in [[0, 0], [0, 3]] {
        let nothing = ViewRelevance {
            shape: Some(shape),
            ..ViewRelevance::default()
        };
        assert!(blocks(&draw_relevance(&nothing, 3).expect("draws")).is_empty());
    }
}

#[test]
fn events_of_the_bound_are_marked() {
    let event = |sweep, kind| Event { sweep, kind };
    let trace = BoundTrace {
        first_sweep: 1,
        values: (0..50).map(|s| -f64::from(50 - s).powi(3)).collect(),
        events: vec![
            event(5, EventKind::Pruned),
            event(9, EventKind::Pruned),
            event(48, EventKind::Rotated),
            event(900, EventKind::Other),
        ],
        terms: vec![],
    };
    let marks = |picture: &Picture, class: &str| {
        let (elements, _) = read(picture);
        elements
            .iter()
            .filter(|e| attribute(e, "class") == class)
            .map(|e| attribute(e, "d").matches('z').count())
            .sum::<usize>()
    };
    let whole = draw_bound(&trace, Window::Whole);
    // two events and the entry of the key; one and its entry
    assert_eq!((marks(&whole, "f c1"), marks(&whole, "f c2")), (3, 2));
    let tail = draw_bound(&trace, Window::Tail);
    assert_eq!((marks(&tail, "f c1"), marks(&tail, "f c2")), (0, 2));
    assert!(read(&tail).1.contains("bound − last value (nats)"));
}

/// Rotations in sweep after sweep are a bar above the frame: it must not touch the
/// letters of the title that reach below their line.
#[test]
fn marks_of_the_bound_stay_clear_of_its_title() {
    let rotated = |sweep| Event {
        sweep,
        kind: EventKind::Rotated,
    };
    let picture = draw_bound(
        &BoundTrace {
            first_sweep: 1,
            values: (0..50).map(|s| -f64::from(50 - s).powi(3)).collect(),
            events: (1..9).map(rotated).collect(),
            terms: vec![],
        },
        Window::Whole,
    );
    let (elements, _) = read(&picture);
    let y = |name: &str, class: &str| {
        let of = |e: &&Element| e.name == name && attribute(e, "class") == class;
        elements.iter().find(of).map(|e| number(e, "y"))
    };
    let (title, bar) = (y("text", "b"), y("rect", "f c2"));
    assert!(
        bar.zip(title).is_some_and(|(b, t)| b - t >= 6.0),
        "{bar:?} {title:?}"
    );
}

#[test]
fn overlap_and_missingness_count_samples() {
    let observed = Grid::new(4, 2, vec![1.0, 0.5, 1.0, 1.0, 1.0, 0.0, 0.0, 1.0]).expect("shape");
    let coverage = Coverage {
        views: strings(&["rna", "protein"]),
        observed,
    };
    let picture = draw_overlap(&coverage).expect("draws");
    assert!(
        picture
            .description()
            .contains("2 samples with rna and protein; 1 sample with rna; 1 sample with protein")
    );
    let picture = draw_missingness(&coverage).expect("draws");
    assert!(
        picture
            .description()
            .contains("protein: 3 of 4 samples have it, 62.5% of all its cells observed")
    );
    let bad = Coverage {
        views: strings(&["rna"]),
        observed: Grid::from_fn(1, 1, |_, _| 1.5),
    };
    assert!(matches!(
        draw_overlap(&bad),
        Err(ReportError::OutOfRange { .. })
    ));
}

#[test]
fn held_out_figures_are_those_of_the_numbers() {
    let truth = vec![0.0, 1.0, 2.0, 3.0];
    let predicted = vec![0.0, 1.0, 2.0, 5.0];
    let intervals = Some(Intervals {
        level: 0.8,
        lower: predicted.iter().map(|p| p - 1.0).collect(),
        upper: predicted.iter().map(|p| p + 1.0).collect(),
    });
    let held_out = HeldOut {
        view: "v".into(),
        r2: Some(0.2),
        deviance_explained: None,
        cells: HeldOutCells::Numeric {
            truth,
            predicted,
            intervals,
            unit: "mm".into(),
        },
    };
    let (_, text) = read(&draw_held_out(&held_out, &Options::default()).expect("draws"));
    // errors 0, 0, 0, 2; R² is given, as the training means are not at hand
    for said in [
        "R² = 0.200",
        "RMSE = 1.00 (mm)",
        "4 cells, 75.0% of them in the 80% interval",
    ] {
        assert!(text.contains(said), "{said} in {text}");
    }
}

#[test]
fn curves_of_numbers_of_factors_show_what_is_known() {
    let score = |k, score| tried(k, [score, f64::NAN, f64::NAN, f64::NAN]);
    let found = chosen(vec![score(1, 0.25), score(3, 0.5)], "it is best");
    let of = |curve| draw_choose_k(&found, curve).description().to_owned();
    assert!(of(Curve::Score).contains("1: 0.2500; 3: 0.5000. Recommended: 3"));
    assert!(!of(Curve::Bound).contains("3: "));
    assert!(matches!(
        draw_variance(&variance(), Share::Unique),
        Err(ReportError::Absent { .. })
    ));
}

#[test]
fn correlations_show_the_lower_triangle() {
    let names = strings(&["F1", "F2", "F3"]);
    let table = Grid::from_fn(3, 3, |i, j| {
        if i == j {
            1.0
        } else {
            0.1 * (i + j) as f64 - 0.25
        }
    });
    let (_, text) = read(&draw_correlations(&names, &table).expect("draws"));
    for said in ["F2, F1: −0.150", "F3, F1: −0.050", "F3, F2: 0.050"] {
        assert!(text.contains(said), "{said}");
    }
    assert!(!text.contains("F1, F2:"));
    assert!(draw_correlations(&names[..2], &table).is_err());
}

#[test]
fn nothing_is_drawn_outside_the_picture() {
    let long = "a name that is much longer than any axis has room for, of a view or of a factor"
        .to_owned();
    let views: Vec<String> = (0..12).map(|m| format!("{long} {m}")).collect();
    let coverage = Coverage {
        views: views.clone(),
        observed: Grid::from_fn(700, 12, |i, m| ((i * m) % 3) as f64 / 2.0),
    };
    let variance = VarianceExplained {
        factors: (0..30).map(|k| format!("{long} {k}")).collect(),
        marginal: Grid::from_fn(12, 30, |m, k| 0.01 * ((m * k) % 7) as f64),
        joint: vec![0.5; 12],
        views,
        unique: None,
    };
    for picture in [
        draw_overlap(&coverage).expect("draws"),
        draw_missingness(&coverage).expect("draws"),
        draw_variance(&variance, Share::Marginal).expect("draws"),
        draw_variance_by_view(&variance).expect("draws"),
        polyview_report::draw_activity(&variance, 0.01).expect("draws"),
    ] {
        let (elements, _) = read(&picture);
        for e in elements
            .iter()
            .filter(|e| e.name == "rect" || e.name == "text")
        {
            for (key, most) in [("x", picture.width()), ("y", picture.height())] {
                let v = number(e, key);
                assert!(
                    v.is_nan() || (0.0..=most).contains(&v),
                    "{}: {e:?}",
                    picture.title()
                );
            }
            let right = number(e, "x") + number(e, "width");
            assert!(
                right.is_nan() || right <= picture.width() + 0.1,
                "{}: {e:?}",
                picture.title()
            );
        }
    }
}
