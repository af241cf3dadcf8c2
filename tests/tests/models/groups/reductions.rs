//! Groups that are none, groups that are samples of their own.

use super::*;

/// Bounds of some sweeps and the final means.
fn trajectory(model: Model, sweeps: usize) -> (Vec<f64>, Mat<f64>) {
    let mut run = VbRun::new(
        model,
        audited(sweeps),
        StreamKey::new(2),
        Journal::default(),
    );
    let bounds = (0..sweeps)
        .map(|_| run.sweep().expect("a sweep").bound)
        .collect();
    let (model, _) = run.into_parts();
    (bounds, model.factors.moments().mean().to_owned())
}

/// spec/mofa C.3 (e).
#[test]
fn one_group_is_no_groups() {
    for species in SPECIES {
        for (holes, missing) in [
            (Holes::None, MissingData::Marginal),
            (Holes::Rows(0.3), MissingData::Marginal),
            (Holes::Cells(0.3), MissingData::Marginal),
            (Holes::Cells(0.3), MissingData::Impute),
        ] {
            let view = mixed(species, holes, missing);
            let z = normal(21, 2, &mut StreamKey::new(3).rng());
            let views = [(view, view.data("v", &z, 5))];
            let start = normal(21, 2, &mut StreamKey::new(4).rng());
            let run = |noise, one_for_all| {
                let how = InGroups {
                    count: 1,
                    noise,
                    intercepts: true,
                    factors: 0,
                };
                trajectory(model(&views, start.clone(), how, one_for_all), 8)
            };
            let plain = run(GroupNoise::Own, true);
            for noise in [GroupNoise::Own, GroupNoise::Shared] {
                let one = run(noise, false);
                for (a, b) in one.0.iter().zip(&plain.0) {
                    let gap = (a - b).abs() / b.abs();
                    assert!(gap < 1e-12, "{species:?} {holes:?} {missing:?}: {gap:e}");
                }
                let gap = (&one.1 - &plain.1).norm_max();
                assert!(gap < 1e-11, "{species:?} {holes:?} {missing:?}: {gap:e}");
            }
        }
    }
}

/// Groups with shared noise and intercepts are no groups either.
#[test]
fn groups_that_share_everything_are_no_groups() {
    for noise in [NoiseBy::View, NoiseBy::Feature] {
        for holes in [Holes::None, Holes::Rows(0.3), Holes::Cells(0.3)] {
            let view = mixed(Species::Real(noise), holes, MissingData::Marginal);
            let z = normal(40, 2, &mut StreamKey::new(3).rng());
            let views = [(view, view.data("v", &z, 5))];
            let start = normal(40, 2, &mut StreamKey::new(4).rng());
            let how = InGroups {
                count: 3,
                noise: GroupNoise::Shared,
                intercepts: false,
                factors: 0,
            };
            let (a, za) = trajectory(model(&views, start.clone(), how, false), 12);
            let (b, zb) = trajectory(model(&views, start.clone(), how, true), 12);
            for (x, y) in a.iter().zip(&b) {
                assert!(
                    (x - y).abs() < 1e-9 * y.abs(),
                    "{noise:?} {holes:?}: {x} {y}"
                );
            }
            assert!((za - zb).norm_max() < 1e-8, "{noise:?} {holes:?}");
        }
    }
}

/// Without factors each group is a sample of its own: noise and intercept of a
/// group are those of its data alone.
#[test]
fn each_group_has_its_own_noise_and_intercepts() {
    let (n, d) = (600, 3);
    let of = |n: usize| usize::from(n.is_multiple_of(3));
    let mut rng = StreamKey::new(8).rng();
    let noise = normal(n, d, &mut rng);
    let data = Mat::from_fn(n, d, |n, d| {
        let g = of(n);
        5.0 * g as f64 + d as f64 + [0.2, 2.0][g] * noise[(n, d)]
    });
    let names = (0..d).map(|d| d.to_string()).collect();
    let view = View::from_values("v", names, data).expect("finite");
    let groups = RowGroups::new((0..n).map(|n| of(n) as u32).collect(), 2).expect("two");
    let options = GaussianOptions::default();
    let make = |v: View| {
        Ok::<Box<dyn ViewTerm>, polyview_core::DataError>(Box::new(Gaussian::new(v, options)))
    };
    let term = Grouped::new(
        &view,
        groups.clone(),
        GroupNoise::Own,
        |g| g.to_string(),
        make,
    )
    .expect("a term");
    let mut part = MixedView::new(Species::Real(NoiseBy::Feature), d).part(&view, 1, 1);
    part.bias = Bias::by_group(d, groups, 1e-6);
    part.term = Box::new(term);
    let model = assemble(vec![part], Mat::zeros(n, 1));
    let mut run = VbRun::new(model, audited(20), StreamKey::new(2), Journal::default());
    for _ in 0..20 {
        run.sweep().expect("a sweep");
    }
    let (model, _) = run.into_parts();
    let (bias, term) = (&model.views[0].bias, &model.views[0].term);
    for (g, sd) in [0.2_f64, 2.0].into_iter().enumerate() {
        for column in 0..d {
            let b = bias.mean()[bias.place(g, column)];
            let truth = 5.0 * g as f64 + column as f64;
            assert!((b - truth).abs() < 5.0 * sd / 14.0, "{b} {truth}");
            let found = term.link(Some(g), column, 0.0).variance.sqrt();
            assert!((found / sd - 1.0).abs() < 0.2, "{found} {sd}");
        }
    }
}
