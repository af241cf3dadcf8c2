//! Fixed points of maps by Anderson's mixing, row by row.

use polyview_linalg::{Mat, MatRef, solve_spd};

/// Most earlier steps that are mixed.
const DEPTH: usize = 3;
/// A step so much longer than the one before is the end of what was learnt from earlier ones.
const LONGER: f64 = 2.0;
/// What mixing adds to an image is at most so many times as long as the image: it never turns a row
/// round. Maps whose steps hardly shrink, as of labels that factors part without error, are
/// followed in more rounds.
const FARTHEST: f64 = 0.5;
/// Added to the diagonal of the equations, relative to their trace.
const RIDGE: f64 = 1e-10;

/// Points of a row, each with its image.
#[derive(Default)]
struct Path {
    images: Vec<Vec<f64>>,
    /// Image less point.
    steps: Vec<Vec<f64>>,
}

/// What is known of a map of matrices whose rows go their own ways: the next point of each row is
/// the mixture of its last images whose steps, mixed so, are shortest (Anderson 1965, type II).
#[derive(Default)]
pub(super) struct Mixing(Vec<Path>);

impl Mixing {
    /// The next point after `point` had the image `image`, rows × columns.
    pub(super) fn next(&mut self, point: MatRef<'_, f64>, image: MatRef<'_, f64>) -> Mat<f64> {
        self.0.resize_with(image.nrows(), Path::default);
        let mut out = image.to_owned();
        for (d, path) in self.0.iter_mut().enumerate() {
            let own = |m: MatRef<'_, f64>| (0..m.ncols()).map(|k| m[(d, k)]).collect::<Vec<f64>>();
            for (k, x) in path.next(&own(point), own(image)).iter().enumerate() {
                out[(d, k)] = *x;
            }
        }
        out
    }
}

impl Path {
    fn next(&mut self, point: &[f64], image: Vec<f64>) -> Vec<f64> {
        let step: Vec<f64> = image.iter().zip(point).map(|(g, x)| g - x).collect();
        if (self.steps.last()).is_some_and(|last| norm(&step) > LONGER * norm(last)) {
            self.images.clear();
            self.steps.clear();
        }
        self.images.push(image);
        self.steps.push(step);
        if self.steps.len() > DEPTH + 1 {
            self.images.remove(0);
            self.steps.remove(0);
        }
        self.mixed()
    }
    /// The last image less what the changes of the steps explain of the last step.
    fn mixed(&self) -> Vec<f64> {
        let (last, m) = (self.steps.len() - 1, self.steps.len() - 1);
        let image = self.images[last].clone();
        let changes = |of: &[Vec<f64>]| -> Vec<Vec<f64>> {
            let pairs = of.iter().zip(&of[1..]);
            pairs.map(|(a, b)| difference(b, a)).collect()
        };
        let (steps, images) = (changes(&self.steps), changes(&self.images));
        let trace: f64 = steps.iter().map(|s| dot(s, s)).sum();
        if m == 0 || trace <= 0.0 {
            return image;
        }
        let ridge = |i: usize, j: usize| if i == j { RIDGE * trace } else { 0.0 };
        let equations = Mat::from_fn(m, m, |i, j| dot(&steps[i], &steps[j]) + ridge(i, j));
        let right = Mat::from_fn(m, 1, |i, _| dot(&steps[i], &self.steps[last]));
        let Ok(shares) = solve_spd(equations.as_ref(), right.as_ref()) else {
            return image;
        };
        let mut mixed = image.clone();
        for (i, change) in images.iter().enumerate() {
            for (x, c) in mixed.iter_mut().zip(change) {
                *x -= shares[(i, 0)] * c;
            }
        }
        let far = norm(&difference(&mixed, &image));
        if far.is_finite() && far <= FARTHEST * norm(&image) {
            mixed
        } else {
            image
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

fn difference(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(x, y)| x - y).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// $s \mapsto \sqrt{1 + cs^2}$ is what a weight does whose spread follows it: its steps shrink
    /// by c each.
    #[test]
    fn slow_maps_are_followed_to_their_ends() {
        let rates = [0.3, 0.9, 0.98];
        let image = |x: MatRef<'_, f64>| {
            Mat::from_fn(3, 2, |d, k| {
                (k + 1) as f64 * (1.0 + rates[d] * (x[(d, k)] / (k + 1) as f64).powi(2)).sqrt()
            })
        };
        let mut x = Mat::from_fn(3, 2, |_, k| (k + 1) as f64);
        let mut mixing = Mixing::default();
        for _ in 0..14 {
            x = mixing.next(x.as_ref(), image(x.as_ref()).as_ref());
        }
        for (d, c) in rates.iter().enumerate() {
            for k in 0..2 {
                let end = (k + 1) as f64 / (1.0 - c).sqrt();
                assert!(
                    (x[(d, k)] - end).abs() < 1e-3 * end,
                    "{d} {} {end}",
                    x[(d, k)]
                );
            }
        }
    }
}
