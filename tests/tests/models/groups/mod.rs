//! Sample groups with noise and intercepts of their own (spec/mofa B.1, B.2,
//! C.3): the law, monotone bounds, draws, and one group against none.

mod reductions;

use polyview_core::{
    Bias, Block, Context, DataError, GammaPrior, Journal, PatternTable, Predictor, RowGroups,
    RowMoments, Schedule, State, View, ViewTerm,
};
use polyview_infer::{Audit, Model, PruneRule, VbOptions, VbRun};
use polyview_likelihoods::{Gaussian, GaussianOptions, GroupNoise, Grouped, MissingData, NoiseBy};
use polyview_linalg::Mat;
use polyview_priors::{Fixed, FullRows, GroupArd, SpikeSlab, SpikeSlabOptions, SpikeSlabRows};
use polyview_random::StreamKey;
use polyview_tests::geweke::largest_score;
use polyview_tests::law::{K, gap_with, rows};
use polyview_tests::mixed::{MixedView, Species};
use polyview_tests::{Holes, assemble, normal};
use proptest::prelude::*;

const SPECIES: [Species; 9] = [
    Species::Real(NoiseBy::View),
    Species::Real(NoiseBy::Feature),
    Species::Labels,
    Species::Svm,
    Species::Probit,
    Species::Counts,
    Species::Latent(NoiseBy::View),
    Species::Latent(NoiseBy::Feature),
    Species::Classes,
];

/// Groups that take turns, uneven in size.
fn groups(samples: usize, count: usize) -> RowGroups {
    let of = |n: usize| ((n * n + n / 2) % count) as u32;
    RowGroups::new((0..samples).map(of).collect(), count).expect("numbers below the count")
}

fn mixed(species: Species, holes: Holes, missing: MissingData) -> MixedView {
    MixedView {
        holes,
        missing,
        ..MixedView::new(species, 4)
    }
}

/// Brings local variables and noise somewhere else than where they start.
fn moved(term: &mut dyn ViewTerm, bias: &Bias) {
    let shape = term.shape();
    let (z, w) = (rows(shape.samples, 6), rows(shape.predictor_columns, 7));
    let p = Predictor {
        factors: &z,
        weights: &w,
        bias,
    };
    let mut journal = Journal::default();
    let mut cx = Context {
        key: StreamKey::new(1),
        sweep: 2,
        journal: &mut journal,
    };
    term.refresh(&p, &mut cx).expect("finite");
    if let Some(noise) = term.as_noise_mut() {
        noise
            .update(0..shape.predictor_columns, &p)
            .expect("finite");
    }
}

#[test]
fn terms_in_groups_obey_the_law() {
    let z = normal(11, 2, &mut StreamKey::new(3).rng());
    for species in SPECIES {
        for (holes, missing) in [
            (Holes::None, MissingData::Marginal),
            (Holes::Rows(0.4), MissingData::Marginal),
            (Holes::Cells(0.3), MissingData::Marginal),
            (Holes::Cells(0.3), MissingData::Impute),
        ] {
            let view = mixed(species, holes, missing);
            let data = view.data("v", &z, 5);
            let columns = if species == Species::Classes {
                view.columns
            } else {
                data.n_features()
            };
            for (count, noise, own, patterns) in [
                (1, GroupNoise::Own, true, true),
                (3, GroupNoise::Own, true, true),
                (3, GroupNoise::Own, false, false),
                (3, GroupNoise::Shared, true, true),
            ] {
                let groups = groups(11, count);
                let bias = if own {
                    Bias::by_group(columns, groups.clone(), 1.0)
                } else {
                    Bias::gaussian(columns, 0, 1.0)
                };
                let mut term = view.grouped(&data, &groups, noise, 2);
                moved(term.as_mut(), &bias);
                let table = patterns.then(|| {
                    let present = |n: usize, _| match term.mask() {
                        Some(polyview_core::Mask::Rows(r)) => r[n],
                        _ => true,
                    };
                    PatternTable::by_group(11, 1, present, |n| groups.of_row()[n])
                });
                let gap = gap_with(term.as_mut(), table, bias);
                assert!(
                    gap < 2e-6,
                    "{species:?} {holes:?} {missing:?} {count} {noise:?} {own}: {gap:e}"
                );
            }
        }
    }
}

