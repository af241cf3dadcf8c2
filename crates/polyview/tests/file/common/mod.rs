//! Data, fits and containers for the tests of files. The container is taken
//! apart and sealed again here without the library's own code: these lines
//! are what another program would write.

use std::collections::BTreeMap;

use polyview::{EngineKind, Fit, Fitting, ModelSpec, models};
use polyview_core::{Dataset, Metadata, MetadataValues, Table};
use polyview_datasets::{Missing, SimulationOptions, simulate_factor_data};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

/// Which cells are missing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Holes {
    None,
    Rows,
    Cells,
    Both,
}

/// Simulated data with groups and metadata.
pub fn data(samples: usize, features: &[usize], holes: Holes, seed: u64) -> Dataset {
    let simulated = simulate_factor_data(&SimulationOptions {
        intercept_sd: 2.0,
        missing: Missing {
            rows: if matches!(holes, Holes::Rows | Holes::Both) {
                0.15
            } else {
                0.0
            },
            cells: if matches!(holes, Holes::Cells | Holes::Both) {
                0.1
            } else {
                0.0
            },
            ..Missing::default()
        },
        ..SimulationOptions::new(samples, features, 2, seed)
    })
    .unwrap();
    let from = simulated.dataset;
    let ids = from.samples().to_vec();
    let mut builder = Dataset::builder()
        .groups(
            ids.iter()
                .enumerate()
                .map(|(i, s)| (s.clone(), format!("batch \"{}\"", i % 3)))
                .collect(),
        )
        .metadata(
            ids.clone(),
            Metadata {
                name: "age".into(),
                values: MetadataValues::Numbers(
                    (0..samples)
                        .map(|i| if i % 4 == 0 { f64::NAN } else { 0.1 * i as f64 })
                        .collect(),
                ),
            },
        )
        .metadata(
            ids.clone(),
            Metadata {
                name: "diät".into(),
                values: MetadataValues::Categories(
                    (0..samples)
                        .map(|i| (i % 5 > 0).then(|| format!("d{}", i % 2)))
                        .collect(),
                ),
            },
        );
    for (m, v) in from.views().iter().enumerate() {
        builder = builder.view(Table {
            // names that a path or a JSON text could trip over
            name: ["genes/α", "lipids \"2\"", "pro\\tein", "données"][m].to_owned(),
            samples: ids.clone(),
            features: v.features().to_vec(),
            values: v.to_values_with_nan(),
            levels: v.levels().to_vec(),
        });
    }
    builder.build().unwrap()
}

/// A short spec of variational Bayes.
pub fn vb(factors: usize, sweeps: usize) -> ModelSpec {
    let mut spec = models::bibfa(factors);
    spec.vb.max_sweeps = sweeps;
    spec
}

/// A short spec of Gibbs sampling.
pub fn gibbs(factors: usize) -> ModelSpec {
    let mut spec = models::bibfa(factors);
    spec.engine = EngineKind::Gibbs;
    (spec.gibbs.chains, spec.gibbs.warm_up) = (2, 4);
    (spec.gibbs.sweeps, spec.gibbs.thin) = (9, 3);
    spec
}

/// The same with the relevance of each feature.
pub fn relevance(mut spec: ModelSpec) -> ModelSpec {
    spec.defaults.selection = "relevance".into();
    spec
}

/// Fits to the end.
pub fn fit(data: Dataset, spec: ModelSpec) -> Fit {
    let mut fitting = Fitting::new(data, spec).unwrap();
    while !fitting.step().unwrap().done {}
    fitting.finish().unwrap()
}

/// One array of a container.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    pub dtype: String,
    pub shape: Vec<usize>,
    pub bytes: Vec<u8>,
}

impl Array {
    pub fn numbers(&self) -> Vec<f64> {
        assert_eq!(self.dtype, "F64");
        self.bytes
            .as_chunks()
            .0
            .iter()
            .map(|b| f64::from_le_bytes(*b))
            .collect()
    }
    pub fn set(&mut self, at: usize, x: f64) {
        self.bytes[8 * at..8 * at + 8].copy_from_slice(&x.to_le_bytes());
    }
}

/// A container taken apart.
#[derive(Clone, Debug, PartialEq)]
pub struct Parts {
    pub header: Value,
    pub checksum: String,
    pub arrays: BTreeMap<String, Array>,
}

