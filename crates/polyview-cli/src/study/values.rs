//! The values of a study file as choices; a value that is none is named by its line and key,
//! with what it may be.

use std::collections::HashSet;
use std::fmt;

use polyview::{ErrorKind, FactorPriors, Kind, Likelihoods, Registry, ViewChoices, WeightPriors};
use polyview_core::OptionError;
use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{
    DeserializeSeed, Deserializer, Error as _, Expected, IntoDeserializer, MapAccess, SeqAccess,
    Unexpected, Visitor,
};
use serde::{Deserialize, forward_to_deserialize_any};
use toml::de::{DeTable, DeValue};
use toml::{Spanned, Table, Value};

use super::Study;
use crate::choice::{instead, names};

/// The study that a table says; `text` is the file that it comes from.
///
/// # Errors
/// The line and the key of the first value that cannot be used, and what it may be.
pub(super) fn typed(keys: &Table, text: &str) -> Result<Study, String> {
    views(keys)
        .and_then(|()| Study::deserialize(At::table(keys)))
        .and_then(|mut study| {
            all_known(&mut study)?;
            Ok(study)
        })
        .map_err(|refused| refused.message(text))
}

/// Refuses the name of a model that nobody knows, with its line.
pub(super) fn known_model(name: &str, known: &[&str], text: &str) -> Result<(), String> {
    if known.contains(&name) {
        return Ok(());
    }
    let why = format!("there is no model '{name}'; {}", instead(name, known));
    let place = [Step::Key("model"), Step::Key("model")];
    let refused = place
        .iter()
        .fold(Refused::new(why), |e, step| e.within(step));
    Err(refused.message(text))
}

/// Refuses likelihoods and priors that nobody knows, and options that they do not have.
fn all_known(study: &mut Study) -> Result<(), Refused> {
    let factors = study.model.factor_prior.resolve(Registry::standard());
    known::<FactorPriors>(factors, &[Step::Key("factor-prior"), Step::Key("model")])?;
    let place = [Step::Key("defaults"), Step::Key("model")];
    in_choices(&mut study.model.defaults, &place)?;
    for (i, view) in study.model.views.iter_mut().enumerate() {
        let place = [Step::Place(i), Step::Key("views"), Step::Key("model")];
        in_choices(&mut view.choices, &place)?;
    }
    for (i, source) in study.data.iter_mut().enumerate() {
        let place = [Step::Key("likelihood"), Step::Place(i), Step::Key("data")];
        if let Some(likelihood) = &mut source.likelihood {
            known::<Likelihoods>(likelihood.resolve(Registry::standard()), &place)?;
        }
    }
    Ok(())
}

