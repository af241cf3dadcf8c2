//! What the suite measures.

use std::error::Error;

use super::page::Page;
use super::setting::Setting;
use super::{accuracy, calibration, criterion, ends, held, quality, speed};

/// What an entry cannot do without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Nothing but Cargo.
    Nothing,
    /// Peers for some of its columns; polyview's own figures come without them.
    PeersBeside,
    /// Peers for all it says.
    Peers,
    /// Real data sets that are not embedded.
    Sets,
    /// Such data sets, and peers for some of its rows.
    SetsPeersBeside,
}

impl Needs {
    /// Whether it wants real data sets.
    pub fn sets(self) -> bool {
        matches!(self, Self::Sets | Self::SetsPeersBeside)
    }
    /// Whether some of it, but not all, comes from peers.
    pub fn peers_beside(self) -> bool {
        matches!(self, Self::PeersBeside | Self::SetsPeersBeside)
    }
}

/// One block of the file.
pub struct Entry {
    /// Name of its block.
    pub name: &'static str,
    /// Its heading in a file that has no such block yet.
    pub title: &'static str,
    /// What it measures, a sentence that stands above its tables.
    pub measures: &'static str,
    /// What it cannot do without.
    pub needs: Needs,
    /// Measures it.
    pub run: fn(&Setting, &mut Page) -> Result<(), Box<dyn Error>>,
}

