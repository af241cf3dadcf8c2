//! The header of an NPY array.

use std::io::Read;

use crate::error::ArrayError;

/// Longest header that is believed. NumPy refuses more than 10,000 bytes.
const LONGEST: u64 = 1 << 16;

/// Kinds of elements that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Bool,
    Signed,
    Unsigned,
    Float,
    /// UTF-32 text of a fixed number of characters.
    Unicode,
    /// Text of a fixed number of bytes.
    Bytes,
}

/// Order of the bytes of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Endian {
    Little,
    Big,
}

/// Order of the elements of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Row by row.
    C,
    /// Column by column.
    Fortran,
}

/// What an array is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ElementType {
    pub(crate) kind: Kind,
    pub(crate) endian: Endian,
    /// Bytes of one element.
    pub(crate) size: usize,
}

/// A parsed header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) descr: String,
    pub(crate) element: Option<ElementType>,
    pub(crate) order: Order,
    pub(crate) shape: Vec<u64>,
}

impl Header {
    /// Reads a header; returns it with the number of bytes it takes.
    pub(crate) fn read(input: &mut dyn Read) -> Result<(Self, u64), ArrayError> {
        let mut start = [0; 8];
        super::read_exact(input, &mut start).map_err(cut_off)?;
        if &start[..6] != b"\x93NUMPY" {
            return Err(ArrayError::Header);
        }
        let mut length = [0; 4];
        let prefix = match start[6] {
            1 => 2,
            2 | 3 => 4,
            major => {
                return Err(ArrayError::Version {
                    major,
                    minor: start[7],
                });
            }
        };
        super::read_exact(input, &mut length[..prefix]).map_err(cut_off)?;
        let length = u64::from(u32::from_le_bytes(length));
        if length > LONGEST {
            return Err(ArrayError::HeaderTooLong { bytes: length });
        }
        let mut text = vec![0; length as usize];
        super::read_exact(input, &mut text).map_err(cut_off)?;
        let header = parse(&text).ok_or(ArrayError::Header)?;
        Ok((header, 8 + prefix as u64 + length))
    }

    /// Number of elements, if it can be counted at all.
    pub(crate) fn elements(&self) -> Option<u64> {
        self.shape.iter().try_fold(1_u64, |n, &d| n.checked_mul(d))
    }

    /// The element type, where it can be read.
    pub(crate) fn element(&self) -> Result<ElementType, ArrayError> {
        self.element.ok_or_else(|| ArrayError::ElementType {
            descr: self.descr.clone(),
        })
    }

    /// Rows and columns of a matrix with at least one of each.
    pub(crate) fn matrix_shape(&self) -> Result<(u64, u64), ArrayError> {
        match self.shape[..] {
            [rows, columns] if rows > 0 && columns > 0 => Ok((rows, columns)),
            _ => Err(ArrayError::Shape {
                shape: self.shape.clone(),
            }),
        }
    }

    /// Whether it describes a matrix of numbers.
    pub(crate) fn is_numeric_matrix(&self) -> bool {
        self.shape.len() == 2
            && self
                .element
                .is_some_and(|e| !matches!(e.kind, Kind::Unicode | Kind::Bytes))
    }

    /// The bytes of a header, padded as NumPy pads it.
    pub(crate) fn write(descr: &str, order: Order, shape: &[usize]) -> Vec<u8> {
        let fortran = match order {
            Order::C => "False",
            Order::Fortran => "True",
        };
        let shape = match shape {
            [one] => format!("({one},)"),
            many => format!(
                "({})",
                many.iter()
                    .map(usize::to_string)
                    .collect::<Vec<_>>()
                    .join(", ")
            ),
        };
        let mut text =
            format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}");
        while !(10 + text.len() + 1).is_multiple_of(64) {
            text.push(' ');
        }
        text.push('\n');
        let mut out = b"\x93NUMPY\x01\x00".to_vec();
        out.extend_from_slice(&(text.len() as u16).to_le_bytes());
        out.extend_from_slice(text.as_bytes());
        out
    }
}

fn cut_off(error: ArrayError) -> ArrayError {
    match error {
        ArrayError::Truncated { .. } => ArrayError::Header,
        other => other,
    }
}

/// Parses `{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }`, the
/// entries in any order.
fn parse(text: &[u8]) -> Option<Header> {
    let mut left = Tokens { text };
    let (mut descr, mut order, mut shape) = (None, None, None);
    left.expect(b'{')?;
    loop {
        if left.take(b'}') {
            break;
        }
        let key = left.string()?;
        left.expect(b':')?;
        match key {
            b"descr" => descr = Some(left.descr()?),
            b"fortran_order" => order = Some(left.order()?),
            b"shape" => shape = Some(left.shape()?),
            _ => return None,
        }
        if !left.take(b',') {
            left.expect(b'}')?;
            break;
        }
    }
    left.at_end().then_some(())?;
    let descr = descr?;
    Some(Header {
        element: element_type(&descr),
        descr,
        order: order?,
        shape: shape?,
    })
}

struct Tokens<'a> {
    text: &'a [u8],
}

