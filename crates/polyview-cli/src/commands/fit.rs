//! `polyview fit`.

mod on_disk;

use std::path::Path;
use std::time::{Duration, Instant};

use polyview::{ChainStart, EngineKind, ErrorKind, Fit, Fitting, Settle};
use polyview_core::Dataset;

use super::explained::{
    GroupShares, about_deviance, about_groups, about_scores, about_zero, explained_by_group,
    finite, variance_table,
};
use crate::args::{Cli, FitArgs};
use crate::failure::{Failure, Outcome};
use crate::files::{Files, check_checkpoint, same};
use crate::inputs::{about_samples, dataset};
use crate::interrupt::Watch;
use crate::output::{counted, json, line, nats, percent, prose};
use crate::progress::Bar;
use crate::remarks::{Said, note, say};
use crate::study::{Source, Study};
use crate::written::overwrite;

/// Fits and writes the model file.
pub fn run(cli: &Cli, args: &FitArgs) -> Outcome<()> {
    let mut study = Study::new(args.spec.as_deref(), &args.data, &args.model)?;
    for idle in study.idle_options(&args.model)? {
        say(cli, idle);
    }
    if args.dry_run {
        study.check_files()?;
        let on_disk = study.model.engine == EngineKind::Stochastic && !args.disk.in_memory;
        let guess = |s: &Source| study.likelihood(&s.name).is_none();
        if study.data.iter().any(guess) || !(on_disk || study.has_factors()) {
            loaded(cli, &mut study)?;
        }
        for idle in study.idle_on_views(&args.model)? {
            say(cli, idle);
        }
        for s in &study.data {
            let choices = study.model.view(&s.name);
            study.model = study.model.clone().with_view(&s.name, choices);
        }
        let text = study.to_toml()?;
        if cli.json {
            let study: toml::Table = toml::from_str(&text).map_err(|e| Failure::Study {
                path: "--dry-run".to_owned(),
                why: e.to_string(),
            })?;
            return json(&serde_json::json!(study));
        }
        return line(text);
    }
    let Some(out) = &args.out else {
        return Err(Failure::Usage("--out is missing".into()));
    };
    refuse_checkpoints(args, &study)?;
    check_files(args, &study, out)?;
    let stochastic = study.model.engine == EngineKind::Stochastic;
    let mut fit = if stochastic && !args.disk.in_memory {
        on_disk::by_blocks(cli, args, &mut study)?
    } else {
        let data = loaded(cli, &mut study)?;
        let targets = study.targets.clone();
        // a regression by similarities would keep the features of training samples
        let how = if args.no_data {
            Settle::LinearMixture
        } else {
            Settle::Mixture
        };
        let wide = study.taken_for_features(&data, how);
        for note in study
            .mix_targets((&targets, &data), how)
            .into_iter()
            .chain(wide)
        {
            say(cli, note);
        }
        say(cli, overlap(&data));
        Fitting::new(data, study.model.clone())?
    };
    let idle = study.idle_on_views(&args.model)?.into_iter();
    for idle in idle.chain(study.kept_together_nowhere(&args.model)) {
        say(cli, idle);
    }
    let mut said = Said::default();
    said.journal(cli, fit.journal());
    if let Some(path) = &args.checkpoints.resume {
        fit.resume_from(path)?;
        say(cli, format!("going on from {}", path.display()));
    }
    let mut fit = drive(cli, args, fit)?;
    if let Some(path) = study.metadata.as_ref().filter(|_| fit.data().is_err()) {
        fit.set_metadata(&about_samples(cli, path, &study.format())?)?;
    }
    fit.set_reading(study.reading());
    // what the file will not say is known now; data are shared, not copied
    let whole = args.no_data.then(|| fit.clone());
    if args.no_data {
        fit.forget_data();
    }
    said.journal(cli, &fit.record().journal);
    fit.save(out, overwrite(args.force))?;
    summary(cli, whole.as_ref().unwrap_or(&fit))?;
    drop(whole);
    if let Some(mend) = more(&fit, args.checkpoints.checkpoint.as_deref()) {
        note(cli, mend);
    } else if let Some(hint) = all_kept(&fit) {
        note(cli, hint);
    }
    if let Some(hint) = all_clusters(&fit)? {
        note(cli, hint);
    }
    say(cli, format!("written to {}", out.display()));
    Ok(())
}

/// What is to be said of a mixture prior that left no cluster without samples: each is the likeliest of some.
fn all_clusters(fit: &Fit) -> Outcome<Option<String>> {
    let found = match fit.clusters() {
        Err(e) if *e.kind() == ErrorKind::NoClusters => return Ok(None),
        other => other?,
    };
    let (offered, labels) = (found.sizes.len(), found.labels());
    let all = offered < fit.samples().len() && (0..offered).all(|t| labels.contains(&t));
    Ok(all.then(|| {
        format!(
            "all {} that were offered (--mixture) have samples: there may be more; offer more, those that are not needed stay \
             empty",
            counted(offered, "cluster")
        )
    }))
}