fn in_choices(choices: &mut ViewChoices, place: &[Step<'_>]) -> Result<(), Refused> {
    let within = |e: Refused| place.iter().fold(e, |e, step| e.within(step));
    let registry = Registry::standard();
    let own = choices.likelihood.resolve(registry);
    known::<Likelihoods>(own, &[Step::Key("likelihood")]).map_err(within)?;
    let own = choices.selection.resolve(registry);
    known::<WeightPriors>(own, &[Step::Key("selection")]).map_err(within)?;
    for (name, options) in choices.options_by_name() {
        let place = if std::ptr::eq(options, &raw const choices.ranks) {
            vec![Step::Key("ranks")]
        } else {
            vec![Step::Key(name), Step::Key("options")]
        };
        known::<Likelihoods>(registry.check_options(name, options), &place).map_err(within)?;
    }
    Ok(())
}

/// What is wrong with a likelihood or its options, and where.
fn known<K: Kind>(found: polyview::Result<()>, place: &[Step<'_>]) -> Result<(), Refused> {
    let Err(e) = found else {
        return Ok(());
    };
    let refused = match e.kind() {
        ErrorKind::UnknownSpecies { name, .. } => {
            let known = names::<K>();
            Refused::new(format!("there is no '{name}'; {}", instead(name, &known)))
        }
        ErrorKind::SpeciesOption { source, .. } => match source {
            OptionError::Type {
                option,
                expected,
                found,
            } => Refused::new(format!("{found} stands where {expected} belongs"))
                .within(&Step::Key(option)),
            OptionError::Unknown { option, known } => {
                let why = format!("there is no such key; {}", instead(option, known));
                Refused::new(why).within(&Step::Key(option))
            }
            OptionError::Value { option, needs, .. } => {
                Refused::new(needs.clone()).within(&Step::Key(option))
            }
            other => Refused::new(other.to_string()),
        },
        _ => Refused::new(e.to_string()),
    };
    Err(place.iter().fold(refused, |e, step| e.within(step)))
}

/// Options of likelihoods that a view has beside its likelihood.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Beside {
    /// The view.
    pub(super) view: String,
    /// The likelihood that they are of.
    pub(super) species: String,
    /// Where they stand, with the file's line.
    pub(super) place: String,
}

/// The options that the views of a study file have beside their likelihoods, each with its
/// place.
pub(super) fn beside(keys: &Table, text: &str) -> Vec<Beside> {
    let model = keys.get("model").and_then(Value::as_table);
    let views = model.and_then(|m| m.get("views"));
    let views = views.and_then(Value::as_array).into_iter().flatten();
    let mut out = Vec::new();
    for (i, own) in views.enumerate() {
        let Some(view) = own.get("name").and_then(Value::as_str) else {
            continue;
        };
        let ranks = own.get("ranks").map(|_| ("rank", vec![Step::Key("ranks")]));
        let options = own.get("options").and_then(Value::as_table);
        let named = options.into_iter().flatten().map(|(name, _)| {
            let place = vec![Step::Key(name), Step::Key("options")];
            (name.as_str(), place)
        });
        for (species, mut place) in ranks.into_iter().chain(named) {
            place.extend([Step::Place(i), Step::Key("views"), Step::Key("model")]);
            let none = Refused::new(String::new());
            let refused = place.iter().fold(none, |e, step| e.within(step));
            out.push(Beside {
                view: view.to_owned(),
                species: species.to_owned(),
                place: refused.message(text),
            });
        }
    }
    out
}

/// Looks at the choices of each view by themselves: as part of a view they come without
/// their places.
fn views(keys: &Table) -> Result<(), Refused> {
    let model = keys.get("model").and_then(Value::as_table);
    let views = model.and_then(|m| m.get("views"));
    let views = views.and_then(Value::as_array).into_iter().flatten();
    let mut seen = HashSet::new();
    for (i, view) in views.enumerate() {
        let Value::Table(view) = view else { continue };
        if let Some(name) = view.get("name").and_then(Value::as_str)
            && !seen.insert(name)
        {
            let why = format!("view '{name}' has an entry above; put all its choices into one");
            let place = [
                Step::Key("name"),
                Step::Place(i),
                Step::Key("views"),
                Step::Key("model"),
            ];
            let refused = place
                .iter()
                .fold(Refused::new(why), |e, step| e.within(step));
            return Err(refused);
        }
        let mut choices = view.clone();
        choices.remove("name");
        choices.remove("labels");
        let found = ViewChoices::deserialize(At::table(&choices));
        let place = [Step::Place(i), Step::Key("views"), Step::Key("model")];
        found.map_err(|e| place.iter().fold(e, |e, step| e.within(step)))?;
    }
    Ok(())
}

/// One step into a study: the key of a table, or a place in a list.
enum Step<'a> {
    Key(&'a str),
    Place(usize),
}

/// Why a value cannot be used.
#[derive(Debug)]
struct Refused {
    /// Keys and places of lists, the innermost first.
    place: Vec<Result<String, usize>>,
    why: String,
}

impl Refused {
    fn new(why: String) -> Self {
        Self {
            place: Vec::new(),
            why,
        }
    }
    fn within(mut self, step: &Step<'_>) -> Self {
        self.place.push(match step {
            Step::Key(key) => Ok((*key).to_owned()),
            Step::Place(i) => Err(*i),
        });
        self
    }
    fn message(&self, text: &str) -> String {
        let keys: Vec<&str> = (self.place.iter().rev())
            .filter_map(|step| step.as_deref().ok())
            .collect();
        let line = line(text, self.place.iter().rev());
        let line = line.map(|n| format!("line {n}"));
        let key = (!keys.is_empty()).then(|| format!("key '{}'", keys.join(".")));
        let place: Vec<String> = line.into_iter().chain(key).collect();
        if place.is_empty() {
            return self.why.clone();
        }
        format!("{}: {}", place.join(", "), self.why)
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

impl std::error::Error for Refused {}

impl serde::de::Error for Refused {
    fn custom<T: fmt::Display>(why: T) -> Self {
        Self::new(why.to_string())
    }
    fn invalid_type(found: Unexpected<'_>, wanted: &dyn Expected) -> Self {
        let table = matches!(found, Unexpected::Map);
        let (found, wanted) = (shown(&found), in_words(&wanted.to_string()));
        // the usual cause
        let mend = if table && wanted == "a list" {
            "; a table that may stand several times has double brackets, as [[data]]"
        } else {
            ""
        };
        Self::new(format!("{found} stands where {wanted} belongs{mend}"))
    }
    fn invalid_value(found: Unexpected<'_>, wanted: &dyn Expected) -> Self {
        Self::invalid_type(found, wanted)
    }
    fn invalid_length(found: usize, wanted: &dyn Expected) -> Self {
        let wanted = in_words(&wanted.to_string());
        Self::new(format!("a list of {found} stands where {wanted} belongs"))
    }
    fn unknown_variant(found: &str, known: &'static [&'static str]) -> Self {
        Self::new(format!("there is no '{found}'; {}", instead(found, known)))
    }
    fn unknown_field(found: &str, known: &'static [&'static str]) -> Self {
        let why = format!("there is no such key; {}", instead(found, known));
        Self::new(why).within(&Step::Key(found))
    }
    fn missing_field(key: &'static str) -> Self {
        Self::new(format!("'{key}' is missing; add {key} = ..."))
    }
}

/// What stands in a file.
fn shown(found: &Unexpected<'_>) -> String {
    match found {
        Unexpected::Str(text) => format!("the text \"{text}\""),
        Unexpected::Bool(b) => b.to_string(),
        Unexpected::Signed(n) => n.to_string(),
        Unexpected::Unsigned(n) => n.to_string(),
        Unexpected::Float(x) => x.to_string(),
        Unexpected::Seq => "a list".to_owned(),
        Unexpected::Map => "a table".to_owned(),
        other => other.to_string(),
    }
}

/// What the types of choices are called outside of programs.
fn in_words(wanted: &str) -> String {
    match wanted {
        "usize" | "u8" | "u16" | "u32" | "u64" => "a whole number from 0 on".to_owned(),
        "f32" | "f64" => "a number".to_owned(),
        "a boolean" => "true or false".to_owned(),
        "a string" | "path string" => "a text in quotes".to_owned(),
        "a sequence" => "a list".to_owned(),
        "a map" => "a table".to_owned(),
        other => match other.strip_prefix("an array of length ") {
            Some(n) => format!("a list of {n}"),
            None if other.starts_with("struct ") => "a table".to_owned(),
            None => other.to_owned(),
        },
    }
}

/// The line of the last of these steps that the file itself has.
fn line<'a>(text: &str, steps: impl Iterator<Item = &'a Result<String, usize>>) -> Option<usize> {
    let root = DeTable::parse(text).ok()?;
    let root = Spanned::new(root.span(), DeValue::Table(root.into_inner()));
    let (mut value, mut start) = (&root, None);
    for step in steps {
        let next = match step {
            Ok(key) => {
                let table = value.get_ref().as_table();
                let found = table.and_then(|t| t.iter().find(|(k, _)| k.get_ref() == key));
                found.map(|(k, v)| (k.span().start, v))
            }
            Err(i) => {
                let found = value.get_ref().get(*i);
                found.map(|v| (v.span().start, v))
            }
        };
        let Some((at, inner)) = next else { break };
        (start, value) = (Some(at), inner);
    }
    let before = text.get(..start?)?;
    Some(1 + before.matches('\n').count())
}

