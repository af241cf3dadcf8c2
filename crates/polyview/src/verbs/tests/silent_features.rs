//! Features that say nothing, constant numbers or genes that are hardly ever read,
//! neither take factors out nor hide what the others explain.

use polyview_core::{Dataset, View};
use polyview_datasets::Missing;
use polyview_linalg::Mat;

use super::counts::{simulated, table};
use super::{cells, gap, simulated as real};
use crate::{metrics::CountLaw, models};

/// A view with columns of one value beside its own.
fn with_columns(view: &View, columns: usize, value: impl Fn(usize, usize) -> f64) -> Mat<f64> {
    let own = view.to_values_with_nan();
    let d = own.ncols();
    Mat::from_fn(own.nrows(), d + columns, |n, j| {
        if j < d { own[(n, j)] } else { value(n, j - d) }
    })
}

#[test]
fn constant_numbers_change_nothing() {
    for missing in [Missing::default(), cells(0.1)] {
        let plain = real(40, 5, missing);
        let more = with_columns(plain.view("view2").unwrap(), 60, |_, _| 3.5);
        let own = plain.view("view1").unwrap().to_values_with_nan();
        let build = |first: Mat<f64>, second: Mat<f64>| {
            let views = Dataset::builder().view(table("a", first));
            views.view(table("b", second)).build().unwrap()
        };
        let without = plain.view("view2").unwrap().to_values_with_nan();
        let a = crate::fit(build(own.clone(), without), models::bibfa(5)).unwrap();
        let b = crate::fit(build(own, more), models::bibfa(5)).unwrap();
        assert_eq!(a.record().bound, b.record().bound);
        assert_eq!(
            gap(&a.factors().unwrap().mean, &b.factors().unwrap().mean),
            0.0
        );
        assert_eq!(a.views()[1].features, b.views()[1].features);
        let said: Vec<String> = (b.record().journal.entries.iter())
            .map(ToString::to_string)
            .filter(|e| e.contains("60 feature(s) do not vary, first 'b5'"))
            .collect();
        assert_eq!(said.len(), 1, "{said:?}");
    }
}

/// A view of nothing else stays, and a sample that has nothing else keeps it.
#[test]
fn constant_numbers_stay_where_something_would_be_lost() {
    let plain = real(20, 6, Missing::default());
    let own = plain.view("view1").unwrap().to_values_with_nan();
    let build = |second: Mat<f64>, first: Mat<f64>| {
        let views = Dataset::builder().view(table("a", first));
        views.view(table("b", second)).build().unwrap()
    };
    let fit = crate::fit(
        build(Mat::from_fn(20, 3, |_, _| 1.0), own.clone()),
        models::bibfa(3),
    );
    assert_eq!(fit.unwrap().views()[1].features.len(), 3);
    // the last sample has the constant column alone
    let first = Mat::from_fn(20, 7, |n, d| if n == 19 { f64::NAN } else { own[(n, d)] });
    let second = Mat::from_fn(20, 2, |n, d| match (n, d) {
        (_, 0) => 1.0,
        (19, _) => f64::NAN,
        _ => n as f64,
    });
    let fit = crate::fit(build(second, first), models::bibfa(3)).unwrap();
    assert_eq!(
        (fit.samples().len(), fit.views()[1].features.len()),
        (20, 2)
    );
}

#[test]
fn genes_without_reads_hide_no_other() {
    for likelihood in ["negative-binomial", "poisson-log-normal"] {
        let plain = simulated(likelihood);
        let counts = plain.view("y").unwrap();
        let genes = counts.n_features();
        let share = |empty: usize, once: usize| {
            let reads = |n: usize, j: usize| f64::from(u8::from(j < once && n == 4));
            let data = Dataset::builder()
                .view(table("x", plain.view("real").unwrap().to_values_with_nan()))
                .view(table("y", with_columns(counts, empty + once, reads)))
                .build()
                .unwrap();
            let mut spec = models::mofa(2).with_likelihood("y", likelihood);
            spec.vb.max_sweeps = 60;
            let mut fit = crate::fit(data, spec).unwrap();
            let found = fit.explain().unwrap().total[1];
            fit.forget_data();
            let model = fit.active(0.01).unwrap();
            let of_model: f64 = (0..fit.k()).map(|k| model.share[(1, k)]).sum();
            (found, of_model)
        };
        let (own, of_model) = share(0, 0);
        assert!(own > 0.3, "{likelihood}: {own}");
        for (empty, once) in [(3, 0), (0, 3)] {
            let (found, model) = share(empty, once);
            // each feature counts alike
            let alike = genes as f64 / (genes + empty + once) as f64;
            assert!(
                (found / own - alike).abs() < 0.1 && (model / of_model - alike).abs() < 0.1,
                "{likelihood}, {empty} and {once}: {found} of {own}, {model} of {of_model}"
            );
        }
    }
}

/// However large counts are, the ends of their intervals are whole numbers.
#[test]
fn ends_of_intervals_of_counts_are_whole_numbers() {
    for mean in [3.3, 812.7, 9_999.5, 10_001.25, 45_449_633.6] {
        for spread in [1.0, 1.7, 40.0] {
            let (low, high) = CountLaw::new(mean, mean * spread).interval(0.8);
            assert_eq!((low.fract(), high.fract()), (0.0, 0.0), "{mean} {spread}");
            assert!(low <= mean && mean <= high + 1.0, "{low} {mean} {high}");
        }
    }
}
