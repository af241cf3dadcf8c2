//! The kernels.

use serde::{Deserialize, Serialize};

use crate::error::KernelError;

/// Largest degree of a polynomial.
pub(crate) const DEGREES: u32 = 20;

/// Which kernel, with what is left to the data.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum KernelKind {
    /// [`Kernel::Linear`].
    Linear,
    /// [`Kernel::Polynomial`].
    Polynomial {
        /// Its degree p, 1 to 20.
        degree: u32,
        /// Its constant $c \ge 0$.
        offset: f64,
    },
    /// [`Kernel::Rbf`].
    Rbf {
        /// $\gamma > 0$, per squared unit of the features: per squared standard
        /// deviation where they are standardised. One over their number where
        /// nothing is said.
        gamma: Option<f64>,
    },
}

impl KernelKind {
    /// The kernel for that many features.
    ///
    /// # Errors
    /// [`KernelError::OutOfRange`].
    pub(crate) fn for_features(self, features: usize) -> Result<Kernel, KernelError> {
        let kernel = match self {
            Self::Linear => Kernel::Linear,
            Self::Polynomial { degree, offset } => Kernel::Polynomial { degree, offset },
            Self::Rbf { gamma } => Kernel::Rbf {
                gamma: gamma.unwrap_or_else(|| (features.max(1) as f64).recip()),
            },
        };
        kernel.check()?;
        Ok(kernel)
    }
}

/// How smooth functions of a Matern kernel are: its order $\nu$.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Smoothness {
    /// $\nu = 1/2$: continuous.
    #[serde(rename = "1/2")]
    Half,
    /// $\nu = 3/2$: differentiable once.
    #[default]
    #[serde(rename = "3/2")]
    ThreeHalves,
    /// $\nu = 5/2$: differentiable twice.
    #[serde(rename = "5/2")]
    FiveHalves,
}

/// A similarity of two samples, of vectors x and y of their features: in units of
/// the table, or in standard deviations where these are standardised
/// ([`KernelOptions::standardise`](crate::KernelOptions::standardise)).
/// Linear, polynomial and RBF kernels are those of spec/thesis 7.1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Kernel {
    /// $x^\top y$: factors as of the features themselves, in as many columns as
    /// there are references.
    Linear,
    /// $(x^\top y / D + c)^p$ of D features.
    Polynomial {
        /// p, 1 to 20.
        degree: u32,
        /// $c \ge 0$, in the unit of $x^\top y / D$.
        offset: f64,
    },
    /// $e^{-\gamma\lVert x - y\rVert^2}$.
    Rbf {
        /// $\gamma > 0$, per squared unit of the features: per squared standard
        /// deviation where they are standardised.
        gamma: f64,
    },
    /// $(1 + s)\\,e^{-s}$ of $s = \sqrt3\\,\lVert x - y\rVert / w$ for order 3/2; $e^{-s}$ of
    /// $s = \lVert x - y\rVert / w$ for 1/2; $(1 + s + s^2/3)\\,e^{-s}$ of
    /// $s = \sqrt5\\,\lVert x - y\rVert / w$ for 5/2.
    Matern {
        /// Its order.
        nu: Smoothness,
        /// $w > 0$, in the unit of the features.
        width: f64,
    },
    /// The table holds similarities itself: a column for each reference point.
    Precomputed,
}

impl Kernel {
    /// # Errors
    /// [`KernelError::OutOfRange`].
    pub(crate) fn check(self) -> Result<(), KernelError> {
        let out = |what, value, range| Err(KernelError::OutOfRange { what, value, range });
        match self {
            Self::Polynomial { degree, .. } if !(1..=DEGREES).contains(&degree) => {
                out("the degree", f64::from(degree), "1 to 20")
            }
            Self::Polynomial { offset, .. } if !(offset >= 0.0 && offset.is_finite()) => {
                out("the constant of the polynomial", offset, "0 or larger")
            }
            Self::Rbf { gamma } if !(gamma > 0.0 && gamma.is_finite()) => {
                out("gamma", gamma, "above 0")
            }
            Self::Matern { width, .. } if !(width > 0.0 && width.is_finite()) => {
                out("the width", width, "above 0")
            }
            _ => Ok(()),
        }
    }
    /// That of a sample to itself where it goes by the distance, which is 0 whatever the sample lacks: what it lacks is
    /// one value, and not two independent ones.
    pub(crate) fn at_itself(self) -> Option<f64> {
        matches!(self, Self::Rbf { .. } | Self::Matern { .. }).then_some(1.0)
    }
    /// From the product of two samples, their squared lengths and the number of
    /// their features.
    pub(crate) fn value(self, product: f64, squares: f64, features: usize) -> f64 {
        match self {
            Self::Linear | Self::Precomputed => product,
            Self::Polynomial { degree, offset } => {
                // at most DEGREES
                (product / features as f64 + offset).powi(degree as i32)
            }
            // rounding may take the distance of near samples below zero
            Self::Rbf { gamma } => (-gamma * (squares - 2.0 * product).max(0.0)).exp(),
            Self::Matern { nu, width } => {
                let far = (squares - 2.0 * product).max(0.0).sqrt() / width;
                match nu {
                    Smoothness::Half => (-far).exp(),
                    Smoothness::ThreeHalves => {
                        let s = 3f64.sqrt() * far;
                        (1.0 + s) * (-s).exp()
                    }
                    Smoothness::FiveHalves => {
                        let s = 5f64.sqrt() * far;
                        (1.0 + s + s * s / 3.0) * (-s).exp()
                    }
                }
            }
        }
    }
}
