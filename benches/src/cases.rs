//! The synthetic data that polyview and its peers are measured on.
//!
//! A case lies in a folder of its own: `x{m}.npy`, the full view m, samples × features in C order
//! as NumPy's users have it; `mask{m}.npy`, bytes, 0 for the fifth of the cells that is hidden
//! where cells are missing; `eta{m}.npy`, the predictor without noise, where it is known; and `meta.json`, written last.
//!
//! A third of the factors act in all views, the others in some; half of the weights of a factor
//! that acts are zero; 60 % of the variance of a view of real numbers is signal. Binary values are
//! 1 with probability $\sigma(\eta)$, counts are Poisson with mean $\ln(1 + e^\eta)$.

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use npyz::WriterBuilder;
use polyview_core::{Overwrite, write_atomic};
use polyview_datasets::{Activity, Missing, Noise, SimulationOptions, simulate_factor_data};
use polyview_linalg::{Mat, times_small};
use polyview_random::{Rng, StreamKey, poisson, uniform_open01};
use serde_json::json;

/// What the values of a view are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Real numbers.
    Gaussian,
    /// Zeros and ones.
    Bernoulli,
    /// Counts.
    Poisson,
}

impl Kind {
    /// What `meta.json` calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gaussian => "gaussian",
            Self::Bernoulli => "bernoulli",
            Self::Poisson => "poisson",
        }
    }
}

/// A synthetic data set.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Its name, and that of its folder.
    pub name: &'static str,
    seed: u64,
    samples: usize,
    views: &'static [(usize, Kind)],
    /// Factors that a fit starts with.
    pub factors: usize,
    truth: usize,
    /// Whether binary values and counts have intercepts.
    intercepts: bool,
}

const REAL: Kind = Kind::Gaussian;
const MIXED: &[(usize, Kind)] = &[(500, REAL), (200, Kind::Bernoulli), (200, Kind::Poisson)];

const fn case(
    name: &'static str,
    seed: u64,
    samples: usize,
    views: &'static [(usize, Kind)],
    factors: usize,
    truth: usize,
) -> Case {
    Case {
        name,
        seed,
        samples,
        views,
        factors,
        truth,
        intercepts: true,
    }
}

/// All of them; `H0` is `H` without intercepts of binary values and counts.
pub const CASES: [Case; 8] = [
    case("tiny", 7, 60, &[(12, REAL), (8, REAL)], 4, 2),
    case("S", 11, 200, &[(100, REAL), (50, REAL)], 10, 6),
    case(
        "M",
        12,
        1000,
        &[(1000, REAL), (500, REAL), (200, REAL)],
        15,
        9,
    ),
    case(
        "W",
        17,
        1000,
        &[(2000, REAL), (2000, REAL), (2000, REAL)],
        20,
        12,
    ),
    case(
        "L",
        13,
        5000,
        &[(2000, REAL), (2000, REAL), (1000, REAL)],
        20,
        12,
    ),
    case("T", 14, 20_000, &[(1000, REAL), (1000, REAL)], 10, 6),
    case("H", 15, 1000, MIXED, 10, 6),
    Case {
        intercepts: false,
        ..case("H0", 16, 1000, MIXED, 10, 6)
    },
];

impl Case {
    /// The case of this name.
    ///
    /// # Errors
    /// Where there is none.
    pub fn named(name: &str) -> Result<&'static Self, String> {
        CASES.iter().find(|c| c.name == name).ok_or_else(|| {
            let names: Vec<&str> = CASES.iter().map(|c| c.name).collect();
            format!("no case '{name}'; there are {}", names.join(", "))
        })
    }

    /// Its extents in words.
    pub fn extents(&self) -> String {
        let views: Vec<String> = self.views.iter().map(|(d, _)| d.to_string()).collect();
        format!(
            "{} × {}, K = {}",
            self.samples,
            views.join(" + "),
            self.factors
        )
    }

    /// Which factors act in which view: `[view][factor]`; none acts nowhere.
    fn activity(&self) -> Vec<Vec<bool>> {
        let mut rng = StreamKey::new(self.seed).block(90).rng();
        let shared = (self.truth / 3).max(1);
        let mut active = vec![vec![true; self.truth]; self.views.len()];
        for k in shared..self.truth {
            for (m, view) in active.iter_mut().enumerate() {
                view[k] = uniform_open01(&mut rng) < 0.5 || k % self.views.len() == m;
            }
        }
        active
    }

    /// Writes the case to `folder`.
    ///
    /// # Errors
    /// What cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), Box<dyn Error>> {
        std::fs::create_dir_all(folder)?;
        let features: Vec<usize> = self.views.iter().map(|(d, _)| *d).collect();
        let truth = simulate_factor_data(&SimulationOptions {
            density: 0.5,
            activity: Activity::Given(self.activity()),
            noise: Noise::Share(0.4),
            intercept_sd: 1.0,
            missing: Missing {
                cells: 0.2,
                ..Missing::default()
            },
            ..SimulationOptions::new(self.samples, &features, self.truth, self.seed)
        })?;
        let mut precisions = Vec::new();
        for (m, &(_, kind)) in self.views.iter().enumerate() {
            let mut eta = times_small(truth.factors.as_ref(), truth.weights[m].transpose());
            for d in 0..eta.ncols() {
                let b = truth.intercepts[m][d];
                let (scale, b) = match kind {
                    Kind::Gaussian => (1.0, b),
                    Kind::Bernoulli => (1.0, if self.intercepts { b } else { 0.0 }),
                    Kind::Poisson => (0.6, if self.intercepts { 2.0 + 0.5 * b } else { 0.0 }),
                };
                for x in eta.col_as_slice_mut(d) {
                    *x = scale * *x + b;
                }
            }
            let mut rng = StreamKey::new(self.seed).block(91).chunk(m as u32).rng();
            let drawn;
            let values = if kind == Kind::Gaussian {
                &truth.complete[m]
            } else {
                drawn = values(&eta, kind, &mut rng)?;
                &drawn
            };
            precisions.push((kind == Kind::Gaussian).then_some(truth.noise_precision[m]));
            let view = &truth.dataset.views()[m];
            let shape = (values.nrows(), values.ncols());
            npy(&folder.join(format!("x{m}.npy")), shape, |n, d| {
                values[(n, d)]
            })?;
            npy(&folder.join(format!("eta{m}.npy")), shape, |n, d| {
                eta[(n, d)]
            })?;
            npy(&folder.join(format!("mask{m}.npy")), shape, |n, d| {
                u8::from(view.is_observed(n, d))
            })?;
        }
        let kinds: Vec<&str> = self.views.iter().map(|(_, kind)| kind.name()).collect();
        let meta = json!({
            "case": self.name, "seed": self.seed, "n": self.samples, "dims": features,
            "likelihoods": kinds, "k_fit": self.factors, "k_true": self.truth, "tau": precisions,
        });
        write_atomic(folder.join("meta.json"), Overwrite::Replace, |file| {
            writeln!(file, "{meta}")
        })?;
        Ok(())
    }
}

