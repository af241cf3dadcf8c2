//! Random equations of all kinds, and the objective of a block alone.

use std::ops::Range;
use std::sync::Arc;

use polyview_core::{
    Context, Journal, NormalEquations, PatternGrams, PatternTable, RowBlock, RowGroups, RowMoments,
    Rule,
};
use polyview_linalg::{Mat, PackedRows, SymPacked, gram};
use polyview_random::{Rng, StreamKey, standard_normal, uniform_open01};

/// How the data precisions of rows differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One for all rows.
    Shared,
    /// Multiples of one.
    Scaled,
    /// One a pattern.
    Patterns,
    /// One a row, beside a shared part.
    Own,
    /// Everything at once.
    All,
}

pub const KINDS: [Kind; 5] = [
    Kind::Shared,
    Kind::Scaled,
    Kind::Patterns,
    Kind::Own,
    Kind::All,
];

pub fn normal(rows: usize, cols: usize, rng: &mut (impl Rng + ?Sized)) -> Mat<f64> {
    Mat::from_fn(rows, cols, |_, _| standard_normal(rng))
}

fn spd(k: usize, rng: &mut (impl Rng + ?Sized)) -> SymPacked {
    let samples = 1 + (6.0 * uniform_open01(rng)) as usize;
    gram(normal(samples, k, rng).as_ref())
}

/// Equations of some rows, and their right-hand sides and own parts.
pub struct Problem {
    pub rows: usize,
    pub k: usize,
    pub shared: NormalEquations,
    /// How far updates go.
    pub rule: Rule,
    rhs: Mat<f64>,
    own: Option<PackedRows>,
}

pub fn problem(kind: Kind, rows: usize, k: usize, seed: u64) -> Problem {
    let mut rng = StreamKey::new(seed).rng();
    let mut shared = NormalEquations::new(k, 0..0);
    shared.gram = spd(k, &mut rng);
    if matches!(kind, Kind::Scaled | Kind::All) {
        shared.scale = Some((0..rows).map(|_| 0.2 + uniform_open01(&mut rng)).collect());
    }
    if matches!(kind, Kind::Patterns | Kind::All) {
        let table = Arc::new(PatternTable::new(rows, 2, |r, v| {
            (r * 5 + v * 3) % 4 != 0 || v == 1
        }));
        let mut grams = PackedRows::zeros(table.present.len(), k);
        for p in 0..grams.rows() {
            grams
                .row_mut(p)
                .copy_from_slice(spd(k, &mut rng).as_slice());
        }
        shared.patterns = Some(PatternGrams { table, grams });
    }
    let own = matches!(kind, Kind::Own | Kind::All).then(|| {
        let mut own = PackedRows::zeros(rows, k);
        for r in 0..rows {
            own.row_mut(r).copy_from_slice(spd(k, &mut rng).as_slice());
        }
        own
    });
    shared.own = own.is_some();
    let mut rhs = normal(rows, k, &mut rng);
    rhs *= polyview_linalg::faer::Scale(3.0);
    Problem {
        rows,
        k,
        shared,
        rule: Rule::Optimum,
        rhs,
        own,
    }
}

