//! Numbers and missing values as they are written in text files.

use polyview_linalg::Mat;
use serde::{Deserialize, Serialize};

use crate::options::ReadOptions;

/// Which character parts the whole from the fraction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DecimalMark {
    /// `1.5`.
    #[default]
    Point,
    /// `1,5`. Never guessed: a file that has it must be read with it.
    Comma,
}

impl DecimalMark {
    pub(crate) fn byte(self) -> u8 {
        match self {
            Self::Point => b'.',
            Self::Comma => b',',
        }
    }
}

/// What stands for a missing number, besides an empty cell. Compared without
/// regard to case and to blanks around it.
pub const MISSING_NUMBER: &[&str] = &[
    "NA", "N/A", "#N/A", "<NA>", "NaN", "-NaN", "null", "none", ".", "-", "?",
];

/// What stands for a missing word in a column of words, besides an empty cell:
/// [`MISSING_NUMBER`] without `none`, `.` and `-`, which may well be words.
pub const MISSING_WORD: &[&str] = &["NA", "N/A", "#N/A", "<NA>", "NaN", "-NaN", "null", "?"];

/// What a cell holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Parsed {
    Number(f64),
    Missing,
    Infinite,
    Words,
}

/// Reads one cell; blanks around it are already gone.
pub(crate) fn parse(text: &[u8], decimal: DecimalMark) -> Parsed {
    match parse_number(text, decimal.byte()) {
        Some(x) if x.is_finite() => Parsed::Number(x),
        Some(_) => Parsed::Infinite,
        None if is_missing(text, MISSING_NUMBER) => Parsed::Missing,
        None if is_infinity(text) => Parsed::Infinite,
        None => Parsed::Words,
    }
}

/// Whether a cell is empty or spells one of `words`.
pub(crate) fn is_missing(text: &[u8], words: &[&str]) -> bool {
    text.is_empty()
        || words
            .iter()
            .any(|w| w.as_bytes().eq_ignore_ascii_case(text))
}

/// What stands for a missing cell by the options of a reader.
#[derive(Clone, Debug, Default)]
pub(crate) struct Codes {
    words: Vec<Vec<u8>>,
    numbers: Vec<f64>,
    decimal: DecimalMark,
}

impl Codes {
    pub(crate) fn of(options: &ReadOptions) -> Self {
        let mut out = Self {
            decimal: options.decimal,
            ..Self::default()
        };
        for code in &options.missing {
            let code = code.trim().as_bytes();
            // an option or a study file may have either mark
            let number = [options.decimal.byte(), b'.'].map(|mark| parse_number(code, mark));
            match number.into_iter().flatten().next() {
                Some(x) => out.numbers.push(x),
                None => out.words.push(code.to_vec()),
            }
        }
        out
    }
    /// Whether a cell as it stands in a file is one; blanks around it are already gone.
    pub(crate) fn hold(&self, text: &[u8]) -> bool {
        let word = |w: &Vec<u8>| w.eq_ignore_ascii_case(text);
        let number = || parse_number(text, self.decimal.byte());
        self.words.iter().any(word)
            || !self.numbers.is_empty() && number().is_some_and(|x| self.numbers.contains(&x))
    }
    /// `NaN` in place of the numbers that are codes.
    pub(crate) fn hide(&self, values: &mut Mat<f64>) {
        if self.numbers.is_empty() {
            return;
        }
        for d in 0..values.ncols() {
            for x in values.col_as_slice_mut(d) {
                if self.numbers.contains(x) {
                    *x = f64::NAN;
                }
            }
        }
    }
}

fn is_infinity(text: &[u8]) -> bool {
    let text = text
        .strip_prefix(b"-")
        .or_else(|| text.strip_prefix(b"+"))
        .unwrap_or(text);
    [&b"inf"[..], b"infinity", b"1.#inf", "∞".as_bytes()]
        .iter()
        .any(|w| w.eq_ignore_ascii_case(text))
}

/// Powers of ten that a 64-bit float holds exactly.
const TEN: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// `[+-]digits[.digits][e[+-]digits]`, at least one digit before or after the
/// mark; `None` for anything else. The nearest 64-bit float, infinite where
/// there is none.
///
/// A significand below 2^53 times or over an exact power of ten is one
/// correctly rounded operation (Clinger); everything else goes to the standard
/// library.
fn parse_number(text: &[u8], point: u8) -> Option<f64> {
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    let mut significand: u64 = 0;
    let mut n_digits = 0_usize;
    let mut after_mark = 0_i64;
    let mut mark = None;
    let mut at = 0;
    while let Some(&byte) = digits.get(at) {
        let digit = byte.wrapping_sub(b'0');
        if digit < 10 {
            // 10^19 − 1 fits; longer significands take the slow road below
            significand = significand.wrapping_mul(10).wrapping_add(u64::from(digit));
            n_digits += 1;
            after_mark += i64::from(mark.is_some());
        } else if byte == point && mark.is_none() {
            mark = Some(at);
        } else {
            break;
        }
        at += 1;
    }
    if n_digits == 0 {
        return None;
    }
    let mut power = 0_i64;
    if let Some(b'e' | b'E') = digits.get(at) {
        let rest = &digits[at + 1..];
        let (down, rest) = match rest {
            [b'-', r @ ..] => (true, r),
            [b'+', r @ ..] => (false, r),
            _ => (false, rest),
        };
        if rest.is_empty() {
            return None;
        }
        for &byte in rest {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                return None;
            }
            power = (power * 10 + i64::from(digit)).min(1_000_000);
        }
        if down {
            power = -power;
        }
    } else if at != digits.len() {
        return None;
    }
    let power = power - after_mark;
    if n_digits <= 19 && significand <= 1 << 53 && power.unsigned_abs() <= 22 {
        let scale = TEN[power.unsigned_abs() as usize];
        let magnitude = if power < 0 {
            significand as f64 / scale
        } else {
            significand as f64 * scale
        };
        return Some(if negative { -magnitude } else { magnitude });
    }
    let mut text = String::from_utf8(text.to_vec()).ok()?;
    if point != b'.' {
        text = text.replace(char::from(point), ".");
    }
    text.parse().ok()
}

