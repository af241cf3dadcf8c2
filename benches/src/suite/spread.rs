//! Repeated measurements: median and range.

use crate::sheet::NOTHING;

/// Median and range of some figures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The middle one, or the mean of the two in the middle.
    pub median: f64,
    /// The smallest.
    pub low: f64,
    /// The largest.
    pub high: f64,
}

impl Spread {
    /// Of these figures; those that are not finite do not count. `None` where none is left.
    pub fn of(figures: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut v: Vec<f64> = figures.into_iter().filter(|x| x.is_finite()).collect();
        v.sort_by(f64::total_cmp);
        let (low, high) = (*v.first()?, *v.last()?);
        let half = v.len() / 2;
        let median = if v.len().is_multiple_of(2) {
            f64::midpoint(v[half - 1], v[half])
        } else {
            v[half]
        };
        Some(Self { median, low, high })
    }

    /// The median and, where it tells more, the range, by this way to write numbers.
    pub fn written(&self, number: impl Fn(f64) -> String) -> String {
        let [median, low, high] = [self.median, self.low, self.high].map(number);
        if low == high {
            median
        } else {
            format!("{median} ({low} to {high})")
        }
    }

    /// The median and the range of some figures to three digits; a dash for nothing.
    pub fn text(figures: impl IntoIterator<Item = f64>) -> String {
        Self::of(figures).map_or_else(|| NOTHING.to_owned(), |s| s.written(figure))
    }

    /// The median alone; a dash for nothing.
    pub fn middle(figures: impl IntoIterator<Item = f64>) -> String {
        figure(Self::of(figures).map_or(f64::NAN, |s| s.median))
    }
}

/// A number to three digits or to the unit, a dash where it is none.
pub fn figure(x: f64) -> String {
    let digits = match x.abs() {
        a if !a.is_finite() => return NOTHING.to_owned(),
        a if a >= 99.95 => 0,
        a if a >= 9.995 => 1,
        a if a >= 0.9995 => 2,
        _ => 3,
    };
    format!("{x:.digits$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_lies_between_the_ends() {
        let s = Spread::of([3.0, 1.0, f64::NAN, 2.0]).unwrap();
        assert_eq!((s.median, s.low, s.high), (2.0, 1.0, 3.0));
        assert_eq!(Spread::of([1.0, 2.0]).unwrap().median, 1.5);
        assert_eq!(Spread::of([f64::NAN]), None);
    }

    #[test]
    fn figures_have_three_digits() {
        let text = [0.0456, 0.456, 1.005, 45.64, 99.99, 4564.2, f64::NAN].map(figure);
        assert_eq!(text, ["0.046", "0.456", "1.00", "45.6", "100", "4564", "–"]);
    }

    #[test]
    fn a_range_is_said_where_there_is_one() {
        assert_eq!(Spread::text([2.0, 1.0, 4.0]), "2.00 (1.00 to 4.00)");
        assert_eq!(Spread::text([2.0]), "2.00");
        assert_eq!(Spread::text([]), "–");
        assert_eq!(Spread::middle([2.0, 1.0, 4.0]), "2.00");
        assert_eq!(Spread::middle([]), "–");
        let whole = Spread::of([34.0, 194.0]).unwrap();
        assert_eq!(whole.written(|x| format!("{x:.0}")), "114 (34 to 194)");
    }
}
