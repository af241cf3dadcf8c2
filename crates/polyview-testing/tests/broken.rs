//! Each test finds what it is there for: a likelihood with one flaw, and the finding that
//! names it.

use polyview_core::{
    About, Augmented, Block, DataError, Domain, Equations, Law, LikelihoodSpecies, Link,
    NumericError, Options, Predictor, State, StateReader, Stateful, TermContext, Terms, View,
    ViewShape, ViewTerm, Way,
};
use polyview_likelihoods::{Cell, CellAugmentation, CellLikelihood, Cells, Probit, Site};
use polyview_linalg::Mat;
use polyview_random::{ChaCha8Rng, StreamKey};
use polyview_testing::{Finding, LikelihoodCheck};

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flaw {
    Nothing,
    Name,
    UndescribedOption,
    WrongDomain,
    /// The bound is not that of the equations.
    Bound,
    /// The local number is not the best.
    Local,
    /// The state is not read.
    Load,
    Predicted,
    /// Scores are drawn a little too large.
    Draws,
    NoDraws,
    /// Columns by component are not made, and not refused.
    Components,
}

/// Probit labels with a flaw.
#[derive(Clone, Copy, Debug)]
struct Flawed {
    probit: Probit,
    flaw: Flaw,
}

impl CellLikelihood for Flawed {
    fn needs(&self) -> &'static str {
        self.probit.needs()
    }
    fn admits(&self, cell: Cell) -> bool {
        self.probit.admits(cell)
    }
    fn start(&self, cell: Cell) -> f64 {
        self.probit.start(cell)
    }
    fn optimise(&self, cell: Cell, mean: f64, square: f64) -> f64 {
        let off = f64::from(u8::from(self.flaw == Flaw::Local && mean > 0.5));
        self.probit.optimise(cell, mean, square) + off
    }
    fn site(&self, cell: Cell, local: f64) -> Site {
        CellLikelihood::site(&self.probit, cell, local)
    }
    fn offset(&self, cell: Cell, local: f64) -> f64 {
        self.probit.offset(cell, local)
    }
    fn domain(&self) -> Domain {
        self.probit.domain()
    }
    fn link_variance(&self, column: usize, level: f64) -> f64 {
        self.probit.link_variance(column, level)
    }
    fn draw_datum(&self, cell: Cell, eta: f64, rng: &mut ChaCha8Rng) -> f64 {
        self.probit.draw_datum(cell, eta, rng)
    }
    fn predict(&self, column: usize, mean: f64, variance: f64) -> (f64, f64) {
        let off = f64::from(u8::from(self.flaw == Flaw::Predicted));
        self.probit.predict(column, mean + off, variance)
    }
    fn augmentation(&self) -> Option<&dyn CellAugmentation> {
        (self.flaw != Flaw::NoDraws).then_some(self)
    }
}

impl CellAugmentation for Flawed {
    fn draw_local(&self, cell: Cell, eta: f64, rng: &mut ChaCha8Rng) -> f64 {
        let score = self.probit.draw_local(cell, eta, rng);
        if self.flaw == Flaw::Draws {
            1.5 * score
        } else {
            score
        }
    }
    fn site(&self, cell: Cell, local: f64) -> Site {
        CellAugmentation::site(&self.probit, cell, local)
    }
    fn log_density(&self, cell: Cell, eta: f64) -> f64 {
        self.probit.log_density(cell, eta)
    }
}

/// The data term, with flaws that no likelihood of cells can have.
struct FlawedTerm {
    cells: Cells<Flawed>,
    flaw: Flaw,
}

impl Stateful for FlawedTerm {
    fn save(&self, prefix: &str, state: &mut State) {
        self.cells.save(prefix, state);
    }
    fn load(&mut self, prefix: &str, state: &StateReader<'_>) -> Result<(), NumericError> {
        if self.flaw == Flaw::Load {
            return Ok(());
        }
        self.cells.load(prefix, state)
    }
}

