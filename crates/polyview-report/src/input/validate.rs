//! Checks that the parts of a report fit together, so that no picture looks for what is not there.
//! What the numbers mean is the matter of whoever gives them.

use polyview::{CheckedStatistic, ComparedMoments, Metadata, MetadataValues};

use super::{
    Coverage, Factors, Grid, GroupFactors, HeldOut, HeldOutCells, Report, VarianceExplained,
    ViewInclusion, ViewRelevance, ViewWeights,
};
use crate::ReportError;

impl Report {
    /// Checks every part and that the parts agree.
    pub(crate) fn validate(&self) -> Result<(), ReportError> {
        self.coverage.as_ref().map_or(Ok(()), Coverage::validate)?;
        if let Some(variance) = &self.variance {
            variance.validate()?;
        }
        if let Some(groups) = &self.groups {
            groups.validate()?;
        }
        if let Some(factors) = &self.factors {
            factors.validate()?;
            for column in &self.metadata {
                known_of(column, factors.samples.len())?;
            }
        }
        let names = self.factor_names().len();
        for weights in &self.weights {
            weights.validate()?;
            let what = "factors in the weights";
            same(what, &weights.view, names, weights.means.columns())?;
        }
        for inclusion in &self.inclusion {
            inclusion.validate(names)?;
        }
        for relevance in &self.relevance {
            relevance.validate()?;
        }
        if let (Some(variance), Some(factors)) = (&self.variance, &self.factors) {
            same("factors", "", factors.names.len(), variance.factors.len())?;
        }
        for held_out in &self.held_out {
            held_out.validate()?;
        }
        for check in &self.checks {
            for statistic in &check.statistics {
                checked(&check.view, statistic)?;
            }
        }
        for view in self.comparison.iter().flat_map(|c| &c.found.views) {
            compared(&view.view, &view.predictor)?;
        }
        Ok(())
    }

    /// Names of the factors from whichever part has them, else `Factor 1`, `Factor 2`, ...
    pub(crate) fn factor_names(&self) -> Vec<String> {
        if let Some(factors) = &self.factors {
            return factors.names.clone();
        }
        if let Some(variance) = &self.variance {
            return variance.factors.clone();
        }
        let count = self.weights.first().map_or(0, |w| w.means.columns());
        (1..=count).map(|k| format!("Factor {k}")).collect()
    }
}

impl Coverage {
    pub(crate) fn validate(&self) -> Result<(), ReportError> {
        let (views, observed) = (self.views.len(), &self.observed);
        same("views in the coverage", "", views, observed.columns())?;
        for (i, &v) in observed.values().iter().enumerate() {
            within("observed share", "", i, v, 1.0)?;
        }
        Ok(())
    }
}

impl GroupFactors {
    pub(crate) fn validate(&self) -> Result<(), ReportError> {
        let (groups, factors) = (self.groups.len(), self.factors.len());
        shape("activity by group", "", &self.activity, groups, factors)?;
        if !self.variance.is_empty() {
            let what = "groups with variance explained";
            same(what, "", groups, self.variance.len())?;
        }
        for variance in &self.variance {
            variance.validate()?;
            same("factors in a group", "", factors, variance.factors.len())?;
        }
        Ok(())
    }
}

impl VarianceExplained {
    pub(crate) fn validate(&self) -> Result<(), ReportError> {
        let (views, factors) = (self.views.len(), self.factors.len());
        let marginal = &self.marginal;
        shape("marginal variance explained", "", marginal, views, factors)?;
        same("joint variance explained", "", views, self.joint.len())?;
        self.unique.as_ref().map_or(Ok(()), |unique| {
            shape("unique variance explained", "", unique, views, factors)
        })
    }
}

impl Factors {
    pub(crate) fn validate(&self) -> Result<(), ReportError> {
        let (samples, factors) = (self.samples.len(), self.names.len());
        shape("factor means", "", &self.means, samples, factors)?;
        self.sds.as_ref().map_or(Ok(()), |sds| {
            shape("factor standard deviations", "", sds, samples, factors)
        })
    }

    pub(crate) fn check_factor(&self, index: usize) -> Result<(), ReportError> {
        check_factor(index, self.names.len())
    }
}

impl ViewWeights {
    pub(crate) fn validate(&self) -> Result<(), ReportError> {
        let (features, factors) = (self.means.rows(), self.means.columns());
        same("features", &self.view, features, self.features.len())?;
        self.sds.as_ref().map_or(Ok(()), |sds| {
            let what = "standard deviations of the weights";
            shape(what, &self.view, sds, features, factors)
        })
    }
}

