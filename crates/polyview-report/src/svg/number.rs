//! Numbers as people and as SVG want them.

/// Farthest that anything is placed from the corner of a picture, in pixels: far outside, but safe to
/// write and to draw.
const FAR: f64 = 1e5;

/// Appends a coordinate with one decimal (a tenth of a pixel), without a useless `.0` or `-0`.
pub(crate) fn push_coordinate(out: &mut String, v: f64) {
    let tenths = (v.clamp(-FAR, FAR) * 10.0).round();
    if tenths == 0.0 {
        out.push('0');
        return;
    }
    let text = format!("{:.1}", tenths / 10.0);
    out.push_str(text.strip_suffix(".0").unwrap_or(&text));
}

/// Whether a value can be placed on an axis: finite, and small enough that spans do not overflow.
pub(crate) fn drawable(v: f64) -> bool {
    v.is_finite() && v.abs() <= 1e300
}

/// What stands in a table for a number that is not there.
pub(crate) const NOT_AVAILABLE: &str = "–";

/// A whole number with separated thousands: `12,345`.
pub(crate) fn count(n: usize) -> String {
    group_thousands(&n.to_string())
}

/// A number with a noun in the right form: `1 view`, `3 views`.
pub(crate) fn counted(n: usize, noun: &str) -> String {
    let ending = match n {
        1 => "",
        _ if noun.ends_with('s') => "es",
        _ => "s",
    };
    format!("{} {noun}{ending}", count(n))
}

/// A number with a fixed number of decimals, a true minus sign and separated thousands.
pub(crate) fn fixed(v: f64, decimals: usize) -> String {
    if v.is_nan() {
        return NOT_AVAILABLE.to_owned();
    }
    if v.is_infinite() {
        return if v > 0.0 {
            "∞".to_owned()
        } else {
            "−∞".to_owned()
        };
    }
    let text = format!("{:.decimals$}", v.abs());
    let (whole, fraction) = text
        .split_once('.')
        .map_or((text.as_str(), None), |(w, f)| (w, Some(f)));
    let negative = v < 0.0 && text.bytes().any(|b| b.is_ascii_digit() && b != b'0');
    let mut out = String::new();
    if negative {
        out.push('−');
    }
    out.push_str(&group_thousands(whole));
    if let Some(fraction) = fraction {
        out.push('.');
        out.push_str(fraction);
    }
    out
}

/// About `digits` significant digits; powers of ten for very large and very small numbers.
pub(crate) fn significant(v: f64, digits: usize) -> String {
    if !v.is_finite() || v == 0.0 {
        return fixed(v, 0);
    }
    let exponent = exponent_of(v);
    if exponent >= 9 || exponent <= -5 {
        let mantissa = v / 10f64.powi(exponent);
        // 10^-320 is below the smallest normal number: the quotient would not be finite.
        if mantissa.is_finite() {
            return format!(
                "{}×10{}",
                fixed(mantissa, digits.saturating_sub(1)),
                superscript(exponent)
            );
        }
        return format!("{v:e}").replace('-', "−");
    }
    let decimals = (digits as i32 - 1 - exponent).max(0) as usize;
    fixed(v, decimals)
}

/// A share as a percentage with one decimal, negative ones as such: `12.3%`, `−0.4%`.
pub(crate) fn percent(share: f64) -> String {
    let hundredths = share * 100.0;
    if !hundredths.is_finite() {
        fixed(share, 0)
    } else if hundredths.abs() < 1e6 {
        format!("{}%", fixed(hundredths, 1))
    } else {
        format!("{}%", significant(hundredths, 3))
    }
}

/// The power of ten of the leading digit; 0 for zero.
pub(crate) fn exponent_of(v: f64) -> i32 {
    if v == 0.0 || !v.is_finite() {
        return 0;
    }
    let guess = v.abs().log10().floor();
    guess as i32
}

/// An integer in superscript digits.
pub(crate) fn superscript(n: i32) -> String {
    n.to_string()
        .chars()
        .map(|c| match c {
            '-' => '⁻',
            '0' => '⁰',
            '1' => '¹',
            '2' => '²',
            '3' => '³',
            '4' => '⁴',
            '5' => '⁵',
            '6' => '⁶',
            '7' => '⁷',
            '8' => '⁸',
            _ => '⁹',
        })
        .collect()
}

fn group_thousands(digits: &str) -> String {
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) && digits.len() > 4 {
            out.push(',');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coordinate(v: f64) -> String {
        let mut s = String::new();
        push_coordinate(&mut s, v);
        s
    }

    #[test]
    fn coordinates_are_short() {
        assert_eq!(coordinate(3.0), "3");
        assert_eq!(coordinate(-0.04), "0");
        assert_eq!(coordinate(12.3456), "12.3");
        assert_eq!(coordinate(-1e308), "-100000");
        assert_eq!(coordinate(-7.25), "-7.3");
    }

    #[test]
    fn numbers_for_people() {
        assert_eq!(significant(1234.567, 3), "1235");
        assert_eq!(significant(12345.67, 3), "12,346");
        assert_eq!(significant(-0.012345, 3), "−0.0123");
        assert_eq!(significant(3.2e-7, 2), "3.2×10⁻⁷");
        assert_eq!(significant(-4.5e12, 2), "−4.5×10¹²");
        assert_eq!(significant(f64::NAN, 3), "–");
        assert_eq!(significant(f64::NEG_INFINITY, 3), "−∞");
        assert_eq!(significant(5e-324, 3), "5e−324");
        assert_eq!(fixed(-0.001, 2), "0.00");
        assert_eq!(percent(-0.004), "−0.4%");
        assert_eq!(count(1000), "1000");
        assert_eq!(count(1234567), "1,234,567");
        assert_eq!(counted(1, "view"), "1 view");
    }
}
