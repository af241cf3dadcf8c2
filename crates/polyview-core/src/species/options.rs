//! Options of a species: a table in specifications and files, typed by the species alone.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use toml::{Table, Value};

/// Options of a species by their names, as somebody wrote them: truth values, whole and
/// real numbers, texts, lists, tables. The species alone knows their types, so that files
/// keep those of species that the reader does not know.
///
/// ```
/// use polyview_core::Options;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize)]
/// struct Tails {
///     nu: f64,
/// }
/// let defaults = Options::of(&Tails { nu: 4.0 })?;
/// let written = Options::parse("nu=3")?;
/// let tails: Tails = written.over(&defaults)?.read()?;
/// assert_eq!(tails.nu, 3.0);
/// let error = Options::parse("mu=3")?.over(&defaults).unwrap_err();
/// assert_eq!(error.to_string(), "there is no option 'mu'; there is nu");
/// # Ok::<(), polyview_core::OptionError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Options(Table);

/// What is wrong with an option.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum OptionError {
    /// The species does not have it.
    #[error("there is no option '{option}'; there {}", are(known))]
    Unknown {
        /// Its name.
        option: String,
        /// The options that there are.
        known: Vec<String>,
    },
    /// It is of another type.
    #[error("option '{option}': expected {expected}, found {found}")]
    Type {
        /// Its name.
        option: String,
        /// What it may be.
        expected: String,
        /// What it is.
        found: String,
    },
    /// Its value cannot be.
    #[error("option '{option}' cannot be {value}: {needs}")]
    Value {
        /// Its name.
        option: String,
        /// Its value.
        value: String,
        /// What it may be.
        needs: String,
    },
    /// Options that cannot be read, as a text or as those of a species.
    #[error("the options '{text}' cannot be read: {why}")]
    Text {
        /// The text.
        text: String,
        /// What is wrong with it.
        why: String,
    },
}

fn are(known: &[String]) -> String {
    match known {
        [] => "are none".to_owned(),
        [one] => format!("is {one}"),
        many => format!("are {}", many.join(", ")),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Boolean(_) => "true or false",
        Value::Integer(_) => "a whole number",
        Value::Float(_) => "a number",
        Value::String(_) => "a word",
        Value::Array(_) => "a list",
        Value::Table(_) => "a table",
        Value::Datetime(_) => "a date",
    }
}

/// Whether what was written may stand where the default is. A choice with a value is a
/// table where the others are words, and the species says which there are.
fn suits(written: &Value, default: &Value) -> bool {
    use Value::{Array, Boolean, Float, Integer, String, Table};
    matches!(
        (written, default),
        (Boolean(_), Boolean(_))
            | (Integer(_), Integer(_))
            | (Integer(_) | Float(_), Float(_))
            | (String(_) | Table(_) | Integer(_) | Float(_), String(_))
            | (String(_) | Table(_), Table(_))
            | (Array(_), Array(_))
    )
}

impl Options {
    /// None.
    pub fn new() -> Self {
        Self::default()
    }
    /// Those of a typed value.
    ///
    /// # Errors
    /// [`OptionError::Text`] for a type that is no table.
    pub fn of<T: Serialize + ?Sized>(typed: &T) -> Result<Self, OptionError> {
        Table::try_from(typed)
            .map(Self)
            .map_err(|e| OptionError::Text {
                text: std::any::type_name::<T>().to_owned(),
                why: e.to_string(),
            })
    }
    /// Options as one writes them on a command line: `size=2, pairs=adjacent`. A word
    /// needs no quotation marks.
    ///
    /// # Errors
    /// [`OptionError::Text`].
    pub fn parse(text: &str) -> Result<Self, OptionError> {
        let mut out = Table::new();
        for part in split(text) {
            let bad = |why: &str| OptionError::Text {
                text: text.to_owned(),
                why: why.to_owned(),
            };
            let (name, value) = part
                .split_once('=')
                .ok_or_else(|| bad(&format!("'{}' has no value", part.trim())))?;
            let (name, value) = (name.trim(), value.trim());
            let plain = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
            if name.is_empty() || !name.chars().all(plain) {
                return Err(bad(&format!("'{name}' is no name")));
            }
            let read = |text: &str| {
                let table: Result<Table, _> = toml::from_str(&format!("x = {text}"));
                table.ok()?.remove("x")
            };
            // words in an order stand between semicolons, fractions have a slash
            let in_word = |c: char| plain(c) || c == ';' || c == ' ' || c == '/';
            let word = || value.chars().all(in_word) && !value.is_empty();
            let value = read(value)
                .or_else(|| word().then(|| Value::String(value.to_owned())))
                .ok_or_else(|| {
                    bad(&format!(
                        "'{value}' is no value; put text with other signs than letters into quotes"
                    ))
                })?;
            if out.insert(name.to_owned(), value).is_some() {
                return Err(bad(&format!("'{name}' stands twice")));
            }
        }
        Ok(Self(out))
    }
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    /// Their names, in the order in which they were written.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
    /// The value of an option as one writes it.
    pub fn text(&self, name: &str) -> Option<String> {
        self.0.get(name).map(|v| match v {
            Value::String(s) => s.clone(),
            other => other.to_string(),
        })
    }
    /// Keeps the options of these names.
    #[must_use]
    pub fn only(mut self, known: &Self) -> Self {
        self.0.retain(|name, _| known.0.contains_key(name));
        self
    }
    /// What was written here, and what was not from `other`.
    #[must_use]
    pub fn or(mut self, other: &Self) -> Self {
        for (name, value) in &other.0 {
            if !self.0.contains_key(name) {
                self.0.insert(name.clone(), value.clone());
            }
        }
        self
    }
    /// What was written, and the defaults of everything that was not, in the order of the
    /// defaults.
    ///
    /// # Errors
    /// [`OptionError::Unknown`] for an option that has no default, and
    /// [`OptionError::Type`] for a value of another kind than its default.
    pub fn over(&self, defaults: &Self) -> Result<Self, OptionError> {
        for (name, value) in &self.0 {
            let Some(default) = defaults.0.get(name) else {
                return Err(OptionError::Unknown {
                    option: name.clone(),
                    known: defaults.names().map(str::to_owned).collect(),
                });
            };
            if !suits(value, default) {
                return Err(OptionError::Type {
                    option: name.clone(),
                    expected: kind(default).to_owned(),
                    found: match value {
                        Value::String(text) => format!("the text \"{text}\""),
                        other => other.to_string(),
                    },
                });
            }
        }
        let mut out = defaults.0.clone();
        for (name, value) in &mut out {
            if let Some(own) = self.0.get(name) {
                *value = own.clone();
            }
        }
        Ok(Self(out))
    }
    /// The options as the species' own type.
    ///
    /// # Errors
    /// [`OptionError::Text`] for what does not fit it.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, OptionError> {
        let whole: Result<T, toml::de::Error> = self.0.clone().try_into();
        whole.map_err(|e| OptionError::Text {
            text: self.to_string(),
            why: e.message().trim().to_owned(),
        })
    }
}

