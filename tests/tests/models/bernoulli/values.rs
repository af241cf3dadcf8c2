//! Numbers known beforehand, and what is refused.

use polyview_core::{
    Bias, Block, Context, DataError, Event, Journal, Predictor, RowMoments, View, ViewTerm,
};
use polyview_likelihoods::{
    Bernoulli, Cells, LatentBernoulli, LatentBernoulliOptions, MissingData, ParameterUncertainty,
};
use polyview_linalg::Mat;
use polyview_random::StreamKey;
use polyview_special::sigmoid;

use super::{Kind, term, with_context};

fn single(label: f64) -> View {
    View::from_values("v", vec!["f".into()], Mat::full(1, 1, label)).expect("finite")
}

/// A predictor that is its intercept, with that mean and variance.
fn intercept(mean: f64, variance: f64) -> (RowMoments, RowMoments, Bias) {
    let mut b = Bias::gaussian(1, 0, 1.0);
    b.set(vec![mean], vec![variance]);
    let zero = RowMoments::point(Mat::zeros(1, 1));
    (zero.clone(), zero, b)
}

#[test]
fn the_bound_is_jaakkolas() {
    // spec/mofa C.1
    for (m, v, expected) in [
        (0.0, 1.0, -0.8133),
        (1.5, 0.49, -0.2525),
        (3.0, 1.0, -0.1226),
    ] {
        for (label, sign) in [(1.0, 1.0), (0.0, -1.0)] {
            let (z, w, b) = intercept(sign * m, v);
            let p = Predictor {
                factors: &z,
                weights: &w,
                bias: &b,
            };
            let mut term = Cells::new(single(label), Bernoulli::default()).expect("labels");
            with_context(1, 2, |cx| term.refresh(&p, cx)).expect("finite");
            let found = term.bound(&p).sum();
            assert!((found - expected).abs() < 6e-5, "{m} {v}: {found}");
        }
    }
}

#[test]
fn an_imputed_label_settles_where_the_thesis_says() {
    // spec/thesis 15.1.5: y -> score (variance)
    for (tau, y, score, variance) in [
        (1.0, 1.0, 1.013, 0.821),
        (1.0, 3.0, 3.015, 0.873),
        (0.2, 1.0, 1.200, 2.562),
        (0.2, 3.0, 3.219, 3.033),
        (5.0, 1.0, 1.001, 0.191),
    ] {
        let (_, w, b) = intercept(y, 0.0);
        // a row with a label, and one without
        let values = Mat::from_fn(2, 1, |n, _| if n == 0 { 1.0 } else { f64::NAN });
        let view = View::from_values("v", vec!["f".into()], values).expect("finite");
        let z = RowMoments::point(Mat::zeros(2, 1));
        let p = Predictor {
            factors: &z,
            weights: &w,
            bias: &b,
        };
        let options = LatentBernoulliOptions {
            start: tau,
            fixed: true,
            missing: MissingData::Impute,
            rounds: 500,
            ..LatentBernoulliOptions::default()
        };
        let mut term = LatentBernoulli::new(view, options).expect("labels");
        with_context(1, 2, |cx| term.refresh(&p, cx)).expect("finite");
        let found = term.scores().values().get(1, 0);
        let v = term.xi(1, 0).expect("a score").powi(2) - found * found;
        assert!((found - score).abs() < 6e-4, "{tau} {y}: {found}");
        assert!((v - variance).abs() < 6e-4, "{tau} {y}: {v}");
    }
}

#[test]
fn predictions_are_probabilities() {
    let (z, w, b) = intercept(2.0, 3.0);
    let p = Predictor {
        factors: &z,
        weights: &w,
        bias: &b,
    };
    let of = |term: &dyn ViewTerm| {
        let law = term.law(&p, &Block::new(0..1, 0..1));
        let mean = law.means()[(0, 0)];
        assert!((law.variances()[(0, 0)] - mean * (1.0 - mean)).abs() < 1e-15);
        mean
    };
    let direct = |prediction| {
        let term = Cells::new(single(1.0), Bernoulli { prediction }).expect("labels");
        of(&term)
    };
    let plug_in = direct(ParameterUncertainty::PlugIn);
    assert!((plug_in - sigmoid(2.0)).abs() < 1e-15);
    // one more unit of variance from the scores: spec/thesis 15.1.6, (2, 4)
    let options = LatentBernoulliOptions {
        fixed: true,
        ..LatentBernoulliOptions::default()
    };
    let found = of(&LatentBernoulli::new(single(1.0), options).expect("labels"));
    assert!((found - 0.7750).abs() < 5e-4, "{found}");
    let moderated = direct(ParameterUncertainty::Posterior);
    assert!(found < moderated && moderated < plug_in);
    // P6's own approximation is within two thousandths of the integral
    let crude = sigmoid(2.0 / (1.0 + std::f64::consts::PI * 3.0 / 8.0).sqrt());
    assert!((moderated - crude).abs() < 3e-3);
}

