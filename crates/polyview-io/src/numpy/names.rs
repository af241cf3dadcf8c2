//! Names of samples and features beside an array.

use std::io::Read;

use super::elements::{at_end, check_length, integer};
use super::header::{ElementType, Endian, Header, Kind};
use super::read_exact;
use crate::error::ArrayError;

/// `s1`, `s2`, …
pub(crate) fn numbered(letter: char, count: usize) -> Vec<String> {
    (1..=count).map(|i| format!("{letter}{i}")).collect()
}

/// Reads a one-dimensional array of text or integers as names; `available`
/// bytes are said to follow.
pub(crate) fn read_names(
    input: &mut dyn Read,
    header: &Header,
    available: u64,
) -> Result<Vec<String>, ArrayError> {
    let element = header.element()?;
    if matches!(element.kind, Kind::Float | Kind::Bool) || element.size == 0 {
        return Err(ArrayError::ElementType {
            descr: header.descr.clone(),
        });
    }
    let [count] = header.shape[..] else {
        return Err(ArrayError::NameShape {
            shape: header.shape.clone(),
        });
    };
    check_length(header, element, available)?;
    let mut raw = vec![0; element.size];
    let mut names = Vec::with_capacity(count as usize);
    for index in 0..count {
        read_exact(input, &mut raw)?;
        let name = decode(&raw, element).ok_or(ArrayError::Name { index })?;
        let name = name.trim();
        if name.is_empty() {
            return Err(ArrayError::BlankName { index });
        }
        names.push(name.to_owned());
    }
    at_end(input)?;
    Ok(names)
}

fn decode(raw: &[u8], element: ElementType) -> Option<String> {
    match element.kind {
        Kind::Bytes => {
            let end = raw.iter().rposition(|&b| b != 0).map_or(0, |p| p + 1);
            String::from_utf8(raw[..end].to_vec()).ok()
        }
        Kind::Unicode => {
            let mut text = raw
                .as_chunks::<4>()
                .0
                .iter()
                .map(|&c| {
                    char::from_u32(match element.endian {
                        Endian::Little => u32::from_le_bytes(c),
                        Endian::Big => u32::from_be_bytes(c),
                    })
                })
                .collect::<Option<String>>()?;
            text.truncate(text.trim_end_matches('\0').len());
            Some(text)
        }
        _ => Some(integer(raw, element).to_string()),
    }
}

/// The bytes of a one-dimensional array of fixed-width text, header included.
pub(crate) fn encode(names: &[String]) -> Vec<u8> {
    let width = names
        .iter()
        .map(|n| n.chars().count())
        .max()
        .unwrap_or(0)
        .max(1);
    let mut out = Header::write(
        &format!("<U{width}"),
        super::header::Order::C,
        &[names.len()],
    );
    out.reserve(names.len() * width * 4);
    for name in names {
        let mut left = width;
        for c in name.chars() {
            out.extend_from_slice(&u32::from(c).to_le_bytes());
            left -= 1;
        }
        out.resize(out.len() + 4 * left, 0);
    }
    out
}
