//! Whether names, counts and choices of a header fit together.

use std::collections::HashSet;

use super::{ColumnValues, ModelHeader, ViewHeader};
use crate::assemble::{check_shape, priors_go};
use crate::compose::Composed;
use crate::error::{Error, ErrorKind};
use crate::faithful;
use crate::file::fault::Fault;
use crate::local::validate as check_mixture;
use crate::spec::{EngineKind, ModelSpec};

impl ModelHeader {
    /// Whether names, counts and choices fit together. After this the number
    /// of factors is at most that of the features. Samples may be fewer: the estimates of another
    /// program can be of more than those that the model is of.
    pub(in crate::file) fn check(&self, composed: &Composed) -> Result<(), Fault> {
        let options = &composed.options;
        match composed.spec() {
            Some(spec) => spec.validate()?,
            None => options.validate()?,
        }
        unique("samples", self.samples.iter())?;
        unique("views", self.views.iter().map(|v| &v.name))?;
        for view in &self.views {
            view.check(composed)?;
        }
        let samples = self.samples.len();
        if let Some(spec) = composed.spec() {
            self.check_spec(spec)?;
        }
        let features: usize = self.views.iter().map(ViewHeader::columns).sum();
        if options.factors > features {
            return Err(Fault::Factors {
                factors: options.factors,
                features,
            });
        }
        if self.factors == 0 || self.factors > options.factors {
            return Err(Fault::Count {
                what: "factors",
                expected: options.factors,
                found: self.factors,
            });
        }
        let fits = match options.engine {
            EngineKind::Vb | EngineKind::Stochastic => self.components == 1,
            EngineKind::Gibbs => self.components >= 1,
        };
        if !fits {
            return Err(Fault::Count {
                what: "components",
                expected: 1,
                found: self.components,
            });
        }
        if let Some(groups) = &self.groups {
            unique("groups", groups.names.iter())?;
            Fault::unless_count("group numbers", samples, groups.of_sample.len())?;
            let count = groups.names.len();
            if let Some(&g) = groups.of_sample.iter().find(|g| **g as usize >= count) {
                return Err(Fault::Count {
                    what: "groups",
                    expected: g as usize + 1,
                    found: count,
                });
            }
        }
        for column in &self.metadata {
            if let ColumnValues::Categories(values) = &column.values {
                Fault::unless_count("metadata values", samples, values.len())?;
            }
        }
        Ok(())
    }

    /// Whether the choices of the specification fit the views.
    fn check_spec(&self, spec: &ModelSpec) -> Result<(), Fault> {
        for v in &spec.views {
            if !self.views.iter().any(|known| known.name == v.name) {
                return Err(Error::from(ErrorKind::UnknownView {
                    view: v.name.clone(),
                    known: self.views.iter().map(|v| v.name.clone()).collect(),
                })
                .into());
            }
        }
        let names: Vec<&str> = self.views.iter().map(|v| v.name.as_str()).collect();
        priors_go(spec, &names)?;
        let grouped = self.groups.as_ref().is_some_and(|g| g.names.len() > 1);
        check_mixture(spec, (self.samples.len(), grouped), names.into_iter())?;
        Ok(())
    }
}

impl ViewHeader {
    fn check(&self, composed: &Composed) -> Result<(), Fault> {
        unique("features", self.features.iter())?;
        let own = |spec: &ModelSpec| {
            let choices = self.choices.clone();
            choices.folded(&spec.defaults, |likelihood| {
                faithful::options(spec, likelihood)
            })
        };
        if (composed.spec()).is_some_and(|spec| spec.view(&self.name) != own(spec)) {
            return Err(Fault::Record("choices of a view and of the model"));
        }
        check_shape(&self.name, &self.choices, self.features.len())?;
        let categorical = self.choices.likelihood.has_classes();
        if categorical == self.levels.is_empty() || categorical && self.features.len() != 1 {
            return Err(Fault::Record("class names of a view"));
        }
        if categorical {
            unique("classes", self.levels.iter())?;
        }
        let places = |of: &[usize]| {
            of.windows(2).all(|p| p[0] < p[1]) && of.last().is_none_or(|&d| d < self.features.len())
        };
        if self.choices.kernel.is_some() != self.kernel.is_some() {
            return Err(Fault::Record("the kernel of a view"));
        }
        if !places(&self.constant) {
            return Err(Fault::Record("numbers of the constant features"));
        }
        // the one feature of a categorical view has its classes
        if !places(&self.unobserved) || categorical && !self.unobserved.is_empty() {
            return Err(Fault::Record("numbers of the features without a value"));
        }
        Ok(())
    }
}

/// At least one name, and none twice.
fn unique<'a>(
    what: &'static str,
    names: impl ExactSizeIterator<Item = &'a String>,
) -> Result<(), Fault> {
    if names.len() == 0 {
        return Err(Fault::Empty(what));
    }
    let mut seen = HashSet::with_capacity(names.len());
    for name in names {
        if !seen.insert(name) {
            return Err(Fault::Duplicate {
                what,
                name: name.clone(),
            });
        }
    }
    Ok(())
}
