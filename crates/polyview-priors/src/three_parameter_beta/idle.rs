//! What entries cost the bound of which no data speak.

use polyview_special::ln_gamma;

use super::nodes::{Nodes, Variances};
use super::{GlobalScale, LN_GAMMA_HALF, ThreeParameterBeta, ThreeParameterBetaOptions};

/// Most rounds in which an idle entry comes to rest.
const ROUNDS: usize = 5000;
/// Change of its part of the bound at which it is at rest.
const STILL: f64 = 1e-12;

impl ThreeParameterBeta {
    /// One more column of idle entries. Each entry costs the same (`entry`), whatever its
    /// global scale, as only their ratio counts; an idle entry leaves the means of
    /// the scales above it where they are and raises their shapes. With $g(x) =
    /// \ln\Gamma(x) - x\ln x + x$ and $A$ the shape of a global scale,
    /// that is $D\epsilon + g(A') - g(A)$ for a scale that takes $A' - A$ on; a new one has $g(A') -
    /// \ln\Gamma(\tfrac12)$ and its part of $\tilde\Phi$, whose shape goes from $a$ to
    /// $a + \tfrac12$.
    pub(super) fn idle_entries(&self) -> f64 {
        let ThreeParameterBetaOptions { s, global, .. } = self.options;
        let rows = (self.rows - self.idle.len()) as f64;
        let g = |x: f64| ln_gamma(x) - x * x.ln() + x;
        let shape = self.global_shape();
        let scales = match global {
            GlobalScale::Column => {
                let a = self.hyper_shape();
                let hyper = ln_gamma(a + 0.5)
                    - ln_gamma(a)
                    - (a + 0.5) * (0.5 / a).ln_1p()
                    - 0.5 * (2.0 * a).ln();
                g(shape) - LN_GAMMA_HALF + hyper
            }
            GlobalScale::Row => rows * (g(shape + s) - g(shape)),
            GlobalScale::All => g(shape + s * rows) - g(shape),
        };
        rows * entry(&self.options) + scales
    }
}

/// What an idle entry adds below a global scale of 1, at the best of the factorised q.
fn entry(options: &ThreeParameterBetaOptions) -> f64 {
    let ThreeParameterBetaOptions { r, s, .. } = *options;
    let mut xi = Variances::new(r - 0.5, 1);
    let mut eta = Nodes::new(r + s, 1);
    let mut last = f64::NEG_INFINITY;
    for _ in 0..ROUNDS {
        eta.set(r + s, vec![xi.mean()[0] + 1.0]);
        // the entry's own variance, as there is nothing but its prior
        let square = 1.0 / xi.inverse()[0];
        for mut column in xi.columns_mut(1, false) {
            column.set(0, 2.0 * eta.mean()[0], square);
        }
        let (rate, ln_rate) = (eta.mean()[0], eta.mean_ln()[0]);
        let now = xi.ln()[0]
            + xi.exponent(0)
            + 0.5 * (square.ln() + 1.0 - square * xi.inverse()[0])
            + (r + s - 1.0) * ln_rate
            - rate * (xi.mean()[0] + 1.0)
            + eta.entropy()
            - ln_gamma(r)
            - ln_gamma(s);
        if (now - last).abs() < STILL {
            return now;
        }
        last = now;
    }
    last
}
