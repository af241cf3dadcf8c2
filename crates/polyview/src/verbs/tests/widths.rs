//! Widths of kernels that are left to the data.

use polyview_core::{Dataset, Table};
use polyview_linalg::Mat;
use polyview_random::{StreamKey, standard_normal};

use super::kernels::{spec, square};
use crate::fit::Fit;

fn said(fit: &Fit) -> String {
    let notes = fit.record().journal.remarks().map(|r| r.1);
    notes.filter(|n| n.contains("the width is")).collect()
}

/// What bends often needs a narrow kernel, what is straight a wide one; samples that are held out say
/// which.
#[test]
fn the_width_is_the_one_that_predicts_other_views() {
    let of = |bends: f64, seed: u64| {
        let (x, y) = square(90, seed);
        let values = Mat::from_fn(90, 2, |n, d| {
            let (u, v) = (x.values[(n, 0)], (x.values[(n, 1)] - 40.0) / 10.0);
            let along = if d == 0 { u + 0.3 * v } else { v };
            (bends * along).sin() + 0.02 * y.values[(n, d)]
        });
        let y = Table {
            features: vec!["y0".into(), "y1".into()],
            values,
            ..y
        };
        Dataset::builder().view(x).view(y).build().unwrap()
    };
    let width = |fit: &Fit| {
        let map = fit.view("x").unwrap().1.kernel.clone().unwrap();
        let crate::Kernel::Rbf { gamma } = map.kernel() else {
            panic!("another kernel");
        };
        (0.5 / gamma).sqrt()
    };
    let [narrow, wide] = [5.0, 0.3].map(|bends| crate::fit(of(bends, 21), spec("rbf")).unwrap());
    assert!(
        3.0 * width(&narrow) < width(&wide),
        "{} {}",
        width(&narrow),
        width(&wide)
    );
    assert!(
        said(&narrow).contains("predicts y best in 90 samples"),
        "{}",
        said(&narrow)
    );
    // the same bits however many threads there are, and from the choice written out
    let again = || crate::fit(of(5.0, 21), spec("rbf")).unwrap();
    let pool = polyview_linalg::Threads::new(3).unwrap();
    let threads = pool.install(again);
    assert_eq!(
        narrow.factors().unwrap().mean,
        threads.factors().unwrap().mean
    );
    let told = crate::fit(
        of(5.0, 21),
        spec(&format!("rbf{{width={}}}", width(&narrow))),
    )
    .unwrap();
    assert!((width(&told) - width(&narrow)).abs() < 1e-12);
    // where there is nothing to predict it is the median, and so it is said
    let alone = of(5.0, 21).with_views(&["x"]).unwrap();
    let fit = crate::fit(alone, spec("rbf")).unwrap();
    assert!(
        said(&fit).contains("there is no other view"),
        "{}",
        said(&fit)
    );
    let small = of(5.0, 21).subset(&(0..12).collect::<Vec<u32>>());
    let fit = crate::fit(small, spec("rbf")).unwrap();
    assert!(
        said(&fit).contains("12 samples have this view"),
        "{}",
        said(&fit)
    );
}

/// Of two widths at which nothing is predicted none is better: what chance prefers, a kernel that
/// knows no neighbours or one that is straight, is not taken.
#[test]
fn what_cannot_be_predicted_says_nothing_of_the_width() {
    for seed in 1..=6 {
        let mut rng = StreamKey::new(100 + seed).rng();
        let (x, y) = square(60, seed);
        let noise = Table {
            values: Mat::from_fn(60, 3, |_, _| standard_normal(&mut rng)),
            ..y
        };
        let data = Dataset::builder().view(x).view(noise).build().unwrap();
        let [fit, other] = ["rbf", "rbf{width=median}"]
            .map(|kernel| crate::fit(data.clone(), spec(kernel)).unwrap());
        let said = said(&fit);
        assert!(
            said.contains("at no width does kernel ridge regression predict y better"),
            "{seed}: {said}"
        );
        let width = |fit: &Fit| {
            let map = fit.view("x").unwrap().1.kernel.clone().unwrap();
            map.kernel()
        };
        assert_eq!(width(&fit), width(&other));
    }
}
