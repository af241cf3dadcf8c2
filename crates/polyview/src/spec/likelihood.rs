//! Likelihoods of views: a species by its name, with options.

use std::fmt;
use std::sync::Arc;

use polyview_core::{DataError, TermContext};
use polyview_core::{Domain, LikelihoodSpecies, OptionError, Options, View, ViewTerm, Way};
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::{Error, ErrorKind, Result};
use crate::registry::Registry;

/// How the data of a view arise from its linear predictor: a
/// [species](LikelihoodSpecies) by its name, with options as far as somebody wrote them.
///
/// Names of [`Registry::standard`] are known at once. Another one is kept with its options
/// until [`Likelihood::resolve`] finds it in a registry; until then it answers every
/// question with no.
///
/// ```
/// use polyview::Likelihood;
///
/// let counts: Likelihood = "nb".into();
/// assert_eq!(counts.name(), "negative-binomial");
/// assert!(counts.is_count() && !counts.is_label());
/// let fixed: Likelihood = "negative-binomial{size=2}".parse()?;
/// assert_eq!(fixed.options().text("size").as_deref(), Some("2"));
/// # Ok::<(), polyview_core::OptionError>(())
/// ```
#[derive(Clone)]
pub struct Likelihood {
    name: String,
    options: Options,
    species: Option<Arc<dyn LikelihoodSpecies>>,
}

impl Likelihood {
    /// A species, whether a registry lists it or not, with default options.
    pub fn of(species: Arc<dyn LikelihoodSpecies>) -> Self {
        Self {
            name: species.name().to_owned(),
            options: Options::new(),
            species: Some(species),
        }
    }
    /// The same species with these options.
    #[must_use]
    pub fn with(mut self, options: Options) -> Self {
        self.options = options;
        self
    }
    /// Name of the species.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// Options, as far as they were written.
    pub fn options(&self) -> &Options {
        &self.options
    }
    /// The options as a type, defaults filled in.
    ///
    /// # Errors
    /// [`OptionError`] for options that are not those of the type.
    pub fn read_options<T: DeserializeOwned>(&self) -> std::result::Result<T, OptionError> {
        self.written_out().read()
    }
    /// The species; `None` for a name that is not known.
    pub fn species(&self) -> Option<&dyn LikelihoodSpecies> {
        self.species.as_deref()
    }
    /// Looks the name up in a registry, if it is not known yet, and checks the options.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownLikelihood`]; [`ErrorKind::SpeciesOption`] for an option that the
    /// species does not have, or that cannot be.
    pub fn resolve(&mut self, registry: &Registry) -> Result<()> {
        if self.species.is_none() {
            let Some(species) = registry.likelihood(&self.name) else {
                return Err(self.unknown(registry));
            };
            self.name = species.name().to_owned();
            self.species = Some(Arc::clone(species));
        }
        self.check()
    }
    fn unknown(&self, registry: &Registry) -> Error {
        ErrorKind::UnknownLikelihood {
            name: self.name.clone(),
            known: registry
                .likelihoods()
                .map(|s| s.name().to_owned())
                .collect(),
        }
        .into()
    }
    /// Checks the options.
    ///
    /// # Errors
    /// [`ErrorKind::SpeciesOption`], [`ErrorKind::UnknownLikelihood`].
    pub(crate) fn check(&self) -> Result<()> {
        let Some(species) = &self.species else {
            return Err(self.unknown(Registry::standard()));
        };
        let checked = || species.check(&self.options.over(&species.defaults())?);
        checked().map_err(|source| {
            ErrorKind::SpeciesOption {
                species: self.name.clone(),
                source,
            }
            .into()
        })
    }
    /// All options, those that nobody wrote at their defaults.
    fn written_out(&self) -> Options {
        let defaults = self.species.as_ref().map(|s| s.defaults());
        match defaults {
            Some(defaults) => self.options.over(&defaults).unwrap_or_default(),
            None => self.options.clone(),
        }
    }
    /// The same with every option written out.
    #[must_use]
    pub(crate) fn in_full(self) -> Self {
        let options = self.written_out();
        self.with(options)
    }
    /// The data term of a view.
    ///
    /// # Errors
    /// [`DataError`] when the data do not suit it, and of a likelihood that is not known.
    pub(crate) fn term(
        &self,
        view: View,
        cx: &TermContext,
    ) -> std::result::Result<Box<dyn ViewTerm>, DataError> {
        let Some(species) = &self.species else {
            return Err(DataError::UnknownLikelihood {
                view: view.name().to_owned(),
                name: self.name.clone(),
            });
        };
        species.term(view, &self.written_out(), cx)
    }
    /// What the data are; `None` for a name that is not known.
    pub fn domain(&self) -> Option<Domain> {
        self.species.as_ref().map(|s| s.domain())
    }
    /// Why a view of it cannot go a way, in words that follow "it"; `None` where it can.
    pub fn refuses(&self, way: Way) -> Option<String> {
        match &self.species {
            Some(species) => species.refuses(way, &self.written_out()),
            None => Some("is not known".to_owned()),
        }
    }
    fn is(&self, asked: impl Fn(Domain) -> bool) -> bool {
        self.domain().is_some_and(asked)
    }
    /// Whether the data are zeros and ones, or classes.
    pub fn is_label(&self) -> bool {
        self.is(Domain::is_label)
    }
    /// Whether the data are counts: whole numbers, not negative. Successes are
    /// such too.
    pub fn is_count(&self) -> bool {
        self.is(Domain::is_count)
    }
    /// Whether the data are real numbers, which may be centred and scaled.
    pub fn is_real(&self) -> bool {
        self.is(Domain::is_real)
    }
    /// Whether the data are numbers of successes out of known numbers of trials.
    pub fn has_trials(&self) -> bool {
        self.is(Domain::has_trials)
    }
    /// Whether only the order of the data counts.
    pub fn is_rank(&self) -> bool {
        self.is(Domain::is_ranked)
    }
    /// Whether the data are classes: one column of codes with class names.
    pub fn has_classes(&self) -> bool {
        self.is(Domain::has_classes)
    }
    /// Whether its sites are as steep as the data are large, so that factors of large ones
    /// hardly move.
    pub fn steepens(&self) -> bool {
        self.species.as_ref().is_some_and(|s| s.steepens())
    }
    /// Whether a view of it keeps no number for single cells, so that data that
    /// are stored sparse stay so.
    pub fn stays_sparse(&self) -> bool {
        self.refuses(Way::Sparse).is_none()
    }
    /// Whether each component of a mixture prior of the factors can have weights
    /// of its own.
    pub fn can_be_local(&self) -> bool {
        self.refuses(Way::Components).is_none()
    }
}

