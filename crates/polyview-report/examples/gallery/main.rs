//! Renders reports of simulated fits: `cargo run -p polyview-report --example gallery -- FOLDER`.
//!
//! Writes `vb.html` (a variational fit of four views), `gibbs.html` (a sampler with many views and a
//! hostile choice of names), `tiny.html` (one sample, one factor) and every picture of the first as
//! a file of its own.

mod parts;
mod reports;

use polyview_report::{Report, ReportError, pictures, write_report};
use reports::{sampler, tiny, variational};
use std::path::{Path, PathBuf};

fn save(folder: &Path, name: &str, report: &Report) -> Result<(), ReportError> {
    let mut page = Vec::new();
    write_report(report, &mut page)?;
    std::fs::write(folder.join(name), page)?;
    Ok(())
}

fn main() -> Result<(), ReportError> {
    let folder = std::env::args_os().nth(1).map_or_else(
        || std::env::temp_dir().join("polyview-gallery"),
        PathBuf::from,
    );
    std::fs::create_dir_all(&folder)?;
    let report = variational();
    save(&folder, "vb.html", &report)?;
    save(&folder, "gibbs.html", &sampler())?;
    save(&folder, "tiny.html", &tiny())?;
    for picture in pictures(&report)? {
        std::fs::write(
            folder.join(format!("{}.svg", picture.stem)),
            picture.picture.to_svg(),
        )?;
    }
    Ok(())
}
