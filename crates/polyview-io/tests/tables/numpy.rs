//! NPY: an independent library writes what is read; hostile files are refused.

use crate::common::numpy::{C, FORTRAN, array_error, forged, npy, read, typed};
use crate::common::{Fixture, cells, message, read_as};
use polyview_io::{ArrayError, Orientation, ReadOptions, read_table};
use polyview_linalg::Mat;

#[test]
fn both_orders_and_every_element_type() {
    let expected = [
        [Some(1.0), Some(2.0), Some(3.0)],
        [Some(4.0), Some(0.0), Some(6.0)],
    ];
    let by_row = [1, 2, 3, 4, 0, 6];
    let by_column = [1, 4, 2, 0, 3, 6];
    macro_rules! check {
        ($($t:ty),*) => {$(
            for (order, values) in [(C, by_row), (FORTRAN, by_column)] {
                let bytes = npy(&values.map(|v| v as $t), &[2, 3], order);
                let t = read("a.npy", &bytes).unwrap();
                assert_eq!(cells(&t), expected, stringify!($t));
                assert_eq!(t.samples, ["s1", "s2"]);
                assert_eq!(t.features, ["f1", "f2", "f3"]);
            }
        )*};
    }
    check!(f64, f32, i8, i16, i32, i64, u8, u16, u32, u64);
    for descr in [">f8", ">f4", ">i8", ">i2", ">u4"] {
        let bytes = match descr {
            ">f8" => typed(&by_row.map(f64::from), &[2, 3], descr),
            ">f4" => typed(&by_row.map(|v| v as f32), &[2, 3], descr),
            ">i8" => typed(&by_row.map(i64::from), &[2, 3], descr),
            ">i2" => typed(&by_row.map(|v| v as i16), &[2, 3], descr),
            _ => typed(&by_row.map(|v| v as u32), &[2, 3], descr),
        };
        assert_eq!(cells(&read("a.npy", &bytes).unwrap()), expected, "{descr}");
    }
    let bytes = npy(&[true, false], &[2, 1], C);
    assert_eq!(
        cells(&read("a.npy", &bytes).unwrap()),
        [[Some(1.0)], [Some(0.0)]]
    );
}

#[test]
fn missing_values_and_orientation() {
    let bytes = npy(&[1.0, f64::NAN, 3.0, 4.0, 5.0, 6.0], &[3, 2], C);
    let t = read("a.npy", &bytes).unwrap();
    assert_eq!(
        cells(&t),
        [
            [Some(1.0), None],
            [Some(3.0), Some(4.0)],
            [Some(5.0), Some(6.0)]
        ]
    );
    let options = ReadOptions {
        orientation: Orientation::FeaturesInRows,
        ..ReadOptions::named("x")
    };
    let t = read_as("a.npy", &bytes, &options).unwrap();
    assert_eq!((t.samples.len(), t.features.len()), (2, 3));
    assert_eq!(
        cells(&t),
        [
            [Some(1.0), Some(3.0), Some(5.0)],
            [None, Some(4.0), Some(6.0)]
        ]
    );
}

#[test]
fn a_matrix_of_several_chunks_in_both_orders() {
    let (rows, columns) = (333, 257);
    let value = |n: usize, d: usize| (n * 1000 + d) as f64;
    let by_row: Vec<f64> = (0..rows * columns)
        .map(|i| value(i / columns, i % columns))
        .collect();
    let by_column: Vec<f64> = (0..rows * columns)
        .map(|i| value(i % rows, i / rows))
        .collect();
    for (order, values) in [(C, by_row), (FORTRAN, by_column)] {
        let t = read(
            "a.npy",
            &npy(&values, &[rows as u64, columns as u64], order),
        )
        .unwrap();
        assert_eq!(t.values, Mat::from_fn(rows, columns, value));
    }
}

#[test]
fn bad_arrays_are_refused() {
    let good = npy(&[1.0, 2.0, 3.0, 4.0], &[2, 2], C);
    assert!(read("a.npy", &good).is_ok());
    assert_eq!(
        array_error(read("a.npy", &good[..good.len() - 1])),
        ArrayError::Truncated {
            expected: 32,
            found: 31
        }
    );
    assert_eq!(
        array_error(read("a.npy", &[&good[..], b"x"].concat())),
        ArrayError::Trailing
    );
    assert_eq!(array_error(read("a.npy", &good[..50])), ArrayError::Header);
    assert_eq!(array_error(read("a.npy", &good[..7])), ArrayError::Header);
    let mut other = good.clone();
    other[6] = 9;
    assert_eq!(
        array_error(read("a.npy", &other)),
        ArrayError::Version { major: 9, minor: 0 }
    );
    for shape in [&[4][..], &[1, 2, 2], &[]] {
        let values = vec![1.0; shape.iter().product::<u64>() as usize];
        let found = array_error(read("a.npy", &npy(&values, shape, C)));
        assert_eq!(
            found,
            ArrayError::Shape {
                shape: shape.to_vec()
            }
        );
    }
    for shape in [[0, 2], [2, 0]] {
        let found = array_error(read("a.npy", &npy::<f64>(&[], &shape, C)));
        assert_eq!(
            found,
            ArrayError::Shape {
                shape: shape.to_vec()
            }
        );
    }
    let infinite = npy(&[1.0, 2.0, f64::NEG_INFINITY, 4.0], &[2, 2], C);
    assert_eq!(
        array_error(read("a.npy", &infinite)),
        ArrayError::Infinite { row: 1, column: 0 }
    );
    let large = npy(&[1_i64, (1 << 53) + 1], &[1, 2], C);
    assert_eq!(
        array_error(read("a.npy", &large)),
        ArrayError::Inexact {
            row: 0,
            column: 1,
            value: (1 << 53) + 1
        }
    );
    let file = Fixture::new("a.npy", &infinite);
    let e = read_table(&file.path, &ReadOptions::default()).unwrap_err();
    assert_eq!(
        message(&e),
        "a.npy: the value at row 2, column 1 is infinite; correct it or make it NaN"
    );
}

#[test]
fn hostile_headers_allocate_nothing() {
    for shape in [
        "(1000000000000, 1000000)",
        "(18446744073709551615, 18446744073709551615)",
        "(4294967296, 4294967296)",
        "(1, 2305843009213693952)",
    ] {
        let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}}}");
        let found = array_error(read("a.npy", &forged(&header, &[0; 64])));
        assert!(
            matches!(found, ArrayError::Truncated { found: 64, .. }),
            "{found:?}"
        );
    }
    for descr in [
        "'|O'",
        "'<c16'",
        "'<f2'",
        "'<M8[ns]'",
        "'<f16'",
        "'?'",
        "[('a', '<f8')]",
        "'<U3'",
    ] {
        let header = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': (2, 2)}}");
        let found = array_error(read("a.npy", &forged(&header, &[0; 64])));
        assert!(
            matches!(found, ArrayError::ElementType { .. }),
            "{descr}: {found:?}"
        );
    }
    let nested = "(".repeat(60_000);
    assert_eq!(
        array_error(read("a.npy", &forged(&nested, &[]))),
        ArrayError::Header
    );
    let long = b"\x93NUMPY\x02\x00\xff\xff\xff\x7f{'descr'";
    assert!(matches!(
        array_error(read("a.npy", long)),
        ArrayError::HeaderTooLong { .. }
    ));
}
