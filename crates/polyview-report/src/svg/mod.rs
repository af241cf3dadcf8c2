//! A small drawing layer: text, scales, axes, keys, and the picture they end up in.

pub(crate) mod axis;
pub(crate) mod canvas;
pub(crate) mod escape;
pub(crate) mod legend;
pub(crate) mod marker;
pub(crate) mod number;
pub(crate) mod palette;
pub(crate) mod picture;
pub(crate) mod scale;
pub(crate) mod text;
pub(crate) mod theme;
