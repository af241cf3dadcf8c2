//! `polyview kernel`.

use std::path::Path;

use polyview::Fit;
use polyview_core::Table;
use polyview_io::{read_table, write_atomic};
use polyview_kernels::{KernelKind, KernelMap, KernelOptions, Mapped};
use serde_json::error::Category;
use serde_json::json;

use super::mva::MvaMap;
use crate::args::{Cli, KernelArgs, KernelName};
use crate::failure::{Failure, Outcome};
use crate::files::Files;
use crate::inputs::archive;
use crate::remarks::{note, warning};
use crate::written::overwrite;
use crate::written::{called, write};

/// Writes the similarities of the samples of a table to reference points.
pub fn run(cli: &Cli, args: &KernelArgs) -> Outcome<()> {
    let files = Files::default()
        .for_json(cli)
        .reading([&args.table])
        .reading(&args.map)
        .printing("--out", [&args.out])
        .writing("--save", &args.save);
    files.check(overwrite(args.force))?;
    refuse_others(args)?;
    let (file, options) = archive(&args.table, args.format.options());
    let table = read_table(file, &options)?;
    let of_table = |source| Failure::Kernel {
        path: args.table.clone(),
        source,
    };
    let map = match &args.map {
        Some(path) => read(path)?,
        None => KernelMap::learn(&table, &choices(args)).map_err(of_table)?,
    };
    let Mapped {
        table: found,
        with_holes,
        ..
    } = map.map(&table).map_err(of_table)?;
    if with_holes > 0 {
        note(
            cli,
            format!(
                "{}: {with_holes} sample(s) lack some of the features: the kernel compares them by expected distances, as if \
                 what they lack were at its mean, with its variance",
                args.table.display()
            ),
        );
    }
    let all = found.features.len();
    if let Some(asked) = args.references.filter(|asked| *asked > all) {
        note(
            cli,
            format!(
                "{asked} reference points were asked for: all {all} samples with a value are such"
            ),
        );
    }
    warn_far_off(cli, args, &found);
    warn_unlike(cli, args, &found);
    if let Some(path) = &args.save {
        let text = serde_json::to_vec(&map).map_err(|e| Failure::KernelFile {
            path: path.clone(),
            why: e.to_string(),
        })?;
        write_atomic(path, overwrite(args.force), |w| w.write_all(&text))?;
    }
    write(
        &args.out,
        "sample",
        &found.samples,
        &found.features,
        found.values.as_ref(),
        args.force,
    )?;
    let (samples, references) = (found.samples.len(), found.features.len());
    files.done(
        cli,
        &format!(
            "similarities of {samples} samples to {references} reference points ({} features) written to {}",
            map.features().len(),
            called(&args.out)
        ),
        json!({ "samples": samples, "references": references }),
    )
}

/// Warns of samples none of whose similarities is above zero: to a fit they are all
/// the same sample, however they differ.
fn warn_far_off(cli: &Cli, args: &KernelArgs, found: &Table) {
    let zeros = |n: &usize| {
        found
            .values
            .row(*n)
            .iter()
            .all(|x| x.abs() < f64::MIN_POSITIVE)
    };
    let far: Vec<usize> = (0..found.samples.len()).filter(zeros).collect();
    if let Some(&first) = far.first() {
        let mend = if args.map.is_some() {
            "check that the table has the units and features of the table the map was learnt of, and that its kernel had no too large --gamma"
        } else {
            "look for values far off in the table, or give a smaller --gamma"
        };
        warning(
            cli,
            format!(
                "{}: {} of {} samples have similarity 0 to every reference point, first '{}': they are too far from all of them; {mend}",
                args.table.display(),
                far.len(),
                found.samples.len(),
                found.samples[first]
            ),
        );
    }
}

/// A similarity from which on two samples are not nearly as unlike as can be.
const ALIKE: f64 = 1e-6;

/// Warns where every sample is similar to itself alone: such a table says of no two of them that
/// they have anything in common.
fn warn_unlike(cli: &Cli, args: &KernelArgs, found: &Table) {
    let others = |n: usize| {
        let of = found.values.row(n);
        let own = &found.samples[n];
        (found.features.iter().zip(of.iter())).any(|(f, x)| f != own && x.abs() > ALIKE)
    };
    let several = found.samples.len() > 1 && found.features.len() > 1;
    if args.map.is_none() && several && !(0..found.samples.len()).any(others) {
        warning(
            cli,
            format!(
                "{}: every sample is similar to itself alone, so that a fit finds nothing in the similarities; give a smaller --gamma",
                args.table.display()
            ),
        );
    }
}

/// Refuses numbers of another kernel.
fn refuse_others(args: &KernelArgs) -> Outcome<()> {
    use KernelName::{Polynomial, Rbf};
    let given = [
        ("--gamma", args.gamma.is_some(), Rbf, "rbf"),
        ("--degree", args.degree.is_some(), Polynomial, "polynomial"),
        ("--offset", args.offset.is_some(), Polynomial, "polynomial"),
    ];
    match given
        .into_iter()
        .find(|(_, given, of, _)| *given && *of != args.kind)
    {
        Some((option, _, _, kind)) => Err(Failure::Usage(format!(
            "{option} belongs to --kind {kind}; leave it out, or choose that kernel"
        ))),
        None => Ok(()),
    }
}

fn choices(args: &KernelArgs) -> KernelOptions {
    KernelOptions {
        kernel: match args.kind {
            KernelName::Rbf => KernelKind::Rbf { gamma: args.gamma },
            KernelName::Linear => KernelKind::Linear,
            KernelName::Polynomial => KernelKind::Polynomial {
                degree: args.degree.unwrap_or(3),
                offset: args.offset.unwrap_or(1.0),
            },
        },
        references: args.references,
        seed: args.seed,
        standardise: !args.raw,
    }
}

/// A fitted model from its file; of a kernel or a projection it says what that is for.
pub fn load_model(path: &Path) -> Outcome<Fit> {
    Fit::load(path).map_err(|why| {
        let what = if read(path).is_ok() {
            "a kernel that 'polyview kernel --save' wrote, no model; give it to 'polyview kernel --map', and here the model \
             that was fitted to its table"
        } else if MvaMap::read(path).is_ok() {
            "a projection that 'polyview mva --save' wrote, no model; give it to 'polyview mva --map', and here a model that \
             'polyview fit' made"
        } else {
            return why.into();
        };
        Failure::NotModel {
            path: path.to_owned(),
            what,
        }
    })
}

fn read(path: &Path) -> Outcome<KernelMap> {
    let wrong = |why: String| Failure::KernelFile {
        path: path.to_owned(),
        why,
    };
    let text = std::fs::read(path).map_err(|e| wrong(e.to_string()))?;
    serde_json::from_slice(&text).map_err(|e| {
        wrong(match e.classify() {
            Category::Data => e.to_string(),
            _ => "it is no kernel that was saved".to_owned(),
        })
    })
}
