//! A small XML reader for tests: it accepts less than XML does, and refuses what is not well-formed.

use polyview::{ChooseK, ChooseKRow};
use std::collections::{BTreeMap, BTreeSet};

/// One start tag with its attributes.
#[derive(Debug)]
pub struct Element {
    pub name: String,
    pub attributes: BTreeMap<String, String>,
}

/// Reads a document: returns its start tags and the text between them, or what is wrong and where.
pub fn read(document: &str) -> Result<(Vec<Element>, String), String> {
    let mut rest = document
        .strip_prefix("<!DOCTYPE html>\n")
        .unwrap_or(document);
    let (mut elements, mut text, mut open) = (Vec::new(), String::new(), Vec::<String>::new());
    let mut roots = 0;
    let fail = |what: &str, at: &str| {
        Err(format!(
            "{what} at {:?}",
            at.chars().take(60).collect::<String>()
        ))
    };
    if let Some(c) = document
        .chars()
        .find(|c| c.is_control() && *c != '\n' && *c != '\t')
    {
        return Err(format!("control character {c:?}"));
    }
    while !rest.is_empty() {
        let Some(tag) = rest.strip_prefix('<') else {
            let end = rest.find('<').unwrap_or(rest.len());
            let piece = decode(&rest[..end])?;
            if open.is_empty() && !piece.trim().is_empty() {
                return fail("text outside the root", rest);
            }
            text.push_str(&piece);
            text.push(' ');
            rest = &rest[end..];
            continue;
        };
        if let Some(closing) = tag.strip_prefix('/') {
            let Some(end) = closing.find('>') else {
                return fail("open end tag", rest);
            };
            if open.pop().as_deref() != Some(&closing[..end]) {
                return fail("end tag does not match", rest);
            }
            rest = &closing[end + 1..];
            continue;
        }
        let name_end = tag
            .find(|c: char| !c.is_ascii_alphanumeric())
            .unwrap_or(tag.len());
        if name_end == 0 {
            return fail("no tag name", rest);
        }
        let name = tag[..name_end].to_owned();
        let mut inner = &tag[name_end..];
        let mut attributes = BTreeMap::new();
        let empty = loop {
            if let Some(after) = inner.strip_prefix("/>") {
                inner = after;
                break true;
            }
            if let Some(after) = inner.strip_prefix('>') {
                inner = after;
                break false;
            }
            let Some(after) = inner.strip_prefix(' ') else {
                return fail("bad tag", rest);
            };
            let Some(equals) = after.find("=\"") else {
                return fail("attribute without value", rest);
            };
            let key = &after[..equals];
            if key.is_empty() || !key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-') {
                return fail("bad attribute name", after);
            }
            let value = &after[equals + 2..];
            let Some(end) = value.find('"') else {
                return fail("open attribute", after);
            };
            if value[..end].contains('<') {
                return fail("< in an attribute", after);
            }
            if attributes
                .insert(key.to_owned(), decode(&value[..end])?)
                .is_some()
            {
                return fail("attribute given twice", after);
            }
            inner = &value[end + 1..];
        };
        if open.is_empty() {
            roots += 1;
        }
        elements.push(Element {
            name: name.clone(),
            attributes,
        });
        if !empty {
            open.push(name);
        }
        rest = inner;
    }
    if roots != 1 || !open.is_empty() {
        return Err(format!("{roots} roots, still open: {open:?}"));
    }
    Ok((elements, text))
}

fn decode(raw: &str) -> Result<String, String> {
    let mut out = String::new();
    let mut pieces = raw.split('&');
    out.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        let (entity, after) = piece
            .split_once(';')
            .ok_or_else(|| format!("bare & before {piece:?}"))?;
        out.push(match entity {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            "#39" => '\'',
            other => return Err(format!("unknown entity {other:?}")),
        });
        out.push_str(after);
    }
    Ok(out)
}

/// Everything a page must satisfy whatever it shows: well-formed, unique ids that all references
/// find, nothing loaded or run, no number that is none.
pub fn check(document: &str) -> Result<(Vec<Element>, String), String> {
    let (elements, text) = read(document)?;
    let mut ids = BTreeSet::new();
    for id in elements.iter().filter_map(|e| e.attributes.get("id")) {
        if !ids.insert(id.as_str()) {
            return Err(format!("id {id:?} twice"));
        }
    }
    for e in &elements {
        if matches!(
            e.name.as_str(),
            "script"
                | "link"
                | "img"
                | "iframe"
                | "object"
                | "embed"
                | "use"
                | "image"
                | "base"
                | "foreignObject"
        ) {
            return Err(format!("element {}", e.name));
        }
        for (key, value) in &e.attributes {
            let wanted: Vec<&str> = match key.as_str() {
                "href" => vec![
                    value
                        .strip_prefix('#')
                        .ok_or_else(|| format!("link to {value:?}"))?,
                ],
                "aria-labelledby" | "aria-describedby" => value.split(' ').collect(),
                k if k == "src" || k == "style" || k.starts_with("on") || k.contains("href") => {
                    return Err(format!("attribute {k}"));
                }
                _ => vec![],
            };
            if let Some(lost) = wanted.iter().find(|w| !ids.contains(*w)) {
                return Err(format!("no element has the id {lost:?}"));
            }
            if !is_geometry(key, value) {
                return Err(format!("{key}={value:?}"));
            }
        }
        if e.name == "svg"
            && (e.attributes.get("role").map(String::as_str) != Some("img")
                || !e.attributes.contains_key("aria-labelledby")
                || !e.attributes.contains_key("viewBox"))
        {
            return Err("picture without role, name or viewBox".to_owned());
        }
        if e.name == "th" && !e.attributes.contains_key("scope") {
            return Err("table header without scope".to_owned());
        }
    }
    let lower = document.to_lowercase();
    if lower.contains("url(")
        || lower.contains("@import")
        || lower.contains("@font-face")
        || lower.contains("javascript:")
    {
        return Err("something would be loaded".to_owned());
    }
    Ok((elements, text))
}

/// Whether an attribute that places something holds proper numbers (no `NaN`, `inf` or `1e300`).
fn is_geometry(key: &str, value: &str) -> bool {
    match key {
        "d" | "x" | "y" | "width" | "height" | "viewBox" => {
            let allowed = |c: char| c.is_ascii_digit() || " .-%MLHVZAQClhvzamqc".contains(c);
            value.chars().all(allowed)
        }
        "transform" => !value.contains("NaN") && !value.contains("inf"),
        _ => true,
    }
}

/// A number of factors with its score, standard error, bound and stability.
pub fn tried(factors: usize, [score, error, bound, stability]: [f64; 4]) -> ChooseKRow {
    ChooseKRow {
        factors,
        kept: factors as f64,
        log_density: score,
        log_density_se: error,
        robust_density: score,
        robust_density_se: error,
        r2: f64::NAN,
        r2_se: f64::NAN,
        bound,
        stability,
    }
}

/// Fits of several numbers of factors, the second of which is recommended, or the only one.
pub fn chosen(rows: Vec<ChooseKRow>, reason: &str) -> ChooseK {
    ChooseK {
        recommended: rows.get(1).or(rows.first()).map_or(0, |r| r.factors),
        rows,
        cells: vec![100],
        dense_cells: 100.0,
        ranked: Vec::new(),
        reason: reason.to_owned(),
        notes: Vec::new(),
        warnings: Vec::new(),
    }
}
