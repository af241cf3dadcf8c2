//! Verbs on models whose groups of samples have something of their own.

use polyview_core::{Dataset, Table};
use polyview_linalg::Mat;
use polyview_random::{StreamKey, gamma, poisson, standard_normal};

use crate::metrics::negative_binomial_unit;
use crate::{Fit, models};

const N: usize = 160;
const D: usize = 8;

/// Group of a sample: every other one.
fn group(sample: usize) -> usize {
    sample % 2
}

fn dataset(values: Mat<f64>) -> Dataset {
    let samples: Vec<String> = (0..N).map(|n| format!("s{n:03}")).collect();
    let groups = samples.iter().enumerate();
    let groups = groups.map(|(n, s)| (s.clone(), ["a", "b"][group(n)].to_owned()));
    let groups = groups.collect();
    let table = Table {
        name: "y".into(),
        samples,
        features: (0..D).map(|d| format!("y{d}")).collect(),
        levels: Vec::new(),
        values,
    };
    Dataset::builder()
        .view(table)
        .groups(groups)
        .build()
        .unwrap()
}

/// One factor, and levels that differ between the groups.
fn predictor() -> Mat<f64> {
    let mut rng = StreamKey::new(5).rng();
    let z: Vec<f64> = (0..N).map(|_| standard_normal(&mut rng)).collect();
    let w: Vec<f64> = (0..D).map(|_| 0.6 * standard_normal(&mut rng)).collect();
    Mat::from_fn(N, D, |n, d| z[n] * w[d] + 2.5 + 1.5 * group(n) as f64)
}

fn counts(sizes: [f64; 2]) -> Dataset {
    let (eta, mut rng) = (predictor(), StreamKey::new(6).rng());
    dataset(Mat::from_fn(N, D, |n, d| {
        let r = sizes[group(n)];
        let rate = eta[(n, d)].exp() * gamma(&mut rng, r, r).unwrap();
        poisson(&mut rng, rate).unwrap()
    }))
}

fn expected(fit: &Fit) -> Mat<f64> {
    let c = fit.component(0).unwrap();
    let part = &c.views[0];
    let eta = c.factors().mean() * part.weights.mean().transpose();
    let at = |n: usize, d: usize| part.bias.mean()[part.bias.place(group(n), d)];
    Mat::from_fn(N, D, |n, d| (eta[(n, d)] + at(n, d)).exp())
}

#[test]
fn counts_of_groups_have_sizes_of_their_own() {
    let truth = [1.0, 20.0];
    let data = counts(truth);
    let mut spec = models::mofa(2).with_likelihood("y", "negative-binomial");
    spec.groups.intercepts = true;
    spec.vb.max_sweeps = 200;
    let fit = crate::fit(data.clone(), spec).unwrap();
    let sizes = fit.sizes("y").unwrap().unwrap();
    assert_eq!(sizes.shape(), (D, 2));
    for (g, r) in truth.into_iter().enumerate() {
        let middle = sizes.col(g).iter().map(|r| r.ln()).sum::<f64>() / D as f64;
        assert!((middle - r.ln()).abs() < 0.7, "{middle} {r}");
    }
    // deviance with each group's sizes, from each group's own level
    let (mean, y) = (expected(&fit), data.view("y").unwrap());
    let mut sums = [[0.0, 0.0]; 2];
    for d in 0..D {
        for (g, sum) in sums.iter_mut().enumerate() {
            let rows = || (0..N).filter(|&n| group(n) == g);
            let level = rows().map(|n| y.values()[(n, d)]).sum::<f64>() / (N / 2) as f64;
            for n in rows() {
                let unit = |m: f64| negative_binomial_unit(y.values()[(n, d)], m, sizes[(d, g)]);
                sum[0] += unit(mean[(n, d)]);
                sum[1] += unit(level);
            }
        }
    }
    for (g, name) in ["a", "b"].into_iter().enumerate() {
        let found = fit.explain_group(name).unwrap().deviance[0];
        assert!((found - (1.0 - sums[g][0] / sums[g][1])).abs() < 1e-9);
    }
    let (own, null) = (sums[0][0] + sums[1][0], sums[0][1] + sums[1][1]);
    let found = fit.explain().unwrap().deviance[0];
    assert!((found - (1.0 - own / null)).abs() < 1e-9, "{found}");
    let again = fit.explain_on(&data).unwrap();
    assert!((again.deviance[0] - found).abs() < 1e-3);
}

