//! No file makes the reader panic, loop or ask for absurd memory: damaged
//! files, and files made to deceive, whose checksum is right.

mod arrays;

use std::sync::LazyLock;

use crate::common::{Holes, Parts, data, fit, gibbs, relevance, use_all, vb};
use polyview::{Checkpoint, ErrorKind, Fit, Fitting};
use proptest::prelude::*;
use serde_json::{Value, json};

static VB: LazyLock<Vec<u8>> = LazyLock::new(|| {
    fit(data(9, &[3, 2], Holes::Both, 3), vb(2, 4))
        .to_bytes()
        .unwrap()
});
static GIBBS: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut spec = gibbs(1);
    (spec.gibbs.warm_up, spec.gibbs.sweeps) = (1, 4);
    fit(data(7, &[2, 2], Holes::Rows, 4), spec)
        .to_bytes()
        .unwrap()
});
static RELEVANCE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let spec = relevance(vb(2, 4));
    let fit = fit(data(9, &[3, 2], Holes::None, 3), spec);
    fit.to_bytes().unwrap()
});
static CHECKPOINT: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut fitting = checkpointed();
    fitting.step().unwrap();
    fitting.step().unwrap();
    fitting.checkpoint().unwrap().to_bytes().unwrap()
});

fn checkpointed() -> Fitting {
    let mut spec = relevance(vb(2, 4));
    spec.restarts = 2;
    Fitting::new(data(9, &[3, 2], Holes::Both, 3), spec).unwrap()
}

/// The message of the error that reading a damaged model must give.
fn why(bytes: &[u8]) -> String {
    let error = Fit::from_bytes(bytes).unwrap_err();
    assert!(
        matches!(
            error.kind(),
            ErrorKind::File { .. } | ErrorKind::NewerFile { .. }
        ),
        "{error:?}"
    );
    error.to_string()
}

/// Reads; whatever is read can be used.
fn survive(bytes: &[u8]) {
    if let Ok(fit) = Fit::from_bytes(bytes) {
        use_all(&fit);
    }
}

#[test]
fn truncated_anywhere() {
    for bytes in [&*VB, &*GIBBS, &*RELEVANCE] {
        let head = 8 + u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
        let mut ends = vec![0, 1, 7, 8, 9, head - 1, head, head + 1];
        let mut at = head;
        for array in Parts::of(bytes).arrays.values() {
            at += array.bytes.len();
            ends.extend([at - 1, at]);
        }
        ends.extend((0..bytes.len()).step_by(29));
        for end in ends.into_iter().filter(|e| *e < bytes.len()) {
            let why = why(&bytes[..end]);
            assert!(why.contains("ends after"), "{end}: {why}");
        }
        let mut longer = bytes.clone();
        longer.push(0);
        assert!(why(&longer).contains("1 bytes follow"));
    }
}

#[test]
fn one_bit_flipped_anywhere() {
    for bytes in [&*VB, &*GIBBS, &*RELEVANCE] {
        for at in 0..bytes.len() {
            let mut bad = bytes.clone();
            bad[at] ^= 1 << (at % 8);
            assert!(Fit::from_bytes(&bad).is_err(), "byte {at}");
        }
    }
    let mut bad = VB.clone();
    let last = bad.len() - 1;
    bad[last] ^= 1;
    assert!(why(&bad).contains("checksum"));
}

#[test]
fn a_damaged_checkpoint_is_refused() {
    for at in 0..CHECKPOINT.len() {
        let mut bad = CHECKPOINT.clone();
        bad[at] ^= 1 << (at % 8);
        assert!(Checkpoint::from_bytes(&bad).is_err(), "byte {at}");
        if at % 17 == 0 {
            assert!(Checkpoint::from_bytes(&CHECKPOINT[..at]).is_err());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]
    #[test]
    fn random_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(Fit::from_bytes(&bytes).is_err());
        // with a length that fits
        let mut framed = (bytes.len() as u64).to_le_bytes().to_vec();
        framed.extend(&bytes);
        prop_assert!(Fit::from_bytes(&framed).is_err());
        prop_assert!(Checkpoint::from_bytes(&framed).is_err());
    }

    #[test]
    fn several_bytes_changed(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)
    ) {
        let mut bad = VB.clone();
        for (at, to) in changes {
            let at = at.index(bad.len());
            bad[at] = to;
        }
        prop_assert!(bad == *VB || Fit::from_bytes(&bad).is_err());
    }

    #[test]
    fn any_numbers_in_any_array(
        which in any::<prop::sample::Index>(),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u64>()), 1..4)
    ) {
        let mut parts = Parts::of(&VB);
        let names: Vec<String> = parts.arrays.keys().cloned().collect();
        let array = parts.arrays.get_mut(&names[which.index(names.len())]).unwrap();
        if array.dtype == "F64" {
            for (at, bits) in changes {
                let at = at.index(array.bytes.len() / 8);
                array.set(at, f64::from_bits(bits));
            }
        }
        survive(&parts.seal());
    }
}

