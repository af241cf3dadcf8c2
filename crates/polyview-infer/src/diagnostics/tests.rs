use super::*;
use crate::rotation::test_noise::Noise;
use proptest::prelude::*;
use std::f64::consts::PI;

/// A stationary first-order autoregression with unit variance.
fn autoregression(noise: &mut Noise, rho: f64, length: usize) -> Vec<f64> {
    let mut x = noise.normal();
    (0..length)
        .map(|_| {
            let now = x;
            x = rho * x + (1.0 - rho * rho).sqrt() * noise.normal();
            now
        })
        .collect()
}

fn views(chains: &[Vec<f64>]) -> Vec<&[f64]> {
    chains.iter().map(Vec::as_slice).collect()
}

fn scenario(name: &str) -> Vec<Vec<f64>> {
    let mut noise = Noise::new(2024);
    let mut chains = |count: usize, rho: f64, length: usize| -> Vec<Vec<f64>> {
        (0..count)
            .map(|_| autoregression(&mut noise, rho, length))
            .collect()
    };
    match name {
        "slow" => chains(4, 0.9, 251),
        "mild" => chains(4, 0.3, 250),
        "antithetic" => chains(4, -0.5, 250),
        "single" => chains(1, 0.5, 400),
        "cauchy" => (0..3)
            .map(|_| {
                (0..200)
                    .map(|_| (PI * (noise.uniform() - 0.5)).tan())
                    .collect()
            })
            .collect(),
        "spread" => {
            let mut all = chains(4, 0.0, 200);
            all[2].iter_mut().for_each(|x| *x *= 4.0);
            all
        }
        "shifted" => {
            let mut all = chains(4, 0.2, 200);
            all[1].iter_mut().for_each(|x| *x += 1.5);
            all
        }
        "ties" => {
            let mut all = chains(2, 0.6, 300);
            all.iter_mut()
                .flatten()
                .for_each(|x| *x = (2.0 * *x).round());
            all
        }
        _ => unreachable!("no such scenario"),
    }
}

/// Split R-hat, rank-normalised R-hat, bulk, tail and mean effective sizes, standard error; quantiles.
///
/// From an independent implementation of the paper (arviz-stats 0.8.0) on the same draws.
const REFERENCE: [(&str, [f64; 6], [f64; 3]); 8] = [
    (
        "slow",
        [
            1.130893114203646,
            1.128884978999766,
            26.304262414052435,
            47.53831031293143,
            24.73132695773145,
            0.19319814645731925,
        ],
        [-1.772709782106467, -0.03754100727249948, 2.225764369874975],
    ),
    (
        "mild",
        [
            1.0079790485775244,
            1.0079261690556027,
            637.4458413052138,
            847.2592053422252,
            632.1147142277358,
            0.03984607270584966,
        ],
        [
            -1.847064845592666,
            -0.000952390029661937,
            1.8814543148679614,
        ],
    ),
    (
        "antithetic",
        [
            0.9980547577348815,
            0.9985087239708808,
            3000.0,
            1092.6631882222462,
            3000.0,
            0.018307943476697033,
        ],
        [
            -1.8671995341419934,
            -0.0020892686333881944,
            1.8444053945084378,
        ],
    ),
    (
        "cauchy",
        [
            1.0008887339136638,
            0.9994228613846518,
            477.0676920944536,
            582.7552154258562,
            598.5957695690498,
            0.8722750116563933,
        ],
        [-10.515911218397067, 0.022679360706737477, 9.552325451484789],
    ),
    (
        "spread",
        [
            0.9997343173343977,
            1.1604957712136785,
            798.4474906559095,
            47.68315078605757,
            755.828974671025,
            0.07845088851716275,
        ],
        [
            -5.164082738164843,
            -0.0001256471137875163,
            4.051056990857881,
        ],
    ),
    (
        "shifted",
        [
            1.2326025947912147,
            1.22049309829429,
            15.0070293753115,
            53.018786422135214,
            14.315944039639316,
            0.3214879580274631,
        ],
        [-1.8045995598828515, 0.2934531968881581, 2.7947370007919585],
    ),
    (
        "ties",
        [
            1.0049851785457455,
            1.004730810146411,
            170.81596513597077,
            252.13248631561717,
            170.99543364384925,
            0.15426868586435935,
        ],
        [-4.0, 0.0, 4.0],
    ),
    (
        "single",
        [
            f64::NAN,
            f64::NAN,
            134.33010080014213,
            187.34950100677477,
            134.93054759877097,
            0.08597609471301267,
        ],
        [
            -1.892488303038599,
            -0.001262002449661518,
            1.7011956624432503,
        ],
    ),
];

