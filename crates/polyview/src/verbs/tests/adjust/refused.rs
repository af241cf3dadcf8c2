//! What cannot be adjusted for, and what deserves a word.

use polyview_core::{Dataset, Metadata};
use polyview_linalg::Mat;
use polyview_random::{StreamKey, poisson};

use super::{N, about, age, counts, data_with, numbers, spec, table, values, words};
use crate::{EngineKind, ErrorKind, Fit, ModelSpec, ProjectOptions, models};

#[test]
fn what_cannot_be_adjusted_for_is_refused() {
    let (_, views) = values();
    let with = |column: Metadata| data_with(views.clone(), [about()[0].clone(), column]);
    let fails = |data: Dataset, spec: ModelSpec| crate::fit(data, spec).unwrap_err();
    let kind = |column: Metadata| {
        let name = column.name.clone();
        fails(with(column), spec().with_covariates(["age", &name]))
            .kind()
            .clone()
    };
    for (column, words) in [
        (numbers("c", |_| 3.0), "same in all"),
        (words("c", |_| "a".into()), "same in all"),
        (words("c", |n| format!("id{n}")), "IDs"),
        (numbers("c", |n| 5.0 - 2.0 * age(n)), "'age'"),
        (
            numbers("c", |n| if n == 3 { f64::INFINITY } else { n as f64 }),
            "finite",
        ),
    ] {
        let found = kind(column);
        let ErrorKind::Covariate { column, why } = &found else {
            panic!("{found:?}");
        };
        assert!(column == "c" && why.contains(words), "{why}");
    }
    let found = kind(numbers("c", |n| if n == 4 { f64::NAN } else { n as f64 }));
    assert!(matches!(found, ErrorKind::NoCovariate { sample, .. } if sample == "s004"));
    let (_, rna) = counts();
    let rank = spec().with_likelihood("x", "rank").with_offset("x", "age");
    let e = fails(data_with(views.clone(), about()), rank);
    assert!(e.to_string().contains("ranks have no unit"), "{e}");
    let poisson = spec()
        .with_likelihood(
            "rna",
            "poisson{rate=softplus}"
                .parse::<crate::Likelihood>()
                .unwrap(),
        )
        .with_offset("rna", "log-total");
    let e = fails(data_with(vec![rna.clone()], about()), poisson);
    assert!(e.to_string().contains("exponential"), "{e}");
    let total = spec().with_offset("x", "log-total");
    let e = fails(data_with(views.clone(), about()), total);
    assert!(e.to_string().contains("counts"), "{e}");
    let unknown = spec().with_offset("z", "age");
    let e = fails(data_with(views.clone(), about()), unknown);
    assert!(matches!(e.kind(), ErrorKind::UnknownView { .. }));
    let mut batches = spec().with_covariates(["age"]);
    batches.engine = EngineKind::Stochastic;
    let e = fails(data_with(views, about()), batches);
    assert!(e.to_string().contains("stochastic"), "{e}");
    for (size, is_total) in [(0.0, false), (-2.0, false), (0.0, true)] {
        let mut rna = rna.clone();
        let column = numbers("size", |n| if n == 9 { size } else { 1.0 + n as f64 });
        let mut offset = "size";
        if is_total {
            offset = "log-total";
            (0..30).for_each(|d| rna.values[(9, d)] = 0.0);
        }
        let spec = spec()
            .with_likelihood("rna", "pln")
            .with_offset("rna", offset);
        let e = fails(data_with(vec![rna], [column]), spec);
        let ErrorKind::BadOffset { sample, .. } = e.kind() else {
            panic!("{e}");
        };
        assert_eq!(sample, "s009");
    }
}

#[test]
fn covariates_that_are_no_measurements_are_told_of() {
    let with = |age: Metadata| {
        let (_, views) = values();
        let mut spec = spec().with_covariates(["age"]);
        spec.vb.max_sweeps = 5;
        crate::fit(data_with(views, [age]), spec)
    };
    let warnings = |fit: &Fit| -> String {
        let entries = fit.record().journal.entries.iter();
        entries.map(|e| e.event.to_string()).collect()
    };
    assert!(!warnings(&with(numbers("age", age)).unwrap()).contains("categories"));
    // one word among numbers
    let text = |n: usize| {
        if n == 3 {
            "unknown".to_owned()
        } else {
            age(n).to_string()
        }
    };
    let told = warnings(&with(words("age", text)).unwrap());
    assert!(told.contains("'unknown' in sample 's003'"), "{told}");
    let told = warnings(&with(words("age", |n| format!("w{}", n.min(100)))).unwrap());
    assert!(told.contains("101 categories in 120 samples"), "{told}");
    let huge = with(numbers("age", |n| if n == 7 { 1e300 } else { age(n) })).unwrap_err();
    assert!(huge.to_string().contains("'s007'"), "{huge}");
}

#[test]
fn covariates_and_sizes_in_another_unit_are_told_of() {
    let (_, views) = values();
    let fit = crate::fit(
        data_with(views.clone(), about()),
        spec().with_covariates(["age"]),
    )
    .unwrap();
    let notes = |factor: f64| {
        let new = data_with(views.clone(), [numbers("age", |n| factor * age(n))]);
        fit.project(&new, &ProjectOptions::default())
            .unwrap()
            .notes
            .join("\n")
    };
    assert!(!notes(1.0).contains("unit"), "{}", notes(1.0));
    assert!(
        notes(12.0).contains("the covariate 'age'"),
        "{}",
        notes(12.0)
    );

    let mut rng = StreamKey::new(9).rng();
    let size = |n: usize| 1000.0 + 50.0 * (n % 13) as f64;
    let counts = Mat::from_fn(N, 6, |n, _| poisson(&mut rng, size(n) / 100.0).unwrap());
    let data = |factor: f64| {
        let sizes = numbers("size", |n| factor * size(n));
        data_with(vec![table("c", counts.clone())], [sizes])
    };
    let mut spec = models::mofa(2)
        .with_likelihood("c", "poisson-log-normal")
        .with_offset("c", "size");
    spec.vb.max_sweeps = 5;
    let fit = crate::fit(data(1.0), spec).unwrap();
    let notes = |factor| {
        fit.project(&data(factor), &ProjectOptions::default())
            .unwrap()
            .notes
            .join("\n")
    };
    assert!(!notes(2.0).contains("unit"), "{}", notes(2.0));
    assert!(
        notes(1e-6).contains("sizes of these samples"),
        "{}",
        notes(1e-6)
    );
}
