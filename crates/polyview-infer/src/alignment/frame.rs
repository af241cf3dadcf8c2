//! Turning draws whose factors may be rotated.

use super::compare::{all_finite, cross};
use super::{AlignmentError, same};
use polyview_linalg::{Mat, MatRef, thin_svd};

/// Angles of a pair of factors that are looked at before the best one is made precise.
const ANGLES: usize = 32;
/// Steps that make an angle precise, each to 0.618 of its interval.
const STEPS: usize = 40;
/// Most sweeps over all pairs.
const SWEEPS: usize = 100;
/// A sweep that gains no more than this, relative to the number of features, is the last.
const TOLERANCE: f64 = 1e-10;

/// The rotation $R$ that brings `draw` closest to `reference` (both loadings $D \times K$, the views
/// stacked): the orthogonal matrix with the least $\\|W R - W\_0\\|^2$ (Schönemann 1966). With
/// $W^\top W\_0 = U S V^\top$ it is $U V^\top$.
///
/// This is for models whose likelihood **and** prior of the factors do not notice a rotation; for all
/// others order and signs are all that is free ([`super::align_to_reference`]).
///
/// ```
/// use polyview_infer::alignment::rotation_to_reference;
/// use polyview_linalg::faer::mat;
///
/// let reference = mat![[1.0, 0.0], [2.0, 0.5], [0.0, 3.0]];
/// let turn = mat![[0.6, 0.8], [-0.8, 0.6]];
/// let draw = &reference * &turn;
/// let back = rotation_to_reference(reference.as_ref(), draw.as_ref())?;
/// assert!((&draw * &back - &reference).norm_max() < 1e-12);
/// # Ok::<(), polyview_infer::alignment::AlignmentError>(())
/// ```
///
/// # Errors
/// [`AlignmentError::Shape`], [`AlignmentError::NotFinite`].
pub fn rotation_to_reference(
    reference: MatRef<'_, f64>,
    draw: MatRef<'_, f64>,
) -> Result<Mat<f64>, AlignmentError> {
    same("rows of the draw", reference.nrows(), draw.nrows())?;
    same("columns of the draw", reference.ncols(), draw.ncols())?;
    all_finite("reference", reference)?;
    all_finite("draw", draw)?;
    // the rotation is the same for any unit of either
    let products = cross(scaled(draw).as_ref(), scaled(reference).as_ref());
    let Ok(svd) = thin_svd(products.as_ref()) else {
        return Ok(identity(products.nrows()));
    };
    Ok(&svd.u * svd.v.transpose())
}

/// In units of the largest entry.
fn scaled(m: MatRef<'_, f64>) -> Mat<f64> {
    let largest = m.norm_max();
    let unit = if largest > 0.0 { largest } else { 1.0 };
    Mat::from_fn(m.nrows(), m.ncols(), |i, j| m[(i, j)] / unit)
}

fn identity(k: usize) -> Mat<f64> {
    Mat::from_fn(k, k, |i, j| if i == j { 1.0 } else { 0.0 })
}

/// The frame in which views and factors are told apart best: the rotation $R$ with the least
///
/// $$ \sum\_m D\_m \sum\_k \ln\left(\epsilon\_m + (R^\top S\_m R)\_{kk}\right), $$
///
/// with $S\_m = \langle W\_m^\top W\_m\rangle$ of the weights of view m, which has $D\_m$ features: each of
/// `views`. But for constants this is minus twice the log density of weights under a precision a view and
/// factor, the precisions integrated out (spec/sshiba G2; ARD), so it is the frame that such a prior
/// prefers. **With one view** it is that of the principal axes, where $S$ is diagonal (Hadamard's
/// inequality). With several, factors that act in some views alone come out as such.
///
/// Found by turning pairs of factors, in a fixed order, until nothing is gained: a local optimum near
/// the frame given.
///
/// # Errors
/// [`AlignmentError::Shape`] when matrices are not all K × K, [`AlignmentError::NotFinite`].
pub fn separating_rotation(views: &[(Mat<f64>, f64)]) -> Result<Mat<f64>, AlignmentError> {
    let k = views.first().map_or(0, |(s, _)| s.nrows());
    for (s, _) in views {
        same("rows of second moments", k, s.nrows())?;
        same("columns of second moments", k, s.ncols())?;
        all_finite("second moments", s.as_ref())?;
    }
    // in units of the mean square, so that a factor without weights is worth no more than that
    let mut moments: Vec<(Mat<f64>, f64)> = views
        .iter()
        .filter_map(|(s, count)| {
            let mean = (0..k).map(|j| s[(j, j)]).sum::<f64>() / k.max(1) as f64;
            (mean > 0.0 && *count > 0.0).then(|| {
                let unit = Mat::from_fn(k, k, |i, j| s[(i, j)] / mean);
                (unit, *count)
            })
        })
        .collect();
    let features: f64 = moments.iter().map(|(_, count)| count).sum();
    let mut rotation = identity(k);
    for _ in 0..SWEEPS {
        let mut gained = 0.0;
        for a in 0..k {
            for b in a + 1..k {
                let (angle, gain) = best_angle(&moments, a, b);
                if gain <= TOLERANCE * features {
                    continue;
                }
                gained += gain;
                let (sin, cos) = angle.sin_cos();
                turn_columns(&mut rotation, a, b, sin, cos);
                for (s, _) in &mut moments {
                    turn_columns(s, a, b, sin, cos);
                    turn_rows(s, a, b, sin, cos);
                }
            }
        }
        if gained <= TOLERANCE * features {
            break;
        }
    }
    Ok(rotation)
}

