//! Table 4.11: how few training samples new ones need to be compared with.

use std::error::Error;

use polyview::Settle;

use super::coordinates::{self, chosen, least_share};
use super::{Said, cell, features, folds, in_folds, modelled, r2, read, wanted, with_spread};
use crate::sheet::Printed;
use crate::table::data::Half;
use crate::table::options::Options;

/// Shares that are tried.
const SHARES: [f64; 6] = [0.05, 0.1, 0.2, 0.4, 0.7, 1.0];
/// Every so-manieth training sample chooses among them.
const HELD_OUT: usize = 5;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// Kernel SSHIBA cut to the reference points of most relevance and fitted again.
    Sparse(Settle),
    Components(coordinates::Way),
}

const WAYS: [Way; 4] = [
    Way::Sparse(Settle::Not),
    Way::Sparse(Settle::Mixture),
    Way::Components(coordinates::Way::Principal),
    Way::Components(coordinates::Way::OnCanonical),
];

impl Way {
    fn name(self) -> &'static str {
        match self {
            Self::Sparse(Settle::Mixture) => "sparse kernel SSHIBA, the command's mixture",
            Self::Sparse(_) => "sparse kernel SSHIBA, joint fit",
            Self::Components(coordinates::Way::Principal) => "KPCA, ridge regression",
            Self::Components(_) => "KCCA, ridge regression",
        }
    }
    /// R² and the share in per cent of the thesis.
    fn paper(self, set: &str) -> Option<[f64; 2]> {
        let at = match self {
            Self::Sparse(Settle::Mixture) => return None,
            Self::Sparse(_) => 0,
            Self::Components(coordinates::Way::Principal) => 1,
            Self::Components(_) => 2,
        };
        Some(match set {
            "atp1d" => [[0.77, 18.4], [0.78, 69.7], [0.80, 84.8]][at],
            "edm" => [[0.42, 53.8], [0.41, 52.5], [0.20, 22.7]][at],
            "jura" => [[0.58, 48.7], [0.57, 60.7], [0.36, 18.9]][at],
            _ => return None,
        })
    }
    fn said(self, (train, test): (&Half, &Half), o: &Options) -> Result<Said, Box<dyn Error>> {
        match self {
            Self::Sparse(settle) => {
                let share = share_of(train, settle, o)?;
                let said = modelled((train, test), (&kernel(share), None), settle, o)?;
                Ok(Said { share, ..said })
            }
            Self::Components(way) => {
                let [x, new] = features(train, test)?;
                let y = &train.target.values;
                let choice = chosen(way, &x, y, (&SHARES, o.seed))?;
                coordinates::said(way, [&x, &new], y, (choice, o.seed))
            }
        }
    }
}

/// The kernel of which so large a share of reference points is kept.
fn kernel(share: f64) -> String {
    if share < 1.0 {
        format!("rbf{{keep={share}}}")
    } else {
        "rbf".to_owned()
    }
}

/// The least share of reference points by which every fifth training sample is predicted nearly as well as by any.
fn share_of(train: &Half, settle: Settle, o: &Options) -> Result<f64, Box<dyn Error>> {
    let part = |inside: bool| -> Vec<usize> {
        (0..train.len())
            .filter(|n| (n % HELD_OUT == 0) == inside)
            .collect()
    };
    let (seen, held) = (train.rows(&part(false)), train.rows(&part(true)));
    least_share(&SHARES, |share| {
        let said = modelled((&seen, &held), (&kernel(share), None), settle, o)?;
        Ok(r2(&seen.target.values, &held.target.values, &said.values))
    })
}

/// A table for each set: R², factors and the share of the training samples that is kept.
///
/// # Errors
/// What a set or a fit refuses.
pub fn relevance_vectors(o: &Options, out: &mut Printed) -> Result<(), Box<dyn Error>> {
    for name in wanted(o)? {
        let all = read(&o.data, name)?;
        let pairs = folds(&all, o)?;
        let title = format!(
            "Thesis table 4.11, {name}: {} folds of {} samples; the least share of the training samples at most .01 of R² below the best",
            o.folds,
            all.len()
        );
        out.head(
            &title,
            &[
                "way",
                "thesis",
                "R²",
                "thesis, %",
                "kept, %",
                "factors",
                "seconds",
            ],
        )?;
        for way in WAYS {
            if o.wants(way.name(), matches!(way, Way::Sparse(_))) {
                out.row(row(way, name, &pairs, o)?)?;
            }
        }
    }
    Ok(())
}

fn row(
    way: Way,
    set: &str,
    pairs: &[(Half, Half)],
    o: &Options,
) -> Result<Vec<String>, Box<dyn Error>> {
    let found = in_folds(pairs, |pair| way.said(pair, o).map(Some))?.ok_or("no folds")?;
    let shares: Vec<f64> = found.shares.iter().map(|s| 100.0 * s).collect();
    let [paper, kept] = way.paper(set).unwrap_or([f64::NAN; 2]);
    Ok(vec![
        way.name().to_owned(),
        cell(paper, 2),
        with_spread(&found.scores.folds, 3),
        cell(kept, 1),
        with_spread(&shares, 1),
        with_spread(&found.factors, 0),
        cell(found.seconds, 2),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_and_kernels_are_those_of_the_way() {
        let sparse = Way::Sparse(Settle::Not);
        assert_eq!(sparse.paper("edm"), Some([0.42, 53.8]));
        assert_eq!(Way::Sparse(Settle::Mixture).paper("edm"), None);
        let canonical = Way::Components(coordinates::Way::OnCanonical);
        assert_eq!(canonical.paper("jura"), Some([0.36, 18.9]));
        assert_eq!(kernel(0.4), "rbf{keep=0.4}");
        assert_eq!(kernel(1.0), "rbf");
    }
}
