//! Faster rounds: the next point of an alternation from the last few.
//!
//! A round maps the means $x$ of a sample to $g(x)$. From differences of the
//! last points and of their steps $f = g(x) - x$, the combination of these steps
//! that is shortest is sought, and the same combination of the images is the
//! next point (Anderson mixing). The fixed point is that of the plain rounds;
//! only the way there is shorter. Samples do not touch one another.
//!
//! A plain round never lowers the bound; a point that was extrapolated may, and the top
//! of tangents may lie as far beyond that of the bound. The
//! slope of the bound along the way says so: $\gamma = \nabla\mathcal L\cdot y$ with the
//! step y, before it and after it. Where it has come out steeper downhill than half of what
//! it was uphill the step went too far, and is shortened to where the slope would vanish
//! on a straight line; after a few of these the plain image is taken.

use polyview_linalg::{Mat, MatRef};

/// Differences that are remembered.
const DEPTH: usize = 4;
/// A step this many times longer than the last one says that the memory is of
/// no use.
const GROWTH: f64 = 1.5;
/// Share of a difference that must be left once it has been made orthogonal to
/// the others.
const INDEPENDENT: f64 = 1e-6;
/// Share of the slope before a step that the slope after it may have downhill.
const OVERSHOOT: f64 = 0.5;
/// How often a step is shortened before the plain one is taken.
const SHORTER: u32 = 12;
/// Least and most that is left of a step that is shortened.
const LEFT: (f64, f64) = (0.05, 0.5);

/// The memory of one sample.
#[derive(Clone, Debug, Default)]
struct Trail {
    /// Whether the last step was a longer one ([`Image::longer`]).
    longer: bool,
    /// Last image and last step, as they were taken.
    image: Vec<f64>,
    step: Vec<f64>,
    /// Differences of images and of steps, the newest last.
    differences: Vec<(Vec<f64>, Vec<f64>)>,
    /// The way to the present point, where that is to be judged.
    bold: Option<Bold>,
}

/// A step that may lead beyond what raises the bound.
#[derive(Clone, Debug)]
struct Bold {
    /// Where it began, and the plain image of that point.
    from: Vec<f64>,
    plain: Vec<f64>,
    step: Vec<f64>,
    /// Share of the step that was taken.
    share: f64,
    /// Slope along the step where it began.
    slope: f64,
    /// How often it was shortened.
    shortened: u32,
}

/// What the points of a round became.
#[derive(Debug)]
pub(super) struct Image<'a> {
    /// Images, samples × K.
    pub(super) means: MatRef<'a, f64>,
    /// Gradients of the bound at the points, samples × K.
    pub(super) gradients: Mat<f64>,
    /// Steps that are better than those to the images, samples × K; not finite where
    /// a sample has none.
    pub(super) longer: Option<Mat<f64>>,
}

/// The next points of all samples.
#[derive(Debug)]
pub(super) struct Extrapolation {
    trails: Vec<Trail>,
    /// Whether next points are other than images.
    mixes: bool,
    tolerance: f64,
    /// Rounds so far.
    rounds: usize,
    settled: Vec<bool>,
    moved: f64,
}