/// Places of all values in a JSON text; of long lists the first two and the
/// last.
fn places(value: &Value, at: &str, out: &mut Vec<String>) {
    out.push(at.to_owned());
    match value {
        Value::Object(o) => {
            for (k, v) in o {
                places(
                    v,
                    &format!("{at}/{}", k.replace('~', "~0").replace('/', "~1")),
                    out,
                );
            }
        }
        Value::Array(a) => {
            for (i, v) in a.iter().enumerate() {
                if i < 2 || i + 1 == a.len() {
                    places(v, &format!("{at}/{i}"), out);
                }
            }
        }
        _ => {}
    }
}

fn replacements() -> Vec<Value> {
    vec![
        Value::Null,
        json!(true),
        json!(0),
        json!(1),
        json!(3),
        json!(-1),
        json!(u64::MAX),
        json!(1e308),
        json!(0.5),
        json!(""),
        json!("x"),
        json!("gibbs"),
        json!([]),
        json!([0, 0]),
        json!({}),
        json!({"$f64": "7ff8000000000000"}),
        json!({"$f64": 1}),
    ]
}

#[test]
fn any_value_in_the_header() {
    for bytes in [&*VB, &*GIBBS, &*RELEVANCE] {
        let parts = Parts::of(bytes);
        let mut all = Vec::new();
        places(&parts.header, "", &mut all);
        assert!(all.len() > 100);
        for place in all {
            for value in replacements() {
                let mut bad = parts.clone();
                *bad.header.pointer_mut(&place).unwrap() = value;
                survive(&bad.seal());
            }
            // without it, and with something beside it
            let mut bad = parts.clone();
            if let Some((parent, key)) = place.rsplit_once('/') {
                match bad.header.pointer_mut(parent).unwrap() {
                    Value::Object(o) => drop(o.remove(key)),
                    Value::Array(a) => drop(a.pop()),
                    _ => unreachable!(),
                }
                survive(&bad.seal());
            }
            let mut bad = parts.clone();
            match bad.header.pointer_mut(&place).unwrap() {
                Value::Object(o) => drop(o.insert("unheard-of".into(), json!(1))),
                Value::Array(a) => a.push(a.first().cloned().unwrap_or(json!("x"))),
                _ => continue,
            }
            survive(&bad.seal());
        }
    }
}

#[test]
fn any_value_in_the_record_of_a_checkpoint() {
    let parts = Parts::of(&CHECKPOINT);
    let record: Value = serde_json::from_slice(&parts.arrays["record"].bytes).unwrap();
    let mut all = Vec::new();
    places(&record, "", &mut all);
    for place in all {
        for value in replacements() {
            let mut bad = parts.clone();
            let mut record = record.clone();
            *record.pointer_mut(&place).unwrap() = value;
            let bytes = record.to_string().into_bytes();
            let array = bad.arrays.get_mut("record").unwrap();
            (array.shape, array.bytes) = (vec![bytes.len()], bytes);
            go_on(&bad.seal());
        }
    }
}

/// Reads a checkpoint and goes on with it as far as it goes.
fn go_on(bytes: &[u8]) {
    let Ok(checkpoint) = Checkpoint::from_bytes(bytes) else {
        return;
    };
    let mut fitting = checkpointed();
    if fitting.resume(&checkpoint).is_err() {
        return;
    }
    for _ in 0..10 {
        match fitting.step() {
            Ok(p) if !p.done => {}
            Ok(_) => break,
            Err(_) => return,
        }
    }
    if let Ok(fit) = fitting.finish() {
        use_all(&fit);
    }
}

#[test]
fn scales_and_data_must_make_sense() {
    let check = |name: &str, at: usize, x: f64, what: &str| {
        let mut bad = Parts::of(&VB);
        bad.arrays.get_mut(name).unwrap().set(at, x);
        let why = why(&bad.seal());
        assert!(why.contains(name) && why.contains(what), "{why}");
    };
    check("scale/genes/α", 1, 0.0, "zero");
    check("scale/genes/α", 1, f64::INFINITY, "not finite");
    check("offset/genes/α", 0, f64::NAN, "not finite");
    check("data/genes/α", 4, f64::NEG_INFINITY, "not finite");
    check("ledgers/0/sweep", 1, 1.5, "no count");
    let parts = Parts::of(&VB);
    let hidden = |name: &str| parts.arrays[name].bytes.iter().position(|b| *b == 0);
    let missing = hidden("mask/genes/α").unwrap();
    check("data/genes/α", missing, 1.0, "missing cell");
}