#[test]
fn agrees_with_an_independent_implementation() {
    for (name, expected, quantile) in REFERENCE {
        let chains = scenario(name);
        let chains = views(&chains);
        let found = [
            split_rhat(&chains).unwrap(),
            rank_normalised_rhat(&chains).unwrap(),
            ess_bulk(&chains).unwrap(),
            ess_tail(&chains).unwrap(),
            ess_mean(&chains).unwrap(),
            mcse_mean(&chains).unwrap(),
        ];
        for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
            // the reference wants two chains for R-hat
            assert!(
                expected.is_nan() || (found / expected - 1.0).abs() < 1e-9,
                "{name} {i}: {found} {expected}"
            );
        }
        let all = summary(&chains).unwrap();
        for (found, expected) in [all.lower, all.median, all.upper].iter().zip(quantile) {
            assert!(
                (found - expected).abs() < 1e-10,
                "{name}: {found} {expected}"
            );
        }
        assert_eq!(
            [all.rhat, all.ess_bulk, all.ess_tail, all.mcse],
            [found[1], found[2], found[3], found[5]]
        );
    }
}

#[test]
fn split_rhat_by_hand() {
    // halves (1, 2), (3, 4), (2, 3), (4, 5): W = 1/2, B/n = 5/3
    let found = split_rhat(&[&[1.0, 2.0, 3.0, 4.0], &[2.0, 3.0, 4.0, 5.0]]).unwrap();
    assert!((found - (0.5_f64 + (5.0 / 3.0) / 0.5).sqrt()).abs() < 1e-15);
    // the middle draw of an odd chain is left out
    let odd = split_rhat(&[&[1.0, 2.0, 99.0, 3.0, 4.0], &[2.0, 3.0, -9.0, 4.0, 5.0]]).unwrap();
    assert_eq!(odd, found);
}

#[test]
fn rank_normalised_rhat_by_hand() {
    // ranks 1..8 in one chain's order: halves (1, 2), (5, 6), (3, 4), (7, 8)
    let z: Vec<f64> = (1..=8)
        .map(|r| polyview_special::normal_quantile((f64::from(r) - 0.375) / 8.25))
        .collect();
    let half = |a: usize, b: usize| {
        let mean = 0.5 * (z[a] + z[b]);
        (mean, 0.5 * (z[a] - z[b]).powi(2))
    };
    let halves = [half(0, 1), half(4, 5), half(2, 3), half(6, 7)];
    let within = halves.iter().map(|h| h.1).sum::<f64>() / 4.0;
    let centre = halves.iter().map(|h| h.0).sum::<f64>() / 4.0;
    let between = halves.iter().map(|h| (h.0 - centre).powi(2)).sum::<f64>() / 3.0;
    let expected = (0.5 + between / within).sqrt();
    // any increasing transformation has the same ranks; the folded one is smaller here
    let draws = |f: &dyn Fn(f64) -> f64| {
        let (a, b) = ([1.0, 2.0, 5.0, 6.0].map(f), [3.0, 4.0, 7.0, 8.0].map(f));
        rank_normalised_rhat(&[&a, &b]).unwrap()
    };
    assert!((draws(&|x| x) - expected).abs() < 1e-13);
    assert!(expected > 1.5);
}

