//! Pictures and a self-contained HTML report of a fitted factor model.
//!
//! A fit goes in ([`Report::from_fit`]), or tables of numbers ([`Report`]); one HTML page ([`render`]) or
//! single SVG pictures (the `draw_*` functions, [`pictures`]) come out. Nothing on the page is loaded from
//! elsewhere and nothing runs.
//!
//! ```
//! use polyview_report::{Grid, Report, Summary, VarianceExplained, ViewSummary, render};
//!
//! # fn main() -> Result<(), polyview_report::ReportError> {
//! let view = ViewSummary {
//!     name: "rna".into(),
//!     samples: 120,
//!     features: 2000,
//!     likelihood: "gaussian".into(),
//!     missing: 0.02,
//! };
//! let report = Report {
//!     title: "Two views of a tumour".into(),
//!     summary: Summary {
//!         model: "bibfa".into(),
//!         views: vec![view],
//!         samples: 120,
//!         factors_kept: 2,
//!         factors_started: 10,
//!         ..Summary::default()
//!     },
//!     variance: Some(VarianceExplained {
//!         views: vec!["rna".into()],
//!         factors: vec!["Factor 1".into(), "Factor 2".into()],
//!         marginal: Grid::new(1, 2, vec![0.31, -0.002])?,
//!         joint: vec![0.308],
//!         ..VarianceExplained::default()
//!     }),
//!     ..Report::default()
//! };
//! let page = render(&report)?;
//! assert!(page.contains("Variance explained"));
//! for picture in polyview_report::pictures(&report)? {
//!     let svg = picture.picture.to_svg();
//!     assert!(svg.starts_with("<svg"), "{} is a picture", picture.stem);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! | type | what it is |
//! |---|---|
//! | [`Report`] | everything a page shows; absent parts have no section |
//! | [`Grid`] | a plain table of numbers, `NaN` where not available |
//! | [`VarianceExplained`], [`Factors`], [`ViewWeights`], ... | the parts of a report |
//! | [`Options`] | how much to show |
//! | [`Picture`] | one finished picture: title, description, SVG |
//! | [`ReportError`] | what does not fit together |
//!
//! Results that the facade has whole (checks, comparisons, numbers of factors, metadata, the journal)
//! are shown as they are: a report holds polyview's own types.
//!
//! `cargo run -p polyview-report --example gallery -- FOLDER` writes reports of simulated fits and every picture as a file of its own.
//!
//! # Decisions
//!
//! **Own drawing layer.** The pictures come from a small SVG layer of this crate (scales, ticks, axes,
//! keys, palettes), not from the plotting crate `kuva` 0.6, which was tried first. Its drawings are
//! good on a slide, but have fixed colours where a page needs ones that follow light, dark and paper;
//! no `viewBox`, `<title>` or `<desc>`, so they neither shrink to a phone nor speak to a screen
//! reader; black numbers on dark cells; and `NaN` becomes a black cell or a coordinate `NaN`.
//!
//! **Small panels.** Every picture is about 352 pixels wide, so that it fills a phone at full size and
//! three stand side by side on a desk, two on paper. Nothing needs to be scaled down to be seen.
//!
//! **Nothing hidden.** Negative shares are drawn as such; values that cannot be placed on an axis, rows
//! left out of tables and samples left out of crowded pictures are counted in words.
//!
//! **Colour.** Categories use the palette of Okabe and Ito with a shape each; ordered values viridis or
//! cividis; signed values an orange-white-blue scale with white at zero.

mod error;
mod figures;
mod from_fit;
mod input;
mod page;
mod plots;
mod stats;
mod svg;

pub use error::ReportError;
pub use figures::{NamedPicture, pictures};
pub use input::{
    Against, BoundTrace, Chain, ChainTraces, Coverage, Event, EventKind, Factors, Grid,
    GroupFactors, HeldOut, HeldOutCells, Intervals, OptionValue, Options, Origin, Progress, Report,
    Summary, VarianceExplained, ViewInclusion, ViewRelevance, ViewSummary, ViewWeights,
};
pub use page::{render, write_report};
pub use plots::{
    Curve, Moment, Share, Window, draw_activity, draw_bound, draw_calibration, draw_chains,
    draw_check, draw_choose_k, draw_compared, draw_correlations, draw_factor_against,
    draw_factor_histogram, draw_factor_pair, draw_group_activity, draw_held_out, draw_inclusion,
    draw_missingness, draw_overlap, draw_relevance, draw_roc, draw_top_weights, draw_variance,
    draw_variance_by_view,
};
pub use svg::picture::Picture;
