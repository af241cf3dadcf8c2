//! What views with classifiers for each component of a mixture prior of the factors may be.

use polyview_core::{Finding, Setting};

use crate::error::{ErrorKind, Result};
use crate::spec::ModelSpec;

/// Checks the choices that have to do with components, for a number of samples, of several groups
/// or not, and views of these names.
///
/// # Errors
/// [`ErrorKind::TooManyComponents`], [`ErrorKind::Incompatible`].
pub(crate) fn validate<'a>(
    spec: &ModelSpec,
    (samples, grouped): (usize, bool),
    views: impl Iterator<Item = &'a str>,
) -> Result<()> {
    let refused = |view: &str, what: &str, with: &str| {
        Err(ErrorKind::Incompatible {
            view: view.to_owned(),
            what: what.to_owned(),
            with: with.to_owned(),
        }
        .into())
    };
    let mixture = spec.factor_prior.finding() == Some(Finding::Components);
    if mixture {
        let components = spec.components();
        if components > samples {
            return Err(ErrorKind::TooManyComponents {
                components,
                samples,
            }
            .into());
        }
    }
    for view in views {
        let choices = spec.view(view);
        if !choices.local {
            continue;
        }
        let what = "weights for each component (local)";
        if !mixture {
            return refused(view, what, "factors without a mixture prior");
        }
        if !choices.likelihood.can_be_local() {
            let with = format!("the likelihood {}", choices.likelihood);
            return refused(view, what, &with);
        }
        if let Some(with) = choices.selection.refuses(Setting::Components) {
            let with = format!(
                "{with}, which labels have beside a mixture of the factors (--mixture); take other weights there (--weights \
                 {view}=ard or {view}=horseshoe), or local = false in a study file, which gives all components one set"
            );
            return refused(view, &choices.selection.called(), &with);
        }
        if grouped && (spec.groups.noise || spec.groups.intercepts) {
            let with = "parameters by group of samples; leave the mixture (--mixture) or the groups (--groups) out, \
                        turn the parameters by group off in a study file ([model.groups] noise = false, \
                        intercepts = false), or take one set of weights for all components there (local = false)";
            return refused(
                view,
                "weights for each component, which labels have beside --mixture,",
                with,
            );
        }
    }
    Ok(())
}