/// What the link adds is that of each group, at its own level.
#[test]
fn shares_of_counts_are_of_each_groups_own_level() {
    let data = counts([1.0, 20.0]);
    let mut spec = models::mofa(2).with_likelihood("y", "negative-binomial");
    spec.groups.intercepts = true;
    spec.vb.max_sweeps = 100;
    let fit = crate::fit(data, spec).unwrap();
    let c = fit.component(0).unwrap();
    let part = &c.views[0];
    let eta = c.factors().mean() * part.weights.mean().transpose();
    let mut link_of_all = [0.0; 2];
    // of one group, of the other, of all: every feature counts alike
    let mut shares = [0.0; 3];
    for d in 0..D {
        let mut sums = [[0.0, 0.0]; 2];
        for (g, sum) in sums.iter_mut().enumerate() {
            let own: Vec<f64> = (0..N)
                .filter(|&n| group(n) == g)
                .map(|n| eta[(n, d)])
                .collect();
            let mean = own.iter().sum::<f64>() / own.len() as f64;
            sum[0] += own.iter().map(|x| (x - mean).powi(2)).sum::<f64>();
            let level = part.bias.mean()[part.bias.place(g, d)];
            sum[1] += own.len() as f64 * part.term.link(Some(g), d, level).variance;
            link_of_all[g] += sum[1];
        }
        let share = |[own, link]: [f64; 2]| own / (own + link) / D as f64;
        shares[0] += share(sums[0]);
        shares[1] += share(sums[1]);
        shares[2] += share([sums[0][0] + sums[1][0], sums[0][1] + sums[1][1]]);
    }
    assert!(link_of_all[0] > 2.0 * link_of_all[1], "{link_of_all:?}");
    for (g, name) in ["a", "b"].into_iter().enumerate() {
        let found = fit.explain_group(name).unwrap().total[0];
        assert!((found - shares[g]).abs() < 1e-9, "{name}: {found}");
    }
    let found = fit.explain().unwrap().total[0];
    assert!((found - shares[2]).abs() < 1e-9, "{found} {shares:?}");
}

#[test]
fn what_intercepts_of_groups_explain_is_nobodys_share() {
    let (eta, mut rng) = (predictor(), StreamKey::new(7).rng());
    let values = Mat::from_fn(N, D, |n, d| {
        // levels far apart
        eta[(n, d)] + 8.0 * group(n) as f64 + 0.3 * standard_normal(&mut rng)
    });
    let data = dataset(values);
    let fit_with = |intercepts: bool| {
        let mut spec = models::mofa(3);
        (spec.groups.intercepts, spec.groups.noise) = (intercepts, false);
        spec.vb.max_sweeps = 200;
        crate::fit(data.clone(), spec).unwrap()
    };
    let fit = fit_with(true);
    let (all, a, b) = (
        fit.explain().unwrap(),
        fit.explain_group("a").unwrap(),
        fit.explain_group("b").unwrap(),
    );
    let (low, high) = (a.total[0].min(b.total[0]), a.total[0].max(b.total[0]));
    assert!(
        low <= all.total[0] && all.total[0] <= high,
        "{} {low} {high}",
        all.total[0]
    );
    assert!(low > 0.6, "{low}");
    let again = fit.explain_on(&data).unwrap();
    assert!((again.total[0] - all.total[0]).abs() < 1e-6);
    // with one intercept the difference is a factor's to explain
    let total = fit_with(false).explain().unwrap().total[0];
    assert!(total > 0.98, "{total}");
}

