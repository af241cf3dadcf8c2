//! A cohort of people who are seen again and again, as studies of dementia have them. No such data may be passed on, so these are drawn from a
//! model of an illness that goes on, with the variables and the shares of missing cells that spec/thesis 9.2 lists.

use polyview_random::{Rng, StreamKey, standard_normal, uniform_open01};

use super::{Contents, Role, Study, StudyCells, StudyTable};

const SUBJECTS: usize = 400;
const SEED: u64 = 914;
/// Months of the visits, and the share of people who come.
const VISITS: [(u32, f64); 7] = [
    (0, 1.0),
    (6, 0.75),
    (12, 0.55),
    (18, 0.35),
    (24, 0.4),
    (30, 0.15),
    (36, 0.3),
];
/// Shares of visits at which measurements are there, of those that take place: half of all.
const SCANNED: f64 = 0.9;
const MAPPED: f64 = 0.78 / 0.9;
const PET: f64 = 0.22;
const PUNCTURED: f64 = 0.32;
const DIAGNOSED: f64 = 0.94;

const COLUMNS: [&str; 35] = [
    "RID",
    "month",
    "AGE",
    "EDUCATION",
    "APOE4",
    "GENDER",
    "FDG_AngularLeft",
    "FDG_AngularRight",
    "FDG_Cingulum",
    "FDG_TemporalLeft",
    "FDG_TemporalRight",
    "DX",
    "ADAS13",
    "Ventricles",
    "MMSE",
    "RAVLT_learning",
    "RAVLT_immediate",
    "RAVLT_forgetting",
    "FAQ",
    "MRI_Hippocampus",
    "MRI_WholeBrain",
    "MRI_Entorhinal",
    "MRI_Fusiform",
    "MRI_MidTemp",
    "MRI_ICV",
    "AV45_CerebellumGrey",
    "AV45_WholeCerebellum",
    "AV45_ErodedWM",
    "AV45_Frontal",
    "AV45_Cingulate",
    "AV45_Parietal",
    "AV45_Temporal",
    "CSF_ABETA",
    "CSF_TAU",
    "CSF_PTAU",
];

pub(super) static COHORT: Study = Study {
    name: "cohort",
    summary: "400 simulated people seen every six months: tests, brain volumes, amyloid, diagnosis",
    samples: 1390,
    contents: &[Contents {
        name: "visits",
        columns: COLUMNS.len(),
        what: "a row for each visit (RID, month), half of all cells missing, limits such as <200",
        role: Role::Visits,
    }],
    source: None,
    whole: true,
    load,
};

/// What is true of a person.
struct Person {
    age: f64,
    education: f64,
    alleles: usize,
    gender: usize,
    /// Amyloid, severity at the first visit, and how much it grows in a year.
    amyloid: f64,
    severity: f64,
    rate: f64,
    /// Size of the head, and what else makes ventricles large.
    size: f64,
    ventricles: f64,
    /// Ability that tests see whatever the illness.
    reserve: f64,
    /// Uptake of sugar in five regions, of most people.
    uptake: Option<[f64; 5]>,
}

impl Person {
    fn new(rng: &mut impl Rng) -> Self {
        let alleles = match uniform_open01(rng) {
            u if u < 0.52 => 0,
            u if u < 0.9 => 1,
            _ => 2,
        };
        let ill = uniform_open01(rng) < [0.35, 0.65, 0.85][alleles];
        let amyloid = if ill { 1.0 } else { -1.0 } + 0.35 * standard_normal(rng);
        let severity = 0.55 * amyloid + 0.75 * standard_normal(rng);
        let rate = 0.3 * (0.5 * amyloid + 0.45 * severity + 0.35 * standard_normal(rng)).exp();
        let regions = [1.21, 1.19, 1.29, 1.17, 1.16];
        let uptake = regions.map(|level| level - 0.09 * severity + 0.07 * standard_normal(rng));
        Self {
            age: 73.5 + 7.0 * standard_normal(rng),
            education: (16.0 + 2.8 * standard_normal(rng)).round().clamp(6.0, 20.0),
            alleles,
            gender: 1 + usize::from(uniform_open01(rng) < 0.45),
            amyloid,
            severity,
            rate,
            size: standard_normal(rng),
            ventricles: standard_normal(rng),
            reserve: standard_normal(rng),
            uptake: (uniform_open01(rng) < 0.95).then_some(uptake),
        }
    }

