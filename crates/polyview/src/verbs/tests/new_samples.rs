//! New samples are seen one by one: they need not share views, nor have any.

use polyview_core::{DataError, Dataset, DatasetBuilder, Join, Table};
use polyview_datasets::Missing;
use polyview_linalg::Mat;

use super::{gibbs, rows, simulated, table, vb};
use crate::{ErrorKind, Fit, ProjectOptions, models};

/// The first samples of `view1` and the others of `view2`; the last has nothing.
fn apart(data: &Dataset) -> DatasetBuilder {
    let half = data.n_samples() / 2;
    let part = |view: &str, from: usize, to: usize| {
        let all = table(data, data.view(view).unwrap());
        let last = data.n_samples() - 1;
        Table {
            samples: all.samples[from..to].to_vec(),
            values: Mat::from_fn(to - from, all.features.len(), |n, d| {
                if from + n == last {
                    f64::NAN
                } else {
                    all.values[(from + n, d)]
                }
            }),
            ..all
        }
    };
    Dataset::builder()
        .view(part("view1", 0, half))
        .view(part("view2", half, data.n_samples()))
}

fn binary(data: &Dataset) -> Dataset {
    let mut view = table(data, &data.views()[1]);
    for d in 0..view.features.len() {
        for x in view.values.col_as_slice_mut(d) {
            *x = f64::from(u8::from(*x > 0.0));
        }
    }
    Dataset::builder()
        .view(table(data, &data.views()[0]))
        .view(view)
        .build()
        .unwrap()
}

fn check(fit: &Fit, data: &Dataset) {
    let all = data.n_samples();
    let new = apart(data).new_samples().build().unwrap();
    let options = ProjectOptions::default();
    let p = fit.project(&new, &options).unwrap();
    let found = p.notes.iter().filter(|n| n.contains("no observed value"));
    assert_eq!(found.count(), 1, "{:?}", p.notes);
    assert!(
        p.notes.iter().any(|n| n.contains("first 's20'")),
        "{:?}",
        p.notes
    );
    let last = all - 1;
    for k in 0..fit.k() {
        // the prior: zero and one
        assert!(p.mean[(last, k)].abs() < 1e-12);
        assert!((p.sd[(last, k)] - 1.0).abs() < 1e-9, "{}", p.sd[(last, k)]);
    }
    // each alone gives the same
    for n in [0, last - 1] {
        let one = rows(data, &[n]);
        let view = &one.views()[usize::from(n > 0)];
        let one = Dataset::builder().view(table(&one, view)).build().unwrap();
        let alone = fit.project(&one, &options).unwrap();
        for k in 0..fit.k() {
            assert!((alone.mean[(0, k)] - p.mean[(n, k)]).abs() < 1e-6);
            assert!((alone.sd[(0, k)] - p.sd[(n, k)]).abs() < 1e-6);
        }
    }
    for view in ["view1", "view2"] {
        let predicted = fit.predict(&new, view).unwrap();
        for d in 0..predicted.mean.ncols() {
            assert!(predicted.mean.col(d).iter().all(|x| x.is_finite()));
        }
        let filled = fit.impute_data(&new, view, 0.9).unwrap();
        assert!(filled.values[(last, 0)].is_finite());
    }
}

#[test]
fn samples_need_no_view_in_common() {
    let data = simulated(20, 5, Missing::default());
    check(&vb(data.clone(), 2), &data);
    check(&gibbs(data.clone(), 2), &data);
    let data = binary(&data);
    let labels = models::sshiba(2).with_likelihood("view2", "bernoulli");
    check(&crate::fit(data.clone(), labels).unwrap(), &data);
}

#[test]
fn fits_refuse_what_projections_take() {
    let data = simulated(20, 5, Missing::default());
    let e = apart(&data).build().unwrap_err();
    assert!(matches!(e, DataError::NoSharedSamples { .. }), "{e}");
    let e = apart(&data).join(Join::Intersection).new_samples().build();
    assert!(matches!(e, Err(DataError::EmptyIntersection { .. })));
    let new = apart(&data).new_samples().build().unwrap();
    let e = crate::fit(new, models::bibfa(2)).unwrap_err();
    let kind = ErrorKind::Data(DataError::EmptySample {
        sample: data.samples()[19].clone(),
    });
    assert_eq!(*e.kind(), kind);
    let nothing = |d: &Dataset| {
        let mut view = table(d, &d.views()[1]);
        view.values.fill(f64::NAN);
        Dataset::builder().view(table(d, &d.views()[0])).view(view)
    };
    let e = nothing(&data).build().unwrap_err();
    assert!(matches!(e, DataError::NothingObserved { .. }), "{e}");
    let new = nothing(&data).new_samples().build().unwrap();
    let fit = vb(data, 2);
    fit.project(&new, &ProjectOptions::default()).unwrap();
    let e = crate::fit(new, models::bibfa(2)).unwrap_err();
    assert!(e.to_string().contains("no observed value"), "{e}");
}
