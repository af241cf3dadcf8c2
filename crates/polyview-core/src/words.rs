//! Numbers in what people read.

/// A number with a noun in the right form.
///
/// ```
/// use polyview_core::counted;
///
/// assert_eq!(counted(1, "sample"), "1 sample");
/// assert_eq!(counted(2, "class"), "2 classes");
/// ```
pub fn counted(n: usize, noun: &str) -> String {
    let ending = match n {
        1 => "",
        _ if noun.ends_with('s') => "es",
        _ => "s",
    };
    format!("{n} {noun}{ending}")
}
