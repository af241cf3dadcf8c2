//! Fits that are adjusted for covariates and offsets.

mod offsets;
mod refused;

use polyview_core::{Dataset, Metadata, MetadataValues, Table};
use polyview_linalg::{Mat, SpdFactor, gram};
use polyview_random::{StreamKey, poisson, standard_normal};

use crate::{EngineKind, ErrorKind, Fit, Fitting, ModelSpec, Offset, ProjectOptions, models};

const N: usize = 120;

fn normals(seed: u64, rows: usize, columns: usize) -> Mat<f64> {
    let mut rng = StreamKey::new(seed).rng();
    Mat::from_fn(rows, columns, |_, _| standard_normal(&mut rng))
}

fn ids() -> Vec<String> {
    (0..N).map(|n| format!("s{n:03}")).collect()
}

/// Three batches, and an age that goes with them a little.
fn batch(n: usize) -> usize {
    [0, 1, 1, 2, 0, 1][n % 6]
}

fn age(n: usize) -> f64 {
    40.0 + ((n * 37) % 41) as f64 + 4.0 * batch(n) as f64
}

fn table(name: &str, values: Mat<f64>) -> Table {
    Table {
        name: name.into(),
        samples: ids(),
        features: (0..values.ncols()).map(|d| format!("{name}{d}")).collect(),
        levels: Vec::new(),
        values,
    }
}

fn numbers(name: &str, of: impl Fn(usize) -> f64) -> Metadata {
    Metadata {
        name: name.into(),
        values: MetadataValues::Numbers((0..N).map(of).collect()),
    }
}

fn words(name: &str, of: impl Fn(usize) -> String) -> Metadata {
    Metadata {
        name: name.into(),
        values: MetadataValues::Categories((0..N).map(|n| Some(of(n))).collect()),
    }
}

fn about() -> [Metadata; 2] {
    [
        numbers("age", age),
        words("batch", |n| ["b1", "b2", "b3"][batch(n)].to_owned()),
    ]
}

fn data_with(views: Vec<Table>, columns: impl IntoIterator<Item = Metadata>) -> Dataset {
    let mut builder = Dataset::builder();
    for view in views {
        builder = builder.view(view);
    }
    for column in columns {
        builder = builder.metadata(ids(), column);
    }
    builder.build().unwrap()
}

/// Two views of two factors, and a batch effect that is larger than they are.
fn values() -> (Mat<f64>, Vec<Table>) {
    let z = normals(1, N, 2);
    let views = [("x", 20, 2), ("y", 12, 3)].map(|(name, d, seed)| {
        let (w, effect) = (normals(seed, d, 2), normals(seed + 10, d, 3));
        let noise = normals(seed + 20, N, d);
        table(
            name,
            Mat::from_fn(N, d, |n, j| {
                z[(n, 0)] * w[(j, 0)]
                    + z[(n, 1)] * w[(j, 1)]
                    + 3.0 * effect[(j, batch(n))]
                    + 0.03 * (age(n) - 60.0) * w[(j, 0)]
                    + 0.5 * noise[(n, j)]
            }),
        )
    });
    (z, views.into())
}

fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let mean = |x: &[f64]| x.iter().sum::<f64>() / x.len() as f64;
    let (ma, mb) = (mean(a), mean(b));
    let dot = |x: &[f64], mx: f64, y: &[f64], my: f64| {
        x.iter()
            .zip(y)
            .map(|(x, y)| (x - mx) * (y - my))
            .sum::<f64>()
    };
    dot(a, ma, b, mb) / (dot(a, ma, a, ma) * dot(b, mb, b, mb)).sqrt()
}

/// Largest correlation of any factor with a number.
fn largest(fit: &Fit, of: impl Fn(usize) -> f64) -> f64 {
    let z = fit.factors().unwrap().mean;
    let other: Vec<f64> = (0..N).map(of).collect();
    (0..z.ncols())
        .map(|k| correlation(z.col_as_slice(k), &other).abs())
        .fold(0.0, f64::max)
}

fn spec() -> ModelSpec {
    let mut spec = models::bibfa(6);
    spec.vb.max_sweeps = 300;
    spec
}

fn is_batch(b: usize) -> impl Fn(usize) -> f64 {
    move |n| f64::from(u8::from(batch(n) == b))
}

