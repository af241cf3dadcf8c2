//! Checks that the parts of a report fit together.

use super::{
    Check, CheckStatistic, ChooseK, ComparedView, Coverage, Factors, Grid, GroupFactors, HeldOut,
    HeldOutCells, Intervals, MetadataColumn, Report, VarianceExplained, ViewInclusion,
    ViewRelevance, ViewWeights,
};
use crate::ReportError;

impl Report {
    /// Checks every part and that the parts agree.
    ///
    /// # Errors
    /// [`ReportError::LengthMismatch`] and [`ReportError::OutOfRange`] name what does not fit;
    /// [`ReportError::NotTried`] when the recommended number of factors was not tried.
    pub fn validate(&self) -> Result<(), ReportError> {
        for view in &self.summary.views {
            if !view.missing.is_nan() {
                within("missing share", &view.name, 0, view.missing, 0.0, 1.0)?;
            }
        }
        if let Some(coverage) = &self.coverage {
            coverage.validate()?;
        }
        if let Some(variance) = &self.variance {
            variance.validate()?;
        }
        if let Some(groups) = &self.groups {
            groups.validate()?;
        }
        if let Some(factors) = &self.factors {
            factors.validate()?;
            for column in &self.metadata {
                column.validate(factors.samples.len())?;
            }
        }
        let names = self.factor_names();
        for weights in &self.weights {
            weights.validate()?;
            same(
                "factors in the weights",
                &weights.view,
                names.len(),
                weights.means.columns(),
            )?;
        }
        for inclusion in &self.inclusion {
            inclusion.validate(names.len())?;
        }
        for relevance in &self.relevance {
            relevance.validate()?;
        }
        if let (Some(variance), Some(factors)) = (&self.variance, &self.factors) {
            same("factors", "", factors.names.len(), variance.factors.len())?;
        }
        if let Some(correlations) = &self.correlations {
            shape(
                "factor correlations",
                "",
                correlations,
                names.len(),
                names.len(),
            )?;
        }
        for held_out in &self.held_out {
            held_out.validate()?;
        }
        for check in &self.checks {
            for statistic in &check.statistics {
                check.validate_one(statistic)?;
            }
        }
        for view in self.comparison.iter().flat_map(|c| &c.views) {
            view.validate()?;
        }
        if let Some(choose) = &self.choose_k {
            choose.validate()?;
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
        let count = self
            .weights
            .first()
            .map(|w| w.means.columns())
            .or(self.correlations.as_ref().map(Grid::columns))
            .unwrap_or(0);
        (1..=count).map(|k| format!("Factor {k}")).collect()
    }
}

impl Coverage {
    pub(crate) fn validate(&self) -> Result<(), ReportError> {
        same(
            "views in the coverage",
            "",
            self.views.len(),
            self.observed.columns(),
        )?;
        for (i, &v) in self.observed.values().iter().enumerate() {
            within("observed share", "", i, v, 0.0, 1.0)?;
        }
        Ok(())
    }
}

impl GroupFactors {
    pub(crate) fn validate(&self) -> Result<(), ReportError> {
        let (groups, factors) = (self.groups.len(), self.factors.len());
        shape("activity by group", "", &self.activity, groups, factors)?;
        if !self.variance.is_empty() {
            same(
                "groups with variance explained",
                "",
                groups,
                self.variance.len(),
            )?;
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
        shape(
            "marginal variance explained",
            "",
            &self.marginal,
            views,
            factors,
        )?;
        same("joint variance explained", "", views, self.joint.len())?;
        if let Some(unique) = &self.unique {
            shape("unique variance explained", "", unique, views, factors)?;
        }
        if let Some(activity) = &self.activity {
            shape("activity", "", activity, views, factors)?;
            for (i, &v) in activity
                .values()
                .iter()
                .enumerate()
                .filter(|(_, v)| !v.is_nan())
            {
                within("activity", "", i, v, 0.0, 1.0)?;
            }
        }
        Ok(())
    }
}

impl Factors {
    pub(crate) fn validate(&self) -> Result<(), ReportError> {
        shape(
            "factor means",
            "",
            &self.means,
            self.samples.len(),
            self.names.len(),
        )?;
        self.sds.as_ref().map_or(Ok(()), |sds| {
            let what = "factor standard deviations";
            shape(what, "", sds, self.samples.len(), self.names.len())?;
            spreads(what, "", sds.values())
        })
    }

