//! Fits of views that stay on disk.

use polyview::{ErrorKind, Fitting};
use polyview_core::{Way, excerpt};
use polyview_io::{IoError, OnDisk};

use crate::args::{Cli, FitArgs};
use crate::failure::{Failure, Outcome};
use crate::inputs::{
    about_samples, archive, has_ids, note_names, read_options, suspicious, warn_strangers,
};
use crate::output::counted;
use crate::remarks::{note, say, warning};
use crate::study::Study;

/// A fit of views that stay on disk.
pub(super) fn by_blocks(cli: &Cli, args: &FitArgs, study: &mut Study) -> Outcome<Fitting> {
    let refuse = |what: &str, why: &str, more: &str| {
        Err(Failure::Usage(format!(
            "{what}: {why} with --engine stochastic, which leaves the views on disk; leave it out, \
             or add --in-memory{more}"
        )))
    };
    if study.groups.is_some() {
        return refuse("--groups", "groups are not read", "");
    }
    if args.data.join.is_some() {
        return refuse("--join", "samples are not joined", "");
    }
    let mut files = Vec::with_capacity(study.data.len());
    for s in &study.data {
        if s.column.is_some() {
            return refuse("--labels", "columns of labels are not read", "");
        }
        if s.trials.is_some() {
            return refuse("--trials", "numbers of trials are not read", "");
        }
        match study.likelihood(&s.name) {
            None => {
                return Err(Failure::Usage(format!(
                    "view '{}': its likelihood is not guessed with --engine stochastic; say --view {}={}:gaussian, or another",
                    s.name,
                    s.name,
                    s.path.display()
                )));
            }
            Some(l) if l.has_classes() => {
                let own = l.refuses(Way::Stochastic);
                let own = own.map_or_else(String::new, |why| format!("; and {l} {why}"));
                return refuse(&format!("view '{}'", s.name), "classes are not read", &own);
            }
            Some(_) => {}
        }
        let options = read_options(&s.name, study.transposed, study.format());
        files.push(archive(&s.path, options));
    }
    let folder = args.disk.scratch.clone().unwrap_or_else(std::env::temp_dir);
    let mut source = OnDisk::open(&files, &folder).map_err(|e| match e {
        IoError::OtherSamples { .. } => Failure::Words {
            source: Box::new(e),
            mend: "or add --in-memory, which joins samples by their IDs".to_owned(),
        },
        e => e.into(),
    })?;
    let samples = source.sample_names().to_vec();
    let by_place = files.iter().map(|(path, _)| Ok(!has_ids(path)?));
    if by_place.collect::<Outcome<Vec<bool>>>()?.contains(&true) && files.len() > 1 {
        note(
            cli,
            "files without sample IDs are joined by place, row by row: make sure that their rows are in the same order",
        );
    }
    for ((path, options), features) in files.iter().zip(source.features()) {
        note_names(cli, path, options, (&samples, features));
    }
    let columns = source.features().map(<[String]>::len).sum();
    let (count, most) = (samples.len(), samples.len().min(columns));
    let factors = study.fit_factors(count, most);
    let batch = study.fit_batch(count, study.model.factors);
    for note in factors.into_iter().chain(batch) {
        say(cli, note);
    }
    if let Some(path) = &study.metadata {
        let about = about_samples(cli, path, &study.format())?;
        warn_strangers(
            cli,
            Some(path),
            &about,
            &samples,
            source.features().flatten(),
        );
    }
    look_at(cli, &mut source, study)?;
    say(
        cli,
        format!(
            "{}, {} view(s) on disk",
            counted(samples.len(), "sample"),
            files.len()
        ),
    );
    Ok(Fitting::from_blocks(
        Box::new(source),
        samples,
        study.model.clone(),
    )?)
}

/// Cells of views on disk that are looked at before a fit.
const LOOKED_AT: usize = 1 << 22;

/// Warns of values on disk that are hardly what they seem, as far as an excerpt shows them.
fn look_at(cli: &Cli, source: &mut OnDisk, study: &Study) -> Outcome<()> {
    let read = excerpt(source, LOOKED_AT).map_err(|e| ErrorKind::Source { why: e.to_string() });
    let (rows, views) = read.map_err(polyview::Error::from)?;
    let all = source.sample_names();
    let samples: Vec<String> = rows
        .iter()
        .flat_map(|r| all[r.clone()].iter().cloned())
        .collect();
    let part = if samples.len() < all.len() {
        format!(" (among {} samples that were looked at)", samples.len())
    } else {
        String::new()
    };
    for text in suspicious(&views, &samples, study) {
        warning(cli, format!("{text}{part}"));
    }
    Ok(())
}