#[test]
fn factors_do_not_follow_what_is_adjusted_for() {
    let (z, views) = values();
    let data = data_with(views, about());
    let plain = crate::fit(data.clone(), spec()).unwrap();
    assert!((0..3).any(|b| largest(&plain, is_batch(b)) > 0.8));
    let spec = spec().with_covariates(["age", "batch"]);
    let fit = crate::fit(data.clone(), spec).unwrap();
    for b in 0..3 {
        let r = largest(&fit, is_batch(b));
        assert!(r < 0.02, "{r}");
    }
    assert!(largest(&fit, age) < 0.02);
    assert_eq!(fit.k(), 2);
    for k in 0..2 {
        assert!(largest(&fit, |n| z[(n, k)]) > 0.6);
    }
    let ledger = &fit.record().ledgers[0];
    for pair in ledger.rows.windows(2) {
        let fell = pair[1].factors == pair[0].factors && pair[1].total < pair[0].total - 1e-6;
        assert!(!fell, "{} {}", pair[0].total, pair[1].total);
    }
    // a batch's difference is that of least squares, in data units
    let b = fit.coefficients("x").unwrap().unwrap();
    assert_eq!(b.covariates, ["age", "batch=b2", "batch=b3"]);
    let by_least_squares = least_squares(&values().1[0].values);
    let (share, scale) = (1.0 / 6.0, &fit.views()[0].scaling.scale);
    let sd = (share * (1.0_f64 - share)).sqrt();
    for d in 0..20 {
        let found = b.mean[(d, 2)] / sd * scale[d];
        let want = by_least_squares[(d, 3)];
        assert!((found - want).abs() < 0.1, "{found} {want}");
    }
    let of = fit.explain().unwrap();
    let before = plain.explain().unwrap();
    for v in 0..2 {
        assert!(of.covariates[v] > 0.4 && of.offset[v] == 0.0);
        let both = of.total[v] + of.covariates[v];
        assert!((both - of.together[v]).abs() < 0.05);
        assert!((before.total[v] - of.together[v]).abs() < 0.1);
    }
}

/// Coefficients of 1, age and two batches by least squares, features × 4.
fn least_squares(values: &Mat<f64>) -> Mat<f64> {
    let about = Mat::from_fn(N, 4, |n, j| match j {
        0 => 1.0,
        1 => age(n),
        _ => is_batch(j - 1)(n),
    });
    let (factor, _) = SpdFactor::factor(&gram(about.as_ref())).unwrap();
    factor.solve_mat_right((values.transpose() * &about).as_ref())
}

/// What covariates do to all features alike is one direction of weights, which a factor holds
/// for less than a coefficient for each feature and covariate.
#[test]
fn what_covariates_do_to_all_alike_is_no_factor() {
    let z = normals(1, N, 2);
    let (w, noise) = (normals(2, 200, 2), normals(3, N, 200));
    let alike = |n: usize| [0.0, 4.0, -3.0][batch(n)] + 0.1 * (age(n) - 60.0);
    let values = Mat::from_fn(N, 200, |n, d| {
        z[(n, 0)] * w[(d, 0)] + z[(n, 1)] * w[(d, 1)] + alike(n) + 0.5 * noise[(n, d)]
    });
    let data = data_with(vec![table("x", values)], about());
    for factor_prior in ["standard-normal", "ard"] {
        for engine in [EngineKind::Vb, EngineKind::Gibbs] {
            let mut spec = spec().with_covariates(["age", "batch"]);
            (spec.engine, spec.factor_prior) = (engine, factor_prior.into());
            (spec.gibbs.chains, spec.gibbs.warm_up, spec.gibbs.sweeps) = (1, 100, 200);
            let fit = crate::fit(data.clone(), spec).unwrap();
            let what = format!("{factor_prior} {engine:?}");
            for b in 0..3 {
                let r = largest(&fit, is_batch(b));
                // slopes that are drawn are known to a standard error of N^-1/2
                let most = if engine == EngineKind::Vb { 0.1 } else { 0.3 };
                assert!(r < most, "{what}: {r}");
            }
            let of = fit.explain().unwrap();
            assert!(of.covariates[0] > 0.7, "{what}: {}", of.covariates[0]);
            assert!(of.total[0] < 0.3, "{what}: {}", of.total[0]);
            // a projection is of what is left, too, and predictors are those of the fit
            if engine == EngineKind::Vb {
                let again = fit.project(&data, &ProjectOptions::default()).unwrap();
                let found = fit.factors().unwrap().mean;
                for n in 0..N {
                    for k in 0..found.ncols() {
                        let gap = (found[(n, k)] - again.mean[(n, k)]).abs();
                        assert!(gap < 1e-3, "{what}: {gap}");
                    }
                }
            }
        }
    }
}

