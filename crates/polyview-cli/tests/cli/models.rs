//! docs/models.md is what the command prints.

use std::path::Path;

use crate::common::ok;

#[test]
fn the_page_of_models_is_what_the_command_prints() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/models.md");
    let page = std::fs::read_to_string(page).expect("docs/models.md");
    let printed = ok(&std::env::temp_dir(), "models --markdown");
    assert!(
        page == printed,
        "docs/models.md is old: cargo run -- models --markdown > docs/models.md"
    );
}
