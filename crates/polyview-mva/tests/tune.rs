//! Penalties and numbers of features chosen on folds (spec/thesis 4.2, 4.5).

use polyview_linalg::{Mat, Threads};
use polyview_mva::{
    Form, Metric, MvaError, RbCca, RbCcaOptions, Selection, Standard, TuningOptions,
    balanced_accuracy, class_indicators, classifier, counts, dual, penalties, tuned_supervised,
};
use polyview_random::{StreamKey, standard_normal};

/// Classes of 20 samples each, told apart by the first `relevant` features.
fn data(seed: u64, classes: usize, features: usize, relevant: usize) -> (Mat<f64>, Vec<usize>) {
    let mut rng = StreamKey::new(seed).rng();
    let labels: Vec<usize> = (0..20 * classes).map(|n| n % classes).collect();
    let x = Mat::from_fn(labels.len(), features, |n, d| {
        let shift = if d < relevant && d % classes == labels[n] {
            1.5
        } else {
            0.0
        };
        shift + standard_normal(&mut rng)
    });
    (x, labels)
}

fn quick() -> RbCcaOptions {
    RbCcaOptions {
        bags: 200,
        ..RbCcaOptions::default()
    }
}

#[test]
fn lists_are_those_of_the_thesis() {
    let all = penalties();
    assert_eq!(all.len(), 17);
    assert!((all[0] - 1e-4).abs() < 1e-18 && (all[16] - 1e3).abs() < 1e-9);
    let steps: Vec<f64> = all.windows(2).map(|w| (w[1] / w[0]).log10()).collect();
    assert!(steps.iter().all(|s| (s - 7.0 / 16.0).abs() < 1e-12));
    assert_eq!(counts(70), [1, 2, 5, 10, 20, 50, 70]);
    assert_eq!(counts(1), [1]);
    assert_eq!(balanced_accuracy(&[0, 0, 0, 1], &[0, 0, 0, 0]), Ok(0.5));
    assert!(matches!(
        balanced_accuracy(&[0, 1, 1], &[0]),
        Err(MvaError::Shape {
            expected: 3,
            found: 1,
            ..
        })
    ));
}

#[test]
fn few_features_are_enough_where_few_are_relevant() {
    let (x, labels) = data(1, 3, 200, 9);
    let tuning = TuningOptions {
        counts: counts(200),
        folds: 5,
        ..TuningOptions::default()
    };
    let (fit, tuned) = RbCca::tuned(x.as_ref(), &labels, &quick(), &tuning).unwrap();
    let count = tuned.count().unwrap();
    assert!((2..=20).contains(&count), "{count}");
    assert_eq!(fit.selected().len(), count);
    let relevant = fit.selected().iter().filter(|d| **d < 9).count();
    assert!(relevant >= count.min(9) - 1, "{:?}", fit.selected());
    // new samples
    let (new, truth) = data(2, 3, 200, 9);
    let z = fit.project(x.as_ref()).unwrap();
    let svm = classifier(z.as_ref(), &labels, 0.035, true).unwrap();
    let said = svm
        .predict(fit.project(new.as_ref()).unwrap().as_ref())
        .unwrap();
    let accuracy = balanced_accuracy(&truth, &said).unwrap();
    let of_folds = tuned.accuracy[tuned.chosen];
    assert!(accuracy > 0.7, "{accuracy}");
    assert!((accuracy - of_folds).abs() < 0.2, "{accuracy} {of_folds}");
}

#[test]
fn folds_see_nothing_of_the_samples_that_they_leave_out() {
    // features know nothing of the classes: one that is selected on all samples tells them apart
    // on these, and on no fold
    let (x, labels) = data(3, 2, 400, 0);
    let tuning = TuningOptions {
        counts: vec![10],
        folds: 5,
        ..TuningOptions::default()
    };
    let (fit, tuned) = RbCca::tuned(x.as_ref(), &labels, &quick(), &tuning).unwrap();
    let z = fit.project(x.as_ref()).unwrap();
    let svm = classifier(z.as_ref(), &labels, 0.035, true).unwrap();
    let own = balanced_accuracy(&labels, &svm.predict(z.as_ref()).unwrap()).unwrap();
    assert!(own > 0.85, "{own}");
    let of_folds = (0..17).map(|j| tuned.accuracy[(0, j)]).sum::<f64>() / 17.0;
    assert!(of_folds < 0.68, "{of_folds}");
}

