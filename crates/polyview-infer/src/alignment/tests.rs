use super::assignment::best_assignment;
use super::*;
use crate::rotation::test_noise::Noise;
use polyview_linalg::faer::mat;
use polyview_linalg::{Mat, MatRef};
use proptest::prelude::*;

fn permutations(n: usize) -> Vec<Vec<usize>> {
    if n == 0 {
        return vec![vec![]];
    }
    permutations(n - 1)
        .into_iter()
        .flat_map(|p| {
            (0..n).map(move |at| {
                let mut p = p.clone();
                p.insert(at, n - 1);
                p
            })
        })
        .collect()
}

fn total(score: MatRef<'_, f64>, of: &[Option<usize>]) -> f64 {
    of.iter()
        .enumerate()
        .filter_map(|(r, c)| c.map(|c| score[(r, c)]))
        .sum()
}

fn is_one_to_one(of: &[Option<usize>], columns: usize) -> bool {
    let mut seen = vec![false; columns];
    of.iter()
        .flatten()
        .all(|&c| !std::mem::replace(&mut seen[c], true))
}

#[test]
fn assignment_equals_brute_force() {
    let mut noise = Noise::new(4);
    for (rows, columns) in [
        (1, 1),
        (2, 2),
        (3, 3),
        (4, 4),
        (6, 6),
        (2, 5),
        (5, 2),
        (4, 6),
        (6, 4),
        (1, 6),
    ] {
        for round in 0..20 {
            // every other round has many ties
            let score = Mat::from_fn(rows, columns, |_, _| {
                let x = noise.normal();
                if round % 2 == 0 { x } else { x.round() }
            });
            let of = best_assignment(score.as_ref()).unwrap();
            assert!(is_one_to_one(&of, columns));
            assert_eq!(of.iter().flatten().count(), rows.min(columns));
            let wide = if rows <= columns {
                score.clone()
            } else {
                score.transpose().to_owned()
            };
            let best = permutations(wide.ncols())
                .iter()
                .map(|p| (0..wide.nrows()).map(|r| wide[(r, p[r])]).sum::<f64>())
                .fold(f64::NEG_INFINITY, f64::max);
            assert!(
                (total(score.as_ref(), &of) - best).abs() < 1e-12,
                "{rows} x {columns}: {of:?}"
            );
        }
    }
}

#[test]
fn assignment_of_equals_is_in_order_and_of_extremes_is_valid() {
    let equal = Mat::<f64>::from_fn(4, 4, |_, _| 0.5);
    let expected: Vec<_> = (0..4).map(Some).collect();
    assert_eq!(best_assignment(equal.as_ref()).unwrap(), expected);
    let huge = Mat::<f64>::from_fn(5, 5, |i, j| if (i + j) % 2 == 0 { 1e308 } else { -1e308 });
    assert!(is_one_to_one(&best_assignment(huge.as_ref()).unwrap(), 5));
    assert!(
        best_assignment(Mat::<f64>::zeros(0, 3).as_ref())
            .unwrap()
            .is_empty()
    );
    assert_eq!(
        best_assignment(Mat::<f64>::zeros(2, 0).as_ref()).unwrap(),
        [None, None]
    );
    let bad = mat![[0.0, f64::NAN]];
    assert_eq!(
        best_assignment(bad.as_ref()),
        Err(AlignmentError::NotFinite {
            what: "score",
            row: 0,
            column: 1
        })
    );
}

fn shuffled(noise: &mut Noise, k: usize) -> SignedPermutation {
    let mut of: Vec<usize> = (0..k).collect();
    for i in (1..k).rev() {
        of.swap(i, (noise.uniform() * (i + 1) as f64) as usize);
    }
    let sign = (0..k)
        .map(|_| if noise.uniform() < 0.5 { -1.0 } else { 1.0 })
        .collect();
    SignedPermutation::new(of, sign).unwrap()
}

/// This first, then `next`.
fn then(first: &SignedPermutation, next: &SignedPermutation) -> SignedPermutation {
    let of = next.order().iter().map(|&k| first.order()[k]).collect();
    let signs = next.order().iter().zip(next.signs());
    let sign = signs.map(|(&k, sign)| sign * first.signs()[k]).collect();
    SignedPermutation::new(of, sign).unwrap()
}

