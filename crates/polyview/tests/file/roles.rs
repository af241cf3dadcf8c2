//! What a saved state keeps is said by the parts, not by names.

use polyview::{Fit, models};
use polyview_core::{Dataset, Table};
use polyview_linalg::Mat;

/// Two views of 24 samples: numbers, and labels of the second kind of name.
fn data(second: &str) -> Dataset {
    let table = |name: &str, columns: usize, value: &dyn Fn(usize, usize) -> f64| Table {
        name: name.to_owned(),
        samples: (0..24).map(|n| format!("s{n}")).collect(),
        features: (0..columns).map(|d| format!("{name} {d}")).collect(),
        values: Mat::from_fn(24, columns, value),
        levels: Vec::new(),
    };
    let z = |n: usize| (n % 5) as f64 - 2.0;
    Dataset::builder()
        .view(table("x", 4, &|n, d| {
            z(n) * (1.0 + d as f64) + ((7 * n + 3 * d) % 11) as f64 / 11.0
        }))
        .view(table(second, 3, &|n, d| {
            f64::from(u8::from((n + d) % 5 > 2))
        }))
        .build()
        .unwrap()
}

fn fit(second: &str) -> Fit {
    let mut spec = models::sshiba(2).with_likelihood(second, "bernoulli");
    spec.vb.max_sweeps = 20;
    polyview::fit(data(second), spec).unwrap()
}

fn saved_and_read(fit: &Fit) -> Fit {
    Fit::from_bytes(&fit.to_bytes().unwrap()).unwrap()
}

#[test]
fn a_view_may_be_called_like_what_is_not_kept() {
    for name in ["y/term/local/y", "y/term/imputed/y", "y/term/anchors/y"] {
        let fit = fit(name);
        let again = saved_and_read(&fit);
        let (a, b) = (fit.weights(name).unwrap(), again.weights(name).unwrap());
        assert_eq!(a.mean, b.mean);
    }
}

#[test]
fn labels_that_were_turned_can_be_saved() {
    let turned = fit("y").varimax().unwrap();
    let again = saved_and_read(&turned);
    assert_eq!(
        turned.weights("y").unwrap().mean,
        again.weights("y").unwrap().mean
    );
}