#[test]
fn effective_size_of_an_autoregression() {
    for rho in [-0.4, 0.0, 0.3, 0.7, 0.9] {
        let mut noise = Noise::new(5);
        let chains: Vec<Vec<f64>> = (0..4)
            .map(|_| autoregression(&mut noise, rho, 10_000))
            .collect();
        let chains = views(&chains);
        let expected = 40_000.0 * (1.0 - rho) / (1.0 + rho);
        for found in [ess_mean(&chains).unwrap(), ess_bulk(&chains).unwrap()] {
            assert!(
                (found / expected - 1.0).abs() < 0.1,
                "rho {rho}: {found} {expected}"
            );
        }
        // standard error of the mean
        let error = mcse_mean(&chains).unwrap();
        assert!((error * expected.sqrt() - 1.0).abs() < 0.06, "rho {rho}");
        assert!(rank_normalised_rhat(&chains).unwrap() < 1.01);
    }
}

#[test]
fn quantiles_by_hand() {
    let values = [3.0, 1.0, 2.0, 10.0];
    let found = quantiles(&values, &[0.0, 0.1, 0.5, 0.9, 1.0]).unwrap();
    for (x, y) in found.iter().zip([1.0, 1.3, 2.5, 7.9, 10.0]) {
        assert!((x - y).abs() < 1e-14);
    }
    assert_eq!(quantiles(&[7.0], &[0.3]).unwrap(), [7.0]);
    assert_eq!(
        quantiles(&[-1e308, 1e308], &[0.5]).unwrap(),
        [0.0],
        "no overflow"
    );
    for value in [-0.1, 1.1, f64::NAN] {
        assert!(matches!(
            quantiles(&values, &[value]),
            Err(DiagnosticsError::Probability { .. })
        ));
        assert!(ess_quantile(&[&[0.0; 19]], value).is_err());
    }
    assert!(quantiles(&[], &[0.5]).is_err());
}

#[test]
fn chains_apart_and_constants() {
    let flat = [2.5; 20];
    for found in [
        split_rhat(&[&flat, &flat]),
        rank_normalised_rhat(&[&flat, &flat]),
        ess_mean(&[&flat]),
        ess_bulk(&[&flat]),
        ess_tail(&[&flat]),
        mcse_mean(&[&flat]),
    ] {
        assert!(found.unwrap().is_nan());
    }
    let all = summary(&[&flat, &flat]).unwrap();
    assert_eq!(
        (all.mean, all.sd, all.lower, all.median, all.upper),
        (2.5, 0.0, 2.5, 2.5, 2.5)
    );
    assert!(all.rhat.is_nan() && all.ess_bulk.is_nan() && all.mcse.is_nan());
    // a constant whose sum does not divide exactly
    let tenth = [0.1; 31];
    assert!(split_rhat(&[&tenth]).unwrap().is_nan());
    assert_eq!(summary(&[&tenth]).unwrap().sd, 0.0);
    // constant each, but apart
    let other = [3.5; 20];
    assert_eq!(split_rhat(&[&flat, &other]).unwrap(), f64::INFINITY);
    assert_eq!(
        rank_normalised_rhat(&[&flat, &other]).unwrap(),
        f64::INFINITY
    );
    let stuck = ess_mean(&[&flat, &other]).unwrap();
    assert!(stuck > 0.0 && stuck < 4.0, "{stuck}");
    // one chain of two frozen at an extreme: the folded part sees it
    let mut noise = Noise::new(1);
    let moving = autoregression(&mut noise, 0.0, 200);
    let frozen = [0.0; 200];
    assert!(rank_normalised_rhat(&[&moving, &frozen]).unwrap() > 1.3);
    // half of the draws at either value: nothing is left once folded, and 95% has no meaning
    let coin: Vec<f64> = (0..64).map(|t| f64::from(t * 7 % 13 % 2)).collect();
    assert!(rank_normalised_rhat(&[&coin]).unwrap().is_finite());
    assert!(ess_tail(&[&coin]).unwrap().is_finite());
    assert!(ess_quantile(&[&coin], 0.95).unwrap().is_nan());
}