impl Parts {
    pub fn of(bytes: &[u8]) -> Self {
        let n = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
        let table: Map<String, Value> = serde_json::from_slice(&bytes[8..8 + n]).unwrap();
        let data = &bytes[8 + n..];
        let mut arrays = BTreeMap::new();
        for (name, about) in &table {
            if name == "__metadata__" {
                continue;
            }
            let at = |i: usize| about["data_offsets"][i].as_u64().unwrap() as usize;
            let array = Array {
                dtype: about["dtype"].as_str().unwrap().to_owned(),
                shape: about["shape"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|n| n.as_u64().unwrap() as usize)
                    .collect(),
                bytes: data[at(0)..at(1)].to_vec(),
            };
            arrays.insert(name.clone(), array);
        }
        let entry = |key: &str| table["__metadata__"][key].as_str().unwrap();
        Self {
            header: serde_json::from_str(entry("polyview")).unwrap(),
            checksum: entry("sha256").to_owned(),
            arrays,
        }
    }
    /// The documented checksum of header text and arrays.
    pub fn sum(&self, header: &str) -> String {
        let mut sum = Sha256::new();
        sum.update(header);
        for (name, a) in &self.arrays {
            let shape: Vec<String> = a.shape.iter().map(usize::to_string).collect();
            sum.update(format!("\n{name}\n{}\n{}\n", a.dtype, shape.join(",")));
            sum.update(&a.bytes);
        }
        sum.finalize().iter().fold(String::new(), |mut out, b| {
            let _ = std::fmt::Write::write_fmt(&mut out, format_args!("{b:02x}"));
            out
        })
    }
    /// The container with a right checksum.
    pub fn seal(&self) -> Vec<u8> {
        let text = self.header.to_string();
        let sum = self.sum(&text);
        self.write(&json!({"polyview": text, "sha256": sum}))
    }
    /// The container with these metadata.
    pub fn write(&self, metadata: &Value) -> Vec<u8> {
        let mut table = Map::new();
        table.insert("__metadata__".to_owned(), metadata.clone());
        let mut data = Vec::new();
        for (name, a) in &self.arrays {
            let start = data.len();
            data.extend_from_slice(&a.bytes);
            let about = json!({
                "dtype": a.dtype, "shape": a.shape, "data_offsets": [start, data.len()],
            });
            table.insert(name.clone(), about);
        }
        let table = Value::Object(table).to_string();
        let mut out = (table.len() as u64).to_le_bytes().to_vec();
        out.extend_from_slice(table.as_bytes());
        out.extend_from_slice(&data);
        out
    }
    /// Everything but what differs between two runs of the same fit.
    pub fn without_time(mut self) -> Self {
        self.checksum.clear();
        self.header["record"]["seconds"] = Value::Null;
        if let Some(optimum) = self.header["record"].get_mut("optimum") {
            optimum["seconds"] = Value::Null;
        }
        self
    }
}

/// Fails unless two fits are the same, bit for bit, but for the time they
/// took.
pub fn assert_same(a: &Fit, b: &Fit) {
    let (a, b) = (
        Parts::of(&a.to_bytes().unwrap()).without_time(),
        Parts::of(&b.to_bytes().unwrap()).without_time(),
    );
    assert_eq!(
        a.arrays.keys().collect::<Vec<_>>(),
        b.arrays.keys().collect::<Vec<_>>()
    );
    for (name, x) in &a.arrays {
        let y = &b.arrays[name];
        assert_eq!(x.shape, y.shape, "{name}");
        if x.bytes != y.bytes {
            let (x, y) = (x.numbers(), y.numbers());
            let at = (0..x.len()).find(|&i| x[i].to_bits() != y[i].to_bits());
            let at = at.unwrap();
            panic!("{name}[{at}]: {:e} and {:e}", x[at], y[at]);
        }
    }
    assert_eq!(a.header, b.header);
}

/// Uses whatever a loaded model offers; only panics are failures.
pub fn use_all(fit: &Fit) {
    drop(fit.factors());
    for v in fit.views() {
        drop(fit.weights(&v.name));
        drop(fit.select_features(&v.name, polyview::Selection::Share(0.5)));
        drop(fit.fitted(&v.name).and_then(|p| p.interval(0.9)));
        drop(fit.impute(&v.name, 0.9));
    }
    drop(fit.active(0.02));
    drop(fit.factor_correlations());
    for i in 0..fit.n_components() {
        drop(fit.component(i));
    }
    drop(fit.to_bytes());
    drop(format!("{fit:?}"));
}
