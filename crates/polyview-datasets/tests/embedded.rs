//! The embedded data are what they are said to be.
#![allow(clippy::unwrap_used)]

use polyview_core::{Dataset, Mask, MetadataValues};
use polyview_datasets::{
    Labels, catalogue, digits, digits_labels, digits_tables, nutrimouse, nutrimouse_labels,
    nutrimouse_tables,
};

fn shapes(data: &Dataset) -> Vec<(&str, usize)> {
    data.views()
        .iter()
        .map(|v| (v.name(), v.n_features()))
        .collect()
}

fn counts(labels: &Labels) -> Vec<(&str, usize)> {
    let count = |c| labels.codes.iter().filter(|&&x| x == c).count();
    labels
        .levels
        .iter()
        .enumerate()
        .map(|(c, l)| (l.as_str(), count(c)))
        .collect()
}

#[test]
fn nutrimouse_is_the_published_one() {
    let data = nutrimouse();
    assert_eq!(data.n_samples(), 40);
    assert_eq!(shapes(&data), [("gene", 120), ("lipid", 21)]);
    assert!(data.views().iter().all(|v| *v.mask() == Mask::Complete));
    assert_eq!(
        (&*data.samples()[0], &*data.samples()[39]),
        ("mouse01", "mouse40")
    );
    let gene = data.view("gene").unwrap();
    assert_eq!(gene.features()[..3], ["X36b4", "ACAT1", "ACAT2"]);
    assert_eq!(
        [gene.value(0, 0), gene.value(1, 2)],
        [Some(-0.42), Some(-0.91)]
    );
    let lipid = data.view("lipid").unwrap();
    assert_eq!(lipid.features()[20], "C22.6n.3");
    assert_eq!(
        [lipid.value(0, 20), lipid.value(1, 0)],
        [Some(10.39), Some(0.38)]
    );
    // percentages of all fatty acids
    for n in 0..40 {
        let sum: f64 = (0..21).filter_map(|d| lipid.value(n, d)).sum();
        assert!((sum - 100.0).abs() < 1.0, "sample {n}: {sum}");
    }
    let [diet, genotype] = &nutrimouse_labels()[..] else {
        panic!("two labels")
    };
    assert_eq!(
        counts(diet),
        [("coc", 8), ("fish", 8), ("lin", 8), ("ref", 8), ("sun", 8)]
    );
    assert_eq!(counts(genotype), [("ppar", 20), ("wt", 20)]);
    // four mice a diet and genotype
    for d in 0..5 {
        for g in 0..2 {
            let both = (0..40)
                .filter(|&n| diet.codes[n] == d && genotype.codes[n] == g)
                .count();
            assert_eq!(both, 4);
        }
    }
}

#[test]
fn the_data_set_is_its_tables_and_labels() {
    let data = nutrimouse();
    for table in nutrimouse_tables() {
        let view = data.view(&table.name).unwrap();
        assert_eq!(table.samples, data.samples());
        assert_eq!(view.values(), table.values.as_ref());
    }
    for (labels, column) in nutrimouse_labels().iter().zip(data.metadata()) {
        assert_eq!(labels.name, column.name);
        let MetadataValues::Categories(words) = &column.values else {
            panic!("categories")
        };
        assert!(
            labels
                .words()
                .eq(words.iter().map(|w| w.as_deref().unwrap()))
        );
    }
}

#[test]
fn labels_become_views() {
    let genotype = &nutrimouse_labels()[1];
    let codes = genotype.to_codes();
    assert_eq!(
        (codes.name.as_str(), codes.features.join("")),
        ("genotype", "genotype".into())
    );
    let indicators = genotype.to_indicators();
    assert_eq!(indicators.features, ["ppar", "wt"]);
    for n in 0..40 {
        let wild = genotype.words().nth(n) == Some("wt");
        assert_eq!(codes.values[(n, 0)], f64::from(u8::from(wild)));
        assert_eq!(indicators.values[(n, 1)], f64::from(u8::from(wild)));
        assert_eq!(indicators.values[(n, 0)], f64::from(u8::from(!wild)));
    }
}

#[test]
fn digits_are_the_published_ones() {
    let data = digits();
    assert_eq!(data.n_samples(), 2000);
    assert_eq!(
        shapes(&data),
        [
            ("fac", 216),
            ("fou", 76),
            ("kar", 64),
            ("mor", 6),
            ("pix", 240),
            ("zer", 47)
        ]
    );
    assert!(data.views().iter().all(|v| *v.mask() == Mask::Complete));
    let at = |view: &str, n, d| data.view(view).unwrap().value(n, d).unwrap();
    assert_eq!(
        [at("fac", 0, 0), at("fou", 0, 1), at("mor", 0, 5)],
        [98.0, 0.19731, 1620.2]
    );
    assert_eq!([at("kar", 1, 0), at("zer", 1, 2)], [-5.036, 10.527]);
    let pixels = data.view("pix").unwrap().values();
    assert!((0..2000).all(|n| (0..240).all(|d| (0..=6).any(|v| pixels[(n, d)] == f64::from(v)))));
    let [digit] = &digits_labels()[..] else {
        panic!("one label")
    };
    assert_eq!(digit.levels.join(""), "0123456789");
    assert!(counts(digit).iter().all(|&(_, c)| c == 200));
    assert_eq!(digits_tables()[3].features[5], "mor006");
}

#[test]
fn sources_are_complete() {
    for source in catalogue() {
        for text in [
            source.name,
            source.summary,
            source.citation,
            source.licence,
            source.origin,
        ] {
            assert!(!text.is_empty() && !text.contains("://"), "{text}");
        }
        assert!(source.files.iter().all(|f| f.name.starts_with(source.name)));
        assert!(
            source
                .files
                .iter()
                .any(|f| f.name.ends_with("/labels.csv.gz"))
        );
    }
}