#[test]
fn what_cannot_be_diagnosed_is_refused() {
    let none: [&[f64]; 0] = [];
    assert_eq!(split_rhat(&none), Err(DiagnosticsError::NoChains));
    assert_eq!(summary(&none), Err(DiagnosticsError::NoChains));
    assert_eq!(
        ess_bulk(&[&[0.0; 19], &[0.0; 18]]),
        Err(DiagnosticsError::UnequalLengths {
            chain: 1,
            expected: 19,
            found: 18
        })
    );
    assert_eq!(
        rank_normalised_rhat(&[&[1.0, 2.0, 3.0]]),
        Err(DiagnosticsError::TooFewDraws {
            needed: 4,
            found: 3
        })
    );
    assert_eq!(
        ess_mean(&[&[1.0; 9]]),
        Err(DiagnosticsError::TooFewDraws {
            needed: 10,
            found: 9
        })
    );
    for bad in [f64::NAN, f64::INFINITY] {
        let mut chain = [0.0; 12];
        chain[5] = bad;
        let good = [0.0; 12];
        let expected = DiagnosticsError::NotFinite { chain: 1, draw: 5 };
        assert_eq!(split_rhat(&[&good, &chain]), Err(expected));
        assert_eq!(ess_tail(&[&good, &chain]), Err(expected));
        assert_eq!(summary(&[&good, &chain]), Err(expected));
    }
    // short chains summarise as far as they go
    let one = summary(&[&[4.0]]).unwrap();
    assert_eq!((one.mean, one.median), (4.0, 4.0));
    assert!(one.sd.is_nan() && one.rhat.is_nan() && one.mcse.is_nan());
    let five = summary(&[&[1.0, 2.0, 1.5, 2.7, 0.5]]).unwrap();
    assert!(five.rhat.is_finite() && five.ess_bulk.is_nan());
    assert_eq!(
        summary(&[&[]]),
        Err(DiagnosticsError::TooFewDraws {
            needed: 1,
            found: 0
        })
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Ranks see no increasing transformation, and nothing depends on the order of the chains or their units.
    #[test]
    fn diagnostics_are_invariant(seed in 0_u64..10_000, rho in -0.8_f64..0.95, count in 1_usize..5, length in 10_usize..80) {
        let mut noise = Noise::new(seed);
        let chains: Vec<Vec<f64>> = (0..count).map(|_| autoregression(&mut noise, rho, length)).collect();
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * a.abs().max(1.0);
        let plain = summary(&views(&chains)).unwrap();
        let reversed: Vec<&[f64]> = views(&chains).into_iter().rev().collect();
        let other = summary(&reversed).unwrap();
        prop_assert!(near(plain.rhat, other.rhat) && near(plain.ess_bulk, other.ess_bulk) && near(plain.mcse, other.mcse));
        let scaled: Vec<Vec<f64>> = chains.iter().map(|c| c.iter().map(|x| 8.0 * x).collect()).collect();
        let scaled = summary(&views(&scaled)).unwrap();
        prop_assert!(near(scaled.mcse, 8.0 * plain.mcse) && near(scaled.ess_tail, plain.ess_tail) && near(scaled.rhat, plain.rhat));
        let bent: Vec<Vec<f64>> = chains.iter().map(|c| c.iter().map(|x| x.exp()).collect()).collect();
        prop_assert!(near(ess_bulk(&views(&bent)).unwrap(), plain.ess_bulk));
        let draws = (2 * (length / 2) * count) as f64;
        for size in [plain.ess_bulk, plain.ess_tail] {
            prop_assert!(size > 0.0 && size <= draws * draws.log10() * (1.0 + 1e-12));
        }
        prop_assert!(plain.lower <= plain.median && plain.median <= plain.upper);
    }
}
