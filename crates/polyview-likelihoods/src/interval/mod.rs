//! Cells of which is known between which ends a normal variable lies (spec/sites 2).
//!
//! $$ p(x\mid\eta) = \Phi(b) - \Phi(a),\qquad a = l - \eta,\quad b = u - \eta $$
//!
//! with ends $-\infty \le l \lt u \le \infty$ in units of the noise. With $M\_1$ and $V$ the mean and the
//! variance of the standard normal law between $a$ and $b$, $\ell = \ln p$ has $\ell' = M\_1$ and
//! $\ell'' = V - 1$: it is concave in $\eta$, and in the ends, too.
//!
//! | file | about |
//! |---|---|
//! | `ends` | one cell: [`Ends`](ends::Ends), its log probability and its derivatives |
//! | `cuts` | cut points between ordered levels: [`CutPoints`] |
//! | `climb` | their steps uphill |
//! | `table` | log probabilities of levels on a grid of predictors |
//! | `ordinal` | levels as a likelihood: [`Ordinal`] |
//! | `law` | predictive laws of levels |
//! | `censored` | numbers of which limits may be all that is known: [`Censored`] |
//! | `noise` | their noise: steps and draws |
//! | `midpoint`, `fixed_ends` | levels by MLFS's own bound: [`MidpointOrdinal`] |
//! | `species`, `levels`, `limits`, `midpoint_species` | what is told of them |

mod censored;
mod climb;
mod cuts;
mod ends;
mod fixed_ends;
mod law;
mod levels;
mod limits;
mod midpoint;
mod midpoint_species;
mod noise;
mod ordinal;
mod species;
mod table;

pub use censored::Censored;
pub use cuts::{CutPoints, CutPointsBy};
pub use limits::{CensoredSpecies, SurvivalSpecies};
pub use midpoint::MidpointOrdinal;
pub use midpoint_species::MidpointOrdinalSpecies;
pub use ordinal::Ordinal;
pub use species::OrdinalSpecies;
