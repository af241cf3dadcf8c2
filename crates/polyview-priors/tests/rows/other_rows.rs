//! What blocks say of rows that are not theirs, and of their priors.

use polyview_core::{
    Context, GammaPrior, Journal, NormalEquations, NumericError, RowBlock, RowContext, RowGroups,
    RowMoments, Rule, ScalePrior,
};
use polyview_linalg::{Mat, gram, sym_eigen};
use polyview_priors::{
    Ard, BetaPrior, DiagonalRows, DoubleArd, Fixed, FullRows, GroupArd, MixtureOptions,
    MixtureRows, SpikeSlab, SpikeSlabOptions, SpikeSlabRows, ThreeParameterBeta,
    ThreeParameterBetaOptions,
};
use polyview_random::StreamKey;

use crate::common::{LearnAlone as _, close, groups, start};

const ROWS: usize = 12;
const K: usize = 2;

/// A block of each kind whose scales have been learnt from its rows, and whether other
/// rows may be under its prior, whether it knows groups, and whether its rows may be turned.
fn blocks() -> Vec<(&'static str, Box<dyn RowBlock>, [bool; 3])> {
    let gamma = GammaPrior::new(3.0, 2.0);
    let spikes = SpikeSlabOptions {
        precision: Some(gamma),
        inclusion: BetaPrior { a: 3.0, b: 2.0 },
    };
    let rows = || start(ROWS, K, 7);
    let of = || groups(ROWS, 2);
    let mixture = MixtureOptions {
        components: 3,
        ..MixtureOptions::default()
    };
    let shrinkage = ThreeParameterBeta::new(ThreeParameterBetaOptions::default(), ROWS, K);
    let full = |name, prior| -> (&'static str, Box<dyn RowBlock>) {
        (name, Box::new(FullRows::new("z", prior, rows())))
    };
    let (known, ard) = (
        full("fixed", Fixed::new(vec![2.0, 0.5])),
        Ard::new(gamma, K),
    );
    let diagonal = DiagonalRows::new("z", GroupArd::new(gamma, of(), K), rows());
    let sparse = SpikeSlabRows::new("z", SpikeSlab::by_group(spikes, of(), K), rows());
    let mixed = MixtureRows::new("z", mixture, rows(), StreamKey::new(2));
    let mut out: Vec<(&'static str, Box<dyn RowBlock>, [bool; 3])> = vec![
        (known.0, known.1, [true, false, true]),
        (
            "ard",
            Box::new(FullRows::new("z", ard, rows())),
            [true, false, true],
        ),
        (
            "ard by group",
            Box::new(FullRows::new("z", GroupArd::new(gamma, of(), K), rows())),
            [true, true, false],
        ),
        ("factorised", Box::new(diagonal), [true, true, false]),
        ("sparse", Box::new(sparse), [true, true, false]),
        ("mixture", Box::new(mixed), [true, false, false]),
        (
            "relevance",
            Box::new(FullRows::new(
                "z",
                DoubleArd::new(gamma, gamma, ROWS, K),
                rows(),
            )),
            [false, false, false],
        ),
        (
            "horseshoe",
            Box::new(FullRows::new("z", shrinkage, rows())),
            [false, false, false],
        ),
    ];
    for (_, block, _) in &mut out {
        block.learn_alone();
    }
    out
}

fn at_zero(rows: usize) -> RowMoments {
    RowMoments::isotropic(Mat::zeros(rows, K), 1e-2, 0)
}

#[test]
fn other_rows_are_under_the_same_prior() {
    for (what, block, [other, by_group, _]) in blocks() {
        let of = groups(5, 2);
        let new = block.for_rows(&RowContext::new(&of), at_zero(5));
        if !other {
            assert!(
                matches!(new, Err(NumericError::Mismatch { .. })),
                "{what} has scales for each row"
            );
            continue;
        }
        let new = new.unwrap();
        assert_eq!(new.moments().explicit_rows(), 5, "{what}");
        // row r of both is of group r modulo 2
        for (r, k) in (0..5).flat_map(|r| (0..K).map(move |k| (r, k))) {
            assert_eq!(
                new.prior_variance(r, k),
                block.prior_variance(r, k),
                "{what}"
            );
        }
        let three = block.for_rows(&RowContext::new(&groups(5, 3)), at_zero(5));
        assert_eq!(three.is_err(), by_group, "{what}");
    }
}