#[test]
fn kinds_and_versions() {
    let with = |key: &str, value: Value| {
        let mut parts = Parts::of(&VB);
        parts.header[key] = value;
        parts.seal()
    };
    let error = Fit::from_bytes(&with("format", json!(3))).unwrap_err();
    assert!(matches!(
        error.kind(),
        ErrorKind::NewerFile {
            found: 3,
            known: 2,
            ..
        }
    ));
    assert!(error.advice().unwrap().contains("newer release"));
    for format in [json!(0), json!("1"), json!(-1), json!(1u64 << 40)] {
        assert!(why(&with("format", format)).contains("format"));
    }
    assert!(why(&with("kind", json!("checkpoint"))).contains("not a model"));
    assert!(why(&with("components", json!(u64::MAX))).contains("components"));
    assert!(why(&with("factors", json!(u64::MAX))).contains("factors"));
    assert!(why(&with("samples", json!(["a", "a"]))).contains("'a'"));
}

#[test]
fn metadata_of_others() {
    let parts = Parts::of(&VB);
    let text = parts.header.to_string();
    let sum = parts.sum(&text);
    for (metadata, what) in [
        (json!({}), "no 'polyview'"),
        (json!({"format": "pt"}), "no 'polyview'"),
        (json!({"polyview": text}), "no 'sha256'"),
        (json!({"polyview": text, "sha256": ""}), "checksum"),
        (json!({"polyview": text, "sha256": sum, "x": ""}), "'x'"),
        (json!({"polyview": "{", "sha256": sum}), "header"),
        (
            json!({"polyview": "[".repeat(100_000), "sha256": sum}),
            "header",
        ),
        (json!({"polyview": 1, "sha256": sum}), "safetensors"),
        (json!([]), "safetensors"),
    ] {
        let why = why(&parts.write(&metadata));
        assert!(why.contains(what), "{why}: {what}");
    }
}

#[test]
fn tables_that_lie() {
    let frame = |table: &str, data: usize| {
        let mut out = (table.len() as u64).to_le_bytes().to_vec();
        out.extend(table.as_bytes());
        out.resize(out.len() + data, 0);
        out
    };
    for table in [
        String::new(),
        "{}".to_owned(),
        "null".to_owned(),
        "[".repeat(50_000),
        "{\"a\":".repeat(50_000),
        r#"{"a":{"dtype":"F64","shape":[4611686018427387904,2],"data_offsets":[0,0]}}"#.to_owned(),
        r#"{"a":{"dtype":"F64","shape":[2305843009213693951],"data_offsets":[0,18446744073709551608]}}"#
            .to_owned(),
        r#"{"a":{"dtype":"U8","shape":[18446744073709551615],"data_offsets":[0,18446744073709551615]}}"#
            .to_owned(),
        r#"{"a":{"dtype":"U8","shape":[8],"data_offsets":[8,0]}}"#.to_owned(),
        r#"{"a":{"dtype":"U8","shape":[8],"data_offsets":[0,8]},"b":{"dtype":"U8","shape":[8],"data_offsets":[0,8]}}"#
            .to_owned(),
        r#"{"a":{"dtype":"F4","shape":[3],"data_offsets":[0,8]}}"#.to_owned(),
    ] {
        drop(why(&frame(&table, 8)));
    }
    for length in [u64::MAX, 1 << 63, 100_000_001, 1 << 40] {
        let mut bytes = length.to_le_bytes().to_vec();
        bytes.extend([b'{'; 64]);
        assert!(why(&bytes).contains("not a safetensors file"), "{length}");
    }
}

/// A file that promises a terabyte is refused by its length, and a device is
/// no file.
#[test]
fn promises_on_a_disk() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("liar.pv");
    let table = r#"{"a":{"dtype":"U8","shape":[1099511627776],"data_offsets":[0,1099511627776]}}"#;
    let mut bytes = (table.len() as u64).to_le_bytes().to_vec();
    bytes.extend(table.as_bytes());
    std::fs::write(&path, &bytes).unwrap();
    let error = Fit::load(&path).unwrap_err();
    assert!(error.to_string().contains("ends after"), "{error}");
    for end in [0, 5, 20] {
        std::fs::write(&path, &VB[..end]).unwrap();
        let error = Fit::load(&path).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::File { .. }), "{error:?}");
    }
    #[cfg(unix)]
    {
        let error = Fit::load("/dev/zero").unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Io { .. }), "{error:?}");
    }
}
