//! `polyview kernel`.

use std::path::Path;

use polyview_io::{ReadOptions, ensure_writable, read_table, write_atomic};
use polyview_kernels::{KernelKind, KernelMap, KernelOptions};

use super::tables::write;
use super::{overwrite, say};
use crate::args::{Cli, KernelArgs, KernelName};
use crate::failure::{Failure, Outcome};

/// Writes the similarities of the samples of a table to reference points.
pub fn run(cli: &Cli, args: &KernelArgs) -> Outcome<()> {
    for path in std::iter::once(&args.out).chain(&args.save) {
        ensure_writable(path, overwrite(args.force))?;
    }
    let table = read_table(&args.table, &ReadOptions::default())?;
    let of_table = |source| Failure::Kernel {
        path: args.table.clone(),
        source,
    };
    let map = match &args.map {
        Some(path) => read(path)?,
        None => KernelMap::learn(&table, &options(args)).map_err(of_table)?,
    };
    let found = map.apply(&table).map_err(of_table)?;
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
            args.out.display()
        ),
    );
    Ok(())
}

fn options(args: &KernelArgs) -> KernelOptions {
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
