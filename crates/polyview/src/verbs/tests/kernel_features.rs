//! Weights of features behind a kernel (spec/thesis 7.3), and random Fourier features.

use polyview_core::{Dataset, Table};
use polyview_linalg::Mat;
use polyview_random::{StreamKey, standard_normal};

use crate::fit::{Fit, Fitting};
use crate::models;
use crate::spec::ModelSpec;

/// The features that matter.
const MATTER: [usize; 5] = [4, 13, 22, 31, 45];

/// Fifty features, of which five matter, and what follows from these.
fn tables(samples: usize, seed: u64) -> [Table; 2] {
    let mut rng = StreamKey::new(seed).rng();
    let x = Mat::from_fn(samples, 50, |_, _| standard_normal(&mut rng));
    let y = Mat::from_fn(samples, 2, |n, t| {
        let at = |i: usize| x[(n, MATTER[i])];
        let curve = match t {
            0 => at(0).sin() + 0.7 * at(1) + 0.5 * at(2).powi(2),
            _ => at(3).cos() * 1.5 + at(4) + 0.6 * at(0),
        };
        curve + 0.2 * standard_normal(&mut rng)
    });
    let table = |name: &str, values: Mat<f64>| Table {
        name: name.into(),
        samples: (0..samples).map(|n| format!("s{seed}.{n}")).collect(),
        features: (0..values.ncols()).map(|d| format!("{name}{d}")).collect(),
        levels: Vec::new(),
        values,
    };
    [table("x", x), table("y", y)]
}

fn fitted(samples: usize, seed: u64, kernel: &str) -> Fit {
    let [x, y] = tables(samples, seed);
    let data = Dataset::builder().view(x).view(y).build().unwrap();
    let mut spec: ModelSpec = models::bibfa(12).with_kernel("x", kernel.parse().unwrap());
    spec.vb.max_sweeps = 100;
    crate::fit(data, spec).unwrap()
}

fn r2(fit: &Fit, seed: u64) -> f64 {
    let [x, y] = tables(200, seed);
    let new = Dataset::builder().view(x).new_samples().build().unwrap();
    let found = fit.predict(&new, "y").unwrap().mean;
    let (mut errors, mut all) = (0.0, 0.0);
    for d in 0..2 {
        let mean = y.values.col_as_slice(d).iter().sum::<f64>() / 200.0;
        for n in 0..200 {
            errors += (y.values[(n, d)] - found[(n, d)]).powi(2);
            all += (y.values[(n, d)] - mean).powi(2);
        }
    }
    1.0 - errors / all
}

/// Files hold all, and say the same of new samples.
fn is_kept(fit: &Fit) {
    let read = Fit::from_bytes(&fit.to_bytes().unwrap()).unwrap();
    assert_eq!(read.views(), fit.views());
    let [x, _] = tables(20, 77);
    let new = Dataset::builder().view(x).new_samples().build().unwrap();
    let [a, b] = [fit, &read].map(|f| f.predict(&new, "y").unwrap());
    assert_eq!((a.mean, a.sd), (b.mean, b.sd));
}

#[test]
fn five_features_of_fifty_are_on_top() {
    let fit = fitted(160, 1, "rbf{ard=true}");
    let all = fit.view("x").unwrap().1.kernel_relevances().unwrap();
    let top: Vec<&str> = all[..5].iter().map(|(f, _)| *f).collect();
    let matters = |f: &&str| MATTER.iter().any(|d| *f == format!("x{d}"));
    assert!(top.iter().all(matters), "{all:?}");
    assert!(all[4].1 > 2.0 * all[5].1, "{all:?}");
    let mean = all.iter().map(|a| a.1).sum::<f64>() / 50.0;
    assert!((mean - 1.0).abs() < 1e-9);
    let notes: String = fit.record().journal.remarks().map(|r| r.1).collect();
    assert!(
        notes.contains("features have weights of their own"),
        "{notes}"
    );
    let alike = fitted(160, 1, "rbf");
    assert!(alike.view("x").unwrap().1.kernel_relevances().is_none());
    let [with, without] = [&fit, &alike].map(|f| r2(f, 2));
    assert!(with > without + 0.1, "{with} {without}");
    is_kept(&fit);
    // the same bits however many threads there are
    let pool = polyview_linalg::Threads::new(3).unwrap();
    let threads = pool.install(|| fitted(160, 1, "rbf{ard=true}"));
    assert_eq!(threads.factors().unwrap().mean, fit.factors().unwrap().mean);
}

