//! Draws of several chains brought to one order.

use super::*;

/// Chains of noisy, shuffled copies of one set of loadings.
fn chains(
    noise: &mut Noise,
    loadings: &Mat<f64>,
    lengths: &[usize],
    spread: f64,
) -> (Vec<Vec<Mat<f64>>>, Vec<Vec<SignedPermutation>>) {
    let k = loadings.ncols();
    let mut draws = Vec::new();
    let mut shuffles = Vec::new();
    for &length in lengths {
        let mut chain = Vec::new();
        let mut chain_shuffles = Vec::new();
        for _ in 0..length {
            let shuffle = shuffled(noise, k);
            let error = noise.matrix(loadings.nrows(), k);
            let noisy = Mat::from_fn(loadings.nrows(), k, |i, j| {
                loadings[(i, j)] + spread * error[(i, j)]
            });
            chain.push(shuffle.apply(noisy.as_ref()).unwrap());
            chain_shuffles.push(shuffle);
        }
        draws.push(chain);
        shuffles.push(chain_shuffles);
    }
    (draws, shuffles)
}

fn views(draws: &[Vec<Mat<f64>>]) -> Vec<Vec<MatRef<'_, f64>>> {
    draws
        .iter()
        .map(|c| c.iter().map(Mat::as_ref).collect())
        .collect()
}

#[test]
fn shuffled_chains_end_in_one_order() {
    let mut noise = Noise::new(12);
    let loadings = noise.matrix(30, 6);
    let (draws, shuffles) = chains(&mut noise, &loadings, &[20, 0, 13, 1], 0.4);
    for pivot in [Pivot::Typical, Pivot::Draw { chain: 2, draw: 7 }] {
        let options = AlignmentOptions {
            pivot,
            ..AlignmentOptions::default()
        };
        let found = align_chains(&views(&draws), &options).unwrap();
        assert_eq!(found.outcome, AlignmentOutcome::Converged);
        // each transform undoes its shuffle, up to the order of the pivot
        let (chain, draw) = found.pivot;
        assert!(found.transforms[chain][draw].is_identity());
        let common = &shuffles[chain][draw];
        for (transforms, shuffles) in found.transforms.iter().zip(&shuffles) {
            assert_eq!(transforms.len(), shuffles.len());
            for (transform, shuffle) in transforms.iter().zip(shuffles) {
                assert_eq!(&shuffle.then(transform).unwrap(), common);
            }
        }
        let expected = common.apply(loadings.as_ref()).unwrap();
        let cosine = align_to_reference(expected.as_ref(), found.reference.as_ref()).unwrap();
        assert!(cosine.is_identity());
        assert!(found.concentration.iter().all(|&c| c > 0.85 && c < 1.0));
    }
    // identical draws agree fully
    let same = vec![vec![loadings.as_ref(); 5]];
    let found = align_chains(&same, &AlignmentOptions::default()).unwrap();
    assert!(found.concentration.iter().all(|&c| (c - 1.0).abs() < 1e-12));
    assert_eq!(found.pivot, (0, 0));
}

#[test]
fn passes_improve_on_a_poor_pivot() {
    let mut noise = Noise::new(77);
    let loadings = noise.matrix(12, 5);
    let (mut draws, _) = chains(&mut noise, &loadings, &[60], 0.5);
    draws[0][0] = noise.matrix(12, 5);
    let agreement = |max_iterations| {
        let options = AlignmentOptions {
            pivot: Pivot::Draw { chain: 0, draw: 0 },
            max_iterations,
        };
        let found = align_chains(&views(&draws), &options).unwrap();
        (
            found.concentration.iter().sum::<f64>(),
            found.iterations,
            found.outcome,
        )
    };
    let (none, zero, outcome) = agreement(0);
    assert_eq!((zero, outcome), (0, AlignmentOutcome::IterationLimit));
    let mut previous = none;
    for passes in 1..6 {
        let (now, _, _) = agreement(passes);
        assert!(now >= previous - 1e-12, "pass {passes}: {previous} {now}");
        previous = now;
    }
    assert!(previous > none + 0.5, "{none} {previous}");
    assert_eq!(agreement(50).2, AlignmentOutcome::Converged);
    // the pivot chosen is not the odd one out
    let found = align_chains(&views(&draws), &AlignmentOptions::default()).unwrap();
    assert_ne!(found.pivot, (0, 0));
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let mut noise = Noise::new(21);
    let loadings = noise.matrix(17, 4);
    let (draws, _) = chains(&mut noise, &loadings, &[9, 14], 0.8);
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.unwrap()
            .install(|| align_chains(&views(&draws), &AlignmentOptions::default()).unwrap())
    };
    let one = run(1);
    assert_eq!(one, run(2));
    assert_eq!(one, run(3));
}

#[test]
fn chains_that_cannot_be_aligned_are_refused() {
    let options = AlignmentOptions::default();
    assert_eq!(
        align_chains(&[], &options),
        Err(AlignmentError::TooFew {
            what: "draws",
            needed: 1,
            found: 0
        })
    );
    assert!(align_chains(&[vec![], vec![]], &options).is_err());
    let (a, b) = (Mat::<f64>::zeros(3, 2), Mat::<f64>::zeros(3, 1));
    assert!(matches!(
        align_chains(&[vec![a.as_ref(), b.as_ref()]], &options),
        Err(AlignmentError::Shape { .. })
    ));
    let options = AlignmentOptions {
        pivot: Pivot::Draw { chain: 0, draw: 1 },
        ..options
    };
    assert_eq!(
        align_chains(&[vec![a.as_ref()]], &options),
        Err(AlignmentError::NoSuchPivot { chain: 0, draw: 1 })
    );
    // nothing but zeros is fine
    let found = align_chains(&[vec![a.as_ref(); 3]], &AlignmentOptions::default()).unwrap();
    assert_eq!(found.concentration, [0.0, 0.0]);
    assert!(
        found.transforms[0]
            .iter()
            .all(SignedPermutation::is_identity)
    );
}