#[test]
fn other_values_than_zero_and_one_are_refused_by_name() {
    let values = Mat::from_fn(3, 2, |n, d| if (n, d) == (1, 1) { 0.5 } else { 1.0 });
    let view = View::from_values("smoker", vec!["now".into(), "ever".into()], values);
    let view = view.expect("finite");
    let expected = DataError::OutOfDomain {
        view: "smoker".into(),
        feature: "ever".into(),
        sample: 1,
        value: 0.5,
        needs: "0 or 1",
    };
    let direct = Cells::new(view.clone(), Bernoulli::default()).err();
    assert_eq!(direct.as_ref(), Some(&expected));
    let options = LatentBernoulliOptions::default();
    assert_eq!(
        LatentBernoulli::new(view.clone(), options).err(),
        Some(expected)
    );
    let text = direct.map(|e| e.to_string()).unwrap_or_default();
    assert!(text.contains("'ever'") && text.contains("row 2"), "{text}");
    // new samples are checked as well
    for kind in [Kind::Direct, Kind::Latent(options)] {
        let fine = View::from_values("smoker", view.features().to_vec(), Mat::full(2, 2, 1.0));
        let fitted = term(kind, fine.expect("finite"));
        assert!(matches!(
            fitted.rebind(&view),
            Err(DataError::OutOfDomain { .. })
        ));
        assert!(matches!(
            fitted.rebind(&single(1.0)),
            Err(DataError::LengthMismatch { .. })
        ));
    }
}

#[test]
fn a_view_without_labels_is_refused_unless_it_is_new() {
    let none = single(f64::NAN);
    let error = DataError::NothingObserved { view: "v".into() };
    assert_eq!(
        Cells::new(none.clone(), Bernoulli::default()).err(),
        Some(error.clone())
    );
    let options = LatentBernoulliOptions::default();
    assert_eq!(
        LatentBernoulli::new(none.clone(), options).err(),
        Some(error)
    );
    for kind in [Kind::Direct, Kind::Latent(options)] {
        assert!(term(kind, single(1.0)).rebind(&none).is_ok());
    }
}

#[test]
fn a_constant_column_is_allowed_and_noted() {
    let values = Mat::from_fn(6, 3, |n, d| match d {
        0 => 1.0,
        1 => f64::NAN,
        _ => (n % 2) as f64,
    });
    let names = vec!["all".into(), "none".into(), "some".into()];
    let view = View::from_values("v", names, values).expect("finite");
    for kind in [Kind::Direct, super::marginal()] {
        let mut term = term(kind, view.clone());
        let z = RowMoments::point(Mat::full(6, 1, 0.3));
        let w = RowMoments::point(Mat::full(3, 1, 0.3));
        let b = Bias::absent(3);
        let p = Predictor {
            factors: &z,
            weights: &w,
            bias: &b,
        };
        let mut journal = Journal::default();
        for sweep in [1, 2] {
            let mut cx = Context {
                key: StreamKey::new(1),
                sweep,
                journal: &mut journal,
            };
            term.refresh(&p, &mut cx).expect("finite");
        }
        let notes: Vec<String> = journal
            .entries
            .iter()
            .map(|e| match &e.event {
                Event::Data { note } => note.clone(),
                other => panic!("{other}"),
            })
            .collect();
        assert_eq!(notes.len(), 2, "{notes:?}");
        assert!(notes[0].contains("'all'") && notes[1].contains("'none'"));
    }
}

#[test]
fn numbers_that_are_not_finite_are_an_error() {
    for kind in [Kind::Direct, super::marginal()] {
        let (z, w, b) = intercept(f64::NAN, 0.1);
        let p = Predictor {
            factors: &z,
            weights: &w,
            bias: &b,
        };
        let mut term = term(kind, single(1.0));
        assert!(with_context(1, 2, |cx| term.refresh(&p, cx)).is_err());
        let drawn = with_context(1, 2, |cx| {
            term.as_augmented().map(|a| a.draw_locals(&p, cx))
        });
        assert!(matches!(drawn, Some(Err(_))));
    }
}