/// Patterns of other groups than those of the term are not used.
#[test]
fn patterns_of_other_groups_do_no_harm() {
    let view = mixed(
        Species::Real(NoiseBy::Feature),
        Holes::None,
        MissingData::Marginal,
    );
    let data = view.data("v", &normal(9, 2, &mut StreamKey::new(3).rng()), 5);
    let mut term = view.grouped(&data, &groups(9, 3), GroupNoise::Own, 2);
    let bias = Bias::absent(4);
    moved(term.as_mut(), &bias);
    let table = PatternTable::by_group(9, 1, |_, _| true, |n| (n % 2) as u32);
    let gap = gap_with(term.as_mut(), Some(table), bias);
    assert!(gap < 1e-6, "{gap:e}");
}

fn audited(sweeps: usize) -> VbOptions {
    VbOptions {
        max_sweeps: sweeps,
        tolerance: 1e-300,
        audit: Audit::Blocks,
        prune: PruneRule::never(),
        ..VbOptions::default()
    }
}

/// How a model's samples are in groups.
#[derive(Clone, Copy, Debug)]
struct InGroups {
    count: usize,
    noise: GroupNoise,
    intercepts: bool,
    factors: usize,
}

fn model(views: &[(MixedView, View)], start: Mat<f64>, how: InGroups, one_for_all: bool) -> Model {
    let (n, k) = (start.nrows(), start.ncols());
    let groups = groups(n, how.count);
    let parts = views
        .iter()
        .map(|(v, data)| {
            if one_for_all {
                v.part(data, 2, k)
            } else {
                v.grouped_part(data, &groups, (how.noise, how.intercepts), 2, k)
            }
        })
        .collect();
    if how.factors == 0 {
        return assemble(parts, start);
    }
    let moments = RowMoments::isotropic(start, 1e-2, 0);
    let prior = GammaPrior::new(1.3, 0.8);
    let schedule = Schedule::standard(views.len());
    if how.factors == 1 {
        let rows = FullRows::new("factors", GroupArd::new(prior, groups, k), moments);
        Model::new(Box::new(rows), parts, schedule)
    } else {
        let options = SpikeSlabOptions {
            precision: Some(prior),
            ..SpikeSlabOptions::default()
        };
        let rows = SpikeSlabRows::new("factors", SpikeSlab::by_group(options, groups, k), moments);
        Model::new(Box::new(rows), parts, schedule)
    }
}

fn holes() -> impl Strategy<Value = Holes> {
    prop_oneof![
        Just(Holes::None),
        (0.1f64..0.6).prop_map(Holes::Rows),
        (0.05f64..0.6).prop_map(Holes::Cells),
    ]
}

fn any_view() -> impl Strategy<Value = MixedView> {
    (
        (0usize..SPECIES.len()).prop_map(|i| SPECIES[i]),
        2usize..7,
        holes(),
        prop_oneof![Just(MissingData::Marginal), Just(MissingData::Impute)],
        prop_oneof![Just(None), Just(Some(1.0)), Just(Some(0.01))],
        any::<bool>(),
    )
        .prop_map(
            |(species, columns, holes, missing, bias, relevance)| MixedView {
                holes,
                missing,
                bias,
                relevance,
                ..MixedView::new(species, columns)
            },
        )
}

