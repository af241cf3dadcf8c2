//! Views whose rows have no sample IDs.

use std::collections::HashSet;

use super::ViewTable;
use crate::error::DataError;

/// Checks that views without IDs are joined by place alone, as far as that can be: every
/// view then has the same rows, and so have groups and metadata (whose IDs these are),
/// unless nothing of them is used. Gives what is to be said of it.
///
/// # Errors
/// [`DataError::NoSampleIds`] where something else has other samples.
pub(super) fn check<'a>(
    tables: &[ViewTable],
    numbered: &HashSet<String>,
    about: impl Iterator<Item = Vec<&'a String>>,
) -> Result<Option<String>, DataError> {
    let without = |t: &&ViewTable| numbered.contains(t.name());
    let Some(first) = tables.iter().find(without) else {
        return Ok(None);
    };
    let rows: HashSet<&String> = first.samples().iter().collect();
    let refuse = |view: Option<String>, named: bool, samples: usize| DataError::NoSampleIds {
        numbered: first.name().to_owned(),
        rows: rows.len(),
        view,
        named,
        samples,
    };
    let others = || tables.iter().filter(|t| t.name() != first.name());
    let same = |t: &&ViewTable| {
        t.samples().len() == rows.len() && t.samples().iter().all(|s| rows.contains(s))
    };
    if let Some(other) = others().find(|t| !same(t)) {
        let named = !without(&other);
        let samples = other.samples().len();
        return Err(refuse(Some(other.name().to_owned()), named, samples));
    }
    for ids in about {
        let known = ids.iter().filter(|s| rows.contains(**s)).count();
        if known > 0 && (known < ids.len() || known < rows.len()) {
            return Err(refuse(None, true, ids.len()));
        }
    }
    if tables.len() < 2 {
        return Ok(None);
    }
    let names: Vec<String> = tables
        .iter()
        .filter(without)
        .map(|t| format!("'{}'", t.name()))
        .collect();
    let by = match others().find(|t| !without(t)) {
        Some(named) => format!(
            "row 1 is taken as sample '{}' of view '{}', and so on",
            first.samples()[0],
            named.name()
        ),
        None => "row by row".to_owned(),
    };
    Ok(Some(format!(
        "view(s) {} have no sample IDs and are joined by place, {by}: make sure that their rows are in the \
         same order",
        names.join(", ")
    )))
}

#[cfg(test)]
mod tests {
    use polyview_linalg::Mat;

    use super::*;
    use crate::{Dataset, Metadata, MetadataValues, Table};

    fn table(name: &str, samples: &[&str]) -> Table {
        Table {
            name: name.to_owned(),
            samples: samples.iter().map(|s| (*s).to_owned()).collect(),
            features: vec![format!("{name}1")],
            values: Mat::from_fn(samples.len(), 1, |n, _| n as f64),
            levels: Vec::new(),
        }
    }

    fn joined(b: &Table, numbered: &[&str]) -> Result<Dataset, DataError> {
        let mut builder = Dataset::builder()
            .view(table("a", &["s1", "s2", "s3"]))
            .view(b.clone());
        for name in numbered {
            builder = builder.numbered(*name);
        }
        builder.build()
    }

    #[test]
    fn rows_without_ids_meet_no_ids() {
        // IDs that happen to look like numbers of rows: one row off
        let b = table("b", &["s0", "s1", "s2"]);
        assert!(joined(&b, &[]).is_ok());
        assert_eq!(
            joined(&b, &["a"]).err(),
            Some(DataError::NoSampleIds {
                numbered: "a".into(),
                rows: 3,
                view: Some("b".into()),
                named: true,
                samples: 3,
            })
        );
        // the same whichever has none
        let error = joined(&b, &["b"]).expect_err("refused").to_string();
        assert!(
            error.contains("view 'b' has no sample IDs") && error.contains("samples=IDS"),
            "{error}"
        );
        // two without IDs: as many rows
        let b = table("b", &["s1", "s2"]);
        let error = joined(&b, &["a", "b"]).expect_err("refused").to_string();
        assert!(
            error.contains("its 3 rows") && error.contains("view 'b' has 2 rows"),
            "{error}"
        );
    }

    #[test]
    fn metadata_meet_rows_by_all_their_numbers_or_none() {
        let with = |ids: &[&str]| {
            let ids: Vec<String> = ids.iter().map(|s| (*s).to_owned()).collect();
            let column = Metadata {
                name: "age".into(),
                values: MetadataValues::Numbers(vec![1.0; ids.len()]),
            };
            let rows = table("a", &["s1", "s2", "s3"]);
            Dataset::builder()
                .view(rows)
                .numbered("a")
                .metadata(ids, column)
        };
        let error = with(&["s0", "s1", "s2"])
            .build()
            .expect_err("one row off")
            .to_string();
        assert!(
            error.contains("the table about the samples has IDs of its own"),
            "{error}"
        );
        assert!(with(&["s3", "s1", "s2"]).build().is_ok());
        // nothing of it is used, which the caller is told
        assert!(with(&["p1", "p2", "p3"]).build().is_ok());
    }

    #[test]
    fn joined_by_place_it_is_said() {
        let b = table("b", &["s1", "s2", "s3"]);
        let said = |numbered: &[&str]| {
            let data = joined(&b, numbered).expect("the same rows");
            let notes = data
                .journal()
                .entries
                .iter()
                .map(crate::journal::Entry::remark);
            notes.collect::<Vec<_>>().join("\n")
        };
        assert_eq!(said(&[]), "");
        let both = said(&["a", "b"]);
        assert!(
            both.contains("'a', 'b' have no sample IDs") && both.contains("row by row"),
            "{both}"
        );
        // IDs that are the numbers themselves
        let one = said(&["a"]);
        assert!(one.contains("sample 's1' of view 'b'"), "{one}");
        let alone = Dataset::builder().view(b.clone()).numbered("b").build();
        assert!(alone.expect("one view").journal().entries.is_empty());
    }
}
