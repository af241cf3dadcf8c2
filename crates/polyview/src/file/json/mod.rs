//! JSON that keeps every number.
//!
//! JSON has no word for NaN and the infinities, and `serde_json` writes them
//! as `null`, which does not come back. Here such a number is an object of one
//! key, `{"$f64": "7ff8000000000000"}`, with its bits in hexadecimal. Every
//! other value looks as in plain JSON; finite numbers are written with the
//! fewest digits that read back to the same bits.

mod read;
mod write;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The key of a number that JSON cannot write.
const BITS: &str = "$f64";

/// A value as JSON, without loss.
pub(crate) fn to_value<T: Serialize + ?Sized>(value: &T) -> Result<Value, serde_json::Error> {
    value.serialize(write::Lossless)
}

/// What [`to_value`] wrote.
pub(crate) fn from_value<T: DeserializeOwned>(value: Value) -> Result<T, serde_json::Error> {
    T::deserialize(read::Lossless(value))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use serde::Deserialize;

    use super::*;

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    enum Kind {
        Unit,
        One(f64),
        Two(u64, String),
        Fields { a: Option<f64>, b: Vec<i64> },
    }

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(tag = "event", rename_all = "kebab-case")]
    enum Tagged {
        Gain { gain: f64, before: Option<f64> },
        Note { note: String },
    }

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    struct New(f64);

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    struct All {
        kind: Vec<Kind>,
        tuple: (f64, bool, char),
        map: BTreeMap<String, f64>,
        new: New,
        none: Option<Kind>,
        unit: (),
        large: u64,
        small: i64,
        #[serde(flatten)]
        event: Tagged,
    }

    fn sample(x: f64, y: f64) -> All {
        All {
            kind: vec![
                Kind::Unit,
                Kind::One(x),
                Kind::Two(7, "$f64".into()),
                Kind::Fields {
                    a: Some(y),
                    b: vec![-1, i64::MIN],
                },
                Kind::Fields { a: None, b: vec![] },
            ],
            tuple: (y, true, 'ß'),
            map: [("x".to_owned(), x), (String::new(), y)].into(),
            new: New(x),
            none: None,
            unit: (),
            large: u64::MAX,
            small: i64::MIN,
            event: Tagged::Gain {
                gain: x,
                before: Some(y),
            },
        }
    }

    fn bits(all: &All) -> Vec<u64> {
        let mut out = vec![all.tuple.0, all.new.0];
        out.extend(all.map.values());
        for k in &all.kind {
            match k {
                Kind::One(x) => out.push(*x),
                Kind::Fields { a, .. } => out.extend(a),
                _ => {}
            }
        }
        if let Tagged::Gain { gain, before } = &all.event {
            out.push(*gain);
            out.extend(before);
        }
        out.into_iter().map(f64::to_bits).collect()
    }

    fn through_text(all: &All) -> All {
        let text = to_value(all).unwrap().to_string();
        from_value(serde_json::from_str(&text).unwrap()).unwrap()
    }

    proptest! {
        #[test]
        fn every_bit_pattern_comes_back(x in any::<u64>(), y in any::<u64>()) {
            let all = sample(f64::from_bits(x), f64::from_bits(y));
            prop_assert_eq!(bits(&all), bits(&through_text(&all)));
        }
    }

    #[test]
    fn odd_numbers_come_back() {
        let nan = f64::from_bits(0xfff8_0000_dead_beef);
        for x in [
            f64::NAN,
            nan,
            f64::INFINITY,
            -0.0,
            5e-324,
            f64::MAX,
            0.1 + 0.2,
        ] {
            let all = sample(x, f64::NEG_INFINITY);
            let back = through_text(&all);
            assert_eq!(bits(&all), bits(&back));
            assert_eq!(back.kind.len(), all.kind.len());
            assert_eq!((back.large, back.small), (u64::MAX, i64::MIN));
        }
    }

    #[test]
    fn finite_values_are_plain_json() {
        let all = sample(0.5, -2.0);
        assert_eq!(to_value(&all).unwrap(), serde_json::to_value(&all).unwrap());
        assert_eq!(through_text(&all), all);
    }

    #[test]
    fn bad_bits_are_an_error() {
        for text in [
            r#"{"$f64":"7ff8"}"#,
            r#"{"$f64":"zzf8000000000000"}"#,
            r#"{"$f64":1}"#,
            r#"{"$f64":"+ff8000000000000"}"#,
            "null",
            r#""NaN""#,
        ] {
            let value: Value = serde_json::from_str(text).unwrap();
            assert!(from_value::<f64>(value).is_err(), "{text}");
        }
    }
}