#[test]
fn signed_permutations_follow_one_another() {
    let mut noise = Noise::new(9);
    for k in [0, 1, 2, 5, 8] {
        let (a, b) = (shuffled(&mut noise, k), shuffled(&mut noise, k));
        let x = noise.matrix(3, k);
        let both = b.apply(a.apply(x.as_ref()).unwrap().as_ref()).unwrap();
        assert_eq!(then(&a, &b).apply(x.as_ref()).unwrap(), both);
    }
    let two = SignedPermutation::new(vec![0, 1], vec![1.0, 1.0]).unwrap();
    assert!(two.is_identity());
    assert_eq!(
        SignedPermutation::new(vec![0, 0], vec![1.0, 1.0]),
        Err(AlignmentError::NoPermutation { position: 1 })
    );
    assert_eq!(
        SignedPermutation::new(vec![2, 0], vec![1.0, 1.0]),
        Err(AlignmentError::NoPermutation { position: 0 })
    );
    assert_eq!(
        SignedPermutation::new(vec![1, 0], vec![1.0, 0.5]),
        Err(AlignmentError::NoPermutation { position: 1 })
    );
    assert!(SignedPermutation::new(vec![0], vec![]).is_err());
    assert!(two.apply(noise.matrix(2, 3).as_ref()).is_err());
}

#[test]
fn a_shuffled_draw_is_brought_back() {
    let mut noise = Noise::new(30);
    for k in [1, 2, 3, 7, 15] {
        for scale in [1.0, 1e-200, 1e200] {
            let reference = noise.matrix(2 * k + 5, k);
            let shuffle = shuffled(&mut noise, k);
            let mut draw = shuffle.apply(reference.as_ref()).unwrap();
            for j in 0..k {
                for i in 0..draw.nrows() {
                    draw[(i, j)] = (draw[(i, j)] + 0.05 * noise.normal()) * scale;
                }
            }
            let found = align_to_reference(reference.as_ref(), draw.as_ref()).unwrap();
            assert!(then(&shuffle, &found).is_identity(), "k {k}");
        }
    }
}

#[test]
fn columns_of_zeros_and_ties_are_deterministic() {
    // factor 1 of the reference is pruned, factor 2 of the draw
    let reference = mat![[1.0, 0.0, 0.0, 2.0], [0.0, 0.0, 1.0, 2.0]];
    let draw = mat![[0.0, -1.0, 0.0, 3.0], [-2.0, 0.0, 0.0, 2.0]];
    let found = align_to_reference(reference.as_ref(), draw.as_ref()).unwrap();
    assert_eq!(found.order(), [1, 2, 0, 3]);
    assert_eq!(found.signs(), [-1.0, 1.0, -1.0, 1.0]);
    // all zeros: nothing moves
    let zero = Mat::<f64>::zeros(5, 4);
    let none = align_to_reference(zero.as_ref(), zero.as_ref()).unwrap();
    assert!(none.is_identity());
    // one factor is only reflected
    let one = mat![[-1.0], [3.0]];
    let other = mat![[2.0], [-5.0]];
    let found = align_to_reference(one.as_ref(), other.as_ref()).unwrap();
    assert_eq!((found.order(), found.signs()), (&[0][..], &[-1.0][..]));
    // no factor at all
    let empty = Mat::<f64>::zeros(5, 0);
    let none = align_to_reference(empty.as_ref(), empty.as_ref()).unwrap();
    assert_eq!(none.factors(), 0);
    // two equal columns: in order
    let twin = mat![[1.0, 1.0], [2.0, 2.0]];
    let found = align_to_reference(twin.as_ref(), twin.as_ref()).unwrap();
    assert!(found.is_identity());
    assert!(matches!(
        align_to_reference(twin.as_ref(), one.as_ref()),
        Err(AlignmentError::Shape { .. })
    ));
    let bad = mat![[1.0, f64::INFINITY], [2.0, 2.0]];
    assert_eq!(
        align_to_reference(twin.as_ref(), bad.as_ref()),
        Err(AlignmentError::NotFinite {
            what: "draw",
            row: 0,
            column: 1
        })
    );
}