#[test]
fn selections_are_what_they_say() {
    let (x, labels) = data(4, 2, 60, 6);
    let with = |selection| {
        let options = RbCcaOptions {
            selection,
            ..quick()
        };
        RbCca::fit(x.as_ref(), &labels, &options).unwrap()
    };
    assert_eq!(with(Selection::All).selected().len(), 60);
    assert_eq!(with(Selection::Most(1000)).selected().len(), 60);
    let five = with(Selection::Most(5));
    let ranking = five.bagging().ranking();
    let mut first = ranking[..5].to_vec();
    first.sort_unstable();
    assert_eq!(five.selected(), first);
    let relevance = five.bagging().relevance();
    let of = |d: usize| relevance[(d, 0)].max(relevance[(d, 1)]);
    assert!(ranking.windows(2).all(|w| of(w[0]) >= of(w[1])));
    // directions of all features project as the fit does
    let standard = five.standard().apply(x.as_ref()).unwrap();
    let z = five.project(x.as_ref()).unwrap();
    let direct = &standard * five.directions();
    for n in 0..40 {
        assert!((direct[(n, 0)] - z[(n, 0)]).abs() < 1e-9);
    }
    let one = RbCcaOptions {
        components: Some(2),
        ..quick()
    };
    assert_eq!(
        RbCca::fit(x.as_ref(), &labels, &one),
        Err(MvaError::Components { asked: 2, most: 1 })
    );
}

#[test]
fn supervised_projections_are_tuned_in_either_form() {
    let (x, labels) = data(5, 3, 90, 9);
    let tuning = TuningOptions {
        folds: 5,
        ..TuningOptions::default()
    };
    for form in [Form::Primal, Form::Dual] {
        let tuned = tuned_supervised(
            x.as_ref(),
            &labels,
            (form, Metric::Correlation, 2),
            true,
            true,
            &tuning,
        )
        .unwrap();
        assert_eq!((tuned.accuracy.nrows(), tuned.accuracy.ncols()), (1, 17));
        assert!(tuned.accuracy[tuned.chosen] > 0.6);
        assert!(tuned.count().is_none());
    }
    // the dual form through one door
    let y = class_indicators(&labels, 3).unwrap();
    let one = dual(x.as_ref(), y.as_ref(), 2, Metric::Identity, 3.0).unwrap();
    let other = Form::Dual
        .solve(x.as_ref(), y.as_ref(), 2, Metric::Identity, 3.0)
        .unwrap();
    assert_eq!(one.eigenvalues, other.eigenvalues);
    assert_eq!(one.targets, other.targets);
}

#[test]
fn what_cannot_be_is_named() {
    let (x, labels) = data(6, 2, 5, 2);
    let tuned = |labels: &[usize], tuning: &TuningOptions| {
        RbCca::tuned(x.as_ref(), labels, &quick(), tuning).map(|t| t.1)
    };
    let few: Vec<usize> = (0..40).map(|n| usize::from(n < 2)).collect();
    let least = Err(MvaError::Class {
        class: 1,
        samples: 2,
        least: 3,
    });
    assert_eq!(tuned(&few, &TuningOptions::default()), least);
    let none = TuningOptions {
        penalties: vec![],
        ..TuningOptions::default()
    };
    assert!(matches!(tuned(&labels, &none), Err(MvaError::Empty { .. })));
    let below = TuningOptions {
        penalties: vec![-1.0],
        ..TuningOptions::default()
    };
    assert!(matches!(
        tuned(&labels, &below),
        Err(MvaError::OutOfRange { .. })
    ));
    let flat = Mat::full(40, 3, 2.5);
    assert_eq!(
        RbCca::fit(flat.as_ref(), &labels, &quick()),
        Err(MvaError::NoVariance)
    );
    assert_eq!(Standard::learn(flat.as_ref()), Err(MvaError::NoVariance));
    let standard = Standard::learn(x.as_ref()).unwrap();
    assert!(standard.apply(flat.as_ref()).is_err());
}

#[test]
fn bits_do_not_depend_on_threads() {
    let (x, labels) = data(7, 3, 50, 6);
    let tuning = TuningOptions {
        counts: vec![5, 50],
        folds: 4,
        ..TuningOptions::default()
    };
    let found = |threads: usize| {
        Threads::new(threads)
            .unwrap()
            .install(|| RbCca::tuned(x.as_ref(), &labels, &quick(), &tuning))
            .unwrap()
    };
    assert_eq!(found(1), found(3));
}