/// Ranks have no intercepts, by group or otherwise: shares are about the means
/// over all samples.
#[test]
fn shares_of_views_without_intercepts_by_group_are_about_all_samples() {
    let (eta, mut rng) = (predictor(), StreamKey::new(8).rng());
    let data = dataset(Mat::from_fn(N, D, |n, d| {
        eta[(n, d)] + 0.3 * standard_normal(&mut rng)
    }));
    let mut spec = models::sshiba(2).with_likelihood("y", "rank");
    spec.groups.intercepts = true;
    spec.vb.max_sweeps = 20;
    let fit = crate::fit(data, spec).unwrap();
    let c = fit.component(0).unwrap();
    let part = &c.views[0];
    let eta = c.factors().mean() * part.weights.mean().transpose();
    // in units of normal scores
    let (mut own, mut link) = (0.0, 0.0);
    for d in 0..D {
        let mean = eta.col(d).iter().sum::<f64>() / N as f64;
        let square = eta.col(d).iter().map(|x| (x - mean).powi(2)).sum::<f64>();
        own += square * part.term.link(None, d, 0.0).scale.powi(2);
        link += N as f64 * part.link_variance(d);
    }
    let found = fit.explain().unwrap().total[0];
    assert!((found - own / (own + link)).abs() < 1e-9, "{found}");
}

/// The second group has no cell of the first feature.
fn lacking(values: &Mat<f64>) -> Dataset {
    let hidden = |n: usize, d: usize| group(n) == 1 && d == 0;
    let value = |n: usize, d: usize| {
        if hidden(n, d) {
            f64::NAN
        } else {
            values[(n, d)]
        }
    };
    dataset(Mat::from_fn(N, D, value))
}

/// Under a vague prior of its intercept a feature that a group lacks would be expected in
/// numbers of twenty digits there.
#[test]
fn a_feature_that_a_group_lacks_has_the_level_of_the_other_groups() {
    let counts = counts([3.0, 3.0]);
    let counts = lacking(&counts.view("y").unwrap().values().to_owned());
    let real = lacking(&predictor());
    let sites = [
        ("negative-binomial", &counts),
        ("poisson-log-normal", &counts),
        ("poisson", &counts),
        ("gaussian", &real),
    ];
    for (likelihood, data) in sites {
        for engine in [crate::EngineKind::Vb, crate::EngineKind::Gibbs] {
            if engine == crate::EngineKind::Gibbs && likelihood == "poisson" {
                continue;
            }
            let mut spec = models::mofa(2).with_likelihood("y", likelihood);
            spec.groups.intercepts = true;
            (spec.engine, spec.vb.max_sweeps) = (engine, 100);
            (spec.gibbs.warm_up, spec.gibbs.sweeps) = (50, 40);
            let fit = crate::fit(data.clone(), spec).unwrap();
            let filled = fit.impute("y", 0.95).unwrap();
            let mean = |g: usize| {
                let rows = (0..N).filter(|n| group(*n) == g);
                rows.map(|n| filled.values[(n, 0)]).sum::<f64>() / (N / 2) as f64
            };
            let (seen, lacking) = (mean(0), mean(1));
            let within = if likelihood == "gaussian" {
                (lacking - seen).abs() < 1.5
            } else {
                lacking > 0.2 * seen && lacking < 10.0 * seen
            };
            assert!(within, "{likelihood} {engine:?}: {lacking} beside {seen}");
            let journal = &fit.record().journal.entries;
            let mut said = journal.iter().map(|e| e.event.to_string());
            assert!(said.any(|e| e.contains("no value in group 'b', first 'y0'")));
        }
    }
}

/// Samples of a model of groups that are far apart, on another scale than theirs.
#[test]
fn values_are_held_against_those_of_their_group() {
    let level = |n: usize| if group(n) == 0 { 0.0 } else { 1000.0 };
    let mut rng = StreamKey::new(9).rng();
    let z: Vec<f64> = (0..N).map(|_| standard_normal(&mut rng)).collect();
    let noise = Mat::from_fn(N, D, |_, _| 0.3 * standard_normal(&mut rng));
    let at = |n: usize, d: usize| z[n] * (0.5 + 0.1 * d as f64) + noise[(n, d)];
    let data = dataset(Mat::from_fn(N, D, |n, d| level(n) + at(n, d)));
    let mut fit = crate::fit(data.clone(), models::mofa(2)).unwrap();
    fit.forget_data();
    let fit = Fit::from_bytes(&fit.to_bytes().unwrap()).unwrap();
    let said = |data: &Dataset| {
        let p = fit.project(data, &crate::ProjectOptions::default());
        p.unwrap().warnings.join("\n")
    };
    let new = |named: bool, off: f64| {
        let t = Table {
            name: "y".into(),
            samples: (0..40).map(|n| format!("new{n:03}")).collect(),
            features: (0..D).map(|d| format!("y{d}")).collect(),
            levels: Vec::new(),
            values: Mat::from_fn(40, D, |n, d| level(n) + off + at(n, d)),
        };
        let groups = (0..40).map(|n| (format!("new{n:03}"), ["a", "b"][group(n)].to_owned()));
        let data = Dataset::builder().view(t);
        let data = if named {
            data.groups(groups.collect())
        } else {
            data
        };
        data.build().unwrap()
    };
    for named in [true, false] {
        assert_eq!(said(&new(named, 0.0)), "", "{named}");
        // a tenth of what the groups are apart, a hundred times what samples are
        let found = said(&new(named, 100.0));
        assert!(
            found.contains("far off") && found.contains("mean of the sample's group"),
            "{named}: {found}"
        );
    }
}