#[test]
fn the_file_says_it_all_and_new_samples_need_their_covariates() {
    let (_, views) = values();
    let data = data_with(views.clone(), about());
    let spec = spec().with_covariates(["age", "batch"]);
    let fit = crate::fit(data.clone(), spec).unwrap();
    let read = Fit::from_bytes(&fit.to_bytes().unwrap()).unwrap();
    assert_eq!(read.to_bytes().unwrap(), fit.to_bytes().unwrap());
    let own = fit.factors().unwrap().mean;
    let again = read.project(&data, &ProjectOptions::default()).unwrap();
    for n in 0..N {
        for k in 0..fit.k() {
            assert!((again.mean[(n, k)] - own[(n, k)]).abs() < 1e-3);
        }
    }
    // the other view is predicted, batch effect included
    let found = read.predict(&data, "y").unwrap();
    let column = |m: &Mat<f64>, d: usize| m.col_as_slice(d).to_vec();
    for d in 0..12 {
        let r = correlation(&column(&found.mean, d), &column(&views[1].values, d));
        assert!(r > 0.85, "{r}");
    }
    let kind = |data: &Dataset| {
        let e = read.project(data, &ProjectOptions::default()).unwrap_err();
        e.kind().clone()
    };
    let without = data_with(views.clone(), [numbers("age", age)]);
    assert!(
        matches!(kind(&without), ErrorKind::UnknownMetadata { column, .. } if column == "batch")
    );
    let other = words("batch", |n| format!("b{}", n % 5));
    let unknown = data_with(views.clone(), [numbers("age", age), other]);
    assert!(
        matches!(kind(&unknown), ErrorKind::UnknownCategory { category, .. } if category == "b0")
    );
    let hole = numbers("age", |n| if n == 7 { f64::NAN } else { age(n) });
    let holes = data_with(views, [hole, about()[1].clone()]);
    assert!(matches!(kind(&holes), ErrorKind::NoCovariate { sample, .. } if sample == "s007"));
}

/// Counts of two factors, whose library sizes vary by a factor of twenty.
fn counts() -> (Vec<f64>, Table) {
    let (z, w, mut rng) = (normals(1, N, 2), normals(2, 30, 2), StreamKey::new(3).rng());
    let size: Vec<f64> = (0..N)
        .map(|n| (normals(7, N, 1)[(n, 0)] * 0.8).exp())
        .collect();
    let values = Mat::from_fn(N, 30, |n, d| {
        let eta = 2.5 + 0.5 * (z[(n, 0)] * w[(d, 0)] + z[(n, 1)] * w[(d, 1)]);
        poisson(&mut rng, size[n] * eta.exp()).unwrap()
    });
    (size, table("rna", values))
}

fn steps(fitting: &mut Fitting, count: usize) {
    for _ in 0..count {
        fitting.step().unwrap();
    }
}

#[test]
fn a_fit_goes_on_from_a_checkpoint_of_the_same_covariates_alone() {
    let (_, views) = values();
    for engine in [EngineKind::Vb, EngineKind::Gibbs] {
        let mut spec = spec().with_covariates(["batch"]);
        spec.engine = engine;
        (spec.gibbs.chains, spec.gibbs.warm_up, spec.gibbs.sweeps) = (1, 3, 6);
        (spec.gibbs.thin, spec.vb.max_sweeps) = (2, 9);
        let start = |columns: [Metadata; 2]| {
            Fitting::new(data_with(views.clone(), columns), spec.clone()).unwrap()
        };
        let mut whole = start(about());
        steps(&mut whole, 4);
        let checkpoint = whole.checkpoint().unwrap();
        let mut again = start(about());
        again.resume(&checkpoint).unwrap();
        steps(&mut whole, 5);
        steps(&mut again, 5);
        let (whole, again) = (whole.finish().unwrap(), again.finish().unwrap());
        assert_eq!(whole.factors().unwrap().mean, again.factors().unwrap().mean);
        let of = |fit: &Fit| fit.coefficients("y").unwrap().unwrap().mean;
        assert_eq!(of(&whole), of(&again));
        let read = Fit::from_bytes(&whole.to_bytes().unwrap()).unwrap();
        assert_eq!(of(&whole), of(&read));
        let other = words("batch", |n| ["b1", "b2", "b3"][batch(n + 1)].to_owned());
        let mut other = start([about()[0].clone(), other]);
        let e = other.resume(&checkpoint).unwrap_err();
        assert!(matches!(e.kind(), ErrorKind::OtherFit { .. }), "{e}");
    }
}

