//! What the command line says.

use std::error::Error;
use std::path::PathBuf;

use polyview::{EngineKind, GibbsOptions, Intercepts, ModelSpec, WeightPrior, models};
use polyview_core::{FeatureScaling, GammaPrior};
use polyview_infer::PruneRule;
use polyview_likelihoods::NoiseBy;

use super::data::Half;

/// Choices of a run. Number of factors, likelihood of labels and rate of the
/// weights' prior by default are those that did best in cross-validation inside
/// the training half of yeast (`--validate 3` and `5`; rates 1e-6, .01, .03, .1:
/// areas .683, .690, .688, .685 predictive, .682 and .689 semi-supervised for the
/// first two); noise and scaling, which made less difference than the folds did,
/// are the library's own.
#[derive(Clone, Debug)]
pub struct Options {
    /// Which table.
    pub table: String,
    /// Folder of the data; of the folders of all sets for `labels`, `classes`.
    pub data: PathBuf,
    /// Factors to start with; the paper has 100 for yeast.
    pub factors: usize,
    /// Numbers of factors of the rank tables, one after the other.
    pub factor_counts: Vec<usize>,
    /// Number of starts; the paper has 10.
    pub restarts: usize,
    /// Relative change of the bound at which a fit ends; the paper has 1e-8.
    pub tolerance: f64,
    /// Most sweeps; the paper has 50 000.
    pub max_sweeps: usize,
    /// Largest weight of a factor that is removed, and that rule alone; ours if
    /// not given. The paper has 1e-6.
    pub prune: Option<f64>,
    /// Likelihood of labels.
    pub likelihood: String,
    /// What noise precisions of inputs are shared by.
    pub noise: NoiseBy,
    /// What inputs are divided by.
    pub scaling: FeatureScaling,
    /// Whether there are intercepts.
    pub intercepts: Intercepts,
    /// Whether relevances of inputs are learnt.
    pub selection: WeightPrior,
    /// Prior of the precisions of weights, shape and rate. The papers leave it
    /// open.
    pub weight_prior: GammaPrior,
    /// Sweeps of a Gibbs sampler, half as many more thrown away before; fits are
    /// variational where not given.
    pub gibbs: Option<usize>,
    /// Repeats of what is random: subsets, hidden cells.
    pub repeats: usize,
    /// Folds of the training half to validate on, in place of the test half.
    pub validate: Option<usize>,
    /// Folds of the tables of the thesis.
    pub folds: usize,
    /// Seed.
    pub seed: u64,
    /// Threads.
    pub threads: usize,
    /// Whether ridge and logistic regression are run too.
    pub baselines: bool,
    /// Inputs are an RBF kernel with this γ of the standardised features, for
    /// the ways that fit a factor model.
    pub gamma: Option<f64>,
    /// Its reference points, drawn from the training samples.
    pub references: Option<usize>,
    /// Only rows whose name contains this.
    pub only: Option<String>,
    /// Only these sets of `labels`, `classes` and the thesis; all where empty.
    pub sets: Vec<String>,
    /// Python with scikit-learn, for random forests and support vector machines; none without.
    pub python: Option<PathBuf>,
    /// Factors, where they were given: `labels` and `classes` have else those of the preset.
    pub factors_given: Option<usize>,
    /// Most sweeps, where they were given: likewise.
    pub sweeps_given: Option<usize>,
}

fn named<T: serde::de::DeserializeOwned>(value: String) -> Result<T, serde_json::Error> {
    serde_json::from_value(serde_json::Value::String(value))
}

