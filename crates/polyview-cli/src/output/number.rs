//! Numbers with the digits that they deserve.

use super::digits;

/// Significant digits of a number that is printed, unless others are asked for.
const DIGITS: usize = 4;
/// Below this a number is printed with an exponent.
const SMALLEST: f64 = 1e-4;
/// From this on, too.
const LARGEST: f64 = 1e9;

/// What stands for a number that there is not.
const NONE: &str = "-";

/// A number with `digits` significant digits and no fewer before the point,
/// with an exponent where zeros would be many.
pub fn significant(x: f64, digits: usize) -> String {
    if !x.is_finite() {
        return if x.is_nan() {
            NONE.to_owned()
        } else {
            x.to_string()
        };
    }
    if x == 0.0 {
        return "0".to_owned();
    }
    let after = digits.max(1) - 1;
    // the exponent of what is printed: 9.9996 has that of 10
    let text = format!("{x:.after$e}");
    let exponent = text
        .split_once('e')
        .and_then(|(_, e)| e.parse::<i32>().ok());
    let Some(exponent) = exponent.filter(|_| (SMALLEST..LARGEST).contains(&x.abs())) else {
        return text;
    };
    let decimals = i32::try_from(after)
        .unwrap_or(i32::MAX)
        .saturating_sub(exponent);
    format!("{x:.*}", usize::try_from(decimals).unwrap_or(0))
}

/// A score, or a dash where there is none.
pub fn number(x: impl Into<Option<f64>>) -> String {
    let x = x.into().unwrap_or(f64::NAN);
    significant(x, digits().unwrap_or(DIGITS))
}

/// A number whose unit says how many decimals count, or with the digits that are asked for.
fn decimals(x: f64, least: usize) -> String {
    with_digits(x, least, digits())
}

/// As [`decimals`], of so many digits. Where these would take an exponent the number is
/// nothing beside its unit, and has the decimals of that.
fn with_digits(x: f64, least: usize, digits: Option<usize>) -> String {
    if !x.is_finite() {
        return significant(x, 1);
    }
    let asked = digits.map(|digits| significant(x, digits));
    let asked = asked.filter(|a| !a.contains('e'));
    let text = asked.unwrap_or_else(|| format!("{x:.least$}"));
    match text.strip_prefix('-') {
        Some(rest) if rest.bytes().all(|b| matches!(b, b'0' | b'.')) => rest.to_owned(),
        _ => text,
    }
}

/// A bound or another sum of log densities, in nats: a hundredth of one never
/// decides.
pub fn nats(x: f64) -> String {
    decimals(x, 2)
}

/// A share as percent: a tenth of one.
pub fn percent(x: f64) -> String {
    if x.is_finite() {
        decimals(100.0 * x, 1)
    } else {
        NONE.to_owned()
    }
}

/// A number from 0 to 1 of which hundredths count: a correlation, a ratio.
pub fn share(x: f64) -> String {
    decimals(x, 3)
}

/// A number of which wholes count.
pub fn count(x: f64) -> String {
    decimals(x, 0)
}

/// A number for a file: all digits that it needs to be read back exactly, or as
/// many as were asked for.
pub fn rounded(x: f64) -> f64 {
    match digits() {
        Some(digits) => polyview_io::to_digits(x, digits),
        None => x,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_digits_as_a_number_deserves() {
        for (x, digits, text) in [
            (0.631_249, 4, "0.6312"),
            (3.123_4e-4, 4, "0.0003123"),
            (3e-4, 2, "0.00030"),
            (3e-5, 4, "3.000e-5"),
            (2e-297, 2, "2.0e-297"),
            (1234.567, 4, "1235"),
            (123_456.7, 4, "123457"),
            (9.999_96, 4, "10.00"),
            (-0.012_345_6, 4, "-0.01235"),
            (1.0, 4, "1.000"),
            (4e12, 3, "4.00e12"),
            (0.0, 4, "0"),
            (f64::NAN, 4, "-"),
            (f64::INFINITY, 4, "inf"),
            (0.1 + 0.2, 17, "0.30000000000000004"),
        ] {
            assert_eq!(significant(x, digits), text, "{x} to {digits}");
        }
    }

    #[test]
    fn decimals_of_a_unit() {
        assert_eq!(nats(-1234.567), "-1234.57");
        assert_eq!(percent(0.926_26), "92.6");
        assert_eq!(percent(-1e-9), "0.0");
        assert_eq!(percent(f64::NAN), "-");
        assert_eq!(count(-0.2), "0");
        assert_eq!(number(None), "-");
    }

    #[test]
    fn digits_that_are_asked_for() {
        for (x, digits, text) in [
            (89.432, 2, "89"),
            (0.000_131_2, 2, "0.00013"),
            (-1234.567, 2, "-1235"),
            (-1234.567, 9, "-1234.56700"),
            (1e-9, 2, "0.0"),
            (f64::NAN, 2, "-"),
        ] {
            assert_eq!(with_digits(x, 1, Some(digits)), text, "{x} to {digits}");
        }
    }
}
