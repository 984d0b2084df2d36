//! Charts as PNG: the SVG, rendered with a font that is compiled in, since a server may have none.
//!
//! The font is Ubuntu Light (Ubuntu Font Licence 1.0), from the `epaint_default_fonts` crate.

use std::sync::Arc;

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};

use super::{Drawn, Theme};
use crate::charts::Chart;

/// Largest width and height of a PNG, in pixels; the rest of a larger chart is cut off.
const SIDE_MOST: f32 = 16_384.0;

impl Chart {
    /// Draws the chart as a PNG with `scale` pixels per CSS pixel, in light colours unless the
    /// theme is dark. An `Err` says why it could not be drawn.
    pub fn to_png(&self, drawn: Drawn, scale: f32) -> Result<Vec<u8>, String> {
        let theme = if drawn.theme == Theme::Dark { Theme::Dark } else { Theme::Light };
        let svg = self.to_svg(Drawn { theme, ..drawn });
        let mut fonts = fontdb::Database::new();
        fonts.load_font_data(epaint_default_fonts::UBUNTU_LIGHT.to_vec());
        let family = fonts.faces().next().and_then(|face| face.families.first());
        let family = family.map_or_else(String::new, |(name, _)| name.clone());
        fonts.set_sans_serif_family(family.clone());
        let options =
            Options { font_family: family, fontdb: Arc::new(fonts), ..Options::default() };
        let tree = Tree::from_str(&svg, &options).map_err(|error| error.to_string())?;
        let side = |length: u32| (length as f32 * scale).ceil().clamp(1.0, SIDE_MOST) as u32;
        let mut pixels = Pixmap::new(side(drawn.width), side(drawn.height))
            .ok_or_else(|| "the picture is too large".to_owned())?;
        resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixels.as_mut());
        pixels.encode_png().map_err(|error| error.to_string())
    }
}
