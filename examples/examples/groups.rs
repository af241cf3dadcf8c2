//! Samples of three groups that differ in level and noise, and share one
//! factor; a second one acts in one group alone, and is found there.
#![allow(clippy::print_stdout)]

use polyview::models;
use polyview_core::{Dataset, Table};
use polyview_linalg::Mat;
use polyview_random::{StreamKey, standard_normal};

const SAMPLES: usize = 150;
const FEATURES: usize = 40;
const GROUPS: [&str; 3] = ["liver", "kidney", "brain"];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut rng = StreamKey::new(1).rng();
    // the second factor is silent but in the kidney
    let z: Mat<f64> = Mat::from_fn(SAMPLES, 2, |n, k| {
        if k == 1 && n % 3 != 1 {
            0.0
        } else {
            standard_normal(&mut rng)
        }
    });
    let w: Mat<f64> = Mat::from_fn(FEATURES, 2, |_, _| standard_normal(&mut rng));
    let level: Mat<f64> = Mat::from_fn(3, FEATURES, |_, _| 3.0 * standard_normal(&mut rng));
    let signal = &z * w.transpose();
    let values = Mat::from_fn(SAMPLES, FEATURES, |n, d| {
        let noise = [0.3, 0.6, 1.2][n % 3] * standard_normal(&mut rng);
        signal[(n, d)] + level[(n % 3, d)] + noise
    });
    let samples: Vec<String> = (0..SAMPLES).map(|n| format!("s{n}")).collect();
    let groups = samples
        .iter()
        .enumerate()
        .map(|(n, s)| (s.clone(), GROUPS[n % 3].to_owned()));
    let data = Dataset::builder()
        .groups(groups.collect())
        .view(Table {
            name: "genes".into(),
            samples: samples.clone(),
            features: (0..FEATURES).map(|d| format!("g{d}")).collect(),
            values,
            levels: Vec::new(),
        })
        .build()?;

    // noise and intercepts of their own for each group, as MOFA+ has them
    let mut spec = models::mofa(6);
    spec.factor_prior = "ard".into();
    let fit = polyview::fit(data.clone(), spec)?;

    println!("{} factors", fit.k());
    let activity = fit.group_activity()?;
    let relative = activity.relative();
    for (g, name) in activity.groups.iter().enumerate() {
        let within = fit.explain_group(name)?;
        let factors: Vec<String> = (0..fit.k())
            .map(|k| {
                format!(
                    "{:.2} ({:.0} %)",
                    relative[(g, k)],
                    100.0 * within.marginal[(0, k)]
                )
            })
            .collect();
        println!("{name:>8}: {}", factors.join("  "));
    }
    let of_kidney = (0..fit.k())
        .find(|&k| relative[(1, k)] == 1.0 && relative[(0, k)] < 0.1 && relative[(2, k)] < 0.1);
    let found = of_kidney.ok_or("the kidney's factor was not found")?;
    println!("factor {} acts in the kidney alone", found + 1);
    Ok(())
}