#[test]
fn weights_need_something_to_predict() {
    let [x, _] = tables(40, 3);
    let data = Dataset::builder().view(x).build().unwrap();
    let spec = models::bibfa(4).with_kernel("x", "linear{ard=true}".parse().unwrap());
    let fit = crate::fit(data, spec).unwrap();
    let all = fit.view("x").unwrap().1.kernel_relevances().unwrap();
    assert!(all.iter().all(|a| (a.1 - 1.0).abs() < 1e-9));
    let notes: String = fit.record().journal.remarks().map(|r| r.1).collect();
    assert!(notes.contains("all features count alike: there is no other view"));
}

#[test]
fn random_features_stand_for_similarities() {
    let fit = fitted(160, 1, "rbf{ard=true, features=300}");
    let info = fit.view("x").unwrap().1;
    assert_eq!(info.features.len(), 300);
    assert!(
        info.kernel_in_words()
            .unwrap()
            .contains("300 random Fourier features")
    );
    let exact = fitted(160, 1, "rbf{ard=true}");
    let [few, all] = [&fit, &exact].map(|f| r2(f, 2));
    assert!(few > all - 0.1, "{few} {all}");
    is_kept(&fit);
}

#[test]
fn a_table_beside_its_own_kernel_is_no_target_of_the_width() {
    let note = |beside: bool, with_target: bool| -> String {
        let [x, y] = tables(90, 5);
        let mut builder = Dataset::builder().view(x.clone());
        if beside {
            let name = "r".to_owned();
            // other names, a feature of its own less, and in another order
            let order: Vec<usize> = (0..49).rev().collect();
            let features = order.iter().map(|d| format!("r{d}")).collect();
            let values = Mat::from_fn(90, 49, |n, d| x.values[(n, order[d])]);
            builder = builder.view(Table {
                name,
                features,
                values,
                ..x
            });
        }
        if with_target {
            builder = builder.view(y);
        }
        let mut spec: ModelSpec = models::bibfa(3).with_kernel("x", "rbf".parse().unwrap());
        spec.vb.max_sweeps = 2;
        let fit = crate::fit(builder.build().unwrap(), spec).unwrap();
        let notes = fit.record().journal.remarks().map(|r| r.1);
        let mut of_width = notes.filter(|n| n.contains("the width is"));
        of_width.next().expect("a note of the width")
    };
    let alone = note(false, true);
    assert!(alone.contains("predicts y best"), "{alone}");
    assert_eq!(note(true, true), alone);
    let without = note(true, false);
    assert!(
        without.contains("other views hold no more than the features that are compared"),
        "{without}"
    );
}

#[test]
fn a_checkpoint_goes_on_with_its_own_kernel_alone() {
    let of = |kernel: Option<&str>| {
        let [x, y] = tables(60, 6);
        let data = Dataset::builder().view(x).view(y).build().unwrap();
        let mut spec: ModelSpec = models::bibfa(3);
        if let Some(kernel) = kernel {
            spec = spec.with_kernel("x", kernel.parse().unwrap());
        }
        Fitting::new(data, spec).unwrap()
    };
    let chosen = "rbf{width=9, features=40}";
    let mut begun = of(Some(chosen));
    begun.step().unwrap();
    let at = begun.checkpoint().unwrap();
    of(Some(chosen)).resume(&at).unwrap();
    let others = [
        Some("rbf{width=9, ard=true, features=40}"),
        Some("rbf{width=9, features=42}"),
        Some("rbf{width=9}"),
        Some("rbf{width=8, features=40}"),
        None,
    ];
    for other in others {
        let said = of(other).resume(&at).unwrap_err().to_string();
        let told = format!(
            "'views.x.kernel' is {chosen} there and {} here",
            other.unwrap_or("not said")
        );
        assert!(said.contains(&told), "{said}");
    }
}
