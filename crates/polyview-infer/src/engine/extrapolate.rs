//! Faster rounds: the next point of an alternation from the last few.
//!
//! A round maps the means $x$ of a sample to $g(x)$. From differences of the
//! last points and of their steps $f = g(x) - x$, the combination of these steps
//! that is shortest is sought, and the same combination of the images is the
//! next point (Anderson mixing). The fixed point is that of the plain rounds;
//! only the way there is shorter. Samples do not touch one another.

use polyview_linalg::{Mat, MatRef};

/// Differences that are remembered.
const DEPTH: usize = 4;
/// A step this many times longer than the last one says that the memory is of
/// no use.
const GROWTH: f64 = 1.5;
/// Share of a difference that must be left once it has been made orthogonal to
/// the others.
const INDEPENDENT: f64 = 1e-6;

/// The memory of one sample.
#[derive(Clone, Debug, Default)]
struct Trail {
    /// Whether the last step was one of [`LongerSteps`].
    longer: bool,
    /// Last image and last step, as they were taken.
    image: Vec<f64>,
    step: Vec<f64>,
    /// Differences of images and of steps, the newest last.
    differences: Vec<(Vec<f64>, Vec<f64>)>,
}

/// Steps that may be taken in place of plain ones.
#[derive(Debug)]
pub(super) struct LongerSteps {
    /// Samples × K.
    pub(super) steps: Mat<f64>,
    /// Which samples are to take them.
    pub(super) fits: Vec<bool>,
}

/// The next points of all samples.
#[derive(Debug)]
pub(super) struct Extrapolation {
    trails: Vec<Trail>,
    /// Whether next points are other than images.
    mixes: bool,
    tolerance: f64,
    /// Steps in a row that count as none, by sample.
    calm: Vec<u8>,
    /// Number of such steps after which a sample has settled.
    enough: u8,
    settled: Vec<bool>,
    moved: f64,
}

impl Extrapolation {
    /// For so many samples; each has settled once `enough` steps in a row are
    /// within the tolerance, relative to its largest mean or to 1.
    pub(super) fn new(samples: usize, tolerance: f64, enough: u8) -> Self {
        Self {
            trails: vec![Trail::default(); samples],
            mixes: true,
            tolerance,
            calm: vec![0; samples],
            enough,
            settled: vec![false; samples],
            moved: 0.0,
        }
    }
    /// The same without memory: next points are the images, if not `mixes`.
    pub(super) fn mixing(self, mixes: bool) -> Self {
        Self { mixes, ..self }
    }
    /// Takes in the images of the points `x` (samples × K, both), and puts the
    /// next points in place of these. `longer` are steps to be taken instead of
    /// those to the images, by the samples that say so.
    pub(super) fn next(
        &mut self,
        x: &mut Mat<f64>,
        images: MatRef<'_, f64>,
        longer: Option<&LongerSteps>,
    ) {
        let k = x.ncols();
        self.moved = 0.0;
        for n in 0..x.nrows() {
            let longer = longer.filter(|l| l.fits[n]);
            let step: Vec<f64> = (0..k)
                .map(|j| longer.map_or_else(|| images[(n, j)] - x[(n, j)], |l| l.steps[(n, j)]))
                .collect();
            let image: Vec<f64> = (0..k).map(|j| x[(n, j)] + step[j]).collect();
            let largest = |v: &[f64]| v.iter().fold(0.0_f64, |a, b| a.max(b.abs()));
            let moved = if image.iter().all(|v| v.is_finite()) {
                largest(&step) / largest(&image).max(1.0)
            } else {
                f64::INFINITY
            };
            self.calm[n] = if moved <= self.tolerance {
                self.calm[n].saturating_add(1)
            } else {
                0
            };
            if self.calm[n] >= self.enough && !self.settled[n] {
                self.settled[n] = true;
                self.trails[n] = Trail::default();
            }
            let point = if self.settled[n] || !moved.is_finite() {
                image
            } else {
                self.moved = self.moved.max(moved);
                if self.mixes {
                    self.trails[n].next(image, step, longer.is_some())
                } else {
                    image
                }
            };
            if !moved.is_finite() {
                self.moved = f64::INFINITY;
            }
            for (j, v) in point.into_iter().enumerate() {
                x[(n, j)] = v;
            }
        }
    }
    /// Which samples have settled.
    pub(super) fn settled(&self) -> &[bool] {
        &self.settled
    }
    /// Largest relative step of the others in the last round.
    pub(super) fn moved(&self) -> f64 {
        self.moved
    }
}

