//! Who is where in a MOFA2 file.

use std::collections::HashSet;

use polyview::Likelihood;

use crate::error::{Hdf5Error, Result};
use crate::file::{Needed, Reader};

/// How to mend a file that lacks something that every model has.
pub(super) const IS_IT: &str = "every MOFA2 model has it: is this one?";

/// Names of views, groups, features and samples.
pub(super) struct Names {
    pub views: Vec<String>,
    pub groups: Vec<String>,
    /// One list a view.
    pub features: Vec<Vec<String>>,
    /// One list a group.
    pub samples: Vec<Vec<String>>,
    /// One a view.
    pub likelihoods: Vec<Likelihood>,
    /// Number of factors.
    pub factors: usize,
}

impl Names {
    pub(super) fn read(file: &Reader, only: Option<&str>) -> Result<Self> {
        let list = |place: &str| -> Result<Vec<String>> {
            let names = file.words(place)?.needed(file, place, IS_IT)?;
            if names.is_empty() {
                return Err(file.values(place, "is empty; a model has at least one"));
            }
            if let Some(bad) = names.iter().find(|n| !can_be_a_name(n)) {
                return Err(file.values(place, format!("holds '{bad}', which can be no name")));
            }
            Ok(names)
        };
        let views = list("views/views")?;
        let mut groups = list("groups/groups")?;
        if let Some(only) = only {
            if !groups.iter().any(|g| g == only) {
                return Err(Hdf5Error::Option(format!(
                    "{}: there is no group '{only}'; there are {}",
                    file.path().display(),
                    groups.join(", ")
                )));
            }
            groups = vec![only.to_owned()];
        }
        let of = |kind: &str, names: &[String]| -> Result<Vec<Vec<String>>> {
            names
                .iter()
                .map(|n| {
                    let place = format!("{kind}/{n}");
                    file.words(&place)?.needed(file, &place, IS_IT)
                })
                .collect()
        };
        let features = of("features", &views)?;
        let samples = of("samples", &groups)?;
        for (kind, names, all) in [
            ("features", &views, &features),
            ("samples", &groups, &samples),
        ] {
            for (name, own) in names.iter().zip(all) {
                let mut seen = HashSet::new();
                if let Some(twice) = own.iter().find(|n| !seen.insert(*n)) {
                    let what = format!("holds '{twice}' twice; give each a name of its own");
                    return Err(file.values(&format!("{kind}/{name}"), what));
                }
            }
        }
        let place = "model_options/likelihoods";
        let words = file.words(place)?.needed(file, place, IS_IT)?;
        if words.len() != views.len() {
            return Err(file.wrong_shape(place, &[views.len()], &[words.len() as u64]));
        }
        let likelihoods = words
            .iter()
            .map(|w| match w.as_str() {
                own @ ("gaussian" | "bernoulli") => Ok(own.into()),
                "poisson" => Ok(softplus_counts()),
                other => Err(file.values(
                    place,
                    format!("holds '{other}'; MOFA2 has gaussian, bernoulli and poisson"),
                )),
            })
            .collect::<Result<_>>()?;
        let place = format!("expectations/Z/{}", groups[0]);
        let factors = file
            .matrix(&place, None)?
            .needed(file, &place, IS_IT)?
            .nrows();
        Ok(Self {
            views,
            groups,
            features,
            samples,
            likelihoods,
            factors,
        })
    }
    /// Samples of all groups.
    pub(super) fn n_samples(&self) -> usize {
        self.samples.iter().map(Vec::len).sum()
    }
}

/// Whether a text can name something in an HDF5 file.
pub(super) fn can_be_a_name(text: &str) -> bool {
    !text.is_empty() && text != "." && !text.contains(['/', '\0'])
}

/// MOFA2's counts: Poisson with the rate $\ln(1 + e^\eta)$.
fn softplus_counts() -> Likelihood {
    let parsed = "poisson{rate=softplus}".parse();
    parsed.unwrap_or_else(|_| Likelihood::from("poisson"))
}