/// The shortest text that reads back as the same number; `missing` for `NaN`,
/// `inf` and `-inf` for the infinities.
pub(crate) fn format(x: f64, missing: &str, out: &mut String) {
    use std::fmt::Write as _;
    out.clear();
    let magnitude = x.abs();
    let done = if x.is_nan() {
        out.push_str(missing);
        Ok(())
    } else if x == 0.0 || x.is_infinite() || (1e-5..1e16).contains(&magnitude) {
        write!(out, "{x}")
    } else {
        write!(out, "{x:e}")
    };
    done.expect("a String takes every text");
}

/// A number rounded to that many significant digits, 17 of which are all that it
/// has; `NaN` and the infinities as they are.
///
/// ```
/// use polyview_io::to_digits;
///
/// assert_eq!(to_digits(0.1 + 0.2, 4), 0.3);
/// assert_eq!(to_digits(123_456.0, 2), 120_000.0);
/// assert_eq!(to_digits(0.1 + 0.2, 17), 0.1 + 0.2);
/// ```
pub fn to_digits(x: f64, digits: usize) -> f64 {
    let after = digits.clamp(1, 17) - 1;
    // the text of a finite number is one
    format!("{x:.after$e}").parse().unwrap_or(x)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn point(text: &str) -> Parsed {
        parse(text.as_bytes(), DecimalMark::Point)
    }

    #[test]
    fn numbers_are_read() {
        for (text, value) in [
            ("0", 0.0),
            ("1", 1.0),
            ("+1", 1.0),
            ("-1.50", -1.5),
            (".5", 0.5),
            ("5.", 5.0),
            ("1e3", 1000.0),
            ("1E-3", 1e-3),
            ("1e+22", 1e22),
            ("1e23", 1e23),
            (
                "123456789012345678901234567890",
                123456789012345678901234567890.0,
            ),
            ("9007199254740993", 9007199254740992.0),
            ("0.1", 0.1),
            ("1.7976931348623157e308", f64::MAX),
            ("5e-324", 5e-324),
            ("1e-999999999999999999999", 0.0),
            ("00000000000000000000000000001", 1.0),
        ] {
            assert_eq!(point(text), Parsed::Number(value), "{text}");
        }
        assert!(matches!(point("-0"), Parsed::Number(x) if x == 0.0 && x.is_sign_negative()));
    }

    #[test]
    fn words_missing_and_infinite_are_told_apart() {
        for text in [
            "", "NA", "na", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "None", ".", "-", "?",
        ] {
            assert_eq!(point(text), Parsed::Missing, "{text}");
        }
        for text in ["inf", "-Inf", "+Infinity", "1e999", "-1e400", "∞"] {
            assert_eq!(point(text), Parsed::Infinite, "{text}");
        }
        for text in [
            "abc", "1,5", "1.2.3", "1e", "1e+", "--1", "1 2", "0x10", "+", "e5", "..", "1_000",
            "1f", "nanx", "é",
        ] {
            assert_eq!(point(text), Parsed::Words, "{text}");
        }
    }

    #[test]
    fn decimal_commas_are_read_on_request_only() {
        let comma = |t: &str| parse(t.as_bytes(), DecimalMark::Comma);
        assert_eq!(comma("1,5"), Parsed::Number(1.5));
        assert_eq!(
            comma("1234567890123456789,25"),
            Parsed::Number(1234567890123456789.25)
        );
        assert_eq!(comma("1.5"), Parsed::Words);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn what_is_written_reads_back(bits: u64) {
            let x = f64::from_bits(bits);
            let mut text = String::new();
            format(x, "NA", &mut text);
            prop_assert!(text.len() < 26, "{text}");
            match point(&text) {
                Parsed::Number(y) => prop_assert_eq!(x.to_bits(), y.to_bits()),
                Parsed::Missing => prop_assert!(x.is_nan()),
                Parsed::Infinite => prop_assert!(x.is_infinite()),
                Parsed::Words => prop_assert!(false, "{}", text),
            }
        }

        #[test]
        fn agrees_with_the_standard_library(text in "[+-]?[0-9]{0,20}[.]?[0-9]{0,20}(e[+-]?[0-9]{1,3})?") {
            let here = parse_number(text.as_bytes(), b'.');
            prop_assert_eq!(here, text.parse::<f64>().ok());
        }
    }
}
