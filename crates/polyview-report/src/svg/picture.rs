//! A finished picture.

use super::escape::push_escaped;
use super::number::push_coordinate;
use super::theme::standalone_rules;

/// Natural width of a panel in pixels: fills a phone, and three stand side by side on a desk.
pub(crate) const PANEL: f64 = 352.0;

/// A finished picture: vector drawing, title and a description for those who cannot see it.
///
/// [`Picture::to_svg`] gives a file of its own; the report embeds the same drawing in its page,
/// where it follows the page's colours.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    title: String,
    description: String,
    width: f64,
    height: f64,
    body: String,
}

impl Picture {
    pub(crate) fn new(
        title: String,
        description: String,
        width: f64,
        height: f64,
        body: String,
    ) -> Self {
        Self {
            title,
            description,
            width: width.ceil(),
            height: height.ceil(),
            body,
        }
    }

    /// What the picture is called; plain text.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// What the picture shows, in words; plain text.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// Natural width in pixels of 1/96 inch.
    pub fn width(&self) -> f64 {
        self.width
    }

    /// Natural height in pixels of 1/96 inch.
    pub fn height(&self) -> f64 {
        self.height
    }

    /// The picture as an SVG document of its own, on white, with its stylesheet inside.
    ///
    /// The document is well-formed XML, loads nothing from elsewhere and needs no script.
    pub fn to_svg(&self) -> String {
        let mut out = String::with_capacity(self.body.len() + 4096);
        self.open(&mut out, " xmlns=\"http://www.w3.org/2000/svg\"", "picture");
        out.push_str("<style>");
        out.push_str(&standalone_rules());
        out.push_str("</style><rect width=\"100%\" height=\"100%\" class=\"p\"/>");
        out.push_str(&self.body);
        out.push_str("</svg>\n");
        out
    }

    /// The picture as an element of an HTML page that holds the page rules of the theme.
    pub(crate) fn push_inline(&self, out: &mut String, id: &str) {
        self.open(out, "", id);
        out.push_str(&self.body);
        out.push_str("</svg>");
    }

    fn open(&self, out: &mut String, namespace: &str, id: &str) {
        out.push_str("<svg");
        out.push_str(namespace);
        out.push_str(" class=\"pv\" role=\"img\" width=\"");
        push_coordinate(out, self.width);
        out.push_str("\" height=\"");
        push_coordinate(out, self.height);
        out.push_str("\" viewBox=\"0 0 ");
        push_coordinate(out, self.width);
        out.push(' ');
        push_coordinate(out, self.height);
        out.push_str("\" aria-labelledby=\"");
        out.push_str(id);
        out.push_str("-t ");
        out.push_str(id);
        out.push_str("-d\"><title id=\"");
        out.push_str(id);
        out.push_str("-t\">");
        push_escaped(out, &self.title);
        out.push_str("</title><desc id=\"");
        out.push_str(id);
        out.push_str("-d\">");
        push_escaped(out, &self.description);
        out.push_str("</desc>");
    }
}
