//! Files whose arrays are not what they should be.

use super::*;
use crate::common::Array;

/// Everything that can be wrong with one array, and whether it must be an
/// error.
fn damages(array: &Array) -> Vec<(Option<Array>, bool)> {
    let with = |shape: &[usize], len: usize| {
        let mut a = array.clone();
        a.shape = shape.to_vec();
        a.bytes.resize(len, 0);
        (Some(a), true)
    };
    let len = array.bytes.len();
    let size = if array.dtype == "F64" { 8 } else { 1 };
    let mut out = vec![
        (None, true),
        with(&[0, 1 << 60], 0),
        with(&[1 << 60, 0], 0),
        with(&[0], 0),
        with(&[0, 0], 0),
        with(&[len / size, 1, 1], len),
        with(&[1, len / size, 1], len),
        with(&[len / size + 1], len + size),
        with(&[1, len / size + 1], len + size),
    ];
    let mut other = array.clone();
    if array.dtype == "F64" {
        (other.dtype, other.shape) = ("U8".into(), vec![len]);
        for x in [
            f64::NAN,
            f64::INFINITY,
            -1.0,
            0.0,
            0.5,
            1e300,
            1e18,
            -0.0,
            5e-324,
        ] {
            let mut all = array.clone();
            (0..len / 8).for_each(|i| all.set(i, x));
            out.push((Some(all), false));
            let mut one = array.clone();
            one.set(len / 8 - 1, x);
            out.push((Some(one), false));
        }
    } else {
        (other.dtype, other.shape) = ("BOOL".into(), vec![len]);
        let mut bytes = array.clone();
        bytes.bytes[0] = 2;
        out.push((Some(bytes), true));
        let mut flipped = array.clone();
        flipped.bytes[0] ^= 1;
        out.push((Some(flipped), true));
    }
    out.push((Some(other), true));
    if let [rows, columns] = array.shape[..]
        && rows != columns
    {
        let mut turned = array.clone();
        turned.shape.reverse();
        out.push((Some(turned), true));
    }
    out
}

#[test]
fn any_damage_to_any_array() {
    for bytes in [&*VB, &*GIBBS, &*RELEVANCE] {
        let parts = Parts::of(bytes);
        for (name, array) in &parts.arrays {
            for (i, (damaged, error)) in damages(array).into_iter().enumerate() {
                let mut bad = parts.clone();
                match damaged {
                    Some(a) => drop(bad.arrays.insert(name.clone(), a)),
                    None => drop(bad.arrays.remove(name)),
                }
                let bytes = bad.seal();
                assert!(!error || Fit::from_bytes(&bytes).is_err(), "{name} {i}");
                survive(&bytes);
            }
            // under another name
            let mut bad = parts.clone();
            let array = bad.arrays.remove(name).unwrap();
            bad.arrays.insert(format!("{name}x"), array.clone());
            assert!(Fit::from_bytes(&bad.seal()).is_err(), "{name}");
            bad.arrays.insert(name.clone(), array);
            assert!(why(&bad.seal()).contains("unknown"), "{name}");
        }
    }
}

#[test]
fn any_damage_to_any_array_of_a_checkpoint() {
    let parts = Parts::of(&CHECKPOINT);
    for (name, array) in &parts.arrays {
        if name == "record" {
            continue;
        }
        for (damaged, _) in damages(array) {
            let mut bad = parts.clone();
            match damaged {
                Some(a) => drop(bad.arrays.insert(name.clone(), a)),
                None => drop(bad.arrays.remove(name)),
            }
            go_on(&bad.seal());
        }
    }
}
