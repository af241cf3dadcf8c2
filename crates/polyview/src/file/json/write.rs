//! From any serialisable value to a JSON value.

use serde::ser::{
    Error as _, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant,
    SerializeTuple, SerializeTupleStruct, SerializeTupleVariant, Serializer,
};
use serde_json::{Error, Map, Number, Value};

use super::{BITS, to_value};

/// Makes a [`Value`] of anything; numbers that JSON lacks become objects.
pub(super) struct Lossless;

/// Elements of a sequence, and the variant it belongs to.
pub(super) struct Elements {
    variant: Option<&'static str>,
    values: Vec<Value>,
}

/// Entries of a map, and the variant it belongs to.
pub(super) struct Entries {
    variant: Option<&'static str>,
    key: Option<String>,
    values: Map<String, Value>,
}

impl Elements {
    fn new(variant: Option<&'static str>, len: usize) -> Self {
        Self {
            variant,
            values: Vec::with_capacity(len),
        }
    }
    fn add<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.values.push(to_value(value)?);
        Ok(())
    }
    fn finish(self) -> Value {
        tagged(self.variant, Value::Array(self.values))
    }
}

impl Entries {
    fn new(variant: Option<&'static str>) -> Self {
        Self {
            variant,
            key: None,
            values: Map::new(),
        }
    }
    fn add<T: Serialize + ?Sized>(&mut self, key: &str, value: &T) -> Result<(), Error> {
        self.values.insert(key.to_owned(), to_value(value)?);
        Ok(())
    }
    fn finish(self) -> Value {
        tagged(self.variant, Value::Object(self.values))
    }
}

fn tagged(variant: Option<&'static str>, value: Value) -> Value {
    match variant {
        None => value,
        Some(name) => Value::Object([(name.to_owned(), value)].into_iter().collect()),
    }
}

impl Serializer for Lossless {
    type Ok = Value;
    type Error = Error;
    type SerializeSeq = Elements;
    type SerializeTuple = Elements;
    type SerializeTupleStruct = Elements;
    type SerializeTupleVariant = Elements;
    type SerializeMap = Entries;
    type SerializeStruct = Entries;
    type SerializeStructVariant = Entries;

    fn serialize_f64(self, x: f64) -> Result<Value, Error> {
        Ok(if let Some(n) = Number::from_f64(x) {
            Value::Number(n)
        } else {
            let bits = Value::String(format!("{:016x}", x.to_bits()));
            Value::Object([(BITS.to_owned(), bits)].into_iter().collect())
        })
    }
    fn serialize_f32(self, x: f32) -> Result<Value, Error> {
        self.serialize_f64(f64::from(x))
    }
    fn serialize_bool(self, x: bool) -> Result<Value, Error> {
        Ok(Value::Bool(x))
    }
    fn serialize_i8(self, x: i8) -> Result<Value, Error> {
        Ok(x.into())
    }
    fn serialize_i16(self, x: i16) -> Result<Value, Error> {
        Ok(x.into())
    }
    fn serialize_i32(self, x: i32) -> Result<Value, Error> {
        Ok(x.into())
    }
    fn serialize_i64(self, x: i64) -> Result<Value, Error> {
        Ok(x.into())
    }
    fn serialize_u8(self, x: u8) -> Result<Value, Error> {
        Ok(x.into())
    }
    fn serialize_u16(self, x: u16) -> Result<Value, Error> {
        Ok(x.into())
    }
    fn serialize_u32(self, x: u32) -> Result<Value, Error> {
        Ok(x.into())
    }
    fn serialize_u64(self, x: u64) -> Result<Value, Error> {
        Ok(x.into())
    }
    fn serialize_char(self, x: char) -> Result<Value, Error> {
        Ok(Value::String(x.into()))
    }
    fn serialize_str(self, x: &str) -> Result<Value, Error> {
        Ok(Value::String(x.to_owned()))
    }
    fn serialize_bytes(self, x: &[u8]) -> Result<Value, Error> {
        Ok(x.into())
    }
    fn serialize_none(self) -> Result<Value, Error> {
        Ok(Value::Null)
    }
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Value, Error> {
        value.serialize(self)
    }
    fn serialize_unit(self) -> Result<Value, Error> {
        Ok(Value::Null)
    }
    fn serialize_unit_struct(self, _name: &'static str) -> Result<Value, Error> {
        Ok(Value::Null)
    }
    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
    ) -> Result<Value, Error> {
        Ok(variant.into())
    }
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        value: &T,
    ) -> Result<Value, Error> {
        value.serialize(self)
    }
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<Value, Error> {
        Ok(tagged(Some(variant), to_value(value)?))
    }
    fn serialize_seq(self, len: Option<usize>) -> Result<Elements, Error> {
        Ok(Elements::new(None, len.unwrap_or(0)))
    }
    fn serialize_tuple(self, len: usize) -> Result<Elements, Error> {
        Ok(Elements::new(None, len))
    }
    fn serialize_tuple_struct(self, _name: &'static str, len: usize) -> Result<Elements, Error> {
        Ok(Elements::new(None, len))
    }
    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Elements, Error> {
        Ok(Elements::new(Some(variant), len))
    }
    fn serialize_map(self, _len: Option<usize>) -> Result<Entries, Error> {
        Ok(Entries::new(None))
    }
    fn serialize_struct(self, _name: &'static str, _len: usize) -> Result<Entries, Error> {
        Ok(Entries::new(None))
    }
    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _len: usize,
    ) -> Result<Entries, Error> {
        Ok(Entries::new(Some(variant)))
    }
}

impl SerializeSeq for Elements {
    type Ok = Value;
    type Error = Error;
    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.add(value)
    }
    fn end(self) -> Result<Value, Error> {
        Ok(self.finish())
    }
}

impl SerializeTuple for Elements {
    type Ok = Value;
    type Error = Error;
    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.add(value)
    }
    fn end(self) -> Result<Value, Error> {
        Ok(self.finish())
    }
}

impl SerializeTupleStruct for Elements {
    type Ok = Value;
    type Error = Error;
    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.add(value)
    }
    fn end(self) -> Result<Value, Error> {
        Ok(self.finish())
    }
}

impl SerializeTupleVariant for Elements {
    type Ok = Value;
    type Error = Error;
    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.add(value)
    }
    fn end(self) -> Result<Value, Error> {
        Ok(self.finish())
    }
}

impl SerializeMap for Entries {
    type Ok = Value;
    type Error = Error;
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        self.key = match to_value(key)? {
            Value::String(key) => Some(key),
            Value::Number(key) => Some(key.to_string()),
            _ => return Err(Error::custom("a key that is neither text nor number")),
        };
        Ok(())
    }
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        match self.key.take() {
            Some(key) => self.add(&key, value),
            None => Err(Error::custom("a value without its key")),
        }
    }
    fn end(self) -> Result<Value, Error> {
        Ok(self.finish())
    }
}

impl SerializeStruct for Entries {
    type Ok = Value;
    type Error = Error;
    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        self.add(key, value)
    }
    fn end(self) -> Result<Value, Error> {
        Ok(self.finish())
    }
}

impl SerializeStructVariant for Entries {
    type Ok = Value;
    type Error = Error;
    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        self.add(key, value)
    }
    fn end(self) -> Result<Value, Error> {
        Ok(self.finish())
    }
}
