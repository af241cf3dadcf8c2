//! Views that are predicted by a mixture of two laws, with the shares that held out samples say.

mod anew;
mod shares;

use polyview_core::{Event, View};
use polyview_linalg::Mat;

use self::anew::Anew;
pub(crate) use self::shares::WAYS;
use self::shares::found_of;
use super::held_out::Folds;
use super::regressed::{Parameters, Regressed, Scores, place as regression};
use super::settle::Watch;
use crate::assemble::never_settled;
use crate::error::Result;
use crate::faithful;
use crate::fit::Fit;
use crate::spec::Settle;

/// Folds, whose joint fits are what finding shares costs.
const FOLDS: usize = 3;
/// So many samples tell ways apart: where one fold holds out as many, its joint fit is the only one. Two ways whose densities of
/// a sample differ with a standard deviation of one nat are known to .03 nats then, and shares are flatter than that.
const ENOUGH: usize = 1000;

/// Most columns of numbers that are a target rather than features.
const FEW: usize = 20;

/// Mean log density of labels that are known all but surely, and by how much the joint fit says less where that is remarkable, nats.
const SURE: f64 = -0.05;
const LESS: f64 = 0.2;

/// Where the state has the shares of a view.
pub(crate) fn place(target: &str) -> String {
    format!("mixture/{target}")
}

/// A way to predict a view.
pub(super) enum Way {
    /// By the joint fit.
    Joint,
    /// By what it was settled on, if it was.
    Settled,
    /// By these linear predictors, and parameters beside them.
    Regressed(Scores, Parameters),
}

/// A way and its share of each sample.
pub(super) type Told = (Way, Vec<f64>);

/// That samples lack some of these views.
fn lack(views: &[&str]) -> String {
    let which = match views {
        [one] => format!("the view '{one}'"),
        all => format!("one of the views '{}'", all.join("', '")),
    };
    format!("lack {which}, which the regression beside the joint fit was made on")
}

/// Folds, where the scarcest of the views that are mixed has so many samples.
fn folds_of(samples: usize) -> Folds {
    let taken = if samples / FOLDS >= ENOUGH { 1 } else { FOLDS };
    Folds { all: FOLDS, taken }
}

impl Fit {
    /// Finds how views are mixed that are to be ([`Settle::is_mixture`]); false where `watch` ended it. Where it cannot be told
    /// they are predicted by the joint fit, and the journal says so.
    pub(super) fn mix_ways(&mut self, watch: Watch<'_>) -> Result<bool> {
        let has = |v: &usize, of: fn(Settle) -> bool| self.views[*v].choices.settle.is_some_and(of);
        // what is settled in other ways is a target as well, of which new samples know nothing
        let targets: Vec<usize> = (0..self.views.len())
            .filter(|v| has(v, Settle::settles))
            .collect();
        let mixed: Vec<usize> = (targets.iter().copied())
            .filter(|v| has(v, Settle::is_mixture))
            .collect();
        let mut open = Vec::new();
        for &v in &mixed {
            match self.never_regressed(v, &targets)? {
                Some(why) => {
                    let instead = self.by_features_instead(v);
                    let note = format!("no regression stands beside it: {why}{instead}");
                    self.not_mixed(v, &note);
                }
                None => open.push(v),
            }
        }
        if open.is_empty() {
            return Ok(true);
        }
        if self.knows_factors_by_pairs(&targets) {
            for &v in &open {
                let note =
                    "settled on factors and not mixed: factors of rank views have no law of data";
                let event = Event::Warning { note: note.into() };
                self.chosen(v, Settle::Factors, event);
            }
            return Ok(true);
        }
        let data = self.data()?;
        let count = |v: &usize| {
            let view = &data[*v];
            let cells = |n: &usize| view.mask().count_sample(*n, view.n_features()) > 0;
            (0..view.n_samples()).filter(cells).count()
        };
        let folds = folds_of(open.iter().map(count).min().unwrap_or(0));
        let held = match self.ways_held_out((&open, &targets), (&[Settle::Not], folds), watch)? {
            Ok(None) => return Ok(false),
            Ok(Some(held)) => held,
            Err(why) => {
                for &v in &open {
                    self.not_mixed(v, &format!("ways could not be mixed: {why}"));
                }
                return Ok(true);
            }
        };
        for (v, own) in targets.iter().zip(&held.densities) {
            if let Some(Some(joint)) = own.first()
                && open.contains(v)
            {
                self.mix(*v, &targets, (&held.fold_of, joint), folds)?;
            }
        }
        Ok(true)
    }

