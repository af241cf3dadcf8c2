//! From normal equations to moments, and to draws.

use polyview_core::{
    Context, Event, NormalEquations, NumericError, PrecisionView, RowCov, RowMoments, Rule,
};
use polyview_linalg::{
    LinalgError, Mat, MatRef, PackedRows, SpdFactor, SpdReport, SymPacked, packed_index,
    times_small,
};

use super::noise::normals;
use super::patterns::Shares;
use super::put_rows;

/// What all rows of a block have in common, factored once an update.
#[derive(Clone, Debug)]
pub(crate) enum Prepared {
    /// Not prepared yet.
    Nothing,
    /// One precision for all rows.
    Shared { factor: SpdFactor, cov: SymPacked },
    /// $g\_r A + t\_r C$: $V = A^{-1/2}U$, eigenvalues of
    /// $A^{-1/2}CA^{-1/2}$, and $\sum\ln\alpha$.
    Basis {
        vectors: Mat<f64>,
        values: Vec<f64>,
        log_prior: f64,
    },
    /// One precision for the rows that share pattern and group.
    Patterns {
        factors: Vec<SpdFactor>,
        covs: PackedRows,
        of_row: Vec<u32>,
    },
    /// Each row has its own.
    Own,
}

fn wrap(block: &str) -> impl Fn(LinalgError) -> NumericError + '_ {
    move |source| NumericError::Linalg {
        block: block.to_owned(),
        source,
    }
}

fn factor(
    block: &str,
    s: &SymPacked,
    row: usize,
    cx: &mut Context<'_>,
) -> Result<SpdFactor, NumericError> {
    let (factor, jitter) = SpdFactor::factor(s).map_err(wrap(block))?;
    if let Some(j) = jitter {
        cx.journal.note(
            cx.sweep,
            block,
            Event::Jitter {
                row,
                pivot: j.1,
                amount: j.2,
            },
        );
    }
    Ok(factor)
}

impl Prepared {
    pub(crate) fn new(
        block: &str,
        prior: PrecisionView<'_>,
        moments: &RowMoments,
        eq: &NormalEquations,
        cx: &mut Context<'_>,
    ) -> Result<Self, NumericError> {
        let rows = moments.explicit_rows();
        let (single, what) = match prior {
            PrecisionView::Groups { groups, .. } => {
                (groups.nrows() == 1, "the groups are not those of the rows")
            }
            PrecisionView::Cells(_) => (false, "rows and prior precisions differ in number"),
            PrecisionView::Columns(_) | PrecisionView::Outer { .. } => (true, ""),
        };
        let implicit = !single && moments.implicit_rows() > 0;
        if !what.is_empty() && (implicit || !prior.fits(rows, moments.k())) {
            return Err(NumericError::Mismatch {
                block: block.to_owned(),
                what,
            });
        }
        if eq.own || matches!(prior, PrecisionView::Cells(_)) {
            return Ok(Self::Own);
        }
        // one group is no group
        let one: Vec<f64>;
        let prior = match prior {
            PrecisionView::Groups { groups, .. } if groups.nrows() == 1 => {
                one = (0..groups.ncols()).map(|j| groups[(0, j)]).collect();
                PrecisionView::Columns(&one)
            }
            other => other,
        };
        match (prior, &eq.patterns, &eq.scale) {
            (PrecisionView::Columns(_), Some(_), None)
            | (PrecisionView::Groups { .. }, _, None) => {
                let shares = Shares::new(prior, eq.patterns.as_ref(), moments.explicit_rows());
                let mut factors = Vec::with_capacity(shares.kinds.len());
                let mut covs = PackedRows::zeros(shares.kinds.len(), eq.k());
                for (kind, of) in shares.kinds.iter().enumerate() {
                    let mut precision = of.data_precision(eq);
                    precision.add_diag(&of.prior_precision(prior, eq.k()));
                    let f = factor(block, &precision, kind, cx)?;
                    covs.row_mut(kind).copy_from_slice(f.inverse().as_slice());
                    factors.push(f);
                }
                Ok(Self::Patterns {
                    factors,
                    covs,
                    of_row: shares.of_row,
                })
            }
            (_, Some(_), _) | (PrecisionView::Cells(_) | PrecisionView::Groups { .. }, None, _) => {
                Ok(Self::Own)
            }
            (PrecisionView::Columns(alpha), None, None) => {
                let mut precision = eq.gram.clone();
                precision.add_diag(alpha);
                let f = factor(block, &precision, 0, cx)?;
                let cov = f.inverse();
                Ok(Self::Shared { factor: f, cov })
            }
            (
                PrecisionView::Columns(alpha) | PrecisionView::Outer { columns: alpha, .. },
                None,
                _,
            ) => {
                debug_assert_eq!(moments.implicit_rows(), 0);
                let root: Vec<f64> = alpha.iter().map(|a| a.sqrt()).collect();
                let scaled = Mat::from_fn(eq.k(), eq.k(), |i, j| {
                    eq.gram.get(i, j) / (root[i] * root[j])
                });
                let (values, u) =
                    polyview_linalg::sym_eigen(scaled.as_ref()).map_err(wrap(block))?;
                let vectors = Mat::from_fn(eq.k(), eq.k(), |i, j| u[(i, j)] / root[i]);
                Ok(Self::Basis {
                    vectors,
                    values: values.into_iter().map(|s| s.max(0.0)).collect(),
                    log_prior: alpha.iter().map(|a| a.ln()).sum(),
                })
            }
        }
    }
}

