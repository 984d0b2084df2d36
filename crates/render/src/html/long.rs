//! Pieces of long pages: headings within a section, lists of runs.

use askama::Template;

use super::Medium;
use super::blocks::Block;
use super::body::of_block;

#[derive(Template)]
#[template(path = "heading.html")]
struct Heading<'h> {
    title: &'h str,
}

/// Runs by what they are of, as links where their pages are.
pub(super) fn runs(points: &[(String, &[String])], medium: Medium<'_>) -> Block {
    let runs = points.iter().map(|(name, runs)| (name.as_str(), *runs));
    Block::Safe(of_block(&crate::document::Block::runs(runs), medium).unwrap_or_default())
}

/// A heading within a section.
pub(super) fn heading(title: &str) -> Block {
    Block::Safe(Heading { title }.render().expect("memory takes everything"))
}