impl ViewInclusion {
    pub(crate) fn validate(&self, factors: usize) -> Result<(), ReportError> {
        let (what, features) = ("inclusion probabilities", self.features.len());
        shape(what, &self.view, &self.probability, features, factors)
    }
}

impl ViewRelevance {
    pub(crate) fn validate(&self) -> Result<(), ReportError> {
        let features = self.features.len();
        same("relevances", &self.view, features, self.relevance.len())?;
        self.shape.map_or(Ok(()), |[rows, columns]| {
            let pixels = rows.saturating_mul(columns);
            same("pixels", &self.view, pixels, features)
        })
    }
}

impl HeldOut {
    pub(crate) fn validate(&self) -> Result<(), ReportError> {
        let view = &self.view;
        let cells = |what, of: usize, got: usize| same(what, view, of, got);
        match &self.cells {
            HeldOutCells::Numeric {
                truth,
                predicted,
                intervals,
                ..
            } => {
                cells("predictions", truth.len(), predicted.len())?;
                intervals.as_ref().map_or(Ok(()), |i| {
                    cells("lower interval ends", truth.len(), i.lower.len())?;
                    cells("upper interval ends", truth.len(), i.upper.len())
                })
            }
            HeldOutCells::Binary {
                truth,
                probability,
                labels,
                label,
            } => {
                cells("predictions", truth.len(), probability.len())?;
                if !labels.is_empty() || !label.is_empty() {
                    cells("labels of cells", truth.len(), label.len())?;
                }
                indexes("label index", view, label, labels.len())
            }
            HeldOutCells::Classes {
                names,
                truth,
                predicted,
                probability,
            } => {
                cells("predictions", truth.len(), predicted.len())?;
                if let Some(p) = probability {
                    let what = "probabilities of the classes";
                    shape(what, view, p, truth.len(), names.len())?;
                }
                indexes("class index", view, truth, names.len())?;
                indexes("class index", view, predicted, names.len())
            }
        }
    }
}

/// As many values as there are samples.
pub(crate) fn known_of(column: &Metadata, samples: usize) -> Result<(), ReportError> {
    let values = match &column.values {
        MetadataValues::Categories(v) => v.len(),
        MetadataValues::Numbers(v) => v.len(),
    };
    same(
        "values of the metadata column",
        &column.name,
        samples,
        values,
    )
}

/// A statistic has all its numbers for each feature.
pub(crate) fn checked(view: &str, s: &CheckedStatistic) -> Result<(), ReportError> {
    for (what, values) in [
        ("replicated statistics", &s.replicated),
        ("lower ends of the replicates", &s.lower),
        ("upper ends of the replicates", &s.upper),
        ("p-values", &s.p),
    ] {
        same(what, view, s.observed.len(), values.len())?;
    }
    Ok(())
}

/// Both fits have both moments of each cell.
pub(crate) fn compared(view: &str, moments: &ComparedMoments) -> Result<(), ReportError> {
    for (what, values) in [
        ("standard deviations", &moments.sd),
        ("means of the other fit", &moments.other_mean),
        ("standard deviations of the other fit", &moments.other_sd),
    ] {
        same(what, view, moments.mean.len(), values.len())?;
    }
    Ok(())
}

pub(crate) fn check_factor(index: usize, factors: usize) -> Result<(), ReportError> {
    if index < factors {
        Ok(())
    } else {
        Err(ReportError::NoSuchFactor { index, factors })
    }
}

pub(crate) fn shape(
    what: &'static str,
    of: &str,
    grid: &Grid,
    rows: usize,
    columns: usize,
) -> Result<(), ReportError> {
    same(what, of, rows, grid.rows())?;
    same(what, of, columns, grid.columns())
}

/// Places among `count` things.
fn indexes(
    what: &'static str,
    of: &str,
    places: &[usize],
    count: usize,
) -> Result<(), ReportError> {
    let last = count as f64 - 1.0;
    for (i, &place) in places.iter().enumerate() {
        within(what, of, i, place as f64, last)?;
    }
    Ok(())
}

/// A number from 0 to `most`.
fn within(
    what: &'static str,
    of: &str,
    position: usize,
    value: f64,
    most: f64,
) -> Result<(), ReportError> {
    if (0.0..=most).contains(&value) {
        return Ok(());
    }
    Err(ReportError::OutOfRange {
        what,
        of: of.to_owned(),
        position,
        value,
        most,
    })
}

fn same(what: &'static str, of: &str, expected: usize, got: usize) -> Result<(), ReportError> {
    if expected == got {
        return Ok(());
    }
    Err(ReportError::LengthMismatch {
        what,
        of: of.to_owned(),
        expected,
        got,
    })
}
