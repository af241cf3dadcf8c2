//! Species by their names, with options: likelihoods, priors.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use polyview_core::{LikelihoodSpecies, OptionError, Options, PriorSpecies};
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::{Error, ErrorKind, Result};
use crate::registry::Registry;

/// What a species of any kind says of itself.
pub trait Described: Send + Sync {
    /// Its name in specifications and files.
    fn name(&self) -> &'static str;
    /// Other names that are read.
    fn aliases(&self) -> &'static [&'static str];
    /// Its options with their defaults.
    fn defaults(&self) -> Options;
    /// Checks options, all of them written out.
    ///
    /// # Errors
    /// [`OptionError`] for one that cannot be.
    fn check(&self, options: &Options) -> std::result::Result<(), OptionError>;
}

impl Described for dyn LikelihoodSpecies {
    fn name(&self) -> &'static str {
        LikelihoodSpecies::name(self)
    }
    fn aliases(&self) -> &'static [&'static str] {
        LikelihoodSpecies::aliases(self)
    }
    fn defaults(&self) -> Options {
        LikelihoodSpecies::defaults(self)
    }
    fn check(&self, options: &Options) -> std::result::Result<(), OptionError> {
        LikelihoodSpecies::check(self, options)
    }
}

impl Described for dyn PriorSpecies {
    fn name(&self) -> &'static str {
        PriorSpecies::name(self)
    }
    fn aliases(&self) -> &'static [&'static str] {
        PriorSpecies::aliases(self)
    }
    fn defaults(&self) -> Options {
        PriorSpecies::defaults(self)
    }
    fn check(&self, options: &Options) -> std::result::Result<(), OptionError> {
        PriorSpecies::check(self, options)
    }
}

/// A kind of species: what is named, and where a registry has it.
pub trait Kind: 'static {
    /// Its species.
    type Species: ?Sized + Described;
    /// What it is called in messages: `likelihood`.
    const WHAT: &'static str;
    /// Name of the species where nobody names one.
    const DEFAULT: &'static str;
    /// All that a registry has, in its order.
    fn all(registry: &Registry) -> Vec<&Arc<Self::Species>>;
}

/// The species of that name or alias.
fn find<'a, K: Kind>(registry: &'a Registry, name: &str) -> Option<&'a Arc<K::Species>> {
    let called = |s: &&Arc<K::Species>| s.name() == name || s.aliases().contains(&name);
    K::all(registry).into_iter().find(called)
}

/// A species by its name, with options as far as somebody wrote them.
///
/// Names of [`Registry::standard`] are known at once. Another one is kept with its options
/// until [`Named::resolve`] finds it in a registry; until then it answers every
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
pub struct Named<K: Kind> {
    name: String,
    options: Options,
    species: Option<Arc<K::Species>>,
}

impl<K: Kind> Clone for Named<K> {
    fn clone(&self) -> Self {
        Self {
            name: self.name.clone(),
            options: self.options.clone(),
            species: self.species.clone(),
        }
    }
}

