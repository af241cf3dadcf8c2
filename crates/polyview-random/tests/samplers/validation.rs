use polyview_random::{
    Beta, Categorical, Dirichlet, Gamma, Gig, InverseGaussian, PolyaGamma, PrecisionFactor,
    RandomError, TruncatedNormal, categorical_ln, gamma, ln_gamma_draw,
};

use crate::support::rng;

const BAD: [f64; 5] = [0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY];

fn out_of_range<T>(result: &Result<T, RandomError>) -> bool {
    matches!(result, Err(RandomError::OutOfRange { .. }))
}

#[test]
fn positive_parameters_must_be_positive_and_finite() {
    for bad in BAD {
        assert!(out_of_range(&Gamma::new(bad, 1.0)));
        assert!(out_of_range(&Gamma::new(1.0, bad)));
        assert!(out_of_range(&gamma(&mut rng(0), bad, 1.0)));
        assert!(out_of_range(&ln_gamma_draw(&mut rng(0), 1.0, bad)));
        assert!(out_of_range(&Beta::new(bad, 1.0)));
        assert!(out_of_range(&Beta::new(1.0, bad)));
        assert!(out_of_range(&Dirichlet::new(&[1.0, bad])));
        assert!(out_of_range(&InverseGaussian::new(1.0, bad)));
        assert!(out_of_range(&PolyaGamma::new(bad, 0.0)));
        assert!(out_of_range(&TruncatedNormal::new(0.0, bad, -1.0, 1.0)));
        assert_eq!(
            out_of_range(&InverseGaussian::new(bad, 1.0)),
            bad != f64::INFINITY
        );
        if bad != 0.0 {
            assert!(out_of_range(&Gig::new(bad, 1.0, 1.0)));
            assert!(out_of_range(&Gig::new(1.0, bad, 1.0)));
        }
    }
    assert!(out_of_range(&Gamma::new(1e-301, 1.0)));
}

#[test]
fn locations_must_be_finite() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert!(out_of_range(&PolyaGamma::new(1.0, bad)));
        assert!(out_of_range(&Gig::new(1.0, 1.0, bad)));
        assert!(out_of_range(&TruncatedNormal::new(bad, 1.0, -1.0, 1.0)));
    }
}

#[test]
fn intervals_must_hold_a_number() {
    let inf = f64::INFINITY;
    for (lower, upper) in [
        (1.0, 0.0),
        (f64::NAN, 1.0),
        (0.0, f64::NAN),
        (inf, inf),
        (-inf, -inf),
    ] {
        let law = TruncatedNormal::new(0.0, 1.0, lower, upper);
        assert!(matches!(law, Err(RandomError::EmptyInterval { .. })));
    }
}

#[test]
fn improper_limits_are_refused() {
    for (a, b, p) in [
        (0.0, 0.0, 1.0),
        (1.0, 0.0, 0.0),
        (1.0, 0.0, -0.5),
        (0.0, 1.0, 0.5),
        (0.0, 1.0, 0.0),
    ] {
        assert_eq!(Gig::new(a, b, p), Err(RandomError::Improper { a, b, p }));
    }
}

#[test]
fn weights_must_be_weights() {
    let nan = [0.0, f64::NAN];
    let found = Categorical::from_ln_weights(&nan);
    assert!(matches!(
        found,
        Err(RandomError::IllegalWeight { index: 1, .. })
    ));
    let infinite = [f64::INFINITY];
    let found = categorical_ln(&mut rng(0), &infinite);
    assert!(matches!(
        found,
        Err(RandomError::IllegalWeight { index: 0, .. })
    ));
    let none = [f64::NEG_INFINITY; 3];
    assert_eq!(
        Categorical::from_ln_weights(&none),
        Err(RandomError::NoMass { len: 3 })
    );
    assert_eq!(
        Categorical::from_ln_weights(&[]),
        Err(RandomError::NoMass { len: 0 })
    );
    assert_eq!(Dirichlet::new(&[]), Err(RandomError::NoMass { len: 0 }));
}

#[test]
fn slices_must_fit() {
    let law = Dirichlet::new(&[1.0, 2.0]).unwrap();
    let found = law.sample_into(&mut rng(0), &mut [0.0; 3]);
    assert!(matches!(
        found,
        Err(RandomError::LengthMismatch {
            expected: 2,
            found: 3,
            ..
        })
    ));
    let found = PrecisionFactor::new(&[1.0; 4], 2);
    assert!(matches!(
        found,
        Err(RandomError::LengthMismatch {
            expected: 3,
            found: 4,
            ..
        })
    ));
    assert!(PrecisionFactor::new(&[1.0; 4], usize::MAX).is_err());
    for bad in BAD {
        let packed = [1.0, 0.5, bad];
        let found = PrecisionFactor::new(&packed, 2);
        assert!(matches!(
            found,
            Err(RandomError::IllegalPivot { index: 1, .. })
        ));
    }
    let law = PrecisionFactor::new(&[1.0, 0.5, 2.0], 2).unwrap();
    assert!(law.sample_into(&mut rng(0), &[0.0], &mut [0.0; 2]).is_err());
    assert!(law.sample_into(&mut rng(0), &[0.0; 2], &mut [0.0]).is_err());
    assert!(law.sample_canonical(&mut rng(0), &mut [0.0]).is_err());
}

#[test]
fn messages_name_the_parameter() {
    let message = Gamma::new(-2.0, 1.0).unwrap_err().to_string();
    assert!(
        message.contains("Gamma shape") && message.contains("-2"),
        "{message}"
    );
}
