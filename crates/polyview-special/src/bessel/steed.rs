//! Steed's evaluation of the second continued fraction, for large argument
//! (Temme 1975; Thompson and Barnett, Comput. Phys. Commun. 47 (1987) 245).

use super::ln_leading;

/// $\ln\\{e^x K\_\mu(x)\\}$ and $K\_{\mu+1}(x)/K\_\mu(x)$ for $|\mu| \le \frac12$, $x > 2$.
///
/// The fraction $z\_1/z\_0 = \cfrac{1}{b\_1 + \cfrac{a\_2}{b\_2 + \cdots}}$,
/// $b\_k = 2(x+k)$, $a\_{k} = \mu^2 - (k-\frac12)^2$, gives the ratio; its denominators weight the
/// normalising sum $S = 1 + \sum\_k C\_k z\_k/z\_0$, and $K\_\mu = \sqrt{\pi/2x}\\,e^{-x}/S$.
pub(super) fn evaluate(mu: f64, x: f64) -> (f64, f64) {
    let first = 0.25 - mu * mu;
    if first == 0.0 || x > 1e17 {
        // Closed form, and the limit: S - 1 and the fraction are of order 1/x.
        return (ln_leading(x), 1.0 + (mu + 0.5) / x);
    }
    let mut b = 2.0 * (1.0 + x);
    let mut d = 1.0 / b;
    let mut step = d;
    let mut fraction = d;
    let mut a = -first;
    let mut c = first;
    let (mut previous, mut current) = (0.0, 1.0);
    let mut weight = first;
    let mut sum = 1.0 + weight * step;
    let mut k = 2.0;
    // For x = 2 about forty terms, fewer above; the bound only guards the loop.
    while k < 500.0 {
        a -= 2.0 * (k - 1.0);
        c *= -a / k;
        let next = (previous - b * current) / a;
        (previous, current) = (current, next);
        weight += c * next;
        b += 2.0;
        d = 1.0 / (b + a * d);
        step *= b * d - 1.0;
        fraction += step;
        let term = weight * step;
        sum += term;
        if term.abs() < 1e-17 * sum {
            break;
        }
        k += 1.0;
    }
    let ratio = 1.0 + (mu + 0.5 - first * fraction) / x;
    (ln_leading(x) - sum.ln(), ratio)
}
