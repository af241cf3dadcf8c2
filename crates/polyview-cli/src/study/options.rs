//! Choices of the model that options make.

use polyview::{
    EngineKind, GibbsOptions, Intercepts, KernelChoice, PruneRule, Settle, ViewChoices, WeightPrior,
};
use polyview_core::OptionError;

use super::data::{Once, settle_option, weight_option};
use super::{KERNEL_FACTORS, Study};
use crate::args::ModelArgs;
use crate::choice::{parsed, species};
use crate::detection::{Given, limit_option};
use crate::failure::{Failure, Outcome};
use crate::preset::KNOWN;

impl Study {
    pub(super) fn add_model(&mut self, args: &ModelArgs) -> Outcome<()> {
        let m = &mut self.model;
        if !KNOWN.contains(&m.model.as_str()) {
            return Err(Failure::Usage(format!(
                "unknown model '{}'; known: {}",
                m.model,
                KNOWN.join(", ")
            )));
        }
        self.told.factors |= args.choices.factors.is_some();
        self.told.batch |= args.stochastic.batch.is_some();
        set(&mut m.factors, args.choices.factors);
        set(&mut m.seed, args.engine.seed);
        set(&mut m.restarts, args.engine.restarts);
        set(&mut m.vb.max_sweeps, args.convergence.max_sweeps);
        set(&mut m.vb.tolerance, args.convergence.tolerance);
        if let Some(e) = &args.engine.engine {
            m.engine = parsed("--engine", e)?;
        }
        if let Some(sweeps) = args.gibbs.polish {
            if m.engine == EngineKind::Stochastic {
                return Err(Failure::Usage(
                    "--polish: it starts from variational Bayes over all samples at once, and this is --engine \
                     stochastic; leave one of them out"
                        .into(),
                ));
            }
            (m.engine, m.gibbs) = (EngineKind::Gibbs, GibbsOptions::from_optimum(sweeps));
        }
        set(&mut m.gibbs.chains, args.gibbs.chains);
        set(&mut m.gibbs.warm_up, args.gibbs.warm_up);
        set(&mut m.gibbs.sweeps, args.gibbs.sweeps);
        set(&mut m.gibbs.thin, args.gibbs.thin);
        set(&mut m.stochastic.batch, args.stochastic.batch);
        set(&mut m.stochastic.epochs, args.stochastic.epochs);
        set(
            &mut m.stochastic.learning_rate,
            args.stochastic.learning_rate,
        );
        set(&mut m.stochastic.forgetting, args.stochastic.forgetting);
        set(&mut m.stochastic.exact_sweeps, args.stochastic.exact_sweeps);
        if let Some(x) = &args.choices.missing {
            m.missing = parsed("--missing", x)?;
        }
        if let Some(x) = &args.engine.start {
            m.start = parsed("--start", x)?;
        }
        if let Some(x) = &args.engine.path {
            m.path = parsed("--path", x)?;
        }
        if args.choices.no_intercepts {
            m.intercepts = Intercepts::None;
        }
        if let Some(x) = &args.priors.factor_prior {
            m.factor_prior = species("--factor-prior", x)?;
        }
        if !args.choices.adjust.is_empty() {
            m.covariates.clone_from(&args.choices.adjust);
        }
        if let Some(column) = &args.choices.keep_together {
            m.keep_together = Some(column.clone());
        }
        m.groups.noise |= args.choices.group_noise;
        m.groups.intercepts |= args.choices.group_intercepts;
        if args.convergence.no_rotation {
            m.vb.rotate = parsed("rotate", "off")?;
        }
        if args.engine.audit {
            m.vb.audit = parsed("audit", "blocks")?;
        }
        if args.convergence.no_pruning {
            m.vb.prune = PruneRule::never();
        }
        let names: Vec<String> = m.views.iter().map(|v| v.name.clone()).collect();
        let mut all = vec![(None, m.defaults.clone())];
        all.extend(names.into_iter().map(|n| {
            let c = m.view(&n);
            (Some(n), c)
        }));
        for (name, mut choices) in all {
            if let Some(x) = &args.choices.noise {
                choices.noise = parsed("--noise", x)?;
            }
            if let Some(x) = &args.choices.scaling {
                choices.scaling = parsed("--scaling", x)?;
            }
            if let Some(x) = &args.choices.centring {
                choices.centring = parsed("--centring", x)?;
            }
            match name {
                None => m.defaults = choices,
                Some(n) => *m = m.clone().with_view(&n, choices),
            }
        }
        let (mut once, mut for_all) = (Once::of("--weights, --select-features"), false);
        for text in &args.priors.weights {
            // options come in braces, with equals signs of their own
            let end = if text.ends_with('}') {
                text.find('{')
            } else {
                None
            };
            let (view, prior) = match text[..end.unwrap_or(text.len())].rfind('=') {
                Some(at) => (Some(&text[..at]), &text[at + 1..]),
                None => (None, text.as_str()),
            };
            let selection: WeightPrior = species("--weights", prior)?;
            if let Some(view) = view {
                once.view(view)?;
            } else if std::mem::replace(&mut for_all, true) {
                return Err(Failure::Usage(
                    "--weights: a prior for all views is given twice; leave one of them out".into(),
                ));
            }
            let names: Vec<String> = match view {
                Some(view) => vec![view.to_owned()],
                None => m.views.iter().map(|v| v.name.clone()).collect(),
            };
            if view.is_none() {
                m.defaults.selection = selection.clone();
            }
            for name in names {
                let choices = ViewChoices {
                    selection: selection.clone(),
                    ..m.view(&name)
                };
                *m = m.clone().with_view(&name, choices);
            }
        }
        for name in &args.priors.select_features {
            once.view(name)?;
            if for_all {
                return Err(Failure::Usage(format!(
                    "--weights, --select-features: the weights of '{name}' are given a prior twice, by --weights for all views \
                     and relevance by --select-features; name the views that --weights is for (--weights VIEW=PRIOR)"
                )));
            }
            let mut choices = m.view(name);
            choices.selection = "relevance".into();
            *m = m.clone().with_view(name, choices);
        }
        let mut once = Once::of("--weight");
        for text in &args.choices.weight {
            let (view, weight) = weight_option(text)?;
            once.view(&view)?;
            *m = m.clone().with_weight(&view, weight);
        }
        let mut once = Once::of("--settle");
        for name in &args.choices.settle {
            let (name, settle) = settle_option(name, |v| m.views.iter().any(|x| x.name == v))?;
            once.view(name)?;
            *m = m.clone().with_settled(name, settle);
        }
        if args.choices.no_settle {
            m.defaults.settle = Some(Settle::Not);
            for v in &mut m.views {
                v.choices.settle = Some(Settle::Not);
            }
        }
        let mut once = Once::of("--shape");
        for text in &args.choices.shape {
            let (name, shape) = shape_option(text)?;
            once.view(&name)?;
            let mut choices = m.view(&name);
            choices.shape = Some(shape);
            *m = m.clone().with_view(&name, choices);
        }
        if let Some(t) = args.priors.mixture {
            *m = m.clone().with_mixture(t);
            self.local = true;
            for s in self.data.clone() {
                self.localise(&s.name);
            }
        }
        Ok(())
    }

