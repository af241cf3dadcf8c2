//! Decimal commas, and commas between thousands.

use crate::common::{Fixture, message, read, read_as};
use polyview_core::MetadataValues;
use polyview_io::{DecimalMark, IoError, Orientation, ReadOptions, read_metadata_with};

/// Commas between thousands are no decimal commas: not without --decimal-comma, nor with it.
#[test]
fn commas_between_thousands_are_named() {
    let comma = ReadOptions {
        decimal: DecimalMark::Comma,
        ..ReadOptions::default()
    };
    let thousands = "id,a,b\nx,950,1\ny,\"1,200\",2\nz,\"2,400\",4\nw,800,1\n";
    let e = read(thousands).unwrap_err();
    assert_eq!(
        message(&e),
        "t.csv: line 3 ('y'), column 2 ('a'): '1,200' is not a number; it looks like a comma between thousands, as do all \
         commas from here on: write numbers without it (where it is a decimal comma, write a point)"
    );
    let e = read_as("t.csv", thousands, &comma).unwrap_err();
    assert_eq!(
        message(&e),
        "t.csv: line 3 ('y'), column 2 ('a'): '1,200' is read with a decimal comma, but its comma looks like one between \
         thousands, as do all commas in the numbers of this file: write them without it, and leave --decimal-comma out \
         (where it is a decimal comma, write a point)"
    );
    assert_eq!(e.line(), Some(3));
    let lying = ReadOptions {
        orientation: Orientation::FeaturesInRows,
        ..comma.clone()
    };
    let e = read_as("t.csv", "id,x,y\na,950,\"1,200\"\nb,1,2\n", &lying).unwrap_err();
    assert!(
        message(&e).starts_with("t.csv: line 2 ('a'), column 3 ('y'): '1,200' is read"),
        "{e}"
    );
    // a decimal comma anywhere says what all of them are
    let decimals = thousands.replace("\"2,400\",4", "\"2,400\",\"0,5\"");
    let e = read(&*decimals).unwrap_err();
    assert!(
        message(&e).ends_with("with decimal commas (--decimal-comma)"),
        "{e}"
    );
    let t = read_as("t.csv", &decimals, &comma).unwrap();
    assert_eq!(t.values[(1, 0)], 1.2);
}

/// Between semicolons 1,234 is 1.234, unless no decimals would be written so.
#[test]
fn decimal_commas_of_three_digits_are_read_between_semicolons() {
    let comma = ReadOptions {
        decimal: DecimalMark::Comma,
        ..ReadOptions::default()
    };
    let t = read_as("t.csv", "id;a;b\nx;1,234;12\ny;2,450;7\n", &comma).unwrap();
    assert_eq!(t.values[(0, 0)], 1.234);
    let e = read("id;a\nx;1,234\n").unwrap_err();
    assert!(
        message(&e).contains("between thousands or a decimal comma"),
        "{e}"
    );
    let e = read_as("t.csv", "id;a\nx;950\ny;1,200\nz;800\n", &comma).unwrap_err();
    assert!(matches!(e, IoError::Thousands { .. }), "{e}");
}

#[test]
fn a_decimal_point_where_commas_were_asked_for() {
    let options = ReadOptions {
        decimal: DecimalMark::Comma,
        ..ReadOptions::default()
    };
    let e = read_as("t.csv", "sample;a\ns1;1.5\n", &options).unwrap_err();
    assert!(
        message(&e).ends_with(
            "but the file is read with decimal commas: write a comma, or leave --decimal-comma out"
        ),
        "{e}"
    );
}

#[test]
fn metadata_with_decimal_commas() {
    let file = Fixture::new("m.csv", b"sample;age;code\nm1;9,5;1.5\nm2;;2\n");
    let options = ReadOptions {
        decimal: DecimalMark::Comma,
        orientation: Orientation::FeaturesInRows,
        ..ReadOptions::default()
    };
    let columns = read_metadata_with(&file.path, &options).unwrap();
    assert!(matches!(&columns[0].1.values, MetadataValues::Numbers(x) if x[0] == 9.5));
    assert!(matches!(
        &columns[1].1.values,
        MetadataValues::Categories(_)
    ));
    let file = Fixture::new("m.csv", b"sample,age,cost\nm1,9,950\nm2,7,\"1,200\"\n");
    let e = read_metadata_with(&file.path, &options).unwrap_err();
    assert!(
        message(&e).starts_with("m.csv: line 3 ('m2'), column 3 ('cost'): '1,200' is read with a"),
        "{e}"
    );
}
