//! Numbers above 0, such as concentrations, costs and durations: [`Gamma`].
//!
//! $$ p(x\mid\eta) = \frac{a^a}{\Gamma(a)}\\,x^{a-1}e^{-a\eta - axe^{-\eta}} $$
//!
//! has the mean $e^\eta$ and the variance $e^{2\eta}/a$: the standard deviation is a share
//! $1/\sqrt a$ of the mean, whatever that is, and factors multiply. Its expectation under
//! $\eta\sim N(m, v)$ is a closed form (spec/sites 1.9); it is concave in η, and its curvature has no
//! largest value, so that no quadratic bounds it.

mod gamma;
mod species;

pub use gamma::Gamma;
pub use species::GammaSpecies;