impl ViewTerm for FlawedTerm {
    fn shape(&self) -> ViewShape {
        self.cells.shape()
    }
    fn by_cells(&self) -> bool {
        self.cells.by_cells()
    }
    fn link(&self, group: Option<usize>, column: usize, level: f64) -> Link {
        self.cells.link(group, column, level)
    }
    fn refresh(
        &mut self,
        p: &Predictor<'_>,
        cx: &mut polyview_core::Context<'_>,
    ) -> Result<(), NumericError> {
        self.cells.refresh(p, cx)
    }
    fn equations(&mut self) -> &mut dyn Equations {
        self.cells.equations()
    }
    fn bound(&mut self, p: &Predictor<'_>) -> Terms {
        let mut terms = self.cells.bound(p);
        for term in &mut terms.0 {
            term.value *= if self.flaw == Flaw::Bound { 1.001 } else { 1.0 };
        }
        terms
    }
    fn domain(&self) -> Domain {
        self.cells.domain()
    }
    fn law(&self, p: &Predictor<'_>, block: &Block<'_>) -> Box<dyn Law + '_> {
        self.cells.law(p, block)
    }
    fn simulate(&self, p: &Predictor<'_>, parameters: StreamKey, data: StreamKey) -> Mat<f64> {
        self.cells.simulate(p, parameters, data)
    }
    fn rebind(&self, view: &View) -> Result<Box<dyn ViewTerm>, DataError> {
        self.cells.rebind(view)
    }
    fn as_augmented(&mut self) -> Option<&mut dyn Augmented> {
        self.cells.as_augmented()
    }
}

impl LikelihoodSpecies for Flaw {
    fn name(&self) -> &'static str {
        if *self == Self::Name {
            "Flawed probit"
        } else {
            "flawed-probit"
        }
    }
    fn about(&self) -> About {
        let line = "zeros and ones, not quite right";
        About {
            line,
            needs: "0 or 1",
            label: "",
            options: &[],
        }
    }
    fn domain(&self) -> Domain {
        if *self == Self::WrongDomain {
            Domain::Reals
        } else {
            Domain::Binary
        }
    }
    fn defaults(&self) -> Options {
        let secret = Options::parse("secret=1");
        secret
            .ok()
            .filter(|_| *self == Self::UndescribedOption)
            .unwrap_or_default()
    }
    fn refuses(&self, way: Way, _options: &Options) -> Option<String> {
        let refused = *self != Self::Components && matches!(way, Way::Components | Way::Sparse);
        refused.then(|| "is a test".to_owned())
    }
    fn term(
        &self,
        view: View,
        _options: &Options,
        _cx: &TermContext,
    ) -> Result<Box<dyn ViewTerm>, DataError> {
        let flawed = Flawed {
            probit: Probit::default(),
            flaw: *self,
        };
        let cells = Cells::new(view, flawed)?;
        Ok(Box::new(FlawedTerm { cells, flaw: *self }))
    }
}

/// What is found of a flaw, in few draws of a sampler that is not tested.
fn found(flaw: Flaw) -> Vec<Finding> {
    let draws = if flaw == Flaw::Draws { 1000 } else { 100 };
    let checked = LikelihoodCheck::new(&flaw).draws(draws).run();
    checked.map_or_else(|failure| failure.findings, |()| Vec::new())
}

#[test]
fn every_flaw_is_named() {
    use Finding as F;
    assert!(found(Flaw::Nothing).is_empty());
    let tests: [(Flaw, fn(&Finding) -> bool); 10] = [
        (Flaw::Name, |f| matches!(f, F::Description(_))),
        (Flaw::UndescribedOption, |f| matches!(f, F::Description(_))),
        (Flaw::WrongDomain, |f| matches!(f, F::Term { .. })),
        (Flaw::Bound, |f| matches!(f, F::Law { .. })),
        (Flaw::Local, |f| matches!(f, F::BoundFell { .. })),
        (Flaw::Load, |f| matches!(f, F::State { .. })),
        (Flaw::Predicted, |f| matches!(f, F::Predicted { .. })),
        (Flaw::Draws, |f| matches!(f, F::Sampler { .. })),
        (Flaw::NoDraws, |f| {
            matches!(
                f,
                F::Way {
                    way: Way::Gibbs,
                    ..
                }
            )
        }),
        (Flaw::Components, |f| {
            matches!(
                f,
                F::Way {
                    way: Way::Components,
                    ..
                }
            )
        }),
    ];
    for (flaw, named) in tests {
        let found = found(flaw);
        assert!(found.iter().any(named), "{flaw:?}: {found:?}");
    }
}