    /// Kernels of views, which are made of real numbers unless somebody says otherwise.
    pub(super) fn add_kernels(&mut self, args: &ModelArgs) -> Outcome<()> {
        let mut once = Once::of("--kernel");
        for text in &args.choices.kernel {
            let (view, kernel) = kernel_option(text)?;
            once.view(&view)?;
            let choices = ViewChoices {
                kernel: Some(kernel),
                ..self.model.view(&view)
            };
            self.model = self.model.clone().with_view(&view, choices);
        }
        let views = self.model.views.iter();
        let with_kernel = views.filter(|v| v.choices.kernel.is_some());
        let names: Vec<String> = with_kernel.map(|v| v.name.clone()).collect();
        if !(names.is_empty() || self.told.factors) && self.model.factors < KERNEL_FACTORS {
            self.model.factors = KERNEL_FACTORS;
            self.decided("factors".to_owned());
        }
        for name in names {
            if !(self.told.all || self.told.views.contains(&name)) {
                self.take(&name, "gaussian".into());
            }
        }
        Ok(())
    }

    /// Limits of detection of views.
    pub(super) fn add_limits(&mut self, args: &ModelArgs) -> Outcome<()> {
        let mut once = Once::of("--limit");
        for text in &args.choices.limit {
            let (view, Given { limits, path }) = limit_option(text, &self.format())?;
            once.view(&view)?;
            self.model = self.model.clone().with_limits(&view, limits);
            self.limits.extend(path.map(|path| (view, path)));
        }
        Ok(())
    }
}

/// Sets what is given.
pub fn set<T: Copy>(target: &mut T, value: Option<T>) {
    if let Some(v) = value {
        *target = v;
    }
}

/// Parses `VIEW=KERNEL`.
fn kernel_option(text: &str) -> Outcome<(String, KernelChoice)> {
    // options have equals signs of their own
    let end = text.find('{').unwrap_or(text.len());
    match text[..end].rfind('=') {
        Some(at) if at > 0 => {
            let kernel = text[at + 1..].parse();
            let kernel =
                kernel.map_err(|e: OptionError| Failure::Usage(format!("--kernel {text}: {e}")))?;
            Ok((text[..at].to_owned(), kernel))
        }
        _ => Err(Failure::Usage(format!(
            "--kernel: '{text}' is not VIEW=KERNEL, such as genes=rbf"
        ))),
    }
}

/// Parses `VIEW=HxW`.
pub(super) fn shape_option(text: &str) -> Outcome<(String, [usize; 2])> {
    let parse = || {
        let (name, shape) = text.rsplit_once('=')?;
        let (rows, columns) = shape.split_once('x')?;
        Some((name, [rows.parse().ok()?, columns.parse().ok()?]))
    };
    match parse() {
        Some((name, shape)) if !name.is_empty() => Ok((name.to_owned(), shape)),
        _ => Err(Failure::Usage(format!(
            "--shape: '{text}' is not VIEW=HxW, such as pixels=16x15"
        ))),
    }
}
