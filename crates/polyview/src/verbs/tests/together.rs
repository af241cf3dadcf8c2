//! Samples that belong together are in one fold wherever a fit holds samples out (docs/decisions/0097-samples-that-belong-together.md).

use polyview_core::{Dataset, Metadata, MetadataValues, Table};
use polyview_linalg::Mat;
use polyview_random::{StreamKey, standard_normal};

use super::{rebuilt, table as table_of};
use crate::verbs::cross_validate::{CrossValidateModel, CrossValidateOptions, cross_validate};
use crate::{ErrorKind, Fit, ModelSpec, Settle, models};

/// Visits of each person.
const VISITS: usize = 4;

/// People whose features are their own at every visit, and whose labels have nothing to do with them.
fn visits(people: usize, seed: u64) -> Dataset {
    of_people(people, VISITS, seed)
}

fn of_people(people: usize, visits: usize, seed: u64) -> Dataset {
    let mut rng = StreamKey::new(seed).rng();
    let own = Mat::from_fn(people, 12, |_, _| standard_normal(&mut rng));
    let label: Vec<f64> = (0..people)
        .map(|_| f64::from(u8::from(standard_normal(&mut rng) > 0.0)))
        .collect();
    let n = people * visits;
    let samples: Vec<String> = (0..n).map(|n| format!("s{seed}-{n:03}")).collect();
    let table = |name: &str, values: Mat<f64>| Table {
        name: name.to_owned(),
        samples: samples.clone(),
        features: (0..values.ncols()).map(|d| format!("{name}{d}")).collect(),
        values,
        levels: Vec::new(),
    };
    let x = Mat::from_fn(n, 12, |n, d| {
        own[(n / visits, d)] + 0.1 * standard_normal(&mut rng)
    });
    let person = Metadata {
        name: "person".to_owned(),
        values: MetadataValues::Numbers((0..n).map(|n| (n / visits) as f64).collect()),
    };
    Dataset::builder()
        .view(table("x", x))
        .view(table("y", Mat::from_fn(n, 1, |n, _| label[n / visits])))
        .metadata(samples, person)
        .build()
        .unwrap()
}

fn spec(keep_together: Option<&str>) -> ModelSpec {
    ModelSpec {
        keep_together: keep_together.map(str::to_owned),
        ..models::sshiba(3)
            .with_likelihood("y", "bernoulli")
            .with_settled("y", Settle::Mixture)
    }
}

fn log_loss(fit: &Fit, new: &Dataset) -> f64 {
    let found = fit
        .predict(&rebuilt(new, &["x"], |v| table_of(new, v)), "y")
        .unwrap()
        .mean;
    let truth = new.view("y").unwrap();
    let n = new.n_samples();
    let of = |n: usize| match truth.value(n, 0) {
        Some(1.0) => -found[(n, 0)].ln(),
        _ => -(1.0 - found[(n, 0)]).ln(),
    };
    (0..n).map(of).sum::<f64>() / n as f64
}

/// A regression that bends knows people by their features: where their other visits are in other folds its labels
/// look certain, and of new people they are wrong.
#[test]
fn people_are_in_one_fold() {
    let (seen, new) = (visits(30, 1), visits(60, 2));
    let [apart, together] = [None, Some("person")].map(|column| {
        let fit = crate::fit(seen.clone(), spec(column)).unwrap();
        // labels that are known by who has them are said to be
        let entries = &fit.record().journal.entries;
        let told = |e: &polyview_core::Entry| e.event.to_string().contains("known all but surely");
        assert_eq!(entries.iter().any(told), column.is_none());
        log_loss(&fit, &new)
    });
    assert!(apart > 1.3, "{apart} {together}");
    assert!(together < 1.0, "{together}");
}

/// In folds of a cross-validation as well.
#[test]
fn a_cross_validation_tells_its_fits() {
    let data = visits(24, 3);
    let of = |spec: ModelSpec, column: Option<&str>| {
        let options = CrossValidateOptions {
            targets: vec!["y".to_owned()],
            folds: 3,
            keep_together: column.map(str::to_owned),
            baselines: false,
            two_steps: false,
            ..CrossValidateOptions::default()
        };
        let model = CrossValidateModel::new("own", spec);
        cross_validate(&data, &[model], &options, &|_| {}).unwrap()
    };
    let told = of(spec(None), Some("person"));
    assert_eq!(told, of(spec(Some("person")), Some("person")));
    assert_ne!(told, of(spec(Some("person")), None));
}

#[test]
fn columns_that_are_not_there_and_too_few_people_are_said() {
    let e = crate::fit(visits(30, 1), spec(Some("who"))).unwrap_err();
    assert!(matches!(e.kind(), ErrorKind::UnknownMetadata { .. }), "{e}");
    // twenty visits of two people are not in three folds
    let two = of_people(2, 10, 4);
    let fit = crate::fit(two, spec(Some("person"))).unwrap();
    assert!(fit.shares_of(1).unwrap().is_none());
    let said = fit
        .record()
        .journal
        .entries
        .iter()
        .map(|e| e.event.to_string());
    let said: Vec<String> = said
        .filter(|s| s.contains("by the joint fit alone"))
        .collect();
    assert!(
        said.len() == 1 && said[0].contains("2 values of it are too few"),
        "{said:?}"
    );
}
