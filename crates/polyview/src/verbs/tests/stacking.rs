//! Views that are predicted by a mixture of ways (docs/decisions/0084-mixtures-of-ways.md).

use polyview_core::Table;
use polyview_linalg::Mat;
use polyview_random::{StreamKey, standard_normal};

use super::counts::table;
use super::discriminative::{data, some};
use super::settle_features::{N, TRAIN, fitted, least_squares, part, score, sources, spec, tables};
use crate::{ErrorKind, Fit, ProjectOptions, Settle, models};

/// What was said of the mixture.
fn said(fit: &Fit) -> String {
    let entries = &fit.record().journal.entries;
    let said = entries.iter().map(|e| e.event.to_string());
    said.filter(|s| s.contains("predicted by a mixture"))
        .collect()
}

fn shares(fit: &Fit, at: usize) -> [f64; 2] {
    fit.shares_of(at).unwrap().expect("shares")
}

/// Where a target hangs on what is private to features, the regression on these has nearly all; where it
/// hangs on factors, next to nothing is lost.
#[test]
fn the_way_that_knows_the_target_has_the_largest_share() {
    let private = tables(false);
    let joint = score(&fitted(&private, 3, Settle::Not), &private, 3);
    for (target, least) in [(2, least_squares(&private) - 0.03), (3, joint + 0.1)] {
        let fit = fitted(&private, target, Settle::Mixture);
        let found = shares(&fit, 2);
        assert!(found[1] > 0.8, "{target} {found:?} {}", said(&fit));
        assert!((found.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        let own = score(&fit, &private, target);
        assert!(own > least, "{target}: {own} {least}");
    }
    let shared = tables(true);
    for target in [2, 3] {
        let [joint, mixed] = [Settle::Not, Settle::Mixture].map(|s| fitted(&shared, target, s));
        let [a, b] = [&joint, &mixed].map(|f| score(f, &shared, target));
        assert!(b > a - 0.02, "{target}: {a} {b} {}", said(&mixed));
        let found = shares(&mixed, 2);
        assert!(found[0] > 0.5, "{target}: {found:?}");
    }
}

/// A law like any other: intervals hold their share, distribution functions rise, quantiles are their inverse.
#[test]
fn a_mixture_is_a_law() {
    for on_factors in [false, true] {
        let tables = tables(on_factors);
        let fit = fitted(&tables, 2, Settle::Mixture);
        let p = fit.predict(&sources(&tables, TRAIN..N), "y").unwrap();
        let truth = |n: usize| tables[2].values[(TRAIN + n, 0)];
        for (level, slack) in [(0.5, 0.11), (0.9, 0.08)] {
            let (lower, upper) = p.interval(level).unwrap();
            let held =
                (0..N - TRAIN).filter(|&n| lower[(n, 0)] < truth(n) && truth(n) < upper[(n, 0)]);
            let held = held.count() as f64 / (N - TRAIN) as f64;
            assert!((held - level).abs() < slack, "{on_factors} {level} {held}");
            for (ends, want) in [(&lower, 0.5 - level / 2.0), (&upper, 0.5 + level / 2.0)] {
                let below = p.cdf(ends.as_ref()).unwrap();
                for n in 0..N - TRAIN {
                    assert!((below[(n, 0)] - want).abs() < 1e-6);
                }
            }
        }
        let mut before = Mat::zeros(N - TRAIN, 1);
        for step in -8..=8 {
            let at = Mat::full(N - TRAIN, 1, f64::from(step) / 2.0);
            let below = p.cdf(at.as_ref()).unwrap();
            for n in 0..N - TRAIN {
                assert!(below[(n, 0)] >= before[(n, 0)] && below[(n, 0)] <= 1.0);
            }
            before = below;
        }
    }
}

/// Classes of three thirds of the number.
fn classes(tables: &[Table; 4]) -> Table {
    let y = &tables[2].values;
    Table {
        values: Mat::from_fn(N, 1, |n, _| match y[(n, 0)] {
            x if x < -0.6 => 0.0,
            x if x < 0.6 => 1.0,
            _ => 2.0,
        }),
        levels: vec!["low".into(), "mid".into(), "high".into()],
        features: vec!["c".into()],
        name: "c".into(),
        ..some(&tables[2], 0..N)
    }
}

#[test]
fn probabilities_of_classes_sum_to_one_and_beat_the_joint_fit() {
    let tables = tables(false);
    let classes = classes(&tables);
    let of = |settle: Settle| {
        let spec = models::sshiba(2)
            .with_likelihood("c", "categorical")
            .with_settled("c", settle);
        let parts = [0, 1].map(|i| some(&tables[i], 0..TRAIN));
        let [x, u] = parts;
        crate::fit(data([x, u, some(&classes, 0..TRAIN)]), spec).unwrap()
    };
    let loss = |fit: &Fit| -> f64 {
        let p = fit.predict(&sources(&tables, TRAIN..N), "c").unwrap();
        let of = |n: usize| {
            let sum: f64 = (0..3).map(|c| p.mean[(n, c)]).sum();
            assert!((sum - 1.0).abs() < 1e-9, "{sum}");
            -p.mean[(n, classes.values[(TRAIN + n, 0)] as usize)].ln()
        };
        (0..N - TRAIN).map(of).sum::<f64>() / (N - TRAIN) as f64
    };
    let [joint, mixed] = [Settle::Not, Settle::Mixture].map(of);
    let (a, b) = (loss(&joint), loss(&mixed));
    assert!(b < a - 0.2, "{a} {b} {}", said(&mixed));
    let again = Fit::from_bytes(&mixed.to_bytes().unwrap()).unwrap();
    assert_eq!(loss(&again), b);
}

/// Ordered levels of the number: of what is private to features the joint fit knows next to nothing, and the regression has cut points of its own.
#[test]
fn ordered_levels_are_mixed_and_beat_the_joint_fit() {
    let tables = tables(false);
    let y = &tables[2].values;
    let mut levels = Table {
        values: Mat::from_fn(N, 1, |n, _| {
            1.0 + [-1.5, -0.6, 1.2].iter().filter(|c| y[(n, 0)] > **c).count() as f64
        }),
        features: vec!["o".into()],
        name: "o".into(),
        ..some(&tables[2], 0..N)
    };
    // nobody knows of some, and they stand in no fold
    for n in (0..TRAIN).step_by(17) {
        levels.values[(n, 0)] = f64::NAN;
    }
    let of = |settle: Settle| {
        let spec = models::sshiba(2)
            .with_likelihood("o", "ordinal")
            .with_settled("o", settle);
        let [x, u] = [0, 1].map(|i| some(&tables[i], 0..TRAIN));
        crate::fit(data([x, u, some(&levels, 0..TRAIN)]), spec).unwrap()
    };
    let new = sources(&tables, TRAIN..N);
    let loss = |fit: &Fit| -> f64 {
        let p = fit.predict(&new, "o").unwrap().levels.unwrap().probability;
        let of = |n: usize| {
            let sum: f64 = (0..4).map(|k| p[k][(n, 0)]).sum();
            assert!((sum - 1.0).abs() < 1e-9, "{sum}");
            -p[levels.values[(TRAIN + n, 0)] as usize - 1][(n, 0)].ln()
        };
        (0..N - TRAIN).map(of).sum::<f64>() / (N - TRAIN) as f64
    };
    let [joint, mixed] = [Settle::Not, Settle::Mixture].map(of);
    let (a, b) = (loss(&joint), loss(&mixed));
    assert!(b < a - 0.2, "{a} {b} {}", said(&mixed));
    assert!(shares(&mixed, 2)[1] > 0.8, "{}", said(&mixed));
    let again = Fit::from_bytes(&mixed.to_bytes().unwrap()).unwrap();
    assert_eq!(loss(&again), b);
    // cut points out of order are no regression of levels
    let mut wrong = mixed.clone();
    let mut own = wrong.regressed(2).unwrap().unwrap();
    own.parameters.cuts[0].swap(0, 1);
    let mut state = std::mem::take(&mut wrong.settled);
    own.save(&wrong, "o", &mut state);
    wrong.settled = state;
    let found = Fit::from_bytes(&wrong.to_bytes().unwrap()).unwrap_err();
    assert!(found.to_string().contains("out of order"), "{found}");
}

/// Every verb over a mixture, from a file as well; the joint fit does all but predict the view from others.
#[test]
fn a_mixture_is_kept_in_the_file_and_goes_through_every_verb() {
    let mut tables = tables(false);
    for n in (0..N).step_by(9) {
        tables[0].values[(n, n % 12)] = f64::NAN;
    }
    for target in [2, 3] {
        let name = tables[target].name.clone();
        let fit = fitted(&tables, target, Settle::Mixture);
        assert_eq!(fit.views()[2].choices.settle, Some(Settle::Mixture));
        let bytes = fit.to_bytes().unwrap();
        let again = Fit::from_bytes(&bytes).unwrap();
        assert_eq!(again.to_bytes().unwrap(), bytes);
        assert_eq!(said(&again), said(&fit));
        let all = sources(&tables, 0..N);
        let [a, b] = [&fit, &again].map(|f| f.predict(&all, &name).unwrap());
        assert_eq!((&a.mean, &a.sd), (&b.mean, &b.sd));
        // samples one by one are predicted alike
        for n in [5, 18, TRAIN + 3] {
            let one = data([0, 1].map(|i| some(&tables[i], n..n + 1)));
            let p = fit.predict(&one, &name).unwrap();
            assert!((p.mean[(0, 0)] - a.mean[(n, 0)]).abs() < 1e-9);
        }
        // without a view and without training samples the regression goes by what factors say of it
        let one = data([some(&tables[0], TRAIN..N)]);
        let joint = fitted(&tables, target, Settle::Not);
        let mut alone = fit.clone();
        alone.forget_data();
        let [few, of_joint] = [&alone, &joint].map(|f| f.predict(&one, &name).unwrap());
        let gap = super::gap(&few.mean, &of_joint.mean);
        assert!(gap > 1e-3 && gap.is_finite(), "{gap}");
        assert!(
            few.notes
                .iter()
                .any(|n| n.contains("what their factors say"))
        );
        let turned = fit.varimax().unwrap().predict(&all, &name).unwrap();
        assert!(super::gap(&turned.mean, &a.mean) < 1e-7);
        let with_target = part(&tables, target, 0..TRAIN);
        let of = |f: &Fit| {
            (
                f.fitted(&name).unwrap().mean,
                f.impute(&name, 0.9).map(|i| i.values).ok(),
                f.project(&with_target, &ProjectOptions::default())
                    .unwrap()
                    .mean,
            )
        };
        assert_eq!(of(&fit), of(&joint));
        fit.explain().unwrap();
        if target == 2 {
            assert!(a.interval(0.9).is_ok());
        }
    }
}

#[test]
fn any_number_of_threads_mixes_alike() {
    let tables = tables(false);
    let of = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().unwrap().install(|| {
            let fit = fitted(&tables, 3, Settle::Mixture);
            let mean = fit.predict(&sources(&tables, TRAIN..N), "t").unwrap().mean;
            (mean, said(&fit))
        })
    };
    assert_eq!(of(1), of(4));
}

#[test]
fn what_cannot_be_mixed_is_refused_or_said() {
    let tables = tables(false);
    let mut gibbs = spec(Settle::Mixture, "y");
    gibbs.engine = crate::EngineKind::Gibbs;
    let error = crate::Fitting::new(part(&tables, 2, 0..TRAIN), gibbs).err();
    let error = error.expect("a refusal");
    assert!(
        matches!(error.kind(), ErrorKind::Incompatible { .. }),
        "{error}"
    );
    let few = crate::fit(part(&tables, 2, 0..12), spec(Settle::Mixture, "y")).unwrap();
    assert_eq!(few.views()[2].choices.settle, Some(Settle::Not));
    let entries = &few.record().journal.entries;
    let told = |e: &polyview_core::Entry| e.event.to_string().contains("ways could not be mixed");
    assert!(entries.iter().any(told));
    // counts have no regression of their own
    let mut levels = tables.clone();
    levels[2].values = Mat::from_fn(N, 1, |n, _| {
        (tables[2].values[(n, 0)].clamp(-1.2, 1.2) + 2.0)
            .round()
            .clamp(1.0, 3.0)
    });
    let spec = models::sshiba(2)
        .with_likelihood("y", "negative-binomial")
        .with_settled("y", Settle::Mixture);
    let fit = crate::fit(part(&levels, 2, 0..TRAIN), spec).unwrap();
    let entries = &fit.record().journal.entries;
    let told = |e: &polyview_core::Entry| {
        let said = e.event.to_string();
        said.contains("no regression stands") && said.contains("--settle y=features")
    };
    assert!(entries.iter().any(told));
    assert!(fit.shares_of(2).unwrap().is_none());
    let p = fit.predict(&sources(&levels, TRAIN..N), "y").unwrap();
    assert!(p.mean[(0, 0)].is_finite());
}

/// Targets are not known where another is predicted: none is a source of another's regression, and the line of each says so.
#[test]
fn targets_are_no_sources_of_each_other_and_it_is_said() {
    let tables = tables(false);
    let spec = |also: Settle| spec(Settle::Mixture, "y").with_settled("u", also);
    let told = |also: Settle, name: &str| {
        let fit = crate::fit(part(&tables, 2, 0..TRAIN), spec(also)).unwrap();
        let entries = fit.record().journal.entries.iter();
        let own = entries.filter(|e| e.block == format!("weights/{name}"));
        own.map(|e| e.event.to_string()).collect::<String>()
    };
    for (name, other) in [("y", "u"), ("u", "y")] {
        let line = told(Settle::Mixture, name);
        let end = format!(
            "'{other}', a target as well, is no source of the regression but of samples that come with it"
        );
        assert!(
            line.starts_with("predicted by a mixture") && line.ends_with(&end),
            "{line}"
        );
    }
    // nor is one that is settled otherwise
    let line = told(Settle::Factors, "y");
    assert!(
        line.contains("'u', a target as well, is no source of the regression"),
        "{line}"
    );
    assert!(!told(Settle::Not, "y").contains("no source"));
}

/// Labels that are a toss of a coin are said to be foreseen no better than by their shares; those of a factor are not.
#[test]
fn labels_that_are_chance_are_said_to_be() {
    let warned = |fit: &Fit| {
        let mut all = fit.record().journal.warnings();
        all.any(|w| w.starts_with("weights/y: predicted no better than by its means"))
    };
    let fit = |seed: u64, samples: usize, follows: bool| {
        let mut rng = StreamKey::new(seed).rng();
        let mut normal = |rows: usize, columns: usize| {
            Mat::from_fn(rows, columns, |_, _| standard_normal(&mut rng))
        };
        let (z, w, e) = (normal(samples, 3), normal(30, 3), normal(samples, 30));
        let chance = normal(samples, 1);
        let x = table("x", &z * w.transpose() + e);
        let label = |n: usize| if follows { z[(n, 0)] } else { chance[(n, 0)] };
        let y = Mat::from_fn(samples, 1, |n, _| f64::from(u8::from(label(n) > 0.0)));
        let spec = models::sshiba(4).with_likelihood("y", "bernoulli");
        let spec = spec.with_settled("y", Settle::Mixture);
        crate::fit(data([x, table("y", y)]), spec).unwrap()
    };
    let chance: Vec<Fit> = (1..=6).map(|seed| fit(seed, 40, false)).collect();
    assert!(
        chance
            .iter()
            .all(|fit| said(fit).contains("by means alone, without a feature, -0."))
    );
    let count = chance.iter().filter(|fit| warned(fit)).count();
    assert!(count >= 4, "{count} of 6");
    for seed in 1..=3 {
        let fit = fit(seed, 120, true);
        assert!(!warned(&fit), "{}", said(&fit));
    }
}

/// The law without a feature is that of the means of the other folds.
#[test]
fn means_alone_are_those_of_the_other_folds() {
    let tables = tables(true);
    let fold_of: Vec<usize> = (0..TRAIN).map(|n| n % 3).collect();
    let values = |target: usize| tables[target].values.subrows(0, TRAIN).to_owned();
    // numbers: normal about the mean of the others, in working units
    let fit = fitted(&tables, 2, Settle::Not);
    let found = fit.ln_densities_by_means(2, &fold_of).unwrap();
    let y = fit.data().unwrap()[2].to_values_with_nan();
    let of_others = |fold: usize| {
        let others = (0..TRAIN).filter(|n| n % 3 != fold).map(|n| y[(n, 0)]);
        others.clone().sum::<f64>() / others.count() as f64
    };
    let off = |n: usize| y[(n, 0)] - of_others(n % 3);
    let variance = (0..TRAIN).map(|n| off(n).powi(2)).sum::<f64>() / TRAIN as f64;
    for n in 0..TRAIN {
        let normal = -0.5 * (off(n).powi(2) / variance + (std::f64::consts::TAU * variance).ln());
        assert!(
            (found[(n, 0)] - normal).abs() < 1e-3,
            "{n}: {} {normal}",
            found[(n, 0)]
        );
    }
    // labels: their shares among the others, half of each added
    let fit = fitted(&tables, 3, Settle::Not);
    let found = fit.ln_densities_by_means(2, &fold_of).unwrap();
    let t = values(3);
    for n in 0..TRAIN {
        let others = (0..TRAIN).filter(|m| m % 3 != n % 3);
        let alike = others.clone().filter(|m| t[(*m, 0)] == t[(n, 0)]).count();
        let share = (alike as f64 + 0.5) / (others.count() as f64 + 1.0);
        assert!((found[(n, 0)] - share.ln()).abs() < 1e-9, "{n}");
    }
    // levels: the same, of each level
    let levels = Table {
        values: Mat::from_fn(TRAIN, 1, |n, _| 1.0 + (n % 5 % 3) as f64),
        ..some(&tables[3], 0..TRAIN)
    };
    let spec = models::sshiba(2).with_likelihood(
        &levels.name,
        "ordinal{levels=4}".parse::<crate::Likelihood>().unwrap(),
    );
    let [x, u] = [0, 1].map(|i| some(&tables[i], 0..TRAIN));
    let fit = crate::fit(data([x, u, levels.clone()]), spec).unwrap();
    let found = fit.ln_densities_by_means(2, &fold_of).unwrap();
    for n in 0..TRAIN {
        let others = (0..TRAIN).filter(|m| m % 3 != n % 3);
        let own = |m: &usize| levels.values[(*m, 0)] == levels.values[(n, 0)];
        let share =
            (others.clone().filter(own).count() as f64 + 0.5) / (others.count() as f64 + 2.0);
        assert!((found[(n, 0)] - share.ln()).abs() < 1e-9, "{n}");
    }
}
