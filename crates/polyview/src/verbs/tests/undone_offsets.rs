//! An offset that does not belong to a view is undone by a factor, and shares say so.

use polyview_core::{Dataset, Metadata, MetadataValues, Table};
use polyview_linalg::Mat;
use polyview_random::{StreamKey, standard_normal};

use crate::{FactorKind, Fitting, models};

const N: usize = 80;

#[test]
fn a_factor_that_undoes_an_offset_acts_where_the_offset_is() {
    let ids: Vec<String> = (0..N).map(|n| format!("s{n}")).collect();
    let mut rng = StreamKey::new(11).rng();
    let dose: Vec<f64> = (0..N).map(|_| 2.0 * standard_normal(&mut rng)).collect();
    let factor: Vec<f64> = (0..N).map(|_| standard_normal(&mut rng)).collect();
    let values = Mat::from_fn(N, 8, |n, d| {
        (d as f64 - 3.5) * 0.5 * factor[n] + 0.5 * standard_normal(&mut rng)
    });
    let data = Dataset::builder()
        .view(Table {
            name: "x".into(),
            samples: ids.clone(),
            features: (0..8).map(|d| format!("x{d}")).collect(),
            levels: Vec::new(),
            values,
        })
        .metadata(
            ids,
            Metadata {
                name: "dose".into(),
                values: MetadataValues::Numbers(dose),
            },
        )
        .build()
        .unwrap();
    let spec = models::bibfa(3).with_offset("x", "dose");
    let fit = Fitting::new(data, spec).unwrap().to_the_end().unwrap();
    let of = fit.explain().unwrap();
    // by hand: what all columns explain, and all but one of them
    assert!(of.offset[0] < -0.5 && of.together[0] > 0.3, "{of:?}");
    let needed: Vec<f64> = (0..of.factors).map(|k| of.unique[(0, k)]).collect();
    assert!(needed.iter().any(|u| *u > 0.5), "{needed:?}");
    let activity = of.activity(0.01).unwrap();
    let kinds = activity.kinds();
    assert!(kinds.iter().all(|k| *k == FactorKind::Common), "{kinds:?}");
    let note = of.notes.iter().find(|n| n.contains("offset alone"));
    assert!(
        note.is_some_and(|n| n.contains("view 'x'")),
        "{:?}",
        of.notes
    );
}