impl std::fmt::Display for Options {
    /// As [`Options::parse`] reads them.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (i, (name, value)) in self.0.iter().enumerate() {
            let comma = if i > 0 { ", " } else { "" };
            write!(f, "{comma}{name}={value}")?;
        }
        Ok(())
    }
}

/// Parts between commas that are in no brackets or quotation marks.
fn split(text: &str) -> Vec<&str> {
    let (mut out, mut depth, mut quoted, mut start) = (Vec::new(), 0_i32, false, 0);
    for (i, c) in text.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '[' | '{' if !quoted => depth += 1,
            ']' | '}' if !quoted => depth -= 1,
            ',' if !quoted && depth == 0 => {
                out.push(&text[start..i]);
                start = i + 1;
            }
            _ => {}
        }
    }
    out.push(&text[start..]);
    out.retain(|part| !part.trim().is_empty());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Options {
        Options::parse(text).expect("options")
    }

    #[test]
    fn options_of_a_line() {
        let o =
            parsed("size=2, pairs = adjacent, margin={per-cell = 1.0}, prior=[1, 0.5], on=true");
        assert_eq!(parsed("x=a;b-c").text("x").as_deref(), Some("a;b-c"));
        assert_eq!(parsed("x=a b;c").text("x").as_deref(), Some("a b;c"));
        let names: Vec<&str> = o.names().collect();
        assert_eq!(names, ["size", "pairs", "margin", "prior", "on"]);
        assert_eq!(o.text("pairs").as_deref(), Some("adjacent"));
        assert_eq!(o.text("size").as_deref(), Some("2"));
        assert!(parsed("").is_empty() && parsed(" , ").is_empty());
        for (bad, why) in [
            ("size", "'size' has no value"),
            ("=2", "'' is no name"),
            ("a b=2", "'a b' is no name"),
            ("size=[1", "'[1' is no value"),
            ("size=2, size=3", "'size' stands twice"),
        ] {
            let e = Options::parse(bad).unwrap_err().to_string();
            assert!(e.contains(why), "{e}");
        }
    }

    #[test]
    fn what_was_written_stands_over_the_defaults() {
        #[derive(Serialize, Deserialize, Debug, PartialEq)]
        #[serde(rename_all = "kebab-case")]
        enum Pairs {
            Random,
            Near(f64),
        }
        #[derive(Serialize, Deserialize, Debug, PartialEq)]
        struct Own {
            size: f64,
            most: usize,
            pairs: Pairs,
        }
        let own = Own {
            size: f64::INFINITY,
            most: 3,
            pairs: Pairs::Random,
        };
        let defaults = Options::of(&own).expect("a table");
        assert_eq!(defaults.read::<Own>().expect("itself"), own);
        let over = |text: &str| parsed(text).over(&defaults);
        let read: Own = over("size=2, pairs={near=0.5}")
            .expect("known")
            .read()
            .expect("typed");
        assert_eq!(
            (read.size, read.most, read.pairs),
            (2.0, 3, Pairs::Near(0.5))
        );
        let error = |text: &str| over(text).unwrap_err().to_string();
        assert_eq!(
            error("scle=2"),
            "there is no option 'scle'; there are size, most, pairs"
        );
        assert_eq!(
            error("most=2.5"),
            "option 'most': expected a whole number, found 2.5"
        );
        assert_eq!(
            error("size=big"),
            "option 'size': expected a number, found the text \"big\""
        );
        // a word that the species does not know
        let unknown = over("pairs=all").expect("a word").read::<Own>();
        let said = unknown.unwrap_err().to_string();
        assert!(
            said.contains("`all`") && said.contains("`random`"),
            "{said}"
        );
    }
}