impl Default for Likelihood {
    /// Real numbers with normal noise.
    fn default() -> Self {
        "gaussian".into()
    }
}

impl From<&str> for Likelihood {
    /// A name or one of its aliases, with default options.
    fn from(name: &str) -> Self {
        match Registry::standard().likelihood(name) {
            Some(species) => Self::of(Arc::clone(species)),
            None => Self {
                name: name.to_owned(),
                options: Options::new(),
                species: None,
            },
        }
    }
}

impl std::str::FromStr for Likelihood {
    type Err = OptionError;
    /// A name with options in braces, where there are any: `negative-binomial{size=2}`.
    fn from_str(text: &str) -> std::result::Result<Self, OptionError> {
        let Some((name, rest)) = text.split_once('{') else {
            return Ok(text.trim().into());
        };
        let inside = rest.trim_end().strip_suffix('}');
        let options = inside.ok_or_else(|| OptionError::Text {
            text: text.to_owned(),
            why: "the brace is not closed".to_owned(),
        })?;
        Ok(Self::from(name.trim()).with(Options::parse(options)?))
    }
}

impl From<String> for Likelihood {
    fn from(name: String) -> Self {
        name.as_str().into()
    }
}

impl From<&Likelihood> for Likelihood {
    fn from(other: &Likelihood) -> Self {
        other.clone()
    }
}

impl PartialEq for Likelihood {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.options == other.options
    }
}

impl PartialEq<str> for Likelihood {
    fn eq(&self, name: &str) -> bool {
        self.name == name
    }
}

impl PartialEq<&str> for Likelihood {
    fn eq(&self, name: &&str) -> bool {
        self.name == *name
    }
}

impl fmt::Debug for Likelihood {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.options.is_empty() {
            return f.write_str(&self.name);
        }
        write!(f, "{}{{{}}}", self.name, self.options)
    }
}

impl fmt::Display for Likelihood {
    /// The name alone.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// A likelihood with options, as a table.
#[derive(Serialize, Deserialize)]
struct Tagged {
    species: String,
    #[serde(flatten)]
    options: Options,
}

impl Serialize for Likelihood {
    /// The name, or a table where there are options.
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        if self.options.is_empty() {
            return serializer.serialize_str(&self.name);
        }
        Tagged {
            species: self.name.clone(),
            options: self.options.clone(),
        }
        .serialize(serializer)
    }
}

struct NameOrTable;

impl<'de> Visitor<'de> for NameOrTable {
    type Value = Likelihood;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a likelihood, or a table of its species and options")
    }
    fn visit_str<E: serde::de::Error>(self, name: &str) -> std::result::Result<Likelihood, E> {
        Ok(name.into())
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> std::result::Result<Likelihood, A::Error> {
        let tagged = Tagged::deserialize(MapAccessDeserializer::new(map))?;
        Ok(Likelihood::from(tagged.species).with(tagged.options))
    }
}

impl<'de> Deserialize<'de> for Likelihood {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_any(NameOrTable)
    }
}