/// $\rho\_{rj} = 1/(g\_r + t\_r s\_j)$ for the rows of the current range.
fn basis_scales(values: &[f64], prior: PrecisionView<'_>, eq: &NormalEquations) -> Mat<f64> {
    let range = eq.rows();
    let own = match prior {
        PrecisionView::Outer { rows, .. } => rows[range.clone()].to_vec(),
        _ => vec![1.0; range.len()],
    };
    let scale = eq.scale.as_ref().map(|s| &s[range.clone()]);
    let mut out = Mat::zeros(range.len(), values.len());
    for (j, s) in values.iter().enumerate() {
        let column = out.col_as_slice_mut(j);
        match scale {
            None => {
                for (x, g) in column.iter_mut().zip(&own) {
                    *x = 1.0 / (g + s);
                }
            }
            Some(scale) => {
                for ((x, g), t) in column.iter_mut().zip(&own).zip(scale) {
                    *x = 1.0 / (g + t * s);
                }
            }
        }
    }
    out
}

/// $\sum\ln x$ of positive numbers, with one logarithm for several of them.
pub(super) fn sum_of_logs(values: &[f64]) -> f64 {
    const FAR: f64 = 1e150;
    let (mut sum, mut product) = (0.0, 1.0);
    for &x in values {
        let next = product * x;
        if next > 1.0 / FAR && next < FAR {
            product = next;
        } else {
            sum += f64::ln(product) + x.ln();
            product = 1.0;
        }
    }
    sum + f64::ln(product)
}

/// Own precision of each row of the current range, prior included.
fn own_precisions(prior: PrecisionView<'_>, eq: &mut NormalEquations) -> PackedRows {
    let k = eq.k();
    let rows = eq.rows();
    let mut own = eq
        .packed
        .take()
        .unwrap_or_else(|| PackedRows::zeros(rows.len(), k));
    for (i, r) in rows.enumerate() {
        let t = eq.scale.as_ref().map_or(1.0, |s| s[r]);
        let cell = own.row_mut(i);
        for (c, g) in cell.iter_mut().zip(eq.gram.as_slice()) {
            *c += t * g;
        }
        if let Some(p) = &eq.patterns {
            for (c, g) in cell.iter_mut().zip(p.grams.row(p.table.of_row[r] as usize)) {
                *c += g;
            }
        }
        for j in 0..k {
            cell[packed_index(j, j)] += prior.at(r, j);
        }
    }
    own
}

fn note(block: &str, start: usize, report: &SpdReport, cx: &mut Context<'_>) {
    for j in &report.jittered {
        cx.journal.note(
            cx.sweep,
            block,
            Event::Jitter {
                row: start + j.0,
                pivot: j.1,
                amount: j.2,
            },
        );
    }
}