#[test]
fn gibbs_finds_what_variational_bayes_does_on_any_number_of_threads() {
    let (_, views) = values();
    let data = data_with(views, about());
    let mut spec = spec().with_covariates(["age", "batch"]);
    spec.factors = 2;
    let vb = crate::fit(data.clone(), spec.clone()).unwrap();
    spec.engine = EngineKind::Gibbs;
    (spec.gibbs.chains, spec.gibbs.warm_up) = (1, 150);
    (spec.gibbs.sweeps, spec.gibbs.thin) = (300, 5);
    let gibbs = crate::fit(data.clone(), spec.clone()).unwrap();
    for view in ["x", "y"] {
        let of = |fit: &Fit| fit.coefficients(view).unwrap().unwrap();
        let (a, b) = (of(&vb), of(&gibbs));
        for k in 0..3 {
            let r = correlation(a.mean.col_as_slice(k), b.mean.col_as_slice(k));
            assert!(r > 0.95, "{view} {k} {r}");
        }
    }
    assert!((0..3).all(|b| largest(&gibbs, is_batch(b)) < 0.2));
    spec.gibbs.warm_up = 4;
    spec.gibbs.sweeps = 5;
    let alone = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .unwrap();
    for engine in [EngineKind::Gibbs, EngineKind::Vb] {
        spec.engine = engine;
        spec.vb.max_sweeps = 12;
        let many = crate::fit(data.clone(), spec.clone()).unwrap();
        let one = alone.install(|| crate::fit(data.clone(), spec.clone()).unwrap());
        assert_eq!(many.factors().unwrap().mean, one.factors().unwrap().mean);
    }
}

#[test]
fn no_step_leads_down_where_equations_are_tangents() {
    let (_, rna) = counts();
    let labels = Mat::from_fn(N, 4, |n, d| {
        f64::from(u8::from(normals(5, N, 4)[(n, d)] + batch(n) as f64 > 1.0))
    });
    let data = data_with(vec![rna, table("sick", labels)], about());
    let likelihood = |name: &str| {
        let options = polyview_core::Options::parse("form=expectation").unwrap();
        let plain: crate::Likelihood = name.into();
        plain.with(options)
    };
    let mut spec = spec()
        .with_likelihood("rna", likelihood("negative-binomial"))
        .with_likelihood("sick", likelihood("bernoulli"))
        .with_covariates(["batch"])
        .with_offset("rna", Offset::LogTotal);
    spec.vb.audit = polyview_infer::Audit::Blocks;
    spec.vb.max_sweeps = 25;
    // an audit is an error where a block lowers the bound
    let fit = crate::fit(data, spec).unwrap();
    assert!(fit.explain().unwrap().covariates[1] > 0.02);
}

#[test]
fn a_settled_fit_stays_adjusted_and_is_read_again() {
    let (_, views) = values();
    let data = data_with(views, about());
    let joint = spec().with_covariates(["age", "batch"]);
    let plain = crate::fit(data.clone(), joint.clone()).unwrap();
    let fit = crate::fit(data.clone(), joint.with_settled("y", true)).unwrap();
    let share = |fit: &Fit| fit.explain().unwrap().covariates[0];
    assert!(share(&plain) > 0.1);
    assert_eq!(share(&fit), share(&plain));
    let again = Fit::from_bytes(&fit.to_bytes().unwrap()).unwrap();
    let predicted = |fit: &Fit| fit.predict(&data, "y").unwrap().mean;
    assert_eq!(predicted(&again), predicted(&fit));
    assert_ne!(predicted(&fit), predicted(&plain));
}