impl<K: Kind> Named<K> {
    /// A species, whether a registry lists it or not, with default options.
    pub fn of(species: Arc<K::Species>) -> Self {
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
    pub fn species(&self) -> Option<&K::Species> {
        self.species.as_deref()
    }
    /// Looks the name up in a registry, unless the species was given itself, and checks the options: a name
    /// that was read before there was a registry is that of a species of the standard one, in whose
    /// place this registry may have another.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownSpecies`]; [`ErrorKind::SpeciesOption`] for an option that the
    /// species does not have, or that cannot be.
    pub fn resolve(&mut self, registry: &Registry) -> Result<()> {
        let standard = find::<K>(Registry::standard(), &self.name);
        let by_name = match (&self.species, standard) {
            (Some(own), Some(standard)) => Arc::ptr_eq(own, standard),
            (own, _) => own.is_none(),
        };
        match find::<K>(registry, &self.name).filter(|_| by_name) {
            Some(species) => {
                self.name = species.name().to_owned();
                self.species = Some(Arc::clone(species));
            }
            None if self.species.is_none() => return Err(self.unknown(registry)),
            None => {}
        }
        self.check()
    }
    fn unknown(&self, registry: &Registry) -> Error {
        ErrorKind::UnknownSpecies {
            what: K::WHAT,
            name: self.name.clone(),
            known: K::all(registry)
                .into_iter()
                .map(|s| s.name().to_owned())
                .collect(),
        }
        .into()
    }
    /// Checks the options.
    ///
    /// # Errors
    /// [`ErrorKind::SpeciesOption`], [`ErrorKind::UnknownSpecies`].
    pub(crate) fn check(&self) -> Result<()> {
        let Some(species) = &self.species else {
            return Err(self.unknown(Registry::standard()));
        };
        let checked = || species.check(&self.options.over(&species.defaults())?);
        checked().map_err(|source| {
            ErrorKind::SpeciesOption {
                what: K::WHAT,
                species: self.name.clone(),
                source,
            }
            .into()
        })
    }
    /// All options, those that nobody wrote at their defaults.
    pub(crate) fn written_out(&self) -> Options {
        let defaults = self.species.as_ref().map(|s| s.defaults());
        match defaults {
            Some(defaults) => self.options.over(&defaults).unwrap_or_default(),
            None => self.options.clone(),
        }
    }
    /// All options: those that nobody wrote as `shared` has them, and what that has not at
    /// their defaults.
    pub(crate) fn over(&self, shared: &Options) -> std::result::Result<Options, OptionError> {
        let Some(species) = &self.species else {
            return Ok(self.options.clone());
        };
        let defaults = species.defaults();
        let shared = shared.clone().only(&defaults);
        self.options.clone().or(&shared).over(&defaults)
    }
    /// The same with every option written out.
    #[must_use]
    pub(crate) fn in_full(self) -> Self {
        let options = self.written_out();
        self.with(options)
    }
}

impl<K: Kind> Default for Named<K> {
    /// What is taken where nobody says anything: real numbers with normal noise, weights
    /// with a precision for each factor, standard normal factors.
    fn default() -> Self {
        K::DEFAULT.into()
    }
}

impl<K: Kind> From<&str> for Named<K> {
    /// A name or one of its aliases, with default options.
    fn from(name: &str) -> Self {
        match find::<K>(Registry::standard(), name) {
            Some(species) => Self::of(Arc::clone(species)),
            None => Self {
                name: name.to_owned(),
                options: Options::new(),
                species: None,
            },
        }
    }
}

impl<K: Kind> std::str::FromStr for Named<K> {
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

impl<K: Kind> From<String> for Named<K> {
    fn from(name: String) -> Self {
        name.as_str().into()
    }
}

impl<K: Kind> From<&Named<K>> for Named<K> {
    fn from(other: &Self) -> Self {
        other.clone()
    }
}

impl<K: Kind> PartialEq for Named<K> {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.options == other.options
    }
}

impl<K: Kind> PartialEq<str> for Named<K> {
    fn eq(&self, name: &str) -> bool {
        self.name == name
    }
}

impl<K: Kind> PartialEq<&str> for Named<K> {
    fn eq(&self, name: &&str) -> bool {
        self.name == *name
    }
}

impl<K: Kind> fmt::Debug for Named<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.options.is_empty() {
            return f.write_str(&self.name);
        }
        write!(f, "{}{{{}}}", self.name, self.options)
    }
}

impl<K: Kind> fmt::Display for Named<K> {
    /// The name alone.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// A species with options, as a table.
#[derive(Serialize, Deserialize)]
struct Tagged {
    species: String,
    #[serde(flatten)]
    options: Options,
}

impl<K: Kind> Serialize for Named<K> {
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

struct NameOrTable<K>(PhantomData<K>);

impl<'de, K: Kind> Visitor<'de> for NameOrTable<K> {
    type Value = Named<K>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the name of a {}, or a table of its species and options",
            K::WHAT
        )
    }
    fn visit_str<E: serde::de::Error>(self, name: &str) -> std::result::Result<Named<K>, E> {
        Ok(name.into())
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> std::result::Result<Named<K>, A::Error> {
        let tagged = Tagged::deserialize(MapAccessDeserializer::new(map))?;
        Ok(Named::from(tagged.species).with(tagged.options))
    }
}

impl<'de, K: Kind> Deserialize<'de> for Named<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_any(NameOrTable(PhantomData))
    }
}