    /// The cells of a visit behind person and month.
    fn visit(&self, month: u32, rng: &mut impl Rng) -> Vec<Option<String>> {
        let mut out = Vec::with_capacity(COLUMNS.len() - 2);
        let years = f64::from(month) / 12.0;
        let s = self.severity + self.rate * years;
        let mut e = |sd: f64| sd * standard_normal(rng);
        let text = |x: f64, digits: usize| Some(format!("{x:.digits$}"));
        out.push(text(self.age, 1));
        out.push(text(self.education, 0));
        out.push(Some(self.alleles.to_string()));
        out.push(Some(self.gender.to_string()));
        let uptake = |region: usize| self.uptake.and_then(|u| text(u[region], 4));
        out.extend((0..5).map(uptake));
        // a day's form, which all tests of it share
        let c = s + e(0.25) - 0.3 * self.reserve;
        let dx = match s + e(0.2) {
            x if x < 0.0 => "NC",
            x if x < 1.4 => "MCI",
            _ => "AD",
        };
        out.push(Some(dx.to_owned()));
        out.push(text((15.0 + 7.5 * c + e(2.0)).clamp(0.0, 85.0), 2));
        let age = (self.age + years - 73.5) / 10.0;
        let large = 0.38 * self.ventricles + 0.2 * self.size + 0.22 * age + 0.13 * s;
        out.push(text(36000.0 * (large + e(0.015)).exp(), 0));
        out.push(text((27.6 - 2.1 * c + e(1.1)).round().clamp(0.0, 30.0), 0));
        out.push(text((4.6 - 1.3 * c + e(1.9)).round().clamp(-5.0, 14.0), 0));
        out.push(text((36.0 - 9.0 * c + e(5.0)).round().clamp(0.0, 75.0), 0));
        out.push(text((55.0 + 20.0 * c + e(22.0)).clamp(-100.0, 100.0), 1));
        out.push(text((3.5 + 5.5 * c + e(2.5)).round().clamp(0.0, 30.0), 0));
        for (level, by_size, by_illness, noise) in [
            (6900.0, 420.0, -620.0, 330.0),
            (1_020_000.0, 92_000.0, -28_000.0, 16_000.0),
            (3550.0, 260.0, -390.0, 330.0),
            (17_400.0, 1500.0, -1000.0, 900.0),
            (19_600.0, 1700.0, -1250.0, 900.0),
            (1_530_000.0, 155_000.0, 0.0, 9000.0),
        ] {
            let x: f64 = level + by_size * self.size + by_illness * (s - 0.6 * age) + e(noise);
            out.push(text(x.max(0.05 * level), 0));
        }
        let tracer = e(0.06);
        for (level, slope) in [
            (0.98, 0.0),
            (1.0, 0.01),
            (1.6, 0.03),
            (1.35, 0.24),
            (1.4, 0.24),
            (1.36, 0.23),
            (1.28, 0.22),
        ] {
            out.push(text(level + slope * self.amyloid + tracer + e(0.04), 4));
        }
        let assays = [
            (950.0 - 380.0 * self.amyloid + e(210.0), 200.0, 1700.0, 1),
            (
                (5.55 + 0.16 * self.amyloid + 0.14 * s + e(0.3)).exp(),
                80.0,
                1300.0,
                1,
            ),
            (
                (3.1 + 0.2 * self.amyloid + 0.15 * s + e(0.33)).exp(),
                8.0,
                120.0,
                2,
            ),
        ];
        for (x, low, high, digits) in assays {
            out.push(if x < low {
                Some(format!("<{low}"))
            } else if x > high {
                Some(format!(">{high}"))
            } else {
                text(x, digits)
            });
        }
        hide(&mut out, month, rng);
        out
    }
}

/// Takes out what was not measured at a visit.
fn hide(cells: &mut [Option<String>], month: u32, rng: &mut impl Rng) {
    let scanned = uniform_open01(rng) < SCANNED;
    let mapped = scanned && uniform_open01(rng) < MAPPED;
    let pet = uniform_open01(rng) < PET;
    // most of all at the first visit
    let often = if month == 0 { 1.7 } else { 0.72 };
    let punctured = uniform_open01(rng) < often * PUNCTURED;
    let diagnosed = uniform_open01(rng) < DIAGNOSED;
    for (cell, name) in cells.iter_mut().zip(&COLUMNS[2..]) {
        let there = match *name {
            "DX" => diagnosed,
            "Ventricles" | "MRI_WholeBrain" | "MRI_ICV" => scanned,
            "MRI_Hippocampus" | "MRI_Entorhinal" | "MRI_Fusiform" | "MRI_MidTemp" => mapped,
            n if n.starts_with("AV45") => pet,
            n if n.starts_with("CSF") => punctured,
            _ => true,
        };
        if !there {
            *cell = None;
        }
    }
}

fn load() -> Vec<StudyTable> {
    let mut rows: Vec<Vec<Option<String>>> = Vec::new();
    for subject in 0..SUBJECTS {
        let mut rng = StreamKey::new(SEED).block(1).chunk(subject as u32).rng();
        let person = Person::new(&mut rng);
        for (month, share) in VISITS {
            // drawn for every month, so that no visit changes another
            let mut rng = StreamKey::new(SEED)
                .block(10 + month)
                .chunk(subject as u32)
                .rng();
            if uniform_open01(&mut rng) > share {
                continue;
            }
            let mut row = vec![Some((1001 + subject).to_string()), Some(month.to_string())];
            row.extend(person.visit(month, &mut rng));
            rows.push(row);
        }
    }
    let samples = (1..=rows.len()).map(|n| format!("visit{n:04}")).collect();
    let column = |d: usize| rows.iter().map(|row| row[d].clone()).collect();
    let columns = COLUMNS.iter().enumerate();
    vec![StudyTable {
        name: "visits",
        cells: StudyCells::Text {
            samples,
            columns: columns
                .map(|(d, name)| ((*name).to_owned(), column(d)))
                .collect(),
        },
    }]
}