#[test]
fn groups_of_an_adjusted_fit_say_how_strongly_factors_act() {
    let (_, views) = values();
    let mut builder = Dataset::builder();
    for view in views {
        builder = builder.view(view);
    }
    for column in about() {
        builder = builder.metadata(ids(), column);
    }
    let group = |(n, id): (usize, String)| (id, ["a", "b"][n % 2].to_owned());
    let groups = ids().into_iter().enumerate().map(group).collect();
    let data = builder.groups(groups).build().unwrap();
    let fit = crate::fit(data, spec().with_covariates(["age"])).unwrap();
    let activity = fit.group_activity().unwrap();
    assert_eq!(activity.groups, ["a", "b"]);
    assert!(activity.mean_square[(0, 0)] > 0.0);
    let prior = activity
        .prior_variance
        .unwrap_or_else(|| Mat::from_fn(2, fit.k(), |_, _| 1.0));
    assert!((0..fit.k()).all(|k| prior[(1, k)] > 0.0));
}

/// Tables of 20 samples of noise with as many columns of covariates as are asked for.
fn few(covariates: usize) -> Dataset {
    let ids = || (0..20).map(|n| format!("s{n:02}")).collect::<Vec<_>>();
    let mut builder = Dataset::builder();
    for (name, columns, seed) in [("x", 12, 41), ("y", 9, 42)] {
        let mut own = table(name, normals(seed, 20, columns));
        own.samples = ids();
        builder = builder.view(own);
    }
    for c in 0..covariates {
        let values = normals(100 + c as u64, 20, 1).col_as_slice(0).to_vec();
        let column = Metadata {
            name: format!("c{c}"),
            values: MetadataValues::Numbers(values),
        };
        builder = builder.metadata(ids(), column);
    }
    builder.build().unwrap()
}

/// Covariates that use up the samples are said.
#[test]
fn many_covariates_of_few_samples_are_said() {
    let fit_with = |columns: usize| {
        let names = (0..columns).map(|c| format!("c{c}"));
        let mut spec = models::mofa(6);
        spec.covariates = names.collect();
        crate::fit(few(columns), spec).unwrap()
    };
    let warned = |fit: &Fit| {
        let remarks = fit.record().journal.remarks();
        let text: Vec<String> = remarks.into_iter().map(|r| r.1).collect();
        text.join("; ")
    };
    let fit = fit_with(7);
    let said = warned(&fit);
    assert!(
        said.contains("7 columns of covariates for 20 samples") && said.contains("37 % by chance"),
        "{said}"
    );
    assert!(!warned(&fit_with(6)).contains("by chance"));
    let fit = fit_with(19);
    let said = warned(&fit);
    assert!(
        said.contains("up to 100 % by chance") && said.contains("at most 6 columns"),
        "{said}"
    );
    assert!(
        said.contains("the 19 columns of covariates take up"),
        "{said}"
    );
    assert!(!said.contains("likelihoods"), "{said}");
}

/// A factor whose weights are nothing is not said to move, however much of nothing that is.
#[test]
fn factors_without_weights_do_not_move() {
    let mut spec = models::mofa(6);
    spec.covariates = (0..19).map(|c| format!("c{c}")).collect();
    spec.vb.max_sweeps = 60;
    let fit = crate::fit(few(19), spec).unwrap();
    let warnings: Vec<String> = fit.record().journal.warnings().collect();
    let said = warnings.join("; ");
    assert!(said.contains("no factor explains anything"), "{said}");
    assert!(said.contains("stopped at its limit"), "{said}");
    assert!(!said.contains("of their size"), "{said}");
}

/// Few whole numbers may be names of categories, which is said when the fit is made.
#[test]
fn codes_that_are_taken_for_numbers_are_said() {
    let said = |of: &dyn Fn(usize) -> usize| {
        let data = few(0);
        let values = (0..20).map(|n| of(n) as f64).collect();
        let column = Metadata {
            name: "batch".to_owned(),
            values: MetadataValues::Numbers(values),
        };
        let mut builder = Dataset::builder().metadata(data.samples().to_vec(), column);
        for view in data.views() {
            let mut own = table(view.name(), view.to_values_with_nan());
            own.samples = data.samples().to_vec();
            builder = builder.view(own);
        }
        let mut spec = models::mofa(2).with_covariates(["batch"]);
        spec.vb.max_sweeps = 2;
        let fit = crate::fit(builder.build().unwrap(), spec).unwrap();
        let notes: Vec<String> = fit.record().journal.remarks().map(|r| r.1).collect();
        notes.join("; ")
    };
    let text = said(&|n| 1 + n % 5);
    assert!(
        text.contains("'batch' has 5 different whole numbers")
            && text.contains("write them as words"),
        "{text}"
    );
    assert!(!said(&|n| n % 2).contains("whole numbers"));
    assert!(!said(&|n| 30 + n).contains("whole numbers"));
}
