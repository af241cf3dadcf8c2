//! How many factors data in groups have.

use polyview::{ChooseK, ChooseKOptions, choose_k};

use super::*;

fn chosen(data: &Dataset, spec: &ModelSpec, share: f64) -> ChooseK {
    let options = ChooseKOptions {
        candidates: vec![1, 2, 3],
        repeats: 3,
        restarts: 2,
        share,
        ..ChooseKOptions::default()
    };
    choose_k(data.clone(), spec, &options, &mut |_| {}).expect("a comparison")
}

/// Levels that differ between groups are no factor where groups have intercepts
/// of their own, whatever the number of threads.
#[test]
fn the_number_of_factors_is_found_in_groups() {
    let data = data(&NAMES);
    let mut spec = full();
    spec.vb.max_sweeps = 60;
    let found = chosen(&data, &spec, 0.1);
    assert_eq!(found.recommended, 2, "{found:?}");
    spec.groups.intercepts = false;
    let levels = chosen(&data, &spec, 0.1);
    assert_eq!(levels.recommended, 3, "{levels:?}");
    spec.groups.intercepts = true;
    let rows = format!("{:?}", found.rows);
    for threads in [1, 3] {
        let again = Threads::new(threads)
            .expect("a pool")
            .install(|| chosen(&data, &spec, 0.1));
        assert_eq!(rows, format!("{:?}", again.rows), "{threads}");
    }
}

/// Hidden cells may be all that a small group has of a feature.
#[test]
fn the_number_of_factors_in_small_groups() {
    let all = data(&[]);
    let few = |n: usize| if n < 3 { "few" } else { "many" };
    let mut builder = Dataset::builder().groups(
        (0..N)
            .map(|n| (format!("s{n}"), few(n).to_owned()))
            .collect(),
    );
    for v in all.views() {
        builder = builder.view(table(v.name(), v.values().to_owned()));
    }
    let data = builder.build().expect("data");
    for prior in ["standard-normal", "ard"] {
        let mut spec = spec(true, true, prior);
        spec.vb.max_sweeps = 20;
        let found = chosen(&data, &spec, 0.5);
        for row in &found.rows {
            assert!(
                row.log_density.is_finite() && row.r2.is_finite(),
                "{found:?}"
            );
        }
    }
}