/// The part of an empty factor in the logarithm, in units of the mean square.
const LEAST: f64 = 1e-9;

/// The angle by which two factors are told apart best, and by how much the criterion falls.
fn best_angle(moments: &[(Mat<f64>, f64)], a: usize, b: usize) -> (f64, f64) {
    let value = |angle: f64| {
        let (sin, cos) = angle.sin_cos();
        let of = |(s, count): &(Mat<f64>, f64)| {
            let (aa, bb, ab) = (s[(a, a)], s[(b, b)], s[(a, b)]);
            let cross = 2.0 * sin * cos * ab;
            let first = (cos * cos * aa + cross + sin * sin * bb).max(0.0);
            let second = (sin * sin * aa - cross + cos * cos * bb).max(0.0);
            count * ((LEAST + first).ln() + (LEAST + second).ln())
        };
        moments.iter().map(of).sum::<f64>()
    };
    // a quarter turn swaps the two, which changes nothing
    let width = std::f64::consts::FRAC_PI_2 / ANGLES as f64;
    let mut best = (0.0, value(0.0));
    let start = best.1;
    for i in 1..ANGLES {
        let angle = width * i as f64;
        let here = value(angle);
        if here < best.1 {
            best = (angle, here);
        }
    }
    let golden = 0.5 * (5.0_f64.sqrt() - 1.0);
    let (mut low, mut high) = (best.0 - width, best.0 + width);
    let mut left = high - golden * (high - low);
    let mut right = low + golden * (high - low);
    let (mut at_left, mut at_right) = (value(left), value(right));
    for _ in 0..STEPS {
        if at_left <= at_right {
            (high, right, at_right) = (right, left, at_left);
            left = high - golden * (high - low);
            at_left = value(left);
        } else {
            (low, left, at_left) = (left, right, at_right);
            right = low + golden * (high - low);
            at_right = value(right);
        }
    }
    let middle = 0.5 * (low + high);
    let here = value(middle);
    if here < best.1 {
        best = (middle, here);
    }
    // the nearer of the two turns that differ by a swap
    let quarter = std::f64::consts::FRAC_PI_2;
    let angle = best.0 - quarter * (best.0 / quarter).round();
    (angle, start - best.1)
}

fn turn_columns(m: &mut Mat<f64>, a: usize, b: usize, sin: f64, cos: f64) {
    for i in 0..m.nrows() {
        let (x, y) = (m[(i, a)], m[(i, b)]);
        m[(i, a)] = cos * x + sin * y;
        m[(i, b)] = cos * y - sin * x;
    }
}

