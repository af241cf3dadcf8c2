//! The elements of a picture, written one after the other.

use super::escape::push_escaped;
use super::number::push_coordinate;
use super::palette::Rgb;
use super::text::{Labels, fitted};

/// Where the given point lies on a line of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// Size of the ordinary text of a picture in pixels.
pub(crate) const TEXT: f64 = 11.0;
/// Size of the small text (class `s`).
pub(crate) const SMALL: f64 = 10.0;
/// Size of a panel title (class `b`).
pub(crate) const TITLE: f64 = 12.5;

/// Size at which the widths of the regular face give those of a title: the bold one runs wider.
pub(crate) const BOLD_TITLE: f64 = TITLE * 1.06;

/// SVG elements under construction. An element with a coordinate that is not finite is left out:
/// callers place only drawable values and count the others for the caption.
#[derive(Clone, Debug, Default)]
pub(crate) struct Canvas {
    body: String,
}

impl Canvas {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn into_body(self) -> String {
        self.body
    }

    pub fn line(&mut self, class: &str, x1: f64, y1: f64, x2: f64, y2: f64) {
        if [x1, y1, x2, y2].iter().any(|v| !v.is_finite()) {
            return;
        }
        let mut path = Path::new();
        path.move_to(x1, y1);
        path.line_to(x2, y2);
        self.path(class, &path);
    }

    /// A filled rectangle of a class.
    pub fn rect(&mut self, class: &str, x: f64, y: f64, w: f64, h: f64) {
        self.rectangle(("class", class), x, y, w, h, None);
    }

    /// A rectangle of a colour of its own, with a tooltip.
    pub fn cell(&mut self, colour: Rgb, x: f64, y: f64, w: f64, h: f64, tip: Option<&str>) {
        self.rectangle(("fill", &colour.hex()), x, y, w, h, tip);
    }

    fn rectangle(
        &mut self,
        paint: (&str, &str),
        x: f64,
        y: f64,
        w: f64,
        h: f64,
        tip: Option<&str>,
    ) {
        if [x, y, w, h].iter().any(|v| !v.is_finite()) || w < 0.0 || h < 0.0 {
            return;
        }
        self.body.push_str("<rect");
        self.attribute(paint.0, paint.1);
        for (name, v) in [("x", x), ("y", y), ("width", w), ("height", h)] {
            self.number(name, v);
        }
        match tip {
            None => self.body.push_str("/>"),
            Some(tip) => {
                self.body.push('>');
                self.title(tip);
                self.body.push_str("</rect>");
            }
        }
    }

    pub fn path(&mut self, class: &str, path: &Path) {
        if path.data.is_empty() {
            return;
        }
        self.body.push_str("<path");
        self.attribute("class", class);
        self.attribute("d", &path.data);
        self.body.push_str("/>");
    }

    /// A path filled with a colour of its own.
    pub fn shape(&mut self, colour: Rgb, path: &Path) {
        if !path.data.is_empty() {
            self.body.push_str("<path");
            self.attribute("fill", &colour.hex());
            self.attribute("d", &path.data);
            self.body.push_str("/>");
        }
    }

    /// One line of text at its baseline.
    pub fn text(&mut self, class: &str, x: f64, y: f64, anchor: Anchor, text: &str) {
        self.write_text(class, x, y, anchor, None, text, None);
    }

    /// Text shortened to `room` pixels; the whole of it is the tooltip when something was cut.
    pub fn label(&mut self, class: &str, x: f64, y: f64, anchor: Anchor, text: &str, room: f64) {
        let short = fitted(text, size_of(class), room);
        let tip = (short != text).then_some(text);
        self.write_text(class, x, y, anchor, None, &short, tip);
    }

    /// One of a set of names; the whole of it is the tooltip when something was cut.
    pub fn name(
        &mut self,
        class: &str,
        x: f64,
        y: f64,
        anchor: Anchor,
        labels: &Labels<'_>,
        i: usize,
    ) {
        let (short, full) = labels.get(i);
        self.write_text(class, x, y, anchor, None, short, full);
    }

    /// As [`Canvas::name`], turned up by 45 degrees about its beginning.
    pub fn slanted_name(&mut self, x: f64, y: f64, labels: &Labels<'_>, i: usize) {
        let (short, full) = labels.get(i);
        self.write_text("", x, y, Anchor::Start, Some(-45.0), short, full);
    }

    /// As [`Canvas::label`], turned by `degrees` about its anchor point.
    pub fn turned(
        &mut self,
        class: &str,
        x: f64,
        y: f64,
        anchor: Anchor,
        degrees: f64,
        text: &str,
        room: f64,
    ) {
        let short = fitted(text, size_of(class), room);
        let tip = (short != text).then_some(text);
        self.write_text(class, x, y, anchor, Some(degrees), &short, tip);
    }