/// A value of a study file.
#[derive(Clone, Copy)]
enum At<'a> {
    Value(&'a Value),
    Table(&'a Table),
}

impl<'a> At<'a> {
    fn table(table: &'a Table) -> Self {
        Self::Table(table)
    }
    fn as_table(self) -> Option<&'a Table> {
        match self {
            Self::Table(table) | Self::Value(Value::Table(table)) => Some(table),
            Self::Value(_) => None,
        }
    }
    /// Says that another value belongs here.
    fn refuse(self, wanted: &str) -> Refused {
        let found = match self {
            Self::Table(_) | Self::Value(Value::Table(_)) => Unexpected::Map,
            Self::Value(Value::Array(_)) => Unexpected::Seq,
            Self::Value(Value::String(s)) => Unexpected::Str(s),
            Self::Value(Value::Integer(n)) => Unexpected::Signed(*n),
            Self::Value(Value::Float(x)) => Unexpected::Float(*x),
            Self::Value(Value::Boolean(b)) => Unexpected::Bool(*b),
            Self::Value(Value::Datetime(_)) => Unexpected::Other("a date"),
        };
        Refused::invalid_type(found, &wanted)
    }
}

impl<'de> Deserializer<'de> for At<'_> {
    type Error = Refused;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        let value = match self {
            Self::Table(table) => return visitor.visit_map(Entries::new(table)),
            Self::Value(value) => value,
        };
        match value {
            Value::Table(table) => visitor.visit_map(Entries::new(table)),
            Value::Array(list) => visitor.visit_seq(Items { list, next: 0 }),
            Value::String(text) => visitor.visit_str(text),
            Value::Integer(n) => visitor.visit_i64(*n),
            Value::Float(x) => visitor.visit_f64(*x),
            Value::Boolean(b) => visitor.visit_bool(*b),
            Value::Datetime(date) => visitor.visit_string(date.to_string()),
        }
    }
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        visitor.visit_some(self)
    }
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Refused> {
        visitor.visit_newtype_struct(self)
    }
    /// A table: keys that no choice has are refused.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        known: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refused> {
        let table = self.as_table().ok_or_else(|| self.refuse("a table"))?;
        match table.keys().find(|key| !known.contains(&key.as_str())) {
            Some(key) => Err(Refused::unknown_field(key, known)),
            None => visitor.visit_map(Entries::new(table)),
        }
    }
    /// A word, or a table of one word and its value.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        known: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refused> {
        if let Self::Value(Value::String(word)) = self {
            let word: StrDeserializer<'_, Refused> = word.as_str().into_deserializer();
            return word.deserialize_enum("", known, visitor);
        }
        let one_of = format!("one of \"{}\"", known.join("\", \""));
        match self.as_table() {
            Some(table) if table.len() == 1 => {
                visitor.visit_enum(MapAccessDeserializer::new(Entries::new(table)))
            }
            _ => Err(self.refuse(&one_of)),
        }
    }
    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map identifier ignored_any
    }
}

