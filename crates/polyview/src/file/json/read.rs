//! From a JSON value to any deserialisable type.

use serde::de::value::{MapAccessDeserializer, MapDeserializer, SeqDeserializer};
use serde::de::{Deserializer, Error as _, IntoDeserializer, Unexpected, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::{Error, Value};

use super::BITS;

/// Reads what [`super::write::Lossless`] wrote.
pub(super) struct Lossless(pub(super) Value);

impl IntoDeserializer<'_, Error> for Lossless {
    type Deserializer = Self;
    fn into_deserializer(self) -> Self {
        self
    }
}

/// The number that an object stands for, if it stands for one.
fn number(object: &serde_json::Map<String, Value>) -> Result<Option<f64>, Error> {
    match object.get(BITS) {
        Some(value) if object.len() == 1 => value
            .as_str()
            .filter(|s| s.len() == 16 && s.bytes().all(|b| b.is_ascii_hexdigit()))
            .and_then(|s| u64::from_str_radix(s, 16).ok())
            .map(|bits| Some(f64::from_bits(bits)))
            .ok_or_else(|| Error::custom("a number's bits are not 16 hexadecimal digits")),
        _ => Ok(None),
    }
}

impl<'de> Deserializer<'de> for Lossless {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Null => visitor.visit_unit(),
            Value::Bool(x) => visitor.visit_bool(x),
            Value::Number(x) => x.deserialize_any(visitor),
            Value::String(x) => visitor.visit_string(x),
            Value::Array(values) => {
                let mut values = SeqDeserializer::new(values.into_iter().map(Lossless));
                let out = visitor.visit_seq(&mut values)?;
                values.end()?;
                Ok(out)
            }
            Value::Object(object) => {
                if let Some(x) = number(&object)? {
                    return visitor.visit_f64(x);
                }
                let mut entries =
                    MapDeserializer::new(object.into_iter().map(|(k, v)| (k, Lossless(v))));
                let out = visitor.visit_map(&mut entries)?;
                entries.end()?;
                Ok(out)
            }
        }
    }
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.0 {
            Value::String(variant) => visitor.visit_enum(variant.into_deserializer()),
            Value::Object(object) if object.len() == 1 => {
                let entries =
                    MapDeserializer::new(object.into_iter().map(|(k, v)| (k, Lossless(v))));
                visitor.visit_enum(MapAccessDeserializer::new(entries))
            }
            _ => Err(Error::invalid_type(
                Unexpected::Other("value"),
                &"a variant by name, or an object of one variant",
            )),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string
        bytes byte_buf unit unit_struct seq tuple tuple_struct map struct
        identifier ignored_any
    }
}
