//! Where two choices differ.

use serde_json::Value;

/// The first choice in which two values differ, by its path: keys, and for tables of a list the
/// names that these have.
pub(super) fn difference(
    path: &str,
    there: &Value,
    here: &Value,
) -> Option<(String, Value, Value)> {
    if there == here {
        return None;
    }
    match (there, here) {
        (Value::Object(a), Value::Object(b)) => {
            let mut keys = a.keys().chain(b.keys().filter(|k| !a.contains_key(*k)));
            let of = |o: &serde_json::Map<String, Value>, key: &str| {
                o.get(key).cloned().unwrap_or(Value::Null)
            };
            keys.find_map(|key| difference(&format!("{path}.{key}"), &of(a, key), &of(b, key)))
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            let name = |i: usize| match a[i].get("name").and_then(Value::as_str) {
                Some(name) => format!("{path}.{name}"),
                None => format!("{path}.{}", i + 1),
            };
            (0..a.len()).find_map(|i| difference(&name(i), &a[i], &b[i]))
        }
        _ => Some((path.to_owned(), there.clone(), here.clone())),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_choice_that_differs_is_named() {
        let there = json!([{"name": "x", "scaling": "sd"}, {"name": "y", "settle": true}]);
        let here = json!([{"name": "x", "scaling": "sd"}, {"name": "y"}]);
        let found = difference("views", &there, &here);
        assert_eq!(
            found,
            Some(("views.y.settle".into(), json!(true), Value::Null))
        );
        assert_eq!(difference("views", &here, &here), None);
        let found = difference("factors", &json!(3), &json!(4));
        assert_eq!(found, Some(("factors".into(), json!(3), json!(4))));
        // another number of views is told whole
        let found = difference("views", &here, &json!([])).expect("a difference");
        assert_eq!(found.0, "views");
    }
}
