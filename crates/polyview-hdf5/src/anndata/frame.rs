//! Tables of annotations: `obs` and `var`.

use hdf5_pure::DType;
use polyview_core::MetadataValues;

use crate::error::Result;
use crate::file::{Needed, Reader};

/// How to mend what an old anndata wrote.
const REWRITE: &str = "read it with a recent anndata and write it again";

/// A table of annotations.
pub(super) struct Frame<'a> {
    file: &'a Reader,
    place: String,
}

impl<'a> Frame<'a> {
    pub(super) fn open(file: &'a Reader, place: String) -> Result<Self> {
        if file.group(&place)?.is_some() {
            return Ok(Self { file, place });
        }
        if file.array(&place)?.is_some() {
            return Err(file.layout(
                &place,
                "a table in one piece, as anndata wrote it before 0.7",
                REWRITE,
            ));
        }
        Err(file.missing(
            &place,
            "an .h5ad file has it at its top, an .h5mu file below mod/<modality>: is this one?",
        ))
    }
    fn at(&self, name: &str) -> String {
        format!("{}/{name}", self.place)
    }
    /// Where the names of the rows are.
    fn index(&self) -> Result<String> {
        Ok(self
            .file
            .word(&self.place, "_index")?
            .unwrap_or_else(|| "_index".to_owned()))
    }
    /// Names of the rows.
    pub(super) fn names(&self) -> Result<Vec<String>> {
        let at = self.at(&self.index()?);
        let mend = "the names of the rows belong there: write the file again";
        let words = match self.values(&at)?.needed(self.file, &at, mend)? {
            MetadataValues::Categories(words) => words,
            MetadataValues::Numbers(v) => v
                .into_iter()
                .map(|x| x.is_finite().then(|| x.to_string()))
                .collect(),
        };
        words
            .into_iter()
            .collect::<Option<Vec<String>>>()
            .ok_or_else(|| {
                self.file
                    .values(&at, "lacks the name of a row; give each row one")
            })
    }
    /// Names of the columns, in the order of the file where it has one.
    pub(super) fn columns(&self) -> Result<Vec<String>> {
        let index = self.index()?;
        let order = self.file.attribute(&self.place, "column-order")?;
        if let Some(names) = order.as_ref().and_then(|o| o.as_strings()) {
            return Ok(names.iter().filter(|n| !n.is_empty()).cloned().collect());
        }
        let mut names = self.file.arrays_in(&self.place)?;
        names.extend(self.file.groups_in(&self.place)?);
        names.retain(|n| *n != index && n != "__categories");
        names.sort();
        Ok(names)
    }
    /// The values of a column.
    pub(super) fn column(&self, name: &str) -> Result<MetadataValues> {
        let at = self.at(name);
        let known = self.columns()?.join(", ");
        self.values(&at)?
            .needed(self.file, &at, &format!("the columns are {known}"))
    }

    /// Words, categories or numbers at a place.
    fn values(&self, at: &str) -> Result<Option<MetadataValues>> {
        if self.file.group(at)?.is_some() {
            return self.encoded(at).map(Some);
        }
        let Some(array) = self.file.array(at)? else {
            return Ok(None);
        };
        match self.file.kind(at, &array)? {
            DType::String | DType::VariableLengthString => {
                let words = self.file.words(at)?.unwrap_or_default();
                Ok(Some(MetadataValues::Categories(
                    words.into_iter().map(Some).collect(),
                )))
            }
            DType::Enum(names) => {
                let codes = self.file.vector(at, None)?.unwrap_or_default();
                Ok(Some(truths(&names, &codes)))
            }
            _ => {
                let numbers = self.file.vector(at, None)?.unwrap_or_default();
                match self.old_categories(at)? {
                    Some(names) => self.categories(at, &numbers, &names).map(Some),
                    None => Ok(Some(MetadataValues::Numbers(numbers))),
                }
            }
        }
    }
    /// A column that is a group: categories, or values with a mask.
    fn encoded(&self, at: &str) -> Result<MetadataValues> {
        let part = |name: &str| format!("{at}/{name}");
        let kind = self.file.word(at, "encoding-type")?.unwrap_or_default();
        let mend = "write the file again with a recent anndata";
        match kind.as_str() {
            "categorical" => {
                let codes = self.file.vector(&part("codes"), None)?.needed(
                    self.file,
                    &part("codes"),
                    mend,
                )?;
                let names = self.names_of(&part("categories"))?;
                self.categories(at, &codes, &names)
            }
            "nullable-string-array" | "nullable-integer" | "nullable-boolean" => {
                let absent = self.file.vector(&part("mask"), None)?.needed(
                    self.file,
                    &part("mask"),
                    mend,
                )?;
                let values =
                    self.values(&part("values"))?
                        .needed(self.file, &part("values"), mend)?;
                let gone = |n: usize| absent.get(n).is_none_or(|m| *m != 0.0);
                Ok(match values {
                    MetadataValues::Categories(v) => MetadataValues::Categories(
                        v.into_iter()
                            .enumerate()
                            .map(|(n, x)| x.filter(|_| !gone(n)))
                            .collect(),
                    ),
                    MetadataValues::Numbers(v) => MetadataValues::Numbers(
                        v.into_iter()
                            .enumerate()
                            .map(|(n, x)| if gone(n) { f64::NAN } else { x })
                            .collect(),
                    ),
                })
            }
            other => Err(self.file.layout(
                at,
                format!("a column of the encoding '{other}'"),
                "make it words, numbers or categories",
            )),
        }
    }
    /// The names of categories: words, or numbers as words.
    fn names_of(&self, at: &str) -> Result<Vec<String>> {
        match self.values(at)?.needed(self.file, at, REWRITE)? {
            MetadataValues::Categories(v) => {
                Ok(v.into_iter().map(Option::unwrap_or_default).collect())
            }
            MetadataValues::Numbers(v) => Ok(v.iter().map(ToString::to_string).collect()),
        }
    }
    /// Names of the categories of a column of codes, as anndata 0.7 wrote
    /// them: a reference, or an array in `__categories`.
    fn old_categories(&self, at: &str) -> Result<Option<Vec<String>>> {
        if self.file.attribute(at, "categories")?.is_none() {
            let name = at.rsplit('/').next().unwrap_or_default();
            let beside = self.at(&format!("__categories/{name}"));
            return match self.file.array(&beside)? {
                Some(_) => self.names_of(&beside).map(Some),
                None => Ok(None),
            };
        }
        let name = at.rsplit('/').next().unwrap_or_default();
        let beside = self.at(&format!("__categories/{name}"));
        self.names_of(&beside).map(Some)
    }
    fn categories(&self, at: &str, codes: &[f64], names: &[String]) -> Result<MetadataValues> {
        codes
            .iter()
            .map(|&c| match c {
                c if c < 0.0 => Ok(None),
                c => names.get(c as usize).cloned().map(Some).ok_or_else(|| {
                    self.file.values(
                        at,
                        format!("has the code {c} but only {} categories", names.len()),
                    )
                }),
            })
            .collect::<Result<_>>()
            .map(MetadataValues::Categories)
    }
}

/// Truth values: the names that the file gives its codes.
fn truths(names: &[String], codes: &[f64]) -> MetadataValues {
    MetadataValues::Categories(
        codes
            .iter()
            .map(|&c| names.get(c as usize).cloned())
            .collect(),
    )
}