impl Options {
    /// From the arguments of the subcommand.
    ///
    /// # Errors
    /// Unknown options and values.
    pub fn parse(args: impl IntoIterator<Item = String>) -> Result<Self, Box<dyn Error>> {
        let mut args = args.into_iter();
        let mut o = Self {
            table: args.next().ok_or(USAGE)?,
            data: PathBuf::new(),
            factors: 60,
            factor_counts: Vec::new(),
            restarts: 1,
            tolerance: 1e-6,
            max_sweeps: 300,
            prune: None,
            likelihood: "bernoulli".into(),
            noise: NoiseBy::Feature,
            scaling: FeatureScaling::Feature,
            intercepts: Intercepts::Learned,
            selection: "none".into(),
            weight_prior: GammaPrior::new(1e-6, 0.01),
            gibbs: None,
            repeats: 5,
            validate: None,
            folds: 10,
            seed: 1,
            threads: 1,
            baselines: true,
            gamma: None,
            references: None,
            only: None,
            sets: Vec::new(),
            python: None,
            factors_given: None,
            sweeps_given: None,
        };
        let mut repeats = None;
        while let Some(a) = args.next() {
            let mut value = || args.next().ok_or(format!("{a} needs a value"));
            match a.as_str() {
                "--data" => o.data = value()?.into(),
                "--factors" => {
                    let list: Result<Vec<usize>, _> = value()?.split(',').map(str::parse).collect();
                    o.factor_counts = list?;
                }
                "--restarts" => o.restarts = value()?.parse()?,
                "--tolerance" => o.tolerance = value()?.parse()?,
                "--max-sweeps" => {
                    o.max_sweeps = value()?.parse()?;
                    o.sweeps_given = Some(o.max_sweeps);
                }
                "--prune" => o.prune = Some(value()?.parse()?),
                "--likelihood" => o.likelihood = value()?,
                "--noise" => o.noise = named(value()?)?,
                "--scaling" => o.scaling = named(value()?)?,
                "--no-intercepts" => o.intercepts = Intercepts::None,
                "--select" => o.selection = "relevance".into(),
                "--weight-prior" => {
                    let text = value()?;
                    let (shape, rate) = text.split_once(',').ok_or("--weight-prior A,B")?;
                    o.weight_prior = GammaPrior::new(shape.parse()?, rate.parse()?);
                }
                "--gibbs" => o.gibbs = Some(value()?.parse()?),
                "--repeats" => {
                    o.repeats = value()?.parse()?;
                    repeats = Some(o.repeats);
                }
                "--validate" => o.validate = Some(value()?.parse()?),
                "--folds" => o.folds = value()?.parse()?,
                "--seed" => o.seed = value()?.parse()?,
                "--threads" => o.threads = value()?.parse()?,
                "--no-baselines" => o.baselines = false,
                "--gamma" => o.gamma = Some(value()?.parse()?),
                "--references" => o.references = Some(value()?.parse()?),
                "--only" => o.only = Some(value()?),
                "--sets" => o.sets.extend(value()?.split(',').map(str::to_owned)),
                "--python" => o.python = Some(value()?.into()),
                other => return Err(format!("unknown option {other}\n{USAGE}").into()),
            }
        }
        let ranked = o.table.starts_with("rank") || o.table == "digits";
        if ranked {
            // the rank paper's own number, and ten splits
            o.factors = 20;
            o.repeats = repeats.unwrap_or(10);
        }
        match o.factor_counts[..] {
            [] => o.factor_counts.push(o.factors),
            [first] => {
                o.factors = first;
                o.factors_given = Some(first);
            }
            _ if !ranked => return Err("this table takes one number of factors".into()),
            _ => {}
        }
        if o.data.as_os_str().is_empty() {
            return Err(USAGE.into());
        }
        if o.validate.is_some_and(|f| f < 2) {
            return Err("--validate needs at least 2 folds".into());
        }
        if o.folds < 2 {
            return Err("--folds needs at least 2".into());
        }
        if o.repeats == 0 {
            return Err("--repeats needs at least 1".into());
        }
        Ok(o)
    }

    /// Whether a row of this name is wanted, of a model or of what stands beside it.
    pub fn wants(&self, name: &str, is_model: bool) -> bool {
        let named = self.only.as_ref().is_none_or(|t| name.contains(t.as_str()));
        named && (is_model || self.baselines)
    }

    /// The model for inputs and labels such as these; with no more factors than
    /// the smaller of their samples and their columns.
    pub fn spec(&self, half: &Half) -> ModelSpec {
        let columns: usize = half.inputs.iter().map(|t| t.features.len()).sum();
        let labels = half.target.features.len().max(half.target.levels.len());
        let most = half.len().min(columns + labels);
        let mut spec = models::sshiba(self.factors.min(most));
        spec.seed = self.seed;
        spec.restarts = self.restarts;
        spec.weight_prior = self.weight_prior;
        spec.intercepts = self.intercepts;
        spec.defaults.noise = self.noise;
        spec.defaults.scaling = self.scaling;
        spec.vb.tolerance = self.tolerance;
        spec.vb.max_sweeps = self.max_sweeps;
        if let Some(largest_weight) = self.prune {
            spec.vb.prune = PruneRule {
                energy_ratio: 0.0,
                largest_weight,
                by_bound: false,
                least_explained: 0.0,
            };
        }
        if let Some(sweeps) = self.gibbs {
            spec.engine = EngineKind::Gibbs;
            spec.gibbs = GibbsOptions {
                chains: self.restarts,
                warm_up: sweeps / 2,
                sweeps,
                thin: (sweeps / 100).max(1),
                ..GibbsOptions::default()
            };
        }
        let likelihood = if half.is_classes() {
            "categorical-probit"
        } else {
            &self.likelihood
        };
        for t in &half.inputs {
            let mut choices = spec.defaults.clone();
            choices.selection = self.selection.clone();
            spec = spec.with_view(&t.name, choices);
        }
        spec.with_likelihood("labels", likelihood)
    }
}

const USAGE: &str = "usage: table sshiba-7|sshiba-9 --data YEAST_FOLDER [options]
       table labels|classes --data FOLDER_OF_SETS [options]
       table thesis-9|thesis-11|thesis-12 --data FOLDER_OF_SETS [options]
       table rank-2|rank-3|digits --data DIGITS [options]
       table rank-4|rank-5 --data EXPRESSION [options]
options: --factors K (of ranks also K,K,K) --restarts R --tolerance T --max-sweeps S --prune W
  --likelihood bernoulli|bernoulli-latent --noise view|feature
  --scaling none|view|feature --no-intercepts --select --weight-prior A,B
  --gibbs SWEEPS (chains: --restarts)
  --repeats R --validate FOLDS --seed S --threads T --no-baselines --only TEXT
  --gamma G --references R (an RBF kernel of the inputs)
of labels and classes: --factors K --max-sweeps S --seed S --no-baselines --only TEXT --sets NAME,...
  --python PYTHON (with scikit-learn, for a random forest)
of the thesis: --folds F --factors K --max-sweeps S --seed S --no-baselines --only TEXT --sets atp1d,edm,jura
  --references R (of thesis-12) --python PYTHON (with scikit-learn, for support vector machines)";
