//! Predictors of scikit-learn, by scripts of `benches/peers` that read training samples and new ones from a folder and leave what they
//! say there.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

use polyview_core::{Overwrite, Table};
use polyview_io::{ReadOptions, WriteOptions, read_table, write_matrix};
use polyview_linalg::Mat;

use super::data::Half;
use crate::suite::checked;

/// What predicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// Random forests of labels or classes.
    Forest,
    /// Support vector machines with RBF kernels of classes or numbers.
    Vectors,
}

impl Peer {
    fn script(self) -> PathBuf {
        let name = match self {
            Self::Forest => "forest.py",
            Self::Vectors => "vectors.py",
        };
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("peers")
            .join(name)
    }
}

/// A folder of this process that is taken away with it.
struct Folder(PathBuf);

impl Folder {
    fn new() -> std::io::Result<Self> {
        let name = format!("polyview-peer-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path)?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // what is left there does no harm
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What a peer that has seen `x` and the target of `train` says of `new`: probabilities of labels or classes, or numbers.
///
/// # Errors
/// What Python or the files refuse.
pub fn said(
    (python, peer): (&Path, Peer),
    train: &Half,
    [x, new]: [&Mat<f64>; 2],
    seed: u64,
) -> Result<Mat<f64>, Box<dyn Error>> {
    let folder = Folder::new()?;
    let write = |name: &str, values: Mat<f64>| -> Result<(), Box<dyn Error>> {
        let names =
            |prefix: &'static str, count: usize| (0..count).map(move |i| format!("{prefix}{i}"));
        let table = Table {
            name: name.to_owned(),
            samples: names("s", values.nrows()).collect(),
            features: names("f", values.ncols()).collect(),
            levels: Vec::new(),
            values,
        };
        let options = WriteOptions {
            overwrite: Overwrite::Replace,
            ..WriteOptions::default()
        };
        let path = folder.0.join(format!("{name}.npy"));
        Ok(write_matrix(path, &(&table).into(), &options)?)
    };
    write("x", x.clone())?;
    write("new", new.clone())?;
    write("y", train.target.values.clone())?;
    let mut command = Command::new(python);
    command.arg(peer.script()).arg(&folder.0);
    command.args(["--seed", &seed.to_string()]);
    if train.is_classes() {
        command.args(["--classes", &train.target.levels.len().to_string()]);
    }
    checked(&mut command, "the peer")?;
    let read = read_table(folder.0.join("p.npy"), &ReadOptions::default())?;
    let wanted = (new.nrows(), train.indicators().ncols());
    let found = (read.values.nrows(), read.values.ncols());
    if wanted != found {
        return Err(format!("the peer said {found:?} values, not {wanted:?}").into());
    }
    Ok(read.values)
}
