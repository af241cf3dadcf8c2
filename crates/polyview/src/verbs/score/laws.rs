//! Laws of held-out cells.

use polyview_core::{Ask, Domain, Law, OrderStatistics};
use polyview_likelihoods::CellLaw;

use super::super::score_counts::law;
use super::Cell;
use crate::metrics::quantile_level;

/// Log density of a value under Student's law of four degrees of freedom about a
/// predictive mean. Its scale is such that, for normal values, the true standard
/// deviation has the largest mean of all: predictions that are too sure of
/// themselves lose by it as by the normal density, but a value far away costs the
/// logarithm of its distance and not the square.
fn student(value: f64, mean: f64, sd: f64) -> f64 {
    /// Where $\mathrm{E}\\,5z^2/(4c^2 + z^2) = 1$ for standard normal z.
    const SCALE: f64 = 0.831_003_493_777_786;
    let scale = SCALE * sd;
    let u = (value - mean) / scale;
    0.375_f64.ln() - scale.ln() - 2.5 * (0.25 * u * u).ln_1p()
}

/// The laws of the held-out cells of a feature, mixtures over the components: one column.
pub(super) struct ScoredLaw<'a> {
    pub(super) kind: Domain,
    pub(super) cells: &'a [Cell],
    pub(super) components: f64,
    pub(super) scale: Option<&'a OrderStatistics>,
}

impl ScoredLaw<'_> {
    /// The law that stands for that of the value of a cell.
    fn value(&self, cell: &Cell) -> CellLaw {
        let variance = cell.spread / self.components;
        if self.kind.is_count() {
            CellLaw::Count(law(cell, cell.mean, variance))
        } else {
            CellLaw::of(self.kind, cell.mean, variance)
        }
    }
}

impl Law for ScoredLaw<'_> {
    fn shape(&self) -> (usize, usize) {
        (self.cells.len(), 1)
    }
    /// The density at the value of each cell is that of the mixture; nothing else is known
    /// of it but its moments.
    fn fill(&self, ask: Ask, _column: usize, x: &[f64], out: &mut [f64]) {
        for (i, (c, o)) in self.cells.iter().zip(out).enumerate() {
            let variance = c.spread / self.components;
            *o = match ask {
                Ask::Mean => c.mean,
                Ask::Variance => variance,
                Ask::LnDensity => c.ln_density - self.components.ln(),
                Ask::Cdf => self.value(c).cdf(x[i]),
                Ask::Level(_) => f64::NAN,
            };
        }
    }
    fn has_density(&self) -> bool {
        !self.kind.is_ranked()
    }
    fn quantile(&self, _column: usize, p: f64, out: &mut [f64]) {
        for (c, o) in self.cells.iter().zip(out) {
            *o = match self.scale {
                None if !c.levels.is_empty() => {
                    quantile_level(&c.levels, p * self.components) as f64
                }
                // order statistics, as those of a prediction
                Some(scale) => {
                    let of_scores = c.rank.1 / self.components;
                    scale.at(CellLaw::of(Domain::Reals, c.rank.0, of_scores).quantile(p))
                }
                None => self.value(c).quantile(p),
            };
        }
    }
}

/// As [`ScoredLaw`], with densities that no single cell decides.
pub(super) struct RobustLaw<'a>(pub(super) &'a ScoredLaw<'a>);

impl Law for RobustLaw<'_> {
    fn shape(&self) -> (usize, usize) {
        self.0.shape()
    }
    fn fill(&self, ask: Ask, column: usize, x: &[f64], out: &mut [f64]) {
        if ask != Ask::LnDensity {
            return self.0.fill(ask, column, x, out);
        }
        for ((c, x), o) in self.0.cells.iter().zip(x).zip(out) {
            *o = student(*x, c.mean, (c.spread / self.0.components).sqrt());
        }
    }
}
