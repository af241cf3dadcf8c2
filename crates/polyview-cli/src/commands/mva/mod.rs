//! `polyview mva`: classical projections of complete tables.

mod classes;
mod data;
mod fit;
mod map;
mod write;

use std::path::{Path, PathBuf};

use polyview_io::write_atomic;
use polyview_linalg::Mat;
use serde_json::{Value, json};

use crate::args::{Cli, MvaArgs};
use crate::failure::{Failure, Outcome};
use crate::files::Files;
use crate::output::{line, number, table};
use crate::remarks::{note, say, warning};
use crate::study::named_file;
use crate::written::overwrite;
use data::{Data, View};
use fit::{Fitted, learn};
pub use map::MvaMap;
use write::{Scores, picture, predicted, relevance, scores, tuning, weights};

/// Learns a projection, or applies one to new samples.
pub fn run(cli: &Cli, args: &MvaArgs) -> Outcome<()> {
    let files = files(cli, args)?;
    files.check(overwrite(args.force))?;
    if let Some(path) = &args.map {
        let map = MvaMap::read(path)?;
        let data = Data::read(cli, args)?;
        return applied(cli, args, &files, &map, &data);
    }
    let Some(method) = args.method else {
        return Err(Failure::Usage(
            "give --method pca, cca, opls or rb-cca, or --map FILE".to_owned(),
        ));
    };
    of_bags(args)?;
    let data = Data::read(cli, args)?;
    let fitted = learn(cli, args, method, &data)?;
    if args.tuning.is_some() && fitted.tuned.is_none() {
        return Err(Failure::Usage(
            "--tuning: nothing was chosen by folds; leave --ridge out, of data with --labels"
                .to_owned(),
        ));
    }
    outputs(args, &fitted.map, &data)?;
    if let (Some(path), Some(fit)) = (&args.relevance, &fitted.rb_cca) {
        relevance(path, &fitted.map, fit, args.force)?;
    }
    if let (Some(path), Some(found)) = (&args.tuning, &fitted.tuned) {
        tuning(path, found, args.force)?;
    }
    if let Some(path) = &args.save {
        save(path, &fitted.map, args.force)?;
    }
    told(cli, args, &files, &data, &fitted)
}

/// Refuses numbers of bags that say nothing.
fn of_bags(args: &MvaArgs) -> Outcome<()> {
    if args.bags == Some(0) {
        return Err(Failure::Usage(
            "--bags 0: nothing would be bagged; give a whole number from 1 on, better some hundreds"
                .to_owned(),
        ));
    }
    match args.bag_ridge {
        Some(ridge) if ridge <= 0.0 => Err(Failure::Usage(format!(
            "--bag-ridge {ridge}: the penalty of the CCA whose weights are bagged is above 0"
        ))),
        _ => Ok(()),
    }
}

/// The files of the options.
fn files(cli: &Cli, args: &MvaArgs) -> Outcome<Files> {
    let mut read: Vec<PathBuf> = Vec::new();
    for text in &args.views {
        read.push(named_file("--view", text)?.1);
    }
    let mut tables = Vec::new();
    for text in &args.weights {
        tables.push(named_file("--weights", text)?.1);
    }
    Ok(Files::default()
        .for_json(cli)
        .reading(&read)
        .reading(&args.labels)
        .reading(&args.map)
        .printing("--scores", &args.scores)
        .printing("--weights", &tables)
        .printing("--relevance", &args.relevance)
        .printing("--predicted", &args.predicted)
        .printing("--tuning", &args.tuning)
        .writing("--picture", &args.picture)
        .writing("--save", &args.save))
}

/// The components of the samples in each view of the map that is there.
fn scores_of<'a>(map: &'a MvaMap, data: &Data) -> Outcome<Vec<(&'a str, Mat<f64>)>> {
    let mut out = Vec::new();
    for own in &map.views {
        if let Some(view) = data.views.iter().find(|v| v.name == own.name) {
            out.push((own.name.as_str(), own.scores(view)?));
        }
    }
    Ok(out)
}

/// Writes what fits and new samples have in common.
fn outputs(args: &MvaArgs, map: &MvaMap, data: &Data) -> Outcome<()> {
    let all = scores_of(map, data)?;
    let found = Scores::new(&data.samples, &all);
    if let Some(path) = &args.scores {
        scores(path, &found, args.force)?;
    }
    for text in &args.weights {
        let (name, path) = named_file("--weights", text)?;
        weights(&path, map, &name, args.force)?;
    }
    if let Some(path) = &args.predicted {
        predicted(path, map, &found, args.force)?;
    }
    if let Some(path) = &args.picture {
        let labels = data.labels.as_ref();
        picture(path, map, &found, labels, args.force)?;
    }
    Ok(())
}

