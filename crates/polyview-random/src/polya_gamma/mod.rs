//! Pólya-Gamma draws and moments.

mod moments;
mod one;
mod series;
mod split;

pub use moments::{pg_mean, pg_variance};

use std::f64::consts::LOG2_E;

use rand::Rng;
use rand_distr::Distribution;

use crate::error::{RandomError, finite, positive};
use one::TwoPiece;
use series::Envelope;
use split::GammaSplit;

/// Pólya-Gamma distribution $\mathrm{PG}(b, c)$ of Polson, Scott and Windle (2013).
///
/// $$ X = \frac{1}{2\pi^2} \sum\_{k=1}^\infty \frac{g\_k}{(k-\frac12)^2 + c^2/(4\pi^2)},
///    \quad g\_k \sim \mathrm{Ga}(b, 1), \qquad
///    E\\,e^{-tX} = \frac{\cosh^b(c/2)}{\cosh^b\\!\sqrt{c^2/4 + t/2}} . $$
///
/// Any $b > 0$, whole or not, and any finite $c$ (only $|c|$ matters). With
/// $n = \lceil b \log\_2(1 + e^{-|c|}) \rceil$:
///
/// | case | method | accuracy | proposals |
/// |---|---|---|---|
/// | $b \in \\{1, \dots, 16\\}$, $\lvert c\rvert \le 1.5$ | sum of $b$ draws of $\mathrm{PG}(1, c)$, Devroye's series under his two-piece envelope | exact | $1.00 b$ to $1.06 b$ |
/// | $n \le 16$ | sum of $n$ draws of $\mathrm{PG}(b/n, c)$, Devroye's series under an inverse Gaussian envelope | exact | at most $2n$ |
/// | $n > 16$ | first twelve terms of the sum above, the rest as an inverse Gaussian with its mean and variance | distribution function within $5 \cdot 10^{-10}$ | 13 |
///
/// So $\mathrm{PG}(1, c)$ is exact for every $c$, and $\mathrm{PG}(b, c)$ for $b \le 16$ and
/// wherever $b \le 11\\,e^{|c|}$.
///
/// # The inverse Gaussian envelope
///
/// Let $J = 4X$ and $z = |c|/2$. The untilted density ($z = 0$) is the alternating series
///
/// $$ f\_b(x) = l\_b(x) \sum\_{n \ge 0} (-1)^n \frac{\Gamma(n+b)}{n!\\,\Gamma(b)}\frac{2n+b}{b}
///    e^{-2n(n+b)/x}, \qquad l\_b(x) = \frac{2^b\\, b}{\sqrt{2\pi x^3}}\\, e^{-b^2/(2x)} . $$
///
/// *$f\_b \le l\_b$ for every $b$.* Let $\tau$ be the hitting-time subordinator of Brownian motion,
/// $E\\,e^{-s\tau\_b} = e^{-b\sqrt{2s}}$, whose density is $2^{-b} l\_b$. Its Lévy density is
/// $(2\pi x^3)^{-1/2}$, that of $J$ is $x^{-1}\sum\_k e^{-\pi^2(2k-1)^2 x/8}$, which by Poisson
/// summation is smaller. So $\tau\_b = J\_b + C\_b$ with an independent compound Poisson process
/// $C$ of total rate $\lim\_{s\to\infty} (\sqrt{2s} - \ln\cosh\sqrt{2s}) = \ln 2$, and
/// $2^{-b} l\_b(x) \ge P(C\_b = 0)\\, f\_b(x) = 2^{-b} f\_b(x)$.
///
/// Tilting both sides by $e^{-z^2x/2}$ turns the envelope into an inverse Gaussian with mean $b/z$
/// and shape $b^2$, and the share of proposals kept into $(1 + e^{-|c|})^{-b}$: between one half
/// and one in the table above. There is nothing to set up (the envelope of the 2013 paper takes two
/// normal distribution functions per $c$), and nothing special about $b = 1$. The ratio of
/// consecutive terms falls with $n$, so once a term is smaller than the one before, the partial
/// sums bracket the limit and the acceptance test is decided after a few terms, exactly.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PolyaGamma {
    b: f64,
    c: f64,
    plan: Plan,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Plan {
    /// Sum of independent exact draws with shape one.
    Ones {
        parts: u32,
        envelope: TwoPiece,
    },
    /// Sum of independent exact draws with a smaller or larger shape.
    Parts {
        parts: u32,
        envelope: Envelope,
    },
    Split(GammaSplit),
}

/// Largest number of exact parts.
const MAX_PARTS: f64 = 16.0;

/// Largest tilt $z = |c|/2$ at which the two-piece envelope is the faster one.
const SMALL_TILT: f64 = 0.75;

impl PolyaGamma {
    /// Pólya-Gamma distribution with shape `b` and tilt `c`.
    ///
    /// # Errors
    /// [`RandomError::OutOfRange`] unless `b` is positive and finite and `c` finite.
    #[inline]
    pub fn new(b: f64, c: f64) -> Result<Self, RandomError> {
        let b = positive("b of the Pólya-Gamma", b)?;
        let c = finite("c of the Pólya-Gamma", c)?;
        let z = 0.5 * c.abs();
        let plan = if z <= SMALL_TILT && b <= MAX_PARTS && b.fract() == 0.0 {
            Plan::Ones {
                parts: b as u32,
                envelope: TwoPiece::new(z),
            }
        } else if b <= 1.0 {
            Plan::Parts {
                parts: 1,
                envelope: Envelope::new(b, z),
            }
        } else {
            Plan::in_parts(b, z)?
        };
        Ok(Self { b, c, plan })
    }

    /// The shape $b$.
    pub fn shape(&self) -> f64 {
        self.b
    }

    /// The tilt $c$.
    pub fn tilt(&self) -> f64 {
        self.c
    }

    /// Mean; see [`pg_mean`].
    pub fn mean(&self) -> f64 {
        pg_mean(self.b, self.c)
    }

    /// Variance; see [`pg_variance`].
    pub fn variance(&self) -> f64 {
        pg_variance(self.b, self.c)
    }

    /// A draw. Underflows to zero for `b` below about $10^{-150}$, where the exact value does.
    #[inline]
    pub fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
        match &self.plan {
            Plan::Ones { parts, envelope } => {
                0.25 * (0..*parts).map(|_| envelope.draw(rng)).sum::<f64>()
            }
            Plan::Parts { parts, envelope } => {
                0.25 * (0..*parts).map(|_| envelope.draw(rng)).sum::<f64>()
            }
            Plan::Split(split) => split.draw(rng),
        }
    }
}

impl Plan {
    /// Plan for a shape above one: $\lceil b \log\_2(1 + e^{-2z}) \rceil$ parts, if these are few.
    fn in_parts(b: f64, z: f64) -> Result<Self, RandomError> {
        let parts = (b * libm::log1p(libm::exp(-2.0 * z)) * LOG2_E)
            .ceil()
            .max(1.0);
        if parts <= MAX_PARTS {
            let envelope = Envelope::new(b / parts, z);
            Ok(Self::Parts {
                parts: parts as u32,
                envelope,
            })
        } else {
            Ok(Self::Split(GammaSplit::new(b, 2.0 * z)?))
        }
    }
}

impl Distribution<f64> for PolyaGamma {
    fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
        PolyaGamma::sample(self, rng)
    }
}
