use polyview_datasets::Missing;

use polyview_core::{Centring, Dataset, FeatureScaling, SparseTable};
use polyview_linalg::{Repeats, SparseColumns};

use super::{cells, gap, gibbs, rebuilt, simulated, table, vb};
use crate::{ErrorKind, Fit, ModelSpec, hold_out, models};

#[test]
fn observed_cells_stay_and_holes_are_predicted() {
    let data = simulated(30, 1, cells(0.2));
    for fit in [vb(data.clone(), 2), gibbs(data.clone(), 2)] {
        let view = data.view("view1").unwrap();
        let f = fit.impute("view1", 0.9).unwrap();
        let p = fit.fitted("view1").unwrap();
        let (lower, upper) = p.interval(0.9).unwrap();
        assert_eq!(f.was_missing.count(), 30 * 7 - view.n_observed());
        for n in 0..30 {
            for d in 0..7 {
                let at = (n, d);
                assert_eq!(f.was_missing.get(n, d), !view.is_observed(n, d));
                if let Some(x) = view.value(n, d) {
                    assert_eq!(f.values[at].to_bits(), x.to_bits());
                    assert!(f.lower[at] == f.values[at] && f.upper[at] == f.values[at]);
                    assert_eq!(f.sd[at], 0.0);
                } else {
                    assert_eq!(f.values[at], p.mean[at]);
                    assert_eq!((f.lower[at], f.upper[at]), (lower[at], upper[at]));
                    assert_eq!(f.sd[at], p.sd[at]);
                    assert!(f.lower[at] < f.values[at] && f.values[at] < f.upper[at]);
                }
            }
        }
    }
}

#[test]
fn other_data_are_filled_bit_for_bit() {
    let data = simulated(30, 2, cells(0.1));
    let fit = vb(data.clone(), 2);
    let new = simulated(5, 3, cells(0.3));
    let f = fit.impute_data(&new, "view2", 0.95).unwrap();
    let view = new.view("view2").unwrap();
    for n in 0..5 {
        for d in 0..5 {
            if let Some(x) = view.value(n, d) {
                assert_eq!(f.values[(n, d)].to_bits(), x.to_bits());
            }
        }
    }
    assert_eq!(f.was_missing.count(), 25 - view.n_observed());
    // the training data through the front door: the same answer
    let (a, b) = (
        fit.impute("view1", 0.95).unwrap(),
        fit.impute_data(&data, "view1", 0.95).unwrap(),
    );
    assert!(gap(&a.values, &b.values) < 1e-9 && gap(&a.upper, &b.upper) < 1e-9);
    // a view that is not there at all is its prediction
    let one = rebuilt(&new, &["view1"], |v| table(&new, v));
    let (a, b) = (
        fit.impute_data(&one, "view2", 0.95).unwrap(),
        fit.predict(&one, "view2").unwrap(),
    );
    assert!(a.was_missing.is_full() && gap(&a.values, &b.mean) == 0.0);
}

#[test]
fn imputing_needs_data_and_a_level() {
    let mut fit = vb(simulated(20, 4, Missing::default()), 2);
    let e = fit.impute("view1", 1.0).unwrap_err();
    assert!(matches!(
        e.kind(),
        ErrorKind::Option {
            option: "level",
            ..
        }
    ));
    let e = fit.impute("view9", 0.9).unwrap_err();
    assert!(matches!(e.kind(), ErrorKind::UnknownView { .. }));
    fit.forget_data();
    let e = fit.impute("view1", 0.9).unwrap_err();
    assert_eq!(*e.kind(), ErrorKind::NoData);
}

/// Whether every observed cell of every view comes back bit for bit, from the fit
/// and from its file.
fn gives_back(data: &Dataset, spec: ModelSpec) {
    let fit = crate::fit(data.clone(), spec).unwrap();
    let again = Fit::from_bytes(&fit.to_bytes().unwrap()).unwrap();
    for fit in [fit, again] {
        for view in data.views() {
            let f = fit.impute(view.name(), 0.9).unwrap();
            for d in 0..view.n_features() {
                for n in 0..view.n_samples() {
                    let Some(x) = view.value(n, d) else {
                        assert!(f.was_missing.get(n, d));
                        continue;
                    };
                    let found = [f.values[(n, d)], f.lower[(n, d)], f.upper[(n, d)]];
                    assert_eq!(found.map(f64::to_bits), [x.to_bits(); 3], "{x} {found:?}");
                }
            }
        }
    }
}

fn few_sweeps(scaling: FeatureScaling, centring: Centring) -> ModelSpec {
    let mut spec = models::bibfa(2);
    (spec.defaults.scaling, spec.defaults.centring) = (scaling, centring);
    spec.vb.max_sweeps = 3;
    spec
}

#[test]
fn observed_cells_come_back_as_they_were_read() {
    let full = polyview_datasets::nutrimouse();
    let holes = hold_out(&full, 0.2, 1).unwrap().data;
    for scaling in [
        FeatureScaling::Feature,
        FeatureScaling::View,
        FeatureScaling::None,
    ] {
        for centring in [Centring::Feature, Centring::None] {
            gives_back(&full, few_sweeps(scaling, centring));
            gives_back(&holes, few_sweeps(scaling, centring));
        }
    }
}

#[test]
fn groups_and_sparse_views_come_back_as_well() {
    let full = polyview_datasets::nutrimouse();
    let mut builder = Dataset::builder();
    for v in full.views() {
        builder = builder.view(table(&full, v));
    }
    let groups = full.samples().iter().enumerate();
    let groups = groups.map(|(n, s)| (s.clone(), if n < 20 { "a" } else { "b" }.to_owned()));
    let grouped = builder.groups(groups.collect()).build().unwrap();
    let mut spec = few_sweeps(FeatureScaling::Feature, Centring::Feature);
    (spec.groups.noise, spec.groups.intercepts) = (true, true);
    gives_back(&grouped, spec);
    let cells: Vec<(u32, u32, f64)> = (0..30)
        .flat_map(|n| (0..5).map(move |d| (n, d, f64::from((n * 7 + d * 3) % 6) * 0.7)))
        .filter(|c| c.2 > 0.0)
        .collect();
    let sparse = SparseTable {
        name: "counts".into(),
        samples: (0..30).map(|n| format!("s{n}")).collect(),
        features: (0..5).map(|d| format!("f{d}")).collect(),
        values: SparseColumns::from_triplets(30, 5, &cells, Repeats::Refuse).unwrap(),
    };
    let sparse = Dataset::builder().view(sparse).build().unwrap();
    gives_back(
        &sparse,
        few_sweeps(FeatureScaling::Feature, Centring::Feature),
    );
}
