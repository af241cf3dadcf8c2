//! Scores of predicted times to an event.

use super::{MetricError, finite, same_length, within};

/// A time to an event, or the time to which it had not come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EventTime {
    /// The time, in any unit that grows with it.
    pub time: f64,
    /// Whether the event came then.
    pub event: bool,
}

/// Harrell's C-index of predictions that are larger for later events (spec/sites 2): the share of the
/// pairs of which it is known whose event came first that are predicted in that order, equal
/// predictions counted for a half. `None` where there is no such pair. Two events at one
/// time are no pair.
///
/// ```
/// use polyview::metrics::{EventTime, concordance};
///
/// # fn main() -> Result<(), polyview::metrics::MetricError> {
/// let at = |time: f64, event: bool| EventTime { time, event };
/// // the second was last seen after the first had its event
/// let truth = [at(1.0, true), at(2.0, false), at(3.0, true)];
/// assert_eq!(concordance(&truth, &[0.5, 0.7, 0.2])?, Some(0.5));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`MetricError::LengthMismatch`]; [`MetricError::BadValue`] for numbers that are not finite.
pub fn concordance(truth: &[EventTime], predicted: &[f64]) -> Result<Option<f64>, MetricError> {
    same_length("predictions", truth.len(), predicted.len())?;
    for (row, (t, p)) in truth.iter().zip(predicted).enumerate() {
        finite("time", t.time, row, 0)?;
        finite("predicted time", *p, row, 0)?;
    }
    let (mut pairs, mut right) = (0.0, 0.0);
    for (a, p) in truth.iter().zip(predicted).filter(|(a, _)| a.event) {
        for (b, q) in truth.iter().zip(predicted) {
            if b.time > a.time || (b.time == a.time && !b.event) {
                pairs += 1.0;
                if p < q {
                    right += 1.0;
                } else if p == q {
                    right += 0.5;
                }
            }
        }
    }
    Ok((pairs > 0.0).then(|| right / pairs))
}

/// Kaplan and Meier's estimate of the probability that what is counted comes after a time.
#[derive(Clone, Debug)]
struct ProductLimit {
    /// Times and the probability from there on.
    steps: Vec<(f64, f64)>,
}

impl ProductLimit {
    /// Of events, or with `event` false of the ends of watching; at one time events come first.
    fn of(known: &[EventTime], event: bool) -> Self {
        let mut order: Vec<&EventTime> = known.iter().collect();
        order.sort_by(|a, b| a.time.total_cmp(&b.time).then(b.event.cmp(&a.event)));
        let (mut left, mut survives) = (order.len() as f64, 1.0);
        let mut steps = Vec::new();
        for t in order {
            if t.event == event {
                survives *= 1.0 - left.recip();
                steps.push((t.time, survives));
            }
            left -= 1.0;
        }
        Self { steps }
    }
    /// The probability of later than that time, or with `before` of no earlier.
    fn at(&self, time: f64, before: bool) -> f64 {
        let passed = |s: &&(f64, f64)| s.0 < time || (!before && s.0 == time);
        let passed = self.steps.iter().take_while(passed).last();
        passed.map_or(1.0, |s| s.1)
    }
}

/// Least share of samples still watched at the times that are scored: further out few say much.
const WATCHED: f64 = 0.1;
/// Most times that the integral goes over.
const TIMES: usize = 100;

/// Times of events of the training samples up to which a tenth of the samples is still watched,
/// at most a hundred, in order: where [`integrated_brier`] looks.
pub fn event_times(training: &[EventTime]) -> Vec<f64> {
    let watched = |t: f64| training.iter().filter(|o| o.time >= t).count() as f64;
    let enough = WATCHED * training.len() as f64;
    let events = training
        .iter()
        .filter(|t| t.event && watched(t.time) >= enough);
    let mut times: Vec<f64> = events.map(|t| t.time).collect();
    times.sort_by(f64::total_cmp);
    times.dedup();
    let count = times.len();
    if count <= TIMES {
        return times;
    }
    (0..TIMES)
        .map(|i| times[i * (count - 1) / (TIMES - 1)])
        .collect()
}

