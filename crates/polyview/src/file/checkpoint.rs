//! Checkpoints in files, and whose they are.

use std::path::Path;

use polyview_core::{Groups, Mask, Overwrite, State, View};
use polyview_infer::VbOptions;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::check::{Checked, Rows, Spread};
use super::container::{Container, Sealed, Tensor, Values, hex};
use super::difference::difference;
use super::disk;
use super::fault::Fault;
use super::header::{ComposerHeader, Kind, program};
use super::model::{push_state, to_state};
use super::{BYTES, json};
use crate::compose::Composed;
use crate::error::{ErrorKind, Result};
use crate::fit::{Checkpoint, Fitting, ViewInfo};
use crate::spec::{ChainStart, EngineKind, GibbsOptions, ModelSpec, Path as Way};

/// What a fit was made from: its choices, and what its data hash to. A
/// checkpoint goes on only with the same.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct Origin {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    spec: Option<ModelSpec>,
    /// In place of `spec`, where another composer puts the model together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    composer: Option<ComposerHeader>,
    samples: String,
    views: Vec<ViewMark>,
}

/// Name of a view, and what its features, cells and scaling hash to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct ViewMark {
    name: String,
    sha256: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct CheckpointHeader {
    format: u32,
    kind: Kind,
    program: String,
    origin: Origin,
}

impl Origin {
    /// Hashes the data of a fit, in working units.
    pub(crate) fn of(
        composed: &Composed,
        samples: &[String],
        groups: Option<&Groups>,
        infos: &[ViewInfo],
        views: &[View],
    ) -> Self {
        let mut ids = Sha256::new();
        names(&mut ids, samples);
        if let Some(groups) = groups {
            names(&mut ids, &groups.names);
            for g in &groups.of_sample {
                ids.update(g.to_le_bytes());
            }
        }
        for column in (composed.adjustment.iter()).flat_map(|a| a.training()) {
            for x in column {
                ids.update(x.to_le_bytes());
            }
        }
        let marks = infos.iter().zip(views).map(|(info, view)| ViewMark {
            name: info.name.clone(),
            sha256: mark(info, view),
        });
        Self {
            spec: composed.spec().cloned(),
            composer: ComposerHeader::of(composed),
            samples: hex(&ids.finalize()),
            views: marks.collect(),
        }
    }
    /// An error that names what differs unless a checkpoint of `self` can go
    /// on `here`. A fit by variational Bayes may take more sweeps than it was to.
    fn check(&self, here: &Self) -> std::result::Result<(), Fault> {
        let of_views = |o: &Self| o.views.iter().map(|v| v.name.clone()).collect::<Vec<_>>();
        if of_views(self) != of_views(here) {
            return Err(Fault::OtherData("the names of the views".to_owned()));
        }
        if self.samples != here.samples {
            return Err(Fault::OtherData("the samples".to_owned()));
        }
        self.same_kernels(here)?;
        if let Some((v, _)) = self.views.iter().zip(&here.views).find(|(a, b)| a != b) {
            let what = format!("the features or values of view '{}'", v.name);
            return Err(Fault::OtherData(what));
        }
        let (there, here) = (self.on_the_way()?, here.on_the_way()?);
        for (option, value) in here.as_object().into_iter().flatten() {
            let other = there.get(option).unwrap_or(&Value::Null);
            if let Some((option, there, here)) = difference(option, other, value) {
                let told = |value: &Value| match value {
                    Value::Null => "not said".to_owned(),
                    value => value.to_string(),
                };
                return Err(Fault::OtherChoices {
                    option,
                    there: told(&there),
                    here: told(&here),
                });
            }
        }
        Ok(())
    }
    /// An error that names the kernel that differs. Its columns differ as well, but it is a choice
    /// and not the data that is to be put right.
    fn same_kernels(&self, here: &Self) -> std::result::Result<(), Fault> {
        let (Some(spec), Some(here)) = (&self.spec, &here.spec) else {
            return Ok(());
        };
        for v in &self.views {
            let kernels = [spec, here].map(|s| s.view(&v.name).kernel);
            if kernels[0] != kernels[1] {
                let [there, here] =
                    kernels.map(|k| k.map_or_else(|| "not said".to_owned(), |k| k.to_string()));
                return Err(Fault::OtherChoices {
                    option: format!("views.{}.kernel", v.name),
                    there,
                    here,
                });
            }
        }
        Ok(())
    }
    /// What changes something on the way, by its name: not who chose, not how long a fit
    /// by variational Bayes may take, and not what draws do not look at.
    fn on_the_way(&self) -> std::result::Result<Value, Fault> {
        // chains that start at the optimum look at what finds it
        let draws_alone = |engine: EngineKind, gibbs: &GibbsOptions| {
            engine == EngineKind::Gibbs && gibbs.start != ChainStart::Optimum
        };
        let idle = |alone: bool, engine: EngineKind, vb: &mut VbOptions, restarts: &mut usize| {
            if alone {
                (*vb, *restarts) = (VbOptions::default(), 1);
            } else if engine == EngineKind::Vb {
                vb.max_sweeps = 0;
            }
        };
        let all = match (&self.spec, &self.composer) {
            (Some(spec), _) => {
                let mut spec = spec.clone();
                spec.from_data.clear();
                // the same views in the same order, whoever has choices of its own
                for v in &self.views {
                    let choices = spec.view(&v.name);
                    spec = spec.with_view(&v.name, choices);
                }
                spec.views.sort_by(|a, b| a.name.cmp(&b.name));
                let alone = draws_alone(spec.engine, &spec.gibbs);
                idle(alone, spec.engine, &mut spec.vb, &mut spec.restarts);
                if alone {
                    spec.path = Way::default();
                }
                json::to_value(&spec)
            }
            (None, composer) => {
                let mut composer = composer.clone();
                if let Some(c) = &mut composer {
                    let alone = draws_alone(c.run.engine, &c.run.gibbs);
                    idle(alone, c.run.engine, &mut c.run.vb, &mut c.run.restarts);
                }
                json::to_value(&composer)
            }
        };
        Ok(all?)
    }
}