fn turn_rows(m: &mut Mat<f64>, a: usize, b: usize, sin: f64, cos: f64) {
    for j in 0..m.ncols() {
        let (x, y) = (m[(a, j)], m[(b, j)]);
        m[(a, j)] = cos * x + sin * y;
        m[(b, j)] = cos * y - sin * x;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rotation::test_noise::Noise;

    /// An orthogonal matrix of no structure.
    fn turn(noise: &mut Noise, k: usize) -> Mat<f64> {
        thin_svd(noise.matrix(k, k).as_ref()).unwrap().u
    }

    fn moment(w: &Mat<f64>) -> (Mat<f64>, f64) {
        (cross(w.as_ref(), w.as_ref()), w.nrows() as f64)
    }

    #[test]
    fn a_turned_draw_comes_back_and_one_with_noise_comes_nearer() {
        let mut noise = Noise::new(3);
        for k in [1, 2, 5] {
            let reference = noise.matrix(12, k);
            let draw = &reference * turn(&mut noise, k);
            let back = rotation_to_reference(reference.as_ref(), draw.as_ref()).unwrap();
            assert!((&draw * &back - &reference).norm_max() < 1e-12);
            assert!((back.transpose() * &back - identity(k)).norm_max() < 1e-12);
            let noisy = &draw + 0.3 * noise.matrix(12, k);
            let best = rotation_to_reference(reference.as_ref(), noisy.as_ref()).unwrap();
            let far = |r: &Mat<f64>| (&noisy * r - &reference).norm_l2();
            for _ in 0..20 {
                assert!(far(&best) <= far(&(&best * turn(&mut noise, k))) + 1e-12);
            }
        }
    }

    #[test]
    fn empty_draws_and_factors_are_turned_by_something_orthogonal() {
        let mut noise = Noise::new(4);
        let reference = noise.matrix(6, 3);
        let zero: Mat<f64> = Mat::zeros(6, 3);
        let mut empty = reference.clone();
        (0..6).for_each(|d| empty[(d, 1)] = 0.0);
        for draw in [&zero, &empty] {
            let r = rotation_to_reference(reference.as_ref(), draw.as_ref()).unwrap();
            assert!((r.transpose() * &r - identity(3)).norm_max() < 1e-12);
        }
        let far = [(zero.clone(), 1e-300), (reference.clone(), 1e300)];
        for (_, unit) in far {
            let draw = &reference * unit;
            let r = rotation_to_reference(reference.as_ref(), draw.as_ref()).unwrap();
            assert!((r - identity(3)).norm_max() < 1e-9);
        }
    }

    /// In one view the best frame is that of the principal axes.
    #[test]
    fn of_one_view_the_frame_is_that_of_principal_axes() {
        let mut noise = Noise::new(5);
        let sizes = [3.0, 2.0, 1.0, 0.5];
        let axes = turn(&mut noise, 30);
        let w = Mat::from_fn(30, 4, |d, k| axes[(d, k)] * sizes[k]);
        let turned = &w * turn(&mut noise, 4);
        let r = separating_rotation(&[moment(&turned)]).unwrap();
        let (found, _) = moment(&(&turned * &r));
        let mut diagonal: Vec<f64> = (0..4).map(|k| found[(k, k)]).collect();
        diagonal.sort_by(|a, b| b.total_cmp(a));
        for (x, size) in diagonal.iter().zip(sizes) {
            assert!((x - size * size).abs() < 1e-6, "{diagonal:?}");
        }
        for a in 0..4 {
            for b in 0..a {
                assert!(found[(a, b)].abs() < 1e-4, "{found:?}");
            }
        }
    }

    /// Factors of one view each, and one of both, are found again though none is a principal axis.
    #[test]
    fn of_several_views_factors_act_where_they_act() {
        let mut noise = Noise::new(6);
        let active = [[1.0, 1.0, 0.0], [1.0, 0.0, 1.0]];
        let views: Vec<Mat<f64>> = active
            .iter()
            .map(|of| Mat::from_fn(40, 3, |_, k| of[k] * noise.normal()))
            .collect();
        let hidden = turn(&mut noise, 3);
        let turned: Vec<Mat<f64>> = views.iter().map(|w| w * &hidden).collect();
        let moments: Vec<_> = turned.iter().map(moment).collect();
        let r = separating_rotation(&moments).unwrap();
        assert!((r.transpose() * &r - identity(3)).norm_max() < 1e-9);
        for (view, w) in turned.iter().enumerate() {
            let (found, _) = moment(&(w * &r));
            let empty = (0..3).filter(|&k| found[(k, k)] < 1e-3).count();
            assert_eq!(empty, 1, "view {view}: {found:?}");
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let (two, three): (Mat<f64>, Mat<f64>) = (Mat::zeros(4, 2), Mat::zeros(4, 3));
        assert!(rotation_to_reference(two.as_ref(), three.as_ref()).is_err());
        let mut broken = two.clone();
        broken[(1, 1)] = f64::NAN;
        assert!(rotation_to_reference(two.as_ref(), broken.as_ref()).is_err());
        assert!(separating_rotation(&[(three, 4.0)]).is_err());
        assert_eq!(separating_rotation(&[]).unwrap().nrows(), 0);
        assert_eq!(
            separating_rotation(&[(Mat::zeros(2, 2), 4.0)]).unwrap(),
            identity(2)
        );
    }
}
