//! Normal distribution restricted to an interval.

use rand::Rng;
use rand_distr::Distribution;

use crate::error::{RandomError, finite, positive};
use crate::standard::{standard_exponential, standard_normal, uniform_open01};

/// Normal distribution with the given mean and standard deviation, restricted to
/// $[\text{lower}, \text{upper}]$; either end may be infinite.
///
/// The sampler is exact: plain rejection from one of three proposals (Robert 1995), chosen in the
/// constructor so that at least 0.49 of the proposals are kept whatever the parameters.
///
/// | interval, in standard deviations from the mean | proposal |
/// |---|---|
/// | holds the mean and is wider than $\sqrt{2\pi}$ | the normal itself |
/// | to one side of the mean, wide | exponential beyond the near end, with Robert's rate |
/// | narrow | uniform |
///
/// Beside the mean the draw is formed as *near end plus excess*, never as mean plus a multiple of
/// the standard deviation. So the far tail costs no accuracy: with the interval $[0, \infty)$,
/// mean $-10^{20}$ and unit deviation the draws are exponential with rate $10^{20}$, as they
/// should be. No draw ever lies outside the interval.
///
/// # Limits
/// `lower == upper` (finite) is the point mass. Where the near end is so far out that its distance
/// in standard deviations overflows, the excess rounds to zero.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TruncatedNormal {
    mean: f64,
    sd: f64,
    lower: f64,
    upper: f64,
    plan: Plan,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Plan {
    /// Draw from the whole normal, keep what falls inside.
    Normal,
    /// Uniform over the interval; `start` is the near end and `width` the length, in deviations.
    /// `peak` is the largest value of $-(\text{start}\\,t + t^2/2)$ over the interval.
    Uniform { start: f64, width: f64, peak: f64 },
    /// Near end plus exponential excess.
    Tail {
        end: End,
        proposal: TailProposal,
        width: f64,
    },
}

/// Which end of the interval is nearer to the mean.
#[derive(Debug, Clone, Copy, PartialEq)]
enum End {
    Lower,
    Upper,
}

/// Width beyond which the normal proposal keeps more draws than the uniform one, for an interval
/// that holds the mean: $\sqrt{2\pi}$.
const WIDE: f64 = 2.506_628_274_631_000_5;

impl TruncatedNormal {
    /// Normal distribution restricted to `[lower, upper]`.
    ///
    /// # Errors
    /// [`RandomError::OutOfRange`] unless the mean is finite and the standard deviation positive
    /// and finite; [`RandomError::EmptyInterval`] unless `lower <= upper` with a finite number
    /// between them.
    #[inline]
    pub fn new(mean: f64, sd: f64, lower: f64, upper: f64) -> Result<Self, RandomError> {
        let mean = finite("mean of the truncated normal", mean)?;
        let sd = positive("standard deviation of the truncated normal", sd)?;
        let holds_number = lower <= upper && lower < f64::INFINITY && upper > f64::NEG_INFINITY;
        if !holds_number {
            return Err(RandomError::EmptyInterval { lower, upper });
        }
        let plan = Plan::new(
            (lower - mean) / sd,
            (upper - mean) / sd,
            (upper - lower) / sd,
        );
        Ok(Self {
            mean,
            sd,
            lower,
            upper,
            plan,
        })
    }

    /// Lower end of the interval.
    pub fn lower(&self) -> f64 {
        self.lower
    }

    /// Upper end of the interval.
    pub fn upper(&self) -> f64 {
        self.upper
    }

    /// A draw, inside the interval.
    pub fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
        match self.plan {
            Plan::Normal => loop {
                let x = self.mean + self.sd * standard_normal(rng);
                if x >= self.lower && x <= self.upper {
                    return x;
                }
            },
            Plan::Uniform { start, width, peak } => loop {
                let u = uniform_open01(rng);
                let t = u * width;
                if standard_exponential(rng) >= t * (start + 0.5 * t) + peak {
                    let x = self.lower + u * (self.upper - self.lower);
                    return x.clamp(self.lower, self.upper);
                }
            },
            Plan::Tail {
                end,
                proposal,
                width,
            } => {
                let excess = self.sd * proposal.draw(rng, width);
                let x = match end {
                    End::Lower => self.lower + excess,
                    End::Upper => self.upper - excess,
                };
                x.clamp(self.lower, self.upper)
            }
        }
    }
}

impl Distribution<f64> for TruncatedNormal {
    fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
        TruncatedNormal::sample(self, rng)
    }
}

impl Plan {
    /// Proposal for the standard normal on $[\alpha, \beta]$; `width` is $\beta - \alpha$ without
    /// the cancellation.
    #[inline]
    fn new(alpha: f64, beta: f64, width: f64) -> Self {
        if alpha < 0.0 && beta > 0.0 {
            if width > WIDE {
                return Self::Normal;
            }
            return Self::Uniform {
                start: alpha,
                width,
                peak: 0.5 * alpha * alpha,
            };
        }
        let (end, near) = if alpha >= 0.0 {
            (End::Lower, alpha)
        } else {
            (End::Upper, -beta)
        };
        let proposal = TailProposal::new(near);
        // strictly: where `near` has overflowed both sides may be zero, and the tail copes
        if width < proposal.uniform_below(near, width) {
            let peak = match end {
                End::Lower => 0.0,
                End::Upper => 0.5 * (width * (2.0 * near + width)),
            };
            return Self::Uniform {
                start: alpha,
                width,
                peak,
            };
        }
        Self::Tail {
            end,
            proposal,
            width,
        }
    }
}

/// Exponential proposal for the excess over $\alpha \ge 0$ of a standard normal beyond $\alpha$.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct TailProposal {
    /// Rate of the exponential.
    pub(crate) rate: f64,
    /// Rate minus $\alpha$.
    pub(crate) shift: f64,
}

impl TailProposal {
    /// The best rate, $(\alpha + \sqrt{\alpha^2 + 4})/2$ (Robert 1995).
    #[inline]
    fn new(start: f64) -> Self {
        let root = if start < 1e100 {
            (start * start + 4.0).sqrt()
        } else {
            start
        };
        let rate = 0.5 * (start + root);
        Self {
            rate,
            shift: 1.0 / rate,
        }
    }

    /// Robert's criterion: an interval narrower than this is better served by a uniform proposal.
    /// The exact value lies between one and $\sqrt e$ shifts and is computed only if it matters;
    /// zero where `start` is infinite.
    #[inline]
    fn uniform_below(&self, start: f64, width: f64) -> f64 {
        if width <= self.shift || width > 1.65 * self.shift {
            self.shift
        } else {
            self.shift * libm::exp(0.5 - 0.5 * start * self.shift)
        }
    }

    /// An excess of at most `width`.
    #[inline]
    pub(crate) fn draw<R: Rng + ?Sized>(&self, rng: &mut R, width: f64) -> f64 {
        loop {
            let t = standard_exponential(rng) / self.rate;
            let gap = t - self.shift;
            if t <= width && standard_exponential(rng) >= 0.5 * gap * gap {
                return t;
            }
        }
    }
}