    fn write_text(
        &mut self,
        class: &str,
        x: f64,
        y: f64,
        anchor: Anchor,
        degrees: Option<f64>,
        text: &str,
        tip: Option<&str>,
    ) {
        if text.is_empty() || !x.is_finite() || !y.is_finite() {
            return;
        }
        self.body.push_str("<text");
        if !class.is_empty() {
            self.attribute("class", class);
        }
        if let Some(degrees) = degrees {
            let mut turn = String::from("translate(");
            push_coordinate(&mut turn, x);
            turn.push(' ');
            push_coordinate(&mut turn, y);
            turn.push_str(")rotate(");
            push_coordinate(&mut turn, degrees);
            turn.push(')');
            self.attribute("transform", &turn);
        } else {
            self.number("x", x);
            self.number("y", y);
        }
        match anchor {
            Anchor::Start => {}
            Anchor::Middle => self.attribute("text-anchor", "middle"),
            Anchor::End => self.attribute("text-anchor", "end"),
        }
        self.body.push('>');
        push_escaped(&mut self.body, text);
        if let Some(tip) = tip {
            self.title(tip);
        }
        self.body.push_str("</text>");
    }

    fn title(&mut self, text: &str) {
        self.body.push_str("<title>");
        push_escaped(&mut self.body, text);
        self.body.push_str("</title>");
    }

    fn attribute(&mut self, name: &str, value: &str) {
        self.body.push(' ');
        self.body.push_str(name);
        self.body.push_str("=\"");
        push_escaped(&mut self.body, value);
        self.body.push('"');
    }

    fn number(&mut self, name: &str, value: f64) {
        self.body.push(' ');
        self.body.push_str(name);
        self.body.push_str("=\"");
        push_coordinate(&mut self.body, value);
        self.body.push('"');
    }
}

/// Text size that a class list asks for.
fn size_of(class: &str) -> f64 {
    match class {
        c if c.split(' ').any(|c| c == "s") => SMALL,
        c if c.split(' ').any(|c| c == "b") => BOLD_TITLE,
        _ => TEXT,
    }
}

/// The `d` attribute of a path. A point that is not finite breaks the line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Path {
    data: String,
    broken: bool,
}

impl Path {
    pub fn new() -> Self {
        Self {
            data: String::new(),
            broken: true,
        }
    }

    pub fn move_to(&mut self, x: f64, y: f64) {
        self.broken = true;
        self.line_to(x, y);
    }

    /// A line from the last point, or a move when there is none.
    pub fn line_to(&mut self, x: f64, y: f64) {
        if !x.is_finite() || !y.is_finite() {
            self.broken = true;
            return;
        }
        self.data.push(if self.broken { 'M' } else { 'L' });
        self.pair(x, y);
        self.broken = false;
    }

    /// A move followed by relative commands, written as they are.
    pub fn stamp(&mut self, x: f64, y: f64, relative: &str) {
        if !x.is_finite() || !y.is_finite() {
            return;
        }
        self.data.push('M');
        self.pair(x, y);
        self.data.push_str(relative);
        self.broken = true;
    }

    /// A rectangle.
    pub fn block(&mut self, x: f64, y: f64, w: f64, h: f64) {
        if [x, y, w, h].iter().any(|v| !v.is_finite()) {
            return;
        }
        self.data.push('M');
        self.pair(x, y);
        for (command, v) in [('H', x + w), ('V', y + h), ('H', x)] {
            self.data.push(command);
            push_coordinate(&mut self.data, v);
        }
        self.data.push('z');
        self.broken = true;
    }

    fn pair(&mut self, x: f64, y: f64) {
        push_coordinate(&mut self.data, x);
        self.data.push(' ');
        push_coordinate(&mut self.data, y);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_tips_are_escaped() {
        let mut c = Canvas::new();
        c.label(
            "s",
            1.0,
            2.0,
            Anchor::End,
            "<b>&\"very long name indeed\"",
            40.0,
        );
        let body = c.into_body();
        assert!(!body.contains("<b>"));
        assert!(body.contains("<title>&lt;b&gt;&amp;&quot;very long name indeed&quot;</title>"));
    }

    #[test]
    fn what_is_not_finite_is_not_drawn() {
        let mut c = Canvas::new();
        c.line("g", 0.0, f64::NAN, 1.0, 1.0);
        c.rect("g", 0.0, 0.0, f64::INFINITY, 1.0);
        c.text("", f64::NAN, 0.0, Anchor::Start, "x");
        assert_eq!(c.into_body(), "");
        let mut p = Path::new();
        p.line_to(0.0, 0.0);
        p.line_to(f64::NAN, 1.0);
        p.line_to(2.0, 2.0);
        assert_eq!(p.data, "M0 0M2 2");
    }
}
