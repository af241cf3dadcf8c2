//! Features of arrays, whose names their reader made up.

use std::path::Path;

use polyview::ViewInfo;
use polyview_core::ViewTable;

use crate::args::Cli;
use crate::failure::{Failure, Outcome};
use crate::remarks::{note, say};

/// The name that a reader gives the feature at this place of an array.
fn made_up(place: usize) -> String {
    format!("f{}", place + 1)
}

/// A table of new data with the names of the model's features. An array has none, and
/// is taken to have the columns of the fit in their order; names that were made up match no others.
///
/// # Errors
/// For an array of another number of columns, or where the model lacks columns that the
/// data of the fit had.
pub fn named_as(cli: &Cli, table: ViewTable, path: &Path, view: &ViewInfo) -> Outcome<ViewTable> {
    let ViewTable::Dense(mut table) = table else {
        return Ok(table);
    };
    let of_fit: Vec<&String> = view.features.iter().chain(&view.left_out).collect();
    let is_array = path
        .extension()
        .is_some_and(|e| e.eq_ignore_ascii_case("npy"));
    let unnamed = (0..of_fit.len()).all(|d| of_fit.contains(&&made_up(d)));
    let (found, wanted) = (table.features.len(), of_fit.len());
    match (is_array, unnamed) {
        (true, _) if found != wanted => Err(Failure::Usage(format!(
            "'{}': an array has no names of features, and this one has {found} columns where view '{}' had {wanted} \
             in the fit; give the same columns in the same order, or a table with names",
            path.display(),
            view.name
        ))),
        (true, false) if !view.left_out.is_empty() => Err(Failure::Usage(format!(
            "'{}': an array has no names of features, and of view '{}' the fit left out {} that did not vary, so that \
             the places of the others are not known; give a table with names",
            path.display(),
            view.name,
            view.left_out.len()
        ))),
        (true, false) => {
            note(
                cli,
                format!(
                    "view '{}': '{}' has no names of features; its columns are taken to be those of the fit, in their \
                     order",
                    view.name,
                    path.display()
                ),
            );
            table.features.clone_from(&view.features);
            Ok(table.into())
        }
        (false, true) => {
            let known = table.features.iter().filter(|f| of_fit.contains(f)).count();
            if known < found.max(wanted) {
                say(
                    cli,
                    format!(
                        "warning: view '{}': the model's features are called {} to {}, as columns of an array are that has \
                         no names, and those of '{}' are not: what is called alike may be something else; give an \
                         array of the same columns",
                        view.name,
                        made_up(0),
                        made_up(wanted - 1),
                        path.display()
                    ),
                );
            }
            Ok(table.into())
        }
        (true, true) | (false, false) => Ok(table.into()),
    }
}