/// Chains are judged by the noise of groups as they are by that of all samples.
#[test]
fn noise_by_group_is_among_what_chains_are_judged_by() {
    let mut rng = StreamKey::new(9).rng();
    let mut values = predictor();
    for d in 0..D {
        for x in values.col_as_slice_mut(d) {
            *x += 0.3 * standard_normal(&mut rng);
        }
    }
    for by_group in [false, true] {
        let mut spec = models::mofa(1);
        spec.groups.noise = by_group;
        spec.engine = crate::EngineKind::Gibbs;
        (spec.gibbs.warm_up, spec.gibbs.sweeps) = (5, 20);
        let fit = crate::fit(dataset(values.clone()), spec).unwrap();
        let noise = |d: &&crate::Diagnostic| d.quantity == "noise precision/y";
        assert_eq!(
            fit.record().diagnostics.iter().filter(noise).count(),
            1,
            "{by_group}"
        );
    }
}

/// Groups with the same to be said of them are in one note, the first by name.
#[test]
fn groups_of_few_samples_are_said_once() {
    let of_sample = |n: usize| if n < 20 { 5 } else { n as u32 % 5 };
    let mut rng = StreamKey::new(4).rng();
    let lacks = |n: usize, d: usize| d == 1 && matches!(of_sample(n), 0 | 3);
    let constant = |n: usize, d: usize| d == 2 && matches!(of_sample(n), 1 | 2 | 4);
    let values = Mat::from_fn(50, 4, |n, d| match standard_normal(&mut rng) {
        _ if lacks(n, d) => f64::NAN,
        _ if constant(n, d) => 1.5,
        x => x,
    });
    let table = super::counts::table("y", values);
    let name = |n: usize| ["a", "b", "c", "d", "e", "f"][of_sample(n) as usize].to_owned();
    let groups = (table.samples.iter().enumerate())
        .map(|(n, sample)| (sample.clone(), name(n)))
        .collect();
    let data = Dataset::builder()
        .view(table)
        .groups(groups)
        .build()
        .unwrap();
    let mut spec = models::mofa(1);
    (spec.groups.noise, spec.groups.intercepts) = (true, true);
    spec.vb.max_sweeps = 3;
    let fit = crate::fit(data, spec).unwrap();
    let entries = &fit.record().journal.entries;
    let said: Vec<String> = entries.iter().map(|e| e.event.to_string()).collect();
    let with = |part: &str| said.iter().filter(|s| s.contains(part)).collect::<Vec<_>>();
    for (part, starts) in [
        (
            "say little of",
            "groups 'a' (6), 'b' (6), 'c' (6) and 2 more have fewer than 10 samples each, which say little of noise and intercepts of their own",
        ),
        (
            "no value in",
            "features have no value in groups 'a' (1, first 'y1'), 'd' (1, first 'y1'): their levels",
        ),
        (
            "do not vary",
            "features do not vary within groups 'b' (1, first 'y2'), 'c' (1, first 'y2'), 'e' (1, first 'y2'): their noise",
        ),
    ] {
        let found = with(part);
        assert!(
            matches!(found.as_slice(), [one] if one.starts_with(starts)),
            "{starts}: {said:?}"
        );
    }
}
