//! Where the values of the training data lay, in a model file.
//!
//! Vectors of one number per feature; means by group one group after the other. Earlier files
//! have means and standard deviations of all samples alone, or nothing.

use super::container::{Container, Tensor, Values};
use super::fault::Fault;
use super::header::ViewHeader;
use crate::fit::{Compared, GroupScales, TrainingScale};

const MEAN: &str = "training-mean";
const SD: &str = "training-sd";
const LEAST: &str = "training-least";
const MEAN_BY_GROUP: &str = "training-mean-by-group";
const SD_WITHIN: &str = "training-sd-within-groups";

/// Adds the arrays of a view.
pub(super) fn push_training<'a>(
    tensors: &mut Vec<Tensor<'a>>,
    view: &str,
    training: &'a TrainingScale,
) {
    let mut push = |kind: &str, values: Values<'a>| {
        tensors.push(Tensor::new(format!("{kind}/{view}"), values));
    };
    push(MEAN, Values::Vector((&training.mean[..]).into()));
    push(SD, Values::Vector((&training.sd[..]).into()));
    if let Some(least) = &training.least {
        push(LEAST, Values::Vector((&least[..]).into()));
    }
    if let Some(groups) = &training.groups {
        let means = Values::Vector(groups.means.concat().into());
        push(MEAN_BY_GROUP, means);
        push(SD_WITHIN, Values::Vector((&groups.sd[..]).into()));
    }
}

/// That of a view of a model of so many groups, where the file says it.
pub(super) fn take_training(
    view: &ViewHeader,
    groups: usize,
    file: &mut Container<'_>,
) -> Result<Option<TrainingScale>, Fault> {
    let features = view.features.len();
    // earlier files have none
    let has_any = file.has(&format!("{MEAN}/{}", view.name));
    let mut vector = |kind: &str, there: bool, len: usize| -> Result<Option<Vec<f64>>, Fault> {
        if !there {
            return Ok(None);
        }
        let name = format!("{kind}/{}", view.name);
        let values = file.take(&name)?.numbers(&name, &[len])?;
        // the values of labels have no scale
        let kept = Compared::of(&view.choices.likelihood).is_some();
        let is_spread = [SD, SD_WITHIN].contains(&kind);
        if !kept || (is_spread && values.iter().any(|x| *x < 0.0)) {
            return Err(Fault::values(&name, "holds what cannot be"));
        }
        if !values.iter().all(|x| x.is_finite()) {
            return Err(Fault::values(&name, "holds a value that is not finite"));
        }
        Ok(Some(values))
    };
    let all = (
        vector(MEAN, has_any, features)?,
        vector(SD, has_any, features)?,
    );
    let least = vector(LEAST, view.training_least, features)?;
    let (has_groups, all_groups) = (view.training_groups, groups * features);
    let by_group = vector(MEAN_BY_GROUP, has_groups, all_groups)?;
    let groups =
        (by_group.zip(vector(SD_WITHIN, has_groups, features)?)).map(|(means, sd)| GroupScales {
            means: means.chunks(features.max(1)).map(<[f64]>::to_vec).collect(),
            sd,
        });
    Ok(match all {
        (Some(mean), Some(sd)) => Some(TrainingScale {
            mean,
            sd,
            least,
            groups,
        }),
        _ => None,
    })
}