    /// Which views are no sources of the regression of a target, being targets as well; nothing where it is the only one.
    fn no_sources(&self, v: usize, targets: &[usize]) -> Option<String> {
        let others = targets.iter().filter(|u| **u != v);
        let others: Vec<&str> = others.map(|u| self.views[*u].name.as_str()).collect();
        match others.as_slice() {
            [] => None,
            [one] => Some(format!(
                "; '{one}', a target as well, is no source of the regression but of samples that come with it"
            )),
            all => Some(format!(
                "; '{}', targets as well, are no sources of the regression but of samples that come with them",
                all.join("', '")
            )),
        }
    }

    /// What goes by features where no regression stands beside a view, in words that follow others: of counts.
    fn by_features_instead(&self, v: usize) -> String {
        let (name, domain) = (&self.views[v].name, self.domain(v));
        if domain.is_count() && !domain.has_trials() {
            format!("; settle = \"features\" (--settle {name}=features) goes by features as well")
        } else {
            String::new()
        }
    }

    /// Says why a view is predicted by the joint fit.
    fn not_mixed(&mut self, v: usize, why: &str) {
        let note = format!("predicted by the joint fit alone: {why}");
        self.chosen(v, Settle::Not, Event::Data { note });
    }

    /// Finds the shares of one view, of which the joint fits of these folds say `joint`.
    fn mix(
        &mut self,
        v: usize,
        targets: &[usize],
        (fold_of, joint): (&[usize], &Mat<f64>),
        folds: Folds,
    ) -> Result<()> {
        let rows = self.samples.len();
        let views = self.data_without(targets)?;
        let (regressed, held) = self.regress((targets, &views), v, fold_of)?;
        let usable = regressed.serves(self, &views, rows);
        let means = self.ln_densities_by_means(v, fold_of)?;
        let Some(found) = found_of([joint, &held], &means, &usable, folds) else {
            self.not_mixed(v, "no sample has all of the other views");
            return Ok(());
        };
        let (name, mut note) = (self.views[v].name.clone(), found.said);
        if found.shares[1] > 0.0 {
            let mut state = std::mem::take(&mut self.settled);
            regressed.save(self, &name, &mut state);
            self.settled = state;
            note.extend(regressed.says_of_similar());
        }
        note.extend(self.no_sources(v, targets));
        self.settled.put_vec(&place(&name), &found.shares);
        let own = self.views[v].choices.settle.unwrap_or(Settle::Mixture);
        self.chosen(v, own, Event::Data { note });
        if let Some(note) = found.no_better {
            self.note_of_weights(v, Event::Warning { note });
        }
        if let Some(note) = self.knows_samples_again(v, &regressed, [joint, &held]) {
            self.note_of_weights(v, Event::Warning { note });
        }
        Ok(())
    }

    /// What is to be said of labels that samples are all but sure of by their similarity to samples of other folds, and far from sure
    /// of by the joint fit: several samples may be of one subject.
    fn knows_samples_again(
        &self,
        v: usize,
        regressed: &Regressed,
        [joint, held]: [&Mat<f64>; 2],
    ) -> Option<String> {
        let (options, info) = (self.run_options(), &self.views[v]);
        let open = options.keep_together.is_none() && self.domain(v).is_label();
        regressed.says_of_similar().filter(|_| open)?;
        let (mut sums, mut cells) = ([0.0; 2], 0.0);
        for d in 0..held.ncols() {
            for n in 0..held.nrows() {
                let own = [joint[(n, d)], held[(n, d)]];
                if own.iter().all(|x| x.is_finite()) {
                    cells += 1.0;
                    sums[0] += own[0];
                    sums[1] += own[1];
                }
            }
        }
        let [joint, held] = sums.map(|sum| sum / cells);
        (held > SURE && joint < held - LESS).then(|| {
            format!(
                "view '{0}': samples that were held out are known all but surely by their similarity to others ({held:.3} nats a \
                 cell, {joint:.3} by the joint fit); where several samples are of one subject, new subjects are predicted far too \
                 surely: keep these together in the folds (keep_together, --keep-together COLUMN), or leave similarities out \
                 (--settle {0}=linear-mixture)",
                info.name
            )
        })
    }

