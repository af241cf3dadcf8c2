//! Offsets: sizes of samples, and numbers in units of the data.

use polyview_core::MetadataValues;
use polyview_linalg::Mat;

use super::{N, about, correlation, counts, data_with, largest, numbers, spec, values};
use crate::{CheckOptions, Fit};

#[test]
fn library_sizes_are_no_factor() {
    let (size, view) = counts();
    let counts = view.values.clone();
    let ln_size = |n: usize| size[n].ln();
    let column = numbers("library", |n| 1e5 * size[n]);
    let data = data_with(vec![view], [column]);
    for likelihood in ["pln", "nb"] {
        let spec = spec().with_likelihood("rna", likelihood);
        let plain = crate::fit(data.clone(), spec.clone()).unwrap();
        assert!(largest(&plain, ln_size) > 0.6);
        for offset in ["log-total", "library"] {
            let spec = spec.clone().with_offset("rna", offset);
            let fit = crate::fit(data.clone(), spec).unwrap();
            let r = largest(&fit, ln_size);
            assert!(r < 0.25, "{likelihood} {offset} {r}");
            let of = fit.explain().unwrap();
            assert!(of.offset[0] > 0.2 && of.covariates[0] == 0.0);
            // in what is predicted of the samples sizes are there
            let fitted = fit.fitted("rna").unwrap().mean;
            let total = |of: &Mat<f64>, n: usize| (0..30).map(|d| of[(n, d)]).sum::<f64>().ln();
            let of = |m: &Mat<f64>| (0..N).map(|n| total(m, n)).collect::<Vec<f64>>();
            assert!(correlation(&of(&fitted), &of(&counts)) > 0.95);
            let bytes = fit.to_bytes().unwrap();
            let again = Fit::from_bytes(&bytes).unwrap();
            let new = again.impute_data(&data, "rna", 0.9).unwrap();
            assert!(new.notes.iter().all(|n| !n.contains("offset")));
        }
    }
}

#[test]
fn numbers_have_offsets_in_units_of_the_data_and_samples_are_drawn_with_theirs() {
    let (_, mut views) = values();
    let dose = |n: usize| 10.0 * (((n * 29) % 17) as f64 - 8.0);
    let x = &mut views[0].values;
    for d in 0..x.ncols() {
        for n in 0..N {
            x[(n, d)] += dose(n);
        }
    }
    let data = data_with(views.clone(), [numbers("dose", dose), about()[1].clone()]);
    let spec = spec().with_offset("x", "dose").with_covariates(["batch"]);
    let fit = crate::fit(data.clone(), spec.clone()).unwrap();
    assert!(largest(&fit, dose) < 0.2);
    let of = fit.explain().unwrap();
    assert!(of.offset[0] > 0.8 && of.offset[1] == 0.0);
    let found = fit.predict(&data, "x").unwrap();
    for d in 0..20 {
        let r = correlation(found.mean.col_as_slice(d), views[0].values.col_as_slice(d));
        assert!(r > 0.98, "{r}");
    }
    let drawn = fit.simulate(80, 3).unwrap();
    assert_eq!(drawn.metadata().len(), 2);
    let MetadataValues::Numbers(doses) = &drawn.metadata()[0].values else {
        panic!("numbers");
    };
    let x = drawn.view("x").unwrap().values().to_owned();
    assert!(correlation(x.col_as_slice(0), doses) > 0.95);
    let again = crate::fit(drawn, spec).unwrap();
    assert!(again.explain().unwrap().offset[0] > 0.8);
    fit.predictive_checks(&CheckOptions::default()).unwrap();
}
