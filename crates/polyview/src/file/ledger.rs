//! Bounds by term and sweep, in a file.

use polyview_core::{Ledger, LedgerRow};

use super::container::{Container, Tensor, Values};
use super::fault::Fault;

/// Adds the arrays of a ledger.
pub(super) fn push_ledger(
    tensors: &mut Vec<Tensor<'_>>,
    place: &str,
    ledger: &Ledger,
) -> Result<(), Fault> {
    let terms = ledger.names.len();
    if ledger.rows.iter().any(|r| r.values.len() != terms) {
        return Err(Fault::Record("terms of a ledger"));
    }
    let mut values = Vec::with_capacity(terms * ledger.rows.len());
    for row in &ledger.rows {
        values.extend(row.values.iter().copied());
    }
    let column = |of: fn(&LedgerRow) -> f64| {
        Values::Vector(ledger.rows.iter().map(of).collect::<Vec<f64>>().into())
    };
    tensors.push(Tensor::new(
        format!("{place}/terms"),
        Values::Rows([ledger.rows.len(), terms], values),
    ));
    tensors.push(Tensor::new(format!("{place}/total"), column(|r| r.total)));
    tensors.push(Tensor::new(
        format!("{place}/sweep"),
        column(|r| r.sweep as f64),
    ));
    tensors.push(Tensor::new(
        format!("{place}/factors"),
        column(|r| r.factors as f64),
    ));
    Ok(())
}

/// A ledger of the named terms.
pub(super) fn take_ledger(
    names: &[String],
    place: &str,
    file: &mut Container<'_>,
) -> Result<Ledger, Fault> {
    let name = |of: &str| format!("{place}/{of}");
    let total = file.take(&name("total"))?.to_array(&name("total"))?.values;
    let rows = total.len();
    let terms = file
        .take(&name("terms"))?
        .matrix(&name("terms"), rows, names.len())?;
    let mut count = |of: &str| -> Result<Vec<usize>, Fault> {
        let name = name(of);
        let values = file.take(&name)?.numbers(&name, &[rows])?;
        let whole = |x: &f64| *x >= 0.0 && *x < 1e15 && x.fract() == 0.0;
        if values.iter().all(whole) {
            Ok(values.into_iter().map(|x| x as usize).collect())
        } else {
            Err(Fault::values(&name, "holds a value that is no count"))
        }
    };
    let (sweep, factors) = (count("sweep")?, count("factors")?);
    Ok(Ledger {
        names: names.to_vec(),
        rows: (0..rows)
            .map(|r| LedgerRow {
                sweep: sweep[r],
                factors: factors[r],
                values: (0..names.len()).map(|t| terms[(r, t)]).collect(),
                total: total[r],
            })
            .collect(),
    })
}