    pub(crate) fn check_factor(&self, index: usize) -> Result<(), ReportError> {
        check_factor(index, self.names.len())
    }
}

impl MetadataColumn {
    pub(crate) fn validate(&self, samples: usize) -> Result<(), ReportError> {
        same(
            "values of the metadata column",
            &self.name,
            samples,
            self.values.len(),
        )
    }
}

impl ViewWeights {
    pub(crate) fn validate(&self) -> Result<(), ReportError> {
        same(
            "features",
            &self.view,
            self.means.rows(),
            self.features.len(),
        )?;
        self.sds.as_ref().map_or(Ok(()), |sds| {
            let what = "standard deviations of the weights";
            shape(
                what,
                &self.view,
                sds,
                self.means.rows(),
                self.means.columns(),
            )?;
            spreads(what, &self.view, sds.values())
        })
    }
}

impl ViewInclusion {
    pub(crate) fn validate(&self, factors: usize) -> Result<(), ReportError> {
        let what = "inclusion probabilities";
        let p = &self.probability;
        shape(what, &self.view, p, self.features.len(), factors)?;
        for (i, &p) in p.values().iter().enumerate().filter(|(_, p)| !p.is_nan()) {
            within(what, &self.view, i / factors.max(1), p, 0.0, 1.0)?;
        }
        Ok(())
    }
}

impl ViewRelevance {
    pub(crate) fn validate(&self) -> Result<(), ReportError> {
        same(
            "relevances",
            &self.view,
            self.features.len(),
            self.relevance.len(),
        )?;
        spreads("relevances", &self.view, &self.relevance)?;
        self.shape.map_or(Ok(()), |[rows, columns]| {
            let pixels = rows.saturating_mul(columns);
            same("pixels", &self.view, pixels, self.features.len())
        })
    }
}

impl Check {
    pub(crate) fn validate_one(&self, s: &CheckStatistic) -> Result<(), ReportError> {
        for (what, values) in [
            ("replicated statistics", &s.replicated),
            ("lower ends of the replicates", &s.lower),
            ("upper ends of the replicates", &s.upper),
            ("p-values", &s.p),
        ] {
            same(what, &self.view, s.observed.len(), values.len())?;
        }
        for (i, &p) in s.p.iter().enumerate().filter(|(_, p)| !p.is_nan()) {
            within("p-value", &self.view, i, p, 0.0, 1.0)?;
        }
        Ok(())
    }
}

impl ComparedView {
    pub(crate) fn validate(&self) -> Result<(), ReportError> {
        for (what, values) in [
            ("standard deviations", &self.sd),
            ("means of the other fit", &self.other_mean),
            ("standard deviations of the other fit", &self.other_sd),
        ] {
            same(what, &self.view, self.mean.len(), values.len())?;
        }
        Ok(())
    }
}

impl HeldOut {
    pub(crate) fn validate(&self) -> Result<(), ReportError> {
        match &self.cells {
            HeldOutCells::Numeric {
                truth,
                predicted,
                intervals,
                ..
            } => {
                same("predictions", &self.view, truth.len(), predicted.len())?;
                if let Some(Intervals {
                    level,
                    lower,
                    upper,
                }) = intervals
                {
                    within("level of the intervals", &self.view, 0, *level, 0.0, 1.0)?;
                    same("lower interval ends", &self.view, truth.len(), lower.len())?;
                    same("upper interval ends", &self.view, truth.len(), upper.len())?;
                }
                Ok(())
            }
            HeldOutCells::Binary {
                truth,
                probability,
                labels,
                label,
            } => {
                same("predictions", &self.view, truth.len(), probability.len())?;
                if !labels.is_empty() || !label.is_empty() {
                    same("labels of cells", &self.view, truth.len(), label.len())?;
                    let last = labels.len() as f64 - 1.0;
                    for (i, &l) in label.iter().enumerate() {
                        within("label index", &self.view, i, l as f64, 0.0, last)?;
                    }
                }
                for (i, &t) in truth.iter().enumerate() {
                    if t != 0.0 && t != 1.0 {
                        return Err(out_of_range("true value", &self.view, i, t, 0.0, 1.0));
                    }
                }
                for (i, &p) in probability.iter().enumerate().filter(|(_, p)| !p.is_nan()) {
                    within("predicted probability", &self.view, i, p, 0.0, 1.0)?;
                }
                Ok(())
            }
            HeldOutCells::Classes {
                names,
                truth,
                predicted,
                probability,
            } => {
                same("predictions", &self.view, truth.len(), predicted.len())?;
                if let Some(p) = probability {
                    let what = "probabilities of the classes";
                    shape(what, &self.view, p, truth.len(), names.len())?;
                    for (i, &p) in p.values().iter().enumerate().filter(|(_, p)| !p.is_nan()) {
                        let cell = i / names.len();
                        within("predicted probability", &self.view, cell, p, 0.0, 1.0)?;
                    }
                }
                let last = names.len() as f64 - 1.0;
                for (i, &c) in truth.iter().chain(predicted).enumerate() {
                    within(
                        "class index",
                        &self.view,
                        i % truth.len(),
                        c as f64,
                        0.0,
                        last,
                    )?;
                }
                Ok(())
            }
        }
    }
}

impl ChooseK {
    pub(crate) fn validate(&self) -> Result<(), ReportError> {
        let tried = self.factors.len();
        same("scores", "", tried, self.score.len())?;
        for (what, values) in [
            ("standard errors of the score", &self.score_error),
            ("bounds", &self.bound),
            ("stabilities", &self.stability),
        ] {
            if let Some(values) = values {
                same(what, "", tried, values.len())?;
            }
        }
        if let Some(errors) = &self.score_error {
            spreads("standard error of the score", "", errors)?;
        }
        match self.recommended {
            Some(k) if !self.factors.contains(&k) => Err(ReportError::NotTried { recommended: k }),
            _ => Ok(()),
        }
    }
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

/// Standard deviations and errors: not negative, `NaN` where not known.
fn spreads(what: &'static str, of: &str, values: &[f64]) -> Result<(), ReportError> {
    for (i, &v) in values.iter().enumerate().filter(|(_, v)| !v.is_nan()) {
        within(what, of, i, v, 0.0, f64::INFINITY)?;
    }
    Ok(())
}

fn within(
    what: &'static str,
    of: &str,
    position: usize,
    value: f64,
    lo: f64,
    hi: f64,
) -> Result<(), ReportError> {
    if value >= lo && value <= hi {
        Ok(())
    } else {
        Err(out_of_range(what, of, position, value, lo, hi))
    }
}

fn out_of_range(
    what: &'static str,
    of: &str,
    position: usize,
    value: f64,
    lo: f64,
    hi: f64,
) -> ReportError {
    ReportError::OutOfRange {
        what,
        of: of.to_owned(),
        position,
        value,
        lo,
        hi,
    }
}

fn same(what: &'static str, of: &str, expected: usize, got: usize) -> Result<(), ReportError> {
    if expected == got {
        Ok(())
    } else {
        Err(ReportError::LengthMismatch {
            what,
            of: of.to_owned(),
            expected,
            got,
        })
    }
}
