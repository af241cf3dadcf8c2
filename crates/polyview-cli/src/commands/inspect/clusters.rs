//! Clusters of samples.

use polyview::{Clusters, ErrorKind, Fit};

use super::columns;
use crate::failure::Outcome;
use crate::output::{line, number, table};

/// The clusters of the samples, where the factors have a mixture prior.
fn found_clusters(fit: &Fit) -> Outcome<Option<Clusters>> {
    match fit.clusters() {
        Err(e) if *e.kind() == ErrorKind::NoClusters => Ok(None),
        other => Ok(Some(other?)),
    }
}

/// The components of a mixture prior of the factors.
pub(super) fn clusters(fit: &Fit) -> Outcome<()> {
    let Some(found) = found_clusters(fit)? else {
        return Ok(());
    };
    line("")?;
    line(format!(
        "clusters of samples (concentration {})",
        number(found.concentration)
    ))?;
    let header = ["cluster", "samples", "weight", "precision"].map(str::to_owned);
    let rows: Vec<Vec<String>> = (0..found.sizes.len())
        .map(|t| {
            vec![
                (t + 1).to_string(),
                number(found.sizes[t]),
                number(found.weights[t]),
                number(found.precisions[t]),
            ]
        })
        .collect();
    table(&header, &rows)
}

pub(super) fn clusters_json(fit: &Fit) -> Outcome<Option<serde_json::Value>> {
    let Some(found) = found_clusters(fit)? else {
        return Ok(None);
    };
    Ok(Some(serde_json::json!({
        "sizes": found.sizes,
        "weights": found.weights,
        "precisions": found.precisions,
        "means": columns(&found.means.transpose().to_owned()),
        "concentration": found.concentration,
        "shares": columns(&found.shares.transpose().to_owned()),
    })))
}