fn any_groups() -> impl Strategy<Value = InGroups> {
    (
        2usize..5,
        prop_oneof![Just(GroupNoise::Own), Just(GroupNoise::Shared)],
        any::<bool>(),
        0usize..3,
    )
        .prop_map(|(count, noise, intercepts, factors)| InGroups {
            count,
            noise,
            intercepts,
            factors,
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]
    /// spec/mofa C.3 (b): every species, in groups, with every prior of the
    /// factors.
    #[test]
    fn no_block_lowers_the_bound(
        views in prop::collection::vec(any_view(), 1..4),
        how in any_groups(),
        samples in 5usize..25,
        k in 1usize..4,
        seed in any::<u64>(),
    ) {
        let key = StreamKey::new(seed);
        let z = normal(samples, 2, &mut key.rng());
        let views: Vec<(MixedView, View)> = views
            .into_iter()
            .enumerate()
            .map(|(m, v)| (v, v.data(&format!("v{m}"), &z, seed.wrapping_add(m as u64))))
            .collect();
        let start = normal(samples, k, &mut key.block(1).rng());
        let model = model(&views, start, how, false);
        let mut run = VbRun::new(model, audited(10), key, Journal::default());
        let mut last = f64::NEG_INFINITY;
        for _ in 0..10 {
            let bound = run.sweep().map_err(|e| TestCaseError::fail(e.to_string()))?.bound;
            prop_assert!(bound >= last - 1e-9 * last.abs().max(1.0), "{bound} after {last}");
            last = bound;
        }
    }
}

/// A saved term gives the same bound and predictions, and new data of one
/// group see that group's parameters.
#[test]
fn terms_are_saved_and_bound_to_other_data() {
    let z = normal(14, 2, &mut StreamKey::new(3).rng());
    for species in SPECIES {
        let view = mixed(species, Holes::Cells(0.2), MissingData::Marginal);
        let data = view.data("v", &z, 5);
        let groups = groups(14, 3);
        let bias = Bias::by_group(4, groups.clone(), 1.0);
        let mut term = view.grouped(&data, &groups, GroupNoise::Own, 2);
        moved(term.as_mut(), &bias);
        let mut state = State::new();
        term.save("t", &mut state);
        let mut again = view.grouped(&data, &groups, GroupNoise::Own, 2);
        again.load("t", &state.reader()).expect("its own state");
        let (z, w) = (rows(14, 1), rows(4, 2));
        let p = Predictor {
            factors: &z,
            weights: &w,
            bias: &bias,
        };
        assert_eq!(again.bound(&p).sum(), term.bound(&p).sum(), "{species:?}");
        let all = term.law(&p, &Block::new(0..14, 0..4)).means();
        // classes are one column of the data
        let part = match species {
            Species::Classes => 0..4,
            _ => 1..3,
        };
        let few = all.as_ref().submatrix(5, part.start, 4, part.len());
        let part = term.law(&p, &Block::new(5..9, part)).means();
        let gap = (&part - few).norm_max();
        assert!(gap < 1e-12 * all.norm_max(), "{species:?}: {gap:e}");
        // parameters alone, then the samples of group 1
        let none = view.data("v", &Mat::zeros(0, 2), 5);
        let mut bare = term.rebind(&none);
        assert!(bare.is_err(), "samples without groups");
        let mut empty = view.grouped(
            &none,
            &RowGroups::new(vec![], 3).expect("three"),
            GroupNoise::Own,
            2,
        );
        state.drop_local();
        empty.load("t", &state.reader()).expect("parameters");
        let members = groups.rows_of_groups()[1].clone();
        let placed = RowGroups::new(vec![1; members.len()], 3).expect("three");
        empty.as_by_group().expect("groups").place(&placed);
        let few = data.subset("v", &members);
        bare = empty.rebind(&few);
        let bare = bare.expect("as many groups as samples");
        let (some, mut bias) = (z.subset(&members), bias.clone());
        bias.set_groups(&placed);
        let p = Predictor {
            factors: &some,
            weights: &w,
            bias: &bias,
        };
        for found in [
            bare.law(&p, &Block::new(0..members.len(), 0..4)).means(),
            empty.law(&p, &Block::new(0..members.len(), 0..4)).means(),
        ] {
            for (i, &n) in members.iter().enumerate() {
                for d in 0..4 {
                    let gap = (found[(i, d)] - all[(n as usize, d)]).abs();
                    assert!(gap < 1e-12 * all.norm_max(), "{species:?}: {gap:e}");
                }
            }
        }
    }
}

/// Gibbs in groups leaves the joint distribution alone.
#[test]
fn gibbs_in_groups_leaves_the_joint_distribution_alone() {
    const N: usize = 7;
    for (species, holes, noise, intercepts) in [
        (
            Species::Real(NoiseBy::Feature),
            Holes::None,
            GroupNoise::Own,
            true,
        ),
        (
            Species::Real(NoiseBy::View),
            Holes::Cells(0.3),
            GroupNoise::Own,
            false,
        ),
        (
            Species::Real(NoiseBy::Feature),
            Holes::Rows(0.3),
            GroupNoise::Shared,
            true,
        ),
        (Species::Labels, Holes::Cells(0.2), GroupNoise::Own, true),
    ] {
        let view = MixedView {
            holes,
            bias: Some(2.0),
            ..MixedView::new(species, 3)
        };
        let z = Mat::zeros(N, 2);
        let data = view.data("v", &z, 5);
        let groups = groups(N, 2);
        let mut part = view.grouped_part(&data, &groups, (noise, intercepts), 1, 2);
        if matches!(species, Species::Real(_)) {
            // heavier tails than these make the statistics wild
            let Species::Real(by) = species else { continue };
            let options = GaussianOptions {
                noise: by,
                prior: GammaPrior::new(4.0, 3.0),
                ..GaussianOptions::default()
            };
            let make = |v: View| {
                let term: Box<dyn ViewTerm> = Box::new(Gaussian::new(v, options));
                Ok::<_, polyview_core::DataError>(term)
            };
            let name = |g: usize| g.to_string();
            part.term =
                Box::new(Grouped::new(&data, groups.clone(), noise, name, make).expect("a term"));
        }
        part.weights = polyview_tests::weights(
            "weights/v".into(),
            GammaPrior::new(4.0, 4.0),
            None,
            RowMoments::point(Mat::zeros(3, 2)),
        );
        let factors = FullRows::new(
            "factors",
            Fixed::standard_normal(2),
            RowMoments::point(Mat::zeros(N, 2)),
        );
        let model = Model::new(Box::new(factors), vec![part], Schedule::standard(1));
        let score = largest_score(model, 6000, 5);
        assert!(score < 4.5, "{species:?} {holes:?} {noise:?}: {score}");
    }
}

/// As many rows as the law's random blocks have columns.
#[test]
fn samples_without_groups_are_refused() {
    assert_eq!(K, 3);
    let view = MixedView::new(Species::Real(NoiseBy::View), 2);
    let data = view.data("v", &normal(6, 2, &mut StreamKey::new(1).rng()), 1);
    let make = |v: View| Ok::<_, polyview_core::DataError>(view.term(&v, 1));
    let name = |g: usize| g.to_string();
    let found = Grouped::new(&data, groups(5, 2), GroupNoise::Own, name, make);
    assert!(found.is_err());
}

/// A term whose samples are coupled cannot be cut up by groups of samples: that is
/// refused when groups are made, and not lost.
#[test]
fn what_groups_cannot_pass_on_is_refused() {
    let values = Mat::from_fn(12, 3, |n, d| ((7 * n + 3 * d) % 12) as f64);
    let view = View::from_values("v", ["a", "b", "c"].map(str::to_owned).to_vec(), values)
        .expect("a view");
    let groups = RowGroups::new((0..12).map(|n| n / 6).collect(), 2).expect("two groups");
    let grouped = |make: &dyn Fn(View) -> Result<Box<dyn ViewTerm>, DataError>| {
        let named = |g: usize| format!("v{g}");
        Grouped::new(&view, groups.clone(), GroupNoise::Own, named, make).map(|_| ())
    };
    let options = polyview_likelihoods::RankOptions::default();
    let ranks = |v: View| {
        let term = polyview_likelihoods::Rank::new(&v, options, StreamKey::new(1))?;
        Ok(Box::new(term) as Box<dyn ViewTerm>)
    };
    match grouped(&ranks) {
        Err(DataError::LostCapability { view, what }) => {
            assert_eq!((view.as_str(), what), ("v", "coupled samples"));
        }
        other => panic!("{other:?}"),
    }
    let real = |v: View| {
        let term = polyview_likelihoods::Gaussian::new(v, GaussianOptions::default());
        Ok(Box::new(term) as Box<dyn ViewTerm>)
    };
    grouped(&real).expect("groups pass on all that a gaussian term can do");
}