/// How a fit that stopped too early goes on, by the options of the command.
fn more(fit: &Fit, checkpoint: Option<&Path>) -> Option<String> {
    let limited = fit.stopped_at_limit();
    match fit.run_options().engine {
        EngineKind::Gibbs => fit.unmixed().map(|_| {
            match fit.run_options().gibbs.start {
                ChainStart::Optimum => "fit again with a larger --polish, or more --chains",
                ChainStart::Factors => {
                    "fit again with larger --sweeps and --warm-up, or more --chains"
                }
            }
            .to_owned()
        }),
        EngineKind::Stochastic => {
            // fewer sweeps than both limits allow: the epochs came to rest before theirs
            let limits = fit.run_options().stochastic;
            let rested = fit.record().sweeps < limits.epochs + limits.exact_sweeps;
            let of = if rested { "" } else { "--epochs and " };
            limited.then(|| format!("fit again with larger {of}--exact-sweeps"))
        }
        EngineKind::Vb => limited.then(|| match checkpoint.filter(|path| path.exists()) {
            Some(path) => format!(
                "go on with --resume {} and a larger --max-sweeps",
                path.display()
            ),
            None => "fit again with a larger --max-sweeps; with --checkpoint FILE a fit can go on \
                     from where it stopped"
                .to_owned(),
        }),
    }
}

/// What is to be said of a fit that kept all factors that it was offered, though it
/// removes those that do not pay and the data carry more.
fn all_kept(fit: &Fit) -> Option<String> {
    let prune = fit.run_options().vb.prune;
    let sizes = [
        prune.energy_ratio,
        prune.largest_weight,
        prune.least_explained,
    ];
    let removes = prune.by_bound || sizes.iter().any(|s| *s > 0.0);
    let columns = fit
        .views()
        .iter()
        .map(|v| v.features.len().max(v.levels.len()));
    let most = fit.samples().len().min(columns.sum());
    let offered = fit.run_options().factors;
    let all = !fit.is_sampled() && removes && fit.k() == offered && offered < most;
    (all && fit.has_effects() && !fit.may_be_noise()).then(|| {
        format!(
            "all {offered} factors that were offered were kept: there may be more; offer more with -k, or \
             compare numbers of them with polyview choose-k"
        )
    })
}

/// Refuses to begin where a file is in the way. A checkpoint may replace the
/// one that the fit goes on from, and no other.
fn check_files(args: &FitArgs, study: &Study, out: &Path) -> Outcome<()> {
    let goes_on = |checkpoint: &Path| {
        args.checkpoints
            .resume
            .as_deref()
            .is_some_and(|r| same(r, checkpoint))
    };
    let resumed = args.checkpoints.checkpoint.as_deref().is_some_and(goes_on);
    Files::default()
        .reading(study.files())
        .reading(&args.spec)
        .reading(args.checkpoints.resume.as_ref().filter(|_| !resumed))
        .writing("--out", [out])
        .writing("--checkpoint", &args.checkpoints.checkpoint)
        .distinct()?;
    polyview_io::ensure_writable(out, overwrite(args.force))?;
    match &args.checkpoints.checkpoint {
        Some(path) => check_checkpoint(path, overwrite(args.force), resumed),
        None => Ok(()),
    }
}

/// Options that one engine has and the other has not.
fn refuse_checkpoints(args: &FitArgs, study: &Study) -> Outcome<()> {
    let stochastic = study.model.engine == EngineKind::Stochastic;
    let (option, why) = match (
        stochastic,
        &args.checkpoints.checkpoint,
        &args.checkpoints.resume,
    ) {
        (true, Some(_), _) => ("--checkpoint", "has no checkpoints"),
        (true, _, Some(_)) => ("--resume", "has no checkpoints"),
        (false, ..) if args.disk.in_memory => ("--in-memory", "always loads the views"),
        (false, ..) if args.disk.scratch.is_some() => ("--scratch", "needs no such folder"),
        _ => return Ok(()),
    };
    Err(Failure::Usage(format!(
        "{option}: this engine {why}; leave it out, or choose another --engine"
    )))
}

/// The data of the study, which takes no more factors than they carry.
fn loaded(cli: &Cli, study: &mut Study) -> Outcome<Dataset> {
    let data = dataset(cli, study)?;
    let (samples, most) = (data.n_samples(), study.model.most_factors(&data));
    let factors = study.fit_factors(samples, most);
    let batch = study.fit_batch(samples, study.model.factors);
    for note in factors.into_iter().chain(batch) {
        say(cli, note);
    }
    Ok(data)
}

