//! What a fit says of counts before it begins.

use polyview_core::Dataset;
use polyview_linalg::Mat;

use super::counts::table;
use crate::{Fit, Likelihood, models};

#[test]
fn large_counts_are_noted() {
    let mut values = Mat::from_fn(20, 3, |n, d| (n * (d + 1)) as f64);
    let fits = |values: &Mat<f64>| {
        let data = Dataset::builder()
            .view(table("y", values.clone()))
            .build()
            .unwrap();
        let mut spec = models::mofa(1).with_likelihood("y", Likelihood::NegativeBinomial);
        spec.vb.max_sweeps = 3;
        crate::fit(data, spec)
    };
    values[(4, 1)] = 1e6;
    let quiet = fits(&values).unwrap();
    values[(4, 1)] = 2e6;
    let loud = fits(&values).unwrap();
    let said = |f: &Fit| {
        let mut all = f.record().journal.entries.iter();
        all.any(|e| e.to_string().contains("(sample 's4', feature 'y1')"))
    };
    assert!(!said(&quiet) && said(&loud));
    values[(4, 1)] = 2e9;
    assert!(fits(&values).is_err());
}