pub(crate) fn update(
    block: &str,
    prepared: &Prepared,
    prior: PrecisionView<'_>,
    moments: &mut RowMoments,
    (eq, rule): (&mut NormalEquations, Rule),
    cx: &mut Context<'_>,
) -> Result<(), NumericError> {
    let (start, len, k) = (eq.rows().start, eq.rows().len(), eq.k());
    let (explicit, all_rows) = (moments.explicit_rows(), moments.rows() as f64);
    let (mean, cov, log_det) = moments.parts_mut();
    match prepared {
        Prepared::Nothing => {
            return Err(NumericError::NotFinite {
                block: block.to_owned(),
                what: "an unprepared update",
            });
        }
        Prepared::Shared {
            factor,
            cov: shared,
        } => {
            put_rows(
                mean,
                start,
                times_small(eq.rhs.as_ref(), shared.to_mat().as_ref()).as_ref(),
            );
            if start == 0 {
                *cov = RowCov::Shared(shared.clone());
                *log_det = -all_rows * factor.log_det();
            }
        }
        Prepared::Basis {
            vectors,
            values,
            log_prior,
        } => {
            let rho = basis_scales(values, prior, eq);
            put_rows(mean, start, in_basis(&eq.rhs, vectors, &rho).as_ref());
            if start == 0 {
                *cov = RowCov::Basis {
                    vectors: vectors.clone(),
                    scales: Mat::zeros(explicit, k),
                };
                *log_det = 0.0;
            }
            if let RowCov::Basis { scales, .. } = cov {
                put_rows(scales, start, rho.as_ref());
            }
            let logs: f64 = (0..k).map(|j| sum_of_logs(rho.col_as_slice(j))).sum();
            *log_det += logs - len as f64 * log_prior;
        }
        Prepared::Patterns {
            factors,
            covs,
            of_row,
        } => {
            by_pattern(of_row, start, eq.rhs.as_ref(), covs, mean);
            if start == 0 {
                *cov = RowCov::Patterns {
                    cov: covs.clone(),
                    of_row: of_row.clone(),
                };
                *log_det = of_row.iter().map(|&p| -factors[p as usize].log_det()).sum();
            }
        }
        Prepared::Own => {
            let mut own = own_precisions(prior, eq);
            let mut logs = vec![0.0; len];
            let report = polyview_linalg::solve_rows(&mut own, eq.rhs.as_mut(), &mut logs)
                .map_err(|source| NumericError::Linalg {
                    block: block.to_owned(),
                    source,
                })?;
            note(block, start, &report, cx);
            relax(mean, start, &mut eq.rhs, rule);
            put_rows(mean, start, eq.rhs.as_ref());
            if start == 0 {
                *log_det = 0.0;
            }
            *log_det -= logs.iter().sum::<f64>();
            if len == explicit {
                // the buffers change places: the old covariances serve as the
                // next equations' own parts
                *cov = RowCov::PerRow(own);
            } else {
                // not at the first rows alone: others may be draws; until it is their turn rows keep what they had
                match cov {
                    RowCov::PerRow(c) if c.rows() == explicit && c.k() == k => {}
                    RowCov::PerRow(c) => *c = PackedRows::zeros(explicit, k),
                    _ => *cov = RowCov::PerRow(cov.set_apart(explicit, k)),
                }
                if let RowCov::PerRow(c) = cov {
                    for i in 0..len {
                        c.row_mut(start + i).copy_from_slice(own.row(i));
                    }
                }
            }
        }
    }
    if mean.as_ref().subrows(start, len).is_all_finite() {
        Ok(())
    } else {
        Err(NumericError::NotFinite {
            block: block.to_owned(),
            what: "a mean",
        })
    }
}

/// Puts the means that are taken in place of the optimal ones in `optima`.
fn relax(mean: &Mat<f64>, start: usize, optima: &mut Mat<f64>, rule: Rule) {
    let rate = rule.rate();
    if rate == 1.0 {
        return;
    }
    for j in 0..optima.ncols() {
        for i in 0..optima.nrows() {
            let old = mean[(start + i, j)];
            optima[(i, j)] = old + rate * (optima[(i, j)] - old);
        }
    }
}

/// `((rhs·V) ∘ ρ)·Vᵀ`.
fn in_basis(rhs: &Mat<f64>, vectors: &Mat<f64>, rho: &Mat<f64>) -> Mat<f64> {
    let mut turned = times_small(rhs.as_ref(), vectors.as_ref());
    for j in 0..turned.ncols() {
        let scales = rho.col_as_slice(j);
        for (x, r) in turned.col_as_slice_mut(j).iter_mut().zip(scales) {
            *x *= r;
        }
    }
    times_small(turned.as_ref(), vectors.transpose().to_owned().as_ref())
}

