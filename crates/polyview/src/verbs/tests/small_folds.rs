//! Cross-validation where folds, or what they are trained on, are small.

use polyview_core::{Dataset, Metadata, MetadataValues, Table};
use polyview_linalg::Mat;

use super::cross_validate::{bibfa, options, sshiba_of, validated};
use super::{cells, simulated, table};
use crate::{CrossValidate, CrossValidateOptions, CrossValidateScore, models};

fn r2(found: &CrossValidate, method: &str) -> f64 {
    let mut rows = found.summary.iter();
    let own =
        |s: &&crate::CrossValidateSummary| s.method == method && s.score == CrossValidateScore::R2;
    rows.find(own).unwrap().mean
}

/// Each fold trains on one of two sites: penalties are chosen in folds of its samples, and not left at their largest.
#[test]
fn penalties_are_chosen_where_a_training_set_holds_one_unit() {
    let data = simulated(60, 3, cells(0.0));
    let metadata = Metadata {
        name: "site".to_owned(),
        values: MetadataValues::Numbers((0..60).map(|n| f64::from(n % 2)).collect()),
    };
    let views = data.views();
    let data = Dataset::builder()
        .view(table(&data, &views[0]))
        .view(table(&data, &views[1]))
        .metadata(data.samples().to_vec(), metadata)
        .build()
        .unwrap();
    let target = data.views()[1].name().to_owned();
    let of = |keep_together: Option<String>| {
        let options = CrossValidateOptions {
            keep_together,
            ..options(&[&target], 2)
        };
        validated(&data, &bibfa(), &options)
    };
    let (apart, together) = (of(None), of(Some("site".to_owned())));
    for method in ["ridge regression", "bibfa, two steps"] {
        let (a, b) = (r2(&apart, method), r2(&together, method));
        assert!(a > 0.6 && b > a - 0.1, "{method}: {a} {b}");
    }
}

/// A fold for each sample: what is explained is of all of them together, and nobody is told that means do as well.
#[test]
fn shares_explained_do_not_hang_on_the_size_of_folds() {
    let data = simulated(40, 3, cells(0.0));
    let target = data.views()[1].name().to_owned();
    let of = |folds| validated(&data, &bibfa(), &options(&[&target], folds));
    let (few, each) = (of(8), of(40));
    let (a, b) = (r2(&few, "bibfa"), r2(&each, "bibfa"));
    assert!(a > 0.6 && (a - b).abs() < 0.05, "{a} {b}");
    assert!(
        each.warnings
            .iter()
            .all(|w| !w.contains("no better than means"))
    );
}

/// Times of which none is that of an event have no score, which is said.
#[test]
fn targets_without_a_score_are_named() {
    let data = simulated(30, 3, cells(0.0));
    let of = |value: f64| Table {
        name: "time".to_owned(),
        samples: data.samples().to_vec(),
        features: vec!["time".to_owned()],
        levels: Vec::new(),
        values: Mat::from_fn(30, 1, |n, _| value + 0.01 * n as f64),
    };
    let times = Dataset::builder()
        .view(table(&data, &data.views()[0]))
        .view(of(2.0))
        .ends(of(f64::INFINITY))
        .build()
        .unwrap();
    let spec = models::sshiba(2).with_likelihood("time", "survival");
    let found = validated(&times, &sshiba_of(spec), &options(&["time"], 3));
    assert!(found.summary.is_empty());
    let told = |w: &String| w.contains("'time': no score is defined") && w.contains("an event");
    assert!(found.warnings.iter().any(told), "{:?}", found.warnings);
}
