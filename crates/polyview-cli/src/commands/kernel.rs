//! `polyview kernel`.

use std::path::Path;

use polyview_core::Table;
use polyview_io::{read_table, write_atomic};
use polyview_kernels::{KernelKind, KernelMap, KernelOptions};

use super::{overwrite, say};
use crate::args::{Cli, KernelArgs, KernelName};
use crate::failure::{Failure, Outcome};
use crate::files::Files;
use crate::inputs::archive;
use crate::remarks::warning;
use crate::written::{called, write};

/// Writes the similarities of the samples of a table to reference points.
pub fn run(cli: &Cli, args: &KernelArgs) -> Outcome<()> {
    Files::default()
        .reading([&args.table])
        .reading(&args.map)
        .printing("--out", [&args.out])
        .writing("--save", &args.save)
        .check(overwrite(args.force))?;
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
    let found = map.apply(&table).map_err(of_table)?;
    warn_far_off(cli, args, &found);
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
    say(
        cli,
        format!(
            "similarities of {} samples to {} reference points ({} features) written to {}",
            found.samples.len(),
            found.features.len(),
            map.features().len(),
            called(&args.out)
        ),
    );
    Ok(())
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
            "check that the table has the units and features of the table the map was learnt of"
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

fn choices(args: &KernelArgs) -> KernelOptions {
    KernelOptions {
        kernel: match args.kind {
            KernelName::Rbf => KernelKind::Rbf { gamma: args.gamma },
            KernelName::Linear => KernelKind::Linear,
            KernelName::Polynomial => KernelKind::Polynomial {
                degree: args.degree,
                offset: args.offset,
            },
        },
        references: args.references,
        seed: args.seed,
        standardise: !args.raw,
    }
}

fn read(path: &Path) -> Outcome<KernelMap> {
    let wrong = |why: String| Failure::KernelFile {
        path: path.to_owned(),
        why,
    };
    let text = std::fs::read(path).map_err(|e| wrong(e.to_string()))?;
    serde_json::from_slice(&text).map_err(|e| wrong(e.to_string()))
}