#[test]
fn rows_that_are_drawn_have_the_variance_that_the_prior_has() {
    const MANY: usize = 40_000;
    for (what, block, [other, ..]) in blocks() {
        if !other {
            continue;
        }
        let of = RowGroups::new((0..MANY).map(|r| (r % 2) as u32).collect(), 2).unwrap();
        let mut new = block
            .for_rows(&RowContext::new(&of), at_zero(MANY))
            .unwrap();
        new.draw_rows(StreamKey::new(11));
        assert!(matches!(new.moments().cov(), polyview_core::RowCov::Zero));
        let z = new.moments().mean();
        for k in 0..K {
            for g in 0..2 {
                let own: Vec<f64> = (g..MANY).step_by(2).map(|r| z[(r, k)]).collect();
                let mean = own.iter().sum::<f64>() / own.len() as f64;
                let squares = own.iter().map(|x| (x - mean).powi(2)).sum::<f64>();
                let found = squares / own.len() as f64;
                let expected = new.prior_variance(g, k);
                // without the spread of the components' means, which are expectations
                let slack = if new.mixture().is_some() { 0.3 } else { 0.05 };
                assert!(
                    (found - expected).abs() < slack * expected,
                    "{what} {g} {k}: {found} {expected}"
                );
            }
        }
        // a second draw of the same key is the same
        let first = z.to_owned();
        new.draw_rows(StreamKey::new(11));
        assert_eq!(new.moments().mean(), first.as_ref(), "{what}");
    }
}

/// Where rows may be turned the bound does not notice; where they may not it does.
#[test]
fn rows_may_be_turned_where_the_bound_does_not_notice() {
    let symmetric = Mat::from_fn(ROWS, ROWS, |i, j| ((i * j + i + j) % 7) as f64);
    let (_, q) = sym_eigen(symmetric.as_ref()).unwrap();
    for (what, mut block, [.., turns]) in blocks() {
        assert_eq!(block.turns(), turns, "{what}");
        let mean = start(ROWS, K, 3).mean().to_owned();
        block.move_to(RowMoments::isotropic(mean.clone(), 0.3, 0));
        let before = block.bound().sum();
        block.move_to(RowMoments::isotropic(&q * &mean, 0.3, 0));
        let change = (block.bound().sum() - before).abs();
        assert_eq!(change < 1e-9 * before.abs(), turns, "{what}: {change}");
    }
}

/// Sparse rows are found from those of the Gaussian prior of the same variances.
#[test]
fn gaussian_rows_have_the_variances_of_sparse_ones() {
    for (what, block, _) in blocks() {
        let of = groups(4, 2);
        let cx = RowContext::new(&of);
        let found = block.gaussian_for_rows(&cx, at_zero(4)).unwrap();
        assert_eq!(found.is_some(), what == "sparse", "{what}");
        let Some(gaussian) = found else { continue };
        for (r, k) in (0..4).flat_map(|r| (0..K).map(move |k| (r, k))) {
            close(
                gaussian.prior_variance(r, k),
                block.prior_variance(r, k),
                1e-12,
                what,
            );
        }
        assert!(
            block
                .gaussian_for_rows(&RowContext::new(&groups(4, 3)), at_zero(4))
                .is_err()
        );
    }
}

/// Covariances of rows of new samples stay positive, whatever is surely zero, and their determinant is theirs.
#[test]
fn an_entry_that_is_surely_zero_leaves_its_row_a_precision() {
    let mut prior = SpikeSlab::by_group(SpikeSlabOptions::default(), groups(ROWS, 2), K);
    for g in 0..2 {
        // inclusion of the second column has log odds about -1000
        prior.betas_mut().set(g + 2, 1e-3, 1.0);
    }
    let block = SpikeSlabRows::new("z", prior, start(ROWS, K, 7));
    let of = groups(4, 2);
    let mut new = (block.for_rows(&RowContext::new(&of), at_zero(4))).unwrap();
    let mut eq = NormalEquations::new(K, 0..4);
    let data = Mat::from_fn(K, K, |i, j| if i == j { 2.0 } else { 0.3 });
    eq.gram = gram(data.as_ref());
    for r in 0..4 {
        eq.rhs[(r, 0)] = 8.0;
        eq.rhs[(r, 1)] = 0.1;
    }
    let mut cx = Context {
        key: StreamKey::new(1),
        sweep: 1,
        journal: &mut Journal::default(),
    };
    new.prepare(&eq, &mut cx).unwrap();
    new.update(&mut eq, Rule::Optimum, &mut cx).unwrap();
    let moments = new.moments();
    for r in 0..4 {
        assert_eq!(moments.mean()[(r, 1)], 0.0);
        assert!(moments.mean()[(r, 0)] > 0.4 && moments.variance(r, 1) > 0.0);
    }
    let mut again = moments.clone();
    again.refresh_log_det("z").unwrap();
    close(again.log_det(), moments.log_det(), 1e-9, "log determinant");
}

#[test]
fn blocks_answer_for_what_they_alone_know() {
    for (what, block, _) in blocks() {
        assert_eq!(block.relevance().is_some(), what == "relevance", "{what}");
        assert_eq!(block.inclusion().is_some(), what == "sparse", "{what}");
        assert_eq!(block.mixture().is_some(), what == "mixture", "{what}");
        assert_eq!(block.learns(), what != "fixed", "{what}");
        let several = ["sparse", "mixture"].contains(&what);
        assert_eq!(block.has_one_optimum(), !several, "{what}");
    }
    let prior = GammaPrior::new(3.0, 2.0);
    let double = DoubleArd::new(prior, prior, ROWS, K);
    assert_eq!(double.relevance().unwrap().len(), ROWS);
}
