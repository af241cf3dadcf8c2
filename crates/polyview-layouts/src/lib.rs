//! Studies of repeated visits as views (spec/thesis 9): a table with a row for each visit of a subject becomes a multi-view study whose rows
//! are subjects at times. What was known one, two, ... steps before the time is a view each; what does not change is one; what holds at
//! the time are targets. Windows slide: a subject is a row for every visit with a target, so that folds have to keep subjects together.
//!
//! ```
//! use polyview_io::{ReadOptions, read_rows};
//! use polyview_layouts::{Content, Part, Plan, lay_out};
//!
//! let dir = tempfile::tempdir()?;
//! let path = dir.path().join("visits.csv");
//! std::fs::write(&path, "RID,month,mri,csf,dx\n7,0,1.0,<80,NC\n7,6,1.2,,NC\n7,12,1.5,75,MCI\n8,0,0.7,,AD\n8,6,0.9,90,AD\n")?;
//! let table = read_rows(&path, &ReadOptions::default())?;
//! let part = |name: &str, content| Part { name: name.into(), patterns: vec![name.into()], content };
//! let plan = Plan {
//!     subject: "RID".into(),
//!     time: "month".into(),
//!     decimal: Default::default(),
//!     step: 6.0,
//!     window: 2,
//!     ahead: 1,
//!     tolerance: None,
//!     until: None,
//!     predict_at: None,
//!     views: vec![part("mri", Content::Numbers), part("csf", Content::Measured)],
//!     fixed: vec![],
//!     targets: vec![part("dx", Content::Classes)],
//!     set_to_limits: false,
//!     windows: Default::default(),
//! };
//! let layout = lay_out(&table, &plan)?;
//! assert_eq!(layout.training.samples, ["7@6", "7@12", "8@6"]);
//! let names: Vec<&str> = layout.training.tables.iter().map(|t| t.name.as_str()).collect();
//! assert_eq!(names, ["mri-12", "mri-6", "csf-12", "csf-6", "dx"]);
//! // a limit is kept as it stands, for a likelihood that reads it
//! assert_eq!(layout.training.tables[3].cells[0], [Some("<80".into()), None, None]);
//! assert_eq!(layout.new.samples, ["7@18", "8@12"]); // one step after the last visit of each
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | type | what it is |
//! |---|---|
//! | [`Plan`], [`Part`], [`Content`], [`Windows`] | what becomes of which columns |
//! | [`lay_out`] | does it |
//! | [`Layout`], [`Rows`], [`Laid`], [`Role`] | training rows and new ones, a table for each view |
//! | [`LayoutError`] | what is wrong, in which line and column |
//!
//! Cells stay the words that they are in the file (a decimal comma becomes a point), so that nothing is rounded and limits such as `<80` reach the
//! likelihood that reads them.
//!
//! On the command line it is `layout` of `polyview-cli`.

mod cells;
mod error;
mod layout;
mod plan;

pub use error::LayoutError;
pub use layout::{Laid, Layout, Role, Rows, lay_out};
pub use plan::{Content, Part, Plan, Windows};