impl Trail {
    /// Images and steps of one kind alone are mixed.
    fn next(&mut self, image: Vec<f64>, step: Vec<f64>, longer: bool) -> Vec<f64> {
        let minus =
            |a: &[f64], b: &[f64]| -> Vec<f64> { a.iter().zip(b).map(|(a, b)| a - b).collect() };
        let grows = dot(&step, &step) > GROWTH * GROWTH * dot(&self.step, &self.step);
        if self.step.is_empty() || grows || longer != self.longer {
            self.differences.clear();
        } else {
            if self.differences.len() == DEPTH {
                self.differences.remove(0);
            }
            self.differences
                .push((minus(&image, &self.image), minus(&step, &self.step)));
        }
        let mut point = image.clone();
        let mut rest = step.clone();
        // the newest differences first: old ones add what is new in them
        let mut basis: Vec<(Vec<f64>, Vec<f64>)> = Vec::new();
        for (of_image, of_step) in self.differences.iter().rev() {
            let (mut u, mut q) = (of_image.clone(), of_step.clone());
            let before = dot(&q, &q);
            for (v, p) in &basis {
                let c = dot(&q, p);
                subtract(&mut q, c, p);
                subtract(&mut u, c, v);
            }
            let left = dot(&q, &q);
            if left > INDEPENDENT * INDEPENDENT * before {
                let length = left.sqrt().recip();
                q.iter_mut().chain(&mut u).for_each(|x| *x *= length);
                let c = dot(&rest, &q);
                subtract(&mut rest, c, &q);
                subtract(&mut point, c, &u);
                basis.push((u, q));
            }
        }
        self.longer = longer;
        self.image = image;
        self.step = step;
        point
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// `a -= c b`
fn subtract(a: &mut [f64], c: f64, b: &[f64]) {
    for (a, b) in a.iter_mut().zip(b) {
        *a -= c * b;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rounds of a linear map $x \to Mx + b$ with eigenvalues 0.9, 0.7, 0.2.
    fn rounds(depth: bool) -> (usize, Mat<f64>) {
        let rates = [0.9, 0.7, 0.2];
        let centre = [3.0, -1.0, 0.5];
        let mut x = Mat::zeros(2, 3);
        let mut to = Extrapolation::new(2, 1e-10, 1);
        for round in 1..1000 {
            let g = Mat::from_fn(2, 3, |n, j| {
                let c = centre[j] * (n + 1) as f64;
                c + rates[j] * (x[(n, j)] - c)
            });
            if depth {
                to.next(&mut x, g.as_ref(), None);
            } else {
                to.trails.fill(Trail::default());
                to.next(&mut x, g.as_ref(), None);
            }
            if to.settled().iter().all(|s| *s) {
                return (round, x);
            }
        }
        (1000, x)
    }

    #[test]
    fn the_fixed_point_is_the_same_and_the_way_shorter() {
        let (plain, a) = rounds(false);
        let (mixed, b) = rounds(true);
        assert!(plain > 150 && mixed < 10, "{plain} against {mixed}");
        for n in 0..2 {
            for j in 0..3 {
                assert!((a[(n, j)] - b[(n, j)]).abs() < 1e-8);
            }
        }
    }

    /// Steps that go all the way, by the sample that takes them.
    #[test]
    fn longer_steps_are_taken_by_those_that_fit() {
        let centre = [3.0, -1.0];
        let mut x = Mat::zeros(2, 2);
        let mut to = Extrapolation::new(2, 1e-10, 1);
        for _ in 0..2 {
            let images = Mat::from_fn(2, 2, |n, j| x[(n, j)] + 0.1 * (centre[j] - x[(n, j)]));
            let longer = LongerSteps {
                steps: Mat::from_fn(2, 2, |n, j| centre[j] - x[(n, j)]),
                fits: vec![true, false],
            };
            to.next(&mut x, images.as_ref(), Some(&longer));
        }
        assert_eq!(to.settled(), [true, false]);
        assert!((0..2).all(|j| (x[(0, j)] - centre[j]).abs() < 1e-12));
    }

    #[test]
    fn a_sample_that_is_not_finite_has_not_settled() {
        let mut to = Extrapolation::new(2, 1e-6, 1);
        let mut x = Mat::zeros(2, 1);
        let images = Mat::from_fn(2, 1, |n, _| if n == 0 { f64::NAN } else { 0.0 });
        to.next(&mut x, images.as_ref(), None);
        assert_eq!(to.settled(), [false, true]);
        assert!(to.moved().is_infinite());
    }
}
