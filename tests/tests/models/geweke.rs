//! Gibbs against the prior, see [`polyview_tests::geweke`].

use polyview_core::{Bias, GammaPrior, RowBlock, RowGroups, RowMoments, Schedule, View};
use polyview_infer::{Model, ViewPart};
use polyview_likelihoods::{
    CategoricalProbit, CategoricalProbitOptions, Gaussian, GaussianOptions, MissingData, NoiseBy,
};
use polyview_linalg::Mat;
use polyview_priors::{
    Ard, BetaPrior, DiagonalRows, Fixed, FullRows, GlobalScale, GroupArd, SpikeSlab,
    SpikeSlabOptions, SpikeSlabRows, ThreeParameterBeta, ThreeParameterBetaOptions,
};
use polyview_tests::categorical::view_of_codes;
use polyview_tests::geweke::{largest_change, largest_score};
use polyview_tests::{Holes, weights};

const SAMPLES: usize = 6;
const FEATURES: [usize; 2] = [4, 3];
const K: usize = 2;

fn holes(pattern: Holes, n: usize, d: usize) -> bool {
    match pattern {
        Holes::None => false,
        Holes::Rows(_) => n == 2 || n == 4,
        Holes::Cells(_) => (n * 3 + d * 5).is_multiple_of(4),
    }
}

fn build(pattern: Holes, noise: NoiseBy, missing: MissingData, relevance: bool) -> Model {
    let parts = FEATURES
        .iter()
        .enumerate()
        .map(|(m, &d)| {
            let pattern = if m == 0 { pattern } else { Holes::None };
            let values = Mat::from_fn(SAMPLES, d, |n, j| {
                if holes(pattern, n, j) { f64::NAN } else { 0.1 }
            });
            let names = (0..d).map(|j| j.to_string()).collect();
            let view = View::from_values(format!("v{m}"), names, values).expect("finite");
            let options = GaussianOptions {
                noise,
                prior: GammaPrior::new(4.0, 3.0),
                missing,
                start: 1.0,
            };
            ViewPart {
                name: format!("v{m}"),
                term: Box::new(Gaussian::new(view, options)),
                weights: weights(
                    format!("weights/v{m}"),
                    GammaPrior::new(4.0, 4.0),
                    relevance.then_some(GammaPrior::new(5.0, 3.0)),
                    RowMoments::point(Mat::zeros(d, K)),
                ),
                bias: Bias::gaussian(d, 0, 2.0),
            }
        })
        .collect::<Vec<_>>();
    assemble(parts)
}

fn assemble(parts: Vec<ViewPart>) -> Model {
    let factors = FullRows::new(
        "factors",
        Fixed::standard_normal(K),
        RowMoments::point(Mat::zeros(SAMPLES, K)),
    );
    let schedule = Schedule::standard(parts.len());
    Model::new(Box::new(factors), parts, schedule)
}

/// One real view and one of three classes.
fn build_classes(missing: MissingData, with_holes: bool) -> Model {
    let codes: Vec<f64> = (0..SAMPLES)
        .map(|n| match n {
            1 | 4 if with_holes => f64::NAN,
            _ => (n % 3) as f64,
        })
        .collect();
    let options = CategoricalProbitOptions {
        missing,
        ..CategoricalProbitOptions::default()
    };
    let Model { mut views, .. } = build(Holes::None, NoiseBy::View, MissingData::Marginal, false);
    views.truncate(1);
    views.push(ViewPart {
        name: "c".into(),
        term: Box::new(
            CategoricalProbit::new(&view_of_codes("c", &codes, 3), options).expect("three classes"),
        ),
        weights: Box::new(FullRows::new(
            "weights/c",
            Ard::new(GammaPrior::new(4.0, 4.0), K),
            RowMoments::point(Mat::zeros(3, K)),
        )),
        bias: Bias::gaussian(3, 0, 2.0),
    });
    assemble(views)
}

#[test]
fn gibbs_leaves_the_joint_distribution_alone() {
    for (pattern, noise, missing) in [
        (Holes::None, NoiseBy::View, MissingData::Marginal),
        (Holes::Rows(0.0), NoiseBy::Feature, MissingData::Marginal),
        (Holes::Cells(0.0), NoiseBy::View, MissingData::Marginal),
        (Holes::Cells(0.0), NoiseBy::Feature, MissingData::Impute),
    ] {
        let score = largest_score(build(pattern, noise, missing, false), 6000, 3);
        assert!(score < 4.5, "{pattern:?} {noise:?} {missing:?}: {score}");
    }
}