impl<'a> Tokens<'a> {
    fn skip_blanks(&mut self) {
        self.text = self.text.trim_ascii_start();
    }
    fn take(&mut self, byte: u8) -> bool {
        self.skip_blanks();
        match self.text.split_first() {
            Some((&first, rest)) if first == byte => {
                self.text = rest;
                true
            }
            _ => false,
        }
    }
    fn expect(&mut self, byte: u8) -> Option<()> {
        self.take(byte).then_some(())
    }
    fn at_end(&mut self) -> bool {
        self.skip_blanks();
        self.text.is_empty()
    }
    fn string(&mut self) -> Option<&'a [u8]> {
        let quote = if self.take(b'\'') {
            b'\''
        } else {
            self.expect(b'"')?;
            b'"'
        };
        let end = self.text.iter().position(|&b| b == quote)?;
        let (string, rest) = self.text.split_at(end);
        self.text = &rest[1..];
        Some(string)
    }
    /// The element type as text; a structured type is kept as it stands up to
    /// its last bracket, to be named in the refusal.
    fn descr(&mut self) -> Option<String> {
        self.skip_blanks();
        if self.text.first() != Some(&b'[') {
            return Some(String::from_utf8_lossy(self.string()?).into_owned());
        }
        let end = self.text.iter().rposition(|&b| b == b']')? + 1;
        let (list, rest) = self.text.split_at(end);
        self.text = rest;
        Some(crate::error::excerpt(list))
    }
    fn order(&mut self) -> Option<Order> {
        self.skip_blanks();
        for (word, order) in [(&b"True"[..], Order::Fortran), (b"False", Order::C)] {
            if let Some(rest) = self.text.strip_prefix(word) {
                self.text = rest;
                return Some(order);
            }
        }
        None
    }
    fn shape(&mut self) -> Option<Vec<u64>> {
        let mut shape = Vec::new();
        self.expect(b'(')?;
        loop {
            if self.take(b')') {
                return Some(shape);
            }
            shape.push(self.integer()?);
            if !self.take(b',') {
                self.expect(b')')?;
                return Some(shape);
            }
        }
    }
    fn integer(&mut self) -> Option<u64> {
        self.skip_blanks();
        let digits = self.text.iter().take_while(|b| b.is_ascii_digit()).count();
        let (number, rest) = self.text.split_at(digits);
        // Python 2 wrote long integers as 3L
        self.text = rest.strip_prefix(b"L").unwrap_or(rest);
        std::str::from_utf8(number).ok()?.parse().ok()
    }
}

fn element_type(descr: &str) -> Option<ElementType> {
    let bytes = descr.as_bytes();
    let (&order, rest) = bytes.split_first()?;
    let endian = match order {
        b'>' => Endian::Big,
        b'=' if cfg!(target_endian = "big") => Endian::Big,
        b'<' | b'|' | b'=' => Endian::Little,
        _ => return None,
    };
    let (&kind, size) = rest.split_first()?;
    let size: usize = std::str::from_utf8(size).ok()?.parse().ok()?;
    let (kind, size) = match (kind, size) {
        (b'b', 1) => (Kind::Bool, 1),
        (b'i', 1 | 2 | 4 | 8) => (Kind::Signed, size),
        (b'u', 1 | 2 | 4 | 8) => (Kind::Unsigned, size),
        (b'f', 4 | 8) => (Kind::Float, size),
        (b'U', _) => (Kind::Unicode, size.checked_mul(4)?),
        (b'S' | b'a', _) => (Kind::Bytes, size),
        _ => return None,
    };
    Some(ElementType { kind, endian, size })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn header(text: &str) -> Option<Header> {
        parse(text.as_bytes())
    }

    #[test]
    fn numpy_headers_are_read() {
        let found = header("{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }   \n");
        let f8 = ElementType {
            kind: Kind::Float,
            endian: Endian::Little,
            size: 8,
        };
        assert_eq!(
            found,
            Some(Header {
                descr: "<f8".into(),
                element: Some(f8),
                order: Order::C,
                shape: vec![3, 4]
            })
        );
        let found = header("{\"shape\":(7L,),'fortran_order':True,'descr':'|b1'}").unwrap();
        assert_eq!((found.order, found.shape), (Order::Fortran, vec![7]));
        let list =
            header("{'descr': [('a', '<f8'), ('b', '<i4')], 'fortran_order': False, 'shape': ()}");
        assert_eq!(list.unwrap().element, None);
    }

    #[test]
    fn odd_headers_are_refused() {
        for text in [
            "",
            "{",
            "{}",
            "{'descr': '<f8'}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (3, -4)}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 99999999999999999999)}",
            "{'descr': '<f8', 'fortran_order': 0, 'shape': (3, 4)}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4)} x",
            "{'descr': '<f8, 'fortran_order': False, 'shape': (3, 4)}",
            "((((((((((((((((((((((((((((((",
        ] {
            assert_eq!(header(text), None, "{text}");
        }
    }

    #[test]
    fn written_headers_read_back() {
        for shape in [vec![5], vec![3, 4], vec![1, 1_000_000_000_000]] {
            let bytes = Header::write("<f8", Order::Fortran, &shape);
            assert_eq!(bytes.len() % 64, 0);
            let (found, used) = Header::read(&mut &bytes[..]).unwrap();
            assert_eq!(used, bytes.len() as u64);
            assert_eq!(
                found.shape,
                shape.iter().map(|&d| d as u64).collect::<Vec<_>>()
            );
            assert_eq!(found.order, Order::Fortran);
        }
    }

    #[test]
    fn huge_headers_are_not_allocated() {
        let bytes = b"\x93NUMPY\x02\x00\xff\xff\xff\xff";
        assert_eq!(
            Header::read(&mut &bytes[..]),
            Err(ArrayError::HeaderTooLong {
                bytes: u64::from(u32::MAX)
            })
        );
    }
}
