//! Standard normal on a half line $\[\alpha,\infty)$, $\alpha \ge 1$.
//!
//! Rational approximations of $E\[x\]-\alpha$ and $\operatorname{Var}\[x\]$ themselves, because the
//! formulas $1/M(\alpha)-\alpha$ and $1-E\[x\](E\[x\]-\alpha)$ lose $\alpha^2\epsilon$ and
//! $\alpha^4\epsilon$. All coefficients are positive, so nothing cancels in the evaluation either.
//! Recomputed by tests/tables/fit_constants.py.

use crate::erf::polynomial;

/// $E\[x\]-\alpha$ and $\operatorname{Var}\[x\]$.
pub(super) fn half_line(alpha: f64) -> (f64, f64) {
    let ratio = |above: &[f64], below: &[f64], x: f64| polynomial(above, x) / polynomial(below, x);
    if alpha < 5.0 {
        let offset = ratio(&NEAR_OFFSET_NUM, &NEAR_OFFSET_DEN, alpha);
        (offset, ratio(&NEAR_VARIANCE_NUM, &NEAR_VARIANCE_DEN, alpha))
    } else {
        let t = 1.0 / (alpha * alpha);
        let offset = ratio(&FAR_OFFSET_NUM, &FAR_OFFSET_DEN, t) / alpha;
        (offset, ratio(&FAR_VARIANCE_NUM, &FAR_VARIANCE_DEN, t) * t)
    }
}

// alpha in [1, 5]. Offset: relative error 1.0e-19
const NEAR_OFFSET_NUM: [f64; 8] = [
    0.7978845607711017,
    0.7613462246183119,
    0.38110833678856665,
    0.12106434859695799,
    0.02589942192170869,
    0.003701607885364397,
    0.0003278349699303643,
    1.405378192822244e-05,
];
const NEAR_OFFSET_DEN: [f64; 9] = [
    1.0,
    1.4096355628458934,
    0.9830184230457311,
    0.4308171825287034,
    0.12839353355130909,
    0.026554432358427697,
    0.0037297459493638996,
    0.0003278340619743268,
    1.405379500345655e-05,
];
// Variance: relative error 2.0e-18
const NEAR_VARIANCE_NUM: [f64; 7] = [
    0.36338022759384725,
    0.2603187145933347,
    0.10221672538301284,
    0.025479402668671908,
    0.00419234083677296,
    0.0004335171128872142,
    2.2711895168447472e-05,
];
const NEAR_VARIANCE_DEN: [f64; 9] = [
    1.0,
    1.3163410995682328,
    0.9131252640331969,
    0.4080432261156496,
    0.12697033251710846,
    0.02808610077201739,
    0.004328341082782922,
    0.000433525504594696,
    2.2711770230585417e-05,
];
// t = 1/alpha^2 in [0, 1/25]. Offset times alpha: relative error 2.16e-18
const FAR_OFFSET_NUM: [f64; 7] = [
    1.0,
    66.35033387960921,
    1538.6073468139969,
    15247.169767980882,
    62856.37401892027,
    86229.60760623458,
    17126.16338326634,
];
const FAR_OFFSET_DEN: [f64; 7] = [
    1.0,
    68.35033387960918,
    1665.3080145732679,
    17968.282458290338,
    86491.78351359602,
    162669.80324218018,
    78959.49892361368,
];
// Variance times alpha^2: relative error 1.54e-17
const FAR_VARIANCE_NUM: [f64; 7] = [
    1.0,
    75.49230929741448,
    1997.6082884732145,
    22509.844096058147,
    103377.24939327895,
    144975.25279077337,
    7689.797463238876,
];
const FAR_VARIANCE_DEN: [f64; 7] = [
    1.0,
    81.49230929741428,
    2436.5621442581096,
    33572.60149640268,
    218843.7675175095,
    613526.8031900673,
    536573.042114899,
];