/// The entries of a table.
struct Entries<'a> {
    rest: toml::map::Iter<'a, String, Value>,
    now: Option<(&'a str, &'a Value)>,
}

impl<'a> Entries<'a> {
    fn new(table: &'a Table) -> Self {
        Self {
            rest: table.iter(),
            now: None,
        }
    }
}

impl<'de> MapAccess<'de> for Entries<'_> {
    type Error = Refused;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Refused> {
        self.now = self.rest.next().map(|(key, value)| (key.as_str(), value));
        let key = self.now.map(|(key, _)| {
            let key: StrDeserializer<'_, Refused> = key.into_deserializer();
            seed.deserialize(key)
        });
        key.transpose()
    }
    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Refused> {
        let Some((key, value)) = self.now.take() else {
            return Err(Refused::custom("a key without a value"));
        };
        let found = seed.deserialize(At::Value(value));
        found.map_err(|e| e.within(&Step::Key(key)))
    }
}

/// The entries of a list.
struct Items<'a> {
    list: &'a [Value],
    next: usize,
}

impl<'de> SeqAccess<'de> for Items<'_> {
    type Error = Refused;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Refused> {
        let Some(value) = self.list.get(self.next) else {
            return Ok(None);
        };
        let step = Step::Place(self.next);
        self.next += 1;
        let found = seed.deserialize(At::Value(value));
        found.map(Some).map_err(|e| e.within(&step))
    }
}