/// Draws of the predictor's distribution.
fn values(eta: &Mat<f64>, kind: Kind, rng: &mut impl Rng) -> Result<Mat<f64>, Box<dyn Error>> {
    let mut x = eta.clone();
    for d in 0..x.ncols() {
        for v in x.col_as_slice_mut(d) {
            *v = if kind == Kind::Poisson {
                // ln(1 + e^η)
                poisson(rng, v.max(0.0) + (-v.abs()).exp().ln_1p())?
            } else {
                f64::from(u8::from(uniform_open01(rng) < 1.0 / (1.0 + (-*v).exp())))
            };
        }
    }
    Ok(x)
}

/// Writes an array in C order.
///
/// # Errors
/// What cannot be written.
pub fn npy<T: npyz::AutoSerialize>(
    path: &Path,
    (rows, columns): (usize, usize),
    value: impl Fn(usize, usize) -> T,
) -> std::io::Result<()> {
    let mut writer = npyz::WriteOptions::new()
        .default_dtype()
        .shape(&[rows as u64, columns as u64])
        .writer(BufWriter::new(File::create(path)?))
        .begin_nd()?;
    for n in 0..rows {
        writer.extend((0..columns).map(|d| value(n, d)))?;
    }
    writer.finish()
}

/// Writes the cases that the arguments name: a folder, then names.
///
/// # Errors
/// Names that do not exist, what cannot be written.
pub fn run(args: impl IntoIterator<Item = String>) -> Result<(), Box<dyn Error>> {
    let mut args = args.into_iter();
    let folder = args.next().ok_or("usage: data FOLDER CASE ...")?;
    for name in args {
        Case::named(&name)?.write(&Path::new(&folder).join(&name))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use polyview_io::{ReadOptions, read_table};

    #[test]
    fn a_case_has_values_predictor_mask_and_meta() {
        let folder = tempfile::tempdir().unwrap();
        let tiny = Case::named("tiny").unwrap();
        tiny.write(folder.path()).unwrap();
        let read = |name: &str| {
            read_table(folder.path().join(name), &ReadOptions::default())
                .unwrap()
                .values
        };
        let (x, eta) = (read("x0.npy"), read("eta0.npy"));
        assert_eq!((x.nrows(), x.ncols()), (60, 12));
        let off: f64 = (0..12)
            .flat_map(|d| (0..60).map(move |n| (n, d)))
            .map(|at| (x[at] - eta[at]).powi(2))
            .sum();
        let meta: serde_json::Value = serde_json::from_str(
            &std::fs::read_to_string(folder.path().join("meta.json")).unwrap(),
        )
        .unwrap();
        let tau = meta["tau"][0].as_f64().unwrap();
        let ratio = off / 720.0 * tau;
        assert!(
            (0.8..1.2).contains(&ratio),
            "noise as its precision says: {ratio}"
        );
        let hidden = (read("mask0.npy").col_iter())
            .map(|c| c.iter().filter(|x| **x == 0.0).count())
            .sum::<usize>();
        assert!((100..190).contains(&hidden), "{hidden} of 720 hidden");
    }

    #[test]
    fn every_factor_acts_somewhere_and_a_third_everywhere() {
        for case in &CASES {
            let active = case.activity();
            for k in 0..case.truth {
                let views = active.iter().filter(|view| view[k]).count();
                assert!(views > 0);
                assert!(k >= case.truth / 3 || views == case.views.len());
            }
        }
        assert!(Case::named("none").unwrap_err().contains("tiny, S, M"));
    }

    #[test]
    fn labels_are_zeros_and_ones_and_counts_are_whole() {
        let mut rng = StreamKey::new(1).rng();
        let eta = Mat::from_fn(50, 2, |n, _| n as f64 / 10.0 - 2.0);
        let labels = values(&eta, Kind::Bernoulli, &mut rng).unwrap();
        let counts = values(&eta, Kind::Poisson, &mut rng).unwrap();
        for n in 0..50 {
            assert!([0.0, 1.0].contains(&labels[(n, 0)]));
            assert!(counts[(n, 0)] >= 0.0 && counts[(n, 0)].fract() == 0.0);
        }
    }
}
