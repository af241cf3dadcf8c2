//! Laws of groups of samples put together.

use super::{Ask, CellCounts, ChanceLaw, Counted, CountedLaw, Law};

/// The laws of groups of samples, each of its own samples, in the order of all.
pub struct Interleaved<'a> {
    shape: (usize, usize),
    parts: Vec<(Vec<usize>, Box<dyn Law + 'a>)>,
    /// Of each sample its part, and its place there.
    places: Vec<(usize, usize)>,
}

impl<'a> Interleaved<'a> {
    /// Laws with the places of their samples among `samples`; every sample is one group's.
    ///
    /// # Panics
    /// Without parts, and where a law has not one sample for each place.
    pub fn new(samples: usize, parts: Vec<(Vec<usize>, Box<dyn Law + 'a>)>) -> Self {
        let fits = |(rows, law): &(Vec<usize>, Box<dyn Law + 'a>)| law.shape().0 == rows.len();
        assert!(parts.iter().all(fits), "a sample for each place");
        let mut places = vec![(0, 0); samples];
        for (part, (rows, _)) in parts.iter().enumerate() {
            for (at, &n) in rows.iter().enumerate() {
                places[n] = (part, at);
            }
        }
        Self {
            shape: (samples, parts[0].1.shape().1),
            parts,
            places,
        }
    }
    /// Asks each part for two columns of numbers, given those of its samples in `x`.
    fn scatter(
        &self,
        x: &[f64],
        [first, second]: [&mut [f64]; 2],
        ask: impl Fn(&dyn Law, &[f64], &mut [f64], &mut [f64]),
    ) {
        let (mut own_x, mut a, mut b) = (Vec::new(), Vec::new(), Vec::new());
        for (rows, law) in &self.parts {
            own_x.clear();
            if !x.is_empty() {
                own_x.extend(rows.iter().map(|&n| x[n]));
            }
            a.resize(rows.len(), 0.0);
            b.resize(if second.is_empty() { 0 } else { rows.len() }, 0.0);
            ask(law.as_ref(), &own_x, &mut a, &mut b);
            for (&n, a) in rows.iter().zip(&a) {
                first[n] = *a;
            }
            for (&n, b) in rows.iter().zip(&b) {
                second[n] = *b;
            }
        }
    }
}

impl Law for Interleaved<'_> {
    fn shape(&self) -> (usize, usize) {
        self.shape
    }
    fn fill(&self, ask: Ask, column: usize, x: &[f64], out: &mut [f64]) {
        self.scatter(x, [out, &mut []], |law, x, out, _| {
            law.fill(ask, column, x, out);
        });
    }
    fn levels(&self) -> usize {
        self.parts[0].1.levels()
    }
    fn ordered(&self) -> usize {
        self.parts[0].1.ordered()
    }
    fn has_density(&self) -> bool {
        self.parts.iter().all(|(_, law)| law.has_density())
    }
    fn moments(&self, column: usize, mean: &mut [f64], deviation: &mut [f64]) {
        self.scatter(&[], [mean, deviation], |law, _, mean, deviation| {
            law.moments(column, mean, deviation);
        });
    }
    fn is_whole(&self) -> bool {
        self.parts[0].1.is_whole()
    }
    fn quantile(&self, column: usize, p: &[f64], out: &mut [f64]) {
        self.scatter(p, [out, &mut []], |law, p, out, _| {
            law.quantile(column, p, out);
        });
    }
    fn between(&self, column: usize, [least, most]: [&[f64]; 2], out: &mut [f64]) {
        for (rows, law) in &self.parts {
            let [a, b] = [least, most].map(|x| rows.iter().map(|&n| x[n]).collect::<Vec<_>>());
            let mut own = vec![0.0; rows.len()];
            law.between(column, [&a, &b], &mut own);
            for (&n, own) in rows.iter().zip(own) {
                out[n] = own;
            }
        }
    }
    fn as_chance(&self) -> Option<&dyn ChanceLaw> {
        let all = self.parts.iter().all(|(_, law)| law.as_chance().is_some());
        all.then_some(self)
    }
    fn as_counted(&self) -> Option<&dyn CountedLaw> {
        let all = (self.parts.iter()).all(|(_, law)| law.as_counted().is_some());
        all.then_some(self)
    }
}

impl CountedLaw for Interleaved<'_> {
    fn counted(&self, sample: usize, column: usize) -> Option<Counted> {
        let (part, at) = self.places[sample];
        self.parts[part].1.as_counted()?.counted(at, column)
    }
    fn mix(&self, parts: &[(f64, Counted)]) -> Option<Box<dyn CellCounts>> {
        self.parts[0].1.as_counted()?.mix(parts)
    }
}

impl ChanceLaw for Interleaved<'_> {
    fn probability(&self, column: usize, mean: &mut [f64], variance: &mut [f64]) {
        self.scatter(&[], [mean, variance], |law, _, mean, variance| {
            if let Some(chance) = law.as_chance() {
                chance.probability(column, mean, variance);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Normal, answers};
    use super::*;

    #[test]
    fn samples_are_where_they_were() {
        let law = Interleaved::new(
            4,
            vec![
                (
                    vec![0, 3],
                    Box::new(Normal(vec![(0.0, 1.0), (3.0, 9.0)])) as Box<dyn Law>,
                ),
                (
                    vec![1, 2],
                    Box::new(Normal(vec![(1.0, 2.0), (2.0, 4.0)])) as Box<dyn Law>,
                ),
            ],
        );
        let plain = Normal(vec![(0.0, 1.0), (1.0, 2.0), (2.0, 4.0), (3.0, 9.0)]);
        let x = [0.5, 0.25, -1.0, 4.0];
        for ask in [Ask::Mean, Ask::Variance, Ask::Cdf, Ask::LnDensity] {
            assert_eq!(answers(&law, ask, &x), answers(&plain, ask, &x), "{ask:?}");
        }
        let both = |law: &dyn Law| {
            let (mut a, mut b, mut q) = ([0.0; 4], [0.0; 4], [0.0; 4]);
            law.moments(0, &mut a, &mut b);
            law.quantile(0, &[0.1; 4], &mut q);
            let (mut c, mut d) = ([0.0; 4], [0.0; 4]);
            law.as_chance().unwrap().probability(0, &mut c, &mut d);
            let mut p = [0.0; 4];
            law.between(0, [&x, &x.map(|x| x + 0.5)], &mut p);
            [a, b, q, c, d, p]
        };
        assert_eq!(both(&law), both(&plain));
        assert!(law.has_density() && law.levels() == 0);
    }
}
