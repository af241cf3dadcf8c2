//! The embedded data sets.

use std::io::Read;

use flate2::read::GzDecoder;
use polyview_core::{Dataset, DatasetBuilder, Table};
use polyview_linalg::Mat;

use crate::Labels;
use crate::catalogue::{DIGITS, NUTRIMOUSE, Source};

/// The nutrimouse study: views `gene` (40 × 120) and `lipid` (40 × 21),
/// metadata `diet` (5 classes) and `genotype` (2). Complete.
///
/// Source and licence: [`catalogue`](crate::catalogue).
///
/// ```
/// let mice = polyview_datasets::nutrimouse();
/// assert_eq!(mice.n_samples(), 40);
/// assert_eq!(mice.view("lipid").map(|v| v.features()[0].as_str()), Some("C14.0"));
/// ```
pub fn nutrimouse() -> Dataset {
    dataset(nutrimouse_tables(), &nutrimouse_labels())
}

/// The views of [`nutrimouse`]: `gene`, `lipid`.
pub fn nutrimouse_tables() -> Vec<Table> {
    tables(&NUTRIMOUSE)
}

/// The classes of [`nutrimouse`]: `diet`, `genotype`.
pub fn nutrimouse_labels() -> Vec<Labels> {
    labels(&NUTRIMOUSE)
}

/// The UCI Multiple Features: 2000 handwritten digits in the views `fac` (216
/// features), `fou` (76), `kar` (64), `mor` (6), `pix` (240, integers 0 to 6)
/// and `zer` (47), metadata `digit` (10 classes, 200 samples each). Complete.
///
/// Source and licence: [`catalogue`](crate::catalogue). Reading its 1.3 million
/// numbers takes a moment in a build without optimisation.
///
/// ```
/// let tables = polyview_datasets::digits_tables();
/// let names: Vec<&str> = tables.iter().map(|t| t.name.as_str()).collect();
/// assert_eq!(names, ["fac", "fou", "kar", "mor", "pix", "zer"]);
/// ```
pub fn digits() -> Dataset {
    dataset(digits_tables(), &digits_labels())
}

/// The views of [`digits`]: `fac`, `fou`, `kar`, `mor`, `pix`, `zer`.
pub fn digits_tables() -> Vec<Table> {
    tables(&DIGITS)
}

/// The classes of [`digits`]: `digit`.
pub fn digits_labels() -> Vec<Labels> {
    labels(&DIGITS)
}

fn dataset(tables: Vec<Table>, labels: &[Labels]) -> Dataset {
    let builder = tables
        .into_iter()
        .fold(Dataset::builder(), DatasetBuilder::view);
    labels
        .iter()
        .fold(builder, |b, l| {
            b.metadata(l.samples.clone(), l.to_metadata())
        })
        .build()
        .expect("the embedded views are complete and share their samples")
}

fn tables(source: &Source) -> Vec<Table> {
    let views = source
        .files
        .iter()
        .filter_map(|f| Some((view_name(f.name)?, f.bytes)));
    views
        .map(|(name, bytes)| {
            let grid = read(bytes, |cell| {
                cell.parse::<f64>().expect("an embedded view holds numbers")
            });
            let (rows, width) = (grid.samples.len(), grid.columns.len());
            Table {
                name: name.to_owned(),
                samples: grid.samples,
                features: grid.columns,
                values: Mat::from_fn(rows, width, |n, d| grid.cells[n * width + d]),
                levels: Vec::new(),
            }
        })
        .collect()
}

fn labels(source: &Source) -> Vec<Labels> {
    let files = source.files.iter().filter(|f| view_name(f.name).is_none());
    files
        .flat_map(|file| {
            let Grid {
                samples,
                columns,
                cells,
            } = read(file.bytes, str::to_owned);
            let width = columns.len();
            columns.into_iter().enumerate().map(move |(d, name)| {
                let words: Vec<String> = cells.iter().skip(d).step_by(width).cloned().collect();
                Labels::new(&name, samples.clone(), &words)
            })
        })
        .collect()
}

/// Name of the view in a file, `None` for labels.
fn view_name(file: &str) -> Option<&str> {
    let name = file.rsplit('/').next()?.strip_suffix(".csv.gz")?;
    (name != "labels").then_some(name)
}

/// An embedded file, its cells row by row.
struct Grid<T> {
    samples: Vec<String>,
    columns: Vec<String>,
    cells: Vec<T>,
}

fn read<T>(bytes: &[u8], cell: impl Fn(&str) -> T) -> Grid<T> {
    const SOUND: &str = "the checksum of every embedded file is tested";
    let mut text = String::new();
    GzDecoder::new(bytes)
        .read_to_string(&mut text)
        .expect(SOUND);
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let columns = reader
        .headers()
        .expect(SOUND)
        .iter()
        .skip(1)
        .map(str::to_owned)
        .collect();
    let (mut samples, mut cells) = (Vec::new(), Vec::new());
    let mut line = csv::StringRecord::new();
    while reader.read_record(&mut line).expect(SOUND) {
        let mut fields = line.iter();
        samples.extend(fields.next().map(str::to_owned));
        cells.extend(fields.map(&cell));
    }
    Grid {
        samples,
        columns,
        cells,
    }
}