fn applied(cli: &Cli, args: &MvaArgs, files: &Files, map: &MvaMap, data: &Data) -> Outcome<()> {
    let known = |v: &&View| map.views.iter().any(|m| m.name == v.name);
    if let Some(view) = data.views.iter().find(|v| !known(v)) {
        let names: Vec<&str> = map.views.iter().map(|v| v.name.as_str()).collect();
        return Err(Failure::Usage(format!(
            "--view {}: the projection knows {}; name the view so",
            view.name,
            names.join(", ")
        )));
    }
    let wanted = [&args.scores, &args.predicted, &args.picture];
    if wanted.iter().all(|path| path.is_none()) && args.weights.is_empty() {
        return Err(Failure::Usage(
            "--map: nothing to write; add --scores FILE, --predicted FILE, --weights VIEW=FILE or --picture FILE".to_owned(),
        ));
    }
    for view in &data.views {
        let own = map.views.iter().find(|m| m.name == view.name);
        for text in own.map_or_else(Vec::new, |m| m.unlike_training(view, &data.samples)) {
            warning(cli, format!("{}: {text}", view.path.display()));
        }
        let extra = own.map_or(0, |m| view.features.len().saturating_sub(m.features.len()));
        if extra > 0 {
            note(
                cli,
                format!(
                    "view '{}': {extra} columns are not of the projection and were left out",
                    view.name
                ),
            );
        }
    }
    outputs(args, map, data)?;
    files.done(
        cli,
        &format!("{} samples projected", data.samples.len()),
        json!({ "samples": data.samples.len(), "method": map.method }),
    )
}

fn save(path: &Path, map: &MvaMap, force: bool) -> Outcome<()> {
    let text = serde_json::to_vec(map).map_err(|e| Failure::Mva {
        path: path.to_owned(),
        what: e.to_string(),
    })?;
    Ok(write_atomic(path, overwrite(force), |w| {
        w.write_all(&text)
    })?)
}

/// Tells what was found.
fn told(cli: &Cli, args: &MvaArgs, files: &Files, data: &Data, fitted: &Fitted) -> Outcome<()> {
    let prints = [&args.scores, &args.relevance, &args.predicted, &args.tuning];
    let to_stdout = |p: &&PathBuf| crate::written::is_stdout(p);
    let taken = prints.into_iter().flatten().any(|p| to_stdout(&p))
        || args.weights.iter().any(|w| w.ends_with("=-"));
    let chosen = fitted.tuned.as_ref().map(|t| t.accuracy[t.chosen]);
    let selected = fitted.rb_cca.as_ref();
    if cli.json {
        let classes = fitted.map.classes.as_ref().map(|c| {
            let names = c.names.iter().enumerate();
            let one = |(i, name): (usize, &String)| {
                json!({
                    "name": name,
                    "selected": selected.and_then(|f| f.selected_for(i)).map(<[usize]>::len),
                })
            };
            names.map(one).collect::<Vec<Value>>()
        });
        return files.done(
            cli,
            "",
            json!({
                "method": fitted.map.method,
                "samples": data.samples.len(),
                "strength": fitted.strength,
                "components": fitted.strengths,
                "penalised": fitted.penalised,
                "ridge": fitted.ridge,
                "selected": selected.map(|f| f.selected().len()),
                "classes": classes,
                "balanced_accuracy": fitted.accuracy,
                "balanced_accuracy_of_folds": chosen,
            }),
        );
    }
    if taken {
        return Ok(());
    }
    let mut header = vec!["component".to_owned(), fitted.strength.to_owned()];
    header.extend(fitted.penalised.as_ref().map(|_| "penalised".to_owned()));
    let rows: Vec<Vec<String>> = (fitted.strengths.iter().enumerate())
        .map(|(k, s)| {
            let penalised = fitted.penalised.as_ref().map(|p| number(Some(p[k])));
            let own = [(k + 1).to_string(), number(Some(*s))];
            own.into_iter().chain(penalised).collect()
        })
        .collect();
    table(&header, &rows)?;
    if let (Some(fit), Some(classes)) = (selected, &fitted.map.classes) {
        line("")?;
        let features = fitted.map.views[0].features.len();
        line(format!(
            "{} of {features} features kept",
            fit.selected().len()
        ))?;
        let header = ["class", "features that pass the test"].map(str::to_owned);
        let rows: Vec<Vec<String>> = (classes.names.iter().enumerate())
            .map(|(c, name)| {
                let passed = fit.selected_for(c).map_or(0, <[usize]>::len);
                vec![name.clone(), passed.to_string()]
            })
            .collect();
        table(&header, &rows)?;
    }
    if let Some(ridge) = fitted.ridge {
        let how = if fitted.tuned.is_some() {
            ", chosen by folds"
        } else {
            ""
        };
        line(format!("penalty {}{how}", number(Some(ridge))))?;
    }
    if let Some(found) = &fitted.tuned {
        line(format!(
            "balanced accuracy {} on folds, {} on the samples themselves; that on folds chose and is a little high",
            number(chosen),
            number(fitted.accuracy)
        ))?;
        if let Some(count) = found.count() {
            line(format!(
                "{count} features: the fewest within a standard error ({}) of the best",
                number(Some(found.error[found.chosen]))
            ))?;
        }
    } else if fitted.accuracy.is_some() {
        line(format!(
            "balanced accuracy {} on the samples themselves",
            number(fitted.accuracy)
        ))?;
    }
    say(
        cli,
        format!("{} of {} samples", fitted.map.method, data.samples.len()),
    );
    Ok(())
}
