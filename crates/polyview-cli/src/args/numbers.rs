//! Numbers of the command line: one that begins with a minus is read as a
//! number, and refused with the mend where its range has no such.

use std::num::IntErrorKind;
use std::str::FromStr;

/// An integer type that no option needs more of.
pub trait Whole: FromStr<Err = std::num::ParseIntError> {}

impl Whole for usize {}
impl Whole for u64 {}
impl Whole for u32 {}

/// A whole number from 0 on.
pub fn whole<T: Whole>(text: &str) -> Result<T, String> {
    from(text, 0)
}

/// A whole number of which there must be one at least. A 0 is left to the range
/// of its option, which says what it would mean there.
pub fn counted<T: Whole>(text: &str) -> Result<T, String> {
    from(text, 1)
}

/// A whole number of which there must be one at least, where a 0 would mean something else or nothing.
pub fn at_least_one<T: Whole + PartialEq + From<u8>>(text: &str) -> Result<T, String> {
    let number = from(text, 1)?;
    if number == T::from(0) {
        return Err("give a whole number, 1 or larger".to_owned());
    }
    Ok(number)
}

fn from<T: Whole>(text: &str, least: u8) -> Result<T, String> {
    text.trim().parse().map_err(|e: std::num::ParseIntError| {
        if *e.kind() == IntErrorKind::PosOverflow {
            "it is too large; give a smaller whole number".to_owned()
        } else {
            format!("give a whole number, {least} or larger")
        }
    })
}

/// A finite number, whose range is the option's own affair.
pub fn real(text: &str) -> Result<f64, String> {
    let number = text.trim().parse::<f64>().ok();
    number
        .filter(|x| x.is_finite())
        .ok_or_else(|| "give a number, such as 0.5 or 1e-4".to_owned())
}

/// A number of significant digits: a 64-bit number has 17 at most.
pub fn digits(text: &str) -> Result<usize, String> {
    let number = text.trim().parse().ok();
    number
        .filter(|n| (1..=17).contains(n))
        .ok_or_else(|| "give a whole number from 1 to 17".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_what_is_none() {
        assert_eq!(whole::<usize>("12"), Ok(12));
        assert_eq!(counted::<u64>("0"), Ok(0));
        assert!(at_least_one::<usize>("0").is_err_and(|e| e.contains("1 or larger")));
        assert_eq!(at_least_one::<usize>("3"), Ok(3));
        for bad in ["-3", "2.5", "x", ""] {
            assert!(whole::<u32>(bad).is_err_and(|e| e.contains("0 or larger")));
            assert!(counted::<usize>(bad).is_err_and(|e| e.contains("1 or larger")));
            assert!(at_least_one::<usize>(bad).is_err_and(|e| e.contains("1 or larger")));
        }
        assert!(whole::<u32>("99999999999").is_err_and(|e| e.contains("too large")));
        assert_eq!(real("-1e-3"), Ok(-1e-3));
        for bad in ["nan", "inf", "-inf", "1,5", ""] {
            assert!(real(bad).is_err(), "{bad}");
        }
    }
}