    /// The shares of a view that is mixed, in the order of [`WAYS`].
    pub(crate) fn shares_of(&self, at: usize) -> Result<Option<[f64; 2]>> {
        let (name, reader) = (place(&self.views[at].name), self.settled.reader());
        if !reader.has(&name) {
            return Ok(None);
        }
        let found = reader.vec(&name)?;
        let of = |w: usize| found.get(w).copied().unwrap_or(0.0);
        Ok(Some([of(0), of(1)]))
    }

    /// What is to be said of a few numbers that are predicted by the joint fit alone, where nobody has said how.
    fn goes_unmixed(&self, at: usize) -> Result<Option<String>> {
        let info = &self.views[at];
        let open = info.choices.settle.is_none() && self.domain(at).is_real();
        if !open || info.columns().len() > FEW || self.is_sampled() || self.data.is_none() {
            return Ok(None);
        }
        let mofapy2 = self.spec().and_then(faithful::refuses);
        let settles = never_settled(&info.choices, mofapy2).is_none();
        if !settles || self.never_regressed(at, &[at])?.is_some() {
            return Ok(None);
        }
        let name = &info.name;
        Ok(Some(format!(
            "view '{name}': predicted by the joint fit alone; a fit with settle = \"mixture\" (--settle {name}=mixture) predicts it \
             by a regression on features as well, which sees what bends and what is private to it"
        )))
    }

    /// How view `at` is predicted from other views, with the shares of each sample; a note says where
    /// samples lack a view that the regression of a mixture needs.
    pub(super) fn ways_of(
        &self,
        at: usize,
        views: &[Option<View>],
        samples: usize,
        notes: &mut Vec<String>,
    ) -> Result<Vec<Told>> {
        let Some([joint, regression]) = self.shares_of(at)? else {
            notes.extend(self.goes_unmixed(at)?);
            return Ok(vec![(Way::Settled, vec![1.0; samples])]);
        };
        let regressed: Option<Regressed> = self.regressed(at)?;
        let Some(regressed) = regressed.filter(|_| regression > 0.0) else {
            return Ok(vec![(Way::Joint, vec![1.0; samples])]);
        };
        let anew = self.regressed_anew(at, &regressed, (views, samples))?;
        let mut usual = vec![true; samples];
        for &n in anew.iter().flat_map(|own| &own.samples) {
            usual[n] = false;
        }
        notes.extend(self.says_of_anew(at, (&regressed, &anew), samples));
        // without views that nothing fills in, and without any, there is the joint fit
        let served = regressed.serves(self, views, samples);
        let rows: Vec<usize> = (0..samples).filter(|n| usual[*n]).collect();
        for filled in [true, false] {
            let (lacking, count) = regressed.lacking((self, filled), views, &rows);
            let names = lacking.into_iter().map(|v| self.views[v].name.as_str());
            let names: Vec<&str> = names.collect();
            if names.is_empty() {
                continue;
            }
            let so = if filled {
                "it takes what they lack to be what their factors say"
            } else {
                "they are predicted by the joint fit alone"
            };
            notes.push(format!(
                "view '{}': {count} of {samples} sample(s) {}; {so}",
                self.views[at].name,
                lack(&names)
            ));
        }
        // of each regression the shares that it has of samples, beside the others
        let mut own: Vec<f64> = served.iter().map(|s| f64::from(u8::from(*s))).collect();
        let mut others = Vec::with_capacity(anew.len());
        for Anew {
            regressed,
            samples: of,
            share,
            ..
        } in anew
        {
            let mut shares = vec![0.0; samples];
            for n in of {
                shares[n] = if served[n] { share } else { 1.0 };
                own[n] = 1.0 - shares[n];
            }
            others.push((regressed, shares));
        }
        let mut ways: Vec<Told> = vec![(Way::Joint, vec![1.0; samples])];
        for (regressed, mut shares) in std::iter::once((regressed, own)).chain(others) {
            if shares.iter().all(|s| *s == 0.0) {
                continue;
            }
            for (share, alone) in shares.iter_mut().zip(&mut ways[0].1) {
                if *share > 0.0 {
                    (*share, *alone) = (*share * regression, joint);
                }
            }
            let known = regressed.scores(self, views, samples)?;
            ways.push((Way::Regressed(known, regressed.parameters), shares));
        }
        if samples > 0 {
            ways.retain(|(_, shares)| shares.iter().any(|s| *s > 0.0));
        }
        Ok(ways)
    }

    /// Where the state has what a view is mixed of.
    pub(super) fn is_of_mixture(&self, name: &str) -> bool {
        self.views
            .iter()
            .any(|v| name == place(&v.name) || name.starts_with(&regression(&v.name)))
    }
}
