//! Published models, each a few lines of composition.

mod bibfa;
mod mlfs;
mod mofa;
mod mofapy2;
mod rank;
mod sshiba;

pub use bibfa::bibfa;
pub use mlfs::mlfs;
pub use mofa::mofa;
pub use mofapy2::mofapy2;
pub use rank::{Table1, rank};
pub use sshiba::sshiba;

use polyview_infer::{PruneRule, VbOptions};

use crate::spec::ModelSpec;

/// Names of the models of [`preset`].
pub const PRESETS: [&str; 6] = ["bibfa", "sshiba", "mofa", "mofapy2", "rank", "mlfs"];

/// Factors that [`preset`] offers [`mofa`]: twice as many as other models. Sparse weights cost little where they are
/// zero, and hidden cells are predicted better (docs/decisions/0065-how-many-factors.md).
const FACTORS_OF_MOFA: usize = 20;

/// The choices of the model of that name ([`PRESETS`]), with the number of
/// factors of the default: 10, of `mofa` 20.
pub fn preset(name: &str) -> Option<ModelSpec> {
    let factors = ModelSpec::default().factors;
    Some(match name {
        "bibfa" => bibfa(factors),
        "sshiba" => sshiba(factors),
        "mofa" => mofa(FACTORS_OF_MOFA),
        "mofapy2" => mofapy2(factors),
        "rank" => rank(factors),
        "mlfs" => mlfs(factors),
        _ => return None,
    })
}

/// Sweeps at whose end factors are taken out on trial, and stay out where they do not pay
/// for themselves by the bound.
fn removing_on_trial() -> VbOptions {
    VbOptions {
        prune: PruneRule {
            by_bound: true,
            ..PruneRule::default()
        },
        ..VbOptions::default()
    }
}