/// The Brier score of predicted probabilities that the event comes later, mean over the span of these
/// times (Graf and others 1999). `survival` has the probabilities of each sample, one for each of `times`, which
/// are in order. Samples that were watched no longer are made up for by weights
/// from the training samples. `None` with fewer than two times.
///
/// # Errors
/// [`MetricError::LengthMismatch`]; [`MetricError::BadValue`] for probabilities outside 0 to 1 and
/// times that are not finite.
pub fn integrated_brier(
    training: &[EventTime],
    truth: &[EventTime],
    times: &[f64],
    survival: &[Vec<f64>],
) -> Result<Option<f64>, MetricError> {
    same_length("survival curves", truth.len(), survival.len())?;
    for (row, (t, curve)) in truth.iter().zip(survival).enumerate() {
        finite("time", t.time, row, 0)?;
        same_length("probabilities", times.len(), curve.len())?;
        for (column, p) in curve.iter().enumerate() {
            within("probability", *p, (0.0, 1.0), row, column)?;
        }
    }
    let watched = ProductLimit::of(training, false);
    let score = |i: usize| {
        let at = times[i];
        let one = |(t, curve): (&EventTime, &Vec<f64>)| {
            let p = curve[i];
            let (square, weight) = if t.time > at {
                ((1.0 - p) * (1.0 - p), watched.at(at, false))
            } else if t.event {
                (p * p, watched.at(t.time, true))
            } else {
                return 0.0;
            };
            if weight > 0.0 { square / weight } else { 0.0 }
        };
        truth.iter().zip(survival).map(one).sum::<f64>() / truth.len() as f64
    };
    let (Some(first), Some(last)) = (times.first(), times.last()) else {
        return Ok(None);
    };
    if truth.is_empty() || last <= first {
        return Ok(None);
    }
    let scores: Vec<f64> = (0..times.len()).map(score).collect();
    let pieces = times.windows(2).zip(scores.windows(2));
    let area: f64 = pieces
        .map(|(t, s)| 0.5 * (t[1] - t[0]) * (s[0] + s[1]))
        .sum();
    Ok(Some(area / (last - first)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(time: f64, event: bool) -> EventTime {
        EventTime { time, event }
    }

    #[test]
    fn pairs_of_which_the_order_is_known() {
        let truth = [at(1.0, true), at(1.0, true), at(1.0, false), at(2.0, true)];
        // of six pairs: two events at once are none, the third says nothing of the fourth
        let c = |p: &[f64]| concordance(&truth, p).expect("a score").expect("pairs");
        assert_eq!(c(&[1.0, 2.0, 3.0, 4.0]), 1.0);
        assert_eq!(c(&[4.0, 3.0, 2.0, 1.0]), 0.0);
        assert_eq!(c(&[0.0, 0.0, 0.0, 0.0]), 0.5);
        assert_eq!(c(&[1.0, 3.0, 2.0, 4.0]), 0.75);
        assert_eq!(
            concordance(&[at(1.0, false); 2], &[1.0, 2.0]).ok(),
            Some(None)
        );
        assert!(concordance(&truth, &[1.0]).is_err());
        assert!(concordance(&truth, &[f64::NAN; 4]).is_err());
    }

    /// Without ends of watching it is the Brier score of each time; with some their weights make
    /// up for them.
    #[test]
    fn the_brier_score_over_time() {
        let truth: Vec<EventTime> = (1..=4).map(|t| at(f64::from(t), true)).collect();
        let half = vec![vec![0.5; 3]; 4];
        let score = integrated_brier(&truth, &truth, &[1.0, 2.0, 3.0], &half).expect("a score");
        assert_eq!(score, Some(0.25));
        let times = [1.5, 2.5];
        let known: Vec<Vec<f64>> = (truth.iter())
            .map(|t| {
                times
                    .iter()
                    .map(|at| f64::from(u8::from(t.time > *at)))
                    .collect()
            })
            .collect();
        let score = integrated_brier(&truth, &truth, &times, &known).expect("a score");
        assert_eq!(score, Some(0.0));
        // one of four is watched until 2: those after it stand for it, too
        let some = [at(1.0, true), at(2.0, false), at(3.0, true), at(4.0, true)];
        let one = vec![vec![0.0; 2]; 4];
        let score = integrated_brier(&some, &some, &[2.5, 2.6], &one).expect("a score");
        // both that are left count for 3/2
        assert!((score.expect("times") - 0.75).abs() < 1e-15);
        assert_eq!(
            integrated_brier(&some, &some, &[1.0], &vec![vec![0.5]; 4]).ok(),
            Some(None)
        );
        assert!(integrated_brier(&some, &some, &times, &vec![vec![2.0; 2]; 4]).is_err());
        assert_eq!(event_times(&some), [1.0, 3.0, 4.0]);
    }
}
