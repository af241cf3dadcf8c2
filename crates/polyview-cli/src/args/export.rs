//! The options of `polyview export`.

use std::path::PathBuf;

use clap::Args;

/// Arguments of `export`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  polyview export model.pv --factors z.csv --weights genes=w.csv\n  polyview export model.pv --variance r2.csv --factors-sd z-sd.npy\n  polyview export model.pv --weights genes=w.csv --varimax\n  polyview export model.pv --inclusion genes=p.csv\n  polyview export model.pv --factors z.csv --weights genes=w.csv --intercepts genes=b.csv\n  polyview export model.pv --format mofa2 model.hdf5"
)]
pub struct ExportArgs {
    /// The model file.
    pub model: PathBuf,
    /// Factors, samples × factors; a FILE of - is standard output.
    #[arg(long, value_name = "FILE", help_heading = "Tables")]
    pub factors: Option<PathBuf>,
    /// Standard deviations of the factors.
    #[arg(long, value_name = "FILE", help_heading = "Tables")]
    pub factors_sd: Option<PathBuf>,
    /// Weights of a view, features × factors, in working (standardised) units.
    /// Intercepts, centres and scales, without which they are no fitted values, are those of
    /// --intercepts; fitted values themselves are those of 'impute'.
    #[arg(long, value_name = "VIEW=FILE", help_heading = "Tables")]
    pub weights: Vec<String>,
    /// Standard deviations of the weights of a view.
    #[arg(long, value_name = "VIEW=FILE", help_heading = "Tables")]
    pub weights_sd: Vec<String>,
    /// Intercepts of a view, features × what fitted values are made of besides factors and
    /// weights: intercepts (of each group that has its own), centre and scale of
    /// the feature, standard deviation of the noise in working units, sizes of counts (of pln
    /// r = 1/(exp(v) - 1), v the variance of log rates), shapes of gamma (variance =
    /// mean^2 / shape), and cut points between ordered levels (cut point 1|2, 2|3, ..., of each group that has its own). Predictors in these are
    /// intercept + factors · weights, with coefficients · covariates (--coefficients) where the fit was adjusted, and
    /// the offset of a view that has one: of counts the logarithm of the size, of numbers offset / scale; values of
    /// real views centre + scale · predictor, of times (survival) their logarithms; a level is seen where predictor and
    /// noise of unit variance (of ordinal-midpoint of the noise told, given that it is within -L/2 and L/2 of L levels)
    /// are between its cut points.
    #[arg(long, value_name = "VIEW=FILE", help_heading = "Tables")]
    pub intercepts: Vec<String>,
    /// Coefficients of the covariates that the fit was adjusted for in a view,
    /// features × covariates, in standardised units of both.
    #[arg(long, value_name = "VIEW=FILE", help_heading = "Tables")]
    pub coefficients: Vec<String>,
    /// Posterior inclusion probabilities of the weights of a spike-and-slab
    /// view, features × factors.
    #[arg(long, value_name = "VIEW=FILE", help_heading = "Tables")]
    pub inclusion: Vec<String>,
    /// Variance explained, views × factors (marginal), and in all.
    #[arg(long, value_name = "FILE", help_heading = "Tables")]
    pub variance: Option<PathBuf>,
    /// Write the whole model in the layout of another program: mofa2, the HDF5
    /// file that MOFA2, mofax and muon open.
    #[arg(long, value_name = "FORMAT", value_parser = ["mofa2"], requires = "file", help_heading = "Whole model")]
    pub format: Option<String>,
    /// Where the whole model goes.
    #[arg(value_name = "FILE", requires = "format")]
    pub file: Option<PathBuf>,
    /// A view to leave out of the whole model; may be given several times.
    #[arg(
        long,
        value_name = "VIEW",
        requires = "format",
        help_heading = "Whole model"
    )]
    pub without: Vec<String>,
    /// Rotate the answer by varimax first: of models whose weights may be turned,
    /// as those of bibfa and sshiba; not of sparse weights (spike-and-slab and
    /// horseshoe, as mofa, mofapy2 and rank have them).
    #[arg(long, help_heading = "Output")]
    pub varimax: bool,
    /// Replace files that exist, though none that this command reads.
    #[arg(long, help_heading = "Output")]
    pub force: bool,
}
