//! Moments that are kept draw by draw.

use super::*;

#[test]
fn running_moments_equal_two_passes() {
    let mut noise = Noise::new(8);
    for offset in [0.0, 1e9] {
        let draws: Vec<[f64; 3]> = (0..500)
            .map(|_| [offset + noise.normal(), 1e-6 * noise.normal(), offset])
            .collect();
        let mut all = RunningMoments::new(3);
        let mut parts = [
            RunningMoments::new(3),
            RunningMoments::new(3),
            RunningMoments::new(3),
        ];
        for (t, draw) in draws.iter().enumerate() {
            all.push(draw).unwrap();
            parts[if t < 123 { 0 } else { 2 }].push(draw).unwrap();
        }
        let [mut merged, empty, rest] = parts;
        merged.merge(&empty).unwrap();
        merged.merge(&rest).unwrap();
        let mut from_empty = empty.clone();
        from_empty.merge(&all).unwrap();
        assert_eq!(from_empty, all);
        assert_eq!((all.draws(), merged.draws()), (500, 500));
        for i in 0..3 {
            let origin = draws[0][i];
            let mean = draws.iter().map(|d| d[i] - origin).sum::<f64>() / 500.0 + origin;
            let variance = draws.iter().map(|d| (d[i] - mean).powi(2)).sum::<f64>() / 499.0;
            for moments in [&all, &merged] {
                assert!((moments.mean()[i] - mean).abs() <= 1e-15 * offset + 1e-14);
                assert!(
                    (moments.variance()[i] - variance).abs() <= 1e-6 * variance,
                    "{i} {offset}"
                );
            }
        }
        let again = RunningMoments::from_parts(
            all.draws(),
            all.mean().to_vec(),
            all.sums_of_squares().to_vec(),
        );
        assert_eq!(again.unwrap(), all);
    }
    let mut one = RunningMoments::new(1);
    assert!(one.variance()[0].is_nan());
    one.push(&[3.0]).unwrap();
    assert!(one.variance()[0].is_nan() && one.mean() == [3.0]);
    assert_eq!(
        one.push(&[1.0, 2.0]),
        Err(DiagnosticsError::Quantities {
            expected: 1,
            found: 2
        })
    );
    assert_eq!(one.draws(), 1);
    assert!(one.merge(&RunningMoments::new(2)).is_err());
    assert!(RunningMoments::from_parts(1, vec![0.0], vec![]).is_err());
    one.push(&[f64::NAN]).unwrap();
    assert!(one.mean()[0].is_nan());
}

#[test]
fn rhat_of_moments_equals_split_rhat() {
    for name in ["mild", "shifted", "ties"] {
        let chains = scenario(name);
        let length = chains[0].len() / 2;
        let halves: Vec<RunningMoments> = chains
            .iter()
            .flat_map(|c| c.chunks_exact(length))
            .map(|half| {
                let mut moments = RunningMoments::new(2);
                for x in half {
                    moments.push(&[*x, 1.0]).unwrap();
                }
                moments
            })
            .collect();
        let halves: Vec<&RunningMoments> = halves.iter().collect();
        let found = rhat_of_moments(&halves).unwrap();
        let expected = split_rhat(&views(&chains)).unwrap();
        assert!((found[0] - expected).abs() < 1e-12, "{name}");
        assert!(found[1].is_nan());
    }
    let (empty, mut one) = (RunningMoments::new(1), RunningMoments::new(1));
    assert_eq!(rhat_of_moments(&[]), Err(DiagnosticsError::NoChains));
    assert!(matches!(
        rhat_of_moments(&[&empty, &empty]),
        Err(DiagnosticsError::TooFewDraws { .. })
    ));
    one.push(&[1.0]).unwrap();
    assert!(matches!(
        rhat_of_moments(&[&empty, &one]),
        Err(DiagnosticsError::UnequalLengths { chain: 1, .. })
    ));
    one.push(&[2.0]).unwrap();
    assert_eq!(
        rhat_of_moments(&[&one]),
        Err(DiagnosticsError::TooFewChains {
            needed: 2,
            found: 1
        })
    );
    assert!(rhat_of_moments(&[&one, &RunningMoments::new(2)]).is_err());
}
