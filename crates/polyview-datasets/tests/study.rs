//! Studies are what they say they are.
#![allow(clippy::unwrap_used)]

use polyview_core::Table;
use polyview_datasets::{Role, Study, StudyCells, StudyTable, studies};

fn study(name: &str) -> &'static Study {
    studies().into_iter().find(|s| s.name == name).unwrap()
}

fn table(name: &str, of: &[StudyTable]) -> StudyTable {
    of.iter().find(|t| t.name == name).unwrap().clone()
}

fn numbers(table: &StudyTable) -> &Table {
    match &table.cells {
        StudyCells::Numbers(t) => t,
        StudyCells::Words(_) | StudyCells::Text { .. } => panic!("{} holds words", table.name),
    }
}

#[test]
fn contents_are_those_of_the_tables() {
    for study in studies() {
        let tables = study.tables();
        assert_eq!(tables.len(), study.contents.len(), "{}", study.name);
        for (t, c) in tables.iter().zip(study.contents) {
            assert_eq!(t.name, c.name);
            assert_eq!(t.columns().len(), c.columns, "{}", t.name);
            assert_eq!(t.samples(), tables[0].samples(), "{}", t.name);
            // classes and labels are words, everything else is numbers
            let is_words = match c.role {
                Role::View(likelihood) => likelihood == "categorical",
                Role::Labels(_) | Role::About => true,
                Role::Visits => false,
            };
            assert_eq!(matches!(t.cells, StudyCells::Words(_)), is_words);
            let is_text = matches!(t.cells, StudyCells::Text { .. });
            assert_eq!(is_text, c.role == Role::Visits);
        }
        assert_eq!(tables[0].samples().len(), study.samples);
    }
}

#[test]
fn every_fifth_sample_is_set_apart_from_all_tables() {
    let tables = study("nutrimouse").tables();
    for t in &tables {
        let (old, new) = t.split();
        assert_eq!((old.samples().len(), new.samples().len()), (32, 8));
        assert_eq!(
            (&*new.samples()[0], &*new.samples()[7]),
            ("mouse05", "mouse40")
        );
        assert!(old.samples().iter().all(|id| !new.samples().contains(id)));
        assert_eq!(old.columns(), t.columns());
    }
    let (genes, new) = table("genes", &tables).split();
    let whole = table("genes", &tables);
    let (genes, new, whole) = (numbers(&genes), numbers(&new), numbers(&whole));
    assert_eq!(genes.values.row(4), whole.values.row(5));
    assert_eq!(new.values.row(1), whole.values.row(9));
}

#[test]
fn knockout_mice_are_those_of_that_genotype() {
    let tables = study("nutrimouse").tables();
    let (knockout, samples) = (table("knockout", &tables), table("samples", &tables));
    let StudyCells::Words(about) = &samples.cells else {
        panic!("words");
    };
    assert_eq!(samples.columns(), ["diet", "genotype"]);
    let knockout = &numbers(&knockout).values;
    for (n, genotype) in about[1].words().enumerate() {
        assert_eq!(knockout[(n, 0)], f64::from(u8::from(genotype == "ppar")));
    }
}

/// Counts as large as those of sequencing, labels of both kinds, and holes in the
/// drugs alone; the same for everyone.
#[test]
fn patients_have_reads_labels_and_holes() {
    let tables = study("patients").tables();
    let counts = table("counts", &tables);
    let counts = &numbers(&counts).values;
    let cells = |m: &polyview_linalg::Mat<f64>| -> Vec<f64> {
        (0..m.ncols())
            .flat_map(|d| m.col_as_slice(d).to_vec())
            .collect()
    };
    let reads = cells(counts);
    assert!(reads.iter().all(|y| *y >= 0.0 && y.fract() == 0.0));
    let mean = reads.iter().sum::<f64>() / reads.len() as f64;
    assert!((300.0..3000.0).contains(&mean), "{mean}");
    let drugs = cells(&numbers(&table("drugs", &tables)).values);
    let holes = drugs.iter().filter(|x| x.is_nan()).count() as f64 / drugs.len() as f64;
    assert!((holes - 0.1).abs() < 0.01, "{holes}");
    let StudyCells::Words(labels) = &table("patients", &tables).cells else {
        panic!("words");
    };
    for label in labels {
        assert_eq!(label.levels, ["no", "yes"]);
        let yes = label.words().filter(|w| *w == "yes").count();
        assert!((60..140).contains(&yes), "{}: {yes}", label.name);
    }
    let again = table("counts", &study("patients").tables());
    assert_eq!(&numbers(&again).values, counts);
    assert!(study("patients").source.is_none(), "they are not real");
}

/// The shares of missing cells that spec/thesis 9.2 lists, over people and months; limits as assays have them.
#[test]
fn visits_of_a_cohort_lack_what_the_thesis_says() {
    let tables = study("cohort").tables();
    let StudyCells::Text { columns, .. } = &tables[0].cells else {
        panic!("text");
    };
    let cells = |name: &str| &columns.iter().find(|c| c.0 == name).unwrap().1;
    let months = 7.0 * 400.0;
    for (name, missing) in [
        ("DX", 0.53),
        ("ADAS13", 0.5),
        ("MMSE", 0.5),
        ("Ventricles", 0.55),
        ("MRI_WholeBrain", 0.54),
        ("MRI_Hippocampus", 0.61),
        ("AV45_Frontal", 0.89),
        ("CSF_TAU", 0.84),
    ] {
        let known = cells(name).iter().flatten().count() as f64;
        let found = 1.0 - known / months;
        assert!((found - missing).abs() < 0.02, "{name}: {found}");
    }
    for limit in ["<200", ">1700"] {
        let count = cells("CSF_ABETA")
            .iter()
            .flatten()
            .filter(|c| *c == limit)
            .count();
        assert!(count > 2, "{limit}: {count}");
    }
    let share = |dx: &str| {
        let known: Vec<&String> = cells("DX").iter().flatten().collect();
        known.iter().filter(|c| **c == dx).count() as f64 / known.len() as f64
    };
    for dx in ["NC", "MCI", "AD"] {
        assert!((0.12..0.6).contains(&share(dx)), "{dx}: {}", share(dx));
    }
    // nothing of a person changes from visit to visit that must not
    let mut first: std::collections::HashMap<&str, &Option<String>> =
        std::collections::HashMap::default();
    for name in ["AGE", "GENDER", "FDG_Cingulum"] {
        first.clear();
        for (rid, cell) in cells("RID").iter().zip(cells(name)) {
            let own = first.entry(rid.as_deref().unwrap()).or_insert(cell);
            assert_eq!(*own, cell, "{name}");
        }
    }
}
