//! A kernel as somebody asks for it: `rbf{width=median, references=200}`.

use std::fmt::{self, Write as _};
use std::str::FromStr;

use polyview_core::{OptionError, Options};
use serde::{Deserialize, Serialize};

use crate::kernel::{DEGREES, Kernel, Smoothness};

/// How far two samples may be apart and still be similar, in standard deviations of the
/// features (in their own units where these are not standardised).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Width {
    /// What predicts the other views of a model best; the median distance where there is no
    /// other view, or no model.
    #[default]
    Auto,
    /// The median distance between samples.
    Median,
    /// This, above 0.
    Is(f64),
}

/// A family of kernels, with what is left to the data (spec/thesis 7.1).
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Family {
    /// [`Kernel::Linear`].
    Linear,
    /// [`Kernel::Polynomial`].
    Polynomial {
        /// Its degree p, 1 to 20.
        degree: u32,
        /// Its constant $c \ge 0$.
        offset: f64,
    },
    /// $e^{-\lVert x - y\rVert^2 / (2 w^2)}$: [`Kernel::Rbf`] with $\gamma = 1 / (2 w^2)$.
    Rbf {
        /// w.
        width: Width,
    },
    /// [`Kernel::Matern`].
    Matern {
        /// Its order.
        nu: Smoothness,
        /// w.
        width: Width,
    },
    /// [`Kernel::Precomputed`]: the table holds the similarities.
    Precomputed,
}

impl Family {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::Polynomial { .. } => "polynomial",
            Self::Rbf { .. } => "rbf",
            Self::Matern { .. } => "matern",
            Self::Precomputed => "precomputed",
        }
    }
    /// Whether similarities may have more directions than there are features: what is not linear in these. Of those that
    /// were computed elsewhere nobody knows.
    pub fn bends(self) -> bool {
        !matches!(self, Self::Linear | Self::Polynomial { degree: 1, .. })
    }
    /// The same family with this width, where it has one.
    #[must_use]
    pub fn with_width(self, width: Width) -> Self {
        match self {
            Self::Rbf { .. } => Self::Rbf { width },
            Self::Matern { nu, .. } => Self::Matern { nu, width },
            other => other,
        }
    }
    /// Its width, where it has one.
    pub fn width(self) -> Option<Width> {
        match self {
            Self::Rbf { width } | Self::Matern { width, .. } => Some(width),
            Self::Linear | Self::Polynomial { .. } | Self::Precomputed => None,
        }
    }
    /// The kernel of this width, which only families with a width look at.
    pub(crate) fn of_width(self, width: f64) -> Kernel {
        match self {
            Self::Linear => Kernel::Linear,
            Self::Polynomial { degree, offset } => Kernel::Polynomial { degree, offset },
            Self::Rbf { .. } => Kernel::Rbf {
                gamma: 0.5 / (width * width),
            },
            Self::Matern { nu, .. } => Kernel::Matern { nu, width },
            Self::Precomputed => Kernel::Precomputed,
        }
    }
}

/// The kernel of a view: its family, against which reference points, and in which units of the
/// features.
///
/// ```
/// use polyview_kernels::{Family, KernelChoice, Width};
///
/// let choice: KernelChoice = "rbf{references=200}".parse()?;
/// assert_eq!(choice.family, Family::Rbf { width: Width::Auto });
/// assert_eq!(choice.references, Some(200));
/// assert_eq!(choice.to_string(), "rbf{references=200}");
/// let error = "rbf{width=0}".parse::<KernelChoice>().unwrap_err();
/// assert_eq!(error.to_string(), "option 'width' cannot be 0: it is auto, median, or a number above 0");
/// # Ok::<(), polyview_core::OptionError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct KernelChoice {
    /// Which kernel.
    pub family: Family,
    /// Number of reference points, chosen far from each other among the training samples; all of
    /// these where nothing is said.
    pub references: Option<usize>,
    /// Share of the reference points that are kept, those of most relevance in a fit against all of
    /// them (spec/thesis 7.2), above 0 and below 1; all where nothing is said.
    pub keep: Option<f64>,
    /// Whether features are compared in their own units, rather than in standard deviations.
    pub raw: bool,
    /// Whether features have a weight each, learnt by how well other views are predicted (spec/thesis 7.3); of
    /// kernels that look at products or distances alone.
    pub ard: bool,
    /// Number of random Fourier features that stand for the kernel in place of similarities to reference points, an
    /// even number; none where nothing is said. Of the RBF kernel.
    pub features: Option<usize>,
}

/// Names of all families, in the order of the help.
pub const FAMILIES: [&str; 5] = ["rbf", "matern", "polynomial", "linear", "precomputed"];