/// Every pattern of pruned factors, in every order: what has a partner finds it, the rest moves as little as possible.
#[test]
fn pruned_factors_stay_where_they_can() {
    let k = 4;
    for used in 0..1 << k {
        for order in permutations(k) {
            // column c of the draw is factor order[c], or zeros if that is pruned
            let reference = Mat::from_fn(k, k, |i, j| {
                if i == j && used >> j & 1 == 1 {
                    1.0
                } else {
                    0.0
                }
            });
            let draw = Mat::from_fn(k, k, |i, c| reference[(i, order[c])]);
            let found = align_to_reference(reference.as_ref(), draw.as_ref()).unwrap();
            let pruned = |j: usize| used >> j & 1 == 0;
            let mut rest = (0..k).filter(|&c| pruned(order[c]) && !pruned(c));
            for (r, &c) in found.order().iter().enumerate() {
                let expected = if !pruned(r) {
                    order.iter().position(|&j| j == r)
                } else if pruned(order[r]) {
                    Some(r)
                } else {
                    rest.next()
                };
                assert_eq!(Some(c), expected, "{used:b} {order:?}");
            }
            assert_eq!(found.signs(), [1.0; 4]);
        }
    }
}

#[test]
fn restarts_agree_or_not() {
    let mut noise = Noise::new(14);
    let a = noise.matrix(40, 3);
    let b = shuffled(&mut noise, 3).apply(a.as_ref()).unwrap();
    // the same factors and one more that is pruned
    let c = Mat::from_fn(40, 4, |i, j| if j == 1 { 0.0 } else { a[(i, j.min(2))] });
    let same = stability(&[a.as_ref(), b.as_ref()]).unwrap();
    assert!((same.mean - 1.0).abs() < 1e-12 && same.pairwise[(0, 1)] == same.pairwise[(1, 0)]);
    assert_eq!(same.pairwise[(0, 0)], 1.0);
    let fewer = stability(&[a.as_ref(), a.subcols(0, 2), b.as_ref()]).unwrap();
    assert!((fewer.pairwise[(0, 1)] - 2.0 / 3.0).abs() < 1e-12);
    assert!((fewer.mean - (2.0 / 3.0 + 1.0 + 2.0 / 3.0) / 3.0).abs() < 1e-12);
    let pruned = stability(&[c.as_ref(), c.subcols(2, 2)]).unwrap();
    assert!(pruned.mean < 0.8);
    let zero = Mat::<f64>::zeros(40, 2);
    let none = stability(&[zero.as_ref(), zero.as_ref()]).unwrap();
    assert_eq!(none.mean, 1.0);
    assert_eq!(stability(&[zero.as_ref(), a.as_ref()]).unwrap().mean, 0.0);
    assert_eq!(
        stability(&[a.as_ref()]),
        Err(AlignmentError::TooFew {
            what: "runs",
            needed: 2,
            found: 1
        })
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Shuffling the draw shuffles the answer and nothing else, and no other order is better.
    #[test]
    fn alignment_follows_the_draw(k in 1_usize..6, seed in 0_u64..10_000) {
        let mut noise = Noise::new(seed);
        let (reference, draw) = (noise.matrix(9, k), noise.matrix(9, k));
        let found = align_to_reference(reference.as_ref(), draw.as_ref()).unwrap();
        let shuffle = shuffled(&mut noise, k);
        let again = align_to_reference(reference.as_ref(), shuffle.apply(draw.as_ref()).unwrap().as_ref()).unwrap();
        prop_assert_eq!(&then(&shuffle, &again), &found);
        let cosine = |r: usize, c: usize| {
            let (a, b) = (reference.col(r), draw.col(c));
            (a.transpose() * b).abs() / (a.norm_l2() * b.norm_l2())
        };
        let value = |of: &[usize]| of.iter().enumerate().map(|(r, &c)| cosine(r, c)).sum::<f64>();
        for other in permutations(k) {
            prop_assert!(value(found.order()) >= value(&other) - 1e-12);
        }
    }
}
