//! Values of a covariate that look like codes for what is not known.

/// Most of the samples that may share a code: one in so many.
const RARE: usize = 4;
/// Fewest different values beside it.
const LEAST: usize = 3;
/// By how many of the largest gaps between other values one of nines alone stands apart.
const GAPS: f64 = 3.0;

/// A value of several samples that stands apart at the end of all values, as 999 does among ages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Code {
    value: f64,
    count: usize,
    /// Least and largest of the other values.
    others: (f64, f64),
}

impl Code {
    /// What is to be said of it.
    pub(super) fn told(&self, covariate: &str, values: &[f64], samples: &[String]) -> String {
        let first = values.iter().position(|x| *x == self.value);
        let first = first
            .and_then(|n| samples.get(n))
            .map_or("", String::as_str);
        format!(
            "the covariate '{covariate}' is {} in {} samples, first '{first}', far from all others ({} to {}): if that \
             stands for a value that is not known, give these samples one, or leave them out",
            self.value, self.count, self.others.0, self.others.1
        )
    }
}

/// Whether a number is written in nines, as codes are.
fn is_of_nines(value: f64) -> bool {
    let digits = value.abs().to_string();
    digits.chars().all(|c| c == '9')
}

/// The code at one end of sorted values, the last of them; `None` where it is a value like others. Values
/// are negated where the end is the lower one.
fn at_end(sorted: &[f64]) -> Option<(f64, usize)> {
    let value = *sorted.last()?;
    let others = sorted.partition_point(|x| *x < value);
    let count = sorted.len() - others;
    let (first, last) = (sorted.first()?, sorted[..others].last()?);
    let mut different = sorted[..others].to_vec();
    different.dedup();
    let gaps = different.windows(2).map(|w| w[1] - w[0]);
    let (gap, widest) = (value - last, gaps.fold(0.0, f64::max));
    let apart = gap > last - first || (is_of_nines(value) && gap > GAPS * widest);
    let repeated = count > 1 && RARE * count <= sorted.len();
    (value != 0.0 && repeated && different.len() >= LEAST && apart).then_some((value, count))
}

/// Codes among numbers, those of both ends, the farthest first.
pub(super) fn codes(values: &[f64]) -> Vec<Code> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let mut found = Vec::new();
    loop {
        let mirrored: Vec<f64> = sorted.iter().rev().map(|x| -x).collect();
        let next = at_end(&sorted).or_else(|| at_end(&mirrored).map(|(x, count)| (-x, count)));
        let Some((value, count)) = next else {
            break;
        };
        sorted.retain(|x| *x != value);
        found.push(Code {
            value,
            count,
            others: (0.0, 0.0),
        });
    }
    // all of them are of no say about the others
    if let (Some(&first), Some(&last)) = (sorted.first(), sorted.last()) {
        for code in &mut found {
            code.others = (first, last);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_stand_apart_and_are_repeated() {
        let ages: Vec<f64> = (0..40).map(|n| f64::from(30 + (n * 7) % 31)).collect();
        let with = |more: &[f64]| -> Vec<f64> {
            let all: Vec<f64> = ages.iter().chain(more).copied().collect();
            codes(&all).iter().map(|c| c.value).collect()
        };
        assert!(with(&[]).is_empty());
        assert_eq!(with(&[999.0, 999.0]), [999.0]);
        assert_eq!(with(&[-9.0, -9.0, -9.0]), [-9.0]);
        assert_eq!(with(&[-9.0, 999.0, -9.0, 999.0]), [999.0, -9.0]);
        assert_eq!(with(&[-777.0, -777.0]), [-777.0]);
        // once, among the others, too many, or nearly alone
        assert!(with(&[999.0]).is_empty());
        assert!(with(&[62.0, 62.0]).is_empty());
        assert!(with(&[999.0; 20]).is_empty());
        assert!(codes(&[0.0, 1.0, 1.0, 1.0, 9.0, 9.0, 0.0, 1.0]).is_empty());
        assert!(codes(&[1.0, 2.0, 3.0, 4.0, 1.0, 2.0, 3.0, 0.0, 0.0]).is_empty());
    }
}