impl Extrapolation {
    /// For so many samples; each has settled once a step of it, of the second round or
    /// a later one, is within the tolerance, relative to its largest mean or to 1.
    pub(super) fn new(samples: usize, tolerance: f64) -> Self {
        Self {
            trails: vec![Trail::default(); samples],
            mixes: true,
            tolerance,
            rounds: 0,
            settled: vec![false; samples],
            moved: 0.0,
        }
    }
    /// The same without memory: next points are the images, if not `mixes`.
    pub(super) fn mixing(self, mixes: bool) -> Self {
        Self { mixes, ..self }
    }
    /// From now on next points are the images.
    pub(super) fn stop_mixing(&mut self) {
        self.mixes = false;
        for trail in &mut self.trails {
            *trail = Trail::default();
        }
    }
    /// Takes in the images of the points `x` (samples × K), and puts the
    /// next points in place of these; those of samples that have settled stay.
    pub(super) fn next(&mut self, x: &mut Mat<f64>, image: &Image<'_>) {
        self.moved = 0.0;
        self.rounds += 1;
        for n in 0..x.nrows() {
            if self.settled[n] {
                continue;
            }
            let row = |m: MatRef<'_, f64>| -> Vec<f64> { m.row(n).iter().copied().collect() };
            let (point, plain) = (row(x.as_ref()), row(image.means));
            let gradient = row(image.gradients.as_ref());
            let trail = &mut self.trails[n];
            let finite = is_finite(&plain) && is_finite(&gradient);
            if let Some(bold) = trail.bold.take()
                && let Err(shorter) = bold.judged(finite.then_some(&gradient))
            {
                self.moved = self
                    .moved
                    .max(largest(&shorter.step) / largest(&point).max(1.0));
                put(x, n, &trail.again(shorter));
                continue;
            }
            if !finite {
                self.moved = f64::INFINITY;
                put(x, n, &plain);
                continue;
            }
            let longer = image.longer.as_ref().map(|l| row(l.as_ref()));
            let longer = longer.filter(|l| self.mixes && is_finite(l) && dot(l, &gradient) > 0.0);
            let is_longer = longer.is_some();
            let step = longer.unwrap_or_else(|| minus(&plain, &point));
            let aim: Vec<f64> = point.iter().zip(&step).map(|(x, s)| x + s).collect();
            let moved = largest(&step) / largest(&aim).max(1.0);
            if moved <= self.tolerance && self.rounds > 1 {
                self.settled[n] = true;
                *trail = Trail::default();
                continue;
            }
            self.moved = self.moved.max(moved);
            let next = if self.mixes {
                trail.ahead(&point, (aim, step, is_longer), &plain, &gradient)
            } else {
                plain
            };
            put(x, n, &next);
        }
    }
    /// Shortens the steps of these samples to their points `x` (samples × K); whether any was.
    pub(super) fn shorten(
        &mut self,
        samples: impl Iterator<Item = usize>,
        x: &mut Mat<f64>,
    ) -> bool {
        let mut any = false;
        for n in samples {
            let trail = &mut self.trails[n];
            if let Some(Err(shorter)) = trail.bold.take().map(|bold| bold.judged(None)) {
                any = true;
                put(x, n, &trail.again(shorter));
            }
        }
        any
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

impl Bold {
    fn point(&self) -> Vec<f64> {
        let step = self.step.iter().map(|s| self.share * s);
        self.from.iter().zip(step).map(|(x, s)| x + s).collect()
    }
    /// Whether the bound may be lower where it led, by the gradient there (`None` where
    /// it is not finite): then the same step, shortened.
    fn judged(self, gradient: Option<&Vec<f64>>) -> Result<(), Self> {
        let slope = gradient.map_or(f64::NAN, |g| dot(g, &self.step));
        if slope >= -OVERSHOOT * self.slope {
            return Ok(());
        }
        let left = self.slope / (self.slope - slope);
        let left = if left.is_nan() { LEFT.0 } else { left };
        Err(Self {
            share: self.share * left.clamp(LEFT.0, LEFT.1),
            shortened: self.shortened + 1,
            ..self
        })
    }
}

impl Trail {
    /// The point of a step that was shortened, or the plain image once that was done
    /// too often.
    fn again(&mut self, bold: Bold) -> Vec<f64> {
        if bold.shortened > SHORTER {
            *self = Self::default();
            return bold.plain;
        }
        let point = bold.point();
        self.bold = Some(bold);
        point
    }
    /// The next point from one that was good: by the memory, by the step alone where
    /// the memory leads downhill.
    fn ahead(
        &mut self,
        point: &[f64],
        (aim, step, longer): (Vec<f64>, Vec<f64>, bool),
        plain: &[f64],
        gradient: &[f64],
    ) -> Vec<f64> {
        let mixed = self.next(aim.clone(), step.clone(), longer);
        let mut way = minus(&mixed, point);
        let (mut next, mut slope) = (mixed, dot(&way, gradient));
        if !(slope > 0.0 && is_finite(&next)) {
            self.differences.clear();
            slope = dot(&step, gradient);
            (way, next) = (step, aim);
        }
        // plain steps too: those to the top of tangents may go too far, and whether a point and
        // the step from it add up to the image to the last digit is chance
        if slope > 0.0 {
            self.bold = Some(Bold {
                from: point.to_vec(),
                plain: plain.to_vec(),
                step: way,
                share: 1.0,
                slope,
                shortened: 0,
            });
            next
        } else {
            plain.to_vec()
        }
    }
    /// Images and steps of one kind alone are mixed.
    fn next(&mut self, image: Vec<f64>, step: Vec<f64>, longer: bool) -> Vec<f64> {
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

fn put(x: &mut Mat<f64>, row: usize, values: &[f64]) {
    for (j, v) in values.iter().enumerate() {
        x[(row, j)] = *v;
    }
}

fn minus(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

fn largest(v: &[f64]) -> f64 {
    v.iter().fold(0.0_f64, |a, b| a.max(b.abs()))
}

fn is_finite(v: &[f64]) -> bool {
    v.iter().all(|x| x.is_finite())
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

    /// Images of the points, and the gradients there.
    fn image<'a>(x: &Mat<f64>, images: &'a Mat<f64>, slope: impl Fn(f64) -> f64) -> Image<'a> {
        Image {
            means: images.as_ref(),
            gradients: Mat::from_fn(x.nrows(), x.ncols(), |n, j| slope(x[(n, j)])),
            longer: None,
        }
    }

    /// A step to where the bound is no number is shortened until it is one, and at last the image is taken.
    #[test]
    fn steps_to_no_number_are_shortened() {
        let mut x = Mat::zeros(1, 1);
        let mut to = Extrapolation::new(1, 1e-6);
        let first = Mat::full(1, 1, 1.0);
        to.next(&mut x, &image(&Mat::zeros(1, 1), &first, |_| 1.0));
        assert_eq!(x[(0, 0)], 1.0);
        let mut steps = 0;
        let mut before = x[(0, 0)];
        while to.shorten(std::iter::once(0), &mut x) {
            steps += 1;
            assert!(x[(0, 0)] < before || steps > SHORTER, "{x:?}");
            before = x[(0, 0)];
        }
        assert_eq!((steps, x[(0, 0)]), (SHORTER + 1, 1.0));
        assert!(!to.settled()[0]);
    }

    /// Rounds of a linear map $x \to Mx + b$ with eigenvalues 0.9, 0.7, 0.2.
    fn rounds(mixes: bool) -> (usize, Mat<f64>) {
        let rates = [0.9, 0.7, 0.2];
        let centre = [3.0, -1.0, 0.5];
        let mut x = Mat::zeros(2, 3);
        let mut to = Extrapolation::new(2, 1e-10).mixing(mixes);
        for round in 1..1000 {
            let g = Mat::from_fn(2, 3, |n, j| {
                let c = centre[j] * (n + 1) as f64;
                c + rates[j] * (x[(n, j)] - c)
            });
            let image = Image {
                means: g.as_ref(),
                gradients: &g - &x,
                longer: None,
            };
            to.next(&mut x, &image);
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

    /// Steps that go all the way, by the sample that has them.
    #[test]
    fn longer_steps_are_taken_by_those_that_have_them() {
        let centre = [3.0, -1.0];
        let mut x = Mat::zeros(2, 2);
        let mut to = Extrapolation::new(2, 1e-10);
        for _ in 0..2 {
            let rest = Mat::from_fn(2, 2, |n, j| centre[j] - x[(n, j)]);
            let images = Mat::from_fn(2, 2, |n, j| x[(n, j)] + 0.1 * rest[(n, j)]);
            let image = Image {
                means: images.as_ref(),
                gradients: rest.clone(),
                longer: Some(Mat::from_fn(2, 2, |n, j| {
                    if n == 0 { rest[(n, j)] } else { f64::NAN }
                })),
            };
            to.next(&mut x, &image);
        }
        assert_eq!(to.settled(), [true, false]);
        assert!((0..2).all(|j| (x[(0, j)] - centre[j]).abs() < 1e-12));
    }

    /// Newton's steps of $-\sqrt{1 + x^2}$ from 3 run away: $x \to -x^3$. Shortened
    /// they arrive, and one of two samples does not wait for the other.
    #[test]
    fn a_step_that_goes_too_far_is_shortened() {
        let slope = |x: f64| -x / (1.0 + x * x).sqrt();
        let curvature = |x: f64| (1.0 + x * x).powf(-1.5);
        let alone = |starts: &[f64]| {
            let mut x = Mat::from_fn(starts.len(), 1, |n, _| starts[n]);
            let mut to = Extrapolation::new(starts.len(), 1e-10);
            for _ in 0..60 {
                let images = Mat::from_fn(starts.len(), 1, |n, _| x[(n, 0)] + slope(x[(n, 0)]));
                let newton = |n: usize, _| slope(x[(n, 0)]) / curvature(x[(n, 0)]);
                let image = Image {
                    longer: Some(Mat::from_fn(starts.len(), 1, newton)),
                    ..image(&x, &images, slope)
                };
                to.next(&mut x, &image);
            }
            assert!(to.settled().iter().all(|s| *s), "{x:?}");
            x
        };
        let (one, other) = (alone(&[3.0]), alone(&[-40.0]));
        let both = alone(&[3.0, -40.0]);
        assert_eq!([both[(0, 0)], both[(1, 0)]], [one[(0, 0)], other[(0, 0)]]);
        assert!(one[(0, 0)].abs() < 1e-9 && other[(0, 0)].abs() < 1e-9);
    }

    /// Where point and step add up to the image exactly, as where they do but for rounding.
    #[test]
    fn plain_steps_are_judged_whatever_their_last_digit() {
        // the slope vanishes at a centre, a step after each of these points
        for (start, centre) in [(0.0, 1.0), (0.1, 1.1), (0.7, 1.7), (1e-3, 1.001)] {
            let mut to = Extrapolation::new(1, 1e-10);
            let mut x = Mat::full(1, 1, start);
            for image_at in [centre + 1.5, centre + 1.2] {
                let images = Mat::full(1, 1, image_at);
                let image = image(&x.clone(), &images, |x| centre - x);
                to.next(&mut x, &image);
            }
            assert!((x[(0, 0)] - centre).abs() < 1e-12, "{start}: {x:?}");
        }
    }

    #[test]
    fn a_sample_that_is_not_finite_has_not_settled() {
        let mut to = Extrapolation::new(2, 1e-6);
        let mut x = Mat::zeros(2, 1);
        for _ in 0..2 {
            let images = Mat::from_fn(2, 1, |n, _| if n == 0 { f64::NAN } else { 0.0 });
            let image = image(&x.clone(), &images, |_| 0.0);
            to.next(&mut x, &image);
        }
        assert_eq!(to.settled(), [false, true]);
        assert!(to.moved().is_infinite());
    }
}