impl From<Family> for KernelChoice {
    /// Against all training samples, of standardised features.
    fn from(family: Family) -> Self {
        Self {
            family,
            references: None,
            keep: None,
            raw: false,
            ard: false,
            features: None,
        }
    }
}

fn bad<T>(option: &str, value: &str, needs: &str) -> Result<T, OptionError> {
    Err(OptionError::Value {
        option: option.to_owned(),
        value: value.to_owned(),
        needs: needs.to_owned(),
    })
}

/// The value of an option, read by `read`, which says nothing of one that cannot be.
fn option<T>(
    options: &Options,
    name: &str,
    default: T,
    needs: &str,
    read: impl Fn(&str) -> Option<T>,
) -> Result<T, OptionError> {
    match options.text(name) {
        None => Ok(default),
        Some(text) => read(&text).map_or_else(|| bad(name, &text, needs), Ok),
    }
}

fn number(text: &str, may_be: impl Fn(f64) -> bool) -> Option<f64> {
    text.parse()
        .ok()
        .filter(|x: &f64| x.is_finite() && may_be(*x))
}

fn width_of(text: &str) -> Option<Width> {
    match text {
        "auto" => Some(Width::Auto),
        "median" => Some(Width::Median),
        _ => number(text, |x| x > 0.0).map(Width::Is),
    }
}

fn order_of(text: &str) -> Option<Smoothness> {
    match text {
        "1/2" | "0.5" => Some(Smoothness::Half),
        "3/2" | "1.5" => Some(Smoothness::ThreeHalves),
        "5/2" | "2.5" => Some(Smoothness::FiveHalves),
        _ => None,
    }
}

const WIDTHS: &str = "it is auto, median, or a number above 0";

impl FromStr for KernelChoice {
    type Err = OptionError;
    fn from_str(text: &str) -> Result<Self, OptionError> {
        let text = text.trim();
        let (name, written) = match text.split_once('{') {
            None => (text, ""),
            Some((name, rest)) => match rest.strip_suffix('}') {
                Some(inner) => (name.trim(), inner),
                None => {
                    return Err(OptionError::Text {
                        text: text.to_owned(),
                        why: "a closing brace is missing".to_owned(),
                    });
                }
            },
        };
        let options = Options::parse(written)?;
        let width = |o: &Options| option(o, "width", Width::default(), WIDTHS, width_of);
        let (family, own): (_, &[&str]) = match name {
            "linear" => (Family::Linear, &["references", "keep", "scale", "ard"]),
            "precomputed" => (Family::Precomputed, &["references", "keep"]),
            "rbf" => (
                Family::Rbf {
                    width: width(&options)?,
                },
                &["width", "references", "keep", "scale", "ard", "features"],
            ),
            "matern" => (
                Family::Matern {
                    nu: option(
                        &options,
                        "nu",
                        Smoothness::default(),
                        "it is 1/2, 3/2 or 5/2",
                        order_of,
                    )?,
                    width: width(&options)?,
                },
                &["nu", "width", "references", "keep", "scale", "ard"],
            ),
            "polynomial" => (
                Family::Polynomial {
                    degree: option(
                        &options,
                        "degree",
                        2,
                        "it is a whole number, 1 to 20",
                        |t| t.parse().ok().filter(|d| (1..=DEGREES).contains(d)),
                    )?,
                    offset: option(
                        &options,
                        "offset",
                        1.0,
                        "it is a number, 0 or larger",
                        |t| number(t, |x| x >= 0.0),
                    )?,
                },
                &["degree", "offset", "references", "keep", "scale"],
            ),
            other => {
                let known = FAMILIES.join(", ");
                return bad("kernel", other, &format!("there are {known}"));
            }
        };
        if let Some(other) = options.names().find(|n| !own.contains(n)) {
            return Err(OptionError::Unknown {
                option: other.to_owned(),
                known: own.iter().map(|&n| n.to_owned()).collect(),
            });
        }
        let references = option(
            &options,
            "references",
            None,
            "it is all, or a whole number above 0",
            |t| match t {
                "all" => Some(None),
                _ => t.parse().ok().filter(|r| *r > 0).map(Some),
            },
        )?;
        let keep = option(
            &options,
            "keep",
            None,
            "it is a share of the reference points, above 0 and below 1",
            |t| number(t, |x| x > 0.0 && x < 1.0).map(Some),
        )?;
        let raw = option(
            &options,
            "scale",
            false,
            "it is feature or none",
            |t| match t {
                "feature" => Some(false),
                "none" => Some(true),
                _ => None,
            },
        )?;
        let ard = option(&options, "ard", false, "it is true or false", |t| {
            t.parse().ok()
        })?;
        let features = option(
            &options,
            "features",
            None,
            "it is an even number above 0",
            |t| t.parse().ok().filter(|m| *m > 0 && m % 2 == 0).map(Some),
        )?;
        if let (Some(_), Some(with)) = (
            features,
            ["references", "keep"]
                .into_iter()
                .find(|n| options.text(n).is_some()),
        ) {
            return bad(
                "features",
                options.text("features").as_deref().unwrap_or_default(),
                &format!(
                    "random features stand in the place of reference points: leave '{with}' out"
                ),
            );
        }
        Ok(Self {
            family,
            references,
            keep,
            raw,
            ard,
            features,
        })
    }
}

