//! Samples in the order of their names.

use std::cmp::Ordering;

/// Places of the samples in the order of their names, numbers in them by their value: what is drawn
/// in this order, such as folds, does not depend on the order of the rows of a table.
///
/// ```
/// use polyview_core::by_name;
///
/// let samples = ["s10", "s2", "s1"].map(str::to_owned);
/// assert_eq!(by_name(&samples), [2, 1, 0]);
/// ```
pub fn by_name(samples: &[String]) -> Vec<usize> {
    let mut places: Vec<usize> = (0..samples.len()).collect();
    places.sort_by(|a, b| {
        let (a, b) = (&samples[*a], &samples[*b]);
        natural(a.as_bytes(), b.as_bytes()).then_with(|| a.cmp(b))
    });
    places
}

/// Compares texts with runs of digits taken for numbers.
fn natural(mut a: &[u8], mut b: &[u8]) -> Ordering {
    loop {
        let order = match (a.first(), b.first()) {
            (None, None) => return Ordering::Equal,
            (None, _) => return Ordering::Less,
            (_, None) => return Ordering::Greater,
            (Some(x), Some(y)) if x.is_ascii_digit() && y.is_ascii_digit() => {
                let (m, n) = (number(&mut a), number(&mut b));
                m.len().cmp(&n.len()).then_with(|| m.cmp(n))
            }
            (Some(x), Some(y)) => {
                let order = x.cmp(y);
                (a, b) = (&a[1..], &b[1..]);
                order
            }
        };
        if order != Ordering::Equal {
            return order;
        }
    }
}

/// The digits that a text begins with, without leading zeros; the text goes on after them.
fn number<'a>(text: &mut &'a [u8]) -> &'a [u8] {
    let end = text.iter().position(|c| !c.is_ascii_digit());
    let (digits, rest) = text.split_at(end.unwrap_or(text.len()));
    *text = rest;
    let zeros = digits.iter().position(|c| *c != b'0');
    &digits[zeros.unwrap_or(digits.len())..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_count_by_value_and_equal_ones_by_their_text() {
        let names = [
            "s01", "b", "s1", "s10x2", "s10x10", "s", "a9", "s2", "10", "9",
        ]
        .map(str::to_owned);
        let sorted: Vec<&str> = by_name(&names)
            .into_iter()
            .map(|i| names[i].as_str())
            .collect();
        assert_eq!(
            sorted,
            [
                "9", "10", "a9", "b", "s", "s01", "s1", "s2", "s10x2", "s10x10"
            ]
        );
    }
}
