//! Columns of class names.

use polyview_io::{IoError, Orientation, ReadOptions, WriteOptions, read_table, write_matrix};

fn read(name: &str, text: &str, options: &ReadOptions) -> Result<polyview_core::Table, IoError> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(name);
    std::fs::write(&path, text).expect("a file");
    read_table(&path, options)
}

fn codes(table: &polyview_core::Table) -> Vec<f64> {
    table.values.col(0).iter().copied().collect()
}

#[test]
fn classes_do_not_depend_on_the_order_of_samples() {
    let options = ReadOptions::classes("c");
    let a = read("a.csv", "id,diet\na,sun\nb,fish\nc,NA\nd,sun\n", &options).expect("a");
    let b = read("b.csv", "id,diet\nd,sun\nb,fish\nc,\na,sun\n", &options).expect("b");
    assert_eq!(
        (&a.levels[..], &a.features[..]),
        (
            &["fish".to_owned(), "sun".to_owned()][..],
            &["diet".to_owned()][..]
        )
    );
    assert_eq!(a.levels, b.levels);
    assert_eq!(codes(&a)[..2], [1.0, 0.0]);
    assert!(codes(&a)[2].is_nan() && codes(&b)[2].is_nan());
    assert_eq!(codes(&b)[0], 1.0);
}

#[test]
fn numbers_are_names_in_the_order_of_their_values() {
    let options = ReadOptions::classes("c");
    let t = read("c.tsv", "id\tgrade\na\t10\nb\t2\nc\t1\n", &options).expect("numbers");
    assert_eq!(t.levels, ["1", "2", "10"]);
    assert_eq!(codes(&t), [2.0, 1.0, 0.0]);
    let t = read("c.csv", "id,grade\na,10\nb,2\nc,one\n", &options).expect("words");
    assert_eq!(t.levels, ["10", "2", "one"]);
    // the same numbers from an array
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("g.npz");
    let t = read(
        "c.csv",
        "id,grade\na,10\nb,2\nc,\n",
        &ReadOptions::default(),
    )
    .expect("n");
    write_matrix(&path, &(&t).into(), &WriteOptions::default()).expect("written");
    let t = read_table(&path, &options).expect("an array");
    assert_eq!(t.levels, ["2", "10"]);
    assert!(codes(&t)[2].is_nan());
}

#[test]
fn a_line_of_classes_is_read_the_other_way() {
    let options = ReadOptions {
        orientation: Orientation::FeaturesInRows,
        ..ReadOptions::classes("c")
    };
    let t = read("c.csv", "id,s1,s2,s3\ndiet,sun,?,fish\n", &options).expect("a line");
    assert_eq!(t.samples, ["s1", "s2", "s3"]);
    assert_eq!(
        (&t.features[0][..], &t.levels[..]),
        ("diet", &["fish".to_owned(), "sun".to_owned()][..])
    );
    let e = read("c.csv", "id,s1,s2\ndiet,sun,fish\nage,1,2\n", &options).unwrap_err();
    assert!(
        matches!(e, IoError::ManyClassColumns { found: 2, .. }),
        "{e}"
    );
}

#[test]
fn what_is_no_column_of_classes_is_refused() {
    let options = ReadOptions::classes("c");
    let e = read("c.csv", "id,a,b\ns1,x,y\n", &options).unwrap_err();
    assert!(
        matches!(e, IoError::ManyClassColumns { found: 2, .. }),
        "{e}"
    );
    assert!(e.to_string().contains("c.csv"), "{e}");
    let e = read("c.csv", "id,a\ns1,\ns2,NA\n", &options).unwrap_err();
    assert!(
        matches!(&e, IoError::NoClasses { column, .. } if column == "a"),
        "{e}"
    );
    let e = read("c.csv", "id,a\ns1,x\ns1,y\n", &options).unwrap_err();
    assert!(matches!(e, IoError::DuplicateName { .. }), "{e}");
}