/// All of them, in the order in which they are run.
pub const ENTRIES: &[Entry] = &[
    Entry {
        name: "speed",
        title: "Speed and memory beside other programs",
        measures: "Processor milliseconds a sweep at the full number of factors and peak memory, one thread, the peer's model: runs by turns, medians (ranges).",
        needs: Needs::PeersBeside,
        run: speed::speed,
    },
    Entry {
        name: "quality",
        title: "Hidden values and the time to explain them",
        measures: "A fifth of the cells hidden: R² of these at the end of a fit (.6 is all there is to explain), processor seconds of one thread.",
        needs: Needs::PeersBeside,
        run: quality::quality,
    },
    Entry {
        name: "mofa",
        title: "MOFA with sparse weights",
        measures: "Spike-and-slab weights: processor milliseconds a sweep at the full number of factors and peak memory, one thread: runs by turns, medians (ranges).",
        needs: Needs::PeersBeside,
        run: speed::mofa,
    },
    Entry {
        name: "mofa-time",
        title: "MOFA to the same errors",
        measures: "A fifth of the cells hidden: processor seconds until the error of every view (1 − R², log loss, deviance) is at most that of mofapy2 at the end of its mode `slow`.",
        needs: Needs::Peers,
        run: quality::mofa_time,
    },
    Entry {
        name: "held",
        title: "Hidden cells of real data to the end",
        measures: "A fifth of the observed cells hidden, real numbers standardised by feature: processor seconds of one thread until the mean of the views' errors (1 − R², log loss, deviance) is at most .1 % above that at the fit's own end, beside those of mofapy2 to its own end in its mode `medium` (counts by its Poisson likelihood).",
        needs: Needs::SetsPeersBeside,
        run: held::held,
    },
    Entry {
        name: "rotation",
        title: "Rotations",
        measures: "Sweeps to convergence.",
        needs: Needs::Nothing,
        run: quality::rotation,
    },
    Entry {
        name: "ends",
        title: "Sweeps to the end of a fit",
        measures: "Sweeps and processor seconds of one thread until the bound is within .1 nat of the better of both ends, at most 3000 sweeps.",
        needs: Needs::Sets,
        run: ends::ends,
    },
    Entry {
        name: "threads",
        title: "Threads",
        measures: "Wall milliseconds a sweep, noise by feature: runs by turns, medians (ranges).",
        needs: Needs::Nothing,
        run: speed::threads,
    },
    Entry {
        name: "compression",
        title: "Compressed samples",
        measures: "Processor milliseconds a sweep at the full number of factors, one thread: runs by turns, medians (ranges).",
        needs: Needs::Nothing,
        run: speed::compression,
    },
    Entry {
        name: "calibration",
        title: "Intervals hold what they say",
        measures: "Data from the model of each likelihood, three factors, 200 samples x 20 features (600 x 5 of classes) of which half of the cells are hidden, beside 15 of numbers, 16 data sets: shares of the hidden cells in intervals of four levels, the larger standard error of the first two by how much data sets differ, and why where a share is more than .02 off. Steps of counts, levels and labels are shared at random; of classes sets of the most probable ones.",
        needs: Needs::Nothing,
        run: calibration::calibration,
    },
    Entry {
        name: "unmixed",
        title: "Sparse factors unmixed",
        measures: "Five sparse factors in three views of 200 features and 500 samples, started from ten, model `mofa`: the true factor that agrees worst with one found, its absolute correlation; medians (ranges) over data sets.",
        needs: Needs::Nothing,
        run: accuracy::unmixed,
    },
    Entry {
        name: "digits",
        title: "Labels: handwritten digits",
        measures: "Handwritten digits, 3 against 5, 200 images to train and 200 to test: means over splits ± standard errors.",
        needs: Needs::Nothing,
        run: accuracy::digits,
    },
    Entry {
        name: "yeast",
        title: "Labels: functions of yeast genes",
        measures: "14 labels, 103 features, 1500 genes to train and 917 to test: area under the curve weighted by prevalence, beside the paper's (spec/sshiba 6).",
        needs: Needs::Sets,
        run: accuracy::yeast,
    },
    Entry {
        name: "labels",
        title: "Labels: four sets",
        measures: "Area under the curve weighted by prevalence, log loss and Brier score: of the test halves of yeast, emotions and flags, fitted once, and of the mutational status of leukaemia (cll) from drugs and mutations in folds, which is among the sets that the default was chosen on (decision 0084). `sshiba` is the default of the command, `--polish` its Gibbs chain; ± is the standard error of the difference over the samples.",
        needs: Needs::SetsPeersBeside,
        run: accuracy::labels,
    },
    Entry {
        name: "classes",
        title: "Classes: five sets",
        measures: "As labels, of classes: test halves of breast-tcga and mfeat, else folds. Nutrimouse is among the sets that the default was chosen on. The test half of breast-tcga has no proteins, so that regressions and forests are of the other two views, and the default is its joint fit. Landsat is of two views, the four bands of the pixel in the middle and their means over the eight about it.",
        needs: Needs::SetsPeersBeside,
        run: accuracy::classes,
    },
    Entry {
        name: "kernels",
        title: "Kernels: tables of the thesis",
        measures: "Real targets by RBF kernels in ten folds (thesis 4.9): R² of the squares of all folds, mean over the targets, ± standard deviation over the folds, and of each target; the least share of the training samples that new ones are compared with (4.11); classes of landsat by a kernel for each of two views (4.12). Widths and penalties of the plain predictors are validated.",
        needs: Needs::SetsPeersBeside,
        run: accuracy::kernels,
    },
    Entry {
        name: "rank-scales",
        title: "Ranks where scales are strange",
        measures: "Example `rank_scales`.",
        needs: Needs::Nothing,
        run: accuracy::rank_scales,
    },
    Entry {
        name: "rank-margin",
        title: "What a cell of ranks weighs",
        measures: "Example `rank_margin`: for each weight in nats the factors kept, % explained and R² of hidden cells.",
        needs: Needs::Nothing,
        run: accuracy::rank_margin,
    },
    Entry {
        name: "counts",
        title: "Counts",
        measures: "Example `counts`: a tenth of the cells hidden.",
        needs: Needs::Nothing,
        run: accuracy::counts,
    },
    Entry {
        name: "trials",
        title: "Factors taken out on trial",
        measures: "Example `trials`: fits with trials and without.",
        needs: Needs::Nothing,
        run: accuracy::trials,
    },
    Entry {
        name: "criterion",
        title: "Parts of a sweep",
        measures: "Criterion's benchmarks, one thread: median time, and its ratio to the saved baseline with the interval that both confidence intervals leave.",
        needs: Needs::Nothing,
        run: criterion::run,
    },
];
