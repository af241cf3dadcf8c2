//! Marker shapes: colour alone never tells two categories apart.

use super::canvas::{Canvas, Path};
use super::palette::CATEGORIES;

/// Shape of a data point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Marker {
    Dot,
    Square,
    Triangle,
    Diamond,
    Down,
    Plus,
    Cross,
    Ring,
    /// A small dot for what has no category.
    Speck,
}

impl Marker {
    /// Shape that goes with a category colour.
    pub fn of_category(index: usize) -> Self {
        const SHAPES: [Marker; CATEGORIES] = [
            Marker::Dot,
            Marker::Triangle,
            Marker::Square,
            Marker::Diamond,
            Marker::Down,
            Marker::Plus,
            Marker::Cross,
            Marker::Ring,
        ];
        SHAPES[index % CATEGORIES]
    }

    /// Class with which a path of these markers is painted.
    fn class(self, size: Size) -> &'static str {
        match (self, size) {
            (Self::Dot | Self::Speck, Size::Ordinary) => "d",
            (Self::Dot | Self::Speck, Size::Small) => "d h",
            (Self::Square | Self::Triangle | Self::Diamond | Self::Down, _) => "f",
            (Self::Plus | Self::Cross | Self::Ring, Size::Ordinary) => "x",
            (Self::Plus | Self::Cross | Self::Ring, Size::Small) => "x u",
        }
    }

    /// Offset of the first point from the centre and relative commands of the outline.
    fn outline(self, size: Size) -> (f64, f64, &'static str) {
        match (self, size) {
            (Self::Dot | Self::Speck, _) => (0.0, 0.0, "h0"),
            (Self::Square, Size::Ordinary) => (-2.3, -2.3, "h4.6v4.6h-4.6z"),
            (Self::Square, Size::Small) => (-1.6, -1.6, "h3.2v3.2h-3.2z"),
            (Self::Triangle, Size::Ordinary) => (0.0, -3.1, "l3 5.2h-6z"),
            (Self::Triangle, Size::Small) => (0.0, -2.2, "l2.1 3.6h-4.2z"),
            (Self::Diamond, Size::Ordinary) => (0.0, -3.3, "l3.3 3.3l-3.3 3.3l-3.3-3.3z"),
            (Self::Diamond, Size::Small) => (0.0, -2.3, "l2.3 2.3l-2.3 2.3l-2.3-2.3z"),
            (Self::Down, Size::Ordinary) => (0.0, 3.1, "l3-5.2h-6z"),
            (Self::Down, Size::Small) => (0.0, 2.2, "l2.1-3.6h-4.2z"),
            (Self::Plus, Size::Ordinary) => (-3.0, 0.0, "h6m-3-3v6"),
            (Self::Plus, Size::Small) => (-2.2, 0.0, "h4.4m-2.2-2.2v4.4"),
            (Self::Cross, Size::Ordinary) => (-2.4, -2.4, "l4.8 4.8m0-4.8l-4.8 4.8"),
            (Self::Cross, Size::Small) => (-1.7, -1.7, "l3.4 3.4m0-3.4l-3.4 3.4"),
            (Self::Ring, Size::Ordinary) => {
                (-2.4, 0.0, "a2.4 2.4 0 1 0 4.8 0a2.4 2.4 0 1 0-4.8 0z")
            }
            (Self::Ring, Size::Small) => (-1.6, 0.0, "a1.6 1.6 0 1 0 3.2 0a1.6 1.6 0 1 0-3.2 0z"),
        }
    }
}

/// Size of a marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Size {
    Ordinary,
    /// For crowds.
    Small,
}

/// All points of one colour and shape as one path: a dozen bytes for a point.
pub(crate) fn points(
    canvas: &mut Canvas,
    marker: Marker,
    colour: &str,
    at: impl IntoIterator<Item = (f64, f64)>,
) {
    sized_points(canvas, marker, Size::Ordinary, colour, at);
}

/// As [`points`], of a given size.
pub(crate) fn sized_points(
    canvas: &mut Canvas,
    marker: Marker,
    size: Size,
    colour: &str,
    at: impl IntoIterator<Item = (f64, f64)>,
) {
    let (dx, dy, outline) = marker.outline(size);
    let mut path = Path::new();
    for (x, y) in at {
        path.stamp(x + dx, y + dy, outline);
    }
    canvas.path(&format!("{} {colour}", marker.class(size)), &path);
}
