//! New samples whose group nobody knows: their data say it.

use polyview_core::{Dataset, Journal, RowGroups, Table, UnknownClass, noise_precisions};
use polyview_linalg::{Mat, SpdFactor, SymPacked};
use polyview_random::{StreamKey, standard_normal};

use super::super::align::Aligned;
use super::super::project::WeightUncertainty;
use super::super::{latent, placing};
use crate::{EngineKind, Fit, ModelSpec, ProjectOptions, models};

const N: usize = 240;

/// Group of a sample: a third are of the second one.
fn group(sample: usize) -> usize {
    usize::from(sample.is_multiple_of(3))
}

/// Two views of two factors, whose levels differ between two groups; the samples from 160 on are new.
fn simulated(apart: f64, range: std::ops::Range<usize>, with_groups: bool) -> Dataset {
    let mut rng = StreamKey::new(11).rng();
    let mut normal =
        |rows: usize, columns: usize| Mat::from_fn(rows, columns, |_, _| standard_normal(&mut rng));
    let z = normal(N, 2);
    let mut builder = Dataset::builder();
    for (name, d) in [("x", 6), ("y", 5)] {
        let (w, levels, noise) = (normal(d, 2), normal(d, 2), normal(N, d));
        let cell = |n: usize, d: usize| {
            let signal: f64 = (0..2).map(|j| z[(n, j)] * w[(d, j)]).sum();
            signal + apart * levels[(d, group(n))] + 0.5 * noise[(n, d)]
        };
        builder = builder.view(Table {
            name: name.into(),
            samples: range.clone().map(|n| format!("s{n}")).collect(),
            features: (0..d).map(|d| format!("{name}{d}")).collect(),
            levels: Vec::new(),
            values: Mat::from_fn(range.len(), d, |n, d| cell(range.start + n, d)),
        });
    }
    if with_groups {
        let name = |n: usize| ["a", "b"][group(n)].to_owned();
        builder = builder.groups(range.map(|n| (format!("s{n}"), name(n))).collect());
    }
    builder.build().unwrap()
}

fn by_group() -> ModelSpec {
    let mut spec = models::mofa(3);
    spec.groups.intercepts = true;
    spec
}

fn error(fit: &Fit, new: &Dataset, truth: &Dataset) -> f64 {
    let said = fit.predict(new, "y").unwrap().mean;
    let truth = truth.view("y").unwrap();
    let cells = (0..said.nrows()).flat_map(|n| (0..said.ncols()).map(move |d| (n, d)));
    let squares = cells.map(|(n, d)| (said[(n, d)] - truth.value(n, d).unwrap()).powi(2));
    squares.sum::<f64>() / (said.nrows() * said.ncols()) as f64
}

#[test]
fn data_say_which_group_a_sample_is_of() {
    let fit = crate::fit(simulated(1.5, 0..160, true), by_group()).unwrap();
    let (known, open) = (simulated(1.5, 160..N, true), simulated(1.5, 160..N, false));
    let with = error(&fit, &known, &known);
    let without = error(&fit, &open, &known);
    assert!(without < 1.2 * with, "{with} {without}");
    let plain = crate::fit(simulated(1.5, 0..160, false), models::mofa(5)).unwrap();
    let plain = error(&plain, &open, &known);
    assert!(without < plain, "{without} {plain}");
    // what is said of factors and of shares follows
    let (a, b) = (
        fit.project(&known, &ProjectOptions::default()),
        fit.project(&open, &ProjectOptions::default()),
    );
    let (a, b) = (a.unwrap(), b.unwrap());
    let near = (0..a.mean.nrows())
        .filter(|n| (0..a.mean.ncols()).all(|j| (a.mean[(*n, j)] - b.mean[(*n, j)]).abs() < 0.1))
        .count();
    assert!(near >= 70, "{near} of {}", a.mean.nrows());
    assert!(
        b.notes
            .iter()
            .any(|n| n.contains("as likely as its data make it")),
        "{:?}",
        b.notes
    );
    let explained = fit.explain_on(&open).unwrap().total;
    assert!(explained.iter().all(|share| *share > 0.7), "{explained:?}");
}

/// Of a draw all parameters are known, and factors can be integrated out: the bound of a sample is the logarithm of the normal
/// density of its data under a group and of the group's share of the training samples, up to what groups have in common.
#[test]
fn groups_are_as_likely_as_the_density_of_the_data_under_them() {
    let mut spec = by_group();
    spec.engine = EngineKind::Gibbs;
    (
        spec.gibbs.chains,
        spec.gibbs.warm_up,
        spec.gibbs.sweeps,
        spec.gibbs.thin,
    ) = (1, 50, 10, 10);
    let fit = crate::fit(simulated(0.2, 0..160, true), spec).unwrap();
    let new = simulated(0.2, 160..N, false);
    let aligned = Aligned::new(&fit, &new, None, UnknownClass::default()).unwrap();
    let ids = new.samples();
    let how = latent::usual(WeightUncertainty::Variational);
    let mut bounds = Vec::new();
    for way in 0..2 {
        let mut component = fit.component(0).unwrap();
        aligned.placing.place(way, &mut component).unwrap();
        let mut journal = Journal::default();
        let found =
            latent::factors(&fit, &component, &aligned.views, ids, how, &mut journal).unwrap();
        let of = (&aligned.views[..], &found);
        let own = aligned
            .placing
            .bounds((&fit, way), || fit.component(0), of, how.0)
            .unwrap();
        bounds.push(own);
    }
    let density = |n: usize, way: usize| {
        let component = fit.component(0).unwrap();
        let (mut x, mut w, mut noise) = (Vec::new(), Vec::new(), Vec::new());
        for (part, view) in component.views.iter().zip(&aligned.views) {
            let precisions = noise_precisions(part.term.as_ref());
            let precisions = precisions[way.min(precisions.len() - 1)].mean();
            for d in 0..part.weights.rows() {
                let level = part.bias.mean()[part.bias.place(way, d)];
                x.push(view.as_ref().unwrap().value(n, d).unwrap() - level);
                w.push(
                    (0..fit.k())
                        .map(|j| part.weights.mean()[(d, j)])
                        .collect::<Vec<_>>(),
                );
                noise.push(1.0 / precisions[d.min(precisions.len() - 1)]);
            }
        }
        let cov = SymPacked::from_lower(x.len(), |a, b| {
            let shared: f64 = w[a].iter().zip(&w[b]).map(|(a, b)| a * b).sum();
            shared + if a == b { noise[a] } else { 0.0 }
        });
        let (factor, _) = SpdFactor::factor(&cov).unwrap();
        let row = Mat::from_fn(1, x.len(), |_, d| x[d]);
        let solved = factor.solve_mat_right(row.as_ref());
        let square: f64 = (0..x.len()).map(|d| solved[(0, d)] * x[d]).sum();
        -0.5 * (square + factor.log_det())
    };
    let shares = placing::shares(&bounds, ids.len());
    let sizes = RowGroups::from(fit.groups().unwrap()).sizes().to_vec();
    assert!(sizes.contains(&54.0) && sizes.contains(&106.0));
    let mut open = 0;
    for n in 0..ids.len() {
        let exact = density(n, 0) - density(n, 1) + (sizes[0] / sizes[1]).ln();
        assert!((bounds[0][n] - bounds[1][n] - exact).abs() < 1e-6, "{n}");
        let share = 1.0 / (1.0 + (-exact).exp());
        assert!((shares[0][n] - share).abs() < 1e-6);
        open += usize::from((0.1..0.9).contains(&share));
    }
    // the groups are not so far apart that any formula would do
    assert!(open > 20, "{open}");
}