fn names(sum: &mut Sha256, all: &[String]) {
    sum.update((all.len() as u64).to_le_bytes());
    for name in all {
        sum.update((name.len() as u64).to_le_bytes());
        sum.update(name);
    }
}

fn numbers<'a>(sum: &mut Sha256, all: impl IntoIterator<Item = &'a f64>) {
    let mut block = [0; 4096];
    let mut at = 0;
    for x in all {
        block[at..at + 8].copy_from_slice(&x.to_le_bytes());
        at += 8;
        if at == block.len() {
            sum.update(block);
            at = 0;
        }
    }
    sum.update(&block[..at]);
}

fn mark(info: &ViewInfo, view: &View) -> String {
    let mut sum = Sha256::new();
    names(&mut sum, &info.features);
    if let Some(map) = &info.kernel {
        sum.update("kernel");
        names(&mut sum, map.features());
    }
    if !info.levels.is_empty() {
        names(&mut sum, &info.levels);
    }
    numbers(&mut sum, &info.scaling.offset);
    numbers(&mut sum, &info.scaling.scale);
    if let Some(scores) = &info.scaling.scores {
        numbers(&mut sum, scores.parts().1);
    }
    match view.mask() {
        Mask::Complete => sum.update("complete"),
        Mask::Rows(rows) => {
            sum.update("samples");
            sum.update(rows.iter().map(|&r| u8::from(r)).collect::<Vec<u8>>());
        }
        Mask::Cells { by_feature, .. } => {
            sum.update("cells");
            sum.update(by_feature.as_bytes());
        }
    }
    if let Some(x) = view.sparse() {
        sum.update("sparse");
        numbers(&mut sum, x.base());
        for d in 0..x.entries().ncols() {
            let (rows, values) = x.entries().column(d);
            sum.update((rows.len() as u64).to_le_bytes());
            for row in rows {
                sum.update(row.to_le_bytes());
            }
            numbers(&mut sum, values);
        }
    } else {
        let values = view.values();
        for d in 0..values.ncols() {
            numbers(&mut sum, (0..values.nrows()).map(|n| &values[(n, d)]));
        }
    }
    for (name, beside) in [("trials", view.trials()), ("ends", view.ends())] {
        let Some(beside) = beside else {
            continue;
        };
        sum.update(name);
        for d in 0..beside.ncols() {
            numbers(&mut sum, beside.col_as_slice(d));
        }
    }
    hex(&sum.finalize())
}

