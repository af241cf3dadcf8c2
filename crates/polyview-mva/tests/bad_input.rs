//! What users get wrong, and the answer.

use polyview_linalg::{Mat, Threads};
use polyview_mva::{
    Bagging, BaggingOptions, Balance, GuidedOptions, Metric, MvaError, RbCca, RbCcaOptions,
    Representer, cca, class_indicators, dual, guided, opls, pca, rank,
};

fn table(rows: usize, columns: usize) -> Mat<f64> {
    Mat::from_fn(rows, columns, |i, j| ((i * (2 * j + 3) + j) % 7) as f64)
}

#[test]
fn each_mistake_has_its_answer() {
    let mut hole = table(8, 3);
    hole[(5, 1)] = f64::NAN;
    let e = pca(hole.as_ref(), 2).unwrap_err();
    assert_eq!(
        e.to_string(),
        "the data: the value at row 5, column 1 is not finite; impute missing values first"
    );
    assert!(matches!(
        cca(table(8, 3).as_ref(), table(7, 2).as_ref(), 1, 0.0),
        Err(MvaError::Shape {
            expected: 8,
            found: 7,
            ..
        })
    ));
    assert!(matches!(
        cca(table(8, 3).as_ref(), table(8, 2).as_ref(), 1, -1.0),
        Err(MvaError::OutOfRange { .. })
    ));
    assert!(matches!(
        pca(table(0, 3).as_ref(), 1),
        Err(MvaError::Empty { .. })
    ));
    assert!(matches!(
        dual(
            table(8, 3).as_ref(),
            table(8, 2).as_ref(),
            1,
            Metric::Identity,
            0.0
        ),
        Err(MvaError::OutOfRange { .. })
    ));
    assert!(matches!(
        class_indicators(&[0, 3], 2),
        Err(MvaError::OutOfRange { .. })
    ));
    let o = RbCcaOptions::default();
    // one class only; a class of one sample; a number left out
    for labels in [[0; 8], [0, 0, 0, 0, 0, 0, 0, 1], [0, 0, 0, 0, 2, 2, 2, 2]] {
        assert!(matches!(
            RbCca::fit(table(8, 3).as_ref(), &labels, &o),
            Err(MvaError::Class { .. })
        ));
    }
    assert!(matches!(
        RbCca::fit(table(4, 3).as_ref(), &[0, 1, 0, usize::MAX], &o),
        Err(MvaError::OutOfRange { .. })
    ));
    let g = GuidedOptions {
        components: 1,
        penalty: 1.0,
        balance: Balance::Classes,
        representer: Representer::Rows,
    };
    assert!(matches!(
        guided(table(4, 3).as_ref(), &[0, 1, 0, 1], &[1.0, 0.0, 1.0], &g),
        Err(MvaError::OutOfRange { .. })
    ));
    let bags = |o: BaggingOptions| {
        Bagging::run(
            table(4, 3).as_ref(),
            table(4, 1).as_ref(),
            &[0, 1, 0, 1],
            &o,
        )
    };
    let o = BaggingOptions::default();
    assert!(matches!(
        bags(BaggingOptions { share: 1.0, ..o }),
        Err(MvaError::OutOfRange { .. })
    ));
    assert!(matches!(
        bags(BaggingOptions { bags: 0, ..o }),
        Err(MvaError::Empty { .. })
    ));
    let none = table(4, 0);
    let without = Bagging::run(table(4, 3).as_ref(), none.as_ref(), &[0, 1, 0, 1], &o);
    assert!(matches!(without, Err(MvaError::Empty { .. })));
    assert!(bags(o).unwrap().select(0.0).is_err());
}

#[test]
fn constant_features_and_more_components_than_data_are_no_matter() {
    let x = Mat::from_fn(10, 4, |i, j| {
        if j == 2 {
            5.0
        } else {
            ((i * (j + 2)) % 5) as f64
        }
    });
    let fit = pca(x.as_ref(), 50).unwrap();
    assert_eq!(fit.variances.len(), 4);
    let y = Mat::from_fn(10, 2, |i, j| ((i * (j + 3)) % 4) as f64);
    let fit = cca(x.as_ref(), y.as_ref(), 50, 0.0).unwrap();
    assert!(
        fit.correlations
            .iter()
            .all(|c| c.is_finite() && *c <= 1.0 + 1e-9)
    );
    // columns that do not vary are no directions, and samples about their mean have one fewer
    assert_eq!(
        [rank(x.as_ref()).unwrap(), rank(y.as_ref()).unwrap()],
        [2, 1]
    );
    assert_eq!(rank(table(4, 9).as_ref()).unwrap(), 3);
    let one = pca(table(1, 3).as_ref(), 2).unwrap();
    assert_eq!(one.shares, [0.0]);
    let fit = opls(x.as_ref(), y.as_ref(), 50, Metric::Correlation, 0.0).unwrap();
    assert_eq!(fit.eigenvalues.len(), 2);
}

#[test]
fn bits_do_not_depend_on_threads() {
    let x = Mat::from_fn(60, 300, |i, j| {
        ((i * (2 * j + 3) + j * j) % 17) as f64 - 8.0
    });
    let labels: Vec<usize> = (0..60).map(|n| n % 3).collect();
    let fit = |threads: usize| {
        Threads::new(threads)
            .unwrap()
            .install(|| {
                RbCca::fit(
                    x.as_ref(),
                    &labels,
                    &RbCcaOptions {
                        level: 0.5,
                        ..RbCcaOptions::default()
                    },
                )
            })
            .unwrap()
    };
    assert_eq!(fit(1), fit(4));
}
