//! The report as one HTML page.

mod check_sections;
mod data_sections;
mod html;
mod raw_section;
mod result_sections;
mod style;
mod table;

use crate::ReportError;
use crate::input::Report;
use crate::svg::escape::{escaped, push_escaped};
use html::Page;
use std::io;

/// Renders the report as one self-contained HTML page.
///
/// The page loads nothing from elsewhere and has no script; a content security policy in its head
/// forbids both. The markup is well-formed XML as well. The same report gives the same bytes.
///
/// # Errors
/// When parts of the report do not fit together.
pub fn render(report: &Report) -> Result<String, ReportError> {
    report.validate()?;
    let mut page = Page::default();
    data_sections::fitted(&mut page, &report.summary);
    data_sections::samples(&mut page, report)?;
    data_sections::progress(&mut page, report);
    result_sections::variance(&mut page, report)?;
    result_sections::groups(&mut page, report)?;
    result_sections::factors(&mut page, report)?;
    result_sections::weights(&mut page, report)?;
    result_sections::inclusion(&mut page, report)?;
    result_sections::relevance(&mut page, report)?;
    result_sections::correlations(&mut page, report)?;
    result_sections::held_out(&mut page, report)?;
    check_sections::checks(&mut page, report)?;
    check_sections::comparison(&mut page, report)?;
    result_sections::choose_k(&mut page, report);
    data_sections::journal(&mut page, report);
    raw_section::raw_numbers(&mut page, report);
    let (contents, sections) = page.finish();

    let title = if report.title.trim().is_empty() {
        "Factor model report"
    } else {
        report.title.as_str()
    };
    let mut out = String::with_capacity(sections.len() + 16_384);
    out.push_str(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\
         <meta name=\"color-scheme\" content=\"light dark\"/>\
         <meta name=\"referrer\" content=\"no-referrer\"/>\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\"/>\
         <meta name=\"generator\" content=\"polyview-report ",
    );
    out.push_str(env!("CARGO_PKG_VERSION"));
    out.push_str("\"/><title>");
    push_escaped(&mut out, title);
    out.push_str("</title><style>");
    out.push_str(&style::stylesheet());
    out.push_str("</style></head><body><a class=\"skip\" href=\"#content\">Skip to the content</a><header><h1>");
    push_escaped(&mut out, title);
    out.push_str("</h1>");
    if !report.introduction.is_empty() {
        out.push_str("<p class=\"lead\">");
        push_escaped(&mut out, &report.introduction);
        out.push_str("</p>");
    }
    out.push_str("</header>");
    out.push_str(&contents);
    out.push_str("<main id=\"content\">");
    out.push_str(&sections);
    out.push_str("</main>\n");
    push_footer(&mut out, report);
    out.push_str("</body></html>\n");
    Ok(out)
}

/// Writes [`render`]'s page.
///
/// # Errors
/// As [`render`], and [`ReportError::Io`] when the writer fails.
pub fn write_report(report: &Report, mut to: impl io::Write) -> Result<(), ReportError> {
    to.write_all(render(report)?.as_bytes())?;
    to.flush()?;
    Ok(())
}

fn push_footer(out: &mut String, report: &Report) {
    out.push_str("<footer>");
    let mut software: Vec<String> = report
        .versions
        .iter()
        .map(|(name, version)| escaped(&format!("{name} {version}")))
        .collect();
    software.push(format!("polyview-report {}", env!("CARGO_PKG_VERSION")));
    out.push_str("<p>Made with ");
    out.push_str(&software.join(", "));
    out.push_str(". This page stands alone: it loads nothing and runs nothing.</p></footer>");
}