impl Checkpoint {
    /// Writes the checkpoint; one of the same name is replaced when the new
    /// one is complete.
    ///
    /// # Errors
    /// [`ErrorKind::Io`](crate::ErrorKind::Io) when the disk refuses.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let file = self.pack().map_err(|f| f.at(&path.display().to_string()))?;
        disk::write(path, Overwrite::Replace, &file)
    }
    /// Reads what [`Checkpoint::save`] wrote.
    ///
    /// # Errors
    /// [`ErrorKind::Io`](crate::ErrorKind::Io) when it cannot be read, [`ErrorKind::File`](crate::ErrorKind::File) when it
    /// is damaged or no checkpoint, [`ErrorKind::NewerFile`](crate::ErrorKind::NewerFile),
    /// [`ErrorKind::OldCheckpoint`](crate::ErrorKind::OldCheckpoint).
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        Self::unpack(&disk::read(path)?).map_err(|f| f.at(&path.display().to_string()))
    }
    /// The content of the file that [`Checkpoint::save`] writes.
    ///
    /// # Errors
    /// [`ErrorKind::File`](crate::ErrorKind::File) when the header would be too long.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        self.pack()
            .and_then(|f| Ok(f.to_bytes()?))
            .map_err(|f| f.at(BYTES))
    }
    /// The checkpoint in the content of a file.
    ///
    /// # Errors
    /// As [`Checkpoint::load`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        Self::unpack(bytes).map_err(|f| f.at(BYTES))
    }

    fn pack(&self) -> std::result::Result<Sealed<'_>, Fault> {
        let mut tensors = Vec::new();
        push_state(&mut tensors, "state/", &self.state)?;
        let record = self.record.to_string().into_bytes();
        let record = Values::Bytes(vec![record.len()], record.into());
        tensors.push(Tensor::new("record", record));
        let header = json::to_value(&CheckpointHeader {
            format: super::CHECKPOINT_VERSION,
            kind: Kind::Checkpoint,
            program: program(),
            origin: self.origin.clone(),
        })?;
        Sealed::new(&header, tensors)
    }
    fn unpack(bytes: &[u8]) -> std::result::Result<Self, Fault> {
        let mut file = Container::read(bytes)?;
        let header = std::mem::take(&mut file.header);
        Kind::Checkpoint.expect(&header)?;
        // what an earlier version wrote may lack anything: its number is read first
        let format = header.get("format").and_then(Value::as_u64);
        if let Some(found) = format.filter(|&f| f < super::CHECKPOINT_VERSION.into()) {
            return Err(Fault::OldCheckpoint(found as u32));
        }
        let header: CheckpointHeader = json::from_value(header)?;
        let record = file.take("record")?.byte_string("record")?;
        let record = serde_json::from_slice(record)?;
        let state = to_state("state/", file.take_all("state/"))?;
        file.finish()?;
        Ok(Self {
            state,
            record,
            origin: header.origin,
        })
    }
}

impl Fitting {
    /// Writes everything needed to go on later. An older checkpoint of the
    /// same name is replaced when the new one is complete, so that an
    /// interruption at any time leaves a valid one.
    ///
    /// # Errors
    /// [`ErrorKind::Io`](crate::ErrorKind::Io) when the disk refuses.
    pub fn save_checkpoint(&self, path: impl AsRef<Path>) -> Result<()> {
        self.checkpoint()?.save(path)
    }
    /// Goes on from a checkpoint in a file. Going on gives the same bits as a
    /// fit that was never interrupted.
    ///
    /// # Errors
    /// As [`Checkpoint::load`] and [`Fitting::resume`]; after an error this
    /// fit should not be gone on with.
    pub fn resume_from(&mut self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let checkpoint = Checkpoint::load(path)?;
        self.resume(&checkpoint).map_err(|e| {
            let path = path.display().to_string();
            match e.kind().clone() {
                ErrorKind::File { why, .. } => ErrorKind::File { path, why }.into(),
                ErrorKind::OtherFit { why, .. } => ErrorKind::OtherFit { path, why }.into(),
                _ => e,
            }
        })
    }
}

