//! Factors of a MOFA2 file.

use polyview_linalg::Mat;

use super::OWN;
use super::names::{IS_IT, Names};
use super::own::FACTORS;
use crate::error::Result;
use crate::file::{Needed, Reader};

/// Factors of all groups, samples × K.
pub(super) fn factors(file: &Reader, names: &Names) -> Result<Mat<f64>> {
    let mut out = Mat::zeros(names.n_samples(), names.factors);
    let mut first = 0;
    for (group, samples) in names.groups.iter().zip(&names.samples) {
        let place = format!("expectations/Z/{group}");
        let z = file
            .matrix(&place, Some([names.factors, samples.len()]))?
            .needed(file, &place, IS_IT)?;
        known(file, &place, &z, ("sample", samples))?;
        for i in 0..samples.len() {
            for k in 0..names.factors {
                out[(first + i, k)] = z[(k, i)];
            }
        }
        first += samples.len();
    }
    Ok(out)
}

/// Refuses a number of a factor, in rows, that is missing or infinite.
pub(super) fn known(
    file: &Reader,
    place: &str,
    values: &Mat<f64>,
    (what, names): (&str, &[String]),
) -> Result<()> {
    for (i, name) in names.iter().enumerate() {
        let column = values.col_as_slice(i);
        if let Some(k) = column.iter().position(|x| !x.is_finite()) {
            return Err(file.values(
                place,
                format!(
                    "has no finite number for {what} '{name}' in factor {}; the model did not come out right, or the file is \
                     damaged: fit it again, or copy it again",
                    k + 1
                ),
            ));
        }
    }
    Ok(())
}

/// Prior precisions of the factors, groups × K, which files of other programs have not.
pub(super) fn factor_precisions(file: &Reader, names: &Names) -> Result<Option<Mat<f64>>> {
    let all = format!("{OWN}/{FACTORS}");
    if file.group(&all)?.is_none() {
        return Ok(None);
    }
    let mut out = Mat::zeros(names.groups.len(), names.factors);
    for (g, group) in names.groups.iter().enumerate() {
        let place = format!("{all}/{group}");
        let own = file
            .vector(&place, Some(names.factors))?
            .needed(file, &place, IS_IT)?;
        if let Some(bad) = own.iter().find(|x| !(**x > 0.0 && x.is_finite())) {
            return Err(file.values(&place, format!("holds {bad}")));
        }
        for (k, x) in own.into_iter().enumerate() {
            out[(g, k)] = x;
        }
    }
    Ok(Some(out))
}