/// Steps to the end, with progress, checkpoints and Ctrl-C.
fn drive(cli: &Cli, args: &FitArgs, mut fit: Fitting) -> Outcome<Fit> {
    let path = args.checkpoints.checkpoint.as_ref();
    let keeps = fit.run_options().engine != EngineKind::Stochastic;
    let checkpoint = path.map(|c| c.display().to_string());
    let watch = Watch::begin(Bar::new(cli.quiet), checkpoint, keeps);
    let mut last = Instant::now();
    let every = Duration::from_secs(args.checkpoints.checkpoint_every);
    let mut limited = false;
    while !fit.is_over() {
        let progress = fit.step()?;
        watch.done(progress.sweep, progress.before_start);
        watch.bar().show(&progress);
        if progress.done {
            limited = progress.sweep == progress.sweeps;
            break;
        }
        let stopping = watch.stopping();
        // what a fit that ends at the limit can go on from with a larger one
        let limit = progress.sweep + 1 == progress.sweeps;
        if let Some(path) = path
            && (stopping || limit || last.elapsed() >= every)
        {
            fit.save_checkpoint(path)?;
            last = Instant::now();
        }
        if stopping {
            return Err(watch.interrupted());
        }
    }
    let whole = if fit.settles() {
        // what was swept is not lost while views are settled; at the limit the sweep before is kept
        if let Some(path) = path.filter(|_| !limited) {
            fit.save_checkpoint(path)?;
        }
        fit.finish_while(&|p| {
            watch.bar().settle(p);
            !watch.stopping()
        })?
    } else {
        Some(fit.finish()?)
    };
    let whole = whole.ok_or_else(|| watch.interrupted())?;
    watch.end();
    Ok(whole)
}

/// Which samples have which views, in words.
pub fn overlap(data: &Dataset) -> String {
    use std::fmt::Write;
    let o = data.overlap();
    let mut text = format!(
        "{}, {} view(s)",
        counted(data.n_samples(), "sample"),
        o.views.len()
    );
    for (v, n) in data.views().iter().zip(&o.samples_of_view) {
        let cells = v.n_features() * n;
        let missing = if cells > 0 {
            1.0 - v.n_observed() as f64 / cells as f64
        } else {
            0.0
        };
        let samples = counted(*n, "sample");
        let _ = if v.levels().is_empty() {
            let features = counted(v.n_features(), "feature");
            write!(text, "\n  {}: {samples} x {features}", v.name())
        } else {
            let classes = counted(v.levels().len(), "class");
            write!(text, "\n  {}: {samples} of {classes}", v.name())
        };
        if missing > 0.0 {
            let _ = write!(text, ", {} % of their cells missing", percent(missing));
        }
    }
    if o.rows.len() > 1 {
        for row in &o.rows {
            let names: Vec<&str> = o
                .views
                .iter()
                .zip(&row.present)
                .filter(|(_, p)| **p)
                .map(|(v, _)| v.as_str())
                .collect();
            let _ = write!(
                text,
                "\n  {} sample(s) have just: {}",
                row.samples,
                names.join(", ")
            );
        }
    }
    text
}

/// What came out, as a table or JSON.
pub fn summary(cli: &Cli, fit: &Fit) -> Outcome<()> {
    let r = fit.record();
    let explained = fit.data().ok().map(|_| fit.explain()).transpose()?;
    if cli.json {
        return json(&serde_json::json!({
            "model": fit.model_name(),
            "samples": fit.samples().len(),
            "factors": fit.k(),
            "outcome": r.outcome,
            "sweeps": r.sweeps,
            "bound": r.bound,
            "gain_left": fit.gain_left(),
            "seconds": r.seconds,
            "draws": fit.is_sampled().then(|| fit.n_components()),
            "optimum": r.optimum,
            "views": fit.views().iter().enumerate().map(|(i, v)| serde_json::json!({
                "name": v.name,
                "likelihood": v.choices.likelihood.name(),
                "features": v.features.len(),
                "weight": v.choices.weight.unwrap_or(1.0),
                "explained": explained.as_ref().map(|e| e.total[i]),
                "deviance": explained.as_ref().and_then(|e| finite(e.deviance[i])),
            })).collect::<Vec<_>>(),
            "groups": explained_by_group(fit)?.iter().map(GroupShares::to_json).collect::<Vec<_>>(),
        }));
    }
    let bound = r
        .bound
        .map_or_else(String::new, |b| format!(", bound {}", nats(b)));
    let left = (fit.gain_left_told()).map_or_else(String::new, |left| format!(", {left}"));
    line(format!(
        "{}: {} of {} after {} ({}{bound}{left}) in {:.2} s",
        fit.model_name(),
        fit.k(),
        counted(fit.run_options().factors, "factor"),
        counted(r.sweeps, "sweep"),
        fit.ending(),
        r.seconds
    ))?;
    if let Some(counted) = fit.counted() {
        prose(format!(
            "views that count more or less than once: {counted}"
        ))?;
    }
    if let Some(polished) = fit.polished() {
        prose(format!("polished: {polished}"))?;
    }
    if let Some(e) = explained {
        let about = format!(
            "{}{}{}{}",
            about_deviance(fit, &e),
            about_scores(fit),
            about_groups(fit),
            about_zero(&e)
        );
        let about = about.trim_start_matches("; ");
        prose(match about {
            "" => "variance explained, %:".to_owned(),
            about => format!("variance explained, % ({about}):"),
        })?;
        variance_table(fit, &e, None)?;
    } else if fit.run_options().engine == EngineKind::Stochastic {
        prose(
            "no table of variance explained: it needs the data, which stayed on disk; add --in-memory",
        )?;
    }
    Ok(())
}
