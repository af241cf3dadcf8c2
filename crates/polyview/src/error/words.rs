//! Names in the sentences of errors.

/// Names in a sentence.
pub(super) fn are(names: &[String]) -> String {
    match names {
        [] => "is none".to_owned(),
        [one] => format!("is {one}"),
        many => format!("are {}", many.join(", ")),
    }
}

/// The view that a message is about, before it; nothing for the whole model.
pub(super) fn place(view: &str) -> String {
    if view.is_empty() {
        String::new()
    } else {
        format!("view '{view}': ")
    }
}

/// Views by name, for messages.
pub(super) fn quoted(views: &[String]) -> String {
    let names: Vec<String> = views.iter().map(|v| format!("view '{v}'")).collect();
    names.join(", ")
}
