//! MLFS on the mix that its specification was checked on (spec/mlfs 11, V0).

use polyview::{EngineKind, ErrorKind, Fit, Likelihood, ModelSpec, models};
use polyview_core::{Dataset, Table};
use polyview_infer::Audit;
use polyview_linalg::Mat;
use polyview_random::{StreamKey, standard_normal};
use polyview_tests::normal;

const N: usize = 60;
const RANK: usize = 3;

fn table(name: &str, features: Vec<String>, values: Mat<f64>) -> Table {
    Table {
        name: name.into(),
        samples: (0..N).map(|n| format!("s{n}")).collect(),
        features,
        levels: Vec::new(),
        values,
    }
}

/// Ordinal 60 x 20 of five levels, real 60 x 15, similarities 60 x 60 of four dimensions, three
/// classes, all of three factors; a tenth of the cells of each view is missing.
fn data() -> (Dataset, Mat<f64>) {
    let mut rng = StreamKey::new(11).rng();
    let v = normal(N, RANK, &mut rng);
    let names = |count: usize, what: &str| (0..count).map(|d| format!("{what}{d}")).collect();
    let mut of = |columns: usize, noise: f64| {
        let w = normal(columns, RANK, &mut rng);
        let eta = &v * w.transpose();
        Mat::from_fn(N, columns, |n, d| {
            eta[(n, d)] + noise * standard_normal(&mut rng)
        })
    };
    let latent = of(20, 1.0);
    let ordinal = Mat::from_fn(N, 20, |n, d| {
        1.0 + [-3.0, -1.0, 1.0, 3.0]
            .iter()
            .filter(|g| **g < latent[(n, d)])
            .count() as f64
    });
    let real = of(15, 0.7);
    let u = of(4, 0.5);
    let scores = of(3, 1.0);
    let noise = normal(N, N, &mut rng);
    let products = &u * u.transpose();
    let alike = Mat::from_fn(N, N, |n, m| {
        products[(n, m)] + 0.5 * noise[(n.min(m), n.max(m))]
    });
    let hidden = |m: Mat<f64>, by: usize| {
        Mat::from_fn(m.nrows(), m.ncols(), |n, d| {
            if (n * 7 + d * 3 + by).is_multiple_of(10) {
                f64::NAN
            } else {
                m[(n, d)]
            }
        })
    };
    let class = |n: usize| {
        let of = |c: usize| scores[(n, c)];
        (1..3).fold(0, |best, c| if of(c) > of(best) { c } else { best }) as f64
    };
    let label = Table {
        levels: (0..3).map(|c| format!("class {c}")).collect(),
        ..table(
            "label",
            names(1, "class"),
            Mat::from_fn(N, 1, |n, _| class(n)),
        )
    };
    let ids = (0..N).map(|n| format!("s{n}")).collect();
    let data = Dataset::builder()
        .view(table("ordinal", names(20, "q"), hidden(ordinal, 0)))
        .view(table("real", names(15, "x"), hidden(real, 3)))
        .view(table("alike", ids, hidden(alike, 5)))
        .view(label);
    (data.build().expect("data"), v)
}

fn spec(ordinal: &str) -> ModelSpec {
    let alike: Likelihood = "similarity{dimensions=4}".parse().expect("a likelihood");
    let mut spec = models::mlfs(6)
        .with_likelihood("ordinal", ordinal)
        .with_likelihood("alike", alike)
        .with_likelihood("label", "categorical-probit");
    spec.vb.audit = Audit::Blocks;
    spec
}

/// R2 of a true factor regressed on the factors of a fit.
fn recovered(fit: &Fit, truth: &Mat<f64>) -> Vec<f64> {
    let z = fit.factors().expect("factors").mean;
    let k = z.ncols();
    let design = Mat::from_fn(N, k + 1, |n, j| if j < k { z[(n, j)] } else { 1.0 });
    let gram = design.transpose() * &design;
    (0..truth.ncols())
        .map(|f| {
            let y = Mat::from_fn(N, 1, |n, _| truth[(n, f)]);
            let b = polyview_linalg::solve_spd(gram.as_ref(), (design.transpose() * &y).as_ref());
            let off = &y - &design * b.expect("full rank");
            let mean = (0..N).map(|n| y[(n, 0)]).sum::<f64>() / N as f64;
            let all: f64 = (0..N).map(|n| (y[(n, 0)] - mean).powi(2)).sum();
            1.0 - off.squared_norm_l2() / all
        })
        .collect()
}

/// No block lowers the bound in any sweep, and the true factors are found, by either form of ordered
/// levels.
#[test]
fn every_step_raises_the_bound_and_factors_are_recovered() {
    let (data, truth) = data();
    for ordinal in ["ordinal", "ordinal{form=bound}", "ordinal-midpoint"] {
        let ordinal_spec = spec("ordinal").with_likelihood(
            "ordinal",
            ordinal.parse::<Likelihood>().expect("a likelihood"),
        );
        let fit = polyview::fit(data.clone(), ordinal_spec);
        let fit = fit.unwrap_or_else(|e| panic!("{ordinal}: {e}"));
        let found = recovered(&fit, &truth);
        assert!(found.iter().all(|r2| *r2 > 0.93), "{ordinal}: {found:?}");
        let explained = fit.explain().expect("shares");
        assert!(
            explained.total[..3].iter().all(|t| *t > 0.5),
            "{explained:?}"
        );
    }
}

/// What the specification has by batches is not there, and is refused with the reason.
#[test]
fn batches_are_refused() {
    let (data, _) = data();
    let mut spec = spec("ordinal");
    spec.engine = EngineKind::Stochastic;
    let error = polyview::fit(data, spec).expect_err("batches");
    assert!(
        matches!(error.kind(), ErrorKind::Incompatible { .. }),
        "{error}"
    );
}
