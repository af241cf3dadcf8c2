//! What is remarkable about views of ranks.

use polyview_core::{Event, Journal, View};
use polyview_likelihoods::{Margin, PairPolicy, RankOptions};

use super::{Fit, ViewInfo};
use crate::error::Result;

/// Features that are named in a note.
const NAMED: usize = 3;

/// Notes the features of a rank view that have no order: they are left out of the
/// model, which neither compares them nor pays for their weights.
pub(super) fn note_left_out(info: &ViewInfo, view: &View, journal: &mut Journal) {
    if !info.choices.likelihood.is_rank() {
        return;
    }
    let has_order = |d: usize| {
        let mut seen = (0..view.n_samples()).filter_map(|n| view.value(n, d));
        let first = seen.next();
        seen.any(|x| Some(x) != first)
    };
    let out: Vec<usize> = (0..view.n_features()).filter(|d| !has_order(*d)).collect();
    if out.is_empty() {
        return;
    }
    let names: Vec<String> = (out.iter().take(NAMED))
        .map(|&d| format!("'{}'", info.features[d]))
        .collect();
    let more = if out.len() > NAMED { ", ..." } else { "" };
    let note = format!(
        "{} of {} feature(s) have no two different values and are left out of the model ({}{more}): \
         a feature of one value is predicted as that value, one without any is not predicted",
        out.len(),
        info.features.len(),
        names.join(", ")
    );
    journal.note(0, format!("data/{}", info.name), Event::Data { note });
}

/// Share of the variance of the normal scores below which the loadings of a rank view
/// have collapsed.
const COLLAPSED: f64 = 0.005;

impl Fit {
    /// Warns of rank views whose loadings have shrunk to nothing: zero satisfies the
    /// comparisons no worse than small loadings do, so that where these weigh too little
    /// beside the priors the view has no factors left (spec/maxmargin-rank 2.2 and V6).
    pub(super) fn note_collapse(&mut self) -> Result<()> {
        if self.is_sampled() || !self.views.iter().any(|v| v.choices.likelihood.is_rank()) {
            return Ok(());
        }
        let activity = self.active(COLLAPSED)?;
        for m in 0..self.views.len() {
            let share: f64 = (0..self.k()).map(|k| activity.share[(m, k)]).sum();
            let likelihood = &self.views[m].choices.likelihood;
            if !likelihood.is_rank() || share >= COLLAPSED {
                continue;
            }
            let mend = match (likelihood.name(), likelihood.read_options()) {
                ("rank", Ok(options)) => mend(options),
                _ => "the features may have nothing in common".to_owned(),
            };
            let note = format!(
                "the loadings have collapsed: the factors explain {:.1} % of the view; {mend}",
                100.0 * share.max(0.0)
            );
            let block = format!("likelihood/{}", self.views[m].name);
            self.note_before_the_end(&block, Event::Warning { note });
        }
        Ok(())
    }
}

/// What may help, the most likely first.
fn mend(options: RankOptions) -> String {
    let mut out = Vec::new();
    let (Margin::PerCell(usual) | Margin::Fixed(usual)) = Margin::default();
    match options.margin {
        Margin::Fixed(margin) => out.push(format!(
            "take a larger margin (now {{ fixed = {margin} }}), or one in nats (margin = {{ per-cell = {usual:.1} }})"
        )),
        Margin::PerCell(nats) if nats < usual => out.push(format!(
            "take a larger margin (now {{ per-cell = {nats} }} nats; the default is {usual})"
        )),
        Margin::PerCell(_) => {}
    }
    match options.pairs {
        PairPolicy::Adjacent | PairPolicy::Extreme => {
            out.push("take random pairs (pairs = \"random\")".to_owned());
        }
        PairPolicy::Random | PairPolicy::All => {}
    }
    out.push("the features may have nothing in common".to_owned());
    out.join("; or ")
}