#[test]
fn so_it_does_with_relevances() {
    for (pattern, noise) in [
        (Holes::None, NoiseBy::View),
        (Holes::Rows(0.0), NoiseBy::Feature),
        (Holes::Cells(0.0), NoiseBy::View),
    ] {
        let score = largest_score(build(pattern, noise, MissingData::Marginal, true), 6000, 5);
        assert!(score < 4.5, "{pattern:?} {noise:?}: {score}");
    }
}

#[test]
fn classes_too() {
    for (missing, holes) in [
        (MissingData::Marginal, false),
        (MissingData::Marginal, true),
        (MissingData::Impute, true),
    ] {
        let score = largest_score(build_classes(missing, holes), 6000, 5);
        assert!(score < 4.5, "{missing:?} {holes}: {score}");
    }
}

/// Spike-and-slab weights; factors of two groups of samples.
fn build_sparse(
    pattern: Holes,
    noise: NoiseBy,
    factors: fn(RowGroups) -> Box<dyn RowBlock>,
) -> Model {
    let Model {
        mut views,
        schedule,
        ..
    } = build(pattern, noise, MissingData::Marginal, false);
    for (v, d) in views.iter_mut().zip(FEATURES) {
        v.weights = Box::new(SpikeSlabRows::new(
            format!("weights/{}", v.name),
            SpikeSlab::new(sparse(), d, K),
            RowMoments::point(Mat::zeros(d, K)),
        ));
    }
    let groups = RowGroups::new((0..SAMPLES).map(|n| (n % 2) as u32).collect(), 2);
    Model::new(factors(groups.expect("two groups")), views, schedule)
}

fn sparse() -> SpikeSlabOptions {
    SpikeSlabOptions {
        precision: Some(GammaPrior::new(5.0, 4.0)),
        inclusion: BetaPrior::new(2.0, 1.5),
    }
}

fn at_zero() -> RowMoments {
    RowMoments::point(Mat::zeros(SAMPLES, K))
}

#[test]
fn sparse_weights_and_grouped_factors_too() {
    let diagonal: fn(RowGroups) -> Box<dyn RowBlock> = |_| {
        let prior = Fixed::standard_normal(K);
        Box::new(DiagonalRows::new("factors", prior, at_zero()))
    };
    let grouped: fn(RowGroups) -> Box<dyn RowBlock> = |groups| {
        let prior = GroupArd::new(GammaPrior::new(6.0, 5.0), groups, K);
        Box::new(FullRows::new("factors", prior, at_zero()))
    };
    let sparse: fn(RowGroups) -> Box<dyn RowBlock> = |groups| {
        let prior = SpikeSlab::by_group(sparse(), groups, K);
        Box::new(SpikeSlabRows::new("factors", prior, at_zero()))
    };
    for (i, (factors, pattern, noise)) in [
        (diagonal, Holes::None, NoiseBy::Feature),
        (grouped, Holes::Rows(0.0), NoiseBy::Feature),
        (sparse, Holes::Rows(0.0), NoiseBy::View),
        (sparse, Holes::Cells(0.0), NoiseBy::Feature),
    ]
    .into_iter()
    .enumerate()
    {
        let score = largest_score(build_sparse(pattern, noise, factors), 6000, 5);
        assert!(score < 4.5, "{i} {pattern:?} {noise:?}: {score}");
    }
}

/// spec/maxmargin-rank 4.4, on rows of both families. Half-Cauchy scales are
/// too heavy-tailed for a long chain.
#[test]
fn horseshoe_weights_too() {
    for (i, (global, r, s, diagonal)) in [
        (GlobalScale::Column, 0.5, 0.5, false),
        (GlobalScale::Row, 0.5, 0.5, true),
        (GlobalScale::Column, 1.5, 2.0, true),
        (GlobalScale::All, 0.8, 1.2, false),
    ]
    .into_iter()
    .enumerate()
    {
        let Model {
            mut views,
            schedule,
            factors,
            ..
        } = build(
            if i == 2 {
                Holes::Cells(0.0)
            } else {
                Holes::None
            },
            NoiseBy::Feature,
            MissingData::Marginal,
            false,
        );
        for (v, d) in views.iter_mut().zip(FEATURES) {
            let options = ThreeParameterBetaOptions { r, s, global };
            let prior = ThreeParameterBeta::new(options, d, K);
            let (name, at) = (
                format!("weights/{}", v.name),
                RowMoments::point(Mat::zeros(d, K)),
            );
            v.weights = if diagonal {
                Box::new(DiagonalRows::new(name, prior, at))
            } else {
                Box::new(FullRows::new(name, prior, at))
            };
        }
        let model = Model::new(factors, views, schedule);
        let score = largest_change(model, 6000, 2, 5);
        assert!(score < 4.5, "{i}: {score}");
    }
}