impl Problem {
    /// The same with right-hand sides that data can have: what these say of a row does not rise for ever along directions of which
    /// they say nothing.
    pub fn of_data(mut self) -> Self {
        for r in 0..self.rows {
            let (precision, at) = (self.precision(r), self.rhs(r));
            for i in 0..self.k {
                self.rhs[(r, i)] = (0..self.k).map(|j| precision[(i, j)] * at[j]).sum();
            }
        }
        self
    }
    /// The same with one more column, of which no data speak. Shared precisions only.
    pub fn with_idle_column(&self) -> Self {
        let k = self.k + 1;
        let entry = |i: usize, j: usize| {
            let there = i < self.k && j < self.k;
            if there {
                self.shared.gram.get(i, j)
            } else {
                0.0
            }
        };
        let mut shared = NormalEquations::new(k, 0..0);
        shared.gram = SymPacked::from_lower(k, entry);
        let at = |r: usize, j: usize| if j < self.k { self.rhs[(r, j)] } else { 0.0 };
        Self {
            rows: self.rows,
            k,
            shared,
            rule: Rule::Optimum,
            rhs: Mat::from_fn(self.rows, k, at),
            own: None,
        }
    }
    /// The equations of one range.
    pub fn equations(&self, range: Range<usize>) -> NormalEquations {
        let mut eq = self.shared.clone();
        eq.set_rows(range.clone());
        eq.rhs = Mat::from_fn(range.len(), self.k, |i, j| self.rhs[(range.start + i, j)]);
        if let Some(own) = &self.own {
            for (i, r) in range.enumerate() {
                eq.packed_mut().row_mut(i).copy_from_slice(own.row(r));
            }
        }
        eq
    }
    /// One update of all rows, in the ranges that end where given.
    pub fn update(&self, block: &mut dyn RowBlock, ends: &[usize]) {
        self.pass(block, ends, |b, eq, cx| {
            b.update(eq, self.rule, cx).unwrap();
        });
    }
    /// One draw of all rows.
    pub fn draw(&self, block: &mut dyn RowBlock, ends: &[usize], key: StreamKey) {
        self.pass(block, ends, |b, eq, cx| {
            cx.key = key;
            b.draw(eq, cx).unwrap();
        });
    }
    fn pass(
        &self,
        block: &mut dyn RowBlock,
        ends: &[usize],
        step: impl Fn(&mut dyn RowBlock, &mut NormalEquations, &mut Context<'_>),
    ) {
        let mut journal = Journal::default();
        let mut cx = Context {
            key: StreamKey::new(5),
            sweep: 1,
            journal: &mut journal,
        };
        block.prepare(&self.shared, &mut cx).unwrap();
        let mut start = 0;
        for &end in ends {
            let mut eq = self.equations(start..end);
            step(block, &mut eq, &mut cx);
            start = end;
        }
        assert_eq!(start, self.rows);
    }
    /// Data precision of a row, dense.
    pub fn precision(&self, row: usize) -> Mat<f64> {
        self.equations(row..row + 1).row_precision(row).to_mat()
    }
    pub fn rhs(&self, row: usize) -> Vec<f64> {
        (0..self.k).map(|j| self.rhs[(row, j)]).collect()
    }
    /// $\langle b\cdot r - \tfrac12 r^\top P r\rangle$ of all rows and the bound
    /// of the block.
    pub fn objective(&self, block: &dyn RowBlock) -> f64 {
        let m = block.moments();
        let data: f64 = (0..self.rows)
            .map(|r| {
                let (p, b) = (self.precision(r), self.rhs(r));
                let second = m.second_moment_rows(r..r + 1).sym(0);
                let mut sum = 0.0;
                for i in 0..self.k {
                    sum += b[i] * m.mean()[(r, i)];
                    for j in 0..self.k {
                        sum -= 0.5 * p[(i, j)] * second.get(i, j);
                    }
                }
                sum
            })
            .sum();
        data + block.bound().sum()
    }
}

pub fn start(rows: usize, k: usize, seed: u64) -> RowMoments {
    let mut rng = StreamKey::new(seed).block(9).rng();
    RowMoments::isotropic(normal(rows, k, &mut rng), 0.4, 0)
}

pub fn groups(rows: usize, count: usize) -> RowGroups {
    RowGroups::new((0..rows).map(|r| ((r * 7) % count) as u32).collect(), count).unwrap()
}

pub fn close(found: f64, expected: f64, tolerance: f64, what: &str) {
    assert!(
        (found - expected).abs() <= tolerance * (1.0 + expected.abs()),
        "{what}: {found} instead of {expected}"
    );
}

/// [`RowBlock::learn`] where nothing else is asked for.
pub(crate) trait LearnAlone: RowBlock {
    fn learn_alone(&mut self) {
        let mut cx = Context {
            key: StreamKey::new(1),
            sweep: 1,
            journal: &mut Journal::default(),
        };
        self.learn(&mut cx).unwrap();
    }
}

impl<B: RowBlock + ?Sized> LearnAlone for B {}
