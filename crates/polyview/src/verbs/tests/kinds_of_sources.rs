//! A table with a kernel beside one without: each feature goes by what says more of it (docs/decisions/0092-kinds-of-sources.md).

use polyview_core::{Dataset, DatasetBuilder, Table};
use polyview_linalg::Mat;
use polyview_random::{StreamKey, standard_normal};

use super::counts::table;
use crate::{Fit, Settle, models};

const N: usize = 120;

/// Eight features of which the first target is a linear function, two of which the second is a wave, and both targets.
fn tables() -> [Table; 3] {
    let mut rng = StreamKey::new(21).rng();
    let mut normal = |columns: usize| Mat::from_fn(N, columns, |_, _| standard_normal(&mut rng));
    let (x, u, noise) = (normal(8), normal(2), normal(2));
    let y = Mat::from_fn(N, 2, |n, d| {
        let value = match d {
            0 => (0..8).map(|i| x[(n, i)] * (i as f64 - 3.5) / 4.0).sum(),
            _ => 2.0 * (2.0 * u[(n, 0)]).sin() + u[(n, 1)].powi(2),
        };
        value + 0.3 * noise[(n, d)]
    });
    [table("x", x), table("u", u), table("y", y)]
}

fn fitted(tables: &[Table]) -> Fit {
    let data = tables
        .iter()
        .cloned()
        .fold(Dataset::builder(), DatasetBuilder::view);
    let mut spec = models::bibfa(3)
        .with_kernel("u", "rbf{width=0.7}".parse().unwrap())
        .with_settled("y", Settle::Mixture);
    spec.vb.max_sweeps = 60;
    crate::fit(data.build().unwrap(), spec).unwrap()
}

/// Whether a view has any part in what is said of each feature.
fn has_part(fit: &Fit, view: usize) -> Vec<bool> {
    let found = fit.regressed(2).unwrap().unwrap();
    let Some(own) = &found.of_view[view] else {
        return vec![false; found.intercept.len()];
    };
    let any = |c: usize| own.coefficients.col_as_slice(c).iter().any(|b| *b != 0.0);
    (0..found.intercept.len()).map(any).collect()
}

#[test]
fn each_feature_goes_by_the_kind_that_says_more_of_it() {
    let fit = fitted(&tables());
    assert_eq!(has_part(&fit, 0), [true, false], "the plain table");
    assert_eq!(has_part(&fit, 1), [false, true], "the kernel");
    let again = Fit::from_bytes(&fit.to_bytes().unwrap()).unwrap();
    assert_eq!(again.regressed(2).unwrap(), fit.regressed(2).unwrap());
}

/// A view that says nothing of any feature is not asked of new samples.
#[test]
fn what_no_feature_goes_by_is_not_asked_of_new_samples() {
    let [x, u, mut y] = tables();
    y.values = Mat::from_fn(N, 1, |n, _| y.values[(n, 1)]);
    y.features.truncate(1);
    let fit = fitted(&[x, u, y]);
    let found = fit.regressed(2).unwrap().unwrap();
    assert!(found.of_view[0].is_none() && found.of_view[1].is_some());
}