/// Extents of the blocks of a model in progress, to hold a checkpoint against.
pub(crate) struct Extents {
    /// Prefixes of the blocks of rows in the order of the model: factors, then
    /// the weights of each view. With their rows and implicit rows.
    blocks: Vec<(String, usize, usize)>,
    /// Prefixes of the intercepts, with their columns and implicit columns.
    biases: Vec<(String, usize, usize)>,
}

impl Extents {
    /// Of a model with these views whose state is under `prefix` in `own`.
    pub(crate) fn of(own: &State, prefix: &str, views: &[ViewInfo]) -> Self {
        let rows = |at: &str| {
            let array = own.arrays().get(&format!("{prefix}{at}/mean"));
            array.and_then(|a| a.shape.first()).copied().unwrap_or(0)
        };
        let implicit = |name: String| {
            let array = own.arrays().get(&format!("{prefix}{name}"));
            array
                .and_then(|a| a.values.first())
                .map_or(0, |x| *x as usize)
        };
        let mut out = Self {
            blocks: Vec::new(),
            biases: Vec::new(),
        };
        let mut block = |at: String| {
            let implicit = implicit(format!("{at}/implicit"));
            out.blocks.push((at.clone(), rows(&at), implicit));
        };
        block("factors".to_owned());
        for v in views {
            block(format!("views/{}/weights", v.name));
            let at = format!("views/{}/bias", v.name);
            let implicit = implicit(format!("{at}/rest"));
            out.biases.push((at.clone(), rows(&at), implicit));
        }
        out
    }
    /// Whether the arrays under `prefix` are those of such a model with one
    /// of these numbers of factors.
    pub(crate) fn check(
        &self,
        state: &State,
        prefix: &str,
        factors: std::ops::RangeInclusive<usize>,
    ) -> Result<()> {
        let checked = Checked {
            state,
            place: "state/",
        };
        let run = || {
            let k = checked.columns(&format!("{prefix}factors/mean"))?;
            if !factors.contains(&k) {
                return Err(Fault::Count {
                    what: "factors",
                    expected: *factors.end(),
                    found: k,
                });
            }
            for (at, rows, implicit) in &self.blocks {
                let want = Rows {
                    count: *rows,
                    factors: k,
                    implicit: *implicit,
                    spread: Spread::Any,
                };
                checked.moments(&format!("{prefix}{at}"), want)?;
            }
            for (at, columns, implicit) in &self.biases {
                checked.bias(&format!("{prefix}{at}"), *columns, *implicit)?;
            }
            for (i, (_, rows, _)) in self.blocks.iter().enumerate() {
                let name = format!("{prefix}previous/{i}");
                if state.arrays().contains_key(&name) {
                    checked.expect(&name, &[*rows, checked.columns(&name)?])?;
                }
            }
            Ok(())
        };
        run().map_err(|f| f.at(CHECKPOINT))
    }
}

/// What a checkpoint is called that has no path.
const CHECKPOINT: &str = "checkpoint";

/// An error unless a checkpoint `there` can go on `here`.
pub(crate) fn same_origin(there: &Origin, here: &Origin) -> Result<()> {
    there.check(here).map_err(|f| f.at(CHECKPOINT))
}

/// An error unless `fits`: `what` of a checkpoint's record.
pub(crate) fn record_fits(what: &'static str, fits: bool) -> Result<()> {
    if fits {
        Ok(())
    } else {
        Err(Fault::Record(what).at(CHECKPOINT))
    }
}

/// A record as JSON, every number kept.
pub(crate) fn write_record<T: Serialize>(record: &T) -> Result<Value> {
    json::to_value(record).map_err(|e| Fault::Header(e).at(CHECKPOINT))
}

/// What [`write_record`] wrote.
pub(crate) fn read_record<T: for<'a> Deserialize<'a>>(record: &Value) -> Result<T> {
    json::from_value(record.clone()).map_err(|e| Fault::Header(e).at(CHECKPOINT))
}