impl fmt::Display for Width {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Median => f.write_str("median"),
            Self::Is(width) => write!(f, "{width}"),
        }
    }
}

impl fmt::Display for Smoothness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Half => "1/2",
            Self::ThreeHalves => "3/2",
            Self::FiveHalves => "5/2",
        })
    }
}

impl fmt::Display for KernelChoice {
    /// As it is read, without what is so by default.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut options = String::new();
        let mut add = |name: &str, value: &dyn fmt::Display| {
            let comma = if options.is_empty() { "" } else { ", " };
            write!(options, "{comma}{name}={value}")
        };
        match self.family {
            Family::Polynomial { degree, offset } => {
                add("degree", &degree)?;
                add("offset", &offset)?;
            }
            Family::Matern { nu, .. } => add("nu", &nu)?,
            Family::Linear | Family::Rbf { .. } | Family::Precomputed => {}
        }
        if let Some(width) = self.family.width().filter(|w| *w != Width::default()) {
            add("width", &width)?;
        }
        if let Some(references) = self.references {
            add("references", &references)?;
        }
        if let Some(keep) = self.keep {
            add("keep", &keep)?;
        }
        if self.raw {
            add("scale", &"none")?;
        }
        if self.ard {
            add("ard", &true)?;
        }
        if let Some(features) = self.features {
            add("features", &features)?;
        }
        f.write_str(self.family.name())?;
        if options.is_empty() {
            Ok(())
        } else {
            write!(f, "{{{options}}}")
        }
    }
}

impl TryFrom<String> for KernelChoice {
    type Error = OptionError;
    fn try_from(text: String) -> Result<Self, OptionError> {
        text.parse()
    }
}

impl From<KernelChoice> for String {
    fn from(choice: KernelChoice) -> Self {
        choice.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        for text in [
            "linear",
            "rbf",
            "rbf{width=0.25}",
            "rbf{width=median}",
            "matern{nu=3/2}",
            "matern{nu=1/2, width=3, references=7}",
            "polynomial{degree=4, offset=0.5, scale=none}",
            "precomputed{references=3, keep=0.5}",
            "rbf{keep=0.2}",
            "linear{ard=true}",
            "matern{nu=5/2, references=9, ard=true}",
            "rbf{ard=true, features=500}",
        ] {
            let read: KernelChoice = text.parse().expect(text);
            assert_eq!(read.to_string(), text);
            let again: KernelChoice = read.to_string().parse().expect(text);
            assert_eq!(again, read);
        }
        assert_eq!(
            "matern".parse::<KernelChoice>().map(|c| c.to_string()),
            Ok("matern{nu=3/2}".to_owned())
        );
    }

    #[test]
    fn what_cannot_be_is_named() {
        for (text, word) in [
            ("rbff", "there are rbf, matern"),
            ("rbf{", "closing brace"),
            ("rbf{width=-1}", "auto, median, or a number above 0"),
            ("rbf{width=inf}", "auto, median, or a number above 0"),
            ("rbf{degree=2}", "there is no option 'degree'"),
            ("precomputed{scale=none}", "there is no option 'scale'"),
            ("matern{nu=2}", "1/2, 3/2 or 5/2"),
            ("polynomial{degree=21}", "1 to 20"),
            ("linear{references=0}", "above 0"),
            ("rbf{keep=1}", "a share of the reference points"),
            ("linear{scale=view}", "feature or none"),
            ("rbf{ard=maybe}", "true or false"),
            ("polynomial{ard=true}", "there is no option 'ard'"),
            ("rbf{features=7}", "an even number"),
            ("rbf{features=8,references=8}", "leave 'references' out"),
            ("matern{features=8}", "there is no option 'features'"),
        ] {
            let error = text.parse::<KernelChoice>().expect_err(text).to_string();
            assert!(error.contains(word), "{text}: {error}");
        }
    }
}