/// Rows of one pattern are gathered, multiplied by their covariance together,
/// and put back.
fn by_pattern(
    of_row: &[u32],
    start: usize,
    rhs: MatRef<'_, f64>,
    covs: &PackedRows,
    mean: &mut Mat<f64>,
) {
    for p in 0..covs.rows() {
        let members: Vec<usize> = (0..rhs.nrows())
            .filter(|&i| of_row[start + i] as usize == p)
            .collect();
        if members.is_empty() {
            continue;
        }
        let own = Mat::from_fn(members.len(), rhs.ncols(), |i, j| rhs[(members[i], j)]);
        let solved = times_small(own.as_ref(), covs.sym(p).to_mat().as_ref());
        for (i, &r) in members.iter().enumerate() {
            for j in 0..rhs.ncols() {
                mean[(start + r, j)] = solved[(i, j)];
            }
        }
    }
}

pub(crate) fn draw(
    block: &str,
    prepared: &Prepared,
    prior: PrecisionView<'_>,
    moments: &mut RowMoments,
    eq: &mut NormalEquations,
    cx: &mut Context<'_>,
) -> Result<(), NumericError> {
    let (start, len, k) = (eq.rows().start, eq.rows().len(), eq.k());
    let eps = normals(eq.rows(), k, cx.key);
    let (mean, cov, log_det) = moments.parts_mut();
    *cov = RowCov::Zero;
    *log_det = 0.0;
    match prepared {
        Prepared::Nothing => {
            return Err(NumericError::NotFinite {
                block: block.to_owned(),
                what: "an unprepared draw",
            });
        }
        Prepared::Shared { factor, cov } => {
            let mut rows = times_small(eq.rhs.as_ref(), cov.to_mat().as_ref());
            rows += factor.draw(eps.as_ref());
            put_rows(mean, start, rows.as_ref());
        }
        Prepared::Basis {
            vectors, values, ..
        } => {
            let rho = basis_scales(values, prior, eq);
            let mut rows = in_basis(&eq.rhs, vectors, &rho);
            let scaled = Mat::from_fn(len, k, |i, j| eps[(i, j)] * rho[(i, j)].sqrt());
            rows += times_small(scaled.as_ref(), vectors.transpose().to_owned().as_ref());
            put_rows(mean, start, rows.as_ref());
        }
        Prepared::Patterns {
            factors,
            covs,
            of_row,
        } => {
            by_pattern(of_row, start, eq.rhs.as_ref(), covs, mean);
            for i in 0..len {
                let f = &factors[of_row[start + i] as usize];
                let add = f.draw(eps.as_ref().subrows(i, 1));
                for j in 0..k {
                    mean[(start + i, j)] += add[(0, j)];
                }
            }
        }
        Prepared::Own => {
            let mut own = own_precisions(prior, eq);
            let mut logs = vec![0.0; len];
            let report = polyview_linalg::factor_rows(&mut own, eq.rhs.as_mut(), &mut logs)
                .map_err(|source| NumericError::Linalg {
                    block: block.to_owned(),
                    source,
                })?;
            note(block, start, &report, cx);
            polyview_linalg::draw_rows(&own, eq.rhs.as_mut(), eps.as_ref()).map_err(|source| {
                NumericError::Linalg {
                    block: block.to_owned(),
                    source,
                }
            })?;
            put_rows(mean, start, eq.rhs.as_ref());
        }
    }
    if mean.as_ref().subrows(start, len).is_all_finite() {
        Ok(())
    } else {
        Err(NumericError::NotFinite {
            block: block.to_owned(),
            what: "a draw",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::sum_of_logs;

    #[test]
    fn logarithms_of_products_are_sums() {
        let cases = [
            vec![],
            vec![2.5],
            (1..400).map(|i| 10_f64.powi(i % 37 - 18)).collect(),
            vec![1e-300; 9],
            vec![1e300, 1e-300, 1e300, 5e-324, 3.0],
        ];
        for values in cases {
            let plain: f64 = values.iter().map(|x: &f64| x.ln()).sum();
            let found = sum_of_logs(&values);
            assert!(
                (found - plain).abs() < 1e-12 * (1.0 + plain.abs()),
                "{found} {plain}"
            );
        }
        assert!(sum_of_logs(&[1.0, f64::NAN, 2.0]).is_nan());
    }
}
